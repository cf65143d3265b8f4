"""What the agent's code may not name: the ways around AppWorld's APIs."""

from __future__ import annotations

import ast

_MODULES = frozenset({"appworld", "importlib", "os", "pathlib", "requester", "sys"})
_NAMES = frozenset({"ApiCollection", "Requester", "__import__", "requester"})


def refused(code: str) -> str | None:
    """Why a block is not run; None where it may be (a block that does not parse runs into AppWorld's own message)."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node in ast.walk(tree):
        for name in _imported(node):
            if name.split(".")[0] in _MODULES:
                return f"import of {name} is refused: only AppWorld's APIs lead to its data"
        if isinstance(node, ast.Name) and node.id in _NAMES:
            return f"{node.id} is refused: only AppWorld's APIs (apis) lead to its data"
    return None


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        return [module, *(one.name for one in node.names)]
    return []
