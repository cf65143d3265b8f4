"""AppWorld's environment server on 127.0.0.1 and a port of the system's choosing, which it says on standard output.

The files that a root has no business with cannot be opened from this process, by any Python code: ground truth is
elsewhere, and an audit hook can not be taken off again.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

_SYSTEM = ("/usr", "/lib", "/lib64", "/etc", "/dev", "/proc/self", "/sys", "/bin", "/opt")
_NEVER = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "subprocess.Popen", "ctypes.dlopen")
_PATHS = ("open", "os.listdir", "os.scandir", "sqlite3.connect", "os.rename", "os.link", "os.symlink")


def main() -> None:
    """Serves until it is killed."""
    import uvicorn
    from appworld.serve.environment import app

    _tell_statuses()
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()  # before the port is told: who asks at once waits until the server takes it up
    _fence(os.environ["APPWORLD_ROOT"])
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])


def _tell_statuses() -> None:
    """AppWorld's log of calls says nothing of what came of them: each is given the status of its answer."""
    from appworld.requester import Requester

    stock = Requester.raise_if_failure

    def told(self: Any, response: Any, raise_on_failure: bool | None = None) -> None:
        calls = self.request_tracker.requests
        if calls:  # a request that is not tracked comes after one that has its status already
            calls[-1].setdefault("status", response.status_code)
        stock(self, response, raise_on_failure)

    Requester.raise_if_failure = told


def _fence(root: str) -> None:
    """Refuses what leads out of `root`, the interpreter's folders and the system's."""
    readable = [one for one in os.environ.pop("REBIND_READABLE", "").split(os.pathsep) if one]
    inside = tuple(
        os.path.realpath(one) for one in (root, *readable, os.path.join(sys.prefix, "lib"), sys.base_prefix, *_SYSTEM)
    )

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _NEVER:
            raise PermissionError(f"{event} is not allowed here")
        if event not in _PATHS:
            return
        for one in arguments[:2] if event in ("os.rename", "os.link", "os.symlink") else arguments[:1]:
            if not isinstance(one, str | bytes | os.PathLike):
                continue
            name = os.fsdecode(one)
            if event == "sqlite3.connect" and ("memory" in name or name == ""):
                continue
            real = os.path.realpath(name)
            if "ground_truth" in real.split(os.sep) or not any(
                real == good or real.startswith(good + os.sep) for good in inside
            ):
                raise PermissionError(f"{name} lies outside of the world's folder")

    sys.addaudithook(hook)


if __name__ == "__main__":
    main()
