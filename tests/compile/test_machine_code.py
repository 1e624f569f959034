"""Modules become object code, object code becomes functions, and nothing is left of them."""

from __future__ import annotations

import gc
import math
import mmap
import random
import threading
import weakref
from pathlib import Path

import pytest

from cache_scenarios import call, tiny_module
from fresh_python import python
from linkwork.compile.machine_code import LIBM_NAMES, MachineCode, object_code
from linkwork.compile.target import PLATFORMS, host


def code(*, simplify: bool = True, **how) -> bytes:
    return object_code(tiny_module(host(), **how), host(), simplify=simplify)


@pytest.mark.parametrize("simplify", [True, False])
def test_object_code_is_linked_and_runs(simplify):
    linked = MachineCode(code(scale=3.0, simplify=simplify))
    assert call(linked, "line")(1.25) == 3.0 * 1.25


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_the_c_library_is_found_by_name(name):
    assert name in LIBM_NAMES
    linked = MachineCode(code(libm=name))
    assert call(linked, "line")(0.7) == pytest.approx(getattr(math, name)(0.7), rel=1e-15)


def test_the_same_text_gives_the_same_bytes_here_and_elsewhere():
    expected = code(scale=0.1, libm="cos")
    assert code(scale=0.1, libm="cos") == expected
    assert code(scale=0.2, libm="cos") != expected
    text = """
        from cache_scenarios import *
        print(object_code(tiny_module(host(), scale=0.1, libm="cos"), host(), simplify=True).hex())
    """
    assert python(text) == expected.hex()


def test_a_function_that_cannot_be_linked_is_refused_before():
    for name in ("lw_nothing", "system", "getenv"):
        with pytest.raises(ValueError, match=f"calls {name}"):
            object_code(tiny_module(host(), calls=name), host(), simplify=True)


def test_a_name_that_is_not_in_the_code_is_refused():
    linked = MachineCode(code())
    for find in (linked.address, linked.global_address):
        for name in ("nothing", "malloc", ""):
            with pytest.raises(KeyError, match="nothing that is called"):
                find(name)


def test_what_is_no_object_code_is_refused():
    whole = code()
    for data in (b"", b"\0", b"text" * 100, whole[:3], whole[: len(whole) // 2], whole[:-1]):
        with pytest.raises(ValueError, match="not object code"):
            MachineCode(data)


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_platform_that_is_supported_is_compiled_for(name):
    target = PLATFORMS[name]
    data = object_code(tiny_module(target, libm="cos"), target, simplify=True)
    magic = b"\xcf\xfa\xed\xfe" if name.startswith("macos") else b"\x7fELF"
    assert data.startswith(magic)


def test_code_is_gone_with_its_object():
    linked = MachineCode(code())
    inner, outer = weakref.ref(linked._linked), weakref.ref(linked)
    at = linked.address("line")
    assert rights_at(at) in ("r-xp", "")  # nobody can write to code
    del linked
    gc.collect()
    assert outer() is None
    assert inner() is None
    assert "x" not in rights_at(at)


def rights_at(address: int) -> str:
    """What may be done with the memory at an address; empty where nothing lies, or is known."""
    maps = Path("/proc/self/maps")
    for line in maps.read_text().splitlines() if maps.exists() else ():
        span, rights = line.split()[:2]
        first, last = (int(x, 16) for x in span.split("-"))
        if first <= address < last:
            return rights
    return ""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_p23_neither_compiling_nor_linking_keeps_memory():
    text = """
        import gc, random
        from cache_scenarios import *
        def resident():
            gc.collect()
            return int(open("/proc/self/statm").read().split()[1]) * 4096
        def compile_one(numbers):  # with constants and a name that were never seen before
            m = tiny_module(host(), name=f"m{random.random()}", scales=numbers)
            return object_code(m, host(), simplify=True)
        def many(n): return [random.random() for _ in range(n)]
        def use(): MachineCode(compile_one(many(50))).address("line")
        def link(): MachineCode(data).address("line")
        data = compile_one(many(50))
        for work, n in ((use, 60), (link, 200)):
            for _ in range(60): work()  # the heap takes its size at first
            kept = []
            for _ in range(5):  # it may grow once more, but not in most of five rounds
                before = resident()
                for _ in range(n): work()
                kept.append((resident() - before) / n)
            print(sorted(kept)[2])
    """
    for kept in map(float, python(text).split()):
        assert kept <= 1000


def test_threads_compile_link_and_drop_at_once():
    found: list[bool] = []
    scales = [random.Random(k).random() for k in range(60)]

    def work(mine: list[float]) -> None:
        for scale in mine:
            linked = MachineCode(code(scale=scale, libm="cos"))
            found.append(call(linked, "line")(0.5) == scale * math.cos(0.5))

    threads = [threading.Thread(target=work, args=(scales[k::4],)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [True] * 60


def test_addresses_stay_far_apart_from_the_c_library_without_harm():
    # Blocks the neighbourhood of the libraries and links on: code may lie anywhere.
    size = 1 << 33
    try:
        held = [mmap.mmap(-1, size, prot=mmap.PROT_READ) for _ in range(4)]
    except (OSError, ValueError, AttributeError, OverflowError):
        pytest.skip("this system gives no address space of 32 GB")
    linked = [MachineCode(code(scale=2.0, libm="cos")) for _ in range(3)]
    assert [call(one, "line")(0.3) for one in linked] == [2.0 * math.cos(0.3)] * 3
    for block in held:
        block.close()
