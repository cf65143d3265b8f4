"""As much of a ServiceNow instance as WorkArena's menu task touches: a table API, a login, a home page with a menu.
What is played on it is no WorkArena score."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

MODULE = {"application": "Incident", "module": "Create New", "url": "/now/nav/ui/incident"}
OTHER = {"application": "Incident", "module": "Open", "url": "/now/nav/ui/open"}
_PRESET: dict[str, list[dict[str, Any]]] = {
    "sys_user_role": [{"sys_id": "role"}],
    "m2m_theme_style": [{"theme.name": "WorkArena", "style.sys_id": "theme"}],
}
_HOME = "/now/nav/ui/home"
_MENU = f"""<div aria-label="All" aria-expanded="true">All</div><div aria-label="All menu"><input placeholder="Filter">
<div class="snf-collapsible-list"><button aria-label="Incident">Incident</button>
{"".join(f"<a aria-label='{one['module']}' href='{one['url']}'>{one['module']}</a> " for one in (MODULE, OTHER))}
</div></div>"""


class Instance(BaseHTTPRequestHandler):
    """Users that were made may sign in."""

    made: ClassVar[list[dict[str, Any]]] = []

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        if parts.path.startswith("/api/now/table/"):
            table, asked = parts.path.rpartition("/")[2], query.get("sysparm_query", [""])[0]
            known = [one for one in self.made if asked == f"sys_id={one['sys_id']}"]
            self._json(known or _PRESET.get(table, []))
        elif parts.path == "/login.do":
            allowed = any(one.get("user_name") == query["user_name"][0] for one in self.made)
            self._page(302, "", _HOME) if allowed else self._page(200, "log in")
        else:
            self._page(200, _MENU if parts.path == _HOME else "a form")

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items()}
        self.made.append({**texts, "sys_id": f"id{len(self.made)}"})
        self._json(self.made[-1])

    def _json(self, result: Any) -> None:
        self._page(200, json.dumps({"result": result}))

    def _page(self, status: int, text: str, location: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if text.startswith("{") else "text/html")
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None: ...


@contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address on loopback that answers so."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
