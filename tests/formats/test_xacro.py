"""Xacro: what it expands to, where every line comes from, and what a hostile file does not get."""

from __future__ import annotations

import os
import sys
import threading
import xml.dom.minidom as minidom
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import linkwork as lw
from linkwork.errors import DescriptionError, Finding, InputError, MissingExtraError
from linkwork.formats import xacro
from linkwork.formats.urdf.read import read as read_urdf

pytest.importorskip("xacro", reason="xacro (pip install xacro) is not installed")

QUICK = xacro.Limits(seconds=5, memory=256 << 20, largest=1 << 20)


def robot(body: str, first: str = "") -> str:
    space = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
    return f'<?xml version="1.0"?>{first}\n<robot name="r" {space}>\n{body}\n</robot>\n'


def nothing(package: str) -> Path:
    raise InputError(f"the package '{package}' is not found")


@pytest.fixture(name="expand")
def _expand(tmp_path: Path) -> Callable[..., xacro.Expanded]:
    """``expand(body, **how)``: a file with this body, expanded."""

    def call(body: str, arguments: dict[str, str] | None = None, **how: Any) -> xacro.Expanded:
        file = tmp_path / "pkg" / "r.urdf.xacro"
        file.parent.mkdir(exist_ok=True)
        file.write_text(body if body.startswith("<?xml") else robot(body), encoding="utf-8")
        given: dict[str, Any] = {"find": nothing, "limits": QUICK, **how}
        return xacro.expand(file, arguments, **given)

    return call


@pytest.fixture(name="refused")
def _refused(expand: Callable[..., xacro.Expanded]) -> Callable[..., Finding]:
    """Expand a body that must be refused with one problem."""

    def call(body: str, **how: Any) -> Finding:
        with pytest.raises(DescriptionError) as caught:
            expand(body, **how)
        (problem,) = caught.value.problems
        assert problem.level == "error"
        assert problem.file.endswith(".xacro")
        return problem

    return call


# what it is for


def test_macros_properties_conditions_and_arguments(expand: Callable[..., xacro.Expanded]):
    body = """<xacro:arg name="n" default="1"/>
<xacro:property name="w" value="${2*pi}"/>
<xacro:macro name="one" params="k *block">
  <link name="l${k}"><xacro:insert_block name="block"/></link>
  <joint name="j${k}" type="fixed"><parent link="base"/><child link="l${k}"/></joint>
  <xacro:if value="${k &lt; int(xacro.arg('n'))}">
    <xacro:one k="${k+1}"><visual/></xacro:one>
  </xacro:if>
</xacro:macro>
<link name="base"/>
<xacro:one k="1"><visual name="${'%.3f' % w}"/></xacro:one>"""
    one = expand(body)
    assert '<visual name="6.283"/>' in one.text
    assert one.problems == ()
    assert one.text.count("<link") == 2
    assert expand(body, {"n": "3"}).text.count("<link") == 4


def test_the_text_says_nothing_of_the_machine(expand: Callable[..., xacro.Expanded]):
    given = expand("<link name='a'/>")
    assert str(given.files[0].parent) not in given.text
    assert given.text == '<?xml version="1.0" ?>\n<robot name="r">\n  <link name="a"/>\n</robot>\n'


def test_every_line_knows_where_it_comes_from(
    expand: Callable[..., xacro.Expanded], tmp_path: Path
):
    other = tmp_path / "pkg" / "other.xacro"
    other.parent.mkdir()
    other.write_text(
        robot('<xacro:macro name="m" params="n">\n\n<link name="${n}"/>\n</xacro:macro>')
    )
    given = expand("<xacro:include filename='other.xacro'/>\n<xacro:m n='a'/>\n\n<link name='b'/>")
    assert [file.name for file in given.files] == ["r.urdf.xacro", "other.xacro"]
    lines = given.text.splitlines()
    at = {name: given.places[lines.index(f'  <link name="{name}"/>')] for name in "ab"}
    assert at == {"a": (str(other), 5), "b": (given.file, 6)}


