"""Loops, couplings and actuated joints as equalities, tendons and actuators of MuJoCo.

MuJoCo holds points (connect), whole frames (weld), lengths (a tendon between two sites) and sums of
joints by a polynomial. A hinge becomes two points of its axis: one row more than it needs, which is
how MuJoCo's own models do it, as it has no hinge among its equalities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkwork.mechanism.loops import Coupling, Expression, Loop
from linkwork.mechanism.model import Mechanism

Floats = NDArray[np.float64]
Lost: TypeAlias = "dict[str, list[str]]"
"""The names of what MuJoCo cannot hold, by what it is."""

_ARM = 0.1  # of a hinge's points from its origin, as a share of the longest link
_HIGHEST_POWER = 4


def add_loops(mujoco: Any, spec: Any, m: Mechanism) -> Lost:
    """Add what stands beside the tree of a mechanism to the specification of that tree.

    Returns what MuJoCo cannot hold. The lengths of rods are settled by `settle_rods`.
    """
    adder = _Adder(mujoco, spec, m)
    for loop in m.loops:
        adder.loop(loop)
    for coupling in m.couplings:
        adder.coupling(coupling)
    for name in m.actuated:
        adder.motor(name)
    return adder.lost


def settle_rods(spec: Any, model: Any, m: Mechanism) -> None:
    """Give the rods of a specification their lengths: MuJoCo counts from those at ``qpos0``."""
    lengths = {loop.name: loop.distance for loop in m.loops if loop.held.length}
    for equality in spec.equalities:
        if equality.name1 in lengths and equality.name1 == equality.name:
            apart = float(model.tendon_length0[model.tendon(equality.name1).id])
            equality.data[:5] = [lengths[equality.name1] - apart, 1.0, 0.0, 0.0, 0.0]


class _Adder:
    """Adds to a specification, and keeps what cannot be added."""

    def __init__(self, mujoco: Any, spec: Any, m: Mechanism) -> None:
        self.mujoco, self.spec, self.m = mujoco, spec, m
        self.lost: Lost = {}
        ways = np.linalg.norm(np.vstack([m.p_parent_joint, m.p_body_frame]), axis=1)
        self.arm = _ARM * float(ways.max(initial=0.0)) or _ARM

    def loop(self, loop: Loop) -> None:
        """Add a loop, all of it or nothing."""
        kinds, held = self.mujoco.mjtEq, loop.held
        if held.length:
            tendon = self.spec.add_tendon(name=loop.name)
            for side, frame in (("a", loop.frame_a), ("b", loop.frame_b)):
                tendon.wrap_site(self._site(f"{loop.name}/{side}", frame, np.zeros(3)))
            self._equality(kinds.mjEQ_TENDON, loop.name, loop.name, "")
        elif held.across or held.position != "xyz" or len(held.rotation) == 1:
            self.lost.setdefault(f"loops of the kind '{loop.kind}'", []).append(loop.name)
        elif len(held.rotation) == 2:
            free = next(k for k, axis in enumerate("xyz") if axis not in held.rotation)
            for number, arm in (("1", self.arm), ("2", -self.arm)):
                at = arm * np.eye(3)[free]
                self._sites(kinds.mjEQ_CONNECT, loop, f"{loop.name}/{number}", at)
        else:
            kind = kinds.mjEQ_WELD if held.rotation else kinds.mjEQ_CONNECT
            self._sites(kind, loop, loop.name, np.zeros(3))

    def _sites(self, kind: Any, loop: Loop, name: str, at: Floats) -> None:
        """An equality of two sites, at this place in each of the loop's frames."""
        a = self._site(f"{name}/a", loop.frame_a, at)
        b = self._site(f"{name}/b", loop.frame_b, at)
        added = self._equality(kind, name, a, b)
        added.objtype = self.mujoco.mjtObj.mjOBJ_SITE

    def _site(self, name: str, frame: str, at: Floats) -> str:
        """A site on the body of the frame's link; MuJoCo fuses that later where it is asked to."""
        m, f = self.m, self.m.frame(frame)
        link = int(m.frame_link[f])
        back = m.R_body_frame[link].T
        quat = np.zeros(4)
        self.mujoco.mju_mat2Quat(quat, np.ascontiguousarray(back @ m.R_body_frame[f]).ravel())
        p = back @ (m.p_body_frame[f] + m.R_body_frame[f] @ at - m.p_body_frame[link])
        self.spec.body(m.frame_names[link]).add_site(name=name, pos=p, quat=quat)
        return name

    def _equality(self, kind: Any, name: str, one: str, two: str) -> Any:
        added = self.spec.add_equality(type=kind, name=name, name1=one, name2=two)
        added.data[0] = 0.0
        return added

    def coupling(self, each: Coupling) -> None:
        """Add a coupling that is a polynomial of one joint, or a sum of several."""
        terms = polynomial(each.function)
        factors = None if terms is None else _of_one_leader(terms)
        if factors is not None:
            leader, numbers = factors
            name = each.leaders[leader] if any(numbers[1:]) else ""
            added = self._equality(self.mujoco.mjtEq.mjEQ_JOINT, each.name, each.joint, name)
            added.data[:5] = numbers
        elif terms is not None and all(sum(powers) <= 1 for powers in terms):
            self._sum(each, terms)
        else:
            what = "couplings by functions that are not polynomials"
            self.lost.setdefault(what, []).append(each.name)

    def _sum(self, each: Coupling, terms: Polynomial) -> None:
        """A coupling that is a sum: a tendon of the joint less its leaders."""
        tendon = self.spec.add_tendon(name=each.name)
        tendon.wrap_joint(each.joint, 1.0)
        offset = 0.0
        for powers, factor in terms.items():
            if any(powers):
                tendon.wrap_joint(each.leaders[powers.index(1)], -factor)
            else:
                offset = factor
        added = self._equality(self.mujoco.mjtEq.mjEQ_TENDON, each.name, each.name, "")
        added.data[:5] = [offset, 1.0, 0.0, 0.0, 0.0]

    def motor(self, name: str) -> None:
        """Add a motor to an actuated joint, its control being the force in N or N m."""
        m = self.m
        c = m.joint(name)
        first, end = int(m.v_start[c]), int(m.v_start[c + 1])
        if end - first != 1:
            self.lost.setdefault("motors of joints with several velocities", []).append(name)
            return
        transmission = self.mujoco.mjtTrn.mjTRN_JOINT
        motor = self.spec.add_actuator(name=name, target=name, trntype=transmission)
        motor.set_to_motor()
        effort = float(m.effort_limit[first])
        if np.isfinite(effort) and effort > 0.0:
            motor.ctrlrange = [-effort, effort]
            motor.ctrllimited = True


