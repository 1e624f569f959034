"""Text of an Emitter as a function on NumPy arrays, at any width, with nothing around it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import mpmath
import numpy as np
from llvmlite import ir

from linkwork.compile.emit import I64, POINTER, Emitter
from linkwork.compile.machine_code import LIBM_NAMES
from linkwork.compile.target import host

WIDTHS = (1, 2, 4, 8)


def compiled(
    write: Callable[..., Any], arity: int, width: int, *, fused: bool = True, results: int = 1
) -> Callable[..., Any]:
    """``write(emitter, *values)`` as a function of ``arity`` arrays with any number of elements."""
    target = host()
    library = ctypes.CDLL(None) if hasattr(ctypes.CDLL(None), "atan2") else ctypes.CDLL("libm.so.6")
    for name in LIBM_NAMES:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvm.add_symbol(f"lw_{name}", address)
    module = ir.Module("emitted")
    module.triple = target.triple
    _write_loop(module, write, arity, width, fused=fused, results=results)
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, jit=True
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(str(module)), machine)
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (arity + results))
    native = kind(engine.get_function_address("each"))

    def call(*arrays: Any) -> Any:
        columns = [np.asarray(a, dtype=float).ravel() for a in arrays]
        n = columns[0].size
        padded = -(-n // width) * width
        inputs = [np.resize(c, padded) for c in columns]
        outputs = [np.empty(padded) for _ in range(results)]
        native(padded, *(a.ctypes.data for a in (*inputs, *outputs)))
        found = [o[:n] for o in outputs]
        return found[0] if results == 1 else found

    call.engine = engine  # the code lives as long as the function
    return call


def _write_loop(
    module: Any, write: Callable[..., Any], arity: int, width: int, *, fused: bool, results: int
) -> None:
    kind = ir.FunctionType(ir.VoidType(), [I64] + [POINTER] * (arity + results))
    function = ir.Function(module, kind, "each")
    entry, head, done = (function.append_basic_block(n) for n in ("entry", "head", "done"))
    b = ir.IRBuilder(entry)
    b.branch(head)
    b.position_at_end(head)
    at = b.phi(I64)
    at.add_incoming(ir.Constant(I64, 0), entry)
    e = Emitter(b, width, fused=fused)
    pointers = [b.bitcast(b.gep(a, [at]), e.type.as_pointer()) for a in function.args[1:]]
    values = [b.load(p, align=8) for p in pointers[:arity]]
    written = write(e, *values)
    for value, p in zip([written] if results == 1 else written, pointers[arity:], strict=True):
        b.store(value, p, align=8)
    following = b.add(at, ir.Constant(I64, width))
    at.add_incoming(following, b.block)
    b.cbranch(b.icmp_signed("<", following, function.args[0]), head, done)
    ir.IRBuilder(done).ret_void()


def same_bits(a: Any, b: Any) -> bool:
    """Equal to the last bit; any NaN is like any other."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return bool(np.all((a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))))


def ulps(found: Any, exact: Callable[..., Any], *arrays: Any, digits: int = 100) -> Any:
    """The error of each value in units in the last place of the exact one.

    The unit of a number below the smallest normal one is 2**-1074.
    """
    errors = np.empty(len(found))
    with mpmath.workdps(digits):
        columns = zip(found.tolist(), *(np.asarray(a).tolist() for a in arrays), strict=True)
        for k, (value, *arguments) in enumerate(columns):
            true = exact(*(mpmath.mpf(a) for a in arguments))
            unit = mpmath.ldexp(1, max(-1074, _exponent(true) - 53))
            errors[k] = float(abs(mpmath.mpf(value) - true) / unit)
    return errors


def _exponent(value: Any) -> int:
    return int(mpmath.frexp(value)[1]) if value else -1074
