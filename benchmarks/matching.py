"""Matching by name: two sides never have to agree on an order, only on names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
TOLERANCE = 1e-9


class NamesDiffer(ValueError):
    """Two sides that do not have the same joints."""


def order(wanted: Sequence[str], present: Sequence[str]) -> list[int]:
    """Indices into ``present`` that give ``wanted``.

    Raises: NamesDiffer where the two are not the same set of names, or a name appears twice.
    """
    missing = [name for name in wanted if name not in present]
    extra = [name for name in present if name not in wanted]
    if missing or extra:
        raise NamesDiffer(f"joints differ: missing {missing or 'none'}, extra {extra or 'none'}")
    if len(set(present)) != len(present) or len(wanted) != len(present):
        raise NamesDiffer(f"a joint appears twice: {list(present)}")
    position = {name: k for k, name in enumerate(present)}
    return [position[name] for name in wanted]


@dataclass(frozen=True)
class Agreement:
    """How far two results are apart, and how much was compared."""

    error: float
    compared: int
    reason: str = ""
    tolerance: float = TOLERANCE

    @property
    def ok(self) -> bool:
        """Whether the two agree to the tolerance."""
        return not self.reason and self.compared > 0 and self.error <= self.tolerance

    def __str__(self) -> str:
        if self.reason:
            return self.reason
        if not self.compared:
            return "nothing in common to compare"
        return f"{self.error:.1e} over {self.compared} numbers"


def compare(ours: Floats, theirs: Floats, tolerance: float = TOLERANCE) -> Agreement:
    """The largest difference of two arrays; a number that is not finite disagrees."""
    if ours.shape != theirs.shape:
        return Agreement(np.inf, 0, f"shapes differ: {ours.shape} and {theirs.shape}")
    difference = np.abs(ours - theirs)
    error = float(np.max(difference)) if difference.size else 0.0
    if not np.isfinite(error):
        return Agreement(np.inf, int(difference.size), "a result is not finite")
    return Agreement(error, int(difference.size), tolerance=tolerance)


def compare_frames(
    ours: Floats,
    our_names: Sequence[str],
    theirs: Floats,
    their_names: Sequence[str],
    needed: Sequence[str],
    *,
    tolerance: float = TOLERANCE,
    some: bool = False,
) -> Agreement:
    """Compare poses (n, k, 4, 4) frame by frame; every ``needed`` frame must be on both sides.

    With ``some`` the other side need not have them all: the frames that it has are compared.
    """
    a = {name: k for k, name in enumerate(our_names)}
    b = {name: k for k, name in enumerate(their_names)}
    if some:
        needed = [name for name in needed if name in b]
    missing = [name for name in needed if name not in a or name not in b]
    if missing:
        return Agreement(np.inf, 0, f"frames missing on one side: {missing[:5]}")
    common = list(needed)
    mine, other = [a[name] for name in common], [b[name] for name in common]
    return compare(ours[:, mine], theirs[:, other], tolerance)


def pose_errors(T_want: Floats, T_have: Floats) -> tuple[Floats, Floats]:
    """Distance (m) and angle (rad) between poses (n, 4, 4); precise for small angles.

    Source: the angle is 2 asin(|R - R'|_F / (2 sqrt 2)), from |R - R'|_F = 2 sqrt 2 |sin(theta/2)|.
    """
    position = np.linalg.norm(T_want[:, :3, 3] - T_have[:, :3, 3], axis=1)
    difference = np.linalg.norm(T_want[:, :3, :3] - T_have[:, :3, :3], axis=(1, 2))
    angle = 2.0 * np.arcsin(np.minimum(difference / (2.0 * np.sqrt(2.0)), 1.0))
    return position, angle
