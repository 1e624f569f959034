"""Clearance: a limit that keeps a robot clear of itself and of its scene.

It is decided by a collision model, any object that answers as `Model` says, and belongs to what
searches or steps: `InverseKinematics` looks for answers that are clear (`clear_search`), a
`Controller` slows down and turns away before anything touches (`clear_steps`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import finite_number, whole_number
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.solve.limits import BoundLimit, Limit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FAR = 1.0e6
"""Metres: pairs that are farther count as so far."""


class Nearest(Protocol):
    """The nearest pairs of each configuration, the nearest first.

    ``distance`` (..., n) in metres, infinite where there are fewer; ``gradient`` (..., n, nv), by
    the tangent of q; ``bodies`` (..., n, 2) are the places of the two in ``names``.
    """

    @property
    def distance(self) -> Floats: ...  # noqa: D102

    @property
    def gradient(self) -> Floats | None: ...  # noqa: D102

    @property
    def bodies(self) -> Integers: ...  # noqa: D102

    @property
    def names(self) -> Sequence[str]: ...  # noqa: D102


class Model(Protocol):
    """What a clearance is decided by: signed distances of pairs of bodies, below 0 how deep."""

    def nearest(
        self, q: Floats, n: int, scene: Any = None, *, within: float = ..., gradients: bool = ...
    ) -> Nearest:
        """The n nearest pairs at q (..., nq), of those that are ``within`` so many metres."""
        ...

    def collides(self, q: Floats, scene: Any = None) -> NDArray[np.bool_]:
        """Whether anything touches at q (..., nq): where the least distance is 0 or below."""
        ...


@dataclass(frozen=True, eq=False)
class Clearance(Limit):
    """Nothing of the robot comes nearer than ``margin`` (m) to itself or to the ``scene``.

    It is hard: an answer that is nearer is no success, and its reason names the pair. ``nearest``
    pairs at a time are kept apart by a step. ``model`` is by default the robot's own,
    ``robot.collision()``; its ``scene`` is looked at in every call, so things in it may move.

    ``rate`` (1/s) is for controllers: pairs come nearer no faster than this share of what is left
    of their way in a second, and such that they can be stopped by an `AccelerationLimit`.
    """

    margin: float = 0.0
    scene: Any = None
    nearest: int = 8
    rate: float = 10.0
    model: Model | None = None

    def bind(self, m: Mechanism) -> BoundLimit:
        """Refused: a clearance bounds no position of a single joint.

        Raises: InputError.
        """
        raise InputError(
            f"Clearance is kept by what searches or steps, as robot.ik, robot.solver and "
            f"robot.controller do for '{m.name}'; a problem alone cannot hold it"
        )

    def decided(self) -> Clear:
        """The clearance with its arguments checked.

        Raises: InputError; where there is no model too.
        """
        if self.model is None:
            raise InputError(
                "Clearance needs a collision model: model=robot.collision(), which the methods of "
                "a Robot put in by themselves"
            )
        return Clear(
            self.model,
            self.scene,
            finite_number(self.margin, "Clearance.margin"),
            whole_number(self.nearest, "Clearance.nearest", least=1),
            finite_number(self.rate, "Clearance.rate", above=0.0),
        )


class Near(NamedTuple):
    """The nearest pairs of configurations (N, nq)."""

    distance: Floats  # (N, n)
    gradient: Floats  # (N, n, nv)
    bodies: Integers  # (N, n, 2)


class Clear(NamedTuple):
    """A clearance that is asked for, and the model that decides on it."""

    model: Model
    scene: Any
    margin: float
    nearest: int
    rate: float

    def clearance(self, q: Floats) -> Floats:
        """The least distance (N,) at q (N, nq)."""
        return self._least(q, math.inf)

    def verdict(self, q: Floats) -> Floats:
        """Infinite where q (N, nq) is clear, else what is left below the margin; -`FAR` where it
        touches, which is decided many times faster than how deep.
        """
        if not len(q) or self.margin < 0.0:
            return self.short(q)
        found = np.where(self.model.collides(q, self.scene), -FAR, math.inf)
        if self.margin > 0.0:
            apart = found > 0.0
            found[apart] = self.short(q[apart])
        return found

    def short(self, q: Floats) -> Floats:
        """The same where it is below the margin; infinite where q is clear, which is quicker."""
        return self._least(q, self.margin)

    def _least(self, q: Floats, within: float) -> Floats:
        if not len(q):
            return np.zeros(0)
        found = self.model.nearest(q, 1, self.scene, within=within, gradients=False)
        return np.array(found.distance[:, 0])

    def near(self, q: Floats) -> Near:
        """The nearest pairs at q (N, nq)."""
        found = self.model.nearest(q, self.nearest, self.scene, within=FAR, gradients=True)
        there = np.isfinite(found.distance)
        gradient = np.zeros(0) if found.gradient is None else found.gradient
        return Near(
            np.where(there, found.distance, FAR),
            np.where(there[:, :, None], gradient, 0.0),
            found.bodies,
        )

    def touches(self, q: Floats) -> list[str]:
        """For each of q (N, nq) a message on the pair that is nearest."""
        if not len(q):
            return []
        found = self.model.nearest(q, 1, self.scene, within=math.inf, gradients=False)
        names = [" and ".join(found.names[int(k)] for k in pair) for pair in found.bodies[:, 0]]
        return [self._message(d, who) for d, who in zip(found.distance[:, 0], names, strict=True)]

    def _message(self, distance: float, pair: str) -> str:
        if distance < 0.0:
            return f"touches: {pair}, {_mm(-distance)} deep"
        return f"too near: {pair}, {_mm(distance)} apart, {_mm(self.margin)} are asked for"


def _mm(metres: float) -> str:
    """Metres as millimetres, so exactly that what is not 0 does not read as 0."""
    value = 1000.0 * metres
    return f"{value:.1f} mm" if value >= 0.1 or value == 0.0 else f"{value:.1g} mm"


def split(limits: Sequence[Limit]) -> tuple[list[Limit], Clear | None]:
    """The limits that bound positions, and the clearance among them, if any.

    Raises: InputError for two clearances, or one that is wrong.
    """
    asked = [each for each in limits if isinstance(each, Clearance)]
    if len(asked) > 1:
        raise InputError("give one Clearance: it is of the whole robot, with one margin")
    rest = [each for each in limits if not isinstance(each, Clearance)]
    return rest, asked[0].decided() if asked else None


def slowed(room: Floats, rate: float, brake: Floats) -> Floats:
    """The fastest approach (m/s) with so much room (m) left, such that braking is possible.

    In proportion to the room where it is small, such that ``brake`` (m/s^2) suffices, and from
    where it would not by braking steadily: both meet smoothly. Below 0 without room: away.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        near = brake / (rate * rate)
        steady = np.sqrt(np.maximum(2.0 * brake * (room - 0.5 * near), 0.0))
    return np.where(room > near, np.where(np.isfinite(brake), steady, math.inf), rate * room)
