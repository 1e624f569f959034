"""Simulations, from what is asked for to a result: the integrator, its steps, and messages.

    Options -> request_of -> Request -> Rollout.run or adaptive.run_adaptive -> Track -> Simulation

Fixed steps are made by native code (`native_rollout.py`), from the cache or compiled, over threads
and in short calls: all steps at once, or part after part where a function of the user gives forces.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.algorithms.independent_rows import change_point
from linkwork.checks import plain, whole_number
from linkwork.compile.compiler import Facts, Made
from linkwork.compile.machine_code import object_code
from linkwork.compile.recipe import Recipe, algorithm_recipe
from linkwork.compile.target import Target, new_module, with_width
from linkwork.compile.threads import in_parallel, threads_for
from linkwork.errors import InputError
from linkwork.mechanism.model import Floats, Mechanism
from linkwork.simulation.equation_of_motion import System, is_payload
from linkwork.simulation.inputs import Options, request_of
from linkwork.simulation.integrators import FIXED, IMPLICIT, MOST, Implicit, Method, no_solution
from linkwork.simulation.library import Library
from linkwork.simulation.loops import OpenLoops, corrected
from linkwork.simulation.request import Progress, Request, Track, row_name
from linkwork.simulation.result import Outcomes, Simulation
from linkwork.simulation.tangent import Flags, finite_rows

CALL_NS = 20_000_000.0
"""About how long a call of native code may take, so that Ctrl-C and progress come through."""

_LONG = 3_000  # nodes above which LLVM's passes gain less than they take
_N_COUNTS, _N_ARRAYS = 10, 8


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
    threads = whole_number(threads, "threads")
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

        track = run_adaptive(request, options, library, threads=threads, progress=progress)
    else:
        method = FIXED[options.method]
        rollout = rollout_of(request.system, method, library, single=request.rows == 1)
        track = rollout.run(request, threads=threads, progress=progress)
        _name_overlong(request, track, method, library)
    return _Ending(request, track, options, library, threads).simulation()


def _inertias(m: Mechanism, q: Floats, values: Mapping[str, Floats], library: Library) -> Floats:
    """Inertia (..., nv) that each number of v moves, all others free: one over the diagonal of M⁻¹.

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


def begun_closed(request: Request, library: Library, threads: int = 1) -> Request:
    """The request with its first states closed.

    Raises: InputError naming row and loop where q0 is not assembled or v0 opens a loop.
    """
    system = request.system
    messages = OpenLoops(system.mechanism)
    found = library.kernel(system.recipe("gaps"))(request.q0, request.v0, threads=threads)
    for row, gap in enumerate(found):
        messages.check(gap, request.v0[row], _of_row(request, row))
    kernel = library.kernel(system.recipe("projection"))
    entering = (request.constants(), request.controls(0.0))
    q, v, closed = corrected(kernel, (request.q0, request.v0), entering, threads)
    if not closed.all():
        row = _of_row(request, int(np.flatnonzero(~closed)[0]))
        known = change_point(system.mechanism, request.q0[int(np.flatnonzero(~closed)[0])])
        why = known or "it is a singular configuration of the mechanism (see robot.mobility(q0))"
        raise InputError(f"q0{row}: the loops cannot be kept closed there; {why}")
    return replace(request, q0=q, v0=v)


def _of_row(request: Request, row: int) -> str:
    return f" of row {row_name(request.lead, row)}" if request.lead else ""


# fixed steps in native code


