"""The integrators as numbers and expressions: explicit Runge-Kutta tableaux, semi-implicit Euler,
and generalised alpha for stiff forces.

A step of an explicit method from (q, v): the stages are K_i = the rates of theta and v at
theta_i = h sum_j a_ij K_j; the step leads along h sum_j b_j K_j. On the group theta is what is
integrated, not q (`tangent.py`), after Munthe-Kaas.

A step of generalised alpha from (q, v, a, dv) looks for x, the acceleration at its end. With its
`Weights` and theta = h v + h² (1/2 - beta) a + h² beta a', the end is q' = q moved by theta,
v' = v + h (1 - gamma) a + h gamma a', and x is right where inverse dynamics at (q', v', x) gives
the forces that act there. ``a`` is the method's own, a' = (1 - af)/(1 - am) x + ...

With loops, x has the loops' forces f behind the accelerations: inverse dynamics of the tree gives
what acts and Jᵀ f, and J x + dJ/dt v' = 0. So accelerations are those of the closed mechanism, and
what the step opens is closed by projection after it.

Source: J. Chung, G. M. Hulbert, "A time integration algorithm for structural dynamics with improved
numerical dissipation", J. Applied Mechanics 60 (1993); O. Bruels, A. Cardona, "On the use of Lie
group time integrators in multibody dynamics", J. Computational and Nonlinear Dynamics 5 (2010).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from linkwork.algorithms.closure import (
    acceleration_bias,
    closure_parts,
    closure_rows,
    row_scales,
)
from linkwork.algorithms.independent_rows import independent
from linkwork.algorithms.registry import find
from linkwork.algorithms.vector3 import added, negated, times, total
from linkwork.compile.recipe import Recipe
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.simulation import joint_forces
from linkwork.simulation.equation_of_motion import System, one_output_recipe
from linkwork.simulation.tangent import moved
from linkwork.spatial import se3, so3


@dataclass(frozen=True)
class Method:
    """A method of explicit stages.

    ``a`` are the rows of the tableau below its diagonal, ``b`` the weights, ``c`` the stages' times
    in steps, ``error`` the weights of an estimate of the error, if there is one. ``symplectic``:
    positions move by the new velocity instead. It is stable where h times what slows a motion down
    (1/s) is below ``damped``, and h² times what springs it back (1/s²) below ``sprung``.
    """

    name: str
    order: int
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]
    error: tuple[float, ...] = ()
    symplectic: bool = False
    damped: float = np.inf
    sprung: float = np.inf

    @property
    def stages(self) -> int:
        """Evaluations of the equation of motion in a step."""
        return len(self.b)

    @property
    def per_step(self) -> int:
        """Into how many parts the stages' times divide a step."""
        least = [Fraction(x).limit_denominator(1000).denominator for x in self.c]
        return max(least)

    def instants(self) -> tuple[int, ...]:
        """The times of the stages, counted in those parts."""
        return tuple(round(x * self.per_step) for x in self.c)


EULER = Method("euler", 1, ((),), (1.0,), (0.0,), symplectic=True, damped=2.0, sprung=4.0)
"""Semi-implicit Euler: v' = v + h f(q, v), then q' = q moved by h v'.

Source: E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., I.1.2.
"""

RK4 = Method(
    "rk4",
    4,
    ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
    (1 / 6, 1 / 3, 1 / 3, 1 / 6),
    (0.0, 0.5, 0.5, 1.0),
    damped=2.785,
    sprung=8.0,
)
"""The classical method of order 4 (Kutta 1901)."""

