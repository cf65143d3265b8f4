"""A made-up store of evidence and random scopes over it, and which items a scope admits, said as plainly as can be.

It is what the stores are held against, so it knows nothing of how they decide: metadata are columns of names, and a
predicate is one comparison of a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.remote.protocol import ShardStore
from rebind.memory.shard.scope import (
    ItemMeta,
    MayRead,
    NamespaceIs,
    Predicate,
    Scope,
    SessionIs,
    SpeakerIs,
    TimeWithin,
    UserIs,
    seconds,
)
from rebind.memory.shard.segment import Item, on_grid

DIMENSIONS, TENANTS, LABELS, PRINCIPALS = 384, 20, 8, 6
_START, _WEEK = 1_672_531_200, 7 * 86_400
_NAMESPACES, _SPEAKERS = 10, 3
Flags = NDArray[np.bool_]


@dataclass(eq=False)
class World:
    """N items of one size of shard, and what holds for them at this moment."""

    items: list[Item]
    vectors: NDArray[np.float32]
    columns: dict[str, NDArray[Any]]
    """By field: one name an item; "shard" too, and "time" in Unix seconds, -1 where there is none."""
    alive: Flags
    held: set[tuple[str, str]] = field(default_factory=set)

    def admits(self, scope: Scope, shards: Sequence[str] | None = None) -> Flags:
        """Which items may be found, (N,)."""
        flags = self.alive.copy()
        for one in scope.predicates:
            flags &= self._admits(one)
        return flags if shards is None else flags & np.isin(self.columns["shard"], list(shards))

    def _admits(self, one: Predicate) -> Flags:
        columns = self.columns
        if isinstance(one, TimeWithin):
            at, low, high = columns["time"], seconds(one.start), seconds(one.end)
            assert low is not None
            assert high is not None
            return (at >= low) & (at <= high)
        if isinstance(one, MayRead):
            labels = {label for principal, label in self.held if principal == one.principal}
            return np.isin(columns["label"], [*labels, ""])
        if isinstance(one, NamespaceIs):
            own = [any(n == name or n.startswith(f"{name}.") for name in one.names) for n in columns["namespace"]]
            return np.array(own, dtype=bool)
        return np.isin(columns[one.kind], list(one.names))


def make_world(shards: int, items: int, rng: np.random.Generator) -> World:
    """Shards of one session and namespace each, evenly over tenants; every fourth holds items of several labels."""
    size = items // shards
    shard = np.repeat(np.arange(shards), size)
    user = shard * TENANTS // shards
    label = rng.integers(LABELS + 2, size=shards)[shard]
    mixed = shard % 4 == 0
    label[mixed] = rng.integers(LABELS + 2, size=int(mixed.sum()))
    week = shard - np.searchsorted(user, user) // size + rng.random(size=len(shard))
    time = (_START + week * 4 * _WEEK).astype(np.int64)
    time[rng.random(size=len(time)) < 0.05] = -1
    tool = rng.integers(_NAMESPACES, size=shards)[shard]
    columns: dict[str, NDArray[Any]] = {
        "shard": _named("tenant{0}/shard{1:04}", user, shard),
        "user": _named("tenant{0}", user),
        "session": _named("session{0}", shard),
        "speaker": _named("speaker{0}", rng.integers(_SPEAKERS, size=len(shard))),
        "namespace": _named("area{0}.tool{1}", tool % 4, tool),
        "label": np.array(["" if n >= LABELS else f"label{n}" for n in label], dtype=object),
        "time": time,
    }
    made = [_item(row, columns) for row in range(len(shard))]
    world = World(made, _vectors(rng, shard), columns, np.ones(len(shard), dtype=bool))
    world.held = {(f"agent{p}", f"label{n}") for p in range(PRINCIPALS) for n in range(LABELS) if rng.random() < 0.5}
    return world


def random_scope(rng: np.random.Generator) -> Scope:
    """Each kind of predicate with its own probability; a principal in most."""
    chosen: list[Predicate] = []
    if rng.random() < 0.6:
        count = int(rng.choice([1, 1, 2, 5, 12]))
        chosen.append(UserIs(names=tuple(f"tenant{n}" for n in rng.choice(TENANTS, size=count, replace=False))))
    if rng.random() < 0.3:
        chosen.append(NamespaceIs(names=(str(rng.choice(["area0", "area1", "area2.tool2", "area3", "area"])),)))
    if rng.random() < 0.3:
        begin = _START + float(rng.uniform(0, 25)) * _WEEK
        end = begin + float(rng.uniform(2, 20)) * _WEEK
        chosen.append(TimeWithin(start=datetime.fromtimestamp(begin, UTC), end=datetime.fromtimestamp(end, UTC)))
    if rng.random() < 0.2:
        chosen.append(SpeakerIs(names=(f"speaker{rng.integers(_SPEAKERS)}", "nobody's")))
    if rng.random() < 0.05:
        chosen.append(SessionIs(names=tuple(f"session{n}" for n in rng.integers(200, size=8))))
    if rng.random() < 0.7:
        chosen.append(MayRead(principal=f"agent{rng.integers(PRINCIPALS)}"))
    return Scope(predicates=tuple(chosen))


def change(world: World, stores: Sequence[ShardStore], rng: np.random.Generator) -> str:
    """One change of rights or items, in the world and in every store; which."""
    kind = str(rng.choice(["grant", "revoke", "relabel-item", "relabel-shard", "delete"], p=[0.3, 0.3, 0.2, 0.1, 0.1]))
    principal, label = f"agent{rng.integers(PRINCIPALS)}", f"label{rng.integers(LABELS)}"
    row = int(rng.choice(np.flatnonzero(world.alive)))
    shard, item = world.items[row].shard, world.items[row].id
    inside = world.columns["shard"] == shard
    if kind == "grant":
        world.held.add((principal, label))
    elif kind == "revoke":
        world.held.discard((principal, label))
    elif kind == "delete":
        world.alive[row] = False
    else:
        world.columns["label"][inside if kind == "relabel-shard" else row] = label
    for store in stores:
        if kind == "grant":
            store.grant(principal, label)
        elif kind == "revoke":
            store.revoke(principal, label)
        elif kind == "delete":
            store.delete(shard, item)
        else:
            store.relabel(shard, label, None if kind == "relabel-shard" else item)
    return kind


def _named(form: str, *numbers: NDArray[Any]) -> NDArray[Any]:
    return np.array([form.format(*row) for row in zip(*(n.tolist() for n in numbers), strict=True)], dtype=object)


def _item(row: int, columns: dict[str, NDArray[Any]]) -> Item:
    named = {name: columns[name][row] for name in ("user", "session", "speaker", "namespace", "label")}
    at = int(columns["time"][row])
    meta = ItemMeta(**named, time=None if at < 0 else datetime.fromtimestamp(at, UTC))
    return Item(id=f"item{row}", text=f"what was said, {row}", shard=columns["shard"][row], meta=meta)


def _vectors(rng: np.random.Generator, shard: NDArray[np.int64]) -> NDArray[np.float32]:
    """A direction a shard, and as much noise."""
    centres = rng.standard_normal((int(shard[-1]) + 1, DIMENSIONS), dtype=np.float32)
    made: NDArray[np.float32] = centres[shard] + rng.standard_normal((len(shard), DIMENSIONS), dtype=np.float32)
    return made


def on_the_grid(world: World) -> NDArray[np.int64]:
    """The world's vectors as stores hold them."""
    return on_grid(world.vectors).astype(np.int64)
