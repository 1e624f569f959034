"""The table of the format: complete, and without contradictions."""

from __future__ import annotations

from dataclasses import MISSING, fields

import pytest

from linkwork.formats.urdf.schema import JOINT_TYPES, Element, elements

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


# ---- the table gone through from records


def test_defaults_are_texts_that_read_back():
    for element in elements():
        for attribute in element.attributes:
            if attribute.default_text is not None:
                assert attribute.values.read(attribute.default_text) == attribute.default


def test_each_place_is_of_one_sort():
    for element in elements():
        for child in element.children:
            assert bool(child.records) + (child.inline is not None) + child.text == 1
