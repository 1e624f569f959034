"""`linkwork.urdf`: one module for all that is done with documents."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.errors import InputError

TEXT = '<robot name="r"><!-- why --><link name="a"/></robot>'


def test_every_name_is_there_with_words():
    assert lw.urdf.__all__ == sorted(lw.urdf.__all__, key=lambda n: (not n[0].isupper(), n))
    for name in lw.urdf.__all__:
        assert (getattr(lw.urdf, name).__doc__ or "").strip(), name


def test_a_document_is_read_from_whatever_holds_it(tmp_path: Path):
    path = tmp_path / "r.urdf"
    path.write_text(TEXT)
    robot = lw.urdf.read(TEXT).robot
    assert lw.urdf.read(path).robot == robot
    assert lw.urdf.read(str(path)).robot == robot
    assert lw.urdf.read(TEXT.encode()).robot == robot
    assert lw.urdf.read(io.StringIO(TEXT)).robot == robot
    assert lw.urdf.read(io.BytesIO(TEXT.encode())).robot == robot
    with path.open() as stream:
        read = lw.urdf.read(stream).robot
    assert read == robot
    assert read.file == str(path)
    with path.open("rb") as stream:
        assert lw.urdf.read(stream, file="other.urdf").robot.file == "other.urdf"
    assert lw.urdf.read("ur5e").robot.name == lw.load("ur5e").name


def test_an_open_file_with_a_path_in_it_is_no_way_around(tmp_path: Path):
    """What a stream holds is the description, never the name of another file."""
    (tmp_path / "r.urdf").write_text(TEXT)
    with pytest.raises(lw.DescriptionError):
        lw.urdf.read(io.StringIO(str(tmp_path / "r.urdf")))


def test_arguments_are_for_xacro():
    with pytest.raises(InputError, match="arguments are for xacro"):
        lw.urdf.read(TEXT, arguments={"a": "1"})


def test_a_document_is_edited_compared_and_written(tmp_path: Path):
    document = lw.urdf.read("ur5e")
    renamed = lw.urdf.rename(document, links={"tool0": "flange_tool"})
    assert lw.urdf.diff(document, renamed)
    path = lw.urdf.write(renamed, tmp_path / "new.urdf").path
    assert not lw.urdf.diff(renamed, lw.urdf.read(path))
    robot = lw.load(path)
    q = robot.random(seed=3)
    assert (robot.fk(q, "flange_tool") == lw.load("ur5e").fk(q, "tool0")).all()


def test_records_made_in_code_become_a_document():
    records = lw.urdf.records
    made = records.Robot("r", links=(records.Link("a"),))
    assert lw.urdf.document(made).robot == made
    with pytest.raises(lw.DescriptionError, match="no link"):
        lw.urdf.document(records.Robot("r"))
