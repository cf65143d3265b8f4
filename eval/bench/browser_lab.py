"""Where `rebind bench browser-faults` happens: the site's process, the environment over it, the scripted agent, and
what is left of browsers afterwards."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.request import urlopen

from rebind.agents.llm import LLM
from rebind.banks.store import Bank
from rebind.envs.browser.engine import engine
from rebind.envs.browser.env import BrowserEnv, BrowserTask
from rebind.envs.browser.session import Session
from rebind.errors import EnvironmentFailure, UserError
from rebind.eval.bench.browser_fault_kinds import Action, Case, errand, processes, role
from rebind.eval.episode import Bench, attempt_cell
from rebind.eval.ledger import Ledger
from rebind.eval.models import Models, Named
from rebind.eval.plan import Plan
from rebind.eval.study import BankPart, ModelPart, Study, TargetsPart
from rebind.types import Budget, Call, Cell, Completion, Episode, Request, Seal, Selection, Target, Task, Verdict

if TYPE_CHECKING:
    from playwright.async_api import Browser

_ENV = "bench/Faults-v0"
BOUND = 150.0
"""Seconds after which an episode counts as hung."""
_GONE_SECONDS = 20.0


class Lab:
    """The site, the agent and the bench; also the world (`make`) that attempts take their environment from."""

    def __init__(self, ledger: Ledger) -> None:
        self.seen: list[str] = []
        """Observations of the last episode."""
        self.named = ""
        """The error that the ledger notes of the last episode."""
        self.most_contexts = 1
        self._others: dict[Browser, int] = {}
        """Contexts of a browser that are not the lab's: those it had when the lab first used it."""
        self._ours: dict[int, Any] = {}
        self._folders: set[Path] = set()
        self._site = Site()
        self._agent = _Agent(self)
        self.bench = _bench(_Notes(self, ledger), self._agent)
        self.start = "/"

    def make(self) -> _FaultyEnv:
        return _FaultyEnv(self)

    @property
    def origin(self) -> str:
        return self._site.origin

    def attempt(self, n: int, case: Case | None, wrong: bool) -> Episode | None:
        """One episode; None where it hung."""
        target = Target(
            task=Task(env=_ENV, goal="Order the lamps.", state=str(n)),
            seal=Seal(canary="none", env=_ENV, task_key=str(n), family="order", world={"quantity": f"{n}"}),
        )
        key = target.task.key
        self.bench.targets[key] = target
        self.bench.selections[key] = Selection(target_key=key, candidates=(), scores=(), chosen=None, ranker="top1")
        self.seen, self.named, self.start = [], "", case.start if case else "/"
        self._agent.begin(case, errand(case, f"{n}" if not wrong else "wrong"))
        if case and case.kill and case.at < 0:
            self.kill(case.kill)
        got: Future[Episode] = Future()
        cell = Cell(target=key, condition="none", seed=n)
        threading.Thread(target=_into, args=(got, self.bench, cell), daemon=True).start()
        try:
            return got.result(BOUND)
        except FutureTimeout:
            return None
        finally:
            self.watch()

    def kill(self, what: str) -> None:
        """SIGKILL, and a moment for the news to get around."""
        if what == "server":
            self._site.kill()
        else:
            for process in processes(what):  # type: ignore[arg-type]  # a Strike
                process.kill()
        time.sleep(0.2)

    def recover(self) -> None:
        """Starts the site where it was killed."""
        if self._site.dead:
            self._site = Site()

    def watch(self) -> None:
        """Remembers every process of a browser, so that one that outlives it is found; counts open contexts."""
        import psutil

        for process in processes("any"):
            self._ours[process.pid] = process
            with suppress(psutil.Error):
                command = process.cmdline()
                if role(command) == "browser":
                    self._folders |= {Path(p.split("=", 1)[1]) for p in command if p.startswith("--user-data-dir=")}

    def count_contexts(self, browser: Browser) -> None:
        """Takes down how many of a browser's contexts are the lab's, while one must be."""
        others = self._others.setdefault(browser, len(browser.contexts) - 1)
        self.most_contexts = max(self.most_contexts, len(browser.contexts) - others)

    def leftovers(self) -> dict[str, Any]:
        """What is left of browsers once the last of them was told to stop."""
        import psutil

        self.watch()
        self._site.kill()
        engine().stop()
        psutil.wait_procs(list(self._ours.values()), timeout=_GONE_SECONDS)
        alive = [one for one in self._ours.values() if _alive(one)]
        return {
            "leftover_processes": len(alive),
            "leftover_folders": sum(folder.exists() for folder in self._folders),
            "left": [str(one)[:200] for one in alive],
        }


