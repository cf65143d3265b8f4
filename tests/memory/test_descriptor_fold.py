"""The descriptor: tool names and order, folded without loss, and nothing else."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from rebind.memory.descriptor import describe, fold
from rebind.types import Call, Step, ToolCall


def unfolded(text: str) -> list[str]:
    """What a folded line stands for."""
    loops = re.sub(r"\(([^)]*)\) ×(\d+)", lambda m: " → ".join([m[1]] * int(m[2])), text)
    runs = re.sub(r"(\w+) ×(\d+)", lambda m: " → ".join([m[1]] * int(m[2])), loops)
    return runs.split(" → ") if runs else []


@given(st.lists(st.sampled_from(["mail_show", "mail_move", "notes_search", "login"]), max_size=60))
def test_folding_loses_no_call_and_no_order(tools: list[str]) -> None:
    assert unfolded(fold(tools)) == tools


def test_a_loop_is_folded() -> None:
    assert fold(["a", *["b", "c"] * 3, "d", "d"]) == "a → (b → c) ×3 → d ×2"


def test_only_the_names_of_calls_that_succeeded_are_described() -> None:
    args: dict[str, JsonValue] = {"query": "Anna Smith"}
    calls = (
        Call(tool="contacts_search", args=args, status=200, result={"items": [{"email": "anna@example.com"}]}),
        Call(tool="contacts_delete", args={"contact_id": "con_1"}, status=404, result={"error": "no such"}),
    )
    step = Step(action=ToolCall(tool="contacts_search", args=args), observation="anna@example.com", calls=calls)
    assert describe([step]) == "contacts_search"
