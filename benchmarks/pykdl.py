"""Our face of PyKDL beside PyKDL itself, call by call: `python -m benchmarks.pykdl`.

Both are called in one process, in turn, with the same arguments; the least of several rounds
counts. PyKDL comes from Debian's python3-pykdl, for Debian's Python. Ratios are ours over theirs.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import importlib.util
import pickle
import random
import sys
import timeit
from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

VALUES = """
Vector() | Vector(1., 2., 3.) | Vector(1, 2, 3) | Vector(v) | v + w | v - w | v * w | v * 2.0
v * 2 | 2.0 * v | v / 2.0 | v / 2 | -v | v[1] | v.x() | v.x(3.) | v.__setitem__(1, 2.)
v.__iadd__(w) | v == w | v == v | v != w | v.Norm() | v.Normalize() | v.ReverseSign()
Vector.Zero() | SetToZero(w) | repr(v) | dot(v, w) | Equal(v, w) | diff(v, w) | addDelta(v, w, .1)
list(v) | Rotation() | Rotation(1., 0., 0., 0., 1., 0., 0., 0., 1.) | Rotation(v, v, v)
Rotation(r) | Rotation.Identity() | Rotation.RotX(.1) | Rotation.RPY(.1, .2, .3)
Rotation.EulerZYX(.1, .2, .3) | Rotation.EulerZYZ(.1, .2, .3) | Rotation.Quaternion(0, 0, 0, 1)
Rotation.Quaternion(.1, .2, .3, .9) | Rotation.Rot(v, .3) | Rotation.Rot2(v, .3) | r * s | r * v
r * t | r * u | r.Inverse() | r.Inverse(v) | r.Inverse(t) | r.SetInverse() | r.DoRotX(.1)
r.GetRPY() | r.GetEulerZYX() | r.GetEulerZYZ() | r.GetQuaternion() | r.GetRot() | r.GetRotAngle()
h.GetRotAngle() | r.UnitX() | r.UnitX(v) | r[1, 2] | r.__setitem__((1, 2), .3) | r == s | r == r
repr(r) | diff(r, s) | addDelta(r, v) | Frame() | Frame(r, v) | Frame(r) | Frame(v) | Frame(f)
f * g | f * v | f * t | f * u | f.Inverse() | f.Inverse(v) | f.Inverse(t) | f.M | f.p | f[1, 3]
f.__setitem__((1, 3), .2) | f == g | f == f2 | Equal(f, g) | repr(f) | f.Integrate(t, 10.)
diff(f, g) | addDelta(f, t, .1) | Frame.Identity() | Frame.DH(.1, .2, .3, .4)
Frame.DH_Craig1989(.1, .2, .3, .4) | copy(f) | deepcopy(f) | dumps(f) | Twist() | Twist(v, w)
t + t | t - t | -t | t * 2. | t / 2. | t.__iadd__(z) | t == t | t.RefPoint(v) | t.vel | t[3]
t.__setitem__(3, .1) | dot(t, u) | t.ReverseSign() | diff(t, t) | addDelta(t, t) | u + u
u.RefPoint(v) | Wrench() | Wrench(v, w) | doubleVel(.1, .2) | d.t | VectorVel(v, w) | vv + vv
vv * vv | vv * 2. | vv * d | vv / d | r * vv | vv.Norm() | RotationVel(r, v) | rv * rv | rv * vv
rv.Inverse() | rv.Inverse(vv) | rv.DoRotX(d) | FrameVel(f, t) | fv * fv | fv * vv | fv * tv
fv.Inverse() | fv.GetFrame() | fv.GetTwist() | TwistVel(t, t) | tv + tv | tv * 2. | diff(fv, fv)
addDelta(fv, tv) | Equal(fv, fv) | I * v | I + I | 2. * I | B + B | B * t | f * B | B.RefPoint(v)
RigidBodyInertia(1., v, I) | JntArray(7) | q[3] | q.__setitem__(3, .1) | J[2, 3] | Jacobian(7)
"""

SOLVERS = """
pose: fk.JntToCart(q, f)
pose of a part: fk.JntToCart(q, f, 4)
velocity: fkv.JntToCart(both, fv)
Jacobian: jac.JntToJac(q, J)
its derivative: dot.JntToJacDot(both, J)
the same in the tip's axes: own.JntToJacDot(both, J)
derivative times velocities: dot.JntToJacDot(both, t)
inverse dynamics: rne.CartToJnt(q, dq, ddq, none, out)
the same with wrenches: rne.CartToJnt(q, dq, ddq, wrenches, out)
gravity: dyn.JntToGravity(q, out)
Coriolis: dyn.JntToCoriolis(q, dq, out)
mass matrix: dyn.JntToMass(q, H)
velocities, pinv: pinv.CartToJnt(q, t2, out)
velocities, pinv_givens: givens.CartToJnt(q, t2, out)
velocities, pinv_nso: nso.CartToJnt(q, t2, out)
velocities, wdls: wdls.CartToJnt(q, t2, out)
position, LMA: lma.CartToJnt(zero, goal, out)
position, NR: nr.CartToJnt(zero, goal, out)
position, NR_JL: limited.CartToJnt(zero, goal, out)
"""

ANEW = """
chain out of a tree: tree.getChain("base", "tip")
pose, chain and solver: K.ChainFkSolverPos_recursive(c := part()).JntToCart(q, f)
pose: K.ChainFkSolverPos_recursive(chain).JntToCart(q, f)
velocity: K.ChainFkSolverVel_recursive(chain).JntToCart(both, fv)
Jacobian: K.ChainJntToJacSolver(chain).JntToJac(q, J)
its derivative: K.ChainJntToJacDotSolver(chain).JntToJacDot(both, J)
inverse dynamics: K.ChainIdSolver_RNE(chain, gravity).CartToJnt(q, dq, ddq, none, out)
gravity: K.ChainDynParam(chain, gravity).JntToGravity(q, out)
Coriolis: K.ChainDynParam(chain, gravity).JntToCoriolis(q, dq, out)
mass matrix: K.ChainDynParam(chain, gravity).JntToMass(q, H)
velocities, pinv: K.ChainIkSolverVel_pinv(chain).CartToJnt(q, t2, out)
velocities, pinv_givens: K.ChainIkSolverVel_pinv_givens(chain).CartToJnt(q, t2, out)
velocities, wdls: K.ChainIkSolverVel_wdls(chain).CartToJnt(q, t2, out)
position, LMA: K.ChainIkSolverPos_LMA(chain).CartToJnt(zero, goal, out)
position, NR: anew(K.ChainIkSolverPos_NR, chain).CartToJnt(zero, goal, out)
position, NR_JL: anew(K.ChainIkSolverPos_NR_JL, chain, low, high).CartToJnt(zero, goal, out)
NR_JL, chain too: anew(K.ChainIkSolverPos_NR_JL, part(), low, high).CartToJnt(zero, goal, out)
chain by hand, and pose: K.ChainFkSolverPos_recursive(by_hand()).JntToCart(q, f)
"""
"""Solvers that are made for one call, as many programs do."""


class Line(NamedTuple):
    """One call: what it is, and seconds of ours and of theirs."""

    name: str
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs


def values(K: Any) -> dict[str, Any]:
    """The names that `VALUES` uses, of one module."""
    names = {name: getattr(K, name) for name in dir(K) if not name.startswith("_")}
    v, w, r = K.Vector(1, 2, 3), K.Vector(0.1, 0.2, 0.3), K.Rotation.RPY(0.1, 0.2, 0.3)
    s, f = K.Rotation.RPY(0.3, 0.2, 0.3), K.Frame(r, v)
    t, moments = K.Twist(v, w), K.RotationalInertia(1, 2, 3, 0.1, 0.2, 0.3)
    names |= {
        "v": v, "w": w, "r": r, "s": s, "f": f, "g": K.Frame(s, w), "t": t, "u": K.Wrench(v, w),
        "z": K.Twist(), "d": K.doubleVel(0.1, 0.2), "vv": K.VectorVel(v, w),
        "rv": K.RotationVel(r, v), "fv": K.FrameVel(f, t), "tv": K.TwistVel(t, t), "I": moments,
        "B": K.RigidBodyInertia(1.0, v, moments), "f2": K.Frame(f),
        "h": K.Rotation.RotX(3.14159265), "q": K.JntArray(7), "J": K.Jacobian(7),
        "copy": copy.copy, "deepcopy": copy.deepcopy, "dumps": pickle.dumps,
    }  # fmt: skip
    return names


def arm(K: Any) -> Any:
    """Seven joints that turn, with masses: of a Panda's lengths."""
    chain, half = K.Chain(), 1.5707963267948966
    links = [
        (0, 0, 0.333, 0), (0, -half, 0, 0), (0, half, 0.316, 0), (0.0825, half, 0, 0),
        (-0.0825, -half, 0.384, 0), (0, half, 0, 0), (0.088, half, 0.107, 0),
    ]  # fmt: skip
    body = K.RotationalInertia(0.03, 0.02, 0.04, 0.001, -0.002, 0.003)
    for a, alpha, d, theta in links:
        tip = K.Frame.DH_Craig1989(a, alpha, d, theta)
        inertia = K.RigidBodyInertia(2.0, K.Vector(0.01, -0.02, 0.1), body)
        chain.addSegment(K.Segment(K.Joint(K.Joint.RotZ), tip, inertia))
    return chain


