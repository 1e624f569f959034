"""The probe of NumPy's and CPython's layout."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import types

import numpy as np
import pytest

from linkwork.compile import numpy_abi


def test_it_names_what_numpy_says_of_itself():
    abi = numpy_abi.array_abi()
    if abi is None:
        pytest.skip("this Python does not lay out arrays as the fast call needs")
    assert abi.array_type == id(np.ndarray)
    assert abi.float64_descr == id(np.dtype(float))


OTHER = {
    "data": "descr", "ndim": "flags", "shape": "data", "descr": "shape", "flags": "ndim",
    "type": "data", "items": "type", "bytes": "data", "number": "flags", "order": "number",
    "writeable_flag": "required_flags",
}  # fmt: skip


@pytest.mark.parametrize("field", list(OTHER))
def test_a_wrong_offset_is_found(field):
    abi = numpy_abi.array_abi()
    if abi is None:
        pytest.skip("this Python does not lay out arrays as the fast call needs")
    assert numpy_abi.fits(abi)
    wrong = dataclasses.replace(abi, **{field: getattr(abi, OTHER[field])})
    assert not numpy_abi.fits(wrong)


def test_other_builds_take_the_general_path(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version", "3.14.0 free-threading build (main, ...)")
        assert numpy_abi.array_abi.__wrapped__() is None
    with monkeypatch.context() as patch:
        patch.setattr(sys, "getobjects", len, raising=False)
        assert numpy_abi.array_abi.__wrapped__() is None
    with monkeypatch.context() as patch:
        patch.setattr(sys, "implementation", types.SimpleNamespace(name="pypy"))
        assert numpy_abi.array_abi.__wrapped__() is None


@pytest.mark.parametrize("module", ["numpy._core._multiarray_umath"])
def test_a_numpy_without_its_table_takes_the_general_path(module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, types.ModuleType(module))
    assert numpy_abi.array_abi.__wrapped__() is None


def test_other_interpreters_of_the_process_take_the_general_path(monkeypatch):
    monkeypatch.setattr(numpy_abi, "is_main_interpreter", lambda: False)
    assert numpy_abi.array_abi.__wrapped__() is None


def test_another_interpreter_knows_that_it_is_another_one():
    # In a process of its own: NumPy does not promise to survive a second interpreter.
    done = subprocess.run(
        [sys.executable, "-c", SECOND], capture_output=True, text=True, timeout=60, check=False
    )
    if "no interpreters" in done.stdout:
        pytest.skip("this Python has no module that makes interpreters")
    assert "main True" in done.stdout, done.stderr
    assert "main False" in done.stdout, done.stderr


SECOND = """
import ctypes, sys
text = '''
import ctypes
kind = ctypes.PYFUNCTYPE(ctypes.c_void_p)
here = kind(("PyInterpreterState_Get", ctypes.pythonapi))()
main = kind(("PyInterpreterState_Main", ctypes.pythonapi))()
print("main", here == main, flush=True)
'''
exec(text)
try:
    import _interpreters as interpreters
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        print("no interpreters")
        sys.exit()
try:
    made = interpreters.create("legacy")
except TypeError:
    made = interpreters.create(isolated=False)
interpreters.run_string(made, text)
"""


def test_the_layout_has_nothing_of_this_process_in_it():
    abi = numpy_abi.array_abi()
    if abi is None:
        pytest.skip("this Python does not lay out arrays as the fast call needs")
    elsewhere = dataclasses.replace(abi, array_type=1, float64_descr=2, array_new=3)
    assert elsewhere.layout == abi.layout
    assert dataclasses.replace(abi, flags=abi.flags + 8).layout != abi.layout
    assert len(abi.layout) == len(dataclasses.fields(abi)) - 3
