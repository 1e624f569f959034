"""The cost of a kernel, and the least it could be: counted, measured, and said how.

A bound is a time below which this core cannot do the work: the arithmetic that the kernel must
issue, at the rates that short loops reach here, and the bytes that it must move, at the rate of a
loop that moves them and computes nothing. The larger of the two bounds the kernel.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.ir.instructions import StoreInstr
from numpy.typing import NDArray

from linkwork.checks import whole_number
from linkwork.compile.emit import I64, POINTER, Emitter, counted_loop, i64
from linkwork.compile.graph import Graph
from linkwork.compile.loops import Ports, emit_nodes
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.numpy_abi import address, aligned
from linkwork.compile.recipe import Signature
from linkwork.compile.target import Target, new_module

Floats = NDArray[np.float64]

_MOST_ROWS = 100_000
_MOST_BYTES = 64 * 2**20
_CALLS = 1000
_KINDS = {"fadd": "sum", "fsub": "sum", "fmul": "product", "fdiv": "division"}
_INTRINSICS = {"fma": "fma", "sqrt": "root"}
_FREE = ("fneg", "bitcast", "phi", "br", "ret", "load", "store", "getelementptr")


@dataclass(frozen=True)
class Subject:
    """A kernel as `describe` sees it."""

    graph: Graph
    signature: Signature
    target: Target
    batch: Callable[..., Any]  # the kernel: takes arrays of rows, ``out`` and ``threads``
    single: Callable[..., Any]  # the function for one configuration
    code_bytes: int | None = None  # None where nothing was compiled
    scratch: int = 0  # float64 numbers that a thread brings for the tiles; 0: they are on the stack
    compile_seconds: float | None = None
    cached: bool | None = None


@dataclass(frozen=True)
class Description:
    """A kernel's work, its bounds on this core and its measured times, all for one row.

    Times are in nanoseconds on one thread. `str` gives a table that says how each was got.
    """

    name: str
    processor: str
    lanes: int
    operations: dict[str, int]  # of the graph, by kind; a sine and a cosine of one angle are one
    instructions: dict[str, int]  # emitted for `lanes` rows: sum, product, fma, division, root, ...
    flops: (
        int  # sums, products, divisions, roots: 1 each; fused multiply-add: 2; calls: not counted
    )
    bytes_read: int
    bytes_written: int
    tile_bytes: int  # of one tile: inputs and outputs of `lanes` rows
    tile_place: str
    peak_gflops: float
    arithmetic_bound_ns: float
    memory_bound_ns: float
    rows: int  # in the measured batch
    batch_ns: float
    single_ns: float
    compile_seconds: float | None
    code_bytes: int | None
    cached: bool | None

    @property
    def bound_ns(self) -> float:
        """The larger of the two bounds."""
        return max(self.arithmetic_bound_ns, self.memory_bound_ns)

    @property
    def bound_by(self) -> str:
        """The name of the larger bound: ``"arithmetic"`` or ``"memory"``."""
        return "arithmetic" if self.arithmetic_bound_ns >= self.memory_bound_ns else "memory"

    @property
    def share(self) -> float:
        """The share of the bound that the measured batch reaches; 1 is the limit of this core."""
        return self.bound_ns / self.batch_ns

    @property
    def gflops(self) -> float:
        """Floating-point operations a second of the measured batch, in units of 1e9."""
        return self.flops / self.batch_ns

    def to_dict(self) -> dict[str, Any]:
        """Every number by name, as JSON takes it."""
        derived = {key: getattr(self, key) for key in ("bound_ns", "bound_by", "share", "gflops")}
        return {**asdict(self), **derived}

    def __str__(self) -> str:
        rows = _table(self)
        wide = [max(len(row[k]) for row in rows) for k in range(2)]
        lines = [f"  {a:<{wide[0]}}  {b:>{wide[1]}}  {c}" for a, b, c in rows]
        head = f"{self.name} on {self.processor}, vectors of {self.lanes} rows"
        return "\n".join([head, *lines])


def describe(
    subject: Subject,
    *,
    clock: Clock,
    samples: Sequence[Floats] | None = None,
    rows: int | None = None,
) -> Description:
    """Count the kernel's work, measure it, and measure what this core could do.

    ``samples`` are arrays (n, size), one for each input, whose rows are used in turn; by default
    normal random numbers. ``rows`` is the length of the measured batch, by default 100,000, or
    as many as 64 MB hold. Takes about half a second. The numbers are of this core at this moment:
    other work on the machine makes them worse.

    Raises: InputError for a number of rows below 1, and what the kernel raises.
    """
    graph, target = subject.graph, subject.target
    n_in, n_out = sum(graph.input_sizes), sum(graph.output_sizes)
    count = max(1, min(_MOST_ROWS, _MOST_BYTES // max(8 * (n_in + n_out), 1)))
    count = count if rows is None else whole_number(rows, "rows")
    given = _inputs(graph, count, samples)
    out = np.ones((count if given else 1, *subject.signature.output_shapes[0]))
    subject.batch(*given, out=out, threads=1)  # compiles where that is still to be done
    batch_seconds = best(lambda: subject.batch(*given, out=out, threads=1), clock, seconds=0.1)
    row = tuple(np.ascontiguousarray(a[0]) for a in given)

    def single_calls() -> None:
        for _ in range(_CALLS):
            subject.single(*row)

    single_calls()
    single_seconds = best(single_calls, clock, seconds=0.03) / _CALLS
    instructions = count_instructions(graph, target)
    speed = rates(target, clock)
    traffic = traffic_seconds(graph, count, target, clock)
    tile = 8 * (n_in + n_out) * target.width
    place = f"{8 * subject.scratch} bytes of scratch" if subject.scratch else "registers or stack"
    return Description(
        name=subject.signature.name,
        processor=target.cpu,
        lanes=target.width,
        operations=count_operations(graph),
        instructions=instructions,
        flops=_flops(instructions),
        bytes_read=8 * n_in,
        bytes_written=8 * n_out,
        tile_bytes=tile,
        tile_place=place,
        peak_gflops=speed.product * target.width * (2 if target.fused else 1) / 1e9,
        arithmetic_bound_ns=_arithmetic_seconds(instructions, speed) / target.width * 1e9,
        memory_bound_ns=traffic / count * 1e9,
        rows=count,
        batch_ns=batch_seconds / count * 1e9,
        single_ns=single_seconds * 1e9,
        compile_seconds=subject.compile_seconds,
        code_bytes=subject.code_bytes,
        cached=subject.cached,
    )


# --- counting ------------------------------------------------------------------------------------


def count_operations(graph: Graph) -> dict[str, int]:
    """The graph's operations by name; sine and cosine of one value are one ``sincos``."""
    counted: dict[str, int] = {}
    turns: set[int] = set()
    for node in graph.nodes:
        if node.op is None:
            continue
        name = node.op.name.lower()
        if name in ("sin", "cos"):
            if node.args[0] in turns:
                continue
            turns.add(node.args[0])
            name = "sincos"
        counted[name] = counted.get(name, 0) + 1
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def count_instructions(graph: Graph, target: Target) -> dict[str, int]:
    """The instructions that the graph is emitted as, for one tile, on the way usually taken.

    ``call`` are calls of the C library, one for all lanes of a vector; ``other`` are comparisons,
    choices and work on bits. Loads, stores and the tests for numbers that are not finite are left
    out: the first belong to the memory's bound, the others are ours to make cheaper.
    """
    module = new_module("count", target)
    pointers = [POINTER] * (len(graph.input_sizes) + len(graph.output_sizes))
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), pointers), "count")
    b = ir.IRBuilder(function.append_basic_block("entry"))
    emitter = Emitter(b, target.width, fused=target.fused)
    places = [b.bitcast(p, emitter.type.as_pointer()) for p in function.args]
    emit_nodes(emitter, Ports(graph, b, places), whole=True)
    b.ret_void()
    hot = _hot(function)
    counted: dict[str, int] = {}
    written = [each for block in function.blocks for each in block.instructions]
    stores = [each for each in written if isinstance(each, StoreInstr)]
    for instruction in _needed(stores, hot):
        kind = _kind(instruction)
        if kind:
            counted[kind] = counted.get(kind, 0) + 1
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def _hot(function: Any) -> set[Any]:
    """The blocks reached from the entry when no branch takes the side that is said to be rare."""
    seen: set[Any] = set()
    ahead = [function.blocks[0]]
    while ahead:
        block = ahead.pop()
        if block not in seen:
            seen.add(block)
            ahead += _usual(block.terminator)
    return seen


