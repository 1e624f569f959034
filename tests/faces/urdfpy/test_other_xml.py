from __future__ import annotations

import io
from xml.etree import ElementTree as ET

import pytest

from linkwork.faces.urdfpy import URDF, Link

TEXT = """<robot name="r" xmlns:x="http://x.org"><link name="l"/>
<gazebo reference="l"><mu>1</mu></gazebo><x:thing a="1"/><!-- kept --></robot>"""


def saved(robot: URDF) -> str:
    buffer = io.StringIO()
    robot.save(buffer)
    return buffer.getvalue()


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
