"""Generalised alpha on the group, as texts: what a step must satisfy, and its Jacobian.

A step from (q, v, a, dv) looks for x, the acceleration at its end. With the weights below and
theta = h v + h² (1/2 - beta) a + h² beta a', the end is q' = q moved by theta,
v' = v + h (1 - gamma) a + h gamma a', and x is right where inverse dynamics at (q', v', x) gives
the forces that act there. ``a`` is the method's own, a' = (1 - af)/(1 - am) x + ...

Source: J. Chung, G. M. Hulbert, "A time integration algorithm for structural dynamics with improved
numerical dissipation", J. Applied Mechanics 60 (1993); O. Bruels, A. Cardona, "On the use of Lie
group time integrators in multibody dynamics", J. Computational and Nonlinear Dynamics 5 (2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.algorithms.registry import find
from linkwork.compile.recipe import Recipe
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.simulation import actuators, joint_friction, stops
from linkwork.simulation.system import System
from linkwork.simulation.tangent import moved
from linkwork.spatial import se3


@dataclass(frozen=True)
class Weights:
    """The numbers of the method."""

    beta: float
    gamma: float
    of_x: float  # how much of a' is x,
    of_dv: float  # the acceleration at the beginning,
    of_a: float  # and a


def weights(radius: float) -> Weights:
    """The weights of order 2 whose spectral radius at infinite stiffness is ``radius``, 0 to 1.

    Source: Chung and Hulbert, equations 17, 18 and 25.
    """
    am, af = (2.0 * radius - 1.0) / (radius + 1.0), radius / (radius + 1.0)
    gamma = 0.5 + af - am
    return Weights(
        beta=0.25 * (gamma + 0.5) ** 2,
        gamma=gamma,
        of_x=(1.0 - af) / (1.0 - am),
        of_dv=af / (1.0 - am),
        of_a=-am / (1.0 - am),
    )


MOST = 20
"""Iterations of a step, at most; two or three are the rule."""

CLOSE = 1.0e-11
"""By how much of a velocity the last iteration may still change it."""

WEIGHTS = weights(0.8)
"""Stiff motion fades by a fifth a step, motion that the steps resolve hardly at all."""


@dataclass(frozen=True)
class Implicit:
    """The texts of one system; ``before`` is (q, v, a, dv) in one vector, ``h`` the step."""

    system: System

    @property
    def n_before(self) -> int:
        """How many numbers the state of the method has."""
        m = self.system.mechanism
        return m.n_q + 3 * m.n_v

    def _end(self, o: Ops, before: Block, x: Block, h: Block) -> tuple[Block, Block, Block, Block]:
        """theta, q', v' and a' for an acceleration x at the end."""
        m, w = self.system.mechanism, WEIGHTS
        n_q, n_v = m.n_q, m.n_v
        q = o.part(before, 0, n_q)
        v, a, dv = (o.part(before, n_q + k * n_v, n_q + (k + 1) * n_v) for k in range(3))
        after = w.of_x * x + w.of_dv * dv + w.of_a * a
        hh = h[0] * h[0]
        theta = h[0] * v + (hh * (0.5 - w.beta)) * a + (hh * w.beta) * after
        speed = v + (h[0] * (1.0 - w.gamma)) * a + (h[0] * w.gamma) * after
        return theta, moved(o, m, q, theta), speed, after

    def finish(self, o: Ops, before: Block, x: Block, h: Block) -> Block:
        """The state of the method at the end of the step."""
        _, q, v, a = self._end(o, before, x, h)
        return o.concat([q, v, a, x])

    def newton(
        self, o: Ops, before: Block, x: Block, h: Block, constants: Block, controls: Block
    ) -> Block:
        """(nv + nv²,): what is left of the equation of motion, then its derivative along x.

        The derivative is M + h gamma' (C - d tau/dv) + h² beta' (K - d tau/dq) T, row by row, with
        C and K the derivatives of inverse dynamics and T that of the exponential at theta.
        """
        m, system, w = self.system.mechanism, self.system, WEIGHTS
        theta, q, v, _ = self._end(o, before, x, h)
        given = system.given(o, constants, controls)
        parameters = system.parameters(o, given)
        left = find("inverse_dynamics").run(o, m, (q, v, x), parameters)
        left = left - system.force(o, q, v, given)
        stiff, damped, mass = find("inverse_dynamics_derivatives").run(o, m, (q, v, x), parameters)
        stiff, damped = _less_forces(o, system, (q, v), given, (stiff, damped))
        to_v = h[0] * (w.gamma * w.of_x)
        to_q = h[0] * h[0] * (w.beta * w.of_x)
        whole = mass + to_v * damped + to_q * _through_exponential(o, m, stiff, theta)
        return o.concat([left, *[o.row(whole, i) for i in range(m.n_v)]])

    # what is compiled

    def newton_recipe(self) -> Recipe:
        """`newton` of (before, x, h, constants, controls)."""
        system = self.system
        sizes = {**self._sizes(), "constants": system.n_constants, "controls": system.n_controls}
        return system.recipe("newton", sizes, self.newton)

    def finish_recipe(self) -> Recipe:
        """`finish` of (before, x, h)."""
        return self.system.recipe("finish", self._sizes(), self.finish)

    def _sizes(self) -> dict[str, int]:
        return {"before": self.n_before, "x": self.system.mechanism.n_v, "h": 1}


