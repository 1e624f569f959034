"""Built-in functions made of compiled code: arguments read, rows computed, a result made.

A function follows CPython's vectorcall convention. It reads arguments of the kinds that are listed
here, of exact types only: arrays (one configuration, or a small batch), floats, tuples of floats,
objects with slots, and dicts of floats. Anything else, and any input or result that is not finite,
is passed on unchanged to a callable, the general path, which converts it or says what is wrong.
The code holds no address: all it needs of the process stands in one table.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from llvmlite import ir

from linkwork.compile.compiler import Compiler, Facts
from linkwork.compile.emit import F64, I32, I64, POINTER, i64
from linkwork.compile.machine_code import object_code
from linkwork.compile.native import (
    I1,
    I8,
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
from linkwork.compile.numpy_abi import ArrayAbi, array_abi
from linkwork.compile.recipe import Recipe

_FLOAT64 = 12  # NPY_DOUBLE
_MOST_AXES = 16  # of a batch; NumPy itself takes 32 or 64
_WORD = 8

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
_NAMES = tuple(map(sys.intern, ("out", "threads", "on_bad", "raise")))
"""Keywords and a value of one: the interpreter interns them, so that one look tells them."""
_OBJECTS: dict[str, Any] = {
    "none": None, "tuple_type": tuple, "float_type": float, "dict_type": dict,
    **{name: name for name in _NAMES},
}  # fmt: skip
_OF_NUMPY = ("array_type", "float64_descr", "array_new")
_TABLE = (*_FUNCTIONS, *_OBJECTS, *_OF_NUMPY)


def _fill(code: Code, abi: ArrayAbi, own: Sequence[int]) -> None:
    """Fill the table of loaded code: what every call has, then the call's own."""
    values = [*map(api, _FUNCTIONS.values()), *map(id, _OBJECTS.values())]
    values += [getattr(abi, name) for name in _OF_NUMPY] + list(own)
    table = loaded_table(code, "table", len(values))
    for k, value in enumerate(values):
        table[k] = value


class _Call:
    """The writing of one built-in function ``name(self, args, nargs, kwnames)``."""

    def __init__(self, module: Any, name: str, abi: ArrayAbi, own: Sequence[str]) -> None:
        self.module, self.abi = module, abi
        self.table = new_table(module, "table", (*_TABLE, *own))
        self.name, self.root = name, None

    def begin(self, count: int) -> Native:
        """Begin it; so many arguments by position are taken."""
        self.native = n = Native(self.module, self.name, VECTORCALL, self.table)
        n.need(n.same(n.args[2], i64(count)))
        return n

    def end(self) -> None:
        """The general path, with the same arguments."""
        n = self.native
        n.at(n.otherwise)
        owner = n.field(n.args[0], self.abi.items, OBJECT)
        n.b.ret(n.call("vectorcall", OBJECT, owner, *n.args[1:]))

    def is_a(self, n: Native, thing: Any, kind: str) -> Any:
        """Whether an object is of exactly this type."""
        return n.same(n.field(thing, self.abi.type, OBJECT), n.entry(kind))

    def take(self, n: Native, item: Any, place: Any) -> None:
        """Go on only for a float, and store its value."""
        n.need(self.is_a(n, item, "float_type"))
        n.b.store(n.call("float_value", F64, item), place)

    def room(self, size: int) -> Any:
        """Memory for numbers, on the stack."""
        with self.native.b.goto_entry_block():
            room: Any = self.native.b.alloca(F64, max(size, 1))
        return room

    def new_array(self, n_axes: Any, dims: Any) -> Any:
        """A new float64 array; NULL where there is no memory for it."""
        n = self.native
        zero, none64 = ir.Constant(I32, 0), ir.Constant(I64.as_pointer(), None)
        return n.call(
            "array_new", OBJECT, n.entry("array_type"), n_axes, dims, ir.Constant(I32, _FLOAT64),
            none64, NULL, zero, zero, NULL,
        )  # fmt: skip

    def dims(self, shape: Sequence[int], name: str) -> Any:
        """A constant shape."""
        kind = ir.ArrayType(I64, len(shape))
        dims: Any = ir.GlobalVariable(self.module, kind, name)
        dims.initializer, dims.global_constant = ir.Constant(kind, list(shape)), True
        return self.native.b.bitcast(dims, I64.as_pointer())

    def keep(self, value: Any, put: Callable[[Any], None]) -> Any:
        """Put a new object where it belongs; without memory for it, give back all.

        What has been made hangs together, and goes with its root.
        """
        self.give_up_where(self.native.same(value, NULL))
        self.root = value if self.root is None else self.root
        put(value)
        return value

    def give_up_where(self, failed: Any) -> None:
        """Return NULL, and what has been made, where CPython has set an error."""
        n = self.native
        with n.b.if_then(failed, likely=False):
            if self.root is not None:
                n.call("release", ir.VoidType(), self.root)
            n.b.ret(NULL)


