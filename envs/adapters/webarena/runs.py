"""What solves the tasks of the stub site, and what comes close and does not: for `rebind envs check`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import JsonValue

from rebind.types import ToolCall

Run = tuple[ToolCall, ...]


def right(task: int) -> Run:
    """Raises KeyError for a task that the stub site does not serve."""
    return _RUNS[task][0]


def wrong(task: int) -> Run:
    """The same steps with a wrong page, value or answer."""
    return _RUNS[task][1]


def _done(kind: str, data: JsonValue = None) -> ToolCall:
    answer = {"task_type": kind, "status": "SUCCESS", "retrieved_data": data, "error_details": None}
    return ToolCall(tool="send_msg_to_user", args={"text": json.dumps(answer)})


def _click(element: str) -> ToolCall:
    return ToolCall(tool="click", args={"element": element})


def _fill(element: str, value: str) -> ToolCall:
    return ToolCall(tool="fill", args={"element": element, "value": value})


def _commits(count: int) -> Run:
    where = (_click('link "a11yproject/a11yproject.com"'), _click('link "Commits"'))
    return (*where, _done("RETRIEVE", [count]))


def _issues(page: str) -> Run:
    return (_click(f'link "{page}"'), _done("NAVIGATE"))


def _comment(project: str, request: str, text: str) -> Run:
    where = (_click(f'link "{project}"'), _click('link "Merge requests"'), _click(f'link "{request}"'))
    return (*where, _fill('textbox "Comment"', text), _click('button "Comment"'), _done("MUTATE"))


def _biography(text: str) -> Run:
    return (
        _click('link "Edit biography"'),
        _fill('textbox "Biography"', text),
        _click('button "Save"'),
        _done("MUTATE"),
    )


def _status(product: str, option: str) -> Run:
    choice = ToolCall(tool="select_option", args={"element": 'combobox "Status"', "options": option})
    return (_click(f'link "{product}"'), choice, _click('button "Save"'), _done("MUTATE"))


def _wish(name: str) -> Run:
    return (_click(f'button "Wish for {name}"'), _done("MUTATE"))


def _contact(send: bool) -> Run:
    text = "I need a refund. Order: 000000180. Amount: $12.99. Reason: It broke after three days of use."
    filled = (
        _click('link "Contact Us"'),
        _fill('textbox "Name"', "Emma Lopez"),
        _fill('textbox "Email"', "emma.lopez@gmail.com"),
        _fill('textbox "Message"', text),
        ToolCall(tool="press", args={"key": "Tab"}),
    )
    return (*filled, *([_click('button "Submit"')] if send else []), _done("MUTATE"))


_A11Y, _PRIMER = "a11yproject/a11yproject.com", "primer/design"
_HOODIE, _TEE = "Teton pullover hoodie", "Ryker Tee Crew Neck"
_SOAP, _PASTE = "Sensitive Laundry Detergent, 50 oz", "Whitening Toothpaste, 3.5 oz"
_RUNS: Mapping[int, tuple[Run, Run]] = {
    45: (_issues("Issues"), _issues("Merge requests")),
    46: (_issues("Issues"), _issues("Commits")),
    132: (_commits(1), _commits(2)),
    133: (_commits(2), _commits(1)),
    389: (
        _comment(_PRIMER, "Octovisuals page", "Thanks, working on reviews"),
        _comment(_PRIMER, "Octovisuals page", "Thanks, working on it"),
    ),
    390: (_comment(_A11Y, "Semantic HTML post", "lgtm"), _comment(_PRIMER, "Octovisuals page", "lgtm")),
    399: (_biography("I am a robot"), _biography("I am no robot")),
    400: (_biography("Pro Python Developer with 20 years of Experience"), _biography("Pro Python Developer")),
    453: (_status(_HOODIE, "Disabled"), _status(_HOODIE, "Enabled")),
    454: (_status(_TEE, "Disabled"), _status(_HOODIE, "Disabled")),
    511: (_wish(_SOAP), _wish("Dish Sponge, 6 Pack")),
    512: (_wish(_PASTE), _wish(_SOAP)),
    528: (_contact(send=False), _contact(send=True)),
}
