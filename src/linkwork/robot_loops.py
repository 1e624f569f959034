"""The methods of `Robot` for mechanisms with loops; what they do stands in `solve.closed`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from linkwork import settings
from linkwork.errors import InputError
from linkwork.mechanism import edit
from linkwork.robot_dynamics import run, run_renamed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from linkwork.algorithms.jacobian import Reference
    from linkwork.compile.kernel import OnBad
    from linkwork.mechanism.dynamics_inputs import External
    from linkwork.mechanism.loops import Coupling, Loop
    from linkwork.mechanism.model import Mechanism
    from linkwork.mechanism.named_positions import Configuration
    from linkwork.robot import Robot
    from linkwork.solve.closed.assembly import Actuated, Assembly
    from linkwork.solve.closed.rates import Mobility, Rates, Singularities
    from linkwork.solve.result import IKResult

    Floats = NDArray[np.float64]


class RobotLoops:
    """Loops, couplings and actuated joints, and configurations that are assembled."""

    mechanism: Mechanism
    _closed: dict[Any, Any]

    if TYPE_CHECKING:

        def _with(self, mechanism: Mechanism) -> Robot: ...

        def _frame(self, frame: str | None) -> str: ...

        jacobian: Callable[..., Floats]
        _compute: Callable[..., Floats]

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops that close beside the tree."""
        return self.mechanism.loops

    @property
    def couplings(self) -> tuple[Coupling, ...]:
        """The joints that are where others put them, beside followers of the description."""
        return self.mechanism.couplings

    @property
    def actuated(self) -> tuple[str, ...]:
        """The joints that are driven; empty where it is not said."""
        return self.mechanism.actuated

    def close(
        self,
        frame_a: str,
        frame_b: str,
        kind: str | Sequence[str] = "pose",
        *,
        name: str | None = None,
        distance: float = 0.0,
    ) -> Robot:
        """A robot with a loop that closes between two frames.

        ``kind``: "pose" (weld), "revolute" (about z of frame a), "prismatic", "cylindrical" (along
        z), "planar" (across z), "position" (ball), "universal" (about z of a and x of b),
        "distance" (a rod of ``distance`` m with two balls), or the axes of frame a that are held:
        "xy" of position, "xy/z" of position and rotation.

        Raises: UnknownNameError, InputError.
        """
        changed = edit.close(self.mechanism, frame_a, frame_b, kind, name=name, distance=distance)
        return self._with(changed)

    def couple(
        self,
        joint: str,
        leaders: str | Sequence[str],
        function: Callable[..., Any] | None = None,
        *,
        rate: float | Sequence[float] = 1.0,
        offset: float = 0.0,
    ) -> Robot:
        """A robot with a joint that is where others' positions put it.

        At ``rate`` times each leader's plus ``offset``, or at a ``function`` of them, which is
        called once and kept as what it computed: arithmetic and NumPy's smooth functions.

        Raises: UnknownNameError, InputError, UnsupportedFeatureError.
        """
        changed = edit.couple(self.mechanism, joint, leaders, function, rate=rate, offset=offset)
        return self._with(changed)

    def actuate(self, joints: str | Sequence[str]) -> Robot:
        """A robot whose actuated joints are these, in this order.

        Raises: UnknownNameError, InputError.
        """
        return self._with(edit.actuate(self.mechanism, joints))

    def assembler(self, actuated: str | Sequence[str] | None = None) -> Assembly:
        """The compiled solver behind `assemble`, to be kept for many calls.

        ``actuated``: the joints whose positions are given, where they are not the robot's.

        Raises: UnknownNameError, InputError.
        """
        from linkwork.solve.closed.assembly import Assembly  # noqa: PLC0415  not all need it

        named = (actuated,) if isinstance(actuated, str) else actuated
        key = None if named is None else tuple(named)
        found = self._closed.get(key)
        if found is None:
            made = Assembly(self.mechanism, named, compiler=settings.compiler())
            found = self._closed.setdefault(key, made)
        return found

    def assemble(
        self,
        actuated: Actuated,
        near: Configuration | None = None,
        *,
        follow: bool = True,
        threads: int | None = None,
        **changes: Any,
    ) -> IKResult:
        """Configurations that are assembled, with the actuated joints at these positions.

        ``actuated`` (..., n_actuated) in the order of `actuated`, or by name: then what is not
        named is where ``near`` has it, and of a robot that does not say what is actuated the named
        joints are. From ``near`` (..., nq) the actuated joints go straight to these positions, and
        the others are followed on their branch of assembly. Where it ends on the way, at a
        singularity or at a joint's limit, it is no ``success``, and ``q`` is where it ends.
        ``follow=False`` searches for any branch, from ``near`` first, then at random; so it is
        without ``near``, from neutral first. ``changes`` are fields of `IKOptions`: ``steps``, and
        of a search ``tries`` and ``seed``.

        Closed within 1e-12 m and rad, inside the limits, or not ``success``: `IKResult.reason` says
        which loop stays open by how much.

        Raises: UnknownNameError, ShapeError, InputError.
        """
        try:
            solver = self._closed[None]
        except KeyError:
            solver = self._assembler_for(actuated)
        if threads is None:
            threads = settings.most_threads()
        return solver.solve(actuated, near, follow=follow, threads=threads, **changes)

    def assemblies(
        self,
        actuated: Actuated,
        near: Configuration | None = None,
        *,
        threads: int | None = None,
        **changes: Any,
    ) -> IKResult:
        """Every branch of assembly that is found for one row of positions, q (n, nq).

        The nearest to ``near`` first. ``changes``: ``starts``, ``apart``, fields of `IKOptions`.

        Raises: as `assemble`; ShapeError for more than one row.
        """
        threads = settings.most_threads() if threads is None else threads
        solver = self._assembler_for(actuated)
        return solver.all_solutions(actuated, near, threads=threads, **changes)

    def _assembler_for(self, actuated: Actuated) -> Assembly:
        """By names where the robot does not say what is actuated."""
        if isinstance(actuated, dict) and not self.mechanism.actuated:
            return self.assembler(tuple(actuated))
        return self.assembler()

    def mobility(self, q: Configuration | None = None) -> Mobility:
        """Degrees of freedom, rank and redundant rows of the loops, at q (nq,), or generic ones.

        Raises: InputError where there are no loops, or they cannot be closed.
        """
        return self._rates().mobility(q)

    def is_assembled(self, q: Configuration, *, tolerance: float = 1.0e-6) -> Any:
        """Whether all loops are closed and all couplings kept at q (..., nq): a bool, or an array.

        Within ``tolerance`` m and rad, of loops shorter than 1 m that share of their length.
        `closure` can be zero where a loop is half a turn from closed; this is not.

        Raises: ShapeError, UnknownNameError; InputError where there are no loops or couplings.
        """
        closed = self._rates().openings(q).max(axis=-1, initial=0.0) <= tolerance
        return closed if closed.ndim else bool(closed)

    def closure(
        self,
        q: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """How far each row of each loop and coupling is from closed (..., n_c), m and rad.

        Raises: InputError where there are no loops or couplings, or one has no value.
        """
        return self._held(("closure", None, None), q, out, threads, on_bad)

    def closure_jacobian(
        self,
        q: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """The derivative of `closure` by v (..., n_c, nv), exact where q is assembled.

        Raises: InputError where there are no loops or couplings, or one has no value.
        """
        return self._held(("closure_jacobian", None, None), q, out, threads, on_bad)

    def _held(self, what: Any, q: ArrayLike, *how: Any) -> Floats:
        """Of q alone; where that is refused, couplings without a value are named."""
        try:
            return self._compute(what, (q,), *how)
        except InputError:
            from linkwork.solve.closed.messages import name_valueless  # noqa: PLC0415  seldom needed

            name_valueless(self.mechanism, q)
            raise

    def closure_bias(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """The closure's acceleration at dv = 0, dJ/dt v (..., n_c): J dv + this is zero.

        Rows as in `closure`, m/s² and rad/s². At q and v that are assembled.

        Raises: InputError where there are no loops or couplings.
        """
        return self._compute(("closure_bias", None, None), (q, v), out, threads, on_bad)

    def loop_forces(  # noqa: PLR0913  the keywords that all of dynamics has
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        external: External | None = None,
        gravity: ArrayLike | None = None,
        losses: bool = False,
        armature: ArrayLike | None = None,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """What the rows of `closure` do (..., n_c) under the joint forces tau (N, N m).

        On frame b, along and about the axes of frame a. Of redundant rows the least: measured by
        the root of what each moves. Keywords: see `RobotDynamics`.

        Raises: as `forward_dynamics`.
        """
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        keywords = {"external": external, "gravity": gravity}
        more = {"losses": losses, "armature": armature}
        return run(self, "loop_forces", (q, v, tau), call, **keywords, **more)

    def loop_wrenches(  # noqa: PLR0913  the keywords that all of dynamics has
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        external: External | None = None,
        gravity: ArrayLike | None = None,
        losses: bool = False,
        armature: ArrayLike | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> dict[str, Floats]:
        """The wrench (..., 6) of each loop on its frame b, by the loop's name (N, N m).

        Force, then moment about the origin of frame b, in axes of frame a; the body of frame a has
        the opposite one along the same line. Keywords: see `RobotDynamics`.

        Raises: as `forward_dynamics`; InputError where there are no loops.
        """
        call = {"out": None, "threads": threads, "on_bad": on_bad}
        keywords = {"external": external, "gravity": gravity}
        more = {"losses": losses, "armature": armature}
        found = run_renamed(self, "loop_wrenches", (q, v, tau), call, **keywords, **more)
        return {loop.name: found[..., k, :] for k, loop in enumerate(self.loops)}

    def passive_rates(self, q: ArrayLike) -> Floats:
        """dv / d(actuated speeds) (..., nv, n_actuated) at assembled configurations.

        Raises: InputError where q is not assembled, or actuated joints hold each other.
        """
        return self._rates().passive_rates(q)

    def actuation_jacobian(
        self, q: ArrayLike, frame: str | None = None, *, reference: Reference = "world-aligned"
    ) -> Floats:
        """From speeds of the actuated joints to a frame's velocity (..., 6, n_actuated).

        Raises: as `passive_rates`.
        """
        name = frame if isinstance(frame, str) else self._frame(frame)
        return self._rates().actuation_jacobian(q, (name, reference), self.jacobian)

    def singularities(self, q: Configuration, frame: str | None = None) -> Singularities:
        """How near assembled configurations are to singularities of type 1 and 2.

        Raises: InputError where q is not assembled.
        """
        from linkwork.solve.inputs import configuration  # noqa: PLC0415  not all need it

        solver, given = self.assembler(), configuration(q, self.mechanism, "q")
        J = self.jacobian(given, frame)
        return self._rates().singularities(given, solver.actuated, J, solver.problem.length)

    def _rates(self) -> Rates:
        from linkwork.solve.closed.rates import Rates  # noqa: PLC0415  not all need it

        found = self._closed.get("rates")
        if found is None:
            made = Rates(self.mechanism, settings.compiler())
            found = self._closed.setdefault("rates", made)
        return found
