"""What a problem moves, holds and refuses; its names, turns and lengths."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, UnknownNameError
from linkwork.solve.limits.position import PositionLimit
from linkwork.solve.objectives import Centred
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks.center_of_mass import CenterOfMass
from linkwork.solve.tasks.joint_coupling import JointCoupling
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.tasks.position import Position
from robots import mechanism_from


def mechanism(name, **kwargs):
    return lw.load(name, **kwargs).mechanism


def chain(*joints: str) -> str:
    """A robot whose joints, given as type and what else they hold, follow each other along z."""
    text = "".join(
        f'<link name="l{k}"/><joint name="j{k}" type="{kind.split()[0]}"><parent link="l{k}"/>'
        f'<child link="l{k + 1}"/><origin xyz="0.3 0 0.1"/><axis xyz="0 1 0"/>'
        f"{' '.join(kind.split()[1:])}</joint>"
        for k, kind in enumerate(joints)
    )
    return f'<robot name="c">{text}<link name="l{len(joints)}"/></robot>'


def test_by_default_all_joints_between_base_and_frame():
    m = mechanism("two_arm_torso")
    tips = [name for name in m.frame_names if "left" in name and "tool" in name]
    problem = make_problem(m, Pose(tips[0]))
    names = [m.joint_names[c] for c in problem.coordinates]
    assert not any("right" in name for name in names)
    assert len(names) >= 8
    assert problem.held == ()


def test_named_joints_move_and_the_others_on_the_path_are_held():
    m = mechanism("ur5e")
    problem = make_problem(m, Pose("tool0"), joints=m.joint_names[:4])
    assert problem.moved == (0, 1, 2, 3)
    assert problem.held == (4, 5)
    assert make_problem(m, Pose("tool0"), joints=m.joint_names[2]).moved == (2,)


def test_a_floating_base_moves_too():
    m = mechanism("quadruped", base="floating")
    foot = next(name for name in m.frame_names if "foot" in name)
    problem = make_problem(m, Pose(foot))
    assert len(problem.moved) == 7 + 3
    assert len(problem.moved_v) == 6 + 3
    assert problem.floats


def test_what_cannot_be_moved_is_refused_by_name():
    m = mechanism("ur5e")
    with pytest.raises(InputError, match="no joint moves 'base_link': fixed to the base"):
        make_problem(m, Pose("base_link"))
    with pytest.raises(InputError, match=r"wrist_3_joint moves nothing.*these do: shoulder"):
        make_problem(m, Pose("forearm_link"), joints=["wrist_3_joint"])
    with pytest.raises(UnknownNameError, match="tool0"):
        make_problem(m, Pose("tool9"))
    with pytest.raises(UnknownNameError, match="wrist_3_joint"):
        make_problem(m, Pose("tool0"), joints=["wrist_9_joint"])
    with pytest.raises(InputError, match="joints is empty"):
        make_problem(m, Pose("tool0"), joints=[])


def test_what_is_no_task_is_refused():
    m = mechanism("ur5e")
    with pytest.raises(InputError, match="there is no task"):
        make_problem(m, [])
    with pytest.raises(InputError, match="'tool0' is none"):
        make_problem(m, ["tool0"])  # pyright: ignore - what is refused
    with pytest.raises(InputError, match="tasks must be one or several"):
        make_problem(m, Pose)  # pyright: ignore - what is refused
    with pytest.raises(InputError, match="limits must be one or several"):
        make_problem(m, Pose("tool0"), limits=3)  # pyright: ignore - what is refused
    with pytest.raises(InputError, match="joint_weights must be a mapping"):
        make_problem(m, Pose("tool0"), joint_weights=[1.0])  # pyright: ignore - what is refused
    with pytest.raises(InputError, match="priority 0"):
        make_problem(m, Pose("tool0", priority=1))


def test_reversed_limits_are_refused():
    m = mechanism_from(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="1" upper="-1" effort="1" velocity="1"/></joint></robot>'
    )
    with pytest.raises(InputError, match="'j' has its lower limit above"):
        make_problem(m, Pose("b"))


def test_tasks_are_ordered_by_priority_and_alike_names_get_numbers():
    m = mechanism("two_arm_torso")
    low = Position("left_tool0", priority=2)
    problem = make_problem(m, [low, Pose("left_tool0"), Pose("right_tool0"), Pose("left_tool0")])
    assert problem.order == ("left_tool0", "left_tool0_2", "right_tool0", "left_tool0_3")
    assert [t.name for t in problem.tasks][-1] == "left_tool0"
    assert problem.levels == ((0, 1, 2), (3,))
    assert problem.deciding == (0, 1, 2)
    assert problem.improves
    assert not make_problem(m, Pose("left_tool0")).improves
    assert make_problem(m, Pose("left_tool0"), objectives=[Centred()]).improves


def test_weights_of_joints_freeze_and_are_spread_over_velocities():
    m = mechanism("ur5e")
    weights = {m.joint_names[0]: 0.0, m.joint_names[2]: 0.25}
    problem = make_problem(m, Pose("tool0"), joint_weights=weights)
    assert problem.moved == (1, 2, 3, 4, 5)
    assert problem.held == (0,)
    assert problem.joint_weights == (1.0, 0.25, 1.0, 1.0, 1.0)
    floating = mechanism("quadruped", base="floating")
    foot = next(name for name in floating.frame_names if "foot" in name)
    base = floating.joint_names[0]
    found = make_problem(floating, Pose(foot), joint_weights={base: 0.1}).joint_weights
    assert found == (0.1,) * 6 + (1.0,) * 3


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "a", None])
def test_weights_that_are_none_are_refused(value):
    m = mechanism("ur5e")
    with pytest.raises(InputError, match=r"joint_weights\['elbow_joint'\]"):
        make_problem(m, Pose("tool0"), joint_weights={"elbow_joint": value})


def test_weights_of_all_joints_zero_are_refused():
    m = mechanism("ur5e")
    with pytest.raises(InputError, match="fixed, or frozen by weights of 0"):
        make_problem(m, Pose("tool0"), joint_weights=dict.fromkeys(m.joint_names, 0.0))
    with pytest.raises(UnknownNameError):
        make_problem(m, Pose("tool0"), joint_weights={"elbow": 1.0})


def test_problems_of_the_same_structure_have_the_same_key():
    m = mechanism("ur5e")

    def key(*tasks, **how):
        return make_problem(m, list(tasks) or Pose("tool0"), **how).key

    same = [
        key(Pose("tool0", np.eye(4))),
        key(Pose("tool0", tolerance=0.1)),
        key(Pose("tool0", weight=3.0, name="hand")),
    ]
    assert set(same) == {key()}
    others = [
        key(Pose("tool0", position="xy")),
        key(Pose("tool0", slack=0.1)),
        key(Pose("tool0"), Position("forearm_link", priority=1)),
        key(Pose("tool0"), Position("forearm_link")),
        key(joints=m.joint_names[:5]),
        key(limits=[PositionLimit(0.1)]),
        key(objectives=[Centred()]),
        key(joint_weights={"elbow_joint": 0.5}),
    ]
    assert len({*others, key()}) == len(others) + 1


def test_a_problem_survives_pickling():
    m = mechanism("two_arm_torso")
    tasks = [Pose("left_tool0", np.eye(4)), Position("right_tool0", priority=1)]
    problem = make_problem(
        m, tasks, limits=[PositionLimit(0.01)], joint_weights={m.joint_names[0]: 0.5}
    )
    again = pickle.loads(pickle.dumps(problem))
    assert again.key == problem.key
    assert again.layout == problem.layout
    assert again.order == problem.order
    np.testing.assert_array_equal(again.tasks[0].target, problem.tasks[0].target)


def test_angles_without_limits_wrap():
    problem = make_problem(mechanism("mobile_arm"), Pose(lw.load("mobile_arm").frame_names[-1]))
    assert problem.wraps.dtype == bool
    assert (problem.is_angle | ~problem.wraps).all()
    assert problem.wraps.any()


def test_turns_that_something_counts_are_not_wrapped():
    free = mechanism_from(chain("continuous", "continuous"))
    assert make_problem(free, Pose("l2")).wraps.all()
    coupled = make_problem(free, [Pose("l2"), JointCoupling("j1", "j0", ratio=0.5)])
    assert not coupled.wraps.any()
    follower = '<mimic joint="j0" multiplier="0.5"/>'
    for text, wraps in ((follower, False), (follower.replace("0.5", "2"), True)):
        m = mechanism_from(chain("continuous", f"continuous {text}"))
        assert make_problem(m, Pose("l2")).wraps.tolist() == [wraps]
    slide = mechanism_from(
        chain("continuous", 'prismatic <mimic joint="j0"/><limit effort="1" velocity="1"/>')
    )
    assert not make_problem(slide, Pose("l2")).same_turns.any()


def test_the_length_bounds_the_reach():
    robot = lw.load("planar_2r")
    problem = make_problem(robot.mechanism, Pose(robot.tip))
    reach = np.linalg.norm(robot.fk(robot.random(2000, seed=0))[:, :3, 3], axis=1).max()
    assert reach <= problem.length + 1e-12
    assert problem.length <= reach * 1.05


def test_a_length_of_nothing_counts_as_a_metre():
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/></joint></robot>'
    )
    assert make_problem(mechanism_from(text), Pose("b")).length == 1.0
    assert make_problem(mechanism("humanoid"), CenterOfMass()).length > 0.5
