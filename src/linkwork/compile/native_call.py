"""Built-in functions made of compiled code: arguments read, rows computed, a result made.

    arguments -> read, by kind -> rows -> result built, by kind -> returned
                 anything else, or not finite -> the general path, with the same arguments

A function follows CPython's vectorcall convention and takes arguments of exact types only. One
table of kinds (`Kind`) says what can go in and out, and one writer (`_Call`) reads and builds them
all. What is of no such kind, and any input or result that is not finite, is passed on unchanged to
a callable, the general path, which converts it or says what is wrong. The code holds no address:
all it needs of the process stands in one table, which is filled once the code has been loaded.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from llvmlite import ir

from linkwork.compile.compiler import Compiler, Facts, no_pickle
from linkwork.compile.emit import F64, I1, I8, I32, I64, POINTER, counted_loop, i64
from linkwork.compile.machine_code import object_code
from linkwork.compile.numpy_abi import FLOAT64, WORD, ArrayAbi, array_abi
from linkwork.compile.recipe import Recipe

OBJECT: Any = I8.as_pointer()
NULL: Any = ir.Constant(OBJECT, None)
_NO_SCRATCH: Any = ir.Constant(POINTER, None)
VECTORCALL: Any = ir.FunctionType(OBJECT, [OBJECT, OBJECT.as_pointer(), I64, OBJECT])
FASTCALL_KEYWORDS = 0x0080 | 0x0002
_MOST_AXES = 16  # of a batch; NumPy itself takes 32 or 64

# --- the kinds of arguments and results -----------------------------------------------------------


class Number(NamedTuple):
    """A float."""


class Numbers(NamedTuple):
    """A tuple of floats."""

    size: int


class Array(NamedTuple):
    """A float64 array; a new one as a result."""

    shape: tuple[int, ...]


class Packed(NamedTuple):
    """An argument of so many numbers in any packing: a tuple of floats, a vector, or one float."""

    size: int


class Truth(NamedTuple):
    """A boolean of NumPy's as a result: whether a number is above 0."""


class Several(NamedTuple):
    """A tuple of results."""

    parts: tuple[Kind, ...]


class Made(NamedTuple):
    """An object with slots and without a dictionary, as ``type.__new__(type)`` makes it."""

    type: type
    slots: tuple[tuple[str, Kind], ...]


class Part(NamedTuple):
    """Keys of a dict, or of the dict that it has under ``member``, and their places in a row."""

    member: str | None
    keys: tuple[str, ...]
    places: tuple[int, ...]


class Mapping(NamedTuple):
    """A dict of floats and of dicts of floats, whose numbers stand in one row."""

    parts: tuple[Part, ...]


Kind: TypeAlias = Number | Numbers | Array | Packed | Truth | Several | Made | Mapping


def _inner(kind: Kind) -> tuple[Kind, ...]:
    if isinstance(kind, Several):
        return kind.parts
    return tuple(part for _, part in kind.slots) if isinstance(kind, Made) else ()


def _objects(kinds: Sequence[Kind]) -> list[Any]:
    """The types and keys that kinds compare with, in the order in which they are written."""
    found: list[Any] = []
    for kind in kinds:
        if isinstance(kind, Made):
            found.append(kind.type)
        elif isinstance(kind, Mapping):
            for part in kind.parts:
                found += [sys.intern(part.member or ""), *map(sys.intern, part.keys)]
        found += _objects(_inner(kind))
    return found


def layout_of(kind: Kind) -> str | None:
    """All of a kind that compiled code depends on, as text: no type and no key is in it.

    None for a type whose slots are not found.
    """
    if isinstance(kind, Mapping):
        return repr([(part.member is None, part.places) for part in kind.parts])
    parts = [layout_of(part) for part in _inner(kind)]
    if isinstance(kind, Made):
        offsets = [slot_offset(kind.type, name) for name, _ in kind.slots]
        if not all(offsets):
            return None
        parts = [part and f"{at}: {part}" for at, part in zip(offsets, parts, strict=True)]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return f"{type(kind).__name__}({', '.join(known)})" if parts else repr(kind)


def slot_offset(type: type, name: str) -> int:
    """The offset of a slot in objects of a type, found by looking; 0 where it is not found."""
    if type.__dictoffset__ or type.__itemsize__:
        return 0
    mark = object()
    try:
        made = object.__new__(type)
        setattr(made, name, mark)
    except (AttributeError, TypeError):
        return 0
    for offset in range(2 * WORD, type.__basicsize__, WORD):
        if ctypes.c_size_t.from_address(id(made) + offset).value == id(mark):
            return offset
    return 0


