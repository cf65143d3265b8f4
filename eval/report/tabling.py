"""How a report's tables are put together: titles and captions from `captions.toml`, columns, and what is left out."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from rebind.eval.metrics import Treatment
from rebind.eval.report import format as fmt
from rebind.eval.report.model import Column, Entry, Table


def table_of(name: str, columns: Sequence[Column], rows: Sequence[tuple[Entry, ...]], *, both: bool = False) -> Table:
    """A table with the title and caption it has in `captions.toml`; `both` adds what explains the two treatments."""
    words = _captions()[name]
    caption = " ".join(f"{words['caption']} {words.get('both', '') if both else ''}".split())
    return Table(id=name, title=words["title"], caption=caption, columns=tuple(columns), rows=tuple(rows))


def treatment_column(treatments: Sequence[Treatment]) -> list[Column]:
    """The column that tells treatments apart; none where there is one."""
    return [Column(key="treatment", label="Invalid runs", numeric=False)] if len(treatments) > 1 else []


def treated(treatments: Sequence[Treatment], treatment: Treatment) -> list[Entry]:
    return [fmt.treatment(treatment)] if len(treatments) > 1 else []


def column(key: str, label: str, group: str = "") -> Column:
    return Column(key=key, label=label, group=group)


def first(label: str, key: str = "condition") -> Column:
    return Column(key=key, label=label, numeric=False)


def trimmed(table: Table) -> Table:
    """The table without rows and number columns that hold no number at all; its caption says which were left out."""
    numeric = [n for n, c in enumerate(table.columns) if c.numeric]
    rows = [row for row in table.rows if not numeric or any(_says(row[n]) for n in numeric)]
    kept = [n for n, c in enumerate(table.columns) if not c.numeric or not rows or any(_says(row[n]) for row in rows)]
    gone = [_named(row) for row in table.rows if row not in rows]
    lost = [f"{c.group} {c.label}".strip() for n, c in enumerate(table.columns) if n not in kept]
    said = [f"No number for {', '.join(names)}: left out." for names in (dict.fromkeys(gone), lost) if names]
    return table.model_copy(
        update={
            "columns": tuple(table.columns[n] for n in kept),
            "rows": tuple(tuple(row[n] for n in kept) for row in rows),
            "caption": " ".join([table.caption, *said]),
        }
    )


def _says(entry: Entry) -> bool:
    """Whether an entry holds a number; a count of nothing is none."""
    return entry.text != fmt.DASH and not (entry.n is None and entry.value == 0)


def _named(row: Sequence[Entry]) -> str:
    """What tells a row: its leading entries of words."""
    words = [row[0].text, *(e.text for e in row[1:] if isinstance(e.value, str) and not e.text.startswith("["))]
    return f"{words[0]} ({', '.join(words[1:])})" if words[1:] else words[0]


@cache
def _captions() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("captions.toml").read_text(encoding="utf-8"))
