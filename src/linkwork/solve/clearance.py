"""Clearance: a limit that keeps a robot clear of itself and of its scene.

It is decided by a collision model, any object that answers as `Model` says, and belongs to what
searches or steps: `InverseKinematics` looks for answers that are clear (`clear_search`), a
`Controller` slows down and turns away before anything touches (`clear_steps`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

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


@runtime_checkable
class Model(Protocol):
    """The model of a clearance: signed distances of pairs of bodies, below 0 how deep."""

    def nearest(
        self,
        q: Floats,
        n: int,
        scene: Any = None,
        *,
        within: float = ...,
        gradients: bool = ...,
        gradients_at: Floats | None = ...,
    ) -> Nearest:
        """The n nearest pairs at q (..., nq), of those that are ``within`` so many metres.

        ``gradients_at`` (..., nq): where gradients are taken, of the points that are found at q.
        """
        ...

    def collides(self, q: Floats, scene: Any = None) -> NDArray[np.bool_]:
        """Whether anything touches at q (..., nq): where the least distance is 0 or below."""
        ...


@runtime_checkable
class Paired(Model, Protocol):
    """A model that can leave out pairs of links, and so all but the scene."""

    @property
    def links(self) -> Sequence[str]: ...  # noqa: D102

    def with_pairs(self, *, ignore: Any = ()) -> Model:
        """The model in which all pairs of these links are left out."""
        ...


@runtime_checkable
class Placed(Paired, Protocol):
    """A model that says where its bodies are, and which pairs of them it looks at."""

    @property
    def pairs(self) -> Iterable[Any]: ...  # noqa: D102  each with link_a, link_b and checked

    @property
    def carriers(self) -> Mapping[str, tuple[str, float]]:
        """The frame that carries each body, and how far it reaches from its origin (m)."""
        ...


@dataclass(frozen=True, eq=False)
class Clearance(Limit):
    """Nothing of the robot comes nearer than ``margin`` (m) to itself or to the ``scene``.

    Of the scene it may be another ``scene_margin``. It is hard: an answer that is nearer is no
    success, and its reason names the pair. ``nearest`` pairs at a time are kept apart by a step.
    ``model`` is by default the robot's own, ``robot.collision(margin=...)`` with no smaller margin;
    one that is given must know of pairs as near. The ``scene`` is looked at in every call, so
    things in it may move.

    ``rate`` (1/s) is for controllers: pairs come nearer no faster than this share of what is left
    of their way in a second, and such that they can be stopped by an `AccelerationLimit`.
    """

    margin: float = 0.0
    scene: Any = None
    nearest: int = 8
    rate: float = 10.0
    model: Model | None = None
    scene_margin: float | None = None

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

        Raises: InputError; where there is no model too, or one that has left pairs out that come
        nearer than the margin.
        """
        if self.model is None:
            raise InputError(
                "Clearance needs a collision model: model=robot.collision(), which the methods of "
                "a Robot put in by themselves"
            )
        if not isinstance(self.model, Model):
            raise InputError(
                "Clearance.model must be a collision model, as robot.collision() gives it, not "
                f"{type(self.model).__name__}"
            )
        margin = finite_number(self.margin, "Clearance.margin")
        known = float(getattr(self.model, "margin", math.inf))
        if margin > known:
            raise InputError(
                f"Clearance.margin is {margin:g} m, and its model has left pairs out that come as "
                f"near as {known:g} m: make it by robot.collision(margin={margin:g})"
            )
        around, only_around = margin, None
        if self.scene_margin is not None:
            around = finite_number(self.scene_margin, "Clearance.scene_margin")
        if around != margin and self.scene is not None:
            if not isinstance(self.model, Paired):
                raise InputError(
                    "Clearance.scene_margin needs a model with links and with_pairs, as "
                    "robot.collision() gives it"
                )
            only_around = self.model.with_pairs(ignore=self.model.links)
        return Clear(
            self.model,
            self.scene,
            margin,
            whole_number(self.nearest, "Clearance.nearest", least=1),
            finite_number(self.rate, "Clearance.rate", above=0.0),
            around,
            only_around,
        )


class Near(NamedTuple):
    """The nearest pairs of configurations (N, nq)."""

    distance: Floats  # (N, n)
    gradient: Floats  # (N, n, nv)
    bodies: Integers  # (N, n, 2)


class Contact(NamedTuple):
    """A pair of bodies at a distance (m), which is counted as from `Clear.margin`.

    ``obstacle``: whether the second one stands in the scene, whose names may be those of links.
    """

    distance: float
    pair: tuple[str, str]
    obstacle: bool