# --- the table of the process ---------------------------------------------------------------------

_FUNCTIONS = {
    "vectorcall": "PyObject_Vectorcall",
    "retain": "Py_IncRef",
    "release": "Py_DecRef",
    "tuple_new": "PyTuple_New",
    "float_new": "PyFloat_FromDouble",
    "float_value": "PyFloat_AsDouble",
    "allocate": "PyType_GenericAlloc",
    "dict_get": "PyDict_GetItem",
    "dict_new": "PyDict_New",
    "dict_set": "PyDict_SetItem",
}
OUT = sys.intern("out")
"""The keyword: the interpreter interns it, so that one look tells it."""
_OBJECTS: dict[str, Any] = {
    "none": None, "tuple_type": tuple, "float_type": float, "dict_type": dict, "out": OUT,
    "false": np.False_, "true": np.True_,
}  # fmt: skip
_OF_NUMPY = ("array_type", "float64_descr", "array_new")
_TABLE = (*_FUNCTIONS, *_OBJECTS, *_OF_NUMPY)


class Code(Protocol):
    """Machine code in memory."""

    def address(self, name: str) -> int:
        """The address of a function."""
        ...

    def global_address(self, name: str) -> int:
        """The address of a global variable."""
        ...


def new_table(module: Any, name: str, names: Sequence[str]) -> tuple[Any, Sequence[str]]:
    """A table of addresses that is filled when the code has been loaded."""
    kind = ir.ArrayType(OBJECT, len(names))
    table: Any = ir.GlobalVariable(module, kind, name)
    table.initializer = ir.Constant(kind, [NULL] * len(names))
    return table, names


def loaded_table(code: Code, name: str, length: int) -> Any:
    """The table of loaded code, to be filled."""
    return (ctypes.c_void_p * length).from_address(code.global_address(name))


def addresses_of(functions: dict[str, str]) -> list[int | None]:
    """The addresses of CPython's functions, by the names that they have there."""
    python = ctypes.pythonapi
    return [ctypes.cast(getattr(python, n), ctypes.c_void_p).value for n in functions.values()]


class MethodDef(ctypes.Structure):
    """CPython's description of a function in C: its name, address, kind of call and docstring."""

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


def bind(
    code: Code,
    owner: Callable[..., Any],
    name: str,
    abi: ArrayAbi,
    *,
    own: Sequence[int] = (),
    held: Sequence[Any] = (),
) -> Callable[..., Any]:
    """The built-in function of a call in ``code``, whose general path is ``owner``.

    ``own`` fills the call's own entries of the table. ``owner`` or ``held`` must keep alive the
    code and what these refer to, and should not refer to the function that is returned.
    """
    objects = [*map(id, _OBJECTS.values()), *[getattr(abi, each) for each in _OF_NUMPY]]
    values = [*addresses_of(_FUNCTIONS), *objects, *own]
    table = loaded_table(code, "table", len(values))
    for k, value in enumerate(values):
        table[k] = value
    doc = owner.__doc__
    method, text = code.address("call"), doc.encode() if doc else None
    record = MethodDef(name.encode(), method, FASTCALL_KEYWORDS, text)
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    make = kind(("PyCFunction_NewEx", ctypes.pythonapi))
    return make(ctypes.addressof(record), Held((owner, *held, record)), None)


def connect(code: Code, *, rows: int, scratch: int) -> None:
    """Give the call of arrays in ``code`` the vector code for small batches.

    ``rows`` is the native function's address, ``scratch`` that of the memory that it is handed:
    0 where it takes none, else memory that no other caller uses. Both live as long as ``code``.
    """
    table = loaded_table(code, "table", len(_TABLE) + 2)
    table[len(_TABLE)] = scratch
    table[len(_TABLE) + 1] = rows  # the last one: batches go this way from here on


# --- functions of each kind -----------------------------------------------------------------------


def emit_fast_call(
    module: Any,
    rows: Any,
    inputs: Sequence[int | tuple[int, ...]],
    shape: tuple[int, ...],
    abi: ArrayAbi,
    *,
    batch_rows: int = 0,
) -> None:
    """Write the call of arrays around the scalar function ``rows``, to be bound with `bind`.

    ``inputs`` are the shapes of one configuration; a number is a vector's length. Up to
    ``batch_rows`` configurations go through the vector code, once it has been connected.
    """
    takes = [Array((s,) if isinstance(s, int) else tuple(s)) for s in inputs]
    call = _Call(module, abi, takes, Array(shape), ("scratch", "rows"))
    call.write(rows, [math.prod(shape)], batch_rows=batch_rows)


