"""A function of CasADi as the native function over rows."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from linkwork.compile.graph import graph_of
from linkwork.compile.loops import emit_rows
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.target import host, new_module
from traced_functions import read


class GraphRows:
    """``rows(first, last, *inputs, *outputs)``, with the scratch that it asked for."""

    def __init__(self, function: Any, width: int) -> None:
        module = new_module("rows", host())
        graph = graph_of(read(function), fuse=True)
        made = emit_rows(module, graph, width, "rows", fused=host().fused)
        self.code = MachineCode(object_code(module, host(), simplify=True))
        self.n_arrays = function.n_in() + function.n_out()
        pointers = [ctypes.c_void_p] * (self.n_arrays + 1)
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, *pointers)
        self.native = kind(self.code.address("rows"))
        self.scratch = made.scratch
        self.memory = np.full(made.scratch + 8, np.nan)

    def __call__(self, first: int, last: int, *arrays: Any) -> int:
        """Call the native function."""
        assert len(arrays) == self.n_arrays
        start = -(self.memory.ctypes.data // 8) % 8
        place = self.memory[start:].ctypes.data if self.scratch else None
        return int(self.native(first, last, *[a.ctypes.data for a in arrays], place))
