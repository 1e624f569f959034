"""The elements of a description: their arguments, and what their attributes take and refuse."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from linkwork.faces.urdfpy import (
    Actuator,
    Collision,
    Geometry,
    Inertial,
    Joint,
    JointCalibration,
    JointDynamics,
    JointLimit,
    JointMimic,
    Link,
    Material,
    SafetyController,
    Sphere,
    Texture,
    Transmission,
    TransmissionJoint,
    Visual,
)

T, V = TypeError, ValueError
NAN, INF = float("nan"), float("inf")
BALL = Geometry(sphere=Sphere(1.0))
VISUAL, COLLISION = Visual(BALL), Collision(None, None, BALL)
DRIVEN, MOTOR = TransmissionJoint("elbow"), Actuator("motor")
IMAGE = Texture("x.png", np.zeros((2, 2, 3), np.uint8))
NUMBER = (("x", V), ([1, 2], T), (NAN, V))
TEXT = ((None, T),)
NAME = (*TEXT, ("", V))


# class, its arguments with values, how many are needed, what None becomes, what is refused
CASES = [
    pytest.param(
        JointCalibration, {"rising": 0.1, "falling": 0.2}, 0, {"rising": None, "falling": None},
        {"rising": NUMBER, "falling": NUMBER}, marks=pytest.mark.row("S2-100", "S2-101", "S2-102"),
    ),
    pytest.param(
        JointDynamics, {"damping": 0.1, "friction": 0.2}, 2, {"damping": None, "friction": None},
        {"damping": NUMBER, "friction": NUMBER},
        marks=pytest.mark.row("S2-103", "S2-104", "S2-105"),
    ),
    pytest.param(
        JointLimit, {"effort": 10.0, "velocity": 2.0, "lower": 2.0, "upper": -INF}, 2,
        {"lower": None, "upper": None},
        {"effort": (*NUMBER, (None, T)), "velocity": NUMBER, "lower": NUMBER, "upper": NUMBER},
        marks=pytest.mark.row("S2-106", "S2-107", "S2-108", "S2-109", "S2-110"),
    ),
    pytest.param(
        JointMimic, {"joint": "a", "multiplier": 2.0, "offset": 0.5}, 1,
        {"multiplier": 1.0, "offset": 0.0},
        {"joint": TEXT, "multiplier": NUMBER, "offset": (*NUMBER, (INF, V))},
        marks=pytest.mark.row("S2-111", "S2-112", "S2-113", "S2-114"),
    ),
    pytest.param(
        SafetyController,
        {"k_velocity": 5.0, "k_position": 1.0, "soft_lower_limit": 2.0, "soft_upper_limit": 3.0}, 1,
        {"k_position": 0.0, "soft_lower_limit": 0.0, "soft_upper_limit": 0.0},
        {"k_velocity": (*NUMBER, (None, T)), "k_position": NUMBER, "soft_upper_limit": NUMBER},
        marks=pytest.mark.row("S2-115", "S2-116", "S2-117", "S2-118", "S2-119"),
    ),
    pytest.param(
        Actuator, {"name": "motor", "mechanicalReduction": "50", "hardwareInterfaces": ["a", "3"]},
        1, {"mechanicalReduction": None, "hardwareInterfaces": []},
        {"name": NAME, "hardwareInterfaces": (("effort", T), (3, T))},
        marks=pytest.mark.row("S2-125", "S2-126", "S2-127", "S2-128"),
    ),
    pytest.param(
        TransmissionJoint, {"name": "elbow", "hardwareInterfaces": ["effort"]}, 1,
        {"hardwareInterfaces": []}, {"name": NAME},
        marks=pytest.mark.row("S2-129", "S2-130", "S2-131"),
    ),
    pytest.param(
        Transmission,
        {"name": "drive", "trans_type": "simple", "joints": [DRIVEN], "actuators": [MOTOR]}, 2,
        {"joints": [], "actuators": []},
        {
            "name": NAME, "trans_type": TEXT, "joints": (([MOTOR], T), (3, T)),
            "actuators": (([DRIVEN], T), ("motor", T)),
        }, marks=pytest.mark.row("S2-132", "S2-133", "S2-134", "S2-135", "S2-136"),
    ),
    pytest.param(
        Joint,
        {
            "name": "j", "joint_type": "prismatic", "parent": "a", "child": "b",
            "axis": np.array([0.0, 0.0, 1.0]), "origin": np.diag([1.0, -1.0, -1.0, 1.0]),
            "limit": JointLimit(10, 2), "dynamics": JointDynamics(1, 2),
            "safety_controller": SafetyController(1), "calibration": JointCalibration(),
            "mimic": JointMimic("other"),
        }, 4,
        {
            "origin": np.eye(4), "dynamics": None, "safety_controller": None, "calibration": None,
            "mimic": None,
        },
        {
            "name": TEXT, "parent": TEXT, "child": TEXT, "limit": ((3, T),),
            "dynamics": ((3, T), (MOTOR, T)), "safety_controller": (("x", T),),
            "calibration": ((3, T),), "mimic": (("other", T),),
        },
        marks=pytest.mark.row("S2-140", "S2-142", "S2-144", "S2-145", "S2-149", "S2-150",
                             "S2-151", "S2-152"),
    ),
    pytest.param(
        Material,
        {"name": "bright", "color": np.array([1, 0, 0.25, 1]), "texture": IMAGE}, 1,
        {"color": None, "texture": None},
        {"name": TEXT, "color": (([1, 2, 3], V), ([1, 2, 3, "x"], V)), "texture": ((3, V),)},
        marks=pytest.mark.row("S2-068", "S2-069", "S2-070", "S2-071"),
    ),
    pytest.param(
        Collision, {"name": "hull", "origin": np.eye(4), "geometry": BALL}, 3, {"name": None},
        {"geometry": ((None, T), (Sphere(1), T))},
        marks=pytest.mark.row("S2-080", "S2-081", "S2-082"),
    ),
    pytest.param(
        Visual,
        {"geometry": BALL, "name": "v", "origin": np.eye(4), "material": Material("red")}, 1,
        {"name": None, "material": None},
        {"geometry": ((None, T), (3, T)), "material": (("red", T),)},
        marks=pytest.mark.row("S2-084", "S2-085", "S2-086", "S2-087"),
    ),
    pytest.param(
        Inertial, {"mass": 2.5, "inertia": np.diag([1, 2, 2.5]), "origin": np.eye(4)}, 2, {},
        {
            "mass": ((None, T), (INF, V)),
            "inertia": (([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], V), ([1, 2, 3], V), (3.0, T)),
        }, marks=pytest.mark.row("S2-089", "S2-090", "S2-091"),
    ),
    pytest.param(
        Link,
        {
            "name": "arm", "inertial": Inertial(1.0, np.eye(3)), "visuals": [VISUAL],
            "collisions": [COLLISION],
        }, 4, {"visuals": [], "collisions": []},
        {
            "inertial": ((3.0, T),), "visuals": (([COLLISION], V), (3, V)),
            "collisions": (([VISUAL], V), ("x", V)),
        }, marks=pytest.mark.row("S2-093", "S2-094", "S2-096", "S2-097"),
    ),
]  # fmt: skip


def same(one: Any, other: Any) -> bool:
    both = np.array_equal(one, other) if isinstance(other, np.ndarray) else one == other
    return both and (type(one) is type(other) or isinstance(one, (np.ndarray, list)))


@pytest.mark.parametrize(("kind", "given", "needed", "without", "refused"), CASES)
def test_arguments_are_attributes_that_refuse_what_they_do_not_take(
    kind: Any, given: dict, needed: int, without: dict, refused: dict
):
    parameters = inspect.signature(kind).parameters
    assert list(parameters) == list(given)
    assert [p.default is inspect.Parameter.empty for p in parameters.values()].count(True) == needed
    made = kind(*given.values())
    assert all(same(getattr(made, name), value) for name, value in given.items())
    for name in list(given)[:needed]:
        with pytest.raises(TypeError):
            kind(**{key: value for key, value in given.items() if key != name})
    for name, values in refused.items():
        for value, error in values:
            with pytest.raises(error):
                setattr(made, name, value)
        assert same(getattr(made, name), given[name])  # a value that is refused changes nothing
    for name, value in given.items():
        if type(value) in (str, float) and name != "joint_type":
            setattr(made, name, 7)
            assert same(getattr(made, name), type(value)(7))
    for name, value in without.items():
        setattr(made, name, None)
        assert same(getattr(made, name), value)


@pytest.mark.row("S2-070")
def test_a_colour_is_moved_into_0_to_1():
    assert Material("bright", color=[2, -1, 0.25, 1]).color.tolist() == [1, 0, 0.25, 1]
