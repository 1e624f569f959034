"""Joints of the scikit-robot face: where they move their links, limits, followers, tables."""

from __future__ import annotations

import logging
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from linkwork.errors import InputError, ShapeError
from linkwork.faces.skrobot.coordinates import CascadedCoords, Coordinates, make_coords
from linkwork.faces.skrobot.model import (
    FixedJoint,
    FloatingJoint,
    JointLimitTable,
    LinearJoint,
    Link,
    OmniWheelJoint,
    PlanarJoint,
    RobotModel,
    RotationalJoint,
    calc_angle_speed_gain_scalar,
    calc_angle_speed_gain_vector,
    calc_joint_angle_min_max_for_limit_calculation,
    calc_target_joint_dimension,
    calc_target_joint_dimension_from_link_list,
    create_joint_limit_table,
    joint_angle_limit_nspace,
    joint_angle_limit_weight,
)
from robots import about
from seeds import rng
from skrobot_robots import derivative, joined, turn_rate

SINGLE = (RotationalJoint, LinearJoint)
SEVERAL = (OmniWheelJoint, PlanarJoint, FloatingJoint)


def pair(kind: type = RotationalJoint, **options: Any) -> tuple[Link, Link, Any]:
    """Two links and the joint between them, whose frame stands at (1, 2, 3)."""
    parent, child = Link(name="parent"), Link(name="child", pos=[1, 2, 3])
    return parent, child, joined(kind, parent, child, "j", **options)


def chain(n: int = 3) -> RobotModel:
    links = [Link(name=f"l{k}", pos=[0, 0, 0.5]) for k in range(n + 1)]
    joints = [
        joined(RotationalJoint, above, below, f"j{k}", axis="xyz"[k % 3])
        for k, (above, below) in enumerate(pairwise(links))
    ]
    return RobotModel(links, joints, links[0])


# kinds of joints


@pytest.mark.row("S0-032")
@pytest.mark.parametrize("axis", ["x", "-y", "z", (1, 2, -3), [0, 0, 2], np.array([0.6, 0, 0.8])])
def test_a_rotational_joint_turns_its_link_about_the_axis(axis):
    _, child, joint = pair(RotationalJoint, axis=axis)
    along = {"x": (1, 0, 0), "-y": (0, -1, 0), "z": (0, 0, 1)}.get(
        axis if isinstance(axis, str) else ""
    )
    along = np.array(axis if along is None else along, float)
    along /= np.linalg.norm(along)
    assert joint.axis == pytest.approx(along)
    assert joint.joint_axis == pytest.approx(along)
    for angle in (0.3, -1.2, 2.9):
        assert joint.joint_angle(angle) == angle == joint.joint_angle()
        assert child.rotation == pytest.approx(about(along, angle), abs=1e-15)
        assert child.translation == pytest.approx([1, 2, 3])


@pytest.mark.row("S0-032")
def test_a_linear_joint_slides_its_link_along_the_axis():
    parent, child, joint = pair(LinearJoint, axis=(0, 3, 4))
    parent.rotate(0.4, "x").translate([1, 1, 1])
    joint.joint_angle(0.5)
    assert child.translation == pytest.approx([1, 2.3, 3.4])
    assert child.worldpos() == pytest.approx(parent.transform_vector([1, 2.3, 3.4]))
    assert joint.world_axis == pytest.approx(parent.rotate_vector([0, 0.6, 0.8]))
    assert joint.world_position == pytest.approx(parent.transform_vector([1, 2, 3]))


@pytest.mark.row("S0-032")
def test_a_fixed_joint_moves_nothing():
    _, child, joint = pair(FixedJoint)
    assert joint.joint_angle() == joint.joint_angle(1.0) == joint.joint_angle(1, relative=True) == 0
    assert (joint.joint_dof, joint.type, joint.is_movable) == (0, "fixed", False)
    assert (joint.min_angle, joint.max_angle) == (0, 0)
    assert child.translation == pytest.approx([1, 2, 3])
    assert not joint.flip_axis()