def number_call(
    recipe: Recipe,
    result: Kind,
    compiler: Compiler,
    otherwise: Callable[..., Any],
    *,
    takes: Sequence[Kind] = (),
    fused: bool = True,
) -> Callable[..., Any]:
    """The function of a recipe, whose outputs in turn fill ``result``.

    ``takes`` are the arguments, whose numbers in turn are the recipe's inputs: objects of exact
    types may be among them. Without, each input is an argument: a tuple, a vector or a float.
    ``otherwise`` is called with the same arguments where they are of other kinds, and where
    something is not finite. Not ``fused``: each operation is rounded by itself, as Python does it.
    Where the interpreter is one that compiled code does not know, it is ``otherwise`` itself.
    """
    abi, layouts = array_abi(), [layout_of(kind) for kind in (*takes, result)]
    known = [layout for layout in layouts if layout is not None]
    if abi is None or len(known) < len(layouts):
        return otherwise
    fused = fused and compiler.target.fused

    def make() -> tuple[Facts, bytes]:
        from linkwork.compile.loops import emit_rows  # noqa: PLC0415  not for cached code
        from linkwork.compile.target import new_module  # noqa: PLC0415

        graph = recipe.graph(fused=fused)
        module = new_module("numbers", compiler.target)
        rows = emit_rows(module, graph, 1, "rows", fused=fused).function
        rows.linkage = "internal"
        arguments = takes or [Packed(size) for size in graph.input_sizes]
        _Call(module, abi, arguments, result).write(rows, graph.output_sizes)
        return {}, object_code(module, compiler.target, simplify=True)

    key = (*recipe.key, "numbers", repr(abi.layout), *known, str(fused))
    code = compiler.code(key if recipe.key else (), make, what=recipe.title).code
    own = _objects((*takes, result))
    name = getattr(otherwise, "__name__", "numbers")
    return bind(code, otherwise, name, abi, own=list(map(id, own)), held=[code, *own])


def mapping_call(
    names: tuple[Sequence[Part], Sequence[Part]],
    row: tuple[int, int],
    compiler: Compiler,
    otherwise: Callable[[Any], Any],
    *,
    rows: int,
    arrays: Sequence[int],
) -> Callable[[Any], Any]:
    """As `row_call`, of one dict of floats that gives another.

    ``names`` are the parts that are given, with their places among the given numbers, and those
    that are found, with their places in a row. ``row`` is how many numbers ``rows`` writes, and the
    place of the one that is above 0 where all is well.
    """
    kinds = Mapping(tuple(names[0])), Mapping(tuple(names[1]))
    size, good = row
    return row_call(kinds, compiler, otherwise, rows=rows, arrays=arrays, size=size, good=good)


def row_call(
    kinds: tuple[Kind | list[Kind], Kind],
    compiler: Compiler,
    otherwise: Callable[..., Any],
    *,
    rows: int,
    arrays: Sequence[int],
    size: int = 1,
    good: int | None = None,
) -> Callable[..., Any]:
    """A function of one argument, whose numbers a scalar function at the address ``rows`` computes.

    ``kinds`` are those of the argument, or of several in a list, and of what is given.
    ``rows(0, 1, numbers, arrays..., results, NULL)``, with ``arrays`` at fixed addresses, writes
    ``size`` results and returns a whole number below 0 where all is well. Otherwise, or where the
    result ``good`` is not above 0, ``otherwise`` is called, which keeps alive what is at these
    addresses. Where the layout of objects is unknown, it is ``otherwise`` itself.
    """
    abi = array_abi()
    if abi is None:
        return otherwise
    given, gives = kinds
    takes: list[Kind] = given if isinstance(given, list) else [given]
    fixed = [f"array {k}" for k in range(len(arrays))]

    def make() -> tuple[Facts, bytes]:
        from linkwork.compile.target import new_module  # noqa: PLC0415  not for cached code

        module = new_module("named", compiler.target)
        call = _Call(module, abi, takes, gives, ("rows", *fixed))
        call.write(None, [size], fixed=fixed, good=good)
        return {}, object_code(module, compiler.target, simplify=True)

    layouts = f"{[*map(layout_of, takes)]} {layout_of(gives)} {size} {good} {fixed}"
    code = compiler.code(("row call", repr(abi.layout), layouts), make).code
    own = _objects([*takes, gives])
    entries = [rows, *arrays, *map(id, own)]
    return bind(code, otherwise, "row", abi, own=entries, held=[code, *own])


