"""A server of the sites as this process sees it: started on demand, given a state for each episode, used again."""

from __future__ import annotations

import atexit
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from rebind.envs.sites.serve import DATABASE
from rebind.envs.sites.snapshot import child_environment, static_files
from rebind.errors import EnvironmentFailure

START_SECONDS, RESTORE_SECONDS = 90.0, 30.0


class Server:
    """One process. For one episode at a time."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="rebind-sites-"))
        self.database = self._folder / DATABASE
        command = [sys.executable, "-m", "rebind.envs.sites.serve", str(self._folder), str(static_files())]
        self._log = (self._folder / "log").open("w+b")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env=child_environment()
        )
        try:
            self.origin = f"http://127.0.0.1:{self._read(START_SECONDS, 'starting the sites')['port']}"
        except EnvironmentFailure:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def restore(self, image: Path, user: str) -> str:
        """Puts a state in place and signs the user in; the key of the session.

        Raises:
            EnvironmentFailure: the server is gone, or could not.
        """
        assert self._process.stdin is not None  # a pipe, see __init__
        order = json.dumps({"do": "restore", "image": str(image), "user": user})
        try:
            self._process.stdin.write(order.encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise EnvironmentFailure(f"the sites' server is gone: {self._last_words()}") from None
        try:
            answer = self._read(RESTORE_SECONDS, "resetting the sites")
        except EnvironmentFailure:
            self.stop()  # a late answer would be taken for the next one
            raise
        if not answer["ok"]:
            raise EnvironmentFailure(f"the sites could not be reset: {answer['error']}")
        return str(answer["session"])

    def _read(self, seconds: float, what: str) -> dict[str, Any]:
        assert self._process.stdout is not None  # a pipe, see __init__
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            why = "took too long" if not ready else self._last_words()
            raise EnvironmentFailure(f"{what} failed: {why}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        with suppress(OSError, ValueError):
            self._log.seek(0)
            lines = self._log.read().decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else "it said nothing"
        return "its log is gone"

    def stop(self) -> None:
        """Ends the process and removes its files; doing it again is allowed."""
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        shutil.rmtree(self._folder, ignore_errors=True)


_idle: list[Server] = []
_all: list[Server] = []
_guard = threading.Lock()
_owner = 0


def acquire() -> Server:
    """A server for one episode: an idle one of this process, or another.

    Raises:
        EnvironmentFailure: it did not start.
    """
    global _owner  # noqa: PLW0603  (servers belong to the process that started them)
    with _guard:
        if _owner != os.getpid():
            _idle.clear()  # those of a parent before a fork are not ours to use, nor to stop
            _all.clear()
            _owner = os.getpid()
        while _idle:
            server = _idle.pop()
            if server.alive:
                return server
            server.stop()
            _all.remove(server)
    server = Server()
    with _guard:
        _all.append(server)
    return server


def release(server: Server) -> None:
    """Takes a server back for the next episode; one that died meanwhile is cleared away."""
    with _guard:
        if server in _all and server.alive:
            _idle.append(server)
        elif server in _all:
            _all.remove(server)
            server.stop()


@atexit.register
def _at_exit() -> None:
    if _owner == os.getpid():
        for server in _all:
            server.stop()
