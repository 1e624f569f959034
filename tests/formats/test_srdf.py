"""SRDF: what it says of pairs is read with its lines, and the rest is written as it stood."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import DescriptionError, InputError, MissingFileError
from linkwork.formats import srdf
from linkwork.formats.srdf import LinkPair
from robots import example_robot_urdfs

TEXT = """<?xml version="1.0"?>
<!-- made by hand -->
<robot name="arm" xmlns:xacro="http://ros.org/wiki/xacro">
  <group name="arm"><chain base_link="base" tip_link="hand"/></group>
  <group_state name="home" group="arm"><joint name="a" value="0.5"/></group_state>
  <!-- pairs -->
  <disable_collisions link1="base" link2="upper" reason="Adjacent"/>
  <disable_collisions link1="lower"
      link2="upper" reason="it's &quot;near&quot; &amp; fine"></disable_collisions>
  <disable_default_collisions link="plate"/><enable_collisions link1="plate" link2="hand"/>
  <virtual_joint name="world" type="fixed" parent_frame="world" child_link="base"/>
</robot>
"""
LINKS = ("base", "upper", "lower", "hand", "plate")


def pairs(found: tuple[LinkPair, ...]) -> list[tuple[str, str, str, int]]:
    return [(pair.link_a, pair.link_b, pair.reason, pair.line) for pair in found]


def test_pairs_are_read_with_reasons_and_lines():
    found = srdf.read(TEXT)
    assert found.name == "arm"
    near = 'it\'s "near" & fine'
    assert pairs(found.disabled) == [
        ("base", "upper", "Adjacent", 7),
        ("lower", "upper", near, 8),
    ]
    assert pairs(found.enabled) == [("plate", "hand", "", 10)]
    assert [(one.link, one.line) for one in found.defaults] == [("plate", 10)]
    assert found.findings == ()
    assert srdf.check(found, "arm", LINKS) == ()


def test_what_is_disabled_stays_disabled_whatever_is_enabled():
    both = """<robot name="r"><disable_collisions link1="a" link2="b" reason="Never"/>
        <enable_collisions link1="b" link2="a"/><enable_collisions link1="b" link2="c"/></robot>"""
    assert srdf.read(both).decisions() == {
        frozenset("ab"): (False, "Never"),
        frozenset("bc"): (True, ""),
    }


def test_what_was_not_changed_is_written_as_it_stood():
    found = srdf.read(TEXT)
    before, after = TEXT.partition("  <disable")[0], TEXT[TEXT.index("\n  <virtual_joint") :]
    for changed in (found, replace(found, disabled=found.disabled[:1])):
        text = srdf.to_text(changed)
        assert text.startswith(before)
        assert text.endswith(after)
        again = srdf.read(text)
        assert (again.disabled, again.enabled) == (changed.disabled, changed.enabled)
        assert again.defaults == changed.defaults
        assert srdf.to_text(again) == text


@pytest.mark.parametrize(
    "text",
    [
        '<robot name="x"/>',
        '<robot name="x" />',
        '<robot name="x"></robot>',
        '<robot name="x"><group name="g"/></robot>',
        '<robot name="x"><group name="g"/>\n  </robot>\n<!-- end -->\n',
        '<robot name="x">\r\n\t<disable_collisions link1="p" link2="q"/>\r\n</robot>\r\n',
        '<robot name="x"><disable_collisions link1="p" link2="q"/></robot>',
        '\ufeff<robot name="x"/>',
    ],
)
def test_pairs_find_a_place_in_any_file(text: str):
    pair = LinkPair("a<b", 'c"d', "for & against")
    made = srdf.to_text(replace(srdf.read(text.encode()), disabled=(pair,)))
    again = srdf.read(made)
    assert again.disabled == (pair,)
    assert all(line.strip() for line in made.splitlines())
    assert ("<group" in made) == ("<group" in text)
    assert ("\r\n" in made) == ("\r\n" in text)
    assert made.replace("\r\n", "").count("\r") == 0
    assert srdf.to_text(again) == made
    assert srdf.to_text(replace(again, disabled=())).count("disable") == 0


def test_files_of_other_encodings_become_utf_8(tmp_path: Path):
    path = tmp_path / "x.srdf"
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<robot name="é"/>\n'
    path.write_bytes(text.encode("latin-1"))
    srdf.write(path, replace(srdf.read(path), disabled=(LinkPair("名", "b"),)))
    again = srdf.read(path)
    assert (again.name, again.disabled) == ("é", (LinkPair("名", "b"),))
    assert b"UTF-8" in path.read_bytes()


def test_made_in_code(tmp_path: Path):
    path = tmp_path / "new.srdf"
    made = srdf.Srdf("r", (LinkPair("a", "b", "Never"),))
    srdf.write(path, made)
    assert srdf.read(path).disabled == made.disabled
    with pytest.raises(InputError, match="cannot be written"):
        srdf.write(tmp_path / "none" / "x.srdf", made)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<robot name='r'>\n<disable_collisions link1='a'/></robot>", ":2: .*'link2' is missing"),
        ("<robot name='r'>\n\n<disable_collisions link2='a' link1=' '/></robot>", ":3: .*'link1'"),
        ("<robot name='r'><enable_collisions/></robot>", ":1: .*'link1'"),
        ("<robot name='r'>\n<disable_default_collisions/></robot>", ":2: .*'link' is missing"),
        ("<sdf/>", "the root element is <sdf>, not <robot>"),
        ("<robot>\n<group>\n</robot>", ":3: .*broken at column"),
        ("<!DOCTYPE robot [<!ENTITY x 'y'>]>\n<robot/>", ":1: .*document type"),
        ("<robot>" + "<a>" * 300 + "</a>" * 300 + "</robot>", "nested more than 256"),
        (f"<robot><enable_collisions link1='{'a' * 200_000}' link2='b'/></robot>", "longer than"),
    ],
)
def test_errors_have_lines(text: str, said: str):
    with pytest.raises(DescriptionError, match=said):
        srdf.read(text, file="x.srdf")


def test_every_error_of_a_file_is_told_at_once():
    text = (
        "<robot name='r'>\n<disable_collisions link1='a'/>\n<enable_collisions link2='b'/></robot>"
    )
    with pytest.raises(DescriptionError) as caught:
        srdf.read(text)
    assert [problem.line for problem in caught.value.problems] == [2, 3]


def test_a_file_that_is_not_there():
    with pytest.raises(MissingFileError):
        srdf.read("none.srdf")


def test_names_that_are_not_there_are_findings_with_the_nearest():
    text = TEXT.replace('"lower"', '"lowr"').replace('link2="hand"', 'link2="plate"')
    found = srdf.check(srdf.read(text, file="x.srdf"), "arn", LINKS)
    assert [(one.code, one.line, one.name) for one in found] == [
        ("srdf-robot", 1, ""),
        ("srdf-link", 8, "lowr"),
        ("srdf-link", 10, "plate"),
    ]
    assert "'arm', not for 'arn'" in str(found[0])
    assert "nearest: lower" in str(found[1])
    assert "no pair with itself" in str(found[2])


def test_a_slip_and_spheres_are_findings():
    text = """<robot name="r">
  <disable_collision link1="a" link2="b"/>
  <link_sphere_approximation link="a"><sphere center="0 0 0" radius="1"/>
  </link_sphere_approximation>
  <rotor_params/>
