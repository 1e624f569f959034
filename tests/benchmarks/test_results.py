from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from benchmarks.marks import judge
from benchmarks.results import Measurement, Report, ratios

from benchmarks import table


def entry(peer: str, role: str, cpu: list[float], **more: Any) -> Measurement:
    made = Measurement("single", "panda", "pose", 1, peer, f"{peer} {role}", role, cpu, list(cpu))
    return replace(made, **more)


def report(*entries: Measurement) -> Report:
    return Report({"avx512": True}, {"seed": 1}, measurements=list(entries))


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


def test_a_batch_mark_depends_on_the_width_of_the_vectors() -> None:
    batch: dict[str, Any] = {"case": "batch", "rows": 16_000}
    ours, theirs = (
        entry("linkwork", "out", [1.0], **batch),
        entry("pinocchio", "mark", [30.0], **batch),
    )
    found = ratios(theirs, [ours, theirs])
    assert judge(theirs, found, True) == "out MISSED (40)"
    assert judge(theirs, found, False) == "out met (25)"


def test_the_table_shows_ratios_and_disagreements_and_json_takes_everything() -> None:
    ours, theirs = entry("linkwork", "bound", [200.0]), entry("pinocchio", "mark", [1000.0])
    wrong = entry("pinocchio", "other", [])
    wrong.agreement, wrong.disagrees = "3.0e-02 over 64 numbers", True
    made = report(ours, theirs, wrong)
    text = table.plain(made)
    assert "5 bound" in text and "bound met (5)" in text
    assert "DISAGREES: 3.0e-02 over 64 numbers; not timed" in text
    saved = json.loads(json.dumps(made.as_dict()))
    assert saved["measurements"][1]["ratios"]["bound"]["median"] == 5.0


@pytest.mark.parametrize(
    ("ns", "text"), [(3.14159, "3.14 ns"), (1500.0, "1.5 us"), (2.5e6, "2.5 ms"), (3e9, "3 s")]
)
def test_durations_have_a_unit(ns: float, text: str) -> None:
    assert table.duration(ns) == text
