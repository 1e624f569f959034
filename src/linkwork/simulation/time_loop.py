"""Simulations, from what is asked for to a result: the integrator, its steps, and messages.

    Options -> request_of -> Request -> Work.run, or Adaptive.run for dopri5 -> Track -> Simulation

All steps are made by native code (`native_rollout.py`), from the cache or compiled, over threads
and in short calls: all steps at once, or part after part where a function of the user gives forces,
or trial by trial where the method chooses its steps (`adaptive.py`).
"""

from __future__ import annotations

import ctypes
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from linkwork.algorithms.independent_rows import change_point
from linkwork.checks import whole_number
from linkwork.compile.compiler import Compiler, Facts, Made
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.machine_code import VERY_LONG, object_code
from linkwork.compile.numpy_abi import address, aligned
from linkwork.compile.recipe import Recipe, algorithm_recipe
from linkwork.compile.target import Target, new_module, with_width
from linkwork.compile.threads import in_parallel, threads_for
from linkwork.errors import InputError
from linkwork.mechanism.model import Floats, Mechanism
from linkwork.simulation.equation_of_motion import System, is_payload
from linkwork.simulation.inputs import Options, Progress, Request, request_of, row_name
from linkwork.simulation.integrators import (
    DOPRI5,
    FIXED,
    IMPLICIT,
    MOST,
    Implicit,
    Method,
    no_solution,
)
from linkwork.simulation.loops import OpenLoops, corrected
from linkwork.simulation.result import Outcomes, Simulation, Track
from linkwork.simulation.tangent import finite_rows

Item = TypeVar("Item")

CALL_NS = 20_000_000.0
"""About how long a call of native code may take, so that Ctrl-C and progress come through."""

_LONG = 3_000  # nodes above which LLVM's passes gain less than they take
_N_COUNTS, _N_ARRAYS = 11, 9


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
    method = FIXED.get(options.method, DOPRI5)
    rollout = rollout_of(request.system, method, library, single=request.rows == 1)
    if method is DOPRI5:
        from linkwork.simulation.adaptive import Adaptive  # noqa: PLC0415  not all need it

        how = (request, options, library, Work(rollout, request, threads))
        track = Adaptive(*how, threads=threads, progress=progress).run()
    else:
        track = rollout.run(request, threads=threads, progress=progress)
        _name_overlong(request, track, method, library)
    return Outcomes(request, track, method.name, library, threads).simulation()


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


# steps in native code


@dataclass(frozen=True)
class Rollout:
    """The compiled loop of one system and one method, for one roll-out or for many.

    A row of its state has q and v first; ``places`` tells where what parts of a step hand on
    begins, by name, and where the row ends. A call takes ``beside`` numbers of memory.
    """

    made: Made
    width: int
    method: Method
    stage_size: int
    places: Mapping[str, int]
    beside: int

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
        """All roll-outs of a request, in steps of fixed length."""
        return Work(self, request, threads, progress).run()


