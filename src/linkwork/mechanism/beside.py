"""What an edit of the tree leaves of the loops and couplings beside it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwork.errors import InputError
from linkwork.mechanism.loops import Beside, Coupling, Loop, gap_between
from linkwork.mechanism.model import Floats, Mechanism
from linkwork.ops.numpy import NUMPY

CLOSED_WITHIN = 1.0e-6
"""A loop that is locked must be closed so far (m, or sines of angles), and a coupling hold."""


def led_along(m: Mechanism, held: Mapping[str, Floats]) -> dict[str, Floats]:
    """The held positions, and those of joints that are coupled to held ones alone.

    Raises: InputError for a joint that is held though a leader of it is not, or elsewhere than its
    leaders say.
    """
    found = dict(held)
    waiting = list(m.couplings)
    while waiting:
        ready = [each for each in waiting if all(name in found for name in each.leaders)]
        if not ready:
            break
        for each in ready:
            value = _value(each, found)
            own = found.setdefault(each.joint, np.array([value]))
            if abs(float(own[0]) - value) > CLOSED_WITHIN:
                raise InputError(
                    f"'{each.joint}' is coupled to {_named(each)}, which puts it at {value:.9g}; "
                    f"it cannot be locked at {float(own[0]):.9g}"
                )
        waiting = [each for each in waiting if each not in ready]
    for each in waiting:
        if each.joint in held:
            raise InputError(
                f"'{each.joint}' is coupled to {_named(each)} and cannot be locked by itself; "
                f"lock {_named(each)}"
            )
    return found


def _value(each: Coupling, held: Mapping[str, Floats]) -> float:
    inputs = [np.float64(held[name][0]) for name in each.leaders]
    return float(each.function.value(NUMPY, inputs))


def _named(each: Coupling) -> str:
    return ", ".join(f"'{name}'" for name in each.leaders)


def beside_locked(m: Mechanism, locked: Mechanism, held: Mapping[str, Floats]) -> Beside:
    """What stands beside a mechanism some of whose joints are locked at ``held``.

    Raises: InputError where a loop between frames that are now on one body is not closed.
    """
    loops: list[Loop] = []
    for loop in m.loops:
        a, b = locked.frame(loop.frame_a), locked.frame(loop.frame_b)
        if locked.frame_body[a] != locked.frame_body[b]:
            loops.append(loop)
            continue
        back = locked.R_body_frame[a].T
        p = back @ (locked.p_body_frame[b] - locked.p_body_frame[a])
        gap = gap_between(loop, back @ locked.R_body_frame[b], p)
        if gap > CLOSED_WITHIN:
            raise InputError(
                f"with these joints locked nothing moves in the loop '{loop.name}' any more, and "
                f"it is open by {gap:.3g}; lock at a configuration that is assembled"
            )
    couplings: list[Coupling] = []
    for each in m.couplings:
        if each.joint in held:
            continue
        function, leaders = each.function, list(each.leaders)
        for name in each.leaders:
            if name in held:
                function = function.with_input(leaders.index(name), float(held[name][0]))
                leaders.remove(name)
        couplings.append(Coupling(each.joint, tuple(leaders), function))
    actuated = tuple(name for name in m.actuated if name not in held)
    return Beside(tuple(loops), tuple(couplings), actuated)


def beside_kept(m: Mechanism, part: Mechanism) -> Beside:
    """What of it a mechanism of some of the bodies and joints can keep."""
    frames, joints = set(part.frame_names), set(part.joint_names)
    loops = [
        loop
        for loop in m.loops
        if {loop.frame_a, loop.frame_b} <= frames and _moves(part, loop.frame_a, loop.frame_b)
    ]
    couplings = [each for each in m.couplings if {each.joint, *each.leaders} <= joints]
    actuated = tuple(name for name in m.actuated if name in joints)
    return Beside(tuple(loops), tuple(couplings), actuated)


def _moves(m: Mechanism, a: str, b: str) -> bool:
    return bool(m.frame_body[m.frame(a)] != m.frame_body[m.frame(b)])
