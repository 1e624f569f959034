"""Reading MJCF: from paths, texts and bytes, with its findings; mutated texts, and many at once."""

from __future__ import annotations

import os
import random
import re
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from linkwork.errors import DescriptionError, InputError, MissingExtraError, UnsupportedFeatureError
from linkwork.formats.mjcf.read import is_mjcf, mujoco_module, read
from linkwork.formats.mjcf.records import Coupling, MjcfModel, Place
from linkwork.mechanism.from_mjcf import from_mjcf
from mjcf_samples import OBJ, RandomMjcf, closed, damaged, with_tiny_meshes
from robots import model_poses, random_configuration
from seeds import rng

mujoco = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")

ARM = """<mujoco model="arm">
<option gravity="0 0 -1.62"/>
<worldbody>
<body name="upper"><joint name="shoulder" axis="0 1 0"/><geom type="capsule" size=".05 .2"/>
<body name="lower" pos="0 0 .4"><joint name="elbow" axis="0 1 0"/>
<geom type="capsule" size=".05 .2"/><site name="tip"/></body></body>
</worldbody>
<actuator><motor joint="shoulder"/>
<adhesion body="upper" ctrlrange="0 1"/></actuator>
<equality><joint joint1="shoulder" joint2="elbow"/>
<flexvert flex="f"/></equality>
</mujoco>"""


def test_a_path_a_text_and_bytes_are_the_same(tmp_path: Path):
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    models = [
        read(path),
        read(str(path)),
        read(ARM, file=str(path)),
        read(ARM.encode(), file=str(path)),
    ]
    assert all(model == models[0] for model in models)
    assert [body.name for body in models[0].bodies] == ["world", "upper", "lower"]


@pytest.mark.parametrize(
    ("text", "file", "name"),
    [
        ('<mujoco model="m"/>', "a/robot.xml", "m"),
        ("<mujoco/>", "a/robot.xml", "robot"),
        ("<mujoco/>", None, "mjcf"),
    ],
)
def test_the_name_is_the_models_or_the_files(text: str, file: str | None, name: str):
    assert read(text, file=file).name == name


def test_what_is_not_read_is_a_finding_with_its_line():
    found = {p.code: (p.level, p.line) for p in read(ARM).problems}
    assert found == {
        "no-actuator": ("note", 9),
        "no-equality": ("warning", 11),
    }


@pytest.mark.parametrize(
    ("option", "gravity"),
    [
        ("", (0.0, 0.0, -9.81)),  # MuJoCo's own
        ('<option gravity="1 2 -3" timestep="0.01"/>', (1.0, 2.0, -3.0)),
        ('<option gravity="1 2 -3"/><option iterations="3"/>', (1.0, 2.0, -3.0)),
        ('<option><flag gravity="disable"/></option>', (0.0, 0.0, 0.0)),
    ],
)
def test_gravity_is_that_of_the_options(option: str, gravity: tuple[float, ...]):
    model = read(f"<mujoco>{option}</mujoco>")
    assert model.gravity == gravity
    assert not model.problems


@pytest.mark.parametrize(
    ("option", "code", "words"),
    [
        ('<option density="1.2"/>', "no-fluid", "fluid"),
        ('<option viscosity="0.1"/>', "no-fluid", "fluid"),
        ('<option><flag limit="disable" spring="disable"/></option>', "no-flag", "limit, spring"),
    ],
)
def test_physics_of_the_options_that_a_mechanism_does_not_have_is_a_warning(
    option: str, code: str, words: str
):
    (finding,) = read(f"<mujoco>\n{option}</mujoco>").problems
    assert (finding.level, finding.code, finding.line) == ("warning", code, 2)
    assert words in finding.message


