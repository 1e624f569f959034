"""What links become on a body: exact rotations, aligned z axes, lumped inertias; many at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.errors import InputError
from linkwork.mechanism.model import Floats, Ints

EXACT_WITHIN = 2.5e-16
"""A rotation entry nearer than this to 0, 1 or -1 is meant to be it: cos(pi/2) gives 6e-17."""


def exact(R: Floats) -> Floats:
    """Rotations (n, 3, 3), or unit vectors (n, 3), whose entries next to 0, 1 and -1 are exact."""
    near = np.rint(R)
    return np.where(np.abs(R - near) < EXACT_WITHIN, near, R) + 0.0  # + 0.0: no negative zeros


def align_z(axis: Floats) -> Floats:
    """The smallest rotations (n, 3, 3) that take z to unit vectors (n, 3); for -z x stays.

    With a = (x, y, z) it is [[1 - k x², -k x y, x], [-k x y, 1 - k y², y], [-x, -y, z]] with
    k = 1 / (1 + z). Near -z the sum cancels, so below the equator k = (1 - z) / (x² + y²), which
    is the same on the unit sphere. `spatial.rotations.align_z` is this for one axis.
    Source: Rodrigues' formula for the angle arccos z about (-y, x, 0).
    """
    x, y, z = axis[:, 0], axis[:, 1], axis[:, 2]
    across = x * x + y * y
    down = z < 0
    with np.errstate(divide="ignore", invalid="ignore"):
        k = np.where(down, (1 - z) / across, 1 / (1 + z))
    k = np.where(across == 0, np.where(down, 0.0, 0.5), k)
    R = np.empty((len(axis), 3, 3))
    R[:, 0, 0], R[:, 1, 1], R[:, 2, 2] = 1 - k * x * x, 1 - k * y * y, z
    R[:, 0, 1] = R[:, 1, 0] = -k * x * y
    R[:, 0, 2], R[:, 1, 2], R[:, 2, 0], R[:, 2, 1] = x, y, -x, -y
    R[(across == 0) & down] = np.diag([1.0, -1.0, -1.0])
    return exact(R)


def straight(axis: Floats) -> Floats | None:
    """What `align_z` gives for axes (n, 3) that are x, y, z or their opposites; None for others."""
    if not (np.rint(axis) == axis).all() or not (np.abs(axis).sum(axis=1) == 1).all():
        return None
    return _STRAIGHT[(axis @ _NUMBERS).astype(np.int64)]


_NUMBERS = np.array([1.0, 2.0, 3.0])
_STRAIGHT = align_z(np.array([*np.eye(3)[[2, 0, 1, 2]], *-np.eye(3)[[2, 1, 0]]]))
"""By 1, 2, 3 for x, y, z, and from behind for their opposites; nothing has the number 0."""


def lump(
    owner: Ints, n: int, *, mass: Floats, com: Floats, inertia: Floats
) -> tuple[Floats, Floats, Floats]:
    """Mass (n,), centre of mass (n, 3) and inertia about it (n, 3, 3) of bodies made of links.

    All links of an owner are given in its frame. The others' centres are measured from that of the
    first one with mass, so a body of one link keeps its numbers to the last bit.
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
    """Inertias (n, 3, 3) in other axes, R I Rᵀ, symmetric to the last bit."""
    new = R @ inertia @ np.swapaxes(R, 1, 2)
    return 0.5 * (new + np.swapaxes(new, 1, 2))


def gather(rows: Sequence[Floats], *shape: int) -> Floats:
    """Arrays of one shape as a new array (n, *shape)."""
    if not rows:
        return np.zeros((0, *shape))
    return np.array(rows, dtype=np.float64).reshape(len(rows), *shape)


def check_finite(kind: str, names: Sequence[str], what: str, *values: Floats) -> None:
    """Refuse numbers that are not finite, naming the first part that has them.

    Raises: InputError.
    """
    for array in values:
        if np.isfinite(array).all():
            continue
        good = np.isfinite(array).reshape(len(names), array.size // max(len(names), 1)).all(axis=1)
        name = names[int(np.argmin(good))]
        raise InputError(f"{kind} '{name}': {what} must be finite numbers")