@dataclass(frozen=True)
class Rollout:
    """The compiled loop of one system and one method, for one roll-out or for many.

    A row of its state has ``row_size`` numbers, q and v first; where forces are asked for, the
    state that is asked about stands at ``asked_at``.
    """

    made: Made
    width: int
    method: Method
    stage_size: int
    row_size: int
    asked_at: int

    @property
    def step_ns(self) -> float:
        """About how long a step of one tile takes."""
        return 0.5 * self.stage_size * self.method.stages

    def calls(self, rows: int, steps: int, threads: int) -> tuple[int, int]:
        """Rows and steps of one call of native code."""
        tiles = -(-rows // self.width)
        share = max(1, -(-tiles // max(1, threads)))
        at_once = int(min(share, max(1.0, CALL_NS / (self.step_ns * max(steps, 1)))))
        many = int(min(max(steps, 1), max(1.0, CALL_NS / (self.step_ns * at_once))))
        return at_once * self.width, many

    def run(self, request: Request, *, threads: int = 1, progress: Progress | None = None) -> Track:
        """All roll-outs of a request."""
        track, grid = Track.begun(request), request.grid
        work = _Work(self, request, track, threads)
        tell = _Teller(progress, request.rows * grid.steps)
        if request.torque is not None:
            self._ask(work, tell)
        elif request.system.n_controls:
            for step in range(0, grid.steps, work.steps_at_once):
                until = min(step + work.steps_at_once, grid.steps)
                work.make(step, until, self._table(request, step, until), tell)
        else:
            work.make(0, grid.steps, np.zeros((1, 1, 0)), tell)
        marks = np.rint(8.0 * (track.failed % 1.0)).astype(np.int64)
        for row in np.flatnonzero(marks & 4).tolist():
            m = request.system.mechanism
            track.causes[row] = no_solution(m, self.method, track.remains[row])
        track.unclosed.update(np.flatnonzero(marks & 2).tolist())
        track.overlong.update(np.flatnonzero(marks & 1).tolist())
        track.close(grid)
        return track

    def _table(self, request: Request, step: int, until: int) -> Floats:
        """The functions of time at every instant of these steps: (1 or rows, instants, n)."""
        parts = self.method.per_step
        h = request.grid.h / parts
        found = [request.controls(k * h) for k in range(step * parts, until * parts + 1)]
        rows = max(entry.shape[0] for entry in found)
        return np.stack([np.broadcast_to(e, (rows, e.shape[1])) for e in found], axis=1)

    def _ask(self, work: _Work, tell: _Teller) -> None:
        """All steps part by part: forces are asked for at the states that the parts look at."""
        request, track, grid = work.request, work.track, work.request.grid
        track.torques = np.full(track.v.shape, np.nan)
        for step in range(grid.steps):
            controls = work.asked(step * grid.h, 0)
            if step % grid.every == 0:
                track.torques[:, step // grid.every] = request.torque_in(controls)
            work.part(step, 0, controls)
            if self.method is IMPLICIT:
                for _ in range(MOST):
                    controls = work.asked((step + 1) * grid.h, 1)
                    if not work.part(step, 1, controls):
                        break
                work.part(step, 2, controls)
            else:
                for k, share in enumerate(self.method.c[1:], 1):
                    work.part(step, k, work.asked((step + share) * grid.h, k))
            tell(request.rows)
            if (track.failed >= 0.0).all():
                break
        track.torques[:, -1] = request.torque_in(work.asked(grid.duration, 0))


class _Work:
    """The arrays that native code works on, and its calls over threads."""

    def __init__(self, rollout: Rollout, request: Request, track: Track, threads: int) -> None:
        self.rollout, self.request, self.track = rollout, request, track
        m, grid, rows = request.system.mechanism, request.grid, request.rows
        self.size = m.n_q + m.n_v
        self.state = np.zeros((rows, rollout.row_size))
        self.state[:, : self.size] = self.last = np.hstack([request.q0, request.v0])
        self.constants = request.constants()
        self.settings = np.array([grid.h, request.bound])
        steps = grid.steps if request.torque is None else 1
        if threads > 1:
            threads = threads_for(rows, rollout.step_ns * steps / rollout.width, threads)
        self.threads = threads
        self.rows_at_once, self.steps_at_once = rollout.calls(rows, steps, threads)
        kind = ctypes.CFUNCTYPE(
            ctypes.c_int64, *[ctypes.c_int64] * _N_COUNTS, *[ctypes.c_void_p] * _N_ARRAYS
        )
        self._function = kind(rollout.made.code.address("rollout"))

    def make(self, step: int, until: int, controls: Floats, tell: _Teller) -> None:
        """Steps of all rows, in calls that are short enough."""

        def rows_from(first: int) -> None:
            for begin in range(step, until, self.steps_at_once):
                end = min(begin + self.steps_at_once, until)
                self._call(first, begin, end, 0, controls)
                tell((min(first + self.rows_at_once, self.request.rows) - first) * (end - begin))

        in_parallel(rows_from, self._starts(), self.threads)

    def part(self, step: int, part: int, controls: Floats) -> int:
        """One part of one step of all rows; how many of them go on iterating."""
        going: list[int] = []
        table = np.ascontiguousarray(controls)[:, None]
        in_parallel(
            lambda first: going.append(self._call(first, step, step + 1, part, table)),
            self._starts(),
            self.threads,
        )
        return sum(going)

    def asked(self, t: float, part: int) -> Floats:
        """The controls at the states that a part looks at.

        Rows that have failed, or are no finite numbers, show where they were last.
        """
        m, there = self.request.system.mechanism, self.track.failed < 0.0
        start = self.rollout.asked_at if part else 0
        states = self.state[:, start : start + self.size]
        states = np.where((there & finite_rows(states))[:, None], states, self.last)
        if part == 0:
            self.last = states
        return self.request.controls(t, (states[:, : m.n_q], states[:, m.n_q :]))

    def _starts(self) -> range:
        return range(0, self.request.rows, self.rows_at_once)

    def _call(self, first: int, step: int, until: int, part: int, controls: Floats) -> int:
        grid, track, constants = self.request.grid, self.track, self.constants
        last = min(first + self.rows_at_once, self.request.rows)
        strides = [0 if a.shape[0] == 1 else a[0].size for a in (constants, controls)]
        counts = (first, last, step, until, grid.steps, grid.every, grid.kept, *strides, part)
        arrays = (self.state, constants, controls, self.settings)
        arrays = (*arrays, track.q, track.v, track.failed, track.remains)
        return self._function(*counts, *[a.ctypes.data for a in arrays])


class _Teller:
    """Counts what is done, from any thread, and passes it on."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total = progress, total
        self._done = 0
        self._lock = threading.Lock()

    def __call__(self, more: int) -> None:
        if self._progress is None:
            return
        with self._lock:
            self._done += more
            self._progress(self._done, self._total)


def rollout_of(system: System, method: Method, library: Library, *, single: bool) -> Rollout:
    """The native loop, from the cache or compiled; ``single`` for one roll-out at a time."""
    width = 1 if single else library.compiler.target.width
    key = (*system.key, "rollout", method.name, str(width))

    def made() -> Rollout:
        compiler = library.compiler
        found = compiler.find(key)
        if found is None:
            with compiler.work(f"the simulation of {system.mechanism.name}"):
                recipes = recipes_of(system, method)
                how = (recipes, system, method, with_width(compiler.target, width))
                found = compiler.code(key, lambda: _compiled(*how))
        sizes = (int(found.facts[name]) for name in ("stage", "row", "asked"))
        return Rollout(found, width, method, *sizes)

    return library.get(key, made)


def recipes_of(system: System, method: Method) -> dict[str, Recipe]:
    """The expressions that a step of a method is made of, by name."""
    names = ["stage"]
    if system.rubbing:
        names += ["yields", "sticking"]
    if system.closed:
        names.append("projection")
    if method is not IMPLICIT:
        names += ["advance", "stiffness"] if system.stiff else ["advance"]
        return {name: system.recipe(name) for name in names}
    alpha = Implicit(system)
    more = ["newton", "finish", "settling"] if alpha.local else ["newton", "finish"]
    return {
        **{name: alpha.recipe(name) for name in more},
        **{name: system.recipe(name) for name in names},
    }


def _compiled(
    recipes: Mapping[str, Recipe], system: System, method: Method, target: Target
) -> tuple[Facts, bytes]:
    from linkwork.simulation.native_rollout import (  # noqa: PLC0415  not for cached code
        rollout_loop,
    )

    graphs = {name: recipe.graph(fused=target.fused) for name, recipe in recipes.items()}
    module = new_module("rollout", target)
    loop = rollout_loop(module, graphs, system, method, target)
    size = max(len(graph.nodes) for graph in graphs.values())
    made = object_code(module, target, simplify=size <= _LONG)
    return {"stage": size, "row": loop.row_size, "asked": loop.n_state}, made


def _name_overlong(request: Request, track: Track, method: Method, library: Library) -> None:
    """Say in which joint, and what to do, where steps were too long for bounded drives or stops."""
    system, h = request.system, np.array([request.grid.h])
    constants = request.constants()
    for row in sorted(track.overlong):
        q, v = np.split(track.remains[row], [system.mechanism.n_q])
        controls = request.controls(float(track.ended_at[row]))
        own = (a[min(row, a.shape[0] - 1)] for a in (constants, controls))
        kernel = library.kernel(system.recipe("stiffness"))
        rates = kernel(q, v, np.zeros_like(v), h, *own, on_bad="nan")
        joint = system.mechanism.joint_of_v(system.stiff[int(np.argmax(rates[2:]))])
        track.causes[row] = (
            f"the steps are too long for the drive or the stop of joint '{joint}', which "
            f"{method.name!r} cannot follow: it would chatter between its bounds; take "
            f"method='implicit', or a smaller dt than {h[0]:.3g} s"
        )


# what is made of the states that were kept

_OF_ENERGIES = {"kinetic_energy": "armature", "potential_energy": "gravity"}
"""The parameter that each energy depends on, beside payloads."""


class _Ending:
    """The result of a run: kept states, and energies and forces computed later."""

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
            return plain(a.reshape((*request.lead, *a.shape[1:])))

        finished = np.isnan(track.failed_at)
        entering = (np.zeros((1, 0)), np.zeros((1, 0)))
        if request.system.closed:
            entering = (request.constants(), request.controls(0.0))
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
                *entering,
                self.library,
                self.threads,
            ),
            later={
                "torques": lambda: shaped(self.torques()),
                "kinetic_energy": lambda: shaped(self._of_states("kinetic_energy")),
                "potential_energy": lambda: shaped(self._of_states("potential_energy")),
            },
        )

    # numbers of the kept states

    def _filled(self) -> tuple[Floats, Floats, Flags]:
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
        kernel = self.library.kernel(system.recipe("torque"))
        parts: list[Floats] = []
        for entries in (system.constants, system.controls):
            blocks = [self._entering(e.name) for e in entries]
            lead = np.broadcast_shapes((1, 1), *[b.shape[:2] for b in blocks])
            spread = [np.broadcast_to(b, (*lead, b.shape[2])) for b in blocks]
            parts.append(np.concatenate(spread, axis=2) if spread else np.zeros((1, 1, 0)))
        found = kernel(q, v, *parts, threads=self.threads)
        found[none] = np.nan
        return found
