"""What Tier C learns from the induction split besides skills: how much it heeds a request's own words, and τ_C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median_low

from rebind.memory.shard.scope import Scope
from rebind.memory.skill.library import Library, Source, Version
from rebind.memory.skill.tier_c import Encode, Settings, TierC

SHARES = (0.0, 0.25, 0.5, 0.75)
PRECISION = 0.95
Pairs = Sequence[tuple[float, bool]]
"""What was found for one request: scores, and whether the skill was valid."""


class Tuning:
    """Asks for each induction request what would be handed on, under each share of `Settings.named` (ours). To be asked
    when all of the split is learnt, each request without its own source (leave one out): what later requests meet is
    the finished library, and one that is still filling would be judged by what it does not hold yet."""

    def __init__(self, library: Library, encode: Encode) -> None:
        self._tiers = {share: TierC(library, encode, Settings(named=share, learn=False)) for share in SHARES}
        self._found: dict[float, list[Pairs]] = {share: [] for share in SHARES}

    def ask(self, source: Source, scope: Scope, valid: Callable[[Version], bool | None]) -> None:
        """`valid` tells of a version whether it solves the source's task; None where that is not known."""
        for share, tier in self._tiers.items():
            found = [(score, valid(version)) for version, score in tier.ranked(source.request, scope, source)]
            self._found[share].append([(score, held) for score, held in found if held is not None])

    def settings(self) -> Settings:
        """The share and the τ_C under which the mean precision over requests is highest; of equals the least share."""
        least = {share: fit_least(found) for share, found in self._found.items()}
        share = max(SHARES, key=lambda one: (mean_precision(self._found[one], least[one]), -one))
        return Settings(least=least[share], named=share, learn=False)


def fit_least(requests: Sequence[Pairs]) -> float:
    """τ_C: the least threshold that leaves at least 95 % of what was found valid (design: formulas). Pairs tell it only
    to within the gap between the lowest valid score that it lets through and the wrong one below, 0 where there is
    none; it is the middle (ours). It is at most the median score of what was valid (ours): one that leaves out more
    than half of it rests on a few pairs at the top. Infinite where nothing was valid. Fit it on the induction split."""
    order = sorted((pair for found in requests for pair in found), key=lambda pair: (-pair[0], pair[1]))
    right = [score for score, held in order if held]
    if not right:
        return float("inf")
    good, least = 0, median_low(right)
    for count, (score, held) in enumerate(order, 1):
        good += held
        below = order[count][0] if count < len(order) else min(0.0, score)
        if held and below != score and good >= PRECISION * count:
            least = min(least, (score + below) / 2)
    return least


def mean_precision(requests: Sequence[Pairs], least: float) -> float:
    """Mean over requests of the share of what reaches a threshold that was valid. Where nothing does, that counts 0 if
    something below it was valid, and is left out if not."""
    means: list[float] = []
    for found in requests:
        held = [valid for score, valid in found if score >= least]
        if held or any(valid for _, valid in found):
            means.append(sum(held) / len(held) if held else 0.0)
    return sum(means) / len(means) if means else 0.0
