"""The methods of robots that solve: what they take, keep and share."""

from __future__ import annotations

import json

import numpy as np
import pytest

import linkwork as lw
from linkwork import ik
from linkwork.errors import InputError, UnknownNameError
from linkwork.solve.ik import InverseKinematics
from seeds import rng

ARMS = lw.load("two_arm_torso")
LEFT, RIGHT = "left_tool0", "right_tool0"


@pytest.fixture(scope="module")
def panda():
    return lw.load("panda")


def test_a_frame_stands_for_its_pose(panda):
    T = panda.fk(panda.random(5, seed=1), "tool0")
    named = panda.ik(T, "tool0")
    asked = panda.ik(T, tasks=ik.Pose("tool0"))
    assert named.q.tobytes() == asked.q.tobytes()
    assert list(named.errors) == ["tool0"]
    assert list(named.errors["tool0"]) == ["position", "rotation"]


def test_the_tip_is_meant_where_no_frame_is_named():
    robot = lw.load("ur5e")
    T = robot.fk(robot.random(seed=2))
    assert robot.ik(T).q.tobytes() == robot.ik(T, robot.tip).q.tobytes()
    with pytest.raises(InputError, match="links at an end"):
        ARMS.ik(np.eye(4))


def test_tasks_bring_their_targets_or_take_them_from_the_call():
    q = ARMS.random(seed=3)
    left, right = ARMS.fk(q, LEFT), ARMS.fk(q, RIGHT)
    own = ARMS.ik(tasks=[ik.Pose(LEFT, left), ik.Pose(RIGHT, right)])
    given = ARMS.ik([left, right], tasks=[ik.Pose(LEFT), ik.Pose(RIGHT)])
    mixed = ARMS.ik({RIGHT: right}, tasks=[ik.Pose(LEFT, left), ik.Pose(RIGHT)])
    assert own.success
    assert own.q.tobytes() == given.q.tobytes() == mixed.q.tobytes()
    assert set(own.errors) == {LEFT, RIGHT}
    lefts = ARMS.fk(ARMS.random(4, seed=4), LEFT)
    many = ARMS.ik([lefts, right], tasks=[ik.Pose(LEFT), ik.Pose(RIGHT)])
    assert many.success.shape == (4,)


def test_a_frame_and_tasks_exclude_each_other(panda):
    with pytest.raises(InputError, match="a frame or tasks, not both"):
        panda.ik(np.eye(4), "tool0", tasks=ik.Pose("tool0"))
    with pytest.raises(InputError, match="there is no task"):
        panda.solver(tasks=[])
    with pytest.raises(UnknownNameError, match="tool0"):
        panda.solver("tool")


def test_plain_solvers_are_kept_and_others_share_code(panda):
    assert panda.solver("tool0") is panda.solver("tool0")
    assert panda.solver("tool0", "joint1") is panda.solver("tool0", ["joint1"])
    assert panda.solver("tool0") is not panda.solver("link4")
    a, b = (panda.solver(tasks=ik.Pose("tool0", tolerance=t)) for t in (0.1, 0.2))
    assert a is not b
    assert a.programs[0] is b.programs[0]


def test_limits_objectives_and_weights_are_kept_by_the_solver(panda):
    q = panda.random(20, seed=5)
    T = panda.fk(q, "tool0")
    plain = panda.solver("tool0").solve(T)
    margin = panda.solver("tool0", limits=[ik.PositionLimit(0.05)]).solve(T)
    lower, upper = panda.limits.lower + 0.05, panda.limits.upper - 0.05
    moved = list(panda.solver("tool0").problem.moved)
    inside = ((margin.q >= lower) & (margin.q <= upper))[:, moved].all(axis=1)
    assert inside[margin.success].all()
    assert margin.success.sum() > 10
    centred = panda.solver("tool0", objectives=[ik.Centred()]).solve(T)
    assert centred.success.all()

    def off(r):
        return np.abs((2 * r.q - panda.limits.lower - panda.limits.upper)[:, moved])

    span = (panda.limits.upper - panda.limits.lower)[moved]
    assert np.mean(off(centred) / span) < np.mean(off(plain) / span)
    frozen = panda.solver("tool0", joint_weights={"joint3": 0.0})
    assert 2 not in frozen.problem.moved


