"""Commands, run as the console script runs them."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from rebind.cli import main


@pytest.fixture
def rebind(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command as the console script does: (exit code, standard output, standard error)."""

    def run(*args: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["rebind", *args])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0), out, err

    return run
