"""Passes over a mechanism: outwards from parents to children, inwards back, up from each joint.

An algorithm that is written in these passes says what is done for one joint; the passes say for
which joints, and in which order. `Sweep` runs them joint by joint on any back end. The compiler has
another one (`compile.rolled`), which runs what is done once for each kind of joint and makes loops
of the passes: so the code of a long mechanism does not grow with it.

A mechanism is a tree of *joint transforms*: each turns about one axis, slides along one, or moves
freely. A planar joint is three of them, two slides and a turn, of which only the last has a body;
every other joint is one. What is said of one is in the frame that it moves, about its origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, update_wrapper
from itertools import product
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from linkwork.algorithms.body_masses import lightened
from linkwork.algorithms.joint_transforms import (
    NO_MOTION,
    UNTURNED,
    Inertia,
    JointTransform,
    Rates,
    Spatial,
    both,
    crossed,
    fixed_in,
    joint_position,
    joint_transforms,
)
from linkwork.algorithms.tree_factor import factor, solved
from linkwork.algorithms.vector3 import (
    Rows,
    Scalar,
    Vector3,
    added,
    is_zero,
    negated,
    plus_applied,
    rows_of,
    times,
    transposed,
    zeros,
)
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.poses import Pose

S = TypeVar("S")
States = Any
"""The states that a pass found, one for every transform; other passes take them."""

OfVelocities = Literal["armature", "damping", "friction"]
"""Quantities of which there is one for each number of v."""

FRAME_POSES = ("xyz", "rpy")
"""Quantities of parameters that move frames, which loops know as constants."""


# ---------------------------------------------------------------------------------------- passes


class _Outwards(list[S]):
    """The states that a pass outwards found, and that of the world before it."""

    def __init__(self, world: S) -> None:
        super().__init__()
        self.world = world


class Sweep:
    """The joint transforms of a mechanism at one configuration, and the passes over them."""

    def __init__(self, o: Ops, m: Mechanism, q: Block, bodies: Iterable[int] | None = None) -> None:
        """``bodies``: those that count (default: all), parents first.

        Where the parent of one is not among them, the frame of that parent is the world.
        """
        self.o, self.m, self.q = o, m, q
        self._bodies = range(m.n_bodies) if bodies is None else bodies
        self._last: dict[int, int] = {}  # the last transform of each body

    @cached_property
    def transforms(self) -> list[JointTransform]:
        """The transforms, parents first."""
        found: list[JointTransform] = []
        for body in self._bodies:
            above = self._last.get(int(self.m.parent[body]), -1)
            for step in _of_joint(self.o, self.m, self.q, body):
                found.append(step._replace(parent=above))
                above = len(found) - 1
            self._last[body] = above
        return found

    def outwards(self, world: Callable[[], S], visit: Callable[..., S], *states: States) -> States:
        """``visit(transform, found before, *states) -> found``, parents before children.

        ``world()`` is what is before the first ones.
        """
        found: _Outwards[S] = _Outwards(world())
        for k, step in enumerate(self.transforms):
            before = found[step.parent] if step.parent >= 0 else found.world
            found.append(visit(step, before, *[state[k] for state in states]))
        return found

    def inwards(
        self, own: States, visit: Callable[..., tuple[Any, Any]], *states: States
    ) -> States:
        """``visit(transform, total, *states) -> (kept, handed)``, children before parents.

        A total is what the transform has of its ``own`` and all that its children have handed to
        it, added number by number. What would be handed to a base that stands still is left out.
        """
        totals, kept = list(own), [None] * len(own)
        for k in range(len(totals) - 1, -1, -1):
            step = self.transforms[k]
            kept[k], handed = visit(step, totals[k], *[state[k] for state in states])
            if step.parent >= 0 and self.transforms[step.parent].free:
                totals[step.parent] = summed(totals[step.parent], handed)
        return kept

    def to_world(
        self,
        own: States,
        hand: Callable[[JointTransform, S], S],
        arrive: Callable[[S], None],
    ) -> None:
        """``arrive(total)``: the sum of ``own`` in the world.

        ``hand(transform, total)`` takes what a transform and its children have of it to the frame
        before.
        """
        totals: list[Any] = list(own)
        world: Any = None
        for k in range(len(totals) - 1, -1, -1):
            step = self.transforms[k]
            handed = hand(step, totals[k])
            if step.parent >= 0:
                totals[step.parent] = summed(totals[step.parent], handed)
            else:
                world = summed(world, handed)
        arrive(world)

    def each(self, visit: Callable[..., Any], *states: States, backwards: bool = False) -> States:
        """``visit(transform, *states)``, one after the other, or the last first."""
        given = list(zip(self.transforms, *states, strict=True))
        if backwards:
            return [visit(*one) for one in reversed(given)][::-1]
        return [visit(*one) for one in given]

    def up(
        self,
        begin: Callable[..., S],
        carry: Callable[[JointTransform, S], S],
        meet: Callable[..., None],
        *states: States,
    ) -> None:
        """From each transform through those that carry it and move, nearest first.

        ``begin(transform, *states) -> carried``; ``carry(transform, carried) -> carried`` in the
        frame before; ``meet(transform, *states, above, *states of that, carried)`` adds to outputs.
        """
        for k, step in enumerate(self.transforms):
            own = [state[k] for state in states]
            at, now = step, begin(step, *own)
            while at.parent >= 0 and self.transforms[at.parent].free:
                now, above = carry(at, now), at.parent
                at = self.transforms[above]
                meet(step, *own, at, *[state[above] for state in states], now)

    def frames(self, frames: Iterable[int], visit: Callable[..., None], *states: States) -> None:
        """``visit(k, transform, *states)`` for the k-th of these frames, with its body's states."""
        for k, frame in enumerate(frames):
            place = fixed_in(self.m.frame_placement(frame))
            visit(k, place, *[self.at(state, frame) for state in states])

    def velocities(self, values: Callable[[int], Scalar], visit: Callable[..., None]) -> None:
        """``visit(k, values(k))`` for each number k of v whose value is not zero by structure."""
        for k in range(self.m.n_v):
            value = values(k)
            if not is_zero(value):
                visit(k, value)

    def of_velocities(self, quantity: OfVelocities, visit: Callable[..., None]) -> None:
        """`velocities` of a quantity that the mechanism has for each number of v."""
        self.velocities(values_of(self.m, quantity), visit)

    def springs(self, visit: Callable[[int, Scalar, Scalar], None]) -> None:
        """``visit(k, stiffness, stretch)`` for each number k of v that a spring counts for."""
        for k, at in zip(*spring_places(self.m), strict=True):
            stiffness, rest = self.m.joint_spring(k)
            if not is_zero(stiffness):
                visit(k, stiffness, added(self.q[at], -rest))

    def gravity(self) -> list[Scalar]:
        """The free-fall acceleration in the world; to be asked for where it is used."""
        return self.m.gravity()

    def of_masses(self, find: Callable[[Mechanism], Scalar]) -> Callable[[], Scalar]:
        """A number of all masses together; to be asked for where it is used."""
        found = find(self.m)
        return lambda: found

    def columns(self, visit: Callable[[int], None]) -> None:
        """``visit(k)`` for each number k of v, with passes of its own for each of them."""
        for k in range(self.m.n_v):
            visit(k)

    def solve(self, matrix: Output, vector: Output) -> None:
        """x of A x = b for a symmetric positive definite A (n, n), in the place of b (n,)."""
        n = vector.shape[0]
        vector.fill(solved(factor(matrix.lower(), n), [vector.get(k) for k in range(n)]))

    def at(self, states: States, frame: int) -> Any:
        """The state of the body that carries a frame; the world's where it does not count."""
        at = self._last.get(int(self.m.frame_body[frame]))
        return states.world if at is None else states[at]

    def scratch(self, *shape: int) -> Output:
        """Numbers that passes fill as an output, and that later ones read by their indices."""
        return Output(shape)

    def armature(self, step: JointTransform, k: int) -> Scalar:
        """The rotor's inertia on the k-th number of v of a transform."""
        return self.m.joint_armature(step.start + k)

    def coordinates(self, visit: Callable[[JointType, int, int], None]) -> None:
        """``visit(type, first number of q, first of v)`` for the joints that q consists of."""
        for c, type in enumerate(self.m.joint_types):
            visit(type, int(self.m.q_start[c]), int(self.m.v_start[c]))

    def pushed(self, on: Callable[..., Any]) -> States:
        """``on(wrenches with their arms, into)`` for each transform that moves a body, else None.

        ``into`` gives a vector of the world along the body's axes.
        """

        def into(k: int, vector: Vector3) -> Vector3:
            step = self.transforms[k]
            return step.into(vector if step.parent < 0 else into(step.parent, vector))

        def found(k: int, step: JointTransform) -> Any:
            if not step.owner or not step.free:
                return None
            given = self.m.wrenches(step.body)
            wrenches = [(wrench, self.m.frame_placement(frame).p) for frame, wrench in given]
            return on(wrenches, lambda vector: into(k, vector))

        return [found(k, step) for k, step in enumerate(self.transforms)]

    def inertias(self, *, points: bool = False, base: bool = False) -> States:
        """The `Inertia` that each transform moves itself, lightened of what those before it carry.

        ``points`` leaves second moments out, for what does not depend on them; ``base`` counts what
        a fixed base weighs.
        """
        bodies, none = (
            lightened(self.m, points=points, base=base),
            Inertia(0.0, zeros(), [zeros()] * 3),
        )
        return [bodies[step.body] if step.owner else none for step in self.transforms]

    def links(self) -> States:
        """The `FramePose` of each body's own link in the body; None where no body is moved."""
        m, found = self.m, list[FramePose | None]()
        for step in self.transforms:
            place = m.frame_placement(m.frame(m.body_names[step.body]))
            found.append(FramePose(rows_of(place.R), list(place.p)) if step.owner else None)
        return found

    def output(self, *shape: int) -> Output:
        """A result of this shape, zero to begin with."""
        return Output(shape)


