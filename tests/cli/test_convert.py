"""`linkwork convert`: what comes out is read back, and nothing is overwritten or half written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwork as lw
from linkwork import models
from linkwork.formats.tree_text import dot, mermaid, svg
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Mesh
from linkwork.formats.urdf.write import to_text
from linkwork.saving import FORMATS

XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="n" default="1"/>
<link name="base"/>
<xacro:macro name="arm" params="k"><link name="l${k}"/>
<joint name="j${k}" type="fixed"><parent link="base"/><child link="l${k}"/></joint></xacro:macro>
<xacro:arm k="$(arg n)"/>
</robot>"""
ODD = """<robot name="odd"><material name="unused"><color rgba="1 0 0 1"/></material>
<link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/>
</inertial></link></robot>"""


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", list(models.MODELS))
def test_urdf_comes_back_the_same(cli: Callable[..., Any], tmp_path: Path, name: str):
    target = tmp_path / "r.urdf"
    done = cli("convert", name, target)
    assert (done.exit_code, done.stdout) == (0, "")
    assert read(target).robot == read(models.path(name)).robot
    first = target.read_bytes()
    assert cli("convert", target, target, "--force").exit_code == 0
    assert target.read_bytes() == first


@pytest.mark.sweep(1)
@pytest.mark.parametrize("end", [".csv", ".yaml"])
@pytest.mark.parametrize("convention", ["standard", "craig"])
def test_tables_of_denavit_and_hartenberg_both_ways(
    cli: Callable[..., Any], tmp_path: Path, end: str, convention: str
):
    """A table becomes a URDF of the same poses, dynamics and limits, and that a table again."""
    rows = [
        {"joint": "waist", "d": 0.3, "alpha": 1.2, "lower": -2.0, "upper": 2.5, "mass": 1.5,
         "com": [0.1, 0, 0], "inertia": [0.1, 0, 0, 0.1, 0, 0.1]},
        {"joint": "slide", "type": "prismatic", "a": 0.2, "theta": 0.4, "lower": 0, "upper": 0.5},
        {"joint": "wrist", "alpha": -0.7, "a": 0.1, "mass": 0.5},
    ]  # fmt: skip
    robot = lw.from_dh(rows, convention=convention, tool=lw.pose([0, 0, 0.1]))
    table, urdf, back = (tmp_path / name for name in (f"arm{end}", "arm.urdf", f"back{end}"))
    lw.save(robot, table, format="dh")
    assert cli("convert", table, urdf).exit_code == 0
    more = ["--to", "dh"] if end == ".yaml" else []
    assert cli("convert", urdf, back, *more).exit_code == 0
    q = robot.random(20, seed=1)
    for file in (urdf, back):
        other = lw.load(file)
        assert other.joint_names == robot.joint_names
        np.testing.assert_allclose(other.fk(q, "tool"), robot.fk(q, "tool"), atol=1e-12)
        np.testing.assert_allclose(other.mass_matrix(q), robot.mass_matrix(q), atol=1e-12)
        np.testing.assert_array_equal(other.limits.upper, robot.limits.upper)


@pytest.mark.parametrize(
    ("end", "write"), [(".svg", svg), (".mmd", mermaid), (".dot", dot), (".gv", dot)]
)
def test_pictures(cli: Callable[..., Any], tmp_path: Path, end: str, write: Callable[..., str]):
    target = tmp_path / f"tree{end}"
    assert cli("convert", "mobile_arm", target).exit_code == 0
    assert target.read_text("utf-8") == write(read(models.path("mobile_arm")).robot)


def test_mermaid_in_markdown_stands_in_a_block(cli: Callable[..., Any], tmp_path: Path):
    cli("convert", "panda", tmp_path / "tree.md")
    text = (tmp_path / "tree.md").read_text()
    assert text.startswith("```mermaid\nflowchart TD\n")
    assert text.endswith("\n```\n")


@pytest.mark.parametrize("kind", ["urdf", "svg", "mermaid", "dot"])
def test_standard_output_has_the_result_and_nothing_else(cli: Callable[..., Any], kind: str):
    done = cli("convert", "panda", "-", "--to", kind)
    write = {"urdf": to_text, "svg": svg, "mermaid": mermaid, "dot": dot}[kind]
    assert done.exit_code == 0
    kept = read(models.path("panda"), keep_source=True).robot
    assert done.stdout == write(kept)
    assert done.stderr == ""


def test_standard_output_is_utf8_whatever_the_terminal_says(tmp_path: Path):
    file = tmp_path / "r.urdf"
    file.write_text('<robot name="r"><link name="名前"/></robot>', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "linkwork", "convert", file, "-", "--to", "dot"],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert "名前" in done.stdout.decode("utf-8")


