"""Tasks: what is common to all, and each kind: of a frame, of joints, of the whole mechanism."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import ik_measures as measures
import linkwork as lw
from closed_mechanisms import with_every_kind
from ik_solving import postures, robot_of, solved
from linkwork.checks import finite_rows
from linkwork.errors import InputError, ShapeError
from linkwork.mechanism.model import JointType
from linkwork.ops.numpy import NUMPY
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.inputs import Options
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks import (
    CLOSED_TOLERANCE,
    TOLERANCES,
    CenterOfMass,
    Closed,
    Direction,
    Group,
    JointCoupling,
    Manipulability,
    OnLine,
    Orientation,
    Pointing,
    Pose,
    Position,
    Posture,
    RelativePose,
    Residual,
    TargetKind,
    Task,
    bound,
    has_slack,
    turns_freely,
)
from linkwork.spatial import so3
from robots import chain_urdf, every_joint_urdf, mechanism_from
from seeds import rng

M = lw.load("planar_3r").mechanism


@dataclass(frozen=True, eq=False)
class Sum(Task):
    """All angles together: a task as anyone may write it."""

    target: object = None

    def bind(self, m):
        """The task for one mechanism."""

        def residual(o, q, target):
            total = q[0] + q[1] + q[2]
            error = o.vector([target[0] - total])
            return Residual(error, [o.const([1.0])] * 3, [error[0] * error[0]])

        def read(target, name):
            return finite_rows(target, name, 1)

        return bound(
            self,
            m,
            TargetKind(1, read),
            residual,
            name="sum",
            key="sum",
            groups=[Group("angle", "rad", 0, 1)],
            coordinates=(0, 1, 2),
        )


def test_a_task_of_one_s_own_is_solved_like_any_other():
    result = InverseKinematics(M, Sum()).solve([[0.5], [1.0], [-2.0]])
    assert result.success.all()
    np.testing.assert_allclose(result.q.sum(axis=1), [0.5, 1.0, -2.0], atol=1e-4)
    assert list(result.errors) == ["sum"]


def test_defaults_by_the_unit():
    task = Sum().bind(M)
    assert task.tolerances == (TOLERANCES["rad"],)
    assert task.thresholds == (TOLERANCES["rad"] ** 2,)
    assert (task.name, task.weight, task.priority, task.slack) == ("sum", 1.0, 0, (0.0,))
    assert task.target is None
    assert task.n_rows == 1


def test_numbers_for_all_groups_or_for_each():
    assert Sum(tolerance=0.1).bind(M).tolerances == (0.1,)
    assert Sum(tolerance=[0.2]).bind(M).tolerances == (0.2,)
    assert Sum(tolerance=np.float32(0.5)).bind(M).tolerances == (0.5,)
    assert Sum(slack=np.array([0.3])).bind(M).slack == (0.3,)
    assert Sum(priority=np.int64(3)).bind(M).priority == 3
    with pytest.raises(InputError, match=r"Sum\.tolerance must be one number or 1, .* not 2"):
        Sum(tolerance=(0.1, 0.2)).bind(M)


def test_messages_have_the_name_that_the_problem_gave():
    task = replace(Sum(name="mine").bind(M), name="mine_2")
    with pytest.raises(InputError, match=r"task 'mine_2': target\[1, 0\] is nan"):
        task.rows_of([[0.0], [np.nan]])
    with pytest.raises(InputError, match="task 'mine': target must have shape"):
        Sum([1.0, 2.0], name="mine").bind(M)


def test_lists_and_arrays_are_copied_when_the_task_is_made():
    target, slack = np.array([1.0]), [0.1]
    task = Sum(target, slack=slack)
    target[0], slack[0] = 9.0, 9.0
    assert task.bind(M).target.tolist() == [1.0]
    assert task.bind(M).slack == (0.1,)
    with pytest.raises(ValueError, match="read-only"):
        task.target[0] = 9.0


def test_whether_there_is_slack():
    assert not has_slack(Sum())
    assert not has_slack(Sum(slack=(0.0, 0.0)))
    assert has_slack(Sum(slack=(0.0, 0.1)))
    with pytest.raises(InputError, match=r"Sum\.slack"):
        Sum(slack="wide").bind(M)


def test_whether_a_turn_more_is_the_same():
    text = """<robot name="pair"><link name="a"/><link name="b"/><link name="c"/>
    <joint name="first" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    </joint><joint name="second" type="{}"><parent link="a"/><child link="c"/>
    <axis xyz="0 0 1"/><mimic joint="first" multiplier="{}"/></joint></robot>"""
    for kind, multiplier, same in (
        ("continuous", 2.0, True),
        ("continuous", -1.0, True),
        ("continuous", 0.5, False),
        ("prismatic", 1.0, False),
    ):
        assert turns_freely(mechanism_from(text.format(kind, multiplier)), 0) is same
    m = lw.load("mobile_arm").mechanism
    # the planar base, four wheels, an arm with limits and a finger
    assert [turns_freely(m, c) for c in range(len(m.joint_names))] == [True] * 5 + [False] * 7


def test_targets_of_rotations_directions_and_lines():
    m = lw.load("panda").mechanism
    g = rng("targets")
    orientation, direction = Orientation("tool0").bind(m), Direction("tool0").bind(m)
    T = np.tile(np.eye(4), (4, 1, 1))
    for each in T:
        each[:3, :3] = so3.exp(NUMPY, g.normal(size=3))
    np.testing.assert_array_equal(orientation.rows_of(T), T[:, :3, :3].reshape(4, 9))
    np.testing.assert_array_equal(orientation.rows_of(T[:, :3, :3]), orientation.rows_of(T))
    with pytest.raises(ShapeError, match=r"target .*3, 3\) or \(\.\.\., 4, 4\), not \(4,\)"):
        orientation.rows_of(np.zeros(4))
    T[2, 3, 0] = 1.0  # a pose must be one as a whole
    with pytest.raises(InputError, match=r"target \[2\]"):
        orientation.rows_of(T)
    given = g.normal(size=(50, 3)) * 10.0 ** g.uniform(-300, 300, (50, 1))
    found = direction.rows_of(given)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-15)
    given /= np.abs(given).max(axis=1, keepdims=True)
    np.testing.assert_allclose(np.cross(found, given), 0.0, atol=1e-15)
    assert (np.sum(found * given, axis=1) > 0.0).all()
    with pytest.raises(InputError, match=r"target \[0\] has the direction 0 0 0"):
        direction.rows_of([[0, 0, 0], [0, 0, 1]])
    line = OnLine("tool0").bind(m)
    assert line.rows_of([[1, 2, 3, 0, 0, -9]]).tolist() == [[1.0, 2.0, 3.0, 0.0, 0.0, -1.0]]
    with pytest.raises(InputError, match="direction 0 0 0"):
        line.rows_of([1, 2, 3, 0, 0, 0])
    with pytest.raises(ShapeError, match=r"\(\.\.\., 6\), not \(3,\)"):
        line.rows_of([1, 2, 3])
    for wrong in (None, "abc", [True, False, True], [1j, 0, 0]):
        with pytest.raises(InputError, match="target must be real numbers"):
            Position("tool0").bind(m).rows_of(wrong)


# --- of a frame ---


@pytest.mark.slow
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


def test_nothing_to_ask_for_is_refused():
    m = robot_of("panda").mechanism
    with pytest.raises(InputError, match="both empty"):
        Pose("tool0", position="", rotation="").bind(m)
    with pytest.raises(InputError, match="mirror is about rotations"):
        Pose("tool0", rotation="", mirror="x").bind(m)


def between(robot, q, frame, other):
    return measures.back(robot.fk(q, other)) @ robot.fk(q, frame)


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


@pytest.mark.slow
def test_a_planar_joint_on_the_way_up():
    # there the chain between the two cannot be turned round, and both go through the world
    robot = robot_of(every_joint_urdf())
    q = postures(robot, "ball", 50)
    T = between(robot, q, "hand", "ball")
    solver = robot.solver(tasks=RelativePose("hand", "ball"))
    near = robot.integrate(q, np.full((50, robot.n_v), 0.05))
    near = np.clip(near, robot.limits.lower, robot.limits.upper)  # of what does not move as well
    at = int(robot.mechanism.q_start[robot.mechanism.joint("socket")])
    near[:, at : at + 4] = q[:, at : at + 4]  # it does not move either
    result = solver.solve(T, near)
    assert result.success.all()
    reached = between(robot, result.q, "hand", "ball")
    assert measures.turn_between(reached, T).max() <= 1.001e-4


@pytest.mark.slow
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


def test_the_opposite_direction_is_turned_round():
    robot = robot_of("panda")
    q = postures(robot, "opposite")
    targets = -measures.axis_of(robot.fk(q, "tool0"), (0, 0, 1))
    result = robot.solver(tasks=Direction("tool0")).solve(targets, q)
    assert result.success.all()
    assert np.abs(robot.fk(result.q, "tool0")[:, :3, 2] - targets).max() < 1e-3


def test_standing_in_the_target_is_not_pointing_at_it():
    robot = robot_of("panda")
    bound = Pointing("tool0").bind(robot.mechanism)
    for q in postures(robot, "inside", 5):
        found = bound.residual(NUMPY, q, robot.fk(q, "tool0")[:3, 3])
        assert found.squared[0] == pytest.approx(1.0, abs=1e-3)
        assert np.isfinite(np.array(found.columns)).all()


# --- of joints ---


def test_some_joints_in_the_order_of_their_names():
    robot = robot_of("panda")
    g = rng("some")
    targets = np.stack([g.uniform(0, 3, 200), g.uniform(-1, 1, 200)], axis=1)
    q = solved(robot, Posture(joints=["joint6", "joint2"]), targets)
    np.testing.assert_allclose(q[:, [5, 1]], targets, atol=1.001e-4)
    one = solved(robot, Posture(joints="joint2"), targets[:, 1:])
    np.testing.assert_allclose(one[:, 1], targets[:, 1], atol=1.001e-4)


def test_a_floating_base_comes_to_its_pose():
    robot = robot_of("quadruped", base="floating")
    targets = postures(robot, "base")
    base = targets[:, :7] * np.where(
        rng("signs").random((200, 1)) < 0.5, 1.0, [1, 1, 1, -1, -1, -1, -1]
    )
    q = solved(robot, Posture(joints=robot.joint_names[0]), base)
    np.testing.assert_allclose(robot.fk(q, "trunk"), robot.fk(targets, "trunk"), atol=2e-4)


def test_an_angle_without_limits_comes_from_the_nearer_side():
    robot = robot_of("mobile_arm")
    wheel = robot.joint_names[1]
    solver = robot.solver(tasks=Posture(joints=wheel))
    start = np.zeros((5, robot.n_q))
    start[:, 3] = [0.1, 3.0, -3.0, 9.5, -40.0]
    targets = np.array([[0.2], [-3.0], [3.0], [0.0], [100.0]])
    result = solver.solve(targets, start, tries=1)
    assert result.success.all()
    way = result.q[:, 3] - start[:, 3]
    assert np.abs(way).max() <= np.pi
    np.testing.assert_allclose(np.cos(result.q[:, 3] - targets[:, 0]), 1.0, atol=1e-8)


def test_it_is_measured_in_radians_and_in_metres():
    m = robot_of("scara").mechanism
    groups = Posture().bind(m).groups
    assert [(g.name, g.unit, g.start, g.stop, g.chord) for g in groups] == [
        ("angles", "rad", 0, 3, False),
        ("lengths", "m", 3, 4, False),
    ]
    only = Posture(joints="joint3").bind(m)
    assert [g.name for g in only.groups] == ["lengths"]
    assert only.kind.n == 1


def test_a_quaternion_of_zeros_is_refused():
    m = robot_of(every_joint_urdf()).mechanism
    bound = Posture(joints="free").bind(m)
    assert bound.kind.n == 7
    with pytest.raises(InputError, match="quaternion 0 0 0 0"):
        bound.rows_of([[1, 2, 3, 0.1, 0, 0, 0], [1, 2, 3, 0, 0, 0, 0]])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "two_arm_torso"])
def test_the_joint_follows_while_the_tool_gets_there(name):
    robot = robot_of(name)
    frame = "tool0" if name == "panda" else "left_tool0"
    first, second = ("joint6", "joint2") if name == "panda" else ("left_elbow", "left_shoulder_yaw")
    ratio, offset = (0.5, 1.5) if name == "panda" else (0.3, -1.2)
    a, b = (robot.joint_names.index(n) for n in (first, second))
    q = postures(robot, "coupled")
    q[:, a] = ratio * q[:, b] + offset
    p = robot.fk(q, frame)[:, :3, 3]
    tasks = [Position(frame), JointCoupling(first, second, ratio=ratio, offset=offset)]
    found = solved(robot, tasks, p)
    assert np.linalg.norm(robot.fk(found, frame)[:, :3, 3] - p, axis=1).max() <= 1.001e-5
    assert np.abs(found[:, a] - ratio * found[:, b] - offset).max() <= 1.001e-4


def test_a_slide_is_measured_in_metres():
    m = robot_of("scara").mechanism
    bound = JointCoupling("joint3", "joint1", ratio=0.02).bind(m)
    assert [(g.name, g.unit) for g in bound.groups] == [("position", "m")]
    assert bound.kind.n == 0
    assert bound.counts_turns == (2, 0)


def test_what_cannot_be_coupled_is_refused():
    m = robot_of("mobile_arm").mechanism
    with pytest.raises(InputError, match="'base' is a planar joint"):
        JointCoupling("arm_1", "base").bind(m)
    with pytest.raises(InputError, match="to itself"):
        JointCoupling("arm_1", "arm_1").bind(m)


def test_joints_without_limits_count_their_turns():
    robot = robot_of("mobile_arm")
    first, second = robot.joint_names[1:3]
    start = np.zeros((200, robot.n_q))
    start[:, 3:5] = rng("wheels").uniform(-9.0, 9.0, (200, 2))
    task = JointCoupling(first, second, ratio=0.3, offset=2.0)
    q = solved(robot, task, None, q0=start)
    assert np.abs(q[:, 3] - 0.3 * q[:, 4] - 2.0).max() <= 1.001e-4
    # by the nearest way, which is shorter than a turn of either
    assert np.abs(q - start).max() <= np.abs(start[:, 3] - 0.3 * start[:, 4] - 2.0).max()


# --- of the whole mechanism ---


def centres(robot, q):
    return np.array([measures.center_of_mass(robot, each) for each in q])


@pytest.mark.slow
def test_above_a_foot_with_both_feet_where_they_are():
    robot = robot_of("humanoid", base="floating")
    q = postures(robot, "feet", 20)
    q[:, :3] *= 0.1
    left, right, com = robot.fk(q, "left_foot"), robot.fk(q, "right_foot"), centres(robot, q)
    tasks = [Pose("left_foot"), Pose("right_foot"), CenterOfMass(axes="xy")]
    start = robot.integrate(q, 0.1 * np.ones((20, robot.n_v)))
    found = solved(robot, tasks, [left, right, com], q0=start)
    assert np.linalg.norm((centres(robot, found) - com)[:, :2], axis=1).max() <= 1.001e-5
    assert measures.turn_between(robot.fk(found, "left_foot"), left).max() <= 1.001e-4


def test_joints_that_move_no_mass_do_not_matter():
    m = robot_of(every_joint_urdf()).mechanism
    bound = CenterOfMass().bind(m)
    massless = {"spin", "grip_a", "plane", "free", "socket"}  # nothing behind them has a mass
    assert {m.joint_names[c] for c in bound.coordinates} == set(m.joint_names) - massless
    assert JointType.FLOATING in m.joint_types


def test_without_masses_it_is_refused():
    with pytest.raises(InputError, match="CenterOfMass: the masses of 'chain' add up to 0 kg"):
        CenterOfMass().bind(robot_of(chain_urdf(3)).mechanism)


def test_closed_has_the_rows_of_every_loop_and_coupling():
    m = with_every_kind().mechanism
    bound = Closed().bind(m)
    assert bound.n_rows == sum(len(loop.row_names) for loop in m.loops) + 2
    assert bound.blocks[-1][1] == bound.n_rows and len(bound.blocks) == len(m.loops) + 2
    assert bound.kind.n == 0 and set(bound.tolerances) == {CLOSED_TOLERANCE}
    assert Closed(tolerance=1e-6).bind(m).tolerances[0] == 1e-6


def test_each_block_depends_on_its_coordinates_alone():
    robot = with_every_kind()
    m, q = robot.mechanism, robot.at + 0.1
    bound = Closed().bind(m)
    columns = np.array(bound.residual(NUMPY, q, np.zeros(0)).columns).T
    for start, stop, coordinates in bound.blocks:
        own = {v for c in coordinates for v in range(m.v_start[c], m.v_start[c + 1])}
        others = [v for v in range(m.n_v) if v not in own]
        assert not columns[start:stop, others].any()
        assert columns[start:stop, sorted(own)].any()


def test_options_do_not_change_the_tolerance_of_loops():
    m = lw.load("five_bar").mechanism
    problem = make_problem(m, [Closed(), lw.ik.Position("tool0")])
    loose = Options(position_tolerance=0.1, rotation_tolerance=0.1).thresholds(problem)
    assert loose == pytest.approx([1e-24, 1e-24, 0.01])


def test_a_tree_has_nothing_to_close():
    with pytest.raises(InputError, match="'panda' has no loops"):
        Closed().bind(lw.load("panda").mechanism)
    with pytest.raises(InputError, match="takes no target"):
        Closed().bind(lw.load("five_bar").mechanism).rows_of([1.0])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "ur5e"])
def test_manipulability_is_kept_above_the_least_while_the_tool_gets_there(name):
    robot = robot_of(name)
    q = postures(robot, "least", 600)
    w = np.array([measures.manipulability(robot, each, "tool0") for each in q])
    q = q[np.argsort(w)[-200:]]
    least = 0.9 * np.sort(w)[-200:]
    p = robot.fk(q, "tool0")[:, :3, 3]
    tasks = [Position("tool0"), Manipulability("tool0")]
    found = solved(robot, tasks, [p, least[:, None]])
    assert np.linalg.norm(robot.fk(found, "tool0")[:, :3, 3] - p, axis=1).max() <= 1.001e-5
    reached = np.array([measures.manipulability(robot, each, "tool0") for each in found])
    assert (reached >= least - 1.1e-6).all()
    assert (reached > least + 1e-3).any()  # more is as good


def test_what_can_never_be_above_zero_is_refused():
    with pytest.raises(InputError, match="always zero; name those"):
        Manipulability("link3", rotation="").bind(robot_of(chain_urdf(3)).mechanism)
    Manipulability("link3", position="xy", rotation="").bind(robot_of(chain_urdf(3)).mechanism)
    m = robot_of("panda").mechanism
    with pytest.raises(InputError, match="no joint moves 'link0'"):
        Manipulability("link0").bind(m)
    with pytest.raises(InputError, match="both empty"):
        Manipulability("tool0", position="", rotation="").bind(m)
    with pytest.raises(InputError, match="at_least must be above 0"):
        Manipulability("tool0", 0.0).bind(m)


# a tool that a frame holds


def test_a_tool_that_is_held_is_brought_to_the_target():
    robot, random = lw.load("planar_3r"), rng("held")
    q = postures(robot, "held", 4)
    tools = np.array([lw.pose(random.normal(size=3), rpy=random.normal(size=3)) for _ in q])
    targets = robot.fk(q, "tool0") @ tools
    asked = {"position": "xy", "rotation": "z", "axes_of": "tool"}
    solver = robot.solver(tasks=Pose("tool0", held=True, **asked))
    many = solver.solve(np.stack([targets, tools], axis=1), q + 0.2)
    assert many.success.all()
    for k, (T, tool) in enumerate(zip(targets, tools, strict=True)):
        one = solver.solve(np.stack([T, tool]), q[k] + 0.2)
        np.testing.assert_array_equal(one.q, many.q[k])
        frame = robot.fk(one.q, "tool0") @ tool
        way = frame[:3, :3].T @ (T - frame)[:3, 3]
        turn = so3.log(NUMPY, frame[:3, :3].T @ T[:3, :3])
        assert np.linalg.norm(way[:2]) < 1e-5
        assert abs(turn[2]) < 1e-4


def test_a_tool_that_is_held_is_given_with_the_target():
    task = Pose("tool0", held=True)
    for wrong in (np.eye(4), np.zeros((3, 4, 4)), np.zeros((2, 3, 3))):
        with pytest.raises(ShapeError, match="T_frame_tool"):
            replace(task, target=wrong).bind(M)
    with pytest.raises(InputError):
        replace(task, target=np.stack([np.eye(4), 2.0 * np.eye(4)])).bind(M)
    with pytest.raises(InputError, match="held"):
        Pose("tool0", held=1).bind(M)  # pyright: ignore - what is refused
    assert replace(task, target=np.stack([np.eye(4)] * 2)).bind(M).kind.n == 24