def test_joints_of_small_weight_move_less():
    robot = lw.load("mobile_arm")
    q0 = robot.neutral()
    near = robot.fk(robot.integrate(q0, 0.05 * np.ones(robot.n_v)), "tool0")
    base = robot.joint_names[0]
    ways = []
    for weight in (1.0, 0.1, 0.01):
        solver = robot.solver("tool0", joint_weights={base: weight})
        result = solver.solve(near, q0)
        assert result.success
        k = robot.mechanism.q_start[robot.mechanism.joint(base)]
        ways.append(float(np.linalg.norm((result.q - q0)[k : k + 1])))
    assert ways[0] > ways[1] > ways[2] or ways[2] < 0.1 * ways[0]


# where it starts: what does not move is inside its limits

NOT_MOVED = {  # of panda, whose joint7 does not move
    "not on the path": ("link5", {}),
    "not named": ("tool0", {"joints": [f"joint{k}" for k in range(1, 7)]}),
    "fixed": ("tool0", {"fixed": "joint7"}),
    "weight 0": ("tool0", {"joint_weights": {"joint7": 0.0}}),
    "tasks": (None, {"tasks": [ik.Position("link5"), ik.Posture(priority=1)], "fixed": ["joint7"]}),
}
WAYS = {
    "one": lambda r, T, frame, q0, how: r.ik(T[0], frame, q0=q0[0], **how),
    "list": lambda r, T, frame, q0, how: r.ik(T[0].tolist(), frame, q0=q0[0].tolist(), **how),
    "many": lambda r, T, frame, q0, how: r.ik(T, frame, q0=q0, **how),
    "best": lambda r, T, frame, q0, how: r.ik(T[0], frame, q0=q0[0], best_of=3, **how),
    "all": lambda r, T, frame, q0, how: r.ik_all(T[0], frame, q0=q0[0], **how),
}


def start_and_targets(robot, frame, how):
    q = np.clip(robot.random(3, seed=6), robot.limits.lower + 0.1, robot.limits.upper - 0.1)
    if "tasks" in how:
        return q, [(p, at) for p, at in zip(robot.fk(q, "link5")[:, :3, 3], q, strict=True)]
    return q, robot.fk(q, frame)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", NOT_MOVED)
def test_a_joint_that_does_not_move_starts_inside_its_limits(panda, case, way):
    frame, how = NOT_MOVED[case]
    if case == "tasks" and way in ("list", "many"):
        pytest.skip("targets of several tasks have their own tests")
    q, targets = start_and_targets(panda, frame, how)
    upper = panda.limits.upper[6]
    for beyond, at in ((0.0, upper), (1e-9, upper), (9e-7, upper), (-0.3, upper - 0.3)):
        q0 = q.copy()
        q0[:, 6] = upper + beyond
        if case != "not on the path" and "tasks" not in how:
            targets = panda.fk(np.hstack([q0[:, :6], np.full((3, 1), at)]), frame)
        found = WAYS[way](panda, targets, frame, q0, how)
        assert np.all(found.success)
        assert np.all(found.q[..., 6] == at)
    for beyond in (1.1e-6, 0.01, 50.0):
        q0 = q.copy()
        q0[:, 6] = upper + beyond
        row = r"q0\[0\]" if way == "many" else "q0"
        text = f"{row}: joint 'joint7' does not move and is at .*, outside its limits -2.8973 to"
        with pytest.raises(InputError, match=text):
            WAYS[way](panda, targets, frame, q0, how)


def test_the_first_row_outside_is_named(panda):
    q0 = panda.random(5, seed=7)
    q0[3, 6] = -4.0
    with pytest.raises(InputError, match=r"q0\[3\]: joint 'joint7' .* is at -4, .*np\.clip\(q0"):
        panda.ik(panda.fk(panda.neutral(), "link5"), "link5", q0=q0)


def test_a_joint_that_moves_may_start_outside_and_ends_inside(panda):
    q = panda.random(20, seed=8)
    far = panda.ik(panda.fk(q, "tool0"), "tool0", q0=q + 10.0)
    assert far.success.all()
    assert ((far.q >= panda.limits.lower) & (far.q <= panda.limits.upper)).all()


def test_locking_outside_the_limits_is_refused(panda):
    with pytest.raises(InputError, match="'joint1' cannot be locked at 90, outside its limits"):
        panda.with_locked("joint1", at=90)
    with pytest.raises(InputError, match="must be finite"):
        panda.with_locked("joint1", at=np.inf)


