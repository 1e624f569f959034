"""LLVM's way from text to machine code, and machine code's way into the process.

The two halves are apart, so that code can be kept on disk between them. Object code holds no
address of the process that made it: what it needs of the C library comes by name when it is linked.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from functools import cache, lru_cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from linkwork.compile.target import Target, finish, host, target_machine

LIBM_NAMES: tuple[str, ...] = ("sin", "cos", "atan2", "fma")
"""The C library's functions that compiled code may call; there their names begin with ``lw_``."""

COMPILING = threading.RLock()
"""Held while tracing, compiling and linking: LLVM's global state is not shared."""


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


class _Toolchain:
    """LLVM's objects for one target, made once: the builder and the list of passes are never freed
    by llvmlite to the last byte, so that making them for every kernel costs 9 kB each."""

    def __init__(self, target: Target, quick: bool) -> None:
        if target.triple.split("-")[0] != host().triple.split("-")[0]:
            llvm.initialize_all_targets()
            llvm.initialize_all_asmprinters()
        self.machine: Any = target_machine(target, quick=quick)
        options = llvm.create_pipeline_tuning_options(speed_level=1)
        self._builder: Any = llvm.create_pass_builder(self.machine, options)
        # The few passes that straight-line code gains by.
        self._passes: Any = llvm.create_new_module_pass_manager()
        self._passes.add_instruction_combine_pass()
        self._passes.add_simplify_cfg_pass()
        self._passes.add_new_gvn_pass()
        self._passes.add_dead_code_elimination_pass()

    def simplify(self, parsed: Any) -> None:
        """Run the passes over a module."""
        self._passes.run(parsed, self._builder)

    def optimise(self, parsed: Any) -> None:
        """Run all passes that code with loops and calls gains by; none makes lanes by itself."""
        # Made each time: LLVM's inliner cannot run twice.
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = options.slp_vectorization = False
        builder: Any = llvm.create_pass_builder(self.machine, options)
        builder.getModulePassManager().run(parsed, builder)


_toolchain = lru_cache(maxsize=16)(_Toolchain)


def _check_names(module: ir.Module) -> None:
    """A name that cannot be found when code is linked would end the process; so it is found now."""
    for function in module.functions:
        name = str(function.name)
        known = name.startswith("llvm.") or name.removeprefix("lw_") in LIBM_NAMES
        if function.is_declaration and not known:
            raise ValueError(
                f"compiled code calls {name}, which is neither in the module nor one of the C "
                "library's functions that it may call (lw_ and a name of LIBM_NAMES)"
            )


VERY_LONG = 40_000
"""Assignments of code that is better generated quickly: six times as fast, to run half as fast."""


def object_code(
    module: ir.Module,
    target: Target,
    *,
    simplify: bool,
    quick: bool = False,
    branches: bool = False,
) -> bytes:
    """Compile a module for a target, to object code in the form that its platform's linker reads.

    ``simplify=False`` leaves out LLVM's passes, which long code gains little by; ``quick`` its
    search for the best registers and order as well, for what is very long. ``branches`` is for code
    of loops, branches and calls, which gains by all of LLVM's passes. The same module and target
    give the same bytes, in every process.

    Raises: ValueError for a function that is declared, not defined, and not of the C library.
    """
    _check_names(module)
    with COMPILING:
        toolchain = _toolchain(target, quick)
        finish(module, target)
        # A context keeps every constant that was ever in it, so each module has one of its own.
        context = llvm.create_context()
        try:
            with llvm.parse_assembly(str(module), context) as parsed:
                if branches:
                    toolchain.optimise(parsed)
                elif simplify:
                    toolchain.simplify(parsed)
                return bytes(toolchain.machine.emit_object(parsed))
        finally:
            context.close()


def text_bytes(object_code: bytes) -> int:
    """The bytes of machine code in object code, constants and tables left out."""
    parsed = llvm.ObjectFileRef.from_data(object_code)
    return sum(int(section.size()) for section in parsed.sections() if section.is_text())


def c_library() -> ctypes.CDLL:
    """The C library of this process."""
    if sys.platform == "win32":
        return ctypes.CDLL("ucrtbase")
    process = ctypes.CDLL(None)
    if hasattr(process, "atan2"):
        return process
    return ctypes.CDLL("libm.so.6")


@cache
def _register_libm() -> None:
    """Give linked code the C library's functions by name."""
    library = c_library()
    for name in LIBM_NAMES:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvm.add_symbol(f"lw_{name}", address)


class MachineCode:
    """Object code linked into this process; its memory is freed with the object.

    Whoever holds an address of it must hold the object too.

    LLVM's older linker (MCJIT) is used, one instance for each object: it frees everything, where
    the newer one (LLJIT) keeps 11 kB for each library that is gone, and its memory manager places
    code and constants together where the processor's reach asks for it (AArch64).
    """

    def __init__(self, object_code: bytes) -> None:
        """Link ``object_code``, which must be of :func:`object_code` for this kind of processor.

        It becomes code that runs: it must come from where nobody else can write.

        Raises: ValueError where it is no object code; what is no code of ours is not noticed.
        """
        with COMPILING:
            machine = target_machine(host())
            _register_libm()
            parsed = llvm.ObjectFileRef.from_data(object_code)
            if not parsed:
                parsed.detach()
                raise ValueError("these bytes are not object code, or not all of it")
            # The linker wants a module: an empty one, whose names are at home in no process.
            self._linked: Any = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
            self._linked.add_object_file(parsed)
            self._linked.finalize_object()

    def address(self, name: str) -> int:
        """The address of a function.

        Raises: KeyError where the code has none of this name.
        """
        return self._found(name, self._linked.get_function_address)

    def global_address(self, name: str) -> int:
        """The address of a global variable.

        Raises: KeyError where the code has none of this name.
        """
        return self._found(name, self._linked.get_global_value_address)

    def _found(self, name: str, find: Any) -> int:
        address = int(find(name)) if name else 0  # LLVM ends the process at an empty name
        if address == 0:
            raise KeyError(f"the code has nothing that is called {name!r}")
        return address
