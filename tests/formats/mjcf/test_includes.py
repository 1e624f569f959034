"""Included files are found beside the MJCF and the folder above, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linkwork.formats.mjcf.flatten import NotFoundError, find, folder_of, roots_of


@pytest.fixture
def main(tmp_path: Path) -> Path:
    for name in ("top/robot/main.xml", "top/robot/part.xml", "top/shared.xml", "secret.xml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("<mujoco/>")
    return tmp_path / "top/robot/main.xml"


def found(name: str, main: Path, *allow: Path) -> str:
    return find(name, [str(main.parent)], roots_of(str(main), allow))


@pytest.mark.parametrize("name", ["part.xml", "./part.xml", "../shared.xml", "..\\shared.xml"])
def test_near_files_are_found(main: Path, name: str):
    assert Path(found(name, main)).is_file()


def test_a_whole_path_is_judged_like_any_other(main: Path, tmp_path: Path):
    assert found(str(main.parent / "part.xml"), main)
    with pytest.raises(NotFoundError, match="outside"):
        found(str(tmp_path / "secret.xml"), main)


@pytest.mark.parametrize(
    "name", ["../../secret.xml", "../robot/../../secret.xml", "../../no-such.xml", "/etc/x.xml"]
)
def test_outside_is_refused_whether_it_exists_or_not(main: Path, name: str):
    with pytest.raises(NotFoundError, match="outside the folder") as raised:
        found(name, main)
    assert "allow=" in raised.value.hint


def test_what_is_allowed_is_found(main: Path, tmp_path: Path):
    assert found("../../secret.xml", main, tmp_path) == os.path.realpath(tmp_path / "secret.xml")


def test_a_link_to_the_outside_is_refused(main: Path, tmp_path: Path):
    (main.parent / "link.xml").symlink_to(tmp_path / "secret.xml")
    with pytest.raises(NotFoundError, match="outside"):
        found("link.xml", main)


def test_a_linked_folder_is_looked_at_from_both_sides(main: Path, tmp_path: Path):
    link = tmp_path / "elsewhere/deep/link"
    link.parent.mkdir(parents=True)
    link.symlink_to(main.parent)
    for name in ("part.xml", "../shared.xml"):
        assert found(name, link / "main.xml") == found(name, main)
    with pytest.raises(NotFoundError, match="outside"):
        found("../../secret.xml", link / "main.xml")


def test_a_link_to_another_kind_of_file_is_refused(main: Path):
    (main.parent / "passwords").write_text("x")
    (main.parent / "link.xml").symlink_to(main.parent / "passwords")
    with pytest.raises(NotFoundError):
        found("link.xml", main)


@pytest.mark.parametrize("name", ["", " ", "../../etc/passwd", "a\nb.xml", "x" * 5000 + ".xml"])
def test_odd_names_are_refused(main: Path, name: str):
    with pytest.raises(NotFoundError, match="the file name"):
        found(name, main)


def test_a_missing_file_says_where_it_was_looked_for(main: Path):
    with pytest.raises(NotFoundError, match=r"there is no file 'no\.xml'") as raised:
        found("no.xml", main)
    assert str(main.parent)[:40] in raised.value.hint  # long paths are cut


def test_a_text_without_a_file_has_no_folder():
    assert folder_of(None) is None
    with pytest.raises(NotFoundError, match="has no file") as raised:
        find("a.xml", [], roots_of(None, ()))
    assert "file=" in raised.value.hint


def test_the_root_of_the_disk_is_no_folder_of_a_description():
    assert os.path.abspath(os.sep) not in roots_of(os.path.join(os.sep, "a", "main.xml"), ())
    assert roots_of(os.path.join(os.sep, "main.xml"), ()) == []
