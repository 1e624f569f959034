"""Mechanisms with loops and couplings: what holds them closed, and how they are put together.

The rows are those of `algorithms.closure`. The linear algebra behind them is in matrices here: as
in `algorithms.closed_dynamics` and `algorithms.actuation`, but by `least`, which needs no decision
about rank and may be differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy
import numpy as np
from jax import lax
from numpy.typing import ArrayLike

from linkwork.algorithms.actuation import actuated_numbers
from linkwork.algorithms.closure import (
    Ends,
    closure_parts,
    coupling_residual,
    loop_rows,
    row_scales,
)
from linkwork.algorithms.jacobian import Reference
from linkwork.algorithms.residuals import Moving, joined
from linkwork.checks import leading_shape, whole_number
from linkwork.errors import InputError
from linkwork.jax import functions
from linkwork.jax.frames import frames_of
from linkwork.jax.model import Array, Model, anchored, real_array
from linkwork.mechanism.dynamics_checks import check_actuated, check_held
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.neutral import neutral
from linkwork.ops.jax import JAX
from linkwork.spatial.poses import Pose

jnp: Any = jax.numpy

_SMALL = 1.0e-8
"""The share of the mean square of a row that `least` adds: half of the digits of float64."""


# --------------------------------------------------------------------------------------- the rows


def rows(m: Model, q: Array) -> tuple[Array, Array]:
    """`closure` (..., n_c) and its derivative by v (..., n_c, nv), exact where q is assembled."""
    mechanism = m.mechanism
    parts: list[tuple[Array, Array]] = []
    if mechanism.loops:
        parts += _loops(m, q)
    for each in mechanism.couplings:
        parts.append(_coupling(mechanism, each, q))
    errors, columns = zip(*parts, strict=True)
    found = jnp.concatenate(errors, axis=-1), jnp.concatenate(columns, axis=-2)
    dtype = jnp.result_type(m.dtype, q)
    return found[0].astype(dtype), found[1].astype(dtype)


def _loops(m: Model, q: Array) -> list[tuple[Array, Array]]:
    loops = m.mechanism.loops
    names = [name for loop in loops for name in (loop.frame_a, loop.frame_b)]
    frames = frames_of(m, q, names)
    # configurations first, then loops
    R, p, J = _leading(frames)
    found: dict[int, tuple[Array, Array]] = {}
    kinds = {loop.kind: loop for loop in loops}
    for kind, like in kinds.items():
        own = [k for k, loop in enumerate(loops) if loop.kind == kind]
        a, b = [2 * k for k in own], [2 * k + 1 for k in own]

        def of_column(*given: Any, held: Any = like.held) -> Any:
            Ra, pa, Rb, pb, rod, ta, tb = given
            loop: Any = SimpleNamespace(held=held, distance=rod)
            first = Moving(Pose(Ra, pa), [ta[:3]], [ta[3:]])
            second = Moving(Pose(Rb, pb), [tb[:3]], [tb[3:]])
            parts = joined(JAX, loop_rows(JAX, loop, Ends(first, second), in_frame_a=True))
            return -parts.error, parts.columns[0]

        one = jax.vmap(of_column, in_axes=(None,) * 5 + (1, 1), out_axes=(None, 1))
        every = jax.vmap(one)
        for _ in range(q.ndim - 1):
            every = jax.vmap(every, in_axes=(0, 0, 0, 0, None, 0, 0))
        a, b = np.array(a), np.array(b)
        of_a, of_b = ((R[..., i, :, :], p[..., i, :]) for i in (a, b))
        rods, twists = m.distance[np.array(own)], (J[..., a, :, :], J[..., b, :, :])
        error, columns = every(*of_a, *of_b, rods, *twists)
        for i, k in enumerate(own):
            found[k] = (error[..., i, :], columns[..., i, :, :])
    return [found[k] for k in range(len(loops))]


def _coupling(m: Mechanism, each: Any, q: Array) -> tuple[Array, Array]:
    joints = [m.joint(name) for name in (each.joint, *each.leaders)]
    at = np.array([int(m.q_start[c]) for c in joints])
    place = np.array([int(m.v_start[c]) for c in joints])

    def one(positions: Array) -> tuple[Array, Array]:
        found = coupling_residual(JAX, each, [positions[k] for k in range(len(joints))])
        row = jnp.zeros(m.n_v, positions.dtype)
        row = row.at[place].add(jnp.stack([column[0] for column in found.columns]))
        return -found.error, row[None]

    for _ in range(q.ndim - 1):
        one = jax.vmap(one)
    return one(q[..., at])


def _held(m: Model) -> Mechanism:
    mechanism = functions.model_given(m)
    check_held(mechanism, ())
    return mechanism


@jax.jit
def _rows(m: Model, q: Array) -> tuple[Array, Array]:
    return rows(m, q)


def closure(m: Model, q: ArrayLike) -> Array:
    """Distance of each row of each loop and coupling from being closed (..., n_c), m and rad.

    Raises: ShapeError; InputError where there are no loops or couplings.
    """
    return _rows(m, functions.numbers(q, _held(m).n_q, "q"))[0]


def closure_jacobian(m: Model, q: ArrayLike) -> Array:
    """The derivative of `closure` by v (..., n_c, nv), exact where q is assembled.

    Raises: as `closure`.
    """
    return _rows(m, functions.numbers(q, _held(m).n_q, "q"))[1]


# ---------------------------------------------------------------------------------- linear algebra


def least(A: Array, b: Array, *, times: int = 3, like: Array | None = None) -> Array:
    """The x of least norm (..., n) that comes nearest to A x = b, of A (..., k, n), b (..., k).

    With E, a small share of the identity, x = Aᵀ (A Aᵀ + E)⁻¹ b comes nearer by a factor of about
    E / A Aᵀ each time that it is repeated on what is left over; what A cannot reach stays. ``like``
    (..., k, n): a matrix of whose size A would be, were it not what rounding leaves of zero.

    Source: iterated Tikhonov regularisation, A. N. Tikhonov; H. W. Engl, M. Hanke, A. Neubauer,
    Regularization of Inverse Problems (1996), section 5.1.
    """
    if A.shape[-1] == 0 or A.shape[-2] == 0:
        return jnp.zeros((*A.shape[:-2], A.shape[-1]), A.dtype)
    turned = jnp.swapaxes(A, -1, -2)
    square = jnp.matmul(A, turned, precision="highest")
    k = A.shape[-2]
    share = _SMALL if A.dtype == jnp.float64 else 1.0e-5
    size = A if like is None else like
    mean = jnp.sum(size * size, axis=(-2, -1))[..., None, None] / k
    E = share * jnp.maximum(mean, jnp.finfo(A.dtype).tiny) * jnp.eye(k, dtype=A.dtype)
    L = jnp.linalg.cholesky(square + E)
    x = jnp.zeros(jnp.broadcast_shapes(A.shape[:-2], b.shape[:-1]) + A.shape[-1:], A.dtype)
    for _ in range(times):
        left = b - jnp.einsum("...kn,...n->...k", A, x, precision="highest")
        half = lax.linalg.triangular_solve(L, left[..., None], left_side=True, lower=True)
        y = lax.linalg.triangular_solve(L, half, left_side=True, lower=True, transpose_a=True)
        x = x + jnp.matmul(turned, y, precision="highest")[..., 0]
    return x


def onto(A: Array, x: Array) -> Array:
    """Matrices (..., k, n) times vectors (..., n), at full precision."""
    return jnp.einsum("...kn,...n->...k", A, x, precision="highest")


def transposed_onto(A: Array, x: Array) -> Array:
    """Transposed matrices (..., k, n) times vectors (..., k), at full precision."""
    return jnp.einsum("...kn,...k->...n", A, x, precision="highest")


# ---------------------------------------------------------------------------------------- dynamics


@jax.jit
def actuated_forces(m: Model, q: Array, forces: Array) -> Array:
    """Forces (..., nv) of the actuated joints alone that do what these of all joints would do.

    Least norm where more joints are driven than move by themselves; see `algorithms.actuation`,
    whose formulas these are. At a singularity, where none do, the nearest are given.
    """
    mechanism = m.mechanism
    _, unscaled = rows(m, q)
    J = unscaled * jnp.asarray(row_scales(mechanism), unscaled.dtype)[:, None]
    actuated, passive = _driven(mechanism)
    J_p, J_a = J[..., passive], J[..., actuated]
    f = least(jnp.swapaxes(J_p, -1, -2), forces[..., passive])
    t = forces[..., actuated] - transposed_onto(J_a, f)
    C = J_a - jnp.moveaxis(jax.vmap(lambda a: onto(J_p, least(J_p, a)), in_axes=-1)(J_a), 0, -1)
    x = t - least(C, onto(C, t), like=J_a) if _driven_twice(mechanism) else t
    return jnp.zeros_like(forces).at[..., actuated].set(x, unique_indices=True)


def _driven_twice(m: Mechanism) -> bool:
    """Whether actuated joints may hold each other: as many rows or more than passive joints."""
    n_rows = sum(part.n_rows for part in closure_parts(m))
    return n_rows > m.n_v - len(actuated_numbers(m))


def _bias(m: Model, q: Array, v: Array) -> Array:
    """The acceleration of the rows at dv = 0, dJ/dt v (..., n_c)."""
    _, qdot = jax.jvp(lambda t: functions.integrate(m, q, t), (jnp.zeros_like(v),), (v,))
    return jax.jvp(lambda q: onto(rows(m, q)[1], v), (q,), (qdot,))[1]


def _together(q: Array, v: Array) -> tuple[Array, Array]:
    """Positions and velocities of one leading shape."""
    lead = leading_shape({"q": q, "v": v})
    return tuple(jnp.broadcast_to(x, (*lead, x.shape[-1])) for x in (q, v))


@jax.jit
def _biased(m: Model, q: Array, v: Array) -> Array:
    return _bias(m, *_together(q, v))


def closure_bias(m: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """The closure's acceleration at dv = 0, dJ/dt v (..., n_c): J dv + this is zero.

    Rows as in `closure`, m/s² and rad/s². At q and v that are assembled.

    Raises: as `closure`.
    """
    mechanism = _held(m)
    at, rate = functions.numbers(q, mechanism.n_q, "q"), functions.numbers(v, mechanism.n_v, "v")
    return _biased(m, at, rate)


def _driven(m: Mechanism) -> tuple[Any, Any]:
    """The numbers of v that are actuated, and the others."""
    check_actuated(m, ())
    actuated = np.array(actuated_numbers(m))
    passive = np.array([k for k in range(m.n_v) if k not in set(actuated.tolist())], int)
    return actuated, passive


@jax.jit
def steady_accelerations(m: Model, q: Array, v: Array) -> Array:
    """The accelerations (..., nv) with which the actuated speeds stay as they are."""
    _, passive = _driven(m.mechanism)
    q, v = _together(q, v)
    scales = jnp.asarray(row_scales(m.mechanism), v.dtype)
    J = scales[:, None] * rows(m, q)[1][..., passive]
    dv = least(J, -scales * _bias(m, q, v))
    return jnp.zeros_like(v).at[..., passive].set(dv, unique_indices=True)


@jax.jit
def _passive_rates(m: Model, q: Array) -> Array:
    actuated, passive = _driven(m.mechanism)
    J = jnp.asarray(row_scales(m.mechanism), q.dtype)[:, None] * rows(m, q)[1]
    J_p = J[..., passive]
    found = jnp.zeros((*q.shape[:-1], m.mechanism.n_v, len(actuated)), J.dtype)
    by_speed = jax.vmap(lambda a: least(J_p, -a), in_axes=-1, out_axes=-1)(J[..., actuated])
    found = found.at[..., passive, :].set(by_speed, unique_indices=True)
    return found.at[..., actuated, np.arange(len(actuated))].set(1.0, unique_indices=True)


def passive_rates(m: Model, q: ArrayLike) -> Array:
    """Derivatives of v by the speeds of the actuated joints (..., nv, n_actuated), q assembled.

    At a singularity the nearest are given, where `Robot` raises.

    Raises: ShapeError; InputError where there are no loops or no actuated joints.
    """
    return _passive_rates(m, functions.numbers(q, _held(m).n_q, "q"))


def actuation_jacobian(
    m: Model, q: ArrayLike, frame: str | None = None, *, reference: Reference = "world-aligned"
) -> Array:
    """From speeds of the actuated joints to a frame's velocity (..., 6, n_actuated).

    Raises: as `passive_rates` and `jacobian`.
    """
    rates = passive_rates(m, q)
    J = functions.jacobian(m, q, frame, reference=reference)
    return jnp.matmul(J, rates, precision="highest")


@jax.jit
def accelerations(m: Model, q: Array, v: Array, push: Array, masses: Array) -> Array:
    """The accelerations (..., nv) of the closed mechanism under ``push`` of joint forces.

    ``push``: the forces less the bias; ``masses`` (..., nv, nv) of the tree. M dv = push + Jᵀ f and
    J dv = -dJ/dt v, with the least f of redundant rows.

    Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), sections 8.4 and 8.5.
    """
    v, push = (jnp.broadcast_to(x, push.shape) for x in (v, push))
    q = jnp.broadcast_to(q, (*push.shape[:-1], q.shape[-1]))
    scales = jnp.asarray(row_scales(m.mechanism), push.dtype)
    bias = scales * _bias(m, q, v)
    J = scales[:, None] * rows(m, q)[1]
    L = jnp.linalg.cholesky(masses)

    def half(b: Array) -> Array:
        return lax.linalg.triangular_solve(L, b, left_side=True, lower=True)

    free = half(push[..., None])[..., 0]
    by_rows = jnp.swapaxes(half(jnp.swapaxes(J, -1, -2)), -1, -2)  # J L⁻ᵀ
    held = least(by_rows, -bias - onto(by_rows, free))
    both = (free + held)[..., None]
    return lax.linalg.triangular_solve(L, both, left_side=True, lower=True, transpose_a=True)[
        ..., 0
    ]


def projected(
    m: Model, q: Array, v: Array, armature: Array | None, *, times: int = 3
) -> tuple[Array, Array]:
    """q and v that are closed, the nearest in the mass matrix's measure; as `simulation.loops`."""
    scales = jnp.asarray(row_scales(m.mechanism), v.dtype)[:, None]

    def once(state: tuple[Array, Array], _: Any) -> tuple[tuple[Array, Array], None]:
        q, v = state
        L = jnp.linalg.cholesky(functions.mass_matrix(m, q, armature=armature))

        def correction(J: Array, opening: Array) -> Array:
            """-M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ times the opening."""
            turned = jnp.swapaxes(scales * J, -1, -2)
            half = lax.linalg.triangular_solve(L, turned, left_side=True, lower=True)
            y = least(jnp.swapaxes(half, -1, -2), -scales[:, 0] * opening)
            return lax.linalg.triangular_solve(
                L, y[..., None], left_side=True, lower=True, transpose_a=True
            )[..., 0]

        error, before = rows(m, q)
        q = functions.integrate(m, q, correction(before, error))
        J = rows(m, q)[1]
        for _ in range(2):
            v = v + correction(J, onto(J, v))
        return (q, v), None

    (q, v), _ = lax.scan(once, anchored((q, v), m, armature), None, length=times)
    return q, v


