"""One configuration from Python without ctypes: a built-in function made of compiled code.

The function follows CPython's vectorcall convention. It runs only for exact, contiguous, aligned
float64 ndarrays of the right lengths; anything else, and any input or result that is not finite,
is passed on unchanged to the kernel's general path, which converts it or says what is wrong.
The code holds no address: all it needs of the process is read from one table.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from linkwork.compile.emit import I32, I64, POINTER, i64
from linkwork.compile.numpy_abi import ArrayAbi
from linkwork.compile.target import Engine

OBJECT = ir.IntType(8).as_pointer()
_FLOAT64 = 12  # NPY_DOUBLE
_FASTCALL_KEYWORDS = 0x0080 | 0x0002
_TABLE = ("array_type", "float64_descr", "array_new", "vectorcall", "release")


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def emit_fast_call(
    module: Any, rows: Any, lengths: Sequence[int], shape: tuple[int, ...], abi: ArrayAbi
) -> None:
    """Write ``fast_call(self, args, nargs, kwnames)`` around the scalar function ``rows``."""
    table_type = ir.ArrayType(OBJECT, len(_TABLE))
    table: Any = ir.GlobalVariable(module, table_type, "table")
    table.initializer = ir.Constant(table_type, [ir.Constant(OBJECT, None)] * len(_TABLE))
    kind = ir.FunctionType(OBJECT, [OBJECT, OBJECT.as_pointer(), I64, OBJECT])
    function = ir.Function(module, kind, "fast_call")
    _, args, n_args, keywords = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    general = function.append_basic_block("general")

    def need(condition: Any) -> None:
        ahead = function.append_basic_block()
        b.cbranch(condition, ahead, general)
        b.position_at_end(ahead)

    def entry(name: str) -> Any:
        return b.load(b.gep(table, [i64(0), i64(_TABLE.index(name))]))

    def field(thing: Any, offset: int, kind: Any) -> Any:
        return b.load(b.bitcast(b.gep(thing, [i64(offset)]), kind.as_pointer()))

    need(b.icmp_signed("==", n_args, i64(len(lengths))))
    need(b.icmp_unsigned("==", keywords, ir.Constant(OBJECT, None)))
    array_type, descr = entry("array_type"), entry("float64_descr")
    pointers: list[Any] = []
    for k, length in enumerate(lengths):
        array = b.load(b.gep(args, [i64(k)]))
        need(b.icmp_unsigned("==", field(array, 8, OBJECT), array_type))
        need(b.icmp_unsigned("==", field(array, abi.descr, OBJECT), descr))
        need(b.icmp_signed("==", field(array, abi.ndim, I32), ir.Constant(I32, 1)))
        need(b.icmp_signed("==", b.load(field(array, abi.shape, I64.as_pointer())), i64(length)))
        required = ir.Constant(I32, abi.required_flags)
        need(b.icmp_signed("==", b.and_(field(array, abi.flags, I32), required), required))
        pointers.append(field(array, abi.data, POINTER))
    result = _new_array(b, shape, entry)
    target = field(result, abi.data, POINTER)
    status = b.call(rows, [i64(0), i64(1), *pointers, target])
    with b.if_then(b.icmp_signed(">=", status, i64(0)), likely=False):
        release = ir.FunctionType(ir.VoidType(), [OBJECT]).as_pointer()
        b.call(b.bitcast(entry("release"), release), [result])
        b.branch(general)
    b.ret(result)
    b.position_at_end(general)
    vectorcall = b.bitcast(
        entry("vectorcall"),
        ir.FunctionType(OBJECT, [OBJECT, OBJECT.as_pointer(), I64, OBJECT]).as_pointer(),
    )
    b.ret(b.call(vectorcall, list(function.args)))


def _new_array(b: Any, shape: tuple[int, ...], entry: Callable[[str], Any]) -> Any:
    """Write the making of a float64 array; without memory for it, NumPy's error is passed on."""
    new = b.bitcast(
        entry("array_new"),
        ir.FunctionType(
            OBJECT,
            [OBJECT, I32, I64.as_pointer(), I32, I64.as_pointer(), OBJECT, I32, I32, OBJECT],
        ).as_pointer(),
    )
    dims_type = ir.ArrayType(I64, len(shape))
    dims: Any = ir.GlobalVariable(b.module, dims_type, "shape")
    dims.initializer = ir.Constant(dims_type, list(shape))
    dims.global_constant = True
    none, none64 = ir.Constant(OBJECT, None), ir.Constant(I64.as_pointer(), None)
    zero = ir.Constant(I32, 0)
    result = b.call(
        new,
        [
            entry("array_type"),
            ir.Constant(I32, len(shape)),
            b.bitcast(dims, I64.as_pointer()),
            ir.Constant(I32, _FLOAT64),
            none64,
            none,
            zero,
            zero,
            none,
        ],
    )
    with b.if_then(b.icmp_unsigned("==", result, none), likely=False):
        b.ret(none)  # NumPy has set MemoryError
    return result


def bind(engine: Engine, owner: Callable[..., Any], name: str, abi: ArrayAbi) -> Callable[..., Any]:
    """The built-in function, whose ``self`` and general path is ``owner``.

    ``owner`` must keep ``engine`` alive; it is given the method's record to keep, and it must not
    refer to the function that is returned.
    """
    entries = {
        "array_type": abi.array_type,
        "float64_descr": abi.float64_descr,
        "array_new": abi.array_new,
        "vectorcall": _address(ctypes.pythonapi.PyObject_Vectorcall),
        "release": _address(ctypes.pythonapi.Py_DecRef),
    }
    table = (ctypes.c_void_p * len(_TABLE)).from_address(engine.global_address("table"))
    for k, key in enumerate(_TABLE):
        table[k] = entries[key]
    record = _MethodDef(
        name.encode(),
        engine.address("fast_call"),
        _FASTCALL_KEYWORDS,
        owner.__doc__.encode() if owner.__doc__ else None,
    )
    owner.__dict__["method_record"] = record
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.addressof(record), owner, None)


def _address(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)