def _alive(process: Any) -> bool:
    """Whether it runs; one that has ended and waits to be collected does not."""
    import psutil

    with suppress(psutil.Error):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False


def _into(got: Future[Episode], bench: Bench, cell: Cell) -> None:
    try:
        got.set_result(attempt_cell(bench, cell, 0))
    except BaseException as error:  # raised where the result is asked for
        got.set_exception(error)


def _bench(ledger: _Notes, agent: _Agent) -> Bench:
    """A bench whose only model is the script; nothing is selected, so that its bank is never opened."""
    study = Study(
        name="faults",
        environments=("faults",),
        conditions=("none",),
        bank=BankPart(path=Path("none")),
        targets=TargetsPart(path=Path("none")),
        model=ModelPart(protocol="json"),
        budget=Budget(steps=20),
    )
    named = Named(agent, "simulated/faults")
    return Bench(
        plan=Plan(study, (), ()),
        bank=cast(Bank, None),
        ledger=cast(Ledger, ledger),
        models=Models(named, named, named, {}, cast(LLM, None)),
        targets={},
        selections={},
    )


class _Notes:
    """A ledger that tells the lab what it notes of an error."""

    def __init__(self, lab: Lab, ledger: Ledger) -> None:
        self._lab, self._ledger = lab, ledger

    def append(self, kind: Any, data: Any, **where: Any) -> Any:
        if kind == "note":
            self._lab.named = str(data.get("error", ""))[:300]
        return self._ledger.append(kind, data, **where)

    def commit(self) -> None:
        self._ledger.commit()


class _Agent:
    """A `Model` that follows a script, and has something killed before one of its actions."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._case: Case | None = None
        self._doing: list[Action] = []
        self._turn = 0

    def begin(self, case: Case | None, doing: list[Action]) -> None:
        self._case, self._doing, self._turn = case, doing, 0

    def complete(self, request: Request) -> Completion:
        self._lab.watch()
        if self._case and self._case.kill and self._case.at == self._turn:
            self._lab.kill(self._case.kill)
        tool, args = self._doing[min(self._turn, len(self._doing) - 1)]
        self._turn += 1
        return Completion(text=json.dumps({"thought": "", "tool": tool, "args": args}))

    def count(self, request: Request) -> int:
        return 0


class Site:
    """The site's process."""

    def __init__(self) -> None:
        script = Path(__file__).with_name("browser_site.py")
        command = [sys.executable, "-P", str(script)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.origin = self._process.stdout.readline().strip()

    @property
    def dead(self) -> bool:
        return self._process.poll() is not None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class _Order:
    """The task: a quantity of lamps, ordered in this episode's name."""

    goal = "Order the lamps."
    uploads: Mapping[str, Path] = {}

    def __init__(self, origin: str, start: str, episode: str, quantity: str) -> None:
        self.url = f"{origin}{start}?episode={episode}"
        self.origins: tuple[str, ...] = (origin,)
        self._asked, self._quantity = f"{origin}/saved?episode={episode}", quantity

    async def setup(self, session: Session) -> None: ...

    async def done(self, session: Session) -> bool:
        return False

    async def validate(self, session: Session, calls: tuple[Call, ...]) -> Verdict:
        return Verdict(success=await asyncio.to_thread(self._saved) == self._quantity)

    def _saved(self) -> str:
        try:
            with urlopen(self._asked, timeout=10) as answer:  # loopback
                return str(answer.read().decode())
        except OSError as error:
            raise EnvironmentFailure(f"the site does not answer: {error}") from None

    def teardown(self) -> None: ...


class _FaultyEnv(BrowserEnv):
    """The browser environment over the site; what is seen is kept for the lab."""

    def __init__(self, lab: Lab) -> None:
        super().__init__()
        self._lab = lab

    def prepare(self, seal: Seal) -> BrowserTask:
        return _Order(self._lab.origin, self._lab.start, seal.task_key, str(seal.world["quantity"]))

    def draw(self, seed: int) -> tuple[Seal, str]:
        raise UserError("episodes with faults are drawn by the benchmark")

    async def _observe(self, session: Session, part: int = 1) -> str:
        seen = await super()._observe(session, part)
        self._lab.seen.append(seen)
        if session.context.browser is not None:
            self._lab.count_contexts(session.context.browser)
        return seen
