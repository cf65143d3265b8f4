"""`rebind export atif`: one Agent Trajectory Interchange Format document per episode.

The format is Harbor's RFC 0001 (harbor-framework/harbor, rfcs/0001-trajectory-format.md). Documents say ATIF-v1.7, the
first version with all that is used here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rebind import __version__
from rebind.banks.files import silent
from rebind.eval.attempts import Attempts, EndedAttempt, Json, Turn
from rebind.eval.export.about import SIMULATED, action_name, began, cost, facts, moment, provenance
from rebind.eval.export.files import export_folder, file_name
from rebind.eval.tokens import answered
from rebind.types import Progress

VERSION = "ATIF-v1.7"

Part = dict[str, Any]


def export(run: Path, out: Path, progress: Progress = silent) -> dict[str, Any]:
    """Writes one document per cell (its last ended attempt) into `out`.

    Raises:
        UserError: `out` is something else. LedgerError: the run cannot be read.
    """
    attempts = Attempts(run)
    about = provenance(run, attempts.plan)
    with export_folder(out, "atif", about) as folder:
        for done, attempt in enumerate(attempts):
            progress("episodes", done, len(attempts))
            with attempt.explained("its ATIF document"):
                made = trajectory(attempt, attempts.plan, about)
            text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
            (folder / f"{file_name(*attempt.cell.id.split('/'))}.json").write_text(text, encoding="utf-8")
    progress("written", len(attempts), len(attempts))
    return {"out": str(out), "format": VERSION, **about, "episodes": len(attempts)}


def trajectory(attempt: EndedAttempt, plan: Json, about: Json) -> dict[str, Any]:
    """One episode as a document. Every document has a step: an episode that infrastructure ended before its first call
    has its goal."""
    turns = list(attempt.turns())
    start = moment(attempt.start.at).isoformat()
    steps = [*_head(turns[0], start)] if turns else [{"source": "user", "message": attempt.target["task"]["goal"]}]
    for turn in turns:
        steps.append(_turn(turn))
    if attempt.episode.outcome == "invalid-infra":
        failed = {"kind": "infrastructure", "outcome": "invalid-infra"}
        steps.append(_step("system", moment(attempt.end.at).isoformat(), attempt.error, extra=failed))
    return {
        "schema_version": VERSION,
        "session_id": f"{about['lock'][:16]}/{attempt.cell.id}",
        "trajectory_id": attempt.end.hash,
        "agent": _agent(turns, plan),
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        **({"notes": SIMULATED} if about["simulated"] else {}),
        "final_metrics": _totals(attempt, steps),
        "extra": {**about, **facts(attempt)},
    }


def _agent(turns: Sequence[Turn], plan: Json) -> Part:
    model = plan["model"]
    how = {name: model.get(name) for name in ("protocol", "placement", "thought", "grounded", "strict_tools")}
    tools = [{"type": "function", "function": dict(tool)} for tool in turns[0].tools] if turns else []
    return {
        "name": "rebind",
        "version": __version__,
        "model_name": model["actor"],
        **({"tool_definitions": tools} if tools else {}),
        "extra": {"decoding": plan["decoding"], **{k: v for k, v in how.items() if v is not None}},
    }


def _head(turn: Turn, start: str) -> Iterator[Part]:
    """The messages before the first answer. All between the system prompt and the task is support: turns that were
    copied from the past, which ATIF asks to mark so that nobody trains on them."""
    *before, task = turn.prompt
    for message in before:
        if message["role"] == "system":
            yield _step("system", start, message["content"])
        else:
            yield _copied(message, start)
    yield _step("user", start, task["content"])


def _copied(message: Json, start: str) -> Part:
    """A message of the support. What a tool returned has no role of its own in ATIF and stands as the user's."""
    if message["role"] != "assistant":
        return _step("user", start, message["content"], is_copied_context=True)
    calls = [
        {
            "tool_call_id": str(call["id"]),
            "function_name": call["function"]["name"],
            "arguments": json.loads(call["function"]["arguments"]),
        }
        for call in message["tool_calls"]
    ]
    more: Part = {"tool_calls": calls} if calls else {}
    return _step("agent", start, message["content"], llm_call_count=0, is_copied_context=True, **more)


def _turn(turn: Turn) -> Part:
    """One answer and what came of it."""
    row: Json = turn.call.data
    ended = moment(began(row, turn.call.at)[1]).isoformat()
    if not answered(row):
        return _step("system", ended, "the model did not answer", extra={"attempts": list(row["attempts"])})
    more: Part = {"metrics": _metrics(row), "llm_call_count": 1}
    if turn.step is not None:
        more |= _acted(turn.step.data)
    return _step("agent", ended, row["text"], **more)


def _acted(step: Json) -> Part:
    """The fields of a turn that tell its action and what came back. An answer that was no action was told so."""
    made: Part = {"reasoning_content": step["thought"]} if step["thought"] else {}
    result: Part = {"content": step["observation"]}
    action = step["action"]
    if action is not None:
        name, args = action_name(action)
        result["source_call_id"] = f"call_{step['index']}"
        made["tool_calls"] = [{"tool_call_id": result["source_call_id"], "function_name": name, "arguments": args}]
    extra: Part = {"error": step["error"]} if step["error"] else {}
    tool = None if action is None else action.get("tool")
    if step["calls"] and [c["tool"] for c in step["calls"]] != [tool]:
        extra["calls"] = list(step["calls"])  # of a block of code, or inside a skill
    return made | {"observation": {"results": [result | ({"extra": extra} if extra else {})]}}


def _metrics(row: Json) -> Part:
    usage = row["usage"]
    found = {
        "prompt_tokens": usage["prompt"],
        "completion_tokens": usage["completion"],
        "cached_tokens": usage["cached"],
        "cost_usd": cost(row),
    }
    extra = {
        "reasoning_tokens": usage["reasoning"],
        "support_tokens": row["mem_tokens"],
        "http_attempts": len(row["attempts"]),
        "replayed": row["replayed"],
    }
    return {**_known(found), "extra": _known(extra)}


def _totals(attempt: EndedAttempt, steps: Sequence[Part]) -> Part:
    """Sums over the steps, None left out as missing; the cost is of the whole episode, note writer included."""
    metrics = [step["metrics"] for step in steps if "metrics" in step]
    sums = {}
    for name in ("prompt_tokens", "completion_tokens", "cached_tokens"):
        counts = [m.get(name) for m in metrics]
        sums[f"total_{name}"] = None if None in counts else sum(counts)
    tokens = attempt.episode.tokens
    account = tokens.model_dump(mode="json", include={"i_base", "i_mem", "i_syn", "o_syn", "o_act", "once", "wasted"})
    return {
        **_known({**sums, "total_cost_usd": tokens.cost}),
        "total_steps": len(steps),
        "extra": {"online_tokens": tokens.online, **account},
    }


def _known(values: Part) -> Part:
    """The values that are not missing: ATIF has no null, and missing is never 0."""
    return {name: value for name, value in values.items() if value is not None}


def _step(source: str, timestamp: str, message: str, **more: Any) -> Part:
    return {"timestamp": timestamp, "source": source, "message": message, **more}
