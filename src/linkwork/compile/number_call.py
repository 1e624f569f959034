"""Compiled functions of Python floats: tuples of them in, tuples, objects or arrays out.

Where numbers live in tuples, an array for each call costs more than the arithmetic. A function made
here reads exact tuples of floats, single floats and float64 vectors, and builds what it returns.
Anything else, and any input or result that is not finite, goes to the general path unchanged.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from llvmlite import ir

from linkwork.compile.compiler import Compiler, Facts
from linkwork.compile.emit import F64, I32, I64, POINTER, i64
from linkwork.compile.machine_code import object_code
from linkwork.compile.native import (
    NULL,
    OBJECT,
    VECTORCALL,
    Native,
    api,
    built_in,
    loaded_table,
    new_table,
)
from linkwork.compile.numpy_abi import ArrayAbi, array_abi
from linkwork.compile.recipe import Recipe

_FLOAT64 = 12  # NPY_F64
_WORD = 8


class Number(NamedTuple):
    """One float."""


class Numbers(NamedTuple):
    """A tuple of floats."""

    size: int


class Vector(NamedTuple):
    """A new array."""

    size: int


class Several(NamedTuple):
    """A tuple of results."""

    parts: tuple[Result, ...]


class Made(NamedTuple):
    """An object with slots and without a dictionary, as ``type.__new__(type)`` makes it."""

    type: type
    slots: tuple[tuple[str, Result], ...]


Result: TypeAlias = Number | Numbers | Vector | Several | Made
Given: TypeAlias = Number | Numbers | Made
Slots: TypeAlias = dict[type, dict[str, int]]
_What: TypeAlias = tuple[Sequence[Given], Result, Slots]

_TABLE = (
    "array_type", "float64_descr", "array_new", "vectorcall", "release", "tuple_type",
    "float_type", "tuple_new", "float_new", "float_value", "allocate",
)  # fmt: skip


def number_call(
    recipe: Recipe,
    result: Result,
    compiler: Compiler,
    otherwise: Callable[..., Any],
    *,
    takes: Sequence[Given] = (),
    fused: bool = True,
) -> Callable[..., Any]:
    """The function of a recipe, whose outputs in turn fill ``result``.

    ``takes`` are the arguments, whose numbers in turn are the recipe's inputs: objects of exact
    types may be among them. Without, each input is an argument: a tuple, a vector or a float.
    ``otherwise`` is called with the same arguments where they are of other kinds, and where
    something is not finite. Not ``fused``: each operation is rounded by itself, as Python does it.
    Where the interpreter is one that compiled code does not know, it is ``otherwise`` itself.
    """
    abi = array_abi()
    slots = None if abi is None else _slots_of((*takes, result))
    if abi is None or slots is None:
        return otherwise
    fused = fused and compiler.target.fused

    def make() -> tuple[Facts, bytes]:
        return {}, _compiled(recipe, (takes, result, slots), compiler, abi, fused)

    texts = [_text(part, slots) for part in (*takes, result)]
    key = (*recipe.key, "numbers", repr(abi.layout), *texts, str(fused))
    code = compiler.code(key if recipe.key else (), make, what=recipe.title).code
    entries = {
        "array_type": abi.array_type,
        "float64_descr": abi.float64_descr,
        "array_new": abi.array_new,
        "vectorcall": api("PyObject_Vectorcall"),
        "release": api("Py_DecRef"),
        "tuple_type": id(tuple),
        "float_type": id(float),
        "tuple_new": api("PyTuple_New"),
        "float_new": api("PyFloat_FromDouble"),
        "float_value": api("PyFloat_AsDouble"),
        "allocate": api("PyType_GenericAlloc"),
    }
    types = _types((*takes, result))
    table = loaded_table(code, "table", len(_TABLE) + len(types))
    for k, value in enumerate([*(entries[name] for name in _TABLE), *map(id, types)]):
        table[k] = value
    name = getattr(otherwise, "__name__", "numbers")
    doc = otherwise.__doc__
    return built_in(name, doc, code.address("number_call"), [otherwise, code, *types])


def _compiled(
    recipe: Recipe,
    what: _What,
    compiler: Compiler,
    abi: ArrayAbi,
    fused: bool,
) -> bytes:
    from linkwork.compile.loops import emit_rows  # noqa: PLC0415  not for cached code
    from linkwork.compile.target import new_module  # noqa: PLC0415

    graph = recipe.graph(fused=fused)
    module = new_module("numbers", compiler.target)
    rows = emit_rows(module, graph, 1, "rows", fused=fused)
    rows.function.linkage = "internal"
    _NumberCall(module, rows.function, abi, what).write(graph.input_sizes, graph.output_sizes)
    return object_code(module, compiler.target, simplify=True)


def _types(parts: Sequence[Result]) -> list[type]:
    """The types of all objects in these parts, in the order in which they are written."""
    found: list[type] = []
    for part in parts:
        if isinstance(part, Several):
            found += _types(part.parts)
        elif isinstance(part, Made):
            found += [part.type, *_types([each for _, each in part.slots])]
    return found


def _slots_of(parts: Sequence[Result]) -> Slots | None:
    """Where the slots of all types lie; None where one is not found."""
    found: Slots = {}

    def look(part: Result) -> bool:
        if isinstance(part, Several):
            return all(look(each) for each in part.parts)
        if not isinstance(part, Made):
            return True
        if part.type not in found:
            found[part.type] = {name: slot_offset(part.type, name) for name, _ in part.slots}
        return min(found[part.type].values()) > 0 and all(look(each) for _, each in part.slots)

    return found if all(look(part) for part in parts) else None


def slot_offset(type: type, name: str) -> int:
    """Where objects of a type keep a slot, found by looking; 0 where it is not found."""
    if type.__dictoffset__ or type.__itemsize__:
        return 0
    mark = object()
    try:
        made = object.__new__(type)
        setattr(made, name, mark)
    except (AttributeError, TypeError):
        return 0
    size = type.__basicsize__
    for offset in range(2 * _WORD, size, _WORD):
        if ctypes.c_size_t.from_address(id(made) + offset).value == id(mark):
            return offset
    return 0


def _text(result: Result, slots: Slots) -> str:
    """What compiled code depends on of a result."""
    if isinstance(result, Several):
        return f"({', '.join(_text(part, slots) for part in result.parts)})"
    if isinstance(result, Made):
        offsets = slots[result.type]
        parts = [f"{offsets[name]}: {_text(part, slots)}" for name, part in result.slots]
        return f"{{{', '.join(parts)}}}"
    return repr(result)


class _NumberCall:
    """The writing of one built-in function."""

    def __init__(self, module: Any, rows: Any, abi: ArrayAbi, what: _What) -> None:
        self.module, self.rows, self.abi = module, rows, abi
        self.takes, self.result, self.slots = what
        count = len(_types((*self.takes, self.result)))
        names = (*_TABLE, *(f"type {k}" for k in range(count)))
        self.native = Native(module, "number_call", VECTORCALL, new_table(module, "table", names))
        self.root: Any = None
        self.types = iter(range(count))
        self.numbers: list[Any] = []  # pointers to the results that are left

    def write(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Write the function: arguments read, the rows computed, the result built."""
        n = self.native
        _, args, n_args, keywords = n.args
        n.need(n.same(n_args, i64(len(self.takes or inputs))))
        n.need(n.same(keywords, NULL))
        given: list[Any] = []
        if self.takes:
            for k, part in enumerate(self.takes):
                self._read(n.item(args, i64(k)), part, given)
        else:
            given = [self._numbers(n.item(args, i64(k)), size) for k, size in enumerate(inputs)]
        places = [self._room(size) for size in outputs]
        no_scratch = ir.Constant(POINTER, None)
        status = n.b.call(self.rows, [i64(0), i64(1), *given, *places, no_scratch])
        n.need(n.b.icmp_signed("<", status, i64(0)))
        self.numbers = [
            n.b.gep(place, [i64(k)])
            for place, size in zip(places, outputs, strict=True)
            for k in range(size)
        ]
        self._build(self.result, lambda value: None)
        n.b.ret(self.root)
        n.at(n.otherwise)
        owner = n.field(n.args[0], self.abi.items, OBJECT)
        n.b.ret(n.call("vectorcall", OBJECT, owner, *n.args[1:]))

    def _read(self, thing: Any, part: Given, found: list[Any]) -> None:
        """Where the numbers of an argument are, an object's slot by slot."""
        n, abi = self.native, self.abi
        if isinstance(part, Made):
            n.need(n.same(n.field(thing, abi.type, OBJECT), n.entry(f"type {next(self.types)}")))
            for name, each in part.slots:
                held = n.field(thing, self.slots[part.type][name], OBJECT)
                n.need(n.b.not_(n.same(held, NULL)))
                self._read(held, cast(Given, each), found)
            return
        if isinstance(part, Number):
            room = self._room(1)
            self._take(thing, room)
        else:
            n.need(n.same(n.field(thing, abi.type, OBJECT), n.entry("tuple_type")))
            room = self._unpacked(thing, part.size)
        found.append(room)

    def _unpacked(self, packed: Any, size: int) -> Any:
        """The numbers of a tuple."""
        n, abi = self.native, self.abi
        room = self._room(size)
        n.need(n.same(n.field(packed, abi.size, I64), i64(size)))
        for k in range(size):
            self._take(n.field(packed, abi.items + _WORD * k, OBJECT), n.b.gep(room, [i64(k)]))
        return room

    def _room(self, size: int) -> Any:
        n = self.native
        with n.b.goto_entry_block():
            room: Any = n.b.alloca(F64, max(size, 1))
        return room

    def _numbers(self, argument: Any, size: int) -> Any:
        """Where the numbers of an argument are: a tuple of floats, a float, or a vector."""
        n, abi = self.native, self.abi
        type = n.field(argument, abi.type, OBJECT)
        packed, other, after = n.block(), n.block(), n.block()
        found: list[tuple[Any, Any]] = []
        n.b.cbranch(n.same(type, n.entry("tuple_type")), packed, other)
        n.at(packed)
        unpacked = self._unpacked(argument, size)
        found.append((unpacked, n.b.block))
        n.b.branch(after)
        n.at(other)
        if size == 1:
            single, other = n.block(), n.block()
            n.b.cbranch(n.same(type, n.entry("float_type")), single, other)
            n.at(single)
            room = self._room(1)
            self._take(argument, room)
            found.append((room, n.b.block))
            n.b.branch(after)
            n.at(other)
        found.append((self._vector(argument, type, size), n.b.block))
        n.b.branch(after)
        n.at(after)
        where = n.b.phi(POINTER)
        for each in found:
            where.add_incoming(*each)
        return where

    def _vector(self, argument: Any, type: Any, size: int) -> Any:
        """The numbers of a float64 vector of this length."""
        n, abi = self.native, self.abi
        n.need(n.same(type, n.entry("array_type")))
        flags = ir.Constant(I32, abi.required_flags)
        n.need(n.same(n.b.and_(n.field(argument, abi.flags, I32), flags), flags))
        n.need(n.same(n.field(argument, abi.descr, OBJECT), n.entry("float64_descr")))
        n.need(n.same(n.field(argument, abi.ndim, I32), ir.Constant(I32, 1)))
        shape = n.field(argument, abi.shape, I64.as_pointer())
        n.need(n.same(n.item(shape, i64(0)), i64(size)))
        return n.field(argument, abi.data, POINTER)

    def _take(self, item: Any, place: Any) -> None:
        """A float's value."""
        n = self.native
        n.need(n.same(n.field(item, self.abi.type, OBJECT), n.entry("float_type")))
        n.b.store(n.call("float_value", F64, item), place)

    def _build(self, result: Result, put: Callable[[Any], None]) -> None:
        """Make a part of the result, and put it into its place before it is filled.

        So what has been made hangs together, and goes with its root where memory runs out.
        """
        n, abi = self.native, self.abi
        if isinstance(result, Number):
            self._keep(n.call("float_new", OBJECT, n.b.load(self.numbers.pop(0))), put)
        elif isinstance(result, Vector):
            self._array(result.size, put)
        elif isinstance(result, Made):
            type = n.entry(f"type {next(self.types)}")
            made = self._keep(n.call("allocate", OBJECT, type, i64(0)), put)
            for name, part in result.slots:
                self._build(part, self._into(made, self.slots[result.type][name]))
        else:
            parts = result.parts if isinstance(result, Several) else (Number(),) * result.size
            made = self._keep(n.call("tuple_new", OBJECT, i64(len(parts))), put)
            for k, part in enumerate(parts):
                self._build(part, self._into(made, abi.items + _WORD * k))

    def _into(self, owner: Any, offset: int) -> Callable[[Any], None]:
        b = self.native.b

        def put(value: Any) -> None:
            b.store(value, b.bitcast(b.gep(owner, [i64(offset)]), OBJECT.as_pointer()))

        return put

    def _keep(self, value: Any, put: Callable[[Any], None]) -> Any:
        """Put a new object where it belongs; without memory for it, give back all."""
        n = self.native
        with n.b.if_then(n.same(value, NULL), likely=False):
            if self.root is not None:
                n.call("release", ir.VoidType(), self.root)
            n.b.ret(NULL)  # the error has been set
        if self.root is None:
            self.root = value
        put(value)
        return value

    def _array(self, size: int, put: Callable[[Any], None]) -> None:
        n = self.native
        kind = ir.ArrayType(I64, 1)
        dims: Any = ir.GlobalVariable(self.module, kind, f"shape {size} {len(self.numbers)}")
        dims.initializer, dims.global_constant = ir.Constant(kind, [size]), True
        zero, none64 = ir.Constant(I32, 0), ir.Constant(I64.as_pointer(), None)
        made = n.call(
            "array_new", OBJECT, n.entry("array_type"), ir.Constant(I32, 1),
            n.b.bitcast(dims, I64.as_pointer()), ir.Constant(I32, _FLOAT64), none64, NULL, zero,
            zero, NULL,
        )  # fmt: skip
        self._keep(made, put)
        data = n.field(made, self.abi.data, POINTER)
        for k in range(size):
            n.b.store(n.b.load(self.numbers.pop(0)), n.b.gep(data, [i64(k)]))
