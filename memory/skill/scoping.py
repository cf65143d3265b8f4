"""Whether a request may see a skill: the predicates of evidence, asked of every namespace a skill calls into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from rebind.memory.shard.scope import ItemMeta, MayRead, NamespaceIs, Predicate, Scope, TimeWithin, seconds

_NOBODY: Mapping[str, frozenset[str]] = MappingProxyType({})


def admits(scope: Scope, metas: Iterable[ItemMeta], held: Mapping[str, frozenset[str]] = _NOBODY) -> bool:
    """Whether a scope admits all of some metadata, by the rules that hold for evidence (see `shard.scope`).

    Args:
        scope: what the request may see.
        metas: one for each namespace that a skill calls into.
        held: labels that each principal holds now.
    """
    return all(_holds(one, meta, held) for meta in metas for one in scope.predicates)


def _holds(one: Predicate, meta: ItemMeta, held: Mapping[str, frozenset[str]]) -> bool:
    if isinstance(one, NamespaceIs):
        return any(meta.namespace == name or meta.namespace.startswith(f"{name}.") for name in one.names)
    if isinstance(one, MayRead):
        return not meta.label or meta.label in held.get(one.principal, ())
    if isinstance(one, TimeWithin):
        if one.start is None and one.end is None:
            return True
        at, low, high = seconds(meta.time), seconds(one.start), seconds(one.end)
        return at is not None and (low is None or low <= at) and (high is None or at <= high)
    return getattr(meta, one.kind) in one.names
