"""From targets to verified answers in one native call: prepare, search, verify.

A problem gives four texts, whose code `pipeline_code` strings together:

    prepare (target..., q0)              -> x0, parameters, fault, features
    step    (x, parameters, settings)    -> x', state           (iterated in lanes)
    verify  (x, q0, parameters, settings) -> q, measures        (settings where it needs them)
    place   (x)                          -> features            (of what x reaches; for seeds)

A target is fit where ``fault`` <= 0; a second number there is the most tries that it gets, 0 for
those of the call. An answer is a success where every measure is at most its
threshold. Features say where in the table of seeds a target belongs; none means no table.

`Pipeline.run` takes any number of rows, `Pipeline.one` is a built-in function for one. Both run
the same instructions, so they give the same bits.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.compiler import Made
from linkwork.compile.lanes import REPORT as SEARCH_REPORT
from linkwork.compile.native import loaded_table
from linkwork.compile.native_call import bind
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.threads import in_parallel

Floats = NDArray[np.float64]

OPTIONS = ("steps", "tries", "seed", "seed_try", "checked", "budget")
"""The first numbers of the options; then come the step's settings, then the thresholds.

``seed_try``: the try that starts at a seed, -1 for none. ``checked``: 1 where faults do not count.
``budget``: after so many steps, counted by lane, no further row is begun (see `lanes`).
"""

TABLES = ("starts", "grid", "seeds")
"""Arrays that belong to a solver, by address: see `lanes` and `seeds`."""

SOLVER_TABLE = "solver"

GRID = ("low", "scale", "cells", "stride")
"""The rows of the grid, one number for each feature."""

DONE = -1
"""What ``solve`` returns when all went well. A row below ``count`` was not fit, ``count`` + k means
that the first k rows alone are answered, and -2 - row that an answer could not be verified."""


@dataclass(frozen=True)
class Sizes:
    """How many numbers there are of each kind; a fact that is kept with the code."""

    shapes: tuple[tuple[int, ...], ...]  # of the targets
    n_q: int
    n: int
    parameters: int
    settings: int
    features: int
    measures: int
    rows_scratch: int
    verify_settings: int = 0
    fault: int = 1

    @staticmethod
    def from_facts(facts: Mapping[str, Any]) -> Sizes:
        """The sizes that `to_facts` told."""
        shapes = tuple(tuple(int(axis) for axis in shape) for shape in facts["shapes"])
        return Sizes(shapes, **{k: int(v) for k, v in facts.items() if k != "shapes"})

    def to_facts(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self)

    @property
    def report(self) -> int:
        """Columns of the report: success, the measures, steps, tries."""
        return self.measures + 3

    @property
    def options(self) -> int:
        """Numbers of the options."""
        return len(OPTIONS) + self.settings + self.measures

    @property
    def inputs(self) -> tuple[int, ...]:
        """Numbers of each target, and of q0."""
        return (*[math.prod(shape) for shape in self.shapes], self.n_q)

    def scratch(self, rows: int) -> int:
        """The float64 numbers of scratch that so many rows take."""
        return self.rows_scratch + rows * sum(size for _, size in self.parts)

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """What the scratch holds after that of the row functions, by row."""
        return (
            ("x0", self.n), ("parameters", self.parameters), ("fault", self.fault),
            ("features", self.features), ("rows", 1), ("x", self.n),
            ("found", len(SEARCH_REPORT)), ("measures", self.measures),
            ("settings", self.verify_settings),
        )  # fmt: skip


CHUNK = 4096
"""Targets of one native call, at most; where they take long it returns to Python before, between
two targets. The answers do not depend on either. Lanes have nothing to do when the last targets of
a chunk take long, so it is no shorter than threads need."""

_MOST_ROOMS = 8

Progress = Callable[[int, int], None]


class Refused(Exception):
    """A row that no answer can be given for: unfit, or with numbers too large to verify."""

    def __init__(self, row: int, *, unfit: bool) -> None:
        super().__init__(row, unfit)
        self.row, self.unfit = row, unfit


class Pipeline:
    """Compiled code from targets to verified answers, with the arrays that it reads."""

    def __init__(self, made: Made, tables: Mapping[str, NDArray[Any]]) -> None:
        """``tables``: `TABLES` by name; without features only ``starts``.

        Their addresses stand in the code, so ``made`` is for this pipeline alone.
        """
        self.made = made
        self.sizes = Sizes.from_facts(made.facts["sizes"])
        n_arrays = len(self.sizes.inputs) + 4
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * n_arrays)
        self._call: Callable[..., int] = kind(made.code.address("solve"))
        self._rooms: list[Floats] = []  # scratch to be used again: fresh pages cost as much as work
        self.connect(tables)
        self.one: Callable[..., Floats | None] = self._fast()

    def connect(self, tables: Mapping[str, NDArray[Any]]) -> None:
        """Hand over the arrays of the solver; they are kept."""
        self.tables = {name: np.ascontiguousarray(a) for name, a in tables.items()}
        addresses = loaded_table(self.made.code, SOLVER_TABLE, len(TABLES))
        for name, array in self.tables.items():
            addresses[TABLES.index(name)] = array.ctypes.data

    def options(
        self, numbers: Mapping[str, float], settings: Sequence[float], thresholds: Sequence[float]
    ) -> Floats:
        """The options of a call as `run` and `one` take them; ``numbers``: `OPTIONS` by name.

        The budget is that of a slice of about 0.1 s where none is given.
        """
        given = {"budget": self.made.facts["slice"], **numbers}
        return np.array([*[float(given[name]) for name in OPTIONS], *settings, *thresholds])

    def run(
        self,
        targets: Sequence[Floats],
        q0: Floats,
        options: Floats,
        *,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> tuple[Floats, Floats]:
        """Answers q (N, nq) and report (N, `Sizes.report`) for targets (N, ...), q0 (N or 1, nq).

        All arrays are contiguous float64.

        Raises: Refused for the first chunk that has a row without an answer.
        """
        rows = targets[0].shape[0] if targets else q0.shape[0]
        q, report = np.empty((rows, self.sizes.n_q)), np.empty((rows, self.sizes.report))
        length = max(1, min(CHUNK, rows if threads <= 1 else -(-rows // (4 * threads))))
        starts = q0
        if q0.shape[0] != rows:
            starts = np.ascontiguousarray(np.broadcast_to(q0, (min(length, rows), q0.shape[1])))
        done, halt = Counter(rows, progress), threading.Event()

        def chunk(first: int) -> None:
            last = min(first + length, rows)
            while first < last and not halt.is_set():  # slice by slice, for Ctrl-C and progress
                count = last - first
                start = starts[first:last] if starts.shape[0] == rows else starts
                inputs = [*[t[first:last] for t in targets], start, options]
                status = self._solve(count, [*inputs, q[first:], report[first:]])
                if status < count and status != DONE:
                    row = status if status >= 0 else -2 - status
                    raise Refused(first + row, unfit=status >= 0)
                answered = count if status == DONE else status - count
                first += answered
                done.add(answered)

        in_parallel(chunk, range(0, rows, length), threads, halt=halt)
        return q, report

    def place(self, x: Floats) -> Floats:
        """The features of what x (N, n) reaches (N, f); only where there are features."""
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 2, *[ctypes.c_void_p] * 3)
        call: Callable[..., int] = kind(self.made.code.address("place"))
        x = np.ascontiguousarray(x)
        features = np.empty((x.shape[0], self.sizes.features))
        room = aligned(self.sizes.rows_scratch)
        call(0, x.shape[0], x.ctypes.data, features.ctypes.data, room.ctypes.data)
        return features

    def _solve(self, count: int, arrays: Sequence[Floats]) -> int:
        wanted = self.sizes.scratch(count)
        try:
            scratch = self._rooms.pop()  # no other thread has it until it is put back
        except IndexError:
            scratch = aligned(wanted)
        if scratch.size < wanted:
            scratch = aligned(wanted)
        status = self._call(count, *[a.ctypes.data for a in arrays], scratch.ctypes.data)
        if len(self._rooms) < _MOST_ROOMS:
            self._rooms.append(scratch)
        return status

    def _fast(self) -> Callable[..., Floats | None]:
        """``one(target..., q0, options)``: one row, q then report; None where it must be `run`."""
        abi = array_abi()
        general = _General(self.made)
        if abi is None or not self.made.facts["one"]:
            return general
        return bind(self.made.code, general, "ik", abi)


class _General:
    """What the built-in function calls where it cannot answer; it keeps the code alive."""

    def __init__(self, made: Made) -> None:
        self.made = made

    def __call__(self, *_arguments: object) -> None:
        """Nothing: the caller goes the general way."""


class Counter:
    """Tells the progress of several threads, one at a time."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress, self._done = total, progress, 0
        self._lock = threading.Lock()

    def add(self, rows: int) -> None:
        """So many rows more are done."""
        if self._progress is not None:
            with self._lock:
                self._done += rows
                self._progress(self._done, self._total)


def aligned(count: int) -> Floats:
    """Room for float64 numbers, aligned to a line of the cache."""
    room = np.empty(count + 8)
    first = (-room.ctypes.data % 64) // 8
    return room[first : first + count]
