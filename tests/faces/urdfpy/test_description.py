"""Reading, writing and single elements."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from linkwork.errors import DescriptionError
from linkwork.faces import urdfpy
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
from linkwork.formats.urdf import records
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.write import to_text
from robots import URDF_TYPES, every_joint_urdf, example_robot_urdf, origin, random_tree
from seeds import rng

# reading


def load(text: str) -> URDF:
    return URDF.load(io.StringIO(text))


def same_origin(owner: Any, record: Any) -> None:
    assert np.abs(owner.origin - origin(record.xyz, record.rpy)).max() < 2e-15


def same_robot(robot: URDF, record: records.Robot) -> None:
    """Every number and name of the records is in the objects, in the same order."""
    assert [link.name for link in robot.links] == [link.name for link in record.links]
    for link, own in zip(robot.links, record.links, strict=True):
        if own.inertial is not None:
            assert link.inertial.mass == own.inertial.mass
            assert link.inertial.inertia.tolist() == [list(row) for row in own.inertial.inertia]
            same_origin(link.inertial, own.inertial)
        for shapes, own_shapes in (
            (link.visuals, own.visuals),
            (link.collisions, own.collisions),
        ):
            assert [shape.name for shape in shapes] == [shape.name for shape in own_shapes]
            for shape, one in zip(shapes, own_shapes, strict=True):
                same_origin(shape, one)
                assert type(shape.geometry.geometry).__name__ == type(one.geometry).__name__
    for joint, own in zip(robot.joints, record.joints, strict=True):
        assert (joint.name, joint.joint_type) == (own.name, own.type)
        assert (joint.parent, joint.child) == (own.parent, own.child)
        same_origin(joint, own)
        if any(own.axis):
            assert np.allclose(joint.axis, np.divide(own.axis, np.linalg.norm(own.axis)))
        for part, of in (
            (joint.limit, own.limit),
            (joint.dynamics, own.dynamics),
            (joint.mimic, own.mimic),
            (joint.safety_controller, own.safety),
            (joint.calibration, own.calibration),
        ):
            assert (part is None) == (of is None)
            for name in () if part is None else type(part)._ATTRIBS:
                given = getattr(of, name)
                assert getattr(part, name) == given or (given is None and not getattr(part, name))


@pytest.mark.row("S2-199", "S2-204")
def test_made_up_robots_are_read_and_come_back_byte_for_byte(tmp_path: Path):
    random, path = rng("reading"), tmp_path / "r.urdf"
    for text in (
        every_joint_urdf(spherical=False),
        *[random_tree(random, 10, URDF_TYPES) for _ in range(5)],
    ):
        path.write_text(text, encoding="utf-8")
        robot, record = URDF.load(str(path)), read(text).robot
        same_robot(robot, record)
        assert saved(robot) == to_text(record)


@pytest.mark.row("S2-199", "S2-204")
@pytest.mark.filterwarnings("ignore:no body has")
@pytest.mark.parametrize("name", ["panda", "pr2", "talos_reduced", "tiago", "romeo"])
def test_real_robots_are_read_and_come_back_byte_for_byte(name: str):
    path = example_robot_urdf(name)
    robot, record = URDF.load(str(path)), read(path).robot
    same_robot(robot, record)
    text = saved(robot)
    assert text == to_text(record)
    assert read(text).robot == record


@pytest.mark.row("S2-040", "S2-043", "S2-047", "S2-050", "S2-059", "S2-106", "S2-115")
def test_values_by_name(shapes: URDF):
    shell, pillar, head = shapes.links[0].visuals
    assert shell.geometry.box.size.tolist() == [1, 2, 3]
    assert (pillar.geometry.cylinder.radius, pillar.geometry.cylinder.length) == (0.1, 0.4)
    assert head.geometry.geometry is head.geometry.sphere
    joint = shapes.joints[0]
    limit, safety = joint.limit, joint.safety_controller
    assert (limit.effort, limit.velocity, limit.lower, limit.upper) == (10, 2, -1, 1.5)
    assert (safety.k_velocity, safety.k_position) == (5, 20)
    assert (safety.soft_lower_limit, safety.soft_upper_limit) == (-0.9, 1.4)
    assert (joint.dynamics.damping, joint.dynamics.friction) == (0.1, 0.2)
    assert (joint.calibration.rising, joint.calibration.falling) == (0.1, 0.2)


def test_a_pose_without_turns_is_exact():
    shown = '<visual><origin xyz="1 2 3"/><geometry><box size="1 1 1"/></geometry></visual>'
    first, second = (Visual._from_xml(ET.fromstring(shown), "").origin for _ in range(2))
    assert first.tolist() == [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
    first[0, 3] = 9.0  # poses are not shared
    assert second[0, 3] == 1.0


def test_what_this_face_needs_is_noted_all_at_once(tmp_path: Path):
    path = tmp_path / "r.urdf"
    path.write_text("""<robot name="r"><link name="a"/>
