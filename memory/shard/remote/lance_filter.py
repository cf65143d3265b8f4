"""A scope as a condition of LanceDB, built from typed expressions: no name is ever part of a text that is parsed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from rebind.memory.shard.scope import MayRead, NamespaceIs, Predicate, Scope, TimeWithin, seconds

if TYPE_CHECKING:
    from lancedb.expr import Expr


def condition(scope: Scope, shards: Sequence[str] | None, held: Callable[[str], Sequence[str]]) -> Expr:
    """What a scope and the probed shards admit.

    Args:
        scope: what to admit.
        shards: the only shards that are looked at; all where not given.
        held: the labels that a principal holds.
    """
    parts = [part for one in scope.predicates for part in _parts(one, held)]
    if shards is not None:
        parts.append(_among("shard", shards))
    return reduce(and_, parts) if parts else _always(True)


def _parts(one: Predicate, held: Callable[[str], Sequence[str]]) -> list[Expr]:
    from lancedb.expr import col, lit

    if isinstance(one, TimeWithin):
        low, high = seconds(one.start), seconds(one.end)
        bounds = [] if low is None else [col("time") >= lit(low)]
        return bounds if high is None else [*bounds, col("time") <= lit(high)]
    if isinstance(one, MayRead):
        return [_among("label", ["", *held(one.principal)])]
    if isinstance(one, NamespaceIs):
        below = [(col("namespace") >= lit(f"{name}.")) & (col("namespace") < lit(f"{name}/")) for name in one.names]
        return [reduce(or_, [_among("namespace", one.names), *below])]  # "/" comes next after "."
    return [_among(one.kind, one.names)]


def _among(column: str, names: Sequence[str]) -> Expr:
    from lancedb.expr import col

    return col(column).isin(list(names)) if names else _always(False)


def _always(value: bool) -> Expr:
    from lancedb.expr import lit

    return lit(value)
