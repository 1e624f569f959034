"""Errors and findings in one list: nothing raised, nothing that `read` says left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwork import models
from linkwork.errors import DescriptionError, Finding
from linkwork.formats.urdf.read import examine, read
from seeds import rng


def said(source: str | bytes) -> tuple[Finding, ...]:
    """What `read` says: findings, or the errors that it raises."""
    try:
        return read(source).problems
    except DescriptionError as error:
        return error.problems


TEXT = models.path("panda").read_bytes()


def mutated(label: str) -> bytes:
    """A model with a few bytes changed, removed or doubled, mostly within tags."""
    random = rng(label)
    data = bytearray(TEXT)
    for _ in range(int(random.integers(1, 6))):
        at = int(random.integers(len(data) - 20))
        kind = random.integers(3)
        if kind == 0:
            data[at] = int(random.integers(32, 127))
        elif kind == 1:
            del data[at : at + int(random.integers(1, 20))]
        else:
            data[at:at] = data[at : at + int(random.integers(1, 20))]
    return bytes(data)


@pytest.mark.parametrize("seed", range(60))
def test_nothing_that_read_says_is_missing_and_nothing_is_raised(seed: int):
    data = mutated(f"examine {seed}")
    examined = examine(data)
    assert set(said(data)) <= set(examined.problems)
    errors = [problem for problem in examined.problems if problem.level == "error"]
    try:
        read(data)
        assert not errors
        assert not examined.failed
    except DescriptionError as error:
        assert tuple(errors) == error.problems
        assert examined.failed
    assert [p.line for p in examined.problems] == sorted(p.line for p in examined.problems)


def test_errors_and_findings_come_together():
    text = (
        '<robot name="r"><link name="a"/>\n<link name="b"/>\n<link name="b c"/>\n'
        '<joint name="j" type="revolute"><parent link="a"/><child link="nobody"/>'
        '<axis xyz="0 0 2"/><limit lower="-90" upper="90" effort="1" velocity="1"/></joint>'
        '<material name="m"/></robot>'
    )
    codes = {problem.code for problem in examine(text).problems}
    assert codes >= {
        "unknown-link",  # an error of the structure
        "axis-length",  # a finding of every load
        "material-undefined",
        "degree-limits",  # a suspicion
        "reserved-name",
    }
    assert examine(text).whole


def test_values_that_cannot_be_read_raise_no_suspicion():
    text = (
        '<robot name="r"><link name="a"/><link name="b"/>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
        '<limit lower="x" upper="-180" effort="0" velocity="1"/></joint></robot>'
    )
    examined = examine(text)
    assert not examined.whole
    assert examined.robot is not None
    codes = {problem.code for problem in examined.problems}
    assert "number" in codes
    assert not codes & {"degree-limits", "zero-effort", "no-masses", "no-axis"}


def test_sources_that_are_not_read_at_all(tmp_path: Path):
    for source, code in (
        (tmp_path / "none.urdf", "no-file"),
        (tmp_path, "not-a-file"),
        (b"\x1f\x8bxx", "compressed"),
        (b"", "xml"),
        (b"<robot", "xml"),
        (b"<sdf/>", "root"),
        (b"<!DOCTYPE robot><robot/>", "doctype"),
    ):
        examined = examine(source)
        assert examined.robot is None
        assert not examined.whole
        assert examined.failed
        assert code in [problem.code for problem in examined.problems]


def test_the_file_is_that_of_the_path_or_of_the_argument(tmp_path: Path):
    path = tmp_path / "a.urdf"
    path.write_text('<robot name="r"><link name="a b"/></robot>')
    examined = examine(path)
    assert examined.robot is not None
    assert examined.robot.file == str(path)
    assert [problem.file for problem in examined.problems] == [str(path)]
    other = examine(path.read_text(), file="b.urdf")
    assert other.robot is not None
    assert (other.robot.file, other.problems[0].file) == ("b.urdf", "b.urdf")
