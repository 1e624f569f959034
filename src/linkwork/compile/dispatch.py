"""A built-in function that stands for a method: it finds the bound function by the names given.

``robot.fk(q, "tool0")`` through Python costs twice what the bound function does. The function made
here looks the names up in a table that it reads natively, and jumps into the bound function with
that function's own ``self``. What it does not find, or does not understand, goes to the method
itself; what the method then used is put into the table. One native code serves all methods.
"""

from __future__ import annotations

import ctypes
import inspect
import math
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinFunctionType
from typing import Any

from llvmlite import ir

from linkwork.compile.emit import I32, I64, i64
from linkwork.compile.native import (
    FASTCALL_KEYWORDS,
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

Function = Callable[..., Any]

MOST_ARRAYS = 7
"""The arrays that a method may take before its names."""

_TABLE = ("vectorcall", "hash", "compare", "str_type", "out", "out_names")
_OUT_NAMES = (sys.intern("out"),)
_HELD = ("general", "first_keyword", "second_keyword", "block")  # in the function's `self`
_BLOCK = ("mask", "arrays")  # words before the slots
_SLOT = ("hash", "first", "second", "method", "self")  # words; empty where `method` is 0
_FACTOR = 3  # of the second name's hash


def emit_dispatch(module: Any, abi: ArrayAbi) -> None:
    """Write ``dispatch(self, args, nargs, kwnames)``."""
    _Dispatch(module, abi).write()


class _Dispatch:
    """The writing of the one native function."""

    def __init__(self, module: Any, abi: ArrayAbi) -> None:
        self.abi = abi
        self.native = Native(module, "dispatch", VECTORCALL, new_table(module, "table", _TABLE))
        n = self.native
        # the names given, and `out`, while keywords are read
        self.places: list[Any] = [n.b.alloca(OBJECT) for _ in range(3)]
        self.copies: Any = n.b.alloca(OBJECT, MOST_ARRAYS + 1)

    def held(self, name: str) -> Any:
        """An item of the function's ``self``."""
        n = self.native
        return n.field(n.args[0], self.abi.items + 8 * _HELD.index(name), OBJECT)

    def write(self) -> None:
        """Write it: read the names, find their slot, jump."""
        n = self.native
        _, args, n_args, keywords = n.args
        block = n.field(self.held("block"), self.abi.bytes, I64.as_pointer())
        arrays = n.item(block, i64(_BLOCK.index("arrays")))
        extra = n.b.sub(n_args, arrays)
        n.need(n.b.icmp_unsigned("<=", extra, i64(1)))
        first, second, out = self._names(extra)
        hashes = [self._hash(name) for name in (first, second)]
        total = n.b.add(hashes[0], n.b.mul(hashes[1], i64(_FACTOR)))
        slot = self._find(block, total, (first, second))
        method = n.b.inttoptr(n.item(slot, i64(_SLOT.index("method"))), VECTORCALL.as_pointer())
        this = n.b.inttoptr(n.item(slot, i64(_SLOT.index("self"))), OBJECT)
        plain, with_out = n.block(), n.block()
        n.b.cbranch(n.same(out, NULL), plain, with_out)
        n.at(plain)
        n.b.ret(n.b.call(method, [this, args, arrays, NULL], tail=True))
        n.at(with_out)

        def copy(k: Any) -> None:
            n.b.store(n.item(args, k), n.b.gep(self.copies, [k]))

        n.each(arrays, copy)
        n.b.store(out, n.b.gep(self.copies, [arrays]))
        n.b.ret(n.b.call(method, [this, self.copies, arrays, n.entry("out_names")]))
        n.at(n.otherwise)
        n.b.ret(n.call("vectorcall", OBJECT, self.held("general"), args, n_args, keywords))

    def _names(self, extra: Any) -> list[Any]:
        """The names given, by position or by keyword, and ``out``; NULL where not given."""
        n = self.native
        _, args, n_args, keywords = n.args
        given, read, some, after = n.block(), n.block(), n.block(), n.block()
        before = n.b.block
        n.b.cbranch(n.same(extra, i64(1)), given, read)
        n.at(given)
        last = n.item(args, n.b.sub(n_args, i64(1)))
        n.b.branch(read)
        n.at(read)
        positional = n.b.phi(OBJECT)
        positional.add_incoming(NULL, before)
        positional.add_incoming(last, given)
        n.b.cbranch(n.same(keywords, NULL), after, some)
        n.at(some)
        for place, value in zip(self.places, (positional, NULL, NULL), strict=True):
            n.b.store(value, place)
        wanted = [self.held("first_keyword"), self.held("second_keyword"), n.entry("out")]
        items = n.b.bitcast(n.b.gep(keywords, [i64(self.abi.items)]), OBJECT.as_pointer())
        n.each(n.field(keywords, self.abi.size, I64), lambda k: self._keyword(items, k, wanted))
        found = [n.b.load(place) for place in self.places]
        at = n.b.block
        n.b.branch(after)
        n.at(after)
        results: list[Any] = []
        for value, other in zip(found, (positional, NULL, NULL), strict=True):
            phi = n.b.phi(OBJECT)
            phi.add_incoming(other, read)
            phi.add_incoming(value, at)
            results.append(phi)
        return results

    def _keyword(self, items: Any, k: Any, wanted: Sequence[Any]) -> None:
        """Take the k-th keyword's value to its place, where it is known and not taken."""
        n = self.native
        name = n.item(items, k)
        value = n.item(n.args[1], n.b.add(n.args[2], k))
        done = n.block()
        for key, place in zip(wanted, self.places, strict=True):
            hit, miss = n.block(), n.block()
            n.b.cbranch(n.same(name, key), hit, miss)
            n.at(hit)
            n.need(n.same(n.b.load(place), NULL))
            n.b.store(value, place)
            n.b.branch(done)
            n.at(miss)
        n.b.branch(n.otherwise)
        n.at(done)

    def _hash(self, name: Any) -> Any:
        """The hash of an exact text, 0 where there is none."""
        n = self.native
        before, some, after = n.b.block, n.block(), n.block()
        n.b.cbranch(n.same(name, NULL), after, some)
        n.at(some)
        n.need(n.same(n.field(name, self.abi.type, OBJECT), n.entry("str_type")))
        value = n.call("hash", I64, name)
        with n.b.if_then(n.same(value, i64(-1)), likely=False):
            n.b.ret(NULL)  # no memory: CPython has set the error
        at = n.b.block
        n.b.branch(after)
        n.at(after)
        result = n.b.phi(I64)
        result.add_incoming(i64(0), before)
        result.add_incoming(value, at)
        return result

    def _find(self, block: Any, total: Any, names: Sequence[Any]) -> Any:
        """The slot with these names: linear probing; at least half of the slots are empty."""
        n = self.native
        mask = n.item(block, i64(_BLOCK.index("mask")))
        before, probe, miss = n.b.block, n.block(), n.block()
        start = n.b.and_(total, mask)
        n.b.branch(probe)
        n.at(probe)
        index = n.b.phi(I64)
        index.add_incoming(start, before)
        at = n.b.add(n.b.mul(index, i64(len(_SLOT))), i64(len(_BLOCK)))
        slot = n.b.gep(block, [at])
        n.need(n.b.icmp_unsigned("!=", n.item(slot, i64(_SLOT.index("method"))), i64(0)))
        for condition in (
            lambda: n.same(n.item(slot, i64(_SLOT.index("hash"))), total),
            lambda: self._equal(n.item(slot, i64(_SLOT.index("first"))), names[0]),
            lambda: self._equal(n.item(slot, i64(_SLOT.index("second"))), names[1]),
        ):
            ahead = n.block()
            n.b.cbranch(condition(), ahead, miss)
            n.at(ahead)
        found = n.b.block
        n.at(miss)
        index.add_incoming(n.b.and_(n.b.add(index, i64(1)), mask), miss)
        n.b.branch(probe)
        n.at(found)
        return slot

    def _equal(self, known: Any, name: Any) -> Any:
        """Whether two texts, or two that are not given, are the same."""
        n = self.native
        key = n.b.inttoptr(known, OBJECT)
        before, other, texts, after = n.b.block, n.block(), n.block(), n.block()
        identical = n.same(key, name)
        n.b.cbranch(identical, after, other)
        n.at(other)
        none = n.b.or_(n.same(key, NULL), n.same(name, NULL))
        n.b.cbranch(none, after, texts)
        n.at(texts)
        equal = n.same(n.call("compare", I32, key, name), ir.Constant(I32, 0))
        at = n.b.block
        n.b.branch(after)
        n.at(after)
        result = n.b.phi(identical.type)
        result.add_incoming(identical, before)
        result.add_incoming(ir.Constant(identical.type, 0), other)
        result.add_incoming(equal, at)
        return result


def connect(code: Code) -> None:
    """Fill the table of loaded code; before its first dispatcher is made."""
    entries = {
        "vectorcall": api("PyObject_Vectorcall"),
        "hash": api("PyObject_Hash"),
        "compare": api("PyUnicode_Compare"),
        "str_type": id(str),
        "out": id(_OUT_NAMES[0]),
        "out_names": id(_OUT_NAMES),
    }
    table = loaded_table(code, "table", len(_TABLE))
    for k, name in enumerate(_TABLE):
        table[k] = entries[name]


class _General:
    """The method itself, which puts what it used into the native function's table.

    It keeps every function that the table points to: none is let go while the dispatcher lives,
    so a call in progress needs no count of its own.
    """

    def __init__(
        self, method: Function, receiver: Any, bound: Function, arrays: int, choices: Sequence[str]
    ) -> None:
        self.receiver = receiver
        self._method, self._bound = method, bound
        self._arrays, self._choices = arrays, tuple(choices)
        self._understood = frozenset((*choices, "out"))
        self._kept: dict[tuple[str | None, ...], Function] = {}
        self._lock = threading.Lock()
        self.block: Any = None

    def make_block(self, capacity: int) -> int:
        """The empty table, with room for so many entries; returns its address."""
        slots = 1 << max(2 * capacity - 1, 1).bit_length()
        self._capacity, self._mask = capacity, slots - 1
        self.block = (ctypes.c_uint64 * (len(_BLOCK) + len(_SLOT) * slots))()
        self.block[_BLOCK.index("mask")] = self._mask
        self.block[_BLOCK.index("arrays")] = self._arrays
        return ctypes.addressof(self.block)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        result = self._method(self.receiver, *args, **keywords)
        if not self._understood.issuperset(keywords):
            return result
        key = self._key(args, keywords)
        # A lock that is taken is not waited for: whoever has it may be lost in a fork.
        if key is not None and key not in self._kept and self._lock.acquire(blocking=False):
            try:
                self._remember(key)
            finally:
                self._lock.release()
        return result

    def _key(
        self, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> tuple[str | None, str | None] | None:
        """The names that a call gave, or None for a call that is not one of the table's."""
        given: list[Any] = [None, None]
        n_names = len(args) - self._arrays
        if n_names == 1 and self._choices:
            given[0] = args[-1]
        elif n_names != 0:
            return None
        for name, value in keywords.items():
            if name in self._choices:
                given[self._choices.index(name)] = value
                n_names += 1
        texts = [value for value in given if type(value) is str]
        return (given[0], given[1]) if len(texts) == n_names else None

    def _remember(self, key: tuple[str | None, str | None]) -> None:
        if key in self._kept or len(self._kept) >= self._capacity:
            return
        bound = self._bound(*key[: len(self._choices)])
        if bound is None:
            return
        method, this = _entry_point(bound)
        self._kept[key] = bound
        total = sum(
            factor * hash(name) for factor, name in zip((1, _FACTOR), key, strict=True) if name
        )
        self._write(total, key, method, this)

    def _write(self, total: int, key: tuple[str | None, ...], method: int, this: int) -> None:
        index = total & self._mask
        while self._slot(index, "method"):
            index = (index + 1) & self._mask
        values = {
            "hash": total & 0xFFFFFFFFFFFFFFFF,
            "first": 0 if key[0] is None else id(key[0]),
            "second": 0 if key[1] is None else id(key[1]),
            "self": this,
            "method": method,  # the last one: from here on the slot is seen
        }
        for name, value in values.items():
            self.block[self._word(index, name)] = value

    def _word(self, index: int, name: str) -> int:
        return len(_BLOCK) + len(_SLOT) * index + _SLOT.index(name)

    def _slot(self, index: int, name: str) -> int:
        return int(self.block[self._word(index, name)])


def _entry_point(bound: Function) -> tuple[int, int]:
    """What to call for a function, and with which ``self``."""
    if type(bound) is BuiltinFunctionType:
        kinds = {"Flags": ctypes.c_int, "Function": ctypes.c_void_p, "Self": ctypes.c_void_p}
        flags, method, this = (
            ctypes.PYFUNCTYPE(kind, ctypes.py_object)((f"PyCFunction_Get{name}", ctypes.pythonapi))(
                bound
            )
            for name, kind in kinds.items()
        )
        if flags == FASTCALL_KEYWORDS:
            return int(method or 0), int(this or 0)
    return api("PyObject_Vectorcall"), id(bound)


class _Dots:
    """Stands in a signature for a default that is no literal."""

    def __repr__(self) -> str:
        return "..."


def _is_literal(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or type(value) in (bool, int, str)


def text_signature(method: Function) -> str:
    """A docstring of a method from which `inspect` and `help` read a built-in's parameters."""
    parameters: list[inspect.Parameter] = []
    for parameter in list(inspect.signature(method).parameters.values())[1:]:
        default = parameter.default
        shown = default if _is_literal(default) or default is parameter.empty else _Dots()
        parameters.append(parameter.replace(annotation=parameter.empty, default=shown))
    listed = str(inspect.Signature(parameters))[1:-1]
    this = "$self, " if listed else "$self"
    return f"{method.__name__}({this}{listed})\n--\n\n{inspect.getdoc(method) or ''}"


def dispatcher(
    code: Code,
    method: Function,
    receiver: Any,
    bound: Function,
    *,
    arrays: int,
    choices: Sequence[str] = (),
    capacity: int = 64,
) -> Function:
    """A built-in function that does what ``method`` does on ``receiver``, with least overhead.

    ``method(receiver, *arrays, first choice, *, other choice, out, ...)`` is the plain function,
    and goes the general way. ``choices`` are up to two names of arguments that are texts, of which
    the first may be given by position; ``bound(*choices)`` is what the method calls with the arrays
    for these (None for one that is not given): any callable, or None to go on the general way.
    ``receiver`` must not be, nor refer to, the object that the dispatcher is stored on.
    """
    if arrays > MOST_ARRAYS or len(choices) > 2:
        raise ValueError(f"at most {MOST_ARRAYS} arrays and 2 names, not {arrays}, {len(choices)}")
    general = _General(method, receiver, bound, arrays, choices)
    address = general.make_block(capacity).to_bytes(8, sys.byteorder)
    keywords = [sys.intern(name) for name in choices] + [None] * (2 - len(choices))
    held = (general, *keywords, address, code)
    return built_in(method.__name__, text_signature(method), code.address("dispatch"), held)
