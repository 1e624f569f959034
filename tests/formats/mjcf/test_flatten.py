"""The XML of an MJCF within limits: every hostile text ends in an error of ours, and soon."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from linkwork.errors import DescriptionError
from linkwork.formats.mjcf.flatten import DEEPEST, MOST_BODIES, Flat, flatten

ENTITY = "<!DOCTYPE m [<!ENTITY a 'x'><!ENTITY b '&a;&a;'>]><mujoco model='&b;'/>"
EXTERNAL = "<!DOCTYPE m SYSTEM 'http://127.0.0.1:9/x'><mujoco/>"


def world(text: str) -> str:
    return f"<mujoco>\n<worldbody>\n{text}\n</worldbody>\n</mujoco>"


def flat(text: str, file: str | None = None) -> Flat:
    return flatten(text.encode(), file)


HOSTILE = {
    "entities": (ENTITY, "doctype", 1),
    "external": (EXTERNAL, "doctype", 1),
    "broken": ("<mujoco>\n<worldbody>\n</mujoco>", "xml", 3),
    "cut off": ("<mujoco>\n<worldbody>", "xml", 2),
    "empty": ("", "xml", 1),
    "two roots": ("<mujoco/><mujoco/>", "xml", 1),
    "twice the same attribute": (world("<body name='a' name='b'/>"), "xml", 3),
    "another root": ("<robot name='a'/>", "root", 1),
    "include outside": ("<mujoco>\n<include file='../../../etc/a.xml'/></mujoco>", "outside", 2),
    "include of passwords": ("<mujoco>\n<include file='/etc/passwd'/></mujoco>", "include", 2),
    "include without a name": ("<mujoco>\n<include/></mujoco>", "include", 2),
    "not a number": (world("<body pos='0 nan 0'/>"), "not-finite", 3),
    "infinite": (world("<body pos='0 -INF 0'/>"), "not-finite", 3),
    "overflow": (world("<body pos='0 1e999 0'/>"), "not-finite", 3),
    "many digits": (world(f"<body pos='{'9' * 400} 0 0'/>"), "not-finite", 3),
    "too large": (world("<body pos='1e200 0 0'/>"), "not-finite", 3),
    "nested": (world("<body>" * 100_000), "too-deep", 3),
    "nested where nothing is read": (f"<mujoco><visual>{'<a>' * 100_000}", "too-deep", 1),
    "many attributes": (
        world("<body " + " ".join(f"a{k}='1'" for k in range(100_000)) + "/>"),
        "too-many",
        3,
    ),
    "a long name": (world(f"<body name='{'x' * 70_000}'/>"), "too-long", 3),
    "a tag without end": ("<mujoco " + "x" * (9 << 20), "too-long", 1),
    "a name of two lines": (world("<body name='a&#10;b'/>"), "name", 3),
    "repeated": (world("<replicate count='1000000000'><body/></replicate>"), "too-many", 3),
    "repeated in each other": (
        world("<replicate count='1000'>" * 5 + "<body/>" + "</replicate>" * 5),
        "too-many",
        3,
    ),
    "repeated shapes": (world("<replicate count='900000'><geom/></replicate>"), "too-many", 3),
    "many bodies": (world("<body/>" * (MOST_BODIES + 1)), "too-many", 3),
    "many sites": (world("<site/>" * 50_001), "too-many", 3),
    "a model without a file": ("<mujoco><asset>\n<model name='m'/></asset></mujoco>", "no-file", 2),
    "a built-in mesh of many points": (
        "<mujoco><asset>\n<mesh builtin='cone' params='5000000 0.5'/></asset></mujoco>",
        "too-many",
        2,
    ),
    "many points by two numbers": (
        "<mujoco><asset>\n<mesh builtin='plate' params='20000 20000'/></asset></mujoco>",
        "too-many",
        2,
    ),
    "many points by one number": (
        "<mujoco><asset>\n<mesh builtin='supersphere' params='20000 1 1'/></asset></mujoco>",
        "too-many",
        2,
    ),
    "soft": (world("<flexcomp name='a' count='1000 1000 1000'/>"), "unsupported", 3),
    "composite": (world("<composite count='1000 1000 1000'/>"), "unsupported", 3),
}


@pytest.mark.sweep(22)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_refused_soon(name: str, tmp_path: Path):
    text, code, line = HOSTILE[name]
    start = time.perf_counter()
    with pytest.raises(DescriptionError) as raised:
        flat(text, str(tmp_path / "robot.xml"))
    assert time.perf_counter() - start < 10
    problem = raised.value.problems[0]
    assert (problem.code, problem.line) == (code, line), problem
    assert problem.file == str(tmp_path / "robot.xml")
    assert len(str(raised.value)) < 2000


def test_built_in_meshes_of_few_points_are_handed_on():
    meshes = "<mesh builtin='wedge' params='20 20 60 60 0'/><mesh builtin='cone' params='9 .5'/>"
    assert flat(f"<mujoco><asset>{meshes}</asset></mujoco>").text.count("builtin") == 2


def test_a_name_may_look_like_a_number():
    assert 'name="nan"' in flat(world("<body name='nan'/>")).text


def test_every_problem_of_a_text_is_listed():
    with pytest.raises(DescriptionError) as raised:
        flat(world("<body pos='nan 0 0'/>\n<body pos='inf 0 0'/>\n<flexcomp/>"))
    assert [p.line for p in raised.value.problems] == [3, 4, 5]


def test_the_list_of_problems_ends():
    with pytest.raises(DescriptionError) as raised:
        flat(world("<body pos='nan 0 0'/>" * 1000))
    assert len(raised.value.problems) == 100


def test_the_deepest_allowed_nesting_is_read():
    n = DEEPEST - 2
    assert flat(world("<body>" * n + "</body>" * n)).text.count("<body") == n


def test_what_is_left_out_is_said_once_with_its_place():
    text = world("<body><camera/><camera/><light/></body>").replace(
        "</mujoco>", "<equality><flex/></equality>\n<sensor/></mujoco>"
    )
    read = flat(text)
    assert {code: p.line for code, p in read.findings.items()} == {
        "no-camera": 3,
        "no-equality": 5,
        "no-sensor": 6,
    }
    assert read.counts["no-camera"] == 2
    assert read.findings["no-equality"].level == "warning"
    assert "camera" not in read.text and "flex" not in read.text and "light" not in read.text


def test_of_equalities_tendons_and_actuators_only_what_is_read_is_handed_on():
    text = world("").replace(
        "</mujoco>",
        "<equality><weld body1='a' solref='1e9 2' name='w' relpose='0 0 0 1 0 0 0'/></equality>"
        "<tendon><fixed name='t' class='lost' range='0 1'><joint joint='j' coef='2'/></fixed>"
        "<spatial name='s' width='1'><site site='x'/></spatial></tendon>"
        "<actuator><muscle name='m' joint='j' lengthrange='1 0'><plugin/></muscle>"
        "<adhesion body='b'/></actuator></mujoco>",
    )
    read = flat(text)
    assert read.text.endswith(
        '<equality>\n<weld body1="a" name="w" relpose="0 0 0 1 0 0 0"></weld></equality>\n'
        "<tendon>\n"
        '<fixed name="t">\n<joint joint="j" coef="2"></joint></fixed>\n'
        '<spatial name="s">\n<site site="x"></site></spatial></tendon>\n<actuator>\n'
        '<general joint="j"></general></actuator></mujoco>'
    )
    assert read.tags[-1] == "muscle"
    for word in ("solref", "lost", "range", "width", "muscle", "adhesion", "plugin"):
        assert word not in read.text
    assert set(read.findings) == {"no-actuator"}


def test_sections_may_be_included(tmp_path):
    (tmp_path / "eq.xml").write_text(
        "<mujocoinclude><joint joint1='a' solimp='1'/></mujocoinclude>"
    )
    text = "<mujoco><equality><include file='eq.xml'/></equality></mujoco>"
    read = flatten(text.encode(), str(tmp_path / "m.xml"))
    assert '<joint joint1="a">' in read.text


def test_white_space_before_the_declaration_is_a_finding():
    read = flat("\n\n <?xml version='1.0'?>\n<mujoco>\n<worldbody/></mujoco>")
    assert read.findings["declaration"].line == 3
    assert [place.line for place in read.origin] == [4, 5]


def test_stray_text_is_a_finding():
    assert flat(world("<body>hello</body>")).findings["stray-text"].line == 3


def test_attribute_values_are_written_so_that_they_read_back():
    read = flat(world("""<body name='a &lt;"&apos;&amp;&gt;ß b'/>"""))
    again = flatten(read.text.encode(), None)
    assert again.text == read.text.lstrip("\n")
    assert "ß" in read.text


def test_the_line_of_each_element_is_known():
    read = flat("<mujoco>\n\n<worldbody>\n<body\nname='a'>\n\n<geom/></body></worldbody></mujoco>")
    assert [place.line for place in read.origin] == [1, 3, 4, 7]
    assert read.tags == ["mujoco", "worldbody", "body", "geom"]
    for line, tag in enumerate(read.tags):
        assert f"<{tag}" in read.text.split("\n")[line]


def test_no_file_of_another_program_is_named_to_mujoco():
    text = (
        "<mujoco><compiler meshdir='/a' texturedir='/b' assetdir='c'/><asset>"
        "<mesh file='../secret.stl'/><texture file='d'/><hfield file='e'/><skin file='f'/>"
        "<material name='m' texture='t'/></asset></mujoco>"
    )
    read = flat(text, "here/robot.xml")
    for word in ('"/a"', '"/b"', "secret.stl", "texture", "file='e'", 'file="e"', "skin"):
        assert word not in read.text
    assert 'name="secret"' in read.text
    (mesh,) = read.meshes.values()
    assert mesh.name == "../secret.stl"
