"""Which Chromium is used, and how it is started."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rebind.errors import UserError

VARIABLE = "REBIND_CHROMIUM"
_COMMANDS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
)
ADVICE = "install it with `apt-get install chromium` or `playwright install chromium`, or name one in " + VARIABLE
_FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-features=Translate,OptimizationHints,MediaRouter",
    "--force-color-profile=srgb",
)


@dataclass(frozen=True)
class Chromium:
    """A Chromium found on this machine."""

    path: Path
    source: str
    """Where it was found: the variable, Playwright, or PATH."""

    def version(self) -> str:
        """What it says of itself; empty where it does not start."""
        try:
            said = subprocess.run([self.path, "--version"], capture_output=True, text=True, timeout=20, check=True)
        except (OSError, subprocess.SubprocessError):
            return ""
        return said.stdout.strip()


def find() -> Chromium:
    """The Chromium to use: the one `REBIND_CHROMIUM` names, Playwright's own, the system's on PATH; in this order.

    Raises:
        UserError: none is there, or the variable names something that is no program.
    """
    named = os.environ.get(VARIABLE)
    if named:
        path = shutil.which(named)
        if path is None:
            raise UserError(f"{VARIABLE} is {named!r}, which is no program that can be run; {ADVICE}")
        return Chromium(Path(path), VARIABLE)
    own = _playwrights()
    if own:
        return Chromium(own, "Playwright")
    for command in _COMMANDS:
        path = shutil.which(command)
        if path:
            return Chromium(Path(path), "PATH")
    raise UserError(f"no Chromium was found; {ADVICE}")


def arguments() -> list[str]:
    """Command-line flags. As root Chromium runs without its sandbox: it refuses to start with it."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*_FLAGS, *(["--no-sandbox"] if root else [])]


def _playwrights() -> Path | None:
    """The browser that `playwright install` fetched, the newest of several."""
    named = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    folders = (
        [Path(named)] if named else [Path.home() / ".cache/ms-playwright", Path.home() / "Library/Caches/ms-playwright"]
    )
    patterns = (
        "chromium-*/chrome-linux*/chrome",
        "chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium",
        "chromium_headless_shell-*/*/headless_shell",
        "chromium_headless_shell-*/*/chrome-headless-shell",
    )
    found = [p for folder in folders for pattern in patterns for p in folder.glob(pattern)]
    return max(found, key=lambda p: p.stat().st_mtime, default=None)
