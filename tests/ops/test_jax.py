"""JAX's back end: under jit, vmap and grad, and in the precision that JAX is set to."""

from __future__ import annotations

import numpy as np
import pytest

from backends import jax_x64

jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
import jax.numpy as jnp  # noqa: E402 -- after the check that it is there

from linkwork.ops.jax import JAX as o  # noqa: E402


@pytest.mark.parametrize(("x64", "dtype"), [(False, np.float32), (True, np.float64)])
def test_precision_follows_the_switch(x64: bool, dtype):
    with jax_x64(x64):
        assert o.const(1).dtype == dtype
        assert o.const(np.eye(3)).dtype == dtype
        assert o.const(np.arange(3)).dtype == dtype
        assert o.vector([1, 2.0]).dtype == dtype
        assert o.matrix([o.const([1, 2]), np.array([3.0, 4.0])]).dtype == dtype
        assert o.floor(2).dtype == dtype
        assert o.absolute(-2).dtype == dtype


def test_numbers_follow_the_arrays_beside_them():
    with jax_x64(True):
        x = jnp.ones(3, dtype=jnp.float32)
        assert o.vector([x[0], 2.0, 0, np.float64(1)]).dtype == np.float32
        assert o.cross(x, x).dtype == np.float32
        assert o.select(o.less(x[0], 2.0), x, x).dtype == np.float32
        assert o.const(x) is x


def function(v):
    """Something that uses most operations, with a choice that would be 0/0 on the unused side."""
    square = o.dot(v, v)
    small = o.less(square, 1e-4)
    size = o.sqrt(o.maximum(square, 0.9e-4))
    sinc = o.select(small, 1.0 - o.minimum(square, 1.1e-4) / 6.0, o.sin(size) / size)
    turned = o.cross(v, o.const([0.0, 0.0, 1.0])) * sinc
    return o.matrix([v, turned]) @ o.vector([sinc, o.atan2(turned[0], 2.0)])


def test_jit_and_vmap_give_what_single_calls_give():
    vs = np.concatenate([np.zeros((1, 3)), np.random.default_rng(0).normal(size=(6, 3))])
    with jax_x64(True):
        singles = np.stack([function(jnp.asarray(v)) for v in vs])
        batch = jax.jit(jax.vmap(function))(jnp.asarray(vs))
        np.testing.assert_allclose(batch, singles, rtol=0, atol=1e-15)


@pytest.mark.parametrize("transform", [jax.jacfwd, jax.jacrev])
def test_gradients_are_finite_on_both_sides_of_a_choice(transform):
    compiled, sloped = jax.jit(function), jax.jit(transform(function))
    with jax_x64(True):
        for v in ([0.0, 0.0, 0.0], [1e-9, 0.0, 0.0], [0.3, -0.2, 1.0]):
            slope = np.asarray(sloped(jnp.array(v)))
            assert np.isfinite(slope).all()
            step = 1e-6
            differences = [
                (compiled(jnp.array(v) + e) - compiled(jnp.array(v) - e)) / (2 * step)
                for e in step * np.eye(3)
            ]
            np.testing.assert_allclose(slope, np.stack(differences, axis=1), atol=1e-9)


def test_nothing_is_computed_in_python_numbers_under_jit():
    # a concrete value would be asked for here, and JAX would raise
    jax.jit(lambda x: o.select(o.both(o.less(x, 1.0), o.negate(o.less(x, 0.0))), x, -x))(0.5)
