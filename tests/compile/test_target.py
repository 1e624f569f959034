"""The processor, and code that runs on it."""

from __future__ import annotations

import ctypes
import math

import pytest
from llvmlite import ir

from linkwork.compile.emit import F64
from linkwork.compile.optable import LIBM_NAMES
from linkwork.compile.target import Engine, host, new_module


@pytest.mark.parametrize("name", ["erf", "tanh", "sin", "expm1"])
def test_compiled_code_finds_the_c_library_by_name(name):
    assert name in LIBM_NAMES
    module = new_module("libm", host())
    outer = ir.Function(module, ir.FunctionType(F64, [F64]), "outer")
    inner = ir.Function(module, ir.FunctionType(F64, [F64]), f"lw_{name}")
    b = ir.IRBuilder(outer.append_basic_block())
    b.ret(b.call(inner, outer.args))
    engine = Engine(module, host())
    call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(engine.address("outer"))
    assert call(0.7) == pytest.approx(getattr(math, name)(0.7), rel=1e-15)


def test_simplified_or_not_the_code_does_the_same():
    for simplify in (True, False):
        module = new_module("twice", host())
        function = ir.Function(module, ir.FunctionType(F64, [F64]), "twice")
        b = ir.IRBuilder(function.append_basic_block())
        b.ret(b.fadd(*function.args * 2))
        engine = Engine(module, host(), simplify=simplify)
        call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(engine.address("twice"))
        assert call(1.25) == 2.5


def test_the_width_is_one_that_the_processor_has():
    assert host().width in (2, 4, 8)
    assert host() is host()
