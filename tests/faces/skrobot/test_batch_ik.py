"""Rows S0-160 to S0-176: inverse kinematics of many targets at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from linkwork import poses
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.faces.skrobot.coordinates import CascadedCoords, Coordinates
from linkwork.faces.skrobot.model.robot_model import RobotModel
from linkwork.models import path
from seeds import rng

Floats = NDArray[np.float64]
THRE, RTHRE = 0.001, math.radians(1.0)
TOOL = poses.pose([0.02, -0.03, 0.1], rpy=[0.2, 0.3, -0.4])


def robot_of(name: str, tip: str | None = None) -> RobotModel:
    """A bundled robot somewhere in the world, with a tool at an angle on its last link."""
    robot: Any = RobotModel.from_urdf(str(path(name)))
    link = robot.link_list[-1] if tip is None else robot.links[tip]
    robot.end_coords = CascadedCoords(pos=TOOL[:3, 3], rot=TOOL[:3, :3], parent=link)
    robot.newcoords(Coordinates(pos=[0.3, -0.2, 0.1]).rotate(0.4, "z"))
    return robot


@pytest.fixture(name="arm", scope="module")
def _arm() -> Any:
    return robot_of("panda")


@pytest.fixture(autouse=True)
def _at_rest(request: pytest.FixtureRequest) -> Any:
    """A shared arm begins each test where it stands, and no call has moved it."""
    if "arm" not in request.fixturenames:
        yield
        return
    arm = request.getfixturevalue("arm")
    arm.angle_vector([0.3, -0.4, 0.2, -2.0, 0.1, 1.6, 0.7])
    before = arm.angle_vector(), arm.copy_worldcoords().T()
    yield
    assert_allclose(arm.angle_vector(), before[0], atol=0.0)
    assert_allclose(arm.copy_worldcoords().T(), before[1], atol=0.0)


def targets_of(robot: Any, n: int, label: str, frame: Any = None) -> list[Coordinates]:
    """Poses of the tool at random angles; the robot goes back where it was."""
    g, q = rng(label), robot.angle_vector()
    found: list[Coordinates] = []
    low, high = np.maximum(robot.joint_min_angles, -3), np.minimum(robot.joint_max_angles, 3)
    for _ in range(n):
        robot.angle_vector(g.uniform(low, high))
        found.append((frame or robot.end_coords).copy_worldcoords())
    robot.angle_vector(q)
    return found


def misses(robot: Any, solutions: Any, targets: Any, frame: Any = None) -> Floats:
    """How far the tool is from its targets, in its own axes: positions, then rotations (n, 6)."""
    q = robot.angle_vector()
    rows: list[Floats] = []
    frame = frame or robot.end_coords
    for solution, target in zip(solutions, targets, strict=True):
        robot.angle_vector(solution)
        assert_allclose(robot.angle_vector(), solution, atol=0.0)  # inside the limits
        moved = frame.copy_worldcoords()
        rows.append(np.append(moved.difference_position(target), moved.difference_rotation(target)))
    robot.angle_vector(q)
    return np.array(rows).reshape(-1, 6)


def assert_reached(robot: Any, found: Any, targets: Any, frame: Any = None) -> None:
    assert found.success_flags == [True] * len(targets)
    away = misses(robot, found.solutions, targets, frame)
    assert np.linalg.norm(away[:, :3], axis=1).max() < 1e-4
    assert np.linalg.norm(away[:, 3:], axis=1).max() < 1e-3


# --- the form of calls and answers ----------------------------------------------------------------


@pytest.mark.row("S0-160", "S0-163", "S0-176")
def test_frames_are_reached_and_answers_are_lists(arm: Any):
    targets = targets_of(arm, 200, "skrobot batch")
    found = arm.batch_inverse_kinematics(targets)
    solutions, success = found
    assert isinstance(solutions, list)
    assert isinstance(success, list)
    assert all(type(each) is bool for each in success)
    assert all(each.shape == (7,) and each.dtype == np.float64 for each in solutions)
    assert_reached(arm, found, targets)
    assert found.base_poses is None
    assert found.attempt_counts[0] >= 1
    assert found.attempts.angle_vectors.shape == (200, 1, 7)
    assert found.attempts.success.all()
    several = arm.batch_inverse_kinematics(targets[:3], attempts_per_pose=2)
    assert len(several) == 3
    assert several[2] == several.attempt_counts
    assert len(several.attempt_counts) == 3
    assert arm.batch_inverse_kinematics([]) == ([], [])


@pytest.mark.row("S0-161", "S0-162")
def test_rows_are_roll_pitch_yaw_or_quaternions_with_the_real_part_last(arm: Any):
    targets = targets_of(arm, 20, "skrobot batch rows")
    rolled, turned = [], []
    for target in targets:
        xyz, rpy = poses.xyz_rpy(target.T())
        rolled.append([*xyz, *rpy])
        turned.append([*target.worldpos(), *target.world_quaternion_xyzw()])
    for rows in (np.array(rolled), rolled, np.array(turned), turned):
        assert_reached(arm, arm.batch_inverse_kinematics(rows), targets)
    other = np.array(turned)
    other[:, 3:] *= -1.0  # the same rotations
    assert_reached(arm, arm.batch_inverse_kinematics(other), targets)


@pytest.mark.row("S0-160")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.zeros(7), "shape"),
        (np.zeros((2, 5)), "shape"),
        (np.zeros((2, 4, 4)), "shape"),
        (np.full((2, 7), np.nan), "norm|finite"),
        (np.full((2, 6), np.inf), "finite"),
        ([[0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 0.0]], "norm is not 1"),
        ("a", "array"),
        (Coordinates(), "array"),
        ([Coordinates(), [0.0] * 7], "mixes"),
    ],
)
def test_what_is_no_target(arm: Any, given: Any, said: str):
    with pytest.raises(ValueError, match=said):
        arm.batch_inverse_kinematics(given)


@pytest.mark.row("S0-160", "S0-166", "S0-167", "S0-171", "S0-172")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"backend": "fortran"}, "Unknown backend"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 1.5}, "alpha"),
        ({"use_base": True}, "use_base"),
        ({"use_base": "train"}, "use_base"),
        ({"use_base": "planar", "base_weight": 0.0}, "strictly positive"),
        ({"use_base": "planar", "base_weight": [1.0, 2.0]}, "base_weight"),
        ({"attempts_per_pose": 0}, "at least 1"),
        ({"initial_angles": "there"}, "initial_angles"),
        ({"initial_angles": np.zeros((1, 3))}, "shape"),
        ({"initial_angles": np.zeros(7)}, "shape"),
        ({"position_mask": "xq"}, "mask"),
        ({"rotation_mirror": "q"}, "rotation_mirror"),
        ({"translation_tolerance": [0.1, 0.1]}, "three values"),
        ({"thre": 0.0}, "thre"),
        ({"joint_weights": [1.0]}, "joint_weights"),
        ({"joint_weights": {"joint9": 1.0}}, "joint_weights"),
        ({"joint_weights": {"joint1": 0.0}}, "positive"),
        ({"retry_seed": "there"}, "retry_seed"),
    ],
)
def test_what_is_refused(arm: Any, arguments: dict[str, Any], said: str):
    with pytest.raises(ValueError, match=said):
        arm.batch_inverse_kinematics([arm.end_coords.copy_worldcoords()], **arguments)


@pytest.mark.row("S0-160")
def test_keywords_that_are_none(arm: Any):
    for name in ("speed", "task_weights", "joint_limit_avoidance"):
        with pytest.raises(TypeError, match=name):
            arm.batch_inverse_kinematics([Coordinates()], **{name: 1.0})


@pytest.mark.row("S0-171", "S0-166")
def test_backends_give_the_same(arm: Any):
    targets = targets_of(arm, 5, "skrobot backends")
    first = np.array(arm.batch_inverse_kinematics(targets).solutions)
    for other in ({"backend": "numpy"}, {"backend": "jax"}, {"alpha": 0.5}):
        again = arm.batch_inverse_kinematics(targets, **other)
        assert_allclose(np.array(again.solutions), first, atol=0.0)


# --- what counts as solved ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.row("S0-164")
def test_thresholds_decide_where_a_target_is_out_of_reach(arm: Any):
    """The last joint alone moves the tool neither along its axis nor out of it."""
    there = arm.end_coords.copy_worldcoords()
    axis = arm.joint_list[-1].world_axis
    for way, turn in ((0.005, 0.0), (0.0, math.radians(3.0))):
        target = Coordinates(there.worldpos() + way * axis, there.worldrot())
        across = np.cross(axis, [1.0, 0.0, 0.0])
        target.rotate(turn, across / np.linalg.norm(across), "world")

        def found(thre: float, rthre: float, target: Any = target) -> bool:
            return arm.batch_inverse_kinematics(
                [target], joint_list=arm.joint_list[-1:], thre=thre, rthre=rthre
            ).success_flags[0]

        assert not found(THRE, RTHRE)
        assert found(0.02, math.radians(4.0))
        assert found(0.02 if way else 0.016, math.radians(0.5) if way else math.radians(3.5))
        assert not found(0.003 if way else 0.02, math.radians(4.0) if way else math.radians(2.0))


@pytest.mark.row("S0-164")
def test_rotations_are_finished_too(arm: Any):
    """A target where the tool is already, turned by 20 degrees."""
    target = arm.end_coords.copy_worldcoords().rotate(math.radians(20.0), "x")
    assert_reached(arm, arm.batch_inverse_kinematics([target]), [target])
    assert_reached(arm, arm.batch_inverse_kinematics([target], stop=1), [target])


@pytest.mark.row("S0-174")
def test_half_a_turn_away(arm: Any):
    """Where the antisymmetric part of the error's rotation is zero."""
    q = arm.angle_vector()
    arm.angle_vector([*q[:6], q[6] - math.pi])
    target = arm.end_coords.copy_worldcoords()
    arm.angle_vector(q)
    turned = arm.end_coords.copy_worldcoords().difference_rotation(target)
    assert np.linalg.norm(turned) == pytest.approx(math.pi)
    assert_reached(arm, arm.batch_inverse_kinematics([target]), [target])
    last = arm.joint_list[-1:]
    found = arm.batch_inverse_kinematics([target], joint_list=last)
    assert_reached(arm, found, [target])
    assert_allclose(found.solutions[0][6], q[6] - math.pi, atol=1e-4)


