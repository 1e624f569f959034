"""Tasks of the whole mechanism: its centre of mass, its loops, how readily a frame can be moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from linkwork.algorithms.center_of_mass import com, com_jacobian
from linkwork.algorithms.closure import closure_parts, opening_units
from linkwork.algorithms.jacobian import jacobian
from linkwork.algorithms.residuals import axes, joined, position_rows
from linkwork.checks import real_array
from linkwork.errors import InputError
from linkwork.mechanism.dynamics_checks import check_masses_said
from linkwork.mechanism.model import Floats, Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.manipulability import manipulability
from linkwork.solve.targets import finite_rows
from linkwork.solve.tasks.base import (
    BoundTask,
    Group,
    Residual,
    Task,
    bound,
    coordinates_of,
)
from linkwork.solve.tasks.frames import point_numbers


@dataclass(frozen=True, eq=False)
class CenterOfMass(Task):
    """The centre of mass of all links at a point (3,) of the world.

    ``axes`` are those of the world that count: "xy" keeps it above a point.
    """

    target: ArrayLike | None = None
    axes: str | Sequence[bool] = field(default="xyz", kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        where = axes(self.axes, "CenterOfMass.axes")
        check_masses_said(m)
        if not m.mass.sum() > 0.0:
            raise InputError(
                f"CenterOfMass: the masses of '{m.name}' add up to {m.mass.sum():g} kg, so there "
                "is no centre of mass; give the links <inertial> elements with a mass above zero"
            )

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            J = com_jacobian(o, m, q)
            linear = [o.column(J, k) for k in range(m.n_v)]
            return joined(o, [position_rows(o, target - com(o, m, q), linear, where)])

        return bound(
            self,
            target=self.target,
            name="com",
            key=f"centre of mass {where}",
            groups=[Group("position", "m", 0, len(where))],
            coordinates=_coordinates(m),
            n_target=3,
            read=point_numbers,
            target_shape=(3,),
            residual=residual,
        )


def _coordinates(m: Mechanism) -> list[int]:
    """The coordinates that move any mass."""
    masses = m.mass.copy()
    for body in range(m.n_bodies - 1, 0, -1):
        masses[m.parent[body]] += masses[body]
    return sorted({int(m.coordinate[b]) for b in range(m.n_bodies) if masses[b] != 0.0} - {-1})


CLOSED_TOLERANCE = 1.0e-12
"""Opening of a loop that counts as closed, in `opening_units`: what rounding leaves."""


@dataclass(frozen=True, eq=False)
class Closed(Task):
    """Every loop of the mechanism closed, and every coupling kept; it has no target.

    The rows are those of `algorithms.closure`, a group or two for each loop. Its tolerance is its
    own: the options of a call do not change it.
    """

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        parts = closure_parts(m)
        if not parts:
            raise InputError(f"'{m.name}' has no loops or couplings, so nothing is to be closed")
        starts = np.cumsum([0, *(part.n_rows for part in parts)]).tolist()
        groups = [
            Group(g.name, g.unit, start + g.start, start + g.stop, chord=g.chord)
            for start, part in zip(starts, parts, strict=False)
            for g in part.groups
        ]

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            found = [part.residual(o, q) for part in parts]
            columns = [o.concat([each.columns[k] for each in found]) for k in range(m.n_v)]
            squared = [x for each in found for x in each.squared]
            return Residual(o.concat([each.error for each in found]), columns, squared)

        blocks = zip(starts[:-1], starts[1:], (part.coordinates for part in parts), strict=True)
        bent = {c for part in parts for c in part.coordinates if c not in part.straight}
        return bound(
            self,
            name="closed",
            key="closed",
            groups=groups,
            coordinates=sorted({c for part in parts for c in part.coordinates}),
            residual=residual,
            tolerances=[CLOSED_TOLERANCE * unit for unit in opening_units(m)],
            keeps_tolerance=True,
            blocks=tuple(blocks),
            straight=tuple(sorted({c for part in parts for c in part.straight} - bent)),
            counts_turns=tuple(sorted({k for part in parts for k in part.counts_turns})),
        )


@dataclass(frozen=True, eq=False)
class Manipulability(Task):
    """The manipulability sqrt(det(J Jᵀ)) of a frame is at least ``at_least``.

    Above it the error is zero. J are the rows of the frame's Jacobian that ``position`` and
    ``rotation`` name, in axes of the world; where these are more than the numbers of v that move
    the frame, det(Jᵀ J) takes its place. All joints on the way to the frame count, also those
    that are not moved.

    Source: T. Yoshikawa, "Manipulability of robotic mechanisms", International Journal of Robotics
    Research 4 (1985).
    """

    frame: str
    at_least: ArrayLike | None = None
    position: str | Sequence[bool] = field(default="xyz", kw_only=True)
    rotation: str | Sequence[bool] = field(default="xyz", kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        index = m.frame(self.frame)
        where = axes(self.position, "Manipulability.position", none=True)
        turns = axes(self.rotation, "Manipulability.rotation", none=True)
        rows = (*where, *(3 + k for k in turns))
        coordinates = coordinates_of(m, self.frame)
        if not rows:
            raise InputError("Manipulability: position and rotation are both empty")
        _check_rows_are_independent(m, self.frame, rows, coordinates)

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            found = manipulability(o, m, q, index, coordinates=coordinates, rows=rows)
            value = o.sqrt(found.squared)
            lacks = o.less(value, target[0])
            error = o.select(lacks, target[0] - value, 0.0)
            columns = [o.vector([o.select(lacks, value * x, 0.0)]) for x in found.slope]
            return Residual(o.vector([error]), columns, [error * error])

        return bound(
            self,
            target=self.at_least,
            name="manipulability",
            key=f"manipulability {self.frame!r} {rows}",
            groups=[Group("manipulability", "1", 0, 1)],
            coordinates=coordinates,
            frames=(self.frame,),
            n_target=1,
            read=_least_values,
            residual=residual,
        )


def _check_rows_are_independent(
    m: Mechanism, frame: str, rows: Sequence[int], coordinates: Sequence[int]
) -> None:
    """Refuse rows that the frame's joints never move independently of each other."""
    chosen = list(rows)
    moving = [k for c in coordinates for k in range(int(m.v_start[c]), int(m.v_start[c + 1]))]
    if not moving:
        raise InputError(f"Manipulability: no joint moves '{frame}'")
    for q in np.random.default_rng(0).uniform(-1.0, 1.0, (4, m.n_q)):
        J = jacobian(NUMPY, m, q, frame=frame)[chosen][:, moving]
        if np.linalg.matrix_rank(J, tol=1e-9) == min(J.shape):
            return
    raise InputError(
        f"Manipulability: what moves '{frame}' cannot move it in all {len(chosen)} directions that "
        "are asked for, so its manipulability is always zero; name those that it can be moved in, "
        "such as position='xy', rotation='z'"
    )


def _least_values(target: ArrayLike, of: str) -> Floats:
    """Least values (..., 1), or a single one, checked."""
    array = real_array(target, f"{of}: at_least")
    rows = finite_rows(array.reshape(1) if array.ndim == 0 else array, 1, of)
    if not (rows > 0.0).all():
        raise InputError(f"{of}: at_least must be above 0: manipulability is never less")
    return rows
