"""The environment that `appworld` lives in, and where its data are."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from filelock import FileLock

from rebind.canon import digest, file_digest
from rebind.envs.adapters.appworld.pins import PINS
from rebind.envs.adapters.lines import Side, minimal_environment
from rebind.envs.adapters.venvs import InstallFailure, Place
from rebind.errors import UserError

PLACE = Place("appworld", "0.1.3.post1", PINS)
ROOT_VARIABLE = "REBIND_APPWORLD"
"""Names the folder that `appworld download data` wrote `data/` into."""
SIDE = Path(__file__).resolve().parent / "side"
_SMALL = ("small.py", "scenarios.py")
"""The code that the small world is made by, in `SIDE`."""
_BUILD_SECONDS = 900.0


def missing() -> str | None:
    """Why AppWorld cannot run here, and what to do; None where it can."""
    if not PLACE.ready() or not _unpacked():
        return "appworld is not installed; run `rebind envs install appworld`"
    named = os.environ.get(ROOT_VARIABLE)
    if named and not (Path(named) / "data" / "tasks").is_dir():
        return f"{ROOT_VARIABLE}={named} holds no data/tasks; see `rebind envs install appworld`"
    return None


def install() -> str:
    """Makes the environment, has `appworld install` unpack the apps, builds the small world; says what is missing.

    Raises:
        InstallFailure: pip or `appworld install` failed; says why.
    """
    PLACE.install()
    if not _unpacked():
        command = [str(PLACE.python), "-I", "-c", "from appworld.cli import main; main()", "install"]
        environment = {**minimal_environment(), "APPWORLD_CACHE": str(PLACE.folder / "cache")}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=PLACE.folder)
        if done.returncode != 0:
            raise InstallFailure(f"`appworld install` failed: {done.stderr[-500:]}")
    small_world()
    return f"{PLACE.python}; {_still_needed()}"


def data_root() -> tuple[Path, bool]:
    """The folder with `data/`, and whether it holds the official data; else the small world (built if need be).

    Raises:
        UserError: AppWorld is not installed, or the named folder holds no data.
    """
    why_not = missing()
    if why_not:
        raise UserError(why_not)
    named = os.environ.get(ROOT_VARIABLE)
    return (Path(named).resolve(), True) if named else (small_world(), False)


def small_root() -> Path:
    """Where the small world lies: what other code has built is another folder."""
    return PLACE.folder / f"small-{digest([file_digest(SIDE / name) for name in _SMALL])[:12]}"


def small_world() -> Path:
    """Builds the small world where it is not there. Its ground truth stays in the user's cache."""
    root = small_root()
    listed = root / "data" / "datasets" / "small.txt"
    if not listed.exists():
        with FileLock(PLACE.folder / "small.lock"):
            if not listed.exists():
                side = Side(PLACE.python, SIDE)
                try:
                    side.ask("build", seconds=_BUILD_SECONDS, root=str(root))
                finally:
                    side.close()
    return root


def _unpacked() -> bool:
    """Whether `appworld install` has unpacked the apps."""
    return bool(list(PLACE.folder.glob("[Ll]ib/**/site-packages/appworld/apps/supervisor/apis.py")))


def _still_needed() -> str:
    named = os.environ.get(ROOT_VARIABLE)
    if named and (Path(named) / "data" / "tasks").is_dir():
        return f"the official data are in {named}"
    return (
        "a small world of our own is there; the official data are not: in a folder of your choice run "
        f"`{PLACE.python.parent / 'appworld'} download data` (needs network; AppWorld asks that its data are not "
        f"published in the clear) and set {ROOT_VARIABLE} to that folder"
    )
