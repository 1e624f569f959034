"""Which meshes are opened, and what MuJoCo's messages become."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from linkwork.errors import DescriptionError, InputError, MissingExtraError
from linkwork.formats.mjcf.read import mujoco_module, read
from mjcf_samples import OBJ

HAVE = ("mujoco", "MuJoCo (pip install mujoco) is not installed")

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
    pytest.importorskip(*HAVE[:1], reason=HAVE[1])
    xml, mass = WITHOUT[why]
    model = read(xml, open_mesh=never)
    assert model.bodies[1].mass == pytest.approx(mass, rel=1e-15)
    assert model.geoms[0].type == "mesh"
    assert model.geoms[0].mesh is not None and model.geoms[0].mesh.name == "k"


@pytest.mark.parametrize("why", WITH)
def test_a_mesh_that_a_mass_follows_from_is_opened(why: str):
    pytest.importorskip(*HAVE[:1], reason=HAVE[1])
    xml, mass = WITH[why]
    assert read(xml, open_mesh=here).bodies[1].mass == pytest.approx(mass, rel=1e-12)


@pytest.mark.parametrize("why", WITH)
def test_without_the_mesh_no_mass_is_made_up(why: str, tmp_path: Path):
    pytest.importorskip(*HAVE[:1], reason=HAVE[1])

    def missing(name: str, file: str | None) -> bytes:
        raise InputError(f"mesh '{name}' is not found beside '{file}'")

    main = str(tmp_path / "robot.xml")
    for open_mesh in (missing, None):
        with pytest.raises(DescriptionError, match="mass of body 'a' follows") as raised:
            read(WITH[why][0], file=main, open_mesh=open_mesh)
        (problem,) = raised.value.problems
        assert (problem.code, problem.file, problem.line) == ("mesh-mass", main, 3)


def test_the_pose_of_an_opened_mesh_is_that_of_its_file():
    pytest.importorskip(*HAVE[:1], reason=HAVE[1])
    model = read(text(geom='pos="1 2 3" quat="1 1 0 0"'), open_mesh=here)
    np.testing.assert_allclose(model.geoms[0].pos, (1, 2, 3), atol=1e-12)
    half = 0.5**0.5
    np.testing.assert_allclose(np.abs(model.geoms[0].quat), (half, half, 0, 0), atol=1e-12)


def test_an_included_mesh_is_looked_for_beside_its_file_first(tmp_path: Path):
    pytest.importorskip(*HAVE[:1], reason=HAVE[1])
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
    pytest.importorskip(*HAVE[:1], reason=HAVE[1])
    asset = '<mesh name="k"><plugin instance="s"/></mesh>'
    geom = '<geom type="sdf" mesh="k"><plugin instance="s"/></geom>'
    xml = f"<mujoco><asset>{asset}</asset><worldbody>\n<body>{geom}</body></worldbody></mujoco>"
    with pytest.raises(DescriptionError, match="a plugin") as raised:
        read(xml, open_mesh=never)
    assert raised.value.problems[0].line == 2


def test_a_height_field_that_does_not_move_is_not_opened():
    pytest.importorskip(*HAVE[:1], reason=HAVE[1])
    xml = (
        '<mujoco><asset><hfield file="hills.png" size="1 1 1 1"/></asset><worldbody>'
        '<geom name="ground" type="hfield" hfield="hills" pos="0 0 1"/></worldbody></mujoco>'
    )
    (geom,) = read(xml).geoms
    assert (geom.type, geom.pos) == ("hfield", (0.0, 0.0, 1.0))


@pytest.mark.parametrize("weight", ["", 'mass="5"', 'density="300"', 'density="0"'])
def test_a_height_field_weighs_what_mujoco_says(weight: str):
    mujoco = pytest.importorskip(*HAVE[:1], reason=HAVE[1])
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
    pytest.importorskip(*HAVE[:1], reason=HAVE[1])
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
    mujoco = pytest.importorskip(*HAVE[:1], reason=HAVE[1])
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
    mujoco = pytest.importorskip(*HAVE[:1], reason=HAVE[1])

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


@pytest.mark.parametrize(("version", "fits"), [("3.3.7", False), ("3.4.0", True), ("10.0", True)])
def test_an_old_mujoco_is_not_used(version: str, fits: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mujoco", SimpleNamespace(__version__=version))
    if fits:
        assert mujoco_module().__version__ == version
        return
    with pytest.raises(MissingExtraError, match=r"3\.4 or newer, and 3\.3\.7"):
        mujoco_module()
