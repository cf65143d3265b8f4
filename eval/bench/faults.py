"""`rebind bench faults`: injects every fault of a provider and every misbehaviour of a model into real episodes, and
checks that the ledger names each for what it is. The model is simulated; HTTP, environment and run are real."""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rebind.agents.faults import SAID, WIRE_FAULTS
from rebind.agents.simulated import SimulatedModel, Weather
from rebind.banks.files import silent
from rebind.eval.bench.fault_kinds import is_providers, mismatches, misnamed
from rebind.eval.demo import demo_study
from rebind.eval.ledger import read_events
from rebind.eval.models import open_models
from rebind.eval.past import asked_in
from rebind.eval.plan import Plan, make_plan
from rebind.eval.runner import run_study
from rebind.eval.scripts import oracle_script
from rebind.types import Progress

MODEL = "simulated/oracle"
_PASSING = (1, 3, 4, 8)
"""Numbers of the requests that a passing fault strikes; the second attempt at request 3 fails too."""
_LASTING_FROM = 1
"""A lasting fault begins after the ranker was answered."""
_TIMEOUT, _SHORT_TIMEOUT = 60.0, 3.0
"""Seconds of one attempt; the short one where attempts are to time out."""
_BOUND = 600.0
"""Seconds after which a run counts as hung."""
_STORM = 0.25
"""Share of requests that a storm strikes."""
_NOT_THE_AGENTS = {"no-usage", "slow"}
"""No misbehaviour: an episode succeeds under it."""
_ENDS_IT = {"overflow"}
"""Ends the episode that it happens to."""


@dataclass
class Row:
    """One fault in one run. Injected faults are `recovered` (the request was answered in the end), `infra` (it was not,
    and its episode is invalid-infra) or `agent` (the model's own doing, or no failure at all, taken as it is)."""

    fault: str
    how: str
    doing: str
    injected: int = 0
    recovered: int = 0
    infra: int = 0
    agent: int = 0
    misattributed: int = 0
    hung: int = 0
    endings: dict[str, int] = field(default_factory=dict)
    named: str = ""
    """How the ledger names it, once."""
    seconds: float = 0.0
    details: list[str] = field(default_factory=list)


def run(seed: int = 0, progress: Progress = silent) -> dict[str, Any]:
    """Runs a small study for each fault, once where it passes and once where it lasts, and one study in a storm of
    provider faults with several workers.

    Returns:
        `injected`, `recovered`, `infra`, `agent`, `misattributed` (attempts or episodes that the ledger does not name
        for what was injected), `hung` (runs that did not end), `rows` (one per fault and run), `details` (a sentence
        for each misattribution).
    """
    faults = [*WIRE_FAULTS, *SAID]
    cases = [(fault, how) for fault in faults for how in ("passing", "lasting")]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="rebind-faults-") as scratch:
        plan = _plan(conditions=("none", "qcr"), workers=1)
        _scenario(plan, "warm", Weather(), Path(scratch) / "warm", Row("none", "passing", "provider"), _TIMEOUT)
        for n, (fault, how) in enumerate(cases):
            progress(f"{fault}, {how}", n, len(cases) + 1)
            rows.append(_case(plan, fault, how, Path(scratch) / f"{n}"))
        progress("storm", len(cases), len(cases) + 1)
        rows.append(_storm(seed, Path(scratch) / "storm"))
    sums = ("injected", "recovered", "infra", "agent", "misattributed", "hung")
    return {
        **{name: sum(getattr(row, name) for row in rows) for name in sums},
        "rows": [asdict(row) for row in rows],
        "details": [f"{row.fault}, {row.how}: {said}" for row in rows for said in row.details],
    }


def _plan(conditions: tuple[str, ...], workers: int, targets: int = 1) -> Plan:
    study = demo_study(MODEL)
    return make_plan(
        study.model_copy(
            update={
                "conditions": conditions,
                "run": study.run.model_copy(update={"workers": workers, "cache": False, "attempts": 2}),
                "targets": study.targets.model_copy(update={"limit": targets}),
            }
        )
    )


def _case(plan: Plan, fault: str, how: str, folder: Path) -> Row:
    row = Row(fault, how, "provider" if is_providers(fault) else "model")
    timeout = _SHORT_TIMEOUT if fault in ("timeout", "drip") else _TIMEOUT
    weather = Weather(
        faults=dict.fromkeys(_PASSING, fault) if how == "passing" else {},  # type: ignore[arg-type]  # all are Faults
        always=(_LASTING_FROM, fault) if how == "lasting" else None,  # type: ignore[arg-type]  # all are Faults
        retry_after=0.2,
        drip=_SHORT_TIMEOUT / 10 if fault == "drip" else 0.005,
        down=0.2 if how == "passing" else _BOUND,
    )
    attempts = 12 if fault == "down" else 4  # one outage refuses several attempts of the same request
    server = _scenario(plan, fault, weather, folder, row, timeout, attempts)
    if row.hung:
        return row
    asked = [r for e in read_events(folder) for r in asked_in(e)]
    row.details += mismatches(server.injected, asked)
    _count(row, asked, Counter(f for f in server.injected if f))
    _judge(row, folder)
    row.misattributed = len(row.details)
    return row


