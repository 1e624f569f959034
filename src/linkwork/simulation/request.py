"""A simulation as numbers, checked, which every integrator takes; and the states that it leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from linkwork.checks import real_rows
from linkwork.errors import InputError, ShapeError
from linkwork.mechanism.model import Floats
from linkwork.simulation.equation_of_motion import System, packed
from linkwork.simulation.result import EventRecord


def row_name(lead: tuple[int, ...], row: int) -> str:
    """A row of a batch as people index it."""
    return f"[{', '.join(str(int(k)) for k in np.unravel_index(row, lead))}]" if lead else "[]"


class Progress(Protocol):
    """A callback on how far a long run is: (done, total), in steps of all rows together."""

    def __call__(self, done: int, total: int, /) -> object:
        """Take note."""
        ...


@dataclass(frozen=True)
class Grid:
    """The instants of a simulation: equal steps, of which every so many are kept."""

    duration: float
    steps: int
    every: int

    @property
    def h(self) -> float:
        """The length of a step (s)."""
        return self.duration / self.steps if self.steps else 0.0

    @property
    def kept(self) -> int:
        """Number of states that are kept: the first, every so many, and the last."""
        return 1 + -(-self.steps // self.every)

    def times(self) -> Floats:
        """The instants that are kept (s)."""
        numbers = np.minimum(np.arange(self.kept) * self.every, self.steps)
        return numbers * self.h if self.steps else np.zeros(1)

    def place(self, step: int) -> int:
        """The place of the state after the step of this number, if it is kept."""
        return -(-(step + 1) // self.every)

    def keeps(self, step: int) -> bool:
        """Whether the state after the step of this number is kept."""
        return (step + 1) % self.every == 0 or step + 1 == self.steps


@dataclass(frozen=True)
class Request:
    """A simulation that can be run.

    ``values`` of the constants are (size,) or (rows, size). ``functions`` of time give (size,) or
    (..., size), by name. ``torque`` is a function of (t, q, v) of the whole batch, or None; the
    system then has the control "torque".
    """

    system: System
    lead: tuple[int, ...]
    q0: Floats  # (rows, nq)
    v0: Floats  # (rows, nv)
    grid: Grid
    values: Mapping[str, Floats]
    functions: Mapping[str, Callable[[float], Floats]]
    torque: Callable[[Any, Floats, Floats], Floats] | None = None
    bound: float = 1.0e5

    @property
    def rows(self) -> int:
        """Number of roll-outs."""
        return self.q0.shape[0]

    def constants(self) -> Floats:
        """The constants side by side, (1, n) where all rows share them."""
        return packed(self.system.constants, self.values, self.rows)

    def controls(self, t: Floats | float, state: tuple[Floats, Floats] | None = None) -> Floats:
        """Functions of time side by side: (1, n) where all rows share it, else (rows, n).

        ``t`` is one instant for all rows or one each. The user's forces are asked for at the
        ``state`` (q and v of all rows), and zero without one: no projection looks at them.
        """
        found = {name: self._of_time(name, t) for name in self.functions}
        if self.torque is not None:
            n_v = self.system.mechanism.n_v
            found["torque"] = np.zeros(n_v) if state is None else self._torque_of(t, *state)
        return packed(self.system.controls, found, self.rows)

    def torque_in(self, controls: Floats) -> Floats:
        """The user's forces (rows, nv) among the controls."""
        at = 0
        for entry in self.system.controls:
            if entry.name == "torque":
                break
            at += entry.size
        return controls[:, at : at + self.system.mechanism.n_v]

    def _of_time(self, name: str, t: Floats | float) -> Floats:
        function = self.functions[name]
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

    def _torque_of(self, t: Floats | float, q: Floats, v: Floats) -> Floats:
        lead, n_v = self.lead, self.system.mechanism.n_v
        function: Any = self.torque
        instant: Any = t
        if isinstance(t, np.ndarray):
            # one for each row, so that it meets q and v as a number does
            instant = t.reshape((*lead, 1)) if lead else float(t[0])
        shown = [a.reshape((*lead, a.shape[1])).copy() for a in (q, v)]
        given = real_rows(function(instant, *shown), "what torque(t, q, v) returns", n_v)
        try:
            tau = np.broadcast_to(given, (*lead, n_v)).reshape(-1, n_v)
        except ValueError:
            raise ShapeError(
                f"torque(t, q, v) must return the shape {(*lead, n_v)}, not {given.shape}"
            ) from None
        if not np.isfinite(tau).all():
            row, k = np.argwhere(~np.isfinite(tau))[0].tolist()
            when = t[row] if isinstance(t, np.ndarray) else t
            where = f" of row {row_name(lead, row)}" if lead else ""
            raise InputError(
                f"torque(t, q, v) returned {tau[row, k]} for joint "
                f"'{self.system.mechanism.joint_of_v(k)}'{where} at t = {when:.6g} s; it must be "
                "a finite number"
            )
        return tau


@dataclass
class Track:
    """The track of a run: kept states, and where rows failed."""

    q: Floats  # (rows, kept, nq)
    v: Floats  # (rows, kept, nv)
    failed: Floats  # (rows,) the step that failed, -1 where none did
    remains: Floats  # (rows, nq + nv) the state that it led to
    failed_at: Floats  # (rows,) s, NaN where none did
    ended_at: Floats  # (rows,) s, the last instant that was reached
    torques: Floats | None = None  # (rows, kept, nv) where they cannot be computed afterwards
    causes: dict[int, str] = field(default_factory=dict[int, str])  # rows with another end
    unclosed: set[int] = field(default_factory=set[int])  # rows that ended with a loop open
    overlong: set[int] = field(default_factory=set[int])  # rows whose steps were too long
    events: list[EventRecord] = field(default_factory=list[EventRecord])

    @classmethod
    def begun(cls, request: Request) -> Track:
        """Room for a run, with the first state in its place."""
        m, rows, kept = request.system.mechanism, request.rows, request.grid.kept
        track = cls(
            np.full((rows, kept, m.n_q), np.nan),
            np.full((rows, kept, m.n_v), np.nan),
            np.full(rows, -1.0),
            np.full((rows, m.n_q + m.n_v), np.nan),
            np.full(rows, np.nan),
            np.full(rows, request.grid.duration),
        )
        track.q[:, 0], track.v[:, 0] = request.q0, request.v0
        return track

    def close(self, grid: Grid) -> None:
        """Say when rows failed in equal steps, and forget what was stored after that."""
        for row in np.flatnonzero(self.failed >= 0.0):
            step = int(self.failed[row])
            self.failed_at[row], self.ended_at[row] = (step + 1) * grid.h, step * grid.h
            first = grid.place(step)
            self.q[row, first:], self.v[row, first:] = np.nan, np.nan
            if self.torques is not None:
                self.torques[row, first:] = np.nan
