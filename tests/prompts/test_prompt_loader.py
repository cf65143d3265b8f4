"""Prompts are rendered strictly and can be locked by digest."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import rebind.prompts
from rebind.errors import PromptError
from rebind.prompts import all_digests, digest, names, render

FOLDER = Path(rebind.prompts.__file__).parent


def test_a_prompt_is_rendered_with_its_variables() -> None:
    assert render("actor_task", goal="Pay <Ann> & 'Bob'", observation="{{ seen }}") == (
        "Task: Pay <Ann> & 'Bob'\n\n{{ seen }}"
    )


def test_a_missing_variable_is_named() -> None:
    with pytest.raises(PromptError, match="'actor_task' needs the variable 'observation'"):
        render("actor_task", goal="g")


def test_an_unknown_variable_is_named_with_the_nearest_known_one() -> None:
    with pytest.raises(PromptError, match=r"no variable 'gaol'; did you mean 'goal'\?"):
        render("actor_task", gaol="g", observation="o")


def test_a_variable_used_only_in_a_condition_must_be_given_too() -> None:
    with pytest.raises(PromptError, match="'tools'"):
        render("actor_system", form="f")


def test_a_missing_attribute_of_a_variable_is_an_error_too() -> None:
    with pytest.raises(PromptError, match=r"ranker_user.*number"):
        render("ranker_user", goal="g", first_observation="o", candidates=[{}])


@pytest.mark.parametrize("name", ["actor_sytem", "../errors", "no/such", ""])
def test_an_unknown_prompt_is_refused(name: str) -> None:
    with pytest.raises(PromptError, match="no prompt"):
        render(name)
    with pytest.raises(PromptError, match="no prompt"):
        digest(name)


def test_every_prompt_file_has_a_name_and_the_digest_of_its_bytes() -> None:
    files = {p.stem: hashlib.sha256(p.read_bytes()).hexdigest() for p in FOLDER.glob("*.txt")}
    assert all_digests() == files
    assert set(names()) == set(files) >= {"actor_system", "actor_task", "actor_support", "actor_correction"}


def test_every_prompt_is_valid_jinja() -> None:
    for name in names():
        with pytest.raises(PromptError, match="no variable"):
            render(name, **{"surely no variable": 1})
