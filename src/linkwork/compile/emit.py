"""LLVM instructions for scalars or for vectors with one configuration a lane.

One emitter writes both, so every width performs the same roundings. Nothing here is allowed to be
reordered or contracted: multiply-adds are explicit (see graph.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

F64 = ir.DoubleType()
F32 = ir.FloatType()
I64 = ir.IntType(64)
I32 = ir.IntType(32)
I8 = ir.IntType(8)
I1 = ir.IntType(1)
POINTER = F64.as_pointer()


def i64(value: int) -> Any:
    """A 64-bit integer constant."""
    return ir.Constant(I64, value)


def counted_loop(
    b: Any, count: Any, body: Callable[..., Any], carried: Sequence[Any] = ()
) -> list[Any]:
    """Write ``for k in range(count): carried = body(k, *carried)``; a count of at least 1.

    The result is what the last turn carries on.
    """
    before, head, after = b.block, b.append_basic_block(), b.append_basic_block()
    b.branch(head)
    b.position_at_end(head)
    phis = [b.phi(I64), *[b.phi(value.type) for value in carried]]
    results = body(*phis)
    results = list(results) if carried else []
    following = b.add(phis[0], i64(1))
    for phi, first, later in zip(phis, [i64(0), *carried], [following, *results], strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(later, b.block)
    b.cbranch(b.icmp_signed("<", following, count), head, after)
    b.position_at_end(after)
    return results


def each_bit(b: Any, mask: Any, body: Callable[[Any], None]) -> None:
    """Write ``body(k)`` for each bit of a mask that is not 0, lowest first."""
    before, head, after = b.block, b.append_basic_block(), b.append_basic_block()
    b.branch(head)
    b.position_at_end(head)
    left = b.phi(I64)
    left.add_incoming(mask, before)
    body(b.cttz(left, ir.Constant(I1, 1)))
    rest = b.and_(left, b.sub(left, i64(1)))
    left.add_incoming(rest, b.block)
    b.cbranch(b.icmp_signed("!=", rest, i64(0)), head, after)
    b.position_at_end(after)


class Emitter:
    """Writes arithmetic on values of ``width`` lanes at a builder's position.

    ``real`` is the type of the numbers, F64 or F32: constants are rounded to it.
    """

    def __init__(self, builder: Any, width: int, *, fused: bool, real: Any = F64) -> None:
        self.builder = builder
        self.width = width
        self.fused = fused  # whether the processor has a fused multiply-add
        self.real = real
        self.n_bits = 64 if real == F64 else 32
        self.sign_bit = -(2 ** (self.n_bits - 1))  # of a number, as an integer of its bits
        self.module = builder.module
        whole = ir.IntType(self.n_bits)
        self.type: Any = ir.VectorType(real, width) if width > 1 else real
        self.whole_type: Any = ir.VectorType(whole, width) if width > 1 else whole
        self._known: dict[tuple[str, int], tuple[Any, Any]] = {}

    def at(self, builder: Any) -> Emitter:
        """Another one like this, at the position of another builder."""
        return Emitter(builder, self.width, fused=self.fused, real=self.real)

    # Constants, and what the module declares

    def const(self, value: float) -> Any:
        """The same number in every lane."""
        return ir.Constant(self.type, [value] * self.width if self.width > 1 else value)

    def whole(self, value: int) -> Any:
        """The same integer of the bits of a number in every lane."""
        return ir.Constant(self.whole_type, [value] * self.width if self.width > 1 else value)

    def external(self, name: str, result: Any, arguments: Sequence[Any]) -> Any:
        """A function declared in this module, once."""
        found = self.module.globals.get(name)
        if found is not None:
            return found
        return ir.Function(self.module, ir.FunctionType(result, list(arguments)), name)

    def intrinsic(self, name: str, *args: Any) -> Any:
        """An LLVM intrinsic on all lanes."""
        suffix = f"f{self.n_bits}" if self.width == 1 else f"v{self.width}f{self.n_bits}"
        function = self.external(f"llvm.{name}.{suffix}", self.type, [self.type] * len(args))
        return self.builder.call(function, args)

    def once(self, name: str, x: Any, make: Callable[[], Any]) -> Any:
        """The value that ``make`` writes, at its first use only."""
        known = self._known.get((name, id(x)))
        if known is None:
            known = self._known[name, id(x)] = (make(), x)  # x is kept: its id stays taken
        return known[0]

    # Arithmetic, each operation rounded once

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

    def sqrt(self, a: Any) -> Any:
        """The square root."""
        return self.intrinsic("sqrt", a)

    def fabs(self, a: Any) -> Any:
        """The absolute value."""
        return self.intrinsic("fabs", a)

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

    def polynomial(self, x: Any, coefficients: Sequence[float]) -> Any:
        """Horner's scheme, highest power first."""
        result = self.const(coefficients[0])
        for c in coefficients[1:]:
            result = self.fma(result, x, self.const(c))
        return result

    # Bits of numbers

    def bits(self, a: Any) -> Any:
        """The bits of each number."""
        return self.builder.bitcast(a, self.whole_type)

    def number(self, bits: Any) -> Any:
        """The numbers that have these bits."""
        return self.builder.bitcast(bits, self.type)

    def flip_sign(self, a: Any, bits: Any) -> Any:
        """A with the opposite sign where the highest bit of ``bits`` is set."""
        b = self.builder
        sign = b.and_(bits, self.whole(self.sign_bit))
        return self.number(b.xor(self.bits(a), sign))

    # What only the C library knows, and what is rarely needed

    def lanes(self, name: str, *args: Any) -> Any:
        """A function of the C library, called once a lane, on float64 numbers always."""
        function = self.external(f"lw_{name}", F64, [F64] * len(args))
        if self.width > 1 or self.real != F64:
            function = self._each_lane(name, function, len(args))
        return self.builder.call(function, args)

    def _each_lane(self, name: str, function: Any, arity: int) -> Any:
        """The function on vectors: written once a module, out of the way of the fast code."""
        full = f"lw.{name}.v{self.width}f{self.n_bits}"
        found = self.module.globals.get(full)
        if found is not None:
            return found
        kind = ir.FunctionType(self.type, [self.type] * arity)
        each = ir.Function(self.module, kind, full)
        each.linkage = "internal"
        each.attributes.add("noinline")
        b = ir.IRBuilder(each.append_basic_block("entry"))
        result: Any = ir.Constant(self.type, ir.Undefined)
        for lane in range(self.width):
            at = ir.Constant(I32, lane)
            vectors = self.width > 1
            own = [b.extract_element(a, at) for a in each.args] if vectors else each.args
            value = b.call(function, [b.fpext(x, F64) for x in own])
            value = b.fptrunc(value, self.real)
            result = b.insert_element(result, value, at) if vectors else value
        b.ret(result)
        return each

    def any_lane(self, bits: Any) -> Any:
        """Whether a condition holds in at least one lane."""
        if self.width == 1:
            return bits
        kind = ir.IntType(self.width)
        return self.builder.icmp_unsigned(
            "!=", self.builder.bitcast(bits, kind), ir.Constant(kind, 0)
        )

    def rarely(self, bits: Any, fast: Sequence[Any], slow: Callable[[], Sequence[Any]]) -> Any:
        """``fast``, but what ``slow`` writes in the lanes whose bit is set.

        The slow code is jumped over while no lane needs it.
        """
        b = self.builder
        here = b.block
        with b.if_then(self.any_lane(bits), likely=False):
            merged = [b.select(bits, s, f) for s, f in zip(slow(), fast, strict=True)]
            there = b.block
        chosen: list[Any] = []
        for value, other in zip(fast, merged, strict=True):
            phi = b.phi(self.type)
            phi.add_incoming(value, here)
            phi.add_incoming(other, there)
            chosen.append(phi)
        return chosen
