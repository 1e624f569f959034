"""The loop around a graph: any number of rows, pads, scratch, and what is not finite."""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import Any

import casadi as cs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.compile.graph import graph_of
from linkwork.compile.loops import (
    LONGEST_WHOLE,
    cover,
    emit_rows,
    to_be_tested,
)
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.target import host, new_module
from seeds import rng
from traced_functions import read


class GraphRows:
    """``rows(first, last, *inputs, *outputs)``, with the scratch that it asked for."""

    def __init__(self, function: Any, width: int) -> None:
        module = new_module("rows", host())
        graph = graph_of(read(function), fuse=True)
        made = emit_rows(module, graph, width, "rows", fused=host().fused)
        self.code = MachineCode(object_code(module, host(), simplify=True))
        self.n_arrays = function.n_in() + function.n_out()
        pointers = [ctypes.c_void_p] * (self.n_arrays + 1)
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, *pointers)
        self.native = kind(self.code.address("rows"))
        self.scratch = made.scratch
        self.memory = np.full(made.scratch + 8, np.nan)

    def __call__(self, first: int, last: int, *arrays: Any) -> int:
        """Call the native function."""
        assert len(arrays) == self.n_arrays
        start = -(self.memory.ctypes.data // 8) % 8
        place = self.memory[start:].ctypes.data if self.scratch else None
        return int(self.native(first, last, *[a.ctypes.data for a in arrays], place))


WIDTHS = [1, 2, 4, 8]


def small():
    """Two inputs, one of them partly unused; two outputs, with zeros and constants in them."""
    x, y = cs.SX.sym("x", 3), cs.SX.sym("y", 2)
    out = cs.SX(4, 1)
    out[1] = x[0] + y[1]
    out[2] = 2.5
    return cs.Function("f", [x, y], [out, cs.vertcat(x[1], 0, x[0] * x[1])])


def mixed(n_in, n_out, label, n_values=60):
    """Sums of products and sines of ``n_in`` numbers; about a third of the results is constant."""
    random = rng(f"mixed {n_in} {n_out} {label}")
    x = cs.SX.sym("x", n_in)
    values = [x[k] for k in range(n_in)]
    for _ in range(n_values):
        a, b, c = (values[k] for k in random.integers(len(values), size=3))
        values.append(cs.sin(a) * b * 0.5 + c * 0.25)
    results = cs.SX(n_out, 1)
    for e in range(n_out):
        kind = random.integers(6)
        if kind >= 2:
            results[e] = values[random.integers(len(values))]
        elif kind == 1:
            results[e] = float(random.integers(1, 5))
    return cs.Function("f", [x], [results])


def expected(function, x):
    return np.stack([np.array(function(row)).ravel() for row in x])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("first", "last"), [(8, 16), (3, 20), (5, 6), (0, 24), (22, 24), (3, 3)])
def test_only_the_asked_rows_are_written_constants_included(width, first, last):
    n = 24
    x, y = np.arange(3.0 * n).reshape(n, 3), -np.arange(2.0 * n).reshape(n, 2)
    a, b = np.full((n, 4), 7.0), np.full((n, 3), 7.0)
    assert GraphRows(small(), width)(first, last, x, y, a, b) == -1
    expected_a = np.stack([0 * x[:, 0], x[:, 0] + y[:, 1], 0 * x[:, 0] + 2.5, 0 * x[:, 0]], 1)
    expected_b = np.stack([x[:, 1], 0 * x[:, 0], x[:, 0] * x[:, 1]], 1)
    asked = (np.arange(n) >= first) & (np.arange(n) < last)
    for found, wanted in ((a, expected_a), (b, expected_b)):
        assert np.array_equal(found[asked], wanted[asked])
        assert (found[~asked] == 7.0).all()


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("n_in", "n_out"), [(1, 1), (2, 3), (7, 16), (9, 42), (17, 5), (5, 700)])
def test_every_width_gives_the_same_bits_for_any_number_of_rows(n_in, n_out):
    function = mixed(n_in, n_out, "bits")
    x = rng("rows").uniform(-3, 3, (21, n_in))
    wanted = np.empty((21, n_out))
    assert GraphRows(function, 1)(0, 21, x, wanted) == -1
    assert np.allclose(wanted, expected(function, x), rtol=1e-12, atol=1e-12)
    for width in WIDTHS[1:]:
        run = GraphRows(function, width)
        for n in (1, 2, 3, 7, 8, 9, 16, 21):
            found = np.full((21, n_out), 7.0)
            assert run(0, n, x, found) == -1
            assert np.array_equal(found[:n].view(np.int64), wanted[:n].view(np.int64))
            assert (found[n:] == 7.0).all()


