"""Trajectories against exudyn: kinematic trees by RK4, and planar mechanisms with loops.

For loops exudyn has free rigid bodies, index 2 formulation: every body by itself and all joints as
constraints, so nothing of the model is shared but masses and places. Its trapezoidal rule is of
order 2: two step lengths, extrapolated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
import linkwork.models
from linkwork.mechanism.model import JointType

exudyn = pytest.importorskip("exudyn", reason="exudyn (pip install exudyn) is not installed")
items = pytest.importorskip("exudyn.itemInterface", reason="exudyn's items are missing")
G = (0.0, -9.80665)


class Planar:
    """A mechanism in the x-y plane as bodies and joints of exudyn; the base is its ground."""

    def __init__(self, robot: lw.Robot, q0: np.ndarray) -> None:
        self.robot, self.q0 = robot, q0
        self.system: Any = exudyn.SystemContainer().AddSystem()
        self.add = self.system.AddObject
        m = robot.mechanism
        self.bodies: list[Any] = [self.add(items.ObjectGround())]
        self.nodes: list[Any] = [None]
        for b in range(1, m.n_bodies):
            self._body(m, b)
        for b in range(1, m.n_bodies):
            ends = (int(m.parent[b]), b)
            if m.body_joint_types[b] is JointType.PRISMATIC:
                self._slide(ends, robot.fk(q0, m.body_joint_names[b]))
            else:
                self._hinge(ends, robot.fk(q0, m.body_names[b])[:2, 3])
        for loop in m.loops:
            ends = tuple(int(m.frame_body[m.frame(f)]) for f in (loop.frame_a, loop.frame_b))
            self._hinge(ends, robot.fk(q0, loop.frame_a)[:2, 3])
        self.system.Assemble()

    def _angle(self, T: np.ndarray) -> float:
        return float(np.arctan2(T[1, 0], T[0, 0]))

    def _body(self, m: Any, b: int) -> None:
        T = self.robot.fk(self.q0, m.body_names[b])
        mass = float(m.body_mass(b))
        com = T[:2, :2] @ np.array(m.p_body_com[b][:2]) + T[:2, 3]
        at = [*com, self._angle(T)]
        node = items.NodeRigidBody2D(referenceCoordinates=at, initialVelocities=[0, 0, 0])
        self.nodes.append(self.system.AddNode(node))
        inertia = float(m.I_com[b][2, 2])
        body = items.ObjectRigidBody2D(mass=mass, inertia=inertia, nodeNumber=self.nodes[-1])
        self.bodies.append(self.add(body))
        marker = self.system.AddMarker(items.MarkerBodyPosition(bodyNumber=self.bodies[-1]))
        push = [mass * G[0], mass * G[1], 0.0]
        self.system.AddLoad(items.LoadForceVector(markerNumber=marker, loadVector=push))

    def _marker(self, b: int, point: np.ndarray, kind: Any) -> Any:
        """A marker of a body at a point of the world."""
        local = np.array([*point, 0.0])
        if b:
            T = self.robot.fk(self.q0, self.robot.mechanism.body_names[b])
            com = np.array(self.robot.mechanism.p_body_com[b][:2])
            local[:2] = T[:2, :2].T @ (point - T[:2, 3]) - com
        return self.system.AddMarker(kind(bodyNumber=self.bodies[b], localPosition=local))

    def _hinge(self, ends: tuple[int, ...], point: np.ndarray) -> None:
        markers = [self._marker(b, point, items.MarkerBodyPosition) for b in ends]
        self.add(items.ObjectJointRevolute2D(markerNumbers=markers))

    def _slide(self, ends: tuple[int, ...], T: np.ndarray) -> None:
        """A slide along x of the world, on the ground."""
        markers = [self._marker(b, T[:2, 3], items.MarkerBodyRigid) for b in ends]
        joint = items.ObjectJointPrismatic2D(
            markerNumbers=markers, axisMarker0=[1.0, 0.0, 0.0], normalMarker1=[0.0, 1.0, 0.0]
        )
        self.add(joint)

    def rolled(self, duration: float, steps: int) -> np.ndarray:
        """(bodies, 3): the places of the centres of mass and the angles turned at the end."""
        settings = exudyn.SimulationSettings()
        settings.solution.file.write = False
        settings.timeIntegration.numberOfSteps = steps
        settings.timeIntegration.endTime = duration
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.newton.relativeTolerance = 1e-11
        settings.timeIntegration.newton.absoluteTolerance = 1e-12
        self.system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.TrapezoidalIndex2)
        kind = exudyn.OutputVariableType
        found = []
        for node in self.nodes[1:]:
            at = self.system.GetNodeOutput(node, kind.Position)[:2]
            turned = self.system.GetNodeOutput(node, kind.Coordinates)[2]
            found.append([*at, turned])
        return np.array(found)


def ours(robot: lw.Robot, q0: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The same numbers of our configuration."""
    m = robot.mechanism
    found = []
    for b in range(1, m.n_bodies):
        T, before = robot.fk(q, m.body_names[b]), robot.fk(q0, m.body_names[b])
        com = T[:2, :2] @ np.array(m.p_body_com[b][:2]) + T[:2, 3]
        R = before[:2, :2].T @ T[:2, :2]
        found.append([*com, np.arctan2(R[1, 0], R[0, 0])])
    return np.array(found)


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("name", "start", "duration"),
    [("four_bar", 0.5, 1.0), ("slider_crank", 0.5, 2.0), ("five_bar", 0.0, 0.5)],
)
def test_planar_mechanisms(name: str, start: float, duration: float):
    robot = lw.load(name)
    q0 = robot.assemble({robot.actuated[0]: start}, q0=robot.neutral()).q
    found = lw.simulate(robot, q0, duration=duration, dt=1e-4, gravity=[*G, 0.0], record=0)
    coarse, fine = (Planar(robot, q0).rolled(duration, round(duration / h)) for h in (1e-3, 5e-4))
    exact = fine + (fine - coarse) / 3.0
    expected = ours(robot, q0, found.q[-1])
    moved = np.abs(expected - ours(robot, q0, q0)).max()
    turned = (exact[:, 2] - expected[:, 2] + np.pi) % (2.0 * np.pi) - np.pi
    gap = max(np.abs(exact[:, :2] - expected[:, :2]).max(), np.abs(turned).max())
    assert moved > 0.05

    assert gap < 1e-6
