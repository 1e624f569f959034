"""Results of simulations: kept states and what follows from them, states between two, and messages
about how each roll-out went."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.configuration import difference
from linkwork.atomic import replacing
from linkwork.checks import plain, real_array
from linkwork.compile.recipe import algorithm_recipe, expression_recipe
from linkwork.errors import InputError
from linkwork.formats.urdf.read import Document
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.mechanism.named_positions import labels
from linkwork.mechanism.position_limits import angle_beyond
from linkwork.ops.protocol import Block, Ops
from linkwork.simulation.equation_of_motion import System, is_payload
from linkwork.simulation.loops import OpenLoops, corrected, singular_passages
from linkwork.simulation.tangent import Flags, finite_rows, moved
from linkwork.spatial import se3, so3

if TYPE_CHECKING:
    from linkwork.simulation.inputs import Grid, Request
    from linkwork.simulation.time_loop import Library


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
    outcomes: Outcomes = field(repr=False)  # what is computed when asked for
    document: Document | None = field(default=None, repr=False)  # with what the robot looks like

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
        later = ("torques", "kinetic_energy", "potential_energy")
        return {**vars(self), **{name: getattr(self, name) for name in later}}

    @cached_property
    def torques(self) -> Floats:
        """The actuators' forces (..., n, nv) at the kept states (N m, N)."""
        return self.outcomes.shaped(self.outcomes.torques())

    @cached_property
    def kinetic_energy(self) -> Floats:
        """(..., n), J."""
        return self.outcomes.shaped(self.outcomes.of_states("kinetic_energy"))

    @cached_property
    def potential_energy(self) -> Floats:
        """(..., n), J: of the masses in gravity, not of springs."""
        return self.outcomes.shaped(self.outcomes.of_states("potential_energy"))

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
        q, v = self.outcomes.between(
            self.times, self._flat(self.q), self._flat(self.v), np.atleast_1d(instants)
        )
        q, v = (a.reshape((*self.shape, *a.shape[1:])) for a in (q, v))
        return (q, v) if instants.ndim else (q[..., 0, :], v[..., 0, :])

    @cached_property
    def limit_excess(self) -> Floats:
        """The farthest that positions pass the joints' limits (..., nq), m and rad; 0 inside them.

        Of the states that were kept; `reason` says in words when it begins.
        """
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
        """Passages of singular configurations of a mechanism with loops, or as near as a state.

        ``name`` is that of the loop, ``q`` and ``v`` are the kept state that is nearest. How the
        motion goes on there, the mechanism does not determine. States that are farther apart than
        0.3 rad (or lengths of the loops) tell nothing.
        """
        if not self.outcomes.system.closed:
            return ()
        q, v, library = self._flat(self.q), self._flat(self.v), self.outcomes.library
        found: list[EventRecord] = []
        for row, state, loop in singular_passages(self.mechanism, library, self.times, q, v):
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
        """Whether each roll-out (...) finished with an energy that is not its own."""
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
        from linkwork.simulation.pictures import picture  # noqa: PLC0415  an extra

        return picture(self, joints, row, figure)

    def animate(self, *, row: int | tuple[int, ...] | None = None, **how: Any) -> Any:
        """A page in the browser with the robot on its way through one roll-out.

        ``row`` picks a roll-out of a batch, by default the first. ``how``: as `Robot.animate`.

        Raises: InputError for a row that is not there; as `Robot.animate`.
        """
        from linkwork.robot import Robot  # noqa: PLC0415  not all need it

        return Robot(self.mechanism, self.document).animate(self, row=row, **how)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .npz file (all arrays, by name) or a .csv file (a line for each state).

        The file is written whole or not at all.

        Raises: InputError for another ending, or where the file cannot be written.
        """
        name = Path(path)
        kind = name.suffix.lower()
        if kind == ".npz":
            with replacing(name) as file:
                arrays = contents(self)
                np.savez_compressed(file, **arrays)  # pyright: ignore[reportArgumentType]
        elif kind == ".csv":
            with replacing(name) as file:
                text = TextIOWrapper(file, encoding="utf-8", newline="")
                lines = csv.writer(text, lineterminator="\n")
                lines.writerow(header(self))
                lines.writerows(_lines(self))
                text.flush()
                text.detach()
        else:
            raise InputError(f"{path}: the name of the file to write must end in .npz or .csv")

    def to_dict(self) -> dict[str, Any]:
        """All numbers by name, as `json` writes them: lists, and None for what is not finite.

        ``q_names`` and ``v_names`` name the columns of q and v.
        """
        m, arrays = self.mechanism, contents(self)
        del arrays["joint_names"]
        names = ("energy", "limit_excess", "energy_drift")
        arrays |= {name: getattr(self, name) for name in names}
        return {
            "robot": m.name,
            "q_names": labels(m, velocities=False),
            "v_names": labels(m, velocities=True),
            **{name: _listed(a) for name, a in arrays.items()},
            "events": _records(self.events),
            "singular_passages": _records(self.singular_passages),
            "reason": self.reason,
        }

    def _repr_html_(self) -> str:
        from linkwork.view.reprs import simulation_html  # noqa: PLC0415  for notebooks

        return simulation_html(self)

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


def row_index(simulation: Simulation, row: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """The place of a roll-out in its batch, by default of the first: () for one alone.

    Raises: InputError where there is none.
    """
    shape = simulation.shape
    size = int(np.prod(shape, dtype=np.int64))
    if row is None:
        return (0,) * len(shape)
    if not shape:
        if row in (0, ()):
            return ()
        raise InputError(f"there is no roll-out {row!r}: this is one, not a batch; leave out row")
    if isinstance(row, tuple):
        fits = len(row) == len(shape)
        given = row if fits and all(0 <= k < n for k, n in zip(row, shape, strict=True)) else None
    else:
        given = np.unravel_index(row, shape) if 0 <= row < size else None
    if given is None:
        raise InputError(f"there is no roll-out {row!r}: the batch has the shape {shape}")
    return tuple(int(k) for k in given)


# messages about how roll-outs went

LIMIT_TOLERANCE = 1.0e-9
"""So far (m, rad) beyond a limit is at it."""

ENERGY_SHARE = 0.01
"""A share of the largest kinetic energy: a drift of the energy beyond it is told."""

_MOST_NAMED = 3


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
        # q and v in one allocation: two would be given back to the system, and taken anew, by turns
        states = np.full(rows * kept * (m.n_q + m.n_v), np.nan)
        n = rows * kept * m.n_q
        track = cls(
            states[:n].reshape(rows, kept, m.n_q),
            states[n:].reshape(rows, kept, m.n_v),
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
            first = -(-(step + 1) // grid.every)  # the place of the state after this step
            for kept in (self.q, self.v, self.torques):
                if kept is not None:
                    kept[row, first:] = np.nan


@dataclass(eq=False)
class Outcomes:
    """A run and what follows from it: energies and forces, messages about ends, states between.

    ``method`` is that of integration.
    """

    request: Request
    track: Track
    method: str
    library: Library
    threads: int

    def __getstate__(self) -> dict[str, Any]:
        # the states are those of the `Simulation`; functions of the user cannot be pickled
        none = np.zeros((0, 0, 0))
        return {
            **vars(self),
            "entering": self.entering,
            "track": replace(self.track, q=none, v=none, torques=None),
            "request": replace(self.request, functions={}, torque=None),
        }

    @property
    def system(self) -> System:
        """The mechanism and what acts on it."""
        return self.request.system

    @cached_property
    def entering(self) -> tuple[Floats, Floats]:
        """Constants and controls (rows or 1, n) that the projection on loops looks at."""
        return self.request.constants(), self.request.controls(0.0)

    def shaped(self, a: Any) -> Any:
        """Numbers (rows, ...) in the leading shape of the request."""
        return plain(a.reshape((*self.request.lead, *a.shape[1:])))

    def simulation(self) -> Simulation:
        """The result."""
        track = self.track
        shaped = (track.q, track.v, np.isnan(track.failed_at), track.failed_at, track.ended_at)
        names = ("q", "v", "finished", "failed_at", "ended_at")
        return Simulation(
            mechanism=self.system.mechanism,
            times=self.request.grid.times(),
            **dict(zip(names, map(self.shaped, shaped), strict=True)),
            events=tuple(sorted(track.events, key=lambda e: (e.row, e.time))),
            outcomes=self,
        )

    # numbers of the kept states

    def _filled(self) -> tuple[Floats, Floats, Flags]:
        """The kept states, with the first state where there is none, and where that is."""
        q, v = self.track.q, self.track.v
        none = ~(finite_rows(q) & finite_rows(v))
        q = np.where(none[..., None], q[:, :1], q)
        return q, np.where(none[..., None], v[:, :1], v), none

    def of_states(self, name: str) -> Floats:
        """An energy of the kept states (rows, kept)."""
        q, v, none = self._filled()
        more = "armature" if name == "kinetic_energy" else "gravity"
        entries = (*self.system.constants, *self.system.controls)
        named = tuple(x.name for x in entries if x.name == more or is_payload(x.name))
        kernel = self.library.kernel(algorithm_recipe(name, self.system.mechanism, named))
        inputs = [q, v] if name == "kinetic_energy" else [q]
        inputs += [self._entering(x) for x in named]
        found = kernel(*inputs, threads=self.threads).reshape(none.shape)
        found[none] = np.nan
        return found

    def _entering(self, name: str) -> Floats:
        """A quantity at the kept states, (rows or 1, kept or 1, size)."""
        request = self.request
        if name in request.values:
            value = request.values[name]
            return value[None, None] if value.ndim == 1 else value[:, None]
        found = [request.functions[name](float(t)) for t in request.grid.times()]
        rows = max(1 if a.ndim == 1 else a.shape[0] for a in found)
        return np.stack([np.broadcast_to(a, (rows, a.shape[-1])) for a in found], axis=1)

    def torques(self) -> Floats:
        """The actuators' forces (rows, kept, nv)."""
        if self.track.torques is not None:
            return self.track.torques
        q, v, none = self._filled()
        parts: list[Floats] = []
        for entries in (self.system.constants, self.system.controls):
            blocks = [self._entering(e.name) for e in entries]
            lead = np.broadcast_shapes((1, 1), *[b.shape[:2] for b in blocks])
            spread = [np.broadcast_to(b, (*lead, b.shape[2])) for b in blocks]
            parts.append(np.concatenate(spread, axis=2) if spread else np.zeros((1, 1, 0)))
        kernel = self.library.kernel(self.system.recipe("torque"))
        found = kernel(q, v, *parts, threads=self.threads)
        found[none] = np.nan
        return found

    # messages

    @property
    def too_long(self) -> str:
        """Advice on steps that are too long for a motion."""
        how = {
            "dopri5": "a smaller tolerance, or max_step",
            "implicit": "a smaller dt",
            "rk4": "a smaller dt, or method='implicit' for stiff forces",
            "euler": "a smaller dt, method='rk4', or method='implicit' for stiff forces",
        }
        return f"the steps are too long for this motion (take {how[self.method]})"

    def __call__(self, row: int) -> str:
        """The end of one roll-out, counted flat, in words."""
        track = self.track
        if np.isnan(track.failed_at[row]):
            return track.causes.get(row, "finished")
        when = f"at t = {track.failed_at[row]:.6g} s"
        if row in track.causes:
            return f"{when} {track.causes[row]}"
        remains = track.remains[row]
        n_q = self.system.mechanism.n_q
        q, v = remains[:n_q], remains[n_q:]
        if row in track.unclosed and np.isfinite(remains).all():
            gap = self.library.kernel(self.system.recipe("gaps"))(q, v)
            return f"{when} {OpenLoops(self.system.mechanism).left_open(gap, self.too_long)}"
        return f"{when} {self._diverged(q, v)}"

    def beyond_limits(self, times: Floats, q: Floats) -> str:
        """The joints of one roll-out that pass limits, when and by how much; "" where none does.

        Shapes: times (n,), q (n, nq); states that are not there are NaN.
        """
        m = self.system.mechanism
        beyond = limit_excess(m, q[None])[0]
        found: list[str] = []
        for k in np.flatnonzero(beyond > 0.0).tolist():
            c = m.coordinate_of_q(k)
            if np.isfinite(m.angle_limit[c]):
                first = times[int(np.argmax(angle_beyond(m, q, c) > LIMIT_TOLERANCE))]
                found.append(
                    f"joint '{m.joint_names[c]}' turns beyond the limit of its angle of "
                    f"{m.angle_limit[c]:.6g} rad at t = {first:.6g} s, by up to {beyond[k]:.3g} rad"
                )
                continue
            limits = (("upper", m.upper[k], q[:, k]), ("lower", -m.lower[k], -q[:, k]))
            side, limit, positions = max(limits, key=lambda x: np.nanmax(x[2]) - x[1])
            first = times[int(np.argmax(positions > limit + LIMIT_TOLERANCE))]
            unit = "m" if m.joint_types[c] is JointType.PRISMATIC else "rad"
            found.append(
                f"joint '{m.joint_of_q(k)}' passes its {side} limit of "
                f"{limit if side == 'upper' else -limit:.6g} {unit} at t = {first:.6g} s, by up to "
                f"{beyond[k]:.3g} {unit}"
            )
        if len(found) > _MOST_NAMED:
            found[_MOST_NAMED:] = [f"and {len(found) - _MOST_NAMED} more"]
        if found and not self.system.stopped:
            found[-1] += " (stops=True lets limits push back)"
        return "; ".join(found)

    def between(
        self, times: Floats, q: Floats, v: Floats, instants: Floats
    ) -> tuple[Floats, Floats]:
        """States (rows, k, nq) and (rows, k, nv) at instants (k,), from those that were kept.

        Shapes: times (n,), q (rows, n, nq), v (rows, n, nv).
        """
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
        m, size = self.system.mechanism, first.shape[-1]
        recipe = expression_recipe(
            ("simulation", m.digest, "between"),
            "between",
            {"first": size, "second": size, "at": 2},
            lambda o, *blocks: {"between": between(o, m, *blocks)},
        )
        kernel = self.library.kernel(recipe)
        found = kernel(first, second, np.stack([share, length], axis=1), threads=self.threads)
        if self.system.closed:
            found = self._closed(found)
        found[none] = np.nan
        return found[..., :n_q], found[..., n_q:]

    def _closed(self, states: Floats) -> Floats:
        """States (rows, k, nq + nv) on the loops, where they are near enough."""
        n_q = self.system.mechanism.n_q
        rows, k, size = states.shape
        kernel = self.library.kernel(self.system.recipe("projection"))
        spread = [
            np.repeat(np.broadcast_to(a, (rows, a.shape[1])), k, axis=0) for a in self.entering
        ]
        flat = states.reshape(-1, size)
        q, v, good = corrected(
            kernel, (flat[:, :n_q], flat[:, n_q:]), (spread[0], spread[1]), self.threads
        )
        return np.where(good[:, None], np.hstack([q, v]), flat).reshape(states.shape)

    def _diverged(self, q: Floats, v: Floats) -> str:
        m = self.system.mechanism
        for values, joint in ((v, m.joint_of_v), (q, m.joint_of_q)):
            bad = np.flatnonzero(~np.isfinite(values))
            if bad.size:
                name = joint(int(bad[0]))
                return (
                    f"joint '{name}' is no finite number any more: {self.too_long}, or nothing "
                    f"bounds it{at_change_point(m, name)}"
                )
        worst = int(np.argmax(np.abs(v)))
        unit = "m/s" if m.kinds_of_v[worst] == "length" else "rad/s"
        speed = f"{abs(v[worst]):.3g} {unit}"
        most = f"max_speed = {self.request.bound:.3g}"
        name = m.joint_of_v(worst)
        return (
            f"joint '{name}' moves at {speed}, above {most}: {self.too_long}, or nothing bounds it"
            f"{at_change_point(m, name)}"
        )


