"""From a request to a result: which way of integrating is taken, and what is said at the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.compile.recipe import algorithm_recipe
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.simulation.between import Between
from linkwork.simulation.closing import begun_closed
from linkwork.simulation.drive import Drive, joint_of_v
from linkwork.simulation.library import Library
from linkwork.simulation.options import Options, request_of
from linkwork.simulation.outcomes import Outcomes
from linkwork.simulation.request import Progress, Request, Track, finite_rows
from linkwork.simulation.result import Simulation
from linkwork.simulation.rollout import rollout_of
from linkwork.simulation.steppers import FIXED, Method
from linkwork.simulation.stepping import run_steps
from linkwork.simulation.system import is_payload

Floats = NDArray[np.float64]


def run(
    m: Mechanism,
    q0: ArrayLike | Mapping[str, Any],
    v0: ArrayLike | Mapping[str, Any] | None,
    options: Options,
    *,
    library: Library,
    threads: int = 1,
    progress: Progress | None = None,
) -> Simulation:
    """Simulate a mechanism; see `simulating.simulate`.

    Raises: ShapeError, InputError, UnknownNameError before anything is computed.
    """
    if not isinstance(threads, (int, np.integer)) or threads < 1:
        raise InputError(f"threads must be a whole number from 1, not {threads!r:.40}")
    request = request_of(
        m,
        q0,
        v0,
        options,
        inertias=lambda q, values: _inertias(m, q, values, library),
        check=lambda system: library.get(("checked", *system.key), system.check),
    )
    if request.system.closed:
        request = begun_closed(request, library, threads)
    if options.method == "dopri5":
        from linkwork.simulation.adaptive import run_adaptive  # noqa: PLC0415  not all need it

        drive = Drive(request, library, threads=threads)
        track = run_adaptive(drive, options, progress=progress)
    elif options.method == "implicit":
        from linkwork.simulation.implicit import run_implicit  # noqa: PLC0415  not all need it

        track = run_implicit(request, library, threads=threads, progress=progress)
    else:
        track = _fixed(request, options.method, library, threads, progress)
    return _Ending(request, track, options, library, threads).simulation()


def _inertias(m: Mechanism, q: Floats, values: Mapping[str, Floats], library: Library) -> Floats:
    """What each number of v moves (..., nv), all others free: one over the diagonal of M⁻¹.

    With loops, of (M⁻¹ less what holds them): what else moves along counts. A joint that the loops
    hold still counts with its own inertia.
    """
    named = tuple(name for name in values if name == "armature" or is_payload(name))
    kernel = library.kernel(algorithm_recipe("mass_matrix", m, named))
    mass = kernel(q, *[values[name] for name in named])
    inverse: Any = np.linalg.inv(mass)
    free = np.diagonal(inverse, axis1=-2, axis2=-1)
    if not m.is_closed:
        return 1.0 / free
    J = library.kernel(algorithm_recipe("closure_jacobian", m))(q)
    pushed = J @ inverse
    held = np.linalg.pinv(pushed @ np.swapaxes(J, -1, -2), rcond=1e-10, hermitian=True)
    less = np.einsum("...ij,...ij->...j", pushed, held @ pushed)
    return 1.0 / np.where(free - less > 1e-9 * free, free - less, free)


def _fixed(
    request: Request, name: str, library: Library, threads: int, progress: Progress | None
) -> Track:
    method = FIXED[name]
    if request.torque is None:
        rollout = rollout_of(request.system, method, library, single=request.rows == 1)
        track = rollout.run(request, threads=threads, progress=progress)
    else:
        track = run_steps(Drive(request, library, threads=threads), method, progress=progress)
    if track.overlong:
        _name_overlong(Drive(request, library, threads=threads), track, method)
    return track


def _name_overlong(drive: Drive, track: Track, method: Method) -> None:
    """Say in which joint, and what to do, where steps were too long for bounded drives or stops."""
    system, h = drive.request.system, drive.request.grid.h
    q, v = drive.request.q0.copy(), drive.request.v0.copy()
    rows = sorted(track.overlong)
    q[rows], v[rows] = np.split(track.remains[rows], [system.mechanism.n_q], axis=1)
    for row in rows:
        found = drive.stiffness(track.ended_at[row], q, v, np.zeros_like(v))[row]
        joint = joint_of_v(system.mechanism, system.stiff[int(np.argmax(found[2:]))])
        track.causes[row] = (
            f"the steps are too long for the drive or the stop of joint '{joint}', which "
            f"{method.name!r} cannot follow: it would chatter between its bounds; take "
            f"method='implicit', or a smaller dt than {h:.3g} s"
        )


_OF_ENERGIES = {"kinetic_energy": "armature", "potential_energy": "gravity"}
"""What the energies depend on, beside payloads."""


class _Ending:
    """What is made of the states that were kept."""

    def __init__(
        self,
        request: Request,
        track: Track,
        options: Options,
        library: Library,
        threads: int,
    ) -> None:
        self.request, self.track, self.options = request, track, options
        self.library, self.threads = library, threads
        self.m = request.system.mechanism
        self.times = request.grid.times()

    def simulation(self) -> Simulation:
        """The result; energies and forces are computed when they are asked for."""
        request, track = self.request, self.track

        def shaped(a: Any) -> Any:
            # item: of one roll-out a number, not an array without axes
            return (
                a.reshape((*request.lead, *a.shape[1:])) if request.lead or a.ndim > 1 else a.item()
            )

        finished = np.isnan(track.failed_at)
        entering = (np.zeros((1, 0)), np.zeros((1, 0)))
        if request.system.closed:
            entering = (request.constants(), request.controls_without_torque(0.0))
        return Simulation(
            mechanism=self.m,
            times=self.times,
            q=shaped(track.q),
            v=shaped(track.v),
            finished=shaped(finished),
            failed_at=shaped(track.failed_at),
            ended_at=shaped(track.ended_at),
            events=tuple(sorted(track.events, key=lambda e: (e.row, e.time))),
            outcomes=Outcomes(
                request.system,
                track.failed_at,
                track.remains,
                track.causes,
                frozenset(track.unclosed),
                request.bound,
                self.options.method,
                self.library,
            ),
            between=Between(request.system, *entering, self.library, self.threads),
            later={
                "torques": lambda: shaped(self.torques()),
                "kinetic_energy": lambda: shaped(self._of_states("kinetic_energy")),
                "potential_energy": lambda: shaped(self._of_states("potential_energy")),
            },
        )

    # numbers of the kept states

    def _filled(self) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """The kept states, with the first state where there is none, and where that is."""
        q, v = self.track.q, self.track.v
        none = ~(finite_rows(q) & finite_rows(v))
        if not none.any():
            return q, v, none
        q = np.where(none[..., None], q[:, :1], q)
        return q, np.where(none[..., None], v[:, :1], v), none

    def _of_states(self, name: str) -> Floats:
        """An algorithm of the kept states (rows, kept)."""
        q, v, none = self._filled()
        known = [entry.name for entry in self._entries()]
        named = tuple(x for x in known if x == _OF_ENERGIES[name] or is_payload(x))
        kernel = self.library.kernel(algorithm_recipe(name, self.m, named))
        inputs = [q, v] if name == "kinetic_energy" else [q]
        inputs += [self._entering(x) for x in named]
        found = kernel(*inputs, threads=self.threads).reshape(none.shape)
        found[none] = np.nan
        return found

    def _entries(self) -> list[Any]:
        system = self.request.system
        return [*system.constants, *system.controls]

    def _entering(self, name: str) -> Floats:
        """A quantity at the kept states, (rows or 1, kept or 1, size)."""
        request = self.request
        if name in request.values:
            value = request.values[name]
            return value[None, None] if value.ndim == 1 else value[:, None]
        found = [request.functions[name](float(t)) for t in self.times]
        rows = max(1 if a.ndim == 1 else a.shape[0] for a in found)
        return np.stack([np.broadcast_to(a, (rows, a.shape[-1])) for a in found], axis=1)

    def torques(self) -> Floats:
        """The actuators' forces (rows, kept, nv)."""
        if self.track.torques is not None:
            return self.track.torques
        q, v, none = self._filled()
        system = self.request.system
        kernel = self.library.kernel(system.torque_recipe())
        parts: list[Floats] = []
        for entries in (system.constants, system.controls):
            blocks = [self._entering(e.name) for e in entries]
            lead = np.broadcast_shapes((1, 1), *[b.shape[:2] for b in blocks])
            spread = [np.broadcast_to(b, (*lead, b.shape[2])) for b in blocks]
            parts.append(np.concatenate(spread, axis=2) if spread else np.zeros((1, 1, 0)))
        found = kernel(q, v, *parts, threads=self.threads)
        found[none] = np.nan
        return found
