"""Compiled functions that know their derivatives, which are such functions again.

Rows go in and out, a table (n, size) for each input and output: what JAX and PyTorch have in common
stands here. A derivative is traced and compiled when it is first computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.compiler import Compiler, ProcessBound
from linkwork.compile.derivatives import Direction, derivative_recipe
from linkwork.compile.kernel import CompiledRows, rows_of
from linkwork.compile.machine_code import COMPILING
from linkwork.compile.recipe import Recipe
from linkwork.compile.threads import chunk_rows, in_parallel, row_cost_ns, threads_for
from linkwork.errors import UnsupportedFeatureError

Floats = NDArray[np.float64]


class Origin(NamedTuple):
    """The origin of a derivative: the function, the way and the inputs."""

    function: Differentiable
    direction: Direction
    wrt: tuple[int, ...]


class Differentiable(ProcessBound):
    """A compiled function of vectors, with its derivatives along changes and backwards.

    ``origin`` is None for a function that is no derivative. A derivative takes the inputs of its
    function first: those from ``n_given`` on are what it is linear in.
    """

    def __init__(
        self,
        recipe: Recipe,
        compiler: Compiler,
        *,
        most_threads: int = 1,
        origin: Origin | None = None,
    ) -> None:
        self.recipe, self.origin = recipe, origin
        self._compiler, self._most_threads = compiler, most_threads
        self._derivatives: dict[tuple[Direction, tuple[int, ...]], Differentiable] = {}
        self._rows: CompiledRows | None = None

    @property
    def title(self) -> str:
        """The name of the function, and the robot's."""
        return self.recipe.title

    @property
    def order(self) -> int:
        """The number of times that it has been differentiated."""
        return 0 if self.origin is None else self.origin.function.order + 1

    @cached_property
    def input_sizes(self) -> tuple[int, ...]:
        """The length of each input."""
        if self.origin is None:
            return self.rows.signature.input_sizes
        own, direction, wrt = self.origin
        sizes = own.input_sizes
        more = [sizes[k] for k in wrt] if direction == "along" else own.output_sizes
        return (*sizes, *more)

    @cached_property
    def output_sizes(self) -> tuple[int, ...]:
        """The length of each output."""
        if self.origin is None:
            return self.rows.signature.output_sizes
        own, direction, wrt = self.origin
        return own.output_sizes if direction == "along" else tuple(own.input_sizes[k] for k in wrt)

    @property
    def n_given(self) -> int:
        """The number of inputs before those that it is linear in; all of what is no derivative."""
        return len((self if self.origin is None else self.origin.function).input_sizes)

    @property
    def rows(self) -> CompiledRows:
        """The machine code; made at first use."""
        if self._rows is None:
            with COMPILING:
                if self._rows is None:
                    self._rows = rows_of(self.recipe, self._compiler)
        return self._rows

    @property
    def in_loops(self) -> bool:
        """Whether it is compiled as loops over joints, which have no derivative of their own."""
        return self.recipe.rolled() is not None

    def derivative(self, direction: Direction, wrt: Sequence[int]) -> Differentiable:
        """The derivative by some inputs, numbers in rising order; see `derivative_recipe`.

        Raises: UnsupportedFeatureError where the function is compiled as loops over joints.
        """
        key = direction, tuple(wrt)
        found = self._derivatives.get(key)
        if found is None:
            if self.in_loops:
                raise UnsupportedFeatureError(
                    f"{self.title} has no compiled derivative: the mechanism is long, and its "
                    "functions are compiled as loops over the joints; linkwork.jax "
                    "differentiates the same function (docs/jax.md)"
                )
            made = Differentiable(
                derivative_recipe(self.recipe, direction, key[1]),
                self._compiler,
                most_threads=self._most_threads,
                origin=Origin(self, direction, key[1]),
            )
            found = self._derivatives.setdefault(key, made)
        return found

    def __call__(self, *inputs: Floats) -> list[Floats]:
        """Compute rows: contiguous float64 tables (n, size) in, new ones out.

        A row whose inputs or results are not finite is NaN in every output. Long batches take
        threads.
        """
        n = inputs[0].shape[0]
        outputs = [np.empty((n, size)) for size in self.output_sizes]
        if n == 0:
            return outputs
        signature, width = self.rows.signature, self.rows.width
        cost = row_cost_ns(signature.instructions, sum(signature.output_sizes), width)
        threads = threads_for(n, cost, self._most_threads)
        length = chunk_rows(cost, threads)

        def chunk(start: int) -> None:
            part = slice(start, min(start + length, n))
            self._compute([a[part] for a in inputs], [a[part] for a in outputs])

        in_parallel(chunk, range(0, n, length), threads)
        return outputs

    def _compute(self, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> None:
        """The rows of a chunk; around one that is not finite they are computed one by one."""
        n, start, width = inputs[0].shape[0], 0, self.rows.width
        while start < n:
            bad = self.rows([a[start:] for a in inputs], [a[start:] for a in outputs])
            if bad < 0:
                return
            first = start + bad
            start = min(first + width, n)
            for k in range(first, start):
                row: list[Any] = [a[k : k + 1] for a in outputs]
                if self.rows([a[k : k + 1] for a in inputs], row) >= 0:
                    for each in row:
                        each[:] = np.nan
