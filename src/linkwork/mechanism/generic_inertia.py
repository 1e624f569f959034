"""The mass matrix of a mechanism at one configuration that has nothing special, in NumPy.

It only serves to see what a description lacks; dynamics is computed by the algorithms.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.mechanism.rigid import joint_pose

_SEED = 20


def generic_mass_matrix(
    m: Mechanism, unknown: Collection[int] = (), q: Floats | None = None
) -> tuple[Floats, Floats]:
    """The mass matrix (nv, nv), and what its diagonal (nv,) is to be compared with.

    That is, for each velocity, the mass that it moves, or the largest moment of inertia of it.
    What a joint feels by itself is computed in the frame of its body, where what cancels does so
    but for the last bits. Bodies whose weight is ``unknown`` get 1 kg and 1 kg m² more. ``q``
    (nq,): where loops have to be closed.

    Source: composite bodies, R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 6.2.
    """
    poses = _generic_poses(m, q)
    behind = _composites(m, poses, unknown)
    worlds = _in_world(m, poses)
    starts = np.cumsum([0, *(kind.n_v for kind in m.body_joint_types)])
    n = int(starts[-1])  # one column for each velocity of each joint, coupled ones too
    motion, force, blocks = np.zeros((6, n)), np.zeros((6, n)), np.zeros((n, n))
    least, leader = np.zeros(n), np.zeros((n, m.n_v))
    for b, kind in enumerate(m.body_joint_types):
        at = slice(int(starts[b]), int(starts[b + 1]))
        S = _subspace(m, b, poses[b])
        F = behind[b].momentum(S)
        blocks[at, at] = S.T @ F
        least[at] = np.abs(S).T @ behind[b].sizes()
        motion[:, at], force[:, at] = _seen_from_world(worlds[b], S, F)
        if kind.n_v:
            v = int(m.v_start[m.coordinate[b]])
            leader[at, v : v + kind.n_v] = m.multiplier[b] * np.eye(kind.n_v)
    owner = np.repeat(np.arange(m.n_bodies), np.diff(starts))
    above = (motion.T @ force) * _carries(m)[np.ix_(owner, owner)]
    full = above + above.T + blocks
    return leader.T @ full @ leader, (leader**2).T @ least


class _Pose(NamedTuple):
    R: Floats
    p: Floats

    def then(self, other: _Pose) -> _Pose:
        """The pose that stands at another one's in this one."""
        return _Pose(self.R @ other.R, self.R @ other.p + self.p)


class _Behind(NamedTuple):
    """What a joint carries: mass, moment (3,) and inertia (3, 3) about the origin of its body."""

    mass: float
    moment: Floats
    inertia: Floats

    def momentum(self, motion: Floats) -> Floats:
        """The momenta (6, n) of motions (6, n), linear first."""
        v, w = motion[:3], motion[3:]
        h = self.moment[:, None]
        linear = self.mass * v + np.cross(w, h, axis=0)
        return np.vstack([linear, np.cross(h, v, axis=0) + self.inertia @ w])

    def sizes(self) -> Floats:
        """What each direction of a motion (6,) is resisted by, at most."""
        turning = np.abs(self.inertia).max()
        return np.array([abs(self.mass)] * 3 + [turning] * 3)

    def with_one_at(self, other: _Behind, pose: _Pose) -> _Behind:
        """Together with another one, whose frame stands at a pose in this one's."""
        R, p = pose
        h = R @ other.moment
        mixed = np.outer(p, h)
        outer = mixed + mixed.T + other.mass * np.outer(p, p)
        about = R @ other.inertia @ R.T + np.trace(outer) * np.eye(3) - outer
        moment = self.moment + h + other.mass * p
        return _Behind(self.mass + other.mass, moment, self.inertia + about)


def _generic_poses(m: Mechanism, q: Floats | None) -> list[_Pose]:
    """Every body in its parent, all joints somewhere if not at q (nq,)."""
    if q is None:
        q = np.random.default_rng(_SEED).uniform(0.4, 1.2, m.n_q)
    poses: list[_Pose] = []
    for b, kind in enumerate(m.body_joint_types):
        joint = _Pose(m.R_parent_joint[b], m.p_parent_joint[b])
        if kind is not JointType.FIXED:
            own = q[m.q_start[m.coordinate[b]] :][: kind.n_q]
            joint = joint.then(_Pose(*joint_pose(kind, m.multiplier[b] * own + m.offset[b])))
        poses.append(joint)
    return poses


def _in_world(m: Mechanism, poses: list[_Pose]) -> list[_Pose]:
    worlds: list[_Pose] = []
    for pose, parent in zip(poses, m.parent.tolist(), strict=True):
        worlds.append(worlds[parent].then(pose) if parent >= 0 else pose)
    return worlds


def _composites(m: Mechanism, poses: list[_Pose], unknown: Collection[int]) -> list[_Behind]:
    """Behind each joint, the body that it moves included."""
    behind: list[_Behind] = []
    for b in range(m.n_bodies):
        mass, c, more = float(m.mass[b]), m.p_body_com[b], float(b in unknown)
        about = m.I_com[b] + mass * (c @ c * np.eye(3) - np.outer(c, c)) + more * np.eye(3)
        behind.append(_Behind(mass + more, mass * c, about))
    for b in range(m.n_bodies - 1, 0, -1):
        parent = int(m.parent[b])
        behind[parent] = behind[parent].with_one_at(behind[b], poses[b])
    return behind


def _subspace(m: Mechanism, body: int, pose: _Pose) -> Floats:
    """The motions (6, n_v) that a joint allows its body, linear first, in the body's axes."""
    kind, along = m.body_joint_types[body], np.eye(6)
    if kind.turns:
        return along[:, 5:]
    if kind is JointType.PRISMATIC:
        return along[:, 2:3]
    if kind is JointType.PLANAR:  # its slides lie along the axes of the joint's frame
        S = along[:, [0, 1, 5]]
        S[:3, :2] = (pose.R.T @ m.R_parent_joint[body])[:, :2]
        return S
    return along[:, 3 - kind.n_lengths :] if kind.has_quaternion else along[:, :0]


def _seen_from_world(world: _Pose, S: Floats, F: Floats) -> tuple[Floats, Floats]:
    """Motions and momenta of a body at the world's origin, in its axes."""
    R, p = world.R, world.p[:, None]
    w, f = R @ S[3:], R @ F[:3]
    motion = np.vstack([R @ S[:3] + np.cross(p, w, axis=0), w])
    return motion, np.vstack([f, R @ F[3:] + np.cross(p, f, axis=0)])


def _carries(m: Mechanism) -> NDArray[np.bool_]:
    """Whether body i carries body j (nb, nb), not itself."""
    carries = np.zeros((m.n_bodies, m.n_bodies), np.bool_)
    for b, parent in enumerate(m.parent.tolist()):
        if parent >= 0:
            carries[:, b] = carries[:, parent]
            carries[parent, b] = True
    return carries
