"""Passes over a mechanism: outwards from parents to children, inwards back, up from each joint.

An algorithm that is written in these passes says what is done for one joint; the passes say for
which joints, and in which order. `Sweep` runs them joint by joint on any back end. The compiler has
another one (`compile.rolled`), which runs what is done once for each kind of joint and makes loops
of the passes: so the code of a long mechanism does not grow with it.

A mechanism is a tree of *joint transforms*: each turns about one axis, slides along one, or moves
freely. A planar joint is three of them, two slides and a turn, of which only the last has a body;
every other joint is one. What is said of one is in the frame that it moves, about its origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple, TypeVar

import numpy as np

from linkwork.algorithms.axes import Scalar, added, all_constant, is_zero, signed_permutation
from linkwork.algorithms.body_masses import BodyMass, body_masses, lightened, symmetric
from linkwork.algorithms.joint_motion import displacement, joint_position, quaternion_matrix
from linkwork.algorithms.path import free_axes
from linkwork.algorithms.triples import (
    Rows,
    Triple,
    applied,
    cross,
    dot,
    flipped,
    less,
    negated,
    plus,
    rows_of,
    scaled,
    times,
    zeros,
)
from linkwork.mechanism.model import JointType, Mechanism, Placement
from linkwork.ops.protocol import Block, Ops

S = TypeVar("S")
States = Any
"""The states that a pass found, one for every transform; other passes take them."""

Rates = Block | list[Scalar]
"""The numbers of v, or of its change."""

UNTURNED: Rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


# ------------------------------------------------------------------------------- spatial vectors


class Spatial(NamedTuple):
    """A twist, an acceleration or a wrench: the linear and the angular part."""

    linear: Triple
    angular: Triple


NO_MOTION = Spatial([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])


def both(a: Spatial, b: Spatial) -> Spatial:
    """The sum."""
    return Spatial(plus(a.linear, b.linear), plus(a.angular, b.angular))


def doubled(a: Spatial) -> Spatial:
    """Twice the same."""
    return Spatial(scaled(2.0, a.linear), scaled(2.0, a.angular))


def power(motion: Spatial, wrench: Spatial) -> Scalar:
    """The power of a wrench on a motion."""
    return added(dot(motion.linear, wrench.linear), dot(motion.angular, wrench.angular))


def crossed(a: Spatial, b: Spatial) -> Spatial:
    """The rate of a motion b that is fixed to a frame of velocity a."""
    linear = plus(cross(a.angular, b.linear), cross(a.linear, b.angular))
    return Spatial(linear, cross(a.angular, b.angular))


def crossed_wrench(a: Spatial, b: Spatial) -> Spatial:
    """The rate of a wrench b that is fixed to a frame of velocity a."""
    moment = plus(cross(a.angular, b.angular), cross(a.linear, b.linear))
    return Spatial(cross(a.angular, b.linear), moment)


# ------------------------------------------------------------------------------ joint transforms


class JointTransform(NamedTuple):
    """The transform of one joint: what it leaves free, and where its frame is in the one before."""

    parent: int  # -1 for the world
    body: int
    owner: bool  # whether it moves the body itself, rather than what a later part of its joint does
    free: tuple[tuple[int, bool], ...]  # for each number of v: the axis, and whether it turns
    start: int  # the first of its numbers of v
    factor: Scalar  # the multiplier of a coupled joint
    placed: Rows  # the part of R that does not depend on q
    turn: tuple[Block, Block] | None  # cosine and sine, where R is a signed permutation and a turn
    R: Rows
    r: Triple

    def out(self, v: Triple) -> Triple:
        """A vector along the axes of this frame, along those of the one before."""
        if self.turn is None:
            return applied(self.R, v)
        (c, s), (x, y, z) = self.turn, v
        turned = [less(times(c, x), times(s, y)), added(times(s, x), times(c, y)), z]
        return applied(self.placed, turned)

    def into(self, v: Triple) -> Triple:
        """A vector along the axes of the frame before, along those of this one."""
        if self.turn is None:
            return applied(flipped(self.R), v)
        (c, s), (x, y, z) = self.turn, applied(flipped(self.placed), v)
        return [added(times(c, x), times(s, y)), less(times(c, y), times(s, x)), z]

    def wrench_out(self, wrench: Spatial) -> Spatial:
        """A wrench in this frame, as one in the frame before."""
        force = self.out(wrench.linear)
        return Spatial(force, plus(self.out(wrench.angular), cross(self.r, force)))

    def twist_out(self, twist: Spatial) -> Spatial:
        """A twist in this frame, as one in the frame before."""
        angular = self.out(twist.angular)
        return Spatial(plus(self.out(twist.linear), cross(self.r, angular)), angular)

    def twist_into(self, twist: Spatial) -> Spatial:
        """A twist in the frame before, as one in this frame."""
        linear = plus(twist.linear, cross(twist.angular, self.r))
        return Spatial(self.into(linear), self.into(twist.angular))

    def matrix_out(self, a: Rows) -> Rows:
        """``R a Rᵀ`` for a matrix (3, 3)."""
        rows = self.R
        if self.turn is not None:
            a, rows = _about_z(a, *self.turn), self.placed
        half = [applied(rows, column) for column in flipped(a)]  # column after column of R a
        return [applied(rows, row) for row in flipped(half)]

    def symmetric_out(self, a: Rows) -> Rows:
        """`matrix_out` for a symmetric matrix; the result is symmetric to the last bit."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.matrix_out(a)
        return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]

    def columns(self) -> Iterator[Spatial]:
        """The motions that the numbers of v are factors of."""
        for axis, turns in self.free:
            linear, angular = zeros(), zeros()
            (angular if turns else linear)[axis] = 1.0
            yield Spatial(linear, angular)

    def own_motion(self, v: Rates) -> Spatial:
        """The motion that these numbers of v, or of its change, add."""
        linear, angular = zeros(), zeros()
        for k, (axis, turns) in enumerate(self.free):
            (angular if turns else linear)[axis] = times(self.factor, v[self.start + k])
        return Spatial(linear, angular)


