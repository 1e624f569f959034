"""Descriptions are saved whole, with meshes that are found from the new place."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork import saving
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.formats.urdf import records
from linkwork.formats.urdf.read import read
from linkwork.locating import locate
from robots import example_robot_urdfs, various_robot_urdfs
from seeds import rng

MESHES = ("meshes/base.stl", "package://my_robot/meshes/arm.stl", "../my_robot/meshes/tool.obj")

TEXT = """<?xml version="1.0"?>
<!-- kept -->
<robot name="my_robot">
  <link name="base"><visual><geometry><mesh filename="{0}"/></geometry>
    <material name="wood"><texture filename="meshes/wood.png"/></material></visual></link>
  <link name="arm"><collision><geometry><mesh filename="{1}"/></geometry></collision></link>
  <link name="tool"><visual>
    <geometry><mesh filename="{2}" scale="1 2 1"/></geometry></visual></link>
  <gazebo reference="arm"><selfCollide>1</selfCollide></gazebo>
  <joint name="a" type="fixed"><parent link="base"/><child link="arm"/></joint>
  <joint name="b" type="fixed"><parent link="arm"/><child link="tool"/></joint>
</robot>
"""
for number, name in enumerate(MESHES):
    TEXT = TEXT.replace(f"{{{number}}}", name)

STL = b"solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
STL += b"endloop\nendfacet\nendsolid s\n"
OBJ = b"mtllib tool.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a description and its meshes."""
    folder = tmp_path.resolve() / "my_robot"
    (folder / "meshes").mkdir(parents=True)
    (folder / "package.xml").write_text("<package><name>my_robot</name></package>")
    (folder / "robot.urdf").write_text(TEXT)
    (folder / "meshes" / "base.stl").write_bytes(STL)
    (folder / "meshes" / "arm.stl").write_bytes(STL.replace(b"1 0 0", b"2 0 0"))
    (folder / "meshes" / "tool.obj").write_bytes(OBJ)
    (folder / "meshes" / "tool.mtl").write_bytes(b"newmtl m\nKd 1 0 0\nmap_Kd skin.png\n")
    (folder / "meshes" / "skin.png").write_bytes(b"skin")
    (folder / "meshes" / "wood.png").write_bytes(b"wood")
    return folder


def names(path: Path) -> list[str]:
    robot = read(path).robot
    shapes = [s.geometry for link in robot.links for s in (*link.visuals, *link.collisions)]
    return [shape.filename for shape in shapes if isinstance(shape, records.Mesh)]


def test_saved_in_its_place_nothing_changes(package: Path):
    file = package / "robot.urdf"
    document = lw.urdf.read(file)
    done = lw.urdf.write(document, file)
    assert (done.path, done.copied, done.missing, done.outside) == (file, (), (), ())
    again = lw.urdf.read(file)
    assert again.robot == document.robot
    assert names(file) == list(MESHES)
    assert "<!-- kept -->" in file.read_text()
    first = file.read_bytes()
    lw.urdf.write(again, file)
    assert file.read_bytes() == first


def test_referenced_names_lead_to_the_same_files(package: Path):
    (package / "elsewhere").mkdir()
    new = package / "elsewhere" / "robot.urdf"
    done = lw.urdf.write(lw.urdf.read(package / "robot.urdf"), new)
    assert not done.missing
    assert not done.outside
    # what leads there from the new place is left alone: relative names are looked up in the package
    for before, after in zip(MESHES, names(new), strict=True):
        assert locate(after, new) == locate(before, package / "robot.urdf")
    assert names(new)[:2] == list(MESHES[:2])


def test_names_that_leave_the_package_are_listed(package: Path):
    (package.parent / "far").mkdir()
    new = package.parent / "far" / "robot.urdf"
    done = lw.urdf.write(lw.urdf.read(package / "robot.urdf"), new, meshes="reference")
    relative = ["../my_robot/meshes/base.stl", "../my_robot/meshes/arm.stl"]
    assert names(new) == [relative[0], *MESHES[1:]]
    # this far up is still the parent of the description's folder, where meshes may lie
    assert not done.outside
    deep = package.parent / "far" / "deep" / "robot.urdf"
    deep.parent.mkdir()
    done = lw.urdf.write(lw.urdf.read(package / "robot.urdf"), deep, meshes="reference")
    assert set(done.outside) >= {f"../{name}" for name in relative}
    for name in set(done.outside) - {"../../my_robot/meshes/wood.png"}:
        with pytest.raises(InputError, match="outside"):
            locate(name, deep)


