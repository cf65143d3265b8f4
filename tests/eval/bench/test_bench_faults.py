"""The fault benchmark would see an attempt that is missing, too many, or named for what it was not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rebind.agents.faults import SAID, WIRE_FAULTS, spoiled
from rebind.eval.bench.fault_kinds import NAMES, mismatches
from rebind.eval.bench.faults import _case, _plan

Attempt = dict[str, Any]


def attempt(status: int | None = 200, error: str | None = None, prompt: int | None = 5) -> Attempt:
    return {"status": status, "error": error, "usage": {"prompt": prompt}}


def named(fault: str | None) -> Attempt:
    """A row that names a fault rightly."""
    status, texts = NAMES.get(fault, NAMES[None])
    return attempt(status, texts[0] if texts else None, None if fault == "no-usage" else 5)


def rows(*faults: str | None) -> list[dict[str, Any]]:
    """One request that met these faults in turn."""
    return [{"attempts": [named(fault) for fault in faults]}]


@pytest.mark.parametrize("fault", [*WIRE_FAULTS, *SAID])
def test_every_fault_has_a_name_that_fits_it_and_no_answer_fits_a_providers_fault(fault: str) -> None:
    assert mismatches([fault], rows(fault)) == []
    if fault in WIRE_FAULTS:
        assert len(mismatches([fault], rows(None))) == 1
        assert len(mismatches([None], rows(fault))) == 1


def test_a_row_too_few_or_too_many_is_a_mismatch() -> None:
    assert mismatches(["500", None], rows("500", None)) == []
    assert mismatches(["500", None], rows("500")) == ["a request with None has no row"]
    assert len(mismatches(["500"], rows("500", None))) == 1


def test_faults_in_another_order_are_mismatches() -> None:
    assert len(mismatches(["500", "503", None], rows("503", "500", None))) == 2


def test_connections_refused_after_an_outage_are_expected_and_others_are_not() -> None:
    refused = attempt(None, "APIConnectionError: Connection error. (ConnectError: [Errno 111] Connection refused)")
    row = {"attempts": [named("down"), refused, refused, named("down"), refused, named(None)]}
    assert mismatches(["down", "down", None], [row]) == []
    assert len(mismatches(["500", None], [{"attempts": [named("500"), refused, named(None)]}])) == 2


def test_nothing_said_is_the_models_answer_once_it_was_asked_often_enough() -> None:
    answered = [{"attempts": [named("null-content"), named("null-content"), attempt()]}]
    assert mismatches(["null-content"] * 3, answered) == []


def test_a_behaviour_changes_what_is_said_and_a_fault_of_the_wire_does_not() -> None:
    whole = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}}
    assert spoiled(whole, "500") == whole
    assert "usage" not in spoiled(whole, "no-usage")
    assert spoiled(whole, "endless")["choices"][0]["finish_reason"] == "length"
    assert spoiled(whole, "null-content")["choices"][0]["message"]["content"] is None


@pytest.mark.parametrize(
    ("fault", "how", "endings"),
    [
        ("503", "passing", {"valid: done"}),
        ("malformed", "lasting", {"invalid-infra: ProviderError"}),
        ("empty-json", "lasting", {"invalid-infra: ProviderError"}),
        ("refusal", "lasting", {"invalid-agent: unparseable"}),
        ("down", "passing", {"valid: done"}),
    ],
)
def test_in_real_episodes_a_fault_ends_as_what_it_is(fault: str, how: str, endings: set[str], tmp_path: Path) -> None:
    row = _case(_plan(conditions=("none",), workers=1), fault, how, tmp_path / "run")
    assert row.details == []
    assert (row.misattributed, row.hung) == (0, 0)
    assert set(row.endings) == endings
    assert row.injected == row.recovered + row.infra + row.agent > 0
