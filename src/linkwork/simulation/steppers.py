"""The one-step methods as numbers: explicit Runge-Kutta tableaux, and semi-implicit Euler.

A step of an explicit method from (q, v): the stages are K_i = the rates of theta and v at
theta_i = h sum_j a_ij K_j; the step leads along h sum_j b_j K_j. On the group theta is what is
integrated, not q (`tangent.py`), after Munthe-Kaas.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np


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
        """How many times the equation of motion is evaluated."""
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

IMPLICIT = Method("implicit", 2, ((),), (1.0,), (1.0,))
"""Generalised alpha (`implicit_texts.py`): only when it looks at the forces is told here."""

FIXED: dict[str, Method] = {"euler": EULER, "rk4": RK4}
"""Methods of fixed steps by explicit stages."""

WATCHED = 8
"""Explicit steps of which one is looked at for being too long for bounded drives; those that
come to a stop all are."""

METHODS = ("rk4", "euler", "dopri5", "implicit")
"""Every method by name."""
