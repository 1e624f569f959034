"""The scalar operations that a CasADi graph consists of: one row each, for every target.

A row gives the arity, what the operation means in NumPy, and how LLVM computes it: by an emitter of
vector code, or by calling the C library once per lane.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as cs
import numpy as np

from linkwork.compile.emit import Emitter


@dataclass(frozen=True, slots=True)
class Op:
    """One operation."""

    name: str
    arity: int
    numpy: Callable[..., Any]
    emit: Callable[..., Any] | None = None  # (emitter, *values) -> value
    libm: str = ""  # the C function that computes it, lane by lane, where ``emit`` is None


def _truth(x: Any) -> Any:
    return np.float64(np.asarray(x, dtype=bool))


def _fmod(a: Any, b: Any) -> Any:
    return np.fmod(a, b)


def _erf(x: Any) -> Any:
    return np.float64(math.erf(float(x)))


def _remainder(a: Any, b: Any) -> Any:
    return np.float64(math.remainder(float(a), float(b)))


def _if_else_zero(c: Any, x: Any) -> Any:
    return np.where(np.asarray(c) != 0, x, 0.0)


E = Emitter

OP_TABLE: dict[int, Op] = {
    cs.OP_ASSIGN: Op("assign", 1, lambda x: x, lambda e, x: x),
    cs.OP_ADD: Op("add", 2, np.add, E.add),
    cs.OP_SUB: Op("sub", 2, np.subtract, E.sub),
    cs.OP_MUL: Op("mul", 2, np.multiply, E.mul),
    cs.OP_DIV: Op("div", 2, np.divide, E.div),
    cs.OP_NEG: Op("neg", 1, np.negative, E.neg),
    cs.OP_SQ: Op("sq", 1, np.square, lambda e, x: e.mul(x, x)),
    cs.OP_TWICE: Op("twice", 1, lambda x: x + x, lambda e, x: e.add(x, x)),
    cs.OP_INV: Op("inv", 1, np.reciprocal, lambda e, x: e.div(e.const(1.0), x)),
    cs.OP_SQRT: Op("sqrt", 1, np.sqrt, lambda e, x: e.intrinsic("sqrt", x)),
    cs.OP_FABS: Op("fabs", 1, np.abs, lambda e, x: e.intrinsic("fabs", x)),
    cs.OP_FLOOR: Op("floor", 1, np.floor, lambda e, x: e.intrinsic("floor", x)),
    cs.OP_CEIL: Op("ceil", 1, np.ceil, lambda e, x: e.intrinsic("ceil", x)),
    cs.OP_COPYSIGN: Op("copysign", 2, np.copysign, lambda e, a, b: e.intrinsic("copysign", a, b)),
    cs.OP_FMIN: Op("fmin", 2, np.fmin, lambda e, a, b: e.intrinsic("minnum", a, b)),
    cs.OP_FMAX: Op("fmax", 2, np.fmax, lambda e, a, b: e.intrinsic("maxnum", a, b)),
    cs.OP_SIGN: Op("sign", 1, np.sign, E.sign),
    cs.OP_LT: Op("lt", 2, lambda a, b: _truth(a < b), lambda e, a, b: e.compare("<", a, b)),
    cs.OP_LE: Op("le", 2, lambda a, b: _truth(a <= b), lambda e, a, b: e.compare("<=", a, b)),
    cs.OP_EQ: Op("eq", 2, lambda a, b: _truth(a == b), lambda e, a, b: e.compare("==", a, b)),
    cs.OP_NE: Op("ne", 2, lambda a, b: _truth(a != b), E.differs),
    cs.OP_NOT: Op("not", 1, lambda x: _truth(np.asarray(x) == 0), E.negate),
    cs.OP_AND: Op("and", 2, lambda a, b: _truth(np.logical_and(a, b)), E.both),
    cs.OP_OR: Op("or", 2, lambda a, b: _truth(np.logical_or(a, b)), E.either),
    cs.OP_IF_ELSE_ZERO: Op("if_else_zero", 2, _if_else_zero, E.if_else_zero),
    cs.OP_SIN: Op("sin", 1, np.sin, lambda e, x: e.sincos(x)[0]),
    cs.OP_COS: Op("cos", 1, np.cos, lambda e, x: e.sincos(x)[1]),
    cs.OP_TAN: Op("tan", 1, np.tan, libm="tan"),
    cs.OP_ASIN: Op("asin", 1, np.arcsin, libm="asin"),
    cs.OP_ACOS: Op("acos", 1, np.arccos, libm="acos"),
    cs.OP_ATAN: Op("atan", 1, np.arctan, libm="atan"),
    cs.OP_ATAN2: Op("atan2", 2, np.arctan2, libm="atan2"),
    cs.OP_EXP: Op("exp", 1, np.exp, libm="exp"),
    cs.OP_EXPM1: Op("expm1", 1, np.expm1, libm="expm1"),
    cs.OP_LOG: Op("log", 1, np.log, libm="log"),
    cs.OP_LOG1P: Op("log1p", 1, np.log1p, libm="log1p"),
    cs.OP_POW: Op("pow", 2, np.power, libm="pow"),
    cs.OP_CONSTPOW: Op("constpow", 2, np.power, libm="pow"),
    cs.OP_FMOD: Op("fmod", 2, _fmod, libm="fmod"),
    cs.OP_REMAINDER: Op("remainder", 2, _remainder, libm="remainder"),
    cs.OP_HYPOT: Op("hypot", 2, np.hypot, libm="hypot"),
    cs.OP_SINH: Op("sinh", 1, np.sinh, libm="sinh"),
    cs.OP_COSH: Op("cosh", 1, np.cosh, libm="cosh"),
    cs.OP_TANH: Op("tanh", 1, np.tanh, libm="tanh"),
    cs.OP_ASINH: Op("asinh", 1, np.arcsinh, libm="asinh"),
    cs.OP_ACOSH: Op("acosh", 1, np.arccosh, libm="acosh"),
    cs.OP_ATANH: Op("atanh", 1, np.arctanh, libm="atanh"),
    cs.OP_ERF: Op("erf", 1, _erf, libm="erf"),
    cs.OP_LIFT: Op("lift", 2, lambda x, _guess: x, lambda e, x, _guess: x),
}
"""Every operation that an SX graph can hold, but for erfinv and printing (refused by name)."""

LIBM_NAMES: tuple[str, ...] = tuple(
    dict.fromkeys([*(op.libm for op in OP_TABLE.values() if op.libm), "sin", "cos", "fma"])
)
"""The C library's functions that compiled code may call."""
