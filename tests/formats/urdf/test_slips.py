"""What other readers take as well: slips that leave the tree and its poses as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import DescriptionError, InputError
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.validate import checked
from linkwork.formats.urdf.write import to_text
from linkwork.mechanism.serialize import from_json, to_json

BODY = """<inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>"""
TEXT = """<robot name="r"{head}>
<link name="a">{inertial}{shape}</link>
<link name="b">{body}</link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<origin xyz="0 0 0.5"/><axis xyz="0 0 1"/>{joint}
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>{end}
</robot>
"""
MESH = '<visual><geometry><mesh filename="a.stl" scale="{}"/></geometry></visual>'
COLOR = """<visual><geometry><sphere radius="1"/></geometry><material name="m">
<color rgba="{}"/></material></visual>"""
MOMENTS = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
XACRO = ' xmlns:xacro="http://www.ros.org/wiki/xacro"'


def described(**given: str) -> str:
    empty = dict.fromkeys(("head", "inertial", "shape", "joint", "end"), "")
    return TEXT.format(**{**empty, "body": BODY, **given})


SLIPS = {
    "missing-inertia": described(body='<inertial><mass value="2"/></inertial>'),
    "missing-inertia in part": described(
        body='<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    ),
    "missing-attribute of inertia": described(
        body='<inertial><mass value="2"/><inertia ixx="1" iyy="1" note="1"/></inertial>'
    ),
    "missing-mass": described(body=f"<inertial>{MOMENTS}</inertial>"),
    "missing-mass of a number": described(body=f"<inertial><mass/>{MOMENTS}</inertial>"),
    "xacro": described(head=XACRO, end='<xacro:property name="x" value="2"/>'),
    "undeclared-prefix": described(end='<sensor:camera sensor:rate="3"/>'),
    "doubled": described(joint='<axis xyz="0 1 0"/>'),
    "count": described(shape=MESH.format("1 1 1 1")),
    "number": described(shape=COLOR.format("${red} 0 0 1")),
    "declaration": '\n  <?xml version="1.0"?>' + described(),
}


@pytest.mark.parametrize("code", SLIPS)
def test_a_slip_that_leaves_the_tree_alone_is_a_finding(code: str):
    data, whole = SLIPS[code].encode(), lw.load(described())
    code, robot = code.split(maxsplit=1)[0], lw.load(data)
    assert code in {finding.code for finding in robot.findings}
    (first, *_) = [finding for finding in robot.findings if finding.code == code]
    assert first.level == "warning" and first.line > 0
    assert robot.frame_names == whole.frame_names
    np.testing.assert_array_equal(robot.fk([0.3], "b"), whole.fk([0.3], "b"))
    with pytest.raises(DescriptionError):
        lw.load(data, strict=True)


@pytest.mark.parametrize("code", SLIPS)
def test_it_is_written_as_it_is(code: str):
    robot = read(SLIPS[code].encode()).robot
    again = read(to_text(robot))
    assert again.robot == robot
    assert to_text(again.robot) == to_text(robot)
    found = {p.code for p in checked(robot).problems}
    in_text_alone = {"doubled", "xacro"}  # an element twice, a name space
    assert found - {"unknown-element"} == {p.code for p in again.problems} - in_text_alone - {
        "unknown-element"
    }
    kept = read(SLIPS[code].encode(), keep_source=True).robot
    assert to_text(kept) == SLIPS[code]
    renamed = lw.urdf.rename(lw.urdf.read(SLIPS[code]), links={"b": "tip"})
    assert [link.name for link in read(to_text(renamed.robot)).robot.links] == ["a", "tip"]


@pytest.mark.parametrize("what", ["mass", "inertia"])
def test_dynamics_of_an_unknown_body_are_refused_by_name(what: str):
    robot = lw.load(SLIPS[f"missing-{what}"])
    for call in (
        lambda: robot.inverse_dynamics([0.0], [0.0], [0.0]),
        lambda: robot.forward_dynamics([0.0], [0.0], [0.0]),
        lambda: robot.mass_matrix([0.0]),
        lambda: robot.kinetic_energy([0.0], [0.0]),
        lambda: lw.simulate(robot, [0.0], duration=0.1, dt=0.01),
    ):
        with pytest.raises(
            InputError, match=rf"link 'b' has an <inertial> without (a whole )?<{what}>"
        ):
            call()
    for call in (lambda: robot.com([0.0]), lambda: robot.gravity_forces([0.0])):
        if what == "mass":
            with pytest.raises(InputError, match="link 'b'"):
                call()
        else:
            assert np.isfinite(call()).all()
    if what == "mass":
        return
    (zero,) = robot.accept_inertias().gravity_forces([0.4])
    assert zero == 0.0
    given = robot.function("mass_matrix", parameters=["inertia:b"])
    assert given([0.0], [1.0, 0.0, 0.0, 2.0, 0.0, 3.0]) == pytest.approx(3.0)


@pytest.mark.parametrize("code", ["missing-inertia in part", "missing-mass of a number"])
def test_what_is_said_in_part_is_unknown_too(code: str):
    robot, whole = lw.load(SLIPS[code]), lw.load(described())
    with pytest.raises(InputError, match="link 'b'"):
        robot.mass_matrix([0.0])
    changes = lw.urdf.diff(robot.document, whole.document)
    assert {change.path.split(" / ")[0] for change in changes} == {"link 'b'"}


def test_an_unknown_body_that_never_moves_hinders_nothing_but_the_whole_mass():
    text = described(inertial=f"<inertial>{MOMENTS}</inertial>")
    robot, whole = lw.load(text), lw.load(described())
    args = ([0.1], [0.2], [0.3])
    np.testing.assert_array_equal(robot.inverse_dynamics(*args), whole.inverse_dynamics(*args))
    with pytest.raises(InputError, match="link 'a' has an <inertial> without <mass>"):
        robot.com([0.0])
    floating = lw.load(text, base="floating")
    with pytest.raises(InputError, match="link 'a'"):
        floating.mass_matrix(floating.neutral())


def test_it_stays_unknown_through_edits_and_json():
    robot = lw.load(SLIPS["missing-inertia"])
    again = lw.Robot(from_json(to_json(robot.mechanism)))
    assert again.mechanism == robot.mechanism
    for other in (again, robot.with_frame("tool", "b", np.eye(4)), robot.with_payload("a", 1.0)):
        with pytest.raises(InputError, match="link 'b'"):
            other.mass_matrix([0.0])


def test_a_mesh_of_unknown_size_is_refused_when_it_is_opened(tmp_path: Path):
    (tmp_path / "r.urdf").write_text(SLIPS["count"])
    (tmp_path / "a.stl").write_bytes(
        b"solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
        b"endloop\nendfacet\nendsolid s\n"
    )
    robot = lw.load(tmp_path / "r.urdf")
    with pytest.raises(InputError, match=r"r\.urdf:2: the scale of the mesh 'a\.stl'"):
        robot.link_mesh("a")


def test_prefixes_that_are_declared_somewhere_stay_as_they_are():
    inner = '<x:y xmlns:x="some" x:a="1"/>'
    document = read(described(end=inner))
    assert "undeclared-prefix" not in {p.code for p in document.problems}
    both = read(described(end=inner + "<x:z/><q:z x:b='1'/>"))
    found = [p for p in both.problems if p.code == "undeclared-prefix"]
    assert [p.line for p in found] and "'x'" in str(found) and "'q'" in str(found)
    with pytest.raises(DescriptionError, match="the XML is broken"):
        read(described(end="<a:b></c:d>"))
