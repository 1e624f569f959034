"""The left front corner of a car: two A-arms, an upright, a rack with its tie rod, a coil-over."""

from __future__ import annotations

import math

from loops import Loops
from robot import Limit, Place, Robot, at, towards
from shapes import Vector, ball, disc, rod

LOWER: Vector = (0.0, 0.36, 0.19)  # middle of the arm's pins
LOWER_BALL: Vector = (0.0, 0.72, 0.17)
UPPER: Vector = (0.0, 0.46, 0.47)
UPPER_BALL: Vector = (-0.03, 0.68, 0.49)
DIVE = 0.08  # the upper arm's pins are turned about y, against diving
WHEEL: Vector = (0.0, 0.8, 0.31)
RACK: Vector = (0.14, 0.38, 0.24)
STEERING: Vector = (0.13, 0.7, 0.22)
STRUT_TOP: Vector = (0.0, 0.5, 0.68)
STRUT_EYE: Vector = (0.0, 0.58, 0.21)


def _less(a: Vector, b: Vector) -> Vector:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def _pitched(a: Vector, pitch: float) -> Vector:
    """A vector in axes that are turned about y."""
    c, s = math.cos(pitch), math.sin(pitch)
    return (c * a[0] - s * a[2], a[1], s * a[0] + c * a[2])


def double_wishbone() -> tuple[Robot, Loops]:
    """x ahead, y to the left, z up; the origin on the road, midway between the wheels."""
    robot = Robot(
        "double_wishbone",
        """
double_wishbone: the left front corner of a car: lower and upper A-arm, upright and wheel, a
  steering rack with its tie rod, a coil-over from the body to the lower arm. x is ahead, y to the
  left, z up, the origin on the road midway between the wheels. Turns of the wheel, the rack and
  the length of the coil-over say where it is.
Dimensions: ours, those of a passenger car. Lower arm: pins along x at (0, 0.36, 0.19) m, ball at
  (0, 0.72, 0.17). Upper arm: pins at (0, 0.46, 0.47), turned by 0.08 about y, ball at
  (-0.03, 0.68, 0.49). Tie rod from (0.14, 0.38, 0.24) to (0.13, 0.7, 0.22). Coil-over from
  (0, 0.5, 0.68) to (0, 0.58, 0.21). Wheel at (0, 0.8, 0.31), its radius 0.31 m. At zero the loops
  are closed, and the wheel stands upright and straight.
Inertias: uniform solids: body 60 kg, lower arm 4, upper arm 2.5, upright 6, wheel 18, rack 2, tie
  rod 0.8, coil-over 3 and its rod 1.5, each ball or cross 0.05 kg.
Limits: ours: coil-over 0.06 m each way, rack 0.06 m each way.
""",
    )
    _body(robot)
    loops = Loops(("strut", "rack", "wheel"))
    _arms(robot)
    _upright(robot)
    robot.frame("upper_ball", "upper_arm", Place(_pitched(_less(UPPER_BALL, UPPER), DIVE)))
    robot.frame("upright_top", "upright", Place(_less(UPPER_BALL, LOWER_BALL)))
    loops.close("upper_joint", ("upper_ball", "upright_top"), "position")
    _steering(robot, loops)
    _strut(robot, loops)
    return robot, loops


def _body(robot: Robot) -> None:
    """Rails that carry the pins, a tower for the coil-over, the rack's housing."""

    def bar(radius: float, start: Vector, end: Vector):
        return rod("dark_grey", radius, start, end)

    tower = (0.0, 0.4, 0.7)
    robot.link(
        "base_link",
        bar(0.02, (-0.22, 0.36, 0.19), (0.22, 0.36, 0.19)),
        bar(0.02, (-0.2, 0.44, 0.487), (0.2, 0.44, 0.455)),
        bar(0.02, (-0.2, 0.36, 0.19), (-0.2, 0.44, 0.487)),
        bar(0.02, (0.2, 0.36, 0.19), (0.2, 0.44, 0.455)),
        bar(0.02, (-0.2, 0.44, 0.487), tower),
        bar(0.02, (0.2, 0.44, 0.455), tower),
        bar(0.025, tower, (0.0, 0.5, 0.7)),
        bar(0.025, (0.14, 0.1, 0.24), (0.14, 0.33, 0.24)),
        bar(0.02, (0.14, 0.3, 0.24), (0.2, 0.36, 0.19)),
        mass=60.0,
    )


def _arms(robot: Robot) -> None:
    """Each an A: two bars from its pins to its ball."""
    arms = (("lower", LOWER, LOWER_BALL, 0.16, 0.0), ("upper", UPPER, UPPER_BALL, 0.12, DIVE))
    for name, pins, end, half, pitch in arms:
        own = _pitched(_less(end, pins), pitch)
        radius = 0.018 if name == "lower" else 0.014
        solids = [
            rod("blue", radius, (side * half, 0, 0), own)  # a bar of the A
            for side in (-1.0, 1.0)
        ]
        bushes = [disc("grey", 0.025, 0.04, "x", (side * half, 0, 0)) for side in (-1.0, 1.0)]
        extra = []
        if name == "lower":
            foot = _less(STRUT_EYE, LOWER)
            low = foot[1] / own[1] * own[2]
            extra = [
                rod("blue", 0.012, (-0.07, foot[1], low), (0.07, foot[1], low)),
                rod("blue", 0.012, (0, foot[1], low), foot),
            ]
        arm = f"{name}_arm"
        robot.link(arm, *solids, *bushes, *extra, mass=4.0 if name == "lower" else 2.5)
        swing = Limit(effort=5000.0, velocity=20.0, lower=-0.6, upper=0.6)
        place = Place(pins, (0.0, pitch, 0.0))
        robot.joint(arm, "revolute", ("base_link", arm), place, axis="x", limit=swing)


