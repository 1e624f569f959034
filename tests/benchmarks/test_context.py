from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.cases.compute import rows_to_check
from benchmarks.context import Context, run_rounds
from benchmarks.results import Measurement, Report
from benchmarks.session import Seat, WorkerError
from benchmarks.tasks import Joint, Robot, Task


def context(tmp_path: Path, seed: int = 3, rounds: int = 3) -> Context:
    report = Report({}, {})
    return Context({}, tmp_path, seed, rounds, 0.0, report, say=lambda text: None)


def task(tmp_path: Path) -> Task:
    joints = (
        Joint("a", "revolute", -0.1, 0.2),
        Joint("b", "continuous", -math.inf, math.inf),
        Joint("c", "prismatic", 0.0, math.inf),
    )
    return Task(Robot("r", "r.urdf", "x", "y", 3), tmp_path, tmp_path, joints, ("x", "y"))


def test_configurations_keep_the_limits_and_follow_the_seed(tmp_path: Path) -> None:
    q = context(tmp_path).configurations(task(tmp_path), 500)
    assert q.shape == (500, 3)
    assert np.all((q[:, 0] >= -0.1) & (q[:, 0] <= 0.2))
    assert np.all(np.abs(q[:, 1]) <= math.pi) and np.ptp(q[:, 1]) > 5
    assert np.all((q[:, 2] >= 0) & (q[:, 2] <= math.pi))
    assert np.array_equal(q, context(tmp_path).configurations(task(tmp_path), 500))
    assert not np.array_equal(q, context(tmp_path, seed=4).configurations(task(tmp_path), 500))


def test_the_first_and_the_last_row_are_always_checked() -> None:
    assert rows_to_check(1) == [0]
    assert rows_to_check(16_001)[0] == 0 and rows_to_check(16_001)[-1] == 16_000
    assert len(rows_to_check(16_001)) == 64


class FakeWorker:
    def __init__(self, name: str, log: list[str], fails: bool = False) -> None:
        self.name, self.log, self.fails = name, log, fails

    def ask(self, command: str, **fields: Any) -> dict[str, float]:
        self.log.append(f"{self.name}{fields['index']}")
        if self.fails:
            raise WorkerError("boom")
        return {"cpu": 1.0, "wall": 2.0}


def entry(peer: str) -> Measurement:
    return Measurement("single", "r", "pose", 1, peer, peer)


def test_sides_take_turns_round_after_round(tmp_path: Path) -> None:
    log: list[str] = []
    a: Any = FakeWorker("a", log)
    b: Any = FakeWorker("b", log)
    entries = [entry("a"), entry("a"), entry("b")]
    run_rounds(context(tmp_path), [(a, 0, entries[0]), (a, 1, entries[1]), (b, 0, entries[2])])
    assert log == ["a0", "a1", "b0"] * 3
    assert all(len(e.cpu) == len(e.wall) == 3 for e in entries)


def test_a_line_that_fails_is_dropped_and_reported_while_others_go_on(tmp_path: Path) -> None:
    log: list[str] = []
    bad: Any = FakeWorker("bad", log, fails=True)
    good: Any = FakeWorker("good", log)
    made, entries = context(tmp_path), [entry("bad"), entry("good")]
    run_rounds(made, [(bad, 0, entries[0]), (good, 0, entries[1])])
    assert log.count("bad0") == 1 and log.count("good0") == 3
    assert not entries[0].measured and entries[1].measured
    assert made.report.problems == ["r pose: boom"]


def test_every_library_is_held_to_one_thread() -> None:
    environment = Seat("x", "python", None, {"MINE": "2"}).full_environment()
    assert environment["OMP_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == "1"
    assert environment["MINE"] == "2"