def readable(file: Path, allow: tuple[Path, ...] = ()) -> dict[tuple[str, int], bytes]:
    """The bytes of every mesh that a description names and that can be found, in its order."""
    found: dict[tuple[str, int], bytes] = {}
    for link in read(file).robot.links:
        for k, shown in enumerate((*link.visuals, *link.collisions)):
            if isinstance(shown.geometry, records.Mesh):
                with contextlib.suppress(InputError):
                    mesh = locate(shown.geometry.filename, file, allow)
                    found[link.name, k] = mesh.read_bytes()
    return found


@pytest.mark.parametrize("place", ["far/deep", "my_robot/elsewhere", "far", "my_robot"])
def test_what_was_readable_is_readable_from_the_new_place(package: Path, place: str):
    file, new = package / "robot.urdf", package.parent / place / "new.urdf"
    new.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(2):  # written over itself, nothing moves
        done = lw.urdf.write(lw.urdf.read(file), new)
        assert readable(new) == readable(file)
        assert not done.missing
        assert not done.outside
        assert names(new)[1] == MESHES[1]  # a package:// name stays what it is
    assert bool(done.copied) == (place == "far/deep")
    for _ in range(2):  # saved again from there, in its place and in another
        lw.urdf.write(lw.urdf.read(new), new)
        assert readable(new) == readable(file)
        new, old = new.parent / "on" / "new.urdf", new
        new.parent.mkdir()
        lw.urdf.write(lw.urdf.read(old), new)
        assert readable(new) == readable(file)
    if place == "far/deep":
        for path in package.rglob("*"):
            if path.is_file():
                path.unlink()
        assert lw.load(new).link_mesh("tool").faces.shape == (1, 3)


def test_what_was_allowed_has_to_be_allowed_again(package: Path, tmp_path: Path):
    outside = tmp_path.resolve() / "models" / "meshes"
    outside.mkdir(parents=True)
    (outside / "far.stl").write_bytes(STL)
    text = TEXT.replace(MESHES[0], "package://models/meshes/far.stl")
    (package / "deep/down").mkdir(parents=True)
    (package / "deep/down/robot.urdf").write_text(text)
    new = tmp_path.resolve() / "a" / "b" / "robot.urdf"
    new.parent.mkdir(parents=True)
    allow = (tmp_path.resolve() / "models",)
    done = lw.urdf.write(lw.urdf.read(package / "deep/down/robot.urdf"), new, allow=allow)
    assert done.outside == ("package://models/meshes/far.stl",)
    assert readable(new, allow) == readable(package / "deep/down/robot.urdf", allow)


def test_a_package_in_the_way_is_not_written_into(package: Path, tmp_path: Path):
    new = tmp_path.resolve() / "far" / "deep" / "robot.urdf"
    taken = new.parent / "my_robot" / "meshes" / "arm.stl"
    taken.parent.mkdir(parents=True)
    taken.write_bytes(b"mine")
    lw.urdf.write(lw.urdf.read(package / "robot.urdf"), new)
    assert taken.read_bytes() == b"mine"
    assert readable(new) == readable(package / "robot.urdf")


def saved_elsewhere(files: list[Path], folder: Path) -> None:
    """Save each into a folder of its own, and into its own again: all meshes are still found."""
    for k, file in enumerate(files):
        new = folder / str(k) / "deep" / file.name
        new.parent.mkdir(parents=True)
        lw.urdf.write(lw.urdf.read(file), new)
        assert names(new) == names(file), file  # they are package:// names
        assert readable(new) == readable(file), file
        assert new.read_bytes() == file.read_bytes()
        shutil.rmtree(folder / str(k))


def test_meshes_of_a_few_real_robots_are_not_lost(tmp_path: Path):
    files = [f for f in example_robot_urdfs() if f.name in ("panda.urdf", "double_pendulum.urdf")]
    assert files
    saved_elsewhere(files, tmp_path.resolve())


