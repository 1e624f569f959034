"""What is written on tiles does the same at every width."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from llvmlite import ir

from linkwork.compile.emit import F64, I64, POINTER, i64
from linkwork.compile.graph import graph_of
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.recipe import text_recipe
from linkwork.compile.target import WIDTHS, host, new_module, with_width
from linkwork.simulation.tile_code import TileCode


@pytest.mark.parametrize("width", WIDTHS)
def test_graphs_lanes_masks_and_loops(width: int):
    target = with_width(host(), width)
    module = new_module("tiles", target)
    code = TileCode(module, width, fused=target.fused)
    recipe = text_recipe((), "f", {"x": 3}, lambda o, x: {"y": o.vector([x[0] * x[1], 0.0, x[2]])})
    function = code.function_of(graph_of(recipe.traced(), fuse=target.fused), "f")
    kind = ir.FunctionType(I64, [POINTER, POINTER])
    main = ir.Function(module, kind, "main")
    code.at(ir.IRBuilder(main.append_basic_block("entry")))
    source, out = main.args
    x, y = code.room(3, "x"), code.room(3, "y")
    for lane in range(width):
        code.copy_in(code.b.gep(source, [i64(3 * lane)]), x, i64(lane), 3)
    code.b.call(function, [x, y])
    # twice the third number, by an empty loop and one of two rounds
    code.span(i64(2), i64(2), lambda k: code.put(code.emitter.const(9.0), y, k))
    code.span(i64(2), i64(3), lambda k: code.put(
        code.emitter.add(code.get(y, k), code.get(y, k)), y, k))  # fmt: skip
    big = code.b.fcmp_ordered(">", code.get(x, i64(0)), code.everywhere(ir.Constant(F64, 1.5)))
    mask = code.mask_of(big)
    chosen = code.b.select(code.bits_of(mask), code.emitter.const(1.0), code.emitter.const(0.0))
    code.put(chosen, y, i64(1))
    for lane in range(width):
        code.copy_out(y, i64(lane), code.b.gep(out, [i64(3 * lane)]), 3)
    total = code.b.alloca(I64)
    code.b.store(i64(0), total)

    def add(lane: object) -> None:
        code.b.store(code.b.add(code.b.load(total), code.b.add(lane, i64(1))), total)

    with code.b.if_then(code.b.icmp_signed("!=", mask, i64(0))):
        code.each_bit(mask, add)
    code.b.ret(code.b.load(total))
    made = MachineCode(object_code(module, target, simplify=True))
    values = np.array([[k % 3, 10.0 + k, 0.5 * k] for k in range(width)])
    result = np.zeros((width, 3))
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(made.address("main"))
    bits = call(values.ctypes.data, result.ctypes.data)
    large = values[:, 0] > 1.5
    np.testing.assert_array_equal(result[:, 0], values[:, 0] * values[:, 1])
    np.testing.assert_array_equal(result[:, 1], large)
    np.testing.assert_array_equal(result[:, 2], 2 * values[:, 2])
    assert bits == sum(k + 1 for k in range(width) if large[k])
