"""Which Chromium is used, in which order, and what `rebind doctor` says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebind.envs.browser.chromium import VARIABLE, find
from rebind.errors import UserError
from rebind.eval.health import Finding, examine


def program(path: Path, says: str = "Chromium 1.2.3", code: int = 0) -> Path:
    """A program that says its version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {says}\nexit {code}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a browser: nothing on PATH, none of Playwright's."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "playwright"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def finding() -> Finding:
    return next(one for one in examine() if one.what == "Chromium")


@pytest.mark.parametrize(
    "own", ["chromium-1200/chrome-linux64/chrome", "chromium_headless_shell-1200/x/headless_shell"]
)
def test_the_variable_goes_before_playwrights_own_and_that_before_the_systems(
    bare: Path, monkeypatch: pytest.MonkeyPatch, own: str
) -> None:
    systems = program(bare / "bin/chromium")
    assert (find().path, find().source) == (systems, "PATH")
    playwrights = program(bare / "playwright" / own)
    assert (find().path, find().source) == (playwrights, "Playwright")
    named = program(bare / "mine")
    monkeypatch.setenv(VARIABLE, str(named))
    assert (find().path, find().source) == (named, VARIABLE)


def test_doctor_names_the_chromium_where_it_comes_from_and_its_version(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = program(bare / "mine", "Chromium 9.8.7")
    monkeypatch.setenv(VARIABLE, str(named))
    found = finding()
    assert found.state == "ok"
    assert found.detail == f"Chromium 9.8.7: {named}, from {VARIABLE}"


def test_doctor_says_what_to_install_where_there_is_none(bare: Path) -> None:
    found = finding()
    assert (found.state, found.required) == ("missing", False)
    assert found.detail == "no Chromium was found"
    assert "apt-get install chromium" in found.advice


def test_doctor_says_so_where_the_chromium_does_not_start(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(program(bare / "broken", code=1)))
    found = finding()
    assert found.state == "missing"
    assert "does not start" in found.detail


def test_a_variable_that_names_no_program_is_an_error_that_says_so(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(bare / "nothing"))
    with pytest.raises(UserError, match=VARIABLE):
        find()
    assert VARIABLE in finding().detail
