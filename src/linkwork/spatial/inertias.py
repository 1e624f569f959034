"""Masses, centres of mass and inertias of bodies, and of several made into one; NumPy only.

An inertia here is about the centre of mass, kg m²; mass in kg, positions in metres.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import ShapeError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def lump(
    owner: Ints, n: int, *, mass: Floats, com: Floats, inertia: Floats
) -> tuple[Floats, Floats, Floats]:
    """Mass (n,), centre of mass (n, 3) and inertia about it (n, 3, 3) of bodies made of links.

    ``owner`` (nl,) is the body of each link, whose mass (nl,), centre (nl, 3) and inertia
    (nl, 3, 3) are given in the body's frame. Centres are measured from that of the first link with
    mass, so a body of one link keeps its numbers to the last bit.
    Source: parallel axes (Huygens, Steiner): I = sum of I_i + m_i (d_i·d_i 1 - d_i d_iᵀ), where d_i
    leads from the common centre of mass to that of link i.
    """
    total = np.bincount(owner, mass, n).astype(np.float64, copy=False)
    first = np.zeros(n, np.int64)
    for among in (np.arange(len(owner)), np.flatnonzero(mass)):
        first[owner[among][::-1]] = among[::-1]  # of repeated indices the last one stays
    reference = com[first]
    moment = _sums(owner, n, mass[:, None] * (com - reference[owner]))
    heavy = total != 0
    centre = reference.copy()
    centre[heavy] += moment[heavy] / total[heavy, None]
    d = com - centre[owner]
    square = np.einsum("ni,ni->n", d, d)
    steiner = square[:, None, None] * np.eye(3) - d[:, :, None] * d[:, None, :]
    about = _sums(owner, n, (inertia + mass[:, None, None] * steiner).reshape(-1, 9))
    return total, centre + 0.0, about.reshape(-1, 3, 3) + 0.0


def _sums(owner: Ints, n: int, values: Floats) -> Floats:
    """The sum of the rows (nl, k) of each owner, (n, k), added in their order."""
    k = values.shape[1]
    cell = (k * owner)[:, None] + np.arange(k)
    sums = np.bincount(cell.ravel(), values.ravel(), n * k).reshape(n, k)
    return sums.astype(np.float64, copy=False)


def turned(R: Floats, inertia: Floats) -> Floats:
    """Inertias (..., 3, 3) in other axes, R I Rᵀ, symmetric to the last bit."""
    new = R @ inertia @ np.swapaxes(R, -1, -2)
    return 0.5 * (new + np.swapaxes(new, -1, -2))


def is_physical(mass: float, I_com: Any, *, tolerance: float = 1e-6) -> str | None:
    """The reason why no real body has this mass and this inertia (3, 3); None where one has.

    A body's principal moments are not negative, and none is larger than the sum of the other two.
    Both are judged within `tolerance` times the largest entry: printed inertias are rounded.

    Source: P. M. Wensing, S. Kim, J.-J. Slotine, "Linear matrix inequalities for physically
    consistent inertial parameter identification", IEEE RA-L 3 (2018), section II.
    Raises: ShapeError.
    """
    inertia = np.asarray(I_com, dtype=np.float64)
    if inertia.shape != (3, 3):
        raise ShapeError(f"an inertia has the shape (3, 3), this one {inertia.shape}")
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
    """The fault of an inertia whose largest entry has been made 1; `unit` was that entry."""
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