def test_fixed_joints_stay_and_all_others_move(panda):
    q = panda.random(10, seed=9)
    T = panda.fk(q, "tool0")
    near = np.clip(q + 0.05, panda.limits.lower, panda.limits.upper)
    near[:, [0, 2]] = q[:, [0, 2]]
    found = panda.ik(T, "tool0", q0=near, fixed=["joint1", "joint3"])
    assert found.success.all()
    assert np.array_equal(found.q[:, [0, 2]], near[:, [0, 2]])
    named = panda.ik(T, "tool0", q0=near, joints=[f"joint{k}" for k in (2, 4, 5, 6, 7)])
    assert found.q.tobytes() == named.q.tobytes()
    both = panda.solver("tool0", ["joint1", "joint2", "joint4"], fixed="joint1")
    assert both.problem.moved == (1, 3)
    with pytest.raises(UnknownNameError, match="joint9"):
        panda.ik(T, "tool0", fixed="joint9")
    with pytest.raises(InputError, match="all joints are fixed"):
        panda.ik(T, "tool0", fixed=panda.joint_names)


# positions by name


@pytest.mark.slow
def test_positions_by_name_are_a_configuration(panda):
    named = {"joint2": -0.5, "joint4": -2.0, "joint6": 1.6}
    q0 = panda.configuration(named)
    T = panda.fk(q0 + 0.1, "tool0")
    for how in ({}, {"best_of": 3}, {"all_solutions": True}):
        by_name, by_order = (panda.ik(T, "tool0", q0=each, **how) for each in (named, q0))
        assert by_name.q.tobytes() == by_order.q.tobytes()
    p = T[:3, 3]
    for build in (lambda q: ik.Posture(q, priority=1), lambda q: ik.Posture(q, joints=list(named))):
        other = [named[name] for name in named] if build(named).joints else q0
        tasks = [[ik.Position("link5"), build(each)] for each in (named, other)]
        first, second = (panda.ik({"link5": p}, tasks=each, q0=named) for each in tasks)
        assert first.q.tobytes() == second.q.tobytes()
    goals = [ik.NearPosture(each) for each in (named, q0)]
    first, second = (
        panda.ik({"tool0": p}, tasks=ik.Position("tool0"), objectives=each) for each in goals
    )
    assert first.q.tobytes() == second.q.tobytes()
    control = panda.controller("tool0", dt=0.01)
    assert control.step(named, T).tobytes() == control.step(q0, T).tobytes()
    with pytest.raises(UnknownNameError, match="joint9"):
        panda.ik(T, "tool0", q0={"joint9": 0.0})


def test_positions_by_name_of_a_closed_mechanism():
    robot = lw.load("five_bar")
    q = robot.assemble({}).q
    named = dict(zip(robot.joint_names, q.tolist(), strict=True))
    again = robot.assemble({}, q0=named)
    assert again.q.tobytes() == robot.assemble({}, q0=q).q.tobytes()
    assert robot.mobility(named) == robot.mobility(q)
    first, second = (robot.singularities(each, "tool0") for each in (named, q))
    assert (first.type_1, first.type_2) == (second.type_1, second.type_2)


def test_all_solutions_are_a_method_of_their_own(panda):
    arm = lw.load("ur5e")
    T = arm.fk(arm.random(seed=2), "tool0")
    found = arm.ik_all(T, "tool0")
    assert isinstance(found, ik.AllSolutions) and found and len(found) == len(found.q) > 1
    assert len(found.free_directions) == len(found) and found.reason == "solved"
    np.testing.assert_allclose(arm.fk(found.q, "tool0"), np.tile(T, (len(found), 1, 1)), atol=1e-4)
    with pytest.warns(DeprecationWarning, match="ik_all"):
        old = arm.ik(T, "tool0", all_solutions=True)
    assert old.q.tobytes() == found.q.tobytes()
    assert len(arm.ik_all(T, "tool0", apart=np.float32(7.0))) == 1
    with pytest.raises(InputError, match="apart must be a finite number from 0, not nan"):
        arm.ik_all(T, "tool0", apart=np.nan)
    T[:3, 3] += 9.0
    none = arm.ik_all(T, "tool0", starts=20)
    assert not none and len(none) == 0 and "out of reach" in none.reason


def test_an_unknown_option_is_refused(panda):
    for call in (panda.ik, panda.ik_all, panda.solver("tool0").solve):
        with pytest.raises(TypeError, match="position_tolerence"):
            call(np.eye(4), position_tolerence=1.0)


# results

PLAIN = {"success": bool, "iterations": int, "restarts": int, "seconds": float}
PLAIN |= {"position_error": float, "rotation_error": float}


@pytest.fixture(scope="module")
def targets(panda):
    """Three targets, of which the second cannot be reached."""
    T = panda.fk(panda.random(3, seed=11), "tool0")
    T[1, :3, 3] += 5.0
    return T


