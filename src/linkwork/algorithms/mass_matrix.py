"""The mass matrix of the joints: composite bodies."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.axes import Scalar, added, is_zero
from linkwork.algorithms.body_masses import in_parent, joined, lightened, momenta, turned_out
from linkwork.algorithms.composites import composite_mass_matrix
from linkwork.algorithms.joint_passage import (
    Passage,
    Wrench,
    along_joint,
    columns_of,
    in_joint,
    passages,
    placed_in_parent,
)
from linkwork.algorithms.path import free_axes
from linkwork.algorithms.sweep import Output, Sweep
from linkwork.algorithms.tree_factor import Entries
from linkwork.algorithms.triples import plus_cross, times
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.protocol import Block, Ops


def mass_matrix(o: Ops, m: Mechanism, q: Block) -> Block:
    """The mass matrix: symmetric, positive definite where every joint moves some mass.

    Shapes: q (nq,) to (nv, nv). Units: kg m² for turns, kg for slides, kg m between them. The
    kinetic energy is v·M v / 2 and joint forces change by M dv. Rotors (armature) are a parameter.

    Source: composite bodies, M. W. Walker and D. E. Orin, "Efficient dynamic computer simulation of
    robotic mechanisms", ASME J. Dynamic Systems 104 (1982).
    """
    return symmetric_matrix(o, mass_entries(m, passages(o, m, q)), m.n_v)


def symmetric_matrix(o: Ops, entries: Entries, n: int) -> Block:
    """A symmetric matrix (n, n) of its entries: each computed once and stored twice."""
    if n == 0:
        return o.const(np.zeros((0, 0)))
    columns = [[entries.get((max(i, j), min(i, j)), 0.0) for i in range(n)] for j in range(n)]
    return o.matrix([o.vector(column) for column in columns])


def mass_entries(m: Mechanism, ways: list[Passage]) -> Entries:
    """The entries of the mass matrix, rotors included."""
    entries: Entries = {}
    behind = lightened(m)
    for body in range(m.n_bodies - 1, -1, -1):
        way, parent = ways[body], int(m.parent[body])
        turned, columns = turned_out(way, behind[body]), columns_of(m, body)[0]
        along_body = way.type.has_quaternion
        own = behind[body] if along_body else turned
        for column, wrench in zip(columns, momenta(way.type, own, behind[body]), strict=True):
            _meet_own(m, way.type, entries, body, column, wrench)
            force, moment = wrench
            if along_body:
                force, moment = way.out_of_body(force), way.out_of_body(moment)
            if way.shift is not None:
                moment = plus_cross(moment, way.shift, force)
            _hand_inwards(m, ways, entries, body, column, Wrench(force, moment))
        if parent >= 0 and ways[parent].type is not JointType.FIXED:
            behind[parent] = joined(behind[parent], in_parent(way, turned))
    for k in range(m.n_v):
        _add(entries, k, k, m.joint_armature(k))
    return entries


def _meet_own(
    m: Mechanism, type: JointType, entries: Entries, body: int, column: int, wrench: Wrench
) -> None:
    """The entries of one column with its joint's own velocities up to it."""
    columns, factor = columns_of(m, body)
    for (axis, turns), other in zip(free_axes(type), columns, strict=True):
        if other <= column:
            entry = (wrench.moment if turns else wrench.force)[axis]
            _add(entries, column, other, times(factor * factor, entry))


def _hand_inwards(
    m: Mechanism, ways: list[Passage], entries: Entries, body: int, column: int, wrench: Wrench
) -> None:
    """The entries of one column with all joints that carry this one; in the body's joint frame."""
    _, factor = columns_of(m, body)
    at = int(m.parent[body])
    while at >= 0 and ways[at].type is not JointType.FIXED:
        wrench = placed_in_parent(ways[body], wrench)
        columns, other = columns_of(m, at)
        for k, entry in zip(columns, along_joint(ways[at], wrench), strict=True):
            # two bodies on one coordinate: each meets the other
            twice = 2.0 if k == column else 1.0
            _add(entries, k, column, times(twice * factor * other, entry))
        wrench = in_joint(ways[at], wrench)
        body, at = at, int(m.parent[at])


def _add(entries: Entries, i: int, j: int, value: Scalar) -> None:
    key = (max(i, j), min(i, j))
    total = added(entries.get(key, 0.0), value)
    if is_zero(total):  # also where constants have cancelled, as those of two fingers do
        entries.pop(key, None)
    else:
        entries[key] = total


def mass_matrix_by_sweep(sweep: Sweep) -> Output:
    """`mass_matrix` in passes, for long mechanisms; `mass_entries` takes fewer products."""
    return composite_mass_matrix(sweep)
