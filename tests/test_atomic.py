"""A file is written whole or not at all: errors, full disks, processes killed at any moment."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from linkwork.atomic import refusing, replacing, write_bytes, write_in_turn
from linkwork.errors import InputError
from seeds import rng

OLD, NEW = b"old " * 1000, b"new " * 250_000

WRITER = """
import sys
from linkwork.atomic import replacing
path, text = sys.argv[1], b"new " * 1000
print("ready", flush=True)
while True:
    with replacing(path) as file:
        for _ in range(250):
            file.write(text)
"""


def left_over(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.endswith(".part")]


def test_a_new_file_and_a_replaced_one(tmp_path: Path):
    path = tmp_path / "robot.urdf"
    write_bytes(path, OLD)
    assert path.read_bytes() == OLD
    write_bytes(path, NEW)
    assert path.read_bytes() == NEW
    assert not left_over(tmp_path)


def test_an_error_in_between_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "robot.urdf"
    path.write_bytes(OLD)
    with pytest.raises(KeyError), replacing(path) as file:
        file.write(NEW)
        raise KeyError("stop")
    assert path.read_bytes() == OLD
    assert not left_over(tmp_path)


def test_the_mode_of_the_old_file_is_kept(tmp_path: Path):
    path = tmp_path / "robot.urdf"
    path.write_bytes(OLD)
    path.chmod(0o640)
    write_bytes(path, NEW)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_is_followed(tmp_path: Path):
    (tmp_path / "real").mkdir()
    path, link = tmp_path / "real" / "robot.urdf", tmp_path / "robot.urdf"
    path.write_bytes(OLD)
    link.symlink_to(path)
    write_bytes(link, NEW)
    assert link.is_symlink()
    assert path.read_bytes() == NEW


def test_what_cannot_be_written_is_refused_by_name(tmp_path: Path):
    with pytest.raises(InputError, match=r"folder.*cannot be written: it is no regular file"):
        (tmp_path / "folder").mkdir()
        write_bytes(tmp_path / "folder", NEW)
    with pytest.raises(InputError, match=r"absent.*cannot be written: No such file"):
        write_bytes(tmp_path / "absent" / "robot.urdf", NEW)
    with pytest.raises(InputError, match="cannot be written"):
        write_bytes(tmp_path / "nul\0", NEW)


def make_device(path: Path) -> None:
    """A device that takes whatever is written to it, where this user may make one; else a pipe."""
    if os.geteuid() == 0:
        with suppress(PermissionError):  # a container may forbid it
            return os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    return os.mkfifo(path)


def test_a_device_or_pipe_is_not_replaced(tmp_path: Path):
    """Not by a write, not through a link, not where it comes while the new file is written."""
    for name, make in (("device", make_device), ("pipe", os.mkfifo)):
        there, link, late = (tmp_path / f"{name} {k}" for k in ("there", "link", "late"))
        make(there)
        link.symlink_to(there)
        for path in (there, link):
            with pytest.raises(InputError, match="no regular file"):
                write_bytes(path, NEW)
            with pytest.raises(InputError, match="no regular file"):
                write_in_turn([(tmp_path / "other", NEW), (path, NEW)])
        with pytest.raises(InputError, match="no regular file"), replacing(late) as file:
            make(late)
            file.write(NEW)
        for path in (there, late):
            assert path.exists()
            assert not path.is_file()
    assert not left_over(tmp_path)
    assert not (tmp_path / "other").exists()


def test_our_own_errors_pass_as_they_are():
    with pytest.raises(InputError, match=r"^mine$"), refusing("file"):
        raise InputError("mine")


def test_p16_a_full_disk_leaves_the_old_file(tmp_path: Path):
    """RLIMIT_FSIZE stands for the disk: writing fails at byte 1000."""
    path = tmp_path / "robot.urdf"
    path.write_bytes(b"old")
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000));"
        "from linkwork.atomic import write_bytes; from linkwork.errors import InputError\n"
        "try: write_bytes(sys.argv[1], b'new ' * 1000)\n"
        "except InputError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "cannot be written: File too large" in done.stdout
    assert path.read_bytes() == b"old"
    assert not left_over(tmp_path)


@pytest.mark.slow
def test_p16_a_killed_process_leaves_the_old_file_or_the_new_one(tmp_path: Path):
    """50 processes that write again and again, each killed at a random moment."""
    random, path, seen = rng("kill"), tmp_path / "robot.urdf", set()
    for _ in range(50):
        path.write_bytes(OLD)
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(random.uniform(0.0, 0.02))
        writer.send_signal(signal.SIGKILL)
        writer.wait(timeout=30)
        writer.stdout.close()
        content = path.read_bytes()
        assert content in (OLD, NEW)
        seen.add(content)
    assert NEW in seen  # the writers did get that far
