"""Reads the three forms in which runs were published: DFS trees, CoT tries, and ToolEval's converted answers."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rebind.envs.toolbench.trace import FINISH, Defect, RecordedCall, Trace, Tree
from rebind.types import ToolSpec

_CUT = 100
"""Length at which ToolEval's default set cuts every tool message."""
_LONGEST = 1024
"""Length at which the harness cuts an API's answer, with three dots after it."""
_NAMED = re.compile(r"\{'name': '([^']+)'")
_TOLD = re.compile(
    r"""'arguments': (?P<quote>['"])(?P<args>.*?)(?P=quote), 'respon(?:se': ['"](?P<head>.*))?""", re.DOTALL
)
"""Of a cut message: arguments in full, and what is left of the answer."""
_SAYS_ERROR = re.compile(r'\{"error": "(?P<no>"?)')


def answer_file(raw: Mapping[str, Any], source: str) -> Trace:
    """A file of `answer/`: a DFS tree, or the tries of a chain of thought.

    Raises:
        KeyError, TypeError: it has another form.
    """
    found, told = raw["answer_generation"], _ending(raw["answer_generation"].get("final_answer") or "")
    roots = [raw["tree"]["tree"]] if "tree" in raw else [_chained(one["chain"]) for one in raw["trys"]]
    paths = [path for root in roots for path in _paths(root)]
    best = _answering(paths)
    calls: list[RecordedCall] = []
    defects: list[Defect] = []
    for parent, node in (pair for root in roots for pair in _edges(root)):
        if node["node_type"] == "Action Input" and parent["node_type"] == "Action" and parent["description"] != FINISH:
            calls.append(_node_call(parent["description"], node, len(calls), any(n is node for n in best), defects))
    if not found.get("train_messages"):
        defects.append(Defect("malformed", "train_messages", "empty: no branch came to an answer"))
    tools = _specs(found["function"], defects)
    return Trace(
        source=source,
        method="DFS" if "tree" in raw else "CoT",
        query=found["query"].strip(),
        tools=tools,
        calls=tuple(calls),
        finish=told[0],
        answer=told[1],
        tree=_shape(raw["tree"]["tree"]) if "tree" in raw else None,
        defects=(*defects, *_strangers(tools, calls)),
    )


def converted(raw: Mapping[str, Any], source: str) -> Trace:
    """One run of a converted file: `query`, `available_tools`, `answer` with its nodes.

    Raises:
        KeyError, TypeError: it has another form.
    """
    defects: list[Defect] = []
    chain = max(_chains(raw["answer"]["answer_details"]), key=len, default=())
    messages = [node["message"] for node in chain if node["role"] == "tool"]
    made = [_message_call(message, n, defects) for n, message in enumerate(messages)]
    calls = tuple(call for call in made if call.tool != FINISH)
    told, tools = _ending(raw["answer"].get("final_answer") or ""), _specs(raw["available_tools"], defects)
    return Trace(
        source=source,
        method=raw["answer"]["method"],
        query=raw["query"].strip(),
        tools=tools,
        calls=calls,
        finish=told[0],
        answer=told[1],
        defects=(*defects, *_strangers(tools, calls)),
    )


def _node_call(tool: str, node: Mapping[str, Any], n: int, on_path: bool, defects: list[Defect]) -> RecordedCall:
    args, where, response = _object(node["description"]), f"call {n} ({tool})", str(node.get("observation", ""))
    if args is None:
        defects.append(Defect("malformed", where, "its arguments are no JSON object"))
    cut = len(response) >= _LONGEST and response.endswith("...")
    if cut:
        defects.append(Defect("truncated", where, f"the answer is cut at {_LONGEST} characters"))
    ok = node.get("observation_code") == 0
    return RecordedCall(tool, args, response, ok, whole=args is not None and not cut, on_path=on_path)


def _message_call(message: Any, n: int, defects: list[Defect]) -> RecordedCall:
    """A tool message: a mapping, or the text of one, cut after 100 characters."""
    if isinstance(message, dict):
        text, args = str(message.get("response", "")), _object(message.get("arguments", ""))
        if args is None:
            defects.append(Defect("malformed", f"call {n} ({message['name']})", "its arguments are no JSON object"))
        return RecordedCall(message["name"], args, text, not _error(text), whole=args is not None, on_path=True)
    parsed = _literal(message)
    if isinstance(parsed, dict) and "name" in parsed:
        return _message_call(parsed, n, defects)
    return _rest_of_call(message, n, defects)