def _about_z(a: Rows, c: Block, s: Block) -> Rows:
    """A matrix turned about z; with t = s (axx - ayy) + c (axy + ayx) it changes by s t and c t."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = a
    t = added(times(s, less(xx, yy)), times(c, added(xy, yx)))
    across, along = times(c, t), times(s, t)
    return [
        [less(xx, along), less(across, yx), less(times(c, xz), times(s, yz))],
        [less(across, xy), added(yy, along), added(times(s, xz), times(c, yz))],
        [less(times(c, zx), times(s, zy)), added(times(s, zx), times(c, zy)), zz],
    ]


def fixed_in(place: Placement) -> JointTransform:
    """A frame that is fixed in the one before, as a transform that leaves nothing free."""
    R = rows_of(place.R)
    return JointTransform(-1, -1, False, (), 0, 1.0, R, None, R, list(place.p))


def joint_transforms(
    o: Ops, type: JointType, at: JointTransform, position: Sequence[Scalar]
) -> list[JointTransform]:
    """The transforms of a joint at its positions; ``at``: the joint frame, with nothing free."""
    step = at._replace(owner=True, free=tuple(free_axes(type)))
    if type is JointType.PLANAR:
        x = _slid(step, [position[0], 0.0, 0.0])._replace(owner=False, free=step.free[:1])
        here = step._replace(placed=UNTURNED, R=UNTURNED, r=zeros())
        y = here._replace(owner=False, free=step.free[1:2], start=step.start + 1)
        z = here._replace(free=step.free[2:], start=step.start + 2)
        return [x, _slid(y, [0.0, position[1], 0.0]), _turned(o, z, position[2])]
    if type.turns:
        return [_turned(o, step, position[0])]
    local = displacement(type, position)
    step = step if local is None else _slid(step, local)
    if type.has_quaternion:
        step = step._replace(R=_product(step.R, rows_of(quaternion_matrix(o, type, position))))
    return [step]


def _slid(step: JointTransform, local: list[Scalar]) -> JointTransform:
    return step._replace(r=plus(step.r, applied(step.R, local)))


def _turned(o: Ops, step: JointTransform, angle: Block) -> JointTransform:
    c, s = o.cos(angle), o.sin(angle)
    R = _product(step.placed, [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    # other placements are multiplied out: nine products a vector then, instead of thirteen
    return step._replace(R=R, turn=(c, s) if _is_permutation(step.placed) else None)


def _is_permutation(R: Rows) -> bool:
    return all(map(all_constant, R)) and signed_permutation(R) is not None


def _product(a: Rows, b: Rows) -> Rows:
    return flipped([applied(a, column) for column in flipped(b)])


# ------------------------------------------------------------------------------------- inertias


class Inertia(NamedTuple):
    """Mass, first and second moments about the origin of a transform's frame, in its axes."""

    mass: Scalar
    first: Triple
    second: Rows  # symmetric

    def of(self, motion: Spatial) -> Spatial:
        """The momentum of this motion: I times it."""
        v, w = motion
        linear = plus(scaled(self.mass, v), cross(w, self.first))
        return Spatial(linear, plus(cross(self.first, v), traced(self.second, w)))