def test_a_file_that_exists_is_replaced_only_when_told(
    cli: Callable[..., Any], refused: Callable[..., str], tmp_path: Path
):
    for name in ("a.urdf", "a.svg", "a.xml"):
        target = tmp_path / name
        target.write_text("mine")
        assert "--force" in refused("convert", "panda", target)
        assert target.read_text() == "mine"
    assert cli("convert", "panda", tmp_path / "a.svg", "--force").exit_code == 0
    assert (tmp_path / "a.svg").read_text().startswith("<svg")


def test_a_source_that_cannot_be_read_leaves_the_target(cli: Callable[..., Any], tmp_path: Path):
    target = tmp_path / "a.svg"
    target.write_text("mine")
    (tmp_path / "bad.urdf").write_text("<robot name='r'><link/></robot>")
    done = cli("convert", tmp_path / "bad.urdf", target, "--force")
    assert done.exit_code == 2
    assert "bad.urdf:1: error" in done.stderr
    assert target.read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["a.svg", "bad.urdf"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["out.step"], "end the name in one of .urdf, .xml"),
        (["-"], "--to: urdf, mjcf"),
        (["out.svg", "--to", "png"], "--to is one of"),
        (["none/out.svg"], "there is no folder"),
        ([".", "--to", "svg"], "not a file"),
        (["out.svg", "--meshes", "copy"], "has no meshes"),
        (["out.urdf", "--meshes", "all"], "--meshes is one of"),
        (["-", "--to", "urdf", "--meshes", "copy"], "mesh names are kept"),
        (["-", "--to", "mjcf", "--meshes", "copy"], "the target is a file"),
        (["out.xml", "--meshes", "keep"], "reference or copy"),
        (["out.urdf", "--arg", "a:=1"], "for xacro files"),
        (["out.urdf", "--arg", "a=1"], "takes name:=value"),
        (["out.urdf", "--env", "A"], "takes name=value"),
        (["out.urdf", "--env", "A=1", "--env", "A=2"], "'A' twice"),
    ],
)
def test_what_is_refused(
    refused: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: list[str],
    words: str,
):
    monkeypatch.chdir(tmp_path)
    assert words in refused("convert", "panda", *more)
    assert not os.listdir(tmp_path)


def test_strict_writes_nothing_where_there_are_warnings(cli: Callable[..., Any], tmp_path: Path):
    file, target = tmp_path / "odd.urdf", tmp_path / "new.urdf"
    file.write_text(ODD)
    done = cli("convert", file, target, "--strict")
    assert done.exit_code == 2
    assert "warning: <inertial> 'a'" in done.stderr
    assert "nothing is written" in done.stderr
    assert not target.exists()
    done = cli("convert", file, target)
    assert done.exit_code == 0
    assert "warning: <inertial> 'a'" in done.stderr
    assert target.exists()


@pytest.mark.parametrize("meshes", [None, "reference", "copy", "keep"])
def test_meshes(cli: Callable[..., Any], tmp_path: Path, meshes: str | None):
    (tmp_path / "old" / "parts").mkdir(parents=True)
    (tmp_path / "new").mkdir()
    mesh = tmp_path / "old" / "parts" / "a.stl"
    mesh.write_bytes(b"\0" * 84)
    file, target = tmp_path / "old" / "r.urdf", tmp_path / "new" / "r.urdf"
    shape = "<visual><geometry><mesh filename='parts/{}.stl'/></geometry></visual>"
    shapes = shape.format("a") + shape.format("missing")
    file.write_text(f"<robot name='r'><link name='l'>{shapes}</link></robot>")
    more = ["--meshes", meshes] if meshes else []
    done = cli("convert", file, target, *more)
    assert done.exit_code == 0
    drawn = [visual.geometry for visual in read(target).robot.links[0].visuals]
    names = [geometry.filename for geometry in drawn if isinstance(geometry, Mesh)]
    expected = {"copy": "meshes/parts/a.stl", "keep": "parts/a.stl"}
    assert names == [expected.get(meshes or "", "../old/parts/a.stl"), "parts/missing.stl"]
    assert (target.parent / "meshes").exists() == (meshes == "copy")
    told = "not found keep their name: 'parts/missing.stl'" in done.stderr
    assert told == (meshes != "keep")


