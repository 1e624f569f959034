"""Reading: against a plain reader (lxml and float), lines, places, errors, unknown things."""

from __future__ import annotations

import copy
import gc
import importlib.metadata
import pickle
import time
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from linkwork.errors import DescriptionError, Finding
from linkwork.formats.urdf import records
from linkwork.formats.urdf.convert import LONGEST
from linkwork.formats.urdf.findings import MOST, Findings
from linkwork.formats.urdf.read import DEEPEST, LONGEST_TAG, read
from linkwork.formats.urdf.records import (
    Box,
    Document,
    ExtraAttribute,
    ExtraElement,
    Joint,
    Link,
    Mesh,
    Robot,
)
from linkwork.formats.urdf.write import to_text

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


# ---- against a plain reader

# faulty: a leader that does not exist, a robot without a name
FAULTY = ("alex_psyonic_hands.urdf", "ur3.urdf")


def example_files() -> list[Path]:
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data (pip install example-robot-data) is not installed")
    return sorted(Path(str(file.locate())) for file in files if file.suffix == ".urdf")


def three(element: Any, path: str, name: str, default: str) -> tuple[float, ...]:
    found = element.find(path)
    text = default if found is None else found.get(name, default)
    return tuple(float(part) for part in text.split())


def number(element: Any, path: str, name: str) -> float | None:
    found = element.find(path)
    text = None if found is None else found.get(name)
    return None if text is None else float(text)


def same_joint(joint: Any, element: Any) -> None:
    assert joint.name == element.get("name")
    assert joint.type == element.get("type")
    assert joint.parent == element.find("parent").get("link")
    assert joint.child == element.find("child").get("link")
    assert joint.xyz == three(element, "origin", "xyz", "0 0 0")
    assert joint.rpy == three(element, "origin", "rpy", "0 0 0")
    assert joint.axis == three(element, "axis", "xyz", "1 0 0")
    for name in ("lower", "upper", "effort", "velocity"):
        assert (getattr(joint.limit, name) if joint.limit else None) == number(
            element, "limit", name
        )
    mimic = element.find("mimic")
    assert (joint.mimic is None) == (mimic is None)
    if mimic is not None:
        assert joint.mimic.joint == mimic.get("joint")
        assert joint.mimic.multiplier == float(mimic.get("multiplier", "1"))
        assert joint.mimic.offset == float(mimic.get("offset", "0"))


def same_link(link: Any, element: Any) -> None:
    assert link.name == element.get("name")
    inertial = element.find("inertial")
    assert (link.inertial is None) == (inertial is None)
    if inertial is not None:
        assert link.inertial.mass == number(inertial, "mass", "value")
        assert link.inertial.xyz == three(inertial, "origin", "xyz", "0 0 0")
        assert link.inertial.inertia[0][2] == number(inertial, "inertia", "ixz")
        assert link.inertial.inertia[2][1] == number(inertial, "inertia", "iyz")
        assert link.inertial.inertia[1][1] == number(inertial, "inertia", "iyy")
    for shown, tag in ((link.visuals, "visual"), (link.collisions, "collision")):
        shapes = element.findall(tag)
        assert len(shown) == len(shapes)
        for record, shape in zip(shown, shapes, strict=True):
            assert record.xyz == three(shape, "origin", "xyz", "0 0 0")
            assert record.rpy == three(shape, "origin", "rpy", "0 0 0")
            mesh = shape.find("geometry/mesh")
            assert isinstance(record.geometry, Mesh) == (mesh is not None)
            if mesh is not None:
                assert record.geometry.filename == mesh.get("filename")
                assert record.geometry.scale == three(shape, "geometry/mesh", "scale", "1 1 1")


