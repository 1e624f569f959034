"""From a dict of given positions to a dict of found ones in one native call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.compiler import Compiler, Facts
from linkwork.compile.machine_code import object_code
from linkwork.compile.native_call import DictShape, Part, bind_dict_call, emit_dict_call
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.target import new_module
from linkwork.solve.pipeline import Pipeline

__all__ = ["Part", "named_call"]


def named_call(
    pipeline: Pipeline,
    compiler: Compiler,
    names: tuple[tuple[Part, ...], tuple[Part, ...]],
    near: NDArray[np.float64],
    numbers: NDArray[np.float64],
) -> Callable[[Any], dict[str, Any] | None]:
    """``call(state)``: what of q has names, of one row, from ``near``, with these options.

    ``names`` are the parts that are given, with their places among the given numbers, and those
    that are found, with their places in q. It returns None where the row is not assembled from
    there, for anything but dicts of floats, and everywhere where the layout of objects is unknown.
    """
    abi, sizes = array_abi(), pipeline.sizes
    if abi is None or not pipeline.made.facts["one"]:
        return _nothing
    shape = DictShape(*names, n_row=sizes.n_q + sizes.report, good=sizes.n_q)

    def make() -> tuple[Facts, bytes]:
        module = new_module("named", compiler.target)
        emit_dict_call(module, shape, abi)
        return {}, object_code(module, compiler.target, simplify=True)

    code = compiler.code(("dict call", repr(abi.layout), shape.layout), make).code
    kept = [np.ascontiguousarray(a, np.float64) for a in (near, numbers)]
    return bind_dict_call(
        code,
        abi,
        _Nothing(code, pipeline, kept),
        shape,
        rows=pipeline.made.code.address("one"),
        near=kept[0].ctypes.data,
        numbers=kept[1].ctypes.data,
    )


class _Nothing:
    """What the built-in function calls where it cannot answer; it keeps alive what that uses."""

    def __init__(self, *kept: object) -> None:
        self.kept = kept

    def __call__(self, *_arguments: object) -> None:
        """Nothing: the caller goes the general way."""


_nothing = _Nothing()
