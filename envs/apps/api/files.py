"""Text files in folders. A folder exists as long as a file is below it."""

from __future__ import annotations

from pydantic import JsonValue

from rebind.envs.apps.api.common import (
    Row,
    email_or_422,
    matches,
    new_id,
    now,
    one_or_404,
    select,
    text_or_422,
)
from rebind.envs.apps.api.common import (
    page as page_of,
)
from rebind.envs.apps.api.registry import ApiError, Db, api
from rebind.errors import did_you_mean

_SEPARATOR = ", "
_SHORT = ("path", "size", "modified_at")


@api("files")
def list_(db: Db, folder: str = "/", recursive: bool = False, page: int = 1, page_size: int = 10) -> JsonValue:
    """What is in a folder, by path: its subfolders, then its files; with recursive true, all files below it.

    Returns a page of {kind: "folder", path, files} and {kind: "file", file_id, path, size, modified_at}; files counts
    all files below, size is in bytes. The content is in files_read.
    """
    base = _folder_or_404(db, folder)
    rows = [row for row in _all(db) if row["path"].startswith(base)]
    direct = [row for row in rows if recursive or "/" not in row["path"].removeprefix(base)]
    below: dict[str, int] = {}
    for row in rows:
        head, deeper, _ = row["path"].removeprefix(base).partition("/")
        if deeper:
            below[base + head] = below.get(base + head, 0) + 1
    folders: list[Row] = [{"kind": "folder", "path": path, "files": count} for path, count in sorted(below.items())]
    return page_of([*([] if recursive else folders), *(_brief(row) for row in direct)], page, page_size)


@api("files")
def search(db: Db, query: str, folder: str | None = None, page: int = 1, page_size: int = 10) -> JsonValue:
    """Finds files by words of path and content, everywhere or below a folder; by path.

    Returns a page of {kind: "file", file_id, path, size, modified_at}.
    """
    text_or_422(query, "query")
    base = _folder_or_404(db, folder if folder is not None else "/")
    found = [
        _brief(row) for row in _all(db) if row["path"].startswith(base) and matches(query, row["path"], row["content"])
    ]
    return page_of(found, page, page_size)


@api("files")
def read(db: Db, file_id: str) -> JsonValue:
    """One file with its content.

    Returns {file_id, path, content, size, modified_at, shared_with: [addresses]}.
    """
    row = one_or_404(db, "files", file_id, "file")
    return {"file_id": row.pop("id"), **row, "shared_with": [*_shared_with(row)]}


@api("files", writes=True)
def write(db: Db, path: str, content: str) -> JsonValue:
    """Creates a file at a full path like /reports/2026/plan.txt; missing folders are created.

    Returns {file_id, path, size}. 422 where the path exists: files_update changes an existing file.
    """
    return _create(db, _free_path_or_422(db, path), content)


@api("files", writes=True)
def update(db: Db, file_id: str, content: str) -> JsonValue:
    """Replaces a file's whole content.

    Returns {file_id, path, size}.
    """
    one_or_404(db, "files", file_id, "file")
    db.execute(
        "UPDATE files SET content = ?, size = ?, modified_at = ? WHERE id = ?",
        (content, _size(content), now(db), file_id),
    )
    return _state(db, file_id)


@api("files", writes=True)
def move(db: Db, file_id: str, path: str) -> JsonValue:
    """Moves or renames a file to a full new path; whom it is shared with stays.

    Returns {file_id, path, size}.
    """
    one_or_404(db, "files", file_id, "file")
    db.execute("UPDATE files SET path = ? WHERE id = ?", (_free_path_or_422(db, path), file_id))
    return _state(db, file_id)


@api("files", writes=True)
def copy(db: Db, file_id: str, path: str) -> JsonValue:
    """Copies a file to a full new path; the copy is shared with nobody.

    Returns {file_id, path, size} of the copy.
    """
    source = one_or_404(db, "files", file_id, "file")
    return _create(db, _free_path_or_422(db, path), source["content"])


