"""Simulations as files: every array by name, or a line for each state; whole or not at all."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from linkwork.errors import InputError
from linkwork.simulation.files import header, labels
from pendulums import brick, pendulum, simulated


def test_npz(tmp_path: Path):
    result = simulated(pendulum(2), [[0.1, 0.2], [0.3, 0.4]], None, 0.1, record=10)
    result.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as read:
        assert set(read) == {
            "times", "q", "v", "torques", "kinetic_energy", "potential_energy", "finished",
            "failed_at", "ended_at", "joint_names",
        }  # fmt: skip
        for name in ("times", "q", "v", "torques", "kinetic_energy", "finished"):
            np.testing.assert_array_equal(read[name], getattr(result, name))
        assert read["joint_names"].tolist() == ["j1", "j2"]


def test_csv_of_one(tmp_path: Path):
    result = simulated(pendulum(2), [0.1, 0.2], [1.0, 2.0], 0.1, record=10)
    result.save(str(tmp_path / "run.CSV"))
    with open(tmp_path / "run.CSV", encoding="utf-8", newline="") as file:
        first, *lines = list(csv.reader(file))
    assert first == header(result) == [
        "time", "q j1", "q j2", "v j1", "v j2", "torque j1", "torque j2", "kinetic energy",
        "potential energy",
    ]  # fmt: skip
    values = np.array(lines, np.float64)
    np.testing.assert_array_equal(values[:, 0], result.times)
    np.testing.assert_array_equal(values[:, 1:3], result.q)
    np.testing.assert_array_equal(values[:, -2], result.kinetic_energy)


def test_csv_of_a_batch_tells_the_rows(tmp_path: Path):
    result = simulated(pendulum(1), [[0.1], [0.2]], None, 0.01, record=5)
    result.save(tmp_path / "run.csv")
    text = (tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()
    assert text[0].startswith("row,time,q j1")
    assert [line.split(",")[0] for line in text[1:]] == ["0", "0", "0", "1", "1", "1"]


def test_labels_of_a_floating_base():
    m = brick()
    (name,) = m.joint_names
    assert labels(m, velocities=False)[3:5] == [f"{name}/qw", f"{name}/qx"]
    assert labels(m, velocities=True)[-1] == f"{name}/wz"


def test_refusals_leave_the_old_file(tmp_path: Path):
    result = simulated(pendulum(1), [0.1], None, 0.01)
    (tmp_path / "old.txt").write_text("old")
    with pytest.raises(InputError, match=r"must end in \.npz or \.csv"):
        result.save(tmp_path / "old.txt")
    with pytest.raises(InputError, match="cannot be written"):
        result.save(tmp_path / "none" / "run.npz")
    assert (tmp_path / "old.txt").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["old.txt"]
