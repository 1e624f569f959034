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

FAR = 1.0e6
"""Metres: pairs that are farther count as so far."""


class Nearest(Protocol):
    """The nearest pairs of each configuration, the nearest first.

    Shapes: all (..., n), but for ``gradient`` (..., n, nv): by the tangent of q, metres per radian
    or metre. ``pair`` are numbers of pairs, which are the places of their two names in
    ``pair_names``.
    """

    @property
    def distance(self) -> Floats: ...  # noqa: D102

    @property
    def gradient(self) -> Floats: ...  # noqa: D102

    @property
    def pair(self) -> NDArray[np.int64]: ...  # noqa: D102

    @property
    def pair_names(self) -> Sequence[tuple[str, str]]: ...  # noqa: D102


class Model(Protocol):
    """What a clearance is decided by: signed distances of pairs of bodies, below 0 where deep."""

    def clearance(self, q: Floats, scene: Any = None) -> Floats:
        """The least distance (...,) at q (..., nq) of all pairs that are checked, in metres."""
        ...

    def nearest(self, q: Floats, n: int, scene: Any = None) -> Nearest:
        """The n nearest pairs, or all where there are fewer."""
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
    pair: NDArray[np.int64]  # (N, n)
    names: Sequence[tuple[str, str]]


class Clear(NamedTuple):
    """A clearance that is asked for, and the model that decides on it."""

    model: Model
    scene: Any
    margin: float
    nearest: int
    rate: float

    def clearance(self, q: Floats) -> Floats:
        """The least distance (N,) at q (N, nq)."""
        if not len(q):
            return np.zeros(0)
        return np.asarray(self.model.clearance(q, self.scene), dtype=np.float64)

    def near(self, q: Floats, n: int | None = None) -> Near:
        """The nearest pairs at q (N, nq)."""
        found = self.model.nearest(q, n or self.nearest, self.scene)
        distance = np.minimum(found.distance, FAR)
        return Near(distance, found.gradient, found.pair, found.pair_names)

    def touches(self, q: Floats) -> list[str]:
        """For each of q (N, nq) a message on the pair that is nearest."""
        if not len(q):
            return []
        near = self.near(q, 1)
        return [
            self._message(float(d), near.names[int(k)])
            for d, k in zip(near.distance[:, 0], near.pair[:, 0], strict=True)
        ]

    def _message(self, distance: float, names: tuple[str, str]) -> str:
        pair = " and ".join(names)
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
