"""Kernels: compiled functions of arrays, for one configuration or for any number of them."""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.arrays import real_rows
from linkwork.compile.fastcall import bind, emit_fast_call
from linkwork.compile.graph import Graph, graph_of
from linkwork.compile.interpreted import InterpretedRows
from linkwork.compile.loops import emit_rows
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.target import COMPILING, Engine, Target, host, new_module
from linkwork.compile.threads import in_parallel
from linkwork.compile.tracing import Traced, size
from linkwork.errors import InputError, ShapeError

Floats = NDArray[np.float64]
OnBad = Literal["raise", "nan"]
Labels = Mapping[str, Sequence[str]]

CHUNK = 8192
"""Rows between two returns to Python; the same whatever the number of threads."""

LARGEST_UNROLLED = 20_000
"""Graphs with more instructions are interpreted: compiling takes some 0.15 ms for each, and more
than in proportion (4 s at this size), while CasADi's machine needs some 5 ns for each in a call."""

_LONG = 3_000
"""Code with more instructions is not simplified: that takes half the time and gains 5 per cent."""


class Rows(Protocol):
    """Computes rows of matrices in place; returns -1 or the first row that is not finite."""

    def __call__(self, inputs: Sequence[Floats], outputs: Sequence[Floats], /) -> int:
        """Compute into ``outputs``."""
        ...