def test_problems_of_the_urdf_are_told_in_the_lines_of_the_xacro(tmp_path: Path):
    file = tmp_path / "r.xacro"
    bad = "<xacro:macro name='m' params='n'>\n<link name='${n}'/>\n</xacro:macro>\n<xacro:m n='a'/>"
    file.write_text(robot(f"{bad}\n\n\n<xacro:m n='a'/>\n<link/>"))
    with pytest.raises(DescriptionError) as caught:
        xacro.read(file, find=nothing)
    assert {(p.file, p.line) for p in caught.value.problems} == {(str(file), 4), (str(file), 10)}


def test_reading_gives_the_document_of_the_text(tmp_path: Path):
    file = tmp_path / "r.xacro"
    file.write_text(robot("<link name='${1+1}'/>"))
    document, expanded = xacro.read(file, find=nothing)
    assert document.robot == read_urdf(expanded.text).robot
    assert document.robot.file == str(file)
    assert document.robot.links[0].name == "2"


def test_a_file_of_macros_says_so(tmp_path: Path):
    file = tmp_path / "macros.xacro"
    file.write_text(robot("<xacro:macro name='m'><link name='a'/></xacro:macro>"))
    with pytest.raises(DescriptionError) as caught:
        xacro.read(file, find=nothing)
    (problem,) = caught.value.problems
    assert (problem.code, problem.file) == ("no-link", str(file))
    assert "file that includes it" in problem.hint


def test_arguments_that_the_file_does_not_know_are_told(expand: Callable[..., xacro.Expanded]):
    body = "<xacro:arg name='prefix' default=''/><link name='$(arg prefix)a'/>"
    given = expand(body, {"prefix": "p_", "prefx": "q_"})
    assert 'name="p_a"' in given.text
    (problem,) = given.problems
    assert problem.name == "prefx"
    assert "nearest: prefix" in problem.message


def test_packages_are_asked_for(expand: Callable[..., xacro.Expanded], tmp_path: Path):
    package = tmp_path / "elsewhere"
    package.mkdir()
    (package / "a.xacro").write_text(robot("<link name='found'/>"))
    (package / "v.yaml").write_text("joint: {lower: -1.5, list: [1, 2]}\n")
    asked: list[str] = []

    def find(name: str) -> tuple[Path, str]:
        asked.append(name)
        return package, "a guess"

    body = """<xacro:include filename="$(find p)/a.xacro"/>
<xacro:property name="y" value="${xacro.load_yaml('$(find p)/v.yaml')}"/>
<link name="${y.joint.lower} ${y['joint']['list'][1]}"/>
<link name="$(find p)"/>"""
    given = expand(body, find=find)
    assert asked == ["p", "p", "p"]
    assert '"found"' in given.text
    assert '"-1.5 2"' in given.text
    assert f'"{package}"' in given.text
    assert [file.name for file in given.files[1:]] == ["a.xacro", "v.yaml"]
    assert {p.message for p in given.problems} == {"a guess"}
    assert {p.line for p in given.problems} == {3, 5, 6}  # a property is evaluated when it is used


