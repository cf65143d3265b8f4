"""Rebind measures what an agent's past is worth."""

from __future__ import annotations

__version__ = "0.1.0"
