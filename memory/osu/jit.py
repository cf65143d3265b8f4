"""The two ways in which OSU-Mem's inner loops are compiled by numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

_F = TypeVar("_F", bound=Callable[..., Any])


def compiled(function: _F) -> _F:
    return cast(_F, numba.njit(cache=True)(function))


def reordered(function: _F) -> _F:
    """For sums of whole numbers, which are exact in any order: lets the compiler vectorise them."""
    return cast(_F, numba.njit(cache=True, fastmath=True)(function))
