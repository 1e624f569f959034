"""Inverse kinematics of many targets at once: Levenberg-Marquardt with restarts, in one loop.

Every problem has its own configuration, damping and tries, and a lane of arrays; one that has been
reached, or has used its tries, makes room for the next. Derivatives of an answer are those of the
implicit function at it, never of the iterations.

Sources: K. Levenberg (1944), D. Marquardt (1963), as in `solve/expressions.py`; implicit function
theorem.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy
import numpy as np
from jax import lax
from numpy.typing import ArrayLike

from linkwork.algorithms import configuration
from linkwork.errors import InputError, ShapeError
from linkwork.jax import closed, functions
from linkwork.jax.frames import frames_of
from linkwork.jax.model import Array, Model, anchored
from linkwork.jax.sweep import LaneOps
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.neutral import neutral
from linkwork.spatial import so3

jnp: Any = jax.numpy


class Found(NamedTuple):
    """What a search found, a pytree; each has the leading shape of the targets."""

    q: Array  # (..., nq)
    success: Array  # (...) within the tolerances and the limits, by a fresh evaluation
    position_error: Array  # (...) m
    rotation_error: Array  # (...) rad
    iterations: Array  # (...) of all tries together


class _Search(NamedTuple):
    """What is static of a search."""

    frame: str
    joints: tuple[int, ...]  # coordinates that move
    steps: int  # iterations of a try
    tries: int
    seed: int


def ik(  # noqa: PLR0913  the one door: every argument but three is named
    m: Model,
    targets: ArrayLike,
    frame: str | None = None,
    *,
    q0: ArrayLike | None = None,
    joints: Sequence[str] | None = None,
    position_tolerance: float | None = None,
    rotation_tolerance: float | None = None,
    steps: int = 24,
    tries: int = 1000,
    seed: int = 0,
) -> Found:
    """Configurations that bring a frame to poses T_world_frame (..., 4, 4), inside the limits.

    Moves the joints that carry the frame, or ``joints``; the others stay at ``q0`` (..., nq), by
    default neutral, where the search begins. A try has so many ``steps``; then it begins again at
    random, from a generator that knows the seed. Loops are kept closed. Tolerances are 1e-6 m and
    rad, in float32 1e-4.

    The derivatives of ``q`` by targets and model are those of the implicit function theorem at the
    answer: joints at a limit stay there, and of redundant joints the least motion is taken. Where
    nothing was found they are zero, and so are those by ``q0``.

    Raises: UnknownNameError, ShapeError, InputError. A target that is not reached raises nothing.
    """
    mechanism, name = functions.model_given(m), functions.frame_of(m, frame)
    given = jnp.asarray(targets)
    if given.ndim < 2 or given.shape[-2:] != (4, 4):
        raise ShapeError(f"targets have the shape (..., 4, 4), not {given.shape}")
    moving = _moving(mechanism, name, joints)
    start = functions.numbers(neutral(mechanism) if q0 is None else q0, mechanism.n_q, "q0")
    dtype = jnp.result_type(m.dtype, given.dtype if given.dtype.kind == "f" else m.dtype)
    default = 1.0e-6 if dtype == jnp.float64 else 1.0e-4
    for what, value, lowest in (("steps", steps, 1), ("tries", tries, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < lowest:
            raise InputError(f"{what} is a whole number from {lowest} on, not {value!r:.40}")
    batch = np.broadcast_shapes(given.shape[:-2], start.shape[:-1])
    given = jnp.broadcast_to(given, (*batch, 4, 4)).astype(dtype)
    start = jnp.broadcast_to(start, (*batch, mechanism.n_q)).astype(dtype)
    exact = [default if x is None else x for x in (position_tolerance, rotation_tolerance)]
    search = _Search(name, moving, int(steps), int(tries), int(seed))
    return _found(search, m, given, start, jnp.asarray(exact, dtype))


def _moving(m: Mechanism, frame: str, joints: Sequence[str] | None) -> tuple[int, ...]:
    if joints is not None:
        listed = [joints] if isinstance(joints, str) else list(joints)
        return tuple(sorted(m.joint(name) for name in listed))
    if m.is_closed:
        return tuple(range(len(m.joint_names)))
    found = m.coordinates_moving(m.frame(frame))
    if not found:
        raise InputError(f"no joint moves '{frame}', so no position brings it anywhere else")
    return tuple(found)


@partial(jax.jit, static_argnames=("search",))
def _found(search: _Search, m: Model, targets: Array, q0: Array, exact: Array) -> Found:
    batch, n = q0.shape[:-1], q0.shape[-1]
    flat = (targets.reshape(-1, 4, 4), q0.reshape(-1, n))
    q, iterations = _solution(search, m, *flat, exact)
    length, angle, open_ = _errors(search, m, flat[0], q)
    inside = _inside(m, q)
    success = (length <= exact[0]) & (angle <= exact[1]) & inside & (open_ <= exact[0])
    found = Found(q, success, length, angle, iterations)
    return jax.tree_util.tree_map(lambda x: x.reshape(*batch, *x.shape[1:]), found)


def _inside(m: Model, q: Array) -> Array:
    return jnp.all((q >= m.lower) & (q <= m.upper), axis=-1)


# ------------------------------------------------------------------------------------- the residual


def _residual(search: _Search, m: Model, targets: Array, q: Array) -> tuple[Array, Array]:
    """The way to the targets and its derivative by v, sign turned: (b, k), (b, k, nv).

    Position, then rotation vector, axes of the world; then what keeps loops closed.
    """
    frames = frames_of(m, q, [search.frame])
    R, p, J = frames.R[0], frames.p[0], frames.J[0]
    turn = jnp.einsum("bij,kjb->ikb", targets[:, :3, :3], R, precision="highest")
    way = jnp.concatenate([targets[:, :3, 3].T - p, so3.log(LaneOps(), turn)])
    error, columns = way.T, jnp.moveaxis(J, -1, 0)
    if m.mechanism.is_closed:
        open_, J_closed = closed.rows(m, q)
        error = jnp.concatenate([error, -open_], axis=-1)
        columns = jnp.concatenate([columns, J_closed], axis=-2)
    return error, columns


def _errors(search: _Search, m: Model, targets: Array, q: Array) -> tuple[Array, Array, Array]:
    """Distance (m) and angle (rad) to the targets, and how far loops are open, by a fresh look."""
    T = functions.fk(m, q, search.frame)
    turn = jnp.einsum("bij,bkj->ikb", targets[:, :3, :3], T[:, :3, :3], precision="highest")
    angle = so3.log(LaneOps(), turn)
    lengths = [_length(targets[:, :3, 3] - T[:, :3, 3]), _length(angle.T)]
    if not m.mechanism.is_closed:
        return lengths[0], lengths[1], jnp.zeros_like(lengths[0])
    return lengths[0], lengths[1], jnp.max(jnp.abs(closed.rows(m, q)[0]), axis=-1)


def _length(x: Array) -> Array:
    """Lengths of vectors (..., 3), whose derivative at zero is zero."""
    square = jnp.sum(x * x, axis=-1)
    positive = square > 0.0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, square, 1.0)), 0.0)


# --------------------------------------------------------------------------------------- the search


LANES = {"cpu": 256, "gpu": 8192}
"""Problems that are worked on at once, by back end: one that is done makes room for the next."""


class _State(NamedTuple):
    """Where the searches stand: a problem in each lane, and what has been found of all."""

    problem: Array  # (w,) its number; as many as there are where nothing is left to do
    candidate: Array  # (w, nq) to be looked at
    fresh: Array  # (w,) whether it begins a try, and is taken whatever it is
    q: Array  # (w, nq)
    error: Array  # (w, k)
    columns: Array  # (w, k, nv)
    damping: Array  # (w,)
    steps: Array  # (w,) iterations of this try
    tries: Array  # (w,)
    following: Array  # () the next problem
    found: Array  # (b, nq)
    iterations: Array  # (b,)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _solution(  # noqa: PLR0915  one loop, told as it runs
    search: _Search, m: Model, targets: Array, q0: Array, exact: Array
) -> tuple[Array, Array]:
    """Configurations (b, nq) and the iterations that they took (b,)."""
    mechanism, n = m.mechanism, len(q0)
    if n == 0:
        return q0, jnp.zeros(0, int)
    moves = np.zeros(mechanism.n_v, dtype=bool)
    moves[mechanism.v_indices(search.joints)] = True
    lower, upper = _limits(m, q0.dtype)
    place = np.array(_position_of(mechanism))
    single, of_v = place >= 0, np.maximum(place, 0)
    low, high = jnp.where(single, lower[of_v], -jnp.inf), jnp.where(single, upper[of_v], jnp.inf)
    q0 = jnp.clip(q0, lower, upper)

    def reached(error: Array) -> Array:
        close = (_length(error[:, :3]) <= exact[0]) & (_length(error[:, 3:6]) <= exact[1])
        return close & (jnp.max(jnp.abs(error[:, 6:]), axis=-1, initial=0.0) <= exact[0])

    def updated(q: Array, error: Array, columns: Array, damping: Array) -> Array:
        """The next configurations."""
        gradient = jnp.einsum("bkn,bk->bn", columns, error, precision="highest")
        at = q[:, of_v]
        held = ((at <= low) & (gradient < 0.0)) | ((at >= high) & (gradient > 0.0))
        J = jnp.where(moves & ~(held & single)[:, None, :], columns, 0.0)
        square = jnp.einsum("bkn,bln->klb", J, J, precision="highest")
        square = square + jnp.eye(J.shape[1], dtype=J.dtype)[:, :, None] * damping
        y = _solved(square, error.T)
        v = jnp.einsum("bkn,kb->bn", J, y, precision="highest")
        # no joint moves by more than about half a turn in one update
        most = jnp.maximum(jnp.max(jnp.abs(v), axis=-1), 1e-30)
        v = v * jnp.minimum(1.0, 3.0 / most)[:, None]
        return jnp.clip(functions.integrate(m, q, v), lower, upper)

    def once(now: _State) -> _State:
        target = targets[jnp.minimum(now.problem, n - 1)]
        error, columns = _residual(search, m, target, now.candidate)
        better = jnp.sum(error * error, axis=-1) < jnp.sum(now.error * now.error, axis=-1)
        take = better | now.fresh
        q = jnp.where(take[:, None], now.candidate, now.q)
        error = jnp.where(take[:, None], error, now.error)
        columns = jnp.where(take[:, None, None], columns, now.columns)
        damping = jnp.where(better, now.damping * 0.2, now.damping * 4.0)
        damping = jnp.clip(jnp.where(now.fresh, _DAMPING, damping), _LEAST, 10.0)
        steps = now.steps + 1
        spent = steps > search.steps
        ends = reached(error) | (spent & (now.tries + 1 >= search.tries))
        # what has ended is written down, and the next problems take its place
        where = jnp.where(ends, now.problem, n)
        count = now.tries * (search.steps + 1) + now.steps
        found = now.found.at[where].set(q, mode="drop")
        iterations = now.iterations.at[where].set(count, mode="drop")
        rank = jnp.cumsum(ends) - 1
        problem = jnp.where(ends, jnp.minimum(now.following + rank, n), now.problem)
        again = spent & ~ends
        tries = jnp.where(ends, 0, now.tries + again)
        start = jnp.where(
            ends[:, None],
            q0[jnp.minimum(problem, n - 1)],
            _random(search, mechanism, (problem, tries), q0, (lower, upper)),
        )
        fresh = ends | again
        candidate = jnp.where(fresh[:, None], start, updated(q, error, columns, damping))
        return _State(
            problem, candidate, fresh, q, error, columns, damping,
            jnp.where(fresh, 0, steps), tries, now.following + jnp.sum(ends), found, iterations,
        )  # fmt: skip

    w = min(n, LANES.get(jax.default_backend(), 8192))
    error, columns = _residual(search, m, targets[:w], q0[:w])
    start = _State(
        jnp.arange(w), q0[:w], jnp.ones(w, bool), q0[:w], error, columns,
        jnp.full(w, _DAMPING, q0.dtype), jnp.zeros(w, int), jnp.zeros(w, int),
        jnp.asarray(w), q0, jnp.zeros(n, int),
    )  # fmt: skip
    start = anchored(start, m, targets, q0)
    end = lax.while_loop(lambda now: jnp.any(now.problem < n), once, start)
    return end.found, end.iterations


_DAMPING = 0.1
_LEAST = 1.0e-8


@_solution.defjvp
def _solution_jvp(
    search: _Search, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any]:
    """J dv = the change of the residual by targets and model, joints at limits going with these."""
    m, targets, q0, exact = primals
    dm, dtargets, _, _ = tangents
    q, iterations = _solution(search, m, targets, q0, exact)
    mechanism = m.mechanism
    _, columns = _residual(search, m, targets, q)
    _, change = jax.jvp(
        lambda model, T: _residual(search, model, T, q)[0], (m, targets), (dm, dtargets)
    )
    length, angle, open_ = _errors(search, m, targets, q)
    found = (length <= exact[0]) & (angle <= exact[1]) & (open_ <= exact[0])
    place = np.array(_position_of(mechanism))
    single, at = place >= 0, np.maximum(place, 0)
    lower, upper = m.lower[at], m.upper[at]
    low, high = single & (q[:, at] <= lower), single & (q[:, at] >= upper)
    moves = np.zeros(mechanism.n_v, dtype=bool)
    moves[mechanism.v_indices(search.joints)] = True
    zero = jnp.zeros_like(q[:, at])
    d_limits = (_tangent(dm.lower, m.lower)[at], _tangent(dm.upper, m.upper)[at])
    at_limit = jnp.where(low & moves, d_limits[0], jnp.where(high & moves, d_limits[1], zero))
    free = jnp.where((moves & ~(low | high))[:, None, :], columns, 0.0)
    v = at_limit + closed.least(free, change - closed.onto(columns, at_limit))
    v = jnp.where(found[:, None], v, 0.0)
    moved = closed.moved(m, q, v)
    return (q, iterations), (moved, closed.no_change(iterations))


def _tangent(x: Any, like: Array) -> Array:
    return jnp.zeros_like(like) if x.dtype == jax.dtypes.float0 else x


def _solved(A: Array, b: Array) -> Array:
    """x (k, b) of A x = b for positive definite A (k, k, b): elimination, all problems at once."""
    k = A.shape[0]
    whole = jnp.concatenate([A, b[:, None]], axis=1)

    def eliminated(i: Array, rows: Array) -> Array:
        row = lax.dynamic_index_in_dim(rows, i, 0, keepdims=False)
        pivot = lax.dynamic_index_in_dim(row, i, 0, keepdims=False)
        row = row / pivot
        column = lax.dynamic_index_in_dim(rows, i, 1, keepdims=False)
        column = jnp.where((jnp.arange(k) == i)[:, None], 0.0, column)
        rows = rows - column[:, None] * row[None]
        return lax.dynamic_update_index_in_dim(rows, row, i, 0)

    return lax.fori_loop(0, k, eliminated, whole)[:, k]


def _position_of(m: Mechanism) -> list[int]:
    """For each number of v the number of q that it changes alone; -1 for a body's own axes."""
    found: list[int] = []
    for c, type in enumerate(m.joint_types):
        start = int(m.q_start[c])
        found += [-1 if type.has_quaternion else start + k for k in range(type.n_v)]
    return found


