"""The operations on JAX arrays: for ``jit``, ``vmap`` and ``grad``.

Numbers are float32 unless ``jax_enable_x64`` is on, as everywhere in JAX. Products of vectors ask
for full precision, because GPUs otherwise round the factors of a float32 product to ten bits; the
operator ``@`` cannot ask, so whoever jits an algorithm does it under
``jax.default_matmul_precision("highest")``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy
import numpy as np

import jax
from linkwork.ops.numpy import ArrayOps
from linkwork.ops.protocol import Block, Condition, Ops

jnp: Any = jax.numpy  # its types are those of arrays; a block may be anything that acts as one


class JaxOps(ArrayOps):
    """JAX's meaning of each operation; scalars are arrays of shape ()."""

    name = "jax"
    xp = jnp

    def scalar(self, x: Block) -> Block:
        """Integers become floats that take the type of the array they meet."""
        return float(x) if _is_number(x) else x

    def const(self, value: Any) -> Block:
        """The value in JAX's default float type; a float array of JAX's keeps its own."""
        if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jnp.floating):
            return value
        return jnp.asarray(value, dtype=float)

    def vector(self, scalars: Sequence[Block]) -> Block:
        return self._stack(scalars, axis=0)

    def matrix(self, columns: Sequence[Block]) -> Block:
        return self._stack(columns, axis=1)

    def concat(self, vectors: Sequence[Block]) -> Block:
        return jnp.concatenate([self.const(v) for v in vectors])

    def dot(self, a: Block, b: Block) -> Block:
        return jnp.dot(a, b, precision=jax.lax.Precision.HIGHEST)

    def cross(self, a: Block, b: Block) -> Block:
        a, b = jnp.asarray(a), jnp.asarray(b)
        return _turn(a * _turn(b) - _turn(a) * b)

    def outer(self, a: Block, b: Block) -> Block:
        return jnp.asarray(a)[:, None] * jnp.asarray(b)[None, :]

    def select(self, condition: Condition, a: Block, b: Block) -> Block:
        """One of the two; the gradient of both is taken, so both must be finite."""
        return jnp.where(condition, self.scalar(a), self.scalar(b))

    def _stack(self, blocks: Sequence[Block], axis: int) -> Block:
        """Numbers become arrays of the type that the arrays beside them have."""
        if all(map(_is_number, blocks)):
            return jnp.asarray(np.array(blocks, dtype=np.float64), dtype=float)
        return jnp.stack([self.scalar(block) for block in blocks], axis=axis)


def _is_number(block: Any) -> bool:
    return isinstance(block, (int, float, np.number))


def _turn(v: Block) -> Block:
    """(x, y, z) becomes (y, z, x)."""
    return jnp.concatenate([v[1:3], v[0:1]])


JAX: Ops = JaxOps()
"""The JAX back end."""
