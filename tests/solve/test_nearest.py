"""The nearest configurations to targets that are out of reach."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import least_squares

import linkwork as lw
from linkwork.algorithms.configuration import random
from linkwork.solve.nearest import Tangent
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks import Pose
from robots import every_joint_urdf, mechanism_from
from seeds import rng

ROBOTS = {"panda": lw.load("panda"), "ur5e": lw.load("ur5e"), "mobile": lw.load("mobile_arm")}
PER_RADIAN = 0.22
"""Of the mechanism's length: the metres that count as much as a radian."""


def out_of_reach(name, count):
    """Poses above, below and around what the tool can reach; a base that drives may come below."""
    robot, g = ROBOTS[name], rng(f"out of reach {name}")
    T = robot.fk(robot.random(count, seed=3), "tool0")
    if name == "mobile":
        T[:, 2, 3] = g.uniform(1.9, 4.0, count)
        return T
    way = g.normal(size=(count, 3))
    way *= g.uniform(1.1, 4.0, (count, 1)) / np.linalg.norm(way, axis=1, keepdims=True)
    T[:, :3, 3] = way
    T[:, 2, 3] += 0.3
    return T


def judged(name, solver, target, *, turns, starts):
    """The least that SciPy finds from random starts: (whole, position alone) in metres."""
    robot, problem, g = ROBOTS[name], solver.problem, rng(f"judge {name} {target[0, 3]}")
    length = PER_RADIAN * problem.length

    def error(x):
        q = robot.neutral()
        q[list(problem.moved)] = x
        T = robot.fk(q, "tool0")
        rotation = (T[:3, :3] - target[:3, :3]).ravel() * np.sqrt(0.5) if turns else []
        return np.concatenate([(T[:3, 3] - target[:3, 3]) / length, rotation])

    lower, upper = problem.lower, problem.upper
    bounded = np.isfinite(lower)
    best = None
    for _ in range(starts):
        x0 = g.uniform(np.where(bounded, lower, -1.0), np.where(bounded, upper, 1.0))
        x0[:2] = x0[:2] if bounded[0] else target[:2, 3]
        found = least_squares(error, x0, bounds=(lower, upper), xtol=1e-10, max_nfev=200)
        best = found if best is None or found.cost < best.cost else best
    return error, np.linalg.norm(best.fun) * length, np.linalg.norm(best.fun[:3]) * length


def as_near_as_the_judge(name, kind, count, starts):
    robot, targets = ROBOTS[name], out_of_reach(name, count)
    turns = kind == "pose"
    solver = robot.solver(tasks=lw.ik.Pose("tool0", rotation="xyz" if turns else ""))
    result = solver.solve(targets)
    assert not result.success.any()
    lower, upper = robot.limits.lower, robot.limits.upper
    assert ((result.q >= lower) & (result.q <= upper)).all()
    for q, target in zip(result.q, targets, strict=True):
        error, whole, position = judged(name, solver, target, turns=turns, starts=starts)
        ours, length = error(q[list(solver.problem.moved)]), PER_RADIAN * solver.problem.length
        least = np.linalg.norm(ours) * length
        assert least < whole + 1e-3
        if least > whole - 1e-6:  # the same place: another one that is nearer as a whole may differ
            assert np.linalg.norm(ours[:3]) * length < position + 1e-3
    return solver, targets, result


@pytest.mark.parametrize(
    ("name", "kind"),
    [("panda", "pose"), pytest.param("mobile", "position", marks=pytest.mark.slow)],
)
def test_out_of_reach_it_is_as_near_as_bounded_least_squares(name, kind):
    solver, targets, result = as_near_as_the_judge(name, kind, 4, 2)
    again = solver.solve(targets[::-1], threads=2)
    assert again.q[::-1].tobytes() == result.q.tobytes()
    assert solver.solve(targets[2]).q.tobytes() == result.q[2].tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pose", "position"])
@pytest.mark.parametrize("name", list(ROBOTS))
def test_out_of_reach_it_is_as_near_as_bounded_least_squares_everywhere(name, kind):
    as_near_as_the_judge(name, kind, 6 if kind == "position" else 4, 6)


