"""Programs: the compiled code of a problem's expressions, kept by key, and how it is called.

`native_engine` writes the code. `Program.run` takes any number of rows from targets to verified
answers, `Program.one` is a built-in function for one; both run the same instructions, so they give
the same bits. `begin`, `search` and `judge` are its stages apart, for the schedules of `engine`.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.compiler import Compiler, Facts, Made
from linkwork.compile.lanes import ARRAYS, NUMBERS, steps_in_a_slice
from linkwork.compile.lanes import REPORT as SEARCH_REPORT
from linkwork.compile.machine_code import COMPILING, object_code
from linkwork.compile.native_call import bind, emit_fast_call, loaded_table
from linkwork.compile.numpy_abi import ArrayAbi, address, aligned, array_abi
from linkwork.compile.target import new_module
from linkwork.compile.threads import in_parallel
from linkwork.solve.seeds import Axis, make_seeds

if TYPE_CHECKING:
    from linkwork.solve.expressions import Expressions

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]

OPTIONS = ("steps", "tries", "seed", "seed_try", "checked", "budget")
"""The first numbers of the options; then come the settings of an iteration, then the thresholds.

``seed_try``: the try that starts at a seed, -1 for none. ``checked``: 1 where faults do not count.
``budget``: after so many steps, counted by lane, no further row is begun (see `lanes`).
"""

TABLES = ("starts", "grid", "seeds")
"""Arrays that belong to a solver, by address: see `lanes` and `seeds`."""

SOLVER_TABLE = "solver"

GRID = ("low", "scale", "cells", "stride")
"""The rows of the grid, one number for each feature."""

DONE = -1
"""The status of ``solve`` when all went well. A row below ``count`` was not fit, ``count`` + k says
that only the first k rows are answered, -2 - row that an answer could not be verified."""

CHUNK = 4096
"""Targets of one native call, at most; where they take long it returns to Python before, between
two targets. The answers do not depend on either. Lanes have nothing to do when the last targets of
a chunk take long, so it is no shorter than threads need."""
_STEPS_OF_A_ROW = 10
_PART_OF_A_SLICE = 400
"""A thread of its own is worth work of some 0.15 ms, of rows that take about so many steps."""

_MOST_ROOMS = 8
_NO_BUDGET = 2.0**52


@dataclass(frozen=True)
class Sizes:
    """The numbers there are of each kind; a fact that is kept with the code."""

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
        """The sizes as JSON takes them."""
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

    @property
    def room(self) -> int:
        """Numbers for each row that is judged."""
        return self.measures + self.verify_settings

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """The arrays that the scratch of ``solve`` holds after that of the row functions."""
        return (
            ("x0", self.n), ("parameters", self.parameters), ("fault", self.fault),
            ("features", self.features), ("rows", 1), ("x", self.n),
            ("found", len(SEARCH_REPORT)), ("room", self.room),
        )  # fmt: skip

    def scratch(self, rows: int) -> int:
        """The float64 numbers of scratch that so many rows take."""
        return self.rows_scratch + rows * sum(size for _, size in self.parts)


class Begun(NamedTuple):
    """Rows where a search begins."""

    x0: Floats  # (N, n)
    parameters: Floats  # (N, p)
    unfit: NDArray[np.bool_]  # (N,), whether a target or q0 is none
    rows: Floats | None  # (N,) of the table of seeds, where there is one


class Refused(Exception):
    """A row that no answer can be given for: unfit, or with numbers too large to verify."""

    def __init__(self, row: int, *, unfit: bool) -> None:
        super().__init__(row, unfit)
        self.row, self.unfit = row, unfit


def program_of(
    expressions: Expressions, starts: Floats, axes: Sequence[Axis], *, compiler: Compiler
) -> Program:
    """The program of some expressions, with its seeds where it has features (an axis for each)."""
    abi = array_abi()
    layout = "" if abi is None else repr(abi.layout)  # the built-in function is in the code
    key = ("inverse kinematics", layout, repr(expressions.stall), *expressions.key)
    with COMPILING:
        made = compiler.code(key, lambda: _make(expressions, compiler, abi))
        program = Program(made, {"starts": starts})
    if program.sizes.features:
        seeds = make_seeds(program.place, starts, axes)
        program.connect({"starts": starts, "grid": seeds.grid, "seeds": seeds.table})
    return program


def _make(
    expressions: Expressions, compiler: Compiler, abi: ArrayAbi | None
) -> tuple[Facts, bytes]:
    from linkwork.solve.native_engine import emit_engine  # noqa: PLC0415  not for cached code

    target, recipes = compiler.target, expressions.recipes()
    for recipe in recipes.values():
        recipe.traced()  # if one is of a long mechanism, all are made loops
    codes = {name: recipe.code(fused=target.fused) for name, recipe in recipes.items()}
    module = new_module("ik", target)
    inputs = (expressions.inputs, expressions.n_settings)
    sizes = emit_engine(
        module, codes, inputs, target.width, fused=target.fused, stall=expressions.stall
    )
    one = abi is not None and sizes.rows_scratch == 0 and "iterate" in recipes
    if abi is not None and one:
        given = [*sizes.shapes, sizes.n_q, sizes.options]
        rows = module.get_global("one")
        emit_fast_call(module, rows, given, (sizes.n_q + sizes.report,), abi)
    facts: Facts = {"sizes": sizes.to_facts(), "one": one}
    if "iterate" in recipes:
        instructions = recipes["iterate"].signature().instructions
        facts["slice"] = steps_in_a_slice(instructions, target.width)
    return facts, object_code(module, target, simplify=True)


class Program:
    """Compiled code from targets to verified answers, with the arrays that it reads."""

    def __init__(self, made: Made, tables: Mapping[str, NDArray[Any]]) -> None:
        """``tables``: `TABLES` by name; without features only ``starts``.

        Their addresses stand in the code, so ``made`` is for this program alone.
        """
        self.made = made
        self.sizes = Sizes.from_facts(made.facts["sizes"])
        self._rooms: list[Floats] = []  # scratch to be used again: fresh pages cost as much as work
        self.connect(tables)
        self.one: Callable[..., Floats | None] = self._fast()

    def connect(self, tables: Mapping[str, NDArray[Any]]) -> None:
        """Hand over the arrays of the solver; they are kept."""
        self.tables = {name: np.ascontiguousarray(a) for name, a in tables.items()}
        addresses = loaded_table(self.made.code, SOLVER_TABLE, len(TABLES))
        for name, array in self.tables.items():
            addresses[TABLES.index(name)] = address(array)

    def options(
        self, numbers: Mapping[str, float], settings: Sequence[float], thresholds: Sequence[float]
    ) -> Floats:
        """The options of a call as `run`, `one` and `judge` take them; ``numbers``: `OPTIONS`.

        The budget is that of a slice of about 0.1 s where none is given.
        """
        given = {"budget": self.made.facts.get("slice", 0), **numbers}
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
        steps = self.made.facts.get("slice", 0) // _PART_OF_A_SLICE
        share = max(steps // _STEPS_OF_A_ROW, -(-rows // (4 * threads)), 1)
        chunks = -(-rows // share)
        if chunks > threads:  # all threads end together
            share = -(-rows // (-(-chunks // threads) * threads))
        length = max(1, min(CHUNK, rows if threads <= 1 else share))
        starts = q0
        if q0.shape[0] != rows:
            starts = np.ascontiguousarray(np.broadcast_to(q0, (min(length, rows), q0.shape[1])))
        done, halt = Counter(rows, progress), threading.Event()

        def chunk(first: int) -> None:
            last = min(first + length, rows)
            while first < last and not halt.is_set():  # slice by slice, for Ctrl-C and progress
                count = last - first
                start = starts[first:last] if starts.shape[0] == rows else starts
                arrays = [
                    *[t[first:last] for t in targets],
                    start,
                    options,
                    q[first:],
                    report[first:],
                ]
                status = self._with_scratch(
                    self._solve, (count,), arrays, self.sizes.scratch(count)
                )
                if status < count and status != DONE:
                    row = status if status >= 0 else -2 - status
                    raise Refused(first + row, unfit=status >= 0)
                answered = count if status == DONE else status - count
                first += answered
                done.add(answered)

        in_parallel(chunk, range(0, rows, length), threads, halt=halt)
        return q, report

    def begin(self, targets: Sequence[Floats], q0: Floats) -> Begun:
        """The begin of a search for targets (N, ...) from q0 (N, nq).

        Raises: Refused for a row that is not finite.
        """
        sizes, rows = self.sizes, q0.shape[0]
        x0, parameters = np.empty((rows, sizes.n)), np.empty((rows, sizes.parameters))
        fault, features = np.empty((rows, sizes.fault)), np.empty((rows, sizes.features))
        room = aligned(sizes.rows_scratch)
        arrays = [*targets, q0, x0, parameters, fault, features, room]
        status = self._function("prepare", 2, len(arrays))(0, rows, *map(_address, arrays))
        if status >= 0:
            raise Refused(status, unfit=True)
        places = None
        if sizes.features:
            places = np.empty(rows)
            self._function("locate", 1, 2)(rows, _address(features), _address(places))
        return Begun(x0, parameters, ~(fault[:, 0] <= 0.0), places)

    def judge(
        self, x: Floats, q0: Floats, parameters: Floats, found: Floats, options: Floats
    ) -> tuple[Floats, Floats]:
        """Answers q (N, nq) and report (N, `Sizes.report`) for x (N, n) that a search has found.

        ``found`` (N, 4) is the report of that search. Angles without limits go to the turn nearest
        to q0 (N, nq).

        Raises: Refused for numbers too large to verify.
        """
        sizes, count = self.sizes, x.shape[0]
        q, report = np.empty((count, sizes.n_q)), np.empty((count, sizes.report))
        given = [x, q0, parameters, found, options, q, report, np.empty(count * sizes.room)]
        arrays = [np.ascontiguousarray(a) for a in given]
        call = self._function("judge", 1, len(arrays) + 1)
        status = self._with_scratch(call, (count,), arrays, sizes.rows_scratch)
        if status != DONE:
            raise Refused(-2 - status, unfit=False)
        return q, report

    def search(self, numbers: Sequence[int], arrays: Sequence[Floats | None]) -> int:
        """The search in lanes, see `lanes`: its numbers, and its arrays but for the scratch."""
        return self._with_scratch(self._search, numbers, arrays, self.sizes.rows_scratch)

    @cached_property
    def _search(self) -> Callable[..., int]:
        return self._function("ik", len(NUMBERS), len(ARRAYS))

    def place(self, x: Floats) -> Floats:
        """The features of what x (N, n) reaches (N, f); only where there are features."""
        x = np.ascontiguousarray(x)
        features = np.empty((x.shape[0], self.sizes.features))
        arrays = [x, features, aligned(self.sizes.rows_scratch)]
        self._function("place", 2, 3)(0, x.shape[0], *map(_address, arrays))
        return features

    @cached_property
    def _solve(self) -> Callable[..., int]:
        return self._function("solve", 1, len(self.sizes.inputs) + 4)

    def _function(self, name: str, numbers: int, arrays: int) -> Callable[..., int]:
        kind = ctypes.CFUNCTYPE(
            ctypes.c_int64, *[ctypes.c_int64] * numbers, *[ctypes.c_void_p] * arrays
        )
        return kind(self.made.code.address(name))

    def _with_scratch(
        self,
        call: Callable[..., int],
        numbers: Sequence[int],
        arrays: Sequence[Floats | None],
        wanted: int,
    ) -> int:
        try:
            scratch = self._rooms.pop()  # no other thread has it until it is put back
        except IndexError:
            scratch = aligned(wanted)
        if scratch.size < wanted:
            scratch = aligned(wanted)
        status = call(*numbers, *map(_address, arrays), _address(scratch))
        if len(self._rooms) < _MOST_ROOMS:
            self._rooms.append(scratch)
        return status

    def _fast(self) -> Callable[..., Floats | None]:
        """``one(target..., q0, options)``: one row, q then report; None where it must be `run`."""
        abi = array_abi()
        general = Otherwise(self.made)
        if abi is None or not self.made.facts["one"]:
            return general
        return bind(self.made.code, general, "ik", abi)


class Listed:
    """Rows of a program, solved by compiled code that calls ``function(n, arrays)``.

    That is `solve_listed` of `native_engine`: ``arrays`` is the address of a list of addresses.
    ``targets`` (rows, ...), ``q0`` and ``q`` (rows, nq) and ``report`` (rows, `Sizes.report`) are
    for one thread, which solves no more than so many at a time.
    """

    def __init__(
        self, program: Program, options: Floats, targets: Sequence[Floats], rows: int
    ) -> None:
        sizes = program.sizes
        options = options.copy()
        options[OPTIONS.index("budget")] = _NO_BUDGET
        self.targets = tuple(np.ascontiguousarray(each) for each in targets)
        self.q0, self.q = np.zeros((rows, sizes.n_q)), np.zeros((rows, sizes.n_q))
        self.report = np.zeros((rows, sizes.report))
        self.function = program.made.code.address("solve_listed")
        scratch = aligned(sizes.scratch(rows))
        kept = (*self.targets, self.q0, options, self.q, self.report, scratch)
        self._kept = program, kept, np.array([address(each) for each in kept], np.int64)
        self.arrays = address(self._kept[2])


class Otherwise:
    """The answer of a built-in function where it has none: None; it keeps alive what that uses."""

    def __init__(self, *kept: object) -> None:
        self.kept = kept

    def __call__(self, *_arguments: object) -> None:
        """None: the caller goes the general way."""


class Counter:
    """The progress of several threads, told one at a time."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress, self._done = total, progress, 0
        self._lock = threading.Lock()

    def add(self, rows: int) -> None:
        """Count so many rows more."""
        if self._progress is not None:
            with self._lock:
                self._done += rows
                self._progress(self._done, self._total)


def _address(a: Floats | None) -> int | None:
    return None if a is None else address(a)
