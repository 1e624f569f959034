"""Symbols of CasADi in this face: arrays of floats and SX for programs, blocks for the core.

No other module of the face touches CasADi; where it is missing, whoever needs it is told so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork import extras
from linkwork.faces.trip_kinematics.values import is_symbol
from linkwork.ops import Ops
from linkwork.ops.numpy import NUMPY


def symbol(name: str) -> Any:
    """A scalar SX of this name."""
    return extras.casadi().SX.sym(name)


def computed(function: Callable[..., Any], *given: Any) -> Any:
    """``function(o, *given)``, written over the operations ``o``, of numbers, arrays and SX.

    Its block as `as_array` gives it, a scalar as a float or an SX.
    """
    if any(map(is_symbol, given)):
        from linkwork.compile.symbolic import on_symbols  # noqa: PLC0415 -- imports CasADi

        def of_scalars(o: Ops, *blocks: Any) -> Any:
            pairs = zip(given, blocks, strict=True)
            scalars = [block[0] if is_symbol(x) and x.numel() == 1 else block for x, block in pairs]
            return function(o, *scalars)

        found = on_symbols(of_scalars, *given)
        return found if found.numel() == 1 else as_array(found)
    found = function(NUMPY, *given)
    return as_array(found) if np.ndim(found) else float(found)


def unpacking(pose: Any, symbols: list[Any], keys: list[list[str]]) -> Any:
    """An SX that also unpacks into itself, its symbols and their keys."""
    found = _unpacking_sx()(pose)
    found.parts = (pose, symbols, keys)
    return found


@cache
def _unpacking_sx() -> Any:
    """The class of `unpacking`: CasADi is there only once symbols are."""
    ca = extras.casadi()

    class SymbolicPose(ca.SX):
        parts: tuple[Any, ...] = ()

        def __iter__(self) -> Iterator[Any]:
            return iter(self.parts)

    return SymbolicPose


def as_array(block: Any) -> NDArray[Any]:
    """A matrix or vector of floats, or of objects (floats and SX) where the block is symbolic."""
    if not is_symbol(block):
        return np.array(block, np.float64)
    rows, columns = block.shape
    found = np.zeros((rows, columns), object)
    for i in range(rows):
        for j in range(columns):
            entry = block[i, j]
            found[i, j] = float(entry) if entry.is_constant() else entry
    return found if columns > 1 else found[:, 0]


def as_block(array: Any) -> Any:
    """What `as_array` gave, as a block: floats, or one SX."""
    if is_symbol(array):
        return array
    given = np.asarray(array)
    if given.dtype != object:
        return given.astype(np.float64)
    return as_sx(given.reshape(len(given), -1).tolist())


def as_sx(rows: list[list[Any]]) -> Any:
    """Rows of numbers and SX as one SX."""
    ca = extras.casadi()
    return ca.vertcat(*(ca.horzcat(*(ca.SX(entry) for entry in row)) for row in rows))
