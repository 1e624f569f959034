"""The plans: laid out from the table once, never changed by reading."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import fields

import pytest

from linkwork.formats.urdf import plans as module
from linkwork.formats.urdf.convert import READ, BadText
from linkwork.formats.urdf.plans import DOCUMENT, TAGS, Memo, Plan, new_memos
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.schema import Kind


def plans(plan: Plan = DOCUMENT) -> Iterator[Plan]:
    yield plan
    for branch in plan.children.values():
        yield from plans(branch.plan)


def test_a_record_begins_its_list_in_the_order_of_its_fields():
    for plan in plans():
        if plan.record:
            names = [f.name for f in fields(plan.record)]
            assert plan.n_fields == len(names)
            assert names[plan.line] == "line"
            assert names[plan.extra] == "extra"
            for name, place in plan.places.items():
                assert names[place.index] == (place.attribute.field or name)


def test_hidden_places_are_distinct_and_behind_the_fields():
    for plan in plans():
        if plan.record:
            hidden = [plan.count, *{branch.seen for branch in plan.children.values()}]
            assert len(set(hidden)) == len(hidden)
            assert min(hidden) >= plan.n_fields
            assert max(hidden) < len(plan.template)


def test_every_kind_has_a_memory_of_its_own():
    memos = {place.memo: place.attribute.kind for plan in plans() for place in plan.places.values()}
    assert len(set(memos.values())) == len(memos)
    assert all(new_memos()[k].read is READ[kind] for k, kind in memos.items())
    assert len(new_memos()) == len(Kind)
    for plan in plans():
        assert plan.ways == {name: (p.index, p.memo) for name, p in plan.places.items()}


def test_a_memory_reads_each_text_once_and_keeps_no_odd_value(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    memo = Memo(Kind.NOT_NEGATIVE)
    memo.read = lambda text: (asked.append(text), READ[Kind.NUMBER](text))[1]
    assert memo["1"] == memo["1"] == 1.0 and asked == ["1"]
    for text in ("-1", "x", "-1", "x"):
        with pytest.raises(BadText):
            memo[text]
    assert asked == ["1", "-1", "x", "-1", "x"] and dict(memo) == {"1": 1.0}
    monkeypatch.setattr(module, "_MOST", 3)
    assert [memo[str(k)] for k in range(9)] == list(range(9))
    assert len(memo) <= 3


def test_reading_does_not_change_the_plans():
    before = [copy.deepcopy(plan.template) for plan in plans()]
    text = (
        '<robot name="r" colour="red"><link name="a"><visual><geometry><box size="1 1 1"/>'
        "</geometry></visual><gazebo/></link><odd/></robot>"
    )
    assert read(text).robot == read(text).robot
    assert [plan.template for plan in plans()] == before


def test_the_tags_are_known():
    assert {"robot", "link", "origin", "ixx"} & TAGS == {"robot", "link", "origin"}