def solvers(K: Any) -> dict[str, Any]:
    """The names that `SOLVERS` uses, of one module."""
    chain, r = arm(K), random.Random("benchmark")
    n = chain.getNrOfJoints()

    def array(low: float, high: float) -> Any:
        made = K.JntArray(n)
        for k in range(n):
            made[k] = r.uniform(low, high)
        return made

    q, dq, ddq = array(0.2, 1.2), array(-1, 1), array(-1, 1)
    gravity = K.Vector(0, 0, -9.81)
    goal, fk, pinv = K.Frame(), K.ChainFkSolverPos_recursive(chain), K.ChainIkSolverVel_pinv(chain)
    fk.JntToCart(q, goal)
    own, nso = K.ChainJntToJacDotSolver(chain), K.ChainIkSolverVel_pinv_nso(chain)
    own.setBodyFixedRepresentation()
    nso.setOptPos(array(0, 1))
    nso.setWeights(array(1, 2))
    low, high, zero = array(-3, -3), array(3, 3), array(0.1, 0.6)
    vector = [K.Vector(*[r.uniform(-1, 1) for _ in range(3)]) for _ in range(4)]
    limited = K.ChainIkSolverPos_NR_JL(chain, low, high, fk, pinv, 500, 1e-6)
    tree, segments = K.Tree("base"), [chain.getSegment(k) for k in range(chain.getNrOfSegments())]
    for k, s in enumerate(segments):
        parts = s.getJoint(), s.getFrameToTip(), s.getInertia()
        hook, name = f"link {k}" if k else "base", f"link {k + 1}" if k + 1 < n else "tip"
        tree.addSegment(K.Segment(name, *parts), hook)
    kept: list[Any] = []  # PyKDL's solvers do not keep what they are given

    def anew(kind: Any, chain: Any, *limits: Any) -> Any:
        kept[:] = chain, K.ChainFkSolverPos_recursive(chain), K.ChainIkSolverVel_pinv(chain)
        return kind(chain, *limits, *kept[1:], 500, 1e-6)

    def part() -> Any:
        return tree.getChain("base", "tip")

    def by_hand() -> Any:
        made = K.Chain()
        for s in segments:
            made.addSegment(s)
        kept[:] = [made]
        return made

    return {  # PyKDL's solvers do not keep their chain: it must be here too
        "chain": chain, "q": q, "dq": dq, "ddq": ddq, "both": K.JntArrayVel(q, dq), "f": K.Frame(),
        "fv": K.FrameVel(), "J": K.Jacobian(n), "t": K.Twist(), "out": K.JntArray(n),
        "H": K.JntSpaceInertiaMatrix(n), "t2": K.Twist(vector[0], vector[1]), "zero": zero,
        "goal": goal, "none": [K.Wrench()] * n, "wrenches": [K.Wrench(*vector[2:])] * n, "fk": fk,
        "fkv": K.ChainFkSolverVel_recursive(chain), "jac": K.ChainJntToJacSolver(chain),
        "dot": K.ChainJntToJacDotSolver(chain), "own": own, "pinv": pinv, "nso": nso,
        "rne": K.ChainIdSolver_RNE(chain, gravity), "dyn": K.ChainDynParam(chain, gravity),
        "givens": K.ChainIkSolverVel_pinv_givens(chain), "wdls": K.ChainIkSolverVel_wdls(chain),
        "lma": K.ChainIkSolverPos_LMA(chain), "limited": limited,
        "nr": K.ChainIkSolverPos_NR(chain, fk, pinv, 500, 1e-6), "K": K, "gravity": gravity,
        "low": low, "high": high, "tree": tree, "anew": anew, "part": part,
        "by_hand": by_hand,
    }  # fmt: skip


