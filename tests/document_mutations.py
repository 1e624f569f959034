"""Descriptions that somebody has damaged, and the whole way that a damaged one may go.

`damaged` changes bytes or elements of a good file. `through` reads what comes of it, writes, edits,
writes again and computes: everything on that way either works exactly or is refused by one error of
our own.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeAlias
from xml.parsers import expat

import numpy as np
from lxml import etree

import linkwork as lw
from linkwork.errors import DescriptionError, Finding, LinkworkError
from linkwork.formats import tree_text
from linkwork.formats.urdf.records import Document, Joint, Robot
from linkwork.mechanism.neutral import neutral
from robots import model_poses, random_configuration

Random: TypeAlias = np.random.Generator

SAMPLE = """<?xml version="1.0" encoding="UTF-8"?>
<?xml-model href="urdf.xsd"?>
<!-- a robot with everything that a file may hold -->
<robot name="sample" version="1.0" xmlns:p="urn:p">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <!-- the part that stands -->
  <link name="base">
    <inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="2.5"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual name="shell"><origin xyz="0 0 1e-2"/><geometry><box size="1 2 3"/></geometry>
      <material name="grey"/></visual>
    <collision><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision>
  </link>
  <link name="arm"><visual><geometry>
    <mesh filename="package://sample/meshes/arm.stl" scale="0.001 0.001 -0.001"/></geometry>
    <material name="wood"><texture filename="meshes/wood.png"/></material></visual></link>
  <link name="hand"><collision name="c"><geometry><capsule radius="0.1" length="0.2"/></geometry>
    <p:safe p:level="3"/></collision></link>
  <link name="tool"/> <link name="table"/> <link name="ball"><visual>
    <geometry><sphere radius="0.05"/></geometry></visual></link>
  <joint name="shoulder" type="revolute">
    <!-- turned --> <origin xyz="0.1 0 0.5" rpy="0 1.57 0.3"/><parent link="base"/>
    <child link="arm"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-1.5" upper="1.5" effort="10" velocity="2"/>
    <dynamics damping="0.1" friction="0.2"/><calibration rising="0.1"/>
    <safety_controller k_velocity="10" soft_lower_limit="-1"/></joint>
  <joint name="slide" type="prismatic"><parent link="arm"/><child link="hand"/>
    <origin xyz="0.2 0 0"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.5" effort="10" velocity="2"/>
    <mimic joint="shoulder" multiplier="0.1" offset="0.05"/></joint>
  <joint name="flange" type="fixed"><parent link="hand"/><child link="tool"/></joint>
  <joint name="plane" type="planar"><parent link="base"/><child link="table"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="free" type="floating"><parent link="table"/><child link="ball"/></joint>
  <transmission name="drive"><type>x/Simple</type><joint name="shoulder">
    <hardwareInterface>x/Effort</hardwareInterface></joint><actuator name="motor">
    <mechanicalReduction>50</mechanicalReduction></actuator></transmission>
  <gazebo reference="arm"><selfCollide>true</selfCollide><!-- in --></gazebo>
  <ros2_control name="c" type="system"><joint name="slide"><param name="mimic">shoulder</param>
    </joint></ros2_control>
  <sensor name="eye"><parent link="tool"/></sensor>
