"""τ²'s tasks as the package ships them, read as data: goals, gold calls, families, bindings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rebind.canon import digest
from rebind.envs.adapters.pairs import bindings
from rebind.envs.adapters.tau2.install import PLACE
from rebind.errors import UserError
from rebind.types import Binding, ToolCall

DOMAINS = ("airline", "retail", "telecom")
SOLO = ("telecom",)
"""Domains that τ² lets an agent solve from a ticket, with the customer's own tools besides its own."""
_REFUSED = frozenset({("retail", "12"), ("retail", "105")})
"""Tasks of this version whose gold writes the tools themselves refuse, so that doing nothing is right."""
_READING = ("calculate", "check_", "find_", "get_", "list_", "search_", "think", "transfer_")


@dataclass(frozen=True)
class Tau2Task:
    """A task: what the customer wants, the calls that do it, and what the customer must be told."""

    domain: str
    id: str
    scenario: str
    """What the customer knows and wants, in the package's words; a ticket where the domain is solved alone."""
    calls: tuple[ToolCall, ...]
    told: tuple[str, ...]

    @property
    def family(self) -> str:
        """Domain, the tools that write, and a digest of the whole sequence."""
        tools = [call.tool for call in self.calls]
        writing = "+".join(dict.fromkeys(t for t in tools if writes(t))) or "tell"
        return f"tau2/{self.domain}/{writing[:60]}/{digest(tools)[:8]}"

    @property
    def solo(self) -> bool:
        return self.domain in SOLO

    def bindings(self) -> tuple[Binding, ...]:
        """The values of the gold calls."""
        return bindings(self.calls)


def tasks(domain: str | None = None) -> tuple[Tau2Task, ...]:
    """The tasks of τ²'s `base` split whose doing can be told from doing nothing: a gold call writes, or something must
    be told. Empty where the package is not installed."""
    if not PLACE.ready():
        return ()
    return tuple(task for name in ((domain,) if domain else DOMAINS) for task in _of(name))


def task(domain: str, name: str) -> Tau2Task:
    """Raises UserError where there is none."""
    for one in tasks(domain) if domain in DOMAINS else ():
        if one.id == name:
            return one
    raise UserError(f"τ² has no task {name!r} in {domain!r} that can be run here")


def writes(tool: str) -> bool:
    """Whether a tool changes anything, by its name; `rebind envs check tau2` proves that no task slips through."""
    return not tool.startswith(_READING)


@lru_cache(maxsize=len(DOMAINS))
def _of(domain: str) -> tuple[Tau2Task, ...]:
    folder = _data(domain)
    base = set(_read(folder / "split_tasks.json")["base"])
    made = (_task(domain, raw) for raw in _read(folder / "tasks.json") if raw["id"] in base)
    return tuple(
        one
        for one in made
        if (one.told or any(writes(call.tool) for call in one.calls)) and (domain, one.id) not in _REFUSED
    )


def _task(domain: str, raw: dict[str, Any]) -> Tau2Task:
    criteria = raw["evaluation_criteria"]
    return Tau2Task(
        domain=domain,
        id=raw["id"],
        scenario=raw["ticket"] if domain in SOLO else _scenario(raw["user_scenario"]),
        calls=tuple(ToolCall(tool=a["name"], args=a["arguments"]) for a in criteria.get("actions") or ()),
        told=tuple(criteria.get("communicate_info") or ()),
    )


def _scenario(raw: dict[str, Any]) -> str:
    instructions = raw["instructions"]
    if isinstance(instructions, str):
        return instructions
    parts = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
    return "\n".join(str(instructions[part]) for part in parts if instructions.get(part))


def _data(domain: str) -> Path:
    found = sorted(PLACE.folder.glob("[Ll]ib/**/site-packages/tau2/data/tau2/domains"))
    if not found:
        raise UserError(f"{PLACE.folder} holds no data of τ²; run `rebind envs install tau2` again")
    return found[0] / domain


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
