"""The operations of every algorithm, on each back end; see `protocol.py` for what each means.

`ops_of(*blocks)` gives the back end whose type the blocks have. Importing this package does not
load JAX: a block of its own can only exist once it has been imported.
"""

from __future__ import annotations

from typing import Any

from linkwork.ops.protocol import Block, Condition, Ops

__all__ = ["Block", "Condition", "Ops", "ops_of"]


def ops_of(*blocks: Any) -> Ops:
    """The back end of these blocks; NumPy where all are arrays, numbers or sequences of them.

    A NumPy array or a number may stand beside blocks of a graph or of JAX, which then decide.

    Raises: TypeError for blocks of CasADi, and where a graph and JAX are mixed.
    """
    graphs, jax = [], False
    for block in blocks:
        library = type(block).__module__.partition(".")[0]
        if library == "casadi":
            raise TypeError(
                f"a block of CasADi's type {type(block).__name__}: Robot.symbolic gives algorithms "
                "as CasADi functions, which take SX, MX and DM"
            )
        if library in ("jax", "jaxlib"):
            jax = True
        elif hasattr(block, "graph"):
            graphs.append(block.graph)
    if graphs and jax:
        raise TypeError(
            "blocks of a graph and of JAX in one call: "
            + ", ".join(type(block).__name__ for block in blocks)
            + "; give all of them in one library"
        )
    if graphs:
        from linkwork.ops.graph import GraphOps  # noqa: PLC0415 -- loaded on use

        return GraphOps(graphs[0])
    if jax:
        from linkwork.ops.jax import JAX  # noqa: PLC0415 -- loaded on use

        return JAX
    from linkwork.ops.numpy import NUMPY  # noqa: PLC0415 -- loaded on use

    return NUMPY
