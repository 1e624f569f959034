"""Inverse dynamics as a linear function of the bodies' inertial parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.algorithms.body_masses import PLACES
from linkwork.algorithms.joint_transforms import (
    JointTransform,
    Rates,
    Spatial,
    fixed_in,
    power,
)
from linkwork.algorithms.sweep import FramePose, Motion, Output, Sweep, motions
from linkwork.algorithms.vector3 import (
    Rows,
    Scalar,
    Vector3,
    cross,
    dot,
    plus,
    times,
    total,
    transposed,
    zeros,
)
from linkwork.mechanism.model import Floats, Mechanism, Placement
from linkwork.ops.protocol import Block, Ops

N_NUMBERS = 10
"""The number of inertial parameters of a body: m, m c (3), ixx ixy ixz iyy iyz izz."""


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
    sweep = Sweep(o, m, q)
    moving = motions(sweep, v, dv, gravity=True)
    found = sweep.output(m.n_v, N_NUMBERS * m.n_bodies)
    reaching: list[list[tuple[int, Scalar, Spatial]]] = []  # index in v, multiplier, motion
    for step, motion in zip(sweep.transforms, moving, strict=True):
        before = reaching[step.parent] if step.parent >= 0 else []
        here = [(at, factor, step.twist_into(column)) for at, factor, column in before]
        here += [(step.start + k, step.factor, own) for k, own in enumerate(step.columns())]
        reaching.append(here)
        if not step.owner:
            continue
        link = fixed_in(m.frame_placement(m.frame(m.body_names[step.body])))
        velocity, acceleration = map(link.twist_into, motion[:2])
        matter = _Matter(velocity, acceleration)
        for at, factor, column in here:
            for k, force in enumerate(matter.forces(link.twist_into(column))):
                found.add((at, N_NUMBERS * step.body + k), times(factor, force))
    return found.block(o)


class _Matter:
    """The wrenches that move a unit of each inertial parameter along with a frame."""

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
        first: Vector3 = [dot(s, column) for column in self._field]
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


def regressor_in_passes(sweep: Sweep, v: Rates, dv: Rates) -> Output:
    """`regressor` (nv, nb, 10) in passes, for long mechanisms.

    The wrench that moves a unit of each parameter goes inwards.
    """
    found = sweep.output(sweep.m.n_v, sweep.m.n_bodies, N_NUMBERS)
    units = [Spatial([float(i == k) for i in range(3)], zeros()) for k in range(3)]
    units += [Spatial(zeros(), unit.linear) for unit in units]

    def add(joint: JointTransform, of: JointTransform, wrenches: list[Spatial]) -> None:
        for k, column in enumerate(joint.columns()):
            for i, wrench in enumerate(wrenches):
                found.add((joint.start + k, of.body, i), times(joint.factor, power(column, wrench)))

    def begin(step: JointTransform, motion: Motion, link: FramePose | None) -> list[Spatial]:
        if link is None:
            return []
        at = fixed_in(Placement(link.R, link.p))
        matter = _Matter(*map(at.twist_into, motion[:2]))
        # the forces along unit motions are the parts of a wrench
        parts = transposed([matter.forces(unit) for unit in units])
        wrenches = [at.wrench_out(Spatial(part[:3], part[3:])) for part in parts]
        add(step, step, wrenches)
        return wrenches

    def meet(step: JointTransform, *given: Any) -> None:
        above, wrenches = given[2], given[5]
        add(above, step, wrenches)

    sweep.up(
        begin,
        lambda step, wrenches: [step.wrench_out(each) for each in wrenches],
        meet,
        motions(sweep, v, dv, gravity=True),
        sweep.links(),
    )
    return found
