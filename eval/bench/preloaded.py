"""Imports all that a run of a study needs, on import: the module that a fork server loads before it forks, so that a
process under test begins in milliseconds rather than after half a minute of imports. Starts no thread."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.metadata import entry_points

from rebind.agents.provider import litellm

MODULES = (
    "rebind.eval.runner",
    "rebind.eval.scripts",
    "rebind.envs.apps.world",
    "sentence_transformers",
    "faiss",
    "bm25s",
    "openai",
)

for name in MODULES:
    importlib.import_module(name)
litellm()
(_script,) = entry_points(group="console_scripts", name="rebind")
console_script: Callable[[], object] = _script.load()
"""The command itself, as its installed script calls it."""
