"""Serves a local model through llama.cpp's OpenAI-compatible server, in a child process on loopback."""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType

from rebind.agents.catalogue import known
from rebind.agents.endpoint import Endpoint
from rebind.agents.local_server import KEY_VARIABLE
from rebind.agents.weights import find_or_fetch
from rebind.errors import InfraError, ModelError

PREFIX = "local/"
DEFAULT_MODEL = "local/qwen2.5-coder-1.5b"
"""What a study runs on where it names no model: costs nothing, needs no key."""

_START_SECONDS = 180.0
_LOG_TAIL = 15
"""Lines of the child's log shown when it does not start."""
_TIMEOUT = 900.0
"""Seconds for one request: on two cores a long prompt in each of four slots takes minutes."""


@dataclass(frozen=True)
class LocalSettings:
    """How a local model is served; in rare cases answers differ between slot counts."""

    slots: int = 4
    """Requests served at once."""
    context: int = 8192
    """Tokens of context per slot."""
    threads: int = 0
    """0: as many as this process has cores."""
    path: Path | None = None
    """The weights, where they are not to be looked for."""


class LocalServer:
    """One served model. Starts on entering the context (or `start`) and ends on leaving it, or with this process."""

    def __init__(self, name: str, settings: LocalSettings | None = None) -> None:
        self.weights = known(name)
        self.settings = settings or LocalSettings()
        self._key = secrets.token_urlsafe(16)
        self._child: subprocess.Popen[str] | None = None
        self._log = Path(tempfile.gettempdir()) / f"rebind-local-{os.getpid()}-{secrets.token_hex(4)}.log"
        self._url = ""

    def start(self) -> LocalServer:
        """Starts the server and waits until it answers.

        Raises:
            ModelError: the extra `local` is not installed, or the weights cannot be had.
            InfraError: the server did not start; shows the end of its log.
        """
        if importlib.util.find_spec("xllamacpp") is None:
            raise ModelError(f"{PREFIX}{self.weights.name} needs the extra: pip install 'rebind[local]'")
        path = find_or_fetch(self.weights.name, self.settings.path)
        with self._log.open("w") as log:
            self._child = subprocess.Popen(
                self._command(path),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, KEY_VARIABLE: self._key},
            )
        self._url = self._await_url(self._child)
        return self

    def _command(self, path: Path) -> list[str]:
        threads = self.settings.threads or _cores()
        options = {"model": path, "slots": self.settings.slots, "context": self.settings.context, "threads": threads}
        flags = [word for key, value in options.items() for word in (f"--{key}", str(value))]
        return [sys.executable, "-m", "rebind.agents.local_server", *flags]

    def _await_url(self, child: subprocess.Popen[str]) -> str:
        """The address the child prints once it is ready."""
        assert child.stdout is not None  # opened as a pipe
        lines: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=lambda out: lines.put(out.readline()), args=(child.stdout,), daemon=True).start()
        began = time.monotonic()
        try:
            line = lines.get(timeout=_START_SECONDS)
        except Empty:
            line = ""
        if not line:
            seconds = time.monotonic() - began
            self.close()
            raise InfraError(
                f"the server of {PREFIX}{self.weights.name} did not start ({seconds:.0f} s, exit code "
                f"{child.returncode}); the end of its log {self._log}:\n{self._tail()}"
            )
        return str(json.loads(line)["url"])

    def _tail(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-_LOG_TAIL:])

    @property
    def pid(self) -> int | None:
        """The child's process id; None before the start."""
        return self._child.pid if self._child else None

    @property
    def runs(self) -> bool:
        return self._child is not None and self._child.poll() is None

    @property
    def endpoint(self) -> Endpoint:
        """Where and how requests to it are sent. Raises `InfraError` where it does not run."""
        if not self.runs:
            code = self._child.returncode if self._child else None
            log = f"; the end of its log:\n{self._tail()}" if self._log.exists() else ""
            raise InfraError(f"the server of {PREFIX}{self.weights.name} is not running (exit code {code}){log}")
        return Endpoint(
            model=f"openai/{self.weights.name}",
            api_base=f"{self._url}/v1",
            api_key=self._key,
            identity=self.identity,
            tokenizes=True,
            takes_grammar=True,
            concurrency=self.settings.slots,
            timeout=_TIMEOUT,
        )

    @cached_property
    def identity(self) -> dict[str, str | int]:
        """What decides its answers besides the request."""
        return {
            "weights": self.weights.sha256,
            "slots": self.settings.slots,
            "context": self.settings.context,
            "runtime": f"xllamacpp {version('xllamacpp')}",
        }

    def close(self) -> None:
        """Ends the server. Its log goes with it, unless it failed to start."""
        child = self._child
        if child is None or child.stdin is None:
            return
        child.stdin.close()
        try:
            child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        if child.stdout is not None:
            child.stdout.close()
        if self._url:
            self._log.unlink(missing_ok=True)

    def __enter__(self) -> LocalServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _cores() -> int:
    """Cores this process may use; not every platform can tell them from those it may not."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_running: dict[tuple[str, LocalSettings], LocalServer] = {}
_lock = threading.Lock()


def serve(name: str, settings: LocalSettings | None = None) -> LocalServer:
    """The running server of a local model: started at the first call, then shared by this process until it ends. One
    that died (killed for want of memory, say) is replaced.

    Raises what `LocalServer.start` raises.
    """
    key = (name, settings or LocalSettings())
    with _lock:
        if key not in _running or not _running[key].runs:
            server = LocalServer(*key).start()
            atexit.register(server.close)
            _running[key] = server
        return _running[key]
