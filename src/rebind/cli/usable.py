"""`rebind usable`: annotate retrieved records, and score the annotations."""

from __future__ import annotations

from pathlib import Path

import typer

from rebind.cli.output import JSON_OPTION, console, emit, facts, table
from rebind.cli.runs import here

app = typer.Typer(help="Usable memory: have retrieved records annotated, and score it.", no_args_is_help=True)
RUN = typer.Option(..., "--run", help="Run folder that the files were made for, or its URL.", callback=here)


@app.command()
def template(
    run: Path = typer.Argument(..., help="Run folder, or its URL.", callback=here),
    out: Path = typer.Option(..., "--out", help="CSV file to write."),
    targets: int | None = typer.Option(None, "--targets", min=1, help="Only so many targets, drawn by their keys."),
) -> None:
    """Write a file with every target × candidate to be labelled; it shows neither rank, score nor seal."""
    from rebind.eval.agreement import LABELS
    from rebind.eval.frames import load_run
    from rebind.eval.usable import write_template

    rows = write_template(load_run(run), out, targets)
    console().print(f"{rows} rows to label in {out}: {', '.join(LABELS)}", markup=False, soft_wrap=True)


@app.command()
def score(
    files: list[Path] = typer.Argument(..., help="Annotated files, one per annotator."),
    run: Path = RUN,
    partial: bool = typer.Option(False, "--partial", help="Leave out targets with a row that has no label."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Score annotated files: usable-memory@k, rank of the first usable record, agreement of annotators."""
    from rebind.eval.frames import load_run
    from rebind.eval.report.format import percent, percent_interval
    from rebind.eval.usable import score as scored

    found = scored(load_run(run), files, partial=partial)
    if as_json:
        emit(found.model_dump(mode="json"))
        return
    rows = []
    for judge in found.judges:
        shares = [*((f"usable@{k}", m) for k, m in enumerate(judge.at, 1)), ("selected record usable", judge.selected)]
        rows += [
            (judge.name, name, percent(m).text, percent_interval(m.interval).text, m.targets) for name, m in shares
        ]
        rows.append((judge.name, "mean reciprocal rank", f"{judge.reciprocal.value or 0:.3f}", "", judge.targets))
    table("Usable memory, percent", ("annotator", "what", "share", "95 % interval", "targets"), rows)
    if found.agreement:
        facts("Agreement", found.agreement.model_dump(exclude={"pairs"}))
        columns = ("first", "second", "rows", "same", "kappa", "kappa_weighted", "kappa_usable")
        table("By pair of annotators", columns, [[p.model_dump()[c] for c in columns] for p in found.agreement.pairs])