def _usual(branch: Any) -> list[Any]:
    targets = [o for o in branch.operands if isinstance(o, ir.Block)]
    weights = getattr(branch, "metadata", {}).get("prof")
    if weights is None or len(targets) != 2:
        return targets
    first, second = (int(w.constant) for w in weights.operands[1:3])
    return [targets[0] if first >= second else targets[1]]


def _needed(stores: Sequence[Any], hot: set[Any]) -> list[Any]:
    """The instructions that the stores depend on, in hot blocks: what no result needs is left."""
    seen: set[int] = set()
    found: list[Any] = []
    ahead = list(stores)
    while ahead:
        value = ahead.pop()
        if not isinstance(value, ir.Instruction) or id(value) in seen or value.parent not in hot:
            continue
        seen.add(id(value))
        found.append(value)
        ahead += (
            [v for v, _ in value.incomings] if isinstance(value, ir.PhiInstr) else value.operands
        )
    return found


def _kind(instruction: Any) -> str:
    name = str(instruction.opname)
    if name in _KINDS:
        return _KINDS[name]
    if name in _FREE:
        return ""
    if name == "call":
        callee = str(instruction.callee.name)
        if not callee.startswith("llvm."):
            return "call"
        return _INTRINSICS.get(callee.split(".")[1], "other")
    return "other"