@pytest.mark.slow
def test_meshes_of_real_robots_are_not_lost(tmp_path: Path):
    saved_elsewhere(various_robot_urdfs(), tmp_path.resolve())


def test_copies_stand_beside_the_new_file_with_what_they_need(package: Path, tmp_path: Path):
    new = tmp_path.resolve() / "moved" / "robot.urdf"
    new.parent.mkdir()
    done = lw.urdf.write(lw.urdf.read(package / "robot.urdf"), new, meshes="copy")
    for name in names(new):
        assert name.startswith("meshes/")
        assert locate(name, new).is_relative_to(new.parent)
    copied = {path.name for path in done.copied}
    assert copied >= {"base.stl", "arm.stl", "tool.obj", "tool.mtl", "skin.png", "wood.png"}
    for path in done.copied:
        assert path.read_bytes() == (package / "meshes" / path.name).read_bytes()
    # nothing of the old package is needed any more
    for path in package.rglob("*"):
        if path.is_file():
            path.unlink()
    assert lw.load(new).link_mesh("base").faces.shape == (1, 3)


def test_equal_copies_are_not_written_again(package: Path, tmp_path: Path):
    new = tmp_path.resolve() / "moved" / "robot.urdf"
    new.parent.mkdir()
    document = lw.urdf.read(package / "robot.urdf")
    first = lw.urdf.write(document, new, meshes="copy")
    times = {path: path.stat().st_mtime_ns for path in first.copied}
    again = lw.urdf.write(document, new, meshes="copy")
    assert {path: path.stat().st_mtime_ns for path in again.copied} == times


def test_a_file_with_other_content_is_not_overwritten(package: Path, tmp_path: Path):
    new = tmp_path.resolve() / "moved" / "robot.urdf"
    (new.parent / "meshes").mkdir(parents=True)
    (new.parent / "meshes" / "base.stl").write_bytes(b"mine")
    lw.urdf.write(lw.urdf.read(package / "robot.urdf"), new, meshes="copy")
    assert (new.parent / "meshes" / "base.stl").read_bytes() == b"mine"
    assert locate(names(new)[0], new).read_bytes() == STL


def test_two_meshes_of_one_name_are_kept_apart(package: Path, tmp_path: Path):
    other = package / "other" / "meshes"
    other.mkdir(parents=True)
    (other / "base.stl").write_bytes(STL.replace(b"1 0 0", b"5 0 0"))
    text = TEXT.replace("package://my_robot/meshes/arm.stl", str(other / "base.stl"))
    (package / "robot.urdf").write_text(text)
    new = tmp_path.resolve() / "moved" / "robot.urdf"
    new.parent.mkdir()
    lw.urdf.write(lw.urdf.read(package / "robot.urdf"), new, meshes="copy")
    contents = [locate(name, new).read_bytes() for name in names(new)]
    assert contents[0] == STL
    assert contents[1] == (other / "base.stl").read_bytes()


def test_missing_meshes_keep_their_names_and_are_listed(package: Path, tmp_path: Path):
    (package / "meshes" / "arm.stl").unlink()
    for way in ("reference", "copy"):
        new = tmp_path.resolve() / way / "robot.urdf"
        new.parent.mkdir()
        done = lw.urdf.write(lw.urdf.read(package / "robot.urdf"), new, meshes=way)
        assert done.missing == (MESHES[1],)
        assert names(new)[1] == MESHES[1]


def test_kept_names_are_not_touched(package: Path, tmp_path: Path):
    new = tmp_path / "robot.urdf"
    lw.urdf.write(lw.urdf.read(package / "robot.urdf"), new, meshes="keep")
    assert names(new) == list(MESHES)


def test_a_robot_is_saved_as_it_was_loaded_and_refused_once_changed(package: Path, tmp_path: Path):
    robot = lw.load("ur5e")
    lw.urdf.write(robot, tmp_path / "a.urdf")
    assert lw.load(tmp_path / "a.urdf").fk_all(robot.neutral()).shape == (
        len(robot.frame_names),
        4,
        4,
    )
    lw.urdf.write(lw.load("ur5e", base="floating"), tmp_path / "b.urdf")
    assert (tmp_path / "a.urdf").read_bytes() == (tmp_path / "b.urdf").read_bytes()
    with pytest.raises(UnsupportedFeatureError, match="changed after it was loaded"):
        lw.urdf.write(robot.with_locked(robot.joint_names[0]), tmp_path / "c.urdf")
    with pytest.raises(UnsupportedFeatureError, match="no description"):
        lw.urdf.write(lw.Robot(robot.mechanism), tmp_path / "c.urdf")
    with pytest.raises(TypeError, match="not int"):
        lw.urdf.write(3, tmp_path / "c.urdf")  # type: ignore[arg-type]
    assert not (tmp_path / "c.urdf").exists()


