"""Usable-memory@k from people's judgements (QCR, section 3.4): blind annotators label each retrieved record as
irrelevant, surface-related but procedurally unusable, workflow-relevant, or highly actionable; the last two are usable.

The file shows what the retriever saw and nothing else: candidates stand in an order of their own, without rank, score
or seal, so that scoring needs the run again.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rebind.banks.files import replace_text
from rebind.errors import UserError, did_you_mean
from rebind.eval.agreement import LABELS, USABLE, Agreement, Row, agreement
from rebind.eval.metrics import Mean
from rebind.eval.stats import SHARE, robust_interval
from rebind.types import Frozen

if TYPE_CHECKING:
    from rebind.eval.frames import Run
    from rebind.eval.rows import TargetRow

COLUMNS = ("target", "record", "query", "candidate", "label", "note")
_NEEDED = ("target", "record", "label")


class Judge(Frozen):
    """What one annotator's labels say. `majority`: usable where more than half of the annotators say so. `seals`: a
    record of the target's family and environment, no judgement."""

    name: str
    targets: int
    at: tuple[Mean, ...]
    """usable-memory@k for k from 1: share of targets with a usable record among the first k."""
    selected: Mean
    """Share of targets whose selected record is usable."""
    reciprocal: Mean
    """Mean reciprocal rank of the first usable record; 0 where there is none."""
    first_rank: Mean
    """Mean rank of the first usable record, over targets that have one."""


class Scores(Frozen):
    run: str
    simulated: bool
    k: int
    targets_in_run: int
    judges: tuple[Judge, ...]
    agreement: Agreement | None
    """None for one annotator."""


def write_template(run: Run, path: Path, targets: int | None = None) -> int:
    """Writes the file to annotate; returns its rows. `targets` draws so many of the run's, by a hash of their keys.

    Raises:
        UserError: the run has no retrieved records, or the path exists: labels are never overwritten.
    """
    if path.exists():
        raise UserError(f"{path} exists; a template is not written over what may hold labels: name another file")
    rows = [t for t in run.target_rows.values() if t.candidates]
    if not rows:
        raise UserError(f"{run.folder} holds no retrieval: there is nothing to annotate")
    drawn = sorted(rows, key=lambda t: _hash(t.key))[:targets]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    count = 0
    for row in drawn:
        for record in sorted(row.candidates, key=lambda r: _hash(row.key + r)):
            writer.writerow((row.key, record, row.query, run.records[record].index_text, "", ""))
            count += 1
    replace_text(path, out.getvalue())
    return count


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def score(run: Run, files: Sequence[Path], *, partial: bool = False) -> Scores:
    """Scores one file per annotator.

    Args:
        partial: leave out the targets of which a file lacks a label or a row, instead of refusing the file.

    Raises:
        UserError: a file that cannot be read as annotations of this run: names file, row and column, and what was
            expected there.
    """
    labels = {name: _read(run, path, partial) for name, path in _named(files).items()}
    candidates = {t.key: t for t in run.target_rows.values() if t.candidates}
    judges = [_judge(name, _usable(own), _complete(own, candidates)) for name, own in labels.items()]
    common = [t for t in candidates.values() if all((t.key, r) in own for own in labels.values() for r in t.candidates)]
    if not common:
        raise UserError("no target is labelled completely by every annotator: nothing can be scored")
    if len(labels) > 1:
        judges.append(_judge("majority", _majority(list(labels.values())), common))
    judges.append(_judge("seals", lambda t, r: t.usable(run.records.get(r)), common))
    return Scores(
        run=run.folder.name,
        simulated=bool(run.plan["simulated"]),
        k=max(len(t.candidates) for t in candidates.values()),
        targets_in_run=len(candidates),
        judges=tuple(judges),
        agreement=agreement(labels) if len(labels) > 1 else None,
    )


def _named(files: Sequence[Path]) -> dict[str, Path]:
    """Annotators are named after their files."""
    names = [f.stem for f in files]
    if len(set(names)) < len(names):
        names = [str(f) for f in files]
    if len(set(names)) < len(names):
        raise UserError("the same annotation file is named twice; name one file per annotator")
    return dict(zip(names, files, strict=True))


