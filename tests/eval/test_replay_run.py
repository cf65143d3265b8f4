"""A replay finds what an environment answers otherwise than the ledger says, and nothing where nothing is."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.recorded import Recording
from typer.testing import CliRunner

from rebind.banks.rollers import oracle_roller
from rebind.banks.rollout import roll
from rebind.banks.skills import verified_skills
from rebind.cli.app import app
from rebind.envs import world
from rebind.errors import UserError
from rebind.eval.differing import differences
from rebind.eval.ledger import LEDGER_FILE, read_events
from rebind.eval.replay import replay
from rebind.secrets import MASK
from rebind.types import Code, Redacted, ToolCall

pytestmark = pytest.mark.xdist_group("mixed_run")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two attempts: one of code blocks and tool calls, one that calls a skill."""
    apps = world("apps")
    target = apps.sample("apps/forward-latest-invoice", 0)
    env = apps.make()
    rolled = roll(env, target, target.seal.family, 0, oracle_roller(apps, 0.0))
    assert rolled.record
    (skill,) = verified_skills(rolled.record, target.seal, env)
    env.close()
    recording = Recording(tmp_path_factory.mktemp("recorded") / "run", apps, target)
    code = "found = supervisor_login(app='mail')\nprint(mail_search(access_token=found['access_token'])['total'])"
    recording.attempt("none", [Code(code=code), Code(code="1 / 0"), ToolCall(tool="mail_serach")])
    recording.attempt(
        "skill", [ToolCall(tool=skill.name, args={s.name: s.example for s in skill.slots})], skills=[skill]
    )
    return recording.close()


@pytest.fixture
def edited(tmp_path: Path) -> Iterator[Callable[[Path, Callable[[dict[str, Any]], None]], Path]]:
    """Copies a run with its events changed."""

    def edit(run: Path, change: Callable[[dict[str, Any]], None]) -> Path:
        copy = tmp_path / "edited"
        shutil.copytree(run, copy)
        events = [json.loads(line) for line in (run / LEDGER_FILE).read_bytes().splitlines()]
        for event in events:
            change(event)
        (copy / LEDGER_FILE).write_text("".join(json.dumps(e) + "\n" for e in events), encoding="utf-8")
        return copy

    return edit


def test_every_episode_of_a_real_run_replays_the_same(mixed_run: Path) -> None:
    found = replay(mixed_run)
    assert (found.episodes, found.same, found.differ, found.skipped) == (5, 5, 0, 0)
    assert found.steps == sum(e.kind == "step" for e in read_events(mixed_run) if _final(mixed_run, e))


def test_all_replays_earlier_attempts_too(mixed_run: Path) -> None:
    found = replay(mixed_run, every=True)
    assert found.episodes == sum(e.kind == "episode" for e in read_events(mixed_run)) == 7
    assert found.differ == 0


def test_code_blocks_and_the_calls_inside_a_skill_replay_the_same(recorded: Path) -> None:
    steps = [e.data for e in read_events(recorded) if e.kind == "step"]
    assert len(steps[0]["calls"]) == 2
    assert len(steps[-1]["calls"]) > 2
    assert steps[1]["error"]
    found = replay(recorded)
    assert (found.same, found.differ, found.steps) == (2, 0, 4)


def test_another_world_seed_shows_at_the_first_step_that_meets_it(mixed_run: Path, edited: Any) -> None:
    def other_plant(event: dict[str, Any]) -> None:
        if event["kind"] == "target":
            event["data"]["seal"]["world"]["plant"] += 1

    found = replay(edited(mixed_run, other_plant))
    assert (found.episodes, found.differ) == (5, 4)  # infrastructure ended the fifth before it met what was planted
    for one in found.differences:
        assert one.step is not None
        assert one.what.startswith(f"step {one.step}, ")
        assert any(line.startswith("- observation") for line in one.diff)
        assert any(line.startswith("+ observation") for line in one.diff)


def test_a_world_that_cannot_be_built_is_a_difference_of_its_episodes(mixed_run: Path, edited: Any) -> None:
    def other_world(event: dict[str, Any]) -> None:
        if event["kind"] == "target":
            event["data"]["seal"]["world"]["seed"] += 1

    found = replay(edited(mixed_run, other_world))
    assert found.differ == 5
    assert all("first observation" in d.what or "failed" in d.what for d in found.differences)


