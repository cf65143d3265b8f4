"""Runs side by side: paired differences by hand, locks, forms, and runs that cannot be compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.ledgers import MadeRun

from rebind.canon import digest
from rebind.errors import UserError
from rebind.eval.compare import Comparison, Difference, compare
from rebind.eval.report.compare_forms import comparison_html, print_comparison, tables, write_comparison

SOURCES = 6
LOCK: dict[str, Any] = {
    "study": {"name": "x", "retrieval": {"k": 5, "ranker": "top1"}, "decoding": {"temperature": 0.2}},
    "bank": "a" * 64,
    "prompts": {"actor": "b" * 64},
}


def made_run(
    folder: Path,
    letters: dict[str, str],
    *,
    name: str = "made",
    targets: range = range(SOURCES),
    seeds: tuple[int, ...] = (0, 1),
    conditions: tuple[str, ...] = ("none", "qcr"),
    chosen: str = "",
    simulated: bool = False,
) -> Path:
    """A run in which every target does what `letters` says by condition: one letter a seed, 1, 0 or I (invalid)."""
    made = MadeRun(conditions=conditions, seeds=seeds, name=name, simulated=simulated)
    for n in targets:
        made.record(f"r{n}", {"person": "Ben Moss"})
        other = made.record(f"s{n}", {"person": "Dan Okafor"})
        key = made.target(
            f"goal {n}",
            f"r{n}",
            {"person": "Anna"},
            level="small" if n % 2 else "large",
            candidates=(f"r{n}", other),
            chosen=other if chosen == "second" else "",
        )
        for condition in conditions:
            for seed, letter in zip(seeds, letters[condition], strict=True):
                if letter == "I":
                    made.episode(key, condition, seed=seed, outcome="invalid-infra", ending="ProviderError")
                else:
                    spread = letter == "1" and not (condition == "qcr" and n == 0)
                    made.episode(key, condition, spread, seed=seed, calls=[(100 + n, 0, 10)])
    return made.write(folder)


def with_lock(folder: Path, **changes: Any) -> Path:
    lock = json.loads(json.dumps(LOCK))
    for place, value in changes.items():
        *path, last = place.split("__")
        at = lock
        for part in path:
            at = at[part]
        at[last] = value
    (folder / "study.lock").write_text(json.dumps(lock), encoding="utf-8")
    return folder


def one(made: Comparison, **wanted: Any) -> Difference:
    full = {
        "kind": "outcome",
        "metric": "success",
        "treatment": "excluded",
        "dimension": "all",
        "group": "all",
    } | wanted
    found = [d for d in made.differences if all(getattr(d, k) == v for k, v in full.items())]
    assert len(found) == 1
    return found[0]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The second run does better under qcr and as well under none, except that one seed there is invalid."""
    root = tmp_path_factory.mktemp("pair")
    a = made_run(root / "top1", {"none": "00", "qcr": "01"}, simulated=True)
    b = made_run(root / "llm", {"none": "0I", "qcr": "11"}, chosen="second", simulated=True)
    return with_lock(a), with_lock(b, study__retrieval__ranker="llm", bank="c" * 64)


@pytest.fixture(scope="module")
def made(pair: tuple[Path, Path]) -> Comparison:
    return compare(list(pair))


def test_differences_are_paired_on_target_seed_and_condition(made: Comparison) -> None:
    """qcr: five targets (1−0, 1−1) → .5 and goal 0, which always fails there, 0. none: the invalid seed has no pair."""
    of = one(made, condition="qcr").effect
    assert (of.mean, of.targets, of.pairs) == (pytest.approx(5 * 0.5 / 6), 6, 12)
    assert (one(made, condition="qcr").run, one(made, condition="qcr").reference) == ("llm", "top1")
    none = one(made, condition="none").effect
    assert (none.mean, none.pairs) == (0.0, 6)
    assert of.robust.low is not None
    assert of.sign_flip.holm is not None
    assert one(made, condition="qcr", dimension="level", group="small").effect.mean == pytest.approx(0.5)


def test_what_memory_adds_is_the_difference_of_the_runs_own_differences(made: Comparison) -> None:
    """Seed 0 alone has all four episodes: five targets (1−0) − (0−0), one 0."""
    assert one(made, kind="gain", condition="qcr").effect.mean == pytest.approx(5 / 6)
    counted = one(made, kind="gain", condition="qcr", treatment="failed").effect
    assert counted.mean == pytest.approx(5 * 0.5 / 6)


def test_selections_of_the_runs_are_told_apart(made: Comparison) -> None:
    first, second = made.sides
    assert (first.same_selection, second.same_selection) == (None, 0)
    assert first.retrieval.chosen_paired.value == 1.0
    assert second.retrieval.chosen_paired.value == 0.0
    assert first.success["qcr"].value == pytest.approx(5 * 0.5 / 6)


