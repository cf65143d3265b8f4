"""What to look for in the episodes of a target: source values that it does not have, and its own that are new.

The source is the record that was selected for the target (what the memory conditions deliver), or the record the target
was made from where none was selected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pydantic import JsonValue

from rebind.eval.lines import REDACTED
from rebind.memory.values import leaves, mentions, spellings, stands_in
from rebind.types import Binding, BindingKind

Leaf = str | int | float
SHORTEST_TEXT = 3
"""Characters; a shorter text turns up by chance."""
_SMALLEST_ANYWHERE = 100
"""A whole number below this counts only in an argument named like its binding."""
_MOMENT = re.compile(r"t(?<=\dt)(?=\d\d:\d\d)")
"""Led by the letter: a search for a letter is ten times faster than one for a digit."""
_WORD = re.compile(r"[^\W_]+")
_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_APART = re.compile(r"(?<=\d) (?=\d\d:\d\d)")


@dataclass(frozen=True)
class Value:
    """One scalar of a binding, ready to be looked for."""

    binding: str
    kind: BindingKind
    leaf: Leaf
    texts: tuple[str, ...]
    """Spellings that count as a use within a text, folded."""
    evidence: tuple[str, ...]
    """Spellings that count as having seen it, folded; a superset of `texts`."""
    whole: bool = False
    """A common word: counts only where it is the whole argument."""
    rival: str = ""
    """The other side's value of the same binding; a part of it proves nothing."""

    @cached_property
    def unfolded(self) -> tuple[str, ...]:
        """Texts in case-folded letters, one of which stands in all that has seen it, folded or not."""
        return tuple({text for e in self.evidence for text in (e, _APART.sub("t", e))})

    def used_in(self, name: str, leaf: Leaf, low: str) -> bool:
        """Whether an argument (its name, "" where it has none; what it is given; that folded) holds the value."""
        if not isinstance(leaf, str):
            return self._number(name, leaf)
        if self.whole:
            return low.strip() in self.texts
        return any(text in low and stands_in(low, text) for text in self.texts)

    def part_in(self, leaf: Leaf) -> bool:
        """Whether an argument is a part of the value, whole words, with a word that the other side's value lacks."""
        if not isinstance(leaf, str) or len(leaf) < SHORTEST_TEXT:
            return False
        return mentions(str(self.leaf), leaf) and bool(_runs(leaf) - _runs(self.rival))

    def parts(self) -> Iterator[str]:
        """Texts in case-folded letters, at least three characters long, one of which stands in every part that
        counts."""
        whole, rival = str(self.leaf).casefold(), _runs(self.rival)
        for found in _WORD.finditer(whole) if isinstance(self.leaf, str) else ():
            if found[0] in rival:
                continue
            if len(found[0]) >= SHORTEST_TEXT:
                yield found[0]
            else:
                for start in range(max(0, found.end() - SHORTEST_TEXT), found.start() + 1):
                    if len(piece := whole[start : start + SHORTEST_TEXT]) == SHORTEST_TEXT:
                        yield in_json(piece) if len(in_json(piece)) >= found.end() - found.start() else found[0]

    def _number(self, name: str, leaf: int | float) -> bool:
        if isinstance(self.leaf, str) or leaf != self.leaf:
            return False
        return telling(self.leaf) or bool(_words(name) & _words(self.binding))

    def seen_in(self, low: str) -> int:
        """Where a folded text shows the value; -1 where it does not."""
        for text in self.evidence:
            if text in low and stands_in(low, text):
                return low.find(text)
        return -1


class Finder:
    """Finds which of some values a text may show or use, in one pass over it."""

    def __init__(self, stale: Sequence[Value], wanted: Sequence[Value]) -> None:
        from ahocorasick_rs import AhoCorasick

        spelt = [(text, n) for n, v in enumerate((*stale, *wanted)) for text in v.unfolded]
        self._owners = [n for _, n in spelt]
        self._spelt = AhoCorasick([text for text, _ in spelt])
        traces = {in_json(text) for text, _ in spelt}.union(*(v.parts() for v in wanted))
        self.loose = any(len(text) < SHORTEST_TEXT for text in traces)
        """Whether some value is so short that it leaves a trace nearly everywhere."""
        self._traces = AhoCorasick([] if self.loose else sorted(traces))

    def hits(self, low: str) -> set[int]:
        """Places (in `stale`, then `wanted`) of the values with a spelling somewhere in a text in case-folded letters,
        within longer words too: a superset of those that `seen_in` or `used_in` finds in the folded text."""
        found = self._spelt.find_matches_as_indexes(low, overlapping=True)
        return {self._owners[pattern] for pattern, _, _ in found} if found else set()

    def traced(self, low: str) -> bool:
        """Whether JSON in case-folded letters may hold a value, or a part of one that counts."""
        return self.loose or bool(self._traces.find_matches_as_indexes(low))


