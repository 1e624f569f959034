"""The arm of an excavator: two hinges about y, each moved by a cylinder.

Each hinge, its cylinder and the two lengths beside it form a triangle, so that the law of cosines
maps the length ``a`` of the cylinder to the angle of the hinge and back. At ``q_1`` = 0 the boom is
level and at a right angle to the line to the cylinder's foot below it; ``q_2`` is negative, and its
lever reaches back behind the hinge. `geometric_excavator` uses the law of cosines, which takes
symbols of CasADi as well; `closure_excavator` closes the loops, to the same states.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import atan2, cos, pi, radians, sin, sqrt
from typing import Any

from linkwork.errors import InputError
from linkwork.faces.trip_kinematics.KinematicGroup import KinematicGroup
from linkwork.faces.trip_kinematics.mappings import derived_mappings
from linkwork.faces.trip_kinematics.Robot import Robot
from linkwork.faces.trip_kinematics.Transformation import Transformation
from linkwork.faces.trip_kinematics.trip_robots.loops import Tree
from linkwork.faces.trip_kinematics.values import computed, is_symbol, number
from linkwork.ops import Ops

l_1, l_2, l_3, l_4, l_5 = 1.0, 0.7, 1.2, 0.4, 1.7
_BOOM = l_1 + l_3 + 0.4
_START = {"q_1": 0.0, "q_2": radians(-90)}
_LENGTHS = {"a_1": sqrt(l_1**2 + l_2**2), "a_2": sqrt(l_3**2 + l_4**2)}
"""Of the cylinders at the start, where both triangles have a right angle."""

State = Mapping[str, Any]


def geometric_q_to_a_group_1(state: State, tips: Any = None) -> dict[str, Any]:
    """The length of the first cylinder at an angle of the boom."""
    return {"a_1": _side(pi / 2 - state["q_1"]["ry"], l_1, l_2, "q_1")}


def geometric_a_to_q_group_1(state: State, tips: Any = None) -> dict[str, Any]:
    """The angle of the boom at a length of the first cylinder."""
    return {"q_1": {"ry": pi / 2 - _angle(state["a_1"], l_1, l_2, "a_1")}}


def geometric_q_to_a_group_2(state: State, tips: Any = None) -> dict[str, Any]:
    """The length of the second cylinder at an angle of the stick."""
    return {"a_2": _side(-state["q_2"]["ry"], l_3, l_4, "q_2")}


def geometric_a_to_q_group_2(state: State, tips: Any = None) -> dict[str, Any]:
    """The angle of the stick at a length of the second cylinder."""
    return {"q_2": {"ry": -_angle(state["a_2"], l_3, l_4, "a_2")}}


def _side(angle: Any, b: float, c: float, what: str) -> Any:
    """The third side of a triangle with two sides and the angle between them."""
    if not is_symbol(angle) and not 0.0 <= number(angle, what) <= pi:
        text = f"{what} folds the arm through its cylinder, of which no length gives that"
        raise InputError(f"{text}: the corner at the hinge is {number(angle, what):.6g} rad")

    def side(o: Ops, angle: Any) -> Any:
        half = o.sin(0.5 * angle)
        return o.sqrt((b - c) ** 2 + 4.0 * b * c * half * half)

    return computed(side, angle)


def _angle(a: Any, b: float, c: float, what: str) -> Any:
    """The angle of a triangle opposite the side ``a``, by the tangent of its half."""
    if not is_symbol(a) and not abs(b - c) <= number(a, what) <= b + c:
        raise InputError(f"{what} is {a}; the cylinder is {abs(b - c):.6g} to {b + c:.6g} m long")

    def opposite(o: Ops, a: Any) -> Any:
        short, long = (a - (b - c)) * (a + (b - c)), ((b + c) - a) * ((b + c) + a)
        return 2.0 * o.atan2(o.sqrt(o.maximum(short, 0.0)), o.sqrt(o.maximum(long, 0.0)))

    return computed(opposite, a)


def _cylinder(hinge: str, cylinder: str, foot: tuple[float, float, float], lever: float) -> Any:
    """The mappings of a hinge with its lever, and of the cylinder from its foot to the lever's end.

    Both have the range in which a triangle is not turned over.
    """
    q, y, reach = _START[hinge], (0.0, 1.0, 0.0), abs(foot[0] + foot[2])
    lengths = abs(reach - abs(lever)), reach + abs(lever)
    tree = Tree(f"cylinder {cylinder}")
    tree.joint(hinge, turns=y, limits=(q - pi / 2, q + pi / 2))
    tree.frame("lever", hinge, (lever, 0.0, 0.0))
    tree.joint("foot", turns=y, at=(foot, None))
    tree.joint(cylinder, "foot", slides=(1.0, 0.0, 0.0), limits=lengths)
    way = [lever * o - f for o, f in zip((cos(q), 0.0, -sin(q)), foot, strict=True)]
    near = {hinge: q, "foot": atan2(-way[2], way[0]), cylinder: _LENGTHS[cylinder]}
    robot = tree.robot().with_loop("lever", cylinder, "xz", name=f"cylinder {cylinder}")
    return derived_mappings(robot, {hinge: {"ry": hinge}}, [cylinder], near=near)


closure_a_to_q_group_1, closure_q_to_a_group_1 = _cylinder("q_1", "a_1", (0.0, 0.0, -l_2), l_1)
closure_a_to_q_group_2, closure_q_to_a_group_2 = _cylinder("q_2", "a_2", (-l_3, 0.0, 0.0), -l_4)
"""As the geometric ones, by closing the loops."""


virtual_joint_1 = Transformation("q_1", {"ry": _START["q_1"]}, ["ry"])
link_1 = Transformation("link_1", {"tx": _BOOM}, parent=virtual_joint_1)
virtual_joint_2 = Transformation("q_2", {"ry": _START["q_2"]}, ["ry"])
link_2 = Transformation("link_2", {"tx": l_5}, parent=virtual_joint_2)


def _groups(*mappings: tuple[Any, Any]) -> tuple[KinematicGroup, KinematicGroup]:
    """Boom and stick with their mappings; in both excavators of the original they are so named."""
    boom, stick = mappings
    a_1, a_2 = ({key: length} for key, length in _LENGTHS.items())
    first = KinematicGroup("geometric group 1", [virtual_joint_1, link_1], a_1, *boom)
    second = KinematicGroup(
        "geometric group 2", [virtual_joint_2, link_2], a_2, *stick, parent=first
    )
    return first, second


geometric_group_1, geometric_group_2 = _groups(
    (geometric_a_to_q_group_1, geometric_q_to_a_group_1),
    (geometric_a_to_q_group_2, geometric_q_to_a_group_2),
)
geometric_excavator = Robot([geometric_group_1, geometric_group_2])
closure_group_1, closure_group_2 = _groups(
    (closure_a_to_q_group_1, closure_q_to_a_group_1),
    (closure_a_to_q_group_2, closure_q_to_a_group_2),
)
closure_excavator = Robot([closure_group_1, closure_group_2])
