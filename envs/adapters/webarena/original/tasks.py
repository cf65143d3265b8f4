"""WebArena's own tasks, as `libwebarena` holds them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import JsonValue

from rebind.envs.adapters.pairs import bindings
from rebind.envs.adapters.webarena import stub
from rebind.envs.adapters.webarena.original.install import dataset, missing
from rebind.envs.adapters.webarena.sites import SITES, addresses
from rebind.errors import UserError
from rebind.types import Binding, ToolCall

STUB_TASKS = (45, 46, 132, 133)
"""Tasks that can be done on the stub site, whose judge is no model."""


@dataclass(frozen=True)
class OriginalTask:
    """One task; on the real sites, or on the stub site of our own."""

    id: int
    template: int
    goal: str
    values: Mapping[str, JsonValue]
    judged: bool
    """Whether a model compares the answer."""
    stub: bool

    @property
    def family(self) -> str:
        """The intent's template; tasks on the stub site are never called WebArena's."""
        return f"{'webarena-stub' if self.stub else 'webarena'}/{self.template}"

    def bindings(self) -> tuple[Binding, ...]:
        """What fills the template's places."""
        return bindings([ToolCall(tool=self.family, args=dict(self.values))])


def sites(stubbed: bool) -> dict[str, str]:
    """The addresses of the real sites; or of the stub's, where those that it lacks lead to one that it has."""
    if not stubbed:
        return addresses()
    here = stub.addresses()
    return {site: here.get(site, here["gitlab"]) for site in SITES}


def tasks(judge: bool) -> Iterator[OriginalTask]:
    """All where any real site has an address, without those that need a judge where there is none; else those of the
    stub site. None where the package is not installed."""
    if missing() is not None:
        return
    stubbed = not addresses()
    for one in _all(dataset(), stubbed):
        if one.id in STUB_TASKS if stubbed else judge or not one.judged:
            yield one


def task(number: int, stubbed: bool) -> OriginalTask:
    """Raises UserError where there is no such task, or the stub site does not serve it."""
    found = [one for one in _all(dataset(), stubbed) if one.id == number]
    if not found or (stubbed and number not in STUB_TASKS):
        raise UserError(f"no task {number} {'on the stub site' if stubbed else 'in WebArena'}")
    return found[0]


@lru_cache(maxsize=4)
def _all(path: Path, stubbed: bool) -> tuple[OriginalTask, ...]:
    return tuple(
        OriginalTask(
            raw["task_id"],
            raw["intent_template_id"],
            raw["intent"],
            raw["instantiation_dict"],
            "fuzzy_match" in (raw["eval"]["reference_answers"] or {}),
            stubbed,
        )
        for raw in json.loads(path.read_text(encoding="utf-8"))
    )
