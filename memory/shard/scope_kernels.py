"""The inner loops of scope: which shards and rows a compiled predicate admits, and what is admitted of each shard.

`allowed[begins[i] + code]` says whether field `fields[i]` admits a code. Flags that may be absent (`replaced`,
`partly`, `deleted`) have no elements where nothing is flagged.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.jit import compiled

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]


@compiled
def _inside(  # noqa: PLR0913, PLR0917  # compiled code takes arrays, not objects
    codes: Codes, times: Rows, deleted: Flags, row: int, fields: Rows, allowed: Flags, begins: Rows, low: int, high: int
) -> bool:
    """Whether an item is admitted and not deleted."""
    if times[row] < low or times[row] > high or (len(deleted) and deleted[row]):
        return False
    for i in range(len(fields)):  # noqa: SIM110  # numba knows no all()
        if not allowed[begins[i] + codes[fields[i], row]]:
            return False
    return True


@compiled
def row_flags(  # noqa: PLR0913, PLR0917  # compiled code takes arrays, not objects
    codes: Codes,
    times: Rows,
    deleted: Flags,
    rows: Rows,
    fields: Rows,
    allowed: Flags,
    begins: Rows,
    low: int,
    high: int,
) -> Flags:
    """Which of some items are admitted and not deleted."""
    found = np.empty(len(rows), dtype=np.bool_)
    for place in range(len(rows)):
        found[place] = _inside(codes, times, deleted, rows[place], fields, allowed, begins, low, high)
    return found


@compiled
def _states(  # noqa: PLR0913, PLR0917  # compiled code takes arrays, not objects
    codes: Codes,
    first: Rows,
    last: Rows,
    replaced: Flags,
    partly: Flags,
    fields: Rows,
    allowed: Flags,
    begins: Rows,
    low: int,
    high: int,
) -> NDArray[np.int8]:
    """0 where nothing of a shard is admitted, 2 where all is, 1 where its items decide. Without branches: which shards
    are admitted cannot be foreseen."""
    states = np.full(codes.shape[1], 2, dtype=np.int8)
    for i in range(len(fields)):
        for shard in range(len(states)):
            code = codes[fields[i], shard]  # below 0: its items differ
            state = 1 if code < 0 else 2 * allowed[begins[i] + max(code, 0)]
            states[shard] = min(states[shard], state)
    for shard in range(len(states)):
        within = (first[shard] >= low) & (last[shard] <= high)
        outside = (last[shard] < low) | (first[shard] > high)
        states[shard] = min(states[shard], 0 if outside else 2 if within else 1)
    for shard in range(len(replaced)):
        states[shard] *= not replaced[shard]
    for shard in range(len(partly)):
        states[shard] = min(states[shard], 2 - partly[shard])
    return states


@compiled
def _shards(  # noqa: PLR0913, PLR0917  # compiled code takes arrays, not objects
    states: NDArray[np.int8],
    starts: Rows,
    codes: Codes,
    times: Rows,
    deleted: Flags,
    fields: Rows,
    allowed: Flags,
    begins: Rows,
    low: int,
    high: int,
) -> tuple[Rows, Rows, Rows, Rows]:
    """Shards, partial, edges and kept of `admitted`."""
    some = most = 0
    for shard in range(len(states)):
        some += states[shard] == 1
        most += (starts[shard + 1] - starts[shard]) * (states[shard] == 1)
    shards, partial = np.empty(len(states), dtype=np.int64), np.empty(some, dtype=np.int64)
    edges, kept = np.zeros(some + 1, dtype=np.int64), np.empty(most, dtype=np.int64)
    found = parts = end = 0
    for shard in range(len(states)):
        shards[found] = shard
        if states[shard] == 1:
            begin = end
            for row in range(starts[shard], starts[shard + 1]):
                kept[end] = row
                end += _inside(codes, times, deleted, row, fields, allowed, begins, low, high)
            if end - begin == starts[shard + 1] - starts[shard]:
                end = begin
            elif end > begin:
                partial[parts] = found
                parts += 1
                edges[parts] = end
            else:
                continue
        found += states[shard] > 0
    return shards[:found], partial[:parts], edges[: parts + 1], kept[:end]


@compiled
def admitted(  # noqa: PLR0913, PLR0917  # compiled code takes arrays, not objects
    shard_codes: Codes,
    shard_first: Rows,
    shard_last: Rows,
    replaced: Flags,
    partly: Flags,
    starts: Rows,
    codes: Codes,
    times: Rows,
    deleted: Flags,
    families: NDArray[np.int8],
    lengths: Rows,
    item_lengths: NDArray[np.int32],
    fields: Rows,
    allowed: Flags,
    begins: Rows,
    low: int,
    high: int,
) -> tuple[Rows, Rows, Rows, Rows, NDArray[np.int8], Rows, Rows]:
    """What a predicate admits.

    Returns: the admitted shards (A,), ascending; the places among these of the P that are admitted in part; where the
    rows of each of these begin, (P + 1,), and these rows; family, admitted items and their words of each of the A.
    """
    states = _states(shard_codes, shard_first, shard_last, replaced, partly, fields, allowed, begins, low, high)
    shards, partial, edges, kept = _shards(
        states, starts, codes, times, deleted, fields, allowed, begins, low, high
    )  # fmt: skip
    family = np.empty(len(shards), dtype=np.int8)
    size, length = np.empty(len(shards), dtype=np.int64), np.empty(len(shards), dtype=np.int64)
    for place in range(len(shards)):
        shard = shards[place]
        family[place] = families[shard]
        size[place] = starts[shard + 1] - starts[shard]
        length[place] = lengths[shard]
    for part in range(len(partial)):
        total = 0
        for at in range(edges[part], edges[part + 1]):
            total += item_lengths[kept[at]]
        size[partial[part]] = edges[part + 1] - edges[part]
        length[partial[part]] = total
    return shards, partial, edges, kept, family, size, length


@compiled
def group_spans(times: Rows, rows: Rows, edges: Rows, groups: Rows) -> tuple[Rows, Rows]:
    """Earliest and latest time of some groups; group g is `rows[edges[g]:edges[g + 1]]`, at least one row."""
    first, last = np.empty(len(groups), dtype=np.int64), np.empty(len(groups), dtype=np.int64)
    for place in range(len(groups)):
        group = groups[place]
        first[place] = last[place] = times[rows[edges[group]]]
        for at in range(edges[group] + 1, edges[group + 1]):
            time = times[rows[at]]
            first[place], last[place] = min(first[place], time), max(last[place], time)
    return first, last