class CompiledRows:
    """One graph as machine code: a scalar version and one with a configuration a lane."""

    def __init__(self, name: str, graph: Graph, shapes: Sequence[tuple[int, ...]]) -> None:
        self._name, self._graph, self._shapes = name, graph, tuple(shapes)
        self._target: Target = host()
        self._simplify = len(graph.nodes) <= _LONG
        self._scalar: tuple[Engine, Any] | None = None
        self._vector: tuple[Engine, Any] | None = None
        self._n = len(graph.input_sizes) + len(graph.output_sizes)

    @property
    def width(self) -> int:
        """The lanes of a vector."""
        return self._target.width

    def scalar_engine(self) -> Engine:
        """The code for one configuration, with the fast call where the process allows it."""
        return self._scalar_code()[0]

    def _scalar_code(self) -> tuple[Engine, Any]:
        if self._scalar is not None:
            return self._scalar
        with COMPILING:
            if self._scalar is None:
                module = new_module(self._name, self._target)
                rows = emit_rows(module, self._graph, 1, "rows", fused=self._target.fused)
                abi = array_abi()
                if abi is not None and len(self._shapes) == 1:
                    emit_fast_call(module, rows, self._graph.input_sizes, self._shapes[0], abi)
                engine = Engine(module, self._target, simplify=self._simplify)
                self._scalar = (engine, self._call(engine))
            return self._scalar

    def _call(self, engine: Engine) -> Any:
        kind = ctypes.CFUNCTYPE(
            ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * self._n
        )
        return kind(engine.address("rows"))

    def _vector_call(self) -> Any:
        if self._vector is not None:
            return self._vector[1]
        with COMPILING:
            if self._vector is None:
                module = new_module(self._name, self._target)
                emit_rows(module, self._graph, self.width, "rows", fused=self._target.fused)
                engine = Engine(module, self._target, simplify=self._simplify)
                self._vector = (engine, self._call(engine))
            return self._vector[1]

    def __call__(self, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> int:
        """Whole tiles in place; the rest in a tile padded with copies of the last row."""
        n = outputs[0].shape[0]
        if n == 1:
            call = self._scalar_code()[1]
            return int(call(0, 1, *[a.ctypes.data for a in (*inputs, *outputs)]))
        call = self._vector_call()
        whole = n - n % self.width
        bad = -1
        if whole:
            bad = int(call(0, whole, *[a.ctypes.data for a in (*inputs, *outputs)]))
        if whole < n and bad < 0:
            padding = [(0, self.width - n + whole), (0, 0)]
            rest = [np.pad(a[whole:], padding, mode="edge") for a in inputs]
            results = [np.zeros((self.width, a.shape[1])) for a in outputs]
            bad = int(call(0, self.width, *[a.ctypes.data for a in (*rest, *results)]))
            for output, result in zip(outputs, results, strict=True):
                output[whole:] = result[: n - whole]
            bad = whole if bad >= 0 else -1
        return bad


class Kernel:
    """A compiled function: arrays in, a new array out, for any leading shape.

    Inputs have shape (..., n) and are broadcast over their leading axes; the result has the
    leading shape followed by the shape of one result.
    """

    def __init__(
        self, traced: Traced, rows: Rows, *, labels: Labels | None = None, most_threads: int = 1
    ) -> None:
        self.traced = traced
        self._rows = rows
        self._labels = dict(labels or {})
        self._most_threads = most_threads

    def __call__(
        self,
        *arrays: ArrayLike,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Compute; ``out`` is written and returned where given.

        ``threads`` is by default one for every two chunks of rows, up to the processor's cores.

        Raises: ShapeError for a wrong last axis or ``out``; InputError naming the first row whose
        inputs or results are not finite (``on_bad="nan"`` marks such rows with NaN instead).
        """
        if not isinstance(on_bad, str) or on_bad not in ("raise", "nan"):
            given = repr(on_bad) if isinstance(on_bad, str) else type(on_bad).__name__
            raise InputError(f"on_bad is 'raise' or 'nan', not {given}")
        lead, flat = self._flatten(arrays)
        shape = lead + self.traced.output_shapes[0]
        if out is None:
            result: Floats = np.empty(shape)
            direct = result
        else:
            self._check_out(out, shape, flat)
            result = out
            direct = out if out.flags.c_contiguous and out.flags.aligned else np.empty(shape)
        n = flat[0].shape[0] if flat else 1
        rows = direct.reshape(n, -1) if n else np.empty((0, size(self.traced.output_shapes[0])))
        if threads is None:
            threads = max(1, min(self._most_threads, n // (2 * CHUNK)))
        bad = self._run(flat, rows, threads, on_bad, lead)
        if bad.size:
            rows[bad] = np.nan
        if direct is not result:
            result[...] = direct
        return result

    def bound(self) -> Callable[..., Floats]:
        """The callable for control loops: one configuration in, its result out, least overhead.

        It takes what the kernel takes; exact float64 arrays of one configuration take the fast way.
        """
        abi = array_abi()
        if abi is None or not isinstance(self._rows, CompiledRows):
            return self
        owner = copy.copy(self)  # each function keeps a record of its own, on its own owner
        return bind(self._rows.scalar_engine(), owner, self.traced.name, abi)

    def _flatten(self, arrays: Sequence[ArrayLike]) -> tuple[tuple[int, ...], list[Floats]]:
        names, shapes = self.traced.input_names, self.traced.input_shapes
        if len(arrays) != len(names):
            raise ShapeError(
                f"{self.traced.name} takes {len(names)} arrays ({', '.join(names)}), "
                f"not {len(arrays)}"
            )
        checked = [
            real_rows(a, name, shape[0])
            for a, name, shape in zip(arrays, names, shapes, strict=True)
        ]
        try:
            lead = np.broadcast_shapes(*[a.shape[:-1] for a in checked])
        except ValueError:
            text = ", ".join(f"{n} {a.shape}" for n, a in zip(names, checked, strict=True))
            raise ShapeError(f"the leading shapes do not go together: {text}") from None
        flat: list[Floats] = []
        for a in checked:
            full = np.broadcast_to(a, (*lead, a.shape[-1]))
            flat.append(np.ascontiguousarray(full).reshape(_count(lead), a.shape[-1]))
        return lead, flat

    def _check_out(self, out: Any, shape: tuple[int, ...], flat: Sequence[Floats]) -> None:
        if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape:
            found = getattr(out, "shape", type(out).__name__), getattr(out, "dtype", "")
            raise ShapeError(f"out must be a float64 array of shape {shape}, not {found}")
        if not out.flags.writeable:
            raise InputError("out is read-only")
        if any(step == 0 and n > 1 for step, n in zip(out.strides, out.shape, strict=True)):
            raise InputError("out repeats its memory: each result needs a place of its own")
        if any(np.may_share_memory(out, a) for a in flat):
            raise InputError("out shares memory with an input: give it memory of its own")

    def _run(
        self,
        inputs: Sequence[Floats],
        rows: Floats,
        threads: int,
        on_bad: OnBad,
        lead: tuple[int, ...],
    ) -> NDArray[np.intp]:
        """Compute all rows chunk by chunk; returns those to be marked as bad."""

        def chunk(start: int) -> NDArray[np.intp]:
            end = min(start + CHUNK, rows.shape[0])
            part = [a[start:end] for a in inputs]
            if self._rows(part, [rows[start:end]]) < 0:
                return np.zeros(0, dtype=np.intp)
            found = self._not_finite(part, rows[start:end])
            if on_bad == "raise":
                raise InputError(self._reason(inputs, start + int(found[0]), lead))
            self._recompute(part, rows[start:end], found)
            return found + start

        marks = in_parallel(chunk, range(0, rows.shape[0], CHUNK), threads)
        return np.concatenate(marks) if marks else np.zeros(0, dtype=np.intp)

    def _recompute(self, part: Sequence[Floats], rows: Floats, bad: NDArray[np.intp]) -> None:
        """The rows of a chunk that are good, once more, without the bad ones among them."""
        good = np.setdiff1d(np.arange(rows.shape[0]), bad)
        if good.size:
            again = np.zeros((good.size, rows.shape[1]))
            self._rows([np.ascontiguousarray(a[good]) for a in part], [again])
            rows[good] = again

    def _not_finite(self, part: Sequence[Floats], rows: Floats) -> NDArray[np.intp]:
        """Rows whose inputs, or results computed one by one, are not finite."""
        good = np.ones(rows.shape[0], dtype=bool)
        for a in part:
            good &= np.isfinite(a).all(axis=1)
        single = np.zeros((1, rows.shape[1]))
        for k in np.flatnonzero(good):
            good[k] = self._rows([np.ascontiguousarray(a[k : k + 1]) for a in part], [single]) < 0
        return np.flatnonzero(~good)

    def _reason(self, inputs: Sequence[Floats], row: int, lead: tuple[int, ...]) -> str:
        index = ", ".join(str(int(k)) for k in np.unravel_index(row, lead)) if lead else ""
        where = f" in row [{index}]" if lead else ""
        for name, values in zip(self.traced.input_names, inputs, strict=True):
            for k, value in enumerate(values[row]):
                if not np.isfinite(value):
                    label = f" ({self._labels[name][k]})" if name in self._labels else ""
                    return f"{name}[{k}]{label}{where} is {value}; it must be a finite number"
        return (
            f"{self.traced.name}{where} has no finite result: the numbers are too large for "
            "float64, or a quaternion has length zero"
        )


def _count(lead: tuple[int, ...]) -> int:
    return int(np.prod(lead, dtype=np.int64)) if lead else 1


def build(traced: Traced, *, labels: Labels | None = None, most_threads: int = 1) -> Kernel:
    """A kernel for a traced function: compiled, or interpreted where it is too large to unroll.

    ``labels`` names the elements of the inputs, by input, for messages; ``most_threads`` bounds the
    number of threads that a long batch takes by itself.
    """
    rows: Rows
    if traced.n_instructions > LARGEST_UNROLLED:
        rows = InterpretedRows(traced.function)
    else:
        with COMPILING:
            graph = graph_of(traced.function, fuse=host().fused)
        rows = CompiledRows(traced.name, graph, traced.output_shapes)
    return Kernel(traced, rows, labels=labels, most_threads=most_threads)
