"""A built-in function from a dict of numbers to a dict of numbers, around a scalar function.

For exact dicts of exact floats, one argument and no keyword; for anything else, and where the
scalar function does not come to an answer, it returns what its general path returns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir

from linkwork.compile.emit import F64, I32, I64, POINTER, i64
from linkwork.compile.native import (
    I1,
    NULL,
    OBJECT,
    VECTORCALL,
    Code,
    Native,
    api,
    built_in,
    loaded_table,
    new_table,
)
from linkwork.compile.numpy_abi import ArrayAbi

_API = {
    "get": "PyDict_GetItem",
    "as_double": "PyFloat_AsDouble",
    "from_double": "PyFloat_FromDouble",
    "new": "PyDict_New",
    "set": "PyDict_SetItem",
    "retain": "Py_IncRef",
    "release": "Py_DecRef",
    "vectorcall": "PyObject_Vectorcall",
}
_OTHERS = ("dict_type", "float_type", "rows", "near", "numbers")


class Part(NamedTuple):
    """Keys of a dict, or of the dict that it has under ``member``, and where in rows they stand."""

    member: str | None
    keys: tuple[str, ...]
    places: tuple[int, ...]


class Shape(NamedTuple):
    """What goes in and out, and a row: its numbers, of which one is above 0 where all is well."""

    given: tuple[Part, ...]
    found: tuple[Part, ...]
    n_row: int
    good: int

    @property
    def layout(self) -> str:
        """All that the code depends on: no key is in it."""
        parts = [
            [(p.member is None, p.places) for p in parts] for parts in (self.given, self.found)
        ]
        return repr((parts, self.n_row, self.good))

    @property
    def table(self) -> tuple[str, ...]:
        """The names of the table's entries: those of the process, then keys by their places."""
        names: list[str] = []
        for side, parts in (("given", self.given), ("found", self.found)):
            for k, part in enumerate(parts):
                names += [f"{side} {k}", *(f"{side} {k} {i}" for i in range(len(part.keys)))]
        return (*_API, *_OTHERS, *names)


def emit_dict_call(module: Any, shape: Shape, abi: ArrayAbi) -> None:
    """Write ``dict_call(self, args, nargs, kwnames)``.

    ``rows(0, 1, given, near, numbers, row, null)`` in the table is the scalar function; it returns
    less than 0 where it has written a row.
    """
    _DictCall(module, shape, abi).write()


class _DictCall:
    """The writing of one built-in function."""

    def __init__(self, module: Any, shape: Shape, abi: ArrayAbi) -> None:
        self.shape, self.abi = shape, abi
        self.table = new_table(module, "dict_table", shape.table)
        self.readers = [self._reader(module, k) for k in range(len(shape.given))]
        self.native = Native(module, "dict_call", VECTORCALL, self.table)

    def write(self) -> None:
        """Write the checks, the call and the result, then the general path."""
        n, abi, shape = self.native, self.abi, self.shape
        _, args, n_args, keywords = n.args
        values = n.b.alloca(F64, sum(len(part.keys) for part in shape.given))
        row = n.b.alloca(F64, shape.n_row)
        n.need(n.same(n_args, i64(1)))
        n.need(n.same(keywords, NULL))
        state = n.b.load(args)
        n.need(self._is(n, state, "dict_type"))
        for k, part in enumerate(shape.given):
            inner = state
            if part.member is not None:
                inner = n.call("get", OBJECT, state, n.entry(f"given {k}"))
                n.need(n.b.icmp_unsigned("!=", inner, NULL))
                n.need(self._is(n, inner, "dict_type"))
            # what a key's __eq__ does must not take it away
            n.call("retain", ir.VoidType(), inner)
            fine = n.b.call(self.readers[k], [inner, values])
            n.call("release", ir.VoidType(), inner)
            n.need(fine)
        numbers = [n.b.bitcast(n.entry(name), POINTER) for name in ("near", "numbers")]
        nothing = ir.Constant(POINTER, None)
        status = n.call("rows", I64, i64(0), i64(1), values, *numbers, row, nothing)
        n.need(n.b.icmp_signed("<", status, i64(0)))
        good = n.item(row, i64(shape.good))
        n.need(n.b.fcmp_ordered(">", good, ir.Constant(F64, 0.0)))
        self._result(row)
        n.at(n.otherwise)
        owner = n.field(n.args[0], abi.items, OBJECT)
        n.b.ret(n.call("vectorcall", OBJECT, owner, *n.args[1:]))

    def _is(self, n: Native, thing: Any, kind: str) -> Any:
        return n.same(n.field(thing, self.abi.type, OBJECT), n.entry(kind))

    def _reader(self, module: Any, k: int) -> Any:
        """``i1 read(dict, values)``: whether all keys of a part are there, as floats."""
        kind = ir.FunctionType(I1, [OBJECT, POINTER])
        n = Native(module, f"read_{k}", kind, self.table)
        n.function.linkage = "internal"
        state, values = n.args
        for i, place in enumerate(self.shape.given[k].places):
            value = n.call("get", OBJECT, state, n.entry(f"given {k} {i}"))
            n.need(n.b.icmp_unsigned("!=", value, NULL))
            n.need(self._is(n, value, "float_type"))
            n.b.store(n.call("as_double", F64, value), n.b.gep(values, [i64(place)]))
        n.b.ret(ir.Constant(I1, 1))
        n.at(n.otherwise)
        n.b.ret(ir.Constant(I1, 0))
        return n.function

    def _result(self, row: Any) -> None:
        """Make the dict of what was found, and return it."""
        n, found = self.native, self.shape.found
        result = n.call("new", OBJECT)
        self._must(n.same(result, NULL))
        for k, part in enumerate(found):
            inner = result
            if part.member is not None:
                inner = n.call("new", OBJECT)
                self._must(n.same(inner, NULL), result)
                self._put(result, f"found {k}", inner, result)
            for i, place in enumerate(part.places):
                value = n.call("from_double", OBJECT, n.item(row, i64(place)))
                self._must(n.same(value, NULL), result)
                self._put(inner, f"found {k} {i}", value, result)
        n.b.ret(result)

    def _put(self, into: Any, key: str, value: Any, result: Any) -> None:
        """Hand a new object over to a dict."""
        n = self.native
        status = n.call("set", I32, into, n.entry(key), value)
        n.call("release", ir.VoidType(), value)
        self._must(n.b.icmp_signed("<", status, ir.Constant(I32, 0)), result)

    def _must(self, failed: Any, *held: Any) -> None:
        """Where CPython has no memory, give back what is held and pass its error on."""
        n = self.native
        with n.b.if_then(failed, likely=False):
            for thing in held:
                n.call("release", ir.VoidType(), thing)
            n.b.ret(NULL)


def bind_dict_call(
    code: Code, owner: Callable[[Any], Any], shape: Shape, *, rows: int, near: int, numbers: int
) -> Callable[[Any], Any]:
    """The built-in function, whose general path is ``owner``.

    ``rows``, ``near`` and ``numbers`` are addresses; ``owner`` keeps alive what is there and
    ``code``, and does not refer to the function that is returned.
    """
    keys: list[Any] = []
    for part in (*shape.given, *shape.found):
        keys += [sys.intern(part.member or ""), *map(sys.intern, part.keys)]
    process = [*map(api, _API.values()), id(dict), id(float), rows, near, numbers]
    table = loaded_table(code, "dict_table", len(shape.table))
    for k, value in enumerate([*process, *map(id, keys)]):
        table[k] = value
    return built_in("mapping", owner.__doc__, code.address("dict_call"), [owner, *keys])
