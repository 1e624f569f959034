"""How far tasks of inverse kinematics are from done, from poses (..., 4, 4) alone, in NumPy.

Written apart from the library: no function of `linkwork.solve` or `linkwork.spatial` is used.
"""

from __future__ import annotations

import numpy as np


def turned(axis: int, angle) -> np.ndarray:
    """The pose (4, 4) of a turn about x, y or z."""
    T, (i, j) = np.eye(4), [(1, 2), (2, 0), (0, 1)][axis]
    T[i, i] = T[j, j] = np.cos(angle)
    T[j, i], T[i, j] = np.sin(angle), -np.sin(angle)
    return T


def shifted(vector) -> np.ndarray:
    """The pose (4, 4) of a shift."""
    T = np.eye(4)
    T[:3, 3] = vector
    return T


def back(T) -> np.ndarray:
    """The inverse of poses (..., 4, 4)."""
    return np.linalg.inv(T)


def angle_between(a, b):
    """The angle of two vectors (..., 3) of any length."""
    a, b = np.broadcast_arrays(a, b)
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), np.sum(a * b, axis=-1))


def rotation_vector(R) -> np.ndarray:
    """The rotation vector (..., 3) of R (..., 3, 3): the axis is what R leaves as it is."""
    _, _, vh = np.linalg.svd(R - np.eye(3))
    axis = vh[..., -1, :]
    across = 0.5 * np.stack(
        [R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], -1
    )
    cosine = 0.5 * (np.trace(R, axis1=-2, axis2=-1) - 1.0)
    return axis * np.arctan2(np.sum(axis * across, axis=-1), cosine)[..., None]


def turn_between(T, T_target):
    """The angle between two orientations (..., 4, 4)."""
    between = np.swapaxes(T[..., :3, :3], -1, -2) @ T_target[..., :3, :3]
    return np.linalg.norm(rotation_vector(between), axis=-1)


def way_in_axes(T, T_target, of: str, point=(0.0, 0.0, 0.0)) -> np.ndarray:
    """The way (..., 3) from a point of a frame to the target's position, in the axes of one."""
    at = np.einsum("...ij,j->...i", T[..., :3, :3], np.asarray(point, float)) + T[..., :3, 3]
    way = T_target[..., :3, 3] - at
    R = {"tool": T, "target": T_target}.get(of)
    return way if R is None else np.einsum("...ji,...j->...i", R[..., :3, :3], way)


def turn_in_axes(T, T_target, of: str) -> np.ndarray:
    """The rotation vector (..., 3) from a frame to its target, in the axes of one."""
    R, R_target = T[..., :3, :3], T_target[..., :3, :3]
    if of in ("tool", "target"):
        return rotation_vector(np.swapaxes(R, -1, -2) @ R_target)
    return rotation_vector(R_target @ np.swapaxes(R, -1, -2))


def rotation_left(T, T_target, axes: str, of: str, mirror: str | None = None, *, exact=False):
    """How far a frame is from an orientation of which only turns about some axes count.

    ``exact``: by the components of the rotation vector, also where two of them count.
    """
    if mirror is not None:
        other = T_target @ turned("xyz".index(mirror), np.pi)
        pair = [rotation_left(T, each, axes, of, exact=exact) for each in (T_target, other)]
        return np.minimum(*pair)
    if len(axes) == 3:
        return turn_between(T, T_target)
    if len(axes) == 1 or exact:
        kept = ["xyz".index(a) for a in axes]
        return np.linalg.norm(turn_in_axes(T, T_target, of)[..., kept], axis=-1)
    free = next(k for k in range(3) if "xyz"[k] not in axes)
    R, R_target = T[..., :3, :3], T_target[..., :3, :3]
    if of in ("tool", "target"):
        return angle_between(R[..., :, free], R_target[..., :, free])
    # the frame's direction that lies along the given axis at the target
    along = np.einsum("...ij,...j->...i", R, R_target[..., free, :])
    return angle_between(along, np.eye(3)[free])


def position_left(T, T_target, axes: str, of: str, point=(0.0, 0.0, 0.0)):
    """The length of the way of which only some components count."""
    way = way_in_axes(T, T_target, of, point)
    return np.linalg.norm(way[..., ["xyz".index(a) for a in axes]], axis=-1)


def point_of(T, point) -> np.ndarray:
    """Where a point of a frame is (..., 3)."""
    return np.einsum("...ij,j->...i", T[..., :3, :3], np.asarray(point, float)) + T[..., :3, 3]


def axis_of(T, axis) -> np.ndarray:
    """Where an axis of a frame points (..., 3), of length 1."""
    axis = np.asarray(axis, float)
    return np.einsum("...ij,j->...i", T[..., :3, :3], axis / np.linalg.norm(axis))


def from_line(p, line):
    """The distance of points (..., 3) from lines (..., 6)."""
    d = line[..., 3:] / np.linalg.norm(line[..., 3:], axis=-1, keepdims=True)
    return np.linalg.norm(np.cross(p - line[..., :3], d), axis=-1)


def from_plane(p, plane):
    """The distance of points (..., 3) from planes (..., 6)."""
    n = plane[..., 3:] / np.linalg.norm(plane[..., 3:], axis=-1, keepdims=True)
    return np.abs(np.sum((p - plane[..., :3]) * n, axis=-1))


def center_of_mass(robot, q) -> np.ndarray:
    """The centre of mass (3,) at q (nq,), from the poses and masses of the links as described."""
    m = robot.mechanism
    total, first = 0.0, np.zeros(3)
    for k in range(m.n_link_frames):
        total += m.link_mass[k]
        first += m.link_mass[k] * point_of(robot.fk(q, m.frame_names[k]), m.link_com[k])
    return first / total


def manipulability(robot, q, frame: str, rows=range(6)):
    """The product of the singular values of a Jacobian found by finite differences of poses.

    Those that are zero because there are fewer joints than rows are left out.
    """
    m, h = robot.mechanism, 1e-5
    columns = []
    for k in range(m.n_v):
        step = h * np.eye(m.n_v)[k]
        T, low, high = (robot.fk(robot.integrate(q, s), frame) for s in (0 * step, -step, step))
        spin = (high - low)[:3, :3] @ T[:3, :3].T / (2 * h)
        columns.append([*(high - low)[:3, 3] / (2 * h), spin[2, 1], spin[0, 2], spin[1, 0]])
    J = np.array(columns).T[list(rows)]
    moving = int(np.count_nonzero(np.abs(J).max(axis=0) > 1e-9))
    return float(np.prod(np.linalg.svd(J, compute_uv=False)[: min(len(J), moving)]))
