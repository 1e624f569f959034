"""The judging of answers: a solver that lies is found out, whoever it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.cases.ik import Asked, run, verify
from benchmarks.context import Context
from benchmarks.ik.question import Question
from benchmarks.peers import create_peer
from benchmarks.peers.base import Floats
from benchmarks.results import Measurement, Report
from benchmarks.session import Seat
from benchmarks.tasks import Joint, Robot, Task

SLIDE = Question("slide", ("tip",))  # not plain: judged by `reach`


def slid(q: Floats) -> Floats:
    """The pose of a tip that slides along x."""
    T = np.tile(np.eye(4), (len(q), 1, 1))
    T[:, 0, 3] = q[:, 0]
    return T


class Judge:
    """A worker that knows what a slide reaches."""

    seat = Seat("pinocchio", "python")

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        assert command == "reach"
        np.save(fields["out"], slid(np.load(fields["q"])))
        return {}


class Solver:
    """A worker whose answers are given."""

    def __init__(self, q: Floats, success: list[bool]) -> None:
        self.q, self.success = q, success

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        assert command == "solve"
        np.savez(fields["out"], q=self.q, success=np.array(self.success))
        return {"iterations": 4.0}


def asked(folder: Path, made_by: Floats) -> Asked:
    context = Context({}, folder, 1, 1, 0.0, Report({}, {}), say=lambda text: None)
    joints = (Joint("slide", "prismatic", -1.0, 1.0),)
    task = Task(Robot("r", "", "", "tip", 1), folder, folder, joints, ("tip",))
    judge: Any = Judge()
    return Asked(context, task, SLIDE, judge, made_by)


def judged(folder: Path, peer: str, q: Floats, success: list[bool]) -> tuple[Measurement, Report]:
    question = asked(folder, np.array([[0.1], [0.2], [0.3], [1.0]]))
    entry = Measurement("ik", "r", "batch", 4, peer, "solve")
    worker: Any = Solver(q, success)
    verify(question, worker, 0, entry)
    return entry, question.context.report


@pytest.mark.parametrize("peer", ["linkwork", "optik"])
def test_a_solver_that_lies_is_found_out(peer: str, tmp_path: Path) -> None:
    q = np.array([[0.1], [0.25], [0.3], [np.nan]])
    entry, report = judged(tmp_path, peer, q, [True, True, False, True])
    assert entry.extra["verified"] == 1 and entry.extra["unclaimed"] == 1
    assert entry.extra["false"] == 2
    assert bool(report.problems) == (peer == "linkwork")  # another's is a result, ours is a fault
    if peer == "linkwork":
        assert [each["row"] for each in entry.extra["missed"]] == [1, 2, 3]
        assert entry.extra["missed"][0]["made by"] == [0.2]


@pytest.mark.parametrize(("peer", "verified"), [("linkwork", 3), ("optik", 4)])
def test_limits_in_single_precision_are_let_pass_but_not_with_us(
    peer: str, verified: int, tmp_path: Path
) -> None:
    q = np.array([[0.1], [0.2], [0.3], [1.0 + 5e-8]])
    entry, _ = judged(tmp_path, peer, q, [True] * 4)
    assert entry.extra["verified"] == verified


def test_a_slow_side_is_judged_by_the_answers_that_it_has(tmp_path: Path) -> None:
    entry, _ = judged(tmp_path, "optik", np.array([[0.1], [0.2]]), [True, True])
    assert entry.extra["answers"] == 2 and entry.extra["verified"] == 2
    assert "2 of 2 (100.00 %)" in entry.notes[0]


def test_only_pinocchio_judges_what_is_more_than_a_pose(tmp_path: Path) -> None:
    context = Context({}, tmp_path, 1, 1, 0.0, Report({}, {}), say=lambda text: None)
    task = Task(Robot("r", "", "", "tip", 1), tmp_path, tmp_path, (), ("tip",))
    with pytest.raises(ValueError, match="judged by Pinocchio"):
        run(context, task, 10, question=SLIDE)


def test_pinocchio_reaches_frames_and_the_centre_of_mass(tmp_path: Path) -> None:
    pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    (tmp_path / "r.urdf").write_text(
        """<robot name="r"><link name="base"/><link name="tip"><inertial><origin xyz="0 2 0"/>
        <mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
        </inertial></link>
        <joint name="slide" type="prismatic"><parent link="base"/><child link="tip"/>
        <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    )
    peer = create_peer("pinocchio")
    peer.load(str(tmp_path / "r.urdf"), "tip")
    q = peer.configure(np.array([[0.3], [0.7]]), ["slide"])
    peer.question = SLIDE
    assert np.allclose(peer.reach(q), slid(np.array([[0.3], [0.7]])), atol=1e-15)
    peer.question = Question("both", ("tip",), com=True)
    found = peer.reach(q)
    assert found.shape == (2, 2, 4, 4)
    assert np.allclose(found[:, 1, :3, 3], [[0.3, 2, 0], [0.7, 2, 0]], atol=1e-15)
    peer.question = Question("none", ("nobody",))
    with pytest.raises(ValueError, match="nobody"):
        peer.reach(q)
