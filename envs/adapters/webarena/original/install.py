"""The environment that `browsergym-webarena` lives in: it pins another Playwright than ours."""

from __future__ import annotations

from pathlib import Path

from rebind.envs.adapters.packaged import Packaged
from rebind.envs.adapters.venvs import Place

PLACE = Place(
    "browsergym-webarena",
    "0.14.3",
    # What its tasks and evaluators import. Left out: transformers, evaluate and others for agents of its own; openai
    # and text-generation, which the evaluators import to ask a model: the judge is asked through Rebind instead.
    (
        "browsergym-webarena==0.14.3",
        "browsergym-core==0.14.3",
        "libwebarena==0.0.4",
        "aiolimiter==1.3.0",
        "beartype==0.12.0",
        "beautifulsoup4==4.14.2",
        "certifi==2026.10.19.post1",
        "charset-normalizer==3.5.3",
        "click==8.5.1",
        "cloudpickle==3.1.2",
        "Farama-Notifications==0.0.4",
        "greenlet==3.0.3",
        "gymnasium==1.2.2",
        "idna==3.20",
        "joblib==1.6.0",
        "lxml==5.4.0",
        "nltk==3.9.2",
        "numpy==2.4.1",
        "pillow==12.1.0",
        "playwright==1.44.0",
        "pyee==11.1.0",
        "pyparsing==3.2.5",
        "regex==2026.11.19",
        "requests==2.34.2",
        "soupsieve==2.8",
        "tqdm==4.70.1",
        "typing_extensions==4.16.0",
        "urllib3==2.8.0",
    ),
)
_PACKAGED = Packaged(PLACE, "browsergym-webarena", "webarena", Path(__file__).resolve().parent / "side")
start, missing, install = _PACKAGED.start, _PACKAGED.missing, _PACKAGED.install


def dataset() -> Path:
    """WebArena's tasks. Raises UserError where the package is not installed."""
    return _PACKAGED.file("webarena/test.raw.json", "WebArena's tasks")
