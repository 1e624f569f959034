"""``linkwork check``: all files, all problems, levels, exit codes, JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.exceptions import Exit

import linkwork as lw
from linkwork import models
from linkwork.cli import check as command
from linkwork.cli.arguments import CheckArguments
from linkwork.cli.check_codes import codes
from linkwork.errors import Finding, InputError, UnknownNameError
from linkwork.formats.urdf.read import read
from mjcf_samples import FOUR_BAR, closed

LINE = re.compile(
    r"^(?P<file>.+?):(?:(?P<line>\d+):)? (?P<level>error|warning|note): .+ \([a-z-]+\)$"
)

GOOD = '<robot name="r"><link name="a"/></robot>'
ODD = GOOD.replace("</robot>", '\n<material name="m"/></robot>')  # a note and a warning
BAD = GOOD.replace("</robot>", '\n<link name="b"/>\n<link name="b"/></robot>')


@pytest.fixture(name="files")
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("good", GOOD), ("odd", ODD), ("bad", BAD)):
        (tmp_path / f"{name}.urdf").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


@pytest.fixture(name="check")
def _check(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Run the command's module: the exit code, and what it printed."""

    def call(*files: str, **options: Any) -> tuple[int, str]:
        code = 0
        try:
            command.run(CheckArguments(files=list(files), **options))
        except Exit as done:
            code = done.exit_code
        return code, capsys.readouterr().out

    return call


Check = Callable[..., tuple[int, str]]


@pytest.mark.usefixtures("files")
def test_exit_codes(check: Check):
    assert check("good.urdf")[0] == 0
    assert check("odd.urdf")[0] == 0
    assert check("odd.urdf", strict=True)[0] == 1
    assert check("good.urdf", strict=True)[0] == 0
    assert check("bad.urdf")[0] == 1
    assert check("good.urdf", "bad.urdf", "good.urdf")[0] == 1
    assert check("none.urdf")[0] == 1
    assert check("bad.urdf", level="error", ignore=["duplicate-link,several-roots"])[0] == 0


@pytest.mark.usefixtures("files")
def test_what_is_printed(check: Check):
    _, text = check("bad.urdf", "odd.urdf", "none.urdf")
    lines = text.splitlines()
    assert lines[-1] == "3 errors, 1 warning, 1 note in 3 files"
    problems = [line for line in lines[:-1] if not line.startswith("    ")]
    assert len(problems) == 5
    assert all(LINE.match(line) for line in problems)
    assert "bad.urdf:3: error: link 'b': the name is taken: a link of line 2 has it" in text
    assert "\n    one link is the root; join the others to it\n" in text
    assert "none.urdf: error: there is no such file (no-file)" in text
    assert check("good.urdf")[1] == "no problems in 1 file\n"


@pytest.mark.usefixtures("files")
def test_everything_that_read_says_is_there(check: Check):
    _, text = check("odd.urdf")
    for problem in read("odd.urdf").problems:
        assert f"odd.urdf:{problem.line}: {problem.level}: " in text
        assert problem.message in text


@pytest.mark.usefixtures("files")
def test_levels_and_codes_that_are_left_out(check: Check):
    assert "note:" not in check("odd.urdf", level="warning")[1]
    assert check("odd.urdf", level="warning")[1].endswith("1 note in 1 file (1 not shown)\n")
    assert check("odd.urdf", level="error")[1] == "1 warning, 1 note in 1 file (2 not shown)\n"
    text = check("odd.urdf", ignore=["material-unused"])[1]
    assert "material-unused" not in text
    assert text.endswith("1 warning in 1 file (1 ignored)\n")
    assert check("odd.urdf", strict=True, ignore=["material-undefined"])[0] == 0
    assert check("odd.urdf", strict=True, level="error")[0] == 1  # shown or not, it counts


