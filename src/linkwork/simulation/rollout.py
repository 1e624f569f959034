"""Roll-outs by fixed steps in native code: from the cache or made, over threads, in short calls."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.compiler import Compiler, Facts, Made
from linkwork.compile.machine_code import object_code
from linkwork.compile.recipe import Recipe
from linkwork.compile.target import new_module, with_width
from linkwork.compile.threads import in_parallel, threads_for
from linkwork.simulation.implicit_texts import FRICTION, Implicit, no_solution
from linkwork.simulation.library import Library
from linkwork.simulation.request import Progress, Request, Track
from linkwork.simulation.steppers import IMPLICIT, Method
from linkwork.simulation.stops import bounds
from linkwork.simulation.system import System

Floats = NDArray[np.float64]

CALL_NS = 20_000_000.0
"""About how long a call of native code may take, so that Ctrl-C and progress come through."""

_LONG = 3_000  # nodes above which LLVM's passes gain less than they take
_N_COUNTS, _N_ARRAYS = 9, 8


@dataclass(frozen=True)
class Rollout:
    """The compiled loop of one system and one method, for one roll-out or for many."""

    made: Made
    width: int
    method: Method
    stage_size: int

    @property
    def step_ns(self) -> float:
        """About how long a step of one tile takes."""
        return 0.5 * self.stage_size * self.method.stages

    def calls(self, rows: int, steps: int, threads: int) -> tuple[int, int]:
        """How many rows and how many steps a call of native code takes."""
        tiles = -(-rows // self.width)
        share = max(1, -(-tiles // max(1, threads)))
        at_once = int(min(share, max(1.0, CALL_NS / (self.step_ns * max(steps, 1)))))
        many = int(min(max(steps, 1), max(1.0, CALL_NS / (self.step_ns * at_once))))
        return at_once * self.width, many

    def run(
        self,
        request: Request,
        *,
        more: Floats | None = None,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> Track:
        """All roll-outs of a request whose forces need no Python.

        ``more`` (rows, n) is what the method's state has besides q and v.
        """
        track, grid = Track.begun(request), request.grid
        state = np.hstack([request.q0, request.v0, *([] if more is None else [more])])
        constants = request.constants()
        settings = np.array([grid.h, request.bound])
        if threads > 1:
            cost = self.step_ns * grid.steps / self.width
            threads = threads_for(request.rows, cost, threads)
        rows_at_once, steps_at_once = self.calls(request.rows, grid.steps, threads)
        call = self._function()
        tell = _Teller(progress, request.rows * grid.steps)
        stride = 0 if constants.shape[0] == 1 else constants.shape[1]

        def advance(first: int, step: int, until: int, controls: Floats) -> None:
            last = min(first + rows_at_once, request.rows)
            row = 0 if controls.shape[0] == 1 else controls[0].size
            numbers = (first, last, step, until, grid.steps, grid.every, grid.kept, stride, row)
            arrays = (state, constants, controls, settings)
            arrays = (*arrays, track.q, track.v, track.failed, track.remains)
            call(*numbers, *[a.ctypes.data for a in arrays])
            tell((last - first) * (until - step))

        starts = range(0, request.rows, rows_at_once)
        none = np.zeros((1, 1, 0))
        if request.system.n_controls:
            for step in range(0, grid.steps, steps_at_once):
                until = min(step + steps_at_once, grid.steps)
                table = self._table(request, step, until)
                in_parallel(
                    lambda f, s=step, u=until, c=table: advance(f, s, u, c), starts, threads
                )
        else:

            def whole(first: int) -> None:
                for step in range(0, grid.steps, steps_at_once):
                    advance(first, step, min(step + steps_at_once, grid.steps), none)

            in_parallel(whole, starts, threads)
        marks = np.rint(8.0 * (track.failed % 1.0)).astype(np.int64)
        for row in np.flatnonzero(marks & 4).tolist():
            what = "" if self.method is IMPLICIT else FRICTION
            track.causes[row] = no_solution(request.system.mechanism, track.remains[row], what)
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

    def _function(self) -> Callable[..., int]:
        kind = ctypes.CFUNCTYPE(
            ctypes.c_int64, *[ctypes.c_int64] * _N_COUNTS, *[ctypes.c_void_p] * _N_ARRAYS
        )
        return kind(self.made.code.address("rollout"))


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
    return library.get(key, lambda: _rollout(system, method, library.compiler, (key, width)))


def _rollout(
    system: System, method: Method, compiler: Compiler, what: tuple[tuple[str, ...], int]
) -> Rollout:
    key, width = what
    made = compiler.find(key)
    if made is None:
        with compiler.work(f"the simulation of {system.mechanism.name}"):
            recipes = _recipes(system, method)
            made = compiler.code(key, lambda: _make(recipes, method, system, (compiler, width)))
    return Rollout(made, width, method, int(made.facts["stage"]))


def _recipes(system: System, method: Method) -> dict[str, Recipe]:
    """What a step of a method is made of, the largest text first; with what is held through a step
    and what closes the loops, where there are any."""
    found: dict[str, Recipe] = {}
    if method is IMPLICIT:
        texts = Implicit(system)
        found.update(newton=texts.newton_recipe(), finish=texts.finish_recipe())
        if texts.local:
            found["settling"] = texts.settling_recipe()
    else:
        found.update(stage=system.stage_recipe(), advance=system.advance_recipe())
        if system.rubbing:
            found.update(yields=system.yields_recipe(), rubbing=system.rubbing_recipe())
        if system.stiff:
            found["stiffness"] = system.stiffness_recipe()
    if system.closed:
        found["projection"] = system.projection_recipe()
    return found


def _make(
    recipes: Mapping[str, Recipe], method: Method, system: System, how: tuple[Compiler, int]
) -> tuple[Facts, bytes]:
    from linkwork.simulation.explicit_code import ExplicitCode  # noqa: PLC0415  not for cached code
    from linkwork.simulation.implicit_code import ImplicitCode  # noqa: PLC0415  not for cached code

    compiler, width = how
    target = with_width(compiler.target, width)
    graphs = {name: recipe.graph(fused=target.fused) for name, recipe in recipes.items()}
    module = new_module("rollout", target)
    if method is IMPLICIT:
        n_q, local = system.mechanism.n_q, Implicit(system).local
        code = ImplicitCode(module, graphs, n_q, local, width, fused=target.fused)
    else:
        beyond = bounds(system.mechanism, system.stopped)
        code = ExplicitCode(module, graphs, method, beyond, width, fused=target.fused)
    if "projection" in graphs:
        code.closes(graphs["projection"])
    code.write()
    size = max(len(graph.nodes) for graph in graphs.values())
    made = object_code(module, target, simplify=size <= _LONG)
    return {"stage": size}, made
