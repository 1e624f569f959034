"""One configuration or a small batch from Python: a built-in function made of compiled code.

The function follows CPython's vectorcall convention. It runs only for exact, contiguous, aligned
float64 ndarrays of the right shapes, with ``out`` or without; anything else, and any input or
result that is not finite, is passed on unchanged to the kernel's general path, which converts it
or says what is wrong. The code holds no address: all it needs of the process stands in one table.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from linkwork.compile.emit import I32, I64, POINTER, i64
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
from linkwork.compile.numpy_abi import ArrayAbi

_FLOAT64 = 12  # NPY_DOUBLE
_MOST_AXES = 16  # of a batch; NumPy itself takes 32 or 64
_NAMES = tuple(map(sys.intern, ("out", "threads", "on_bad", "raise")))
"""Keywords and a value of one: the interpreter interns them, so that one look tells them."""
_TABLE = (
    "array_type", "float64_descr", "array_new", "vectorcall", "retain", "release", "none",
    *_NAMES, "rows", "scratch",
)  # fmt: skip


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
    _FastCall(module, (rows, shapes, shape), abi).write(batch_rows)


class _FastCall:
    """The writing of one built-in function."""

    def __init__(
        self, module: Any, what: tuple[Any, tuple[Shape, ...], Shape], abi: ArrayAbi
    ) -> None:
        self.module, self.abi = module, abi
        self.rows, self.inputs, self.shape = what
        self.table = new_table(module, "table", _TABLE)
        self.is_float64 = self._write_is_float64()
        self.is_out = self._write_is_out()
        self.native = Native(module, "fast_call", VECTORCALL, self.table)
        self.out: Any = NULL
        self.data: list[Any] = []

    def write(self, batch_rows: int) -> None:
        """Write the function's checks, then one configuration, a batch, and the general path."""
        n, abi = self.native, self.abi
        _, args, n_args, keywords = n.args
        n.need(n.same(n_args, i64(len(self.inputs))))
        self.out = self._keyword_out(args, keywords)
        arrays = [n.b.load(n.b.gep(args, [i64(k)])) for k in range(len(self.inputs))]
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
        self._finish(self._one_rows(), i64(1), (ir.Constant(I32, len(self.shape)), self._dims()))
        if batched is not None:
            n.at(batched)
            self._batch(axes, shapes, batch_rows)
        n.at(n.otherwise)
        owner = n.field(n.args[0], abi.items, OBJECT)
        n.b.ret(n.call("vectorcall", OBJECT, owner, *n.args[1:]))

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

    def _dims(self) -> Any:
        kind = ir.ArrayType(I64, len(self.shape))
        dims: Any = ir.GlobalVariable(self.module, kind, "shape")
        dims.initializer = ir.Constant(kind, list(self.shape))
        dims.global_constant = True
        return self.native.b.bitcast(dims, I64.as_pointer())

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
        made = self._new_array(*shape)
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

    def _new_array(self, n_axes: Any, dims: Any) -> Any:
        """Make a float64 array; without memory for it, NumPy's error is passed on."""
        n = self.native
        zero, none64 = ir.Constant(I32, 0), ir.Constant(I64.as_pointer(), None)
        number = ir.Constant(I32, _FLOAT64)
        result = n.call(
            "array_new", OBJECT, n.entry("array_type"), n_axes, dims, number, none64, NULL, zero,
            zero, NULL,
        )  # fmt: skip
        with n.b.if_then(n.same(result, NULL), likely=False):
            n.b.ret(NULL)  # NumPy has set MemoryError
        return result


def bind(code: Code, owner: Callable[..., Any], name: str, abi: ArrayAbi) -> Callable[..., Any]:
    """The built-in function, whose general path is ``owner``.

    ``owner`` must keep ``code`` alive, and should not refer to the function that is returned.
    """
    entries = {
        "array_type": abi.array_type,
        "float64_descr": abi.float64_descr,
        "array_new": abi.array_new,
        "vectorcall": api("PyObject_Vectorcall"),
        "retain": api("Py_IncRef"),
        "release": api("Py_DecRef"),
        "none": id(None),
        **{name: id(name) for name in _NAMES},
    }
    table = loaded_table(code, "table", len(_TABLE))
    for key, value in entries.items():
        table[_TABLE.index(key)] = value
    return built_in(name, owner.__doc__, code.address("fast_call"), [owner])


def connect(code: Code, *, rows: int, scratch: int) -> None:
    """Give the fast call in ``code`` the vector code for small batches.

    ``rows`` is the native function's address, ``scratch`` that of the memory that it is handed:
    0 where it takes none, else memory that no other caller uses. Both live as long as ``code``.
    """
    table = loaded_table(code, "table", len(_TABLE))
    table[_TABLE.index("scratch")] = scratch
    table[_TABLE.index("rows")] = rows  # the last one: batches go this way from here on
