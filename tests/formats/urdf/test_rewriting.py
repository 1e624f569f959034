"""Writing what was read changes only what was edited, byte for byte elsewhere."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from document_mutations import EDITS, SAMPLE, damaged
from linkwork.errors import LinkworkError
from linkwork.formats.urdf.records import Joint, Link, Robot
from linkwork.formats.urdf.write import to_bytes, to_text
from robots import example_robot_urdfs
from seeds import rng
from urdf_strategies import robots

Random = np.random.Generator
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)

SLOPPY = """<?xml version='1.0' encoding="UTF-8" standalone='yes'?>
<!-- before -->
<?editor mode="x"?>
<robot  version="1.0"
        name='sloppy' >

\t<material name="grey" ><color rgba=".5 0.50  5e-1 1.0"/></material>
\t<link name='base'/><link
\t   name="arm"
\t   >
\t\t<inertial >
\t\t\t<mass value="+4.0"/>   <!-- measured -->
\t\t\t<origin rpy="0 0 0" xyz="0.0  0.10 4.0" />
\t\t\t<inertia izz="1.0" iyy="1.00" ixx="1e0" iyz="0" ixz="0." ixy=".0"/>
\t\t</inertial>
\t\t<visual><geometry><box size='1 2 3.0'/></geometry></visual>
\t\t<gazebo   a='1'>
 <b/></gazebo>
\t</link>
<!-- the one joint --><joint type="revolute" name="elbow &lt;1&gt;">
\t\t<child link="arm"></child>
\t\t<parent link="base" />
\t\t<axis xyz="0 0 1.0"/>
\t\t<limit upper="1.50" lower="-1.50" velocity="2.0" effort="10"/>
\t\t<dynamics damping="0.0" friction="0.10"/>
\t</joint>


</robot>

<!-- after -->   """


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that went and those that came, white space and line ends included."""
    lines = difflib.ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True))
    found = list(lines)
    gone = [line[2:] for line in found if line.startswith("- ")]
    return gone, [line[2:] for line in found if line.startswith("+ ")]


def with_joint(robot: Robot, k: int, **fields: Any) -> Robot:
    """The robot with one joint changed."""
    joints = list(robot.joints)
    joints[k] = replace(joints[k], **fields)
    return replace(robot, joints=tuple(joints))


def with_link(robot: Robot, k: int, **fields: Any) -> Robot:
    """The robot with one link changed."""
    links = list(robot.links)
    links[k] = replace(links[k], **fields)
    return replace(robot, links=tuple(links))


# ---- nothing edited


