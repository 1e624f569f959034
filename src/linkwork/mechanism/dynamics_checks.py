"""Checks that the numbers of a description allow dynamics, before anything is computed.

`check_inertias` asks whether the bodies that move are real ones, `check_movable` whether forces
determine the accelerations. What is an input of the function (a parameter) is not judged: its
values come later.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from linkwork.errors import InputError
from linkwork.mechanism import parameters
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.mechanism.rigid import joint_pose
from linkwork.ops.numpy import NUMPY
from linkwork.spatial.inertias import is_physical
from linkwork.spatial.poses import Pose, compose

TOLERANCE = 1e-4
"""The share of an inertia's largest entry that is rounding: descriptions often give few digits."""

SINGULAR = 1e-12
"""The share of an inertia that is left when nothing but rounding is."""

ROUNDING = 1e-13
"""The share of mass times distance squared that moving an inertia of zero to and fro leaves."""

_MOST_BY_VALUES = 100
_MOST_NAMED = 4


def check_inertias(m: Mechanism, given: Sequence[str] = ()) -> None:
    """Check that every body that moves has the mass and the inertia of a real body.

    The mass is not negative, and the inertia about the centre of mass has no negative principal
    moment, and none above the sum of the others. Links that are fixed to each other count
    together. ``given`` names parameters: what they weigh is not checked.

    Raises: InputError with the links, what is wrong and what to mend.
    """
    if m.inertias_accepted:
        return
    check_inertias_said(m, given)
    skipped = _weighed(m, given)
    faults: list[str] = []
    for body in range(m.n_bodies):
        if m.body_joint_types[body] is not JointType.FIXED and body not in skipped:
            why = _unreal(m.mass[body], m.p_body_com[body], m.I_com[body])
            if why is None:
                continue
            faults.append(f"link '{m.body_names[body]}': {why}")
            for link in np.flatnonzero(m.frame_body[: m.n_link_frames] == body).tolist():
                own = _unreal(m.link_mass[link], m.link_com[link], m.link_I_com[link])
                if own is not None:  # this one of its links is to blame
                    faults[-1] = f"link '{m.frame_names[link]}': {own}"
                    break
    if faults:
        raise InputError(
            f"'{m.name}' has inertias that no real body has: {_listed(faults)}. Mend their "
            "<inertial>, or take them as they stand: robot.accept_inertias()"
        )


def _check_said(
    m: Mechanism, given: Sequence[str] = (), *, quantities: Sequence[str], moving: bool
) -> None:
    if m.inertias_accepted or not m.unknown_inertials:
        return
    skipped = _weighed(m, given)
    faults: list[str] = []
    for link, quantity in m.unknown_inertials:
        body = int(m.frame_body[m.frame(link)])
        fixed = m.body_joint_types[body] is JointType.FIXED
        if quantity in quantities and body not in skipped and not (moving and fixed):
            whole = "a whole " if quantity == "inertia" else ""
            faults.append(f"link '{link}' has an <inertial> without {whole}<{quantity}>")
    if faults:
        raise InputError(
            f"'{m.name}': {_listed(faults)}: it is unknown, and this depends on it. Say it, leave "
            "out the <inertial> of what weighs nothing, or take what is unknown for zero: "
            "robot.accept_inertias()"
        )


check_inertias_said = partial(_check_said, quantities=("mass", "inertia"), moving=True)
"""The check that the description says mass and inertia of every link that moves."""

check_moving_masses_said = partial(_check_said, quantities=("mass",), moving=True)
"""The check that the description says the mass of every link that moves."""

check_masses_said = partial(_check_said, quantities=("mass",), moving=False)
"""The check that it says the mass of every link, which a centre of mass depends on."""