# --- the one writer -------------------------------------------------------------------------------


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
        """The value of a struct's field."""
        return self.b.load(self.b.bitcast(self.b.gep(thing, [i64(offset)]), kind.as_pointer()))

    def item(self, numbers: Any, k: Any) -> Any:
        """The k-th of some numbers in memory."""
        return self.b.load(self.b.gep(numbers, [k]))

    def entry(self, name: str) -> Any:
        """An entry of the table of the process."""
        return self.b.load(self.b.gep(self._table, [i64(0), i64(self._names.index(name))]))

    def call(self, name: str, result: Any, *args: Any) -> Any:
        """Call a C function of the table."""
        kind = ir.FunctionType(result, [a.type for a in args])
        return self.b.call(self.b.bitcast(self.entry(name), kind.as_pointer()), args)

    def each(self, count: Any, body: Callable[[Any], None]) -> None:
        """Write ``for k in range(count): body(k)``, which may be empty."""
        with self.b.if_then(self.b.icmp_signed("<", i64(0), count)):
            counted_loop(self.b, count, body)

    def answer(self) -> Any:
        """End a function that says whether all that was needed holds."""
        self.b.ret(ir.Constant(I1, 1))
        self.at(self.otherwise)
        self.b.ret(ir.Constant(I1, 0))
        return self.function


