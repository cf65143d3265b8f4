"""The tests a target must pass to be kept, by the World protocol alone (QCR, section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from rebind.banks.rollers import oracle_trace
from rebind.banks.rollout import do
from rebind.banks.steadily import steadily
from rebind.errors import EnvironmentFailure, RebindError
from rebind.memory.values import mentions, spellings
from rebind.types import Action, BindingKind, Call, Code, Record, Seal, Target, ToolCall, Verdict, World


@dataclass(frozen=True)
class Change:
    """A binding whose value the target changed."""

    name: str
    kind: BindingKind
    source: JsonValue
    target: JsonValue


class Acceptance:
    """Checks targets in one environment; for one thread."""

    def __init__(self, world: World) -> None:
        self.environment = world.make()
        self._world = world

    @steadily
    def problem(self, record: Record, source: Seal, target: Target) -> str | None:
        """Why a target cannot be kept; None where it can. Reasons, in the order they are looked for: "level" (nothing
        changed above `none`, or something at `none`), "source-value-in-goal", "initial-state" (it cannot be built),
        "oracle-fails", "literal-replay-passes" (above `none`, the record's own actions solve it).

        Raises:
            EnvironmentFailure: the environment failed every time.
        """
        if (target.seal.level == "none") == bool(changes(source, target.seal)):
            return "level"
        if leaks(source, target):
            return "source-value-in-goal"
        try:
            first, _ = self.environment.reset(options={"seal": target.seal})
        except EnvironmentFailure:
            raise
        except RebindError:
            return "initial-state"
        if not self._solved(target, first):
            return "oracle-fails"
        if target.seal.level != "none" and self.replay(record, target.seal).success:
            return "literal-replay-passes"
        return None

    def _solved(self, target: Target, first: str) -> bool:
        """Whether the family's own solution solves the target, whose initial state is in place."""
        try:
            oracle_trace(self._world, self.environment, target, 0, first)
        except EnvironmentFailure:  # says nothing about the target
            raise
        except RebindError:
            return False
        return self.environment.verify().success

    def replay(self, record: Record, target: Seal) -> Verdict:
        """The verdict on a record's actions, done to the letter in the target's initial state; but for access tokens,
        which become the target's own: a replay must fail for what it does, not for want of a login."""
        self.environment.reset(options={"seal": target})
        tokens: dict[str, str] = {}
        for step in record.steps:
            if step.action is None:
                continue
            made, over = do(self.environment, _with_tokens(step.action, tokens))
            tokens |= _new_tokens(step.calls, made.calls)
            if over:
                break
        return self.environment.verify()

    def close(self) -> None:
        """Frees the environment."""
        self.environment.close()


def changes(source: Seal, target: Seal) -> tuple[Change, ...]:
    """The bindings whose values differ, old and new; one that only one of the two has counts as changed."""
    old, new = source.values(), target.values()
    bindings = {b.name: b for b in (*source.bindings, *target.bindings)}
    return tuple(
        Change(name, binding.kind, old.get(name), new.get(name))
        for name, binding in bindings.items()
        if old.get(name) != new.get(name)
    )


def leaks(source: Seal, target: Target) -> tuple[str, ...]:
    """Names of changed bindings whose old value the goal spells out, in a way that the new value is not spelt."""
    return tuple(
        change.name
        for change in changes(source, target.seal)
        if any(mentions(target.task.goal, s) for s in set(spellings(change.source)) - set(spellings(change.target)))
    )


def _with_tokens(action: Action, tokens: Mapping[str, str]) -> Action:
    """The action with old access tokens replaced by new ones."""
    if isinstance(action, ToolCall):
        args = {key: tokens.get(v, v) if isinstance(v, str) else v for key, v in action.args.items()}
        return ToolCall(tool=action.tool, args=args)
    code = action.code
    for old, new in tokens.items():
        code = code.replace(old, new)
    return Code(code=code)


def _new_tokens(before: Sequence[Call], now: Sequence[Call]) -> dict[str, str]:
    """Old access tokens with the new ones that the same calls returned."""
    found: dict[str, str] = {}
    for old, new in zip(before, now, strict=False):  # a code block may stop earlier than it did
        if old.tool == new.tool and isinstance(old.result, dict) and isinstance(new.result, dict):
            for key, value in old.result.items():
                fresh = new.result.get(key)
                if "token" in key and isinstance(value, str) and isinstance(fresh, str):
                    found[value] = fresh
    return found
