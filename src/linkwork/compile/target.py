"""The processor that kernels are compiled for, and LLVM's way from text to callable code."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from linkwork.compile.optable import LIBM_NAMES

COMPILING = threading.RLock()
"""Held while tracing and compiling: neither CasADi's nor LLVM's global state is shared."""


def _before_fork() -> None:
    COMPILING.acquire()
    if _LLVM_LOCK is not None:
        _LLVM_LOCK.__enter__()


def _after_fork() -> None:
    if _LLVM_LOCK is not None:
        _LLVM_LOCK.__exit__()
    COMPILING.release()


# A child of fork must not find a lock held by a thread that it does not have. llvmlite's own lock
# is private; where it is not there, forking while another thread compiles is at one's own risk.
_LLVM_LOCK: Any = getattr(getattr(getattr(llvm, "ffi", None), "lib", None), "_lock", None)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


@dataclass(frozen=True)
class Target:
    """What decides the code that is written: the lanes of a vector and the fused multiply-add."""

    width: int
    fused: bool
    cpu: str
    features: str
    triple: str


@cache
def host() -> Target:
    """The processor that this process runs on."""
    with COMPILING:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        features: Any = llvm.get_host_cpu_features()
        has = dict(features)
        triple = llvm.get_process_triple()
        arm = triple.startswith(("aarch64", "arm64"))
        width = 8 if has.get("avx512f") else 4 if has.get("avx") else 2
        _register_libm()
        return Target(
            width=width,
            fused=bool(has.get("fma")) or arm,
            cpu=llvm.get_host_cpu_name(),
            features=features.flatten(),
            triple=triple,
        )


def _c_library() -> ctypes.CDLL:
    if sys.platform == "win32":
        return ctypes.CDLL("ucrtbase")
    process = ctypes.CDLL(None)
    if hasattr(process, "erf"):
        return process
    return ctypes.CDLL("libm.so.6")


def _register_libm() -> None:
    """Give compiled code the C library's functions by name, so that it holds no address."""
    library = _c_library()
    for name in LIBM_NAMES:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvm.add_symbol(f"lw_{name}", address)


def new_module(name: str, target: Target) -> ir.Module:
    """An empty module for the target."""
    module = ir.Module(name)
    module.triple = target.triple
    return module


def _simplify(parsed: Any, machine: Any) -> None:
    """The few passes that straight-line code gains by.

    They are listed one by one because the manager that llvmlite makes for a whole optimisation
    level is never freed: it would cost 0.1 MB a kernel.
    """
    manager: Any = llvm.create_new_module_pass_manager()
    manager.add_instruction_combine_pass()
    manager.add_simplify_cfg_pass()
    manager.add_new_gvn_pass()
    manager.add_dead_code_elimination_pass()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    manager.run(parsed, llvm.create_pass_builder(machine, options))


class Engine:
    """Machine code in memory; it lives as long as this object."""

    def __init__(self, module: ir.Module, target: Target, *, simplify: bool = True) -> None:
        """``simplify=False`` leaves out LLVM's passes, which long code gains little by."""
        with COMPILING:
            machine = llvm.Target.from_triple(target.triple).create_target_machine(
                cpu=target.cpu, features=target.features, opt=2, jit=True
            )
            parsed = llvm.parse_assembly(str(module))
            if simplify:
                _simplify(parsed, machine)
            self._engine = llvm.create_mcjit_compiler(parsed, machine)
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function of the module lies."""
        return int(self._engine.get_function_address(name))

    def global_address(self, name: str) -> int:
        """Where a global variable lies."""
        return int(self._engine.get_global_value_address(name))
