"""Where NumPy and CPython keep what compiled code reads directly, probed before it is relied on."""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache

import numpy as np

_NEW_FROM_TYPE = 93  # PyArray_New in NumPy's table of C functions
_ARRAY_TYPE = 2  # PyArray_Type in it
_CONTIGUOUS_ALIGNED = 0x0001 | 0x0100


@dataclass(frozen=True)
class ArrayAbi:
    """Byte offsets in NumPy's array struct, and the objects that compiled code compares with."""

    data: int
    ndim: int
    shape: int
    descr: int
    flags: int
    required_flags: int
    array_type: int
    float64_descr: int
    array_new: int


def _word(address: int, offset: int) -> int:
    return ctypes.c_size_t.from_address(address + offset).value


def _fits(abi: ArrayAbi) -> bool:
    """Whether arrays of known contents are laid out as assumed."""
    for shape in ((3,), (2, 5), ()):
        array = np.zeros(shape)
        at = id(array)
        if _word(at, object.__basicsize__ - ctypes.sizeof(ctypes.c_size_t)) != abi.array_type:
            return False
        if _word(at, abi.data) != array.ctypes.data or _word(at, abi.descr) != abi.float64_descr:
            return False
        if ctypes.c_int.from_address(at + abi.ndim).value != array.ndim:
            return False
        flags = ctypes.c_int.from_address(at + abi.flags).value
        if flags & 0xFFFF != array.flags.num & 0xFFFF:
            return False
        dims = _word(at, abi.shape)
        for k, n in enumerate(shape):
            if ctypes.c_ssize_t.from_address(dims + 8 * k).value != n:
                return False
    view = np.zeros((4, 4))[:, 1]
    flags = ctypes.c_int.from_address(id(view) + abi.flags).value
    return flags & _CONTIGUOUS_ALIGNED != _CONTIGUOUS_ALIGNED


@cache
def array_abi() -> ArrayAbi | None:
    """The layout, or None where compiled code must not rely on it.

    None on CPython 3.10, on builds without the global lock, with reference tracing, of 32 bits, on
    other implementations than CPython, and wherever the probe finds anything unexpected.
    """
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    if sysconfig.get_config_var("Py_GIL_DISABLED") or sysconfig.get_config_var("Py_TRACE_REFS"):
        return None
    if not hasattr(ctypes.pythonapi, "PyObject_Vectorcall"):
        return None  # CPython 3.10 has it only as an inline function
    core = sys.modules.get("numpy._core._multiarray_umath") or sys.modules.get(
        "numpy.core._multiarray_umath"
    )
    if core is None:
        return None
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = (ctypes.c_void_p * (_NEW_FROM_TYPE + 1)).from_address(pointer(core._ARRAY_API, None))
    abi = ArrayAbi(
        data=16,
        ndim=24,
        shape=32,
        descr=56,
        flags=64,
        required_flags=_CONTIGUOUS_ALIGNED,
        array_type=int(table[_ARRAY_TYPE] or 0),
        float64_descr=id(np.dtype(np.float64)),
        array_new=int(table[_NEW_FROM_TYPE] or 0),
    )
    if abi.array_type != id(np.ndarray) or not _fits(abi):
        return None
    return abi
