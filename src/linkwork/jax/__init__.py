"""Linkwork's mathematics in JAX: the compiled kernels as functions of JAX arrays."""

from __future__ import annotations

from linkwork.jax.compiled import Compiled, compiled

__all__ = ["Compiled", "compiled"]