def _less_forces(
    o: Ops,
    system: System,
    state: tuple[Block, Block],
    given: dict[str, Block],
    slopes: tuple[Block, Block],
) -> tuple[Block, Block]:
    """The slopes of inverse dynamics less those of the forces."""
    m = system.mechanism
    along_q, along_v = slopes
    driven = actuators.torque_slopes(o, m, *state, given)
    if driven is not None:
        along_q, along_v = along_q - driven[0], along_v - driven[1]
    if system.stopped:
        held = stops.push_slopes(o, m, *state, system.stopped, given)
        along_q, along_v = (
            slope - _diagonal(o, m.n_v, own)
            for slope, own in zip((along_q, along_v), held, strict=True)
        )
    if system.losses and joint_friction.acts(m):
        slopes_v = joint_friction.friction_slopes(o, m, state[1])
        along_v = along_v - _diagonal(o, m.n_v, slopes_v)
    return along_q, along_v


def _diagonal(o: Ops, n: int, entries: dict[int, Block]) -> Block:
    return o.matrix(
        [o.vector([entries.get(j, 0.0) if i == j else 0.0 for i in range(n)]) for j in range(n)]
    )


def _through_exponential(o: Ops, m: Mechanism, slope: Block, theta: Block) -> Block:
    """A slope along the tangent at q', as one along theta: columns times the right Jacobian."""
    columns = [o.column(slope, j) for j in range(m.n_v)]
    for c, type in enumerate(m.joint_types):
        if type is not JointType.FLOATING:
            continue
        start = int(m.v_start[c])
        turn = se3.right_jacobian(o, o.part(theta, start, start + 6))
        old = columns[start : start + 6]
        for j in range(6):
            total = turn[0, j] * old[0]
            for i in range(1, 6):
                total = total + turn[i, j] * old[i]
            columns[start + j] = total
    return o.matrix(columns)


def no_solution(m: Mechanism, remains: Floats) -> str:
    """Why a step was given up, from the state (nq + nv,) that was nearest to a solution."""
    speeds = np.nan_to_num(np.abs(remains[m.n_q :]), nan=np.inf)
    c = int(np.searchsorted(m.v_start, int(np.argmax(speeds)), side="right")) - 1
    return (
        f"the implicit step has no solution that {MOST} iterations find; joint "
        f"'{m.joint_names[c]}' moves fastest there: take a smaller dt"
    )
