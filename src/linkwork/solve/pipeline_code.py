"""The native code from targets to verified answers: what `pipeline` calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from llvmlite import ir

from linkwork.compile.emit import F64, I64, POINTER, i64
from linkwork.compile.lanes import ARRAYS, NUMBERS, Stall, emit_lanes
from linkwork.compile.lanes import REPORT as SEARCH_REPORT
from linkwork.compile.loops import counted_loop, emit_rows
from linkwork.compile.native import new_table
from linkwork.solve.pipeline import DONE, GRID, OPTIONS, SOLVER_TABLE, TABLES, Sizes

if TYPE_CHECKING:
    from linkwork.compile.graph import Graph


@dataclass(frozen=True)
class Graphs:
    """The graphs of a problem's texts."""

    prepare: Graph
    step: Graph
    verify: Graph
    place: Graph | None


def emit_pipeline(
    module: Any,
    graphs: Graphs,
    shapes: Sequence[tuple[int, ...]],
    width: int,
    *,
    fused: bool,
    stall: Stall | None = None,
) -> Sizes:
    """Write ``i64 solve(count, target..., q0, options, q, report, scratch)``.

    Arrays are row-major; ``scratch`` is as long as `Sizes.scratch` says, aligned to 64 bytes.
    Beside it stand ``ik``, the search alone, ``place``, and ``one``, which has its scratch on the
    stack.
    """
    stages = {
        name: emit_rows(module, graph, width, name, fused=fused)
        for name, graph in (("prepare", graphs.prepare), ("verify", graphs.verify))
    }
    if graphs.place is not None:
        stages["place"] = emit_rows(module, graphs.place, width, "place", fused=fused)
    search = emit_lanes(module, graphs.step, width, "ik", fused=fused, stall=stall)
    n, parameters, settings = graphs.step.input_sizes
    sizes = Sizes(
        shapes=tuple(tuple(shape) for shape in shapes),
        n_q=graphs.verify.output_sizes[0],
        n=n,
        parameters=parameters,
        settings=settings,
        features=graphs.prepare.output_sizes[3],
        measures=graphs.verify.output_sizes[1],
        rows_scratch=max(stage.scratch for stage in stages.values()),
        verify_settings=graphs.verify.input_sizes[3],
        fault=graphs.prepare.output_sizes[2],
    )
    functions = {name: stage.function for name, stage in stages.items()}
    _Solve(module, sizes, {**functions, "search": search}).write()
    return sizes


