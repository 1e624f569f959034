"""Links of the scikit-robot face: who hangs on whom, masses, meshes and colours."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import trimesh

from linkwork.errors import InputError, ShapeError
from linkwork.faces.skrobot.model import Link, RobotModel, RotationalJoint
from linkwork.faces.skrobot.model.link import find_link_path

SHAPES = """<robot name="shapes"><link name="body">
<inertial><origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/><mass value="2"/>
<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial>
<visual><origin xyz="1 0 0"/><geometry><box size="1 2 3"/></geometry>
<material name="red"><color rgba="1 0 0 0.5"/></material></visual>
<visual><geometry><sphere radius="0.3"/></geometry></visual>
<collision><origin xyz="0 0 1"/><geometry><box size="1 1 1"/></geometry></collision>
<collision><geometry><cylinder radius="0.1" length="0.4"/></geometry></collision></link>
<link name="tip"><visual><geometry><mesh filename="package://nowhere/x.stl"/></geometry></visual>
</link><link name="bare"/>
<joint name="j" type="continuous"><parent link="body"/><child link="tip"/></joint>
<joint name="k" type="fixed"><parent link="tip"/><child link="bare"/></joint></robot>"""


@pytest.mark.row("S0-002")
def test_links_know_the_links_beside_them():
    a, b, c = (Link(name=name) for name in "abc")
    assert (a.joint, a.parent_link, a.child_links) == (None, None, [])
    b.add_parent_link(a)
    a.add_child_link(b)
    a.add_child_link(b)
    a.add_child_link(None)
    a.add_child_link(c)
    assert b.parent_link is a
    assert a.child_links == [b, c]
    a.del_child_link(b)
    b.del_parent_link()
    assert (a.child_links, b.parent_link) == ([c], None)
    with pytest.raises(InputError, match="no child"):
        a.del_child_link(b)
    a.assoc(b)
    joint = RotationalJoint(parent_link=a, child_link=b)
    b.add_joint(joint)
    joint.joint_angle(0.5)
    turned = b.T()
    b.delete_joint()
    assert b.joint is None
    assert b.T() == pytest.approx(turned)


@pytest.mark.row("S0-042")
def test_paths_with_and_without_their_ends():
    a, b, c, apart = (Link(name=name) for name in "abcd")
    a.assoc(b)
    a.assoc(c)
    assert find_link_path(b, c) == ([b, a, c], True)
    assert find_link_path(b, c, include_source=False) == ([a, c], True)
    assert find_link_path(b, c, include_target=False) == ([b, a], True)
    assert find_link_path(b, b) == ([b], True)
    assert find_link_path(b, apart) == ([], False)


@pytest.mark.row("S0-008")
def test_masses_that_are_not_given_read_as_defaults():
    link = Link(name="own")
    assert (link.mass, link.centroid) == (1.0, None)
    assert link.inertia_tensor == pytest.approx(np.eye(3))
    link.mass, link.centroid, link.inertia_tensor = 2, [1, 2, 3], np.eye(3) * 4
    assert (link.mass, link.centroid.tolist()) == (2.0, [1, 2, 3])
    assert link.inertia_tensor == pytest.approx(np.eye(3) * 4)
    made = Link([0, 0, 1], np.eye(3), mass=3, name="made", pos=[1, 0, 0])
    assert (made.mass, made.centroid.tolist()) == (3.0, [0, 0, 1])
    assert made.worldpos() == pytest.approx([1, 0, 0])
    for value, kind in ((np.nan, InputError), ("x", InputError), ([1, 2], InputError)):
        with pytest.raises(kind):
            link.mass = value
    with pytest.raises(ShapeError):
        link.centroid = [1, 2]
    with pytest.raises(InputError):
        link.inertia_tensor = np.full((3, 3), np.inf)
    assert (link.mass, link.centroid.tolist()) == (2.0, [1, 2, 3])


@pytest.mark.row("S0-008")
def test_masses_of_a_description_have_their_axes_turned():
    robot = RobotModel.from_urdf(SHAPES)
    body, bare = robot.links["body"], robot.links["bare"]
    assert body.mass == 2
    assert body.centroid == pytest.approx([0, 0, 0.1])
    assert body.inertia_tensor == pytest.approx(
        np.array([[0.03, -0.001, 0], [-0.001, 0.02, 0], [0, 0, 0.04]])
    )
    assert bare.mass == 0.001
    assert bare.inertia_tensor == pytest.approx(1e-6 * np.eye(3))
    assert bare.centroid == pytest.approx(np.zeros(3))


@pytest.mark.row("S0-008")
def test_meshes_of_a_description_are_opened_when_asked_for(caplog):
    robot = RobotModel.from_urdf(SHAPES)
    body, tip, bare = (robot.links[name] for name in ("body", "tip", "bare"))
    box, ball = body.visual_mesh
    assert box.bounds == pytest.approx(np.array([[0.5, -1, -1.5], [1.5, 1, 1.5]]))
    assert ball.bounds == pytest.approx(np.array([[-0.3] * 3, [0.3] * 3]), abs=1e-6)
    assert box.visual.face_colors[0].tolist() == [255, 0, 0, 128]
    assert body.visual_mesh[0] is box
    assert body.collision_mesh.bounds[:, 2] == pytest.approx([-0.2, 1.5])
    assert len(body.concatenated_visual_mesh.faces) == len(box.faces) + len(ball.faces)
    assert "nowhere" not in caplog.text
    assert tip.visual_mesh == []
    assert "nowhere/x.stl" in caplog.text
    assert (bare.visual_mesh, bare.collision_mesh) == ([], None)
    assert body.visual_mesh_file_paths == []
    again = copy.deepcopy(robot)
    assert again.links["body"].visual_mesh[0].bounds == pytest.approx(box.bounds)
    assert (
        len(pickle.loads(pickle.dumps(RobotModel.from_urdf(SHAPES))).links["body"].visual_mesh) == 2
    )


@pytest.mark.row("S0-008")
def test_mesh_files_are_found_beside_the_description(tmp_path):
    trimesh.creation.box((1, 2, 3)).export(tmp_path / "box.stl")
    text = SHAPES.replace("package://nowhere/x.stl", "box.stl")
    (tmp_path / "r.urdf").write_text(text)
    tip = RobotModel.from_urdf(tmp_path / "r.urdf").links["tip"]
    assert tip.visual_mesh[0].extents == pytest.approx([1, 2, 3])
    assert tip.visual_mesh_file_paths == [str(tmp_path / "box.stl")]
    assert Link(visual_mesh=str(tmp_path / "box.stl")).visual_mesh.extents == pytest.approx(
        [1, 2, 3]
    )
    far = tmp_path / "far" / "away" / "r.urdf"
    far.parent.mkdir(parents=True)
    far.write_text(SHAPES.replace("package://nowhere/x.stl", str(tmp_path / "box.stl")))
    assert RobotModel.from_urdf(far).links["tip"].visual_mesh == []
    allowed = RobotModel.from_urdf(far, allow=[tmp_path])
    assert len(allowed.links["tip"].visual_mesh) == 1


@pytest.mark.row("S0-002")
def test_meshes_of_links_that_are_made():
    mesh = trimesh.creation.box((1, 1, 1))
    cloud = trimesh.PointCloud([[0, 0, 0.0]])
    link = Link(visual_mesh=mesh, collision_mesh=mesh)
    assert link.visual_mesh is link.collision_mesh is mesh
    for given in ([mesh, mesh], (mesh,), cloud, None):
        link.visual_mesh = given
        assert link.visual_mesh is given
        assert link.visual_mesh_changed
    assert link.concatenated_visual_mesh is None
    for wrong in ("no_such_file.stl", [1], 3):
        with pytest.raises(ValueError, match="mesh"):
            link.visual_mesh = wrong
    for wrong in ([mesh], "x", cloud):
        with pytest.raises(TypeError, match="collision_mesh"):
            link.collision_mesh = wrong
    assert link.collision_mesh is mesh
    link.collision_mesh = None
    assert link.collision_mesh is None


@pytest.mark.row("S0-002")
def test_colours():
    link = Link(visual_mesh=trimesh.creation.box((1, 1, 1)))
    assert Link().colors is None
    before = link.colors.copy()
    link.set_color([255, 0, 0])
    assert link.colors.shape == (12, 4)
    assert link.colors[0].tolist() == [255, 0, 0, 255]
    link.set_color((0, 10, 0, 20))
    assert link.colors[3].tolist() == [0, 10, 0, 20]
    link.set_alpha(0.5)
    assert link.colors[3].tolist() == [0, 10, 0, 128]
    link.reset_color()
    assert (link.colors == before).all()
    with pytest.raises(InputError):
        link.set_alpha(2)
    with pytest.raises(ShapeError):
        link.set_color([1, 2])


def test_a_copied_link_stays_when_the_joint_of_the_first_moves():
    a, b = Link(name="a"), Link(name="b")
    a.assoc(b)
    joint = RotationalJoint(parent_link=a, child_link=b)
    b.add_joint(joint)
    joint.joint_angle(0.5)
    twin = copy.copy(b)
    assert twin.T() == pytest.approx(b.T())
    joint.joint_angle(1.0)
    assert twin.T() != pytest.approx(b.T())
    assert twin.joint is None
