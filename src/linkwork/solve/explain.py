"""Why a target was not reached, in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.mechanism.model import JointType
from linkwork.solve.problem import Problem, way
from linkwork.solve.result import Measured

Floats = NDArray[np.float64]
_UNITS = {"m": " m", "rad": " rad", "1": ""}


@dataclass(frozen=True)
class FailureWords:
    """Words for the failures of one call, found when asked for; it can be pickled."""

    problem: Problem
    parameters: Floats  # (N, p)
    q: Floats  # (N, nq)
    measures: Floats  # (N, groups + 1) squared, then how far outside of limits
    measured: Measured
    tries: int

    def __call__(self, k: int) -> str:
        """What is known of the failure of row k: how near it came, reach, joints at limits."""
        parts = [f"the best of {self.tries} tries ends {self._rest(k)} away"]
        parts[:0] = self._beyond_reach(k)
        at_limit = _at_limits(self.problem, self.q[k])
        if at_limit:
            parts.append(f"at a limit there: {', '.join(at_limit)}")
        return "; ".join(parts)

    def _rest(self, k: int) -> str:
        """The errors of the deciding tasks; by name where there are several."""
        several = len(self.problem.deciding) > 1
        words: dict[str, list[str]] = {}
        for place, (task, group, deciding) in enumerate(self.measured.columns):
            if deciding:
                error = float(group.error(self.measures[k, place]))
                words.setdefault(task, []).append(f"{error:.3g}{_UNITS[group.unit]}")
        told = {task: " and ".join(each) for task, each in words.items()}
        return ", ".join(f"{told[task]} ({task})" if several else told[task] for task in told)

    def _beyond_reach(self, k: int) -> list[str]:
        found: list[str] = []
        for place in self.problem.deciding:
            task = self.problem.tasks[place]
            if task.reaches is None:
                continue
            span = self.problem.layout.targets[place]
            target = np.asarray(task.reaches(self.parameters[k, slice(*span)]))
            beyond = _beyond(self.problem, task.frames[0], target)
            if beyond > 0.0:
                of = f" of '{task.name}'" if len(self.problem.deciding) > 1 else ""
                found.append(f"the target{of} is at least {beyond:.3g} m out of reach")
        return found


def _beyond(problem: Problem, frame: str, target: Floats) -> float:
    """How far a point lies outside the ball that the frame can be in at all, in metres.

    Zero where an unlimited slide or a free base moves the frame: then there is no such ball.
    """
    m = problem.mechanism
    path = m.ancestry(int(m.frame_body[m.frame(frame)]))
    moving = [b for b in path if m.body_joint_types[b] is not JointType.FIXED]
    for b in moving:
        kind, start = m.body_joint_types[b], int(m.q_start[int(m.coordinate[b])])
        limits = (m.lower[start], m.upper[start])
        if kind in (JointType.PLANAR, JointType.FLOATING):
            return 0.0
        if kind is JointType.PRISMATIC and not np.isfinite(limits).all():
            return 0.0
    centre, turn = np.zeros(3), np.eye(3)
    for b in path[: path.index(moving[0]) + 1]:
        centre = centre + turn @ m.p_parent_joint[b]
        turn = turn @ m.R_parent_joint[b]
    return float(np.linalg.norm(target - centre)) - way(m, frame)


def _at_limits(problem: Problem, q: Floats) -> list[str]:
    m = problem.mechanism
    names: list[str] = []
    for c in problem.coordinates:
        for k in range(int(m.q_start[c]), int(m.q_start[c + 1])):
            for side, limit in (("lower", m.lower[k]), ("upper", m.upper[k])):
                if np.isfinite(limit) and abs(q[k] - limit) <= 1e-9 * max(1.0, abs(limit)):
                    names.append(f"{m.joint_names[c]} ({side})")
    return names
