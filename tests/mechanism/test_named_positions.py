"""Configurations from positions by name."""

from __future__ import annotations

import numpy as np

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
