"""The small site of `rebind bench browser-faults`, in a process of its own so that it can be killed.

Run as a program: `python browser_site.py`. It prints its address and serves until it is killed, or its standard input
ends. Needs nothing but the standard library.
"""

from __future__ import annotations

import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

_HOME = """<!DOCTYPE html><title>Shop</title><h1>Shop</h1><p>Visits: %(visits)d</p><p id="said">nothing said</p>
<ul><li><a href="/item">Lamp</a></li><li><a href="/gone">Old lamp</a></li></ul>
<nav aria-label="Faults">
<button onclick="alert('hello')">Alert</button>
<button onclick="said.textContent = 'confirmed ' + confirm('sure?')">Confirm</button>
<button onclick="said.textContent = 'prompted ' + prompt('who?')">Prompt</button>
<button onclick="for (let n = 0; n < 20; n++) alert('again ' + n)">Many alerts</button>
<button onclick="addEventListener('beforeunload', e => { e.preventDefault(); e.returnValue = 'x'; })">Hold</button>
<button onclick="fetch('/news').then(r => r.text()).then(t => said.textContent = t,
  () => said.textContent = 'no news')">News</button>
<button onclick="for (;;) {}">Busy</button>
<button onclick="window.open('/other')">Window</button>
<button onclick="for (let n = 0; n < 8; n++) window.open('/other?' + n)">Many windows</button>
<button onclick="window.open('/closing')">Short window</button>
<a href="/other" target="_blank">Other</a> <a href="http://127.0.0.1:9/" target="_blank">Away</a>
<a href="/file">File</a> <a href="/endless-file">Endless file</a>
<a href="/never">Never</a> <a href="/half">Half</a> <a href="/dropped">Dropped</a> <a href="/alerting">Alerting</a>
</nav>"""
_PAGES = {
    "/item": """<!DOCTYPE html><title>Lamp</title><h1>Lamp</h1><form action="/save"><input type="hidden" name="episode">
        <label>Quantity <input name="quantity"></label><button>Save</button></form>
        <script>document.forms[0].episode.value = (document.cookie.match(/episode=([^;]*)/) || [])[1] || ""</script>""",
    "/other": "<!DOCTYPE html><title>Other</title><h1>Other</h1>",
    "/closing": "<!DOCTYPE html><title>Closing</title><script>close()</script>",
    "/alerting": "<!DOCTYPE html><title>Alerting</title><script>alert('at once')</script><a href='/item'>Lamp</a>",
    "/news": "the news",
}
_SAVED: dict[str, str] = {}
"""What each episode saved last."""


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {k: v[0] for k, v in parse_qs(parts.query).items()}
        special = getattr(self, "do_" + parts.path.strip("/").replace("-", "_"), None)
        if parts.path == "/":
            self._home(asked)
        elif parts.path in _PAGES:
            self._answer(_PAGES[parts.path])
        elif special is not None:
            special(asked)
        else:
            self.send_error(404)

    def _home(self, asked: dict[str, str]) -> None:
        visits = self.headers.get("Cookie", "").count("episode=") + 1
        cookie = {"Set-Cookie": f"episode={asked['episode']}"} if "episode" in asked else None
        self._answer(_HOME % {"visits": visits}, cookie)

    def do_save(self, asked: dict[str, str]) -> None:
        _SAVED[asked.get("episode", "")] = asked.get("quantity", "")
        self._answer(f"<!DOCTYPE html><title>Saved</title><p>Saved {asked.get('quantity', '')}</p>")

    def do_saved(self, asked: dict[str, str]) -> None:
        self._answer(_SAVED.get(asked.get("episode", ""), ""))

    def do_never(self, asked: dict[str, str]) -> None:
        _wait()

    def do_half(self, asked: dict[str, str]) -> None:
        self._answer("<!DOCTYPE html><title>Half</title><p>The first half", whole=False)
        _wait()

    def do_dropped(self, asked: dict[str, str]) -> None:
        self.connection.close()

    def do_file(self, asked: dict[str, str]) -> None:
        self._answer("bytes", {"Content-Disposition": "attachment; filename=file.bin"})

    def do_endless_file(self, asked: dict[str, str]) -> None:
        self._answer("", {"Content-Disposition": "attachment; filename=endless.bin"}, whole=False)
        while True:  # until the browser hangs up
            self.wfile.write(b"x" * 1000)
            time.sleep(0.05)

    def _answer(self, text: str, headers: dict[str, str] | None = None, whole: bool = True) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if whole:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Browsers that hang up are expected here."""


def _wait() -> None:
    time.sleep(600)


if __name__ == "__main__":
    server = _Server(("127.0.0.1", 0), _Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdin.read()
