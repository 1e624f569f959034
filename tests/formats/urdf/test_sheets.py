"""The sheets: every attribute and element of the table, once, with what writes it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from linkwork.formats.urdf.convert import BadText
from linkwork.formats.urdf.records import Box, Inertial, Link, Mesh, Robot, Transmission
from linkwork.formats.urdf.schema import ROBOT, Element
from linkwork.formats.urdf.specs import (
    ROBOT_SPEC,
    ElementSpec,
    as_attribute,
    items,
    spec_of,
    values,
)


def sheets(sheet: ElementSpec = ROBOT_SPEC) -> Iterator[ElementSpec]:
    yield sheet
    for part in sheet.children:
        for below in (*part.specs.values(), *([part.inline] if part.inline else [])):
            yield from sheets(below)


def elements(element: Element = ROBOT) -> Iterator[Element]:
    yield element
    for child in element.children:
        yield from elements(child.element)


def find(tag: str) -> ElementSpec:
    return next(sheet for sheet in sheets() if sheet.tag == tag)


def test_everything_of_the_table_is_there():
    wanted = sorted((e.tag, tuple(a.name for a in e.attributes)) for e in elements() if not e.text)
    found = sorted((s.tag, tuple(mark.name for mark in s.attributes)) for s in sheets())
    assert found == wanted
    tags = {tag for sheet in sheets() for part in sheet.children for tag in part.tags}
    assert tags == {e.tag for e in elements()} - {"robot"}
    for sheet in sheets():
        assert set(sheet.tags) == {tag for part in sheet.children for tag in part.tags}


def test_defaults_are_texts_that_read_back():
    for sheet in sheets():
        for mark in sheet.attributes:
            if mark.default is not None:
                assert mark.read(mark.default) == mark.schema.default


def test_each_part_is_of_one_sort():
    for sheet in sheets():
        for part in sheet.children:
            assert bool(part.specs) + (part.inline is not None) + part.text == 1


def test_where_extras_may_stand():
    assert set(find("visual").inner) == {"visual", "origin", "geometry"}
    assert set(find("transmission").inner) == {"transmission", "type"}
    assert find("link").inner == {"link": find("link")}


def test_a_matrix_is_unpacked_by_its_upper_triangle():
    rows = ((1.0, 2.0, 3.0), (2.0, 4.0, 5.0), (3.0, 5.0, 6.0))
    inertial = Inertial((0.0,) * 3, (0.0,) * 3, 1.0, rows)
    assert [value for _, value in values(find("inertia"), inertial)] == [1, 2, 3, 4, 5, 6]


def test_a_type_is_an_element_unless_the_file_had_the_attribute():
    sheet = find("transmission")
    assert not as_attribute(sheet, Transmission("t", "x"), "type")
    assert not as_attribute(sheet, Transmission("t", "x", layout=("type",)), "type")
    assert as_attribute(sheet, Transmission("t", "x", layout=("joint",)), "type")
    assert not as_attribute(sheet, Transmission("t", layout=("joint",)), "joints")


def test_records_find_their_sheet_and_others_are_refused():
    links = ROBOT_SPEC.children[0]
    assert spec_of(links, Link("a")).tag == "link"
    (shapes,) = find("geometry").children
    assert [spec_of(shapes, s).tag for s in (Box((1.0,) * 3), Mesh(""))] == ["box", "mesh"]
    with pytest.raises(BadText, match="field 'links': Link, not Robot"):
        spec_of(links, Robot("r"))
    assert items(links, Robot("r", [Link("a")])) == (Link("a"),)  # type: ignore[arg-type]
    with pytest.raises(BadText, match="a tuple, not str"):
        items(links, Robot("r", "ab"))  # type: ignore[arg-type]