class Clear(NamedTuple):
    """A clearance that is asked for, and the model that decides on it.

    Where the scene has a margin of its own, ``only_around`` is the model that looks at the scene
    alone, and distances to it are counted as if its margin were ``margin``.
    """

    model: Model
    scene: Any
    margin: float
    nearest: int
    rate: float
    scene_margin: float = 0.0
    only_around: Model | None = None

    def coordinates(self, m: Mechanism, contact: Contact | None = None) -> set[int]:
        """The coordinates on which the distance of a contact depends, by default of any pair.

        What the model does not know of a pair stands in the scene.
        """
        if not isinstance(self.model, Placed):
            return set(range(len(m.joint_names)))
        carriers, still = self.model.carriers, set[int]()
        paths = {
            body: set(m.ancestry(int(m.frame_body[m.frame(frame)])))
            for body, (frame, _) in carriers.items()
        }
        pairs = [(each.link_a, each.link_b) for each in self.model.pairs if each.checked]
        if self.scene is not None:
            pairs += [(body, "") for body in carriers]
        if contact is not None:
            pairs = [(contact.pair[0], "" if contact.obstacle else contact.pair[1])]
        between = (paths.get(a, still) ^ paths.get(b, still) for a, b in pairs)
        return {int(m.coordinate[body]) for body in still.union(*between)} - {-1}

    def clearance(self, q: Floats) -> Floats:
        """The least distance (N,) at q (N, nq), as it is."""
        if not len(q):
            return np.zeros(0)
        found = self.model.nearest(q, 1, self.scene, within=math.inf, gradients=False)
        return np.array(found.distance[:, 0])

    def verdict(self, q: Floats) -> Floats:
        """Infinite where q (N, nq) is clear, else what is left below the margin; -`FAR` where it
        touches, which is decided many times faster than how deep.
        """
        margins = self.margin, self.margin if self.only_around is None else self.scene_margin
        if not len(q) or min(margins) < 0.0:
            return self.short(q)
        found = np.where(self.model.collides(q, self.scene), -FAR, math.inf)
        if max(margins) > 0.0:
            apart = found > 0.0
            found[apart] = self.short(q[apart])
        return found

    def short(self, q: Floats) -> Floats:
        """The same where it is below the margin; infinite where q is clear, which is quicker."""
        return self._nearest(q, 1, self.margin)[0].distance[:, 0]

    def near(self, q: Floats, at: Floats | None = None) -> Near:
        """The nearest pairs at q (N, nq); gradients at other configurations, of the same points."""
        found, _ = self._nearest(q, self.nearest, FAR, gradients=True, at=at)
        there = np.isfinite(found.distance)
        return Near(
            np.where(there, found.distance, FAR),
            np.where(there[:, :, None], found.gradient, 0.0),
            found.bodies,
        )

    def below(self, q: Floats) -> tuple[Near, Sequence[str]]:
        """The nearest pairs of q (N, nq) that are below the margin, and the names of bodies."""
        return self._nearest(q, self.nearest, self.margin)

    def touches(self, q: Floats) -> list[Contact]:
        """The pair that is nearest, for each of q (N, nq)."""
        found, names = self._nearest(q, 1, math.inf)
        distances, bodies = found.distance[:, 0].tolist(), found.bodies[:, 0].tolist()
        return [
            self.contact(distance, a, b, names)
            for distance, (a, b) in zip(distances, bodies, strict=True)
        ]

    def contact(self, distance: float, a: int, b: int, names: Sequence[str]) -> Contact:
        """The contact of two bodies of `below`, by their numbers: links come before obstacles."""
        obstacle = isinstance(self.model, Paired) and b >= len(self.model.links)
        return Contact(distance, (names[a], names[b]), obstacle)

    def message(self, contact: Contact) -> str:
        """The message on a contact."""
        of_scene = self.only_around is not None and contact.obstacle
        margin = self.scene_margin if of_scene else self.margin
        apart, both = contact.distance - self.margin + margin, " and ".join(contact.pair)
        if apart < 0.0:
            return f"touches: {both}, {_mm(-apart)} deep"
        return f"too near: {both}, {_mm(apart)} apart, {_mm(margin)} are asked for"

    def _nearest(
        self,
        q: Floats,
        n: int,
        within: float,
        *,
        gradients: bool = False,
        at: Floats | None = None,
    ) -> tuple[Near, Sequence[str]]:
        """The n nearest pairs of q (N, nq), as if all had the margin, and the names of bodies."""
        if not len(q):
            return Near(np.zeros((0, n)), np.zeros((0, n, 0)), np.zeros((0, n, 2), np.int64)), ()
        scene = self.scene if self.only_around is None else None
        how: dict[str, Any] = {"gradients": gradients} | (
            {} if at is None else {"gradients_at": at}
        )
        found = self.model.nearest(q, n, scene, within=within, **how)
        none = np.zeros((len(q), n, 0))
        own = Near(found.distance, none if found.gradient is None else found.gradient, found.bodies)
        if self.only_around is None:
            return own, found.names
        farther = self.scene_margin - self.margin
        found = self.only_around.nearest(q, n, self.scene, within=within + farther, **how)
        slopes = none if found.gradient is None else found.gradient
        distance = np.concatenate([own.distance, found.distance - farther], axis=1)
        gradient = np.concatenate([own.gradient, slopes], axis=1)
        bodies = np.concatenate([own.bodies, found.bodies], axis=1)
        order = np.argsort(distance, axis=1, kind="stable")[:, :n]
        rows = np.arange(len(q))[:, None]
        return Near(distance[rows, order], gradient[rows, order], bodies[rows, order]), found.names


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
