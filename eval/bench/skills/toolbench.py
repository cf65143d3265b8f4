"""`rebind bench skills toolbench`: skills of recorded ToolBench runs, executed against the recorded responses.

A run gives one skill for each tool that it calls, and one for the whole where it calls several. A skill is valid for a
query if every call it makes was recorded, without an error, in the query's own run. StepRed counts the calls of the
recorded run that one call of the skill replaces, less one.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rebind.eval.bench.skills.caller import PerfectCaller
from rebind.eval.bench.skills.measure import Measured, summary, table
from rebind.eval.bench.skills.methods import BASELINES, TIER_C, Baseline, Corpus, Stored, remembering
from rebind.eval.bench.skills.toolbench_data import Run, load_runs, namespace
from rebind.memory.shard.scope import ItemMeta, NamespaceIs, Scope
from rebind.memory.skill.execute import execute
from rebind.memory.skill.identity import identity
from rebind.memory.skill.induce import induce
from rebind.memory.skill.library import Library, Source, Version
from rebind.memory.skill.request import read_values, request_of
from rebind.memory.skill.tier_c import TierC
from rebind.memory.skill.traits import Encode
from rebind.memory.skill.tuning import Tuning, fit_least
from rebind.memory.skill.validation import fails_on_source, invalid
from rebind.types import Call, Progress, Record, Skill, ToolCall

SEEDS = (16, 17, 18)
"""Seeds 1 to 15 and 100 to 102 were looked at while the read path was made; all draw from the same runs."""
INDUCTION = 0.7
FOLDS = 4
IN, OUT = "in-domain", "out-of-domain"
_NOT_RECORDED = 404
_JUDGED: dict[tuple[int, str], tuple[Version, Judged]] = {}
"""By version and run; the version is kept, so that no other takes its id."""


@dataclass(frozen=True)
class Task:
    """A recorded run as a query."""

    run: Run

    @cached_property
    def caller(self) -> PerfectCaller:
        return PerfectCaller(self.run.record(), whole=False)

    @cached_property
    def scope(self) -> Scope:
        return Scope(predicates=(NamespaceIs(names=tuple(sorted(map(namespace, self.run.tools)))),))

    @cached_property
    def families(self) -> frozenset[str]:
        """The tools (of several functions each) that the query may call."""
        return frozenset(namespace(tool).partition(".")[0] for tool in self.run.tools)

    @cached_property
    def skills(self) -> tuple[tuple[Skill, Record], ...]:
        """What the run becomes, each skill with the calls that it came from; those that pass their tests on them."""
        groups: dict[str, list[Call]] = {}
        for call in self.run.good:
            groups.setdefault(namespace(call.tool).partition(".")[0], []).append(call)
        parts = [tuple(calls) for calls in groups.values()] + ([self.run.good] if len(groups) > 1 else [])
        found: list[tuple[Skill, Record]] = []
        for calls in parts:
            record = self.run.record(calls)
            skill = induce(record, keep={c.tool for c in calls}, late=True, least=1)
            if skill and fails_on_source(skill, record, self.call) is None:
                found.append((skill, record))
        return tuple(found)

    def call(self, made: ToolCall) -> Call:
        """The recorded response to a call."""
        same = (c for c in self.run.good if c.tool == made.tool and c.args == made.args)
        missing = Call(tool=made.tool, args=made.args, status=_NOT_RECORDED, result="not recorded")
        return next(same, missing)


def run_toolbench(
    data: Path, seeds: Sequence[int] = SEEDS, encode: Encode | None = None, progress: Progress = lambda *_: None
) -> dict[str, Any]:
    """Every method on every split, once for each seed with other runs for induction.

    Raises:
        UserError: the folder holds no recorded runs.
    """
    runs = load_runs(data)
    tasks = [Task(run) for run in runs if run.answered and run.good]
    encode = remembering(encode or _encoder())
    rows: dict[tuple[str, str, bool], list[list[Measured]]] = {}
    facts: list[dict[str, Any]] = []
    for number, seed in enumerate(seeds):
        progress(f"seed {seed}", number, len(seeds))
        for key, found in _of_seed(seed, tasks, encode, facts).items():
            rows.setdefault(key, []).append(found)
    progress("done", len(seeds), len(seeds))
    made = {key: {"method": key[0], "split": key[1], **summary(found)} for key, found in rows.items()}
    plain = [(name, split, name == TIER_C) for split in (IN, OUT) for name in (*BASELINES, TIER_C)]
    return {
        "rows": [made[key] for key in plain if key in made],
        "gated_rows": [row for (name, _, gated), row in made.items() if gated and name != TIER_C],
        "seeds": list(seeds),
        "r": 3,
        "libraries": facts,
        **_usable(runs, tasks),
    }


def _of_seed(
    seed: int, tasks: Sequence[Task], encode: Encode, facts: list[dict[str, Any]]
) -> dict[tuple[str, str, bool], list[Measured]]:
    """One draw of induction runs: in domain, then each fold of held-out tools."""
    rng = random.Random(f"skills toolbench {seed}")
    drawn = rng.sample(tasks, len(tasks))
    cut = round(INDUCTION * len(drawn))
    train, queries = drawn[:cut], drawn[cut:]
    rows = {(name, IN, gated): found for (name, gated), found in _rows(train, queries, encode, facts).items()}
    families = sorted({one for t in tasks for one in t.families})
    rng.shuffle(families)
    for held in (set(families[n::FOLDS]) for n in range(FOLDS)):
        seen = [t for t in train if not t.families & held]
        asked = [t for t in queries if t.families <= held]
        for (name, gated), found in _rows(seen, asked, encode, []).items():
            rows.setdefault((name, OUT, gated), []).extend(found)
    return rows


def _usable(runs: Sequence[Run], tasks: Sequence[Task]) -> dict[str, Any]:
    """What of the recorded runs was used, and why the rest was not."""
    lost: Counter[str] = Counter()
    for run in runs:
        lost.update(run.lost)
    return {
        "runs": len(runs),
        "runs_used": len(tasks),
        "runs_left_out": {
            "gave no answer": sum(not run.answered for run in runs),
            "answered, but no call is usable": sum(run.answered and not run.good for run in runs),
        },
        "calls_used": sum(len(t.run.good) for t in tasks),
        "calls_lost": dict(lost),
        "traces": [{"id": run.id, "used": run.answered and bool(run.good), "calls": len(run.good), **run.lost}
                   for run in runs],
    }  # fmt: skip


def _encoder() -> Encode:
    from rebind.memory.encoders import encoder
    from rebind.memory.shard.embedded import EmbeddingCache

    return EmbeddingCache(encoder("all-minilm-l6-v2")).encode


def _metas(skill: Skill) -> tuple[ItemMeta, ...]:
    return tuple(ItemMeta(namespace=name) for name in sorted({namespace(s.tool) for s in skill.steps}))


def _rows(
    train: Sequence[Task], queries: Sequence[Task], encode: Encode, facts: list[dict[str, Any]]
) -> dict[tuple[str, bool], list[Measured]]:
    stored: list[Stored] = []
    sources: list[Task] = []
    for task in train:
        for skill, record in task.skills:
            request = request_of(task.run.query, skill)
            version = Version(identity=identity(skill), skill=skill, requests=(request,), metas=_metas(skill))
            stored.append(Stored(version, tuple(_line(c) for s in record.steps for c in s.calls)))
            sources.append(task)
    corpus = Corpus(stored, encode)
    rows: dict[tuple[str, bool], list[Measured]] = {}
    with TemporaryDirectory() as folder:
        tier = _learnt(train, Path(folder), encode, facts)
        for name in BASELINES:
            method = Baseline(name, corpus)
            least = _fitted(method, train, sources)
            for gate in (None, least):
                handed = [_handed(method, t, gate) for t in queries]
                rows[name, gate is not None] = [_measured(h, t, tier) for h, t in zip(handed, queries, strict=True)]
        rows[TIER_C, True] = [_measured([v for v, _ in tier.ranked(t.run.query, t.scope)], t, tier) for t in queries]
    return rows


def _handed(method: Baseline, task: Task, least: float | None) -> list[Version]:
    return [v for v, score in method.top(task.run.query, task.scope) if least is None or score >= least]


def _fitted(method: Baseline, train: Sequence[Task], sources: Sequence[Task]) -> float:
    """A baseline's threshold that is most precise on the induction runs, each with its own skills left out."""
    found: list[list[tuple[float, bool]]] = []
    for task in train:
        own = frozenset(n for n, source in enumerate(sources) if source is task)
        found.append(_pairs(method.top(task.run.query, task.scope, own), task))
    return fit_least(found)