def test_every_place_at_which_the_locks_differ_is_listed(made: Comparison) -> None:
    assert {d.where: d.values for d in made.lock} == {
        "study.retrieval.ranker": {"top1": "top1", "llm": "llm"},
        "bank": {"top1": "a" * 64, "llm": "c" * 64},
    }
    assert any("differ in 2 parts of their locks (bank, study.retrieval.ranker)" in n for n in made.notes)
    assert any("is not the one its ledger names" in n for n in made.notes), "the made ledgers name another lock"


def test_a_lock_that_the_ledger_names_is_not_complained_of(tmp_path: Path) -> None:
    run = made_run(tmp_path / "a", {"none": "00", "qcr": "01"})
    lines = (run / "ledger.jsonl").read_text(encoding="utf-8").splitlines()
    said = json.loads(lines[0])["data"]["lock"]
    assert said != digest(LOCK)
    found = compare([run, made_run(tmp_path / "b", {"none": "00", "qcr": "11"})])
    assert sum("no readable study.lock" in n for n in found.notes) == 2
    assert found.lock == ()


def test_runs_that_share_part_of_their_targets_are_compared_on_that_part(tmp_path: Path) -> None:
    letters = {"none": "00", "qcr": "11"}
    a = made_run(tmp_path / "a", letters)
    b = made_run(tmp_path / "b", letters, targets=range(2, SOURCES + 3))
    found = compare([a, b])
    assert found.sides[1].shared_targets == 4
    assert one(found, condition="qcr").effect.targets == 4
    assert any("share 4 targets; 2 are in a only and 3 in b only" in n for n in found.notes)
    assert one(found, condition="qcr").effect.robust.reason == "4 source trajectories: an interval needs at least 5"


def test_three_runs_are_each_compared_with_the_first(pair: tuple[Path, Path], tmp_path: Path) -> None:
    third = made_run(tmp_path / "oracle", {"none": "00", "qcr": "11"}, name="third")
    found = compare([*pair, third])
    assert {(d.run, d.reference) for d in found.differences} == {("llm", "top1"), ("oracle", "top1")}
    assert any("Some runs have a simulated model" in n for n in found.notes)


def test_runs_with_nothing_in_common_are_refused_with_what_each_has(tmp_path: Path) -> None:
    letters = {"none": "00", "qcr": "11"}
    a = made_run(tmp_path / "a", letters)
    with pytest.raises(UserError, match=r"share no target.*and 2 more in a, .* in b.*same targets folder"):
        compare([a, made_run(tmp_path / "b", letters, targets=range(20, 26))])
    with pytest.raises(UserError, match=r"share no seed.*0, 1 in a, 7, 8 in c"):
        compare([a, made_run(tmp_path / "c", letters, seeds=(7, 8))])
    with pytest.raises(UserError, match=r"share no condition.*none, qcr in a, full in d"):
        compare([a, made_run(tmp_path / "d", {"full": "00"}, conditions=("full",))])
    with pytest.raises(UserError, match="needs two run folders"):
        compare([a])
    with pytest.raises(UserError, match="named twice"):
        compare([a, a])


def test_a_copy_of_a_run_is_refused(tmp_path: Path) -> None:
    a = made_run(tmp_path / "a", {"none": "00", "qcr": "11"})
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "ledger.jsonl").write_bytes((a / "ledger.jsonl").read_bytes())
    with pytest.raises(UserError, match="copy is a copy of a"):
        compare([a, copy])


def test_folders_of_one_name_are_told_apart_by_their_parents(tmp_path: Path) -> None:
    folders = [made_run(tmp_path / side / "run", {"none": "00", "qcr": q}) for side, q in (("x", "01"), ("y", "11"))]
    assert [s.label for s in compare(folders).sides] == ["x/run", "y/run"]


def test_the_forms_hold_every_table_and_say_simulated(made: Comparison, tmp_path: Path) -> None:
    shown = tables(made)
    ids = {t.id for t in shown}
    assert {"runs", "success", "outcome_success", "outcome_online", "gain_success", "by_level", "lock"} <= ids
    for table in shown:
        assert all(len(row) == len(table.columns) for row in table.rows)
    page = comparison_html(made)
    assert "SIMULATED MODEL" in page
    assert page.count("<table") == len(shown)
    assert all(f'id="table-{t.id}"' in page for t in shown)
    assert "http" not in page
    console = Console(width=220, record=True, file=(tmp_path / "screen").open("w"))
    print_comparison(made, console)
    screen = console.export_text()
    assert "SIMULATED MODEL" in screen
    assert "study.retrieval.ranker" in screen
    path = write_comparison(made, tmp_path / "out")
    assert path.read_text(encoding="utf-8") == page
    assert (tmp_path / "out" / "outcome_success.csv").exists()
