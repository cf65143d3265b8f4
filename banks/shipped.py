"""Banks and targets that come with Rebind, as data in the folder `shipped_data/`."""

from __future__ import annotations

from pathlib import Path

from rebind.errors import BankError, did_you_mean

_FOLDER = Path(__file__).parent / "shipped_data"
_PREFIX = "shipped:"


def locate(path: Path) -> Path:
    """A folder as a command or study names it: a path, or `shipped:NAME`.

    Raises:
        BankError: nothing of that name comes with this version.
    """
    text = str(path)
    return shipped(text.removeprefix(_PREFIX)) if text.startswith(_PREFIX) else path


def shipped(name: str) -> Path:
    """The folder of a shipped bank or targets set, e.g. "demo/bank".

    Raises:
        BankError: nothing of that name comes with this version.
    """
    known = [str(p.parent.relative_to(_FOLDER)) for p in sorted(_FOLDER.rglob("manifest.json"))]
    if name not in known:
        raise BankError(f"nothing called {name!r} is shipped{did_you_mean(name, known)}")
    return _FOLDER / name
