"""A parallel gripper: one finger slides, the other follows it (a mimic joint)."""

from __future__ import annotations

from robot import Limit, Place, Robot, at
from shapes import box

DEPTH = 0.12  # from the mount to the middle of the fingertips
STROKE = Limit(effort=60.0, velocity=0.1, lower=0.0, upper=0.04)


def add_gripper(robot: Robot, parent: str, tool: str, *, mount: Place, prefix: str = "") -> None:
    """Hand out along z, fingers closing along y; the tool frame lies between the fingertips.

    The first finger is on the positive y side; on a right hand the sides change over.
    """
    outer = -1 if prefix.startswith("right") else 1
    palm = f"{prefix}palm"
    robot.link(
        palm,
        box("dark_grey", (0.06, 0.13, 0.03), (0, 0, 0.015)),
        box("grey", (0.045, 0.1, 0.03), (0, 0, 0.045)),
        mass=0.5,
    )
    robot.joint(f"{palm}_joint", "fixed", (parent, palm), mount)
    leader = f"{prefix}finger"
    for name, side in ((leader, outer), (f"{prefix}finger_follower", -outer)):
        link = f"{name}_link"
        robot.link(
            link,
            box("grey", (0.03, 0.016, 0.03), (0, side * 0.008, 0.012)),
            box("black", (0.022, 0.012, 0.05), (0, side * 0.006, 0.045)),
            mass=0.08,
        )
        robot.joint(
            name,
            "prismatic",
            (palm, link),
            at(z=0.06),
            axis="y" if side > 0 else "-y",
            limit=STROKE,
            mimic=None if name == leader else (leader, 1.0),
        )
    robot.frame(tool, palm, at(z=DEPTH))
