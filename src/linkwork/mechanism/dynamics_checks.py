"""Whether the numbers of a description allow dynamics: checked before anything is computed.

`check_inertias` asks whether the bodies that move are real ones, `check_movable` whether forces
determine the accelerations. What is an input of the function (a parameter) is not judged: its
values come later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from linkwork.errors import InputError
from linkwork.mechanism import parameters
from linkwork.mechanism.generic_inertia import generic_mass_matrix
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.spatial.inertias import is_physical

TOLERANCE = 1e-4
"""Of the largest entry of an inertia: descriptions often give few digits (as in `check`)."""

SINGULAR = 1e-12
"""What is left of an inertia, as a share, when nothing but rounding is."""

ROUNDING = 1e-13
"""Of mass times distance squared: what moving an inertia of zero to and fro leaves."""

_MOST_BY_VALUES = 100
_MOST_NAMED = 4


def accept_inertias(m: Mechanism) -> Mechanism:
    """The mechanism whose inertias are taken as they stand, where no real body has them too.

    Forces must still determine the accelerations (`check_movable`).
    """
    return replace(m, inertias_accepted=True)


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
            if why is not None:
                faults.append(_fault(m, body, why))
    if faults:
        more = len(faults) - _MOST_NAMED
        rest = [f"and {more} more"] if more > 0 else []
        raise InputError(
            f"'{m.name}' has inertias that no real body has: "
            f"{'; '.join([*faults[:_MOST_NAMED], *rest])}. Mend their <inertial>, or take them as "
            "they stand: robot.accept_inertias()"
        )


def check_inertias_said(m: Mechanism, given: Sequence[str] = ()) -> None:
    """Check that the description says mass and inertia of every link that moves.

    Raises: InputError with the links.
    """
    _check_said(m, given, ("mass", "inertia"), moving=True)


def check_moving_masses_said(m: Mechanism, given: Sequence[str] = ()) -> None:
    """Check that the description says the mass of every link that moves.

    Raises: InputError with the links.
    """
    _check_said(m, given, ("mass",), moving=True)


def check_masses_said(m: Mechanism, given: Sequence[str] = ()) -> None:
    """Check that the description says the mass of every link, which a centre of mass depends on.

    Raises: InputError with the links.
    """
    _check_said(m, given, ("mass",), moving=False)


def _check_said(
    m: Mechanism, given: Sequence[str], quantities: Sequence[str], *, moving: bool
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
        more = len(faults) - _MOST_NAMED
        rest = [f"and {more} more"] if more > 0 else []
        raise InputError(
            f"'{m.name}': {'; '.join([*faults[:_MOST_NAMED], *rest])}: it is unknown, and this "
            "depends on it. Say it, leave out the <inertial> of what weighs nothing, or take what "
            "is unknown for zero: robot.accept_inertias()"
        )


def _fault(m: Mechanism, body: int, why: str) -> str:
    """The links that are to blame, and for what."""
    links = np.flatnonzero(m.frame_body[: m.n_link_frames] == body).tolist()
    for link in links:
        own = _unreal(m.link_mass[link], m.link_com[link], m.link_I_com[link])
        if own is not None:
            return f"link '{m.frame_names[link]}': {own}"
    return f"link '{m.body_names[body]}': {why}"


def _unreal(mass: Any, com: Floats, I_com: Floats) -> str | None:
    """Why no real body is like this; an inertia that is only rounding is none."""
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
    """What numbers of v (nv,) are compared in."""


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
        _check_motions(m, inertia / np.outer(size, size), motions.N * size[:, None])
        return
    if idle.size:
        raise InputError(_undetermined(m, int(idle[-1]), alone=True))
    scaled = inertia / np.outer(size, size)
    # reversed, a triangular factor has on its diagonal what is felt while the rest is free
    if not _is_positive(scaled[::-1, ::-1]):
        k = m.n_v - 1 - _first_bad(scaled[::-1, ::-1])
        raise InputError(_undetermined(m, k, alone=False))
    if m.n_v <= _MOST_BY_VALUES:  # pivots next to small ones are rounding
        values, vectors = np.linalg.eigh(scaled)
        if values[0] <= SINGULAR:
            raise InputError(_undetermined(m, int(np.abs(vectors[:, 0]).argmax()), alone=False))


def _check_motions(m: Mechanism, inertia: Floats, N: Floats) -> None:
    """Refuse motions (nv, dof) that nothing with inertia takes part in."""
    if not N.shape[1]:
        return
    directions = np.linalg.qr(N)[0]
    values, vectors = np.linalg.eigh(directions.T @ inertia @ directions)
    if values[0] <= SINGULAR:
        k = int(np.abs(directions @ vectors[:, 0]).argmax())
        raise InputError(_undetermined(m, k, alone=False))


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
        raise InputError(f"'{m.name}' has no loops, so there is nothing that they do: see close()")


def _is_positive(matrix: Floats) -> bool:
    """Whether every pivot of a symmetric matrix with ones on its diagonal is above zero."""
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return bool((np.diagonal(factor) ** 2 > SINGULAR).all())


def _first_bad(matrix: Floats) -> int:
    """The first row whose pivot is not above zero; there is one."""
    good, bad = 0, len(matrix)  # sizes of leading parts
    while bad - good > 1:
        middle = (good + bad) // 2
        if _is_positive(matrix[:middle, :middle]):
            good = middle
        else:
            bad = middle
    return bad - 1


def _undetermined(m: Mechanism, k: int, *, alone: bool) -> str:
    """Why velocity k has no acceleration; ``alone`` where its joint feels nothing even at rest."""
    c = int(np.searchsorted(m.v_start, k, side="right")) - 1
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
    behind = _behind(m, moved)
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


def _behind(m: Mechanism, bodies: Sequence[int]) -> list[int]:
    """These bodies and all that they carry."""
    found = set(bodies)
    for body, parent in enumerate(m.parent.tolist()):
        if parent in found:
            found.add(body)
    return sorted(found)
