"""The `rebind` command. Each module holds one group of commands and does no work of its own."""

from __future__ import annotations

from rebind.cli.app import app, main

__all__ = ["app", "main"]
