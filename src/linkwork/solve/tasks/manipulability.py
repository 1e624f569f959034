"""A frame that can be moved readily in all directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.jacobian import jacobian
from linkwork.algorithms.residuals.axes import axes
from linkwork.checks import real_array
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.manipulability import manipulability
from linkwork.solve.targets import finite_rows
from linkwork.solve.tasks.base import (
    BoundTask,
    Group,
    Residual,
    Structure,
    Task,
    bound,
    coordinates_of,
)

Floats = NDArray[np.float64]


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
        _check_it_can_be_above_zero(m, self.frame, rows, coordinates)

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            found = manipulability(o, m, q, index, coordinates=coordinates, rows=rows)
            value = o.sqrt(found.squared)
            lacks = o.less(value, target[0])
            error = o.select(lacks, target[0] - value, 0.0)
            columns = [o.vector([o.select(lacks, value * x, 0.0)]) for x in found.slope]
            return Residual(o.vector([error]), columns, [error * error])

        return bound(
            self,
            Structure(
                name="manipulability",
                key=f"manipulability {self.frame!r} {rows}",
                groups=[Group("manipulability", "1", 0, 1)],
                coordinates=coordinates,
                frames=(self.frame,),
                n_target=1,
                read=_numbers,
                residual=residual,
            ),
            self.at_least,
        )


def _check_it_can_be_above_zero(
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


def _numbers(target: ArrayLike, of: str) -> Floats:
    """Least values (..., 1), or a single one, checked."""
    array = real_array(target, f"{of}: at_least")
    rows = finite_rows(array.reshape(1) if array.ndim == 0 else array, 1, of)
    if not (rows > 0.0).all():
        raise InputError(f"{of}: at_least must be above 0: manipulability is never less")
    return rows
