from __future__ import annotations

from typing import Any

import pytest
from benchmarks.ik.page import missed, page
from benchmarks.results import Measurement, Report


def measurement(
    peer: str, operation: str, role: str, ns: float, *, verified: int = 1000, **extra: Any
) -> Measurement:
    rows = 1 if "one" in operation else 1000
    entry = Measurement("ik", "arm", operation, rows, peer, role, role, [ns], [ns])
    entry.extra = {"verified": verified, "answers": 1000, "false": 0, **extra}
    return entry


def report(*entries: Measurement) -> Report:
    made = Report({"processor": "P", "date": "D"}, {"targets": 1000, "seed": 7})
    made.measurements += entries
    return made


def test_ours_is_one_row_a_chain_with_one_target_beside_it() -> None:
    text = page(
        [
            report(
                measurement("linkwork", "batch", "ik", 1e3, pose_rate_share=59.6),
                measurement("linkwork", "one target", "solver", 9e3, p99_ns=4e4),
                measurement("linkwork", "one target", "5 ms", 9e3, p99_ns=4e4, wall_max=[1e6]),
            )
        ]
    )
    (row,) = [line for line in text.splitlines() if line.startswith("| arm")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == [
        "arm", "pose", "100.00 %", "0", "1 M", "1/60", "9 us", "40 us", "100.00 % (slowest 1 ms)",
    ]  # fmt: skip
    assert "÷ ours" not in text


@pytest.mark.parametrize(("verified", "said"), [(1000, "100.00 %"), (999, "99.90 %")])
def test_a_hundred_per_cent_is_said_only_where_none_is_missing(verified: int, said: str) -> None:
    assert f" {said} " in page(
        [report(measurement("linkwork", "batch", "ik", 1e3, verified=verified))]
    )
    nearly = measurement("linkwork", "batch", "ik", 1e3, verified=999_999)
    nearly.extra["answers"] = 1_000_000
    assert "100.00 %" not in page([report(nearly)]).split("Processor time.")[1]


def test_others_are_set_against_ours_of_the_same_target() -> None:
    text = page(
        [
            report(
                measurement("linkwork", "batch", "ik", 1e3),
                measurement("optik", "batch", "loop", 150e3),
                measurement("linkwork", "position, batch", "ik", 2e3),
                measurement("optik", "position, batch", "loop", 10e3),
            )
        ]
    )
    rows = [line.split("|") for line in text.splitlines() if "| optik |" in line]
    assert [row[-2].strip() for row in rows] == ["150", "5"]


def test_what_was_missed_is_named_by_seed_and_row() -> None:
    entry = measurement("linkwork", "batch", "ik", 1e3, verified=998)
    entry.extra["missed"] = [{"row": 3}, {"row": 512}]
    assert missed(report(entry)) == ["arm, pose, seed 7, 1000 targets: 2 rows: 3, 512"]
    assert missed(report(measurement("linkwork", "batch", "ik", 1e3))) == []
