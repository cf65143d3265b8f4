"""`rebind demo`: the main job on a small study that comes with Rebind, with a real model."""

from __future__ import annotations

from pathlib import Path

import typer

from rebind.cli.output import JSON_OPTION, console
from rebind.cli.report import publish
from rebind.cli.study import execute


def demo(
    out: Path = typer.Option(Path("runs/demo"), "--out", help="Run folder; an interrupted demo resumes there."),
    write: Path | None = typer.Option(None, "--write", help="Write the demo's study file here and stop."),
    model: str | None = typer.Option(None, "--model", help="Another model, as litellm names it."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Run an agent through target tasks under five kinds of support, and report what each was worth."""
    from rebind.eval.demo import demo_study, write_study

    if write is not None:
        write_study(write)
        console().print(f"wrote {write}; plan it with: rebind study plan {write}", markup=False, soft_wrap=True)
        return
    execute(demo_study(model), out)
    publish(out, out / "report", as_json)