@pytest.mark.row("S0-032")
@pytest.mark.parametrize("kind", SEVERAL)
def test_joints_with_several_positions(kind):
    parent, child, joint = pair(kind)
    parent.rotate(0.7, "y")
    n = joint.joint_dof
    q = rng(kind.__name__).uniform(-1, 1, n)
    assert joint.joint_angle(q) == pytest.approx(q)
    if n == 3:
        R, p = about(np.array([0, 0, 1.0]), q[2]), [q[0], q[1], 0.0]
    else:
        R = about(np.array([1.0, 0, 0]), q[3]) @ about(np.array([0, 1.0, 0]), q[4])
        R, p = R @ about(np.array([0, 0, 1.0]), q[5]), q[:3]
    assert child.rotation == pytest.approx(R, abs=1e-15)
    assert child.translation == pytest.approx(np.array([1, 2, 3]) + p)
    assert joint.joint_angle(q, relative=True) == pytest.approx(2 * q)
    assert joint.joint_angle(0.25) == pytest.approx(np.full(n, 0.25))
    got = joint.joint_angle()
    got[:] = 9
    assert joint.joint_angle() == pytest.approx(np.full(n, 0.25))
    assert joint.world_axis == pytest.approx(np.asarray(joint.axis) @ parent.worldrot().T)
    assert joint.is_movable
    with pytest.raises(ShapeError, match=f"takes {n} numbers"):
        joint.joint_angle([1, 2])
    with pytest.raises(InputError, match="finite"):
        joint.joint_angle([math.nan] * n)
    assert joint.joint_angle() == pytest.approx(np.full(n, 0.25))


@pytest.mark.row("S0-032")
@pytest.mark.parametrize(
    ("kind", "options", "limits"),
    [
        (RotationalJoint, {}, (-math.pi / 2, math.pi)),
        (RotationalJoint, {"min_angle": None}, (-math.pi / 2, math.pi)),
        (RotationalJoint, {"min_angle": 1, "max_angle": None}, (1, 1 + math.pi)),
        (RotationalJoint, {"max_angle": None}, (-math.pi / 2, math.pi / 2)),
        (LinearJoint, {"min_angle": 1, "max_angle": None}, (1, math.pi / 2)),
        (LinearJoint, {}, (-math.pi / 2, math.pi)),
    ],
)
def test_limits_that_are_not_given(kind, options, limits):
    joint = pair(kind, **options)[2]
    assert (joint.min_angle, joint.max_angle) == pytest.approx(limits)
    assert (joint.min_joint_angle, joint.max_joint_angle) == pytest.approx(limits)
    joint.min_joint_angle, joint.max_joint_angle = -0.5, 0.5
    assert (joint.min_angle, joint.max_angle) == (-0.5, 0.5)


@pytest.mark.row("S0-032")
@pytest.mark.parametrize(
    ("kind", "default"), [(RotationalJoint, math.radians(5)), (LinearJoint, math.pi / 4)]
)
def test_velocities_that_are_not_positive_are_replaced_and_told(kind, default, caplog):
    for velocity in (0, -1):
        with caplog.at_level(logging.WARNING):
            joint = pair(kind, max_joint_velocity=velocity)[2]
        assert joint.max_joint_velocity == pytest.approx(default)
        assert "max_joint_velocity" in caplog.text
        caplog.clear()
    joint = pair(kind, max_joint_velocity=2.5, max_joint_torque=7)[2]
    assert (joint.max_joint_velocity, joint.max_joint_torque) == (2.5, 7)
    assert pair(kind)[2].max_joint_torque == 100


@pytest.mark.row("S0-032")
@pytest.mark.parametrize("kind", SINGLE)
def test_angles_are_clipped_and_that_is_told(kind, caplog):
    joint = pair(kind, min_angle=-1, max_angle=2)[2]
    with caplog.at_level(logging.WARNING):
        assert joint.joint_angle(5) == 2
        assert joint.joint_angle(-5) == -1
    assert caplog.text.count("violates") == 2
    assert joint.joint_angle(0.5, relative=True) == -0.5
    assert joint.joint_angle(0.25, relative=False) == 0.25
    assert joint.joint_angle(np.float32(0.5)) == joint.joint_angle([0.5]) == 0.5
    assert type(joint.joint_angle()) is float
    for wrong in (math.nan, math.inf, "a", [1, 2], None.__class__):
        with pytest.raises(InputError):
            joint.joint_angle(wrong)
    assert joint.joint_angle() == 0.5


@pytest.mark.row("S0-032")
def test_types_by_limits():
    free = {"min_angle": -math.inf, "max_angle": math.inf}
    assert pair(RotationalJoint, **free)[2].type == "continuous"
    assert pair(RotationalJoint)[2].joint_type == "revolute"
    assert pair(LinearJoint)[2].type == "prismatic"
    assert [pair(kind)[2].type for kind in SEVERAL] == ["planar", "planar", "floating"]
    assert pair(RotationalJoint, **free)[2].joint_angle(50.0) == 50.0


