"""The object that people hold: a mechanism with the functions of it, compiled when first used."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import settings
from linkwork.algorithms import configuration
from linkwork.algorithms.registry import ALGORITHMS, find
from linkwork.algorithms.regressor import inertial_parameters
from linkwork.appearance import RobotMeshes
from linkwork.checks import whole_number
from linkwork.compile.kernel import Kernel, OnBad
from linkwork.compile.machine_code import COMPILING
from linkwork.compile.native_method import REQUIRED, NativeMethod, make_native
from linkwork.errors import Finding, InputError, UnknownNameError
from linkwork.formats.urdf.read import Document
from linkwork.mechanism import edit
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.named_positions import configuration_from, of_group_state
from linkwork.mechanism.neutral import neutral
from linkwork.mechanism.parameters import External, dynamics_inputs
from linkwork.mechanism.shapes import Shapes
from linkwork.programs import Function, Programs, name_error, named
from linkwork.renamed import renamed_keyword, renamed_method, renamed_property
from linkwork.robot_collision import RobotCollision
from linkwork.robot_ik import RobotIK
from linkwork.robot_methods import RobotMethods
from linkwork.robot_planning import RobotPlanning
from linkwork.robot_view import RobotView

if TYPE_CHECKING:
    from linkwork.algorithms.jacobian import Reference
    from linkwork.collision.attached import Attached
    from linkwork.collision.model import CollisionModel
    from linkwork.formats.dh import Convention, DHTable
    from linkwork.locating import Folders
    from linkwork.mechanism.loops import Coupling, Loop
    from linkwork.mechanism.named_positions import Configuration
    from linkwork.solve.closed.assembly import Actuated, Assembly
    from linkwork.solve.closed.rates import Mobility, Singularities
    from linkwork.solve.engine import Known
    from linkwork.solve.ik import InverseKinematics
    from linkwork.solve.result import AllSolutions, IKResult

Floats = NDArray[np.float64]


_STEPS_TO_NEAREST, _TRIES_TO_NEAREST = 300, 20
"""The first try goes from q0; others are for what that does not assemble."""
_TOLERANCE_OF_NEAREST = 1.0e-9
"""The gap (m, rad) of loops while the nearest is looked for: what leads towards q0 opens
them by its rounding. They are closed from there."""


class Limits(NamedTuple):
    """Limits of q (nq,), of v (nv,) and of the angles (n_joints,) that spherical joints turn by.

    Infinite where there is none.
    """

    lower: Floats
    upper: Floats
    velocity: Floats
    effort: Floats
    angle: Floats


class Robot(RobotMethods, RobotIK, RobotMeshes, RobotView, RobotCollision, RobotPlanning):
    """A mechanism and what can be computed of it.

    Every computing method takes one configuration q (nq,) or any leading shape of them (..., nq),
    and gives the same leading shape back. ``out`` takes the result, ``threads`` bounds the
    threads of a long batch (default: the processor's cores). A row that is not finite raises
    InputError with its joint; ``on_bad="nan"`` marks such rows with NaN instead.

    Keywords of the methods of dynamics, which mean the same everywhere:

    - ``external``: wrenches that act on the robot, by frame: force, then moment about the frame's
      origin, along the axes of the world (..., 6), N and N m.
    - ``gravity``: the free-fall acceleration in the world (..., 3), m/s², in place of
      (0, 0, -9.80665), or of that of an MJCF.
    - ``losses=True``: damping, Coulomb friction and springs count, as the description gives them.
    - ``armature``: inertia of rotors times the square of their gear ratios (..., nv), kg m² or kg,
      on the diagonal of the mass matrix, in place of what the description says (an MJCF does); one
      number is for all joints but floating ones.

    They become inputs of the compiled function (docs/parameters.md): each combination of them is
    compiled once, whatever the values, whose leading shapes broadcast with those of q. A robot with
    inertias that no real body has is refused, unless `accept_inertias` was called.

    The object may be shared by threads: the mechanism never changes, and edits return new robots.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        document: Document | None = None,
        *,
        shapes: Shapes | None = None,
        tip: str | None = None,
        attached: Sequence[Attached] = (),
    ) -> None:
        self.mechanism = mechanism
        self.document = document
        self._shapes = shapes
        self._tip = tip
        self.attached = tuple(attached)
        """The objects that it holds (see `with_attached`)."""
        self._programs = Programs(mechanism, partial(_tip_of, mechanism, tip))
        self._searches: Known = {}
        self._solvers: dict[Any, InverseKinematics] = {}
        self._assemblers: dict[Any, Any] = {}  # by their actuated joints
        self._models: dict[Any, CollisionModel] = {}  # of collision, without what is held

    # what it is

    @property
    def name(self) -> str:
        """The robot's name in its description."""
        return self.mechanism.name

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that q consists of, in its order."""
        return self.mechanism.joint_names

    @property
    def all_joint_names(self) -> tuple[str, ...]:
        """The joints of `all_positions`: all that move, coupled ones included."""
        m = self.mechanism
        names = zip(m.body_joint_names, m.body_joint_types, strict=True)
        return tuple(name for name, kind in names if kind is not JointType.FIXED)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Links, then joints, then frames that were added."""
        return self.mechanism.frame_names

    @property
    def n_q(self) -> int:
        """The number of positions: how long a configuration is."""
        return self.mechanism.n_q

    @property
    def n_v(self) -> int:
        """The number of velocities: the degrees of freedom."""
        return self.mechanism.n_v

    @property
    def limits(self) -> Limits:
        """Limits of positions, velocities and efforts, in the order of q and v."""
        m = self.mechanism
        return Limits(m.lower, m.upper, m.velocity_limit, m.effort_limit, m.angle_limit)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings on what is doubtful in the description, though it can be used."""
        return self.mechanism.findings

    @property
    def tip(self) -> str:
        """The frame meant where none is named: a subchain's tip, or the one link at an end.

        Raises: InputError where there are several such links, or none is known.
        """
        return self._programs.tip()

    @property
    def link_names(self) -> tuple[str, ...]:
        """Links, in the order of the description; they are the first of the frames."""
        m = self.mechanism
        return m.frame_names[: m.n_link_frames]

    @property
    def parents(self) -> Mapping[str, str | None]:
        """The link that each link hangs on, in the order of `link_names`; None for the root.

        They are those of the description: a chain that is cut out, or turned around, keeps them.
        """
        names = self.link_names
        above = self.mechanism.link_parent.tolist()
        pairs = zip(names, above, strict=True)
        return MappingProxyType({name: names[k] if k >= 0 else None for name, k in pairs})

    @property
    def joint_axes(self) -> NDArray[np.float64]:
        """Unit axes of the joints of q (n_joints, 3), in the frame of the link that each one moves.

        They are those of the description: a joint turns about its axis or slides along it, a planar
        one moves across it. Floating and spherical joints have none: their rows are
        zero. Joints of a chain whose
        direction is turned around have the axis in the frame of the link that they move now.
        """
        m = self.mechanism
        found = np.zeros((len(m.joint_names), 3))
        for c, (name, kind) in enumerate(zip(m.joint_names, m.joint_types, strict=True)):
            if not kind.has_quaternion:
                link = m.frame(m.body_names[m.body_joint_names.index(name)])
                found[c] = m.R_body_frame[link, 2] + 0.0
        return found

    @property
    def mass(self) -> float:
        """Mass of all links together, in kilograms."""
        return float(self.mechanism.mass.sum())

    def tree(self) -> str:
        """Links and joints as a picture in text, one line for each link, as `linkwork info` shows.

        Each line has the link, the joint that it hangs on, the joint's type, axis and limits.
        """
        from linkwork.robot_structure import tree_text  # noqa: PLC0415  not all need it

        return tree_text(self)

    # configurations

    @property
    def named_configurations(self) -> Mapping[str, Floats]:
        """Configurations q (nq,) that the description gives a name: the keyframes of an MJCF.

        Read-only. Edits keep them for the joints that are left; others than MJCF have none. They
        are as written: limits and loops may say otherwise.
        """
        found: dict[str, Floats] = {}
        for name, q in self.mechanism.named_configurations:
            found[name] = np.array(q, np.float64)
            found[name].setflags(write=False)
        return MappingProxyType(found)

    def group_states(self, srdf: Any = "beside", *, allow: Folders = ()) -> dict[str, Floats]:
        """Configurations q (nq,) by the names of an SRDF's group states; none without an SRDF.

        ``srdf`` and ``allow`` as for `collision`. Joints that a state does not name are neutral;
        what it says of joints that the robot does not have, or that are coupled, is left out. Seven
        numbers place the floating joint, whatever the SRDF calls it: x y z, then the quaternion
        with w at its end.

        Raises: DescriptionError for an SRDF that cannot be read; ShapeError for a joint with
        another number of positions.
        """
        from linkwork.robot_collision import srdf_of  # noqa: PLC0415  few need it

        found = srdf_of(self, srdf, allow)
        return {
            state.name: self.configuration(of_group_state(self.mechanism, state.positions))
            for state in (found.states if found is not None else ())
        }

    def neutral(self) -> Floats:
        """The configuration (nq,) of zeros, moved inside the limits; quaternions are 1 0 0 0."""
        return neutral(self.mechanism)

    def random(
        self, n: int | None = None, *, seed: int | np.random.Generator | None = None
    ) -> Floats:
        """One random configuration inside the limits (nq,), or n of them (n, nq).

        Raises: InputError for a number or a seed that is none, or for reversed limits.
        """
        count = 1 if n is None else whole_number(n, "n", least=0)
        try:
            rng = np.random.default_rng(seed)
        except (TypeError, ValueError):
            raise InputError(
                f"seed must be a whole number from 0 or a NumPy generator, not {seed!r:.40}"
            ) from None
        drawn = configuration.random(self.mechanism, rng, count)
        return drawn[0] if n is None else drawn

    def configuration(self, positions: Mapping[str, float | Sequence[float]]) -> Floats:
        """The configuration (nq,) with these joints at these positions, the others neutral.

        A coupled joint may be named too, where its value agrees with its leader's within 1e-9.

        Raises: UnknownNameError, ShapeError, InputError.
        """
        return configuration_from(self.mechanism, positions)

    # compiled functions

    def function(
        self,
        algorithm: str,
        frame: str | None = None,
        *,
        parameters: Sequence[str] = (),
        **static: Any,
    ) -> Function:
        """The compiled function of an algorithm, with its static arguments bound.

        ``robot.function("fk", "tool0")(q)``: the call with the least overhead, for control loops.
        It takes batches, ``out`` and ``threads`` as well. ``parameters`` names what else is to be
        an input, in the order in which it is given: ``"xyz:tool0"``, ``"payload:tool0"``,
        ``"mass:link5"``, ``"gravity"`` (docs/parameters.md).

        Raises: UnknownNameError for an algorithm, a frame or a parameter that does not exist;
        InputError for an argument that the algorithm does not have or does not depend on.
        """
        names = named(algorithm, frame, static)
        return self._programs.function(algorithm, names, _listed(parameters))

    def kernel(
        self,
        algorithm: str,
        frame: str | None = None,
        *,
        parameters: Sequence[str] = (),
        **static: Any,
    ) -> Kernel:
        """The kernel behind `function`: it describes itself, and gives its text in C or JavaScript.

        Raises: as `function`.
        """
        names = named(algorithm, frame, static)
        return self._programs.kernel(algorithm, names, _listed(parameters))

    def symbolic(
        self,
        algorithm: str,
        frame: str | None = None,
        *,
        parameters: str | Sequence[str] = (),
        **static: Any,
    ) -> Any:
        """The same mathematics as a CasADi function of named inputs; see `compile.symbolic`.

        Raises: as `function`.
        """
        from linkwork.compile.symbolic import symbolic  # noqa: PLC0415  imports CasADi

        names, inputs = named(algorithm, frame, static), _listed(parameters)
        fixed = self._programs.fixed(algorithm, names, inputs)
        with COMPILING:
            return symbolic(algorithm, self.mechanism, inputs, **fixed)

    def _compute(
        self,
        algorithm: str,
        arrays: tuple[ArrayLike, ...],
        static: tuple[str | None, ...],
        out: Floats | None,
        threads: int | None,
        on_bad: OnBad,
        **keywords: Any,
    ) -> Any:
        """The result of a method: the keywords of dynamics become inputs of its function.

        Methods become native once a robot is asked again for what needs no such keywords.
        """
        entry = find(algorithm)
        inputs = dynamics_inputs(self.mechanism, friction=entry.friction, **keywords)
        try:
            function = self._programs.function(algorithm, static, inputs.names)
        except TypeError as error:
            raise name_error(error, *static) from None
        if entry.is_method and not inputs.names:
            if hasattr(self, f"_{algorithm}"):
                _make_methods_native()
            else:  # where the native method will find it
                setattr(self, f"_{algorithm}", self._programs.functions[algorithm])
        how: dict[str, Any] = {"out": out}
        if threads is not None or on_bad is not _RAISE:  # native code knows `out` alone
            how |= {"threads": threads, "on_bad": on_bad}
        found = function(*arrays, *inputs.values, **how)
        return found if entry.result is None else entry.result(self.mechanism, found)

    def forward_dynamics_regressor(  # noqa: PLR0913  the keywords that all of dynamics has
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
    ) -> Floats:
        """Derivatives of `forward_dynamics` by the inertial parameters, (..., nv, 10 nb).

        Columns as in `regressor`. With tau = Y p held, -M⁻¹ Y at the accelerations that there are:
        three compiled functions and a product.

        Raises: as `forward_dynamics`.
        """
        how: Any = {"threads": threads, "on_bad": on_bad}
        more: Any = {"external": external, "losses": losses, "armature": armature}
        dv = self.forward_dynamics(q, v, tau, gravity=gravity, **more, **how)
        Y = self.regressor(q, v, dv, gravity=gravity, **how)
        if self.mechanism.is_closed:  # what the loops leave of the inverse
            inverse = self.forward_dynamics_derivatives(q, v, tau, armature=armature, **how).tau
        else:
            inverse = self.inverse_mass_matrix(q, armature=armature, **how)
        return -(inverse @ Y)

    def inertial_parameters(self) -> Floats:
        """Numbers that `regressor` multiplies (10 nb,): m, m c, I of each body, as described.

        Units: kg, kg m, kg m².
        """
        return inertial_parameters(self.mechanism)

    def to_dh(self, tip: str | None = None, *, convention: Convention = "standard") -> DHTable:
        """The table of Denavit and Hartenberg's parameters of a chain, with the poses of a frame.

        For every q, ``linkwork.from_dh(table)`` has the poses of ``tip`` (default: `tip`) at its
        own tip, and the same dynamics. ``convention``: "standard", "craig" or "khalil".

        Raises: UnsupportedFeatureError for what is no chain of joints that turn and slide, with the
        reason; UnknownNameError, InputError.
        """
        from linkwork.mechanism.to_dh import to_dh  # noqa: PLC0415  few need it

        return to_dh(self.mechanism, self.tip if tip is None else tip, convention=convention)

    # loops

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

        key = None if actuated is None else _listed(actuated)
        if key not in self._assemblers:
            made = Assembly(self.mechanism, key, compiler=settings.compiler())
            self._assemblers.setdefault(key, made)
        return self._assemblers[key]

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

        Without ``actuated`` every joint is free: ``q`` is the assembled configuration nearest to
        ``q0``, by default neutral, by the root of the sum of squares over the joints in loops
        (radians; a slide counts by the mechanism's length), reached from ``q0`` without leaps.

        ``actuated`` (..., n_actuated) in the order of `actuated`, or by name: then what is not
        named is where ``q0`` has it, and of a robot that does not say what is actuated the named
        joints are. From ``q0`` (..., nq) the actuated joints go straight to these positions, and
        the others are followed on their branch of assembly. Where it ends on the way, at a
        singularity or at a joint's limit, it is no ``success``, and ``q`` is where it ends.
        ``follow=False`` searches for any branch, from ``q0`` first, then at random; so it is
        without ``q0``, from neutral first. ``steps``, and of a search ``tries`` and ``seed``, are
        those of `ik.Options`.

        Closed within 1e-12 m and rad, inside the limits, or not ``success``: `IKResult.reason` says
        which loop stays open by how much.

        Raises: UnknownNameError, ShapeError, InputError.
        """
        if near is not None:
            q0 = renamed_keyword("Robot.assemble", "near", "q0", near, q0)
        if actuated is None:
            return self._nearest_assembled(q0, steps, tries, seed, threads)
        try:
            solver = self._assemblers[None]
        except KeyError:
            solver = self._assembler_for(actuated)
        if threads is None:
            threads = settings.most_threads()
        how: Any = {"steps": steps, "tries": tries, "seed": seed, "threads": threads}
        return solver.solve(actuated, q0, follow=follow, **how)

    def _nearest_assembled(
        self,
        q0: Configuration | None,
        steps: int | None,
        tries: int | None,
        seed: int | None,
        threads: int | None,
    ) -> IKResult:
        """The assembled configurations nearest to q0 (..., nq), with every joint free."""
        from linkwork.solve.inputs import configuration  # noqa: PLC0415  not all need it
        from linkwork.solve.objectives import NearPosture  # noqa: PLC0415
        from linkwork.solve.tasks import Closed  # noqa: PLC0415

        m = self.mechanism
        if "nearest" not in self._assemblers:
            loosely = Closed(tolerance=_TOLERANCE_OF_NEAREST)
            nearest = self.solver(tasks=loosely, objectives=NearPosture())
            self._assemblers["nearest"] = nearest, self.solver(tasks=Closed())
        nearest, closing = self._assemblers["nearest"]
        wanted = configuration(neutral(m) if q0 is None else q0, m)
        if threads is None:
            threads = settings.most_threads()
        how: Any = {"seed": seed, "threads": threads}
        how |= {"tries": _TRIES_TO_NEAREST if tries is None else tries}
        start = np.clip(wanted, m.lower, m.upper)  # what is in no loop goes to its limit too
        many = _STEPS_TO_NEAREST if steps is None else steps
        q = nearest.solve({"posture": wanted}, start, steps=many, **how).q
        return closing.solve(None, q, steps=steps, **how)

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
        """Measures of how near assembled configurations are to singularities of type 1 and 2.

        Raises: InputError where q is not assembled.
        """
        from linkwork.solve.inputs import configuration  # noqa: PLC0415  not all need it

        given = configuration(q, self.mechanism, "q")
        J = self.jacobian(given, frame)
        return self._programs.rates.singularities(given, J, self.assembler().problem.length)

    # edits

    def subchain(self, base: str, tip: str) -> Robot:
        """The chain of joints between two frames; its world is the frame ``base``.

        Objects that are held by a frame of the chain stay.
        """
        from linkwork.collision.attached import of_frames  # noqa: PLC0415

        chain = edit.subchain(self.mechanism, base, tip)
        held = of_frames(self.attached, chain.frame_names)
        return Robot(chain, self.document, shapes=self._shapes, tip=tip, attached=held)

    def with_locked(
        self,
        joints: str | Sequence[str],
        at: Mapping[str, Any] | Sequence[Any] | Floats | float | None = None,
    ) -> Robot:
        """A robot with these joints fixed at ``at`` (by name, in order, or a whole q).

        Default: neutral. Positions are radians and metres, inside the limits.

        Raises: UnknownNameError, ShapeError; InputError for positions that are not finite or lie
        outside the limits by more than 1e-6, for followers, and where a loop cannot hold.
        """
        if isinstance(joints, Mapping):
            raise InputError(
                f"joints are names, and where they stand is at=: with_locked({list(joints)}, "
                f"{dict(joints)})"
            )
        return self._with(edit.lock(self.mechanism, _listed(joints), at))

    def with_frame(self, name: str, parent_frame: str, T_parent_frame: ArrayLike) -> Robot:
        """A robot with one more frame, at a fixed pose (4, 4) in another one.

        Raises: UnknownNameError, ShapeError, InputError.
        """
        return self._with(edit.with_frame(self.mechanism, name, parent_frame, T_parent_frame))

    def with_attached(
        self,
        name: str,
        shape: Any,
        frame: str,
        pose: ArrayLike | None = None,
        *,
        allowed: Collection[str] = (),
    ) -> Robot:
        """A robot that holds an object: a shape, or an object of a scene, for all that collides.

        It moves with ``frame``, at ``pose`` there: (4, 4), or a position (3,). Collision models of
        the robot have it as one more link, so clear inverse kinematics, controllers and plans know
        of it; see `CollisionModel.with_attached`. Its mass is another matter: `with_payload`.

        Raises: UnknownNameError; InputError; UnsupportedFeatureError for half-spaces, height fields
        and points.
        """
        from linkwork.collision.attached import attach, check_attached  # noqa: PLC0415

        m = self.mechanism
        held = (*self.attached, attach(name, shape, frame, pose, allowed=allowed))
        check_attached(held, m.frame_names, m.frame_names[: m.n_link_frames])
        return self._holding(held)

    def without_attached(self, name: str) -> Robot:
        """The robot that no longer holds an object.

        Raises: UnknownNameError.
        """
        names = [each.name for each in self.attached]
        if name not in names:
            raise UnknownNameError("held object", name, names)
        return self._holding(tuple(each for each in self.attached if each.name != name))

    def with_payload(
        self,
        frame: str,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
    ) -> Robot:
        """A robot that carries one more body, fixed to a frame.

        ``mass`` (kg) lies at ``com`` (3,) in the frame (m). ``inertia`` about it, along the axes of
        the frame (kg m²): (3, 3), or ixx ixy ixz iyy iyz izz; by default that of a point mass.
        Masses that are to be inputs: parameter ``"payload:FRAME"``, and ``simulate(payload=)``.

        Raises: UnknownNameError, ShapeError, InputError.
        """
        return self._with(edit.with_payload(self.mechanism, frame, mass, com, inertia))

    def with_loop(
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

    def with_coupling(
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

    def with_actuated(self, joints: str | Sequence[str]) -> Robot:
        """A robot whose actuated joints are these, in this order.

        Raises: UnknownNameError, InputError.
        """
        return self._with(edit.actuate(self.mechanism, _listed(joints)))

    def accept_inertias(self) -> Robot:
        """A robot whose inertias count as they stand, also where no real body has them."""
        return self._with(replace(self.mechanism, inertias_accepted=True))

    def _with(self, mechanism: Mechanism) -> Robot:
        """The same robot with an edited mechanism."""
        return Robot(
            mechanism,
            self.document,
            shapes=self._shapes,
            tip=self._tip,
            attached=self.attached,
        )

    def _holding(self, attached: Sequence[Attached]) -> Robot:
        """The same robot with these objects attached, and the code that it has."""
        made = self._with(self.mechanism)
        made.attached = tuple(attached)
        made._programs, made._searches = self._programs, self._searches
        made._solvers, made._assemblers = self._solvers, self._assemblers
        made._models = self._models
        return made

    # old names, for one release
    lock = renamed_method("lock", "with_locked")
    close = renamed_method("close", "with_loop")
    couple = renamed_method("couple", "with_coupling")
    actuate = renamed_method("actuate", "with_actuated")
    full = renamed_method("full", "all_positions")
    inertial_numbers = renamed_method("inertial_numbers", "inertial_parameters")
    full_joint_names = renamed_property("full_joint_names", "all_joint_names")

    def __getstate__(self) -> dict[str, Any]:
        return {
            "mechanism": self.mechanism,
            "document": self.document,
            "shapes": None if self.document is not None else self._shapes,
            "tip": self._tip,
            "attached": self.attached,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)

    def __repr__(self) -> str:
        """A line on the robot; degrees of freedom with loops where `mobility` has told them."""
        m = self.mechanism
        parts = [(len(self.joint_names), "joint")]
        if m.is_closed:
            beside = ((len(m.loops), "loop"), (len(m.couplings), "coupling"))
            parts += [each for each in beside if each[0]]
            rates = vars(self._programs).get("rates")
            known = None if rates is None else rates.known
            free = None if known is None else known.degrees_of_freedom
        else:
            free = self.n_v
        told = [f"{n} {what}{'' if n == 1 else 's'}" for n, what in parts]
        if free is not None:
            told.append(f"{free} degree{'' if free == 1 else 's'} of freedom")
        return f"Robot('{self.name}': {', '.join(told)}, {len(self.frame_names)} frames)"


_RAISE: OnBad = "raise"
_NATIVE: list[Any] = []
"""The native methods of all robots, once they are made."""


def _make_methods_native() -> None:
    """Put native methods in the place of those written in Python, which cost twice as much."""
    if _NATIVE:
        return
    usual = {"frame": None, "reference": "world-aligned"}
    methods: list[NativeMethod] = []
    for entry in ALGORITHMS.values():
        if entry.is_method:
            required = "base" in entry.static
            names = [(name, REQUIRED if required else usual[name]) for name in entry.static]
            by_position = len([name for name in entry.static if name != "reference"])
            methods.append(NativeMethod(entry.name, len(entry.inputs), names, by_position))
    with COMPILING:
        if not _NATIVE:
            made = make_native(RobotMethods, methods, settings.compiler())
            _NATIVE.append(made)


def _tip_of(m: Mechanism, tip: str | None) -> str:
    """The tip that is given, or the one link at an end.

    Raises: InputError.
    """
    if tip is not None:
        return tip
    above = m.link_parent.tolist()
    links = list(enumerate(m.frame_names[: m.n_link_frames]))
    carrying = set(above)
    tips = [name for k, name in links if k not in carrying]
    # a chain that is cut out backwards ends where the description has its root, or another branch
    is_turned = any(above[k] < 0 and m.frame_body[k] > 0 for k, _ in links)
    if len(tips) == 1 and not is_turned:
        return tips[0]
    why = "was turned around" if is_turned else f"has {len(tips)} links at an end"
    listed = ", ".join(name for _, name in links[:12]) if is_turned else ", ".join(tips[:12])
    raise InputError(f"'{m.name}' {why}: name the frame that is meant, for example one of {listed}")


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    if not isinstance(names, Iterable):
        raise InputError(f"names are one text or a list of them, not {names!r}")
    return (names,) if isinstance(names, str) else tuple(names)