def test_the_truth_of_a_result_is_its_success(panda, targets):
    reached, missed = (panda.ik(T, "tool0", tries=50) for T in targets[:2])
    assert reached
    assert not missed
    assert bool(panda.ik(targets[0], "tool0", best_of=3)) is True
    for many in (
        panda.ik(targets, "tool0", tries=50),
        panda.ik(targets[:1], "tool0"),
        panda.ik(targets[:0], "tool0"),
    ):
        with pytest.raises(ValueError, match=r"ask for result\.success\.all\(\)"):
            bool(many)


@pytest.mark.parametrize("how", [{}, {"best_of": 3}, {"seconds": 1e-3}], ids=str)
def test_a_result_of_one_target_is_of_plain_values(panda, targets, how):
    for T in targets[:2]:
        result = panda.ik(T, "tool0", tries=50, **how)
        for name, kind in PLAIN.items():
            assert type(getattr(result, name)) is kind, name
        assert {type(e) for group in result.errors.values() for e in group.values()} == {float}
        assert type(result.cost) is (float if "best_of" in how else type(None))


@pytest.mark.parametrize("how", [{}, {"best_of": 3}], ids=str)
def test_every_result_can_be_written_as_json(panda, targets, how):
    for given in (targets[0], targets[1], targets, targets[:0], targets[None]):
        result = panda.ik(given, "tool0", tries=50, **how)
        told = result.to_dict()
        assert json.loads(json.dumps(told, allow_nan=False)) == told
        assert np.array_equal(np.reshape(told["q"], result.q.shape), result.q)
        assert np.array_equal(told["success"], result.success)
        assert told["reason"] == result.reason
    found = panda.ik_all(targets[0], "tool0").to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert InverseKinematics(panda.mechanism, "link2").solve(np.eye(4)).to_dict()["seconds"] is None


def test_the_rows_of_a_result_are_results(panda, targets):
    many = panda.ik(targets[None], "tool0", tries=50, best_of=2)
    assert many.shape == (1, 3)
    rows = list(many.rows())
    assert [index for index, _ in rows] == [(0, 0), (0, 1), (0, 2)]
    for index, one in rows:
        assert one.shape == ()
        assert bool(one) is bool(many.success[index])
        assert one.q.tobytes() == many.q[index].tobytes()
        assert one.reason == many.reason_for(*index)
        assert one.cost == many.cost[index]
    single = panda.ik(targets[1], "tool0", tries=50)
    assert [one.reason for _, one in single.rows()] == [single.reason]


def test_results_of_closed_mechanisms_can_be_written_as_json():
    robot = lw.load("five_bar")
    found = robot.assemble({})
    assert found
    mobility, near = robot.mobility(), robot.singularities(found.q, "tool0")
    assert {type(near.type_1), type(near.type_2)} == {float}
    for each in (found, robot.assemblies({}), mobility, near):
        told = each.to_dict()
        assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert mobility.to_dict()["degrees_of_freedom"] == mobility.degrees_of_freedom
    many = robot.singularities(found.q[None], "tool0").to_dict()
    assert many == {"type_1": [near.type_1], "type_2": [near.type_2]}


CLOSED = ("five_bar", "gripper", "stewart", "triped_leg")  # a plane, couplings, rods, turns


@pytest.mark.slow
@pytest.mark.parametrize("name", CLOSED)
def test_what_misses_an_unreachable_target_is_assembled(name):
    robot = lw.load(name)
    frame = robot.frame_names[robot.mechanism.n_link_frames - 1]
    T = np.tile(robot.fk(robot.neutral(), frame), (20, 1, 1))
    T[:, :3, 3] += rng(f"out of reach of {name}").normal(size=(20, 3)) + 3.0
    found = robot.ik(T, frame, tries=20)
    assert not found.success.any()
    assert np.abs(robot.closure(found.q)).max() < 1e-11
    away = np.linalg.norm(robot.fk(found.q, frame)[:, :3, 3] - T[:, :3, 3], axis=-1)
    np.testing.assert_allclose(found.position_error, away, atol=1e-9)


def test_one_miss_is_assembled_as_those_of_a_batch_are():
    robot = lw.load("four_bar")
    target = robot.fk(robot.neutral(), "rocker_end")[:3, 3] + [0.05, 0.03, 0.02]
    for given in ({"tasks": ik.Position("rocker_end")}, {"tasks": [ik.Position("rocker_end")]}):
        one, many = (robot.ik(t, tries=20, **given) for t in (target, np.tile(target, (3, 1))))
        assert not one.success and not many.success.any()
        for q in (one.q, *many.q):
            assert np.abs(robot.closure(q)).max() < 1e-11
        assert "away" in one.reason
