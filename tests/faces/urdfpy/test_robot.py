"""A robot as a whole, whether its members form one, and robots made of robots."""

from __future__ import annotations

import copy
import importlib.util
import io
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

from linkwork import faces
from linkwork.errors import DescriptionError
from linkwork.faces.urdfpy import (
    URDF,
    Actuator,
    Box,
    Geometry,
    Inertial,
    Joint,
    JointLimit,
    JointMimic,
    Link,
    Material,
    Transmission,
    TransmissionJoint,
    Visual,
    xyz_rpy_to_matrix,
)
from seeds import rng

# robot


LINKS = """base_link shoulder_link upper_arm_link forearm_link wrist_1_link wrist_2_link
wrist_3_link ee_link base tool0 world""".split()
JOINTS = """shoulder_pan_joint connects base_link to shoulder_link
shoulder_lift_joint connects shoulder_link to upper_arm_link
elbow_joint connects upper_arm_link to forearm_link
wrist_1_joint connects forearm_link to wrist_1_link
wrist_2_joint connects wrist_1_link to wrist_2_link
wrist_3_joint connects wrist_2_link to wrist_3_link
ee_fixed_joint connects wrist_3_link to ee_link
base_link-base_fixed_joint connects base_link to base
wrist_3_link-tool0_fixed_joint connects wrist_3_link to tool0
world_joint connects world to base_link"""
ACTUATED = """shoulder_pan_joint shoulder_lift_joint elbow_joint wrist_1_joint wrist_2_joint
wrist_3_joint""".split()


@pytest.mark.row("S2-001")
def test_programs_import_it_by_its_old_name():
    if importlib.util.find_spec("urdfpy") is not None:
        pytest.skip("the original is installed")
    faces.install("urdfpy")
    try:
        import urdfpy  # noqa: PLC0415 -- only the face makes it importable

        assert urdfpy.URDF is URDF
    finally:
        faces.uninstall("urdfpy")


@pytest.mark.row("S2-002")
def test_the_development_install_has_its_extras():
    project = Path(__file__).parents[3] / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    assert "\ntest = [" in text
    assert "\ndev = [" in text


@pytest.mark.row("S2-003", "S2-180", "S2-181", "S2-182")
def test_links_and_joints_are_those_that_the_documentation_prints(ur5: URDF, tmp_path: Path):
    assert ur5.name == "ur5"
    assert [link.name for link in ur5.links] == LINKS
    printed = [f"{joint.name} connects {joint.parent} to {joint.child}" for joint in ur5.joints]
    assert printed == JOINTS.splitlines()
    ur5.save(str(tmp_path / "new" / "ur5.urdf"))
    again = URDF.load(str(tmp_path / "new" / "ur5.urdf"))
    assert [link.name for link in again.links] == LINKS


@pytest.mark.row("S2-004", "S2-005", "S2-190", "S2-191")
def test_actuated_joints_and_the_base_are_those_that_the_documentation_prints(ur5: URDF):
    assert ur5.base_link is ur5.links[-1] is ur5.link_map["world"]
    assert [joint.name for joint in ur5.actuated_joints] == ACTUATED
    assert ur5.actuated_joint_names == ACTUATED


@pytest.mark.row("S2-006", "S2-194")
def test_the_poses_that_the_documentation_prints(ur5: URDF):
    fk = ur5.link_fk()
    assert np.array_equal(fk[ur5.links[0]], np.eye(4))
    expected = np.eye(4)
    expected[2, 3] = 0.089
    assert np.array_equal(np.round(fk[ur5.links[1]], 3), expected)
    fk = ur5.link_fk(cfg={"shoulder_pan_joint": 1.0})
    expected[:2, :2] = [[0.54, -0.841], [0.841, 0.54]]
    assert np.array_equal(np.round(fk[ur5.links[1]], 3), expected)


@pytest.mark.row("S2-007", "S2-197", "S2-198")
def test_meshes_are_keys(ur5: URDF):
    trimesh = pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is missing")
    for fk in (ur5.visual_trimesh_fk(), ur5.collision_trimesh_fk()):
        assert len(fk) == 6
        assert {type(key) for key in fk} == {trimesh.base.Trimesh}


