"""Seeded detours that make an oracle's trajectory look like an agent's: failed calls, wrong turns, re-checks.

None may change the state. Failed calls are built to be refused; everything else only reads. A detour that does harm
after all shows in the verdict, and the rollout is thrown away.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from rebind.memory.skill.reads import only_reads
from rebind.types import Call, ToolCall, ToolSpec

_TOKEN = "access_token"
_ID_KEY = re.compile(r"(?:^|_)id$")


class Detours:
    """Chooses detours around an oracle's calls. `rate` is the chance of one before a call, and of one after a write."""

    def __init__(self, rate: float, seed: str, goal: str, tools: Sequence[ToolSpec]) -> None:
        self._rate = rate
        self._random = random.Random(seed)
        self._goal = goal
        self._tools = {t.name: t for t in tools}
        self.taken: dict[str, int] = {}
        """How many of each kind were taken."""

    def before(self, call: ToolCall, history: Sequence[Call]) -> tuple[ToolCall, ...]:
        """At most one call that an unsure agent might have made first."""
        if self._random.random() >= self._rate:
            return ()
        choices = [*self._failures(call), *self._wrong_turns(call, history)]
        return self._take(choices)

    def after(self, call: ToolCall, history: Sequence[Call]) -> tuple[ToolCall, ...]:
        """After a write: at most one look at what it changed, or at the listing it was found in."""
        if only_reads(call.tool) or self._random.random() >= self._rate:
            return ()
        return self._take([("re-check", look) for look in (*self._shows(call), *_last_reads(call, history))])

    def _shows(self, call: ToolCall) -> Iterator[ToolCall]:
        """Tools that show the object a call was about: they read, and need no more than its id."""
        for name, spec in self._tools.items():
            required = spec.parameters.get("required")
            if only_reads(name) and isinstance(required, list) and any(_ID_KEY.search(str(r)) for r in required):
                args = {str(r): call.args[str(r)] for r in required if str(r) in call.args}
                if len(args) == len(required):
                    yield ToolCall(tool=name, args=args)

    def _take(self, choices: Sequence[tuple[str, ToolCall]]) -> tuple[ToolCall, ...]:
        if not choices:
            return ()
        kinds = sorted({kind for kind, _ in choices})
        kind = self._random.choice(kinds)
        call = self._random.choice([c for k, c in choices if k == kind])
        self.taken[kind] = self.taken.get(kind, 0) + 1
        return (call,)

    def _failures(self, call: ToolCall) -> Iterator[tuple[str, ToolCall]]:
        if _TOKEN in call.args:
            yield "missing-token", _with(call, {_TOKEN: None})
        spec = self._tools.get(call.tool)
        required = spec.parameters.get("required") if spec else None
        if isinstance(required, list):
            for name in required:
                if isinstance(name, str) and name in call.args and name != _TOKEN:
                    yield "missing-argument", _with(call, {name: None})
        for name, value in call.args.items():
            if _ID_KEY.search(name) and isinstance(value, str) and re.search(r"\d{3,}", value):
                yield "wrong-id", _with(call, {name: re.sub(r"\d+", str(self._random.randint(1, 9)), value)})
                if name != "id":
                    yield "wrong-argument", _with(call, {name: None, "id": value})

    def _wrong_turns(self, call: ToolCall, history: Sequence[Call]) -> Iterator[tuple[str, ToolCall]]:
        if "api_docs_show" in self._tools and not any(c.tool == call.tool for c in history):
            yield "docs", ToolCall(tool="api_docs_show", args={"api": call.tool})
        if not only_reads(call.tool):
            return
        query = call.args.get("query")
        if isinstance(query, str) and query:
            yield "wrong-query", _with(call, {"query": self._other_words(query)})
        for name, value in call.args.items():
            if _ID_KEY.search(name) and isinstance(value, str):
                for sibling in _siblings(value, history):
                    yield "wrong-turn", _with(call, {name: sibling})

    def _other_words(self, query: str) -> str:
        """A query an agent might try first: one word of the goal, or the query run on with another."""
        words = [w for w in re.findall(r"[A-Za-z]{4,}", self._goal) if w.casefold() not in query.casefold()]
        word = self._random.choice(words) if words else "details"
        return self._random.choice([word.lower(), f"{query} {word.lower()}"])


def _with(call: ToolCall, changes: dict[str, JsonValue]) -> ToolCall:
    """The call with some arguments changed; None takes one away."""
    args = {**call.args, **changes}
    return ToolCall(tool=call.tool, args={k: v for k, v in args.items() if v is not None or k not in changes})


def _last_reads(call: ToolCall, history: Sequence[Call]) -> list[ToolCall]:
    """The latest call before that read with the same access token."""
    token = call.args.get(_TOKEN)
    reads = [c for c in history if c.ok and only_reads(c.tool) and token and c.args.get(_TOKEN) == token]
    return [ToolCall(tool=c.tool, args=c.args) for c in reads[-1:]]


def _siblings(value: str, history: Sequence[Call]) -> list[str]:
    """Ids that stood beside this one in the latest listing that showed it."""
    for call in reversed(history):
        items = call.result.get("items") if isinstance(call.result, dict) else call.result
        if isinstance(items, list):
            ids = [i["id"] for i in items if isinstance(i, dict) and isinstance(i.get("id"), str)]
            if value in ids:
                return [str(i) for i in ids if i != value]
    return []
