"""The text of attributes to values: plain decimal numbers and nothing else."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urdf_strategies
from linkwork.formats.urdf.convert import (
    LARGEST,
    LONGEST,
    VALUES,
    BadText,
    Kind,
    content_text,
    number_text,
    numbers,
    show,
)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_read_to_the_bit(number: float):
    assert numbers(repr(number), 1)[0].hex() == number.hex()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_as_many_as_asked_for(values: list[float]):
    text = " ".join(map(repr, values))
    assert numbers(f"\t {text}\n", len(values)) == tuple(values)
    with pytest.raises(BadText, match="needed"):
        numbers(text, len(values) + 1)


@pytest.mark.slow
@given(st.text(max_size=12))
def test_any_text_is_numbers_or_refused(text: str):
    for values in VALUES.values():
        try:
            values.judged(text)
        except BadText as bad:
            assert bad.complaint.message
            assert "\n" not in bad.complaint.message


@given(st.text("0123456789.eE+-_ \t\n infaINF,x٣", max_size=9))
def test_the_short_way_and_the_long_way_agree(text: str):
    """Short texts go through `float`; ``read`` is the rule."""
    for kind in (Kind.NUMBER, Kind.LENGTHS):
        VALUES[kind].clear()
        try:
            wanted = VALUES[kind].read(text)
        except BadText as bad:
            with pytest.raises(BadText) as caught:
                VALUES[kind].judged(text)
            assert caught.value.complaint == bad.complaint
        else:
            assert repr(VALUES[kind].judged(text)[0]) == repr(wanted)


GOOD = {"1": 1.0, "-.5": -0.5, "+2.": 2.0, "1e3": 1000.0, "1E-3": 0.001, "007": 7.0, "-0": -0.0}


@pytest.mark.parametrize("text", GOOD)
def test_forms_of_a_number(text: str):
    assert numbers(text, 1)[0].hex() == GOOD[text].hex()


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
    assert VALUES[kind].read(f"{LARGEST} 1 1")[0] == LARGEST
    with pytest.raises(BadText, match="too large"):
        VALUES[kind].read("1 1 -1e101")


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
        assert VALUES[kind].judge(value) is not None, (kind, value)
    fine = [
        (Kind.POSITIVE, 1.0),
        (Kind.NOT_NEGATIVE, 0.0),
        (Kind.SCALES, (-1.0, 1.0, 1.0)),
        (Kind.RGBA, (0.0, 1.0, 0.5, 1.0)),
        (Kind.NAME, "a b"),
        (Kind.NAME, "名"),
    ]
    for kind, value in fine:
        assert VALUES[kind].judge(value) is None, (kind, value)


def test_joint_types():
    assert VALUES[Kind.JOINT_TYPE].read("revolute") == "revolute"
    with pytest.raises(BadText) as caught:
        VALUES[Kind.JOINT_TYPE].read("Revolut")
    assert "did you mean 'revolute'" in caught.value.complaint.hint


@given(st.text())
def test_shown_text_is_one_line_of_bounded_length(text: str):
    shown = show(text)
    assert len(shown) <= 80 * 10
    assert len(shown.splitlines()) <= 1
    assert not any(ord(character) < 32 or ord(character) == 127 for character in shown)
    shown.encode()


# ---- the other way


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_written_to_the_bit_and_no_longer_than_needed(number: float):
    text = number_text(number)
    assert float(text).hex() == number.hex()
    assert len(text) <= len(repr(number))


def test_numbers_are_written_short():
    numbers = (1.0, -0.0, 1e-5, 1e22, 0.1, 1.5e300, 1e16, 123456.0)
    texts = ["1", "-0", "1e-5", "1e22", "0.1", "1.5e300", "1e16", "123456"]
    assert [number_text(number) for number in numbers] == texts


@pytest.mark.sweep(5)
@pytest.mark.parametrize("kind", Kind)
@given(data=st.data())
def test_writing_is_undone_by_reading(kind: Kind, data: st.DataObject):
    value = data.draw(urdf_strategies.VALUES[kind])
    assert repr(VALUES[kind].read(VALUES[kind].write(value))) == repr(value)


@pytest.mark.parametrize(
    "value",
    [1, True and 2, np.float32(0.5), np.int64(3), Fraction(1, 4), np.float64(0.1)],
    ids=repr,
)
def test_other_types_of_number_are_written_by_value(value: Any):
    assert float(number_text(value)) == value


@pytest.mark.parametrize(
    "value",
    [True, "1", None, 1j, [1], float("nan"), float("inf"), 10**400, 2**53 + 1, np.zeros(1), np.nan],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_no_number_is_not_written(value: Any):
    with pytest.raises(BadText):
        number_text(value)


def test_several_numbers_from_any_sequence():
    write = VALUES[Kind.LENGTHS].write
    assert {write(v) for v in ((1, 2.0, 3), [1, 2, 3], np.array([1, 2, 3]))} == {"1 2 3"}
    for wrong in (
        (1.0, 2.0),
        5.0,
        "1 2 3",
        None,
        {1, 2, 3},
        np.eye(3),
        np.float64(1),
        (1, 2, 1e101),
    ):
        with pytest.raises(BadText):
            write(wrong)
    assert VALUES[Kind.RGBA].write((0, 0, 0, 1e300)) == "0 0 0 1e300"
    with pytest.raises(BadText):
        VALUES[Kind.FACTOR].write(LARGEST * 2)


@pytest.mark.parametrize(
    "text", ["a\0", "\x1f", "\ud800", "\ufffe", "\uffff", "x" * (LONGEST + 1), 3]
)
def test_texts_that_xml_cannot_hold_are_not_written(text: Any):
    for kind in (Kind.NAME, Kind.LABEL, Kind.CONTENT):
        with pytest.raises(BadText):
            VALUES[kind].write(text)


def test_names_and_contents_have_rules_of_their_own():
    assert VALUES[Kind.LABEL].write(" ") == " " and VALUES[Kind.NAME].write("\t a") == "\t a"
    for wrong in ("", " \n"):
        with pytest.raises(BadText):
            VALUES[Kind.NAME].write(wrong)
    assert content_text("a b") == "a b" and content_text("") == ""
    for space in " \t\r\n":
        assert VALUES[Kind.CONTENT].read(f"{space}a b{space}") == "a b"
        with pytest.raises(BadText):
            content_text(f"a{space}")  # reading strips it
    for text in ("\u00a0a\u00a0", "\u0085", "\u2028\u3000"):  # no white space to XML
        assert VALUES[Kind.CONTENT].read(VALUES[Kind.CONTENT].write(text)) == text