def at_change_point(m: Mechanism, joint: str | None = None) -> str:
    """The last words of a reason for numbers without bound: of loops that may lose rank.

    The loops through ``joint`` are named where it is given.
    """
    if not m.is_closed:
        return ""
    through: list[str] = []
    for loop in m.loops:
        sides = [{*m.coordinates_moving(m.frame(f))} for f in (loop.frame_a, loop.frame_b)]
        if joint is not None and m.joint(joint) in sides[0] ^ sides[1]:
            through.append(f"'{loop.name}'")
    if not through or len(through) > _MOST_NAMED:
        return ", or the loops have come to a change point"
    if len(through) == 1:
        return f", or the loop {through[0]} has come to a change point"
    return f", or the loops {', '.join(through)} have come to a change point"


def limit_excess(m: Mechanism, q: Floats) -> Floats:
    """The farthest that positions (..., n, nq) pass the joints' limits (..., nq), m and rad.

    Zero inside the limits, and where it is rounding; NaN does not count. How far a spherical joint
    turns beyond its angle stands at the first of its numbers.
    """
    above = np.fmax.reduce(q, axis=-2) - m.upper
    below = m.lower - np.fmin.reduce(q, axis=-2)
    most = np.fmax(above, below)
    for c in np.flatnonzero(np.isfinite(m.angle_limit)).tolist():
        most[..., int(m.q_start[c])] = np.fmax.reduce(angle_beyond(m, q, c), axis=-1)
    return np.where(most > LIMIT_TOLERANCE, most, 0.0)