DOPRI5 = Method(
    "dopri5",
    5,
    (
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0),
    (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    error=(71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
)
"""Order 5 with an estimate of order 4; the last stage is the first of the next step.

Source: J. R. Dormand, P. J. Prince, "A family of embedded Runge-Kutta formulae", J. Computational
and Applied Mathematics 6 (1980).
"""


def dense_weights(s: Any) -> list[Any]:
    """The weights of the seven stages of `DOPRI5` at the share s of a step; order 4.

    Source: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed.,
    II.6, after L. F. Shampine (1986).
    """
    b = DOPRI5.b
    whole, part = s * s * (3.0 - 2.0 * s), s * s * (s - 1.0) * (s - 1.0)
    return [
        whole * b[0]
        + s * (s - 1.0) * (s - 1.0)
        - part * (5.0 / 11282082432.0) * (2558722523.0 - 31403016.0 * s),
        0.0 * s,
        whole * b[2] + part * (100.0 / 32700410799.0) * (882725551.0 - 15701508.0 * s),
        whole * b[3] - part * (25.0 / 1880347072.0) * (443332067.0 - 31403016.0 * s),
        whole * b[4] + part * (32805.0 / 199316789632.0) * (23143187.0 - 3489224.0 * s),
        whole * b[5] - part * (55.0 / 822651844.0) * (29972135.0 - 7076736.0 * s),
        s * s * (s - 1.0) + part * (10.0 / 29380423.0) * (7414447.0 - 829305.0 * s),
    ]


def inside_recipe(m: Mechanism) -> Recipe:
    """The recipe of (nq + nv,): the state inside a step of `DOPRI5` from q and v.

    ``rates`` (7 2 nv,) are the stages', ``at`` the share of the step and its length.
    """
    n = 2 * m.n_v

    def inside(o: Ops, q: Block, v: Block, rates: Block, at: Block) -> Block:
        way: Block = o.const(np.zeros(n))
        for k, weight in enumerate(dense_weights(at[0])):
            if DOPRI5.error[k]:
                way = way + weight * o.part(rates, k * n, (k + 1) * n)
        way = at[1] * way
        return o.concat([moved(o, m, q, o.part(way, 0, m.n_v)), v + o.part(way, m.n_v, n)])

    sizes = {"q": m.n_q, "v": m.n_v, "rates": DOPRI5.stages * n, "at": 2}
    return one_output_recipe(("simulation", m.digest), "inside", sizes, inside)


IMPLICIT = Method("implicit", 2, ((),), (1.0,), (1.0,))
"""Generalised alpha (`Implicit`): only when it looks at the forces is told here."""

FIXED = {"euler": EULER, "rk4": RK4, "implicit": IMPLICIT}
"""Methods of fixed steps."""

WATCHED = 8
"""Explicit steps of which one is looked at for being too long for bounded drives; those that
come to a stop all are."""

METHODS = ("rk4", "euler", "dopri5", "implicit")
"""Every method by name."""


# generalised alpha


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
    """The expressions of generalised alpha for one system.

    ``before`` is (q, v, a, dv, f) in one vector, ``h`` the step. The unknowns x are dv and f at the
    end; f is empty without loops. Forces of single joints that jump or are bounded are unknowns
    beside them (`joint_forces.py`).
    """

    system: System

    @property
    def local(self) -> tuple[int, ...]:
        """The numbers of v whose friction and bounded drive are solved for by themselves."""
        return tuple(sorted({*self.system.rubbing, *self.system.bounded}))

    @property
    def n_held(self) -> int:
        """Rows that hold loops closed."""
        return sum(part.n_rows for part in closure_parts(self.system.mechanism))

    @property
    def n_before(self) -> int:
        """Numbers in the state of the method."""
        m = self.system.mechanism
        return m.n_q + 3 * m.n_v + self.n_held

    def _end(self, o: Ops, before: Block, x: Block, h: Block) -> tuple[Block, Block, Block, Block]:
        """theta, q', v' and a' for the unknowns at the end."""
        m, w = self.system.mechanism, WEIGHTS
        n_q, n_v = m.n_q, m.n_v
        q = o.part(before, 0, n_q)
        v, a, dv = (o.part(before, n_q + k * n_v, n_q + (k + 1) * n_v) for k in range(3))
        after = w.of_x * o.part(x, 0, n_v) + w.of_dv * dv + w.of_a * a
        hh = h[0] * h[0]
        theta = h[0] * v + (hh * (0.5 - w.beta)) * a + (hh * w.beta) * after
        speed = v + (h[0] * (1.0 - w.gamma)) * a + (h[0] * w.gamma) * after
        return theta, moved(o, m, q, theta), speed, after

    def finish(self, o: Ops, before: Block, x: Block, h: Block) -> Block:
        """The state of the method at the end of the step."""
        _, q, v, a = self._end(o, before, x, h)
        return o.concat([q, v, a, x])

    def newton(
        self,
        o: Ops,
        before: Block,
        x: Block,
        h: Block,
        constants: Block,
        controls: Block,
        forces: Block,
    ) -> Block:
        """(n + n² + 4 m,): what is left of the equations, then their derivative along the n
        unknowns; then of the m joints `local` the velocity at the end, what the drive pushes there,
        by how much less for a velocity, and its bound.

        The derivative is M + h gamma' (C - d tau/dv) + h² beta' (K - d tau/dq) T, row by row, with
        C and K the derivatives of inverse dynamics and T that of the exponential at theta.
        ``forces`` act on the joints `local`.
        """
        system, w = self.system, WEIGHTS
        m = tree_of(system.mechanism)
        dv = o.part(x, 0, m.n_v)
        theta, q, v, _ = self._end(o, before, x, h)
        given = system.given(o, constants, controls)
        parameters = system.parameters(o, given)
        force, *slopes = system.force_and_slopes(o, q, v, given, without=system.bounded)
        left = find("inverse_dynamics").run(o, m, (q, v, dv), parameters) - force
        stiff, damped, mass = find("inverse_dynamics_derivatives").run(o, m, (q, v, dv), parameters)
        stiff, damped = stiff - slopes[0], damped - slopes[1]
        to_v, to_q = self._to_v(h), h[0] * h[0] * (w.beta * w.of_x)
        whole = mass + to_v * damped + to_q * _through_exponential(o, m, stiff, theta)
        rows = [o.row(whole, i) for i in range(m.n_v)]
        if self.local:
            entries = {k: forces[j] for j, k in enumerate(self.local)}
            left = left - o.vector([entries.get(k, 0.0) for k in range(m.n_v)])
        if system.closed:
            held = _Held(o, system.mechanism, (q, v), mass)
            left, rows = held.joined(left, rows, x)
        return o.concat([left, *rows, *self._local_drives(o, (q, v), given, to_q / to_v)])

    def _local_drives(
        self, o: Ops, state: tuple[Block, Block], given: dict[str, Block], to_q: Block
    ) -> list[Block]:
        if not self.local:
            return []
        q, v = state
        system, joints = self.system, self.local
        pushes: list[Block] = [0.0] * len(joints)
        gains, limits = list(pushes), list(pushes)
        if system.bounded:
            free = joint_forces.unbounded_drives(o, system.mechanism, q, v, given)
            for j, k in enumerate(joints):
                if k in system.bounded:
                    pushes[j], limits[j] = free[k], given["effort_limit"][k]
                    gains[j] = given["kd"][k] + to_q * given["kp"][k]
        return [o.vector(a) for a in ([v[k] for k in joints], pushes, gains, limits)]

    def settling(
        self,
        o: Ops,
        drives: Block,
        change: Block,
        yields: Block,
        h: Block,
        old: Block,
        forces: Block,
    ) -> Block:
        """`joint_forces.improved` for the joints `local` within an iteration.

        ``drives`` is the end of `newton`, ``change`` (n,) what the unknowns are less by,
        ``yields`` (n m,) what unit forces add to them, ``old`` the forces that `newton` took.
        """
        joints, n = self.local, self.system.mechanism.n_v + self.n_held
        count, to_v = len(joints), self._to_v(h)
        speeds, pushes, gains, limits = (
            [drives[k * count + j] for j in range(count)] for k in range(4)
        )
        S = [[to_v * yields[j * n + i] for j in range(count)] for i in joints]
        laws: list[joint_forces.Law] = []
        rest: list[Block] = []
        losses = self.system.rubbing
        for j, k in enumerate(joints):
            most = float(self.system.mechanism.friction[k]) if k in losses else 0.0
            push = pushes[j] + gains[j] * speeds[j]
            laws.append(joint_forces.Driving(most, push, gains[j], limits[j]))
            taken = sum((S[j][i] * old[i] for i in range(count)), o.const(0.0))
            rest.append(speeds[j] - to_v * change[k] - taken)
        return joint_forces.improved(o, laws, rest, S, forces, loops=self.system.closed)

    def _to_v(self, h: Block) -> Block:
        return h[0] * (WEIGHTS.gamma * WEIGHTS.of_x)

    @property
    def sizes(self) -> dict[str, int]:
        """The lengths of what the expressions take, by the names of their arguments."""
        n, count = self.system.mechanism.n_v + self.n_held, len(self.local)
        of_local = {"drives": 4 * count, "yields": n * count, "old": count, "forces": count}
        return {**self.system.sizes, "before": self.n_before, "x": n, "change": n, **of_local}

    def recipe(self, name: str) -> Recipe:
        """The recipe of an expression, a method of this class."""
        return one_output_recipe(self.system.key, name, self.sizes, getattr(self, name))


def tree_of(m: Mechanism) -> Mechanism:
    """The same mechanism with nothing beside its tree."""
    return replace(m, loops=(), couplings=()) if m.is_closed else m


_SHARE = 1.0e-12
"""A share of what a row weighs: keeps the elimination without pivots from dividing by zero."""


class _Held:
    """The rows that hold loops closed, at one state.

    With P the projection on their range, P (J dv + dJ/dt v) = 0 and (1 - P) f = 0: as many
    equations as forces, also where rows follow from others, of which f is then the least.
    """

    def __init__(self, o: Ops, m: Mechanism, state: tuple[Block, Block], mass: Block) -> None:
        q, v = state
        self._o, self._n = o, m.n_v
        self._rows = closure_rows(o, m, q)
        self._bias = acceleration_bias(o, m, q, v)
        self._scales = row_scales(m)
        self._range = independent(o, m, self._rows).projection(self._scales)
        self._weights = [
            sum((scale * scale * x * x / mass[k, k] for k, x in row.items()), o.const(0.0))
            for scale, row in zip(self._scales, self._rows, strict=True)
        ]

    def joined(self, left: Block, rows: list[Block], x: Block) -> tuple[Block, list[Block]]:
        """The residual and the rows of its derivative, of the tree's and the loops' equations.

        An iteration takes the change of f times a small number besides, which is nothing where it
        ends. The derivative leaves out how the rows change within the step.
        """
        o, n = self._o, self._n
        count = len(self._rows)
        pushed: list[Block] = [0.0] * n
        turned: list[list[Block]] = [[0.0] * count for _ in range(n)]
        opening: list[Block] = []
        for r, row in enumerate(self._rows):
            for k, value in row.items():
                pushed[k] = pushed[k] + value * x[n + r]
                turned[k][r] = -value
            own = self._bias[r] + sum(value * x[k] for k, value in row.items())
            opening.append(self._scales[r] * own)
        mean = sum(self._weights, o.const(0.0)) * (1.0 / count)
        remains: list[Block] = []
        below: list[Block] = []
        for r, share in enumerate(self._range):
            left_of = [negated(part) for part in share]
            left_of[r] = added(left_of[r], 1.0)
            beside = [times(times(part, mean), 1.0 / scale)
                      for part, scale in zip(left_of, self._scales, strict=True)]  # fmt: skip
            forces = [times(part, x[n + i]) for i, part in enumerate(beside)]
            remains.append(total([*map(times, share, opening), *forces]))
            scaled = list(map(times, share, self._scales))
            own = [total([times(part, row.get(k, 0.0))
                          for part, row in zip(scaled, self._rows, strict=True)])
                   for k in range(n)]  # fmt: skip
            small = (_SHARE / self._scales[r]) * (self._weights[r] + mean)
            beside[r] = added(beside[r], small)
            below.append(o.vector([*own, *beside]))
        whole = [o.concat([own, o.vector(t)]) for own, t in zip(rows, turned, strict=True)]
        return o.concat([left - o.vector(pushed), o.vector(remains)]), whole + below


def _through_exponential(o: Ops, m: Mechanism, slope: Block, theta: Block) -> Block:
    """A slope along the tangent at q', as one along theta: columns times the right Jacobian."""
    columns = [o.column(slope, j) for j in range(m.n_v)]
    for c, type in enumerate(m.joint_types):
        if not type.has_quaternion:
            continue
        start, n = int(m.v_start[c]), type.n_v
        group = se3 if type is JointType.FLOATING else so3
        turn = group.right_jacobian(o, o.part(theta, start, start + n))
        old = columns[start : start + n]
        for j in range(n):
            total = turn[0, j] * old[0]
            for i in range(1, n):
                total = total + turn[i, j] * old[i]
            columns[start + j] = total
    return o.matrix(columns)


def no_solution(m: Mechanism, method: Method, remains: Floats) -> str:
    """The reason why a step was given up, from the state (nq + nv,) nearest to a solution."""
    speeds = np.nan_to_num(np.abs(remains[m.n_q :]), nan=np.inf)
    c = m.coordinate_of_v(int(np.argmax(speeds)))
    what, most = ("friction of the step", joint_forces.MOST_SWEEPS)
    if method is IMPLICIT:
        what, most = ("implicit step", MOST)
    return (
        f"the {what} has no solution that {most} iterations find; joint '{m.joint_names[c]}' moves "
        "fastest there: take a smaller dt"
    )