@pytest.mark.parametrize(
    "more",
    [
        "<tendon>\n<fixed name='t' stiffness='1'><joint joint='j' coef='1'/></fixed></tendon>",
        "<tendon>\n<fixed name='t' armature='.1'><joint joint='j' coef='1'/></fixed></tendon>",
        "<actuator>\n<motor joint='j' armature='1'/></actuator>",
        "<actuator>\n<motor joint='j' damping='1'/></actuator>",
        "<default>\n<motor armature='1'/></default>",
        "<default>\n<tendon damping='.2'/></default>",
    ],
)
def test_dynamics_of_tendons_and_actuators_are_a_warning(more: str):
    body = "<worldbody><body><joint name='j'/><geom size='1'/></body></worldbody>"
    found = {p.code: (p.level, p.line) for p in read(f"<mujoco>{body}{more}</mujoco>").problems}
    assert found["no-dynamics"] == ("warning", 2)


def test_dynamics_that_are_zero_are_nothing_to_tell():
    text = (
        "<mujoco><worldbody><body name='b'><joint name='j'/><geom size='1'/></body></worldbody>"
        "<tendon><fixed name='t' stiffness='0' damping='0.0'><joint joint='j' coef='1'/></fixed>"
        "</tendon><actuator><motor joint='j' armature='0 '/></actuator></mujoco>"
    )
    assert not read(text).problems


def test_what_mujoco_warns_of_is_a_finding_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    text = ARM.replace("<option", '<compiler settotalmass="3"/><option')
    model = read(text)
    assert sum(body.mass for body in model.bodies) == pytest.approx(3, rel=1e-12)
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")
    assert mujoco.get_mju_user_warning() is None


def test_missing_files_and_folders_are_refused(tmp_path: Path):
    for path in (tmp_path, tmp_path / "no.xml"):
        with pytest.raises(DescriptionError):
            read(path)


def test_texts_read_in_threads_are_what_they_are_alone():
    texts = [RandomMjcf(rng(f"threads {k}")).text() for k in range(12)]
    alone = [read(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, texts * 3)) == alone * 3


def mutated(text: str, draw: random.Random) -> str:
    """The text with a piece taken out, doubled, moved or changed."""
    a, b = sorted(draw.randrange(len(text)) for _ in range(2))
    b = min(b, a + draw.choice((1, 5, 40)))
    piece = text[a:b]
    words = [
        "-1",
        "0",
        "1e30",
        "nan",
        '"',
        "<",
        "/>",
        "free",
        "ball",
        "mesh",
        "\0",
        "é",
        " ",
        "99999",
    ]
    kind = draw.randrange(4)
    if kind == 0:
        return text[:a] + text[b:]
    if kind == 1:
        return text[:b] + piece * draw.randrange(1, 4) + text[b:]
    if kind == 2:
        c = draw.randrange(len(text))
        return text[:c] + piece + text[c:]
    return text[:a] + draw.choice(words) + text[b:]


def way(text: str, generator: np.random.Generator) -> bool:
    """Read a text and make a mechanism of it; whether it was accepted.

    What is accepted has finite numbers and moves; what is not is refused by one error of ours, with
    the line of each problem.
    """
    try:
        mechanism = from_mjcf(read(text))
    except UnsupportedFeatureError as error:
        assert re.match(r"\S+:\d+: ", str(error)), str(error)
        return False
    except DescriptionError as error:
        assert all(problem.line for problem in error.problems), str(error)
        return False
    poses = model_poses(mechanism, random_configuration(generator, mechanism))
    assert all(np.isfinite(T).all() for T in poses.values())
    assert np.isfinite(mechanism.link_mass).all() and (mechanism.link_mass >= 0).all()
    assert np.isfinite(mechanism.link_I_com).all()
    return True


