"""Triangles as samples of a picture: which is nearest at each, in native code, without a GPU.

The code is made once in a process, from a few lines over LLVM's builder, as all native code here.
Depth is a number that grows towards the viewer and is linear on the screen (the inverse of the
distance, or a height in a parallel view), so that it is interpolated as coordinates are.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from linkwork.compile.emit import F64, I32, I64, POINTER, counted_loop, i64
from linkwork.compile.machine_code import COMPILING, MachineCode, object_code
from linkwork.compile.target import host
from linkwork.compile.threads import in_parallel

_F32 = ir.FloatType()
_NAME = "linkwork_raster"


class Samples(NamedTuple):
    """What is seen at each sample (h, w): depth, 0 where nothing is; the triangle, -1; weights
    (h, w, 2) of its second and third corner."""

    depth: NDArray[np.float32]
    triangle: NDArray[np.int32]
    weights: NDArray[np.float32]


def rasterised(corners: NDArray[np.float64], size: tuple[int, int], threads: int = 1) -> Samples:
    """The nearest of triangles at the middle of each sample of a picture (width, height).

    corners (n, 3, 3): x to the right and y downward, in samples, and a depth above 0. The same
    triangles give the same bits, whatever the threads; of two equally near ones it is the first.
    """
    width, height = size
    seen = Samples(
        np.zeros((height, width), np.float32),
        np.full((height, width), -1, np.int32),
        np.zeros((height, width, 2), np.float32),
    )
    corners = np.ascontiguousarray(corners, np.float64)
    if not len(corners):
        return seen
    run = _native().run
    addresses = [a.ctypes.data for a in seen]
    bands = np.linspace(0, height, threads + 1).astype(int)

    def band(k: int) -> None:
        run(corners.ctypes.data, len(corners), width, int(bands[k]), int(bands[k + 1]), *addresses)

    in_parallel(band, [k for k in range(threads) if bands[k] < bands[k + 1]], threads)
    return seen


class _Native(NamedTuple):
    """The function, and the code that it lies in."""

    run: Any
    code: MachineCode


@cache
def _native() -> _Native:
    with COMPILING:
        code = MachineCode(object_code(_module(), host(), simplify=True))
    integers = [ctypes.c_int64] * 4
    pointer = ctypes.c_void_p
    kind = ctypes.CFUNCTYPE(None, pointer, *integers, pointer, pointer, pointer)
    return _Native(kind(code.address(_NAME)), code)


def _module() -> ir.Module:
    """``raster(corners, n, width, first row, row after the last, depth, triangle, weights)``."""
    module = ir.Module(_NAME)
    whole, single = ir.PointerType(I32), ir.PointerType(_F32)
    kinds = [POINTER, I64, I64, I64, I64, single, whole, single]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), _NAME)
    corners, n, *rest = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))

    def one(k: Any) -> None:
        first = b.mul(k, i64(9))
        numbers = [b.load(b.gep(corners, [b.add(first, i64(i))])) for i in range(9)]
        _triangle(b, k, numbers, rest)

    counted_loop(b, n, one)
    b.ret_void()
    return module


def _triangle(b: Any, k: Any, numbers: list[Any], rest: list[Any]) -> None:
    """One triangle: the samples of its box, row by row."""
    width, first_row, end_row, *buffers = rest
    (x0, y0, _), (x1, y1, _), (x2, y2, _) = (numbers[i : i + 3] for i in (0, 3, 6))
    ax, ay, bx, by = b.fsub(x1, x0), b.fsub(y1, y0), b.fsub(x2, x0), b.fsub(y2, y0)
    area = b.fsub(b.fmul(ax, by), b.fmul(bx, ay))
    left, right = _span(b, (x0, x1, x2), i64(0), width)
    top, bottom = _span(b, (y0, y1, y2), first_row, end_row)
    flat = b.fcmp_ordered("!=", area, F64(0.0))
    seen = b.and_(b.icmp_signed("<=", left, right), b.icmp_signed("<=", top, bottom))
    with b.if_then(b.and_(flat, seen)):
        inverse = b.fdiv(F64(1.0), area)
        slopes = [b.fmul(value, inverse) for value in (by, bx, ax, ay)]
        columns = b.add(b.sub(right, left), i64(1))

        def row(j: Any) -> None:
            y = b.add(top, j)
            down = b.fsub(b.fadd(b.sitofp(y, F64), F64(0.5)), y0)
            across = b.fmul(down, slopes[1]), b.fmul(down, slopes[2])

            def sample(i: Any) -> None:
                x = b.add(left, i)
                along = b.fsub(b.fadd(b.sitofp(x, F64), F64(0.5)), x0)
                second = b.fsub(b.fmul(along, slopes[0]), across[0])
                third = b.fsub(across[1], b.fmul(along, slopes[3]))
                place = b.add(b.mul(y, width), x)
                _store_nearer(b, k, numbers, (second, third), (place, *buffers))

            counted_loop(b, columns, sample)

        counted_loop(b, b.add(b.sub(bottom, top), i64(1)), row)


def _store_nearer(b: Any, k: Any, numbers: list[Any], weights: Any, where: Any) -> None:
    """Keep the triangle at a sample, where that is inside and nothing nearer was there."""
    (second, third), (place, depth, triangle, pairs) = weights, where
    first = b.fsub(b.fsub(F64(1.0), second), third)
    edge = F64(-1.0e-9)  # samples on the edge of two triangles belong to both
    inside = [b.fcmp_ordered(">=", w, edge) for w in (first, second, third)]
    with b.if_then(b.and_(b.and_(inside[0], inside[1]), inside[2])):
        parts = [
            b.fmul(w, numbers[i]) for w, i in zip((first, second, third), (2, 5, 8), strict=True)
        ]
        z = b.fptrunc(b.fadd(b.fadd(parts[0], parts[1]), parts[2]), _F32)
        at = b.gep(depth, [place])
        with b.if_then(b.fcmp_ordered(">", z, b.load(at))):
            b.store(z, at)
            b.store(b.trunc(k, I32), b.gep(triangle, [place]))
            twice = b.mul(place, i64(2))
            for i, weight in enumerate((second, third)):
                slot = b.gep(pairs, [b.add(twice, i64(i))])
                b.store(b.fptrunc(weight, _F32), slot)


def _span(b: Any, values: tuple[Any, ...], first: Any, end: Any) -> tuple[Any, Any]:
    """The samples from first, before end, whose middles lie between the least and the most."""
    low = high = values[0]
    for value in values[1:]:
        low = b.select(b.fcmp_ordered("<", value, low), value, low)
        high = b.select(b.fcmp_ordered(">", value, high), value, high)
    half = F64(0.5)
    start, last = b.sitofp(first, F64), b.sitofp(b.sub(end, i64(1)), F64)
    low, high = b.fsub(low, half), b.fsub(high, half)
    low = b.select(b.fcmp_ordered("<", low, start), start, low)
    high = b.select(b.fcmp_ordered(">", high, last), last, high)
    # what lies outside altogether: an empty span, before the numbers become whole
    outside = b.or_(b.fcmp_ordered(">", low, last), b.fcmp_ordered("<", high, start))
    low, high = b.select(outside, start, low), b.select(outside, start, high)
    whole = b.fptosi(low, I64)
    above = b.zext(b.fcmp_ordered("<", b.sitofp(whole, F64), low), I64)
    return b.add(whole, above), b.select(outside, b.sub(first, i64(1)), b.fptosi(high, I64))
