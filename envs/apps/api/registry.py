"""The one way an API of the app world is declared, checked and called.

An API is a plain function `(db, **arguments) -> JSON`, registered with `@api`; its signature and docstring are its
documentation, its annotations its checks. The docstring's first line is the summary; a paragraph that begins with
"Returns" says what comes back. A call the agent got wrong ends in a `Call` with an HTTP-like status, never in an
exception; an exception that leaves `call` is a defect of ours.
"""

from __future__ import annotations

import inspect
import sqlite3
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args, get_origin

from pydantic import JsonValue

from rebind.envs.apps.api.values import NotJson, as_json
from rebind.errors import did_you_mean
from rebind.types import Call, ToolSpec

Db = sqlite3.Connection

APPS: dict[str, str] = {
    "supervisor": "The person you act for: their profile, access tokens for their apps, and declaring a task done",
    "api_docs": "Documentation of all APIs: find an API and read its parameters",
    "contacts": "Address book: people, their details and groups",
    "mail": "E-mail: search, read, send, reply, labels, folders, drafts",
    "calendar": "Events, their attendees and free time",
    "notes": "Notes in notebooks, with tags",
    "files": "Text files in folders, and whom they are shared with",
    "chat": "Direct and group chats with contacts",
    "bank": "Bank accounts, transactions, payees, transfers, standing orders, payment requests",
    "shop": "Online shop: products, cart, orders, reviews, coupons, wishlist",
    "todo": "Task lists and their tasks",
    "music": "Songs and playlists",
}
"""Every app of the world, in the order in which they are listed."""
OPEN_APPS = ("supervisor", "api_docs")
"""Apps that need no access token."""

MAX_TEXT = 20_000
"""Characters that one text argument may have."""


