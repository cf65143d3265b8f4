"""Tables of a database whose rows are copied only when they are taken: a fresh state in no time."""

from __future__ import annotations

from typing import Any


class Table(dict[str, Any]):
    """Rows by key, each copied when it is first taken by key; `touched` are the keys that were."""

    def __init__(self, rows: dict[str, Any]) -> None:
        super().__init__(rows)
        self.touched: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        if key not in self.touched:
            self[key] = super().__getitem__(key).model_copy(deep=True)
        return super().__getitem__(key)

    def __setitem__(self, key: str, row: Any) -> None:
        self.touched.add(key)
        super().__setitem__(key, row)


def rows(database: Any) -> dict[str, Any]:
    """The rows of a database by "table/key" (a list's by position), of every table."""
    found: dict[str, Any] = {}
    for name in type(database).model_fields:
        table = getattr(database, name)
        pairs = table.items() if isinstance(table, dict) else enumerate(table) if isinstance(table, list) else ()
        found.update((f"{name}/{key}", row) for key, row in pairs)
    return found
