"""Where a bank or targets folder is: a path, what comes with Rebind (in the folder `shipped_data/`), or a URL."""

from __future__ import annotations

from pathlib import Path

from rebind.banks.storage import url_of
from rebind.errors import BankError, did_you_mean

_FOLDER = Path(__file__).parent / "shipped_data"
_PREFIX = "shipped:"


def locate(path: Path) -> Path:
    """The folder that a command or study names: a path, `shipped:NAME`, or a URL (see `remote.fetched`).

    Raises:
        BankError: nothing of that name comes with this version. StorageError: it cannot be had from that URL.
    """
    text = str(path)
    url = url_of(path)
    if url is not None:
        from rebind.banks.remote import fetched

        return fetched(url)
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
