"""`rebind bench tokens`: closed-loop episodes against a provider on loopback that speaks OpenAI's or Anthropic's wire
format, streams or not, caches, reasons, leaves usage out, fails and is replayed; the ledger is held against the
provider's own invoice. The model is simulated: nothing here is a result about memory."""

from __future__ import annotations

import itertools
import multiprocessing
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebind.agents.endpoint import Endpoint
from rebind.agents.llm import LLM
from rebind.agents.provider import litellm
from rebind.banks.files import silent
from rebind.banks.seals import open_seals
from rebind.banks.store import Bank
from rebind.eval.bench.small_study import prepare
from rebind.eval.bench.wires.forms import FORMATS, Format
from rebind.eval.bench.wires.invoice import Auditor, Check, Price
from rebind.eval.bench.wires.provider import Provider
from rebind.eval.episode import Bench, attempt_cell
from rebind.eval.ledger import LEDGER_FILE, Ledger
from rebind.eval.models import Models, Named
from rebind.eval.plan import Plan, make_plan
from rebind.eval.scripts import oracle_script
from rebind.eval.selecting import select_all
from rebind.eval.study import RetrievalPart, load_study
from rebind.orphans import end_with_parent
from rebind.types import Budget, Cell, Progress

PRICED, UNPRICED = "simulated/priced", "simulated/unpriced"
_SERVED: dict[Format, dict[str, str]] = {
    "openai": {PRICED: "openai/gpt-4o-mini", UNPRICED: "openai/unheard-of"},
    "anthropic": {PRICED: "anthropic/claude-sonnet-4-5", UNPRICED: "anthropic/unheard-of"},
}
"""What litellm is told that it talks to."""
_BUDGET = Budget(steps=7, calls=40)
_TARGETS = 24
_STREAMED, _KEPT, _REPEATED, _FORGOTTEN, _PRICED = 0.5, 0.4, 0.5, 0.3, 0.7
"""Shares: episodes that stream, that keep their answers, of these run again, of their answers lost before, with a known
price."""


@dataclass(frozen=True)
class _Job:
    form: Format
    study: Path
    folder: Path
    episodes: int
    seed: int


def run(episodes: int = 1000, seed: int = 0, progress: Progress = silent) -> dict[str, Any]:
    """Runs `episodes` episodes against each wire format and checks every one.

    Returns:
        `violations`, `episodes` (in all), `formats` (by name: episodes and counts of calls, attempts, replays, kinds),
        `kinds` (the counts, over formats), `details` (sentences for violations, the first 20).
    """
    with tempfile.TemporaryDirectory(prefix="rebind-tokens-") as scratch:
        study = prepare(Path(scratch) / "study", targets=_TARGETS)
        jobs = [_Job(form, study, Path(scratch) / form, episodes, seed + n) for n, form in enumerate(FORMATS)]
        checks: dict[str, Check] = {}
        with ProcessPoolExecutor(len(jobs), multiprocessing.get_context("spawn"), end_with_parent) as pool:
            futures = {pool.submit(run_format, job): job.form for job in jobs}
            for done, future in enumerate(as_completed(futures), 1):
                checks[futures[future]] = future.result()
                progress(futures[future], done, len(jobs))
    kinds: Counter[str] = Counter()
    for check in checks.values():
        kinds.update(check.counts)
    found = [f"{form}: {sentence}" for form in FORMATS for sentence in checks[form].violations]
    return {
        "violations": len(found),
        "episodes": sum(check.episodes for check in checks.values()),
        "formats": {f: {"episodes": checks[f].episodes, **dict(sorted(checks[f].counts.items()))} for f in FORMATS},
        "kinds": dict(sorted(kinds.items())),
        "details": found[:20],
    }


def run_format(job: _Job) -> Check:
    """All episodes of one wire format, one after the other, so that ledger and invoice are in one order."""
    rng = random.Random(job.seed)
    study = load_study(job.study)
    study = study.model_copy(update={"budget": _BUDGET, "retrieval": RetrievalPart(ranker="top1")})
    plan = make_plan(study)
    with Provider(oracle_script(plan.targets, 0.8), job.seed) as provider, Ledger.open(job.folder) as ledger:
        with _bench(plan, ledger, _door(job.form, provider, False, None)) as bench:
            for cell, attempt, door, name in _episodes(job, plan, provider, rng):
                model = Named(door, name)
                bench.models = Models(model, model, model, {}, door)
                attempt_cell(bench, cell, attempt)
        ledger.commit()
        return Auditor(provider.invoice, {PRICED: _price(job.form)}).audit(job.folder / LEDGER_FILE)


@contextmanager
def _bench(plan: Plan, ledger: Ledger, door: LLM) -> Iterator[Bench]:
    """What the episodes share. The door only counts: the ranker is none, the top candidate is taken."""
    bank = Bank.open(plan.study.bank.path)
    model = Named(door, PRICED)
    models = Models(model, model, model, {}, door)
    bench = Bench(
        plan=plan,
        bank=bank,
        ledger=ledger,
        models=models,
        targets={t.task.key: t for t in plan.targets},
        selections=select_all(plan, bank, open_seals(plan.study.bank.path), models, ledger, {}, silent),
    )
    try:
        yield bench
    finally:
        bench.close()


def _episodes(job: _Job, plan: Plan, provider: Provider, rng: random.Random) -> Iterator[tuple[Cell, int, LLM, str]]:
    """Cells, each with the number of the attempt, and the door and the name of the model that acts and writes."""
    left = job.episodes
    for group in itertools.count():
        target, name = rng.choice(plan.targets), PRICED if rng.random() < _PRICED else UNPRICED
        for condition in plan.study.conditions:
            cell = Cell(target=target.task.key, condition=condition, seed=group)
            kept = job.folder / "answers" / cell.id if rng.random() < _KEPT else None
            for attempt in range(2 if kept and rng.random() < _REPEATED else 1):
                if not left:
                    return
                _forget(kept, rng)
                yield cell, attempt, _door(job.form, provider, rng.random() < _STREAMED, kept), name
                left -= 1


def _forget(answers: Path | None, rng: random.Random) -> None:
    """Loses some of the kept answers, so that an episode is replayed in part."""
    for file in sorted(answers.rglob("*.json")) if answers else ():
        if rng.random() < _FORGOTTEN:
            file.unlink()


def _door(form: Format, provider: Provider, stream: bool, answers: Path | None) -> LLM:
    base = f"{provider.url}/v1" if form == "openai" else provider.url
    endpoints = {
        name: Endpoint(
            model=served,
            api_base=base,
            api_key="none-needed",
            identity={"simulated": name},
            tokenizes=True,
            stream=stream,
        )
        for name, served in _SERVED[form].items()
    }
    return LLM(endpoints, cache_folder=answers, attempts=4, backoff=0.001)


def _price(form: Format) -> Price:
    """The unit prices of litellm's local table."""
    row = litellm().model_cost[_SERVED[form][PRICED].partition("/")[2]]
    prompt = row["input_cost_per_token"]
    return Price(
        prompt=prompt,
        read=row["cache_read_input_token_cost"],
        written=row.get("cache_creation_input_token_cost", prompt),
        completion=row["output_cost_per_token"],
    )