@pytest.mark.slow
@pytest.mark.parametrize(("n_in", "n_out"), [(3, 1100), (600, 3)])
def test_large_tiles_lie_in_the_scratch_of_the_caller(n_in, n_out):
    function = mixed(n_in, n_out, "scratch")
    x = rng("scratch").uniform(-1, 1, (11, n_in))
    wanted, found = np.empty((11, n_out)), np.empty((11, n_out))
    single, wide = GraphRows(function, 1), GraphRows(function, 8)
    assert single.scratch == 0
    assert wide.scratch == 8 * (2 * n_in + n_out)
    assert single(0, 11, x, wanted) == -1
    assert wide(0, 11, x, found) == -1
    assert np.array_equal(found, wanted)
    x[9, n_in // 2] = np.inf
    assert wide(0, 11, x, found) == 8


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 13, 16])
def test_the_first_tile_with_a_bad_input_is_reported_even_where_it_is_unused(width, value, row):
    run = GraphRows(small(), width)
    for element in range(5):
        x, y = np.ones((17, 3)), np.ones((17, 2))
        a, b = np.zeros((17, 4)), np.zeros((17, 3))
        (x if element < 3 else y)[row, element % 3] = value
        assert run(0, 17, x, y, a, b) == row - row % width


@pytest.mark.parametrize("width", WIDTHS)
def test_what_lies_beyond_the_rows_is_not_looked_at(width):
    x, y = np.full((20, 3), np.nan), np.full((20, 2), np.inf)
    x[3:14], y[3:14] = 1.0, 2.0
    assert GraphRows(small(), width)(3, 14, x, y, np.zeros((20, 4)), np.zeros((20, 3))) == -1


