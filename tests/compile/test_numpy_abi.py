"""The probe of NumPy's and CPython's layout."""

from __future__ import annotations

import dataclasses
import sysconfig

import numpy as np
import pytest

from linkwork.compile import numpy_abi


def test_it_names_what_numpy_says_of_itself():
    abi = numpy_abi.array_abi()
    if abi is None:
        pytest.skip("this Python does not lay out arrays as the fast call needs")
    assert abi.array_type == id(np.ndarray)
    assert abi.float64_descr == id(np.dtype(float))


@pytest.mark.parametrize("field", ["data", "ndim", "shape", "descr", "flags"])
def test_a_wrong_offset_is_found(field):
    abi = numpy_abi.array_abi()
    if abi is None:
        pytest.skip("this Python does not lay out arrays as the fast call needs")
    assert numpy_abi._fits(abi)
    other = {"data": "descr", "ndim": "flags", "shape": "data", "descr": "shape", "flags": "ndim"}
    wrong = dataclasses.replace(abi, **{field: getattr(abi, other[field])})
    assert not numpy_abi._fits(wrong)


@pytest.mark.parametrize("variable", ["Py_GIL_DISABLED", "Py_TRACE_REFS"])
def test_other_builds_take_the_general_path(variable, monkeypatch):
    real = sysconfig.get_config_var
    monkeypatch.setattr(
        sysconfig, "get_config_var", lambda name: 1 if name == variable else real(name)
    )
    assert numpy_abi.array_abi.__wrapped__() is None
