"""Kernels: compiled functions of arrays, for one configuration or for any number of them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import broadcast_rows, is_whole, leading_shape, real_rows, shown
from linkwork.compile.compiler import Compiler, Facts, Made, ProcessBound
from linkwork.compile.loops import emit_listed
from linkwork.compile.machine_code import COMPILING, VERY_LONG, object_code, text_bytes
from linkwork.compile.native_call import bind, connect, emit_fast_call
from linkwork.compile.numpy_abi import address, aligned, array_abi
from linkwork.compile.recipe import Recipe, Signature, recipe_of, size
from linkwork.compile.target import new_module
from linkwork.compile.threads import chunk_rows, in_parallel, row_cost_ns, threads_for
from linkwork.errors import InputError, ShapeError

if TYPE_CHECKING:
    from linkwork.compile.describe import Description
    from linkwork.compile.tracing import Traced


Floats = NDArray[np.float64]
OnBad = Literal["raise", "nan"]
Labels = Mapping[str, Sequence[str]]


class Kernel(ProcessBound):
    """A compiled function: arrays in, a new array out, for any leading shape.

    Inputs have shape (..., n) and are broadcast over their leading axes; the result has the
    leading shape followed by the shape of one result.
    """

    def __init__(
        self,
        recipe: Recipe,
        rows: CompiledRows,
        compiler: Compiler,
        *,
        labels: Labels | None = None,
        most_threads: int = 1,
    ) -> None:
        self.recipe = recipe
        self.signature: Signature = rows.signature
        self._rows, self._compiler = rows, compiler
        self._labels = dict(labels or {})
        self._most_threads = most_threads
        self._row_cost = row_cost_ns(  # an estimate
            self.signature.instructions, sum(self.signature.output_sizes), rows.width
        )

    def __call__(
        self,
        *arrays: ArrayLike,
        out: Floats | None = None,
        threads: int | None = None,
        on_bad: OnBad = "raise",
    ) -> Floats:
        """Compute; ``out`` is written and returned where given.

        ``threads`` is by default one for every 0.2 ms of work, up to the processor's cores.

        Raises: ShapeError for a wrong last axis or ``out``; InputError naming the first row whose
        inputs or results are not finite (``on_bad="nan"`` marks such rows with NaN instead).
        """
        if not isinstance(on_bad, str) or on_bad not in ("raise", "nan"):
            raise InputError(f"on_bad is 'raise' or 'nan', not {shown(on_bad)}")
        lead, flat = self._flatten(arrays)
        shape = lead + self.signature.output_shapes[0]
        if out is None:
            result: Floats = np.empty(shape)
            direct = result
        else:
            self._check_out(out, shape, flat)
            result = out
            direct = out if out.flags.c_contiguous and out.flags.aligned else np.empty(shape)
        n = flat[0].shape[0] if flat else 1
        rows = direct.reshape(n, -1) if n else np.empty((0, size(self.signature.output_shapes[0])))
        if threads is None:
            threads = threads_for(n, self._row_cost, self._most_threads)
        bad = self._run(flat, rows, threads, on_bad, lead)
        if bad.size:
            rows[bad] = np.nan
        if direct is not result:
            result[...] = direct
        return result

    @property
    def rows(self) -> CompiledRows:
        """The machine code itself, which checks nothing: for C-contiguous float64 arrays."""
        return self._rows

    def bound(self) -> Callable[..., Floats]:
        """The callable for control loops: one configuration in, its result out, least overhead.

        It takes what the kernel takes; exact float64 arrays of one configuration take the fast way.
        """
        abi = array_abi()
        if abi is None:
            return self
        if not self._rows.has_fast_call:
            return self
        return bind(self._rows.scalar_part().made.code, self, self.signature.name, abi)

    def c_source(self, *, name: str = "", single: bool = False) -> str:
        """The function as one C99 file; see `compile.c_source`.

        Raises: InputError, UnsupportedFeatureError.
        """
        from linkwork.compile.c_source import c_source  # noqa: PLC0415  few need it

        graph, about = self.recipe.graph(fused=False), self.recipe.about
        return c_source(
            graph, self.signature, name=name, about=about, labels=self._labels, single=single
        )

    def c_header(self, *, name: str = "", single: bool = False) -> str:
        """The header file for `c_source` of the same arguments."""
        from linkwork.compile.c_source import c_header  # noqa: PLC0415  few need it

        about = self.recipe.about
        return c_header(self.signature, name=name, about=about, labels=self._labels, single=single)

    def js_source(self, *, name: str = "") -> str:
        """The function as one of JavaScript; see `compile.js_source`.

        Raises: InputError.
        """
        from linkwork.compile.js_source import js_source  # noqa: PLC0415  few need it

        graph, about = self.recipe.graph(fused=False), self.recipe.about
        return js_source(graph, self.signature, name=name, about=about, labels=self._labels)

    def describe(
        self, *, samples: Sequence[Floats] | None = None, rows: int | None = None
    ) -> Description:
        """The cost of the kernel, and the least it could be; see `compile.describe`.

        Raises: InputError for a number of rows below 1, or where the compiler has no clock.
        """
        from linkwork.compile.describe import Subject, describe  # noqa: PLC0415  few need it

        target, clock = self._compiler.target, self._compiler.clock
        if clock is None:
            raise InputError("this kernel's compiler has no clock to measure with")
        cost = self._rows.cost()
        graph = self.recipe.graph(fused=target.fused)
        subject = Subject(graph, self.signature, target, self, self.bound(), **cost)
        return describe(subject, clock=clock, samples=samples, rows=rows)

    def _flatten(self, arrays: Sequence[ArrayLike]) -> tuple[tuple[int, ...], list[Floats]]:
        names, shapes = self.signature.input_names, self.signature.input_shapes
        if len(arrays) != len(names):
            raise ShapeError(
                f"{self.signature.name} takes {len(names)} arrays ({', '.join(names)}), "
                f"not {len(arrays)}"
            )
        converted = [
            real_rows(a, name, shape[0])
            for a, name, shape in zip(arrays, names, shapes, strict=True)
        ]
        # Converting one argument may run code that reshapes another one: views of our own, checked
        # once more, are what native code gets.
        checked = [
            real_rows(a[...], name, shape[0])
            for a, name, shape in zip(converted, names, shapes, strict=True)
        ]
        lead = leading_shape(dict(zip(names, checked, strict=True)))
        return lead, [broadcast_rows(a, lead) for a in checked]

    def _check_out(self, out: Any, shape: tuple[int, ...], flat: Sequence[Floats]) -> None:
        if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape:
            found = getattr(out, "shape", type(out).__name__), getattr(out, "dtype", "")
            raise ShapeError(f"out must be a float64 array of shape {shape}, not {found}")
        if not out.flags.writeable:
            raise InputError("out is read-only")
        if out.size and _repeats(out):
            raise InputError("out repeats its memory: each result needs a place of its own")
        if any(_overlap(out, a) for a in flat):
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
        several = is_whole(threads) and threads > 1
        length = chunk_rows(self._row_cost, 2 if several else 1)

        def chunk(start: int) -> NDArray[np.intp]:
            end = min(start + length, rows.shape[0])
            part = [a[start:end] for a in inputs]
            if self._rows(part, [rows[start:end]]) < 0:
                return np.zeros(0, dtype=np.intp)
            found = self._not_finite(part, rows[start:end])
            if on_bad == "raise" and found.size:
                raise InputError(self._reason(inputs, start + int(found[0]), lead))
            self._recompute(part, rows[start:end], found)
            return found + start

        marks = in_parallel(chunk, range(0, rows.shape[0], length), threads)
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
        for name, values in zip(self.signature.input_names, inputs, strict=True):
            for k, value in enumerate(values[row]):
                if not np.isfinite(value):
                    label = f" ({self._labels[name][k]})" if name in self._labels else ""
                    return f"{name}[{k}]{label}{where} is {value}; it must be a finite number"
        if self.recipe.causes is not None:
            names = self.signature.input_names
            given = {name: values[row] for name, values in zip(names, inputs, strict=True)}
            if known := self.recipe.causes(given):
                return f"{self.signature.name}{where} has no finite result: {known}"
        causes = "the numbers are too large for float64, or a quaternion's length is zero, below "
        causes += "1e-154 or above 1e154"
        if "free_motions" in self.recipe.about:
            causes += (
                ", or the mechanism is at a singularity, where the actuated joints cannot hold it"
            )
            causes += " (see Robot.singularities)"
        if {"tau", "armature"} <= set(self.signature.input_names):
            causes += ", or a joint moves nothing that has inertia"
        return f"{self.signature.name}{where} has no finite result: {causes}"


def _repeats(out: Floats) -> bool:
    """Whether elements of an array share memory; yes for strides that are seldom apart."""
    steps = sorted((abs(s), n) for s, n in zip(out.strides, out.shape, strict=True) if n > 1)
    spanned = out.itemsize
    for step, n in steps:
        if step < spanned:
            return True
        spanned += step * (n - 1)
    return False


def _overlap(out: Floats, a: Floats) -> bool:
    """Whether an element of ``out`` lies in ``a``; yes where that takes long to find out."""
    most: Any = 1000  # candidates that are looked at
    try:
        return bool(np.shares_memory(out, a, max_work=most))
    except np.exceptions.TooHardError:
        return True


def build(
    source: Recipe | Traced,
    *,
    compiler: Compiler | None = None,
    labels: Labels | None = None,
    most_threads: int = 1,
) -> Kernel:
    """A kernel of a recipe, or of what is traced already.

    What the compiler's cache has is neither traced nor compiled. ``labels`` names the elements of
    the inputs, by input, for messages; ``most_threads`` bounds the number of threads that a long
    batch takes by itself.
    """
    recipe = source if isinstance(source, Recipe) else recipe_of(source)
    compiler = compiler or Compiler()
    rows = rows_of(recipe, compiler)
    return Kernel(recipe, rows, compiler, labels=labels, most_threads=most_threads)


def rows_of(recipe: Recipe, compiler: Compiler) -> CompiledRows:
    """The machine code of a recipe; what the compiler's cache has is not traced."""
    rows = CompiledRows.stored(recipe, compiler)
    if rows is not None:
        return rows
    with compiler.work(recipe.title):
        signature = recipe.signature()
    return CompiledRows(recipe, compiler, signature)


