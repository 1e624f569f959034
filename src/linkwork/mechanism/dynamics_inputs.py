"""The keywords that all of dynamics takes, as parameters of a function and their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from linkwork.checks import real_array
from linkwork.errors import InputError, UnknownNameError
from linkwork.mechanism.model import Floats, Mechanism

External: TypeAlias = Mapping[str, ArrayLike]
"""Wrenches (..., 6) by frame: force, then moment about the frame's origin, world axes."""


class Inputs(NamedTuple):
    """Numbers that become inputs of a function: their names as parameters, and their values."""

    names: tuple[str, ...] = ()
    values: tuple[ArrayLike, ...] = ()


def dynamics_inputs(
    m: Mechanism,
    *,
    external: External | None = None,
    gravity: ArrayLike | None = None,
    losses: bool = False,
    armature: ArrayLike | None = None,
    friction: bool = True,
) -> Inputs:
    """What these keywords stand for, in one order however they are given.

    Losses that the description does not have are left out, and ``friction=False`` leaves it out of
    them, for what does not depend on it. Shapes are checked where the function is called.

    Raises: InputError; UnknownNameError for a frame that does not exist.
    """
    found: dict[str, ArrayLike] = {}
    if gravity is not None:
        found["gravity"] = gravity
    if armature is not None:
        found["armature"] = _rotors(m, armature)
    if not isinstance(losses, (bool, np.bool_)):
        raise InputError(
            f"losses is True (damping and friction as described) or False, not {losses!r:.40}; "
            "other values: robot.function(..., parameters=['damping', 'friction'])"
        )
    if losses and m.damping.any():
        found["damping"] = m.damping
    if losses and friction and m.friction.any():
        found["friction"] = m.friction
    if external is not None:
        found |= _wrenches(m, external)
    return Inputs(tuple(found), tuple(found.values()))


def _rotors(m: Mechanism, armature: ArrayLike) -> Floats:
    """Rotors' inertias, one number standing for all; none may be below zero."""
    given = real_array(armature, "armature")
    if (given < 0).any():
        raise InputError(f"armature must not be below zero, as {given.min():g} is")
    return np.full(m.n_v, float(given)) if given.ndim == 0 else given


def _wrenches(m: Mechanism, external: External) -> dict[str, ArrayLike]:
    if not isinstance(external, Mapping):
        raise InputError(
            "external gives wrenches by frame, such as {'tool0': [0, 0, -10, 0, 0, 0]}, not "
            f"{external!r:.40}"
        )
    for name in external:
        if not isinstance(name, str):
            raise UnknownNameError("frame", name, m.frame_names)
        if not m.coordinates_moving(m.frame(name)):
            raise InputError(
                f"external: no joint moves '{name}', so a wrench on it counts nowhere; leave it out"
            )
    return {f"wrench:{name}": external[name] for name in sorted(external, key=m.frame)}
