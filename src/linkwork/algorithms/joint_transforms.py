"""Joints as transforms, and what goes through them: twists, wrenches, inertias.

A mechanism is a tree of *joint transforms*: each turns about one axis, slides along one, or moves
freely. A planar joint is three of them, two slides and a turn, of which only the last has a body;
every other joint is one. What is said of one is in the frame that it moves, about its origin.
Joints with one axis move their body along or about the z axis of the joint frame (see
`mechanism/model.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.vector3 import (
    Rows,
    Scalar,
    Vector3,
    added,
    applied,
    cross,
    dot,
    is_signed_permutation,
    less,
    negated,
    plus,
    plus_cross,
    product,
    rows_of,
    scaled,
    times,
    total,
    transposed,
    zeros,
)
from linkwork.mechanism.model import Ints, JointType, Mechanism, Placement
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.rotations import from_quaternion

Rates = Block | list[Scalar]
"""The numbers of v, or of its change."""

UNTURNED: Rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


# -------------------------------------------------------------------------------- numbers of joints


def joint_position(m: Mechanism, q: Block, body: int) -> list[Scalar]:
    """The numbers that place the joint of a body, from q (nq,): as many as its type has positions.

    A coupled joint's are ``multiplier * q_leader + offset``; a 1 or 0 that is exact costs nothing.
    """
    n = m.body_joint_types[body].n_q
    if n == 0:
        return []
    start = int(m.q_start[int(m.coordinate[body])])
    factor, offset = float(m.multiplier[body]), float(m.offset[body])
    return [added(times(factor, q[start + k]), offset) for k in range(n)]


class TransformKind(NamedTuple):
    """Joint transforms of which the same is done: the joint's type, and which part of a planar one.

    A turn without limits is as one with them.
    """

    type: JointType
    part: int


class JointLayout(NamedTuple):
    """The joint transforms of some bodies, in the order of these: arrays (n,).

    They are counted from 1 in ``parent`` and ``last`` (nb + 1,), where 0 is the world: ``last`` are
    the transforms that move the bodies. ``q`` and ``v`` are the first numbers of each.
    """

    kinds: list[TransformKind]
    kind: Ints  # the place in ``kinds``
    body: Ints
    parent: Ints
    q: Ints
    v: Ints
    owner: NDArray[np.bool_]  # whether it is the one that has the body
    last: Ints


def joint_layout(m: Mechanism, bodies: Sequence[int]) -> JointLayout:
    """The joint transforms of bodies, of which parents come first."""
    types = [m.body_joint_types[body] for body in bodies]
    parts = np.array([3 if type is JointType.PLANAR else 1 for type in types], np.int64)
    ends = np.cumsum(parts)
    last = np.zeros(m.n_bodies + 1, np.int64)  # the last is that of no body
    last[list(bodies)] = ends
    body = np.repeat(np.array(bodies, np.int64), parts)
    before = np.arange(len(body))  # the joint before stands at its own number, counted from 1
    part = before - np.repeat(ends - parts, parts)
    kinds: dict[TransformKind, int] = {}
    kind: list[int] = []
    for at, p in zip(body.tolist(), part.tolist(), strict=True):
        type = m.body_joint_types[at]
        own = TransformKind(JointType.REVOLUTE if type.turns else type, p)
        kind.append(kinds.setdefault(own, len(kinds)))
    moves, coordinate = m.coordinate[body] >= 0, np.maximum(m.coordinate[body], 0)
    return JointLayout(
        kinds=list(kinds),
        kind=np.array(kind, np.int64),
        body=body,
        parent=np.where(part > 0, before, last[m.parent[body]]),
        q=np.where(moves, m.q_start[coordinate], 0),
        v=np.where(moves, m.v_start[coordinate], 0) + part,
        owner=part == np.repeat(parts, parts) - 1,
        last=last,
    )


def free_axes(type: JointType) -> list[tuple[int, bool]]:
    """For each number of v: the axis, and whether it turns about it or slides along it.

    The axes are those of the body for a floating or spherical joint and of the joint frame for the
    others.
    """
    if type.turns:
        return [(2, True)]
    if type is JointType.PRISMATIC:
        return [(2, False)]
    if type is JointType.PLANAR:
        return [(0, False), (1, False), (2, True)]
    if type.has_quaternion:
        return [*((k, False) for k in range(type.n_lengths)), (0, True), (1, True), (2, True)]
    return []


def quaternion_matrix(o: Ops, type: JointType, position: Sequence[Scalar]) -> Block:
    """The rotation (3, 3) of a joint whose positions end with a quaternion ``wxyz``."""
    return from_quaternion(o, o.vector([position[k] for k in range(type.n_lengths, type.n_q)]))


# ------------------------------------------------------------------------------- spatial vectors


class Spatial(NamedTuple):
    """A twist, an acceleration or a wrench: the linear and the angular part."""

    linear: Vector3
    angular: Vector3


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
    linear = plus_cross(cross(a.angular, b.linear), a.linear, b.angular)
    return Spatial(linear, cross(a.angular, b.angular))


def crossed_wrench(a: Spatial, b: Spatial) -> Spatial:
    """The rate of a wrench b that is fixed to a frame of velocity a."""
    moment = plus_cross(cross(a.angular, b.angular), a.linear, b.linear)
    return Spatial(cross(a.angular, b.linear), moment)


class Inertia(NamedTuple):
    """Mass, first and second moments about the origin of a transform's frame, in its axes."""

    mass: Scalar
    first: Vector3
    second: Rows  # symmetric

    def of(self, motion: Spatial) -> Spatial:
        """The momentum of this motion: I times it."""
        v, w = motion
        linear = plus_cross(scaled(self.mass, v), w, self.first)
        return Spatial(linear, plus_cross(traced(self.second, w), self.first, v))


