"""What Tier C learns from the induction split besides skills: how much it heeds a request's own words, and τ_C."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebind.memory.shard.scope import Scope
from rebind.memory.skill.library import Library, Version
from rebind.memory.skill.tier_c import Encode, Settings, TierC

SHARES = (0.0, 0.25, 0.5, 0.75)
PRECISION = 0.95
Pairs = Sequence[tuple[float, bool]]
"""What was found for one request: scores, and whether the skill was valid."""


class Tuning:
    """Asks for each induction request what would be handed on, under each share of `Settings.named` (ours). To be asked
    before the request's own skill is stored."""

    def __init__(self, library: Library, encode: Encode) -> None:
        self._tiers = {share: TierC(library, encode, Settings(named=share, learn=False)) for share in SHARES}
        self._found: dict[float, list[Pairs]] = {share: [] for share in SHARES}

    def ask(self, goal: str, scope: Scope, valid: Callable[[Version], bool | None]) -> None:
        """`valid` tells of a version whether it solves the task; None where that is not known."""
        for share, tier in self._tiers.items():
            found = [(score, valid(version)) for version, score in tier.ranked(goal, scope)]
            self._found[share].append([(score, held) for score, held in found if held is not None])

    def settings(self) -> Settings:
        """The share and the τ_C under which the mean precision over requests is highest; of equals the least share."""
        least = {share: fit_least(found) for share, found in self._found.items()}
        share = max(SHARES, key=lambda one: (mean_precision(self._found[one], least[one]), -one))
        return Settings(least=least[share], named=share, learn=False)


def fit_least(requests: Sequence[Pairs]) -> float:
    """τ_C: the least score from which on at least 95 % of what was found was valid (design: formulas). Where that
    leaves out more than half of what was valid, the one with the best mean precision, the least of equals (ours): a
    few pairs at the top are no ground for a threshold. Infinite where nothing was valid. Fit it on the induction
    split."""
    order = sorted((pair for found in requests for pair in found), reverse=True)
    every, good, least = sum(held for _, held in order), 0, float("inf")
    if not every:
        return least
    ends: list[float] = []
    for count, (score, held) in enumerate(order, 1):
        good += held
        if count < len(order) and order[count][0] == score:
            continue
        ends.append(score)
        if good >= PRECISION * count and 2 * good >= every:
            least = score
    return least if least < float("inf") else max(ends, key=lambda one: (mean_precision(requests, one), -one))


def mean_precision(requests: Sequence[Pairs], least: float) -> float:
    """Mean over requests of the share of what reaches a threshold that was valid. Where nothing does, that counts 0 if
    something below it was valid, and is left out if not."""
    means: list[float] = []
    for found in requests:
        held = [valid for score, valid in found if score >= least]
        if held or any(valid for _, valid in found):
            means.append(sum(held) / len(held) if held else 0.0)
    return sum(means) / len(means) if means else 0.0
