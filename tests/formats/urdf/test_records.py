"""The records: values that compare by what they say, not by where they say it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from linkwork.formats.urdf import records
from linkwork.formats.urdf.records import Box, ExtraElement, Joint, Link, Robot

RECORDS = [r for r in vars(records).values() if is_dataclass(r) and r is not records.Finding]


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: r.__name__)
def test_records_are_small_and_have_no_dict(record: type):
    assert "__slots__" in vars(record)
    assert all(f.name == "problems" or f.init for f in fields(record))


def test_records_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        setattr(Link("a"), "name", "b")  # noqa: B010 -- a plain assignment pyright refuses


def test_place_does_not_count_but_content_does():
    assert Link("a", line=3) == Link("a", line=9)
    assert hash(Link("a", line=3)) == hash(Link("a", line=9))
    assert Robot("r", file="x") == Robot("r", file="y")
    assert ExtraElement("robot", "a", "<a/>", position=1) == ExtraElement("robot", "a", "<a/>")
    assert Link("a") != Link("b")
    assert Box((1.0, 1.0, 1.0)) != Box((1.0, 1.0, 2.0))


def test_defaults_are_those_of_the_standard():
    joint = Joint("j", "revolute", "a", "b")
    assert (joint.xyz, joint.rpy, joint.axis) == ((0, 0, 0), (0, 0, 0), (1, 0, 0))
    assert joint.limit is None
    assert records.Limit().lower is None
    assert (records.Mimic("j").multiplier, records.Mimic("j").offset) == (1.0, 0.0)
