"""What may come next, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from linkwork.formats.urdf import moves, quick
from linkwork.formats.urdf.moves import (
    CLOSE,
    COMMENT,
    END,
    KEEP,
    MARK,
    OPEN,
    SKIP,
    STRANGE,
    TEXT,
    VALUE,
    Move,
    NotPlainError,
    Spot,
)
from linkwork.formats.urdf.plans import DOCUMENT, new_memos
from linkwork.formats.urdf.problems import Findings
from linkwork.formats.urdf.unknown import Unknown


@pytest.fixture(autouse=True)
def forgetful() -> Iterator[None]:
    moves.forget()
    yield
    moves.forget()


def go(*pieces: str) -> list[Move]:
    """The moves from the beginning of a file along some pieces, each to its end."""
    made: list[Move] = []
    spot, around = moves.start(), list[Spot]()
    for whole in pieces:
        piece = whole
        while True:
            move = spot[piece]
            made.append(move)
            kind, spot, _, piece, _, after = move
            if kind in (VALUE, STRANGE, END):
                break
            if kind in (OPEN, SKIP):
                around.append(after)
            elif kind in (CLOSE, KEEP):
                spot = around.pop()
    return made


def kinds(*pieces: str) -> list[int]:
    return [move.kind for move in go(*pieces)]


def test_values_and_records():
    head = "<robot name=", "><link name="
    assert kinds(*head) == [OPEN, VALUE, OPEN, VALUE]
    assert kinds(*head, "/></robot>") == [OPEN, VALUE, OPEN, VALUE, CLOSE, CLOSE, END]
    ways = DOCUMENT.children["robot"].plan.children["joint"].plan.ways
    first, second = go("<robot name=", "><joint type=", " name=")[3:]
    assert (first.a, first.b) == ways["type"]
    assert (second.a, second.b) == ways["name"]


def test_a_layout_is_that_of_all_that_came():
    visual = f"><visual>{MARK}<origin xyz=", "/><look/><geometry><box size="
    made = go("<robot name=", "><link name=", *visual, "/></geometry></visual></link></robot>")
    assert [move.b for move in made if move.kind == CLOSE and move.b] == [
        ("", "origin", "", "geometry", "box"),
        ("visual",),
    ]
    numbers = [move.b for move in made if move.kind == COMMENT]
    assert numbers == [0]


def test_line_breaks_are_counted_once():
    pieces = "\n<robot\n name=", ">\n\n<link\nname=", f"\n/>{MARK}\n<a>\n</a>\n</robot>\n"
    made = go(*pieces)
    assert [(move.kind, move.lines) for move in made] == [
        (OPEN, 1), (VALUE, 1), (OPEN, 2), (VALUE, 1), (CLOSE, 1), (COMMENT, 0), (SKIP, 1),
        (KEEP, 1), (CLOSE, 1), (END, 1),
    ]  # fmt: skip


def test_texts():
    made = go("<robot name=", "><transmission name=", "><type> a </type><other/><joint name=")
    assert [move.kind for move in made[4:]] == [TEXT, SKIP, KEEP, OPEN, VALUE]
    assert made[4].b == "a"


def test_unknown_attributes_know_their_tag():
    spot = go("<robot name=", "><link name=", "\n odd=", "\n\n more=")[-1].spot
    assert spot.tag is not None
    assert (spot.tag.lines, spot.tag.odd) == (3, 2)
    assert spot.position is None
    inside = "><visual><origin xyz=", "\n odd="
    spot = go("<robot name=", "><link name=", *inside)[-1].spot
    assert spot.tag is not None
    assert (spot.tag.lines, spot.tag.odd, spot.position) == (1, 1, 0)


@pytest.mark.parametrize(
    "piece",
    [
        "><inertial><mass value=",  # it has no inertia at its end
        "><visual><geometry/></visual></link></robot>",
        "><visual/></link></robot>",
        "><visual><geometry><box/></geometry></visual></link></robot>",
        "><visual><geometry><box size=",
        "><inertial/><inertial/></link></robot>",
        "><link name=",
        "><p:link name=",
        " xmlns=",
        " p:name=",
        ">text</link></robot>",
        ">text<visual name=",
        " name='a' odd=",
        "><gazebo>text",
        "><gazebo>text</gazebo> text",
        " ",
        "",
    ],
)
def test_what_is_not_plain(piece: str):
    ends = "/></inertial></link></robot>", "/><sphere radius="
    with pytest.raises(NotPlainError):
        go("<robot name=", "><link name=", piece, *ends)


def test_equal_ways_lead_to_one_spot():
    first = go("<robot name=", "><link name=", "><visual><origin xyz=")
    second = go("<robot name=", ">\n <link name=", ">\n  <visual >\n <origin  xyz =")
    assert first[-1].spot is second[-1].spot


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(moves, "MOST", 60)
    for k in range(50):
        line = f'<gazebo><a{k}/></gazebo><material name="a"{" " * k}/>'
        text = f'<robot name="r">{line * 3}</robot>'
        assert quick.read(text.encode(), new_memos(), Unknown(Findings(None))) is not None
        assert 0 < moves.remembered() <= 60


def test_a_long_piece_is_not_remembered():
    text = f'<robot name="r"><gazebo>{"<a/>" * 9000}</gazebo><gazebo a="1"/></robot>'
    before = 0
    for _ in range(3):
        assert quick.read(text.encode(), new_memos(), Unknown(Findings(None))) is not None
        before, known = moves.remembered(), before
    assert before == known