VARIANTS: dict[str, Callable[[str], bytes]] = {
    "as it is": lambda text: text.encode(),
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "carriage returns": lambda text: text.replace("\n", "\r\n").encode(),
    "old line ends": lambda text: text.replace("\n", "\r").encode(),
    "UTF-16": lambda text: text.replace("UTF-8", "UTF-16").encode("utf-16"),
    "UTF-16, big end first": lambda t: (
        b"\xfe\xff" + t.replace("UTF-8", "UTF-16").encode("utf-16-be")
    ),
    "Latin 1": lambda text: text.replace("UTF-8", "ISO-8859-1").encode("latin-1"),
    "one line": lambda text: text.replace("\n", " ").encode(),
    "no declaration": lambda text: text.partition("?>")[2].lstrip().encode(),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_what_was_read_is_written_byte_for_byte(name: str, tmp_path: Path):
    data = VARIANTS[name](SLOPPY.replace("measured", "gemessen: é"))
    file = tmp_path / "robot.urdf"
    file.write_bytes(data)
    document = lw.urdf.read(file)
    assert to_bytes(document.robot) == data
    assert to_bytes(lw.urdf.document(document.robot).robot) == data
    lw.urdf.write(document, tmp_path / "again.urdf")
    assert (tmp_path / "again.urdf").read_bytes() == data
    edited = with_joint(document.robot, 0, name="knee é")
    lw.urdf.write(edited, file)
    assert lw.urdf.read(file).robot == edited
    assert file.read_bytes() != data
    assert abs(len(file.read_bytes()) - len(data)) < 20


def test_a_text_is_written_as_the_text_that_it_is():
    for text in (SLOPPY, "\ufeff \n" + SLOPPY.partition("?>")[2], "\n" + SAMPLE):
        assert to_text(lw.urdf.read(text).robot) == text


def test_a_text_that_declares_another_encoding_says_utf_8_in_a_file():
    text = SLOPPY.replace("UTF-8", "ISO-8859-1").replace("measured", "é")
    data = to_bytes(lw.urdf.read(text).robot)
    assert data.decode() == text.replace("ISO-8859-1", "UTF-8")
    assert lw.urdf.read(data).robot == lw.urdf.read(text).robot


def test_real_descriptions_are_written_byte_for_byte():
    files = example_robot_urdfs()
    for file in files:
        assert to_bytes(lw.urdf.read(file).robot) == file.read_bytes(), file
    assert len(files) > 50


def test_a_robot_to_compute_with_keeps_no_text():
    robot = lw.load("panda")
    assert robot.document is not None
    assert robot.document.robot.source is None


# ---- one edit


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_one_edit_changes_one_line(end: str):
    text = SLOPPY.replace("\n", end)
    robot = lw.urdf.read(text.encode()).robot
    arm, elbow = robot.links[1], robot.joints[0]
    assert arm.inertial is not None
    assert elbow.limit is not None
    box = arm.visuals[0]
    second = Joint("wrist", "fixed", "arm", "hand", xyz=(0.0, 0.0, 1.0))
    cases: list[tuple[Robot, str, str]] = [
        (
            with_joint(robot, 0, limit=replace(elbow.limit, velocity=3.0)),
            '\t\t<limit upper="1.50" lower="-1.50" velocity="2.0" effort="10"/>',
            '\t\t<limit upper="1.50" lower="-1.50" velocity="3" effort="10"/>',
        ),
        (
            with_link(robot, 1, inertial=replace(arm.inertial, mass=4.5)),
            '\t\t\t<mass value="+4.0"/>   <!-- measured -->',
            '\t\t\t<mass value="4.5"/>   <!-- measured -->',
        ),
        (
            with_link(robot, 1, inertial=replace(arm.inertial, xyz=(0.0, 0.2, 4.0))),
            '\t\t\t<origin rpy="0 0 0" xyz="0.0  0.10 4.0" />',
            '\t\t\t<origin rpy="0 0 0" xyz="0.0  0.2 4.0" />',
        ),
        (
            with_joint(robot, 0, xyz=(0.0, 0.0, 0.25)),
            "",
            '\t\t<origin xyz="0 0 0.25"/>',
        ),
        (
            with_joint(robot, 0, limit=None),
            '\t\t<limit upper="1.50" lower="-1.50" velocity="2.0" effort="10"/>',
            "",
        ),
        (
            with_joint(robot, 0, name='elbow "2"'),
            '<!-- the one joint --><joint type="revolute" name="elbow &lt;1&gt;">',
            '<!-- the one joint --><joint type="revolute" name="elbow &quot;2&quot;">',
        ),
        (
            replace(robot, name="it's"),
            "        name='sloppy' >",
            "        name='it&apos;s' >",
        ),
        (
            with_link(robot, 1, visuals=(replace(box, name="shell"),)),
            "\t\t<visual><geometry><box size='1 2 3.0'/></geometry></visual>",
            "\t\t<visual name=\"shell\"><geometry><box size='1 2 3.0'/></geometry></visual>",
        ),
        (
            with_link(robot, 1, visuals=(replace(box, xyz=(1.0, 0.0, 0.0)),)),
            "\t\t<visual><geometry><box size='1 2 3.0'/></geometry></visual>",
            '\t\t<visual><origin xyz="1 0 0"/>'
            "<geometry><box size='1 2 3.0'/></geometry></visual>",
        ),
        (
            replace(robot, joints=(elbow, second), links=(*robot.links, Link("hand"))),
            "",
            f'\t<link name="hand"/>{end}\t<joint name="wrist" type="fixed">{end}'
            f'\t\t<origin xyz="0 0 1"/>{end}\t\t<parent link="arm"/>{end}'
            f'\t\t<child link="hand"/>{end}\t</joint>',
        ),
    ]
    for edited, gone, came in cases:
        after = to_text(edited)
        was, now = changed_lines(text, after)
        assert "".join(was) == (gone + end if gone else "")
        assert "".join(now) == (came + end if came else "")
        assert lw.urdf.read(after).robot == edited
        assert to_text(lw.urdf.read(after).robot) == after


def test_what_was_closed_at_once_is_opened():
    joint = '   <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>\n'
    text = f'<robot name="r">\n   <link name="a" />\n{joint}   <link name="b"></link>\n</robot>'
    robot = lw.urdf.read(text).robot
    inside = lw.urdf.read(SLOPPY).robot.links[1].visuals
    links = tuple(replace(link, visuals=inside) for link in robot.links)
    visual = (
        "      <visual>\n         <geometry>\n"
        '            <box size="1 2 3"/>\n         </geometry>\n      </visual>\n   </link>\n'
    )
    assert to_text(replace(robot, links=links)) == (
        f'<robot name="r">\n   <link name="a">\n{visual}{joint}   <link name="b">\n{visual}</robot>'
    )


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ('note="" colour=""', 'colour="" note=""'),
        ('note="" colour="" é=""', 'é="1" note="" colour="2"'),
        ('colour="" note=""', 'note="" more="" colour=""'),
        ("", 'note="" colour=""'),
        ('note="" colour=""', ""),
    ],
)
def test_unknown_attributes_stand_in_the_order_of_the_record(was: str, now: str):
    def text_with(first: str, last: str) -> str:
        return (
            f'<robot name="r">\n<link {first} name="a" {last}><visual>\n'
            f'  <origin {first} {last}/><geometry><box size="1 1 1"/></geometry></visual></link>\n'
            "</robot>"
        )

    other = lw.urdf.read(text_with(now, "")).robot
    for text in (text_with(was, ""), text_with("", was)):
        written = to_text(replace(other, source=lw.urdf.read(text).robot.source))
        assert lw.urdf.read(written).robot == other
        assert ("xyz" in written) == (not now)


