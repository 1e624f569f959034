"""Targets, modules that become object code, and functions of which nothing is left behind."""

from __future__ import annotations

import gc
import math
import mmap
import random
import threading
import weakref
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from llvmlite import ir

from cache_scenarios import call, tiny_module
from fresh_python import python
from linkwork.compile import target as module_under_test
from linkwork.compile.emit import F64
from linkwork.compile.machine_code import LIBM_NAMES, MachineCode, object_code
from linkwork.compile.target import (
    LEVELS,
    PLATFORMS,
    PROBE,
    WIDTHS,
    Target,
    finish,
    host,
    jit_triple,
    named,
    new_module,
    target_machine,
    with_width,
)
from linkwork.errors import InputError, UnknownNameError


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
    outer = weakref.ref(linked)
    at = linked.address("line")
    assert rights_at(at) in ("r-xp", "")  # nobody can write to code
    del linked
    gc.collect()
    assert outer() is None
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


@pytest.mark.slow
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


# --------------------------------------------------------------------------- what code is made for


ZEN = Target(8, True, "znver5", "", "x86_64-unknown-linux-gnu")
M1 = Target(2, True, "apple-m1", "", "arm64-apple-macosx11.0.0")
ALL = frozenset(feature for _, _, adds in LEVELS.values() for feature in adds)


@pytest.fixture
def machine(monkeypatch):
    """Puts another processor in this one's place."""

    def pretend(target, features):
        monkeypatch.setattr(module_under_test, "host", lambda: target)
        monkeypatch.setattr(module_under_test, "host_features", lambda: (features, ""))

    return pretend


def test_the_host_is_one_of_the_supported_kinds():
    assert host().width in (2, 4, 8)
    assert host() is host()
    architecture = host().triple.split("-")[0].replace("arm64", "aarch64")
    assert architecture in {
        p.triple.split("-")[0].replace("arm64", "aarch64") for p in PLATFORMS.values()
    }
    if host().width > 4:
        assert host().fused


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_is_compiled_for_the_level_itself(machine, level):
    machine(ZEN, ALL)
    target = named(level)
    assert target.cpu == level
    assert target.features == ""
    assert target.triple == ZEN.triple
    assert (target.width, target.fused) == LEVELS[level][:2]


def test_a_level_that_the_processor_lacks_is_refused_with_what_it_lacks(machine):
    machine(Target(4, True, "haswell", "", ZEN.triple), ALL - set(LEVELS["x86-64-v4"][2]))
    assert named("x86-64-v3").width == 4
    with pytest.raises(InputError, match=r"haswell.*x86-64-v4.*avx512f.*x86-64-v2 or x86-64-v3"):
        named("x86-64-v4")
    machine(Target(2, False, "old", "", ZEN.triple), ALL - {"sse4.1", "avx512f"})
    for level in LEVELS:  # each level contains those before it
        with pytest.raises(InputError, match=r"sse4\.1.*leave the target unset"):
            named(level)
    machine(M1, frozenset())
    with pytest.raises(InputError, match=r"apple-m1.*x86-64 instructions.*arm64-apple"):
        named("x86-64-v2")


@pytest.mark.parametrize("level", ["x86-64-v5", "", "native", "X86-64-V3"])
def test_an_unknown_level_is_refused_with_those_that_exist(level):
    with pytest.raises(UnknownNameError, match="x86-64-v"):
        named(level)


def test_widths():
    for width in WIDTHS:
        assert with_width(ZEN, width) == Target(width, True, "znver5", "", ZEN.triple)
    for width in (0, 3, 16, -1):
        with pytest.raises(InputError, match="1, 2, 4 or 8"):
            with_width(ZEN, width)


@pytest.mark.parametrize(
    ("process", "code"),
    [
        ("x86_64-pc-windows-msvc", "x86_64-pc-windows-msvc-elf"),
        ("x86_64-pc-windows-msvc-elf", "x86_64-pc-windows-msvc-elf"),
        ("x86_64-unknown-linux-gnu", "x86_64-unknown-linux-gnu"),
        ("arm64-apple-darwin23.1.0", "arm64-apple-darwin23.1.0"),
    ],
)
def test_code_for_windows_is_kept_in_elf_objects(process, code):
    assert jit_triple(process) == code


def test_an_unknown_processor_gets_the_plain_target(monkeypatch):
    def fail():
        raise RuntimeError("failed to get host cpu features")

    monkeypatch.setattr(llvm, "get_host_cpu_features", fail)
    assert module_under_test.host_features.__wrapped__() == (frozenset(), "")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_platform_is_known_to_llvm(platform):
    llvm.initialize_all_targets()
    target = PLATFORMS[platform]
    machine = target_machine(target)
    assert machine.triple == target.triple
    assert str(machine.target_data).startswith("e-")


def text_of(target):
    module = new_module("m", target)
    kind = ir.FunctionType(F64, [F64])
    function, outside = ir.Function(module, kind, "f"), ir.Function(module, kind, "lw_cos")
    b = ir.IRBuilder(function.append_basic_block())
    b.ret(b.call(outside, function.args))
    finish(module, target)
    once = str(module)
    finish(module, target)
    assert str(module) == once
    return once


def test_functions_have_no_unwind_tables_and_on_windows_a_probe_of_their_own():
    linux = text_of(PLATFORMS["linux-x86-64-v3"])
    assert "nounwind" in linux
    assert PROBE not in linux
    windows = text_of(PLATFORMS["windows-x86-64-v3"])
    assert windows.count(f'"probe-stack"="{PROBE}"') == 1
    assert f'define void @"{PROBE}"() naked nounwind' in windows
    llvm.parse_assembly(windows).verify()
