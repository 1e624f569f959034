from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from benchmarks.marks import judge
from benchmarks.results import Measurement, ratios


def entry(peer: str, role: str, cpu: list[float], **more: Any) -> Measurement:
    made = Measurement("single", "panda", "pose", 1, peer, f"{peer} {role}", role, cpu, list(cpu))
    return replace(made, **more)


def test_ratios_are_against_each_of_our_lines_in_the_same_group() -> None:
    bound, method = entry("linkwork", "bound", [2.0, 2.0]), entry("linkwork", "method", [4.0, 4.0])
    other = entry("linkwork", "bound", [1.0, 1.0], robot="ur5")
    theirs = entry("pinocchio", "mark", [10.0, 10.0])
    found = ratios(theirs, [bound, method, theirs, other])
    assert {role: value.median for role, value in found.items()} == {"bound": 5.0, "method": 2.5}
    assert ratios(bound, [bound, method, theirs]) == {}


def test_a_memory_line_is_compared_but_is_nothing_to_compare_with() -> None:
    ours, fill = entry("linkwork", "out", [4.0]), entry("linkwork", "memory", [3.0])
    theirs = entry("pinocchio", "mark", [8.0])
    everything = [ours, fill, theirs]
    assert ratios(fill, everything)["out"].median == 0.75
    assert set(ratios(theirs, everything)) == {"out"}


def test_without_us_the_first_side_is_the_reference() -> None:
    first, second = entry("mujoco", "a", [1.0]), entry("pinocchio", "mark", [3.0])
    assert ratios(second, [first, second])["a"].median == 3.0


@pytest.mark.parametrize(("time", "said"), [(1.9, "bound met (5)"), (2.1, "bound MISSED (5)")])
def test_a_mark_is_met_or_missed(time: float, said: str) -> None:
    ours, theirs = entry("linkwork", "bound", [time]), entry("pinocchio", "mark", [10.0])
    assert judge(theirs, ratios(theirs, [ours, theirs]), True) == said
