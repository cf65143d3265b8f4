"""How fast the ledger takes events in: alone and before any fsync, and as whole episodes that many threads commit."""

from __future__ import annotations

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from pathlib import Path
from typing import Any

from rebind.canon import digest
from rebind.eval.ledger import LEDGER_FILE, Ledger
from rebind.types import Attempt, Cell, Completion, Decoding, Episode, EventKind, Step, TokenAccount, Usage, Verdict

_FAMILIES = 8
"""Families of the app world whose oracle solutions the steps are taken from."""
_STEPS = 11
"""Of an episode: with its calls, start, support, verdict and row 26 events."""
_ROUNDS = 5
"""Times each rate is taken; the best counts: whatever else runs on a machine only ever slows a round down."""
Line = tuple[EventKind, dict[str, Any]]


def measure(events: int = 20_000, episodes: int = 400, threads: int = 16, folder: Path | None = None) -> dict[str, Any]:
    """Measures the ledger's rates on the steps of real solutions in the app world.

    Args:
        events: steps appended by one thread, with no commit among them, for `append_per_s`.
        episodes: episodes that `threads` threads append and commit for `episodes_per_s`.
        folder: where the ledgers are written and deleted again; the system's folder for temporary files if None. Say so
            where that is no disk: fsync costs nothing there.

    Returns:
        `append_per_s`, `step_bytes` (mean size of a line), `episodes_per_s`, `episode_events`, `episode_bytes`,
        `threads`, `fsyncs_per_s`, and the numbers of `events` and `episodes` measured.
    """
    steps = [step.model_dump(mode="json") for step in _steps()]
    with tempfile.TemporaryDirectory(prefix="rebind-rates-", dir=folder) as scratch:
        rate, size = max(_append(Path(scratch) / f"append-{n}", steps, events) for n in range(_ROUNDS))
        episode_rate, fsyncs, episode_size = max(
            _commit(Path(scratch) / f"commit-{n}", steps, episodes, threads) for n in range(_ROUNDS)
        )
    return {
        "append_per_s": round(rate),
        "step_bytes": round(size),
        "episodes_per_s": round(episode_rate, 1),
        "episode_events": len(_episode(steps, 0)[1]),
        "episode_bytes": round(episode_size),
        "threads": threads,
        "fsyncs_per_s": round(fsyncs, 1),
        "events": events,
        "episodes": episodes,
    }


def _steps() -> list[Step]:
    """Steps of the oracle in the app world, as an environment returned them."""
    from rebind.banks.rollers import oracle_roller
    from rebind.envs import world

    apps = world("apps")
    roll, environment = oracle_roller(apps), apps.make()
    try:
        return [s for family in apps.families()[:_FAMILIES] for s in roll(environment, apps.sample(family, 0), 0).steps]
    finally:
        environment.close()


def _append(folder: Path, steps: list[dict[str, Any]], events: int) -> tuple[float, float]:
    """Steps a second, and their mean size in bytes."""
    cell = Cell(target=digest("target"), condition="none", seed=0)
    rows = [{"index": n, **steps[n % len(steps)]} for n in range(events)]
    with Ledger.open(folder) as ledger:
        began = time.perf_counter()
        for row in rows:
            ledger.append("step", row, cell, 0)
        seconds = time.perf_counter() - began
    return events / seconds, (folder / LEDGER_FILE).stat().st_size / events


def _commit(folder: Path, steps: list[dict[str, Any]], episodes: int, threads: int) -> tuple[float, float, float]:
    """Episodes a second, fsyncs a second, and the mean size of an episode in bytes."""
    made = [_episode(steps, n) for n in range(episodes)]
    with Ledger.open(folder) as ledger:

        def write(episode: tuple[Cell, list[Line]]) -> None:
            cell, lines = episode
            for kind, data in lines:
                ledger.append(kind, data, cell, 0)
            ledger.commit()

        with ThreadPoolExecutor(threads) as pool:
            began = time.perf_counter()
            list(pool.map(write, made))
            seconds = time.perf_counter() - began
        fsyncs = ledger.fsyncs
    return episodes / seconds, fsyncs / seconds, (folder / LEDGER_FILE).stat().st_size / episodes


def _episode(steps: list[dict[str, Any]], number: int) -> tuple[Cell, list[Line]]:
    """The events of one episode, in the form the runner writes them."""
    cell = Cell(target=digest(number), condition="full", seed=0)
    support = Completion(text="", usage=Usage(prompt=0, completion=0)).model_dump(mode="json")
    lines: list[Line] = [("start", {"cell": cell.model_dump(mode="json"), "attempt": 0})]
    lines.append(("support", {"condition": "full", "text": "", "completions": [support], "requests": []}))
    shown = ""
    for index, step in enumerate(islice((steps[n % len(steps)] for n in count(number * _STEPS)), _STEPS)):
        lines += [("call", _call(index, step, shown)), ("step", {"index": index, **step})]
        shown = step["observation"]
    verdict, tokens = Verdict(success=True), TokenAccount(i_base=1, i_mem=1, i_syn=0, o_syn=0, o_act=1, once=2)
    episode = Episode(
        cell=cell, attempt=0, outcome="valid", ending="done", success=True, milestone=1.0, steps=_STEPS,
        api_calls=_STEPS, tokens=tokens, seconds=10.5,
    )  # fmt: skip
    return cell, [
        *lines, ("verdict", verdict.model_dump(mode="json")), ("episode", episode.model_dump(mode="json")),
    ]  # fmt: skip


def _call(index: int, step: dict[str, Any], shown: str) -> dict[str, Any]:
    """A model call's row, as the actor writes it: the messages since the last call, the answer, the usage."""
    said, usage = digest(step["action"])[:40], Usage(prompt=1_200, completion=30)
    attempt = Attempt(started=1_700_000_000.25, ms=812.5, status=200, usage=usage, raw_usage={"total_tokens": 1_230})
    messages: list[dict[str, Any]] = [
        {"role": role, "content": text, "tool_calls": [], "tool_call_id": None}
        for role, text in (("assistant", said), ("user", shown))
    ]
    return {
        "index": index, "kept": 2 * index, "messages": messages, "tools": None, "schema": None, "text": said,
        "tool_calls": [], "finish": "stop", "usage": usage.model_dump(mode="json"), "mem_tokens": 0, "replayed": False,
        "attempts": [attempt.model_dump(mode="json")], "model": "model", "decoding": Decoding().model_dump(mode="json"),
    }  # fmt: skip