def test_files_far_from_the_target_are_told_in_one_line(cli: Callable[..., Any], tmp_path: Path):
    (tmp_path / "old").mkdir()
    (tmp_path / "new" / "deep").mkdir(parents=True)
    shapes = ""
    for k in range(5):
        (tmp_path / "old" / f"{k}.stl").write_bytes(b"\0" * 84)
        shapes += f"<visual><geometry><mesh filename='{k}.stl'/></geometry></visual>"
    file = tmp_path / "old" / "r.urdf"
    file.write_text(f"<robot name='r'><link name='l'>{shapes}</link></robot>")
    target = tmp_path / "new" / "deep" / "r.urdf"
    done = cli("convert", file, target, "--meshes", "reference")
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert "'../../old/2.stl' and 2 more; who opens them has to pass --allow FOLDER" in lines[0]


@pytest.mark.parametrize("target", ["r.urdf", "r.xml"])
def test_meshes_that_are_not_found_are_told_by_the_options_of_the_command(
    cli: Callable[..., Any], tmp_path: Path, target: str
):
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "far/meshes").mkdir(parents=True)
    box = b"\0" * 80 + (0).to_bytes(4, "little")
    (tmp_path / "far/meshes/m.stl").write_bytes(box)
    names = ("package://far/meshes/m.stl", str(tmp_path / "far/meshes/m.stl"))
    shapes = "".join(f"<visual><geometry><mesh filename='{n}'/></geometry></visual>" for n in names)
    file = tmp_path / "a/b/c/r.urdf"
    file.write_text(f"<robot name='r'><link name='l'>{shapes}</link></robot>")
    done = cli("convert", file, tmp_path / "a" / target)
    assert done.exit_code == 0
    assert "--allow" in done.stderr
    assert "allow=" not in done.stderr
    written = tmp_path / "a" / target
    if target == "r.urdf":
        assert written.read_bytes() == file.read_bytes()


def test_a_conversion_takes_meshes_along_and_says_where(cli: Callable[..., Any], tmp_path: Path):
    (tmp_path / "pkg/urdf").mkdir(parents=True)
    (tmp_path / "pkg/meshes").mkdir()
    (tmp_path / "pkg/meshes/m.stl").write_bytes(b"\0" * 84)
    shape = "<visual><geometry><mesh filename='package://pkg/meshes/m.stl'/></geometry></visual>"
    file = tmp_path / "pkg/urdf/r.urdf"
    file.write_text(f"<robot name='r'><link name='l'>{shape}</link></robot>")
    target = tmp_path / "x/y/z/r.urdf"
    target.parent.mkdir(parents=True)
    done = cli("convert", file, target)
    assert target.read_bytes() == file.read_bytes()
    assert (target.parent / "pkg/meshes/m.stl").is_file()
    assert f"1 files of meshes are copied to {target.parent / 'pkg'}" in done.stderr


def test_warnings_of_one_kind_are_told_once(cli: Callable[..., Any], tmp_path: Path):
    file = tmp_path / "odd.urdf"
    link = "<link name='{}'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' "
    link += "iyz='0' izz='{}'/></inertial></link>"
    joint = "<joint name='j{0}' type='fixed'><parent link='l0'/><child link='l{0}'/></joint>"
    text = "".join(link.format(f"l{k}", 9 if k else -1) for k in range(5))
    text += "".join(joint.format(k) for k in range(1, 5))
    file.write_text(f"<robot name='r'>{text}</robot>")
    lines = cli("convert", file, "-", "--to", "dot").stderr.splitlines()
    assert "'l0'" in lines[0]
    assert "'l1'" in lines[1]
    assert lines[1].endswith("; 3 more of this kind")
    assert lines[2] == f"all 5 warnings: linkwork check {file}"
    assert len(lines) == 3


# xacro


@pytest.fixture(name="xacro_file")
def _xacro_file(tmp_path: Path) -> Path:
    pytest.importorskip("xacro", reason="xacro (pip install xacro) is not installed")
    file = tmp_path / "r.urdf.xacro"
    file.write_text(XACRO)
    return file


def test_xacro_with_arguments(cli: Callable[..., Any], tmp_path: Path, xacro_file: Path):
    target = tmp_path / "r.urdf"
    for more, name in (([], "l1"), (["--arg", "n:=seven"], "lseven")):
        assert cli("convert", xacro_file, target, "--force", *more).exit_code == 0
        assert lw.load(target).frame_names[:2] == ("base", name)
    done = cli("convert", xacro_file, "-", "--to", "dot", "--arg", "m:=1")
    assert "no argument named 'm'" in done.stderr
    assert 'label="l1"' in done.stdout


