"""What a machine has for Rebind: the findings of `rebind doctor`."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from rebind.errors import UserError

_EXTRAS = {
    "local": ("xllamacpp", "the embedded model"),
    "retrieval": ("sentence-transformers", "encoders of a bank"),
    "sites": ("playwright", "environments in a real browser"),
    "miniwob": ("miniwob", "the pages of MiniWoB++"),
    "inspect": ("inspect-ai", "export of Inspect logs"),
    "parquet": ("pyarrow", "export of Parquet files"),
    "ray": ("ray", "episodes on a Ray cluster"),
}
_KEYS = (
    "ANTHROPIC_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
)
_NEEDED_GB = 4.0


@dataclass(frozen=True)
class Finding:
    """One thing looked at, and what to do where it is not as it should be."""

    what: str
    state: Literal["ok", "missing", "note"]
    detail: str
    advice: str = ""
    required: bool = False

    def as_json(self) -> dict[str, str | bool]:
        return asdict(self)


def examine() -> list[Finding]:
    """Looks at Python, extras, Chromium, model keys, the embedded model's weights, and disk. Asks Chromium its version;
    starts nothing else, fetches nothing."""
    return [_python(), *_extras(), _chromium(), _keys(), _weights(), _disk()]


def _python() -> Finding:
    version = platform.python_version()
    if (3, 11) <= sys.version_info[:2] <= (3, 13):
        return Finding("Python", "ok", version, required=True)
    return Finding("Python", "missing", version, "use Python 3.11, 3.12 or 3.13", required=True)


def _extras() -> Iterator[Finding]:
    for extra, (package, use) in _EXTRAS.items():
        try:
            yield Finding(f"extra {extra}", "ok", f"{package} {metadata.version(package)}: {use}")
        except metadata.PackageNotFoundError:
            yield Finding(f"extra {extra}", "missing", f"{package}: {use}", f"pip install 'rebind[{extra}]'")


def _chromium() -> Finding:
    """Which browser the environments with pages would use."""
    from rebind.envs.browser.chromium import ADVICE, find

    try:
        found = find()
    except UserError as error:
        return Finding("Chromium", "missing", str(error).removesuffix(f"; {ADVICE}"), ADVICE)
    version, where = found.version(), f"{found.path}, from {found.source}"
    if not version:
        return Finding("Chromium", "missing", f"{where}: does not start", f"run `{found.path} --version`, or {ADVICE}")
    return Finding("Chromium", "ok", f"{version}: {where}")


def _keys() -> Finding:
    """Which provider keys are set; their names alone."""
    found = [name for name in _KEYS if os.environ.get(name)]
    if found:
        return Finding("model keys", "ok", ", ".join(found))
    return Finding("model keys", "note", "none set", "the embedded model is used; set a provider's key to use another")


def _weights() -> Finding:
    from rebind.agents.local import DEFAULT_MODEL, PREFIX
    from rebind.agents.weights import cache_folder

    path = cache_folder() / f"{DEFAULT_MODEL.removeprefix(PREFIX)}.gguf"
    if path.exists():
        return Finding("embedded model", "ok", f"{DEFAULT_MODEL} at {path}")
    return Finding(
        "embedded model", "note", f"{DEFAULT_MODEL} not fetched yet", "the first run fetches it (about 1.1 GB)"
    )


def _disk() -> Finding:
    free = shutil.disk_usage(Path.home()).free / 1e9
    if free >= _NEEDED_GB:
        return Finding("disk", "ok", f"{free:.0f} GB free in {Path.home()}")
    return Finding(
        "disk", "missing", f"{free:.1f} GB free in {Path.home()}", f"free {_NEEDED_GB:.0f} GB", required=True
    )