def _upright(robot: Robot) -> None:
    """On the lower arm's ball: it turns about z (steering), x and y; then the wheel."""
    above: list[tuple[str, str, float]] = [("steer", "z", 0.8), ("camber", "x", 0.5)]
    parent, place = "lower_arm", Place(_less(LOWER_BALL, LOWER))
    for name, axis, most in above:
        robot.link(f"{name}_ball", ball("grey", 0.024), mass=0.05)
        turn = Limit(effort=5000.0, velocity=20.0, lower=-most, upper=most)
        links = (parent, f"{name}_ball")
        robot.joint(name, "revolute", links, place, axis=axis, limit=turn)
        parent, place = f"{name}_ball", at()
    top, hub, arm = (_less(p, LOWER_BALL) for p in (UPPER_BALL, WHEEL, STEERING))
    inner = (hub[0], 0.0, hub[2])
    robot.link(
        "upright",
        rod("orange", 0.02, (0, 0, 0), inner),
        rod("orange", 0.018, inner, top),
        ball("grey", 0.022, top),
        rod("orange", 0.014, (0, 0, 0.03), arm),
        rod("orange", 0.04, (hub[0], -0.03, hub[2]), (hub[0], 0.03, hub[2])),
        mass=6.0,
    )
    turn = Limit(effort=5000.0, velocity=20.0, lower=-0.5, upper=0.5)
    robot.joint("caster", "revolute", (parent, "upright"), axis="y", limit=turn)
    robot.link(
        "wheel_link",
        disc("black", 0.31, 0.14, "y"),
        disc("light_grey", 0.2, 0.15, "y"),
        disc("grey", 0.05, 0.2, "y"),
        mass=18.0,
    )
    spin = Limit(effort=800.0, velocity=150.0)
    links = ("upright", "wheel_link")
    robot.joint("wheel", "continuous", links, Place(hub), axis="y", limit=spin)
    robot.frame("contact", "upright", Place((hub[0], hub[1], -LOWER_BALL[2])))


def _steering(robot: Robot, loops: Loops) -> None:
    robot.link("rack_link", rod("steel", 0.014, (0, -0.2, 0), (0, 0, 0)), mass=2.0)
    slide = Limit(effort=8000.0, velocity=0.6, lower=-0.06, upper=0.06)
    links = ("base_link", "rack_link")
    robot.joint("rack", "prismatic", links, Place(RACK), axis="y", limit=slide)
    way = _less(STEERING, RACK)
    length = math.sqrt(sum(c * c for c in way))
    _cross(robot, "tie", "rack_link", towards((0.0, 0.0, 0.0), way))
    robot.link("tie_rod", rod("steel", 0.01, (0, 0, 0), (0, 0, length)), mass=0.8)
    _second(robot, "tie", "tie_rod")
    robot.frame("tie_end", "tie_rod", at(z=length))
    robot.frame("steering_arm", "upright", Place(_less(STEERING, LOWER_BALL)))
    loops.close("tie_joint", ("tie_end", "steering_arm"), "position")


def _strut(robot: Robot, loops: Loops) -> None:
    way = _less(STRUT_EYE, STRUT_TOP)
    length = math.sqrt(sum(c * c for c in way))
    _cross(robot, "strut", "base_link", towards(STRUT_TOP, way))
    tube = [
        rod("red", 0.045, (0, 0, 0.07), (0, 0, 0.3)),
        rod("grey", 0.02, (0, 0, 0), (0, 0, 0.28)),
    ]
    robot.link("strut_tube", *tube, mass=3.0)
    _second(robot, "strut", "strut_tube")
    robot.link("strut_rod", rod("steel", 0.011, (0, 0, -0.3), (0, 0, 0)), mass=1.5)
    slide = Limit(effort=10000.0, velocity=3.0, lower=-0.06, upper=0.06)
    links = ("strut_tube", "strut_rod")
    robot.joint("strut", "prismatic", links, at(z=length), limit=slide)
    robot.frame("strut_eye", "lower_arm", Place(_less(STRUT_EYE, LOWER)))
    loops.close("strut_joint", ("strut_eye", "strut_rod"), "position")


def _cross(robot: Robot, name: str, parent: str, place: Place) -> None:
    """The first hinge of a universal joint."""
    robot.link(f"{name}_cross", ball("grey", 0.024), mass=0.05)
    turn = Limit(effort=2000.0, velocity=20.0, lower=-0.7, upper=0.7)
    links = (parent, f"{name}_cross")
    robot.joint(f"{name}_x", "revolute", links, place, axis="x", limit=turn)


def _second(robot: Robot, name: str, link: str) -> None:
    turn = Limit(effort=2000.0, velocity=20.0, lower=-0.7, upper=0.7)
    robot.joint(f"{name}_y", "revolute", (f"{name}_cross", link), axis="y", limit=turn)
