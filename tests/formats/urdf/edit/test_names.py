"""Other names: there and back is the same description, and every reference follows."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkwork.errors import DescriptionError, InputError, UnknownNameError
from linkwork.formats.urdf import materials
from linkwork.formats.urdf.edit import prefix, rename
from linkwork.formats.urdf.edit.names import Mentions, References
from linkwork.formats.urdf.edit.records import every
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document, ExtraElement, Robot
from linkwork.formats.urdf.write import to_text
from linkwork.mechanism.from_urdf import from_urdf
from robots import (
    ALL_TYPES,
    by_name,
    from_names,
    model_poses,
    random_configuration,
    random_tree,
)
from seeds import rng
from urdf_strategies import robots


def names_of(document: Document) -> dict[str, list[str]]:
    robot = document.robot
    return {
        "links": [link.name for link in robot.links],
        "joints": [joint.name for joint in robot.joints],
        "materials": list(materials.material_names(robot)),
        "transmissions": [t.name for t in robot.transmissions],
    }


def shuffled(document: Document, label: str) -> dict[str, dict[str, str]]:
    """Every name given another one, most of them the name of another thing of its kind."""
    random = rng(label)
    changes = {}
    for kind, every_name in names_of(document).items():
        names = [name for name in every_name if name]  # without one nothing can be renamed
        pool = [*names, f"new {kind}", f"<{kind}> & 'é'"]
        changes[kind] = dict(zip(names, random.permutation(pool).tolist(), strict=False))
    return changes


def inverse(changes: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    return {kind: {new: old for old, new in names.items()} for kind, names in changes.items()}


def test_there_and_back(cell: Document):
    for k in range(20):
        changes = shuffled(cell, f"rename {k}")
        there = rename(cell, robot="other", **changes)
        assert names_of(there) == {
            kind: [changes[kind][name] for name in names] for kind, names in names_of(cell).items()
        }
        back = rename(there, robot="cell", **inverse(changes))
        assert back.robot == cell.robot


def test_random_trees_there_and_back_with_the_same_kinematics():
    random = rng("renamed trees")
    for k in range(10):
        document = read(random_tree(random, 12, ALL_TYPES, mimic=0.6))
        changes = shuffled(document, f"renamed tree {k}")
        there = rename(document, **changes)
        assert rename(there, **inverse(changes)).robot == document.robot
        same_kinematics(document, there, changes["links"], changes["joints"])


def same_kinematics(
    a: Document, b: Document, links: dict[str, str], joints: dict[str, str]
) -> None:
    m, n = from_urdf(a), from_urdf(b)
    q = random_configuration(rng("same kinematics"), m)
    positions = {joints[name]: value for name, value in by_name(m, q).items()}
    poses, new = model_poses(m, q), model_poses(n, from_names(n, positions))
    for old, name in links.items():
        np.testing.assert_array_equal(poses[old], new[name])


def test_every_reference_follows(cell: Document):
    new = rename(
        cell,
        links={"arm": "upper & arm", "hand": "palm"},
        joints={"shoulder": "s1", "grip_a": "left"},
        materials={"blue": "sky", "steel": "iron"},
        transmissions={"drive": "gear"},
    )
    robot = new.robot
    assert [(j.parent, j.child) for j in robot.joints[:2]] == [
        ("base", "upper & arm"),
        ("upper & arm", "palm"),
    ]
    assert robot.joints[3].mimic is not None
    assert robot.joints[3].mimic.joint == "left"
    assert robot.transmissions[0].name == "gear"
    assert [j.name for t in robot.transmissions for j in t.joints] == ["s1", "left", "grip_b"]
    assert {m.name for m in materials.used_materials(robot)} == {"iron", "sky", "rubber"}
    texts = "".join(e.xml for e in robot.extra if isinstance(e, ExtraElement))
    for text in (
        "<gazebo reference='upper &amp; arm'>",
        '<gazebo reference="s1">',
        '<joint name="s1"><command',
        '<joint name="left"/>',
        '<param name="mimic"> left </param>',
        '<parent link="palm"/>',
    ):
        assert text in texts
    assert "<jointName>shoulder</jointName>" in texts
    (left,) = [p for p in new.problems if p.code == "name-left"]
    assert "'shoulder'" in left.message


def test_a_prefix_and_the_names_back(cell: Document):
    new = prefix(cell, "left_")
    assert new.robot.name == "cell"
    for kind, names in names_of(cell).items():
        assert names_of(new)[kind] == ["left_" + name for name in names]
    changes = {
        kind: {name: name.removeprefix("left_") for name in names}
        for kind, names in names_of(new).items()
    }
    assert rename(new, **changes).robot == cell.robot
    assert prefix(cell, "").robot == cell.robot
    references = [e.xml for e in new.robot.extra if isinstance(e, ExtraElement)]
    assert references[0].startswith("<gazebo reference='left_arm'>")


def test_the_document_is_not_changed_and_findings_are_of_the_new_one(cell: Document):
    before = copy.deepcopy(cell)
    rename(cell, links={"arm": "x"})
    assert cell == before
    assert [p.name for p in rename(cell, joints={"wrist": "w"}).problems] == [
        p.name for p in rename(cell).problems
    ]


def test_what_cannot_be(cell: Document):
    with pytest.raises(UnknownNameError, match="nearest: arm"):
        rename(cell, links={"arn": "x"})
    with pytest.raises(UnknownNameError):
        rename(cell, joints={"arm": "x"})
    for kind, old, taken in [
        ("links", "arm", "hand"),
        ("joints", "wrist", "shoulder"),
        ("materials", "steel", "blue"),
        ("transmissions", "drive", "pinch"),
    ]:
        with pytest.raises(InputError, match=f"'{old}' cannot be renamed to '{taken}'"):
            rename(cell, **{kind: {old: taken}})
    for robot in ("", 3):
        with pytest.raises(InputError, match="give it a name"):
            rename(cell, robot=robot)
    with pytest.raises(InputError, match="a prefix is a text"):
        prefix(cell, None)


def test_a_link_and_a_joint_may_have_one_name(cell: Document):
    assert rename(cell, joints={"shoulder": "arm"}).robot.joints[0].name == "arm"


def test_names_that_no_file_could_hold_are_refused(cell: Document):
    with pytest.raises((DescriptionError, InputError)):
        rename(cell, links={"arm": "a\0b"})


def test_no_name_is_left_anywhere(cell: Document):
    """Independent of the places known: no old name is an attribute or text of any record."""
    changes = {
        kind: {name: f"N{k}{i}" for i, name in enumerate(names)}
        for k, (kind, names) in enumerate(names_of(cell).items())
    }
    old = {name for names in changes.values() for name in names}
    for record in every(rename(cell, **changes).robot):
        for field in ("name", "parent", "child", "joint", "material"):
            assert getattr(record, field, None) not in old


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(robots(), st.integers(0, 1000))
def test_any_robot_there_and_back(robot: Robot, label: int):
    document = read(to_text(robot))
    changes = shuffled(document, f"any {label}")
    there = rename(document, **changes)
    assert read(to_text(there.robot)).robot == there.robot
    assert rename(there, **inverse(changes)).robot == document.robot
    assert prefix(prefix(document, "a"), "b").robot == prefix(document, "ba").robot


# ---- Names in unknown elements: found where they are known to stand, to the byte


def tag_of(xml: str) -> str:
    found = re.match(r"<([\w:]+)", xml)
    return found[1] if found else "gazebo"


def mentions(xml: str) -> Mentions:
    return Mentions(ExtraElement("robot", tag_of(xml), xml))


CASES = [
    ('<gazebo reference="a"/>', [("link joint", "a", "all")]),
    ("<gazebo  x='1' reference = 'a' y=\"2\"><mu1>3</mu1></gazebo>", [("link joint", "a", "all")]),
    ('<gazebo><x reference="a"/></gazebo>', []),
    ('<sensor name="s"><parent link="a"/></sensor>', [("link", "a", "all")]),
    ('<sensor name="s"><x><parent link="a"/></x></sensor>', []),
    ('<other reference="a"><parent link="a"/><joint name="a"/></other>', []),
    (
        '<ros2_control name="a"><joint name="a"><param name="mimic"> b\n</param></joint>'
        '<sensor name="c"/></ros2_control>',
        [
            ("joint", "a", '<joint name="a"><param name="mimic"> b\n</param></joint>'),
            ("joint", "b", None),
        ],
    ),
    (
        '<ros2_control><transmission><joint name="a"/><joint name="b"/></transmission>'
        "</ros2_control>",
        [
            ("joint", name, '<transmission><joint name="a"/><joint name="b"/></transmission>')
            for name in "ab"
        ],
    ),
    (
        '<ros2_control><joint name="é&amp;"/></ros2_control>',
        [("joint", "é&", '<joint name="é&amp;"/>')],
    ),
]


@pytest.mark.parametrize(("xml", "wanted"), CASES, ids=[xml[:40] for xml, _ in CASES])
def test_known_places(xml: str, wanted: list[tuple[str, str, str | None]]):
    found = mentions(xml)
    seen = []
    for mention in found.found:
        span = mention.span
        raw = found.xml[mention.start : mention.stop]
        assert raw.replace("&amp;", "&") == mention.name
        text = None if span is None else found.xml[slice(*span)]
        seen.append((" ".join(mention.kinds), mention.name, "all" if text == xml else text))
    assert seen == wanted


NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1)


@settings(max_examples=40)
@given(NAMES, st.sampled_from("\"'"), st.integers(0, 3))
def test_any_name_is_found_where_it_stands(name: str, quote: str, blanks: int):
    raw = name.replace("&", "&amp;").replace("<", "&lt;").replace(quote, f"&#{ord(quote)};")
    gap = " " * blanks
    xml = f"<gazebo{gap} ü='{'>'}' reference{gap}={gap}{quote}{raw}{quote}{gap}/>"
    (mention,) = mentions(xml).found
    assert mention.name == name
    data = mentions(xml).xml
    assert data[mention.start : mention.stop] == raw


@pytest.mark.parametrize("xml", ["<gazebo>", "<gazebo a=1/>", "gazebo", ""])
def test_what_is_no_xml(xml: str):
    with pytest.raises(InputError, match="is no XML"):
        Mentions(ExtraElement("robot", "gazebo", xml))


def test_no_document_type():
    xml = '<!DOCTYPE a [<!ENTITY b "c">]><gazebo>&b;</gazebo>'
    with pytest.raises(InputError, match="document type"):
        Mentions(ExtraElement("robot", "gazebo", xml))


def test_deep_nesting_needs_no_recursion():
    mentions("<gazebo>" + "<a>" * 20_000 + "</a>" * 20_000 + "</gazebo>")


# ---- What becomes of unknown elements when the names in them change or go


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
FOLLOWED = [
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


@pytest.mark.parametrize(("xml", "wanted"), FOLLOWED, ids=[xml[:60] for xml, _ in FOLLOWED])
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