def traced(a: Rows, x: Triple) -> Triple:
    """``(tr a - a) x``, for a matrix (3, 3)."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = a
    complement = [
        [added(yy, zz), negated(xy), negated(xz)],
        [negated(yx), added(xx, zz), negated(yz)],
        [negated(zx), negated(zy), added(xx, yy)],
    ]
    return applied(complement, x)


def _of_body(own: BodyMass) -> Inertia:
    return Inertia(own.mass, own.first, symmetric(own.second))


# ---------------------------------------------------------------------------------------- passes


class Sweep:
    """The joint transforms of a mechanism at one configuration, and the passes over them."""

    def __init__(self, o: Ops, m: Mechanism, q: Block, bodies: Iterable[int] | None = None) -> None:
        """``bodies``: those that count (default: all), with all that carry them, parents first."""
        self.o, self.m, self.q = o, m, q
        self.transforms: list[JointTransform] = []
        self._last: dict[int, int] = {-1: -1}  # the last transform of each body
        for body in range(m.n_bodies) if bodies is None else bodies:
            above = self._last[int(m.parent[body])]
            for step in _of_joint(o, m, q, body):
                self.transforms.append(step._replace(parent=above))
                above = len(self.transforms) - 1
            self._last[body] = above

    def outwards(self, world: S, visit: Callable[..., S], *states: States) -> States:
        """``visit(transform, found before, *states) -> found``, parents before children."""
        found: list[S] = []
        for k, step in enumerate(self.transforms):
            before = found[step.parent] if step.parent >= 0 else world
            found.append(visit(step, before, *[state[k] for state in states]))
        return found

    def inwards(
        self, own: States, visit: Callable[..., tuple[Any, Any]], *states: States
    ) -> States:
        """``visit(transform, total, *states) -> (kept, handed)``, children before parents.

        A total is what the transform has of its ``own`` and all that its children have handed to
        it, added number by number. What would be handed to a base that stands still is left out.
        """
        totals, kept = list(own), [None] * len(own)
        for k in range(len(totals) - 1, -1, -1):
            step = self.transforms[k]
            kept[k], handed = visit(step, totals[k], *[state[k] for state in states])
            if step.parent >= 0 and self.transforms[step.parent].free:
                totals[step.parent] = summed(totals[step.parent], handed)
        return kept

    def each(self, visit: Callable[..., Any], *states: States) -> States:
        """``visit(transform, *states)``, one after the other."""
        return [visit(*given) for given in zip(self.transforms, *states, strict=True)]

    def up(
        self,
        begin: Callable[..., S],
        carry: Callable[[JointTransform, S], S],
        meet: Callable[..., None],
        *states: States,
    ) -> None:
        """From each transform through those that carry it and move, nearest first.

        ``begin(transform, *states) -> carried``; ``carry(transform, carried) -> carried`` in the
        frame before; ``meet(transform, *states, above, *states of that, carried)`` adds to outputs.
        """
        for k, step in enumerate(self.transforms):
            own = [state[k] for state in states]
            at, now = step, begin(step, *own)
            while at.parent >= 0 and self.transforms[at.parent].free:
                now, above = carry(at, now), at.parent
                at = self.transforms[above]
                meet(step, *own, at, *[state[above] for state in states], now)

    def frames(self, frames: Iterable[int], visit: Callable[..., None], *states: States) -> None:
        """``visit(k, transform, *states)`` for the k-th of these frames, with its body's states."""
        for k, frame in enumerate(frames):
            at = self._last[int(self.m.frame_body[frame])]
            visit(k, fixed_in(self.m.frame_placement(frame)), *[state[at] for state in states])

    def velocities(self, values: Callable[[int], Scalar], visit: Callable[..., None]) -> None:
        """``visit(k, values(k))`` for each number k of v whose value is not zero by structure."""
        for k in range(self.m.n_v):
            value = values(k)
            if not is_zero(value):
                visit(k, value)

    def total(self, visit: Callable[..., S], *states: States) -> States:
        """The sum of ``visit(transform, *states)`` over all transforms; `last` gives it."""
        whole: Any = None
        for value in self.each(visit, *states):
            whole = summed(whole, value)
        return [whole]

    def columns(self, visit: Callable[[int], None]) -> None:
        """``visit(k)`` for each number k of v, with passes of its own for each of them."""
        for k in range(self.m.n_v):
            visit(k)

    def at(self, states: States, frame: int) -> Any:
        """The state of the body that carries a frame."""
        return states[self._last[int(self.m.frame_body[frame])]]

    def scratch(self, *shape: int) -> Output:
        """Numbers that passes fill as an output, and that later ones read by their indices."""
        return Output(shape)

    def armature(self, step: JointTransform, k: int) -> Scalar:
        """The rotor's inertia on the k-th number of v of a transform."""
        return self.m.joint_armature(step.start + k)

    def coordinates(self, visit: Callable[[JointType, int, int], None]) -> None:
        """``visit(type, first number of q, first of v)`` for the joints that q consists of."""
        for c, type in enumerate(self.m.joint_types):
            visit(type, int(self.m.q_start[c]), int(self.m.v_start[c]))

    def last(self, states: States) -> Any:
        """The state of the last transform."""
        return states[-1]

    def pushed(self, on: Callable[[Sweep, int], Any]) -> States:
        """``on(sweep, k)`` for each transform: the push of the world on its body, or None."""
        return [on(self, k) for k in range(len(self.transforms))]

    def inertias(self, *, points: bool = False, placed: bool = False) -> States:
        """The `Inertia` that each transform moves itself, lightened of what those before it carry.

        ``points`` leaves second moments out, for what does not depend on them; where it matters
        what bodies are ``placed``, all are as they are, that of a fixed base too.
        """
        if placed:
            bodies = body_masses(self.m, points=points, base=True)
        else:
            bodies = lightened(self.m, points=points)
        return [
            _of_body(bodies[step.body]) if step.owner else Inertia(0.0, zeros(), [zeros()] * 3)
            for step in self.transforms
        ]

    def links(self) -> States:
        """The `FramePose` of each body's own link in the body; None where no body is moved."""
        m, found = self.m, list[FramePose | None]()
        for step in self.transforms:
            place = m.frame_placement(m.frame(m.body_names[step.body]))
            found.append(FramePose(rows_of(place.R), list(place.p)) if step.owner else None)
        return found

    def output(self, *shape: int) -> Output:
        """A result of this shape, zero to begin with."""
        return Output(shape)


