"""Configurations and velocities from numbers by joint name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from linkwork.checks import real_array, shown
from linkwork.conventions import FOLLOWER_TOLERANCE
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.mechanism.neutral import neutral

Configuration: TypeAlias = "ArrayLike | Mapping[str, float | Sequence[float]]"
"""Configurations (..., nq), or one as positions by joint name; what is not named is neutral."""


def configuration_from(m: Mechanism, positions: Mapping[str, float | Sequence[float]]) -> Floats:
    """The configuration (nq,) with these joints at these positions, the others neutral.

    Raises: UnknownNameError for a joint that does not exist or is fixed; ShapeError for a wrong
    number of values; InputError for values that are not finite, or for a coupled joint whose value
    differs from what its leader makes it by more than 1e-9.
    """
    _check_mapping(m, "positions", positions)
    q = neutral(m)
    followers = {m.body_joint_names[b]: b for b in m.followers()}
    for name, value in positions.items():
        if name not in followers:
            if name not in m.joint_names:
                raise UnknownNameError("joint", name, (*m.joint_names, *followers))
            part = m.q_slice(m.joint(name))
            q[part] = joint_values("position", name, value, part.stop - part.start)
    for name, value in positions.items():
        if name in followers:
            body, at = followers[name], float(joint_values("position", name, value, 1)[0])
            c = int(m.coordinate[body])
            made = m.multiplier[body] * q[m.q_slice(c).start] + m.offset[body]
            if abs(made - at) > FOLLOWER_TOLERANCE:
                raise InputError(
                    f"joint '{name}' follows '{m.joint_names[c]}', which puts it at {made:.12g}, "
                    f"not {at:.12g}; give its leader's position instead"
                )
    return q


def of_group_state(
    m: Mechanism, positions: Sequence[tuple[str, Sequence[float]]]
) -> dict[str, float | Sequence[float]]:
    """Positions by joint name of what an SRDF's group state says, for `configuration_from`.

    Joints that are not in q are left out. Quaternions come as x y z w; seven numbers are the
    floating joint's, also where the SRDF has another name for it.
    """
    kinds = dict(zip(m.body_joint_names, m.body_joint_types, strict=True))
    floating = [name for name in m.joint_names if kinds[name] is JointType.FLOATING]
    found: dict[str, float | Sequence[float]] = {}
    for name, numbers in positions:
        joint = name
        if name not in m.joint_names and len(numbers) == 7 and len(floating) == 1:
            joint = floating[0]
        if joint in m.joint_names:
            turned = kinds[joint].has_quaternion and len(numbers) == kinds[joint].n_q
            *others, x, y, z, w = numbers if turned else (0.0, 0.0, 0.0, 0.0)
            found[joint] = [*others, w, x, y, z] if turned else list(numbers)
    return found


def velocity_from(m: Mechanism, velocities: Mapping[str, float | Sequence[float]]) -> Floats:
    """The velocity (nv,) with these joints moving at these rates, the others at rest.

    Raises: UnknownNameError for a joint that does not exist, is fixed or follows another one;
    ShapeError for a wrong number of values; InputError for values that are not finite.
    """
    _check_mapping(m, "velocities", velocities)
    v = np.zeros(m.n_v)
    for name, value in velocities.items():
        part = m.v_slice(m.joint(name))
        v[part] = joint_values("velocity", name, value, part.stop - part.start)
    return v


_WXYZ, _ANGULAR = ("qw", "qx", "qy", "qz"), ("wx", "wy", "wz")
_PARTS_OF_Q = {
    JointType.PLANAR: ("x", "y", "theta"),
    JointType.FLOATING: ("x", "y", "z", *_WXYZ),
    JointType.SPHERICAL: _WXYZ,
}
_PARTS_OF_V = {
    JointType.PLANAR: ("x", "y", "theta"),
    JointType.FLOATING: ("vx", "vy", "vz", *_ANGULAR),
    JointType.SPHERICAL: _ANGULAR,
}


def labels(m: Mechanism, *, velocities: bool) -> list[str]:
    """A name for each number of q, or of v: the joint's, with /x, /y, ... where it has several."""
    parts = _PARTS_OF_V if velocities else _PARTS_OF_Q
    found: list[str] = []
    for name, kind in zip(m.joint_names, m.joint_types, strict=True):
        found += [f"{name}/{part}" for part in parts[kind]] if kind in parts else [name]
    return found


def label_places(m: Mechanism, names: Sequence[str], *, velocities: bool = False) -> list[int]:
    """The places in q, or in v, of numbers by their `labels`.

    Raises: UnknownNameError.
    """
    every = labels(m, velocities=velocities)
    for name in names:
        if name not in every:
            raise UnknownNameError("velocity" if velocities else "position", name, every)
    return [every.index(name) for name in names]


def filled(size: int, places: Sequence[int], values: Floats, elsewhere: Floats | float) -> Floats:
    """Numbers (..., size) that are values (..., k) at these places, and elsewhere as given."""
    lead = np.broadcast_shapes(np.shape(values)[:-1], np.shape(elsewhere)[:-1])
    found = np.empty((*lead, size))
    found[...] = elsewhere
    found[..., list(places)] = values
    return found


def _check_mapping(m: Mechanism, what: str, given: object) -> None:
    if not isinstance(given, Mapping):
        example = (m.joint_names or ("joint",))[0]
        raise InputError(
            f"{what} are given by joint name, as in {{'{example}': 0.5}}, "
            f"not as {type(given).__name__}"
        )


def joint_values(what: str, name: str, value: float | Sequence[float], n: int) -> Floats:
    """The positions or velocities (n,) that are given for one joint.

    Raises: ShapeError for a wrong number of them; InputError for what is no finite number.
    """
    values = np.atleast_1d(real_array(value, f"the {what} of joint '{name}'"))
    if values.shape != (n,):
        raise ShapeError(f"joint '{name}' takes {n} number(s), not {values.size}")
    if not np.isfinite(values).all():
        raise InputError(f"the {what} of joint '{name}' must be finite, not {shown(value)}")
    return values
