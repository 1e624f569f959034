"""Parts of built-in functions made of compiled code: CPython's calls, a table of addresses, a name.

The code holds no address of its process: what it needs of it stands in a table that is filled
once the code has been loaded.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from llvmlite import ir

from linkwork.compile.emit import I64, i64
from linkwork.compile.process_bound import no_pickle

I1 = ir.IntType(1)
I8 = ir.IntType(8)
OBJECT: Any = I8.as_pointer()
NULL: Any = ir.Constant(OBJECT, None)
VECTORCALL: Any = ir.FunctionType(OBJECT, [OBJECT, OBJECT.as_pointer(), I64, OBJECT])

FASTCALL_KEYWORDS = 0x0080 | 0x0002


class Code(Protocol):
    """Machine code in memory."""

    def address(self, name: str) -> int:
        """Where a function lies."""
        ...

    def global_address(self, name: str) -> int:
        """Where a global variable lies."""
        ...


class Native:
    """The writing of a native function that gives up by jumping to a block of its own."""

    def __init__(self, module: Any, name: str, kind: Any, table: Any) -> None:
        self.function: Any = ir.Function(module, kind, name)
        self.args: Any = self.function.args
        self.b: Any = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.otherwise: Any = self.function.append_basic_block("otherwise")
        self._table, self._names = table

    def block(self) -> Any:
        """A new block."""
        return self.function.append_basic_block()

    def at(self, block: Any) -> None:
        """Go on writing in a block."""
        self.b.position_at_end(block)

    def need(self, condition: Any) -> None:
        """Go on only where the condition holds."""
        ahead = self.block()
        self.b.cbranch(condition, ahead, self.otherwise)
        self.at(ahead)

    def same(self, a: Any, b: Any) -> Any:
        """Whether two whole numbers or pointers are equal."""
        return self.b.icmp_unsigned("==", a, b)

    def field(self, thing: Any, offset: int, kind: Any) -> Any:
        """What stands in a struct."""
        return self.b.load(self.b.bitcast(self.b.gep(thing, [i64(offset)]), kind.as_pointer()))

    def item(self, numbers: Any, k: Any) -> Any:
        """The k-th of some numbers in memory."""
        return self.b.load(self.b.gep(numbers, [k]))

    def entry(self, name: str) -> Any:
        """What stands in the table of the process."""
        return self.b.load(self.b.gep(self._table, [i64(0), i64(self._names.index(name))]))

    def call(self, name: str, result: Any, *args: Any) -> Any:
        """Call a C function of the table."""
        kind = ir.FunctionType(result, [a.type for a in args])
        return self.b.call(self.b.bitcast(self.entry(name), kind.as_pointer()), args)

    def each(self, count: Any, body: Callable[[Any], None]) -> None:
        """Write ``for k in range(count): body(k)``."""
        before, head, inside, after = self.b.block, self.block(), self.block(), self.block()
        self.b.branch(head)
        self.at(head)
        k = self.b.phi(I64)
        k.add_incoming(i64(0), before)
        self.b.cbranch(self.b.icmp_signed("<", k, count), inside, after)
        self.at(inside)
        body(k)
        k.add_incoming(self.b.add(k, i64(1)), self.b.block)
        self.b.branch(head)
        self.at(after)


def new_table(module: Any, name: str, names: Sequence[str]) -> tuple[Any, Sequence[str]]:
    """A table of addresses that is filled when the code has been loaded."""
    kind = ir.ArrayType(OBJECT, len(names))
    table: Any = ir.GlobalVariable(module, kind, name)
    table.initializer = ir.Constant(kind, [NULL] * len(names))
    return table, names


def api(name: str) -> int:
    """The address of a function of CPython's C interface."""
    return int(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)


def loaded_table(code: Code, name: str, length: int) -> Any:
    """The table of loaded code, to be filled."""
    return (ctypes.c_void_p * length).from_address(code.global_address(name))


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Held(tuple[Any, ...]):
    """The ``self`` of a built-in function: the callable that goes the general way, then its means.

    A tuple, because the collector of cycles empties the dictionaries of what it frees, and lists,
    but not tuples: the function's record must be there until the function itself is gone.
    """

    __slots__ = ()

    def __reduce__(self) -> Any:
        receiver = getattr(self[0], "receiver", None)
        if receiver is None:
            raise no_pickle("this function")
        return _itself, (receiver,)  # pickle asks it for the method of the function's name


def _itself(receiver: Any) -> Any:
    return receiver


def built_in(name: str, doc: str | None, method: int, held: Sequence[Any]) -> Callable[..., Any]:
    """A built-in function of native code at ``method``, whose ``self`` is a tuple of ``held``."""
    record = _MethodDef(name.encode(), method, FASTCALL_KEYWORDS, doc.encode() if doc else None)
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    make = kind(("PyCFunction_NewEx", ctypes.pythonapi))
    return make(ctypes.addressof(record), Held((*held, record)), None)
