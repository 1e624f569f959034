"""Elements know their file and line, their copies too, and errors find them."""

from __future__ import annotations

import io
from typing import Any
from xml.dom import minidom

import pytest

from linkwork.formats import xacro_places
from linkwork.formats.xacro_guard import RefusedError
from linkwork.formats.xacro_places import DEEPEST, Builder, Warnings, Written, place_of

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
    xacro_places.keep_places()
    copy = elements(TEXT)["a"].cloneNode(True)
    assert [node.place[1] for node in copy.getElementsByTagName("*")] == [2, 4, 4]


def test_lines_of_the_written_text_have_places(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(minidom.Element, "writexml", minidom.Element.writexml)
    document = Builder("f").parseFile(io.BytesIO(b"<a>\n\n<b/><!-- x\ny --><c/>\n</a>"))
    text = xacro_places.written(document, 1000)
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
