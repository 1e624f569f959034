"""Implicit steps: Newton's iteration on the generalised-alpha method, for stiff forces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwork.simulation.drive import Drive
from linkwork.simulation.holding import settled
from linkwork.simulation.implicit_texts import CLOSE, MOST, Implicit
from linkwork.simulation.library import Library
from linkwork.simulation.request import Progress, Request, Track, finite_rows
from linkwork.simulation.rollout import rollout_of
from linkwork.simulation.steppers import IMPLICIT
from linkwork.simulation.stepping import close_loops, note_failures, note_unsolved, torque_of

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def run_implicit(
    request: Request, library: Library, *, threads: int = 1, progress: Progress | None = None
) -> Track:
    """All steps of a request by the implicit method, in native code where no force needs Python."""
    if request.torque is not None:
        return stepped(request, library, threads=threads, progress=progress)
    rollout = rollout_of(request.system, IMPLICIT, library, single=request.rows == 1)
    dv = begun(Drive(request, library, threads=threads))[0]
    more = np.hstack([dv, dv, np.zeros((dv.shape[0], Implicit(request.system).n_held))])
    return rollout.run(request, more=more, threads=threads, progress=progress)


def stepped(
    request: Request, library: Library, *, threads: int = 1, progress: Progress | None = None
) -> Track:
    """All steps from Python: for forces that are functions of the state."""
    return _Stepping(request, library, threads).run(progress)


def begun(drive: Drive) -> tuple[Floats, Floats]:
    """The accelerations (rows, nv) at the first states, and the controls there."""
    q, v = drive.request.q0, drive.request.v0
    rates, controls = drive.rates(0.0, q, np.zeros_like(v), v, at=q)
    dv = rates[:, drive.mechanism.n_v :]
    if drive.request.system.rubbing:
        rub = drive.friction(q, v, controls)
        dv = dv + rub.accelerations(rub.settled(v + drive.request.grid.h * dv)[0])
    return np.nan_to_num(dv), controls


class _Stepping:
    def __init__(self, request: Request, library: Library, threads: int) -> None:
        self.request, self.threads = request, threads
        self.drive = Drive(request, library, threads=threads)
        texts = Implicit(request.system)
        self._newton = library.kernel(texts.newton_recipe())
        self._finish = library.kernel(texts.finish_recipe())
        self._local = texts.local
        self._settling = library.kernel(texts.settling_recipe()) if texts.local else None
        self.n_q, self.n_v = request.system.mechanism.n_q, request.system.mechanism.n_v
        self.n_held = texts.n_held
        self.h = np.array([request.grid.h])
        self.track = Track.begun(request)

    def run(self, progress: Progress | None) -> Track:
        """The steps, until no roll-out goes on."""
        request, grid, track = self.request, self.request.grid, self.track
        forced = request.torque is not None
        if forced:
            track.torques = np.full((request.rows, grid.kept, self.n_v), np.nan)
        before = self._begin()
        for step in range(grid.steps):
            after, controls, solved = self._step(before, (step + 1) * grid.h)
            note_unsolved(track, request, self._state(after), step, ~solved)
            note_failures(track, request, self._state(after), step)
            after = np.hstack([
                *close_loops(self.drive, track, self._state(after), step),
                after[:, self.n_q + self.n_v :],
            ])  # fmt: skip
            alive = track.failed < 0.0
            before = np.where(alive[:, None], after, before)
            if grid.keeps(step):
                q, v = self._state(before)
                place = grid.place(step)
                track.q[alive, place], track.v[alive, place] = q[alive], v[alive]
                if forced and track.torques is not None:
                    track.torques[alive, place] = torque_of(self.drive, controls)[alive]
            if progress is not None:
                progress((step + 1) * request.rows, grid.steps * request.rows)
            if not alive.any():
                break
        track.close(grid)
        return track

    def _state(self, before: Floats) -> tuple[Floats, Floats]:
        return before[..., : self.n_q], before[..., self.n_q : self.n_q + self.n_v]

    def _begin(self) -> Floats:
        """The first state, with the acceleration there."""
        dv, controls = begun(self.drive)
        if self.track.torques is not None:
            self.track.torques[:, 0] = torque_of(self.drive, controls)
        forces = np.zeros((dv.shape[0], self.n_held))
        return np.hstack([self.request.q0, self.request.v0, dv, dv, forces])

    def _step(self, before: Floats, t: float) -> tuple[Floats, Floats, Flags]:
        """The state after a step, the controls there, and which rows have a solution."""
        n, n_v = self.n_v + self.n_held, self.n_v
        x, forces = before[:, -n:].copy(), np.zeros((before.shape[0], len(self._local)))
        solved = self.track.failed >= 0.0  # those are left alone
        for _ in range(MOST):
            after = self._finish(before, x, self.h, threads=self.threads, on_bad="nan")
            q, v = self._state(after)
            controls = self.drive.controls(t, *(np.nan_to_num(a) for a in (q, v)))
            found = self._newton(
                before, x, self.h, self.drive.constants, controls, forces,
                threads=self.threads, on_bad="nan",
            )  # fmt: skip
            good = finite_rows(found)
            change, forces, settled_ = self._solve(found, forces, good, solved)
            size = np.abs(self.h[0] * change[:, :n_v]).max(axis=1)
            scale = 1.0 + np.abs(v).max(axis=1) + np.abs(self.h[0] * x[:, :n_v]).max(axis=1)
            x = np.where(solved[:, None], x, x - change)
            solved = solved | (settled_ & (size <= CLOSE * scale))
            if solved.all() or not (good | solved).any():
                break
        after = self._finish(before, x, self.h, threads=self.threads, on_bad="nan")
        controls = self.drive.controls(t, *(np.nan_to_num(a) for a in self._state(after)))
        return after, controls, solved

    def _solve(
        self, found: Floats, forces: Floats, good: Flags, solved: Flags
    ) -> tuple[Floats, Floats, Flags]:
        """What the unknowns are less by, the forces of single joints that go with it, and in which
        rows there are such."""
        n, m = self.n_v + self.n_held, len(self._local)
        matrices = found[:, n : n + n * n].reshape(-1, n, n)
        units = np.zeros((found.shape[0], n, m))
        units[:, self._local, range(m)] = 1.0
        answers = _solutions(matrices, np.concatenate([found[:, :n, None], units], axis=2), good)
        change, yields = answers[:, :, 0], answers[:, :, 1:]
        if self._settling is None:
            return change, forces, np.ones(found.shape[0], np.bool_)
        columns = np.swapaxes(yields, 1, 2).reshape(-1, n * m)
        given = (found[:, n + n * n :], change, columns, self.h[None])
        new, _, done = settled(self._settling, (*given, forces), forces, self.threads)
        new = np.where(solved[:, None], forces, new)
        more = (yields @ (new - forces)[:, :, None])[:, :, 0]
        return change - more, new, done


def _solutions(matrices: Floats, right: Floats, good: Flags) -> Floats:
    """The solutions (rows, n, k) of the good rows; NaN elsewhere."""
    found = np.full(right.shape, np.nan)
    if good.any():
        try:
            found[good] = np.linalg.solve(matrices[good], right[good])
        except np.linalg.LinAlgError:
            for row in np.flatnonzero(good):
                try:
                    found[row] = np.linalg.solve(matrices[row], right[row])
                except np.linalg.LinAlgError:
                    found[row] = np.nan
    return found
