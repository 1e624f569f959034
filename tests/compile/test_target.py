"""Targets: this processor, levels of it, other platforms, and what functions get for them."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest
from llvmlite import ir

from linkwork.compile import target as module_under_test
from linkwork.compile.emit import F64
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

ZEN = Target(8, True, "znver5", "", "x86_64-unknown-linux-gnu")
M1 = Target(2, True, "apple-m1", "", "arm64-apple-macosx11.0.0")
ALL = frozenset(feature for _, _, adds in LEVELS.values() for feature in adds)


@pytest.fixture
def machine(monkeypatch):
    """Puts another processor in this one's place."""

    def pretend(target, features):
        monkeypatch.setattr(module_under_test, "host", lambda: target)
        monkeypatch.setattr(module_under_test, "_host_features", lambda: (features, ""))

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
    assert module_under_test._host_features.__wrapped__() == (frozenset(), "")


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
