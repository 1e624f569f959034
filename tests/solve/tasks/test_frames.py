"""Tasks of a frame: their rows, axes and targets."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
from ik_solving import postures, robot_of, solved
from linkwork.errors import InputError
from linkwork.ops.numpy import NUMPY
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.tasks import (
    Direction,
    OnLine,
    OnPlane,
    Orientation,
    Pointing,
    Pose,
    Position,
    RelativePose,
)
from robots import every_joint_urdf
from seeds import rng

ROBOTS = ["panda", "ur5e"]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ROBOTS)
def test_whole_poses_are_reached(name):
    robot = robot_of(name)
    T = robot.fk(postures(robot, "poses"), "tool0")
    reached = robot.fk(solved(robot, Pose("tool0"), T), "tool0")
    assert np.linalg.norm(reached[:, :3, 3] - T[:, :3, 3], axis=-1).max() <= 1.001e-5
    assert measures.turn_between(reached, T).max() <= 1.001e-4


PARTS = [
    {"position": "xy", "rotation": "xyz", "axes_of": "tool"},
    {"position": "xyz", "rotation": "xy", "axes_of": "target"},
    {"position": "xyz", "rotation": "xy", "axes_of": "world"},
    {"position": "xz", "rotation": "z", "axes_of": "world"},
    {"position": "xyz", "rotation": "x", "axes_of": "tool"},
    {"position": "xyz", "rotation": "xyz", "axes_of": "world", "mirror": "z"},
    {"position": "xyz", "rotation": "xy", "axes_of": "tool", "mirror": "x"},
    {"position": "xyz", "rotation": "xz", "axes_of": "world", "mirror": "y"},
]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("how", PARTS, ids=lambda how: " ".join(map(str, how.values())))
def test_parts_of_poses_are_reached(name, how):
    robot = robot_of(name)
    T = robot.fk(postures(robot, str(how)), "tool0")
    reached = robot.fk(solved(robot, Pose("tool0", **how), T), "tool0")
    where, turns, of = how["position"], how["rotation"], how["axes_of"]
    assert measures.position_left(reached, T, where, of).max() <= 1.001e-5
    mirror = how.get("mirror")
    assert measures.rotation_left(reached, T, turns, of, mirror).max() <= 1.001e-4
    turned = Orientation("tool0", axes=turns, axes_of=of, mirror=mirror)
    reached = robot.fk(solved(robot, turned, T[:, :3, :3]), "tool0")
    assert measures.rotation_left(reached, T, turns, of, mirror).max() <= 1.001e-4


def test_what_is_free_is_left_free_and_what_is_mirrored_is_used():
    robot = robot_of("panda")
    T = robot.fk(postures(robot, "free"), "tool0")
    reached = robot.fk(solved(robot, Pose("tool0", rotation="xy", axes_of="tool"), T), "tool0")
    assert np.median(measures.turn_between(reached, T)) > 0.3
    either = robot.solver(tasks=Pose("tool0", mirror="z")).solve(T, robot.neutral())
    reached = robot.fk(either.q, "tool0")  # from q0, not from a seed for the target as it is
    turned = measures.turn_between(reached, T) > 3.0
    assert 20 < np.count_nonzero(turned) < 180


def test_slack_is_used_and_not_exceeded():
    robot = robot_of("ur5e")
    T = robot.fk(postures(robot, "slack"), "tool0")
    slack = (0.0, 0.0, 0.05, 0.0, 0.3, 0.3)
    task = Pose("tool0", axes_of="tool", slack=slack)
    reached = robot.fk(solved(robot, task, T), "tool0")
    way = measures.way_in_axes(reached, T, "tool")
    turn = measures.turn_in_axes(reached, T, "tool")
    beyond = np.maximum(np.abs(np.hstack([way, turn])) - slack, 0.0)
    assert np.linalg.norm(beyond[:, :3], axis=1).max() <= 1.001e-5
    assert np.linalg.norm(beyond[:, 3:], axis=1).max() <= 1.001e-4
    assert np.median(np.abs(turn[:, 1])) > 0.01
    assert np.median(np.abs(way[:, 2])) > 0.001


def test_a_target_that_slack_brings_into_reach():
    # the target is 40 cm further along the tool's z than what can be reached, and turned about it
    robot = robot_of("panda")
    T = robot.fk(postures(robot, "reach"), "tool0")
    target = T @ measures.shifted([0.0, 0.0, 0.4]) @ measures.turned(2, 0.5)
    plain = InverseKinematics(robot.mechanism, Pose("tool0")).solve(target, tries=50)
    assert np.count_nonzero(plain.success) < 120
    task = Pose("tool0", axes_of="tool", slack=(0.0, 0.0, 0.41, 0.0, 0.0, 0.51))
    solved(robot, task, target)


@pytest.mark.slow
def test_one_axis_of_a_rotation_at_large_free_turns():
    # the derivative is exact there, so steps converge as they do near the target
    robot = robot_of("panda")
    q = postures(robot, "large", 100)
    g = rng("large turns")
    T = robot.fk(q, "tool0")
    for k, axis in enumerate("xyz"):
        free = [measures.turned((k + 1) % 3, g.uniform(-2.9, 2.9)) for _ in q]
        tilt = [measures.turned(k, g.uniform(-3, 3)) for _ in q]
        turned = np.array([t @ f @ measures.back(t) for t, f in zip(tilt, free, strict=True)])
        target = T @ turned
        target[:, :3, 3] = T[:, :3, 3]
        task = Pose("tool0", rotation=axis, axes_of="tool")
        start = robot.integrate(q, 0.02 * g.normal(size=(100, 7)))
        result = InverseKinematics(robot.mechanism, task).solve(target, start, tries=1, steps=8)
        assert np.count_nonzero(result.success) >= 95, axis


def test_nothing_to_ask_for_is_refused():
    m = robot_of("panda").mechanism
    with pytest.raises(InputError, match="both empty"):
        Pose("tool0", position="", rotation="").bind(m)
    with pytest.raises(InputError, match="mirror is about rotations"):
        Pose("tool0", rotation="", mirror="x").bind(m)


TIP = (0.02, -0.01, 0.15)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "scara"])
@pytest.mark.parametrize(("axes", "of"), [("xyz", "world"), ("xyz", "tool"), ("xz", "tool")])
def test_points_are_reached(name, axes, of):
    robot = robot_of(name)
    p = measures.point_of(robot.fk(postures(robot, f"{axes} {of}"), "tool0"), TIP)
    q = solved(robot, Position("tool0", axes=axes, axes_of=of, point=TIP), p)
    way = p - measures.point_of(robot.fk(q, "tool0"), TIP)
    if of == "tool":
        way = np.einsum("nji,nj->ni", robot.fk(q, "tool0")[:, :3, :3], way)
    kept = ["xyz".index(a) for a in axes]
    assert np.linalg.norm(way[:, kept], axis=1).max() <= 1.001e-5


def test_what_is_free_is_left_free():
    robot = robot_of("ur5e")
    p = robot.fk(postures(robot, "free"), "tool0")[:, :3, 3]
    q = solved(robot, Position("tool0", axes="z"), p)
    reached = robot.fk(q, "tool0")[:, :3, 3]
    assert np.abs(reached[:, 2] - p[:, 2]).max() <= 1.001e-5
    assert np.median(np.linalg.norm(reached - p, axis=1)) > 0.1


def test_slack_is_a_box():
    robot = robot_of("panda")
    p = robot.fk(postures(robot, "box"), "tool0")[:, :3, 3]
    slack = np.array([0.1, 0.0, 0.02])
    q = solved(robot, Position("tool0", slack=tuple(slack)), p)
    away = np.abs(robot.fk(q, "tool0")[:, :3, 3] - p)
    assert (away <= slack + 1.001e-5).all()
    assert np.median(away[:, 0]) > 0.01


def test_a_tool_s_own_point_is_the_point_of_a_shifted_frame():
    robot = robot_of("panda")
    q = postures(robot, "shifted", 20)
    bound = Position("tool0", point=TIP).bind(robot.mechanism)
    assert not bound.has_point  # it is not the frame's origin that must get there
    assert Position("tool0").bind(robot.mechanism).has_point
    g = rng("shifted").normal(size=3)
    assert bound.rows_of(g).tolist() == g.tolist()
    assert measures.point_of(robot.fk(q, "tool0"), TIP).shape == (20, 3)


def test_a_pose_gives_its_orientation():
    robot = robot_of("ur5e")
    bound = Orientation("tool0").bind(robot.mechanism)
    T = robot.fk(postures(robot, "poses", 5), "tool0")
    np.testing.assert_array_equal(bound.rows_of(T), bound.rows_of(T[:, :3, :3]))


def between(robot, q, frame, other):
    return measures.back(robot.fk(q, other)) @ robot.fk(q, frame)


PAIRS = [
    ("two_arm_torso", {}, "left_tool0", "right_tool0"),
    ("humanoid", {"base": "floating"}, "left_hand", "right_foot"),
]


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("name", "options", "frame", "other"), PAIRS)
def test_relative_poses_are_reached(name, options, frame, other):
    robot = robot_of(name, **options)
    T = between(robot, postures(robot, "pairs"), frame, other)
    q = solved(robot, RelativePose(frame, other), T)
    reached = between(robot, q, frame, other)
    assert np.linalg.norm(reached[:, :3, 3] - T[:, :3, 3], axis=-1).max() <= 1.001e-5
    assert measures.turn_between(reached, T).max() <= 1.001e-4


@pytest.mark.sweep(1)
@pytest.mark.parametrize("of", ["other", "target", "tool"])
def test_parts_are_reached(of):
    robot = robot_of("two_arm_torso")
    T = between(robot, postures(robot, of), "left_tool0", "right_tool0")
    how = {"position": "xy", "rotation": "xy", "axes_of": of}
    q = solved(robot, RelativePose("left_tool0", "right_tool0", **how), T)
    reached = between(robot, q, "left_tool0", "right_tool0")
    assert measures.position_left(reached, T, "xy", of).max() <= 1.001e-5
    assert measures.rotation_left(reached, T, "xy", of).max() <= 1.001e-4


def test_only_the_joints_between_matter():
    m = robot_of("two_arm_torso").mechanism
    bound = RelativePose("left_tool0", "right_tool0").bind(m)
    names = {m.joint_names[c] for c in bound.coordinates}
    assert names == {n for n in m.joint_names if "left_" in n or "right_" in n} - {
        "left_finger",
        "right_finger",
    }
    floating = robot_of("humanoid", base="floating").mechanism
    bound = RelativePose("left_hand", "right_foot").bind(floating)
    assert all(floating.joint_types[c].n_q == 1 for c in bound.coordinates)


def test_a_planar_joint_on_the_way_up():
    # there the chain between the two cannot be turned round, and both go through the world
    robot = robot_of(every_joint_urdf())
    q = postures(robot, "ball", 50)
    T = between(robot, q, "hand", "ball")
    solver = InverseKinematics(robot.mechanism, RelativePose("hand", "ball"))
    near = robot.integrate(q, np.full((50, robot.n_v), 0.05))
    near = np.clip(near, robot.limits.lower, robot.limits.upper)  # of what does not move as well
    at = int(robot.mechanism.q_start[robot.mechanism.joint("socket")])
    near[:, at : at + 4] = q[:, at : at + 4]  # it does not move either
    result = solver.solve(T, near)
    assert result.success.all()
    reached = between(robot, result.q, "hand", "ball")
    assert measures.turn_between(reached, T).max() <= 1.001e-4


def test_holding_one_thing_with_two_hands():
    robot = robot_of("two_arm_torso")
    q = postures(robot, "hands")
    T, held = robot.fk(q, "left_tool0"), between(robot, q, "right_tool0", "left_tool0")
    tasks = [Pose("left_tool0"), RelativePose("right_tool0", "left_tool0")]
    found = solved(robot, tasks, [T, held])
    # the errors of both add up at the right hand
    assert measures.turn_between(robot.fk(found, "right_tool0"), T @ held).max() <= 2.002e-4


def test_a_frame_in_itself_moves_by_nothing():
    m = robot_of("panda").mechanism
    with pytest.raises(InputError, match="no joint moves"):
        InverseKinematics(m, RelativePose("tool0", "link7"))


AXIS, POINT = (0.5, 1.0, -0.3), (0.03, 0.0, 0.05)


def through(T, across):
    """Points that the tip can reach, moved by ``across`` of random vectors, and these (n, 6)."""
    p, g = measures.point_of(T, POINT), rng("through")
    d = g.normal(size=p.shape)
    return np.hstack([p + across(d, g), d])


def ahead(T):
    far = rng("far").uniform(0.05, 3.0, (len(T), 1))
    return measures.point_of(T, POINT) + far * measures.axis_of(T, AXIS)


KINDS = {  # task, targets of poses that can be had, what is left of poses, slack, tolerance
    "direction": (
        lambda **how: Direction("tool0", axis=AXIS, **how),
        lambda T: 2.0 * measures.axis_of(T, AXIS),
        lambda T, x: measures.angle_between(measures.axis_of(T, AXIS), x),
        0.3,
        1.001e-4,
    ),
    "pointing": (
        lambda **how: Pointing("tool0", axis=AXIS, point=POINT, **how),
        ahead,
        lambda T, x: measures.angle_between(
            measures.axis_of(T, AXIS), x - measures.point_of(T, POINT)
        ),
        0.2,
        1.001e-4,
    ),
    "line": (
        lambda **how: OnLine("tool0", point=POINT, **how),
        lambda T: through(T, lambda d, g: g.normal(size=(len(d), 1)) * d),
        lambda T, x: measures.from_line(measures.point_of(T, POINT), x),
        0.05,
        1.001e-5,
    ),
    "plane": (
        lambda **how: OnPlane("tool0", point=POINT, **how),
        lambda T: through(T, lambda n, g: np.cross(g.normal(size=n.shape), n)),
        lambda T, x: measures.from_plane(measures.point_of(T, POINT), x),
        0.05,
        1.001e-5,
    ),
}


@pytest.mark.sweep(2, by="kind")
@pytest.mark.parametrize("slack", [False, True], ids=["exact", "slack"])
@pytest.mark.parametrize("name", ["ur5e", "panda"])
@pytest.mark.parametrize("kind", list(KINDS))
def test_directions_points_lines_and_planes_are_reached(kind, name, slack):
    task, targets_of, left, allowed, tolerance = KINDS[kind]
    robot = robot_of(name)
    targets = targets_of(robot.fk(postures(robot, f"{kind} {slack}"), "tool0"))
    asked = task(slack=allowed) if slack else task()
    found = left(robot.fk(solved(robot, asked, targets), "tool0"), targets)
    assert found.max() <= (allowed if slack else 0.0) + tolerance
    if slack:
        assert np.median(found) > 0.1 * allowed  # and it is used


def test_the_opposite_direction_is_turned_round():
    robot = robot_of("panda")
    q = postures(robot, "opposite")
    targets = -measures.axis_of(robot.fk(q, "tool0"), (0, 0, 1))
    result = InverseKinematics(robot.mechanism, Direction("tool0")).solve(targets, q)
    assert result.success.all()
    assert np.abs(robot.fk(result.q, "tool0")[:, :3, 2] - targets).max() < 1e-3


def test_a_direction_of_no_length_is_refused():
    bound = Direction("tool0").bind(robot_of("panda").mechanism)
    with pytest.raises(InputError, match=r"task 'tool0': target \[1\] has the direction 0 0 0"):
        bound.rows_of([[0, 0, 1], [0, 0, 0]])


def test_a_start_that_points_away_is_turned_round():
    robot = robot_of("ur5e")
    q = postures(robot, "away")
    T = robot.fk(q, "tool0")
    targets = T[:, :3, 3] - 0.8 * T[:, :3, 2]
    solver = InverseKinematics(robot.mechanism, Pointing("tool0"))
    result = solver.solve(targets, q)
    assert result.success.all()
    T = robot.fk(result.q, "tool0")
    assert measures.angle_between(T[:, :3, 2], targets - T[:, :3, 3]).max() <= 1.001e-4


def test_standing_in_the_target_is_not_pointing_at_it():
    robot = robot_of("panda")
    bound = Pointing("tool0").bind(robot.mechanism)
    for q in postures(robot, "inside", 5):
        found = bound.residual(NUMPY, q, robot.fk(q, "tool0")[:3, 3])
        assert found.squared[0] == pytest.approx(1.0, abs=1e-3)
        assert np.isfinite(np.array(found.columns)).all()


def test_two_tasks_on_one_frame():
    robot = robot_of("panda")
    q = postures(robot, "both")
    T = robot.fk(q, "tool0")
    n = rng("both").normal(size=(len(q), 3))
    plane = np.hstack([T[:, :3, 3], n])
    look = T[:, :3, 3] + 0.5 * T[:, :3, 2]
    tasks = [OnPlane("tool0", name="plane"), Pointing("tool0", name="look")]
    found = robot.fk(solved(robot, tasks, {"plane": plane, "look": look}), "tool0")
    assert measures.from_plane(found[:, :3, 3], plane).max() <= 1.001e-5
    assert measures.angle_between(found[:, :3, 2], look - found[:, :3, 3]).max() <= 1.001e-4
