"""Loops and tasks that are kept along a path, and the ways of configurations back onto them.

Two ways, with the same calls. Where actuated joints, each for itself, say where a mechanism with
loops is, these joints *drive*: the others are followed on their branch of assembly, past no
singularity (`solve.closed.assembly`). Otherwise configurations are *projected*: from wherever one
is, Gauss-Newton steps of least norm (`solve.ik`) lead to where loops are closed and tasks done.

Source: M. Stilman, Global manipulation planning in robot joint space with task constraints, IEEE
Transactions on Robotics 26 (2010); the projection is that of its retraction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.collision.motion import short_ways, turns_of
from linkwork.compile.kernel import build
from linkwork.compile.recipe import expression_recipe
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.position_limits import angle_brought_inside, limited_angles
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.inputs import Options
from linkwork.solve.result import UNITS
from linkwork.solve.tasks import BoundTask, Closed, beyond_slack, has_slack

if TYPE_CHECKING:
    from linkwork.compile.compiler import Compiler
    from linkwork.solve.closed.assembly import Assembly
    from linkwork.solve.ik import InverseKinematics

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]
Maps = Callable[[Floats, Floats], Floats]

CLOSER = 1e-2  # the share of its tolerance to which a task is brought: the rest is for in between
_LOOPS = 1e6  # times 1e-12: how far open (m, rad) loops of a start or a goal may be
_SAME = 1e-6  # rad or m: configurations of one branch of assembly
_STEPS = 12  # of one projection


class Kept:
    """Configurations that stay inside the limits, and nothing else is asked of them.

    ``integrate`` and ``difference`` are those of the robot, for rows of configurations; ``lengths``
    (nv,) are 1 for angles and the mechanism's length for what slides.
    """

    driven = False

    def __init__(
        self,
        mechanism: Mechanism,
        planned: Integers,
        lengths: Sequence[float],
        maps: tuple[Maps, Maps] | None = None,
        *,
        tasks: Sequence[BoundTask] = (),
        compiler: Compiler | None = None,
    ) -> None:
        self.mechanism, self.planned = mechanism, planned
        self.tasks, self._compiler = tuple(tasks), compiler
        self.unit = 1.0 / np.asarray(lengths, np.float64)
        self._maps = maps if any(k.has_quaternion for k in mechanism.joint_types) else None
        self.steering = np.zeros(mechanism.n_v, bool)
        moving = set(planned.tolist())
        for c in range(len(mechanism.joint_types)):
            if int(mechanism.q_start[c]) in moving:
                self.steering[mechanism.v_slice(c)] = True
        self._endless_q, self._endless_v = _endless(mechanism)
        self._turns = turns_of(mechanism)
        self._limited = limited_angles(mechanism, range(mechanism.n_q))

    def unwound(self, path: Floats) -> Floats:
        """A path (k, nq) without whole turns between its points, and signs of quaternions alike."""
        path, endless = path.copy(), self._endless_q
        turns = np.round(np.diff(path[:, endless], axis=0) / (2.0 * np.pi))
        path[1:, endless] -= 2.0 * np.pi * np.cumsum(turns, axis=0)
        for at in self._turns[:, 0].tolist():
            own = path[:, at : at + 4]
            alike = np.where((own[1:] * own[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
            own[1:] *= np.cumprod(alike)[:, None]
        return path

    def straight(self, a: Floats, b: Floats, t: Floats) -> Floats:
        """The configurations at shares t (k,) of the straight motions from a to b (k, nq).

        They go the short way, as `CollisionModel.motion_collides` has them.
        """
        start, stop = short_ways(self._turns, a, b)
        change, endless = stop - start, self._endless_q
        change[:, endless] -= 2.0 * np.pi * np.round(change[:, endless] / (2.0 * np.pi))
        q = start + t[:, None] * change
        for at in self._turns[:, 0].tolist():
            q[:, at : at + 4] /= np.linalg.norm(q[:, at : at + 4], axis=1, keepdims=True)
        return q

    def gap(self, a: Floats, b: Floats) -> Floats:
        """The velocities (k, nv) that lead from a (k, nq) to b in a time of 1, the short way."""
        v = b - a if self._maps is None else self._maps[1](a, b)
        endless = self._endless_v
        v[:, endless] -= 2.0 * np.pi * np.round(v[:, endless] / (2.0 * np.pi))
        return v

    def moved(self, q: Floats, v: Floats) -> Floats:
        """Configurations (k, nq) after a time of 1."""
        return q + v if self._maps is None else self._maps[0](q, v)

    def size(self, v: Floats) -> Floats:
        """The size (k,) of velocities, in radians over all joints that steer."""
        return np.linalg.norm((v * self.unit)[:, self.steering], axis=1)

    def whole_size(self, v: Floats) -> Floats:
        """The size (k,) of velocities, in radians over all joints."""
        return np.linalg.norm(v * self.unit, axis=1)

    def onto(self, x: Floats, near: Floats) -> tuple[Floats, Flags]:
        """Configurations (k, nq) that keep what is kept, next to x and on the branch of ``near``.

        And flags: where it is False there is none.
        """
        del near
        return self.inside(x), np.ones(len(x), bool)

    def between(self, a: Floats, b: Floats, t: Floats) -> tuple[Floats, Flags]:
        """The configurations at the shares t (k,) of the way from a to b (k, nq), and flags."""
        return self.onto(self.straight(a, b, t), a)

    def inside(self, x: Floats) -> Floats:
        """The configurations (k, nq) brought inside the limits."""
        x = np.clip(x, self.mechanism.lower, self.mechanism.upper)
        for c in self._limited:
            x = angle_brought_inside(self.mechanism, x, c)
        return x

    def downhill(self, q: Floats, gradient: Floats) -> Floats:
        """A gradient (k, nv) by all joints as one by those that steer."""
        del q
        return gradient

    def what_is_off(self, q: Floats, what: str) -> str:
        """The words for what is not kept at q (nq,); empty where all is."""
        if not self.tasks:
            return ""
        off = [
            f"'{name}' is {error:.3g}{unit} off, allowed is {most:.3g}"
            for (name, unit, most), error in zip(self.terms, self.errors(q[None])[0], strict=True)
            if error > most * (1.0 + 1e-6)
        ]
        told = f"{what} does not keep what is to be kept: {'; '.join(off)}"
        return told if off else ""

    @cached_property
    def terms(self) -> list[tuple[str, str, float]]:
        """The terms that are kept: of each group of rows the name, the unit and the tolerance."""
        found: list[tuple[str, str, float]] = []
        for task in self.tasks:
            loops = isinstance(task.task, Closed)
            for group, tolerance in zip(task.groups, task.tolerances, strict=True):
                most = _LOOPS * tolerance if loops else tolerance
                found.append((group.name if loops else task.name, UNITS[group.unit], most))
        return found

    def errors(self, q: Floats) -> Floats:
        """The errors (k, groups) at q (k, nq), beyond slack, in the order of `terms`."""
        kernel, numbers = self._measures
        squared = np.asarray(kernel(q, numbers))
        groups = [group for task in self.tasks for group in task.groups]
        every = [group.error(squared[:, j]) for j, group in enumerate(groups)]
        return np.stack(every, axis=1) if every else np.zeros((len(q), 0))

    def done(self, q: Floats) -> bool:
        """Whether all is kept at all of q (k, nq)."""
        most = np.array([most for _, _, most in self.terms])
        return not self.tasks or bool((self.errors(q) <= most).all())

    @cached_property
    def _measures(self) -> tuple[Any, Floats]:
        """The compiled squares of errors, and the targets and slacks that go in."""
        m, tasks = self.mechanism, self.tasks
        assert self._compiler is not None  # noqa: S101  who has tasks has one
        targets = [np.zeros(0) if t.target is None else np.ravel(t.target) for t in tasks]
        numbers = np.concatenate([np.ones(1), *targets, *(np.array(t.slack) for t in tasks)])
        slack_from = 1 + sum(map(len, targets))

        def measured(o: Ops, q: Block, numbers: Block) -> dict[str, Block]:
            place, slack, found = 1, slack_from, list[Block]()
            for task, target in zip(tasks, targets, strict=True):
                at = task.residual(o, q, o.part(numbers, place, place + len(target)))
                place += len(target)
                if has_slack(task.task):
                    own = o.part(numbers, slack, slack + len(task.slack))
                    at = beyond_slack(o, at, own, task.groups)
                slack += len(task.slack)
                found += at.squared
            return {"squared": o.vector(found)}

        key = ("planning", "kept", m.digest, *(task.key for task in tasks))
        sizes = {"q": m.n_q, "numbers": len(numbers)}
        recipe = expression_recipe(key, "kept", sizes, measured)
        return build(recipe, compiler=self._compiler), numbers

    def features(self, q: Floats) -> Floats:
        """Numbers (k, f) whose Euclidean distance tells which configurations are near."""
        m, found = self.mechanism, list[Floats]()
        for c, kind in enumerate(m.joint_types):
            if not self.steering[m.v_slice(c)].any():
                continue
            own, unit = q[:, m.q_slice(c)], float(self.unit[m.v_slice(c)][0])
            if kind.has_quaternion:  # products, whatever the sign: by a small angle that far apart
                wxyz = own[:, kind.n_lengths :]
                products = np.sqrt(2.0) * wxyz[:, :, None] * wxyz[:, None]
                found += [own[:, : kind.n_lengths] * unit, products.reshape(-1, 16)]
                continue
            for k in range(m.q_slice(c).start, m.q_slice(c).stop):
                value = q[:, k : k + 1]
                if self._endless_q[k]:
                    found += [np.cos(value), np.sin(value)]
                else:
                    found.append(value * self.unit[m.v_slice(c).start + k - m.q_slice(c).start])
        return np.concatenate(found, axis=1) if found else np.zeros((len(q), 1))

    def drawn(self, u: Floats, low: Floats, high: Floats, near: Floats) -> Floats:
        """Configurations (k, nq) to grow towards: u (k, n) shares of the ranges of what is planned.

        Those that cannot be kept tell a direction all the same. ``near`` (nq,) has the rest.
        """
        q = np.tile(near, (len(u), 1))
        q[:, self.planned] = low + u * (high - low)
        places = {k: place for place, k in enumerate(self.planned.tolist())}
        for at in self._turns[:, 0].tolist():
            if at in places:
                first = places[at]
                q[:, at : at + 4] = _quaternions(u[:, first : first + 3])
        found, ok = self.onto(q, np.tile(near, (len(u), 1)))
        return np.where(ok[:, None], found, q)


class Driven(Kept):
    """Loops kept closed: the actuated joints drive, the others follow on their branch."""

    driven = True

    def __init__(
        self,
        mechanism: Mechanism,
        planned: Integers,
        lengths: Sequence[float],
        assembly: Assembly,
        rates: Callable[[Floats], Floats],
        *,
        steering: Sequence[str],
        compiler: Compiler,
        maps: tuple[Maps, Maps] | None = None,
    ) -> None:
        """``steering``: names of what drives: actuated joints, and those that no loop has.

        ``rates``: what all joints do by the speeds of the actuated ones (nv, n_actuated).
        """
        closed = [Closed().bind(mechanism)]
        super().__init__(mechanism, planned, lengths, maps, tasks=closed, compiler=compiler)
        m = mechanism
        self._assembly, self._rates = assembly, rates
        self._given = [k for name in assembly.actuated for k in m.q_indices([m.joint(name)])]
        self._given_v = m.v_indices([m.joint(name) for name in assembly.actuated])
        others = [name for name in steering if name not in assembly.actuated]
        self._others = m.q_indices([m.joint(name) for name in others])
        self._others_v = m.v_indices([m.joint(name) for name in others])
        self.steering = np.zeros(m.n_v, bool)
        self.steering[list(m.v_indices([m.joint(name) for name in steering]))] = True

    def onto(self, x: Floats, near: Floats) -> tuple[Floats, Flags]:
        """See `Kept.onto`: from ``near`` the actuated joints go straight to where x has them."""
        start = near.copy()
        start[:, self._others] = x[:, self._others]
        start = self.inside(start)
        wanted = self.inside(x)[:, self._given]
        found = self._assembly.solve(wanted, start, threads=1)
        return np.asarray(found.q), np.asarray(found.success)

    def drawn(self, u: Floats, low: Floats, high: Floats, near: Floats) -> Floats:
        """See `Kept.drawn`: of the joints that steer, the others are as they were."""
        q = np.tile(near, (len(u), 1))
        every = q.copy()
        every[:, self.planned] = low + u * (high - low)
        own = [*self._given, *self._others]
        q[:, own] = every[:, own]
        return q

    def downhill(self, q: Floats, gradient: Floats) -> Floats:
        """See `Kept.downhill`: what follows has its share of the joints that drive it."""
        found = np.zeros_like(gradient)
        found[:, self._others_v] = gradient[:, self._others_v]
        rates = np.stack([self._rates(row) for row in q])
        found[:, self._given_v] = np.einsum("kij,ki->kj", rates, gradient)
        return np.where(self.steering, found, 0.0)


class Projected(Kept):
    """Tasks, and loops where there are some, kept by projection.

    Where ``assembly`` is given, a projection must also be where its actuated joints lead on the
    branch that it comes from.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        planned: Integers,
        lengths: Sequence[float],
        solver: InverseKinematics,
        tasks: Sequence[BoundTask],
        *,
        compiler: Compiler,
        assembly: Assembly | None = None,
        maps: tuple[Maps, Maps] | None = None,
    ) -> None:
        super().__init__(mechanism, planned, lengths, maps, tasks=tasks, compiler=compiler)
        self._solver, self._assembly = solver, assembly
        self._options = Options(tries=1, steps=_STEPS, nearest_miss=False)
        m = mechanism
        if assembly is not None:
            self._given = [k for name in assembly.actuated for k in m.q_indices([m.joint(name)])]

    def onto(self, x: Floats, near: Floats) -> tuple[Floats, Flags]:
        """See `Kept.onto`."""
        x = self.inside(x)
        found = self._solver.solve(None, x, options=self._options, threads=1)
        q, ok = np.array(found.q), np.array(found.success)
        endless = self._endless_q
        q[:, endless] -= 2.0 * np.pi * np.round((q - x)[:, endless] / (2.0 * np.pi))
        if self._assembly is not None and ok.any():
            led = self._assembly.solve(q[ok][:, self._given], near[ok], threads=1)
            same = np.abs(self.gap(np.asarray(led.q), q[ok])).max(axis=1) <= _SAME
            ok[ok] = np.asarray(led.success) & same
        return q, ok


def _endless(m: Mechanism) -> tuple[Flags, Flags]:
    """Flags of q and of v: angles that turn without limits."""
    of_q, of_v = np.zeros(m.n_q, bool), np.zeros(m.n_v, bool)
    for c, kind in enumerate(m.joint_types):
        if kind.has_quaternion:
            continue
        own = m.q_slice(c)
        free = np.isinf(m.lower[own]) & np.isinf(m.upper[own])
        free &= np.arange(len(free)) >= kind.n_lengths
        of_q[own] = free
        of_v[m.v_slice(c)] = free
    return of_q, of_v


def _quaternions(u: Floats) -> Floats:
    """Rotations (k, 4), evenly spread, for three shares (k, 3): K. Shoemake, 1992."""
    a, b, c = u.T
    left, right = np.sqrt(1.0 - a), np.sqrt(a)
    b, c = 2.0 * np.pi * b, 2.0 * np.pi * c
    return np.stack(
        [right * np.cos(c), left * np.sin(b), left * np.cos(b), right * np.sin(c)], axis=1
    )


__all__ = ["CLOSER", "Driven", "Kept", "Projected"]
