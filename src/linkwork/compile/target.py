"""The processors that code is written for: the one that runs us, levels of it, other platforms.

A target is a value; no code is made here. Two targets of the same instruction set but of different
widths give the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from linkwork.errors import InputError, UnknownNameError


@dataclass(frozen=True)
class Target:
    """The target of code: the lanes of a vector and whether multiply-add is fused."""

    width: int
    fused: bool
    cpu: str
    features: str
    triple: str


WIDTHS = (1, 2, 4, 8)
"""The numbers of lanes that code can be written for, on every target."""

LEVELS: dict[str, tuple[int, bool, tuple[str, ...]]] = {
    "x86-64-v2": (2, False, ("cx16", "popcnt", "sahf", "sse3", "ssse3", "sse4.1", "sse4.2")),
    "x86-64-v3": (4, True, ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")),
    "x86-64-v4": (8, True, ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
}
"""Levels of x86-64 (System V ABI, AMD64 supplement, table 3.1): lanes, fused multiply-add, and the
features that a level adds to the one before it."""

_LINUX, _MAC = "x86_64-unknown-linux-gnu", "x86_64-apple-macosx11.0.0"
# LLVM's run-time linker does not place COFF objects soundly, so code for Windows is kept in ELF
# objects; calls and stack frames are Windows' all the same.
_WINDOWS = "x86_64-pc-windows-msvc-elf"

PLATFORMS: dict[str, Target] = {
    "linux-x86-64-v2": Target(2, False, "x86-64-v2", "", _LINUX),
    "linux-x86-64-v3": Target(4, True, "x86-64-v3", "", _LINUX),
    "linux-x86-64-v4": Target(8, True, "x86-64-v4", "", _LINUX),
    "linux-arm64": Target(2, True, "generic", "+neon", "aarch64-unknown-linux-gnu"),
    "windows-x86-64-v2": Target(2, False, "x86-64-v2", "", _WINDOWS),
    "windows-x86-64-v3": Target(4, True, "x86-64-v3", "", _WINDOWS),
    "windows-x86-64-v4": Target(8, True, "x86-64-v4", "", _WINDOWS),
    "macos-arm64": Target(2, True, "apple-m1", "", "arm64-apple-macosx11.0.0"),
    "macos-x86-64": Target(4, True, "x86-64-v3", "", _MAC),
}
"""The supported targets by name; code for those that are not the host is made in tests only."""


def jit_triple(triple: str) -> str:
    """The triple of the code that runs in a process of this triple: in ELF objects on Windows."""
    return f"{triple}-elf" if "windows" in triple and not triple.endswith("elf") else triple


@cache
def host_features() -> tuple[frozenset[str], str]:
    """The features that this processor has, and all of them as LLVM's text; none where unknown."""
    try:
        features: Any = llvm.get_host_cpu_features()
    except RuntimeError:
        return frozenset(), ""
    return frozenset(name for name, present in features.items() if present), features.flatten()


@cache
def host() -> Target:
    """The processor that this process runs on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    has, text = host_features()
    triple = jit_triple(llvm.get_process_triple())
    arm = triple.startswith(("aarch64", "arm64"))
    return Target(
        width=8 if "avx512f" in has else 4 if "avx" in has else 2,
        fused="fma" in has or arm,
        cpu=llvm.get_host_cpu_name(),
        features=text,
        triple=triple,
    )


def named(level: str) -> Target:
    """A level of x86-64 that this processor can run, as the target to compile for.

    Raises: UnknownNameError for a level that does not exist, InputError for one that needs what
    this processor has not.
    """
    if level not in LEVELS:
        raise UnknownNameError("target", level, tuple(LEVELS))
    here = host()
    lacks = _lacking(here.triple, host_features()[0])
    if lacks[level]:
        fine = [name for name, missing in lacks.items() if not missing]
        advice = f"choose {' or '.join(fine)}, or leave" if fine else "leave"
        raise InputError(
            f"this processor ({here.cpu}) cannot run code for {level}: it has no "
            f"{', '.join(lacks[level])}; {advice} the target unset, and code is made for the "
            "processor itself"
        )
    width, fused, _ = LEVELS[level]
    return Target(width, fused, level, "", here.triple)


def _lacking(triple: str, has: frozenset[str]) -> dict[str, list[str]]:
    """The features that a processor lacks for each level, which contains those before it."""
    if not triple.startswith("x86_64"):
        return {level: [f"x86-64 instructions ({triple})"] for level in LEVELS}
    lacks: dict[str, list[str]] = {}
    missing: list[str] = []
    for level, (_, _, adds) in LEVELS.items():
        missing = missing + [feature for feature in adds if feature not in has]
        lacks[level] = missing
    return lacks


def with_width(target: Target, width: int) -> Target:
    """The same target, writing vectors of another number of lanes: the bits stay the same.

    Raises: InputError for a width that is not 1, 2, 4 or 8.
    """
    if width not in WIDTHS:
        raise InputError(f"the width of a vector is 1, 2, 4 or 8 lanes, not {width!r}")
    return replace(target, width=width)


def new_module(name: str, target: Target) -> ir.Module:
    """An empty module for the target."""
    module = ir.Module(name)
    module.triple = target.triple
    return module


def target_machine(target: Target, *, quick: bool = False) -> Any:
    """LLVM's code generator for the target, as code that is linked into a process needs it.

    The code model is LLVM's for such code, the large one: a process may map code, constants and the
    C library anywhere. The smaller models gain nothing measurable. ``quick``: code is made fast
    rather than to be fast.
    """
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=0 if quick else 2, jit=True
    )


PROBE = "lw_probe"


def finish(module: ir.Module, target: Target) -> None:
    """Give the functions of a module what the target asks of them, before it becomes text.

    No function throws, so none needs tables for unwinding. On Windows the pages of a stack frame
    must be touched in order; the C library's routine for it cannot be linked by name everywhere, so
    the module brings its own.
    """
    written: list[Any] = [f for f in module.functions if f.blocks]
    probes = "windows" in target.triple and target.triple.startswith("x86_64")
    for function in written:
        if function.name == PROBE:
            continue
        function.attributes.add("nounwind")
        if probes:  # llvmlite's own `add` knows no attributes that are text
            set.add(function.attributes, f'"probe-stack"="{PROBE}"')
    if probes and PROBE not in module.globals:
        _write_probe(module)


def _write_probe(module: ir.Module) -> None:
    """Write the function that touches the next rax bytes of stack, a page (4096 bytes) at a time.

    Source: Microsoft, "x64 prolog and epilog" and "__chkstk": the size comes in rax, no register is
    changed, and the caller moves the stack pointer itself.
    """
    kind = ir.FunctionType(ir.VoidType(), [])
    function: Any = ir.Function(module, kind, PROBE)
    function.attributes.add("naked")
    function.attributes.add("nounwind")
    text = (
        "pushq %rcx\n pushq %rax\n leaq 24(%rsp), %rcx\n"  # what rsp is in the caller
        "1:\n cmpq $$4096, %rax\n jb 2f\n"
        "subq $$4096, %rcx\n testq %rcx, (%rcx)\n subq $$4096, %rax\n jmp 1b\n"
        "2:\n subq %rax, %rcx\n testq %rcx, (%rcx)\n"
        "popq %rax\n popq %rcx\n retq"
    )
    b = ir.IRBuilder(function.append_basic_block())
    b.asm(kind, text, "", [], side_effect=True)
    b.unreachable()
