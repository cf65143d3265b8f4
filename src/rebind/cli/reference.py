"""The command reference, made from the commands themselves: `python -m rebind.cli.reference > docs/cli.md`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

HEAD = """# Commands

Made from the commands themselves by `python -m rebind.cli.reference > docs/cli.md`; a test fails where the two differ.

Data goes to standard output, progress and messages to standard error. Exit codes: 0 done, 1 a check did not hold or
infrastructure failed, 2 bad input (one sentence says what, where and what to do), 130 interrupted.
"""


def reference() -> str:
    """Every command with its arguments and options, as Markdown."""
    from rebind.cli.app import app

    return HEAD + "\n".join(_command("rebind", typer.main.get_command(app)))


def _command(name: str, command: Any) -> Iterator[str]:
    """A command's section, then those of its subcommands."""
    members: dict[str, Any] = getattr(command, "commands", {})
    yield f"\n## `{name}`\n"
    yield " ".join((command.help or "").split())
    rows = [_row(p) for p in command.params if p.name not in ("help", "install_completion", "show_completion")]
    if rows:
        yield "\n| argument or option | meaning |\n| --- | --- |"
        yield from rows
    for sub, member in members.items():
        yield from _command(f"{name} {sub}", member)


def _row(parameter: Any) -> str:
    """One line of a command's table. Values are named by the parameter, in capitals."""
    name, text = parameter.name.strip("_").upper(), parameter.help or ""
    if parameter.param_type_name == "option":
        options = ", ".join([*parameter.opts, *parameter.secondary_opts])
        name = options if parameter.is_flag else f"{options} {name}"
        if not parameter.is_flag and parameter.default not in (None, [], ()):
            text += f" Default: `{parameter.default}`."
    return f"| `{name}` | {text}{' Required.' if parameter.required else ''} |"


if __name__ == "__main__":
    print(reference())
