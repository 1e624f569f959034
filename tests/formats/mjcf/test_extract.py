"""Records from the compiled model: names, limits, colours and what has no place."""

from __future__ import annotations

import pytest

from linkwork.formats.mjcf.read import read
from linkwork.formats.mjcf.records import MjcfModel

mujoco = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")


def body(text: str, before: str = "") -> MjcfModel:
    return read(
        f"<mujoco>{before}<worldbody>\n<body name='b'>{text}"
        "<geom size='.1'/></body></worldbody></mujoco>"
    )


def codes(model: MjcfModel) -> dict[str, str]:
    return {problem.code: problem.name for problem in model.problems}


def test_what_has_no_name_is_called_by_its_number():
    model = body("<joint/><joint name='joint0' axis='1 0 0'/><site/><body><geom size='1'/></body>")
    assert [b.name for b in model.bodies] == ["world", "b", "body2"]
    assert [j.name for j in model.joints] == ["joint0_", "joint0"]
    assert [s.name for s in model.sites] == ["site0"]
    assert {"unnamed"} == set(codes(model))


def test_limits_are_those_that_hold():
    model = body(
        "<joint name='a' range='-90 45'/>"
        "<joint name='b' axis='1 0 0' range='-1 1' limited='false'/>"
        "<joint name='c' type='slide' range='-1 2'/>"
    )
    assert [(j.lower, j.upper) for j in model.joints] == [
        (pytest.approx(-1.5707963267948966), pytest.approx(0.7853981633974483)),
        (None, None),
        (-1.0, 2.0),
    ]


def test_a_force_range_is_an_effort_limit_where_it_is_symmetric():
    model = body(
        "<joint name='a' axis='1 0 0' actuatorfrcrange='-5 5'/>\n"
        "<joint name='b' actuatorfrcrange='-5 6'/>"
    )
    assert [j.effort for j in model.joints] == [5.0, None]
    (finding,) = model.problems
    assert (finding.code, finding.name, finding.line) == ("no-effort", "b", 3)


@pytest.mark.parametrize(
    ("text", "code", "name"),
    [
        ("<joint name='j' stiffness='1'/>", "no-stiffness", "j"),
        ("<joint name='j' damping='1 1'/>", "no-damping", "j"),
        ("<joint name='j' type='ball' limited='true'/>", "no-angle", "j"),
        ("<body name='c' gravcomp='1'><geom size='1'/></body>", "no-gravcomp", "c"),
    ],
)
def test_what_has_no_place_in_a_mechanism_is_a_note(text: str, code: str, name: str):
    if code == "no-damping" and not hasattr(mujoco.MjModel, "dof_dampingpoly"):
        pytest.skip("this MuJoCo knows no damping that grows with the velocity")
    model = body(text)
    assert codes(model) == {code: name}
    assert model.problems[0].level == "note"
    assert model.problems[0].line == 2


def test_a_mocap_body_is_a_warning():
    model = read("<mujoco><worldbody>\n<body name='m' mocap='true'/></worldbody></mujoco>")
    (finding,) = model.problems
    assert (finding.level, finding.code, finding.name, finding.line) == ("warning", "mocap", "m", 2)
    assert model.bodies[1].mocap


def test_several_of_a_kind_are_one_finding():
    joints = "".join(f"<joint name='j{k}' armature='1' stiffness='1'/>" for k in range(3))
    (finding,) = body(joints).problems
    assert "2 more" in finding.message


def test_a_reference_and_the_start_in_qpos():
    model = body(
        "<joint name='a' ref='90'/><joint name='b' type='slide' ref='2'/>"
        "<body><joint name='c'/><geom size='1'/></body>"
    )
    assert [j.start for j in model.joints] == [0, 1, 2]
    assert [j.ref for j in model.joints] == [pytest.approx(1.5707963267948966), 2.0, 0.0]


def test_a_free_joint_starts_where_its_body_is_described():
    model = read(
        "<mujoco><worldbody><body pos='1 2 3' quat='0 1 0 0'><freejoint name='f'/>"
        "<geom size='1'/></body></worldbody></mujoco>"
    )
    assert model.joints[0].initial == (1, 2, 3, 0, 1, 0, 0)


def test_colours_come_from_the_material_or_the_shape():
    model = body(
        "<geom size='.1' material='red'/><geom size='.1' rgba='0 1 0 1' contype='0' "
        "conaffinity='0' group='2' name='g'/>",
        before="<asset><texture type='2d' file='no.png' name='t'/>"
        "<material name='red' rgba='1 0 0 1' texture='t'/></asset>",
    )
    assert [geom.rgba for geom in model.geoms[:2]] == [(1, 0, 0, 1), (0, 1, 0, 1)]
    assert [geom.collides for geom in model.geoms[:2]] == [True, False]
    assert (model.geoms[1].group, model.geoms[1].name) == (2, "g")


def test_a_repeated_body_has_the_line_of_its_element():
    model = read(
        "<mujoco><worldbody><replicate count='3'>\n\n<body name='b'><geom size='1'/></body>"
        "</replicate></worldbody></mujoco>"
    )
    assert [b.name for b in model.bodies[1:]] == ["b0", "b1", "b2"]
    assert {b.place.line for b in model.bodies[1:]} == {3}
