"""What a simulation gives back."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.arrays import real_array
from linkwork.errors import InputError

if TYPE_CHECKING:
    from linkwork.mechanism.model import Mechanism

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EventRecord:
    """A moment at which an event function crossed zero."""

    name: str
    row: tuple[int, ...]  # of the batch; () for one roll-out
    time: float  # s
    q: Floats  # (nq,)
    v: Floats  # (nv,)


@dataclass(frozen=True, eq=False)
class Simulation:
    """One roll-out, or a batch of any leading shape.

    Shapes: times (n,); q (..., n, nq), v (..., n, nv), torques and energies alike; the rest (...).
    A roll-out that was stopped holds NaN from there on; ``finished`` tells which went to the end,
    ``failed_at`` when the others diverged (s, NaN where none did) and `reason` why.
    """

    mechanism: Mechanism = field(repr=False)
    times: Floats
    q: Floats
    v: Floats
    finished: NDArray[np.bool_]
    failed_at: Floats
    ended_at: Floats  # the last instant that was reached: the duration, a failure or an event
    events: tuple[EventRecord, ...] = ()
    explain: Callable[[int], str] = field(default=lambda _row: "", repr=False)
    later: dict[str, Callable[[], Any]] = field(default_factory=dict, repr=False)

    @cached_property
    def torques(self) -> Floats:
        """The actuators' forces (..., n, nv) at the kept states (N m, N)."""
        return self.later["torques"]()

    @cached_property
    def kinetic_energy(self) -> Floats:
        """(..., n), J."""
        return self.later["kinetic_energy"]()

    @cached_property
    def potential_energy(self) -> Floats:
        """(..., n), J: of the masses in gravity, not of springs."""
        return self.later["potential_energy"]()

    @cached_property
    def energy(self) -> Floats:
        """Kinetic and potential energy together (..., n), J."""
        return self.kinetic_energy + self.potential_energy

    def at(self, t: ArrayLike) -> tuple[Floats, Floats]:
        """Positions and velocities at other instants: (..., k, nq), (..., k, nv) for t (k,).

        One number gives (..., nq), (..., nv). Between two kept states: the cubic through both with
        their velocities, on the group for a floating joint, so the error falls with the fourth
        power of their distance (the third, for velocities).

        Raises: InputError outside the simulated time.
        """
        instants = real_array(t, "t")
        if instants.ndim > 1:
            raise InputError(f"t must be a number or an array (k,), not {instants.shape}")
        end = float(self.times[-1])
        outside = ~((instants >= 0.0) & (instants <= end))
        if np.any(outside):
            worst = float(np.atleast_1d(instants)[np.atleast_1d(outside)][0])
            raise InputError(f"t = {worst:.6g} s lies outside the simulated time, 0 to {end:.6g} s")
        q, v = self.later["between"]()(np.atleast_1d(instants))
        return (q, v) if instants.ndim else (q[..., 0, :], v[..., 0, :])

    @property
    def reason(self) -> str:
        """In words, how it went: of the one roll-out, or of the first that did not finish."""
        if bool(np.all(self.finished)):
            return self.explain(0) if self.finished.ndim == 0 else "finished"
        first = int(np.flatnonzero(~self.finished)[0])
        text = self.explain(first)
        if self.finished.ndim == 0:
            return text
        count = int(np.count_nonzero(~self.finished))
        where = ", ".join(str(k) for k in np.argwhere(~self.finished)[0].tolist())
        return f"{count} of {self.finished.size} did not finish; the first, [{where}]: {text}"

    def reason_for(self, *row: int) -> str:
        """In words, how it went for one roll-out of a batch."""
        return self.explain(int(np.ravel_multi_index(row, self.finished.shape)) if row else 0)

    def plot(
        self,
        joints: str | Sequence[str] | None = None,
        *,
        row: int | tuple[int, ...] | None = None,
    ) -> Any:
        """A matplotlib figure: positions, velocities, forces and energies over time.

        ``joints`` picks some by name; ``row`` picks a roll-out of a batch, by default the first.

        Raises: MissingExtraError where matplotlib is not installed; UnknownNameError, InputError.
        """
        from linkwork.simulation.pictures import picture  # noqa: PLC0415  needs matplotlib

        return picture(self, joints, row)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .npz file (all arrays, by name) or a .csv file (a line for each state).

        The file is written whole or not at all.

        Raises: InputError for another ending, or where the file cannot be written.
        """
        from linkwork.simulation.files import save  # noqa: PLC0415  few need it

        save(self, path)

    def __repr__(self) -> str:
        """A summary that does not print a million states."""
        n, done = self.finished.size, int(np.count_nonzero(self.finished))
        states = f"{self.times.size} state{'s' if self.times.size != 1 else ''}"
        count, ended = "1 roll-out", "finished" if done else "not finished"
        if self.finished.shape:
            count, states = f"{n} roll-out{'s' if n != 1 else ''}", f"{states} each"
            ended = f"{done} finished"
        why = "" if done == n and self.reason == "finished" else f", reason={self.reason!r}"
        return (
            f"Simulation('{self.mechanism.name}': {count} of {self.times[-1]:.6g} s, {states}, "
            f"{ended}{why})"
        )
