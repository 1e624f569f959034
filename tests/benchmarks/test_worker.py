"""The worker's own logic, with a side whose joints are in another order than the driver's."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.cases.compute import Reference
from benchmarks.environments import seat_for
from benchmarks.lines import Line
from benchmarks.matching import NamesDiffer
from benchmarks.peers.base import Peer
from benchmarks.session import Worker, WorkerError
from benchmarks.tasks import Joint, Robot, Task
from benchmarks.worker import Server

from seeds import rng

NAMES = ["one", "two", "three"]


class Weighted(Peer):
    """A "Jacobian" that has each joint's value in its column, in this side's own order."""

    name = "weighted"

    def load(self, path: str, tip: str) -> None:
        self.joint_names = ["three", "one", "two"]

    def jacobian(self) -> list[Line]:
        return [Line("rows of q", "r = np.tile(q, (6, 1))", {"np": np})]


def server() -> Server:
    made = Server("linkwork")
    made.peer = Weighted()
    return made


@pytest.mark.parametrize("batch", [False, True])
def test_columns_come_back_in_the_order_of_the_driver(tmp_path: Path, batch: bool) -> None:
    q = rng("columns").normal(size=(30, 3))
    np.save(tmp_path / "q.npy", q)
    made = server()
    made.load("", "", NAMES)
    made.prepare("jacobian", str(tmp_path / "q.npy"), batch, loop_rows=5)
    made.result(0, str(tmp_path / "out.npy"), [0, 7, 29])
    found = np.load(tmp_path / "out.npy")
    assert np.array_equal(found, np.tile(q[[0, 7, 29], None], (1, 6, 1)))


def test_other_joints_are_refused_at_load() -> None:
    with pytest.raises(NamesDiffer, match="extra"):
        server().load("", "", ["one", "two", "four"])


def test_the_reference_notices_a_joint_mixed_up(tmp_path: Path) -> None:
    task = Task(Robot("r", "", "", "", 3), tmp_path, tmp_path, (Joint("one", "", 0, 0),), ("x",))
    reference = Reference(task, "jacobian")
    values = rng("reference").normal(size=(4, 6, 3))
    assert reference.agreement(values, []).ok
    assert reference.agreement(values.copy(), []).ok
    assert not reference.agreement(values[..., [1, 0, 2]], []).ok


def test_all_poses_are_compared_by_the_names_of_links(tmp_path: Path) -> None:
    task = Task(Robot("r", "", "", "", 3), tmp_path, tmp_path, (), ("x", "y"))
    reference = Reference(task, "all_poses")
    values = rng("all poses").normal(size=(4, 3, 4, 4))
    assert reference.agreement(values, ["x", "y", "a joint"]).ok
    assert reference.agreement(values[:, [1, 0]], ["y", "x"]).ok
    assert not reference.agreement(values[:, [1, 0]], ["x", "y"]).ok
    assert "missing" in str(reference.agreement(values[:, :1], ["x"]))


URDF = """<robot name="r">
  <link name="base"/><link name="a"/><link name="tip"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="a"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
  <joint name="slide" type="prismatic"><parent link="a"/><child link="tip"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


def test_a_pinocchio_process_answers_and_survives_a_bad_command(tmp_path: Path) -> None:
    pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    (tmp_path / "r.urdf").write_text(URDF)
    np.save(tmp_path / "q.npy", np.array([[0.5, math.pi / 2]]))
    fields: dict[str, Any] = {"operation": "pose", "q": str(tmp_path / "q.npy"), "batch": False}
    with Worker(seat_for("pinocchio", here=True, core=None), timeout=60) as worker:
        with pytest.raises(WorkerError, match="no frame 'nobody'"):
            worker.ask("load", path=str(tmp_path / "r.urdf"), tip="nobody", names=["slide", "turn"])
        worker.ask("load", path=str(tmp_path / "r.urdf"), tip="tip", names=["slide", "turn"])
        lines = worker.ask("prepare", **fields)["lines"]
        for index in range(len(lines)):
            worker.ask("result", index=index, out=str(tmp_path / "T.npy"), which=[0])
            T = np.load(tmp_path / "T.npy")[0]
            assert np.allclose(T[:3, 3], [1.0, 0.5, 0.0], atol=1e-15)
            assert np.allclose(T[:3, :3], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
        assert worker.ask("time", index=0, seconds=0.0)["cpu"] > 0
