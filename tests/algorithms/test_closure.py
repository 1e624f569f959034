"""The closure of loops and couplings, and how it moves."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
import linkwork as lw
from closed_dynamics_cases import closed_case
from closed_robots import FREE, closing, with_every_kind
from linkwork.algorithms.closure import (
    acceleration_bias,
    closure,
    closure_bias,
    closure_jacobian,
    closure_parts,
    closure_rates,
    closure_rows,
    meeting_body,
)
from linkwork.mechanism.edit import close
from linkwork.ops.numpy import NUMPY
from seeds import rng


@pytest.mark.sweep(1)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_it_is_zero_where_it_is_assembled(base):
    robot = with_every_kind(base)
    assert np.abs(closure(NUMPY, robot.mechanism, robot.at)).max() < 1e-14
    assert np.abs(robot.closure(robot.at)).max() < 1e-14


def test_the_jacobian_is_the_derivative_there():
    robot = with_every_kind()
    m, q, h = robot.mechanism, robot.at, 1e-6
    J = closure_jacobian(NUMPY, m, q)
    assert J.shape == (closure(NUMPY, m, q).shape[0], m.n_v)
    for k, step in enumerate(h * np.eye(m.n_v)):
        low, high = (robot.closure(robot.integrate(q, x)) for x in (-step, step))
        np.testing.assert_allclose(J[:, k], (high - low) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(robot.closure_jacobian(q), J, atol=1e-13)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("kind", FREE)
def test_rows_are_those_of_frame_b_in_frame_a(kind):
    robot = lw.load("two_arm_torso")
    q = robot.random(seed=rng("rows"))
    robot = closing(robot, q, ("left_tool0", "right_tool0"), kind)
    loop = robot.loops[0]
    near = robot.integrate(q, 1e-3 * rng("rows near").normal(size=robot.n_v))
    T = measures.back(robot.fk(near, loop.frame_a)) @ robot.fk(near, loop.frame_b)
    found = dict(zip(loop.row_names, robot.closure(near), strict=True))
    for k, axis in enumerate("xyz"):
        if f"position {axis}" in found:
            assert found[f"position {axis}"] == pytest.approx(T[k, 3], abs=1e-12)
    if "distance" in found:
        assert found["distance"] == pytest.approx(np.linalg.norm(T[:3, 3]) - loop.distance)
    if "rotation across" in found:
        assert found["rotation across"] == pytest.approx(T[2, 0], abs=1e-12)
    turns = [name for name in found if name in ("rotation x", "rotation y", "rotation z")]
    if len(turns) == 3:
        vector = 0.5 * np.array([T[2, 1] - T[1, 2], T[0, 2] - T[2, 0], T[1, 0] - T[0, 1]])
        np.testing.assert_allclose([found[name] for name in turns], vector, rtol=1e-4, atol=1e-9)
    if len(turns) == 2:
        free = next(k for k in range(3) if f"rotation {'xyz'[k]}" not in found)
        across = np.cross(np.eye(3)[free], T[:3, free])
        for name in turns:
            assert found[name] == pytest.approx(across["xyz".index(name[-1])], rel=1e-4, abs=1e-9)


def test_what_carries_a_loop_does_not_matter():
    m = lw.load("humanoid", base="floating").mechanism
    m = close(m, "left_hand", "left_foot")
    part = closure_parts(m)[0]
    names = {m.joint_names[c] for c in part.coordinates}
    assert not any(name.startswith("right") for name in names)
    assert m.joint_names[0] not in names  # the floating base
    two = lw.load("two_arm_torso").mechanism
    two = close(two, "left_tool0", "right_tool0")
    names = {two.joint_names[c] for c in closure_parts(two)[0].coordinates}
    assert len(names) == 14 and meeting_body(two, two.loops[0]) > 0
    assert all(name.startswith(("left_", "right_")) for name in names)


def test_both_forms_are_closed_together():
    robot = with_every_kind()
    q = robot.integrate(robot.at, 0.2 * np.ones(robot.n_v))
    for own, named in zip(
        closure_parts(robot.mechanism),
        closure_parts(robot.mechanism, in_frame_a=True),
        strict=True,
    ):
        a, b = own.residual(NUMPY, q), named.residual(NUMPY, q)
        np.testing.assert_allclose(a.squared, b.squared, rtol=1e-9)
        assert own.row_names == named.row_names and own.groups == named.groups


NAMES = ("excavator", "pose, floating", "universal, fixed", "couplings", "everything")


@pytest.mark.parametrize("name", NAMES)
def test_rates_are_the_jacobian_times_v(name: str):
    case = closed_case(name)
    m, q, v = case.m, case.q[0], case.every[0]
    rows = closure_rows(NUMPY, m, q)
    expected = [sum(x * v[k] for k, x in row.items()) for row in rows]
    np.testing.assert_allclose(closure_rates(NUMPY, m, q, v), expected, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_biases_off_the_loops_are_those_of_the_text(name: str):
    case, h = closed_case(name), 1e-6
    m, v = case.m, case.every[0]
    q = case.robot.integrate(case.q[0], 0.1 * v)  # not assembled
    up, down = (case.robot.integrate(q, step * v) for step in (h, -h))
    change = closure_jacobian(NUMPY, m, up) - closure_jacobian(NUMPY, m, down)
    np.testing.assert_allclose(closure_bias(NUMPY, m, q, v), change @ v / (2 * h), atol=1e-7)


def test_other_axes_have_the_same_length_where_assembled():
    case = closed_case("position, fixed")
    m, q, v = case.m, case.q[0], case.v[0]
    sizes = [np.linalg.norm(text(NUMPY, m, q, v)) for text in (closure_bias, acceleration_bias)]
    assert sizes[0] == pytest.approx(sizes[1], rel=1e-9)
