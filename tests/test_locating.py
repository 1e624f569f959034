"""Names of meshes are looked for where this machine's settings say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linkwork.errors import InputError
from linkwork.locating import IMAGE_SUFFIXES, locate, package_finder


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
