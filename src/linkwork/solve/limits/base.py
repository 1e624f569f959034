"""What a limit is: bounds of positions, from where the move began and where the others are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops

Floats = NDArray[np.float64]

Interval = tuple[Block | None, Block | None]
"""The lowest and the highest value; None where there is none."""

POSITION, VELOCITY, ACCELERATION = 0, 1, 2
"""Ranks: where limits exclude each other, the one of the lowest rank is kept."""


class Where(NamedTuple):
    """What bounds are computed from.

    The present ``q`` (nq,); ``start`` (nq,), where the move began, inside the limits of position;
    ``room``, by index in q, the positions that these limits allow.
    """

    q: Block
    start: Block
    room: Mapping[int, Interval]


BoundsOf = Callable[[Ops, Where, Block, Block], Mapping[int, Interval]]
"""(o, where, settings, numbers) -> bounds of positions, by their index in q."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundLimit:
    """A limit of one mechanism: names are indices, arguments have been checked.

    Limits with the same ``key`` have the same code. ``bounds`` is the text that is traced: from
    where things are, the ``settings`` of a call and the ``numbers`` of a row. Bounds that are
    ``coupled`` depend on q: they are those of the q that a step arrives at. What has rank
    `POSITION` and is not coupled depends on its settings alone.
    """

    name: str
    key: str
    rank: int
    positions: tuple[int, ...]  # the indices in q that it bounds
    coordinates: tuple[int, ...]  # the mechanism's coordinates that it reads
    coupled: bool
    needs_start: bool
    settings: tuple[float, ...]
    n_numbers: int
    rows_of: Callable[[ArrayLike], Floats]  # what is given for a call -> (..., n_numbers)
    numbers: Floats | None  # where none is given
    bounds: BoundsOf
    # of coordinates whose angle is limited, how far (rad) they stay from that; part of the key
    margins: Mapping[int, float] = field(default_factory=dict[int, float])


class Limit(ABC):
    """One thing that is not to be left."""

    @abstractmethod
    def bind(self, m: Mechanism) -> BoundLimit:
        """The limit for one mechanism.

        Raises: UnknownNameError for joints; InputError, ShapeError for the rest.
        """


def no_numbers(_given: ArrayLike) -> Floats:
    """What is given for a limit that takes nothing."""
    return np.zeros(0)
