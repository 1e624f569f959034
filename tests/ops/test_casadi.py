"""CasADi's back end: what is structurally zero costs nothing, and tracing is quick."""

from __future__ import annotations

import time

import casadi as ca
import numpy as np
import pytest

from linkwork.ops.casadi import CASADI as o
from linkwork.spatial import poses, rotations
from seeds import rng


def instructions(inputs, *outputs) -> int:
    """How many operations a graph has, inputs and outputs not counted."""
    f = ca.Function("f", [inputs], [ca.cse(ca.vertcat(*(ca.vec(x) for x in outputs)))])
    io = (ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST)
    return sum(f.instruction_id(k) not in io for k in range(f.n_instructions()))


@pytest.mark.parametrize(
    ("value", "nonzeros"),
    [(0.0, 0), (-0.0, 0), (2.0, 1), (np.eye(3), 3), ([0, 1, 0], 1), (np.zeros((2, 3)), 0)],
)
def test_zeros_of_a_constant_are_left_out(value, nonzeros: int):
    block = o.const(value)
    assert isinstance(block, ca.SX) and block.nnz() == nonzeros


def test_tiny_numbers_and_nan_are_no_zeros():
    assert o.const([5e-324, 0.0, np.nan]).nnz() == 2
    assert np.isnan(float(o.const(float("nan"))))
    assert float(o.const(np.inf)) == np.inf


def test_every_bit_of_a_constant_is_kept():
    values = rng("bits").normal(size=(4, 5)) * 10.0 ** rng("scales").integers(-300, 300, (4, 5))
    assert np.array_equal(ca.DM(o.const(values)).full(), values)
    assert np.array_equal(ca.DM(o.const(values[0])).full()[:, 0], values[0])


def test_equal_constants_are_one_object_and_different_shapes_are_not():
    assert o.const(np.eye(3)) is o.const(np.eye(3))
    assert o.const(1.5) is o.const(np.float64(1.5))
    assert o.const(np.arange(4.0)).shape == (4, 1)
    assert o.const(np.arange(4.0).reshape(2, 2)).shape == (2, 2)
    # an array that is not contiguous, and one in the other order
    assert np.array_equal(ca.DM(o.const(np.arange(4.0).reshape(2, 2).T)).full(), [[0, 2], [1, 3]])
    assert np.array_equal(ca.DM(o.const(np.arange(6.0)[::2])).full()[:, 0], [0, 2, 4])


def test_a_block_passes_through_unchanged():
    x = ca.SX.sym("x", 3)
    assert o.const(x) is x


def test_products_skip_zeros_and_ones():
    q = ca.SX.sym("q", 3)
    assert instructions(q, o.const(np.eye(3)) @ q) == 0
    assert instructions(q, o.dot(o.const([0, 0, 1]), q)) == 0
    assert instructions(q, o.cross(o.const([0, 0, 1]), q)) == 1  # one change of sign
    assert instructions(q, o.outer(o.const([0, 1, 0]), q)) == 0
    assert instructions(q, 1.0 * q[0] + 0.0 * q[1]) == 0
    turn = rotations.rotation_z(o, q[0])
    assert instructions(q, turn) == 3  # sin, cos, -sin
    # a quarter turn about x before it only moves entries
    quarter = o.const([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    assert instructions(q, quarter @ turn) == 3
    assert instructions(q, poses.compose(o, poses.identity(o), poses.Pose(turn, q)).p) == 0


def test_vectors_keep_structural_zeros():
    s = ca.SX.sym("s")
    assert o.vector([s, 0.0, o.const(0.0)]).nnz() == 1
    assert o.vector([0.0, s, s, 0.0]).nnz() == 2
    assert o.vector([0.0] * 20 + [s]).nnz() == 1
    assert o.matrix([o.const([0, 0, 1]), o.vector([s, 0.0, 0.0])]).nnz() == 2
    assert o.concat([o.const([0, 1]), o.const([0.0])]).nnz() == 1


def test_a_choice_between_numbers_folds():
    assert float(o.select(o.less(1.0, 2.0), 3.0, 4.0)) == 3.0
    assert float(o.select(o.negate(o.less(o.const(0.0), 2.0)), 3.0, 4.0)) == 4.0
    x = ca.SX.sym("x")
    assert instructions(x, o.select(o.less(o.const(0.0), 1.0), x, x * x)) == 0


def test_the_unused_side_of_a_choice_may_be_infinite_in_value():
    x = ca.SX.sym("x")
    f = ca.Function("f", [x], [o.select(o.less(x, 0.0), 1.0, 1.0 / x)])
    assert float(f(-1.0)) == 1.0
    g = ca.Function("g", [x], [o.select(o.less(0.0, x), o.sqrt(x), 2.0)])
    assert float(g(-1.0)) == 2.0


def test_derivatives_pass_through_choices_and_bounds():
    x = ca.SX.sym("x")
    y = o.select(o.less(x, 1.0), o.sin(x), o.minimum(x, 3.0) * o.maximum(x, 2.0))
    slope = ca.Function("slope", [x], [ca.jacobian(y, x)])
    for at, expected in [(0.5, np.cos(0.5)), (1.5, 2.0), (2.5, 5.0), (4.0, 3.0)]:
        assert float(slope(at)) == pytest.approx(expected, abs=1e-15)


def test_a_chain_of_ten_thousand_links_is_traced_without_delay():
    # it takes about 1.5 s; the limit only tells seconds from a cost that grows with the square
    n, generator = 10_000, rng("chain")
    turns = [rotations.align_z(a) for a in generator.normal(size=(n, 3))]
    offsets = generator.normal(size=(n, 3))
    q = ca.SX.sym("q", n)
    start = time.perf_counter()
    pose = poses.identity(o)
    for i in range(n):
        pose = poses.compose(o, pose, poses.Pose(o.const(turns[i]), o.const(offsets[i])))
        pose = poses.Pose(pose.R @ rotations.rotation_z(o, q[i]), pose.p)
    assert time.perf_counter() - start < 30
    assert pose.R.shape == (3, 3)