# ------------------------------------------------------------------------------------- assembling


def assemble(
    m: Model,
    actuated: ArrayLike | Mapping[str, ArrayLike],
    q0: ArrayLike | None = None,
    *,
    parts: int = 16,
) -> Any:
    """The configuration that is assembled with the actuated joints at these positions: `Found`.

    ``actuated`` (..., n_actuated) in the order of the robot's actuated joints, or by name. From q0
    (..., nq), by default neutral, they go straight there in so many ``parts``, and the other joints
    are followed on their branch of assembly. Joint limits are not looked at. Its derivatives, by
    the positions and the model, are those of the implicit function, whatever the way there.

    Raises: UnknownNameError, ShapeError, InputError.
    """
    mechanism = _held(m)
    if isinstance(actuated, Mapping):
        names: tuple[str, ...] = tuple(actuated)
        values = [real_array(x, f"actuated '{name}'") for name, x in actuated.items()]
        given = jnp.stack(jnp.broadcast_arrays(*values), axis=-1)
    else:
        names = tuple(mechanism.actuated)
        given = actuated
    if not names:
        raise InputError("this robot does not say which joints are actuated: name them")
    joints = [mechanism.joint(name) for name in names]
    for c in joints:
        if mechanism.joint_types[c].n_q != 1:
            raise InputError(f"'{mechanism.joint_names[c]}' has no single position to be given")
    whole_number(parts, "parts")
    given = functions.numbers(given, len(joints), "actuated")
    start = functions.numbers(neutral(mechanism) if q0 is None else q0, mechanism.n_q, "q0")
    batch = leading_shape({"actuated": given, "q0": start})
    dtype = jnp.result_type(m.dtype, given, start)
    start = jnp.broadcast_to(start, (*batch, mechanism.n_q)).astype(dtype)
    given = jnp.broadcast_to(given, (*batch, len(joints))).astype(dtype)
    return _assembled(m, given, start, tuple(joints), parts)


