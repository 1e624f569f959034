"""The quick way through a file gives what the reader of events gives, problem by problem."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from document_mutations import SAMPLE, damaged
from linkwork import models
from linkwork.errors import DescriptionError
from linkwork.formats.urdf import moves, quick
from linkwork.formats.urdf.plans import new_memos
from linkwork.formats.urdf.problems import Findings
from linkwork.formats.urdf.reader import Reader
from linkwork.formats.urdf.records import Robot
from linkwork.formats.urdf.source import gather
from linkwork.formats.urdf.unknown import Unknown
from linkwork.formats.urdf.write import to_text
from seeds import rng
from urdf_strategies import robots

JOINT = """  <joint name="{name}" type="revolute">
    <!-- turns -->
    <parent link="{parent}"/>
    <child link="{child}"/>
    <origin xyz="0 {y} 0.5" rpy="0 0 0"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1" upper="{upper}" effort="9" velocity="2"/>
  </joint>
"""
LINK = """  <link name="{name}">
    <inertial>
      <mass value="{mass}"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="{mass}" iyz="0" izz="1"/>
    </inertial>
  </link>
"""
PLAIN = re.sub(r"<.xml-model.*?>|<p:safe.*?>|&\\w+;", "", SAMPLE)


@pytest.fixture(autouse=True)
def forgetful() -> Iterator[None]:
    moves.forget()
    yield
    moves.forget()


def chain(n: int, head: str = '<robot name="chain">\n') -> str:
    links = [LINK.format(name=f"l{k}", mass=1 + k / 7) for k in range(n + 1)]
    joints = [
        JOINT.format(name=f"j{k}", parent=f"l{k}", child=f"l{k + 1}", y=k / 3, upper=k)
        for k in range(n)
    ]
    return head + "".join(links) + "".join(joints) + "</robot>\n"


def taken(data: bytes) -> bool:
    """Whether the quick way takes it."""
    return quick.read(data, new_memos(), Unknown(Findings(None))) is not None


def same(data: bytes) -> bool:
    """Read both ways, as text: that has the fields that do not count for equality too."""
    by_events = Reader(data, expected := Findings("some.urdf")).by_events()
    for _ in range(2):  # the second time every move is known
        robot = Reader(data, problems := Findings("some.urdf")).read()
        assert repr(robot) == repr(by_events)
        assert problems.sorted() == expected.sorted()
    return taken(data)


def test_a_good_file_is_taken():
    assert same(chain(9).encode())
    assert same(PLAIN.encode())


@pytest.mark.parametrize("name", ["panda", "ur5e"])
def test_models(name: str):
    assert same(Path(models.path(name)).read_bytes())


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(robots())
def test_random_robots(robot: Robot):
    data = to_text(robot).encode()
    assert same(data) or b"&" in data or b"\r" in data or len(data) > quick.LARGEST


def test_damaged_files():
    random = rng("damaged files in two ways")
    for text in (SAMPLE, PLAIN, chain(4)):
        for _ in range(150):
            try:
                data, _ = gather(damaged(random, text.encode()), None)
            except DescriptionError:
                continue  # no text at all
            same(data)


def test_values_that_are_wrong_or_odd():
    data = chain(5)
    for old, new in (
        ('upper="3"', 'upper="three"'),
        ('upper="3"', 'upper="nan"'),
        ('upper="3"', 'upper="1_0"'),
        ('upper="3"', 'upper="\u0663"'),
        ('upper="3"', 'upper="  3\t"'),
        ('upper="3"', 'upper="3\n"'),
        ('upper="3"', 'upper="&#51;"'),
        ('upper="3"', 'upper="3" extra="a&lt;b"'),
        ('upper="3"', "upper='3'"),
        ('upper="3"', "upper='3' note='\"'"),
        ('effort="9"', 'effort="-9"'),
        ('"revolute"', '"revolut"'),
        ('name="l3"', 'name="l\t3"'),
        ('name="l3"', 'name=" l3"'),
        ('name="l3"', 'name="lé3"'),
        ('name="l3"', 'name=""'),
        ("0.5", "1e200"),
        ('name="l3"', f'name="{"x" * 70000}"'),
        ('name="l3"', f'name="l3" colour="{"x" * 70000}"'),
    ):
        assert old in data
        same(data.replace(old, new).encode())


def test_things_between_elements_and_inside():
    data = chain(5)
    for old, new in (
        ("  </joint>\n", "  </joint> text\n"),
        ("  </joint>\n", "  text </joint>\n"),
        ("  </joint>\n", "  </joint >\n"),
        ("  </joint>\n", "  </joint>\r\n"),
        ("  </joint>\n", "  </joint>\r"),
        ("  </joint>\n", "  <?editor on?></joint>\n"),
        ("  </joint>\n", "  <![CDATA[ ]]></joint>\n"),
        ("  </joint>\n", "  </joint><gazebo a='/>'><link name='x'/></gazebo>\n"),
        ("  </joint>\n", '  </joint><gazebo a="/>" b=">"/>\n'),
        ("  </joint>\n", '  </joint>\n<gazebo reference="l1"><a:b c="1"/></gazebo>\n'),
        ("  </joint>\n", '  </joint><x:gazebo a="1"/>\n'),
        ("  </joint>\n", '  </joint><gazebo xmlns:y="y"/>\n'),
        ("  </joint>\n", '  </joint><joint xmlns:y="y" name="a" type="fixed"/>\n'),
        ("  </joint>\n", '<origin xyz="0 0 0"/></joint>\n'),
        ("  </joint>\n", '<sensor kind="a"><b/>t</sensor></joint>\n'),
        ("  </joint>\n", '<link name="inner"></link></joint>\n'),
        ("  </joint>\n", '<!-- </joint> "quoted" <a b="c"/> --></joint>\n'),
        ("  </joint>\n", '<!-- "one --></joint>\n'),
        (
            "  </link>\n",
            '  <visual><geometry><mesh filename="m" x="1"/></geometry></visual></link>\n',
        ),
        ("  </link>\n", '  <visual><geometry><ball r="1"/></geometry></visual></link>\n'),
        ("  </link>\n", "  <visual/></link>\n"),
        ("  </link>\n", '</link><link name="s"/>\n'),
        ("  </link>\n", '</link><material name="m"><color rgba="1 0 0 1"/></material>\n'),
        ("  </link>\n", "</link><!-- </robot> -->\n"),
        ("</robot>", "</robot><!-- </robot> --><!-- after -->"),
        ("</robot>", "stray</robot>"),
        ("</robot>", "<transmission name='t'/></robot>"),
        (
            "  </link>\n",
            '</link>\n<transmission name="t"><type>a</type><joint name="j1">'
            "<hardwareInterface>b</hardwareInterface><offset>1</offset>"
            '</joint><actuator name="a"><mechanicalReduction>2</mechanicalReduction>'
            '<role kind="x">r</role></actuator></transmission>\n',
        ),
    ):
        assert old in data
        changed = data.replace(old, new)
        same(changed.encode())
        same(
            changed.replace("<robot ", '<!-- a > b --><robot xmlns:a="u" xmlns:x="v" ', 1).encode()
        )


@pytest.mark.parametrize(
    "head",
    [
        "<robot\n name='r' version='1.0'\n odd='>'>",
        "\ufeff<?xml version='1.0'?>\n<robot name='r'>",
        "<?xml version='1.0'?>\n<!-- <robot name='no'> -->\n<robot name='r'>\n",
        '<robot\n name="r" version="1.0"\n odd=">">',
        '\ufeff<?xml version="1.0"\n encoding="utf-8"?>\n<robot name="r">',
        '<?xml version="1.0"?>\n<!-- <robot name="no"> -->\n<robot name="r">\n',
        '<robot name="r" xmlns="default">',
        '<robot name="r" xmlns:a="">',
        '<a:robot xmlns:a="u" name="r">',
        "<robot name='r' xmlns='default'>",
        "<robot>",
        "<robots name='r'>",
        "<!DOCTYPE robot><robot name='r'>",
        "<a:robot xmlns:a='u' name='r'>",
    ],
)
def test_heads(head: str):
    text = chain(4, head)
    name = head.rpartition("<")[2].split()[0].rstrip(">")
    same(text.replace("</robot>", f"</{name}>").encode())
    same(text.encode())


def test_empty_roots():
    for text in ('<robot name="r"/>', '<robot name="r"></robot>', '<robot name="r"> \n </robot>'):
        assert same(text.encode())


def test_lines_and_places():
    text = chain(6).replace("  <joint", "\n  <!-- one\n  more -->\n  <joint")
    assert taken(text.encode())
    robot = Reader(text.encode(), Findings(None)).read()
    assert robot is not None
    rows = text.split("\n")
    for record in (*robot.links, *robot.joints):
        assert f'name="{record.name}"' in rows[record.line - 1]
    assert [record.position for record in robot.links] == list(range(7))
    assert [record.position for record in robot.joints] == list(range(8, 20, 2))


def test_bytes_outside_ascii_are_read_from_their_place():
    text = chain(4).replace("turns", "dreht für sich 🤖").replace('name="l2"', 'name="ü2"')
    same(text.replace('link="l2"', 'link="ü2"').replace("</link>", "<é/></link>", 2).encode())


def test_where_what_urdf_does_not_have_comes_from():
    inside = (
        '<gazebo a="1"><!-- "one" -->t<b c="2">\n<!--two--> <d/></b></gazebo>',
        '<sensor\n  kind="a"\n  other="b"><mass value="x"/>quoted: 1</sensor>',
        '<gazebo><link name="x"/><type>a</type></gazebo>',
        "<mechanicalReduction>1</mechanicalReduction>",
        '<gazebo a="' + "x" * 1500 + '"/>',
    )
    for k in range(len(inside)):
        for tag in ("</joint>", "</inertial>", "</link>"):
            piece = "<!-- before -->" + "\n".join((*inside[k:], *inside[:k]))
            text = chain(3).replace(tag, f"{piece}{tag}{piece if tag != '</inertial>' else ''}")
            assert same(text.encode())


def test_attributes_that_urdf_does_not_have():
    for old, new in (
        ('effort="9"', 'D="1" effort="9"\n mu="2" K="3"'),
        ('xyz="0 0 1"', 'a="1"\n\n b="2"\n xyz="0 0 1" c=""'),
        ('name="l2"', 'first="1" name="l2" type="laser"'),
        ('<robot name="chain">', '<robot a="1" name="chain" b="2" xmlns:x="u" xmlns:y="v">'),
    ):
        text = chain(4)
        assert old in text
        assert same(text.replace(old, new).encode())
    many = " ".join(f'a{k}="1"' for k in range(400))
    assert not same(chain(2).replace('effort="9"', f'effort="9" {many}').encode())
    spaces_first = '<robot xmlns:x="u" a="1" name="chain">'
    assert not same(chain(2, spaces_first).encode())


def test_texts_of_transmissions():
    transmission = """<transmission name="t" {type}>{first}
      <joint name="j1"><hardwareInterface>a/b</hardwareInterface>
        <hardwareInterface> c </hardwareInterface></joint>
      <actuator name="m"><mechanicalReduction>{ratio}</mechanicalReduction></actuator>
    </transmission></robot>"""
    for old, first, ratio, quickly in (
        ("", "<type>k</type>", "1", True),
        ("", "<type></type>", "\n1\n", True),
        ("", "<type/>", "-1.5e3", True),
        ('type="SimpleTransmission"', "", "1", True),
        ('type="SimpleTransmission"', "<type>k</type>", "1", False),
        ("", "<type>k</type><type>l</type>", "1", False),
        ("", "<type>k<!-- l --></type>", "1", False),
        ("", "<type>k</type>", "'1'", True),
        ("", "<type>k</type>", '"1"', False),
        ("", '<type a="1">k</type>', "1", False),
        ("", "<type>k</type>", "x" * 70000, False),
        ("", "<leader><type>k</type></leader>", "1", True),
    ):
        text = transmission.format(type=old, first=first, ratio=ratio)
        data = chain(2, '<robot name="r">\n').replace("</robot>", text).encode()
        assert same(data) == quickly, (old, first, ratio[:10])


def test_large_files_and_records_of_many_parts():
    visual = '<visual><geometry><sphere radius="1"/></geometry></visual>'
    for n in (50, 300):
        many = chain(2).replace("</link>", visual * n + "</link>")
        assert same(many.encode()) == (n == 50)
    assert not same(chain(2).replace("</robot>", f"<!--{' ' * quick.LARGEST}--></robot>").encode())
    deep = "<a>" * 150 + "</a>" * 150
    assert not same(chain(2).replace("</link>", f"<gazebo>{deep}</gazebo></link>").encode())
