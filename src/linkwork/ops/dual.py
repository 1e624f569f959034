"""The operations on dual numbers over any back end: derivatives of any text along directions.

A block of this back end is a value and its derivatives along some directions, each known by a key;
a derivative that is zero by structure is left out. A text that is run on such blocks gives its own
derivatives, exactly: by `Duals` over `Duals` also those of second order.

Source: A. Griewank and A. Walther, Evaluating Derivatives, 2nd ed. (2008), section 3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import matmul, mul
from typing import Any, TypeAlias

import numpy as np

from linkwork.ops.protocol import Block, Condition, Ops

Changes: TypeAlias = dict[int, Block]
"""Derivatives by direction, each of the shape of its value."""


class Dual:
    """A value and its derivatives."""

    __slots__ = ("changes", "ops", "value")
    __array_ufunc__ = None  # so that NumPy leaves operators to this class

    def __init__(self, ops: Ops, value: Block, changes: Changes) -> None:
        self.ops, self.value, self.changes = ops, value, changes

    @property
    def shape(self) -> tuple[int, ...]:
        """The value's."""
        return _shape(self.value)

    def _with(self, value: Block, changes: Changes) -> Dual:
        shape = _shape(value)
        if any(_shape(x) != shape for x in changes.values()):
            ones = self.ops.const(np.ones(shape))
            changes = {k: x if _shape(x) == shape else x * ones for k, x in changes.items()}
        return Dual(self.ops, value, changes)

    def __add__(self, other: Block) -> Dual:
        other = _lifted(self.ops, other)
        found = dict(self.changes)
        for k, x in other.changes.items():
            found[k] = found[k] + x if k in found else x
        return self._with(self.value + other.value, found)

    def __radd__(self, other: Block) -> Dual:
        return _lifted(self.ops, other) + self

    def __neg__(self) -> Dual:
        return Dual(self.ops, -self.value, {k: -x for k, x in self.changes.items()})

    def __sub__(self, other: Block) -> Dual:
        other = _lifted(self.ops, other)
        found = dict(self.changes)
        for k, x in other.changes.items():
            found[k] = found[k] - x if k in found else -x
        return self._with(self.value - other.value, found)

    def __rsub__(self, other: Block) -> Dual:
        return _lifted(self.ops, other) - self

    def __mul__(self, other: Block) -> Dual:
        return _product(self.ops, mul, self, other)

    def __rmul__(self, other: Block) -> Dual:
        return _product(self.ops, mul, other, self)

    def __matmul__(self, other: Block) -> Dual:
        return _product(self.ops, matmul, self, other)

    def __rmatmul__(self, other: Block) -> Dual:
        return _product(self.ops, matmul, other, self)

    def __truediv__(self, other: Block) -> Dual:
        other = _lifted(self.ops, other)
        value = self.value / other.value
        found = {k: x / other.value for k, x in self.changes.items()}
        for k, x in other.changes.items():
            part = value * (x / other.value)
            found[k] = found[k] - part if k in found else -part
        return self._with(value, found)

    def __rtruediv__(self, other: Block) -> Dual:
        return _lifted(self.ops, other) / self

    def __getitem__(self, index: Any) -> Dual:
        return Dual(self.ops, self.value[index], {k: x[index] for k, x in self.changes.items()})


def _linear(name: str) -> Callable[..., Dual]:
    """The operation of this name on a block, which is linear in it."""

    def method(self: Duals, x: Block, *where: int) -> Dual:
        function, own = getattr(self.ops, name), self.const(x)
        changes = {k: function(change, *where) for k, change in own.changes.items()}
        return Dual(self.ops, function(own.value, *where), changes)

    return method


def _bilinear(name: str) -> Callable[..., Dual]:
    """The operation of this name on two blocks, which is linear in each."""

    def method(self: Duals, a: Block, b: Block) -> Dual:
        return _product(self.ops, getattr(self.ops, name), a, b)

    return method


def _gathered(name: str) -> Callable[..., Dual]:
    """The operation of this name that puts blocks together."""

    def method(self: Duals, parts: Sequence[Block]) -> Dual:
        function, own = getattr(self.ops, name), [self.const(each) for each in parts]
        found: Changes = {}
        for k in sorted({k for each in own for k in each.changes}):
            found[k] = function([self.change(each, k) for each in own])
        return Dual(self.ops, function([each.value for each in own]), found)

    return method


