"""The plans: laid out from the table once, never changed by reading."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import fields

from linkwork.formats.urdf.plans import DOCUMENT, N_MEMOS, TAGS, Plan
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
    assert max(memos) < N_MEMOS == len(Kind)


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
