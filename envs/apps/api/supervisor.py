"""The person the agent acts for: profile, access tokens, and the end of the task."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from rebind.envs.apps.api.common import select
from rebind.envs.apps.api.registry import APPS, ApiError, Db, api
from rebind.errors import did_you_mean


@api("supervisor")
def profile(db: Db) -> JsonValue:
    """Who you act for: name, email, phone, address, city, and today's date.

    Returns {name, email, phone, address, city, today}; the time of day is 12:00.
    """
    return {row["key"]: row["value"] for row in select(db, "SELECT key, value FROM profile")}


@api("supervisor")
def list_apps(db: Db) -> JsonValue:
    """The apps the person has an account for.

    Returns a list of {app, username, description}.
    """
    rows = {row["app"]: row["username"] for row in select(db, "SELECT app, username FROM accounts")}
    return [{"app": app, "username": rows[app], "description": text} for app, text in APPS.items() if app in rows]


@api("supervisor", writes=True)
def login(db: Db, app: str) -> JsonValue:
    """Issues the access token that all APIs of an app require.

    Returns {access_token}; it stays valid to the end of the task.
    """
    found = select(db, "SELECT token FROM accounts WHERE app = ?", (app,))
    if not found:
        apps = [row["app"] for row in select(db, "SELECT app FROM accounts")]
        raise ApiError(404, f"no account for an app {app!r}{did_you_mean(app, apps)}")
    db.execute("UPDATE accounts SET token_issued = 1 WHERE app = ?", (app,))
    return {"access_token": found[0]["token"]}


@api("supervisor", writes=True)
def complete_task(db: Db, answer: str | None = None, status: Literal["success", "fail"] = "success") -> JsonValue:
    """Declares the task done, with the answer where it asked a question; call it once, at the very end.

    Returns {completed: true}. Status fail: the task cannot be done.
    """
    db.execute("INSERT INTO completion (id, status, answer) VALUES (1, ?, ?)", (status, answer))
    return {"completed": True}
