"""Real kernels as object code for every platform, and as calls on the levels of this processor.

What must hold on each platform: nothing is left to link but the C library's functions by our own
names, the code may lie anywhere in memory, and equal graphs give equal bits at every width. What
can only run elsewhere is run in test_other_platforms.py, where this machine can imitate it.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import re
import struct

import llvmlite.binding as llvm
import numpy as np
import pytest
from llvmlite import ir

from linkwork.compile.lanes import ARRAYS, NUMBERS, REPORT
from linkwork.compile.machine_code import LIBM_NAMES, MachineCode, object_code
from linkwork.compile.native_call import emit_fast_call
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.target import (
    LEVELS,
    PLATFORMS,
    WIDTHS,
    finish,
    host,
    new_module,
    target_machine,
    with_width,
)
from linkwork.compile.threads import in_parallel
from portable_kernels import (
    ROWS,
    SCRATCH,
    arrays_of,
    emitted,
    function_of,
    joints_of_the_tree,
    level,
    numbers_of,
    within_few_ulp_of_the_scale,
)

ON_X86 = host().triple.startswith("x86_64")


def supported(platform):
    """Skips platforms whose code LLVM's assembler for this processor cannot write."""
    if platform.startswith("windows") and not ON_X86:
        pytest.skip("the stack probe of Windows is in x86-64's assembly language")
    return PLATFORMS[platform]


@functools.cache
def object_of(name, platform, width):
    target = with_width(supported(platform), width)
    return object_code(emitted(name, target)[0], target, simplify=True)


# a reader of object files


def elf(data):
    """(names left to link, kinds of relocation, names of sections) of a 64-bit ELF file."""
    (start,) = struct.unpack_from("<Q", data, 40)
    count, strings = struct.unpack_from("<HH", data, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * k) for k in range(count)]

    def text(table, at):
        begin = sections[table][4] + at
        return data[begin : data.index(b"\0", begin)].decode()

    undefined, kinds = set(), set()
    for _, kind, _, _, offset, size, link, _, _, entry in sections:
        for at in range(offset, offset + size, entry or size + 1):
            if kind == 2:  # symbols
                name, info, _, where = struct.unpack_from("<IBBH", data, at)
                if where == 0 and (name or info):
                    undefined.add(text(link, name))
            elif kind == 4:  # relocations with addend
                kinds.add(struct.unpack_from("<I", data, at + 8)[0])
    return undefined, kinds, {text(strings, s[0]) for s in sections}


def mach_o(data):
    """The names left to link in a 64-bit Mach-O file, without their leading underscore."""
    assert data[:4] == b"\xcf\xfa\xed\xfe"
    undefined, at = set(), 32
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<II", data, at)
        if command == 2:  # LC_SYMTAB
            symbols, count, strings, _ = struct.unpack_from("<IIII", data, at + 8)
            for k in range(count):
                name, kind, _, _, _ = struct.unpack_from("<IBBHQ", data, symbols + 16 * k)
                if kind & 0xEE == 0:  # undefined, and not for a debugger
                    begin = strings + name
                    undefined.add(data[begin : data.index(b"\0", begin)].decode())
        at += size
    assert all(name.startswith("_") for name in undefined)
    return {name[1:] for name in undefined}


def undefined_in(data, platform):
    return mach_o(data) if platform.startswith("macos") else elf(data)[0]


