"""The methods of `Robot` over masses and forces; `algorithms/` has what they compute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.algorithms.closure import is_closed
from linkwork.algorithms.regressor import inertial_numbers
from linkwork.mechanism.dynamics_inputs import dynamics_inputs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from linkwork.algorithms.jacobian import Reference
    from linkwork.compile.kernel import OnBad
    from linkwork.mechanism.dynamics_inputs import External

    Floats = NDArray[np.float64]


class InverseDerivatives(NamedTuple):
    """Derivatives of inverse dynamics, (..., nv, nv) each: rows are forces."""

    q: Floats  # along the columns of v, as in `jacobian`
    v: Floats
    dv: Floats  # the mass matrix


class ForwardDerivatives(NamedTuple):
    """Derivatives of forward dynamics, (..., nv, nv) each: rows are accelerations."""

    q: Floats  # along the columns of v, as in `jacobian`
    v: Floats
    tau: Floats  # the inverse mass matrix


class RobotDynamics:
    """What forces do to a robot, and which forces a motion takes.

    Keywords that mean the same everywhere:

    - ``external``: wrenches that act on the robot, by frame: force, then moment about the frame's
      origin, along the axes of the world (..., 6), N and N m.
    - ``gravity``: the free-fall acceleration in the world (..., 3), m/s², in place of
      (0, 0, -9.80665).
    - ``losses=True``: damping and Coulomb friction count, as the description gives them.
    - ``armature``: inertia of rotors times the square of their gear ratios (..., nv), kg m² or kg,
      on the diagonal of the mass matrix, in place of what the description says (an MJCF does).

    They become inputs of the compiled function (docs/parameters.md): each combination of them is
    compiled once, whatever the values, whose leading shapes broadcast with those of q. A robot with
    inertias that no real body has is refused, unless `Robot.accept_inertias` was called.
    """

    def inverse_dynamics(  # noqa: PLR0913  the keywords that all of dynamics has
        self,
        q: ArrayLike,
        v: ArrayLike,
        dv: ArrayLike,
        *,
        external: External | None = None,
        gravity: ArrayLike | None = None,
        losses: bool = False,
        armature: ArrayLike | None = None,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Joint forces (..., nv) that give the accelerations dv at the velocities v (N, N m).

        A floating base has the force, then the moment about its origin, in the axes of its body.
        Keywords: see `RobotDynamics`.

        With loops: those of the actuated joints, zero at the others.

        Source: recursive Newton-Euler (Luh, Walker, Paul 1980; Featherstone 2008, section 5.3).
        Raises: InputError, ShapeError, UnknownNameError.
        """
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(
            self,
            "inverse_dynamics",
            (q, v, dv),
            call,
            external=external,
            gravity=gravity,
            losses=losses,
            armature=armature,
        )

    def bias_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        external: External | None = None,
        gravity: ArrayLike | None = None,
        losses: bool = False,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Joint forces (..., nv) that keep the velocities v as they are (N, N m).

        Inverse dynamics at dv = 0: against gravity, Coriolis and centrifugal forces. With loops:
        those of the actuated joints that keep their own speeds. Keywords: see `RobotDynamics`.

        Raises: as `inverse_dynamics`.
        """
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(
            self, "bias_forces", (q, v), call, external=external, gravity=gravity, losses=losses
        )

    def gravity_forces(
        self,
        q: ArrayLike,
        *,
        gravity: ArrayLike | None = None,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Forces (..., nv) that hold still against gravity (N, N m); with loops, the actuated."""
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(self, "gravity_forces", (q,), call, gravity=gravity)

    def forward_dynamics(  # noqa: PLR0913  the keywords that all of dynamics has
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
        """Accelerations (..., nv) that the joint forces tau give at the velocities v.

        Units: rad/s² for turns, m/s² for slides; a floating base has the time derivative of its v.
        With loops, those that keep them closed, where q and v are assembled. Keywords: see
        `RobotDynamics`.

        Source: articulated bodies (Featherstone 2008, section 7.3).
        Raises: as `inverse_dynamics`; InputError where a joint moves nothing that has inertia.
        """
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(
            self,
            "forward_dynamics",
            (q, v, tau),
            call,
            external=external,
            gravity=gravity,
            losses=losses,
            armature=armature,
        )

    def mass_matrix(
        self,
        q: ArrayLike,
        *,
        armature: ArrayLike | None = None,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Mass matrix M (..., nv, nv), symmetric: the kinetic energy is half of v·M v.

        Source: composite bodies (Walker and Orin 1982; Featherstone 2008, section 6.2).
        Raises: as `inverse_dynamics`.
        """
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(self, "mass_matrix", (q,), call, armature=armature)

    def inverse_mass_matrix(
        self,
        q: ArrayLike,
        *,
        armature: ArrayLike | None = None,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """The inverse of the mass matrix (..., nv, nv), symmetric.

        Source: factors with the tree's sparsity (Featherstone 2005); Takahashi, Fagan, Chin (1973).
        Raises: as `forward_dynamics`.
        """
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(self, "inverse_mass_matrix", (q,), call, armature=armature)

    def coriolis_matrix(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """C (..., nv, nv): C v and gravity's forces are the bias, and dM/dt - 2 C is skew.

        Source: Echeandia and Wensing, J. Comput. Nonlinear Dynamics 16 (2021).
        Raises: as `inverse_dynamics`.
        """
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(self, "coriolis_matrix", (q, v), call)

    def inverse_dynamics_derivatives(  # noqa: PLR0913  the keywords that all of dynamics has
        self,
        q: ArrayLike,
        v: ArrayLike,
        dv: ArrayLike,
        *,
        external: External | None = None,
        gravity: ArrayLike | None = None,
        losses: bool = False,
        armature: ArrayLike | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> InverseDerivatives:
        """Derivatives of `inverse_dynamics` with respect to q, v and dv, (..., nv, nv) each.

        q changes along the columns of v, as in `jacobian`. Keywords: see `RobotDynamics`; friction,
        being constant but for its sign, has no derivative.

        Source: Carpentier and Mansard (2018); Singh, Russell, Wensing (2022).
        Raises: as `inverse_dynamics`.
        """
        call = {"threads": threads, "on_bad": on_bad}
        found = _matrices(
            self,
            "inverse_dynamics_derivatives",
            (q, v, dv),
            call,
            external=external,
            gravity=gravity,
            losses=losses,
            armature=armature,
            friction=False,
        )
        return InverseDerivatives(*found)

    def forward_dynamics_derivatives(  # noqa: PLR0913  the keywords that all of dynamics has
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
    ) -> ForwardDerivatives:
        """Derivatives of `forward_dynamics` with respect to q, v and tau, (..., nv, nv) each.

        q changes along the columns of v, as in `jacobian`. Keywords: see `RobotDynamics`.

        Source: Carpentier and Mansard (2018).
        Raises: as `forward_dynamics`.
        """
        call = {"threads": threads, "on_bad": on_bad}
        found = _matrices(
            self,
            "forward_dynamics_derivatives",
            (q, v, tau),
            call,
            external=external,
            gravity=gravity,
            losses=losses,
            armature=armature,
        )
        return ForwardDerivatives(*found)

    def regressor(
        self,
        q: ArrayLike,
        v: ArrayLike,
        dv: ArrayLike,
        *,
        gravity: ArrayLike | None = None,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Y (..., nv, 10 nb): inverse dynamics is Y p, with ten numbers p for each body.

        They are m, m c (3) and ixx ixy ixz iyy iyz izz about the origin of the body's own link
        frame, in its axes; bodies in the order of `mechanism.body_names`. `inertial_numbers` gives
        them as they are.

        Source: Atkeson, An, Hollerbach, "Estimation of inertial parameters" (1986).
        Raises: InputError, ShapeError.
        """
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(self, "regressor", (q, v, dv), call, gravity=gravity)

    def forward_dynamics_regressor(
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
    ) -> Floats:
        """Derivatives of `forward_dynamics` by the inertial parameters, (..., nv, 10 nb).

        Columns as in `regressor`. With tau = Y p held, -M⁻¹ Y at the accelerations that there are:
        three compiled functions and a product. Keywords: see `RobotDynamics`.

        Raises: as `forward_dynamics`.
        """
        dv = self.forward_dynamics(
            q,
            v,
            tau,
            external=external,
            gravity=gravity,
            losses=losses,
            armature=armature,
            threads=threads,
        )
        Y = self.regressor(q, v, dv, gravity=gravity, threads=threads)
        robot: Any = self
        if is_closed(robot.mechanism):  # what the loops leave of the inverse
            more: Any = {"armature": armature, "threads": threads}
            return -(self.forward_dynamics_derivatives(q, v, tau, **more).tau @ Y)
        return -(self.inverse_mass_matrix(q, armature=armature, threads=threads) @ Y)

    def inertial_numbers(self) -> Floats:
        """What `regressor` multiplies, as the description has it (10 nb,): m, m c, I of each body.

        Units: kg, kg m, kg m².
        """
        robot: Any = self
        return inertial_numbers(robot.mechanism)

    def kinetic_energy(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        armature: ArrayLike | None = None,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Kinetic energy (...) of the whole mechanism, J."""
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(self, "kinetic_energy", (q, v), call, armature=armature)

    def potential_energy(
        self,
        q: ArrayLike,
        *,
        gravity: ArrayLike | None = None,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Energy (...) of the masses in the field of gravity (J), zero at the world's origin."""
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(self, "potential_energy", (q,), call, gravity=gravity)

    def centroidal_momentum(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Momentum (..., 6): linear, then angular about the centre of mass, along the world's axes.

        Units: kg m/s and kg m²/s. Source: Orin, Goswami, Lee, Autonomous Robots 35 (2013).
        """
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(self, "centroidal_momentum", (q, v), call)

    def centroidal_matrix(
        self,
        q: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """The matrix (..., 6, nv) that makes `centroidal_momentum` of v.

        Source: Orin, Goswami, Lee, Autonomous Robots 35 (2013).
        """
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(self, "centroidal_matrix", (q,), call)

    def com_velocity(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Velocity of the centre of mass (..., 3) in the world, m/s."""
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(self, "com_velocity", (q, v), call)

    def com_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        dv: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Acceleration of the centre of mass (..., 3) in the world, m/s²."""
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return run(self, "com_acceleration", (q, v, dv), call)

    def frame_velocity(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str | None = None,
        *,
        reference: Reference = "world-aligned",
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Velocity of a frame (..., 6), linear first: `jacobian` times v. Default frame: `tip`.

        ``reference`` as in `jacobian`. Units: m/s, rad/s.
        """
        what = ("frame_velocity", frame, reference)
        robot: Any = self
        return robot._compute(what, (q, v), out, threads, on_bad)

    def frame_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        dv: ArrayLike,
        frame: str | None = None,
        *,
        reference: Reference = "world-aligned",
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """The time derivative of `frame_velocity` (..., 6) where dv/dt is dv. Default frame: `tip`.

        ``reference`` as in `jacobian`. Units: m/s², rad/s².
        """
        what = ("frame_acceleration", frame, reference)
        robot: Any = self
        return robot._compute(what, (q, v, dv), out, threads, on_bad)


def run(
    robot: Any, algorithm: str, arrays: tuple[ArrayLike, ...], call: dict[str, Any], **keywords: Any
) -> Floats:
    """An algorithm without names among its arguments, the keywords being inputs of it."""
    how = dynamics_inputs(robot.mechanism, **keywords)
    if not how.names:
        return robot._compute((algorithm, None, None), arrays, **call)
    return _call(robot, (algorithm, None, None, how.names), (*arrays, *how.values), call)


def run_renamed(
    robot: Any, algorithm: str, arrays: tuple[ArrayLike, ...], call: dict[str, Any], **keywords: Any
) -> Floats:
    """As `run`, for a method that gives the numbers another form: it stays a method of Python."""
    how = dynamics_inputs(robot.mechanism, **keywords)
    what = (algorithm, None, None, how.names)
    return _call(robot, what, (*arrays, *how.values), call)


def _matrices(robot: Any, *given: Any, **keywords: Any) -> Floats:
    """As `run`, of an algorithm that gives several matrices: one after the other."""
    return np.moveaxis(run_renamed(robot, *given, **keywords), -3, 0)


def _call(robot: Any, what: Any, arrays: tuple[ArrayLike, ...], call: dict[str, Any]) -> Floats:
    """At once where nothing is asked for besides."""
    if call.get("out") is None and call["threads"] is None and call["on_bad"] == "raise":
        return robot._bound(*what)(*arrays)
    return robot._kernel(*what)(*arrays, **call)
