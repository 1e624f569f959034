"""One joint that follows another, by a ratio and an offset."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.tasks.base import BoundTask, Group, Residual, Structure, Task, bound


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
        ratio = _finite(self.ratio, "JointCoupling.ratio")
        offset = _finite(self.offset, "JointCoupling.offset")
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
            Structure(
                name="coupling",
                key=f"coupling {self.joint!r} {self.other!r} {ratio!r} {offset!r}",
                groups=[Group("position" if slides else "angle", "m" if slides else "rad", 0, 1)],
                coordinates=sorted((first, second)),
                n_target=0,
                read=_no_target,
                residual=residual,
                counts_turns=(q_first, q_second),
            ),
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


def _finite(value: float, what: str) -> float:
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{what} must be a finite number, not {value!r}")
    return number


def _no_target(target: ArrayLike, of: str) -> NDArray[np.float64]:
    raise InputError(f"{of}: it takes no target")
