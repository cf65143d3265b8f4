"""What counts as an action in a model's answer, and what the model is told where there is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebind.agents.parse import parse
from rebind.types import Code, Completion, ToolCall

CALL = ToolCall(tool="mail_send", args={"to": "a@b.org", "n": 1})
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(1 - 2**53, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def said(text: str, finish: str = "stop") -> Completion:
    return Completion(text=text, finish=finish)


def native(arguments: Any, name: str = "mail_send") -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    "text",
    [
        '{"tool":"mail_send","args":{"to":"a@b.org","n":1}}',
        'I will send it.\n```json\n{"tool": "mail_send",\n "args": {"to": "a@b.org", "n": 1}}\n```\nDone.',
        '```\n{"tool":"mail_send","args":{"to":"a@b.org","n":1}}',
        '{"tool":"mail_send","args":{"to":"a@b.org","n":1}} and then I wait {"tool":"other","args":{}}',
        '{"name":"mail_send","arguments":{"to":"a@b.org","n":1}}',
        '{"tool":"mail_send","args":"{\\"to\\":\\"a@b.org\\",\\"n\\":1}"}',
    ],
)
def test_a_json_call_is_found_in_fences_and_among_words(text: str) -> None:
    assert parse(said(text), "json").action == CALL


def test_the_thought_is_kept_apart_from_the_call() -> None:
    parsed = parse(said('{"thought":"Now send.","tool":"mail_send","args":{"to":"a@b.org","n":1}}'), "json")
    assert (parsed.thought, parsed.action) == ("Now send.", CALL)


def test_a_call_without_arguments_has_none() -> None:
    assert parse(said('{"tool":"profile"}'), "json").action == ToolCall(tool="profile")


@given(tool=st.text(min_size=1), args=st.dictionaries(st.text(), JSON_VALUES, max_size=4))
def test_any_call_written_as_json_comes_back_unchanged(tool: str, args: dict[str, Any]) -> None:
    text = json.dumps({"tool": tool, "args": args})
    assert parse(said(text), "json").action == ToolCall(tool=tool, args=args)


@given(st.text())
def test_no_text_whatever_makes_parsing_fail(text: str) -> None:
    parsed = parse(said(text), "code")
    assert (parsed.action is None) == bool(parsed.problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("I am done.", "no JSON object"),
        ('{"tool":"mail_send","args":{', "no valid JSON object"),
        ('{"args":{}}', 'no "tool"'),
        ('{"tool":7,"args":{}}', 'no "tool"'),
        ('{"tool":"mail_send","args":[1]}', "not a JSON object"),
        ('{"tool":"mail_send","args":"{oops"}', "not valid JSON"),
        ("", "no JSON object"),
        ("[" * 100_000 + "{", "no valid JSON object"),
    ],
)
def test_what_is_no_call_says_why(text: str, problem: str) -> None:
    parsed = parse(said(text), "json")
    assert parsed.action is None
    assert problem in parsed.problem


def test_an_answer_cut_at_its_length_limit_is_told_to_be_shorter() -> None:
    assert "cut off" in parse(said('{"tool":"mail_send","args":{"body":"la la', "length"), "json").problem


def test_an_unknown_tool_is_the_environments_to_judge_unless_names_are_strict() -> None:
    text = '{"tool":"mail_sent","args":{}}'
    assert parse(said(text), "json").action == ToolCall(tool="mail_sent")
    strict = parse(said(text), "json", only=["mail_send", "mail_show"])
    assert strict.action is None
    assert "did you mean 'mail_send'?" in strict.problem


def test_the_first_native_call_is_the_action() -> None:
    calls = (native('{"to": "a@b.org", "n": 1}'), native("{}", "other"))
    parsed = parse(Completion(text=" Sending. ", tool_calls=calls), "native")
    assert (parsed.action, parsed.thought) == (CALL, "Sending.")


@pytest.mark.parametrize(("arguments", "problem"), [("{oops", "not valid JSON"), ("[]", "not a JSON object")])
def test_native_arguments_that_are_no_object_say_so(arguments: str, problem: str) -> None:
    assert problem in parse(Completion(text="", tool_calls=(native(arguments),)), "native").problem


def test_text_alone_is_no_action_where_native_calls_are_due() -> None:
    assert "called no tool" in parse(said('{"tool":"mail_send","args":{}}'), "native").problem


def test_a_python_block_is_code_only_where_the_study_allows_code() -> None:
    text = "Look first.\n```python\nprint(mail_search(query='x'))\n```"
    parsed = parse(said(text), "code")
    assert parsed.action == Code(code="print(mail_search(query='x'))\n")
    assert parsed.thought == "Look first."
    assert parse(said(text), "json").action is None


def test_a_json_call_is_taken_in_code_mode_too() -> None:
    assert parse(said('{"tool":"mail_send","args":{"to":"a@b.org","n":1}}'), "code").action == CALL


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1" + "0" * 40, '"\\ud800"', "[" * 500 + "]" * 500])
def test_arguments_that_no_ledger_could_hold_are_no_action(value: str) -> None:
    assert "JSON cannot" in parse(said(f'{{"tool":"t","args":{{"x":{value}}}}}'), "json").problem
