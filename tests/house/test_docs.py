"""The documentation is complete: every command and option is in it, and what it says to type exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from rebind.cli.app import app
from rebind.cli.reference import reference

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def _commands(name: str, command: Any) -> dict[str, Any]:
    found = {name: command}
    for sub, member in getattr(command, "commands", {}).items():
        found |= _commands(f"{name} {sub}", member)
    return found


COMMANDS = _commands("rebind", typer.main.get_command(app))


def test_reference_is_what_the_commands_say() -> None:
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == reference() + "\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented_with_a_sentence(name: str) -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    section = text.split(f"## `{name}`\n", 1)[1].split("\n## ", 1)[0]
    for parameter in COMMANDS[name].params:
        if parameter.name != "help" and not parameter.name.endswith("_completion"):
            assert (parameter.help or "").strip(), f"{name}: {parameter.name} has no help text"
            assert all(opt in section for opt in parameter.opts if opt.startswith("-"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_named_in_a_page_exist(page: Path) -> None:
    for line in re.findall(r"(?:^|`)(rebind [a-z][a-z -]*)", page.read_text(encoding="utf-8"), re.MULTILINE):
        words = line.split()
        name = " ".join(words[:3]) if " ".join(words[:3]) in COMMANDS else " ".join(words[:2])
        assert name in COMMANDS, f"{page.name} names {line!r}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_to_files_of_the_repository_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), f"{page.name} links to {target}"


def test_readme_names_the_two_commands_and_every_top_folder() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    folders = ["agents", "banks", "docs", "envs", "eval", "memory", "prompts", "src/rebind", "tests"]
    for wanted in ("make demo", "make test", *(f"{f}/" for f in folders)):
        assert wanted in text
