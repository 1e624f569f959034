"""Kinematics and dynamics of a model: the algorithms' passes, run by scans (`sweep.py`).

Each takes q (..., nq) with any leading shape, as the methods of `Robot` do, and gives that leading
shape back. Units and frames are those of `Robot`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy
import numpy as np
from numpy.typing import ArrayLike

from linkwork.algorithms import configuration
from linkwork.algorithms.configuration import one_difference, one_integrated
from linkwork.algorithms.jacobian import Reference
from linkwork.algorithms.registry import find
from linkwork.algorithms.sweep import bodies_of as carrying
from linkwork.checks import leading_shape
from linkwork.errors import InputError, ShapeError
from linkwork.jax import closed
from linkwork.jax.model import Array, Model, bodies_of, model_of, real_array
from linkwork.jax.sweep import Acting, JaxSweep
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.parameters import check_acting, of_rotors
from linkwork.ops.jax import JAX
from linkwork.robot import Robot

jnp: Any = jax.numpy

External: TypeAlias = Mapping[str, ArrayLike]
"""Wrenches (..., 6) by frame: force, then moment about the frame's origin, world axes."""


def robot(robot: Robot | Mechanism, *, dtype: Any = None) -> Model:
    """The model of a robot: a pytree of its numbers, its structure static.

    ``dtype``: a float type; by default JAX's, float32 unless ``jax_enable_x64`` is on.

    Raises: InputError for what is no robot.
    """
    if isinstance(robot, Mechanism):
        return model_of(robot, None, dtype)
    if not isinstance(robot, Robot):
        raise InputError(f"a model is made of a Robot, as linkwork.load gives, not {robot!r:.40}")
    try:
        tip = robot.tip
    except InputError:
        tip = None
    return model_of(robot.mechanism, tip, dtype)


# --------------------------------------------------------------------------- arguments, and the run


def model_given(m: Model) -> Mechanism:
    """The mechanism of a model.

    Raises: InputError for what is none.
    """
    if not isinstance(m, Model):
        raise InputError(f"the model is what lj.robot(robot) gives, not {m!r:.40}")
    return m.mechanism


def numbers(x: ArrayLike, n: int, what: str) -> Array:
    """An input as floats of JAX.

    Raises: ShapeError where its last axis does not have n numbers; InputError.
    """
    array = real_array(x, what)
    if not jnp.issubdtype(array.dtype, jnp.floating):
        array = array.astype(float)
    if array.ndim == 0 or array.shape[-1] != n:
        raise ShapeError(f"{what} has the shape (..., {n}), not {array.shape}")
    return array


def frame_of(m: Model, frame: str | None) -> str:
    """The frame that is meant.

    Raises: UnknownNameError; InputError where none is named and there is no tip.
    """
    mechanism = model_given(m)
    if frame is None:
        if m.tip is None:
            raise InputError("name the frame: this robot has no single tip")
        return m.tip
    mechanism.frame(frame)
    return frame


def acting(
    m: Model,
    external: External | None,
    gravity: ArrayLike | None,
    losses: bool = False,
    armature: ArrayLike | None = None,
) -> Acting:
    """The loads that act, checked.

    Raises: UnknownNameError, ShapeError, InputError.
    """
    mechanism = model_given(m)
    check_acting(mechanism, external, losses)
    wrenches = {
        name: numbers(value, 6, f"external of '{name}'") for name, value in (external or {}).items()
    }
    if armature is not None and jnp.ndim(armature := real_array(armature, "armature")) == 0:
        armature = jnp.where(of_rotors(mechanism, 1.0) > 0.0, armature, 0.0)
    return Acting(
        bool(losses),
        wrenches or None,
        None if gravity is None else numbers(gravity, 3, "gravity"),
        None if armature is None else numbers(armature, mechanism.n_v, "armature"),
    )


def _check_shapes(by: Acting, **inputs: Array) -> None:
    """Check that the leading shapes of inputs and of what acts go together.

    Raises: ShapeError.
    """
    more = {"gravity": by.gravity, "armature": by.armature, **(by.external or {})}
    leading_shape(inputs | {name: x for name, x in more.items() if x is not None})