@pytest.mark.row("S0-032")
@pytest.mark.parametrize("axis", [(0, 0, 0), (math.nan, 0, 1), (1, 2), [0, 1, math.inf]])
def test_an_axis_has_a_direction(axis):
    with pytest.raises(ValueError, match=r"ax|number"):
        pair(RotationalJoint, axis=axis)


@pytest.mark.row("S0-032")
def test_a_link_that_is_moved_keeps_its_joints_angle():
    parent, child, joint = pair(RotationalJoint, axis="y")
    joint.joint_angle(0.5)
    child.translate([0, 0, 1])
    T = child.T()
    assert joint.joint_angle() == 0.5
    joint.joint_angle(0.9)
    joint.joint_angle(0.5)
    assert child.T() == pytest.approx(T, abs=1e-15)
    joint.joint_angle(0)
    assert joint.default_coords.T() == pytest.approx(child.T())
    joint.default_coords = Coordinates([0, 0, 5])
    assert child.T() == pytest.approx(Coordinates([0, 0, 5]).T())
    joint.joint_angle(0.3)
    parent.dissoc(child)
    assert child.worldpos() == pytest.approx([0, 0, 5])


@pytest.mark.row("S0-032")
@pytest.mark.parametrize("kind", SEVERAL)
def test_so_does_one_of_a_joint_with_several_positions(kind):
    parent, child, joint = pair(kind)
    parent.rotate(0.4, "x").translate([1, 1, 0])
    q = 0.1 * np.arange(1.0, joint.joint_dof + 1)
    joint.joint_angle(q)
    child.rotate(0.3, "y").translate([0, 0, 5], "parent")
    there = child.T()
    assert joint.joint_angle() == pytest.approx(q)
    joint.joint_angle(2 * q)
    assert child.T() != pytest.approx(there)
    joint.joint_angle(q)
    assert child.T() == pytest.approx(there, abs=1e-14)


@pytest.mark.row("S0-032")
def test_two_joints_may_carry_a_link_in_turns():
    parent, child, first = pair(RotationalJoint, axis="z")
    first.joint_angle(0.4)
    second = LinearJoint(axis="x", parent_link=parent, child_link=child)
    second.joint_angle(0.5)
    moved = child.T()
    assert moved == pytest.approx(
        Coordinates([1, 2, 3], about(np.array([0, 0, 1.0]), 0.4)).T() @ Coordinates([0.5, 0, 0]).T()
    )
    first.joint_angle(0.0)
    assert child.T() == pytest.approx(
        moved @ Coordinates(rot=about(np.array([0, 0, 1.0]), -0.4)).T()
    )


@pytest.mark.row("S0-032")
@pytest.mark.parametrize("kind", SINGLE)
def test_flipping_the_axis_moves_nothing(kind):
    _, child, joint = pair(kind, axis="z", min_angle=-0.5, max_angle=2)
    _, other, follower = pair(kind, axis="x")
    joint.register_mimic_joint(follower, 2.0, 0.1)
    joint.joint_angle(0.7)
    before, followed = child.T(), other.T()
    assert joint.flip_axis()
    assert child.T() == pytest.approx(before)
    assert joint.axis == pytest.approx([0, 0, -1])
    assert (joint.joint_angle(), joint.min_angle, joint.max_angle) == (-0.7, -2, 0.5)
    assert other.T() == pytest.approx(followed)
    joint.joint_angle(-0.7)
    assert child.T() == pytest.approx(before)
    assert other.T() == pytest.approx(followed)
    assert follower.flip_axis()
    joint.joint_angle(-0.7)
    assert other.T() == pytest.approx(followed)
    joint.joint_min_max_table = JointLimitTable(joint, -1, 1, [0, 0], [1, 1])
    with pytest.raises(ValueError, match="table"):
        joint.flip_axis()


@pytest.mark.row("S0-032")
def test_hooks_are_called_unless_told_not_to():
    joint = pair(RotationalJoint)[2]
    called = []
    joint.register_hook(lambda: called.append(joint.joint_angle()))
    joint.joint_angle(0.1)
    joint.joint_angle(0.2, enable_hook=False)
    joint.joint_angle()
    assert called == [0.1]


# followers


