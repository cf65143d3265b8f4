"""The report as a value: every number of it, and the tables as they will be printed."""

from __future__ import annotations

from typing import Any

from pydantic import Field, JsonValue

from rebind.eval.contrasts import Contrast, Interaction, Retained
from rebind.eval.metrics import Ended, Retrieval, Staleness, Summary
from rebind.eval.passes import Passed, PassRate
from rebind.eval.savings import Saving
from rebind.types import Frozen

Scalar = float | int | str | None


class Entry(Frozen):
    """One cell of a table."""

    text: str
    """As printed; "–" where there is nothing to print."""
    value: Scalar = None
    """Unrounded; None for nothing."""
    n: int | None = None
    """The denominator, in the unit the table's caption names."""


class Column(Frozen):
    key: str
    label: str
    group: str = ""
    """Heading above neighbouring columns that share it."""
    numeric: bool = True


class Table(Frozen):
    id: str
    title: str
    caption: str
    """What n is, and how the numbers are made."""
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    """The first entry of a row is its heading."""


class Study(Frozen):
    """What was run."""

    name: str
    simulated: bool
    model: str
    writer: str | None
    """None where it is the actor's model, or nothing was written."""
    ranker: str | None
    environments: tuple[str, ...]
    conditions: tuple[str, ...]
    seeds: tuple[int, ...]
    protocol: str
    """How the actor acts: "json", "native" or "code"; says so where arguments were limited to values seen."""
    placement: str
    decoding: dict[str, JsonValue]
    budget: dict[str, JsonValue]
    targets: int
    sources: int
    """Source trajectories: the clusters of every interval and test."""
    cells_planned: int
    cells_ended: int
    attempts: int
    abandoned: int
    """Attempts begun and never ended."""


class Provenance(Frozen):
    """What the numbers were computed from, and with what."""

    ledger: str
    """Name of the run folder."""
    lock_digest: str
    events: int
    last_hash: str
    began: str
    """UTC, ISO 8601."""
    ended: str
    merkle_root: str | None
    """None while the run has no manifest."""
    manifest_matches: bool | None
    """Whether the manifest names the ledger's last event; None without a manifest."""
    signed_by: tuple[str, ...]
    """Ids of the keys that signed the manifest (whether they did, `rebind ledger verify --key` says)."""
    redacted: int
    """Events some values of which were redacted."""
    versions: dict[str, str]


class CaseElement(Frozen):
    """One row of a case study (QCR, Table A14)."""

    label: str
    lines: tuple[str, ...]
    code: tuple[str, ...] = ()
    """Actions, shown as code after the lines."""


class Case(Frozen):
    target: str
    level: str
    family: str
    seed: int
    direct: str
    """The condition in the role of Full Trajectory."""
    bound: str
    """The condition in the role of QCR."""
    picked: str
    """Why this target was picked."""
    elements: tuple[CaseElement, ...]


class DrillFamily(Frozen):
    """The episodes of one task family, for the page's drill-down."""

    name: str
    groups: int
    """Target × seed groups of the family."""
    shown: int
    """Those whose steps are in `packed`."""
    outcomes: tuple[tuple[int, int], ...]
    """Per condition: successes, and episodes that ended."""
    packed: str
    """Base64 of compressed JSON (see `drill.pack`): every group with its outcomes, and the steps of those shown."""


class Drill(Frozen):
    """The drill-down: every target × seed group, with its steps or where to find them."""

    families: tuple[DrillFamily, ...] = ()
    groups: int = 0
    """Target × seed groups in the run."""
    shown: int = 0
    rule: str = ""


class Report(Frozen):
    """Everything `rebind report` says, recomputed from the ledger."""

    study: Study
    notes: tuple[str, ...]
    """What a reader must know before believing a number: unfinished cells, disagreeing rows, missing usage."""
    summaries: tuple[Summary, ...]
    contrasts: tuple[Contrast, ...]
    retained: tuple[Retained, ...]
    interactions: tuple[Interaction, ...]
    passes: dict[str, tuple[Passed, ...]]
    """Over all targets, invalid runs excluded."""
    pass_rates: tuple[PassRate, ...]
    """The same by treatment, environment, shift level and length group."""
    savings: tuple[Saving, ...]
    staleness: tuple[Staleness, ...]
    retrieval: Retrieval
    endings: tuple[Ended, ...]
    cases: tuple[Case, ...]
    tables: tuple[Table, ...]
    provenance: Provenance
    drill: Drill = Field(default=Drill(), exclude=True)
    """For the HTML page only."""

    def table(self, name: str) -> Table:
        """A table by its id; raises KeyError."""
        for table in self.tables:
            if table.id == name:
                return table
        raise KeyError(name)

    def summary(self, condition: str, scope: str = "micro", treatment: str = "excluded") -> Summary:
        """The means of a condition; raises KeyError."""
        for s in self.summaries:
            if (s.condition, s.scope, s.treatment) == (condition, scope, treatment):
                return s
        raise KeyError((condition, scope, treatment))

    def select(self, **wanted: Any) -> list[Contrast]:
        """The contrasts whose fields have the wanted values, e.g. `metric="success", dimension="all"`."""
        return [c for c in self.contrasts if all(getattr(c, k) == v for k, v in wanted.items())]