def test_what_decides_is_as_near_as_without_lower_priorities():
    robot = ROBOTS["panda"]
    point = np.array([0.9, 0.9, 0.4])
    reach = lw.ik.Position("tool0", point)
    alone = robot.ik(tasks=reach)
    both = robot.ik(tasks=[reach, lw.ik.Posture(robot.neutral(), priority=1)])
    assert not alone.success
    assert both.position_error == pytest.approx(alone.position_error, abs=1e-6)


def test_of_two_arms_the_one_that_cannot_come_is_as_near_as_alone():
    robot = lw.load("two_arm_torso")
    far, near = np.array([2.0, 1.0, 1.0]), robot.fk(robot.neutral(), "right_tool0")[:3, 3]
    hands = [lw.ik.Position("left_tool0", far), lw.ik.Position("right_tool0", near)]
    fixed = [name for name in robot.joint_names if not name.startswith(("left", "right"))]
    both = robot.ik(tasks=hands, fixed=fixed)
    alone = robot.ik(tasks=hands[0], fixed=fixed)
    assert both.errors["right_tool0"]["position"] < 1e-5
    error = both.errors["left_tool0"]["position"]
    assert error == pytest.approx(alone.position_error, abs=1e-6)


@pytest.mark.parametrize("base", ["planar", "floating"])
def test_targets_far_from_the_origin_are_solved_as_those_near_it(base):
    robot = ROBOTS["mobile"] if base == "planar" else lw.load("ur5e", base="floating")
    near = robot.fk(robot.random(60, seed=4), "tool0")
    way = rng(f"far {base}").normal(size=(60, 3))
    if base == "planar":
        way[:, 2] = 0.0
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    for metres in (1e3, 1e6):
        far = near.copy()
        far[:, :3, 3] += metres * way
        result = robot.ik(far, "tool0")
        assert result.success.all()
        assert result.restarts.max() < 20
        reached = robot.fk(result.q, "tool0")
        assert np.abs(reached[:, :3, 3] - far[:, :3, 3]).max() < 1.01e-5


def arm_at(place, rows):
    """An arm of turning joints on a base that is fixed at a place; its tool is ``tip``."""
    joints = [("fixed", place, "1 0 0"), *(("revolute", *row) for row in rows)]
    joints.append(("fixed", ".2 0 .1", "1 0 0"))
    names = ["world", *(f"l{k}" for k in range(len(rows) + 1)), "tip"]
    parts = [f'<link name="{name}"/>' for name in names]
    for k, (kind, xyz, axis) in enumerate(joints):
        parts.append(
            f'<joint name="j{k}" type="{kind}"><parent link="{names[k]}"/>'
            f'<child link="{names[k + 1]}"/><origin xyz="{xyz}"/><axis xyz="{axis}"/>'
            '<limit lower="-2.5" upper="2.5" effort="1" velocity="1"/></joint>'
        )
    return lw.load(f'<robot name="arm">{"".join(parts)}</robot>')


@pytest.mark.slow
def test_a_base_that_stands_far_from_the_origin_changes_nothing():
    rows = [("0 0 .3", "0 0 1"), (".1 0 .1", "0 1 0"), ("0 0 .5", "0 1 0"), ("0 0 .4", "1 0 0")]
    arms = [arm_at(place, rows) for place in ("0 0 0", "-1e6 3e5 2e5")]
    q = arms[0].random(60, seed=6)
    near, far = (arm.ik(arm.fk(q, "tip"), "tip", position_tolerance=1e-8) for arm in arms)
    assert near.success.all()
    assert far.success.all()
    beyond = [arm.fk(q[0], "tip")[:3, 3] + [0.0, 0.0, 3.0] for arm in arms]
    a, b = (arm.ik(tasks=lw.ik.Position("tip", at)) for arm, at in zip(arms, beyond, strict=True))
    assert a.position_error == pytest.approx(b.position_error, abs=1e-6)
    assert a.reason.split(" m out")[0] == b.reason.split(" m out")[0]


def problem_of(name: str):
    m = lw.load(name).mechanism if name != "every joint" else mechanism_from(every_joint_urdf())
    return make_problem(m, Pose(m.frame_names[-1]))