MUTATIONS = int(os.environ.get("LINKWORK_MUTATIONS", "100"))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("kind", ["letters", "elements"])
def test_mutated_texts_are_read_or_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    generator = rng(f"mutations of {kind}")
    draw = random.Random(int(generator.integers(1 << 30)))
    base = [ARM] + [RandomMjcf(generator).text(2) for _ in range(5)]
    base += [with_tiny_meshes(text) for text in base[1:3]]
    accepted = 0
    capfd.readouterr()  # the seed
    for _ in range(MUTATIONS):
        text = draw.choice(base)
        if kind == "elements":
            text = damaged(generator, text)
        else:
            for _ in range(draw.randrange(1, 4)):
                text = mutated(text, draw)
            text = text if text.startswith("<") else "<mujoco>" + text
        (tmp_path.parent / f"{tmp_path.name}.last").write_text(text)  # there after a crash
        accepted += way(text, generator)
    assert 0 < accepted < MUTATIONS
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")


# ---- MJCF is known by its root element, whatever stands before or behind it


@pytest.mark.parametrize(
    "data",
    [
        b"<mujoco/>",
        b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- <robot/> -->\n<mujoco model='a'>",
        b"<mujoco><broken></mujoco>",
        b"\n  <?xml version='1.0'?><mujoco/>",
        "<?xml version='1.0' encoding='utf-16'?><mujoco/>".encode("utf-16"),
    ],
)
def test_mjcf(data: bytes):
    assert is_mjcf(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"panda",
        b"<robot name='a'><mujoco/></robot>",
        b"<mujocoinclude/>",
        b"<!DOCTYPE mujoco [<!ENTITY a 'b'>]><mujoco/>",
        b"<mujoco",
        b"\x00" * 100,
        b"<?xml version='1.0' encoding='no-such'?><mujoco/>",
    ],
)
def test_not_mjcf(data: bytes):
    assert not is_mjcf(data)


def test_nothing_behind_the_root_is_read():
    assert is_mjcf(b"<mujoco>" + b"<a>" * 1_000_000)


# ---- Records from the compiled model: names, limits, colours and what has no place


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


ACTUATORS = """
<mujoco>
  <default>
    <default class='servo'><general biastype='affine' biasprm='0 -9' ctrlrange='-2 2'
      forcerange='-87 87'/></default>
    <default class='geared'><motor ctrlrange='-1 1' gear='-3'/></default>
    <default class='held'><position kp='500' forcerange='-5 5'/></default>
  </default>
  <worldbody>
    <replicate count='8' sep=''><body><joint name='j'/><geom size='.1'/></body></replicate>
    <body><joint name='bounded' actuatorfrcrange='-2 2'/><geom size='.1'/></body>
  </worldbody>
  <tendon><fixed name='t'><joint joint='j4' coef='-2'/></fixed></tendon>
  <actuator>
    <general class='servo' joint='j0' gainprm='900'/>
    <motor class='geared' joint='j1'/><motor joint='j1' ctrlrange='-2 2' forcerange='-1 1'/>
    <motor class='geared' joint='bounded'/>
    <position joint='j3' kp='400' ctrlrange='-1 1'/>
    <position class='held' tendon='t'/>
    <general joint='j5' gainprm='4' ctrlrange='-1 1' gear='2'/>
    <motor joint='j6' ctrlrange='-1 1'/><motor joint='j6'/>
    <velocity class='held' kv='700' jointinparent='j7'/>
  </actuator>
</mujoco>"""


def test_effort_limits_are_what_mujocos_actuators_push_with_at_most():
    model = mujoco.MjModel.from_xml_string(ACTUATORS)
    data = mujoco.MjData(model)
    for sign in (-1.0, 1.0):
        data.ctrl[:] = sign * 1e3 * np.sign(model.actuator_gear[:, 0])
        data.ctrl[model.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON] *= -1.0
        mujoco.mj_forward(model, data)
        for joint, force in zip(read(ACTUATORS).joints, data.qfrc_actuator, strict=True):
            free = joint.name in ("j2", "j3", "j6")
            assert joint.effort == (None if free else pytest.approx(sign * force)), joint.name


