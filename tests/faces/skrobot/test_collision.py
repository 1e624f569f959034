"""Row S0-051: whether a robot's meshes meet, and the core's collision model of them."""

from __future__ import annotations

from typing import Any, cast

import pytest
import trimesh

from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.faces.skrobot.model.joint import LinearJoint, RotationalJoint
from linkwork.faces.skrobot.model.link import Link
from linkwork.faces.skrobot.model.robot_model import RobotModel
from seeds import rng
from skrobot_robots import joined


def link_of(name: str, mesh: Any, parent: Link | None = None, pos: Any = (0, 0, 0)) -> Link:
    made = Link(name=name, collision_mesh=mesh, pos=pos)
    if parent is not None:
        parent.assoc(made, relative_coords="local")
    return made


def fingers() -> Any:
    """A palm with two fingers that slide towards each other, and a cube that hangs in the air."""
    box = trimesh.creation.box
    palm = link_of("palm", box((1.0, 0.2, 0.2)))
    left = link_of("left", box((0.1, 0.1, 1.0)), palm, (0.4, 0.0, 0.6))
    right = link_of("right", box((0.1, 0.1, 1.0)), palm, (-0.4, 0.0, 0.6))
    cube = link_of("cube", box((0.1, 0.1, 0.1)), right, (0.0, 0.0, 2.0))
    joints = [
        joined(LinearJoint, palm, left, "l", axis="-x", min_angle=0.0, max_angle=0.5),
        joined(LinearJoint, palm, right, "r", axis="x", min_angle=0.0, max_angle=0.5),
        joined(RotationalJoint, right, cube, "c", axis="y", min_angle=-3.0, max_angle=3.0),
    ]
    return RobotModel(link_list=[palm, left, right, cube], joint_list=joints, root_link=palm)


@pytest.mark.row("S0-051")
def test_all_pairs_that_meet_are_told_by_name():
    robot = fingers()
    touching = {("left", "palm"), ("palm", "right")}
    assert robot.self_collision_check() == (True, touching)
    robot.angle_vector([0.36, 0.36, 0.0])
    both = {*touching, ("left", "right")}
    assert robot.self_collision_check() == (True, both)
    robot.translate([5.0, 0.0, 0.0]).rotate(1.0, "x")  # of no matter
    assert robot.self_collision_check() == (True, both)
    assert robot.self_collision_check(ignore_adjacent=True) == (True, {("left", "right")})
    names = [("right", "left"), ("palm", "left")]
    assert robot.self_collision_check(ignore_pairs=names)[1] == {("palm", "right")}
    links = [(robot.left, robot.right)]
    assert robot.self_collision_check(ignore_adjacent=True, ignore_pairs=links) == (False, set())
    robot.angle_vector([0.0, 0.0, 0.0])
    assert robot.self_collision_check(ignore_adjacent=True) == (False, set())
    for wrong in ("left", ("left",), ("left", "right", "palm")):
        with pytest.raises(InputError, match="a pair is two"):
            robot.self_collision_check(ignore_pairs=[wrong])


@pytest.mark.row("S0-051")
def test_meshes_and_links_that_change_are_seen():
    robot = fingers()
    assert ("cube", "left") not in robot.self_collision_check()[1]
    robot.cube.collision_mesh = trimesh.creation.box((2.0, 0.1, 0.1))
    robot.cube.newcoords(robot.cube.copy_coords(), relative_coords="world")
    assert ("cube", "left") not in robot.self_collision_check()[1]
    robot.cube.translate([0.0, 0.0, -1.5])
    assert ("cube", "left") in robot.self_collision_check()[1]
    robot.cube.collision_mesh = None
    assert all("cube" not in pair for pair in robot.self_collision_check()[1])
    assert RobotModel().self_collision_check() == (False, set())


@pytest.mark.row("S0-051")
def test_a_mesh_that_is_not_convex_is_taken_as_it_is():
    """A ball in a ring that it does not touch; then one that it does."""
    ring = trimesh.creation.annulus(r_min=0.5, r_max=0.7, height=0.2)
    base = link_of("ring", ring)
    ball = link_of("ball", trimesh.creation.icosphere(radius=0.3), base)
    joint = joined(LinearJoint, base, ball, "j", axis="x", min_angle=-1.0, max_angle=1.0)
    robot = RobotModel(link_list=[base, ball], joint_list=[joint], root_link=base)
    assert robot.self_collision_check() == (False, set())
    robot.angle_vector([0.3])
    assert robot.self_collision_check() == (True, {("ball", "ring")})


@pytest.mark.slow
@pytest.mark.row("S0-051")
def test_the_core_has_the_model():
    robot = fingers()
    model = robot.collision_model
    assert model is robot.collision_model
    assert model.links == ("palm", "left", "right", "cube")
    assert model.with_pairs(check=[("left", "right")]).collides([0.36, 0.36, 0.0])
    with pytest.raises(UnsupportedFeatureError, match="shapes"):
        _ = RobotModel(link_list=[Link(name="a")], joint_list=[]).collision_model


@pytest.mark.slow
@pytest.mark.row("S0-051")
def test_pairs_are_those_of_another_engine():
    fcl = pytest.importorskip("fcl", reason="python-fcl is not installed")
    assert fcl
    g = rng("skrobot self collisions")
    shapes = [
        trimesh.creation.annulus(r_min=0.2, r_max=0.4, height=0.1),
        trimesh.creation.icosphere(subdivisions=2, radius=0.3),
        trimesh.creation.box((0.2, 0.5, 0.3)),
        trimesh.creation.capsule(height=0.5, radius=0.1),
        trimesh.creation.torus(0.4, 0.05),
        trimesh.creation.cone(radius=0.3, height=0.6),
    ]
    links = [link_of("base", shapes[0])]
    joints: list[Any] = []
    for k, shape in enumerate(shapes[1:]):
        child = link_of(f"link{k}", shape, links[k // 2], g.uniform(-0.6, 0.6, 3))
        turn = joined(RotationalJoint, links[k // 2], child, f"j{k}", axis=g.normal(size=3))
        links.append(child)
        joints.append(turn)
    robot = RobotModel(link_list=links, joint_list=joints, root_link=links[0])
    manager = trimesh.collision.CollisionManager()
    for link in links:
        manager.add_object(link.name, link.collision_mesh)
    seen: set[bool] = set()
    for _ in range(100):
        robot.angle_vector(g.uniform(robot.joint_min_angles, robot.joint_max_angles))
        for link in links:
            manager.set_transform(link.name, link.copy_worldcoords().T())
        hit, names = cast("tuple[bool, set[Any]]", manager.in_collision_internal(return_names=True))
        found = robot.self_collision_check()
        assert found == (hit, {tuple(sorted(pair)) for pair in names})
        seen |= {("base", "link3") in found[1]}
    assert seen == {True, False}
