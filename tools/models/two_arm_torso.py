"""Two seven-joint arms on a torso that lifts and turns; our own design."""

from __future__ import annotations

from math import pi

from gripper import add_gripper
from robot import Limit, Place, Robot, at
from shapes import Solid, ball, box, disc, rod

HEADER = """
two_arm_torso: two seven-joint arms with parallel grippers on a torso that lifts and turns.
Dimensions: our own design, with the reach of a tall person. At zero both arms hang down. The same
  joint values on both sides give mirrored arms (the right side's roll and yaw axes are negated).
Inertias: ours. Masses are estimates; each link is the uniform solid it is drawn as.
Limits: ours.
"""
UPPER, FORE, HAND = 0.3, 0.28, 0.06


def two_arm_torso() -> Robot:
    """Pedestal, lift, turning torso with a fixed head, left arm, right arm."""
    robot = Robot("two_arm_torso", HEADER)
    robot.link(
        "base_link",
        box("dark_grey", (0.6, 0.55, 0.12), (0, 0, 0.06)),
        box("grey", (0.22, 0.26, 0.66), (-0.08, 0, 0.45)),
        mass=80.0,
    )
    robot.link(
        "lift_link",
        box("steel", (0.14, 0.18, 0.5), (-0.08, 0, -0.19)),
        box("grey", (0.26, 0.24, 0.05), (-0.03, 0, 0.075)),
        mass=12.0,
    )
    robot.link(
        "torso_link",
        disc("dark_grey", 0.1, 0.04, "z", (0, 0, 0.02)),
        box("white", (0.2, 0.24, 0.22), (0, 0, 0.15)),
        box("white", (0.22, 0.34, 0.2), (0, 0, 0.35)),
        box("blue", (0.012, 0.2, 0.1), (0.112, 0, 0.36)),
        mass=18.0,
    )
    robot.joint(
        "lift",
        "prismatic",
        ("base_link", "lift_link"),
        at(z=0.75),
        limit=Limit(800.0, 0.2, 0.0, 0.35),
    )
    robot.joint(
        "torso",
        "revolute",
        ("lift_link", "torso_link"),
        at(z=0.1),
        limit=Limit(150.0, 1.5, -2.8, 2.8),
    )
    robot.link(
        "head_link",
        disc("dark_grey", 0.04, 0.08, "z", (0, 0, 0.03)),
        box("white", (0.15, 0.17, 0.16), (0.01, 0, 0.14)),
        ball("black", 0.025, (0.083, 0.04, 0.15)),
        ball("black", 0.025, (0.083, -0.04, 0.15)),
        mass=2.5,
    )
    robot.joint("head_joint", "fixed", ("torso_link", "head_link"), at(z=0.45))
    for side in ("left", "right"):
        _add_arm(robot, side)
    return robot


def _add_arm(robot: Robot, side: str) -> None:
    """Pitch, roll and yaw at the shoulder; elbow; yaw, pitch and roll at the wrist."""
    sign = 1 if side == "left" else -1
    roll, yaw = ("x", "z") if sign > 0 else ("-x", "-z")
    parent = "torso_link"
    steps = (
        ("shoulder_pitch", at(0, sign * 0.2, 0.37), "y", Limit(80.0, 2.5, -3.0, 1.2), 2.2),
        ("shoulder_roll", at(0, sign * 0.09, 0), roll, Limit(80.0, 2.5, -0.1, 2.6), 1.6),
        ("shoulder_yaw", at(z=-0.1), yaw, Limit(60.0, 2.5, -2.0, 2.0), 2.0),
        ("elbow", at(z=-UPPER + 0.1), "y", Limit(60.0, 2.5, -2.5, 0.0), 1.4),
        ("wrist_yaw", at(z=-0.12), yaw, Limit(30.0, 3.0, -2.8, 2.8), 1.2),
        ("wrist_pitch", at(z=-FORE + 0.12), "y", Limit(20.0, 3.0, -1.6, 1.6), 0.6),
        ("wrist_roll", at(z=-HAND), roll, Limit(20.0, 3.0, -1.2, 1.2), 0.4),
    )
    for name, place, axis, limit, mass in steps:
        link = f"{side}_{name}_link"
        solids = _solids(name)
        robot.link(link, *(s if sign > 0 else s.mirrored() for s in solids), mass=mass)
        joint = f"{side}_{name}"
        robot.joint(joint, "revolute", (parent, link), place, axis=axis, limit=limit)
        parent = link
    mount = Place((0, 0, -0.035), (0, pi, 0))  # the gripper points out along its z: down at zero
    add_gripper(robot, parent, f"{side}_tool0", mount=mount, prefix=f"{side}_")


def _solids(name: str) -> list[Solid]:
    """The left arm's; the right one's are mirrored."""
    return {
        "shoulder_pitch": [
            disc("dark_grey", 0.065, 0.06, "y"),
            rod("grey", 0.055, (0, 0, 0), (0, 0.09, 0)),
        ],
        "shoulder_roll": [
            disc("white", 0.06, 0.13, "x"),
            rod("white", 0.05, (0, 0, 0), (0, 0, -0.1)),
        ],
        "shoulder_yaw": [
            rod("blue", 0.046, (0, 0, 0.01), (0, 0, -0.03)),
            rod("white", 0.046, (0, 0, -0.03), (0, 0, -UPPER + 0.1)),
        ],
        "elbow": [
            disc("dark_grey", 0.05, 0.11, "y"),
            rod("white", 0.044, (0, 0, 0), (0, 0, -0.12)),
        ],
        "wrist_yaw": [
            rod("blue", 0.04, (0, 0, 0.005), (0, 0, -0.03)),
            rod("white", 0.038, (0, 0, -0.03), (0, 0, -FORE + 0.12)),
        ],
        "wrist_pitch": [
            disc("dark_grey", 0.038, 0.085, "y"),
            rod("white", 0.03, (0, 0, 0), (0, 0, -HAND)),
        ],
        "wrist_roll": [disc("grey", 0.034, 0.07, "x"), rod("grey", 0.03, (0, 0, 0), (0, 0, -0.04))],
    }[name]
