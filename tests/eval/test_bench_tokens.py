"""The token benchmark's own checks: an invoice held against a ledger finds what was planted in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rebind.eval.bench.overhead import overheads
from rebind.eval.bench.wires.invoice import Auditor, Price
from rebind.eval.bench.wires.provider import Line
from rebind.types import Usage

Json = dict[str, Any]
NAME = "simulated/priced"
PRICES = {NAME: Price(prompt=3.0, read=1.0, written=4.0, completion=10.0)}
TOLD = Usage(prompt=100, completion=10, cached=40, reasoning=5)
SENT = {"input_tokens": 40, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 20, "output_tokens": 10}


def line(fate: Any = "answered", told: Usage = TOLD, sent: Json | None = SENT, status: int = 200) -> Line:
    return Line(
        fate=fate,
        status=status,
        streamed=False,
        prompt="a b c",
        told=told,
        written=20 if told.prompt else 0,
        sent=sent,
        kinds=("cached",),
    )


INVOICE = [line("status", Usage(), None, 503), line(), line()]


def attempt(of: Line, error: str | None = None) -> Json:
    return {"status": of.status, "error": error, "usage": of.told.model_dump(), "raw_usage": of.sent}


def events() -> list[Json]:
    """An episode of two calls without support, the first answered at its second attempt."""
    usage = TOLD.model_dump()
    both = {"model": NAME, "mem_tokens": 0, "replayed": False, "usage": usage}
    calls = [
        {**both, "attempts": [attempt(INVOICE[0], "busy"), attempt(INVOICE[1])]},
        {**both, "attempts": [attempt(INVOICE[2])]},
    ]
    account = {
        "i_base": 200, "i_mem": 0, "i_syn": 0, "o_syn": 0, "o_act": 20, "cached": 80, "once": 120, "once_dropped": True,
        "wasted": 0, "cost": 2 * (40 * 3.0 + 40 * 1.0 + 20 * 4.0 + 10 * 10.0),
    }  # fmt: skip
    data: list[tuple[str, Json]] = [("support", {"completions": []}), *(("call", call) for call in calls)]
    data.append(("episode", {"tokens": account}))
    return [{"cell": "t/none/0", "attempt": 0, "kind": kind, "data": one} for kind, one in data]


def violations(folder: Path, rows: list[Json], invoice: list[Line]) -> list[str]:
    ledger = folder / "ledger.jsonl"
    ledger.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Auditor(invoice, PRICES).audit(ledger).violations


def test_a_ledger_that_is_the_invoice_has_no_violation(tmp_path: Path) -> None:
    """Attempts, usage, sums and cost that agree are no violation."""
    assert violations(tmp_path, events(), INVOICE) == []


def _zero(rows: list[Json]) -> None:
    rows[1]["data"]["attempts"][0]["usage"]["prompt"] = 0


def _twice(rows: list[Json]) -> None:
    rows[3]["data"]["tokens"]["i_base"] = 300


def _free(rows: list[Json]) -> None:
    rows[3]["data"]["tokens"]["cost"] = None


def _lost(rows: list[Json]) -> None:
    del rows[1]["data"]["attempts"][0]


def _swallowed(rows: list[Json]) -> None:
    rows[1]["data"]["attempts"][0]["error"] = None


def _estimated(rows: list[Json]) -> None:
    rows[2]["data"]["usage"]["reasoning"] = 6


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (_zero, "the provider told"),
        (_twice, "i_base is 300 in the ledger and 200 by the invoice"),
        (_free, "cost is None in the ledger"),
        (_lost, "status 200, the provider sent 503"),
        (_swallowed, "its error is None"),
        (_estimated, "the invoice says"),
    ],
)
def test_a_planted_difference_is_found(tmp_path: Path, plant: Callable[[list[Json]], None], said: str) -> None:
    """A zero for a missing count, a count twice, a lost attempt, an estimate: each is named."""
    rows = events()
    plant(rows)
    assert any(said in sentence for sentence in violations(tmp_path, rows, INVOICE))


def test_a_request_that_was_served_and_is_in_no_row_is_found(tmp_path: Path) -> None:
    """The invoice may not have a line more than the ledger."""
    assert "served 1 requests" in violations(tmp_path, events(), [*INVOICE, line()])[0]


def test_a_support_that_is_measured_wrong_is_found(tmp_path: Path) -> None:
    """M has to be what the prompt is longer by than without support."""
    rows = events()
    other = json.loads(json.dumps(events()).replace("t/none/0", "t/full/0"))
    longer = [Line(**{**one.__dict__, "prompt": "a b c d e"}) for one in INVOICE]
    found = violations(tmp_path, [*rows, *other], [*INVOICE, *longer])
    assert found == ["t/full/0#0: the support has 0 tokens in the ledger, the prompt is 2 longer"]


def test_overhead_is_what_is_neither_model_nor_tool() -> None:
    """From an episode's first model call to the next one's, less both, by step; the last episode has no end."""
    ms = 1_000_000
    spans = [
        ("model", 0, 1 * ms, 0), ("tool", 3 * ms, 4 * ms, 0), ("model", 5 * ms, 6 * ms, 0),
        ("model", 10 * ms, 11 * ms, 6 * ms), ("tool", 11 * ms, 12 * ms, 0), ("model", 12 * ms, 13 * ms, 0),
    ]  # fmt: skip
    assert overheads(spans, steps=2) == [((10 - 3) / 2, 6 / 2)]