def test_inertias_that_were_accepted_are_written_as_they_stand(tmp_path: Path):
    thin = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="5"/>'
    text = f"""<robot name="odd"><link name="a"/>
      <link name="b"><inertial><mass value="2"/>{thin}</inertial></link>
      <joint name="j" type="continuous"><axis xyz="0 0 1"/>
        <parent link="a"/><child link="b"/></joint>
      </robot>"""
    robot = lw.load(text).accept_inertias()
    (told,) = lw.save(robot, tmp_path / "a.urdf").findings
    assert (told.level, told.code) == ("note", "not-saved")
    assert "accept_inertias()" in told.hint
    again = lw.load(tmp_path / "a.urdf").accept_inertias()
    assert again.mass_matrix([0.3]) == pytest.approx(5.0)
    lw.save(robot, tmp_path / "a.json")
    assert lw.load(tmp_path / "a.json").mass_matrix([0.3]) == pytest.approx(5.0)


def test_what_the_format_does_not_have_is_told(tmp_path: Path):
    floating = lw.load("ur5e", base="floating")
    told = lw.save(floating, tmp_path / "a.urdf", strict=True).findings
    assert [(each.level, each.code) for each in told] == [("note", "not-saved")]
    assert "base='floating'" in str(told[0])
    (told,) = lw.save(floating, tmp_path / "a.json", strict=True).findings
    assert told.level == "note" and "shapes of links are left out" in told.message
    assert not lw.save(lw.load(tmp_path / "a.json"), tmp_path / "d.json").findings  # it has none
    scene = lw.Scene()
    scene.add_sphere("cup", 0.05)
    holding = lw.load("ur5e").with_attached("cup", scene.get("cup").shape, "tool0")
    for name in ("b.urdf", "b.json", "b.csv"):
        told = lw.save(holding, tmp_path / name).findings
        assert "objects that it holds are left out: 'cup'" in str(told[0])
        with pytest.raises(lw.DescriptionError, match="'cup'"):
            lw.save(holding, tmp_path / name, strict=True)
    assert not lw.save(holding, tmp_path / "b.svg").findings
    mass = lw.save(lw.load("ur5e"), tmp_path / "c.csv").findings
    assert [each.level for each in mass] == ["note", "note"]
    assert "2.9 kg" in str(mass[1])  # of the base, which no joint moves


def test_refusals_leave_what_is_there(package: Path):
    file = package / "robot.urdf"
    document, before = lw.urdf.read(file), file.read_bytes()
    with pytest.raises(InputError, match="overwrite=True"):
        lw.urdf.write(document, file, overwrite=False)
    with pytest.raises(InputError, match="meshes is"):
        lw.urdf.write(document, file, meshes="move")  # type: ignore[arg-type]
    bad = records.Robot("bad", (records.Link("a"), records.Link("a")))
    with pytest.raises(lw.DescriptionError):
        lw.urdf.write(bad, file)
    weightless = records.Inertial((float("nan"),) * 3, (0.0,) * 3, 1.0, ((1.0, 0.0, 0.0),) * 3)
    nan = records.Robot("bad", (records.Link("a", weightless),))
    with pytest.raises(ValueError, match=r"nan|finite"):
        lw.urdf.write(nan, file)
    assert file.read_bytes() == before
    with pytest.raises(InputError, match="cannot be written"):
        lw.urdf.write(document, package / "no" / "folder.urdf")


WRITER = """
import sys
import linkwork as lw
first, second = lw.urdf.read(sys.argv[1]), lw.urdf.read(sys.argv[2])
print("ready", flush=True)
while True:
    for document in (first, second):
        lw.urdf.write(document, sys.argv[3])
"""


