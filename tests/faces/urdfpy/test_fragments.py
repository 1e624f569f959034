from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from linkwork import faces
from linkwork.faces import urdfpy
from linkwork.faces.urdfpy import URDF, URDFType

FRAGMENTS = {
    "Box": '<box size="1 2 3"/>',
    "Cylinder": '<cylinder radius="1" length="2"/>',
    "Sphere": '<sphere radius="0.5"/>',
    "Capsule": '<capsule radius="0.5" length="1"/>',
    "Mesh": '<mesh filename="a.stl" scale="1 2 3"/>',
    "Geometry": '<geometry><box size="1 2 3"/></geometry>',
    "Material": '<material name="red"><color rgba="1 0 0 1"/></material>',
    "Visual": (
        '<visual name="v"><origin xyz="1 2 3"/><geometry><sphere radius="1"/></geometry></visual>'
    ),
    "Collision": '<collision name="c"><geometry><sphere radius="1"/></geometry></collision>',
    "Inertial": (
        '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
        "</inertial>"
    ),
    "Link": '<link name="l"><visual><geometry><sphere radius="1"/></geometry></visual></link>',
    "Joint": (
        '<joint name="j" type="revolute"><origin xyz="1 2 3"/><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="3" velocity="4"/></joint>'
    ),
    "JointLimit": '<limit lower="-1" upper="2" effort="3" velocity="4"/>',
    "JointDynamics": '<dynamics damping="0.1" friction="0.2"/>',
    "JointMimic": '<mimic joint="a" multiplier="2" offset="3"/>',
    "JointCalibration": '<calibration rising="0.5"/>',
    "SafetyController": '<safety_controller k_velocity="5"/>',
    "Actuator": '<actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator>',
    "TransmissionJoint": '<joint name="j"><hardwareInterface>e</hardwareInterface></joint>',
    "Transmission": (
        '<transmission name="t"><type>s</type><joint name="j"/><actuator name="m"/></transmission>'
    ),
    "URDF": '<robot name="r"><link name="l"/></robot>',
}


def flat(element: ET.Element) -> list:
    """An element without white space, numbers as numbers."""

    def value(text: str) -> object:
        try:
            return [float(part) for part in text.split()]
        except ValueError:
            return text

    named = sorted((name, value(text)) for name, text in element.attrib.items())
    return [element.tag, named, value((element.text or "").strip()), [flat(c) for c in element]]


@pytest.mark.row("S2-030")
@pytest.mark.parametrize("name", FRAGMENTS)
def test_every_class_reads_and_writes_its_element(name: str):
    kind = getattr(urdfpy, name)
    assert issubclass(kind, URDFType)
    node = ET.fromstring(FRAGMENTS[name])
    made = kind._from_xml(node, "")
    assert type(made) is kind
    assert made._TAG == node.tag
    assert flat(made._to_xml(None, "")) == flat(node)


@pytest.mark.row("S2-030")
def test_a_faulty_element_is_refused():
    for name, text in [
        ("Box", "<box/>"),
        ("Box", '<box size="0 1"/>'),
        ("Sphere", '<sphere radius="0,1"/>'),
        ("JointLimit", "<limit/>"),
        ("Link", "<link/>"),
        ("Visual", "<visual/>"),
        ("Inertial", "<inertial/>"),
    ]:
        with pytest.raises(ValueError, match=r".+"):
            getattr(urdfpy, name)._from_xml(ET.fromstring(text), "")


@pytest.mark.row("S2-030")
def test_every_class_has_its_subclass_read():
    class Mine(urdfpy.Sphere):
        pass

    made = Mine._from_xml(ET.fromstring('<sphere radius="2"/>'), "")
    assert type(made) is Mine
    assert made.radius == 2.0


@pytest.mark.row("S2-030")
def test_lxml_elements_are_read_too():
    etree = pytest.importorskip("lxml.etree", reason="lxml (pip install lxml) is not installed")
    node = etree.fromstring(
        "<joint name='j' type='fixed'><!-- c --><parent link='a'/><child link='b'/></joint>"
    )
    joint = urdfpy.Joint._from_xml(node, "")
    assert (joint.parent, joint.child) == ("a", "b")
    assert np.array_equal(joint.origin, np.eye(4))


def test_the_face_is_available():
    assert "urdfpy" in faces.available()
    assert set(urdfpy.__all__) <= set(dir(urdfpy))
    assert URDF.__name__ == "URDF"
