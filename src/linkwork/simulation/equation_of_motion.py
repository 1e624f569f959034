"""The equation of motion as one expression: what drives, stops and slows a mechanism, its response.

A `System` is structure only: which quantities enter, as constants of a roll-out or as functions of
time. Their values are inputs of the compiled functions, so other gains need no new code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature

import numpy as np

from linkwork.algorithms.parametric import Parametric
from linkwork.algorithms.registry import find
from linkwork.compile.recipe import Recipe, expression_recipe
from linkwork.mechanism.model import Floats, Mechanism
from linkwork.mechanism.parameters import losses_of
from linkwork.ops.dual import Duals
from linkwork.ops.protocol import Block, Ops
from linkwork.simulation import joint_forces
from linkwork.simulation.loops import gaps, projected
from linkwork.simulation.tangent import growth, moved, own_slopes

PARAMETERS = ("gravity", "armature")
"""Quantities that are parameters of the mechanism by their own names."""

HELD = "held"
"""Forces of friction that hold through a step, among what is given."""


def is_payload(name: str) -> bool:
    """Whether a quantity is a point mass on a frame."""
    return name.startswith("payload:")


def is_parameter(name: str) -> bool:
    """Whether a quantity is a parameter of the mechanism; see `mechanism.parameters`."""
    return name in PARAMETERS or name.startswith("wrench:") or is_payload(name)


@dataclass(frozen=True)
class Quantity:
    """One vector that enters the equation of motion."""

    name: str
    size: int


@dataclass(frozen=True)
class System:
    """A mechanism and what acts on it.

    ``constants`` hold for a whole roll-out, ``controls`` change with time. ``losses``: damping,
    friction and springs of the description count. ``stopped``: the coordinates with compliant
    stops. ``smooth``: friction is made smooth about rest, as a method that chooses its steps needs
    it; otherwise it is held through each step (`joint_forces.py`).
    """

    mechanism: Mechanism
    constants: tuple[Quantity, ...] = ()
    controls: tuple[Quantity, ...] = ()
    losses: bool = False
    stopped: tuple[int, ...] = ()
    smooth: bool = False

    @property
    def rubbing(self) -> tuple[int, ...]:
        """The numbers of v whose friction is held through each step."""
        if not self.losses or self.smooth:
            return ()
        return tuple(np.flatnonzero(self.mechanism.friction).tolist())

    @property
    def bounded(self) -> tuple[int, ...]:
        """The numbers of v whose drives are laws of one joint each, with a bounded effort."""
        m = self.mechanism
        if not any(entry.name == "effort_limit" for entry in (*self.constants, *self.controls)):
            return ()
        alone = [c for c, kind in enumerate(m.joint_types) if not kind.has_quaternion]
        return tuple(m.v_indices(alone))

    @property
    def n_constants(self) -> int:
        """Numbers in all constants together."""
        return sum(entry.size for entry in self.constants)

    @property
    def n_controls(self) -> int:
        """Numbers in all functions of time together."""
        return sum(entry.size for entry in self.controls)

    @property
    def asks(self) -> bool:
        """Whether forces come from a function of the user."""
        return any(entry.name == "torque" for entry in self.controls)

    @property
    def closed(self) -> bool:
        """Whether the mechanism has loops or couplings to be kept closed."""
        return self.mechanism.is_closed

    @property
    def conserves(self) -> bool:
        """Whether nothing drives, holds or slows it, so that its energy stays as it is."""
        m = self.mechanism
        slowed = self.losses and bool(losses_of(m))
        names = [entry.name for entry in self.constants]
        acting = any(name not in PARAMETERS and not is_payload(name) for name in names)
        return not (slowed or acting or self.controls or self.stopped)

    @property
    def key(self) -> tuple[str, ...]:
        """A key that tells this system from all others."""
        names = [f"constant {entry.name}" for entry in self.constants]
        names += [f"control {entry.name}" for entry in self.controls]
        held = ",".join(map(str, self.stopped))
        losses = f"losses {self.losses}{' smooth' if self.smooth else ''}"
        return ("simulation", self.mechanism.digest, *names, losses, held)

    # the expressions

    def given(self, o: Ops, constants: Block, controls: Block) -> dict[str, Block]:
        """The vectors that enter, by name, cut from the two inputs that hold them."""
        found: dict[str, Block] = {}
        for entries, block in ((self.constants, constants), (self.controls, controls)):
            at = 0
            for entry in entries:
                found[entry.name] = o.part(block, at, at + entry.size)
                at += entry.size
        return found

    def force(
        self,
        o: Ops,
        q: Block,
        v: Block,
        given: Mapping[str, Block],
        *,
        without: Sequence[int] = (),
    ) -> Block:
        """The forces (nv,) of actuators, stops and friction together.

        ``given`` has the friction that is held; the drives ``without`` are left out.
        """
        m = self.mechanism
        driven = joint_forces.drive_forces(o, m, q, v, given, without=without)
        parts = [] if driven is None else [driven]
        if self.stopped:
            parts.append(joint_forces.stop_forces(o, m, q, v, self.stopped, given))
        if self.losses and self.smooth and m.friction.any():
            parts.append(joint_forces.smoothed_friction(o, m, v))
        if HELD in given:
            entries = {k: given[HELD][j] for j, k in enumerate(self.rubbing)}
            parts.append(o.vector([entries.get(k, 0.0) for k in range(m.n_v)]))
        total = parts[0] if parts else o.const(np.zeros(m.n_v))
        for part in parts[1:]:
            total = total + part
        return total

    def force_and_slopes(
        self,
        o: Ops,
        q: Block,
        v: Block,
        given: Mapping[str, Block],
        *,
        without: Sequence[int] = (),
    ) -> tuple[Block, Block, Block]:
        """`force`, and its derivatives (nv, nv) along the tangent of q and along v."""

        def force(d: Duals, q: Block, v: Block) -> Block:
            own = {name: d.const(block) for name, block in given.items()}
            return self.force(d, q, v, own, without=without)

        return own_slopes(o, self.mechanism, force, q, v)

    def parameters(self, o: Ops, given: Mapping[str, Block]) -> dict[str, Block]:
        """Blocks that enter as parameters of the mechanism, by their names."""
        m = self.mechanism
        named = {name: block for name, block in given.items() if is_parameter(name)}
        if self.losses:  # friction is a force of its own
            named |= {k: o.const(x) for k, x in losses_of(m, friction=False).items()}
        return named

    def check(self) -> None:
        """Check that the description gives what forward dynamics takes.

        Raises: InputError naming link or joint.
        """
        names = [e.name for e in (*self.constants, *self.controls)]
        find("forward_dynamics").check(self.mechanism, [n for n in names if is_parameter(n)])

    def acceleration(self, o: Ops, q: Block, v: Block, given: Mapping[str, Block]) -> Block:
        """dv/dt (nv,) by forward dynamics."""
        tau = self.force(o, q, v, given)
        entry = find("forward_dynamics")
        return entry.run(o, self.mechanism, (q, v, tau), self.parameters(o, given))

    def stage(
        self,
        o: Ops,
        q0: Block,
        theta: Block,
        v: Block,
        constants: Block,
        controls: Block,
        held: Block,
    ) -> Block:
        """(2 nv,): the rates of theta and of v, at the configuration that theta leads to.

        ``held`` are the forces of friction on the joints `rubbing`.
        """
        m, given = self.mechanism, self.given(o, constants, controls)
        if self.rubbing:
            given[HELD] = held
        q = moved(o, m, q0, theta)
        return o.concat([growth(o, m, theta, v), self.acceleration(o, q, v, given)])

    def advance(self, o: Ops, q0: Block, theta: Block) -> Block:
        """(nq,): the configuration that theta leads to."""
        return moved(o, self.mechanism, q0, theta)

    def torque(self, o: Ops, q: Block, v: Block, constants: Block, controls: Block) -> Block:
        """(nv,): the actuators' forces."""
        m = self.mechanism
        tau = joint_forces.drive_forces(o, m, q, v, self.given(o, constants, controls))
        return o.const(np.zeros(m.n_v)) if tau is None else tau

    def gaps(self, o: Ops, q: Block, v: Block) -> Block:
        """`loops.gaps` of a state."""
        return gaps(o, self.mechanism, q, v)

    def projection(self, o: Ops, q: Block, v: Block, constants: Block, controls: Block) -> Block:
        """`loops.projected` of q and v, with the inertia of rotors and payloads."""
        more = self._masses(o, constants, controls)
        m = Parametric(o, self.mechanism, more) if more else self.mechanism
        return projected(o, m, q, v)

    def yields(self, o: Ops, q: Block, constants: Block, controls: Block) -> Block:
        """(nv n,): the accelerations that unit forces on the joints `rubbing` give, one by one."""
        return o.concat(self._responses(o, q, constants, controls, self.rubbing))

    def sticking(
        self, o: Ops, free: Block, v: Block, yields: Block, h: Block, forces: Block
    ) -> Block:
        """`joint_forces.improved` for friction of the joints `rubbing` over a step.

        ``free`` (nv,) are the velocities at the end of the step without friction, v (nv,) those at
        its beginning.
        """
        m, joints = self.mechanism, self.rubbing
        laws = [joint_forces.Rubbing(float(m.friction[k]), v[k]) for k in joints]
        S = [[h[0] * yields[j * m.n_v + i] for j in range(len(joints))] for i in joints]
        free_of = [free[k] for k in joints]
        return joint_forces.improved(o, laws, free_of, S, forces, loops=self.closed)

    def _responses(
        self, o: Ops, q: Block, constants: Block, controls: Block, joints: Sequence[int]
    ) -> list[Block]:
        m, none = self.mechanism, o.const(np.zeros(self.mechanism.n_v))
        still = {**self._masses(o, constants, controls), "gravity": o.const(np.zeros(3))}
        entry, units = find("forward_dynamics"), np.eye(m.n_v)
        return [entry.run(o, m, (q, none, o.const(units[k])), still) for k in joints]

    @property
    def stiff(self) -> tuple[int, ...]:
        """The numbers of v whose drives or stops hide it where steps are too long for them.

        What is bounded cannot diverge: it chatters.
        """
        return tuple(sorted({*self.bounded, *self._held_by()}))

    def _held_by(self) -> dict[int, int]:
        """The numbers of v that stops hold, and which stop it is."""
        m = self.mechanism
        return {k: j for j, c in enumerate(self.stopped) for k in m.v_indices([c])}

    def stiffness(
        self, o: Ops, q: Block, v: Block, dv: Block, h: Block, constants: Block, controls: Block
    ) -> Block:
        """(2 + n,): 1/s and 1/s² of the fastest motion that drives and stops damp and spring back,
        from below, in a step of h that begins with dv; then of each joint
        `stiff` by itself 1/s, saturated or not.

        A drive that stays saturated through the step counts nothing.
        """
        m, joints, given = self.mechanism, self.stiff, self.given(o, constants, controls)
        held = self._held_by()
        columns = self._responses(o, q, constants, controls, joints)
        W = [[column[k] for column in columns] for k in joints]
        pushes: list[Block] = []
        slopes: list[tuple[Block, Block, Block]] = []

        def stopping(d: Duals, q: Block, v: Block) -> Block:
            own = {name: d.const(block) for name, block in given.items()}
            return joint_forces.stop_forces(d, m, q, v, self.stopped, own)

        for share in (0.0, 0.5, 1.0):
            state = moved(o, m, q, (share * h[0]) * v), v + (share * h[0]) * dv
            if self.bounded:
                pushes.append(joint_forces.unbounded_drives(o, m, *state, given))
            if self.stopped:
                slopes.append(own_slopes(o, m, stopping, *state))
        damped: list[Block] = []
        sprung: list[Block] = []
        alone: list[Block] = []
        for k in joints:
            damping, spring = o.const(0.0), o.const(0.0)
            for _, along_q, along_v in slopes:
                if k in held:
                    # not the slope of damping that sets in, which a fast joint leaps over
                    stiff = given["stop_stiffness"][held[k]]
                    damping = o.maximum(damping, -along_v[k, k])
                    spring = o.maximum(spring, o.select(o.less(along_q[k, k], 0.0), stiff, 0.0))
            if k in self.bounded:
                most = given["effort_limit"][k]
                low = o.minimum(o.minimum(pushes[0][k], pushes[1][k]), pushes[2][k])
                high = o.maximum(o.maximum(pushes[0][k], pushes[1][k]), pushes[2][k])
                stays = o.either(o.less(most, low), o.less(high, -1.0 * most))
                damping = damping + o.select(stays, 0.0, o.maximum(given["kd"][k], 0.0))
                spring = spring + o.select(stays, 0.0, o.maximum(given["kp"][k], 0.0))
            damped.append(damping)
            sprung.append(spring)
            own = given["kd"][k] if k in self.bounded else o.const(0.0)
            alone.append(W[len(alone)][len(alone)] * o.maximum(own, damping))
        return o.vector([_largest_rate(o, W, damped), _largest_rate(o, W, sprung), *alone])

    def _masses(self, o: Ops, constants: Block, controls: Block) -> dict[str, Block]:
        given = self.given(o, constants, controls)
        return {k: block for k, block in given.items() if k == "armature" or is_payload(k)}

    # what is compiled

    @property
    def sizes(self) -> dict[str, int]:
        """The lengths of what the expressions take, by the names of their arguments."""
        m, n = self.mechanism, len(self.rubbing)
        of_v = dict.fromkeys(("theta", "v", "dv", "free"), m.n_v)
        of_friction = {HELD: n, "forces": n, "yields": m.n_v * n}
        entering = {"constants": self.n_constants, "controls": self.n_controls}
        return {"q": m.n_q, "q0": m.n_q, **of_v, "h": 1, **of_friction, **entering}

    def recipe(self, name: str) -> Recipe:
        """The recipe of an expression, a method of this class: inputs as it takes them, one output.

        The key of one that depends on the mechanism alone is the mechanism's.
        """
        alone = ("simulation", self.mechanism.digest)
        key = alone if name in _OF_MECHANISM else self.key
        return one_output_recipe(key, name, self.sizes, getattr(self, name))


