"""What is made as good as the tasks leave free: gradients in their null space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundObjective:
    """An objective of one mechanism. The same ``key`` means the same code.

    ``descent(o, q, target)`` gives nv numbers: the way that a step goes where nothing else is
    asked for, in the tangent of q; a step of its full length does not overshoot.
    """

    name: str
    key: str
    n_target: int
    coordinates: tuple[int, ...]
    rows_of: Callable[[ArrayLike], Floats]
    target: Floats | None
    weight: float
    descent: Callable[[Ops, Block, Block], list[Block]]


class Objective(ABC):
    """Something to be made small where the tasks leave freedom."""

    @abstractmethod
    def bind(self, m: Mechanism) -> BoundObjective:
        """The objective for one mechanism.

        Raises: UnknownNameError for joints; InputError, ShapeError for the rest.
        """
