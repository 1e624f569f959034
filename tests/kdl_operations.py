"""Every operation of PyKDL's value types, to be done by PyKDL and by its face on the same values.

The values come from Python's own generator, whose numbers stay the same between versions: so
stored results need no stored arguments. A third of all angles are special ones.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TOLERANCE = 1e-12
NEAR = 1e-6
"""Nearer than this to 0 and pi, PyKDL rounds the angle of a rotation."""
ROUGH = 3e-6
LOST = 4e-16
"""Near 0 and pi the axis that PyKDL gives is uncertain by this over the distance."""

_QUARTERS = [k * math.pi / 2 for k in range(-4, 5)]
_SPECIAL = [
    *_QUARTERS, math.pi / 4, 1e-3, 1e-5, 1e-9, 1e-12, 1e-13, 1e-17,
    *[side * math.pi / 2 + off for side in (1, -1) for off in (1e-5, -1e-5, 1e-11, 1e-13)],
    *[math.pi + off for off in (1e-3, 1e-4, -1e-4, 1e-5, -1e-5)],
]  # fmt: skip


class Source:
    """Arguments: each method gives a function that makes one for a module."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def number(self) -> float:
        """Between -3 and 3, some of them simple."""
        if self.random.random() < 0.2:
            return self.random.choice([0.0, 1.0, -1.0, 2.0, 1e-3])
        return self.random.uniform(-3, 3)

    def angle(self) -> float:
        if self.random.random() < 0.3:
            return self.random.choice(_SPECIAL)
        return self.random.uniform(-4, 4)

    def numbers(self, count: int) -> list[float]:
        return [self.number() for _ in range(count)]

    def make(self, letter: str) -> Callable[[Any], Any]:
        """An argument of the kind that a letter stands for."""
        return getattr(self, _KINDS[letter])()

    def scalar(self) -> Callable[[Any], float]:
        value = self.number()
        return lambda M: value

    def positive(self) -> Callable[[Any], float]:
        value = abs(self.number()) + 1e-3
        return lambda M: value

    def turn(self) -> Callable[[Any], float]:
        value = self.angle()
        return lambda M: value

    def vector(self) -> Callable[[Any], Any]:
        these = self.numbers(3)
        return lambda M: M.Vector(*these)

    def unit(self) -> Callable[[Any], Any]:
        """A quaternion of length 1."""
        these = [self.random.gauss(0, 1) for _ in range(4)]
        length = math.hypot(*these)
        return lambda M: [x / length for x in these]

    def rotation(self) -> Callable[[Any], Any]:
        how = self.random.choice(["RPY", "EulerZYX", "EulerZYZ"])
        these = [self.angle() for _ in range(3)]
        return lambda M: getattr(M.Rotation, how)(*these)

    def _of(self, name: str, letters: str) -> Callable[[Any], Any]:
        parts = [self.make(letter) for letter in letters]
        return lambda M: getattr(M, name)(*[part(M) for part in parts])

    def frame(self) -> Callable[[Any], Any]:
        return self._of("Frame", "RV")

    def twist(self) -> Callable[[Any], Any]:
        return self._of("Twist", "VV")

    def wrench(self) -> Callable[[Any], Any]:
        return self._of("Wrench", "VV")

    def double_vel(self) -> Callable[[Any], Any]:
        return self._of("doubleVel", "as")

    def vector_vel(self) -> Callable[[Any], Any]:
        return self._of("VectorVel", "VV")

    def rotation_vel(self) -> Callable[[Any], Any]:
        return self._of("RotationVel", "RV")

    def frame_vel(self) -> Callable[[Any], Any]:
        return self._of("FrameVel", "FT")

    def twist_vel(self) -> Callable[[Any], Any]:
        return self._of("TwistVel", "vv")

    def moments(self) -> Callable[[Any], Any]:
        these = self.numbers(6)
        return lambda M: M.RotationalInertia(*these)

    def body(self) -> Callable[[Any], Any]:
        return self._of("RigidBodyInertia", "pVI")


