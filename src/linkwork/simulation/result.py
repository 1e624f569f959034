"""What a simulation gives back."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import real_array
from linkwork.errors import InputError

if TYPE_CHECKING:
    from linkwork.mechanism.model import Mechanism
    from linkwork.simulation.between import Between
    from linkwork.simulation.outcomes import Outcomes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EventRecord:
    """A moment at which an event function crossed zero."""

    name: str
    row: tuple[int, ...]  # of the batch; () for one roll-out
    time: float  # s
    q: Floats  # (nq,)
    v: Floats  # (nv,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Simulation:
    """One roll-out, or a batch of any leading shape.

    Shapes: times (n,); q (..., n, nq), v (..., n, nv), torques and energies alike; the rest (...),
    and plain numbers for one roll-out. A roll-out that was stopped holds NaN from there on;
    ``finished`` tells which went to the end, ``failed_at`` when the others diverged (s, NaN where
    none did) and `reason` why. The truth of one roll-out is its ``finished``.

    It is data: it can be copied, pickled, and written as JSON (`to_dict`) or to a file (`save`).
    """

    mechanism: Mechanism = field(repr=False)
    times: Floats
    q: Floats
    v: Floats
    finished: bool | NDArray[np.bool_]
    failed_at: float | Floats
    ended_at: float | Floats  # the last instant that was reached: the duration, a failure, an event
    events: tuple[EventRecord, ...] = ()
    outcomes: Outcomes = field(repr=False)
    between: Between = field(repr=False)
    later: dict[str, Callable[[], Any]] = field(repr=False)  # what is computed when asked for

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading shape: () for one roll-out."""
        return self.q.shape[:-2]

    def __bool__(self) -> bool:
        """Whether the roll-out went to its end.

        Raises: InputError for a batch, whose roll-outs have one answer each.
        """
        if self.shape:
            raise InputError(
                f"a batch of roll-outs {self.shape} is not true or false: `.finished` says which "
                "went to the end, `.finished.all()` whether all did"
            )
        return bool(self.finished)

    def __getstate__(self) -> dict[str, Any]:
        # what would be computed later may need functions that nobody can pickle
        numbers = {name: getattr(self, name) for name in self.later}
        return {**vars(self), **numbers, "later": {}}

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
        q, v = self.between(
            self.times, self._flat(self.q), self._flat(self.v), np.atleast_1d(instants)
        )
        q, v = (a.reshape((*self.shape, *a.shape[1:])) for a in (q, v))
        return (q, v) if instants.ndim else (q[..., 0, :], v[..., 0, :])

    @cached_property
    def limit_excess(self) -> Floats:
        """How far positions pass the joints' limits at most (..., nq), m and rad; 0 inside them.

        Of the states that were kept; `reason` says in words when it begins.
        """
        from linkwork.simulation.outcomes import limit_excess  # noqa: PLC0415  it imports this

        return limit_excess(self.mechanism, self.q)

    @cached_property
    def energy_drift(self) -> float | Floats:
        """The largest change of the energy (...), as a share of the largest kinetic energy.

        Of the states that were kept. NaN where something drives, holds or slows the robot: there
        the energy need not stay as it is. `reason` tells of more than 0.01.
        """
        found = np.full(self.shape, np.nan)
        if self.outcomes.system.conserves:
            kinetic, energy = self.kinetic_energy, self.energy
            change = np.fmax.reduce(np.abs(energy - energy[..., :1]), axis=-1)
            # the potential energy has rounding errors of its own size
            floor = 1e-10 * np.fmax.reduce(np.abs(self.potential_energy), axis=-1)
            found = change / np.maximum(np.fmax.reduce(kinetic, axis=-1) + floor, 1e-300)
        return found if self.shape else float(found)

    @cached_property
    def singular_passages(self) -> tuple[EventRecord, ...]:
        """Where a mechanism with loops passes singular configurations, or as near as a state.

        ``name`` is that of the loop, ``q`` and ``v`` are the kept state that is nearest. How the
        motion goes on there, the mechanism does not determine. States that are farther apart than
        0.3 rad (or lengths of the loops) tell nothing.
        """
        q, v = self._flat(self.q), self._flat(self.v)
        found: list[EventRecord] = []
        for row, state, loop in self.outcomes.singular(self.times, q, v):
            index = tuple(int(i) for i in np.unravel_index(row, self.shape)) if self.shape else ()
            moment = float(self.times[state])
            found.append(EventRecord(loop, index, moment, q[row, state], v[row, state]))
        return tuple(found)

    @cached_property
    def reason(self) -> str:
        """In words, how it went, and what it did that a robot does not do.

        Which joints pass their limits, when and by how much; by how much the energy changes where
        nothing changes it; when loops pass singular configurations. Of a batch: how many roll-outs
        do so, and the first of each.
        """
        if not self.shape:
            return self.reason_for()
        parts: list[str] = []
        for rows, what, words in (
            (~np.asarray(self.finished), "did not finish", self._ending),
            (self.limit_excess.any(axis=-1), "pass joint limits", self._beyond_limits),
            (self._drifting(), "gain or lose energy", self._drift),
            (self._singular(), "pass singular configurations", self._passing),
        ):
            count = int(np.count_nonzero(rows))
            if count:
                first = tuple(np.argwhere(rows)[0].tolist())
                where = ", ".join(map(str, first))
                parts.append(f"{count} of {rows.size} {what}; the first, [{where}]: {words(first)}")
        return ". ".join(parts) or "finished"

    def reason_for(self, *row: int) -> str:
        """In words, how it went for one roll-out of a batch, as `reason` tells of one alone."""
        parts = [self._ending(row)]
        if self.limit_excess[row].any():
            parts.append(self._beyond_limits(row))
        if self._drifting()[row]:
            parts.append(self._drift(row))
        if self._singular()[row]:
            parts.append(self._passing(row))
        return "; ".join(parts)

    def _drifting(self) -> NDArray[np.bool_]:
        """Which roll-outs (...) finished with an energy that is not theirs."""
        from linkwork.simulation.outcomes import ENERGY_SHARE  # noqa: PLC0415  it imports this

        return np.asarray(self.finished) & (np.asarray(self.energy_drift) > ENERGY_SHARE)

    def _singular(self) -> NDArray[np.bool_]:
        found = np.zeros(self.shape, np.bool_)
        for passage in self.singular_passages:
            found[passage.row] = True
        return found

    def _drift(self, row: tuple[int, ...]) -> str:
        energy = self.energy[row]
        k = int(np.nanargmax(np.abs(energy - energy[0])))
        change = "gained" if energy[k] > energy[0] else "lost"
        share = 100.0 * float(np.asarray(self.energy_drift)[row])
        return (
            f"the energy, which nothing changes, has {change} {share:.3g} % of the largest kinetic "
            f"energy at t = {self.times[k]:.6g} s: {self.outcomes.too_long}"
        )

    def _passing(self, row: tuple[int, ...]) -> str:
        own = [passage for passage in self.singular_passages if passage.row == row]
        more = f" and {len(own) - 1} times more" if len(own) > 1 else ""
        return (
            f"loop '{own[0].name}' passes a singular configuration at t = {own[0].time:.6g} s"
            f"{more}: how it goes on from there the mechanism does not determine"
        )

    def _ending(self, row: tuple[int, ...]) -> str:
        return self.outcomes(int(np.ravel_multi_index(row, self.shape)) if row else 0)

    def _beyond_limits(self, row: tuple[int, ...]) -> str:
        return self.outcomes.beyond_limits(self.times, self.q[row])

    def _flat(self, a: Floats) -> Floats:
        return a.reshape((-1, *a.shape[-2:]))

    def plot(
        self,
        joints: str | Sequence[str] | None = None,
        *,
        row: int | tuple[int, ...] | None = None,
        figure: Any = None,
    ) -> Any:
        """A matplotlib figure: positions, velocities, forces and energies over time.

        ``joints`` picks some by name; ``row`` picks a roll-out of a batch, by default the first.
        ``plt.show()`` shows it, and so does a notebook; pyplot keeps the last ten. With ``figure``,
        an empty ``matplotlib.figure.Figure``, it is drawn there and pyplot is left alone.

        Raises: MissingExtraError where matplotlib is not installed; UnknownNameError, InputError.
        """
        from linkwork.simulation.pictures import picture  # noqa: PLC0415  needs matplotlib

        return picture(self, joints, row, figure)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .npz file (all arrays, by name) or a .csv file (a line for each state).

        The file is written whole or not at all.

        Raises: InputError for another ending, or where the file cannot be written.
        """
        from linkwork.simulation.files import save  # noqa: PLC0415  few need it

        save(self, path)

    def to_dict(self) -> dict[str, Any]:
        """All numbers by name, as `json` writes them: lists, and None for what is not finite.

        ``q_names`` and ``v_names`` name the columns of q and v.
        """
        from linkwork.simulation.files import plain  # noqa: PLC0415  few need it

        return plain(self)

    def __repr__(self) -> str:
        """A summary that does not print a million states."""
        done = int(np.count_nonzero(self.finished))
        n = int(np.prod(self.shape, dtype=np.int64))
        states = f"{self.times.size} state{'s' if self.times.size != 1 else ''}"
        count, ended = "1 roll-out", "finished" if done else "not finished"
        if self.shape:
            count, states = f"{n} roll-out{'s' if n != 1 else ''}", f"{states} each"
            ended = f"{done} finished"
        why = "" if done == n and self.reason == "finished" else f", reason={self.reason!r}"
        return (
            f"Simulation('{self.mechanism.name}': {count} of {self.times[-1]:.6g} s, {states}, "
            f"{ended}{why})"
        )
