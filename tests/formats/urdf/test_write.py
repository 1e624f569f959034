"""Writing: what is written is read as the same robot, and is written again as the same bytes."""

from __future__ import annotations

import os
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from lxml import etree

from linkwork.errors import DescriptionError, InputError
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import (
    Actuator,
    Box,
    Comment,
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
    TransmissionJoint,
    Visual,
)
from linkwork.formats.urdf.write import to_text
from linkwork.mechanism.from_urdf import from_urdf
from urdf_strategies import robots

FUZZ = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
MODELS = Path(__file__).parents[3] / "src" / "linkwork" / "models"
ZERO = (0.0, 0.0, 0.0)
ONE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def bits(value: Any) -> Any:
    """All that a record says, numbers as text so that -0.0 is not 0.0; comments too."""
    if is_dataclass(value):
        left_out = ("line", "file", "position", "layout")
        pairs = [(f.name, bits(getattr(value, f.name))) for f in fields(value)]
        return type(value).__name__, [pair for pair in pairs if pair[0] not in left_out]
    return [bits(v) for v in value] if isinstance(value, tuple) else repr(value)


def again(robot: Robot) -> str:
    """The text of a robot, after it was seen to be the same robot and the same text when read."""
    text = to_text(robot)
    back = read(text).robot
    assert back == robot
    assert bits(back) == bits(robot)
    assert to_text(back) == text
    return text


# ---- all of the format at random


@FUZZ
@given(robots())
def test_a_robot_reads_back_bit_for_bit_and_its_text_is_stable(robot: Robot):
    again(robot)


WITH_CHILDREN = ("robot", "link", "visual", "collision", "geometry", "inertial", "transmission")


def outline(node: Any) -> list[Any]:
    """Tags and instructions, and the texts of comments, in their order, all the way down."""
    out: list[Any] = []
    for child in node:
        if isinstance(child.tag, str):
            inside = outline(child) if child.tag in (*WITH_CHILDREN, "joint", "actuator") else []
            out.append((child.tag, child.get("name"), inside))
        else:
            out.append((child.tag.__name__, child.text))
    return out


def shuffled(node: Any, random: np.random.Generator) -> None:
    """Put the children of each element into another order, comments among them."""
    for element in [node, *node.iter(*WITH_CHILDREN)]:
        children = list(element)
        element[:] = [children[k] for k in random.permutation(len(children))]


@pytest.mark.slow
@FUZZ
@given(robots(), st.integers(0, 2**32))
def test_any_order_is_kept(robot: Robot, seed: int):
    root = etree.fromstring(to_text(robot).encode())
    shuffled(root, np.random.default_rng(seed))
    text = again(read(etree.tostring(root, encoding="utf-8")).robot)
    assert outline(etree.fromstring(text.encode())) == outline(root)


def everything() -> Robot:
    """One of everything, made in code."""
    mesh = Mesh("package://a/b.stl", (1.0, -1.0, 1.0))
    red = Material("red", (1.0, 0.0, 0.0, 1.0))
    return Robot(
        "all",
        links=(
            Link(
                "a",
                Inertial((0.1, 0.0, -0.0), ZERO, 1.0, ONE),
                (
                    Visual("v", ZERO, ZERO, Box((1.0, 2.0, 3.0)), red),
                    Visual(None, ZERO, ZERO, mesh),
                ),
            ),
            Link("b"),
        ),
        joints=(
            Joint("j", "revolute", "a", "b", (1e-5, 1e22, 0.1), limit=Limit(-1.0, 1.0, 5.0, 2.0)),
        ),
        transmissions=(
            Transmission(
                "t",
                "simple",
                (TransmissionJoint("j", ("x/Effort", "y/Position")),),
                (Actuator("m", "50"),),
            ),
        ),
        materials=(red, Material("wood", None, "wood.png")),
        version="1.0",
    )