# states between two that are known: the cubic through both with their velocities


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
    begins, ends = h * v0, h * _right_jacobian(o, m, way, v1, inverse=True)
    s2, s3 = s * s, s * s * s
    theta = (3.0 * s2 - 2.0 * s3) * way + (s3 - 2.0 * s2 + s) * begins + (s3 - s2) * ends
    slope = (
        (6.0 * s - 6.0 * s2) * way
        + (3.0 * s2 - 4.0 * s + 1.0) * begins
        + (3.0 * s2 - 2.0 * s) * ends
    )
    v = _right_jacobian(o, m, theta, slope * (1.0 / h), inverse=False)
    return o.concat([moved(o, m, q0, theta), v])


def _right_jacobian(o: Ops, m: Mechanism, theta: Block, x: Block, *, inverse: bool) -> Block:
    """The velocity at a rate x of theta: the right Jacobian of the exponential times it.

    ``inverse``: the rate of theta at a velocity.
    """
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


# files


def contents(simulation: Simulation) -> dict[str, Any]:
    """The arrays of a .npz file; names are those of `Simulation`."""
    return {
        "times": simulation.times,
        "q": simulation.q,
        "v": simulation.v,
        "torques": simulation.torques,
        "kinetic_energy": simulation.kinetic_energy,
        "potential_energy": simulation.potential_energy,
        "finished": simulation.finished,
        "failed_at": simulation.failed_at,
        "ended_at": simulation.ended_at,
        "joint_names": np.array(simulation.mechanism.joint_names),
    }