# --- arrays ---------------------------------------------------------------------------------------

Shape = tuple[int, ...]


def emit_fast_call(
    module: Any,
    rows: Any,
    inputs: Sequence[int | Shape],
    shape: Shape,
    abi: ArrayAbi,
    *,
    batch_rows: int = 0,
) -> None:
    """Write ``fast_call(self, args, nargs, kwnames)`` around the scalar function ``rows``.

    ``inputs`` are the shapes of one configuration; a number is a vector's length. Up to
    ``batch_rows`` configurations go through the vector code, once it has been connected.
    """
    shapes = tuple((s,) if isinstance(s, int) else tuple(s) for s in inputs)
    _ArrayCall(module, (rows, shapes, shape), abi).write(batch_rows)


class _ArrayCall(_Call):
    """The writing of one built-in function."""

    def __init__(
        self, module: Any, what: tuple[Any, tuple[Shape, ...], Shape], abi: ArrayAbi
    ) -> None:
        super().__init__(module, "fast_call", abi, ("scratch", "rows"))
        self.rows, self.inputs, self.shape = what
        self.is_float64 = self._write_is_float64()
        self.is_out = self._write_is_out()
        self.out: Any = NULL
        self.data: list[Any] = []

    def write(self, batch_rows: int) -> None:
        """Write the function's checks, then one configuration, a batch, and the general path."""
        n, abi = self.begin(len(self.inputs)), self.abi
        _, args, _, keywords = n.args
        self.out = self._keyword_out(args, keywords)
        arrays = [n.item(args, i64(k)) for k in range(len(self.inputs))]
        for array in arrays:
            self._need_array(n, array, abi.required_flags)
        self.data = [n.field(array, abi.data, POINTER) for array in arrays]
        axes = [n.field(array, abi.ndim, I32) for array in arrays]
        shapes = [n.field(array, abi.shape, I64.as_pointer()) for array in arrays]
        batched = n.block() if arrays and batch_rows > 0 else None
        for k, shape in enumerate(self.inputs):
            one = n.block()
            is_one = n.same(axes[k], ir.Constant(I32, len(shape)))
            n.b.cbranch(is_one, one, batched if k == 0 and batched else n.otherwise)
            n.at(one)
            for axis, length in enumerate(shape):
                n.need(n.same(n.item(shapes[k], i64(axis)), i64(length)))
        shape = ir.Constant(I32, len(self.shape)), self.dims(self.shape, "shape")
        self._finish(self._one_rows(), i64(1), shape)
        if batched is not None:
            n.at(batched)
            self._batch(axes, shapes, batch_rows)
        self.end()

    def _keyword_out(self, args: Any, keywords: Any) -> Any:
        """The argument ``out``, NULL where there is none; others must be at their default.

        It is the only keyword, or the first of all three, as the methods of robots give them.
        """
        n, abi = self.native, self.abi
        some, more, found, after = n.block(), n.block(), n.block(), n.block()
        before = n.b.block
        n.b.cbranch(n.same(keywords, NULL), after, some)
        n.at(some)
        names = n.b.bitcast(n.b.gep(keywords, [i64(abi.items)]), OBJECT.as_pointer())
        values = n.b.gep(args, [i64(len(self.inputs))])
        count = n.field(keywords, abi.size, I64)
        n.need(n.b.icmp_unsigned("!=", count, i64(0)))
        n.need(n.same(n.item(names, i64(0)), n.entry("out")))
        n.b.cbranch(n.same(count, i64(1)), found, more)
        n.at(more)
        n.need(n.same(count, i64(3)))
        for k, (name, usual) in enumerate((("threads", "none"), ("on_bad", "raise")), start=1):
            n.need(n.same(n.item(names, i64(k)), n.entry(name)))
            n.need(n.same(n.item(values, i64(k)), n.entry(usual)))
        n.b.branch(found)
        n.at(found)
        value = n.item(values, i64(0))
        given = n.b.select(n.same(value, n.entry("none")), NULL, value)
        n.b.branch(after)
        n.at(after)
        out = n.b.phi(OBJECT)
        out.add_incoming(NULL, before)
        out.add_incoming(given, found)
        return out

    def _need_array(self, n: Native, array: Any, wanted: int) -> None:
        """Go on only for an exact float64 ndarray with these flags."""
        abi = self.abi
        n.need(n.same(n.field(array, abi.type, OBJECT), n.entry("array_type")))
        flags = ir.Constant(I32, wanted)
        n.need(n.same(n.b.and_(n.field(array, abi.flags, I32), flags), flags))
        descr = n.field(array, abi.descr, OBJECT)
        known, other = n.block(), n.block()
        n.b.cbranch(n.same(descr, n.entry("float64_descr")), known, other)
        n.at(other)
        n.need(n.b.call(self.is_float64, [descr]))
        n.b.branch(known)
        n.at(known)

    def _write_is_float64(self) -> Any:
        """Another dtype object may mean float64 too: arrays from a pickle bring their own."""
        kind = ir.FunctionType(I1, [OBJECT])
        n = Native(self.module, "is_float64", kind, self.table)
        n.function.linkage = "internal"
        n.need(n.same(n.field(n.args[0], self.abi.number, I32), ir.Constant(I32, _FLOAT64)))
        order = n.field(n.args[0], self.abi.order, I8)
        native = ord("<" if sys.byteorder == "little" else ">")
        either = [n.same(order, ir.Constant(I8, c)) for c in (ord("="), native)]
        n.b.ret(n.b.or_(*either))
        n.at(n.otherwise)
        n.b.ret(ir.Constant(I1, 0))
        return n.function

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
        n.b.ret(ir.Constant(I1, 1))
        n.at(n.otherwise)
        n.b.ret(ir.Constant(I1, 0))
        return n.function

    def _one_rows(self) -> Callable[..., Any]:
        """The scalar code, which works on the arrays themselves: it needs no scratch."""
        no_scratch = ir.Constant(POINTER, None)
        return lambda *args: self.native.b.call(self.rows, [*args, no_scratch])

    def _batch(self, axes: Sequence[Any], shapes: Sequence[Any], batch_rows: int) -> None:
        """Equal leading shapes of few rows in all: the vector code, where it is connected."""
        n = self.native
        rows = n.entry("rows")
        n.need(n.b.icmp_unsigned("!=", rows, NULL))
        leads = [
            n.b.sub(count, ir.Constant(I32, len(own)))
            for count, own in zip(axes, self.inputs, strict=True)
        ]
        lead = leads[0]
        n.need(n.b.icmp_unsigned("<", lead, ir.Constant(I32, _MOST_AXES)))  # no axis wraps around
        for other in leads[1:]:
            n.need(n.same(other, lead))
        last = n.b.zext(lead, I64)
        for shape, own in zip(shapes, self.inputs, strict=True):
            for k, length in enumerate(own):
                n.need(n.same(n.item(shape, n.b.add(last, i64(k))), i64(length)))
        with n.b.goto_entry_block():
            dims: Any = n.b.alloca(I64, _MOST_AXES + len(self.shape))
            count = n.b.alloca(I64)
        n.b.store(i64(1), count)

        def axis(k: Any) -> None:
            size = n.item(shapes[0], k)
            # 0 wraps around to a large number; sizes within the limit have a product that fits
            within = n.b.icmp_unsigned("<", n.b.sub(size, i64(1)), i64(batch_rows))
            n.need(within)
            for other in shapes[1:]:
                n.need(n.same(n.item(other, k), size))
            product = n.b.mul(n.b.load(count), size)
            n.need(n.b.icmp_unsigned("<=", product, i64(batch_rows)))
            n.b.store(product, count)
            n.b.store(size, n.b.gep(dims, [k]))

        n.each(last, axis)
        for k, size in enumerate(self.shape):
            n.b.store(i64(size), n.b.gep(dims, [n.b.add(last, i64(k))]))
        kind = ir.FunctionType(I64, [I64, I64] + [POINTER] * (len(self.inputs) + 2))
        code = n.b.bitcast(rows, kind.as_pointer())
        scratch = n.b.bitcast(n.entry("scratch"), POINTER)
        n_axes = n.b.add(lead, ir.Constant(I32, len(self.shape)))
        self._finish(
            lambda *args: n.b.call(code, [*args, scratch]), n.b.load(count), (n_axes, dims)
        )

    def _finish(self, compute: Callable[..., Any], count: Any, shape: tuple[Any, Any]) -> None:
        """Compute ``count`` rows into ``out`` or into a new array, and return it."""
        n = self.native
        fresh, given, ready = n.block(), n.block(), n.block()
        n.b.cbranch(n.same(self.out, NULL), fresh, given)
        n.at(fresh)
        made = self.new_array(*shape)
        self.give_up_where(n.same(made, NULL))
        made_at = n.b.block
        n.b.branch(ready)
        n.at(given)
        n.need(n.b.call(self.is_out, [self.out, *shape]))
        self._need_apart(count)
        n.call("retain", ir.VoidType(), self.out)
        given_at = n.b.block
        n.b.branch(ready)
        n.at(ready)
        result = n.b.phi(OBJECT)
        result.add_incoming(made, made_at)
        result.add_incoming(self.out, given_at)
        target = n.field(result, self.abi.data, POINTER)
        status = compute(i64(0), count, *self.data, target)
        with n.b.if_then(n.b.icmp_signed(">=", status, i64(0)), likely=False):
            n.call("release", ir.VoidType(), result)
            n.b.branch(n.otherwise)
        n.b.ret(result)

    def _need_apart(self, count: Any) -> None:
        """Go on only where ``out`` shares no memory with an input."""
        n = self.native

        def end(start: Any, shape: Shape) -> tuple[Any, Any]:
            first = n.b.ptrtoint(start, I64)
            return first, n.b.add(first, n.b.mul(count, i64(8 * math.prod(shape))))

        first, last = end(n.field(self.out, self.abi.data, POINTER), self.shape)
        for start, shape in zip(self.data, self.inputs, strict=True):
            other_first, other_last = end(start, shape)
            n.need(
                n.b.or_(
                    n.b.icmp_unsigned("<=", last, other_first),
                    n.b.icmp_unsigned("<=", other_last, first),
                )
            )


