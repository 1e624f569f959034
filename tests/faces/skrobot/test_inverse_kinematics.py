"""Inverse kinematics of one target a call: what is reached, what stays, and what is refused."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork
from linkwork.faces.skrobot.coordinates import CascadedCoords, Coordinates
from linkwork.faces.skrobot.model import RobotModel
from linkwork.faces.skrobot.model.joint_limit_table import create_joint_limit_table
from seeds import rng
from skrobot_robots import PANDA_START as START
from skrobot_robots import panda

MODELS = Path(linkwork.__file__).parent / "models"
DEGREE = math.radians(1.0)


def robot_of(name: str, tool: str = "tool0") -> Any:
    """A bundled robot with its end coords 0.1 m in front of a link."""
    robot = RobotModel.from_urdf(str(MODELS / f"{name}.urdf"))
    robot.end_coords = CascadedCoords(parent=robot.links[tool], pos=[0.0, 0.0, 0.1])
    return robot


@pytest.fixture
def arm() -> Any:
    return panda()


def beside(arm: Any, way: Any = (0.05, 0.03, -0.02), angle: float = 0.2, axis: str = "x") -> Any:
    """A pose a little way from where the tool is."""
    return arm.end_coords.copy_worldcoords().translate(way).rotate(angle, axis)


def off(arm: Any, target: Any) -> Any:
    """The differences of position and rotation of the tool, in its axes (6,)."""
    tool = arm.end_coords
    return np.concatenate([tool.difference_position(target), tool.difference_rotation(target)])


def inside(arm: Any) -> bool:
    q = arm.angle_vector()
    return bool(((q >= arm.joint_min_angles) & (q <= arm.joint_max_angles)).all())


@pytest.mark.row("S0-110", "S0-111", "S0-112", "S0-120", "S0-121")
def test_poses_are_reached_from_anywhere(arm: Any):
    random = rng("poses")
    lower, upper = arm.joint_min_angles, arm.joint_max_angles
    for _ in range(30):
        arm.angle_vector(random.uniform(lower, upper))
        target = arm.end_coords.copy_worldcoords()
        arm.angle_vector(START)
        answer = arm.inverse_kinematics(target)
        assert np.array_equal(answer, arm.angle_vector())
        assert np.abs(off(arm, target)).max() < 1e-7
        assert inside(arm)
    near = START + 0.05
    arm.angle_vector(near)
    target = arm.end_coords.copy_worldcoords()
    arm.angle_vector(START)
    assert np.abs(arm.inverse_kinematics(target) - near).max() < 0.2  # and not elsewhere


@pytest.mark.row("S0-110", "S0-112", "S0-114", "S0-121")
def test_what_is_not_reached(arm: Any):
    far = Coordinates(pos=[3.0, 0.0, 0.5])
    assert arm.inverse_kinematics(far) is False
    assert np.array_equal(arm.angle_vector(), START)
    answer = arm.inverse_kinematics(far, revert_if_fail=False)
    assert np.array_equal(answer, arm.angle_vector())
    assert not np.allclose(arm.angle_vector(), START)
    assert np.linalg.norm(arm.end_coords.worldpos()[:2]) > 0.7  # as near as it comes


@pytest.mark.row("S0-112")
def test_thresholds_decide_on_success():
    flat = robot_of("planar_2r")  # it turns about z alone
    tool = flat.end_coords = flat.links["tool0"]
    flat.angle_vector([0.0, 0.0])
    reach = float(np.linalg.norm(tool.worldpos()))
    bent = [0.3, 0.5]
    flat.angle_vector(bent)
    reachable = tool.copy_worldcoords()

    def ik(target: Any, **more: Any) -> bool:
        flat.angle_vector(bent)
        return flat.inverse_kinematics(target, **more) is not False

    for turned, usual in ((0.5, True), (1.5, False)):  # degrees out of the plane
        target = reachable.copy().rotate(math.radians(turned), "x", "world")
        assert ik(target) is usual
        assert ik(target, rthre=0.9 * math.radians(turned)) is False
        assert ik(target, rthre=1.1 * math.radians(turned))
        assert np.linalg.norm(off(flat, target)[3:]) <= 1.1 * math.radians(turned)
    for beyond, usual in ((0.0005, True), (0.03, False)):  # metres
        target = Coordinates(pos=[0.0, reach + beyond, 0.0])
        assert ik(target, rotation_mask=False) is usual
        assert ik(target, rotation_mask=False, thre=0.9 * beyond) is False
        assert ik(target, rotation_mask=False, thre=1.1 * beyond)
        assert np.linalg.norm(off(flat, target)[:3]) <= 1.1 * beyond
    two = {"move_target": [tool, tool], "rotation_mask": False}
    near = Coordinates(pos=[0.0, reach + 0.005, 0.0])
    assert ik([near, near], thre=[0.006, 0.006], **two)
    assert ik([near, near], thre=0.006, **two)
    assert ik([near, near], thre=[0.006, 0.004], **two) is False
    for wrong in (
        {"thre": 0.0}, {"rthre": -1.0}, {"thre": [0.1, 0.1]}, {"thre": "x"}, {"rthre": 1j}
    ):  # fmt: skip
        with pytest.raises(ValueError, match="thre"):
            ik(reachable, **wrong)


@pytest.mark.row("S0-110", "S0-117")
def test_chains_of_links_or_joints(arm: Any):
    target, q = beside(arm), arm.angle_vector()
    links = arm.link_lists(arm.end_coords.parent)
    arm.inverse_kinematics(target)
    whole = arm.angle_vector()
    for chain in (
        {"link_list": links}, {"joint_list": arm.joint_list}, {"link_list": [links]},
        {"move_target": [arm.end_coords], "joint_list": [arm.joint_list]},
    ):  # fmt: skip
        arm.angle_vector(q)
        targets = [target] if "move_target" in chain else target
        assert np.array_equal(arm.inverse_kinematics(targets, **chain), whole)
    with pytest.raises(ValueError, match="not both"):
        arm.inverse_kinematics(target, link_list=links, joint_list=arm.joint_list)
    for nothing in ({"joint_list": []}, {"invariant_joint_list": arm.joint_list}):
        with pytest.raises(ValueError, match="no actuated joints"):
            arm.inverse_kinematics(target, **nothing)


@pytest.mark.slow
@pytest.mark.row("S0-110", "S0-117")
def test_joints_that_stay(arm: Any):
    target, q = beside(arm), arm.angle_vector()
    links = arm.link_lists(arm.end_coords.parent)
    third = arm.joint_list[2]
    for chain in (
        {"link_list": [link for link in links if link.joint is not third]},
        {"invariant_joint_list": [third]},
        {"joint_list": arm.joint_list, "invariant_joint_list": [third]},
    ):
        arm.angle_vector(q)
        answer = arm.inverse_kinematics(target, **chain)
        assert answer[2] == q[2]
        assert np.abs(off(arm, target)).max() < 1e-7


@pytest.mark.row("S0-110", "S0-113")
def test_what_cannot_be_asked(arm: Any):
    target, tool = beside(arm), arm.end_coords
    for given, more, said in (
        ([target, target], {}, "list length differ"),
        ([target], {"move_target": [tool, tool]}, "list length differ"),
        ([target] * 2, {"move_target": [tool] * 2, "joint_list": [[]] * 3}, "list length"),
        (target, {"position_mask": False, "rotation_mask": False}, "no axis"),
        (target, {"position_mask": "w"}, "mask"),
        (target, {"rotation_mirror": "w"}, "mirror"),
        (target, {"use_base": "flying"}, "use_base"),
        (target, {"use_base": "planar", "base_weight": -1.0}, "base_weight"),
        (target, {"thre": 0.0}, "thre"),
        (target, {"translation_tolerance": [1, 2]}, "translation_tolerance"),
        ("there", {}, "target_coords"),
        (target, {"move_target": Coordinates()}, "move_target"),
        (target, {"additional_jacobi": [np.eye(7)]}, "additional_vel"),
    ):
        with pytest.raises(ValueError, match=said):
            arm.inverse_kinematics(given, **more)
    assert np.array_equal(arm.angle_vector(), START)
    del arm.end_coords
    with pytest.raises(AttributeError, match="end_coords"):
        arm.inverse_kinematics(target)


MASKS = (
    ({"position_mask": "xy", "rotation_mask": "z"}, [1, 1, 0, 0, 0, 1]),
    ({"position_mask": True, "rotation_mask": False}, [1, 1, 1, 0, 0, 0]),
    ({"position_mask": False, "rotation_mask": "xy"}, [0, 0, 0, 1, 1, 0]),
    ({"position_mask": [0, 0, 1], "rotation_mask": [0, 1, 0]}, [0, 0, 1, 0, 1, 0]),
    ({"position_mask": None, "rotation_mask": None}, [1, 1, 1, 1, 1, 1]),
    ({"translation_axis": "z", "rotation_axis": True}, [1, 1, 0, 1, 1, 1]),
    ({"rotation_axis": "z"}, [1, 1, 1, 1, 1, 0]),
    ({"rotation_axis": False}, [1, 1, 1, 0, 0, 0]),
)


@pytest.mark.row("S0-113", "S0-120")
@pytest.mark.parametrize(
    ("masks", "counts"),
    [MASKS[0], *(pytest.param(*each, marks=pytest.mark.slow) for each in MASKS[1:])],
)
def test_axes_of_the_frame_that_count(masks: Any, counts: Any, arm: Any):
    random, counts = rng("masks"), np.array(counts, dtype=bool)
    free = 0.0
    for _ in range(5):
        arm.angle_vector(START + random.uniform(-0.8, 0.8, 7))
        target = arm.end_coords.copy_worldcoords()
        arm.angle_vector(START)
        answer = arm.inverse_kinematics(target, **masks)
        assert answer is not False
        left = np.abs(off(arm, target))
        assert left[counts].max() < 1e-6
        free = max(free, left[~counts].max(initial=0.0))
    assert counts.all() or free > 1e-3


@pytest.mark.slow
@pytest.mark.row("S0-113")
@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_half_a_turn_that_is_as_good(axis: str, arm: Any):
    target = beside(arm, angle=math.pi, axis=axis)
    for more in ({"rotation_mirror": axis}, {"rotation_axis": axis + "m"}):
        arm.angle_vector(START)
        assert arm.inverse_kinematics(target, **more) is not False
        turn = arm.end_coords.difference_rotation(target, rotation_mirror=axis)
        assert np.abs(turn).max() < 1e-6
        assert np.abs(off(arm, target)[:3]).max() < 1e-6
        assert abs(np.linalg.norm(off(arm, target)[3:]) - math.pi) < 1e-6


@pytest.mark.row("S0-115", "S0-121")
@pytest.mark.slow
@pytest.mark.parametrize("masked", [False, True])
def test_errors_within_tolerances_are_nothing(masked: bool, arm: Any):
    target = beside(arm)
    slack = {"translation_tolerance": [0.02, None, 0], "rotation_tolerance": [0.1, None, 0]}
    if masked:
        slack["position_mask"] = "xy"
        slack["rotation_mask"] = "xy"
    assert arm.inverse_kinematics(target, **slack) is not False
    p = target.worldrot().T @ (target.worldpos() - arm.end_coords.worldpos())
    turn = off(arm, target)[3:]
    assert abs(p[0]) <= 0.02
    assert abs(turn[0]) <= 0.1
    assert abs(turn[1]) < 1e-6
    if not masked:
        assert abs(p[0]) > 0.01
        assert abs(turn[0]) > 0.05
        assert np.abs(p[1:]).max() < 1e-6
        assert abs(turn[2]) < 1e-6
    arm.angle_vector(START)
    one = {"position_mask": "y", "rotation_mask": False}
    assert (
        arm.inverse_kinematics(target, translation_tolerance=[0.02, 0.04, 0.04], **one) is not False
    )
    arm.angle_vector(START)
    assert arm.inverse_kinematics(target, translation_tolerance=[0, 0, 0]) is not False
    assert np.abs(off(arm, target)).max() < 1e-7


@pytest.mark.slow
@pytest.mark.row("S0-110", "S0-112", "S0-113")
def test_several_hands():
    both = robot_of("two_arm_torso", "left_tool0")
    left = both.end_coords
    right = CascadedCoords(parent=both.links["right_tool0"], pos=[0.0, 0.0, 0.1])
    q = both.angle_vector(both.angle_vector() + 0.3)
    targets = [left.copy_worldcoords(), right.copy_worldcoords()]
    both.angle_vector(q - 0.3)
    hands = [left, right]
    assert both.inverse_kinematics(targets, hands) is not False
    for hand, target in zip(hands, targets, strict=True):
        assert np.abs(hand.difference_position(target)).max() < 1e-7
        assert np.abs(hand.difference_rotation(target)).max() < 1e-7
    chains = [both.link_lists(hand.parent) for hand in hands]
    both.angle_vector(q - 0.3)
    swapped = both.inverse_kinematics(
        targets, hands, chains[::-1], rotation_mask=[False, "z"], thre=[0.001, 0.002]
    )
    assert swapped is not False
    assert np.abs(left.difference_position(targets[0])).max() < 1e-7
    assert abs(right.difference_rotation(targets[1])[2]) < 1e-7
    assert np.linalg.norm(left.difference_rotation(targets[0])) > 1e-3


@pytest.mark.slow
@pytest.mark.row("S0-116")
@pytest.mark.parametrize("base", ["planar", "6dof"])
def test_the_robot_itself_moves(base: str, arm: Any):
    arm.newcoords(Coordinates(pos=[1.0, -1.0, 0.5]).rotate(0.7, "z"))
    root = arm.worldcoords()
    target = Coordinates(pos=[4.0, 2.0, 1.1]).rotate(2.0, "y")
    assert arm.inverse_kinematics(target) is False
    assert arm.inverse_kinematics(target, use_base=base) is not False
    assert np.abs(off(arm, target)).max() < 1e-6
    assert np.linalg.norm(arm.worldpos()[:2] - root.worldpos()[:2]) > 1.5
    if base == "planar":
        assert np.allclose(arm.z_axis, [0.0, 0.0, 1.0])
        assert abs(arm.worldpos()[2] - 0.5) < 1e-9
    assert arm.root_link.joint is None

    arm.angle_vector(START)
    moved = []
    for weight in (1.0, 0.01, [0.01] * 3 + [1.0] * 3 if base == "6dof" else [1.0, 1.0, 0.01]):
        arm.angle_vector(START)
        arm.newcoords(root)
        target = beside(arm)
        assert arm.inverse_kinematics(target, use_base=base, base_weight=weight) is not False
        T = np.linalg.inv(root.T()) @ arm.T()
        moved.append((np.linalg.norm(T[:3, 3]), abs(math.atan2(T[1, 0], T[0, 0]))))
    assert moved[1][0] < 0.1 * moved[0][0]
    which = 0 if base == "6dof" else 1
    assert moved[2][which] < 0.3 * moved[0][which]
    with pytest.raises(ValueError, match="use_base"):
        arm.inverse_kinematics(target, use_base=True)

    arm.newcoords(root)
    q = arm.angle_vector(START)
    only = arm.inverse_kinematics(
        beside(arm), use_base=base, invariant_joint_list=arm.joint_list,
        position_mask="x", rotation_mask=False,
    )  # fmt: skip
    assert np.array_equal(only, q)
    assert not np.allclose(arm.T(), root.T())
    arm.newcoords(root)
    hooked = arm.inverse_kinematics(
        beside(arm), use_base=base, inverse_kinematics_hook=lambda: None, base_weight=0.5
    )
    assert hooked is not False
    assert not np.allclose(arm.T(), root.T())
    assert arm.root_link.joint is None


@pytest.mark.row("S0-110", "S0-116")
def test_a_part_of_a_robot(arm: Any):
    links = [link for link in arm.link_list if link.joint is not None]
    part = RobotModel(link_list=links, joint_list=arm.joint_list)
    part.end_coords = arm.end_coords
    target = beside(arm)
    assert part.inverse_kinematics(target) is not False
    assert np.abs(off(arm, target)).max() < 1e-7
    with pytest.raises(RuntimeError, match="whole robot"):
        part.inverse_kinematics(target, use_base="planar")


@pytest.mark.slow
@pytest.mark.row("S0-118")
def test_the_centre_of_mass(arm: Any):
    start = arm.centroid()
    wanted = start + np.array([0.0, 0.0, 0.03])
    target = arm.end_coords.copy_worldcoords()
    asked = {"position_mask": False, "rotation_mask": "z", "target_centroid_pos": wanted}
    assert arm.inverse_kinematics(target, **asked) is not False
    assert abs(arm.centroid()[2] - wanted[2]) < 1e-6
    assert abs(off(arm, target)[5]) < 1e-6

    arm.angle_vector(START)
    nothing_else = {**asked, "rotation_mask": False, "cog_translation_axis": True}
    assert arm.inverse_kinematics(target, **nothing_else) is not False
    assert np.abs(arm.centroid() - wanted).max() < 1e-6

    for more in ({"cog_translation_axis": "x"}, {"centroid_offset_func": lambda: np.zeros(3)}):
        arm.angle_vector(START)  # by the documented iteration
        arm.newcoords(Coordinates().rotate(0.3, "z"))
        wanted = arm.centroid() + np.array([0.01, 0.0, 0.01])
        target = arm.end_coords.copy_worldcoords()
        asked["target_centroid_pos"] = wanted
        assert arm.inverse_kinematics(target, stop=200, **asked, **more) is not False
        axis = 0 if "cog_translation_axis" in more else 2
        assert abs(arm.centroid()[axis] - wanted[axis]) < 1.001e-3

    arm.newcoords(Coordinates())
    arm.angle_vector(START)
    asked["target_centroid_pos"] = [0.0, 0.0, 50.0]
    assert arm.inverse_kinematics(target, **asked) is False
    assert np.array_equal(arm.angle_vector(), START)
    target = arm.end_coords.copy_worldcoords()
    found = arm.inverse_kinematics(target, cog_null_space=True, **asked)
    assert found is not False  # as far as it can be had
    assert arm.centroid()[2] > start[2] + 0.05


@pytest.mark.row("S0-119", "S0-120")
def test_functions_of_the_caller_are_obeyed(arm: Any):
    target, told = beside(arm), []
    links = arm.link_lists(arm.end_coords.parent)

    def ik(**more: Any) -> Any:
        arm.angle_vector(START)
        return arm.inverse_kinematics(target, **more)

    plain = ik()
    assert ik(inverse_kinematics_hook=[lambda: told.append(1)]) is not False
    assert 2 <= len(told) < 20
    assert np.linalg.norm(off(arm, target)[:3]) <= 0.001
    assert np.linalg.norm(off(arm, target)[3:]) <= DEGREE
    checks = []
    assert ik(additional_check=lambda: len(checks) > 9 or checks.append(1)) is not False
    assert len(checks) == 10  # it goes on until the check says yes
    assert ik(additional_check=lambda: False) is False
    assert np.array_equal(arm.angle_vector(), START)
    row = np.eye(7)[:1]
    for jacobi in (row, lambda chains: row if chains[0][0] is links[0] else 1 / 0):
        held = ik(additional_jacobi=[jacobi], additional_vel=[np.zeros(1)])
        assert abs(held[0] - START[0]) < 1e-4
    assert abs(plain[0] - START[0]) > 1e-3
    weighed = ik(additional_weight_list=[(links[0], lambda: 0.0)])
    assert weighed[0] == START[0]
    pushed = [ik(null_space=n) for n in (np.full(7, 0.02), lambda: np.full(7, -0.02))]
    assert np.abs(pushed[0] - pushed[1]).max() > 1e-3
    assert ik(stop=1, inverse_kinematics_hook=lambda: None) is False
    slow = []
    ik(inverse_kinematics_hook=lambda: slow.append(1), periodic_time=0.005)
    assert len(slow) > len(told)  # joints may not move as far in a shorter time
    told.clear()
    target = beside(arm, way=(0.1, 0.1, -0.1), angle=0.5)
    counts = []
    for more in ({}, {"periodic_time": 0.5}, {"periodic_time": 0.05}):
        told.clear()
        ik(inverse_kinematics_hook=lambda: told.append(1), **more)
        counts.append(len(told))
    assert counts[0] == counts[1] < counts[2]
    short = []
    ik(inverse_kinematics_hook=lambda: short.append(1), p_limit=0.005)
    assert len(short) > len(told)


@pytest.mark.row("S0-119")
@pytest.mark.slow
def test_weights_that_are_numbers(arm: Any):
    target = beside(arm)
    arm.inverse_kinematics(target)
    usual = abs(arm.angle_vector()[2] - START[2])
    for weight, most in ((0.01, 0.3 * usual), (0.0, 0.0)):
        arm.angle_vector(START)
        links = arm.link_list
        link = next(each for each in links if each.joint is arm.joint_list[2])
        found = arm.inverse_kinematics(target, additional_weight_list=[(link, weight)])
        assert abs(found[2] - START[2]) <= most


@pytest.mark.row("S0-120")
def test_steps_that_a_subclass_has_changed_are_taken(arm: Any):
    class Own(RobotModel):
        def calc_joint_angle_speed(self, *args: Any, **kwargs: Any) -> Any:
            taken.append(1)
            return super().calc_joint_angle_speed(*args, **kwargs)

    taken: list[int] = []
    target = beside(arm)
    arm.__class__ = Own
    assert arm.inverse_kinematics(target) is not False
    assert len(taken) > 1


@pytest.mark.row("S0-119", "S0-147")
@pytest.mark.slow
def test_joints_that_move_as_one():
    class Interlocked(RobotModel):
        @property
        def interlocking_joint_pairs(self) -> Any:
            return [(self.joint_list[1], self.joint_list[2])]

    robot = Interlocked()
    robot.load_urdf_file(str(MODELS / "planar_3r.urdf"))
    robot.end_coords = CascadedCoords(parent=robot.link_list[-1])
    for q in ([0.2, 0.5, 0.5], [0.2, 0.5, 0.1]):
        robot.angle_vector(q)
        reach = robot.end_coords.worldpos()
        target = Coordinates(pos=0.9 * reach)
        found = robot.inverse_kinematics(target, rotation_mask=False)
        assert abs((found[1] - found[2]) - (q[1] - q[2])) < 1e-8
        assert np.abs(robot.end_coords.worldpos() - 0.9 * reach).max() < 1e-6
    robot.angle_vector([0.2, 0.5, 0.5])
    chain = {"joint_list": robot.joint_list[:2], "position_mask": "x", "rotation_mask": False}
    found = robot.inverse_kinematics(Coordinates(pos=[3.5, 0.0, 0.0]), **chain)
    assert found is not False
    assert found[1] == 0.5  # the other one of the pair stays


@pytest.mark.row("S0-120", "S0-121")
@pytest.mark.slow
def test_limits_that_depend_on_another_joint(arm: Any):
    second, fourth = arm.joint_list[1], arm.joint_list[3]
    target, asked = beside(arm), {"position_mask": True, "rotation_mask": False}
    q = arm.inverse_kinematics(target, **asked)
    arm.angle_vector(START)
    most = float(q[3]) - 0.1  # less than that solution
    create_joint_limit_table(
        arm, second, fourth, -1.7, 1.7, [-3.0, -3.0], [most, most], use_degrees=False
    )
    for more in ({}, {"inverse_kinematics_hook": lambda: None}):
        arm.angle_vector(START)
        found = arm.inverse_kinematics(target, **asked, **more)
        assert found is not False
        assert found[3] <= most
        assert np.linalg.norm(off(arm, target)[:3]) <= 0.001
    fourth.joint_min_max_table = None
    arm.angle_vector(START)
    assert np.allclose(arm.inverse_kinematics(target, **asked), q)


@pytest.mark.row("S0-124", "S0-125", "S0-126")
@pytest.mark.slow
def test_looking(arm: Any):
    links = [link for link in arm.link_list if link.joint is not None]
    point, tool = np.array([1.0, 0.2, 0.6]), arm.end_coords

    def looks_at(point: Any) -> bool:
        way = point - tool.worldpos()
        return bool(np.allclose(tool.worldrot()[:, 2], way / np.linalg.norm(way), atol=1e-6))

    for there in (point, list(point), Coordinates(pos=point)):
        arm.angle_vector(START)
        assert arm.inverse_kinematics_loop_for_look_at(tool, there, links) is not False
        assert looks_at(point)
    arm.angle_vector(START)
    with pytest.raises(AttributeError, match="head_end_coords"):
        arm.look_at(point)
    arm.head_end_coords = tool
    with pytest.raises(AttributeError, match="head"):
        arm.look_at(point)
    arm.head = arm
    assert arm.look_at(point) is not False
    assert looks_at(point)
    arm.angle_vector(START)
    few = links[:1]  # these cannot
    assert arm.look_at(point, tool, few) is False
    assert np.array_equal(arm.angle_vector(), START)

    class Handed(RobotModel):
        @property
        def rarm(self) -> Any:
            return hand

    hand = RobotModel()
    hand.end_coords = Coordinates(pos=[0.8, -0.3, 0.4])
    arm.__class__ = Handed
    assert arm.look_at_hand("rarm") is None
    assert looks_at([0.8, -0.3, 0.4])
    assert arm.look_at_hand(Coordinates(pos=point)) is None
    assert looks_at(point)
    with pytest.raises(ValueError, match="rarm"):
        arm.look_at_hand("tail")


@pytest.mark.row("S0-127", "S0-128")
def test_moving_the_end(arm: Any):
    tool = arm.end_coords
    for wrt in ("local", "world"):
        target = tool.copy_worldcoords().translate([0.02, 0.01, 0.0], wrt)
        assert np.array_equal(arm.move_end_pos([0.02, 0.01, 0.0], wrt), arm.angle_vector())
        assert np.abs(off(arm, target)).max() < 1e-7
        target = tool.copy_worldcoords().rotate(0.1, "y", wrt)
        assert np.array_equal(arm.move_end_rot(0.1, "y", wrt), arm.angle_vector())
        assert np.abs(off(arm, target)).max() < 1e-7
    assert arm.move_end_pos([5.0, 0.0, 0.0]) is False


@pytest.mark.row("S0-110")
def test_a_robot_that_is_copied_or_changed_has_its_own_problems(arm: Any):
    target = beside(arm)
    arm.inverse_kinematics(target)
    other = copy.deepcopy(arm)
    other.angle_vector(START)
    q = arm.angle_vector()
    assert np.array_equal(other.inverse_kinematics(target), q)
    other.angle_vector(START)
    assert np.array_equal(arm.angle_vector(), q)

    told = []
    arm.joint_list[2].register_hook(lambda: told.append(arm.joint_list[2].joint_angle()))
    arm.angle_vector(START)
    told.clear()
    arm.inverse_kinematics(target)
    assert told == [q[2]]  # what hangs on a joint is told that it has moved
    moved = arm.copy_worldcoords().translate([0.3, 0.0, 0.1]).rotate(0.4, "y")
    arm.newcoords(moved)
    arm.end_coords.translate([0.02, 0.0, 0.1]).rotate(0.3, "x")
    arm.angle_vector(START)
    target = beside(arm)
    assert arm.inverse_kinematics(target) is not False
    assert np.abs(off(arm, target)).max() < 1e-7


@pytest.mark.row("S0-110")
def test_a_keyword_that_changes_nothing_is_told(arm: Any):
    target = beside(arm)
    with pytest.warns(UserWarning, match="'rotation_masks'; nearest: rotation_mask.*nothing"):
        arm.inverse_kinematics(target, rotation_masks=True)
    with pytest.warns(UserWarning, match="'additional_chek'; nearest: additional_check.*nothing"):
        arm.inverse_kinematics(target, additional_check=lambda: True, additional_chek=None)


@pytest.mark.slow
@pytest.mark.row("S0-110")
def test_limits_that_have_changed(arm: Any):
    target = beside(arm)
    arm.inverse_kinematics(target)
    arm.joint_list[3].max_angle = float(arm.angle_vector()[3]) - 0.05
    arm.angle_vector(START)
    arm.inverse_kinematics(target)
    assert inside(arm)
