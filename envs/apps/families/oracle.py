"""Words an oracle is written in: log in, call, walk all pages, finish. All of them are generators for `yield from`."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from pydantic import JsonValue

from rebind.errors import RebindError
from rebind.types import Call, ToolCall

T = TypeVar("T")
Asks: TypeAlias = Generator[ToolCall, tuple[Call, ...], T]
"""Yields tool calls, is sent the calls each step made, returns a T."""
Oracle: TypeAlias = Asks[None]

_PAGE = 20


class OracleFailed(RebindError):
    """An oracle's call was refused, or did not find what the task says is there."""


def call(tool: str, **args: JsonValue) -> Asks[Any]:
    """One call; its result. Raises `OracleFailed` where it is refused."""
    made = yield ToolCall(tool=tool, args=args)
    if not made or not made[-1].ok:
        raise OracleFailed(f"{tool}({args}) was refused: {made[-1].result if made else 'no call was made'}")
    return made[-1].result


class App:
    """An app logged in to: `app("show", mail_id=…)` calls `mail_show` with its token."""

    def __init__(self, name: str, token: str) -> None:
        self.name, self.token = name, token

    def __call__(self, verb: str, **args: JsonValue) -> Asks[Any]:
        return call(f"{self.name}_{verb}", **args, access_token=self.token)

    def every(self, verb: str, **args: JsonValue) -> Asks[list[Any]]:
        """The items of all pages of a listing."""
        items: list[Any] = []
        page = pages = 1
        while page <= pages:
            answer = yield from self(verb, **args, page=page, page_size=_PAGE)
            items += answer["items"]
            page, pages = page + 1, answer["pages"]
        return items


def login(app: str) -> Asks[App]:
    answer = yield from call("supervisor_login", app=app)
    return App(app, answer["access_token"])


def person(contacts: App, who: str) -> Asks[Any]:
    """The contact a goal names in one of the ways `View.person` knows, as `contacts_search` shows it."""
    first, _, company = who.partition(" from ")
    first, _, city = first.partition(" in ")
    place = {name: value for name, value in (("company", company), ("city", city)) if value}
    found = yield from contacts.every("search", query=first, **place)
    named = [c for c in found if first in (c["first_name"], f"{c['first_name']} {c['last_name']}")]
    return only(named, who)


def only(found: list[T], what: str) -> T:
    """The one element. Raises `OracleFailed` where there is none or more than one."""
    if len(found) != 1:
        raise OracleFailed(f"{len(found)} instead of one: {what}")
    return found[0]


def finish(answer: str | None = None) -> Oracle:
    yield from call("supervisor_complete_task", **({} if answer is None else {"answer": answer}))
