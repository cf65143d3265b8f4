"""A stub of four of WebArena's sites on loopback, for machines without them: just what some of the tasks need. What
comes of it is no WebArena score."""

from __future__ import annotations

import threading
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from rebind.envs.adapters.webarena.stub_pages import Answer, Site, sites

TASKS = (45, 46, 132, 133, 389, 390, 399, 400, 453, 454, 511, 512, 528)
"""Tasks of the package that can be done here."""


@lru_cache(maxsize=1)
def addresses() -> dict[str, str]:
    """Starts the sites, each on a port of its own, once a process; their addresses by name. They keep no state."""
    return {name: _serve(site) for name, site in sites().items()}


def _serve(site: Site) -> str:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say(site.pages.get(urlsplit(self.path).path.rstrip("/") or "/"))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode(errors="replace")
            take = site.takes.get(urlsplit(self.path).path)
            self._say(take(body) if take else None)

        def _say(self, answer: Answer | None) -> None:
            if answer is None:
                self.send_error(404)
                return
            data = answer.body.encode()
            self.send_response(answer.status)
            for name, value in {"Content-Type": answer.kind, "Content-Length": len(data), **answer.headers}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="webarena stub", daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
