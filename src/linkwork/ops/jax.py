"""The operations on JAX arrays: for ``jit``, ``vmap`` and ``grad``.

Numbers are float32 unless ``jax_enable_x64`` is on, as everywhere in JAX. Products of vectors ask
for full precision, because GPUs otherwise round the factors of a float32 product to ten bits; the
operator ``@`` cannot ask, so whoever jits an algorithm does it under
``jax.default_matmul_precision("highest")``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy
import numpy as np

from linkwork.ops.protocol import Block, Condition, Ops

jnp: Any = jax.numpy  # its types are those of arrays; a block may be anything that acts as one


class JaxOps:
    """JAX's meaning of each operation; scalars are arrays of shape ()."""

    name = "jax"

    def const(self, value: Any) -> Block:
        """The value in JAX's default float type; a float array of JAX's keeps its own."""
        if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jnp.floating):
            return value
        return jnp.asarray(value, dtype=float)

    def vector(self, scalars: Sequence[Block]) -> Block:
        """The scalars as an array (n,)."""
        return _stack(scalars, axis=0)

    def matrix(self, columns: Sequence[Block]) -> Block:
        """The vectors as columns."""
        return _stack(columns, axis=1)

    def concat(self, vectors: Sequence[Block]) -> Block:
        """The vectors end to end."""
        return jnp.concatenate([self.const(v) for v in vectors])

    def part(self, v: Block, start: int, stop: int) -> Block:
        """The elements start to stop - 1."""
        return v[start:stop]

    def column(self, a: Block, j: int) -> Block:
        """Column j."""
        return a[:, j]

    def row(self, a: Block, i: int) -> Block:
        """Row i."""
        return a[i, :]

    def transpose(self, a: Block) -> Block:
        """The transposed matrix."""
        return a.T

    def dot(self, a: Block, b: Block) -> Block:
        """The inner product."""
        return jnp.dot(a, b, precision=jax.lax.Precision.HIGHEST)

    def cross(self, a: Block, b: Block) -> Block:
        """The cross product of 3-vectors."""
        a, b = jnp.asarray(a), jnp.asarray(b)
        return _turn(a * _turn(b) - _turn(a) * b)

    def outer(self, a: Block, b: Block) -> Block:
        """The matrix a bᵀ."""
        return jnp.asarray(a)[:, None] * jnp.asarray(b)[None, :]

    def sin(self, x: Block) -> Block:
        """Sine."""
        return jnp.sin(x)

    def cos(self, x: Block) -> Block:
        """Cosine."""
        return jnp.cos(x)

    def atan2(self, y: Block, x: Block) -> Block:
        """The angle of (x, y)."""
        return jnp.arctan2(y, x)

    def sqrt(self, x: Block) -> Block:
        """Square root."""
        return jnp.sqrt(x)

    def floor(self, x: Block) -> Block:
        """The largest whole number not above x."""
        return jnp.floor(self.const(x))

    def absolute(self, x: Block) -> Block:
        """Absolute value."""
        return jnp.abs(self.const(x))

    def minimum(self, a: Block, b: Block) -> Block:
        """The smaller one."""
        return jnp.minimum(_number(a), _number(b))

    def maximum(self, a: Block, b: Block) -> Block:
        """The larger one."""
        return jnp.maximum(_number(a), _number(b))

    def less(self, a: Block, b: Block) -> Condition:
        """Whether a < b, as an array of bool."""
        return jnp.less(a, b)

    def both(self, a: Condition, b: Condition) -> Condition:
        """Whether both hold."""
        return jnp.logical_and(a, b)

    def either(self, a: Condition, b: Condition) -> Condition:
        """Whether one of them holds."""
        return jnp.logical_or(a, b)

    def negate(self, a: Condition) -> Condition:
        """Whether it does not hold."""
        return jnp.logical_not(a)

    def select(self, condition: Condition, a: Block, b: Block) -> Block:
        """One of the two; the gradient of both is taken, so both must be finite."""
        return jnp.where(condition, _number(a), _number(b))


def _stack(blocks: Sequence[Block], axis: int) -> Block:
    """Numbers become arrays of the type that the arrays beside them have, not the other way."""
    if all(_is_number(block) for block in blocks):
        return jnp.asarray(np.array(blocks, dtype=np.float64), dtype=float)
    return jnp.stack([_number(block) for block in blocks], axis=axis)


def _number(block: Block) -> Block:
    """Integers become floats that take the type of the array they meet."""
    return float(block) if _is_number(block) else block


def _is_number(block: Any) -> bool:
    return isinstance(block, (int, float, np.number))


def _turn(v: Block) -> Block:
    """(x, y, z) becomes (y, z, x)."""
    return jnp.concatenate([v[1:3], v[0:1]])


JAX: Ops = JaxOps()
"""The JAX back end."""
