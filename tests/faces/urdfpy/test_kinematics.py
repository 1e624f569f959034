"""Whatever is changed, the next poses are those of the robot as it is now."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from linkwork.errors import InputError
from linkwork.faces.urdfpy import URDF, Joint, JointLimit, JointMimic, Link
from linkwork.faces.urdfpy.values import EPOCH
from robots import random_tree
from seeds import rng


def same(robot: URDF) -> None:
    """The poses are those of a robot that is made anew from what it has."""
    links = [Link(link.name, None, None, None) for link in robot.links]
    joints = [
        Joint(
            j.name, j.joint_type, j.parent, j.child, axis=j.axis.copy(), origin=j.origin.copy(),
            limit=j.limit, mimic=j.mimic,
        )
        for j in robot.joints
    ]  # fmt: skip
    fresh = URDF(robot.name, links, joints)
    cfg = {name: 0.3 + 0.1 * k for k, name in enumerate(robot.actuated_joint_names)}
    expected, found = fresh.link_fk(cfg, use_names=True), robot.link_fk(cfg, use_names=True)
    assert list(expected) == list(found)
    for name, pose in expected.items():
        assert np.abs(pose - found[name]).max() < 2e-15, name


def turn(joint: Joint) -> None:
    joint.origin = joint.origin @ np.diag([-1.0, -1.0, 1.0, 1.0])


CHANGES = {
    "an entry of the origin": lambda r: r.joints[2].origin.__setitem__((0, 3), 0.7),
    "a view of the origin": lambda r: r.joints[2].origin[:3, 3].__iadd__([0.1, 0.2, 0.3]),
    "a new origin": lambda r: setattr(r.joints[1], "origin", [1, 2, 3, 0.1, 0.2, 0.3]),
    "a turned origin": lambda r: turn(r.joints[3]),
    "an origin that is no rotation": lambda r: setattr(
        r.joints[0], "origin", np.diag([2.0, 1, 1, 1])
    ),
    "a fixed joint": lambda r: setattr(r.joints[6], "origin", [1, 2, 3, 0.1, 0.2, 0.3]),
    "an entry of the axis": lambda r: r.joints[2].axis.__setitem__(slice(None), [1.0, 0, 0]),
    "a new axis": lambda r: setattr(r.joints[2], "axis", [0, 0.6, 0.8]),
    "a type": lambda r: setattr(r.joints[2], "joint_type", "prismatic"),
    "a mimic": lambda r: setattr(r.joints[2], "mimic", JointMimic("wrist_1_joint", 2.0, 0.1)),
    "a name": lambda r: setattr(r.joints[2], "name", "knee"),
}


@pytest.mark.sweep(2)
@pytest.mark.row("S2-194", "S2-147", "S2-146", "S2-143", "S2-152")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_is_seen_by_the_next_call(ur5: URDF, change):
    ur5.link_fk()
    change(ur5)
    same(ur5)
    same(ur5)


@pytest.mark.row("S2-113", "S2-114", "S2-112")
def test_a_change_of_a_coupling_is_seen(ur5: URDF):
    ur5.joints[2].mimic = JointMimic("wrist_1_joint", 2.0, 0.1)
    same(ur5)
    ur5.joints[2].mimic.multiplier = -1.0
    same(ur5)
    ur5.joints[2].mimic.offset = 0.7
    same(ur5)
    ur5.joints[2].mimic.joint = "wrist_2_joint"
    same(ur5)


def test_many_changes_one_after_another(tmp_path: Path):
    random = rng("changes")
    (tmp_path / "r.urdf").write_text(
        random_tree(random, 8, ("revolute", "prismatic", "fixed"), mimic=0.2)
    )
    robot = URDF.load(str(tmp_path / "r.urdf"))
    for _ in range(12):
        joint = robot.joints[int(random.integers(8))]
        match int(random.integers(4)):
            case 0:
                joint.origin[:3, 3] = random.normal(size=3)
            case 1:
                joint.origin = random.uniform(-3, 3, 6)
            case 2:
                joint.axis = random.normal(size=3)
            case 3:
                robot.links[int(random.integers(9))].name  # noqa: B018 -- reading changes nothing
        same(robot)


def test_a_robot_is_compiled_once_for_many_changes_of_an_origin(ur5: URDF):
    ur5.link_fk()
    core = ur5._core()
    for k in range(20):
        ur5.joints[2].origin[0, 3] = 0.01 * k
        ur5.link_fk()
        assert ur5._core() is core
    assert len(core._functions) == 2  # as it was, and with this origin as an input


def test_nothing_is_made_again_without_a_change(ur5: URDF, shapes: URDF):
    ur5.link_fk()
    core = ur5._core()
    ur5.joints[0].limit = JointLimit(1, 1)
    shapes.joints[0].axis = [1, 0, 0]  # of another robot
    ur5.joints[0].origin.sum()
    assert ur5._core() is core
    before = EPOCH.now
    for _ in range(3):
        ur5.link_fk()
        ur5.visual_geometry_fk()
    assert EPOCH.now == before


def test_what_becomes_no_robot_is_refused_until_it_is_one_again(ur5: URDF):
    before = ur5.link_fk([1, 2, 3, 4, 5, 6], link="tool0")
    ur5.joints[2].parent = "nowhere"
    for _ in range(2):
        with pytest.raises(ValueError, match="nowhere"):
            ur5.link_fk()
    ur5.joints[2].parent = "upper_arm_link"
    assert np.array_equal(ur5.link_fk([1, 2, 3, 4, 5, 6], link="tool0"), before)
    ur5.joints[2].origin[0, 0] = np.nan
    for _ in range(2):
        with pytest.raises(InputError, match="elbow_joint"):
            ur5.link_fk()


def test_threads_may_share_a_robot(ur5: URDF):
    cfgs = rng("threads").uniform(-3, 3, (40, 6))
    expected = [ur5.link_fk(cfg, link="tool0") for cfg in cfgs]
    wrong: list[int] = []

    def work() -> None:
        for _ in range(20):
            for k, cfg in enumerate(cfgs):
                if not np.array_equal(ur5.link_fk(cfg, link="tool0"), expected[k]):
                    wrong.append(k)

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
