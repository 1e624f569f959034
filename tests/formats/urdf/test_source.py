"""Getting at the bytes: paths, texts, encodings; what is refused before it is opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linkwork.errors import DescriptionError
from linkwork.formats.urdf import source
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.source import gather

TEXT = '<robot name="é名"/>'


def test_a_text_begins_with_a_bracket():
    assert gather(TEXT, None) == (TEXT.encode(), None)
    assert gather("\ufeff " + TEXT, "x.urdf") == (TEXT.encode(), "x.urdf")


def test_lines_before_a_text_are_counted():
    assert gather("\n\n" + TEXT, None)[0] == b"\n\n" + TEXT.encode()
    data = gather("\n\n<?xml version='1.0'?>\n<robot/>", None)[0]
    assert data == b"<?xml version='1.0'?>\n\n\n<robot/>"


def test_anything_else_is_a_path(tmp_path: Path):
    path = tmp_path / "robot.urdf"
    path.write_text(TEXT, encoding="utf-8")
    for form in (path, str(path), os.fsencode(path)):
        if isinstance(form, bytes):
            continue  # bytes are a description
        assert gather(form, None) == (TEXT.encode(), str(path))
    assert gather(path, "other.urdf")[1] == "other.urdf"
    assert gather(TEXT.encode(), None) == (TEXT.encode(), None)


@pytest.mark.parametrize("bad", [None, 3, ["a"], object()])
def test_other_types_are_refused(bad):
    with pytest.raises(TypeError, match="path, an XML text or bytes"):
        gather(bad, None)


ENCODINGS = ["utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_unicode_encodings_show_themselves(encoding: str):
    assert gather(TEXT.encode(encoding), None)[0].removeprefix(b"\xef\xbb\xbf") == TEXT.encode()


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "windows-1252", "latin1", "Shift_JIS", "GBK"])
def test_declared_encodings_are_honoured(encoding: str):
    word = "名" if encoding in ("Shift_JIS", "GBK") else "é"
    text = f"<?xml version='1.0' encoding='{encoding}'?><robot name='{word}'/>"
    assert gather(text.encode(encoding), None)[0] == text.encode()
    assert gather(text, None)[0] == text.encode()  # of a str the declaration says nothing


@pytest.mark.parametrize(
    "encoding", ["rot13", "zip", "utf-7", "unicode_escape", "idna", "mbcs", "x"]
)
def test_other_encodings_are_refused(encoding: str):
    with pytest.raises(DescriptionError, match="encoding"):
        gather(f"<?xml version='1.0' encoding='{encoding}'?><robot/>".encode(), None)


def test_bytes_that_are_not_what_they_declare():
    with pytest.raises(DescriptionError, match=r":2: error: byte \d+ is not text in gbk"):
        gather(b"<?xml version='1.0' encoding='gbk'?>\n<robot name='\xff\xff'/>", None)
    with pytest.raises(DescriptionError, match="utf-16"):
        gather(b"<?xml version='1.0' encoding='utf-16'?><robot/>", None)


@pytest.mark.parametrize("head", [b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ"])
def test_compressed_data_is_refused(head: bytes):
    with pytest.raises(DescriptionError, match="unpack"):
        gather(head + b"\0" * 50, None)


def test_files_that_are_none(tmp_path: Path):
    with pytest.raises(DescriptionError, match="no such file"):
        gather(tmp_path / "nothing.urdf", None)
    with pytest.raises(DescriptionError, match="a folder"):
        gather(tmp_path, None)
    with pytest.raises(DescriptionError, match="null"):
        gather("a\0b", None)
    with pytest.raises(DescriptionError, match="no name is that long"):
        gather("x" * 5000, None)
    with pytest.raises(DescriptionError, match="no such file"):
        gather("", None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_and_a_device_are_not_opened(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.urdf")
    for path in (tmp_path / "pipe.urdf", Path("/dev/zero")):
        with pytest.raises(DescriptionError, match="pipe, socket or device"):
            gather(path, None)


@pytest.mark.slow
def test_the_size_is_limited(tmp_path: Path):
    path = tmp_path / "robot.urdf"
    path.touch()
    os.truncate(path, source.LARGEST_FILE + 1)  # a hole, which takes no room
    for big in (path, bytes(source.LARGEST_FILE + 1), "<" + " " * source.LARGEST_FILE):
        with pytest.raises(DescriptionError, match=f"at most {source.LARGEST_FILE:,}"):
            gather(big, None)


def test_too_many_joints_are_refused_at_once():
    text = '<robot name="star"><link name="base"/>' + "<joint/>" * 150_001 + "</robot>"
    with pytest.raises(DescriptionError, match=r"150,001 joints; .* 150,000 are read") as raised:
        read(text)
    assert [problem.code for problem in raised.value.problems] == ["file-size"]
