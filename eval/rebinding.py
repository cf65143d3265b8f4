"""Stale bindings and correct rebinding, read off an episode's steps (QCR, section 5.7; precise form: design, Formulas).

A use is stale when an action argument, a literal in code or an answer holds a value of the source that the target does
not have, and neither the query nor any earlier target observation shows it. A changed target value is bound when an
action holds it, or holds an identifier that stood beside it in something the agent was shown (an account's id for its
name); a value that is grounded in yet another way counts as unbound, so binding rates are lower bounds.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import msgspec
from pydantic import JsonValue

from rebind.eval.bindings import SHORTEST_TEXT, Changed, Leaf, Value, fold, in_json, times_apart
from rebind.eval.lines import CallMade, StepRow
from rebind.memory.skill.environment import FROM_MEMORY
from rebind.memory.values import leaves

_SNIPPET = 90
"""Characters kept on each side of a value that was found."""
_SCALARS = (str, int, float)
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Use:
    """A source value in an action."""

    step: int
    binding: str
    value: str
    where: str
    """Name of the argument, or "code"."""


@dataclass(frozen=True)
class Evidence:
    """Where a target value was first shown."""

    binding: str
    where: str
    """"query", "first observation" or "step N"."""
    snippet: str


@dataclass
class Watch:
    """Follows one attempt: feed it what the agent was shown and did, in order."""

    changed: Changed
    stale: list[Use] = field(default_factory=list)
    bound: dict[Value, int] = field(default_factory=dict)
    """Target values used, with the step of the first use."""
    found: dict[str, Evidence] = field(default_factory=dict)
    """By binding: where its target value was first shown."""
    blind: bool = False
    """True where something was redacted of what the agent was shown or did: nothing is known of its values then."""
    _unseen: dict[int, Value] = field(default_factory=dict)
    """Stale values that nothing has shown yet, by their place in the finder."""
    _unbound: dict[int, Value] = field(default_factory=dict)
    """Target values that no action has held yet, by their place in the finder."""
    _stand_ins: dict[tuple[str, Leaf], list[Value]] = field(default_factory=lambda: defaultdict(list))
    """Identifiers shown beside a target value: key and leaf, and the values they stand for."""
    _known: set[Leaf] = field(default_factory=set)
    """Numbers to look for, and the leaves of the stand-ins."""
    _stand_in_texts: set[str] = field(default_factory=set)
    """The leaves of the stand-ins, as a ledger line shows them in case-folded letters."""

    def __post_init__(self) -> None:
        stale, wanted = self.changed.stale, self.changed.wanted
        self._unseen = dict(enumerate(stale))
        self._unbound = dict(enumerate(wanted, len(stale)))
        self._known = {v.leaf for v in (*stale, *wanted) if not isinstance(v.leaf, str)}

    def again(self) -> Watch:
        """A watch of another attempt at the target, which was shown what this one was and has done nothing yet."""
        other = copy(self)
        other.stale, other.bound, other.found = [], {}, dict(self.found)
        other._unseen, other._unbound, other._known = dict(self._unseen), dict(self._unbound), set(self._known)
        other._stand_ins, other._stand_in_texts = defaultdict(list), set()
        return other

    def show(self, text: str, where: str) -> None:
        """The agent was shown a text: from now on its values are no longer stale."""
        if self.checkable:
            self._show(text, where)

    def concerns(self, line: bytes) -> bool:
        """Whether a step's ledger line can hold anything to take note of: quick, and never wrong where it says no."""
        if not self.checkable:
            return False
        low = line.decode().casefold()
        return self.changed.finder.traced(low) or any(text in low for text in self._stand_in_texts)

    def step(self, step: StepRow) -> None:
        """One step."""
        if not self.checkable:
            return
        action, calls, where = step.action, step.calls, f"step {step.index + 1}"
        own = step.observation.partition(FROM_MEMORY)[0]
        if action is not None:
            self._act(step.index, _code_leaves(action["code"]) if "code" in action else _given(action["args"]))
        if len(calls) > 1 or (action is not None and "code" in action):
            for call in calls:  # a program sees each result before its next call
                self._act(step.index, _given(call.args))
                self._learn(call, self._show(bytes(call.result).decode(), where))
            self._show(own, where)
            return
        shown = self._show(own, where)
        for call in calls:
            self._learn(call, shown)

    def _show(self, text: str, where: str) -> list[Value]:
        """Takes note of a text; returns the unbound target values in it."""
        low = text.casefold()
        hits = self.changed.finder.hits(low)
        stale, wanted = hits & self._unseen.keys(), hits & self._unbound.keys()
        if not stale and not wanted:
            return []
        low = times_apart(low)
        for place in stale:
            if self._unseen[place].seen_in(low) >= 0:
                del self._unseen[place]
        shown = []
        for place in sorted(wanted):
            value = self._unbound[place]
            at = value.seen_in(low)
            if at < 0:
                continue
            shown.append(value)
            if value.binding not in self.found:
                self.found[value.binding] = Evidence(value.binding, where, _around(text, at))
        return shown

    def _learn(self, call: CallMade, shown: list[Value]) -> None:
        """Takes note of the identifiers that stand beside target values in a call's result."""
        if not shown:
            return
        spelt = [text for value in shown for text in value.unfolded]
        for record in _objects(msgspec.json.decode(call.result)):
            scalars = [(k, v) for k, v in record.items() if type(v) in _SCALARS]
            low = " ".join([v if type(v) is str else str(v) for _, v in scalars]).casefold()
            for sought in spelt:
                if sought in low:
                    break
            else:
                continue
            low = times_apart(low)
            beside = [v for v in shown if v.seen_in(low) >= 0]
            for key, leaf in scalars if beside else ():
                if _identifier(key, leaf):
                    self._stand_ins[_stem(key), leaf] += beside
                    self._known.add(leaf)
                    self._stand_in_texts.add(in_json(str(leaf).casefold()))

    def _act(self, index: int, arguments: Iterable[tuple[str, Leaf]]) -> None:
        """The agent gave arguments: which stale values they hold, and which target values."""
        given = list(arguments)
        if not self._may_hold([leaf for _, leaf in given]):
            return
        for name, leaf in given:
            low = fold(leaf) if isinstance(leaf, str) else ""
            for value in self._unseen.values():
                if value.used_in(name, leaf, low):
                    self._note(Use(index, value.binding, str(value.leaf), name or "code"))
            done = [v for v in self._unbound.values() if v.used_in(name, leaf, low) or v.part_in(leaf)]
            for value in (*done, *self._stood_for(name, leaf)):
                self.bound.setdefault(value, index)
            self._unbound = {n: v for n, v in self._unbound.items() if v not in self.bound}

    def _may_hold(self, given: list[Leaf]) -> bool:
        """Whether a closer look at some arguments can find anything: quick, and never wrong where it says no."""
        if any(leaf in self._known for leaf in given):
            return True
        low = [leaf.casefold() for leaf in given if isinstance(leaf, str)]
        if self.changed.finder.hits("\0".join(low)):
            return True
        wanted = [str(v.leaf).casefold() for v in self._unbound.values()]
        return any(text in value for text in low if len(text) >= SHORTEST_TEXT for value in wanted)

    def _note(self, use: Use) -> None:
        if not any((u.step, u.binding, u.value) == (use.step, use.binding, use.value) for u in self.stale):
            self.stale.append(use)

    def _stood_for(self, name: str, leaf: Leaf) -> list[Value]:
        """The target values an argument stands for: the same identifier, in an argument named like the key it had (any
        argument for a text)."""
        if not self._stand_ins:
            return []
        if isinstance(leaf, str):
            return [v for (_, known), values in self._stand_ins.items() if known == leaf for v in values]
        ends = _stem(name)
        keys = [k for k in self._stand_ins if k[1] == leaf and (ends.endswith(k[0]) or k[0].endswith(ends))]
        return [v for key in keys for v in self._stand_ins[key]] if ends else []

    @property
    def checkable(self) -> bool:
        """Whether a stale use could be told at all."""
        return bool(self.changed.stale) and not self.blind

    @property
    def rebound(self) -> bool | None:
        """Correct rebinding: every changed target value bound, no stale one used; None where there is none to bind."""
        if not self.changed.wanted or self.blind:
            return None
        return not self.stale and not self._unbound

    @property
    def bound_share(self) -> float | None:
        """Share of the changed target values that were bound."""
        if not self.changed.wanted or self.blind:
            return None
        return len(self.bound) / len(self.changed.wanted)