@pytest.mark.slow
def test_p16_a_killed_save_leaves_one_of_both_descriptions(tmp_path: Path):
    random, target = rng("kill a save"), tmp_path / "robot.urdf"
    sources = []
    for name in ("panda", "humanoid"):
        path = tmp_path / f"{name}.urdf"
        lw.urdf.write(lw.load(name), path)
        sources.append(path)
    robots = [read(path).robot for path in sources]
    lw.urdf.write(robots[0], target)
    seen = set()
    for k in range(30):
        if k >= 6 and len(seen) == 2:
            break
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, *map(str, sources), str(target)],
            stdout=subprocess.PIPE,
        )
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(random.uniform(0.0, 0.03))
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait(timeout=60)
        writer.stdout.close()
        found = read(target).robot
        assert found in robots
        seen.add(found.name)
    assert len(seen) == 2, seen


HINGE = "version: 1\nloops: [{frame_a: coupler_end, frame_b: rocker_end, kind: revolute}]\n"


def pair(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_file_with_loops_that_is_there_is_not_replaced(tmp_path: Path):
    (tmp_path / "t.loops.yaml").write_text("# by hand\n" + HINGE)
    before = pair(tmp_path)
    for name in ("four_bar", "panda"):
        with pytest.raises(InputError, match=r"t\.loops\.yaml exists and has the loops of t\.urdf"):
            lw.urdf.write(lw.load(name), tmp_path / "t.urdf", overwrite=False)
        assert pair(tmp_path) == before
    with pytest.raises(InputError, match=r"t\.loops\.yaml exists"):
        lw.urdf.write(lw.urdf.read("panda"), tmp_path / "t.urdf", overwrite=False)
    lw.urdf.write(lw.load("panda"), tmp_path / "t.urdf")
    assert lw.load(tmp_path / "t.urdf").mechanism == lw.load("panda").mechanism
    assert sorted(pair(tmp_path)) == ["t.loops.yaml", "t.urdf"]


def test_both_files_are_checked_before_one_is_changed(tmp_path: Path):
    lw.urdf.write(lw.load("panda"), tmp_path / "t.urdf")
    (tmp_path / "t.loops.yaml").mkdir()
    text = (tmp_path / "t.urdf").read_bytes()
    with pytest.raises(InputError, match="no regular file"):
        lw.urdf.write(lw.load("four_bar"), tmp_path / "t.urdf")
    assert (tmp_path / "t.urdf").read_bytes() == text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.loops.yaml", "t.urdf"]


def test_loops_that_belong_to_neither_text_are_refused(tmp_path: Path):
    """As a save leaves them that was killed between two files, where somebody then edits one."""
    target, coming = tmp_path / "t.urdf", tmp_path / "t.loops.yaml.new"
    old, new = lw.load("five_bar"), lw.load("four_bar")
    lw.urdf.write(old, target)
    over = hashlib.sha256(target.read_bytes()).hexdigest()
    other = lw.urdf.write(new, tmp_path / "other.urdf")
    text = other.path.read_bytes()
    saved_with = hashlib.sha256(text).hexdigest()
    coming.write_text(f'saved_with: "{saved_with}"\nsaved_over: "{over}"\n' + HINGE)
    assert lw.load(target).mechanism == old.mechanism
    target.write_bytes(text)
    assert len(lw.load(target).loops) == 1
    target.write_bytes(text + b"<!-- mine -->")
    with pytest.raises(lw.DescriptionError, match="left of a save that was cut short"):
        lw.load(target)
    lw.urdf.write(new, target.with_name("fresh.urdf"))
    assert not target.with_name("fresh.loops.yaml.new").exists()


def test_a_link_to_itself_is_refused(tmp_path: Path):
    (tmp_path / "t.urdf").symlink_to("t.urdf")
    for overwrite in (True, False):
        with pytest.raises(InputError, match=r"t\.urdf"):
            lw.urdf.write(lw.load("panda"), tmp_path / "t.urdf", overwrite=overwrite)
    assert (tmp_path / "t.urdf").is_symlink()


def test_a_urdf_is_written_whatever_its_file_is_called(tmp_path: Path):
    done = lw.urdf.write(lw.load("panda"), tmp_path / "panda.xml")
    assert done.path.read_text() == lw.to_text(lw.load("panda"))


# every format


def test_p1_each_format_is_written_by_the_end_of_the_name_and_as_text(tmp_path: Path):
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    for format, ends in saving.FORMATS.items():
        robot = lw.load("ur5e" if format == "dh" else "four_bar")  # a table is of a chain
        text = lw.to_text(robot, format)
        for end in ends:
            (tmp_path / end).mkdir()  # a URDF's loops stand beside it, and an MJCF has its own
            done = lw.save(robot, tmp_path / end / f"robot{end}")
            written = done.path.read_text("utf-8")
            assert written == (f"```mermaid\n{text}```\n" if end == ".md" else text)
        said = lw.save(robot, tmp_path / "said", format=format)
        assert said.path.read_text("utf-8") == text
    robot = lw.load("four_bar")
    assert lw.load(tmp_path / ".json" / "robot.json").mechanism == robot.mechanism
    assert len(lw.load(tmp_path / ".xml" / "robot.xml").loops) == 2
    loops = lw.load(lw.urdf.read("four_bar"), loops=tmp_path / ".yaml" / "robot.yaml")
    assert loops.mechanism == robot.mechanism


def test_loops_of_an_mjcf_count_once_where_a_file_with_loops_lies_beside_it(tmp_path: Path):
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    robot = lw.load("four_bar")
    lw.save(robot, tmp_path / "a.urdf")
    lw.save(robot, tmp_path / "a.xml")
    assert (tmp_path / "a.loops.yaml").exists()
    alone = lw.load(tmp_path / "a.xml", loops=False)
    assert lw.load(tmp_path / "a.xml").mechanism == alone.mechanism
    both = lw.load(tmp_path / "a.xml", loops=tmp_path / "a.loops.yaml")
    assert len(both.loops) == len(alone.loops) + 1


def test_what_a_format_cannot_hold_is_told_or_refused(tmp_path: Path):
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    robot = lw.load("planar_3r").with_loop("base_link", "tool0", "universal", name="u")
    told = [p for p in lw.save(robot, tmp_path / "m.xml").findings if p.level == "warning"]
    assert [(p.code, ": 'u'" in p.message) for p in told] == [("mjcf-loops", True)]
    with pytest.raises(lw.DescriptionError, match="'u'"):
        lw.save(robot, tmp_path / "n.xml", strict=True)
    assert not (tmp_path / "n.xml").exists()


def test_a_changed_robot_is_saved_as_json_with_its_edits(tmp_path: Path):
    changed = lw.load("ur5e").with_locked("elbow_joint").with_frame("tip", "tool0", np.eye(4))
    with pytest.raises(UnsupportedFeatureError, match=r"saved as \.json"):
        lw.save(changed, tmp_path / "a.urdf")
    with pytest.raises(InputError, match=r"not clear; end the name in one of \.urdf, \.xml"):
        lw.save(changed, tmp_path / "a.step")
    with pytest.raises(InputError, match="format is one of urdf, mjcf, loops, json"):
        lw.to_text(changed, "png")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="meshes says nothing for json"):
        lw.save(changed, tmp_path / "a.json", meshes="copy")
    assert not list(tmp_path.iterdir())
    file = lw.save(changed, tmp_path / "a.json").path
    assert lw.load(file).mechanism == changed.mechanism
    with pytest.raises(InputError, match="with its base"):
        lw.load(file, base="floating")
    file.write_text("{}")
    with pytest.raises(lw.DescriptionError, match=r"a\.json: error: format must be"):
        lw.load(file)


def test_a_table_says_that_springs_and_gravity_are_left_out(tmp_path: Path):
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    robot = lw.load(
        "<mujoco><option gravity='0 0 -1'/><worldbody><body name='b'>"
        "<joint name='j' stiffness='2'/><geom size='.1'/></body></worldbody></mujoco>"
    )
    found = lw.save(robot, tmp_path / "table.csv").findings
    for words in ("a table has no springs", "a table has no gravity: that of the robot"):
        assert any(words in each.message for each in found)
    kept = lw.save(robot, tmp_path / "robot.json").findings
    assert not any("springs" in each.message for each in kept)
    assert lw.load(tmp_path / "robot.json").mechanism == robot.mechanism
