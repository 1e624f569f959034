"""Reading against a second, plain reader (lxml and float), lines, and the shape of what comes."""

from __future__ import annotations

import copy
import importlib.metadata
import pickle
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from linkwork.errors import DescriptionError
from linkwork.formats.urdf.convert import LONGEST
from linkwork.formats.urdf.read import DEEPEST, LONGEST_TAG, read
from linkwork.formats.urdf.records import Link, Mesh

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
    for records, tag in ((link.visuals, "visual"), (link.collisions, "collision")):
        shapes = element.findall(tag)
        assert len(records) == len(shapes)
        for record, shape in zip(records, shapes, strict=True):
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
        for records, tag, same in (
            (robot.links, "link", same_link),
            (robot.joints, "joint", same_joint),
        ):
            elements = root.findall(tag)
            assert len(records) == len(elements)
            for record, element in zip(records, elements, strict=True):
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


def test_a_path_object_gives_the_file_name(tmp_path: Path):
    path = tmp_path / "x.urdf"
    path.write_text('<robot name="r"><link name="a"/></robot>')
    assert read(path).robot.file == str(path)


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
