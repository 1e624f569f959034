"""Rows S0-180 to S0-188 and S0-052: masses, the centre of gravity, torques, feet on the ground."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from linkwork import poses
from linkwork.errors import InputError, ShapeError
from linkwork.faces.skrobot.coordinates import CascadedCoords, Coordinates
from linkwork.faces.skrobot.model.joint import (
    FixedJoint,
    FloatingJoint,
    LinearJoint,
    OmniWheelJoint,
    PlanarJoint,
    RotationalJoint,
)
from linkwork.faces.skrobot.model.link import Link
from linkwork.faces.skrobot.model.robot_model import RobotModel
from linkwork.models import path
from seeds import random_pose, rng
from skrobot_robots import at_random, derivative, joined, panda

Floats = NDArray[np.float64]
Random = np.random.Generator
KINDS = (RotationalJoint, LinearJoint, FixedJoint, PlanarJoint, FloatingJoint, OmniWheelJoint)


def close(a: Any, b: Any, tolerance: float = 1e-9) -> None:
    scale = max(1.0, float(np.abs(b).max(initial=0.0)))
    assert_allclose(a, b, rtol=0.0, atol=tolerance * scale)


def frame_at(T: Floats, parent: Any = None) -> CascadedCoords:
    made = CascadedCoords(pos=T[:3, 3], rot=T[:3, :3])
    if parent is not None:
        parent.assoc(made, relative_coords="local")
    return made


def random_inertia(g: Random) -> Floats:
    """That of six points."""
    points, mass = g.normal(size=(6, 3)) * 0.2, g.uniform(0.1, 1.0, 6)
    square = np.einsum("ki,ki->k", points, points)
    return np.eye(3) * (mass @ square) - np.einsum("k,ki,kj->ij", mass, points, points)


def random_link(g: Random, name: str) -> Link:
    return Link(
        name=name, mass=g.uniform(0.5, 3.0), centroid=g.normal(size=3) * 0.2,
        inertia_tensor=random_inertia(g),
    )  # fmt: skip


def random_robot(g: Random, kinds: Any) -> Any:
    """A tree with a joint of each of these kinds, somewhere in the world, in a random state."""
    links = [random_link(g, "base")]
    joints: list[Any] = []
    for k, kind in enumerate(kinds):
        parent = links[int(g.integers(len(links)))]
        link = random_link(g, f"link{k}")
        T = random_pose(g)
        link.newcoords(Coordinates(T[:3, 3], T[:3, :3]))
        joint = joined(kind, parent, link, f"joint{k}", **at_random(kind, g))
        links.append(link)
        if joint.joint_dof:
            joints.append(joint)
    robot = RobotModel(link_list=links, joint_list=joints, root_link=links[0])
    place = random_pose(g)
    robot.newcoords(Coordinates(place[:3, 3], place[:3, :3]))
    robot.angle_vector(g.uniform(-1.0, 1.0, n_of(robot)))
    return robot


def n_of(robot: RobotModel) -> int:
    return sum(joint.joint_dof for joint in robot.joint_list)


# --- an independent engine ------------------------------------------------------------------------


class Pinocchio:
    """The same robot in Pinocchio, each degree of freedom a joint of its own."""

    def __init__(self, robot: RobotModel, *, floating: bool = False) -> None:
        self.pin = pin = pytest.importorskip("pinocchio", reason="pinocchio is not installed")
        self.model = pin.Model()
        self.robot = robot
        root = robot.link_list[0]
        start = robot.copy_worldcoords().T() if not floating else np.eye(4)
        placed: dict[int, tuple[int, Floats]] = {}
        if floating:
            free = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
            placed[id(root)] = (free, np.eye(4))
        else:
            placed[id(root)] = (0, start)
        self._weigh(root, *placed[id(root)])
        self.columns: dict[int, list[int]] = {}
        waiting = list(robot.link_list[1:])
        while waiting:
            link = waiting.pop(0)
            above = placed.get(id(link.parent_link))
            if above is None:
                waiting.append(link)
                continue
            body, T = above
            joint = link.joint
            assert joint is not None
            offset = T @ joint.default_coords.T()
            own: list[int] = []
            for kind, axis in self._steps(joint):
                made = kind(np.asarray(axis, np.float64))
                body = self.model.addJoint(body, made, pin.SE3(offset), f"{joint.name}/{len(own)}")
                offset = np.eye(4)
                own.append(body)
            self.columns[id(joint)] = own
            placed[id(link)] = (body, offset)
            self._weigh(link, body, offset)
        self.placed = placed
        self.model.gravity.linear = np.array([0.0, 0.0, -9.81])
        self.data = self.model.createData()

    def _steps(self, joint: Any) -> list[Any]:
        pin = self.pin
        turn, slide = pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned
        x, y, z = np.eye(3)
        if isinstance(joint, FixedJoint):
            return []
        if isinstance(joint, RotationalJoint):
            return [(turn, joint.axis)]
        if isinstance(joint, LinearJoint):
            return [(slide, joint.axis)]
        if isinstance(joint, FloatingJoint):
            return [*((slide, a) for a in (x, y, z)), *((turn, a) for a in (x, y, z))]
        return [(slide, x), (slide, y), (turn, z)]

    def _weigh(self, link: Link, body: int, T: Floats) -> None:
        pin = self.pin
        own = pin.Inertia(link.mass, np.array(link.centroid), np.array(link.inertia_tensor))
        self.model.appendBodyToJoint(body, own, pin.SE3(T))

    def spread(self, given: Floats, base: Any = None, *, positions: bool = False) -> Floats:
        found = np.zeros(self.model.nq if positions else self.model.nv)
        if base is not None:
            found[: len(base)] = base
        at = 0
        for joint in self.robot.joint_list:
            for body in self.columns[id(joint)]:
                place = self.model.idx_qs[body] if positions else self.model.idx_vs[body]
                found[place] = given[at]
                at += 1
        return found

    def in_order(self, tau: Floats) -> Floats:
        return np.array(
            [tau[self.model.idx_vs[body]] for j in self.robot.joint_list
             for body in self.columns[id(j)]]
        )  # fmt: skip

    def torques(self, q: Floats, v: Floats, dv: Floats, loads: Any = ()) -> Floats:
        """Loads: (link, pose in the link, force, moment) in the world."""
        pin = self.pin
        outer = pin.StdVec_Force()
        for _ in range(self.model.njoints):
            outer.append(pin.Force.Zero())
        pin.forwardKinematics(self.model, self.data, q)
        for link, T, force, moment in loads:
            body, T_body_link = self.placed[id(link)]
            point = self.data.oMi[body] * pin.SE3(T_body_link @ T)
            upright = pin.SE3(np.eye(3), point.translation)
            wrench = upright.act(pin.Force(force, moment))  # about the origin of the world
            outer[body] = outer[body] + self.data.oMi[body].actInv(wrench)
        return self.in_order(pin.rnea(self.model, self.data, q, v, dv, outer))


def loads_on(g: Random, robot: RobotModel, n: int) -> tuple[list[Any], list[Any]]:
    """Frames on links with a force and a moment, as the face and as Pinocchio take them."""
    ours: list[Any] = [[], [], []]
    theirs: list[Any] = []
    for _ in range(n):
        link = robot.link_list[int(g.integers(len(robot.link_list)))]
        T, force, moment = random_pose(g), g.normal(size=3), g.normal(size=3)
        for row, value in zip(ours, (force, moment, frame_at(T, link)), strict=True):
            row.append(value)
        theirs.append((link, T, force, moment))
    return ours, theirs


# --- masses ---------------------------------------------------------------------------------------


@pytest.mark.row("S0-180")
def test_masses_of_points_in_the_world():
    """Each link as a cloud of points with the same mass, centre and inertia."""
    g = rng("skrobot masses")
    robot = random_robot(g, [RotationalJoint, LinearJoint, FixedJoint])
    found = robot.update_mass_properties()
    total, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for link in robot.link_list:
        # the moments of second order about the centre belong to an inertia: C = tr(I)/2 - I
        covariance = np.eye(3) * np.trace(link.inertia_tensor) / 2.0 - link.inertia_tensor
        R, p = link.worldrot(), link.worldpos()
        assert link.centroid is not None
        centre = R @ link.centroid + p
        total += link.mass
        first += link.mass * centre
        second += R @ covariance @ R.T + link.mass * np.outer(centre, centre)
    centre = first / total
    second -= total * np.outer(centre, centre)
    assert found["total_mass"] == pytest.approx(total)
    close(found["total_centroid"], centre)
    close(found["total_inertia"], np.eye(3) * np.trace(second) - second)


@pytest.mark.row("S0-180")
def test_masses_of_a_robot_without_any():
    robot = RobotModel()
    found = robot.update_mass_properties()
    assert found["total_mass"] == 0.0
    close(found["total_centroid"], np.zeros(3))
    close(found["total_inertia"], np.zeros((3, 3)))
    plain = RobotModel(link_list=[Link(name="a"), Link(name="b")], joint_list=[])
    assert plain.update_mass_properties()["total_mass"] == 0.0  # 1.0 is what is read, not weighed


@pytest.mark.row("S0-180")
def test_the_turn_of_an_inertial_counts():
    text = """<robot name="r"><link name="a"><inertial><origin rpy="0 0 1.5707963267948966"/>
    <mass value="2"/><inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
    </robot>"""
    found = RobotModel.from_urdf(text).update_mass_properties()
    close(found["total_inertia"], np.diag([2.0, 1.0, 2.5]))


@pytest.mark.row("S0-181")
def test_centroid_now_and_as_it_was():
    g = rng("skrobot centroid")
    robot = random_robot(g, [RotationalJoint, LinearJoint])
    first = robot.centroid()
    close(first, robot.update_mass_properties()["total_centroid"])
    robot.angle_vector(robot.angle_vector() + 0.3)
    close(robot.centroid(update_mass_properties=False), first)
    now = robot.centroid()
    assert np.abs(now - first).max() > 1e-3
    close(robot.centroid(False), now)
    now[:] = 7.0  # what is handed out is not what is kept
    assert np.abs(robot.centroid(False)).max() < 6.9
    close(RobotModel().centroid(), np.zeros(3))
    close(RobotModel().centroid(update_mass_properties=False), np.zeros(3))


@pytest.mark.row("S0-182")
def test_the_jacobian_of_the_centre_of_gravity_is_its_derivative():
    g = rng("skrobot com jacobian")
    robot = random_robot(g, [RotationalJoint, LinearJoint, PlanarJoint, FloatingJoint])
    J = robot.calc_cog_jacobian_from_link_list()
    assert J.dtype == np.float64
    order = [joint for link in robot.link_list if (joint := link.joint) is not None]
    assert order == robot.joint_list
    close(J, derivative(robot.centroid, robot.joint_list), 1e-7)
    for axes, rows in (("xy", [0, 1]), ("z", [2]), ([1, 0, 1], [0, 2]), (True, [0, 1, 2])):
        close(robot.calc_cog_jacobian_from_link_list(translation_axis=axes), J[rows])


@pytest.mark.row("S0-182")
def test_columns_of_the_jacobian_of_the_centre_of_gravity():
    g = rng("skrobot com columns")
    robot = random_robot(g, [RotationalJoint, LinearJoint, RotationalJoint])
    J = robot.calc_cog_jacobian_from_link_list()
    links = robot.link_list
    some = [links[3], links[1]]
    close(robot.calc_cog_jacobian_from_link_list(some), J[:, [2, 0]])
    close(robot.calc_cog_jacobian_from_link_list([[links[3]], [links[1], links[3]]]), J[:, [2, 0]])
    wide = robot.calc_cog_jacobian_from_link_list(some, "z", col_offset=2, n_joint_dimension=6)
    close(wide, np.concatenate([np.zeros(2), J[2, [2, 0]], np.zeros(2)])[None])
    given = np.ones((1, 5))
    same = robot.calc_cog_jacobian_from_link_list(some, "z", jacobian=given, col_offset=1)
    assert same is given
    close(given, np.array([[1.0, J[2, 2], J[2, 0], 1.0, 1.0]]))
    with pytest.raises(ValueError, match="must select at least one"):
        robot.calc_cog_jacobian_from_link_list(translation_axis=False)
    with pytest.raises(ValueError, match="mass is zero"):
        RobotModel().calc_cog_jacobian_from_link_list()
    with pytest.raises(ShapeError, match="needs"):
        robot.calc_cog_jacobian_from_link_list(jacobian=np.zeros((3, 2)))


@pytest.mark.row("S0-183")
def test_the_way_to_a_centre_of_gravity():
    g = rng("skrobot com way")
    robot = random_robot(g, [RotationalJoint])
    at, goal = robot.centroid(), g.normal(size=3)
    close(robot.calc_vel_for_cog(goal), goal - at)
    close(robot.calc_vel_for_cog(goal, "xz", 0.5), 0.5 * (goal - at)[[0, 2]])
    assert robot.calc_vel_for_cog(goal, False).shape == (0,)
    robot.angle_vector(robot.angle_vector() + 0.3)
    close(robot.calc_vel_for_cog(goal, update_mass_properties=False), goal - at)
    load = g.normal(size=3)
    found = robot.calc_vel_for_cog(goal.tolist(), centroid_offset_func=load.tolist)
    close(found, goal - robot.centroid() - load)


# --- torques --------------------------------------------------------------------------------------


@pytest.mark.row("S0-184", "S0-185", "S0-186", "S0-187")
def test_torques_are_those_of_pinocchio():
    check_torques(rng("skrobot torques"), [RotationalJoint, FixedJoint, LinearJoint])


@pytest.mark.slow
@pytest.mark.row("S0-184", "S0-185", "S0-186", "S0-187")
def test_torques_of_many_robots_are_those_of_pinocchio():
    g = rng("skrobot torques of many")
    for _ in range(6):
        kinds = [*KINDS, *(KINDS[k] for k in g.integers(len(KINDS), size=3))]
        check_torques(g, [kinds[k] for k in g.permutation(len(kinds))])


def check_torques(g: Random, kinds: Any) -> None:
    """At rest, in motion, and with a root that moves; with forces and moments at frames."""
    robot = random_robot(g, kinds)
    n, dt = n_of(robot), 1e-4
    other = Pinocchio(robot)
    q = robot.angle_vector()
    zero = np.zeros(other.model.nv)
    loads, their_loads = loads_on(g, robot, 3)
    at = other.spread(q, positions=True)
    close(robot.torque_vector(*loads), other.torques(at, zero, zero, their_loads))
    close(robot.torque_vector(), other.torques(at, zero, zero))
    qd, qdd = g.normal(size=n), g.normal(size=n)
    v, dv = other.spread(qd), other.spread(qdd)
    expected = other.torques(at, v, dv, their_loads)
    found = robot.inverse_dynamics(*loads, gravity=[0.0, 0.0, -9.81], qd=qd, qdd=qdd)
    close(found, expected)
    before, after = q - qd * dt + qdd * dt**2 / 2, q + qd * dt + qdd * dt**2 / 2
    moving: dict[str, Any] = {
        "calc_statics_p": False,
        "dt": dt,
        "av": q,
        "av_prev": before,
        "av_next": after,
    }
    close(robot.torque_vector(*loads, **moving), expected, 1e-6)
    close(robot.torque_vector(*loads, **{**moving, "calc_statics_p": True}),
          other.torques(at, zero, zero, their_loads))  # fmt: skip
    for name in ("av_prev", "av_next"):  # one of them: a velocity alone
        one: dict[str, Any] = {**moving, name: None}
        way = qd + (qdd if name == "av_prev" else -qdd) * dt / 2
        close(robot.torque_vector(**one), other.torques(at, other.spread(way), zero), 1e-6)

    free = Pinocchio(robot, floating=True)
    pin = free.pin
    start = robot.copy_worldcoords().T()
    twist, change = g.normal(size=6), g.normal(size=6)
    roots = [
        pin.SE3(start) * pin.exp6(sign * twist * dt + sign**2 * change * dt**2 / 2)
        for sign in (-1, 0, 1)
    ]
    base = pin.SE3ToXYZQUAT(pin.SE3(start))
    expected = free.torques(
        free.spread(q, base, positions=True), free.spread(qd, twist), free.spread(qdd, change),
        their_loads,
    )  # fmt: skip
    frames = [Coordinates(T.translation, T.rotation) for T in roots]
    names = ("root_coords_prev", "root_coords", "root_coords_next")
    found = robot.torque_vector(*loads, **moving, **dict(zip(names, frames, strict=True)))
    close(found, expected, 1e-5)
    assert np.abs(expected - other.torques(at, v, dv, their_loads)).max() > 1e-3
    close(robot.angle_vector(), q, 0.0)  # nothing has moved
    close(robot.copy_worldcoords().T(), start, 0.0)


@pytest.mark.row("S0-184", "S0-185")
def test_gravity_and_its_signs():
    """What a motor gives is positive where it lifts; each method has the gravity of its page."""
    base, tip = Link(name="base"), Link(name="tip", mass=2.0, centroid=[1.0, 0.0, 0.0])
    joint = joined(RotationalJoint, base, tip, "j", axis="y")
    robot = RobotModel([base, tip], [joint], root_link=base)
    close(robot.torque_vector(), [-2.0 * 9.81])  # y turns down: to hold is to turn up
    close(robot.inverse_dynamics(), [-2.0 * 9.80665])
    close(robot.torque_vector(gravity=(0.0, 0.0, -1.0)), [-2.0])
    close(robot.inverse_dynamics(gravity=[0.0, 0.0, 1.0]), [2.0])
    close(robot.torque_vector([[0.0, 0.0, 3.0]], gravity=np.zeros(3)), [0.0])  # at the axis
    frame = CascadedCoords(pos=[1.0, 0.0, 0.0], parent=tip)
    close(robot.torque_vector([[0.0, 0.0, 3.0]], None, [frame], gravity=np.zeros(3)), [3.0])
    close(robot.torque_vector(None, [[0.0, 4.0, 0.0]], [frame], gravity=np.zeros(3)), [-4.0])
    robot.rotate(math.pi / 2, "x")  # gravity is that of the world
    close(robot.torque_vector(), [0.0])
    close(robot.torque_vector(root_coords=Coordinates()), [-2.0 * 9.81])
    close(robot.torque_vector(av=[math.pi / 2], root_coords=Coordinates()), [0.0])
    assert joint.joint_angle() == 0.0


@pytest.mark.row("S0-187")
def test_a_part_of_a_robot_has_the_masses_of_its_own_links():
    robot: Any = RobotModel.from_urdf(path("humanoid"))
    names = [f"right_{each}_link" for each in ("shoulder_pitch", "shoulder_yaw", "elbow")]
    links = [robot.links[name] for name in names]  # one on the way between them is left out
    limb = RobotModel(link_list=links, joint_list=[link.joint for link in links])
    for joint, angle in zip(limb.joint_list, (-0.5, 0.4, -1.2), strict=True):
        joint.joint_angle(angle)
    wanted = []
    for joint, above in zip(limb.joint_list, range(3), strict=True):
        moments = [
            np.cross(link.transform_vector(link.centroid) - joint.world_position, [0, 0, link.mass])
            for link in links[above:]
        ]
        wanted.append(9.81 * np.sum(moments, axis=0) @ joint.world_axis)
    close(limb.torque_vector(), wanted)
    assert abs(limb.torque_vector()[0] - robot.torque_vector()[23]) > 0.1
    assert limb.update_mass_properties()["total_mass"] == sum(link.mass for link in links)


@pytest.mark.slow
@pytest.mark.row("S0-186")
def test_where_forces_act():
    robot = panda()
    rest = robot.torque_vector()
    hand = frame_at(poses.pose([0.1, 0.0, 0.2]), robot.link_list[-1])
    force, moment = [10.0, 2.0, -3.0], [1.0, 2.0, 3.0]
    step = derivative(hand.worldpos, robot.joint_list)
    close(robot.torque_vector([force], None, [hand]) - rest, -np.array(force) @ step, 1e-7)
    # a moment along the axes of the world, wherever the frame and the link point
    turned = frame_at(random_pose(rng("skrobot moments")), robot.link_list[-1])
    own, same = (robot.torque_vector(None, [moment], [f]) - rest for f in (hand, turned))
    close(own, same)
    axes = np.array([joint.world_axis for joint in robot.joint_list])
    close(own, -axes @ moment)
    # without frames: on the links of the joints, in order
    links = [joint.child_link for joint in robot.joint_list]
    some = [[0, 0, k] for k in range(len(links))]
    close(robot.torque_vector(some), robot.torque_vector(some, None, links))
    # what is held by the root costs no torque, frames without load none either
    close(robot.torque_vector([force], None, [robot.root_link]), rest)
    close(robot.torque_vector([force, None], [None, moment], [robot, robot.root_link]), rest)
    close(robot.torque_vector(target_coords=[hand]), rest)
    with pytest.raises(InputError, match="does not hang on a link"):
        robot.torque_vector([force], None, [Coordinates()])
    with pytest.raises(InputError, match="one by one"):
        robot.torque_vector([force, force], None, [hand])
    any_frame: Any = hand
    with pytest.raises(InputError, match="list"):
        robot.torque_vector([force], None, any_frame)
    with pytest.raises(ShapeError):
        robot.torque_vector([[1.0, 2.0]], None, [hand])


@pytest.mark.row("S0-184", "S0-185", "S0-188")
def test_backends_and_what_is_refused():
    robot = panda()
    for call in (robot.torque_vector, robot.inverse_dynamics):
        close(call(backend="jax"), call(backend="numpy"), 0.0)
        with pytest.raises(ValueError, match="Unknown backend"):
            call(backend="fortran")
    q = robot.angle_vector()
    with pytest.raises(ShapeError):
        robot.torque_vector(av=q[:3])
    with pytest.raises(ShapeError):
        robot.torque_vector(gravity=9.81)
    with pytest.raises(InputError):
        robot.torque_vector(av=q * np.nan)
    with pytest.raises(InputError, match="dt"):
        robot.torque_vector(calc_statics_p=False, av_prev=q, dt=0.0)
    assert RobotModel().torque_vector().shape == (0,)
    assert RobotModel().inverse_dynamics().shape == (0,)


@pytest.mark.row("S0-185")
def test_a_follower_has_a_torque_of_its_own():
    """As though nothing coupled it; the motor of both gives the sum, weighed by the ratio."""
    text = """<robot name="r"><link name="a"/>{}</robot>"""
    link = """<link name="{0}"><inertial><origin xyz="0.3 0 0"/><mass value="{1}"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j{0}" type="continuous"><parent link="a"/><child link="{0}"/><axis xyz="0 1 0"/>
    {2}</joint>"""
    mimic = '<mimic joint="jb" multiplier="2"/>'
    robot = RobotModel.from_urdf(text.format(link.format("b", 1, "") + link.format("c", 3, mimic)))
    robot.angle_vector([0.2, 0.4])
    found = robot.torque_vector()
    close(found, -9.81 * 0.3 * np.array([math.cos(0.2), 3.0 * math.cos(0.4)]))


# --- feet -----------------------------------------------------------------------------------------


@pytest.mark.row("S0-052")
def test_feet_are_put_on_a_frame():
    class Legged(RobotModel):
        """A robot with two feet."""

        left: Any
        right: Any

        @property
        def lleg(self) -> Any:
            return limb(self.left)

        @property
        def rleg(self) -> Any:
            return limb(self.right)

    def limb(foot: CascadedCoords) -> Any:
        made: Any = RobotModel(link_list=[], joint_list=[])
        made.end_coords = foot
        return made

    g = rng("skrobot feet")
    base = Link(name="base")
    robot = Legged(link_list=[base], joint_list=[], root_link=base)
    robot.left, robot.right = frame_at(random_pose(g), base), frame_at(random_pose(g), base)
    T = random_pose(g)
    target = Coordinates(T[:3, 3], T[:3, :3])
    for names, foot in ((("left", "lleg"), robot.left), (("right", "rleg"), robot.right)):
        for name in names:
            found = robot.fix_leg_to_coords(target, name)
            close(foot.copy_worldcoords().T(), target.T())
            assert found is not None
            close(found.T(), robot.copy_worldcoords().T())
    for mid in (0.0, 0.25, 1.0):
        robot.fix_leg_to_coords(target, leg="both", mid=mid)
        between = robot.left.copy_worldcoords().slerp(robot.right.copy_worldcoords(), mid)
        close(between.T(), target.T())
    robot.fix_leg_to_coords(target)
    half = 0.5 * (robot.left.worldpos() + robot.right.worldpos())
    close(half, target.worldpos())
    assert RobotModel().fix_leg_to_coords(target) is None
