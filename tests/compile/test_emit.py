"""The emitter at float32: bounds of sine and cosine, all other operations rounded once."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from llvmlite import ir

from linkwork.compile.emit import F32, I64, Emitter, counted_loop, i64
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.optable import ERROR_32, FAR_32, OP_TABLE, PAIRED, angle_of, sincos
from linkwork.compile.target import host, new_module
from linkwork.errors import UnsupportedFeatureError
from seeds import rng

WIDTHS = (1, 4, 16)


def compiled(
    write: Callable[..., Any], arity: int, width: int, *, fused: bool = True, results: int = 1
) -> Callable[..., Any]:
    """``write(emitter, *values)`` as a function of ``arity`` arrays of float32."""
    module, pointer = new_module("single", host()), F32.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [I64] + [pointer] * (arity + results))
    function = ir.Function(module, kind, "each")
    b = ir.IRBuilder(function.append_basic_block())
    e = Emitter(b, width, fused=fused and host().fused, real=F32)

    def block(k: Any) -> None:
        at = [b.gep(array, [b.mul(k, i64(width))]) for array in function.args[1:]]
        at = [b.bitcast(place, e.type.as_pointer()) for place in at]
        written = write(e, *[b.load(place, align=4) for place in at[:arity]])
        for value, place in zip([written] if results == 1 else written, at[arity:], strict=True):
            b.store(value, place, align=4)

    counted_loop(b, function.args[0], block)
    b.ret_void()
    code = MachineCode(object_code(module, host(), simplify=True))
    call = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (arity + results))
    native = call(code.address("each"))

    def run(*arrays: Any) -> Any:
        n, n_blocks = len(arrays[0]), -(-len(arrays[0]) // width)
        given = [np.resize(np.asarray(a, np.float32), n_blocks * width) for a in arrays]
        found = [np.empty(n_blocks * width, np.float32) for _ in range(results)]
        native(n_blocks, *[each.ctypes.data for each in (*given, *found)])
        return found[0][:n] if results == 1 else [each[:n] for each in found]

    run.code = code  # lives as long as the function
    return run


def near(x: np.ndarray, steps: int = 50) -> np.ndarray:
    """The float32 numbers next to these, so many in both directions."""
    bits = np.float32(x).view(np.int32)[:, None] + np.arange(-steps, steps + 1, dtype=np.int32)
    return bits.ravel().view(np.float32)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("width", WIDTHS)
def test_sine_and_cosine_keep_their_bound_up_to_far(width, fused):
    random = rng(f"sine 32 {width} {fused}")
    quarters = near(np.arange(1, int(FAR_32 / (np.pi / 4)), dtype=float) * (np.pi / 4))
    angles = [*quarters, *random.uniform(-7, 7, 200_000), *random.uniform(-FAR_32, FAR_32, 50_000)]
    x = np.float32(angles)
    x = np.concatenate([x, np.float32(10.0 ** random.uniform(-40, 0, 1000))])
    found = compiled(sincos, 1, width, fused=fused, results=2)(x)
    for mine, exact in zip(found, (np.sin(x.astype(float)), np.cos(x.astype(float))), strict=True):
        assert np.abs(mine - exact).max() <= ERROR_32


@pytest.mark.parametrize("width", WIDTHS)
def test_far_angles_and_what_is_not_finite(width):
    x = np.float32([7e3, -1e5, 3e7, 1e30, 6e3, 1.0, -0.0, 0.0, np.inf, -np.inf, np.nan])
    s, c = compiled(sincos, 1, width, results=2)(x)
    assert np.abs(s[:8] - np.sin(x[:8].astype(float))).max() <= ERROR_32
    assert np.abs(c[:8] - np.cos(x[:8].astype(float))).max() <= ERROR_32
    assert (s[6:8] == 0.0).all() and (c[6:8] == 1.0).all()
    assert np.isnan(s[8:]).all() and np.isnan(c[8:]).all()


def test_the_bits_do_not_depend_on_the_width():
    x = np.float32(rng("widths 32").uniform(-9e3, 9e3, 20_000))
    found = [compiled(sincos, 1, width, results=2)(x) for width in WIDTHS]
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert (a.view(np.int32) == b.view(np.int32)).all()


ROUNDED_ONCE = sorted({*OP_TABLE, *PAIRED} - {"SIN", "COS", "ATAN2"})


@pytest.mark.parametrize("name", ROUNDED_ONCE)
def test_operations_are_rounded_once(name):
    op = {**OP_TABLE, **PAIRED}[name]
    random = rng(f"operations 32 {name}")
    arrays = [np.float32(random.normal(size=999) * 3) for _ in range(op.arity)]
    for each in arrays:
        each[random.integers(999, size=60)] = 0.0
    if name == "SQRT":
        arrays = [np.abs(each) for each in arrays]
    with np.errstate(all="ignore"):
        exact = np.asarray(op.numpy(*[each.astype(float) for each in arrays])).astype(np.float32)
    for width in WIDTHS:
        found = compiled(op.emit, op.arity, width)(*arrays)
        if name in PAIRED and not host().fused:
            assert np.allclose(found, exact, rtol=0, atol=2e-6)
        else:
            assert np.array_equal(found, exact, equal_nan=True)


def test_the_angle_of_a_point_is_refused():
    with pytest.raises(UnsupportedFeatureError, match="ATAN2 is compiled for float64 alone"):
        compiled(angle_of, 2, 16)