@pytest.mark.row("S2-181", "S2-182", "S2-183", "S2-184", "S2-185", "S2-186", "S2-187", "S2-188")
@pytest.mark.parametrize("name", ["link", "joint", "transmission", "material"])
def test_lists_and_maps_are_copies_in_the_order_of_the_file(shapes: URDF, name: str):
    members, by_name = getattr(shapes, f"{name}s"), getattr(shapes, f"{name}_map")
    before = list(members)
    assert members and by_name == {member.name: member for member in members}
    members.clear()
    by_name.clear()
    assert getattr(shapes, f"{name}s") == before
    before[0].name = "renamed"
    assert getattr(shapes, f"{name}_map")["renamed"] is before[0]


@pytest.mark.row("S2-180")
def test_the_name_is_text(shapes: URDF):
    shapes.name = 7
    assert shapes.name == "7"
    with pytest.raises(TypeError):
        shapes.name = None


def branches() -> URDF:
    """Two branches, the shorter one last in the file, a follower and a fixed joint."""
    limit = JointLimit(1, 1, -1, 2)
    joints = [
        Joint("deep", "continuous", "b", "c", limit=JointLimit(1, 1)),
        Joint("held", "fixed", "a", "d"),
        Joint("first", "revolute", "a", "b", limit=limit),
        Joint("second", "prismatic", "a", "e", limit=JointLimit(1, 1, upper=0.5)),
        Joint("follower", "revolute", "a", "f", limit=limit, mimic=JointMimic("first")),
    ]
    return URDF("r", [Link(n, None, None, None) for n in "abcdef"], joints)


@pytest.mark.row("S2-190")
def test_actuated_joints_go_from_the_base_outwards():
    assert branches().actuated_joint_names == ["first", "second", "deep"]


@pytest.mark.row("S2-192")
def test_end_links_have_no_children(ur5: URDF):
    assert [link.name for link in branches().end_links] == ["c", "d", "e", "f"]
    assert [link.name for link in ur5.end_links] == ["ee_link", "base", "tool0"]


@pytest.mark.row("S2-193", "S2-203")
def test_bounds_of_actuated_joints():
    robot = branches()
    of = robot.joint_map
    lower, upper = robot.joint_limit_cfgs
    assert lower == {of["first"]: -1.0}
    assert upper == {of["first"]: 2.0, of["second"]: 0.5}
    limits = robot.joint_limits
    assert limits.tolist() == [[-1, 2], [-np.inf, 0.5], [-np.inf, np.inf]]


@pytest.mark.row("S2-203")
def test_a_configuration_as_a_vector(ur5: URDF):
    vector = ur5.cfg_to_vector({"elbow_joint": 0.5, ur5.joints[0]: 1.0})
    assert vector.tolist() == [1.0, 0, 0.5, 0, 0, 0]
    ur5.cfg_to_vector()[0] = 1.0  # the caller's
    assert ur5.cfg_to_vector().tolist() == [0.0] * 6
    assert ur5.cfg_to_vector([1, 2, 3, 4, 5, 6]).tolist() == [1, 2, 3, 4, 5, 6]
    with pytest.raises(KeyError):
        ur5.cfg_to_vector({"knee": 1.0})
    with pytest.raises(ValueError, match="'plane'"):
        URDF("p", links("a", "b"), [Joint("plane", "planar", "a", "b")]).cfg_to_vector()