def test_the_environment_is_what_is_given(
    expand: Callable[..., xacro.Expanded],
    refused: Callable[..., Finding],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("LW_SECRET", "hidden")
    problem = refused('<link name="$(env LW_SECRET)"/>')
    assert (problem.code, problem.line) == ("xacro-environment", 3)
    assert "--env LW_SECRET=" in problem.hint
    assert "hidden" not in str(problem)
    given = expand('<link name="$(env LW_SECRET)"/>', environment={"LW_SECRET": "b"})
    assert '"b"' in given.text
    assert '"none"' in expand('<link name="$(optenv LW_SECRET none)"/>').text


def test_a_missing_argument_and_a_wrong_expression_have_their_line(refused: Callable[..., Finding]):
    problem = refused("\n<link name='$(arg n)'/>")
    assert (problem.line, problem.code) == (4, "xacro-argument")
    assert "--arg n:=" in problem.hint
    problem = refused(
        "<xacro:macro name='m' params=''>\n\n<link name='${nope}'/></xacro:macro><xacro:m/>"
    )
    assert problem.line == 5
    assert "'nope' is not defined" in problem.message
    assert "in macro 'm'" in problem.message
    assert refused("<xacro:nope/>").line == 3
    assert refused("\n\n<link></lnk>").line == 5
    assert refused("<xacro:include filename='none.xacro'/>").code == "xacro-file"


def test_warnings_of_the_package_have_their_line(expand: Callable[..., xacro.Expanded]):
    (problem,) = expand("<link name='a'/>\n<xacro:property name='pi' value='3'/>").problems
    assert (problem.level, problem.line) == ("warning", 4)
    assert "pi" in problem.message


def test_nothing_is_left_behind(expand: Callable[..., xacro.Expanded], capfd: Any):
    before, modules = minidom.Element.writexml, set(sys.modules)
    expand("<link name='${xacro.warning(1)}'/>${xacro.message('hello')}")
    assert minidom.Element.writexml is before
    assert "xacro" not in {*sys.modules} - modules
    assert capfd.readouterr() == ("", "")


def test_threads_do_not_disturb_each_other(tmp_path: Path):
    texts: dict[int, str] = {}

    def work(k: int) -> None:
        file = tmp_path / f"{k}.xacro"
        file.write_text(robot(f"<xacro:property name='v' value='{k}'/><link name='${{v}}'/>"))
        texts[k] = xacro.expand(file, find=nothing).text

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f'name="{k}"' in texts[k] for k in range(6))


def test_without_the_package_the_extra_is_named(
    expand: Callable[..., xacro.Expanded], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "path", [p for p in sys.path if "site-packages" not in p])
    with pytest.raises(MissingExtraError, match=r"linkwork\[xacro\]"):
        expand("<link name='a'/>")


@pytest.mark.parametrize("wrong", [{"a": 1}, {1: "a"}, {"a": None}])
def test_arguments_are_texts(expand: Callable[..., xacro.Expanded], wrong: Any):
    with pytest.raises(InputError, match="are texts"):
        expand("<link name='a'/>", wrong)


# what a hostile file does not get


CODE = [
    "().__class__.__base__.__subclasses__()",
    "(lambda: ().__class__.__base__.__subclasses__())()",
    "[c for c in ().__class__.__mro__]",
    "[g.gi_frame.f_back.f_back.f_globals for g in [(v for v in [1])]]",
    "python.vars(python.type(xacro.load_yaml))['_' + '_globals__']",
    "python.type(python.type(1))('X', (), dict())",
    "xacro.load_yaml.func_globals",
    "math.parent.root",
    "python['__builtins__']['get attribute'](xacro.load_yaml, '_' '_globals__')",
    "open('CANARY', 'w')",
]


@pytest.mark.parametrize("code", CODE)
def test_expressions_do_not_reach_python(
    refused: Callable[..., Finding], code: str, tmp_path: Path
):
    canary = tmp_path / "canary"
    code = code.replace("CANARY", str(canary))
    refused(f'<link name="${{{code}}}"/>')
    assert not canary.exists()


EVALUATED = [
    '<link name="${%s}"/>',
    '<link name="a">${%s}</link>',
    '<xacro:if value="${%s}"><link name="a"/></xacro:if>',
    '<xacro:unless value="${%s}"/>',
    '<xacro:property name="p" value="${%s}"/><link name="${p}"/>',
    '<xacro:macro name="m" params="a:=${%s}"><link name="${a}"/></xacro:macro><xacro:m/>',
    '<xacro:macro name="m" params="a"><link name="${a}"/></xacro:macro><xacro:m a="${%s}"/>',
    '<xacro:arg name="q" default="${%s}"/><link name="$(arg q)"/>',
    '<xacro:include filename="${%s}"/>',
    '<xacro:call macro="${%s}"/>',
    '<xacro:element xacro:name="${%s}"/>',
    '<link><xacro:attribute name="${%s}" value="1"/></link>',
]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("form", EVALUATED)
def test_every_place_that_is_evaluated_is_guarded(
    refused: Callable[..., Finding], form: str, tmp_path: Path
):
    canary = tmp_path / "canary"
    code = f"[c for c in ().__class__.__base__.__subclasses__()] or open('{canary}', 'w')"
    assert "'__" in refused(form % code).message
    assert not canary.exists()


