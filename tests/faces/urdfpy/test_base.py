"""Subclasses with attributes and elements of their own are read and written by the tables."""

from __future__ import annotations

import io
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from linkwork.faces.urdfpy import URDF, Joint, Link, URDFType


class Lens(URDFType):
    _ATTRIBS = {"focus": (float, True), "coated": (bool, False)}  # noqa: RUF012 -- as programs do
    _TAG = "lens"

    def __init__(self, focus, coated=None):
        self.focus, self.coated = focus, coated


class Camera(URDFType):
    _ATTRIBS = {"name": (str, True), "size": (np.ndarray, False), "rate": (int, False)}  # noqa: RUF012
    _ELEMENTS = {"lens": (Lens, False, True)}  # noqa: RUF012
    _TAG = "camera"

    def __init__(self, name, size=None, rate=None, lenss=None):
        self.name, self.size, self.rate, self.lenss = name, size, rate, lenss


class SeeingLink(Link):
    _ATTRIBS = {**Link._ATTRIBS, "weight_class": (str, False)}  # noqa: RUF012
    _ELEMENTS = {**Link._ELEMENTS, "camera": (Camera, False, True)}  # noqa: RUF012

    def __init__(self, name, inertial, visuals, collisions, weight_class=None, cameras=None):
        super().__init__(name, inertial, visuals, collisions)
        self.weight_class, self.cameras = weight_class, cameras


class World(URDFType):
    _ATTRIBS = {"gravity": (np.ndarray, True)}  # noqa: RUF012
    _TAG = "world"

    def __init__(self, gravity):
        self.gravity = gravity


class SeeingRobot(URDF):
    _ELEMENTS = {  # noqa: RUF012
        **URDF._ELEMENTS,
        "link": (SeeingLink, True, True),
        "world": (World, False, False),
    }

    def __init__(self, *args, world=None, **options):
        super().__init__(*args, **options)
        self.world = world


TEXT = """<robot name="r"><world gravity="0 0 -1.5"/><other/>
<link name="eye" weight_class="light" shade="7">
<camera name="left" size="640 480" rate="30"><lens focus="0.1"/><lens focus="2" coated="true"/>
</camera></link></robot>"""


@pytest.mark.row("S2-030")
def test_the_tables_of_subclasses_are_read_and_written():
    robot = SeeingRobot.load(io.StringIO(TEXT))
    assert type(robot) is SeeingRobot
    link = robot.links[0]
    assert type(link) is SeeingLink
    assert link.weight_class == "light"
    (camera,) = link.cameras
    assert (camera.name, camera.size.tolist(), camera.rate) == ("left", [640, 480], 30)
    assert [(lens.focus, lens.coated) for lens in camera.lenss] == [(0.1, None), (2.0, True)]
    assert robot.world.gravity.tolist() == [0, 0, -1.5]
    assert robot.other_xml == "<extra><other/></extra>"
    camera.lenss.pop()
    camera.rate = 60
    link.weight_class = "heavy"
    robot.world.gravity = np.array([0, 0, -9.81])
    buffer = io.StringIO()
    robot.save(buffer)
    again = SeeingRobot.load(io.StringIO(buffer.getvalue()))
    assert again.links[0].weight_class == "heavy"
    assert again.links[0].cameras[0].rate == 60
    assert len(again.links[0].cameras[0].lenss) == 1
    assert again.world.gravity.tolist() == [0, 0, -9.81]
    assert 'shade="7"' in buffer.getvalue()
    # a robot without the extensions keeps them as they are
    plain = io.StringIO()
    URDF.load(io.StringIO(TEXT)).save(plain)
    assert SeeingRobot.load(io.StringIO(plain.getvalue())).links[0].cameras[0].rate == 30


@pytest.mark.row("S2-030")
def test_what_the_tables_need_and_cannot_read():
    for text, message in [
        (TEXT.replace('name="left" ', ""), "'name'"),
        (TEXT.replace('focus="0.1"', ""), "'focus'"),
        (TEXT.replace("640", "wide"), "size"),
        (TEXT.replace("30", "3.5"), "rate"),
        (TEXT.replace('coated="true"', 'coated="maybe"'), "coated"),
    ]:
        with pytest.raises(ValueError, match=message):
            SeeingRobot.load(io.StringIO(text))


@pytest.mark.row("S2-030")
def test_a_type_of_its_own_is_read_and_written():
    node = ET.fromstring('<camera name="x" size="1 2"><lens focus="3"/></camera>')
    camera = Camera._from_xml(node, "")
    made = camera._to_xml(None, "")
    assert (made.tag, made.get("name"), made.get("size")) == ("camera", "x", "1.0 2.0")
    assert made.find("lens").get("focus") == "3.0"


@pytest.mark.row("S2-030")
def test_the_tables_of_the_standard():
    assert Joint._TAG == "joint"
    assert Joint._ATTRIBS == {"name": (str, True)}
    assert Link._ELEMENTS["visual"][1:] == (False, True)
    assert URDF._ELEMENTS["link"] == (Link, True, True)
