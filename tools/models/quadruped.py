"""A twelve-joint quadruped of the Mini Cheetah's size."""

from __future__ import annotations

from robot import Limit, Robot, at
from shapes import Solid, ball, box, disc, rod

HEADER = """
quadruped: four legs of three joints (abduction, hip, knee); load it with a floating base to walk.
Dimensions: hips, link lengths and masses as used for the MIT Mini Cheetah: B. Katz, J. Di Carlo,
  S. Kim, "Mini Cheetah: a platform for pushing the limits of dynamic quadruped control", ICRA
  2019, and the open control software that came with it: hips at (+-0.19, +-0.049), abduction
  link 0.062, thigh 0.209, shank 0.195. At zero the legs are straight.
Inertias: the masses (body 3.3, abduction 0.54, thigh 0.634, shank with foot 0.064 kg) are from
  the same source, rotors (0.055 kg each) not included; inertias are ours, those of the uniform
  solids drawn.
Limits: ours; efforts and speeds have the size of the paper's actuators.
"""
HIP_X, HIP_Y, ABDUCTION, THIGH, SHANK = 0.19, 0.049, 0.062, 0.209, 0.195
FOOT = 0.0175


def quadruped() -> Robot:
    """The trunk's frame lies between the hips; each foot frame at the end of its shank."""
    robot = Robot("quadruped", HEADER)
    robot.link(
        "trunk",
        box("white", (0.27, 0.15, 0.09)),
        box("dark_grey", (0.3, 0.1, 0.05), (0, 0, -0.03)),
        box("blue", (0.2, 0.11, 0.012), (0, 0, 0.048)),
        box("black", (0.02, 0.07, 0.035), (0.145, 0, 0.02)),
        mass=3.3,
    )
    for leg, x, side in (("fl", 1, 1), ("fr", 1, -1), ("rl", -1, 1), ("rr", -1, -1)):
        _add_leg(robot, leg, x, side)
    return robot


def _add_leg(robot: Robot, leg: str, x: int, side: int) -> None:
    """Same values, mirrored legs: the right side's abduction axis is negated."""

    def sided(solids: list[Solid]) -> list[Solid]:
        return [s if side > 0 else s.mirrored() for s in solids]

    abductor, thigh, shank = f"{leg}_abductor", f"{leg}_thigh", f"{leg}_shank"
    robot.link(
        abductor,
        *sided(
            [
                disc("dark_grey", 0.044, 0.07, "x", (-x * 0.025, 0, 0)),
                disc("grey", 0.043, 0.026, "y", (0, 0.034, 0)),
            ]
        ),
        mass=0.54,
    )
    robot.link(
        thigh,
        *sided(
            [
                disc("dark_grey", 0.046, 0.034, "y", (0, 0.002, 0)),
                box("light_grey", (0.042, 0.024, THIGH), (0, 0.004, -THIGH / 2)),
                disc("grey", 0.022, 0.03, "y", (0, 0.003, -THIGH)),
            ]
        ),
        mass=0.634,
    )
    robot.link(
        shank,
        rod("steel", 0.009, (0, 0, 0.0), (0, 0, -SHANK)),
        ball("black", FOOT, (0, 0, -SHANK)),
        mass=0.064,
    )
    hip = at(x * HIP_X, side * HIP_Y, 0)
    robot.joint(
        f"{leg}_abduction",
        "revolute",
        ("trunk", abductor),
        hip,
        axis="x" if side > 0 else "-x",
        limit=Limit(18.0, 40.0, -1.0, 1.0),
    )
    robot.joint(
        f"{leg}_hip",
        "revolute",
        (abductor, thigh),
        at(y=side * ABDUCTION),
        axis="y",
        limit=Limit(18.0, 40.0, -2.6, 2.6),
    )
    robot.joint(
        f"{leg}_knee",
        "revolute",
        (thigh, shank),
        at(z=-THIGH),
        axis="y",
        limit=Limit(28.0, 26.0, -2.6, 2.6),
    )
    robot.frame(f"{leg}_foot", shank, at(z=-SHANK))