def test_xacro_variables_and_allowed_folders(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("xacro", reason="xacro (pip install xacro) is not installed")
    far, near = tmp_path / "far" / "parts", tmp_path / "near" / "pkg"
    far.mkdir(parents=True)
    near.mkdir(parents=True)
    (near / "package.xml").write_text("<package><name>pkg</name></package>")
    (far / "part.xacro").write_text(XACRO)
    file = near / "r.xacro"
    file.write_text(
        "<robot name='$(env WHO)' xmlns:xacro='http://www.ros.org/wiki/xacro'>"
        "<xacro:include filename='$(find parts)/part.xacro'/></robot>"
    )
    monkeypatch.setenv("WHO", "me")
    refused = cli("convert", file, "-", "--to", "urdf", "--allow", tmp_path / "far")
    assert (refused.exit_code, "--env WHO=" in refused.stderr) == (2, True)
    refused = cli("convert", file, "-", "--to", "urdf", "--env", "WHO=you")
    assert (refused.exit_code, "'parts' is not found" in refused.stderr) == (2, True)
    allow = ("--allow", tmp_path / "far", "--env", "WHO=you")
    assert '<robot name="you">' in cli("convert", file, "-", "--to", "urdf", *allow).stdout


# MJCF


def test_mjcf_is_written_with_its_meshes(cli: Callable[..., Any], tmp_path: Path):
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    target = tmp_path / "arm.xml"
    done = cli("convert", "mobile_arm", target)
    assert done.exit_code == 0
    for lost in ("limits of velocity", "mimic joints become", "six digits"):
        assert lost in done.stderr
    model = mujoco.MjModel.from_xml_path(str(target))
    assert model.nbody == 1 + len(read(models.path("mobile_arm")).robot.links)
    text = cli("convert", "mobile_arm", "-", "--to", "mjcf").stdout
    assert text == target.read_text()


def test_json_is_not_a_source(refused: Callable[..., str], tmp_path: Path):
    file = tmp_path / "a.json"
    lw.save(lw.load("ur5e"), file)
    for args in (["convert", file, "-", "--to", "urdf"], ["diff", "ur5e", file]):
        assert "JSON is read as a mechanism" in refused(*map(str, args))


def test_mjcf_is_not_a_source(refused: Callable[..., str], tmp_path: Path):
    file = tmp_path / "m.xml"
    file.write_text("<mujoco><worldbody/></mujoco>")
    assert "not converted" in refused("convert", file, tmp_path / "m.urdf")


def test_urdf_in_a_file_named_xml_is_one(cli: Callable[..., Any], tmp_path: Path):
    file = tmp_path / "r.xml"
    file.write_text(ODD)
    done = cli("convert", file, "-", "--to", "svg")
    assert ElementTree.fromstring(done.stdout).tag.endswith("svg")


def test_the_help_names_every_format(cli: Callable[..., Any]):
    text = " ".join(cli("convert", "--help", env={"COLUMNS": "200"}).stdout.split())
    for kind, ends in FORMATS.items():
        assert kind in text
        assert ends[0] in text


def test_loops_by_hand_are_not_replaced_without_force(cli: Callable[..., Any], tmp_path: Path):
    target, loops = tmp_path / "t.urdf", tmp_path / "t.loops.yaml"
    loops.write_text("version: 1\nactuated: [mine]  # by hand\n")
    for name in ("four_bar", "panda"):
        result = cli("convert", name, target)
        assert result.exit_code == 2 and "t.loops.yaml exists" in result.stderr
        assert "--force" in result.stderr and not target.exists()
        assert "by hand" in loops.read_text()
    assert cli("convert", "panda", tmp_path / "t.svg").exit_code == 0
    for name in ("four_bar", "panda"):  # neither gets the loops of what was there
        assert cli("convert", name, target, "--force").exit_code == 0
        assert lw.load(target).loops == lw.load(name).loops


def test_a_target_that_is_a_link_to_itself_is_refused(cli: Callable[..., Any], tmp_path: Path):
    (tmp_path / "t.urdf").symlink_to("t.urdf")
    result = cli("convert", "panda", tmp_path / "t.urdf", "--force")
    assert result.exit_code == 2 and "a link that leads to itself" in result.stderr


def test_the_loops_of_the_file_beside_are_taken(cli: Callable[..., Any], tmp_path: Path):
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    assert cli("convert", "four_bar", tmp_path / "m.xml", "--strict").exit_code == 0
    assert len(lw.load(tmp_path / "m.xml").loops) == 2
    for end in ("yaml", "json"):
        assert cli("convert", "four_bar", tmp_path / f"four.{end}").exit_code == 0
    assert lw.load(tmp_path / "four.json").mechanism == lw.load("four_bar").mechanism
