"""Remarks on unknown things: a note, and a warning where a slip is likely."""

from __future__ import annotations

import pytest

from linkwork.formats.urdf.findings import Findings, UnknownParts

KNOWN = ("origin", "geometry", "material")


def element(label: str, times: int = 1) -> list[tuple[str, str]]:
    problems = Findings(None)
    unknown = UnknownParts(problems)
    for _ in range(times):
        unknown.element("visual", KNOWN, label, tags=frozenset({"limit"}), line=3, name="a")
    return [(problem.level, problem.hint) for problem in problems.sorted()]


@pytest.mark.parametrize(
    "label, level, hint",
    [
        ("orign", "warning", "did you mean <origin>?"),
        ("limit", "warning", "kept, not used; <visual> takes <origin>, <geometry>, <material>"),
        ("zzz", "note", "kept, not used; <visual> takes <origin>, <geometry>, <material>"),
    ],
)
def test_elements(label: str, level: str, hint: str):
    assert element(label) == [(level, hint)]


def test_extensions_by_agreement_are_no_finding():
    assert element("gazebo") == element("sensor") == []


def test_guesses_end():
    levels = [level for level, _ in element("orign", times=150)]
    assert levels == ["warning"] * 100 + ["note"] * 50


def test_attributes():
    problems = Findings(None)
    names = ["nmae", *"abcdef"]
    UnknownParts(problems).attributes("link", ["name"], names, line=3, name="a")
    (problem,) = problems.sorted()
    assert (problem.level, problem.hint) == ("warning", "did you mean 'name'?")
    assert "'nmae', 'a', 'b', 'c', 'd' and 2 more" in problem.message
    assert (problem.element, problem.name, problem.line) == ("link", "a", 3)
