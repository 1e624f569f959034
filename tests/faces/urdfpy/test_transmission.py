from __future__ import annotations

import inspect
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from linkwork.faces.urdfpy import URDF, Actuator, Transmission, TransmissionJoint


@pytest.mark.row("S2-125", "S2-126", "S2-127", "S2-128")
def test_an_actuator():
    actuator = Actuator("motor")
    assert (actuator.name, actuator.mechanicalReduction) == ("motor", None)
    assert actuator.hardwareInterfaces == []
    names = ["name", "mechanicalReduction", "hardwareInterfaces"]
    assert list(inspect.signature(Actuator).parameters) == names
    full = Actuator("motor", 50, ("effort", 3))
    assert full.mechanicalReduction == "50"
    assert full.hardwareInterfaces == ["effort", "3"]
    for wrong in ("effort", 3):
        with pytest.raises(TypeError):
            full.hardwareInterfaces = wrong
    assert full.hardwareInterfaces == ["effort", "3"]
    with pytest.raises(TypeError):
        Actuator(None)
    with pytest.raises(ValueError, match=r"Actuator\.name must not be empty"):
        Actuator("")


@pytest.mark.row("S2-129", "S2-130", "S2-131")
def test_a_transmission_joint():
    joint = TransmissionJoint("elbow", ["effort"])
    assert (joint.name, joint.hardwareInterfaces) == ("elbow", ["effort"])
    joint.hardwareInterfaces = None
    assert joint.hardwareInterfaces == []
    joint.name = 3
    assert joint.name == "3"
    assert list(inspect.signature(TransmissionJoint).parameters) == ["name", "hardwareInterfaces"]
    with pytest.raises(TypeError):
        joint.name = None
    with pytest.raises(ValueError, match=r"TransmissionJoint\.name must not be empty"):
        joint.name = ""
    assert joint.name == "3"


@pytest.mark.row("S2-132", "S2-133", "S2-134", "S2-135", "S2-136")
def test_a_transmission():
    joint, actuator = TransmissionJoint("elbow", None), Actuator("motor")
    transmission = Transmission("drive", "simple", [joint], [actuator])
    assert (transmission.name, transmission.trans_type) == ("drive", "simple")
    assert (transmission.joints, transmission.actuators) == ([joint], [actuator])
    names = ["name", "trans_type", "joints", "actuators"]
    assert list(inspect.signature(Transmission).parameters) == names
    with pytest.raises(ValueError, match=r"Transmission\.name must not be empty"):
        Transmission("", "simple")
    bare = Transmission("drive", "simple")
    assert (bare.joints, bare.actuators) == ([], [])
    for attribute, wrong in (
        ("joints", [actuator]),
        ("joints", 3),
        ("actuators", [joint]),
        ("actuators", "motor"),
        ("name", None),
        ("trans_type", None),
    ):
        with pytest.raises(TypeError):
            setattr(transmission, attribute, wrong)
    assert (transmission.joints, transmission.actuators) == ([joint], [actuator])


@pytest.mark.row("S2-125", "S2-127", "S2-129", "S2-132", "S2-134")
def test_a_transmission_is_read(shapes: URDF):
    (transmission,) = shapes.transmissions
    assert (transmission.name, transmission.trans_type) == ("drive", "simple")
    assert transmission.joints[0].name == "turn"
    assert transmission.joints[0].hardwareInterfaces == ["effort"]
    assert transmission.actuators[0].name == "motor"
    assert transmission.actuators[0].hardwareInterfaces == ["position"]
    assert transmission.actuators[0].mechanicalReduction == "50"  # as written, not "50.0"


PARTS = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
<transmission name="t">{}</transmission></robot>"""
TYPE, JOINT, ACTUATOR = "<type>s</type>", '<joint name="j"/>', '<actuator name="m"/>'


@pytest.mark.row("S2-126", "S2-130", "S2-133", "S2-176")
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (JOINT, "<joint/>", "<joint> a joint of transmission 't' has no name"),
        (JOINT, '<joint name=""/>', "<joint> a joint of transmission 't' has no name"),
        (ACTUATOR, "<actuator/>", "<actuator> an actuator of transmission 't' has no name"),
        (ACTUATOR, '<actuator name=""/>', "<actuator> an actuator of transmission 't' has no name"),
        (' name="t"', "", "<transmission> a transmission has no name"),
        (' name="t"', ' name=""', "<transmission> a transmission has no name"),
    ],
)
def test_names_are_needed_in_a_file(tmp_path: Path, old: str, new: str, said: str):
    path = tmp_path / "r.urdf"
    path.write_text(PARTS.format(TYPE + JOINT + ACTUATOR).replace(old, new))
    with pytest.raises(ValueError, match=rf"r\.urdf:3: error: {said}"):
        URDF.load(str(path))
    element = ET.fromstring(path.read_text())
    with pytest.raises(ValueError, match="has no name"):
        Transmission._from_xml(element.find("transmission"), "")


@pytest.mark.row("S2-132")
def test_what_a_file_must_give_of_a_transmission(tmp_path: Path):
    path = tmp_path / "r.urdf"
    path.write_text(PARTS.format(JOINT + ACTUATOR))
    with pytest.raises(ValueError, match=r"r\.urdf:3.*type"):
        URDF.load(str(path))
    for parts in (TYPE + JOINT, TYPE + ACTUATOR):
        path.write_text(PARTS.format(parts))
        robot = URDF.load(str(path))  # those of other libraries have parts of their own
        assert [finding.code for finding in robot.findings] == ["transmission-parts"]
        with pytest.raises(ValueError, match=r"r\.urdf:3"):
            URDF.load(str(path), strict=True)
