"""A thirty-joint humanoid with the proportions of a person."""

from __future__ import annotations

from robot import Limit, Robot, at
from shapes import Solid, ball, box, disc, rod

HEADER = """
humanoid: thirty joints: two legs of six, waist of two, two arms of seven, neck of two.
Dimensions: a person of 1.70 m by the segment lengths of R. Drillis, R. Contini, "Body segment
  parameters", 1966, as given in D. Winter, Biomechanics and Motor Control of Human Movement, 4th
  edition 2009, chapter 4 (hip at 0.530, knee at 0.285, ankle at 0.039, shoulder at 0.818 of the
  height; upper arm 0.186, forearm 0.146, hand 0.108, foot 0.152 long; shoulders 0.259 and hips
  0.191 wide). Joint layout and all else: ours. At zero it stands straight, arms hanging.
Inertias: a person of 60 kg by Winter's mass fractions (foot 0.0145, shank 0.0465, thigh 0.100,
  pelvis 0.142, abdomen 0.139, thorax 0.216, head and neck 0.081, upper arm 0.028, forearm
  0.016, hand 0.006). A segment of several links shares its mass among them as we chose; inertias
  are ours, those of the uniform solids drawn.
Limits: ours. The same joint values on both sides give mirrored limbs.
"""
H, M = 1.70, 60.0
HIP, KNEE, ANKLE, SHOULDER = 0.530 * H, 0.285 * H, 0.039 * H, 0.818 * H
THIGH, SHANK = HIP - KNEE, KNEE - ANKLE
UPPER, FORE, HAND, FOOT = 0.186 * H, 0.146 * H, 0.108 * H, 0.152 * H
HIP_Y, SHOULDER_Y = 0.191 * H / 4, 0.259 * H / 2
WAIST, NECK = 0.12, 0.55  # above the hips
CHEST = SHOULDER - HIP - WAIST  # from the waist to the shoulders

# link, mass fraction of the body; a segment's links add up to Winter's figure
LEG_MASS = (0.008, 0.012, 0.08, 0.0465, 0.002, 0.0125)
ARM_MASS = (0.006, 0.006, 0.016, 0.006, 0.01, 0.001, 0.005)


def humanoid() -> Robot:
    """The pelvis' frame lies between the hip joints, 0.901 m above the soles."""
    robot = Robot("humanoid", HEADER)
    robot.link(
        "pelvis",
        box("dark_grey", (0.16, 0.22, 0.1), (0, 0, 0.045)),
        disc("grey", 0.07, 0.06, "z", (0, 0, 0.09)),
        mass=0.142 * M,
    )
    for side in ("left", "right"):
        _add_leg(robot, side)
    _add_trunk(robot)
    for side in ("left", "right"):
        _add_arm(robot, side)
    return robot


def _add_trunk(robot: Robot) -> None:
    robot.link(
        "abdomen",
        disc("grey", 0.085, 0.04, "z"),
        disc("dark_grey", 0.075, 0.2, "y", (0, 0, 0.03)),
        mass=0.139 * M,
    )
    robot.link(
        "chest",
        box("white", (0.17, 0.24, 0.16), (0, 0, 0.11)),
        box("white", (0.2, 0.32, 0.22), (0, 0, 0.29)),
        disc("dark_grey", 0.045, 0.06, "z", (0, 0, 0.4)),
        box("blue", (0.012, 0.18, 0.08), (0.102, 0, 0.32)),
        mass=0.216 * M,
    )
    robot.link("neck", disc("dark_grey", 0.038, 0.08, "z", (0, 0, 0.02)), mass=0.011 * M)
    robot.link(
        "head",
        ball("white", 0.1, (0.005, 0, H - HIP - NECK - 0.04 - 0.1)),
        box("dark_grey", (0.05, 0.13, 0.06), (0.085, 0, 0.115)),
        mass=0.07 * M,
    )
    top = NECK - WAIST
    steps = (
        ("waist_yaw", "pelvis", "abdomen", at(z=WAIST), "z", Limit(150.0, 3.0, -1.2, 1.2)),
        ("waist_pitch", "abdomen", "chest", at(z=0.03), "y", Limit(200.0, 3.0, -0.5, 1.2)),
        ("neck_yaw", "chest", "neck", at(z=top - 0.03), "z", Limit(10.0, 3.0, -1.4, 1.4)),
        ("neck_pitch", "neck", "head", at(z=0.04), "y", Limit(10.0, 3.0, -0.7, 0.9)),
    )
    for name, parent, child, place, axis, limit in steps:
        robot.joint(name, "revolute", (parent, child), place, axis=axis, limit=limit)


