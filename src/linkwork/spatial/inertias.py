"""Masses, centres of mass and inertias, of one body and of several made into one; NumPy only.

An inertia here is about the centre of mass, kg m²; mass in kg, positions in metres.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import ShapeError

Floats = NDArray[np.float64]


class Inertia(NamedTuple):
    """Mass (), centre of mass (3,), and the inertia (3, 3) about it in the frame's axes."""

    mass: float
    com: Floats
    I_com: Floats


class Part(NamedTuple):
    """An inertia given in its own frame b, with the pose of b in the frame of the whole."""

    inertia: Inertia
    R: Floats  # R_a_b (3, 3)
    p: Floats  # p_a_b (3,)


def rotate(I_com: Any, R: Any) -> Floats:
    """The same inertia in other axes, R I Rᵀ (3, 3), symmetric to the last bit.

    Raises: ShapeError.
    """
    inertia, turn = _array(I_com, "an inertia", (3, 3)), _array(R, "a rotation", (3, 3))
    turned = turn @ inertia @ np.transpose(turn)
    return 0.5 * (turned + np.transpose(turned))


def shift(I_com: Any, mass: float, offset: Any) -> Floats:
    """The inertia (3, 3) about a point that lies at an offset (3,) from the centre of mass.

    With a negative mass it goes the other way, from the point to the centre of mass.
    Source: the parallel axis theorem (Huygens, Steiner): I + m (d·d 1 - d dᵀ).
    Raises: ShapeError.
    """
    inertia, d = _array(I_com, "an inertia", (3, 3)), _array(offset, "an offset", (3,))
    return inertia + mass * (float(d @ d) * np.eye(3) - np.outer(d, d))


def lump(parts: Iterable[Part]) -> Inertia:
    """Several parts as one body.

    A single part that stands at the identity keeps its numbers to the last bit, since centres
    are measured from that of the first part with mass. Where the masses sum to zero there
    is no centre of mass: it is given as zero, with the inertias summed.

    Raises: ShapeError.
    """
    placed = [_placed(part) for part in parts]
    total = sum((part.mass for part in placed), 0.0)
    if total == 0.0:
        inertias = [part.I_com for part in placed]
        return Inertia(0.0, np.zeros(3), sum(inertias, np.zeros((3, 3))))
    origin = next(part.com for part in placed if part.mass)
    moments = [part.mass * (part.com - origin) for part in placed]
    com: Floats = origin + sum(moments, np.zeros(3)) / total
    about = [shift(part.I_com, part.mass, part.com - com) for part in placed]
    return Inertia(total, com, sum(about, np.zeros((3, 3))))


def is_physical(mass: float, I_com: Any, *, tolerance: float = 1e-6) -> str | None:
    """Why no real body has this mass and this inertia (3, 3); None where one has.

    A body's principal moments are not negative, and none is larger than the sum of the other two.
    Both are judged within `tolerance` times the largest entry: printed inertias are rounded.

    Source: P. M. Wensing, S. Kim, J.-J. Slotine, "Linear matrix inequalities for physically
    consistent inertial parameter identification", IEEE RA-L 3 (2018), section II.
    Raises: ShapeError.
    """
    inertia = _array(I_com, "an inertia", (3, 3))
    if not (np.isfinite(mass) and np.isfinite(inertia).all()):
        return "the mass and the inertia must be finite numbers"
    largest = float(np.abs(inertia).max())
    if mass < 0:
        return f"the mass {mass:g} kg is negative"
    if mass == 0 and largest > 0:
        return "the inertia is not zero although the mass is"
    return _impossible_moments(inertia / largest, largest, tolerance) if largest > 0 else None


def principal_moments(inertia: Floats) -> tuple[Floats, Floats]:
    """Principal moments, ascending, of inertias, and how far the largest exceeds the others' sum.

    Shapes: (n, 3, 3) to (n, 3) and (n,), in the unit of the inertias. An excess above zero breaks
    the triangle inequality: each moment is a sum over mass of two squared coordinates.
    """
    moments = np.linalg.eigvalsh(inertia).astype(np.float64, copy=False)
    return moments, moments[:, 2] - moments[:, 1] - moments[:, 0]


def _impossible_moments(inertia: Floats, unit: float, tolerance: float) -> str | None:
    """What is wrong with an inertia whose largest entry has been made 1; `unit` was that entry."""
    if float(np.abs(inertia - np.transpose(inertia)).max()) > tolerance:
        return "the inertia is not symmetric"
    moments, excess = principal_moments(inertia[None])
    low, middle, high = (float(x) for x in moments[0])
    if low < -tolerance:
        return f"a principal moment of inertia is negative: {low * unit:.4g} kg m²"
    if excess[0] > tolerance:
        return (
            f"the largest principal moment {high * unit:.4g} kg m² exceeds the sum of the others, "
            f"{low * unit:.4g} + {middle * unit:.4g} (triangle inequality)"
        )
    return None


def _placed(part: Part) -> Inertia:
    """The part's inertia in the axes and from the origin of the whole; unturned ones bit by bit."""
    mass, com, I_com = part.inertia
    R, p = _array(part.R, "a rotation", (3, 3)), _array(part.p, "a position", (3,))
    com = _array(com, "a centre of mass", (3,))
    if np.array_equal(R, np.eye(3)):
        return Inertia(float(mass), com + p, _array(I_com, "an inertia", (3, 3)))
    return Inertia(float(mass), R @ com + p, rotate(I_com, R))


def _array(value: Any, what: str, shape: tuple[int, ...]) -> Floats:
    array = np.asarray(value, dtype=np.float64)
    if array.shape != shape:
        raise ShapeError(f"{what} has the shape {shape}, this one {array.shape}")
    return array