_OF_MECHANISM = ("advance", "gaps")


def one_output_recipe(
    key: Sequence[str], name: str, sizes: Mapping[str, int], expression: Callable[..., Block]
) -> Recipe:
    """The recipe of ``expression(o, *inputs)``, whose inputs have the ``sizes`` of their names."""
    inputs = list(signature(expression).parameters)[1:]
    return expression_recipe(
        (*key, name),
        name,
        {given: sizes[given] for given in inputs},
        lambda o, *blocks: {name: expression(o, *blocks)},
    )


def _largest_rate(o: Ops, W: list[list[Block]], gains: list[Block]) -> Block:
    """The largest eigenvalue of W times the diagonal of gains, by a few steps of von Mises."""
    n = len(gains)
    x = [W[j][j] * gains[j] for j in range(n)]
    for _ in range(5):
        x = [sum((W[i][j] * gains[j] * x[j] for j in range(n)), o.const(0.0)) for i in range(n)]
        largest: Block = o.const(1.0e-300)
        for value in x:
            largest = o.maximum(largest, o.absolute(value))
        x = [value / largest for value in x]
    pushed = [g * value for g, value in zip(gains, x, strict=True)]
    whole = [pushed[i] * W[i][j] * pushed[j] for i in range(n) for j in range(n)]
    weight = sum((p * value for p, value in zip(pushed, x, strict=True)), o.const(1.0e-300))
    return sum(whole, o.const(0.0)) / weight


def packed(entries: Sequence[Quantity], values: Mapping[str, Floats], rows: int) -> Floats:
    """The values of these quantities side by side: (rows, n), or (1, n) where all rows share them.

    Each value is (size,) or (rows, size).
    """
    shared = all(values[entry.name].ndim == 1 for entry in entries)
    count = 1 if shared else rows
    columns = [np.broadcast_to(values[e.name], (count, e.size)) for e in entries]
    return np.ascontiguousarray(np.hstack(columns)) if columns else np.zeros((1, 0))
