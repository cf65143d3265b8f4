"""`rebind envs list` and `install`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rebind.cli import app
from rebind.envs.adapters import venvs
from rebind.envs.adapters.venvs import Place
from rebind.errors import UserError


def test_every_environment_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All ten environments are listed with needs; one that cannot run says why, and names what is not set."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("SNOW_INSTANCE_URL", "SNOW_INSTANCE_UNAME", "SNOW_INSTANCE_PWD", "REBIND_TOOLBENCH", "WA_MAP"):
        monkeypatch.delenv(name, raising=False)
    rows = {row["name"]: row for row in json.loads(CliRunner().invoke(app, ["envs", "list", "--json"]).stdout)}
    assert set(rows) >= {
        "apps", "appworld", "desk", "miniwob", "sites", "tau2", "toolbench",
        "webarena", "webarena-verified", "workarena",
    }  # fmt: skip
    for row in rows.values():
        assert row["needs"]
        assert row["available"] == (row["why_not"] is None)
    assert rows["apps"]["available"]
    assert "rebind envs install tau2" in rows["tau2"]["why_not"]
    assert "rebind envs install webarena-verified" in rows["webarena-verified"]["why_not"]
    assert "rebind data get toolbench" in rows["toolbench"]["why_not"]
    assert "SNOW_INSTANCE_URL" in rows["workarena"]["why_not"]
    assert "rebind envs install webarena" in rows["webarena"]["why_not"]


def test_only_other_packages_are_installed() -> None:
    """An environment of our own needs no installing, and the refusal says what it needs."""
    done = CliRunner().invoke(app, ["envs", "install", "apps"])
    assert isinstance(done.exception, UserError)
    assert "needs no installing" in str(done.exception)


def test_other_requirements_are_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that was made of other requirements does not count as ready."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = Place("made", "1", ("one==1", "two==2"))
    assert not place.ready()
    place.folder.mkdir(parents=True)
    (place.folder / venvs._READY).write_text("one==1\ntwo==2")
    assert place.ready()
    assert not Place("made", "1", ("one==1",)).ready()