</robot>"""
    found = srdf.read(text)
    assert found.disabled == ()
    assert [(one.code, one.level, one.line) for one in found.findings] == [
        ("unknown-element", "warning", 2),
        ("srdf-spheres", "note", 3),
    ]
    assert "<disable_collisions>" in str(found.findings[0])
    assert srdf.to_text(found) == text


@pytest.mark.parametrize(
    "place",
    [
        "pkg/urdf/arm.srdf",
        "pkg/srdf/arm.srdf",
        "pkg/config/arm.srdf",
        "pkg/srdf/robo.srdf",
        "other/config/arm.srdf",
        "other/srdf/robo.srdf",
        "pkg/config/robo.srdf.xacro",
    ],
)
def test_the_file_beside_a_description(tmp_path: Path, place: str):
    file = tmp_path / place
    for name in ("pkg/urdf", "pkg/srdf", "pkg/config", "other/config", "other/srdf"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "arm.srdf").write_text("<robot/>")  # two folders up: not looked at
    description, packages = tmp_path / "pkg/urdf/arm.urdf", [tmp_path / "other"]
    assert srdf.beside(description, "robo", packages) is None
    file.write_text("<robot/>")
    assert srdf.beside(description, "robo", packages) == file
    assert srdf.beside(description.with_suffix(".urdf.xacro"), "robo", packages) == file
    if place.endswith(".xacro"):  # what is expanded already comes first
        (tmp_path / "other/srdf/robo.srdf").write_text("<robot/>")
        assert srdf.beside(description, "robo", packages) == tmp_path / "other/srdf/robo.srdf"


def test_the_name_of_the_file_comes_before_the_robots(tmp_path: Path):
    for name in ("arm", "robo"):
        (tmp_path / f"{name}.srdf").write_text("<robot/>")
    assert srdf.beside(tmp_path / "arm.urdf", "robo") == tmp_path / "arm.srdf"
    assert srdf.beside(tmp_path / "leg.urdf", "robo") == tmp_path / "robo.srdf"
    assert srdf.beside(tmp_path / "leg.urdf", "../robo") is None


def without_pairs(text: str) -> list[str]:
    return [line for line in text.splitlines() if "_collisions" not in line]


def test_files_of_real_robots():
    folders = {path.parents[1] / "srdf" for path in example_robot_urdfs()}
    files = sorted(file for folder in folders for file in folder.glob("*.srdf"))
    assert len(files) > 20
    for file in files:
        found = srdf.read(file)
        text = srdf.to_text(found)
        again = srdf.read(text)
        assert (again.name, again.disabled) == (found.name, found.disabled)
        assert srdf.to_text(again) == text
        assert without_pairs(text) == without_pairs(file.read_text(encoding="utf-8"))
    assert sum(len(srdf.read(file).disabled) for file in files) > 5000


# ---- states


STATES = """<robot name="r">
  <virtual_joint name="root" type="floating" parent_frame="world" child_link="base"/>
  <group_state name="home" group="all">
    <joint name="root" value="0.1 0.2 0.3 0 0 0.6 0.8"/>
    <joint name="b" value="-0.5"/>
    <joint name="gone" value="1"/>
  </group_state>
  <group_state name="bad" group="all"><joint name="a" value="1.0 x"/></group_state>
  <group_state name="worse"><joint value="1.0"/><joint name="a" value="1"/></group_state>
  <group_state group="all"><joint name="a" value="1.0"/></group_state>
  <disable_collisions link1="base" link2="upper"/>
