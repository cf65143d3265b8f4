"""The package's pages on loopback: one server a process, started on demand."""

from __future__ import annotations

import os
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rebind.errors import UserError

_guard = threading.Lock()
_servers: dict[int, ThreadingHTTPServer] = {}


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files, pages as UTF-8, without a line of log each."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".html": "text/html; charset=utf-8"}

    def log_message(self, format: str, *args: Any) -> None:
        pass


def pages() -> Path:
    """The folder of the package's pages.

    Raises:
        UserError: the package is not installed.
    """
    folder = _folder()
    if folder is None:
        raise UserError(f"the environment 'miniwob' cannot run: {why_no_pages()}")
    return folder


def why_no_pages() -> str | None:
    """What to do for the pages to be there; None where they are."""
    return None if _folder() else "the package miniwob is missing: pip install 'rebind[miniwob]'"


def _folder() -> Path | None:
    spec = find_spec("miniwob")  # does not import it
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "html"


def address() -> str:
    """Where this process serves the pages: http://127.0.0.1:PORT."""
    with _guard:
        server = _servers.get(os.getpid())
        if server is None:
            server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(pages())))
            threading.Thread(target=server.serve_forever, name="miniwob", daemon=True).start()
            _servers.clear()  # those of a parent before a fork are not ours to use
            _servers[os.getpid()] = server
        return f"http://127.0.0.1:{server.server_port}"