def test_what_is_made_in_code_is_written_in_the_order_of_the_table():
    assert (
        again(everything())
        == """<?xml version="1.0" encoding="UTF-8"?>
<robot name="all" version="1.0">
  <link name="a">
    <inertial>
      <origin xyz="0.1 0 -0"/>
      <mass value="1"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
    </inertial>
    <visual name="v">
      <geometry>
        <box size="1 2 3"/>
      </geometry>
      <material name="red">
        <color rgba="1 0 0 1"/>
      </material>
    </visual>
    <visual>
      <geometry>
        <mesh filename="package://a/b.stl" scale="1 -1 1"/>
      </geometry>
    </visual>
  </link>
  <link name="b"/>
  <joint name="j" type="revolute">
    <origin xyz="1e-5 1e22 0.1"/>
    <parent link="a"/>
    <child link="b"/>
    <limit lower="-1" upper="1" effort="5" velocity="2"/>
  </joint>
  <transmission name="t">
    <type>simple</type>
    <joint name="j">
      <hardwareInterface>x/Effort</hardwareInterface>
      <hardwareInterface>y/Position</hardwareInterface>
    </joint>
    <actuator name="m">
      <mechanicalReduction>50</mechanicalReduction>
    </actuator>
  </transmission>
  <material name="red">
    <color rgba="1 0 0 1"/>
  </material>
  <material name="wood">
    <texture filename="wood.png"/>
  </material>
</robot>
"""
    )


# ---- comments, order and unknown things in a file

COMMENTED = """<?xml version="1.0" encoding="UTF-8"?>
<?xml-model href="urdf.xsd"?>
<!-- before -->
<robot name="r" xmlns:gz="urn:gz">
  <!-- first -->
  <material name="m">
    <!-- in a material -->
    <color rgba="0 0 0 1"/>
  </material>
  <link name="a">
    <!-- in a link -->
    <visual>
      <geometry>
        <!-- in a geometry -->
        <sphere radius="1"/>
        <!-- after
     the sphere -->
      </geometry>
      <!-- between -->
      <origin xyz="0 0 1">
        <!-- in an origin -->
        <gz:pose/>
      </origin>
    </visual>
    <gz:plugin a="1"><b/></gz:plugin>
    <collision>
      <geometry shape="none"/>
    </collision>
  </link>
  <joint name="j" type="continuous">
    <axis xyz="1 0 0"/>
    <!-- the child first -->
    <child link="b"/>
    <parent link="a"/>
    <mimic joint="k"/>
  </joint>
  <gazebo reference="a"/>
  <!-- the other link -->
  <link name="b"/>
  <transmission name="t" type="old">
    <actuator name="x">
      <!-- before the text -->
      <mechanicalReduction>1</mechanicalReduction>
      <hardwareInterface f="1">H<!-- in a text --></hardwareInterface>
      <hardwareInterface f="2">I<odd/></hardwareInterface>
    </actuator>
    <joint name="j"/>
  </transmission>
  <link name="c"/>
  <joint name="k" type="continuous">
    <parent link="b"/>
    <!-- no axis -->
    <child link="c"/>
  </joint>
  <!-- last -->
</robot>
<!-- after -->
"""


def test_comments_order_and_unknown_xml_stay_where_they_are():
    assert again(read(COMMENTED).robot) == COMMENTED


def test_what_is_added_follows_the_record_before_it():
    robot = read(COMMENTED).robot
    a, b, c = robot.links
    fixed = Joint("n", "fixed", "a", "new")
    more = replace(robot, links=(a, Link("new"), b, c), joints=(*robot.joints, fixed))
    lines = again(more).splitlines()
    tops = [line.strip() for line in lines if line.startswith("  <") and line[3] not in "/!"]
    assert [line for line in tops if "link name" in line] == [
        '<link name="a">',
        '<link name="new"/>',
        '<link name="b"/>',
        '<link name="c"/>',
    ]
    assert tops[tops.index('<link name="new"/>') - 1] == '<link name="a">'
    assert tops[-1] == '<joint name="n" type="fixed">'