@pytest.mark.row("S0-160", "S0-164")
def test_what_cannot_be_reached_is_said_so(arm: Any):
    far = Coordinates(pos=[5.0, 0.0, 0.0])
    there = arm.end_coords.copy_worldcoords()
    found = arm.batch_inverse_kinematics([far, there])
    assert found.success_flags == [False, True]
    assert np.isfinite(found.solutions[0]).all()
    assert found.attempts.errors[0, 0] > 1.0


# --- starts and attempts --------------------------------------------------------------------------


@pytest.mark.row("S0-165")
def test_where_the_search_starts(arm: Any):
    """Targets near a start are solved near it: the present angles, those given, or random ones."""
    g, q = rng("skrobot starts"), arm.angle_vector()
    others = q + g.uniform(-0.3, 0.3, (20, 7))
    near = []
    for row in others:
        arm.angle_vector(row + 0.01)
        near.append(arm.end_coords.copy_worldcoords())
    arm.angle_vector(q)
    given = arm.batch_inverse_kinematics(near, initial_angles=others)
    assert np.abs(np.array(given.solutions) - others).max() < 0.1
    assert_reached(arm, given, near)
    for form in (others.tolist(), others):
        again = arm.batch_inverse_kinematics(near, initial_angles=form)
        assert_allclose(np.array(again.solutions), np.array(given.solutions), atol=0.0)
    target = near[:1]
    now = arm.batch_inverse_kinematics(target).solutions[0]
    same = arm.batch_inverse_kinematics(target, initial_angles=q[None]).solutions[0]
    assert_allclose(now, same, atol=0.0)
    seen = []
    for how in ("random", None):
        found = [arm.batch_inverse_kinematics(target, initial_angles=how, rng=k) for k in (1, 1, 2)]
        rows = [each.solutions[0] for each in found]
        assert_allclose(rows[0], rows[1], atol=0.0)
        assert np.abs(rows[0] - rows[2]).max() > 1e-3
        assert all(each.success_flags[0] for each in found)
        seen.append(rows[0])
    assert_allclose(seen[0], seen[1], atol=0.0)
    rows = [
        arm.batch_inverse_kinematics(target, initial_angles=None, rng=np.random.default_rng(1))
        for _ in range(2)
    ]
    assert_allclose(rows[0].solutions[0], seen[0], atol=0.0)


