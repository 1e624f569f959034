"""Real kernels as object code for every platform, and as calls on the levels of this processor.

What must hold on each platform: nothing is left to link but the C library's functions by our own
names, the code may lie anywhere in memory, and equal graphs give equal bits at every width.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import re
import shutil
import struct
import subprocess
from dataclasses import replace

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
    PROBE,
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
        every = ((1, 1), (2, 2), (4, 4), (8, 1), (target.width, 4))
        for width, threads in every if at == "host" else (every[0], every[3]):
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


# --- Code for other platforms, run on this one as far as it can imitate them ---

N = 24
"""Rows of each kernel: whole tiles of every width."""

KERNELS = (*ROWS, "search")
WINE = "/usr/lib/wine/wine64"
SYSTEM_V = "x86_64_sysvcc"
ON_LINUX_X86 = host().triple.startswith("x86_64") and "linux" in host().triple


def arguments_of(name, function):
    """Numbers and arrays for a native function, which may or may not take scratch memory."""
    numbers, arrays = numbers_of(name, N), arrays_of(name, N)
    return numbers, arrays[: len(function.args) - len(numbers)]


def results(name, arrays):
    """What the native function has written, one row each."""
    return np.hstack(arrays[-3:-1]) if name == "search" else arrays[1]


@functools.cache
def here(name, at):
    """The same kernel by this processor's own code."""
    module, function = emitted(name, level(at))
    code = MachineCode(object_code(module, level(at), simplify=True))
    numbers, arrays = arguments_of(name, function)
    kind = [ctypes.c_int64] * (1 + len(numbers)) + [ctypes.c_void_p] * len(arrays)
    call = ctypes.CFUNCTYPE(*kind)(code.address("run"))
    call(*numbers, *[a.ctypes.data for a in arrays])
    return results(name, arrays)


# Windows' convention, on Linux


def through_windows(module, target, function):
    """Machine code of a module for Windows, entered by ``enter`` with this system's convention."""
    enter = ir.Function(module, function.function_type, "enter")
    enter.calling_convention = SYSTEM_V
    b = ir.IRBuilder(enter.append_basic_block())
    b.ret(b.call(function, enter.args))
    for outer in [f for f in module.functions if f.is_declaration and f.name.startswith("lw_")]:
        inner = ir.Function(module, outer.function_type, outer.name.replace("lw_", "c_library_"))
        inner.calling_convention = SYSTEM_V
        library = ctypes.CDLL("libm.so.6")
        address = ctypes.cast(getattr(library, outer.name[3:]), ctypes.c_void_p).value
        llvm.add_symbol(inner.name, address)
        b = ir.IRBuilder(outer.append_basic_block())
        b.ret(b.call(inner, outer.args, cconv=SYSTEM_V))
    finish(module, target)
    return MachineCode(target_machine(target).emit_object(llvm.parse_assembly(str(module))))


