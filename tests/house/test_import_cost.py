"""`import rebind` is quick and loads nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = ("torch", "litellm", "pandas", "scipy", "statsmodels", "faiss", "sentence_transformers", "gymnasium", "jinja2")


def _loaded_after(statement: str) -> set[str]:
    code = f"import sys, json; {statement}; print(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_importing_rebind_loads_no_heavy_library() -> None:
    assert not _loaded_after("import rebind").intersection(HEAVY)


def test_importing_the_vocabulary_loads_no_heavy_library() -> None:
    assert not _loaded_after("import rebind.types, rebind.errors, rebind.canon").intersection(HEAVY)


def test_importing_the_command_line_loads_no_heavy_library() -> None:
    assert not _loaded_after("import rebind.cli").intersection(HEAVY)
