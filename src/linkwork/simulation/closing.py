"""Loops kept closed from Python: where a simulation begins, and steps that Python makes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.closure import closure_parts
from linkwork.algorithms.independent_rows import change_point
from linkwork.compile.kernel import Kernel
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.simulation.library import Library
from linkwork.simulation.projection import CLOSED, MOST
from linkwork.simulation.request import Request, finite_rows, row_name

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

ASSEMBLED = 1.0e-6
"""How far (m, rad) a loop may be open where a simulation begins, and how fast it may open there
(m/s, rad/s, beside one and the speeds); what is open less is closed first."""

_UNITS = {"m": "m", "rad": "rad", "1": ""}


def corrected(
    kernel: Kernel, state: tuple[Floats, Floats], entering: tuple[Floats, Floats], threads: int = 1
) -> tuple[Floats, Floats, Flags]:
    """q and v (rows, ...) with the loops closed, and in which rows they are.

    ``kernel`` is that of `System.projection`, ``entering`` the constants and controls (rows, n).
    Rows are corrected until they are closed, then left alone.
    """
    q, v = state[0].copy(), state[1].copy()
    closed = np.zeros(q.shape[0], np.bool_)
    going = finite_rows(q) & finite_rows(v)
    for _ in range(MOST):
        open_ = np.flatnonzero(going & ~closed)
        if not open_.size:
            break
        found = kernel(q[open_], v[open_], *(_rows(a, open_) for a in entering),
                       threads=threads, on_bad="nan")  # fmt: skip
        q[open_], v[open_] = found[:, : q.shape[1]], found[:, q.shape[1] : -1]
        with np.errstate(invalid="ignore"):
            closed[open_] = found[:, -1] <= 1.0
        going = finite_rows(q) & finite_rows(v)
    return q, v, closed


def _rows(a: Floats, rows: NDArray[Any]) -> Floats:
    return a[rows] if a.shape[0] > 1 else a


def begun_closed(request: Request, library: Library, threads: int = 1) -> Request:
    """The request with its first states closed.

    Raises: InputError naming row and loop where q0 is not assembled or v0 opens a loop.
    """
    system = request.system
    words = Words(system.mechanism)
    found = library.kernel(system.gaps_recipe())(request.q0, request.v0, threads=threads)
    for row, gap in enumerate(found):
        words.check(gap, request.v0[row], _of_row(request, row))
    kernel = library.kernel(system.projection_recipe())
    entering = (request.constants(), request.controls_without_torque(0.0))
    q, v, closed = corrected(kernel, (request.q0, request.v0), entering, threads)
    if not closed.all():
        row = _of_row(request, int(np.flatnonzero(~closed)[0]))
        known = change_point(system.mechanism, request.q0[int(np.flatnonzero(~closed)[0])])
        why = known or "it is a singular configuration of the mechanism (see robot.mobility(q0))"
        raise InputError(f"q0{row}: the loops cannot be kept closed there; {why}")
    return replace(request, q0=q, v0=v)


def _of_row(request: Request, row: int) -> str:
    return f" of row {row_name(request.lead, row)}" if request.lead else ""


class _Gap(NamedTuple):
    name: str
    size: float
    unit: str

    def __str__(self) -> str:
        return f"'{self.name}' by {self.size:.3g} {self.unit}".rstrip()


class Words:
    """What is said of loops that are open."""

    def __init__(self, m: Mechanism) -> None:
        self._parts = closure_parts(m)
        self._groups = [group for part in self._parts for group in part.groups]

    def worst(self, gap: Floats) -> _Gap:
        """Which group is open most, from the numbers of `projection.gaps`."""
        errors = [float(g.error(gap[k])) for k, g in enumerate(self._groups)]
        k = int(np.argmax(errors))
        return _Gap(self._groups[k].name, errors[k], _UNITS[self._groups[k].unit])

    def fastest(self, gap: Floats) -> _Gap:
        """Which loop opens fastest."""
        opening = gap[len(self._groups) :]
        k = int(np.argmax(opening))
        return _Gap(self._parts[k].name, float(opening[k]), "m/s or rad/s")

    def left_open(self, gap: Floats, too_long: str) -> str:
        """What is said after a step that left a loop open; ``too_long`` what to do about steps."""
        worst, fastest = self.worst(gap), self.fastest(gap)
        what = f"{worst} is open" if worst.size > CLOSED else f"the loop {fastest} opens"
        return (
            f"the loops cannot be kept closed: {what}; {too_long}, or it has come to a singular "
            "configuration, where other joints must be driven (robot.mobility(q) tells)"
        )

    def check(self, gap: Floats, v: Floats, row: str) -> None:
        """Refuse a first state that is not assembled.

        Raises: InputError.
        """
        worst, fastest = self.worst(gap), self.fastest(gap)
        if not worst.size <= ASSEMBLED:
            raise InputError(
                f"q0{row} is not assembled: {worst} is open; robot.assemble(...) gives "
                "configurations that are"
            )
        if not fastest.size <= ASSEMBLED * (1.0 + float(np.abs(v).max())):
            raise InputError(
                f"v0{row} opens the loop {fastest}; robot.passive_rates(q0) @ speeds gives the "
                "velocities that belong to speeds of the actuated joints"
            )
