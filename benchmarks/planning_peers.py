"""OMPL's RRT-Connect over Pinocchio and coal, as one puts them together in Python.

A state is looked at by a Python callback: Pinocchio places the meshes of the file, coal looks at
the pairs of links that ours looks at and at all links against the scene, by its tree of boxes.
Motions are looked at by OMPL itself, states `SPACING` apart; what it finds is made shorter by its
own simplifier. Nothing is looked at without gaps.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from linkwork.scene import Box, Cylinder, Sphere

Floats = NDArray[np.float64]

SPACING = 1 / 32


class OmplCoal:
    """A robot for OMPL and coal."""

    def __init__(self, robot: lw.Robot, path: Path, pairs: Any) -> None:
        import coal  # noqa: PLC0415  another side
        import pinocchio as pin  # noqa: PLC0415
        from ompl import base, geometric, util  # noqa: PLC0415

        util.setLogLevel(util.LogLevel.LOG_NONE)
        self.coal, self.pin, self.base, self.geometric = coal, pin, base, geometric
        self.robot, self.model = robot, pin.buildModelFromUrdf(str(path))
        folder = str(path)[: str(path).index("example-robot-data")]
        kind = pin.GeometryType.COLLISION
        self.own = pin.buildGeomFromUrdf(self.model, str(path), kind, None, [folder])
        self.data = self.model.createData()
        of_link: dict[str, list[int]] = {}
        for k, each in enumerate(self.own.geometryObjects):
            of_link.setdefault(self.model.frames[each.parentFrame].name, []).append(k)
        self.pairs = [
            (a, b)
            for pair in pairs
            if pair.checked
            for a in of_link.get(pair.link_a, [])
            for b in of_link.get(pair.link_b, [])
        ]
        names = list(robot.all_joint_names)
        self.places = [
            (int(self.model.joints[j].idx_q), names.index(self.model.names[j]))
            for j in range(1, self.model.njoints)
            if self.model.names[j] in names
        ]

    def configuration(self, q: Floats) -> Floats:
        """Pinocchio's q of ours."""
        found, every = self.pin.neutral(self.model), self.robot.all_positions(q)
        for theirs, ours in self.places:
            found[theirs] = every[ours]
        return found

    def plan(  # noqa: C901  what OMPL wants, one after the other
        self, problem: Any, seconds: float
    ) -> tuple[float, float, int]:
        """Seconds that a plan takes, its length (nan: none is found), and states looked at."""
        pin, ob, og = self.pin, self.base, self.geometric
        geometry = self.own.copy()
        count = geometry.ngeoms
        for each in problem.scene:
            shape = {
                Box: lambda s: self.coal.Box(*map(float, s.size)),
                Cylinder: lambda s: self.coal.Cylinder(float(s.radius), float(s.length)),
                Sphere: lambda s: self.coal.Sphere(float(s.radius)),
            }[type(each.shape)](each.shape)
            T = pin.SE3(np.array(each.T_world_object))
            geometry.addGeometryObject(pin.GeometryObject(each.name, 0, 0, T, shape))
        for a in range(count):
            if geometry.geometryObjects[a].parentJoint:
                for b in range(count, geometry.ngeoms):
                    geometry.addCollisionPair(pin.CollisionPair(a, b))
        for a, b in self.pairs:
            geometry.addCollisionPair(pin.CollisionPair(a, b))
        found = geometry.createData()
        manager = pin.BroadPhaseManager_DynamicAABBTreeCollisionManager(self.model, geometry, found)
        names = list(self.robot.joint_names)
        planned = np.array([names.index(name) for name in problem.joints])
        n, low, high = len(planned), self.robot.limits.lower, self.robot.limits.upper
        space, bounds = ob.RealVectorStateSpace(n), ob.RealVectorBounds(n)
        for k, i in enumerate(planned.tolist()):
            bounds.setLow(k, float(low[i]))
            bounds.setHigh(k, float(high[i]))
        space.setBounds(bounds)
        information = ob.SpaceInformation(space)
        looked = 0

        def free(state: Any) -> bool:
            nonlocal looked
            looked += 1
            q = problem.start.copy()
            q[planned] = [state[k] for k in range(n)]
            at = self.configuration(q)
            return not pin.computeCollisions(self.model, self.data, manager, at, True)

        class Valid(ob.StateValidityChecker):
            def isValid(self, state: Any) -> bool:
                return free(state)

        valid = Valid(information)
        information.setStateValidityChecker(valid)
        information.setStateValidityCheckingResolution(
            SPACING / float(np.linalg.norm((high - low)[planned]))
        )
        information.setup()

        def state(q: Floats) -> Any:
            made = space.allocState()
            for k, i in enumerate(planned.tolist()):
                made[k] = float(q[i])
            return made

        began = time.perf_counter()
        if not (free(state(problem.start)) and free(state(problem.goal))):
            return time.perf_counter() - began, math.nan, looked
        definition = ob.ProblemDefinition(information)
        definition.setStartAndGoalStates(state(problem.start), state(problem.goal))
        planner = og.RRTConnect(information)
        planner.setProblemDefinition(definition)
        planner.setup()
        until = time.perf_counter() + seconds
        planner.solve(ob.PlannerTerminationCondition(lambda: time.perf_counter() > until))
        length = math.nan
        if definition.hasExactSolution():
            path = definition.getSolutionPath()
            og.PathSimplifier(information).simplify(path, 1.0)
            length = path.length()
        took = time.perf_counter() - began
        information.setStateValidityChecker(ob.AllValidStateValidityChecker(information))
        return took, length, looked


def missing() -> str:
    """Which package is missing; empty where all are there."""
    for name in ("ompl", "coal", "pinocchio"):
        try:
            __import__(name)
        except ImportError:
            return name
    return ""


__all__ = ["OmplCoal", "missing"]