def test_real_robots_are_read_as_a_plain_reader_reads_them():
    files = [path for path in example_files() if path.name not in FAULTY]
    assert len(files) >= 60
    for path in files:
        robot = read(path).robot
        root = etree.parse(str(path)).getroot()
        lines = path.read_text(encoding="utf-8").split("\n")
        assert robot.name == root.get("name")
        assert robot.file == str(path)
        for several, tag, same in (
            (robot.links, "link", same_link),
            (robot.joints, "joint", same_joint),
        ):
            elements = root.findall(tag)
            assert len(several) == len(elements)
            for record, element in zip(several, elements, strict=True):
                same(record, element)
                # libxml2 gives the line on which a start tag ends, we the one it begins on
                assert f"<{tag}" in lines[record.line - 1], (path, record.name)
                assert element.sourceline - 4 <= record.line <= element.sourceline


def test_the_faulty_ones_are_refused_with_the_reason():
    found = {path.name: path for path in example_files() if path.name in FAULTY}
    assert len(found) == 2
    with pytest.raises(DescriptionError) as caught:
        read(found["ur3.urdf"])
    assert {problem.code for problem in caught.value.problems} == {"missing-attribute", "no-link"}
    with pytest.raises(DescriptionError, match="mimics joint 'index_q1', which does not exist"):
        read(found["alex_psyonic_hands.urdf"])


@pytest.mark.parametrize("break_", ["\n", "\r\n", "\r"])
def test_lines_are_exact_however_long_the_file_is(break_: str):
    lines = ['<robot name="r">', *[""] * 70_000, '<link name="a"/>', '<link name="b"/>', "</robot>"]
    with pytest.raises(DescriptionError) as caught:
        read(break_.join(lines).encode())
    assert caught.value.problems[0].line == 70_003  # the second root
    assert "(line 70002)" in str(caught.value)


def test_lines_across_pieces_of_the_input():
    # the reader hands expat a megabyte at a time: tags that straddle the border
    for fill in range((1 << 20) - 60, (1 << 20) + 5, 7):
        text = (
            '<robot name="r"><!--'
            + "x" * fill
            + '-->\n<link\n name="aé"/><gazebo>é</gazebo></robot>'
        )
        robot = read(text.encode()).robot
        assert (robot.links[0].name, robot.links[0].line) == ("aé", 2)
        assert robot.extra[0].xml == "<gazebo>é</gazebo>"


def test_every_record_knows_its_line():
    text = """<robot name="r">
      <link name="a">
        <inertial>
          <mass value="1"/> <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
        <visual>
          <geometry>
            <box size="1 1 1"/></geometry>
          <material name="m"><color rgba="1 1 1 1"/></material></visual></link>
      <link name="b"/>
      <joint name="j" type="revolute"><parent link="a"/><child link="b"/>
        <limit lower="0" upper="1" effort="1" velocity="1"/>
        <dynamics damping="1"/></joint></robot>"""
    robot = read(text).robot
    link, joint = robot.links[0], robot.joints[0]
    visual = link.visuals[0]
    records = (robot, link, link.inertial, visual, visual.geometry, visual.material)
    assert [record.line for record in records] == [1, 2, 3, 5, 7, 8]
    assert [record.line for record in (joint, joint.limit, joint.dynamics)] == [10, 11, 12]


def test_a_transmission_in_both_forms():
    new = (
        '<transmission name="t"><type> a/B </type><joint name="j"><hardwareInterface>E'
        "</hardwareInterface><hardwareInterface>F</hardwareInterface></joint><actuator name='m'>"
        "<mechanicalReduction>50</mechanicalReduction></actuator></transmission>"
    )
    old = '<transmission name="t" type="a/B"><joint name="j"/><actuator name="m"/></transmission>'
    robot = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed">'
        '<parent link="a"/><child link="b"/></joint>%s</robot>'
    )
    (first,) = read(robot % new).robot.transmissions
    (second,) = read(robot % old).robot.transmissions
    assert first.type == second.type == "a/B"
    assert first.joints[0].hardware_interfaces == ("E", "F")
    assert first.actuators[0].mechanical_reduction == "50"
    assert second.joints[0].hardware_interfaces == ()


