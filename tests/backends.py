"""Running a function of blocks on every back end, with NumPy arrays in and out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pytest

from graph_values import of_graph
from linkwork.ops import Ops
from linkwork.ops.dual import Duals
from linkwork.ops.graph import Expressions, GraphOps
from linkwork.ops.numpy import NUMPY

BACKENDS = ("numpy", "dual", "graph", "graph-constants", "jax", "jax-float32")
"""The graph on symbols and on constants (which fold), dual numbers over NumPy, JAX compiled in
float64, and operation by operation in float32."""


def eps(backend: str) -> float:
    """The rounding unit that a back end's results are judged by."""
    return float(np.finfo(np.float32 if backend.endswith("float32") else np.float64).eps)


def jax_x64(on: bool = True) -> contextlib.AbstractContextManager[Any]:
    """JAX with float64 switched on or off for a while; skips the test where JAX is missing."""
    jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(on)
    from jax.experimental import enable_x64  # noqa: PLC0415 -- JAX before 0.8

    return enable_x64(on)


def run(backend: str, function: Callable[..., Any], *arrays: Any) -> Any:
    """function(o, *blocks) on a back end; tuples and lists of blocks come back as tuples."""
    values = [np.asarray(a, dtype=np.float64) for a in arrays]
    if backend == "numpy":
        return _arrays(function(NUMPY, *(NUMPY.const(v) for v in values)))
    if backend.startswith("graph"):
        return _graph(function, values, symbols=backend == "graph")
    if backend == "dual":
        d = Duals(NUMPY)
        result = function(d, *(d.const(v) for v in values))
        return _each(result, lambda block: np.asarray(d.const(block).value))
    with jax_x64(on=not backend.endswith("float32")):
        from linkwork.ops.jax import JAX  # noqa: PLC0415 -- only where JAX is installed

        return _jax(JAX, function, values, compiled=backend == "jax")


def derivative(function: Callable[..., Any], x: Any, *rest: Any) -> np.ndarray:
    """d function(o, x, *rest) / dx by dual numbers: the shape of the result, then that of x."""
    d, x = Duals(NUMPY), np.asarray(x, dtype=np.float64)
    units = np.eye(x.size).reshape(x.size, *x.shape)
    moving = d.block(NUMPY.const(x), {k: NUMPY.const(unit) for k, unit in enumerate(units)})
    found = d.const(function(d, moving, *(d.const(each) for each in rest)))
    changes = [np.asarray(d.change(found, k)) for k in range(x.size)]
    return np.stack(changes, axis=-1).reshape((*changes[0].shape, *x.shape))


def _graph(function: Callable[..., Any], values: list[Any], symbols: bool) -> Any:
    """On a graph whose expressions are then computed one by one."""
    o = GraphOps()
    blocks = [o.const(v) for v in values]
    if symbols:
        numbers = [o.input(k, v.size).numbers for k, v in enumerate(values)]
        shapes = [v.shape for v in values]
        blocks = [Expressions(o.graph, *each) for each in zip(shapes, numbers, strict=True)]
    result = _each(function(o, *blocks), o.const)
    found = [block.numbers for block in (result if isinstance(result, tuple) else [result])]
    operations = {o.graph.operations[k] for k in o.graph.needed(found)}
    assert symbols or operations <= {"CONST"}, "constants fold"
    given = of_graph(o.graph, found, [v.ravel() for v in values])
    return _each(
        result,
        lambda block: np.array([given[k] for k in block.numbers]).reshape(block.shape)[()],
    )


def _jax(o: Ops, function: Callable[..., Any], values: list[Any], compiled: bool) -> Any:
    jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")

    call = _compiled(o, function) if compiled else partial(function, o)
    with jax.default_matmul_precision("highest"):
        return _arrays(call(*(jax.numpy.asarray(v, dtype=float) for v in values)))


@lru_cache(maxsize=16)
def _compiled(o: Ops, function: Callable[..., Any]) -> Callable[..., Any]:
    """The compiled function, kept for the next values of the same test."""
    jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
    return jax.jit(partial(function, o))


def _arrays(result: Any) -> Any:
    return _each(result, np.asarray)


def _each(result: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(result, (tuple, list)):
        return tuple(change(block) for block in result)
    return change(result)
