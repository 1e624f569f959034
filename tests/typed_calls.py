"""Compiled functions of the small language, called from tests."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, get_type_hints

import numpy as np

from linkwork.compile.compiler import Compiler
from linkwork.compile.typed import Typed, library

_KINDS: dict[type, Any] = {float: ctypes.c_double, int: ctypes.c_int64, bool: ctypes.c_bool}


def compiled(functions: list[Typed]) -> dict[str, Callable[..., Any]]:
    """The functions, by name; arrays are passed as pointers, floats and ints as they are."""
    code = library(functions, Compiler(), "tests")
    return {f.__name__: _caller(code, f) for f in functions}


def _caller(code: Any, function: Typed) -> Callable[..., Any]:
    result = _KINDS.get(get_type_hints(function.function)["return"])  # None where there is none

    def call(*args: Any) -> Any:
        kinds = [ctypes.c_void_p if np.ndim(a) else _KINDS[type(a)] for a in args]
        values = [a.ctypes.data if np.ndim(a) else a for a in args]
        kind = ctypes.CFUNCTYPE(result, *kinds)
        return kind(code.address(function.__name__))(*values)

    return call
