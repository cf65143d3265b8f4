"""What `make setup` pins can be installed on every Python that Rebind is for."""

from __future__ import annotations

import tomllib
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PATCHES = ("0", "2", "5", "9")
"""Patch releases: a library may need more than the first, as Debian's 3.11.2 found out."""


def pinned() -> dict[str, str]:
    """Version by canonical name, of `constraints.txt`."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    wanted = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(r.name): str(r.specifier).removeprefix("==") for r in wanted}


def pythons() -> list[str]:
    """Releases that `requires-python` admits."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    admitted = SpecifierSet(project["requires-python"])
    return [f"3.{minor}.{patch}" for minor in range(20) for patch in PATCHES if f"3.{minor}.{patch}" in admitted]


def test_every_pinned_version_runs_on_every_python_that_rebind_is_for() -> None:
    pins = pinned()
    here = {canonicalize_name(d.name): d for d in distributions()}
    needs = {name: here[name].metadata.get("Requires-Python") for name in pins.keys() & here.keys()}
    refused = {
        f"{name} {here[name].version} needs Python {need}"
        for name, need in needs.items()
        if need and any(python not in SpecifierSet(need) for python in pythons())
    }
    assert needs
    assert not refused
