"""Mechanisms of few joints: JAX compiles dynamics number by number, which takes long for more."""

from __future__ import annotations

from linkwork.loading import load
from linkwork.mechanism.model import Mechanism
from robots import mechanism_from

_BOX = (
    '<inertial><origin xyz="0.3 -0.2 0.1"/><mass value="0.7"/>'
    '<inertia ixx="0.02" ixy="0.003" ixz="-0.001" iyy="0.03" iyz="0.002" izz="0.025"/></inertial>'
)


def small_mechanisms() -> list[Mechanism]:
    """An arm, a floating body with a coupled pair of joints, and a planar joint."""
    return [
        load("scara").mechanism,
        mechanism_from(FLOATING, base="floating"),
        mechanism_from(PLANAR),
    ]


FLOATING = f"""<robot name="floating"><link name="base">{_BOX}</link><link name="arm">{_BOX}</link>
<link name="rod">{_BOX}</link>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/>
<origin xyz="0.1 0 0.2"/><axis xyz="0 1 0"/></joint>
<joint name="slide" type="prismatic"><parent link="base"/><child link="rod"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/><mimic joint="turn" multiplier="0.5"/></joint>
</robot>"""

PLANAR = f"""<robot name="planar"><link name="base"/><link name="table">{_BOX}</link>
<link name="arm">{_BOX}</link>
<joint name="plane" type="planar"><parent link="base"/><child link="table"/>
<origin xyz="0 0.5 0" rpy="0.1 0.1 0"/><axis xyz="0.3 0.4 1"/></joint>
<joint name="turn" type="continuous"><parent link="table"/><child link="arm"/>
<origin xyz="0.1 0 0.2"/><axis xyz="0 1 0"/></joint></robot>"""
