"""Makes targets from a frozen bank by binding shift, and keeps those that pass every test (QCR, 3.3 and A.1)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from rebind.banks.files import MANIFEST, append_line, drop_torn_tail, read_lines, silent, write_lines, write_manifest
from rebind.banks.judges import Judge, judged
from rebind.banks.store import Bank
from rebind.banks.targets import SEALS, TARGETS
from rebind.banks.worlds import world_of
from rebind.canon import digest
from rebind.errors import CannotShift, TargetsError
from rebind.types import SHIFT_LEVELS, Frozen, Progress, ShiftLevel, Target

FORMAT = 1
PART = "part.jsonl"
"""What a build under way has made so far; named after its bank."""
TRIES = 3
"""Seeds tried for one record and level."""


class Made(Frozen):
    """What was made of one record: targets, and the reasons of those that were not kept."""

    targets: tuple[Target, ...]
    rejected: tuple[str, ...]


@dataclass(frozen=True)
class BuiltTargets:
    """A targets folder that was just written."""

    path: Path
    digest: str
    records: int
    """Records that at least one target was made from."""
    targets: int
    by_level: dict[str, int]
    rejected: dict[str, int]
    """Attempts that were not kept, by reason."""


def build_targets(bank_path: Path, out: Path, *, workers: int = 1, progress: Progress = silent) -> BuiltTargets:
    """Makes up to four targets, one a level, from every record of a frozen bank, and writes them to the folder `out`.

    The same bank gives the same bytes, whatever the number of worker processes. A stopped build goes on in the same
    folder, where it keeps what it has made of each record until all are done.

    Raises:
        TargetsError: `out` already holds targets. BankError: the bank is not as it was frozen.
    """
    if (out / MANIFEST).exists():
        raise TargetsError(f"{out} already holds targets; build into another folder")
    bank = Bank.open(bank_path)
    kept: dict[str, Target] = {}
    rejected: Counter[str] = Counter()
    for done, made in enumerate(_all_made(bank, workers, out / f"{bank.digest[:16]}.{PART}"), 1):
        progress("targets", done, len(bank.ids))
        rejected.update(made.rejected)
        for target in made.targets:
            if target.task.key in kept:
                rejected["duplicate"] += 1
            kept.setdefault(target.task.key, target)
    return _write(out, bank, [kept[key] for key in sorted(kept)], rejected)


def make_targets(judge: Judge, record_id: str) -> Made:
    """Up to four targets of one record, one a level, and why other attempts were not kept."""
    seal = judge.seals[record_id]
    world = world_of(seal.env)
    targets: list[Target] = []
    rejected: list[str] = []
    for level in SHIFT_LEVELS:
        for attempt in range(TRIES):
            try:
                target = _sealed(world.shift(seal, level, shift_seed(record_id, level, attempt)), record_id)
            except CannotShift as reason:
                rejected.append(reason.reason)
                continue
            problem = judge.problem(record_id, target)
            if problem is None:
                targets.append(target)
                break
            rejected.append(problem)
    return Made(targets=tuple(targets), rejected=tuple(rejected))


def shift_seed(record_id: str, level: ShiftLevel, attempt: int) -> int:
    """The seed of an attempt: its own for every record and level."""
    return int(digest([record_id, level, attempt])[:8], 16)


def _sealed(target: Target, record_id: str) -> Target:
    """The target with its source in the seal."""
    return target.model_copy(update={"seal": target.seal.model_copy(update={"source": record_id})})


def _all_made(bank: Bank, workers: int, part: Path) -> Iterator[Made]:
    """What every record gives, in order of their ids; what a stopped build has made of some stands in `part`."""
    part.parent.mkdir(parents=True, exist_ok=True)
    drop_torn_tail(part)
    before = [Made.model_validate(line) for line in read_lines(part)]
    yield from before
    if left := bank.ids[len(before) :]:
        with closing(judged(bank.path, left, make_targets, workers)) as rest:
            for made in rest:
                append_line(part, made.model_dump(mode="json"))
                yield made


def _write(out: Path, bank: Bank, targets: Sequence[Target], rejected: Mapping[str, int]) -> BuiltTargets:
    out.mkdir(parents=True, exist_ok=True)
    levels = Counter(str(t.seal.level) for t in targets)
    by_level: dict[str, int] = {level: levels[level] for level in SHIFT_LEVELS}
    records = len({t.seal.source for t in targets})
    write_lines(out / TARGETS, ({"key": t.task.key, "task": t.task.model_dump(mode="json")} for t in targets))
    write_lines(out / SEALS, ({"key": t.task.key, "seal": t.seal.model_dump(mode="json")} for t in targets))
    manifest: dict[str, JsonValue] = {
        "kind": "targets",
        "format": FORMAT,
        "bank": {"digest": bank.digest, "path": os.path.relpath(bank.path, out)},
        "records": records,
        "targets": len(targets),
        "by_level": dict(by_level),
        "rejected": dict(sorted(rejected.items())),
    }
    name = write_manifest(out, manifest, (TARGETS, SEALS))
    for part in out.glob(f"*.{PART}"):
        part.unlink()
    return BuiltTargets(out, name, records, len(targets), by_level, dict(sorted(rejected.items())))
