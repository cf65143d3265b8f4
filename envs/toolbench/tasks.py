"""Recorded runs that found an answer, as tasks: the query is the goal, the calls on the way are the milestones."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rebind.canon import digest
from rebind.envs.adapters.datasets import dataset
from rebind.envs.adapters.pairs import bindings
from rebind.envs.toolbench.load import load
from rebind.envs.toolbench.responses import Responses
from rebind.envs.toolbench.trace import Trace
from rebind.errors import UserError, did_you_mean
from rebind.types import Binding, ToolCall

VARIABLE = "REBIND_TOOLBENCH"
"""Folders of the data, as PATH has them; without it, those of `rebind data get`."""
_NAMES = ("toolbench", "stabletoolbench")


@dataclass(frozen=True)
class ToolbenchTask:
    """One of them."""

    trace: Trace
    calls: tuple[ToolCall, ...]
    """Distinct calls on the way to the recorded answer, of functions that the query offers, that got an answer without
    an error."""

    @property
    def id(self) -> str:
        return digest(self.trace.query)[:16]

    @property
    def family(self) -> str:
        """The functions in order."""
        tools = [call.tool for call in self.calls]
        return f"toolbench/{'+'.join(dict.fromkeys(tools))[:60]}/{digest(tools)[:8]}"

    def bindings(self) -> tuple[Binding, ...]:
        """The values of the calls."""
        return bindings(self.calls)


@dataclass(frozen=True)
class Library:
    """All tasks by id, and the recorded answers."""

    tasks: Mapping[str, ToolbenchTask]
    responses: Responses

    def task(self, name: str) -> ToolbenchTask:
        """Raises UserError where there is none."""
        if name not in self.tasks:
            raise UserError(f"the ToolBench data here have no task {name!r}")
        return self.tasks[name]

    def families(self) -> Mapping[str, tuple[ToolbenchTask, ...]]:
        found: dict[str, list[ToolbenchTask]] = {}
        for one in self.tasks.values():
            found.setdefault(one.family, []).append(one)
        return {name: tuple(found[name]) for name in sorted(found)}

    def family(self, name: str) -> tuple[ToolbenchTask, ...]:
        """Raises UserError for an unknown family."""
        known = self.families()
        if name not in known:
            raise UserError(f"no task family {name!r}{did_you_mean(name, known)}")
        return known[name]


def folders() -> tuple[Path, ...]:
    """Where the data lie, as far as they are there."""
    named = os.environ.get(VARIABLE)
    places = [Path(p) for p in named.split(os.pathsep)] if named else [dataset(name).folder for name in _NAMES]
    return tuple(place for place in places if place.is_dir())


def library() -> Library:
    """The library of `folders()`. Raises UserError where there are none."""
    places = folders()
    if not places:
        raise UserError(missing() or "")
    return _library(places)


def missing() -> str | None:
    """Why it cannot run here, and what to do; None where it can."""
    if folders():
        return None
    return f"no data of ToolBench: run `rebind data get toolbench`, or name their folder in {VARIABLE}"


@lru_cache(maxsize=2)
def _library(places: tuple[Path, ...]) -> Library:
    traces = [trace for place in places for trace in load(place).traces]
    return Library({one.id: one for one in reversed(_tasks(traces))}, Responses(traces))


def _tasks(traces: Sequence[Trace]) -> list[ToolbenchTask]:
    made = []
    for trace in traces:
        calls: list[ToolCall] = []
        offered = {spec.name for spec in trace.tools}
        for call in trace.path:
            one = ToolCall(tool=call.tool, args=dict(call.args or {}))
            if call.ok and call.args is not None and call.response and call.tool in offered and one not in calls:
                calls.append(one)
        if trace.finish == "give_answer" and trace.answer and calls:
            made.append(ToolbenchTask(trace, tuple(calls)))
    return made
