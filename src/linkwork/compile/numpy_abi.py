"""The layout of NumPy's and CPython's objects, which compiled code reads directly; probed first.

Also the addresses of arrays, which compiled code is given.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NEW_FROM_TYPE = 93  # PyArray_New in NumPy's table of C functions
_ARRAY_TYPE = 2  # PyArray_Type in it
_CONTIGUOUS_ALIGNED = 0x0001 | 0x0100
_WRITEABLE = 0x0400
FLOAT64 = 12  # NPY_DOUBLE
WORD = 8
_LINE = 64  # bytes of a line of the cache


def address(array: NDArray[Any]) -> int:
    """The address of an array's first number."""
    exported: Any = array
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(exported))  # a quarter of the time
    except (TypeError, ValueError):  # read only, or of no numbers
        return array.__array_interface__["data"][0]


def aligned(count: int) -> NDArray[np.float64]:
    """Room for float64 numbers, aligned to a line of the cache."""
    room = np.empty(count + _LINE // 8)
    first = -address(room) % _LINE // 8
    return room[first : first + count]


@dataclass(frozen=True)
class ArrayAbi:
    """Byte offsets in CPython's and NumPy's structs, and objects that compiled code compares with.

    The fields from ``array_type`` on belong to this process; `layout` is what code depends on.
    """

    type: int  # in every object
    items: int  # in a tuple, whose number of items stands before its type's own fields
    bytes: int  # the contents of a bytes object
    data: int
    ndim: int
    shape: int
    descr: int
    flags: int
    number: int  # in a dtype: which of NumPy's kinds it is
    order: int  # in a dtype: its byte order, a character
    required_flags: int
    writeable_flag: int
    array_type: int
    float64_descr: int
    array_new: int

    @property
    def size(self) -> int:
        """The place of a tuple's number of items."""
        return self.type + WORD

    @property
    def layout(self) -> tuple[int, ...]:
        """All that compiled code has built in: part of the key under which code is kept."""
        return (
            self.type, self.items, self.bytes, self.data, self.ndim, self.shape, self.descr,
            self.flags, self.number, self.order, self.required_flags, self.writeable_flag,
        )  # fmt: skip


def _word(address: int, offset: int) -> int:
    return ctypes.c_size_t.from_address(address + offset).value


def _number(address: int) -> int:
    return ctypes.c_int.from_address(address).value


def _arrays_fit(abi: ArrayAbi) -> bool:
    """Whether arrays of known contents are laid out as assumed."""
    for shape in ((3,), (2, 5), ()):
        array = np.zeros(shape)
        at = id(array)
        if _word(at, abi.type) != abi.array_type:
            return False
        if _word(at, abi.data) != array.ctypes.data or _word(at, abi.descr) != abi.float64_descr:
            return False
        if _number(at + abi.ndim) != array.ndim:
            return False
        if _number(at + abi.flags) & 0xFFFF != array.flags.num & 0xFFFF:
            return False
        dims = _word(at, abi.shape)
        for k, n in enumerate(shape):
            if ctypes.c_ssize_t.from_address(dims + WORD * k).value != n:
                return False
    view = np.zeros((4, 4))[:, 1]
    view.flags.writeable = False
    flags = _number(id(view) + abi.flags)
    contiguous = flags & abi.required_flags == abi.required_flags
    return not contiguous and not flags & abi.writeable_flag


def _dtypes_fit(abi: ArrayAbi) -> bool:
    """Whether dtypes of known kinds are laid out as assumed."""
    foreign = ">f8" if sys.byteorder == "little" else "<f8"
    for kind in ("f8", foreign, "f4", "i8", "c16", "g", "V8", "U2"):
        dtype = np.dtype(kind)
        order = ctypes.string_at(id(dtype) + abi.order, 1)
        if _number(id(dtype) + abi.number) != dtype.num or order != dtype.byteorder.encode():
            return False
    return np.dtype("f8").num == FLOAT64


def _objects_fit(abi: ArrayAbi) -> bool:
    """Whether tuples, bytes and text are laid out as assumed."""
    for items in ((), ("one",), ("one", "two", "three")):
        if _word(id(items), abi.size) != len(items) or _word(id(items), abi.type) != id(tuple):
            return False
        for k, item in enumerate(items):
            if _word(id(items), abi.items + WORD * k) != id(item):
                return False
    text = "a frame's name"
    known = b"8 bytes."
    if ctypes.string_at(id(known) + abi.bytes, len(known)) != known:
        return False
    return _word(id(text), abi.type) == id(str)


def fits(abi: ArrayAbi) -> bool:
    """Whether objects of known contents are laid out as assumed."""
    return _arrays_fit(abi) and _dtypes_fit(abi) and _objects_fit(abi)


def _is_supported() -> bool:
    """Whether this is CPython with its global lock, nothing but count and type at the head of an
    object, in its main interpreter."""
    usual = (
        sys.implementation.name == "cpython"
        and ctypes.sizeof(ctypes.c_void_p) == WORD
        and object.__basicsize__ == 2 * WORD
        and "free-threading" not in sys.version
        and not hasattr(sys, "getobjects")  # with Py_TRACE_REFS
    )
    if not usual or not hasattr(ctypes.pythonapi, "PyObject_Vectorcall"):
        return False  # CPython 3.10 has the function only as an inline one
    return is_main_interpreter()


def is_main_interpreter() -> bool:
    """Whether NumPy's and CPython's objects are those of the first interpreter of the process."""
    kind = ctypes.PYFUNCTYPE(ctypes.c_void_p)
    here = kind(("PyInterpreterState_Get", ctypes.pythonapi))
    main = kind(("PyInterpreterState_Main", ctypes.pythonapi))
    return here() == main()


def _c_functions() -> Any:
    """NumPy's table of C functions, or None where it is not where it is known to be."""
    core = sys.modules.get("numpy._core._multiarray_umath") or sys.modules.get(
        "numpy.core._multiarray_umath"
    )
    capsule = getattr(core, "_ARRAY_API", None)
    if capsule is None:
        return None
    kind = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    pointer = kind(("PyCapsule_GetPointer", ctypes.pythonapi))
    return (ctypes.c_void_p * (_NEW_FROM_TYPE + 1)).from_address(pointer(capsule, None))


@cache
def array_abi() -> ArrayAbi | None:
    """The layout, or None where compiled code must not rely on it.

    None on CPython 3.10, on builds without the global lock, with reference tracing, of 32 bits, on
    other implementations than CPython, in other interpreters than the main one, and wherever the
    probe finds anything unexpected.
    """
    if not _is_supported():
        return None
    table = _c_functions()
    if table is None:
        return None
    head = object.__basicsize__
    abi = ArrayAbi(
        type=head - WORD,
        items=head + WORD,
        bytes=bytes.__basicsize__ - 1,
        data=head,
        ndim=head + 8,
        shape=head + 16,
        descr=head + 40,
        flags=head + 48,
        number=head + 12,
        order=head + 10,
        required_flags=_CONTIGUOUS_ALIGNED,
        writeable_flag=_WRITEABLE,
        array_type=int(table[_ARRAY_TYPE] or 0),
        float64_descr=id(np.dtype(np.float64)),
        array_new=int(table[_NEW_FROM_TYPE] or 0),
    )
    return abi if abi.array_type == id(np.ndarray) and fits(abi) else None
