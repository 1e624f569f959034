"""A Fetch-like mobile manipulator: two wheels, a lifting torso, a head, a seven-joint arm."""

from __future__ import annotations

from robot import Limit, Robot, at
from shapes import Solid, ball, box, disc

HEADER = """
fetch: a Fetch-like mobile manipulator, drawn with simple solids.
Dimensions, masses and limits: Fetch Robotics, hardware overview of the Fetch documentation, and
  M. Wise, M. Ferguson, D. King, E. Diehr, D. Dymesich, "Fetch and Freight: standard platforms for
  service robot applications", 2016: places of joints, ranges, speeds and efforts, names of joints
  and links as in the robot's own description.
Inertias: the masses are of the same source; inertias are ours, those of the uniform solids drawn.
"""
ARM = (  # joint, link, axis, x, z, mass, (effort, speed, lower, upper)
    ("shoulder_pan", "z", 0.119525, 0.34858, 2.5587, (33.82, 1.256, -1.6056, 1.6056)),
    ("shoulder_lift", "y", 0.117, 0.06, 2.6615, (131.76, 1.454, -1.221, 1.518)),
    ("upperarm_roll", "x", 0.219, 0.0, 2.3311, (76.94, 1.571, None, None)),
    ("elbow_flex", "y", 0.133, 0.0, 2.1299, (66.18, 1.521, -2.251, 2.251)),
    ("forearm_roll", "x", 0.197, 0.0, 1.6563, (29.35, 1.571, None, None)),
    ("wrist_flex", "y", 0.1245, 0.0, 1.725, (25.7, 2.268, -2.16, 2.16)),
    ("wrist_roll", "x", 0.1385, 0.0, 0.1354, (7.36, 2.268, None, None)),
)
FINGER = 0.0798


def fetch() -> Robot:
    """The base's frame lies on the floor between the wheels, x forward."""
    robot = Robot("fetch", HEADER)
    robot.link(
        "base_link",
        disc("white", 0.275, 0.2, "z", (0, 0, 0.21)),
        disc("dark_grey", 0.26, 0.06, "z", (0, 0, 0.08)),
        mass=70.1294,
    )
    for side, y in (("r", -0.18738), ("l", 0.18738)):
        robot.link(f"{side}_wheel_link", disc("black", 0.0613, 0.04, "y"), mass=4.3542)
        links = ("base_link", f"{side}_wheel_link")
        place = at(0.0012914, y, 0.055325)
        limit = Limit(8.85, 17.4)
        robot.joint(f"{side}_wheel_joint", "continuous", links, place, axis="y", limit=limit)
    robot.link(
        "torso_lift_link",
        box("white", (0.19, 0.32, 0.3), (0, 0, 0.35)),
        box("light_grey", (0.13, 0.2, 0.74), (-0.01, 0, 0.0)),
        box("white", (0.16, 0.19, 0.08), (0.06, 0, 0.53)),
        mass=10.7796,
    )
    links = ("base_link", "torso_lift_link")
    lift = Limit(450.0, 0.1, 0.0, 0.38615)
    robot.joint("torso_lift_joint", "prismatic", links, at(-0.086875, 0, 0.37743), limit=lift)
    _add_head(robot)
    _add_arm(robot)
    robot.link("torso_fixed_link", box("dark_grey", (0.17, 0.26, 0.3), (0, 0, -0.02)), mass=13.2775)
    place = at(-0.086875, 0, 0.377425)
    robot.joint("torso_fixed_joint", "fixed", ("base_link", "torso_fixed_link"), place)
    robot.link("laser_link", disc("black", 0.03, 0.05, "z"), mass=0.0083)
    robot.joint("laser_joint", "fixed", ("base_link", "laser_link"), at(0.235, 0, 0.2878))
    return robot


def _add_head(robot: Robot) -> None:
    robot.link("head_pan_link", box("grey", (0.16, 0.1, 0.06), (0.06, 0, 0.02)), mass=2.2556)
    links = ("torso_lift_link", "head_pan_link")
    limit = Limit(0.32, 1.57, -1.57, 1.57)
    robot.joint("head_pan_joint", "revolute", links, at(0.053125, 0, 0.603), limit=limit)
    robot.link(
        "head_tilt_link",
        box("white", (0.1, 0.24, 0.09), (0.01, 0, 0.02)),
        box("black", (0.02, 0.17, 0.04), (0.065, 0, 0.02)),
        mass=0.9087,
    )
    links = ("head_pan_link", "head_tilt_link")
    limit = Limit(0.68, 1.57, -0.76, 1.45)
    place = at(0.14253, 0, 0.058)
    robot.joint("head_tilt_joint", "revolute", links, place, axis="y", limit=limit)
    robot.frame("head_camera_link", "head_tilt_link", at(0.055, 0, 0.0225))


def _add_arm(robot: Robot) -> None:
    parent = "torso_lift_link"
    for (name, axis, x, z, mass, numbers), solids in zip(ARM, _solids(), strict=True):
        robot.link(f"{name}_link", *solids, mass=mass)
        kind = "continuous" if numbers[2] is None else "revolute"
        links, limit = (parent, f"{name}_link"), Limit(*numbers)
        robot.joint(f"{name}_joint", kind, links, at(x, 0, z), axis=axis, limit=limit)
        parent = f"{name}_link"
    robot.link(
        "gripper_link",
        box("grey", (0.07, 0.12, 0.06), (-0.09, 0, 0)),
        box("dark_grey", (0.03, 0.14, 0.04), (-0.05, 0, 0)),
        mass=1.5175,
    )
    robot.joint("gripper_axis", "fixed", (parent, "gripper_link"), at(0.16645, 0, 0))
    for side, way in (("r", 1), ("l", -1)):
        finger = f"{side}_gripper_finger"
        pad = box("black", (0.06, 0.014, 0.026), (0, way * 0.007, 0))
        robot.link(f"{finger}_link", pad, mass=FINGER)
        links = ("gripper_link", f"{finger}_link")
        axis, limit = ("y" if way > 0 else "-y"), Limit(60.0, 0.05, 0.0, 0.05)
        place = at(0, way * 0.001, 0)
        robot.joint(f"{finger}_joint", "prismatic", links, place, axis=axis, limit=limit)


def _solids() -> list[list[Solid]]:
    """Tubes along x, joints across."""
    return [
        [disc("white", 0.06, 0.1, "z"), box("white", (0.12, 0.09, 0.07), (0.06, 0, 0.055))],
        [disc("blue", 0.052, 0.11, "y"), disc("white", 0.045, 0.16, "x", (0.12, 0, 0))],
        [
            disc("white", 0.05, 0.1, "x", (0.05, 0, 0)),
            box("white", (0.09, 0.08, 0.06), (0.09, 0, 0)),
        ],
        [disc("blue", 0.048, 0.1, "y"), disc("white", 0.042, 0.14, "x", (0.11, 0, 0))],
        [
            disc("white", 0.045, 0.09, "x", (0.04, 0, 0)),
            box("white", (0.08, 0.07, 0.05), (0.08, 0, 0)),
        ],
        [disc("blue", 0.042, 0.09, "y"), disc("white", 0.038, 0.09, "x", (0.08, 0, 0))],
        [disc("dark_grey", 0.036, 0.04, "x", (0.01, 0, 0)), ball("blue", 0.006, (0, 0, 0.036))],
    ]
