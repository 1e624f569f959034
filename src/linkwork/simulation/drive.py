"""The equation of motion called from Python: where forces are functions, or steps are chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import real_rows
from linkwork.compile.kernel import Kernel
from linkwork.errors import InputError, ShapeError
from linkwork.simulation.closing import corrected
from linkwork.simulation.holding import settled
from linkwork.simulation.library import Library
from linkwork.simulation.request import Request, row_name
from linkwork.simulation.system import packed

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Drive:
    """The compiled stage of a request, and the values that enter it at any instant.

    Rows are those of the request, always all of them: a function of the user sees the whole batch.
    """

    def __init__(self, request: Request, library: Library, *, threads: int = 1) -> None:
        self.request, self.threads = request, threads
        self.mechanism = request.system.mechanism
        self._stage: Kernel = library.kernel(request.system.stage_recipe())
        self._advance: Kernel = library.kernel(request.system.advance_recipe())
        system = request.system
        self._yields, self._rubbing = (
            (library.kernel(system.yields_recipe()), library.kernel(system.rubbing_recipe()))
            if system.rubbing
            else (None, None)
        )
        self._stiffness = library.kernel(system.stiffness_recipe()) if system.stiff else None
        self._closer = library.kernel(system.projection_recipe()) if system.closed else None
        constants = request.constants()
        self.constants = np.broadcast_to(constants, (request.rows, constants.shape[1]))

    def move(self, q: Floats, theta: Floats) -> Floats:
        """The configurations (rows, nq) that theta (rows, nv) leads to."""
        return self._advance(q, theta, threads=self.threads, on_bad="nan")

    def closed(
        self, q: Floats, v: Floats, t: Floats | float, *, only: slice = slice(None)
    ) -> tuple[Floats, Floats, Flags]:
        """The states (rows, ...) with the loops closed, and in which rows that was possible.

        ``only`` tells which rows of the request they are; t is one for all rows or one each.
        """
        if self._closer is None:
            return q, v, np.ones(q.shape[0], np.bool_)
        entering = (self.constants[only], self._without_torque(t)[only])
        return corrected(self._closer, (q, v), entering, self.threads)

    def _without_torque(self, t: Floats | float) -> Floats:
        """What changes with time but the user's forces, which no projection looks at."""
        found = {name: self._of_time(name, t) for name in self.request.functions}
        found["torque"] = np.zeros(self.mechanism.n_v)
        entries = self.request.system.controls
        joined = packed(entries, found, self.request.rows)
        return np.broadcast_to(joined, (self.request.rows, joined.shape[1]))

    def rates(
        self,
        t: Floats | float,
        q: Floats,
        theta: Floats,
        v: Floats,
        *,
        at: Floats | None = None,
        held: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """The rates (rows, 2 nv) at one instant a row, and the controls (rows, n) there.

        ``at`` is the configuration that theta leads to, where it is known; ``held`` are the forces
        (rows, n) of friction, by default none.
        """
        reached = at
        if reached is None and self.request.torque is not None:
            reached = self.move(q, theta)
        controls = self.controls(t, q if reached is None else reached, v)
        given = [q, theta, v, self.constants, controls]
        n_held = len(self.request.system.rubbing)
        if n_held:
            given.append(np.zeros((1, n_held)) if held is None else held)
        found = self._stage(*given, threads=self.threads, on_bad="nan")
        return found, controls

    def friction(self, q: Floats, v: Floats, controls: Floats) -> Friction:
        """What holds the joints that rub through a step that begins here.

        Only for systems in which joints rub (`System.rubbing`).
        """
        yields: Any = self._yields
        found = yields(q, self.constants, controls, threads=self.threads, on_bad="nan")
        return Friction(self._rubbing, v, found, self.request.grid.h, self.threads)

    def stiffness(self, t: float, q: Floats, v: Floats, dv: Floats) -> Floats:
        """`System.stiffness` (rows, 2 + n) of steps that begin here.

        Only for systems with bounded drives or stops (`System.stiff`).
        """
        found: Any = self._stiffness
        h = np.array([[self.request.grid.h]])
        entering = (self.constants, self._without_torque(t))
        return found(q, v, dv, h, *entering, threads=self.threads, on_bad="nan")

    def controls(self, t: Floats | float, q: Floats, v: Floats) -> Floats:
        """What changes with time, at t (one for all rows or one each) and the states."""
        request = self.request
        found: dict[str, Floats] = {name: self._of_time(name, t) for name in request.functions}
        if request.torque is not None:
            found["torque"] = self._torque(t, q, v)
        entries = request.system.controls
        joined = packed(entries, found, request.rows)
        return np.broadcast_to(joined, (request.rows, joined.shape[1]))

    def _of_time(self, name: str, t: Floats | float) -> Floats:
        function = self.request.functions[name]
        if not isinstance(t, np.ndarray):
            return function(t)
        known: dict[float, Floats] = {}
        rows: list[Floats] = []
        for k, instant in enumerate(t.tolist()):
            if instant not in known:
                known[instant] = function(instant)
            value = known[instant]
            rows.append(value if value.ndim == 1 else value[k])
        return np.stack(rows)

    def _torque(self, t: Floats | float, q: Floats, v: Floats) -> Floats:
        request, n_v = self.request, self.mechanism.n_v
        function: Any = request.torque
        instant: Any = t
        if isinstance(t, np.ndarray):
            # one for each row, so that it meets q and v as a number does
            instant = t.reshape((*request.lead, 1)) if request.lead else float(t[0])
        shown = [a.reshape((*request.lead, a.shape[1])).copy() for a in (q, v)]
        given = real_rows(function(instant, *shown), "what torque(t, q, v) returns", n_v)
        try:
            tau = np.broadcast_to(given, (*request.lead, n_v)).reshape(-1, n_v)
        except ValueError:
            raise ShapeError(
                f"torque(t, q, v) must return the shape {(*request.lead, n_v)}, not {given.shape}"
            ) from None
        if not np.isfinite(tau).all():
            row, k = np.argwhere(~np.isfinite(tau))[0].tolist()
            when = t[row] if isinstance(t, np.ndarray) else t
            where = f" of row {row_name(request.lead, row)}" if request.lead else ""
            raise InputError(
                f"torque(t, q, v) returned {tau[row, k]} for joint "
                f"'{joint_of_v(self.mechanism, k)}'{where} at t = {when:.6g} s; it must be a "
                "finite number"
            )
        return tau


class Friction:
    """Friction that is held through a step, of all rows: see `holding.py`."""

    def __init__(self, kernel: Any, v: Floats, yields: Floats, h: float, threads: int) -> None:
        """``yields`` (rows, nv n): what unit forces accelerate, one by one."""
        self._kernel, self._v, self._by, self._h = kernel, v, yields, h
        self._threads = threads
        self.n = yields.shape[1] // v.shape[1]

    def settled(self, free: Floats, begun: Floats | None = None) -> tuple[Floats, Floats, Flags]:
        """The friction (rows, n), its detours, and in which rows there is one.

        ``free`` (rows, nv) are the velocities at the end of the step without friction.
        """
        forces = np.zeros((free.shape[0], self.n)) if begun is None else begun
        given = (free, self._v, self._by, np.array([[self._h]]))
        return settled(self._kernel, given, forces, self._threads)

    def accelerations(self, forces: Floats) -> Floats:
        """What these forces accelerate (rows, nv)."""
        by = self._by.reshape(forces.shape[0], self.n, -1)
        return np.einsum("rjk,rj->rk", by, forces)


def joint_of_v(m: Any, k: int) -> str:
    """The name of the joint that a number of v belongs to."""
    return m.joint_names[int(np.searchsorted(m.v_start, k, side="right")) - 1]


def joint_of_q(m: Any, k: int) -> str:
    """The name of the joint that a number of q belongs to."""
    return m.joint_names[int(np.searchsorted(m.q_start, k, side="right")) - 1]
