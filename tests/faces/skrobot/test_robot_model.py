"""Robots of the scikit-robot face: loading, angles, links on the way, limbs."""

from __future__ import annotations

import copy
import io
import logging
import math
import threading
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import settings as hypothesis_settings

import linkwork as lw
from linkwork import poses
from linkwork.errors import (
    DescriptionError,
    InputError,
    LinkworkError,
    MissingFileError,
    ShapeError,
    UnsupportedFeatureError,
)
from linkwork.faces.skrobot.coordinates import CascadedCoords
from linkwork.faces.skrobot.model import (
    CascadedLink,
    FixedJoint,
    FloatingJoint,
    JointLimitTable,
    LinearJoint,
    Link,
    PlanarJoint,
    RobotModel,
    RotationalJoint,
)
from linkwork.formats.urdf.records import Robot
from robots import (
    ALL_TYPES,
    about,
    chain_urdf,
    description_poses,
    example_robot_urdfs,
    model_poses,
    random_tree,
)
from seeds import rng
from skrobot_robots import joined
from urdf_strategies import robots

ARM = """<robot name="arm">
<link name="base"/><link name="l1"/><link name="l2"/><link name="l3"/><link name="l4"/>
<link name="tip"/><link name="side"/>
<joint name="j1" type="revolute"><parent link="base"/><child link="l1"/>
<origin xyz="0 0 1" rpy="0 0.2 0"/><axis xyz="0 0 2"/>
<limit lower="0.2" upper="2" effort="10" velocity="3"/></joint>
<joint name="j2" type="revolute"><parent link="l1"/><child link="l2"/><origin xyz="0 0 1"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="3"/>
<mimic joint="j1" multiplier="-0.5" offset="0.1"/></joint>
<joint name="j3" type="prismatic"><parent link="l2"/><child link="l3"/><origin xyz="0 0 1"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="0.5" effort="10" velocity="0"/></joint>
<joint name="j4" type="continuous"><parent link="l3"/><child link="l4"/></joint>
<joint name="jf" type="fixed"><parent link="l4"/><child link="tip"/><origin xyz="0 0 1"/></joint>
<joint name="js" type="revolute"><parent link="l2"/><child link="side"/></joint>
</robot>"""

HEAD = '<robot name="r"><link name="a"/><link name="b"/><link name="c"/>'


def joint_text(kind: str, parent: str, child: str, name: str, more: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{more}</joint>"
    )


@pytest.fixture(name="arm")
def _arm() -> RobotModel:
    return RobotModel.from_urdf(ARM)


def tree() -> RobotModel:
    """root - trunk - (left1 - left2, right1), made in code."""
    names = ("root", "trunk", "left1", "left2", "right1")
    links = {name: Link(name=name, pos=[0, 0, 1]) for name in names}
    ways = (("root", "trunk"), ("trunk", "left1"), ("left1", "left2"), ("trunk", "right1"))
    joints = [
        joined(RotationalJoint, links[above], links[below], f"{below}_joint", axis="y")
        for above, below in ways
    ]
    return RobotModel(list(links.values()), joints, links["root"])


# what a robot is


@pytest.mark.row("S0-001")
def test_a_robot_made_of_links_and_joints():
    robot = tree()
    root, trunk, left1, left2, right1 = robot.link_list
    assert trunk.parent_link is root
    assert trunk.child_links == [left1, right1]
    assert robot.joint_names == ["trunk_joint", "left1_joint", "left2_joint", "right1_joint"]
    assert robot.root_link is root
    assert robot.left2 is left2
    assert robot.left2_joint is left2.joint
    robot.translate([1, 0, 0])
    assert left2.worldpos() == pytest.approx([1, 0, 4])
    robot.angle_vector([math.pi / 2, 0, 0, 0])
    assert right1.worldpos() == pytest.approx([2, 0, 2])
    assert RobotModel().angle_vector().shape == (0,)
    assert robot.assoc(root) is root
    assert robot.descendants == [root]
    apart = RobotModel([root, trunk], [trunk.joint])
    assert root.parent is robot
    assert apart.angle_vector() == pytest.approx([math.pi / 2])