# the polynomial that an expression is

Powers: TypeAlias = "tuple[int, ...]"
"""The power of each input."""
Polynomial: TypeAlias = "Mapping[Powers, float]"
"""Factors by the powers that they multiply."""

_MOST_TERMS = 1000


def polynomial(function: Expression) -> Polynomial | None:
    """The terms of an expression, multiplied out; None for one that is no polynomial."""
    none = (0,) * function.n_inputs
    found: list[Polynomial | None] = []
    for operation, arguments in function.nodes:
        if operation == "constant":
            found.append({none: float(arguments[0])})
        elif operation == "input":
            own = int(arguments[0])
            found.append({tuple(int(k == own) for k in range(function.n_inputs)): 1.0})
        else:
            terms = [found[int(place)] for place in arguments]
            known = [each for each in terms if each is not None]
            found.append(_applied(operation, known, none) if len(known) == len(terms) else None)
    last = found[-1]
    if last is None or not all(map(math.isfinite, last.values())):
        return None
    return {powers: factor for powers, factor in last.items() if factor}


def _of_one_leader(terms: Polynomial) -> tuple[int, list[float]] | None:
    """The leader and factors of a polynomial of at most one of them, of degree 4 or less."""
    used = {k for powers in terms for k, power in enumerate(powers) if power}
    if len(used) > 1 or any(sum(powers) > _HIGHEST_POWER for powers in terms):
        return None
    factors = [0.0] * (_HIGHEST_POWER + 1)
    for powers, factor in terms.items():
        factors[sum(powers)] += factor
    return min(used, default=0), factors


def _applied(operation: str, terms: list[Polynomial], none: Powers) -> Polynomial | None:
    """An operation on polynomials, or on numbers."""
    if operation in _ON_POLYNOMIALS:
        return _ON_POLYNOMIALS[operation](*terms)
    values = [_constant(each) for each in terms]
    try:
        value = None if None in values else _ON_NUMBERS[operation](*values)
    except ValueError:  # the root of a negative number
        return None
    return None if value is None else {none: value}


def _constant(terms: Polynomial) -> float | None:
    """The value of a polynomial without inputs."""
    left = {powers: value for powers, value in terms.items() if value}
    return None if any(map(any, left)) else sum(left.values())


def _sum(one: Polynomial, two: Polynomial, factor: float) -> Polynomial:
    found = dict(one)
    for powers, value in two.items():
        found[powers] = found.get(powers, 0.0) + factor * value
    return found


def _product(one: Polynomial, two: Polynomial) -> Polynomial | None:
    if len(one) * len(two) > _MOST_TERMS:
        return None
    found: dict[Powers, float] = {}
    for a, x in one.items():
        for b, y in two.items():
            powers = tuple(i + j for i, j in zip(a, b, strict=True))
            found[powers] = found.get(powers, 0.0) + x * y
    return {powers: value for powers, value in found.items() if value}


def _quotient(one: Polynomial, two: Polynomial) -> Polynomial | None:
    number = _constant(two)
    return _sum({}, one, 1.0 / number) if number else None


_ON_POLYNOMIALS: Mapping[str, Callable[..., Polynomial | None]] = {
    "negative": lambda one: _sum({}, one, -1.0),
    "add": lambda one, two: _sum(one, two, 1.0),
    "subtract": lambda one, two: _sum(one, two, -1.0),
    "multiply": _product,
    "divide": _quotient,
}
_ON_NUMBERS: Mapping[str, Callable[..., float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "sqrt": math.sqrt,
    "arctan2": math.atan2,
}