def _flops(instructions: dict[str, int]) -> int:
    once = ("sum", "product", "division", "root")
    return sum(instructions.get(key, 0) for key in once) + 2 * instructions.get("fma", 0)


def _arithmetic_seconds(instructions: dict[str, int], speed: Rates) -> float:
    """The time below which one core cannot issue these instructions, whatever their order."""
    n = {k: instructions.get(k, 0) for k in ("sum", "product", "fma", "division", "root")}
    products = n["product"] + n["fma"]
    return max(
        products / speed.product,
        n["sum"] / speed.sum,
        (products + n["sum"]) / max(speed.both, speed.product, speed.sum),
        n["division"] / speed.division + n["root"] / speed.root,
    )


# --- measuring -----------------------------------------------------------------------------------


def _inputs(graph: Graph, count: int, samples: Sequence[Floats] | None) -> list[Floats]:
    if samples is None:
        rng = np.random.default_rng(0)
        return [rng.normal(size=(count, n)) for n in graph.input_sizes]
    return [
        np.resize(np.ascontiguousarray(a, dtype=np.float64), (count, n))
        for a, n in zip(samples, graph.input_sizes, strict=True)
    ]


# --- the table -----------------------------------------------------------------------------------


def _listed(counted: dict[str, int], most: int = 6) -> str:
    parts = [f"{count} {name}" for name, count in counted.items()]
    rest = sum(list(counted.values())[most:])
    return ", ".join(parts[:most]) + (f", {rest} of other kinds" if rest else "")


def _table(d: Description) -> list[tuple[str, str, str]]:
    peak = f"{d.peak_gflops:.0f} Gflop/s"
    rows = [
        ("operations", f"{sum(d.operations.values())}", f"graph: {_listed(d.operations)}"),
        ("instructions", f"{sum(d.instructions.values())}",
         f"for {d.lanes} rows: {_listed(d.instructions)}"),
        ("flops", f"{d.flops}", "a row; a fused multiply-add is 2, a call of the C library 0"),
        ("read", f"{d.bytes_read} B", "a row"),
        ("written", f"{d.bytes_written} B", "a row"),
        ("tile", f"{d.tile_bytes} B", f"{d.lanes} rows in and out, in {d.tile_place}"),
        ("arithmetic bound", _ns(d.arithmetic_bound_ns),
         f"a row; these instructions at rates measured here, at most {peak}"),
        ("memory bound", _ns(d.memory_bound_ns),
         f"a row; measured: {d.rows} rows are moved, nothing is computed"),
        ("batch", _ns(d.batch_ns),
         f"a row; measured: {d.rows} rows, out= given, one thread, best run"),
        ("share of the bound", f"{d.share:.0%}",
         f"{d.bound_by} bound / batch; {d.gflops:.1f} Gflop/s are done"),
        ("single call", _ns(d.single_ns), "measured: a loop in Python, best run"),
    ]  # fmt: skip
    if d.code_bytes is not None:
        rows.append(("machine code", f"{d.code_bytes} B", "all of it, without its constants"))
    if d.compile_seconds is not None:
        how = "measured when it was compiled" + ("; now read from the cache" if d.cached else "")
        rows.append(("compile time", f"{d.compile_seconds:.3f} s", how))
    elif d.cached:
        rows.append(("compile time", "none", "read from the cache"))
    return rows


