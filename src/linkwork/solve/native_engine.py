"""The native code of the engine, from targets to verified answers: prepare, search, judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir

from linkwork.compile.emit import F64, I64, POINTER, i64
from linkwork.compile.lanes import ARRAYS, NUMBERS, Stall, emit_lanes
from linkwork.compile.lanes import REPORT as SEARCH_REPORT
from linkwork.compile.loops import copy, counted_loop
from linkwork.compile.native_call import new_table
from linkwork.compile.rolled_rows import emit_code
from linkwork.solve.program import DONE, GRID, OPTIONS, SOLVER_TABLE, TABLES, Sizes

if TYPE_CHECKING:
    from linkwork.compile.graph import Graph
    from linkwork.compile.rolled import Program


def emit_engine(
    module: Any,
    codes: Mapping[str, Graph | Program],
    sizes_of_inputs: tuple[tuple[tuple[int, ...], ...], int],
    width: int,
    *,
    fused: bool,
    stall: Stall | None = None,
) -> Sizes:
    """Write the functions of a program; ``codes`` are those of its expressions by name.

    ``sizes_of_inputs`` are the shapes of one target each, and how many settings there are. Always
    there are ``prepare`` and ``judge``; where something is iterated ``ik``, the search alone,
    ``solve``, all of it, ``solve_listed``, which finds its arrays in a list, and ``one``, which has
    its scratch on the stack; ``locate`` and ``place`` where there are features. Arrays are
    row-major, scratch is aligned to 64 bytes.
    """
    stages = {
        name: emit_code(module, codes[name], width, name, fused=fused)
        for name in ("prepare", "verify", "place")
        if name in codes
    }
    if "iterate" in codes:
        stages["search"] = emit_lanes(
            module, codes["iterate"], width, "ik", fused=fused, stall=stall
        )
    functions = {name: stage.function for name, stage in stages.items()}
    prepare, verify = codes["prepare"], codes["verify"]
    sizes = Sizes(
        shapes=tuple(tuple(shape) for shape in sizes_of_inputs[0]),
        n_q=verify.output_sizes[0],
        n=verify.input_sizes[0],
        parameters=verify.input_sizes[2],
        settings=sizes_of_inputs[1],
        features=prepare.output_sizes[3],
        measures=verify.output_sizes[1],
        rows_scratch=max(stage.scratch for stage in stages.values()),
        verify_settings=verify.input_sizes[3],
        fault=prepare.output_sizes[2],
    )
    table, _ = new_table(module, SOLVER_TABLE, TABLES)
    if sizes.features:
        functions["locate"] = _Function(
            module, sizes, table, "locate", ("features", "rows")
        ).locate()
    arrays = ("x", "q0", "parameters", "found", "options", "q", "report", "room", "scratch")
    functions["judge"] = _Function(module, sizes, table, "judge", arrays).judge(functions["verify"])
    if "search" in functions:
        targets = [f"target_{k}" for k in range(len(sizes.shapes))]
        arrays = (*targets, "q0", "options", "q", "report", "scratch")
        solve = _Function(module, sizes, table, "solve", arrays).solve(functions, targets)
        _write_one(module, sizes, solve)
        _write_listed(module, solve)
    return sizes


class _Function:
    """One function ``i64 name(count, arrays...)`` that is being written."""

    def __init__(
        self, module: Any, sizes: Sizes, table: Any, name: str, arrays: Sequence[str]
    ) -> None:
        self.module, self.sizes, self.table = module, sizes, table
        kind = ir.FunctionType(I64, [I64] + [POINTER] * len(arrays))
        self.function: Any = ir.Function(module, kind, name)
        self.b: Any = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.count, *given = self.function.args
        self.array: dict[str, Any] = dict(zip(arrays, given, strict=True))

    def option(self, name: str) -> Any:
        """One of the options, a whole number."""
        at = self.b.gep(self.array["options"], [i64(OPTIONS.index(name))])
        return self.b.fptosi(self.b.load(at), I64)

    def each_row(self, body: Callable[[Any], None]) -> None:
        """Write a loop over the rows."""
        with self.b.if_then(self.b.icmp_signed(">", self.count, i64(0))):
            counted_loop(self.b, self.count, body)

    def item(self, name: str, size: int, row: Any, k: int) -> Any:
        """The place of a number of a row of an array."""
        return self.b.gep(self.array[name], [self.b.add(self.b.mul(row, i64(size)), i64(k))])

    def pointer(self, name: str) -> Any:
        """An array that belongs to the solver."""
        at = self.b.gep(self.table, [i64(0), i64(TABLES.index(name))])
        return self.b.bitcast(self.b.load(at), POINTER)

    def locate(self) -> Any:
        """``locate(count, features, rows)``: the row of the table of seeds of each target."""
        b, n = self.b, self.sizes.features
        grid, zero = self.pointer("grid"), ir.Constant(F64, 0.0)
        floor = self.module.declare_intrinsic("llvm.floor", [F64])

        def entry(name: str, k: int) -> Any:
            return b.load(b.gep(grid, [i64(GRID.index(name) * n + k)]))

        def row(row: Any) -> None:
            index: Any = zero
            for k in range(n):
                feature = b.load(self.item("features", n, row, k))
                at = b.call(floor, [b.fmul(b.fsub(feature, entry("low", k)), entry("scale", k))])
                most = b.fsub(entry("cells", k), ir.Constant(F64, 1.0))
                at = b.select(b.fcmp_ordered("<", at, most), at, most)
                at = b.select(b.fcmp_ordered(">", at, zero), at, zero)
                index = b.fadd(index, b.fmul(at, entry("stride", k)))
            b.store(index, self.item("rows", 1, row, 0))

        self.each_row(row)
        b.ret(i64(DONE))
        return self.function

    def judge(self, verify: Any) -> Any:
        """``judge(count, x, q0, parameters, found, options, q, report, room, scratch)``.

        The answers q and their report for what a search has ``found``; ``room`` is for the measures
        and the settings of each row. It returns `DONE`, or -2 - row for what cannot be verified.
        """
        b, sizes, array = self.b, self.sizes, self.array
        measures = sizes.measures
        array["measures"] = array["room"]
        array["settings"] = b.gep(array["room"], [b.mul(self.count, i64(measures))])

        def settings(row: Any) -> None:
            for k in range(sizes.verify_settings):
                value = b.load(b.gep(array["options"], [i64(len(OPTIONS) + k)]))
                b.store(value, self.item("settings", sizes.verify_settings, row, k))

        if sizes.verify_settings:
            self.each_row(settings)
        names = ("x", "q0", "parameters", "settings", "q", "measures", "scratch")
        status = b.call(verify, [i64(0), self.count, *(array[name] for name in names)])
        with b.if_then(b.icmp_signed(">=", status, i64(0)), likely=False):
            b.ret(b.sub(i64(-2), status))
        thresholds = b.gep(array["options"], [i64(len(OPTIONS) + sizes.settings)])

        def row(row: Any) -> None:
            success: Any = ir.Constant(ir.IntType(1), 1)
            for k in range(measures):
                measure = b.load(self.item("measures", measures, row, k))
                within = b.fcmp_ordered("<=", measure, b.load(b.gep(thresholds, [i64(k)])))
                success = b.and_(success, within)
                b.store(measure, self.item("report", sizes.report, row, 1 + k))
            b.store(b.uitofp(success, F64), self.item("report", sizes.report, row, 0))
            for name, column in (("steps", 1), ("tries", 2)):
                at = SEARCH_REPORT.index(name)
                value = b.load(self.item("found", len(SEARCH_REPORT), row, at))
                none = b.fcmp_ordered("==", value, ir.Constant(F64, float("inf")))
                value = b.select(none, ir.Constant(F64, 0.0), value)
                b.store(value, self.item("report", sizes.report, row, measures + column))

        self.each_row(row)
        b.ret(i64(DONE))
        return self.function

    def solve(self, functions: Mapping[str, Any], targets: Sequence[str]) -> Any:
        """``solve(count, target..., q0, options, q, report, scratch)``, see `DONE`.

        ``scratch`` is as long as `Sizes.scratch` says.
        """
        b, array, parts = self.b, self.array, dict(self.sizes.parts)
        at: Any = i64(self.sizes.rows_scratch)
        for name, size in parts.items():
            array[name] = b.gep(array["scratch"], [at])
            at = b.add(at, b.mul(self.count, i64(size)))
        names = (*targets, "q0", "x0", "parameters", "fault", "features", "scratch")
        status = b.call(functions["prepare"], [i64(0), self.count, *(array[n] for n in names)])
        with b.if_then(b.icmp_signed(">=", status, i64(0)), likely=False):
            b.ret(status)
        unchecked = b.icmp_signed("==", self.option("checked"), i64(0))

        def begin(row: Any) -> None:
            fault = b.load(self.item("fault", self.sizes.fault, row, 0))
            wrong = b.fcmp_unordered(">", fault, ir.Constant(F64, 0.0))
            with b.if_then(b.and_(wrong, unchecked), likely=False):
                b.ret(row)
            n = self.sizes.n
            start, x = self.item("x0", n, row, 0), self.item("x", n, row, 0)
            if n:
                copy(b, start, x, i64(n))
            for k, value in enumerate((0.0, float("inf"), 0.0, float("inf"))):
                b.store(ir.Constant(F64, value), self.item("found", len(SEARCH_REPORT), row, k))
            if self.sizes.fault > 1:  # the most tries, as `lanes` is told of them
                most = b.fneg(b.load(self.item("fault", self.sizes.fault, row, 1)))
                steps = SEARCH_REPORT.index("steps")
                b.store(most, self.item("found", len(SEARCH_REPORT), row, steps))

        self.each_row(begin)
        if self.sizes.features:
            with b.if_then(b.icmp_signed(">=", self.option("seed_try"), i64(0))):
                b.call(functions["locate"], [self.count, array["features"], array["rows"]])
        numbers: dict[str, Any] = {
            "first": i64(0), "last": self.count, "max_steps": self.option("steps"),
            "first_try": i64(0), "max_tries": self.option("tries"), "seed": self.option("seed"),
            "seed_try": self.option("seed_try"), "budget": self.option("budget"),
        }  # fmt: skip
        arrays = {
            **{name: array[name] for name in ("x0", "parameters", "rows", "x")},
            "settings": b.gep(array["options"], [i64(len(OPTIONS))]),
            "starts": self.pointer("starts"), "seeds": self.pointer("seeds"),
            "report": array["found"], "scratch": array["scratch"],
        }  # fmt: skip
        given = [numbers[name] for name in NUMBERS] + [arrays[name] for name in ARRAYS]
        left = b.call(functions["search"], given)
        answered = b.add(self.count, b.select(b.icmp_signed("<", left, i64(0)), left, i64(0)))
        names = ("x", "q0", "parameters", "found", "options", "q", "report", "room", "scratch")
        status = b.call(functions["judge"], [answered, *(array[name] for name in names)])
        with b.if_then(b.icmp_signed("!=", status, i64(DONE)), likely=False):
            b.ret(status)
        partly = b.icmp_signed("<", answered, self.count)
        b.ret(b.select(partly, b.add(self.count, answered), i64(DONE)))
        return self.function


def _write_one(module: Any, sizes: Sizes, solve: Any) -> None:
    """``i64 one(first, last, target..., q0, options, out, null)``: one row, q then report."""
    kind = ir.FunctionType(I64, [I64, I64] + [POINTER] * (len(sizes.inputs) + 3))
    function: Any = ir.Function(module, kind, "one")
    b: Any = ir.IRBuilder(function.append_basic_block("entry"))
    *inputs, out, _ = function.args[2:]
    scratch: Any = b.alloca(F64, size=sizes.scratch(1))
    scratch.align = 64
    report = b.gep(out, [i64(sizes.n_q)])
    status = b.call(solve, [i64(1), *inputs, out, report, scratch])
    good = b.icmp_signed("==", status, i64(DONE))
    b.ret(b.select(good, i64(-1), i64(0)))


def _write_listed(module: Any, solve: Any) -> None:
    """``i64 solve_listed(count, arrays)``: ``solve`` with its arrays by a list of addresses."""
    kind = ir.FunctionType(I64, [I64, I64.as_pointer()])
    function: Any = ir.Function(module, kind, "solve_listed")
    b: Any = ir.IRBuilder(function.append_basic_block("entry"))
    count, listed = function.args
    given = [
        b.inttoptr(b.load(b.gep(listed, [i64(k)])), POINTER) for k in range(len(solve.args) - 1)
    ]
    b.ret(b.call(solve, [count, *given]))
