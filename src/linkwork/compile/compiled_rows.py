"""One function as machine code: a scalar version and one with a configuration a lane."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.compiler import Compiler, Facts, Made
from linkwork.compile.machine_code import COMPILING, object_code, text_bytes
from linkwork.compile.native_call import connect, emit_fast_call
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.recipe import Recipe
from linkwork.compile.signature import Signature
from linkwork.compile.target import new_module

Floats = NDArray[np.float64]

_LONG = 3_000
"""Code with more instructions is not simplified: that takes half the time and gains 5 per cent."""

_HELD = 1_500_000
"""Rows times instructions that are computed without letting other threads run: some 0.1 ms."""

_ALIGNMENT = 64


class CompiledRows:
    """Computes rows of matrices in place; returns -1 or the first row that is not finite.

    Both versions are made, or taken from the cache, when they are first needed.
    """

    def __init__(self, recipe: Recipe, compiler: Compiler, signature: Signature) -> None:
        self._recipe, self.compiler = recipe, compiler
        self.signature = signature
        self._parts: dict[str, _Part] = {}
        self._shared: Floats | None = None  # scratch of calls that hold the global lock

    @staticmethod
    def stored(recipe: Recipe, compiler: Compiler) -> CompiledRows | None:
        """What the cache has of a recipe, both versions or one; None where it has neither."""
        for part in ("scalar", "vector"):
            made = compiler.find(_part_key(recipe, part))
            signature = _signature(made)
            if made is None or signature is None:
                continue
            rows = CompiledRows(recipe, compiler, signature)
            rows._parts[part] = _Part(made, signature)
            return rows
        return None

    @property
    def width(self) -> int:
        """The lanes of a vector."""
        return self.compiler.target.width

    def cost(self) -> dict[str, Any]:
        """Seconds and bytes of both versions, and what scratch a batch takes; both are made."""
        parts = (self.scalar_part(), self.vector_part())
        seconds = [part.made.seconds for part in parts]
        return {
            "code_bytes": sum(int(part.made.facts["code_bytes"]) for part in parts),
            "scratch": parts[1].scratch,
            "compile_seconds": None if None in seconds else sum(filter(None, seconds)),
            "cached": all(part.made.from_cache for part in parts),
        }

    def scalar_part(self) -> _Part:
        """The version for one configuration, with the fast call where the process allows it."""
        return self._part("scalar", 1)

    def vector_part(self) -> _Part:
        """The version with a configuration a lane."""
        return self._part("vector", self.width)

    def _part(self, name: str, width: int) -> _Part:
        found = self._parts.get(name)
        if found is not None:
            return found
        with COMPILING:
            if name not in self._parts:
                key = _part_key(self._recipe, name)
                make = partial(self._make, width)
                made = self.compiler.code(key, make, what=self._recipe.title)
                self._parts[name] = _Part(made, self.signature)
                self._connect()
            return self._parts[name]

    def _make(self, width: int) -> tuple[Facts, bytes]:
        # not for cached code
        from linkwork.compile.rolled_rows import emit_code  # noqa: PLC0415

        target, signature = self.compiler.target, self.signature
        module, abi = new_module(signature.name, target), array_abi()
        graph = self._recipe.code(fused=target.fused)
        rows = emit_code(module, graph, width, "rows", fused=target.fused)
        one = width == 1 and len(signature.output_shapes) == 1
        if one and abi is not None and rows.scratch == 0:
            sizes, shape = graph.input_sizes, signature.output_shapes[0]
            batch_rows = _HELD // max(signature.instructions, 1)
            emit_fast_call(module, rows.function, sizes, shape, abi, batch_rows=batch_rows)
        code = object_code(module, target, simplify=graph.n_assignments <= _LONG)
        facts = {
            "signature": signature.to_facts(),
            "scratch": rows.scratch,
            "code_bytes": text_bytes(code),
        }
        return facts, code

    @property
    def has_fast_call(self) -> bool:
        """Whether the scalar code has a fast call: not where it takes scratch."""
        one = len(self.signature.output_shapes) == 1
        return one and array_abi() is not None and self.scalar_part().scratch == 0

    def _connect(self) -> None:
        """Let the fast call of the scalar code use the vector code."""
        scalar, vector = self._parts.get("scalar"), self._parts.get("vector")
        if not scalar or not vector or not self.has_fast_call:
            return
        self._shared = vector.new_scratch()
        connect(
            scalar.made.code,
            rows=vector.made.code.address("rows"),
            scratch=self._shared.ctypes.data,
        )

    def __call__(self, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> int:
        """Compute all rows into ``outputs``."""
        n = outputs[0].shape[0]
        part = self.scalar_part() if n == 1 else self.vector_part()
        return part.run(n, inputs, outputs)


def _part_key(recipe: Recipe, part: str) -> tuple[str, ...]:
    """What a version is kept under; empty where it is not kept."""
    if not recipe.key:
        return ()
    abi = array_abi() if part == "scalar" else None  # the fast call is in the scalar code
    return (*recipe.key, part, "" if abi is None else repr(abi.layout))


def _signature(made: Made | None) -> Signature | None:
    """The signature that an entry of the cache tells; None where it tells none."""
    if made is None:
        return None
    try:
        signature = Signature.from_facts(made.facts["signature"])
        sizes = [int(made.facts[name]) for name in ("scratch", "code_bytes")]
        return signature if min(sizes) >= 0 else None
    except (KeyError, TypeError, ValueError):
        return None


class _Part:
    """One version: the code and how it is called."""

    def __init__(self, made: Made, signature: Signature) -> None:
        self.made = made
        self.scratch = int(made.facts["scratch"])
        n_pointers = len(signature.input_shapes) + len(signature.output_shapes) + 1
        kind = ctypes.CFUNCTYPE(
            ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * n_pointers
        )
        self._call: Callable[..., int] = kind(made.code.address("rows"))

    def new_scratch(self) -> Floats:
        """Room for the tiles that are too large for the stack, aligned to a cache line."""
        extra = _ALIGNMENT // 8
        room = np.zeros(self.scratch + extra)
        first = (-room.ctypes.data % _ALIGNMENT) // 8
        return room[first : first + max(self.scratch, 1)]

    def run(self, n: int, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> int:
        """Compute n rows; every call has a scratch of its own, so threads do not meet."""
        pointers: list[Any] = [a.ctypes.data for a in (*inputs, *outputs)]
        scratch = self.new_scratch() if self.scratch else None
        return self._call(0, n, *pointers, None if scratch is None else scratch.ctypes.data)
