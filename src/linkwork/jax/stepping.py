"""One step of time: semi-implicit Euler, or the classical method of order 4."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import jax
import jax.numpy
import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.jax import functions
from linkwork.jax.functions import External
from linkwork.jax.model import Array, Model, anchored
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.neutral import quaternion_starts
from linkwork.ops.jax import JAX
from linkwork.simulation.integrators import FIXED
from linkwork.spatial.poses import cross_motion

jnp: Any = jax.numpy

Method = Literal["rk4", "euler"]


def step(  # noqa: PLR0913  the keywords that all of dynamics has
    m: Model,
    q: ArrayLike,
    v: ArrayLike,
    dt: ArrayLike,
    tau: ArrayLike | None = None,
    *,
    method: Method = "rk4",
    external: External | None = None,
    gravity: ArrayLike | None = None,
    losses: bool = False,
    armature: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """The state (q, v) (..., nq), (..., nv) a time dt later, under constant joint forces tau.

    The numbers are those of one step of `lw.simulate`: ``"rk4"``, or ``"euler"``, which moves by
    the new velocity. ``losses``: damping counts. ``dt`` may be traced.

    Raises: ShapeError, InputError, UnknownNameError; UnsupportedFeatureError for mechanisms with
    loops, and for Coulomb friction, which `lw.simulate` holds through a step.
    """
    mechanism = functions.model_given(m)
    if mechanism.is_closed:
        raise UnsupportedFeatureError(
            "lj.step is of mechanisms without loops or couplings; lw.simulate keeps these closed"
        )
    if losses and mechanism.friction.any():
        raise UnsupportedFeatureError(
            "lj.step does not know Coulomb friction: add it to tau, or replace friction by zero in "
            "the description"
        )
    if method not in ("rk4", "euler"):
        raise InputError(f"method={method!r} is not known; there are: 'rk4', 'euler'")
    at = functions.numbers(q, mechanism.n_q, "q")
    rate = functions.numbers(v, mechanism.n_v, "v")
    push = jnp.zeros_like(rate) if tau is None else functions.numbers(tau, mechanism.n_v, "tau")
    by = {"external": external, "gravity": gravity, "armature": armature}
    dt = jnp.asarray(dt, at.dtype)
    return _step(m, at, rate, dt, push, by, method=method, losses=bool(losses))


@partial(jax.jit, static_argnames=("method", "losses"))
def _step(
    m: Model, q: Array, v: Array, dt: Array, tau: Array, by: dict[str, Any],
    *, method: str, losses: bool,
) -> tuple[Array, Array]:  # fmt: skip
    given = {name: value for name, value in by.items() if value is not None}

    def rates(theta: Array, speed: Array) -> tuple[Array, Array]:
        at = moved(m, q, theta)
        change = functions.forward_dynamics(m, at, speed, tau, losses=losses, **given)
        return _growth(m.mechanism, theta, speed), change

    tableau = FIXED[method]
    if tableau.symplectic:
        v = v + dt * rates(jnp.zeros_like(v), v)[1]
        return moved(m, q, dt * v), v
    # the stages are one loop, so that the equation of motion is compiled once
    a = np.zeros((tableau.stages, tableau.stages))
    for i, row in enumerate(tableau.a):
        a[i, : len(row)] = row
    shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], tau.shape[:-1])
    v = jnp.broadcast_to(v, (*shape, v.shape[-1]))
    zeros = anchored(jnp.zeros((tableau.stages, *v.shape), v.dtype), m, q, v, tau, given)

    def stage(carry: tuple[Array, Array], now: tuple[Array, Array]) -> tuple[Any, None]:
        K, L = carry
        k, row = now
        theta = dt * jnp.tensordot(row, K, 1, precision="highest")
        speed = v + dt * jnp.tensordot(row, L, 1, precision="highest")
        first, second = rates(theta, speed)
        return (K.at[k].set(first), L.at[k].set(second)), None

    rows = jnp.asarray(a, v.dtype)
    (K, L), _ = jax.lax.scan(stage, (zeros, zeros), (np.arange(tableau.stages), rows))
    b = jnp.asarray(tableau.b, v.dtype)
    theta, change = (dt * jnp.tensordot(b, x, 1, precision="highest") for x in (K, L))
    return moved(m, q, theta), v + change


def moved(m: Model, q: Array, theta: Array) -> Array:
    """As `simulation.tangent.moved`, for (..., nq) and (..., nv)."""
    reached = functions.integrate(m, q, theta)
    for start in quaternion_starts(m.mechanism):
        part = slice(start, start + 4)
        wxyz = reached[..., part]
        factor = 1.5 - 0.5 * jnp.sum(wxyz * wxyz, axis=-1, keepdims=True)
        reached = reached.at[..., part].set(factor * wxyz)
    return reached


def _growth(m: Mechanism, theta: Array, v: Array) -> Array:
    """As `simulation.tangent.growth`, for (..., nv)."""
    found = v
    for c, type in enumerate(m.joint_types):
        if type.has_quaternion:
            part = m.v_slice(c)
            step, rate = theta[..., part], v[..., part]
            bracket: Any = jnp.cross
            if type is JointType.FLOATING:
                bracket = partial(cross_motion, JAX)
                for _ in range(v.ndim - 1):
                    bracket = jax.vmap(bracket)
            once = bracket(step, rate)
            found = found.at[..., part].set(rate + 0.5 * once + (1.0 / 12.0) * bracket(step, once))
    return found