@pytest.mark.parametrize("name", ["ur5e", "mobile_arm", "every joint"])
def test_a_move_is_as_long_as_it_says_and_comes_back(name: str):
    problem = problem_of(name)
    tangent, g = Tangent(problem), rng(f"moves {name}")
    x = random(problem.mechanism, g, 50)[:, list(problem.moved)]
    moves = 1e-4 * g.normal(size=(50, len(tangent.unit)))
    there = tangent.moved(x, moves)
    length = np.linalg.norm(moves, axis=1)
    np.testing.assert_allclose(tangent.apart(there, x), length, rtol=1e-6)
    np.testing.assert_allclose(tangent.apart(tangent.moved(there, -moves), x), 0.0, atol=1e-7)
    for at, _ in tangent.quaternions:
        norms = np.linalg.norm(there[:, at : at + 4], axis=1)
        np.testing.assert_allclose(norms, 1.0, rtol=0, atol=1e-14)


def test_room_ends_at_the_limits():
    problem = problem_of("ur5e")
    tangent, g = Tangent(problem), rng("room")
    x = random(problem.mechanism, g, 20)
    lower, upper = tangent.room(x)
    m = problem.mechanism
    np.testing.assert_allclose(tangent.moved(x, lower), np.tile(m.lower, (20, 1)), atol=1e-12)
    np.testing.assert_allclose(tangent.moved(x, upper), np.tile(m.upper, (20, 1)), atol=1e-12)


def test_slope_and_bend_of_a_quadratic_score():
    problem = problem_of("ur5e")
    tangent, g = Tangent(problem), rng("bend")
    n = len(tangent.unit)
    A, b, x = g.normal(size=(n, n)), g.normal(size=n), g.normal(size=(5, n))
    H = A + A.T

    def score(points, m):
        assert len(points) == 5 * m
        return 0.5 * np.einsum("ki,ij,kj->k", points, H, points) + points @ b

    slope, bend = tangent.slope_and_bend(score, x)
    np.testing.assert_allclose(slope, (x @ H + b) * tangent.unit, atol=1e-9)
    scaled = H * np.outer(tangent.unit, tangent.unit)
    np.testing.assert_allclose(bend, np.tile(scaled, (5, 1, 1)), atol=1e-6)


# --- solutions that are part of a continuum ---

PI = np.pi
UR5E_DH = [  # d, a, alpha of each joint, as the maker gives them
    (0.1625, 0.0, PI / 2), (0.0, -0.425, 0.0), (0.0, -0.3922, 0.0),
    (0.1333, 0.0, PI / 2), (0.0997, 0.0, -PI / 2), (0.0996, 0.0, 0.0),
]  # fmt: skip
PUMA_DH = [
    (0.0, 0.0, PI / 2), (0.0, 0.4318, 0.0), (0.15005, 0.0203, -PI / 2),
    (0.4318, 0.0, PI / 2), (0.0, 0.0, -PI / 2), (0.0, 0.0, 0.0),
]  # fmt: skip


def arm_of(name, dh):
    """An arm of turning joints, each followed by the fixed part of its row."""
    parts = ["<link name='base'/>"]
    parent, origin = "base", "<origin xyz='0 0 0'/>"
    for k, (d, a, alpha) in enumerate(dh):
        parts.append(
            f"<link name='l{k}'/><joint name='j{k}' type='revolute'><parent link='{parent}'/>"
            f"<child link='l{k}'/>{origin}<axis xyz='0 0 1'/>"
            "<limit lower='-6.3' upper='6.3' effort='1' velocity='1'/></joint>"
        )
        parent, origin = f"l{k}", f"<origin xyz='{a} 0 {d}' rpy='{alpha!r} 0 0'/>"
    parts.append(
        f"<link name='tip'/><joint name='end' type='fixed'><parent link='{parent}'/>"
        f"<child link='tip'/>{origin}</joint>"
    )
    return lw.load(f"<robot name='{name}'>{''.join(parts)}</robot>")


UR5E, PUMA = arm_of("ur5e_dh", UR5E_DH), arm_of("puma_560", PUMA_DH)


def link(row, angle):
    """The pose of one joint's row at an angle."""
    d, a, alpha = row
    c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(alpha), np.sin(alpha)
    return np.array(
        [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]]
    )


