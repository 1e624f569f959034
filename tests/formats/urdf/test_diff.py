"""Differences: none exactly where two robots are equal, and each one called as in the file."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from linkwork.errors import InputError
from linkwork.formats.urdf.diff import Change, Difference, diff
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Box, Document, ExtraElement, Limit, Robot
from linkwork.formats.urdf.write import to_text
from robots import ALL_TYPES, chain_urdf, every_joint_urdf, random_tree
from seeds import rng
from urdf_strategies import robots

TEXT = """<robot name="r">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="a">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><geometry><box size="1 2 3"/></geometry><material name="grey"/></visual>
    <visual name="v"><geometry><mesh filename="m.stl"/></geometry></visual>
    <collision><geometry><sphere radius="1"/></geometry></collision>
  </link>
  <link name="b"/>
  <link name="c"/>
  <joint name="elbow" type="revolute" speed="1"><parent link="a"/><child link="b"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="wrist" type="fixed"><parent link="b"/><child link="c"/></joint>
  <transmission name="t"><type>simple</type>
    <joint name="elbow"><hardwareInterface>effort</hardwareInterface></joint>
    <actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>
  <gazebo reference="a"><mu1>1</mu1></gazebo>
</robot>"""

# what is replaced in the text, and the one change that it makes
ONE = [
    ('upper="1"', 'upper="2"', "joint 'elbow' / limit / upper", 1.0, 2.0),
    ('upper="1" ', "", "joint 'elbow' / limit / upper", 1.0, None),
    ('<axis xyz="0 0 1"/>', '<axis xyz="0 1 0"/>', "joint 'elbow' / axis", (0, 0, 1), (0, 1, 0)),
    ('<child link="c"/>', '<child link="c"/><origin xyz="0 0 1"/>', "joint 'wrist' / origin / xyz",
     (0, 0, 0), (0, 0, 1)),
    ('type="fixed"', 'type="floating"', "joint 'wrist' / type", "fixed", "floating"),
    ('mass value="1"', 'mass value="2"', "link 'a' / inertial / mass", 1.0, 2.0),
    ('iyz="0"', 'iyz="0.1"', "link 'a' / inertial / inertia / iyz", 0.0, 0.1),
    ('size="1 2 3"', 'size="1 2 4"', "link 'a' / visual[0] / geometry / box / size",
     (1, 2, 3), (1, 2, 4)),
    ("m.stl", "n.stl", "link 'a' / visual 'v' / geometry / mesh / filename", "m.stl", "n.stl"),
    ('radius="1"', 'radius="2"', "link 'a' / collision[0] / geometry / sphere / radius", 1.0, 2.0),
    ('rgba="0.5 0.5 0.5 1"', 'rgba="0.5 0.5 0.5 0"', "material 'grey' / color / rgba",
     (0.5, 0.5, 0.5, 1), (0.5, 0.5, 0.5, 0)),
    ("effort<", "velocity<", "transmission 't' / joint 'elbow' / hardwareInterface",
     ("effort",), ("velocity",)),
    ("50", "51", "transmission 't' / actuator 'm' / mechanicalReduction", "50", "51"),
    ("simple", "other", "transmission 't' / type", "simple", "other"),
    ('speed="1"', 'speed="2"', "joint 'elbow' / @speed", "1", "2"),
    ("<mu1>1", "<mu1>2", "<gazebo>", '<gazebo reference="a"><mu1>1</mu1></gazebo>',
     '<gazebo reference="a"><mu1>2</mu1></gazebo>'),
    ('<robot name="r">', '<robot name="s">', "name", "r", "s"),
    ('<robot name="r">', '<robot name="r" version="1.0">', "version", None, "1.0"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "path", "before", "after"), ONE, ids=[r[2] for r in ONE])
def test_one_change(old: str, new: str, path: str, before: Any, after: Any):
    assert TEXT.count(old) == 1
    a, b = read(TEXT), read(TEXT.replace(old, new))
    assert diff(a, b).changes == (Change("changed", path, before, after),)
    assert diff(b, a).changes == (Change("changed", path, after, before),)


def test_of_all_records_each_field_is_compared():
    """Every field of every record, taken away or changed, is one change or more."""
    robot = read(TEXT).robot
    seen = 0
    for changed in mutants(robot):
        assert changed != robot
        found = diff(robot, changed)
        assert found, changed
        assert diff(changed, robot)
        seen += 1
    assert seen > 60


def mutants(record: Any) -> list[Any]:
    """The record with one field changed, for every field in it and in what it holds."""
    found: list[Any] = []
    for field in fields(record):
        if not field.compare:
            continue
        value = getattr(record, field.name)
        parts = value if isinstance(value, tuple) else (value,)
        if parts and is_dataclass(parts[0]):
            for k, part in enumerate(parts):
                for new in [*mutants(part), None]:
                    rest = [*parts[:k], *([] if new is None else [new]), *parts[k + 1 :]]
                    other = tuple(rest) if isinstance(value, tuple) else new
                    found.append(replace(record, **{field.name: other}))
        else:
            found.append(replace(record, **{field.name: altered(value)}))
    return [one for one in found if one != record]


def altered(value: Any) -> Any:
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, tuple) and value:
        return (altered(value[0]), *value[1:])
    return value


def test_no_differences():
    for text in (TEXT, every_joint_urdf()):
        # an unknown element is compared as its text, so nothing is put into one
        found = diff(
            read(text), read("\n\n<!-- x -->" + text.replace("></joint", ">\n<!-- y --></joint"))
        )
        assert not found
        assert (len(found), list(found), str(found)) == (0, [], "no differences")
    assert diff(read(TEXT).robot, read(TEXT)) == Difference()


def test_random_robots_differ_exactly_when_they_are_unequal():
    random = rng("diff")
    robots = [read(random_tree(random, int(random.integers(1, 4)))) for _ in range(12)]
    robots += [read(random_tree(random, 3, ALL_TYPES, shuffle=False)) for _ in range(4)]
    for a in robots:
        for b in robots:
            assert bool(diff(a, b)) == (a.robot != b.robot)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(robots(), robots())
def test_any_robots_differ_exactly_when_they_are_unequal(a: Robot, b: Robot):
    assert bool(diff(a, b)) == (a != b)
    assert not diff(a, read(to_text(a)))
    for changed in (replace(a, extra=b.extra), replace(a, materials=b.materials)):
        assert bool(diff(a, changed)) == (a != changed)


def edited(**changes: Any) -> Robot:
    return replace(read(TEXT).robot, **changes)


def test_added_and_removed():
    robot = read(TEXT).robot
    fewer = edited(links=robot.links[:1], joints=(), materials=())
    assert [str(change) for change in diff(robot, fewer)] == [
        "- link 'b'",
        "- link 'c'",
        "- joint 'elbow'",
        "- joint 'wrist'",
        "- material 'grey'",
    ]
    back = diff(fewer, robot)
    assert [change.kind for change in back] == ["added"] * 5
    assert back.changes[0] == Change("added", "link 'b'", None, robot.links[1])
    elbow = robot.joints[0]
    without = edited(joints=(replace(elbow, limit=None, extra=()), robot.joints[1]))
    assert [str(change) for change in diff(robot, without)] == [
        "- joint 'elbow' / limit",
        "- joint 'elbow' / @speed",
    ]
    assert diff(without, robot).changes[0].after == elbow.limit


def test_other_kinds_of_shapes_and_of_names():
    robot = read(TEXT).robot
    link = robot.links[0]
    ball = replace(link.collisions[0], geometry=Box((1.0, 1.0, 1.0)))
    other = edited(links=(replace(link, collisions=(ball,)), *robot.links[1:]))
    (change,) = diff(robot, other)
    assert str(change) == "~ link 'a' / collision[0] / geometry: <sphere> -> <box>"
    named = replace(link, visuals=(replace(link.visuals[0], name="shell"), link.visuals[1]))
    (change,) = diff(robot, edited(links=(named, *robot.links[1:])))
    assert str(change) == "~ link 'a' / visual[0] / name: none -> 'shell'"


def test_what_is_put_in_between_is_one_change():
    robot = read(TEXT).robot
    link = robot.links[0]
    new = replace(link.visuals[0], xyz=(1.0, 1.0, 1.0))
    more = replace(link, visuals=(new, *link.visuals))
    assert [str(c) for c in diff(robot, edited(links=(more, *robot.links[1:])))] == [
        "+ link 'a' / visual[0]"
    ]


def test_order():
    robot = read(TEXT).robot
    (change,) = diff(robot, edited(joints=robot.joints[::-1]))
    assert change.path == "order of <joint>"
    assert change.before == ("joint 'elbow'", "joint 'wrist'")
    assert change.after == ("joint 'wrist'", "joint 'elbow'")
    visuals = robot.links[0].visuals[::-1]
    links = (replace(robot.links[0], visuals=visuals), *robot.links[1:])
    (change,) = diff(robot, edited(links=links))
    assert change.path == "link 'a' / order of <visual>"
    extra = (ExtraElement("robot", "sensor", "<sensor/>"), *robot.extra)
    (change,) = diff(edited(extra=extra), edited(extra=extra[::-1]))
    assert change.path == "order of unknown elements"
    assert change.before == ("<sensor>", "<gazebo>")
    # a new one in between changes no order
    first, second = robot.joints
    assert len(diff(robot, edited(joints=(first, replace(first, name="new"), second)))) == 1


def test_tolerance():
    robot = read(TEXT).robot
    elbow = robot.joints[0]
    near = replace(
        elbow, xyz=(1e-6, 0.0, 0.0), limit=replace(elbow.limit or Limit(), upper=1 + 1e-6)
    )
    other = edited(joints=(near, robot.joints[1]))
    assert len(diff(robot, other)) == 2
    assert len(diff(robot, other, 0.9e-6)) == 2
    assert not diff(robot, other, 1.1e-6)
    (change,) = diff(robot, edited(joints=(replace(near, limit=None), robot.joints[1])), 1.0)
    assert change.kind == "removed"  # no number is near one that is not there
    for tolerance in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="a tolerance is"):
            diff(robot, other, tolerance)


def test_what_is_printed():
    found = diff(read(TEXT), read(TEXT.replace('upper="1"', 'upper="2.5"').replace("m.stl", "n")))
    assert str(found) == (
        "~ link 'a' / visual 'v' / geometry / mesh / filename: 'm.stl' -> 'n'\n"
        "~ joint 'elbow' / limit / upper: 1 -> 2.5"
    )
    odd = diff(read('<robot name="r"><link name="a"/></robot>'),
               read('<robot name="r"><link name="a&#10;\u202e"/></robot>'))  # fmt: skip
    assert str(odd) == "- link 'a'\n+ link 'a\\n\\u202e'"
    (space,) = diff(edited(links=()), edited(links=(), extra=()))
    assert str(space) == "- <gazebo>"


def test_names_that_come_twice():
    text = '<robot name="r"><link name="a"/>{}</robot>'
    one, two = '<transmission name="t"/>', '<transmission name="t" type="x"/>'

    def found(a: str, b: str) -> list[str]:
        return [str(change) for change in diff(read(text.format(a)), read(text.format(b)))]

    assert found(one + two, two) == ["- transmission 't'"]
    assert found(two, one + two) == ["+ transmission 't'"]
    assert found(one + two, one + two) == []


def test_long_chains_are_compared_in_linear_time():
    a, b = read(chain_urdf(2_000)), read(chain_urdf(2_000, backwards=True))
    assert len(diff(a, b)) == 1
    assert len(diff(a, read(chain_urdf(2_000, "continuous")))) == 2_000


def test_documents_stay_as_they_are():
    document: Document = read(TEXT)
    diff(document, edited(links=()))
    assert document == read(TEXT)
