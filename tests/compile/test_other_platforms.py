"""Code for other platforms, run on this one as far as it can imitate them.

Windows' code differs from Linux' by its calling convention, which this process can speak: it is
entered and left here through functions that translate. Under Wine it runs in a process that has
Windows' stack. Code for arm64 runs under QEMU. What is missing is skipped by name.
"""

from __future__ import annotations

import ctypes
import functools
import shutil
import struct
import subprocess
from dataclasses import replace

import llvmlite.binding as llvm
import numpy as np
import pytest
from llvmlite import ir

from linkwork.compile.machine_code import LIBM_NAMES, MachineCode, object_code
from linkwork.compile.target import (
    PLATFORMS,
    PROBE,
    finish,
    host,
    new_module,
    target_machine,
    with_width,
)
from portable_kernels import (
    ROWS,
    arrays_of,
    emitted,
    joints_of_the_tree,
    level,
    numbers_of,
    within_few_ulp_of_the_scale,
)

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
