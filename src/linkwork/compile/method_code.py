"""The one native code of all dispatchers of a process."""

from __future__ import annotations

from linkwork.compile.compiler import Compiler, Facts
from linkwork.compile.dispatch import connect, emit_dispatch
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.target import new_module


def dispatch_code(compiler: Compiler) -> MachineCode | None:
    """The code for `dispatcher`, ready to be used; None where arrays' layout is not known."""
    abi = array_abi()
    if abi is None:
        return None

    def make() -> tuple[Facts, bytes]:
        module = new_module("dispatch", compiler.target)
        emit_dispatch(module, abi)
        return {}, object_code(module, compiler.target, simplify=True)

    code = compiler.code(("dispatch", repr(abi.layout)), make).code
    connect(code)
    return code