@pytest.mark.parametrize(
    ("text", "level", "code", "name"),
    [
        ("<joint name='j' type='ball' stiffness='1'/>", "warning", "no-stiffness", "j"),
        ("<joint name='j' stiffness='1 1'/>", "warning", "no-stiffness", "j"),
        ("<joint name='j' damping='1 1'/>", "warning", "no-damping", "j"),
        ("<joint name='j' type='ball' limited='true'/>", "note", "no-angle", "j"),
        ("<body name='c' gravcomp='1'><geom size='1'/></body>", "warning", "no-gravcomp", "c"),
    ],
)
def test_what_has_no_place_in_a_mechanism_is_told(text: str, level: str, code: str, name: str):
    if "1 1" in text and not hasattr(mujoco.MjModel, "dof_dampingpoly"):
        pytest.skip("this MuJoCo knows no damping or spring that is not linear")
    model = body(text)
    assert codes(model) == {code: name}
    assert model.problems[0].level == level
    assert model.problems[0].line == 2


def test_springs_are_those_of_hinges_and_slides():
    model = body(
        "<joint name='a' stiffness='3' springref='90' ref='10'/>"
        "<joint name='b' type='slide' stiffness='2' springref='.5'/>"
        "<joint name='c' type='slide' axis='1 0 0'/>"
    )
    assert not model.problems
    found = [(j.stiffness, j.spring_position) for j in model.joints]
    assert found == [(3.0, pytest.approx(np.pi / 2)), (2.0, 0.5), (0.0, 0.0)]


def test_a_mocap_body_is_a_warning():
    model = read("<mujoco><worldbody>\n<body name='m' mocap='true'/></worldbody></mujoco>")
    (finding,) = model.problems
    assert (finding.level, finding.code, finding.name, finding.line) == ("warning", "mocap", "m", 2)
    assert model.bodies[1].mocap


def test_several_of_a_kind_are_one_finding():
    joints = "".join(f"<joint name='j{k}' actuatorfrcrange='-1 2'/>" for k in range(3))
    (finding,) = (p for p in body(joints).problems if p.code == "no-effort")
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


# ---- Equalities and actuators as records; their meaning is compared where mechanisms are made


LINE = closed("@").split("@")[0].count("\n") + 1


def test_loops_are_anchors_on_two_bodies():
    text = (
        '<connect name="c" body1="crank" body2="tip" anchor=".1 .2 .3"/>'
        '<weld body1="tip" anchor=".1 0 0" relpose="1 2 3 1 0 0 0"/><weld site1="s1" site2="s2"/>'
        '<weld body1="tip" torquescale="0"/>'
    )
    model = read(closed(text))
    connect, weld, sites, point = model.closures
    assert (connect.name, connect.kind, connect.a.pos) == ("c", "connect", (0.1, 0.2, 0.3))
    assert [model.bodies[a.body].name for a in (connect.a, connect.b)] == ["crank", "tip"]
    assert (weld.kind, weld.a.pos, weld.b.pos) == ("weld", (1, 2, 3), (0.1, 0, 0))
    assert weld.name == "" and weld.b.body == 0
    assert [model.sites[a.site].name for a in (sites.a, sites.b)] == ["s1", "s2"]
    assert point.kind == "connect"
    assert {closure.place.line for closure in model.closures} == {LINE}


def test_couplings_are_sums_and_a_polynomial():
    text = (
        '<joint joint1="h" joint2="g" polycoef="0 1 2 3 4"/><joint name="x" joint1="g"/>'
        '<tendon tendon1="both" tendon2="one"/>'
    )
    first, alone, tendon = read(closed(text)).couplings
    assert replace(first, place=Place()) == Coupling("", ((0, 1.0),), ((2, 1.0),), (0, 1, 2, 3, 4))
    assert (alone.name, alone.terms, alone.other) == ("x", ((2, 1.0),), ())
    assert tendon.terms == ((0, 2.0), (1, -1.0)) and tendon.other == ((2, 1.0),)


def test_a_joint_without_a_factor_is_in_no_tendon():
    text = closed('<tendon tendon1="both"/>').replace('coef="2"', 'coef="0"')
    assert read(text).couplings[0].terms == ((1, -1.0),)