@pytest.mark.row("S0-167", "S0-165")
def test_the_best_of_several_attempts(arm: Any):
    q = arm.angle_vector()
    targets = targets_of(arm, 30, "skrobot attempts")
    found = arm.batch_inverse_kinematics(targets, attempts_per_pose=5)
    assert_reached(arm, found, targets)
    tried = found.attempts
    assert tried.angle_vectors.shape == (30, 5, 7)
    assert tried.n_attempts == 5
    alone = arm.batch_inverse_kinematics(targets)
    assert_allclose(tried.angle_vectors[:, 0], np.array(alone.solutions), atol=0.0)
    ways = np.where(tried.success, np.linalg.norm(tried.angle_vectors - q, axis=2), np.inf)
    chosen = np.linalg.norm(np.array(found.solutions) - q, axis=1)
    assert_allclose(chosen, ways.min(axis=1))
    assert (chosen < ways[:, 0] - 1e-3).any()
    exact = arm.batch_inverse_kinematics(
        targets, attempts_per_pose=5, select_closest_to_initial=False
    )
    best = exact.attempts.errors.argmin(axis=1)
    rows = exact.attempts.angle_vectors[np.arange(30), best]
    assert_allclose(np.array(exact.solutions), rows, atol=0.0)


@pytest.mark.row("S0-168")
def test_how_wide_random_starts_lie(arm: Any):
    """With no width all attempts begin in the middle, or where the first one does."""
    targets = targets_of(arm, 5, "skrobot widths")
    middle = 0.5 * (arm.joint_min_angles + arm.joint_max_angles)
    narrow = arm.batch_inverse_kinematics(
        targets, attempts_per_pose=3, random_initial_range=0.0
    ).attempts.angle_vectors
    assert_allclose(narrow[:, 1], narrow[:, 2], atol=0.0)
    there = arm.batch_inverse_kinematics(targets, initial_angles=np.tile(middle, (5, 1)))
    assert_allclose(narrow[:, 1], np.array(there.solutions), atol=0.0)
    around = arm.batch_inverse_kinematics(
        targets, attempts_per_pose=3, random_initial_range=0.0, retry_seed="current"
    ).attempts.angle_vectors
    assert_allclose(around[:, 1], around[:, 0], atol=0.0)
    wide = arm.batch_inverse_kinematics(targets, attempts_per_pose=3).attempts.angle_vectors
    assert np.abs(wide[:, 1] - wide[:, 2]).max() > 0.1


