"""Tasks of joints: a posture, and one joint that follows another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.configuration import difference
from linkwork.algorithms.residuals import Rows, joined
from linkwork.checks import finite_number
from linkwork.errors import InputError
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.named_positions import Configuration, configuration_from
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.targets import finite_rows
from linkwork.solve.tasks.base import (
    BoundTask,
    Group,
    Residual,
    Task,
    bound,
    turns_freely,
)

Floats = NDArray[np.float64]


class _Way(NamedTuple):
    """Indices in v of the differences of the joints, and which of them wrap."""

    angles: list[int]
    lengths: list[int]
    wraps: frozenset[int]


@dataclass(frozen=True, eq=False)
class Posture(Task):
    """Joints at the positions of q (nq,), or those of ``joints`` at theirs, one after the other.

    Positions may be given by joint name; those that are not named are neutral.
    An angle without limits may come from either side, by the shorter way; floating and
    spherical joints go by the shorter way on the group. The errors are the
    lengths of all differences in radians, and of all in metres.
    """

    target: Configuration | None = None
    joints: str | Sequence[str] | None = field(default=None, kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        chosen = _chosen(m, self.joints)
        places = [k for c in chosen for k in range(int(m.q_start[c]), int(m.q_start[c + 1]))]
        way = _way(m, chosen)

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            wanted: list[Block] = [q[k] for k in range(m.n_q)]
            for number, k in enumerate(places):
                wanted[k] = target[number]
            left = difference(o, m, q, o.vector(wanted))
            parts = [_rows(o, m, left, part, way) for part in (way.angles, way.lengths) if part]
            return joined(o, parts)

        n = len(way.angles)
        groups = [Group("angles", "rad", 0, n), Group("lengths", "m", n, n + len(way.lengths))]
        quaternions = _quaternions(m, chosen)

        def read(target: Any, of: str) -> Floats:
            if isinstance(target, Mapping):
                target = configuration_from(m, target)[places]
            rows = finite_rows(target, len(places), of)
            for start in quaternions:
                if not np.any(rows[..., start : start + 4], axis=-1).all():
                    raise InputError(f"{of}: target has a quaternion 0 0 0 0, which is no rotation")
            return rows

        return bound(
            self,
            target=self.target,
            name="posture",
            key=f"posture {chosen} {sorted(way.wraps)}",
            groups=[group for group in groups if group.stop > group.start],
            coordinates=sorted(chosen),
            n_target=len(places),
            read=read,
            residual=residual,
        )


def _chosen(m: Mechanism, joints: str | Sequence[str] | None) -> list[int]:
    """The coordinates that are asked for, in the order of the target."""
    if joints is None:
        chosen = list(range(len(m.joint_names)))
    else:
        chosen = [m.joint(name) for name in ([joints] if isinstance(joints, str) else joints)]
    if not chosen:
        raise InputError("Posture.joints is empty, so nothing is asked for")
    twice = [m.joint_names[c] for c in chosen if chosen.count(c) > 1]
    if twice:
        raise InputError(f"Posture.joints names '{twice[0]}' more than once")
    return chosen


def _way(m: Mechanism, chosen: Sequence[int]) -> _Way:
    angles: list[int] = []
    lengths: list[int] = []
    wraps: set[int] = set()
    for c in chosen:
        start, stop, kind = int(m.v_start[c]), int(m.v_start[c + 1]), m.joint_types[c]
        middle = start + kind.n_lengths
        lengths += range(start, middle)
        angles += range(middle, stop)
        if not kind.has_quaternion and middle < stop and turns_freely(m, c):
            wraps.add(stop - 1)
    return _Way(angles, lengths, frozenset(wraps))


def _quaternions(m: Mechanism, chosen: Sequence[int]) -> list[int]:
    """The places in a target at which quaternions begin."""
    found: list[int] = []
    at = 0
    for c in chosen:
        kind = m.joint_types[c]
        if kind.has_quaternion:
            found.append(at + kind.n_lengths)
        at += kind.n_q
    return found


def _rows(o: Ops, m: Mechanism, left: Block, part: Sequence[int], way: _Way) -> Rows:
    """The differences with these indices of v; each velocity goes straight at its own.

    On a floating joint that is exact at the target, and a step by the whole difference gets there
    from anywhere.
    """
    values: list[Block] = []
    for v in part:
        value = left[v]
        if v in way.wraps:
            value = value - (2.0 * math.pi) * o.floor(value * (0.5 / math.pi) + 0.5)
        values.append(value)
    columns: list[Block] = [o.const([0.0] * len(part))] * m.n_v
    for place, v in enumerate(part):
        columns[v] = o.const([1.0 if k == place else 0.0 for k in range(len(part))])
    error = o.vector(values)
    return Rows(error, columns, o.dot(error, error))


@dataclass(frozen=True, eq=False)
class JointCoupling(Task):
    """One joint at ``ratio`` times the position of another, plus ``offset``; it has no target.

    Both are joints with one position, in radians or metres; a turn more is not the same.
    """

    joint: str
    other: str
    ratio: float = field(default=1.0, kw_only=True)
    offset: float = field(default=0.0, kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        first, second = _single(m, self.joint), _single(m, self.other)
        if first == second:
            raise InputError(f"JointCoupling: '{self.joint}' cannot be coupled to itself")
        ratio = finite_number(self.ratio, "JointCoupling.ratio")
        offset = finite_number(self.offset, "JointCoupling.offset")
        q_first, q_second = int(m.q_start[first]), int(m.q_start[second])
        v_first, v_second = int(m.v_start[first]), int(m.v_start[second])

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            error = ratio * q[q_second] + offset - q[q_first]
            columns: list[Block] = [o.const([0.0])] * m.n_v
            columns[v_first], columns[v_second] = o.const([1.0]), o.const([-ratio])
            return Residual(o.vector([error]), columns, [error * error])

        slides = m.joint_types[first] is JointType.PRISMATIC
        return bound(
            self,
            name="coupling",
            key=f"coupling {self.joint!r} {self.other!r} {ratio!r} {offset!r}",
            groups=[Group("position" if slides else "angle", "m" if slides else "rad", 0, 1)],
            coordinates=sorted((first, second)),
            residual=residual,
            counts_turns=(q_first, q_second),
        )


def _single(m: Mechanism, name: str) -> int:
    """The coordinate of a joint with one position."""
    c = m.joint(name)
    if m.joint_types[c].n_q != 1:
        raise InputError(
            f"JointCoupling: '{name}' is a {m.joint_types[c].label} joint; joints with one "
            "position can be coupled"
        )
    return c
