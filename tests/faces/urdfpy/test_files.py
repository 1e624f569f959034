from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pytest

from linkwork.errors import DescriptionError
from linkwork.faces.urdfpy import URDF
from linkwork.formats.urdf.read import read

trimesh = pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")
images = pytest.importorskip("PIL.Image", reason="Pillow (pip install pillow) is not installed")


def visual(name: str, look: str = "") -> str:
    return f'<visual><geometry><mesh filename="{name}"/></geometry>{look}</visual>'


@pytest.fixture(name="source")
def _source(tmp_path: Path) -> Path:
    """A package with meshes in its folder, beside it and far away."""
    root = tmp_path / "old" / "robot"
    for folder in ("meshes", "urdf", "../shared"):
        (root / folder).mkdir(parents=True)
    (root / "package.xml").write_text("<package><name>robot</name></package>")
    trimesh.creation.box((1, 2, 3)).export(root / "meshes" / "cube.stl")
    trimesh.creation.icosphere().export(root / "urdf" / "ball.ply")
    images.new("RGB", (4, 3), (200, 100, 50)).save(root / "urdf" / "wood.png")
    return root


def described(source: Path, *shapes: str) -> URDF:
    path = source / "urdf" / "r.urdf"
    path.write_text(f'<robot name="r"><link name="l">{"".join(shapes)}</link></robot>')
    return URDF.load(str(path))


@pytest.mark.row("S2-199")
def test_loading_from_a_path_a_file_and_bytes(shapes_file: Path):
    path = shapes_file
    text = path.read_text(encoding="utf-8")
    made = [URDF.load(str(path)), URDF.load(path), URDF.load(io.StringIO(text))]
    made.append(URDF.load(io.BytesIO(text.encode())))
    for mode in ("r", "rb"):
        with open(path, mode) as stream:
            made.append(URDF.load(stream))
    assert {robot.name for robot in made} == {"shapes"}
    assert all([link.name for link in robot.links] == ["body", "tip"] for robot in made)
    assert made[0].load(str(path)).name == "shapes"  # by an object too, as a static method


@pytest.mark.row("S2-199")
def test_an_open_file_says_where_meshes_are(source: Path):
    described(source, visual("ball.ply"))
    with open(source / "urdf" / "r.urdf") as stream:
        robot = URDF.load(stream)
    assert robot.links[0].visuals[0].geometry.meshes


@pytest.mark.row("S2-199")
def test_what_cannot_be_loaded(tmp_path: Path):
    with pytest.raises(ValueError, match="no such file"):
        URDF.load(str(tmp_path / "gone.urdf"))
    with pytest.raises(ValueError, match=r".+"):
        URDF.load(str(tmp_path))
    (tmp_path / "bad.urdf").write_text("<robot name='r'>\n<link name='a'></robot>")
    with pytest.raises(DescriptionError) as caught:
        URDF.load(str(tmp_path / "bad.urdf"))
    assert caught.value.problems[0].line == 2
    with pytest.raises(TypeError):
        URDF.load(3)


@pytest.mark.row("S2-204", "S2-200", "S2-127", "S2-095")
def test_saving_gives_the_same_description_back(shapes_file: Path, tmp_path: Path):
    tip = '<!-- end --><link name="tip" colour="3"/><gazebo a="1"><b/></gazebo>'
    text = shapes_file.read_text(encoding="utf-8").replace('<link name="tip"/>', tip)
    (tmp_path / "a.urdf").write_text(text, encoding="utf-8")
    robot = URDF.load(str(tmp_path / "a.urdf"))
    _ = robot.links[1].inertial  # to look at it does not add it
    assert robot.save(str(tmp_path / "b.urdf")) is None
    before, after = read(tmp_path / "a.urdf"), read(tmp_path / "b.urdf")
    assert after.robot == before.robot
    assert "<!-- end -->" in (tmp_path / "b.urdf").read_text()
    assert after.robot.links[1].inertial is None
    URDF.load(str(tmp_path / "b.urdf")).save(str(tmp_path / "c.urdf"))
    assert (tmp_path / "c.urdf").read_bytes() == (tmp_path / "b.urdf").read_bytes()


@pytest.mark.row("S2-200")
def test_numbers_are_saved_to_the_last_bit(shapes: URDF, tmp_path: Path):
    joint = shapes.joints[0]
    joint.limit.lower = -0.1 - 0.2
    joint.origin[:3, 3] = [1 / 3, 2e-17, 1e22 / 7]
    shapes.links[0].visuals[0].geometry.box.size = [1 / 3, 1 / 7, 1 / 9]
    shapes.links[0].inertial.inertia[0, 1] = shapes.links[0].inertial.inertia[1, 0] = 1 / 300
    shapes.save(str(tmp_path / "new.urdf"))
    again = URDF.load(str(tmp_path / "new.urdf"))
    assert again.joints[0].limit.lower == -0.1 - 0.2
    assert np.array_equal(again.joints[0].origin, joint.origin)
    assert again.links[0].visuals[0].geometry.box.size.tolist() == [1 / 3, 1 / 7, 1 / 9]
    assert again.links[0].inertial.inertia[0, 1] == 1 / 300