# --- which axes, which joints ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.row("S0-170")
def test_masks(arm: Any):
    """Positions along the axes of the world, rotations about those of the tool; others are free."""
    targets = targets_of(arm, 10, "skrobot masks")
    for mask, rows in (("xy", [0, 1]), ([0, 0, 1], [2])):
        found = arm.batch_inverse_kinematics(targets, position_mask=mask, rotation_mask=False)
        assert all(found.success_flags)
        q = arm.angle_vector()
        away = []
        for solution, target in zip(found.solutions, targets, strict=True):
            arm.angle_vector(solution)
            away.append(arm.end_coords.worldpos() - target.worldpos())
        arm.angle_vector(q)
        away = np.abs(away)
        assert away[:, rows].max() < 1e-4
        assert away.max() > 1e-2
    found = arm.batch_inverse_kinematics(targets, rotation_mask="xy")
    away = np.abs(misses(arm, found.solutions, targets))
    assert all(found.success_flags)
    assert away[:, :5].max() < 1e-3
    assert away[:, 5].max() > 1e-2
    none = arm.batch_inverse_kinematics(targets, position_mask=False, rotation_mask=False)
    assert all(none.success_flags)
    assert_allclose(np.array(none.solutions), np.tile(arm.angle_vector(), (10, 1)), atol=0.0)
    every = arm.batch_inverse_kinematics(targets, position_mask=None, rotation_mask=None)
    assert_reached(arm, every, targets)


