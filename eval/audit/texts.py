"""What each event of a ledger shows, and to whom: the texts an audit has to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from pydantic import JsonValue

from rebind.types import Event, Redacted

Reader = Literal["retriever", "ranker", "writer", "actor", "answer"]
"""Who saw a text. An `answer` is a model's own words: nobody showed them to it."""


class Shown(NamedTuple):
    """A text and its reader."""

    reader: Reader
    text: str


def shown(event: Event) -> Iterator[Shown]:
    """Every text of an event that a retriever, a ranker, a writer or the actor was shown, and every answer."""
    data: dict[str, Any] = event.data
    match event.kind:
        case "record":
            yield Shown("retriever", data["index_text"])
        case "retrieval":
            yield Shown("retriever", data["query"])
        case "selection" if data["request"]:
            for request in kept([data["request"]]):
                yield from _asked("ranker", request)
            for completion in kept([data["completion"]]):
                yield _answer(completion)
        case "support":
            for request in kept(data["requests"]):
                yield from _asked("writer", request)
            for completion in kept(data["completions"]):
                yield _answer(completion)
            yield Shown("actor", delivered(data))
        case "call":
            yield from _messages("actor", data["messages"])
            yield Shown("actor", words([data["tools"], data["schema"]]))
            yield _answer(data)
        case _:
            pass


def delivered(support: dict[str, Any]) -> str:
    """All that a Support may put before the actor: text, turns, note and skills, whichever placement is used. Which
    record a skill came from, and its version, stay behind."""
    skills: list[JsonValue] = [
        {k: v for k, v in skill.items() if k not in {"record_id", "version"}} for skill in kept(support["skills"])
    ]
    worked = [support["turns"], support["turns_goal"], support["turns_first_observation"]]
    return words([support["text"], *worked, support["note"], skills])


def kept(values: Any) -> list[Any]:
    """The members of an array that are not redacted; none of one that is."""
    return [] if isinstance(values, Redacted) else [value for value in values if not isinstance(value, Redacted)]


def words(value: JsonValue) -> str:
    """The keys, strings and numbers of a JSON value, one a line, a key before its value."""
    return "\n".join(_walk(value))


def _walk(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield repr(value)


def _asked(reader: Reader, request: dict[str, Any]) -> Iterator[Shown]:
    yield from _messages(reader, request["messages"])
    yield Shown(reader, words([request["tools"], request["schema_"]]))


def _answer(completion: dict[str, Any]) -> Shown:
    return Shown("answer", words([completion["text"], completion["tool_calls"]]))


def _messages(reader: Reader, messages: Iterable[dict[str, Any]]) -> Iterator[Shown]:
    for message in kept(messages):
        own = message["role"] == "assistant"
        yield Shown("answer" if own else reader, words([message["content"], message["tool_calls"]]))