# --- the machine code: a scalar version and one with a configuration a lane ---

Floats = NDArray[np.float64]

_LONG = 3_000
"""Code with more instructions is not simplified: that takes half the time and gains 5 per cent."""

_HELD = 1_500_000
"""Rows times instructions that are computed without letting other threads run: some 0.1 ms."""


class CompiledRows:
    """Computes rows of matrices in place; returns -1 or the first row that is not finite.

    Both versions are made, or taken from the cache, when they are first needed.
    """

    def __init__(self, recipe: Recipe, compiler: Compiler, signature: Signature) -> None:
        self._recipe, self.compiler = recipe, compiler
        self.signature = signature
        self._parts: dict[str, Part] = {}
        self._shared: Floats | None = None  # scratch of calls that hold the global lock

    @staticmethod
    def stored(recipe: Recipe, compiler: Compiler) -> CompiledRows | None:
        """The entries that the cache has of a recipe, both versions or one; None for neither."""
        for part in ("scalar", "vector"):
            made = compiler.find(_part_key(recipe, part))
            signature = _signature(made)
            if made is None or signature is None:
                continue
            rows = CompiledRows(recipe, compiler, signature)
            rows._parts[part] = Part(made, signature)
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

    def scalar_part(self) -> Part:
        """The version for one configuration, with the fast call where the process allows it."""
        return self._part("scalar", 1)

    def vector_part(self) -> Part:
        """The version with a configuration a lane."""
        return self._part("vector", self.width)

    def _part(self, name: str, width: int) -> Part:
        found = self._parts.get(name)
        if found is not None:
            return found
        with COMPILING:
            if name not in self._parts:
                key = _part_key(self._recipe, name)
                make = partial(self._make, width)
                made = self.compiler.code(key, make, what=self._recipe.title)
                self._parts[name] = Part(made, self.signature)
                self._connect()
            return self._parts[name]

    def _make(self, width: int) -> tuple[Facts, bytes]:
        # not for cached code
        from linkwork.compile.rolled_rows import emit_code  # noqa: PLC0415

        target, signature = self.compiler.target, self.signature
        module, abi = new_module(signature.name, target), array_abi()
        graph = self._recipe.code(fused=target.fused)
        rows = emit_code(module, graph, width, "rows", fused=target.fused)
        if width == target.width:
            emit_listed(module, rows.function)
        one = width == 1 and len(signature.output_shapes) == 1
        if one and abi is not None and rows.scratch == 0:
            sizes, shape = graph.input_sizes, signature.output_shapes[0]
            batch_rows = _HELD // max(signature.instructions, 1)
            emit_fast_call(module, rows.function, sizes, shape, abi, batch_rows=batch_rows)
        n = graph.n_assignments
        code = object_code(module, target, simplify=n <= _LONG, quick=n > VERY_LONG)
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
            scratch=address(self._shared),
        )

    def __call__(self, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> int:
        """Compute all rows into ``outputs``."""
        n = outputs[0].shape[0]
        part = self.scalar_part() if n == 1 else self.vector_part()
        return part.run(n, inputs, outputs)


def _part_key(recipe: Recipe, part: str) -> tuple[str, ...]:
    """The key that a version is kept under; empty where it is not kept."""
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


class Part:
    """One version: the code and how it is called."""

    def __init__(self, made: Made, signature: Signature) -> None:
        self.made = made
        self.scratch = int(made.facts["scratch"])
        n_pointers = len(signature.input_shapes) + len(signature.output_shapes) + 1
        kind = ctypes.CFUNCTYPE(
            ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * n_pointers
        )
        self._call: Callable[..., int] = kind(made.code.address("rows"))

    @cached_property
    def listed(self) -> int:
        """The address of `emit_listed`, for native code; of the vector code."""
        return self.made.code.address("listed")

    def new_scratch(self) -> Floats:
        """Room for the tiles that are too large for the stack, aligned to a cache line."""
        return aligned(max(self.scratch, 1))

    def run(self, n: int, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> int:
        """Compute n rows; every call has a scratch of its own, so threads do not meet."""
        pointers: list[Any] = [address(a) for a in (*inputs, *outputs)]
        scratch = self.new_scratch() if self.scratch else None
        return self._call(0, n, *pointers, None if scratch is None else address(scratch))
