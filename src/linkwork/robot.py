"""The object that people hold: a mechanism with the functions of it, compiled when first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import settings
from linkwork.algorithms import configuration
from linkwork.algorithms.closure import is_closed
from linkwork.algorithms.jacobian import Reference
from linkwork.algorithms.registry import find
from linkwork.compile.kernel import Kernel, OnBad, build
from linkwork.compile.machine_code import COMPILING
from linkwork.compile.recipe import algorithm_recipe
from linkwork.errors import Finding, InputError
from linkwork.formats.urdf.read import Document
from linkwork.mechanism import edit
from linkwork.mechanism.dynamics_checks import accept_inertias
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.named_positions import configuration_from
from linkwork.mechanism.neutral import neutral
from linkwork.mechanism.payload import with_payload
from linkwork.methods import install
from linkwork.robot_dynamics import RobotDynamics
from linkwork.robot_ik import RobotIK
from linkwork.robot_loops import RobotLoops
from linkwork.robot_meshes import RobotMeshes
from linkwork.robot_structure import RobotStructure

if TYPE_CHECKING:
    from linkwork.solve.compiled import Known
    from linkwork.solve.ik import InverseKinematics

Floats = NDArray[np.float64]
Function = Callable[..., Floats]


class Limits(NamedTuple):
    """Limits of q (nq,), of v (nv,) and of the angles (n_joints,) that spherical joints turn by.

    Infinite where there is none.
    """

    lower: Floats
    upper: Floats
    velocity: Floats
    effort: Floats
    angle: Floats


class Robot(RobotStructure, RobotDynamics, RobotIK, RobotLoops, RobotMeshes):
    """A mechanism and what can be computed of it.

    Every computing method takes one configuration q (nq,) or any leading shape of them (..., nq),
    and gives the same leading shape back. ``out`` takes the result, ``threads`` bounds the
    threads of a long batch (default: the processor's cores). A row that is not finite raises
    InputError with its joint; ``on_bad="nan"`` marks such rows with NaN instead.

    The object may be shared by threads: the mechanism never changes, and edits return new robots.
    """

    def __init__(
        self, mechanism: Mechanism, document: Document | None = None, *, tip: str | None = None
    ) -> None:
        self.mechanism = mechanism
        self.document = document
        self._tip = tip
        self._may_install = True  # built-in functions before the methods, see `install`
        self._kernels: dict[Any, Kernel] = {}
        self._functions: dict[Any, Function] = {}
        self._searches: Known = {}
        self._solvers: dict[Any, InverseKinematics] = {}
        self._closed: dict[Any, Any] = {}  # assemblers by their actuated joints, and rates

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
    def full_joint_names(self) -> tuple[str, ...]:
        """The joints that `full` gives positions of: all that move, coupled ones included."""
        m = self.mechanism
        names = zip(m.body_joint_names, m.body_joint_types, strict=True)
        return tuple(name for name, kind in names if kind is not JointType.FIXED)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Links, then joints, then frames that were added."""
        return self.mechanism.frame_names

    @property
    def n_q(self) -> int:
        """How many numbers a configuration has."""
        return self.mechanism.n_q

    @property
    def n_v(self) -> int:
        """How many numbers a velocity has: the degrees of freedom."""
        return self.mechanism.n_v

    @property
    def limits(self) -> Limits:
        """Limits of positions, velocities and efforts, in the order of q and v."""
        m = self.mechanism
        return Limits(m.lower, m.upper, m.velocity_limit, m.effort_limit, m.angle_limit)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is doubtful in the description, though it can be used."""
        return self.mechanism.findings

    @property
    def tip(self) -> str:
        """The frame meant where none is named: a subchain's tip, or the one link at an end.

        Raises: InputError where there are several such links, or none is known.
        """
        if self._tip is not None:
            return self._tip
        tips = self._end_links()
        if len(tips) == 1:
            return tips[0]
        listed = ", ".join((tips or list(self.frame_names))[:12])
        raise InputError(
            f"'{self.name}' has {len(tips)} links at an end: name the frame that is meant, for "
            f"example one of {listed}"
        )

    def _end_links(self) -> list[str]:
        if self.document is None:
            return []
        parents = {joint.parent for joint in self.document.robot.joints}
        links = [link.name for link in self.document.robot.links]
        frames = set(self.frame_names)
        return [name for name in links if name not in parents and name in frames]

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

    def neutral(self) -> Floats:
        """The configuration (nq,) of zeros, moved inside the limits; quaternions are 1 0 0 0."""
        return neutral(self.mechanism)

    def random(
        self, n: int | None = None, *, seed: int | np.random.Generator | None = None
    ) -> Floats:
        """One random configuration inside the limits (nq,), or n of them (n, nq).

        Raises: InputError for a number or a seed that is none, or for reversed limits.
        """
        count = 1 if n is None else _whole("n", n)
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

    def full(
        self, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None
    ) -> Floats:
        """Positions of all joints (..., n_full), in the order of `full_joint_names`."""
        return self._compute(("full", None, None), (q,), out, threads)

    def integrate(self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None) -> Floats:
        """The configuration (..., nq) reached from q by the velocity v (..., nv) in one second."""
        return self._compute(("integrate", None, None), (q, v), out, None)

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Floats | None = None) -> Floats:
        """The velocity (..., nv) that takes q0 to q1 in one second."""
        return self._compute(("difference", None, None), (q0, q1), out, None)

    # kinematics

    def fk(
        self,
        q: ArrayLike,
        frame: str | None = None,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Pose of a frame in the world, T_world_frame (..., 4, 4); default: `tip`."""
        return self._compute(("fk", frame, None), (q,), out, threads, on_bad)

    def fk_all(
        self,
        q: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Poses of all frames in the world (..., nf, 4, 4), in the order of `frame_names`."""
        return self._compute(("fk_all", None, None), (q,), out, threads, on_bad)

    def relative(
        self,
        q: ArrayLike,
        base: str,
        frame: str,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Pose of a frame in another one, T_base_frame (..., 4, 4).

        Joints that carry both frames, a floating base for instance, make no difference.
        """
        return self._compute(("relative", base, frame), (q,), out, threads, on_bad)

    def jacobian(
        self,
        q: ArrayLike,
        frame: str | None = None,
        *,
        reference: Reference = "world-aligned",
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Jacobian of a frame (..., 6, nv), linear rows first.

        ``reference``: "world-aligned" (velocity of the frame's origin, axes of the world), "local"
        (axes of the frame) or "world" (velocity at the world's origin).
        """
        return self._compute(("jacobian", frame, reference), (q,), out, threads, on_bad)

    def jacobian_dot(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str | None = None,
        *,
        reference: Reference = "world-aligned",
        out: Floats | None = None,
        threads: int | None = None,
    ) -> Floats:
        """The Jacobian's time derivative (..., 6, nv) while q moves with v, in its own axes."""
        return self._compute(("jacobian_dot", frame, reference), (q, v), out, threads)

    def jacobian_dot_v(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str | None = None,
        *,
        reference: Reference = "world-aligned",
        out: Floats | None = None,
        threads: int | None = None,
    ) -> Floats:
        """The Jacobian's time derivative times v (..., 6): the acceleration at dv/dt = 0."""
        return self._compute(("jacobian_dot_v", frame, reference), (q, v), out, threads)

    def com(self, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None) -> Floats:
        """Centre of mass in the world (..., 3), the root link's mass included."""
        return self._compute(("com", None, None), (q,), out, threads)

    def com_jacobian(
        self, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None
    ) -> Floats:
        """Jacobian of the centre of mass (..., 3, nv)."""
        return self._compute(("com_jacobian", None, None), (q,), out, threads)

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
        return self._bound(*self._asked(algorithm, frame, parameters, static))

    def kernel(
        self,
        algorithm: str,
        frame: str | None = None,
        *,
        parameters: Sequence[str] = (),
        **static: Any,
    ) -> Kernel:
        """What stands behind `function`: it describes itself and gives its C source.

        Raises: as `function`.
        """
        return self._kernel(*self._asked(algorithm, frame, parameters, static))

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

        algorithm, first, second, named = self._asked(algorithm, frame, parameters, static)
        fixed = self._static(algorithm, first, second, named)
        with COMPILING:
            return symbolic(algorithm, self.mechanism, named, **fixed)

    # edits

    def lock(
        self,
        joints: str | Sequence[str],
        at: Mapping[str, Any] | Sequence[Any] | Floats | float | None = None,
    ) -> Robot:
        """A robot with these joints fixed at ``at`` (by name, in order, or a whole q).

        Default: neutral. Positions are radians and metres, inside the limits.

        Raises: UnknownNameError, ShapeError; InputError for positions that are not finite or lie
        outside the limits by more than 1e-6, for followers, and where a loop cannot hold.
        """
        names = [joints] if isinstance(joints, str) else list(joints)
        return Robot(edit.lock(self.mechanism, names, at), self.document, tip=self._tip)

    def subchain(self, base: str, tip: str) -> Robot:
        """The chain of joints between two frames; its world is the frame ``base``."""
        return Robot(edit.subchain(self.mechanism, base, tip), self.document, tip=tip)

    def with_frame(self, name: str, parent_frame: str, T_parent_frame: ArrayLike) -> Robot:
        """A robot with one more frame, at a fixed pose (4, 4) in another one."""
        changed = edit.with_frame(self.mechanism, name, parent_frame, T_parent_frame)
        return Robot(changed, self.document, tip=self._tip)

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
        return self._with(with_payload(self.mechanism, frame, mass, com, inertia))

    def accept_inertias(self) -> Robot:
        """A robot whose inertias count as they stand, also where no real body has them."""
        return self._with(accept_inertias(self.mechanism))

    # how

    def _with(self, mechanism: Mechanism) -> Robot:
        """The same robot with an edited mechanism."""
        return Robot(mechanism, self.document, tip=self._tip)

    def _frame(self, frame: str | None) -> str:
        if frame is None:
            return self.tip
        self.mechanism.frame(frame)
        return frame

    def _asked(
        self,
        algorithm: str,
        frame: str | None,
        parameters: str | Sequence[str],
        static: Mapping[str, Any],
    ) -> tuple[str, str | None, str | None, tuple[str, ...]]:
        """Algorithm, its static arguments in its own order (two places), and parameters.

        Raises: InputError for an argument that it does not have.
        """
        entry = find(algorithm)
        for key in (*static, *(["frame"] if frame is not None else [])):
            if key not in entry.static:
                allowed = ", ".join(entry.static) or "none"
                raise InputError(f"'{algorithm}' has no argument '{key}'; it has: {allowed}")
        named = (parameters,) if isinstance(parameters, str) else tuple(parameters)
        given = {"frame": frame, **static}
        first, second, *_ = *(given.get(key) for key in entry.static), None, None
        return algorithm, first, second, named

    def _static(
        self, algorithm: str, first: str | None, second: str | None, named: tuple[str, ...]
    ) -> dict[str, Any]:
        """The arguments that are fixed when an algorithm is traced; what it needs is checked."""
        static: dict[str, Any] = {}
        entry = find(algorithm)
        entry.check(self.mechanism, named)
        if entry.counts_free_motions and is_closed(self.mechanism):
            static["free_motions"] = self._rates().free_motions
        for key, value in zip(entry.static, (first, second), strict=False):
            if key == "frame":
                static[key] = self._frame(value)
            elif value is not None:
                static[key] = value
            elif key == "base":
                raise InputError(f"'{algorithm}' needs base=, the frame that poses are given in")
        return static

    def _kernel(
        self,
        algorithm: str,
        first: str | None,
        second: str | None,
        parameters: tuple[str, ...] = (),
    ) -> Kernel:
        key = (algorithm, first, second, *parameters)
        found = self._kernels.get(key)
        if found is not None:
            return found
        static = self._static(algorithm, first, second, parameters)
        with COMPILING:
            kernel = build(
                algorithm_recipe(algorithm, self.mechanism, parameters, **static),
                compiler=settings.compiler(),
                labels=self._labels(),
                most_threads=settings.most_threads(),
            )
            return self._kernels.setdefault(key, kernel)

    def _bound(
        self,
        algorithm: str,
        first: str | None,
        second: str | None,
        parameters: tuple[str, ...] = (),
    ) -> Function:
        key = (algorithm, first, second, *parameters)
        found = self._functions.get(key)
        if found is None:
            with settings.compiler().work(f"{algorithm} for {self.name}"):
                kernel = self._kernel(algorithm, first, second, parameters)
                found = self._functions.setdefault(key, kernel.bound())
        return found

    def _labels(self) -> dict[str, list[str]]:
        m = self.mechanism
        names = [f"joint '{name}'" for name in m.joint_names]
        q = np.repeat(names, np.diff(m.q_start)).tolist()
        v = np.repeat(names, np.diff(m.v_start)).tolist()
        frames = [f"frame '{name}'" for name in m.frame_names]
        of_v = {key: v for key in ("v", "dv", "tau", "armature", "damping", "friction")}
        return {"q": q, "q0": q, "q1": q, "fk_all": frames, **of_v}

    def _compute(
        self,
        what: tuple[str, str | None, str | None],
        arrays: tuple[ArrayLike, ...],
        out: Floats | None,
        threads: int | None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """The algorithm with its static arguments, of ``arrays``: at once where nothing else is
        asked for."""
        if out is None and threads is None and on_bad == "raise":
            try:
                bound = self._functions.get(what)
            except TypeError:
                wrong = next(name for name in what[1:] if not isinstance(name, str | None))
                raise InputError(f"a frame is meant by its name, not by {wrong!r}") from None
            result = (bound or self._bound(*what))(*arrays)
            if self._may_install:
                self._may_install = install(Robot, self, what[0], self._twin)
            return result
        return self._kernel(*what)(*arrays, out=out, threads=threads, on_bad=on_bad)

    def _twin(self) -> tuple[Robot, Callable[..., Function]]:
        """Another robot that shares what is compiled, and finds it; its methods stay Python's."""
        other = Robot(self.mechanism, self.document, tip=self._tip)
        other._may_install = False
        other._kernels, other._functions = self._kernels, self._functions
        return other, other._bound

    def __getstate__(self) -> dict[str, Any]:
        return {"mechanism": self.mechanism, "document": self.document, "tip": self._tip}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["mechanism"], state["document"], tip=state["tip"])

    def __repr__(self) -> str:
        """What it is, in a line; degrees of freedom with loops where `mobility` has told them."""
        m = self.mechanism
        parts = [(len(self.joint_names), "joint")]
        if m.is_closed:
            beside = ((len(m.loops), "loop"), (len(m.couplings), "coupling"))
            parts += [each for each in beside if each[0]]
            rates = self._closed.get("rates")
            known = None if rates is None else rates.known
            free = None if known is None else known.degrees_of_freedom
        else:
            free = self.n_v
        told = [f"{n} {what}{'' if n == 1 else 's'}" for n, what in parts]
        if free is not None:
            told.append(f"{free} degree{'' if free == 1 else 's'} of freedom")
        return f"Robot('{self.name}': {', '.join(told)}, {len(self.frame_names)} frames)"


def _whole(name: str, value: Any) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
        raise InputError(f"{name} must be a whole number from 0, not {value!r:.40}")
    return int(value)
