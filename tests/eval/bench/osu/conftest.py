"""Where the real data are (`REBIND_DATA`, or `shared/data` beside the checkout); tests without them skip and say so."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[3]))


def hashed_words(texts: Sequence[str]) -> NDArray[np.float32]:
    """Bags of hashed words, 64 dimensions: texts that share words are near, and no model has to be loaded."""
    import zlib

    vectors = np.full((len(texts), 64), 0.01, dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.split():
            vectors[row, zlib.crc32(word.encode()) % 64] += 1.0
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="session")
def encode() -> object:
    return hashed_words


@pytest.fixture(scope="session")
def bench_data() -> Path:
    folder = Path(os.environ.get("REBIND_DATA", Path(__file__).parents[5] / "shared" / "data"))
    if not (folder / "tau-bench").is_dir():
        pytest.skip(f"no benchmark data at {folder}: set REBIND_DATA to the folder that holds tau-bench and toolbench")
    return folder
