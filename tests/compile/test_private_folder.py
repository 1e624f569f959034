"""Folders and files that others could write to are not trusted, whatever they are."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from linkwork.compile.private_folder import UnusableFolder, private_folder

posix = pytest.mark.skipif(os.name != "posix", reason="rights are checked on POSIX systems alone")
as_root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can give files away"
)


def test_a_folder_is_made_for_the_user_alone(tmp_path):
    path = tmp_path / "a" / "b"
    with private_folder(path, create=True) as folder:
        folder.write("x", b"1")
        assert folder.read("x", largest=1) == b"1"
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert stat.S_IMODE((path / "x").stat().st_mode) & 0o077 == 0


def test_a_missing_folder_is_told_apart_from_a_bad_one(tmp_path):
    with pytest.raises(FileNotFoundError), private_folder(tmp_path / "none", create=False):
        pass
    (tmp_path / "file").write_text("x")
    for place in ("file", "file/below", "n" * 300, "nul\0"):
        with pytest.raises(UnusableFolder), private_folder(tmp_path / place, create=True):
            pass


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777, 0o720])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path, mode):
    tmp_path.chmod(mode)
    with (
        pytest.raises(UnusableFolder, match="others can write to it"),
        private_folder(tmp_path, create=True),
    ):
        pass


@posix
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o500])
def test_a_folder_that_others_can_read_is_fine(tmp_path, mode):
    (tmp_path / "x").write_bytes(b"1")
    tmp_path.chmod(mode)
    with private_folder(tmp_path, create=False) as folder:
        assert folder.read("x", largest=1) == b"1"
    tmp_path.chmod(0o700)


@as_root
def test_what_belongs_to_another_user_is_refused(tmp_path):
    with private_folder(tmp_path, create=True) as folder:
        folder.write("x", b"1")
        os.chown(tmp_path / "x", 65534, 65534)
        assert folder.read("x", largest=1) is None
    os.chown(tmp_path, 65534, 65534)
    with (
        pytest.raises(UnusableFolder, match="belongs to another user"),
        private_folder(tmp_path, create=True),
    ):
        pass


@posix
def test_a_folder_is_not_exchanged_while_it_is_open(tmp_path):
    path, other = tmp_path / "real", tmp_path / "other"
    other.mkdir()
    with private_folder(path, create=True) as folder:
        folder.write("x", b"mine")
        (other / "x").write_bytes(b"evil")
        path.rename(tmp_path / "moved")
        path.symlink_to(other)
        assert folder.read("x", largest=9) == b"mine"
        folder.write("y", b"mine")
        folder.remove("x")
    assert (tmp_path / "moved" / "y").exists()
    assert sorted(os.listdir(other)) == ["x"]


def test_a_file_is_there_in_whole_or_not_at_all(tmp_path):
    with private_folder(tmp_path, create=True) as folder:
        folder.write("x", b"old")
        with pytest.raises(TypeError):
            folder.write("x", "text")  # type: ignore[arg-type]  # fails after the file is opened
        assert folder.read("x", largest=9) == b"old"
        folder.write("x", b"new")
        assert folder.read("x", largest=3) == b"new"
        assert folder.read("x", largest=2) is None
    assert os.listdir(tmp_path) == ["x"]


def test_a_count_survives_what_stands_in_its_place(tmp_path):
    with private_folder(tmp_path, create=True) as folder:
        assert [folder.count("n", 3), folder.count("n", 4)] == [3, 7]
        folder.remove("n")
        assert folder.count("n", 1) == 1
        folder.remove("n")
        if os.name == "posix":
            (tmp_path / "aim").write_bytes(b"abc")
            (tmp_path / "n").symlink_to(tmp_path / "aim")
            assert folder.count("n", 2) == 2
            assert (tmp_path / "aim").read_bytes() == b"abc"
            folder.remove("n")
            os.mkfifo(tmp_path / "n")
            assert folder.count("n", 2) == 2


def test_a_file_is_marked_as_used_once_a_day(tmp_path):
    with private_folder(tmp_path, create=True) as folder:
        for name in ("x", "clock"):
            folder.write(name, b"")
        now = (tmp_path / "clock").stat().st_mtime
        for behind, marked in ((100_000.0, True), (80_000.0, False), (-500.0, False)):
            os.utime(tmp_path / "x", (now - behind, now - behind))
            folder.mark_used("x", "clock")
            changed = (tmp_path / "x").stat().st_mtime != pytest.approx(now - behind, abs=1.0)
            assert changed == marked
        folder.mark_used("nothing", "clock")
        folder.mark_used("x", "nothing")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux's /proc")
def test_no_file_stays_open(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        with private_folder(tmp_path, create=True) as folder:
            folder.write("x", b"1")
            for name, expected in (("x", b"1"), ("pipe", None), ("folder", None)):
                assert folder.read(name, largest=9) == expected
            with pytest.raises(IsADirectoryError):
                folder.write("folder", b"1")
            folder.files()
            folder.count("n", 1)
    tmp_path.chmod(0o777)
    for _ in range(20):
        with pytest.raises(UnusableFolder), private_folder(tmp_path, create=True):
            pass
    assert len(os.listdir("/proc/self/fd")) == before
