"""Values of a file taken apart, with lines."""

from __future__ import annotations

import pytest

from linkwork.errors import DescriptionError
from linkwork.formats.loops_records import CouplingRecord, Fields, JointRecord, LoopRecord
from linkwork.formats.yaml import parse


def test_lines_do_not_count():
    assert LoopRecord("a", "b", line=3) == LoopRecord("a", "b", line=5)
    assert CouplingRecord("a", ("b",), line=1) == CouplingRecord("a", ("b",))
    assert JointRecord("a", "xyz", 4) == JointRecord("a", "xyz")


def test_what_fits_is_taken():
    fields, given = Fields("f"), parse("{a: [x, y], b: 2, c: {d: 1}, e: , g: z}").value
    assert fields.texts(given["a"], "a") == ("x", "y")
    assert fields.number(given["b"], "b") == 2.0 and fields.number(None, "b") == 0.0
    assert fields.mapping(given["c"], "c")["d"].value == 1
    assert fields.listed(given["e"], "e") == [] == fields.listed(None, "e")
    assert fields.text(given["g"], "g") == "z"


@pytest.mark.parametrize(
    ("take", "text", "why"),
    [
        ("mapping", "[1]", r"must be mappings, not \[1\]"),
        ("listed", "{a: 1}", "must be a list"),
        ("texts", "[x, 1]", "must be a text, not 1"),
        ("text", "''", "must be a text, not ''"),
        ("number", "true", "must be a number, not True"),
        ("number", "far", "must be a number, not 'far'"),
        ("number", ".nan", "must be a finite number"),
        ("number", "-.inf", "must be a finite number"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(take, text, why):
    node = parse(f"# one\n{text}\n")
    with pytest.raises(DescriptionError, match=f"what {why}") as caught:
        getattr(Fields("some.yaml"), take)(node, "what")
    assert (caught.value.problems[0].file, caught.value.problems[0].line) == ("some.yaml", 2)


def test_what_is_missed_is_missed_somewhere():
    node = parse("\n{a: 1}\n")
    with pytest.raises(DescriptionError, match="must be a text, not None") as caught:
        Fields("f").text(None, "name", at=node)
    assert caught.value.problems[0].line == 2
    with pytest.raises(DescriptionError, match="'a' is none of them"):
        Fields("f").known(node, ("b",), "it")
