"""The table of the format: complete, without contradictions, and what reading follows."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

from linkwork.formats.urdf.convert import BadText
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.read import Reader, read
from linkwork.formats.urdf.records import Box, Inertial, Link, Mesh, Robot, Transmission
from linkwork.formats.urdf.schema import JOINT_TYPES, ROBOT, Child, Element, Kind, elements
from seeds import rng

# https://wiki.ros.org/urdf/XML, element by element
STANDARD = {
    "robot": {"name", "version"},
    "link": {"name"},
    "origin": {"xyz", "rpy"},
    "mass": {"value"},
    "inertia": {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"},
    "box": {"size"},
    "cylinder": {"radius", "length"},
    "sphere": {"radius"},
    "capsule": {"radius", "length"},
    "mesh": {"filename", "scale"},
    "material": {"name"},
    "color": {"rgba"},
    "texture": {"filename"},
    "parent": {"link"},
    "child": {"link"},
    "axis": {"xyz"},
    "limit": {"lower", "upper", "effort", "velocity"},
    "dynamics": {"damping", "friction"},
    "mimic": {"joint", "multiplier", "offset"},
    "safety_controller": {"k_velocity", "k_position", "soft_lower_limit", "soft_upper_limit"},
    "calibration": {"rising", "falling", "reference_position"},
}


def test_the_table_has_the_whole_format():
    found = {e.tag: {a.name for a in e.attributes} for e in elements() if e.tag in STANDARD}
    # <joint> is two elements, one of the robot and one of a transmission
    assert found == STANDARD
    tags = {e.tag for e in elements()}
    assert {"joint", "transmission", "actuator", "hardwareInterface", "mechanicalReduction"} <= tags
    assert set(JOINT_TYPES) == {
        "fixed",
        "revolute",
        "continuous",
        "prismatic",
        "planar",
        "floating",
        "spherical",  # which URDF does not define
    }


BESIDE = {"extra", "line", "file", "source", "position", "comments", "layout"}


def filled(element: Element) -> list[str]:
    """The fields of a record that an element fills, those of its inline children included."""
    names = [] if element.packed else [a.target for a in element.attributes]
    names += [element.packed] if element.packed else []
    for child in element.children:
        names += [child.field] if child.field else filled(child.elements[0])
    return names


@pytest.mark.parametrize("element", [e for e in elements() if e.record], ids=lambda e: e.tag)
def test_every_field_is_filled_from_one_place(element: Element):
    names = filled(element)
    own = {f.name for f in fields(element.record)} - BESIDE
    assert set(names) == own
    doubled = {name for name in names if names.count(name) > 1}
    assert doubled <= {"type"}  # of a transmission: an attribute once, an element today


@pytest.mark.parametrize("element", [e for e in elements() if e.record], ids=lambda e: e.tag)
def test_the_defaults_of_table_and_records_agree(element: Element):
    defaults = {f.name: f.default for f in fields(element.record) if f.default is not MISSING}
    for attribute in element.attributes:
        if attribute.target in defaults and attribute.required != "error":
            assert defaults[attribute.target] == attribute.default, attribute.name


# ---- a writer that knows the table only, and records at random: reading is its inverse


def number(random: np.random.Generator) -> float:
    return float(random.choice([0.1, -2.5, 1 / 3, 1e-9, 12345.678, random.normal()]))


def value(kind: Kind, random: np.random.Generator) -> Any:
    word = "".join(random.choice(list("abc <&\"'é名_")) for _ in range(6)).strip() or "a"
    match kind:
        case Kind.NAME | Kind.LABEL | Kind.CONTENT:
            return f"n{random.integers(10**9)}{word}x"
        case Kind.JOINT_TYPE:
            return str(random.choice(["revolute", "continuous", "prismatic"]))
        case Kind.POSITIVE | Kind.NOT_NEGATIVE:
            return abs(number(random))
        case Kind.NUMBER | Kind.FACTOR:
            return number(random)
        case Kind.RGBA:
            return tuple(float(x) for x in random.random(4))
        case Kind.SIZES:
            return tuple(abs(number(random)) for _ in range(3))
        case _:
            return tuple(number(random) for _ in range(3))


def make(element: Element, random: np.random.Generator) -> Any:
    """A record of an element with every field filled; inline elements give a dict of fields."""
    out: dict[str, Any] = {a.target: value(a.kind, random) for a in element.attributes}
    if element.packed:
        xx, xy, xz, yy, yz, zz = out.values()
        out = {element.packed: ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))}
    for child in element.children:
        if child.repeated:
            count = int(random.integers(1, 4))
            out[child.field] = tuple(part(child, random) for _ in range(count))
        elif child.field:
            out[child.field] = part(child, random)
        else:
            out.update(make(child.elements[0], random))
    return element.record(**out) if element.record else out


def part(child: Child, random: np.random.Generator) -> Any:
    element = child.elements[int(random.integers(len(child.elements)))]
    return f"t{random.integers(99)}" if element.text else make(element, random)


def write(element: Element, fields_of: Any) -> str:
    """An element from a record, or from the record that it stands in."""

    def get(name: str) -> Any:
        return getattr(fields_of, name)

    if element.text:
        return f"<{element.tag}> {fields_of} </{element.tag}>"
    values = [get(a.target) for a in element.attributes if not element.packed]
    if element.packed:
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = get(element.packed)
        values = [xx, xy, xz, yy, yz, zz]
    if element.tag == "transmission":
        values = values[:1]  # the type as an element
    text = f"<{element.tag}"
    for attribute, this in zip(element.attributes, values, strict=False):
        plain = " ".join(map(repr, this)) if isinstance(this, tuple) else str(this)
        text += f" {attribute.name}={quoteattr(plain)}"
    text += ">\n"
    for child in element.children:
        held = get(child.field) if child.field else fields_of
        for one in held if child.repeated else [held]:
            text += write(child.records.get(type(one), child.elements[0]), one)
    return text + f"</{element.tag}>\n"


@pytest.mark.parametrize("seed", range(10))
def test_what_is_written_by_the_table_is_read_bit_for_bit(seed: int):
    robot = make(ROBOT, rng(f"records {seed}"))
    text = write(ROBOT, robot)
    with pytest.raises(ValueError) as caught:  # links at random are no tree: take them as they are
        read(text)
    codes = {problem.code for problem in caught.value.problems}
    assert codes <= {"unknown-link", "several-roots", "mimic-unknown", "two-parents", "cycle"}
    assert unchecked(text) == robot


def unchecked(text: str) -> Any:
    problems = Findings(None)
    robot = Reader(text.encode(), problems).read()
    assert not problems.failed, problems.sorted()
    return robot


# ---- the table gone through from records


def find(tag: str) -> Element:
    return next(element for element in elements() if element.tag == tag)


def test_defaults_are_texts_that_read_back():
    for element in elements():
        for attribute in element.attributes:
            if attribute.default_text is not None:
                assert attribute.values.read(attribute.default_text) == attribute.default


def test_each_place_is_of_one_sort():
    for element in elements():
        for child in element.children:
            assert bool(child.records) + (child.inline is not None) + child.text == 1


def test_where_extras_may_stand():
    assert set(find("visual").inner) == {"visual", "origin", "geometry"}
    assert set(find("transmission").inner) == {"transmission", "type"}
    assert find("link").inner == {"link": find("link")}


def test_a_matrix_is_unpacked_by_its_upper_triangle():
    rows = ((1.0, 2.0, 3.0), (2.0, 4.0, 5.0), (3.0, 5.0, 6.0))
    inertial = Inertial((0.0,) * 3, (0.0,) * 3, 1.0, rows)
    assert [value for _, value in find("inertia").values(inertial)] == [1, 2, 3, 4, 5, 6]


def test_a_type_is_an_element_unless_the_file_had_the_attribute():
    element = find("transmission")
    assert not element.is_attribute(Transmission("t", "x"), "type")
    assert not element.is_attribute(Transmission("t", "x", layout=("type",)), "type")
    assert element.is_attribute(Transmission("t", "x", layout=("joint",)), "type")
    assert not element.is_attribute(Transmission("t", layout=("joint",)), "joints")


def test_records_find_their_element_and_others_are_refused():
    links = ROBOT.children[0]
    assert links.element_of(Link("a")).tag == "link"
    (shapes,) = find("geometry").children
    assert [shapes.element_of(s).tag for s in (Box((1.0,) * 3), Mesh(""))] == ["box", "mesh"]
    with pytest.raises(BadText, match="field 'links': Link, not Robot"):
        links.element_of(Robot("r"))
    assert links.items(Robot("r", [Link("a")])) == (Link("a"),)  # type: ignore[arg-type]
    with pytest.raises(BadText, match="a tuple, not str"):
        links.items(Robot("r", "ab"))  # type: ignore[arg-type]
