"""Includes and models: found as MuJoCo finds them, each once, and lines lead to their files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linkwork.errors import DescriptionError
from linkwork.formats.mjcf.flatten import Flat, flatten


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
