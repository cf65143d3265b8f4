"""The server's own process: `python -m rebind.envs.sites.serve FOLDER STATIC`.

Serves the sites on a port that the system chooses and takes orders as JSON lines on standard input, answering each with
a line on standard output. When its input ends, or its parent is gone, so is it, and its folder with it.

Orders: {"do": "restore", "image": PATH, "user": NAME} puts a database in place and signs NAME in; the answer has the
`session` key. {"do": "stop"} ends it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

THREADS = 4
DATABASE = "state.sqlite3"


class Gate:
    """Lets requests through, and none while the state is being replaced. Wraps a WSGI application."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application
        self._changed = threading.Condition()
        self._running = 0
        self._closed = False

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        with self._changed:
            self._changed.wait_for(lambda: not self._closed)
            self._running += 1
        try:
            answer: Any = self._application(environ, start_response)
            body = list(answer)
            if hasattr(answer, "close"):
                answer.close()  # Django ends the request here: its connection is closed
            return body
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def alone(self, work: Callable[[], Any]) -> Any:
        """Runs work while no request is under way. Raises TimeoutError where one does not end in ten seconds."""
        with self._changed:
            self._closed = True
            try:
                if not self._changed.wait_for(lambda: self._running == 0, timeout=10):
                    raise TimeoutError("a request has been running for ten seconds")
                return work()
            finally:
                self._closed = False
                self._changed.notify_all()


def restore(image: Path, database: Path, user: str) -> str:
    """Puts a copy of an image in place of the database, forgets all that was cached, and signs a user in; the key of
    the session, which is a new one each time."""
    from django.contrib.contenttypes.models import ContentType
    from django.contrib.sites.models import Site
    from django.core.cache import caches
    from django.db import connections

    from rebind.envs.sites.project import clock

    connections.close_all()
    fresh = database.with_suffix(".fresh")
    shutil.copyfile(image, fresh)
    session = _signed_in(fresh, user)
    for name in (f"{database.name}-wal", f"{database.name}-shm"):
        with suppress(FileNotFoundError):
            (database.parent / name).unlink()
    os.replace(fresh, database)
    shutil.rmtree(database.parent / "media", ignore_errors=True)  # uploads are state too
    for cache in caches.all():
        cache.clear()
    ContentType.objects.clear_cache()
    Site.objects.clear_cache()
    clock.restart()
    return session


def _signed_in(path: Path, name: str) -> str:
    """Adds a session of that user to a database that nobody uses yet. Past Django's models: it takes a tenth of the
    time, and every reset waits for it."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.auth.models import User
    from django.contrib.sessions.backends.db import SessionStore

    key, until = secrets.token_hex(16), "2026-04-16 00:00:00"
    db = sqlite3.connect(path)
    try:
        db.execute("PRAGMA synchronous = OFF")
        found = db.execute("SELECT id, password FROM auth_user WHERE username = ?", (name,)).fetchone()
        if found is None:
            raise LookupError(f"no user {name!r}")
        data = {
            SESSION_KEY: str(found[0]),
            BACKEND_SESSION_KEY: "django.contrib.auth.backends.ModelBackend",
            HASH_SESSION_KEY: User(password=found[1]).get_session_auth_hash(),
        }
        row = (key, SessionStore().encode(data), until)
        db.execute("INSERT INTO django_session (session_key, session_data, expire_date) VALUES (?, ?, ?)", row)
        db.commit()
    finally:
        db.close()
    return key


def _application() -> Gate:
    os.environ["DJANGO_SETTINGS_MODULE"] = "rebind.envs.sites.project.settings"
    from rebind.envs.sites.project import clock

    clock.install()
    from django.core.wsgi import get_wsgi_application

    return Gate(get_wsgi_application())  # pyright: ignore[reportArgumentType]  # inferred from untyped code


def _watch_parent(folder: Path) -> None:
    """Ends the process once its parent is gone: a pipe that a grandchild holds open would not tell."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def _answer(gate: Gate, database: Path, order: dict[str, Any]) -> dict[str, Any]:
    try:
        session = gate.alone(lambda: restore(Path(order["image"]), database, order["user"]))
        return {"ok": True, "session": session}
    except Exception as error:  # whatever it is, the parent is told and decides
        return {"ok": False, "error": f"{type(error).__name__}: {error}"}


def main(folder: Path, static: Path) -> None:
    from waitress import create_server  # pyright: ignore[reportAttributeAccessIssue]  # made known at run time

    _watch_parent(folder)
    database = folder / DATABASE
    os.environ["REBIND_SITES_DB"], os.environ["REBIND_SITES_STATIC"] = str(database), str(static)
    gate = _application()
    server = create_server(gate, host="127.0.0.1", port=0, threads=THREADS, ident="")
    threading.Thread(target=server.run, name="waitress", daemon=True).start()
    print(json.dumps({"port": server.effective_port}), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] == "stop":
            break
        print(json.dumps(_answer(gate, database, order)), flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)  # its threads hold nothing that is worth waiting for


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
