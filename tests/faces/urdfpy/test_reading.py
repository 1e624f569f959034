"""From the records of a description to objects: every value of a file is where programs look."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.errors import DescriptionError
from linkwork.faces.urdfpy import URDF, Joint, Link, Sphere
from linkwork.faces.urdfpy.description import (
    NOWHERE,
    Source,
    added,
    by_tables,
    checked_against,
    pose_of,
    read_shape,
)
from linkwork.formats.urdf import records
from linkwork.formats.urdf.read import read
from robots import URDF_TYPES, every_joint_urdf, example_robot_urdfs, origin, random_tree
from seeds import rng


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
def test_made_up_robots():
    random = rng("reading")
    for text in (
        every_joint_urdf(spherical=False),
        *[random_tree(random, 10, URDF_TYPES) for _ in range(5)],
    ):
        same_robot(load(text), read(text).robot)


@pytest.mark.row("S2-199")
@pytest.mark.filterwarnings("ignore:no body has")
@pytest.mark.parametrize("name", ["panda.urdf", "pr2.urdf", "talos_reduced.urdf", "tiago.urdf"])
def test_real_robots(name: str):
    path = next((p for p in example_robot_urdfs() if p.name == name), None)
    if path is None:
        pytest.skip(f"{name} is not in this version of example-robot-data")
    same_robot(URDF.load(str(path)), read(path).robot)


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
    record = records.Visual(None, (1.0, 2.0, 3.0), records.ZERO, None)
    first, second = pose_of(record), pose_of(record)
    assert first.tolist() == [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
    first[0, 3] = 9.0  # poses are not shared
    assert second[0, 3] == 1.0


def test_what_this_face_needs_is_noted_all_at_once():
    text = """<robot name="r"><link name="a"/>
<link name="b"><visual/></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>
<material name="m"/>
<material name="m"/></robot>"""
    with pytest.raises(DescriptionError) as caught:
        checked_against(URDF, read(text).robot, Source("r.urdf"))
    found = [(problem.line, problem.code, problem.file) for problem in caught.value.problems]
    assert found == [
        (2, "missing-element", "r.urdf"),
        (3, "missing-limits", "r.urdf"),
        (5, "duplicate-material", "r.urdf"),
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


@pytest.mark.row("S2-109", "S2-110")
def test_a_joint_without_bounds_is_a_finding():
    text = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute">
<parent link="a"/><child link="b"/><limit effort="1" velocity="1"/></joint></robot>"""
    robot = load(text)
    assert robot.joints[0].limit.lower is None
    assert [finding.code for finding in robot.findings] == ["missing-limits"]


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
    assert added(Marked) == (["mark"], [])
    assert added(Sphere) == ([], [])
    mark = records.ExtraAttribute("sphere", "mark", "7")
    read = {"radius": 2.0}
    assert by_tables(Marked, read, [mark], NOWHERE) == {"radius": 2.0, "mark": 7}
    assert by_tables(Sphere, read, [mark], NOWHERE) == read
    made = read_shape(Marked, records.Sphere(2.0, extra=(mark,)), NOWHERE)
    assert (type(made), made.radius, made.mark) == (Marked, 2.0, 7)
    with pytest.raises(ValueError, match="'mark'"):
        by_tables(Marked, read, [], NOWHERE)


@pytest.mark.row("S2-170", "S2-030")
def test_a_subclass_that_adds_members_is_judged_with_them():
    class Extended(URDF):
        def __init__(self, links, joints, **options):
            tool = Link("tool", None, None, None)
            mount = Joint("mount", "fixed", "nowhere", "tool")
            super().__init__(links=[*links, tool], joints=[*joints, mount], **options)

    with pytest.raises(ValueError, match="nowhere"):
        Extended.load(io.StringIO('<robot name="r"><link name="a"/></robot>'))
