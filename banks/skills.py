"""Skills that hold: induced from a record and kept only if they solve the record's own task again."""

from __future__ import annotations

from rebind.banks.rollout import do
from rebind.memory.skill.execute import execute
from rebind.memory.skill.induce import finishes, induce
from rebind.types import Call, Environment, Record, Seal, Skill, ToolCall, Verdict


def verified_skills(record: Record, seal: Seal, environment: Environment) -> tuple[Skill, ...]:
    """The record's skills that pass: the one that drops every look that feeds nothing, or else the one that keeps all
    calls, or else none."""
    everything = frozenset(c.tool for s in record.steps for c in s.calls if not finishes(c.tool))
    for keep in (frozenset[str](), everything):
        skill = induce(record, keep=keep)
        if skill and replay(skill, record, seal, environment).success:
            return (skill,)
    return ()


def replay(skill: Skill, record: Record, seal: Seal, environment: Environment) -> Verdict:
    """The verdict on the source's task, done by the skill with the source's own values.

    Where the skill leaves it to the actor to declare the task done, it is declared, but without the record's answer: a
    skill that cannot find the answer of a question does not solve it.
    """
    environment.reset(options={"seal": seal})
    execute(skill, {s.name: s.example for s in skill.slots}, lambda call: caller(environment, call))
    if not any(finishes(s.tool) for s in skill.steps):
        declared = [c for s in record.steps for c in s.calls if c.ok and finishes(c.tool)]
        for call in declared[-1:]:
            do(environment, ToolCall(tool=call.tool))
    return environment.verify()


def caller(environment: Environment, call: ToolCall) -> Call:
    """Makes one call through an environment's step."""
    return do(environment, call)[0].calls[0]
