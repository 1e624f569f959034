"""``skrobot.backend`` and ``skrobot.pycompat``: arrays behind one set of names."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from linkwork.faces.skrobot import backend as backends
from linkwork.faces.skrobot import pycompat
from linkwork.faces.skrobot.backend import (
    BackendRegistry,
    JaxBackend,
    NumpyBackend,
    get_backend,
    list_backends,
    rodrigues_rotation,
    set_default_backend,
    skew_symmetric,
    use_backend,
)
from linkwork.faces.skrobot.coordinates.math import rodrigues, skew_symmetric_matrix
from seeds import rng

needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
BOTH = ["numpy", pytest.param("jax", marks=[needs_jax, pytest.mark.slow])]


@pytest.mark.parametrize("name", BOTH)
def test_functions_of_arrays(name: str):
    b: Any = get_backend(name)
    random = rng("skrobot backends")
    x, A = random.uniform(0.5, 2, size=3), random.normal(size=(3, 3))
    at, M = b.array(x), b.array(A)
    for made, expected in (
        (b.zeros(2), np.zeros(2)), (b.ones((2, 3)), np.ones((2, 3))), (b.eye(3), np.eye(3)),
        (b.arange(3), [0, 1, 2]), (b.arange(1, 3), [1, 2]), (b.linspace(0, 1, 3), [0, 0.5, 1]),
        (b.reshape(M, (9,)), A.ravel()), (b.transpose(M), A.T), (b.expand_dims(at, 0), [x]),
        (b.squeeze(b.ones((1, 3))), np.ones(3)), (b.stack([at, at]), [x, x]),
        (b.concatenate([at, at]), [*x, *x]), (b.take(at, [0, 2]), x[[0, 2]]),
        (b.where(at > 1, at, 0.0), np.where(x > 1, x, 0)), (b.dot(at, at), x @ x),
        (b.matmul(M, M), A @ A), (b.cross(at, M[0]), np.cross(x, A[0])),
        (b.outer(at, at), np.outer(x, x)), (b.trace(M), np.trace(A)), (b.det(M), np.linalg.det(A)),
        (b.inv(M), np.linalg.inv(A)), (b.pinv(M), np.linalg.pinv(A)),
        (b.svd(M)[1], np.linalg.svd(A)[1]), (b.eigh(M @ M.T)[0], np.linalg.eigh(A @ A.T)[0]),
        (b.norm(M, axis=1), np.linalg.norm(A, axis=1)), (b.sin(at), np.sin(x)),
        (b.cos(at), np.cos(x)), (b.arctan2(at, 2.0), np.arctan2(x, 2)), (b.sqrt(at), np.sqrt(x)),
        (b.exp(at), np.exp(x)), (b.log(at), np.log(x)), (b.abs(-at), x), (b.power(at, 2), x * x),
        (b.clip(at, 0.7, 1.0), np.clip(x, 0.7, 1)), (b.minimum(at, 1.0), np.minimum(x, 1)),
        (b.maximum(at, 1.0), np.maximum(x, 1)), (b.sum(M, axis=0), A.sum(axis=0)),
        (b.mean(at), x.mean()), (b.to_numpy(at), x),
        (b.vmap(lambda row: row @ row)(M), (A * A).sum(axis=1)),
        (b.fori_loop(0, 4, lambda i, c: c + i, 0), 6),
        (b.while_loop(lambda c: c < 5, lambda c: c + 2, 0), 6),
        (b.compile(lambda v: v + 1)(at), x + 1),
        (skew_symmetric(b, M), [skew_symmetric_matrix(row) for row in A]),
        (rodrigues_rotation(b, M, at), rodrigues(A, x)),
        (rodrigues_rotation(b, b.array([0.0, 0, 0]), b.array(0.3)), np.eye(3)),
    ):  # fmt: skip
        assert_allclose(np.asarray(made), expected, atol=1e-12)
    assert isinstance(b.to_numpy(at), np.ndarray)
    assert (b.name, b.supports_jit) == (name, name == "jax")


@pytest.mark.parametrize("name", BOTH)
def test_derivatives(name: str):
    b: Any = get_backend(name)
    f = lambda x: (x**3).sum()
    x = b.array([1.0, 2.0, 3.0])
    at = np.array([1.0, 2, 3])
    assert_allclose(b.gradient(f)(x), 3 * at**2, atol=1e-5)
    value, gradient = b.value_and_grad(f)(x)
    assert_allclose(value, 36)
    assert_allclose(gradient, 3 * at**2, atol=1e-5)
    assert_allclose(b.jacobian(lambda x: x * x)(x), np.diag(2 * at), atol=1e-5)
    assert_allclose(b.hessian(f)(x), np.diag(6 * at), atol=1e-3)


@needs_jax
@pytest.mark.slow
def test_what_only_jax_has():
    b = JaxBackend(enable_x64=True)
    assert_array_equal(b.at_set(b.zeros(3), 1, 5.0), [0, 5, 0])
    assert_array_equal(b.at_add(b.ones(3), 1, 5.0), [1, 6, 1])
    assert b.cond(True, lambda x: x + 1, lambda x: x, 1) == 2
    assert b.scan(lambda c, x: (c + x, c), 0.0, b.array([1.0, 2.0]))[0] == 3


def test_backends_by_name():
    assert get_backend("numpy") is get_backend("numpy")
    assert get_backend("numpy", dtype=np.float32).zeros(2).dtype == np.float32
    assert list_backends()[0] == "numpy"
    assert ("jax" in list_backends()) == pycompat.HAS_JAX == pycompat.has_jax()
    assert pycompat.is_wsl() in (True, False)
    for call in (get_backend, set_default_backend):
        with pytest.raises(ValueError, match="Available backends"):
            call("torch")
    with use_backend("numpy") as b:
        assert get_backend() is b is get_backend("numpy")

    class Own(NumpyBackend):
        name = "own"

    BackendRegistry.register("own", Own)
    with use_backend("own"):
        assert get_backend().name == "own"
        set_default_backend("numpy")
        assert get_backend().name == "numpy"
    BackendRegistry.clear_cache()
    assert isinstance(get_backend("own"), Own)
    assert backends.NumpyBackend().vmap(lambda a, c: a + c, (0, None))(np.ones(2), 1).tolist() == [
        2.0, 2.0
    ]  # fmt: skip
    with pytest.raises(ValueError, match="one length"):
        NumpyBackend().vmap(lambda a, c: a + c)(np.ones(2), np.ones(3))