def _of_joint(o: Ops, m: Mechanism, q: Block, body: int) -> list[JointTransform]:
    type, at = m.body_joint_types[body], fixed_in(m.placement(body))
    start = int(m.v_start[int(m.coordinate[body])]) if type.n_v else 0
    at = at._replace(body=body, start=start, factor=float(m.multiplier[body]))
    return joint_transforms(o, type, at, joint_position(m, q, body))


def summed(a: Any, b: Any) -> Any:
    """The sum, number by number, of two states of one structure; None stands for nothing."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, (tuple, list)):
        parts = list(map(summed, a, b))
        return type(a)(*parts) if hasattr(a, "_fields") else type(a)(parts)
    return added(a, b)


class Output:
    """A result that passes fill entry by entry, an array of any shape."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self._entries: dict[tuple[int, ...], Scalar] = {}

    def put(self, at: tuple[int, ...], value: Scalar) -> None:
        """Set the entry at these indices."""
        self._entries[at] = value

    def add(self, at: tuple[int, ...], value: Scalar) -> None:
        """Add to the entry at these indices."""
        self._entries[at] = added(self._entries.get(at, 0.0), value)

    def meet(
        self,
        row: tuple[JointTransform, int],
        column: tuple[JointTransform, int],
        value: Scalar,
        *,
        part: tuple[int, ...] = (),
    ) -> None:
        """Add to the entry of two numbers of v, each a transform and which one of its own."""
        (a, i), (b, j) = row, column
        self.add((*part, a.start + i, b.start + j), times(times(a.factor, b.factor), value))

    def get(self, *at: int) -> Scalar:
        """The entry at these indices."""
        return self._entries.get(at, 0.0)

    def __getitem__(self, at: Any) -> Scalar:
        """The entry at an index, or at several."""
        return self.get(*at) if isinstance(at, tuple) else self.get(at)

    def lower(self) -> dict[tuple[int, int], Scalar]:
        """The entries of a matrix on and left of the diagonal, but for zeros by structure."""
        return {
            (at[0], at[1]): x
            for at, x in self._entries.items()
            if at[0] >= at[1] and not is_zero(x)
        }

    def column(self, j: int) -> dict[int, Scalar]:
        """Column j of a matrix, but for zeros by structure."""
        found = {i: self.get(i, j) for i in range(self.shape[0])}
        return {i: x for i, x in found.items() if not is_zero(x)}

    def block(self, o: Ops) -> Block:
        """The block of a scalar, a vector or a matrix; of more axes, a list of matrices."""
        if 0 in self.shape:
            return o.const(np.zeros(self.shape))
        if not self.shape:
            return o.vector([self.get()])[0]
        if len(self.shape) == 1:
            return o.vector([self.get(i) for i in range(self.shape[0])])
        *lead, n_rows, n_columns = map(range, self.shape)
        found = [
            o.matrix([o.vector([self.get(*part, i, j) for i in n_rows]) for j in n_columns])
            for part in product(*lead)
        ]
        return found if lead else found[0]


