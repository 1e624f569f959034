"""The methods of `Robot` that compute.

Written by tools/docs/robot_methods.py: change the registry, and run it.
"""

# ruff: noqa: PLR0913  the keywords that all of dynamics has
# fmt: off

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwork.algorithms.registry import ALGORITHMS

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from linkwork.algorithms.jacobian import Reference
    from linkwork.algorithms.registry import ForwardDerivatives, InverseDerivatives
    from linkwork.compile.kernel import OnBad
    from linkwork.mechanism.parameters import External

    Floats = NDArray[np.float64]


class RobotMethods:
    """One method for each algorithm of the registry; `Robot` says what their keywords mean."""

    __slots__ = tuple(f"_{entry.name}" for entry in ALGORITHMS.values() if entry.is_method)
    """The functions that `compile.native_method` calls."""

    if TYPE_CHECKING:
        _compute: Callable[..., Any]

    def all_positions(
        self, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Positions of all joints (..., n_all), in the order of `all_joint_names`."""
        return self._compute("all_positions", (q,), (), out, threads, on_bad)

    def integrate(
        self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None, threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """The configuration (..., nq) reached from q by the velocity v in one second."""
        return self._compute("integrate", (q, v), (), out, threads, on_bad)

    def difference(
        self, q0: ArrayLike, q1: ArrayLike, *, out: Floats | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """The velocity (..., nv) that takes q0 to q1 in one second."""
        return self._compute("difference", (q0, q1), (), out, threads, on_bad)

    def fk(
        self, q: ArrayLike, frame: str | None = None, *, out: Floats | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Pose of a frame in the world, T_world_frame (..., 4, 4); default: `tip`."""
        return self._compute("fk", (q,), (frame,), out, threads, on_bad)

    def fk_all(
        self, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Poses of all frames in the world (..., nf, 4, 4), in the order of `frame_names`."""
        return self._compute("fk_all", (q,), (), out, threads, on_bad)

    def relative(
        self, q: ArrayLike, base: str, frame: str, *, out: Floats | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Pose of a frame in another one, T_base_frame (..., 4, 4).

        Joints that carry both frames, a floating base for instance, make no difference.
        """
        return self._compute("relative", (q,), (base, frame), out, threads, on_bad)

    def jacobian(
        self, q: ArrayLike, frame: str | None = None, *, reference: Reference = "world-aligned",
        out: Floats | None = None, threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Jacobian of a frame (..., 6, nv), linear rows first; default: `tip`.

        ``reference``: "world-aligned" (velocity of the frame's origin, axes of the world),
        "local" (axes of the frame) or "world" (velocity at the world's origin).
        """
        return self._compute("jacobian", (q,), (frame, reference), out, threads, on_bad)

    def jacobian_dot(
        self, q: ArrayLike, v: ArrayLike, frame: str | None = None, *,
        reference: Reference = "world-aligned", out: Floats | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """The Jacobian's time derivative (..., 6, nv) while q moves with v, in its own axes."""
        return self._compute("jacobian_dot", (q, v), (frame, reference), out, threads, on_bad)

    def jacobian_dot_v(
        self, q: ArrayLike, v: ArrayLike, frame: str | None = None, *,
        reference: Reference = "world-aligned", out: Floats | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """The Jacobian's time derivative times v (..., 6): the acceleration at dv/dt = 0."""
        return self._compute("jacobian_dot_v", (q, v), (frame, reference), out, threads, on_bad)

    def frame_velocity(
        self, q: ArrayLike, v: ArrayLike, frame: str | None = None, *,
        reference: Reference = "world-aligned", out: Floats | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Velocity of a frame (..., 6), linear first: `jacobian` times v. Default frame: `tip`.

        ``reference`` as in `jacobian`. Units: m/s, rad/s.
        """
        return self._compute("frame_velocity", (q, v), (frame, reference), out, threads, on_bad)

    def frame_acceleration(
        self, q: ArrayLike, v: ArrayLike, dv: ArrayLike, frame: str | None = None, *,
        reference: Reference = "world-aligned", out: Floats | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """The time derivative of `frame_velocity` (..., 6); dv is that of v.

        Default frame: `tip`. ``reference`` as in `jacobian`. Units: m/s², rad/s².
        """
        return self._compute(
            "frame_acceleration", (q, v, dv), (frame, reference), out, threads, on_bad,
        )

    def com(
        self, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Centre of mass in the world (..., 3), the root link's mass included."""
        return self._compute("com", (q,), (), out, threads, on_bad)

    def com_jacobian(
        self, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Jacobian of the centre of mass (..., 3, nv)."""
        return self._compute("com_jacobian", (q,), (), out, threads, on_bad)

    def com_velocity(
        self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None, threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Velocity of the centre of mass (..., 3) in the world, m/s."""
        return self._compute("com_velocity", (q, v), (), out, threads, on_bad)

    def com_acceleration(
        self, q: ArrayLike, v: ArrayLike, dv: ArrayLike, *, out: Floats | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Acceleration of the centre of mass (..., 3) in the world, m/s²."""
        return self._compute("com_acceleration", (q, v, dv), (), out, threads, on_bad)

    def centroidal_momentum(
        self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None, threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Momentum (..., 6): linear, then angular about the centre of mass, world axes.

        Units: kg m/s and kg m²/s. Source: Orin, Goswami, Lee, Autonomous Robots 35 (2013).
        """
        return self._compute("centroidal_momentum", (q, v), (), out, threads, on_bad)

    def centroidal_matrix(
        self, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """The matrix (..., 6, nv) that makes `centroidal_momentum` of v.

        Source: Orin, Goswami, Lee, Autonomous Robots 35 (2013).
        """
        return self._compute("centroidal_matrix", (q,), (), out, threads, on_bad)

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, dv: ArrayLike, *, external: External | None = None,
        gravity: ArrayLike | None = None, losses: bool = False, armature: ArrayLike | None = None,
        out: Floats | None = None, threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Joint forces (..., nv) that give the accelerations dv at the velocities v (N, N m).

        A floating base has the force, then the moment about its origin, in the axes of its body.
        With loops: those of the actuated joints, zero at the others.

        Source: recursive Newton-Euler (Luh, Walker, Paul 1980; Featherstone 2008, section 5.3).
        Raises: InputError, ShapeError, UnknownNameError.
        """
        return self._compute(
            "inverse_dynamics", (q, v, dv), (), out, threads, on_bad, external=external,
            gravity=gravity, losses=losses, armature=armature,
        )

    def bias_forces(
        self, q: ArrayLike, v: ArrayLike, *, external: External | None = None,
        gravity: ArrayLike | None = None, losses: bool = False, out: Floats | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Joint forces (..., nv) that keep the velocities v as they are (N, N m).

        Inverse dynamics at dv = 0: against gravity, Coriolis and centrifugal forces. With loops:
        those of the actuated joints that keep their own speeds.

        Raises: as `inverse_dynamics`.
        """
        return self._compute(
            "bias_forces", (q, v), (), out, threads, on_bad, external=external, gravity=gravity,
            losses=losses,
        )

    def path_forces(
        self, q: ArrayLike, v: ArrayLike, dv: ArrayLike, *, external: External | None = None,
        gravity: ArrayLike | None = None, armature: ArrayLike | None = None,
        out: Floats | None = None, threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Joint forces (..., 3, nv) along a path q(s): rows by d²s/dt², (ds/dt)² and 1.

        v and dv are dq/ds and d²q/ds². The rows times these three add up to `inverse_dynamics`,
        without losses, which are not of this form.

        Raises: as `inverse_dynamics`.
        """
        return self._compute(
            "path_forces", (q, v, dv), (), out, threads, on_bad, external=external, gravity=gravity,
            armature=armature,
        )

    def gravity_forces(
        self, q: ArrayLike, *, gravity: ArrayLike | None = None, out: Floats | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Joint forces (..., nv) that hold still against gravity (N, N m).

        With loops: those of the actuated joints.
        """
        return self._compute("gravity_forces", (q,), (), out, threads, on_bad, gravity=gravity)

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, external: External | None = None,
        gravity: ArrayLike | None = None, losses: bool = False, armature: ArrayLike | None = None,
        out: Floats | None = None, threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Accelerations (..., nv) that the joint forces tau give at the velocities v.

        Units: rad/s² for turns, m/s² for slides; a floating base has the time derivative of its v.
        With loops, those that keep them closed, where q and v are assembled.

        Source: articulated bodies (Featherstone 2008, section 7.3).
        Raises: as `inverse_dynamics`; InputError where a joint moves nothing that has inertia.
        """
        return self._compute(
            "forward_dynamics", (q, v, tau), (), out, threads, on_bad, external=external,
            gravity=gravity, losses=losses, armature=armature,
        )

    def mass_matrix(
        self, q: ArrayLike, *, armature: ArrayLike | None = None, out: Floats | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Mass matrix M (..., nv, nv), symmetric: the kinetic energy is half of v·M v.

        Source: composite bodies (Walker and Orin 1982; Featherstone 2008, section 6.2).
        Raises: as `inverse_dynamics`.
        """
        return self._compute("mass_matrix", (q,), (), out, threads, on_bad, armature=armature)

    def inverse_mass_matrix(
        self, q: ArrayLike, *, armature: ArrayLike | None = None, out: Floats | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """The inverse of the mass matrix (..., nv, nv), symmetric.

        Source: factors with the tree's sparsity (Featherstone 2005); Takahashi, Fagan, Chin (1973).
        Raises: as `forward_dynamics`.
        """
        return self._compute(
            "inverse_mass_matrix", (q,), (), out, threads, on_bad, armature=armature,
        )

    def coriolis_matrix(
        self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None, threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """C (..., nv, nv): C v and gravity's forces are the bias, and dM/dt - 2 C is skew.

        Source: Echeandia and Wensing, J. Comput. Nonlinear Dynamics 16 (2021).
        Raises: as `inverse_dynamics`.
        """
        return self._compute("coriolis_matrix", (q, v), (), out, threads, on_bad)

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, dv: ArrayLike, *, external: External | None = None,
        gravity: ArrayLike | None = None, losses: bool = False, armature: ArrayLike | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> InverseDerivatives:
        """Derivatives of `inverse_dynamics` with respect to q, v and dv, (..., nv, nv) each.

        q changes along the columns of v, as in `jacobian`. Friction, being constant but for its
        sign, has no derivative.

        Source: Carpentier and Mansard (2018); Singh, Russell, Wensing (2022).
        Raises: as `inverse_dynamics`.
        """
        return self._compute(
            "inverse_dynamics_derivatives", (q, v, dv), (), None, threads, on_bad,
            external=external, gravity=gravity, losses=losses, armature=armature,
        )

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, external: External | None = None,
        gravity: ArrayLike | None = None, losses: bool = False, armature: ArrayLike | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> ForwardDerivatives:
        """Derivatives of `forward_dynamics` with respect to q, v and tau, (..., nv, nv) each.

        q changes along the columns of v, as in `jacobian`.

        Source: Carpentier and Mansard (2018).
        Raises: as `forward_dynamics`.
        """
        return self._compute(
            "forward_dynamics_derivatives", (q, v, tau), (), None, threads, on_bad,
            external=external, gravity=gravity, losses=losses, armature=armature,
        )

    def regressor(
        self, q: ArrayLike, v: ArrayLike, dv: ArrayLike, *, gravity: ArrayLike | None = None,
        out: Floats | None = None, threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Y (..., nv, 10 nb): inverse dynamics is Y p, with ten numbers p for each body.

        They are m, m c (3) and ixx ixy ixz iyy iyz izz about the origin of the body's own link
        frame, in its axes; bodies in the order of `mechanism.body_names`. `inertial_parameters`
        gives them as they are.

        Source: Atkeson, An, Hollerbach, "Estimation of inertial parameters" (1986).
        Raises: InputError, ShapeError.
        """
        return self._compute("regressor", (q, v, dv), (), out, threads, on_bad, gravity=gravity)

    def kinetic_energy(
        self, q: ArrayLike, v: ArrayLike, *, armature: ArrayLike | None = None,
        out: Floats | None = None, threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Kinetic energy (...) of the whole mechanism, J."""
        return self._compute("kinetic_energy", (q, v), (), out, threads, on_bad, armature=armature)

    def potential_energy(
        self, q: ArrayLike, *, gravity: ArrayLike | None = None, out: Floats | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Energy (...) of the masses in gravity's field (J), zero at the world's origin."""
        return self._compute("potential_energy", (q,), (), out, threads, on_bad, gravity=gravity)

    def closure(
        self, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Distance of each row of each loop and coupling from being closed (..., n_c), m and rad.

        Raises: InputError where there are no loops or couplings, or one has no value.
        """
        return self._compute("closure", (q,), (), out, threads, on_bad)

    def closure_jacobian(
        self, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """The derivative of `closure` by v (..., n_c, nv), exact where q is assembled.

        Raises: InputError where there are no loops or couplings, or one has no value.
        """
        return self._compute("closure_jacobian", (q,), (), out, threads, on_bad)

    def closure_bias(
        self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None, threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """The closure's acceleration at dv = 0, dJ/dt v (..., n_c): J dv + this is zero.

        Rows as in `closure`, m/s² and rad/s². At q and v that are assembled.

        Raises: InputError where there are no loops or couplings.
        """
        return self._compute("closure_bias", (q, v), (), out, threads, on_bad)

    def loop_forces(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, external: External | None = None,
        gravity: ArrayLike | None = None, losses: bool = False, armature: ArrayLike | None = None,
        out: Floats | None = None, threads: int | None = None, on_bad: OnBad = "raise",
    ) -> Floats:
        """Constraint forces of the rows of `closure` (..., n_c) under joint forces tau (N, N m).

        On frame b, along and about the axes of frame a. Of redundant rows the least: measured by
        the root of what each moves.

        Raises: as `forward_dynamics`.
        """
        return self._compute(
            "loop_forces", (q, v, tau), (), out, threads, on_bad, external=external,
            gravity=gravity, losses=losses, armature=armature,
        )

    def loop_wrenches(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, external: External | None = None,
        gravity: ArrayLike | None = None, losses: bool = False, armature: ArrayLike | None = None,
        threads: int | None = None, on_bad: OnBad = "raise",
    ) -> dict[str, Floats]:
        """The wrench (..., 6) of each loop on its frame b, by the loop's name (N, N m).

        Force, then moment about the origin of frame b, in axes of frame a; the body of frame a has
        the opposite one along the same line. Keywords: see `Robot`.

        Raises: as `forward_dynamics`; InputError where there are no loops.
        """
        return self._compute(
            "loop_wrenches", (q, v, tau), (), None, threads, on_bad, external=external,
            gravity=gravity, losses=losses, armature=armature,
        )
