"""Task instances of templates, and the binding-shift pairs that they make."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from rebind.envs.adapters.pairs import changed, level
from rebind.types import SHIFT_LEVELS, ShiftLevel


@dataclass(frozen=True)
class Instance:
    """One task of a benchmark: its template, its id there, and the values that fill the template's places."""

    template: str
    id: str
    goal: str | None
    """None where the benchmark words the goal only when it runs."""
    values: Mapping[str, JsonValue]


@dataclass(frozen=True)
class Pair:
    """An ordered pair of one template's instances."""

    source: Instance
    target: Instance
    level: ShiftLevel
    changed: tuple[str, ...]

    def row(self) -> dict[str, Any]:
        """As it is written to a file."""
        return {
            "template": self.source.template,
            "source": self.source.id,
            "target": self.target.id,
            "level": self.level,
            "changed": [
                {"name": n, "source": self.source.values.get(n), "target": self.target.values.get(n)}
                for n in self.changed
            ],
            "source_goal": self.source.goal,
            "target_goal": self.target.goal,
        }


def count(instances: Sequence[Instance]) -> dict[str, Any]:
    """`instances`, `templates`; `templates_with_pairs`: with at least two different instances; `instances_with_pairs`:
    with another of its template that differs; `ordered_pairs` of one template's instances, `by_level`."""
    by_level: Counter[str] = Counter(dict.fromkeys(SHIFT_LEVELS, 0))
    templates, with_pairs, differing = _by_template(instances), 0, 0
    for members in templates.values():
        codes = _codes(members)
        moved = 0
        for at in range(len(members)):
            counts = (codes != codes[at]).sum(axis=1)
            for n, times in Counter(np.delete(counts, at).tolist()).items():
                by_level[level(("",) * n, codes.shape[1])] += times
            moved += bool(counts.any())
        differing += moved
        with_pairs += moved > 0
    return {
        "instances": len(instances),
        "templates": len(templates),
        "templates_with_pairs": with_pairs,
        "instances_with_pairs": differing,
        "ordered_pairs": sum(by_level.values()),
        "by_level": dict(by_level),
    }


def one_a_level(instances: Sequence[Instance]) -> Iterator[Pair]:
    """For each instance the first partner after it, round in a circle, at each level that its template has."""
    for members in _by_template(instances).values():
        codes = _codes(members)
        for at, source in enumerate(members):
            counts, seen = (codes != codes[at]).sum(axis=1), set[ShiftLevel]()
            for other in (*range(at + 1, len(members)), *range(at)):
                found = level(("",) * int(counts[other]), codes.shape[1])
                if found not in seen:
                    seen.add(found)
                    target = members[other]
                    yield Pair(source, target, found, changed(source.values, target.values))
                if len(seen) == len(SHIFT_LEVELS):
                    break


def _by_template(instances: Sequence[Instance]) -> dict[str, list[Instance]]:
    found: dict[str, list[Instance]] = {}
    for one in instances:
        found.setdefault(one.template, []).append(one)
    return found


def _codes(members: Sequence[Instance]) -> npt.NDArray[np.int32]:
    """(instances, places): equal numbers where values are equal; a place without a value is a value of its own."""
    names = list(dict.fromkeys(name for one in members for name in one.values))
    known: list[dict[str, int]] = [{} for _ in names]
    rows = [
        [
            codes.setdefault(json.dumps(one.values[name], sort_keys=True) if name in one.values else "", len(codes))
            for name, codes in zip(names, known, strict=True)
        ]
        for one in members
    ]
    return np.array(rows, dtype=np.int32).reshape(len(members), len(names))
