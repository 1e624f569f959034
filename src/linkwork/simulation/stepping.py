"""Fixed steps from Python: the way of forces that are functions of the state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from linkwork.simulation.drive import Drive, Friction
from linkwork.simulation.implicit_texts import FRICTION, no_solution
from linkwork.simulation.request import Progress, Request, Track
from linkwork.simulation.steppers import WATCHED, Method
from linkwork.simulation.stops import bounds

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def run_steps(drive: Drive, method: Method, *, progress: Progress | None = None) -> Track:
    """All steps of a request by an explicit method; every stage calls the forces for all rows."""
    request, grid = drive.request, drive.request.grid
    track = Track.begun(request)
    track.torques = np.full((request.rows, grid.kept, drive.mechanism.n_v), np.nan)
    q, v = request.q0.copy(), request.v0.copy()
    for step in range(grid.steps):
        t = step * grid.h
        kept = (step % grid.every == 0, track.torques[:, step // grid.every])
        *reached, good = _step(drive, method, t, (q, v), kept)
        after = reached[0], reached[1]
        note_failures(track, request, after, step)
        note_unsolved(track, request, after, step, ~good, FRICTION)
        if request.system.stiff:
            _note_overlong(drive, method, track, (q, v), after, step)
        after = close_loops(drive, track, after, step)
        alive = track.failed < 0.0
        q, v = np.where(alive[:, None], after[0], q), np.where(alive[:, None], after[1], v)
        if grid.keeps(step):
            place = grid.place(step)
            track.q[alive, place], track.v[alive, place] = q[alive], v[alive]
        if progress is not None:
            progress((step + 1) * request.rows, grid.steps * request.rows)
        if not alive.any():
            break
    _last_torques(drive, track, q, v)
    track.close(grid)
    return track


def _step(
    drive: Drive, method: Method, t: float, state: tuple[Floats, Floats], kept: tuple[bool, Floats]
) -> tuple[Floats, Floats, Flags]:
    """The state after a step, and in which rows its friction has a solution."""
    q, v = state
    h, n_v = drive.request.grid.h, drive.mechanism.n_v
    rates: list[Floats] = []
    rubbing: Friction | None = None
    held, good = None, np.ones(v.shape[0], np.bool_)
    for i, row in enumerate(method.a):
        along = h * combined(row, rates, v.shape[0], 2 * n_v)
        found, controls = drive.rates(
            t + method.c[i] * h,
            q,
            along[:, :n_v],
            v + along[:, n_v:],
            at=None if i else q,
            held=held,
        )
        if i == 0 and kept[0] and drive.request.torque is not None:
            kept[1][...] = torque_of(drive, controls)
        if i == 0 and drive.request.system.rubbing:
            rubbing = drive.friction(q, v, controls)
            held, _, good = rubbing.settled(v + h * found[:, n_v:])
            found[:, n_v:] += rubbing.accelerations(held)
        rates.append(found)
    along = h * combined(method.b, rates, v.shape[0], 2 * n_v)
    theta, after = along[:, :n_v], v + along[:, n_v:]
    if method.symplectic:
        return drive.move(q, h * after), after, good
    if rubbing is not None and held is not None:
        free = after - h * rubbing.accelerations(held)
        new, detours, again = rubbing.settled(free, held)
        after = after + h * rubbing.accelerations(new - held)
        theta = theta + h * h * rubbing.accelerations(0.5 * (new - held) + detours)
        good = good & again
    return drive.move(q, theta), after, good


def _note_overlong(
    drive: Drive,
    method: Method,
    track: Track,
    before: tuple[Floats, Floats],
    after: tuple[Floats, Floats],
    step: int,
) -> None:
    """End the roll-outs whose step is too long for what drives and stops do."""
    h, system = drive.request.grid.h, drive.request.system
    due = np.full(before[0].shape[0], step % WATCHED == 0)
    for at_q, at_v, lower, upper in bounds(system.mechanism, system.stopped):
        ahead = before[0][:, at_q] + h * before[1][:, at_v]
        due |= (ahead < lower) | (ahead > upper)
    if not due.any():
        return
    rates = drive.stiffness(step * h, *before, (after[1] - before[1]) / h)
    with np.errstate(invalid="ignore"):
        fast = (h * rates[:, 0] > method.damped) | (h * h * rates[:, 1] > method.sprung)
    fresh = due & fast & (track.failed < 0.0)
    track.failed[fresh] = float(step)
    track.remains[fresh] = np.hstack(after)[fresh]
    track.overlong.update(np.flatnonzero(fresh).tolist())


def combined(weights: Sequence[float], rates: Sequence[Floats], rows: int, size: int) -> Floats:
    """The weighted sum of rates (rows, size); zero without any."""
    total = np.zeros((rows, size))
    for c, rate in zip(weights, rates, strict=False):
        if c != 0.0:
            total = total + c * rate
    return total


def torque_of(drive: Drive, controls: Floats) -> Floats:
    """The user's forces among the controls."""
    at = 0
    for entry in drive.request.system.controls:
        if entry.name == "torque":
            return controls[:, at : at + entry.size]
        at += entry.size
    return np.zeros((controls.shape[0], drive.mechanism.n_v))


def note_unsolved(
    track: Track,
    request: Request,
    after: tuple[Floats, Floats],
    step: int,
    rows: Flags,
    what: str = "",
) -> None:
    """End the roll-outs among these rows whose step has no solution; see `no_solution`."""
    fresh = rows & (track.failed < 0.0)
    track.failed[fresh] = float(step)
    track.remains[fresh] = np.hstack(after)[fresh]
    for row in np.flatnonzero(fresh).tolist():
        track.causes[row] = no_solution(request.system.mechanism, track.remains[row], what)


def note_failures(track: Track, request: Request, after: tuple[Floats, Floats], step: int) -> None:
    """Note the rows that have just become too fast, or are no numbers any more."""
    q, v = after
    with np.errstate(invalid="ignore"):
        good = (np.abs(v) <= request.bound).all(axis=1) & (np.abs(q) <= 1.0e300).all(axis=1)
    fresh = ~good & (track.failed < 0.0)
    track.failed[fresh] = float(step)
    track.remains[fresh] = np.hstack([q, v])[fresh]


def close_loops(
    drive: Drive, track: Track, after: tuple[Floats, Floats], step: int
) -> tuple[Floats, Floats]:
    """The states after a step with the loops closed; rows in which they stay open are noted."""
    if not drive.request.system.closed:
        return after
    q, v, closed = drive.closed(*after, (step + 1) * drive.request.grid.h)
    wrong = ~closed & (track.failed < 0.0)
    track.failed[wrong] = float(step)
    track.remains[wrong] = np.hstack(after)[wrong]
    track.unclosed.update(np.flatnonzero(wrong).tolist())
    return q, v


def _last_torques(drive: Drive, track: Track, q: Floats, v: Floats) -> None:
    """The forces at the last state, which no step begins from."""
    if drive.request.torque is None or track.torques is None:
        track.torques = None
        return
    grid = drive.request.grid
    track.torques[:, -1] = torque_of(drive, drive.controls(grid.duration, q, v))
