"""The XML of an MJCF within limits: every hostile text ends in an error of ours, and soon."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from linkwork.errors import DescriptionError
from linkwork.formats.mjcf.flatten import (
    DEEPEST,
    LEFT_OUT,
    MOST_BODIES,
    OF_DEFAULTS,
    REFUSED,
    SILENT,
    Flat,
    find,
    flatten,
    folder_of,
    roots_of,
)
from linkwork.formats.urdf.convert import BadText

ENTITY = "<!DOCTYPE m [<!ENTITY a 'x'><!ENTITY b '&a;&a;'>]><mujoco model='&b;'/>"
EXTERNAL = "<!DOCTYPE m SYSTEM 'http://127.0.0.1:9/x'><mujoco/>"


def world(text: str) -> str:
    return f"<mujoco>\n<worldbody>\n{text}\n</worldbody>\n</mujoco>"


def flat(text: str, file: str | None = None) -> Flat:
    return flatten(text.encode(), file)


HOSTILE = {
    "entities": (ENTITY, "doctype", 1),
    "external": (EXTERNAL, "doctype", 1),
    "broken": ("<mujoco>\n<worldbody>\n</mujoco>", "xml", 3),
    "cut off": ("<mujoco>\n<worldbody>", "xml", 2),
    "empty": ("", "xml", 1),
    "two roots": ("<mujoco/><mujoco/>", "xml", 1),
    "twice the same attribute": (world("<body name='a' name='b'/>"), "xml", 3),
    "another root": ("<robot name='a'/>", "root", 1),
    "include outside": ("<mujoco>\n<include file='../../../etc/a.xml'/></mujoco>", "outside", 2),
    "include of passwords": ("<mujoco>\n<include file='/etc/passwd'/></mujoco>", "include", 2),
    "include without a name": ("<mujoco>\n<include/></mujoco>", "include", 2),
    "not a number": (world("<body pos='0 nan 0'/>"), "not-finite", 3),
    "infinite": (world("<body pos='0 -INF 0'/>"), "not-finite", 3),
    "overflow": (world("<body pos='0 1e999 0'/>"), "not-finite", 3),
    "many digits": (world(f"<body pos='{'9' * 400} 0 0'/>"), "not-finite", 3),
    "too large": (world("<body pos='1e200 0 0'/>"), "not-finite", 3),
    "nested": (world("<body>" * 100_000), "too-deep", 3),
    "nested where nothing is read": (f"<mujoco><visual>{'<a>' * 100_000}", "too-deep", 1),
    "many attributes": (
        world("<body " + " ".join(f"a{k}='1'" for k in range(100_000)) + "/>"),
        "too-many",
        3,
    ),
    "a long name": (world(f"<body name='{'x' * 70_000}'/>"), "too-long", 3),
    "a tag without end": ("<mujoco " + "x" * (9 << 20), "too-long", 1),
    "a name of two lines": (world("<body name='a&#10;b'/>"), "name", 3),
    "repeated": (world("<replicate count='1000000000'><body/></replicate>"), "too-many", 3),
    "repeated in each other": (
        world("<replicate count='1000'>" * 5 + "<body/>" + "</replicate>" * 5),
        "too-many",
        3,
    ),
    "repeated shapes": (world("<replicate count='900000'><geom/></replicate>"), "too-many", 3),
    "many bodies": (world("<body/>" * (MOST_BODIES + 1)), "too-many", 3),
    "many sites": (world("<site/>" * 50_001), "too-many", 3),
    "a model without a file": ("<mujoco><asset>\n<model name='m'/></asset></mujoco>", "no-file", 2),
    "a built-in mesh of many points": (
        "<mujoco><asset>\n<mesh builtin='cone' params='5000000 0.5'/></asset></mujoco>",
        "too-many",
        2,
    ),
    "many points by two numbers": (
        "<mujoco><asset>\n<mesh builtin='plate' params='20000 20000'/></asset></mujoco>",
        "too-many",
        2,
    ),
    "many points by one number": (
        "<mujoco><asset>\n<mesh builtin='supersphere' params='20000 1 1'/></asset></mujoco>",
        "too-many",
        2,
    ),
    "soft": (world("<flexcomp name='a' count='1000 1000 1000'/>"), "unsupported", 3),
    "composite": (world("<composite count='1000 1000 1000'/>"), "unsupported", 3),
}


@pytest.mark.sweep(22)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_refused_soon(name: str, tmp_path: Path):
    text, code, line = HOSTILE[name]
    start = time.perf_counter()
    with pytest.raises(DescriptionError) as raised:
        flat(text, str(tmp_path / "robot.xml"))
    assert time.perf_counter() - start < 10
    problem = raised.value.problems[0]
    assert (problem.code, problem.line) == (code, line), problem
    assert problem.file == str(tmp_path / "robot.xml")
    assert len(str(raised.value)) < 2000


def test_built_in_meshes_of_few_points_are_handed_on():
    meshes = "<mesh builtin='wedge' params='20 20 60 60 0'/><mesh builtin='cone' params='9 .5'/>"
    assert flat(f"<mujoco><asset>{meshes}</asset></mujoco>").text.count("builtin") == 2


def test_a_name_may_look_like_a_number():
    assert 'name="nan"' in flat(world("<body name='nan'/>")).text


def test_every_problem_of_a_text_is_listed():
    with pytest.raises(DescriptionError) as raised:
        flat(world("<body pos='nan 0 0'/>\n<body pos='inf 0 0'/>\n<flexcomp/>"))
    assert [p.line for p in raised.value.problems] == [3, 4, 5]


def test_the_list_of_problems_ends():
    with pytest.raises(DescriptionError) as raised:
        flat(world("<body pos='nan 0 0'/>" * 1000))
    assert len(raised.value.problems) == 100


def test_the_deepest_allowed_nesting_is_read():
    n = DEEPEST - 2
    assert flat(world("<body>" * n + "</body>" * n)).text.count("<body") == n


def test_what_is_left_out_is_said_once_with_its_place():
    text = world("<body><camera/><camera/><light/></body>").replace(
        "</mujoco>", "<equality><flex/></equality>\n<sensor/></mujoco>"
    )
    read = flat(text)
    assert {code: p.line for code, p in read.findings.items()} == {
        "no-camera": 3,
        "no-equality": 5,
        "no-sensor": 6,
    }
    assert read.counts["no-camera"] == 2
    assert read.findings["no-equality"].level == "warning"
    assert "camera" not in read.text and "flex" not in read.text and "light" not in read.text


def test_of_equalities_tendons_and_actuators_only_what_is_read_is_handed_on():
    text = world("").replace(
        "</mujoco>",
        "<equality><weld body1='a' solref='1e9 2' name='w' relpose='0 0 0 1 0 0 0'/></equality>"
        "<tendon><fixed name='t' class='lost' range='0 1'><joint joint='j' coef='2'/></fixed>"
        "<spatial name='s' width='1'><site site='x'/></spatial></tendon>"
        "<actuator><muscle name='m' joint='j' lengthrange='1 0'><plugin/></muscle>"
        "<adhesion body='b'/></actuator></mujoco>",
    )
    read = flat(text)
    assert read.text.endswith(
        '<equality>\n<weld body1="a" name="w" relpose="0 0 0 1 0 0 0"></weld></equality>\n'
        "<tendon>\n"
        '<fixed name="t">\n<joint joint="j" coef="2"></joint></fixed>\n'
        '<spatial name="s">\n<site site="x"></site></spatial></tendon>\n<actuator>\n'
        '<general joint="j" biastype="affine"></general></actuator></mujoco>'
    )
    assert read.tags[-1] == "muscle"
    for word in ("solref", "lost", "range", "width", "muscle", "adhesion", "plugin"):
        assert word not in read.text
    assert set(read.findings) == {"no-actuator", "no-control", "no-dynamics"}


@pytest.mark.parametrize(
    ("actuator", "told"),
    [
        ("<motor joint='j' name='m' gear='3' ctrlrange='-1 1'/>", False),
        ("<general joint='j'/>", False),
        ("<general joint='j' biastype='affine' biasprm='0 -1 0'/>", True),
        ("<position joint='j' kp='3'/>", True),
        ("<motor joint='j' forcerange='-1 1'/>", False),
    ],
)
def test_what_an_actuator_does_by_itself_is_told(actuator: str, told: bool):
    read = flat(world("").replace("</mujoco>", f"<actuator>{actuator}</actuator></mujoco>"))
    assert ("no-control" in read.findings) == told


def test_sections_may_be_included(tmp_path):
    (tmp_path / "eq.xml").write_text(
        "<mujocoinclude><joint joint1='a' solimp='1'/></mujocoinclude>"
    )
    text = "<mujoco><equality><include file='eq.xml'/></equality></mujoco>"
    read = flatten(text.encode(), str(tmp_path / "m.xml"))
    assert '<joint joint1="a">' in read.text


def test_white_space_before_the_declaration_is_a_finding():
    read = flat("\n\n <?xml version='1.0'?>\n<mujoco>\n<worldbody/></mujoco>")
    assert read.findings["declaration"].line == 3
    assert [place.line for place in read.origin] == [4, 5]


def test_stray_text_is_a_finding():
    assert flat(world("<body>hello</body>")).findings["stray-text"].line == 3


def test_attribute_values_are_written_so_that_they_read_back():
    read = flat(world("""<body name='a &lt;"&apos;&amp;&gt;ß b'/>"""))
    again = flatten(read.text.encode(), None)
    assert again.text == read.text.lstrip("\n")
    assert "ß" in read.text


def test_the_line_of_each_element_is_known():
    read = flat("<mujoco>\n\n<worldbody>\n<body\nname='a'>\n\n<geom/></body></worldbody></mujoco>")
    assert [place.line for place in read.origin] == [1, 3, 4, 7]
    assert read.tags == ["mujoco", "worldbody", "body", "geom"]
    for line, tag in enumerate(read.tags):
        assert f"<{tag}" in read.text.split("\n")[line]


def test_no_file_of_another_program_is_named_to_mujoco():
    text = (
        "<mujoco><compiler meshdir='/a' texturedir='/b' assetdir='c'/><asset>"
        "<mesh file='../secret.stl'/><texture file='d'/><hfield file='e'/><skin file='f'/>"
        "<material name='m' texture='t'/></asset></mujoco>"
    )
    read = flat(text, "here/robot.xml")
    for word in ('"/a"', '"/b"', "secret.stl", "texture", "file='e'", 'file="e"', "skin"):
        assert word not in read.text
    assert 'name="secret"' in read.text
    (mesh,) = read.meshes.values()
    assert mesh.name == "../secret.stl"


# ---- Each element has one fate


KINEMATIC = set(
    "worldbody body frame replicate joint freejoint inertial geom site default compiler asset mesh "
    "material model attach include".split()
)


def test_no_element_of_kinematics_or_masses_is_left_out():
    assert not KINEMATIC & (set(LEFT_OUT) | SILENT | OF_DEFAULTS | set(REFUSED))
    assert not set(LEFT_OUT) & SILENT
    assert not set(REFUSED) & (set(LEFT_OUT) | SILENT)


# ---- Included files are found beside the MJCF and the folder above, and nowhere else


@pytest.fixture
def main(tmp_path: Path) -> Path:
    for name in ("top/robot/main.xml", "top/robot/part.xml", "top/shared.xml", "secret.xml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("<mujoco/>")
    return tmp_path / "top/robot/main.xml"


def found(name: str, main: Path, *allow: Path) -> str:
    return find(name, [str(main.parent)], roots_of(str(main), allow))


@pytest.mark.parametrize("name", ["part.xml", "./part.xml", "../shared.xml", "..\\shared.xml"])
def test_near_files_are_found(main: Path, name: str):
    assert Path(found(name, main)).is_file()


def test_a_whole_path_is_judged_like_any_other(main: Path, tmp_path: Path):
    assert found(str(main.parent / "part.xml"), main)
    with pytest.raises(BadText, match="outside"):
        found(str(tmp_path / "secret.xml"), main)


@pytest.mark.parametrize(
    "name", ["../../secret.xml", "../robot/../../secret.xml", "../../no-such.xml", "/etc/x.xml"]
)
def test_outside_is_refused_whether_it_exists_or_not(main: Path, name: str):
    with pytest.raises(BadText, match="outside the folder") as raised:
        found(name, main)
    assert "allow=" in raised.value.complaint.hint


def test_what_is_allowed_is_found(main: Path, tmp_path: Path):
    assert found("../../secret.xml", main, tmp_path) == os.path.realpath(tmp_path / "secret.xml")


def test_a_link_to_the_outside_is_refused(main: Path, tmp_path: Path):
    (main.parent / "link.xml").symlink_to(tmp_path / "secret.xml")
    with pytest.raises(BadText, match="outside"):
        found("link.xml", main)


def test_a_linked_folder_is_looked_at_from_both_sides(main: Path, tmp_path: Path):
    link = tmp_path / "elsewhere/deep/link"
    link.parent.mkdir(parents=True)
    link.symlink_to(main.parent)
    for name in ("part.xml", "../shared.xml"):
        assert found(name, link / "main.xml") == found(name, main)
    with pytest.raises(BadText, match="outside"):
        found("../../secret.xml", link / "main.xml")


def test_a_link_to_another_kind_of_file_is_refused(main: Path):
    (main.parent / "passwords").write_text("x")
    (main.parent / "link.xml").symlink_to(main.parent / "passwords")
    with pytest.raises(BadText):
        found("link.xml", main)


@pytest.mark.parametrize("name", ["", " ", "../../etc/passwd", "a\nb.xml", "x" * 5000 + ".xml"])
def test_odd_names_are_refused(main: Path, name: str):
    with pytest.raises(BadText, match="the file name"):
        found(name, main)


def test_a_missing_file_says_where_it_was_looked_for(main: Path):
    with pytest.raises(BadText, match=r"there is no file 'no\.xml'") as raised:
        found("no.xml", main)
    assert str(main.parent)[:40] in raised.value.complaint.hint  # long paths are cut


def test_a_text_without_a_file_has_no_folder():
    assert folder_of(None) is None
    with pytest.raises(BadText, match="has no file") as raised:
        find("a.xml", [], roots_of(None, ()))
    assert "file=" in raised.value.complaint.hint


def test_the_root_of_the_disk_is_no_folder_of_a_description():
    assert os.path.abspath(os.sep) not in roots_of(os.path.join(os.sep, "a", "main.xml"), ())
    assert roots_of(os.path.join(os.sep, "main.xml"), ()) == []


# ---- Includes and models: found as MuJoCo finds them, each once, and lines lead to their files


def write(folder: Path, **files: str) -> str:
    """Files by name, with __ for a folder; the path of main.xml."""
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".xml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(folder / "main.xml")


def read(main: str) -> Flat:
    return flatten(Path(main).read_bytes(), main)


def test_an_include_is_replaced_by_what_it_holds(tmp_path: Path):
    main = write(
        tmp_path,
        main="<mujoco>\n<include file='sub/a.xml'/>\n<worldbody/></mujoco>",
        sub__a="<mujocoinclude>\n\n<worldbody><body name='a'/></worldbody></mujocoinclude>",
    )
    flat = read(main)
    assert flat.tags == ["mujoco", "worldbody", "body", "worldbody"]
    part = os.path.realpath(tmp_path / "sub/a.xml")
    assert [(p.file, p.line) for p in flat.origin] == [(main, 1), (part, 3), (part, 3), (main, 3)]


def test_an_include_of_an_include_is_beside_the_main_file_or_the_including_one(tmp_path: Path):
    files = {
        "main": "<mujoco><include file='sub/a.xml'/></mujoco>",
        "sub__a": "<mujoco><include file='b.xml'/></mujoco>",
        "sub__b": "<mujoco><worldbody><body name='sub'/></worldbody></mujoco>",
    }
    main = write(tmp_path, **files)
    assert 'name="sub"' in read(main).text
    write(tmp_path, b="<mujoco><worldbody><body name='beside'/></worldbody></mujoco>")
    assert 'name="beside"' in read(main).text


@pytest.mark.parametrize("name", ["main.xml", "a.xml", "../{}/a.xml"])
def test_a_file_is_included_only_once(tmp_path: Path, name: str):
    main = write(
        tmp_path,
        main="<mujoco>\n<include file='a.xml'/></mujoco>",
        a=f"<mujoco>\n\n<include file='{name.format(tmp_path.name)}'/></mujoco>",
    )
    with pytest.raises(DescriptionError, match="included already") as raised:
        read(main)
    assert raised.value.problems[0].line == 3


def test_an_include_has_nothing_inside(tmp_path: Path):
    (tmp_path / "part.xml").write_text("<mujoco><body name='b'/></mujoco>")
    main = tmp_path / "main.xml"
    main.write_text(
        "<mujoco><worldbody><include file='part.xml'>\n<body name='lost'><geom/></body></include>"
        "</worldbody></mujoco>"
    )
    with pytest.raises(DescriptionError) as caught:
        flatten(main.read_bytes(), str(main))
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.element) == ("include", 2, "body")


def test_includes_end(tmp_path: Path):
    files = {f"a{k}": f"<mujoco><include file='a{k + 1}.xml'/></mujoco>" for k in range(200)}
    main = write(tmp_path, main="<mujoco><include file='a0.xml'/></mujoco>", **files)
    with pytest.raises(DescriptionError, match="within each other"):
        read(main)
    many = "".join(f"<include file='b{k}.xml'/>" for k in range(300))
    empty = {f"b{k}": "<mujoco/>" for k in range(300)}
    with pytest.raises(DescriptionError, match="more than 256 files"):
        read(write(tmp_path, main=f"<mujoco>{many}</mujoco>", **empty))


def test_a_pipe_is_not_waited_for(tmp_path: Path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    main = write(tmp_path, main="<mujoco>\n<include file='pipe.xml'/></mujoco>")
    os.mkfifo(tmp_path / "pipe.xml")
    with pytest.raises(DescriptionError, match="not a file"):
        read(main)


def test_a_broken_include_names_its_own_file_and_line(tmp_path: Path):
    main = write(
        tmp_path, main="<mujoco><include file='a.xml'/></mujoco>", a="<mujoco>\n\n<body></mujoco>"
    )
    with pytest.raises(DescriptionError) as raised:
        read(main)
    problem = raised.value.problems[0]
    assert problem.file == os.path.realpath(tmp_path / "a.xml")
    assert problem.line == 3


def test_a_model_is_a_text_of_its_own_whose_lines_are_no_other_ones(tmp_path: Path):
    main = write(
        tmp_path,
        main="<mujoco><asset>\n<model name='k' file='k.xml'/></asset>\n<worldbody/></mujoco>",
        k="<mujoco>\n<worldbody>\n<body/></worldbody></mujoco>",
    )
    flat = read(main)
    ((name, data),) = flat.texts.items()
    assert f'file="{name}"' in flat.text
    lines = [line for text in (flat.text, data.decode()) for line in enumerate(text.split("\n"), 1)]
    where = {line: text for line, text in lines if text}
    assert len(where) == len([text for _, text in lines if text]) == len(flat.origin)
    body = next(line for line, text in where.items() if text.startswith("<body"))
    assert flat.place(body).file.endswith("k.xml")
    assert flat.place(body).line == 3


def test_a_model_of_itself_is_refused(tmp_path: Path):
    text = "<mujoco><asset>\n<model name='k' file='{}.xml'/></asset></mujoco>"
    main = write(tmp_path, main=text.format("k"), k=text.format("main"))
    with pytest.raises(DescriptionError, match="part of itself"):
        read(main)


def test_attached_bodies_are_counted(tmp_path: Path):
    bodies = "<body/>" * 5000
    attach = "<attach model='k' prefix='a'/>" * 3
    main = write(
        tmp_path,
        main="<mujoco><asset><model name='k' file='k.xml'/></asset>"
        f"<worldbody>{attach}</worldbody></mujoco>",
        k=f"<mujoco><worldbody>{bodies}</worldbody></mujoco>",
    )
    with pytest.raises(DescriptionError, match="more than 10,000 bodies"):
        read(main)


def test_mesh_files_are_where_mujoco_looks_for_them(tmp_path: Path):
    mesh = "<asset><mesh file='m/k.stl'/></asset>"
    main = write(
        tmp_path,
        main=f"<mujoco>{mesh}<include file='sub/a.xml'/><compiler meshdir='md'/></mujoco>",
        sub__a="<mujoco><asset><mesh file='l.stl'/></asset></mujoco>",
    )
    own, included = (mesh.files for mesh in read(main).meshes.values())
    assert own == (str(tmp_path / "md/m/k.stl"),)
    assert included == (
        os.path.realpath(tmp_path / "sub/l.stl"),
        str(tmp_path / "md/l.stl"),
    )


def test_paths_of_meshes_are_stripped_where_the_compiler_says_so(tmp_path: Path):
    text = "<mujoco><compiler strippath='true'/><asset><mesh file='a/b/k.stl'/></asset></mujoco>"
    (mesh,) = read(write(tmp_path, main=text)).meshes.values()
    assert mesh.files == (str(tmp_path / "k.stl"),)
