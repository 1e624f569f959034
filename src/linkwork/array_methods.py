"""The methods of compiled functions in JAX and PyTorch, from the registry.

Written by tools/docs/robot_methods.py: change the registry, and run it.
"""

# fmt: off

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from linkwork.algorithms.jacobian import Reference

Arrays: TypeAlias = Mapping[str, Any] | None
"""Arrays by name."""


class ArrayMethods(ABC):
    """One method for each algorithm of the registry, on arrays of another library.

    A method takes what the method of `Robot` takes, but for ``out``, ``threads`` and ``on_bad``,
    and gives what it gives. ``parameters`` maps names of numbers of the mechanism to arrays.
    """

    @abstractmethod
    def compute(self, algorithm: str, **bound: Any) -> Any:
        """The result of a method for its arguments by name."""

    def all_positions(self, q: Any, *, parameters: Arrays = None) -> Any:
        """Positions of all joints (..., n_all), in the order of `all_joint_names`."""
        return self.compute("all_positions", q=q, parameters=parameters)

    def integrate(self, q: Any, v: Any, *, parameters: Arrays = None) -> Any:
        """The configuration (..., nq) reached from q by the velocity v in one second."""
        return self.compute("integrate", q=q, v=v, parameters=parameters)

    def difference(self, q0: Any, q1: Any, *, parameters: Arrays = None) -> Any:
        """The velocity (..., nv) that takes q0 to q1 in one second."""
        return self.compute("difference", q0=q0, q1=q1, parameters=parameters)

    def fk(self, q: Any, frame: str | None = None, *, parameters: Arrays = None) -> Any:
        """Pose of a frame in the world, T_world_frame (..., 4, 4); default: `tip`."""
        return self.compute("fk", q=q, frame=frame, parameters=parameters)

    def fk_all(self, q: Any, *, parameters: Arrays = None) -> Any:
        """Poses of all frames in the world (..., nf, 4, 4), in the order of `frame_names`."""
        return self.compute("fk_all", q=q, parameters=parameters)

    def relative(self, q: Any, base: str, frame: str, *, parameters: Arrays = None) -> Any:
        """Pose of a frame in another one, T_base_frame (..., 4, 4).

        Joints that carry both frames, a floating base for instance, make no difference.
        """
        return self.compute("relative", q=q, base=base, frame=frame, parameters=parameters)

    def jacobian(
        self, q: Any, frame: str | None = None, *, reference: Reference = "world-aligned",
        parameters: Arrays = None,
    ) -> Any:
        """Jacobian of a frame (..., 6, nv), linear rows first; default: `tip`.

        ``reference``: "world-aligned" (velocity of the frame's origin, axes of the world),
        "local" (axes of the frame) or "world" (velocity at the world's origin).
        """
        return self.compute(
            "jacobian", q=q, frame=frame, reference=reference, parameters=parameters,
        )

    def jacobian_dot(
        self, q: Any, v: Any, frame: str | None = None, *, reference: Reference = "world-aligned",
        parameters: Arrays = None,
    ) -> Any:
        """The Jacobian's time derivative (..., 6, nv) while q moves with v, in its own axes."""
        return self.compute(
            "jacobian_dot", q=q, v=v, frame=frame, reference=reference, parameters=parameters,
        )

    def jacobian_dot_v(
        self, q: Any, v: Any, frame: str | None = None, *, reference: Reference = "world-aligned",
        parameters: Arrays = None,
    ) -> Any:
        """The Jacobian's time derivative times v (..., 6): the acceleration at dv/dt = 0."""
        return self.compute(
            "jacobian_dot_v", q=q, v=v, frame=frame, reference=reference, parameters=parameters,
        )

    def frame_velocity(
        self, q: Any, v: Any, frame: str | None = None, *, reference: Reference = "world-aligned",
        parameters: Arrays = None,
    ) -> Any:
        """Velocity of a frame (..., 6), linear first: `jacobian` times v. Default frame: `tip`.

        ``reference`` as in `jacobian`. Units: m/s, rad/s.
        """
        return self.compute(
            "frame_velocity", q=q, v=v, frame=frame, reference=reference, parameters=parameters,
        )

    def frame_acceleration(
        self, q: Any, v: Any, dv: Any, frame: str | None = None, *,
        reference: Reference = "world-aligned", parameters: Arrays = None,
    ) -> Any:
        """The time derivative of `frame_velocity` (..., 6); dv is that of v.

        Default frame: `tip`. ``reference`` as in `jacobian`. Units: m/s², rad/s².
        """
        return self.compute(
            "frame_acceleration", q=q, v=v, dv=dv, frame=frame, reference=reference,
            parameters=parameters,
        )

    def com(self, q: Any, *, parameters: Arrays = None) -> Any:
        """Centre of mass in the world (..., 3), the root link's mass included."""
        return self.compute("com", q=q, parameters=parameters)

    def com_jacobian(self, q: Any, *, parameters: Arrays = None) -> Any:
        """Jacobian of the centre of mass (..., 3, nv)."""
        return self.compute("com_jacobian", q=q, parameters=parameters)

    def com_velocity(self, q: Any, v: Any, *, parameters: Arrays = None) -> Any:
        """Velocity of the centre of mass (..., 3) in the world, m/s."""
        return self.compute("com_velocity", q=q, v=v, parameters=parameters)

    def com_acceleration(self, q: Any, v: Any, dv: Any, *, parameters: Arrays = None) -> Any:
        """Acceleration of the centre of mass (..., 3) in the world, m/s²."""
        return self.compute("com_acceleration", q=q, v=v, dv=dv, parameters=parameters)

    def centroidal_momentum(self, q: Any, v: Any, *, parameters: Arrays = None) -> Any:
        """Momentum (..., 6): linear, then angular about the centre of mass, world axes.

        Units: kg m/s and kg m²/s. Source: Orin, Goswami, Lee, Autonomous Robots 35 (2013).
        """
        return self.compute("centroidal_momentum", q=q, v=v, parameters=parameters)

    def centroidal_matrix(self, q: Any, *, parameters: Arrays = None) -> Any:
        """The matrix (..., 6, nv) that makes `centroidal_momentum` of v.

        Source: Orin, Goswami, Lee, Autonomous Robots 35 (2013).
        """
        return self.compute("centroidal_matrix", q=q, parameters=parameters)

    def inverse_dynamics(
        self, q: Any, v: Any, dv: Any, *, external: Arrays = None, gravity: Any = None,
        losses: bool = False, armature: Any = None, parameters: Arrays = None,
    ) -> Any:
        """Joint forces (..., nv) that give the accelerations dv at the velocities v (N, N m).

        A floating base has the force, then the moment about its origin, in the axes of its body.
        With loops: those of the actuated joints, zero at the others.

        Source: recursive Newton-Euler (Luh, Walker, Paul 1980; Featherstone 2008, section 5.3).
        Raises: InputError, ShapeError, UnknownNameError.
        """
        return self.compute(
            "inverse_dynamics", q=q, v=v, dv=dv, external=external, gravity=gravity, losses=losses,
            armature=armature, parameters=parameters,
        )

    def bias_forces(
        self, q: Any, v: Any, *, external: Arrays = None, gravity: Any = None, losses: bool = False,
        parameters: Arrays = None,
    ) -> Any:
        """Joint forces (..., nv) that keep the velocities v as they are (N, N m).

        Inverse dynamics at dv = 0: against gravity, Coriolis and centrifugal forces. With loops:
        those of the actuated joints that keep their own speeds.

        Raises: as `inverse_dynamics`.
        """
        return self.compute(
            "bias_forces", q=q, v=v, external=external, gravity=gravity, losses=losses,
            parameters=parameters,
        )

    def path_forces(
        self, q: Any, v: Any, dv: Any, *, external: Arrays = None, gravity: Any = None,
        armature: Any = None, parameters: Arrays = None,
    ) -> Any:
        """Joint forces (..., 3, nv) along a path q(s): rows by d²s/dt², (ds/dt)² and 1.

        v and dv are dq/ds and d²q/ds². The rows times these three add up to `inverse_dynamics`,
        without losses, which are not of this form.

        Raises: as `inverse_dynamics`.
        """
        return self.compute(
            "path_forces", q=q, v=v, dv=dv, external=external, gravity=gravity, armature=armature,
            parameters=parameters,
        )

    def gravity_forces(self, q: Any, *, gravity: Any = None, parameters: Arrays = None) -> Any:
        """Joint forces (..., nv) that hold still against gravity (N, N m).

        With loops: those of the actuated joints.
        """
        return self.compute("gravity_forces", q=q, gravity=gravity, parameters=parameters)

    def forward_dynamics(
        self, q: Any, v: Any, tau: Any, *, external: Arrays = None, gravity: Any = None,
        losses: bool = False, armature: Any = None, parameters: Arrays = None,
    ) -> Any:
        """Accelerations (..., nv) that the joint forces tau give at the velocities v.

        Units: rad/s² for turns, m/s² for slides; a floating base has the time derivative of its v.
        With loops, those that keep them closed, where q and v are assembled.

        Source: articulated bodies (Featherstone 2008, section 7.3).
        Raises: as `inverse_dynamics`; InputError where a joint moves nothing that has inertia.
        """
        return self.compute(
            "forward_dynamics", q=q, v=v, tau=tau, external=external, gravity=gravity,
            losses=losses, armature=armature, parameters=parameters,
        )

    def mass_matrix(self, q: Any, *, armature: Any = None, parameters: Arrays = None) -> Any:
        """Mass matrix M (..., nv, nv), symmetric: the kinetic energy is half of v·M v.

        Source: composite bodies (Walker and Orin 1982; Featherstone 2008, section 6.2).
        Raises: as `inverse_dynamics`.
        """
        return self.compute("mass_matrix", q=q, armature=armature, parameters=parameters)

    def inverse_mass_matrix(
        self, q: Any, *, armature: Any = None, parameters: Arrays = None,
    ) -> Any:
        """The inverse of the mass matrix (..., nv, nv), symmetric.

        Source: factors with the tree's sparsity (Featherstone 2005); Takahashi, Fagan, Chin (1973).
        Raises: as `forward_dynamics`.
        """
        return self.compute("inverse_mass_matrix", q=q, armature=armature, parameters=parameters)

    def coriolis_matrix(self, q: Any, v: Any, *, parameters: Arrays = None) -> Any:
        """C (..., nv, nv): C v and gravity's forces are the bias, and dM/dt - 2 C is skew.

        Source: Echeandia and Wensing, J. Comput. Nonlinear Dynamics 16 (2021).
        Raises: as `inverse_dynamics`.
        """
        return self.compute("coriolis_matrix", q=q, v=v, parameters=parameters)

    def inverse_dynamics_derivatives(
        self, q: Any, v: Any, dv: Any, *, external: Arrays = None, gravity: Any = None,
        losses: bool = False, armature: Any = None, parameters: Arrays = None,
    ) -> Any:
        """Derivatives of `inverse_dynamics` with respect to q, v and dv, (..., nv, nv) each.

        q changes along the columns of v, as in `jacobian`. Friction, being constant but for its
        sign, has no derivative.

        Source: Carpentier and Mansard (2018); Singh, Russell, Wensing (2022).
        Raises: as `inverse_dynamics`.
        """
        return self.compute(
            "inverse_dynamics_derivatives", q=q, v=v, dv=dv, external=external, gravity=gravity,
            losses=losses, armature=armature, parameters=parameters,
        )

    def forward_dynamics_derivatives(
        self, q: Any, v: Any, tau: Any, *, external: Arrays = None, gravity: Any = None,
        losses: bool = False, armature: Any = None, parameters: Arrays = None,
    ) -> Any:
        """Derivatives of `forward_dynamics` with respect to q, v and tau, (..., nv, nv) each.

        q changes along the columns of v, as in `jacobian`.

        Source: Carpentier and Mansard (2018).
        Raises: as `forward_dynamics`.
        """
        return self.compute(
            "forward_dynamics_derivatives", q=q, v=v, tau=tau, external=external, gravity=gravity,
            losses=losses, armature=armature, parameters=parameters,
        )

    def regressor(
        self, q: Any, v: Any, dv: Any, *, gravity: Any = None, parameters: Arrays = None,
    ) -> Any:
        """Y (..., nv, 10 nb): inverse dynamics is Y p, with ten numbers p for each body.

        They are m, m c (3) and ixx ixy ixz iyy iyz izz about the origin of the body's own link
        frame, in its axes; bodies in the order of `mechanism.body_names`. `inertial_parameters`
        gives them as they are.

        Source: Atkeson, An, Hollerbach, "Estimation of inertial parameters" (1986).
        Raises: InputError, ShapeError.
        """
        return self.compute("regressor", q=q, v=v, dv=dv, gravity=gravity, parameters=parameters)

    def kinetic_energy(
        self, q: Any, v: Any, *, armature: Any = None, parameters: Arrays = None,
    ) -> Any:
        """Kinetic energy (...) of the whole mechanism, J."""
        return self.compute("kinetic_energy", q=q, v=v, armature=armature, parameters=parameters)

    def potential_energy(self, q: Any, *, gravity: Any = None, parameters: Arrays = None) -> Any:
        """Energy (...) of the masses in gravity's field (J), zero at the world's origin."""
        return self.compute("potential_energy", q=q, gravity=gravity, parameters=parameters)

    def closure(self, q: Any, *, parameters: Arrays = None) -> Any:
        """Distance of each row of each loop and coupling from being closed (..., n_c), m and rad.

        Raises: InputError where there are no loops or couplings, or one has no value.
        """
        return self.compute("closure", q=q, parameters=parameters)

    def closure_jacobian(self, q: Any, *, parameters: Arrays = None) -> Any:
        """The derivative of `closure` by v (..., n_c, nv), exact where q is assembled.

        Raises: InputError where there are no loops or couplings, or one has no value.
        """
        return self.compute("closure_jacobian", q=q, parameters=parameters)

    def closure_bias(self, q: Any, v: Any, *, parameters: Arrays = None) -> Any:
        """The closure's acceleration at dv = 0, dJ/dt v (..., n_c): J dv + this is zero.

        Rows as in `closure`, m/s² and rad/s². At q and v that are assembled.

        Raises: InputError where there are no loops or couplings.
        """
        return self.compute("closure_bias", q=q, v=v, parameters=parameters)

    def loop_forces(
        self, q: Any, v: Any, tau: Any, *, external: Arrays = None, gravity: Any = None,
        losses: bool = False, armature: Any = None, parameters: Arrays = None,
    ) -> Any:
        """Constraint forces of the rows of `closure` (..., n_c) under joint forces tau (N, N m).

        On frame b, along and about the axes of frame a. Of redundant rows the least: measured by
        the root of what each moves.

        Raises: as `forward_dynamics`.
        """
        return self.compute(
            "loop_forces", q=q, v=v, tau=tau, external=external, gravity=gravity, losses=losses,
            armature=armature, parameters=parameters,
        )

    def loop_wrenches(
        self, q: Any, v: Any, tau: Any, *, external: Arrays = None, gravity: Any = None,
        losses: bool = False, armature: Any = None, parameters: Arrays = None,
    ) -> Any:
        """The wrench (..., 6) of each loop on its frame b, by the loop's name (N, N m).

        Force, then moment about the origin of frame b, in axes of frame a; the body of frame a has
        the opposite one along the same line. Keywords: see `Robot`.

        Raises: as `forward_dynamics`; InputError where there are no loops.
        """
        return self.compute(
            "loop_wrenches", q=q, v=v, tau=tau, external=external, gravity=gravity, losses=losses,
            armature=armature, parameters=parameters,
        )

    def passive_rates(self, q: Any, *, parameters: Arrays = None) -> Any:
        """Derivatives (..., nv, n_actuated) of v by the speeds of the actuated joints."""
        return self.compute("passive_rates", q=q, parameters=parameters)

    def actuation_jacobian(
        self, q: Any, frame: str | None = None, *, reference: Reference = "world-aligned",
        parameters: Arrays = None,
    ) -> Any:
        """Velocity of a frame (..., 6, n_actuated) by the speeds of the actuated joints."""
        return self.compute(
            "actuation_jacobian", q=q, frame=frame, reference=reference, parameters=parameters,
        )