def bind(code: Code, owner: Callable[..., Any], name: str, abi: ArrayAbi) -> Callable[..., Any]:
    """The built-in function of arrays, whose general path is ``owner``.

    ``owner`` must keep ``code`` alive, and should not refer to the function that is returned.
    """
    _fill(code, abi, (0, 0))
    return built_in(name, owner.__doc__, code.address("fast_call"), [owner])


def connect(code: Code, *, rows: int, scratch: int) -> None:
    """Give the call of arrays in ``code`` the vector code for small batches.

    ``rows`` is the native function's address, ``scratch`` that of the memory that it is handed:
    0 where it takes none, else memory that no other caller uses. Both live as long as ``code``.
    """
    table = loaded_table(code, "table", len(_TABLE) + 2)
    table[len(_TABLE)] = scratch
    table[len(_TABLE) + 1] = rows  # the last one: batches go this way from here on


# --- numbers: floats, tuples, objects -------------------------------------------------------------


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
    types = _types((*takes, result))
    _fill(code, abi, list(map(id, types)))
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
    """The offsets of the slots of all types; None where one is not found."""
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
    """The offset of a slot in objects of a type, found by looking; 0 where it is not found."""
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
    """The part of a result that compiled code depends on."""
    if isinstance(result, Several):
        return f"({', '.join(_text(part, slots) for part in result.parts)})"
    if isinstance(result, Made):
        offsets = slots[result.type]
        parts = [f"{offsets[name]}: {_text(part, slots)}" for name, part in result.slots]
        return f"{{{', '.join(parts)}}}"
    return repr(result)


