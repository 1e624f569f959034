"""How fast this core computes and moves numbers: short loops of our own, timed.

They give `describe` its bounds. Each loop is written by the emitter that writes kernels, for the
same target, so that what is compared is done by the same instructions.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from linkwork.compile.emit import I64, POINTER, Emitter, counted_loop, i64
from linkwork.compile.graph import Graph
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.target import Target, new_module

Clock = Callable[[], float]

_REGISTERS = 32
_FEW_REGISTERS = 16
"""Of vectors: AVX-512 and NEON have 32, older x86 has 16."""

_TURNS = 20_000
_BLOCK = 8
_ALIGNED = 64
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
        seconds = best(lambda c=call, p=numbers.ctypes.data: c(_TURNS, p), clock, seconds=0.01)
        found[name] = _TURNS * count / max(seconds, 1e-12)
    return Rates(**found)


# --- memory --------------------------------------------------------------------------------------


def aligned(count: int) -> NDArray[np.float64]:
    """Zeros that begin at a multiple of 64 bytes."""
    raw = np.zeros(count + _ALIGNED // 8)
    skip = -raw.ctypes.data % _ALIGNED // 8
    return raw[skip : skip + count]


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
    pointers = [a.ctypes.data for a in (given, made, sink)]
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
