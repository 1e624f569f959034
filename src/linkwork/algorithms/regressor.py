"""Inverse dynamics as a linear function of the bodies' inertial parameters."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.inertia_numbers import PLACES
from linkwork.algorithms.step_motion import motions_of
from linkwork.algorithms.steps import Spatial, columns, fixed_in, steps_of
from linkwork.algorithms.triples import Rows, Triple, cross, dot, flipped, plus, times, total
from linkwork.mechanism.model import Floats, Mechanism
from linkwork.ops.protocol import Block, Ops

N_NUMBERS = 10
"""How many inertial parameters a body has: m, m c (3), ixx ixy ixz iyy iyz izz."""


def regressor(o: Ops, m: Mechanism, q: Block, v: Block, dv: Block) -> Block:
    """The matrix Y whose product with the inertial parameters of the bodies is inverse dynamics.

    Shapes: q (nq,), v (nv,), dv (nv,) to (nv, 10 nb). Columns: for each body its mass, its mass
    times its centre of mass (3), and ixx ixy ixz iyy iyz izz about the origin of the body's own
    link frame, in its axes; links behind fixed joints count with the body. `inertial_parameters`
    gives them as they are. Columns of a fixed base are zero. Gravity is in it; external wrenches,
    rotors, damping and friction are not.

    Source: C. G. Atkeson, C. H. An, J. M. Hollerbach, "Estimation of inertial parameters of
    manipulator loads and links", Int. J. Robotics Research 5 (1986).
    """
    steps = steps_of(o, m, q)
    motions = motions_of(m, steps, v, dv, gravity=True)
    entries: list[list[Scalar]] = [[0.0] * (N_NUMBERS * m.n_bodies) for _ in range(m.n_v)]
    reaching: list[list[tuple[int, float, Spatial]]] = []  # index in v, multiplier, motion
    for step, motion in zip(steps, motions, strict=True):
        before = reaching[step.parent] if step.parent >= 0 else []
        here = [(at, factor, step.twist_into(column)) for at, factor, column in before]
        here += [(step.start + k, step.factor, column) for k, column in enumerate(columns(step))]
        reaching.append(here)
        if not step.owner:
            continue
        link = fixed_in(m.frame_placement(m.frame(m.body_names[step.body])))
        velocity, acceleration = map(link.twist_into, motion[:2])
        matter = _Matter(velocity, acceleration)
        first = N_NUMBERS * step.body
        for at, factor, column in here:
            row = matter.forces(link.twist_into(column))
            for k, force in enumerate(row):
                before_it = entries[at][first + k]
                entries[at][first + k] = added(before_it, times(factor, force))
    if m.n_v == 0:
        return o.const(np.zeros((0, N_NUMBERS * m.n_bodies)))
    return o.matrix([o.vector(column) for column in flipped(entries)])


class _Matter:
    """What it takes to move a unit of each inertial parameter along with a frame."""

    def __init__(self, velocity: Spatial, acceleration: Spatial) -> None:
        self._w, self._alpha = velocity.angular, acceleration.angular
        # the acceleration of the origin, and the field U of those around it
        self._a = plus(acceleration.linear, cross(self._w, velocity.linear))
        units = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
        self._field: Rows = [  # columns
            plus(cross(self._alpha, unit), cross(self._w, cross(self._w, unit))) for unit in units
        ]

    def forces(self, along: Spatial) -> list[Scalar]:
        """The ten forces along a motion (s, z).

        With first moments h and an inertia J about the origin, they are the factors of m, h and J
        in s·(m a + U h) + z·(h x a + J alpha + w x J w).
        """
        s, z = along
        first: Triple = [dot(s, column) for column in self._field]
        first = plus(first, cross(self._a, z))
        across, w, alpha = cross(z, self._w), self._w, self._alpha
        second: list[Scalar] = []
        for i, j in PLACES:
            terms = [times(z[i], alpha[j]), times(across[i], w[j])]
            if i != j:
                terms += [times(z[j], alpha[i]), times(across[j], w[i])]
            second.append(total(terms))
        return [dot(s, self._a), *first, *second]


def inertial_parameters(m: Mechanism) -> Floats:
    """The inertial parameters of all bodies as they are, in the order of `regressor`: (10 nb,)."""
    rows: list[Floats] = []
    for body, name in enumerate(m.body_names):
        frame = m.frame(name)
        R, p = m.R_body_frame[frame], m.p_body_frame[frame]
        mass, centre = m.mass[body], R.T @ (m.p_body_com[body] - p)
        about = mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        about = R.T @ m.I_com[body] @ R + about
        rows.append(np.concatenate([[mass], mass * centre, about[np.triu_indices(3)]]))
    return np.concatenate(rows)
