"""The scalar operations that a graph consists of: one row each, for every target.

A row gives the arity, what the operation means in NumPy and in C, and how LLVM computes it: by an
emitter of vector code, or by calling the C library once per lane. The names are CasADi's without
"OP_", so that a graph can be told to CasADi.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.compile.elementary.error_function import (
    C_SOURCE,
    error_function_inverse,
    reference,
)
from linkwork.compile.elementary.exponential import exponential, exponential_less_one
from linkwork.compile.elementary.inverse_trigonometric import (
    angle_of,
    arccosine,
    arcsine,
    arctangent,
)
from linkwork.compile.elementary.logarithmic import logarithm, logarithm_of_one_more
from linkwork.compile.elementary.roots import hypotenuse
from linkwork.compile.elementary.trigonometric import cosine, sine, tangent
from linkwork.compile.elementary.truth import (
    both,
    compare,
    differs,
    either,
    if_else_zero,
    negate,
)
from linkwork.compile.emit import Emitter

Emit = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Op:
    """One operation."""

    name: str
    arity: int
    numpy: Callable[..., Any]
    emit: Emit | None  # (emitter, *values) -> value
    libm: str  # the C function that computes it, lane by lane, where ``emit`` is None
    c: str  # a C99 expression of {0} and {1}, which are names or literals


def _truth(x: Any) -> Any:
    return np.float64(np.asarray(x, dtype=bool))


def _erf(x: Any) -> Any:
    return np.float64(math.erf(float(x)))


def _erfinv(x: Any) -> Any:
    return np.float64(reference(float(x)))


def _remainder(a: Any, b: Any) -> Any:
    a, b = float(a), float(b)
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0.0:
        return np.float64(math.nan)
    return np.float64(math.remainder(a, b))


def _pow(a: Any, b: Any) -> Any:
    """C's pow; NumPy's own is wrong for large whole powers of negative numbers."""
    a, b = float(a), float(b)
    try:
        return np.float64(math.pow(a, b))
    except OverflowError:
        pass
    except ValueError:
        if a != 0.0:
            return np.float64(math.nan)
    odd = math.fmod(b, 2.0) in (-1.0, 1.0)
    return np.float64(math.copysign(math.inf, a) if odd else math.inf)


def _if_else_zero(c: Any, x: Any) -> Any:
    return np.where(np.asarray(c) != 0, x, 0.0)


def _sign(x: Any) -> Any:
    return np.where(np.asarray(x) == 0, x, np.sign(x))  # NumPy's has no sign of zero


def _relation(relation: str) -> Emit:
    def emit(e: Emitter, a: Any, b: Any) -> Any:
        return compare(e, relation, a, b)

    return emit


def _intrinsic(name: str) -> Emit:
    def emit(e: Emitter, *args: Any) -> Any:
        return e.intrinsic(name, *args)

    return emit


def _op(name: str, arity: int, numpy: Callable[..., Any], emit: Emit | None, c: str) -> Op:
    """A row; without an emitter, ``c`` is a call of the C library."""
    libm = "" if emit is not None else c.partition("(")[0]
    return Op(name, arity, numpy, emit, libm, c)


_ROWS: tuple[Op, ...] = (
    # Arithmetic
    _op("ADD", 2, np.add, Emitter.add, "{0} + {1}"),
    _op("SUB", 2, np.subtract, Emitter.sub, "{0} - {1}"),
    _op("MUL", 2, np.multiply, Emitter.mul, "{0} * {1}"),
    _op("DIV", 2, np.divide, Emitter.div, "{0} / {1}"),
    _op("NEG", 1, np.negative, Emitter.neg, "-({0})"),
    _op("SQRT", 1, np.sqrt, Emitter.sqrt, "sqrt({0})"),
    _op("FABS", 1, np.abs, Emitter.fabs, "fabs({0})"),
    _op("FLOOR", 1, np.floor, _intrinsic("floor"), "floor({0})"),
    _op("CEIL", 1, np.ceil, _intrinsic("ceil"), "ceil({0})"),
    _op("FMOD", 2, np.fmod, None, "fmod({0}, {1})"),
    _op("REMAINDER", 2, _remainder, None, "remainder({0}, {1})"),
    _op("COPYSIGN", 2, np.copysign, Emitter.copysign, "copysign({0}, {1})"),
    _op("FMIN", 2, np.fmin, _intrinsic("minnum"), "fmin({0}, {1})"),
    _op("FMAX", 2, np.fmax, _intrinsic("maxnum"), "fmax({0}, {1})"),
    _op("SIGN", 1, _sign, Emitter.sign, "({0} < 0 ? -1.0 : {0} > 0 ? 1.0 : {0})"),
    # Conditions: the numbers 1 and 0
    _op("LT", 2, lambda a, b: _truth(a < b), _relation("<"), "(double)({0} < {1})"),
    _op("LE", 2, lambda a, b: _truth(a <= b), _relation("<="), "(double)({0} <= {1})"),
    _op("EQ", 2, lambda a, b: _truth(a == b), _relation("=="), "(double)({0} == {1})"),
    _op("NE", 2, lambda a, b: _truth(a != b), differs, "(double)({0} != {1})"),
    _op("NOT", 1, lambda x: _truth(np.asarray(x) == 0), negate, "(double)({0} == 0)"),
    _op(
        "AND",
        2,
        lambda a, b: _truth(np.logical_and(a, b)),
        both,
        "(double)({0} != 0 && {1} != 0)",
    ),
    _op(
        "OR",
        2,
        lambda a, b: _truth(np.logical_or(a, b)),
        either,
        "(double)({0} != 0 || {1} != 0)",
    ),
    _op("IF_ELSE_ZERO", 2, _if_else_zero, if_else_zero, "({0} != 0 ? {1} : 0.0)"),
    # Elementary functions: accuracy.py states their errors
    _op("SIN", 1, np.sin, sine, "sin({0})"),
    _op("COS", 1, np.cos, cosine, "cos({0})"),
    _op("TAN", 1, np.tan, tangent, "tan({0})"),
    _op("ASIN", 1, np.arcsin, arcsine, "asin({0})"),
    _op("ACOS", 1, np.arccos, arccosine, "acos({0})"),
    _op("ATAN", 1, np.arctan, arctangent, "atan({0})"),
    _op("ATAN2", 2, np.arctan2, angle_of, "atan2({0}, {1})"),
    _op("EXP", 1, np.exp, exponential, "exp({0})"),
    _op("EXPM1", 1, np.expm1, exponential_less_one, "expm1({0})"),
    _op("LOG", 1, np.log, logarithm, "log({0})"),
    _op("LOG1P", 1, np.log1p, logarithm_of_one_more, "log1p({0})"),
    _op("HYPOT", 2, np.hypot, hypotenuse, "hypot({0}, {1})"),
    _op("ERFINV", 1, _erfinv, error_function_inverse, "lw_erfinv({0})"),
    # From the C library, lane by lane
    _op("POW", 2, _pow, None, "pow({0}, {1})"),
    _op("CONSTPOW", 2, _pow, None, "pow({0}, {1})"),
    _op("SINH", 1, np.sinh, None, "sinh({0})"),
    _op("COSH", 1, np.cosh, None, "cosh({0})"),
    _op("TANH", 1, np.tanh, None, "tanh({0})"),
    _op("ASINH", 1, np.arcsinh, None, "asinh({0})"),
    _op("ACOSH", 1, np.arccosh, None, "acosh({0})"),
    _op("ATANH", 1, np.arctanh, None, "atanh({0})"),
    _op("ERF", 1, _erf, None, "erf({0})"),
)

OP_TABLE: dict[str, Op] = {op.name: op for op in _ROWS}
"""Every scalar operation that a graph can hold."""

C_HELPERS: dict[str, str] = {"lw_erfinv": C_SOURCE}
"""Functions that a row's C expression calls and C99 does not have: name -> definition."""
