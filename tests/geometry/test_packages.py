"""Packages are found by name near a description, in few places, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwork.errors import InputError
from linkwork.geometry.packages import package_finder


def package(folder: Path, name: str | None = None) -> Path:
    """A folder, with a package.xml where a name is given."""
    folder.mkdir(parents=True, exist_ok=True)
    if name:
        (folder / "package.xml").write_text(f"<package>\n<name> {name} </name></package>")
    return folder


@pytest.fixture(name="own")
def _own(tmp_path: Path) -> Path:
    """A package in a workspace, whose folder has another name than the package."""
    return package(tmp_path / "ws" / "src" / "robot-main", "robot_description")


def test_the_own_package_by_its_name_or_its_folder(own: Path):
    find = package_finder(own / "urdf" / "r.xacro")
    assert find("robot_description") == own
    assert find("robot-main") == own
    assert own in find.roots


def test_siblings_with_and_without_a_manifest(own: Path):
    plain = package(own.parent / "meshes_only")
    named = package(own.parent / "repo-clone", "gripper_description")
    find = package_finder(own / "urdf" / "r.xacro")
    assert find("meshes_only") == plain
    assert find("gripper_description") == named
    assert plain not in find.roots  # files of it may be read once it was asked for


def test_beside_folders_above_only_with_a_manifest(own: Path, tmp_path: Path):
    package(tmp_path / "ws" / "secrets")
    far = package(tmp_path / "ws" / "tools", "tools")
    find = package_finder(own / "urdf" / "r.xacro")
    assert find("tools") == far
    with pytest.raises(InputError, match="not found"):
        find("secrets")


def test_allowed_folders_and_ros_paths_hold_packages_or_are_some(own: Path, tmp_path: Path):
    one = package(tmp_path / "a" / "one")
    two = package(tmp_path / "b" / "share" / "two")
    three = package(tmp_path / "checkout-3", "three")
    file = own / "r.xacro"
    for name, place, parent in (("one", one, one.parent), ("two", two, tmp_path / "b")):
        with pytest.raises(InputError):
            package_finder(file)(name)
        assert package_finder(file, [parent])(name) == place
        assert package_finder(file, ros_paths=[parent])(name) == place
    assert package_finder(file, [one])("one") == one
    assert package_finder(file, [three])("three") == three


def test_without_a_manifest_the_own_package_is_a_guess_that_is_told(tmp_path: Path):
    folder = package(tmp_path / "kr6")
    find = package_finder(folder / "urdf" / "r.xacro", home=tmp_path)
    found = find("kr6_support")
    assert isinstance(found, tuple)
    assert found[0] == folder
    assert "kr6_support" in found[1]
    assert find("kr6") == folder


def test_with_a_manifest_nothing_is_guessed(own: Path):
    with pytest.raises(InputError, match=r"'other' is not found; looked at '.*other'"):
        package_finder(own / "urdf" / "r.xacro")("other")


def test_the_home_folder_holds_no_packages(tmp_path: Path):
    package(tmp_path / "private")
    own = package(tmp_path / "robot", "robot")
    with pytest.raises(InputError):
        package_finder(own / "r.xacro", home=tmp_path)("private")
    assert package_finder(own / "r.xacro")("private") == tmp_path / "private"


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../up", "a/b", "/etc", "~", ".ssh", "a\0b", "a\n", "x" * 300, "$HOME", " "],
)
def test_names_that_are_no_packages(own: Path, name: str):
    with pytest.raises(InputError, match="no name of a package"):
        package_finder(own / "r.xacro", [own.parent])(name)
