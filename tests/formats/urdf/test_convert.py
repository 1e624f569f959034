"""The text of attributes to values: plain decimal numbers and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.formats.urdf.convert import JUDGE, LARGEST, READ, BadText, numbers, show
from linkwork.formats.urdf.schema import Kind


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_read_to_the_bit(number: float):
    assert numbers(repr(number), 1)[0].hex() == number.hex()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_as_many_as_asked_for(values: list[float]):
    text = " ".join(map(repr, values))
    assert numbers(f"\t {text}\n", len(values)) == tuple(values)
    with pytest.raises(BadText, match="needed"):
        numbers(text, len(values) + 1)


@given(st.text(max_size=12))
def test_any_text_is_numbers_or_refused(text: str):
    for kind, read in READ.items():
        try:
            value = read(text)
        except BadText as bad:
            assert bad.complaint.message
            assert "\n" not in bad.complaint.message
        else:
            if kind in JUDGE:
                JUDGE[kind](value)


GOOD = {"1": 1.0, "-.5": -0.5, "+2.": 2.0, "1e3": 1000.0, "1E-3": 0.001, "007": 7.0, "-0": -0.0}


@pytest.mark.parametrize("text", GOOD)
def test_forms_of_a_number(text: str):
    assert numbers(text, 1)[0].hex() == GOOD[text].hex()


BAD = [
    ("nan", "not finite"),
    ("-inf", "not finite"),
    ("Infinity", "not finite"),
    ("1e999", "too large"),
    ("1,5", "1,5"),
    ("0x10", "0x10"),
    ("1_000", "1_000"),
    ("1m", "1m"),
    ("90deg", "90deg"),
    ("٣", "٣"),
    ("1 2", "2"),
    ("", "needed"),
    ("  ", "needed"),
    ("--1", "--1"),
    ("1-2", "1-2"),
    ("1e", "1e"),
    (".", "."),
    ("${x}", "xacro"),
    ("1\xa0", "1"),
    ("\u22121", "1"),
]


@pytest.mark.parametrize(("text", "part"), BAD, ids=[ascii(text) for text, _ in BAD])
def test_what_is_no_number(text: str, part: str):
    with pytest.raises(BadText) as caught:
        numbers(text, 1)
    assert part in " ".join(caught.value.complaint)


def test_hints_name_the_fault():
    for text, word in [
        ("1,5", "commas"),
        ("0x1f", "hexadecimal"),
        ("3 mm", "unit"),
        ("$x", "xacro"),
    ]:
        with pytest.raises(BadText) as caught:
            numbers(text, 1)
        assert word in caught.value.complaint.hint


@pytest.mark.parametrize("kind", [Kind.LENGTHS, Kind.DIRECTION, Kind.SIZES, Kind.SCALES])
def test_lengths_that_would_overflow_are_refused(kind: Kind):
    assert READ[kind](f"{LARGEST} 1 1")[0] == LARGEST
    with pytest.raises(BadText, match="too large"):
        READ[kind]("1 1 -1e101")


def test_judgements_of_odd_values():
    odd = [
        (Kind.POSITIVE, 0.0),
        (Kind.NOT_NEGATIVE, -1.0),
        (Kind.SIZES, (1.0, -1.0, 1.0)),
        (Kind.SCALES, (1.0, 0.0, 1.0)),
        (Kind.RGBA, (0.0, 0.0, 0.0, 1.5)),
        (Kind.NAME, " a"),
        (Kind.NAME, "a\nb"),
    ]
    for kind, value in odd:
        assert JUDGE[kind](value) is not None, (kind, value)
    fine = [
        (Kind.POSITIVE, 1.0),
        (Kind.NOT_NEGATIVE, 0.0),
        (Kind.SCALES, (-1.0, 1.0, 1.0)),
        (Kind.RGBA, (0.0, 1.0, 0.5, 1.0)),
        (Kind.NAME, "a b"),
        (Kind.NAME, "名"),
    ]
    for kind, value in fine:
        assert JUDGE[kind](value) is None, (kind, value)


def test_joint_types():
    assert READ[Kind.JOINT_TYPE]("revolute") == "revolute"
    with pytest.raises(BadText) as caught:
        READ[Kind.JOINT_TYPE]("Revolut")
    assert "did you mean 'revolute'" in caught.value.complaint.hint


@given(st.text())
def test_shown_text_is_one_line_of_bounded_length(text: str):
    shown = show(text)
    assert len(shown) <= 80 * 10
    assert len(shown.splitlines()) <= 1
    assert not any(ord(character) < 32 or ord(character) == 127 for character in shown)
    shown.encode()


def test_shown_text_keeps_what_is_readable():
    assert show("Gelenk_ä 名") == "Gelenk_ä 名"
    assert show("x" * 200) == "x" * 77 + "..."
