"""A process of another Python, asked one JSON line at a time."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
import weakref
from pathlib import Path
from typing import IO, Any

from rebind.errors import EnvironmentFailure, RebindError

_ANSWERING = Path(__file__).resolve().parent / "answering.py"
_CHUNK = 1 << 16


class Refused(RebindError):
    """The other side understood the question and said no; its words."""


class Side:
    """One such process, in a session of its own, with a minimal environment (no keys of ours). Each question is a line
    `{"do": ..., ...}`, each answer `{"ok": ...}` or `{"error": ...}`. Used by one thread at a time."""

    def __init__(self, python: Path, folder: Path) -> None:
        """Starts that Python, where `main` of the package folder `folder` answers; nothing is asked yet."""
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [str(python), "-I", str(_ANSWERING), str(folder.parent), f"{folder.name}.main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=minimal_environment(),
            start_new_session=True,
        )
        self._left = b""
        self._stop = weakref.finalize(self, end_session, self._process)

    def ask(self, do: str, /, seconds: float = 180.0, **arguments: Any) -> Any:
        """Asks one question and waits for the answer.

        Raises:
            Refused: the other side answered with an error.
            EnvironmentFailure: it died, or did not answer within `seconds`; it is killed then.
        """
        line = json.dumps({"do": do, **arguments}).encode() + b"\n"
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(line)
            self._process.stdin.flush()
            answer = json.loads(self._line(time.monotonic() + seconds, do))
        except (BrokenPipeError, ValueError, EOFError) as error:
            raise EnvironmentFailure(f"{self._name} ended while asked to {do!r}: {self._words() or error}") from error
        if "error" in answer:
            raise Refused(str(answer["error"]))
        return answer["ok"]

    def close(self) -> None:
        """Kills the process and all that it started. May be called again."""
        self._stop()
        self._said.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def _name(self) -> str:
        return f"process {self._process.pid}"

    def _line(self, until: float, do: str) -> bytes:
        out = self._process.stdout
        assert out is not None
        with selectors.DefaultSelector() as waiting:
            waiting.register(out, selectors.EVENT_READ)
            while b"\n" not in self._left:
                if not waiting.select(max(0.0, until - time.monotonic())):
                    self._stop()
                    raise EnvironmentFailure(f"{self._name} did not answer {do!r} in time and was killed")
                part = os.read(out.fileno(), _CHUNK)
                if not part:
                    raise EOFError("no words on why")
                self._left += part
        line, _, self._left = self._left.partition(b"\n")
        return line

    def _words(self) -> str:
        """The end of what it wrote to standard error."""
        if self._said.closed:
            return "it was closed"
        self._said.seek(0)
        return self._said.read().decode(errors="replace").strip()[-500:]


def minimal_environment() -> dict[str, str]:
    """What any program needs, and no more; python-dotenv finds no `.env` of the user's."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "SYSTEMROOT") if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "PYTHON_DOTENV_DISABLED": "1"}


def end_session(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