_KINDS = {
    "s": "scalar", "p": "positive", "a": "turn", "V": "vector", "q": "unit", "R": "rotation",
    "F": "frame", "T": "twist", "W": "wrench", "d": "double_vel", "v": "vector_vel",
    "r": "rotation_vel", "f": "frame_vel", "t": "twist_vel", "I": "moments", "B": "body",
}  # fmt: skip


@dataclass(frozen=True)
class Operation:
    """``code`` on arguments a, b, c, d of the kinds that letters stand for; ``M`` is the module.

    ``turns`` names the rotation whose angle and axis the result is: near 0 and pi PyKDL rounds.
    """

    code: str
    kinds: str
    turns: str = ""

    def __str__(self) -> str:
        return f"{self.code} [{self.kinds}]"

    def arguments(self, source: Source) -> list[Callable[[Any], Any]]:
        return [source.make(letter) for letter in self.kinds]

    def run(self, M: Any, makers: list[Callable[[Any], Any]]) -> list[float]:
        """The numbers of the result."""
        return flat(self.value(M, makers))

    def value(self, M: Any, makers: list[Callable[[Any], Any]]) -> Any:
        names = dict(zip("abcd", [make(M) for make in makers], strict=False))
        return eval(_compiled(self.code), {"M": M, "done": done, **names})

    def from_a_limit(self, M: Any, makers: list[Callable[[Any], Any]]) -> float:
        """How far the angle is from 0 and pi: nearer than NEAR PyKDL rounds it."""
        if not self.turns:
            return math.inf
        angle = Operation(self.turns, self.kinds).value(M, makers).GetRot().Norm()
        return min(angle, math.pi - angle)


_CODES: dict[str, Any] = {}


def _compiled(code: str) -> Any:
    if code not in _CODES:
        _CODES[code] = compile(code, "operation", "eval")
    return _CODES[code]


def done(value: Any, *results: Any) -> Any:
    """What a method in place leaves, and what it returned."""
    return (value, *[result for result in results if result is not None])


def flat(value: Any) -> list[float]:
    """The numbers of a value of either module, through names that both have."""
    if isinstance(value, (bool, int, float)):
        return [float(value)]
    if isinstance(value, (tuple, list)):
        return [x for part in value for x in flat(part)]
    name = type(value).__name__
    if name in _COUNTED:
        return [value[k] for k in range(_COUNTED[name])]
    if name in ("Rotation", "Frame"):
        return [value[i, j] for i in range(3) for j in range(3 + (name == "Frame"))]
    return [x for part in _PARTS[name] for x in flat(_got(value, part))]


def _got(value: Any, part: str) -> Any:
    got = getattr(value, part)
    return got() if callable(got) else got


_COUNTED = {"Vector": 3, "Twist": 6, "Wrench": 6, "RotationalInertia": 9}
_PARTS = {
    "doubleVel": ("t", "grad"),
    "VectorVel": ("p", "v"),
    "RotationVel": ("R", "w"),
    "FrameVel": ("M", "p"),
    "TwistVel": ("vel", "rot"),
    "RigidBodyInertia": ("getMass", "getCOG", "getRotationalInertia"),
}


def distance(ours: list[float], theirs: list[float], *, of_the_largest: bool = False) -> float:
    """The largest difference, relative to each number above 1, or to the largest of them all.

    The same infinite number or nan is no difference.
    """
    if len(ours) != len(theirs):
        return math.inf
    least = max(map(abs, theirs), default=1.0) if of_the_largest else 1.0
    return max(
        [_apart(x, y, max(1.0, least)) for x, y in zip(ours, theirs, strict=True)], default=0.0
    )


def _apart(x: float, y: float, least: float) -> float:
    if x == y or (math.isnan(x) and math.isnan(y)):
        return 0.0
    away = abs(x - y) / max(least, abs(y))
    return math.inf if math.isnan(away) else away


def _all(kinds: str, *codes: str) -> list[Operation]:
    return [Operation(code, kinds) for code in codes]


