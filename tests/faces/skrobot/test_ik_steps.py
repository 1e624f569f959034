"""Each step of differential inverse kinematics by its formula; Jacobians by differences."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np
import pytest
import trimesh

from linkwork.faces.skrobot.coordinates import CascadedCoords, Coordinates
from linkwork.faces.skrobot.model import Link, RobotModel
from linkwork.faces.skrobot.model.joint import (
    FixedJoint,
    FloatingJoint,
    LinearJoint,
    OmniWheelJoint,
    PlanarJoint,
    RotationalJoint,
)
from seeds import rng
from skrobot_robots import at_random, derivative, joined, panda, put, turn_rate

KINDS = (
    PlanarJoint, RotationalJoint, LinearJoint, FloatingJoint, FixedJoint, RotationalJoint,
    OmniWheelJoint, RotationalJoint,
)  # fmt: skip


def chain_of(kinds: Any, random: Any) -> Any:
    """A chain with a joint of each kind, at random places, and a tool at its end."""
    links = [Link(name="base")]
    joints: list[Any] = []
    for k, kind in enumerate(kinds):
        link = Link(name=f"link{k}", pos=0.3 * random.normal(size=3))
        link.rotate(random.normal(), "x").rotate(random.normal(), "z")
        joint = joined(kind, links[-1], link, f"joint{k}", **at_random(kind, random))
        links.append(link)
        if joint.joint_dof:
            joints.append(joint)
    robot = RobotModel(link_list=links, joint_list=joints, root_link=links[0])
    robot.end_coords = CascadedCoords(parent=links[-1], pos=[0.1, 0.2, 0.3])
    return robot


def shake(robot: Any, random: Any) -> None:
    """Move every joint to a random position."""
    for joint in robot.joint_list:
        put(joint, 0.5 * random.normal(size=joint.joint_dof))


def by_differences(joints: Any, frame: Any, axes: Any) -> Any:
    """The Jacobian (6, n) of a frame along the axes of another one, by central differences."""
    back, R = axes.worldrot().T, frame.worldrot()
    rates = derivative(lambda: frame.worldcoords().T(), joints)
    turns = [turn_rate(slope, R) for slope in np.moveaxis(rates[:3, :3], -1, 0)]
    return np.vstack([back @ rates[:3, 3], back @ np.transpose(turns)])


@pytest.fixture
def arm() -> Any:
    return panda()


@pytest.fixture
def links(arm: Any) -> Any:
    return [link for link in arm.link_list if link.joint is not None and link.joint.joint_dof]


@pytest.fixture
def J(arm: Any, links: Any) -> Any:
    return arm.calc_jacobian_from_link_list(arm.end_coords, links)


# Jacobians


@pytest.mark.row("S0-130", "S0-146")
def test_columns_of_every_kind_of_joint():
    random = rng("a chain")
    robot = chain_of(KINDS, random)
    tool, joints = robot.end_coords, robot.joint_list
    shake(robot, random)
    for axes in (tool, robot, robot.link_list[3]):
        J = robot.calc_jacobian_from_link_list(tool, robot.link_list, transform_coords=axes)
        assert J.dtype == np.float64
        assert np.allclose(J, by_differences(joints, tool, axes), atol=1e-7)
    some = [joints[4], joints[0], joints[2]]
    J = robot.calc_jacobian_from_joint_list(some, tool)
    assert np.allclose(J, by_differences(some, tool, tool), atol=1e-7)


@pytest.mark.row("S0-130", "S0-146")
def test_rows_are_those_of_the_masks(arm: Any, links: Any, J: Any):
    def jacobian(*masks: Any, **more: Any) -> Any:
        p, r = masks
        return arm.calc_jacobian_from_link_list(
            arm.end_coords, links, position_mask=p, rotation_mask=r, **more
        )

    assert np.array_equal(jacobian(None, None), J)
    assert np.array_equal(jacobian("xz", "y"), J[[0, 2, 4]])
    assert np.array_equal(jacobian([0, 1, 0], False), J[[1]])
    assert np.array_equal(jacobian("x", "z", rotation_mirror="x"), J[[0, 3, 4, 5]])
    room = jacobian("x", False, additional_jacobi_dimension=2, n_joint_dimension=10, col_offset=2)
    assert room.shape == (3, 10)
    assert np.array_equal(room[0, 2:9], J[0])
    assert not room[1:].any()
    own = np.full((2, 7), 5.0)
    assert jacobian("x", False, jacobian=own) is own
    assert np.array_equal(own, [J[0], [5.0] * 7])
    assert jacobian("x", False, dim=4).shape == (4, 7)


@pytest.mark.row("S0-130", "S0-146")
@pytest.mark.parametrize(
    ("older", "rows"),
    [
        ({"rotation_axis": "x"}, [0, 1, 2, 4, 5]),
        ({"rotation_axis": False}, [0, 1, 2]),
        ({"rotation_axis": "zm"}, [0, 1, 2, 3, 4, 5]),
        ({"rotation_axis": [1, 0, 0]}, [0, 1, 2, 3]),
        ({"translation_axis": "xy"}, [2, 3, 4, 5]),
        ({"translation_axis": False, "rotation_axis": "z"}, [3, 4]),
        ({"rotation_axis": ["y"]}, [0, 1, 2, 3, 5]),
    ],
)
def test_older_names_of_masks_name_what_is_free(
    arm: Any, links: Any, J: Any, older: dict[str, Any], rows: list[int]
):
    ends, joints = [arm.end_coords], [link.joint for link in links]
    assert np.array_equal(arm.calc_jacobian_from_link_list(ends, links, **older), J[rows])
    assert np.array_equal(arm.calc_jacobian_from_joint_list(joints, ends, **older), J[rows])


@pytest.mark.row("S0-130", "S0-146")
def test_several_targets_have_their_own_chains(arm: Any, links: Any, J: Any):
    two = [arm.end_coords, links[3]]
    found = arm.calc_jacobian_from_link_list(
        two, [links, links[:3]], position_mask=[True, "x"], rotation_mask=[False, "z"]
    )
    assert np.array_equal(found[:3], J[:3])
    elbow = arm.calc_jacobian_from_link_list(links[3], links)
    assert np.array_equal(found[3:, :3], elbow[[0, 5], :3])
    assert not found[3:, 3:].any()  # the fourth joint is not in the second chain
    assert elbow[:, 3].any()
    assert not elbow[:, 4:].any()  # these do not carry it
    joints = [link.joint for link in links]
    both = arm.calc_jacobian_from_joint_list(joints, two)  # by default those that carry each
    assert np.array_equal(both, np.vstack([J, elbow]))
    assert np.array_equal(
        arm.calc_jacobian_from_joint_list(joints, two[::-1]), np.vstack([elbow, J])
    )


@pytest.mark.row("S0-146")
def test_relevance(arm: Any, links: Any):
    joints, elbow = arm.joint_list, links[3]

    def last(**more: Any) -> Any:
        return arm.calc_jacobian_from_joint_list(joints, elbow, joint_list=joints, **more)[:, 4:]

    assert not last().any()
    assert not last(check_relevance=True).any()
    assert last(check_relevance=False).any()  # the list is trusted
    other = panda()
    other.joint_list, own = [], other.joint_list
    tool = other.link_list[-1]
    asked = {"joint_list": own, "position_mask": "xyz"}
    assert other.calc_jacobian_from_joint_list(own, tool, **asked).any()
    assert not other.calc_jacobian_from_joint_list(own, tool, check_relevance=True, **asked).any()


@pytest.mark.row("S0-130", "S0-146")
def test_what_follows_a_joint_is_in_its_column():
    random = rng("a chain")
    robot = chain_of([RotationalJoint, LinearJoint, RotationalJoint, RotationalJoint], random)
    first, second, third, fourth = robot.joint_list
    first.register_mimic_joint(third, -1.5, 0.1)
    third.register_mimic_joint(second, 0.5, 0.0)
    shake(robot, random)
    own = [first, fourth]
    tool = robot.end_coords
    J = robot.calc_jacobian_from_joint_list(own, tool)
    assert np.allclose(J, by_differences(own, tool, tool), atol=1e-7)
    every = robot.calc_jacobian_from_link_list(tool, robot.link_list)
    assert np.allclose(every[:, [0, 3]], J)
    assert not every[:, 1:3].any()  # they are in the first one's column
    alone = robot.calc_jacobian_from_joint_list([third], tool, joint_list=[third])
    assert alone.any()
    led = robot.calc_jacobian_from_joint_list([first], tool, joint_list=[first])
    assert np.allclose(led, J[:, :1])  # what follows need not be in the chain


@pytest.mark.row("S0-146")
def test_what_cannot_be_a_jacobian(arm: Any, links: Any):
    two = [arm.end_coords, links[3]]
    for more, said in (
        ({"joint_list": [arm.joint_list] * 3}, "one chain per move_target"),
        ({"transform_coords": [arm]}, "transform_coords"),
        ({"position_mask": [True, True, "x"]}, "position_mask"),
        ({"rotation_mask": ["x"]}, "rotation_mask"),
        ({"check_relevance": "yes"}, "check_relevance"),
    ):
        with pytest.raises(ValueError, match=said):
            arm.calc_jacobian_from_joint_list(arm.joint_list, two, **more)
    with pytest.raises(ValueError, match="one chain per move_target"):
        arm.calc_jacobian_from_link_list(two, links)


# dimensions


@pytest.mark.row("S0-122", "S0-145")
def test_dimensions(arm: Any, links: Any):
    dimension = arm.calc_target_axis_dimension
    assert dimension(True, True) == 6
    assert dimension([0, 0, 1], [1, 1, 0]) == 3
    assert dimension("z", False) == dimension("z", None) == 1
    assert dimension("z", "xy", rotation_mirror="x") == 5
    assert dimension(["z", True], [True, False]) == 7
    assert dimension(["z", "z"], True, ["x", None]) == 10
    with pytest.raises(ValueError, match="list length differ"):
        dimension([True, True], [[1, 1, 1]])

    made = arm.inverse_kinematics_args(
        links, "xy", "z", additional_jacobi_dimension=2, periodic_time=3
    )
    assert (made["dim"], made["n_joint_dimension"], made["periodic_time"]) == (5, 7, 3)
    assert made["jacobian"].shape == (5, 7)
    assert made["ret"].shape == (7, 5)
    assert not made["jacobian"].any()
    assert arm.inverse_kinematics_args()["ret"].shape == (0, 0)


# from errors to velocities


@pytest.mark.row("S0-143", "S0-144")
def test_velocities_are_shortened_then_chosen(arm: Any):
    d = np.array([0.3, 0.4, 0.0])
    assert np.array_equal(arm.calc_vel_from_pos(d), d)
    assert np.allclose(arm.calc_vel_from_pos(300 * d), 200 * d)
    assert np.allclose(arm.calc_vel_from_pos(d, "xy", 0.1), [0.06, 0.08])
    assert arm.calc_vel_from_pos(d, None).shape == (0,)
    assert np.allclose(arm.calc_vel_from_rot(10 * d), d)
    assert np.allclose(arm.calc_vel_from_rot(10 * d, "x", 0.2), [0.12])
    assert np.allclose(arm.calc_vel_from_rot(d, "x", rotation_mirror="x"), d)
    assert np.array_equal(d, [0.3, 0.4, 0.0])
    for step in (arm.calc_vel_from_pos, arm.calc_vel_from_rot):
        with pytest.raises(ValueError, match="mask"):
            step(d, "w")


@pytest.mark.row("S0-129")
def test_convergence(arm: Any):
    d, check = np.array([0.3, 0.4, 0.0]), arm.ik_convergence_check
    assert check([d], [d], [0.5], [0.5])
    assert not check([d], [d], [0.499], [0.5])
    assert not check([d], [d], [0.5], [0.499])
    assert not check([0 * d, d], [d, d], [0.1, 0.1], [1, 1])
    assert check(d, d, 0.5, 0.5) is True


# from velocities to joints


@pytest.mark.row("S0-131")
def test_inverse_of_a_jacobian(arm: Any, J: Any):
    def robust(J: Any, W: Any, k: float) -> Any:
        return W @ J.T @ np.linalg.inv(J @ W @ J.T + k * np.eye(len(J)))

    w, inverse = np.linspace(0.2, 1.0, 7), arm.calc_inverse_jacobian
    m = math.sqrt(np.linalg.det(J @ J.T))
    assert m < 0.1
    k = 0.001 * (1 - m / 0.1) ** 2
    assert np.allclose(inverse(J), robust(J, np.eye(7), k))
    assert np.allclose(inverse(J, weight=w), robust(J, np.diag(w), k))
    k = 0.5 * (1 - m / 0.2) ** 2
    assert np.allclose(inverse(J, 0.2, 0.5, w), robust(J, np.diag(w), k))
    free = {"manipulability_limit": 0.01}
    assert np.allclose(inverse(J, **free), np.linalg.pinv(J))
    assert np.allclose(inverse(J, weight=w, **free), robust(J, np.diag(w), 0.0))
    one = w * (np.arange(7) != 2)
    assert not inverse(J, weight=one, **free)[2].any()
    assert np.allclose(inverse(np.zeros((2, 3))), 0.0)
    for bad in (-w, w * np.nan, w[:3]):
        with pytest.raises(ValueError, match="weight"):
            inverse(J, weight=bad, **free)


@pytest.mark.row("S0-132")
def test_speed_of_joints(arm: Any, J: Any, caplog: Any):
    v, y, a = np.array([0.1, 0, 0, 0, 0.2, 0]), np.linspace(-1, 1, 7), np.linspace(0, 1, 7)
    sharp, speed = np.linalg.pinv(J), arm.calc_joint_angle_speed
    null = y - sharp @ J @ y
    assert np.allclose(speed(v, jacobi=J), arm.calc_inverse_jacobian(J) @ v)
    assert np.allclose(speed(v, j_sharp=sharp), sharp @ v)
    assert np.allclose(speed(v, jacobi=J, j_sharp=sharp, null_space=y), sharp @ v + null)
    assert np.allclose(speed(v, jacobi=J, j_sharp=sharp, null_space=y[:3]), sharp @ v)
    blended = speed(v, a, 0.25, J, sharp, y)
    assert np.allclose(blended, 0.75 * sharp @ v + 0.25 * a + null)
    with caplog.at_level(logging.WARNING):
        assert speed(v, null_space=y) is y
        assert speed(v) is None
    assert "required" in caplog.text


@pytest.mark.row("S0-133", "S0-136")
def test_null_space_from_limits(arm: Any, links: Any):
    lower, upper, q = arm.joint_min_angles, arm.joint_max_angles, arm.angle_vector()
    r = (upper + lower - 2 * q) / (upper - lower)
    away, w, y = np.sign(r) * r**2, np.linspace(0, 1, 7), np.arange(7.0)
    assert np.allclose(arm.calc_nspace_from_joint_limit(0.5, links, np.ones(7)), 0.5 * away)
    assert np.allclose(arm.calc_nspace_from_joint_limit(0.5, links, w), 0.5 * w * away)
    for gain in (0.0, -1.0):
        with pytest.raises(ValueError, match="greater than 0"):
            arm.calc_nspace_from_joint_limit(gain, links, np.ones(7))
    both = arm.calc_inverse_kinematics_nspace_from_link_list
    assert np.allclose(both(links), 0.01 * away)
    assert np.allclose(both([links], 0.5, null_space=y, weight=w), 0.5 * w * away + y)
    assert np.allclose(both(links, null_space=lambda: y), 0.01 * away + y)
    more = both(links, additional_nspace_list=[(links[1], 0.5), (links[2], lambda: 0.25)])
    assert np.allclose(more - 0.01 * away, [0, 0.5, 0.25, 0, 0, 0, 0])
    arm.joint_list[0].min_angle, arm.joint_list[0].max_angle = -np.inf, np.inf
    assert both(links)[0] == 0.0


@pytest.mark.row("S0-134", "S0-135", "S0-137", "S0-138")
def test_weights_from_limits(arm: Any, links: Any):
    def c() -> Any:
        lower, upper, q = arm.joint_min_angles, arm.joint_max_angles, arm.angle_vector()
        h = (upper - lower) ** 2 * (2 * q - upper - lower)
        return np.abs(h / (4 * (upper - q) ** 2 * (q - lower) ** 2))

    weights, remembered = arm.calc_weight_from_joint_limit, np.ones(7)
    find = arm.find_joint_angle_limit_weight_from_union_link_list
    names = tuple(link.name for link in links)
    assert find(links) == (names, False)
    assert np.array_equal(weights(1.0, [links], links, np.ones(7)), np.ones(7))  # nothing before
    before = c()
    assert find(links)[0] == names
    assert np.allclose(find(links)[1], before)
    assert find(links[::-1])[1] is False  # an order is a set of its own
    assert np.allclose(weights(1.0, [links], links, np.ones(7)), 1 / (1 + before))
    arm.joint_list[3].joint_angle(-1.7)  # away from its limit
    assert c()[3] < before[3]
    remembered = 1 / (1 + c())
    remembered[3] = 1.0
    assert np.allclose(weights(1.0, links, links, None), remembered)
    remembered = 1 / (1 + c())
    shared = remembered / [2, 2, 1, 1, 1, 1, 1]
    assert np.allclose(weights(1.0, [links, links[:2]], links, np.ones(7)), shared)
    arm.reset_joint_angle_limit_weight(links)
    assert find(links)[1] is False
    w = np.linspace(0.1, 1, 7)
    assert np.array_equal(weights(0, [links], links, w), w)
    assert find(links)[1] is False
    assert weights(0, [links], links, w, n_joint_dimension=9).shape == (9,)

    every = arm.calc_inverse_kinematics_weight_from_link_list
    asked = {"additional_weight_list": [(links[0], 0.5), (links[1], lambda: 0.25)]}
    every(links)
    given = w.copy()
    found = every([links], union_link_list=links, weight=given, **asked)
    assert np.allclose(found, w * [0.5, 0.25, 1, 1, 1, 1, 1] / (1 + c()))
    assert np.array_equal(given, w)  # nothing that is given is changed
    arm.joint_list[3].joint_angle(arm.joint_list[3].min_angle)  # as one degree away from it
    near = every(links)[3]
    assert 0.0 < near < 0.01
    arm.joint_list[0].min_angle, arm.joint_list[0].max_angle = -np.inf, np.inf
    assert every(links)[0] == 1.0


@pytest.mark.row("S0-140", "S0-141")
def test_joints_move_as_fast_as_they_may(arm: Any, links: Any, J: Any):
    fastest = np.array([joint.max_joint_velocity for joint in arm.joint_list])
    step = np.array([1.0, 0.01, 0.0, -2.0, 0.001, 3.0, 0.1])
    with np.errstate(divide="ignore"):
        gains = np.minimum(1.0, fastest * 0.5 / np.abs(step))
    assert np.allclose(arm.calc_joint_angle_speed_gain(links, step, 0.5), gains)
    assert np.array_equal(arm.calc_joint_angle_speed_gain(links, step, 0.0), np.ones(7))

    v, q, told = np.array([0.2, 0, 0, 0, 0, 0]), arm.angle_vector(), []
    wanted = arm.calc_joint_angle_speed(v, jacobi=J)
    gain = arm.calc_joint_angle_speed_gain(links, wanted, 0.05).min()
    assert gain < 1.0
    hooks = [lambda: told.append(1), lambda: told.append(2)]
    assert arm.move_joints(v, links, jacobi=J, move_joints_hook=hooks) is True
    assert np.allclose(arm.angle_vector() - q, gain * wanted)
    assert told == [1, 2]
    arm.angle_vector(q)
    assert arm.move_joints(v, links, 10.0, jacobi=J, move_joints_hook=hooks[0])
    assert np.allclose(arm.angle_vector() - q, wanted)
    assert told == [1, 2, 1]

    robot = chain_of([OmniWheelJoint], rng("a wheel"))
    step = np.array([0.1, 0.01, 1.0])
    gain = min(1.6 * 0.05 / 0.1, math.pi / 4 * 0.05)
    assert np.allclose(robot.calc_joint_angle_speed_gain(robot.link_list, step, 0.05), gain)
    robot.move_joints(step, periodic_time=0.05, j_sharp=np.eye(3))
    assert np.allclose(robot.joint_list[0].joint_angle(), gain * step)


@pytest.mark.row("S0-142", "S0-139")
def test_a_task_with_limits_in_mind(arm: Any, links: Any, J: Any, caplog: Any):
    v, q, y = np.array([0.01, 0, 0, 0, 0, 0.02]), arm.angle_vector(), 0.01 * np.arange(7.0)
    for more in ({}, {"null_space": y}, {"additional_weight_list": [(links[2], 0.1)]}):
        arm.angle_vector(q)
        arm.reset_joint_angle_limit_weight(links)
        w = arm.calc_inverse_kinematics_weight_from_link_list(
            links, additional_weight_list=more.get("additional_weight_list", ())
        )
        arm.reset_joint_angle_limit_weight(links)
        sharp = arm.calc_inverse_jacobian(J, weight=w)
        null = arm.calc_inverse_kinematics_nspace_from_link_list(
            links, null_space=more.get("null_space"), weight=w
        )
        wanted = sharp @ v + null - sharp @ J @ null
        assert arm.move_joints_avoidance(v, links, [links], jacobi=J, periodic_time=9, **more)
        assert np.allclose(arm.angle_vector() - q, wanted)
    arm.angle_vector(q)
    with caplog.at_level(logging.WARNING):
        assert arm.move_joints_avoidance(v, links) is True
    assert "jacobi is required" in caplog.text
    assert np.array_equal(arm.angle_vector(), q)
    assert arm.collision_avoidance_link_pair_from_link_list(links) == []


@pytest.mark.row("S0-142", "S0-118")
def test_the_centre_of_mass_in_the_null_space(arm: Any, links: Any):
    start = arm.centroid()
    asked = {"target_centroid_pos": start + np.array([0.0, 0.05, 0.0]), "cog_translation_axis": "y"}
    held = arm.end_coords.worldpos()
    for _ in range(20):
        J = arm.calc_jacobian_from_link_list(arm.end_coords, links, rotation_mask=False)
        arm.move_joints_avoidance(
            np.zeros(3), links, [links], jacobi=J, cog_gain=0.3, cog_null_space=True, **asked
        )
    assert arm.centroid()[1] - start[1] > 0.03
    assert np.abs(arm.end_coords.worldpos() - held).max() < 0.02


@pytest.mark.slow
@pytest.mark.row("S0-142", "S0-139")
def test_out_of_the_way_of_an_obstacle(arm: Any):
    hand = arm.links["link7"]
    ball = Link(name="ball", collision_mesh=trimesh.creation.icosphere(radius=0.05))
    ball.newcoords(Coordinates(pos=hand.worldpos() + np.array([0.0, 0.2, 0.0])))
    links = [link for link in arm.link_list if link.joint is not None and link.joint.joint_dof]
    start, q = hand.worldpos(), arm.angle_vector()

    def step(**more: Any) -> Any:
        J = arm.calc_jacobian_from_link_list(arm.end_coords, links, rotation_mask=False)
        arm.move_joints_avoidance(np.zeros(3), links, [links], jacobi=J, **more)
        return hand.worldpos() - start

    pairs = {"collision_avoidance_link_pair": [(hand, ball)]}
    quiet = step(avoid_collision_distance=0.05, **pairs)  # too far away to matter
    arm.angle_vector(q)
    arm.reset_joint_angle_limit_weight(links)
    assert np.allclose(quiet, step())
    arm.angle_vector(q)
    arm.reset_joint_angle_limit_weight(links)
    away = step(avoid_collision_distance=0.3, **pairs)
    assert away[1] < -0.01 < quiet[1]

    class Careful(RobotModel):
        def collision_avoidance_link_pair_from_link_list(self, link_list, obstacles=None):
            return [(hand, each) for each in obstacles or ()]

    arm.angle_vector(q)
    arm.__class__ = Careful
    arm.reset_joint_angle_limit_weight(links)
    assert np.allclose(step(avoid_collision_distance=0.3, obstacles=[ball]), away)

    class Asked(RobotModel):
        def move_joints(self, *args: Any, **kwargs: Any) -> bool:
            asked.append(kwargs)
            return True

    asked: list[dict[str, Any]] = []
    arm.angle_vector(q)
    arm.__class__ = Asked
    gains = ({}, {"avoid_collision_null_gain": 3.0}, {"avoid_collision_joint_gain": 3.0})
    for more in (*gains, {"avoid_collision_null_gain": 0.0}):
        arm.reset_joint_angle_limit_weight(links)
        step(avoid_collision_distance=0.3, **pairs, **more)
    null = [each["null_space"] - asked[3]["null_space"] for each in asked]
    assert np.abs(null[0]).max() > 1e-3
    assert np.allclose(null[1], 3.0 * null[0])
    speed = [each["angle_speed"] for each in asked]
    assert np.abs(speed[0]).max() > 1e-3
    assert np.allclose(speed[1], speed[0])
    assert np.allclose(speed[2], 3.0 * speed[0])
    step(avoid_collision_distance=0.25, **pairs)
    # f = (d - da) / (da / 10 - da), of the same distance d
    apart = [da * (1.0 - 0.9 * asked[k]["angle_speed_blending"]) for k, da in ((0, 0.3), (4, 0.25))]
    assert apart[0] == pytest.approx(apart[1])
    assert 0.05 < apart[0] < 0.2  # the ball's middle is 0.2 m from the link's origin


# joints that move as one


@pytest.mark.row("S0-147", "S0-148")
def test_joints_that_move_as_one(arm: Any, links: Any):
    pairs = [(arm.joint_list[0], arm.joint_list[3]), (arm.joint_list[5], arm.joint_list[2])]
    jacobian = arm.calc_jacobian_for_interlocking_joints
    speeds = arm.calc_vel_for_interlocking_joints
    assert jacobian(links).shape == (0, 7)
    assert jacobian(links, pairs).tolist() == [[1, 0, 0, -1, 0, 0, 0], [0, 0, -1, 0, 0, 1, 0]]
    assert speeds(links, pairs).tolist() == [0.0, 0.0]
    assert jacobian(links[:2], pairs).tolist() == [[1.0, 0.0]]  # the other one stays
    assert jacobian(links[4:5], pairs).shape == (0, 1)
    assert speeds(links[4:5], pairs).shape == (0,)


# one iteration


@pytest.mark.row("S0-120", "S0-123")
def test_one_iteration(arm: Any, links: Any, J: Any):
    tool, q = arm.end_coords, arm.angle_vector()
    way, turn = np.array([0.01, 0.0, -0.01]), np.array([0.0, 0.02, 0.0])
    assert arm.inverse_kinematics_loop(way, turn, tool, links) == "ik-continuous"
    moved = arm.angle_vector()
    arm.angle_vector(q)
    arm.reset_joint_angle_limit_weight(links)
    arm.move_joints_avoidance(np.concatenate([way, turn]), links, [links], jacobi=J)
    assert np.allclose(moved, arm.angle_vector())

    long = np.array([0.0, 0.0, 2.0])
    ends = []
    for asked in ((way, long, {}), (way, 0.25 * long, {}), (way, long, {"r_limit": 1.0})):
        arm.angle_vector(q)
        arm.reset_joint_angle_limit_weight(links)
        arm.inverse_kinematics_loop(*asked[:2], tool, links, periodic_time=100, **asked[2])
        ends.append(arm.angle_vector())
    assert np.array_equal(ends[0], ends[1])  # half a radian an iteration, at most
    assert np.abs(ends[2] - ends[0]).max() > 0.1

    small = (1e-4 * way, 1e-4 * turn)
    arm.angle_vector(q)
    assert arm.inverse_kinematics_loop(*small, tool, links) == "ik-succeed"
    assert arm.inverse_kinematics_loop(way, turn, tool, links, thre=1, rthre=1) == "ik-succeed"
    assert np.array_equal(arm.angle_vector(), q)
    again = arm.inverse_kinematics_loop(*small, tool, links, stop=50, loop=3)
    assert again == "ik-continuous"  # a tenth of the iterations is made
    assert arm.inverse_kinematics_loop(*small, tool, links, stop=50, loop=5) == "ik-succeed"
    assert arm.inverse_kinematics_loop(*small, tool, stop=50, loop=1) == "ik-succeed"
    no = arm.inverse_kinematics_loop(*small, tool, links, additional_check=lambda: False)
    assert no == "ik-continuous"
    for more, error in (
        ({"move_target": None}, NotImplementedError),
        ({"move_target": tool, "link_list": links, "joint_list": arm.joint_list}, ValueError),
        ({"move_target": [tool, tool]}, ValueError),
        ({"move_target": tool, "additional_jacobi": [J]}, ValueError),
    ):
        with pytest.raises(error):
            arm.inverse_kinematics_loop(way, turn, **more)
