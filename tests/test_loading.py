"""Where descriptions come from, and which files their names mean."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError
from linkwork.locating import IMAGE_SUFFIXES, locate, package_finder
from linkwork.models import MODELS, path
from mjcf_samples import OBJ
from robots import chain_urdf, every_joint_urdf


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "chain.urdf"
    place.write_text(chain_urdf(2), encoding="utf-8")
    return place


@pytest.mark.parametrize("name", MODELS)
def test_every_bundled_model_loads_by_its_name(name):
    r = lw.load(name)
    assert r.mechanism == lw.load(path(name)).mechanism
    assert MODELS[name].tip in r.frame_names
    assert bool(r.loops) == MODELS[name].closed
    assert r.n_v == MODELS[name].degrees_of_freedom or r.loops
    assert r.document.robot.file == str(path(name))


class Place:
    """A path-like object."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return self.path


def test_every_kind_of_source_gives_the_same_robot(file, monkeypatch):
    text = file.read_text(encoding="utf-8")
    expected = lw.load(file)
    sources = [
        str(file), Place(str(file)), file.resolve(), text, text.encode(), text.encode("utf-16"),
        f'<?xml version="1.0"?>\n{text}', f"\ufeff{text}", f"\n \t{text}",
        b"\xef\xbb\xbf" + text.encode(),
    ]  # fmt: skip
    for source in sources:
        r = lw.load(source)
        assert r.mechanism == expected.mechanism
        assert isinstance(r, lw.Robot)
    monkeypatch.chdir(file.parent)
    for source in (
        "chain.urdf",
        "./chain.urdf",
        Path("chain.urdf"),
        f"../{file.parent.name}/chain.urdf",
    ):
        assert lw.load(source).mechanism == expected.mechanism


def test_a_file_may_have_any_ending_that_is_not_another_format(file):
    for name in ("chain.xml", "chain.URDF", "chain.v2", "chain.urdf.txt", "règle ✓.urdf"):
        other = file.with_name(name)
        other.write_bytes(file.read_bytes())
        assert lw.load(str(other)).n_q == 2
    bare = file.with_name("chain")
    bare.write_bytes(file.read_bytes())
    assert lw.load(bare).n_q == 2  # a Path is never a model's name
    assert lw.load(str(bare)).n_q == 2


def test_a_word_is_a_model_even_where_a_file_has_the_name(file, monkeypatch):
    file.with_name("ur5e").write_bytes(file.read_bytes())
    monkeypatch.chdir(file.parent)
    assert lw.load("ur5e").n_q == 6
    assert lw.load("./ur5e").n_q == 2


@pytest.mark.parametrize(
    "name", ["ur5", "UR5e", "humanoyd", "robot", "", " ur5e", "ur5e\n", "ur5e\0"]
)
def test_an_unknown_model_lists_the_nearest(name):
    with pytest.raises(lw.UnknownNameError, match="no bundled model named") as caught:
        lw.load(name)
    assert caught.value.valid == tuple(MODELS)
    if name in ("ur5", "humanoyd"):
        assert f"nearest: {'ur5e' if name == 'ur5' else 'humanoid'}" in str(caught.value)


@pytest.mark.parametrize("suffix", [".sdf", ".usd", ".SDF"])
@pytest.mark.parametrize("exists", [True, False])
def test_another_format_is_refused_by_name(file, suffix, exists):
    other = file.with_suffix(suffix)
    if exists:
        other.write_bytes(file.read_bytes())
    for source in (other, str(other), other.name):
        with pytest.raises(lw.UnsupportedFeatureError, match=suffix.lower()):
            lw.load(source)


def test_xacro_and_mjcf_are_told_by_their_names_and_roots(tmp_path):
    pytest.importorskip("xacro", reason="the xacro package (pip install xacro) is not installed")
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    (tmp_path / "r.xacro").write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="n" '
        'default="a"/><link name="$(arg n)"/></robot>'
    )
    assert lw.load(tmp_path / "r.xacro").frame_names == ("a",)
    assert lw.load(str(tmp_path / "r.xacro"), arguments={"n": "b"}).frame_names == ("b",)
    text = (
        '<mujoco model="m"><worldbody><body name="arm"><joint name="j"/><geom size="0.1"/></body>'
        "</worldbody></mujoco>"
    )
    (tmp_path / "m.xml").write_text(text)
    for source in (tmp_path / "m.xml", text, text.encode()):
        assert lw.load(source).joint_names == ("j",)
    (tmp_path / "u.xml").write_text('<robot name="u"><link name="a"/></robot>')
    assert lw.load(tmp_path / "u.xml").name == "u"
    with pytest.raises(lw.InputError, match="freejoint"):
        lw.load(text, base="floating")
    with pytest.raises(lw.InputError, match="arguments are for xacro"):
        lw.load(tmp_path / "u.xml", arguments={"a": "b"})
    with pytest.raises(lw.DescriptionError, match="no such file"):
        lw.load(tmp_path / "no.xacro")