def given_of(by: Acting) -> list[str]:
    """The quantities that are given, as a description's checks name them."""
    return ["armature"] if by.armature is not None else []


def passes(
    name: str, m: Model, inputs: tuple[Array, ...], by: Acting | None = None, **static: Any
) -> Array:
    """An algorithm of the registry in its passes, for inputs (..., n)."""
    by_sweep: Callable[..., Any] | None = find(name).in_passes
    assert by_sweep is not None  # noqa: S101  only those that have passes are asked for
    sweep: Any = JaxSweep(m, bodies_of(m), inputs, carrying(m.mechanism, static), acting=by)
    return by_sweep(sweep, *sweep.inputs[1:], **static).block()


@partial(jax.jit, static_argnames=("name", "losses", "frame", "base", "reference"))
def _run(
    name: str, m: Model, inputs: tuple[Array, ...], by: tuple[Any, ...] = (None, None, None),
    *, losses: bool = False, **static: Any,
) -> Array:  # fmt: skip
    return passes(name, m, inputs, Acting(losses, *by), **static)


def _of(name: str, m: Model, *given: ArrayLike, by: Acting | None = None, **static: Any) -> Array:
    """An algorithm of the registry for inputs in its order, under what acts."""
    mechanism, by, entry = model_given(m), by or Acting(), find(name)
    entry.check(mechanism, given_of(by))
    inputs = tuple(
        numbers(x, mechanism.n_q if kind == "q" else mechanism.n_v, key)
        for x, (key, kind) in zip(given, entry.inputs, strict=True)
    )
    _check_shapes(by, **dict(zip((key for key, _ in entry.inputs), inputs, strict=True)))
    return _run(name, m, inputs, by[1:], losses=by.losses, **static)


# -------------------------------------------------------------------------------------- kinematics


def fk(m: Model, q: ArrayLike, frame: str | None = None) -> Array:
    """Pose of a frame in the world, T_world_frame (..., 4, 4); default: the robot's tip.

    Raises: UnknownNameError, ShapeError.
    """
    return _of("fk", m, q, frame=frame_of(m, frame))


def fk_all(m: Model, q: ArrayLike) -> Array:
    """Poses of all frames in the world (..., nf, 4, 4), in the order of `frame_names`.

    Raises: ShapeError.
    """
    return _of("fk_all", m, q)


def relative(m: Model, q: ArrayLike, base: str, frame: str) -> Array:
    """Pose of a frame in another one, T_base_frame (..., 4, 4).

    Raises: UnknownNameError, ShapeError.
    """
    return _of("relative", m, q, base=frame_of(m, base), frame=frame_of(m, frame))


def jacobian(
    m: Model, q: ArrayLike, frame: str | None = None, *, reference: Reference = "world-aligned"
) -> Array:
    """Jacobian of a frame (..., 6, nv), linear rows first; default: the robot's tip.

    ``reference``: "world-aligned" (velocity of the frame's origin, axes of the world), "local"
    (axes of the frame) or "world" (velocity at the world's origin).

    Raises: UnknownNameError, ShapeError, InputError.
    """
    return _of("jacobian", m, q, frame=frame_of(m, frame), reference=reference)


def jacobian_dot(
    m: Model, q: ArrayLike, v: ArrayLike, frame: str | None = None,
    *, reference: Reference = "world-aligned",
) -> Array:  # fmt: skip
    """The Jacobian's time derivative (..., 6, nv) while q moves with v, in its own axes.

    Raises: as `jacobian`.
    """
    return _of_frame("jacobian_dot", m, frame, reference, q, v)


def jacobian_dot_v(
    m: Model, q: ArrayLike, v: ArrayLike, frame: str | None = None,
    *, reference: Reference = "world-aligned",
) -> Array:  # fmt: skip
    """The Jacobian's time derivative times v (..., 6): the acceleration at dv/dt = 0.

    Raises: as `jacobian`.
    """
    return _of_frame("jacobian_dot_v", m, frame, reference, q, v)


