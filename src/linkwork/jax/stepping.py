"""One step of time: semi-implicit Euler, or the classical method of order 4."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy
import numpy as np
from numpy.typing import ArrayLike

from linkwork.checks import leading_shape
from linkwork.errors import InputError, ShapeError
from linkwork.jax import closed, functions
from linkwork.jax.functions import External
from linkwork.jax.model import Array, Model, anchored, real_array
from linkwork.jax.sweep import LaneOps
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.neutral import quaternion_starts
from linkwork.mechanism.parameters import check_acting
from linkwork.ops.jax import JAX
from linkwork.simulation.integrators import FIXED
from linkwork.simulation.joint_forces import MOST_SWEEPS, Rubbing, improved
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
    the new velocity. ``losses``: damping, friction and springs count; friction is held through the
    step, and is what its end asks for. Loops that are closed at the beginning are closed at the
    end. ``dt`` may be traced, and the step has derivatives by all that is given.

    Raises: ShapeError, InputError, UnknownNameError.
    """
    mechanism = functions.model_given(m)
    if method not in ("rk4", "euler"):
        raise InputError(f"method={method!r} is not known; there are: 'rk4', 'euler'")
    at = functions.numbers(q, mechanism.n_q, "q")
    rate = functions.numbers(v, mechanism.n_v, "v")
    push = jnp.zeros_like(rate) if tau is None else functions.numbers(tau, mechanism.n_v, "tau")
    by = {"external": external, "gravity": gravity, "armature": armature}
    check_acting(mechanism, external, losses)
    leading_shape({"q": at, "v": rate, "tau": push})
    time = real_array(dt, "dt").astype(at.dtype)
    if time.ndim:
        raise ShapeError(f"dt is one time for all rows, not of the shape {time.shape}: use vmap")
    return _step(m, at, rate, time, push, by, method=method, losses=bool(losses))


@partial(jax.jit, static_argnames=("method", "losses"))
def _step(
    m: Model, q: Array, v: Array, dt: Array, tau: Array, by: dict[str, Any],
    *, method: str, losses: bool,
) -> tuple[Array, Array]:  # fmt: skip
    given = {name: value for name, value in by.items() if value is not None}
    shape = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], tau.shape[:-1])
    q, v, tau = (jnp.broadcast_to(x, (*shape, x.shape[-1])) for x in (q, v, tau))
    friction = _Friction(m, q, v, dt, given) if losses and m.mechanism.friction.any() else None

    def rates(theta: Array, speed: Array, tau: Array) -> tuple[Array, Array]:
        at = moved(m, q, theta)
        change = functions.forward_dynamics(m, at, speed, tau, losses=losses, **given)
        return _growth(m.mechanism, theta, speed), change

    forces: Array = None
    if friction is not None:
        m = m.replace(friction=jnp.zeros_like(m.friction))
        _, free = rates(jnp.zeros_like(v), v, tau)
        forces, _ = friction.settled(v + dt * free, None)
        tau = tau + friction.spread(forces)
    theta, speed = _way(method, rates, (m, q, v, tau, given), dt)
    if friction is not None and not FIXED[method].symplectic:
        theta, speed = friction.corrected(theta, speed, forces)
    end = moved(m, q, theta)
    return (
        closed.projected(m, end, speed, given.get("armature"))
        if m.mechanism.is_closed
        else (end, speed)
    )


def _way(
    method: str, rates: Callable[..., tuple[Array, Array]], given: tuple[Any, ...], dt: Array
) -> tuple[Array, Array]:
    """The way theta (..., nv) of a step, and the velocities at its end."""
    _, _, v, tau, _ = given
    tableau = FIXED[method]
    if tableau.symplectic:
        v = v + dt * rates(jnp.zeros_like(v), v, tau)[1]
        return dt * v, v
    # the stages are one loop, so that the equation of motion is compiled once
    a = np.zeros((tableau.stages, tableau.stages))
    for i, row in enumerate(tableau.a):
        a[i, : len(row)] = row
    zeros = anchored(jnp.zeros((tableau.stages, *v.shape), v.dtype), *given)

    def stage(carry: tuple[Array, Array], now: tuple[Array, Array]) -> tuple[Any, None]:
        K, L = carry
        k, row = now
        theta = dt * jnp.tensordot(row, K, 1, precision="highest")
        speed = v + dt * jnp.tensordot(row, L, 1, precision="highest")
        first, second = rates(theta, speed, tau)
        return (K.at[k].set(first), L.at[k].set(second)), None

    rows = jnp.asarray(a, v.dtype)
    (K, L), _ = jax.lax.scan(stage, (zeros, zeros), (np.arange(tableau.stages), rows))
    b = jnp.asarray(tableau.b, v.dtype)
    theta, change = (dt * jnp.tensordot(b, x, 1, precision="highest") for x in (K, L))
    return theta, v + change