def test_an_edited_result_inside_a_skill_names_step_call_and_field_and_the_verdict_stays(
    recorded: Path, edited: Any
) -> None:
    def edit(event: dict[str, Any]) -> None:
        if event["kind"] == "step" and len(event["data"]["calls"]) > 2:
            event["data"]["calls"][1]["status"] = 299

    found = replay(edited(recorded, edit))
    (one,) = found.differences
    assert (one.step, one.verdict, one.diff) == (0, "same", ("- calls[1].status: 299", "+ calls[1].status: 200"))
    assert found.same == 1


def test_an_edited_verdict_is_found_where_all_steps_are_the_same(recorded: Path, edited: Any) -> None:
    def edit(event: dict[str, Any]) -> None:
        if event["kind"] == "verdict":
            event["data"]["success"] = not event["data"]["success"]

    found = replay(edited(recorded, edit))
    assert [(d.step, d.what, d.verdict) for d in found.differences] == [(None, "the verdict differs", "differs")] * 2


def test_what_cannot_be_replayed_is_skipped_with_its_reason(recorded: Path, edited: Any) -> None:
    def edit(event: dict[str, Any]) -> None:
        if event["kind"] == "step" and "tool" in event["data"]["action"]:
            event["data"]["action"]["args"] = {"to": MASK}

    found = replay(edited(recorded, edit))
    assert (found.episodes, found.skipped) == (2, 2)
    assert dict(found.reasons) == {"an action is masked or redacted in the ledger": 2}


def test_an_environment_that_is_not_installed_is_a_reason_to_skip(recorded: Path, edited: Any) -> None:
    def edit(event: dict[str, Any]) -> None:
        if event["kind"] == "target":
            event["data"]["task"]["env"] = "other/World-v0"

    assert dict(replay(edited(recorded, edit)).reasons) == {"environment other/World-v0 is not installed": 2}


def test_an_unknown_cell_is_bad_input_and_a_known_one_is_replayed_alone(recorded: Path) -> None:
    cell = next(e.cell for e in read_events(recorded) if e.cell)
    assert replay(recorded, cell=cell).episodes == 1
    with pytest.raises(UserError, match="did you mean"):
        replay(recorded, cell=cell.replace("none", "noen"))


def test_the_command_exits_with_1_and_prints_the_difference(recorded: Path, edited: Any) -> None:
    def edit(event: dict[str, Any]) -> None:
        if event["kind"] == "step" and event["data"]["error"]:
            event["data"]["error"] += "!"

    run = edited(recorded, edit)
    shown = CliRunner().invoke(app, ["ledger", "replay", str(run)])
    assert shown.exit_code == 1
    assert "step 1, a block of code: error differ" in shown.stdout
    found = json.loads(CliRunner().invoke(app, ["ledger", "replay", str(run), "--json"]).stdout)
    assert (found["episodes"], found["same"], found["differ"], found["skipped"]) == (2, 1, 1, 0)
    assert CliRunner().invoke(app, ["ledger", "replay", str(recorded), "--json"]).exit_code == 0


def test_differences_name_places_and_read_json_within_texts() -> None:
    def lines(old: Any, new: Any) -> list[str]:
        return list(differences(old, new, "x", wildcard=MASK))

    assert lines({"a": [1, {"b": None}]}, {"a": [1, {"b": 0}], "c": 2}) == [
        "- x.a[1].b: null",
        "+ x.a[1].b: 0",
        "+ x.c: 2",
    ]
    assert lines('{"total":5}', '{"total": 6}') == ["- x.total: 5", "+ x.total: 6"]
    assert lines([1], [1, 2]) == ["- x has 1 members", "+ x has 2 members"]
    assert lines(1, True) == ["- x: 1", "+ x: true"]
    assert lines("one\ntwo", "one\nthree")[0] == "  x:"
    far = lines("a" * 300 + "b", "a" * 300 + "c")
    assert far[0].endswith("ab")
    assert all(len(line) < 120 for line in far)


def test_masked_and_redacted_values_may_be_anything() -> None:
    assert list(differences(f"key {MASK}, page 2", "key abc, page 2", "x", wildcard=MASK)) == []
    assert list(differences(f"key {MASK}, page 2", "key abc, page 3", "x", wildcard=MASK))
    assert list(differences({"a": Redacted("0" * 64)}, {"a": [1]}, "x", wildcard=MASK)) == []


def _final(run: Path, event: Any) -> bool:
    last = {e.cell: e.attempt for e in read_events(run) if e.kind == "episode"}
    return Counter(last)[event.cell] == event.attempt
