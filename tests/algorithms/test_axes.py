"""Axes carried as columns and a signed permutation mean the rotation matrices they stand for."""

from __future__ import annotations

import itertools

import casadi as cs
import numpy as np
import pytest

from linkwork.algorithms import axes as ax
from linkwork.ops.graph import GraphOps
from linkwork.ops.numpy import NUMPY
from linkwork.spatial.rotations import from_rpy, rotation_z
from seeds import rng

PERMUTATIONS = [
    np.eye(3)[list(order)] * np.array(signs)
    for order in itertools.permutations(range(3))
    for signs in itertools.product((1.0, -1.0), repeat=3)
]
TURNS = [R for R in PERMUTATIONS if np.linalg.det(R) > 0]


def start(seed: str) -> tuple[ax.Axes, np.ndarray]:
    """Axes that are not the reference's, and their matrix."""
    R = from_rpy(NUMPY, rng(seed).uniform(-3, 3, 3))
    return ax.placed(NUMPY, ax.reference_axes(NUMPY), R), R


def test_there_are_24_turns_that_permute_axes():
    assert len(TURNS) == 24


@pytest.mark.parametrize("k", range(24))
def test_a_permutation_costs_nothing_and_is_exact(k: int):
    before, R = start("permutation")
    after = ax.placed(NUMPY, before, TURNS[k].tolist())
    assert after.columns is before.columns
    assert np.array_equal(ax.matrix(NUMPY, after), R @ TURNS[k])


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("wanted", list(itertools.product((-1, 0, 1), repeat=2)))
def test_turning_after_every_permutation(backwards: bool, wanted: tuple[int, int]):
    before, R = start("turn")
    angle = 0.7
    for P in TURNS:
        swapped = ax.placed(NUMPY, before, P.tolist())
        after = ax.turned(swapped, np.cos(angle), np.sin(angle), backwards=backwards, wanted=wanted)
        expected = R @ P @ rotation_z(NUMPY, -angle if backwards else angle)
        np.testing.assert_allclose(ax.matrix(NUMPY, after), expected, rtol=0, atol=4e-16)
        # of x and y, one gets the sign that is wanted whatever the permutation
        if 0 not in wanted:
            assert any(after.sign[j] == wanted[j] for j in (0, 1))


def test_wanted_signs_are_those_that_need_no_negation():
    for P in TURNS:
        sx, sy = ax.wanted_signs(P.tolist())
        for j in range(3):
            k = int(np.argmax(np.abs(P[:, j])))
            if k < 2:
                assert (sx, sy)[k] == P[k, j]
    assert ax.wanted_signs(from_rpy(NUMPY, np.array([0.1, 0.2, 0.3])).tolist()) == (0, 0)
    assert ax.wanted_signs(np.diag([1.0, -1.0, -1.0]).tolist(), axes=(2,)) == (0, 0)


def test_a_turn_has_no_negation_in_a_graph():
    for P in TURNS:
        o = GraphOps()
        q, *columns = (o.input(which, size) for which, size in enumerate((2, 3, 3, 3)))
        axes = ax.Axes((columns[0], columns[1], columns[2]))
        for k in range(2):
            axes = ax.turned(ax.placed(o, axes, P.tolist()), o.cos(q[k]), o.sin(q[k]))
        order = o.graph.needed([column.numbers for column in axes.columns])
        names = [o.graph.operations[k] for k in order]
        # two turns about one axis are two columns of 18 operations each; else one is dead by then
        assert names.count("NEG") == 0
        assert sum(names.count(name) for name in ("MUL", "ADD", "SUB")) == 36


def test_inexact_rotations_and_blocks():
    before, R = start("inexact")
    turn = from_rpy(NUMPY, np.array([0.1, 0.0, 0.4]))
    for P in TURNS:
        swapped = ax.placed(NUMPY, before, P.tolist())
        for after in (ax.placed(NUMPY, swapped, turn.tolist()), ax.rotated(NUMPY, swapped, turn)):
            np.testing.assert_allclose(ax.matrix(NUMPY, after), R @ P @ turn, rtol=0, atol=4e-16)


def test_vectors_in_axes():
    before, R = start("vector")
    for P in TURNS:
        axes = ax.placed(NUMPY, before, P.tolist())
        for local in ([0.0, -2.0, 0.0], [1.0, 0.0, -1.0], [0.3, -0.4, 0.5], [0.0, 0.0, 1.0]):
            expected = R @ P @ np.array(local)
            np.testing.assert_allclose(ax.in_axes(axes, local), expected, rtol=0, atol=4e-16)
        assert ax.in_axes(axes, [0.0, -0.0, 0.0]) is None
        for j in range(3):
            column, sign = ax.signed_axis(axes, j)
            assert np.array_equal(sign * column, ax.axis(axes, j))
            assert np.array_equal(ax.axis(axes, j), (R @ P)[:, j])


def test_a_block_is_no_constant_whatever_its_value():
    before, R = start("blocks")
    for P in TURNS:
        assert ax.signed_permutation(P) is None and ax.wanted_signs(P) == (0, 0)
        after = ax.placed(NUMPY, before, P)
        np.testing.assert_allclose(ax.matrix(NUMPY, after), R @ P, rtol=0, atol=4e-16)
        assert after.which == (0, 1, 2) and after.sign == (1, 1, 1)
        assert np.array_equal(ax.transposed(NUMPY, P), P.T)
        assert ax.transposed(NUMPY, P.tolist()) == P.T.tolist()


def test_sums_and_products_of_constants_and_blocks():
    x, y = cs.SX.sym("x"), cs.SX.sym("y")
    assert ax.times(0.0, x) == 0.0 and type(ax.times(x, -0.0)) is float
    assert ax.times(1.0, x) is x and ax.times(x, 1.0) is x and ax.times(2.0, 3.0) == 6.0
    assert ax.added(0.0, x) is x and ax.added(x, 0.0) is x
    assert ax.total([]) == 0.0 and ax.total([1.0, 2.0]) == 3.0
    # constants meet first, so they become one
    assert str(ax.total([1.0, x, 2.0, y])) == str(3.0 + x + y)
    assert ax.all_constant([1.0, -0.0]) and not ax.all_constant([1.0, np.float64(0)])
    R = from_rpy(NUMPY, np.array([0.3, -0.2, 0.9]))
    local = [0.1, np.float64(0.2), 0.3]
    for form in (R, R.tolist()):
        np.testing.assert_allclose(ax.applied(form, local), R @ local, rtol=0, atol=2e-16)
    assert ax.applied(R, [0.0, -0.0, 0.0]) == [0.0, 0.0, 0.0]


def test_only_constants_count_as_zero():
    # a block that happens to be zero must leave the structure as it is
    assert ax.is_zero(0.0) and ax.is_zero(-0.0)
    assert not ax.is_zero(np.float64(0.0))
    assert not ax.is_zero(cs.SX(0))
    assert not ax.is_constant(np.float64(1.0), 1.0)


@pytest.mark.parametrize("P", PERMUTATIONS[:6])
def test_signed_permutations_are_recognised(P: np.ndarray):
    found = ax.signed_permutation(P.tolist())
    assert found is not None
    rebuilt = np.zeros((3, 3))
    for j, (k, sign) in enumerate(zip(*found, strict=True)):
        rebuilt[k, j] = sign
    assert np.array_equal(rebuilt, P)
    near = P + 0.0
    near[0, 0] += 1e-17 if near[0, 0] == 0 else 3e-16
    assert ax.signed_permutation(near.tolist()) is None
