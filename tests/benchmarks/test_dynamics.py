"""Dynamics in the benchmarks: inputs of three vectors, joints in another order, marks of robots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.cases.compute import Reference
from benchmarks.lines import Line, split_state
from benchmarks.marks import judge
from benchmarks.peers.base import Floats, Peer
from benchmarks.results import Measurement, ratios
from benchmarks.tasks import DYNAMICS, Robot, Task
from benchmarks.worker import Server

from seeds import rng

NAMES = ["one", "two", "three"]


class Mixed(Peer):
    """Joints in another order, and a configuration that takes two numbers a joint."""

    name = "mixed"

    def load(self, path: str, tip: str) -> None:
        self.joint_names = ["three", "one", "two"]

    def native(self, values: Floats) -> Floats:
        return np.hstack([np.cos(values), np.sin(values)])

    def inverse_dynamics(self) -> list[Line]:
        return [Line("sum", "q, v, a = q; r = q[:3] + 10 * v + 100 * a", {}, given=split_state(3))]

    def mass_matrix(self) -> list[Line]:
        return [Line("outer", "r = np.outer(q[:3], q[:3])", {"np": np})]


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("operation", ["inverse_dynamics", "mass_matrix"])
def test_rows_go_there_and_come_back_in_the_order_of_the_driver(
    tmp_path: Path, operation: str, batch: bool
) -> None:
    rows = rng("states").normal(size=(20, 3 * DYNAMICS[operation]))
    np.save(tmp_path / "q.npy", rows)
    made = Server("linkwork")
    made.peer = Mixed()
    made.load("", "", NAMES)
    made.prepare(operation, str(tmp_path / "q.npy"), batch)
    made.result(0, str(tmp_path / "out.npy"), [0, 7, 19])
    found, chosen = np.load(tmp_path / "out.npy"), rows[[0, 7, 19]]
    c = np.cos(chosen[:, :3])
    if operation == "mass_matrix":
        np.testing.assert_array_equal(found, c[:, :, None] * c[:, None])
    else:
        np.testing.assert_allclose(found, c + 10 * chosen[:, 3:6] + 100 * chosen[:, 6:])


def test_forces_are_compared_on_their_own_scale(tmp_path: Path) -> None:
    task = Task(Robot("r", "", "", "", 2), tmp_path, tmp_path, (), ())
    large = np.array([[1e6, 2.0]])
    assert Reference(task, "forward_dynamics").agreement(large, []).ok
    for operation, same in (("forward_dynamics", True), ("jacobian", False)):
        reference = Reference(task, operation)
        reference.agreement(large, [])
        assert reference.agreement(large + 1e-6, []).ok == same
        assert not reference.agreement(large + 1e-2, []).ok


def entry(robot: str, peer: str, role: str, ns: float) -> Measurement:
    return Measurement("single", robot, "mass_matrix", 1, peer, role, role, [ns], [ns])


@pytest.mark.parametrize(("robot", "said"), [("panda", "MISSED (5)"), ("talos", "met (4)")])
def test_marks_of_one_robot(robot: str, said: str) -> None:
    ours, theirs = entry(robot, "linkwork", "bound", 1.0), entry(robot, "pinocchio", "mark", 4.5)
    assert judge(theirs, ratios(theirs, [ours, theirs]), True) == f"bound {said}"
