"""Skills that hold: induced from a record and kept only if they solve the record's own task again."""

from __future__ import annotations

from pydantic import JsonValue

from rebind.banks.rollout import do
from rebind.memory.skill.induce import induce
from rebind.memory.skill.reads import finishes
from rebind.memory.skill.validation import fails_on_source
from rebind.types import Call, Environment, Record, Seal, Skill, ToolCall


def verified_skills(record: Record, seal: Seal, environment: Environment) -> tuple[Skill, ...]:
    """The record's skills that pass: the one that drops every look that feeds nothing, repeated calls last or where
    they were, or else the one that keeps all calls, or else one of those two in which repeated calls stay single
    (pages are such that each works on what the one before it left), or else none."""
    everything = frozenset(c.tool for s in record.steps for c in s.calls if not finishes(c.tool))
    tried: list[Skill] = []
    for keep, late, apart in (
        (frozenset[str](), True, False),
        (frozenset[str](), False, False),
        (everything, False, False),
        (frozenset[str](), False, True),
        (everything, False, True),
    ):
        skill = induce(record, keep=keep, late=late, apart=apart)
        if skill is None or skill in tried:
            continue
        if holds(skill, record, seal, environment):
            return (skill,)
        tried.append(skill)
    return ()


def holds(skill: Skill, record: Record, seal: Seal, environment: Environment) -> bool:
    """Whether a skill passes its validation tests on the source's state and solves the source's task there, with the
    source's own values.

    Where the skill leaves it to the actor to declare the task done, it is declared, but without the record's answer: a
    skill that cannot find the answer of a question does not solve it.
    """
    environment.reset(options={"seal": seal})
    if fails_on_source(skill, record, lambda call: caller(environment, call)):
        return False
    if not any(finishes(s.tool) for s in skill.steps):
        declared = [c for s in record.steps for c in s.calls if c.ok and finishes(c.tool)]
        for call in declared[-1:]:
            do(environment, ToolCall(tool=call.tool, args=_nothing_said(call.tool, environment)))
    return environment.verify().success


def caller(environment: Environment, call: ToolCall) -> Call:
    """Makes one call through an environment's step."""
    return do(environment, call)[0].calls[0]


def _nothing_said(tool: str, environment: Environment) -> dict[str, JsonValue]:
    """Empty texts for the arguments that a tool cannot do without."""
    needed = next((t.parameters.get("required") for t in environment.tools() if t.name == tool), None)
    return {str(name): "" for name in needed} if isinstance(needed, list | tuple) else {}