def frame_velocity(
    m: Model, q: ArrayLike, v: ArrayLike, frame: str | None = None,
    *, reference: Reference = "world-aligned",
) -> Array:  # fmt: skip
    """Velocity of a frame (..., 6), linear first: `jacobian` times v. Units: m/s, rad/s.

    Raises: as `jacobian`.
    """
    return _of_frame("frame_velocity", m, frame, reference, q, v)


def frame_acceleration(
    m: Model, q: ArrayLike, v: ArrayLike, dv: ArrayLike, frame: str | None = None,
    *, reference: Reference = "world-aligned",
) -> Array:  # fmt: skip
    """The time derivative of `frame_velocity` (..., 6); dv is that of v. Units: m/s², rad/s².

    Raises: as `jacobian`.
    """
    return _of_frame("frame_acceleration", m, frame, reference, q, v, dv)


def _of_frame(
    name: str, m: Model, frame: str | None, reference: Reference, *motion: ArrayLike
) -> Array:
    return _of(name, m, *motion, frame=frame_of(m, frame), reference=reference)


def all_positions(m: Model, q: ArrayLike) -> Array:
    """Positions of all joints (..., n), in the order of `all_joint_names`.

    Raises: ShapeError.
    """
    mechanism = model_given(m)
    return _all_positions(m, numbers(q, mechanism.n_q, "q"))


@jax.jit
def _all_positions(m: Model, q: Array) -> Array:
    one = partial(configuration.all_positions, JAX, m.mechanism)
    for _ in range(q.ndim - 1):
        one = jax.vmap(one)
    return one(q)


def com(m: Model, q: ArrayLike) -> Array:
    """Centre of mass in the world (..., 3), the root link's mass included.

    Raises: ShapeError, InputError where the masses do not add up to more than zero.
    """
    return _of("com", m, q)


def com_jacobian(m: Model, q: ArrayLike) -> Array:
    """Jacobian of the centre of mass (..., 3, nv).

    Raises: as `com`.
    """
    return _of("com_jacobian", m, q)


