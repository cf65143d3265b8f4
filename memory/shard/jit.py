"""How the read path's inner loops are compiled by numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from rebind.errors import UserError

try:
    import numba
except ImportError:
    raise UserError("sharded memory needs numba: install rebind[shard]") from None

_F = TypeVar("_F", bound=Callable[..., Any])


def compiled(function: _F) -> _F:
    return cast(_F, numba.njit(cache=True, nogil=True)(function))


def reordered(function: _F) -> _F:
    """For sums over one row, which every call then adds up in the same order, whatever other rows there are."""
    return cast(_F, numba.njit(cache=True, nogil=True, fastmath=True)(function))
