"""`rebind bench browser`: our browser environment beside BrowserGym's, on the same page, in the same run.

A step is one action and the text of the page that it leads to, on both sides: ours is `step` (element looked up and put
into words for the record, action, waiting until the page is quiet, the whole page as text), theirs `step` (action,
wait, DOM snapshot, accessibility tree, screenshot, validation by a task that checks nothing) and their flattening of
the tree. BrowserGym's chat window is the real one, without a screen. Both drive the same Chromium.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from rebind.banks.files import silent
from rebind.envs.browser.chromium import arguments, find
from rebind.envs.browser.env import BrowserEnv, BrowserTask
from rebind.envs.browser.session import Session
from rebind.eval.bench.browser_page import KINDS, Step, number, script, served
from rebind.eval.bench.peers import PeerFailure, interpreter
from rebind.types import Call, Progress, Seal, ToolCall, Verdict

PACKAGE, VERSION = "browsergym-core", "0.14.3"
ROWS = (20, 200, 1000)
SIDES = ("ours", "nosleep", "noshot", "stock")
_WHOLE = 10**9
"""Characters of one observation: the whole page, as BrowserGym gives it."""
_SEAL = Seal(canary="none", env="bench/Browser-v0", task_key="none", family="table")

_STOP_SECONDS = 60.0

Seen = Mapping[str, Any]
"""What one side answers: {"ms", "text", "error"}."""
Ask = Callable[..., Seen]


def run(rows: Sequence[int] = ROWS, repeats: int = 3, progress: Progress = silent) -> dict[str, Any]:
    """On pages of each number of table rows: `repeats` times, each side in turn resets and does the same three actions.

    Returns:
        `rows`, one per page: `table_rows`; medians in milliseconds `ours_step_ms`, `browsergym_nosleep_step_ms`
        (without its sleeps), `browsergym_noshot_step_ms` (nor its screenshot), `browsergym_stock_step_ms`; the same
        for `…_reset_ms`, `browsergym_reset_ms` being without sleeps; `ours_chars`, `browsergym_chars` of the page's
        text; `ratio_nosleep`, `ratio_noshot`, `ratio_stock`, `ratio_reset` (theirs to ours); `steps` (a side),
        `browsergym_timeouts` (actions that it gave up after half a second, in all its variants; the step is timed as
        it is). And `chromium`, `browsergym`.

    Raises:
        PeerMissing: BrowserGym cannot be installed.
        PeerFailure: it failed, or an action did not do what it has to.
    """
    python, found = interpreter(PACKAGE, VERSION), []
    with served() as origin, _ours() as ours, _theirs(python) as theirs:
        asks = {side: ours if side == "ours" else theirs for side in SIDES}
        for side in SIDES:  # a browser's first start on a machine reads it from the disk
            asks[side](do="reset", url=f"{origin}/?rows=1", variant=side)
        for n, count in enumerate(rows):
            taken = {side: _Taken() for side in SIDES}
            for repeat in range(repeats):
                order = SIDES if repeat % 2 == 0 else SIDES[::-1]
                for k, side in enumerate(order):
                    progress(f"{count} rows, {side}", (n * repeats + repeat) * len(order) + k, len(rows) * repeats * 4)
                    _block(asks[side], side, f"{origin}/?rows={count}", script(count, len(KINDS), repeat), taken[side])
            found.append(_row(count, taken))
    return {"rows": found, "chromium": find().version(), "browsergym": VERSION}


class _Taken:
    """Milliseconds of one side on one page."""

    def __init__(self) -> None:
        self.steps: list[float] = []
        self.resets: list[float] = []
        self.characters = 0
        self.given_up = 0


def _block(ask: Ask, side: str, url: str, steps: Sequence[Step], taken: _Taken) -> None:
    """A reset and some steps of one side. Raises PeerFailure where a step did nothing."""
    seen = ask(do="reset", url=url, variant=side)
    taken.resets.append(seen["ms"])
    taken.characters = len(seen["text"])
    for step in steps:
        seen = ask(do="act", kind=step.kind, number=number(seen["text"], step), mark=step.mark)
        taken.steps.append(seen["ms"])
        if "Timeout" in seen["error"] and side != "ours":
            taken.given_up += 1
        elif seen["error"] or step.mark not in seen["text"]:
            raise PeerFailure(f"{side}: {step} did not work: {seen['error'] or 'the page does not show it'}")


def _row(count: int, taken: Mapping[str, _Taken]) -> dict[str, Any]:
    """Medians and ratios; None where a side did no step."""
    steps = {side: _median(taken[side].steps) for side in SIDES}
    resets = {side: _median(taken[side].resets) for side in SIDES}
    return {
        "table_rows": count,
        "ours_step_ms": steps["ours"],
        **{f"browsergym_{side}_step_ms": steps[side] for side in SIDES[1:]},
        "ours_reset_ms": resets["ours"],
        "browsergym_reset_ms": resets["nosleep"],
        "browsergym_stock_reset_ms": resets["stock"],
        "ours_chars": taken["ours"].characters,
        "browsergym_chars": taken["nosleep"].characters,
        **{f"ratio_{side}": _ratio(steps[side], steps["ours"]) for side in SIDES[1:]},
        "ratio_reset": _ratio(resets["nosleep"], resets["ours"]),
        "steps": len(taken["ours"].steps),
        "browsergym_timeouts": sum(one.given_up for one in taken.values()),
    }


def _median(values: Sequence[float]) -> float | None:
    return round(statistics.median(values), 1) if values else None


def _ratio(theirs: float | None, ours: float | None) -> float | None:
    return round(theirs / ours, 2) if theirs and ours else None


# --- our side -------------------------------------------------------------------------------------------------------


class _Open:
    """A task that opens an address and asks nothing of it."""

    goal = "look around"
    uploads: Mapping[str, Path] = {}

    def __init__(self, url: str) -> None:
        self.url = url
        self.origins: tuple[str, ...] = (url,)

    async def setup(self, session: Session) -> None: ...

    async def done(self, session: Session) -> bool:
        return False

    async def validate(self, session: Session, calls: tuple[Call, ...]) -> Verdict:
        return Verdict(success=True)

    def teardown(self) -> None: ...


class _OpenEnv(BrowserEnv):
    url = ""

    def prepare(self, seal: Seal) -> BrowserTask:
        return _Open(self.url)

    def draw(self, seed: int) -> tuple[Seal, str]:
        return _SEAL, _Open.goal


@contextmanager
def _ours() -> Iterator[Ask]:
    env = _OpenEnv(_WHOLE)

    def ask(do: str, url: str = "", variant: str = "", kind: str = "", number: str = "", mark: str = "") -> Seen:
        env.url = url or env.url
        args: dict[str, JsonValue] = {"element": number, **({"value": mark} if kind == "write" else {})}
        call = ToolCall(tool="fill" if kind == "write" else "click", args=args)
        began = time.perf_counter()
        error = None
        if do == "reset":
            text = env.reset(options={"seal": _SEAL})[0]
        else:
            text, _, _, _, info = env.step(call)
            error = info["error"]
        return {"ms": 1000 * (time.perf_counter() - began), "text": text, "error": error or ""}

    try:
        yield ask
    finally:
        env.close()


# --- BrowserGym's side ----------------------------------------------------------------------------------------------


@contextmanager
def _theirs(python: Path) -> Iterator[Ask]:
    """BrowserGym in a process of its own; closing its standard input ends it."""
    script_file = Path(__file__).with_name("browsergym_side.py")
    command = [str(python), "-P", str(script_file), str(find().path), json.dumps(arguments())]
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True) as side,
    ):
        assert side.stdin is not None
        assert side.stdout is not None
        out, back = side.stdin, side.stdout

        def ask(**job: str) -> Seen:
            with suppress(BrokenPipeError):  # it says why below
                out.write(json.dumps(job) + "\n")
                out.flush()
            line = back.readline()
            if not line:
                said.seek(0)
                raise PeerFailure(f"{PACKAGE} {VERSION} failed: {said.read()[-2000:]}")
            seen: Seen = json.loads(line)
            return seen

        try:
            yield ask
        finally:
            with suppress(BrokenPipeError):
                out.close()
            try:
                side.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                side.kill()