def test_materials_stay_where_they_are_written():
    text = """<robot name="r"><material name="red"><color rgba="1 0 0 1"/></material>
      <link name="a"><visual><geometry><box size="1 1 1"/></geometry><material name="red"/></visual>
      <visual><geometry><box size="1 1 1"/></geometry><material name="">
        <texture filename="package://x/y.png"/></material></visual></link></robot>"""
    document = read(text)
    assert document.robot.materials[0].rgba == (1, 0, 0, 1)
    first, second = (visual.material for visual in document.robot.links[0].visuals)
    assert (first.name, first.rgba, first.texture) == ("red", None, None)
    assert (second.name, second.texture) == ("", "package://x/y.png")
    assert not document.problems


def test_depth_is_limited_exactly():
    def nested(depth: int) -> str:
        # <robot> is the first level
        inner = "<a>" * (depth - 1) + "</a>" * (depth - 1)
        return f'<robot name="r"><link name="a"/>{inner}</robot>'

    assert read(nested(DEEPEST)).robot.extra
    with pytest.raises(DescriptionError) as caught:
        read(nested(DEEPEST + 1))
    assert [problem.code for problem in caught.value.problems] == ["too-deep"]


@pytest.mark.parametrize(
    "place",
    [
        '<robot name="{}"><link name="a"/></robot>',
        '<robot name="r"><link name="a"/><gazebo x="{}"/></robot>',
        '<robot name="r"><link name="a"/><gazebo><y x="{}"/></gazebo></robot>',
        '<robot name="r" odd="{}"><link name="a"/></robot>',
        '<robot name="r" xmlns:x="{}"><link name="a"/></robot>',
        '<robot name="r"><link name="a"/><{}/></robot>',
        '<robot name="r"><link name="a"/><transmission name="t"><type>{}</type></transmission>'
        "</robot>",
    ],
)
def test_the_length_of_texts_is_limited_exactly(place: str):
    read(place.format("x" * LONGEST))
    with pytest.raises(DescriptionError) as caught:
        read(place.format("x" * (LONGEST + 1)))
    assert [problem.code for problem in caught.value.problems] == ["too-long"]


def test_the_length_of_tags_and_comments_is_limited():
    text = '<robot name="r"><link name="a"/><!--{}--></robot>'
    read(text.format("x" * (LONGEST_TAG - 100)))
    with pytest.raises(DescriptionError) as caught:
        read(text.format("x" * (LONGEST_TAG + (2 << 20))))
    assert [problem.code for problem in caught.value.problems] == ["too-long"]


# ---- where things stand

PLACED = """<!-- one -->
<?style x ?>
<robot name="r">
  <!-- two --><gazebo/>
  <link name="a">
    <visual><!-- v --><geometry><!-- g --><box size="1 1 1"/></geometry><origin a="1"/></visual>
  </link>
  <!-- three -->
</robot>
<!-- four -->"""


def test_everything_knows_its_place():
    robot = read(PLACED).robot
    (link,) = robot.links
    (visual,) = link.visuals
    box = visual.geometry
    assert box is not None
    assert [(c.within, c.text, c.position, c.line, c.target) for c in robot.comments] == [
        ("", " one ", 0, 1, ""),
        ("", "x ", 1, 2, "style"),
        ("robot", " two ", 0, 4, ""),
        ("robot", " three ", 3, 8, ""),
        ("", " four ", 3, 10, ""),
    ]
    assert (robot.position, link.position, visual.position, box.position) == (2, 2, 0, 3)
    assert [extra.position for extra in (*robot.extra, *visual.extra)] == [1, 4]
    assert visual.layout == ("", "geometry", "", "box", "origin")
    assert [(c.within, c.position) for c in visual.comments] == [("visual", 0), ("geometry", 2)]


def test_comments_in_unknown_elements_are_part_of_them():
    robot = read('<robot name="r"><link name="a"/><gazebo><!-- c --><?p?></gazebo></robot>').robot
    assert robot.comments == ()
    assert [extra.xml for extra in robot.extra] == ["<gazebo><!-- c --><?p?></gazebo>"]


