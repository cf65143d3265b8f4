"""Binding-shift pairs of other benchmarks' tasks."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.originals import data
from typer.testing import CliRunner

from rebind.cli import app
from rebind.envs.adapters import datasets
from rebind.envs.adapters.benchmarks import load
from rebind.envs.adapters.datasets import DataFile, Dataset
from rebind.envs.adapters.instances import Instance, count, one_a_level
from rebind.errors import UserError


def test_webarena_counts() -> None:
    """WebArena has 190 templates, 160 with different instances, and 3,132 ordered pairs."""
    found = count(load("webarena", data("webarena")))
    assert (found["templates"], found["templates_with_pairs"], found["ordered_pairs"]) == (190, 160, 3132)
    assert sum(found["by_level"].values()) == 3132


def test_workarena_and_tau_bench_counts() -> None:
    """WorkArena's 25 configuration files are templates; 467 of τ-bench's 500 retail training tasks have a partner."""
    assert count(load("workarena", data("workarena")))["templates_with_pairs"] == 25
    found = count(load("tau-bench", data("tau-bench")))
    assert (found["instances_with_pairs"], found["instances"]) == (467, 500)


def test_levels_follow_the_number_of_changed_bindings() -> None:
    """Nothing, one of several, two or three, and four changed bindings are the four levels; a lone one is medium."""
    first = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    shifted = [first, first | {"a": 0}, first | {"a": 0, "b": 0}, dict.fromkeys(first, 9)]
    instances = [Instance("t", str(n), None, values) for n, values in enumerate(shifted)]
    made = {(p.source.id, p.target.id): p.level for p in one_a_level([instances[0], *instances])}
    assert made[("0", "0")] == "none"
    assert made[("0", "1")] == "small"
    assert made[("0", "2")] == "medium"
    assert made[("0", "3")] == "large"
    lone = [Instance("t", "x", None, {"only": 1}), Instance("t", "y", None, {"only": 2})]
    assert [p.level for p in one_a_level(lone)] == ["medium", "medium"]


def test_command_writes_pairs(tmp_path: Path) -> None:
    """The command writes one partner a source and level, with the changed bindings, and nothing on a dry run."""
    tasks = [
        {"intent_template_id": 1, "task_id": n, "intent": f"Find {city}", "instantiation_dict": {"city": city, "n": 1}}
        for n, city in enumerate(("Rome", "Oslo", "Rome"))
    ]
    (tmp_path / "test.raw.json.gz").write_bytes(gzip.compress(json.dumps(tasks).encode()))
    out = tmp_path / "pairs.jsonl"
    command = ["targets", "build", "--from", "webarena", "--data", str(tmp_path), "--json"]
    dry = CliRunner().invoke(app, [*command, "--dry-run"])
    assert json.loads(dry.stdout)["by_level"] == {"none": 2, "small": 4, "medium": 0, "large": 0}
    assert not out.exists()
    done = CliRunner().invoke(app, [*command, "--out", str(out)])
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert json.loads(done.stdout)["written"] == len(rows) == 5
    assert rows[0]["changed"] == [{"name": "city", "source": "Rome", "target": "Oslo"}]


def test_wrong_folders_and_names_are_said(tmp_path: Path) -> None:
    """A folder without the tasks, broken JSON and an unknown benchmark are user errors that name what is wrong."""
    with pytest.raises(UserError, match=r"test\.raw\.json"):
        load("webarena", tmp_path)
    (tmp_path / "test.raw.json").write_text("[")
    with pytest.raises(UserError, match="no JSON"):
        load("webarena", tmp_path)
    with pytest.raises(UserError, match="did you mean 'webarena'"):
        load("webarna", tmp_path)
    with pytest.raises(UserError, match="does not exist"):
        load("webarena", tmp_path / "nowhere")


@pytest.fixture
def cached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str, bool], None]:
    """Registers a small "webarena" under a licence, of which the user's cache holds all or nothing."""
    content = json.dumps([{"intent_template_id": 1, "task_id": 1, "intent": "x", "instantiation_dict": {"a": 1}}])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def register(licence: str, there: bool) -> None:
        file = DataFile(path="test.raw.json", sha256="0" * 64, bytes=len(content), package="none==0", member="none")
        one = Dataset(name="webarena", title="Tasks", licence=licence, origin="here", files=(file,))
        monkeypatch.setattr(datasets, "datasets", lambda: (one,))
        if there:
            one.folder.mkdir(parents=True)
            (one.folder / "test.raw.json").write_text(content)

    return register


def test_without_a_path_the_tasks_are_those_in_the_cache(cached: Callable[[str, bool], None]) -> None:
    """What `rebind data get` brought needs no further word."""
    cached("CC-BY-NC-4.0", True)
    done = CliRunner().invoke(app, ["targets", "build", "--from", "webarena", "--dry-run", "--json"])
    assert json.loads(done.stdout)["instances"] == 1


def test_tasks_under_a_licence_to_be_accepted_are_not_fetched_unasked(cached: Callable[[str, bool], None]) -> None:
    """The licence is shown, and the command that accepts it named."""
    cached("CC-BY-NC-4.0", False)
    done = CliRunner().invoke(app, ["targets", "build", "--from", "webarena", "--dry-run"])
    assert "accept it with `rebind data get webarena`" in str(done.exception)
