"""The methods of `Robot` for mechanisms with loops; what they do stands in `solve.closed`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork import settings
from linkwork.mechanism.neutral import neutral
from linkwork.renamed import renamed_keyword

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from linkwork.algorithms.jacobian import Reference
    from linkwork.compile.kernel import OnBad
    from linkwork.mechanism.loops import Coupling, Loop
    from linkwork.mechanism.model import Mechanism
    from linkwork.mechanism.named_positions import Configuration
    from linkwork.mechanism.parameters import External
    from linkwork.programs import Programs
    from linkwork.solve.closed.assembly import Actuated, Assembly
    from linkwork.solve.closed.rates import Mobility, Singularities
    from linkwork.solve.result import AllSolutions, IKResult

    Floats = NDArray[np.float64]


class RobotLoops:
    """Loops, couplings and actuated joints, and configurations that are assembled."""

    mechanism: Mechanism
    _programs: Programs
    _assemblers: dict[Any, Any]

    if TYPE_CHECKING:
        jacobian: Callable[..., Floats]
        _with_inputs: Callable[..., Floats]

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

    def assembler(self, actuated: str | Sequence[str] | None = None) -> Assembly:
        """The compiled solver behind `assemble`, to be kept for many calls.

        ``actuated``: the joints whose positions are given, where they are not the robot's.

        Raises: UnknownNameError, InputError.
        """
        from linkwork.solve.closed.assembly import Assembly  # noqa: PLC0415  not all need it

        named = (actuated,) if isinstance(actuated, str) else actuated
        key = None if named is None else tuple(named)
        found = self._assemblers.get(key)
        if found is None:
            made = Assembly(self.mechanism, named, compiler=settings.compiler())
            found = self._assemblers.setdefault(key, made)
        return found

    def assemble(
        self,
        actuated: Actuated | None = None,
        q0: Configuration | None = None,
        *,
        follow: bool = True,
        steps: int | None = None,
        tries: int | None = None,
        seed: int | None = None,
        threads: int | None = None,
        near: Configuration | None = None,
    ) -> IKResult:
        """Configurations that are assembled, with the actuated joints at these positions.

        Without ``actuated`` every joint is free: the shortest steps take ``q0``, by default the
        neutral configuration, to an assembled one near it.

        ``actuated`` (..., n_actuated) in the order of `actuated`, or by name: then what is not
        named is where ``q0`` has it, and of a robot that does not say what is actuated the named
        joints are. From ``q0`` (..., nq) the actuated joints go straight to these positions, and
        the others are followed on their branch of assembly. Where it ends on the way, at a
        singularity or at a joint's limit, it is no ``success``, and ``q`` is where it ends.
        ``follow=False`` searches for any branch, from ``q0`` first, then at random; so it is
        without ``q0``, from neutral first. ``steps``, and of a search ``tries`` and ``seed``, are
        those of `IKOptions`.

        Closed within 1e-12 m and rad, inside the limits, or not ``success``: `IKResult.reason` says
        which loop stays open by how much.

        Raises: UnknownNameError, ShapeError, InputError.
        """
        if near is not None:
            q0 = renamed_keyword("Robot.assemble", "near", "q0", near, q0)
        if actuated is None:
            actuated, q0 = np.zeros(0), neutral(self.mechanism) if q0 is None else q0
            solver = self.assembler(())
        else:
            try:
                solver = self._assemblers[None]
            except KeyError:
                solver = self._assembler_for(actuated)
        if threads is None:
            threads = settings.most_threads()
        how: Any = {"steps": steps, "tries": tries, "seed": seed, "threads": threads}
        return solver.solve(actuated, q0, follow=follow, **how)

    def assemblies(  # noqa: PLR0913  all but two are named options
        self,
        actuated: Actuated,
        q0: Configuration | None = None,
        *,
        starts: int = 500,
        apart: float = 1.0e-3,
        steps: int | None = None,
        tries: int | None = None,
        seed: int | None = None,
        threads: int | None = None,
        near: Configuration | None = None,
    ) -> AllSolutions:
        """Every branch of assembly that is found for one row of positions, q (n, nq).

        The nearest to ``q0`` first, found from ``starts`` starts. Branches that differ by less than
        ``apart`` (radians of the joint that differs most) are one. The rest as in `assemble`.

        Raises: as `assemble`; ShapeError for more than one row.
        """
        if near is not None:
            q0 = renamed_keyword("Robot.assemblies", "near", "q0", near, q0)
        threads = settings.most_threads() if threads is None else threads
        solver = self._assembler_for(actuated)
        how: Any = {"steps": steps, "tries": tries, "seed": seed, "threads": threads}
        return solver.all_solutions(actuated, q0, starts=starts, apart=apart, **how)

    def _assembler_for(self, actuated: Actuated) -> Assembly:
        """By names where the robot does not say what is actuated."""
        if isinstance(actuated, dict) and not self.mechanism.actuated:
            return self.assembler(tuple(actuated))
        return self.assembler()

    def mobility(self, q: Configuration | None = None) -> Mobility:
        """Degrees of freedom, rank and redundant rows of the loops, at q (nq,), or generic ones.

        Raises: InputError where there are no loops, or they cannot be closed.
        """
        return self._programs.rates.mobility(q)

    def is_assembled(self, q: Configuration, *, tolerance: float = 1.0e-6) -> Any:
        """Whether all loops are closed and all couplings kept at q (..., nq): a bool, or an array.

        Within ``tolerance`` m and rad, of loops shorter than 1 m that share of their length.
        `closure` can be zero where a loop is half a turn from closed; this is not.

        Raises: ShapeError, UnknownNameError; InputError where there are no loops or couplings.
        """
        closed = self._programs.rates.openings(q).max(axis=-1, initial=0.0) <= tolerance
        return closed if closed.ndim else bool(closed)

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
        the opposite one along the same line. Keywords: see `Robot`.

        Raises: as `forward_dynamics`; InputError where there are no loops.
        """
        keywords = {"external": external, "gravity": gravity, "losses": losses}
        keywords["armature"] = armature
        found = self._with_inputs("loop_wrenches", (q, v, tau), keywords, None, threads, on_bad)
        return {loop.name: found[..., k, :] for k, loop in enumerate(self.loops)}

    def passive_rates(self, q: ArrayLike) -> Floats:
        """dv / d(actuated speeds) (..., nv, n_actuated) at assembled configurations.

        Raises: InputError where q is not assembled, or actuated joints hold each other.
        """
        return self._programs.rates.passive_rates(q)

    def actuation_jacobian(
        self, q: ArrayLike, frame: str | None = None, *, reference: Reference = "world-aligned"
    ) -> Floats:
        """From speeds of the actuated joints to a frame's velocity (..., 6, n_actuated).

        Raises: as `passive_rates`.
        """
        name = frame if isinstance(frame, str) else self._programs.frame(frame)
        return self._programs.rates.actuation_jacobian(q, (name, reference), self.jacobian)

    def singularities(self, q: Configuration, frame: str | None = None) -> Singularities:
        """How near assembled configurations are to singularities of type 1 and 2.

        Raises: InputError where q is not assembled.
        """
        from linkwork.solve.inputs import configuration  # noqa: PLC0415  not all need it

        given = configuration(q, self.mechanism, "q")
        J = self.jacobian(given, frame)
        return self._programs.rates.singularities(given, J, self.assembler().problem.length)
