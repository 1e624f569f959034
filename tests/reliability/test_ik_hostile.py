"""Inverse kinematics of what is hard, wrong or huge: never a lie, never a hang, only our errors.

Every answer is judged by a walk over the model in plain NumPy, not by the solver's word.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork import ik
from robots import every_joint_urdf, model_poses
from seeds import rng

POSITION, ROTATION = 1e-5, 1e-4


@cache
def model(name):
    return lw.load(every_joint_urdf() if name == "every_joint" else name)


def errors_at(m, q, frame, target):
    """How far a frame is from its target: metres, radians."""
    T = model_poses(m, q)[frame]
    turn = T[:3, :3].T @ target[:3, :3]
    chord = np.linalg.norm(turn - np.eye(3)) / np.sqrt(2.0)
    angle = 2.0 * np.arcsin(min(1.0, 0.5 * chord))
    return float(np.linalg.norm(T[:3, 3] - target[:3, 3])), float(angle)


def judge(m, frame, result, targets):
    """Success is true exactly where the pose is reached; every answer is finite and inside."""
    flat = result.q.reshape(-1, m.n_q)
    assert np.isfinite(flat).all()
    moved = [
        k
        for c in m.coordinates_moving(m.frame(frame))
        for k in range(m.q_start[c], m.q_start[c + 1])
    ]
    assert (flat[:, moved] >= m.lower[moved]).all()
    assert (flat[:, moved] <= m.upper[moved]).all()
    told = np.ravel(result.success)
    for q, success, target in zip(flat, told, targets.reshape(-1, 4, 4), strict=True):
        position, rotation = errors_at(m, q, frame, target)
        scale = 1e-12 * (1.0 + np.abs(target[:3, 3]).max())
        reached = position <= POSITION + scale and rotation <= ROTATION + 1e-7
        missed = position > POSITION - scale or rotation > ROTATION - 1e-7
        assert not success or reached
        assert success or missed


def tips(name):
    return "hand" if name == "every_joint" else "tool0"


# targets at the edge of what can be reached


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["ur5e", "panda", "scara", "puma560", "every_joint"])
def test_near_singular_targets_are_never_falsely_solved(name):
    robot, g = model(name), rng(f"near singular {name}")
    q, m = robot.random(60, seed=1), robot.mechanism
    starts = [int(m.q_start[c]) for c in np.flatnonzero(np.isfinite(m.angle_limit))]
    balls = [start + k for start in starts for k in range(4)]
    for k in range(60):  # joints at zero and right angles, exactly or nearly
        some = g.random(robot.n_q) < 0.6
        some[list(balls)] = False  # four of them are one rotation, inside its angle
        q[k, some] = g.choice([0.0, np.pi / 2, -np.pi / 2], some.sum()) + g.choice([0, 1e-9, 1e-6])
    q = np.clip(q, robot.limits.lower, robot.limits.upper)
    T = robot.fk(q, tips(name))
    moved, beside = list(robot.solver(tips(name)).problem.moved), q.copy()
    beside[:, [k for k in moved if k not in balls]] += 1e-3  # outside the limits, for some
    for q0 in (None, beside):
        result = robot.ik(T, tips(name), q0=q0, tries=100)
        judge(robot.mechanism, tips(name), result, T)
    assert result.success.mean() > 0.9


@pytest.mark.parametrize("name", ["ur5e", "panda", "every_joint"])
@pytest.mark.parametrize("inset", [0.0, 1e-12, 1e-9, 1e-6])
def test_configurations_at_their_limits_are_reached(name, inset):
    robot, g = model(name), rng(f"at limits {name} {inset}")
    lower, upper = robot.limits.lower, robot.limits.upper
    q = robot.random(40, seed=2)
    for k in range(40):
        for i in np.flatnonzero(
            (g.random(robot.n_q) < 0.5) & np.isfinite(upper) & np.isfinite(lower)
        ):
            q[k, i] = g.choice([lower[i] + inset, upper[i] - inset])
    T = robot.fk(q, tips(name))
    result = robot.ik(T, tips(name))
    judge(robot.mechanism, tips(name), result, T)
    assert result.success.mean() > 0.9
    stays = robot.ik(T, tips(name), q0=q)
    assert stays.success.all()
    assert stays.q.tobytes() == q.tobytes()


@pytest.mark.parametrize("beyond", [1e-12, 1e-9, 1e-6, 9e-6, 1.1e-5, 1e-4, 1e-2, 1.0, 1e3, 1e6])
def test_the_boundary_of_the_workspace(beyond):
    """A planar arm of two links, stretched: by less than the tolerance it is reached."""
    robot = model("planar_2r")
    reach = np.linalg.norm(robot.fk(np.zeros(2))[:3, 3])
    angles = np.linspace(-2.0, 2.0, 20)
    p = (reach + beyond) * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    solver = robot.solver(tasks=ik.Position(robot.tip))
    result = solver.solve(p, tries=40)
    reached = np.array([model_poses(robot.mechanism, q)[robot.tip][:3, 3] for q in result.q])
    error = np.linalg.norm(reached - p, axis=1)
    np.testing.assert_allclose(result.position_error, error, rtol=1e-9, atol=1e-12)
    assert not (result.success & (error > POSITION + 1e-12)).any()
    if beyond <= 9e-6:
        assert result.success.all()
    if beyond >= 1.1e-5:
        assert not result.success.any()
        assert (error < 1.05 * beyond + 1e-4).all()  # and the nearest is found
        assert "out of reach" in result.reason_for(0) or beyond <= 1e-9
    inner = solver.solve(1e-9 * p, tries=40)  # the middle, where the arm is folded
    assert not (inner.success & (inner.position_error > POSITION)).any()


def test_orientations_out_of_reach_fail_with_the_least_turn():
    robot = model("planar_2r")
    T = robot.fk(robot.random(10, seed=3))
    for angle in (1e-3, 0.5, 3.0, np.pi):
        tilted = T @ lw.pose(rpy=(angle, 0.0, 0.0))
        result = robot.ik(tilted, robot.tip, tries=20)
        assert not result.success.any()
        judge(robot.mechanism, robot.tip, result, tilted)


# mechanisms at the edge of what there is

CHAINS = {
    "one_point": '<joint name="{j}" type="revolute"><parent link="{a}"/><child link="{b}"/>'
    '<axis xyz="{axis}"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>',
    "short": '<joint name="{j}" type="revolute"><parent link="{a}"/><child link="{b}"/>'
    '<origin xyz="1e-9 0 0"/><axis xyz="{axis}"/>'
    '<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>',
    "stuck": '<joint name="{j}" type="revolute"><parent link="{a}"/><child link="{b}"/>'
    '<origin xyz="0.3 0 0.1"/><axis xyz="{axis}"/>'
    '<limit lower="0.5" upper="0.5" effort="1" velocity="1"/></joint>',
    "slides": '<joint name="{j}" type="prismatic"><parent link="{a}"/><child link="{b}"/>'
    '<axis xyz="{axis}"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>',
    "large": '<joint name="{j}" type="revolute"><parent link="{a}"/><child link="{b}"/>'
    '<origin xyz="1e6 0 0"/><axis xyz="{axis}"/>'
    '<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>',
    "parallel": '<joint name="{j}" type="continuous"><parent link="{a}"/><child link="{b}"/>'
    '<origin xyz="0.2 0 0"/><axis xyz="0 0 1"/></joint>',
    "coupled": '<joint name="{j}" type="revolute"><parent link="{a}"/><child link="{b}"/>'
    '<origin xyz="0.2 0 0"/><axis xyz="{axis}"/>{mimic}'
    '<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>',
}


@cache
def chain(kind, n=4):
    axes = ("0 0 1", "0 1 0", "1 0 0")
    joints = "".join(
        CHAINS[kind].format(
            j=f"j{k}", a=f"l{k}", b=f"l{k + 1}", axis=axes[k % 3],
            mimic='<mimic joint="j0" multiplier="-0.7" offset="0.1"/>' if k in (1, 3) else "",
        )
        for k in range(n)
    )  # fmt: skip
    links = "".join(f'<link name="l{k}"/>' for k in range(n + 1))
    return lw.load(f'<robot name="c">{links}{joints}</robot>')


@pytest.mark.sweep(1)
@pytest.mark.parametrize("kind", sorted(CHAINS))
def test_odd_chains_are_solved_or_not_but_never_falsely(kind):
    robot = chain(kind)
    m, tip = robot.mechanism, f"l{len(robot.all_joint_names)}"
    T = robot.fk(robot.random(30, seed=4), tip)
    T[20:, :3, 3] += rng(f"odd {kind}").normal(size=(10, 3))
    result = robot.ik(T, tip, tries=50)
    judge(m, tip, result, T)
    if kind != "large":  # where a tolerance of 1e-5 m is 1e-12 of the length
        assert result.success[:20].all()
    moving = robot.ik(T, tip, tries=5, q0=robot.random(30, seed=5))
    judge(m, tip, moving, T)


@pytest.mark.slow
def test_tasks_that_exclude_each_other_are_not_solved():
    robot = model("panda")
    T = robot.fk(robot.random(seed=6), "tool0")
    up = T @ lw.pose((0.0, 0.0, 0.1))
    result = robot.ik(tasks=[ik.Pose("tool0", T), ik.Pose("tool0", up)], tries=10)
    assert not result.success
    assert 0.04 < float(result.position_error) < 0.2
    same = robot.ik(
        tasks=[ik.Pose("tool0", T), ik.Pose("tool0", T), ik.Position("tool0", T[:3, 3])]
    )
    assert same.success
    judge(robot.mechanism, "tool0", same, T)


# numbers that are none, or too large


@pytest.mark.parametrize("size", [1e6, 1e12, 1e100, 1e154, 1e200, 1e300, 1.7e308])
def test_huge_coordinates_are_refused_or_not_solved(size):
    robot = model("ur5e")
    for target in (lw.pose((size, 0, 0)), lw.pose((size, -size, size))):
        try:
            result = robot.ik(target, tries=3)
        except lw.LinkworkError:
            continue
        assert not result.success
        judge(robot.mechanism, "tool0", result, target)
        assert isinstance(result.reason, str)
    slides = model("mobile_arm")
    try:
        result = slides.ik(lw.pose((size, 0, 0.5)), "tool0", tries=2)
    except lw.LinkworkError:
        return
    judge(slides.mechanism, "tool0", result, lw.pose((size, 0, 0.5)))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_and_named(value):
    robot = model("ur5e")
    T = robot.fk(robot.random(3, seed=7))
    T[1, 0, 3] = value
    with pytest.raises(lw.InputError, match=r"target \[1\]"):
        robot.ik(T)
    with pytest.raises(lw.InputError, match=r"q0\[2\]"):
        robot.ik(T[0], q0=[0, 0, value, 0, 0, 0])
    for task in (
        ik.Position("tool0"), ik.Pointing("tool0"), ik.Direction("tool0"), ik.CenterOfMass(),
    ):  # fmt: skip
        with pytest.raises(lw.InputError, match="must be a finite number"):
            robot.solver(tasks=task).solve([value, 0.0, 0.0])


HOSTILE = [
    None, 3, "T", b"T", [], {}, object(), [[]], np.zeros((4, 4)), np.zeros((3, 3)),
    np.full((4, 4), "a"), np.eye(4) * 1j, np.ones((2, 4, 4)), np.zeros((0, 3, 3)), {"tool0": None},
    {"hand": np.eye(4)}, {3: np.eye(4)}, np.ma.masked_array(np.eye(4), np.eye(4)), [np.eye(4)] * 2,
    np.eye(4, dtype=object), iter([np.eye(4)]),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(HOSTILE)))
def test_only_our_errors_come_out(k):
    robot = model("ur5e")
    two = robot.solver(tasks=[ik.Pose("tool0"), ik.Position("forearm_link")])
    for call in (
        robot.ik, two.solve, lambda x: robot.ik(np.eye(4), q0=x), robot.solver().all_solutions,
        lambda x: robot.ik(np.eye(4), tries=x), lambda x: robot.ik(np.eye(4), seconds=x, tries=1),
    ):  # fmt: skip
        try:
            call(HOSTILE[k])
        except lw.LinkworkError as error:
            assert len(str(error)) < 1000


@pytest.mark.sweep(1)
@pytest.mark.parametrize("lead", [(0,), (0, 3), (2, 0), (1, 1, 0)])
def test_empty_batches_give_empty_results(lead):
    robot = model("two_arm_torso")
    T = np.zeros((*lead, 4, 4))
    for result in (
        model("ur5e").ik(T), model("ur5e").ik(T, best_of=3),
        robot.ik([T, T], tasks=[ik.Pose("left_tool0"), ik.Pose("right_tool0")]),
        robot.ik([T, T[..., 0, :3]], tasks=[ik.Pose("left_tool0"), ik.CenterOfMass(priority=1)]),
        model("ur5e").ik(np.eye(4), q0=np.zeros((*lead, 6))),
    ):  # fmt: skip
        assert result.success.shape == lead
        assert result.q.shape[:-1] == lead
        assert result.errors
        assert result.reason == "solved"
        result.show()
