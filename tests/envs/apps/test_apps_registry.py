"""How APIs are declared, checked and called."""

from __future__ import annotations

import json
import math
import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rebind.canon import canonical
from rebind.envs.apps.api import registry
from rebind.envs.apps.api.common import PREFIXES, new_id, page
from rebind.envs.apps.api.registry import APPS, MAX_TEXT, REGISTRY, ApiError, api, tool_spec
from rebind.envs.apps.state import Snapshots

NAMES = sorted(REGISTRY)


def test_there_are_at_least_80_apis_in_12_apps() -> None:
    assert len(REGISTRY) >= 80
    assert {one.app for one in REGISTRY.values()} == set(APPS)


@pytest.mark.parametrize("name", NAMES)
def test_every_api_is_documented_down_to_what_it_returns(name: str) -> None:
    one = REGISTRY[name]
    assert name == f"{one.app}_{one.function.__name__.rstrip('_')}"
    assert one.summary.endswith("."), one.summary
    assert "Returns" in one.details
    schema = tool_spec(one).parameters
    assert set(schema["required"]) == {p.name for p in one.parameters if p.required}
    assert ("access_token" in schema["required"]) == one.needs_token


def test_an_unknown_tool_is_a_404_with_the_nearest_name(agent) -> None:
    status, reason = agent.refused("mail_serch")
    assert status == 404
    assert "did you mean 'mail_search'?" in reason


def test_an_unknown_parameter_is_a_422_with_the_nearest_name(agent) -> None:
    assert agent.refused("mail_search", quary="x") == (
        422,
        "mail_search has no parameter 'quary'; did you mean 'query'?",
    )


@pytest.mark.parametrize(
    ("tool", "args", "reason"),
    [
        ("mail_show", {}, "mail_show needs mail_id (text)"),
        ("mail_search", {"page": "2"}, "page of mail_search must be integer, not '2'"),
        ("mail_search", {"page": True}, "page of mail_search must be integer, not True"),
        ("mail_search", {"unread": 1}, "unread of mail_search must be boolean, not 1"),
        ("mail_send", {"to": "a@b.example", "subject": "s", "body": "b"}, "to of mail_send must be list of text"),
        ("mail_search", {"folder": "inbx"}, "did you mean 'inbox'?"),
        ("mail_search", {"query": "x" * (MAX_TEXT + 1)}, "is too long"),
        ("mail_search", {"page": 2**60}, "a number that JSON cannot hold"),
        ("mail_search", {"page": math.nan}, "a number that JSON cannot hold"),
        ("mail_search", {"query": "\ud800"}, "half a surrogate pair"),
        ("mail_search", {"query": {1, 2}}, "of type set"),
        ("mail_search", {"page": 0}, "page starts at 1"),
        ("mail_search", {"page_size": 21}, "page_size must be between 1 and 20"),
    ],
)
def test_a_wrong_argument_is_a_422_that_says_which_and_why(agent, tool: str, args: dict, reason: str) -> None:
    status, said = agent.refused(tool, **args)
    assert status == 422
    assert reason in said


def test_a_missing_or_wrong_or_never_issued_token_is_a_401(db: sqlite3.Connection) -> None:
    (token,) = db.execute("SELECT token FROM accounts WHERE app = 'mail'").fetchone()
    for args in ({}, {"access_token": "guess"}, {"access_token": token}):
        made = registry.call(db, "mail_search", args)
        assert made.status == 401, args
    registry.call(db, "supervisor_login", {"app": "mail"})
    assert registry.call(db, "mail_search", {"access_token": token}).ok
    assert registry.call(db, "notes_search", {"access_token": token}).status == 401


def test_an_argument_that_json_cannot_hold_is_left_out_of_the_recorded_call(db: sqlite3.Connection) -> None:
    made = registry.call(db, "api_docs_search", {"query": math.inf, "other": 1})
    assert made.args == {"other": 1}
    canonical(made.model_dump(mode="json"))


def test_null_stands_for_leaving_an_optional_parameter_out(agent) -> None:
    assert agent.ok("mail_search", folder=None, page=None) == agent.ok("mail_search")


