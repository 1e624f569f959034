"""Native methods of a class: the compiled function is found by the names given, and called.

    robot.jacobian(q, "tool0") -> robot._jacobian["tool0"]["world-aligned"] -> called with q
                                  anything else -> the method as it is written in Python

They take the place of the Python methods in the class, so that subclasses, ``super()`` and whatever
is set on the class or on an object work as with any method. One native code serves all of them.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from llvmlite import ir

from linkwork.compile.compiler import Compiler, Facts
from linkwork.compile.emit import I64, i64
from linkwork.compile.machine_code import object_code
from linkwork.compile.native_call import (
    FASTCALL_KEYWORDS,
    NULL,
    OBJECT,
    OUT,
    VECTORCALL,
    MethodDef,
    Native,
    addresses_of,
    loaded_table,
    new_table,
    slot_offset,
)
from linkwork.compile.numpy_abi import ArrayAbi, array_abi

_FUNCTIONS = {
    "vectorcall": "PyObject_Vectorcall",
    "retain": "Py_IncRef",
    "release": "Py_DecRef",
    "dict_get": "PyDict_GetItemWithError",
    "forget_error": "PyErr_Clear",
    "bound": "PyMethod_New",
}
_OBJECTS: Any = OBJECT.as_pointer()
_OUT_NAMES = (OUT,)
_TABLE = (*_FUNCTIONS, "out", "out_names")
_MOST_ARRAYS, _MOST_NAMES = 7, 2
_RECORD = (
    "method", "slot", "n_arrays", "n_positional",
    "keyword0", "keyword1", "usual0", "usual1",
)  # fmt: skip


class NativeMethod(NamedTuple):
    """A method ``(arrays..., names..., *, names..., out, ...)`` and what it looks functions up by.

    ``names`` are up to two arguments with the values that they have where they are not given, or
    `REQUIRED`; the first ``n_positional`` of them may be given by position.
    """

    name: str
    n_arrays: int
    names: Sequence[tuple[str, Any]] = ()
    n_positional: int = 0


REQUIRED = object()
"""The usual value of an argument that must be given."""


def make_native(kind: type[Any], methods: Sequence[NativeMethod], compiler: Compiler) -> Any:
    """Put native methods in the place of a class's own, which do what these do not understand.

    The method ``fk`` finds in the slot ``_fk`` of an object, as soon as it is set, its function, or
    its functions by its first name, by the next one, as dicts. What is returned must live as long
    as the class. Nothing is done where the layout of objects is unknown.
    """
    abi, slots = array_abi(), [slot_offset(kind, f"_{method.name}") for method in methods]
    if abi is None or not all(slots):
        return None

    def make() -> tuple[Facts, bytes]:
        from linkwork.compile.target import new_module  # noqa: PLC0415  not for cached code

        module = new_module("methods", compiler.target)
        _write(module, abi, len(methods))
        return {}, object_code(module, compiler.target, simplify=True)

    code = compiler.code(("methods", repr(abi.layout), str(len(methods))), make).code
    held: list[Any] = [code]
    table = loaded_table(code, "table", len(_TABLE))
    table[:] = [*addresses_of(_FUNCTIONS), id(OUT), id(_OUT_NAMES)]
    records = loaded_table(code, "records", len(_RECORD) * len(methods))
    new: Any = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)(
        ("PyDescr_NewMethod", ctypes.pythonapi)
    )
    for k, method in enumerate(methods):
        plain, missing = vars(kind)[method.name], _MOST_NAMES - len(method.names)
        names = [sys.intern(name) for name, _ in method.names]
        usual = [value for _, value in method.names]
        records[k * len(_RECORD) : (k + 1) * len(_RECORD)] = [
            id(plain), slots[k], method.n_arrays, method.n_positional,
            *map(id, names), *[0] * missing,
            *[0 if value is REQUIRED else id(value) for value in usual], *[0] * missing,
        ]  # fmt: skip
        doc, address = _text_signature(plain).encode(), code.address(f"method{k}")
        record = MethodDef(method.name.encode(), address, FASTCALL_KEYWORDS, doc)
        held += [plain, names, usual, record]
        setattr(kind, method.name, new(kind, ctypes.addressof(record)))
    return held


def _text_signature(method: Any) -> str:
    """A docstring from which `inspect` and `help` read the parameters of a native method."""
    code, usual = method.__code__, method.__defaults__ or ()
    by_position = code.co_varnames[: code.co_argcount]
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    last = by_position[len(by_position) - len(usual) :]
    defaults = dict(zip(last, usual, strict=True)) | (method.__kwdefaults__ or {})
    shown = [f"{x}={defaults[x]!r}" if x in defaults else x for x in (*by_position[1:], *named)]
    shown.insert(len(by_position) - 1, "*")
    return f"{method.__name__}($self, {', '.join(shown)})\n--\n\n{inspect.getdoc(method) or ''}"


def _write(module: Any, abi: ArrayAbi, count: int) -> None:
    """Write ``method0``, ``method1``, ...: jumps to one function with a record of their own."""
    kind = ir.ArrayType(OBJECT, len(_RECORD) * count)
    records: Any = ir.GlobalVariable(module, kind, "records")
    records.initializer = ir.Constant(kind, [NULL] * kind.count)
    lookup = _Lookup(module, abi).write()
    for k in range(count):
        function: Any = ir.Function(module, VECTORCALL, f"method{k}")
        b = ir.IRBuilder(function.append_basic_block("entry"))
        record = b.gep(records, [i64(0), i64(k * len(_RECORD))])
        b.ret(b.call(lookup, [*function.args, record], tail=True))


class _Lookup:
    """The writing of ``lookup(self, args, nargs, kwnames, record)``."""

    def __init__(self, module: Any, abi: ArrayAbi) -> None:
        self.abi = abi
        kind = ir.FunctionType(OBJECT, [*VECTORCALL.args, _OBJECTS])
        self.native = Native(module, "lookup", kind, new_table(module, "table", _TABLE))
        self.native.function.linkage = "internal"

    def record(self, name: str, kind: Any = OBJECT) -> Any:
        """An entry of the method's record, an object or a number."""
        n = self.native
        value = n.item(n.args[4], i64(_RECORD.index(name)))
        return n.b.ptrtoint(value, kind) if kind is I64 else value

    def write(self) -> Any:
        """Write it: names and ``out`` are read, the function is found by the names, and called."""
        n = self.native
        this, args, n_args, keywords, _ = n.args
        arrays = self.record("n_arrays", I64)
        places = self.given(arrays)
        function = self.function(places)
        out, plain, with_out = n.item(places, i64(_MOST_NAMES)), n.block(), n.block()
        n.b.cbranch(n.same(out, NULL), plain, with_out)
        n.at(plain)
        self.answer(function, args, arrays, NULL)
        n.at(with_out)
        with n.b.goto_entry_block():
            copies: Any = n.b.alloca(OBJECT, _MOST_ARRAYS + 1)
        n.each(arrays, lambda k: n.b.store(n.item(args, k), n.b.gep(copies, [k])))
        n.b.store(out, n.b.gep(copies, [arrays]))
        self.answer(function, copies, arrays, n.entry("out_names"))
        n.at(n.otherwise)
        method = n.call("bound", OBJECT, self.record("method"), this)
        with n.b.if_then(n.same(method, NULL), likely=False):
            n.b.ret(NULL)
        self.answer(method, args, n_args, keywords)
        return n.function

    def given(self, arrays: Any) -> Any:
        """The names, as given or as usual, then ``out``; NULL for what is missing."""
        n = self.native
        _, args, n_args, keywords, _ = n.args
        places: Any = n.b.alloca(OBJECT, _MOST_NAMES + 1)
        for place, usual in enumerate((self.record("usual0"), self.record("usual1"), NULL)):
            n.b.store(usual, n.b.gep(places, [i64(place)]))
        by_position = n.b.sub(n_args, arrays)  # too few arrays wrap around
        n.need(n.b.icmp_unsigned("<=", by_position, self.record("n_positional", I64)))

        def positional(k: Any) -> None:
            n.b.store(n.item(args, n.b.add(arrays, k)), n.b.gep(places, [k]))

        def keyword(k: Any) -> None:
            name, done = n.item(known, k), n.block()
            for place, wanted in enumerate(wanted_names):
                hit, miss = n.block(), n.block()
                n.b.cbranch(n.same(name, wanted), hit, miss)
                n.at(hit)
                if place < _MOST_NAMES:  # not given by position as well
                    n.need(n.b.icmp_unsigned("<=", by_position, i64(place)))
                n.b.store(n.item(args, n.b.add(n_args, k)), n.b.gep(places, [i64(place)]))
                n.b.branch(done)
                n.at(miss)
            n.b.branch(n.otherwise)
            n.at(done)

        n.each(by_position, positional)
        with n.b.if_then(n.b.not_(n.same(keywords, NULL))):
            known = n.b.bitcast(n.b.gep(keywords, [i64(self.abi.items)]), _OBJECTS)
            wanted_names = self.record("keyword0"), self.record("keyword1"), n.entry("out")
            n.each(n.field(keywords, self.abi.size, I64), keyword)
        return places

    def function(self, places: Any) -> Any:
        """A new reference: converting the function's arguments may run any code."""
        n = self.native
        slot = n.b.gep(n.args[0], [self.record("slot", I64)])
        found = n.b.load(n.b.bitcast(slot, _OBJECTS))
        n.need(n.b.not_(n.same(found, NULL)))
        for place in range(_MOST_NAMES):
            before, named, ahead = n.b.block, n.block(), n.block()
            n.b.cbranch(n.same(self.record(f"keyword{place}"), NULL), ahead, named)
            n.at(named)
            name = n.item(places, i64(place))
            n.need(n.b.not_(n.same(name, NULL)))
            inner = n.call("dict_get", OBJECT, found, name)
            with n.b.if_then(n.same(inner, NULL), likely=False):
                n.call("forget_error", ir.VoidType())  # of what is no key: the method refuses it
                n.b.branch(n.otherwise)
            after = n.b.block
            n.b.branch(ahead)
            n.at(ahead)
            either = n.b.phi(OBJECT)
            either.add_incoming(found, before)
            either.add_incoming(inner, after)
            found = either
        n.call("retain", ir.VoidType(), found)
        return found

    def answer(self, function: Any, *arguments: Any) -> None:
        """Return what a function gives, whose reference is given back."""
        n = self.native
        result = n.call("vectorcall", OBJECT, function, *arguments)
        n.call("release", ir.VoidType(), function)
        n.b.ret(result)
