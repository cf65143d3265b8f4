"""Annotation files: what they show, how they are scored, and what is said of bad ones."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from support.ledgers import MadeRun

from rebind.errors import UserError
from rebind.eval.agreement import agreement
from rebind.eval.frames import Run, load_run
from rebind.eval.usable import COLUMNS, Judge, score, write_template

TARGETS = 6


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Six targets of six sources, two candidates each: the own source first for all but the last; it is chosen."""
    made = MadeRun(conditions=("none",), simulated=True)
    for n in range(TARGETS):
        made.record(f"r{n}", {"person": "Ben Moss"}, family="pay" if n else "browse")
    for n in range(TARGETS):
        order = (f"r{n}", f"r{(n + 1) % TARGETS}")
        candidates = order if n < TARGETS - 1 else order[::-1]
        key = made.target(f"goal {n}", f"r{n}", {"person": "Anna"}, family="pay", candidates=candidates)
        made.episode(key, "none", True)
    return load_run(made.write(tmp_path_factory.mktemp("annotated") / "run"))


Says = Callable[[str, str], str]


def annotated(run: Run, path: Path, says: Says) -> Path:
    """A template filled in by a rule: goal and record → label."""
    blank = path.with_name(f"blank-{path.name}")
    write_template(run, blank)
    rows = list(csv.DictReader(io.StringIO(blank.read_text(encoding="utf-8"))))
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, COLUMNS)
        writer.writeheader()
        for row in rows:
            goal = run.target_rows[row["target"]].task.goal
            writer.writerow({**row, "label": says(goal, row["record"])})
    return path


def own_source(goal: str, record: str) -> str:
    return "actionable" if record == f"r{goal[-1]}" else "surface"


def judge(found: list[Judge] | tuple[Judge, ...], name: str) -> Judge:
    return next(j for j in found if j.name == name)


def test_the_template_shows_query_and_candidate_and_neither_rank_score_nor_seal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "blank.csv"
    assert write_template(run, path) == 2 * TARGETS
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    assert set(rows[0]) == set(COLUMNS)
    assert all(row["label"] == "" for row in rows)
    assert "Task: goal" in rows[0]["query"]
    assert "Workflow" in rows[0]["candidate"]
    text = path.read_text(encoding="utf-8")
    assert "canary" not in text
    assert "family" not in text
    first = {t.key: t.candidates[0] for t in run.target_rows.values()}
    leading = [rows[n]["record"] == first[rows[n]["target"]] for n in range(0, len(rows), 2)]
    assert not all(leading), "the order of rows must not give the rank away"


def test_a_template_is_never_written_over_labels(run: Run, tmp_path: Path) -> None:
    path = annotated(run, tmp_path / "mine.csv", own_source)
    with pytest.raises(UserError, match="exists"):
        write_template(run, path)


def test_usable_at_k_counts_targets_with_a_usable_record_among_the_first_k(run: Run, tmp_path: Path) -> None:
    """The own source stands first for five targets and second for the last, whose selected record is the other one."""
    found = judge(score(run, [annotated(run, tmp_path / "ada.csv", own_source)]).judges, "ada")
    assert [m.value for m in found.at] == [pytest.approx(5 / 6), 1.0]
    assert found.selected.value == pytest.approx(5 / 6)
    assert found.reciprocal.value == pytest.approx((5 + 0.5) / 6)
    assert found.first_rank.value == pytest.approx(7 / 6)
    interval = found.at[0].interval
    assert interval is not None
    assert interval.high == 1.0, "a share's interval ends at 1"


def test_the_seals_are_scored_beside_the_annotators(run: Run, tmp_path: Path) -> None:
    """By the seals r0 is of another family: it is usable for none."""
    found = judge(score(run, [annotated(run, tmp_path / "ada.csv", own_source)]).judges, "seals")
    assert found.at[0].value == pytest.approx(4 / 6)
    assert found.at[1].value == 1.0


def test_several_annotators_get_a_majority_and_agreement(run: Run, tmp_path: Path) -> None:
    def lenient(goal: str, record: str) -> str:
        return "workflow"

    def strict(goal: str, record: str) -> str:
        return own_source(goal, record) if goal != "goal 0" else "irrelevant"

    files = [annotated(run, tmp_path / f"{s.__name__}.csv", s) for s in (own_source, lenient, strict)]
    found = score(run, files)
    assert judge(found.judges, "lenient").at[0].value == 1.0
    assert judge(found.judges, "strict").at[0].value == pytest.approx(4 / 6)
    assert judge(found.judges, "majority").at[0].value == pytest.approx(5 / 6)
    assert found.agreement is not None
    by = {(p.first, p.second): p for p in found.agreement.pairs}
    pair = by["own_source", "strict"]
    assert (pair.rows, pair.same) == (12, pytest.approx(10 / 12))
    # Usable or not: 5 + 6 of 12 agree; the first says usable 6 times, the second 5.
    chance = (6 * 5 + 6 * 7) / 144
    assert pair.kappa_usable == pytest.approx((11 / 12 - chance) / (1 - chance))
    assert by["lenient", "strict"].kappa_usable == pytest.approx(0.0)