@pytest.mark.usefixtures("files")
def test_wrong_use(check: Check):
    with pytest.raises(InputError, match="--level is error, warning or note, not 'info'"):
        check("good.urdf", level="info")
    with pytest.raises(UnknownNameError, match="material-unused"):
        check("good.urdf", ignore=["material-unuse"])
    with pytest.raises(InputError, match="--allow nowhere: there is no such folder"):
        check("good.urdf", allow=["nowhere"])
    with pytest.raises(InputError, match="--arg takes name:=value, not 'x'"):
        check("good.urdf", arg=["x"])


@pytest.mark.usefixtures("files")
def test_json(check: Check):
    code, text = check("bad.urdf", "odd.urdf", "none.urdf", json=True)
    given = json.loads(text)
    assert code == 1
    assert [file["robot"] for file in given["files"]] == ["r", "r", None]
    assert (given["errors"], given["warnings"], given["notes"]) == (3, 1, 1)
    assert given["failed"] is True
    problems = [Finding(**problem) for file in given["files"] for problem in file["problems"]]
    assert len(problems) == 5
    assert {problem.code for problem in problems} <= set(codes())
    assert json.loads(check("good.urdf", json=True)[1])["failed"] is False
    assert (
        len(json.loads(check("odd.urdf", json=True, level="error")[1])["files"][0]["problems"]) == 0
    )


def test_models_by_name(check: Check):
    assert check("panda", "ur5e", strict=True) == (0, "no problems in 2 files\n")


@pytest.mark.usefixtures("files")
def test_formats_that_are_not_read(check: Check):
    code, text = check("a.sdf")
    assert (code, "unsupported" in text) == (1, True)


# meshes


LINK_OF = GOOD.replace(
    "/>", "><visual>{}<geometry><mesh filename='{}'/></geometry></visual></link>"
)


def test_meshes_are_looked_for_unless_told_otherwise(files: Path, check: Check):
    inner = files / "robot" / "urdf"
    inner.mkdir(parents=True)
    file = inner / "r.urdf"
    file.write_text(LINK_OF.format("", "x.stl"))
    assert "(mesh-missing)" in check(str(file))[1]
    assert "--allow FOLDER" in check(str(file))[1]
    assert check(str(file), meshes=False)[1] == "no problems in 1 file\n"
    outside = files / "elsewhere" / "x.stl"
    outside.parent.mkdir()
    outside.write_bytes(b"no mesh")
    file.write_text(LINK_OF.format("", outside))
    assert f"--allow '{outside.parent}'" in check(str(file))[1]
    assert "(mesh-outside)" in check(str(file))[1]
    found = check(str(file), allow=[str(outside.parent)])[1]
    assert "(mesh-outside)" not in found
    assert "(mesh-broken)" in found


def test_sizes_are_checked_with_and_without_meshes(files: Path, check: Check):
    text = (
        '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="9" ixy="0" ixz="0"'
        ' iyy="9" iyz="0" izz="9"/></inertial><visual><geometry><sphere radius="0.1"/></geometry>'
        "</visual></link></robot>"
    )
    (files / "s.urdf").write_text(text)
    for meshes in (True, False):
        assert check("s.urdf", meshes=meshes)[1].count("(large-inertia)") == 1


def test_values_that_cannot_be_read_open_no_files(files: Path, check: Check):
    text = GOOD.replace(
        "/>",
        "><visual><origin xyz='x'/><geometry><mesh filename='x.stl'/></geometry></visual></link>",
    )
    (files / "r.urdf").write_text(text)
    found = check("r.urdf")[1]
    assert "(number)" in found
    assert "mesh-missing" not in found


# other formats

XACRO = """<?xml version="1.0"?>
<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="n" default="b"/>
  <link name="a"/>
  <link name="$(arg n)"/>
</robot>
"""


def test_xacro_is_expanded_and_problems_are_told_at_their_place(files: Path, check: Check):
    pytest.importorskip("xacro", reason="xacro (pip install xacro) is not installed")
    (files / "r.urdf.xacro").write_text(XACRO)
    code, text = check("r.urdf.xacro")
    assert code == 1
    assert "r.urdf.xacro:5: error: link 'b'" in text
    assert "duplicate-link" in check("r.urdf.xacro", arg=["n:=a"])[1]
    (files / "broken.xacro").write_text(XACRO.replace("</robot>", ""))
    assert check("broken.xacro")[0] == 1
    assert check("none.xacro")[0] == 1


