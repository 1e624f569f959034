"""Angles as they are typed and printed: in radians, or in degrees with --deg."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.mechanism.model import JointType, Mechanism

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Angles:
    """The unit that people use for angles at the terminal; everything else is in radians."""

    degrees: bool = False

    @property
    def unit(self) -> str:
        """The unit's name: "rad" or "deg"."""
        return "deg" if self.degrees else "rad"

    def typed(self, angles: ArrayLike) -> Floats:
        """Angles in radians, of what was typed."""
        return np.deg2rad(angles) if self.degrees else np.asarray(angles, np.float64)

    def shown(self, angles: ArrayLike) -> Floats:
        """Angles to print, of radians."""
        return np.rad2deg(angles) if self.degrees else np.asarray(angles, np.float64)

    def typed_positions(self, m: Mechanism, q: ArrayLike) -> Floats:
        """Configurations (..., nq) in radians and metres, of what was typed."""
        given = np.asarray(q, np.float64)
        return np.where(_turning(m), self.typed(given), given)

    def shown_positions(self, m: Mechanism, q: ArrayLike) -> Floats:
        """Configurations (..., nq), or limits of them, to print."""
        values = np.asarray(q, np.float64)
        return np.where(_turning(m), self.shown(values), values)

    def typed_by_name(
        self, m: Mechanism, values: Mapping[str, float | Sequence[float]]
    ) -> dict[str, float | list[float]]:
        """Positions of joints by name, coupled ones included; other names stay as they are."""
        kinds = dict(zip(m.body_joint_names, m.body_joint_types, strict=True))
        found: dict[str, float | list[float]] = {}
        for name, value in values.items():
            listed = list(np.atleast_1d(value))
            turning = _numbers_that_turn(kinds.get(name, JointType.FIXED))
            for k, turns in enumerate(turning[: len(listed)]):
                listed[k] = float(self.typed(listed[k])) if turns else listed[k]
            found[name] = listed[0] if np.ndim(value) == 0 else listed
        return found


def _numbers_that_turn(kind: JointType) -> list[bool]:
    """Which of the numbers of a joint are angles."""
    if kind is JointType.PLANAR:
        return [False, False, True]
    return [kind.turns] * kind.n_q


def _turning(m: Mechanism) -> NDArray[np.bool_]:
    return np.array([turns for kind in m.joint_types for turns in _numbers_that_turn(kind)], bool)
