"""The APIs of the todo app."""

from __future__ import annotations

import pytest


@pytest.fixture
def todo_list(agent) -> str:
    return agent.ok("todo_create_list", name="Lake trip")["list_id"]


@pytest.fixture
def task(agent, todo_list: str) -> str:
    return agent.ok("todo_create", list_id=todo_list, title="Hire a boat")["todo_id"]


def test_list_lists_counts_open_and_done_tasks(agent, todo_list: str, task: str) -> None:
    done = agent.ok("todo_create", list_id=todo_list, title="Buy a map")["todo_id"]
    agent.ok("todo_complete", todo_id=done)
    found = agent.ok("todo_list_lists")
    assert {"list_id": todo_list, "name": "Lake trip", "open": 1, "done": 1} in found
    assert sum(one["open"] + one["done"] for one in found) == agent.value("SELECT count(*) FROM todos")


def test_two_lists_cannot_have_one_name(agent, todo_list: str) -> None:
    assert agent.refused("todo_create_list", name="Lake trip") == (
        422,
        f"a list named 'Lake trip' exists already: {todo_list}",
    )
    assert agent.refused("todo_create_list", name="")[0] == 422


def test_create_fills_defaults_and_show_has_comment_and_list_name(agent, todo_list: str, task: str) -> None:
    assert agent.ok("todo_show", todo_id=task) == {
        "todo_id": task,
        "list_id": todo_list,
        "title": "Hire a boat",
        "due_on": None,
        "priority": "normal",
        "done": False,
        "assignee": None,
        "comment": "",
        "list_name": "Lake trip",
    }


def test_search_filters_by_each_parameter(agent) -> None:
    every = agent.every("todo_search")
    assert len(every) == agent.value("SELECT count(*) FROM todos")
    one = next(row for row in every if row["due_on"] and not row["done"])
    assert one in agent.every("todo_search", query=one["title"].upper())
    for name in ("list_id", "done", "priority"):
        found = agent.every("todo_search", **{name: one[name]})
        assert one in found
        assert {row[name] for row in found} == {one[name]}
    early = agent.every("todo_search", due_before=one["due_on"])
    assert one not in early
    assert early == [row for row in every if row["due_on"] and row["due_on"] < one["due_on"]]


def test_search_finds_words_of_the_comment_without_showing_it(agent) -> None:
    key, comment = agent.rows("SELECT id, comment FROM todos WHERE comment <> '' LIMIT 1")[0]
    found = agent.every("todo_search", query=comment)
    assert key in [one["todo_id"] for one in found]
    assert all("comment" not in one for one in found)


def test_search_lists_the_earliest_due_first_and_undated_tasks_last(agent) -> None:
    dates = [one["due_on"] or "9999" for one in agent.every("todo_search")]
    assert dates == sorted(dates)
    assert dates[-1] == "9999"


def test_update_changes_only_what_is_given(agent, task: str) -> None:
    contact = agent.value("SELECT id FROM contacts LIMIT 1")
    other = agent.value("SELECT id FROM todo_lists WHERE name = 'Home'")
    before = agent.ok("todo_show", todo_id=task)
    changes = {"due_on": "2031-05-01", "priority": "high", "assignee": contact, "comment": "soon", "list_id": other}
    agent.ok("todo_update", todo_id=task, **changes)
    assert agent.ok("todo_show", todo_id=task) == before | changes | {"list_name": "Home"}


def test_an_empty_due_date_or_assignee_removes_it(agent, task: str) -> None:
    contact = agent.value("SELECT id FROM contacts LIMIT 1")
    agent.ok("todo_update", todo_id=task, due_on="2031-05-01", assignee=contact)
    agent.ok("todo_update", todo_id=task, due_on="", assignee="")
    shown = agent.ok("todo_show", todo_id=task)
    assert (shown["due_on"], shown["assignee"]) == (None, None)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"title": " "}, 422), ({"due_on": "tomorrow"}, 422), ({"priority": "urgent"}, 422),
        ({"list_id": "list_1"}, 404), ({"assignee": "Anna"}, 404),
    ],
)  # fmt: skip
def test_bad_details_are_refused_when_creating_and_updating(
    agent, todo_list: str, task: str, change: dict, status: int
) -> None:
    assert agent.refused("todo_create", **{"list_id": todo_list, "title": "t"} | change)[0] == status
    assert agent.refused("todo_update", todo_id=task, **change)[0] == status


def test_an_update_without_a_detail_is_refused(agent, task: str) -> None:
    assert agent.refused("todo_update", todo_id=task)[1].startswith("nothing to change")


def test_complete_and_reopen_work_once_each(agent, task: str) -> None:
    assert agent.ok("todo_complete", todo_id=task) == {"todo_id": task, "done": True}
    assert agent.refused("todo_complete", todo_id=task) == (422, f"task {task} is done already")
    agent.ok("todo_reopen", todo_id=task)
    assert agent.refused("todo_reopen", todo_id=task) == (422, f"task {task} is open already")


def test_delete_removes_the_task(agent, task: str) -> None:
    assert agent.ok("todo_delete", todo_id=task) == {"todo_id": task, "deleted": True}
    for verb in ("show", "complete", "reopen", "delete", "update"):
        assert agent.refused(f"todo_{verb}", todo_id=task)[0] == 404


def test_search_refuses_an_unknown_list_and_a_bad_date(agent) -> None:
    assert agent.refused("todo_search", list_id="Home")[0] == 404
    assert agent.refused("todo_search", due_before="2026-1-1")[0] == 422