def _limits(m: Model, dtype: Any) -> tuple[Array, Array]:
    return m.lower.astype(dtype), m.upper.astype(dtype)


def _random(
    search: _Search, m: Mechanism, which: tuple[Array, Array], q0: Array, limits: Any
) -> Array:
    """Configurations inside the limits, random at the joints that move, by problem and try."""
    low, high = (jnp.asarray(x, q0.dtype) for x in configuration.ranges(m))
    low, high = jnp.maximum(low, limits[0]), jnp.minimum(high, limits[1])
    moves = np.zeros(m.n_q, dtype=bool)
    moves[m.q_indices(search.joints)] = True
    seed = jax.random.key(search.seed)

    def one(problem: Array, tried: Array) -> Array:
        key = jax.random.fold_in(jax.random.fold_in(seed, problem), tried)
        q = low + jax.random.uniform(key, low.shape, q0.dtype) * (high - low)
        for c, type in enumerate(m.joint_types):
            if type.has_quaternion:
                start = int(m.q_start[c]) + type.n_lengths
                wxyz = jax.random.normal(jax.random.fold_in(key, c + 1), (4,), q0.dtype)
                q = q.at[start : start + 4].set(wxyz / jnp.sqrt(jnp.sum(wxyz * wxyz)))
        return jnp.where(moves, q, q0[jnp.minimum(problem, len(q0) - 1)])

    return jax.vmap(one)(*which)
