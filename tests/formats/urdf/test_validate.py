"""Validating records: the same judgement as reading the file that they would be written to."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from linkwork.errors import DescriptionError, Finding, InputError
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import (
    Box,
    Comment,
    Cylinder,
    ExtraAttribute,
    ExtraElement,
    Inertial,
    Joint,
    Limit,
    Link,
    Material,
    Mesh,
    Mimic,
    Robot,
    Transmission,
    Visual,
)
from linkwork.formats.urdf.validate import checked
from linkwork.formats.urdf.write import to_text
from urdf_strategies import robots

FUZZ = settings(
    max_examples=60,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
MODELS = Path(__file__).parents[3] / "src" / "linkwork" / "models"
ZERO = (0.0, 0.0, 0.0)
ONE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
NAN = float("nan")

SHAPE = Visual(None, ZERO, ZERO, Cylinder(1.0, 2.0), Material("red", (1.0, 0.0, 0.0, 1.0)))
A = Link("a", Inertial(ZERO, ZERO, 1.0, ONE, line=3), (SHAPE,), line=2)
J = Joint("j", "revolute", "a", "b", limit=Limit(-1.0, 1.0, 1.0, 1.0, line=8), line=7)
GOOD = Robot("r", (A, Link("b")), (J,), line=1)


def said(problems: tuple[Finding, ...]) -> Counter[Any]:
    """What is found, without lines."""
    return Counter((p.level, p.code, p.element, p.name, p.message, p.hint) for p in problems)


# what an element of a file says twice or in vain is not in its records
LOST = {"doubled", "stray-text", "more"}


def judged_as_the_file(robot: Robot) -> None:
    document = checked(robot)
    assert document.robot is robot
    back = read(to_text(robot))
    assert back.robot == robot
    numbers = str.maketrans("", "", "0123456789")  # messages name lines
    found, wanted = (
        Counter((*key[:4], key[4].translate(numbers)) for key in said(d.problems).elements())
        for d in (document, back)
    )
    assert found == wanted, (found - wanted, wanted - found)


@pytest.mark.slow
@FUZZ
@given(robots())
def test_records_are_judged_as_their_file_would_be(robot: Robot):
    judged_as_the_file(robot)


def test_the_bundled_models_stay_as_they_are():
    paths = sorted(MODELS.rglob("*.urdf"))
    assert paths
    for path in paths:
        document = read(path)
        assert checked(document.robot) == document


def test_a_good_robot_is_returned_as_it_is():
    document = checked(GOOD, "here.urdf")
    assert document.robot == GOOD and document.robot.file == "here.urdf"
    assert document.robot.links is GOOD.links
    assert not document.problems
    assert checked(replace(GOOD, file="x")).robot.file == "x"


def errors(robot: Robot) -> tuple[Finding, ...]:
    with pytest.raises(DescriptionError) as caught:
        checked(robot, "f.urdf")
    return caught.value.problems


def joint(**changes: Any) -> Robot:
    return replace(GOOD, joints=(replace(J, **changes),))


def link(**changes: Any) -> Robot:
    return replace(GOOD, links=(replace(A, **changes), Link("b")))


def inertial(**changes: Any) -> Robot:
    return link(inertial=replace(A.inertial, **changes))  # type: ignore[type-var]


def visual(**changes: Any) -> Robot:
    return link(visuals=(replace(SHAPE, **changes),))


WRONG: dict[str, tuple[Robot, str, int, str, str]] = {
    # robot, element, line, name, words
    "nan": (inertial(mass=NAN), "mass", 3, "a", "attribute 'value': nan"),
    "matrix": (inertial(inertia=((1, 2, 0),) * 3), "inertia", 3, "a", "field 'inertia'"),
    "no matrix": (inertial(inertia=()), "inertia", 3, "a", "field 'inertia': a 3x3"),
    "matrix of texts": (inertial(inertia=("abc",) * 3), "inertia", 3, "a", "symmetric"),
    "no name": (link(name=""), "link", 2, "", "attribute 'name': the name is empty"),
    "character": (link(name="a\0"), "link", 2, r"a\x00", "attribute 'name': XML cannot"),
    "type": (joint(type="hinge"), "joint", 7, "j", "unknown joint type 'hinge'"),
    "texts": (joint(axis="1 0 0"), "axis", 7, "j", "attribute 'xyz': 3 numbers"),
    "limit": (joint(limit=Limit("1")), "limit", 0, "j", "attribute 'lower': '1' (str)"),  # type: ignore
    "huge": (joint(xyz=(0.0, 0.0, 1e101)), "origin", 7, "j", "attribute 'xyz': 1e+101"),
    "mimic": (joint(mimic=Mimic("")), "mimic", 0, "j", "attribute 'joint': the name"),
    "no links": (replace(GOOD, links=None, joints=()), "robot", 1, "r", "field 'links': a tuple"),
    "no record": (replace(GOOD, links=(A, Link("b"), 3)), "robot", 1, "r", "Link, not int"),
    "shape": (visual(geometry="box"), "geometry", 0, "a", "field 'geometry': Box or"),
    "size": (visual(geometry=Box((1, 1))), "box", 0, "a", "attribute 'size': 3"),  # type: ignore
    "colour": (
        visual(material=Material("m", (NAN, 0.0, 0.0, 0.0))),
        "color",
        0,
        "a",
        "attribute 'rgba': nan",
    ),
    "text": (
        replace(GOOD, transmissions=(Transmission("t", 3),)),  # type: ignore[arg-type]
        "transmission",
        0,
        "t",
        "field 'type': 3 (int)",
    ),
    "extra": (
        link(extra=(ExtraElement("link", "b", "<c/>"),)),
        "link",
        2,
        "a",
        "does not begin with its tag",
    ),
    "comment": (link(comments=(Comment("link", "--"),)), "link", 2, "a", "would end"),
    "unknown link": (joint(child="c"), "joint", 7, "j", "the child link 'c' does not exist"),
    "zero axis": (joint(axis=ZERO), "joint", 7, "j", "no direction"),
    "mimic of none": (joint(mimic=Mimic("k")), "joint", 0, "j", "'k', which does not exist"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_a_wrong_value_is_refused_by_place_and_name(case: tuple[Robot, str, int, str, str]):
    robot, element, line, name, words = case
    found = [p for p in errors(robot) if words in p.message]
    assert [(p.level, p.element, p.line, p.name, p.file) for p in found] == [
        ("error", element, line, name, "f.urdf")
    ]


def test_every_error_is_collected():
    robot = replace(GOOD, links=(replace(A, name=3), Link("b", Inertial(ZERO, ZERO, NAN, ONE))))
    assert len(errors(replace(robot, joints=(replace(J, type="x", xyz=None, rpy=1),)))) >= 4


def mutations(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """Ways to every value in a record."""
    if is_dataclass(value):
        named = [(f.name, getattr(value, f.name)) for f in fields(value)]
        skipped = ("line", "position", "layout", "file", "comments", "extra")
        pairs = [(name, held) for name, held in named if name not in skipped]
    elif isinstance(value, tuple):
        pairs = list(enumerate(value))
    else:
        return [(path, value)]
    return [found for key, held in pairs for found in mutations(held, (*path, key))]


def mutated(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(key, str):
        return replace(value, **{key: mutated(getattr(value, key), rest, new)})
    return (*value[:key], mutated(value[key], rest, new), *value[key + 1 :])


FULL = replace(
    GOOD,
    transmissions=(Transmission("t", "x"),),
    materials=(Material("wood", None, "a.png"),),
    version="1.0",
)


@pytest.mark.parametrize("new", [NAN, "\0", range(2), b"x", [[1]], True, {}], ids=repr)
def test_no_wrong_value_gets_through_anywhere(new: Any):
    ways = [(path, value) for path, value in mutations(FULL) if value is not None]
    assert len(ways) > 50
    for path, _ in ways:
        robot = mutated(FULL, path, new)
        assert errors(robot), path
        with pytest.raises(InputError):
            to_text(robot)


def test_values_become_what_a_file_holds():
    shape = Visual(None, [0, 0, 1], np.zeros(3), Box(np.ones(3)))  # type: ignore[arg-type]
    body = Inertial(ZERO, ZERO, np.float64(2), np.eye(3))  # type: ignore[arg-type]
    robot = Robot("r", [Link("a", body, [shape])])  # type: ignore[arg-type, list-item]
    made = checked(robot).robot
    (link,) = made.links
    assert type(made.links) is tuple and type(link.visuals) is tuple
    assert link.inertial is not None
    assert type(link.inertial.mass) is float and link.inertial.inertia == ONE
    values = [*link.visuals[0].xyz, *link.visuals[0].rpy, *link.inertial.inertia[1]]
    values += link.visuals[0].geometry.size  # type: ignore[union-attr]
    assert {type(value) for value in values} == {float}
    assert read(to_text(made)).robot == made
    assert to_text(made) == to_text(robot)


def test_unknown_things_get_the_order_of_reading():
    element, space = ExtraElement("robot", "b", "<b/>"), ExtraAttribute("robot", "xmlns:x", "u")
    note = ExtraAttribute("robot", "note", "")
    made = checked(replace(GOOD, extra=(element, space, note))).robot
    assert made.extra == (note, space, element)
    assert read(to_text(made)).robot == made


def test_findings_are_those_of_files():
    robot = replace(GOOD, links=(A, Link("b", visuals=(Visual("v", ZERO, ZERO, None),))))
    odd = Link("c", extra=(ExtraElement("link", "inertia", "<inertia/>"),))
    hollow = Link("d", visuals=(Visual("v", ZERO, ZERO, Mesh(""), Material("none")),))
    joints = (J, replace(J, name="k", child="c", limit=Limit()), replace(J, name="l", child="d"))
    robot = replace(robot, links=(*robot.links, odd, hollow), joints=joints)
    judged_as_the_file(robot)
    codes = {problem.code for problem in checked(robot).problems}
    assert {"missing-element", "unknown-element", "missing-attribute", "missing-limits"} <= codes
    assert "material-undefined" in codes


def test_only_robots_are_checked():
    with pytest.raises(InputError, match="not Link"):
        checked(Link("a"))  # type: ignore[arg-type]