def traced(a: Rows, x: Vector3) -> Vector3:
    """``(tr a - a) x``, for a matrix (3, 3)."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = a
    complement = [
        [added(yy, zz), negated(xy), negated(xz)],
        [negated(yx), added(xx, zz), negated(yz)],
        [negated(zx), negated(zy), added(xx, yy)],
    ]
    return applied(complement, x)


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
    r: Vector3

    def out(self, v: Vector3) -> Vector3:
        """A vector along the axes of this frame, along those of the one before."""
        if self.turn is None:
            return applied(self.R, v)
        (c, s), (x, y, z) = self.turn, v
        turned = [less(times(c, x), times(s, y)), added(times(s, x), times(c, y)), z]
        return applied(self.placed, turned)

    def into(self, v: Vector3) -> Vector3:
        """A vector along the axes of the frame before, along those of this one."""
        if self.turn is None:
            return applied(transposed(self.R), v)
        (c, s), (x, y, z) = self.turn, applied(transposed(self.placed), v)
        return [added(times(c, x), times(s, y)), less(times(c, y), times(s, x)), z]

    def wrench_out(self, wrench: Spatial) -> Spatial:
        """A wrench in this frame, as one in the frame before."""
        force = self.out(wrench.linear)
        return Spatial(force, plus_cross(self.out(wrench.angular), self.r, force))

    def twist_out(self, twist: Spatial) -> Spatial:
        """A twist in this frame, as one in the frame before."""
        angular = self.out(twist.angular)
        return Spatial(plus_cross(self.out(twist.linear), self.r, angular), angular)

    def twist_into(self, twist: Spatial) -> Spatial:
        """A twist in the frame before, as one in this frame."""
        linear = plus_cross(twist.linear, twist.angular, self.r)
        return Spatial(self.into(linear), self.into(twist.angular))

    def matrix_out(self, a: Rows) -> Rows:
        """``R a Rᵀ`` for a matrix (3, 3)."""
        rows = self.R
        if self.turn is not None:
            a, rows = _about_z(a, *self.turn), self.placed
        half = [applied(rows, column) for column in transposed(a)]  # column after column of R a
        return [applied(rows, row) for row in transposed(half)]

    def symmetric_out(self, a: Rows) -> Rows:
        """`matrix_out` for a symmetric matrix; the result is symmetric to the last bit."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.matrix_out(a)
        return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]

    def inertia_out(self, own: Inertia) -> Inertia:
        """An inertia in this frame, as one in the frame before: J + h rᵀ + r hᵀ + m r rᵀ."""
        turned, r = self.out(own.first), self.r
        first = plus(turned, scaled(own.mass, r))
        second = self.symmetric_out(own.second)
        for i in range(3):
            for j in range(i, 3):
                shift = [times(r[i], turned[j]), times(r[j], first[i])]
                second[i][j] = second[j][i] = total([second[i][j], *shift])
        return Inertia(own.mass, first, second)

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
    if type is JointType.PRISMATIC:
        return [_slid(step, [0.0, 0.0, position[0]])]
    if type.has_quaternion:
        moved = _slid(step, [*position[: type.n_lengths], *zeros()][:3])
        return [moved._replace(R=product(step.R, rows_of(quaternion_matrix(o, type, position))))]
    return [step]


def _slid(step: JointTransform, local: list[Scalar]) -> JointTransform:
    return step._replace(r=plus(step.r, applied(step.R, local)))


def _turned(o: Ops, step: JointTransform, angle: Block) -> JointTransform:
    c, s = o.cos(angle), o.sin(angle)
    R = product(step.placed, [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    # other placements are multiplied out: nine products a vector then, instead of thirteen
    return step._replace(R=R, turn=(c, s) if is_signed_permutation(step.placed) else None)