@pytest.mark.sweep(1)
@pytest.mark.skipif(not ON_LINUX_X86, reason="needs x86-64 Linux, which speaks both conventions")
@pytest.mark.parametrize("at", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", KERNELS)
def test_code_for_windows_gives_the_bits_of_code_for_linux(name, at):
    expected = here(name, at)
    target = PLATFORMS[f"windows-{at}"]
    for width in {1, 8, target.width} - ({1} if name == "search" else set()):
        module, function = emitted(name, with_width(target, width))
        code = through_windows(module, target, function)
        numbers, arrays = arguments_of(name, function)
        kind = [ctypes.c_int64] * (1 + len(numbers)) + [ctypes.c_void_p] * len(arrays)
        ctypes.CFUNCTYPE(*kind)(code.address("enter"))(*numbers, *[a.ctypes.data for a in arrays])
        assert results(name, arrays).tobytes() == expected.tobytes(), width


@pytest.mark.skipif(not ON_LINUX_X86, reason="the stack probe is in x86-64's assembly language")
@pytest.mark.parametrize("size", [8, 500, 512, 513, 100_000])
def test_the_stack_probe_changes_nothing(size):
    # A frame of this many numbers, written and read back, with both arguments alive across it.
    i64, f64 = ir.IntType(64), ir.DoubleType()
    target = PLATFORMS["windows-x86-64-v2"]
    module = new_module("probe", target)
    function = ir.Function(module, ir.FunctionType(f64, [i64, f64]), "run")
    b = ir.IRBuilder(function.append_basic_block())
    frame = b.alloca(f64, size=size)
    place = b.gep(frame, [function.args[0]])
    b.store(function.args[1], place).volatile = True
    b.ret(b.fadd(b.load(place), function.args[1]))
    code = through_windows(module, target, function)
    call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_double)(code.address("enter"))
    for at in (0, size // 2, size - 1):
        assert call(at, 1.25) == 2.5
    assert code.address(PROBE)


# processes of another system

ARGUMENTS = {"atan2": 2, "fma": 3}

DRIVER = """
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
%(library)s
%(declarations)s
typedef int64_t i64;
typedef double *array;
int main(int count, char **names) {
  FILE *in = fopen(names[1], "rb"), *out = fopen(names[2], "wb");
  i64 n[%(numbers)s], sizes[2], lengths[%(arrays)s], k;
  array a[%(arrays)s];
  if (!in || !out || fread(sizes, 8, 2, in) != 2 || sizes[0] != %(numbers)s ||
      sizes[1] != %(arrays)s || fread(n, 8, sizes[0], in) != (size_t)sizes[0])
    return 1;
  for (k = 0; k < sizes[1]; ++k) {
    if (fread(&lengths[k], 8, 1, in) != 1) return 2;
    a[k] = malloc(8 * lengths[k] + 64);
    if (fread(a[k], 8, lengths[k], in) != (size_t)lengths[k]) return 3;
  }
  run(%(passed)s);
  for (k = 0; k < sizes[1]; ++k)
    fwrite(a[k], 8, lengths[k], out);
  return fclose(out);
}
"""


def driver(numbers, arrays):
    """A C program that reads numbers and arrays, passes them to ``run`` and writes the arrays."""
    library = []
    for libm in LIBM_NAMES:
        names = "xyz"[: ARGUMENTS.get(libm, 1)]
        parameters = ", ".join(f"double {x}" for x in names)
        library.append(f"double lw_{libm}({parameters}) {{ return {libm}({', '.join(names)}); }}")
    kinds = ", ".join(["int64_t"] * numbers + ["double *"] * arrays)
    return DRIVER % {
        "library": "\n".join(library),
        "declarations": f"int64_t run({kinds});\nint _fltused = 1;",
        "numbers": numbers,
        "arrays": arrays,
        "passed": ", ".join(
            [f"n[{k}]" for k in range(numbers)] + [f"a[{k}]" for k in range(arrays)]
        ),
    }


def elsewhere(name, target, folder, commands):
    """A kernel's results from a program of another system: compiled, linked and run by commands."""
    compile_it, run_it = commands
    module, function = emitted(name, target)
    (folder / "run.o").write_bytes(object_code(module, target, simplify=True))
    numbers, arrays = arguments_of(name, function)
    source = driver(len(numbers), len(arrays))
    (folder / "driver.c").write_text(source, encoding="ascii")
    with open(folder / "in", "wb") as file:
        file.write(struct.pack(f"<{2 + len(numbers)}q", len(numbers), len(arrays), *numbers))
        for a in arrays:
            file.write(struct.pack("<q", a.size) + a.tobytes())
    for command in (compile_it, run_it):
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    found, at = (folder / "out").read_bytes(), 0
    for k, a in enumerate(arrays):
        arrays[k] = np.frombuffer(found, np.float64, a.size, at).reshape(a.shape)
        at += a.nbytes
    return results(name, arrays)


def need(*programs):
    for program, package in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} (apt-get install {package}) is not installed")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", KERNELS)
def test_code_for_arm64_linux_runs(name, tmp_path):
    need(
        ("qemu-aarch64-static", "qemu-user-static"),
        ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
    )
    commands = (
        ["aarch64-linux-gnu-gcc", "-static", "-w", "driver.c", "run.o", "-lm", "-o", "program"],
        ["qemu-aarch64-static", "./program", "in", "out"],
    )
    target = PLATFORMS["linux-arm64"]
    found = elsewhere(name, target, tmp_path, commands)
    for width in {1, 4, 8} if name != "search" else {4, 8}:
        again = elsewhere(name, with_width(target, width), tmp_path, commands)
        assert again.tobytes() == found.tobytes(), width
    if name == "search":
        assert (found[:, 6] == 1.0).all()
    elif ON_LINUX_X86:
        expected = here(name, "x86-64-v3")
        assert within_few_ulp_of_the_scale(found, expected, joints_of_the_tree(name))


@pytest.mark.parametrize(
    ("name", "at"), [("fk_all", "x86-64-v3"), ("operations", "x86-64-v2"), ("search", "x86-64-v3")]
)
def test_code_for_windows_runs_under_wine(name, at, tmp_path):
    need((WINE, "wine64"), ("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64"))
    # A linker for Windows reads COFF objects; the code in them is the same.
    target = PLATFORMS[f"windows-{at}"]
    target = replace(target, triple=target.triple.removesuffix("-elf"))
    commands = (
        ["x86_64-w64-mingw32-gcc", "-w", "driver.c", "run.o", "-o", "program.exe"],
        ["env", "WINEDEBUG=-all", WINE, "program.exe", "in", "out"],
    )
    found = elsewhere(name, target, tmp_path, commands)
    expected = here(name, at)
    if name == "operations":  # another C library, whose last digits differ
        np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-15)
    else:
        assert found.tobytes() == expected.tobytes()