def edited(robot: Robot, random: Random) -> tuple[Robot, int]:
    """A small edit of a real robot, and how many lines at most are about it."""
    k, n = int(random.integers(len(robot.joints))), int(random.integers(len(robot.links)))
    joint, link = robot.joints[k], robot.links[n]
    x, y, z = (float(value) for value in random.normal(size=3))
    while True:
        match int(random.integers(8)):
            case 0:
                return with_joint(robot, k, xyz=(x, y, z)), 2
            case 1 if joint.limit is not None:
                return with_joint(robot, k, limit=replace(joint.limit, effort=abs(x))), 1
            case 2:
                return with_joint(robot, k, name="a new name"), 1
            case 3 if link.inertial is not None:
                return with_link(robot, n, inertial=replace(link.inertial, mass=abs(x))), 1
            case 4 if joint.dynamics is None:
                dynamics = lw.urdf.records.Dynamics(abs(x), abs(y))
                return with_joint(robot, k, dynamics=dynamics), 1
            case 5 if joint.limit is not None:
                return with_joint(robot, k, limit=None), 12
            case 6:
                new = Joint("a new joint", "fixed", link.name, "a new link")
                links, joints = (*robot.links, Link("a new link")), (*robot.joints, new)
                return replace(robot, links=links, joints=joints), 5
            case 7 if link.visuals:
                shown = (replace(link.visuals[0], rpy=(x, y, z)), *link.visuals[1:])
                return with_link(robot, n, visuals=shown), 2
            case _:
                k = int(random.integers(len(robot.joints)))
                n = int(random.integers(len(robot.links)))
                joint, link = robot.joints[k], robot.links[n]


@pytest.mark.slow
def test_single_edits_of_real_descriptions_stay_on_their_lines():
    random = rng("edits of files")
    for file in example_robot_urdfs():
        text = file.read_bytes().decode()
        robot = lw.urdf.read(file).robot
        for _ in range(2):
            if not robot.joints:
                continue
            after, most = edited(robot, random)
            data = to_bytes(after)
            assert lw.urdf.read(data).robot == lw.urdf.document(after).robot, file
            before, now = (Counter(t.splitlines(keepends=True)) for t in (text, data.decode()))
            assert (before - now).total() <= most, file
            assert (now - before).total() <= most, file


def test_what_is_taken_out_and_put_back_gives_the_same_text():
    random = rng("out and in")
    for file in example_robot_urdfs()[:12]:
        robot = lw.urdf.read(file).robot
        k = int(random.integers(len(robot.links)))
        links = robot.links[:k] + robot.links[k + 1 :]
        less = replace(robot, links=links)
        text = to_text(less)
        assert len(text) < len(file.read_bytes().decode())
        kept, _ = changed_lines(text, file.read_bytes().decode())
        assert not [line for line in kept if line.strip()], file


# ---- whatever was read, whatever was changed


def same_file(robot: Robot, text: str) -> None:
    """That a text says a robot, its comments too."""
    back = lw.urdf.examine(text).robot
    assert back is not None
    # as truths: a comparison of such records would be explained at great length
    equal = back == robot
    comments = sorted(each for each in COMMENT.findall(to_text(replace(robot, source=None))))
    kept = comments == sorted(each.replace("\r\n", "\n") for each in COMMENT.findall(text))
    assert equal, text
    assert kept, text


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(robots(), robots(), st.integers(0, 3))
def test_any_robot_is_written_into_the_text_of_any_other(one: Robot, other: Robot, way: int):
    text = to_text(one)
    if way == 1:
        text = text.replace("\n", "\r\n")
    elif way == 2:
        text = "".join(line.strip() for line in text.splitlines())
    try:
        source = lw.urdf.read(text).robot.source
    except LinkworkError:
        return
    same_file(other, to_text(replace(other, source=source)))


def test_edits_of_damaged_descriptions_say_what_they_should():
    random = rng("edits of damaged files")
    done = 0
    for _ in range(120):
        data = damaged(random)
        try:
            document = lw.urdf.read(data)
        except LinkworkError:
            continue
        assert to_bytes(document.robot) == data
        try:
            result = EDITS[int(random.integers(len(EDITS)))](document, random)
        except LinkworkError:
            continue
        for after in result if isinstance(result, tuple) else (result,):
            same_file(after.robot, to_text(after.robot))
            done += 1
    assert done > 20