def test_mjcf_is_known_by_its_root(files: Path, check: Check):
    (files / "u.xml").write_text(BAD)
    assert "duplicate-link" in check("u.xml")[1]
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    body = '<body name="b"><joint name="j" axis="0 0 1"/><geom size="0.1"/></body>'
    (files / "m.xml").write_text(f'<mujoco model="m"><worldbody>{body}</worldbody></mujoco>')
    code, text = check("m.xml", json=True)
    assert code == 0
    assert json.loads(text)["files"][0]["robot"] == "m"
    (files / "m.xml").write_text("<mujoco><nonsense/></mujoco>")
    assert check("m.xml")[0] == 1


def test_json_is_read_as_a_mechanism(files: Path, check: Check):
    lw.save(lw.load("ur5e"), files / "a.json")
    assert check("a.json") == (0, "no problems in 1 file\n")
    lw.save(lw.load("four_bar"), files / "b.json")
    assert "1 degree of freedom" in check("b.json")[1]
    (files / "c.json").write_text("{}")
    code, text = check("c.json")
    assert code == 1
    assert "lw.save writes it" in text


# lines


@pytest.mark.parametrize(
    ("name", "good", "bad", "line"),
    [
        ("arm.csv", "theta,d,a\n0,0.3,0\n0,0,0.2\n", "theta,theta_deg\n0,\n0,10\n", 3),
        (
            "arm.yaml",
            "dh: craig\nrows:\n  - {d: 0.3}\n  - {a: 1}\n",
            "dh: craig\nrows:\n  - {b: 1}\n",
            3,
        ),
    ],
)
def test_tables_of_denavit_and_hartenberg(
    name: str, good: str, bad: str, line: int, files: Path, check: Check
):
    (files / name).write_text(good, encoding="utf-8")
    code, text = check(name)
    assert (code, "0 errors" in text or "no problems" in text.lower()) == (0, True), text
    (files / name).write_text(bad, encoding="utf-8")
    code, text = check(name)
    assert code == 1
    assert f"{name}:{line}: error: row" in text


def test_a_line_has_what_an_editor_jumps_by():
    problem = Finding("warning", "range", "it is odd", "a.urdf", 7, "joint", "j", "mend it")
    assert str(command.line_of(problem, "x")) == "a.urdf:7: warning: joint 'j': it is odd (range)"
    bare = Finding("error", "no-file", "there is none")
    assert str(command.line_of(bare, "x")) == "x: error: there is none (no-file)"
    unnamed = Finding("error", "xml", "broken", "a.urdf", 3, "robot")
    assert str(command.line_of(unnamed, "x")) == "a.urdf:3: error: robot: broken (xml)"


def test_colours_are_for_terminals(files: Path, monkeypatch: pytest.MonkeyPatch, check: Check):
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b" not in check("bad.urdf")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" in check("bad.urdf")[1]


MESHES = [*(f"package://nope/meshes/{k}.stl" for k in range(9)), "parts/a.stl", "parts/b.stl"]


def test_one_cause_in_many_places_is_printed_once(check: Check, files: Path):
    links = "\n".join(
        f'<link name="l{k}"><visual><geometry><mesh filename="{name}"/></geometry></visual></link>'
        for k, name in enumerate(MESHES)
    )
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="l0"/><child link="l{k}"/></joint>'
        for k in range(1, len(MESHES))
    )
    (files / "many.urdf").write_text(f'<robot name="r">\n{links}\n{joints}</robot>')
    code, text = check("many.urdf", level="warning")
    assert code == 0
    lines = [line for line in text.splitlines() if "mesh-missing" in line]
    assert len(lines) == 2
    assert lines[0].startswith("many.urdf:2: warning: mesh 'l0': 'package://nope/meshes/0.stl'")
    assert "    the same for 8 more files: lines 3, 4, 5, 6, 7, 8 and others\n" in text
    assert "    the same for 1 more file: line 12\n" in text
    assert text.splitlines()[-1].startswith("11 warnings")
    told = json.loads(check("many.urdf", json=True)[1])
    missing = [p for p in told["files"][0]["problems"] if p["code"] == "mesh-missing"]
    assert [p["line"] for p in missing] == list(range(2, 13))


