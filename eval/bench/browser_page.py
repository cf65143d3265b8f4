"""The page that `rebind bench browser` shows to both sides: a table with a link, a field and a button in each row."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

Kind = Literal["press", "write", "open"]
KINDS: tuple[Kind, ...] = ("press", "write", "open")
"""In turn: a button that changes its row, a field that is filled, a link that loads the page anew."""

_HEAD = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Stock</title><style>
body {font: 14px sans-serif; margin: 16px} table {border-collapse: collapse}
td, th {border: 1px solid #ccc; padding: 4px}
</style></head><body><header><nav><a href="/?rows=%(rows)d">All items</a> <a href="/help">Help</a></nav></header>
<main><h1>Stock</h1><p>Opened: %(opened)s</p><form onsubmit="return false"><label>Search <input name="q"></label>
<select name="kind"><option>All kinds</option><option>Lamps</option><option>Chairs</option></select></form>
<table><caption>Items</caption><thead><tr><th>Item</th><th>State</th><th>Price</th><th>Quantity</th><th>Do</th></tr>
</thead><tbody>"""
_ROW = """<tr><td><a href="/?rows=%(rows)d&amp;open=%(n)d">Item %(n)d</a></td><td>in stock</td><td>%(price)d.90</td>
<td><input aria-label="Quantity" value="%(n)d"></td><td><button>Order</button></td></tr>"""
_FOOT = """</tbody></table></main><script>
document.querySelector("tbody").addEventListener("click", (event) => {
  if (event.target.tagName === "BUTTON") event.target.closest("tr").cells[1].textContent = "ordered";
});
</script></body></html>"""


@dataclass(frozen=True)
class Step:
    """One action on the table. `mark` is what the page says afterwards where it worked."""

    kind: Kind
    row: int
    mark: str


def script(rows: int, steps: int, seed: int) -> list[Step]:
    """Actions on rows all over the table, the kinds in turn."""
    draw = random.Random(f"{rows} {seed}")
    made = []
    for n in range(steps):
        kind, row = KINDS[n % len(KINDS)], draw.randrange(rows)
        mark = {"press": "ordered", "write": f"{row} pieces, {n}", "open": f"Opened: Item {row}"}[kind]
        made.append(Step(kind, row, mark))
    return made


def number(observation: str, step: Step) -> str:
    """The number that an observation gives to the element a step acts on; the two sides quote names differently."""
    pattern = {
        "press": r"\[(\w+)\] button ['\"]Order['\"]",
        "write": r"\[(\w+)\] textbox ['\"]Quantity['\"]",
        "open": rf"\[(\w+)\] link ['\"]Item {step.row}['\"]",
    }[step.kind]
    found: list[str] = re.findall(pattern, observation)
    return found[0 if step.kind == "open" else step.row]


def html(rows: int, opened: str) -> str:
    """The page with so many rows; `opened` is the number of the item that a link led to, empty where none did."""
    body = "".join(_ROW % {"rows": rows, "n": n, "price": 10 + n % 90} for n in range(rows))
    return _HEAD % {"rows": rows, "opened": f"Item {opened}" if opened else "none"} + body + _FOOT


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        asked = parse_qs(urlsplit(self.path).query)
        page = html(int(asked.get("rows", ["0"])[0]), asked.get("open", [""])[0]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def served() -> Iterator[str]:
    """Serves the page on loopback; its origin. The number of rows is the address's `rows`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, name="bench-page", daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
