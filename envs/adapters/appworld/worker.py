"""A process that serves one AppWorld world at a time over HTTP on 127.0.0.1."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
import tempfile
import time
import weakref
from pathlib import Path
from typing import Any

import httpx

from rebind.envs.adapters.appworld.install import PLACE, SIDE
from rebind.envs.adapters.appworld.tasks import AppWorldTask
from rebind.envs.adapters.lines import end_session, minimal_environment
from rebind.errors import EnvironmentFailure

_START_SECONDS = 120.0
_PROGRAM = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"


class Worker:
    """Serves a folder without ground truth: the task's databases, and links to the API docs and base databases."""

    def __init__(self, task: AppWorldTask) -> None:
        """Raises EnvironmentFailure where the server does not start."""
        self.root = Path(tempfile.mkdtemp(prefix="rebind-appworld-")).resolve()
        self.task = task
        self._said = (self.root / "server.log").open("wb")
        readable = _lay_out(task, self.root)
        _lay_task(task, self.root)
        self._process = subprocess.Popen(
            [str(PLACE.python), "-I", "-c", _PROGRAM, str(SIDE / "serve.py")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={
                **minimal_environment(),
                "APPWORLD_ROOT": str(self.root),
                "APPWORLD_CACHE": str(self.root),
                "HOME": str(self.root),
                "IPYTHONDIR": str(self.root / "ipython"),
                "REBIND_READABLE": os.pathsep.join(map(str, readable)),
            },
            cwd=self.root,
            start_new_session=True,
        )
        self._stop = weakref.finalize(self, _end, self._process, self.root)
        try:
            self._http = httpx.Client(base_url=f"http://127.0.0.1:{self._port()}", trust_env=False)
        except EnvironmentFailure:
            self.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def post(self, path: str, seconds: float, **body: Any) -> Any:
        """Asks the server; its `output`. The worker is killed with all its children where the answer is no 200 or does
        not come within `seconds`, and EnvironmentFailure is raised: what state it is in nobody knows."""
        try:
            answer = self._http.post(path, json={"task_id": self.task.id, **body}, timeout=seconds)
        except httpx.TimeoutException:
            self.close()
            raise EnvironmentFailure(f"AppWorld did not answer {path} within {seconds:g} s and was killed") from None
        except httpx.HTTPError as error:
            self.close()
            raise EnvironmentFailure(f"AppWorld ended while asked {path}: {error}") from error
        if answer.status_code != httpx.codes.OK:
            words = answer.text[-300:]
            self.close()
            raise EnvironmentFailure(f"AppWorld answered {path} with status {answer.status_code}: {words}")
        return answer.json()["output"]

    def take(self, task: AppWorldTask) -> None:
        """Closes its world and makes it ready for another task of the same data. Raises EnvironmentFailure."""
        self.post("/close", _START_SECONDS)
        self.task = task
        _lay_task(task, self.root)

    def outputs(self, experiment: str) -> Path:
        """Where it writes what an experiment leaves of its task."""
        return self.root / "experiments" / "outputs" / experiment / "tasks" / self.task.id

    def calls(self, experiment: str) -> list[dict[str, Any]]:
        """The API calls made so far, as AppWorld logs them: `method`, `url`, `data`; and `status`, where one was
        answered (`side/serve.py` adds it)."""
        path = self.outputs(experiment) / "logs" / "api_calls.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line.strip()]

    def close(self) -> None:
        """Kills the process and all that it started, and deletes its folder. May be called again."""
        self._stop()
        self._said.close()

    def _port(self) -> int:
        out = self._process.stdout
        assert out is not None
        until, said = time.monotonic() + _START_SECONDS, b""
        with selectors.DefaultSelector() as waiting:
            waiting.register(out, selectors.EVENT_READ)
            while b"\n" not in said:
                part = os.read(out.fileno(), 64) if waiting.select(max(0.0, until - time.monotonic())) else b""
                if not part:
                    words = (self.root / "server.log").read_text(errors="replace")[-500:]
                    raise EnvironmentFailure(f"AppWorld's server did not start: {words}")
                said += part
        return int(said)


def _lay_out(task: AppWorldTask, root: Path) -> tuple[Path, ...]:
    """Writes the folder that is served; returns what its links lead to."""
    data = root / "data"
    data.mkdir()
    shared = [task.root / "data" / name for name in ("api_docs", "base_dbs")]
    for folder in shared:
        if folder.exists():
            (data / folder.name).symlink_to(folder)
    return tuple(folder.resolve() for folder in shared)


def _lay_task(task: AppWorldTask, root: Path) -> None:
    """What the server may know of a task: its specification and databases."""
    folder = root / "data" / "tasks" / task.id
    if not folder.exists():
        shutil.copytree(task.folder, folder, ignore=shutil.ignore_patterns("ground_truth"))


def _end(process: subprocess.Popen[bytes], root: Path) -> None:
    end_session(process)
    shutil.rmtree(root, ignore_errors=True)