class Work:
    """The arrays that native code works on, and its calls over threads."""

    def __init__(
        self, rollout: Rollout, request: Request, threads: int, progress: Progress | None = None
    ) -> None:
        self.rollout, self.request, self.track = rollout, request, Track.begun(request)
        self.method, grid, rows = rollout.method, request.grid, request.rows
        self._size = request.q0.shape[1] + request.v0.shape[1]
        self.state = np.zeros((rows, rollout.places["end"]))
        self.state[:, : self._size] = self._last = np.hstack([request.q0, request.v0])
        self._constants = request.constants()
        self._settings = np.array([grid.h, request.bound])
        steps = 1 if request.torque is not None or self.method.error else grid.steps
        if threads > 1:
            threads = threads_for(rows, rollout.step_ns * steps / rollout.width, threads)
        self._threads = threads
        self._rows_at_once, self._steps_at_once = rollout.calls(rows, steps, threads)
        self._starts = range(0, rows, self._rows_at_once)
        kind = ctypes.CFUNCTYPE(
            ctypes.c_int64, *[ctypes.c_int64] * _N_COUNTS, *[ctypes.c_void_p] * _N_ARRAYS
        )
        self._function = kind(rollout.made.code.address("rollout"))
        self._progress, self._done, self._lock = progress, 0, threading.Lock()

    def view(self, place: str | int, size: int) -> Floats:
        """Numbers (rows, size) of the rows, from a place or what stands there on."""
        at = self.rollout.places[place] if isinstance(place, str) else place
        return self.state[:, at : at + size]

    # steps of fixed length

    def run(self) -> Track:
        """All steps."""
        request, track, grid = self.request, self.track, self.request.grid
        if request.torque is not None:
            self._ask()
        elif request.system.n_controls:
            parts = self.method.per_step
            for step in range(0, grid.steps, self._steps_at_once):
                until = min(step + self._steps_at_once, grid.steps)
                instants = np.arange(step * parts, until * parts + 1) * (grid.h / parts)
                self._make(step, until, self._table(instants.tolist()))
        else:
            self._make(0, grid.steps, np.zeros((1, 1, 0)))
        marks = np.rint(8.0 * (track.failed % 1.0)).astype(np.int64)
        for row in np.flatnonzero(marks & 4).tolist():
            m = request.system.mechanism
            track.causes[row] = no_solution(m, self.method, track.remains[row])
        track.unclosed.update(np.flatnonzero(marks & 2).tolist())
        track.overlong.update(np.flatnonzero(marks & 1).tolist())
        track.close(grid)
        return track

    def _table(self, instants: Sequence[Any]) -> Floats:
        """The functions of time at instants: (1 or rows, instants, n)."""
        found = [self.request.controls(t) for t in instants]
        rows = max(entry.shape[0] for entry in found)
        return np.stack([np.broadcast_to(e, (rows, e.shape[1])) for e in found], axis=1)

    def _make(self, step: int, until: int, controls: Floats) -> None:
        """Steps of all rows, in calls that are short enough."""

        def rows_from(first: int) -> None:
            for begin in range(step, until, self._steps_at_once):
                end = min(begin + self._steps_at_once, until)
                self._call(begin, end, (0, 0), controls, first)
                rows = min(first + self._rows_at_once, self.request.rows) - first
                self._tell(rows * (end - begin))

        in_parallel(rows_from, self._starts, self._threads)

    def _ask(self) -> None:
        """All steps part by part: forces are asked for at the states that the parts look at."""
        request, track, grid = self.request, self.track, self.request.grid
        track.torques = np.full(track.v.shape, np.nan)
        for step in range(grid.steps):
            controls = self._controls(step * grid.h, 0)
            if step % grid.every == 0:
                track.torques[:, step // grid.every] = request.torque_in(controls)
            self._parts(step, 0, controls)
            if self.method is IMPLICIT:
                for _ in range(MOST):
                    controls = self._controls((step + 1) * grid.h, 1)
                    if not self._parts(step, 1, controls):
                        break
                self._parts(step, 2, controls)
            else:
                for k, share in enumerate(self.method.c[1:], 1):
                    self._parts(step, k, self._controls((step + share) * grid.h, k))
            self._tell(request.rows)
            if (track.failed >= 0.0).all():
                break
        track.torques[:, -1] = request.torque_in(self._controls(grid.duration, 0))

    def _controls(self, t: Floats | float, part: int) -> Floats:
        """The controls at the states that a part looks at.

        Rows that have failed, or are no finite numbers, show where they were last.
        """
        there, n_q = self.track.failed < 0.0, self.request.q0.shape[1]

        def shown(states: Floats) -> Floats:
            return np.where((there & finite_rows(states))[:, None], states, self._last)

        self._last = shown(self.view(0, self._size))
        seen = shown(self.view("asked", self._size)) if part else self._last
        return self.request.controls(t, (seen[:, :n_q], seen[:, n_q:]))

    # trials of steps that the method chooses

    def begin(self, t: Floats) -> None:
        """The rates where the rows are, at instants (rows,)."""
        self._parts(0, 0, self._controls(t, 0))

    def trial(self, instants: Sequence[Floats]) -> None:
        """The first stages of a step behind its beginning, at these instants (rows,) each."""
        if self.request.torque is None:
            table = self._table([instants[0], *instants] if self.request.functions else [0.0])
            self._parts(0, 1, table, 2 + len(instants))
            return
        self._parts(0, 1, np.zeros((1, self.request.system.n_controls)))
        for k, t in enumerate(instants, 2):
            self._parts(0, k, self._controls(t, k))

    # calls

    def _parts(self, step: int, part: int, controls: Floats, last: int | None = None) -> int:
        """Parts of one step of all rows, by default one; how many rows go on iterating.

        ``controls`` are (1 or rows, n), or (1 or rows, parts, n).
        """
        table = np.ascontiguousarray(controls)
        table = table[:, None] if table.ndim == 2 else table
        parts = (part, part + 1 if last is None else last)
        call = partial(self._call, step, step + 1, parts, table)
        return sum(in_parallel(call, self._starts, self._threads))

    def _call(
        self, step: int, until: int, parts: tuple[int, int], controls: Floats, first: int
    ) -> int:
        grid, track, constants = self.request.grid, self.track, self._constants
        last = min(first + self._rows_at_once, self.request.rows)
        strides = [0 if a.shape[0] == 1 else a[0].size for a in (constants, controls)]
        counts = (first, last, step, until, grid.steps, grid.every, grid.kept, *strides, *parts)
        arrays = (self.state, constants, controls, self._settings)
        arrays = (*arrays, track.q, track.v, track.failed, track.remains)
        beside = aligned(self.rollout.beside)
        return self._function(*counts, *[address(a) for a in (*arrays, beside)])

    def _tell(self, more: int) -> None:
        """Count what is done, from any thread, and pass it on."""
        if self._progress is not None:
            with self._lock:
                self._done += more
                self._progress(self._done, self.request.rows * self.request.grid.steps)


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
        size, beside = (int(found.facts[name]) for name in ("stage", "beside"))
        return Rollout(found, width, method, size, found.facts["places"], beside)

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

    graphs = {name: recipe.code(fused=target.fused) for name, recipe in recipes.items()}
    module = new_module("rollout", target)
    loop = rollout_loop(module, graphs, system, method, target)
    size = max(graph.n_assignments for graph in graphs.values())
    made = object_code(module, target, simplify=size <= _LONG, quick=size > VERY_LONG)
    return {"stage": size, "places": loop.places, "beside": loop.beside_size}, made


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


# compiled code, kept as long as it is used


class Library:
    """Compiled code by key; the entries that were not used for longest are let go.

    Compiled code belongs to its process, so a copy or a pickle holds ``remake``, a function of a
    module, which gives the library of whatever process it is called in.
    """

    def __init__(
        self, compiler: Compiler, *, most: int = 64, remake: Callable[[], Library] | None = None
    ) -> None:
        self.compiler = compiler
        self._most = most
        self._remake = remake or unshared
        self._found: OrderedDict[tuple[str, ...], Any] = OrderedDict()
        self._lock = threading.RLock()

    def get(self, key: tuple[str, ...], make: Callable[[], Item]) -> Item:
        """The entry of this key, made where it is not there."""
        with self._lock:
            if key not in self._found:
                self._found[key] = make()
            self._found.move_to_end(key)
            while len(self._found) > self._most:
                self._found.popitem(last=False)
            return cast("Item", self._found[key])

    def __reduce__(self) -> tuple[Callable[[], Library], tuple[()]]:
        return self._remake, ()

    def kernel(self, recipe: Recipe) -> Kernel:
        """The kernel of a recipe."""
        return self.get(("kernel", *recipe.key), lambda: build(recipe, compiler=self.compiler))


def unshared() -> Library:
    """A library with a compiler of its own, which keeps nothing on disk."""
    return Library(Compiler())