def test_what_is_taken_away_leaves_the_rest_in_order():
    robot = read(COMMENTED).robot
    less = replace(robot, links=robot.links[:2], joints=robot.joints[:1])
    less = replace(less, joints=(replace(less.joints[0], mimic=None),))
    text = again(less)
    assert '"k"' not in text and "the child first" in text
    assert text.index("last") > text.index("transmission")


def test_records_in_another_order_are_written_in_it():
    robot = read(COMMENTED).robot
    assert [link.name for link in robot.links] == ["a", "b", "c"]
    turned = replace(robot, links=robot.links[::-1])
    assert [link.name for link in read(again(turned)).robot.links] == ["c", "b", "a"]


def test_an_element_that_had_no_place_gets_one():
    robot = read(COMMENTED).robot
    joint = replace(robot.joints[1], xyz=(1.0, 0.0, 0.0), limit=Limit(0.0, 1.0, 1.0, 1.0))
    text = again(replace(robot, joints=(robot.joints[0], joint)))
    part = text[text.index('<joint name="k"') :]
    tags = ["<origin", "<parent", "<child", "<limit"]
    assert [part.index(tag) for tag in tags] == sorted(part.index(tag) for tag in tags)


def test_comments_made_in_code_come_first():
    link = Link(
        "a", comments=(Comment("link", " new "),), extra=(ExtraElement("link", "b", "<b/>"),)
    )
    robot = Robot("r", (link,), comments=(Comment("", " by us "), Comment("robot", " in ")))
    assert again(robot).splitlines()[1:5] == [
        "<!-- by us -->",
        '<robot name="r">',
        "  <!-- in -->",
        '  <link name="a">',
    ]


def test_defaults_that_the_file_did_not_write_are_not_written():
    text = (
        "<robot name='r'><link name='a'/><link name='b'/><link name='c'/>"
        "<joint name='k' type='continuous'><parent link='a'/><child link='c'/></joint>"
        "<joint name='j' type='continuous'><origin rpy='1 0 0'/><parent link='a'/><child link='b'/>"
        "<mimic joint='k'/><dynamics damping='1'/></joint></robot>"
    )
    written = again(read(text).robot).partition("\n")[2]
    for name in ("xyz", "multiplier", "offset", "friction", "scale", "axis", "version"):
        assert name not in written


def test_a_placement_that_says_nothing_stays_where_it_stands():
    text = (
        "<robot name='r'><link name='a'><visual><origin xyz='0 0 0' rpy='0 0 0'/>"
        "<geometry><sphere radius='1'/></geometry></visual><inertial><mass value='1'/><origin/>"
        "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link></robot>"
    )
    document = read(text)
    written = again(document.robot)
    assert written.count('<origin xyz="0 0 0" rpy="0 0 0"/>') == 2
    assert written.index("<mass") < written.rindex("<origin") < written.index("<inertia ")


def test_zero_with_a_sign_is_no_default():
    robot = Robot("r", (Link("a", Inertial((0.0, -0.0, 0.0), ZERO, 1.0, ONE)),))
    assert 'xyz="0 -0 0"' in again(robot)


@pytest.mark.parametrize(
    "name",
    ['"', "'", "<&>", "a\tb", "a\nb", "a\r\nb", " a ", "é名🤖", "]]>", "&amp;", "--", "%s", "\x7f"],
)
def test_every_name_that_xml_can_hold_reads_back(name: str):
    link = Link(name, extra=(ExtraAttribute("link", "note", name),))
    text = again(Robot(name, (link,), transmissions=(Transmission(name, name.strip()),)))
    assert etree.fromstring(text.encode()).get("name") == name  # another reader agrees


@pytest.mark.parametrize("space", ["\u00a0", "\u0085", "\u2028", "\u3000"])
def test_what_is_no_white_space_to_xml_is_kept(space: str):
    one = Transmission("t", f"{space}a{space}", actuators=(Actuator("m", space, (space,)),))
    again(
        Robot("r", (Link("a"),), transmissions=(one,), comments=(Comment("", space, target="p"),))
    )


