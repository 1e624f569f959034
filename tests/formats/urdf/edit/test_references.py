"""What becomes of unknown elements when the names in them change or go."""

from __future__ import annotations

import re

import pytest

from linkwork.formats.urdf.edit.references import References
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import ExtraElement

LINKS = {"a": "a", "b": "new", "c": None, "both": "one", "half": None}
JOINTS = {"j": "j", "k": "nu&<'\"", "l": None, "both": "other", "half": "half"}


def follow(xml: str) -> tuple[str | None, list[str]]:
    tag = re.match(r"<(\w+)", xml)[1]
    problems = Findings(None)
    new = References(LINKS, JOINTS, problems).follow(ExtraElement("robot", tag, xml, line=7))
    found = problems.sorted()
    assert all(
        (p.code, p.level, p.line, p.element) == ("name-left", "warning", 7, tag) for p in found
    )
    return None if new is None else new.xml, [problem.message for problem in found]


SAFE = "nu&amp;&lt;&apos;&quot;"
CASES = [
    ('<gazebo reference="a"/>', '<gazebo reference="a"/>'),
    ("<gazebo reference='b' x='b2'/>", "<gazebo reference='new' x='b2'/>"),
    ('<gazebo reference="c"><mu1>1</mu1></gazebo>', None),
    ('<gazebo reference="k"/>', f'<gazebo reference="{SAFE}"/>'),
    ("<gazebo reference='k'/>", f"<gazebo reference='{SAFE}'/>"),
    ('<gazebo reference="half"/>', '<gazebo reference="half"/>'),
    ('<gazebo reference="nobody"/>', '<gazebo reference="nobody"/>'),
    ('<sensor><parent link="b"/></sensor>', '<sensor><parent link="new"/></sensor>'),
    ('<sensor name="s"><parent link="c"/></sensor>', None),
    ('<ros2_control><joint name="l"/></ros2_control>', None),
    (
        '<ros2_control>\n  <joint name="j"/>\n  <joint name="l">\n <p/></joint>\n</ros2_control>',
        '<ros2_control>\n  <joint name="j"/>\n</ros2_control>',
    ),
    (
        '<ros2_control><joint name="k"/><transmission><joint name="l"/><joint name="k"/>'
        "</transmission></ros2_control>",
        f'<ros2_control><joint name="{SAFE}"/></ros2_control>',
    ),
    # what a joint holds that goes is not missed
    (
        '<ros2_control><joint name="j"/><joint name="l"><x>l</x></joint></ros2_control>',
        '<ros2_control><joint name="j"/></ros2_control>',
    ),
    (
        '<ros2_control><joint name="j"/><joint name="l"><param name="mimic">l</param></joint>'
        "</ros2_control>",
        '<ros2_control><joint name="j"/></ros2_control>',
    ),
    (
        '<ros2_control><joint name="j"><param name="mimic"> k </param></joint></ros2_control>',
        f'<ros2_control><joint name="j"><param name="mimic"> {SAFE} </param></joint>'
        "</ros2_control>",
    ),
]


@pytest.mark.parametrize(("xml", "wanted"), CASES, ids=[xml[:60] for xml, _ in CASES])
def test_names_followed_and_gone(xml: str, wanted: str | None):
    assert follow(xml) == (wanted, [])


LEFT = [
    ("<gazebo><plugin><jointName>k</jointName></plugin></gazebo>", "'k': renamed"),
    ("<gazebo><plugin joint='robot::l'/></gazebo>", "'l': gone"),
    ("<gazebo reference='both'/>", "'both': renamed"),  # a link and a joint, now with two names
    ("<x>b c</x>", "'b', 'c': renamed or gone"),
    (
        '<ros2_control><joint name="j"><param name="mimic">l</param></joint></ros2_control>',
        "'l': gone",
    ),
]


@pytest.mark.parametrize(("xml", "part"), LEFT, ids=[xml[:60] for xml, _ in LEFT])
def test_names_that_are_left_are_findings(xml: str, part: str):
    new, (message,) = follow(xml)
    assert new == xml
    assert message.endswith(f"still holds {part}")


def test_without_changes_nothing_is_even_read():
    references = References({"a": "a"}, {}, Findings(None))
    broken = ExtraElement("robot", "gazebo", "<not xml")
    assert references.follow(broken) is broken
