"""The process that expands: which files it opens, and what it says of errors. No package needed."""

from __future__ import annotations

import io
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.dom import minidom
from xml.parsers import expat

import pytest

from linkwork.formats import xacro_child
from linkwork.formats.xacro_child import (
    DEEPEST,
    Arguments,
    Builder,
    Extensions,
    Files,
    Warnings,
    Written,
    place_of,
)
from linkwork.formats.xacro_guard import RefusedError, RefusedExpressionError


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


def test_arguments_know_what_was_asked_for():
    arguments = Arguments({"a": "1", "b": "2"})
    assert arguments["a"] == "1"
    assert "c" not in arguments
    arguments["d"] = "4"
    assert arguments.asked == {"a", "c"}
    assert arguments.given == {"a": "1", "b": "2"}


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


def test_the_innermost_cause_counts_and_macros_are_named():
    class Macro:
        def __init__(self, name: str) -> None:
            self.body = SimpleNamespace(getAttribute=lambda _: name)

    inner = RefusedError("xacro-file", "no", "hint")
    outer = ValueError("outer")
    vars(outer)["exc"] = inner
    xacro = SimpleNamespace(filestack=["f.xacro"], macrostack=[Macro("a"), Macro("b")])
    assert xacro_child.problem_of(outer, xacro) == {
        "code": "xacro-file",
        "message": "no, in macro 'b', called by 'a'",
        "hint": "hint",
        "place": ("f.xacro", 0),
    }


def test_packages_found_may_be_read_from_then_on(root: Path):
    asked: list[Any] = []
    line: Any = SimpleNamespace(
        send=asked.append, receive=lambda: {"folder": str(root), "note": ""}
    )
    files = Files([], 10)
    assert not files.inside(str(root / "a.txt"))
    assert Extensions(None, files, line, {}).find("p") == str(root)
    assert asked == [{"find": "p"}]
    assert files.inside(str(root / "a.txt"))


def test_only_variables_that_were_given_are_seen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET", "s")
    line: Any = None
    extensions = Extensions(None, Files([], 1), line, {"A": "1"})
    assert (extensions.env("A"), extensions.optenv("SECRET", "d")) == ("1", "d")
    with pytest.raises(RefusedError, match="SECRET"):
        extensions.env("SECRET")


# where elements come from

TEXT = b"<a xmlns:x='u'>\n<x:b n='1'/>\n\n<c>t</c><d/>\n</a>"


def elements(text: bytes) -> dict[str, Any]:
    document = Builder("f.xacro").parseFile(io.BytesIO(text))
    return {node.tagName: node for node in document.getElementsByTagName("*")}


def test_places_are_those_of_the_file():
    places = {name: node.place for name, node in elements(TEXT).items()}
    lines = {"a": 1, "x:b": 2, "c": 4, "d": 4}
    assert places == {name: ("f.xacro", line) for name, line in lines.items()}


def test_the_document_is_the_one_that_minidom_builds():
    ours = Builder("f").parseFile(io.BytesIO(TEXT)).toxml()
    assert ours == minidom.parseString(TEXT).toxml()


def test_copies_keep_their_place(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(minidom, "_clone_node", vars(minidom)["_clone_node"])  # put back after it
    xacro_child.keep_places()
    copy = elements(TEXT)["a"].cloneNode(True)
    assert [node.place[1] for node in copy.getElementsByTagName("*")] == [2, 4, 4]


def test_lines_of_the_written_text_have_places(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(minidom.Element, "writexml", minidom.Element.writexml)
    document = Builder("f").parseFile(io.BytesIO(b"<a>\n\n<b/><!-- x\ny --><c/>\n</a>"))
    text = xacro_child.written(document, 1000)
    lines = text.getvalue().splitlines()
    for k, line in enumerate(lines):
        if "<a>" in line or "<b/>" in line or "<c/>" in line:
            place = text.places[k]
            assert place is not None
            assert place[1] == (1 if "<a>" in line else 3 if "<b/>" in line else 4)
    assert len(text.places) == len(lines) + 1


def test_a_text_has_an_end():
    text = Written(10)
    text.write("12345\n789")
    with pytest.raises(RefusedError, match="too large"):
        text.write("ab")


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (b"\n\n<!DOCTYPE a><a/>", "doctype", 3),
        (b"<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", "doctype", 1),
        (b"<a>" * (DEEPEST + 1) + b"</a>" * (DEEPEST + 1), "too-deep", 1),
    ],
)
def test_what_is_refused_while_it_is_read(text: bytes, code: str, line: int):
    with pytest.raises(RefusedError) as caught:
        elements(text)
    assert caught.value.code == code
    assert vars(caught.value)["place"] == ("f.xacro", line)


def test_errors_and_warnings_find_the_element_that_is_worked_on():
    warned = Warnings()
    source = (
        "def eval_all(node):\n"
        "    if node.tagName == 'c':\n"
        "        warn('odd', 1)\n"
        "        raise ValueError('no')\n"
        "    for child in node.childNodes:\n"
        "        if hasattr(child, 'tagName'):\n"
        "            eval_all(child)\n"
    )
    names: dict[str, Any] = {"__name__": "xacro", "warn": warned}
    exec(source, names)
    with pytest.raises(ValueError, match="no") as caught:
        names["eval_all"](elements(TEXT)["a"])
    assert place_of(caught.value, ["other"]) == ("f.xacro", 4)
    assert warned.found == [("odd 1", ("f.xacro", 4))]
    assert place_of(ValueError(), ["f", "g"]) == ("g", 0)
    assert place_of(ValueError(), [None]) == ("", 0)