@api("files", writes=True)
def delete(db: Db, file_id: str) -> JsonValue:
    """Deletes a file for good; refused while it is attached to a mail.

    Returns {file_id, deleted}.
    """
    one_or_404(db, "files", file_id, "file")
    for row in select(db, "SELECT mail_id FROM mail_attachments WHERE file_id = ?", (file_id,)):
        raise ApiError(422, f"file {file_id} cannot be deleted: it is attached to {row['mail_id']}")
    db.execute("DELETE FROM files WHERE id = ?", (file_id,))
    return {"file_id": file_id, "deleted": True}


@api("files", writes=True)
def share(db: Db, file_id: str, email: str) -> JsonValue:
    """Shares a file with a person, by e-mail address.

    Returns {file_id, shared_with: [addresses]}.
    """
    shared = _shared_with(one_or_404(db, "files", file_id, "file"))
    if email_or_422(email, "email") in shared:
        raise ApiError(422, f"file {file_id} is already shared with {email}")
    return _share(db, file_id, [*shared, email])


@api("files", writes=True)
def unshare(db: Db, file_id: str, email: str) -> JsonValue:
    """Stops sharing a file with a person.

    Returns {file_id, shared_with: [addresses]}.
    """
    shared = _shared_with(one_or_404(db, "files", file_id, "file"))
    if email not in shared:
        raise ApiError(404, f"file {file_id} is not shared with {email!r}{did_you_mean(email, shared)}")
    return _share(db, file_id, [one for one in shared if one != email])


def _all(db: Db) -> list[Row]:
    return select(db, "SELECT * FROM files ORDER BY path")


def _size(content: str) -> int:
    return len(content.encode())


def _shared_with(row: Row) -> list[str]:
    return row["shared_with"].split(_SEPARATOR) if row["shared_with"] else []


def _share(db: Db, file_id: str, emails: list[str]) -> JsonValue:
    db.execute("UPDATE files SET shared_with = ? WHERE id = ?", (_SEPARATOR.join(emails), file_id))
    return {"file_id": file_id, "shared_with": [*emails]}


def _create(db: Db, path: str, content: str) -> JsonValue:
    file_id = new_id(db, "files", "file")
    db.execute(
        "INSERT INTO files (id, path, content, size, modified_at) VALUES (?, ?, ?, ?, ?)",
        (file_id, path, content, _size(content), now(db)),
    )
    return _state(db, file_id)


def _state(db: Db, file_id: str) -> JsonValue:
    row = one_or_404(db, "files", file_id, "file")
    return {"file_id": file_id, "path": row["path"], "size": row["size"]}


def _brief(row: Row) -> Row:
    return {"kind": "file", "file_id": row["id"], **{key: row[key] for key in _SHORT}}


def _folder_or_404(db: Db, folder: str) -> str:
    """The folder's path with one final slash. Raises 404 where no file is below it."""
    base = f"/{folder.strip('/')}/" if folder.strip("/") else "/"
    folders = {"/"}
    for row in _all(db):
        parts = row["path"].split("/")
        folders.update("/".join(parts[:depth]) + "/" for depth in range(1, len(parts)))
    if base not in folders:
        raise ApiError(404, f"no folder {folder!r}{did_you_mean(base, folders)}")
    return base


def _free_path_or_422(db: Db, path: str) -> str:
    """A path that a new file may have, as given. Raises 422 where it is malformed, taken, or below or above a file."""
    parts = path.split("/")
    if parts[0] or len(parts) == 1 or any(not part.strip() or part in (".", "..") for part in parts[1:]):
        raise ApiError(422, f"path must be a full path of a file like /reports/plan.txt, not {path!r}")
    for row in _all(db):
        taken = row["path"]
        if taken == path:
            raise ApiError(422, f"path {path!r} exists already: {row['id']}")
        if taken.startswith(f"{path}/"):
            raise ApiError(422, f"path {path!r} is a folder; give the full path of the file")
        if path.startswith(f"{taken}/"):
            raise ApiError(422, f"path {path!r} lies below {taken!r}, which is a file")
    return path
