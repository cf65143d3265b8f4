"""A record's workflow in one line, made from tool names and their order alone: no value can get into it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rebind.types import Step

_LONGEST_CYCLE = 6
"""Calls; a loop body longer than this is written out."""


def describe(steps: Sequence[Step]) -> str:
    """The tools of all calls that succeeded, in order, with runs and loops folded: `a → (b → c) ×3 → d`."""
    return fold([call.tool for step in steps for call in step.calls if call.ok])


def fold(tools: Sequence[str]) -> str:
    """Tool names in order, with runs and loops folded."""
    return " → ".join(_folded(tools))


def _folded(tools: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(tools):
        length, times = _cycle(tools[at:])
        body = " → ".join(tools[at : at + length])
        if times == 1:
            yield tools[at]
            at += 1
            continue
        yield f"{body} ×{times}" if length == 1 else f"({body}) ×{times}"
        at += length * times


def _cycle(tools: Sequence[str]) -> tuple[int, int]:
    """Length and number of turns of the loop that starts here and covers most calls; the shortest of equals."""
    best = (1, 1)
    for length in range(1, min(_LONGEST_CYCLE, len(tools) // 2) + 1):
        times = 1
        while tools[length * times : length * (times + 1)] == tools[:length]:
            times += 1
        if times > 1 and length * times > best[0] * best[1]:
            best = (length, times)
    return best
