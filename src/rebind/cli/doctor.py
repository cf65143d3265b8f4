"""`rebind doctor`: what this machine has for Rebind, and what to do about what it lacks."""

from __future__ import annotations

import typer

from rebind.cli.output import JSON_OPTION, emit, table


def doctor(as_json: bool = JSON_OPTION) -> None:
    """Check this machine: Python, extras, Chromium, model keys, the embedded model, disk."""
    from rebind.eval.health import examine

    findings = examine()
    if as_json:
        emit([f.as_json() for f in findings])
    else:
        table("Doctor", ("what", "state", "detail", "to do"), [(f.what, f.state, f.detail, f.advice) for f in findings])
    if any(f.state == "missing" and f.required for f in findings):
        raise typer.Exit(1)
