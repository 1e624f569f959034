"""Accelerations by articulated bodies, one pass inwards and one outwards.

Accelerations are counted from those that bodies have at dv = 0, which carry gravity and all that
velocities do; so the recursion itself knows neither.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 7.3.
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.articulated_bodies import (
    GivenWay,
    Resistance,
    give_way,
    in_parent,
    joined,
    of_body,
    turned_out,
)
from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.body_masses import lightened
from linkwork.algorithms.joint_passage import Passage, columns_of
from linkwork.algorithms.newton_euler import motions, with_inertia
from linkwork.algorithms.path import free_axes
from linkwork.algorithms.triples import less, negated, plus_cross, times, total, zeros
from linkwork.algorithms.wrenches import Load, Wrench
from linkwork.mechanism.model import JointType, Mechanism


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
    """What a joint leaves free along the axes of its body, and along those of its joint frame."""
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
