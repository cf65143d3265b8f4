"""The same seed gives the same tasks and the same worlds, byte for byte, in two processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rebind.envs.apps.families import FAMILIES
from rebind.envs.apps.world import sample

PROBE = """
import hashlib, sys
from rebind.envs.apps.families import FAMILIES
from rebind.envs.apps.replay import player
from rebind.envs.apps.shift import shift
from rebind.envs.apps.state import snapshots
from rebind.envs.apps.world import sample, setup
for family in FAMILIES:
    source = sample(family, 11)
    for target in (source, shift(source.seal, "medium", 11)):
        db = snapshots().restore(target.seal.world["seed"])
        setup(db, target.seal)
        print(target.model_dump_json(), hashlib.sha256(db.serialize()).hexdigest())
"""


def test_two_processes_build_the_same_tasks_and_states(tmp_path: Path) -> None:
    outputs = []
    for hash_seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed, "REBIND_CACHE": str(tmp_path / hash_seed)}
        ran = subprocess.run([sys.executable, "-c", PROBE], env=env, capture_output=True, text=True, check=True)
        outputs.append(ran.stdout)
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == 2 * len(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_task_does_not_depend_on_what_was_drawn_before_it(family: str) -> None:
    first = sample(family, 7)
    sample(family, 8)
    assert sample(family, 7) == first
