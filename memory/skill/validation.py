"""Deterministic tests of a skill, made from its source: on the source's state it must do what the source did, and
wherever it runs, what comes back must have the form that the source saw."""

from __future__ import annotations

from pydantic import JsonValue

from rebind.memory.skill.execute import Caller, Execution, execute
from rebind.memory.skill.forms import mismatch
from rebind.types import Call, Record, Skill


def invalid(skill: Skill, execution: Execution) -> str | None:
    """Why an execution does not hold: it stopped early, or a result has another form than the source saw; else None."""
    if execution.problem:
        return execution.problem
    for number, (expected, results) in enumerate(zip(skill.expects, execution.results, strict=False), 1):
        for result in results:
            problem = mismatch(expected, result, f"the result of step {number}, {skill.steps[number - 1].tool},")
            if problem:
                return problem
    return None


def fails_on_source(skill: Skill, record: Record, call: Caller) -> str | None:
    """Runs a skill with the source's own values on the source's state: why it does not do there what the source did;
    None where it does. Every call must be one of the source's, access tokens aside, and every result have its form."""
    execution = execute(skill, {s.name: s.example for s in skill.slots}, call)
    problem = invalid(skill, execution)
    if problem:
        return problem
    known = [_bare(c) for s in record.steps for c in s.calls if c.ok]
    strange = next((c for c in execution.calls if _bare(c) not in known), None)
    return None if strange is None else f"{strange.tool} was called as the source never did"


def _bare(call: Call) -> tuple[str, dict[str, JsonValue]]:
    return call.tool, {key: value for key, value in call.args.items() if "token" not in key}
