"""The centre of mass of the whole mechanism at a point, or above one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from linkwork.algorithms.carried_mass import carried
from linkwork.algorithms.center_of_mass import com, com_jacobian
from linkwork.algorithms.residuals.axes import axes
from linkwork.algorithms.residuals.rows import joined, position_rows
from linkwork.errors import InputError
from linkwork.mechanism.dynamics_checks import check_masses_said
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.tasks.base import BoundTask, Group, Residual, Structure, Task, bound
from linkwork.solve.tasks.position import point_numbers


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
            Structure(
                name="com",
                key=f"centre of mass {where}",
                groups=[Group("position", "m", 0, len(where))],
                coordinates=_coordinates(m),
                n_target=3,
                read=point_numbers,
                residual=residual,
            ),
            self.target,
        )


def _coordinates(m: Mechanism) -> list[int]:
    """The coordinates that move any mass."""
    masses = carried(m).masses
    return sorted({int(m.coordinate[b]) for b in range(m.n_bodies) if masses[b] != 0.0} - {-1})
