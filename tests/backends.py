"""Running a function of blocks on every back end, with NumPy arrays in and out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import casadi as ca
import numpy as np
import pytest

from linkwork.compile.optable import OP_TABLE
from linkwork.ops import Ops
from linkwork.ops.casadi import CASADI
from linkwork.ops.graph import ZERO, Expressions, GraphOps
from linkwork.ops.numpy import NUMPY

BACKENDS = (
    "numpy", "graph", "graph-constants", "casadi", "casadi-constants", "jax", "jax-jit",
    "jax-float32",
)  # fmt: skip
"""The graph and CasADi on symbols and on constants (which fold), JAX eagerly and compiled, in both
precisions."""

PRECISE = BACKENDS[:-1]


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
    if backend.startswith("casadi"):
        return _casadi(function, values, symbols=backend == "casadi")
    with jax_x64(on=not backend.endswith("float32")):
        from linkwork.ops.jax import JAX  # noqa: PLC0415 -- only where JAX is installed

        return _jax(JAX, function, values, compiled=backend == "jax-jit")


def _graph(function: Callable[..., Any], values: list[Any], symbols: bool) -> Any:
    """On a graph whose expressions are then computed one by one."""
    o = GraphOps()
    blocks = [o.const(v) for v in values]
    given: dict[int, float] = {ZERO: 0.0}
    if symbols:
        blocks = []
        for k, v in enumerate(values):
            own = o.input(k, v.size)
            given |= dict(zip(own.numbers, v.ravel().tolist(), strict=True))
            blocks.append(Expressions(o.graph, v.shape, own.numbers))
    result = _each(function(o, *blocks), o.const)
    found = [*result] if isinstance(result, tuple) else [result]
    for k in o.graph.needed([block.numbers for block in found]):
        if k not in given:
            value = o.graph.values[k]
            operation = OP_TABLE.get(o.graph.operations[k])
            assert symbols or value is not None, "constants fold"
            arguments = [np.float64(given[a]) for a in o.graph.arguments[k]]
            given[k] = float(operation.numpy(*arguments)) if value is None else value
    return _each(
        result,
        lambda block: np.array([given[k] for k in block.numbers]).reshape(block.shape)[()],
    )


def _casadi(function: Callable[..., Any], values: list[Any], symbols: bool) -> Any:
    if not symbols:
        result = function(CASADI, *(CASADI.const(v) for v in values))
        return _each(result, lambda block: _dense(ca.DM(_checked(block))))
    names = [ca.SX.sym(f"x{i}", *_rows_columns(v)) for i, v in enumerate(values)]
    result = function(CASADI, *names)
    blocks = [*result] if isinstance(result, (tuple, list)) else [result]
    compute = ca.Function("f", names, [_checked(block) for block in blocks])
    out = [_dense(block) for block in compute.call([ca.DM(v) for v in values])]
    return tuple(out) if isinstance(result, (tuple, list)) else out[0]


def _checked(block: Any) -> Any:
    assert isinstance(block, (ca.SX, int, float)), f"not an SX: {type(block)}"
    return ca.SX(block)


def _rows_columns(v: np.ndarray) -> tuple[int, int]:
    return (v.shape[0] if v.ndim else 1, v.shape[1] if v.ndim == 2 else 1)


def _dense(block: Any) -> np.ndarray:
    full = np.asarray(block.full())
    if full.shape == (1, 1):
        return full[0, 0]
    return full[:, 0] if full.shape[1] == 1 else full


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
