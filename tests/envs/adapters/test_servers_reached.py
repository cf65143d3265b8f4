"""What `rebind doctor` says of the servers of WebArena and WorkArena: real servers on loopback."""

from __future__ import annotations

import base64
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rebind.cli import app
from rebind.envs.adapters import reach
from rebind.envs.adapters.reach import RESET_VARIABLE, SNOW, Looked, look
from rebind.envs.adapters.webarena.sites import SITES, STATE_VARIABLE, variable

_ALL = (*map(variable, SITES), RESET_VARIABLE, STATE_VARIABLE, *SNOW, "SNOW_INSTANCE_POOL", *reach._TOKENS)


class Handler(BaseHTTPRequestHandler):
    """A front page, a broken one, one of a sleeping instance; an API that knows one user."""

    def do_GET(self) -> None:
        allowed = self.headers.get("Authorization") == f"Basic {base64.b64encode(b'admin:-right-').decode()}"
        status = 503 if self.path.startswith("/broken") else 401 if "/api/" in self.path and not allowed else 200
        text = "Your instance is hibernating" if self.path.startswith("/asleep") else "welcome"
        if "/api/" in self.path and not self.path.startswith("/other"):
            text = '{"result": []}'
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _ALL:
        monkeypatch.delenv(name, raising=False)


def _of(what: str) -> Looked:
    found = [one for one in look() if one.what == what]
    assert len(found) == 1, look()
    return found[0]


def test_who_uses_neither_lacks_nothing() -> None:
    """Without any variable both are notes that name what to set, and `rebind doctor` finds nothing missing in them."""
    found = {one.what: one for one in look()}
    assert {name: one.state for name, one in found.items()} == {"WebArena": "note", "WorkArena": "note"}
    assert "WA_SHOPPING, WA_SHOPPING_ADMIN" in found["WebArena"].advice
    assert "SNOW_INSTANCE_URL" in found["WorkArena"].advice
    assert "gated" in found["WorkArena"].advice


def test_doctor_prints_them(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`rebind doctor --json` has each site that is set, none of them required."""
    monkeypatch.setenv("WA_GITLAB", f"{origin}/")
    done = CliRunner().invoke(app, ["doctor", "--json"])
    rows = {row["what"]: row for row in json.loads(done.stdout)}
    assert rows["WebArena WA_GITLAB"]["state"] == "ok"
    assert rows["WebArena WA_GITLAB"]["detail"] == f"reachable: {origin}"
    assert not rows["WebArena WA_GITLAB"]["required"]
    assert rows["WorkArena"]["state"] == "note"


def test_a_site_that_answers_is_reachable_and_others_are_named(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site that answers is fine, whatever page; those that are not set are named."""
    monkeypatch.setenv("WA_SHOPPING_ADMIN", f"{origin}/admin")
    assert _of("WebArena WA_SHOPPING_ADMIN") == Looked("WebArena WA_SHOPPING_ADMIN", "ok", f"reachable: {origin}/admin")
    assert _of("WebArena").detail == "not set: WA_SHOPPING, WA_REDDIT, WA_GITLAB, WA_WIKIPEDIA, WA_MAP"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://127.0.0.1:9", "refused"),
        ("{origin}/broken", "it answers 503"),
        ("gitlab.example:8023", "protocol"),
        ("http://[::1", "Invalid port"),
    ],
)
def test_a_site_that_does_not_answer_is_missing(
    origin: str, monkeypatch: pytest.MonkeyPatch, address: str, why: str
) -> None:
    """A site that refuses, breaks, or has no address that can be asked is missing, with the reason and what to try."""
    monkeypatch.setenv("WA_GITLAB", address.format(origin=origin))
    found = _of("WebArena WA_GITLAB")
    assert found.state == "missing"
    assert found.detail.startswith("unreachable: ")
    assert why.lower() in found.detail.lower()
    assert "WA_GITLAB" in found.advice


def test_a_silent_site_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that takes the connection and says nothing is unreachable after the time a server has."""
    monkeypatch.setattr(reach, "SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("WA_MAP", f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert "no answer within 0.3 s" in _of("WebArena WA_MAP").detail


def test_the_reset_server_is_asked_for_its_status(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """WA_FULL_RESET is asked at the address that tells the reset's state, and never at the one that resets."""
    monkeypatch.setenv(RESET_VARIABLE, origin)
    assert _of(f"WebArena {RESET_VARIABLE}").detail == f"reachable: {origin}/status"


def test_logins_are_looked_at(origin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logins that are not named are a note, expired ones are missing, others are counted."""
    what, file = f"WebArena {STATE_VARIABLE}", tmp_path / "state.json"
    monkeypatch.setenv("WA_GITLAB", origin)
    assert _of(what).state == "note"
    monkeypatch.setenv(STATE_VARIABLE, str(file))
    assert _of(what).state == "missing"
    cookie = {"name": "session", "value": "v", "domain": "127.0.0.1", "path": "/"}
    file.write_text(json.dumps({"cookies": [{**cookie, "expires": 5}], "origins": []}))
    assert "expired logins (session)" in _of(what).detail
    file.write_text(json.dumps({"cookies": [{**cookie, "expires": -1}], "origins": []}))
    assert _of(what).detail == "1 cookies, none expired"


@pytest.mark.parametrize(
    ("path", "password", "state", "detail", "advice"),
    [
        ("", "right", "ok", "as admin", ""),
        ("", "wrong", "missing", "refuses the user admin", "SNOW_INSTANCE_PWD"),
        ("/asleep", "right", "missing", "is hibernating", "wake it up"),
        ("/broken", "right", "missing", "it answers 503", "SNOW_INSTANCE_URL"),
        ("/other", "right", "missing", "is no ServiceNow instance", "SNOW_INSTANCE_URL"),
    ],
)
def test_an_instance_is_asked_with_its_user(
    origin: str, monkeypatch: pytest.MonkeyPatch, path: str, password: str, state: str, detail: str, advice: str
) -> None:
    """A ServiceNow instance must answer, be awake, know the user, and be one; no password is shown."""
    for name, value in zip(SNOW, (origin + path, "admin", f"-{password}-"), strict=True):
        monkeypatch.setenv(name, value)
    found = next(one for one in look() if one.what.startswith("WorkArena"))
    assert found.state == state
    assert detail in found.detail
    assert advice in found.advice
    assert f"-{password}-" not in str(found)


def test_half_an_instance_names_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address without user and password is missing those two."""
    monkeypatch.setenv(SNOW[0], "http://127.0.0.1:9")
    assert _of("WorkArena").detail == "not set: SNOW_INSTANCE_UNAME, SNOW_INSTANCE_PWD"


def test_a_list_of_instances_must_be_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SNOW_INSTANCE_POOL must name a file; a token for the gated list is mentioned by the variable's name alone."""
    monkeypatch.setenv("SNOW_INSTANCE_POOL", str(tmp_path / "pool.json"))
    assert _of("WorkArena").state == "missing"
    (tmp_path / "pool.json").write_text("[]")
    assert _of("WorkArena").state == "note"
    assert "set SNOW_INSTANCE_URL" in _of("WorkArena").advice
    monkeypatch.delenv("SNOW_INSTANCE_POOL")
    monkeypatch.setenv("HF_TOKEN", "a-secret")
    assert _of("WorkArena").state == "note"
    assert "HF_TOKEN" in _of("WorkArena").detail
    assert "a-secret" not in str(look())
