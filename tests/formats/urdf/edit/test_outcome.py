"""An edit ends with a description that is checked, and with its own findings among the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from linkwork.errors import DescriptionError
from linkwork.formats.urdf.edit.outcome import outcome
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import Document


def test_a_faulty_robot_is_refused(cell: Document):
    with pytest.raises(DescriptionError, match="unconnected"):
        outcome(replace(cell.robot, joints=cell.robot.joints[1:]))


def test_findings_are_those_of_the_new_robot_and_of_the_edit_by_line(cell: Document):
    unlimited = replace(cell.robot.joints[0], limit=None)
    joints = (unlimited, *cell.robot.joints[1:])
    robot = replace(cell.robot, joints=joints, file="cell.urdf")
    plain = outcome(robot)
    assert plain.robot == robot
    assert plain.robot.file == "cell.urdf"
    assert "missing-limits" in [problem.code for problem in plain.problems]
    findings = Findings(robot.file)
    findings.add("warning", "name-left", "x", line=1)
    findings.add("warning", "name-left", "y", line=10_000)
    both = outcome(robot, findings)
    assert [p.message for p in both.problems if p.code == "name-left"] == ["x", "y"]
    assert [p.line for p in both.problems] == sorted(p.line for p in both.problems)
    assert len(both.problems) == len(plain.problems) + 2
