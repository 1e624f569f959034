"""The operations of every algorithm, on three back ends; see `protocol.py` for what each means.

`ops_of(*blocks)` gives the back end whose type the blocks have. Importing this package loads
neither CasADi nor JAX: a block of theirs can only exist once its library has been imported.
"""

from __future__ import annotations

from typing import Any

from linkwork.ops.protocol import Block, Condition, Ops

__all__ = ["Block", "Condition", "Ops", "ops_of"]


def ops_of(*blocks: Any) -> Ops:
    """The back end of these blocks; NumPy where all are arrays, numbers or sequences of them.

    A NumPy array or a number may stand beside blocks of CasADi or JAX, which then decide.

    Raises: TypeError for CasADi's ``MX`` and ``DM``, and where CasADi and JAX are mixed.
    """
    casadi = jax = False
    for block in blocks:
        library = type(block).__module__.partition(".")[0]
        if library == "casadi":
            _refuse_other_casadi(block)
            casadi = True
        elif library in ("jax", "jaxlib"):
            jax = True
    if casadi and jax:
        raise TypeError(
            "blocks of CasADi and of JAX in one call: "
            + ", ".join(type(block).__name__ for block in blocks)
            + "; give all of them in one library"
        )
    if casadi:
        from linkwork.ops.casadi import CASADI  # noqa: PLC0415 -- loaded on use

        return CASADI
    if jax:
        from linkwork.ops.jax import JAX  # noqa: PLC0415 -- loaded on use

        return JAX
    from linkwork.ops.numpy import NUMPY  # noqa: PLC0415 -- loaded on use

    return NUMPY


def _refuse_other_casadi(block: Any) -> None:
    name = type(block).__name__
    if name != "SX":
        raise TypeError(
            f"a block of CasADi's type {name}: only SX is taken; "
            "make the inputs with casadi.SX.sym, and call the resulting Function with MX or DM"
        )