# whether what closes a mechanism fits it


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, model in models.MODELS.items() if model.closed])
def test_bundled_models_are_closed(cli: Callable[..., Any], name: str):
    assert "freedom" in cli("check", name, "--no-meshes", "--level", "error").stdout


def put(folder: Path, text: str) -> Path:
    lw.urdf.write(lw.urdf.read("four_bar"), folder / "r.urdf")
    (folder / "r.loops.yaml").write_text(text)
    return folder / "r.urdf"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("version: 1\nactuated: [crnak]\n", 2, "nearest: crank"),
        ("version: 1\nloops:\n- {frame_a: coupler_end, frame_b: nowhere}\n", 3, "nowhere"),
        ("version: 1\nloops: &a []\n", 2, "anchors"),
        ("version: 3\n", 1, "version must be 1"),
    ],
)
def test_what_does_not_fit_is_told_with_its_line(
    cli: Callable[..., Any], tmp_path: Path, text: str, line: int, words: str
):
    result = cli("check", put(tmp_path, text))
    assert result.exit_code == 1
    assert f"r.loops.yaml:{line}: error:" in result.stdout and words in result.stdout


def test_loops_that_cannot_be_closed_are_a_warning(cli: Callable[..., Any], tmp_path: Path):
    text = "version: 1\nloops: [{frame_a: coupler_end, frame_b: base_link, kind: distance, %s}]\n"
    path = put(tmp_path, text % "distance: 40.0")
    result = cli("check", path, "--json")
    assert [p["code"] for p in json.loads(result.stdout)["files"][0]["problems"]] == ["loops-open"]
    assert cli("check", path, "--strict").exit_code == 1


def test_what_closes_it_is_told(cli: Callable[..., Any]):
    text = cli("check", "four_bar").stdout
    assert "four_bar: 1 loop, actuated: crank; 1 degree of freedom" in text
    assert json.loads(cli("check", "panda", "--json").stdout)["files"][0]["loops"] == ""


def test_an_mjcf_with_equalities(cli: Callable[..., Any], tmp_path: Path):
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    path = tmp_path / "m.xml"
    path.write_text(FOUR_BAR.format('<connect name="pin" site1="end" site2="top"/>'))
    assert "1 loop, actuated: crank; 1 degree of freedom" in cli("check", path).stdout
    path.write_text(
        closed('<weld site1="s1" site2="s2" name="x"/><weld body1="rocker" body2="tip"/>')
    )
    told = cli("check", path).stdout
    assert "(loops-open)" in told and "(rigid-equality)" in told


@pytest.mark.slow
def test_contacts_by_the_collision_model(cli: Callable[..., Any], tmp_path: Path):
    ball = '<collision><geometry><sphere radius="0.3"/></geometry></collision>'
    links = "\n".join(f'<link name="l{k}">{ball}</link>' for k in range(3))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>'
        '<origin xyz="0.2 0 0"/><axis xyz="0 0 1"/></joint>'
        for k in range(2)
    )
    text = f'<robot name="arm">\n{links}{joints}</robot>'
    file = tmp_path / "arm.urdf"
    file.write_text(text)
    (tmp_path / "arm.srdf").write_text('<robot name="leg"/>')
    told = json.loads(cli("check", file, "--contacts", "--json").stdout)["files"][0]["problems"]
    assert [problem["code"] for problem in told[-2:]] == ["contact", "srdf-robot"]
    assert told[-2]["line"] == 2
    assert "no joint joins it to 'l2', and they always touch" in told[-2]["message"]
    assert "(contact)" not in cli("check", file).stdout
    file.write_text(text.replace(ball, ""))
    told = json.loads(cli("check", file, "--contacts", "--json").stdout)["files"][0]["problems"]
    assert told[-1]["code"] == "contacts-unchecked"
    assert told[-1]["message"].startswith("arm has no shapes")