def _records(events: Sequence[EventRecord]) -> list[dict[str, Any]]:
    return [
        {**vars(event), "row": list(event.row), "q": _listed(event.q), "v": _listed(event.v)}
        for event in events
    ]


def _listed(a: Any) -> Any:
    """Python's own numbers in lists; None for those that are not finite."""
    array = np.asarray(a)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        array = np.where(np.isfinite(array), array, None)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return array.tolist()


def header(simulation: Simulation) -> list[str]:
    """The columns of a .csv file."""
    m = simulation.mechanism
    q, v = labels(m, velocities=False), labels(m, velocities=True)
    row = ["row"] if simulation.shape else []
    names = [*[f"q {x}" for x in q], *[f"v {x}" for x in v], *[f"torque {x}" for x in v]]
    return [*row, "time", *names, "kinetic energy", "potential energy"]


def _lines(simulation: Simulation) -> Iterator[list[Any]]:
    """The lines of a .csv file, the roll-outs of a batch one after the other."""
    batch = bool(simulation.shape)
    for number, row in enumerate(np.ndindex(simulation.shape)):
        parts = (simulation.q[row], simulation.v[row], simulation.torques[row])
        energies = (simulation.kinetic_energy[row], simulation.potential_energy[row])
        table = np.column_stack([simulation.times, *parts, *energies])
        for line in table.tolist():
            yield [number, *line] if batch else line