def test_actuators_are_the_joints_that_they_drive():
    more = '<actuator><motor joint="g"/>\n<motor tendon="both"/></actuator>'
    drives = read(closed("", more=more)).drives
    assert [drive.joints for drive in drives] == [(2,), (0, 1)]
    assert drives[1].place.line == drives[0].place.line + 1


def test_without_any_there_are_none():
    model = read("<mujoco><worldbody/></mujoco>")
    assert model.closures == model.couplings == model.drives == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('<connect body1="nobody" anchor="0 0 0"/>', "nobody"),
        ('<joint joint1="h" joint2="lost"/>', "lost"),
        ('<joint joint1="h" polycoef="nan"/>', "not finite"),
        ('<weld site1="s1" body2="tip"/>', "MuJoCo"),
        ('<connect body1="crank" body2="tip"/>', "MuJoCo"),
        ('<tendon tendon1="both" tendon2="one" active="maybe"/>', "MuJoCo"),
    ],
)
def test_what_is_wrong_has_its_line(text, why):
    with pytest.raises(DescriptionError, match=why) as caught:
        read(closed(text))
    assert {problem.line for problem in caught.value.problems} == {LINE}


TENDON = '<tendon><spatial name="rod">{}</spatial></tendon>'
SITES = '<site site="s1"/><site site="s2"/>'


def test_a_tendon_between_two_sites_that_is_held_is_a_rod():
    more = TENDON.format(SITES) + '<actuator><motor tendon="rod"/></actuator>'
    model = read(closed('<tendon name="e" tendon1="rod" polycoef=".25 7 0 0 0"/>', more=more))
    (rod,) = model.closures
    assert (rod.name, rod.kind, rod.place.line) == ("e", "rod", LINE)
    assert [model.sites[a.site].name for a in (rod.a, rod.b)] == ["s1", "s2"]
    own = mujoco.MjModel.from_xml_string(closed("", more=TENDON.format(SITES)))
    assert rod.distance == own.tendon_length0[own.tendon("rod").id] + 0.25
    assert not model.drives and {p.code for p in model.problems} == {"no-actuator"}


@pytest.mark.parametrize(
    ("equality", "along", "codes"),
    [
        ("", SITES, {"no-tendon"}),
        ('<tendon tendon1="rod" tendon2="both"/>', SITES, {"no-tendon", "no-equality"}),
        ('<tendon tendon1="rod"/>', SITES + SITES, {"no-tendon", "no-equality"}),
        (
            '<tendon tendon1="rod"/>',
            '<site site="s1"/><geom geom="lost"/><site site="s2"/>',
            {"no-tendon", "no-equality"},
        ),
        (
            '<tendon tendon1="rod"/>',
            f'{SITES}<pulley divisor="2"/>{SITES}',
            {"no-tendon", "no-equality"},
        ),
        ('<tendon tendon1="rod" polycoef="-9 0 0 0 0"/>', SITES, {"no-equality"}),
        (
            '<tendon tendon1="rod"/><tendon tendon1="both" tendon2="rod"/>',
            SITES,
            {"no-equality"},
        ),
    ],
)
def test_other_tendons_along_sites_are_left_out_with_a_word(equality, along, codes):
    model = read(closed(equality, more=TENDON.format(along)))
    assert {problem.code for problem in model.problems} == codes
    assert len(model.closures) == equality.startswith('<tendon tendon1="rod"/><')
    assert not model.couplings


# ---- Which meshes are opened, and what MuJoCo's messages become


MESH = """<mujoco>
<compiler {compiler}/>
<asset><mesh name="k" file="k.obj"/></asset>
<worldbody>
<body name="a"><joint name="j"/>{inertial}
<geom type="mesh" mesh="k" {geom}/><geom size=".1" mass="2"/></body>
</worldbody>
</mujoco>"""
INERTIAL = '<inertial pos="0 0 0" mass="3" diaginertia="1 1 1"/>'


