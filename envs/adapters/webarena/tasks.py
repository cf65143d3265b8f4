"""The tasks of `webarena-verified`, as its data file holds them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import JsonValue

from rebind.envs.adapters.pairs import bindings
from rebind.envs.adapters.webarena.install import dataset, missing
from rebind.envs.adapters.webarena.sites import TASK_SITES, addresses
from rebind.envs.adapters.webarena.stub import TASKS
from rebind.errors import UserError
from rebind.types import Binding, ToolCall

_FORM = """

When you are done, call send_msg_to_user with one JSON object as its text and nothing else:
{"task_type": "RETRIEVE", "MUTATE" or "NAVIGATE" (what the task is about),
 "status": "SUCCESS", "NOT_FOUND_ERROR", "ACTION_NOT_ALLOWED_ERROR", "PERMISSION_DENIED_ERROR",
   "DATA_VALIDATION_ERROR" or "UNKNOWN_ERROR",
 "retrieved_data": a list with what was asked for, or null where nothing was,
 "error_details": null, or why it was no success}"""


_UNSOLVABLE = (319,)
"""The evaluator of 1.2.3 wants a key that it takes out of every answer."""


@dataclass(frozen=True)
class WebArenaTask:
    """One task; on the real sites, or on the stub site of our own."""

    id: int
    template: int
    sites: tuple[str, ...]
    starts: tuple[str, ...]
    """Addresses with the sites' names in their places: `__GITLAB__/explore`."""
    intent: str
    values: Mapping[str, JsonValue]
    stub: bool

    @property
    def family(self) -> str:
        """The intent's template; tasks on the stub site are never called WebArena's."""
        return f"{'webarena-stub' if self.stub else 'webarena-verified'}/{self.template}"

    @property
    def goal(self) -> str:
        return self.intent + _FORM

    def bindings(self) -> tuple[Binding, ...]:
        """What fills the template's places."""
        return bindings([ToolCall(tool=self.family, args=dict(self.values))])

    def addresses(self, sites: Mapping[str, str]) -> tuple[str, ...]:
        """Where it starts."""
        found = []
        for one in self.starts:
            for site, url in sites.items():
                one = one.replace(f"__{site.upper()}__", url)  # noqa: PLW2901 - one address may name two sites
            found.append(one)
        return tuple(found)


def tasks() -> Iterator[WebArenaTask]:
    """Tasks that can be run: those whose sites all have an address; those of the stub site where no site has one; none
    where the package is not installed."""
    if missing() is not None:
        return
    here, stub = set(addresses()), not official()
    for one in _all(dataset(), stub):
        if one.id in TASKS if stub else one.id not in _UNSOLVABLE and here.issuperset(one.sites):
            yield one


def official() -> bool:
    """Whether there is an address of any of the real sites."""
    return any(site in TASK_SITES for site in addresses())


def task(number: int, stub: bool) -> WebArenaTask:
    """Raises UserError where the package has no such task, or the stub site does not serve it."""
    found = [one for one in _all(dataset(), stub) if one.id == number]
    if not found or (stub and number not in TASKS):
        raise UserError(f"no task {number} {'on the stub site' if stub else 'in webarena-verified'}")
    return found[0]


@lru_cache(maxsize=4)
def _all(path: Path, stub: bool) -> tuple[WebArenaTask, ...]:
    return tuple(
        WebArenaTask(
            raw["task_id"],
            raw["intent_template_id"],
            tuple(raw["sites"]),
            tuple(raw["start_urls"]),
            raw["intent"],
            raw["instantiation_dict"],
            stub,
        )
        for raw in json.loads(path.read_text(encoding="utf-8"))
    )
