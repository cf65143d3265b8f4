"""Retrieval and selection for every target, once, into the ledger, before any condition runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from rebind.banks.store import Bank
from rebind.eval.crew import Crew, to_the_end
from rebind.eval.ledger import Ledger
from rebind.eval.models import Models
from rebind.eval.parts import Tell, overheard, staffed
from rebind.eval.plan import Plan
from rebind.memory.index import Candidates, index_text
from rebind.memory.ranker import Ranked, rank_llm, rank_oracle, rank_random, rank_top1
from rebind.memory.tokens import record_tokens
from rebind.types import Progress, Record, Seal, Selection, Target


def select_all(
    plan: Plan,
    bank: Bank,
    seals: Mapping[str, Seal],
    models: Models,
    ledger: Ledger,
    known: Mapping[str, Selection],
    progress: Progress,
    may_begin: Callable[[], bool] = lambda: True,
) -> dict[str, Selection]:
    """The selection of every target, by task key. Those already in the ledger are taken from there.

    `may_begin` is asked before each; once it says no, none is begun, and those of the targets left are missing.
    """
    missing = [t for t in plan.targets if t.task.key not in known]
    chosen = dict(known)
    if not missing:
        return chosen
    index = bank.index()
    first = first_observations(missing, models, lambda row: ledger.append("note", row))
    described: set[str] = {i for s in known.values() for i in s.candidates}

    def rank(target: Target) -> tuple[Target, Candidates, Ranked]:
        candidates = index.retrieve(target.task.goal, first[target.task.key], plan.study.retrieval.k)
        return target, candidates, _rank(plan, bank, seals, models, target, first[target.task.key], candidates)

    crew: Crew[Target, tuple[Target, Candidates, Ranked]] = Crew(plan.study.run.workers, missing, rank, may_begin)

    def watch() -> None:
        for target, candidates, ranked in crew.results():
            _write(ledger, bank, seals, models, target, candidates, ranked, described)
            chosen[target.task.key] = ranked.selection
            progress("selecting", len(chosen) - len(known), len(missing))

    to_the_end(crew, watch, "selections")
    return chosen


def first_observations(targets: list[Target], models: Models, tell: Tell) -> dict[str, str]:
    """o_t0 of each target, by task key. `tell` hears what models are asked that play a part in it."""
    seen: dict[str, str] = {}
    for env_id in sorted({t.task.env for t in targets}):
        world, part = staffed(env_id, models)
        env = world.make()
        try:
            for target in targets:
                if target.task.env == env_id:
                    with overheard(part, tell):
                        seen[target.task.key] = env.reset(options={"seal": target.seal})[0]
        finally:
            env.close()
    return seen


def _rank(
    plan: Plan,
    bank: Bank,
    seals: Mapping[str, Seal],
    models: Models,
    target: Target,
    first_observation: str,
    candidates: Candidates,
) -> Ranked:
    key, goal = target.task.key, target.task.goal
    match plan.study.retrieval.ranker:
        case "llm":
            records = {i: bank.record(i) for i in candidates.ids}
            return rank_llm(key, goal, first_observation, candidates, records, models.ranker.model, models.ranker.name)
        case "top1":
            return rank_top1(key, candidates)
        case "random":
            return rank_random(key, candidates)
        case "oracle":
            # The paired record where it is among the candidates, else any of the same family (QCR, section 5.5).
            same = [i for i in candidates.ids if seals[i].family == target.seal.family]
            paired = [i for i in candidates.ids if i == target.seal.source]
            return rank_oracle(key, candidates, paired or same)


def _write(
    ledger: Ledger,
    bank: Bank,
    seals: Mapping[str, Seal],
    models: Models,
    target: Target,
    candidates: Candidates,
    ranked: Ranked,
    described: set[str],
) -> None:
    """The events of one target, committed together: the selection last, so that its presence means all are there."""
    key = target.task.key
    for record_id in candidates.ids:
        if record_id not in described:
            described.add(record_id)
            ledger.append("record", _record_data(bank.record(record_id), seals[record_id], models))
    source = seals.get(target.seal.source or "")
    ledger.append(
        "target",
        {
            "target": key,
            "task": target.task.model_dump(mode="json"),
            "seal": target.seal.model_dump(mode="json"),
            "source": source.model_dump(mode="json") if source else None,
        },
    )
    retrieval: dict[str, Any] = asdict(candidates)
    retrieval["candidates"] = list(retrieval.pop("ids"))
    ledger.append("retrieval", {"target": key, **retrieval, "scores": list(candidates.scores)})
    selection = ranked.selection.model_dump(mode="json")
    for name, value in (("request", ranked.request), ("completion", ranked.completion)):
        selection[name] = value.model_dump(mode="json") if value else None
    ledger.append("selection", selection)
    ledger.commit()


def _record_data(record: Record, seal: Seal, models: Models) -> dict[str, Any]:
    return {
        "record": record.id,
        "content": record.model_dump(mode="json"),
        "seal": seal.model_dump(mode="json"),
        "instruction": record.instruction,
        "index_text": index_text(record),
        "effective_actions": record.effective_actions,
        "tokens": record_tokens(models.actor.model, models.actor.name, record),
    }
