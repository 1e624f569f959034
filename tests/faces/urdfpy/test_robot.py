"""The examples of the original's documentation with what it prints, and the lists and maps."""

from __future__ import annotations

import copy
import importlib.util
import pickle
from pathlib import Path

import numpy as np
import pytest

from linkwork import faces
from linkwork.faces.urdfpy import URDF, Joint, JointLimit, JointMimic, Link

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


@pytest.mark.row("S2-004", "S2-190")
def test_actuated_joints_are_those_that_the_documentation_prints(ur5: URDF):
    assert [joint.name for joint in ur5.actuated_joints] == ACTUATED
    assert ur5.actuated_joint_names == ACTUATED


@pytest.mark.row("S2-005", "S2-191")
def test_the_base_link(ur5: URDF):
    assert ur5.base_link.name == "world"
    assert ur5.base_link is ur5.links[-1]


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


@pytest.mark.row("S2-181", "S2-182", "S2-183", "S2-184")
@pytest.mark.parametrize("name", ["link", "joint", "transmission", "material"])
def test_lists_are_copies_in_the_order_of_the_file(shapes: URDF, name: str):
    members = getattr(shapes, f"{name}s")
    before = list(members)
    assert members
    members.clear()
    assert getattr(shapes, f"{name}s") == before


@pytest.mark.row("S2-185", "S2-186", "S2-187", "S2-188")
@pytest.mark.parametrize("name", ["link", "joint", "transmission", "material"])
def test_maps_are_copies_by_name(shapes: URDF, name: str):
    by_name = getattr(shapes, f"{name}_map")
    assert by_name == {member.name: member for member in getattr(shapes, f"{name}s")}
    by_name.clear()
    first = getattr(shapes, f"{name}s")[0]
    first.name = "renamed"
    assert getattr(shapes, f"{name}_map")["renamed"] is first


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
    assert ur5.cfg_to_vector().tolist() == [0.0] * 6
    assert ur5.cfg_to_vector([1, 2, 3, 4, 5, 6]).tolist() == [1, 2, 3, 4, 5, 6]
    with pytest.raises(KeyError):
        ur5.cfg_to_vector({"knee": 1.0})


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
