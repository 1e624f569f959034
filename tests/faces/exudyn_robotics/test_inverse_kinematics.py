"""InverseKinematicsNumerical: poses that are reached, what is given back, and beside exudyn's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from linkwork.faces.exudyn_robotics.inverse_kinematics import InverseKinematicsNumerical
from linkwork.faces.exudyn_robotics.links import RobotBase, RobotLink, RobotTool
from linkwork.faces.exudyn_robotics.models import (
    LinkDict2Robot,
    ManipulatorPANDA,
    ManipulatorPuma560,
)
from linkwork.faces.exudyn_robotics.robot import Robot
from linkwork.faces.exudyn_robotics.transformations import HTrotateX, HTrotateZ, HTtranslate
from seeds import rng


@pytest.fixture(name="original", scope="module")
def _original() -> Any:
    return pytest.importorskip("exudyn.robotics", reason="exudyn is not installed")


@pytest.fixture(name="puma", scope="module")
def _puma() -> Robot:
    return LinkDict2Robot(ManipulatorPuma560())


def pose_of(robot: Robot, q: Any) -> np.ndarray:
    return robot.JointHT(q)[-1] @ robot.GetToolHT()


def in_theirs(original: Any, robot: Robot) -> Any:
    """The same robot in exudyn."""
    made = original.Robot(tool=original.RobotTool(HT=robot.tool.HT))
    for link in robot.links:
        made.AddLink(
            original.RobotLink(link.mass, link.COM, np.eye(3), localHT=link.localHT,
                               preHT=link.preHT, jointType=link.jointType, PDcontrol=(1, 1))
        )  # fmt: skip
    return made


@pytest.mark.row("S4-060", "S4-063", "S4-065")
def test_random_poses_of_a_puma_are_reached(puma: Robot):
    """999 of 1000 at least, from one start, each within 1e-8 of the pose."""
    solver, g = InverseKinematicsNumerical(puma), rng("exudyn puma")
    reached = 0
    for q in g.uniform(-math.pi, math.pi, (1000, 6)):
        T = pose_of(puma, q)
        found, success = solver.Solve(T, q0=np.zeros(6))
        assert (found is not None) == success
        if success:
            reached += 1
            assert np.abs(pose_of(puma, found) - T).max() < 1e-8
            assert (np.abs(found) <= math.pi).all()
    assert reached >= 999


@pytest.mark.row("S4-064")
def test_steps_lead_there_too(puma: Robot):
    solver, g = InverseKinematicsNumerical(puma), rng("exudyn puma in steps")
    for q in g.uniform(-math.pi, math.pi, (40, 6)):
        T, near = pose_of(puma, q), q + 0.1 * g.uniform(-1.0, 1.0, 6)
        for start in (near, np.zeros(6)):
            found, success = solver.SolveSafe(T, q0=start)
            assert success
            assert np.abs(pose_of(puma, found) - T).max() < 1e-8


@pytest.mark.row("S4-063", "S4-064")
@pytest.mark.parametrize("how", ["Solve", "SolveSafe"])
def test_beside_exudyn_on_the_same_targets(how: str, puma: Robot, original: Any):
    """Where exudyn finds a solution near its start, it is ours; we find all."""
    g, ours = rng(f"exudyn beside {how}"), InverseKinematicsNumerical(puma)
    theirs = original.InverseKinematicsNumerical(in_theirs(original, puma))
    solved = same = 0
    for q in g.uniform(-math.pi, math.pi, (30, 6)):
        T, start = pose_of(puma, q), q + 0.1
        found, success = getattr(ours, how)(T, start)
        assert success
        other, reached = getattr(theirs, how)(T, start)
        if reached:
            solved += 1
            off = np.remainder(found - other + math.pi, 2.0 * math.pi) - math.pi
            same += bool(np.abs(off).max() < 1e-9)
    assert solved >= 15
    assert same >= 0.8 * solved


@pytest.mark.row("S4-060")
@pytest.mark.parametrize("stiffness", [1.0, [1, 2, 3, 1, 2, 3, 1], [100, 1, 1, 1, 1, 1, 1]])
def test_of_a_redundant_arm_the_springs_decide(stiffness: Any, original: Any):
    panda = LinkDict2Robot(ManipulatorPANDA())
    q0 = np.array([0.1, -0.5, 0.2, -2.0, 0.3, 1.6, 0.4])
    T = pose_of(panda, q0 + 0.1 * np.array([1, -1, 0.5, 1, -0.7, 0.3, 0.8]))
    found, success = InverseKinematicsNumerical(panda, stiffness).Solve(T, q0)
    k = [float(x) for x in np.broadcast_to(stiffness, 7)]
    theirs = original.InverseKinematicsNumerical(in_theirs(original, panda), jointStiffness=k)
    other, reached = theirs.Solve(T, q0)
    assert success and reached
    np.testing.assert_allclose(found, other, atol=1e-5)


@pytest.mark.row("S4-061", "S4-067")
def test_the_last_solution_is_where_the_next_search_starts(puma: Robot):
    solver = InverseKinematicsNumerical(puma)
    np.testing.assert_allclose(solver.GetCurrentRobotHT(), pose_of(puma, np.zeros(6)), atol=1e-14)
    q = np.array([0.1, 0.9, -0.7, 0.9, -0.4, -0.2])
    T = pose_of(puma, q)
    found, _ = solver.Solve(T, q0=q + 0.05 + 2.0 * math.pi)
    np.testing.assert_allclose(found, q, atol=1e-9)
    np.testing.assert_allclose(solver.GetCurrentRobotHT(), T, atol=1e-9)
    again, _ = solver.Solve(pose_of(puma, q + 0.02))
    np.testing.assert_allclose(again, q + 0.02, atol=1e-9)
    far = T.copy()
    far[0, 3] += 10.0
    assert solver.Solve(far) == [None, False]
    assert solver.SolveSafe(far) == [None, False]
    np.testing.assert_allclose(solver.GetCurrentRobotHT(), pose_of(puma, again), atol=1e-14)
    np.testing.assert_array_equal(puma.gravity, [0, 0, -9.81])


@pytest.mark.row("S4-063")
def test_bases_tools_and_sliding_joints():
    """The pose is in the world; metres are not wrapped as angles are."""
    g = rng("exudyn placed")
    base, tool = (
        HTtranslate(g.uniform(-1, 1, 3)) @ HTrotateX(0.7) @ HTrotateZ(g.uniform(-2, 2))
        for _ in "bt"
    )
    robot = Robot(
        base=RobotBase(HT=base), tool=RobotTool(HT=tool), referenceConfiguration=[5.0] + [0.2] * 6
    )
    for kind in ("Px", "Rz", "Rx", "Rz", "Ry", "Rz", "Rx"):
        place = HTtranslate(g.uniform(-0.3, 0.3, 3)) @ HTrotateX(g.uniform(-1, 1))
        robot.AddLink(
            RobotLink(1.0, [0, 0, 0], np.eye(3), localHT=place, preHT=place, jointType=kind)
        )
    solver = InverseKinematicsNumerical(robot)
    q = np.concatenate([[5.1], g.uniform(-0.5, 0.5, 6)])
    T = pose_of(robot, q)
    found, success = solver.Solve(T.tolist())
    assert success
    np.testing.assert_allclose(pose_of(robot, found), T, atol=1e-8)
    assert found[0] > math.pi
    np.testing.assert_allclose(solver.GetCurrentRobotHT(), T, atol=1e-8)


@pytest.mark.row("S4-062")
def test_poses_between_two():
    solver = InverseKinematicsNumerical(LinkDict2Robot(ManipulatorPuma560()))
    T1 = HTtranslate([1.0, 0.0, 0.0])
    T2 = HTtranslate([0.0, 2.0, 0.0]) @ HTrotateZ(1.0)
    for options, n in (
        ({}, 6),
        ({"rotStep": 0.3}, 4),
        ({"rotStep": 2.0, "minSteps": 5}, 5),
        ({"minSteps": 0}, 6),
    ):
        between = solver.InterpolateHTs(T1, T2, **options)
        assert len(between) == n
        for k, T in enumerate(between, 1):
            s = k / n
            wanted = HTtranslate([1.0 - s, 2.0 * s, 0.0]) @ HTrotateZ(s)
            np.testing.assert_allclose(T, wanted, atol=1e-14)
    np.testing.assert_array_equal(solver.InterpolateHTs(T1, T1)[0], T1)


@pytest.mark.row("S4-060", "S4-063")
def test_what_is_refused(puma: Robot):
    solver = InverseKinematicsNumerical(puma)
    for wrong in (np.eye(3), 2.0 * np.eye(4), np.diag([1.0, 1.0, -1.0, 1.0])):
        with pytest.raises(ValueError, match=r"pose|4, 4"):
            solver.Solve(wrong)
        with pytest.raises(ValueError, match=r"pose|4, 4"):
            solver.SolveSafe(wrong)
    with pytest.raises(ValueError, match=r"q0 is \(6,\), not \(5,\)"):
        solver.Solve(np.eye(4), q0=[0.0] * 5)
    with pytest.raises(ValueError, match="q0"):
        solver.Solve(np.eye(4), q0=[math.nan] * 6)
    with pytest.raises(ValueError, match=r"one number or \(6,\)"):
        InverseKinematicsNumerical(puma, jointStiffness=[1] * 5)
    with pytest.raises(ValueError, match="not negative"):
        InverseKinematicsNumerical(puma, jointStiffness=-1)
    with pytest.raises(ValueError, match="no links"):
        InverseKinematicsNumerical(Robot())


@pytest.mark.row("S4-066")
def test_options_that_show(puma: Robot):
    with pytest.warns(UserWarning, match="nothing is drawn"):
        InverseKinematicsNumerical(puma, useRenderer=True)
    solver = InverseKinematicsNumerical(puma, flagDebug=True, useAlternativeConstraints=True)
    with pytest.warns(UserWarning, match="no solution: .*out of reach"):
        solver.Solve(HTtranslate([10.0, 0.0, 0.0]))
    T = pose_of(puma, [0.1] * 6)
    assert solver.Solve(T)[1]