@pytest.mark.row("S0-001")
def test_names_never_hide_methods(arm: RobotModel):
    text = ARM.replace('"l1"', '"T"').replace('"j1"', '"copy"').replace('"l3"', '"j3"')
    robot = RobotModel.from_urdf(text)
    assert robot.T().shape == (4, 4)
    assert robot.links["T"].name == "T"
    assert robot.joints["copy"].name == "copy"
    assert robot.j3 is robot.joints["j3"]
    assert robot.links["j3"] is robot.joints["j3"].child_link
    assert arm.jf is arm.tip.joint
    assert {"l1", "j1", "jf"} <= set(dir(arm))
    with pytest.raises(AttributeError, match=r"no attribute 'j22'; nearest.*j2"):
        _ = arm.j22
    arm.l1.name = "renamed"
    assert arm.renamed is arm.link_list[1]
    assert not hasattr(arm, "l1")


def test_the_parts_of_a_model_do_not_hide_each_other():
    frames = CascadedCoords.__mro__
    parts = [kind for kind in CascadedLink.__mro__ if kind not in frames]
    taken: dict[str, str] = {name: "frames" for kind in frames for name in vars(kind)}
    for kind in parts:
        own = {name for name in vars(kind) if not name.startswith("__")}
        assert not own & set(taken), (
            kind.__name__,
            {name: taken[name] for name in own & set(taken)},
        )
        taken |= dict.fromkeys(own, kind.__name__)


@pytest.mark.row("S0-002", "S0-003", "S0-004", "S0-005")
def test_what_a_loaded_robot_says_of_itself(arm: RobotModel, tmp_path: Path):
    assert [link.name for link in arm.link_list] == ["base", "l1", "l2", "l3", "l4", "tip", "side"]
    assert [joint.name for joint in arm.joint_list] == ["j1", "j2", "j3", "j4", "js"]
    assert arm.joint_names == ["j1", "j2", "j3", "j4", "js"]
    assert (arm.name, arm.root_link, arm.urdf_path) == ("arm", arm.link_list[0], None)
    assert arm.root_link.parent is arm
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    assert RobotModel.from_urdf(str(path)).urdf_path == str(path)
    assert [type(joint) for joint in arm.joint_list] == [
        RotationalJoint, RotationalJoint, LinearJoint, RotationalJoint, RotationalJoint
    ]  # fmt: skip
    assert type(arm.jf) is FixedJoint


# loading


