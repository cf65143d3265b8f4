"""One rollout of one source task: what was done, what came back, and what the verifier said."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import JsonValue

from rebind.memory.descriptor import describe
from rebind.types import Action, Call, Environment, Frozen, Record, Seal, Step, Target, ToolCall, Verdict


class Rollout(Frozen):
    """A finished rollout; `record` is there only if the verifier accepted it."""

    family: str
    seed: int
    accepted: bool
    record: Record | None
    seal: Seal


Roller = Callable[[Environment, Target, int], "Trace"]
"""Works through a target in an environment, with a seed; does not verify."""


class Trace(Frozen):
    """What a roller did, and how: the provenance that goes to the seal."""

    first_observation: str
    steps: tuple[Step, ...]
    rollout: dict[str, JsonValue]
    """`source` ("oracle" or "model") and whatever else made the trajectory what it is."""


def roll(environment: Environment, target: Target, family: str, seed: int, roller: Roller) -> Rollout:
    """Runs a roller on a source task and has the environment judge what it did."""
    trace = roller(environment, target, seed)
    verdict = environment.verify()
    return finished(target, family, seed, trace, verdict)


def finished(target: Target, family: str, seed: int, trace: Trace, verdict: Verdict) -> Rollout:
    """The rollout of a judged trace: the visible half in the record, the rest in the seal."""
    seal = target.seal.model_copy(update={"rollout": trace.rollout, "verdict": verdict})
    record = Record(
        instruction=target.task.goal,
        descriptor=describe(trace.steps),
        first_observation=trace.first_observation,
        steps=trace.steps,
    )
    accepted = verdict.success
    return Rollout(family=family, seed=seed, accepted=accepted, record=record if accepted else None, seal=seal)


def do(environment: Environment, action: Action) -> tuple[Step, bool]:
    """Steps an environment; the turn as a record keeps it, and whether the episode is over."""
    observation, _, terminated, truncated, info = environment.step(action)
    calls = tuple(info["calls"])
    step = Step(action=_understood(action, calls), observation=observation, calls=calls, error=info.get("error"))
    return step, terminated or truncated


def _understood(action: Action, calls: tuple[Call, ...]) -> Action:
    """The action as the environment took it: an element of a page by role and name, not by its number of the moment."""
    if isinstance(action, ToolCall) and len(calls) == 1 and calls[0].tool == action.tool:
        return ToolCall(tool=action.tool, args=calls[0].args)
    return action
