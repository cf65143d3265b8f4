"""The environment that `browsergym-webarena` lives in."""

from __future__ import annotations

from pathlib import Path

from rebind.envs.adapters.browsergym.install import packaged

# Besides BrowserGym, what its tasks and evaluators import. Left out: transformers, evaluate and others for agents of
# its own; openai and text-generation, which the evaluators import to ask a model: the judge is asked through Rebind.
PACKAGED = packaged(
    "browsergym-webarena",
    "0.14.3",
    "webarena",
    "libwebarena==0.0.4",
    "aiolimiter==1.3.0",
    "beartype==0.12.0",
    "click==8.5.1",
    "joblib==1.6.0",
    "nltk==3.9.2",
    "regex==2026.11.19",
)
missing, install = PACKAGED.missing, PACKAGED.install


def dataset() -> Path:
    """WebArena's tasks. Raises UserError where the package is not installed."""
    return PACKAGED.file("webarena/test.raw.json", "WebArena's tasks")
