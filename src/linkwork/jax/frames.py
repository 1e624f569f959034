"""Several frames at once: their poses, and the twists that the velocities give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy
import numpy as np

from linkwork.algorithms.jacobian import Seen
from linkwork.algorithms.sweep import poses
from linkwork.jax.model import Array, Model, bodies_of
from linkwork.jax.sweep import JaxSweep

jnp: Any = jax.numpy


class Frames(NamedTuple):
    """Frames in the world; twists in its axes, linear numbers first. Configurations come last."""

    R: Array  # (n, 3, 3, ...)
    p: Array  # (n, 3, ...)
    J: Array  # (n, 6, nv, ...)


def frames_of(m: Model, q: Array, names: Sequence[str]) -> Frames:
    """These frames at configurations q (..., nq); each joint is seen once for all of them."""
    mechanism, numbers = m.mechanism, bodies_of(m)
    index = np.array([mechanism.frame(name) for name in names])
    bodies = mechanism.frame_body[index].tolist()
    ways = [mechanism.ancestry(body) for body in bodies]
    sweep: Any = JaxSweep(m, numbers, (q,), sorted(set[int]().union(*ways)))
    every = poses(sweep)
    body = every.at(np.array([sweep.joint_of(body) for body in bodies]))
    R_body = jnp.stack([jnp.stack(row, axis=1) for row in body.R], axis=1)
    p_body = jnp.stack(body.p, axis=1)
    R, p = numbers.R_frame[index].astype(sweep.dtype), numbers.p_frame[index].astype(sweep.dtype)
    R_world = jnp.einsum("nij...,njk->nik...", R_body, R, precision="highest")
    p = p_body + jnp.einsum("nij...,nj->ni...", R_body, p, precision="highest")
    columns = jnp.zeros((len(names), 6, mechanism.n_v, *sweep.batch), sweep.dtype)
    ones = (1,) * len(sweep.batch)
    for step, start, joints, pose in sweep.kinds(every):
        carries = np.array([[b in way for b in joints] for way in ways], dtype=float)
        share = jnp.asarray(carries, sweep.dtype).reshape(*carries.shape, *ones)
        # arms (frames, joints, ...) by number of the vector
        arm = [p[:, None, i] - pose.p[i][None] for i in range(3)]
        for k, axis in enumerate(step.free):
            twist = Seen([[x[None] for x in row] for row in pose.R], arm, None).twist(*axis)
            parts = [jnp.broadcast_to(x, arm[0].shape) for x in (*twist.linear, *twist.angular)]
            own = jnp.stack(parts, axis=1) * (share * step.factor)[:, None]
            columns = columns.at[:, :, start + k].add(own)
    return Frames(R_world, p, columns)
