"""The methods of `Robot` that plan paths; what they do stands in `planning`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from linkwork import settings
from linkwork.checks import finite_number, whole_number
from linkwork.errors import InputError, UnsupportedFeatureError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linkwork.collision.model import CollisionModel
    from linkwork.mechanism.named_positions import Configuration
    from linkwork.planning.planner import Plan, Planner
    from linkwork.planning.search import Effort
    from linkwork.robot import Robot
    from linkwork.solve.tasks import Task

    Floats = NDArray[np.float64]


class RobotPlanning:
    """Paths from here to there."""

    def plan(  # noqa: PLR0913  the one door: every argument but two is named
        self,
        start: Configuration,
        goal: Configuration | None = None,
        *,
        frame: str | None = None,
        tasks: Task | Sequence[Task] | None = None,
        scene: Any = None,
        joints: str | Sequence[str] | None = None,
        model: CollisionModel | None = None,
        effort: Effort | None = None,
        seed: int = 0,
        seconds: float = 10.0,
        goals: int = 8,
    ) -> Plan:
        """A path from ``start`` (nq,) to ``goal`` that touches neither the robot nor the scene.

        The goal is a configuration (nq,), several of them (k, nq), or positions by joint name, what
        is not named being as at the start. With ``frame`` it is a pose T_world_frame (4, 4), with
        ``tasks`` whatever these ask for: up to ``goals`` solutions of inverse kinematics that are
        clear are tried at once. ``joints`` are those that move, by default all that can; the others
        stay as at the start. ``model`` is by default ``collision()``.

        The path is verified on the shapes themselves, without gaps between its points, before it is
        called one; `Plan.reason` says why there is none. It depends on ``seed`` alone, where
        ``seconds`` do not run out.

        Raises: UnknownNameError, ShapeError, InputError; UnsupportedFeatureError for closed
        mechanisms, for joints that turn about any axis, and as `collision`.
        """
        robot = cast("Robot", self)
        planner = self.planner(joints, model=model, effort=effort)
        first = robot.configuration(start) if isinstance(start, dict) else np.asarray(start)
        first = np.asarray(first, np.float64)
        if frame is None and tasks is None:
            if goal is None:
                raise InputError("a plan needs a goal: configurations, or a frame's pose, or tasks")
            last = self._named(goal, first)
        else:
            found = self._solutions(
                planner,
                first,
                goal,
                frame=frame,
                tasks=tasks,
                scene=scene,
                seed=seed,
                goals=goals,
                seconds=seconds,
            )
            if isinstance(found, str):
                return planner.refused(first, scene, found)
            last = found
        return planner.plan(first, last, scene, seed=seed, seconds=seconds)

    def planner(
        self,
        joints: str | Sequence[str] | None = None,
        *,
        model: CollisionModel | None = None,
        effort: Effort | None = None,
    ) -> Planner:
        """The planner behind `plan`, to be kept: `Planner.plan_all` takes many problems at once.

        Raises: as `plan`.
        """
        from linkwork.planning.planner import Planner  # noqa: PLC0415  not all need it

        robot = cast("Robot", self)
        m = robot.mechanism
        if robot.loops:
            raise UnsupportedFeatureError(
                f"{m.name} has loops: straight motions of its joints would open them, and paths "
                "along closed mechanisms are not planned yet"
            )
        if joints is None:
            moving = [
                name
                for name, kind in zip(m.joint_names, m.joint_types, strict=True)
                if not kind.has_quaternion
            ]
        else:
            moving = [joints] if isinstance(joints, str) else list(joints)
        parts: CollisionModel = robot.collision() if model is None else model
        key = (tuple(moving), id(parts), effort)
        known: dict[Any, Planner] = robot.__dict__.setdefault("_planners", {})
        if key not in known or known[key].model is not parts:
            known[key] = Planner(
                m,
                parts,
                settings.compiler(),
                moving,
                clock=settings.clock,
                effort=effort,
                threads=settings.most_threads(),
            )
        return known[key]

    def _named(self, goal: Configuration, start: Floats) -> Floats:
        """Goals (k, nq); joints that are not named are as at the start."""
        robot = cast("Robot", self)
        if not isinstance(goal, dict):
            return np.atleast_2d(np.asarray(goal, np.float64))
        q, made = start.copy(), robot.configuration(goal)
        m = robot.mechanism
        for name in goal:
            if name in m.joint_names:
                own = m.q_slice(m.joint(name))
                q[own] = made[own]
        return q[None]

    def _solutions(  # noqa: PLR0913  what `plan` was given
        self,
        planner: Planner,
        start: Floats,
        goal: Any,
        *,
        frame: str | None,
        tasks: Any,
        scene: Any,
        seed: int,
        goals: int,
        seconds: float,
    ) -> Floats | str:
        """Different clear solutions (k, nq) of inverse kinematics, or why there are none."""
        from linkwork.solve.clearance import Clearance  # noqa: PLC0415  not all need it

        robot = cast("Robot", self)
        goals = whole_number(goals, "goals", least=1)
        starts = np.tile(start, (4 * goals, 1))
        drawn = robot.random(len(starts) - 1, seed=seed)
        m = robot.mechanism
        for name in planner.joints:
            own = m.q_slice(m.joint(name))
            starts[1:, own] = drawn[:, own]
        found = robot.ik(
            goal,
            frame,
            tasks=tasks,
            q0=starts,
            joints=planner.joints,
            limits=[Clearance(scene=scene, model=planner.model)],
            seconds=finite_number(seconds, "seconds", above=0.0) / 2,
            seed=seed,
        )
        good = found.q[found.success]
        if not len(good):
            reasons = found.reason if isinstance(found.reason, str) else found.reason[0]
            return f"the goal has no solution that is clear: {reasons}"
        order = np.linalg.norm(good - start, axis=1).argsort()
        kept: list[Floats] = []
        for q in good[order]:
            if all(np.abs(q - other).max() > 1e-2 for other in kept):
                kept.append(q)
        return np.array(kept[:goals])
