"""Every record is visited, and what is not changed stays the same object."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, is_dataclass, replace
from typing import Any

from linkwork.formats.urdf.edit.records import every, rebuilt
from linkwork.formats.urdf.records import Document, ExtraElement, Joint, Mimic, Visual


def plainly(record: Any) -> Counter[int]:
    """All records inside, found without the table."""
    found: Counter[int] = Counter({id(record): 1})
    for field in fields(record):
        value = getattr(record, field.name)
        for one in value if isinstance(value, tuple) else (value,):
            if is_dataclass(one):
                found += plainly(one)
    return found


def test_every_record_is_met_once(cell: Document):
    assert Counter(map(id, every(cell.robot))) == plainly(cell.robot)
    met: Counter[int] = Counter()

    def count(record: Any) -> Any:
        met[id(record)] += 1
        return record

    assert rebuilt(cell.robot, count) is cell.robot
    assert met == plainly(cell.robot)


def test_a_change_deep_inside_makes_new_records_only_above_it(cell: Document):
    robot = cell.robot
    new = rebuilt(robot, lambda r: replace(r, offset=1.0) if isinstance(r, Mimic) else r)
    changed = [j.name for j, old in zip(new.joints, robot.joints, strict=True) if j is not old]
    assert changed == ["grip_b"]
    assert new.links is robot.links
    assert new.joints[3].mimic == Mimic("grip_a", 1.0, 1.0)


def test_none_leaves_a_record_out(cell: Document):
    drop = (ExtraElement, Visual)
    new = rebuilt(cell.robot, lambda r: None if isinstance(r, drop) else r)
    assert not [r for r in every(new) if isinstance(r, drop)]
    assert [r.name for r in every(new) if isinstance(r, Joint)] == [
        joint.name for joint in cell.robot.joints
    ]