def chain(dh, angles):
    T = np.eye(4)
    for row, angle in zip(dh, angles, strict=False):
        T = T @ link(row, angle)
    return T


def puma_solutions(T):
    """Arm by position, wrist by orientation: (q, whether the wrist is in line) of every branch."""
    (d3, a3, _), a2, d4 = PUMA_DH[2], PUMA_DH[1][1], PUMA_DH[3][0]
    x, y, z = T[:3, 3]
    side = np.arcsin(d3 / np.hypot(x, y))
    for q1 in (np.arctan2(y, x) + side, np.arctan2(y, x) + PI - side):
        out = np.cos(q1) * x + np.sin(q1) * y
        cosine = (out**2 + z**2 - a2**2 - a3**2 - d4**2) / (2.0 * a2 * np.hypot(a3, d4))
        for sign in (1.0, -1.0):
            q3 = sign * np.arccos(cosine) - np.arctan2(d4, a3)
            along = a2 + a3 * np.cos(q3) - d4 * np.sin(q3)
            across = a3 * np.sin(q3) + d4 * np.cos(q3)
            arm = [q1, np.arctan2(z, out) - np.arctan2(across, along), q3]
            R = chain(PUMA_DH, arm)[:3, :3].T @ T[:3, :3]
            q5 = np.arctan2(np.hypot(R[0, 2], R[1, 2]), R[2, 2])
            for flip in (1.0, -1.0):
                q4 = np.arctan2(-flip * R[1, 2], -flip * R[0, 2])
                q6 = np.arctan2(-flip * R[2, 1], flip * R[2, 0])
                yield np.array([*arm, q4, flip * q5, q6]), abs(np.sin(q5)) < 1e-6


def ur5e_solutions(T):
    """Shoulder, wrist, then the three parallel joints in their plane."""
    d4, d6 = UR5E_DH[3][0], UR5E_DH[5][0]
    a2, a3 = UR5E_DH[1][1], UR5E_DH[2][1]
    wrist = T[:3, 3] - d6 * T[:3, 2]
    turn = np.arccos(d4 / np.hypot(*wrist[:2]))
    for side in (1.0, -1.0):
        q1 = np.arctan2(wrist[1], wrist[0]) + side * turn + PI / 2
        across = np.array([np.sin(q1), -np.cos(q1), 0.0])
        q5 = np.arccos(np.clip((across @ T[:3, 3] - d4) / d6, -1.0, 1.0))
        for flip in (1.0, -1.0):
            x, y = across @ T[:3, 0], across @ T[:3, 1]
            q6 = np.arctan2(-flip * y, flip * x)
            last = link(UR5E_DH[4], flip * q5) @ link(UR5E_DH[5], q6)
            M = np.linalg.inv(link(UR5E_DH[0], q1)) @ T @ np.linalg.inv(last)
            p = M[:3, 3]
            cosine = (p[0] ** 2 + p[1] ** 2 - a2**2 - a3**2) / (2.0 * a2 * a3)
            if abs(cosine) > 1.0 and abs(np.sin(q5)) > 1e-6:
                continue
            for elbow in (1.0, -1.0):
                q3 = elbow * np.arccos(np.clip(cosine, -1.0, 1.0))
                q2 = np.arctan2(p[1], p[0]) - np.arctan2(a3 * np.sin(q3), a2 + a3 * np.cos(q3))
                q4 = np.arctan2(M[1, 0], M[0, 0]) - q2 - q3
                yield np.array([q1, q2, q3, q4, flip * q5, q6]), abs(np.sin(q5)) < 1e-6


ARMS = {"puma": (PUMA, PUMA_DH, puma_solutions), "ur5e": (UR5E, UR5E_DH, ur5e_solutions)}


def turns_apart(a, b):
    return np.abs((a - b + PI) % (2.0 * PI) - PI).max(axis=-1)