def _listed(faults: Sequence[str]) -> str:
    more = len(faults) - _MOST_NAMED
    return "; ".join([*faults[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])


def _unreal(mass: Any, com: Floats, I_com: Floats) -> str | None:
    """The reason why no real body is like this; an inertia that is only rounding is none."""
    rounding = ROUNDING * abs(mass) * float(com @ com)
    inertia = I_com if np.abs(I_com).max() > rounding else np.zeros((3, 3))
    return is_physical(float(mass), inertia, tolerance=TOLERANCE)


def _weighed(m: Mechanism, given: Sequence[str]) -> set[int]:
    """The bodies whose mass or inertia is an input."""
    found = parameters.find(m, list(given))
    quantities = ("mass", "com", "inertia", "payload")
    return {int(m.frame_body[p.frame]) for p in found if p.quantity in quantities}


class Motions(NamedTuple):
    """The motions N (nv, dof) that loops leave at an assembled configuration q (nq,)."""

    q: Floats
    N: Floats
    units: Floats
    """The units that numbers of v (nv,) are compared in."""


def check_movable(
    m: Mechanism,
    given: Sequence[str] = (),
    armature: Floats | None = None,
    motions: Motions | None = None,
) -> None:
    """Check that forces determine the acceleration of every joint.

    At a generic configuration, the inertia that each joint feels while those behind it are free
    must be above zero, or that of each of the ``motions`` where loops leave only these. ``given``
    names parameters: rotors' inertias make everything movable, where their values ``armature``
    (nv,) are not known, and a body whose mass or inertia is an input is taken for one that has
    some.

    Raises: InputError with the body and the joint, and what to mend.
    """
    if m.n_v == 0 or ("armature" in given and armature is None):
        return
    at = None if motions is None else motions.q
    inertia, least = generic_mass_matrix(m, _weighed(m, given), at)
    inertia = inertia + np.diag(m.armature if armature is None else armature)
    own = np.diagonal(inertia)
    idle = np.flatnonzero(own <= SINGULAR * least)
    size = np.sqrt(np.maximum(own, 0.0))
    if motions is not None and idle.size < m.n_v:
        relative = size / motions.units
        size[idle] = motions.units[idle] * np.delete(relative, idle).min()
        directions = np.linalg.qr(motions.N * size[:, None])[0]
        scaled = inertia / np.outer(size, size)
        values, vectors = np.linalg.eigh(directions.T @ scaled @ directions)
        if (values <= SINGULAR).any():  # nothing with inertia takes part in such a motion
            k = int(np.abs(directions @ vectors[:, 0]).argmax())
            raise InputError(_undetermined(m, k, alone=False))
        return
    if idle.size:
        raise InputError(_undetermined(m, int(idle[-1]), alone=True))
    scaled = inertia / np.outer(size, size)
    # reversed, a triangular factor has on its diagonal what is felt while the rest is free
    if not _is_positive(scaled[::-1, ::-1]):
        raise InputError(_undetermined(m, m.n_v - _first_bad(scaled[::-1, ::-1]), alone=False))
    if m.n_v <= _MOST_BY_VALUES:  # pivots next to small ones are rounding
        values, vectors = np.linalg.eigh(scaled)
        if values[0] <= SINGULAR:
            raise InputError(_undetermined(m, int(np.abs(vectors[:, 0]).argmax()), alone=False))


def check_actuated(m: Mechanism, given: Sequence[str] = ()) -> None:
    """Check that it is said which joints are driven, where loops make that a question.

    Raises: InputError.
    """
    if (m.loops or m.couplings) and not m.actuated:
        raise InputError(
            f"'{m.name}' has loops or couplings, so its forces are those of actuated joints, and "
            "it is not said which these are: use robot.with_actuated(joints)"
        )


def check_held(m: Mechanism, given: Sequence[str] = ()) -> None:
    """Check that there is something beside the tree that can be held closed.

    Raises: InputError.
    """
    if not (m.loops or m.couplings):
        raise InputError(f"'{m.name}' has no loops or couplings, so nothing holds them closed")


def check_loops(m: Mechanism, given: Sequence[str] = ()) -> None:
    """Check that there is a loop.

    Raises: InputError.
    """
    if not m.loops:
        raise InputError(f"'{m.name}' has no loops: there is nothing that they do (see with_loop)")


def _is_positive(matrix: Floats) -> bool:
    """Whether every pivot of a symmetric matrix with ones on its diagonal is above zero."""
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return bool((np.diagonal(factor) ** 2 > SINGULAR).all())


def _first_bad(matrix: Floats) -> int:
    """The size of the smallest leading part with a pivot that is not above zero; there is one."""
    good, bad = 0, len(matrix)
    while bad - good > 1:
        middle = (good + bad) // 2
        if _is_positive(matrix[:middle, :middle]):
            good = middle
        else:
            bad = middle
    return bad


def _undetermined(m: Mechanism, k: int, *, alone: bool) -> str:
    """The reason why velocity k has no acceleration; ``alone``: without others at rest too."""
    c = m.coordinate_of_v(k)
    joint = m.joint_names[c]
    moved = [b for b in range(m.n_bodies) if m.coordinate[b] == c]
    if not moved:
        return (
            f"joint '{joint}' moves no link, so its acceleration is not determined; lock it: "
            f"robot.with_locked('{joint}')"
        )
    own = [b for b in moved if m.body_joint_names[b] == joint]
    link = m.body_names[(own or moved)[0]]
    mend = f"give the link an <inertial>, or lock the joint: robot.with_locked('{joint}')"
    found = set(moved)
    found.update(b for b in range(m.n_bodies) if not found.isdisjoint(m.ancestry(b)))
    behind = sorted(found)
    if (m.mass[behind] < 0).any() or (np.linalg.eigvalsh(m.I_com[behind]) < 0).any():
        return (
            f"the inertia that joint '{joint}' feels is not above zero, and there are negative "
            f"masses or moments of inertia from link '{link}' on: mend their <inertial>"
        )
    if not m.mass[behind].any() and not m.I_com[behind].any():
        return (
            f"link '{link}' has no mass and nothing behind joint '{joint}' has: its acceleration "
            f"is not determined; {mend}"
        )
    why = f"joint '{joint}' feels no inertia of link '{link}' while the joints behind it are free"
    if alone:
        why = f"from link '{link}' on there is mass, but no inertia against joint '{joint}'"
    return f"{why}: its acceleration is not determined; {mend}"


# --- the mass matrix at one configuration that has nothing special --------------------------------

SEED = 20
"""The seed of the configuration that mass matrices are judged in."""


def generic_mass_matrix(
    m: Mechanism, unknown: Collection[int] = (), q: Floats | None = None
) -> tuple[Floats, Floats]:
    """The mass matrix (nv, nv) by NumPy, and what its diagonal (nv,) is to be compared with.

    That is, for each velocity, the mass that it moves, or the largest moment of inertia of it.
    What a joint feels by itself is computed in the frame of its body, where what cancels does so
    but for the last bits. Bodies whose weight is ``unknown`` get 1 kg and 1 kg m² more. ``q``
    (nq,): where loops have to be closed. It only serves to see what a description lacks; dynamics
    is computed by the algorithms.

    Source: composite bodies, R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 6.2.
    """
    if q is None:
        q = np.random.default_rng(SEED).uniform(0.4, 1.2, m.n_q)
    poses: list[Pose] = []  # of every body in its parent
    worlds: list[Pose] = []
    for b, kind in enumerate(m.body_joint_types):
        pose = Pose(m.R_parent_joint[b], m.p_parent_joint[b])
        if kind is not JointType.FIXED:
            own = q[m.q_start[m.coordinate[b]] :][: kind.n_q]
            moved = joint_pose(kind, m.multiplier[b] * own + m.offset[b])
            pose = compose(NUMPY, pose, Pose(*moved))
        poses.append(pose)
        worlds.append(compose(NUMPY, worlds[m.parent[b]], pose) if b else pose)

    # what each joint carries: mass, moment (3,) and inertia (3, 3) about the origin of its body
    more = np.isin(np.arange(m.n_bodies), list(unknown)).astype(np.float64)
    c, mass, moment = m.p_body_com, m.mass + more, m.mass[:, None] * m.p_body_com
    steiner = (c**2).sum(axis=1)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :]
    inertia = m.I_com + m.mass[:, None, None] * steiner + more[:, None, None] * np.eye(3)
    carries = np.zeros((m.n_bodies, m.n_bodies), np.bool_)
    for b in range(1, m.n_bodies):
        carries[:, b] = carries[:, m.parent[b]]
        carries[m.parent[b], b] = True
    for b in range(m.n_bodies - 1, 0, -1):
        above, (R, p) = m.parent[b], poses[b]
        h = R @ moment[b]
        mixed = np.outer(p, h)
        outer = mixed + mixed.T + mass[b] * np.outer(p, p)
        inertia[above] += R @ inertia[b] @ R.T + np.trace(outer) * np.eye(3) - outer
        moment[above] += h + mass[b] * p
        mass[above] += mass[b]

    # one column for each velocity of each joint, coupled ones too: motions and their momenta, seen
    # from the origin of the world
    starts = np.cumsum([0, *(kind.n_v for kind in m.body_joint_types)])
    n = int(starts[-1])
    motion, momentum, blocks = np.zeros((6, n)), np.zeros((6, n)), np.zeros((n, n))
    least, leader = np.zeros(n), np.zeros((n, m.n_v))
    for b, kind in enumerate(m.body_joint_types):
        at = slice(int(starts[b]), int(starts[b + 1]))
        S = _subspace(m, b, poses[b])
        v, w, h = S[:3], S[3:], moment[b][:, None]
        linear = mass[b] * v + np.cross(w, h, axis=0)
        F = np.vstack([linear, np.cross(h, v, axis=0) + inertia[b] @ w])
        blocks[at, at] = S.T @ F
        sizes = np.repeat([abs(mass[b]), np.abs(inertia[b]).max()], 3)
        least[at] = np.abs(S).T @ sizes
        turn, place = worlds[b].R, worlds[b].p[:, None]
        w, f = turn @ w, turn @ linear
        motion[:, at] = np.vstack([turn @ v + np.cross(place, w, axis=0), w])
        momentum[:, at] = np.vstack([f, turn @ F[3:] + np.cross(place, f, axis=0)])
        if kind.n_v:
            own = m.v_slice(int(m.coordinate[b]))
            leader[at, own] = m.multiplier[b] * np.eye(kind.n_v)
    owner = np.repeat(np.arange(m.n_bodies), np.diff(starts))
    between = (motion.T @ momentum) * carries[np.ix_(owner, owner)]
    full = between + between.T + blocks
    return leader.T @ full @ leader, (leader**2).T @ least


def _subspace(m: Mechanism, body: int, pose: Pose) -> Floats:
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
