"""Documents, meshes of robots that are loaded, and what is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

import linkwork.faces.skrobot as skrobot
from linkwork.errors import InputError
from linkwork.faces.skrobot.models import Kuka
from linkwork.faces.skrobot.utils import URDF, listify
from linkwork.faces.skrobot.utils.urdf import (
    enable_mesh_cache,
    get_filename,
    mesh_simplify_factor,
    no_mesh_load_mode,
    resolve_filepath,
)


def test_submodules_are_there_by_name():
    assert skrobot.coordinates.make_coords is skrobot.coordinates.base.make_coords
    assert skrobot.models.Kuka is Kuka
    assert set(skrobot.__all__) <= set(dir(skrobot))
    with pytest.raises(AttributeError, match="no attribute 'sdfs'"):
        _ = skrobot.sdfs


def test_documents_are_read_and_written(tmp_path: Path):
    robot = URDF.load(Kuka().urdf_path)
    assert robot.name == "lbr_iiwa_with_wsg50"
    assert robot.base_link.name == "lbr_iiwa_with_wsg50__lbr_iiwa_link_0"
    assert len(robot.actuated_joints) == 11
    robot.save(str(tmp_path / "copy.urdf"))
    again = skrobot.models.RobotModelFromURDF(urdf_file=tmp_path / "copy.urdf")
    assert again.joint_names == Kuka().joint_names


def test_how_meshes_are_read():
    with no_mesh_load_mode():
        bare = Kuka()
    assert all(not link.visual_mesh and link.collision_mesh is None for link in bare.link_list)
    for mode in (mesh_simplify_factor(0.5), enable_mesh_cache()):
        with mode:
            assert Kuka().link_list[1].visual_mesh
    with pytest.raises(InputError, match="above zero"), mesh_simplify_factor(0.0):
        pass


def test_files_of_descriptions_are_found(tmp_path: Path):
    mesh = tmp_path / "arm" / "meshes" / "a.stl"
    mesh.parent.mkdir(parents=True)
    mesh.write_bytes(b"")
    base = str(tmp_path / "arm" / "urdf")
    assert resolve_filepath("/tmp", "x.obj") == "/tmp/x.obj"
    assert resolve_filepath("/tmp", "file:///a/x.obj") == "/a/x.obj"
    assert resolve_filepath(base, "../meshes/a.stl") == str(mesh)
    assert resolve_filepath(base, "package://arm/meshes/a.stl") == str(mesh)


def test_lists():
    assert listify(3) == [3]
    assert listify([1]) == [1]
    assert listify((1, 2)) == [(1, 2)]
    assert listify("a", 2) == ["a", "a"]


def test_files_that_are_there(tmp_path: Path):
    (tmp_path / "a.stl").write_text("x")
    assert get_filename(str(tmp_path), "a.stl") == str(tmp_path / "a.stl")
    assert get_filename("/", f"file://{tmp_path}/a.stl") == str(tmp_path / "a.stl")
    assert get_filename(str(tmp_path), f"package://{tmp_path.name}/a.stl") == str(
        tmp_path / "a.stl"
    )
    assert get_filename(str(tmp_path), "b.stl") is None
    assert get_filename(str(tmp_path), "new/b.stl", makedirs=True) == str(tmp_path / "new/b.stl")
    assert (tmp_path / "new").is_dir()