class _Solve:
    """The writing of ``solve`` and ``one``."""

    def __init__(self, module: Any, sizes: Sizes, functions: dict[str, Any]) -> None:
        self.module, self.sizes, self.functions = module, sizes, functions
        self.table, _ = new_table(module, SOLVER_TABLE, TABLES)
        n_arrays = len(sizes.inputs) + 4
        kind = ir.FunctionType(I64, [I64] + [POINTER] * n_arrays)
        self.function: Any = ir.Function(module, kind, "solve")
        self.b: Any = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.count, *arrays = self.function.args
        self.targets = arrays[: len(sizes.inputs) - 1]
        self.q0, self.options, self.q, self.report, self.scratch = arrays[len(sizes.inputs) - 1 :]
        self.place: dict[str, Any] = {}

    def write(self) -> None:
        """Write both functions."""
        b = self.b
        at: Any = i64(self.sizes.rows_scratch)
        for name, size in self.sizes.parts:
            self.place[name] = b.gep(self.scratch, [at])
            at = b.add(at, b.mul(self.count, i64(size)))
        self._prepare()
        self._rows()
        answered = self._search()
        self._verify(answered)
        partly = b.icmp_signed("<", answered, self.count)
        b.ret(b.select(partly, b.add(self.count, answered), i64(DONE)))
        self._write_one()

    def option(self, name: str) -> Any:
        """One of the options, a whole number."""
        return self.b.fptosi(self.b.load(self.b.gep(self.options, [i64(OPTIONS.index(name))])), I64)

    def each_row(self, count: Any, body: Callable[[Any], None]) -> None:
        """Write a loop over the first rows."""
        with self.b.if_then(self.b.icmp_signed(">", count, i64(0))):
            counted_loop(self.b, count, body)

    def item(self, name: str, row: Any, k: Any) -> Any:
        """Where a number of a row stands."""
        size = dict(self.sizes.parts)[name]
        return self.b.gep(self.place[name], [self.b.add(self.b.mul(row, i64(size)), k)])

    def pointer(self, name: str) -> Any:
        """An array that belongs to the solver."""
        at = self.b.gep(self.table, [i64(0), i64(TABLES.index(name))])
        return self.b.bitcast(self.b.load(at), POINTER)

    def _prepare(self) -> None:
        b, place = self.b, self.place
        outputs = [place[name] for name in ("x0", "parameters", "fault", "features")]
        arrays = [*self.targets, self.q0, *outputs, self.scratch]
        status = b.call(self.functions["prepare"], [i64(0), self.count, *arrays])
        with b.if_then(b.icmp_signed(">=", status, i64(0)), likely=False):
            b.ret(status)
        unchecked = b.icmp_signed("==", self.option("checked"), i64(0))

        def test(row: Any) -> None:
            fault = b.load(self.item("fault", row, i64(0)))
            wrong = b.fcmp_unordered(">", fault, ir.Constant(F64, 0.0))
            with b.if_then(b.and_(wrong, unchecked), likely=False):
                b.ret(row)
            for k in range(self.sizes.n):
                b.store(b.load(self.item("x0", row, i64(k))), self.item("x", row, i64(k)))
            for k in range(self.sizes.verify_settings):
                value = b.load(b.gep(self.options, [i64(len(OPTIONS) + k)]))
                b.store(value, self.item("settings", row, i64(k)))
            for k, value in enumerate((0.0, float("inf"), 0.0, float("inf"))):
                b.store(ir.Constant(F64, value), self.item("found", row, i64(k)))
            if self.sizes.fault > 1:  # the most tries, as `lanes` is told of them
                most = b.fneg(b.load(self.item("fault", row, i64(1))))
                b.store(most, self.item("found", row, i64(SEARCH_REPORT.index("steps"))))

        self.each_row(self.count, test)

    def _rows(self) -> None:
        """In which row of the table of seeds each target belongs."""
        if not self.sizes.features:
            return
        b = self.b
        grid = self.pointer("grid")
        zero = ir.Constant(F64, 0.0)
        floor = self.module.declare_intrinsic("llvm.floor", [F64])

        def entry(name: str, k: int) -> Any:
            return b.load(b.gep(grid, [i64(GRID.index(name) * self.sizes.features + k)]))

        def locate(row: Any) -> None:
            index: Any = zero
            for k in range(self.sizes.features):
                feature = b.load(self.item("features", row, i64(k)))
                at = b.call(floor, [b.fmul(b.fsub(feature, entry("low", k)), entry("scale", k))])
                most = b.fsub(entry("cells", k), ir.Constant(F64, 1.0))
                at = b.select(b.fcmp_ordered("<", at, most), at, most)
                at = b.select(b.fcmp_ordered(">", at, zero), at, zero)
                index = b.fadd(index, b.fmul(at, entry("stride", k)))
            b.store(index, self.item("rows", row, i64(0)))

        with b.if_then(b.icmp_signed(">=", self.option("seed_try"), i64(0))):
            self.each_row(self.count, locate)

    def _search(self) -> Any:
        """Search for the rows; how many of them were, before the budget was used."""
        b, place = self.b, self.place
        numbers: dict[str, Any] = {
            "first": i64(0), "last": self.count, "max_steps": self.option("steps"),
            "first_try": i64(0), "max_tries": self.option("tries"), "seed": self.option("seed"),
            "seed_try": self.option("seed_try"), "budget": self.option("budget"),
        }  # fmt: skip
        arrays = {
            "x0": place["x0"], "parameters": place["parameters"],
            "settings": b.gep(self.options, [i64(len(OPTIONS))]),
            "starts": self.pointer("starts"), "rows": place["rows"],
            "seeds": self.pointer("seeds"), "x": place["x"], "report": place["found"],
        }  # fmt: skip
        given = [numbers[name] for name in NUMBERS] + [arrays[name] for name in ARRAYS]
        left = b.call(self.functions["search"], given)
        return b.add(self.count, b.select(b.icmp_signed("<", left, i64(0)), left, i64(0)))

    def _verify(self, answered: Any) -> None:
        b, place, sizes = self.b, self.place, self.sizes
        numbers = [place["x"], self.q0, place["parameters"], place["settings"]]
        arrays = [*numbers, self.q, place["measures"], self.scratch]
        status = b.call(self.functions["verify"], [i64(0), answered, *arrays])
        with b.if_then(b.icmp_signed(">=", status, i64(0)), likely=False):
            b.ret(b.sub(i64(-2), status))
        thresholds = b.gep(self.options, [i64(len(OPTIONS) + sizes.settings)])

        def judge(row: Any) -> None:
            success: Any = ir.Constant(ir.IntType(1), 1)
            report = b.gep(self.report, [b.mul(row, i64(sizes.report))])
            for k in range(sizes.measures):
                measure = b.load(self.item("measures", row, i64(k)))
                within = b.fcmp_ordered("<=", measure, b.load(b.gep(thresholds, [i64(k)])))
                success = b.and_(success, within)
                b.store(measure, b.gep(report, [i64(1 + k)]))
            b.store(b.uitofp(success, F64), report)
            for name, column in (("steps", 1), ("tries", 2)):
                value = b.load(self.item("found", row, i64(SEARCH_REPORT.index(name))))
                none = b.fcmp_ordered("==", value, ir.Constant(F64, float("inf")))
                value = b.select(none, ir.Constant(F64, 0.0), value)
                b.store(value, b.gep(report, [i64(sizes.measures + column)]))

        self.each_row(answered, judge)

    def _write_one(self) -> None:
        """``i64 one(first, last, target..., q0, options, out, null)``: one row, q then report."""
        sizes = self.sizes
        kind = ir.FunctionType(I64, [I64, I64] + [POINTER] * (len(sizes.inputs) + 3))
        function: Any = ir.Function(self.module, kind, "one")
        b: Any = ir.IRBuilder(function.append_basic_block("entry"))
        *inputs, out, _ = function.args[2:]
        scratch: Any = b.alloca(F64, size=sizes.scratch(1))
        scratch.align = 64
        report = b.gep(out, [i64(sizes.n_q)])
        status = b.call(self.function, [i64(1), *inputs, out, report, scratch])
        good = b.icmp_signed("==", status, i64(DONE))
        b.ret(b.select(good, i64(-1), i64(0)))
