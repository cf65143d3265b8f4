"""`rebind export otel`: spans with OpenTelemetry's GenAI names, in OTLP's JSON encoding.

One line per episode, each a whole `TracesData` (OpenTelemetry Protocol File Exporter): a span for the episode
(`invoke_agent`), and in it one per model call (`chat`) and per action (`execute_tool`). Prompts, answers and arguments
are left out: traces go to systems that many people read. What has no name in the conventions is called `rebind.*`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rebind import __version__
from rebind.banks.files import silent
from rebind.canon import digest
from rebind.eval.attempts import Attempts, EndedAttempt, Json
from rebind.eval.export.about import action_name, began, facts, provenance
from rebind.eval.export.files import export_file
from rebind.eval.tokens import answered
from rebind.types import Event, Progress

_INTERNAL, _CLIENT = 1, 3
"""SpanKind."""
_ERROR = 2
"""StatusCode."""
_SAMPLED = 0x01
_PROVIDERS = {"azure": "azure.ai.openai", "bedrock": "aws.bedrock", "gemini": "gcp.gemini", "mistral": "mistral_ai",
              "vertex_ai": "gcp.vertex_ai", "watsonx": "ibm.watsonx.ai", "xai": "x_ai"}  # fmt: skip
"""Providers that the conventions call otherwise than litellm does."""

_FIRST = b'{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"rebind"}}'
"""How every line begins."""

Span = dict[str, Any]


def export(run: Path, out: Path, progress: Progress = silent) -> dict[str, Any]:
    """Writes the spans of every cell's last ended attempt to `out`, a file of JSON lines.

    Raises:
        UserError: `out` is something else. LedgerError: the run cannot be read.
    """
    attempts = Attempts(run)
    about = provenance(run, attempts.plan)
    resource = _attributes(
        {"service.name": "rebind", "service.version": __version__, **{f"rebind.{k}": v for k, v in about.items()}}
    )
    head = {"attributes": resource}
    spans = 0
    with export_file(
        out, b'{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"rebind"}}'
    ) as file:
        for done, attempt in enumerate(attempts):
            progress("episodes", done, len(attempts))
            with attempt.explained("its spans"):
                made = list(episode_spans(attempt, attempts.plan))
            spans += len(made)
            scope = {"scope": {"name": "rebind", "version": __version__}, "spans": made}
            line = {"resourceSpans": [{"resource": head, "scopeSpans": [scope]}]}
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    progress("written", len(attempts), len(attempts))
    return {"out": str(out), "format": "otel", **about, "episodes": len(attempts), "spans": spans}


def episode_spans(attempt: EndedAttempt, plan: Json) -> Iterator[Span]:
    """The spans of one episode, its own first. Ids come from the ledger's hashes: the same run gives the same ids."""
    model = plan["model"]["actor"]
    trace, root = attempt.end.hash[:32], attempt.start.hash[:16]
    yield _root(attempt, model) | {"traceId": trace}
    support: Json = attempt.data("support") or {"completions": (), "requests": ()}
    for event in attempt.of("support"):
        for n, (row, request) in enumerate(zip(support["completions"], support["requests"], strict=False)):
            yield _chat({**request, **row}, event, model, "writer", n) | {"traceId": trace, "parentSpanId": root}
    last = attempt.start.at
    for event in attempt.events:
        if event.kind == "call":
            last = event.at
            yield _chat(event.data, event, model, "actor") | {"traceId": trace, "parentSpanId": root}
        elif event.kind == "step" and event.data["action"] is not None:
            yield _tool(event, last) | {"traceId": trace, "parentSpanId": root}