def text(compiler: str = "", inertial: str = "", geom: str = "") -> str:
    return MESH.format(compiler=compiler, inertial=inertial, geom=geom)


def here(name: str, _: str | None) -> bytes:
    assert Path(name).name == "k.obj"
    return OBJ.encode()


def never(name: str, _: str | None) -> bytes:
    pytest.fail(f"{name} was opened")


WITHOUT = {
    "its body says its mass": (text(inertial=INERTIAL), 3.0),
    "never from shapes": (text('inertiafromgeom="false"', INERTIAL), 3.0),
    "its mass is zero": (text(geom='mass="0"'), 2.0),
    "its density is zero": (text(geom='density="0"'), 2.0),
    "its group does not count": (text('inertiagrouprange="0 2"', geom='group="3"'), 2.0),
    "by the default of its class": (
        text(geom='class="look"').replace(
            "<asset>", '<default><default class="look"><geom mass="0"/></default></default><asset>'
        ),
        2.0,
    ),
}
WITH = {
    "from shapes": (text(), 2 + 1000 / 6),
    "from shapes, whatever is said": (text('inertiafromgeom="true"', INERTIAL), 2 + 1000 / 6),
    "by its mass": (text(geom='mass="5"'), 7.0),
    "in a group that counts": (text('inertiagrouprange="0 3"', geom='group="3"'), 2 + 1000 / 6),
}


@pytest.mark.parametrize("why", WITHOUT)
def test_a_mesh_without_mass_is_not_opened(why: str):
    xml, mass = WITHOUT[why]
    model = read(xml, open_mesh=never)
    assert model.bodies[1].mass == pytest.approx(mass, rel=1e-15)
    assert model.geoms[0].type == "mesh"
    assert model.geoms[0].mesh is not None and model.geoms[0].mesh.name == "k"


@pytest.mark.parametrize("why", WITH)
def test_a_mesh_that_a_mass_follows_from_is_opened(why: str):
    xml, mass = WITH[why]
    assert read(xml, open_mesh=here).bodies[1].mass == pytest.approx(mass, rel=1e-12)


@pytest.mark.parametrize("why", WITH)
def test_without_the_mesh_no_mass_is_made_up(why: str, tmp_path: Path):

    def missing(name: str, file: str | None) -> bytes:
        raise InputError(f"mesh '{name}' is not found beside '{file}'")

    main = str(tmp_path / "robot.xml")
    for open_mesh in (missing, None):
        with pytest.raises(DescriptionError, match="mass of body 'a' follows") as raised:
            read(WITH[why][0], file=main, open_mesh=open_mesh)
        (problem,) = raised.value.problems
        assert (problem.code, problem.file, problem.line) == ("mesh-mass", main, 3)


def test_the_pose_of_an_opened_mesh_is_that_of_its_file():
    model = read(text(geom='pos="1 2 3" quat="1 1 0 0"'), open_mesh=here)
    np.testing.assert_allclose(model.geoms[0].pos, (1, 2, 3), atol=1e-12)
    half = 0.5**0.5
    np.testing.assert_allclose(np.abs(model.geoms[0].quat), (half, half, 0, 0), atol=1e-12)


def test_an_included_mesh_is_looked_for_beside_its_file_first(tmp_path: Path):
    asked: list[str] = []

    def second(name: str, file: str | None) -> bytes:
        asked.append(name)
        if len(asked) == 1:
            raise InputError("no")
        return OBJ.encode()

    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/a.xml").write_text(
        '<mujoco><asset><mesh name="k" file="k.obj"/></asset></mujoco>'
    )
    main = tmp_path / "main.xml"
    main.write_text(
        '<mujoco><include file="sub/a.xml"/><worldbody><body><geom type="mesh" mesh="k"/></body>'
        "</worldbody></mujoco>"
    )
    assert read(main, open_mesh=second).bodies[1].mass == pytest.approx(1000 / 6)
    assert [Path(name).parent.name for name in asked] == ["sub", tmp_path.name]