def _given(args: dict[str, JsonValue]) -> list[tuple[str, Leaf]]:
    """The strings and numbers of a call's arguments; as `leaves`, quick where none is a list or an object."""
    if any(isinstance(value, dict | list) for value in args.values()):
        return list(leaves(args))
    return [(k, v) for k, v in args.items() if isinstance(v, str | int | float) and not isinstance(v, bool)]


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every JSON object in a value, outermost first."""
    waiting = [[value]]
    for outer in waiting:  # which grows meanwhile
        for one in outer:
            if type(one) is dict:
                yield one
                waiting.append(list(one.values()))
            elif type(one) is list:
                waiting.append(one)


def _identifier(key: str, leaf: Leaf) -> bool:
    """Whether a scalar can stand for the object it is in: an id, an e-mail address, a number or path, no plain word."""
    if isinstance(leaf, str):
        return "@" in leaf or _DIGIT.search(leaf) is not None
    return key == "id" or key.endswith("_id")


def _stem(name: str) -> str:
    """An argument's name without the mark of a plural: `contact_ids` → `contact_id`."""
    return name.removesuffix("s")


def _code_leaves(code: str) -> Iterator[tuple[str, Leaf]]:
    """The literals of a block of Python, with the keyword each is given to; the whole text where it does not parse."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield "", code
        return
    named = {id(k.value): k.arg or "" for n in ast.walk(tree) if isinstance(n, ast.Call) for k in n.keywords}
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            yield named.get(id(node), ""), value


def _around(text: str, at: int) -> str:
    """What stands around a place in a text, on one line."""
    start, end = max(0, at - _SNIPPET), at + _SNIPPET
    words = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{words}{'…' if end < len(text) else ''}"