@pytest.mark.slow
@pytest.mark.row("S0-170")
def test_older_names_of_masks(arm: Any):
    """They name the axes that are free; 'xm' mirrors."""
    targets = targets_of(arm, 10, "skrobot older masks")
    found = arm.batch_inverse_kinematics(targets, rotation_axis="z")
    away = np.abs(misses(arm, found.solutions, targets))
    assert all(found.success_flags)
    assert away[:, :5].max() < 1e-3
    assert away[:, 5].max() > 1e-2
    pure = arm.batch_inverse_kinematics(targets, rotation_axis=False)
    away = np.abs(misses(arm, pure.solutions, targets))
    assert away[:, :3].max() < 1e-4
    assert away[:, 3:].max() > 1e-2


@pytest.mark.slow
@pytest.mark.row("S0-170")
def test_a_mirrored_rotation_is_as_good(arm: Any):
    targets = targets_of(arm, 30, "skrobot mirror")
    turned = [t.copy_worldcoords().rotate(math.pi, "x") for t in targets]
    found = arm.batch_inverse_kinematics(turned, rotation_mirror="x")
    assert all(found.success_flags)
    both = np.stack([misses(arm, found.solutions, each) for each in (targets, turned)])
    assert np.abs(both[:, :, :3]).max() < 1e-4
    ways = np.linalg.norm(both[:, :, 3:], axis=2)
    assert ways.min(axis=0).max() < 1e-3
    assert ways[0].min() < 1e-3 < 3.0 < ways[0].max()


@pytest.mark.slow
@pytest.mark.row("S0-169")
def test_tolerances(arm: Any):
    """Lengths along the axes of the target, angles about those of the tool."""
    there = arm.end_coords.copy_worldcoords()
    target = there.copy_worldcoords().translate([0.03, 0.0, 0.0]).rotate(0.05, "y")
    found = arm.batch_inverse_kinematics(
        [target], translation_tolerance=[0.01, None, 0], rotation_tolerance=[None, 0.02, None]
    )
    away = misses(arm, found.solutions, [target])[0]
    R = target.worldrot()
    assert found.success_flags == [True]
    q = arm.angle_vector()
    arm.angle_vector(found.solutions[0])
    shift = R.T @ (arm.end_coords.worldpos() - target.worldpos())
    arm.angle_vector(q)
    assert 0.001 < abs(shift[0]) < 0.01 + 1e-4
    assert np.abs(shift[1:]).max() < 1e-4
    assert 0.001 < abs(away[4]) < 0.02 + 1e-3
    assert np.abs(away[[3, 5]]).max() < 2e-3
    whole = arm.batch_inverse_kinematics([target], translation_tolerance=[0, 0, 0])
    assert_reached(arm, whole, [target])


