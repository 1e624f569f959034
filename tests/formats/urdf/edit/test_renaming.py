"""Other names: there and back is the same description, and every reference follows."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkwork.errors import DescriptionError, InputError, UnknownNameError
from linkwork.formats.urdf import materials
from linkwork.formats.urdf.edit import prefix, rename
from linkwork.formats.urdf.edit.records import every
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document, ExtraElement, Robot
from linkwork.formats.urdf.write import to_text
from linkwork.mechanism.from_urdf import from_urdf
from robots import (
    ALL_TYPES,
    by_name,
    every_joint_urdf,
    from_names,
    model_poses,
    random_configuration,
    random_tree,
)
from seeds import rng
from urdf_strategies import robots


def names_of(document: Document) -> dict[str, list[str]]:
    robot = document.robot
    return {
        "links": [link.name for link in robot.links],
        "joints": [joint.name for joint in robot.joints],
        "materials": list(materials.material_names(robot)),
        "transmissions": [t.name for t in robot.transmissions],
    }


def shuffled(document: Document, label: str) -> dict[str, dict[str, str]]:
    """Every name given another one, most of them the name of another thing of its kind."""
    random = rng(label)
    changes = {}
    for kind, every_name in names_of(document).items():
        names = [name for name in every_name if name]  # without one nothing can be renamed
        pool = [*names, f"new {kind}", f"<{kind}> & 'é'"]
        changes[kind] = dict(zip(names, random.permutation(pool).tolist(), strict=False))
    return changes


def inverse(changes: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    return {kind: {new: old for old, new in names.items()} for kind, names in changes.items()}


def test_there_and_back(cell: Document):
    for k in range(20):
        changes = shuffled(cell, f"rename {k}")
        there = rename(cell, robot="other", **changes)
        assert names_of(there) == {
            kind: [changes[kind][name] for name in names] for kind, names in names_of(cell).items()
        }
        back = rename(there, robot="cell", **inverse(changes))
        assert back.robot == cell.robot


def test_random_trees_there_and_back_with_the_same_kinematics():
    random = rng("renamed trees")
    for k in range(10):
        document = read(random_tree(random, 12, ALL_TYPES, mimic=0.6))
        changes = shuffled(document, f"renamed tree {k}")
        there = rename(document, **changes)
        assert rename(there, **inverse(changes)).robot == document.robot
        same_kinematics(document, there, changes["links"], changes["joints"])


def same_kinematics(
    a: Document, b: Document, links: dict[str, str], joints: dict[str, str]
) -> None:
    m, n = from_urdf(a), from_urdf(b)
    q = random_configuration(rng("same kinematics"), m)
    positions = {joints[name]: value for name, value in by_name(m, q).items()}
    poses, new = model_poses(m, q), model_poses(n, from_names(n, positions))
    for old, name in links.items():
        np.testing.assert_array_equal(poses[old], new[name])


def test_every_reference_follows(cell: Document):
    new = rename(
        cell,
        links={"arm": "upper & arm", "hand": "palm"},
        joints={"shoulder": "s1", "grip_a": "left"},
        materials={"blue": "sky", "steel": "iron"},
        transmissions={"drive": "gear"},
    )
    robot = new.robot
    assert [(j.parent, j.child) for j in robot.joints[:2]] == [
        ("base", "upper & arm"),
        ("upper & arm", "palm"),
    ]
    assert robot.joints[3].mimic is not None
    assert robot.joints[3].mimic.joint == "left"
    assert robot.transmissions[0].name == "gear"
    assert [j.name for t in robot.transmissions for j in t.joints] == ["s1", "left", "grip_b"]
    assert {m.name for m in materials.used_materials(robot)} == {"iron", "sky", "rubber"}
    texts = "".join(e.xml for e in robot.extra if isinstance(e, ExtraElement))
    for text in (
        "<gazebo reference='upper &amp; arm'>",
        '<gazebo reference="s1">',
        '<joint name="s1"><command',
        '<joint name="left"/>',
        '<param name="mimic"> left </param>',
        '<parent link="palm"/>',
    ):
        assert text in texts
    assert "<jointName>shoulder</jointName>" in texts
    (left,) = [p for p in new.problems if p.code == "name-left"]
    assert "'shoulder'" in left.message


def test_a_prefix_and_the_names_back(cell: Document):
    new = prefix(cell, "left_")
    assert new.robot.name == "cell"
    for kind, names in names_of(cell).items():
        assert names_of(new)[kind] == ["left_" + name for name in names]
    changes = {
        kind: {name: name.removeprefix("left_") for name in names}
        for kind, names in names_of(new).items()
    }
    assert rename(new, **changes).robot == cell.robot
    assert prefix(cell, "").robot == cell.robot
    references = [e.xml for e in new.robot.extra if isinstance(e, ExtraElement)]
    assert references[0].startswith("<gazebo reference='left_arm'>")


def test_a_prefix_of_every_joint_type_keeps_the_kinematics():
    document = read(every_joint_urdf())
    names = names_of(document)
    links, joints = ({n: "p/" + n for n in names[kind]} for kind in ("links", "joints"))
    same_kinematics(document, prefix(document, "p/"), links, joints)


def test_the_document_is_not_changed_and_findings_are_of_the_new_one(cell: Document):
    before = copy.deepcopy(cell)
    rename(cell, links={"arm": "x"})
    assert cell == before
    assert [p.name for p in rename(cell, joints={"wrist": "w"}).problems] == [
        p.name for p in rename(cell).problems
    ]


def test_what_cannot_be(cell: Document):
    with pytest.raises(UnknownNameError, match="nearest: arm"):
        rename(cell, links={"arn": "x"})
    with pytest.raises(UnknownNameError):
        rename(cell, joints={"arm": "x"})
    for kind, old, taken in [
        ("links", "arm", "hand"),
        ("joints", "wrist", "shoulder"),
        ("materials", "steel", "blue"),
        ("transmissions", "drive", "pinch"),
    ]:
        with pytest.raises(InputError, match=f"'{old}' cannot be renamed to '{taken}'"):
            rename(cell, **{kind: {old: taken}})
    for robot in ("", 3):
        with pytest.raises(InputError, match="give it a name"):
            rename(cell, robot=robot)
    with pytest.raises(InputError, match="a prefix is a text"):
        prefix(cell, None)


def test_a_link_and_a_joint_may_have_one_name(cell: Document):
    assert rename(cell, joints={"shoulder": "arm"}).robot.joints[0].name == "arm"


def test_names_that_no_file_could_hold_are_refused(cell: Document):
    with pytest.raises((DescriptionError, InputError)):
        rename(cell, links={"arm": "a\0b"})


def test_no_name_is_left_anywhere(cell: Document):
    """Independent of the places known: no old name is an attribute or text of any record."""
    changes = {
        kind: {name: f"N{k}{i}" for i, name in enumerate(names)}
        for k, (kind, names) in enumerate(names_of(cell).items())
    }
    old = {name for names in changes.values() for name in names}
    for record in every(rename(cell, **changes).robot):
        for field in ("name", "parent", "child", "joint", "material"):
            assert getattr(record, field, None) not in old


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(robots(), st.integers(0, 1000))
def test_any_robot_there_and_back(robot: Robot, label: int):
    document = read(to_text(robot))
    changes = shuffled(document, f"any {label}")
    there = rename(document, **changes)
    assert read(to_text(there.robot)).robot == there.robot
    assert rename(there, **inverse(changes)).robot == document.robot
    assert prefix(prefix(document, "a"), "b").robot == prefix(document, "ba").robot