@pytest.mark.parametrize("code", ["[].__class__", "list.mro", "[g.gi_frame for g in [1]]"])
def test_eval_does_not_reach_python(refused: Callable[..., Finding], code: str):
    assert refused(f'<link name="$(eval {code})"/>').code == "xacro-expression"


def test_eval_knows_arguments_and_math(expand: Callable[..., xacro.Expanded]):
    body = "<xacro:arg name='n' default='3'/><link name='$(eval n * pi > 9 and true)'/>"
    assert 'name="True"' in expand(body).text
    assert 'name="False"' in expand(body, {"n": "2"}).text


def test_code_in_yaml_is_not_run(expand: Callable[..., xacro.Expanded], tmp_path: Path):
    (tmp_path / "pkg").mkdir()
    canary = tmp_path / "canary"
    for text in (
        f"!!python/object/apply:os.system ['touch {canary}']",
        f"!degrees \"().__class__.__base__.__subclasses__().append('{canary}')\"",
    ):
        (tmp_path / "pkg" / "v.yaml").write_text(text)
        with pytest.raises(DescriptionError):
            expand("<link name=\"${xacro.load_yaml('v.yaml')}\"/>")
    assert not canary.exists()


@pytest.fixture(name="secret")
def _secret(tmp_path: Path) -> Path:
    """A file outside the package, that would be read if anything outside were."""
    file = tmp_path / "secret.xacro"
    file.write_text(robot("<link name='secret'/>"))
    (tmp_path / "pkg").mkdir(exist_ok=True)
    (tmp_path / "pkg" / "link.xacro").symlink_to(file)
    return file


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "name",
    [
        "../secret.xacro",
        "{outside}/secret.xacro",
        "$(dirname)/../secret.xacro",
        "$(cwd)/../secret.xacro",
        "$(find own)/../secret.xacro",
        "$(find own)/../pkg/../secret.xacro",
        "link.xacro",
        "../*.xacro",
        "{outside}/s*.xacro",
        "l*.xacro",
        "/etc/passwd",
        "/dev/zero",
        "file:///etc/passwd",
        "http://127.0.0.1:9/x.xacro",
    ],
)
def test_files_outside_are_not_read(expand: Callable[..., xacro.Expanded], secret: Path, name: str):
    name = name.format(outside=secret.parent)
    own = secret.parent / "pkg"
    bodies = [f"<xacro:include filename='{name}'/>"]
    if "$" not in name:
        bodies += [
            f"<link name=\"${{xacro.load_yaml('{name}')}}\"/>",
            f"<xacro:include filename='{name}' optional='true'/><link name='a'/>",
        ]
    for body in bodies:
        try:
            text = expand(body, find=lambda _: own).text
        except DescriptionError as error:
            assert "root:" not in str(error)
        else:
            assert "secret" not in text  # a URL is a file's name that does not exist

    # the same file is read where its folder is allowed
    class Find:
        roots = (secret.parent,)

        def __call__(self, _: str) -> Path:
            return own

    allowed = f"<xacro:include filename='{secret}'/>"
    assert "secret" in expand(allowed, roots=[secret.parent]).text
    assert "secret" in expand(allowed, find=Find()).text


def test_only_regular_files_are_read(refused: Callable[..., Finding], tmp_path: Path):
    (tmp_path / "pkg").mkdir()
    os.mkfifo(tmp_path / "pkg" / "pipe.xacro")
    (tmp_path / "pkg" / "large.xacro").write_bytes(b" " * (QUICK.largest + 1))
    assert "no regular file" in refused("<xacro:include filename='pipe.xacro'/>").message
    assert "at most" in refused("<xacro:include filename='large.xacro'/>").message


