"""Problems: what they ask for, what moves, where numbers stand, and the parts they fall into."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, UnknownNameError
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.limits import CoupledLimit, PositionLimit, VelocityLimit
from linkwork.solve.objectives import Centred
from linkwork.solve.problem import make_problem, parts_of
from linkwork.solve.tasks import CenterOfMass, JointCoupling, Pose, Position, RelativePose
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
    with pytest.raises(InputError, match="no joint moves 'tool0': both frames are fixed to each"):
        make_problem(m, RelativePose("tool0", "wrist_3_link"))
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
    assert problem.priority0_tasks == (0, 1, 2)
    assert problem.has_secondary_goals
    assert not make_problem(m, Pose("left_tool0")).has_secondary_goals
    assert make_problem(m, Pose("left_tool0"), objectives=[Centred()]).has_secondary_goals


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


ROBOT = lw.load("humanoid")
M = ROBOT.mechanism
FEET = [Pose("left_foot"), Pose("right_foot")]
LEFT, RIGHT = "left_hip_yaw", "right_hip_yaw"


def parts(*tasks, m=M, **how):
    return parts_of(make_problem(m, list(tasks), **how))


def names(problem):
    return [task.name for task in problem.tasks]


def test_two_legs_are_two_parts_and_one_is_itself():
    found = parts(*FEET)
    assert [names(part) for part in found] == [["left_foot"], ["right_foot"]]
    whole = make_problem(M, FEET)
    assert sorted(k for part in found for k in part.moved) == list(whole.moved)
    one = make_problem(M, FEET[0])
    assert parts_of(one) == (one,)
    assert found[0].key == one.key  # the code of one leg serves the part


def test_what_shares_a_joint_stays_together():
    assert len(parts(*FEET, CenterOfMass(axes="xy"))) == 1
    assert len(parts(*FEET, m=lw.load("humanoid", base="floating").mechanism)) == 1
    hands = [Pose("left_hand"), Pose("right_hand")]
    together = parts(*hands, *FEET)
    assert [names(part) for part in together] == [
        ["left_foot"], ["right_foot"], ["left_hand", "right_hand"],
    ]  # fmt: skip
    arms = [name for name in M.joint_names if "shoulder" in name or "elbow" in name]
    assert len(parts(*hands, joints=arms)) == 2  # the torso that they share is held


def test_a_coupled_limit_ties_its_joints():
    table = [[-1.0, -1.0, 1.0], [1.0, -0.5, 0.5]]
    assert len(parts(*FEET, limits=[CoupledLimit(LEFT, RIGHT, table)])) == 1
    own = parts(*FEET, limits=[CoupledLimit(LEFT, "left_knee", table), VelocityLimit(0.1)])
    assert [[limit.name for limit in part.limits] for part in own] == [
        [f"{LEFT} by left_knee", "velocity"], ["velocity"],
    ]  # fmt: skip


def test_what_only_lower_priorities_ask_for_does_not_come_apart():
    assert len(parts(FEET[0], Pose("right_foot", priority=1))) == 1
    lower = parts(*FEET, Position("left_knee_link", priority=1))
    assert [names(part) for part in lower] == [["left_foot", "left_knee_link"], ["right_foot"]]
    assert len(parts(*FEET, objectives=[Centred()])) == 1


def test_a_task_that_nothing_moves_belongs_to_the_first_part():
    fixed = Position("head")
    legs = [name for name in M.joint_names if any(x in name for x in ("hip", "knee", "ankle"))]
    found = parts(fixed, *FEET, joints=legs)
    assert [names(part) for part in found] == [["head", "left_foot"], ["right_foot"]]


@pytest.fixture(scope="module")
def legs():
    return InverseKinematics(M, FEET)


@pytest.mark.slow
def test_the_answer_of_one_leg_does_not_depend_on_the_other(legs):
    q = ROBOT.random(30, seed=3)
    left, right = ROBOT.fk(q, "left_foot"), ROBOT.fk(q, "right_foot")
    both = legs.solve([left, right])
    assert both.success.all()
    mixed = legs.solve([left, right[::-1]])
    own = list(legs.parts[0].moved)
    assert both.q[:, own].tobytes() == mixed.q[:, own].tobytes()
    alone = InverseKinematics(M, FEET[0]).solve(left)
    assert alone.q[:, own].tobytes() == both.q[:, own].tobytes()
    assert (both.restarts >= alone.restarts).all()


@pytest.mark.slow
def test_where_one_leg_fails_the_other_is_kept(legs):
    q = ROBOT.random(seed=4)
    far = lw.pose((9.0, 0.0, 0.0))
    result = legs.solve([far, ROBOT.fk(q, "right_foot")], tries=3)
    assert not result.success
    assert result.errors["right_foot"]["position"] <= 1e-5
    assert result.errors["right_foot"]["rotation"] <= 1e-4
    assert "target of 'left_foot'" in result.reason


def test_a_joint_may_have_a_weight_for_each_of_its_velocities():
    truck = lw.load("mobile_arm")
    m = truck.mechanism
    weights = {"base": [1.0, 0.5, 0.25], "arm_1": 0.125}
    problem = make_problem(m, Pose("tool0"), joint_weights=weights)
    assert problem.joint_weights is not None
    found = dict(zip(problem.moved_v, problem.joint_weights, strict=True))
    base, arm = (m.v_indices([m.joint(name)]) for name in ("base", "arm_1"))
    assert [found[k] for k in base] == [1.0, 0.5, 0.25]
    assert [found[k] for k in arm] == [0.125]
    for wrong, said in (([1.0, 0.5], "one number or 3"), ([1.0, 0.0, 1.0], "base")):
        with pytest.raises(InputError, match=said):
            make_problem(m, Pose("tool0"), joint_weights={"base": wrong})
