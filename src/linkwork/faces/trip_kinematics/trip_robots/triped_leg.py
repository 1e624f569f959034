"""A leg of the TriPed: a gimbal moved by two swinging levers, and a knee.

Each lever carries a ball, and a rod of the length `RADIUS` leads from it to a ball on the leg. The
gimbal turns about three axes and the rods hold two of these: the third stays free, and
`swing_to_gimbal` leaves it as near to the start of the search as it can. ``tips`` are that start: a
state of what is looked for, by default zeros. Numbers and names are those of the original's
tutorial, in which the lever named left moves the ball on the right (-y) and the other the left one.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import radians
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.faces.trip_kinematics.KinematicGroup import KinematicGroup
from linkwork.faces.trip_kinematics.mistakes import UnknownKeyError
from linkwork.faces.trip_kinematics.Robot import Robot
from linkwork.faces.trip_kinematics.Transformation import Transformation
from linkwork.faces.trip_kinematics.trip_robots.loops import Loops, Tree
from linkwork.faces.trip_kinematics.Utility import (
    get_translation,
    hom_rotation,
    hom_translation_matrix,
    x_axis_rotation_matrix,
    y_axis_rotation_matrix,
    z_axis_rotation_matrix,
)
from linkwork.faces.trip_kinematics.values import mapping_of, number
from linkwork.mechanism.model import JointType
from linkwork.spatial.rotations import align_z

State = Mapping[str, Any]

RADIUS = 0.11
GIMBAL = (0.265, 0.0, 0.014)
BALL = (0.015, 0.029, -0.0965)
"""On the leg, the left one; the right one is its mirror image in y."""
LEVER = (0.139807669447128, 0.0549998406976098, -0.051)
LEVER_TURN = radians(-345.0)
LEVER_BALL = (0.085, 0.0, -0.0245)
_AXES: tuple[str, ...] = ("rx", "ry", "rz")
_SWINGS: tuple[str, ...] = ("swing_left", "swing_right")


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


def swing_to_gimbal(state: State, tips: Any = None) -> dict[str, dict[str, float]]:
    """The gimbal's state at swings.

    ``tips``: a state of the gimbal that the search begins at, with or without its joint's name.

    Raises: NoSolution (a RuntimeError) where the rods cannot reach; UnknownKeyError.
    """
    given = _named(state, _SWINGS, "a swing state")
    start = dict.fromkeys(_AXES, 0.0)
    if tips is not None:
        tips = mapping_of(tips, "tips")
        start = _named(tips.get("gimbal_joint", tips), _AXES, "tips of the gimbal")
    found = _LEG.close(given, start, _AXES)
    return {"gimbal_joint": {key: found[key] for key in _AXES}}


def gimbal_to_swing(state: Mapping[str, State], tips: Any = None) -> dict[str, float]:
    """The swings at a state of the gimbal, of two for each lever the nearer to the start.

    Raises: NoSolution (a RuntimeError) where the rods cannot reach; UnknownKeyError.
    """
    joint = mapping_of(state, "a state of the leg").get("gimbal_joint")
    given = _named({} if joint is None else joint, _AXES, "a state of 'gimbal_joint'")
    start = dict.fromkeys(_SWINGS, 0.0)
    if tips is not None:
        start = _named(tips, _SWINGS, "tips of the swings")
    found = _LEG.close(given, start, _SWINGS)
    return {key: found[key] for key in _SWINGS}


def _named(state: Any, keys: tuple[str, ...], what: str) -> dict[str, float]:
    given = mapping_of(state, what)
    for key in keys:
        if key not in given:
            raise UnknownKeyError(f"key of {what}", key, list(given))
    return {key: number(given[key], key) for key in keys}


def _lever_ball(theta: Any, side: float) -> NDArray[Any]:
    x, y, z = LEVER
    turn = hom_rotation(z_axis_rotation_matrix(side * LEVER_TURN))
    swing = hom_rotation(z_axis_rotation_matrix(theta))
    lever = hom_translation_matrix(x, side * y, z) @ turn @ swing
    return get_translation(lever @ hom_translation_matrix(*LEVER_BALL))


def _loops() -> Loops:
    """The gimbal and the levers with their rods, which end at the balls on the leg.

    A rod turns about two axes across its direction at zero, from the lever's ball to the leg's.
    """
    tree, turning = Tree(), JointType.CONTINUOUS
    below = tree.joint("rx", turning, "ground", axis=(1.0, 0.0, 0.0), p=GIMBAL)
    below = tree.joint("ry", turning, below, axis=(0.0, 1.0, 0.0))
    leg = tree.joint("rz", turning, below)
    balls = sphere_centers(0.0, 0.0, 0.0)
    meeting: list[tuple[str, str]] = []
    for name, ball, side in (("swing_right", balls[0], 1.0), ("swing_left", balls[1], -1.0)):
        x, y, z = LEVER
        R = np.asarray(z_axis_rotation_matrix(side * LEVER_TURN), np.float64)
        lever = tree.joint(name, turning, "ground", p=(x, side * y, z), R=R)
        way = R.T @ (np.asarray(ball, np.float64) - _lever_ball(0.0, side))
        S = align_z(way)
        first = tree.joint(f"{name} rod 1", turning, lever, axis=S[:, 0].tolist(), p=LEVER_BALL)
        rod = tree.joint(f"{name} rod 2", turning, first, axis=S[:, 1].tolist())
        end = tree.frame(f"{name} rod", rod, (RADIUS * S[:, 2]).tolist())
        on_leg = tree.frame(f"{name} ball", leg, (BALL[0], side * BALL[1], BALL[2]))
        meeting.append((end, on_leg))
    return Loops(tree, meeting)


_LEG = _loops()


def build(prefix: str, gimbal: list[Transformation], mappings: tuple[Any, Any]) -> list[Any]:
    """The parts of a leg, their names behind a prefix; its gimbal is at zero and the levers fit."""
    zero: dict[str, State] = {"gimbal_joint": dict.fromkeys(_AXES, 0.0)}
    swings = {prefix + key: value for key, value in gimbal_to_swing(zero).items()}
    group = KinematicGroup(f"{prefix}closed_chain", gimbal, swings, mappings[0], mappings[1])
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
        f"{prefix}gimbal_joint", dict.fromkeys(_AXES, 0.0), list(_AXES), parent=place, euler="xyz"
    )
    return [place, turns]


_parts = build("", gimbal_chain(""), (swing_to_gimbal, gimbal_to_swing))
closed_chain: KinematicGroup = _parts[0]
triped_leg = Robot(_parts)
