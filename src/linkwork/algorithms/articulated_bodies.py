"""Articulated bodies: what a body resists with all that hangs on it, its joints free to give way.

A wrench that changes the acceleration a of such a body is ``A a``, A symmetric (6, 6), linear
numbers before angular ones. A joint that gives way takes a rank out of A; joints with several
velocities give way one velocity after the other.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 7.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added, is_zero
from linkwork.algorithms.body_masses import BodyMass, lightened, symmetric, turned_square
from linkwork.algorithms.joint_passage import Load, Passage, Wrench, columns_of
from linkwork.algorithms.newton_euler import motions, with_inertia
from linkwork.algorithms.path import free_axes
from linkwork.algorithms.triples import (
    Rows,
    Triple,
    applied,
    flipped,
    less,
    negated,
    plus,
    plus_cross,
    scaled,
    times,
    total,
    zeros,
)
from linkwork.mechanism.model import JointType, Mechanism

_N = 6


class Resistance(NamedTuple):
    """The matrix A in three blocks: force = M a + H alpha, moment = Hᵀ a + I alpha."""

    M: Rows
    H: Rows
    I: Rows  # noqa: E741  the symbol of the literature

    def column(self, axis: int) -> list[Scalar]:
        """A column of A."""
        if axis < 3:
            return [row[axis] for row in self.M] + list(self.H[axis])
        return [row[axis - 3] for row in self.H] + [row[axis - 3] for row in self.I]


def of_body(own: BodyMass) -> Resistance:
    """A rigid body by itself."""
    xx, xy, xz, yy, yz, zz = own.second
    inertia = [added(yy, zz), negated(xy), negated(xz), added(xx, zz), negated(yz), added(xx, yy)]
    x, y, z = own.first
    H = [[0.0, z, negated(y)], [negated(z), 0.0, x], [y, negated(x), 0.0]]
    m = own.mass
    return Resistance([[m, 0.0, 0.0], [0.0, m, 0.0], [0.0, 0.0, m]], H, symmetric(inertia))


def joined(a: Resistance, b: Resistance) -> Resistance:
    """Two of them fixed to one another."""
    return Resistance(
        _symmetric_sum(a.M, b.M),
        [plus(x, y) for x, y in zip(a.H, b.H, strict=True)],
        _symmetric_sum(a.I, b.I),
    )


@dataclass(frozen=True)
class GivenWay:
    """One velocity of a joint that gives way: the rest of A, and how its acceleration follows."""

    left: Resistance
    axis: int
    column: list[Scalar]  # of A, before
    share: list[Scalar]  # the column over minus D
    inverse: Scalar  # minus one over D
    is_bare: bool  # no rotor is on the joint: nothing is left of A along it


def give_way(whole: Resistance, axis: int, armature: Scalar) -> GivenWay:
    """Let the joint give way along one axis (0 to 2 slide, 3 to 5 turn).

    Signs are such that a reciprocal is shared: CasADi makes ``x / d`` of ``x * (1 / d)``.
    """
    column, bare = whole.column(axis), is_zero(armature)
    inverse = -1.0 / added(column[axis], armature)
    share = scaled(inverse, column)
    rows: Rows = [[0.0] * _N for _ in range(_N)]
    for i in range(_N):
        for j in range(i, _N):
            if not (bare and axis in (i, j)):
                value = added(_entry(whole, i, j), times(column[i], share[j]))
                rows[i][j] = rows[j][i] = value
    left = Resistance(
        [row[:3] for row in rows[:3]], [row[3:] for row in rows[:3]], [row[3:] for row in rows[3:]]
    )
    return GivenWay(left, axis, column, share, inverse, bare)


def _entry(whole: Resistance, i: int, j: int) -> Scalar:
    """Entry i <= j of A."""
    if j < 3:
        return whole.M[i][j]
    return whole.H[i][j - 3] if i < 3 else whole.I[i - 3][j - 3]


def turned_out(way: Passage, own: Resistance) -> Resistance:
    """Along the axes of the joint frame, about the same point."""
    if way.free is not None:
        return _rotated(way.free, own)
    if way.turn is None:
        return own
    return Resistance(
        _turned_symmetric(way, own.M), _turned(way, own.H), _turned_symmetric(way, own.I)
    )


def in_parent(way: Passage, own: Resistance) -> Resistance:
    """From the axes of the joint frame, about the body's origin, to the parent's frame."""
    if way.shift is not None:
        own = _moved(own, way.shift)
    if way.exact:
        return _rotated(way.R, _moved(own, way.into_joint(way.p)))
    return _moved(_rotated(way.R, own), way.p)


def resistance_out(R: Rows, r: Triple, own: Resistance) -> Resistance:
    """From a frame that is placed at R, r in another one, to that one."""
    return _moved(_rotated(R, own), r)


def _moved(own: Resistance, p: Triple) -> Resistance:
    """About a point from which this one is at p."""
    H = [plus_cross(row, p, other) for row, other in zip(own.H, own.M, strict=True)]
    before, after = flipped(own.H), flipped(H)
    inertia: Rows = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        inertia[i][i] = plus_cross(own.I[i], p, plus(before[i], after[i]))[i]
        for j in range(i + 1, 3):
            more = plus_cross(own.I[j], p, after[j])[i]
            inertia[i][j] = inertia[j][i] = plus_cross([more] * 3, p, before[i])[j]
    return Resistance(own.M, H, inertia)


def _rotated(R: Rows, own: Resistance) -> Resistance:
    """Along the axes that R leads to."""
    M, H, inertia = (_both_sides(R, block) for block in (own.M, own.H, own.I))
    for block in (M, inertia):
        for i in range(3):
            for j in range(i):
                block[i][j] = block[j][i]
    return Resistance(M, H, inertia)


def _both_sides(R: Rows, block: Rows) -> Rows:
    """``R B Rᵀ``."""
    half = [applied(R, column) for column in flipped(block)]  # rows: columns of R B
    return [applied(R, row) for row in flipped(half)]


def _turned_symmetric(way: Passage, block: Rows) -> Rows:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = block
    xx, xy, yy = turned_square(way.turn or (1.0, 0.0), xx, xy, yy)
    xz, yz, _ = way.out_of_body([xz, yz, 0.0])
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def _turned(way: Passage, block: Rows) -> Rows:
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = block
    c, s = way.turn or (1.0, 0.0)
    t = added(times(s, less(xx, yy)), times(c, added(xy, yx)))
    change, across = times(s, t), times(c, t)
    xz, yz, _ = way.out_of_body([xz, yz, 0.0])
    zx, zy, _ = way.out_of_body([zx, zy, 0.0])
    return [
        [less(xx, change), less(across, yx), xz],
        [less(across, xy), added(yy, change), yz],
        [zx, zy, zz],
    ]


def _symmetric_sum(a: Rows, b: Rows) -> Rows:
    total: Rows = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(i, 3):
            total[i][j] = total[j][i] = added(a[i][j], b[i][j])
    return total


class Release(NamedTuple):
    """One velocity of a joint, given way: its acceleration is ``push + share . before``."""

    k: int  # which number of v
    factor: float
    step: GivenWay
    push: Scalar


class _Stage(NamedTuple):
    """A body with all that it carries, on the way inwards through its joint."""

    whole: Resistance
    wrench: list[Scalar]


class _Free(NamedTuple):
    """A number of v, its multiplier and its axis: 0 to 2 slide, 3 to 5 turn."""

    k: int
    factor: float
    axis: int


def articulated_accelerations(
    m: Mechanism, ways: list[Passage], v: list[Scalar], push: list[Scalar]
) -> list[Scalar]:
    """The accelerations (nv) under these joint forces; no two bodies may share a coordinate."""
    return _outwards(m, ways, _inwards(m, ways, v, push))


def _free(m: Mechanism, way: Passage, body: int) -> tuple[list[_Free], list[_Free]]:
    """The free axes of a joint, in its body and in its joint frame."""
    columns, factor = columns_of(m, body)
    free = [
        _Free(k, factor, axis + 3 * turns)
        for k, (axis, turns) in zip(columns, free_axes(way.type), strict=True)
    ]
    outer = [x for x in free if x.axis < 3 and way.type is not JointType.FLOATING]
    return free[len(outer) :], outer


def _inwards(
    m: Mechanism, ways: list[Passage], v: list[Scalar], push: list[Scalar]
) -> list[dict[int, Release]]:
    masses, load = lightened(m), Load(m, ways)
    moving = motions(m, ways, v, [0.0] * m.n_v)
    wholes = [of_body(own) for own in masses]
    released: list[dict[int, Release]] = [{} for _ in ways]
    for body in range(m.n_bodies - 1, -1, -1):
        way, parent = ways[body], int(m.parent[body])
        wrench = with_inertia(load.of(body), masses[body], moving[body])
        stage = _Stage(wholes[body], [*wrench.force, *wrench.moment])
        inner, outer = _free(m, way, body)
        for free in reversed(inner):
            stage, released[body][free.k] = _release(m, stage, free, push)
        stage = _Stage(
            turned_out(way, stage.whole),
            [*way.out_of_body(stage.wrench[:3]), *way.out_of_body(stage.wrench[3:])],
        )
        for free in reversed(outer):
            stage, released[body][free.k] = _release(m, stage, free, push)
        if parent < 0 or ways[parent].type is JointType.FIXED:
            continue
        force, moment = stage.wrench[:3], stage.wrench[3:]
        if way.shift is not None:
            moment = plus_cross(moment, way.shift, force)
        load.hand_inwards(body, Wrench(force, moment))
        wholes[parent] = joined(wholes[parent], in_parent(way, stage.whole))
    return released


def _release(
    m: Mechanism, stage: _Stage, free: _Free, push: list[Scalar]
) -> tuple[_Stage, Release]:
    """Let one velocity give way under the joint force that is left for it."""
    # the joint's own coordinate is what gives way: a multiplier scales its force and its rotor
    armature = times(1 / free.factor**2, m.joint_armature(free.k))
    force = times(1 / free.factor, push[free.k])
    step = give_way(stage.whole, free.axis, armature)
    left = less(force, stage.wrench[free.axis])
    change = negated(times(left, step.inverse))
    wrench = [added(x, times(change, y)) for x, y in zip(stage.wrench, step.column, strict=True)]
    if step.is_bare:
        wrench[free.axis] = force
    return _Stage(step.left, wrench), Release(free.k, free.factor, step, change)


def _outwards(
    m: Mechanism, ways: list[Passage], released: list[dict[int, Release]]
) -> list[Scalar]:
    result: list[Scalar] = [0.0] * m.n_v
    linear: list[list[Scalar]] = []
    angular: list[list[Scalar]] = []
    for body, way in enumerate(ways):
        parent = int(m.parent[body])
        a, alpha = (linear[parent], angular[parent]) if parent >= 0 else (zeros(), zeros())
        a, alpha = way.into_joint(plus_cross(a, alpha, way.p)), way.into_joint(alpha)
        if way.shift is not None:
            a = plus_cross(a, alpha, way.shift)
        now = [*a, *alpha]
        inner, outer = _free(m, way, body)
        for free in outer:
            _accelerate(now, released[body][free.k], result)
        now = [*way.into_body(now[:3]), *way.into_body(now[3:])]
        for free in inner:
            _accelerate(now, released[body][free.k], result)
        linear.append(now[:3])
        angular.append(now[3:])
    return result


def _accelerate(now: list[Scalar], release: Release, result: list[Scalar]) -> None:
    """Add one velocity's acceleration to those of the body, and note it."""
    step, before = release.step, now[release.step.axis]
    terms = [times(x, y) for x, y in zip(step.share, now, strict=True)]
    if step.is_bare:  # its own share takes away what was there
        terms[step.axis] = 0.0
        now[step.axis] = total([release.push, *terms])
        change = less(now[step.axis], before)
    else:
        change = total([release.push, *terms])
        now[step.axis] = added(before, change)
    result[release.k] = times(1 / release.factor, change)
