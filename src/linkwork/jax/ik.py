"""Inverse kinematics of many targets at once: damped least squares with restarts, in one loop.

The tasks are those of `linkwork.ik`: their expressions run on JAX, on the numbers of the model.
Every problem has its own configuration and tries, and a lane of arrays; one that has been reached,
or has used its tries, makes room for the next. Derivatives of an answer are those of the implicit
function at it, never of the iterations.

Sources: T. Sugihara (2011), damping by the squared error, as in `solve/expressions.py`; implicit
function theorem.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy
import numpy as np
from jax import lax
from numpy.typing import ArrayLike

from linkwork.algorithms import configuration
from linkwork.algorithms.closure import row_scales
from linkwork.checks import leading_shape
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.jax import closed, functions
from linkwork.jax.model import Array, Model, anchored
from linkwork.jax.tasks import bound_tasks, residuals, targets_of
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.neutral import neutral
from linkwork.solve.problem import Problem, make_problem
from linkwork.solve.tasks import Closed, Pose, Task

jnp: Any = jax.numpy


class Found(NamedTuple):
    """The answers of a search, a pytree; each has the leading shape of the targets."""

    q: Array  # (..., nq)
    success: Array  # (...) within the tolerances and the limits, by a fresh evaluation
    position_error: Array  # (...) m, the largest of all tasks
    rotation_error: Array  # (...) rad
    iterations: Array  # (...) of all tries together


class _Search:
    """The static part of a search; problems of the same structure are the same."""

    def __init__(self, problem: Problem, steps: int, tries: int, seed: int) -> None:
        self.problem, self.steps, self.tries, self.seed = problem, steps, tries, seed
        self._key = (problem.key, steps, tries, seed)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Search) and self._key == other._key

    @property
    def moves(self) -> Any:
        """Flags of the numbers of v that move (nv,)."""
        found = np.zeros(self.problem.mechanism.n_v, dtype=bool)
        found[list(self.problem.moved_v)] = True
        return found

    @property
    def unit(self) -> Any:
        """The unit of each velocity per radian: 1, or a length for slides (nv,)."""
        return np.array(self.problem.lengths)


def ik(  # noqa: PLR0913  the one door: every argument but three is named
    m: Model,
    targets: ArrayLike | Mapping[str, ArrayLike] | None = None,
    frame: str | None = None,
    *,
    tasks: Task | Sequence[Task] | None = None,
    q0: ArrayLike | None = None,
    joints: str | Sequence[str] | None = None,
    position_tolerance: float | None = None,
    rotation_tolerance: float | None = None,
    steps: int = 24,
    tries: int = 1000,
    seed: int = 0,
) -> Found:
    """Configurations that bring a frame to poses T_world_frame (..., 4, 4), or do tasks.

    ``tasks``: those of `linkwork.ik`, of one priority; ``targets`` are then that of the one task,
    or a mapping of the tasks' names. Answers are inside the limits of the model. Moves the joints
    that the tasks depend on, or ``joints``; the others stay at ``q0`` (..., nq), by default
    neutral, where the search begins. A try ends after so many ``steps``, or where it has come to a
    stand; then it begins again at random, from a generator that knows the seed. Loops are kept
    closed. Tolerances are 1e-6 m and rad, in float32 1e-4, where a task has none of its own.

    The derivatives of ``q`` by targets and model are those of the implicit function theorem at the
    answer: joints at a limit stay there, and of redundant joints the least motion is taken, slides
    measured in lengths of the mechanism. Where nothing was found they are zero, and so are those
    by ``q0``.

    Raises: UnknownNameError, ShapeError, InputError; UnsupportedFeatureError for tasks of lower
    priority, tasks of manipulability, and spherical joints with a limit. A target that is not
    reached raises nothing.
    """
    mechanism = functions.model_given(m)
    if tasks is not None and frame is not None:
        raise InputError("give a frame or tasks, not both; a frame stands for its Pose")
    asked = Pose(functions.frame_of(m, frame)) if tasks is None else tasks
    problem = _problem(mechanism, asked, joints)
    start = functions.numbers(neutral(mechanism) if q0 is None else q0, mechanism.n_q, "q0")
    given = targets_of(bound_tasks(problem), targets)
    dtype = jnp.result_type(m.dtype, *given)
    for what, value, lowest in (("steps", steps, 1), ("tries", tries, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < lowest:
            raise InputError(f"{what} is a whole number from {lowest} on, not {value!r:.40}")
    names = [task.name for task in bound_tasks(problem)]
    batch = leading_shape({**dict(zip(names, given, strict=True)), "q0": start})
    start, *given = (
        jnp.broadcast_to(x, (*batch, x.shape[-1])).astype(dtype) for x in (start, *given)
    )
    default = 1.0e-6 if dtype == jnp.float64 else 1.0e-4
    exact = {
        "m": default if position_tolerance is None else position_tolerance,
        "rad": default if rotation_tolerance is None else rotation_tolerance,
    }
    search = _Search(problem, int(steps), int(tries), int(seed))
    return _found(search, m, tuple(given), start, _numbers(problem, exact, dtype))


def _problem(
    m: Mechanism, tasks: Task | Sequence[Task], joints: str | Sequence[str] | None
) -> Problem:
    """The problem of these tasks, and that loops stay closed.

    Raises: UnknownNameError, InputError, UnsupportedFeatureError.
    """
    several = [tasks] if isinstance(tasks, Task) else list(tasks)
    named = None if joints is None else [joints] if isinstance(joints, str) else list(joints)
    if m.is_closed:
        several = [task for task in several if not isinstance(task, Closed)] + [Closed()]
        if named is not None and m.actuated:
            looped = (m.joint_names[c] for c in Closed().bind(m).coordinates)
            named += [name for name in looped if name not in (*m.actuated, *named)]
    problem = make_problem(m, several, joints=named)
    if problem.has_secondary_goals:
        raise UnsupportedFeatureError("lj.ik takes tasks of priority 0 alone")
    if any(math.isfinite(ball.limit) for ball in problem.balls):
        raise UnsupportedFeatureError(
            "lj.ik does not know the limits of spherical joints; Robot.ik does"
        )
    return problem


def _numbers(problem: Problem, exact: Mapping[str, float], dtype: Any) -> dict[str, Array]:
    """The numbers of a call: weights and tolerances by group, slacks by row."""
    found: dict[str, list[float]] = {"tolerances": [], "weights": [], "slacks": []}
    for task in bound_tasks(problem):
        found["weights"].append(task.weight)
        found["slacks"] += task.slack
        for group, own in zip(task.groups, task.tolerances, strict=True):
            common = exact.get(group.unit, own)
            found["tolerances"].append(own if task.task.tolerance is not None else common)
    found["closing"] = [exact["m"]]
    return {name: jnp.asarray(values, dtype) for name, values in found.items()}


@partial(jax.jit, static_argnames=("search",))
def _found(
    search: _Search, m: Model, targets: tuple[Array, ...], q0: Array, numbers: dict[str, Array]
) -> Found:
    batch, n = q0.shape[:-1], q0.shape[-1]
    flat = tuple(x.reshape(-1, x.shape[-1]) for x in targets)
    q, iterations = _solution(search, m, flat, q0.reshape(-1, n), numbers)
    seen = _seen(search, m, flat, q, numbers)
    success = seen.reached & jnp.all((q >= m.lower) & (q <= m.upper), axis=-1)
    found = Found(q, success, *_largest(search, seen.errors), iterations)
    return jax.tree_util.tree_map(lambda x: x.reshape(*batch, *x.shape[1:]), found)


def _largest(search: _Search, errors: Array) -> tuple[Array, Array]:
    """The largest error in metres, and the largest in radians."""
    units = [g.unit for task in bound_tasks(search.problem) for g in task.groups]
    return tuple(
        jnp.max(errors[:, [k for k, u in enumerate(units) if u == unit]], axis=-1, initial=0.0)
        for unit in ("m", "rad")
    )


# ------------------------------------------------------------------------------------- the residual


class _Seen(NamedTuple):
    """Tasks and loops at configurations."""

    error: Array  # (b, k) weighted, in radians
    columns: Array  # (b, k, nv) its derivative by v, sign turned
    errors: Array  # (b, groups) of the tasks, in their own units
    reached: Array  # (b,)


def _seen(
    search: _Search, m: Model, targets: tuple[Array, ...], q: Array, numbers: dict[str, Array]
) -> _Seen:
    """The rows of the tasks, then those of what keeps loops closed."""
    problem = search.problem
    found = residuals(problem, m, q, targets, numbers)
    reached = jnp.all(found.errors <= numbers["tolerances"], axis=-1)
    error, columns = found.error, found.columns
    if m.mechanism.is_closed:
        open_, opening = closed.rows(m, q)
        reached &= jnp.max(jnp.abs(open_), axis=-1) <= numbers["closing"][0]
        scales = jnp.asarray(row_scales(m.mechanism), error.dtype)
        error = jnp.concatenate([error, -scales * open_.astype(error.dtype)], axis=-1)
        opening = (scales[:, None] * opening).astype(columns.dtype)
        columns = jnp.concatenate([columns, opening], axis=-2)
    return _Seen(error, columns, found.errors, reached)


# --------------------------------------------------------------------------------------- the search


LANES = {"cpu": 256, "gpu": 8192}
"""Problems that are worked on at once, by back end: one that is done makes room for the next."""

_DAMPING, _MOST_ERROR = 0.1, 20.0
"""Damping in proportion to the squared error, up to a most, as in `solve/least_squares.py`."""
_LONGEST = 1.2
"""Radians: an update is not longer, over all joints that turn."""
_STALL, _SHARE = 3, 0.2
"""A try is given up where its squared error has not fallen by this share for so many steps."""


class _State(NamedTuple):
    """The state of the searches: a problem in each lane, and the answers so far."""

    problem: Array  # (w,) its number; as many as there are where nothing is left to do
    q: Array  # (w, nq) to be looked at
    best: Array  # (w,) the least squared error of this try
    since: Array  # (w,) iterations since then
    steps: Array  # (w,) iterations of this try
    tries: Array  # (w,)
    spent: Array  # (w,) iterations of all tries
    nearest: Array  # (w, nq) what came nearest in all tries, and its squared error (w,)
    miss: Array
    following: Array  # () the next problem
    found: Array  # (b, nq)
    iterations: Array  # (b,)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _solution(
    search: _Search,
    m: Model,
    targets: tuple[Array, ...],
    q0: Array,
    numbers: dict[str, Array],
) -> tuple[Array, Array]:
    """Configurations (b, nq) and the iterations that they took (b,)."""
    mechanism, n = m.mechanism, len(q0)
    if n == 0:
        return q0, jnp.zeros(0, int)
    limits = m.lower.astype(q0.dtype), m.upper.astype(q0.dtype)
    q0 = jnp.clip(q0, *limits)

    def once(now: _State) -> _State:
        at = jnp.minimum(now.problem, n - 1)
        seen = _seen(search, m, tuple(x[at] for x in targets), now.q, numbers)
        squared = jnp.sum(seen.error * seen.error, axis=-1)
        falls = squared < (1.0 - _SHARE) * now.best
        best = jnp.where(falls, squared, now.best)
        since = jnp.where(falls, 0, now.since + 1)
        steps = now.steps + 1
        over = (steps > search.steps) | (since >= _STALL)
        nearer = squared < now.miss
        nearest = jnp.where(nearer[:, None], now.q, now.nearest)
        miss = jnp.where(nearer, squared, now.miss)
        gone = over & (now.tries + 1 >= search.tries)
        ends = seen.reached | gone
        # what has ended is written down, and the next problems take its place
        where = jnp.where(ends, now.problem, n)
        answer = jnp.where(seen.reached[:, None], now.q, nearest)
        found = now.found.at[where].set(answer, mode="drop")
        iterations = now.iterations.at[where].set(now.spent, mode="drop")
        rank = jnp.cumsum(ends) - 1
        problem = jnp.where(ends, jnp.minimum(now.following + rank, n), now.problem)
        again = over & ~ends
        tries = jnp.where(ends, 0, now.tries + again)
        start = jnp.where(
            ends[:, None],
            q0[jnp.minimum(problem, n - 1)],
            _random(search, mechanism, (problem, tries), q0, limits),
        )
        fresh, none = ends | again, jnp.asarray(jnp.inf, q0.dtype)
        after = _updated(search, m, seen, (now.q, squared), limits)
        return _State(
            problem, jnp.where(fresh[:, None], start, after),
            jnp.where(fresh, none, best), jnp.where(fresh, 0, since),
            jnp.where(fresh, 0, steps), tries, jnp.where(ends, 0, now.spent + 1),
            nearest, jnp.where(ends, none, miss), now.following + jnp.sum(ends), found, iterations,
        )  # fmt: skip

    w = min(n, LANES.get(jax.default_backend(), 8192))
    zeros, none = jnp.zeros(w, int), jnp.full(w, jnp.inf, q0.dtype)
    start = _State(
        jnp.arange(w), q0[:w], none, zeros, zeros, zeros, zeros, q0[:w], none,
        jnp.asarray(w), q0, jnp.zeros(n, int),
    )  # fmt: skip
    start = anchored(start, m, targets, q0, numbers)
    end = lax.while_loop(lambda now: jnp.any(now.problem < n), once, start)
    return end.found, end.iterations


def _updated(
    search: _Search, m: Model, seen: _Seen, at: tuple[Array, Array], limits: tuple[Array, Array]
) -> Array:
    """The next configurations, inside the limits."""
    q, squared = at
    mechanism, dtype = m.mechanism, q.dtype
    free = search.moves & ~_pressed(mechanism, q, limits, seen)
    unit = jnp.asarray(search.unit, dtype)
    J = jnp.where(free[:, None, :], seen.columns * unit, 0.0)
    rounding = 1.0e-11 if dtype == jnp.float64 else 1.0e-6
    damping = _DAMPING * jnp.minimum(squared, _MOST_ERROR) + rounding
    moved = np.flatnonzero(search.moves)
    dual = J.shape[1] <= len(moved)
    if dual:
        square = jnp.einsum("bkn,bln->klb", J, J, precision="highest")
    else:
        square = jnp.einsum("bkm,bkn->mnb", *(J[..., moved],) * 2, precision="highest")
    A = square + jnp.eye(len(square), dtype=dtype)[:, :, None] * damping
    if dual:
        v = jnp.einsum("bkn,kb->bn", J, _solved(A, seen.error.T), precision="highest")
    else:
        right = jnp.einsum("bkn,bk->nb", J[..., moved], seen.error, precision="highest")
        v = jnp.zeros(J.shape[::2], dtype).at[:, moved].set(_solved(A, right).T)
    turns = np.array([k not in search.problem.slides for k in range(mechanism.n_v)])
    length = jnp.sqrt(jnp.sum(jnp.where(turns, v * v, 0.0), axis=-1))
    v = unit * v * (_LONGEST / jnp.maximum(length, _LONGEST))[:, None]
    return jnp.clip(functions.integrate(m, q, v), *limits)


def _pressed(m: Mechanism, q: Array, limits: tuple[Array, Array], seen: _Seen) -> Array:
    """Flags of velocities (b, nv) at a limit against which the error pushes them."""
    gradient = jnp.einsum("bkn,bk->bn", seen.columns, seen.error, precision="highest")
    low, high = _at_limits(m, q, limits)
    return (low & (gradient < 0.0)) | (high & (gradient > 0.0))


def _at_limits(m: Mechanism, q: Array, limits: tuple[Array, Array]) -> tuple[Array, Array]:
    """Flags of velocities (b, nv) of positions at their lower limit, and at their upper one."""
    place = np.array(_position_of(m), dtype=np.int64)
    single, of_v = place >= 0, np.maximum(place, 0)
    return tuple(
        single & found[:, of_v] for found in (q <= limits[0], q >= limits[1])
    )  # a quaternion's numbers have none


@_solution.defjvp
def _solution_jvp(
    search: _Search, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any]:
    """J dv = the change of the residual by targets and model, joints at limits going with these."""
    m, targets, q0, numbers = primals
    dm, dtargets, _, _ = tangents
    q, iterations = _solution(search, m, targets, q0, numbers)
    mechanism = m.mechanism
    seen = _seen(search, m, targets, q, numbers)
    _, change = jax.jvp(
        lambda model, x: _seen(search, model, x, q, numbers).error, (m, targets), (dm, dtargets)
    )
    low, high = _at_limits(mechanism, q, (m.lower, m.upper))
    at = np.maximum(np.array(_position_of(mechanism), dtype=np.int64), 0)
    moves, unit = search.moves, jnp.asarray(search.unit, q.dtype)
    zero = jnp.zeros((len(q), mechanism.n_v), q.dtype)
    d_limits = (_tangent(dm.lower, m.lower)[at], _tangent(dm.upper, m.upper)[at])
    at_limit = jnp.where(low & moves, d_limits[0], jnp.where(high & moves, d_limits[1], zero))
    free = jnp.where((moves & ~(low | high))[:, None, :], seen.columns * unit, 0.0)
    v = at_limit + unit * closed.least(free, change - closed.onto(seen.columns, at_limit))
    v = jnp.where(seen.reached[:, None], v, 0.0)
    return (q, iterations), (closed.moved(m, q, v), closed.no_change(iterations))


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


def _random(
    search: _Search, m: Mechanism, which: tuple[Array, Array], q0: Array, limits: Any
) -> Array:
    """Configurations inside the limits, random at the joints that move, by problem and try."""
    low, high = (jnp.asarray(x, q0.dtype) for x in configuration.ranges(m))
    low, high = jnp.maximum(low, limits[0]), jnp.minimum(high, limits[1])
    moves = np.zeros(m.n_q, dtype=bool)
    moves[list(search.problem.moved)] = True
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
