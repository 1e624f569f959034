"""Obstacles of very many parts: clouds of points, and height fields.

An aggregate has a hierarchy of its own, in its own frame, that finds its parts: a cloud the tree of
its points (`cloud`), a field the pyramid of its heights (`height_field`). Both are made once for
the shape. Scenes have addresses of them, and a pose for each, so that an aggregate that moves costs
nothing, however large it is, and neither does another obstacle that does. Each function below asks
one aggregate, by its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.collision.cloud import (
    FRAME,
    PLACES,
    RADIUS,
    Aggregate,
    cloud_arrays,
    cloud_distance,
    cloud_nearest,
    cloud_touches,
)
from linkwork.collision.height_field import (
    field_arrays,
    field_away,
    field_distance,
    field_frame,
    field_holds,
    field_touches,
)
from linkwork.collision.narrow import Solid
from linkwork.compile.numpy_abi import address
from linkwork.compile.typed import F64, Bool, PtrF64, PtrI64, typed
from linkwork.mechanism.shapes import HeightField, Points

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CLOUD, FIELD = 0, 1
"""Kinds of aggregates."""


@dataclass(frozen=True, eq=False, slots=True)
class Aggregates:
    """The aggregates of a scene, as two flat arrays for the small language.

    ``index`` has five numbers of each: the number of its object, its kind, and the addresses of
    three arrays, which are ``held`` (`cloud_arrays`, `field_arrays`). ``numbers`` has 29 of each:
    the rows of T_object_world and of T_world_object (3, 4), and the radius of a cloud's points, or
    `field_frame` of a field.
    """

    count: int
    index: Integers
    numbers: Floats
    held: tuple[Any, ...] = ()

    @property
    def objects(self) -> list[int]:
        """The number of the object that each aggregate is."""
        return self.index[: PLACES * self.count : PLACES].tolist()


def aggregates_of(given: Sequence[tuple[int, Points | HeightField, Floats]]) -> Aggregates:
    """The arrays of aggregates: of each the number of its object, its shape and T_world_object."""
    index = np.zeros((len(given), PLACES), np.int64)
    numbers = np.zeros((len(given), FRAME))
    held: list[Any] = []
    for own, frame, (k, shape, T) in zip(index, numbers, given, strict=True):
        R = T[:3, :3]
        frame[:12] = np.column_stack([R.T, -R.T @ T[:3, 3]]).reshape(-1)
        frame[12:RADIUS] = T[:3].reshape(-1)
        if isinstance(shape, HeightField):
            kind, arrays = FIELD, field_arrays(shape)
            frame[RADIUS:] = field_frame(shape)
        else:
            kind, arrays = CLOUD, cloud_arrays(shape)
            frame[RADIUS] = shape.radius
        own[:] = k, kind, *map(address, arrays)
        held.append(arrays)
    return Aggregates(len(given), index.reshape(-1), numbers.reshape(-1), tuple(held))


def points_of(shape: Points | HeightField) -> Floats:
    """Points (n, 3) of an aggregate whose hull holds it but for the points' radius."""
    if isinstance(shape, Points):
        return shape.points
    (x, y), heights = shape.size, shape.heights
    ends = [(-x / 2, x / 2), (-y / 2, y / 2), (shape.bottom, float(heights.max()))]
    return np.stack(np.meshgrid(*ends), axis=-1).reshape(-1, 3)


# --- the small language ---------------------------------------------------------------------------


@typed
def is_field(aggregate: Aggregate) -> Bool:
    """Whether an aggregate is a height field."""
    return aggregate.own[1] == FIELD


@typed
def aggregate_touches(aggregate: Aggregate, ball: PtrF64) -> Bool:
    """Whether a ball meets a point of a cloud, or may meet a field."""
    if is_field(aggregate):
        return field_touches(aggregate, ball)
    return cloud_touches(aggregate, ball)


@typed
def aggregate_holds(aggregate: Aggregate, ball: PtrF64) -> Bool:
    """Whether a ball surely touches a part of an aggregate."""
    if is_field(aggregate):
        return field_holds(aggregate, ball)
    return cloud_touches(aggregate, ball)


@typed
def aggregate_away(aggregate: Aggregate, ball: PtrF64, most: F64, out: PtrI64) -> F64:
    """A lower bound of the distance of a ball from an aggregate.

    It is ``most``, and -1 goes to ``out``, where nothing is nearer than that.
    """
    if is_field(aggregate):
        return field_away(aggregate, ball, most, out)
    return cloud_nearest(aggregate, ball, most, out)


@typed
def aggregate_distance(
    aggregate: Aggregate, solid: Solid, world: PtrF64, bound: F64, record: PtrF64
) -> F64:
    """Signed distance of a piece, of a body at ``pose``, and the parts of an aggregate, the least.

    It and what `closest` says of the nearest part go to the record, 10 numbers. Where none is
    within ``bound`` it is `FAR`, and nothing is written. ``world`` is the pose of the world.
    """
    if is_field(aggregate):
        return field_distance(aggregate, solid, world, bound, record)
    return cloud_distance(aggregate, solid, world, bound, record)
