"""A finished (or running) study as pandas frames, read from its ledger and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebind.errors import LedgerError
from rebind.eval.halves import read_ledger
from rebind.eval.mirror import run_here
from rebind.eval.rows import RecordRow, TargetRow, attempts_frame, episodes_frame, selections_frame, targets_frame
from rebind.eval.stories import Story

if TYPE_CHECKING:
    import pandas as pd

Group = tuple[str, int]
"""A target's key and a seed."""


@dataclass(frozen=True)
class Chain:
    """Where the ledger ends."""

    events: int
    last_hash: str
    began: float
    ended: float
    redacted: int
    """Events some values of which were redacted."""


@dataclass(frozen=True)
class Run:
    """One run. Frames have one row per:

    - `episodes`: final attempt at a cell (the last one that ended). `success`, `milestone` are NA unless judged.
    - `attempts`: attempt, the abandoned ones included.
    - `targets`: target, with its cluster (source trajectory), level, family, selected record.
    - `selections`: target × candidate, best first, with its relation to the target.
    """

    folder: Path
    plan: Mapping[str, Any]
    episodes: pd.DataFrame
    attempts: pd.DataFrame
    targets: pd.DataFrame
    target_rows: Mapping[str, TargetRow]
    records: Mapping[str, RecordRow]
    stories: Mapping[str, Story]
    """By cell id."""
    chain: Chain
    discrepancies: tuple[str, ...]
    """Where an episode row does not agree with the steps, calls and verdict it sums up."""

    @cached_property
    def selections(self) -> pd.DataFrame:
        """Made when it is first asked for: fifty rows a target."""
        return selections_frame(self.target_rows.values(), self.records)

    @cached_property
    def groups(self) -> dict[Group, dict[str, dict[str, Any]]]:
        """The rows of `episodes` by target and seed, then by condition; NA where nothing is known."""
        found: dict[Group, dict[str, dict[str, Any]]] = {}
        names = [str(name) for name in self.episodes.columns]
        for values in zip(*(self.episodes[name].tolist() for name in names), strict=True):
            row = dict(zip(names, values, strict=True))
            found.setdefault((row["target"], row["seed"]), {})[row["condition"]] = row
        return found


def load_run(folder: Path | str) -> Run:
    """Reads a run folder, or a run behind a URL.

    Raises:
        LedgerError: there is no ledger, or it cannot be read, or it holds no plan. StorageError: the URL
            cannot be read.
    """
    folder = run_here(Path(folder))
    reader = read_ledger(folder)
    if not reader.plan or not reader.first or not reader.last:
        raise LedgerError(f"the ledger in {folder} holds no plan: nothing was ever run there")
    return Run(
        folder=folder,
        plan=reader.plan,
        episodes=episodes_frame(list(reader.finals.values())),
        attempts=attempts_frame(reader.rows),
        targets=targets_frame(reader.targets.values(), reader.records),
        target_rows=reader.targets,
        records=reader.records,
        stories=reader.stories,
        chain=Chain(reader.last.n + 1, reader.last.hash, reader.first.at, reader.last.at, reader.redacted),
        discrepancies=tuple(reader.discrepancies),
    )
