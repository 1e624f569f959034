"""Dormand-Prince 5(4): steps as long as the error allows, states at any instant, events.

Every roll-out has its own steps; those of a batch are made side by side. On the group the method
integrates theta, the way from the state that a step begins at (`tangent.py`), and the polynomials
of dense output are those of theta and v.

The estimate of the error knows only the instants that a step looks at. So no step is longer than
`Options.longest_step`, and none crosses a breakpoint, where a function of time may jump: the step
before looks at it just before, the step after just behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.mechanism.model import Floats
from linkwork.simulation.inputs import Event, Options
from linkwork.simulation.integrators import DOPRI5
from linkwork.simulation.library import Library
from linkwork.simulation.loops import corrected
from linkwork.simulation.request import Progress, Request, Track, row_name
from linkwork.simulation.result import EventRecord
from linkwork.simulation.tangent import Flags, finite_rows, lengths

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
_EXPONENT, _MEMORY = 0.17, 0.04  # of this step's error, and of the one before
_LOOKS = 4  # parts of a step at whose ends events are looked at
_HALVINGS = 60


def dense_weights(s: Floats) -> Floats:
    """The weights (..., 7) of the stages at the shares s (...) of a step; order 4.

    Source: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed.,
    II.6, after L. F. Shampine (1986).
    """
    b = DOPRI5.b
    whole, part = s * s * (3.0 - 2.0 * s), s * s * (s - 1.0) ** 2
    weights = (
        whole * b[0]
        + s * (s - 1.0) ** 2
        - part * 5.0 * (2558722523.0 - 31403016.0 * s) / 11282082432.0,
        0.0 * s,
        whole * b[2] + part * 100.0 * (882725551.0 - 15701508.0 * s) / 32700410799.0,
        whole * b[3] - part * 25.0 * (443332067.0 - 31403016.0 * s) / 1880347072.0,
        whole * b[4] + part * 32805.0 * (23143187.0 - 3489224.0 * s) / 199316789632.0,
        whole * b[5] - part * 55.0 * (29972135.0 - 7076736.0 * s) / 822651844.0,
        s * s * (s - 1.0) + part * 10.0 * (7414447.0 - 829305.0 * s) / 29380423.0,
    )
    return np.stack(weights, axis=-1)


@dataclass
class _Rows:
    """The state of every roll-out, and its next step."""

    t: Floats  # (rows,)
    q: Floats
    v: Floats
    h: Floats  # (rows,) the next step
    first: Floats  # (rows, 2 nv) the rates here
    before: Floats  # (rows,) the error of the last accepted step
    going: Flags
    refused: Flags  # the last trial was refused
    place: NDArray[np.int64]  # (rows,) the next state to keep
    segment: NDArray[np.int64]  # (rows,) how many breakpoints are behind
    tried: NDArray[np.int64]  # (rows,) steps, with those that were refused
    signs: list[Floats] = field(default_factory=list[Floats])  # of each event, (rows,)


def run_adaptive(
    request: Request,
    options: Options,
    library: Library,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Track:
    """All roll-outs of a request; a state is kept at each instant of its grid.

    Raises: InputError where ``max_steps`` cannot suffice.
    """
    return _Adaptive(_Motion(request, library, threads), options, progress).run()


class _Motion:
    """The compiled equation of motion of a request, always of all its rows: a function of the user
    sees the whole batch."""

    def __init__(self, request: Request, library: Library, threads: int) -> None:
        system = request.system
        self.request, self.mechanism = request, system.mechanism
        self._how: Any = {"threads": threads, "on_bad": "nan"}
        self._stage = library.kernel(system.recipe("stage"))
        self._advance = library.kernel(system.recipe("advance"))
        self._closer = library.kernel(system.recipe("projection")) if system.closed else None
        self._threads, self._constants = threads, request.constants()

    def move(self, q: Floats, theta: Floats) -> Floats:
        """The configurations (rows, nq) that theta (rows, nv) leads to."""
        return self._advance(q, theta, **self._how)

    def rates(
        self, t: Floats, q: Floats, theta: Floats, v: Floats, *, at: Floats | None = None
    ) -> Floats:
        """The rates (rows, 2 nv) at instants (rows,); ``at`` is where theta leads to, if known."""
        if at is None and self.request.torque is not None:
            at = self.move(q, theta)
        controls = self.request.controls(t, (q if at is None else at, v))
        return self._stage(q, theta, v, self._constants, controls, np.zeros((1, 0)), **self._how)

    def closed(
        self, q: Floats, v: Floats, t: Floats, *, only: slice = slice(None)
    ) -> tuple[Floats, Floats, Flags]:
        """The states (rows, ...) with the loops closed, and in which rows that was possible.

        ``only`` tells which rows of the request they are; t (rows,) has one instant for each
        row of it.
        """
        if self._closer is None:
            return q, v, np.ones(q.shape[0], np.bool_)
        controls = self.request.controls(t)
        own = tuple(a[only] if a.shape[0] > 1 else a for a in (self._constants, controls))
        return corrected(self._closer, (q, v), (own[0], own[1]), self._threads)


def _combined(weights: Sequence[float], rates: Sequence[Floats]) -> Floats:
    """The weighted sum of rates (rows, n)."""
    total = np.zeros_like(rates[0])
    for c, rate in zip(weights, rates, strict=False):
        if c != 0.0:
            total = total + c * rate
    return total


class _Adaptive:
    def __init__(self, motion: _Motion, options: Options, progress: Progress | None) -> None:
        self.motion, self.progress = motion, progress
        self.events, self.tolerance = options.event_list(), float(options.tolerance)
        self.request = motion.request
        self.n_v = motion.mechanism.n_v
        self.times = self.request.grid.times()
        self.end = self.request.grid.duration
        forced = self.request.torque is not None or bool(self.request.functions)
        self.longest = options.longest_step(forced=forced)
        self.most = options.most_steps(self.longest)
        # so far beside a breakpoint rounding in the user's function cannot matter
        self.beside = 4.0 * float(np.spacing(self.end))
        jumps = [t for t in options.jumps() if t < self.end]
        self.begins = self.beside if jumps and jumps[0] == 0.0 else 0.0
        self.ends = np.array([*(t for t in jumps if t > 0.0), self.end])
        self.looks = np.array([*(self.ends[:-1] - self.beside), self.end])
        self.track = Track.begun(self.request)
        self.sizes = lengths(motion.mechanism)

    def run(self) -> Track:
        """Steps until no roll-out goes on."""
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
        t, q, v = np.zeros(n), self.request.q0.copy(), self.request.v0.copy()
        first = self.motion.rates(t + self.begins, q, np.zeros_like(v), v, at=q)
        rows = _Rows(
            t, q, v, np.zeros(n), first, np.full(n, 1.0e-4), np.full(n, self.end > 0.0),
            np.zeros(n, np.bool_), np.ones(n, np.int64), np.zeros(n, np.int64),
            np.zeros(n, np.int64),
        )  # fmt: skip
        rows.h = self._first_step(rows)
        rows.signs = [self._values(event, t, q, v) for event in self.events]
        self._end(rows, ~finite_rows(first), np.hstack([q, v]))
        return rows

    def _scale(self, q: Floats, v: Floats) -> Floats:
        """The errors (rows, 2 nv) that are allowed."""
        size = np.where(np.array(self.sizes) < 0, 1.0, np.abs(q[:, self.sizes]))
        return self.tolerance * (1.0 + np.hstack([size, np.abs(v)]))

    def _first_step(self, rows: _Rows) -> Floats:
        """A step to begin with, after Hairer, Norsett and Wanner, II.4."""
        scale = self._scale(rows.q, rows.v)
        with np.errstate(all="ignore"):
            d0 = np.max(np.abs(np.hstack([rows.v * 0.0 + 1.0, rows.v])) / scale, axis=1)
            d1 = np.max(np.abs(rows.first) / scale, axis=1)
            h = np.where(d1 > 1.0e-5, 0.01 * d0 / d1, 1.0e-6)
            h = np.minimum(np.nan_to_num(h, nan=1.0e-6), min(0.1 * self.looks[0], self.longest))
            theta, v = (
                h[:, None] * rows.first[:, : self.n_v],
                rows.v + h[:, None] * rows.first[:, self.n_v :],
            )
            after = self.motion.rates(rows.t + h, rows.q, theta, v)
            d2 = np.max(np.abs(after - rows.first) / scale, axis=1) / np.maximum(h, 1.0e-300)
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
        stages = self._stages(rows, h)
        along = h[:, None] * _combined(DOPRI5.b, stages)
        wrong = h[:, None] * _combined(DOPRI5.error, stages)
        with np.errstate(all="ignore"):
            v = rows.v + along[:, self.n_v :]
            scale = self._scale(rows.q, np.maximum(np.abs(rows.v), np.abs(v)))
            error = np.max(np.abs(wrong) / scale, axis=1)
        error = np.where(np.isfinite(error), np.maximum(error, 1.0e-10), np.inf)
        taken = rows.going & (error <= 1.0)
        self._next_step(rows, h, error, taken)
        if taken.any():
            self._take(rows, h, stages, (along, v, taken))
        lost = rows.going & ~taken & (h <= 1.0e-14 * np.maximum(rows.t, self.end * 1.0e-3))
        if lost.any():
            self._lose(
                rows,
                lost,
                "no step is short enough for the tolerance: joint '{}' accelerates most; the "
                "forces jump (breakpoints= says when) or have no bound there (method='implicit' "
                "suits stiff forces)",
            )
        spent = rows.going & (rows.tried >= self.most)
        if spent.any():
            self._lose(
                rows,
                spent,
                f"max_steps = {self.most} are made: the tolerance asks for steps that short; joint "
                "'{}' accelerates most (method='implicit' suits stiff forces; a larger tolerance= "
                "or max_steps= goes on)",
            )

    def _stages(self, rows: _Rows, h: Floats) -> list[Floats]:
        stages, latest = [rows.first], self.looks[rows.segment]
        for c, row in zip(DOPRI5.c[1:], DOPRI5.a[1:], strict=True):
            along = h[:, None] * _combined(row, stages)
            good = finite_rows(along)
            along = np.where(good[:, None], along, 0.0)
            found = self.motion.rates(
                np.minimum(rows.t + c * h, latest),
                rows.q,
                along[:, : self.n_v],
                rows.v + along[:, self.n_v :],
            )
            stages.append(np.where(good[:, None], found, np.nan))
        return stages

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

    def _take(
        self, rows: _Rows, h: Floats, stages: list[Floats], made: tuple[Floats, Floats, Flags]
    ) -> None:
        along, v, taken = made
        held = np.where(taken[:, None], along[:, : self.n_v], 0.0)
        q = self.motion.move(rows.q, held)
        ends = self.ends[rows.segment]
        reached = ends - rows.t == h
        t = np.where(reached, ends, rows.t + h)
        if self.request.system.closed:
            q, v, closed = self.motion.closed(q, np.where(taken[:, None], v, rows.v), t)
            self.track.unclosed.update(np.flatnonzero(taken & ~closed).tolist())
            self._end(rows, taken & ~closed, np.hstack([q, v]))
            taken &= closed
        stopped = self._events(rows, h, stages, taken) if self.events else np.full(h.size, np.inf)
        self._keep(rows, (t, h, stages), taken, stopped)
        choose = taken[:, None]
        rows.q, rows.v = np.where(choose, q, rows.q), np.where(choose, v, rows.v)
        rows.t = np.where(taken, t, rows.t)
        over = taken & reached & (rows.t < self.end)
        rows.segment += over
        rows.first = np.where(choose, self._rates_after(rows, stages[-1], over), rows.first)
        ended = taken & np.isfinite(stopped)
        self.track.ended_at[ended] = stopped[ended]
        rows.going &= ~ended & (rows.t < self.end)
        with np.errstate(invalid="ignore"):
            slow = (np.abs(rows.v) <= self.request.bound).all(axis=1)
        self._end(rows, taken & ~slow & ~ended, np.hstack([rows.q, rows.v]))

    def _rates_after(self, rows: _Rows, last: Floats, over: Flags) -> Floats:
        """The rates where the rows are, of the last stage.

        But those of a state that closing loops has moved, and just behind a breakpoint (``over``).
        """
        known = np.hstack([rows.v, last[:, self.n_v :]])
        if not (self.request.system.closed or over.any()):
            return known
        t = rows.t + np.where(over, self.beside, 0.0)
        found = self.motion.rates(t, rows.q, np.zeros_like(rows.v), rows.v, at=rows.q)
        return found if self.request.system.closed else np.where(over[:, None], found, known)

    def _end(self, rows: _Rows, over: Flags, states: Floats) -> None:
        """End roll-outs where they are; ``states`` (rows, nq + nv) are what they have come to."""
        over = over & (self.track.failed < 0.0)
        self.track.failed[over] = 0.0
        self.track.failed_at[over] = self.track.ended_at[over] = rows.t[over]
        self.track.remains[over] = states[over]
        rows.going &= ~over

    def _lose(self, rows: _Rows, lost: Flags, why: str) -> None:
        """End the roll-outs whose steps are too short or too many; ``why`` takes a joint's name."""
        rates = rows.first[:, self.n_v :]
        for row in np.flatnonzero(lost).tolist():
            worst = int(np.argmax(np.abs(np.nan_to_num(rates[row], nan=np.inf))))
            self.track.causes[row] = why.format(self.motion.mechanism.joint_of_v(worst))
        self._end(rows, lost, np.hstack([rows.q, rates]))

    # states inside a step

    def _inside(
        self,
        rows: _Rows,
        h: Floats,
        stages: list[Floats],
        s: Floats,
        only: slice = slice(None),
    ) -> tuple[Floats, Floats]:
        """The states at the shares s of the step from where the rows are, or ``only`` these."""
        weights, own = dense_weights(s), h[only]
        total = np.zeros_like(rows.first[only])
        for k, stage in enumerate(stages):
            total = total + weights[:, k : k + 1] * np.nan_to_num(stage[only])
        along = own[:, None] * total
        q = self.motion.move(rows.q[only], along[:, : self.n_v])
        v = rows.v[only] + along[:, self.n_v :]
        t = rows.t.copy()
        t[only] += s * own
        return self.motion.closed(q, v, t, only=only)[:2]

    def _keep(
        self, rows: _Rows, step: tuple[Floats, Floats, list[Floats]], taken: Flags, stop: Floats
    ) -> None:
        """Keep the states at the grid's instants that the step passes, the last one included."""
        t, h, stages = step
        while True:
            place = np.minimum(rows.place, self.times.size - 1)
            wanted = self.times[place]
            due = taken & (rows.place < self.times.size) & (wanted <= t) & (wanted <= stop)
            if not due.any():
                return
            with np.errstate(all="ignore"):
                s = np.clip(np.where(due, (wanted - rows.t) / h, 0.0), 0.0, 1.0)
            q, v = self._inside(rows, h, stages, s)
            self.track.q[due, place[due]], self.track.v[due, place[due]] = q[due], v[due]
            rows.place = rows.place + due

    # events

    def _values(self, event: Event, t: Floats, q: Floats, v: Floats) -> Floats:
        """The event's function of every row; NaN for a row that has ended."""
        over = self.track.failed >= 0.0
        found = [
            np.nan if over[k] else self._value(event, k, (float(t[k]), q[k], v[k]))
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

    def _events(self, rows: _Rows, h: Floats, stages: list[Floats], taken: Flags) -> Floats:
        """Find the crossings inside the step; when each roll-out is stopped by one (inf: not)."""
        stop = np.full(h.size, np.inf)
        crossed: list[tuple[int, int, float, float]] = []
        last = np.zeros(h.size)
        for look in range(1, _LOOKS + 1):
            s = np.full(h.size, look / _LOOKS)
            q, v = self._inside(rows, h, stages, s)
            t = rows.t + s * h
            for k, event in enumerate(self.events):
                before = rows.signs[k]
                for row in np.flatnonzero(taken).tolist():
                    now = self._value(event, row, (float(t[row]), q[row], v[row]))
                    if _crosses(float(before[row]), now, event.direction):
                        crossed.append((k, row, float(last[row]), float(s[row])))
                    rows.signs[k][row] = now
            last = s
        for k, row, low, high in crossed:
            share = self._crossing(rows, h, stages, (k, row, low, high))
            moment = float(rows.t[row] + share * h[row])
            if self.events[k].terminal and moment < stop[row]:
                stop[row] = moment
                self.track.causes[row] = f"stopped by '{self.events[k].name}' at t = {moment:.6g} s"
            self._record(rows, h, stages, (k, row, share))
        self.track.events[:] = [e for e in self.track.events if not self._is_after(e, stop)]
        return stop

    def _is_after(self, event: EventRecord, stop: Floats) -> bool:
        row = int(np.ravel_multi_index(event.row, self.request.lead)) if event.row else 0
        return event.time > stop[row]

    def _state(
        self, rows: _Rows, h: Floats, stages: list[Floats], row: int, share: float
    ) -> tuple[float, Floats, Floats]:
        q, v = self._inside(rows, h, stages, np.array([share]), slice(row, row + 1))
        return float(rows.t[row] + share * h[row]), q[0], v[0]

    def _crossing(
        self, rows: _Rows, h: Floats, stages: list[Floats], where: tuple[int, int, float, float]
    ) -> float:
        """The share of the step at which the function crosses zero, by halving."""
        k, row, low, high = where
        event = self.events[k]
        sign = np.sign(self._value(event, row, self._state(rows, h, stages, row, high)))
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            value = self._value(event, row, self._state(rows, h, stages, row, middle))
            if np.sign(value) == sign:
                high = middle
            else:
                low = middle
        return high

    def _record(
        self, rows: _Rows, h: Floats, stages: list[Floats], where: tuple[int, int, float]
    ) -> None:
        k, row, share = where
        t, q, v = self._state(rows, h, stages, row, share)
        lead = self.request.lead
        index = tuple(int(i) for i in np.unravel_index(row, lead)) if lead else ()
        self.track.events.append(EventRecord(self.events[k].name, index, t, q, v))

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


def _crosses(before: float, now: float, direction: int) -> bool:
    """Whether a function that was ``before`` has crossed zero; one that was zero has not."""
    if before == 0.0 or ((before > 0.0) == (now > 0.0) and now != 0.0):
        return False
    return direction in (0, 1 if before < 0.0 else -1)
