"""Chains, and all that solvers say of them: to be done by PyKDL and by its face on the same values.

The values come from Python's own generator, whose numbers stay the same between versions: so
stored results need no stored arguments.
"""

from __future__ import annotations

import random
from typing import Any

TYPES = ["RotX", "RotY", "RotZ", "TransX", "TransY", "TransZ", "RotAxis", "TransAxis", "Fixed"]
TOLERANCE = 1e-12
"""Of the largest number of a result: forces and derivatives add up many terms."""


def vector(M: Any, r: random.Random, size: float = 1.0) -> Any:
    return M.Vector(*[r.uniform(-size, size) for _ in range(3)])


def frame(M: Any, r: random.Random) -> Any:
    turn = M.Rotation.RPY(*[r.uniform(-3, 3) for _ in range(3)])
    return M.Frame(turn, vector(M, r, 0.5))


def body(M: Any, r: random.Random) -> Any:
    """A body that could exist: its moments obey the triangle inequality."""
    a, b, c = [r.uniform(0.01, 0.1) for _ in range(3)]
    moments = M.RotationalInertia(b + c, a + c, a + b, 0.004, -0.003, 0.002)
    return M.RigidBodyInertia(r.uniform(0.5, 5), vector(M, r, 0.2), moments)


def joint(M: Any, r: random.Random, kind: str, name: str, scaled: bool) -> Any:
    scale = r.choice([-1.0, 0.5, 2.0]) if scaled else 1.0
    rest = (scale, r.uniform(-1, 1), r.choice([0.0, 0.3]))
    if kind.endswith("Axis"):
        origin, axis = vector(M, r), vector(M, r)
        return M.Joint(name, origin, axis, getattr(M.Joint, kind), *rest)
    return M.Joint(name, getattr(M.Joint, kind), *rest)


def chain(M: Any, seed: str, segments: int, *, scaled: bool) -> Any:
    """A chain of joints of all types; ``scaled``: most have a scale."""
    r, made = random.Random(f"chain {seed}"), M.Chain()
    for k in range(segments):
        kind = r.choice(TYPES)
        moving = joint(M, r, kind, f"joint {k}", scaled and k % 4 > 0)
        made.addSegment(M.Segment(f"segment {k}", moving, frame(M, r), body(M, r)))
    return made


def array(M: Any, r: random.Random, size: int) -> Any:
    made = M.JntArray(size)
    for k in range(size):
        made[k] = r.uniform(-2, 2)
    return made


def numbers(value: Any) -> list[float]:
    """All numbers of a value."""
    kind = type(value).__name__
    if kind in ("int", "float", "bool"):
        return [float(value)]
    if kind == "JntArray":
        return [value[k] for k in range(value.rows())]
    if kind in ("Jacobian", "JntSpaceInertiaMatrix"):
        return [value[i, j] for i in range(value.rows()) for j in range(value.columns())]
    if kind == "Frame":
        return [value[i, j] for i in range(3) for j in range(4)]
    if kind == "FrameVel":
        twist = value.GetTwist()
        return numbers(value.GetFrame()) + [twist[i] for i in range(6)]
    return [value[k] for k in range(6)]


def said(M: Any, made: Any, seed: str, *, inverses: bool) -> dict[str, list[float]]:
    """What the solvers say, by name: the code of each call and its result where that is no error.

    ``inverses``: those for velocities as well. Of chains with scales PyKDL gets 8 of 100 wrong.
    """
    r, n = random.Random(f"values {seed}"), made.getNrOfJoints()
    count = made.getNrOfSegments()
    q, v, a = (array(M, r, n) for _ in range(3))
    both = M.JntArrayVel(q, v)
    wrenches = [M.Wrench(vector(M, r), vector(M, r)) for _ in range(count)]
    none = [M.Wrench() for _ in range(count)]
    grav, twist = vector(M, r, 10), M.Twist(vector(M, r), vector(M, r))
    part = r.randrange(count + 1)
    found: dict[str, list[float]] = {}

    def note(name: str, out: Any, call: Any, *given: Any) -> None:
        code = call(*given)
        found[name] = [float(code), *(numbers(out) if code >= 0 else [])]

    f, fv, J, t, out = M.Frame(), M.FrameVel(), M.Jacobian(n), M.Twist(), M.JntArray(n)
    fk, fkv = M.ChainFkSolverPos_recursive(made), M.ChainFkSolverVel_recursive(made)
    for k in (-1, part, count + 1):
        note(f"pose {k}", f, fk.JntToCart, q, f, k)
    note("velocity", fv, fkv.JntToCart, both, fv)
    note("velocity of a part", fv, fkv.JntToCart, both, fv, part)
    jac = M.ChainJntToJacSolver(made)
    note("jacobian", J, jac.JntToJac, q, J)
    note("jacobian of a part", J, jac.JntToJac, q, J, part)
    dot = M.ChainJntToJacDotSolver(made)
    for k in (0, 1, 2):
        dot.setRepresentation(k)
        note(f"jacobian's derivative {k}", J, dot.JntToJacDot, both, J)
        note(f"the same times velocities {k}", t, dot.JntToJacDot, both, t)
    rne, dyn = M.ChainIdSolver_RNE(made, grav), M.ChainDynParam(made, grav)
    note("forces", out, rne.CartToJnt, q, v, a, none, out)
    note("forces with wrenches", out, rne.CartToJnt, q, v, a, wrenches, out)
    note("gravity", out, dyn.JntToGravity, q, out)
    note("coriolis", out, dyn.JntToCoriolis, q, v, out)
    mass = M.JntSpaceInertiaMatrix(n)
    note("mass", mass, dyn.JntToMass, q, mass)
    note("too many", out, dyn.JntToGravity, M.JntArray(n + 1), out)
    if not inverses:
        return found
    pinv = M.ChainIkSolverVel_pinv(made)
    note("velocities by pinv", out, pinv.CartToJnt, q, twist, out)
    goal, weights = array(M, r, n), M.JntArray(n)
    for k in range(n):
        weights[k] = r.uniform(0.5, 2)
    if n >= 6:  # fewer joints end the process of PyKDL
        nso = M.ChainIkSolverVel_pinv_nso(made)
        found["nso is not ready"] = [float(nso.CartToJnt(q, twist, out))]
        nso.setOptPos(goal)
        nso.setWeights(weights)
        note("velocities by nso", out, nso.CartToJnt, q, twist, out)
        for damping, eps in ((0.0, 1e-5), (0.1, 0.3)):
            wdls = M.ChainIkSolverVel_wdls(made)
            wdls.setLambda(damping)
            wdls.setEps(eps)
            note(f"velocities by wdls {damping}", out, wdls.CartToJnt, q, twist, out)
            found[f"damping {damping}"] = [wdls.getLambdaScaled(), wdls.getSigmaMin()]
    return found


def apart(ours: list[float], theirs: list[float]) -> float:
    """The largest difference, over the largest number or 1."""
    if len(ours) != len(theirs):
        return float("inf")
    largest = max([1.0, *map(abs, theirs)])
    pairs = zip(ours, theirs, strict=True)
    return max([0.0, *[abs(a - b) if a == a else float("inf") for a, b in pairs]]) / largest
