"""Collecting problems: by line, bounded, errors apart from findings."""

from __future__ import annotations

import pytest

from linkwork.errors import DescriptionError
from linkwork.formats.urdf.findings import MOST, Findings


def test_problems_come_by_line_and_findings_are_no_errors():
    problems = Findings("robot.urdf")
    problems.add("warning", "b", "second", line=9)
    assert not problems.failed
    problems.add("error", "c", "third", line=12, element="link", name="a\nb")
    problems.add("note", "a", "first", line=2)
    assert problems.failed
    assert [p.code for p in problems.sorted()] == ["a", "b", "c"]
    error = problems.error()
    assert isinstance(error, DescriptionError)
    assert [p.code for p in error.problems] == ["c"]
    assert str(error) == "robot.urdf:12: error: <link> 'a\\nb': third"


@pytest.mark.parametrize("level", ["error", "note"])
def test_past_the_limit_problems_are_counted(level):
    problems = Findings(None)
    for line in range(MOST + 7):
        problems.add(level, "x", "y", line=line)
    listed = problems.sorted()
    assert len(listed) == MOST + 1
    assert "7 more" in listed[-1].message


def test_errors_are_kept_where_findings_are_too_many():
    problems = Findings(None)
    for line in range(MOST + 7):
        problems.add("note", "x", "y", line=line)
    problems.add("error", "bad", "z", line=1)
    assert problems.error().problems[0].code == "bad"


def test_near_names_are_looked_for_a_few_times_only():
    problems = Findings(None)
    assert "elbow" in problems.nearest("elbwo", ["elbow", "wrist"])
    assert "there are 2" in problems.nearest("q", ["elbow", "wrist"])
    for _ in range(30):
        problems.nearest("elbwo", ["elbow"])
    assert problems.nearest("elbwo", ["elbow"]) == "there are 1"
