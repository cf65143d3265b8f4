"""Which skills are handed on, and in what order, once it is known how likely each is valid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

_CONSIDERED = 8
"""The likeliest skills, out of which some are chosen."""
_EQUAL = 1e-9


def chosen(odds: Sequence[float], saved: Sequence[int], least: float, worth: float, most: int) -> list[int]:
    """Positions of the skills to hand on (ours); none where the likeliest does not reach `least`.

    Of all sets of at most `most` skills the one with the highest expected precision plus `worth` times the expected
    share of the calls that could be saved. A set is walked down by what its skills save, until one is valid. Of equal
    sets the larger, for what follows is there when the first fails.

    Args:
        odds: probability of each skill that it is valid.
        saved: calls that each saves where it is valid.
    """
    order = sorted(range(len(odds)), key=lambda n: (-odds[n], -saved[n], n))[:_CONSIDERED]
    if not order or odds[order[0]] < least:
        return []
    top = max(1, *(saved[n] for n in order))
    best: tuple[float, list[int]] = (-1.0, [])
    for size in range(1, min(most, len(order)) + 1):
        for some in combinations(order, size):
            walk = sorted(some, key=lambda n: (-saved[n], -odds[n]))
            value = sum(odds[n] for n in some) / size + worth * _expected(walk, odds, saved) / top
            if value > best[0] - _EQUAL and (size > len(best[1]) or value > best[0] + _EQUAL):
                best = value, walk
    return best[1]


def _expected(walk: Sequence[int], odds: Sequence[float], saved: Sequence[int]) -> float:
    """Calls saved by the first that is valid."""
    found, none_yet = 0.0, 1.0
    for n in walk:
        found += none_yet * odds[n] * saved[n]
        none_yet *= 1 - odds[n]
    return found
