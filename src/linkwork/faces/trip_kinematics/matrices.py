"""Blocks of the core as the arrays that programs of this face compute with."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork import extras
from linkwork.faces.trip_kinematics.values import is_symbol


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
    ca = extras.casadi()
    rows = given.reshape(len(given), -1).tolist()
    return ca.vertcat(*(ca.horzcat(*(ca.SX(entry) for entry in row)) for row in rows))
