"""What CI provides is not skipped for want of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
IN_A_TEST = "import pytest\n\ndef test_it():\n    pytest.skip('needs a browser: none')\n"
IN_A_MODULE = "import pytest\n\npytest.importorskip('no_such_module', reason='needs a browser: none')\n"


@pytest.mark.parametrize("source", [IN_A_TEST, IN_A_MODULE], ids=["a test", "a module"])
@pytest.mark.parametrize(
    ("pattern", "ended"), [("needs a browser", "failed"), ("needs a disk", "skipped"), ("", "skipped")]
)
def test_a_skip_fails_where_its_reason_was_provided_for(source: str, pattern: str, ended: str, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8"))
    (tmp_path / "test_one.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    environment = {**os.environ, "REBIND_MUST_RUN": pattern}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1]
    assert ("1 skipped" in last) is (ended == "skipped")
    assert (done.returncode in (1, 2)) is (ended == "failed"), done.stdout
