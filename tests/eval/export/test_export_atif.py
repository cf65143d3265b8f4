"""ATIF documents keep the format's rules and say what the ledger says."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.atif_rules import problems
from support.recorded import Recording

from rebind import load_run
from rebind.envs import world
from rebind.eval.export.atif import export
from rebind.types import Code, ToolCall

pytestmark = pytest.mark.xdist_group("mixed_run")


def _documents(folder: Path) -> dict[str, Any]:
    found = [json.loads(p.read_bytes()) for p in sorted(folder.glob("*.json")) if p.name != "export.json"]
    return {d["extra"]["cell"]: d for d in found}


@pytest.fixture(scope="module")
def documents(mixed_run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("atif") / "out"
    assert export(mixed_run, out)["episodes"] == 5
    return _documents(out)


def test_every_document_of_a_real_run_keeps_the_rules(documents: dict[str, Any]) -> None:
    assert [(cell, found) for cell, d in documents.items() if (found := problems(d))] == []


@pytest.mark.parametrize(
    "breakage",
    [
        lambda d: d["steps"][-1].update(step_id=99),
        lambda d: d["steps"][0].update(metrics={}),
        lambda d: d["steps"][-1].pop("message"),
        lambda d: d["steps"][-1].update(source="assistant"),
        lambda d: next(s for s in d["steps"] if "observation" in s)["observation"]["results"][0].update(
            source_call_id="x"
        ),
        lambda d: d["final_metrics"].update(total_steps="9"),
        lambda d: d["agent"].update(vendor="x"),
    ],
)
def test_the_rules_find_a_broken_document(documents: dict[str, Any], breakage: Callable[[Any], object]) -> None:
    broken = copy.deepcopy(next(d for d in documents.values() if d["extra"]["outcome"] == "valid"))
    breakage(broken)
    assert problems(broken)


def test_tokens_success_and_milestone_are_those_of_the_frames(documents: dict[str, Any], mixed_run: Path) -> None:
    for row in load_run(mixed_run).episodes.to_dict("records"):
        made = documents[str(row["cell"])]
        metrics = [s["metrics"] for s in made["steps"] if "metrics" in s]
        prompts = sum(m["prompt_tokens"] for m in metrics)
        assert made["final_metrics"]["total_prompt_tokens"] == prompts == row["i_base"] + row["i_mem"]
        assert made["final_metrics"]["total_completion_tokens"] == row["o_act"]
        assert made["final_metrics"]["extra"]["online_tokens"] == row["online"]
        if made["extra"]["outcome"] == "valid":
            assert (made["extra"]["success"], made["extra"]["milestone"]) == (row["success"], row["milestone"])


def test_an_infrastructure_failure_is_a_system_step_and_no_zero(documents: dict[str, Any]) -> None:
    (failed,) = (d for d in documents.values() if d["extra"]["outcome"] == "invalid-infra")
    assert failed["extra"]["success"] is None
    assert failed["steps"][-1]["source"] == "system"
    assert "ProviderError" in failed["steps"][-1]["message"]
    assert len(failed["extra"]["earlier_attempts"]) == 1
    (retried,) = (d for d in documents.values() if d["extra"]["outcome"] == "valid" and d["extra"]["earlier_attempts"])
    assert retried["extra"]["attempt"] == 1


def test_support_is_marked_as_copied_and_answers_are_not(documents: dict[str, Any]) -> None:
    full = next(d for d in documents.values() if d["extra"]["condition"] == "full")
    none = next(d for d in documents.values() if d["extra"]["condition"] == "none")
    assert sum("is_copied_context" in s for s in full["steps"]) > 2
    assert not any("is_copied_context" in s for s in none["steps"])
    assert not any("is_copied_context" in s for d in documents.values() for s in d["steps"] if "metrics" in s)


def test_nothing_sealed_is_in_a_document(documents: dict[str, Any], mixed_run: Path) -> None:
    loaded, text = load_run(mixed_run), json.dumps(list(documents.values()))
    assert not [t for t in loaded.target_rows.values() if t.seal.canary in text]
    milestones = {m.text for s in loaded.stories.values() if s.verdict for m in s.verdict.milestones}
    assert milestones
    assert not [m for m in milestones if m in text]


def test_native_calls_tool_messages_code_and_the_calls_inside_it_have_their_places(tmp_path: Path) -> None:
    apps = world("apps")
    recording = Recording(tmp_path / "run", apps, apps.sample("apps/forward-latest-invoice", 0), ("none",))
    call = {"id": "past_0", "type": "function", "function": {"name": "mail_list", "arguments": '{"page": 1}'}}
    plain = {"tool_calls": [], "tool_call_id": None}
    prompt = [
        {"role": "system", "content": "You act.", **plain},
        {"role": "user", "content": "An earlier task.", **plain},
        {"role": "assistant", "content": "", "tool_calls": [call], "tool_call_id": None},
        {"role": "tool", "content": "[]", "tool_calls": [], "tool_call_id": "past_0"},
        {"role": "user", "content": "The task.", **plain},
    ]
    tools = [{"name": "mail_list", "description": "Lists mail.", "parameters": {"type": "object", "properties": {}}}]
    actions = [Code(code="supervisor_login(app='mail')"), ToolCall(tool="supervisor_login", args={"app": "mail"})]
    recording.attempt("none", actions, prompt=prompt, tools=tools)
    export(recording.close(), tmp_path / "out")
    (made,) = _documents(tmp_path / "out").values()
    assert problems(made) == []
    assert made["agent"]["tool_definitions"][0]["function"]["name"] == "mail_list"
    copied = [s for s in made["steps"] if s.get("is_copied_context")]
    assert [s["source"] for s in copied] == ["user", "agent", "user"]
    assert copied[1]["tool_calls"][0]["arguments"] == {"page": 1}
    code, tool = (s for s in made["steps"] if "metrics" in s)
    assert code["tool_calls"][0]["function_name"] == "python"
    assert code["observation"]["results"][0]["extra"]["calls"][0]["tool"] == "supervisor_login"
    assert "extra" not in tool["observation"]["results"][0]
    assert code["reasoning_content"] == "next"
