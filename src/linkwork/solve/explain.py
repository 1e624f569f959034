"""Why a target was not reached, in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.mechanism.model import JointType
from linkwork.solve.problem import PoseProblem

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FailureWords:
    """Words for the failures of one call, found when asked for; it can be pickled."""

    problem: PoseProblem
    parameters: Floats  # (N, p)
    q: Floats  # (N, nq)
    position: Floats  # (N,) m
    rotation: Floats  # (N,) rad
    tries: int

    def __call__(self, k: int) -> str:
        """What is known of the failure of row k."""
        pose = (self.parameters[k, :3], self.parameters[k, 3:12].reshape(3, 3))
        errors = (float(self.position[k]), float(self.rotation[k]))
        return explain_failure(self.problem, self.q[k], pose, errors, self.tries)


def explain_failure(
    problem: PoseProblem,
    q: Floats,
    pose: tuple[Floats, Floats],
    errors: tuple[float, float],
    tries: int,
) -> str:
    """What is known of a failure: how near the best try came, reach, and joints at their limits."""
    position, rotation = errors
    parts = [f"the best of {tries} tries ends {position:.3g} m and {rotation:.3g} rad away"]
    beyond = _beyond_reach(problem, pose)
    if beyond > 0.0:
        parts.insert(0, f"the target is at least {beyond:.3g} m out of reach")
    at_limit = _at_limits(problem, q)
    if at_limit:
        parts.append(f"at a limit there: {', '.join(at_limit)}")
    return "; ".join(parts)


def _beyond_reach(problem: PoseProblem, pose: tuple[Floats, Floats]) -> float:
    """How far the target lies outside the ball that the frame can be in at all, in metres.

    Zero where an unlimited slide or a free base moves the frame: then there is no such ball.
    """
    m = problem.mechanism
    frame = m.frame(problem.frame)
    path = m.ancestry(int(m.frame_body[frame]))
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
    return float(np.linalg.norm(pose[0] - centre)) - problem.length


def _at_limits(problem: PoseProblem, q: Floats) -> list[str]:
    m = problem.mechanism
    names: list[str] = []
    for c in problem.coordinates:
        for k in range(int(m.q_start[c]), int(m.q_start[c + 1])):
            for side, limit in (("lower", m.lower[k]), ("upper", m.upper[k])):
                if np.isfinite(limit) and abs(q[k] - limit) <= 1e-9 * max(1.0, abs(limit)):
                    names.append(f"{m.joint_names[c]} ({side})")
    return names
