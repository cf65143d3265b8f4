"""Where exports go: a folder or a file that appears at once, and never in the place of something else."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from rebind import __version__
from rebind.banks.files import replace_text
from rebind.errors import UserError

MARK = "export.json"
"""Says what a folder holds; written last, so that a folder with it is whole."""
_UNFIT = re.compile(r"[^\w.-]+")


def need(package: str, extra: str) -> None:
    """Checks that an optional package is there, without importing it.

    Raises:
        UserError: it is not; says what to install.
    """
    if find_spec(package) is None:
        raise UserError(f"`rebind export {extra}` needs an extra: pip install 'rebind[{extra}]'")


def file_name(*parts: object) -> str:
    """A name for a file, made of parts; what a file name should not hold becomes "_"."""
    return "__".join(_UNFIT.sub("_", str(part)) for part in parts)


@contextmanager
def export_folder(out: Path, form: str, about: dict[str, Any]) -> Iterator[Path]:
    """A temporary folder that becomes `out` if the block ends well, in the place of an earlier export of that form.

    Args:
        form: "inspect", "atif" or "parquet".
        about: what the export is of; written into its `export.json` beside the names of its files.

    Raises:
        UserError: `out` exists and is no such export.
    """
    _check_folder(out, form)
    out.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    made = work / "made"
    made.mkdir()
    try:
        yield made
        files = sorted(p.relative_to(made).as_posix() for p in made.rglob("*") if p.is_file())
        mark = {"format": form, "rebind": __version__, **about, "files": files}
        replace_text(made / MARK, json.dumps(mark, indent=2, ensure_ascii=False) + "\n")
        (made / MARK).chmod(0o644)
        if out.exists():
            out.rename(work / "replaced")
        made.rename(out)
    finally:
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def export_file(out: Path, first: bytes) -> Iterator[IO[bytes]]:
    """A temporary file that becomes `out` if the block ends well, in the place of an earlier export.

    Args:
        first: how the first line of every such export begins.

    Raises:
        UserError: `out` exists and begins otherwise.
    """
    if out.is_dir() or (out.exists() and not _begins(out, first)):
        raise UserError(f"{out} exists and is no export of Rebind; name a file that does not exist")
    out.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(out)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _begins(path: Path, first: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(first)) == first


def _check_folder(out: Path, form: str) -> None:
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    try:
        mark = json.loads((out / MARK).read_bytes())
        own = isinstance(mark, dict) and mark.get("format") == form and "rebind" in mark
        whole = own and {*mark["files"], MARK} >= {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    except (OSError, ValueError, KeyError):
        own = whole = False
    if not own:
        raise UserError(f"{out} exists and is no {form} export of Rebind; name a folder that does not exist")
    if not whole:
        raise UserError(f"{out} holds files that its export did not write; move them, or name another folder")