def _add_leg(robot: Robot, side: str) -> None:
    steps = (
        ("hip_yaw", at(0, HIP_Y, 0), "z", Limit(80.0, 6.0, -0.8, 0.8)),
        ("hip_roll", at(), "x", Limit(120.0, 6.0, -0.4, 0.8)),
        ("hip_pitch", at(), "y", Limit(200.0, 8.0, -2.0, 0.8)),
        ("knee", at(z=-THIGH), "y", Limit(200.0, 10.0, 0.0, 2.4)),
        ("ankle_pitch", at(z=-SHANK), "y", Limit(100.0, 8.0, -0.9, 0.7)),
        ("ankle_roll", at(), "x", Limit(60.0, 8.0, -0.4, 0.4)),
    )
    solids = (
        [disc("grey", 0.055, 0.05, "z", (0, 0, 0.035))],
        [disc("dark_grey", 0.05, 0.13, "x")],
        [
            disc("dark_grey", 0.062, 0.1, "y"),
            rod("white", 0.066, (0, 0, -0.03), (0, 0, -THIGH * 0.55)),
            rod("white", 0.055, (0, 0, -THIGH * 0.55), (0, 0, -THIGH)),
        ],
        [
            disc("dark_grey", 0.056, 0.115, "y"),
            rod("white", 0.05, (0, 0, 0), (0, 0, -SHANK * 0.5)),
            rod("white", 0.04, (0, 0, -SHANK * 0.5), (0, 0, -SHANK)),
        ],
        [disc("dark_grey", 0.036, 0.085, "y")],
        [
            disc("dark_grey", 0.03, 0.1, "x"),
            box("blue", (FOOT, 0.055 * H, 0.036), (FOOT / 4, 0, -ANKLE + 0.018)),
        ],
    )
    last = _add_limb(robot, side, "pelvis", steps, list(zip(solids, LEG_MASS, strict=True)))
    robot.frame(f"{side}_foot", last, at(z=-ANKLE))


def _add_arm(robot: Robot, side: str) -> None:
    steps = (
        ("shoulder_pitch", at(0, SHOULDER_Y, CHEST - 0.03), "y", Limit(60.0, 6.0, -3.0, 1.0)),
        ("shoulder_roll", at(), "x", Limit(60.0, 6.0, -0.2, 2.8)),
        ("shoulder_yaw", at(z=-UPPER * 0.4), "z", Limit(40.0, 6.0, -1.6, 1.6)),
        ("elbow", at(z=-UPPER * 0.6), "y", Limit(40.0, 8.0, -2.5, 0.0)),
        ("wrist_yaw", at(z=-FORE * 0.5), "z", Limit(15.0, 8.0, -1.6, 1.6)),
        ("wrist_pitch", at(z=-FORE * 0.5), "y", Limit(15.0, 8.0, -1.2, 1.2)),
        ("wrist_roll", at(), "x", Limit(15.0, 8.0, -0.6, 0.6)),
    )
    inner = -(SHOULDER_Y - 0.15)
    solids = (
        [rod("dark_grey", 0.05, (0, inner, 0), (0, 0.0, 0)), disc("dark_grey", 0.055, 0.09, "y")],
        [disc("white", 0.052, 0.12, "x"), rod("white", 0.045, (0, 0, 0), (0, 0, -UPPER * 0.4))],
        [rod("white", 0.042, (0, 0, 0), (0, 0, -UPPER * 0.6))],
        [disc("dark_grey", 0.045, 0.092, "y"), rod("white", 0.038, (0, 0, 0), (0, 0, -FORE * 0.5))],
        [rod("white", 0.033, (0, 0, 0), (0, 0, -FORE * 0.5))],
        [disc("dark_grey", 0.03, 0.07, "y")],
        [
            disc("dark_grey", 0.028, 0.062, "x"),
            box("blue", (0.075, 0.032, HAND * 0.55), (0, 0, -0.02 - HAND * 0.27)),
            box("dark_grey", (0.07, 0.022, HAND * 0.42), (0, 0, -HAND * 0.79)),
            rod("dark_grey", 0.011, (0.03, 0, -0.04), (0.06, -0.01, -0.1)),
        ],
    )
    last = _add_limb(robot, side, "chest", steps, list(zip(solids, ARM_MASS, strict=True)))
    robot.frame(f"{side}_hand", last, at(z=-HAND))


def _add_limb(
    robot: Robot,
    side: str,
    parent: str,
    steps: tuple,
    bodies: list[tuple[list[Solid], float]],
) -> str:
    """One link a joint, described for the left side; returns the last link."""
    for (name, place, axis, limit), (solids, fraction) in zip(steps, bodies, strict=True):
        link, joint = f"{side}_{name}_link", f"{side}_{name}"
        mass = round(fraction * M, 6)
        if side == "left":
            robot.link(link, *solids, mass=mass)
            robot.joint(joint, "revolute", (parent, link), place, axis=axis, limit=limit)
        else:
            x, y, z = place.xyz
            other, turned = at(x, -y, z), {"x": "-x", "y": "y", "z": "-z"}[axis]
            robot.link(link, *(solid.mirrored() for solid in solids), mass=mass)
            robot.joint(joint, "revolute", (parent, link), other, axis=turned, limit=limit)
        parent = link
    return parent