def test_a_mass_of_a_plugins_shape_is_refused():
    asset = '<mesh name="k"><plugin instance="s"/></mesh>'
    geom = '<geom type="sdf" mesh="k"><plugin instance="s"/></geom>'
    xml = f"<mujoco><asset>{asset}</asset><worldbody>\n<body>{geom}</body></worldbody></mujoco>"
    with pytest.raises(DescriptionError, match="a plugin") as raised:
        read(xml, open_mesh=never)
    assert raised.value.problems[0].line == 2


def test_a_height_field_that_does_not_move_is_not_opened():
    xml = (
        '<mujoco><asset><hfield file="hills.png" size="1 1 1 1"/></asset><worldbody>'
        '<geom name="ground" type="hfield" hfield="hills" pos="0 0 1"/></worldbody></mujoco>'
    )
    (geom,) = read(xml).geoms
    assert (geom.type, geom.pos) == ("hfield", (0.0, 0.0, 1.0))


@pytest.mark.parametrize("weight", ["", 'mass="5"', 'density="300"', 'density="0"'])
def test_a_height_field_weighs_what_mujoco_says(weight: str):

    xml = f"""<mujoco><asset><hfield name="h" nrow="3" ncol="2" size="1 2 .5 .25"
        elevation="0 1 2 3 1 5"/></asset><worldbody><body><joint/><geom size=".1"/>
        <geom type="hfield" hfield="h" pos="1 0 2" euler="30 0 40" {weight}/></body></worldbody>
        </mujoco>"""
    own, model = read(xml).bodies[1], mujoco.MjModel.from_xml_string(xml)
    assert own.mass == model.body_mass[1]
    for ours, theirs in (
        (own.com, model.body_ipos[1]),
        (own.inertia, model.body_inertia[1]),
        (own.inertia_quat, model.body_iquat[1]),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14, atol=1e-14)


SAID = {
    "a keyword": ('<body>\n<joint type="fixed"/></body>', "joint", "", 4, "'fixed'"),
    "an attribute": ('<body>\n<joint lenght="1"/></body>', "joint", "", 4, "'lenght'"),
    "an element": ("<body>\n<jont/></body>", "jont", "", 4, "jont|element"),
    "too few numbers": ('<body>\n<site pos="1 2"/></body>', "site", "", 4, "'pos'"),
    "no mass": ('\n<body name="b"><joint/></body>', "body", "b", 4, "mass and inertia"),
    "triangle": (
        '\n\n<body name="b"><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>',
        "body",
        "b",
        5,
        "A \\+ B >= C",
    ),
    "no mesh": ('\n<body><geom name="g" type="mesh" mesh="no"/></body>', "geom", "g", 4, "'no'"),
    "a name twice": ('<body name="b"/>\n<body name="b"/>', "body", "", 4, "repeated name 'b'"),
    "a repeated name twice": (
        '<body name="c"/>\n' + 2 * '<replicate count="2"><body name="c&amp;c"/></replicate>',
        "body",
        "",
        4,
        "repeated name 'c&c0'",
    ),
    "free inside": (
        '<body><geom size="1"/>\n<body name="c"><freejoint/><geom size="1"/></body></body>',
        "body",
        "c",
        4,
        "top level",
    ),
    "seven freedoms": (
        '\n<body name="b"><freejoint/><joint/><geom size="1"/></body>',
        "body",
        "b",
        4,
        "6 dofs",
    ),
    "zero axis": (
        '<body><geom size="1"/>\n<joint name="j" axis="0 0 0"/></body>',
        "joint",
        "j",
        4,
        "axis",
    ),
}


