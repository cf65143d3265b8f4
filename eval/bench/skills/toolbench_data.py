"""Recorded ToolBench runs, and what of each of them can be used.

`toolbench/tooleval/results/default_evalset` holds 600 runs of gpt-3.5-turbo. Upstream cut every tool message there at
100 characters, name and arguments first: where the arguments are cut the call cannot be used at all, and of the
response hardly more is left than whether it begins with an error. ToolBench's `data_example/answer` and
StableToolBench's hold a few whole runs.
"""

from __future__ import annotations

import ast
import gzip
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from rebind.errors import UserError
from rebind.types import Call, Record, Step, ToolCall

_EVALSET = "**/default_evalset/*/G*.json.gz"
_ANSWERS = "**/answer/**/*_*.json.gz"
_CALL = re.compile(r"\{'name': '(?P<name>[^']*)', 'arguments': (?P<rest>.*)", re.DOTALL)
_RESPONSE = "', 'response': "
_ERROR = re.compile(r"\{\"error\": \"(?P<said>[^\"]+)")
_OK, _FAILED = 200, 500


@dataclass(frozen=True)
class Run:
    """One recorded run."""

    id: str
    query: str
    tools: frozenset[str]
    """The functions that the query may call."""
    calls: tuple[Call, ...]
    """Usable calls, in order, repeated ones once. A result is what is left of the response."""
    answered: bool
    lost: dict[str, int] = field(default_factory=dict)
    """Calls that cannot be used, by reason."""
    unclear: frozenset[str] = frozenset()
    """Functions that it called with arguments, or to a response, that are lost: whether such a call would have been the
    right one cannot be told."""

    @property
    def good(self) -> tuple[Call, ...]:
        return tuple(c for c in self.calls if c.ok)

    def record(self, calls: tuple[Call, ...] | None = None) -> Record:
        """The run, or some of its calls, as a record."""
        steps = tuple(
            Step(action=ToolCall(tool=c.tool, args=c.args), observation=str(c.result), calls=(c,))
            for c in (self.good if calls is None else calls)
        )
        return Record(instruction=self.query, descriptor="", first_observation="", steps=steps)


def load_runs(data: Path) -> list[Run]:
    """All recorded runs below a folder, sorted by id; of equal queries the run that has most usable calls.

    Raises:
        UserError: there are none.
    """
    best: dict[str, Run] = {}
    for run in (*_evalset(data), *_answers(data)):
        known = best.get(run.query)
        if known is None or len(run.good) > len(known.good):
            best[run.query] = run
    if not best:
        raise UserError(
            f"{data} holds no recorded ToolBench run ({_EVALSET}, {_ANSWERS}); give the folder of the real data"
        )
    return sorted(best.values(), key=lambda run: run.id)


def namespace(tool: str) -> str:
    """A function's dotted namespace, its tool first: "jokes_search_for_chuck_norris" is "chuck_norris.jokes_search"."""
    function, _, name = tool.rpartition("_for_")
    return f"{name}.{function}"


def _evalset(data: Path) -> Iterator[Run]:
    for file in sorted(data.glob(_EVALSET)):
        for number, entry in _read(file).items():
            messages = list(_messages(entry["answer"]["answer_details"]))
            yield _run(f"{file.parent.name}/{file.name.partition('.')[0]}/{number}", entry["query"],
                       entry["available_tools"], [_cut(text) for role, text in messages if role == "tool"],
                       "give_answer" in str(entry["answer"]["final_answer"]))  # fmt: skip


def _messages(nodes: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    while nodes:
        yield nodes[0]["role"], nodes[0]["message"]
        nodes = nodes[0]["next"]


def _answers(data: Path) -> Iterator[Run]:
    for file in sorted(data.glob(_ANSWERS)):
        answer = _read(file).get("answer_generation")
        if not isinstance(answer, dict) or not answer.get("train_messages"):
            continue
        messages = answer["train_messages"][-1]
        made: list[tuple[str, Any, str]] = []
        for asked, got in itertools.pairwise(messages):
            called = asked.get("function_call")
            if asked["role"] == "assistant" and called:
                told = str(got.get("content", "")) if got["role"] == "function" else ""
                made.append((called["name"], _json(called["arguments"]), told))
        yield _run(f"{file.parent.name}/{file.name.partition('.')[0]}", answer["query"], answer["function"], made,
                   answer.get("finish_type") == "give_answer")  # fmt: skip


def _run(ident: str, query: str, tools: list[Any], made: list[tuple[str, Any, str]], answered: bool) -> Run:
    lost: Counter[str] = Counter()
    calls: list[Call] = []
    unclear: set[str] = set()
    for name, args, response in made:
        if name == "Finish":
            continue
        if not isinstance(args, dict) or not response:
            unclear.add(name)
        if not isinstance(args, dict):
            lost["arguments cut" if args is None else "arguments unreadable"] += 1
            continue
        error = _ERROR.match(response)
        call = Call(tool=name, args=args, status=_FAILED if error or not response else _OK, result=response)
        if not response:
            lost["no response"] += 1
        elif error:
            lost["error"] += 1
        elif any(c.tool == call.tool and c.args == call.args for c in calls):
            lost["repeated"] += 1
        else:
            calls.append(call)
    names = frozenset(str(tool["name"]) for tool in tools) - {"Finish"}
    return Run(ident, query.strip(), names, tuple(calls), answered, dict(lost), frozenset(unclear))


def _cut(message: str) -> tuple[str, Any, str]:
    """Name, arguments and response of a tool message; arguments are None where the cut fell into them."""
    match = _CALL.match(message)
    if match is None:
        return "", None, ""
    rest = match["rest"]
    if _RESPONSE not in rest:
        return match["name"], None, ""
    raw, response = rest.split(_RESPONSE, 1)
    try:
        arguments = ast.literal_eval(f"{raw}'")
    except (ValueError, SyntaxError):
        return match["name"], "?", ""
    return match["name"], _json(arguments), response[1:]


def _json(text: str) -> JsonValue:
    try:
        found: JsonValue = json.loads(text)
    except ValueError:
        return "?"
    return found if isinstance(found, dict) else "?"


def _read(file: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read: {error}") from None
    return found
