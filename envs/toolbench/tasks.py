"""Recorded runs that found an answer, as tasks: the query is the goal, the calls on the way are the milestones."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from rebind.canon import digest
from rebind.envs.adapters.datasets import dataset
from rebind.envs.adapters.pairs import bindings
from rebind.envs.adapters.variants import by_family
from rebind.envs.toolbench.load import load
from rebind.envs.toolbench.responses import Responses
from rebind.envs.toolbench.trace import Trace
from rebind.errors import UserError
from rebind.types import Binding, ToolCall

VARIABLE = "REBIND_TOOLBENCH"
"""Folders of the data, as PATH has them; without it, those of `rebind data get`."""
_NAMES = ("toolbench", "stabletoolbench")


@dataclass(frozen=True)
class ToolbenchTask:
    """One of them."""

    trace: Trace
    calls: tuple[ToolCall, ...]
    """Distinct calls on the way to the recorded answer, of functions that the query offers, that got an answer in which
    no error is seen."""
    cut: bool
    """Whether upstream cut the answer to one of them."""

    @property
    def id(self) -> str:
        return digest(self.trace.query)[:16]

    @property
    def family(self) -> str:
        """The functions called, whatever their order. Tasks with cut answers are never called ToolBench's."""
        tools = sorted({call.tool for call in self.calls})
        return f"toolbench{'-cut' if self.cut else ''}/{'+'.join(tools)[:60]}/{digest(tools)[:8]}"

    def bindings(self) -> tuple[Binding, ...]:
        """The values of the calls, in the order of the functions' names: two runs need not call in one order."""
        return bindings(sorted(self.calls, key=lambda call: call.tool))


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

    @cached_property
    def families(self) -> Mapping[str, tuple[ToolbenchTask, ...]]:
        """In order of their names."""
        return by_family(self.tasks.values())


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
    tasks: dict[str, ToolbenchTask] = {}
    for one in _tasks(traces):  # of several runs of a query the first whose answers are whole
        if one.id not in tasks or (tasks[one.id].cut and not one.cut):
            tasks[one.id] = one
    return Library(tasks, Responses(traces))


def _tasks(traces: Sequence[Trace]) -> Iterator[ToolbenchTask]:
    """A task of every trace that answers, and of which no call is lost that may have led to the answer."""
    for trace in traces:
        offered = {spec.name for spec in trace.tools}
        good = [call for call in trace.path if call.ok is not False]
        if not (trace.finish == "give_answer" and trace.answer) or any(call.args is None for call in good):
            continue
        led = [call for call in good if call.tool in offered and (call.response or call.cut)]
        made = [ToolCall(tool=call.tool, args=dict(call.args or {})) for call in led]
        if made:
            distinct = {digest([call.tool, call.args]): call for call in made}
            yield ToolbenchTask(trace, tuple(distinct.values()), any(call.cut for call in led))
