"""The quick way through a file gives what the reader of events gives, problem by problem."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from document_mutations import SAMPLE, damaged
from linkwork.errors import DescriptionError, Problem
from linkwork.formats.urdf import cuts
from linkwork.formats.urdf.problems import Problems
from linkwork.formats.urdf.reader import Reader
from linkwork.formats.urdf.records import Robot
from linkwork.formats.urdf.source import gather
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


@pytest.fixture(autouse=True)
def forgetful() -> Iterator[None]:
    cuts.forget()
    yield
    cuts.forget()


def chain(n: int, head: str = "<robot name='chain'>\n") -> str:
    links = [LINK.format(name=f"l{k}", mass=1 + k / 7) for k in range(n + 1)]
    joints = [
        JOINT.format(name=f"j{k}", parent=f"l{k}", child=f"l{k + 1}", y=k / 3, upper=k)
        for k in range(n)
    ]
    return head + "".join(links) + "".join(joints) + "</robot>\n"


def read(data: bytes, smallest: int) -> tuple[str, tuple[Problem, ...]]:
    """All of what is read, as text: it has the fields that do not count for equality too."""
    patch = pytest.MonkeyPatch()
    patch.setattr(cuts, "SMALLEST", smallest)
    problems = Problems("some.urdf")
    try:
        robot = Reader(data, problems).read()
    finally:
        patch.undo()
    return repr(robot), problems.sorted()


def same(data: bytes) -> None:
    """Cut up as it is, and when every shape is known, as by events alone."""
    expected = read(data, 1 << 40)
    for _ in range(3):
        assert read(data, 0) == expected


def cut_out(data: bytes, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lines on which elements begin that were read by a mould."""
    lines: list[int] = []
    take = cuts.Cuts.take

    def watched(self: cuts.Cuts, piece: str, line: int) -> bool:
        taken = take(self, piece, line)
        if taken and not piece.startswith("<!--"):
            lines.append(line)
        return taken

    with monkeypatch.context() as patch:
        patch.setattr(cuts.Cuts, "take", watched)
        read(data, 0)
    return lines


def test_elements_of_a_shape_that_came_before_are_cut_out(monkeypatch: pytest.MonkeyPatch):
    data = chain(9).encode()
    first = cut_out(data, monkeypatch)
    assert len(first) == 9 + 8  # ten links and nine joints, without the first of each
    assert len(cut_out(data, monkeypatch)) == 19
    same(data)


@settings(deadline=None, max_examples=150)
@given(robots())
def test_random_robots(robot: Robot):
    same(to_text(robot).encode())


def test_damaged_files():
    random = rng("damaged files in two ways")
    for text in (SAMPLE, chain(4)):
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
    for text in ("<robot name='r'/>", "<robot name='r'></robot>", "<robot name='r'> \n </robot>"):
        same(text.encode())


def test_an_element_after_one_that_is_not_cut_out_keeps_its_line_and_place():
    text = chain(6).replace('upper="2"', 'upper="two"').replace('name="l4"', 'name="&#108;4"')
    robot = Reader(text.encode(), problems := Problems(None)).read()
    assert robot is not None
    assert problems.failed
    rows = text.split("\n")
    for record in (*robot.links, *robot.joints):
        shown = rows[record.line - 1].replace("&#108;", "l")
        assert f'name="{record.name}"' in shown
    assert [record.position for record in (*robot.links, *robot.joints)] == list(range(13))


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cuts, "MOST", 20)
    monkeypatch.setattr(cuts, "SMALLEST", 0)
    for k in range(50):
        line = f'<gazebo><a{k}/></gazebo><material name="a"{" " * k}/>'
        Reader(f"<robot name='r'>{line * 3}</robot>".encode(), Problems(None)).read()
        assert cuts.remembered() <= 40


def test_a_long_shape_is_not_remembered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cuts, "SMALLEST", 0)
    long = f"<gazebo>{'<a/>' * 9000}</gazebo>"
    Reader(f"<robot name='r'>{long * 3}</robot>".encode(), Problems(None)).read()
    assert cuts.remembered() == 0


def test_bytes_outside_ascii_are_read_from_their_place():
    text = chain(4).replace("turns", "dreht für sich 🤖").replace('name="l2"', 'name="ü2"')
    same(text.replace('link="l2"', 'link="ü2"').replace("</link>", "<é/></link>", 2).encode())