def codes_of(text: str) -> list[tuple[str, str]]:
    """Names and calls; a call without a name is its own."""
    found: list[tuple[str, str]] = []
    for line in text.strip().splitlines():
        name, colon, code = line.partition(": ")
        if colon:
            found.append((name, code))
        else:
            found += [(code.strip(), code.strip()) for code in line.split(" | ")]
    return found


def seconds(code: str, names: dict[str, Any], count: int) -> float:
    """Of one call."""
    return timeit.timeit(code, globals=names, number=count) / count


def measured(
    codes: Sequence[tuple[str, str]], both: Sequence[dict[str, Any]], rounds: int, *, warm: int
) -> list[Line]:
    """Each call on both sides, in turn; the least of so many rounds."""
    lines: list[Line] = []
    for name, code in codes:
        least = [float("inf")] * 2
        for names in both:
            seconds(code, names, warm)
        count = max(3, int(0.002 / max(seconds(code, names, 10) for names in both)))
        for _ in range(rounds):
            for k, names in enumerate(both):
                least[k] = min(least[k], seconds(code, names, count))
        lines.append(Line(name, *least))
    return lines


def table(title: str, lines: Sequence[Line]) -> str:
    """Calls, microseconds of both, and ratios; those above 1 and 2 have a mark."""
    width = max(len(line.name) for line in lines)
    rows = [f"{title:{width}}      ours    PyKDL    ratio"]
    for line in lines:
        mark = " **" if line.ratio > 2 else " *" if line.ratio > 1 else ""
        figures = f"{line.ours * 1e6:9.2f}{line.theirs * 1e6:9.2f}{line.ratio:9.2f}"
        rows.append(f"{line.name:{width}} {figures}{mark}")
    ratios = [line.ratio for line in lines]
    over = [sum(ratio > most for ratio in ratios) for most in (1, 2)]
    rows.append(
        f"{len(lines)} calls, median ratio {median(ratios):.2f}, {over[0]} above 1, "
        f"{over[1]} above 2"
    )
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pykdl", description=__doc__)
    parser.add_argument("--only", choices=("values", "solvers"), help="one of the two tables")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    if importlib.util.find_spec("PyKDL") is None:
        print("LEFT OUT: PyKDL (Debian: python3-pykdl) is not installed")
        return 0
    both = [importlib.import_module("linkwork.faces.pykdl"), importlib.import_module("PyKDL")]
    if options.only != "solvers":
        lines = measured(codes_of(VALUES), [values(K) for K in both], options.rounds, warm=2000)
        print(table("values (microseconds)", lines), end="\n\n")
    if options.only != "values":
        lines = measured(codes_of(SOLVERS), [solvers(K) for K in both], options.rounds, warm=20)
        print(table("chains of 7 joints (microseconds)", lines), end="\n\n")
        lines = measured(codes_of(ANEW), [solvers(K) for K in both], options.rounds, warm=20)
        print(table("the same, solvers made anew", lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
