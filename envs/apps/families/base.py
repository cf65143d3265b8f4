"""A task family, and how to write one.

One module per family, mostly data; `forward_invoice.py` is a short model, `settle_group.py` a long one. A family is a
subclass of `Family` with

`id`        "apps/<what-it-does>". Sealed: no agent ever sees it.
`group`     the length group of its oracle (successful calls, logins and complete_task included): "5-10", "11-20",
            "21-35", ">35". It sets the budget, and a test holds it for every seed.
`tools`     names of the tools to list in the prompt, divided by spaces: all that the oracle calls, a few near misses,
            no more. supervisor_login, supervisor_complete_task, api_docs_search and api_docs_show are added.
`drawn`     the values one may choose, as `Drawn(name, kind, draw)` (draws: see `draw.py`), drawn in this order before
            anything is planted. `central=True` marks the constraint the task is about (at least one is).
            `needs=("other",)`: redrawn whenever that one changes. `show` turns a value into goal text (`cents`).
            A drawn value that no wording names is state the agent must find out: `setup` plants it.
`grounded`  what the agent must look up, as `Grounded(name, kind, find)`: ids, addresses, dates that follow from the
            initial state after planting. They are bindings too, so that a stale copy can be told; never the answer.
`wordings`  three or more instructions, `{name}` for a drawn value; all wordings name the same ones. Say everything
            that is checked (exact texts in quotes), and nothing that has to be looked up.
`setup`     plants records: `p.add("mails", sender=…, subject=…)` returns the id, columns have defaults, `p.rng` is for
            free choices, `p.run` for other SQL. Plant what makes the task solvable, and decoys that make a wrong value
            plausible (an older invoice, a namesake's address, a draft beside the final file). Nothing but the recipe
            and the bindings may decide what is planted.
`oracle`    a generator in the words of `oracle.py` (`mail = yield from login("mail")`, `yield from mail("send",
            to=[…])`). It is given only the values that the goal names; all else it reads through the APIs, as an agent
            would.
`expect`    the truth, from the initial state and all bindings. `effects`: every record that may be added, changed or
            removed, with its values (`effects.py`); whatever else changes is collateral damage. `marks`: milestones on
            what was read or called (`evidence.py`). `answer`: of a question (`answers.py`). An effect with `mark="id:
            text"` is a milestone as well. Judge what the goal asks for, not the oracle's way there: `saw` (a value was
            read somehow) and predicates such as `has` (a text contains this) leave the agent room.

Shifts come for free, if the bindings leave room for them:

small       one drawn value that is not central and on which nothing grounded depends (a text, label, date, amount);
medium      two or three changed values in all, grounded ones included, or just one central value;
large       four or more changed values, or a central one and another world.

So: four bindings or more, at least one of them a leaf, and no value that drags more than two others along. An id that
must change with a binding does so if that binding is in a column by which `plant._ABOUT` tells records apart.

Then add the class to `families/__init__.py`, and run `pytest tests/envs/apps -k <id>` and
`python -m rebind.envs.apps.check apps/<id>`. Both take every registered family through all its paces: milestones are
false at the start and reached one by one, a no-op scores 0, damage is seen, literal replay fails above level none.
"""

from __future__ import annotations

import string
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

from rebind.envs.apps.families.answers import Answer
from rebind.envs.apps.families.difference import difference
from rebind.envs.apps.families.draw import Bound, Draw, listing
from rebind.envs.apps.families.effects import Effect, settle
from rebind.envs.apps.families.evidence import Evidence, Mark
from rebind.envs.apps.families.oracle import Oracle
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View
from rebind.types import Binding, BindingKind, Budget, LengthGroup, Milestone, Verdict


def _shown(value: Any) -> str:
    return listing(value) if isinstance(value, list | tuple) else str(value)


@dataclass(frozen=True)
class Drawn:
    """A binding one may choose: how its value is drawn from a world, and shown in a goal."""

    name: str
    kind: BindingKind
    draw: Draw
    central: bool = False
    needs: tuple[str, ...] = ()
    show: Callable[[Any], str] = _shown


@dataclass(frozen=True)
class Grounded:
    """A binding that follows from the initial state: what the agent has to look up. `find` may raise `CannotBuild`."""

    name: str
    kind: BindingKind
    find: Callable[[Any, Bound], Any]
    """Of the view of its own world and what was drawn."""
    central: bool = False