def poses(name, count, **fixed):
    """Poses of an arm, some of its joints at given angles, that are singular in no other way."""
    g = rng(f"families {name} {fixed}")
    while count:
        q = g.uniform(-PI, PI, 6)
        for joint, angle in fixed.items():
            q[int(joint[1:])] = angle
        robot, dh, solutions = ARMS[name]
        T = robot.fk(q, "tip")
        np.testing.assert_allclose(T, chain(dh, q), atol=1e-12)
        with np.errstate(invalid="ignore"):
            found = list(solutions(T))
        alone = np.array([q for q, in_line in found if not in_line])
        if not alone.size:
            continue
        sizes = np.linalg.svd(robot.jacobian(alone, "tip"), compute_uv=False)
        near = [turns_apart(a, b) for a, b in itertools.combinations(alone, 2)]
        if sizes[:, -1].min() > 0.02 and min(near) > 0.05:  # far from any other singularity
            count -= 1
            yield q, T, alone


def every_one_is_found(solver, T, alone):
    result = solver.all_solutions(T)
    dims = np.array([len(each) for each in result.free_directions])
    single = result.q[dims == 0]
    assert len(single) == len(alone)
    for row in alone:
        assert turns_apart(single, row).min() < 1e-6
    return result, dims


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", list(ARMS))
def test_a_random_pose_has_the_solutions_of_the_closed_form(name):
    solver, counts = ARMS[name][0].solver("tip"), set()
    for _, T, alone in poses(name, 20):
        _, dims = every_one_is_found(solver, T, alone)
        assert not dims.any()
        counts.add(len(alone))
    assert 8 in counts


def test_a_spherical_wrist_in_line_is_one_family_beside_six_that_stand_alone():
    solver = PUMA.solver("tip")
    for q, T, alone in poses("puma", 10, q4=0.0):
        assert len(alone) == 6
        result, dims = every_one_is_found(solver, T, alone)
        assert sorted(dims) == [0] * 6 + [1]
        place = int(dims.argmax())
        (way,) = result.free_directions[place]
        np.testing.assert_allclose(abs(way @ [0, 0, 0, 1, 0, -1]), np.sqrt(2.0), atol=1e-5)
        assert turns_apart(result.q[place][[0, 1, 2, 4]], q[[0, 1, 2, 4]]) < 1e-6


def test_axes_in_line_of_an_arm_with_parallel_joints_are_families_beside_all_others():
    solver = UR5E.solver("tip")
    for q, T, alone in poses("ur5e", 6, q4=0.0):
        result, dims = every_one_is_found(solver, T, alone)
        families = np.flatnonzero(dims)
        assert 1 <= len(families) <= 2  # the elbow may be above and below, or pass from one to both
        assert dims.max() == 1
        assert np.abs(np.sin(result.q[families, 4])).max() < 1e-6
        assert turns_apart(result.q[families, 0], q[0]) < 1e-6
        for place in families:
            (way,) = result.free_directions[place]
            moved = result.q[place] + 1e-4 * way
            assert np.abs(UR5E.fk(moved, "tip") - T).max() < 1e-7  # to second order there as well
            assert np.linalg.norm(way) == pytest.approx(1.0)


def test_a_stretched_arm_is_singular_and_stands_alone():
    robot = lw.load("planar_2r")
    solver = robot.solver(tasks=lw.ik.Position(robot.tip, axes="xy"))
    target = robot.fk([0.4, 0.0], robot.tip)[:3, 3]
    result = solver.all_solutions(target)
    assert result.q.shape == (1, 2)
    assert [len(each) for each in result.free_directions] == [0]


def test_freedom_that_is_left_anyway_is_told_of_each_sample():
    robot = lw.load("planar_2r")
    found = robot.solver(tasks=lw.ik.Position(robot.tip, axes="x")).all_solutions([0.7, 0.0, 0.0])
    assert len(found.q) > 10
    for q, directions in zip(found.q, found.free_directions, strict=True):
        assert directions.shape == (1, 2)
        J = robot.jacobian(q, robot.tip)[0]
        assert abs(J @ directions[0]) < 1e-4


def test_several_priorities_have_no_directions():
    robot = lw.load("planar_2r")
    reach = lw.ik.Position(robot.tip, [0.7, 0.3, 0.0], axes="xy")
    both = [reach, lw.ik.Posture(robot.neutral(), priority=1)]
    assert robot.ik_all(tasks=both).free_directions is None
    none = robot.ik_all(tasks=lw.ik.Position(robot.tip, [9.0, 0.0, 0.0], axes="xy"))
    assert none.free_directions == ()
