"""The joints that q consists of, and their limits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from linkwork.errors import InputError
from linkwork.mechanism.couplings import Limits, Resistance, carry, final_leaders, narrow
from linkwork.mechanism.model import Floats, JointType
from linkwork.mechanism.parts import JointPart, Mimic, Parts
from linkwork.mechanism.tree import Tree, indices

FLOATING_BASE = "floating_base"


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The joints that q consists of, in order, and the couplings of the others."""

    names: list[str]
    types: list[JointType]
    sources: list[JointPart | None]  # None: the floating base
    index: dict[str, int]
    leaders: dict[str, Mimic]
    followers: list[JointPart]


def find(parts: Parts, tree: Tree) -> Coordinates:
    """Number the coordinates in the order of the tree, a floating base first.

    Raises: as `final_leaders`.
    """
    leaders = final_leaders(parts)
    ordered = [parts.joints[k] for k in indices(tree.order)]
    own = [j for j in ordered if j.type is not JointType.FIXED and j.name not in leaders]
    names, types = [j.name for j in own], [j.type for j in own]
    sources: list[JointPart | None] = [*own]
    if parts.base == "floating":
        taken = {j.name for j in parts.joints}
        name = parts.base_joint or FLOATING_BASE
        while name in taken:
            name += "_"
        names, types, sources = [name, *names], [JointType.FLOATING, *types], [None, *sources]
    index = {name: k for k, name in enumerate(names)}
    followers = [j for j in ordered if j.name in leaders and j.child is not None]
    return Coordinates(names, types, sources, index, leaders, followers)


def limits_of(parts: Parts, coordinates: Coordinates) -> dict[str, Any]:
    """Everything that the model keeps for each coordinate, each number of q and each of v.

    Raises: InputError for numbers that are NaN, and for a spherical joint that cannot turn.
    """
    sources = coordinates.sources
    position = dict(zip(coordinates.names, map(_position_limits, sources), strict=True))
    position.update((joint.name, _position_limits(joint)) for joint in coordinates.followers)
    _check_numbers(coordinates)
    resistance = dict(zip(coordinates.names, map(_resistance, sources), strict=True))
    resistance.update((joint.name, _resistance(joint)) for joint in coordinates.followers)
    findings = narrow(position, coordinates.followers, coordinates.leaders)
    findings += carry(resistance, coordinates.followers, coordinates.leaders)
    limits = [position[name] for name in coordinates.names]
    against = [resistance[name] for name in coordinates.names]
    n_q = [kind.n_q for kind in coordinates.types]
    n_v = [kind.n_v for kind in coordinates.types]
    return {
        "joint_names": tuple(coordinates.names),
        "joint_types": tuple(coordinates.types),
        "q_start": np.array([0, *accumulate(n_q)], np.int64),
        "v_start": np.array([0, *accumulate(n_v)], np.int64),
        "lower": _each((limit.lower for limit in limits), -np.inf, n_q),
        "upper": _each((limit.upper for limit in limits), np.inf, n_q),
        "angle_limit": np.array([_angle_limit(joint) for joint in sources], np.float64),
        "velocity_limit": _each((each.velocity for each in against), np.inf, n_v),
        "effort_limit": _each((j and j.effort for j in sources), np.inf, n_v),
        "damping": _each((each.damping for each in against), 0.0, n_v),
        "friction": _each((each.friction for each in against), 0.0, n_v),
        "armature": _each((each.armature for each in against), 0.0, n_v),
        "named_configurations": tuple(
            (name, tuple(x for joint in coordinates.names for x in positions[joint]))
            for name, positions in parts.named
        ),
        "findings": (*parts.findings, *findings),
    }


def _each(values: Iterable[float | None], absent: float, count: list[int]) -> Floats:
    given = np.array([absent if value is None else value for value in values], np.float64)
    return given if sum(count) == len(count) else np.repeat(given, count)


def _position_limits(joint: JointPart | None) -> Limits:
    if joint is None or joint.type.n_q != 1:
        return Limits(-np.inf, np.inf)
    return Limits(
        -np.inf if joint.lower is None else joint.lower,
        np.inf if joint.upper is None else joint.upper,
    )


def _angle_limit(joint: JointPart | None) -> float:
    """How far a spherical joint turns; infinite from half a turn on, which is as far as any can.

    Raises: InputError for an angle that is not above zero.
    """
    if joint is None or joint.type is not JointType.SPHERICAL or joint.upper is None:
        return np.inf
    if not joint.upper > 0.0:
        raise InputError(
            f"joint '{joint.name}': the limit of its angle must be above 0 rad, not "
            f"{joint.upper:g}; a joint that does not turn is a fixed one"
        )
    return joint.upper if joint.upper < np.pi else np.inf


def _resistance(joint: JointPart | None) -> Resistance:
    if joint is None:
        return Resistance(np.inf, 0.0, 0.0, 0.0)
    velocity = np.inf if joint.velocity is None else joint.velocity
    return Resistance(velocity, joint.damping, joint.friction, joint.armature)


def _check_numbers(coordinates: Coordinates) -> None:
    for j in (*coordinates.sources, *coordinates.followers):
        if j is None:
            continue
        given = (j.lower, j.upper, j.velocity, j.effort, j.damping, j.friction, j.armature)
        if [value for value in given if value is not None and math.isnan(value)]:
            raise InputError(f"joint '{j.name}': one of its limits or its dynamics is NaN")
