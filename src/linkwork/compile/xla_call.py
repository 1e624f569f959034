"""Native functions that XLA calls: they read its call frame and compute rows.

The frame is that of XLA's foreign function interface, whose C header is published with jaxlib
(xla/ffi/api/c_api.h): structures in the order of that header, version 0. Nothing of Python is
called. A row whose inputs or results are not finite is NaN in every output, and its neighbours are
computed one by one. Buffers of float32 are converted a few rows at a time; arithmetic is float64.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from linkwork.compile.compiler import Compiler, Facts
from linkwork.compile.emit import F32, F64, I32, I64, POINTER, counted_loop, i64
from linkwork.compile.kernel import CompiledRows
from linkwork.compile.machine_code import c_library, object_code
from linkwork.compile.native_call import NULL, OBJECT, loaded_table, new_table
from linkwork.compile.target import new_module

VERSION = 0
"""The major version of the interface that is written here."""

_TABLE = ("scalar", "vector", "allocate", "free")
_SINGLE = 11  # XLA_FFI_DataType_F32
_METADATA = 1  # XLA_FFI_Extension_Metadata
_EXHAUSTED = 8  # XLA_FFI_Error_Code_RESOURCE_EXHAUSTED
_CHUNK = 128  # rows that are converted at once
_MESSAGE = b"linkwork: no memory for the working space of a compiled function\0"

_POINTERS: Any = OBJECT.as_pointer()
_BASE: Any = ir.LiteralStructType([I64, I32, OBJECT])  # XLA_FFI_Extension_Base
_LIST = [I64, OBJECT, I64, OBJECT, _POINTERS]  # XLA_FFI_Args, XLA_FFI_Rets
_FRAME: Any = ir.LiteralStructType(
    [I64, OBJECT, OBJECT, OBJECT, I32, ir.LiteralStructType(_LIST), ir.LiteralStructType(_LIST)]
)
_BUFFER: Any = ir.LiteralStructType([I64, OBJECT, I32, OBJECT, I64, I64.as_pointer()])
_API_VERSION = ir.LiteralStructType([I64, OBJECT, I32, I32])
_METADATA_OF: Any = ir.LiteralStructType([I64, _API_VERSION, I32, I64])
_EXTENSION: Any = ir.LiteralStructType([_BASE, _METADATA_OF.as_pointer()])
_ERROR: Any = ir.LiteralStructType([I64, OBJECT, OBJECT, I32])  # XLA_FFI_Error_Create_Args
_CREATE: Any = ir.FunctionType(OBJECT, [_ERROR.as_pointer()])
_API: Any = ir.LiteralStructType([I64, OBJECT, _API_VERSION, OBJECT, _CREATE.as_pointer()])


class XlaCall(NamedTuple):
    """A function for XLA, and what has to be kept while it may be called."""

    address: int
    held: tuple[Any, ...]


def xla_call(rows: CompiledRows, compiler: Compiler, minor: int) -> XlaCall:
    """The function of rows; ``minor`` is the interface's minor version in the header at hand.

    Its buffers are of shape (..., size) each, with equal leading axes, and all of one type, float64
    or float32.
    """
    scalar, vector = rows.scalar_part(), rows.vector_part()
    signature = rows.signature
    sizes = signature.input_sizes, signature.output_sizes
    scratch = max(scalar.scratch, vector.scratch)
    key = ("XLA call", repr(sizes), str(scratch), f"{VERSION}.{minor}")

    def make() -> tuple[Facts, bytes]:
        module = new_module("xla", compiler.target)
        _Writer(module, *sizes, rows.width, scratch).write(minor)
        return {}, object_code(module, compiler.target, simplify=True, branches=True)

    code = compiler.code(key, make, what="a call for XLA").code
    table = loaded_table(code, "table", len(_TABLE))
    library = c_library()
    addresses = [scalar.made.code.address("rows"), vector.made.code.address("rows")]
    addresses += [
        int(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0)
        for name in ("malloc", "free")
    ]
    for k, address in enumerate(addresses):
        table[k] = address
    return XlaCall(code.address("call"), (code, rows))


class _Writer:
    """Writes the functions of one module."""

    def __init__(
        self,
        module: Any,
        inputs: Sequence[int],
        outputs: Sequence[int],
        width: int,
        scratch: int,
    ) -> None:
        self.module, self.width, self.scratch = module, width, scratch
        self.n_in, self.sizes = len(inputs), (*inputs, *outputs)
        self.table, self.names = new_table(module, "table", _TABLE)

    def write(self, minor: int) -> None:
        """The function ``call``."""
        compute = self._compute()
        function = ir.Function(self.module, ir.FunctionType(OBJECT, [OBJECT]), "call")
        b = ir.IRBuilder(function.append_basic_block("entry"))
        frame = b.bitcast(function.args[0], _FRAME.as_pointer())
        self._metadata(b, _field(b, frame, 1), minor)
        buffers = [
            b.bitcast(_loaded_at(b, _field(b, frame, which, 4), k), _BUFFER.as_pointer())
            for which, count in ((5, self.n_in), (6, len(self.sizes) - self.n_in))
            for k in range(count)
        ]
        n = self._count(b, buffers[0])
        with b.if_then(b.icmp_signed("<=", n, i64(0))):
            b.ret(NULL)
        single = b.icmp_signed("==", _field(b, buffers[0], 2), ir.Constant(I32, _SINGLE))
        plain, room = self._room(b, frame, single)
        data = [_field(b, buffer, 3) for buffer in buffers]
        with b.if_else(single) as (converted, direct):
            with converted:
                self._in_chunks(b, compute, n, data, room)
            with direct:
                b.call(compute, [n, *[b.bitcast(each, POINTER) for each in data], room])
        kind = ir.FunctionType(ir.VoidType(), [OBJECT])
        b.call(self._entry(b, "free", kind), [plain])
        b.ret(NULL)

    def _entry(self, b: Any, name: str, kind: Any) -> Any:
        """A function of the table."""
        place = b.gep(self.table, [i64(0), i64(self.names.index(name))])
        return b.bitcast(b.load(place), kind.as_pointer())

    def _metadata(self, b: Any, extension: Any, minor: int) -> None:
        """Tell XLA the version that this is written for, where it asks."""
        with b.if_then(b.icmp_unsigned("!=", extension, NULL)):
            asked = b.bitcast(extension, _EXTENSION.as_pointer())
            kind = _field(b, asked, 0, 1)
            with b.if_then(b.icmp_signed("==", kind, ir.Constant(I32, _METADATA))):
                told = _field(b, asked, 1)
                for place, value in (((1, 2), VERSION), ((1, 3), minor), ((2,), 0)):
                    b.store(ir.Constant(I32, value), _place(b, told, *place))
                b.ret(NULL)

    def _count(self, b: Any, buffer: Any) -> Any:
        """The rows of a buffer: the product of its axes but the last."""
        leading = b.sub(_field(b, buffer, 4), i64(1))
        dims = _field(b, buffer, 5)
        before = b.block
        with b.if_then(b.icmp_signed(">", leading, i64(0))):
            (product,) = counted_loop(
                b, leading, lambda k, known: [b.mul(known, b.load(b.gep(dims, [k])))], [i64(1)]
            )
            there = b.block
        n = b.phi(I64)
        n.add_incoming(i64(1), before)
        n.add_incoming(product, there)
        return n

    def _room(self, b: Any, frame: Any, single: Any) -> tuple[Any, Any]:
        """Memory for the scratch and for converted rows: as it was given, and aligned.

        Where there is none, XLA is told.
        """
        most = self.scratch + _CHUNK * sum(self.sizes)
        count = b.select(single, i64(8 * most + 64), i64(8 * self.scratch + 64))
        kind = ir.FunctionType(OBJECT, [I64])
        plain = b.call(self._entry(b, "allocate", kind), [count])
        with b.if_then(b.icmp_unsigned("==", plain, NULL), likely=False):
            text: Any = ir.GlobalVariable(
                self.module, ir.ArrayType(ir.IntType(8), len(_MESSAGE)), "message"
            )
            text.initializer = ir.Constant(text.type.pointee, bytearray(_MESSAGE))
            text.global_constant = True
            error = b.alloca(_ERROR)
            b.store(i64(28), _place(b, error, 0))
            b.store(NULL, _place(b, error, 1))
            b.store(b.bitcast(text, OBJECT), _place(b, error, 2))
            b.store(ir.Constant(I32, _EXHAUSTED), _place(b, error, 3))
            api = b.bitcast(_field(b, frame, 2), _API.as_pointer())
            b.ret(b.call(_field(b, api, 4), [error]))
        at = b.ptrtoint(plain, I64)
        aligned = b.and_(b.add(at, i64(63)), i64(-64))
        return plain, b.inttoptr(aligned, POINTER)

    def _in_chunks(self, b: Any, compute: Any, n: Any, data: Sequence[Any], room: Any) -> None:
        """Convert some rows, compute them, convert the results, and so on."""
        single: Any = F32.as_pointer()
        starts = np.cumsum([self.scratch, *[_CHUNK * size for size in self.sizes]]).tolist()
        tables = [b.gep(room, [i64(start)]) for start in starts[:-1]]
        arrays = [b.bitcast(each, single) for each in data]
        chunks = b.sdiv(b.add(n, i64(_CHUNK - 1)), i64(_CHUNK))

        def converted(k: int, row: Any, rows: Any, *, back: bool) -> None:
            size = self.sizes[k]
            if not size:
                return
            first = b.gep(arrays[k], [b.mul(row, i64(size))])

            def one(e: Any) -> None:
                if back:
                    value = b.load(b.gep(tables[k], [e]))
                    b.store(b.fptrunc(value, F32), b.gep(first, [e]))
                else:
                    b.store(b.fpext(b.load(b.gep(first, [e])), F64), b.gep(tables[k], [e]))

            counted_loop(b, b.mul(rows, i64(size)), one)

        def chunk(c: Any) -> None:
            row = b.mul(c, i64(_CHUNK))
            left = b.sub(n, row)
            rows = b.select(b.icmp_signed("<", left, i64(_CHUNK)), left, i64(_CHUNK))
            for k in range(self.n_in):
                converted(k, row, rows, back=False)
            b.call(compute, [rows, *tables, room])
            for k in range(self.n_in, len(self.sizes)):
                converted(k, row, rows, back=True)

        counted_loop(b, chunks, chunk)

    def _compute(self) -> Any:
        """``void compute(i64 n, double* arrays..., double* scratch)`` for at least one row."""
        kind = ir.FunctionType(ir.VoidType(), [I64, *[POINTER] * (len(self.sizes) + 1)])
        function = ir.Function(self.module, kind, "compute")
        function.linkage = "internal"
        n, *rest = function.args
        arrays = rest[:-1]
        rows: Any = ir.FunctionType(I64, [I64, I64, *[POINTER] * (len(self.sizes) + 1)])
        entry = function.append_basic_block("entry")
        head, near = function.append_basic_block("rows"), function.append_basic_block("near")
        done = function.append_basic_block("done")
        b = ir.IRBuilder(entry)
        scalar, vector = (self._entry(b, name, rows) for name in ("scalar", "vector"))
        b.cbranch(b.icmp_signed("==", n, i64(1)), near, head)
        b.position_at_end(head)
        start = b.phi(I64)
        start.add_incoming(i64(0), entry)
        found = b.call(vector, [start, n, *rest])
        b.cbranch(b.icmp_signed("<", found, i64(0)), done, near)
        b.position_at_end(near)
        bad = b.phi(I64)
        bad.add_incoming(i64(0), entry)
        bad.add_incoming(found, head)
        after = b.add(bad, i64(self.width))
        after = b.select(b.icmp_signed("<", after, n), after, n)

        nothing = ir.Constant(F64, float("nan"))

        def one(k: Any) -> None:
            row = b.add(bad, k)
            answer = b.call(scalar, [row, b.add(row, i64(1)), *rest])
            with b.if_then(b.icmp_signed(">=", answer, i64(0)), likely=False):
                for array, size in zip(arrays[self.n_in :], self.sizes[self.n_in :], strict=True):
                    if size:
                        first = b.gep(array, [b.mul(row, i64(size))])
                        counted_loop(
                            b,
                            i64(size),
                            lambda e, first=first: b.store(nothing, b.gep(first, [e])),
                        )

        counted_loop(b, b.sub(after, bad), one)
        start.add_incoming(after, b.block)
        b.cbranch(b.icmp_signed("<", after, n), head, done)
        ir.IRBuilder(done).ret_void()
        return function


def _place(b: Any, pointer: Any, *path: int) -> Any:
    """The place of a structure's member."""
    return b.gep(pointer, [ir.Constant(I32, 0), *[ir.Constant(I32, k) for k in path]])


def _field(b: Any, pointer: Any, *path: int) -> Any:
    """A member of a structure."""
    return b.load(_place(b, pointer, *path))


def _loaded_at(b: Any, pointers: Any, k: int) -> Any:
    return b.load(b.gep(pointers, [i64(k)]))