@pytest.mark.row("S0-006", "S0-007", "S0-008")
def test_ways_to_load(tmp_path: Path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    names = ["j1", "j2", "j3", "j4", "js"]
    for source in (ARM, "\ufeff \n" + ARM, ARM.encode(), str(path), path):
        assert RobotModel.from_urdf(source).joint_names == names
    robot = RobotModel()
    robot.load_urdf(
        HEAD + joint_text("fixed", "a", "b", "f") + joint_text("fixed", "b", "c", "g") + "</robot>"
    )
    assert robot.joint_names == []
    for source in (
        str(path),
        path,
        path.open("rb"),
        path.open(),
        io.BytesIO(ARM.encode()),
        io.StringIO(ARM),
    ):
        robot.load_urdf_file(source)
        assert robot.joint_names == names
        assert [frame.name for frame in robot.descendants] == ["base"]
    robot.load_urdf_file(path, include_mimic_joints=False)
    assert robot.joint_names == ["j1", "j3", "j4", "js"]
    assert not hasattr(robot, "a")
    for load in (robot.load_urdf, RobotModel.from_urdf):
        shorter = load(ARM, include_mimic_joints=False) or robot
        assert shorter.joint_names == ["j1", "j3", "j4", "js"]
        shorter.j1.joint_angle(1.0)
        assert shorter.j2.joint_angle() == pytest.approx(-0.4)  # it follows all the same
    bundled = RobotModel.from_urdf("scara")
    assert bundled.urdf_path.endswith("scara.urdf")
    assert len(bundled.joint_names) == 4
    encoded = '<?xml version="1.0" encoding="latin-1"?>' + ARM.replace('"l1"', '"é"')
    robot.load_urdf_file(io.BytesIO(encoded.encode("latin-1")))
    assert robot.link_list[1].name == "é"


@pytest.mark.row("S0-006", "S0-007", "S0-008")
def test_errors_of_loading_leave_the_robot_as_it_was(arm: RobotModel, tmp_path: Path):
    bad = tmp_path / "bad.urdf"
    bad.write_text("<robot name='r'><link")
    before = arm.link_list
    for source in (bad, "<robot", str(bad)):
        with pytest.raises(DescriptionError) as caught:
            RobotModel.from_urdf(source)
        assert isinstance(caught.value, ValueError)
    for path in (tmp_path / "none.urdf", "none", "no/such/file"):
        with pytest.raises(MissingFileError):
            arm.load_urdf_file(path)
    with pytest.raises(UnsupportedFeatureError, match="no URDF"):
        RobotModel.from_urdf('<mujoco><worldbody><body name="a"/></worldbody></mujoco>')
    for text in ("hello", str(bad), b"hello", 3):
        with pytest.raises((InputError, AttributeError, TypeError)):
            arm.load_urdf(text)
    twice = HEAD + joint_text("fixed", "a", "b", "j") + joint_text("fixed", "a", "c", "j")
    with pytest.raises(DescriptionError, match="taken"):
        arm.load_urdf(twice + "</robot>")
    circle = joint_text("continuous", "a", "b", "j", '<mimic joint="k"/>')
    circle += joint_text("continuous", "b", "c", "k", '<mimic joint="j"/>')
    with pytest.raises(DescriptionError, match="mimic each other"):
        arm.load_urdf(HEAD + circle + "</robot>")
    with pytest.raises(InputError, match="on_error"):
        RobotModel.from_urdf(ARM, on_error="ignore")
    assert arm.link_list is before
    assert arm.joint_names == ["j1", "j2", "j3", "j4", "js"]


@pytest.mark.row("S0-008")
def test_joints_without_their_links_are_errors_or_left_out(caplog: pytest.LogCaptureFixture):
    text = HEAD + joint_text("continuous", "a", "b", "j") + joint_text("fixed", "a", "zz", "k")
    text += joint_text("fixed", "yy", "c", "l") + "</robot>"
    with pytest.raises(DescriptionError, match="zz"):
        RobotModel.from_urdf(text)
    with caplog.at_level(logging.WARNING):
        robot = RobotModel.from_urdf(text, on_error="warn")
    assert "joint 'k'" in caplog.text
    assert robot.joint_names == ["j"]
    assert [link.name for link in robot.link_list] == ["a", "b", "c"]
    assert robot.links["c"].parent is robot
    assert robot.root_link is None
    robot.translate([1, 0, 0])
    assert robot.links["c"].worldpos() == pytest.approx([1, 0, 0])
    assert robot.linkwork().n_q == 1
    with pytest.raises(DescriptionError):
        RobotModel.from_urdf("<robot", on_error="warn")


@pytest.mark.row("S0-008")
def test_what_a_description_leaves_out(arm: RobotModel, caplog: pytest.LogCaptureFixture):
    j1, _, j3, j4, js = arm.joint_list
    assert js.axis == pytest.approx([1, 0, 0])
    assert (js.min_angle, js.max_angle, js.max_joint_torque) == (-math.inf, math.inf, 0)
    assert js.max_joint_velocity == pytest.approx(math.radians(5))
    assert (j4.min_angle, j4.max_angle, j4.type) == (-math.inf, math.inf, "continuous")
    assert (j1.max_joint_velocity, j1.max_joint_torque) == (3, 10)
    assert j3.max_joint_velocity == pytest.approx(math.pi / 4)
    with caplog.at_level(logging.WARNING):
        RobotModel.from_urdf(ARM)
    assert "max_joint_velocity is 0" in caplog.text


@pytest.mark.row("S0-008")
def test_planar_and_floating_joints_of_a_file():
    plane = joint_text("planar", "a", "b", "p", '<origin xyz="1 0 0"/><axis xyz="1 0 0"/>')
    robot = RobotModel.from_urdf(HEAD + plane + joint_text("floating", "b", "c", "f") + "</robot>")
    p, f = robot.joint_list
    assert (type(p), type(f)) == (PlanarJoint, FloatingJoint)
    document = lw.urdf.read(HEAD + plane + joint_text("floating", "b", "c", "f") + "</robot>")
    p.joint_angle([0.1, 0.2, 0.3])
    f.joint_angle([1, 2, 3, 0, 0, 0.5])
    expected = description_poses(
        document,
        {"p": np.array([0.1, 0.2, 0.3]), "f": [1, 2, 3, math.cos(0.25), 0, 0, math.sin(0.25)]},
    )
    assert robot.b.worldcoords().T() == pytest.approx(expected["b"], abs=1e-15)
    assert robot.c.worldcoords().T() == pytest.approx(expected["c"], abs=1e-15)
    assert robot.angle_vector() == pytest.approx([0.1, 0.2, 0.3, 1, 2, 3, 0, 0, 0.5])


@pytest.mark.row("S0-011")
def test_followers_of_a_description(arm: RobotModel):
    assert arm.j2.joint_angle() == pytest.approx(0.0)
    for value in (0.5, 1.7):
        arm.j1.joint_angle(value)
        assert arm.j2.joint_angle() == pytest.approx(0.1 - 0.5 * value)
    without = RobotModel.from_urdf(ARM, include_mimic_joints=False)
    without.angle_vector([1.0, 0, 0, 0])
    assert without.l2.joint.joint_angle() == pytest.approx(-0.4)
    assert without.joints["j2"] is without.l2.joint
    arm.angle_vector([1.0, 0.9, 0, 0, 0])
    assert arm.angle_vector() == pytest.approx([1.0, -0.4, 0, 0, 0])


@pytest.mark.row("S0-012")
def test_the_first_pose_is_zero_inside_the_limits(arm: RobotModel):
    assert arm.angle_vector() == pytest.approx([0.2, 0, 0, 0, 0])
    arm.angle_vector([1, 1, 0.3, 2, 2])
    assert arm.init_pose() == pytest.approx([0.2, 0, 0, 0, 0])
    assert arm.angle_vector() == pytest.approx([0.2, 0, 0, 0, 0])


@pytest.mark.row("S0-013", "S0-014")
def test_poses_of_kinds_are_for_subclasses():
    robot = RobotModel()
    with pytest.raises(NotImplementedError):
        robot.reset_pose()
    with pytest.raises(NotImplementedError):
        robot.reset_manip_pose()


# angles


@pytest.mark.row("S0-020")
def test_angle_vectors_are_set_whole_or_not_at_all(arm: RobotModel, caplog):
    av = [1.0, -0.4, 0.2, 9.0, -9.0]
    got = arm.angle_vector(av)
    assert got.dtype == np.float64
    assert got == pytest.approx(av)
    got[:] = 0
    assert arm.angle_vector() == pytest.approx(av)
    with caplog.at_level(logging.WARNING):
        assert arm.angle_vector([5, 0, 5, 1, 1]) == pytest.approx([2, -0.9, 0.5, 1, 1])
    assert caplog.text.count("violates") == 2
    before = arm.angle_vector()
    wrong = ([1, 2], [0] * 6, [0, 0, 0, 0, math.nan], [0, 0, 0, 0, math.inf], [[0] * 5], "abc", 0.5)
    for value in wrong:
        with pytest.raises(ValueError, match="angle"):
            arm.angle_vector(value)
        assert (arm.angle_vector() == before).all()


@pytest.mark.row("S0-020", "S0-022")
def test_a_given_array_is_filled(arm: RobotModel):
    room = np.zeros(5)
    assert arm.angle_vector([1, 0, 0.2, 0, 0], return_av=room) is room
    assert room == pytest.approx([1, -0.4, 0.2, 0, 0])
    longer = [7.0] * 7
    assert arm.angle_vector(return_av=longer) is longer
    assert longer[4:] == [0.0, 7.0, 7.0]
    with pytest.raises(ShapeError, match="room"):
        arm.angle_vector(return_av=np.zeros(2))
    single = np.zeros(5, np.float32)
    assert arm.angle_vector(None, single).dtype == np.float32


@pytest.mark.row("S0-020")
def test_a_number_for_each_degree_of_freedom():
    a, b, c = (Link(name=name) for name in "abc")
    a.assoc(b)
    b.assoc(c)
    free = FloatingJoint(parent_link=a, child_link=b, name="free", min_angle=-2, max_angle=2)
    hinge = RotationalJoint(parent_link=b, child_link=c, name="hinge")
    robot = RobotModel([a, b, c], [free, hinge], a)
    assert robot.angle_vector([1, 2, 9, 0.1, 0.2, 0.3, 0.4]) == pytest.approx(
        [1, 2, 2, 0.1, 0.2, 0.3, 0.4]
    )
    assert free.joint_angle() == pytest.approx([1, 2, 2, 0.1, 0.2, 0.3])
    assert hinge.joint_angle() == pytest.approx(0.4)
    assert robot.joint_min_angles == pytest.approx([-2] * 6 + [-math.pi / 2])
    assert robot.joint_max_angles == pytest.approx([2] * 6 + [math.pi])


@pytest.mark.row("S0-023")
def test_poses_are_right_when_they_are_read(arm: RobotModel):
    hand = CascadedCoords(parent=arm.tip, pos=[0.1, 0, 0])
    before = hand.worldpos()
    arm.j1.joint_angle(1.0)
    arm.j4.joint_angle(1.0)
    after = hand.worldpos()
    assert np.linalg.norm(after - before) > 0.1
    arm.j4.joint_angle(0.0)
    arm.j1.joint_angle(0.2)
    assert hand.worldpos() == pytest.approx(before, abs=1e-15)


@pytest.mark.row("S0-024")
def test_forward_kinematics(arm: RobotModel, monkeypatch: pytest.MonkeyPatch):
    room = np.zeros(5)
    assert arm.forward_kinematics([1.0, 0, 0.2, 0, 0], room) is room
    assert room == pytest.approx([1, -0.4, 0.2, 0, 0])
    moved = arm.tip.worldpos()
    arm.angle_vector([1.0, 0, 0.2, 0, 0])
    assert arm.tip.worldpos() == pytest.approx(moved)
    computed: list[str] = []
    monkeypatch.setattr(Link, "update", lambda link, force=False: computed.append(link.name))
    arm.angle_vector([1.1, 0, 0.2, 0, 0])
    assert not computed
    arm.forward_kinematics([1.0, 0, 0.2, 0, 0])
    assert computed == [link.name for link in arm.link_list]  # at once, not when they are read


@pytest.mark.row("S0-020")
def test_hooks_tables_and_angle_vectors(arm: RobotModel):
    called: list[float] = []
    arm.j4.register_hook(lambda: called.append(arm.j4.joint_angle()))
    arm.js.joint_min_max_table = JointLimitTable(arm.j4, -1, 1, [-0.1, -0.3], [0.1, 0.3])
    arm.js.joint_min_max_target = arm.j4
    assert arm.angle_vector([0.2, 0, 0, 0.5, 5])[4] == pytest.approx(0.25)
    assert called[0] == 0.5


# limits


@pytest.mark.row("S0-027")
def test_limits_in_the_order_of_the_angles(arm: RobotModel):
    assert arm.joint_min_angles == pytest.approx([0.2, -1, -1, -math.inf, -math.inf])
    assert arm.joint_max_angles == pytest.approx([2, 1, 0.5, math.inf, math.inf])
    assert arm.joint_min_angles.dtype == np.float64


@pytest.mark.row("S0-028", "S0-029")
def test_limits_are_made_finite(arm: RobotModel):
    lower, upper = RobotModel.sanitize_joint_limits([-math.inf, 0, -1], [1, math.inf, 1])
    assert lower == pytest.approx([-math.pi, 0, -1])
    assert upper == pytest.approx([1, math.pi, 1])
    lower, upper = RobotModel.joint_limits_from_joint_list(arm.joint_list)
    assert lower == pytest.approx([0.2, -1, -1, -math.pi, -math.pi])
    assert upper == pytest.approx([2, 1, 0.5, math.pi, math.pi])
    for low, high, least in (([0.0], [0.0005], 0.001), ([0, 1], [1, 0], 0.001), ([0], [0.5], 1.0)):
        with pytest.raises(ValueError, match="too narrow"):
            RobotModel.sanitize_joint_limits(low, high, joint_limit_eps=least)
    arm.j1.max_angle = 0.2
    with pytest.raises(ValueError, match="too narrow"):
        RobotModel.joint_limits_from_joint_list(arm.joint_list)


# joints and links


@pytest.mark.row("S0-030", "S0-031")
def test_joints_of_links(arm: RobotModel):
    links = [arm.base, arm.l1, arm.tip, arm.l2]
    assert RobotModel.joint_list_from_link_list(links) == [arm.j1, arm.j2]
    assert arm.joint_list_from_link_list(links, ignore_fixed_joint=False) == [
        arm.j1,
        arm.jf,
        arm.j2,
    ]
    assert RobotModel.filter_movable_links(links) == [arm.l1, arm.l2]


def names(links: list[Link]) -> str:
    return " ".join(link.name for link in links)


@pytest.mark.row("S0-040")
def test_routes(arm: RobotModel):
    assert names(arm.find_link_route(arm.tip)) == "l1 l2 l3 l4 tip"
    assert names(arm.find_link_route(arm.tip, arm.l3)) == "l3 l4 tip"
    assert names(arm.find_link_route(arm.l1, arm.tip)) == "l1"
    assert arm.find_link_route(arm.base) == []
    tool = Link(name="tool")
    arm.l2.assoc(tool)
    assert names(arm.find_link_route(tool)) == "l1 l2"
    part = RobotModel([arm.l2, arm.l3], [arm.j2, arm.j3])
    assert names(part.find_link_route(arm.tip)) == "l2 l3"
    for wrong in ("tip", None, CascadedCoords()):
        with pytest.raises(TypeError, match="Support only Link class"):
            arm.find_link_route(wrong)
    with pytest.raises(TypeError):
        arm.find_link_route(arm.tip, "l1")


@pytest.mark.row("S0-041")
def test_lists_of_links(arm: RobotModel):
    assert names(arm.link_lists(arm.tip)) == "l1 l2 l3 l4 tip"
    assert names(arm.link_lists(arm.tip, arm.base)) == "l1 l2 l3 l4 tip"
    assert names(arm.link_lists(arm.tip, arm.l3)) == "l3 l4 tip"
    assert names(arm.link_lists(arm.tip, arm.tip)) == "tip"
    assert names(arm.link_lists(arm.l2, arm.tip)) == "tip l4 l3 l2"
    assert names(arm.link_lists(arm.side, arm.l4)) == "l4 l3 l2 side"
    robot = tree()
    assert names(robot.link_lists(robot.right1, robot.left2)) == "left2 left1 trunk right1"


@pytest.mark.row("S0-042")
def test_paths_of_links(arm: RobotModel):
    assert names(arm.find_link_path(arm.side, arm.l4)) == "side l2 l3 l4"
    assert names(arm.find_link_path(arm.l2, arm.l2)) == "l2"
    assert arm.find_link_path(arm.l2, Link(name="apart")) == []
    assert arm.find_link_path(arm.l2, "l4") == []  # as there: names lead nowhere


@pytest.mark.row("S0-043")
def test_leaves(arm: RobotModel):
    assert names(arm.leaf_links) == "tip side"
    assert names(tree().leaf_links) == "left2 right1"


@pytest.mark.row("S0-044", "S0-045")
def test_unions_of_lists(arm: RobotModel):
    l1, l2, l3 = arm.link_list[1:4]
    flat = [l1, l1]
    assert arm.calc_union_link_list(flat) is flat
    assert arm.calc_union_link_list([[l1, l2], [l2, l3]]) == [l1, l2, l3]
    assert arm.calc_union_link_list([]) == []
    with pytest.raises(TypeError, match="list"):
        arm.calc_union_link_list((l1,))
    assert arm.calc_target_joint_dimension([l1, l2, arm.tip, arm.base]) == 2
    assert arm.calc_target_joint_dimension([[l1, l2], [l2, l3]]) == 3


# limbs


class Armed(RobotModel):
    """A robot of a kind: an arm with its end."""

    def __init__(self) -> None:
        super().__init__()
        self.load_urdf(ARM)
        self.rarm_end_coords = CascadedCoords(parent=self.tip, name="hand")
        for k, limb in enumerate(("larm", "rleg", "lleg")):
            end = CascadedCoords(parent=self.side, pos=[k, 0, 0], name=limb)
            setattr(self, f"{limb}_end_coords", end)

    @property
    def rarm(self) -> RobotModel:
        links = [self.l1, self.l2, self.l3, self.l4]
        limb = RobotModel(links, [link.joint for link in links])
        limb.end_coords = self.rarm_end_coords
        return limb


@pytest.mark.row("S0-046", "S0-047", "S0-048")
@pytest.mark.parametrize(
    ("limb", "other"),
    [("rarm", "right_arm"), ("larm", "left_arm"), ("rleg", "right_leg"), ("lleg", "left_leg")],
)
def test_limbs_of_the_base_class(limb: str, other: str):
    robot = RobotModel()
    with pytest.raises(NotImplementedError, match=limb):
        getattr(robot, limb)
    assert getattr(robot, other) is None
    assert getattr(robot, f"{other}_end_coords") is None
    assert robot.arm is robot.arm_end_coords is None


@pytest.mark.row("S0-046", "S0-047", "S0-048", "S0-049")
def test_limbs_of_a_kind():
    robot = Armed()
    limb = robot.right_arm
    assert isinstance(limb, RobotModel)
    assert names(limb.link_list) == "l1 l2 l3 l4"
    assert robot.arm.end_coords is robot.arm_end_coords is robot.right_arm_end_coords
    assert robot.left_arm is robot.right_leg is robot.left_leg is None
    assert robot.left_arm_end_coords is robot.larm_end_coords
    assert robot.right_leg_end_coords is robot.rleg_end_coords
    assert robot.left_leg_end_coords is robot.lleg_end_coords
    assert limb.angle_vector([1, 0, 0.3, 0.4]) == pytest.approx([1, -0.4, 0.3, 0.4])
    assert robot.angle_vector() == pytest.approx([1, -0.4, 0.3, 0.4, 0])
    for name in ("end_coords", "head", "head_end_coords", "legs"):
        with pytest.raises(AttributeError, match=name):
            getattr(robot, name)
        setattr(robot, name, limb)
        assert getattr(robot, name) is limb


@pytest.mark.row("S0-050")
def test_interlocking_pairs_are_for_subclasses(arm: RobotModel):
    class Locked(RobotModel):
        interlocking_joint_pairs = [(1, 2)]  # noqa: RUF012  as a program would

    assert arm.interlocking_joint_pairs == []
    assert Locked().interlocking_joint_pairs == [(1, 2)]


# against the core and the description


def angles_in_limits(robot: RobotModel, draw: np.random.Generator) -> np.ndarray:
    lower = np.clip(robot.joint_min_angles, -2, 2)
    upper = np.clip(robot.joint_max_angles, -2, 2)
    return draw.uniform(np.minimum(lower, upper), np.maximum(lower, upper))


def positions(robot: RobotModel) -> dict[str, np.ndarray]:
    """Positions by name, as a description has them."""
    found = {}
    for joint in robot.joint_list:
        q = np.atleast_1d(joint.joint_angle())
        if isinstance(joint, FloatingJoint):
            x, y, z = np.eye(3)
            R = about(x, q[3]) @ about(y, q[4]) @ about(z, q[5])
            q = np.concatenate(poses.xyz_wxyz(poses.pose(q[:3], R=R)))
        found[joint.name] = q
    return found


@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", range(60))
def test_random_trees_stand_as_their_description_says(seed: int):
    draw = rng(f"trees {seed}")
    kinds = [kind for kind in ALL_TYPES if kind != "spherical"]
    text = random_tree(draw, int(draw.integers(1, 25)), kinds)
    robot = RobotModel.from_urdf(text)
    document = lw.urdf.read(text)
    core = robot.linkwork()
    for _ in range(3):
        robot.angle_vector(angles_in_limits(robot, draw))
        robot.newcoords(CascadedCoords(pos=draw.normal(size=3)).rotate(draw.normal(), "x"))
        expected = description_poses(document, positions(robot))
        for link in robot.link_list:
            at = robot.worldcoords().T() @ expected[link.name]
            assert link.worldcoords().T() == pytest.approx(at, abs=1e-11), link.name
    joint = (
        robot.joint_list[int(draw.integers(len(robot.joint_list)))] if robot.joint_list else None
    )
    if joint is not None:  # one joint moves all that follow it, and nothing else
        joint.joint_angle(0.3)
        expected = description_poses(document, positions(robot))
        for link in robot.link_list:
            at = robot.worldcoords().T() @ expected[link.name]
            assert link.worldcoords().T() == pytest.approx(at, abs=1e-11), link.name
    assert robot.linkwork() is core


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    ["panda.urdf", "pr2.urdf", "talos_full_v2.urdf", "baxter.urdf", "tiago.urdf", "ur5_robot.urdf"],
)
def test_known_robots_stand_as_the_core_says(file: str):
    path = next((path for path in example_robot_urdfs() if path.name == file), None)
    if path is None:
        pytest.skip(f"{file} is not there")
    robot, core = RobotModel.from_urdf(path), lw.load(path)
    draw = rng(file)
    for _ in range(5):
        robot.angle_vector(angles_in_limits(robot, draw))
        leading = {
            joint.name: joint.joint_angle()
            for joint in robot.joint_list
            if joint.name in core.joint_names
        }
        expected = dict(
            zip(core.frame_names, core.fk_all(core.configuration(leading)), strict=True)
        )
        for link in robot.link_list:
            assert link.worldcoords().T() == pytest.approx(expected[link.name], abs=1e-12)


