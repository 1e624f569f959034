"""The process that expands: which files it opens, and what it says of errors. No package needed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from xml.parsers import expat

import pytest

from linkwork.formats import xacro_child
from linkwork.formats.xacro_child import (
    Files,
)
from linkwork.formats.xacro_guard import RefusedError, RefusedExpressionError


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("a")
    (tmp_path / "out.txt").write_text("b")
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "out.txt")
    return tmp_path / "in"


def test_files_inside_are_read_and_listed_once(root: Path):
    files = Files([str(root)], 10)
    assert files.read(str(root / "a.txt")).read() == b"a"
    assert files.read(str(root / "." / "a.txt")).read() == b"a"
    assert [os.path.normpath(name) for name in files.opened[:1]] == [str(root / "a.txt")]


@pytest.mark.parametrize("name", ["../out.txt", "link.txt", "/etc/hostname", "a.txt/../../out.txt"])
def test_files_outside_are_refused_whether_they_exist_or_not(root: Path, name: str):
    files = Files([str(root)], 10)
    with pytest.raises(RefusedError, match="outside"):
        files.read(os.path.join(root, name))
    with pytest.raises(RefusedError, match="outside"):
        files.read(os.path.join(root, "../nothing-here"))
    assert not files.opened


def test_a_folder_that_is_a_link_counts_as_itself_and_as_what_it_is(root: Path, tmp_path: Path):
    (tmp_path / "alias").symlink_to(root)
    assert Files([str(tmp_path / "alias")], 10).read(str(root / "a.txt")).read() == b"a"
    assert Files([str(root)], 10).inside(str(tmp_path / "alias" / "a.txt")) is False


def test_a_folder_whose_name_begins_alike_is_outside(root: Path):
    assert not Files([str(root)], 10).inside(str(root) + "side/a.txt")


@pytest.mark.parametrize("path", [3, b"a.txt", None, "a\0b"])
def test_what_is_no_name(root: Path, path: Any):
    with pytest.raises(RefusedError, match="no file's name"):
        Files([str(root)], 10).read(path)


def test_large_files_and_folders_are_refused(root: Path):
    (root / "large").write_bytes(b"x" * 11)
    with pytest.raises(RefusedError, match="at most"):
        Files([str(root)], 10).read(str(root / "large"))
    with pytest.raises(RefusedError, match="no regular file"):
        Files([str(root)], 10).read(str(root))


def test_patterns_stay_inside(root: Path):
    files = Files([str(root)], 10)
    assert files.glob(str(root / "*.txt")) == [str(root / "a.txt"), str(root / "link.txt")]
    with pytest.raises(RefusedError):
        files.glob(str(root / ".." / "*"))


@pytest.mark.parametrize(
    ("cause", "code", "part"),
    [
        (RefusedError("xacro-file", "why", "how"), "xacro-file", "why"),
        (RefusedExpressionError("why"), "xacro-expression", "whole text"),
        (RecursionError(), "xacro-recursion", "too deep"),
        (MemoryError(), "xacro-memory", "memory"),
        (FileNotFoundError(2, "No such file", "a.xacro"), "xacro-file", "No such file: 'a.xacro'"),
        (expat.ExpatError("whole text"), "xml", "whole text"),
        (type("ArgException", (Exception,), {})("'n'"), "xacro-argument", "'n' has no value"),
        (NameError("name"), "xacro", "whole text"),
    ],
)
def test_what_is_told_of_an_error(cause: Any, code: str, part: str):
    if isinstance(cause, expat.ExpatError):
        cause.code = 0
    found = xacro_child.told_of(ValueError("whole text"), cause)
    assert found[0] == code
    assert part in found[1]