@pytest.mark.slow
@pytest.mark.row("S0-173")
def test_which_joints_move(arm: Any):
    joints, q = arm.joint_list, arm.angle_vector()
    arm.angle_vector(q + np.array([0.2, 0, 0, 0.1, 0, -0.2, 0.3]))
    target = arm.end_coords.copy_worldcoords()
    arm.angle_vector(q)
    some = [joints[0], joints[3], joints[5], joints[6]]
    found = arm.batch_inverse_kinematics([target], joint_list=some)
    assert_reached(arm, found, [target])
    assert_allclose(found.solutions[0][[1, 2, 4]], q[[1, 2, 4]], atol=0.0)
    forms = (
        {"joint_list": [joint.name for joint in some]},
        {"link_list": [joint.child_link for joint in some]},
        {"joint_list": joints, "invariant_joint_list": [joints[k] for k in (1, 2, 4)]},
        {"invariant_joint_list": [joints[k] for k in (1, 2, 4)]},
    )
    for form in forms:
        again = arm.batch_inverse_kinematics([target], **form)
        assert_allclose(again.solutions[0], found.solutions[0], atol=1e-12)
    start = arm.batch_inverse_kinematics(
        [target], joint_list=some[::-1], initial_angles=np.array([[0.9, 1.4, -1.9, 0.5]]), stop=1
    )
    assert start.success_flags == [True]
    with pytest.raises(ValueError, match="not both"):
        arm.batch_inverse_kinematics([target], joint_list=joints, link_list=arm.link_list)
    with pytest.raises(ValueError, match="no joint may move"):
        arm.batch_inverse_kinematics([target], joint_list=some, invariant_joint_list=some)
    with pytest.raises(ValueError, match="no joint may move"):
        arm.batch_inverse_kinematics([target], joint_list=[])
    with pytest.raises(UnknownNameError, match="joint9"):
        arm.batch_inverse_kinematics([target], joint_list=["joint9"])


@pytest.mark.slow
@pytest.mark.row("S0-173")
def test_how_readily_joints_move(arm: Any):
    q = arm.angle_vector()
    target = arm.end_coords.copy_worldcoords().translate([0.0, 0.05, 0.05], "world")
    first = arm.joint_list[0]
    for weights in ({first: 0.01}, {"joint1": 0.01}, [0.01, 1, 1, 1, 1, 1, 1]):
        plain, held = (
            arm.batch_inverse_kinematics([target], joint_weights=each) for each in (None, weights)
        )
        assert_reached(arm, held, [target])
        ways = [abs(each.solutions[0] - q)[0] for each in (plain, held)]
        assert ways[1] < 0.3 * ways[0]


@pytest.mark.slow
@pytest.mark.row("S0-174")
def test_followers_move_with_their_leaders():
    text = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
    <joint name="j1" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
    <joint name="j2" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
    <origin xyz="1 0 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/>
    <mimic joint="j1" multiplier="-0.5" offset="0.1"/></joint>
    <joint name="j3" type="prismatic"><parent link="c"/><child link="d"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    for included in (True, False):
        robot: Any = RobotModel.from_urdf(text, include_mimic_joints=included)
        robot.end_coords = CascadedCoords(pos=[0.5, 0, 0], parent=robot.d)
        robot.j1.joint_angle(0.8)
        robot.j3.joint_angle(0.3)
        target = robot.end_coords.copy_worldcoords()
        robot.init_pose()
        found = robot.batch_inverse_kinematics([target])
        assert_reached(robot, found, [target])
        expected = [0.8, -0.3, 0.3] if included else [0.8, 0.3]
        assert_allclose(found.solutions[0], expected, atol=1e-3)
        if included:  # the follower alone means both; its leader held, neither moves
            found = robot.batch_inverse_kinematics([target], joint_list=[robot.j2, robot.j3])
            assert_allclose(found.solutions[0], expected, atol=1e-3)
            found = robot.batch_inverse_kinematics([target], invariant_joint_list=[robot.j1])
            assert found.success_flags == [False]
            assert_allclose(found.solutions[0][:2], robot.angle_vector()[:2], atol=0.0)


# --- bases, several hands -------------------------------------------------------------------------


