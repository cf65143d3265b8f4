"""Stale bindings and correct rebinding, read off an episode's steps (QCR, section 5.7; precise form: design, Formulas).

A use is stale when an action argument, a literal in code or an answer holds a value of the source that the target does
not have, and neither the query nor any earlier target observation shows it. The source is the record that was selected
for the target (what the memory conditions deliver), or the record the target was made from where none was selected.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from rebind.memory.values import leaves, mentions, spellings
from rebind.types import Binding, BindingKind

Leaf = str | int | float
_SHORTEST_TEXT = 3
"""Characters; a shorter text turns up by chance."""
_SMALLEST_ANYWHERE = 100
"""A whole number below this counts only in an argument named like its binding."""
_SNIPPET = 90
"""Characters kept on each side of a value that was found."""


@dataclass(frozen=True)
class Value:
    """One scalar of a binding, ready to be looked for."""

    binding: str
    kind: BindingKind
    leaf: Leaf
    texts: tuple[str, ...]
    """Spellings that count as a use within a text, casefolded."""
    evidence: tuple[str, ...]
    """Spellings that count as having seen it, casefolded; a superset of `texts`."""
    whole: bool
    """A common word: counts only where it is the whole argument."""
    rival: str = ""
    """The other side's value of the same binding; a part of it proves nothing."""

    def used_in(self, name: str, leaf: Leaf, *, part: bool = False) -> bool:
        """Whether an argument (its name, "" where it has none) holds the value; with `part`, also whether it is a part
        of the value, whole words, that the other side's value does not share."""
        if not isinstance(leaf, str):
            return self._number(name, leaf)
        if self.whole:
            return leaf.strip().casefold() in self.texts
        low = leaf.casefold()
        if any(text in low and mentions(low, text) for text in self.texts):
            return True
        return (
            part and len(leaf) >= _SHORTEST_TEXT and mentions(str(self.leaf), leaf) and not mentions(self.rival, leaf)
        )

    def _number(self, name: str, leaf: int | float) -> bool:
        if isinstance(self.leaf, str) or leaf != self.leaf:
            return False
        return _telling(self.leaf) or bool(_words(name) & _words(self.binding))

    def seen_in(self, low: str) -> int:
        """Where a casefolded text shows the value; -1 where it does not."""
        return next((low.find(text) for text in self.evidence if text in low and mentions(low, text)), -1)


@dataclass(frozen=True)
class Changed:
    """What to look for in the episodes of one target: changed bindings with a checkable source value."""

    bindings: tuple[str, ...]
    stale: tuple[Value, ...]
    """Source values that the target does not have."""
    wanted: tuple[Value, ...]
    """Target values that the source does not have; of bindings both sides have."""


NOTHING_CHANGED = Changed((), (), ())


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
    _unseen: list[Value] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._unseen = list(self.changed.stale)

    def show(self, text: str, where: str) -> None:
        """The agent was shown a text: from now on its values are no longer stale."""
        if not self.changed.stale:
            return
        low = text.casefold()
        self._unseen = [v for v in self._unseen if v.seen_in(low) < 0]
        for value in self.changed.wanted:
            if value.binding not in self.found and (at := value.seen_in(low)) >= 0:
                self.found[value.binding] = Evidence(value.binding, where, _around(text, at))

    def step(self, index: int, data: Mapping[str, Any]) -> None:
        """One step, as the ledger has it (a dumped `Step`)."""
        if not self.changed.stale:
            return
        action, calls = data["action"], data["calls"]
        if action is not None:
            self._act(index, _code_leaves(action["code"]) if "code" in action else leaves(action["args"]))
        if len(calls) > 1 or (action is not None and "code" in action):
            for call in calls:  # a program sees each result before its next call
                self._act(index, leaves(call["args"]))
                self.show(json.dumps(call["result"], ensure_ascii=False), f"step {index + 1}")
        self.show(data["observation"], f"step {index + 1}")

    def _act(self, index: int, arguments: Iterable[tuple[str, Leaf]]) -> None:
        for name, leaf in arguments:
            for value in self._unseen:
                if value.used_in(name, leaf):
                    use = Use(index, value.binding, str(value.leaf), name or "code")
                    if not any((u.step, u.binding, u.value) == (index, use.binding, use.value) for u in self.stale):
                        self.stale.append(use)
            for wanted in self.changed.wanted:
                if wanted not in self.bound and wanted.used_in(name, leaf, part=True):
                    self.bound[wanted] = index

    @property
    def checkable(self) -> bool:
        """Whether a stale use could be told at all."""
        return bool(self.changed.stale)

    @property
    def rebound(self) -> bool | None:
        """Correct rebinding: every changed target value used and no stale one; None where there is nothing to bind."""
        if not self.changed.wanted:
            return None
        return not self.stale and all(v in self.bound for v in self.changed.wanted)

    @property
    def bound_share(self) -> float | None:
        """Share of the changed target values that were used."""
        wanted = self.changed.wanted
        return sum(v in self.bound for v in wanted) / len(wanted) if wanted else None


