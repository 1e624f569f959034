"""The scalar operations that a graph consists of: one row each, for every target.

A row gives the arity, what the operation means in NumPy and in C, and the emitter of its vector
code. The names are CasADi's without "OP_", so that a graph can be replayed there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.compile.elementary import (
    angle_of,
    both,
    cosine,
    either,
    if_else_zero,
    less,
    negate,
    sine,
)
from linkwork.compile.emit import Emitter


@dataclass(frozen=True, slots=True)
class Op:
    """One operation."""

    name: str
    arity: int
    numpy: Callable[..., Any]
    emit: Callable[..., Any]  # (emitter, *values) -> value
    c: str  # a C99 expression of {0} and {1}, which are names or literals


def _truth(x: Any) -> Any:
    return np.float64(np.asarray(x, dtype=bool))


def _if_else_zero(c: Any, x: Any) -> Any:
    return np.where(np.asarray(c) != 0, x, 0.0)


def _intrinsic(name: str) -> Callable[..., Any]:
    def emit(e: Emitter, *args: Any) -> Any:
        return e.intrinsic(name, *args)

    return emit


_ROWS: tuple[Op, ...] = (
    # Arithmetic
    Op("ADD", 2, np.add, Emitter.add, "{0} + {1}"),
    Op("SUB", 2, np.subtract, Emitter.sub, "{0} - {1}"),
    Op("MUL", 2, np.multiply, Emitter.mul, "{0} * {1}"),
    Op("DIV", 2, np.divide, Emitter.div, "{0} / {1}"),
    Op("NEG", 1, np.negative, Emitter.neg, "-({0})"),
    Op("SQRT", 1, np.sqrt, Emitter.sqrt, "sqrt({0})"),
    Op("FABS", 1, np.abs, Emitter.fabs, "fabs({0})"),
    Op("FLOOR", 1, np.floor, _intrinsic("floor"), "floor({0})"),
    Op("FMIN", 2, np.fmin, _intrinsic("minnum"), "fmin({0}, {1})"),
    Op("FMAX", 2, np.fmax, _intrinsic("maxnum"), "fmax({0}, {1})"),
    # Conditions: the numbers 1 and 0
    Op("LT", 2, lambda a, b: _truth(a < b), less, "(double)({0} < {1})"),
    Op("NOT", 1, lambda x: _truth(np.asarray(x) == 0), negate, "(double)({0} == 0)"),
    Op("AND", 2, lambda a, b: _truth(np.logical_and(a, b)), both, "(double)({0} != 0 && {1} != 0)"),
    Op("OR", 2, lambda a, b: _truth(np.logical_or(a, b)), either, "(double)({0} != 0 || {1} != 0)"),
    Op("IF_ELSE_ZERO", 2, _if_else_zero, if_else_zero, "({0} != 0 ? {1} : 0.0)"),
    # Elementary functions: `elementary.ACCURACY` states their errors
    Op("SIN", 1, np.sin, sine, "sin({0})"),
    Op("COS", 1, np.cos, cosine, "cos({0})"),
    Op("ATAN2", 2, np.arctan2, angle_of, "atan2({0}, {1})"),
)

OP_TABLE: dict[str, Op] = {op.name: op for op in _ROWS}
"""Every scalar operation that a graph holds."""
