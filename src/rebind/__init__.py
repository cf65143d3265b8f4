"""Rebind measures what an agent's past is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rebind.eval.frames import load_run

__version__ = "0.1.0"
__all__ = ["__version__", "load_run"]


def __getattr__(name: str) -> object:
    """`load_run` is imported when asked for: it needs pandas, which `import rebind` does not load (PEP 562)."""
    if name == "load_run":
        from rebind.eval.frames import load_run

        return load_run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