def _scenario(
    plan: Plan, name: str, weather: Weather, folder: Path, row: Row, timeout: float, attempts: int = 4
) -> SimulatedModel:
    """Runs the plan against a server with that weather; notes a run that does not end."""
    failed: list[BaseException] = []
    with SimulatedModel(MODEL, oracle_script(plan.targets), weather) as server:
        how: dict[str, Any] = {"attempts": attempts, "timeout": timeout, "backoff": 0.02}
        opener = partial(open_models, endpoints={MODEL: server.endpoint}, **how)

        def go() -> None:
            try:
                run_study(plan, folder, silent, opener)
            except BaseException as error:  # told in the row
                failed.append(error)

        began = time.monotonic()
        thread = threading.Thread(target=go, name=f"faults-{name}", daemon=True)
        thread.start()
        thread.join(_BOUND)
        row.seconds = round(time.monotonic() - began, 1)
        row.hung = int(thread.is_alive())
    row.details += [f"the run failed: {type(error).__name__}: {error}" for error in failed]
    return server


def _count(row: Row, asked: list[dict[str, Any]], injected: Counter[str]) -> None:
    """What became of the injected faults, by the ledger."""
    for request in asked:
        failed = [a for a in request["attempts"] if a["error"] is not None]
        answered = bool(request["attempts"]) and request["attempts"][-1]["error"] is None
        if failed and not row.named:
            row.named = f"{failed[0]['status'] or 'no response'}: {failed[0]['error']}"[:160]
        if answered:
            row.recovered += len(failed)
        elif row.doing == "provider":
            row.infra += len(failed)
    row.injected = max(injected.total(), row.recovered + row.infra)  # refused connections reach no server
    row.agent = row.injected - row.recovered - row.infra


def _judge(row: Row, folder: Path) -> None:
    """Whether each episode ended as it has to."""
    episodes = [e.data for e in read_events(folder) if e.kind == "episode"]
    row.endings = dict(Counter(f"{e['outcome']}: {e['ending']}" for e in episodes))
    for episode in episodes:
        said = f"an episode is {episode['outcome']} ({episode['ending']}, success {episode['success']})"
        if row.doing == "provider" and row.how == "lasting":
            right = episode["outcome"] == "invalid-infra" and episode["success"] is None
        elif row.doing == "provider" or row.fault in _NOT_THE_AGENTS:
            right = episode["outcome"] == "valid" and episode["success"] is True
        elif row.how == "lasting":
            right = episode["outcome"] == "invalid-agent" and episode["success"] is None
        else:
            right = episode["outcome"] in ("valid", "invalid-agent")
        if not right:
            row.details.append(said)


def _storm(seed: int, folder: Path) -> Row:
    """Provider faults of every kind at random, several episodes at once: none may reach an agent's result, and the
    ledger must hold as many rows of each kind as the server made."""
    rng, row = random.Random(seed), Row("storm", "passing", "provider")
    kinds = [f for f in WIRE_FAULTS if f not in ("down", "timeout", "drip")]
    faults = {n: rng.choice(kinds) for n in range(2000) if rng.random() < _STORM}
    plan = _plan(conditions=("none", "full", "summary", "qcr", "skill"), workers=4, targets=4)
    weather = Weather(faults=faults, retry_after=0.05)  # type: ignore[arg-type]  # all are Faults
    server = _scenario(plan, "storm", weather, folder, row, _TIMEOUT, attempts=12)  # so that chance fails no request
    if row.hung:
        return row
    asked = [r for e in read_events(folder) for r in asked_in(e)]
    injected: Counter[str] = Counter(f for f in server.injected if f)
    _count(row, asked, injected)
    attempts = [a for request in asked for a in request["attempts"]]
    if len(attempts) != len(server.injected):
        row.details.append(f"the server saw {len(server.injected)} attempts, the ledger has {len(attempts)}")
    row.details += _unnamed(injected, [a for a in attempts if a["error"] is not None])
    _judge(row, folder)
    row.misattributed = len(row.details)
    return row


def _unnamed(injected: Mapping[str, int], failed: list[dict[str, Any]]) -> list[str]:
    """Sentences for kinds of which the ledger has fewer rows than were injected. A row may fit two kinds that say the
    same (a page that is no JSON, and an empty one): those are counted together."""
    found: list[str] = []
    for fault, count in injected.items():
        alike = [
            f for f in injected if any(misnamed(f, a, False) is None for a in failed if not misnamed(fault, a, False))
        ]
        named = sum(misnamed(fault, a, counted=False) is None for a in failed)
        if named != sum(injected[f] for f in {fault, *alike}):
            found.append(f"{fault} and its like were injected {count} times or more, and are named {named} times")
    return found
