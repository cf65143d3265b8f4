"""inspect-ai in an environment of its own, made once: the peer that `rebind bench overhead` is measured beside."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from filelock import FileLock

from rebind.errors import RebindError
from rebind.eval.models import cache_folder

VERSION = "0.3.285"
_READY = ".ready"


class PeerMissing(RebindError):
    """inspect-ai could not be installed."""


def interpreter() -> Path:
    """The Python that has inspect-ai; installs it, in the user's cache, where it is not there yet (minutes).

    Raises:
        PeerMissing: pip could not install it; says why.
    """
    folder = cache_folder().parent / "bench" / f"inspect-ai-{VERSION}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / _READY).exists():
            venv.create(folder, with_pip=True, clear=True)
            command = [str(python), "-m", "pip", "install", "--quiet", f"inspect-ai=={VERSION}"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise PeerMissing(f"inspect-ai {VERSION} could not be installed into {folder}: {done.stderr[-500:]}")
            (folder / _READY).touch()
    return python
