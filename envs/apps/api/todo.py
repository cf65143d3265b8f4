"""Task lists and their tasks."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from rebind.envs.apps.api.common import (
    booleans,
    date_or_422,
    matches,
    new_id,
    one_or_404,
    select,
    text_or_422,
)
from rebind.envs.apps.api.common import (
    page as page_of,
)
from rebind.envs.apps.api.registry import ApiError, Db, api

_SHORT = ("list_id", "title", "due_on", "priority", "done", "assignee")

Priority = Literal["low", "normal", "high"]


@api("todo")
def list_lists(db: Db) -> JsonValue:
    """All task lists.

    Returns a list of {list_id, name, open, done}; open and done count its tasks.
    """
    return [
        *select(
            db,
            "SELECT l.id AS list_id, name, COUNT(t.id) FILTER (WHERE NOT done) AS open, COUNT(t.id) FILTER (WHERE done)"
            " AS done FROM todo_lists l LEFT JOIN todos t ON t.list_id = l.id GROUP BY l.id ORDER BY name, l.id",
        )
    ]


@api("todo", writes=True)
def create_list(db: Db, name: str) -> JsonValue:
    """Creates a task list.

    Returns {list_id}.
    """
    text_or_422(name, "name")
    for row in select(db, "SELECT id FROM todo_lists WHERE name = ?", (name,)):
        raise ApiError(422, f"a list named {name!r} exists already: {row['id']}")
    list_id = new_id(db, "todo_lists", "list")
    db.execute("INSERT INTO todo_lists VALUES (?, ?)", (list_id, name))
    return {"list_id": list_id}


@api("todo")
def search(
    db: Db,
    query: str = "",
    list_id: str | None = None,
    done: bool | None = None,
    priority: Priority | None = None,
    due_before: str | None = None,
    page: int = 1,
    page_size: int = 10,
) -> JsonValue:
    """Finds tasks by words of title and comment, list, state or priority; the earliest due first, undated ones last.

    due_before leaves only tasks due earlier than that date.
    Returns a page of {todo_id, list_id, title, due_on, priority, done, assignee}; the comment is in todo_show.
    """
    if list_id is not None:
        one_or_404(db, "todo_lists", list_id, "list")
    if due_before is not None:
        date_or_422(due_before, "due_before")
    rows = select(db, "SELECT * FROM todos ORDER BY due_on IS NULL, due_on, title, id")
    found = [
        booleans({"todo_id": row["id"], **{key: row[key] for key in _SHORT}}, "done")
        for row in rows
        if list_id in (None, row["list_id"])
        and done in (None, bool(row["done"]))
        and priority in (None, row["priority"])
        and (due_before is None or (row["due_on"] is not None and row["due_on"] < due_before))
        and matches(query, row["title"], row["comment"])
    ]
    return page_of(found, page, page_size)


@api("todo")
def show(db: Db, todo_id: str) -> JsonValue:
    """One task with its comment; assignee is a contact id or null.

    Returns {todo_id, list_id, title, due_on, priority, done, assignee, comment, list_name}.
    """
    row = booleans(one_or_404(db, "todos", todo_id, "task"), "done")
    name = one_or_404(db, "todo_lists", row["list_id"], "list")["name"]
    return {"todo_id": row.pop("id"), **row, "list_name": name}


@api("todo", writes=True)
def create(
    db: Db,
    list_id: str,
    title: str,
    due_on: str | None = None,
    priority: Priority = "normal",
    assignee: str | None = None,
) -> JsonValue:
    """Adds a task to a list; assignee is a contact id.

    Returns {todo_id}.
    """
    given = _checked(db, {"list_id": list_id, "title": title, "due_on": due_on, "assignee": assignee})
    todo_id = new_id(db, "todos", "todo")
    db.execute(
        "INSERT INTO todos (id, list_id, title, due_on, priority, assignee) VALUES (?, ?, ?, ?, ?, ?)",
        (todo_id, list_id, title, given.get("due_on"), priority, given.get("assignee")),
    )
    return {"todo_id": todo_id}


@api("todo", writes=True)
def update(
    db: Db,
    todo_id: str,
    title: str | None = None,
    due_on: str | None = None,
    priority: Priority | None = None,
    list_id: str | None = None,
    assignee: str | None = None,
    comment: str | None = None,
) -> JsonValue:
    """Changes a task; what is not given stays, and an empty due_on or assignee removes it.

    Returns {todo_id}.
    """
    one_or_404(db, "todos", todo_id, "task")
    given = _checked(
        db,
        {
            "title": title,
            "due_on": due_on,
            "priority": priority,
            "list_id": list_id,
            "assignee": assignee,
            "comment": comment,
        },
    )
    if not given:
        raise ApiError(422, "nothing to change: give title, due_on, priority, list_id, assignee or comment")
    assignments = ", ".join(f"{name} = ?" for name in given)
    db.execute(f"UPDATE todos SET {assignments} WHERE id = ?", (*given.values(), todo_id))
    return {"todo_id": todo_id}


@api("todo", writes=True)
def complete(db: Db, todo_id: str) -> JsonValue:
    """Marks a task as done.

    Returns {todo_id, done}.
    """
    return _set_done(db, todo_id, True)


@api("todo", writes=True)
def reopen(db: Db, todo_id: str) -> JsonValue:
    """Marks a done task as open again.

    Returns {todo_id, done}.
    """
    return _set_done(db, todo_id, False)


@api("todo", writes=True)
def delete(db: Db, todo_id: str) -> JsonValue:
    """Deletes a task for good.

    Returns {todo_id, deleted}.
    """
    one_or_404(db, "todos", todo_id, "task")
    db.execute("DELETE FROM todos WHERE id = ?", (todo_id,))
    return {"todo_id": todo_id, "deleted": True}


def _set_done(db: Db, todo_id: str, done: bool) -> JsonValue:
    row = one_or_404(db, "todos", todo_id, "task")
    if bool(row["done"]) == done:
        raise ApiError(422, f"task {todo_id} is {'done' if done else 'open'} already")
    db.execute("UPDATE todos SET done = ? WHERE id = ?", (done, todo_id))
    return {"todo_id": todo_id, "done": done}


def _checked(db: Db, values: dict[str, str | None]) -> dict[str, str | None]:
    """The values that were given, valid, an empty due_on or assignee as None. Raises 404 or 422."""
    given = {name: value for name, value in values.items() if value is not None}
    if "title" in given:
        text_or_422(given["title"], "title")
    if "list_id" in given:
        one_or_404(db, "todo_lists", given["list_id"], "list")
    if given.get("due_on"):
        date_or_422(given["due_on"], "due_on")
    if given.get("assignee"):
        one_or_404(db, "contacts", given["assignee"], "contact")
    return {name: None if name in ("due_on", "assignee") and not value else value for name, value in given.items()}
