"""Arrays of other libraries at the border of `Robot`: a right answer, or what to do instead."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError


class OnGpu:
    """The interface of CuPy's array: no conversion to NumPy but by `get`."""

    def __init__(self, a):
        self._a = np.asarray(a)
        self.shape, self.dtype, self.ndim = self._a.shape, self._a.dtype, self._a.ndim

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape}

    def get(self):
        return self._a

    def __len__(self):
        return len(self._a)

    def __getitem__(self, k):
        return OnGpu(self._a[k])

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


OnGpu.__module__ = "cupy"


@pytest.fixture(scope="module")
def robot():
    return lw.load("panda")


CALLS = {
    "fk": lambda r, a: r.fk(a),
    "dynamics": lambda r, a: r.inverse_dynamics(a, a, a),
    "armature": lambda r, a: r.mass_matrix(np.zeros(7), armature=a),
    "q0 of ik": lambda r, a: r.ik(r.fk(np.zeros(7)), q0=a).q,
    "simulate": lambda r, a: lw.simulate(r, a, duration=0.002).q,
    "collision": lambda r, a: np.asarray(r.collision().collides(a)),
}


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(call, id=name, marks=[pytest.mark.slow] if name == "collision" else [])
        for name, call in CALLS.items()
    ],
)
def test_of_jax_and_cupy(robot, call):
    q = np.zeros(7)
    expected = call(robot, q)
    np.testing.assert_array_equal(call(robot, jnp.asarray(q)), expected)
    np.testing.assert_array_equal(call(robot, OnGpu(q).get()), expected)
    for traced in (jax.jit, jax.vmap, jax.grad):
        given = jnp.zeros((2, 7)) if traced is jax.vmap else jnp.zeros(7)
        with pytest.raises(InputError, match=r"traced by JAX.*linkwork\.jax\.compiled\(robot\)"):
            traced(lambda a: call(robot, a).sum())(given)
    with pytest.raises(InputError, match=r"an array on a GPU \(cupy\).*\.get\(\)"):
        call(robot, OnGpu(q))


def test_lists_of_foreign_numbers(robot):
    with pytest.raises(InputError, match="traced by JAX"):
        jax.jit(lambda a: robot.fk([a[k] for k in range(7)]))(jnp.zeros(7))
    with pytest.raises(InputError, match="a list of other things"):
        robot.fk([object()] * 7)
