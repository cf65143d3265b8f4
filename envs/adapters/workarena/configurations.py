"""WorkArena's task configurations: which file belongs to which task class, and what a configuration asks for."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from rebind.errors import UserError

_FILES = {
    "all-menu": "all_menu",
    "impersonation": "impersonation_users",
    "knowledge-base-search": "knowledge_base_configs",
    "multi-chart-min-max-retrieval": "dashboard_retrieval_minmax_task",
    "multi-chart-value-retrieval": "dashboard_retrieval_value_task",
    "order-development-laptop-p-c": "order_development_laptop_pc_task",
    "single-chart-min-max-retrieval": "report_retrieval_minmax_task",
    "single-chart-value-retrieval": "report_retrieval_value_task",
}
"""Where the file's name does not follow from the class's."""
_FORMS = ("change-request", "hardware-asset", "incident", "problem", "user")
_LISTS = ("asset", "change-request", "hardware", "incident", "service-catalog-item", "user")
_ITEMS = (
    "apple-mac-book-pro15", "apple-watch", "developer-laptop", "ipad-mini", "ipad-pro", "loaner-laptop", "sales-laptop",
    "standard-laptop",
)  # fmt: skip
NAMES = tuple(
    sorted(
        (
            *_FILES,
            *(f"create-{form}" for form in _FORMS),
            *(f"{what}-{list_}-list" for what in ("filter", "sort") for list_ in _LISTS),
            *(f"order-{item}" for item in _ITEMS),
        )
    )
)
"""WorkArena's short names of its 33 task classes of L1."""

_NO_BINDING = (
    "fields", "task_fields", "template_record", "infeasible_reasons", "goal", "alternative_answers", "list_info",
)  # fmt: skip
"""Keys that hold labels, form defaults, wordings or answers."""
_ANSWERS = {"knowledge_base_configs": "value", "all_menu": "url"}
"""The key of a file's configurations that holds what has to be found."""


def stem(name: str) -> str:
    """The name of a task class's file, without its ending."""
    return _FILES.get(name, f"{name.replace('-', '_')}_task")


def file(folder: Path, name: str) -> Path | None:
    """A task class's file, packed or not; None where the folder lacks it."""
    found = (folder / f"{stem(name)}{ending}" for ending in (".json", ".json.gz"))
    return next((path for path in found if path.is_file()), None)


def read(path: Path) -> list[Any]:
    """A file's configurations, packed or not. Raises UserError where it is no JSON."""
    data = path.read_bytes()
    try:
        rows: list[Any] = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except (ValueError, gzip.BadGzipFile) as error:
        raise UserError(f"{path} is no JSON: {error}") from None
    return rows


def values(template: str, raw: Any) -> Iterator[tuple[str, JsonValue]]:
    """What a configuration of the file of that name asks for: the record's fields of a form, the choices of an order,
    the list's order."""
    if not isinstance(raw, dict):
        yield "user", raw
        return
    for field in raw.get("task_fields", ()):
        yield field, raw["template_record"].get(field)
    for key, value in raw.items():
        if key in _NO_BINDING or key == _ANSWERS.get(template):
            continue
        if isinstance(value, dict):
            yield from ((f"{key}.{name}", one) for name, one in value.items())
        else:
            yield key, value
