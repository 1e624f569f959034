"""Numerical inverse kinematics by the names of ``exudyn.robotics``, over Linkwork's solver."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import ik, poses
from linkwork.checks import finite_number, whole_number
from linkwork.errors import InputError, ShapeError
from linkwork.faces.exudyn_robotics.robot import Robot
from linkwork.faces.exudyn_robotics.transformations import InverseHT, as_HT

Floats = NDArray[np.float64]
Solution = list[Any]  # [q (n,) or None, success]

_EXACT = ik.Options(position_tolerance=1e-12, rotation_tolerance=1e-12)
_STEP = replace(_EXACT, tries=1)  # from the step before, or not at all


class InverseKinematicsNumerical:
    """Joint positions for poses of the tool: `Solve` and `SolveSafe`.

    A pose T (4, 4) is that of the tool in the world, on the frame that `Robot.JointHT` gives last:
    ``robot.JointHT(q)[-1] @ robot.GetToolHT()``, as in the original; the last link's ``localHT`` is
    not part of it. The last solution is where the next search starts; the first starts at the
    robot's ``referenceConfiguration``.

    ``jointStiffness``, a number or one for each joint, says how strongly joints are held where the
    search starts: of the solutions of a robot with more than six joints, the one with the least
    Σ kᵢ (qᵢ - q0ᵢ)²/2 near there is found. ``flagDebug`` warns with the reason where none is found.
    ``useRenderer`` warns that nothing is drawn. ``useAlternativeConstraints`` changes nothing: both
    kinds of the original's constraints have the same solutions.

    Raises: InputError, ShapeError (ValueErrors) for a robot without links, and stiffnesses that
    are negative or do not fit it.
    """

    def __init__(
        self,
        robot: Robot,
        jointStiffness: ArrayLike = 1.0,
        useRenderer: bool = False,
        flagDebug: bool = False,
        useAlternativeConstraints: bool = False,
    ) -> None:
        n = robot.NumberOfLinks()
        if n == 0:
            raise InputError("the robot has no links: AddLink before InverseKinematicsNumerical")
        given = np.asarray(jointStiffness, np.float64)
        if given.shape not in ((), (n,)):
            raise ShapeError(f"jointStiffness is one number or ({n},), not {given.shape}")
        if not (np.isfinite(given).all() and (given >= 0.0).all()):
            raise InputError(f"jointStiffness is finite and not negative, not {given.tolist()}")
        if useRenderer:
            warnings.warn(
                "useRenderer: nothing is drawn; robot.core().view(q) shows a solution", stacklevel=2
            )
        self.robot = robot
        self.jointStiffness = np.broadcast_to(given, (n,))
        self.flagDebug = flagDebug
        self.useAlternativeConstraints = useAlternativeConstraints
        self._core, self._tool = robot.core(), robot.tool.HT.copy()
        self._inverse_tool = InverseHT(self._tool)
        self._turning = np.array([each.jointType[0] == "R" for each in robot.links])
        self._tip = f"body{n - 1}"
        self._held = np.flatnonzero(self.jointStiffness) if n > 6 else np.zeros(0, np.int64)
        stiff = {f"joint{k}": float(self.jointStiffness[k]) for k in self._held}
        if stiff:
            springs = [ik.Posture(joints=j, priority=1, weight=k) for j, k in stiff.items()]
            # the search itself goes the way of least energy: steps are measured by sqrt(k)
            ease = {joint: 1.0 / math.sqrt(k) for joint, k in stiff.items()}
            self._solver = self._core.solver(
                tasks=[ik.Pose(self._tip), *springs], joint_weights=ease
            )
        else:
            self._solver = self._core.solver(self._tip)
        self._q = np.array(robot.referenceConfiguration[:n], np.float64)

    def GetCurrentRobotHT(self) -> Floats:
        """The pose (4, 4) of the tool at the last solution, or where the first search starts."""
        return self._pose(self._q)

    def InterpolateHTs(
        self, T1: Any, T2: Any, rotStep: float = math.pi / 16, minSteps: int = 1
    ) -> list[Floats]:
        """Poses (4, 4) from T1, which is left out, to T2: p + s (p2 - p1), R1 exp(s log(R1ᵀ R2)).

        They are ``minSteps`` or more, each turned by ``rotStep`` (rad) or less from the one before.

        Raises: InputError, ShapeError (ValueErrors).
        """
        first, last = as_HT(T1), as_HT(T2)
        gap = float(np.linalg.norm(last[:3, :3] - first[:3, :3]))  # sqrt(8) sin(angle / 2)
        angle = 2.0 * math.asin(min(gap / math.sqrt(8.0), 1.0))
        turns = 1 + int(angle / finite_number(rotStep, "rotStep", above=0.0))
        steps = max(whole_number(minSteps, "minSteps", least=0), turns)
        between = np.arange(1, steps) / steps
        return [*poses.interpolate(first, last, between, path="separate"), last]

    def Solve(self, T: Any, q0: ArrayLike | None = None, tol: float = 1e-8) -> Solution:
        """Joint positions for a pose T (4, 4) of the tool: [q (n,), True], or [None, False].

        The search starts at ``q0``, by default at the last solution. It has succeeded where no
        number of the pose at q differs from T by more than ``tol``. Angles are in (-pi, pi].

        Raises: InputError, ShapeError (ValueErrors) for what is no rigid pose, and for q0.
        """
        return self._solved(self._start(q0), as_HT(T), tol)

    def SolveSafe(self, T: Any, q0: ArrayLike | None = None, tol: float = 1e-8) -> Solution:
        """Joint positions as of `Solve`, found in steps from where the tool is at ``q0``.

        Each step of `InterpolateHTs` (pi/20, and at least four) is solved from the one before, so
        that the solution is mostly the one that the robot can move to; where a step cannot be
        reached, that of `Solve`.

        Raises: as `Solve`.
        """
        start, target = self._start(q0), as_HT(T)
        here = self._pose(start)
        q: Floats | None = start
        for pose in self.InterpolateHTs(here, target, math.pi / 20.0, 4):
            q = self._search(pose, q, tol, _STEP)[0]
            if q is None:
                return self._solved(start, target, tol)
        self._q = q
        return [q.copy(), True]

    def _solved(self, start: Floats, target: Floats, tol: float) -> Solution:
        q, reason = self._search(target, start, tol)
        if q is None:
            if self.flagDebug:
                warnings.warn(f"no solution: {reason}", stacklevel=3)
            return [None, False]
        self._q = q
        return [q.copy(), True]

    def _search(
        self, T: Floats, start: Floats, tol: float, options: ik.Options = _EXACT
    ) -> tuple[Floats | None, str]:
        """A solution, or none and why."""
        goal = T @ self._inverse_tool
        targets = [goal, *(start[[k]] for k in self._held)] if len(self._held) else goal
        found = self._solver.solve(targets, start, options=options)
        if found.success or np.abs(self._pose(found.q) - T).max() <= tol:
            return self._wrapped(found.q), ""
        return None, found.reason

    def _pose(self, q: Floats) -> Floats:
        return self._core.fk(q, self._tip) @ self._tool

    def _start(self, q0: ArrayLike | None) -> Floats:
        given = self._q if q0 is None else np.array(q0, np.float64)
        if given.shape != self._q.shape:
            raise ShapeError(f"q0 is {self._q.shape}, not {given.shape}")
        return self._wrapped(given)

    def _wrapped(self, q: Floats) -> Floats:
        """The same positions with angles in (-pi, pi]; what slides stays."""
        if all(-math.pi < x <= math.pi for x in q.tolist()):
            return q
        return q - 2.0 * math.pi * np.ceil((q - math.pi) / (2.0 * math.pi)) * self._turning