_EQUAL = (
    "(a == a, a == b, a != b, M.Equal(a, b), M.Equal(a, a), M.Equal(a, b, c), M.Equal(b, a, 4.0))"
)

OPERATIONS = [
    # Vector
    *_all("VV", "a + b", "a - b", "a * b", "M.dot(a, b)", "done(a, a.__iadd__(b))"),
    *_all("VV", "done(a, a.__isub__(b))"),
    *_all("Vs", "a * b", "b * a", "a / b", "done(a, a.x(b))", "done(a, a.y(b), a.z(2))"),
    *_all("V", "-a", "a.Norm()", "done(a, a.Normalize())", "done(a, a.ReverseSign())", "list(a)"),
    *_all("V", "M.Vector(a)", "(a.x(), a.y(), a.z())", "done(a, M.SetToZero(a))"),
    *_all("V", "a.Normalize(2.)"),
    # Rotation
    *_all("RR", "a * b"),
    *_all("RV", "a * b", "a.Inverse(b)", "done(a, a.UnitX(b), a.UnitY(b))", "done(a, a.UnitZ(b))"),
    *_all("RT", "a * b", "a.Inverse(b)"),
    *_all("RW", "a * b", "a.Inverse(b)"),
    *_all("R", "a.Inverse()", "done(a, a.SetInverse())", "M.Rotation(a)", "a.GetQuaternion()"),
    *_all("R", "(a.UnitX(), a.UnitY(), a.UnitZ())", "a.GetRPY()", "a.GetEulerZYX()"),
    *_all("R", "a.GetEulerZYZ()"),
    Operation("a.GetRot()", "R", "a"),
    Operation("a.GetRotAngle()", "R", "a"),
    Operation("a.GetRotAngle(1e-6)", "R", "a"),
    *_all("Ra", "done(a, a.DoRotX(b))", "done(a, a.DoRotY(b))", "done(a, a.DoRotZ(b))"),
    *_all("Va", "M.Rotation.Rot(a, b)", "M.Rotation.Rot2(a, b)"),
    *_all("a", "M.Rotation.RotX(a)", "M.Rotation.RotY(a)", "M.Rotation.RotZ(a)"),
    *_all("aaa", "M.Rotation.RPY(a, b, c)", "M.Rotation.EulerZYX(a, b, c)"),
    *_all("aaa", "M.Rotation.EulerZYZ(a, b, c)"),
    *_all("q", "M.Rotation.Quaternion(*a)"),
    *_all("VVV", "M.Rotation(a, b, c)"),
    *_all("VVV", "M.Rotation(*a, *b, *c)"),
    # Frame
    *_all("FF", "a * b"),
    *_all("FV", "a * b", "a.Inverse(b)"),
    *_all("FT", "a * b", "a.Inverse(b)"),
    *_all("FW", "a * b", "a.Inverse(b)"),
    *_all("F", "a.Inverse()", "M.Frame(a)", "M.Frame(a.M)", "M.Frame(a.p)", "(a.M, a.p)"),
    *_all("FTp", "done(a, a.Integrate(b, c))"),
    *_all("sasa", "M.Frame.DH(a, b, c, d)", "M.Frame.DH_Craig1989(a, b, c, d)"),
    # Twist and Wrench
    *_all("TT", "(a + b, a - b, -a)", "done(a, a.__iadd__(b))", "done(a, a.__isub__(b))"),
    *_all("WW", "(a + b, a - b, -a)", "done(a, a.__iadd__(b))", "done(a, a.__isub__(b))"),
    *_all("Ts", "(a * b, b * a, a / b)"),
    *_all("Ws", "(a * b, b * a, a / b)"),
    *_all("TV", "a.RefPoint(b)"),
    *_all("WV", "a.RefPoint(b)"),
    *_all("TW", "(M.dot(a, b), M.dot(b, a))"),
    *_all("T", "done(a, a.ReverseSign())", "(a.vel, a.rot)", "done(a, M.SetToZero(a))"),
    *_all("W", "done(a, a.ReverseSign())", "(a.force, a.torque)", "done(a, M.SetToZero(a))"),
    # functions of the module
    *_all("VVs", "M.diff(a, b, c)", "M.addDelta(a, b, c)", _EQUAL),
    *_all("TTs", "M.diff(a, b, c)", "M.addDelta(a, b, c)", _EQUAL),
    *_all("WWs", "M.diff(a, b, c)", "M.addDelta(a, b, c)", _EQUAL),
    Operation("M.diff(a, b, c)", "RRp", "a.Inverse() * b"),
    Operation("M.diff(a, b, c)", "FFp", "a.M.Inverse() * b.M"),
    *_all("RVs", "M.addDelta(a, b, c)"),
    *_all("FTs", "M.addDelta(a, b, c)"),
    *_all("RRs", _EQUAL),
    *_all("FFs", _EQUAL),
    # velocities
    *_all("vv", "(a + b, a - b, -a)", "a * b", "M.dot(a, b)", "done(a, a.__iadd__(b))"),
    *_all("vV", "(a + b, a - b, b + a, b - a)", "(a * b, b * a)", "(M.dot(a, b), M.dot(b, a))"),
    *_all("vs", "(a * b, b * a, a / b)"),
    *_all("vd", "(a * b, b * a, a / b)"),
    *_all("v", "a.Norm()", "(a.p, a.v, a.value(), a.deriv())", "done(a, a.ReverseSign())"),
    *_all("v", "done(a, M.SetToZero(a))"),
    *_all("Rv", "a * b"),
    *_all("d", "-a", "(a.t, a.grad, a.value(), a.deriv())"),
    *_all("rv", "a * b", "a.Inverse(b)"),
    *_all("rV", "a * b", "a.Inverse(b)"),
    *_all("rt", "a * b", "a.Inverse(b)"),
    *_all("rT", "a * b", "a.Inverse(b)"),
    *_all("rr", "a * b"),
    *_all("rR", "a * b", "b * a"),
    *_all("r", "a.Inverse()", "(a.UnitX(), a.UnitY(), a.UnitZ(), a.value(), a.deriv())"),
    *_all("rd", "done(a, a.DoRotX(b))", "done(a, a.DoRotY(b))", "done(a, a.DoRotZ(b))"),
    *_all("d", "M.RotationVel.RotX(a)", "M.RotationVel.RotZ(a)"),
    *_all("Vd", "M.RotationVel.Rot(a, b)", "M.RotationVel.Rot2(a, b)"),
    *_all("ff", "a * b"),
    *_all("fF", "a * b", "b * a"),
    *_all("fv", "a * b", "a.Inverse(b)"),
    *_all("fV", "a * b", "a.Inverse(b)"),
    *_all("ft", "a * b", "a.Inverse(b)"),
    *_all("fT", "a * b", "a.Inverse(b)"),
    *_all("f", "a.Inverse()", "(a.GetFrame(), a.GetTwist(), a.value(), a.deriv())"),
    *_all("tt", "(a + b, a - b, -a)", "done(a, a.__iadd__(b))"),
    *_all("ts", "(a * b, b * a, a / b)"),
    *_all("td", "(a * b, b * a, a / b)"),
    *_all("tv", "a.RefPoint(b)"),
    *_all("t", "(a.GetTwist(), a.GetTwistDot(), a.value(), a.deriv())"),
    *_all("dds", "M.diff(a, b, c)", "M.addDelta(a, b, c)", _EQUAL),
    *_all("vvs", "M.diff(a, b, c)", "M.addDelta(a, b, c)", _EQUAL),
    *_all("tts", _EQUAL),
    *_all("rrs", _EQUAL),
    *_all("ffs", _EQUAL),
    *_all("vV", "(M.VectorVel(b) == b, a == b, M.Equal(a, b), M.Equal(b, M.VectorVel(b)))"),
    Operation("M.diff(a, b, c)", "rrp", "a.R.Inverse() * b.R"),
    *_all("rvs", "M.addDelta(a, b, c)"),
    *_all("fts", "M.addDelta(a, b, c)"),
    # inertias
    *_all("II", "a + b"),
    *_all("Is", "b * a"),
    *_all("IV", "a * b"),
    *_all("BB", "a + b"),
    *_all("Bp", "b * a"),
    *_all("BT", "a * b"),
    *_all("BV", "a.RefPoint(b)"),
    *_all("FB", "a * b"),
    *_all("RB", "a * b"),
    *_all("B", "a"),
]

