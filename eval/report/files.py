"""A report as JSON, as CSV files and as LaTeX tables."""

from __future__ import annotations

import csv
import io
import os
from itertools import groupby
from pathlib import Path

from rebind.eval.report.model import Column, Entry, Report, Table

_MATHS = ("<", ">", r"\geq", r"\leq", r"\times", "-", r"\uparrow", r"\downarrow", r"\to")
_ESCAPES = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--"},
    **{c: f"${name}$" for c, name in zip("<>≥≤×−↑↓→", _MATHS, strict=True)},
}


def to_json(report: Report) -> str:
    """The whole report (without the page's drill-down), indented; absent numbers are null."""
    return report.model_dump_json(indent=2)


def write_csv(report: Report, folder: Path) -> list[Path]:
    """One file per table; beside each number column its unrounded value and, where it has one, its denominator `.n`."""
    return [write_whole(folder / f"{table.id}.csv", table_csv(table)) for table in report.tables]


def write_latex(report: Report, folder: Path) -> list[Path]:
    """One `table` environment per file, for `\\input`; needs the booktabs package."""
    return [write_whole(folder / f"{table.id}.tex", table_latex(table)) for table in report.tables]


def table_csv(table: Table) -> str:
    """A table as CSV: unrounded values, empty where there is none."""
    counted = [any(row[n].n is not None for row in table.rows) for n in range(len(table.columns))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    header: list[str] = []
    for column, with_n in zip(table.columns, counted, strict=True):
        header += [column.key, f"{column.key}.n"] if with_n else [column.key]
    writer.writerow(header)
    for row in table.rows:
        cells: list[object] = []
        for entry, with_n in zip(row, counted, strict=True):
            value = "" if entry.text == "–" else entry.value
            cells += [value, "" if entry.n is None else entry.n] if with_n else [value]
        writer.writerow(cells)
    return out.getvalue()


def table_latex(table: Table) -> str:
    """A table in booktabs style; denominators small beside their numbers."""
    spec = "".join("r" if c.numeric else "l" for c in table.columns)
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{_tex(table.title)}. {_tex(table.caption)}}}"]
    lines += [rf"\label{{tab:{table.id}}}", r"\footnotesize", rf"\begin{{tabular}}{{{spec}}}", r"\toprule"]
    if any(c.group for c in table.columns):
        lines += _latex_groups(table.columns)
    lines.append(" & ".join(_tex(c.label) for c in table.columns) + r" \\")
    lines.append(r"\midrule")
    lines += [" & ".join(_latex_entry(e) for e in row) + r" \\" for row in table.rows]
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)


def _latex_groups(columns: tuple[Column, ...]) -> list[str]:
    """The row of spanning headings, with the rules under them."""
    cells, rules, at = [], [], 1
    for group, members in groupby(columns, key=lambda c: c.group):
        width = len(list(members))
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{_tex(group)}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
        at += width
    return [" & ".join(cells) + r" \\", " ".join(rules)]


def _latex_entry(entry: Entry) -> str:
    text = _tex(entry.text)
    return text if entry.n is None else rf"{text} {{\scriptsize {entry.n}}}"


def _tex(text: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in text)


def write_whole(path: Path, text: str) -> Path:
    """Writes a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
    return path