def values_of(m: Mechanism, quantity: OfVelocities) -> Callable[[int], Scalar]:
    """The values of a quantity for each number of v."""
    return {
        "armature": m.joint_armature,
        "damping": m.joint_damping,
        "friction": m.joint_friction,
    }[quantity]


def spring_places(m: Mechanism) -> tuple[list[int], list[int]]:
    """The numbers of v that may have springs, and those of q that they are the rates of."""
    single = [c for c, kind in enumerate(m.joint_types) if kind.n_q == 1]
    return m.v_indices(single), m.q_indices(single)


def _of_joint(o: Ops, m: Mechanism, q: Block, body: int) -> list[JointTransform]:
    type, at = m.body_joint_types[body], fixed_in(m.placement(body))
    start = int(m.v_start[int(m.coordinate[body])]) if type.n_v else 0
    at = at._replace(body=body, start=start, factor=float(m.multiplier[body]))
    return joint_transforms(o, type, at, joint_position(m, q, body))


def summed(a: Any, b: Any) -> Any:
    """The sum, number by number, of two states of one structure; None stands for nothing."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, (tuple, list)):
        parts = list(map(summed, a, b))
        return type(a)(*parts) if hasattr(a, "_fields") else type(a)(parts)
    return added(a, b)


class Output:
    """A result that passes fill entry by entry, an array of any shape."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self._entries: dict[tuple[int, ...], Scalar] = {}

    def put(self, at: tuple[int, ...], value: Scalar) -> None:
        """Set the entry at these indices."""
        self._entries[at] = value

    def fill(self, values: Iterable[Scalar]) -> None:
        """Set the entries of a vector."""
        for i, x in enumerate(values):
            self.put((i,), x)

    def add(self, at: tuple[int, ...], value: Scalar) -> None:
        """Add to the entry at these indices."""
        self._entries[at] = added(self._entries.get(at, 0.0), value)

    def meet(
        self,
        row: tuple[JointTransform, int],
        column: tuple[JointTransform, int],
        value: Scalar,
        *,
        part: tuple[int, ...] = (),
    ) -> None:
        """Add to the entry of two numbers of v, each a transform and which one of its own."""
        (a, i), (b, j) = row, column
        self.add((*part, a.start + i, b.start + j), times(times(a.factor, b.factor), value))

    def get(self, *at: int) -> Scalar:
        """The entry at these indices."""
        return self._entries.get(at, 0.0)

    def __getitem__(self, at: Any) -> Scalar:
        """The entry at an index, or at several."""
        return self.get(*at) if isinstance(at, tuple) else self.get(at)

    def lower(self) -> dict[tuple[int, int], Scalar]:
        """The entries of a matrix on and left of the diagonal, but for zeros by structure."""
        return {
            (at[0], at[1]): x
            for at, x in self._entries.items()
            if at[0] >= at[1] and not is_zero(x)
        }

    def column(self, j: int) -> dict[int, Scalar]:
        """Column j of a matrix, but for zeros by structure."""
        found = {i: self.get(i, j) for i in range(self.shape[0])}
        return {i: x for i, x in found.items() if not is_zero(x)}

    def block(self, o: Ops) -> Block:
        """The block of a scalar, a vector or a matrix; of more axes, a list of matrices."""
        if 0 in self.shape:
            return o.const(np.zeros(self.shape))
        if not self.shape:
            return o.vector([self.get()])[0]
        if len(self.shape) == 1:
            return o.vector([self.get(i) for i in range(self.shape[0])])
        *lead, n_rows, n_columns = map(range, self.shape)
        found = [
            o.matrix([o.vector([self.get(*part, i, j) for i in n_rows]) for j in n_columns])
            for part in product(*lead)
        ]
        return found if lead else found[0]


