"""What Tier C learns from the induction split besides skills: which are likely valid, and τ_C."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.scope import Scope
from rebind.memory.skill.choose import chosen
from rebind.memory.skill.library import Library, Source, Version
from rebind.memory.skill.odds import fitted, left_out
from rebind.memory.skill.tier_c import Settings, TierC, saves
from rebind.memory.skill.traits import Encode

Pairs = Sequence[tuple[float, bool | None]]
"""What was found for one request: scores, and whether the skill was valid; None where that is not known."""


class Tuning:
    """Asks for each induction request which of the skills that it may see are valid. To be asked when all of the split
    is learnt, each request without its own source (leave one out): what later requests meet is the finished library,
    and one that is still filling would be judged by what it does not hold yet."""

    def __init__(self, library: Library, encode: Encode) -> None:
        self._tier = TierC(library, encode, Settings(learn=False))
        self._traits: list[NDArray[np.float64]] = []
        self._valid: list[list[bool | None]] = []
        self._saved: list[list[int]] = []

    def ask(self, source: Source, scope: Scope, valid: Callable[[Version], bool | None]) -> None:
        """`valid` tells of a version whether it solves the source's task; None where that is not known."""
        versions, known = self._tier.known(source.request, scope, source)
        if versions:
            self._traits.append(self._tier.traits(source.request, known))
            self._valid.append([valid(version) for version in versions])
            self._saved.append([saves(version) for version in versions])

    def settings(self) -> Settings:
        """The model of all requests, and τ_C where handing on and keeping silent are worth the same (see `_even`), each
        request judged by a model of the others. Where nothing is known nothing is handed on."""
        model = fitted(self._traits, self._valid)
        if model is None:
            return replace(self._tier.settings, least=float("inf"))
        odds = [own.tolist() for own in left_out(self._traits, self._valid)]
        worth, most = self._tier.settings.worth, self._tier.settings.r
        handed = [chosen(own, saved, 0.0, worth, most) for own, saved in zip(odds, self._saved, strict=True)]
        return replace(self._tier.settings, least=self._even(handed, worth), odds=model)

    def _even(self, handed: Sequence[Sequence[int]], worth: float) -> float:
        """The probability p at which it makes no difference whether a skill is handed on. That gives p of precision and
        p of the calls that can be saved; silence gives, where nothing is valid (probability 1 − p), what a request
        gives on average, for then it is left out of the mean: p (1 + worth) = (1 − p) mean."""
        found = [
            precision([(float(n in some), one) for n, one in enumerate(valid)], 1.0)
            for some, valid in zip(handed, self._valid, strict=True)
            if any(valid)
        ]
        told = [one for one in found if one is not None]
        mean = sum(told) / len(told) if told else 1.0
        return mean / (1.0 + worth + mean)


def fit_least(requests: Sequence[Pairs]) -> float:
    """The threshold that leaves the highest mean precision: the middle of the gap between two scores, or none (minus
    infinity); of equals the least. Infinite where nothing is known. Fit it on the induction split."""
    scores = sorted({score for found in requests for score, held in found if held is not None})
    if not scores:
        return float("inf")
    tried = [float("-inf"), *((low + high) / 2 for low, high in itertools.pairwise(scores))]
    return max(tried, key=lambda least: (mean_precision(requests, least), -least))


def mean_precision(requests: Sequence[Pairs], least: float) -> float:
    """Mean of `precision` over the requests that have one; 0 where none has."""
    means = [one for found in requests if (one := precision(found, least)) is not None]
    return sum(means) / len(means) if means else 0.0


def precision(found: Pairs, least: float) -> float | None:
    """Of what reaches a threshold the share that was valid. Where nothing does, 0 if something below it was valid, and
    else None; so it is where nothing is known of what does."""
    reached = [score >= least for score, _ in found]
    held = [valid for (_, valid), one in zip(found, reached, strict=True) if one and valid is not None]
    if held:
        return sum(held) / len(held)
    return 0.0 if not any(reached) and any(valid for _, valid in found) else None
