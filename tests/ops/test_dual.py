"""Dual numbers: values as NumPy has them, derivatives as finite differences do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from backends import run
from linkwork.ops.dual import Dual, Duals
from linkwork.ops.numpy import NUMPY
from linkwork.ops.protocol import Block, Ops
from seeds import rng

TEXTS: dict[str, Callable[[Ops, Block], Block]] = {
    "sums": lambda o, x: o.vector([x[0] + x[1] - 2.0, 3.0 - x[2], 1 + x[0], -x[1], x[0] - x[2]]),
    "products": lambda o, x: o.vector([x[0] * x[1], 2.0 * x[2], x[1] * 0.5]),
    "quotients": lambda o, x: o.vector([x[0] / x[1], 2.0 / x[2], x[1] / 0.5]),
    "blocks": lambda o, x: x[0] * o.part(x, 1, 3) + o.part(x, 0, 2) / x[2],
    "lone scalars beside blocks": lambda o, x: o.const([1.0, 2.0]) + x[0],
    "matrices": lambda o, x: o.matrix([x, o.const([1.0, 2.0, 3.0])]) @ o.part(x, 0, 2),
    "constants times": lambda o, x: o.const(np.arange(9.0).reshape(3, 3)) @ x,
    "parts": lambda o, x: o.concat([o.column(o.outer(x, x), 1), o.row(o.outer(x, x), 2)]),
    "transposed": lambda o, x: o.transpose(o.matrix([x, x[0] * x])) @ x,
    "entries": lambda o, x: o.vector([o.outer(x, x)[0, 2], o.dot(x, x)]),
    "cross": lambda o, x: o.cross(x, o.vector([x[1], 1.0, x[0]])),
    "functions": lambda o, x: o.vector([o.sin(x[0]), o.cos(x[1]), o.sqrt(x[2])]),
    "angles": lambda o, x: o.vector([o.atan2(x[0], x[1]), o.atan2(1.0, x[2]), o.atan2(x[0], 2.0)]),
    "corners": lambda o, x: o.vector([o.floor(x[0]), o.absolute(-x[1]), o.minimum(x[0], x[1]),
                                      o.maximum(x[0], 0.1), o.absolute(x[2])]),
    "choices": lambda o, x: o.select(
        o.both(o.less(x[0], x[1]), o.negate(o.either(o.less(x[2], 0.0), o.less(x[1], x[0])))),
        o.part(x, 0, 2), o.const([1.0, 2.0])),
}  # fmt: skip


def on_duals(o: Ops, text: Callable[[Ops, Block], Block], x: Block, n: int) -> Dual:
    d = Duals(o)
    units = np.eye(n)
    return d.const(text(d, d.block(x, {k: o.const(units[k]) for k in range(n)})))


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("turned", [False, True])
def test_values_and_derivatives(name: str, turned: bool):
    text, h = TEXTS[name], 1e-5
    x = rng(f"dual {name}").uniform(0.3, 0.9, 3)
    x = np.array([x.max(), x.min(), x.mean()]) if turned else np.sort(x)
    found = on_duals(NUMPY, text, x, 3)
    np.testing.assert_array_equal(found.value, text(NUMPY, x))
    for k, step in enumerate(h * np.eye(3)):
        expected = (np.asarray(text(NUMPY, x + step)) - text(NUMPY, x - step)) / (2 * h)
        change = found.changes.get(k, np.zeros(found.shape))
        assert np.shape(change) == np.shape(found.value)
        np.testing.assert_allclose(change, expected, atol=1e-9)


@pytest.mark.parametrize("name", TEXTS)
def test_the_same_on_graphs(name: str):
    x = rng(f"dual graph {name}").uniform(0.3, 0.9, 3)

    def parts(o: Ops, x: Block) -> list[Block]:
        found = on_duals(o, TEXTS[name], x, 3)
        return [found.value, *(Duals(o).change(found, k) for k in range(3))]

    for found, expected in zip(run("graph", parts, x), parts(NUMPY, x), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-14)


def test_second_derivatives_by_duals_over_duals():
    def text(o: Ops, x: Block) -> Block:
        return o.sin(x * x) / (1.0 + x)

    x, h = 0.7, 1e-4
    outer = Duals(Duals(NUMPY))
    inner = outer.ops
    at = outer.block(inner.block(np.float64(x), {0: np.float64(1.0)}), {0: inner.const(1.0)})
    second = inner.change(outer.change(text(outer, at), 0), 0)
    ups = [text(NUMPY, np.float64(x + k * h)) for k in (-1, 0, 1)]
    assert second == pytest.approx((ups[0] - 2 * ups[1] + ups[2]) / h**2, rel=1e-6)


def test_what_does_not_change_costs_nothing():
    d = Duals(NUMPY)
    found = d.sin(d.const(1.0)) * d.const([1.0, 2.0])
    assert isinstance(found, Dual) and not found.changes
    np.testing.assert_array_equal(d.change(found, 5), np.zeros(2))
    x = d.block(np.float64(2.0), {3: np.float64(1.0)})
    assert d.floor(x).changes == {} and not d.atan2(1.0, 2.0).changes