def _ns(value: float) -> str:
    return f"{value:.3g} ns" if value < 1000 else f"{value:,.0f} ns"


# --- how fast this core computes and moves numbers ---
#
# Each loop is written by the emitter that writes kernels, for the same target, so that what is
# compared is done by the same instructions.

Clock = Callable[[], float]

_REGISTERS = 32
_FEW_REGISTERS = 16
"""The number of vector registers: AVX-512 and NEON have 32, older x86 has 16."""

_TURNS = 20_000
_BLOCK = 8
_METADATA = "nontemporal"


@dataclass(frozen=True)
class Rates:
    """Vector instructions a second on one core, each kind alone; both: sums and products mixed."""

    product: float  # fused multiply-adds where there are any, else multiplications
    sum: float
    both: float
    division: float
    root: float


@cache
def rates(target: Target, clock: Clock) -> Rates:
    """The rates of this core, measured at the first call in a process (some 0.1 s)."""
    return _measure(target, clock)


def chains(target: Target) -> int:
    """Independent chains in a loop: as many as registers hold, so that no latency is waited for."""
    many = target.width == 8 or not target.triple.startswith(("x86", "i686"))
    return (_REGISTERS if many else _FEW_REGISTERS) - 2


def best(run: Callable[[], object], clock: Clock, *, seconds: float, least: int = 3) -> float:
    """The shortest of repeated runs, in seconds: ``least`` at least, for as long as asked."""
    shortest, spent, count = float("inf"), 0.0, 0
    while count < least or spent < seconds:
        start = clock()
        run()
        took = clock() - start
        shortest, spent, count = min(shortest, took), spent + took, count + 1
        if took <= 0.0 and count > 10_000:
            break  # a clock that stands still
    return shortest


# --- arithmetic ----------------------------------------------------------------------------------


def _product(e: Emitter, _k: int, x: Any, c: Any) -> Any:
    return e.fma(x, c, c) if e.fused else e.mul(x, c)


def _sum(e: Emitter, _k: int, x: Any, c: Any) -> Any:
    return e.add(x, c)


def _both(e: Emitter, k: int, x: Any, c: Any) -> Any:
    return (_product if k % 2 else _sum)(e, k, x, c)


def _division(e: Emitter, _k: int, x: Any, c: Any) -> Any:
    return e.div(c, x)


def _root(e: Emitter, _k: int, x: Any, _c: Any) -> Any:
    return e.intrinsic("sqrt", x)


_Step = Callable[[Emitter, int, Any, Any], Any]
_STEPS: dict[str, _Step] = {
    "product": _product,
    "sum": _sum,
    "both": _both,
    "division": _division,
    "root": _root,
}


def _write_chains(module: Any, name: str, target: Target, step: _Step) -> None:
    """``void name(i64 turns, double* numbers)``: every turn one step in each chain."""
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [I64, POINTER]), name)
    b = ir.IRBuilder(function.append_basic_block("entry"))
    e = Emitter(b, target.width, fused=target.fused)
    place = b.bitcast(function.args[1], e.type.as_pointer())
    # read from memory, so that nothing can be computed beforehand
    constant = b.load(b.gep(place, [i64(0)]))
    start = b.load(b.gep(place, [i64(1)]))

    def turn(_k: Any, *links: Any) -> list[Any]:
        return [step(e, k, link, constant) for k, link in enumerate(links)]

    for link in counted_loop(b, function.args[0], turn, [start] * chains(target)):
        b.store(link, b.gep(place, [i64(2)]))
    b.ret_void()


