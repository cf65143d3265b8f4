"""Calls of one kind that a trace repeats become one step over rows, so that a procedure is the same however many there
were: ten files moved and nine files moved are one skill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from rebind.memory.skill.events import Event
from rebind.memory.skill.reads import finishes, only_reads
from rebind.memory.skill.refs import Const, Hole, Ref, Several, Template, flows


@dataclass(frozen=True)
class Planned:
    """A step to be: one call, or one call for each row."""

    event: int
    """The event it comes from; of several the last, by when all that they read from has happened."""
    args: Mapping[str, Ref]
    """What all calls share."""
    rows: tuple[Mapping[str, JsonValue], ...] = ()
    """Of a repeated call: the source's own values of what differs, in order."""


def folded(
    happened: Sequence[Event], references: Mapping[int, Mapping[str, Ref]], *, late: bool = False, apart: bool = False
) -> list[Planned]:
    """The steps of a procedure, in order. Calls that write with the same tool and argument names, from whose results
    nothing is read, become one step where all that differs between them is given by the caller. With `late` such steps
    go to the end, ordered by tool, so that the procedure does not depend on which kind of call came last. With `apart`
    every call stays a step of its own, as where each works on the page that the one before it left.

    Folding moves calls past one another; whether the source's task stands it is for its validation to tell.
    """
    if apart:
        return [Planned(event, args) for event, args in references.items()]
    read = frozenset[int]().union(*(flows(ref) for args in references.values() for ref in args.values()))
    alike: dict[tuple[str, ...], list[int]] = {}
    for event, args in references.items():
        tool = happened[event].tool
        if event not in read and not only_reads(tool):
            alike.setdefault((tool, *sorted(args)), []).append(event)
    last: dict[int, Planned] = {}
    gone: set[int] = set()
    for events in alike.values():
        repeated = _rows(happened, references, events)
        if repeated is not None:
            last[events[-1]] = repeated
            gone.update(events[:-1])
    plan = [last.get(event) or Planned(event, args) for event, args in references.items() if event not in gone]
    return _late(plan, happened) if late else plan


def _late(plan: Sequence[Planned], happened: Sequence[Event]) -> list[Planned]:
    """Repeated calls last, but for the call that declares the task done."""
    ends = [step for step in plan if finishes(happened[step.event].tool)]
    rows = sorted((s for s in plan if s.rows), key=lambda s: (happened[s.event].tool, sorted(s.rows[0])))
    return [*(s for s in plan if not s.rows and s not in ends), *rows, *ends]


def _rows(
    happened: Sequence[Event], references: Mapping[int, Mapping[str, Ref]], events: Sequence[int]
) -> Planned | None:
    """One step for several calls; None where there is but one, or where a result decides what differs."""
    if len(events) < 2:
        return None
    first = references[events[0]]
    varying = [key for key, ref in first.items() if _found(ref) or any(references[e][key] != ref for e in events)]
    if not varying or not all(_given(references[e][key]) for e in events for key in varying):
        return None
    rows = tuple({key: happened[e].args[key] for key in varying} for e in events)
    return Planned(events[-1], {key: ref for key, ref in first.items() if key not in varying}, rows)


def _found(ref: Ref) -> bool:
    """Whether the caller looks it up: that it is the same in all calls of one trace may be chance."""
    return isinstance(ref, Hole) and ref.provenance == "observation"


def _given(ref: Ref) -> bool:
    """Whether a reference needs no result: the caller gives it, or it is a constant."""
    if isinstance(ref, Several):
        return all(map(_given, ref.items))
    return isinstance(ref, Const | Hole) or (isinstance(ref, Template) and not flows(ref))