@pytest.mark.parametrize(
    "again", [copy.deepcopy, copy.copy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_and_pickles_share_nothing(shapes: URDF, again):
    shapes.link_fk()
    other = again(shapes)
    assert not set(other.links) & set(shapes.links)
    before = shapes.link_fk([0.3], link="tip")
    assert np.array_equal(other.link_fk([0.3], link="tip"), before)
    other.joints[0].origin[0, 3] += 1
    assert np.array_equal(shapes.link_fk([0.3], link="tip"), before)
    assert np.isclose(other.link_fk([0.3], link="tip")[0, 3], before[0, 3] + 1)
    assert other.materials[0] is other.links[0].visuals[0].material


# joining


def plain(name: str) -> Link:
    return Link(name, None, None, None)


@pytest.mark.row("S2-203", "S2-205")
def test_a_copy_with_a_prefix(shapes: URDF):
    other = shapes.copy(name="twin", prefix="left_")
    assert (other.name, shapes.name) == ("twin", "shapes")
    assert [link.name for link in other.links] == ["left_body", "left_tip"]
    joint = other.joints[0]
    assert (joint.name, joint.parent, joint.child) == ("left_turn", "left_body", "left_tip")
    assert other.transmissions[0].joints[0].name == "left_turn"
    assert [link.name for link in shapes.links] == ["body", "tip"]
    assert np.array_equal(other.link_fk([0.5], link="left_tip"), shapes.link_fk([0.5], link="tip"))
    follower = shapes.copy()
    follower.add_link(plain("x"), Joint("f", "continuous", "tip", "x", mimic=JointMimic("turn")))
    assert follower.copy(prefix="p_").joint_map["p_f"].mimic.joint == "p_turn"


@pytest.mark.row("S2-203", "S2-205")
def test_a_copy_of_another_size_is_of_the_same_stuff(shapes: URDF):
    big = shapes.copy(scale=2.0)
    for name, pose in big.link_fk([0.4], use_names=True).items():
        expected = shapes.link_fk([0.4], link=name)
        expected[:3, 3] *= 2
        assert np.allclose(pose, expected, atol=1e-15)
    body, before = big.links[0], shapes.links[0]
    assert body.visuals[0].geometry.box.size.tolist() == [2, 4, 6]
    assert np.allclose(body.inertial.origin[:3, 3], 2 * before.inertial.origin[:3, 3])
    assert big.joints[0].limit.upper == 1.5  # an angle
    for wrong in (0.0, -1.0, np.nan, [1, 2], [1, 1, 0], "x", np.ones((3, 3))):
        with pytest.raises(ValueError, match="scale"):
            shapes.copy(scale=wrong)
    bare = shapes.copy(collision_only=True)
    assert bare.links[0].visuals == bare.materials == []
    assert len(bare.links[0].collisions) == 2


@pytest.mark.row("S2-203", "S2-205")
def test_a_copy_that_is_stretched(shapes: URDF):
    """Three factors: along the axes of every frame; a warning where frames are turned."""
    for shape in (*shapes.links[0].visuals, *shapes.links[0].collisions):
        if shape.geometry.sphere is not None:
            shape.geometry.sphere = None
            shape.geometry.box = Box([1, 1, 1])
    with pytest.warns(UserWarning, match="URDF.copy: frames that are turned"):
        tall = shapes.copy(scale=[1, 1, 3])
    assert tall.joints[0].origin[:3, 3].tolist() == [0, 0, 3]
    assert np.allclose(tall.link_fk([0.4], link="tip")[2, 3], 3.0)
    body = tall.links[0]
    assert body.visuals[0].geometry.box.size.tolist() == [1, 2, 9]
    assert np.allclose(body.visuals[0].origin[:3, 3], [0.1, 0.2, 0.9])
    assert (body.visuals[1].geometry.cylinder.radius, body.visuals[1].geometry.cylinder.length) == (
        0.1,
        pytest.approx(1.2),
    )
    assert shapes.links[0].visuals[0].geometry.box.size.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="cylinder"):
        shapes.copy(scale=[1, 2, 3])
    slab = URDF("slab", [Link("a", Inertial(6.0, np.diag([5.0, 10.0, 13.0]) / 2), None, None)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is turned
        thick = slab.copy(scale=[1, 2, 3]).links[0].inertial
    # of a box: m/12 (y² + z²), ...; here m = 6 and the sides are 3, 2 and 1
    assert thick.mass == 36.0
    sides = np.array([3.0, 4.0, 3.0]) ** 2
    assert np.allclose(np.diag(thick.inertia), 36 / 12 * (sides.sum() - sides))


@pytest.mark.row("S2-203")
def test_two_robots_become_one(shapes: URDF, ur5: URDF):
    T = xyz_rpy_to_matrix(rng("join").uniform(-1, 1, 6))
    both = ur5.join(shapes, link="tool0", origin=T, name="both", prefix="hand_")
    assert both.name == "both"
    assert len(both.links) == len(ur5.links) + len(shapes.links)
    assert (len(ur5.links), len(shapes.links)) == (11, 2)
    assert [m.name for m in both.materials] == ["hand_grey", "hand_red"]
    cfg = [1, 2, 3, 4, 5, 6]
    assert both.actuated_joint_names == [*ur5.actuated_joint_names, "hand_turn"]
    tip = both.link_fk([*cfg, 0.7], link="hand_tip")
    expected = ur5.link_fk(cfg, link="tool0") @ T @ shapes.link_fk([0.7], link="tip")
    assert np.abs(tip - expected).max() < 3e-15
    with pytest.raises(ValueError, match="name is taken"):
        shapes.join(shapes, link="tip")
    with pytest.raises(KeyError):
        ur5.join(shapes, link="nowhere")
    with pytest.raises(TypeError):
        ur5.join("other", link="tool0")


@pytest.mark.row("S2-185", "S2-186", "S2-187", "S2-188")
def test_members_come_and_go(shapes: URDF):
    link, joint = plain("end"), Joint("slide", "continuous", "tip", "end", axis=[0, 0, 1])
    shapes.add_link(link, joint)
    assert shapes.link_map["end"] is link
    assert shapes.actuated_joints[-1] is joint
    assert link in shapes.link_fk()
    drive = Transmission("second", "s", [TransmissionJoint("slide", None)], [Actuator("m")])
    shapes.add_transmission(drive)
    paint = Material("paint", [1, 1, 0, 1])
    shapes.add_material(paint)
    assert shapes.transmission_map["second"] is drive
    assert shapes.material_map["paint"] is paint
    shapes.remove_material("paint")
    shapes.remove_joint("slide")
    assert [own.name for own in shapes.links] == ["body", "tip"]
    assert [own.name for own in shapes.transmissions] == ["drive"]  # the other drove nothing else
    shapes.remove_transmission(shapes.transmissions[0])
    shapes.remove_link("tip")
    assert (len(shapes.links), shapes.joints, shapes.transmissions) == (1, [], [])
    assert len(shapes.link_fk()) == 1


@pytest.mark.row("S2-185")
def test_a_change_that_leaves_no_robot_changes_nothing(shapes: URDF):
    before = (shapes.links, shapes.joints, shapes.transmissions, shapes.materials)
    for change, error in [
        (lambda: shapes.add_link(plain("tip"), Joint("k", "fixed", "body", "tip")), ValueError),
        (lambda: shapes.add_link(plain("x"), Joint("k", "fixed", "nowhere", "x")), ValueError),
        (lambda: shapes.add_material(Material("grey")), ValueError),
        (lambda: shapes.remove_material("grey"), ValueError),
        (lambda: shapes.remove_link("body"), ValueError),
        (lambda: shapes.remove_link("nowhere"), KeyError),
        (lambda: shapes.remove_joint(3), TypeError),
        (lambda: shapes.add_transmission(shapes.transmissions[0]), ValueError),
    ]:
        with pytest.raises(error):
            change()
        assert (shapes.links, shapes.joints, shapes.transmissions, shapes.materials) == before


@pytest.mark.row("S2-185", "S2-186")
def test_members_of_another_robot_are_told_so(shapes: URDF):
    other = shapes.copy()
    for call, foreign, kind in (
        (shapes.remove_link, other.links[1], "link"),
        (shapes.remove_joint, other.joints[0], "joint"),
        (shapes.remove_transmission, other.transmissions[0], "transmission"),
        (shapes.remove_material, other.materials[0], "material"),
    ):
        said = rf"'{foreign.name}' is no {kind} of this robot; .*{kind}_map\['{foreign.name}'\]"
        with pytest.raises(KeyError, match=said):
            call(foreign)


# validation


def links(*names: str) -> list[Link]:
    return [Link(name, None, None, None) for name in names]


def joint(name: str, parent: str, child: str, **options) -> Joint:
    return Joint(name, "continuous", parent, child, **options)


def drive(joint_name: str) -> Transmission:
    return Transmission("t", "s", [TransmissionJoint(joint_name, None)], [Actuator("m")])


def follow(leader: str) -> dict:
    return {"mimic": JointMimic(leader)}


AB = [joint("j", "a", "b")]
LOOP = [joint("j", "a", "b"), joint("k", "b", "a")]


def case(mark: pytest.MarkDecorator, names: str, joints: list[Joint], said: str, **others):
    """What is no robot, and what the error says."""
    return pytest.param(links(*names), joints, others, said, marks=mark)


CASES = [
    case(pytest.mark.row("S2-171"), "aba", AB, "'a'"),
    case(pytest.mark.row("S2-171"), "ab", AB, "'t'", transmissions=[drive("j"), drive("j")]),
    case(pytest.mark.row("S2-171"), "ab", AB, "'m'", materials=[Material("m"), Material("m")]),
    case(pytest.mark.row("S2-172"), "ab", [joint("j", "x", "b")], "parent link 'x'"),
    case(pytest.mark.row("S2-173"), "ab", [joint("j", "a", "a")], "same link"),
    case(pytest.mark.row("S2-174"), "ab", [joint("j", "a", "b", **follow("x"))], "'x'"),
    case(pytest.mark.row("S2-175"), "ab", [joint("j", "a", "b", **follow("j"))], "itself"),
    case(pytest.mark.row("S2-176"), "ab", AB, "'x'", transmissions=[drive("x")]),
    case(pytest.mark.row("S2-177"), "abcd", [*AB, joint("k", "c", "d")], "unconnected"),
    case(pytest.mark.row("S2-178"), "rab", LOOP, "cycle"),
    case(pytest.mark.row("S2-179"), "abc", AB, "2 links have no parent"),
]


@pytest.mark.parametrize(("links_", "joints", "others", "message"), CASES)
def test_what_is_no_robot_is_refused(links_, joints, others, message: str):
    with pytest.raises(ValueError, match=message) as caught:
        URDF("r", links_, joints, **others)
    assert isinstance(caught.value, DescriptionError)


@pytest.mark.row("S2-170")
def test_every_fault_is_found_at_once():
    with pytest.raises(DescriptionError) as caught:
        URDF("r", links("a", "a", "b"), [joint("j", "x", "b", **follow("y"))], [drive("z")])
    codes = {problem.code for problem in caught.value.problems}
    assert codes >= {"duplicate-link", "unknown-link", "mimic-unknown", "transmission-joint"}


@pytest.mark.row("S2-170")
def test_members_have_their_class_and_there_is_a_link():
    with pytest.raises(ValueError, match="no link"):
        URDF("r")
    for name, wrong in (
        ("links", [3]),
        ("links", "a"),
        ("joints", links("a")),
        ("transmissions", 3),
        ("materials", ["red"]),
    ):
        with pytest.raises(TypeError, match=name):
            URDF(**{"name": "r", "links": links("a"), name: wrong})
    with pytest.raises(TypeError):
        URDF("r", links("a"), other_xml=3)


@pytest.mark.row("S2-171", "S2-176")
def test_transmissions_of_files_are_held_to_the_same_rules():
    drive = '<transmission name="t"><type>s</type><joint name="x"/><actuator name="m"/>'
    text = f'<robot name="r"><link name="a"/>\n{2 * (drive + "</transmission>")}</robot>'
    with pytest.raises(DescriptionError) as caught:
        URDF.load(io.StringIO(text))
    codes = {problem.code for problem in caught.value.problems if problem.line == 2}
    assert codes == {"duplicate-transmission", "transmission-joint"}


@pytest.mark.row("S2-072", "S2-184")
def test_new_materials_of_visuals_are_the_robot_s():
    red, other = Material("red", [1, 0, 0, 1]), Material("red", [0, 0, 1, 1])
    shapes = [Visual(Geometry(box=Box([1, 1, 1])), material=m) for m in (red, other)]
    robot = URDF("r", [Link("a", None, shapes, None)])
    assert robot.materials == [red]
    assert shapes[1].material is red
    assert [finding.code for finding in robot.findings] == ["material-differs"]
