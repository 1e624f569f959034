"""LLVM instructions for scalars or for vectors with one configuration a lane.

One emitter writes both, so every width performs the same roundings. Nothing here is allowed to be
reordered or contracted: multiply-adds are explicit (see graph.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from llvmlite import ir

F64 = ir.DoubleType()
I64 = ir.IntType(64)
I32 = ir.IntType(32)
I1 = ir.IntType(1)
POINTER = F64.as_pointer()

FAR = 1.0e5
"""Beyond this angle (radians) sines and cosines come from the C library, lane by lane."""

_MAGIC = 1.5 * 2.0**52  # adding it rounds to the nearest whole number, kept in the low bits
# pi/2 in parts: the first of each set has enough trailing zeros for its product with a whole number
# below 2**17 to be subtracted exactly, by a fused multiply-add or without one. All parts are
# positive, so that the sine of -0 stays -0.
_HALF_PI_FUSED = (1.5707963267948966, 6.123233995736765e-17, 1.082856673921914e-32)
_HALF_PI_PLAIN = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
# Minimax coefficients of the Cephes library (S. Moshier, netlib.org/cephes, sin.c), |x| <= pi/4.
_SIN = (
    1.58962301576546568060e-10,
    -2.50507477628578072866e-8,
    2.75573136213857245213e-6,
    -1.98412698295895385996e-4,
    8.33333333332211858878e-3,
    -1.66666666666666307295e-1,
)
_COS = (
    -1.13585365213876817300e-11,
    2.08757008419747316778e-9,
    -2.75573141792967388112e-7,
    2.48015872888517045348e-5,
    -1.38888888888730564116e-3,
    4.16666666666665929218e-2,
)


def i64(value: int) -> Any:
    """A 64-bit integer constant."""
    return ir.Constant(I64, value)


class Emitter:
    """Writes arithmetic on values of ``width`` lanes at a builder's position."""

    def __init__(self, builder: Any, width: int, *, fused: bool) -> None:
        self.builder = builder
        self.width = width
        self.fused = fused  # whether the processor has a fused multiply-add
        self.module = builder.module
        self.type: Any = ir.VectorType(F64, width) if width > 1 else F64
        self._sincos: dict[int, tuple[Any, Any, Any]] = {}

    def const(self, value: float) -> Any:
        """The same number in every lane."""
        return ir.Constant(self.type, [value] * self.width if self.width > 1 else value)

    def whole(self, value: int) -> Any:
        """The same 64-bit integer in every lane."""
        kind = ir.VectorType(I64, self.width) if self.width > 1 else I64
        return ir.Constant(kind, [value] * self.width if self.width > 1 else value)

    def external(self, name: str, result: Any, arguments: Sequence[Any]) -> Any:
        """A function declared in this module, once."""
        found = self.module.globals.get(name)
        if found is not None:
            return found
        return ir.Function(self.module, ir.FunctionType(result, list(arguments)), name)

    def intrinsic(self, name: str, *args: Any) -> Any:
        """An LLVM intrinsic on all lanes."""
        suffix = f"v{self.width}f64" if self.width > 1 else "f64"
        function = self.external(f"llvm.{name}.{suffix}", self.type, [self.type] * len(args))
        return self.builder.call(function, args)

    def add(self, a: Any, b: Any) -> Any:
        """a + b."""
        return self.builder.fadd(a, b)

    def sub(self, a: Any, b: Any) -> Any:
        """a - b."""
        return self.builder.fsub(a, b)

    def mul(self, a: Any, b: Any) -> Any:
        """a b."""
        return self.builder.fmul(a, b)

    def div(self, a: Any, b: Any) -> Any:
        """a / b."""
        return self.builder.fdiv(a, b)

    def neg(self, a: Any) -> Any:
        """-a."""
        return self.builder.fneg(a)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """a b + c, rounded once where the processor can."""
        if not self.fused:
            return self.add(self.mul(a, b), c)
        return self.intrinsic("fma", a, b, c)

    def fms(self, a: Any, b: Any, c: Any) -> Any:
        """a b - c."""
        return self.fma(a, b, self.neg(c))

    def fnma(self, a: Any, b: Any, c: Any) -> Any:
        """c - a b."""
        return self.fma(self.neg(a), b, c)

    def _number(self, bit: Any) -> Any:
        return self.builder.select(bit, self.const(1.0), self.const(0.0))

    def _bit(self, a: Any) -> Any:
        return self.builder.fcmp_unordered("!=", a, self.const(0.0))

    def compare(self, relation: str, a: Any, b: Any) -> Any:
        """1 where the relation holds, 0 elsewhere and for NaN."""
        return self._number(self.builder.fcmp_ordered(relation, a, b))

    def differs(self, a: Any, b: Any) -> Any:
        """1 where a is not b, also for NaN."""
        return self._number(self.builder.fcmp_unordered("!=", a, b))

    def negate(self, a: Any) -> Any:
        """1 where a is 0."""
        return self._number(self.builder.fcmp_ordered("==", a, self.const(0.0)))

    def both(self, a: Any, b: Any) -> Any:
        """1 where neither is 0."""
        return self._number(self.builder.and_(self._bit(a), self._bit(b)))

    def either(self, a: Any, b: Any) -> Any:
        """1 where one is not 0."""
        return self._number(self.builder.or_(self._bit(a), self._bit(b)))

    def if_else_zero(self, condition: Any, a: Any) -> Any:
        """A where the condition is not 0, else 0."""
        return self.builder.select(self._bit(condition), a, self.const(0.0))

    def sign(self, a: Any) -> Any:
        """-1, 0 or 1; the number itself for zeros and NaN."""
        b = self.builder
        unit = self.intrinsic("copysign", self.const(1.0), a)
        is_unit = b.fcmp_ordered("!=", a, self.const(0.0))
        return b.select(is_unit, unit, a)

    def polynomial(self, x: Any, coefficients: Sequence[float]) -> Any:
        """Horner's scheme, highest power first."""
        result = self.const(coefficients[0])
        for c in coefficients[1:]:
            result = self.fma(result, x, self.const(c))
        return result

    def lanes(self, name: str, *args: Any) -> Any:
        """A function of the C library, called once a lane."""
        b = self.builder
        function = self.external(f"lw_{name}", F64, [F64] * len(args))
        if self.width == 1:
            return b.call(function, args)
        result: Any = ir.Constant(self.type, ir.Undefined)
        for lane in range(self.width):
            at = ir.Constant(I32, lane)
            value = b.call(function, [b.extract_element(a, at) for a in args])
            result = b.insert_element(result, value, at)
        return result

    def sincos(self, x: Any) -> tuple[Any, Any]:
        """Sine and cosine of an angle in radians; computed once for each value."""
        known = self._sincos.get(id(x))
        if known is None:
            near = self._sincos_near(x)
            sine, cosine = self._or_far(x, *near)
            known = self._sincos[id(x)] = (sine, cosine, x)  # x is kept: its id stays taken
        return known[0], known[1]

    def _sincos_near(self, x: Any) -> tuple[Any, Any]:
        """Reduction to |r| <= pi/4 by parts of pi/2, then two polynomials.

        x - k P1 is exact: Boldo, Daumas, Li, "Formally verified argument reduction with a fused
        multiply-add" (2009); Cody and Waite, "Software manual for the elementary functions" (1980).
        """
        b = self.builder
        shifted = self.fma(x, self.const(2.0 / math.pi), self.const(_MAGIC))
        k = self.sub(shifted, self.const(_MAGIC))
        r = x
        for part in _HALF_PI_FUSED if self.fused else _HALF_PI_PLAIN:
            r = self.fnma(k, self.const(part), r)
        z = self.mul(r, r)
        correction = self.fma(self.polynomial(z, _SIN), z, self.const(0.0))  # +0 at r = -0
        sine = self.fma(correction, r, r)
        head = self.fma(z, self.const(-0.5), self.const(1.0))
        cosine = self.fma(self.mul(z, z), self.polynomial(z, _COS), head)
        kind: Any = ir.VectorType(I64, self.width) if self.width > 1 else I64
        quadrant = b.bitcast(shifted, kind)
        odd = b.icmp_unsigned("!=", b.and_(quadrant, self.whole(1)), self.whole(0))

        def signed(value: Any, turn: Any) -> Any:
            flip = b.shl(b.and_(turn, self.whole(2)), self.whole(62))
            return b.bitcast(b.xor(b.bitcast(value, kind), flip), self.type)

        return (
            signed(b.select(odd, cosine, sine), quadrant),
            signed(b.select(odd, sine, cosine), b.add(quadrant, self.whole(1))),
        )

    def any_lane(self, bits: Any) -> Any:
        """Whether a condition holds in at least one lane."""
        if self.width == 1:
            return bits
        kind = ir.IntType(self.width)
        return self.builder.icmp_unsigned(
            "!=", self.builder.bitcast(bits, kind), ir.Constant(kind, 0)
        )

    def _or_far(self, x: Any, sine: Any, cosine: Any) -> tuple[Any, Any]:
        """The same, but from the C library in lanes whose angle is too large for the reduction."""
        b = self.builder
        far = b.fcmp_ordered(">", self.intrinsic("fabs", x), self.const(FAR))
        here = b.block
        with b.if_then(self.any_lane(far), likely=False):
            slow_sine = b.select(far, self.lanes("sin", x), sine)
            slow_cosine = b.select(far, self.lanes("cos", x), cosine)
            there = b.block
        chosen: list[Any] = []
        for fast, slow in ((sine, slow_sine), (cosine, slow_cosine)):
            phi = b.phi(self.type)
            phi.add_incoming(fast, here)
            phi.add_incoming(slow, there)
            chosen.append(phi)
        return chosen[0], chosen[1]