@pytest.mark.row("S0-172")
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["planar", "6dof"])
def test_a_base_that_moves(arm: Any, kind: str):
    near = arm.end_coords.copy_worldcoords()
    shift = [2.0, -1.0, 0.0] if kind == "planar" else [2.0, -1.0, 1.0]
    targets = [near, near.copy_worldcoords().translate(shift, "world").rotate(1.0, "z", "world")]
    assert arm.batch_inverse_kinematics(targets).success_flags == [True, False]
    found = arm.batch_inverse_kinematics(targets, use_base=kind, base_weight=0.1)
    solutions, bases, success, counts = found
    assert success == [True, True]
    assert len(counts) == 2
    assert (solutions, bases) == (found.solutions, found.base_poses)
    start = arm.copy_worldcoords()
    q = arm.angle_vector()
    for solution, base, target in zip(solutions, bases, targets, strict=True):
        if kind == "planar":  # it stays on its plane
            assert base.worldpos()[2] == pytest.approx(start.worldpos()[2], abs=1e-9)
            assert_allclose(base.worldrot()[2], [0.0, 0.0, 1.0], atol=1e-9)
        arm.newcoords(base)
        arm.angle_vector(solution)
        assert np.linalg.norm(arm.end_coords.difference_position(target)) < 1e-4
        assert np.linalg.norm(arm.end_coords.difference_rotation(target)) < 1e-3
    arm.newcoords(start)
    arm.angle_vector(q)
    assert np.linalg.norm(bases[0].worldpos() - start.worldpos()) < 1e-6


@pytest.mark.slow
@pytest.mark.row("S0-172")
def test_how_readily_a_base_moves(arm: Any):
    target = arm.end_coords.copy_worldcoords().translate([0.05, 0.05, 0.0], "world")
    start, ways = arm.copy_worldcoords().worldpos(), []
    for weight in (0.01, 1.0, [100.0] * 3):
        found = arm.batch_inverse_kinematics([target], use_base="planar", base_weight=weight)
        assert found.success_flags == [True]
        ways.append(np.linalg.norm(found.base_poses[0].worldpos() - start))
    assert ways[0] < 0.3 * ways[1] < 0.3 * ways[2]
    shifts = []
    for weight in ([0.01, 0.01, 1.0], [1.0, 1.0, 0.01]):  # one for each degree of freedom
        found = arm.batch_inverse_kinematics([target], use_base="planar", base_weight=weight)
        shifts.append(np.linalg.norm(found.base_poses[0].worldpos() - start))
    assert shifts[0] < 0.5 * shifts[1]
    everything = {"invariant_joint_list": arm.joint_list, "use_base": "planar"}
    found = arm.batch_inverse_kinematics([target], **everything)
    assert found.success_flags == [True]
    assert_allclose(found.solutions[0], arm.angle_vector(), atol=0.0)
    with pytest.warns(RuntimeWarning, match="base_weight is ignored"):
        arm.batch_inverse_kinematics([target], base_weight=0.5)


