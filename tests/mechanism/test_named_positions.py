"""Configurations from positions by name."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism.named_positions import configuration_from
from robots import mechanism_from

MIMIC = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="lead" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="0.2" upper="2" effort="1" velocity="1"/></joint>
<joint name="follow" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
<limit lower="-9" upper="9" effort="1" velocity="1"/>
<mimic joint="lead" multiplier="-2" offset="0.5"/></joint>
<joint name="free" type="planar"><parent link="c"/><child link="d"/></joint></robot>"""


def test_named_joints_are_set_and_the_others_are_neutral():
    m = mechanism_from(MIMIC)
    assert np.array_equal(configuration_from(m, {}), [0.2, 0, 0, 0])
    assert np.array_equal(configuration_from(m, {"free": [1, 2, 3]}), [0.2, 1, 2, 3])
    assert np.array_equal(configuration_from(m, {"lead": 1.5}), [1.5, 0, 0, 0])


def test_a_follower_must_agree_with_its_leader():
    m = mechanism_from(MIMIC)
    configuration_from(m, {"lead": 1.0, "follow": -1.5})
    configuration_from(m, {"follow": -1.5 + 5e-10, "lead": 1.0})
    configuration_from(m, {"follow": 0.5 - 2 * 0.2})
    with pytest.raises(InputError, match=r"'follow' follows 'lead', which puts it at -1.5"):
        configuration_from(m, {"lead": 1.0, "follow": -1.5 + 1e-8})


def test_what_does_not_fit_is_refused():
    m = mechanism_from(MIMIC)
    with pytest.raises(UnknownNameError, match="follow"):
        configuration_from(m, {"folow": 1.0})
    with pytest.raises(ShapeError, match="takes 3 number"):
        configuration_from(m, {"free": 1.0})
    for wrong in (np.nan, np.inf, "x", None, [[1.0]]):
        with pytest.raises((InputError, ShapeError), match="'lead'"):
            configuration_from(m, {"lead": wrong})


def test_the_robot_offers_it():
    robot = lw.load("ur5e")
    q = robot.configuration({"elbow_joint": 0.5})
    assert q[robot.joint_names.index("elbow_joint")] == 0.5