@pytest.mark.row("S2-200")
def test_saving_to_an_open_file(shapes: URDF, tmp_path: Path):
    text, data = io.StringIO(), io.BytesIO()
    shapes.save(text)
    shapes.save(data)
    assert text.getvalue().startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    assert text.getvalue().encode() == data.getvalue()
    with open(tmp_path / "x.urdf", "w", encoding="utf-8") as stream:
        shapes.save(stream)
    assert (tmp_path / "x.urdf").read_text() == text.getvalue()


@pytest.mark.row("S2-200", "S2-010")
def test_meshes_and_images_go_beside_the_new_file_under_their_names(source: Path, tmp_path: Path):
    look = '<material name="w"><texture filename="wood.png"/></material>'
    robot = described(source, visual("ball.ply", look))
    new = tmp_path / "new" / "deep" / "r.urdf"
    robot.save(str(new))
    for name in ("ball.ply", "wood.png"):
        assert (new.parent / name).read_bytes() == (source / "urdf" / name).read_bytes()
    again = URDF.load(str(new))
    shape = again.links[0].visuals[0]
    assert shape.geometry.mesh.filename == "ball.ply"
    assert len(shape.geometry.meshes[0].vertices) == 642
    assert shape.material.texture.image.size == (4, 3)


@pytest.mark.row("S2-010", "S2-200")
@pytest.mark.parametrize("name", ["../meshes/cube.stl", "package://robot/meshes/cube.stl", "{}"])
def test_a_name_that_leads_outside_writes_nothing_there(source: Path, tmp_path: Path, name: str):
    cube = source / "meshes" / "cube.stl"
    robot = described(source, visual(name.format(cube)))
    new = tmp_path / "far" / "new" / "r.urdf"
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    robot.save(str(new))
    outside = [p for p in tmp_path.rglob("*") if p.is_file() and new.parent not in p.parents]
    assert {path: path.stat().st_mtime_ns for path in outside} == before
    again = URDF.load(str(new))
    assert again.links[0].visuals[0].geometry.mesh.filename == "meshes/cube.stl"
    assert np.allclose(again.links[0].visuals[0].geometry.meshes[0].extents, [1, 2, 3])
    assert robot.links[0].visuals[0].geometry.mesh.filename == name.format(cube)


@pytest.mark.row("S2-010", "S2-011")
def test_an_absolute_name_that_is_found_from_the_new_file_stays(source: Path, tmp_path: Path):
    cube = source / "meshes" / "cube.stl"
    robot = described(source, visual(str(cube)))
    robot.save(str(source / "urdf" / "second.urdf"))
    assert not (source / "urdf" / "meshes").exists()
    shape = URDF.load(str(source / "urdf" / "second.urdf")).links[0].visuals[0].geometry
    assert shape.mesh.filename == str(cube)
    before = cube.read_bytes()
    new = tmp_path / "far" / "new" / "r.urdf"
    robot.save(str(new), allow_outside=True)
    assert str(cube) in new.read_text()
    assert cube.read_bytes() == before
    assert [path.name for path in new.parent.iterdir()] == ["r.urdf"]


def colours(folder: Path, colour: str) -> Path:
    """A mesh whose colours are in a file of the same name in every folder."""
    folder.mkdir(parents=True)
    (folder / "look.mtl").write_text(f"newmtl m\nKd {colour}\n")
    text = "mtllib look.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    (folder / "part.obj").write_text(text)
    return folder / "part.obj"


@pytest.mark.row("S2-010")
@pytest.mark.parametrize("twice", [False, True])
def test_files_of_one_name_from_several_folders_do_not_meet(
    source: Path, tmp_path: Path, twice: bool
):
    far = [colours(tmp_path / name, colour) for name, colour in (("x", "1 0 0"), ("y", "0 1 0"))]
    own = colours(source / "urdf" / "meshes", "0 0 1")
    names = [str(far[0]), str(far[1]), "meshes/part.obj"]
    path = source / "urdf" / "r.urdf"
    shapes = "".join(visual(name) for name in names)
    path.write_text(f'<robot name="r"><link name="l">{shapes}</link></robot>')
    robot = URDF.load(str(path), allow=[tmp_path / "x", tmp_path / "y"])
    for new in (path, tmp_path / "far" / "new" / "r.urdf"):  # in its old place too
        for _ in range(1 + twice):
            robot.save(str(new))
        saved = [v.geometry.mesh.filename for v in URDF.load(str(new)).links[0].visuals]
        assert saved == ["meshes/part_2/part.obj", "meshes/part_3/part.obj", "meshes/part.obj"]
        for name, old in zip(saved, (*far, own), strict=True):
            for file in (old, old.with_name("look.mtl")):
                assert (new.parent / name).with_name(file.name).read_bytes() == file.read_bytes()
        assert len(list((new.parent / "meshes").rglob("*.obj"))) == 3