def _root(attempt: EndedAttempt, model: str) -> Span:
    told, tokens = facts(attempt), attempt.episode.tokens
    infra = attempt.episode.outcome == "invalid-infra"
    names = ("cell", "attempt", "target", "environment", "family", "level", "condition", "seed", "outcome", "ending",
             "success", "milestone", "steps", "api_calls")  # fmt: skip
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": provider(model),
        "gen_ai.agent.name": "rebind",
        "gen_ai.agent.version": __version__,
        "gen_ai.conversation.id": f"{attempt.cell.id}/{attempt.number}",
        "gen_ai.request.model": model,
        "gen_ai.usage.input_tokens": _sum(tokens.i_base, tokens.i_mem, tokens.i_syn),
        "gen_ai.usage.output_tokens": _sum(tokens.o_syn, tokens.o_act),
        "gen_ai.usage.cache_read.input_tokens": tokens.cached,
        "error.type": attempt.episode.ending if infra else None,
        **{f"rebind.{name}": told[name] for name in names},
    }
    made = _span(attempt.start.hash, "invoke_agent rebind", _INTERNAL, attempt.start.at, attempt.end.at, attributes)
    return made | ({"status": {"code": _ERROR, "message": attempt.error}} if infra else {})


def _chat(row: Json, event: Event, model: str, purpose: str, number: int = 0) -> Span:
    """The span of a model call; it covers all HTTP attempts, as the conventions ask."""
    asked, usage, decoding = row.get("model", model), row["usage"], row.get("decoding") or {}
    start, end = began(row, event.at)
    failed = None if answered(row) else (row["attempts"][-1]["error"] if row["attempts"] else row["finish"])
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider(asked),
        "gen_ai.request.model": asked,
        **{f"gen_ai.request.{name}": decoding.get(name) for name in ("temperature", "top_p", "max_tokens", "seed")},
        "gen_ai.response.finish_reasons": None if failed else [row["finish"]],
        "gen_ai.usage.input_tokens": usage["prompt"],
        "gen_ai.usage.output_tokens": usage["completion"],
        "gen_ai.usage.cache_read.input_tokens": usage["cached"],
        "gen_ai.usage.reasoning.output_tokens": usage["reasoning"],
        "error.type": failed.split(":")[0] if failed else None,
        "rebind.purpose": purpose,
        "rebind.http_attempts": len(row["attempts"]),
        "rebind.replayed": row["replayed"],
        "rebind.support_tokens": row.get("mem_tokens"),
    }
    identity = digest([event.hash, number]) if number else event.hash
    made = _span(identity, f"chat {asked}", _CLIENT, start, end, attributes)
    return made | ({"status": {"code": _ERROR, "message": failed}} if failed else {})


def _tool(event: Event, start: float) -> Span:
    """The span of an action. It begins when the answer that asked for it was recorded."""
    data: Json = event.data
    tool, _ = action_name(data["action"])
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": f"call_{data['index']}",
        "error.type": data["error"].split(":")[0] if data["error"] else None,
        "rebind.step": data["index"],
        "rebind.api_calls": len(data["calls"]),
    }
    made = _span(event.hash, f"execute_tool {tool}", _INTERNAL, start, event.at, attributes)
    return made | ({"status": {"code": _ERROR, "message": data["error"]}} if data["error"] else {})


def provider(model: str) -> str:
    """The provider of a model, from litellm's name for it; models without a prefix are OpenAI's there."""
    prefix, slash, _ = model.partition("/")
    return _PROVIDERS.get(prefix, prefix) if slash else "openai"


def _span(hash_: str, name: str, kind: int, start: float, end: float, attributes: Mapping[str, Any]) -> Span:
    """A span as OTLP/JSON has it: ids in hex, 64-bit numbers as text, enums as numbers."""
    return {
        "spanId": hash_[:16],
        "name": name,
        "kind": kind,
        "flags": _SAMPLED,
        "startTimeUnixNano": _nanoseconds(start),
        "endTimeUnixNano": _nanoseconds(max(start, end)),
        "attributes": _attributes(attributes),
    }


def _nanoseconds(at: float) -> str:
    """Nanoseconds of a moment; the ledger's clock is a float, good to the microsecond."""
    return str(round(at * 1e6) * 1000)


def _attributes(values: Mapping[str, Any]) -> list[Span]:
    """Key-value pairs; those without a value are left out."""
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: Any) -> Span:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(v) for v in value]}}
    return {"stringValue": str(value)}


def _sum(*counts: int | None) -> int | None:
    return None if None in counts else sum(c for c in counts if c is not None)