AGREED = {f"lw_{name}" for name in LIBM_NAMES}
# Relocations that hold at any distance: 64-bit addresses (x86-64: 1; arm64: 257 and, in parts, 263
# to 271) and calls that the linker may send by way of a stub (arm64: 282 and 283).
ANYWHERE = {"x86_64": {1}, "aarch64": {257, *range(263, 272), 282, 283}}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", [*ROWS, "search"])
def test_nothing_unexpected_is_left_to_link(name, platform):
    widths = {PLATFORMS[platform].width} if name == "search" else {1, PLATFORMS[platform].width}
    for width in widths:
        data = object_of(name, platform, width)
        undefined = undefined_in(data, platform)
        assert undefined <= AGREED
        if name == "operations":
            assert undefined, "some operation calls the C library"
        if not platform.startswith("macos"):
            _, relocations, sections = elf(data)
            assert relocations <= ANYWHERE[PLATFORMS[platform].triple.split("-")[0]]
            assert ".eh_frame" not in sections


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_fast_call_leaves_nothing_more_to_link(platform):
    abi = array_abi()
    if abi is None:
        pytest.skip("there is no fast call on this Python")
    target = with_width(supported(platform), 1)
    module, function = emitted("pose", target, "rows")
    emit_fast_call(
        module, function, [function_of("pose").signature.input_sizes[0]], (4, 4), abi, batch_rows=64
    )
    data = object_code(module, target, simplify=True)
    assert undefined_in(data, platform) <= AGREED
    for address in (abi.array_type, abi.float64_descr, abi.array_new):
        assert struct.pack("<Q", address) not in data


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_reader_finds_what_is_left_to_link(platform):
    target = supported(platform)
    module = new_module("m", target)
    kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()])
    inner, outer = (ir.Function(module, kind, name) for name in ("lw_cos", "outer"))
    b = ir.IRBuilder(outer.append_basic_block())
    b.ret(b.call(inner, outer.args))
    data = object_code(module, target, simplify=True)
    assert undefined_in(data, platform) == {"lw_cos"}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_instructions_are_those_of_the_platform(platform):
    target = supported(platform)
    object_of("pose", platform, target.width)  # LLVM is ready for the platform
    module, _ = emitted("pose", target)
    finish(module, target)
    text = target_machine(target).emit_assembly(llvm.parse_assembly(str(module)))
    if "arm64" in platform:
        assert re.search(r"\bfml[as](\.2d|\s+v)", text)
        return
    assert ("%zmm" in text) == (target.width == 8)
    assert ("%ymm" in text) or target.width != 4
    assert ("%ymm" not in text) or target.width > 2
    assert ("vfmadd" in text) == target.fused


@pytest.mark.sweep(1)
@pytest.mark.parametrize("platform", ["linux-x86-64-v3", "linux-arm64", "windows-x86-64-v3"])
def test_the_same_module_gives_the_same_bytes(platform):
    target = supported(platform)
    for name in ("pose", "search"):
        module, _ = emitted(name, target)
        assert "inttoptr" not in str(module)
        again = object_code(module, target, simplify=True)
        assert again == object_of(name, platform, target.width)


# the levels of this processor


def native(name, target):
    """The native function, and the code that it lives in."""
    module, function = emitted(name, target)
    code = MachineCode(object_code(module, target, simplify=True))
    n_numbers = len(numbers_of(name, 0))
    kind = [ctypes.c_int64] * (1 + n_numbers)
    kind += [ctypes.c_void_p] * (len(function.args) - n_numbers)
    return ctypes.CFUNCTYPE(*kind)(code.address("run")), len(function.args) - n_numbers, code


def rows(target, name, n=320, *, threads=1):
    """A kernel's results, by native calls of 64 rows each."""
    call, n_arrays, code = native(name, target)
    x, out, _ = arrays_of(name, n)

    def chunk(first):
        scratch = np.zeros(SCRATCH)
        pointers = [a.ctypes.data for a in (x, out, scratch)][:n_arrays]
        return call(first, min(first + 64, n), *pointers)

    assert set(in_parallel(chunk, range(0, n, 64), threads)) == {-1}
    del code
    return out


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_levels_agree_and_widths_and_threads_change_no_bit(name):
    found = {}
    for at in ("x86-64-v2", "x86-64-v3", "x86-64-v4", "host"):
        target = host() if at == "host" else level(at)
        found[at] = rows(target, name)
        for width, threads in ((1, 1), (2, 2), (4, 4), (8, 1), (target.width, 4)):
            again = rows(with_width(target, width), name, threads=threads)
            assert np.array_equal(again, found[at]), (at, width, threads)
    for a, b in itertools.combinations(found.values(), 2):
        assert within_few_ulp_of_the_scale(a, b, joints_of_the_tree(name))
    assert np.array_equal(found["x86-64-v3"], found["x86-64-v4"])  # the same operations


def solutions(target, n=40):
    """Inverse kinematics in lanes: positions and report."""
    call, _, code = native("search", target)
    arrays = arrays_of("search", n)
    assert len(arrays) == len(ARRAYS)
    assert len(numbers_of("search", n)) == len(NUMBERS)
    call(*numbers_of("search", n), *[a.ctypes.data for a in arrays])
    del code
    return arrays[-3:-1]


@pytest.mark.slow
def test_inverse_kinematics_has_the_same_bits_at_every_width_of_a_level():
    for at in LEVELS:
        target = level(at)
        x, report = solutions(target)
        assert report[:, REPORT.index("solved")].all()
        for width in WIDTHS[1:]:
            again = solutions(with_width(target, width))
            assert np.array_equal(again[0], x), (at, width)
            assert np.array_equal(again[1], report), (at, width)
