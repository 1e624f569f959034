"""Robots of another size and mass, and what numbers of theirs are by dimensional analysis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.mechanism.model import JointType, Mechanism


def resized(robot: Any, length: float, mass: float) -> Any:
    """The robot with all lengths and all masses multiplied; times stay."""
    m: Mechanism = robot.mechanism
    slides = length ** slide_powers(m)
    inertia = mass * length**2
    offsets = np.array([float(kind is JointType.PRISMATIC) for kind in m.body_joint_types])
    changed = replace(
        m,
        p_parent_joint=m.p_parent_joint * length,
        p_body_frame=m.p_body_frame * length,
        p_body_com=m.p_body_com * length,
        offset=m.offset * length**offsets,
        lower=m.lower * q_units(m, length),
        upper=m.upper * q_units(m, length),
        velocity_limit=m.velocity_limit * slides,
        effort_limit=m.effort_limit * mass * length**2 / slides,
        damping=m.damping * inertia / slides**2,
        friction=m.friction * inertia / slides,
        mass=m.mass * mass,
        I_com=m.I_com * inertia,
        link_mass=m.link_mass * mass,
        link_com=m.link_com * length,
        link_I_com=m.link_I_com * inertia,
        loops=tuple(replace(loop, distance=loop.distance * length) for loop in m.loops),
        inertias_accepted=True,
    )
    return lw.Robot(changed)


_SLIDES = {
    JointType.PRISMATIC: ([1], [1]),
    JointType.PLANAR: ([1, 1, 0], [1, 1, 0]),
    JointType.FLOATING: ([1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0]),
    JointType.SPHERICAL: ([0] * 4, [0] * 3),
}
"""Which numbers of q and of v are lengths, of the joints that slide."""


def slide_powers(m: Mechanism) -> np.ndarray:
    """1 for each number of v that is metres a second, 0 for radians a second (nv,)."""
    return np.array([x for kind in m.joint_types for x in _SLIDES.get(kind, ([0], [0]))[1]], float)


def q_units(m: Mechanism, length: float) -> np.ndarray:
    """What each number of q is multiplied by (nq,)."""
    powers = [x for kind in m.joint_types for x in _SLIDES.get(kind, ([0], [0]))[0]]
    return length ** np.array(powers, float)
