"""States between two that are known: the cubic through both with their velocities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.configuration import difference
from linkwork.compile.recipe import Recipe, text_recipe
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.simulation.closing import corrected
from linkwork.simulation.library import Library
from linkwork.simulation.request import finite_rows
from linkwork.simulation.system import System
from linkwork.simulation.tangent import moved
from linkwork.spatial import se3, so3

Floats = NDArray[np.float64]


def between(o: Ops, m: Mechanism, first: Block, second: Block, at: Block) -> Block:
    """(nq + nv,): the state at the share ``at[0]`` of the way, in a time of ``at[1]`` seconds.

    ``first`` and ``second`` (nq + nv,) are the states at the ends. With theta the way from the
    first configuration, Hermite's cubic interpolates theta and its rate; the velocity is that of
    the cubic.
    """
    n_q, n_v = m.n_q, m.n_v
    q0, v0 = o.part(first, 0, n_q), o.part(first, n_q, n_q + n_v)
    q1, v1 = o.part(second, 0, n_q), o.part(second, n_q, n_q + n_v)
    s, h = at[0], at[1]
    way = difference(o, m, q0, q1)
    begins, ends = h * v0, h * _rate(o, m, way, v1)
    s2, s3 = s * s, s * s * s
    theta = (3.0 * s2 - 2.0 * s3) * way + (s3 - 2.0 * s2 + s) * begins + (s3 - s2) * ends
    slope = (
        (6.0 * s - 6.0 * s2) * way
        + (3.0 * s2 - 4.0 * s + 1.0) * begins
        + (3.0 * s2 - 2.0 * s) * ends
    )
    v = _velocity(o, m, theta, slope * (1.0 / h))
    return o.concat([moved(o, m, q0, theta), v])


def _rate(o: Ops, m: Mechanism, theta: Block, v: Block) -> Block:
    """The rate of theta at the velocity v: the inverse of the right Jacobian, times v."""
    return _by_joint(o, m, theta, v, inverse=True)


def _velocity(o: Ops, m: Mechanism, theta: Block, rate: Block) -> Block:
    """The velocity at this rate of theta: the right Jacobian times it."""
    return _by_joint(o, m, theta, rate, inverse=False)


def _by_joint(o: Ops, m: Mechanism, theta: Block, x: Block, *, inverse: bool) -> Block:
    parts: list[Block] = []
    for c, type in enumerate(m.joint_types):
        start = int(m.v_start[c])
        part = o.part(x, start, start + type.n_v)
        if type.has_quaternion:
            step = o.part(theta, start, start + type.n_v)
            group = se3 if type is JointType.FLOATING else so3
            function = group.right_jacobian_inverse if inverse else group.right_jacobian
            part = function(o, step) @ part
        parts.append(part)
    return o.concat(parts)


def between_recipe(m: Mechanism) -> Recipe:
    """`between` of (first, second, at)."""
    size = m.n_q + m.n_v
    return text_recipe(
        ("simulation", m.digest, "between"),
        "between",
        {"first": size, "second": size, "at": 2},
        lambda o, *blocks: {"between": between(o, m, *blocks)},
    )


@dataclass(frozen=True, eq=False)
class Between:
    """States of roll-outs at any instants, from those that were kept.

    ``constants`` and ``controls`` (rows or 1, n) are what the projection on loops looks at; empty
    where there are none.
    """

    system: System
    constants: Floats
    controls: Floats
    library: Library
    threads: int

    def __call__(
        self, times: Floats, q: Floats, v: Floats, instants: Floats
    ) -> tuple[Floats, Floats]:
        """(rows, k, nq) and (rows, k, nv) from times (n,), q (rows, n, nq) and v (rows, n, nv)."""
        n_q = self.system.mechanism.n_q
        if times.size == 1:
            left = np.zeros(instants.size, np.int64)
            right, share, length = left, np.zeros(instants.size), np.ones(instants.size)
        else:
            left = np.clip(np.searchsorted(times, instants, side="right") - 1, 0, times.size - 2)
            right = left + 1
            length = times[right] - times[left]
            share = (instants - times[left]) / length
        begun = np.concatenate([q[:, :1], v[:, :1]], axis=2)
        first, second = (np.concatenate([q[:, k], v[:, k]], axis=2) for k in (left, right))
        none = ~(finite_rows(first) & finite_rows(second))
        first, second = (np.where(none[..., None], begun, x) for x in (first, second))
        kernel = self.library.kernel(between_recipe(self.system.mechanism))
        found = kernel(first, second, np.stack([share, length], axis=1), threads=self.threads)
        if self.system.closed:
            found = self._closed(found)
        found[none] = np.nan
        return found[..., :n_q], found[..., n_q:]

    def _closed(self, states: Floats) -> Floats:
        """States (rows, k, nq + nv) on the loops, where they are near enough."""
        n_q = self.system.mechanism.n_q
        rows, k, size = states.shape
        kernel = self.library.kernel(self.system.projection_recipe())
        spread = [
            np.repeat(np.broadcast_to(a, (rows, a.shape[1])), k, axis=0)
            for a in (self.constants, self.controls)
        ]
        flat = states.reshape(-1, size)
        q, v, good = corrected(
            kernel, (flat[:, :n_q], flat[:, n_q:]), (spread[0], spread[1]), self.threads
        )
        return np.where(good[:, None], np.hstack([q, v]), flat).reshape(states.shape)
