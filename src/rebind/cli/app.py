"""Assembles the commands, and turns every user error into exit code 2 and one sentence."""

from __future__ import annotations

import sys

import typer

from rebind import __version__
from rebind.cli import bank, bench, data, demo, doctor, envs, export, ledger, power, report, study, targets, usable
from rebind.errors import LimitReached, ProviderRefused, RebindError, UserError

app = typer.Typer(
    name="rebind",
    help="Measures what an agent's past is worth.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.add_typer(study.app, name="study")
app.command("report")(report.report)
app.command("power")(power.power)
app.command("audit")(ledger.audit)
app.add_typer(bank.app, name="bank")
app.add_typer(targets.app, name="targets")
app.add_typer(ledger.app, name="ledger")
app.add_typer(export.app, name="export")
app.add_typer(usable.app, name="usable")
app.add_typer(envs.app, name="envs")
app.add_typer(data.app, name="data")
app.add_typer(bench.app, name="bench")
app.command("doctor")(doctor.doctor)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"rebind {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Measures what an agent's past is worth."""


def main() -> None:
    """Entry point of the console script. Exit codes: 0 done, 1 a check did not hold or infrastructure failed, 2 bad
    input, 3 stopped at the study's own limit, 130 interrupted."""
    try:
        app()
    except (UserError, ProviderRefused) as error:
        print(f"rebind: {error}", file=sys.stderr)
        sys.exit(2)
    except LimitReached as error:
        print(f"rebind: {error}", file=sys.stderr)
        sys.exit(3)
    except RebindError as error:
        print(f"rebind: {type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("rebind: interrupted; what was committed is kept, the same command resumes", file=sys.stderr)
        sys.exit(130)
