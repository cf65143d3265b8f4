"""The field rules of ATIF-v1.7, as Harbor's RFC 0001 documents them: names, types, and what must hold between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

Rules = Mapping[str, tuple[type | tuple[type, ...], bool]]
"""By field: its type, and whether it is required."""

_NUMBER = (int, float)
_ROOT: Rules = {
    "schema_version": (str, True), "session_id": (str, False), "trajectory_id": (str, False), "agent": (dict, True),
    "steps": (list, True), "notes": (str, False), "final_metrics": (dict, False), "extra": (dict, False),
    "continued_trajectory_ref": (str, False), "subagent_trajectories": (list, False),
}  # fmt: skip
_AGENT: Rules = {
    "name": (str, True), "version": (str, True), "model_name": (str, False), "tool_definitions": (list, False),
    "extra": (dict, False),
}  # fmt: skip
_STEP: Rules = {
    "step_id": (int, True), "timestamp": (str, False), "source": (str, True), "message": (str, True),
    "model_name": (str, False), "reasoning_effort": ((str, *_NUMBER), False), "reasoning_content": (str, False),
    "tool_calls": (list, False), "observation": (dict, False), "metrics": (dict, False), "extra": (dict, False),
    "llm_call_count": (int, False), "is_copied_context": (bool, False),
}  # fmt: skip
_TOOL_CALL: Rules = {
    "tool_call_id": (str, True), "function_name": (str, True), "arguments": (dict, True), "extra": (dict, False),
}  # fmt: skip
_RESULT: Rules = {
    "source_call_id": (str, False), "content": (str, False), "subagent_trajectory_ref": (list, False),
    "extra": (dict, False),
}  # fmt: skip
_METRICS: Rules = {
    "prompt_tokens": (int, False), "completion_tokens": (int, False), "cached_tokens": (int, False),
    "cost_usd": (_NUMBER, False), "prompt_token_ids": (list, False), "completion_token_ids": (list, False),
    "logprobs": (list, False), "extra": (dict, False),
}  # fmt: skip
_FINAL: Rules = {
    "total_prompt_tokens": (int, False), "total_completion_tokens": (int, False), "total_cached_tokens": (int, False),
    "total_cost_usd": (_NUMBER, False), "total_steps": (int, False), "extra": (dict, False),
}  # fmt: skip
_AGENT_ONLY = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")


def problems(document: Any) -> list[str]:
    """What a document breaks; empty where it is valid."""
    return list(_document(document))


def _document(document: Any) -> Iterator[str]:
    yield from _fields("document", document, _ROOT)
    if document.get("schema_version") != "ATIF-v1.7":
        yield f"schema_version is {document.get('schema_version')!r}"
    yield from _fields("agent", document["agent"], _AGENT)
    if not document["steps"]:
        yield "there is no step"
    for number, step in enumerate(document["steps"], 1):
        yield from _step(number, step)
    final = document.get("final_metrics", {})
    yield from _fields("final_metrics", final, _FINAL)
    if final.get("total_steps", len(document["steps"])) != len(document["steps"]) and "notes" not in document:
        yield "total_steps is not the number of steps, and no notes say why"


def _step(number: int, step: Any) -> Iterator[str]:
    where = f"step {number}"
    yield from _fields(where, step, _STEP)
    if step.get("step_id") != number:
        yield f"{where} has the id {step.get('step_id')}"
    if step.get("source") not in ("system", "user", "agent"):
        yield f"{where} has the source {step.get('source')!r}"
    if "timestamp" in step:
        datetime.fromisoformat(step["timestamp"])
    if step.get("source") != "agent":
        yield from (f"{where} is no agent's and has {name}" for name in _AGENT_ONLY if name in step)
    elif step.get("llm_call_count") == 0:
        yield from (f"{where} has no inference and {n}" for n in ("metrics", "reasoning_content") if n in step)
    calls = step.get("tool_calls", [])
    for call in calls:
        yield from _fields(f"{where}, tool call", call, _TOOL_CALL)
    for result in step.get("observation", {"results": []})["results"]:
        yield from _fields(f"{where}, result", result, _RESULT)
        if "source_call_id" in result and result["source_call_id"] not in [c["tool_call_id"] for c in calls]:
            yield f"{where} has the result of a call that it did not make"
    metrics = step.get("metrics", {})
    yield from _fields(f"{where}, metrics", metrics, _METRICS)
    if metrics.get("cached_tokens", 0) > metrics.get("prompt_tokens", 0):
        yield f"{where} has more cached tokens than prompt tokens"


def _fields(where: str, value: Any, rules: Rules) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where} is no object"
        return
    yield from (f"{where} has no {name}" for name, (_, required) in rules.items() if required and name not in value)
    for name, held in value.items():
        if name not in rules:
            yield f"{where} has {name!r}, which is no field of it"
        elif not isinstance(held, rules[name][0]) or (isinstance(held, bool) and rules[name][0] is not bool):
            yield f"{where}: {name} is a {type(held).__name__}"
