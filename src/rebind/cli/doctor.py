"""`rebind doctor`: what this machine has for Rebind, and what to do about what it lacks."""

from __future__ import annotations

import typer

from rebind.cli.output import JSON_OPTION, emit, table


def doctor(as_json: bool = JSON_OPTION) -> None:
    """Check this machine: Python, extras, Chromium, model keys, the embedded model, disk, the benchmarks' servers."""
    from rebind.envs.adapters.reach import look
    from rebind.eval.health import Finding, examine

    findings = examine() + [Finding(one.what, one.state, one.detail, one.advice) for one in look()]
    if as_json:
        emit([f.as_json() for f in findings])
    else:
        table("Doctor", ("what", "state", "detail", "to do"), [(f.what, f.state, f.detail, f.advice) for f in findings])
    if any(f.state == "missing" and f.required for f in findings):
        raise typer.Exit(1)
