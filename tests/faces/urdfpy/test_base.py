"""The base of all elements, their tables, and checked attributes."""

from __future__ import annotations

import io
import pickle
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from linkwork.errors import LinkworkError
from linkwork.faces import urdfpy
from linkwork.faces.urdfpy import (
    URDF,
    Actuator,
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Joint,
    JointCalibration,
    JointDynamics,
    JointLimit,
    JointMimic,
    Link,
    Material,
    Mesh,
    SafetyController,
    Sphere,
    Texture,
    Transmission,
    TransmissionJoint,
    URDFType,
    Visual,
    xyz_rpy_to_matrix,
)
from linkwork.faces.urdfpy.values import ForeignError, WrongTypeError

# base


class Lens(URDFType):
    _ATTRIBS = {"focus": (float, True), "coated": (bool, False)}  # noqa: RUF012 -- as programs do
    _TAG = "lens"

    def __init__(self, focus, coated=None):
        self.focus, self.coated = focus, coated


class Camera(URDFType):
    _ATTRIBS = {"name": (str, True), "size": (np.ndarray, False), "rate": (int, False)}  # noqa: RUF012
    _ELEMENTS = {"lenses": (Lens, False, True)}  # noqa: RUF012
    _TAG = "camera"

    def __init__(self, name, size=None, rate=None, lenses=None):
        self.name, self.size, self.rate, self.lenses = name, size, rate, lenses


class SeeingLink(Link):
    _ATTRIBS = {**Link._ATTRIBS, "weight_class": (str, False)}  # noqa: RUF012
    _ELEMENTS = {**Link._ELEMENTS, "cameras": (Camera, False, True)}  # noqa: RUF012

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
        "links": (SeeingLink, True, True),
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
    assert [(lens.focus, lens.coated) for lens in camera.lenses] == [(0.1, None), (2.0, True)]
    assert robot.world.gravity.tolist() == [0, 0, -1.5]
    assert robot.other_xml == "<extra><other/></extra>"
    camera.lenses.pop()
    camera.rate = 60
    link.weight_class = "heavy"
    robot.world.gravity = np.array([0, 0, -9.81])
    buffer = io.StringIO()
    robot.save(buffer)
    again = SeeingRobot.load(io.StringIO(buffer.getvalue()))
    assert again.links[0].weight_class == "heavy"
    assert again.links[0].cameras[0].rate == 60
    assert len(again.links[0].cameras[0].lenses) == 1
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
def test_the_tables_of_the_standard():
    assert Joint._TAG == "joint"
    assert Joint._ATTRIBS == {"name": (str, True)}
    assert Link._ELEMENTS["visuals"][1:] == (False, True)
    assert URDF._ELEMENTS["links"] == (Link, True, True)


# tables of the classes themselves, changed by a program