class _Friction:
    """Coulomb friction of a step, one number for each joint that has any.

    Forces and end velocities belong together by the laws of `simulation.joint_forces`. How the
    forces were found has no derivative; they are those of the implicit function.
    """

    def __init__(self, m: Model, q: Array, v: Array, dt: Array, given: dict[str, Any]) -> None:
        self._m, self._dt = m, dt
        self._joints = np.flatnonzero(m.mechanism.friction)
        self._start, self._most = v[..., self._joints], m.friction[self._joints]
        still = {k: x for k, x in given.items() if k == "armature"}
        none, units = jnp.zeros_like(v), jnp.eye(m.mechanism.n_v, dtype=v.dtype)[self._joints]

        def response(unit: Array) -> Array:
            push = jnp.broadcast_to(unit, v.shape)
            return functions.forward_dynamics(m, q, none, push, gravity=jnp.zeros(3), **still)

        self._by = jax.vmap(response, out_axes=-1)(units)  # (..., nv, n)

    def spread(self, forces: Array) -> Array:
        """Forces of the joints that have friction as forces of all (..., nv)."""
        n_v = self._m.mechanism.n_v
        found = jnp.zeros((*forces.shape[:-1], n_v), forces.dtype)
        return found.at[..., self._joints].set(forces, unique_indices=True)

    def settled(self, free: Array, forces: Array | None) -> tuple[Array, Array]:
        """The forces, and their detours, where the step without them ends at ``free`` (..., nv).

        The search begins at ``forces``.
        """
        n = len(self._joints)
        S = self._dt * self._by[..., self._joints, :]
        given = (
            free[..., self._joints],
            S,
            self._start,
            jnp.broadcast_to(self._most, (*free.shape[:-1], n)),
        )
        begin = jnp.zeros_like(given[0]) if forces is None else forces
        fixed = jax.lax.stop_gradient(given)
        one, answers = partial(_improved, loops=self._m.mechanism.is_closed), _answers
        for _ in range(free.ndim - 1):
            one, answers = jax.vmap(one), jax.vmap(answers)

        def going(state: Any) -> Any:
            return (state[0] < MOST_SWEEPS) & jnp.any(state[2] > 1.0)

        def again(state: Any) -> Any:
            found, left = one(state[1], *fixed)
            going_on = (state[2] > 1.0)[..., None]
            return (
                state[0] + 1,
                jnp.where(going_on, found, state[1]),
                jnp.where(going_on[..., 0], left, state[2]),
            )

        first = jax.lax.stop_gradient(begin)
        left = jnp.full(free.shape[:-1], jnp.inf, free.dtype)
        state = anchored((jnp.zeros((), int), first, left), *fixed)
        found = jax.lax.stop_gradient(jax.lax.while_loop(going, again, state)[1])
        # one step of Newton, of which the derivative is that of the implicit function
        slopes = jax.lax.stop_gradient(_slopes(found, fixed))
        rest = found - answers(found, *given)[0]
        found = found - jnp.linalg.solve(slopes, rest[..., None])[..., 0]
        return found, answers(found, *given)[1]

    def corrected(self, theta: Array, speed: Array, forces: Array) -> tuple[Array, Array]:
        """The end of the step with the friction that it asks for."""

        def pushed(forces: Array) -> Array:
            return closed.onto(self._by, forces)

        free = speed - self._dt * pushed(forces)
        found, detours = self.settled(free, forces)
        more = found - forces
        theta = theta + self._dt**2 * pushed(0.5 * more + detours)
        return theta, speed + self._dt * pushed(more)


def _laws(start: Array, most: Array) -> list[Rubbing]:
    return [Rubbing(most[k], start[k]) for k in range(start.shape[0])]


def _improved(
    forces: Array, rest: Array, S: Array, start: Array, most: Array, *, loops: bool
) -> Any:
    """Better forces (n,), and how much of what is allowed is left."""
    n, rows = len(forces), [list(row) for row in S]
    found = improved(_LANES, _laws(start, most), list(rest), rows, forces, loops=loops)
    return found[:n], found[2 * n]


def _answers(forces: Array, rest: Array, S: Array, start: Array, most: Array) -> Any:
    """The forces (n,) and the detours (n,) of the laws."""
    own = jnp.diagonal(S)
    others = rest + closed.onto(S, forces) - own * forces
    by = jnp.maximum(own, jnp.finfo(own.dtype).tiny)
    found = [law(_LANES, others[k], by[k]) for k, law in enumerate(_laws(start, most))]
    return jnp.stack([x.force for x in found]), jnp.stack([x.detour for x in found])


def _slopes(forces: Array, given: tuple[Array, ...]) -> Array:
    """The derivatives (..., n, n) of the forces less the laws' answers by the forces."""

    def one(forces: Array, *given: Array) -> Array:
        n = len(forces)
        slopes = jax.jacfwd(lambda x: x - _answers(x, *given)[0])(forces)
        return slopes + _REGULAR * jnp.eye(n, dtype=slopes.dtype)

    for _ in range(forces.ndim - 1):
        one = jax.vmap(one)
    return one(forces, *given)


_LANES = LaneOps()
_REGULAR = 1.0e-12
"""The damping of Newton's step in loops, where several friction forces are one."""


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
