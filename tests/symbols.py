"""Algorithms on CasADi's SX, whose differentiation and whose machine are judges of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as cs
import numpy as np

from linkwork.algorithms import registry
from linkwork.compile.symbolic import on_symbols
from linkwork.mechanism.model import Mechanism


def evaluate(
    name: str,
    m: Mechanism,
    *arrays: Any,
    parameters: Mapping[str, Any] | None = None,
    **static: Any,
) -> Any:
    """`registry.evaluate`, which takes SX as well: an SX then, or a list of them."""
    given = dict(parameters or {})
    blocks = [*arrays, *given.values()]
    n = len(arrays)

    def run(*blocks: Any) -> Any:
        values = dict(zip(given, blocks[n:], strict=True))
        return registry.evaluate(name, m, *blocks[:n], parameters=values, **static)

    if any(isinstance(block, cs.SX) for block in blocks):
        return on_symbols(lambda o, *lifted: run(*lifted), *blocks)
    return run(*blocks)


def as_column(result: Any) -> cs.SX:
    """A block, or a list of them, as one dense column in row-major order."""
    blocks = result if isinstance(result, list) else [result]
    # CasADi counts column after column: transposed, a matrix comes out row after row
    return cs.vertcat(*[cs.vec(cs.densify(block).T) for block in blocks])


def on_rows(function: cs.Function, *rows: np.ndarray) -> np.ndarray:
    """The first output of a function of columns, on rows of inputs: a row for each."""
    return np.array(function(*[cs.DM(np.array(row).T) for row in rows])).T
