"""Where the real data are (`REBIND_DATA`, or `shared/data` beside the checkout); tests without them skip and say so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shard_data() -> Path:
    folder = Path(os.environ.get("REBIND_DATA", Path(__file__).parents[5] / "shared" / "data"))
    if not (folder / "nc" / "locomo10.json.gz").is_file():
        pytest.skip(f"no LoCoMo at {folder}: set REBIND_DATA to the folder that holds nc, hotpotqa and tau2-bench")
    return folder
