"""A ledger's lines, decoded as far as a report needs: prompts, schemas, worked turns and what a step returned never
become objects. Where something was redacted, a mark stands in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypedDict, TypeVar, cast, get_args

import msgspec

from rebind.errors import LedgerError
from rebind.types import EventKind

REDACTED = "[redacted]"


class _Usage(TypedDict):
    prompt: int | None
    completion: int | None
    cached: int | None
    reasoning: int | None


class _Try(TypedDict):
    error: str | None
    usage: _Usage
    cost: float | None


class _Completion(TypedDict):
    usage: _Usage
    attempts: list[_Try]
    replayed: bool
    finish: str


class CallRow(_Completion):
    """Of a `call` event: what the token account reads."""

    mem_tokens: int | None


class SupportRow(TypedDict):
    """Of a `support` event: what a page shows and the token account reads."""

    text: str
    note: dict[str, str] | str | None
    flags: list[str]
    completions: list[_Completion]


class _Status(msgspec.Struct, gc=False):
    status: int


class StepCount(msgspec.Struct, gc=False):
    """Of a `step` event: where it stands, and how many API calls it made."""

    index: int
    calls: list[_Status]


class CallMade(msgspec.Struct, gc=False):
    """One API call of a step; its result is still JSON."""

    args: dict[str, Any]
    status: int
    result: msgspec.Raw


class ShownStep(msgspec.Struct, gc=False):
    """A step with all that a page shows of it."""

    index: int
    action: dict[str, Any] | None
    observation: str
    calls: list[_Status]
    error: str | None


class StepRow(msgspec.Struct, gc=False):
    """A whole step."""

    index: int
    action: dict[str, Any] | None
    observation: str
    calls: list[CallMade]
    error: str | None


class Line(msgspec.Struct, tag_field="kind", gc=False):
    """An event; see `rebind.types.Event`."""

    kind: ClassVar[EventKind]
    n: int
    at: float
    cell: str | None
    attempt: int | None
    hash: str
    data: Any
    redacted: list[str]


class CallLine(Line, tag="call", gc=False):
    kind: ClassVar[EventKind] = "call"
    data: CallRow


class StepLine(Line, tag="step", gc=False):
    kind: ClassVar[EventKind] = "step"
    data: StepCount


class SupportLine(Line, tag="support", gc=False):
    kind: ClassVar[EventKind] = "support"
    data: SupportRow


class _WholeStep(Line, tag="step", gc=False):
    kind: ClassVar[EventKind] = "step"
    data: StepRow


class _ShownStep(Line, tag="step", gc=False):
    kind: ClassVar[EventKind] = "step"
    data: ShownStep


_L = TypeVar("_L", bound=Line)
_TYPED: tuple[type[Line], ...] = (CallLine, StepLine, SupportLine)
_REST = tuple(
    msgspec.defstruct(f"{kind.title()}Line", [], bases=(Line,), namespace={"kind": kind}, tag=kind)
    for kind in get_args(EventKind)
    if kind not in {made.kind for made in _TYPED}
)
_KINDS: Any = (*_TYPED, *_REST)
_ALL: Any = _KINDS[0]
for _kind in _KINDS[1:]:
    _ALL = _ALL | _kind
_decode = msgspec.json.Decoder(_ALL).decode
_BY_KIND = {made.kind.encode(): msgspec.json.Decoder(made).decode for made in _KINDS}
_decode_whole = msgspec.json.Decoder(_WholeStep).decode
_decode_shown = msgspec.json.Decoder(_ShownStep).decode


def read_lines(path: Path, start: int = 0, end: int | None = None) -> Iterator[tuple[bytes, Line]]:
    """The lines of a ledger file in order, with their events, while it runs too: a last line that is still being
    written is left out. Checks the form of every line; `verify` checks the hashes.

    Args:
        start: byte at which the first line begins.
        end: byte at which the last line has ended; None for the file's end.

    Raises:
        LedgerError: a line is no event; names it.
    """
    at = start
    with path.open("rb", buffering=1 << 20) as lines:
        lines.seek(start)
        for line in lines:
            if not line.endswith(b"\n") or (end is not None and at >= end):
                return
            at += len(line)
            yield line, decode(line)


def decode(line: bytes) -> Line:
    """The event on a line.

    Raises:
        LedgerError: the line is none.
    """
    at = line.rfind(b'"kind":"') + 8  # it stands after the data: a decoder of all kinds would go over those twice
    found: Line = _decoded(line, _BY_KIND.get(line[at : line.find(b'"', at)], _decode), _ALL)
    return found


def whole_step(line: bytes) -> StepRow:
    """The step of the `step` event on a line."""
    return _decoded(line, _decode_whole, _WholeStep).data


def shown_step(line: bytes) -> ShownStep:
    """What is shown of the `step` event on a line."""
    return _decoded(line, _decode_shown, _ShownStep).data


def step_row(data: Mapping[str, Any]) -> StepRow:
    """A dumped `Step` with its `index`, as `whole_step` gives it."""
    return msgspec.json.decode(msgspec.json.encode(data), type=StepRow)


def _decoded(line: bytes, decode: Callable[[bytes], _L], kind: Any) -> _L:
    try:
        found = decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return cast("_L", _other(line, kind))
    return cast("_L", _other(line, kind)) if found.redacted else found


def _other(line: bytes, kind: Any) -> Any:
    """An event some fields of which are redacted: a mark stands where they were."""
    try:
        event = msgspec.json.decode(line)
        redacted = event["redacted"]
        if not redacted:
            raise KeyError
        event["data"] = _mended(event["kind"], readable(event["data"]))
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError):
        what = f"this is no event of a ledger: {line[:80].decode('utf-8', 'replace')}…"
        raise LedgerError(f"{what} `rebind ledger verify` says what was changed, and where") from None
    try:
        return msgspec.json.decode(msgspec.json.encode(event), type=kind)
    except msgspec.ValidationError:
        where = f"event {event['n']} ({event['kind']}) was redacted at {', '.join(redacted)}"
        raise LedgerError(f"{where}: the tables cannot be had without it") from None


def _mended(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    """A step's data with marks of the types they stand for."""
    if kind != "step":
        return data
    action, calls = data["action"], data["calls"]
    if action == REDACTED:
        action = {"code": REDACTED}
    elif action and action.get("args") == REDACTED:
        action["args"] = {"args": REDACTED}
    gone = {"args": {}, "status": 0, "result": REDACTED}
    return {**data, "action": action, "calls": [gone if c == REDACTED else c for c in calls if calls != REDACTED]}


def readable(value: Any) -> Any:
    """A JSON value with a mark in the place of each redacted part."""
    if isinstance(value, dict):
        return REDACTED if value.keys() == {"redacted"} else {k: readable(v) for k, v in value.items()}
    return [readable(v) for v in value] if isinstance(value, list) else value
