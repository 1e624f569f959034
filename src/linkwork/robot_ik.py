"""The methods of `Robot` that solve inverse kinematics; what they do stands in `solve`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from linkwork import settings
from linkwork.checks import finite_number
from linkwork.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from linkwork.algorithms.jacobian import Reference
    from linkwork.mechanism.model import Floats, Mechanism
    from linkwork.mechanism.named_positions import Configuration
    from linkwork.programs import Programs
    from linkwork.solve.controller import Controller
    from linkwork.solve.engine import Known
    from linkwork.solve.ik import InverseKinematics
    from linkwork.solve.inputs import Choose, Options, Targets
    from linkwork.solve.limits import Limit
    from linkwork.solve.objectives import Objective
    from linkwork.solve.program import Progress
    from linkwork.solve.result import AllSolutions, IKResult
    from linkwork.solve.tasks import Task
    from linkwork.solve.velocities import JointVelocities

    Tasks = Task | Sequence[Task]


class RobotIK:
    """Configurations that do what is asked of frames."""

    mechanism: Mechanism
    _programs: Programs
    _searches: Known
    _solvers: dict[Any, InverseKinematics]

    if TYPE_CHECKING:

        def jacobian(  # noqa: D102  of `Robot`
            self, q: ArrayLike, frame: str | None = None, *, reference: Reference = ...
        ) -> Floats: ...

        collision: Callable[..., Any]

    def ik(  # noqa: PLR0913  the one door to all of it: every argument but two is named
        self,
        targets: Targets = None,
        frame: str | None = None,
        *,
        tasks: Tasks | None = None,
        q0: Configuration | None = None,
        joints: str | Sequence[str] | None = None,
        fixed: str | Sequence[str] = (),
        limits: Limit | Iterable[Limit] = (),
        objectives: Objective | Iterable[Objective] = (),
        joint_weights: Mapping[str, float | Sequence[float]] | None = None,
        position_tolerance: float | None = None,
        rotation_tolerance: float | None = None,
        steps: int | None = None,
        tries: int | None = None,
        seed: int | None = None,
        seconds: float | None = None,
        best_of: int | None = None,
        choose: Choose | None = None,
        options: Options | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        all_solutions: bool = False,
    ) -> IKResult:
        """Configurations that bring a frame to poses T_world_frame (..., 4, 4), each verified.

        Or, with ``tasks``, that do these: ``targets`` are then one for each task in order, or a
        mapping of their names; what is not given is the task's own.

        Moves the joints that the frame or the tasks depend on, or ``joints``, but for those in
        ``fixed``; the others stay at ``q0`` (..., nq), or positions by joint name, by default
        neutral. The search begins at ``q0`` where it is given, else near the target where that is
        one whole pose. ``limits``, ``objectives`` and ``joint_weights`` are those of `solver`,
        which is to be kept where they are and calls are many. ``position_tolerance`` (m),
        ``rotation_tolerance`` (rad) and the keywords after them are fields of `Options`.
        ``progress(done, total)`` is called some ten times a second; Ctrl-C is heard as often.
        ``all_solutions`` is the old name of `ik_all`.

        Raises: UnknownNameError, ShapeError, InputError. A target that is not reached raises
        nothing: see `IKResult.success` and `IKResult.reason`.
        """
        if all_solutions:
            warnings.warn(
                "ik(all_solutions=True) is now a method of its own: ik_all(...)",
                DeprecationWarning,
                stacklevel=2,
            )
        solver = self.solver(
            frame,
            joints,
            tasks=tasks,
            fixed=fixed,
            limits=limits,
            objectives=objectives,
            joint_weights=joint_weights,
        )
        threads = settings.most_threads() if threads is None else threads
        if all_solutions:
            return solver.all_solutions(
                targets,
                q0,
                position_tolerance=position_tolerance,
                rotation_tolerance=rotation_tolerance,
                steps=steps,
                seed=seed,
                options=options,
                threads=threads,
                progress=progress,
            )
        return solver.solve(
            targets,
            q0,
            position_tolerance=position_tolerance,
            rotation_tolerance=rotation_tolerance,
            steps=steps,
            tries=tries,
            seed=seed,
            seconds=seconds,
            best_of=best_of,
            choose=choose,
            options=options,
            threads=threads,
            progress=progress,
        )

    def ik_all(  # noqa: PLR0913  every argument but two is named
        self,
        target: Targets = None,
        frame: str | None = None,
        *,
        tasks: Tasks | None = None,
        q0: Configuration | None = None,
        joints: str | Sequence[str] | None = None,
        fixed: str | Sequence[str] = (),
        limits: Limit | Iterable[Limit] = (),
        objectives: Objective | Iterable[Objective] = (),
        joint_weights: Mapping[str, float | Sequence[float]] | None = None,
        starts: int = 500,
        apart: float = 1.0e-2,
        position_tolerance: float | None = None,
        rotation_tolerance: float | None = None,
        steps: int | None = None,
        seed: int | None = None,
        options: Options | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> AllSolutions:
        """Every different solution q (n, nq) that is found of one target, the nearest to q0 first.

        Arguments are those of `ik`; the search begins at ``starts`` configurations, and solutions
        nearer to each other than ``apart`` (rad) are one.

        Raises: as `ik`; ShapeError for more than one target.
        """
        solver = self.solver(
            frame,
            joints,
            tasks=tasks,
            fixed=fixed,
            limits=limits,
            objectives=objectives,
            joint_weights=joint_weights,
        )
        return solver.all_solutions(
            target,
            q0,
            starts=starts,
            apart=apart,
            position_tolerance=position_tolerance,
            rotation_tolerance=rotation_tolerance,
            steps=steps,
            seed=seed,
            options=options,
            threads=settings.most_threads() if threads is None else threads,
            progress=progress,
        )

    def solver(
        self,
        frame: str | None = None,
        joints: str | Sequence[str] | None = None,
        *,
        tasks: Tasks | None = None,
        fixed: str | Sequence[str] = (),
        limits: Limit | Iterable[Limit] = (),
        objectives: Objective | Iterable[Objective] = (),
        joint_weights: Mapping[str, float | Sequence[float]] | None = None,
    ) -> InverseKinematics:
        """The compiled solver behind `ik`, to be kept and called again with new targets.

        ``limits`` are kept beside those of the description, ``objectives`` are made better in what
        the tasks leave free, ``joint_weights`` say how readily joints move (default 1; 0: not).
        Joints in ``fixed`` stay, as do those of weight 0, and all others where ``joints`` is given.
        Solvers that differ in numbers only share their code. Loops are kept closed as well, and
        their passive joints move along with those in ``joints``.

        Raises: UnknownNameError, InputError.
        """
        from linkwork.solve.ik import InverseKinematics  # noqa: PLC0415  not all need it

        if tasks is not None and frame is not None:
            raise InputError("give a frame or tasks, not both; a frame stands for its Pose")
        if frame is not None and not isinstance(frame, str):
            raise InputError(f"a frame is meant by its name, not by {frame!r:.60}; tasks by tasks=")
        named = None if joints is None else (joints,) if isinstance(joints, str) else tuple(joints)
        plain = not (tasks is not None or fixed or limits or objectives or joint_weights)
        key = (self._programs.frame(frame), named) if plain else None
        found = None if key is None else self._solvers.get(key)
        if found is not None:
            return found
        m = self.mechanism
        if named is not None and m.is_closed and m.actuated:
            from linkwork.solve.tasks import Closed  # noqa: PLC0415  not all need it

            looped = (m.joint_names[c] for c in Closed().bind(m).coordinates)
            named += tuple(name for name in looped if name not in (*m.actuated, *named))
        found = InverseKinematics(
            m,
            self._frame_or_tasks(frame, tasks),
            named,
            fixed=fixed,
            limits=self._limits(limits),
            objectives=objectives,
            joint_weights=joint_weights,
            compiler=settings.compiler(),
            known=self._searches,
        )
        return found if key is None else self._solvers.setdefault(key, found)

    def _frame_or_tasks(self, frame: str | None, tasks: Tasks | None) -> str | Tasks:
        """A frame or the tasks, and that the loops stay closed where the mechanism has any."""
        from linkwork.solve.problem import listed  # noqa: PLC0415  not all need it
        from linkwork.solve.tasks import Closed, Pose, Task  # noqa: PLC0415

        given = Pose(self._programs.frame(frame)) if tasks is None else tasks
        if not self.mechanism.is_closed:
            return given
        several = listed(given, Task, "tasks", "Pose('tool0')")
        closes = any(isinstance(task, Closed) for task in several)
        return several if closes else [*several, Closed()]

    def _limits(self, limits: Limit | Iterable[Limit]) -> list[Limit]:
        """The limits, of which a clearance is decided by the robot's own collision model."""
        from linkwork.solve.clearance import Clearance  # noqa: PLC0415  not all need it
        from linkwork.solve.limits import Limit  # noqa: PLC0415
        from linkwork.solve.problem import listed  # noqa: PLC0415

        def with_model(limit: Limit) -> Limit:
            if not isinstance(limit, Clearance) or limit.model is not None:
                return limit
            margin = max(0.02, finite_number(limit.margin, "Clearance.margin"))
            return replace(limit, model=self.collision(margin=margin))

        given = listed(limits, Limit, "limits", "PositionLimit(0.05)")
        return [with_model(each) for each in given]

    def controller(  # noqa: PLR0913  every argument but one is named
        self,
        frame: str | None = None,
        *,
        tasks: Tasks | None = None,
        dt: float,
        limits: Limit | Iterable[Limit] = (),
        objectives: Objective | Iterable[Objective] = (),
        joint_weights: Mapping[str, float | Sequence[float]] | None = None,
        joints: str | Sequence[str] | None = None,
        gain: float = 1.0,
        damping: float = 1.0,
    ) -> Controller:
        """One step at a time: ``controller.step(q, targets)`` is the configuration ``dt`` s later.

        Positions stay within the limits of the description, velocities too. ``joints`` may move,
        by default all that matter; see `linkwork.ik.Controller` for ``gain`` and ``damping``.

        Raises: UnknownNameError, InputError.
        """
        from linkwork.solve.controller import Controller  # noqa: PLC0415  not all need it

        if tasks is not None and frame is not None:
            raise InputError("give a frame or tasks, not both; a frame stands for its Pose")
        return Controller(
            self.mechanism,
            self._frame_or_tasks(frame, tasks),
            dt=dt,
            limits=self._limits(limits),
            objectives=objectives,
            joint_weights=joint_weights,
            joints=joints,
            gain=gain,
            damping=damping,
            compiler=settings.compiler(),
        )

    def joint_velocities(  # noqa: PLR0913  all but three are named choices
        self,
        q: ArrayLike,
        twist: ArrayLike,
        frame: str | None = None,
        *,
        reference: Reference = "world-aligned",
        smallest: float = 1.0e-5,
        damping: float = 0.0,
        joint_weights: ArrayLike | None = None,
        twist_weights: ArrayLike | None = None,
        preferred: ArrayLike | None = None,
    ) -> JointVelocities:
        """Velocities v (..., nv) of joints at q that come nearest to a frame's twist (..., 6).

        The keywords after ``reference`` are those of `linkwork.ik.joint_velocities`. Limits and
        loops are left out: `controller` keeps them.

        Raises: UnknownNameError, ShapeError, InputError.
        """
        from linkwork.solve.velocities import joint_velocities  # noqa: PLC0415  not all need it

        return joint_velocities(
            self.jacobian(q, frame, reference=reference),
            twist,
            smallest=smallest,
            damping=damping,
            joint_weights=joint_weights,
            twist_weights=twist_weights,
            preferred=preferred,
        )