<link name="b"><visual/></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>
<material name="m"/>
<material name="m"/></robot>""")
    with pytest.raises(DescriptionError) as caught:
        URDF.load(str(path))
    found = [(problem.line, problem.code, problem.file) for problem in caught.value.problems]
    assert found == [
        (2, "missing-element", str(path)),
        (3, "missing-limits", str(path)),
        (5, "duplicate-material", str(path)),
    ]


ODD = """<robot name="r"><link name="a"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/></inertial></link></robot>"""


@pytest.mark.row("S2-091", "S2-199")
def test_inertias_that_no_body_has_are_warned_of_once_or_refused():
    with pytest.warns(UserWarning, match="'a'") as seen:
        robot = load(ODD)
    assert len(seen) == 1
    assert [finding.code for finding in robot.findings] == ["triangle"]
    with pytest.raises(DescriptionError), warnings.catch_warnings():
        warnings.simplefilter("error")
        URDF.load(io.StringIO(ODD), strict=True)


INCOMPLETE = (
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>',
    '<mass value="2"/>',
    '<mass/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>',
    '<mass value="2"/><inertia ixx="1" iyy="1" izz="1"/>',
)


@pytest.mark.parametrize("inner", INCOMPLETE)
def test_an_inertial_that_is_said_in_part_is_refused_as_in_the_original(inner: str):
    text = f'<robot name="r"><link name="a"><inertial>{inner}</inertial></link></robot>'
    with pytest.raises(DescriptionError, match=r"there is no .*<(mass|inertia)>"):
        URDF.load(io.StringIO(text))


@pytest.mark.row("S2-146")
def test_a_moving_joint_with_a_zero_axis_is_refused_where_it_stands(tmp_path: Path):
    text = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="{}"><parent link="a"/><child link="b"/><axis xyz="0 0 0"/></joint></robot>"""
    path = tmp_path / "r.urdf"
    path.write_text(text.format("continuous"))
    with pytest.raises(ValueError, match=r"r\.urdf:2.*axis"):
        URDF.load(str(path))
    path.write_text(text.format("fixed"))
    assert URDF.load(str(path)).joints[0].axis.tolist() == [1, 0, 0]


class Marked(Sphere):
    _ATTRIBS = {**Sphere._ATTRIBS, "mark": (int, True)}  # noqa: RUF012 -- as programs do

    def __init__(self, radius, mark):
        super().__init__(radius)
        self.mark = mark


@pytest.mark.row("S2-030")
def test_what_a_subclass_adds_is_taken_from_what_was_unknown():
    made = Marked._from_xml(ET.fromstring('<sphere radius="2" mark="7"/>'), "")
    assert (type(made), made.radius, made.mark) == (Marked, 2.0, 7)
    assert made._to_xml(None, "").attrib == {"radius": "2", "mark": "7"}
    with pytest.raises(ValueError, match="'mark'"):
        Marked._from_xml(ET.fromstring('<sphere radius="2"/>'), "")