@dataclass(frozen=True)
class Expected:
    """The truth about a task: declared effects, milestones on the way, the answer where it asks a question."""

    effects: Sequence[Effect] = ()
    marks: Sequence[Mark] = ()
    answer: Answer | None = None


_STEPS: dict[LengthGroup, int] = {"<5": 15, "5-10": 25, "11-20": 45, "21-35": 75, ">35": 140}


class Family(ABC):
    """A parameterised task; see the module's docstring."""

    id: ClassVar[str]
    group: ClassVar[LengthGroup]
    tools: ClassVar[str]
    drawn: ClassVar[tuple[Drawn, ...]]
    grounded: ClassVar[tuple[Grounded, ...]] = ()
    wordings: ClassVar[tuple[str, ...]]

    def setup(self, p: Plant, b: Bound) -> None:  # noqa: B027  (optional: a world may hold all that a task needs)
        """Plants what the task needs, given the drawn values."""

    @abstractmethod
    def oracle(self, b: Bound) -> Oracle:
        """The solution, given only what the goal names."""

    @abstractmethod
    def expect(self, start: View, b: Bound) -> Expected:
        """The truth, given the initial state and all bindings."""

    @property
    def apps(self) -> tuple[str, ...]:
        """Apps the task needs, in alphabetical order."""
        return tuple(sorted({tool.partition("_")[0] for tool in self.tools.split()}))

    @property
    def named(self) -> tuple[str, ...]:
        """Names of the drawn values that the goal names."""
        fields = {name for _, name, _, _ in string.Formatter().parse(self.wordings[0]) if name}
        return tuple(d.name for d in self.drawn if d.name in fields)

    @property
    def budget(self) -> Budget:
        steps = _STEPS[self.group]
        return Budget(steps=steps, calls=3 * steps)

    def goal(self, values: dict[str, Any], wording: int) -> str:
        return self.wordings[wording].format(**{d.name: d.show(values[d.name]) for d in self.drawn})

    def bind(self, start: View, drawn: dict[str, Any]) -> tuple[Binding, ...]:
        """All bindings of a planted state. Raises `CannotBuild`."""
        bound = SimpleNamespace(**drawn)
        bindings = [Binding(name=d.name, kind=d.kind, value=drawn[d.name], central=d.central) for d in self.drawn]
        for g in self.grounded:
            setattr(bound, g.name, g.find(start, bound))
            bindings.append(Binding(name=g.name, kind=g.kind, value=getattr(bound, g.name), central=g.central))
        return tuple(bindings)

    def solve(self, values: dict[str, Any]) -> Oracle:
        """The oracle, with the values that the goal names and no other."""
        return self.oracle(SimpleNamespace(**{name: values[name] for name in self.named}))

    def judge(self, evidence: Evidence, values: dict[str, Any]) -> Verdict:
        """The verdict on an episode so far: success takes every required effect, no damage, the answer, and the
        declaration that the task is done."""
        expected = self.expect(evidence.before, SimpleNamespace(**values))
        settled, collateral = settle(expected.effects, difference(evidence.before.db, evidence.after.db))
        status, answer = declared(evidence.after)
        answered = expected.answer is None or (answer is not None and expected.answer.accepts(answer))
        milestones = [_milestone(s.effect.mark, s.met) for s in settled if s.effect.mark]
        milestones += [_milestone(mark.label, mark.test(evidence)) for mark in expected.marks]
        if expected.answer is not None:
            milestones.append(_milestone("answer: the declared answer is right", answered))
        failures = [f"missing: {s.effect}" for s in settled if s.effect.required and not s.met]
        failures += [] if answered else [f"wrong answer: {answer!r} instead of {expected.answer}"]
        failures += [] if status == "success" else [f"not declared a success: {status}"]
        return Verdict(
            success=not failures and not collateral,
            milestones=tuple(milestones),
            failures=tuple(failures),
            collateral=collateral,
        )


def declared(after: View) -> tuple[str | None, str | None]:
    """Status and answer that the agent declared with supervisor_complete_task; None, None where it did not."""
    rows = after.rows("SELECT status, answer FROM completion")
    return (rows[0]["status"], rows[0]["answer"]) if rows else (None, None)


def _milestone(label: str, reached: bool) -> Milestone:
    name, _, text = label.partition(": ")
    return Milestone(id=name, text=text, reached=reached)