def _rest_of_call(message: str, n: int, defects: list[Defect]) -> RecordedCall:
    """What is left of a call whose message is no whole mapping; without a name where none can be read."""
    name = _NAMED.match(message)
    if name is None:
        defects.append(Defect("malformed", f"call {n}", "no function name can be read"))
        return RecordedCall("", None, "", ok=None, whole=False, on_path=True, cut=True)
    flaw = Defect("truncated", f"call {n} ({name[1]})", f"the message is cut at {len(message)} characters")
    defects.append(flaw if len(message) >= _CUT else Defect("malformed", flaw.where, "the message is no mapping"))
    told = _TOLD.search(message)
    args, head = (_object(_unescaped(told["args"])), _unescaped(told["head"] or "")) if told else (None, "")
    says = _SAYS_ERROR.match(head)
    ok = bool(says["no"]) if says and (says["no"] or says.end() < len(head)) else None
    return RecordedCall(name[1], args, head, ok=ok, whole=False, on_path=True, cut=True)


def _specs(functions: Sequence[Mapping[str, Any]], defects: list[Defect]) -> tuple[ToolSpec, ...]:
    specs = []
    for one in functions:
        parameters = dict(one.get("parameters") or {})
        if not isinstance(parameters.get("properties"), dict):
            defects.append(Defect("malformed", f"function {one['name']}", "it has no properties"))
            parameters["properties"] = {}
        schema = {k: v for k, v in parameters.items() if k in ("properties", "required")}
        if one["name"] != FINISH:
            specs.append(
                ToolSpec(
                    name=one["name"], description=one.get("description", ""), parameters={"type": "object", **schema}
                )
            )
    return tuple(specs)


def _strangers(tools: Sequence[ToolSpec], calls: Sequence[RecordedCall]) -> Iterator[Defect]:
    known = {spec.name for spec in tools}
    for n, call in enumerate(calls):
        if call.tool and call.tool not in known:
            yield Defect("malformed", f"call {n} ({call.tool})", "the query offers no such function")


def _ending(text: str) -> tuple[str, str]:
    """How a run ended, and with which answer."""
    given = _object(text)
    if given is None or "return_type" not in given:
        return ("give_answer", text) if text and not text.startswith("{") else ("none", "")
    if given["return_type"] == "give_answer":
        return "give_answer", str(given.get("final_answer", ""))
    return "give_up", ""


def _object(text: Any) -> dict[str, Any] | None:
    if isinstance(text, dict):
        return text
    try:
        value = json.loads(text) if str(text).strip() else {}
    except (TypeError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _error(response: str) -> bool:
    value = _object(response)
    return bool(value.get("error")) if value is not None else False


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\'", "'").replace('\\\\"', '\\"')


def _chained(nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The nodes of a try, which lie side by side in the file, as a tree of one branch."""
    root: dict[str, Any] = {"node_type": "Action Input", "description": "", "pruned": False, "children": []}
    at = root
    for node in nodes:
        child = {**node, "children": []}
        at["children"].append(child)
        at = child
    return root


def _edges(node: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Parents with their children, depth first: the order in which the search went."""
    for child in node.get("children", ()):
        yield node, child
        yield from _edges(child)


def _paths(node: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
    children = node.get("children", ())
    if not children:
        yield [node]
    for child in children:
        for path in _paths(child):
            yield [node, *path]


def _answering(paths: Sequence[list[Mapping[str, Any]]]) -> list[Mapping[str, Any]]:
    """The first path that ends with an answer; the longest where none does."""
    for path in paths:
        if (_object(path[-1].get("description", "")) or {}).get("return_type") == "give_answer":
            return path
    return max(paths, key=len, default=[])


def _shape(root: Mapping[str, Any]) -> Tree:
    nodes = [root, *(child for _, child in _edges(root))]
    return Tree(
        nodes=len(nodes),
        depth=max((len(path) - 1 for path in _paths(root)), default=0),
        leaves=sum(not node.get("children") for node in nodes),
        pruned=sum(bool(node.get("pruned")) for node in nodes),
    )


def _chains(nodes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], ...]]:
    for node in nodes:
        further = list(_chains(node["next"]))
        yield from ((node, *chain) for chain in further or [()])