class _Call:
    """The writing of one built-in function ``call(self, args, nargs, kwnames)``."""

    def __init__(
        self,
        module: Any,
        abi: ArrayAbi,
        takes: Sequence[Kind],
        gives: Kind,
        own: Sequence[str] = (),
    ) -> None:
        self.module, self.abi, self.takes, self.gives = module, abi, takes, gives
        objects = [f"object {k}" for k in range(len(_objects((*takes, gives))))]
        self.table = new_table(module, "table", (*_TABLE, *own, *objects))
        self._objects: Iterator[str] = iter(objects)
        self._root: Any = None  # of what has been made
        self._left: list[Any] = []  # pointers to the results that are left

    def write(
        self,
        rows: Any,
        outputs: Sequence[int],
        *,
        fixed: Sequence[str] = (),
        good: int | None = None,
        batch_rows: int = 0,
    ) -> None:
        """Write the function: arguments read, rows computed, the result built, the general path.

        ``rows`` computes outputs of so many numbers; where it is None, it stands in the table and
        takes the pointers ``fixed`` of the table too. Of its row the number ``good`` is above 0.
        """
        self._is_float64: Any = None
        arrays = all(isinstance(kind, Array) for kind in (*self.takes, self.gives))
        if any(isinstance(kind, (Array, Packed)) for kind in self.takes):
            self._is_float64 = self._write_is_float64()
        is_out = self._write_is_out() if arrays else None
        self.native = n = Native(self.module, "call", VECTORCALL, self.table)
        owner, args, count, keywords = n.args
        n.need(n.same(count, i64(len(self.takes))))
        things = [n.item(args, i64(k)) for k in range(len(self.takes))]
        if arrays:
            self._arrays(things, self._keyword_out(args, keywords), (rows, is_out), batch_rows)
        else:
            n.need(n.same(keywords, NULL))
            self._values(things, rows, outputs, fixed, good)
        n.at(n.otherwise)
        general = n.field(owner, self.abi.items, OBJECT)
        n.b.ret(n.call("vectorcall", OBJECT, general, *n.args[1:]))

    def _values(
        self,
        things: Sequence[Any],
        rows: Any,
        outputs: Sequence[int],
        fixed: Sequence[str],
        good: int | None,
    ) -> None:
        """One row of any kinds: numbers are read, and results computed, on the stack."""
        n = self.native
        given: list[Any] = []
        for thing, kind in zip(things, self.takes, strict=True):
            self._read(thing, kind, given)
        places = [self._room(size) for size in outputs]
        given += [n.b.bitcast(n.entry(name), POINTER) for name in fixed]
        row = [i64(0), i64(1), *given, *places, _NO_SCRATCH]
        status = n.call("rows", I64, *row) if rows is None else n.b.call(rows, row)
        n.need(n.b.icmp_signed("<", status, i64(0)))
        if good is not None:
            n.need(n.b.fcmp_ordered(">", n.item(places[0], i64(good)), ir.Constant(F64, 0.0)))
        self._left = [
            n.b.gep(place, [i64(k)])
            for place, size in zip(places, outputs, strict=True)
            for k in range(size)
        ]
        self._build(self.gives, lambda value: None)
        n.b.ret(self._root)

    # arguments

    def _read(self, thing: Any, kind: Kind, found: list[Any]) -> None:
        """The addresses of an argument's numbers, an object's slot by slot."""
        n = self.native
        if isinstance(kind, Number):
            found.append(self._room(1))
            self._take(n, thing, found[-1])
        elif isinstance(kind, Numbers):
            n.need(self._is_a(n, thing, "tuple_type"))
            found.append(self._unpacked(thing, kind.size))
        elif isinstance(kind, Packed):
            found.append(self._packed(thing, kind.size))
        elif isinstance(kind, Array):
            self._need_array(n, thing, self.abi.required_flags)
            found.append(self._data(thing, kind.shape))
        elif isinstance(kind, Mapping):
            found.append(self._named(thing, kind))
        elif isinstance(kind, Made):
            n.need(self._is_a(n, thing, next(self._objects)))
            for name, part in kind.slots:
                held = n.field(thing, slot_offset(kind.type, name), OBJECT)
                n.need(n.b.not_(n.same(held, NULL)))
                self._read(held, part, found)
        else:
            raise TypeError(f"no argument is of the kind {kind}")

    def _is_a(self, n: Native, thing: Any, kind: str) -> Any:
        """Whether an object is of exactly this type."""
        return n.same(n.field(thing, self.abi.type, OBJECT), n.entry(kind))

    def _take(self, n: Native, item: Any, place: Any) -> None:
        """Go on only for a float, and store its value."""
        n.need(self._is_a(n, item, "float_type"))
        n.b.store(n.call("float_value", F64, item), place)

    def _room(self, size: int) -> Any:
        """Memory for numbers, on the stack."""
        with self.native.b.goto_entry_block():
            room: Any = self.native.b.alloca(F64, max(size, 1))
        return room

    def _unpacked(self, packed: Any, size: int) -> Any:
        """The numbers of a tuple."""
        n, abi = self.native, self.abi
        room = self._room(size)
        n.need(n.same(n.field(packed, abi.size, I64), i64(size)))
        for k in range(size):
            self._take(n, n.field(packed, abi.items + WORD * k, OBJECT), n.b.gep(room, [i64(k)]))
        return room

    def _packed(self, thing: Any, size: int) -> Any:
        """The numbers of a tuple of floats, of a float, or of a vector."""
        n = self.native
        after, found = n.block(), list[tuple[Any, Any]]()

        def read(kind: str, numbers: Callable[[], Any]) -> None:
            is_kind, other = n.block(), n.block()
            n.b.cbranch(self._is_a(n, thing, kind), is_kind, other)
            n.at(is_kind)
            found.append((numbers(), n.b.block))
            n.b.branch(after)
            n.at(other)

        def single() -> Any:
            place = self._room(1)
            self._take(n, thing, place)
            return place

        read("tuple_type", lambda: self._unpacked(thing, size))
        if size == 1:
            read("float_type", single)
        self._need_array(n, thing, self.abi.required_flags)
        found.append((self._data(thing, (size,)), n.b.block))
        n.b.branch(after)
        n.at(after)
        where = n.b.phi(POINTER)
        for each in found:
            where.add_incoming(*each)
        return where

    def _named(self, state: Any, kind: Mapping) -> Any:
        """The numbers of a dict, and of the dicts in it, at their places."""
        n = self.native
        values = self._room(sum(len(part.keys) for part in kind.parts))
        n.need(self._is_a(n, state, "dict_type"))
        for part in kind.parts:
            member, inner = next(self._objects), state
            if part.member is not None:
                inner = n.call("dict_get", OBJECT, state, n.entry(member))
                n.need(n.b.not_(n.same(inner, NULL)))
                n.need(self._is_a(n, inner, "dict_type"))
            # what a key's __eq__ does must not take it away
            n.call("retain", ir.VoidType(), inner)
            fine = n.b.call(self._write_reader(part, member), [inner, values])
            n.call("release", ir.VoidType(), inner)
            n.need(fine)
        return values

    def _write_reader(self, part: Part, name: str) -> Any:
        """``i1 read(dict, values)``: whether all keys of a part are there, as floats."""
        n = Native(self.module, f"read {name}", ir.FunctionType(I1, [OBJECT, POINTER]), self.table)
        n.function.linkage = "internal"
        state, values = n.args
        for place in part.places:
            value = n.call("dict_get", OBJECT, state, n.entry(next(self._objects)))
            n.need(n.b.not_(n.same(value, NULL)))
            self._take(n, value, n.b.gep(values, [i64(place)]))
        return n.answer()

    # arrays as arguments

    def _need_array(self, n: Native, array: Any, wanted: int) -> None:
        """Go on only for an exact float64 ndarray with these flags."""
        abi = self.abi
        n.need(self._is_a(n, array, "array_type"))
        flags = ir.Constant(I32, wanted)
        n.need(n.same(n.b.and_(n.field(array, abi.flags, I32), flags), flags))
        descr = n.field(array, abi.descr, OBJECT)
        known, other = n.block(), n.block()
        n.b.cbranch(n.same(descr, n.entry("float64_descr")), known, other)
        n.at(other)
        n.need(n.b.call(self._is_float64, [descr]))
        n.b.branch(known)
        n.at(known)

    def _data(self, array: Any, shape: Sequence[int]) -> Any:
        """The numbers of an array of this shape."""
        n, abi = self.native, self.abi
        n.need(n.same(n.field(array, abi.ndim, I32), ir.Constant(I32, len(shape))))
        dims = n.field(array, abi.shape, I64.as_pointer())
        for axis, length in enumerate(shape):
            n.need(n.same(n.item(dims, i64(axis)), i64(length)))
        return n.field(array, abi.data, POINTER)

    def _write_is_float64(self) -> Any:
        """Another dtype object may mean float64 too: arrays from a pickle bring their own."""
        n = Native(self.module, "is_float64", ir.FunctionType(I1, [OBJECT]), self.table)
        n.function.linkage = "internal"
        n.need(n.same(n.field(n.args[0], self.abi.number, I32), ir.Constant(I32, FLOAT64)))
        order = n.field(n.args[0], self.abi.order, I8)
        native = ord("<" if sys.byteorder == "little" else ">")
        n.need(n.b.or_(*[n.same(order, ir.Constant(I8, c)) for c in (ord("="), native)]))
        return n.answer()

    def _write_is_out(self) -> Any:
        """Whether an object is an array of this shape that results may be written to."""
        kind = ir.FunctionType(I1, [OBJECT, I32, I64.as_pointer()])
        n, abi = Native(self.module, "is_out", kind, self.table), self.abi
        n.function.linkage = "internal"
        out, n_axes, dims = n.args
        self._need_array(n, out, abi.required_flags | abi.writeable_flag)
        n.need(n.same(n.field(out, abi.ndim, I32), n_axes))
        found = n.field(out, abi.shape, I64.as_pointer())
        count = n.b.zext(n_axes, I64)
        n.each(count, lambda k: n.need(n.same(n.item(found, k), n.item(dims, k))))
        return n.answer()

    def _keyword_out(self, args: Any, keywords: Any) -> Any:
        """The argument ``out``, the only keyword; NULL where there is none."""
        n, abi = self.native, self.abi
        some, after, before = n.block(), n.block(), n.b.block
        n.b.cbranch(n.same(keywords, NULL), after, some)
        n.at(some)
        n.need(n.same(n.field(keywords, abi.size, I64), i64(1)))
        n.need(n.same(n.field(keywords, abi.items, OBJECT), n.entry("out")))
        value = n.item(args, i64(len(self.takes)))
        given = n.b.select(n.same(value, n.entry("none")), NULL, value)
        found = n.b.block
        n.b.branch(after)
        n.at(after)
        out = n.b.phi(OBJECT)
        out.add_incoming(NULL, before)
        out.add_incoming(given, found)
        return out

    def _arrays(
        self, arrays: Sequence[Any], out: Any, functions: tuple[Any, Any], batch_rows: int
    ) -> None:
        """One configuration, which the scalar code takes and gives in the arrays, or a batch."""
        n, (rows, is_out) = self.native, functions
        shapes = [kind.shape for kind in self.takes if isinstance(kind, Array)]
        for array in arrays:
            self._need_array(n, array, self.abi.required_flags)
        batched = n.block() if arrays and batch_rows > 0 else None
        if batched is not None:
            one, axes = n.block(), n.field(arrays[0], self.abi.ndim, I32)
            n.b.cbranch(n.same(axes, ir.Constant(I32, len(shapes[0]))), one, batched)
            n.at(one)
        data = [self._data(array, shape) for array, shape in zip(arrays, shapes, strict=True)]
        own = self._shape_of(self.gives)
        shape = ir.Constant(I32, len(own)), self._dims(own)
        self._into_array((rows, _NO_SCRATCH), data, i64(1), shape, (out, is_out))
        if batched is not None:
            n.at(batched)
            found = self._batch(arrays, shapes, batch_rows)
            kind = ir.FunctionType(I64, [I64, I64] + [POINTER] * (len(arrays) + 2))
            code = n.b.bitcast(n.entry("rows"), kind.as_pointer())
            scratch = n.b.bitcast(n.entry("scratch"), POINTER)
            data = [n.field(array, self.abi.data, POINTER) for array in arrays]
            self._into_array((code, scratch), data, *found, (out, is_out))

    @staticmethod
    def _shape_of(kind: Kind) -> tuple[int, ...]:
        return kind.shape if isinstance(kind, Array) else ()

    def _batch(
        self, arrays: Sequence[Any], own: Sequence[Sequence[int]], batch_rows: int
    ) -> tuple[Any, tuple[Any, Any]]:
        """The rows of equal leading shapes, few in all, and the result's axes and dimensions.

        They go on only where the vector code is connected.
        """
        n, abi = self.native, self.abi
        n.need(n.b.not_(n.same(n.entry("rows"), NULL)))
        shapes = [n.field(array, abi.shape, I64.as_pointer()) for array in arrays]
        lead: Any = None
        for array, shape in zip(arrays, own, strict=True):
            axes = n.field(array, abi.ndim, I32)
            found = n.b.sub(axes, ir.Constant(I32, len(shape)))
            if lead is None:
                lead = found  # no axis wraps around
                n.need(n.b.icmp_unsigned("<", lead, ir.Constant(I32, _MOST_AXES)))
            n.need(n.same(found, lead))
        last = n.b.zext(lead, I64)
        for dims, shape in zip(shapes, own, strict=True):
            for k, length in enumerate(shape):
                n.need(n.same(n.item(dims, n.b.add(last, i64(k))), i64(length)))
        result = self._shape_of(self.gives)
        with n.b.goto_entry_block():
            dims: Any = n.b.alloca(I64, _MOST_AXES + len(result))
            count = n.b.alloca(I64)
        n.b.store(i64(1), count)

        def axis(k: Any) -> None:
            size = n.item(shapes[0], k)
            # 0 wraps around to a large number; sizes within the limit have a product that fits
            n.need(n.b.icmp_unsigned("<", n.b.sub(size, i64(1)), i64(batch_rows)))
            for other in shapes[1:]:
                n.need(n.same(n.item(other, k), size))
            product = n.b.mul(n.b.load(count), size)
            n.need(n.b.icmp_unsigned("<=", product, i64(batch_rows)))
            n.b.store(product, count)
            n.b.store(size, n.b.gep(dims, [k]))

        n.each(last, axis)
        for k, size in enumerate(result):
            n.b.store(i64(size), n.b.gep(dims, [n.b.add(last, i64(k))]))
        return n.b.load(count), (n.b.add(lead, ir.Constant(I32, len(result))), dims)

    def _into_array(
        self,
        code: tuple[Any, Any],
        data: Sequence[Any],
        count: Any,
        shape: tuple[Any, Any],
        out: tuple[Any, Any],
    ) -> None:
        """Compute ``count`` rows into ``out`` or into a new array, and return it."""
        n, (given_out, is_out) = self.native, out
        fresh, given, ready = n.block(), n.block(), n.block()
        n.b.cbranch(n.same(given_out, NULL), fresh, given)
        n.at(fresh)
        made = self._new_array(*shape)
        self._give_up_where(n.same(made, NULL))
        made_at = n.b.block
        n.b.branch(ready)
        n.at(given)
        n.need(n.b.call(is_out, [given_out, *shape]))
        self._need_apart(given_out, data, count)
        n.call("retain", ir.VoidType(), given_out)
        given_at = n.b.block
        n.b.branch(ready)
        n.at(ready)
        result = n.b.phi(OBJECT)
        result.add_incoming(made, made_at)
        result.add_incoming(given_out, given_at)
        target = n.field(result, self.abi.data, POINTER)
        rows, scratch = code
        status = n.b.call(rows, [i64(0), count, *data, target, scratch])
        with n.b.if_then(n.b.icmp_signed(">=", status, i64(0)), likely=False):
            n.call("release", ir.VoidType(), result)
            n.b.branch(n.otherwise)
        n.b.ret(result)

    def _need_apart(self, out: Any, data: Sequence[Any], count: Any) -> None:
        """Go on only where ``out`` shares no memory with an input."""
        n = self.native

        def span(start: Any, kind: Kind) -> tuple[Any, Any]:
            first = n.b.ptrtoint(start, I64)
            length = n.b.mul(count, i64(WORD * math.prod(self._shape_of(kind))))
            return first, n.b.add(first, length)

        first, last = span(n.field(out, self.abi.data, POINTER), self.gives)
        for start, kind in zip(data, self.takes, strict=True):
            other_first, other_last = span(start, kind)
            before = n.b.icmp_unsigned("<=", last, other_first)
            n.need(n.b.or_(before, n.b.icmp_unsigned("<=", other_last, first)))

    # results

    def _build(self, kind: Kind, put: Callable[[Any], None]) -> None:
        """Make a part of the result, and put it into its place before it is filled."""
        n, abi = self.native, self.abi
        if isinstance(kind, Number):
            self._keep(n.call("float_new", OBJECT, n.b.load(self._left.pop(0))), put)
        elif isinstance(kind, Truth):
            above = n.b.fcmp_ordered(">", n.b.load(self._left.pop(0)), ir.Constant(F64, 0.0))
            found = n.b.select(above, n.entry("true"), n.entry("false"))
            n.call("retain", ir.VoidType(), found)
            self._keep(found, put)
        elif isinstance(kind, Array):
            made = self._keep(
                self._new_array(ir.Constant(I32, len(kind.shape)), self._dims(kind.shape)), put
            )
            data = n.field(made, abi.data, POINTER)
            for k in range(math.prod(kind.shape)):
                n.b.store(n.b.load(self._left.pop(0)), n.b.gep(data, [i64(k)]))
        elif isinstance(kind, Made):
            made = n.call("allocate", OBJECT, n.entry(next(self._objects)), i64(0))
            self._keep(made, put)
            for name, part in kind.slots:
                self._build(part, self._in_struct(made, slot_offset(kind.type, name)))
        elif isinstance(kind, Mapping):
            self._build_named(kind, put)
        else:
            parts = kind.parts if isinstance(kind, Several) else (Number(),) * kind.size
            made = self._keep(n.call("tuple_new", OBJECT, i64(len(parts))), put)
            for k, part in enumerate(parts):
                self._build(part, self._in_struct(made, abi.items + WORD * k))

    def _build_named(self, kind: Mapping, put: Callable[[Any], None]) -> None:
        n = self.native
        row = self._left
        result = self._keep(n.call("dict_new", OBJECT), put)
        for part in kind.parts:
            member, inner = next(self._objects), result
            if part.member is not None:
                inner = self._keep(n.call("dict_new", OBJECT), self._in_dict(result, member))
            for place in part.places:
                value = n.call("float_new", OBJECT, n.b.load(row[place]))
                self._keep(value, self._in_dict(inner, next(self._objects)))

    def _in_struct(self, owner: Any, offset: int) -> Callable[[Any], None]:
        b = self.native.b

        def put(value: Any) -> None:
            b.store(value, b.bitcast(b.gep(owner, [i64(offset)]), OBJECT.as_pointer()))

        return put

    def _in_dict(self, owner: Any, key: str) -> Callable[[Any], None]:
        n = self.native

        def put(value: Any) -> None:
            status = n.call("dict_set", I32, owner, n.entry(key), value)
            n.call("release", ir.VoidType(), value)
            self._give_up_where(n.b.icmp_signed("<", status, ir.Constant(I32, 0)))

        return put

    def _new_array(self, n_axes: Any, dims: Any) -> Any:
        """A new float64 array; NULL where there is no memory for it."""
        n = self.native
        zero, none64 = ir.Constant(I32, 0), ir.Constant(I64.as_pointer(), None)
        return n.call(
            "array_new", OBJECT, n.entry("array_type"), n_axes, dims, ir.Constant(I32, FLOAT64),
            none64, NULL, zero, zero, NULL,
        )  # fmt: skip

    def _dims(self, shape: Sequence[int]) -> Any:
        """A constant shape."""
        kind, name = ir.ArrayType(I64, len(shape)), self.module.get_unique_name("shape")
        dims: Any = ir.GlobalVariable(self.module, kind, name)
        dims.initializer, dims.global_constant = ir.Constant(kind, list(shape)), True
        return self.native.b.bitcast(dims, I64.as_pointer())

    def _keep(self, value: Any, put: Callable[[Any], None]) -> Any:
        """Put a new object where it belongs; without memory for it, give back all.

        What has been made hangs together, and goes with its root.
        """
        self._give_up_where(self.native.same(value, NULL))
        self._root = value if self._root is None else self._root
        put(value)
        return value

    def _give_up_where(self, failed: Any) -> None:
        """Return NULL, and what has been made, where CPython has set an error."""
        n = self.native
        with n.b.if_then(failed, likely=False):
            if self._root is not None:
                n.call("release", ir.VoidType(), self._root)
            n.b.ret(NULL)
