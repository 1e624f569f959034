"""Kernels' cache across processes: small code to keep, and what other processes do with it.

Run as `python cache_scenarios.py NAME FOLDER`; tests import the rest.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from llvmlite import ir

import linkwork
from linkwork.compile.cache import Cache, Entry, key_of
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.target import Target, host, new_module

F64 = ir.DoubleType()
ARITY = {"atan2": 2, "fma": 3}


def tiny_module(
    target: Target,
    *,
    name: str = "tiny",
    scale: float = 1.0,
    scales: Sequence[float] = (),
    libm: str = "",
    calls: str = "",
) -> ir.Module:
    """``line(x)``: the scale times x, or a function of x, plus the variable ``at``."""
    module = new_module(name, target)
    at: Any = ir.GlobalVariable(module, F64, "at")
    at.initializer = ir.Constant(F64, 0.0)
    line = ir.Function(module, ir.FunctionType(F64, [F64]), "line")
    b = ir.IRBuilder(line.append_basic_block())
    value = line.args[0]
    outer = calls or (libm and f"lw_{libm}")
    if outer:
        n = ARITY.get(libm, 1)
        value = b.call(ir.Function(module, ir.FunctionType(F64, [F64] * n), outer), [value] * n)
    value = b.fmul(ir.Constant(F64, scale), value)
    for factor in scales:
        value = b.fmul(ir.Constant(F64, factor), value)
    b.ret(b.fadd(value, b.load(at)))
    return module


def call(linked: MachineCode, name: str) -> Callable[[float], float]:
    """A linked function, which holds the code."""
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(linked.address(name))
    return lambda x: linked and function(x)


def search_path() -> str:
    """Where a fresh interpreter finds the package and this file."""
    places = [str(Path(linkwork.__file__).parents[1]), str(Path(__file__).parent)]
    return os.pathsep.join([*places, *filter(None, [os.environ.get("PYTHONPATH")])])


def scenario(name: str, folder: Path) -> subprocess.Popen[str]:
    """A scenario of this file, begun in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", __file__, name, str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONPATH": search_path()},
    )  # fmt: skip


def result(process: subprocess.Popen[str]) -> str:
    """What a scenario printed."""
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 0, printed[-4000:]
    return printed.strip()


def kernel(k: int) -> tuple[str, Entry]:
    """The k-th of some small kernels, with its key."""
    facts = {"name": f"kernel {k}", "scale": k + 0.1}
    data = object_code(tiny_module(host(), scale=k + 0.1, libm="sin"), host(), simplify=True)
    return key_of("tiny", str(k)), Entry(facts, data)


def make(cache: Cache) -> str:
    """Compile two kernels and keep them."""
    for k in range(2):
        cache.write(*kernel(k))
    return runs(cache, compiling=True)


def use(cache: Cache) -> str:
    """Run the two kernels from the cache, without a compiler."""
    return runs(cache, compiling=False)


def runs(cache: Cache, *, compiling: bool) -> str:
    """Bits and bytes of the two kernels, as read."""
    seen = []
    for k in range(2):
        entry = kernel(k)[1] if compiling else cache.read(key_of("tiny", str(k)))
        assert entry is not None, "the other process's kernel is not there"
        value = call(MachineCode(entry.object_code), "line")(0.3)
        digest = hashlib.sha256(entry.object_code).hexdigest()
        seen.append(f"{float(value).hex()} {entry.facts['scale']} {digest}")
    return "; ".join(seen)


def without_rights(cache: Cache) -> str:
    """A folder that the user may read but not write to: what is there is used, no more is kept."""
    folder = cache.folder
    assert folder is not None
    cache.write(*kernel(0))
    missing = kernel(1)
    if os.geteuid() == 0:  # root may do everything, so become nobody for this
        os.chown(folder, 65534, 65534)
        for file in folder.iterdir():
            os.chown(file, 65534, 65534)
        os.setegid(65534)
        os.seteuid(65534)
    folder.chmod(0o500)
    before = sorted(os.listdir(folder))
    first = cache.read(kernel(0)[0])
    assert first is not None
    assert call(MachineCode(first.object_code), "line")(1.0) > 0
    cache.write(*missing)
    assert cache.read(missing[0]) is None
    assert sorted(os.listdir(folder)) == before
    folder.chmod(0o700)
    cache.write(*missing)
    assert cache.read(missing[0]) == missing[1]
    return "fine"


def without_space(cache: Cache) -> str:
    """Files can grow to 2000 bytes only, as on a disk that is full: nothing is kept or left."""
    resource: Any = __import__("resource")  # not on Windows
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    small, large = (key_of("s"), Entry({}, b"x" * 100)), (key_of("l"), Entry({}, b"x" * 9000))
    cache.write(*small)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    cache.write(*large)
    assert cache.read(large[0]) is None
    assert cache.read(small[0]) == small[1]
    assert cache.folder is not None
    assert not [name for name in os.listdir(cache.folder) if name.endswith(".part")]
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    cache.write(*large)
    assert cache.read(large[0]) == large[1]
    return "fine"


if __name__ == "__main__":
    print(globals()[sys.argv[1]](Cache(Path(sys.argv[2]))))
