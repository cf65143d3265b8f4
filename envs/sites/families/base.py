"""A task family of the sites: a parameterised task with its own solution and its own judge."""

from __future__ import annotations

import re
import string
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

from rebind.envs.apps.families.answers import Answer
from rebind.envs.apps.families.base import Drawn, Grounded
from rebind.envs.apps.families.difference import Change
from rebind.envs.apps.families.draw import Bound, Draw
from rebind.envs.apps.families.effects import Effect, settle
from rebind.envs.apps.families.view import CannotBuild
from rebind.envs.sites.families.flows import NotThere, Oracle, act
from rebind.envs.sites.families.view import Plant, SiteView
from rebind.types import Binding, Budget, Call, LengthGroup, Milestone, Verdict

_STEPS: dict[LengthGroup, int] = {"<5": 15, "5-10": 25, "11-20": 45, "21-35": 75, ">35": 140}
INFEASIBLE, ANSWER = "report_infeasible", "send_msg_to_user"


@dataclass(frozen=True)
class Mark:
    """A milestone on what was done or seen: `label` is "id: text"."""

    label: str
    test: Callable[[Sequence[Call]], bool]


def visited(label: str, path: str) -> Mark:
    """Reached once a page was open whose path and query match the regular expression."""
    wanted = re.compile(rf"^url: https?://[^/\n]+(?:{path})", re.MULTILINE)
    return Mark(label, lambda calls: any(c.ok and wanted.search(str(c.result)) for c in calls))


def saw(label: str, *texts: Any) -> Mark:
    """Reached once a page showed all these texts."""
    return Mark(label, lambda calls: any(c.ok and all(str(t) in str(c.result) for t in texts) for c in calls))


@dataclass(frozen=True)
class Expected:
    """The truth about a task: declared effects, milestones on the way, the answer where it asks a question."""

    effects: Sequence[Effect] = ()
    marks: Sequence[Mark] = ()
    answer: Answer | None = None


class Family(ABC):
    """See the docstring of `rebind.envs.sites.families` for how to write one."""

    id: ClassVar[str]
    group: ClassVar[LengthGroup]
    account: ClassVar[str] = ""
    """Who is signed in; a drawn value of the name `account` goes before it."""
    start: ClassVar[str] = "/"
    drawn: ClassVar[tuple[Drawn, ...]]
    grounded: ClassVar[tuple[Grounded, ...]] = ()
    absent: ClassVar[Mapping[str, Draw]] = {}
    """Draws of values that are not on the sites, by binding: with them the task is infeasible."""
    wordings: ClassVar[tuple[str, ...]]

    def setup(self, p: Plant, b: Bound) -> None:  # noqa: B027  (optional: the sites may hold all that a task needs)
        """Changes the state, given the drawn values."""

    @abstractmethod
    def oracle(self, b: Bound) -> Oracle:
        """The solution, given only what the goal names."""

    @abstractmethod
    def expect(self, start: SiteView, b: Bound) -> Expected:
        """The truth, given the initial state and all bindings."""

    @property
    def named(self) -> tuple[str, ...]:
        """Names of the drawn values that the goal names."""
        fields = {name for _, name, _, _ in string.Formatter().parse(self.wordings[0]) if name}
        return tuple(d.name for d in self.drawn if d.name in fields)

    @property
    def budget(self) -> Budget:
        return Budget(steps=_STEPS[self.group], calls=3 * _STEPS[self.group])

    def user(self, values: Mapping[str, Any]) -> str:
        return str(values.get("account", self.account))

    def goal(self, values: Mapping[str, Any], wording: int) -> str:
        return self.wordings[wording].format(**{d.name: d.show(values[d.name]) for d in self.drawn})

    def bind(self, start: SiteView, drawn: dict[str, Any], feasible: bool) -> tuple[Binding, ...]:
        """All bindings; grounded ones of an infeasible task have no value. Raises `CannotBuild`."""
        bound = SimpleNamespace(**drawn)
        bindings = [Binding(name=d.name, kind=d.kind, value=drawn[d.name], central=d.central) for d in self.drawn]
        for g in self.grounded:
            setattr(bound, g.name, g.find(start, bound) if feasible else None)
            bindings.append(Binding(name=g.name, kind=g.kind, value=getattr(bound, g.name), central=g.central))
        return tuple(bindings)

    def solve(self, values: Mapping[str, Any]) -> Oracle:
        """The oracle, with the values that the goal names and no other; it reports what it cannot find."""
        try:
            yield from self.oracle(SimpleNamespace(**{name: values[name] for name in self.named}))
        except NotThere as missing:
            yield from act(INFEASIBLE, reason=str(missing))

    def judge(
        self,
        before: SiteView,
        changes: Sequence[Change],
        calls: Sequence[Call],
        values: Mapping[str, Any],
        feasible: bool,
    ) -> Verdict:
        """The verdict: success takes every effect, no damage, the answer, and the right ending."""
        expected = self.expect(before, SimpleNamespace(**values)) if feasible else Expected()
        settled, collateral = settle(expected.effects, changes)
        ending, said = _ending(calls)
        answered = expected.answer is None or (ending == ANSWER and expected.answer.accepts(said))
        milestones = [_milestone(s.effect.mark, s.met) for s in settled if s.effect.mark]
        milestones += [_milestone(mark.label, mark.test(calls)) for mark in expected.marks]
        if expected.answer is not None:
            milestones.append(_milestone("answer: the answer is right", answered))
        right = ANSWER if feasible else INFEASIBLE
        if not feasible:
            milestones.append(_milestone("reported: it was reported as infeasible", ending == right))
        failures = [f"missing: {s.effect}" for s in settled if s.effect.required and not s.met]
        failures += [] if answered else [f"wrong answer: {said!r} instead of {expected.answer}"]
        failures += [] if ending == right else [f"ended with {ending} instead of {right}"]
        return Verdict(
            success=not failures and not collateral,
            milestones=tuple(milestones),
            failures=tuple(failures),
            collateral=collateral,
        )


def _ending(calls: Sequence[Call]) -> tuple[str | None, str]:
    """How the agent ended the episode, and what it said; None where it did not."""
    last = next((c for c in calls if c.ok and c.tool in (ANSWER, INFEASIBLE)), None)
    return (last.tool, str(last.args.get("text", ""))) if last else (None, "")


def _milestone(label: str, reached: bool) -> Milestone:
    name, _, text = label.partition(": ")
    return Milestone(id=name, text=text, reached=reached)


__all__ = [
    "Bound",
    "CannotBuild",
    "Drawn",
    "Expected",
    "Family",
    "Grounded",
    "Mark",
    "Plant",
    "SiteView",
    "saw",
    "visited",
]