def test_what_stands_in_a_doubled_element_goes_with_it():
    text = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed">
      <safety_controller x="1"/><safety_controller x="2"><!-- c --></safety_controller>
      <parent link="a"/><child link="b"/></joint></robot>"""
    (joint,) = read(text).robot.joints
    assert joint.safety is not None
    assert [extra.name for extra in joint.safety.extra] == ["x"]
    visual = "<visual><origin x='1'><a/></origin>{}<geometry/></visual>"
    doubled = visual.format("<origin x='2'><!-- c --><a/><b/></origin>")
    once, twice = (
        read(f'<robot name="r"><link name="a">{v}</link></robot>').robot.links[0].visuals[0]
        for v in (visual.format(""), doubled)
    )
    assert once == twice
    assert [extra.position for extra in twice.extra] == [0, 1]
    assert twice.comments == ()
    assert twice.layout == ("origin", "", "origin", "geometry")


def test_equal_layouts_are_held_once():
    text = '<robot name="r"><link name="a"><visual/><visual/></link></robot>'
    text = text.replace("<visual/>", "<visual><origin/><geometry/></visual>")
    first, second = read(text).robot.links[0].visuals
    assert first.layout == ("origin", "geometry")
    assert first.layout is second.layout


def test_white_space_inside_a_text_is_kept():
    text = "<robot name='r'><link name='a'/><transmission name='t'><type>a<!-- --> <?p?>b</type>"
    (transmission,) = read(text + "</transmission></robot>").robot.transmissions
    assert transmission.type == "a b"


def test_a_finding_before_an_unknown_attribute_is_told_once():
    text = '<robot name="r"><link name="a"><visual><geometry><sphere radius="-1" x="2"/>'
    problems = read(text + "</geometry></visual></link></robot>").problems
    assert [problem.code for problem in problems] == ["range", "unknown-attribute"]


def test_records_from_a_draft_are_records():
    robot = read('<robot name="r"><link name="a"/></robot>').robot
    (link,) = robot.links
    assert type(link) is Link and link == Link("a") and hash(link) == hash(Link("a"))
    assert repr(link) == repr(replace(Link("a"), line=1, position=0))
    assert pickle.loads(pickle.dumps(link)) == link == copy.deepcopy(link)
    with pytest.raises(FrozenInstanceError):
        setattr(link, "name", "b")  # noqa: B010 -- a plain assignment pyright refuses


# ---- odd files


def robot(inside: str, attributes: str = "") -> Document:
    return read(f'<robot name="r"{attributes}><link name="a"/>{inside}</robot>')


def codes(document: Document) -> list[tuple[str, str]]:
    return [(problem.level, problem.code) for problem in document.problems]


def errors(text: str) -> list[Finding]:
    with pytest.raises(DescriptionError) as caught:
        read(text)
    return list(caught.value.problems)


KEPT = [
    '<gazebo reference="a">\n <x y="1">t</x><!-- c --> </gazebo>',
    "<gazebo/>",
    '<gazebo a="b>c" />',
    "<gazebo\n  a='\"/>'\n/>",
    "<gazebo></gazebo\n>",
    "<gazebo><gazebo/></gazebo>",
    '<gazebo><link name="q"/><robot/></gazebo>',
    "<gazebo><![CDATA[</gazebo>]]>é名</gazebo>",
    "<gazebo><?pi </gazebo> ?></gazebo>",
]


@pytest.mark.parametrize("xml", KEPT)
@pytest.mark.parametrize("after", ["", "<gazebo/>", "text", "<!-- > -->"])
def test_an_extension_is_kept_to_the_letter(xml: str, after: str):
    extra = robot(xml + after).robot.extra
    assert extra[0] == ExtraElement("robot", "gazebo", xml)
    assert len(extra) == 1 + (after == "<gazebo/>")


def test_where_an_extension_stood_is_known():
    document = read(
        '<robot name="r">\n<gazebo/>\n<link name="a">\n<visual><geometry><odd/>'
        '<box size="1 1 1"/></geometry></visual><sensor/></link>\n<ros2_control/></robot>'
    )
    first, last = document.robot.extra
    assert (first.tag, first.position, first.line) == ("gazebo", 0, 2)
    assert (last.tag, last.position, last.line) == ("ros2_control", 2, 5)
    link = document.robot.links[0]
    assert [(e.within, e.tag, e.position) for e in link.extra] == [("link", "sensor", 1)]
    assert [(e.within, e.tag) for e in link.visuals[0].extra] == [("geometry", "odd")]
    assert codes(document) == [("note", "unknown-element")]


def test_extensions_with_name_spaces():
    document = robot('<s:cam s:x="1"><s:y/></s:cam>', ' xmlns:s="urn:s" xml:lang="en"')
    name_space, language, camera = sorted(document.robot.extra, key=str)
    assert name_space == ExtraAttribute("robot", "xml:lang", "en")
    assert language == ExtraAttribute("robot", "xmlns:s", "urn:s")
    assert camera == ExtraElement("robot", "s:cam", '<s:cam s:x="1"><s:y/></s:cam>')


def test_a_default_name_space_changes_nothing():
    visual = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    text = f'<robot name="r"{{}}><link name="a">{visual}</link></robot>'
    document = read(text.format(' xmlns="http://www.ros.org"'))
    assert document.robot.links == read(text.format("")).robot.links
    assert document.robot.extra == (ExtraAttribute("robot", "xmlns", "http://www.ros.org"),)


def test_unknown_attributes_are_kept_and_named():
    document = read('<robot name="r"><link name="a" nmae="x" colour="red" type="laser"/></robot>')
    link = document.robot.links[0]
    assert link.name == "a"
    assert link.extra == (
        ExtraAttribute("link", "nmae", "x"),
        ExtraAttribute("link", "colour", "red"),
        ExtraAttribute("link", "type", "laser"),
    )
    (problem,) = document.problems
    assert (problem.level, problem.code) == ("warning", "unknown-attribute")
    assert "'nmae', 'colour', 'type'" in problem.message
    assert "'name'" in problem.hint


def test_an_unknown_attribute_hides_no_known_one():
    origin = '<origin foo="1" xyz="1 2 3" rpy="0 0 1"/>'
    text = f'<robot name="r"><link name="a"><visual>{origin}</visual></link></robot>'
    visual = read(text).robot.links[0].visuals[0]
    assert (visual.xyz, visual.rpy) == ((1, 2, 3), (0, 0, 1))


def test_slips_are_warned_about_with_the_right_word():
    (problem,) = robot("<materail name='x'/>").problems
    assert (problem.level, problem.hint) == ("warning", "did you mean <material>?")
    (problem,) = robot("<zzz/>").problems
    assert problem.level == "note"
    assert "<link>, <joint>" in problem.hint
    assert codes(robot("<origin/>")) == [("warning", "unknown-element")]


def test_links_and_joints_in_the_wrong_place_are_errors():
    (problem,) = errors('<robot name="r"><link name="a">\n<link name="b"/></link></robot>')
    assert (problem.code, problem.line, problem.element) == ("misplaced", 2, "link")
    assert errors('<robot name="r"><link name="a"><joint/></link></robot>')[0].code == "misplaced"


def test_what_may_stand_once():
    document = read(
        '<robot name="r"><link name="a"><inertial><mass value="1"/><mass value="2"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
        '<visual><geometry><box size="1 2 3"/><sphere radius="1"/></geometry></visual>'
        "</link></robot>"
    )
    assert document.robot.links[0].inertial.mass == 1.0
    assert document.robot.links[0].visuals[0].geometry == Box((1, 2, 3))
    assert codes(document) == [("warning", "doubled")] * 2
    joint = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed">'
        '<parent link="a"/><child link="b"/>%s</joint></robot>'
    )
    for double in (
        '<parent link="b"/>',
        "<origin/><origin/>",
        "<limit/><limit/>",
    ):
        assert "doubled" in [problem.code for problem in errors(joint % double)]


def test_text_between_elements_is_remarked_on():
    (problem,) = robot("\n>> oops").problems
    assert (problem.level, problem.code) == ("warning", "stray-text")
    assert ">> oops" in problem.message
    assert not robot(" \n\t ").problems


@pytest.mark.parametrize("inside", ["<x:p/>", '<x:macro name="m"><link/></x:macro>'])
def test_xacro_that_is_left_over_is_kept_and_not_used(inside: str):
    text = (
        f'<robot name="r" xmlns:x="http://www.ros.org/wiki/xacro"><link name="a"/>{inside}</robot>'
    )
    document = read(text)
    (problem,) = document.problems
    assert (problem.level, problem.code) == ("warning", "xacro")
    assert "expand" in problem.hint
    assert [link.name for link in document.robot.links] == ["a"]
    assert inside in to_text(document.robot)


def test_missing_things_say_what_they_are():
    visual = "<visual><geometry><sphere/></geometry></visual>"
    text = f'<robot name="r"><link name="a"><inertial/>{visual}</link></robot>'
    found = {(p.code, p.element, p.name) for p in errors(text)}
    assert found == {
        ("missing-attribute", "sphere", "a"),
    }
    (problem,) = read('<robot name="r"><link name="a"><visual/></link></robot>').problems
    assert "<geometry> is missing" in problem.message


@pytest.mark.slow
def test_many_unknown_elements_do_not_take_long():
    start = time.process_time()
    document = robot("".join(f"<odd{k}/>" for k in range(20_000)))
    assert time.process_time() - start < 5
    assert len(document.robot.extra) == 20_000
    assert document.problems[-1].message.startswith("10000 more")


# ---- records

RECORDS = [r for r in vars(records).values() if is_dataclass(r) and r is not records.Finding]


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: r.__name__)
def test_records_are_small_and_have_no_dict(record: type):
    assert all("__slots__" in vars(kind) for kind in record.__mro__[:-1])
    assert all(f.name == "problems" or f.init for f in fields(record))


def test_place_does_not_count_but_content_does():
    assert Link("a", line=3) == Link("a", line=9)
    assert hash(Link("a", line=3)) == hash(Link("a", line=9))
    assert Robot("r", file="x") == Robot("r", file="y")
    assert ExtraElement("robot", "a", "<a/>", position=1) == ExtraElement("robot", "a", "<a/>")
    assert Link("a") != Link("b")
    assert Box((1.0, 1.0, 1.0)) != Box((1.0, 1.0, 2.0))


def test_defaults_are_those_of_the_standard():
    joint = Joint("j", "revolute", "a", "b")
    assert (joint.xyz, joint.rpy, joint.axis) == ((0, 0, 0), (0, 0, 0), (1, 0, 0))
    assert joint.limit is None
    assert records.Limit().lower is None
    assert (records.Mimic("j").multiplier, records.Mimic("j").offset) == (1.0, 0.0)


# ---- Collecting problems: by line, bounded, errors apart from findings


def test_problems_come_by_line_and_findings_are_no_errors():
    problems = Findings("robot.urdf")
    problems.add("warning", "b", "second", line=9)
    assert not problems.failed
    problems.add("error", "c", "third", line=12, element="link", name="a\nb")
    problems.add("note", "a", "first", line=2)
    assert problems.failed
    assert [p.code for p in problems.sorted()] == ["a", "b", "c"]
    error = problems.error()
    assert isinstance(error, DescriptionError)
    assert [p.code for p in error.problems] == ["c"]
    assert str(error) == "robot.urdf:12: error: <link> 'a\\nb': third"


@pytest.mark.parametrize("level", ["error", "note"])
def test_past_the_limit_problems_are_counted(level):
    problems = Findings(None)
    for line in range(MOST + 7):
        problems.add(level, "x", "y", line=line)
    listed = problems.sorted()
    assert len(listed) == MOST + 1
    assert "7 more" in listed[-1].message


def test_errors_are_kept_where_findings_are_too_many():
    problems = Findings(None)
    for line in range(MOST + 7):
        problems.add("note", "x", "y", line=line)
    problems.add("error", "bad", "z", line=1)
    assert problems.error().problems[0].code == "bad"


def test_near_names_are_looked_for_a_few_times_only():
    problems = Findings(None)
    assert "elbow" in problems.nearest("elbwo", ["elbow", "wrist"])
    assert "there are 2" in problems.nearest("q", ["elbow", "wrist"])
    for _ in range(30):
        problems.nearest("elbwo", ["elbow"])
    assert problems.nearest("elbwo", ["elbow"]) == "there are 1"