@pytest.mark.row("S0-011")
def test_followers_follow_in_chains_and_lead_when_they_are_set():
    joints = [pair(RotationalJoint, min_angle=-9, max_angle=9)[2] for _ in range(4)]
    a, b, c, d = joints
    a.joint_angle(1.0)
    b.register_mimic_joint(c, -2.0, 0.5)
    a.register_mimic_joint(b, 0.5, 0.1)
    a.register_mimic_joint(d, 3.0, 0.0)
    assert [j.joint_angle() for j in joints] == pytest.approx([1.0, 0.6, -0.7, 3.0])
    a.joint_angle(-1.0, enable_hook=False)
    assert [j.joint_angle() for j in joints] == pytest.approx([-1.0, -0.4, 1.3, -3.0])
    assert c.joint_angle(0.5) == pytest.approx(0.5)
    assert [j.joint_angle() for j in joints] == pytest.approx([-0.2, 0.0, 0.5, -0.6])
    d.joint_angle(0.3, relative=True)
    assert [j.joint_angle() for j in joints] == pytest.approx([-0.1, 0.05, 0.4, -0.3])


@pytest.mark.row("S0-011")
def test_followers_that_cannot_be():
    a, b = pair(RotationalJoint)[2], pair(LinearJoint)[2]
    a.register_mimic_joint(b, 1.0, 0.0)
    with pytest.raises(InputError, match="follow each other"):
        b.register_mimic_joint(a, 1.0, 0.0)
    with pytest.raises(InputError, match="follow each other"):
        a.register_mimic_joint(a, 1.0, 0.0)
    with pytest.raises(InputError, match="3 positions"):
        a.register_mimic_joint(pair(PlanarJoint)[2], 1.0, 0.0)
    with pytest.raises(InputError, match="multiplier"):
        a.register_mimic_joint(pair(LinearJoint)[2], math.nan, 0.0)
    a.register_mimic_joint(b, 0.0, 0.25)
    assert b.joint_angle(1.0) == 0.25
    c = pair(RotationalJoint)[2]
    c.register_mimic_joint(b, 1.0, 0.0)
    c.joint_angle(0.5)
    a.joint_angle(1.0)
    assert b.joint_angle() == 0.5


# tables


@pytest.mark.row("S0-033")
def test_a_table_is_linear_between_its_angles_and_constant_outside():
    target = pair(RotationalJoint)[2]
    table = JointLimitTable(target, -1.0, 1.0, [-0.1, -0.3, -0.2], [0.1, 0.5, 0.4])
    assert table.sample_angles == pytest.approx([-1, 0, 1])
    for angle, lower, upper in ((-5, -0.1, 0.1), (-0.5, -0.2, 0.3), (0, -0.3, 0.5), (3, -0.2, 0.4)):
        assert table.min_angle_function(angle) == pytest.approx(lower)
        assert table.max_angle_function(angle) == pytest.approx(upper)
    told = table.get_data_for_differentiable()
    assert sorted(told) == ["max_angles", "min_angles", "sample_angles"]
    assert told["max_angles"] == pytest.approx([0.1, 0.5, 0.4])


@pytest.mark.row("S0-033")
def test_tables_are_made_by_names_in_degrees_or_by_joints_in_radians():
    robot = chain()
    table = create_joint_limit_table(robot, "j0", "j1", -90, 90, [-10, -20], [10, 20])
    assert robot.joints["j1"].joint_min_max_table is table
    assert robot.joints["j1"].joint_min_max_target is robot.joints["j0"]
    assert table.min_angles == pytest.approx(np.radians([-10, -20]))
    assert table.target_max_angle == pytest.approx(math.pi / 2)
    j0, j1, _ = robot.joint_list
    table = create_joint_limit_table(robot, j0, j1, -1, 1, [-0.1], [0.1], use_degrees=False)
    assert table.max_angle_function(0.7) == pytest.approx(0.1)
    for wrong, text in (
        (("nope", "j1", -1, 1, [0], [1]), "nope"),
        (("j0", "j7", -1, 1, [0], [1]), "j7"),
        (("j0", "j1", -1, 1, [0, 1], [1]), "mismatch"),
        (("j0", "j1", 1, -1, [0, 1], [1, 1]), "below"),
        (("j0", "j1", -1, 1, [], []), "at least one"),
        (("j0", "j1", -1, 1, [math.nan], [1]), "finite"),
    ):
        with pytest.raises(ValueError, match=text):
            create_joint_limit_table(robot, *wrong)


