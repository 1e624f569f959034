"""Functions too large to unroll, evaluated by CasADi's own machine, row by row."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import casadi as cs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class InterpretedRows:
    """The same contract as compiled rows: results in place, -1 or the first bad row back.

    It uses only plain multiplications and additions, so its last digits may differ from those of
    compiled code, never from one call to the next.
    """

    def __init__(self, function: cs.Function) -> None:
        self._function = _dense_outputs(function)
        self._lock = threading.Lock()  # CasADi's buffers are one set per function
        self._buffer: Any = None

    def __call__(self, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> int:
        """Evaluate every row into ``outputs``."""
        with self._lock:
            return self._evaluate(inputs, outputs)

    def _evaluate(self, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> int:
        buffer, evaluate = self._function.buffer()
        arguments = [np.zeros(a.shape[1]) for a in inputs]
        results = [np.zeros(a.shape[1]) for a in outputs]
        for k, a in enumerate(arguments):
            buffer.set_arg(k, memoryview(a))
        for k, a in enumerate(results):
            buffer.set_res(k, memoryview(a))
        for row in range(outputs[0].shape[0]):
            for argument, a in zip(arguments, inputs, strict=True):
                argument[:] = a[row]
            evaluate()
            for result, a in zip(results, outputs, strict=True):
                a[row] = result
            finite = all(np.isfinite(a).all() for a in (*arguments, *results))
            if not finite:
                return row
        return -1


def _dense_outputs(function: cs.Function) -> cs.Function:
    inputs = [cs.SX.sym(f"i{k}", function.sparsity_in(k)) for k in range(function.n_in())]
    outputs = function.call(inputs)
    return cs.Function(function.name(), inputs, [cs.densify(output) for output in outputs])