def looped(
    o: Ops,
    by_sweep: Callable[..., Any],
    m: Mechanism,
    inputs: Sequence[Block],
    bodies: Sequence[int] | None = None,
    **static: Any,
) -> list[Block] | None:
    """The results of ``by_sweep(sweep, *inputs after q, **static)`` as a call of loops.

    None where it is to be written out: the back end makes no loops, or the mechanism is not long.
    ``bodies`` as `Sweep` takes them. A result of more than two axes is a vector.
    """
    loops = getattr(o, "loops", None)
    return None if loops is None else loops(o, by_sweep, m, inputs, bodies, static)


# --------------------------------------------------------------- poses, velocities, accelerations


class FramePose(NamedTuple):
    """Rotation and origin of a frame in the world."""

    R: Rows
    p: Triple

    def at(self, step: JointTransform) -> FramePose:
        """The pose of the frame after a transform."""
        # the rows are the world's axes in those of the frame
        return FramePose([step.into(row) for row in self.R], plus(self.p, applied(self.R, step.r)))


def poses(sweep: Sweep) -> States:
    """The `FramePose` of every transform."""
    return sweep.outwards(FramePose(UNTURNED, zeros()), lambda step, before: before.at(step))


class Motion(NamedTuple):
    """The motion of a frame, along its own axes; accelerations are spatial.

    ``before`` is that frame as it would move if its joint stood still.
    """

    velocity: Spatial
    acceleration: Spatial
    velocity_before: Spatial
    acceleration_before: Spatial


def motions(
    sweep: Sweep, v: Rates | None, dv: Rates | None = None, *, gravity: bool = False
) -> States:
    """The `Motion` of every transform; without ``v`` or ``dv`` they are zero.

    Gravity, where it is to count, is an acceleration of the world against it.
    Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1.
    """

    def visit(step: JointTransform, before: Motion) -> Motion:
        velocity, acceleration = map(step.twist_into, before[:2])
        own = NO_MOTION if v is None else step.own_motion(v)
        after = acceleration if dv is None else both(acceleration, step.own_motion(dv))
        after = both(after, crossed(velocity, own))
        return Motion(both(velocity, own), after, velocity, acceleration)

    up = [negated(x) for x in sweep.m.gravity()] if gravity else zeros()
    still = Spatial(up, zeros())
    return sweep.outwards(Motion(NO_MOTION, still, NO_MOTION, still), visit)
