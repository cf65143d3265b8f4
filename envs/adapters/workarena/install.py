"""The environment that `browsergym-workarena` lives in."""

from __future__ import annotations

from pathlib import Path

from rebind.envs.adapters.browsergym.install import packaged

# Besides BrowserGym, what its tasks import. Left out: huggingface-hub, which is imported to fetch a gated list of
# instances; the instance is the one that the SNOW_INSTANCE_... variables name.
PACKAGED = packaged(
    "browsergym-workarena", "0.5.3", "workarena", "english-words==2.0.2", "Faker==40.63.0", "tenacity==9.2.1"
)
missing, install = PACKAGED.missing, PACKAGED.install


def configurations() -> Path:
    """The folder of WorkArena's task configurations. Raises UserError where the package is not installed."""
    return PACKAGED.file("workarena/data_files/task_configs/all_menu.json", "WorkArena's task configurations").parent
