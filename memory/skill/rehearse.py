"""A skill's look-ups made before it is begun, so that one which would stop half-way writes nothing."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from rebind.memory.skill.execute import Caller, Unresolved, arguments, failed, run_step
from rebind.memory.skill.reads import app_of, only_reads
from rebind.types import Skill


def rehearsed(skill: Skill, slots: Mapping[str, JsonValue], call: Caller) -> str | None:
    """Makes the calls that only read, and resolves whatever else can be resolved without writing: why the skill would
    stop, or None. What reads from a write, or looks into an app that was written to before, waits for the run itself.

    Args:
        slots: a value for each slot.
        call: asked for calls that only read, judged by their names (see `reads.only_reads`).
    """
    results: list[JsonValue] = []
    unknown: set[int] = set()
    written: set[str] = set()
    for number, step in enumerate(skill.steps):
        reads = only_reads(step.tool)
        waits = bool(_sources(dict(step.args)) & unknown) or (reads and app_of(step.tool) in written)
        if not reads:
            written.add(app_of(step.tool))
        results.append(None)
        if waits or not reads:
            unknown.add(number)
        if waits:
            continue
        try:
            given = arguments(step, slots, results)
        except Unresolved as reason:
            return f"would stop before step {number + 1}, {step.tool}: {reason}"
        if reads:
            made, results[number] = run_step(step, given, call)
            if not made[-1].ok:
                return failed(number + 1, made[-1])
    return None


def _sources(value: JsonValue) -> set[int]:
    """Numbers of the steps that a stored argument reads from."""
    if isinstance(value, list):
        return set[int]().union(*map(_sources, value))
    if not isinstance(value, dict):
        return set()
    source = value.get("from")
    own = {source} if isinstance(source, int) else set[int]()
    return own.union(*map(_sources, value.values()))
