"""Product pictures: a drawn parcel, the same for all, inside the page itself; nothing is written to disk."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

from oscar.core.thumbnails import AbstractThumbnailer

_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="150" height="150" viewBox="0 0 150 150">'
    '<rect width="150" height="150" fill="#eef1f3"/>'
    '<path d="M75 30 120 52v48l-45 22-45-22V52z" fill="#c9b28b" stroke="#8a744d" stroke-width="3"/>'
    '<path d="M30 52l45 22 45-22M75 74v48" fill="none" stroke="#8a744d" stroke-width="3"/></svg>'
)


class Parcel(AbstractThumbnailer):
    """Oscar's interface for thumbnails."""

    def generate_thumbnail(self, source: Any, **opts: Any) -> SimpleNamespace:
        return SimpleNamespace(url=f"data:image/svg+xml,{quote(_SVG)}", width=150, height=150)

    def delete_thumbnails(self, source: Any) -> None:
        pass
