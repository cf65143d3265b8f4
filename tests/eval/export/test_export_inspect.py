"""Inspect logs read back as what the ledger says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.recorded import Recording

from rebind import load_run
from rebind.envs import world
from rebind.eval.export.inspect import export
from rebind.types import Code, ToolCall, Usage

pytest.importorskip("inspect_ai", reason="needs the extra: pip install 'rebind[inspect]'")
pytestmark = pytest.mark.xdist_group("mixed_run")


def _read(folder: Path) -> dict[str, Any]:
    from inspect_ai.log import list_eval_logs, read_eval_log

    logs = [read_eval_log(info) for info in list_eval_logs(str(folder))]
    return {log.eval.metadata["condition"]: log for log in logs if log.eval.metadata}


@pytest.fixture(scope="module")
def logs(mixed_run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("inspect") / "out"
    export(mixed_run, out)
    return _read(out)


def test_there_is_a_log_per_environment_and_condition_that_names_its_run(logs: dict[str, Any], mixed_run: Path) -> None:
    loaded = load_run(mixed_run)
    assert set(logs) == set(loaded.plan["conditions"])
    for log in logs.values():
        assert log.status == "success"
        assert log.eval.metadata["lock"] == loaded.plan["lock"]
        assert len(log.eval.metadata["merkle_root"]) == 64
        assert log.eval.metadata["study_lock"]["study"]["name"] == loaded.plan["name"]
        assert log.eval.tags == ["simulated"]


def test_scores_and_tokens_are_those_of_the_frames(logs: dict[str, Any], mixed_run: Path) -> None:
    loaded = load_run(mixed_run)
    seeds = list(loaded.plan["seeds"])
    for row in loaded.episodes.to_dict("records"):
        samples = logs[str(row["condition"])].samples
        (sample,) = (s for s in samples if s.id == row["target"][:16] and s.epoch == seeds.index(row["seed"]) + 1)
        assert sum(u.total_tokens for u in sample.model_usage.values()) == row["online"]
        assert sample.metadata["cell"] == row["cell"]
        if row["outcome"] == "valid":
            assert sample.scores["success"].value == float(row["success"])
            assert sample.scores["milestone"].value == row["milestone"]
            assert sample.error is None


def test_an_infrastructure_failure_is_an_error_and_in_no_mean(logs: dict[str, Any]) -> None:
    (log,) = (log for log in logs.values() if any(s.error for s in log.samples))
    (sample,) = (s for s in log.samples if s.error)
    assert "ProviderError" in sample.error.message
    assert not sample.scores
    assert len(sample.error_retries) == 1
    assert (log.results.total_samples, log.results.completed_samples) == (1, 0)
    assert [(s.scored_samples, s.unscored_samples, s.metrics) for s in log.results.scores] == [(0, 1, {})] * 2


def test_events_have_the_ledgers_times_in_order_and_full_prompts(logs: dict[str, Any], mixed_run: Path) -> None:
    loaded = load_run(mixed_run)
    for log in logs.values():
        for sample in log.samples:
            models = [e for e in sample.events if e.event == "model" and e.role == "actor"]
            tools = [e for e in sample.events if e.event == "tool"]
            times = [e.timestamp for e in [*models, *tools]]
            assert all(loaded.chain.began <= t.timestamp() <= loaded.chain.ended for t in times)
            assert [len(m.input) for m in models] == sorted({len(m.input) for m in models})
            assert all(m.input[0].role == "system" for m in models)
            if sample.error is None:
                assert len(tools) == sample.metadata["steps"]
                assert sample.messages[-1].text == tools[-1].result


def test_missing_usage_native_calls_code_and_cached_tokens_keep_their_meaning(tmp_path: Path) -> None:
    apps = world("apps")
    recording = Recording(tmp_path / "run", apps, apps.sample("apps/forward-latest-invoice", 0), ("none", "full"))
    wire = {"id": "c1", "type": "function", "function": {"name": "supervisor_login", "arguments": '{"app": "mail"}'}}
    tools = [
        {"name": "supervisor_login", "description": "Logs in.", "parameters": {"type": "object", "properties": {}}}
    ]
    actions = [ToolCall(tool="supervisor_login", args={"app": "mail"})]
    recording.attempt(
        "none", actions, tools=tools, tool_calls=[wire], usage=Usage(prompt=100, completion=10, cached=60)
    )
    recording.attempt("full", [Code(code="1 / 0")], usage=Usage())
    export(recording.close(), tmp_path / "out")
    made = _read(tmp_path / "out")
    (native,), (code,) = made["none"].samples, made["full"].samples
    (usage,) = native.model_usage.values()
    assert (usage.input_tokens, usage.input_tokens_cache_read, usage.total_tokens) == (40, 60, 110)
    (event,) = (e for e in native.events if e.event == "model")
    assert event.output.message.tool_calls[0].arguments == {"app": "mail"}
    assert (event.tools[0].name, native.messages[-1].role) == ("supervisor_login", "tool")
    (event,) = (e for e in code.events if e.event == "model")
    assert event.output.usage is None
    (tool,) = (e for e in code.events if e.event == "tool")
    assert (tool.function, tool.error.type) == ("python", "unknown")