def test_a_file_that_is_not_there_is_named(tmp_path):
    for source in (
        tmp_path / "no.urdf", str(tmp_path / "no.urdf"), "no.urdf", "no/chain", Path("chain"),
        "~/chain.urdf", "$HOME/chain.urdf", "https://example.org/chain.urdf", "a\0b.urdf",
        tmp_path / ("x" * 5000 + ".urdf"), tmp_path / "no.urdf" / "chain.urdf",
    ):  # fmt: skip
        with pytest.raises(lw.DescriptionError) as caught:
            lw.load(source)
        assert len(caught.value.problems) == 1
        assert len(str(caught.value)) < 6000
    assert "no.urdf" in str(_error(tmp_path / "no.urdf"))
    assert "no such file" in str(_error(tmp_path / "no.urdf"))


def _error(source) -> lw.DescriptionError:
    with pytest.raises(lw.DescriptionError) as caught:
        lw.load(source)
    return caught.value


def test_what_is_no_file_is_not_opened(tmp_path):
    assert "folder" in str(_error(tmp_path))
    assert "folder" in str(_error("/"))
    if hasattr(os, "mkfifo"):
        pipe = tmp_path / "pipe.urdf"
        os.mkfifo(pipe)
        assert "pipe" in str(_error(pipe))
    if Path("/dev/zero").exists():
        assert "device" in str(_error("/dev/zero"))


@pytest.mark.parametrize("source", [None, 3, 1.5, [], {}, {1: 2}, ["<robot/>"]], ids=repr)
def test_a_source_of_another_type_is_a_type_error(source):
    with pytest.raises(TypeError, match=f"a Document, not {type(source).__name__}"):
        lw.load(source)


def test_text_that_is_no_xml_is_no_long_message():
    error = _error(lw.to_text(lw.load("ur5e"), "json"))
    assert isinstance(error, lw.MissingFileError)
    assert "an XML text begins with '<'" in str(error)
    assert len(str(error)) < 300


@pytest.mark.parametrize(
    "text",
    [
        "<robot", "<", "<robot/>", "<a/>", b"", b"\0\0", b"not xml", b"<robot name='r'>",
        "<robot name='r'/>", "<!DOCTYPE r [<!ENTITY a 'b'>]><robot/>",
        "<sdf version='1.7'><model name='m'/></sdf>", "<mujoco", b"\x1f\x8b\x08\0",
        '<robot name="r"><link name="a"/><link name="b"/></robot>',
    ],
)  # fmt: skip
def test_text_that_is_no_robot_is_a_description_error(text):
    problems = _error(text).problems
    assert problems
    assert all(problem.level == "error" for problem in problems)


def test_every_error_of_a_file_names_the_file_and_the_line(file):
    file.write_text(
        "<robot name='r'>\n<link name='a'/>\n<link name='a'/>\n"
        "<joint name='j' type='revolute'><parent link='a'/><child link='c'/>\n"
        "<origin xyz='0 0 nan'/></joint>\n</robot>",
        encoding="utf-8",
    )
    problems = _error(file).problems
    assert len(problems) >= 3
    assert {problem.line for problem in problems} >= {3, 4, 5}
    for line in str(_error(file)).splitlines():
        assert line.startswith(f"{file}:")
        assert int(line.removeprefix(f"{file}:").split(":")[0]) > 0


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_the_base_may_float(base):
    r = lw.load(every_joint_urdf(), base=base)
    assert (r.joint_names[0] == "floating_base") == (base == "floating")
    moved = lw.load("ur5e", base="floating")
    q = moved.configuration({"floating_base": [1, 2, 3, 0, 0, 0, 2]})
    at_rest = lw.load("ur5e")
    expected = lw.pose([1, 2, 3], wxyz=[0, 0, 0, 1]) @ at_rest.fk(at_rest.neutral(), "tool0")
    np.testing.assert_allclose(moved.fk(q, "tool0"), expected, atol=1e-15)


