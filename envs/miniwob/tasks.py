"""Which MiniWoB++ tasks there are, and which of them can be read and done without looking at pixels."""

from __future__ import annotations

from rebind.envs.miniwob.server import pages

PIXELS = frozenset(
    {
        "ascending-numbers",
        "bisect-angle",
        "chase-circle",
        "circle-center",
        "click-color",
        "click-pie",
        "click-pie-nodelay",
        "click-shades",
        "click-shape",
        "count-shape",
        "count-sides",
        "drag-box",
        "drag-circle",
        "drag-cube",
        "drag-items",
        "drag-items-grid",
        "drag-shapes",
        "drag-shapes-2",
        "drag-single-shape",
        "drag-sort-numbers",
        "draw-circle",
        "draw-line",
        "find-midpoint",
        "grid-coordinate",
        "highlight-text",
        "highlight-text-2",
        "hot-cold",
        "hover-shape",
        "identify-shape",
        "moving-items",
        "number-checkboxes",
        "resize-textarea",
        "right-angle",
        "simon-says",
        "text-editor",
        "use-colorwheel",
        "use-colorwheel-2",
        "visual-addition",
    }
)
"""Tasks that ask for shapes, colours, angles or positions, or to mark text with the pointer: they need a canvas, an
image or coordinates."""


def names() -> tuple[str, ...]:
    """Names of all tasks that need no canvas or image reading, sorted.

    Raises:
        UserError: the package is not installed.
    """
    found = {page.stem for page in (pages() / "miniwob").glob("*.html")}
    return tuple(sorted(found - PIXELS))
