"""Spans are valid OTLP JSON with the conventions' names, and their ids are the ledger's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rebind import load_run
from rebind.errors import UserError
from rebind.eval.export.otel import export, provider

pytestmark = pytest.mark.xdist_group("mixed_run")
VALUES = {"stringValue": str, "boolValue": bool, "intValue": str, "doubleValue": float, "arrayValue": dict}
CONVENTIONS = {
    "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.agent.name", "gen_ai.agent.version",
    "gen_ai.conversation.id", "gen_ai.request.model", "gen_ai.request.temperature", "gen_ai.request.top_p",
    "gen_ai.request.max_tokens", "gen_ai.request.seed", "gen_ai.response.finish_reasons", "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens", "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.tool.name", "gen_ai.tool.type", "gen_ai.tool.call.id", "error.type",
}  # fmt: skip
"""Names of OpenTelemetry's semantic conventions for GenAI."""


@pytest.fixture(scope="module")
def lines(mixed_run: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    out = tmp_path_factory.mktemp("otel") / "spans.jsonl"
    summary = export(mixed_run, out)
    found = [json.loads(line) for line in out.read_bytes().splitlines()]
    assert (summary["episodes"], summary["spans"]) == (len(found), sum(len(_spans(line)) for line in found))
    return found


def _spans(line: dict[str, Any]) -> list[dict[str, Any]]:
    (resource,) = line["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    spans: list[dict[str, Any]] = scope["spans"]
    return spans


def _attributes(span: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for pair in span["attributes"]:
        ((kind, value),) = pair["value"].items()
        assert isinstance(value, VALUES[kind])
        found[pair["key"]] = int(value) if kind == "intValue" else value
    return found


def test_ids_are_hex_times_are_texts_and_every_parent_is_in_its_trace(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        spans = _spans(line)
        assert len({s["traceId"] for s in spans}) == 1
        assert len({s["spanId"] for s in spans}) == len(spans)
        root = spans[0]
        assert "parentSpanId" not in root
        for span in spans:
            assert re.fullmatch(r"[0-9a-f]{32}", span["traceId"])
            assert re.fullmatch(r"[0-9a-f]{16}", span["spanId"])
            assert span is root or span["parentSpanId"] == root["spanId"]
            assert isinstance(span["startTimeUnixNano"], str)
            assert int(root["startTimeUnixNano"]) <= int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
            assert int(span["endTimeUnixNano"]) <= int(root["endTimeUnixNano"])
            assert span["kind"] in (1, 3)


def test_names_are_the_conventions_or_begin_with_rebind(lines: list[dict[str, Any]]) -> None:
    spans = [s for line in lines for s in _spans(line)]
    names = {name for s in spans for name in _attributes(s)}
    assert {n for n in names if not n.startswith("rebind.")} <= CONVENTIONS
    for span in spans:
        told = _attributes(span)
        named = {
            "chat": "gen_ai.request.model",
            "execute_tool": "gen_ai.tool.name",
            "invoke_agent": "gen_ai.agent.name",
        }
        operation = told["gen_ai.operation.name"]
        assert span["name"] == f"{operation} {told[named[operation]]}"


def test_tokens_of_an_episode_are_those_of_its_calls_and_of_the_frames(
    lines: list[dict[str, Any]], mixed_run: Path
) -> None:
    online = dict(load_run(mixed_run).episodes[["cell", "online"]].itertuples(index=False))
    for line in lines:
        root, *inner = map(_attributes, _spans(line))
        names = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens")
        assert (
            sum(root[n] for n in names) == sum(s.get(n, 0) for s in inner for n in names) == online[root["rebind.cell"]]
        )


def test_an_infrastructure_failure_is_an_error_without_a_score(lines: list[dict[str, Any]]) -> None:
    roots = [_spans(line)[0] for line in lines]
    (failed,) = (r for r in roots if "status" in r)
    assert failed["status"]["code"] == 2
    assert _attributes(failed)["error.type"] == "ProviderError"
    assert "rebind.success" not in _attributes(failed)
    last = [s for s in next(_spans(li) for li in lines if _spans(li)[0] is failed) if s["name"].startswith("chat")][-1]
    assert last["status"]["code"] == 2


def test_the_same_run_gives_the_same_bytes_and_something_else_is_not_replaced(mixed_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "spans.jsonl"
    export(mixed_run, out)
    first = out.read_bytes()
    export(mixed_run, out)
    assert out.read_bytes() == first
    out.write_text("notes\n", encoding="utf-8")
    with pytest.raises(UserError, match="exists and is no export"):
        export(mixed_run, out)
    assert out.read_text(encoding="utf-8") == "notes\n"
    assert list(tmp_path.iterdir()) == [out]


def test_providers_have_the_names_of_the_conventions() -> None:
    names = ("gpt-4o", "openai/gpt-4o", "anthropic/claude", "mistral/small", "azure/gpt", "local/smollm2-135m")
    assert [provider(n) for n in names] == ["openai", "openai", "anthropic", "mistral_ai", "azure.ai.openai", "local"]
