"""Every file that loads is saved as it was: the same records, and the text of these."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from linkwork.faces.urdfpy import (
    URDF,
    Collision,
    Geometry,
    Joint,
    JointLimit,
    Link,
    Material,
    Sphere,
    Visual,
    matrix_to_xyz_rpy,
)
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.write import to_text
from robots import URDF_TYPES, every_joint_urdf, example_robot_urdfs, random_tree
from seeds import rng


def saved(robot: URDF) -> str:
    buffer = io.StringIO()
    robot.save(buffer)
    return buffer.getvalue()


@pytest.mark.filterwarnings("ignore:no body has")
@pytest.mark.row("S2-204")
@pytest.mark.parametrize("name", ["panda.urdf", "pr2.urdf", "talos_reduced.urdf", "romeo.urdf"])
def test_real_files_come_back_byte_for_byte(name: str):
    path = next((p for p in example_robot_urdfs() if p.name == name), None)
    if path is None:
        pytest.skip(f"{name} is not in this version of example-robot-data")
    document = read(path)
    text = saved(URDF.load(str(path)))
    assert text == to_text(document.robot)
    assert read(text).robot == document.robot


@pytest.mark.row("S2-204")
def test_made_up_files_come_back_byte_for_byte(tmp_path: Path):
    random = rng("files")
    for text in (
        every_joint_urdf(spherical=False),
        *[random_tree(random, 12, URDF_TYPES) for _ in range(5)],
    ):
        (tmp_path / "r.urdf").write_text(text, encoding="utf-8")
        assert saved(URDF.load(str(tmp_path / "r.urdf"))) == to_text(read(text).robot)


@pytest.mark.row("S2-204")
def test_what_is_changed_is_all_that_changes(shapes: URDF, tmp_path: Path):
    before = read(tmp_path / "shapes.urdf").robot
    shapes.joints[0].limit.upper = 2.0
    shapes.links[0].visuals[0].origin[0, 3] = 0.25
    after = read(saved(shapes)).robot
    joint, shell = after.joints[0], after.links[0].visuals[0]
    assert joint.limit.upper == 2.0
    assert joint.axis == before.joints[0].axis == (0.0, 0.0, 2.0)  # as written, not normalised
    assert (shell.xyz, shell.rpy) == ((0.25, 0.2, 0.3), (0.1, 0.2, 0.3))
    assert after.links[0].collisions == before.links[0].collisions
    assert after.transmissions == before.transmissions


@pytest.mark.row("S2-204", "S2-147")
def test_an_origin_that_is_turned_is_saved_to_the_last_digits(shapes: URDF):
    row = rng("turned").uniform(-3, 3, 6)
    shapes.joints[0].origin = row
    again = read(saved(shapes)).robot.joints[0]
    assert np.allclose([*again.xyz, *again.rpy], matrix_to_xyz_rpy(shapes.joints[0].origin), atol=0)


@pytest.mark.row("S2-083", "S2-088", "S2-147")
def test_no_origin_is_written_for_one_made_in_code_that_does_nothing():
    still = Geometry(sphere=Sphere(1.0))
    shown, hit = Visual(still), Collision(None, None, still)
    links = [Link("a", None, [shown], [hit]), Link("b", None, None, None)]
    text = saved(URDF("r", links, [Joint("j", "fixed", "a", "b")]))
    assert "<origin" not in text
    shown.origin = [0, 0, 1, 0, 0, 0]
    text = saved(URDF("r", links, [Joint("j", "fixed", "a", "b")]))
    assert '<origin xyz="0 0 1"/>' in text
    assert "-0" not in text


@pytest.mark.row("S2-055", "S2-059", "S2-200")
def test_a_geometry_without_a_shape_is_not_saved(shapes: URDF):
    shapes.links[0].visuals[0].geometry.box = None
    shapes.link_fk()  # which needs none
    with pytest.raises(ValueError, match="link 'body', visual 'shell': a Geometry without a shape"):
        saved(shapes)
    shapes.links[0].visuals[0].geometry.sphere = Sphere(2)
    assert '<sphere radius="2"/>' in saved(shapes)


@pytest.mark.row("S2-143", "S2-148", "S2-200")
def test_a_joint_without_the_limit_it_needs_is_neither_used_nor_saved(tmp_path: Path):
    links = [Link(name, None, None, None) for name in "ab"]
    robot = URDF("r", links, [Joint("j", "continuous", "a", "b")])
    before = robot.link_fk({"j": 0.3}, link="b")
    robot.joints[0].joint_type = "revolute"
    for use in (
        robot.link_fk,
        lambda: robot.joint_limits,
        lambda: robot.joint_limit_cfgs,
        lambda: URDF("r", links, robot.joints),
        lambda: robot.save(str(tmp_path / "r.urdf")),
        lambda: robot.joints[0]._to_xml(None, ""),
    ):
        with pytest.raises(ValueError, match="'j': a revolute joint needs a limit"):
            use()
    assert not list(tmp_path.iterdir())
    robot.joints[0].limit = JointLimit(1, 1, -1, 1)
    assert np.array_equal(robot.link_fk({"j": 0.3}, link="b"), before)
    assert read(saved(robot)).robot.joints[0].limit.upper == 1


@pytest.mark.row("S2-072", "S2-204")
def test_inside_links_materials_stay_where_they_were_defined(shapes: URDF):
    text = saved(shapes)
    assert text.count('<material name="grey"') == 2
    shapes.material_map["red"].color = [0, 1, 0, 1]  # one that a visual defines
    shapes.material_map["grey"].color = [0, 0, 1, 1]  # one beside the links
    after = read(saved(shapes)).robot
    assert [(m.name, m.rgba) for m in after.materials] == [("grey", (0, 0, 1, 1))]
    worn = [shape.material for shape in after.links[0].visuals]
    assert (worn[0].rgba, worn[1].rgba, worn[2]) == (None, (0, 1, 0, 1), None)


@pytest.mark.row("S2-072")
def test_a_material_is_defined_once_wherever_it_is_worn(shapes: URDF):
    blue = Material("blue", [0, 0, 1, 1])
    for shape in shapes.links[0].visuals:
        shape.material = blue
    after = read(saved(shapes)).robot
    looks = [shape.material.rgba for shape in after.links[0].visuals]
    assert looks == [(0, 0, 1, 1), None, None]
    assert [m.name for m in after.materials] == ["grey", "red"]  # still the robot's
    again = URDF.load(io.StringIO(saved(shapes)))
    assert {shape.material.name for shape in again.links[0].visuals} == {"blue"}


@pytest.mark.row("S2-109", "S2-110")
def test_no_bound_is_saved_as_none(shapes: URDF):
    shapes.joints[0].limit.lower = float("-inf")
    shapes.joints[0].limit.upper = None
    limit = read(saved(shapes)).robot.joints[0].limit
    assert limit.lower is limit.upper is None
    shapes.joints[0].limit.effort = float("inf")
    with pytest.raises(ValueError, match="effort"):
        saved(shapes)


@pytest.mark.row("S2-095", "S2-089")
def test_an_inertial_is_saved_where_there_is_one(shapes: URDF):
    shapes.links[1].inertial.mass = 3.0
    after = read(saved(shapes)).robot.links
    assert after[1].inertial.mass == 3.0
    assert after[1].inertial.inertia == ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    shapes.links[0].inertial = None
    assert read(saved(shapes)).robot.links[0].inertial is None