@pytest.mark.parametrize(
    "inside", ["", "<joint name='j'/>", "<type> y </type>", "<type><!-- c --></type>"]
)
def test_the_type_of_a_transmission_is_the_same_text_in_either_form(inside: str):
    drive = f'<transmission name="t" type="&#10; x\t&#9;&#160; ">{inside}</transmission>'
    robot = read(f'<robot name="r"><link name="a"/>{drive}</robot>').robot
    assert robot.transmissions[0].type == "x \t\u00a0"
    text = again(robot)
    assert ("<!-- c -->" in text) == ("c" in inside)


@pytest.mark.parametrize("inside", ["<type>Y</type>", "<type>X</type>", "<type a='1'>Y<b/></type>"])
def test_a_transmission_with_both_forms_of_its_type_keeps_both(inside: str):
    drive = f'<transmission name="t" type="X">{inside}<joint name="j"/></transmission>'
    document = read(f'<robot name="r"><link name="a"/>{drive}</robot>', keep_source=True)
    (drawn,) = document.robot.transmissions
    assert drawn.type == "X" and [extra.xml for extra in drawn.extra] == [inside]
    (said,) = [p for p in document.problems if p.code == "doubled"]
    assert said.line == 1 and said.name == "t" and "attribute counts" in said.hint
    assert drive in to_text(document.robot)  # as it stood
    text = again(replace(document.robot, source=None))
    assert 'type="X"' in text and inside in text
    changed = replace(drawn, type="W", name="u")
    text = to_text(replace(document.robot, transmissions=(changed,)))
    assert 'type="W"' in text and 'name="u"' in text and inside in text
    lonely = replace(document.robot, transmissions=(replace(drawn, type=None),))
    with pytest.raises(InputError, match="<type> is an element of URDF"):
        to_text(replace(lonely, source=None))


def test_numbers_of_other_types_are_written_as_numbers():
    box = Box(np.array([1, 2.5, np.float32(0.5)]))  # type: ignore[arg-type]
    inertial = Inertial([0, 0, 1], ZERO, np.float64(2), np.eye(3, dtype=int))  # type: ignore
    shown = Visual(None, ZERO, ZERO, box)
    text = to_text(Robot("r", (Link("a", inertial, (shown,)),)))
    assert read(text).robot.links[0].inertial == Inertial((0.0, 0.0, 1.0), ZERO, 2.0, ONE)
    assert 'size="1 2.5 0.5"' in text and 'value="2"' in text


# ---- what no file can hold

J = Joint("j", "fixed", "a", "b")
NAN = float("nan")


def of(**changes: Any) -> Robot:
    return replace(Robot("r", (Link("a"), Link("b")), (J,)), **changes)


def link(**changes: Any) -> Robot:
    return of(links=(replace(Link("a"), **changes), Link("b")))


def joint(**changes: Any) -> Robot:
    return of(joints=(replace(J, **changes),))


def extra(*extras: Any) -> Robot:
    return link(extra=extras)


def inertial(**changes: Any) -> Robot:
    return link(inertial=replace(Inertial(ZERO, ZERO, 1.0, ONE), **changes))


