"""The methods of `Robot` that plan paths; what they do stands in `planning`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from linkwork import settings
from linkwork.checks import finite_number, finite_rows, real_array, whole_number
from linkwork.errors import InputError, ShapeError
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.named_positions import labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linkwork.collision.model import CollisionModel
    from linkwork.mechanism.named_positions import Configuration
    from linkwork.planning.kept import Kept
    from linkwork.planning.planner import Plan, Planner
    from linkwork.planning.search import Effort
    from linkwork.programs import Programs
    from linkwork.robot import Robot
    from linkwork.solve.tasks import Task

    Floats = NDArray[np.float64]

_LEAST_STARTS = 4  # of inverse kinematics, for each of several poses
_PLANNERS = 8  # that a robot keeps: each has its model, and what is held changes often
_AGREED = 1e-6  # rad or m: how near a goal's number for what follows loops is to where they put it


class RobotPlanning:
    """Paths from here to there."""

    _programs: Programs

    def plan(  # noqa: PLR0913  the one door: every argument but two is named
        self,
        start: Configuration,
        goal: Configuration | None = None,
        *,
        frame: str | None = None,
        tasks: Task | Sequence[Task] | None = None,
        keep: Task | Sequence[Task] = (),
        scene: Any = None,
        joints: str | Sequence[str] | None = None,
        model: CollisionModel | None = None,
        clearance: float = 0.0,
        effort: Effort | None = None,
        seed: int = 0,
        seconds: float = 10.0,
        goals: int = 8,
    ) -> Plan:
        """A path from ``start`` (nq,) to ``goal`` that touches neither the robot nor the scene.

        The goal is a configuration (nq,), several of them (k, nq), or positions by joint name, what
        is not named being as at the start. With ``frame`` it is a pose T_world_frame (4, 4), or one
        of several (k, 4, 4), with ``tasks`` whatever these ask for, and with slack a region: up to
        ``goals`` solutions of inverse kinematics that are clear are tried at once. ``joints`` are
        those that move, by default all but floating ones; the others stay as at the start.
        ``model`` is by default ``collision()``.

        Loops are kept closed along the way, a goal's joints that follow them must stand where these
        put them, and the tasks ``keep`` are done all along, within their
        tolerances; one without a target keeps what the start has. ``clearance`` (m) is how far
        the robot stays from the scene along the whole path: one that does not keep it is none.

        The path is verified on the shapes themselves, without gaps between its points, before it is
        called one; `Plan.reason` says why there is none. It depends on ``seed`` alone, where
        ``seconds`` do not run out.

        Raises: UnknownNameError, ShapeError, InputError, and as `collision`.
        """
        goals = whole_number(goals, "goals", least=1)
        seconds = finite_number(seconds, "seconds", above=0.0)
        first = self._start(start)
        kept = self._at_start(keep, first)
        how: Any = {"seed": whole_number(seed, "seed", least=0), "seconds": seconds}
        # what is wrong with it is said before a model is made, which may take seconds
        asked = self._asked(goal, first) if frame is None and tasks is None else None
        planner = self.planner(joints, keep=kept, model=model, effort=effort)
        began = settings.clock()
        if asked is not None:
            last = self._with_loops(planner, goal, asked)
        else:
            last = self._solutions(
                planner,
                first,
                goal,
                frame=frame,
                tasks=tasks,
                keep=kept,
                scene=scene,
                goals=goals,
                **how,
            )
        if isinstance(last, str):
            return planner.refused(first, scene, last, began=began)
        now = settings.clock()  # where code had to be compiled first, half of the time is left
        began = now - min(now - began, seconds / 2)
        return planner.plan(first, last, scene, clearance=clearance, began=began, **how)

    def planner(
        self,
        joints: str | Sequence[str] | None = None,
        *,
        keep: Task | Sequence[Task] = (),
        model: CollisionModel | None = None,
        effort: Effort | None = None,
    ) -> Planner:
        """The planner behind `plan`, to be kept: `Planner.plan_all` takes many problems at once.

        Tasks to ``keep`` have their targets here. Of a mechanism with loops ``joints`` are actuated
        ones, and others move along as the loops demand.

        Raises: as `plan`.
        """
        from linkwork.collision.model import CollisionModel  # noqa: PLC0415  not all need it
        from linkwork.planning.planner import Planner  # noqa: PLC0415
        from linkwork.planning.search import Effort  # noqa: PLC0415

        robot = cast("Robot", self)
        m = robot.mechanism
        named, tasks = _in_order(m, joints), _listed(keep, "keep")
        if model is not None and not isinstance(model, CollisionModel):
            raise InputError(
                f"model must be a CollisionModel, as collision() gives, not {model!r:.40}"
            )
        if model is not None and model.mechanism.joint_names != m.joint_names:
            raise InputError(
                f"model is of a robot that moves by {', '.join(model.mechanism.joint_names)}, and "
                f"{m.name} moves by {', '.join(m.joint_names)}"
            )
        if effort is not None and not isinstance(effort, Effort):
            raise InputError(f"effort must be an Effort, not {effort!r:.40}")
        kept = self._kept(named, tasks) if tasks or m.is_closed else None
        if kept is not None:
            own = set(kept.planned.tolist())
            moving = [
                name
                for c, name in enumerate(m.joint_names)
                if own.intersection(range(m.q_slice(c).start, m.q_slice(c).stop))
            ]
        elif named is None:
            moving = [
                name
                for name, kind in zip(m.joint_names, m.joint_types, strict=True)
                if kind is not JointType.FLOATING
            ]
        else:
            moving = named
        if kept is None and any(m.joint_types[m.joint(name)].has_quaternion for name in moving):
            kept = self._turning(moving)
        parts: CollisionModel = robot.collision() if model is None else model
        told = None if named is None else tuple(named)
        key = (tuple(moving), told, id(parts), effort)
        known: dict[Any, Planner] = {} if tasks else robot.__dict__.setdefault("_planners", {})
        planner = known.get(key)
        if planner is None:
            for old in list(known)[: 1 - _PLANNERS]:
                known.pop(old, None)
            known[key] = planner = Planner(
                m,
                parts,
                settings.compiler(),
                moving,
                clock=settings.clock,
                effort=effort,
                threads=settings.most_threads(),
                kept=kept,
            )
        return planner

    def _turning(self, moving: Sequence[str]) -> Kept:
        """The limits that paths keep of joints of which some turn about any axis."""
        from linkwork.planning.kept import Kept  # noqa: PLC0415  not all need it
        from linkwork.solve.problem import make_problem  # noqa: PLC0415
        from linkwork.solve.tasks import Posture  # noqa: PLC0415

        m = cast("Robot", self).mechanism
        planned = np.array(m.q_indices([m.joint(name) for name in moving]))
        lengths = make_problem(m, Posture()).lengths
        return Kept(m, planned, lengths, compiler=settings.compiler())

    def _kept(self, named: list[str] | None, tasks: tuple[Task, ...]) -> Kept:
        """Loops and tasks as what is kept along a path of these joints."""
        from linkwork.planning.kept import CLOSER, Driven, Projected  # noqa: PLC0415
        from linkwork.solve.problem import make_problem  # noqa: PLC0415  not all need it
        from linkwork.solve.tasks import Closed  # noqa: PLC0415

        robot = cast("Robot", self)
        m = robot.mechanism
        looped = [m.joint_names[c] for c in Closed().bind(m).coordinates] if m.is_closed else []
        passive = [name for name in looped if name not in robot.actuated]
        driving = bool(passive and robot.actuated) and self._are_driven()
        if named is not None and driving and (wrong := [x for x in named if x in passive]):
            raise InputError(
                f"'{wrong[0]}' follows the loops of {m.name}; joints that drive them are "
                f"{', '.join(robot.actuated)}"
            )
        steering = [name for name in m.joint_names if not driving or name not in passive]
        steering = steering if named is None else [name for name in steering if name in named]
        if not steering:
            raise InputError("no joint is to move; name some with joints=[...]")
        moving = [name for name in m.joint_names if name in steering or name in passive]
        planned = np.array(m.q_indices([m.joint(name) for name in moving]))
        free = [n for n in steering if n not in robot.actuated]
        plain = not any(m.joint_types[m.joint(n)].has_quaternion for n in (*steering, *free))
        assembly = robot.assembler() if driving else None
        if assembly is not None and not tasks and plain:
            lengths = make_problem(m, Closed()).lengths
            return Driven(
                m,
                planned,
                lengths,
                assembly,
                lambda: self._programs.rates.kernel(None),
                steering=steering,
                compiler=settings.compiler(),
            )
        asked: list[Task] = []
        for task in tasks:
            bound = task.bind(m)
            if bound.priority:
                raise InputError(
                    f"task '{bound.name}' of keep has priority {bound.priority}, not 0"
                )
            if bound.target is None and bound.kind.n:
                raise InputError(f"task '{bound.name}' of keep has no target")
            closer = [CLOSER * tolerance for tolerance in bound.tolerances]
            asked.append(replace(task, name=bound.name, tolerance=closer))
        judged = [task.bind(m) for task in tasks]
        if m.is_closed:
            judged.append(Closed().bind(m))
            if not asked:
                asked.append(Closed())
        matter = {c for task in judged for c in task.coordinates}
        own = [name for name in moving if m.joint(name) in matter]
        if not own:
            raise InputError("no joint that moves matters to what is kept")
        solver = robot.solver(tasks=asked, joints=own)
        lengths = solver.problem.lengths
        how: Any = {"compiler": settings.compiler(), "assembly": assembly}
        return Projected(m, planned, lengths, solver, judged, **how)

    def _are_driven(self) -> bool:
        """Whether the actuated joints, each for itself, say where the loops are."""
        mobility = cast("Robot", self).mobility()
        return bool(mobility.independent) and mobility.passive_freedoms == 0

    def _at_start(self, keep: Task | Sequence[Task], start: Floats) -> tuple[Task, ...]:
        """Tasks with the targets that they have at a start, where none is given."""
        m, found = cast("Robot", self).mechanism, list[Any]()
        for task in _listed(keep, "keep"):
            bound = task.bind(m)
            if bound.target is None and bound.kind.n:
                found.append(replace(task, target=self._value_of(task, bound.name, start)))
            else:
                found.append(task)
        return tuple(found)

    def _value_of(self, task: Any, name: str, q: Floats) -> Any:
        """The target that a task has reached at q (nq,)."""
        from linkwork.solve import tasks as kinds  # noqa: PLC0415  not all need it

        robot = cast("Robot", self)
        if isinstance(task, kinds.Posture):
            m = robot.mechanism
            return q if task.joints is None else q[m.q_indices(task.bind(m).coordinates)]
        if isinstance(task, kinds.CenterOfMass):
            return robot.com(q)
        if isinstance(task, kinds.RelativePose):
            return np.linalg.inv(robot.fk(q, task.other)) @ robot.fk(q, task.frame)
        held = isinstance(task, kinds.Pose) and task.held
        if isinstance(task, (kinds.Pose, kinds.Orientation)) and not held:
            return robot.fk(q, task.frame)
        if isinstance(task, kinds.Position):
            return (robot.fk(q, task.frame) @ [*task.point, 1.0])[:3]
        if isinstance(task, kinds.Direction):
            return robot.fk(q, task.frame)[:3, :3] @ np.asarray(task.axis, np.float64)
        raise InputError(f"task '{name}' of keep has no target, and none that the start would tell")

    def _start(self, start: Configuration) -> Floats:
        """The configuration (nq,) that a path begins with.

        Raises: InputError, ShapeError, UnknownNameError.
        """
        robot = cast("Robot", self)
        if isinstance(start, Mapping):
            return robot.configuration(start)
        names = labels(robot.mechanism, velocities=False)
        first = finite_rows(start, "start", robot.n_q, names)
        if first.ndim != 1:
            raise ShapeError(
                f"start must have shape ({robot.n_q},), not {first.shape}; planner().plan_all "
                "takes many problems"
            )
        return first

    def _asked(self, goal: Configuration | None, start: Floats) -> Floats:
        """Goals (k, nq) as they are given; joints that are not named are as at the start.

        Raises: InputError, ShapeError, UnknownNameError.
        """
        from linkwork.solve.tasks import Task  # noqa: PLC0415  not all need it

        robot = cast("Robot", self)
        if goal is None:
            raise InputError("a plan needs a goal: configurations, or a frame's pose, or tasks")
        if isinstance(goal, Task):
            raise InputError(f"a goal that is a task is given by tasks=, not as {goal!r:.40}")
        if not isinstance(goal, Mapping):
            rows = np.atleast_2d(real_array(goal, "goal"))
            if robot.n_q != 4 and rows.shape[-2:] == (4, 4):
                raise ShapeError(
                    f"goal has the shape {rows.shape} of poses: say of which frame they are, as in "
                    f"frame='{robot.link_names[-1]}'; a configuration has shape ({robot.n_q},)"
                )
            return rows
        q, made = start.copy(), robot.configuration(goal)
        m = robot.mechanism
        for name in goal:
            if name in m.joint_names:
                own = m.q_slice(m.joint(name))
                q[own] = made[own]
        return q[None]

    def _with_loops(self, planner: Planner, goal: Any, asked: Floats) -> Floats | str:
        """Goals (k, nq) whose loops are closed, of one by name that is ``asked`` (1, nq) for."""
        if not isinstance(goal, Mapping) or planner.kept is None or not planner.kept.driven:
            return asked
        robot, q = cast("Robot", self), asked[0]
        driven: Any = {name: goal[name] for name in goal if name in robot.actuated}
        found = robot.assemble(driven, q0=q)
        every = np.asarray(found.q)[None]
        agree = self._agreeing(goal, q, every) if found.success else []
        if not len(agree):
            others = robot.assemblies(driven, q0=q)
            if not found.success and not len(others):
                return f"the goal cannot be assembled: {others.reason}"
            every = np.concatenate([every, others.q]) if found.success else others.q
            agree = self._agreeing(goal, q, every)
        if not len(agree):
            self._refuse_followers(goal, q, every[0])
        return every[agree]

    def _agreeing(self, goal: Any, asked: Floats, every: Floats) -> list[int]:
        """The numbers of assembled configurations (k, nq) that have what a goal names."""
        m = cast("Robot", self).mechanism
        own = m.q_indices([m.joint(name) for name in goal if name in m.joint_names])
        return np.flatnonzero((np.abs(every[:, own] - asked[own]) <= _AGREED).all(axis=1)).tolist()

    def _refuse_followers(self, goal: Any, asked: Floats, found: Floats) -> NoReturn:
        """Refuse a goal that names what follows loops, and wants it where these do not put it."""
        robot = cast("Robot", self)
        m = robot.mechanism
        off = np.abs(found - asked)
        names = [name for name in goal if name in m.joint_names]
        worst = max(names, key=lambda name: float(off[m.q_slice(m.joint(name))].max()))
        own = m.q_slice(m.joint(worst))
        raise InputError(
            f"'{worst}' follows the loops of {m.name}, which put it at "
            f"{found[own].round(6).tolist()}, not {asked[own].round(6).tolist()}: name joints that "
            f"drive them ({', '.join(robot.actuated)}), or give tasks=Posture(..., "
            f"joints='{worst}')"
        )

    def _solutions(  # noqa: PLR0913  what `plan` was given
        self,
        planner: Planner,
        start: Floats,
        goal: Any,
        *,
        frame: str | None,
        tasks: Any,
        keep: tuple[Task, ...],
        scene: Any,
        seed: int,
        goals: int,
        seconds: float,
    ) -> Floats | str:
        """Different clear solutions (k, nq) of inverse kinematics, or why there are none."""
        from linkwork.solve.clearance import Clearance  # noqa: PLC0415  not all need it
        from linkwork.solve.tasks import Pose  # noqa: PLC0415

        robot = cast("Robot", self)
        m, several = robot.mechanism, 1
        wanted = () if tasks is None else _listed(tasks, "tasks")
        targets: Any = goal
        if frame is not None:
            if goal is None:
                raise InputError(f"where is '{frame}' to go? with frame= the goal is its pose")
            poses = real_array(goal, "goal")
            if poses.ndim not in (2, 3) or poses.shape[-2:] != (4, 4) or not len(poses):
                raise ShapeError(f"a pose has shape (4, 4), or (k, 4, 4), not {poses.shape}")
            named, several = Pose(frame), 1 if poses.ndim == 2 else len(poses)
            wanted = (named, *wanted)  # the first of a name keeps it
            targets = {named.bind(m).name: poses if poses.ndim == 2 else poses[:, None]}
        elif goal is not None and not isinstance(goal, Mapping) and len(wanted) == 1:
            targets = {wanted[0].bind(m).name: goal}
        starts = np.tile(start, (max(_LEAST_STARTS, -(-4 * goals // several)), 1))
        drawn = robot.random(len(starts) - 1, seed=seed)
        for name in planner.joints:
            own = m.q_slice(m.joint(name))
            starts[1:, own] = drawn[:, own]
        also = [replace(task, name=f"{task.bind(m).name} (kept)") for task in keep]
        found = robot.ik(
            targets,
            tasks=[*wanted, *also],
            q0=starts,
            joints=self._mattering(planner, [*wanted, *also]),
            limits=[Clearance(scene=scene, model=planner.model)],
            seconds=seconds / (2 * len(starts) * several),
            seed=seed,
        )
        good = found.q[found.success].reshape(-1, m.n_q)
        if not len(good):
            reason = found.row(*(0,) * found.success.ndim).reason
            return f"the goal has no solution that is clear: {reason}"
        if planner.kept is None:
            good = planner.nearer(start, good)
        order = np.linalg.norm(good - start, axis=1).argsort()
        kept: list[Floats] = []
        for q in good[order]:
            if all(np.abs(q - other).max() > 1e-2 for other in kept):
                kept.append(q)
        return np.array(kept[:goals])

    def _mattering(self, planner: Planner, tasks: Sequence[Task]) -> list[str]:
        """The joints that inverse kinematics may move for tasks; it closes loops by itself."""
        from linkwork.solve.tasks import Closed  # noqa: PLC0415  not all need it

        robot = cast("Robot", self)
        m = robot.mechanism
        every = [*tasks, Closed()] if m.is_closed else tasks
        matter = {c for task in every for c in task.bind(m).coordinates}
        own = [name for name in planner.joints if m.joint(name) in matter]
        driving = [name for name in own if name in robot.actuated]
        return driving or own or list(planner.joints)


def _listed(tasks: Any, name: str) -> tuple[Task, ...]:
    """Tasks as they were given, one or several.

    Raises: InputError for what is none.
    """
    from linkwork.solve.problem import listed  # noqa: PLC0415  not all need it
    from linkwork.solve.tasks import Task  # noqa: PLC0415

    return tuple(listed(tasks, Task, name, "Direction('tool0')")) if tasks != () else ()


def _in_order(m: Mechanism, joints: Any) -> list[str] | None:
    """The joints that are named, each once, in the order of q; None where none are.

    Raises: InputError, UnknownNameError.
    """
    if joints is None:
        return None
    try:
        named = {m.joint(name) for name in ([joints] if isinstance(joints, str) else joints)}
    except TypeError:
        raise InputError(f"joints must be names, not {joints!r:.40}") from None
    return [m.joint_names[c] for c in sorted(named)]