def test_what_an_api_did_before_it_refused_is_rolled_back(db: sqlite3.Connection) -> None:
    @api("todo", writes=True)
    def half_way(db: sqlite3.Connection) -> None:
        """Changes something, then refuses. Returns nothing."""
        db.execute("DELETE FROM todos")
        raise ApiError(422, "changed my mind")

    try:
        before = db.serialize()
        registry.call(db, "supervisor_login", {"app": "todo"})
        token = db.execute("SELECT token FROM accounts WHERE app = 'todo'").fetchone()[0]
        made = registry.call(db, "todo_half_way", {"access_token": token})
        assert (made.status, made.result) == (422, {"error": "changed my mind"})
        assert db.execute("SELECT count(*) FROM todos").fetchone()[0] > 0
        assert not db.in_transaction
        assert len(db.serialize()) == len(before)
    finally:
        del REGISTRY["todo_half_way"]


def test_an_api_cannot_be_declared_twice_or_without_documentation_or_app() -> None:
    def profile(db: sqlite3.Connection) -> None:
        """Taken. Returns nothing."""

    def silent(db: sqlite3.Connection) -> None: ...

    with pytest.raises(ValueError, match="registered twice"):
        api("supervisor")(profile)
    with pytest.raises(ValueError, match="no docstring"):
        api("supervisor")(silent)
    with pytest.raises(ValueError, match="did you mean 'mail'"):
        api("mial")


def test_pages_cut_a_listing_without_loss_and_a_page_past_the_end_is_empty() -> None:
    rows = [{"n": n} for n in range(23)]
    cut = [page(rows, number, 10) for number in (1, 2, 3, 4)]
    assert [len(one["items"]) for one in cut] == [10, 10, 3, 0]
    assert [row for one in cut for row in one["items"]] == rows
    assert all((one["pages"], one["total"]) == (3, 23) for one in cut)
    assert page([], 1, 10) == {"items": [], "page": 1, "pages": 0, "total": 0}


def test_new_ids_are_never_reused_and_differ_between_worlds(worlds: Snapshots) -> None:
    one, same, other = worlds.restore(7), worlds.restore(7), worlds.restore(8)
    issued = [new_id(one, "notes", "note") for _ in range(5)]
    assert issued == [new_id(same, "notes", "note") for _ in range(5)]
    assert len(set(issued)) == 5
    assert not set(issued) & {new_id(other, "notes", "note") for _ in range(5)}


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
LIKELY = {
    "text": st.sampled_from(
        ["", " ", "2026-02-30", "2026-05-01", "2026-05-01T10:00", "a@b.example", "/a/b.txt", "%", "'"]
    )
    | st.text(max_size=30),
    "integer": st.sampled_from([0, 1, -1, 2**53 - 1, -(2**53) + 1]) | st.integers(-5, 400),
    "number": st.floats(-10, 1e15),
    "boolean": st.booleans(),
    "list of text": st.lists(st.sampled_from(["", "a@b.example", "con_1", "'"]), max_size=3),
}


@st.composite
def calls(draw: st.DrawFn, ids: list[str]) -> tuple[str, dict]:
    """A call with arguments of mostly the right type, ids mostly of records that exist."""
    one = REGISTRY[draw(st.sampled_from(NAMES))]
    args = {}
    for parameter in one.parameters:
        if parameter.name == "access_token" or not (parameter.required or draw(st.booleans())):
            continue
        fitting = LIKELY[parameter.type]
        if parameter.choices:
            fitting = st.sampled_from(parameter.choices)
        elif parameter.type == "text":
            fitting = st.sampled_from(ids) | fitting
        args[parameter.name] = draw(fitting | JSON_VALUES if draw(st.integers(0, 9)) == 0 else fitting)
    return one.name, args


@pytest.fixture(scope="module")
def playground(worlds: Snapshots) -> tuple[sqlite3.Connection, dict[str, str], list[str]]:
    """A state that all examples change on, its tokens, and one id of every kind."""
    db = worlds.restore(7)
    tokens = dict(db.execute("SELECT app, token FROM accounts"))
    db.execute("UPDATE accounts SET token_issued = 1")
    ids = [row[0] for table in PREFIXES for row in db.execute(f"SELECT id FROM {table} ORDER BY rowid LIMIT 3")]
    return db, tokens, ids


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_argument_makes_an_api_raise_and_every_answer_is_canonical_json(playground, data: st.DataObject) -> None:
    db, tokens, ids = playground
    tool, args = data.draw(calls(ids))
    app = REGISTRY[tool].app
    made = registry.call(db, tool, args | ({"access_token": tokens[app]} if app in tokens else {}))
    assert made.status in (200, 401, 404, 422)
    canonical(made.model_dump(mode="json"))
    json.dumps(made.result, allow_nan=False)
    assert not db.in_transaction
    db.execute("DELETE FROM completion")
