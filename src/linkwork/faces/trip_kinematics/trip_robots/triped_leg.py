"""A leg of the TriPed: a gimbal moved by two swinging levers, and a knee.

Each lever carries a ball, and a rod of the length `RADIUS` leads from it to a ball on the leg. The
gimbal turns about three axes and the rods hold two of these: the third stays free, and
`swing_to_gimbal` goes from the start of the search by steps that are as short as they can be.
Numbers and names are those of the original's
tutorial, in which the lever named left moves the ball on the right (-y) and the other the left one.
"""

from __future__ import annotations

from math import radians
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from linkwork.faces.trip_kinematics.KinematicGroup import KinematicGroup
from linkwork.faces.trip_kinematics.mappings import DerivedMappings, derived_mappings
from linkwork.faces.trip_kinematics.Robot import Robot
from linkwork.faces.trip_kinematics.Transformation import Transformation
from linkwork.faces.trip_kinematics.trip_robots.loops import Tree
from linkwork.faces.trip_kinematics.Utility import (
    get_translation,
    hom_rotation,
    hom_translation_matrix,
    x_axis_rotation_matrix,
    y_axis_rotation_matrix,
    z_axis_rotation_matrix,
)
from linkwork.robot import Robot as CoreRobot

RADIUS = 0.11
GIMBAL = (0.265, 0.0, 0.014)
BALL = (0.015, 0.029, -0.0965)
"""On the leg, the left one; the right one is its mirror image in y."""
LEVER = (0.139807669447128, 0.0549998406976098, -0.051)
LEVER_TURN = radians(-345.0)
LEVER_BALL = (0.085, 0.0, -0.0245)
AXES: tuple[str, ...] = ("rx", "ry", "rz")
SWINGS: tuple[str, ...] = ("swing_left", "swing_right")


def sphere_centers(r_x: Any, r_y: Any, r_z: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """The balls on the leg, left and right, (3,) each, at angles of the gimbal."""
    turn = x_axis_rotation_matrix(r_x) @ y_axis_rotation_matrix(r_y) @ z_axis_rotation_matrix(r_z)
    leg = hom_translation_matrix(*GIMBAL) @ hom_rotation(turn)
    x, y, z = BALL
    left, right = (leg @ hom_translation_matrix(x, side, z) for side in (y, -y))
    return get_translation(left), get_translation(right)


def intersection_left(theta: Any) -> NDArray[Any]:
    """The ball (3,) of the lever on the left at its angle."""
    return _lever_ball(theta, 1.0)


def intersection_right(theta: Any) -> NDArray[Any]:
    """The ball (3,) of the lever on the right at its angle."""
    return _lever_ball(theta, -1.0)


def closing_equation(virtual_state: Any, actuated_state: Any) -> Any:
    """The sum of both squared errors of |ball - ball|² = RADIUS² (m⁴); of numbers or symbols.

    ``virtual_state`` rx, ry, rz; ``actuated_state`` the left and the right swing.
    """
    left, right = sphere_centers(*(virtual_state[k] for k in range(3)))
    ways = (
        left - intersection_left(actuated_state[1]),
        right - intersection_right(actuated_state[0]),
    )
    return sum((way @ way - RADIUS**2) ** 2 for way in ways)


def _lever_ball(theta: Any, side: float) -> NDArray[Any]:
    x, y, z = LEVER
    turn = hom_rotation(z_axis_rotation_matrix(side * LEVER_TURN))
    swing = hom_rotation(z_axis_rotation_matrix(theta))
    lever = hom_translation_matrix(x, side * y, z) @ turn @ swing
    return get_translation(lever @ hom_translation_matrix(*LEVER_BALL))


def leg_loops() -> CoreRobot:
    """The gimbal and both levers as a robot of `linkwork`, closed by the rods."""
    tree = Tree("leg of the TriPed")
    below = tree.joint("rx", turns=(1.0, 0.0, 0.0), at=(GIMBAL, None))
    below = tree.joint("ry", below, turns=(0.0, 1.0, 0.0))
    leg = tree.joint("rz", below, turns=(0.0, 0.0, 1.0))
    rods: dict[str, tuple[str, str]] = {}
    for name, side in (("swing_left", -1.0), ("swing_right", 1.0)):
        x, y, z = LEVER
        R = np.asarray(z_axis_rotation_matrix(side * LEVER_TURN), np.float64)
        lever = tree.joint(name, turns=(0.0, 0.0, 1.0), at=((x, side * y, z), R))
        tip = tree.frame(f"{name} tip", lever, LEVER_BALL)
        ball = tree.frame(f"{name} ball", leg, (BALL[0], side * BALL[1], BALL[2]))
        rods[f"{name} rod"] = (tip, ball)
    robot = tree.robot()
    for name, (tip, ball) in rods.items():
        robot = robot.with_loop(tip, ball, "distance", name=name, distance=RADIUS)
    return robot.with_actuated(SWINGS)


LOOPS = leg_loops()


def leg_mappings(prefix: str = "") -> DerivedMappings:
    """The mappings of a leg whose names stand behind a prefix."""
    gimbal = {f"{prefix}gimbal_joint": {axis: axis for axis in AXES}}
    swings = {prefix + name: name for name in SWINGS}
    return derived_mappings(LOOPS, gimbal, swings, follow=False)


swing_to_gimbal, gimbal_to_swing = leg_mappings()
"""The gimbal's state at swings, and the swings at a state of the gimbal.

Both take ``tips``, a state of what is looked for, where the search begins, by default zeros; those
of the gimbal with or without its joint's name. They raise NotAssembledError (a RuntimeError) where
the rods cannot reach.
"""


def build(prefix: str, gimbal: list[Transformation]) -> list[KinematicGroup | Transformation]:
    """The parts of a leg, their names behind a prefix; its gimbal is at zero and the levers fit."""
    to_gimbal, to_swing = leg_mappings(prefix)
    swings = to_swing({f"{prefix}gimbal_joint": dict.fromkeys(AXES, 0.0)})
    group = KinematicGroup(f"{prefix}closed_chain", gimbal, swings, to_gimbal, to_swing)
    plate = Transformation(f"{prefix}A_P_LL", {"tx": 1.640, "tz": -0.037}, parent=group)
    knee_zero = Transformation(f"{prefix}zero_angle_convention", {"ry": radians(-3)}, parent=plate)
    knee = Transformation(f"{prefix}extend_joint", {"ry": 0.0}, ["ry"], parent=knee_zero)
    foot = Transformation(f"{prefix}A_LL_Joint_FCS", {"tx": -1.5}, parent=knee)
    return [group, plate, knee_zero, knee, foot]


def gimbal_chain(prefix: str, parent: Transformation | None = None) -> list[Transformation]:
    """The transformations of the gimbal."""
    x, _, z = GIMBAL
    place = Transformation(f"{prefix}A_ccs_P_trans", {"tx": x, "tz": z}, parent=parent)
    turns = Transformation(
        f"{prefix}gimbal_joint", dict.fromkeys(AXES, 0.0), list(AXES), parent=place, euler="xyz"
    )
    return [place, turns]


a_ccs_p_trans, a_ccs_p_rot = gimbal_chain("")
_parts = build("", [a_ccs_p_trans, a_ccs_p_rot])
closed_chain = cast("KinematicGroup", _parts[0])
a_p_ll, a_ll_zero, a_ll_zero_ll_joint, a_ll_joint_fcs = cast("list[Transformation]", _parts[1:])
triped_leg = Robot(_parts)
