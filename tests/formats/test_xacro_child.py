"""The process that expands: files that it opens, expressions, errors. No package needed."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any
from xml.parsers import expat

import pytest

from linkwork.formats import xacro_child
from linkwork.formats.xacro_child import (
    Files,
    RefusedError,
    RefusedExpressionError,
    attribute,
    evaluate,
    kind_of,
)


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("a")
    (tmp_path / "out.txt").write_text("b")
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "out.txt")
    return tmp_path / "in"


def test_files_inside_are_read_and_listed_once(root: Path):
    files = Files([str(root)], 10)
    assert files.read(str(root / "a.txt")).read() == b"a"
    assert files.read(str(root / "." / "a.txt")).read() == b"a"
    assert [os.path.normpath(name) for name in files.opened[:1]] == [str(root / "a.txt")]


@pytest.mark.parametrize("name", ["../out.txt", "link.txt", "/etc/hostname", "a.txt/../../out.txt"])
def test_files_outside_are_refused_whether_they_exist_or_not(root: Path, name: str):
    files = Files([str(root)], 10)
    with pytest.raises(RefusedError, match="outside"):
        files.read(os.path.join(root, name))
    with pytest.raises(RefusedError, match="outside"):
        files.read(os.path.join(root, "../nothing-here"))
    assert not files.opened


def test_a_folder_that_is_a_link_counts_as_itself_and_as_what_it_is(root: Path, tmp_path: Path):
    (tmp_path / "alias").symlink_to(root)
    assert Files([str(tmp_path / "alias")], 10).read(str(root / "a.txt")).read() == b"a"
    assert Files([str(root)], 10).inside(str(tmp_path / "alias" / "a.txt")) is False


def test_a_folder_whose_name_begins_alike_is_outside(root: Path):
    assert not Files([str(root)], 10).inside(str(root) + "side/a.txt")


@pytest.mark.parametrize("path", [3, b"a.txt", None, "a\0b"])
def test_what_is_no_name(root: Path, path: Any):
    with pytest.raises(RefusedError, match="no file's name"):
        Files([str(root)], 10).read(path)


def test_large_files_and_folders_are_refused(root: Path):
    (root / "large").write_bytes(b"x" * 11)
    with pytest.raises(RefusedError, match="at most"):
        Files([str(root)], 10).read(str(root / "large"))
    with pytest.raises(RefusedError, match="no regular file"):
        Files([str(root)], 10).read(str(root))


def test_patterns_stay_inside(root: Path):
    files = Files([str(root)], 10)
    assert files.glob(str(root / "*.txt")) == [str(root / "a.txt"), str(root / "link.txt")]
    with pytest.raises(RefusedError):
        files.glob(str(root / ".." / "*"))


@pytest.mark.parametrize(
    ("cause", "code", "part"),
    [
        (RefusedError("xacro-file", "why", "how"), "xacro-file", "why"),
        (RefusedExpressionError("why"), "xacro-expression", "whole text"),
        (RecursionError(), "xacro-recursion", "too deep"),
        (MemoryError(), "xacro-memory", "memory"),
        (FileNotFoundError(2, "No such file", "a.xacro"), "xacro-file", "No such file: 'a.xacro'"),
        (expat.ExpatError("whole text"), "xml", "whole text"),
        (type("ArgException", (Exception,), {})("'n'"), "xacro-argument", "'n' has no value"),
        (NameError("name"), "xacro", "whole text"),
    ],
)
def test_what_is_told_of_an_error(cause: Any, code: str, part: str):
    if isinstance(cause, expat.ExpatError):
        cause.code = 0
    found = xacro_child.told_of(ValueError("whole text"), cause)
    assert found[0] == code
    assert part in found[1]


# expressions reach plain values, and nothing that leads out of them


class Space(dict[str, Any]):
    """Like a name space of xacro: a dictionary with a parent."""

    def __init__(self, **values: Any) -> None:
        super().__init__(values)
        self.parent = None


class Yaml(dict[str, Any]):
    """Like a dictionary of a YAML file."""


def names() -> dict[str, Any]:
    plain = {f.__name__: f for f in (list, dict, map, len, str, float, int, min, max, sorted, sum)}
    return {
        **plain,
        "math": Space(sqrt=math.sqrt, pi=math.pi),
        "python": Space(type=kind_of, range=range, keys=3),
        "yaml": Yaml(joint=Yaml(lower=-1.5), items=[1]),
        "x": 2.0,
        "k": 3,
        "name": "Arm",
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x * k + 1", 7.0),
        (" math.sqrt(x*x)", 2.0),
        ("name.lower() + '_%d' % k", "arm_3"),
        ("[i * i for i in python.range(k)]", [0, 1, 4]),
        ("sorted([3, 1], key=lambda v: -v)", [3, 1]),
        ("list(map(lambda v: v + x, (1, 2)))", [3.0, 4.0]),
        ("sum(i * x for i in [1, 2])", 6.0),
        ("yaml.joint.lower", -1.5),
        ("yaml['joint']['lower'] if yaml else 0", -1.5),
        ("sorted(yaml.items())[0][0]", "items"),  # methods of YAML come first, as in xacro
        ("python.keys", 3),  # a name space has no methods
        ("'a,b'.split(',')[-1]", "b"),
        ("2 ** 10 << 1", 2048),
        ("'ab' * 2 + f'{k:03d}'", "abab003"),
        ("list(map(str.upper, 'ab'))", ["A", "B"]),
        ("python.type(x) == float and not None", True),
        ("{1: 2}[1] in {2, 3}", True),
    ],
)
def test_what_expressions_are_for(text: str, value: Any):
    assert evaluate(text, names()) == value


ESCAPES = [
    "().__class__",
    "x.__class__.__base__.__subclasses__()",
    "(lambda: ().__class__)()",
    "[v.__class__ for v in [1]]",
    "__import__('os')",
    "(lambda __x: __x)(1)",
    # without a single underscore in front
    "(v for v in [1]).gi_frame",
    "[g.gi_frame.f_back.f_globals for g in [(v for v in [1])]]",
    "(lambda: 1).func_globals",
    "math.sqrt.denominator",
    "len.mro",
    "str.mro()",
    "str.format",
    "'{0.x}'.format(len)",
    "'{x.y}'.format_map(yaml)",
    "python.type(len)",
    "python.type(python.type)",
    "python.type('X', (), {})",
    "yaml.parent",
    "math.parent",
    "(v := 1)",
    "(lambda: (yield))()",
    "exec('1')",
    "getattr(x, 'real')",
    "vars(x)",
    "open('/etc/hostname')",
]


@pytest.mark.parametrize("text", ESCAPES)
def test_ways_out_are_closed(text: str):
    with pytest.raises((RefusedExpressionError, NameError, TypeError)):
        evaluate(text, names())


@pytest.mark.parametrize("text", ["x.real", "name.upper", "yaml.joint", "math.pi"])
def test_the_list_of_escapes_is_refused_for_a_reason(text: str):
    evaluate(text, names())  # the same form, and let through


@pytest.mark.parametrize(
    "text",
    ["9**9**9", "2 ** 100000", "1 << 10 ** 9", "'a' * 10 ** 9", "10 ** 9 * [0]", "'a' * k" * 9999],
)
def test_bombs_are_refused_before_they_grow(text: str):
    with pytest.raises((RefusedExpressionError, SyntaxError)):
        evaluate(text, names())


@pytest.mark.parametrize("text", ["1 +", "(", "import os", "x = 1", ""])
def test_what_is_no_expression(text: str):
    with pytest.raises(SyntaxError):
        evaluate(text, names())


@pytest.mark.parametrize("value", [len, math, attribute, Exception("a"), iter([1]), object()])
@pytest.mark.parametrize("name", ["args", "name", "gi_code", "f_back", "real", "__doc__", "pi"])
def test_nothing_else_has_attributes(value: object, name: str):
    with pytest.raises(RefusedExpressionError):
        attribute(value, name)
