"""study.lock: everything a result depends on, hashed and written before the first episode."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from rebind.canon import digest, file_digest
from rebind.errors import LedgerError, LockMismatch
from rebind.eval.ledger.manifest import write_json
from rebind.eval.plan import Plan
from rebind.prompts import all_digests

LOCK_FILE = "study.lock"
_PACKAGES = ("rebind", "litellm", "gymnasium", "pydantic", "numpy", "sentence-transformers", "faiss-cpu", "xllamacpp")
_CODE = ("src", "agents", "banks", "envs", "eval", "memory", "prompts")
METRICS = ("success", "milestone", "api_calls", "online_tokens", "stale_binding", "rebinding")
EXCLUSIONS = (
    "invalid-infra episodes are retried and left out of every mean",
    "invalid-agent episodes are left out of the first of each pair of contrasts and count as failures in the second",
)


def make_lock(plan: Plan, models: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The lock of a plan. `models` says what answers under each name (for the embedded model: its weights' SHA-256)."""
    study = plan.study
    settings: dict[str, JsonValue] = study.model_dump(mode="json", exclude={"bank", "targets", "run"})
    return {
        "study": settings,
        "bank": file_digest(study.bank.path / "manifest.json"),
        "targets": file_digest(study.targets.path / "manifest.json"),
        "target_keys": digest([t.task.key for t in plan.targets]),
        "cells": digest([c.id for c in plan.cells]),
        "models": dict(models),
        "metrics": list(METRICS),
        "exclusions": list(EXCLUSIONS),
        **installed(),
    }


def installed() -> dict[str, JsonValue]:
    """What of a lock is this machine's: prompts, code, packages, Python."""
    return {
        "prompts": dict(all_digests()),
        "code": code_state(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "python": platform.python_version(),
    }


def check_installed(expected: Mapping[str, JsonValue]) -> None:
    """Holds what is installed here against what a run was begun with.

    Raises:
        LockMismatch: something differs; it is named.
    """
    differences = _differences("", dict(expected), installed())
    if differences:
        shown = "\n  ".join(differences)
        raise LockMismatch(f"this is another Rebind than the run's, and would run other episodes:\n  {shown}")


def write_or_check(folder: Path, lock: dict[str, JsonValue]) -> str:
    """Writes the lock of a new run, or compares it with the one a run already has; returns its digest.

    Raises:
        LockMismatch: the run was begun under another lock; names every part that differs.
        LedgerError: the folder cannot be written.
    """
    path = folder / LOCK_FILE
    if path.exists():
        begun = json.loads(path.read_text(encoding="utf-8"))
        differences = list(_differences("", begun, lock))
        if differences:
            shown = "\n  ".join(differences)
            raise LockMismatch(
                f"{path} was written for another study or code; resume is refused. What differs:\n  {shown}\n"
                "Run into a new folder, or restore what changed"
            )
        return digest(begun)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerError(f"{folder} cannot be made: {error.strerror}") from None
    write_json(path, lock)
    return digest(lock)


def code_state() -> dict[str, JsonValue]:
    """Commit and hash of the uncommitted difference of the checkout Rebind runs from; or its installed version."""
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return {"commit": None, "installed": _version("rebind")}
    try:
        commit = _git(root, "rev-parse", "HEAD").strip()
        changed = _git(root, "diff", "HEAD", "--", *_CODE)
        changed += _git(root, "ls-files", "--others", "--exclude-standard", "--", *_CODE)
    except (OSError, subprocess.CalledProcessError):
        return {"commit": None, "installed": _version("rebind")}
    return {"commit": commit, "difference": digest(changed) if changed else None}


def _git(root: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *args], check=True, capture_output=True, text=True, errors="replace")
    return done.stdout


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _differences(where: str, old: Any, new: Any) -> list[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        found: list[str] = []
        for key in sorted(old.keys() | new.keys()):
            found += _differences(f"{where}.{key}" if where else key, old.get(key), new.get(key))
        return found
    return [] if old == new else [f"{where}: {old!r} → {new!r}"]