@pytest.mark.row("S0-021")
def test_a_joint_with_a_table_is_bounded_by_its_targets_angle():
    robot = chain()
    create_joint_limit_table(robot, "j0", "j1", -90, 90, [-10, -20, -10], [10, 20, 10])
    j0, j1, _ = robot.joint_list
    assert j1.joint_angle(1.0) == pytest.approx(math.radians(20))
    j0.joint_angle(math.pi / 4)
    assert j1.joint_angle(1.0) == pytest.approx(math.radians(15))
    assert j1.joint_angle(-1.0) == pytest.approx(math.radians(-15))
    upper = j1.joint_min_max_table_max_angle
    assert upper == pytest.approx(math.radians(15))
    assert upper(0.0) == pytest.approx(math.radians(20))
    assert j1.joint_min_max_table_min_angle(math.pi / 2) == pytest.approx(math.radians(-10))
    assert j0.joint_min_max_table_max_angle == j0.max_angle
    assert robot.angle_vector([math.pi / 2, 1.0, 0.1]) == pytest.approx(
        [math.pi / 2, math.radians(10), 0.1]
    )


@pytest.mark.row("S0-025")
def test_an_angle_vector_is_moved_into_the_bounds_of_a_table():
    robot = chain()
    create_joint_limit_table(robot, "j0", "j1", -90, 90, [-10, -20, -10], [10, 20, 10])
    j0, j1, _ = robot.joint_list
    av = np.array([0.1, 0.05, 0.0])
    assert robot.calc_joint_angle_from_min_max_table(1, j1, av) is av
    assert av == pytest.approx([0.1, 0.05, 0.0])
    assert (j0.joint_angle(), j1.joint_angle()) == pytest.approx((0.1, 0.05))
    av = np.array([0.0, 1.0, 0.0])
    robot.calc_joint_angle_from_min_max_table(1, j1, av)
    assert av == pytest.approx([0.0, math.radians(20), 0.0], abs=1e-12)
    assert robot.angle_vector() == pytest.approx(av)
    with pytest.raises(InputError, match="no table"):
        robot.calc_joint_angle_from_min_max_table(0, j0, av)


@pytest.mark.row("S0-025", "S0-026")
def test_tables_that_depend_on_each_other_meet():
    robot = chain()
    create_joint_limit_table(robot, "j0", "j1", -60, 60, [-10, -40, -10], [10, 40, 10])
    create_joint_limit_table(robot, "j1", "j0", -60, 60, [-5, -50, -5], [5, 50, 5])
    j0, j1, _ = robot.joint_list
    av = np.array([0.8, 0.65, 0.0])
    robot.calc_joint_angle_from_min_max_table(1, j1, av)
    for joint in (j0, j1):
        assert joint.joint_min_max_table_min_angle - 1e-9 <= joint.joint_angle()
        assert joint.joint_angle() <= joint.joint_min_max_table_max_angle + 1e-9
    assert 0.0 < av[1] < 0.65
    assert 0.0 < av[0] < 0.8  # both give way
    other, angle = 0.8, 0.65  # a tenth of what is missing, two tenths of what is left, ...
    knots = np.radians([-60.0, 0.0, 60.0])
    for step in range(11):
        bound = float(np.interp(other, knots, np.radians([10.0, 40.0, 10.0])))
        if angle <= bound:
            break
        most = float(np.interp(angle, knots, np.radians([5.0, 50.0, 5.0])))
        angle += (bound - angle) * step / 10
        other += (min(other, most) - other) * step / 10
    assert av == pytest.approx([other, angle, 0.0])


@pytest.mark.row("S0-026")
def test_constraints_of_tables_are_applied_until_nothing_moves():
    robot = chain()
    j0, j1, j2 = robot.joint_list
    robot.angle_vector([0.5, 0.5, 0.5])
    create_joint_limit_table(robot, j0, j1, -1, 1, [-0.2, -0.2], [0.2, 0.2], use_degrees=False)
    create_joint_limit_table(robot, j1, j2, -1, 1, [-1.0, 0.0], [0.0, 1.0], use_degrees=False)
    assert robot.apply_joint_limit_table_constraints(0) == pytest.approx([0.5, 0.5, 0.5])
    assert robot.apply_joint_limit_table_constraints() == pytest.approx([0.5, 0.2, 0.5])
    j2.joint_min_max_table = JointLimitTable(j1, -1, 1, [0.4], [0.1])
    assert robot.apply_joint_limit_table_constraints() == pytest.approx([0.5, 0.2, 0.25])


# what steps of inverse kinematics take from joints


