"""Built-in functions of compiled code: arrays, numbers, objects and dicts in and out, and what is
left to the general path."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import gc
import itertools
import math
import pickle
import subprocess
import sys
import types
import weakref
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from llvmlite import ir

from linkwork.compile import kernel as kernel_module
from linkwork.compile import native_call as calls
from linkwork.compile import numpy_abi
from linkwork.compile.cache import Cache
from linkwork.compile.compiler import Compiler
from linkwork.compile.emit import I64, POINTER, i64
from linkwork.compile.kernel import Kernel, build, rows_of
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.native_call import (
    Array,
    Held,
    Made,
    Mapping,
    Number,
    Numbers,
    Part,
    Several,
    layout_of,
    mapping_call,
    number_call,
)
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.recipe import expression_recipe, recipe_of
from linkwork.compile.target import host, new_module
from linkwork.errors import InputError, ShapeError
from seeds import rng
from traced_functions import mixed, traced

LENGTHS = (3, 2)
BATCH_ROWS = 50


def reference(x: Any, y: Any) -> Any:
    """The same with NumPy, for equal leading shapes."""
    columns = [x[..., 0] + y[..., 1], x[..., 1] * y[..., 0], x[..., 2] - y[..., 0]]
    return np.stack(columns, axis=-1)


def emit_rows(module: Any, name: str, *, scratch: bool) -> Any:
    """``i64 name(i64 first, i64 last, double* x, double* y, double* out, double* scratch)``."""
    kind = ir.FunctionType(I64, [I64, I64] + [POINTER] * 4)
    function = ir.Function(module, kind, name)
    first, last, x, y, out = function.args[:5]
    entry, head, bad, good, done = (function.append_basic_block() for _ in range(5))
    b = ir.IRBuilder(entry)
    if scratch:
        b.store(b.fadd(b.load(function.args[5]), ir.Constant(ir.DoubleType(), 1)), function.args[5])
    b.branch(head)
    b.position_at_end(head)
    row = b.phi(I64)
    row.add_incoming(first, entry)
    a = [b.load(b.gep(x, [b.add(b.mul(row, i64(3)), i64(k))])) for k in range(3)]
    c = [b.load(b.gep(y, [b.add(b.mul(row, i64(2)), i64(k))])) for k in range(2)]
    results = [b.fadd(a[0], c[1]), b.fmul(a[1], c[0]), b.fsub(a[2], c[0])]
    total = ir.Constant(ir.DoubleType(), 0)
    for k, value in enumerate(results):
        b.store(value, b.gep(out, [b.add(b.mul(row, i64(3)), i64(k))]))
        total = b.fadd(total, b.fsub(value, value))
    b.cbranch(b.fcmp_unordered("uno", total, total), bad, good)
    ir.IRBuilder(bad).ret(row)
    b.position_at_end(good)
    following = b.add(row, i64(1))
    row.add_incoming(following, good)
    b.cbranch(b.icmp_signed("<", following, last), head, done)
    ir.IRBuilder(done).ret(i64(-1))
    return function


class Owner:
    """The general path of the tests: it notes what it was called with."""

    def __init__(self, code: Any) -> None:
        self.code = code
        self.calls: list[tuple[Any, Any]] = []

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        self.calls.append((args, keywords))
        return "general"


class Bound:
    """The built-in function ``fast`` around hand-written rows, with what it stands on."""

    def __init__(
        self,
        *,
        batch_rows: int = BATCH_ROWS,
        inputs: tuple[int | tuple[int, ...], ...] = LENGTHS,
        shape: tuple[int, ...] = (3,),
    ) -> None:
        abi = array_abi()
        assert abi is not None
        module = new_module("fast", host())
        rows = emit_rows(module, "rows", scratch=False)
        emit_rows(module, "batch", scratch=True)
        calls.emit_fast_call(module, rows, inputs, shape, abi, batch_rows=batch_rows)
        self.code = MachineCode(object_code(module, host(), simplify=True))
        self.scratch = (ctypes.c_double * 8)()
        self.owner = Owner(self.code)
        self.fast: Any = calls.bind(self.code, self.owner, "mixed", abi)

    def connect(self) -> None:
        """Hand over the vector code."""
        address = self.code.address("batch")
        calls.connect(self.code, rows=address, scratch=ctypes.addressof(self.scratch))

    @property
    def batches(self) -> int:
        """How often the vector code was called."""
        return int(self.scratch[0])


pytestmark = pytest.mark.skipif(
    array_abi() is None, reason="this Python does not lay out objects as compiled code needs"
)


@pytest.fixture(scope="module")
def pair():
    kernel = build(traced("mixed", {"x": 3, "y": 2}, mixed))
    return kernel, kernel.bound()


@pytest.fixture
def bound():
    made = Bound()
    made.connect()
    return made


def test_is_built_in_and_gives_the_same_bits(pair):
    kernel, fast = pair
    assert type(fast).__name__ == "builtin_function_or_method"
    g = rng("fast")
    for _ in range(200):
        x, y = g.normal(size=3), g.normal(size=2)
        result = fast(x, y)
        assert result.flags.owndata
        assert result.flags.c_contiguous
        assert np.array_equal(result, kernel(x, y))


class Sub(np.ndarray):
    pass


ODD = [
    [1.0, 2.0, 3.0],
    (1, 2, 3),
    np.array([1, 2, 3]),
    np.array([1, 2, 3], np.float32),
    np.array([1.0, 2.0, 3.0], ">f8"),
    np.arange(6.0)[::2],
    np.arange(3.0)[::-1],
    np.arange(3.0).view(Sub),
    np.ma.masked_array(np.arange(3.0)),
    np.frombuffer(b"x" + np.arange(3.0).tobytes(), np.float64, 3, 1),
    np.arange(6.0).reshape(2, 3),
    np.arange(12.0).reshape(2, 2, 3),
    np.zeros((0, 3)),
    np.arange(3.0)[None],
]


@pytest.mark.parametrize("x", ODD, ids=range(len(ODD)))
def test_anything_else_goes_the_general_way(pair, x):
    kernel, fast = pair
    y = np.array([0.5, -0.25])
    assert np.array_equal(fast(x, y), kernel(x, y))


WRONG = [
    None, "abc", 3.0, object(), np.zeros(2), np.zeros(4), np.zeros(3, complex), {}, b"123",
    np.zeros((3, 2)), np.array(["a"] * 3), np.array([None] * 3), np.float64(3),
]  # fmt: skip


@pytest.mark.parametrize("x", WRONG, ids=range(len(WRONG)))
def test_what_cannot_be_converted_is_refused(pair, x):
    with pytest.raises((InputError, ShapeError)):
        pair[1](x, np.zeros(2))


def test_counts_and_keywords(pair):
    _, fast = pair
    x, y = np.ones(3), np.ones(2)
    for args in ((), (x,), (x, y, y)):
        with pytest.raises(ShapeError, match="takes 2 arrays"):
            fast(*args)
    out = np.zeros((2, 3))
    assert fast(x, y, out=out) is out
    with pytest.raises(TypeError):
        fast(x, y, nothing=1)
    with pytest.raises(InputError, match="is nan"):
        fast(np.array([0.0, np.nan, 0.0]), y)


# small batches


def test_batches_wait_for_the_vector_code():
    made = Bound()
    x, y = np.ones((4, 3)), np.ones((4, 2))
    assert made.fast(x, y) == "general"
    made.connect()
    assert np.array_equal(made.fast(x, y), reference(x, y))
    assert made.batches == 1
    assert isinstance(made.fast(x[0], y[0]), np.ndarray)
    assert made.batches == 1  # one configuration goes through the scalar code


def test_a_limit_of_no_rows_leaves_batches_to_the_general_way():
    made = Bound(batch_rows=0)
    made.connect()
    assert made.fast(np.ones((4, 3)), np.ones((4, 2))) == "general"
    assert isinstance(made.fast(np.ones(3), np.ones(2)), np.ndarray)


def leads():
    """Leading shapes around the limit of rows, of up to five axes, with what NumPy says of them."""
    g = rng("leads")
    fixed = [(1,), (BATCH_ROWS,), (BATCH_ROWS + 1,), (5, 10), (10, 6), (1, 1, 1), (0,), (3, 0)]
    fixed += [(0, 2**40), (2**31, 0), (1,) * 15, (1,) * 16, (1,) * 17, (2,) * 5, (2,) * 6]
    drawn = [tuple(g.integers(0, 9, size=g.integers(1, 6)).tolist()) for _ in range(200)]
    return fixed + drawn


def test_batches_of_every_shape(bound):
    g = rng("batches")
    for lead in leads():
        x, y = (g.normal(size=1) * np.ones((*lead, n)) for n in (3, 2))
        before = bound.batches
        result = bound.fast(x, y)
        small = len(lead) <= 15 and 0 < np.prod(lead, dtype=object) <= BATCH_ROWS
        assert (bound.batches - before) == small, lead
        if small:
            assert result.shape == (*lead, 3)
            assert result.flags.owndata
            assert result.flags.c_contiguous
            assert np.array_equal(result, reference(x, y))
        else:
            assert isinstance(result, str)
            assert result == "general"


def test_unequal_leading_shapes_go_the_general_way(bound):
    shapes = [(), (1,), (2,), (3,), (2, 1), (1, 2), (2, 2), (1, 1, 2)]
    for one, other in itertools.product(shapes, shapes):
        x, y = np.ones((*one, 3)), np.ones((*other, 2))
        result = bound.fast(x, y)
        assert isinstance(result, np.ndarray) == (one == other), (one, other)


def test_batches_not_in_order_or_of_other_types_go_the_general_way(bound):
    y = np.ones((4, 2))
    odd = [
        np.ones((4, 6))[:, ::2], np.ones((8, 3))[::2], np.ones((4, 3))[::-1],
        np.asfortranarray(np.ones((4, 3))), np.broadcast_to(np.ones(3), (4, 3)),
        np.ones((4, 3), np.float32), np.ones((4, 3), ">f8"), np.ones((4, 3)).view(Sub),
        np.ma.masked_array(np.ones((4, 3))), np.ones((4, 3)).tolist(), np.ones((4, 3), np.int64),
        np.frombuffer(b"x" + np.ones(12).tobytes(), np.float64, 12, 1).reshape(4, 3),
    ]  # fmt: skip
    for x in odd:
        assert isinstance(bound.fast(x, y), str)
    assert bound.batches == 0


def test_a_row_that_is_not_finite_sends_the_batch_the_general_way(bound):
    x, y = np.ones((4, 3)), np.ones((4, 2))
    x[2, 1] = np.nan
    assert bound.fast(x, y) == "general"
    assert bound.owner.calls[-1][0] == (x, y)
    assert bound.batches == 1


@pytest.mark.parametrize("shape", [(3,), (3, 1), (1, 3, 1), (1, 1, 1, 3)])
def test_results_of_any_shape(shape):
    made = Bound(shape=shape)
    made.connect()
    for lead in ((), (4,), (2, 2)):
        x, y = np.ones((*lead, 3)), np.ones((*lead, 2))
        result = made.fast(x, y)
        assert result.shape == (*lead, *shape)
        assert np.array_equal(result.reshape(*lead, 3), reference(x, y))


@pytest.mark.parametrize("inputs", [((3, 1), 2), (3, (1, 2)), ((1, 3), (2, 1, 1)), ((3,), (2,))])
def test_arguments_of_any_shape(inputs):
    made = Bound(inputs=inputs)
    made.connect()
    x_shape, y_shape = [(s,) if isinstance(s, int) else s for s in inputs]
    g = rng("arguments of any shape")
    for lead in ((), (4,), (2, 2)):
        x, y = g.normal(size=(*lead, 3)), g.normal(size=(*lead, 2))
        before = made.batches
        result = made.fast(x.reshape(*lead, *x_shape), y.reshape(*lead, *y_shape))
        assert np.array_equal(result, reference(x, y))
        assert made.batches - before == (len(lead) > 0)
        out = np.zeros_like(result)
        assert made.fast(x.reshape(*lead, *x_shape), y.reshape(*lead, *y_shape), out=out) is out
        assert np.array_equal(out, result)
    x, y = np.ones(x_shape), np.ones(y_shape)
    several = len(x_shape) > 1 or len(y_shape) > 1
    assert isinstance(made.fast(x.ravel(), y.ravel()), str) == several
    assert isinstance(made.fast(np.ones((4, *x_shape)), y), str)
    assert isinstance(made.fast(x, np.ones((4, *y_shape))), str)
    assert isinstance(made.fast(np.ones((*x_shape[:-1], x_shape[-1] + 1)), y), str)
    assert isinstance(made.fast(np.ones((x_shape[0] + 1, *x_shape[1:])), y), str)
    if x_shape == (3, 1):
        assert isinstance(made.fast(np.ones((1, 3)), y), str)
    memory = np.ones(9)
    x, out = memory[:3].reshape(x_shape), memory[2:5]
    assert isinstance(made.fast(x, y, out=out), str), "out begins inside x"
    assert made.fast(x, y, out=memory[3:6]).base is memory


def test_float64_under_another_dtype_object(bound):
    x, y = pickle.loads(pickle.dumps((np.ones(3), np.ones(2))))
    assert x.dtype is not np.dtype(float)
    assert np.array_equal(bound.fast(x, y), reference(x, y))
    told = np.dtype(float, metadata={"unit": "rad"})
    assert isinstance(bound.fast(np.ones(3, told), np.ones(2)), np.ndarray)
    assert isinstance(bound.fast(np.ones(3, np.dtype(">f8", metadata={})), np.ones(2)), str)


# out


@pytest.mark.parametrize("lead", [(), (4,), (2, 3)])
def test_out_is_written_and_returned(bound, lead):
    g = rng("out")
    x, y, out = g.normal(size=(*lead, 3)), g.normal(size=(*lead, 2)), np.zeros((*lead, 3))
    before = sys.getrefcount(out)
    result = bound.fast(x, y, out=out)
    assert result is out
    del result
    assert np.array_equal(out, reference(x, y))
    assert bound.owner.calls == []
    assert sys.getrefcount(out) == before


def test_out_that_does_not_fit_goes_the_general_way(bound):
    x, y = np.ones(3), np.ones(2)
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    memory = np.ones(10)
    wrong = [
        "out", [0.0] * 3, np.zeros(2), np.zeros(4), np.zeros((1, 3)), np.zeros((3, 1)),
        np.zeros(()), np.zeros(3, np.float32), np.zeros(3, ">f8"), np.zeros(6)[::2],
        np.zeros(3).view(Sub), frozen, np.zeros((0, 3)), np.broadcast_to(np.zeros(1), 3),
    ]  # fmt: skip
    for out in wrong:
        assert bound.fast(x, y, out=out) == "general"
        assert bound.owner.calls[-1][1]["out"] is out
    assert bound.fast(memory[:3], y, out=memory[2:5]) == "general"
    assert bound.fast(memory[:3], memory[4:6], out=memory[5:8]) == "general"
    assert isinstance(bound.fast(memory[:3], memory[6:8], out=memory[3:6]), np.ndarray)
    assert bound.fast(np.ones((4, 3)), np.ones((4, 2)), out=np.zeros((5, 3))) == "general"
    assert bound.fast(x, y, out=np.zeros(3), threads=None) == "general"
    assert bound.fast(x, y, threads=None) == "general"
    assert bound.fast(x, y, other=np.zeros(3)) == "general"
    assert bound.fast(x, y=y) == "general"
    x[0] = np.inf
    out = np.zeros(3)
    count = sys.getrefcount(out)
    assert bound.fast(x, y, out=out) == "general"
    bound.owner.calls.clear()
    assert sys.getrefcount(out) == count


# memory


def test_the_code_lives_as_long_as_the_function():
    recipe, compiler = recipe_of(traced("short", {"x": 3, "y": 2}, mixed)), Compiler()
    rows = rows_of(recipe, compiler)
    kernel = Kernel(recipe, rows, compiler)
    fast = kernel.bound()
    watch = weakref.ref(rows)
    expected = kernel(np.ones(3), np.ones(2))
    del kernel, rows
    gc.collect()
    assert watch() is not None
    assert np.array_equal(fast(np.ones(3), np.ones(2)), expected)
    del fast
    gc.collect()
    assert watch() is None


def test_the_general_path_stands_in_where_layouts_are_unknown(monkeypatch):
    monkeypatch.setattr(kernel_module, "array_abi", lambda: None)
    kernel = build(traced("general", {"x": 3, "y": 2}, mixed))
    assert kernel.bound() is kernel
    assert kernel(np.ones(3), np.ones(2)).shape == (2, 3)


# numbers and objects

X, Y, BY = (1.0, 2.0, 3.0), (0.5, -1.0, 4.0), 2.0
SUM = [3.0, 2.0, 14.0]  # 2 x + 2 y


class Float(float):
    pass


class Pair:
    __slots__ = ("left", "right")


class Triple:
    __slots__ = ("pair", "third")


def text(o: Any, x: Any, y: Any, by: Any) -> dict[str, Any]:
    return {"sum": by[0] * x + by[0] * y}


def otherwise(*given: Any, **named: Any) -> tuple[str, Any]:
    """What is compiled does this."""
    return "otherwise", given


def made(result: Any, key: tuple[str, ...] = (), **more: Any) -> Any:
    recipe = expression_recipe(key, "sum", {"x": 3, "y": 3, "by": 1}, text)
    compiler = more.pop("compiler", Compiler())
    return number_call(recipe, result, compiler, more.pop("otherwise", otherwise), **more)


def test_every_packing_of_numbers():
    call = made(Numbers(3))
    assert type(call).__name__ == "builtin_function_or_method"
    assert call.__doc__ == otherwise.__doc__
    for x in (X, np.array(X)):
        for y in (Y, np.array(Y)):
            for by in (BY, (BY,), np.array([BY])):
                assert call(x, y, by) == tuple(SUM)


def test_every_kind_of_result():
    assert made(Several((Number(), Numbers(2))))(X, Y, BY) == (SUM[0], tuple(SUM[1:]))
    array = made(Array((3,)))(X, Y, BY)
    assert type(array) is np.ndarray
    assert array.dtype == np.float64
    assert array.flags.owndata
    assert array.tolist() == SUM
    several = made(Several((Array((2,)), Number())))(X, Y, BY)
    assert several[0].tolist() == SUM[:2]
    assert several[1] == SUM[2]
    pair = Made(Pair, (("right", Number()), ("left", Number())))
    triple = made(Made(Triple, (("third", Number()), ("pair", pair))))(X, Y, BY)
    assert type(triple) is Triple
    assert type(triple.pair) is Pair
    assert [triple.third, triple.pair.right, triple.pair.left] == SUM


def test_objects_are_taken_slot_by_slot():
    takes = [Made(Pair, (("right", Numbers(3)), ("left", Numbers(3)))), Number()]
    call = made(Numbers(3), takes=takes)
    pair = Pair()
    assert call(pair, BY) == ("otherwise", (pair, BY))  # its slots are empty
    pair.left, pair.right = Y, X
    assert call(pair, BY) == tuple(SUM)
    pair.left = list(Y)
    assert call(pair, BY) == ("otherwise", (pair, BY))
    other = Triple()
    assert call(other, BY) == ("otherwise", (other, BY))


@pytest.mark.parametrize(
    "x",
    [
        (1, 2.0, 3.0), (1.0, 2.0), (1.0, 2.0, 3.0, 4.0), [1.0, 2.0, 3.0], None, 1.0, "abc",
        (1.0, None, 2.0), (Float(1.0), 2.0, 3.0), np.array([1, 2, 3]), np.zeros((1, 3)),
        np.zeros(6)[::2], np.zeros(3, np.float32), np.zeros(3, ">f8"), np.float64(1.0),
        (1.0, math.nan, 2.0), (1.0, math.inf, 2.0), np.array([1.0, math.nan, 0.0]),
        (1e308, 1.0, 1.0),
    ],
    ids=repr,
)  # fmt: skip
def test_all_else_is_left_to_the_general_way(x: Any):
    call = made(Numbers(3))
    word, given = call(x, Y, BY)
    assert word == "otherwise"
    assert given[0] is x
    assert given[1:] == (Y, BY)


def test_types_without_fixed_slots_are_left_to_the_general_way():
    class Loose:
        pass

    class Listed(list[float]):
        __slots__ = ("x",)

    for kind in (Loose, Listed, int):
        assert calls.slot_offset(kind, "x") == 0
        assert made(Made(kind, (("x", Numbers(3)),))) is otherwise
    assert calls.slot_offset(Pair, "left") > 0
    assert calls.slot_offset(Pair, "other") == 0


def test_what_was_compiled_is_found_again(tmp_path: Any):
    def compiler() -> Compiler:
        return Compiler(cache=Cache(tmp_path / "kernels"))

    first = made(Numbers(3), ("a sum",), compiler=compiler())
    files = sorted(path.name for path in (tmp_path / "kernels").rglob("*") if path.is_file())
    again = made(Numbers(3), ("a sum",), compiler=compiler())
    assert files == sorted(
        path.name for path in (tmp_path / "kernels").rglob("*") if path.is_file()
    )
    assert first(X, Y, BY) == again(X, Y, BY) == tuple(SUM)
    made(Array((3,)), ("a sum",), compiler=compiler())  # another result is other code
    assert len([p for p in (tmp_path / "kernels").rglob("*") if p.is_file()]) > len(files)


def test_unfused_code_rounds_as_python_does():
    def product(o: Any, a: Any) -> dict[str, Any]:
        return {"x": o.vector([a[0] * a[1] - a[2] * a[3]])}

    recipe = expression_recipe((), "product", {"a": 4}, product)
    a = (1.0 + 2.0**-30, 1.0 - 2.0**-30, 1.0, 1.0)
    plain = number_call(recipe, Number(), Compiler(), otherwise, fused=False)
    assert plain(a) == a[0] * a[1] - a[2] * a[3] == 0.0


# dicts

DOUBLES = ctypes.POINTER(ctypes.c_double)
ROWS = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, *[DOUBLES] * 4, ctypes.c_void_p
)
GIVEN = (Part(None, ("a",), (1,)), Part("joint", ("x", "y"), (0, 2)))
FOUND = (Part("arm", ("p", "q"), (0, 2)), Part(None, ("r",), (1,)))
STATE = {"a": 2.0, "joint": {"x": 1.0, "y": 4.0}}


def plain(first: int, last: int, given: Any, near: Any, numbers: Any, row: Any, none: Any) -> int:
    """Ten times what is given, and all is well where `near` is not below zero."""
    for k in range(3):
        row[k] = 10 * given[k] + numbers[k]
    row[3] = near[0]
    return 0 if near[0] < -1 else -1


class General:
    """The path of calls that go on; it keeps alive what the function uses."""

    def __init__(self, *kept: Any) -> None:
        self.kept = kept

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return ("general", args, keywords)


def call(near: float = 1.0, given: Any = GIVEN) -> Any:
    rows, arrays = ROWS(plain), (np.array([near]), np.array([0.25, 0.5, 0.75]))
    return mapping_call(
        (given, FOUND),
        (4, 3),
        Compiler(),
        General(rows, arrays),
        rows=int(ctypes.cast(rows, ctypes.c_void_p).value or 0),
        arrays=[a.ctypes.data for a in arrays],
    )


@pytest.fixture(scope="module")
def mapping() -> Any:
    return call()


def test_there_and_back(mapping: Any):
    assert type(mapping).__name__ == "builtin_function_or_method"
    assert mapping(STATE) == {"arm": {"p": 10.25, "q": 40.75}, "r": 20.5}
    assert mapping({**STATE, "more": None}) == mapping(STATE)
    assert list(mapping(STATE)) == ["arm", "r"]


class Dict(dict[str, Any]):
    pass


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"a": 2.0},
        {"a": 2.0, "joint": {"x": 1.0}},
        {"a": 2, "joint": {"x": 1.0, "y": 4.0}},
        {"a": np.float64(2.0), "joint": {"x": 1.0, "y": 4.0}},
        {"a": Float(2.0), "joint": {"x": 1.0, "y": 4.0}},
        {"a": 2.0, "joint": MappingProxyType({"x": 1.0, "y": 4.0})},
        {"a": 2.0, "joint": 1.0},
        Dict(STATE),
        OrderedDict(STATE),
        [2.0],
        None,
    ],
    ids=repr,
)
def test_all_else_goes_the_general_way(mapping: Any, state: Any):
    assert mapping(state) == ("general", (state,), {})


def test_rows_without_an_answer_go_the_general_way():
    for near in (-2.0, -0.5, 0.0, float("nan")):
        assert call(near)(STATE)[0] == "general"


def test_a_key_that_takes_its_dict_away(mapping: Any):
    state: dict[Any, Any] = {"a": 2.0}

    class Key:
        def __hash__(self) -> int:
            return hash("x")

        def __eq__(self, other: object) -> bool:
            state.pop("joint", None)
            return False

    state["joint"] = {Key(): 0.0, "y": 4.0}
    assert mapping(state)[0] == "general"
    assert "joint" not in state


def test_the_code_depends_on_no_key():
    other = (Part(None, ("z",), (1,)), Part("k", ("u", "v"), (0, 2)))
    assert layout_of(Mapping(other)) == layout_of(Mapping(GIVEN)) != layout_of(Mapping(FOUND))
    assert call(given=other)({"z": 2.0, "k": {"u": 1.0, "v": 4.0}})["r"] == 20.5


# what all have in common


def kinds() -> dict[str, tuple[Any, list[Any]]]:
    """A function of each kind, and what it is called with."""
    pair = Pair()
    pair.left, pair.right = X, Y
    takes = [Made(Pair, (("left", Numbers(3)), ("right", Numbers(3)))), Number()]
    gives = Made(Pair, (("left", Array((2,))), ("right", Number())))
    return {
        "arrays": (
            build(traced("mixed", {"x": 3, "y": 2}, mixed)).bound(),
            [np.ones(3), np.ones(2)],
        ),
        "objects": (made(gives, takes=takes), [pair, BY]),
        "dicts": (call(), [STATE]),
    }


@pytest.mark.parametrize("kind", ["arrays", "objects", "dicts"])
def test_no_reference_is_lost_or_kept(kind: str):
    fast, given = kinds()[kind]

    def run(count: int) -> None:
        for _ in range(count):
            fast(*given)
        for _ in range(count // 10):
            with contextlib.suppress(InputError, ShapeError):
                fast(*[None] * len(given))

    def counts() -> Any:
        gc.collect()
        held = [fast, *given, Pair, *STATE, *STATE["joint"].values(), "arm"]
        return [sys.getrefcount(each) for each in held], len(gc.get_objects())

    run(20)
    before, objects = counts()
    run(2000)
    after, more = counts()
    assert np.abs(np.subtract(after, before)).max() < 5
    assert abs(more - objects) < 50
    found = fast(*given)
    assert sys.getrefcount(found) == 2, "the result is the caller's alone"


@pytest.mark.parametrize("kind", ["arrays", "objects", "dicts"])
def test_other_counts_and_keywords_go_the_general_way(kind: str):
    fast, given = kinds()[kind]
    more: list[tuple[list[Any], dict[str, Any]]] = [
        ([], {}), ([*given, *given], {}), (given, {"tips": 2}), ([], {"state": given[0]}),
    ]  # fmt: skip
    for args, keywords in more:
        if kind == "arrays":
            with pytest.raises((ShapeError, TypeError)):
                fast(*args, **keywords)
        else:
            assert fast(*args, **keywords)[:2] == (fast.__self__[0](*args))[:2]


# names, pickles, and the end in a cycle


def test_it_has_a_name_and_holds_its_general_path():
    made = Bound()
    assert made.fast.__name__ == "mixed"
    assert isinstance(made.fast.__self__, Held)
    assert made.fast.__self__[0] is made.owner


def test_it_is_not_pickled():
    with pytest.raises(TypeError, match="pickle the robot"):
        pickle.dumps(Bound().fast)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("late", [False, True])
def test_a_cycle_that_holds_it_is_collected(late):
    class Application:
        pass

    for _ in range(3):
        application = Application()
        made = Bound()
        if late:
            application = Application()
        application.fast, application.me = made.fast, application
        made.owner.application = application
        watch = weakref.ref(made.owner)
        application.fast(np.ones(3), np.ones(2))
        del made, application
        gc.collect()
        assert watch() is None


# ---------------------------------------------------------------------------- the layout of arrays


def test_it_names_what_numpy_says_of_itself():
    abi = numpy_abi.array_abi()
    if abi is None:
        pytest.skip("this Python does not lay out arrays as the fast call needs")
    assert abi.array_type == id(np.ndarray)
    assert abi.float64_descr == id(np.dtype(float))


OTHER = {
    "data": "descr", "ndim": "flags", "shape": "data", "descr": "shape", "flags": "ndim",
    "type": "data", "items": "type", "bytes": "data", "number": "flags", "order": "number",
    "writeable_flag": "required_flags",
}  # fmt: skip


@pytest.mark.parametrize("field", list(OTHER))
def test_a_wrong_offset_is_found(field):
    abi = numpy_abi.array_abi()
    if abi is None:
        pytest.skip("this Python does not lay out arrays as the fast call needs")
    assert numpy_abi.fits(abi)
    wrong = dataclasses.replace(abi, **{field: getattr(abi, OTHER[field])})
    assert not numpy_abi.fits(wrong)


def test_other_builds_take_the_general_path(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version", "3.14.0 free-threading build (main, ...)")
        assert numpy_abi.array_abi.__wrapped__() is None
    with monkeypatch.context() as patch:
        patch.setattr(sys, "getobjects", len, raising=False)
        assert numpy_abi.array_abi.__wrapped__() is None
    with monkeypatch.context() as patch:
        patch.setattr(sys, "implementation", types.SimpleNamespace(name="pypy"))
        assert numpy_abi.array_abi.__wrapped__() is None


@pytest.mark.parametrize("module", ["numpy._core._multiarray_umath"])
def test_a_numpy_without_its_table_takes_the_general_path(module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, types.ModuleType(module))
    assert numpy_abi.array_abi.__wrapped__() is None


def test_other_interpreters_of_the_process_take_the_general_path(monkeypatch):
    monkeypatch.setattr(numpy_abi, "is_main_interpreter", lambda: False)
    assert numpy_abi.array_abi.__wrapped__() is None


def test_another_interpreter_knows_that_it_is_another_one():
    # In a process of its own: NumPy does not promise to survive a second interpreter.
    done = subprocess.run(
        [sys.executable, "-c", SECOND], capture_output=True, text=True, timeout=60, check=False
    )
    if "no interpreters" in done.stdout:
        pytest.skip("this Python has no module that makes interpreters")
    assert "main True" in done.stdout, done.stderr
    assert "main False" in done.stdout, done.stderr


SECOND = """
import ctypes, sys
text = '''
import ctypes
kind = ctypes.PYFUNCTYPE(ctypes.c_void_p)
here = kind(("PyInterpreterState_Get", ctypes.pythonapi))()
main = kind(("PyInterpreterState_Main", ctypes.pythonapi))()
print("main", here == main, flush=True)
'''
exec(text)
try:
    import _interpreters as interpreters
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        print("no interpreters")
        sys.exit()
try:
    made = interpreters.create("legacy")
except TypeError:
    made = interpreters.create(isolated=False)
interpreters.run_string(made, text)
"""


def test_the_layout_has_nothing_of_this_process_in_it():
    abi = numpy_abi.array_abi()
    if abi is None:
        pytest.skip("this Python does not lay out arrays as the fast call needs")
    elsewhere = dataclasses.replace(abi, array_type=1, float64_descr=2, array_new=3)
    assert elsewhere.layout == abi.layout
    assert dataclasses.replace(abi, flags=abi.flags + 8).layout != abi.layout
    assert len(abi.layout) == len(dataclasses.fields(abi)) - 3