LIMITED = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute">
<parent link="a"/><child link="b"/><limit lower="-1" upper="1" stall="3"/></joint></robot>"""


@pytest.mark.row("S2-030", "S2-106")
def test_a_program_may_drop_what_a_table_requires(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ValueError, match="has no 'effort'"):
        URDF.load(io.StringIO(LIMITED))
    optional = {name: (float, False) for name in JointLimit._ATTRIBS}
    monkeypatch.setattr(JointLimit, "_ATTRIBS", optional)
    robot = URDF.load(io.StringIO(LIMITED))
    limit = robot.joints[0].limit
    assert (limit.effort, limit.velocity, limit.lower, limit.upper) == (None, None, -1, 1)
    assert robot.joints[0].is_valid(0.5)
    buffer = io.StringIO()
    robot.save(buffer)
    assert "effort" not in buffer.getvalue()
    assert JointLimit._from_xml(ET.fromstring('<limit upper="1"/>'), "").effort is None
    limit.effort = 3
    with pytest.raises(TypeError):
        SafetyController(None)  # its own table still requires it


@pytest.mark.row("S2-030")
def test_a_table_may_require_more_read_otherwise_and_leave_out(monkeypatch: pytest.MonkeyPatch):
    text = LIMITED.replace("<limit", '<limit effort="12.5" velocity="2"')
    monkeypatch.setitem(Link._ELEMENTS, "inertial", (Inertial, True, False))
    with pytest.raises(ValueError, match=r"'inertial'.*Link"):
        URDF.load(io.StringIO(text))
    monkeypatch.undo()

    class WholeLimit(JointLimit):
        _ATTRIBS = {  # noqa: RUF012
            "effort": (lambda said: round(float(said)), True),
            "velocity": (float, True),
            "stall": (int, True),
        }

        def __init__(self, effort, velocity, lower=None, upper=None, stall=0):
            super().__init__(effort, velocity, lower, upper)
            self.stall = stall

    monkeypatch.setitem(Joint._ELEMENTS, "limit", (WholeLimit, False, False))
    limit = URDF.load(io.StringIO(text)).joints[0].limit
    assert (type(limit), limit.effort, limit.stall, limit.lower) == (WholeLimit, 12, 3, None)


@pytest.mark.row("S2-030")
def test_an_attribute_may_be_added_to_a_class_itself(monkeypatch: pytest.MonkeyPatch):
    plain = JointLimit.__init__

    def with_stall(self, effort, velocity, lower=None, upper=None, stall=None):
        plain(self, effort, velocity, lower, upper)
        self.stall = stall

    monkeypatch.setattr(JointLimit, "__init__", with_stall)
    monkeypatch.setattr(JointLimit, "_ATTRIBS", {**JointLimit._ATTRIBS, "stall": (float, False)})
    robot = URDF.load(io.StringIO(LIMITED.replace("<limit", '<limit effort="1" velocity="2"')))
    assert robot.joints[0].limit.stall == 3.0
    robot.joints[0].limit.stall = 4.0
    buffer = io.StringIO()
    robot.save(buffer)
    assert 'stall="4.0"' in buffer.getvalue()


# copies of elements


def every_element() -> dict[str, URDFType]:
    """One of each class, with names, and lengths of 1 or more."""
    T = xyz_rpy_to_matrix([1, 2, 3, 0, 0, 0])
    box = Geometry(box=Box([1, 2, 3]))
    red = Material("red", [1, 0, 0, 1], Texture("red.png", np.zeros((2, 2, 3), np.uint8)))
    visual = Visual(box, name="v", origin=T, material=red)
    collision = Collision("c", T, Geometry(box=Box([1, 1, 1])))
    inertial = Inertial(2.0, np.diag([1.0, 1.0, 1.0]), T)
    limit, mimic = JointLimit(1, 2, -1, 3), JointMimic("k", 2.0, 0.5)
    drive = TransmissionJoint("j", ["effort"])
    joint = Joint(
        "j", "prismatic", "a", "b", [0, 0, 1], T, limit, JointDynamics(0.1, 0.2),
        SafetyController(1, 2, -3, 3), JointCalibration(0.1, 0.2), mimic,
    )  # fmt: skip
    parts = [
        Box([1, 2, 3]), Cylinder(1, 2), Sphere(3), Capsule(1, 2), box, red, red.texture, visual,
        collision, inertial, Link("l", inertial, [visual], [collision]), limit, mimic, drive, joint,
        joint.dynamics, joint.safety_controller, joint.calibration, Actuator("m", "50", ["effort"]),
        Transmission("t", "simple", [drive], [Actuator("m")]),
        Mesh("m.stl", [1, 2, 3], Box([1, 1, 1]).meshes),
    ]  # fmt: skip
    return {type(part).__name__: part for part in parts}


def state(part: URDFType) -> bytes:
    return ET.tostring(part._to_xml(None, "")) if not isinstance(part, Texture) else b""


@pytest.mark.row("S2-030")
@pytest.mark.parametrize("kind", sorted(every_element().keys() - {"Texture"}))
def test_every_class_reads_and_writes_its_element(kind: str):
    part = every_element()[kind]
    node = part._to_xml(None, "")
    made = type(part)._from_xml(node, "")
    assert type(made) is type(part)
    assert node.tag == type(part)._TAG
    assert state(made) == state(part)


@pytest.mark.parametrize("kind", [*every_element()])
def test_a_copy_shares_nothing(kind: str):
    part = every_element()[kind]
    before, other = state(part), part.copy()
    assert type(other) is type(part)
    assert other is not part
    assert state(other) == before
    other = part.copy("p_") if kind == "Inertial" else part.copy(prefix="p_", scale=2.0)
    assert state(part) == before
    if kind in ("Actuator", "Material", "TransmissionJoint", "Link", "Visual", "Collision"):
        assert other.name == "p_" + part.name


def test_what_a_copy_prefixes():
    made = {kind: part.copy("p_") for kind, part in every_element().items()}
    joint, link, drive = made["Joint"], made["Link"], made["Transmission"]
    assert (joint.name, joint.parent, joint.child, joint.mimic.joint) == (
        "p_j",
        "p_a",
        "p_b",
        "p_k",
    )
    assert made["JointMimic"].joint == "p_k"
    assert (link.visuals[0].name, link.collisions[0].name) == ("p_v", "p_c")
    assert link.visuals[0].material.name == made["Visual"].material.name == "p_red"
    assert (drive.name, drive.joints[0].name, drive.actuators[0].name) == ("p_t", "p_j", "p_m")
    assert (made["Texture"].filename, made["Mesh"].filename) == ("red.png", "m.stl")


def test_what_a_copy_scales():
    made = {k: part.copy(scale=2.0) for k, part in every_element().items() if k != "Inertial"}
    assert made["Box"].size.tolist() == made["Geometry"].box.size.tolist() == [2, 4, 6]
    for kind in ("Cylinder", "Capsule"):
        assert (made[kind].radius, made[kind].length) == (2, 4)
    assert made["Sphere"].radius == 6
    assert made["Mesh"].scale.tolist() == [2, 4, 6]
    assert np.array_equal(made["Mesh"].meshes[0].extents, [1, 1, 1])
    for kind in ("Visual", "Collision", "Joint"):
        assert made[kind].origin[:3, 3].tolist() == [2, 4, 6]
    assert (made["Joint"].limit.lower, made["Joint"].limit.upper) == (-2, 6)  # it is prismatic
    assert made["JointLimit"].lower == -1  # nobody knows whether it is a length
    assert made["Link"].inertial.mass == 16
    assert np.allclose(made["Link"].inertial.inertia, 32 * np.eye(3))


def test_copies_with_options_of_their_own():
    made = every_element()
    other = made["Inertial"].copy(mass=5.0)
    assert (other.mass, other.origin[2, 3], made["Inertial"].mass) == (5, 3, 2)
    other = made["Inertial"].copy("p_", None, np.eye(4), 3 * np.eye(3))
    assert (other.mass, other.origin[2, 3], other.inertia[0, 0]) == (2, 0, 3)
    bare = made["Link"].copy(collision_only=True)
    assert (bare.visuals, len(bare.collisions)) == ([], 1)
    empty = Link("e", None, None, None).copy(scale=2.0)
    assert b"inertial" not in state(empty)
    for kind in ("Sphere", "Capsule"):
        with pytest.raises(ValueError, match=r"the same along x, y and z"):
            made[kind].copy(scale=[1, 1, 3])


# values


def test_errors_are_linkwork_s_and_the_built_in_ones():
    with pytest.raises(TypeError) as caught:
        Link("l", 3, None, None)
    assert isinstance(caught.value, LinkworkError)
    assert isinstance(caught.value, WrongTypeError)


def test_a_link_of_another_robot_is_told_from_a_name_that_does_not_exist():
    error = ForeignError("link", "a", ["a", "b"])
    assert isinstance(error, KeyError)
    said = "the link 'a' is no link of this robot; take the one of its name: robot.link_map['a']"
    assert str(error) == error.args[0] == said
    assert "none has its name" in str(ForeignError("joint", "c", ["a", "b"]))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.valid) == (ForeignError, said, ("a", "b"))


def test_equality_is_identity():
    one, two = Box([1, 1, 1]), Box([1, 1, 1])
    assert one != two
    assert len({one, two}) == 2
    assert one == one


def test_every_attribute_has_a_docstring():
    for name in urdfpy.__all__:
        kind = getattr(urdfpy, name)
        if isinstance(kind, type):
            for attribute, value in vars(kind).items():
                if not attribute.startswith("_") and hasattr(value, "__set__"):
                    assert value.__doc__, (name, attribute)


def test_what_is_given_is_copied():
    size = np.ones(3)
    box = Box(size)
    size[:] = 7
    assert box.size.tolist() == [1, 1, 1]