@partial(jax.jit, static_argnames=("joints", "parts"))
def _assembled(m: Model, given: Array, q0: Array, joints: Sequence[int], parts: int) -> Any:
    from linkwork.jax.ik import Found  # noqa: PLC0415  it looks at closures, too

    q, iterations = _followed(tuple(joints), parts, m, given, q0)
    error, _ = rows(m, q)
    position = [x for part in closure_parts(m.mechanism) for x in _is_length(part)]
    is_length = np.array(position, dtype=bool)
    open_ = jnp.abs(error)
    exact = jnp.asarray(1e-12 if q.dtype == jnp.float64 else 2e-6, q.dtype)
    length = jnp.max(jnp.where(is_length, open_, 0.0), axis=-1)
    angle = jnp.max(jnp.where(is_length, 0.0, open_), axis=-1)
    size = jnp.maximum(1.0, 1.0 / np.min(row_scales(m.mechanism)))
    return Found(q, (length <= exact * size) & (angle <= exact), length, angle, iterations)


def _is_length(part: Any) -> list[bool]:
    found = [False] * part.n_rows
    for group in part.groups:
        for k in range(group.start, group.stop):
            found[k] = group.unit == "m"
    return found


def _places(m: Mechanism, joints: Sequence[int]) -> tuple[Any, Any]:
    """The actuated places in q, and which numbers of v are free."""
    at = np.array([int(m.q_start[c]) for c in joints])
    free = np.ones(m.n_v, dtype=bool)
    free[[int(m.v_start[c]) for c in joints]] = False
    return at, free


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _followed(
    joints: tuple[int, ...], parts: int, m: Model, given: Array, q0: Array
) -> tuple[Array, Array]:
    """The assembled configuration, and the iterations of Newton's method on the way."""
    at, free = _places(m.mechanism, joints)
    q0 = anchored(q0, m, given)
    first = q0[..., at]

    def nearer(q: Array, last: bool) -> Array:
        error, J = rows(m, q)
        step = least(jnp.where(free, J, 0.0), -error, times=3 if last else 1)
        return functions.integrate(m, q, step)

    def part(k: Array, q: Array) -> Array:
        q = q.at[..., at].set(first + (given - first) * ((k + 1.0) / parts))
        return lax.fori_loop(0, 3, lambda _, x: nearer(x, False), q)

    q = lax.fori_loop(0, parts, part, q0)
    q = lax.fori_loop(0, 4, lambda _, x: nearer(x, True), q.at[..., at].set(given))
    return q, jnp.full(q.shape[:-1], 3 * parts + 4)


