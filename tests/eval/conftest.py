"""Puts `tests/` on the path, so that tests can `from support.ledgers import MadeRun`."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


@pytest.fixture(scope="session")
def mixed_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with valid episodes and infrastructure failures; read it, do not change it. Tests that use it are
    of one xdist group, so that it is made once."""
    from support.recorded import mixed_run

    return mixed_run(tmp_path_factory.mktemp("mixed") / "run")
