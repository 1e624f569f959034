"""Blocks of rows as vectors with one row a lane, and back."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llvmlite import ir

from linkwork.compile.emit import F64, POINTER, i64
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.target import host, new_module
from linkwork.compile.transpose import columns_of, cover, read_block, write_block, write_constants
from seeds import rng

SHAPES = [(w, k) for w in (1, 2, 4, 8) for k in (1, 2, 4, 8) if k <= w]


@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from([1, 2, 4, 8]))
def test_blocks_cover_the_columns_and_nothing_else(start, count, width):
    blocks = cover(start, start + count, width)
    columns = {c for at, k in blocks for c in range(at, at + k)}
    assert columns == set(range(start, start + count))
    assert all(k <= width and k & (k - 1) == 0 for _, k in blocks)
    assert len(blocks) <= count // width + 2
    whole = count - count % width
    assert blocks[: count // width] == [(start + c, width) for c in range(0, whole, width)]


def compiled(write):
    """A native function of two pointers."""
    module = new_module("transpose", host())
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER, POINTER]), "f")
    b = ir.IRBuilder(function.append_basic_block())
    write(b, *function.args)
    b.ret_void()
    code = MachineCode(object_code(module, host(), simplify=True))
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.address("f"))
    return lambda a, b: code and call(a.ctypes.data, b.ctypes.data)


@pytest.mark.parametrize(("width", "k"), SHAPES)
@pytest.mark.parametrize(("stride", "column"), [(8, 0), (11, 3), (13, 5)])
def test_a_block_that_is_read_is_the_transpose(width, k, stride, column):
    def write(b, source, target):
        pieces = read_block(b, source, stride, column, k, width)
        for c, vector in enumerate(columns_of(b, pieces, width)):
            place = b.gep(target, [i64(c * width)])
            b.store(vector, b.bitcast(place, vector.type.as_pointer()), align=8)

    rows, found = rng("read").normal(size=(width, stride)), np.zeros((k, width))
    compiled(write)(rows, found)
    assert np.array_equal(found, rows[:, column : column + k].T)


@pytest.mark.parametrize(("width", "k"), SHAPES)
@pytest.mark.parametrize(("stride", "column"), [(8, 0), (11, 3), (13, 5)])
def test_a_block_that_is_written_is_the_transpose(width, k, stride, column):
    def write(b, source, target):
        kind = ir.VectorType(F64, width) if width > 1 else F64
        places = [b.gep(source, [i64(c * width)]) for c in range(k)]
        columns = [b.load(b.bitcast(p, kind.as_pointer()), align=8) for p in places]
        write_block(b, columns, target, stride, column)

    columns, found = rng("write").normal(size=(k, width)), np.full((width, stride), 7.0)
    compiled(write)(columns, found)
    wanted = np.full((width, stride), 7.0)
    wanted[:, column : column + k] = columns.T
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_constants_are_written_where_they_belong(k):
    values = [float(v) for v in range(1, k + 1)]
    found = np.zeros(12)
    compiled(lambda b, _, target: write_constants(b, values, target, 3))(found, found)
    assert found.tolist() == [0.0] * 3 + values + [0.0] * (9 - k)
