"""Messages for people: why a target was not reached."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.solve.expressions import ROUNDING
from linkwork.solve.joint_update import JointUpdate
from linkwork.solve.limits import Interval
from linkwork.solve.problem import Problem, way
from linkwork.solve.tasks import Unit
from linkwork.spatial.rotations import angle_of_quaternion

Floats = NDArray[np.float64]
UNITS: dict[Unit, str] = {"m": " m", "rad": " rad", "1": ""}
_AT = 1.0e-9
"""So near to a bound, in shares of it or of 1, is at it."""


@dataclass(frozen=True, eq=False)
class FailureMessages:
    """Messages for the failures of a solver, found when asked for; it can be pickled."""

    problem: Problem
    settings: Floats
    tries: int

    def __call__(self, q: Floats, measures: Floats, parameters: Floats) -> str:
        """A message on the failure of one row: how near it came, reach, joints at limits.

        Shapes: q (nq,), measures (groups + 1,), parameters (p,).
        """
        tried = "the one try" if self.tries == 1 else f"the best of at most {self.tries} tries"
        parts = [*self._beyond_reach(parameters), f"{tried} ends {self._rest(measures)}"]
        if measures[-1] > ROUNDING:
            parts.append(f"a position there is outside of a limit by {float(measures[-1]):.3g}")
        at_limit = at_limits(self.problem.mechanism, self.problem.coordinates, q)
        if at_limit:
            parts.append(f"at a limit there: {', '.join(at_limit)}")
        for name, joints in self._held_back(q, parameters).items():
            parts.append(f"held back by the limit '{name}': {', '.join(joints)}")
        return "; ".join(parts)

    def _rest(self, measures: Floats) -> str:
        """The errors of the deciding tasks; by name where there are several."""
        several = len(self.problem.priority0_tasks) > 1
        told: list[str] = []
        place = 0
        for k, task in enumerate(self.problem.tasks):
            errors = [
                f"{float(group.error(measures[place + i])):.3g}{UNITS[group.unit]}"
                for i, group in enumerate(task.groups)
            ]
            place += len(errors)
            if k in self.problem.priority0_tasks:
                of = f" ('{task.name}')" if several else ""
                told.append(f"{' and '.join(errors)} away{of}")
        return ", ".join(told)

    def _beyond_reach(self, parameters: Floats) -> list[str]:
        """The targets that are farther than their frames can be from their first joints.

        Where an unlimited slide or a free base moves the frame nothing is. A point still counts as
        there within its tolerance, and all that slack of its rows comes to at once.
        """
        problem, m = self.problem, self.problem.mechanism
        found: list[str] = []
        for place in problem.priority0_tasks:
            task = problem.tasks[place]
            path = m.ancestry(int(m.frame_body[m.frame(task.frames[0])])) if task.has_point else []
            moving = [b for b in path if m.body_joint_types[b] is not JointType.FIXED]
            if not moving or _is_boundless(m, moving):
                continue
            centre, turn = np.zeros(3), np.eye(3)
            for b in path[: path.index(moving[0]) + 1]:
                centre = centre + turn @ m.p_parent_joint[b]
                turn = turn @ m.R_parent_joint[b]
            first = problem.layout.targets[place][0]
            target = parameters[first : first + 3]
            k, group = next((k, each) for k, each in enumerate(task.groups) if each.unit == "m")
            threshold = self.settings[problem.layout.thresholds[place][0] + k]
            allowed = np.linalg.norm(task.slack[group.start : group.stop]) + float(
                group.error(np.asarray(threshold))
            )
            reach = way(m, task.frames[0]) + float(allowed)
            beyond = float(np.linalg.norm(target - centre)) - reach
            if beyond > _AT * max(1.0, float(np.abs(target).max())):
                of = f" of '{task.name}'" if len(problem.priority0_tasks) > 1 else ""
                found.append(f"the target{of} is at least {beyond:.3g} m out of reach")
        return found

    def _held_back(self, q: Floats, parameters: Floats) -> dict[str, list[str]]:
        """The joints that stand where a limit beside the description's ends, by limit."""
        problem = self.problem
        found: dict[str, list[str]] = {}
        update = JointUpdate(NUMPY, problem, parameters, self.settings)
        for limit in problem.limits:
            bounds = update.bounds(limit, q)
            at = [index for index, ends in bounds.items() if _at_end(q[index], ends)]
            moved = [index for index in at if index in problem.moved]
            names = dict.fromkeys(map(problem.mechanism.joint_of_q, moved))
            if names:
                found.setdefault(limit.name, []).extend(names)
        return found


def _at_end(value: float, ends: Interval, within: float = _AT) -> bool:
    return any(
        end is not None and abs(value - float(end)) <= within * max(1.0, abs(float(end)))
        for end in ends
    )


def _is_boundless(m: Mechanism, moving: Sequence[int]) -> bool:
    """Whether a slide without limits or a free base is among these joints."""
    for b in moving:
        kind, start = m.body_joint_types[b], int(m.q_start[int(m.coordinate[b])])
        if kind in (JointType.PLANAR, JointType.FLOATING):
            return True
        if kind is JointType.PRISMATIC and not np.isfinite([m.lower[start], m.upper[start]]).all():
            return True
    return False


def at_limits(
    m: Mechanism, coordinates: Iterable[int], q: Floats, *, within: float = _AT
) -> list[str]:
    """The joints among these coordinates that stand at a limit, and at which."""
    names: list[str] = []
    for c in coordinates:
        if np.isfinite(m.angle_limit[c]):
            wxyz = q[int(m.q_start[c]) : int(m.q_start[c]) + 4]
            angle = float(angle_of_quaternion(wxyz))
            if _at_end(angle, (float(m.angle_limit[c]), None), within):
                names.append(f"{m.joint_names[c]} (angle)")
        for k in range(int(m.q_start[c]), int(m.q_start[c + 1])):
            for side, limit in (("lower", m.lower[k]), ("upper", m.upper[k])):
                if np.isfinite(limit) and _at_end(float(q[k]), (limit, None), within):
                    names.append(f"{m.joint_names[c]} ({side})")
    return names
