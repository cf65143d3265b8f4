"""An HTTP server that answers from recorded responses, in the form that ToolBench's harness asks (StableToolBench's
idea: https://arxiv.org/abs/2403.07714)."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rebind.envs.toolbench.names import function
from rebind.envs.toolbench.responses import MISSED, Live, Responses
from rebind.errors import EnvironmentFailure

_LONGEST = 1 << 20


class RecordedServer:
    """Serves `POST /virtual` on 127.0.0.1 until closed; a context manager. A miss, and an answer of which the recording
    holds the beginning only, goes to `live` where there is one, else it is answered with status 404 and an error that
    says so."""

    def __init__(self, responses: Responses, live: Live | None = None, port: int = 0) -> None:
        handler = type("_Bound", (_Handler,), {"recorded": responses, "live": live})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/virtual"

    def __enter__(self) -> RecordedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stops serving."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    recorded: Responses
    live: Live | None

    def do_POST(self) -> None:
        try:
            asked = json.loads(self.rfile.read(min(int(self.headers.get("Content-Length") or 0), _LONGEST)))
            api = (str(asked["category"]), str(asked["tool_name"]), str(asked["api_name"]))
            args = asked["tool_input"]
            args = json.loads(args or "{}") if isinstance(args, str) else args
            if not isinstance(args, dict):
                raise ValueError("tool_input is no object")
        except (ValueError, KeyError, TypeError) as error:
            self._send(400, json.dumps({"error": f"no request of ToolBench's form: {error}", "response": ""}))
            return
        found = self.recorded.answer(function(api[1], api[2]), args)
        if found.status == 206:  # no JSON, which the harness waits for
            found = MISSED
        if found is MISSED and self.live is not None:
            try:
                found = self.live.answer(api, args)
            except EnvironmentFailure as error:
                self._send(502, json.dumps({"error": str(error), "response": ""}))
                return
        self._send(404 if found.status == 404 else 200, found.text)

    def _send(self, status: int, text: Any) -> None:
        body = str(text).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """The ledger tells what was called."""