def _learnt(train: Sequence[Task], folder: Path, encode: Encode, facts: list[dict[str, Any]]) -> TierC:
    """Tier C after the induction runs: first all are stored, then each query is tried with what the others left, so
    that it does not depend on their order. The settings are fitted to what each finds without its own run."""
    library = Library(folder)
    tier, tuning = TierC(library, encode), Tuning(library, encode)
    own: dict[str, set[str]] = {task.run.id: set() for task in train}
    for task in train:
        for skill, record in task.skills:
            version = library.next_version(skill, task.run.query, _metas(skill))
            if fails_on_source(version.skill, record, task.call) is None:
                library.append(version)
                own[task.run.id].add(version.key)
    for task in train:
        for version in tier.nearest(task.run.query, task.scope, Source(task.run.query, frozenset(own[task.run.id]))):
            judged = _judged(version, task)
            if judged.clear:
                library.record(version, ok=judged.saved is not None, request=task.run.query)
    for task in train:
        source = Source(task.run.query, frozenset(own[task.run.id]))
        tuning.ask(source, task.scope, partial(_known, task=task))
    settings = tuning.settings()
    facts.append({"tau_c": settings.least, "worth": settings.worth, "versions": len(library.all()),
                  "procedures": len(library.current(Scope()))})  # fmt: skip
    return TierC(library, encode, settings)