</robot>
<!-- the end -->
"""

VALUES = [
    *("nan", "inf", "1e308", "-1e308", "5e-324", "1e100", "-1e100", "-0", "", " ", "0", "1", "-1"),
    *("0 0 0", "1 2", "1 2 3 4", "1e999", "1e-400", "007", "+1", ".5", "5.", "0x10", "1,5", "1_0"),
    *("0.1 -0.2 1e99", "1e-200 0 0", "3 4 0", "0 0 -2", "7 7 7", "0.30000000000000004 1e22 1e-5"),
    *("base", "arm", "hand", "tool", "shoulder", "slide", "grey", "__class__", "__init__", "None"),
    *("fixed", "floating", "planar", "continuous", "revolute", "prismatic", "Fixed", "ball"),
    *("]]>", "<&>\"'", "--", "${x}", "$(find x)", "a\nb"),
    *("\t", "\r", "\u202e", "\ufeff", "é", "名"),
    *("../../etc/passwd", "file:///dev/zero", "http://127.0.0.1:9/x", "~"),
    *("%s", "{0}", "x" * 60000),
    *("\u0663", "\u2212" + "1", "1\xa00 0", "\x85", "\u2028", "a:b", "x" * 70000),
]
"""What attributes are given."""

NAMES = [
    *("name", "type", "xyz", "rpy", "link", "joint"),
    *("value", "size", "radius", "filename", "lower"),
    *("multiplier", "offset", "rgba"),
    *("note", "reference", "{http://www.w3.org/XML/1998/namespace}id"),
    *("{urn:p}q", "{urn:q}q", "é"),
]
"""Attributes that elements are given."""

TAGS = [
    *("link", "joint", "origin", "axis", "limit", "mimic", "visual", "geometry", "box", "mesh"),
    *("inertial", "inertia", "mass", "material", "color"),
    *("parent", "child", "transmission", "robot"),
    *("capsule", "odd", "{urn:p}odd", "{urn:q}odd", "gazebo", "type", "Link", "dynamics", "é"),
]

TOKENS = [
    *(b"<", b">", b'"', b"/>", b"&", b"nan", b"1e999", b"-", b" ", b"\0", b"\xff", b"\n", b'""'),
    *(b"<!--", b"-->", b"]]>", b"<![CDATA[x]]>", b'name="', b"\xc3\xa9", b"<?x y?>", b"1e308"),
    *(b'<link name="x"/>', b"<joint>", b"<!DOCTYPE r>", b"link", b"fixed", b"&#10;", b"&#13;"),
    *(b"&lt;", b"&e;", b"&#x202e;", b"&amp;", b"${x}", b"xmlns:q='urn:q' ", b"\xe2\x80\xa8"),
]


# ---- damage


def damaged(random: Random, data: bytes = SAMPLE.encode()) -> bytes:
    """The file with a few elements or bytes of it changed."""
    if random.random() < 0.65:
        data = with_other_elements(random, data)
        if random.random() < 0.75:
            return data
    return with_other_bytes(random, data)


def with_other_bytes(random: Random, data: bytes) -> bytes:
    """One to four small changes of bytes, without regard to what they are."""
    text = bytearray(data)
    for _ in range(int(random.choice([1, 1, 1, 2, 4]))):
        i, k = (int(at) for at in random.integers(len(text), size=2))
        j = min(len(text), i + int(random.choice([1, 2, 5, 20, 100, 500])))
        token = TOKENS[int(random.integers(len(TOKENS)))]
        match int(random.integers(6)):
            case 0:
                del text[i:j]
            case 1:
                text[i:i] = token
            case 2:
                text[i] = int(random.integers(256))
            case 3:
                text[k:k] = text[i:j]
            case 4:
                text[i:j] = token
            case _:
                lines = bytes(text).split(b"\n")
                a, b = (int(at) for at in random.integers(len(lines), size=2))
                lines[a], lines[b] = lines[b], lines[a]
                text = bytearray(b"\n".join(lines))
        text = text or bytearray(b"<")
    return bytes(text)


def with_other_elements(random: Random, data: bytes) -> bytes:
    """One to three changes that leave XML: elements, attributes, comments, texts, encoding."""
    root = etree.fromstring(data)
    for _ in range(int(random.choice([1, 1, 2, 3]))):
        _CHANGES[int(random.integers(len(_CHANGES)))](random, root)
    encoding = str(random.choice(["utf-8", "utf-8", "utf-8", "utf-16", "us-ascii"]))
    return etree.tostring(root.getroottree(), encoding=encoding, xml_declaration=True)


def _any(random: Random, root: Any, *, comments: bool = False) -> Any:
    """An element below the root, or the root where there is none; a comment perhaps."""
    nodes = [node for node in root.iter() if comments or isinstance(node.tag, str)]
    return nodes[int(random.integers(min(1, len(nodes) - 1), len(nodes)))]


def _one(random: Random, several: list[str]) -> str:
    return several[int(random.integers(len(several)))]


def _delete(random: Random, root: Any) -> None:
    node = _any(random, root, comments=True)
    if node.getparent() is not None:
        node.getparent().remove(node)


def _double(random: Random, root: Any) -> None:
    node = _any(random, root, comments=True)
    if node.getparent() is not None:
        twin = copy.deepcopy(node)
        twin.tail = None
        target = node.getparent() if random.random() < 0.5 else _any(random, root)
        target.insert(int(random.integers(len(target) + 1)), twin)


def _exchange(random: Random, root: Any) -> None:
    one, other = _any(random, root, comments=True), _any(random, root, comments=True)
    if one in other.iter() or other in one.iter():
        return
    mark = etree.Comment("mark")
    one.getparent().replace(one, mark)
    other.getparent().replace(other, one)
    mark.getparent().replace(mark, other)


def _move(random: Random, root: Any) -> None:
    node, target = _any(random, root, comments=True), _any(random, root)
    if node is not root and target not in node.iter():
        target.insert(int(random.integers(len(target) + 1)), node)


def _rename(random: Random, root: Any) -> None:
    node = _any(random, root)
    if node is not root:
        node.tag = _one(random, TAGS)


def _value(random: Random, root: Any) -> None:
    for _ in range(10):
        node = _any(random, root)
        if node.attrib:
            name = str(_one(random, list(node.attrib)))
            node.set(name, _one(random, VALUES))
            return


def _copied_value(random: Random, root: Any) -> None:
    values = [value for node in root.iter() for value in node.attrib.values()]
    node = _any(random, root)
    if values and node.attrib:
        node.set(str(_one(random, list(node.attrib))), _one(random, values))


def _attribute(random: Random, root: Any) -> None:
    node = _any(random, root)
    if node.attrib and random.random() < 0.5:
        del node.attrib[str(_one(random, list(node.attrib)))]
    else:
        node.set(_one(random, NAMES), _one(random, VALUES))


def _comment(random: Random, root: Any) -> None:
    node = _any(random, root)
    text = _one(random, [" new ", "", "<link name='x'/>", "é\u202e", "\n\n", " - ", "x" * 9999])
    made = etree.Comment(text) if random.random() < 0.7 else etree.ProcessingInstruction("q", text)
    node.insert(int(random.integers(len(node) + 1)), made)


def _text(random: Random, root: Any) -> None:
    node = _any(random, root)
    node.text = _one(random, [v for v in VALUES if v not in ("\ufeff",)])


def _shuffle(random: Random, root: Any) -> None:
    node = _any(random, root) if random.random() < 0.7 else root
    children = list(node)
    node[:] = [children[k] for k in random.permutation(len(children))]


_CHANGES: list[Callable[[Random, Any], None]] = [
    *(_delete, _double, _exchange, _move, _rename, _value, _value, _value, _copied_value),
    *(_attribute, _comment, _text, _shuffle, _shuffle),
]


# ---- the whole way


def through(data: bytes, random: Random) -> bool:
    """Read, examine, write, edit, write, load; whether the file was accepted."""
    examined = lw.urdf.examine(data)
    try:
        document = lw.urdf.read(data)
    except DescriptionError as error:
        assert examined.failed
        assert [p for p in examined.problems if p.level == "error"] == list(error.problems)
        located(error)
        return False
    assert not examined.failed
    assert examined.robot == document.robot
    assert set(document.problems) <= set(examined.problems)
    kept(document, mended=MENDED)
    pictures(document)
    moves(document, random)
    for result in edited(document, random):
        kept(result)
        pictures(result)
        moves(result, random)
    return True


LOCATED = re.compile(r"^[^\n]+?(:[1-9]\d*)?: error: \S")


def located(error: DescriptionError) -> None:
    """Each line of an error about a file says file and line."""
    for line in str(error).split("\n"):
        assert LOCATED.match(line), line


MENDED = ("stray-text", "doubled", "missing-attribute", "missing-element")
"""Findings of a file that are gone once it is written by us, as what was too much is left out."""


def kept(document: Document, *, mended: tuple[str, ...] = ()) -> str:
    """Written, a document reads back bit for bit, and its text is stable; the text.

    What was doubtful still is, but for findings of codes ``mended`` and those of edits.
    """
    text = lw.urdf.to_text(document.robot)
    back = lw.urdf.read(text)
    assert back.robot == document.robot
    assert bits(back.robot) == bits(document.robot)
    assert lw.urdf.to_text(back.robot) == text
    assert not lw.urdf.diff(document, back)
    # text that belongs to nothing stays where it stood, though an edit no longer speaks of it
    gone = (*MENDED, *mended, "name-left", "frame-moved")
    now, before = findings(back.problems, gone), findings(document.problems, gone)
    if "doubled" in mended and any(p.code == "doubled" for p in document.problems):
        assert not now - before  # what was in the second one of them is gone
    else:
        assert now == before, (now - before, before - now)
    return text


def findings(problems: Iterable[Finding], without: Container[str] = ()) -> Counter[tuple[str, ...]]:
    """Findings without lines, which writing changes."""
    full = (p for p in problems if p.code != "more" and p.code not in without)
    return Counter((p.level, p.code, _LINE.sub("line", p.message), p.element, p.name) for p in full)


_LINE = re.compile(r"line \d+")


def bits(value: Any) -> Any:
    """All that a record says, numbers as text so that -0.0 is not 0.0; comments too."""
    if is_dataclass(value):
        left_out = ("line", "file", "position", "layout", "source")
        return [
            (f.name, bits(getattr(value, f.name))) for f in fields(value) if f.name not in left_out
        ]
    return [bits(v) for v in value] if isinstance(value, tuple) else repr(value)


def pictures(document: Document) -> None:
    """Pictures of the tree are made of any names; the SVG is XML."""
    svg = tree_text.svg(document.robot)
    expat.ParserCreate().Parse(svg.encode(), True)
    assert tree_text.mermaid(document.robot)
    assert tree_text.dot(document.robot)


def moves(document: Document, random: Random) -> None:
    """The robot of a document has finite poses, where it stands and anywhere."""
    if not has_usable_masses(document):
        return
    mechanism = lw.load(document).mechanism
    for q in (neutral(mechanism), random_configuration(random, mechanism)):
        for T in model_poses(mechanism, q).values():
            assert np.isfinite(T).all()


def has_usable_masses(document: Document) -> bool:
    """Whether masses and inertias are far from overflowing when they are turned and added."""
    inertials = [link.inertial for link in document.robot.links if link.inertial is not None]
    return all(np.abs([i.mass or 0, *np.ravel(i.inertia or 0)]).max() <= 1e100 for i in inertials)


# ---- edits


def edited(document: Document, random: Random) -> list[Document]:
    """What comes of a random edit: one document or two, or none where it is refused."""
    before = repr(document)
    edit = EDITS[int(random.integers(len(EDITS)))]
    try:
        made = edit(document, random)
    except LinkworkError as error:
        assert str(error)
        assert len(str(error)) < 10_000
        made = ()
    assert repr(document) == before
    results = list(made) if isinstance(made, tuple) else [made]
    for result in results:
        assert isinstance(result, Document)
        symmetric(document.robot, result.robot)
    return results


def symmetric(a: Robot, b: Robot) -> None:
    """The changes back are those there, the other way round; there are some where robots differ."""
    there, back = lw.urdf.diff(a, b), lw.urdf.diff(b, a)
    assert bool(there) == bool(back) == (a != b)
    assert Counter(_change(c.kind, c.path, c.before, c.after) for c in there) == Counter(
        _change(_BACK[c.kind], c.path, c.after, c.before) for c in back
    )


_BACK = {"added": "removed", "removed": "added", "changed": "changed"}


def _change(kind: str, path: str, before: Any, after: Any) -> tuple[str, ...]:
    """A change without the names on its path, which are those of the first robot."""
    what = path.rsplit(" / ", 1)[-1]
    if kind == "changed" and what.startswith("order of "):
        return (kind, what)
    return (kind, what if kind == "changed" else "", repr(before), repr(after))


def _pick(random: Random, records: Any) -> str:
    names = [record.name for record in records if record.name] or ["nobody"]
    return names[int(random.integers(len(names)))]


NEW_NAMES = [
    *("new", "__class__", "a\nb", "<&>\"'", "\u202e", "名", "--"),
    *("]]>", "base", "", " ", "\0", "\ud800"),
    *("x" * 60_000, "x" * 70_000, "a/b", "%s", "{0}", "\x85", "\r"),
]


def _renamed(document: Document, random: Random) -> Document:
    robot, new = document.robot, _one(random, NEW_NAMES)
    kind = ("links", "joints", "materials", "transmissions")[int(random.integers(4))]
    names: Any = {kind: {_pick(random, getattr(robot, kind)): new}}
    return lw.urdf.rename(document, **names, robot=new if random.random() < 0.2 else None)


def _prefixed(document: Document, random: Random) -> Document:
    return lw.urdf.prefix(document, _one(random, NEW_NAMES))


def _removed(document: Document, random: Random) -> Document:
    followers: Any = "free" if random.random() < 0.5 else "refuse"
    if random.random() < 0.5:
        return lw.urdf.remove(document, joint=_pick(random, document.robot.joints), mimic=followers)
    return lw.urdf.remove(document, _pick(random, document.robot.links), mimic=followers)


def _subtree(document: Document, random: Random) -> Document:
    followers: Any = "free" if random.random() < 0.5 else "refuse"
    link = _pick(random, document.robot.links)
    return lw.urdf.subtree(document, link, "part", mimic=followers)


def _cut(document: Document, random: Random) -> tuple[Document, ...]:
    return lw.urdf.cut(document, _pick(random, document.robot.links), mimic="free")


def _rerooted(document: Document, random: Random) -> Document:
    frames: Any = "keep" if random.random() < 0.5 else "move"
    return lw.urdf.reroot(document, _pick(random, document.robot.links), frames=frames)


def _merged(document: Document, random: Random) -> Document:
    other = lw.urdf.prefix(document, "other ")
    held = {joint.child for joint in other.robot.joints}
    root = next(link.name for link in other.robot.links if link.name not in held)
    record = Joint("both", "revolute", _pick(random, document.robot.links), root, (0.0, 0.1, 2.0))
    record = replace(record, axis=(0.0, 0.0, 1.0), rpy=(0.3, 0.0, -0.0))
    return lw.urdf.merge(document, other, record)


EDITS: list[Callable[[Document, Random], Document | tuple[Document, ...]]] = [
    *(_renamed, _prefixed, _removed, _subtree, _cut, _rerooted, _rerooted, _merged),
]