@pytest.mark.parametrize("width", WIDTHS)
def test_a_bad_result_is_reported(width):
    x, y = np.full((8, 3), 1e200), np.ones((8, 2))
    assert GraphRows(small(), width)(0, 8, x, y, np.zeros((8, 4)), np.zeros((8, 3))) == 0
    x[:6] = 1.0
    assert (
        GraphRows(small(), width)(0, 7, x, y, np.zeros((8, 4)), np.zeros((8, 3))) == 6 - 6 % width
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_finite_numbers_whose_sum_overflows_are_fine(width):
    x = cs.SX.sym("x", 9)
    function = cs.Function("f", [x], [cs.vertcat(-x, 0)])
    values, found = np.full((11, 9), 1.7e308), np.zeros((11, 10))
    assert GraphRows(function, width)(0, 11, values, found) == -1
    assert np.array_equal(found[:, :9], -values)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_constant_that_is_not_finite_is_reported(width):
    x = cs.SX.sym("x", 1)
    function = cs.Function("f", [x], [cs.vertcat(x, cs.inf)])
    assert GraphRows(function, width)(4, 9, np.ones((9, 1)), np.zeros((9, 2))) == 4


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_computed_and_nothing_taken(width):
    function = cs.Function("f", [cs.SX(0, 1)], [cs.SX([1.0, 0.0, 2.0])])
    found = np.full((5, 3), 7.0)
    assert GraphRows(function, width)(0, 5, np.empty((5, 0)), found) == -1
    assert (found == [1.0, 0.0, 2.0]).all()
    function = cs.Function("f", [cs.SX.sym("x", 2)], [cs.SX(0, 1)])
    assert GraphRows(function, width)(0, 3, np.ones((3, 2)), np.empty((3, 0))) == -1


def guarded(rows, columns, at_end):
    """An array that touches, at one end, memory that may not be read."""
    page = mmap.PAGESIZE
    length = -(-rows * columns * 8 // page) * page
    memory = mmap.mmap(-1, length + 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    for place in (start, start + page + length):
        assert protect(ctypes.c_void_p(place), ctypes.c_size_t(page), 0) == 0
    offset = page + (length - rows * columns * 8 if at_end else 0)
    array = np.frombuffer(memory, np.float64, rows * columns, offset).reshape(rows, columns)
    array[...] = 1.0
    return array


@pytest.mark.sweep(2)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mprotect is called as on Linux")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("at_end", [False, True])
def test_nothing_outside_the_arrays_is_touched(width, at_end):
    for n_in, n_out in ((1, 3), (3, 6), (7, 16), (9, 42), (13, 9)):
        run = GraphRows(mixed(n_in, n_out, "guard"), width)
        for rows in (1, 3, 8, 13):
            x, found = guarded(rows, n_in, at_end), guarded(rows, n_out, at_end)
            assert run(0, rows, x, found) == -1


@pytest.mark.slow
@pytest.mark.parametrize(("n_out", "n_values"), [(40, 9000), (700, 2500)])  # panels: 1, several
def test_a_long_graph_is_cut_into_parts_that_pass_their_values_on(n_out: int, n_values: int):
    function = mixed(20, n_out, "parts", n_values=n_values)
    assert len(graph_of(read(function), fuse=True).nodes) > LONGEST_WHOLE
    x = rng("parts").normal(size=(11, 20))
    found = [np.full((13, n_out), 7.0) for _ in range(2)]
    for width, out in zip((1, 8), found, strict=True):
        rows = GraphRows(function, width)
        assert rows(0, 11, x, out) == -1
        bad = x.copy()
        bad[4, 3] = np.inf
        assert rows(0, 11, bad, out.copy()) == 4 // width * width
    np.testing.assert_allclose(found[0][:11], expected(function, x), rtol=1e-10, atol=1e-10)
    assert np.array_equal(*found)
    assert (found[0][11:] == 7.0).all()


@pytest.mark.parametrize("width", WIDTHS)
def test_code_is_no_longer_for_inputs_that_it_does_not_use(width):
    def lines(n):
        x = cs.SX.sym("x", n)
        module = new_module("rows", host())
        graph = graph_of(read(cs.Function("f", [x], [x[5] * x[6] + x[n - 1]])), fuse=True)
        emit_rows(module, graph, width, "rows", fused=host().fused)
        return len(str(module).splitlines())

    assert lines(10_000) <= lines(500) + 50


@pytest.mark.parametrize("width", WIDTHS)
def test_each_of_many_unused_inputs_is_looked_at(width):
    n, n_rows = 101, 9
    x = cs.SX.sym("x", n)
    run = GraphRows(cs.Function("f", [x], [x[5] * 2 + x[6] * x[n - 1]]), width)
    good = rng("unused inputs").uniform(-3, 3, (n_rows, n))
    found = np.zeros((n_rows, 1))
    assert run(0, n_rows, good, found) == -1
    assert np.allclose(found[:, 0], good[:, 5] * 2 + good[:, 6] * good[:, n - 1])
    for row in (0, 3, n_rows - 1):
        for column in range(n):
            for bad in (np.nan, np.inf, -np.inf):
                given = good.copy()
                given[row, column] = bad
                assert run(0, n_rows, given, found) == row - row % width
    assert run(0, n_rows, np.full((n_rows, n), 1.7e308), np.zeros((n_rows, 1))) == 0
    large = np.where(np.isin(np.arange(n), (5, 6, n - 1)), good, 1.7e308)
    assert run(0, n_rows, large, found) == -1  # a sum that overflows is no reason


# --- What has to be looked at to find all that is not finite ---


def random_graph(random):
    x = cs.SX.sym("x", 4)
    values = [x[k] for k in range(4)]
    operations = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a * b + a,
        lambda a, b: a / b, cs.fmax, lambda a, _: cs.atan2(a, 1),
        lambda a, _: -a, lambda a, _: a * a, lambda a, b: cs.if_else(a > b, b, 2),
    ]  # fmt: skip
    for _ in range(12):
        a, b = (values[k] for k in random.integers(len(values), size=2))
        values.append(operations[random.integers(len(operations))](a, b))
    chosen = [values[k] for k in random.integers(len(values), size=3)]
    return graph_of(read(cs.Function("f", [x], [cs.vertcat(*chosen)])), fuse=True)


def evaluate(graph, x):
    """All values of a graph, by NumPy."""
    values = []
    for node in graph.nodes:
        if node.kind == "input":
            values.append(x[node.args[1]])
        elif node.kind == "const":
            values.append(np.float64(node.value))
        else:
            arguments = [values[a] for a in node.args]
            values.append(node.op.numpy(*arguments))
    return values


def test_no_input_and_no_result_that_is_not_finite_is_missed():
    random = rng("missed")
    specials = np.array([0.0, 1.0, -2.0, 1e200, -1e200, 1e308, np.inf, -np.inf, np.nan])
    with np.errstate(all="ignore"):
        for _ in range(150):
            graph = random_graph(random)
            positions, elements = to_be_tested(graph)
            for _ in range(20):
                x = random.choice(specials, size=4, p=[0.15] * 4 + [0.1] * 2 + [0.2 / 3] * 3)
                values = evaluate(graph, x)
                computed = [p for p in graph.outputs[0].values() if graph.nodes[p].kind != "const"]
                results = [values[p] for p in computed]
                bad = not np.isfinite([*x, *results]).all()
                seen = [values[p] for p in positions] + [x[e] for e in elements[0]]
                assert bad == (not np.isfinite(seen).all())


# --- Which stores a tile has: every number once or with the same value, none outside ---


def placed(n_out, computed, label):
    """Results of which the elements ``computed`` are products, in a random order of completion."""
    random = rng(f"placed {label}")
    x = cs.SX.sym("x", 2)
    results = cs.SX(n_out, 1)
    for e in random.permutation(computed):
        results[int(e)] = x[0] * float(e) + x[1]
    constant = np.setdiff1d(np.arange(n_out), computed)
    for e in constant[::3]:
        results[int(e)] = 0.5 + float(e)
    return cs.Function("f", [x], [results])


PATTERNS = {
    "none": lambda n: range(0),
    "all": range,
    "first half of each eight": lambda n: [e for e in range(n) if e % 8 < 4],
    "last two of each sixteen": lambda n: [e for e in range(n) if e % 16 > 13],
    "a few together": lambda n: range(n // 3, n // 3 + 9),
    "one in five": lambda n: range(2, n, 5),
}


@pytest.mark.sweep(1)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("n_out", [30, 64, 511, 600])
def test_constants_and_computed_columns_land_where_they_belong(pattern, n_out):
    function = placed(n_out, list(PATTERNS[pattern](n_out)), pattern)
    x = np.arange(26.0).reshape(13, 2)
    wanted = np.stack([np.array(function(row)).ravel() for row in x])
    for width in (1, 4, 8) if n_out < 500 else (1, 8):
        found = np.full((15, n_out), 7.0)
        assert GraphRows(function, width)(1, 13, x, found) == -1
        assert np.array_equal(found[1:13], wanted[1:])
        assert (found[[0, 13, 14]] == 7.0).all()


# --- Blocks of rows as vectors with one row a lane, and back ---


@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from([1, 2, 4, 8]))
def test_blocks_cover_the_columns_and_nothing_else(start, count, width):
    blocks = cover(start, start + count, width)
    columns = {c for at, k in blocks for c in range(at, at + k)}
    assert columns == set(range(start, start + count))
    assert all(k <= width and k & (k - 1) == 0 for _, k in blocks)
    assert len(blocks) <= count // width + 2
    whole = count - count % width
    assert blocks[: count // width] == [(start + c, width) for c in range(0, whole, width)]