class Duals:
    """A back end of dual numbers over another one."""

    def __init__(self, ops: Ops) -> None:
        self.ops = ops
        self.name = f"dual {ops.name}"

    def block(self, value: Block, changes: Mapping[int, Block]) -> Dual:
        """A value with these derivatives, blocks of the back end below."""
        return Dual(self.ops, value, dict(changes))

    def change(self, x: Block, direction: int) -> Block:
        """The derivative of a block along a direction, in the back end below."""
        own = self.const(x)
        found = own.changes.get(direction)
        return self.ops.const(np.zeros(own.shape)) if found is None else found

    def const(self, value: Any) -> Dual:
        return _lifted(self.ops, value)

    vector, matrix, concat = map(_gathered, ("vector", "matrix", "concat"))
    part, column, row = map(_linear, ("part", "column", "row"))
    transpose = _linear("transpose")
    dot, cross, outer = map(_bilinear, ("dot", "cross", "outer"))

    def sin(self, x: Block) -> Dual:
        own = self.const(x)
        return _by_slope(own, self.ops.sin(own.value), lambda: self.ops.cos(own.value))

    def cos(self, x: Block) -> Dual:
        own = self.const(x)
        return _by_slope(own, self.ops.cos(own.value), lambda: -self.ops.sin(own.value))

    def atan2(self, y: Block, x: Block) -> Dual:
        a, b = self.const(y), self.const(x)
        if not a.changes and not b.changes:
            return Dual(self.ops, self.ops.atan2(a.value, b.value), {})
        squared = a.value * a.value + b.value * b.value
        over, under = b.value / squared, -(a.value / squared)
        found = {k: over * change for k, change in a.changes.items()}
        for k, change in b.changes.items():
            found[k] = found[k] + under * change if k in found else under * change
        return Dual(self.ops, self.ops.atan2(a.value, b.value), found)

    def sqrt(self, x: Block) -> Dual:
        own = self.const(x)
        root = self.ops.sqrt(own.value)
        return _by_slope(own, root, lambda: 0.5 / root)

    def floor(self, x: Block) -> Dual:
        return Dual(self.ops, self.ops.floor(self.const(x).value), {})

    def absolute(self, x: Block) -> Dual:
        """Absolute value; its derivative at zero is that above."""
        own, o = self.const(x), self.ops
        value = o.absolute(own.value)
        return _by_slope(own, value, lambda: o.select(o.less(own.value, 0.0), -1.0, 1.0))

    def minimum(self, a: Block, b: Block) -> Dual:
        return self.select(self.less(a, b), a, b)

    def maximum(self, a: Block, b: Block) -> Dual:
        return self.select(self.less(a, b), b, a)

    def less(self, a: Block, b: Block) -> Condition:
        return self.ops.less(self.const(a).value, self.const(b).value)

    def both(self, a: Condition, b: Condition) -> Condition:
        return self.ops.both(a, b)

    def either(self, a: Condition, b: Condition) -> Condition:
        return self.ops.either(a, b)

    def negate(self, a: Condition) -> Condition:
        return self.ops.negate(a)

    def select(self, condition: Condition, a: Block, b: Block) -> Dual:
        first, second = self.const(a), self.const(b)
        value = self.ops.select(condition, first.value, second.value)
        found: Changes = {}
        for k in sorted({*first.changes, *second.changes}):
            either = self.change(first, k), self.change(second, k)
            found[k] = self.ops.select(condition, *either)
        return Dual(self.ops, value, found)


def _by_slope(own: Dual, value: Block, slope: Callable[[], Block]) -> Dual:
    if not own.changes:
        return Dual(own.ops, value, {})
    factor = slope()
    return Dual(own.ops, value, {k: factor * x for k, x in own.changes.items()})


def _lifted(ops: Ops, value: Any) -> Dual:
    """A block of the back end ``ops``, or a dual over it, as a dual."""
    if isinstance(value, Dual) and value.ops is ops:
        return value
    return Dual(ops, ops.const(value), {})


def _product(ops: Ops, function: Callable[[Block, Block], Block], a: Block, b: Block) -> Dual:
    """A function of two blocks that is linear in each."""
    first, second = _lifted(ops, a), _lifted(ops, b)
    value = function(first.value, second.value)
    found = {k: function(x, second.value) for k, x in first.changes.items()}
    for k, x in second.changes.items():
        part = function(first.value, x)
        found[k] = found[k] + part if k in found else part
    return Dual(ops, value, found)


def _shape(x: Block) -> tuple[int, ...]:
    """The shape of a block, as its back end counts it."""
    return getattr(x, "shape", ())
