"""Linkwork's mathematics in JAX: the compiled kernels as functions of JAX arrays."""

from __future__ import annotations

from importlib.util import find_spec

from linkwork.errors import MissingExtraError

if find_spec("jax") is None:
    raise MissingExtraError(
        "linkwork.jax needs JAX, which is not installed: pip install 'linkwork[jax]'"
    )

from linkwork.jax.compiled import Compiled, compiled

__all__ = ["Compiled", "compiled"]