BOMBS = {
    "a macro that calls itself": "<xacro:macro name='m'><xacro:m/></xacro:macro><xacro:m/>",
    "a file that includes itself": "<xacro:include filename='r.urdf.xacro'/>",
    "properties in a circle": "<xacro:property name='a' value='${b}'/>"
    "<xacro:property name='b' value='${a}'/><link name='${a}'/>",
    "macros that double": "".join(
        f"<xacro:macro name='m{k}'><xacro:m{k + 1}/><xacro:m{k + 1}/></xacro:macro>"
        for k in range(60)
    )
    + "<xacro:macro name='m60'><link name='a'/></xacro:macro><xacro:m0/>",
    "texts that double": "".join(
        f"<xacro:property name='a{k + 1}' value='${{a{k}+a{k}}}'/>" for k in range(60)
    ).join(["<xacro:property name='a0' value='xxxxxxxxxxxxxxxx'/>", "<link name='${a60}'/>"]),
    "an endless sum": "<link name='${sum(i for i in range(10**15))}'/>".replace(
        "sum", "python.sum"
    ),
    "a huge list": "<link name='${list(range(10**12))}'/>",
    "a huge power": "<link name='${9**9**9}'/>",
    "a huge factorial": "<link name='${math.factorial(10**9)}'/>",
    "a wide text": "<link name=\"${'%999999999d' % 1}\"/>",
    "deep elements": "<a>" * 3000 + "</a>" * 3000,
    "a deep expression": "<link name='${" + "(" * 5000 + "1" + ")" * 5000 + "}'/>",
    "a deep list": "<link name='${" + "-" * 50_000 + "1}'/>",
    "a long text": "<link name='${str(list(range(10**6)))}'/>",
}


@pytest.mark.sweep(1)
@pytest.mark.parametrize("what", BOMBS)
def test_bombs_end(refused: Callable[..., Finding], what: str):
    problem = refused(
        BOMBS[what], limits=xacro.Limits(seconds=1, memory=256 << 20, largest=1 << 20)
    )
    assert problem.code.startswith("xacro") or problem.code == "too-deep"


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE robot>",
        "<!DOCTYPE robot [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;'>]>",
        "<!DOCTYPE robot SYSTEM 'file:///etc/passwd'>",
        "<!DOCTYPE robot [<!ENTITY % p SYSTEM 'http://127.0.0.1:9/x'> %p;]>",
    ],
)
def test_document_types_are_refused(refused: Callable[..., Finding], doctype: str):
    problem = refused(robot("<link name='a'/>", first=doctype))
    assert (problem.code, problem.line) == ("doctype", 1)


@pytest.mark.sweep(7)
@pytest.mark.parametrize(
    "body",
    [
        *("", "<link", "<link name='${1'/>", "$(", "<a/>$(find)", "\x01", "<xacro:macro/>"),
        *("<xacro:if/>", "<xacro:m x='1'/>", "<xacro:include/>", "<xacro:call/>"),
        *("<xacro:element/>", "<xacro:arg name='a'/>", "<xacro:property/>", "$(eval )"),
        *("<xacro:insert_block name='b'/>", "$(nope a)"),
    ],
)
def test_broken_files_give_one_error_or_a_text(expand: Callable[..., xacro.Expanded], body: str):
    try:
        expand(body)
    except DescriptionError as error:
        (problem,) = error.problems
        assert problem.line > 0, problem
    else:
        assert body in ("", "<link name='${1'/>", "$(")


def test_a_file_that_is_none(tmp_path: Path):
    for path in (tmp_path, tmp_path / "none.xacro"):
        with pytest.raises(DescriptionError):
            xacro.expand(path, find=nothing)


def test_a_package_that_was_guessed_is_named_by_what_fails_then(tmp_path: Path):
    file = tmp_path / "pkg" / "urdf" / "r.xacro"
    file.parent.mkdir(parents=True)
    file.write_text(robot('<xacro:include filename="$(find other)/a.xacro"/>'))
    with pytest.raises(DescriptionError, match=r"the package 'other' is taken to be '.*pkg'"):
        lw.load(file)
    with pytest.raises(InputError, match="arguments of a xacro file are given by name"):
        lw.load(file, arguments="prefix:=left_")  # type: ignore[arg-type]
