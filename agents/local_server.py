"""The child process that serves one GGUF file: `python -m rebind.agents.local_server`, started by `agents.local`.

It prints one JSON line, {"url": …}, once it answers, and ends with its parent, however that ends (also by `kill -9`).
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import select
import sys
import threading
from typing import Any

KEY_VARIABLE = "REBIND_LOCAL_KEY"
"""Environment variable with the key that requests must carry (a page in the user's browser must not use the model)."""

_SPINCOUNT = "1000"
"""Turns a thread spins at one of the several hundred barriers of a token before it sleeps (about 50 µs). Unbounded, or
at 20,000, decoding collapses as soon as the cores are shared with anyone: 1 token a second instead of 2.4 with nine
processes on two cores."""
_CACHE_MIB = 256
_WARNINGS = 2


def main() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    arguments = _arguments()
    os.environ["GOMP_SPINCOUNT"] = _SPINCOUNT  # read when the library is loaded, so before the import
    xllamacpp = importlib.import_module("xllamacpp")  # its names come out of a binary, unknown to type checkers
    server = xllamacpp.Server(_parameters(xllamacpp.CommonParams(), arguments, os.environ[KEY_VARIABLE]))
    print(json.dumps({"url": server.listening_address}), flush=True)
    threading.Event().wait()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="the GGUF file")
    parser.add_argument("--slots", type=int, required=True, help="requests served at once")
    parser.add_argument("--context", type=int, required=True, help="tokens of context per slot")
    parser.add_argument("--threads", type=int, required=True)
    return parser.parse_args()


def _parameters(params: Any, arguments: argparse.Namespace, key: str) -> Any:
    """llama.cpp's parameters. Sampling filters other than temperature and top-p are off by default, as a hosted model
    has none."""
    params.model.path = arguments.model
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.api_keys = [key]
    params.n_parallel = arguments.slots
    params.n_ctx = arguments.slots * arguments.context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = arguments.threads
    params.cache_ram_mib = _CACHE_MIB
    params.sampling.top_k, params.sampling.min_p = 0, 0.0
    params.verbosity = _WARNINGS
    return params


def _end_with_parent() -> None:
    """Waits until standard input closes, or the parent is another (a process it forked may still hold the pipe)."""
    parent = os.getppid()
    while os.getppid() == parent:
        ready, _, _ = select.select([sys.stdin], [], [], 1.0)
        if ready and not os.read(sys.stdin.fileno(), 1):
            break
    os._exit(0)  # the main thread may be deep in native code


if __name__ == "__main__":
    main()
