"""The excavator: both kinds of mappings, against triangles."""

from __future__ import annotations

from math import cos, pi, radians, sin, sqrt
from typing import Any

import numpy as np
import pytest

from linkwork.faces.trip_kinematics import SimpleInvKinSolver, forward_kinematics
from linkwork.faces.trip_kinematics.trip_robots import excavator_rr as ex
from seeds import rng
from trip_samples import by_hand

GEOMETRIC = (
    (ex.geometric_q_to_a_group_1, ex.geometric_a_to_q_group_1),
    (ex.geometric_q_to_a_group_2, ex.geometric_a_to_q_group_2),
)
CLOSURE = (
    (ex.closure_q_to_a_group_1, ex.closure_a_to_q_group_1),
    (ex.closure_q_to_a_group_2, ex.closure_a_to_q_group_2),
)
RANGES = ((-pi / 2, pi / 2), (-pi, 0.0))


def way(group: int, q: float) -> float:
    """The distance from the cylinder's foot to the end of the lever, by coordinates in x and z."""
    foot, lever = (((0.0, -0.7), 1.0), ((-1.2, 0.0), -0.4))[group]
    return sqrt((lever * cos(q) - foot[0]) ** 2 + (-lever * sin(q) - foot[1]) ** 2)


@pytest.mark.row("S1-081", "S1-082")
@pytest.mark.parametrize("mappings", [GEOMETRIC, CLOSURE], ids=["geometric", "closure"])
@pytest.mark.parametrize("group", [0, 1])
def test_cylinders_and_hinges_there_and_back(mappings: Any, group: int):
    forth, back = mappings[group]
    low, high = RANGES[group]
    a, q = f"a_{group + 1}", f"q_{group + 1}"
    for angle in rng(f"excavator {group}").uniform(low + 0.05, high - 0.05, 15).tolist():
        length = forth({q: {"ry": angle}})[a]
        assert length == pytest.approx(way(group, angle), abs=1e-11)
        exactly = 1e-12 if mappings is GEOMETRIC else 1e-10
        assert back({a: length})[q]["ry"] == pytest.approx(angle, abs=exactly)


@pytest.mark.slow
@pytest.mark.row("S1-081", "S1-082")
@pytest.mark.parametrize("mappings", [GEOMETRIC, CLOSURE], ids=["geometric", "closure"])
def test_what_no_cylinder_does(mappings: Any):
    geometric = mappings is GEOMETRIC
    for group, lengths in enumerate(((0.29, 1.71), (0.79, 1.61))):
        forth, back = mappings[group]
        for length in lengths:
            words = f"a_{group + 1} is .* m long" if geometric else "cannot be assembled at a_"
            with pytest.raises(ValueError, match=words):
                back({f"a_{group + 1}": length})
        for angle in (RANGES[group][0] - 0.1, RANGES[group][1] + 0.1):
            words = f"q_{group + 1} folds the arm" if geometric else "cannot be assembled at q_"
            with pytest.raises(ValueError, match=words):
                forth({f"q_{group + 1}": {"ry": angle}})


@pytest.mark.sweep(1)
@pytest.mark.row("S1-081", "S1-082", "S1-085")
@pytest.mark.parametrize("name", ["geometric", "closure"])
def test_the_robots(name: str):
    robot = getattr(ex, f"{name}_excavator")
    assert robot.get_virtual_state() == {"q_1": {"ry": 0.0}, "q_2": {"ry": radians(-90)}}
    solver = SimpleInvKinSolver(robot, "geometric group 2")
    other = solver.robot
    for q_1, q_2 in rng("arm").uniform((-1.2, -2.8), (1.2, -0.3), (20, 2)).tolist():
        other.set_actuated_state({"a_1": way(0, q_1), "a_2": way(1, q_2)})
        T = (
            by_hand({"ry": q_1})
            @ by_hand({"tx": 2.6})
            @ by_hand({"ry": q_2})
            @ by_hand({"tx": 1.7})
        )
        found = forward_kinematics(other, "geometric group 2")
        np.testing.assert_allclose(found, T, atol=1e-9)
        state = solver.solve_actuated(T[:3, 3])  # a state that the cylinders can take
        other.set_actuated_state(state)
        found = forward_kinematics(other, "geometric group 2")
        np.testing.assert_allclose(found[:3, 3], T[:3, 3], atol=1e-8)
