"""Closed loops of the ready-made robots, solved by the core's inverse kinematics.

A loop is cut where two frames meet: the mechanism is then a tree, and the task is that they meet
again. Some of its joints are given, the others are found, from a start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from linkwork import ik
from linkwork.faces.trip_kinematics.mistakes import NoSolution
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.model import Floats, JointType
from linkwork.mechanism.parts import FramePart, JointPart, LinkPart, Parts
from linkwork.robot import Robot
from linkwork.solve.ik import InverseKinematics

_TOLERANCE = 1.0e-12
_TRIES = 32
_NEAR = "near"
_NEAR_TOLERANCE = 1.0e-10


class Tree:
    """Links one after the other, each with a joint; the last one added is carried on from."""

    def __init__(self) -> None:
        self.parts = Parts("loop", [LinkPart("ground")], [])

    def joint(
        self,
        name: str,
        kind: JointType,
        parent: str,
        *,
        axis: Sequence[float] = (0.0, 0.0, 1.0),
        p: Sequence[float] = (0.0, 0.0, 0.0),
        R: Floats | None = None,
        lower: float | None = None,
    ) -> str:
        """Add a joint with the link that it carries, both of this name."""
        self.parts.links.append(LinkPart(name))
        self.parts.joints.append(
            JointPart(
                name=name,
                type=kind,
                parent=parent,
                child=name,
                R=np.eye(3) if R is None else R,
                p=np.array(p, np.float64),
                axis=np.array(axis, np.float64),
                lower=lower,
            )
        )
        return name

    def frame(self, name: str, link: str, p: Sequence[float]) -> str:
        """Add a frame on a link."""
        self.parts.frames.append(FramePart(name, link, p=np.array(p, np.float64)))
        return name


class Loops:
    """The joints of a tree whose frames meet in pairs, found from those that are given.

    ``meeting``: pairs of frames; ``axes``: along which they meet. It is compiled when first used,
    keeps nothing between calls, and may be shared by threads.
    """

    def __init__(self, tree: Tree, meeting: Sequence[tuple[str, str]], axes: str = "xyz") -> None:
        self._parts, self._meeting, self._axes = tree.parts, tuple(meeting), axes
        self._solvers: dict[tuple[tuple[str, ...], ...], InverseKinematics] = {}

    @cached_property
    def robot(self) -> Robot:
        """The open tree."""
        return Robot(assemble(self._parts))

    def close(
        self,
        given: Mapping[str, float],
        start: Mapping[str, float] | None = None,
        nearest: Sequence[str] = (),
    ) -> dict[str, float]:
        """Positions of all joints at which the loops are closed, with the joints that are given.

        The search begins at ``start``, where joints that are not named are 0. Of several
        assemblies, or of a continuum of them, that one is taken in which the joints ``nearest`` are
        nearest to it. Residuals are below 1e-12 m.

        Raises: NoSolution (a RuntimeError) where the loops cannot be closed.
        """
        robot, solver = self.robot, self._solver(tuple(sorted(given)), tuple(nearest))
        q0 = robot.configuration({**(start or {}), **given})
        free = len(solver.problem.tasks) > len(self._meeting)
        places = [robot.joint_names.index(name) for name in nearest]
        targets = {_NEAR: q0[places]} if free else None
        result = solver.solve(targets, q0, position_tolerance=_TOLERANCE, tries=_TRIES)
        if not bool(result.success):
            shown = ", ".join(f"{name} = {value:.6g}" for name, value in given.items())
            raise NoSolution(f"the mechanism cannot be assembled at {shown}: {result.reason}")
        q = result.q
        if nearest and not free:
            found = solver.all_solutions(None, q0, starts=_TRIES, position_tolerance=_TOLERANCE).q
            every = np.vstack([q, found])
            away = np.abs(every[:, places] - q0[places])
            away = np.minimum(away, np.abs(away - 2.0 * np.pi))
            q = every[int(np.argmin((away**2).sum(axis=1)))]
        return dict(zip(robot.joint_names, q.tolist(), strict=True))

    def _solver(self, given: tuple[str, ...], nearest: tuple[str, ...]) -> InverseKinematics:
        """The solver for what is not given; with a second task where the loops leave freedom."""
        key = (given, nearest)
        found = self._solvers.get(key)
        if found is None:
            free = [name for name in self.robot.joint_names if name not in given]
            tasks: list[ik.Task] = [
                ik.RelativePose(a, b, np.eye(4), position=self._axes, rotation="")
                for a, b in self._meeting
            ]
            if nearest and len(free) > len(self._axes) * len(self._meeting):
                tasks.append(
                    ik.Posture(
                        joints=list(nearest), priority=1, name=_NEAR, tolerance=_NEAR_TOLERANCE
                    )
                )
            made = self.robot.solver(tasks=tasks, joints=free)
            found = self._solvers.setdefault(key, made)
        return found