def looped(
    o: Ops,
    by_sweep: Callable[..., Any],
    m: Mechanism,
    inputs: Sequence[Block],
    bodies: Sequence[int] | None = None,
    **static: Any,
) -> list[Block] | None:
    """The results of ``by_sweep(sweep, *inputs after q, **static)`` as a call of loops.

    None where it is to be written out: the back end makes no loops, or the mechanism is not long.
    ``bodies`` as `Sweep` takes them. A result of three axes is a list of matrices.
    """
    loops = getattr(o, "loops", None)
    return None if loops is None else loops(o, by_sweep, m, inputs, bodies, static)


class InPasses:
    """An algorithm that is written in passes, as a function of one configuration.

    ``passes(sweep, *inputs after q, **static) -> Output``; to be called with ``o, m, q`` in the
    place of the sweep, for a block.
    """

    def __init__(self, passes: Callable[..., Output]) -> None:
        self.passes = passes
        update_wrapper(self, passes)

    def __call__(self, o: Ops, m: Mechanism, q: Block, *inputs: Any, **static: Any) -> Block:
        """The block of one configuration; ``inputs`` after q and ``static`` as of the passes."""
        bodies = bodies_of(m, static)
        found = looped(o, self.passes, m, (q, *inputs), bodies, **static)
        if found is not None:
            return found[0]
        return self.passes(Sweep(o, m, q, bodies), *inputs, **static).block(o)


