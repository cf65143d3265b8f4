"""The skills benchmark: what its caller does, what its measures mean, and a small run of each set."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.shards import embed

from rebind.errors import UserError
from rebind.eval.bench.skills.apps import run_apps
from rebind.eval.bench.skills.caller import PerfectCaller
from rebind.eval.bench.skills.measure import Measured, summary
from rebind.eval.bench.skills.methods import BASELINES, TIER_C
from rebind.eval.bench.skills.toolbench import run_toolbench
from rebind.eval.bench.skills.toolbench_data import namespace
from rebind.memory.skill.induce import induce
from rebind.types import Call, Record, Step, ToolCall


def _run(goal: str, *calls: Call) -> Record:
    steps = tuple(Step(action=ToolCall(tool=c.tool, args=c.args), observation="…", calls=(c,)) for c in calls)
    return Record(instruction=goal, descriptor="d", first_observation="o", steps=steps)


def _move(files: Sequence[str], *, star: bool = False) -> Record:
    listed = Call(tool="files_list", args={}, status=200, result={"items": [{"file_id": f} for f in files]})
    moved = [Call(tool="files_move", args={"file_id": f, "to": "/old/x"}, status=200, result={}) for f in files]
    starred = [Call(tool="files_star", args={"file_id": files[0]}, status=200, result={})] if star else []
    return _run("Move all files to /old/x", listed, *moved, *starred)


def test_the_caller_gives_a_row_for_each_repeated_call_and_pays_for_the_look_up() -> None:
    skill = induce(_move(["file_1", "file_2", "file_3"]), least=1)
    assert skill is not None
    filled = PerfectCaller(_move(["file_7", "file_8"])).fill(skill, {})
    assert filled is not None
    assert filled.values[skill.steps[0].each] == [{"file_id": "file_7"}, {"file_id": "file_8"}]
    assert [c.tool for c in filled.before] == ["files_list"]


def test_the_caller_declines_a_skill_that_leaves_something_unwritten_or_writes_what_the_task_does_not_need() -> None:
    plain = induce(_move(["file_1", "file_2"]), least=1)
    more = induce(_move(["file_1", "file_2"], star=True), least=1)
    assert plain is not None
    assert more is not None
    assert PerfectCaller(_move(["file_7", "file_8"], star=True)).fill(plain, {}) is None
    assert PerfectCaller(_move(["file_7", "file_8"])).fill(more, {}) is None


def test_precision_is_over_what_was_handed_on_and_silence_counts_only_where_something_was_missed() -> None:
    run = [
        Measured(handed=2, valid=1, missed=False, reduction=3, reused=True),
        Measured(handed=0, valid=0, missed=True, reduction=0, reused=False),
        Measured(handed=0, valid=0, missed=False, reduction=0, reused=False),
    ]
    row = summary([run])
    assert row["p_at_3"] == 0.25
    assert row["step_red"] == 1.0
    assert row["p_at_3_of_three"] == round(1 / 9, 4)
    assert row["p_at_3_sd"] is None


def test_a_small_run_of_the_apps_has_all_six_rows_and_reuses_skills_across_instances() -> None:
    families = ["apps/append-line-to-note", "apps/star-and-label-newest-mail"]
    result = run_apps(instances=3, seeds=(1,), families=families, encode=embed)
    rows = {(row["method"], row["split"]): row for row in result["rows"]}
    assert set(rows) == {(name, split) for name in (*BASELINES, TIER_C) for split in ("in-domain", "out-of-domain")}
    assert rows[TIER_C, "in-domain"]["reused"] == 1.0
    assert rows[TIER_C, "in-domain"]["step_red"] > 0
    assert rows[TIER_C, "out-of-domain"]["step_red"] == 0


def test_a_functions_namespace_is_its_tool_and_then_its_name() -> None:
    assert namespace("jokes_search_for_chuck_norris") == "chuck_norris.jokes_search"


def test_a_folder_without_recorded_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no recorded ToolBench run"):
        run_toolbench(tmp_path)


@pytest.mark.skipif("REBIND_DATA" not in os.environ, reason="REBIND_DATA does not name the folder of the real data")
def test_recorded_runs_give_rows_and_say_of_each_trace_what_is_lost() -> None:
    result = run_toolbench(Path(os.environ["REBIND_DATA"]), seeds=(1,), encode=embed)
    assert {row["method"] for row in result["rows"]} == {*BASELINES, TIER_C}
    assert result["runs"] == len(result["traces"])
    assert result["calls_lost"]["arguments cut"] > 1000