class ApiError(Exception):
    """An API's refusal: an HTTP-like status and the reason, both shown to the agent."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str
    """One of text, integer, number, boolean, list of text."""
    required: bool
    default: JsonValue
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Api:
    app: str
    name: str
    """Full tool name, e.g. mail_search."""
    summary: str
    details: str
    """The rest of the documentation; empty where the summary says it all."""
    parameters: tuple[Parameter, ...]
    function: Callable[..., JsonValue]
    writes: bool

    @cached_property
    def spec(self) -> ToolSpec:
        """As a tool for the prompt."""
        return tool_spec(self)

    @property
    def needs_token(self) -> bool:
        return self.app not in OPEN_APPS


REGISTRY: dict[str, Api] = {}

_SCALARS: dict[Any, str] = {str: "text", int: "integer", float: "number", bool: "boolean"}
_SHOWN = 80
_JSON_TYPES = {"text": "string", "integer": "integer", "number": "number", "boolean": "boolean"}


def api(app: str, *, writes: bool = False) -> Callable[[Callable[..., JsonValue]], Callable[..., JsonValue]]:
    """Registers a function `verb(db, *, …)` as `app_verb`; a trailing underscore of its name is dropped.

    Raises ValueError where the app is unknown, the name is taken, or the docstring is missing.
    """
    if app not in APPS:
        raise ValueError(f"no app {app!r}{did_you_mean(app, APPS)}")

    def register(function: Callable[..., JsonValue]) -> Callable[..., JsonValue]:
        name = f"{app}_{function.__name__.rstrip('_')}"
        summary, _, details = (inspect.getdoc(function) or "").partition("\n")
        if name in REGISTRY or not summary:
            raise ValueError(f"API {name} is registered twice or has no docstring")
        hints = typing.get_type_hints(function)
        parameters = [_parameter(p, hints[p.name]) for p in list(inspect.signature(function).parameters.values())[1:]]
        if app not in OPEN_APPS:
            parameters.append(Parameter("access_token", "text", True, None))
        REGISTRY[name] = Api(app, name, summary, details.strip(), tuple(parameters), function, writes)
        return function

    return register


def _parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    choices: tuple[str, ...] = ()
    if get_origin(hint) in (typing.Union, types.UnionType):
        hint = next(a for a in get_args(hint) if a is not type(None))
    if get_origin(hint) is Literal:
        choices, hint = get_args(hint), str
    kind = "list of text" if get_origin(hint) is list else _SCALARS[hint]
    required = parameter.default is inspect.Parameter.empty
    return Parameter(parameter.name, kind, required, None if required else parameter.default, choices)


def tool_spec(one: Api) -> ToolSpec:
    """An API as a tool for the prompt: summary and a JSON schema of its arguments."""
    properties: dict[str, JsonValue] = {}
    for p in one.parameters:
        schema: dict[str, JsonValue]
        if p.type == "list of text":
            schema = {"type": "array", "items": {"type": "string"}}
        else:
            schema = {"type": _JSON_TYPES[p.type]}
        if p.choices:
            schema["enum"] = list(p.choices)
        properties[p.name] = schema
    required: list[JsonValue] = [p.name for p in one.parameters if p.required]
    return ToolSpec(
        name=one.name,
        description=one.summary,
        parameters={"type": "object", "properties": properties, "required": required, "additionalProperties": False},
    )


def call(db: Db, tool: str, args: Mapping[str, Any]) -> Call:
    """Calls an API by name: checks arguments and token, runs it in a savepoint, rolls back what it refused.

    Arguments that JSON cannot hold are refused (422) and left out of the Call's `args`.
    """
    clean: dict[str, JsonValue] = {}
    faults: list[str] = []
    for name, value in args.items():
        try:
            clean[name] = as_json(value)
        except NotJson as fault:
            faults.append(f"{name} of {tool} is {fault}")
    try:
        if faults:
            raise ApiError(422, faults[0])
        return Call(tool=tool, args=clean, status=200, result=_dispatch(db, tool, clean))
    except ApiError as refusal:
        return Call(tool=tool, args=clean, status=refusal.status, result={"error": refusal.reason})


def _dispatch(db: Db, tool: str, args: Mapping[str, JsonValue]) -> JsonValue:
    if db.execute("SELECT 1 FROM completion").fetchone():
        raise ApiError(422, "the task is already completed: nothing can be called any more")
    one = REGISTRY.get(tool)
    if one is None:
        raise ApiError(404, f"no API {tool!r}{did_you_mean(tool, REGISTRY)}")
    checked = _check(one, args)
    if one.needs_token:
        _authorise(db, one, checked.pop("access_token", None))
    db.execute("SAVEPOINT api")
    try:
        result = one.function(db, **checked)
    except BaseException:
        db.execute("ROLLBACK TO api")
        db.execute("RELEASE api")
        raise
    db.execute("RELEASE api")
    return result


def _authorise(db: Db, one: Api, token: JsonValue) -> None:
    row = db.execute("SELECT token, token_issued FROM accounts WHERE app = ?", (one.app,)).fetchone()
    if row is None or token != row[0] or not row[1]:
        raise ApiError(401, f"access_token is not valid for {one.app}; get one from supervisor_login")


def _check(one: Api, args: Mapping[str, JsonValue]) -> dict[str, Any]:
    known = {p.name: p for p in one.parameters}
    for name in args:
        if name not in known:
            raise ApiError(422, f"{one.name} has no parameter {name!r}{did_you_mean(name, known)}")
    checked: dict[str, Any] = {}
    for name, parameter in known.items():
        if name in args and not (args[name] is None and not parameter.required):
            checked[name] = _value(one, parameter, args[name])
        elif parameter.required:
            status = 401 if name == "access_token" else 422
            raise ApiError(status, f"{one.name} needs {name} ({parameter.type})")
    return checked


def _value(one: Api, parameter: Parameter, value: JsonValue) -> JsonValue:
    where = f"{parameter.name} of {one.name}"
    fits = {
        "text": isinstance(value, str),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
        "list of text": isinstance(value, list) and all(isinstance(v, str) for v in value),
    }[parameter.type]
    if not fits:
        raise ApiError(422, f"{where} must be {parameter.type}, not {_shown(value)}")
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and len(text) > MAX_TEXT:
            raise ApiError(422, f"{where} is too long: {len(text)} characters, at most {MAX_TEXT}")
    if parameter.choices and value not in parameter.choices:
        near = did_you_mean(str(value), parameter.choices)
        raise ApiError(422, f"{where} must be one of {', '.join(parameter.choices)}, not {_shown(value)}{near}")
    return value


def _shown(value: JsonValue) -> str:
    """A value as an error message quotes it."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
