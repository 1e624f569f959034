"""EAIK: analytic inverse kinematics of arms whose axes allow it."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.description import read
from benchmarks.lines import Line
from benchmarks.peers.base import Floats, Peer, Solutions, part

_ONLY = "measured for inverse kinematics only"


class PEER(Peer):
    """`IK` of a six-joint arm, every solution; the first that keeps to the limits counts.

    It is built from the axes of the prepared file, since its own reader knows no fixed tip. It has
    no limits and no search: whole turns are taken off its angles to find the limits.
    """

    name = "eaik"
    module = "eaik"
    requirement = ("eaik==1.2.2", "numpy==2.4.6")
    lacks = MappingProxyType(
        {"pose": _ONLY, "all_poses": _ONLY, "jacobian": _ONLY, "load": _ONLY}
    )  # fmt: skip

    def load(self, path: str, tip: str) -> None:
        """Axes and their places at zero, and the tip's own pose there.

        Raises: ValueError where there is no analytic solution.
        """
        chain = read(path).chain(tip)
        moving = [joint for joint in chain if joint.moves]
        if len(moving) != 6 or any(joint.type == "prismatic" for joint in moving):
            raise ValueError(f"it takes six turning joints, and there are {len(moving)} joints")
        at, axes, places = np.eye(4), [], []
        for joint in chain:
            at = at @ joint.T
            if joint.moves:
                axes.append(at[:3, :3] @ joint.axis)
                places.append(at[:3, 3].copy())
        steps = np.diff(np.array([np.zeros(3), *places, at[:3, 3]]), axis=0)
        robot: Any = part("eaik.IK_HP").HPRobot(np.array(axes), steps)
        if not robot.hasKnownDecomposition():
            raise ValueError("no analytic solution is known for these axes")
        self.robot, self.back = robot, at[:3, :3].T
        self.joint_names = [joint.name for joint in moving]
        self.limits = np.array([(joint.lower, joint.upper) for joint in moving])

    def ik_lines(self) -> list[Line]:
        """Its own batch, on one thread."""
        return [
            Line(
                "IK_batched, one thread", "r = robot.IK_batched(q, num_worker_threads=1)",
                {"robot": self.robot}, "batch", by_row=False, given=self._unturned,
                notes=("the choice among its solutions is not timed",),
            ),
        ]  # fmt: skip

    def ik_one_lines(self) -> list[Line]:
        """One call."""
        return [Line("IK", "r = robot.IK(q)", {"robot": self.robot}, "call", given=self._unturned)]

    def _unturned(self, T: Floats) -> Floats:
        """Targets for a tip that is not turned at zero, which is the one it knows."""
        turned = T.copy()
        turned[..., :3, :3] = T[..., :3, :3] @ self.back
        return turned

    def ik_read(self, r: Any) -> Solutions:
        """The first solution inside the limits, whole turns taken off; else the first."""
        found = [self._first(each) for each in (r if isinstance(r, list) else [r])]
        return Solutions(np.array([q for q, _ in found]), np.array([good for _, good in found]))

    def _first(self, r: Any) -> tuple[Floats, bool]:
        every = np.atleast_2d(np.array(r.Q, dtype=np.float64))
        if every.size == 0:
            return np.zeros(6), False
        least = np.array(r.is_LS).ravel()
        lower, upper = self.limits.T
        middle = np.where(np.isfinite(lower + upper), 0.5 * (lower + upper), 0.0)
        every = every - 2 * np.pi * np.round((every - middle) / (2 * np.pi))
        good = np.all((every >= lower) & (every <= upper), axis=1) & ~least.astype(bool)
        k = int(np.argmax(good))
        return every[k], bool(good[k])
