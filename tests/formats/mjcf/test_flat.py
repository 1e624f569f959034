"""What leads back from MuJoCo's lines to the files."""

from __future__ import annotations

import pytest

from linkwork.formats.mjcf.flatten import Flat, Stop
from linkwork.formats.mjcf.records import Place


def test_lines_that_are_none_have_no_place():
    flat = Flat(origin=[Place("a", 5), Place("b", 7)])
    assert flat.place(1) == Place("a", 5)
    assert flat.place(2) == Place("b", 7)
    assert flat.place(0) == flat.place(3) == flat.place(-1) == Place()


def test_the_first_of_like_findings_stays_and_all_are_counted():
    flat = Flat()
    for line in (3, 4, 5):
        flat.found("note", "code", f"at {line}", place=Place("a", line), element="e")
    assert flat.findings["code"].line == 3
    assert flat.counts["code"] == 3


def test_after_a_hundred_errors_reading_stops():
    flat = Flat()
    for _ in range(99):
        flat.refuse("code", "wrong", Place())
    with pytest.raises(Stop):
        flat.refuse("code", "wrong", Place())
