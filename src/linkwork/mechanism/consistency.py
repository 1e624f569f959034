"""Whether the arrays of a mechanism that came from outside agree with each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork.checks import rotation_deviation
from linkwork.conventions import RIGID_TOLERANCE
from linkwork.mechanism.model import Floats, JointType, Mechanism, duplicates


class FieldError(Exception):
    """A field that is not what it must be; whoever reads raises the public error from it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field} {message}")


def check_consistent(m: Mechanism) -> None:
    """Check what types and shapes do not say: order, indices, names, rotations.

    Raises: FieldError naming the first field that is wrong.
    """
    _check_tree(m)
    _check_coordinates(m)
    _check_rotations("R_parent_joint", m.R_parent_joint)
    _check_rotations("R_body_frame", m.R_body_frame)
    if (m.frame_body < 0).any() or (m.frame_body >= m.n_bodies).any():
        raise FieldError("frame_body", "must be indices of bodies")
    counts = m.n_link_frames, m.n_joint_frames
    if min(counts) < 0 or sum(counts) > len(m.frame_names):
        raise FieldError("n_link_frames", "and n_joint_frames must be part of the frames")
    _check_links(m)
    _check_names("named_configurations", [name for name, _ in m.named_configurations])


def _check_links(m: Mechanism) -> None:
    n = m.n_link_frames
    if set(m.body_names) - set(m.frame_names[:n]):
        raise FieldError("frame_names", "must have the links that body_names lists")
    if (m.frame_link < 0).any() or (m.frame_link >= n).any():
        raise FieldError("frame_link", "must be indices of the frames of links")
    if (m.frame_body[m.frame_link] != m.frame_body).any():
        raise FieldError("frame_link", "must be links on the bodies of the frames")
    if (m.link_parent < -1).any() or (m.link_parent >= n).any():
        raise FieldError("link_parent", "must be -1 or indices of the frames of links")
    above = m.link_parent  # every round looks twice as far up
    for _ in range(n.bit_length() + 1):
        above = np.where(above >= 0, above[above], -1)
    if (above >= 0).any():
        raise FieldError("link_parent", "must not form a cycle")


def _check_tree(m: Mechanism) -> None:
    if not m.n_bodies:
        raise FieldError("body_names", "must have at least the root")
    if m.parent[0] != -1:
        raise FieldError("parent", "must be -1 for body 0")
    if (m.parent[1:] < 0).any() or (m.parent[1:] >= np.arange(1, m.n_bodies)).any():
        raise FieldError("parent", "must name a body that comes before")
    base, others = m.body_joint_types[0], m.body_joint_types[1:]
    if base not in (JointType.FIXED, JointType.FLOATING):
        raise FieldError("body_joint_types", "must begin with fixed or floating")
    if JointType.FIXED in others or JointType.FIXED in m.joint_types:
        raise FieldError("body_joint_types", "and joint_types have fixed joints for body 0 only")
    _check_names("body_names", m.body_names)
    _check_names("body_joint_names", m.body_joint_names)
    _check_names("frame_names", m.frame_names)
    _check_names("joint_names", m.joint_names)


def _check_names(field: str, names: Sequence[str]) -> None:
    twice = duplicates(names)
    if twice:
        raise FieldError(field, f"has '{twice[0]}' more than once")


def _check_coordinates(m: Mechanism) -> None:
    floating = m.body_joint_types[0] is JointType.FLOATING
    if m.coordinate[0] != (0 if floating else -1):
        raise FieldError("coordinate", "of body 0 must be 0 for a floating base, else -1")
    if (m.coordinate[1:] < 0).any() or (m.coordinate[1:] >= len(m.joint_names)).any():
        raise FieldError("coordinate", "must be indices of joint_names")
    for field, starts, sizes in (
        ("q_start", m.q_start, [kind.n_q for kind in m.joint_types]),
        ("v_start", m.v_start, [kind.n_v for kind in m.joint_types]),
    ):
        if starts[0] != 0 or (np.diff(starts) != np.array(sizes, np.int64)).any():
            raise FieldError(field, "must be the running sum of the joints' sizes")


def _check_rotations(field: str, R: Floats) -> None:
    if not len(R):
        return
    if rotation_deviation(R).max() > RIGID_TOLERANCE:
        raise FieldError(field, "must be rotations")