class _NumberCall(_Call):
    """The writing of one built-in function."""

    def __init__(self, module: Any, rows: Any, abi: ArrayAbi, what: _What) -> None:
        self.rows = rows
        self.takes, self.result, self.slots = what
        count = len(_types((*self.takes, self.result)))
        super().__init__(module, "number_call", abi, [f"type {k}" for k in range(count)])
        self.types: Iterator[int] = iter(range(count))
        self.numbers: list[Any] = []  # pointers to the results that are left

    def write(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Write the function: arguments read, the rows computed, the result built."""
        n = self.begin(len(self.takes or inputs))
        _, args, _, keywords = n.args
        n.need(n.same(keywords, NULL))
        given: list[Any] = []
        if self.takes:
            for k, part in enumerate(self.takes):
                self._read(n.item(args, i64(k)), part, given)
        else:
            given = [self._numbers(n.item(args, i64(k)), size) for k, size in enumerate(inputs)]
        places = [self.room(size) for size in outputs]
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
        self.end()

    def _read(self, thing: Any, part: Given, found: list[Any]) -> None:
        """The addresses of an argument's numbers, an object's slot by slot."""
        n = self.native
        if isinstance(part, Made):
            n.need(self.is_a(n, thing, f"type {next(self.types)}"))
            for name, each in part.slots:
                held = n.field(thing, self.slots[part.type][name], OBJECT)
                n.need(n.b.not_(n.same(held, NULL)))
                self._read(held, cast(Given, each), found)
            return
        if isinstance(part, Number):
            room = self.room(1)
            self.take(n, thing, room)
        else:
            n.need(self.is_a(n, thing, "tuple_type"))
            room = self._unpacked(thing, part.size)
        found.append(room)

    def _unpacked(self, packed: Any, size: int) -> Any:
        """The numbers of a tuple."""
        n, abi = self.native, self.abi
        room = self.room(size)
        n.need(n.same(n.field(packed, abi.size, I64), i64(size)))
        for k in range(size):
            self.take(n, n.field(packed, abi.items + _WORD * k, OBJECT), n.b.gep(room, [i64(k)]))
        return room

    def _numbers(self, argument: Any, size: int) -> Any:
        """The addresses of the numbers of an argument: a tuple of floats, a float, or a vector."""
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
            room = self.room(1)
            self.take(n, argument, room)
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

    def _build(self, result: Result, put: Callable[[Any], None]) -> None:
        """Make a part of the result, and put it into its place before it is filled."""
        n, abi = self.native, self.abi
        if isinstance(result, Number):
            self.keep(n.call("float_new", OBJECT, n.b.load(self.numbers.pop(0))), put)
        elif isinstance(result, Vector):
            self._array(result.size, put)
        elif isinstance(result, Made):
            type = n.entry(f"type {next(self.types)}")
            made = self.keep(n.call("allocate", OBJECT, type, i64(0)), put)
            for name, part in result.slots:
                self._build(part, self._into(made, self.slots[result.type][name]))
        else:
            parts = result.parts if isinstance(result, Several) else (Number(),) * result.size
            made = self.keep(n.call("tuple_new", OBJECT, i64(len(parts))), put)
            for k, part in enumerate(parts):
                self._build(part, self._into(made, abi.items + _WORD * k))

    def _into(self, owner: Any, offset: int) -> Callable[[Any], None]:
        b = self.native.b

        def put(value: Any) -> None:
            b.store(value, b.bitcast(b.gep(owner, [i64(offset)]), OBJECT.as_pointer()))

        return put

    def _array(self, size: int, put: Callable[[Any], None]) -> None:
        n = self.native
        dims = self.dims((size,), f"shape {size} {len(self.numbers)}")
        made = self.keep(self.new_array(ir.Constant(I32, 1), dims), put)
        data = n.field(made, self.abi.data, POINTER)
        for k in range(size):
            n.b.store(n.b.load(self.numbers.pop(0)), n.b.gep(data, [i64(k)]))


# --- dicts of floats ------------------------------------------------------------------------------


class Part(NamedTuple):
    """Keys of a dict, or of the dict that it has under ``member``, and where in rows they stand."""

    member: str | None
    keys: tuple[str, ...]
    places: tuple[int, ...]


class DictShape(NamedTuple):
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
    def own(self) -> list[str]:
        """The names of the table's own entries: code and memory, then keys by their places."""
        names = ["dict_rows", "near", "numbers"]
        for side, parts in (("given", self.given), ("found", self.found)):
            for k, part in enumerate(parts):
                names += [f"{side} {k}", *(f"{side} {k} {i}" for i in range(len(part.keys)))]
        return names


def emit_dict_call(module: Any, shape: DictShape, abi: ArrayAbi) -> None:
    """Write ``dict_call(self, args, nargs, kwnames)``.

    ``rows(0, 1, given, near, numbers, row, null)`` in the table is the scalar function; it returns
    less than 0 where it has written a row.
    """
    _DictCall(module, shape, abi).write()


class _DictCall(_Call):
    """The writing of one built-in function: one dict in, one dict out."""

    def __init__(self, module: Any, shape: DictShape, abi: ArrayAbi) -> None:
        super().__init__(module, "dict_call", abi, shape.own)
        self.shape = shape
        self.readers = [self._reader(k) for k in range(len(shape.given))]

    def write(self) -> None:
        """Write the checks, the call and the result, then the general path."""
        n, shape = self.begin(1), self.shape
        _, args, _, keywords = n.args
        n.need(n.same(keywords, NULL))
        values = self.room(sum(len(part.keys) for part in shape.given))
        row = self.room(shape.n_row)
        state = n.b.load(args)
        n.need(self.is_a(n, state, "dict_type"))
        for k, part in enumerate(shape.given):
            inner = state
            if part.member is not None:
                inner = n.call("dict_get", OBJECT, state, n.entry(f"given {k}"))
                n.need(n.b.icmp_unsigned("!=", inner, NULL))
                n.need(self.is_a(n, inner, "dict_type"))
            # what a key's __eq__ does must not take it away
            n.call("retain", ir.VoidType(), inner)
            fine = n.b.call(self.readers[k], [inner, values])
            n.call("release", ir.VoidType(), inner)
            n.need(fine)
        numbers = [n.b.bitcast(n.entry(name), POINTER) for name in ("near", "numbers")]
        nothing = ir.Constant(POINTER, None)
        status = n.call("dict_rows", I64, i64(0), i64(1), values, *numbers, row, nothing)
        n.need(n.b.icmp_signed("<", status, i64(0)))
        good = n.item(row, i64(shape.good))
        n.need(n.b.fcmp_ordered(">", good, ir.Constant(F64, 0.0)))
        self._result(row)
        self.end()

    def _reader(self, k: int) -> Any:
        """``i1 read(dict, values)``: whether all keys of a part are there, as floats."""
        kind = ir.FunctionType(I1, [OBJECT, POINTER])
        n = Native(self.module, f"read_{k}", kind, self.table)
        n.function.linkage = "internal"
        state, values = n.args
        for i, place in enumerate(self.shape.given[k].places):
            value = n.call("dict_get", OBJECT, state, n.entry(f"given {k} {i}"))
            n.need(n.b.icmp_unsigned("!=", value, NULL))
            self.take(n, value, n.b.gep(values, [i64(place)]))
        n.b.ret(ir.Constant(I1, 1))
        n.at(n.otherwise)
        n.b.ret(ir.Constant(I1, 0))
        return n.function

    def _result(self, row: Any) -> None:
        """Make the dict of what was found, and return it."""
        n = self.native
        result = self.keep(n.call("dict_new", OBJECT), lambda value: None)
        for k, part in enumerate(self.shape.found):
            inner = result
            if part.member is not None:
                inner = self.keep(n.call("dict_new", OBJECT), self._into(result, f"found {k}"))
            for i, place in enumerate(part.places):
                value = n.call("float_new", OBJECT, n.item(row, i64(place)))
                self.keep(value, self._into(inner, f"found {k} {i}"))
        n.b.ret(result)

    def _into(self, owner: Any, key: str) -> Callable[[Any], None]:
        n = self.native

        def put(value: Any) -> None:
            status = n.call("dict_set", I32, owner, n.entry(key), value)
            n.call("release", ir.VoidType(), value)
            self.give_up_where(n.b.icmp_signed("<", status, ir.Constant(I32, 0)))

        return put


def bind_dict_call(
    code: Code,
    abi: ArrayAbi,
    owner: Callable[[Any], Any],
    shape: DictShape,
    *,
    rows: int,
    near: int,
    numbers: int,
) -> Callable[[Any], Any]:
    """The built-in function, whose general path is ``owner``.

    ``rows``, ``near`` and ``numbers`` are addresses; ``owner`` keeps alive what is there and
    ``code``, and does not refer to the function that is returned.
    """
    keys: list[Any] = []
    for part in (*shape.given, *shape.found):
        keys += [sys.intern(part.member or ""), *map(sys.intern, part.keys)]
    _fill(code, abi, [rows, near, numbers, *map(id, keys)])
    return built_in("mapping", owner.__doc__, code.address("dict_call"), [owner, *keys])