</robot>"""


def test_states_are_read_and_those_with_faults_told_with_their_lines():
    found = srdf.read(STATES)
    (home,) = found.states
    assert (home.name, home.group, home.line) == ("home", "all", 3)
    assert home.positions == (
        ("root", (0.1, 0.2, 0.3, 0.0, 0.0, 0.6, 0.8)), ("b", (-0.5,)), ("gone", (1.0,))
    )  # fmt: skip
    told = [(each.line, each.code, each.message) for each in found.findings]
    assert told == [
        (8, "srdf-state", "joint 'a' has no value in numbers"),
        (9, "srdf-state", "a joint has no name"),
        (10, "srdf-state", "a state has no name"),
    ]
    assert len(found.disabled) == 1
    assert srdf.to_text(found) == STATES


def test_a_robot_has_the_configurations_of_states(tmp_path: Path):
    text = """<robot name="r"><link name="base"/><link name="upper"/><link name="tip"/>
      <joint name="a" type="continuous"><parent link="base"/><child link="upper"/></joint>
      <joint name="b" type="continuous"><parent link="upper"/><child link="tip"/></joint></robot>"""
    (tmp_path / "r.urdf").write_text(text)
    robot = lw.load(tmp_path / "r.urdf")
    assert robot.group_states() == {}
    (tmp_path / "r.srdf").write_text(STATES)
    states = robot.group_states()
    assert list(states) == ["home"]
    np.testing.assert_array_equal(states["home"], [0.0, -0.5])
    free = lw.load(tmp_path / "r.urdf", base="floating")
    home = free.group_states(tmp_path / "r.srdf")["home"]
    np.testing.assert_array_equal(home, [0.1, 0.2, 0.3, 0.8, 0.0, 0.0, 0.6, 0.0, -0.5])
    assert list(robot.with_locked("b").group_states()["home"]) == [0.0]
    wrong = STATES.replace('name="b" value="-0.5"', 'name="b" value="-0.5 1"')
    with pytest.raises(lw.ShapeError, match="'b'"):
        robot.group_states(wrong)
