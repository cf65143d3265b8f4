"""Router weights on disk with where they come from: safetensors, whose header holds JSON; never a pickle."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from rebind.errors import UserError
from rebind.types import Frozen

Weights = Mapping[str, NDArray[np.float32]]


class CheckpointError(UserError):
    """A checkpoint that cannot be read or is of another kind."""


class Provenance(Frozen):
    """Where a router's weights come from."""

    kind: Literal["feature", "mlp"]
    data: str
    """SHA-256 of the training examples, or of the file they were made from."""
    trained_on: tuple[str, ...]
    """Names of the conversations, or of whatever the split is over."""
    gold: str
    """Which shards counted as gold: "strict" or "loose"."""
    seed: int
    settings: dict[str, float | int | str | bool | None]
    encoder: str
    temperature: float = 1.0
    """Fitted on the training split for adaptive Top-P."""
    versions: dict[str, str]
    """Of the libraries that trained it."""


def save(path: Path, weights: Weights, provenance: Provenance) -> None:
    """Writes a checkpoint in one go: a reader sees the old file or the new one."""
    from safetensors.numpy import save as packed

    content = packed(dict(weights), metadata={"provenance": provenance.model_dump_json()})
    handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    Path(draft).replace(path)


def load(path: Path, kind: Literal["feature", "mlp"]) -> tuple[dict[str, NDArray[np.float32]], Provenance]:
    """A checkpoint of one kind.

    Raises:
        CheckpointError: there is none, it is no checkpoint, or it is of the other kind.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            described: Any = json.loads((file.metadata() or {}).get("provenance", "null"))
            provenance = Provenance.model_validate(described)
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    except FileNotFoundError:
        raise CheckpointError(f"there is no router checkpoint {path}") from None
    except (SafetensorError, ValidationError, json.JSONDecodeError) as error:
        raise CheckpointError(f"{path} is no router checkpoint: {str(error).splitlines()[0]}") from None
    if provenance.kind != kind:
        raise CheckpointError(f"{path} holds a {provenance.kind} router, not a {kind} router")
    return weights, provenance