@pytest.mark.parametrize("base", ["Fixed", "free", None, 0, ""])
def test_another_base_is_refused(base):
    with pytest.raises(lw.InputError, match="the base is 'fixed' or 'floating'"):
        lw.load("ur5e", base=base)


def test_a_base_is_named_apart_from_the_joints():
    text = chain_urdf(1).replace("joint1", "floating_base")
    r = lw.load(text, base="floating")
    assert len(set(r.joint_names)) == 2
    assert r.n_q == 8


def test_loading_leaves_the_file_and_the_text_alone(file):
    before, when = file.read_bytes(), file.stat().st_mtime_ns
    data = bytearray(before)
    first = lw.load(file)
    again = lw.load(file)
    assert first is not again
    assert first.mechanism == again.mechanism
    assert (file.read_bytes(), file.stat().st_mtime_ns) == (before, when)
    assert sorted(p.name for p in file.parent.iterdir()) == [file.name]
    file.unlink()
    assert first.fk(first.neutral()).shape == (4, 4)
    assert bytes(data) == before


def test_masses_that_follow_from_a_mesh_of_an_mjcf(tmp_path):
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    (tmp_path / "k.obj").write_text(OBJ)
    (tmp_path / "r.xml").write_text(
        '<mujoco><asset><mesh name="k" file="k.obj"/></asset><worldbody><body name="b">'
        '<joint name="j"/><geom type="mesh" mesh="k"/></body></worldbody></mujoco>'
    )
    mechanism = lw.load(tmp_path / "r.xml").mechanism
    assert mechanism.mass.sum() == pytest.approx(1000.0 / 6.0, rel=1e-9)  # of water


@pytest.fixture
def ros(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ROS path with a package, and a description elsewhere."""
    (tmp_path / "ros" / "arm" / "meshes").mkdir(parents=True)
    (tmp_path / "ros" / "arm" / "meshes" / "link.stl").write_bytes(b"")
    (tmp_path / "ros" / "arm" / "meshes" / "skin.png").write_bytes(b"")
    (tmp_path / "mine").mkdir()
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    return tmp_path.resolve()


def test_the_environments_packages_are_searched(ros: Path, monkeypatch: pytest.MonkeyPatch):
    file = ros / "mine" / "robot.urdf"
    mesh = ros / "ros" / "arm" / "meshes" / "link.stl"
    assert locate("package://arm/meshes/link.stl", file) == mesh
    assert package_finder(file)("arm") == ros / "ros" / "arm"
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    with pytest.raises(InputError, match="not found"):
        locate("package://arm/meshes/link.stl", file)
    assert locate("package://arm/meshes/link.stl", file, [ros / "ros"]) == mesh
    assert package_finder(file, [ros / "ros"])("arm") == ros / "ros" / "arm"


def test_images_are_found_by_their_own_suffixes(ros: Path):
    file = ros / "mine" / "robot.urdf"
    name = "package://arm/meshes/skin.png"
    assert locate(name, file, suffixes=IMAGE_SUFFIXES).name == "skin.png"
    with pytest.raises(InputError, match="no such file by its name"):
        locate(name, file)


def test_the_home_folder_is_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "sub").mkdir()
    (tmp_path / "near.stl").write_bytes(b"")
    with pytest.raises(InputError, match="outside"):
        locate("../near.stl", tmp_path / "sub" / "robot.urdf")


def test_the_environment_allows_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    mesh = tmp_path.resolve() / "elsewhere" / "link.stl"
    mesh.parent.mkdir()
    mesh.write_bytes(b"")
    file = tmp_path / "mine" / "urdf" / "robot.urdf"
    with pytest.raises(InputError, match="allow"):
        locate(str(mesh), file)
    monkeypatch.setenv("LINKWORK_ALLOW", f"/nowhere:{mesh.parent}".replace(":", os.pathsep))
    assert locate(str(mesh), file) == mesh
    monkeypatch.setenv("LINKWORK_ALLOW", str(mesh.parent.parent))
    assert package_finder(file)("elsewhere") == mesh.parent
