"""Functions too large to unroll, evaluated by CasADi's own machine, row by row."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.tracing import Traced

Floats = NDArray[np.float64]


class InterpretedRows:
    """The same contract as compiled rows: results in place, -1 or the first bad row back.

    It uses only plain multiplications and additions, so its last digits may differ from those of
    compiled code, never from one call to the next.
    """

    width = 1

    def __init__(self, traced: Traced) -> None:
        self.signature = traced.signature
        self._function = function = traced.function
        self._places = [
            np.array(function.sparsity_out(k).row(), dtype=np.int64)
            for k in range(function.n_out())
        ]
        self._lock = threading.Lock()  # CasADi's buffers are one set per function

    def __call__(self, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> int:
        """Evaluate every row into ``outputs``."""
        with self._lock:
            return self._evaluate(inputs, outputs)

    def _evaluate(self, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> int:
        pair: Any = self._function.buffer()
        buffer, evaluate = pair
        arguments = [np.zeros(a.shape[1]) for a in inputs]
        results = [np.zeros(places.size) for places in self._places]
        for k, a in enumerate(arguments):
            buffer.set_arg(k, a.data)
        for k, a in enumerate(results):
            buffer.set_res(k, a.data)
        for a, places in zip(outputs, self._places, strict=True):
            if places.size < a.shape[1]:
                a[:] = 0.0  # elements that are always zero are not among the results
        for row in range(outputs[0].shape[0]):
            for argument, a in zip(arguments, inputs, strict=True):
                argument[:] = a[row]
            evaluate()
            for result, places, a in zip(results, self._places, outputs, strict=True):
                a[row, places] = result
            if not all(np.isfinite(a).all() for a in (*arguments, *results)):
                return row
        return -1
