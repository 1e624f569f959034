"""Tasks of inverse kinematics under JAX: the expressions of `linkwork.ik`, on a model's numbers.

A task's residual is written over the operations of one configuration. Here these are JAX's, and
what asks for poses or Jacobians gets them from the passes of `sweep.py`; `vmap` is outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy
from numpy.typing import ArrayLike

from linkwork.algorithms import configuration
from linkwork.errors import InputError, ShapeError, UnknownNameError, UnsupportedFeatureError
from linkwork.jax.model import Array, Bodies, Model, bodies_of, real_array
from linkwork.jax.sweep import JaxSweep
from linkwork.mechanism.model import Mechanism
from linkwork.ops.jax import JaxOps
from linkwork.ops.protocol import Block
from linkwork.solve.expressions import row_scales_of
from linkwork.solve.problem import Problem
from linkwork.solve.tasks import (
    DIRECTION,
    HELD,
    LINE,
    POSE,
    ROTATION,
    BoundTask,
    Closed,
    Manipulability,
    beyond_slack,
)

jnp: Any = jax.numpy


_OF_JOINTS = (configuration.difference.passes, configuration.integrate.passes)
"""The passes that ask for no number of a model."""


class ModelOps(JaxOps):
    """JAX's operations, by which functions of a mechanism read the numbers of a model."""

    def __init__(self, model: Model, bodies: Bodies) -> None:
        self._model, self._bodies = model, bodies

    def const(self, value: Any) -> Block:
        """Numbers take the type of the model's."""
        if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jnp.floating):
            return value
        return jnp.asarray(value, dtype=self._model.dtype)

    def loops(
        self,
        o: Any,
        by_sweep: Callable[..., Any],
        m: Mechanism,
        inputs: Sequence[Any],
        bodies: Sequence[int] | None,
        static: Mapping[str, Any],
    ) -> list[Block] | None:
        """The results of passes over the model; see `algorithms.sweep.looped`."""
        del o
        if m is not self._model.mechanism:
            raise UnsupportedFeatureError(
                f"lj.ik knows no numbers of '{m.name}', a part of a robot"
            )
        if not m.n_bodies or (bodies is not None and not len(bodies)) or by_sweep in _OF_JOINTS:
            return None
        sweep: Any = JaxSweep(self._model, self._bodies, tuple(inputs), bodies)
        found = by_sweep(sweep, *sweep.inputs[1:], **static)
        return [each.block() for each in (found if isinstance(found, list) else [found])]


def bound_tasks(problem: Problem) -> list[BoundTask]:
    """The tasks of a problem but that of its loops, whose rows `closed.py` has.

    Raises: UnsupportedFeatureError for a task that is not there under JAX.
    """
    found = [task for task in problem.tasks if not isinstance(task.task, Closed)]
    for task in found:
        if isinstance(task.task, Manipulability):
            raise UnsupportedFeatureError(f"'{task.name}': lj.ik has no tasks of manipulability")
    return found


def targets_of(
    tasks: Sequence[BoundTask], given: ArrayLike | Mapping[str, ArrayLike] | None
) -> list[Array]:
    """The numbers (..., n) of each task's target, which may be traced.

    Raises: UnknownNameError, ShapeError, InputError.
    """
    takes = [task.name for task in tasks if task.kind.n]
    by_name: dict[str, Any] = {}
    if isinstance(given, Mapping):
        for name in given:
            if name not in takes:
                raise UnknownNameError("task with a target", str(name), takes)
        by_name = dict(given)
    elif given is not None:
        if len(takes) != 1:
            raise InputError(f"targets are a mapping of the tasks' names: {', '.join(takes)}")
        by_name = {takes[0]: given}
    found: list[Array] = []
    for task in tasks:
        if not task.kind.n:
            found.append(jnp.zeros(0))
        elif task.name in by_name:
            found.append(_target(task, by_name[task.name]))
        elif task.target is not None:
            found.append(jnp.asarray(task.target, dtype=float))
        else:
            raise InputError(f"'{task.name}' has no target: give one with it, or among the targets")
    return found


def _target(task: BoundTask, given: ArrayLike) -> Array:
    """A target as its kind has it, as numbers (..., n); directions become unit vectors."""
    x = real_array(given, f"targets of '{task.name}'")
    x = x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(float)
    kind = task.kind
    shape: tuple[int, ...] = (kind.n,)
    if kind in (POSE, HELD):
        shape = (4, 4) if kind is POSE else (2, 4, 4)
    elif kind is ROTATION:
        shape = (4, 4) if x.shape[-2:] == (4, 4) else (3, 3)
    if x.ndim < len(shape) or x.shape[x.ndim - len(shape) :] != shape:
        told = ", ".join(("...", *map(str, shape)))
        raise ShapeError(f"targets of '{task.name}' have the shape ({told}), not {x.shape}")
    if kind is POSE:
        return _rows(x)
    if kind is HELD:
        return jnp.concatenate([_rows(x[..., k, :, :]) for k in range(2)], axis=-1)
    if kind is ROTATION:
        return x[..., :3, :3].reshape(*x.shape[:-2], 9)
    if kind is DIRECTION or kind is LINE:
        way = x[..., -3:]
        way = way / jnp.linalg.norm(way, axis=-1, keepdims=True)
        return jnp.concatenate([x[..., :-3], way], axis=-1)
    return x


def _rows(T: Array) -> Array:
    """Poses (..., 4, 4) as positions, then rotations by rows (..., 12)."""
    lead = T.shape[:-2]
    return jnp.concatenate([T[..., :3, 3], T[..., :3, :3].reshape(*lead, 9)], axis=-1)


class Residuals(NamedTuple):
    """The rows of all tasks at configurations."""

    error: Array  # (b, k) weighted, in radians
    columns: Array  # (b, k, nv) the derivative by v, sign turned
    errors: Array  # (b, groups) in metres, radians or plain numbers


def residuals(
    problem: Problem, m: Model, q: Array, targets: Sequence[Array], numbers: Mapping[str, Array]
) -> Residuals:
    """The rows of the tasks at q (b, nq) for their targets (b, n), one below the other."""
    bodies, tasks = bodies_of(m), bound_tasks(problem)

    def one(q: Array, *targets: Array) -> Residuals:
        o: Any = ModelOps(m, bodies)
        errors: list[Array] = []
        columns: list[Array] = []
        measures: list[Array] = []
        row = 0
        for k, (task, target) in enumerate(zip(tasks, targets, strict=True)):
            residual = task.in_world or task.residual
            found = residual(o, q, target)
            if any(task.slack):
                slack = numbers["slacks"][row : row + task.n_rows]
                found = beyond_slack(o, found, slack, task.groups)
            row += task.n_rows
            scale = jnp.asarray(row_scales_of(problem, task), q.dtype)
            scale = scale * jnp.sqrt(numbers["weights"][k])
            errors.append(scale * found.error)
            columns.append(scale[:, None] * jnp.stack(found.columns, axis=1))
            for group, squared in zip(task.groups, found.squared, strict=True):
                positive = ~(squared <= 0.0)  # NaN stays NaN
                length = jnp.where(positive, jnp.sqrt(jnp.where(positive, squared, 1.0)), 0.0)
                half = jnp.minimum(0.5 * length, 1.0)
                measures.append(2.0 * jnp.arcsin(half) if group.chord else length)
        found = Residuals(jnp.concatenate(errors), jnp.concatenate(columns), jnp.stack(measures))
        return jax.tree_util.tree_map(lambda x: x.astype(q.dtype), found)

    with jax.default_matmul_precision("highest"):
        return jax.vmap(one)(q, *targets)