@pytest.mark.row("S0-032")
def test_columns_of_a_jacobian_are_derivatives_of_the_pose():
    for kind in (RotationalJoint, LinearJoint, PlanarJoint, OmniWheelJoint, FloatingJoint):
        parent, child, joint = pair(kind)
        parent.rotate(0.3, "x").translate([0.2, 0, 1])
        tip = CascadedCoords(parent=child, pos=[0.1, 0.3, -0.2]).rotate(0.6, "y")
        seen = make_coords().rotate(0.9, "z")
        n = joint.joint_dof
        q = 0.3 + 0.1 * np.arange(n)
        joint.joint_angle(q if n > 1 else q[0])
        frame = parent.worldcoords().transform(joint.default_coords)
        J = np.zeros((6, n))
        made = joint.calc_jacobian(
            J, 0, 0, joint, joint.axis, child, frame, tip, seen, [1, 1, 1], [1, 1, 1]
        )
        assert made is J
        rates = derivative(lambda tip=tip: tip.worldcoords().T(), [joint])
        for k in range(n):
            turn = turn_rate(rates[:3, :3, k], tip.worldrot())
            expected = [*seen.inverse_rotate_vector(rates[:3, 3, k]),
                        *seen.inverse_rotate_vector(turn)]  # fmt: skip
            assert J[:, k] == pytest.approx(expected, abs=1e-8), (kind, k)
    J = np.zeros((3, 1))
    joint = pair(LinearJoint)[2]
    frame, tip = make_coords(), make_coords()
    joint.calc_jacobian(J, 0, 0, joint, [0, 3, 4], tip, frame, tip, frame, [0, 0, 1], [0, 1, 1])
    assert J[:, 0] == pytest.approx([3, 4, 0])


@pytest.mark.row("S0-032")
def test_gains_of_velocity_limits():
    joint = pair(RotationalJoint, max_joint_velocity=0.5)[2]
    assert calc_angle_speed_gain_scalar(joint, [9, 0.1], 1, 0.05) == pytest.approx(0.25)
    assert calc_angle_speed_gain_scalar(joint, [0.0], 0, 0.05) == 1.0
    assert calc_angle_speed_gain_scalar(joint, [0.001], 0, 0.05) == 1.0
    assert calc_angle_speed_gain_scalar(joint, [0.1], 0, 0) == 1.0
    assert joint.calc_angle_speed_gain([-0.1], 0, 0.05) == pytest.approx(0.25)
    plane = pair(PlanarJoint, max_joint_velocity=(1, 2, 3))[2]
    step = np.array([0.0, 0.1, 0.2, 0.3])
    assert calc_angle_speed_gain_vector(plane, step, 1, 0.05) == pytest.approx(0.5)
    assert plane.calc_angle_speed_gain(step, 1, 0.05) == pytest.approx(0.5)
    assert pair(FixedJoint)[2].calc_angle_speed_gain(step, 0, 0.05) == 1.0


@pytest.mark.row("S0-032")
def test_weights_and_motions_of_joint_limits():
    joint = pair(RotationalJoint, min_angle=-1, max_angle=3)[2]
    free = pair(RotationalJoint, min_angle=-math.inf, max_angle=math.inf)[2]
    plane, still = pair(PlanarJoint)[2], pair(FixedJoint)[2]
    joint.joint_angle(2.0)
    expected = abs(4.0**2 * (2 * 2.0 - 3 + 1) / (4 * 1.0**2 * 3.0**2))
    joints = [joint, free, still, plane]
    assert joint_angle_limit_weight(joints) == pytest.approx([expected, 0, 0, 0, 0])
    assert joint_angle_limit_nspace(joints) == pytest.approx([-0.25, 0, 0, 0, 0])
    assert len(joint_angle_limit_nspace(joints, 8)) == 8
    joint.joint_angle(3.0)
    margin = math.radians(1)
    at_margin = 16 * (2 * (3 - margin) - 2) / (4 * margin**2 * (4 - margin) ** 2)
    assert joint_angle_limit_weight([joint]) == pytest.approx([at_margin])
    assert joint_angle_limit_nspace([joint]) == pytest.approx([-1])
    assert (
        joint_angle_limit_weight([pair(RotationalJoint, min_angle=1, max_angle=1)[2]]) == math.inf
    )
    found = np.zeros(3)
    assert calc_joint_angle_min_max_for_limit_calculation(joint, 0, found) is found
    assert found == pytest.approx([3, 3, -1])
    assert calc_target_joint_dimension(joints) == 5
    links = [j.child_link for j in joints] + [joint.parent_link]
    assert calc_target_joint_dimension_from_link_list(links) == 5
