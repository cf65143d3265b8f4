"""The token account of one episode (design: Tokens), from its `call` and `support` events, and its identities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from rebind.types import TokenAccount

Row = Mapping[str, Any]
"""The data of a `call` event, or a Completion of a `support` event, as JSON."""


def account(calls: Iterable[Row], support: Row | None) -> TokenAccount:
    """The account of an attempt.

    `calls` are the data of its `call` events in order, `support` that of its `support` event (None or empty where it
    never got that far). A call counts once it was answered, also from the response cache: its usage is logical, the
    bill of a replay is 0. Tokens of failed attempts are `wasted`. A component is None where a count it needs is
    missing.

    `once` counts a token the first time it is sent: `P_1 + Σ max(0, new_j) + Σ C_j` of the actor plus the writer's,
    with `new_j = P_j − (P_{j−1} + C_{j−1})`. Where a `new_j` is negative, history was dropped (or reasoning left out
    of it): `once_dropped` is set and `once` is a lower bound.
    """
    rows = list(calls)
    counted = [row for row in rows if answered(row)]
    writer = [row for row in _completions(support) if answered(row)]
    used = [row["usage"] for row in counted]
    prompts, outputs = [usage["prompt"] for usage in used], [usage["completion"] for usage in used]
    memory = [row["mem_tokens"] for row in counted]
    i_syn, o_syn = _total(_usage(row, "prompt") for row in writer), _total(_usage(row, "completion") for row in writer)
    once, dropped = _once(prompts, outputs)
    everything = [*rows, *_completions(support)]
    return TokenAccount(
        i_base=_total([None if p is None or m is None else p - m for p, m in zip(prompts, memory, strict=True)]),
        i_mem=_total(memory),
        i_syn=i_syn,
        o_syn=o_syn,
        o_act=_total(outputs),
        once=_total((once, i_syn, o_syn)),
        once_dropped=dropped,
        cached=_total([row["usage"]["cached"] for row in [*counted, *writer]]),
        wasted=sum(_wasted(row) for row in everything),
        cost=_cost(everything),
    )


def answered(row: Row) -> bool:
    """Whether a model call was answered: from the cache, by its last attempt, or (no attempt listed) at all."""
    attempts = row["attempts"]
    return bool(row["replayed"]) or (attempts[-1]["error"] is None if attempts else row["finish"] != "error")


def identity_violations(stored: TokenAccount, calls: Iterable[Row], support: Row | None) -> tuple[str, ...]:
    """Sentences for every identity that an episode's stored account breaks against its own events: Σ components =
    Σ P + Σ C over counted calls, parts within their wholes, raw usage equal to the usage counted, and each field as
    recomputed. Empty where all hold."""
    rows = list(calls)
    found = [*_total_violations(stored, rows, support)]
    for place, row in (*_placed("call", rows), *_placed("writer call", _completions(support))):
        found += [f"{place}: {problem}" for problem in _row_violations(row)]
    recomputed = account(rows, support)
    for name in TokenAccount.model_fields:
        said, counted = getattr(stored, name), getattr(recomputed, name)
        if said != counted:
            found.append(f"{name} is {said} in the episode and {counted} by its events")
    return tuple(found)


def _total_violations(stored: TokenAccount, calls: list[Row], support: Row | None) -> Iterator[str]:
    counted = [row for row in (*calls, *_completions(support)) if answered(row)]
    flow = _total(_usage(row, part) for row in counted for part in ("prompt", "completion"))
    if flow is not None and stored.online is not None and stored.online != flow:
        yield f"the components sum to {stored.online}, the counted calls to {flow}"
    if flow is None and stored.online is not None:
        yield f"the components sum to {stored.online}, although a count is missing"


def _row_violations(row: Row) -> Iterator[str]:
    """What is wrong within one call."""
    if not answered(row):
        return
    usage, parts = row["usage"], (("cached", "prompt"), ("reasoning", "completion"))
    for part, whole in parts:
        if usage[part] is not None and (usage[whole] is None or not 0 <= usage[part] <= usage[whole]):
            yield f"{part} is {usage[part]} of {usage[whole]} {whole} tokens"
    memory = row.get("mem_tokens")
    if memory is not None and usage["prompt"] is not None and not 0 <= memory <= usage["prompt"]:
        yield f"the support has {memory} of {usage['prompt']} prompt tokens"
    if row["attempts"] and not row["replayed"] and row["attempts"][-1]["usage"] != usage:
        yield f"usage is {dict(usage)}, its answered attempt says {dict(row['attempts'][-1]['usage'])}"


def _placed(name: str, rows: Iterable[Row]) -> Iterator[tuple[str, Row]]:
    return ((f"{name} {index}", row) for index, row in enumerate(rows))


def _completions(support: Row | None) -> list[Row]:
    return list(support["completions"]) if support else []


def _usage(row: Row, part: str) -> int | None:
    count: int | None = row["usage"][part]
    return count


def _total(counts: Iterable[int | None]) -> int | None:
    """The sum; None where any part is missing. Of nothing: 0."""
    found = list(counts)
    return None if None in found else sum(cast("list[int]", found))


def _once(prompts: list[int | None], outputs: list[int | None]) -> tuple[int | None, bool]:
    """The actor's counted-once total, and whether history was dropped between two calls."""
    total, before, dropped = 0, 0, False
    for prompt, output in zip(prompts, outputs, strict=True):
        if prompt is None or output is None:
            return None, dropped
        new = prompt - before
        dropped = dropped or new < 0
        total += max(0, new) + output
        before = prompt + output
    return total, dropped


def _wasted(row: Row) -> int:
    """Tokens a provider reported for failed attempts."""
    if row["replayed"]:
        return 0
    failed = [attempt["usage"] for attempt in row["attempts"] if attempt["error"] is not None]
    return sum((usage["prompt"] or 0) + (usage["completion"] or 0) for usage in failed)


def _cost(rows: Iterable[Row]) -> float | None:
    """US dollars of all attempts; None where one that reported usage or was answered has no known price."""
    total = 0.0
    for row in rows:
        if row["replayed"]:
            continue
        if not row["attempts"]:
            return None
        for attempt in row["attempts"]:
            if attempt["cost"] is not None:
                total += attempt["cost"]
            elif attempt["error"] is None or attempt["usage"]["prompt"] is not None:
                return None
    return total
