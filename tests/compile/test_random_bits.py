"""The counter-based generator: the same in compiled code and in Python, and well spread."""

from __future__ import annotations

import ctypes

import numpy as np
from llvmlite import ir

from linkwork.compile.emit import F64, I64
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.random_bits import (
    absorb,
    absorb_reference,
    unit_interval,
    unit_interval_reference,
)
from linkwork.compile.target import host, new_module
from seeds import rng


def compiled():
    module = new_module("random", host())
    mix = ir.Function(module, ir.FunctionType(I64, [I64, I64]), "mix")
    b = ir.IRBuilder(mix.append_basic_block())
    b.ret(absorb(b, *mix.args))
    unit = ir.Function(module, ir.FunctionType(F64, [I64]), "unit")
    b = ir.IRBuilder(unit.append_basic_block())
    b.ret(unit_interval(b, unit.args[0]))
    code = MachineCode(object_code(module, host(), simplify=True))
    word = ctypes.c_uint64
    return (
        code,
        ctypes.CFUNCTYPE(word, word, word)(code.address("mix")),
        ctypes.CFUNCTYPE(ctypes.c_double, word)(code.address("unit")),
    )


def test_compiled_code_and_python_give_the_same():
    code, mix, unit = compiled()
    words = rng("words").integers(0, 2**64, size=(500, 2), dtype=np.uint64).tolist()
    for key, bits in [*words, [0, 0], [2**64 - 1, 2**64 - 1], [0, 2**63]]:
        mixed = mix(key, bits)
        assert mixed == absorb_reference(key, bits)
        assert unit(mixed) == unit_interval_reference(mixed)
    assert unit(2**64 - 1) < 1.0
    assert unit(0) == 0.0
    del code


def test_neighbouring_counters_are_uniform_and_uncorrelated():
    u = np.array([unit_interval_reference(absorb_reference(7, k)) for k in range(20_000)])
    assert abs(u.mean() - 0.5) < 0.01
    assert abs(u.var() - 1 / 12) < 0.003
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 0.03
    counts = np.histogram(u, bins=50, range=(0, 1))[0]
    assert ((counts - 400) ** 2 / 400).sum() < 100  # chi-squared with 49 degrees of freedom