def test_full_agreement_is_one_and_one_label_throughout_is_undefined() -> None:
    rows = {("t", f"r{n}"): ("surface", "workflow", "actionable")[n % 3] for n in range(9)}
    same = agreement({"a": rows, "b": dict(rows)})
    assert (same.alpha_ordinal, same.alpha_usable) == (pytest.approx(1.0), pytest.approx(1.0))
    assert (same.pairs[0].kappa, same.pairs[0].kappa_weighted) == (pytest.approx(1.0), pytest.approx(1.0))
    flat = dict.fromkeys(rows, "workflow")
    dull = agreement({"a": flat, "b": dict(flat)})
    assert (dull.alpha_ordinal, dull.pairs[0].kappa, dull.pairs[0].same) == (None, None, 1.0)


def test_alpha_of_ranks_is_krippendorffs_example() -> None:
    """Ordinal data by hand: two coders, 4 units of labels 0 0 / 1 1 / 2 3 / 3 3. δ² of 2 and 3 over the pooled counts
    n₀ 2, n₁ 2, n₂ 1, n₃ 3 is (1/2 + 3/2)² = 4; observed 2 · 4 / 8; expected Σ n_c n_k δ²_ck / 28."""
    codes = ("irrelevant", "surface", "workflow", "actionable")
    a = {("t", f"r{n}"): codes[c] for n, c in enumerate((0, 1, 2, 3))}
    b = {("t", f"r{n}"): codes[c] for n, c in enumerate((0, 1, 3, 3))}
    counts = (2, 2, 1, 3)

    def delta(low: int, high: int) -> float:
        return (sum(counts[low : high + 1]) - (counts[low] + counts[high]) / 2) ** 2

    expected = sum(counts[c] * counts[k] * delta(c, k) for c in range(4) for k in range(c + 1, 4))
    alpha = 1 - (8 - 1) * delta(2, 3) / expected
    assert agreement({"a": a, "b": b}).alpha_ordinal == pytest.approx(alpha)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda t: t.replace("actionable", "acionable", 1), r"row \d+, column label: 'acionable'.*mean 'actionable'"),
        (lambda t: t.replace("surface", "", 1), r"row \d+, column label: empty, as in 1 rows.*--partial"),
        (lambda t: t.replace("label", "verdict", 1), "column 'label' is missing; expected.*found target, record"),
        (lambda t: t.replace("\n" + t.splitlines()[1][:8], "\nxxxxxxxx", 1), "row 2, column target: .*no target of"),
        (lambda t: "\n".join(t.splitlines()[:1]), "no target is labelled completely"),
        (lambda t: t + t[t.index("\n") + 1 :], "stands there a second time"),
        (lambda t: t.replace(",r1,", ",r9,", 1), "column record: 'r9' was not retrieved"),
        (lambda t: t + '"open', "not readable as CSV"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_by_row_column_and_what_was_expected(
    run: Run, tmp_path: Path, spoil: Callable[[str], str], said: str
) -> None:
    path = annotated(run, tmp_path / "bad.csv", own_source)
    path.write_text(spoil(path.read_text(encoding="utf-8").replace("\r\n", "\n")), encoding="utf-8")
    with pytest.raises(UserError, match=said):
        score(run, [path])


def test_a_missing_row_is_refused_and_left_out_with_partial(run: Run, tmp_path: Path) -> None:
    path = annotated(run, tmp_path / "short.csv", lambda goal, record: "" if goal == "goal 2" else "workflow")
    with pytest.raises(UserError, match="empty, as in 2 rows"):
        score(run, [path])
    assert judge(score(run, [path], partial=True).judges, "short").targets == TARGETS - 1


def test_a_file_that_does_not_exist_is_named(run: Run, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"annotation file .*nowhere\.csv cannot be read"):
        score(run, [tmp_path / "nowhere.csv"])
    path = annotated(run, tmp_path / "twice.csv", own_source)
    with pytest.raises(UserError, match="named twice"):
        score(run, [path, path])
