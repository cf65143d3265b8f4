"""Datasets fetched from a real HTTP server on loopback, and from local folders."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support.originals import data as real
from typer.testing import CliRunner

from rebind.cli import app
from rebind.envs.adapters import datasets as registry
from rebind.envs.adapters.datasets import DataFile, Dataset, datasets
from rebind.envs.adapters.download import DownloadFailure, get
from rebind.errors import UserError

_CONTENT = bytes(range(256)) * 2000


class _Server(ThreadingHTTPServer):
    """Serves one content with ranges; breaks the connection after `breaks` bytes for as often as there are any."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content = _CONTENT
        self.ranges: list[str | None] = []
        self.breaks: list[int] = []
        self.status = 200
        self.honours_ranges = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/file"


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        if self.server.status != 200:
            self.send_error(self.server.status)
            return
        first = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.server.honours_ranges else 0
        if first >= len(self.server.content):
            self.send_error(416)
            return
        body = self.server.content[first:]
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.breaks.pop(0)] if self.server.breaks else body)

    def log_message(self, *_: object) -> None:
        """Silence."""


@pytest.fixture
def server() -> Iterator[_Server]:
    made = _Server()
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _dataset(url: str | None, content: bytes = _CONTENT) -> Dataset:
    file = DataFile(path="a/file", sha256=hashlib.sha256(content).hexdigest(), bytes=len(content), url=url)
    return Dataset(name="made", title="A made dataset", licence="MIT", origin="loopback", files=(file,))


def _yes(_text: str) -> bool:
    return True


def _silent(_word: str, _done: int, _all: int) -> None:
    pass


def test_interrupted_download_goes_on(server: _Server) -> None:
    """A connection that breaks is resumed behind what is there, and the file is whole."""
    server.breaks = [1000, 70_000]
    folder = get(_dataset(server.url), _yes, _silent)
    assert (folder / "a/file").read_bytes() == _CONTENT
    assert server.ranges[0] is None
    starts = [int(str(one)[6:-1]) for one in server.ranges[1:]]
    assert starts == sorted(starts)
    assert 0 < starts[0] <= 1000


def test_next_run_resumes(server: _Server) -> None:
    """What an earlier run left is not fetched again; a finished file is not asked for at all."""
    one = _dataset(server.url)
    part = one.folder / "a/file.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(_CONTENT[:5000])
    get(one, _yes, _silent)
    assert server.ranges == ["bytes=5000-"]
    get(one, _yes, _silent)
    assert len(server.ranges) == 1
    assert one.state() == "complete"


def test_server_without_ranges_starts_over(server: _Server) -> None:
    """A server that answers a range with the whole file gives the whole file."""
    server.honours_ranges = False
    one = _dataset(server.url)
    part = one.folder / "a/file.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"something else")
    assert (get(one, _yes, _silent) / "a/file").read_bytes() == _CONTENT


def test_wrong_bytes_are_not_kept(server: _Server) -> None:
    """A file that is not the pinned one is refused with both hashes, and nothing of it stays."""
    server.content = _CONTENT[::-1]
    one = _dataset(server.url)
    with pytest.raises(UserError, match=one.files[0].sha256):
        get(one, _yes, _silent)
    assert not list(one.folder.rglob("file*"))
    assert one.state() == "absent"


def test_changed_file_is_fetched_again(server: _Server) -> None:
    """A file in the cache that was changed is replaced."""
    one = _dataset(server.url)
    path = get(one, _yes, _silent) / "a/file"
    path.write_bytes(b"x" * len(_CONTENT))
    get(one, _yes, _silent)
    assert path.read_bytes() == _CONTENT


def test_failing_server_is_infrastructure(server: _Server) -> None:
    """An error of the server is said with the address."""
    server.status = 503
    with pytest.raises(DownloadFailure, match="503"):
        get(_dataset(server.url), _yes, _silent)


def test_licence_comes_first_and_once(server: _Server) -> None:
    """Nothing is fetched before the licence is accepted; it is shown once."""
    shown: list[str] = []

    def refuse(text: str) -> bool:
        shown.append(text)
        return False

    one = _dataset(server.url)
    with pytest.raises(UserError, match="was not accepted"):
        get(one, refuse, _silent)
    assert server.ranges == []
    assert "licence: MIT" in shown[0]
    get(one, _yes, _silent)
    get(one, refuse, _silent)
    assert len(shown) == 1


def test_local_copy_may_be_packed(tmp_path: Path) -> None:
    """Files come from a local folder, packed or not; one that is missing is named."""
    local = tmp_path / "local"
    (local / "a").mkdir(parents=True)
    with pytest.raises(UserError, match="holds no a/file"):
        get(_dataset(None), _yes, _silent, local)
    (local / "a/file.gz").write_bytes(gzip.compress(_CONTENT))
    assert (get(_dataset(None), _yes, _silent, local) / "a/file").read_bytes() == _CONTENT


def test_data_without_an_address_asks_for_a_copy() -> None:
    """Data that no address is pinned of is refused, naming --path."""
    with pytest.raises(UserError, match="--path"):
        get(_dataset(None), _yes, _silent)


def test_pins_are_those_of_the_real_files() -> None:
    """Every pinned hash is that of the real file, where the real data are."""
    for one in datasets():
        where = real("nc" if one.name == "locomo" else one.name)
        folder = get(one, _yes, _silent, where)
        assert one.state() == "complete", folder


def test_commands(server: _Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """`data list` tells the state, `data get` refuses without the licence and brings the data with it."""
    monkeypatch.setattr(registry, "datasets", lambda: (_dataset(server.url),))
    refused = CliRunner().invoke(app, ["data", "get", "made"])
    assert isinstance(refused.exception, UserError)
    done = CliRunner().invoke(app, ["data", "get", "made", "--accept-licence", "--json"])
    assert json.loads(done.stdout)["bytes"] == len(_CONTENT)
    listed = CliRunner().invoke(app, ["data", "list", "--json"])
    assert [(row["name"], row["state"]) for row in json.loads(listed.stdout)] == [("made", "complete")]
    unknown = CliRunner().invoke(app, ["data", "get", "mad"])
    assert "did you mean 'made'" in str(unknown.exception)