REFUSED = {
    "M.Vector('1', 2, 3)": "TypeError", "M.Vector(1, 2)": "TypeError",
    "M.Vector(None, 1, 2)": "TypeError", "M.Vector(1j, 1, 2)": "TypeError",
    "v + 1": "TypeError", "v - r": "TypeError", "v * 'a'": "TypeError", "'a' * v": "TypeError",
    "v / 'a'": "TypeError", "v / v": "TypeError", "v[3]": "IndexError", "v[-1]": "IndexError",
    "v[0:2]": "TypeError", "v['a']": "TypeError", "v[1.0]": "TypeError", "len(v)": "TypeError",
    "hash(v)": "TypeError", "v.__setitem__(3, 1.0)": "IndexError", "v.x('a')": "TypeError",
    "M.Rotation(1)": "TypeError", "M.Rotation(1, 2, 3)": "TypeError",
    "r[0]": "TypeError", "r[3, 0]": "IndexError", "r[-1, 0]": "IndexError",
    "r[0, 0, 0]": "TypeError", "r * 3": "TypeError", "3 * r": "TypeError", "r * f": "TypeError",
    "r + r": "TypeError", "list(r)": "TypeError", "hash(r)": "TypeError",
    "M.Rotation.Rot(1, 2)": "TypeError", "M.Rotation.RPY(1, 2)": "TypeError",
    "M.Rotation.RotX('a')": "TypeError", "r.Inverse(3)": "TypeError", "r.UnitX(1)": "TypeError",
    "M.Rotation.Quaternion(0, 0, None, 1)": "TypeError",
    "M.Frame(1)": "TypeError", "M.Frame(v, r)": "TypeError", "M.Frame(f, f)": "TypeError",
    "f[3, 0]": "IndexError", "f[0, 4]": "IndexError", "f * 3": "TypeError", "f * r": "TypeError",
    "f.Integrate(v, 1.0)": "TypeError", "f.Integrate(t, None)": "TypeError",
    "setattr(f, 'M', 3)": "TypeError", "setattr(f, 'p', 3)": "TypeError",
    "hash(f)": "TypeError", "M.Frame.DH(1, 2, 3)": "TypeError",
    "t[6]": "IndexError", "t[-1]": "IndexError", "t['a']": "TypeError", "t * w": "TypeError",
    "t * t": "TypeError", "t + w": "TypeError", "M.Twist(v)": "TypeError",
    "M.Wrench(v, 1)": "TypeError", "t.RefPoint(1)": "TypeError",
    "setattr(t, 'vel', 1)": "TypeError",
    "M.dot(v, t)": "TypeError", "M.dot(t, t)": "TypeError", "M.Equal(v, r)": "TypeError",
    "M.diff(v, r)": "TypeError", "M.diff(f, v)": "TypeError", "M.addDelta(f, v)": "TypeError",
    "M.SetToZero(3)": "TypeError", "setattr(v, 'foo', 1)": "AttributeError",
}  # fmt: skip
"""What is refused, and as what; `names_for` makes v, r, f, t, w."""


def names_for(M: Any) -> dict[str, Any]:
    """A module and one value of each type."""
    v, r = M.Vector(1.0, 2.0, 3.0), M.Rotation.RPY(0.1, 0.2, 0.3)
    return {
        "M": M, "v": v, "r": r, "f": M.Frame(r, v), "t": M.Twist(v, v), "w": M.Wrench(v, v),
    }  # fmt: skip