def _measure(target: Target, clock: Clock) -> Rates:
    count = chains(target)
    module = new_module("rates", target)
    for name, step in _STEPS.items():
        _write_chains(module, name, target, step)
    code = MachineCode(object_code(module, target, simplify=False))
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)
    found: dict[str, float] = {}
    for name in _STEPS:
        call = kind(code.address(name))
        numbers = aligned(3 * target.width)
        numbers[:] = np.repeat([0.5, 1.0, 0.0], target.width)
        at = address(numbers)
        seconds = best(lambda c=call, p=at: c(_TURNS, p), clock, seconds=0.01)
        found[name] = _TURNS * count / max(seconds, 1e-12)
    return Rates(**found)


# --- memory --------------------------------------------------------------------------------------


def traffic_seconds(graph: Graph, rows: int, target: Target, clock: Clock) -> float:
    """The shortest time in which inputs of so many rows are read and outputs are written.

    Nothing is computed. Stores through the cache and past it are both tried; the arrays are there
    before, as with ``out=``.
    """
    n_in, n_out = sum(graph.input_sizes), sum(graph.output_sizes)
    module = new_module("traffic", target)
    for name, past in (("through", False), ("past", True)):
        _write_traffic(module, name, (n_in, n_out), target.width, past_cache=past)
    code = MachineCode(object_code(module, target, simplify=False))
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    tiles = -(-rows // target.width)
    given, made = aligned(tiles * target.width * n_in), aligned(tiles * target.width * n_out)
    given[:], made[:], sink = 1.0, 1.0, aligned(target.width)
    pointers = [address(a) for a in (given, made, sink)]
    times: list[float] = []
    for name in ("through", "past"):
        call = kind(code.address(name))
        times.append(best(lambda c=call: c(tiles, *pointers), clock, seconds=0.03))
    return min(times)


def _write_traffic(
    module: Any, name: str, sizes: tuple[int, int], width: int, *, past_cache: bool
) -> None:
    """``void name(i64 tiles, double* in, double* out, double* sink)``, a tile being W rows."""
    n_in, n_out = sizes
    function = ir.Function(
        module, ir.FunctionType(ir.VoidType(), [I64, POINTER, POINTER, POINTER]), name
    )
    b = ir.IRBuilder(function.append_basic_block("entry"))
    e = Emitter(b, width, fused=False)
    source, target, sink = (b.bitcast(p, e.type.as_pointer()) for p in function.args[1:])
    kind: Any = e.whole(0).type

    def read(place: Any, known: Any) -> Any:
        return b.xor(known, b.bitcast(b.load(place), kind))  # the quickest use of a number

    def write(place: Any, known: Any) -> Any:
        store = b.store(e.const(1.0), place)
        if past_cache:
            store.set_metadata(_METADATA, module.add_metadata([ir.Constant(ir.IntType(32), 1)]))
        return known

    def each(first: Any, count: int, known: Any, do: Callable[[Any, Any], Any]) -> Any:
        def block(k: Any, known: Any) -> list[Any]:
            at = b.gep(first, [b.mul(k, i64(_BLOCK))])
            for offset in range(_BLOCK):
                known = do(b.gep(at, [i64(offset)]), known)
            return [known]

        whole, rest = divmod(count, _BLOCK)
        if whole:
            (known,) = counted_loop(b, i64(whole), block, [known])
        for offset in range(count - rest, count):
            known = do(b.gep(first, [i64(offset)]), known)
        return known

    def tile(k: Any, known: Any) -> list[Any]:
        known = each(b.gep(source, [b.mul(k, i64(n_in))]), n_in, known, read)
        return [each(b.gep(target, [b.mul(k, i64(n_out))]), n_out, known, write)]

    (total,) = counted_loop(b, function.args[0], tile, [e.whole(0)])
    b.store(b.bitcast(total, e.type), sink)
    b.ret_void()
