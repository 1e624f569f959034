from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from linkwork.errors import DescriptionError
from linkwork.faces.urdfpy import (
    URDF,
    JointCalibration,
    JointDynamics,
    JointLimit,
    JointMimic,
    SafetyController,
)

# class, arguments that are needed, arguments with what None becomes
CLASSES = [
    pytest.param(
        JointCalibration,
        {},
        {"rising": None, "falling": None},
        marks=pytest.mark.row("S2-100", "S2-101", "S2-102"),
    ),
    pytest.param(
        JointDynamics,
        {"damping": 0.1, "friction": 0.2},
        {},
        marks=pytest.mark.row("S2-103", "S2-104", "S2-105"),
    ),
    pytest.param(
        JointLimit,
        {"effort": 10.0, "velocity": 2.0},
        {"lower": None, "upper": None},
        marks=pytest.mark.row("S2-106", "S2-107", "S2-108", "S2-109", "S2-110"),
    ),
    pytest.param(
        JointMimic,
        {"joint": "a"},
        {"multiplier": 1.0, "offset": 0.0},
        marks=pytest.mark.row("S2-111", "S2-112", "S2-113", "S2-114"),
    ),
    pytest.param(
        SafetyController,
        {"k_velocity": 5.0},
        {"k_position": 0.0, "soft_lower_limit": 0.0, "soft_upper_limit": 0.0},
        marks=pytest.mark.row("S2-115", "S2-116", "S2-117", "S2-118", "S2-119"),
    ),
]


@pytest.mark.parametrize(("kind", "needed", "optional"), CLASSES)
def test_the_arguments_are_the_attributes(kind, needed: dict, optional: dict):
    assert list(inspect.signature(kind).parameters) == [*needed, *optional]
    plain = kind(**needed)
    for name, value in (needed | optional).items():
        assert getattr(plain, name) == value, name
        assert type(getattr(plain, name)) is type(value)
    full = kind(*needed.values(), *[0.5 for _ in optional])
    for name, default in optional.items():
        assert getattr(full, name) == 0.5
        setattr(full, name, None)
        assert getattr(full, name) == default
    for name in needed:
        with pytest.raises(TypeError):
            kind(**{key: value for key, value in needed.items() if key != name})


@pytest.mark.parametrize(("kind", "needed", "optional"), CLASSES)
def test_numbers_are_made_floats_and_others_refused(kind, needed: dict, optional: dict):
    made = kind(**needed)
    for name in (*needed, *optional):
        if name == "joint":
            made.joint = 7
            assert made.joint == "7"
            with pytest.raises(TypeError):
                made.joint = None
            continue
        setattr(made, name, "2")
        assert getattr(made, name) == 2.0
        assert type(getattr(made, name)) is float
        for wrong, error in (("x", ValueError), ([1, 2], TypeError), (float("nan"), ValueError)):
            with pytest.raises(error):
                setattr(made, name, wrong)
        assert getattr(made, name) == 2.0


@pytest.mark.row("S2-107", "S2-108", "S2-109", "S2-110")
def test_bounds_may_be_infinite_and_reversed():
    limit = JointLimit(float("inf"), 1, lower=float("-inf"), upper=-1)
    assert (limit.lower, limit.upper) == (float("-inf"), -1.0)
    assert JointLimit(1, 1, 2, 1).lower == 2.0


@pytest.mark.row("S2-104", "S2-105")
def test_dynamics_may_be_unknown():
    dynamics = JointDynamics(None, None)
    assert dynamics.damping is dynamics.friction is None


JOINT = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/>
{}
</joint></robot>"""


@pytest.mark.row("S2-106", "S2-107", "S2-108", "S2-115", "S2-116", "S2-112")
@pytest.mark.parametrize(
    "part",
    [
        '<limit velocity="1"/>',
        '<limit effort="1"/>',
        "<limit/>",
        '<safety_controller k_position="1"/>',
        '<mimic multiplier="2"/>',
    ],
)
def test_what_a_file_must_give(tmp_path: Path, part: str):
    (tmp_path / "r.urdf").write_text(JOINT.format(part))
    with pytest.raises(DescriptionError) as caught:
        URDF.load(str(tmp_path / "r.urdf"))
    assert {problem.line for problem in caught.value.problems} == {3}


@pytest.mark.row("S2-100", "S2-103", "S2-106", "S2-113", "S2-114", "S2-117", "S2-118", "S2-119")
def test_what_a_file_may_leave_out(tmp_path: Path):
    parts = '<limit effort="1" velocity="2"/><dynamics/><calibration/>'
    parts += '<safety_controller k_velocity="1"/>'
    (tmp_path / "r.urdf").write_text(JOINT.format(parts))
    joint = URDF.load(str(tmp_path / "r.urdf")).joints[0]
    assert joint.limit.lower is joint.limit.upper is None
    assert (joint.dynamics.damping, joint.dynamics.friction) == (0.0, 0.0)
    assert joint.calibration.rising is joint.calibration.falling is None
    safety = joint.safety_controller
    assert (safety.k_position, safety.soft_lower_limit, safety.soft_upper_limit) == (0.0, 0.0, 0.0)