@_followed.defjvp
def _followed_jvp(
    joints: tuple[int, ...], parts: int, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any]:
    """J_p dv_p = -J_a dv_a - d(closure)/d(model): the implicit function theorem."""
    m, given, q0 = primals
    dm, dgiven, _ = tangents
    q, iterations = _followed(joints, parts, m, given, q0)
    at, free = _places(m.mechanism, joints)
    _, J = rows(m, q)
    _, change = jax.jvp(lambda model: rows(model, q)[0], (m,), (dm,))
    driven = jnp.zeros((*q.shape[:-1], m.mechanism.n_v), q.dtype)
    driven = driven.at[..., np.flatnonzero(~free)[np.argsort(np.argsort(at))]].set(
        dgiven, unique_indices=True
    )
    passive = least(jnp.where(free, J, 0.0), -(change + onto(J, driven)))
    return (q, iterations), (moved(m, q, driven + passive), no_change(iterations))


def moved(m: Model, q: Array, v: Array) -> Array:
    """The change of q (..., nq) along v (..., nv)."""
    mechanism = m.mechanism
    if mechanism.n_q == mechanism.n_v:
        return v
    return jax.jvp(lambda t: functions.integrate(m, q, t), (jnp.zeros_like(v),), (v,))[1]


def no_change(x: Array) -> Any:
    """The tangent of whole numbers."""
    return np.zeros(x.shape, dtype=jax.dtypes.float0)


def _leading(frames: Any) -> tuple[Array, Array, Array]:
    """The frames' arrays, configurations first."""
    return tuple(
        jnp.moveaxis(x, tuple(range(k)), tuple(range(-k, 0)))
        for x, k in zip(frames, (3, 2, 3), strict=True)
    )