def bodies_of(m: Mechanism, static: Mapping[str, Any]) -> list[int] | None:
    """The bodies that a function of one frame depends on, parents first; None for all.

    Where a frame is seen from another one, those that carry both of them make no difference.

    Raises: UnknownNameError for a frame that does not exist.
    """
    names = [static[key] for key in ("base", "frame") if key in static]
    if not names:
        return None
    ways = [set(m.ancestry(int(m.frame_body[m.frame(name)]))) for name in names]
    return sorted(ways[0] ^ ways[1] if len(ways) > 1 else ways[0])


# --------------------------------------------------------------- poses, velocities, accelerations


class FramePose(NamedTuple):
    """Rotation and origin of a frame in the world."""

    R: Rows
    p: Vector3

    def at(self, step: JointTransform) -> FramePose:
        """The pose of the frame after a transform."""
        # the rows are the world's axes in those of the frame
        return FramePose([step.into(row) for row in self.R], plus_applied(self.p, self.R, step.r))

    def blocks(self, o: Ops) -> Pose:
        """The pose as blocks."""
        return Pose(o.matrix(list(map(o.vector, transposed(self.R)))), o.vector(self.p))


def poses(sweep: Sweep) -> States:
    """The `FramePose` of every transform."""
    return sweep.outwards(
        lambda: FramePose(UNTURNED, zeros()), lambda step, before: before.at(step)
    )


class Motion(NamedTuple):
    """The motion of a frame, along its own axes; accelerations are spatial.

    ``before`` is that frame as it would move if its joint stood still.
    """

    velocity: Spatial
    acceleration: Spatial
    velocity_before: Spatial
    acceleration_before: Spatial


def motions(
    sweep: Sweep, v: Rates | None, dv: Rates | None = None, *, gravity: bool = False
) -> States:
    """The `Motion` of every transform; without ``v`` or ``dv`` they are zero.

    Gravity, where it is to count, is an acceleration of the world against it.
    Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1.
    """

    def visit(step: JointTransform, before: Motion) -> Motion:
        velocity, acceleration = map(step.twist_into, before[:2])
        own = NO_MOTION if v is None else step.own_motion(v)
        after = acceleration if dv is None else both(acceleration, step.own_motion(dv))
        after = both(after, crossed(velocity, own))
        return Motion(both(velocity, own), after, velocity, acceleration)

    def world() -> Motion:
        up = [negated(x) for x in sweep.gravity()] if gravity else zeros()
        still = Spatial(up, zeros())
        return Motion(NO_MOTION, still, NO_MOTION, still)

    return sweep.outwards(world, visit)
