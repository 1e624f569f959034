"""The methods of `Robot` that compute.

Written by tools/docs/robot_methods.py: change the registry, and run it.
"""

# ruff: noqa: PLR0913  the keywords that all of dynamics has

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork.algorithms.registry import ForwardDerivatives, InverseDerivatives
from linkwork.programs import Compiled, name_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from linkwork.algorithms.jacobian import Reference
    from linkwork.compile.kernel import OnBad
    from linkwork.mechanism.parameters import External

    Floats = NDArray[np.float64]


class RobotMethods:
    """One method for each algorithm of the registry; `Robot` says what their keywords mean."""

    if TYPE_CHECKING:
        _with_inputs: Callable[..., Floats]

    _all_positions = Compiled("all_positions")
    _integrate = Compiled("integrate")
    _difference = Compiled("difference")
    _fk = Compiled("fk")
    _fk_all = Compiled("fk_all")
    _relative = Compiled("relative")
    _jacobian = Compiled("jacobian")
    _jacobian_dot = Compiled("jacobian_dot")
    _jacobian_dot_v = Compiled("jacobian_dot_v")
    _frame_velocity = Compiled("frame_velocity")
    _frame_acceleration = Compiled("frame_acceleration")
    _com = Compiled("com")
    _com_jacobian = Compiled("com_jacobian")
    _com_velocity = Compiled("com_velocity")
    _com_acceleration = Compiled("com_acceleration")
    _centroidal_momentum = Compiled("centroidal_momentum")
    _centroidal_matrix = Compiled("centroidal_matrix")
    _inverse_dynamics = Compiled("inverse_dynamics")
    _bias_forces = Compiled("bias_forces")
    _gravity_forces = Compiled("gravity_forces")
    _forward_dynamics = Compiled("forward_dynamics")
    _mass_matrix = Compiled("mass_matrix")
    _inverse_mass_matrix = Compiled("inverse_mass_matrix")
    _coriolis_matrix = Compiled("coriolis_matrix")
    _regressor = Compiled("regressor")
    _kinetic_energy = Compiled("kinetic_energy")
    _potential_energy = Compiled("potential_energy")
    _closure = Compiled("closure")
    _closure_jacobian = Compiled("closure_jacobian")
    _closure_bias = Compiled("closure_bias")
    _loop_forces = Compiled("loop_forces")

    def all_positions(
        self,
        q: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Positions of all joints (..., n_all), in the order of `all_joint_names`."""
        return self._all_positions(q, out=out, threads=threads, on_bad=on_bad)

    def integrate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """The configuration (..., nq) reached from q by the velocity v in one second."""
        return self._integrate(q, v, out=out, threads=threads, on_bad=on_bad)

    def difference(
        self,
        q0: ArrayLike,
        q1: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """The velocity (..., nv) that takes q0 to q1 in one second."""
        return self._difference(q0, q1, out=out, threads=threads, on_bad=on_bad)

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
        try:
            function = self._fk[frame]
        except TypeError as error:
            raise name_error(error, frame) from None
        return function(q, out=out, threads=threads, on_bad=on_bad)

    def fk_all(
        self,
        q: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Poses of all frames in the world (..., nf, 4, 4), in the order of `frame_names`."""
        return self._fk_all(q, out=out, threads=threads, on_bad=on_bad)

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
        try:
            function = self._relative[base][frame]
        except TypeError as error:
            raise name_error(error, base, frame) from None
        return function(q, out=out, threads=threads, on_bad=on_bad)

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
        """Jacobian of a frame (..., 6, nv), linear rows first; default: `tip`.

        ``reference``: "world-aligned" (velocity of the frame's origin, axes of the world),
        "local" (axes of the frame) or "world" (velocity at the world's origin).
        """
        try:
            function = self._jacobian[frame][reference]
        except TypeError as error:
            raise name_error(error, frame, reference) from None
        return function(q, out=out, threads=threads, on_bad=on_bad)

    def jacobian_dot(
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
        """The Jacobian's time derivative (..., 6, nv) while q moves with v, in its own axes."""
        try:
            function = self._jacobian_dot[frame][reference]
        except TypeError as error:
            raise name_error(error, frame, reference) from None
        return function(q, v, out=out, threads=threads, on_bad=on_bad)

    def jacobian_dot_v(
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
        """The Jacobian's time derivative times v (..., 6): the acceleration at dv/dt = 0."""
        try:
            function = self._jacobian_dot_v[frame][reference]
        except TypeError as error:
            raise name_error(error, frame, reference) from None
        return function(q, v, out=out, threads=threads, on_bad=on_bad)

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
        try:
            function = self._frame_velocity[frame][reference]
        except TypeError as error:
            raise name_error(error, frame, reference) from None
        return function(q, v, out=out, threads=threads, on_bad=on_bad)

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
        """The time derivative of `frame_velocity` (..., 6); dv is that of v.

        Default frame: `tip`. ``reference`` as in `jacobian`. Units: m/s², rad/s².
        """
        try:
            function = self._frame_acceleration[frame][reference]
        except TypeError as error:
            raise name_error(error, frame, reference) from None
        return function(q, v, dv, out=out, threads=threads, on_bad=on_bad)

    def com(
        self,
        q: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Centre of mass in the world (..., 3), the root link's mass included."""
        return self._com(q, out=out, threads=threads, on_bad=on_bad)

    def com_jacobian(
        self,
        q: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Jacobian of the centre of mass (..., 3, nv)."""
        return self._com_jacobian(q, out=out, threads=threads, on_bad=on_bad)

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
        return self._com_velocity(q, v, out=out, threads=threads, on_bad=on_bad)

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
        return self._com_acceleration(q, v, dv, out=out, threads=threads, on_bad=on_bad)

    def centroidal_momentum(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Momentum (..., 6): linear, then angular about the centre of mass, world axes.

        Units: kg m/s and kg m²/s. Source: Orin, Goswami, Lee, Autonomous Robots 35 (2013).
        """
        return self._centroidal_momentum(q, v, out=out, threads=threads, on_bad=on_bad)

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
        return self._centroidal_matrix(q, out=out, threads=threads, on_bad=on_bad)

    def inverse_dynamics(
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
        With loops: those of the actuated joints, zero at the others.

        Source: recursive Newton-Euler (Luh, Walker, Paul 1980; Featherstone 2008, section 5.3).
        Raises: InputError, ShapeError, UnknownNameError.
        """
        if external is None and gravity is None and losses is False and armature is None:
            return self._inverse_dynamics(q, v, dv, out=out, threads=threads, on_bad=on_bad)
        keywords = dict(external=external, gravity=gravity, losses=losses, armature=armature)
        name, arrays = "inverse_dynamics", (q, v, dv)
        return self._with_inputs(name, arrays, keywords, out, threads, on_bad)

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
        those of the actuated joints that keep their own speeds.

        Raises: as `inverse_dynamics`.
        """
        if external is None and gravity is None and losses is False:
            return self._bias_forces(q, v, out=out, threads=threads, on_bad=on_bad)
        keywords = dict(external=external, gravity=gravity, losses=losses)
        name, arrays = "bias_forces", (q, v)
        return self._with_inputs(name, arrays, keywords, out, threads, on_bad)

    def gravity_forces(
        self,
        q: ArrayLike,
        *,
        gravity: ArrayLike | None = None,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Joint forces (..., nv) that hold still against gravity (N, N m).

        With loops: those of the actuated joints.
        """
        if gravity is None:
            return self._gravity_forces(q, out=out, threads=threads, on_bad=on_bad)
        keywords = dict(gravity=gravity)
        name, arrays = "gravity_forces", (q,)
        return self._with_inputs(name, arrays, keywords, out, threads, on_bad)

    def forward_dynamics(
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
        With loops, those that keep them closed, where q and v are assembled.

        Source: articulated bodies (Featherstone 2008, section 7.3).
        Raises: as `inverse_dynamics`; InputError where a joint moves nothing that has inertia.
        """
        if external is None and gravity is None and losses is False and armature is None:
            return self._forward_dynamics(q, v, tau, out=out, threads=threads, on_bad=on_bad)
        keywords = dict(external=external, gravity=gravity, losses=losses, armature=armature)
        name, arrays = "forward_dynamics", (q, v, tau)
        return self._with_inputs(name, arrays, keywords, out, threads, on_bad)

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
        if armature is None:
            return self._mass_matrix(q, out=out, threads=threads, on_bad=on_bad)
        keywords = dict(armature=armature)
        name, arrays = "mass_matrix", (q,)
        return self._with_inputs(name, arrays, keywords, out, threads, on_bad)

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
        if armature is None:
            return self._inverse_mass_matrix(q, out=out, threads=threads, on_bad=on_bad)
        keywords = dict(armature=armature)
        name, arrays = "inverse_mass_matrix", (q,)
        return self._with_inputs(name, arrays, keywords, out, threads, on_bad)

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
        return self._coriolis_matrix(q, v, out=out, threads=threads, on_bad=on_bad)

    def inverse_dynamics_derivatives(
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

        q changes along the columns of v, as in `jacobian`. Friction, being constant but for its
        sign, has no derivative.

        Source: Carpentier and Mansard (2018); Singh, Russell, Wensing (2022).
        Raises: as `inverse_dynamics`.
        """
        keywords = dict(external=external, gravity=gravity, losses=losses, armature=armature)
        name, arrays = "inverse_dynamics_derivatives", (q, v, dv)
        found = self._with_inputs(name, arrays, keywords, None, threads, on_bad)
        return InverseDerivatives(*np.moveaxis(found, -3, 0))

    def forward_dynamics_derivatives(
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

        q changes along the columns of v, as in `jacobian`.

        Source: Carpentier and Mansard (2018).
        Raises: as `forward_dynamics`.
        """
        keywords = dict(external=external, gravity=gravity, losses=losses, armature=armature)
        name, arrays = "forward_dynamics_derivatives", (q, v, tau)
        found = self._with_inputs(name, arrays, keywords, None, threads, on_bad)
        return ForwardDerivatives(*np.moveaxis(found, -3, 0))

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
        frame, in its axes; bodies in the order of `mechanism.body_names`. `inertial_parameters`
        gives them as they are.

        Source: Atkeson, An, Hollerbach, "Estimation of inertial parameters" (1986).
        Raises: InputError, ShapeError.
        """
        if gravity is None:
            return self._regressor(q, v, dv, out=out, threads=threads, on_bad=on_bad)
        keywords = dict(gravity=gravity)
        name, arrays = "regressor", (q, v, dv)
        return self._with_inputs(name, arrays, keywords, out, threads, on_bad)

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
        if armature is None:
            return self._kinetic_energy(q, v, out=out, threads=threads, on_bad=on_bad)
        keywords = dict(armature=armature)
        name, arrays = "kinetic_energy", (q, v)
        return self._with_inputs(name, arrays, keywords, out, threads, on_bad)

    def potential_energy(
        self,
        q: ArrayLike,
        *,
        gravity: ArrayLike | None = None,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Energy (...) of the masses in gravity's field (J), zero at the world's origin."""
        if gravity is None:
            return self._potential_energy(q, out=out, threads=threads, on_bad=on_bad)
        keywords = dict(gravity=gravity)
        name, arrays = "potential_energy", (q,)
        return self._with_inputs(name, arrays, keywords, out, threads, on_bad)

    def closure(
        self,
        q: ArrayLike,
        *,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Distance of each row of each loop and coupling from being closed (..., n_c), m and rad.

        Raises: InputError where there are no loops or couplings, or one has no value.
        """
        return self._closure(q, out=out, threads=threads, on_bad=on_bad)

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
        return self._closure_jacobian(q, out=out, threads=threads, on_bad=on_bad)

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
        return self._closure_bias(q, v, out=out, threads=threads, on_bad=on_bad)

    def loop_forces(
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
        """Constraint forces of the rows of `closure` (..., n_c) under joint forces tau (N, N m).

        On frame b, along and about the axes of frame a. Of redundant rows the least: measured by
        the root of what each moves.

        Raises: as `forward_dynamics`.
        """
        if external is None and gravity is None and losses is False and armature is None:
            return self._loop_forces(q, v, tau, out=out, threads=threads, on_bad=on_bad)
        keywords = dict(external=external, gravity=gravity, losses=losses, armature=armature)
        name, arrays = "loop_forces", (q, v, tau)
        return self._with_inputs(name, arrays, keywords, out, threads, on_bad)
