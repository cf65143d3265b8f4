"""What a request and a skill have in common, as numbers. All of it is of admitted skills alone, and none depends on the
order in which traces were learnt."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rebind.memory.skill.request import masked, named
from rebind.types import Skill

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to vectors of length 1."""
_CLAUSE = re.compile(r"(?<=[.?!;])\s+|,\s+(?=and |also )|\b(?:and|also|additionally|furthermore)\b", re.IGNORECASE)
_LEAST_WORDS = 2
TRAITS = ("similarity", "clauses", "named", "bare", "reliable")


@dataclass(frozen=True)
class Known:
    """What is known of a procedure: its newest version in scope, requests it was made from or held for, and how often
    it held and failed."""

    skill: Skill
    requests: tuple[str, ...]
    held: int
    failed: int

    @property
    def reliability(self) -> float:
        """Mean of a uniform prior after its uses, whichever version was used."""
        return (self.held + 1) / (self.held + self.failed + 2)


class Texts:
    """Vectors of texts, kept."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._known: dict[str, NDArray[np.float32]] = {}

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, dimensions)."""
        missing = list(dict.fromkeys(t for t in texts if t not in self._known))
        if missing:
            self._known.update(zip(missing, self._encode(missing), strict=True))
        return np.array([self._known[t] for t in texts])


def clauses(text: str) -> list[str]:
    """The parts of a request that ask for something each, roughly: sentences, and what "and" joins."""
    parts = [part.strip(" ,") for part in _CLAUSE.split(text)]
    return [part for part in parts if len(part.split()) >= _LEAST_WORDS] or [text]


def similarity(goal: str, requests: Sequence[str], texts: Texts) -> float:
    """The cosine to the nearest of some requests, values masked."""
    own, *others = texts.of([masked(goal), *map(masked, requests)])
    return max(float(own @ other) for other in others)


def traits(goal: str, known: Sequence[Known], texts: Texts) -> NDArray[np.float64]:
    """Shape (procedures, `TRAITS`): similarity of requests; how far each clause of the goal is found in one request;
    how far the goal's words name the call that it names least; whether there is no slot, and so nothing to fill wrongly
    (1 or 0); the log-odds of the reliability."""
    said = texts.of(clauses(goal))
    return np.array(
        [
            (
                similarity(goal, one.requests, texts),
                max(float((said @ texts.of(clauses(text)).T).max(axis=1).mean()) for text in one.requests),
                named(one.skill, goal),
                float(not one.skill.slots),
                math.log(one.reliability / (1 - one.reliability)),
            )
            for one in known
        ]
    ).reshape(len(known), len(TRAITS))
