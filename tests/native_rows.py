"""Native functions of rows written by hand, with the built-in function around them.

out[0] = x[0] + y[1], out[1] = x[1] * y[0], out[2] = x[2] - y[0]; a result that is not finite ends
the call. The vector version also writes to its scratch, and counts its calls there.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir

from linkwork.compile import native_call as fastcall
from linkwork.compile.emit import I64, POINTER, i64
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.target import host, new_module

LENGTHS = (3, 2)
BATCH_ROWS = 50


def reference(x: Any, y: Any) -> Any:
    """The same with NumPy, for equal leading shapes."""
    columns = [x[..., 0] + y[..., 1], x[..., 1] * y[..., 0], x[..., 2] - y[..., 0]]
    return np.stack(columns, axis=-1)


def emit_rows(module: Any, name: str, *, scratch: bool) -> Any:
    """``i64 name(i64 first, i64 last, double* x, double* y, double* out, double* scratch)``."""
    kind = ir.FunctionType(I64, [I64, I64] + [POINTER] * 4)
    function = ir.Function(module, kind, name)
    first, last, x, y, out = function.args[:5]
    entry, head, bad, good, done = (function.append_basic_block() for _ in range(5))
    b = ir.IRBuilder(entry)
    if scratch:
        b.store(b.fadd(b.load(function.args[5]), ir.Constant(ir.DoubleType(), 1)), function.args[5])
    b.branch(head)
    b.position_at_end(head)
    row = b.phi(I64)
    row.add_incoming(first, entry)
    a = [b.load(b.gep(x, [b.add(b.mul(row, i64(3)), i64(k))])) for k in range(3)]
    c = [b.load(b.gep(y, [b.add(b.mul(row, i64(2)), i64(k))])) for k in range(2)]
    results = [b.fadd(a[0], c[1]), b.fmul(a[1], c[0]), b.fsub(a[2], c[0])]
    total = ir.Constant(ir.DoubleType(), 0)
    for k, value in enumerate(results):
        b.store(value, b.gep(out, [b.add(b.mul(row, i64(3)), i64(k))]))
        total = b.fadd(total, b.fsub(value, value))
    b.cbranch(b.fcmp_unordered("uno", total, total), bad, good)
    ir.IRBuilder(bad).ret(row)
    b.position_at_end(good)
    following = b.add(row, i64(1))
    row.add_incoming(following, good)
    b.cbranch(b.icmp_signed("<", following, last), head, done)
    ir.IRBuilder(done).ret(i64(-1))
    return function


class Owner:
    """The general path of the tests: it notes what it was called with."""

    def __init__(self, code: Any) -> None:
        self.code = code
        self.calls: list[tuple[Any, Any]] = []

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        self.calls.append((args, keywords))
        return "general"


class Bound:
    """The built-in function ``fast`` around hand-written rows, with what it stands on."""

    def __init__(
        self,
        *,
        batch_rows: int = BATCH_ROWS,
        inputs: tuple[int | tuple[int, ...], ...] = LENGTHS,
        shape: tuple[int, ...] = (3,),
    ) -> None:
        abi = array_abi()
        assert abi is not None
        module = new_module("fast", host())
        rows = emit_rows(module, "rows", scratch=False)
        emit_rows(module, "batch", scratch=True)
        fastcall.emit_fast_call(module, rows, inputs, shape, abi, batch_rows=batch_rows)
        self.code = MachineCode(object_code(module, host(), simplify=True))
        self.scratch = (ctypes.c_double * 8)()
        self.owner = Owner(self.code)
        self.fast: Any = fastcall.bind(self.code, self.owner, "mixed", abi)

    def connect(self) -> None:
        """Hand over the vector code."""
        address = self.code.address("batch")
        fastcall.connect(self.code, rows=address, scratch=ctypes.addressof(self.scratch))

    @property
    def batches(self) -> int:
        """How often the vector code was called."""
        return int(self.scratch[0])