REFUSED: dict[str, tuple[Robot, str]] = {
    "nan": (inertial(mass=NAN), "link 'a' / inertial: attribute 'value': nan is not finite"),
    "infinite": (
        joint(xyz=(0.0, float("inf"), 0.0)),
        "joint 'j': attribute 'xyz': inf is not finite",
    ),
    "huge": (joint(xyz=(0.0, 1e101, 0.0)), "joint 'j': attribute 'xyz': 1e+101 is too large"),
    "two numbers": (joint(rpy=(0.0, 0.0)), "joint 'j': attribute 'rpy': 3 numbers are needed"),
    "a text for numbers": (
        joint(axis="1 0 0"),
        "attribute 'xyz': 3 numbers are needed, not '1 0 0'",
    ),
    "a text for a number": (inertial(mass="1"), "attribute 'value': '1' (str) is not a number"),
    "a truth": (inertial(mass=True), "attribute 'value': True (bool) is not a number"),
    "a big integer": (inertial(mass=2**53 + 1), "has no float64"),
    "a bigger integer": (inertial(mass=10**400), "too large"),
    "not symmetric": (inertial(inertia=((1, 2, 0), (0, 1, 0), (0, 0, 1))), "not symmetric"),
    "not 3x3": (inertial(inertia=(1.0,) * 6), "field 'inertia': a 3x3 matrix"),
    "nan in a matrix": (inertial(inertia=((1, 0, 0), (0, NAN, 0), (0, 0, 1))), "'iyy': nan"),
    "no name": (link(name=""), "link: attribute 'name': the name is empty"),
    "a control character": (
        link(name="a\0"),
        r"attribute 'name': XML cannot hold the character '\x00'",
    ),
    "a lone surrogate": (link(name="\ud800"), r"XML cannot hold the character '\ud800'"),
    "no character": (link(name="\ufffe"), r"XML cannot hold the character '\ufffe'"),
    "a long name": (link(name="x" * 70_000), "longer than 65536"),
    "a number as name": (link(name=3), "attribute 'name': 3 (int) is not a text"),
    "a joint type": (
        joint(type="hinge"),
        "joint 'j': attribute 'type': unknown joint type 'hinge'",
    ),
    "no parent": (joint(parent=None), "joint 'j': attribute 'link' is missing"),
    "a follower": (joint(mimic=Mimic("a\1")), "joint 'j' / mimic: attribute 'joint': XML"),
    "no tuple": (of(links=None), "robot 'r': field 'links': a tuple, not NoneType"),
    "no record": (of(links=("a",)), "robot 'r': field 'links': Link, not str"),
    "another record": (of(joints=(Link("a"),)), "robot 'r': field 'joints': Joint, not Link"),
    "no shape": (
        link(visuals=(Visual(None, ZERO, ZERO, Link("x")),)),  # type: ignore[arg-type]
        "link 'a' / visual: field 'geometry': Box or Cylinder",
    ),
    "white space": (of(transmissions=(Transmission("t", " a"),)), "field 'type': ' a' has white"),
    "prefix": (extra(ExtraElement("link", "p:a", "<p:a/>")), "link 'a': extra: unbound prefix"),
    "attribute prefix": (extra(ExtraAttribute("link", "p:a", "")), "link 'a': extra: unbound"),
    "twice": (extra(*[ExtraAttribute("link", "a", "1")] * 2), "attribute 'a' twice"),
    "bad attribute": (extra(ExtraAttribute("link", "1a", "1")), "link 'a': extra: not well-formed"),
}


@pytest.mark.parametrize("robot, said", REFUSED.values(), ids=REFUSED)
def test_what_no_file_could_hold_is_refused_by_record_and_field(robot: Robot, said: str):
    with pytest.raises(InputError) as caught:
        to_text(robot)
    assert said in str(caught.value)


def test_only_robots_are_written():
    with pytest.raises(InputError, match="not Link"):
        to_text(Link("a"))  # type: ignore[arg-type]


# ---- files that are about


def files() -> list[Path]:
    found = sorted(MODELS.rglob("*.urdf"))
    prefix = Path(os.__file__).parent / "site-packages" / "cmeel.prefix"
    found += sorted((prefix / "share" / "example-robot-data").rglob("*.urdf"))
    if folder := os.environ.get("LINKWORK_CORPUS"):
        found += sorted(Path(folder).rglob("*.urdf"))
    return found


def test_files_read_back_the_same_and_move_the_same():
    read_one = 0
    for path in files():
        try:
            document = read(path)
        except DescriptionError:
            continue
        read_one += 1
        text = again(document.robot)
        before, after = (replace(from_urdf(d), findings=()) for d in (document, read(text)))
        assert after.digest == before.digest, path  # findings know lines, which differ
    assert read_one >= 5


# ---- extras


def unknown(tag: str, xml: Any, within: str = "robot") -> ExtraElement:
    return ExtraElement(within, tag, xml)


def plain(name: Any, value: Any = "", within: str = "robot") -> ExtraAttribute:
    return ExtraAttribute(within, name, value)


