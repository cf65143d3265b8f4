"""The rows of a run's frames: what the ledger says of a target, a record and an attempt, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rebind.eval.bindings import NOTHING_CHANGED, Changed, changed_values
from rebind.eval.lines import Line
from rebind.eval.rebinding import Watch
from rebind.eval.tokens import account
from rebind.types import Binding, Episode, Seal, Selection, Task, TokenAccount, Usage, Verdict, length_group

if TYPE_CHECKING:
    import pandas as pd

COMPONENTS = ("i_base", "i_mem", "i_syn", "o_syn", "o_act")
_TOKEN_COLUMNS = (*COMPONENTS, "online", "once", "once_dropped", "cached", "wasted", "cost")
NO_RECORD = "no record"
ABANDONED = "abandoned"
"""Ending of an attempt that was begun and never ended: its process was killed."""

_BEGUN = ("cell", "attempt", "target", "source", "environment", "family", "level", "length_group", "actions")
_KEYS = ("condition", "seed")
_ENDED = {
    "outcome": "string", "ending": "string", "success": "boolean", "milestone": "Float64", "api_calls": "Int64",
    "steps": "Int64", "seconds": "Float64", **dict.fromkeys(COMPONENTS, "Int64"), "online": "Int64", "once": "Int64",
    "once_dropped": "boolean", "cached": "Int64", "wasted": "Int64", "cost": "Float64", "checkable": "boolean",
    "stale": "Int64", "rebound": "boolean", "bound_share": "Float64",
}  # fmt: skip
"""Columns of an ended attempt, with their pandas types; NA where the ledger does not say."""


@dataclass(frozen=True)
class RecordRow:
    """A candidate record, as the ledger describes it."""

    id: str
    seal: Seal
    instruction: str
    index_text: str
    effective_actions: int
    tokens: int | None


@dataclass
class TargetRow:
    """A target and what was retrieved and selected for it."""

    key: str
    task: Task
    seal: Seal
    source: Seal | None
    """Of the record it was made from."""
    query: str = ""
    """The text that was embedded."""
    candidates: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    encoder: str | None = None
    selection: Selection | None = None
    ranker_usage: Usage | None = None
    """None where no model ranked."""
    old: tuple[Binding, ...] | None = None
    """Bindings of the record that was selected, or else of the source; None before the selection."""

    @cached_property
    def changed(self) -> Changed:
        """What to look for in its episodes. Ask after the selection."""
        return NOTHING_CHANGED if self.old is None else changed_values(self.old, self.seal.bindings)

    @property
    def cluster(self) -> str:
        """The source trajectory; a target without one is a cluster of its own."""
        return self.seal.source or self.key

    @property
    def chosen(self) -> str | None:
        return self.selection.chosen if self.selection else None

    def paired(self, record: str | None) -> bool:
        """Whether a record is the one the target was made from."""
        return record is not None and record == self.seal.source

    def usable(self, record: RecordRow | None) -> bool:
        """Whether a record is of the target's family and environment, by the seals."""
        return record is not None and (record.seal.env, record.seal.family) == (self.seal.env, self.seal.family)


@dataclass
class Attempted:
    """An attempt that has begun: what its events have said so far."""

    row: dict[str, Any]
    """Its row of the frames; the columns of `_ENDED` come when it ends."""
    watch: Watch
    support: dict[str, Any] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    """The byte of the ledger file at which each step's line begins."""
    api_calls: int = 0
    verdict: Verdict | None = None


def begin(line: Line, data: Mapping[str, Any], target: TargetRow, records: Mapping[str, RecordRow]) -> dict[str, Any]:
    """The row of an attempt as far as it is known when it starts."""
    cell = data["cell"]
    chosen = records.get(target.chosen or "")
    return {
        "cell": line.cell,
        "attempt": line.attempt,
        "target": target.key,
        "source": target.cluster,
        "environment": target.seal.env,
        "family": target.seal.family,
        "level": target.seal.level,
        "length_group": length_group(chosen.effective_actions) if chosen else NO_RECORD,
        "actions": chosen.effective_actions if chosen else None,
        "condition": cell["condition"],
        "seed": cell["seed"],
        "ending": ABANDONED,
    }