@pytest.mark.row("S2-010")
def test_outside_is_written_only_where_it_is_allowed(source: Path, tmp_path: Path):
    robot = described(source, visual("../meshes/cube.stl"))
    new = tmp_path / "new" / "urdf" / "r.urdf"
    robot.save(str(new), allow_outside=True)
    assert (tmp_path / "new" / "meshes" / "cube.stl").is_file()
    assert "../meshes/cube.stl" in new.read_text()


@pytest.mark.row("S2-010", "S2-053")
def test_meshes_made_by_a_program_are_written(source: Path, tmp_path: Path):
    robot = described(source, visual("ball.ply"))
    mesh = robot.links[0].visuals[0].geometry.mesh
    mesh.meshes = trimesh.creation.box((4, 5, 6))
    original = (source / "urdf" / "ball.ply").read_bytes()
    new = tmp_path / "new" / "r.urdf"
    robot.save(str(new))
    assert (source / "urdf" / "ball.ply").read_bytes() == original
    again = URDF.load(str(new)).links[0].visuals[0].geometry
    assert np.allclose(again.meshes[0].extents, [4, 5, 6])
    again.meshes[0].apply_scale(2.0)  # changed in place: no longer what the file holds
    other = URDF.load(str(new))
    other.links[0].visuals[0].geometry.meshes[0].apply_scale(2.0)
    other.save(str(new))
    assert np.allclose(
        URDF.load(str(new)).links[0].visuals[0].geometry.meshes[0].extents, [8, 10, 12]
    )
    mesh.filename = "ball.dae"
    with pytest.raises(NotImplementedError, match=r"ball\.dae"):
        robot.save(str(tmp_path / "third" / "r.urdf"))
    assert not (tmp_path / "third").exists()


@pytest.mark.row("S2-010", "S2-067")
def test_images_made_by_a_program_are_written(source: Path, tmp_path: Path):
    look = '<material name="w"><texture filename="wood.png"/></material>'
    robot = described(source, visual("ball.ply", look))
    robot.materials[0].texture.image = np.full((8, 9, 3), 77, np.uint8)
    robot.save(str(tmp_path / "new" / "r.urdf"))
    with images.open(tmp_path / "new" / "wood.png") as image:
        assert image.size == (9, 8)


@pytest.mark.row("S2-010")
def test_missing_meshes_keep_their_names_and_are_told(source: Path, tmp_path: Path):
    robot = described(source, visual("gone.stl"))
    with pytest.warns(UserWarning, match=r"gone\.stl"):
        robot.save(str(tmp_path / "new" / "r.urdf"))
    assert "gone.stl" in (tmp_path / "new" / "r.urdf").read_text()


@pytest.mark.row("S2-010")
def test_a_link_in_the_new_folder_is_not_followed_out_of_it(source: Path, tmp_path: Path):
    robot = described(source, visual("ball.ply"))
    new = tmp_path / "new"
    new.mkdir()
    victim = tmp_path / "victim.ply"
    victim.write_text("precious")
    try:
        os.symlink(victim, new / "ball.ply")
    except OSError:
        pytest.skip("links cannot be made here")
    robot.save(str(new / "r.urdf"))
    assert victim.read_text() == "precious"
    assert URDF.load(str(new / "r.urdf")).links[0].visuals[0].geometry.meshes


@pytest.mark.row("S2-200", "S2-083")
def test_what_no_file_can_say_leaves_the_old_file(shapes: URDF, tmp_path: Path):
    path = tmp_path / "shapes.urdf"
    before = path.read_bytes()
    shapes.links[0].collisions[0].origin = np.diag([-1.0, 1, 1, 1])
    with pytest.raises(ValueError, match="mirrored"):
        shapes.save(str(path))
    shapes.links[0].collisions[0].origin = None
    shapes.joints[0].name = "a\x00b"
    shapes.transmissions[0].joints[0].name = "a\x00b"
    with pytest.raises(ValueError, match=r".+"):
        shapes.save(str(path))
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["shapes.urdf"]
