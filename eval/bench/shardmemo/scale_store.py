"""A large made-up store, laid out from columns: a million items one by one would take longer than the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.generation import write_generation
from rebind.memory.shard.rights import Rights
from rebind.memory.shard.scope import FIELDS, Vocabulary
from rebind.memory.shard.segment import GRID, Bags, assemble
from rebind.memory.shard.terms import term

DIMENSIONS, USERS, NAMESPACES, LABELS, PRINCIPALS = 384, 200, 20, 8, 16
START, WEEKS = 1_672_531_200, 100
"""2023-01-01; every user's shards cover so many weeks, one after another."""
_WORDS, _OWN_WORDS, _PER_ITEM = 20_000, 40, 12
_CHUNK = 50_000
_WEEK = 7 * 86_400


def build(folder: Path, shards: int, items: int, seed: int = 0) -> None:
    """Writes a store of `items` items in `shards` shards of one size, evenly over users."""
    rng = np.random.default_rng(seed)
    size = items // shards
    count = size * shards
    names = [Vocabulary() for _ in FIELDS]
    shard = np.arange(shards)
    user = shard * USERS // shards
    of = {
        "user": [f"user{u}" for u in user],
        "session": [f"session{s}" for s in shard],
        "speaker": [""] * shards,
        "namespace": [f"area{n % 5}.tool{n}" for n in rng.integers(NAMESPACES, size=shards)],
        "label": [f"label{n}" if n < LABELS else "" for n in rng.integers(LABELS + 2, size=shards)],
    }
    codes = np.array([[names[f].add(value) for value in of[field]] for f, field in enumerate(FIELDS)], dtype=np.int32)
    tokens = _tokens(rng, shards, size)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "audit").mkdir(exist_ok=True)
    segment = assemble(
        shard_starts=np.arange(shards + 1, dtype=np.int64) * size,
        family=(shard % 3).astype(np.int8),
        codes=np.repeat(codes, size, axis=1),
        times=_times(rng, user, size),
        vectors=_vectors(rng, shards, size),
        bags=_bags(tokens),
        lines=_lines(tokens),
        shard_names=(f"user{u}/shard{s:05}" for s, u in zip(shard, user, strict=True)),
    )
    del tokens
    write_generation(folder, 0, segment, names, _rights(rng), {"encoder": "made up"})
    assert segment.items == count


def words_of(text: str) -> list[str]:
    """The distinct words of an item's text."""
    return sorted(set(text.split()))


def _tokens(rng: np.random.Generator, shards: int, size: int) -> NDArray[np.int32]:
    """Words of items by number, (items, 12): half of the shard's own, half of everybody's by Zipf's law."""
    own = rng.integers(_WORDS, size=(shards, _OWN_WORDS))
    picks = rng.integers(_OWN_WORDS, size=(shards * size, _PER_ITEM // 2))
    chosen = own[np.repeat(np.arange(shards), size)[:, None], picks]
    common = (_WORDS ** rng.random(size=chosen.shape)).astype(np.int64) - 1
    return np.concatenate([chosen, common], axis=1).astype(np.int32)


def _times(rng: np.random.Generator, user: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """A user's shards follow one another; the items of one are spread over its weeks, in order."""
    shards = len(user)
    place = np.arange(shards) - np.searchsorted(user, user)
    span = WEEKS * _WEEK * USERS / shards
    within = np.sort(rng.random(size=(shards, size)), axis=1)
    return (START + (place[:, None] + within) * span).astype(np.int64).ravel()


def _vectors(rng: np.random.Generator, shards: int, size: int) -> NDArray[np.int16]:
    centres = rng.normal(size=(shards, DIMENSIONS)).astype(np.float32)
    made = np.empty((shards * size, DIMENSIONS), dtype=np.int16)
    for begin in range(0, len(made), _CHUNK):
        rows = np.arange(begin, min(begin + _CHUNK, len(made)))
        raw = centres[rows // size] + rng.standard_normal(size=(len(rows), DIMENSIONS), dtype=np.float32)
        raw *= GRID / np.linalg.norm(raw, axis=1, keepdims=True)
        made[rows] = np.rint(raw)
    return made


def _bags(tokens: NDArray[np.int32]) -> Bags:
    """Terms of every item, ascending, with counts."""
    hashed = np.array([term(f"w{n}") for n in range(_WORDS)], dtype=np.uint64)
    rows = np.sort(hashed[tokens], axis=1)
    fresh = np.ones(rows.shape, dtype=bool)
    fresh[:, 1:] = rows[:, 1:] != rows[:, :-1]
    begin = np.flatnonzero(fresh.ravel())
    counts = np.diff(np.append(begin, rows.size))
    return fresh.sum(axis=1), rows.ravel()[begin], counts.astype(np.uint16)


def _lines(tokens: NDArray[np.int32]) -> Iterator[bytes]:
    for number, row in enumerate(tokens.tolist()):
        text = " ".join(f"w{n}" for n in row)
        yield json.dumps({"id": f"item{number}", "text": text, "cites": [], "context": ""}).encode()


def _rights(rng: np.random.Generator) -> Rights:
    """Every principal holds about half of the labels."""
    rights = Rights()
    for principal in range(PRINCIPALS):
        for label in range(LABELS):
            if rng.random() < 0.5:
                event = {"kind": "grant", "principal": f"agent{principal}", "label": f"label{label}", "n": 0, "at": 0.0}
                rights.take(event)
    return rights
