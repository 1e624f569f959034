"""Side-car files: both forms, there and back, and what is wrong said by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from linkwork.errors import DescriptionError, MissingFileError
from linkwork.formats.loops import (
    CouplingRecord,
    LoopRecord,
    LoopsRecord,
    beside,
    from_text,
    read,
    to_text,
)

OURS = """
version: 1
loops:
  - {name: hinge, frame_a: rod_end, frame_b: slider, kind: revolute}
  - frame_a: elbow
    frame_b: platform
    kind: distance
    distance: 0.4
couplings:
  - {joint: wheel, leaders: [crank], rates: [-2.0], offset: 0.1}
  - {joint: cam, leaders: [crank], operations: [[input, 0], [sin, 0]]}
actuated: [crank]
"""
RECORD = LoopsRecord(
    (
        LoopRecord("rod_end", "slider", "revolute", 0.0, "hinge"),
        LoopRecord("elbow", "platform", "distance", 0.4),
    ),
    (
        CouplingRecord("wheel", ("crank",), (-2.0,), 0.1),
        CouplingRecord("cam", ("crank",), (), 0.0, (("input", (0.0,)), ("sin", (0.0,)))),
    ),
    ("crank",),
)


def test_our_form():
    assert from_text(OURS) == RECORD


@pytest.mark.parametrize(
    "record",
    [
        RECORD,
        LoopsRecord(),
        LoopsRecord((LoopRecord("a b", "c/d", "xy/z", 0.0, "1st: loop"),)),
        LoopsRecord((LoopRecord("null", "true", "distance", 0.1 + 0.2, "it's # one"),)),
        LoopsRecord((LoopRecord("yes", "1e5", "pose", 0.0, "\u00e9\\\"'"),), (), ("off", "-")),
        LoopsRecord((), (CouplingRecord("a", ("b",), (1e-5, -1e300, 5e-324, 0.1), 1e22),)),
    ],
)
def test_there_and_back(record):
    assert from_text(to_text(record)) == record


def test_pyyaml_reads_what_is_written():
    record = LoopsRecord((LoopRecord("no", "b", "distance", 1e-5),), (), ("on", "1:30"))
    found = yaml.safe_load(to_text(record))
    assert found["loops"] == [
        {"frame_a": "no", "frame_b": "b", "kind": "distance", "distance": 1e-5}
    ]
    assert found["version"] == 1 and found["actuated"] == ["on", "1:30"]


def test_entries_have_their_lines():
    record = from_text(OURS)
    assert [loop.line for loop in record.loops] == [4, 5]
    assert [each.line for each in record.couplings] == [10, 11] and record.actuated_line == 12


def test_a_name_that_cannot_be_written():
    with pytest.raises(DescriptionError, match="cannot be written"):
        to_text(LoopsRecord((LoopRecord("a\nb", "c"),)))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "must be a mapping"),
        ("version: 2", "version must be 1, not 2"),
        ("loops: []", "version must be 1, not None"),
        ("version: 1\nloop: []", "'loop' is none of them"),
        ("version: 1\nloops: {}", "loops must be a list"),
        ("version: 1\nloops: [x]", "loops must be mappings"),
        ("version: 1\nloops: [{frame_a: x}]", "frame_b of a loop must be a text"),
        ("version: 1\nloops: [{frame_a: x, frame_b: y, distance: far}]", "must be a number"),
        ("version: 1\nloops: [{frame_a: x, frame_b: y, length: 1}]", "'length' is none of them"),
        ("version: 1\ncouplings: [{joint: x, leaders: [y]}]", "either rates or operations"),
        ("version: 1\nloops: [{frame_a: x, frame_b: y, distance: .nan}]", "a finite number"),
        (
            "version: 1\ncouplings: [{joint: x, leaders: [y], offset: 1, operations: []}]",
            "an offset, which belongs to rates",
        ),
        ("version: 1\nactuated: crank", "actuated must be a list"),
    ],
)
def test_what_is_wrong_is_said(text, why):
    with pytest.raises(DescriptionError, match=why):
        from_text(text, "some.loops.yaml")


def test_which_file_is_beside(tmp_path):
    description = tmp_path / "robot.urdf"
    assert beside(description) is None
    other = tmp_path / "robot.yaml"
    other.write_text("controllers: []\n")
    assert beside(description) is None  # about other things
    other.write_text("arm:\n  closed_loop: true\n  # closed_loop: []\n")
    assert beside(description) is None
    other.write_text("closed_loop: []\n")
    assert beside(description) == other
    assert beside(tmp_path / "arm.urdf") is None  # another description of the folder
    own = tmp_path / "robot.loops.yaml"
    own.write_text("version: 1\n")
    assert beside(description) == own and read(own) == LoopsRecord(file=str(own))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(MissingFileError, match="there is no such file"):
        read(tmp_path / "nothing.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    for endless in (Path("/dev/zero"), tmp_path / "pipe.yaml", tmp_path):
        with pytest.raises(DescriptionError, match="not a file"):
            read(endless)
    odd = tmp_path / "odd.yaml"
    odd.write_bytes(b"\xff\xfe")
    with pytest.raises(DescriptionError, match="cannot be read"):
        read(odd)
