"""The inverse of the error function, which no C library has."""

from __future__ import annotations

import math
from typing import Any

from linkwork.compile.elementary.exponential import exponential
from linkwork.compile.elementary.logarithmic import logarithm
from linkwork.compile.emit import Emitter

_A = 0.147
_T = 2.0 / (math.pi * _A)
_SLOPE = 2.0 / math.sqrt(math.pi)  # of erf, at 0
_SMALL = 0.1
_STEPS = 3  # each has three times the digits of the one before; the start has two


def error_function_inverse(e: Emitter, x: Any) -> Any:
    """The number whose error function is x; NaN beyond 1.

    Start: S. Winitzki, "A handy approximation for the error function and its inverse" (2008); then
    Halley's steps. Near 1 the difference is taken between complements, which keeps all digits.
    """
    b = e.builder
    one = e.const(1.0)
    size = e.fabs(x)
    missing = e.sub(one, size)
    log = logarithm(e, e.mul(missing, e.add(one, size)))
    t = e.fma(log, e.const(0.5), e.const(_T))
    root = e.sqrt(e.sub(e.mul(t, t), e.mul(log, e.const(1.0 / _A))))
    large = e.sqrt(e.fabs(e.sub(root, t)))
    cubic = e.fma(e.mul(size, size), e.const(math.pi / 12.0), one)
    small = e.mul(e.mul(size, e.const(1.0 / _SLOPE)), cubic)
    y = b.select(b.fcmp_ordered("<", size, e.const(_SMALL)), small, large)
    complement = b.fcmp_ordered(">", size, e.const(0.5))
    for _ in range(_STEPS):
        near = e.sub(e.lanes("erf", y), size)
        excess = b.select(complement, e.sub(missing, e.lanes("erfc", y)), near)
        slope = e.mul(e.const(_SLOPE), exponential(e, e.neg(e.mul(y, y))))
        u = e.div(excess, slope)
        y = e.sub(y, e.div(u, e.fma(y, u, one)))
    beyond = b.select(b.fcmp_ordered("==", size, one), e.const(math.inf), e.const(math.nan))
    y = b.select(b.fcmp_unordered(">=", size, one), beyond, y)
    return e.copysign(y, x)


def reference(x: float) -> float:
    """`error_function_inverse` in Python."""
    size = abs(x)
    if not size < 1.0:
        return math.copysign(math.inf, x) if size == 1.0 else math.nan
    if size < _SMALL:
        y = size / _SLOPE * (1.0 + math.pi / 12.0 * size * size)
    else:
        log = math.log((1.0 - size) * (1.0 + size))
        t = _T + log / 2.0
        y = math.sqrt(math.sqrt(t * t - log / _A) - t)
    for _ in range(_STEPS):
        excess = math.erf(y) - size if size <= 0.5 else (1.0 - size) - math.erfc(y)
        u = excess / (_SLOPE * math.exp(-y * y))
        y -= u / (1.0 + y * u)
    return math.copysign(y, x)


C_SOURCE = f"""\
static double lw_erfinv(double x) {{
  const double size = fabs(x);
  double y;
  int k;
  if (!(size < 1.0)) return size == 1.0 ? copysign(HUGE_VAL, x) : sqrt(-1.0);
  if (size < {_SMALL}) {{
    y = size / {_SLOPE!r} * (1.0 + {math.pi / 12.0!r} * size * size);
  }} else {{
    const double l = log((1.0 - size) * (1.0 + size));
    const double t = {_T!r} + l / 2.0;
    y = sqrt(sqrt(t * t - l / {_A!r}) - t);
  }}
  for (k = 0; k < {_STEPS}; ++k) {{
    const double excess = size <= 0.5 ? erf(y) - size : (1.0 - size) - erfc(y);
    const double u = excess / ({_SLOPE!r} * exp(-y * y));
    y -= u / (1.0 + y * u);
  }}
  return copysign(y, x);
}}
"""
