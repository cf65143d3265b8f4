"""Prompts as text files, one each, rendered strictly: every variable a prompt names must be given, and no other."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from rebind.errors import PromptError, did_you_mean

if TYPE_CHECKING:
    from jinja2 import Template


def render(name: str, /, **variables: object) -> str:
    """The text of prompt `name` (file `<name>.txt`, Jinja) with its variables filled in.

    Raises:
        PromptError: there is no such prompt, or a variable is missing or unknown; names it.
    """
    from jinja2 import UndefinedError

    template, wanted = _compiled(name)
    for unknown in sorted(variables.keys() - wanted):
        raise PromptError(f"prompt {name!r} has no variable {unknown!r}{did_you_mean(unknown, wanted)}")
    for missing in sorted(wanted - variables.keys()):
        raise PromptError(f"prompt {name!r} needs the variable {missing!r}, which was not given")
    try:
        return template.render(variables)
    except UndefinedError as error:
        raise PromptError(f"prompt {name!r}: {error}") from None


def names() -> tuple[str, ...]:
    """All prompts there are, sorted."""
    return tuple(sorted(p.name.removesuffix(".txt") for p in files(__name__).iterdir() if p.name.endswith(".txt")))


def digest(name: str) -> str:
    """SHA-256 (hex) of a prompt file's bytes, before rendering. Raises `PromptError` for an unknown prompt."""
    return hashlib.sha256(_source(name).encode()).hexdigest()


def all_digests() -> dict[str, str]:
    """`digest` of every prompt, by name: what a study lock keeps."""
    return {name: digest(name) for name in names()}


def _source(name: str) -> str:
    if name not in names():
        raise PromptError(f"there is no prompt {name!r}{did_you_mean(name, names())}")
    return files(__name__).joinpath(f"{name}.txt").read_bytes().decode()


@cache
def _compiled(name: str) -> tuple[Template, frozenset[str]]:
    """A prompt ready to render, and the variables it takes."""
    from jinja2 import Environment, StrictUndefined, meta

    # No autoescape: the output is text for a model, not HTML.
    environment = Environment(undefined=StrictUndefined, autoescape=False)
    source = _source(name)
    return environment.from_string(source), frozenset(meta.find_undeclared_variables(environment.parse(source)))
