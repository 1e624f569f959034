"""How many rows of a closure are independent: Bennett's linkage, change points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from closed_models import bennett, bennett_angle, parallelogram, swung
from dynamics_cases import solid
from linkwork.algorithms.closure import row_scales
from linkwork.algorithms.independent_rows import (
    change_points,
    check_movable,
    column_scales,
    row_groups,
)
from linkwork.errors import InputError
from linkwork.mechanism.model import JointType
from robots import chain_urdf, mechanism_from

SIZES = (1e-6, 1.0, 1e4)


def tree_of(robot: Any) -> Any:
    return lw.Robot(replace(robot.mechanism, loops=(), couplings=(), actuated=()))


@pytest.mark.parametrize("size", SIZES)
def test_a_bennett_linkage_has_two_rows(size: float):
    m = bennett(size).mechanism
    assert [group.rank for group in row_groups(m)] == [2]


def test_rows_that_are_zero_by_structure_are_left_out():
    assert [(g.rows, g.rank) for g in row_groups(parallelogram())] == [((0, 2), 2)]
    stewart = lw.load("stewart").mechanism
    assert [(len(g.rows), g.rank) for g in row_groups(stewart)] == [(3, 3)] * 6


def test_columns_are_compared_in_lengths_only_where_a_joint_slides():
    robot = bennett(10.0)
    for type, slides in (
        (JointType.SPHERICAL, [0, 0, 0]),
        (JointType.PRISMATIC, [1]),
        (JointType.PLANAR, [1, 1, 0]),
        (JointType.FLOATING, [1, 1, 1, 0, 0, 0]),
    ):
        m = replace(robot.mechanism, joint_types=(type, *robot.mechanism.joint_types[1:]))
        unlike = (column_scales(m) != 1.0).astype(int)
        assert unlike.tolist() == [*slides, 0, 0], type


@pytest.mark.parametrize("size", SIZES)
def test_a_bennett_linkage_moves_as_its_closed_form_and_by_the_least_forces(size: float):
    robot = bennett(size)
    tree = tree_of(robot)
    scales = np.array(row_scales(robot.mechanism))
    for angle in (0.3, 1.5, 2.5):
        q = robot.assemble([angle]).q
        np.testing.assert_allclose(q, [angle, bennett_angle(angle), -angle], atol=1e-11)
        rates = robot.passive_rates(q)[:, 0]
        v, tau, g = 2.0 * rates, size * size * np.array([0.3, 0.0, -0.2]), [0.0, 3.0 * size, 0.0]
        dv = robot.forward_dynamics(q, v, tau, gravity=g)
        f = robot.loop_forces(q, v, tau, gravity=g)
        # virtual work: along the only motion, and the power balance
        M, h = tree.mass_matrix(q), tree.bias_forces(q, v, gravity=g)
        left = M @ dv + h - tau
        assert abs(rates @ left) < 1e-11 * np.abs(left).max()
        # the least forces that do it, in lengths of the loop
        J = robot.closure_jacobian(q) * scales[:, None]
        least = scales * (np.linalg.pinv(J.T, rcond=1e-9) @ left)
        np.testing.assert_allclose(
            f / scales, least / scales, atol=1e-9 * np.abs(least / scales).max()
        )


def test_at_a_change_point_all_is_refused_by_the_loop():
    robot = lw.Robot(parallelogram())
    flat, still = swung(np.pi / 2), np.zeros(3)
    assert change_points(robot.mechanism, flat) == ["hinge"]
    assert not change_points(robot.mechanism, swung(np.pi / 2 - 1e-3))
    for call in (
        lambda: robot.forward_dynamics(flat, still, still),
        lambda: robot.loop_forces(flat, still, still),
        lambda: robot.gravity_forces(flat),
        lambda: lw.simulate(robot, flat, still, 0.1),
    ):
        with pytest.raises(InputError, match="change point of 'hinge'"):
            call()


def test_assembling_says_so_at_a_change_point():
    robot = lw.Robot(parallelogram())
    there = robot.assemble([np.pi / 2])
    assert there.success and "change point of 'hinge'" in there.reason
    assert robot.assemble([1.0]).reason == "solved"
    ends = robot.assemble([2.0], q0=swung(1.0))
    assert not ends.success and "next to a change point of 'hinge'" in ends.reason


def test_long_trees_of_solid_bodies_are_movable():
    m = mechanism_from(solid(chain_urdf(150)))
    check_movable(m)
    light = solid(chain_urdf(150)).replace(
        solid('<link name="link150"/>'), '<link name="link150"/>'
    )
    with pytest.raises(InputError, match="joint150"):
        check_movable(mechanism_from(light))
    # a coordinate that moves nothing: its joint follows with the factor 0
    still = replace(m, multiplier=np.where(np.arange(m.n_bodies) == 140, 0.0, m.multiplier))
    with pytest.raises(InputError, match="joint140"):
        check_movable(still)
