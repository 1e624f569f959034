"""Code from the cache where it is there, made and kept where it is not."""

from __future__ import annotations

import copy
import ctypes
import itertools
import pickle
from dataclasses import replace

import pytest
from llvmlite import ir

import linkwork as lw
from linkwork.compile.cache import Cache, Entry
from linkwork.compile.compiler import Compiler
from linkwork.compile.emit import I64, i64
from linkwork.compile.machine_code import object_code
from linkwork.compile.target import host, new_module

KEY = ("a function", "of three")


def make(value, calls):
    """Object code of a function that returns a number, and a note that it was made."""

    def inner():
        calls.append(value)
        module = new_module("constant", host())
        function = ir.Function(module, ir.FunctionType(I64, []), "constant")
        ir.IRBuilder(function.append_basic_block()).ret(i64(value))
        return {"value": value}, object_code(module, host(), simplify=True)

    return inner


def called(made):
    return ctypes.CFUNCTYPE(ctypes.c_int64)(made.code.address("constant"))()


def test_code_is_made_once_and_found_by_the_next_compiler(tmp_path):
    calls = []
    first = Compiler(host(), Cache(tmp_path / "c")).code(KEY, make(41, calls))
    assert (called(first), first.facts, first.from_cache) == (41, {"value": 41}, False)
    second = Compiler(host(), Cache(tmp_path / "c")).code(KEY, make(41, calls))
    assert (called(second), second.facts, second.from_cache) == (41, {"value": 41}, True)
    assert calls == [41]


def test_other_keys_and_other_targets_are_other_code(tmp_path):
    calls, cache = [], Cache(tmp_path / "c")
    here = Compiler(host(), cache)
    here.code(KEY, make(1, calls))
    assert here.find((*KEY, "more")) is None
    assert here.find(("a functionof three",)) is None
    for change in ({"width": 1}, {"fused": False}, {"cpu": "other"}, {"features": "+none"}):
        assert Compiler(replace(host(), **change), cache).find(KEY) is None, change
    assert here.find(KEY) is not None


@pytest.mark.parametrize("key", [KEY, ()])
def test_without_a_folder_or_a_key_nothing_is_kept(tmp_path, key):
    calls = []
    compiler = Compiler(host(), Cache(None) if key else Cache(tmp_path / "c"))
    for _ in range(2):
        assert called(compiler.code(key, make(7, calls))) == 7
    assert calls == [7, 7]
    assert compiler.find(key) is None
    assert not (tmp_path / "c").exists()


def test_an_entry_that_is_no_code_is_made_again(tmp_path):
    cache = Cache(tmp_path / "c")
    compiler = Compiler(host(), cache)
    compiler.code(KEY, make(5, []))
    (name,) = [path.stem for path in (tmp_path / "c").glob("*.kernel")]
    cache.write(name, Entry({"value": 5}, b"not code"))
    assert compiler.find(KEY) is None
    assert called(compiler.code(KEY, make(5, []))) == 5
    assert compiler.find(KEY) is not None


def test_seconds_are_those_of_the_clock():
    ticks = itertools.count()
    timed = Compiler(host(), clock=lambda: float(next(ticks)))
    assert timed.code((), make(3, [])).seconds == 1.0
    assert Compiler(host()).code((), make(3, [])).seconds is None


def test_a_listener_hears_of_a_piece_of_work_once_and_whether_it_is_kept(tmp_path):
    heard = []

    def listener(what):
        heard.append(what)
        return heard.append

    compiler = Compiler(host(), Cache(tmp_path / "c"), listener=listener)
    with compiler.work("all of it"):
        compiler.code(KEY, make(1, []), what="a part")
        compiler.code((*KEY, "other"), make(2, []), what="a part")
    compiler.code((), make(3, []), what="what has no key")
    with pytest.raises(ZeroDivisionError), compiler.work("what fails"):
        compiler.code((*KEY, "third"), lambda: 1 / 0)
    assert heard == ["all of it", True, "what has no key", False, "what fails", None]
    heard.clear()
    Compiler(host(), Cache(None), listener=listener).code(KEY, make(1, []), what="kept nowhere")
    assert heard == ["kept nowhere", False]


# --- What holds compiled code: no pickles, and no second one by copying ---


def test_compiled_code_stays_in_its_process_and_is_not_doubled():
    arm, bars = lw.load("planar_2r"), lw.load("four_bar")
    for compiled in (
        arm.function("fk"),
        arm.kernel("fk"),
        arm.solver(),
        arm.controller(dt=0.01),
        bars.assembler(),
    ):
        with pytest.raises(TypeError, match=r"cannot be pickled: .* pickle the robot"):
            pickle.dumps(compiled)
        assert copy.copy(compiled) is compiled
        assert copy.deepcopy([compiled])[0] is compiled