@pytest.mark.parametrize("what", SAID)
def test_what_mujoco_says_has_its_place(what: str, tmp_path: Path):
    body, element, name, line, words = SAID[what]
    main, part = tmp_path / "main.xml", tmp_path / "part.xml"
    inside = f"<worldbody>\n\n{body}</worldbody>"
    main.write_text(f"<mujoco>{inside}</mujoco>")
    with pytest.raises(DescriptionError, match=words) as raised:
        read(main)
    (problem,) = raised.value.problems
    assert (problem.file, problem.line, problem.element) == (str(main), line, element)
    assert problem.name == name
    main.write_text('<mujoco>\n<include file="part.xml"/></mujoco>')
    part.write_text(f"<mujocoinclude>{inside}</mujocoinclude>")
    with pytest.raises(DescriptionError, match=words) as raised:
        read(main)
    (problem,) = raised.value.problems
    assert (Path(problem.file).name, problem.line) == ("part.xml", line)


PARTS = {
    "the main one takes shapes": ("auto", "false", {"own": 2 + 1000 / 6, "part": 3.0}),
    "the part takes shapes": ("false", "auto", {"own": 1.0, "part": 2 + 1000 / 6}),
}


@pytest.mark.parametrize("which", PARTS)
def test_an_attached_part_has_its_own_compiler_settings(which: str, tmp_path: Path):

    of_main, of_part, masses = PARTS[which]
    main, part = tmp_path / "main.xml", tmp_path / "part.xml"
    (tmp_path / "k.obj").write_text(OBJ)
    without = {"auto": "", "false": INERTIAL}
    part.write_text(text(f'inertiafromgeom="{of_part}"', without[of_part]).replace('"a"', '"part"'))
    light = INERTIAL.replace('"3"', '"1"') if of_main == "false" else ""
    main.write_text(
        text(f'inertiafromgeom="{of_main}"', light)
        .replace('"a"', '"own"')
        .replace("<asset>", '<asset><model name="p" file="part.xml"/>')
        .replace("</worldbody>", '<attach model="p" body="part" prefix=""/></worldbody>')
        .replace('mesh="k"', 'mesh="of_main"')
        .replace('name="k"', 'name="of_main"')
        .replace('name="j"', 'name="j_main"')
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mj = mujoco.MjModel.from_xml_path(str(main))
    if not hasattr(mujoco.MjSpec().worldbody.add_geom(), "compiler"):
        with pytest.raises(MissingExtraError, match=r"3\.6 or newer"):
            read(main, open_mesh=here)
        return
    model = read(main, open_mesh=here)
    assert {body.name for body in model.bodies[1:]} == set(masses)
    for body in model.bodies[1:]:
        assert body.mass == pytest.approx(masses[body.name], rel=1e-9)
        assert body.mass == pytest.approx(mj.body(body.name).mass[0], rel=1e-12)


@pytest.mark.parametrize("kind", [RuntimeError, ValueError, MemoryError])
def test_whatever_mujoco_raises_is_an_error_of_the_description(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch
):

    class Spec:
        @staticmethod
        def from_string(*_: object, **__: object) -> None:
            raise kind("Caught an unknown exception!")

    monkeypatch.setattr(mujoco, "MjSpec", Spec)
    with pytest.raises(DescriptionError, match="MuJoCo: Caught an unknown exception"):
        read("<mujoco/>", file="robot.xml")


def test_without_mujoco_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match=r"linkwork\[mjcf\]"):
        read("<mujoco/>")


def test_what_keeps_mujoco_from_being_imported_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "mujoco.py").write_text("raise ImportError('libGL.so.1: no such file')")
    monkeypatch.delitem(sys.modules, "mujoco")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtraError, match=r"cannot be imported \(libGL\.so\.1"):
        read("<mujoco/>")


@pytest.mark.parametrize(("version", "fits"), [("3.3.7", False), ("3.4.0", True), ("10.0", True)])
def test_an_old_mujoco_is_not_used(version: str, fits: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mujoco", SimpleNamespace(__version__=version))
    if fits:
        assert mujoco_module().__version__ == version
        return
    with pytest.raises(MissingExtraError, match=r"3\.4 or newer, and 3\.3\.7"):
        mujoco_module()