@pytest.mark.slow
@given(robots())
@hypothesis_settings(max_examples=60, deadline=None)
def test_descriptions_of_all_sorts(record: Robot):
    text = lw.urdf.to_text(record)
    try:
        core = lw.load(text)
    except LinkworkError:
        return
    if any(joint.type == "spherical" for joint in record.joints):
        with pytest.raises(UnsupportedFeatureError, match="spherical"):
            RobotModel.from_urdf(text)
        return
    robot = RobotModel.from_urdf(text)
    assert robot.linkwork().n_v == core.n_v
    expected = description_poses(lw.urdf.read(text), positions(robot))
    for link in robot.link_list:
        at = expected[link.name]
        scale = 1.0 + np.abs(at).max()
        assert link.worldcoords().T() == pytest.approx(at, abs=1e-9 * scale), link.name


# long chains, copies, threads


@pytest.mark.row("S0-040", "S0-042")
@pytest.mark.parametrize("n", [2_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_long_chains(n: int):
    robot = RobotModel.from_urdf(chain_urdf(n, "continuous"))
    assert robot.angle_vector(np.zeros(n)).shape == (n,)
    last = robot.link_list[-1]
    assert last.worldpos() == pytest.approx([0.1 * n, 0, 0])
    assert len(robot.find_link_route(last)) == n
    assert len(robot.find_link_path(robot.root_link, last)) == n + 1
    robot.joint_list[0].joint_angle(math.pi / 2)
    assert last.worldpos() == pytest.approx([0.1, 0.1 * (n - 1), 0], abs=1e-9)


def test_a_deep_copy_is_a_robot_of_its_own(arm: RobotModel):
    arm.angle_vector([1, 0, 0.2, 0.3, 0.4])
    kept = arm.linkwork()
    twin = copy.deepcopy(arm)
    twin.j1.joint_angle(0.5)
    assert twin.j2.joint_angle() == pytest.approx(-0.15)
    assert arm.angle_vector() == pytest.approx([1, -0.4, 0.2, 0.3, 0.4])
    assert twin.tip.joint is twin.jf
    assert twin.linkwork() is not kept
    assert arm.linkwork() is kept
    same = copy.copy(arm)
    assert same.link_list is arm.link_list
    assert same.linkwork() is not kept
    assert not same.descendants


def test_threads_with_a_robot_each_do_not_disturb_each_other():
    wrong: list[str] = []

    def work(seed: int) -> None:
        draw, robot = np.random.default_rng(seed), RobotModel.from_urdf(ARM)
        for _ in range(3):
            shift = draw.normal(size=3)
            robot.l4.newcoords(CascadedCoords(pos=shift))
            robot.angle_vector([0.5, 0, 0.1, 0, 0])
            core = robot.linkwork()
            q = core.configuration({"j1": 0.5, "j3": 0.1})
            at = model_poses(core.mechanism, q)["l4"][:3, 3]
            if not np.allclose(at, robot.l4.worldpos(), atol=1e-12):
                wrong.append(f"{seed}: {shift}")

    running = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not wrong


# loops beside the tree

PARALLELOGRAM = """<robot name="parallelogram">
<link name="base"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
<joint name="crank_joint" type="continuous"><parent link="base"/><child link="crank"/>
<origin xyz="0.1 0 0.2"/><axis xyz="0 0 1"/></joint>
<joint name="coupler_joint" type="continuous"><parent link="crank"/><child link="coupler"/>
<origin xyz="0 0.1 0"/><axis xyz="0 0 1"/><mimic joint="crank_joint" multiplier="-0.9"/></joint>
<joint name="rocker_joint" type="continuous"><parent link="base"/><child link="rocker"/>
<origin xyz="0.4 0 0.2"/><axis xyz="0 0 1"/></joint></robot>"""
HINGE = {"link_a": "coupler", "link_b": "rocker", "point": [0.4, 0.1, 0.2], "axis": [0, 0, 1]}


@pytest.mark.slow
def test_loops_of_a_side_car_close_through_the_core(tmp_path: Path):
    path = tmp_path / "arm.urdf"
    path.write_text(PARALLELOGRAM)
    beside = {"closures": [HINGE], "dependent": ["coupler_joint", "rocker_joint"]}
    beside["independent"] = ["crank_joint"]
    (tmp_path / "loop_closures.yaml").write_text(yaml.safe_dump(beside))
    robot = RobotModel.from_urdf(path)
    assert len(robot.linkwork().loops) == 1
    robot.crank_joint.joint_angle(0.7)
    assert robot.close_loops()
    assert robot.angle_vector() == pytest.approx([0.7, -0.7, 0.7])
    robot.rocker_joint.joint_angle(0.3)
    assert robot.close_loops([robot.rocker_joint])
    assert robot.angle_vector() == pytest.approx([0.3, -0.3, 0.3])
    assert RobotModel.from_urdf(PARALLELOGRAM).close_loops()
    assert isinstance(robot, CascadedLink)