def finish(attempt: Attempted, episode: Episode) -> list[str]:
    """Adds to an attempt's row how it ended; steps, calls and tokens are counted anew from its events. Returns
    sentences for what the episode says otherwise."""
    tokens, watch = account(attempt.calls, attempt.support), attempt.watch
    attempt.row.update(
        outcome=episode.outcome,
        ending=episode.ending,
        success=episode.success,
        milestone=episode.milestone,
        api_calls=attempt.api_calls,
        steps=len(attempt.steps),
        seconds=episode.seconds,
        checkable=watch.checkable,
        stale=len(watch.stale) if watch.checkable else None,
        rebound=watch.rebound,
        bound_share=watch.bound_share,
    )
    for name in _TOKEN_COLUMNS:
        attempt.row[name] = getattr(tokens, name)
    return _discrepancies(episode, attempt, tokens)


def _discrepancies(episode: Episode, attempt: Attempted, tokens: TokenAccount) -> list[str]:
    verdict = attempt.verdict
    pairs: dict[str, tuple[Any, Any]] = {
        "steps": (episode.steps, len(attempt.steps)),
        "api_calls": (episode.api_calls, attempt.api_calls),
        **{name: (getattr(episode.tokens, name), getattr(tokens, name)) for name in _TOKEN_COLUMNS},
    }
    if episode.outcome == "valid":
        pairs["success"] = (episode.success, verdict.success if verdict else None)
        pairs["milestone"] = (episode.milestone, verdict.progress if verdict else None)
    where = f"cell {episode.cell.id}, attempt {episode.attempt}"
    return [
        f"{where}: {name} is {said} in the episode and {counted} by its events"
        for name, (said, counted) in pairs.items()
        if said != counted
    ]


def episodes_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """One row per final attempt, ordered by target, condition and seed."""
    return _frame(rows).sort_values(["target", "condition", "seed"], ignore_index=True)


def attempts_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """One row per attempt, in the order they began; the outcome of an abandoned one is NA."""
    return _frame(rows)


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=[*_BEGUN, *_KEYS, *_ENDED])
    return frame.astype({"attempt": "int64", "actions": "Int64", "seed": "int64", **_ENDED})


def targets_frame(targets: Iterable[TargetRow], records: Mapping[str, RecordRow]) -> pd.DataFrame:
    """One row per target; `paired_rank` and `usable_rank` count from 1 and are NA where no candidate fits;
    `usable`: how many do."""
    import pandas as pd

    rows = []
    for t in targets:
        chosen = records.get(t.chosen or "")
        rows.append(
            {
                "target": t.key,
                "source": t.cluster,
                "environment": t.seal.env,
                "family": t.seal.family,
                "level": t.seal.level,
                "goal": t.task.goal,
                "changed": t.seal.changed,
                "checkable": bool(t.changed.stale),
                "candidates": len(t.candidates),
                "chosen": t.chosen,
                "ranker": t.selection.ranker if t.selection else None,
                "length_group": length_group(chosen.effective_actions) if chosen else NO_RECORD,
                "actions": chosen.effective_actions if chosen else None,
                "paired_rank": next((n for n, c in enumerate(t.candidates, 1) if t.paired(c)), None),
                "usable_rank": next((n for n, c in enumerate(t.candidates, 1) if t.usable(records.get(c))), None),
                "usable": sum(t.usable(records.get(c)) for c in t.candidates),
                "chosen_paired": t.paired(t.chosen),
                "chosen_usable": t.usable(chosen),
            }
        )
    columns = list(rows[0]) if rows else ["target"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype({"actions": "Int64", "paired_rank": "Int64", "usable_rank": "Int64"}) if rows else frame


def selections_frame(targets: Iterable[TargetRow], records: Mapping[str, RecordRow]) -> pd.DataFrame:
    """One row per target × candidate, best first."""
    import pandas as pd

    rows = [
        {
            "target": t.key,
            "rank": rank,
            "record": record,
            "score": score,
            "chosen": record == t.chosen,
            "paired": t.paired(record),
            "usable": t.usable(records.get(record)),
        }
        for t in targets
        for rank, (record, score) in enumerate(zip(t.candidates, t.scores, strict=True), 1)
    ]
    return pd.DataFrame(rows, columns=["target", "rank", "record", "score", "chosen", "paired", "usable"])