def _known(version: Version, task: Task) -> bool | None:
    """Whether a skill is valid; None where the recording does not tell."""
    judged = _judged(version, task)
    return judged.saved is not None if judged.clear else None


@dataclass(frozen=True)
class Judged:
    """What is known of a skill on a query."""

    clear: bool
    """Whether the recording tells. It does not where the run called one of the skill's functions and what it called it
    with, or what came back, is lost."""
    saved: int | None = None
    """Calls of the run that the skill replaces, less its own; None where it is not valid."""


def _judged(version: Version, task: Task) -> Judged:
    known = _JUDGED.get((id(version), task.run.id))
    if known is None:
        known = _JUDGED[id(version), task.run.id] = version, _executed(version, task)
    return known[1]


def _executed(version: Version, task: Task) -> Judged:
    """Fills a skill by a perfect reader and runs it against the recorded responses."""
    skill = version.skill
    made = task.caller.fill(skill, read_values(skill.slots, version.requests, task.run.query))
    if made is not None:
        execution = execute(skill, made.values, task.call)
        if not invalid(skill, execution):
            return Judged(True, len({_line(c) for c in execution.calls}) - 1)
    return Judged(clear=not task.run.unclear.intersection(s.tool for s in skill.steps))


def _pairs(found: Sequence[tuple[Version, float]], task: Task) -> list[tuple[float, bool]]:
    """Similarities, and whether the skill was valid, as far as that is clear."""
    judged = [(score, _judged(version, task)) for version, score in found]
    return [(score, one.saved is not None) for score, one in judged if one.clear]


def _measured(handed: Sequence[Version], task: Task, tier: TierC) -> Measured:
    """Skills of which the recording does not tell are left out."""
    judged = [one for one in (_judged(version, task) for version in handed) if one.clear]
    saved = [one.saved for one in judged if one.saved is not None]
    seen = tier.library.current(task.scope)
    return Measured(
        handed=len(judged),
        valid=len(saved),
        missed=not handed and any(_judged(v, task).saved is not None for v in seen),
        reduction=saved[0] if saved else 0,
        reused=bool(saved),
    )


def _line(call: Call) -> str:
    return f"{call.tool}({json.dumps(call.args, ensure_ascii=False, sort_keys=True)})"


def tables(result: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """For the terminal."""
    used = [["runs", str(result["runs"])], ["runs used", str(result["runs_used"])]]
    used += [[f"left out: {why}", str(n)] for why, n in result["runs_left_out"].items()]
    used += [[f"calls lost: {why}", str(n)] for why, n in result["calls_lost"].items()]
    return [
        table("Skills on recorded ToolBench runs", result["rows"]),
        table("Baselines with a threshold fitted on the induction split", result["gated_rows"]),
        ("What could be used", ["what", "how many"], used),
    ]