GOOD = [
    unknown("a", "<a/>"),
    unknown("a", "<a ></a >"),
    unknown("a", "<a x='>/'>/></a>"),
    unknown("a-b", "<a-b\n/>"),
    unknown("a", "<a><a/></a>"),
    unknown("a", "<a><!-- </a> --><link name='x'/></a>"),
    plain("é", "<&\"'\n"),
    plain("xml:id"),
]


@pytest.mark.parametrize("extra", GOOD, ids=repr)
def test_what_is_one_thing_reads_back(extra: Any):
    robot = Robot("r", (Link("l"),), extra=(extra,))
    assert read(to_text(robot)).robot == robot


BAD: list[tuple[Any, str]] = [
    (unknown("a", "<b/>"), "does not begin"),
    (unknown("a", "<ab/>"), "does not begin"),
    (unknown("a", " <a/>"), "does not begin"),
    (unknown("a", ""), "does not begin"),
    (unknown("a", "<?xml version='1.0'?><a/>"), "does not begin"),
    (unknown("a", "<!DOCTYPE a><a/>"), "does not begin"),
    (unknown("a", "<a/><link name='evil'/>"), "not this one element"),
    (unknown("a", "<a/> "), "not this one element"),
    (unknown("a", "<a/><!-- c -->"), "not this one element"),
    (unknown("a", "<a></a><!-- </a>-->"), "not this one element"),
    (unknown("a", "<a>"), "not this one element"),
    (unknown("a", "<a></a><a></a>"), "broken XML"),
    (unknown("a", "<a></b></a>"), "broken XML"),
    (unknown("a", "<a x=1/>"), "broken XML"),
    (unknown("a", "<a>&e;</a>"), "broken XML"),
    (unknown("a", "<a>\0</a>"), "broken XML"),
    (unknown("a", "<a>\ud800</a>"), "broken XML"),
    (unknown("a", 3), "a tag and a text"),
    (unknown("link", "<link/>"), "element of URDF"),
    (unknown("joint", "<joint/>"), "element of URDF"),
    (unknown("a", "<a/>", "link"), "'link' is no element of <robot>"),
    (unknown("a", "<a/>", ""), "no element of <robot>"),
    (plain("name"), "an attribute of URDF"),
    (plain("a b"), "no name"),
    (plain('a="1" b'), "no name"),
    (plain(""), "no name"),
    (plain(3), "not a text"),
    (plain("a", 3), "not a text"),
    (plain("a", "\x1f"), "cannot hold"),
    ("<a/>", "no extra"),
]


@pytest.mark.parametrize("extra, words", BAD, ids=repr)
def test_what_would_read_back_as_something_else_is_refused(extra: Any, words: str):
    with pytest.raises(InputError) as caught:
        to_text(Robot("r", (Link("l"),), extra=(extra,)))
    assert words in str(caught.value) and "robot 'r'" in str(caught.value)


@pytest.mark.parametrize(
    "comment",
    [
        Comment("robot", "a--b"),
        Comment("robot", "a-"),
        Comment("robot", "a\rb"),
        Comment("robot", "\0"),
        Comment("robot", 3),  # type: ignore[arg-type]
        Comment("robot", "a?>", target="p"),
        Comment("robot", " a", target="p"),
        Comment("robot", "a", target="xml"),
        Comment("robot", "a", target="p q"),
        Comment("link", "a"),
        "a",
    ],
    ids=repr,
)
def test_comments_that_would_end_early_are_refused(comment: Any):
    with pytest.raises(InputError):
        to_text(Robot("r", (Link("l"),), comments=(comment,)))


def test_long_comments_are_kept():
    comment = Comment("robot", "x" * 200_000)
    robot = read(to_text(Robot("r", (Link("l"),), comments=(comment,)))).robot
    assert robot.comments == (comment,)
    with pytest.raises(InputError, match="cannot hold"):
        to_text(replace(robot, comments=(Comment("robot", "x" * 100_000 + "\0"),)))