@pytest.mark.row("S2-170", "S2-030")
def test_a_subclass_that_adds_members_is_judged_with_them():
    class Extended(URDF):
        def __init__(self, links, joints, **options):
            tool = Link("tool", None, None, None)
            mount = Joint("mount", "fixed", "nowhere", "tool")
            super().__init__(links=[*links, tool], joints=[*joints, mount], **options)

    with pytest.raises(ValueError, match="nowhere"):
        Extended.load(io.StringIO('<robot name="r"><link name="a"/></robot>'))


# writing


def saved(robot: URDF) -> str:
    buffer = io.StringIO()
    robot.save(buffer)
    return buffer.getvalue()


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
        lambda: robot.joints[0].is_valid(0.0),
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


# fragments


@pytest.mark.row("S2-030")
def test_a_faulty_element_is_refused():
    for name, text in [
        ("Box", "<box/>"),
        ("Box", '<box size="0 1"/>'),
        ("Sphere", '<sphere radius="0,1"/>'),
        ("JointLimit", "<limit/>"),
        ("Link", "<link/>"),
        ("Visual", "<visual/>"),
        ("Inertial", "<inertial/>"),
        ("Geometry", "<geometry/>"),
        ("Geometry", "<box size='1 1 1'/>"),
        ("Box", "<sphere radius='1'/>"),
        ("Joint", "<link name='l'/>"),
    ]:
        with pytest.raises(ValueError, match=r".+"):
            getattr(urdfpy, name)._from_xml(ET.fromstring(text), "")


@pytest.mark.row("S2-030")
def test_lxml_elements_are_read_too():
    etree = pytest.importorskip("lxml.etree", reason="lxml (pip install lxml) is not installed")
    node = etree.fromstring(
        "<joint name='j' type='fixed'><!-- c --><parent link='a'/><child link='b'/></joint>"
    )
    joint = urdfpy.Joint._from_xml(node, "")
    assert (joint.parent, joint.child) == ("a", "b")
    assert np.array_equal(joint.origin, np.eye(4))


# other xml


TEXT = """<robot name="r" xmlns:x="http://x.org"><link name="l"/>
<gazebo reference="l"><mu>1</mu></gazebo><x:thing a="1"/><!-- kept --></robot>"""


@pytest.mark.row("S2-189")
def test_what_stands_beside_is_one_extra():
    robot = URDF.load(io.StringIO(TEXT))
    assert type(robot.other_xml) is str
    root = ET.fromstring(robot.other_xml)
    assert root.tag == "extra"
    assert [child.tag for child in root] == ["gazebo", "{http://x.org}thing"]
    again = URDF.load(io.StringIO(saved(robot)))
    assert again.other_xml == robot.other_xml
    assert "<!-- kept -->" in saved(robot)
    empty = URDF.load(io.StringIO('<robot name="r"><link name="l"/></robot>'))
    assert list(ET.fromstring(empty.other_xml)) == []


@pytest.mark.row("S2-189", "S2-170")
@pytest.mark.parametrize("text", ["<extra><a b='1'/><c>t</c></extra>", "<a b='1'/><c>t</c>"])
def test_it_may_be_set(text: str):
    link = Link("l", None, None, None)
    for given in (text, text.encode()):
        robot = URDF("r", [link], other_xml=given)
        assert robot.other_xml == text
        assert [e.tag for e in ET.fromstring(URDF.load(io.StringIO(saved(robot))).other_xml)] == [
            "a",
            "c",
        ]
    assert URDF("r", [link]).other_xml is None
    changed = URDF.load(io.StringIO(TEXT))
    changed.other_xml = text
    assert "gazebo" not in saved(changed)
    changed.other_xml = None
    assert list(ET.fromstring(URDF.load(io.StringIO(saved(changed))).other_xml)) == []


@pytest.mark.row("S2-189")
def test_what_it_cannot_be():
    robot = URDF.load(io.StringIO(TEXT))
    before = robot.other_xml
    for wrong in ("<a>", "<a", b"\xff", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"):
        with pytest.raises(ValueError, match="other_xml"):
            robot.other_xml = wrong
    with pytest.raises(TypeError):
        robot.other_xml = 3
    assert robot.other_xml == before
