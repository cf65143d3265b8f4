"""Puts `tests/` on the path, so that tests can `from support.osu_histories import histories`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