def in_json(text: str) -> str:
    """The longest stretch of a text that JSON spells as it is."""
    return max(_ESCAPED.split(text), key=len)


@dataclass(frozen=True)
class Changed:
    """The values of one target."""

    stale: tuple[Value, ...]
    """Source values that the target does not have."""
    wanted: tuple[Value, ...]
    """Target values that the source does not have, of bindings that both have and that an action can name: no states,
    no small numbers or single words of parameters."""

    @cached_property
    def finder(self) -> Finder:
        return Finder(self.stale, self.wanted)


NOTHING_CHANGED = Changed((), ())


def changed_values(source: Sequence[Binding], target: Sequence[Binding]) -> Changed:
    """The values to look for when `target`'s task is attempted with `source`'s trajectory at hand."""
    old, new = {b.name: b for b in source}, {b.name: b for b in target}
    target_leaves = [leaf for b in target for _, leaf in leaves(b.value)]
    known = {_key(leaf) for leaf in target_leaves}
    shared = [fold(spelling) for leaf in target_leaves for spelling in spellings(leaf)]
    found = (_stale(v, shared) for b in source for v in _values(b, new.get(b.name), known))
    stale = tuple(v for v in found if v is not None)
    both = sorted({v.binding for v in stale} & new.keys())
    wanted = (
        v
        for n in both
        for v in _values(new[n], old[n], {_key(leaf) for _, leaf in leaves(old[n].value)})
        if _nameable(v)
    )
    return Changed(stale, tuple(wanted))


def fold(text: str) -> str:
    """A text as values are looked for in it: case folded, date and time apart."""
    return times_apart(text.casefold())


def times_apart(low: str) -> str:
    """A text in case-folded letters with date and time apart."""
    return _MOMENT.sub(" ", low) if "t" in low and ":" in low else low


def telling(number: int | float) -> bool:
    """Whether a number is unlikely to turn up by chance."""
    return abs(number) >= _SMALLEST_ANYWHERE or number != int(number)


def _values(binding: Binding, other: Binding | None, known: set[Leaf]) -> Iterator[Value]:
    """The checkable scalars of a binding that are not among the known ones."""
    for _, leaf in leaves(binding.value):
        if _key(leaf) in known or leaf == REDACTED or (isinstance(leaf, str) and len(leaf.strip()) < SHORTEST_TEXT):
            continue
        evidence = tuple(dict.fromkeys(fold(s) for s in spellings(leaf)))
        texts = tuple(s for s in evidence if len(s) >= SHORTEST_TEXT and not _ordinal(s, leaf))
        yield Value(binding.name, binding.kind, leaf, texts, evidence, rival=_text(other.value) if other else "")


def _stale(value: Value, shared: Sequence[str]) -> Value | None:
    """The value less the spellings (folded) that a target value shares; None where nothing telling is left."""
    texts = tuple(t for t in value.texts if not any(mentions(s, t) for s in shared))
    if isinstance(value.leaf, str) and not texts:
        return None
    return replace(value, texts=texts, whole=_common_word(value))


def _nameable(value: Value) -> bool:
    """Whether doing the task rightly shows the value, or something that stands for it, in an action."""
    if value.kind == "state":
        return False
    if value.kind == "parameter":
        return not _common_word(value) and (isinstance(value.leaf, str) or telling(value.leaf))
    return True


def _common_word(value: Value) -> bool:
    return isinstance(value.leaf, str) and value.kind in ("parameter", "state") and value.leaf.strip().isalpha()


def _key(leaf: Leaf) -> Leaf:
    return leaf.strip().casefold() if isinstance(leaf, str) else leaf


def _text(value: JsonValue) -> str:
    return " ".join(str(leaf) for _, leaf in leaves(value))


def _ordinal(spelling: str, leaf: Leaf) -> bool:
    """Whether a spelling is an ordinal: a "15th" shows that a 15 was seen, but is no use of the number."""
    return not isinstance(leaf, str) and not spelling[-1].isdigit()


def _words(name: str) -> set[str]:
    return {word for word in name.casefold().split("_") if len(word) > 1 and word != "id"}


def _runs(text: str) -> set[str]:
    """The words of a text, in case-folded letters: unbroken runs of letters and digits."""
    return set(_WORD.findall(text.casefold()))
