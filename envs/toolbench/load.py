"""Everything in a folder of ToolBench or StableToolBench: traces, queries, and what could not be read."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from rebind.envs.toolbench.formats import answer_file, converted
from rebind.envs.toolbench.names import argument, function
from rebind.envs.toolbench.trace import Trace
from rebind.errors import UserError
from rebind.types import ToolSpec

_TYPES = {"NUMBER": "number", "BOOLEAN": "boolean", "ARRAY": "array", "OBJECT": "object"}


@dataclass(frozen=True)
class Query:
    """A query with the APIs that it may use."""

    source: str
    id: str
    text: str
    tools: tuple[ToolSpec, ...]
    relevant: tuple[str, ...]
    """Functions that ToolBench marks as needed."""
    apis: Mapping[str, tuple[str, str, str]]
    """Category, tool and API of each function, as a live endpoint wants them."""


@dataclass(frozen=True)
class Collection:
    """Traces and queries of a folder; `unreadable`: files that are no such thing, with the reason."""

    traces: tuple[Trace, ...]
    queries: tuple[Query, ...]
    unreadable: tuple[str, ...]


def load(folder: Path) -> Collection:
    """Reads all JSON files below a folder, packed or not, by their form.

    Raises:
        UserError: there is no such folder, or nothing of ToolBench in it.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is no folder; give ToolBench's or StableToolBench's")
    traces: list[Trace] = []
    queries: list[Query] = []
    unreadable: list[str] = []
    for path in sorted(p for p in folder.rglob("*") if p.name.endswith((".json", ".json.gz"))):
        name = str(path.relative_to(folder)).removesuffix(".gz")
        try:
            raw = json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
            reader = _reader(raw)
            if reader is not None:
                reader(raw, name, traces, queries)
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
            unreadable.append(f"{name}: {type(error).__name__}: {error}")
    if not traces and not queries:
        raise UserError(f"{folder} holds no runs and no queries of ToolBench" + "".join(f"\n{u}" for u in unreadable))
    return Collection(tuple(traces), tuple(queries), tuple(unreadable))


Reader = Callable[[Any, str, list[Trace], list[Query]], None]


def _reader(raw: Any) -> Reader | None:
    """Who reads this; None where it is neither a run nor a query (scores, preferences, response schemas)."""
    if isinstance(raw, dict) and "answer_generation" in raw:
        return lambda one, name, traces, _: traces.append(answer_file(one, name))
    if isinstance(raw, list) and raw and isinstance(raw[0], dict) and {"query", "api_list"} <= raw[0].keys():
        return lambda many, name, _, queries: queries.extend(_query(one, name) for one in many)
    values = list(raw.values()) if isinstance(raw, dict) else []
    if values and all(isinstance(one, dict) and {"available_tools", "answer"} <= one.keys() for one in values):
        return lambda many, name, traces, _: traces.extend(converted(v, f"{name}#{k}") for k, v in many.items())
    return None


def _query(raw: Mapping[str, Any], source: str) -> Query:
    apis = {function(a["tool_name"], a["api_name"]): a for a in raw["api_list"]}
    return Query(
        source=source,
        id=str(raw["query_id"]),
        text=raw["query"].strip(),
        tools=tuple(_spec(name, api) for name, api in apis.items()),
        relevant=tuple(function(*pair) for pair in raw.get("relevant APIs", ())),
        apis={name: (a.get("category_name", ""), a["tool_name"], a["api_name"]) for name, a in apis.items()},
    )


def _spec(name: str, api: Mapping[str, Any]) -> ToolSpec:
    required = {argument(p["name"]): p for p in api.get("required_parameters", ())}
    optional = {argument(p["name"]): p for p in api.get("optional_parameters", ())}
    properties: dict[str, JsonValue] = {
        key: {"type": _TYPES.get(str(p.get("type")).upper(), "string"), "description": str(p.get("description", ""))}
        for key, p in {**optional, **required}.items()
    }
    return ToolSpec(
        name=name,
        description=str(api.get("api_description", "")),
        parameters={"type": "object", "properties": properties, "required": [*required]},
    )
