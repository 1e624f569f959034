"""The list of algorithms: what each one takes, what it gives, and how to run it here and now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from linkwork.algorithms import configuration
from linkwork.algorithms.center_of_mass import com, com_jacobian
from linkwork.algorithms.forward_kinematics import fk, fk_all
from linkwork.algorithms.jacobian import jacobian
from linkwork.algorithms.jacobian_derivative import jacobian_dot_v
from linkwork.errors import ShapeError, UnknownNameError
from linkwork.mechanism.model import Mechanism
from linkwork.ops import ops_of
from linkwork.ops.protocol import Block

Kind = Literal["q", "v"]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Algorithm:
    """One algorithm: ``function(o, m, *inputs, **static)`` on blocks of one configuration.

    It returns one block, or a list of blocks of one shape; `output` then has its length first.
    """

    name: str
    function: Callable[..., Block]
    inputs: tuple[tuple[str, Kind], ...]  # name, and kind: nq or nv numbers
    static: tuple[str, ...]  # names of the arguments that are fixed before tracing
    output: Callable[[Mechanism], Shape]

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (self.function.__doc__ or "").partition("\n")[0].strip()

    def sizes(self, m: Mechanism) -> dict[str, int]:
        """The length of each input."""
        return {name: m.n_q if kind == "q" else m.n_v for name, kind in self.inputs}


_Q: tuple[tuple[str, Kind], ...] = (("q", "q"),)
_QV: tuple[tuple[str, Kind], ...] = (("q", "q"), ("v", "v"))
_QQ: tuple[tuple[str, Kind], ...] = (("q0", "q"), ("q1", "q"))

ALGORITHMS: dict[str, Algorithm] = {
    entry.name: entry
    for entry in (
        Algorithm("fk", fk, _Q, ("frame",), lambda m: (4, 4)),
        Algorithm("fk_all", fk_all, _Q, (), lambda m: (len(m.frame_names), 4, 4)),
        Algorithm("jacobian", jacobian, _Q, ("frame", "reference"), lambda m: (6, m.n_v)),
        Algorithm("jacobian_dot_v", jacobian_dot_v, _QV, ("frame", "reference"), lambda m: (6,)),
        Algorithm("com", com, _Q, (), lambda m: (3,)),
        Algorithm("com_jacobian", com_jacobian, _Q, (), lambda m: (3, m.n_v)),
        Algorithm("integrate", configuration.integrate, _QV, (), lambda m: (m.n_q,)),
        Algorithm("difference", configuration.difference, _QQ, (), lambda m: (m.n_v,)),
        Algorithm("full", configuration.full, _Q, (), lambda m: (configuration.n_full(m),)),
    )
}
"""Every algorithm by name."""


def find(name: str) -> Algorithm:
    """The algorithm of this name.

    Raises: UnknownNameError with the nearest names.
    """
    try:
        return ALGORITHMS[name]
    except (KeyError, TypeError):
        raise UnknownNameError("algorithm", name, tuple(ALGORITHMS)) from None


def evaluate(name: str, m: Mechanism, *arrays: Any, **static: Any) -> Any:
    """Run an algorithm for one configuration on the back end that the arrays belong to.

    NumPy arrays or numbers give a NumPy array; JAX arrays, also under ``jit``, ``vmap`` and
    ``grad``, a JAX array; CasADi ``SX`` a block, or a list of them. A batch is not taken:
    `jax.vmap` or a compiled kernel does that.

    Raises: UnknownNameError, and ShapeError for an input of the wrong length.
    """
    entry = find(name)
    o = ops_of(*arrays)
    sizes = entry.sizes(m)
    if len(arrays) != len(sizes):
        raise ShapeError(f"{name} takes {', '.join(sizes)}; {len(arrays)} arrays came")
    blocks: list[Block] = []
    for array, (key, size) in zip(arrays, sizes.items(), strict=True):
        block = o.const(array) if o.name != "casadi" else array
        expected = (size, 1) if o.name == "casadi" else (size,)
        if block.shape != expected:
            raise ShapeError(
                f"{name}: {key} of '{m.name}' has the shape {expected}, not {block.shape}; "
                "one configuration at a time is taken here"
            )
        blocks.append(block)
    result: Block = entry.function(o, m, *blocks, **static)
    if not isinstance(result, list) or o.name == "casadi":
        return cast(Block, result)
    matrices = cast(list[Block], result)
    if o.name == "jax":
        import jax.numpy as jnp  # noqa: PLC0415  loaded already: the arrays are JAX's

        return jnp.stack(matrices)
    return np.stack(matrices)
