"""Canaries and sealed values: what they look like in a text, and a search for all of them at once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from rebind.eval.audit.facts import Facts, verdict_words
from rebind.memory.values import leaves
from rebind.types import SHIFT_LEVELS, Seal

CANARY = "canary"
_SEPARATORS = re.compile(r"[\s\"'`=:,;(){}\[\]<>|]+")
_LEVEL_FORMS = ("shift level {}", "level {} shift", "binding shift {}", "{} binding shift", "{} shift", "{} rewrite")
_SHORTEST_ID = 6
_SHORTEST_TEXT, _FEWEST_WORDS = 20, 4
"""Of a verifier's sentence, below which it is too common to tell a leak from a coincidence."""
_SMALLEST_NUMBER = 100_000
"""Below which a number that stands alone says nothing."""


class Sealed(NamedTuple):
    """A sealed value: the field it is of, and the value."""

    field: str
    value: str


class Sealing:
    """All canaries and sealed values of a run, ready to be searched for.

    Matches are of whole words, after Unicode NFKC, case folding, and quotes, brackets, `:`, `=` and blanks made one
    blank, so that `"detours": 2` and `detours=2` are the same; a canary matches anywhere.
    """

    def __init__(self, facts: Facts) -> None:
        self.skipped: set[Sealed] = set()
        """Sealed values too common to search for."""
        by_text: dict[str, Sealed] = {}
        for sealed in self._values(facts):
            by_text.setdefault(fold(sealed.value), sealed)
        self._sealed = list(by_text.values())
        self._search = AhoCorasick(by_text)

    def find(self, text: str) -> list[Sealed]:
        """The sealed values in a text, as often as they stand there; of two that overlap, the one that begins first."""
        folded = fold(text)
        matches = self._search.find_matches_as_indexes(folded, overlapping=True)
        found: list[Sealed] = []
        done = 0
        for which, start, end in sorted(matches, key=lambda m: (m[1], -m[2])):
            sealed = self._sealed[which]
            if end > done and (sealed.field == CANARY or _whole(folded, start, end)):
                found.append(sealed)
                done = end
        return found

    def _values(self, facts: Facts) -> Iterator[Sealed]:
        for seal in facts.seals:
            yield Sealed(CANARY, seal.canary)
            yield from self._of_seal(seal)
        for key in facts.targets:
            yield Sealed("task", key)
            yield Sealed("task", key[:16])
        for text in facts.verdicts:
            yield from self._sentence(text)
        for level in SHIFT_LEVELS:
            for form in _LEVEL_FORMS:
                yield Sealed("level", form.format(level))

    def _of_seal(self, seal: Seal) -> Iterator[Sealed]:
        yield Sealed("task", seal.task_key)
        for field, name in (("environment", seal.env), ("family", seal.family)):
            for part in dict.fromkeys((name, name.rpartition("/")[2])):
                yield from self._identifier(field, part)
        if seal.source:
            yield Sealed("source", seal.source)
        if seal.rollout:
            yield from self._rollout(leaves(dict(seal.rollout)))
        if seal.verdict:
            for text in verdict_words(seal.verdict.model_dump(mode="json")):
                yield from self._sentence(text)

    def _rollout(self, values: Iterable[tuple[str, str | int | float]]) -> Iterator[Sealed]:
        """A rollout's settings: any beside its name, a telling one alone too."""
        for key, value in values:
            yield Sealed("rollout", f"{key} {value}")
            if isinstance(value, str):
                yield from self._identifier("rollout", value)
            elif abs(value) >= _SMALLEST_NUMBER:
                yield Sealed("rollout", str(value))

    def _identifier(self, field: str, name: str) -> Iterator[Sealed]:
        """A name that no ordinary text would use by chance."""
        if len(name) >= _SHORTEST_ID and re.search(r"[\d_/.-]", name):
            yield Sealed(field, name)
        else:
            self.skipped.add(Sealed(field, name))

    def _sentence(self, text: str) -> Iterator[Sealed]:
        if len(text) >= _SHORTEST_TEXT and len(text.split()) >= _FEWEST_WORDS:
            yield Sealed("verifier", text)
        else:
            self.skipped.add(Sealed("verifier", text))


def fold(text: str) -> str:
    """The form in which texts are compared."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _SEPARATORS.sub(" ", text.casefold()).strip()


def _whole(text: str, start: int, end: int) -> bool:
    """Whether a match is not part of a longer word."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_joins(before) and _joins(text[start])) and not (_joins(after) and _joins(text[end - 1]))


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"
