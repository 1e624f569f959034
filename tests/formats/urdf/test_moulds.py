"""What an element of a known shape becomes, and which shapes have no mould."""

from __future__ import annotations

import pytest

from linkwork.formats.urdf.convert import BadText
from linkwork.formats.urdf.moulds import Mould, made, mould
from linkwork.formats.urdf.nodes import NoMouldError
from linkwork.formats.urdf.plans import new_memos
from linkwork.formats.urdf.problems import Problems
from linkwork.formats.urdf.records import Comment, ExtraAttribute, ExtraElement, Joint, Link
from linkwork.formats.urdf.unknown import Unknown

JOINT: str = """<joint name="j" type="revolute">
  <!-- up -->
  <origin xyz="1 2 3"/>
  <parent link="a"/><child link="b"/>
  <limit upper="2" lower="1" odd="x" effort="3" velocity="4"/>
  <note kind="k">text</note>
</joint>"""


def of(text: str) -> Mould:
    return mould(text.split('"')[::2])


def read(text: str, line: int = 1, position: int = 0) -> Joint | Link:
    """What the text is, by its own mould."""
    recipe = of(text).recipe
    assert recipe is not None
    return made(recipe, text.split('"')[1::2], line, new_memos(), position)


def test_every_value_and_line_and_place():
    joint = read(JOINT, 11, 4)
    assert isinstance(joint, Joint)
    assert (joint.name, joint.type, joint.parent, joint.child) == ("j", "revolute", "a", "b")
    assert joint.xyz == (1.0, 2.0, 3.0)
    assert (joint.line, joint.position) == (11, 4)
    assert joint.layout == ("", "origin", "parent", "child", "limit", "")
    assert joint.limit is not None
    assert (joint.limit.lower, joint.limit.upper) == (1.0, 2.0)
    assert (joint.limit.line, joint.limit.position) == (15, 4)
    (attribute,) = joint.limit.extra
    assert attribute == ExtraAttribute("limit", "odd", "x")
    assert (attribute.line, attribute.position) == (15, None)
    (comment,) = joint.comments
    assert comment == Comment("joint", " up ")
    assert (comment.line, comment.position) == (12, 0)
    (element,) = joint.extra
    assert element == ExtraElement("joint", "note", '<note kind="k">text</note>')
    assert (element.line, element.position) == (16, 5)


def test_other_values_in_the_same_mould():
    found = of(JOINT)
    texts = ["q", "fixed", "0 0 1", "x", "y", "9", "8", "odd", "3", "4", "other"]
    assert found.recipe is not None
    joint = made(found.recipe, texts, 1, new_memos())
    assert (joint.name, joint.type, joint.limit.upper, joint.limit.lower) == ("q", "fixed", 9, 8)
    assert joint.extra[0].xml == '<note kind="other">text</note>'
    own = JOINT.split('"')[1::2]
    again = made(found.recipe, own, 1, new_memos())
    assert again == read(JOINT)


def test_a_matrix_is_packed():
    text = (
        '<link name="l"><inertial><mass value="1"/><inertia izz="6" ixx="1" ixy="2" ixz="3" '
        'iyy="4" iyz="5"/></inertial></link>'
    )
    link = read(text)
    assert isinstance(link, Link)
    assert link.inertial is not None
    assert link.inertial.inertia == ((1.0, 2.0, 3.0), (2.0, 4.0, 5.0), (3.0, 5.0, 6.0))


def test_what_is_found_is_noted_with_line_and_name():
    problems = Problems(None)
    found = of(JOINT)
    for note in found.notes:
        note(Unknown(problems), 20, "j")
    assert found.name == 0
    assert [(p.code, p.line, p.element, p.name) for p in problems.sorted()] == [
        ("unknown-attribute", 24, "limit", "j"),
        ("unknown-element", 25, "note", "j"),
    ]


def test_an_unknown_element_below_the_root_is_kept_as_it_is():
    found = of('<gazebo reference="l"><a:b c="1">t</a:b></gazebo>')
    assert found.recipe is None
    assert found.tag == "gazebo"


@pytest.mark.parametrize(("old", "new"), [('"1 2 3"', '"1 2"'), ('"2"', '"nan"'), ('"j"', '" "')])
def test_a_value_that_is_none_is_refused(old: str, new: str):
    found = of(JOINT)
    texts = JOINT.replace(old, new, 1).split('"')[1::2]
    assert found.recipe is not None
    with pytest.raises(BadText):
        made(found.recipe, texts, 1, new_memos())


@pytest.mark.parametrize(
    "text",
    [
        "<joint/>",
        '<joint name="a" type="b"/>',
        '<joint name="a" name="b"/>',
        '<joint name="a" type="b"><parent link="c"/><parent link="d"/><child link="e"/></joint>',
        '<link name="a"><inertial/></link>',
        '<link name="a">text</link>',
        '<link name="a"><visual>text</visual></link>',
        '<link name="a"/>text',
        '<link name="a"/><link name="b"/>',
        '<link name="a">',
        '<link name="a"></link></robot><robot>',
        "<link name='a'/>",
        "<link name='a' other=\"b\"/>",
        '<link name="a" other=\'"\' third="b"/>',
        '<link name="a"><!-- " --></link>',
        '<link name="a"><!-- " --><visual name="b"/></link>',
        '<link name="a"><?b c?></link>',
        '<link name="a"><link name="b"/></link>',
        '<link name="a"><b:c/></link>',
        '<link name="a" b:c="d"/>',
        '<link name="a" xmlns:c="d"/>',
        '<link name="a"><visual><geometry/></visual></link>',
        '<a:b c="d"/>',
        '<transmission name="t"><type>"</type></transmission>',
        '<transmission name="t" type="a"><type>b</type></transmission>',
        '<transmission name="t"><type>a</type><type>b</type></transmission>',
        f"<gazebo>{'<a>' * 200}{'</a>' * 200}</gazebo>",
    ],
)
def test_shapes_without_a_mould(text: str):
    with pytest.raises(NoMouldError):
        of(text)