def com_velocity(m: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Velocity of the centre of mass (..., 3) in the world, m/s.

    Raises: as `com`.
    """
    return _of("com_velocity", m, q, v)


def com_acceleration(m: Model, q: ArrayLike, v: ArrayLike, dv: ArrayLike) -> Array:
    """Acceleration of the centre of mass (..., 3) in the world, m/s².

    Raises: as `com`.
    """
    return _of("com_acceleration", m, q, v, dv)


def centroidal_momentum(m: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Momentum (..., 6): linear, then angular about the centre of mass; kg m/s and kg m²/s.

    Source: Orin, Goswami, Lee, Autonomous Robots 35 (2013).
    Raises: as `com`; InputError where a link has no inertia.
    """
    return _of("centroidal_momentum", m, q, v)


def centroidal_matrix(m: Model, q: ArrayLike) -> Array:
    """The matrix (..., 6, nv) that makes `centroidal_momentum` of v.

    Raises: as `centroidal_momentum`.
    """
    return _of("centroidal_matrix", m, q)


@jax.jit
def _integrated(m: Model, q: Array, v: Array) -> Array:
    return _by_joint(m.mechanism, one_integrated, q, v, positions=True)


@jax.jit
def _difference(m: Model, q0: Array, q1: Array) -> Array:
    return _by_joint(m.mechanism, one_difference, q0, q1, positions=False)


def integrate(m: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """The configuration (..., nq) reached from q by the velocity v in one second.

    Raises: ShapeError.
    """
    mechanism = model_given(m)
    at, way = numbers(q, mechanism.n_q, "q"), numbers(v, mechanism.n_v, "v")
    leading_shape({"q": at, "v": way})
    return _integrated(m, at, way)


def difference(m: Model, q0: ArrayLike, q1: ArrayLike) -> Array:
    """The velocity (..., nv) that takes q0 to q1 in one second.

    Raises: ShapeError.
    """
    mechanism = model_given(m)
    start, end = numbers(q0, mechanism.n_q, "q0"), numbers(q1, mechanism.n_q, "q1")
    leading_shape({"q0": start, "q1": end})
    return _difference(m, start, end)


def _by_joint(m: Mechanism, one: Any, a: Array, b: Array, *, positions: bool) -> Array:
    """A function applied joint by joint: to quaternions one by one, to all others at once."""
    batch = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    a, b = (jnp.broadcast_to(x, (*batch, x.shape[-1])) for x in (a, b))
    plain = [c for c, type in enumerate(m.joint_types) if not type.has_quaternion]
    own_b = m.v_indices(plain) if positions else m.q_indices(plain)
    size = m.n_q if positions else m.n_v
    found = jnp.zeros((*batch, size), jnp.result_type(a, b))
    of_a, of_b = a[..., m.q_indices(plain)], b[..., own_b]
    at = m.q_indices(plain) if positions else m.v_indices(plain)
    found = found.at[..., at].set(of_a + of_b if positions else of_b - of_a, unique_indices=True)
    for c, type in enumerate(m.joint_types):
        if type.has_quaternion:
            own = partial(one, JAX, type)
            for _ in batch:
                own = jax.vmap(own)
            other = m.v_slice(c) if positions else m.q_slice(c)
            value = own(a[..., m.q_slice(c)], b[..., other])
            part = m.q_slice(c) if positions else m.v_slice(c)
            found = found.at[..., part].set(value.astype(found.dtype), unique_indices=True)
    return found


# ---------------------------------------------------------------------------------------- dynamics


def mass_matrix(m: Model, q: ArrayLike, *, armature: ArrayLike | None = None) -> Array:
    """Mass matrix (..., nv, nv), symmetric: the kinetic energy is half of v·M v.

    Raises: ShapeError, InputError.
    """
    return _of("mass_matrix", m, q, by=acting(m, None, None, False, armature))


def inverse_mass_matrix(m: Model, q: ArrayLike, *, armature: ArrayLike | None = None) -> Array:
    """The inverse of the mass matrix (..., nv, nv), symmetric.

    Raises: ShapeError, InputError.
    """
    by = acting(m, None, None, False, armature)
    find("inverse_mass_matrix").check(m.mechanism, given_of(by))
    return _inverted(_of("mass_matrix", m, q, by=by))


@jax.jit
def _inverted(M: Array) -> Array:
    L = jnp.linalg.cholesky(M)
    unit = jnp.broadcast_to(jnp.eye(M.shape[-1], dtype=M.dtype), M.shape)
    half = jax.lax.linalg.triangular_solve(L, unit, left_side=True, lower=True)
    return jnp.matmul(jnp.swapaxes(half, -1, -2), half, precision="highest")


def coriolis_matrix(m: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """C (..., nv, nv): C v and gravity's forces are the bias, and dM/dt - 2 C is skew.

    Source: Echeandia and Wensing, J. Comput. Nonlinear Dynamics 16 (2021).
    Raises: ShapeError, InputError.
    """
    return _of("coriolis_matrix", m, q, v)


def regressor(
    m: Model, q: ArrayLike, v: ArrayLike, dv: ArrayLike, *, gravity: ArrayLike | None = None
) -> Array:
    """Y (..., nv, 10 nb): inverse dynamics is Y p, with ten numbers p for each body.

    They are those of `Robot.regressor`. Source: Atkeson, An, Hollerbach, "Estimation of inertial
    parameters" (1986).
    Raises: ShapeError, InputError.
    """
    found = _of("regressor", m, q, v, dv, by=acting(m, None, gravity))
    return found.reshape(*found.shape[:-2], -1)


def kinetic_energy(
    m: Model, q: ArrayLike, v: ArrayLike, *, armature: ArrayLike | None = None
) -> Array:
    """Kinetic energy (...) of the whole mechanism, J; rotors count.

    Raises: ShapeError, InputError.
    """
    return _of("kinetic_energy", m, q, v, by=acting(m, None, None, False, armature))


def potential_energy(m: Model, q: ArrayLike, *, gravity: ArrayLike | None = None) -> Array:
    """Energy (...) of the masses in gravity's field (J), zero at the world's origin.

    Raises: ShapeError, InputError.
    """
    return _of("potential_energy", m, q, by=acting(m, None, gravity))


def inverse_dynamics(
    m: Model,
    q: ArrayLike,
    v: ArrayLike,
    dv: ArrayLike,
    *,
    external: External | None = None,
    gravity: ArrayLike | None = None,
    losses: bool = False,
    armature: ArrayLike | None = None,
) -> Array:
    """Joint forces (..., nv) that give the accelerations dv at the velocities v (N, N m).

    With loops or couplings: those of the actuated joints, zero at the others (`closed.py`).
    Keywords as in `Robot`.

    Source: recursive Newton-Euler (Luh, Walker, Paul 1980; Featherstone 2008, section 5.3).
    Raises: InputError, ShapeError, UnknownNameError.
    """
    by = acting(m, external, gravity, losses, armature)
    forces = _of("inverse_dynamics", m, q, v, dv, by=by)
    if not m.mechanism.is_closed:
        return forces
    return closed.actuated_forces(m, numbers(q, m.mechanism.n_q, "q"), forces)


def bias_forces(
    m: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    external: External | None = None,
    gravity: ArrayLike | None = None,
    losses: bool = False,
) -> Array:
    """Joint forces (..., nv) that keep the velocities v as they are (N, N m).

    Inverse dynamics at dv = 0: against gravity, Coriolis and centrifugal forces. With loops or
    couplings: those of the actuated joints that keep their own speeds.

    Raises: InputError, ShapeError, UnknownNameError.
    """
    by = acting(m, external, gravity, losses)
    mechanism = model_given(m)
    if not mechanism.is_closed:
        return _of("bias_forces", m, q, v, by=by)
    find("bias_forces").check(mechanism)
    at, rate = numbers(q, mechanism.n_q, "q"), numbers(v, mechanism.n_v, "v")
    dv = closed.steady_accelerations(m, at, rate)
    forces = _of("inverse_dynamics", m, at, rate, dv, by=by)
    return closed.actuated_forces(m, at, forces)


def gravity_forces(m: Model, q: ArrayLike, *, gravity: ArrayLike | None = None) -> Array:
    """Joint forces (..., nv) that hold still against gravity (N, N m).

    With loops or couplings: those of the actuated joints.

    Raises: InputError, ShapeError.
    """
    forces = _of("gravity_forces", m, q, by=acting(m, None, gravity))
    if not m.mechanism.is_closed:
        return forces
    return closed.actuated_forces(m, numbers(q, m.mechanism.n_q, "q"), forces)


def forward_dynamics(
    m: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    external: External | None = None,
    gravity: ArrayLike | None = None,
    losses: bool = False,
    armature: ArrayLike | None = None,
) -> Array:
    """Accelerations (..., nv) that the joint forces tau give at the velocities v.

    With loops or couplings, those that keep them closed, where q and v are assembled. Keywords as
    in `Robot`.

    Source: articulated bodies (Featherstone 2008, section 7.3).
    Raises: InputError, ShapeError, UnknownNameError.
    """
    by = acting(m, external, gravity, losses, armature)
    mechanism = model_given(m)
    if not mechanism.is_closed:
        return _of("forward_dynamics", m, q, v, tau, by=by)
    find("forward_dynamics").check(mechanism, given_of(by))
    at, rate = numbers(q, mechanism.n_q, "q"), numbers(v, mechanism.n_v, "v")
    push = numbers(tau, mechanism.n_v, "tau")
    bias = _of("inverse_dynamics", m, at, rate, jnp.zeros_like(rate), by=by)
    masses = mass_matrix(m, at, armature=armature)
    return closed.accelerations(m, at, rate, push - bias, masses)