def _read(run: Run, path: Path, partial: bool) -> dict[Row, str]:
    """The labels of a file by target and record."""
    found: dict[Row, str] = {}
    empty: list[int] = []
    for n, row in enumerate(_rows(path), 2):
        key = _known(run, path, n, row)
        if key in found:
            raise UserError(f"{path}, row {n}: record {key[1]!r} of target {key[0][:16]} stands there a second time")
        label = (row["label"] or "").strip().lower()
        if not label:
            empty.append(n)
        elif label not in LABELS:
            expected = f"expected one of {', '.join(LABELS)}"
            raise UserError(f"{path}, row {n}, column label: {label!r}; {expected}{did_you_mean(label, LABELS)}")
        else:
            found[key] = label
    if empty and not partial:
        raise UserError(
            f"{path}, row {empty[0]}, column label: empty, as in {len(empty)} rows; expected one of "
            f"{', '.join(LABELS)}, or use --partial to leave out the targets of such rows"
        )
    return found if partial else _whole(run, path, found)


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"annotation file {path} cannot be read: {error}") from None
    reader = csv.DictReader(io.StringIO(text), strict=True)
    header = reader.fieldnames or []
    missing = [c for c in _NEEDED if c not in header]
    if missing:
        raise UserError(
            f"{path}, row 1: column {missing[0]!r} is missing; expected comma-separated columns {', '.join(COLUMNS)}, "
            f"found {', '.join(map(str, header)) or 'none'}"
        )
    try:
        return list(reader)
    except csv.Error as error:
        raise UserError(f"{path}, about line {reader.line_num}: not readable as CSV: {error}") from None


def _known(run: Run, path: Path, n: int, row: Mapping[str, str]) -> Row:
    """The target and record a row is about, both of the run."""
    key, record = (row["target"] or "").strip(), (row["record"] or "").strip()
    target = run.target_rows.get(key)
    if target is None:
        raise UserError(f"{path}, row {n}, column target: {key!r} is no target of the run {run.folder}")
    if record not in target.candidates:
        near = did_you_mean(record, target.candidates)
        raise UserError(f"{path}, row {n}, column record: {record!r} was not retrieved for target {key[:16]}{near}")
    return key, record


def _whole(run: Run, path: Path, found: dict[Row, str]) -> dict[Row, str]:
    """The same labels, where every target in the file has all its candidates."""
    for key in dict.fromkeys(target for target, _ in found):
        missing = [r for r in run.target_rows[key].candidates if (key, r) not in found]
        if missing:
            raise UserError(
                f"{path}: target {key[:16]} has no row for {len(missing)} of its candidates, first {missing[0]!r}; add "
                "the rows, or use --partial to leave such targets out"
            )
    return found


def _complete(labels: Mapping[Row, str], targets: Mapping[str, TargetRow]) -> list[TargetRow]:
    return [t for t in targets.values() if all((t.key, r) in labels for r in t.candidates)]


Says = Callable[["TargetRow", str], bool]
"""Whether a record is usable for a target."""


def _usable(labels: Mapping[Row, str]) -> Says:
    return lambda target, record: labels[target.key, record] in USABLE


def _majority(labels: Sequence[Mapping[Row, str]]) -> Says:
    return lambda target, record: sum(own[target.key, record] in USABLE for own in labels) > len(labels) / 2


def _judge(name: str, says: Says, targets: Sequence[TargetRow]) -> Judge:
    """Shares over targets, with intervals over their source trajectories."""
    ranks = [next((n for n, r in enumerate(t.candidates, 1) if says(t, r)), None) for t in targets]
    sources = [t.cluster for t in targets]
    found = [(rank, source) for rank, source in zip(ranks, sources, strict=True) if rank is not None]
    deepest = max((len(t.candidates) for t in targets), default=0)
    return Judge(
        name=name,
        targets=len(targets),
        at=tuple(_mean([float(r is not None and r <= k) for r in ranks], sources) for k in range(1, deepest + 1)),
        selected=_mean([float(t.chosen is not None and says(t, t.chosen)) for t in targets], sources),
        reciprocal=_mean([1 / r if r else 0.0 for r in ranks], sources),
        first_rank=_mean([float(r) for r, _ in found], [s for _, s in found], share=False),
    )


def _mean(values: Sequence[float], sources: Sequence[str], *, share: bool = True) -> Mean:
    bounds = SHARE if share else (1.0, math.inf)
    return Mean(
        value=sum(values) / len(values) if values else None,
        targets=len(values),
        episodes=len(values),
        interval=robust_interval(values, sources, bounds=bounds),
    )
