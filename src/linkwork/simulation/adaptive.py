"""Dormand-Prince 5(4): steps as long as the error allows, states at any instant, events.

    trial of all rows, native -> error -> taken: loops closed, events, kept states -> next length
                                       -> refused: a shorter one

Every roll-out has its own steps; those of a batch are made side by side, by the compiled loop that
makes steps of fixed length too (`native_rollout.TrialLoop`). On the group the method integrates
theta, the way from the state that a step begins at (`tangent.py`), and the polynomials of dense
output are those of theta and v.

The estimate of the error knows only the instants that a step looks at. So no step is longer than
`Options.longest_step`, and none crosses a breakpoint, where a function of time may jump: the step
before looks at it just before, the step after just behind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.mechanism.model import Floats
from linkwork.simulation.inputs import Event, Options, Progress, Request, row_name
from linkwork.simulation.integrators import DOPRI5, inside_recipe
from linkwork.simulation.loops import corrected
from linkwork.simulation.result import EventRecord, Track, at_change_point
from linkwork.simulation.tangent import Flags, finite_rows, lengths

if TYPE_CHECKING:
    from linkwork.simulation.time_loop import Library, Work

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
_EXPONENT, _MEMORY = 0.17, 0.04  # of this step's error, and of the one before
_LOOKS = 4  # parts of a step at whose ends events are looked at
_HALVINGS = 60


@dataclass
class _Rows:
    """The steps of every roll-out; its state and its rates stand where native code has them."""

    t: Floats  # (rows,)
    h: Floats  # (rows,) the next step
    before: Floats  # (rows,) the error of the last accepted step
    going: Flags
    refused: Flags  # the last trial was refused
    place: NDArray[np.int64]  # (rows,) the next state to keep
    segment: NDArray[np.int64]  # (rows,) how many breakpoints are behind
    tried: NDArray[np.int64]  # (rows,) steps, with those that were refused
    signs: list[Floats] = field(default_factory=list[Floats])  # of each event, (rows,)


class Adaptive:
    """The steps of one request, which it chooses.

    ``work`` makes trials of all rows at once, so that a function of the user sees the whole batch.
    """

    def __init__(
        self,
        request: Request,
        options: Options,
        library: Library,
        work: Work,
        *,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> None:
        """
        Raises: InputError where ``max_steps`` cannot suffice.
        """
        self.request, self.work, self.progress = request, work, progress
        self.track: Track = work.track
        system, self.mechanism = request.system, request.system.mechanism
        self.events, self.tolerance = options.event_list(), float(options.tolerance)
        self.n_v = self.mechanism.n_v
        self.times, self.end = request.grid.times(), request.grid.duration
        forced = request.torque is not None or bool(request.functions)
        self.longest = options.longest_step(forced=forced)
        self.most = options.most_steps(self.longest)
        # so far beside a breakpoint rounding in the user's function cannot matter
        self.beside = 4.0 * float(np.spacing(self.end))
        jumps = [t for t in options.jumps() if t < self.end]
        self.begins = self.beside if jumps and jumps[0] == 0.0 else 0.0
        self.ends = np.array([*(t for t in jumps if t > 0.0), self.end])
        self.looks = np.array([*(self.ends[:-1] - self.beside), self.end])
        self.sizes = lengths(self.mechanism)
        self._threads, self._constants = threads, request.constants()
        self._inside_of = library.kernel(inside_recipe(self.mechanism))
        self._closer = library.kernel(system.recipe("projection")) if system.closed else None
        n_q, n_v, stages = self.mechanism.n_q, self.n_v, DOPRI5.stages
        self.q, self.v = work.view(0, n_q), work.view(n_q, n_v)
        self.rates = work.view("k0", 2 * n_v * stages)
        self.first, self.last = self.rates[:, : 2 * n_v], self.rates[:, -2 * n_v :]
        self._length, self._wrong = work.view("length", 1), work.view("wrong", 2 * n_v)
        self._next, way = work.view("next", n_q), work.view("way", 2 * n_v)
        self._speed = way[:, n_v:]

    def run(self) -> Track:
        """Steps until no roll-out goes on; a state is kept at each instant of the grid."""
        rows, at = self._begin(), 0.0
        while rows.going.any():
            self._trial(rows)
            if self.progress is not None:
                done = float(np.minimum(np.where(rows.going, rows.t, self.end), self.end).sum())
                if done > at:
                    at = done
                    total = self.end * self.request.rows
                    count = self.request.grid.steps * self.request.rows
                    self.progress(int(count * min(1.0, done / total)), count)
        if self.request.torque is not None:
            self._torques()
        return self.track

    def _begin(self) -> _Rows:
        n = self.request.rows
        t, none = np.zeros(n), np.zeros(n, np.int64)
        rows = _Rows(
            t, np.zeros(n), np.full(n, 1.0e-4), np.full(n, self.end > 0.0),
            np.zeros(n, np.bool_), none + 1, none.copy(), none.copy(),
        )  # fmt: skip
        self.work.begin(t + self.begins)
        rows.h = self._first_step(rows)
        rows.signs = [self._values(event, t) for event in self.events]
        self._end(rows, ~finite_rows(self.first), np.hstack([self.q, self.v]))
        return rows

    def _scale(self, q: Floats, v: Floats) -> Floats:
        """The errors (rows, 2 nv) that are allowed."""
        size = np.where(np.array(self.sizes) < 0, 1.0, np.abs(q[:, self.sizes]))
        return self.tolerance * (1.0 + np.hstack([size, np.abs(v)]))

    def _first_step(self, rows: _Rows) -> Floats:
        """A step to begin with, after Hairer, Norsett and Wanner, II.4.

        The first stage of a step is where Euler's method leads in its share of the step.
        """
        scale = self._scale(self.q, self.v)
        with np.errstate(all="ignore"):
            d0 = np.max(np.abs(np.hstack([self.v * 0.0 + 1.0, self.v])) / scale, axis=1)
            d1 = np.max(np.abs(self.first) / scale, axis=1)
            h = np.where(d1 > 1.0e-5, 0.01 * d0 / d1, 1.0e-6)
            h = np.minimum(np.nan_to_num(h, nan=1.0e-6), min(0.1 * self.looks[0], self.longest))
            self._length[:, 0] = h / DOPRI5.c[1]
            self.work.trial([rows.t + h])
            after = self.rates[:, 2 * self.n_v : 4 * self.n_v]
            d2 = np.max(np.abs(after - self.first) / scale, axis=1) / np.maximum(h, 1.0e-300)
            steepest = np.maximum(d1, d2)
            better = np.where(
                steepest <= 1.0e-15, np.maximum(1.0e-6, 1.0e-3 * h), (0.01 / steepest) ** 0.2
            )
        better = np.nan_to_num(better, nan=1.0e-6)
        return np.minimum(np.minimum(100.0 * h, better), self.end)

    # one trial of every roll-out

    def _trial(self, rows: _Rows) -> None:
        left = self.ends[rows.segment] - rows.t
        h = np.where(rows.going, np.minimum(np.minimum(rows.h, self.longest), left), 0.0)
        # a last step that would leave almost nothing takes it along
        h = np.where(rows.going & (left - h < 1.0e-3 * h), left, h)
        rows.tried += rows.going
        self._length[:, 0] = h
        latest = self.looks[rows.segment]
        self.work.trial([np.minimum(rows.t + c * h, latest) for c in DOPRI5.c[1:]])
        with np.errstate(all="ignore"):
            scale = self._scale(self.q, np.maximum(np.abs(self.v), np.abs(self._speed)))
            error = np.max(np.abs(self._wrong) / scale, axis=1)
        error = np.where(np.isfinite(error), np.maximum(error, 1.0e-10), np.inf)
        taken = rows.going & (error <= 1.0)
        self._next_step(rows, h, error, taken)
        if taken.any():
            self._take(rows, h, taken)
        lost = rows.going & ~taken & (h <= 1.0e-14 * np.maximum(rows.t, self.end * 1.0e-3))
        self._lose(
            rows,
            lost,
            "no step is short enough for the tolerance: joint '{}' accelerates most; the forces "
            "jump (breakpoints= says when) or have no bound there (method='implicit' suits stiff "
            f"forces){at_change_point(self.mechanism)}",
        )
        self._lose(
            rows,
            rows.going & (rows.tried >= self.most),
            f"max_steps = {self.most} are made: the tolerance asks for steps that short; joint "
            "'{}' accelerates most (method='implicit' suits stiff forces; a larger tolerance= or "
            "max_steps= goes on)",
        )

    def _next_step(self, rows: _Rows, h: Floats, error: Floats, taken: Flags) -> None:
        """The proportional-integral control of Gustafsson, as in Hairer, Norsett and Wanner."""
        with np.errstate(all="ignore"):
            factor = SAFETY * error**-_EXPONENT * rows.before**_MEMORY
        factor = np.clip(np.nan_to_num(factor, nan=SHRINK), SHRINK, GROW)
        factor = np.where(taken & rows.refused, np.minimum(factor, 1.0), factor)
        factor = np.where(taken, factor, np.minimum(factor, SAFETY))
        rows.h = np.where(rows.going, h * factor, rows.h)
        rows.before = np.where(taken, np.maximum(error, 1.0e-4), rows.before)
        rows.refused = rows.going & ~taken

    def _take(self, rows: _Rows, h: Floats, taken: Flags) -> None:
        q, v = self._next, self._speed
        ends = self.ends[rows.segment]
        reached = ends - rows.t == h
        t = np.where(reached, ends, rows.t + h)
        if self._closer is not None:
            q, v, closed = self._closed(q, np.where(taken[:, None], v, self.v), t)
            self.track.unclosed.update(np.flatnonzero(taken & ~closed).tolist())
            self._end(rows, taken & ~closed, np.hstack([q, v]))
            taken &= closed
        stopped = self._events(rows, h, taken) if self.events else np.full(h.size, np.inf)
        self._keep(rows, t, h, taken, stopped)
        self.q[taken], self.v[taken], rows.t = q[taken], v[taken], np.where(taken, t, rows.t)
        over = taken & reached & (rows.t < self.end)
        rows.segment += over
        # the rates here are those of the last stage, but of a state that closing loops has moved,
        # and just behind a breakpoint
        n_v, known = self.n_v, np.hstack([self.v, self.last[:, self.n_v :]])
        again = taken if self._closer is not None else over
        known = np.where(taken[:, None], known, self.first)
        if again.any():
            self.work.begin(rows.t + np.where(over, self.beside, 0.0))
            known[again] = self.first[again]
        self.first[:, : 2 * n_v] = known
        ended = taken & np.isfinite(stopped)
        self.track.ended_at[ended] = stopped[ended]
        rows.going &= ~ended & (rows.t < self.end)
        with np.errstate(invalid="ignore"):
            slow = (np.abs(self.v) <= self.request.bound).all(axis=1)
        self._end(rows, taken & ~slow & ~ended, np.hstack([self.q, self.v]))

    def _closed(
        self, q: Floats, v: Floats, t: Floats, only: slice = slice(None)
    ) -> tuple[Floats, Floats, Flags]:
        """The states (rows, ...) with the loops closed, and in which rows that was possible.

        ``only`` tells which rows of the request they are; t has an instant for each row of it.
        """
        if self._closer is None:
            return q, v, np.ones(q.shape[0], np.bool_)
        entering = (self._constants, self.request.controls(t))
        constants, controls = (a[only] if a.shape[0] > 1 else a for a in entering)
        return corrected(self._closer, (q, v), (constants, controls), self._threads)

    def _end(self, rows: _Rows, over: Flags, states: Floats) -> None:
        """End roll-outs where they are; ``states`` (rows, nq + nv) are what they have come to."""
        over = over & (self.track.failed < 0.0)
        self.track.failed[over] = 0.0
        self.track.failed_at[over] = self.track.ended_at[over] = rows.t[over]
        self.track.remains[over] = states[over]
        rows.going &= ~over

    def _lose(self, rows: _Rows, lost: Flags, why: str) -> None:
        """End the roll-outs whose steps are too short or too many; ``why`` takes a joint's name."""
        rates = self.first[:, self.n_v :]
        for row in np.flatnonzero(lost).tolist():
            worst = int(np.argmax(np.abs(np.nan_to_num(rates[row], nan=np.inf))))
            self.track.causes[row] = why.format(self.mechanism.joint_of_v(worst))
        self._end(rows, lost, np.hstack([self.q, rates]))

    # states inside a step

    def _inside(
        self, rows: _Rows, h: Floats, share: Floats, only: slice = slice(None)
    ) -> tuple[Floats, Floats]:
        """The states at shares of the step from where the rows are, or ``only`` these."""
        at = np.stack([share, h[only]], axis=1)
        found = self._inside_of(
            self.q[only], self.v[only], self.rates[only], at, threads=self._threads, on_bad="nan"
        )
        t = rows.t.copy()
        t[only] += share * h[only]
        n_q = self.mechanism.n_q
        return self._closed(found[:, :n_q], found[:, n_q:], t, only)[:2]

    def _keep(self, rows: _Rows, t: Floats, h: Floats, taken: Flags, stop: Floats) -> None:
        """Keep the states at the grid's instants that the step passes, the last one included."""
        while True:
            place = np.minimum(rows.place, self.times.size - 1)
            wanted = self.times[place]
            due = taken & (rows.place < self.times.size) & (wanted <= t) & (wanted <= stop)
            if not due.any():
                return
            with np.errstate(all="ignore"):
                share = np.clip(np.where(due, (wanted - rows.t) / h, 0.0), 0.0, 1.0)
            q, v = self._inside(rows, h, share)
            self.track.q[due, place[due]], self.track.v[due, place[due]] = q[due], v[due]
            rows.place = rows.place + due

    # events

    def _values(self, event: Event, t: Floats) -> Floats:
        """The event's function of every row; NaN for a row that has ended."""
        over = self.track.failed >= 0.0
        found = [
            np.nan if over[k] else self._value(event, k, (float(t[k]), self.q[k], self.v[k]))
            for k in range(t.size)
        ]
        return np.array(found)

    def _value(self, event: Event, row: int, state: tuple[float, Floats, Floats]) -> float:
        t, q, v = state
        given: Any = event.function(t, q.copy(), v.copy())
        try:
            value = float(given)
        except (TypeError, ValueError):
            raise InputError(
                f"{event.name} must return a number, not a {type(given).__name__}"
            ) from None
        if not np.isfinite(value):
            where = f" of row {row_name(self.request.lead, row)}" if self.request.lead else ""
            raise InputError(f"{event.name} returned {value}{where} at t = {t:.6g} s")
        return value

    def _events(self, rows: _Rows, h: Floats, taken: Flags) -> Floats:
        """Find the crossings inside the step; when each roll-out is stopped by one (inf: not)."""
        stop = np.full(h.size, np.inf)
        crossed: list[tuple[int, int, float, float]] = []
        last = 0.0
        for look in range(1, _LOOKS + 1):
            share = look / _LOOKS
            q, v = self._inside(rows, h, np.full(h.size, share))
            t = rows.t + share * h
            for k, event in enumerate(self.events):
                before = rows.signs[k]
                for row in np.flatnonzero(taken).tolist():
                    now = self._value(event, row, (float(t[row]), q[row], v[row]))
                    was = float(before[row])  # one that was zero has not crossed it
                    over = was != 0.0 and (now == 0.0 or (was > 0.0) != (now > 0.0))
                    if over and event.direction in (0, 1 if was < 0.0 else -1):
                        crossed.append((k, row, last, share))
                    before[row] = now
            last = share
        lead, found = self.request.lead, self.track.events
        for k, row, low, high in crossed:
            event = self.events[k]
            moment, q, v = self._crossing(rows, h, (event, row, low, high))
            if event.terminal and moment < stop[row]:
                stop[row] = moment
                self.track.causes[row] = f"stopped by '{event.name}' at t = {moment:.6g} s"
            index = tuple(int(i) for i in np.unravel_index(row, lead)) if lead else ()
            found.append(EventRecord(event.name, index, moment, q, v))
        ends = stop.reshape(lead)
        found[:] = [record for record in found if record.time <= ends[record.row]]
        return stop

    def _crossing(
        self, rows: _Rows, h: Floats, where: tuple[Event, int, float, float]
    ) -> tuple[float, Floats, Floats]:
        """The moment and the state at which the function crosses zero, by halving."""
        event, row, low, high = where

        def state(share: float) -> tuple[float, Floats, Floats]:
            q, v = self._inside(rows, h, np.array([share]), slice(row, row + 1))
            return float(rows.t[row] + share * h[row]), q[0], v[0]

        sign = np.sign(self._value(event, row, state(high)))
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            if np.sign(self._value(event, row, state(middle))) == sign:
                high = middle
            else:
                low = middle
        return state(high)

    def _torques(self) -> None:
        """The user's forces at the kept states, asked for once more."""
        track = self.track
        track.torques = np.full_like(track.v, np.nan)
        for place, t in enumerate(self.times.tolist()):
            q, v = track.q[:, place], track.v[:, place]
            there = finite_rows(q) & finite_rows(v)
            if there.any():
                q = np.where(there[:, None], q, self.request.q0)
                v = np.where(there[:, None], v, self.request.v0)
                found = self.request.torque_in(self.request.controls(t, (q, v)))
                track.torques[there, place] = found[there]