def changed_values(source: Sequence[Binding], target: Sequence[Binding]) -> Changed:
    """The values to look for when `target`'s task is attempted with `source`'s trajectory at hand."""
    new = {b.name: b for b in target}
    old = {b.name: b for b in source}
    target_leaves = [leaf for b in target for _, leaf in leaves(b.value)]
    known = {_key(leaf) for leaf in target_leaves}
    found = (_without(v, target_leaves) for b in source for v in _values(b, new.get(b.name), known))
    stale = [v for v in found if v is not None]
    names = {v.binding for v in stale}
    wanted = [
        value
        for name in sorted(names & new.keys())
        for value in _values(new[name], old[name], {_key(leaf) for _, leaf in leaves(old[name].value)})
    ]
    return Changed(tuple(sorted(names)), tuple(stale), tuple(wanted))


def _values(binding: Binding, other: Binding | None, known: set[Leaf]) -> Iterator[Value]:
    """The checkable scalars of a binding that are not among the known ones."""
    for _, leaf in leaves(binding.value):
        if _key(leaf) in known or (isinstance(leaf, str) and len(leaf.strip()) < _SHORTEST_TEXT):
            continue
        evidence = tuple(dict.fromkeys(s.casefold() for s in spellings(leaf)))
        texts = tuple(s for s in evidence if len(s) >= _SHORTEST_TEXT and not _ordinal(s, leaf))
        yield Value(
            binding=binding.name,
            kind=binding.kind,
            leaf=leaf,
            texts=texts,
            evidence=evidence,
            whole=isinstance(leaf, str) and binding.kind in ("parameter", "state") and leaf.strip().isalpha(),
            rival=_text(other.value) if other else "",
        )


def _without(value: Value, target_leaves: Sequence[Leaf]) -> Value | None:
    """The value less the spellings that a target value shares; None where nothing telling is left."""
    shared = [spelling.casefold() for leaf in target_leaves for spelling in spellings(leaf)]
    texts = tuple(t for t in value.texts if not any(mentions(s, t) for s in shared))
    if isinstance(value.leaf, str) and not texts:
        return None
    return Value(value.binding, value.kind, value.leaf, texts, value.evidence, value.whole, value.rival)


def _code_leaves(code: str) -> Iterator[tuple[str, Leaf]]:
    """The literals of a block of Python, with the keyword each is given to; the whole text where it does not parse."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield "", code
        return
    named = {id(k.value): k.arg or "" for n in ast.walk(tree) if isinstance(n, ast.Call) for k in n.keywords}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str | int | float)
            and not isinstance(node.value, bool)
        ):
            yield named.get(id(node), ""), node.value


def _around(text: str, at: int) -> str:
    """What stands around a place in a text, on one line."""
    start, end = max(0, at - _SNIPPET), at + _SNIPPET
    words = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{words}{'…' if end < len(text) else ''}"


def _key(leaf: Leaf) -> Leaf:
    return leaf.strip().casefold() if isinstance(leaf, str) else leaf


def _text(value: JsonValue) -> str:
    return " ".join(str(leaf) for _, leaf in leaves(value))


def _telling(number: int | float) -> bool:
    return abs(number) >= _SMALLEST_ANYWHERE or number != int(number)


def _ordinal(spelling: str, leaf: Leaf) -> bool:
    """ "15th" shows that a 15 was seen; it is no use of the number."""
    return not isinstance(leaf, str) and not spelling[-1].isdigit()


def _words(name: str) -> set[str]:
    return {word for word in name.casefold().split("_") if len(word) > 1 and word != "id"}
