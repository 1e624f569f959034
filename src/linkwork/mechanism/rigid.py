"""Rotations of joints and links, exact where they are meant to be."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import InputError
from linkwork.mechanism.model import Floats, JointType
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import rotations

EXACT_WITHIN = 2.5e-16
"""A rotation entry nearer than this to 0, 1 or -1 is meant to be it: cos(pi/2) gives 6e-17."""


def exact(R: Floats) -> Floats:
    """Rotations (n, 3, 3), or unit vectors (n, 3), whose entries next to 0, 1 and -1 are exact."""
    near = np.rint(R)
    return np.where(np.abs(R - near) < EXACT_WITHIN, near, R) + 0.0  # + 0.0: no negative zeros


def align_z(axis: Floats) -> Floats:
    """The smallest rotations (n, 3, 3) that take z to axes (n, 3); for -z x stays."""
    return exact(rotations.align_z(axis))


def joint_pose(kind: JointType, q: Floats) -> tuple[Floats, Floats]:
    """The rotation (3, 3) and shift (3,) that a joint's own positions (n_q,) make.

    A quaternion may have any length but zero.

    Raises: InputError for a quaternion of length zero.
    """
    p = np.zeros(3)
    if kind is JointType.PRISMATIC:
        p[2] = q[0]
        return np.eye(3), p
    p[: kind.n_lengths] = q[: kind.n_lengths]
    turn = q[kind.n_lengths :]
    if kind.has_quaternion:
        largest = np.abs(turn).max()
        if largest == 0:
            raise InputError("a quaternion of zeros is no rotation; unturned is 1 0 0 0 (wxyz)")
        return exact(rotations.from_quaternion(NUMPY, turn / largest)), p
    return (exact(rotations.rotation_z(NUMPY, float(turn[0]))) if turn.size else np.eye(3)), p


def point_velocities(axes: Floats, origins: Floats, slides: ArrayLike, p: Floats) -> Floats:
    """The velocities of a point p (3,) where each of n joints moves at one: (n, 6), linear first.

    Joints turn about ``axes`` (n, 3) through ``origins`` (n, 3), or slide along them where
    ``slides`` (n,) is true; all in one frame.
    """
    along = np.asarray(slides, bool)[:, None]
    arms = p - origins
    turned = axes[:, _NEXT] * arms[:, _LAST] - axes[:, _LAST] * arms[:, _NEXT]
    return np.hstack([np.where(along, axes, turned), np.where(along, 0.0, axes)])


_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])