@pytest.mark.slow
@pytest.mark.row("S0-175")
def test_several_hands():
    robot: Any = RobotModel.from_urdf(str(path("two_arm_torso")))
    hands = [CascadedCoords(pos=[0, 0, 0.05], parent=robot.links[f"{side}_tool0"])
             for side in ("left", "right")]  # fmt: skip
    g = rng("skrobot hands")
    targets: list[list[Coordinates]] = [[], []]
    for _ in range(20):
        robot.angle_vector(g.uniform(robot.joint_min_angles, robot.joint_max_angles))
        for row, hand in zip(targets, hands, strict=True):
            row.append(hand.copy_worldcoords())
    robot.init_pose()
    found = robot.batch_inverse_kinematics(targets, move_target=hands)
    for row, hand in zip(targets, hands, strict=True):
        assert_reached(robot, found, row, hand)
    chains = [robot.link_lists(hand.parent) for hand in hands]
    joints = [[link.joint for link in chain if link.joint is not None] for chain in chains]
    rows = [np.array([[*t.worldpos(), *t.world_quaternion_xyzw()] for t in row]) for row in targets]
    forms = (
        {"link_list": chains},
        {"link_list": chains[::-1]},
        {"joint_list": joints},
        {"task_weights": [1.0, 0.5], "joint_limit_avoidance": 0.01},
        {"position_mask": [True, True], "rotation_mask": [True, True]},
    )
    for form in forms:
        found = robot.batch_inverse_kinematics(rows, move_target=hands, **form)
        assert np.mean(found.success_flags) == 1.0
        for row, hand in zip(targets, hands, strict=True):
            assert_reached(robot, found, row, hand)
    far = [targets[0][:1], [Coordinates(pos=[9.0, 0.0, 0.0])]]
    assert robot.batch_inverse_kinematics(far, move_target=hands).success_flags == [False]
    free = robot.batch_inverse_kinematics(far, move_target=hands, task_weights=[1.0, 0.0])
    assert free.success_flags == [True]
    free = robot.batch_inverse_kinematics(
        far, move_target=hands, position_mask=[True, False], rotation_mask=[True, False]
    )
    assert free.success_flags == [True]


@pytest.mark.slow
@pytest.mark.row("S0-175")
def test_joints_are_kept_from_the_ends_of_their_ranges(arm: Any):
    targets = [[arm.end_coords.copy_worldcoords()]]
    how: dict[str, Any] = {"move_target": [arm.end_coords], "rotation_mask": False}
    middle = 0.5 * (arm.joint_min_angles + arm.joint_max_angles)
    ranges = arm.joint_max_angles - arm.joint_min_angles
    plain, centred = (
        arm.batch_inverse_kinematics(targets, joint_limit_avoidance=gain, **how)
        for gain in (None, 0.1)
    )
    first, second = (
        np.sum(((each.solutions[0] - middle) / ranges) ** 2) for each in (plain, centred)
    )
    assert centred.success_flags == [True]
    assert second < 0.7 * first


@pytest.mark.row("S0-175")
@pytest.mark.parametrize(
    ("targets", "more", "said"),
    [
        ([[0]], {}, "list of 2"),
        ([[0, 0], [0]], {}, "different sizes"),
        ([[0], [0]], {"task_weights": [0, 0]}, "all zero"),
        ([[0], [0]], {"task_weights": [1]}, "task_weights"),
        ([[0], [0]], {"task_weights": [1, -1]}, "non-negative"),
        ([[0], [0]], {"joint_limit_avoidance": -1.0}, "joint_limit_avoidance"),
        ([[0], [0]], {"joint_list": [["joint1"]]}, "chains"),
        ([[0], [0]], {"joint_list": [["joint1"], "joint2"]}, "mixes"),
    ],
)
def test_what_is_refused_of_several_hands(arm: Any, targets: Any, more: dict[str, Any], said: str):
    frames = [[Coordinates() for _ in row] for row in targets]
    hands = [arm.end_coords, CascadedCoords(parent=arm.link_list[4])]
    with pytest.raises(ValueError, match=said):
        arm.batch_inverse_kinematics(frames, move_target=hands, **more)


@pytest.mark.row("S0-160")
def test_links_and_frames_on_frames_may_be_moved(arm: Any):
    for frame in (arm.link_list[-1], CascadedCoords(pos=[0, 0.1, 0], parent=arm.end_coords)):
        targets = targets_of(arm, 5, "skrobot frames that move", frame)
        found = arm.batch_inverse_kinematics(targets, move_target=frame)
        assert_reached(arm, found, targets, frame)
    with pytest.raises(InputError, match="does not hang on a link"):
        arm.batch_inverse_kinematics([Coordinates()], move_target=CascadedCoords())
    bare = RobotModel.from_urdf(str(path("panda")))
    with pytest.raises(AttributeError, match="end_coords"):
        bare.batch_inverse_kinematics([Coordinates()])
    with pytest.raises(ShapeError):
        arm.batch_inverse_kinematics(np.zeros((0, 3)))
