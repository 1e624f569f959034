"""The door: what `read` takes, what it returns, and that all errors come at once."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path

import pytest

from linkwork.errors import DescriptionError
from linkwork.formats.urdf.read import read

GOOD = '<robot name="r"><link name="a"/></robot>'


def test_what_is_taken(tmp_path: Path):
    path = tmp_path / "robot.urdf"
    path.write_text(GOOD)
    robots = [read(source).robot for source in (GOOD, GOOD.encode(), path, str(path), "\n " + GOOD)]
    assert all(robot == robots[0] for robot in robots)
    assert [robot.file for robot in robots] == [None, None, str(path), str(path), None]
    assert read(GOOD, file="folder/x.urdf").robot.file == "folder/x.urdf"
    with pytest.raises(TypeError):
        read(7)


MANY = """<robot name="r">
<link name="a"/>
<link name="a"/>
<link name="b"/>
<joint name="j" type="sphere"><parent link="a"/><child link="b"/></joint>
<joint name="j" type="revolute"><parent link="a"/><child link="nowhere"/>
  <origin xyz="0 0"/>
  <axis xyz="0 0 0"/></joint>
<joint name="k" type="prismatic"><parent link="b"/><child link="b"/>
  <mimic joint="l" multiplier="nan"/></joint>
</robot>"""


def test_every_error_comes_at_once_by_line():
    with pytest.raises(DescriptionError) as caught:
        read(MANY, file="many.urdf")
    assert [(problem.line, problem.code) for problem in caught.value.problems] == [
        (3, "duplicate-link"),
        (5, "joint-type"),
        (6, "duplicate-joint"),
        (6, "unknown-link"),
        (6, "zero-axis"),
        (7, "count"),
        (9, "same-link"),
        (10, "not-finite"),
        (10, "mimic-unknown"),
    ]
    assert all(line.startswith("many.urdf:") for line in str(caught.value).splitlines())


def test_errors_before_broken_xml_are_told_too():
    with pytest.raises(DescriptionError) as caught:
        read('<robot name="r">\n<link name=""/>\n<link name="b">\n</robot>')
    assert [(p.line, p.code) for p in caught.value.problems] == [(2, "empty-name"), (4, "xml")]
    assert caught.value.problems[1].hint == "<link> was still open"


def test_findings_come_by_line_with_the_robot():
    document = read(
        '<robot name="r">\n<odd/>\n<link name="a" x="1"/>\n<material name="m">'
        '<color rgba="2 0 0 1"/></material></robot>'
    )
    assert [(p.line, p.level) for p in document.problems] == [
        (2, "note"),
        (3, "note"),
        (4, "warning"),
        (4, "note"),
    ]
    assert document.robot.materials[0].rgba == (2, 0, 0, 1)


def test_the_error_survives_another_process():
    with pytest.raises(DescriptionError) as caught:
        read("<robot/>")
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.problems == caught.value.problems


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("tail", ["</robot>", "<broken"])
def test_the_garbage_collector_is_as_before(enabled: bool, tail: str):
    text = GOOD.removesuffix("</robot>") + " " * (1 << 20) + tail
    try:
        (gc.enable if enabled else gc.disable)()
        try:
            read(text)
        except DescriptionError:
            assert tail == "<broken"
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


def test_reading_keeps_no_garbage():
    read(GOOD)
    gc.collect()
    before = len(gc.get_objects())
    gc.disable()
    try:
        for _ in range(20):
            read(GOOD)
    finally:
        gc.enable()
    assert len(gc.get_objects()) - before < 100
