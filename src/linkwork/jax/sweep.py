"""Passes over a mechanism as scans: what is done for a joint is traced once for each kind of joint.

This is `algorithms.sweep.Sweep` on arrays of JAX. Every number that a pass knows of a joint is an
array over configurations; what depends on nothing but the joint itself is done for all joints of a
kind at once, and what follows the tree is a `lax.scan` over a *run*, joints of one kind that stand
one after the other. So a function takes as long to compile for thirty joints as for seven. What a
scan stores in results leaves it as a stack, and is put in its place behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy
import numpy as np
from jax import lax
from numpy.typing import NDArray

from linkwork.algorithms.joint_transforms import (
    UNTURNED,
    Inertia,
    JointTransform,
    fixed_in,
    joint_layout,
    joint_transforms,
)
from linkwork.algorithms.sweep import FramePose, OfVelocities, Output, poses, spring_places
from linkwork.algorithms.vector3 import Scalar, applied, transposed
from linkwork.jax.model import Array, Bodies, Model, anchored
from linkwork.mechanism.model import JointType, Mechanism, Placement
from linkwork.ops.jax import JaxOps

jnp: Any = jax.numpy
Whole = NDArray[np.int64]

WORLD = 0
"""Joint transforms are counted from 1."""
_NOWHERE = 1 << 24
"""An index beyond every array: what is stored there is dropped."""


class LaneOps(JaxOps):
    """JAX's operations where a number is an array over joints and configurations.

    Vectors and matrices have their own axes first.
    """

    def const(self, value: Any) -> Array:
        """A number takes the type of the arrays that it meets."""
        return float(value) if np.ndim(value) == 0 else super().const(value)

    def dot(self, a: Array, b: Array) -> Array:
        """Inner products of vectors (n, ...)."""
        return sum((a[k] * b[k] for k in range(1, len(a))), start=a[0] * b[0])

    def vector(self, scalars: Sequence[Array]) -> Array:
        """Numbers (...) as vectors (n, ...)."""
        return jnp.stack(jnp.broadcast_arrays(*scalars))

    def matrix(self, columns: Sequence[Array]) -> Array:
        """Vectors (m, ...) as the columns of matrices (m, n, ...)."""
        return jnp.stack(jnp.broadcast_arrays(*columns), axis=1)


# -------------------------------------------------------------------------------------- structure


class _Run(NamedTuple):
    """Joint transforms of one kind, one after the other, as a scan goes over them."""

    kind: int
    start: int
    stop: int
    lane: int  # of the first of them among all of its kind


class _Layout:
    """The joint transforms of a mechanism in the order of the runs; parents come first."""

    def __init__(self, m: Mechanism, bodies: Iterable[int] | None) -> None:
        found = joint_layout(m, list(range(m.n_bodies) if bodies is None else bodies))
        listed = _order(found.kind.tolist(), (found.parent - 1).tolist())
        order = np.array(listed, np.int64)
        place = np.zeros(len(order) + 1, np.int64)  # where each has come to; the world stays
        place[order + 1] = np.arange(1, len(order) + 1)
        self.types, self.n, self.last = found.kinds, len(order), place[found.last]
        self.kind = np.append(-1, found.kind[order])
        self.body = np.append(-1, found.body[order])
        self.parent = np.append(-1, place[found.parent[order]])
        self.q, self.v = np.append(0, found.q[order]), np.append(0, found.v[order])
        self.factor = np.append(1.0, m.multiplier[self.body[1:]])
        self.offset = np.append(0.0, m.offset[self.body[1:]])
        self.of_kind = [np.flatnonzero(self.kind == k) for k in range(len(self.types))]
        self.lane = np.zeros(self.n + 1, dtype=np.int64)
        for own in self.of_kind:
            self.lane[own] = np.arange(len(own))
        self.runs: list[_Run] = []
        at = 1
        while at <= self.n:
            stop = at
            while stop <= self.n and self.kind[stop] == self.kind[at]:
                stop += 1
            self.runs.append(_Run(int(self.kind[at]), at, stop, int(self.lane[at])))
            at = stop

    def is_chain(self, run: _Run) -> bool:
        """Whether each joint of a run is carried by the one before."""
        rest = range(run.start + 1, run.stop)
        return all(int(self.parent[k]) == k - 1 for k in rest)


def _order(kinds: Sequence[int], parents: Sequence[int]) -> list[int]:
    """An order with parents first in which joints of a kind stand together where they can."""
    children: dict[int, list[int]] = {}
    for k, parent in enumerate(parents):
        children.setdefault(parent, []).append(k)
    ready: dict[int, list[int]] = {}
    for k in children.get(-1, []):
        ready.setdefault(kinds[k], []).append(k)
    found: list[int] = []
    now = -1
    while ready:
        if now not in ready:
            now = min(ready, key=lambda kind: min(ready[kind]))
        k = min(ready[now])
        ready[now].remove(k)
        if not ready[now]:
            del ready[now]
        found.append(k)
        for child in children.get(k, []):
            ready.setdefault(kinds[child], []).append(child)
    return found


# ------------------------------------------------------------------------- states in, and out again


def _is_constant(x: Any) -> bool:
    return type(x) is float


@dataclass(frozen=True, slots=True, eq=False)
class _Index:
    """A whole number of each joint: known before anything runs, and where a scan is."""

    known: Whole
    now: Any  # the same, or the one of a scan's body
    offset: int = 0

    def __add__(self, more: Any) -> _Index:
        return replace(self, offset=self.offset + int(more))

    @property
    def at(self) -> Any:
        """The places at which numbers are read."""
        return self.now + self.offset if self.offset else self.now


class _Packed(NamedTuple):
    """A state as one array for all of its numbers that change with the configuration, and one for
    those that do not; constants stay in its structure."""

    arrays: tuple[Array, ...]  # (joints, numbers, ...)
    together: Callable[..., Any]

    def state(self, arrays: Sequence[Array] | None = None, *, axis: int = 1) -> Any:
        """The state, its numbers arrays over joints (``axis`` 1) or of one joint (0)."""
        return self.together(self.arrays if arrays is None else arrays, axis)

    def cut(self, part: slice) -> _Packed:
        """Of some joints."""
        return _Packed(tuple(x[part] for x in self.arrays), self.together)


def _packed(state: Any, n_batch: int, axis: int) -> _Packed:
    """A state with its numbers stacked along an axis: 1 behind that of joints, 0 without one."""
    leaves, tree = jax.tree_util.tree_flatten(state)
    which: list[list[int]] = [[], []]
    for k, x in enumerate(leaves):
        if not _is_constant(x):
            shape = jnp.shape(x)[axis:]
            same = len(shape) < n_batch or all(size == 1 for size in shape)
            which[int(same and n_batch > 0)].append(k)
    kept = [group for group in which if group]
    arrays = tuple(
        jnp.stack(jnp.broadcast_arrays(*[leaves[k] for k in group]), axis=axis) for group in kept
    )
    constants: list[Any] = [x if _is_constant(x) else None for x in leaves]

    def together(arrays: Sequence[Array], axis: int) -> Any:
        filled = list(constants)
        for group, x in zip(kept, arrays, strict=True):
            for i, k in enumerate(group):
                filled[k] = x[:, i] if axis else x[i]
        return jax.tree_util.tree_unflatten(tree, filled)

    return _Packed(arrays, together)


class _States:
    """The states that a pass found: packed by the kind of joint, or over all transforms."""

    def __init__(
        self, layout: _Layout, of_kind: dict[int, _Packed] | None = None, whole: Any = None
    ) -> None:
        self._layout, self._of_kind = layout, of_kind or {}
        self.whole: _Packed | None = whole

    def packed(self, kind: int) -> _Packed:
        """Of all joints of a kind."""
        if self.whole is None:
            return self._of_kind[kind]
        own = self._layout.of_kind[kind]
        return _Packed(tuple(x[own] for x in self.whole.arrays), self.whole.together)

    def lanes(self, kind: int) -> Any:
        """Of all joints of a kind, as arrays over these."""
        return self.packed(kind).state()

    def run(self, run: _Run) -> _Packed:
        """Of the joints of a run."""
        if self.whole is not None:
            return self.whole.cut(slice(run.start, run.stop))
        return self._of_kind[run.kind].cut(slice(run.lane, run.lane + run.stop - run.start))

    def at(self, index: Any) -> Any:
        """Of one joint, or of several of all kinds."""
        if self.whole is not None:
            found = tuple(x[index] for x in self.whole.arrays)
            return self.whole.state(found, axis=int(np.ndim(index) > 0))
        of = self._of_kind[int(self._layout.kind[index])]
        return of.state([x[int(self._layout.lane[index])] for x in of.arrays], axis=0)


class _Vector:
    """An input (n, ...), whose elements are at numbers or indices."""

    def __init__(self, values: Array) -> None:
        self.values = values

    def __getitem__(self, at: Any) -> Array:
        if not isinstance(at, _Index):
            return self.values[at]
        if np.ndim(at.now) == 0:
            return _one(self.values, at.at)
        return self.values[at.at]


class _Write(NamedTuple):
    """An entry that a pass stores: the indices, the number, and whether it is added."""

    output: JaxOutput
    at: tuple[Any, ...]
    value: Any
    add: bool


class JaxOutput(Output):
    """A result (shape, ...) that passes fill, entry by entry or many at once."""

    def __init__(self, sweep: JaxSweep, shape: tuple[int, ...]) -> None:
        super().__init__(shape)
        self._sweep = sweep
        self._array: Array = None
        self._waiting: list[tuple[Whole, Array, bool]] = []  # flat indices, numbers, added
        sweep.outputs.append(self)
        self.live = False  # whether it is carried by a scan, which sees what it has stored itself

    def put(self, at: tuple[Any, ...], value: Scalar) -> None:
        """Set the entry at these indices."""
        self._write(at, value, add=False)

    def add(self, at: tuple[Any, ...], value: Scalar) -> None:
        """Add to the entry at these indices."""
        self._write(at, value, add=True)

    def _write(self, at: tuple[Any, ...], value: Scalar, *, add: bool) -> None:
        if self._sweep.writes is not None and not self.live:
            self._sweep.writes.append(_Write(self, at, value, add))
            return
        index = self.flat(at)
        if index.ndim == 0 and jnp.ndim(value) > len(self._sweep.batch):
            value = jnp.sum(value, axis=0)  # of many joints, for one entry
        n = index.size
        value = jnp.asarray(value, self._sweep.dtype)
        if index.ndim and value.ndim < 1 + len(self._sweep.batch):
            value = value.reshape((1,) * (1 + len(self._sweep.batch) - value.ndim) + value.shape)
        self.store(index.reshape(-1), jnp.broadcast_to(value, (n, *self._sweep.batch)), add=add)

    def flat(self, at: tuple[Any, ...]) -> Whole:
        """The places of entries when all are in one row; beyond it where there is none."""
        known = [np.asarray(k.known + k.offset if isinstance(k, _Index) else k) for k in at]
        if not known:
            return np.zeros((), dtype=np.int64)
        known = np.broadcast_arrays(*known)
        found = np.zeros(known[0].shape, dtype=np.int64)
        outside = np.zeros(known[0].shape, dtype=bool)
        for k, size in zip(known, self.shape, strict=True):
            found = found * size + k
            outside |= k >= size
        return np.where(outside, -1, found)

    def store(self, index: Whole, values: Array, *, add: bool) -> None:
        """Store entries (n, ...) at flat indices (n,); those at -1 are dropped."""
        self._waiting.append((index, values, add))

    def get(self, *at: Any) -> Scalar:
        """The entry at these indices."""
        self._sweep.read.add(self)
        found = _Vector(self.array)
        return found[at[0]] if len(at) == 1 else self.array[at]

    @property
    def array(self) -> Array:
        """All entries, those axes first."""
        sweep, size = self._sweep, int(np.prod(self.shape))
        waiting, self._waiting = self._waiting, []
        array = None if self._array is None else self._array.reshape(size, *sweep.batch)
        while waiting:
            group = [waiting.pop(0)]
            used = set(group[0][0].tolist()) - {-1}
            while waiting and waiting[0][2] == group[0][2]:
                more = [k for k in waiting[0][0].tolist() if k >= 0]
                if len(set(more)) < len(more) or used & set(more):
                    break
                used |= set(more)
                group.append(waiting.pop(0))
            index = np.concatenate([each[0] for each in group])
            values = [each[1] for each in group]
            array = _with_entries(array, index, values, size, add=group[0][2])
        if array is None:
            array = jnp.zeros((size, *sweep.batch), sweep.dtype)
        self._array = array.reshape(*self.shape, *sweep.batch)
        return self._array

    @array.setter
    def array(self, value: Array) -> None:
        self._array, self._waiting = value, []

    def block(self, o: Any = None) -> Array:
        """The result, configurations first (..., shape)."""
        del o
        n = len(self.shape)
        return jnp.moveaxis(self.array, tuple(range(n)), tuple(range(-n, 0))) if n else self.array


def _with_entries(
    array: Array | None, index: Whole, values: list[Array], size: int, *, add: bool
) -> Array:
    """An array (size, ...) with entries set or added; each comes from one place if it can."""
    every = values[0] if len(values) == 1 else jnp.concatenate(values)
    kept = index >= 0
    if len(np.unique(index[kept])) < kept.sum():
        start = jnp.zeros((size, *every.shape[1:]), every.dtype) if array is None else array
        where = start.at[np.where(kept, index, size)]
        return where.add(every, mode="drop") if add else where.set(every, mode="drop")
    source = np.full(size, len(index))
    source[index[kept]] = np.flatnonzero(kept)
    filled = source < len(index)
    if filled.all():
        found = every if np.array_equal(source, np.arange(len(index))) else every[source]
        return found if array is None or not add else array + found
    found = jnp.concatenate([every, jnp.zeros_like(every[:1])])[source]
    if array is None:
        return found
    if add:
        return array + found
    return jnp.where(filled.reshape(-1, *[1] * (array.ndim - 1)), found, array)


# --------------------------------------------------------------------------------------- the sweep


class Acting(NamedTuple):
    """The loads on a robot, as the keywords of dynamics say them."""

    losses: bool = False  # whether damping, friction and springs count
    external: Mapping[str, Array] | None = None  # wrenches (..., 6) by frame
    gravity: Array | None = None  # (..., 3) in the place of the model's
    armature: Array | None = None  # (..., nv)


class JaxSweep:
    """The passes of `algorithms.sweep.Sweep`, by scans.

    Inputs have the shape (..., n), and results too.
    """

    def __init__(
        self,
        model: Model,
        bodies: Bodies,
        inputs: Sequence[Array],
        of: Iterable[int] | None = None,
        *,
        acting: Acting | None = None,
    ) -> None:
        """``of``: the bodies that count (default: all), parents first."""
        self.m, self.o = model.mechanism, LaneOps()
        acting = acting or Acting()
        self._model, self._numbers, self._losses = model, bodies, acting.losses
        given = dict(acting.external or {})
        gravity = model.gravity if acting.gravity is None else acting.gravity
        armature = model.armature if acting.armature is None else acting.armature
        every = (*inputs, *given.values(), gravity, armature)
        self.batch = np.broadcast_shapes(*(x.shape[:-1] for x in every))
        self.dtype = jnp.result_type(model.dtype, *every)
        self.inputs = [_Vector(self._first(x)) for x in inputs]
        self._external = {name: self._first(x) for name, x in given.items()}
        self._anchor = anchored(jnp.zeros((), self.dtype), model, *every)
        self._gravity, self._armature = self._leading(gravity), self._leading(armature)
        self._layout = _Layout(self.m, of)
        self.writes: list[_Write] | None = None
        self.outputs: list[JaxOutput] = []
        self.read: set[JaxOutput] = set()
        self._steps = {kind: self._placed(kind) for kind in range(len(self._layout.types))}

    def _first(self, x: Array) -> Array:
        """An input with its own axis first."""
        x = jnp.broadcast_to(x, (*self.batch, x.shape[-1]))
        return jnp.moveaxis(jnp.asarray(x, self.dtype), -1, 0)

    def _leading(self, x: Array) -> Array:
        """Numbers that may be the same for all configurations, their own axis first."""
        x = jnp.asarray(x, self.dtype)
        return self._first(x) if x.ndim > 1 else self._table(x)

    def over_batch(self, x: Any) -> Array:
        """A number, for all configurations."""
        return jnp.broadcast_to(jnp.asarray(x, self.dtype), self.batch)

    def _table(self, values: Any) -> Array:
        """Numbers of joints (n,), the same for all configurations."""
        values = jnp.asarray(values, self.dtype)
        return values.reshape(values.shape + (1,) * len(self.batch))

    # joint transforms

    def _placed(self, kind: int) -> _Packed:
        """The numbers that place the transforms of a kind, as `_transform` takes them.

        Placements (joints, 12) and positions, of turns their cosines and sines.
        """
        layout, (type, part) = self._layout, self._layout.types[kind]
        own = layout.of_kind[kind]
        body = layout.body[own]
        factor, offset = layout.factor[own], layout.offset[own]
        coupled = bool(np.any(factor != 1.0) or np.any(offset != 0.0))
        position: list[Any] = []
        for k in range(type.n_q):
            x = self.inputs[0][layout.q[own] + k]
            position.append(self._table(factor) * x + self._table(offset) if coupled else x)
        if type.turns or part == 2:
            position = [self.o.cos(position[part]), self.o.sin(position[part])]
        arrays: list[Array] = []
        placed = type is not JointType.FIXED and part == 0
        if placed:
            R, p = self._numbers.R[body], self._numbers.p[body]
            columns = [R.reshape(-1, 9), p]
            if coupled:
                columns.append(factor[:, None])
            arrays.append(self._table(jnp.concatenate(columns, axis=1)))
        if position:
            arrays.append(jnp.stack(position, axis=1))
        fixed = [self.m.placement(int(k)) for k in body[:1]]

        def together(arrays: Sequence[Array], axis: int) -> Any:
            given = list(arrays)

            def each(x: Array, k: int) -> Array:
                return x[:, k] if axis else x[k]

            at = fixed[0] if type is JointType.FIXED else Placement(UNTURNED, [0.0] * 3)
            scale: Any = 1.0
            if placed:
                table = given.pop(0)
                rows = [[each(table, 3 * i + j) for j in range(3)] for i in range(3)]
                at = Placement(rows, [each(table, 9 + i) for i in range(3)])
                scale = each(table, 12) if coupled else 1.0
            n = len(position)
            return at, [each(given[0], k) for k in range(n)] if n else [], scale

        return _Packed(tuple(arrays), together)

    def _rows(self, R: Array) -> list[list[Array]]:
        return [[self._table(R[:, i, j]) for j in range(3)] for i in range(3)]

    def _vector(self, p: Array) -> list[Array]:
        return [self._table(p[:, i]) for i in range(3)]

    def _pack(self, state: Any, n: int) -> _Packed:
        """A state over joints, packed."""
        n_batch = len(self.batch)

        def over(x: Any) -> Any:
            if _is_constant(x):
                return x
            x = jnp.asarray(x, self.dtype)
            if x.ndim < 1 + n_batch:
                x = x.reshape((1,) * (1 + n_batch - x.ndim) + x.shape)
            return jnp.broadcast_to(x, (n, *x.shape[1:]))

        return _packed(jax.tree_util.tree_map(over, state), n_batch, 1)

    def _transform(self, kind: int, numbers: Any, index: _Index) -> JointTransform:
        """The transform of its numbers."""
        (type, part), (at, position, factor) = self._layout.types[kind], numbers
        step = fixed_in(at)
        start: Any = index
        if type.turns or part == 2:  # the cosine and the sine are known
            c, s = position
            R = [[a * c + b * s, b * c - a * s, z] for a, b, z in step.R]
            found = step._replace(free=((2, True),), turn=(c, s), R=R)
        else:
            found = joint_transforms(self.o, type, step, position)[part]
        owner = part == 2 or type is not JointType.PLANAR
        return found._replace(owner=owner, start=start, factor=factor)

    def _lanes(self, kind: int) -> JointTransform:
        own = self._layout.of_kind[kind]
        known, bodies = self._layout.v[own], self._layout.body[own]
        step = self._transform(kind, self._steps[kind].state(), _Index(known, known))
        body: Any = _Index(bodies, bodies)
        return step._replace(body=body)

    def _scan(
        self,
        run: _Run,
        body: Callable[[Any, JointTransform, Any, Any], tuple[Any, Any]],
        carry: Any,
        states: Sequence[_States],
        *,
        backwards: bool = False,
        extra: Any = None,
    ) -> tuple[Any, _Packed]:
        """``body(carry, transform, where it is, its states) -> carry, kept`` over a run.

        Where it is: its own number and its parent's, and what ``extra`` has of it.
        """
        self._settle()
        layout, n_batch = self._layout, len(self.batch)
        part = slice(run.lane, run.lane + run.stop - run.start)
        given = [self._steps[run.kind].cut(part), *(state.run(run) for state in states)]
        known = layout.v[run.start : run.stop]
        notes: dict[str, Any] = {}

        def once(carry: Any, now: Any) -> tuple[Any, Any]:
            arrays, where, start, more = now
            numbers, *own = [each.state(x, axis=0) for each, x in zip(given, arrays, strict=True)]
            before, self.writes = self.writes, []
            try:
                step = self._transform(run.kind, numbers, _Index(known, start))
                carry, kept = body(carry, step, where if extra is None else (*where, more), own)
                writes = self.writes
            finally:
                self.writes = before
            notes["writes"] = [(w.output, w.at, w.add) for w in writes]
            stored = jnp.stack([self.over_batch(w.value) for w in writes]) if writes else ()
            packed = _packed(kept, n_batch, 0)
            notes["together"] = packed.together
            return carry, (packed.arrays, stored)

        where = (np.arange(run.start, run.stop), layout.parent[run.start : run.stop])
        xs = ([each.arrays for each in given], where, known, () if extra is None else extra)
        if len(known) == 1:
            one = jax.tree_util.tree_map(lambda x: x[0], xs)
            carry, behind = once(carry, one)
            kept, stored = jax.tree_util.tree_map(lambda x: x[None], behind)
        else:
            carry, (kept, stored) = lax.scan(once, carry, xs, reverse=backwards)
        for k, (output, at, add) in enumerate(notes["writes"]):
            index = np.broadcast_to(output.flat(at), (len(known),))
            output.store(index, stored[:, k], add=add)
        return carry, _Packed(kept, notes["together"])

    def _settle(self) -> None:
        """Bring results up to date before a scan, in whose body they are read."""
        for output in self.outputs:
            if not output.live:
                output.array = output.array

    # passes

    def outwards(self, world: Callable[[], Any], visit: Callable[..., Any], *states: Any) -> Any:
        """As `Sweep.outwards`; what is found must have the structure of ``world``."""
        leaves, tree = jax.tree_util.tree_flatten(world())
        n, layout = len(leaves), self._layout
        first = jnp.stack([self.over_batch(x) for x in leaves]) + self._anchor
        found = _Rows(first[None], layout.n + 1)

        def after(before: Array, step: JointTransform, own: Any) -> Array:
            state = visit(step, jax.tree_util.tree_unflatten(tree, list(before)), *own)
            return jnp.stack([self.over_batch(x) for x in jax.tree_util.tree_leaves(state)])

        def along(before: Array, step: JointTransform, where: Any, own: Any) -> tuple[Any, Any]:
            del where
            now = after(before, step, own)
            return now, list(now)

        def anywhere(found: Array, step: JointTransform, where: Any, own: Any) -> tuple[Any, Any]:
            position, parent = where
            return _stored(found, position, after(_one(found, parent), step, own)), ()

        for run in layout.runs:
            if layout.is_chain(run):
                before = found[int(layout.parent[run.start])]
                _, now = self._scan(run, along, before, states)
                found.append(now.arrays[0])
            else:
                found.replace(self._scan(run, anywhere, found.room(), states)[0], run.stop)

        def together(arrays: Sequence[Array], axis: int) -> Any:
            (x,) = arrays
            numbers = [x[:, k] if axis else x[k] for k in range(n)]
            return jax.tree_util.tree_unflatten(tree, numbers)

        return _States(layout, whole=_Packed((found,), together))

    def inwards(self, own: Any, visit: Callable[..., tuple[Any, Any]], *states: Any) -> Any:
        """As `Sweep.inwards`; totals must have one structure."""
        _, kept = self._inwards(own, visit, states)
        return kept

    def _inwards(
        self, own: _States, visit: Callable[..., tuple[Any, Any]], states: Sequence[_States]
    ) -> tuple[Any, _States]:
        totals, tree = self._gathered(own)
        layout = self._layout

        def handed(total: Array, step: JointTransform, given: Any) -> tuple[Any, Array]:
            kept, more = visit(step, jax.tree_util.tree_unflatten(tree, list(total)), *given)
            leaves = [self.over_batch(x) for x in jax.tree_util.tree_leaves(more)]
            return kept, jnp.stack(leaves) if leaves else total

        def along(more: Array, step: JointTransform, where: Any, given: Any) -> tuple[Any, Any]:
            kept, more = handed(where[2] + more, step, given)
            return more, kept

        def anywhere(
            totals: Array, step: JointTransform, where: Any, given: Any
        ) -> tuple[Any, Any]:
            position, parent = where
            kept, more = handed(_one(totals, position), step, given)
            return _stored(totals, parent, _one(totals, parent) + more), kept

        found: dict[int, list[_Packed]] = {}
        for run in reversed(layout.runs):
            if layout.is_chain(run):
                part, parent = slice(run.start, run.stop), int(layout.parent[run.start])
                more, kept = self._scan(
                    run, along, jnp.zeros_like(totals[0]) + self._anchor, states,
                    backwards=True, extra=totals[part],
                )  # fmt: skip
                totals = totals.at[parent].add(more)
            else:
                totals, kept = self._scan(run, anywhere, totals, states, backwards=True)
            found.setdefault(run.kind, []).insert(0, kept)
        whole = jax.tree_util.tree_unflatten(tree, list(totals[WORLD]))
        return whole, _States(layout, {kind: _joined(x) for kind, x in found.items()})

    def _gathered(self, states: _States) -> tuple[Array, Any]:
        """States of one structure: an array over all transforms (n + 1, numbers, ...), and it."""
        layout = self._layout
        totals, tree = None, None
        for kind, own in enumerate(layout.of_kind):
            leaves, tree = jax.tree_util.tree_flatten(states.lanes(kind))
            if totals is None:
                totals = jnp.zeros((layout.n + 1, len(leaves), *self.batch), self.dtype)
            if leaves:
                values = jnp.stack([self._over_lanes(x, len(own)) for x in leaves], axis=1)
                totals = totals.at[own].set(values, unique_indices=True)
        return None if totals is None else totals + self._anchor, tree

    def _over_lanes(self, x: Any, n: int) -> Array:
        x = jnp.asarray(x, self.dtype)
        if x.ndim < 1 + len(self.batch):
            x = x.reshape((1,) * (1 + len(self.batch) - x.ndim) + x.shape)
        return jnp.broadcast_to(x, (n, *self.batch))

    def to_world(self, own: Any, hand: Callable[..., Any], arrive: Callable[[Any], None]) -> None:
        """As `Sweep.to_world`."""
        whole, _ = self._inwards(own, lambda step, total: ((), hand(step, total)), ())
        arrive(whole)

    def each(self, visit: Callable[..., Any], *states: Any, backwards: bool = False) -> Any:
        """As `Sweep.each`: all joints of a kind at once, or the last first."""
        if backwards:
            return self._each_backwards(visit, states)
        found: dict[int, _Packed] = {}
        for kind, own in enumerate(self._layout.of_kind):
            state = visit(self._lanes(kind), *[state.lanes(kind) for state in states])
            found[kind] = self._pack(state, len(own))
        return _States(self._layout, found)

    def _each_backwards(self, visit: Callable[..., Any], states: Sequence[_States]) -> None:
        """One after the other, the last first: what is read and stored again is carried."""
        run = self._layout.runs[-1]
        self._settle()
        self.read = set()
        touched: list[_Write] = []

        packed = [self._steps[run.kind], *(state.run(run) for state in states)]
        known = self._layout.v[run.start : run.stop]

        def look(arrays: Any) -> None:
            numbers, *own = [
                each.state([x[0] for x in xs], axis=0)
                for each, xs in zip(packed, arrays, strict=True)
            ]
            before, self.writes = self.writes, touched
            visit(self._transform(run.kind, numbers, _Index(known, jnp.zeros((), int))), *own)
            self.writes = before

        jax.eval_shape(look, [each.arrays for each in packed])
        written = dict.fromkeys(w.output for w in touched)
        carried = [output for output in written if output in self.read]

        def body(carry: Any, step: JointTransform, where: Any, own: Any) -> tuple[Any, Any]:
            del where
            for output, value in zip(carried, carry, strict=True):
                output.array, output.live = value, True
            visit(step, *own)
            after = [output.array for output in carried]
            for output in carried:
                output.live = False
            return after, ()

        carry = [output.array + self._anchor for output in carried]
        for each in reversed(self._layout.runs):
            carry, _ = self._scan(each, body, carry, states, backwards=True)
        for output, value in zip(carried, carry, strict=True):
            output.array = value

    def up(
        self,
        begin: Callable[..., Any],
        carry: Callable[[JointTransform, Any], Any],
        meet: Callable[..., None],
        *states: Any,
    ) -> None:
        """As `Sweep.up`: all joints of a kind at once, one carrier further at each step."""
        layout = self._layout
        self._settle()
        placed = self._placements()
        for kind, own in enumerate(layout.of_kind):
            step, given = self._lanes(kind), [state.lanes(kind) for state in states]
            now = begin(step, *given)
            at, above = _carriers(layout.parent, own)
            if not len(at) or not step.free:
                continue
            leaves, tree = jax.tree_util.tree_flatten(now)
            if not leaves:
                continue
            start = jnp.stack([self._over_lanes(x, len(own)) for x in leaves]) + self._anchor
            starts = {
                other: np.where(layout.kind[above] == other, layout.v[above], _NOWHERE)
                for other in range(len(layout.types))
                if self._lanes(other).free and (layout.kind[above] == other).any()
            }
            notes: list[_Write] = []

            def once(
                carried: Array, where: Any, kind: int = kind, tree: Any = tree, given: Any = given,
                step: JointTransform = step, starts: Any = starts, notes: Any = notes,
            ) -> tuple[Any, Any]:  # fmt: skip
                at, above, lane, factor = where
                n = len(layout.of_kind[kind])
                state = jax.tree_util.tree_unflatten(tree, list(carried))
                R, r = placed.state([x[at] for x in placed.arrays])
                moved = carry(fixed_in(Placement(R, r)), state)
                before, self.writes = self.writes, []
                for other, known in starts.items():
                    there = [_picked(state, other, above, lane) for state in states]
                    like = self._lanes(other)._replace(start=_Index(known, known[0]))
                    if not _is_constant(like.factor):
                        like = like._replace(factor=factor)
                    meet(step, *given, like, *there, moved)
                notes[:], self.writes = self.writes, before
                stored = [self._over_lanes(w.value, n) for w in notes]
                leaves = [self._over_lanes(x, n) for x in jax.tree_util.tree_leaves(moved)]
                return jnp.stack(leaves), jnp.stack(stored) if stored else ()

            factor = self._table(layout.factor[above])
            _, stored = lax.scan(once, start, (at, above, layout.lane[above], factor))
            for k, w in enumerate(notes):
                index = np.broadcast_to(w.output.flat(w.at), at.shape)
                values = stored[:, k].reshape(at.size, *self.batch)
                w.output.store(index.reshape(-1), values, add=w.add)

    def _placements(self) -> _Packed:
        """Rotations and origins of all transforms."""
        of_kind: dict[int, _Packed] = {}
        for kind, own in enumerate(self._layout.of_kind):
            step = self._lanes(kind)
            rows = [[self._over_lanes(x, len(own)) for x in row] for row in step.R]
            arm = [self._over_lanes(x, len(own)) for x in step.r]
            of_kind[kind] = self._pack((rows, arm), len(own))
        whole, tree = self._gathered(_States(self._layout, of_kind))

        def together(arrays: Sequence[Array], axis: int) -> Any:
            (x,) = arrays
            numbers = [x[:, k] if axis else x[k] for k in range(12)]
            return jax.tree_util.tree_unflatten(tree, numbers)

        return _Packed((whole,), together)

    def frames(self, frames: Iterable[int], visit: Callable[..., None], *states: Any) -> None:
        """As `Sweep.frames`."""
        chosen = np.array(list(frames))
        at = np.array([self._layout.last[b] for b in self.m.frame_body[chosen]])
        R, p = self._numbers.R_frame[chosen], self._numbers.p_frame[chosen]
        if len(chosen) == 1:
            place = Placement(
                [[R[0, i, j] for j in range(3)] for i in range(3)], [p[0, i] for i in range(3)]
            )
            visit(0, fixed_in(place), *[state.at(int(at[0])) for state in states])
            return
        place = Placement(self._rows(R), self._vector(p))
        visit(np.arange(len(chosen)), fixed_in(place), *[state.at(at) for state in states])

    def joint_of(self, body: int) -> int:
        """The transform that moves a body."""
        return int(self._layout.last[body])

    def kinds(self, states: _States) -> Iterator[tuple[JointTransform, Whole, list[int], Any]]:
        """The transforms of each kind that leaves something free: their numbers of v, bodies and
        states."""
        for kind, own in enumerate(self._layout.of_kind):
            step = self._lanes(kind)
            if step.free:
                bodies = self._layout.body[own].tolist()
                yield step, self._layout.v[own], bodies, states.lanes(kind)

    def at(self, states: Any, frame: int) -> Any:
        """As `Sweep.at`."""
        return states.at(int(self._layout.last[self.m.frame_body[frame]]))

    # numbers

    def velocities(self, values: Callable[[int], Scalar], visit: Callable[..., None]) -> None:
        """As `Sweep.velocities`, for all numbers of v at once."""
        n = self.m.n_v
        if n:
            each = np.arange(n)
            visit(
                _Index(each, each),
                self._table(jnp.stack([jnp.asarray(values(k)) for k in range(n)])),
            )

    def of_velocities(self, quantity: OfVelocities, visit: Callable[..., None]) -> None:
        """Visits to a quantity of each number of v (see `Sweep.of_velocities`)."""
        if self.m.n_v and (self._losses or quantity == "armature"):
            each: Any = np.arange(self.m.n_v)
            values = self._table(getattr(self._model, quantity))
            visit(_Index(each, each), self._armature if quantity == "armature" else values)

    def springs(self, visit: Callable[..., None]) -> None:
        """Visits to each number of v that may have a spring (see `Sweep.springs`)."""
        v, q = (np.array(found, np.int64) for found in spring_places(self.m))
        if len(v) and self._losses:
            stretch = self.inputs[0].values[q] - self._table(self.m.spring_position[v])
            visit(_Index(v, v), self._table(self._model.stiffness[v]), stretch)

    def armature(self, step: JointTransform, k: int) -> Scalar:
        """As `Sweep.armature`."""
        start: Any = step.start
        return _Vector(self._armature)[start + k]

    def gravity(self) -> list[Scalar]:
        """The free-fall acceleration in the world (see `Sweep.gravity`)."""
        return [self._gravity[k] for k in range(3)]

    def of_masses(self, find: Callable[[Mechanism], Scalar]) -> Callable[[], Scalar]:
        """A number of all masses together (see `Sweep.of_masses`)."""
        find(self.m)  # refuses what has no mass
        share = 1.0 / jnp.sum(self._numbers.mass)
        return lambda: share

    def inertias(self, *, points: bool = False, base: bool = False) -> Any:
        """The `Inertia` of each body by itself, whatever those before it could carry as well."""
        del base
        found: dict[int, _Packed] = {}
        for kind, own in enumerate(self._layout.of_kind):
            type, part = self._layout.types[kind]
            if type is JointType.PLANAR and part < 2:
                none = Inertia(0.0, [0.0] * 3, [[0.0] * 3 for _ in range(3)])
                found[kind] = _Packed((), lambda arrays, axis, none=none: none)
                continue
            numbers, body = self._numbers, self._layout.body[own]
            columns = [numbers.mass[body][:, None], numbers.first[body]]
            if not points:
                columns.append(numbers.second[body].reshape(-1, 9))
            table = self._table(jnp.concatenate(columns, axis=1))

            def together(arrays: Sequence[Array], axis: int) -> Inertia:
                (x,) = arrays
                each = [x[:, k] if axis else x[k] for k in range(x.shape[1 if axis else 0])]
                rest = each[4:] or [0.0] * 9
                return Inertia(each[0], each[1:4], [rest[0:3], rest[3:6], rest[6:9]])

            found[kind] = _Packed((table,), together)
        return _States(self._layout, found)

    def links(self) -> Any:
        """As `Sweep.links`."""
        found: dict[int, _Packed] = {}
        for kind, own in enumerate(self._layout.of_kind):
            type, part = self._layout.types[kind]
            if type is JointType.PLANAR and part < 2:
                found[kind] = _Packed((), lambda arrays, axis: None)
                continue
            names = [self.m.body_names[body] for body in self._layout.body[own]]
            frames = np.array([self.m.frame(name) for name in names])
            R, p = self._numbers.R_frame[frames], self._numbers.p_frame[frames]
            found[kind] = self._pack(FramePose(self._rows(R), self._vector(p)), len(own))
        return _States(self._layout, found)

    def pushed(self, on: Callable[..., Any]) -> Any:
        """The push on each body (see `Sweep.pushed`); zeros where others have one."""
        if not self._external:
            return self.each(lambda step: None)
        sweep: Any = self
        every = poses(sweep)
        totals, tree = None, None
        for name, wrench in self._external.items():
            frame = self.m.frame(name)
            joint = int(self._layout.last[self.m.frame_body[frame]])
            pose: FramePose = every.at(joint)
            arm = [self._numbers.p_frame[frame, i] for i in range(3)]
            push = on([(wrench, arm)], lambda v, pose=pose: applied(transposed(pose.R), v))
            leaves, tree = jax.tree_util.tree_flatten(push)
            if totals is None:
                totals = jnp.zeros((self._layout.n + 1, len(leaves), *self.batch), self.dtype)
            totals = totals.at[joint].add(jnp.stack([self.over_batch(x) for x in leaves]))

        def together(arrays: Sequence[Array], axis: int) -> Any:
            (x,) = arrays
            numbers = [x[:, k] if axis else x[k] for k in range(x.shape[1 if axis else 0])]
            return jax.tree_util.tree_unflatten(tree, numbers)

        return _States(self._layout, whole=_Packed((totals,), together))

    def solve(self, matrix: Output, vector: Output) -> None:
        """The solution of A x = b in the place of b (see `Sweep.solve`)."""
        assert isinstance(matrix, JaxOutput)  # noqa: S101  made by this sweep
        assert isinstance(vector, JaxOutput)  # noqa: S101
        found = jax.scipy.linalg.solve(matrix.block(), vector.block()[..., None], assume_a="pos")
        vector.array = jnp.moveaxis(found[..., 0], -1, 0)

    def output(self, *shape: int) -> Output:
        """A result of this shape, zero to begin with."""
        return JaxOutput(self, shape)

    def scratch(self, *shape: int) -> Output:
        """As `Sweep.scratch`."""
        return JaxOutput(self, shape)


def _one(x: Array, index: Array) -> Array:
    return lax.dynamic_index_in_dim(x, index, 0, keepdims=False)


def _stored(x: Array, index: Array, value: Array) -> Array:
    return lax.dynamic_update_index_in_dim(x, value, index, 0)


class _Rows:
    """Rows (n, ...) that come in parts, and are put together where all are asked for."""

    def __init__(self, first: Array, n: int) -> None:
        self._parts, self._n = [first], n

    def append(self, rows: Array) -> None:
        """More rows behind these."""
        self._parts.append(rows)

    def room(self) -> Array:
        """All rows, those to come zero."""
        left = self._n - sum(len(part) for part in self._parts)
        first = self._parts[0]
        zeros = jnp.zeros((left, *first.shape[1:]), first.dtype)
        return jnp.concatenate([*self._parts, zeros]) if left else self.all()

    def replace(self, rows: Array, n: int) -> None:
        """Take the first n of these for those that were here."""
        self._parts = [rows[:n]]

    def all(self) -> Array:
        """All rows."""
        if len(self._parts) > 1:
            self._parts = [jnp.concatenate(self._parts)]
        return self._parts[0]

    def __getitem__(self, index: Any) -> Array:
        if isinstance(index, slice) and len(self._parts) > 1:
            at = 0
            for part in self._parts:
                if (index.start, index.stop) == (at, at + len(part)):
                    return part
                at += len(part)
        if isinstance(index, int):
            for part in self._parts:
                if index < len(part):
                    return part[index]
                index -= len(part)
        return self.all()[index]


def _joined(parts: Sequence[_Packed]) -> _Packed:
    """States of the runs of a kind, one behind the other."""
    if len(parts) == 1:
        return parts[0]
    arrays = zip(*(part.arrays for part in parts), strict=True)
    return _Packed(tuple(jnp.concatenate(each) for each in arrays), parts[0].together)


def _picked(states: _States, kind: int, at: Array, lane: Array) -> Any:
    """States at several joints, as if all were of one kind."""
    if states.whole is not None:
        return states.at(at)
    packed = states.packed(kind)
    lane = jnp.clip(lane, 0, packed.arrays[0].shape[0] - 1) if packed.arrays else lane
    return packed.state([x[lane] for x in packed.arrays])


def _carriers(parent: Whole, own: Whole) -> tuple[Whole, Whole]:
    """The transforms from each of these on, and those before them (steps, n); then the world."""
    at, rows = own, list[tuple[Whole, Whole]]()
    while True:
        above = np.where(at > WORLD, parent[at], WORLD)
        if not above.any():
            break
        rows.append((np.where(above > WORLD, at, WORLD), above))
        at = above
    if not rows:
        return np.zeros((0, len(own)), dtype=np.int64), np.zeros((0, len(own)), dtype=np.int64)
    return np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows])
