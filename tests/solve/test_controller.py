"""Controllers: steps inside all limits, towards their targets."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import linkwork as lw
from ik_solving import rows_of
from linkwork.compile.cache import Cache
from linkwork.compile.compiler import Compiler
from linkwork.errors import (
    InputError,
    LinkworkError,
    ShapeError,
    UnknownNameError,
    UnsupportedFeatureError,
)
from linkwork.models import MODELS
from linkwork.ops.numpy import NUMPY
from linkwork.solve.control_step import Box, controlled, done_within, gone_within, step_recipe
from linkwork.solve.controller import Controller
from linkwork.solve.expressions import Level
from linkwork.solve.inputs import Options, settings_of
from linkwork.solve.joint_update import JointUpdate
from linkwork.solve.limits import AccelerationLimit, VelocityLimit
from linkwork.solve.objectives import Centred, Manipulable, NearPosture
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks import Orientation, Pose, Position, Posture
from robots import every_joint_urdf, mechanism_from
from seeds import rng

DT = 0.002


@pytest.fixture(scope="module")
def robot():
    return lw.load("panda")


@pytest.fixture(scope="module")
def compiler(tmp_path_factory):
    """Controllers of one structure share their code."""
    return Compiler(cache=Cache(tmp_path_factory.mktemp("code")))


@pytest.fixture(scope="module")
def control(robot, compiler):
    return Controller(robot.mechanism, "tool0", dt=DT, compiler=compiler)


def middling(robot, n, label):
    """Configurations well inside the limits."""
    m = robot.mechanism
    middle, half = 0.5 * (m.lower + m.upper), 0.5 * (m.upper - m.lower)
    return middle + 0.5 * half * rng(label).uniform(-1.0, 1.0, (n, m.n_q))


def error(robot, q, T):
    return np.abs(robot.fk(q, "tool0") - T).max(axis=(-1, -2))


@pytest.mark.slow
def test_near_targets_are_reached_to_the_last_digits(robot, control):
    q = middling(robot, 200, "near")
    T = robot.fk(q + 0.03 * rng("by").uniform(-1.0, 1.0, q.shape), "tool0")
    for _ in range(60):
        q = control.step(q, T)
    assert (error(robot, q, T) < 1e-12).mean() > 0.98  # but next to singularities


@pytest.mark.sweep(1)
@pytest.mark.parametrize("dt", [1e-6, 1e-3, 0.1, 10.0])
def test_positions_and_velocities_stay_within_limits_exactly(robot, compiler, dt):
    m = robot.mechanism
    control = Controller(m, "tool0", dt=dt, compiler=compiler)
    q, T = robot.random(200, seed=1), robot.fk(robot.random(200, seed=2), "tool0")
    for _ in range(100):
        after, v = control.step(q, T), control.velocity(q, T)
        assert ((after >= m.lower) & (after <= m.upper)).all()
        assert (np.abs(after - q) <= m.velocity_limit * dt).all()
        assert (np.abs(v) <= m.velocity_limit).all()
        np.testing.assert_allclose(q + v * dt, after, atol=1e-14)
        q = after


def test_a_far_target_is_gone_to_straight(robot, control):
    q = middling(robot, 100, "straight")
    away = rng("away").normal(size=(100, 3))
    T = robot.fk(q, "tool0").copy()
    T[:, :3, 3] += 0.2 * away / np.linalg.norm(away, axis=1, keepdims=True)
    after = control.step(q, T)
    J = robot.jacobian(q, "tool0")
    twist = np.einsum("nij,nj->ni", J, after - q)
    good = np.linalg.svd(J, compute_uv=False)[:, -1] > 0.05
    assert good.sum() > 50
    way = T[:, :3, 3] - robot.fk(q, "tool0")[:, :3, 3]
    cosine = (twist[:, :3] * way).sum(axis=1) / (
        np.linalg.norm(twist[:, :3], axis=1) * np.linalg.norm(way, axis=1)
    )
    assert np.quantile(cosine[good], 0.1) > 0.9999
    # and as fast as some joint allows
    used = (np.abs(after - q) / (robot.mechanism.velocity_limit * DT)).max(axis=1)
    assert (used[good] > 1.0 - 1e-9).all()


@pytest.mark.sweep(1)
@pytest.mark.parametrize("beyond", [0.0, 0.1, 1.0])
def test_targets_out_of_reach_are_approached_without_shaking(robot, control, beyond):
    q = middling(robot, 50, "shaking")
    T = robot.fk(q, "tool0").copy()
    way = T[:, :3, 3] - robot.fk(q, "link2")[:, :3, 3]
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    T[:, :3, 3] += (1.0 + beyond) * way
    for _ in range(4000):
        q = control.step(q, T)
    last = np.abs(control.step(q, T) - q).max(axis=1)
    assert np.quantile(last, 0.9) < 1e-5


def lower_goals(goal, q):
    """Tasks or objectives below a position, and the targets that these take."""
    if goal == "posture":
        return {"tasks": [Position("tool0"), Posture(priority=1)]}, {"posture": q}
    if goal == "orientation":
        return {"tasks": [Position("tool0"), Orientation("tool0", np.eye(3), priority=1)]}, {}
    return {"tasks": Position("tool0"), "objectives": Centred()}, {}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("goal", ["posture", "orientation", "centred"])
@pytest.mark.parametrize("name", ["panda", "ur5e"])
def test_what_is_less_important_shakes_no_arm_that_is_stretched_to_its_target(name, goal):
    arm = lw.load(name)
    q = middling(arm, 12, "stretched")
    given, targets = lower_goals(goal, q[0])
    far = arm.fk(q, "tool0")[:, :3, 3]
    far *= 2.0 / np.linalg.norm(far, axis=1, keepdims=True)  # the arms are 1.3 m long
    control = arm.controller(dt=0.01, **given)
    for _ in range(1500):
        before, q = q, control.step(q, {"tool0": far, **targets})
    # it was the velocity limit, to and fro
    assert np.abs(q - before).max() < 2e-3
    assert np.quantile(np.abs(q - before).max(axis=1), 0.8) < 2e-4


@pytest.mark.slow
@pytest.mark.parametrize("way", [[0.1, 0.0, 0.1], [0.1, 0.0, 0.0], [0.1, 0.0, 0.2]])
def test_several_joints_that_stand_at_limits_do_not_stop_a_lower_priority(way):
    """A humanoid's knees are stretched, at their limits, and the hand's way would bend them."""
    person = lw.load("humanoid", base="floating")
    q = stand = person.neutral()
    feet = [Pose(foot, person.fk(stand, foot)) for foot in ("left_foot", "right_foot")]
    control = person.controller(tasks=[*feet, Position("right_hand", priority=1)], dt=0.01)
    goal = person.fk(stand, "right_hand")[:3, 3] + way
    for _ in range(300):
        q = control.step(q, {"right_hand": goal})
    assert np.linalg.norm(person.fk(q, "right_hand")[:3, 3] - goal) < 1e-6
    for foot, task in zip(("left_foot", "right_foot"), feet, strict=True):
        np.testing.assert_allclose(person.fk(q, foot), task.target, atol=1e-3)


@pytest.mark.slow
def test_objectives_improve_while_the_task_stays_done(robot):
    m = robot.mechanism
    q0 = middling(robot, 60, "objectives")
    T = robot.fk(q0, "tool0")

    def log_manipulability(q):
        return np.log(np.linalg.svd(robot.jacobian(q, "tool0"), compute_uv=False)).sum(axis=-1)

    def distance(q):
        return -np.linalg.norm(q - q0[::-1].mean(axis=0), axis=-1)

    cases = [
        (NearPosture(q0[::-1].mean(axis=0), weight=0.5), distance),
        (Manipulable("tool0", weight=0.5), log_manipulability),
    ]
    for objective, value in cases:
        control = Controller(m, "tool0", dt=0.01, objectives=[objective])
        q = q0
        for _ in range(400):
            q = control.step(q, T)
        assert np.quantile(error(robot, q, T), 0.9) < 1e-4
        assert (value(q) > value(q0) - 1e-6).mean() > 0.95
        assert np.median(value(q) - value(q0)) > 1e-3


def test_acceleration_is_limited_and_the_next_step_always_possible(robot):
    m = robot.mechanism
    a, dt = 8.0, 0.01
    control = Controller(m, "tool0", dt=dt, limits=[AccelerationLimit(dt, a)])
    q = middling(robot, 100, "accelerates")
    v = np.zeros_like(q)
    targets = robot.fk(robot.random(3, seed=8), "tool0")
    for k in range(450):
        after = control.step(q, targets[k // 150], v=v)
        now = (after - q) / dt
        assert ((after >= m.lower) & (after <= m.upper)).all()
        assert (np.abs(after - q) <= m.velocity_limit * dt).all()
        assert (np.abs(now - v) <= a * dt * (1.0 + 1e-9) + 1e-12).all()
        q, v = after, now


def test_one_row_has_the_bits_that_it_has_in_a_batch(robot, control):
    q, T = robot.random(40, seed=5), robot.fk(robot.random(40, seed=6), "tool0")
    together = control.step(q, T)
    alone = [control.step(a, b) for a, b in zip(q, T, strict=True)]
    np.testing.assert_array_equal(alone, together)
    grid = control.step(q.reshape(8, 5, 7), T.reshape(8, 5, 4, 4))
    np.testing.assert_array_equal(grid.reshape(40, 7), together)
    np.testing.assert_array_equal(control.step(q, T[0])[3], control.step(q[3], T[0]))
    np.testing.assert_array_equal(control.step(q[0].tolist(), T[0].tolist()), together[0])


def test_targets_by_name_in_order_and_with_the_task(robot):
    m = robot.mechanism
    q = middling(robot, 1, "named")[0]
    T, p = robot.fk(robot.random(seed=3), "tool0"), np.array([0.3, 0.1, 0.5])
    control = Controller(m, [Pose("tool0"), Position("link4", p, priority=1)], dt=0.01)
    expected = control.step(q, {"tool0": T})
    for given in ({"tool0": T, "link4": p}, [T, p], (T.tolist(), p)):
        np.testing.assert_array_equal(control.step(q, given), expected)
    assert np.abs(control.step(q, [T, p + 0.1]) - expected).max() > 0.0
    with pytest.raises(UnknownNameError, match="tool0"):
        control.step(q, {"tool": T})
    with pytest.raises(InputError, match="tool0"):
        control.step(q)
    with pytest.raises(InputError, match="one for each task"):
        control.step(q, [T])


@pytest.mark.slow
def test_joints_that_are_not_moved_keep_their_positions():
    robot = lw.load("two_arm_torso")
    m = robot.mechanism
    tip = MODELS["two_arm_torso"].tip
    moving = [m.joint_names[c] for c in m.coordinates_moving(m.frame(tip))]
    control = Controller(m, tip, dt=0.01, joints=moving[1:], joint_weights={moving[2]: 0.1})
    q = robot.random(30, seed=2)
    after = control.step(q, robot.fk(robot.random(30, seed=3), tip))
    still = [k for k in range(m.n_q) if k not in control.problem.moved]
    np.testing.assert_array_equal(after[:, still], q[:, still])
    assert (np.abs(after - q).max(axis=1) > 0.0).all()


@pytest.mark.sweep(1)
@pytest.mark.parametrize("frame", ["ball", "hand", "wheel"])
def test_every_type_of_joint_moves_on_its_group(frame):
    m = mechanism_from(every_joint_urdf())
    robot = lw.load(every_joint_urdf())
    control = Controller(m, Position(frame), dt=0.05)
    q = robot.random(20, seed=4)
    goal = robot.fk(robot.random(20, seed=5), frame)[:, :3, 3]
    before = np.linalg.norm(robot.fk(q, frame)[:, :3, 3] - goal, axis=1)
    for _ in range(400):
        np.testing.assert_allclose(
            robot.integrate(q, control.dt * control.velocity(q, goal)),
            control.step(q, goal),
            atol=1e-9,
        )
        q = control.step(q, goal)
    after = np.linalg.norm(robot.fk(q, frame)[:, :3, 3] - goal, axis=1)
    assert (after <= before + 1e-9).all()
    start = int(m.q_start[m.joint("free")])
    np.testing.assert_allclose(np.linalg.norm(q[:, start + 3 : start + 7], axis=1), 1.0)


def test_an_angle_without_limits_goes_on_past_half_a_turn():
    robot = lw.load(
        '<robot name="one"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    )
    control = Controller(robot.mechanism, Orientation("b"), dt=0.01)
    q = np.array([3.1])
    for _ in range(30):
        q = control.step(q, robot.fk(np.array([3.3]), "b")[:3, :3])
    np.testing.assert_allclose(q, 3.3, atol=1e-9)


def test_what_cannot_be_computed_is_refused_in_plain_words(robot, control):
    m = robot.mechanism
    q, T = robot.random(seed=1), robot.fk(robot.random(seed=2), "tool0")
    nan = T.copy()
    nan[0, 3] = np.nan
    stretched = T.copy()
    stretched[:3, :3] *= 1.01
    for bad in (nan, stretched):
        with pytest.raises(InputError, match="rigid"):
            control.step(q, bad)
    with pytest.raises(InputError, match=r"q0\[2\]|q\[2\]"):
        control.step(np.where(np.arange(7) == 2, np.nan, q), T)
    with pytest.raises(ShapeError):
        control.step(q[:-1], T)
    with pytest.raises(ShapeError):
        control.step(q, T[:3])
    far = T.copy()
    far[0, 3] = 1e300
    try:
        assert (np.abs(control.step(q, far) - q) <= m.velocity_limit * DT).all()
    except LinkworkError:
        pass  # what float64 cannot hold is refused
    for change in ({"dt": 0.0}, {"gain": 0.0}, {"gain": 1.5}, {"damping": -1.0}):
        with pytest.raises(InputError, match=next(iter(change))):
            Controller(m, "tool0", **{"dt": DT, **change})
    with pytest.raises(InputError, match="dt"):
        Controller(m, "tool0", dt=DT, limits=[VelocityLimit(0.1)])
    with pytest.raises(InputError, match="acceleration"):
        Controller(m, "tool0", dt=DT, limits=[AccelerationLimit(DT, 1.0)]).step(q, T)
    with pytest.raises(UnsupportedFeatureError, match="free"):
        every = mechanism_from(every_joint_urdf())
        Controller(every, "ball", dt=DT, limits=[VelocityLimit(DT, 1.0)])


def test_the_share_of_the_error_and_own_limits(robot, compiler):
    m = robot.mechanism
    q = middling(robot, 50, "gain")
    T = robot.fk(q + 1e-4, "tool0")
    wide = [VelocityLimit(DT, 100.0)]
    half = Controller(m, "tool0", dt=DT, gain=0.5, limits=wide, compiler=compiler).step(q, T) - q
    whole = Controller(m, "tool0", dt=DT, limits=wide, compiler=compiler).step(q, T) - q
    np.testing.assert_allclose(half, 0.5 * whole, rtol=1e-2, atol=1e-6)
    slow = Controller(m, "tool0", dt=DT, limits=[VelocityLimit(DT, 0.01)], compiler=compiler)
    far = robot.fk(robot.random(50, seed=1), "tool0")
    assert (np.abs(slow.step(q, far) - q) <= 0.01 * DT).all()


def test_threads_share_a_controller(robot, control):
    q, T = robot.random(200, seed=5), robot.fk(robot.random(200, seed=6), "tool0")
    expected = control.step(q, T)
    wrong = []

    def work():
        for a, b, c in zip(q, T, expected, strict=True):
            if not np.array_equal(control.step(a, b), c):
                wrong.append(a)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def gap(robot, q):
    return float(np.abs(robot.closure(q)).max())


def end_of(robot):
    """A frame that moves: the tip, or the last one where there are several."""
    try:
        return robot.tip
    except InputError:
        return robot.frame_names[robot.mechanism.n_link_frames - 1]


def goal_beside(robot, frame):
    """Beside where the frame is at neutral: off most curves that a mechanism leaves it."""
    T = robot.fk(robot.neutral(), frame)
    T[:3, 3] += [0.05, 0.03, 0.02]
    return T


@pytest.mark.slow  # two loops of many joints take longest, and are of the kinds that others have
@pytest.mark.parametrize("name", sorted({*MODELS} - {"stewart", "triped"}))
def test_the_default_controller_of_bundled_models_steps_and_keeps_loops_closed(name):
    robot = lw.load(name)
    frame = end_of(robot)
    control = robot.controller(frame, dt=0.01)
    q = robot.neutral()
    for _ in range(30):
        before, q = q, control.step(q, goal_beside(robot, frame))
        assert not robot.loops or gap(robot, q) < 1e-9
    assert np.isfinite(q).all()
    assert not robot.loops or gap(robot, before) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", ["excavator", "four_bar"])
def test_loops_stay_closed_before_every_task_and_limit(name):
    robot = lw.load(name)
    frame = "stick_slide" if name == "excavator" else "rocker_end"
    T = goal_beside(robot, frame)
    for dt, gain in ((0.01, 1.0), (0.5, 1.0), (0.1, 0.3)):
        control = robot.controller(frame, dt=dt, gain=gain)
        q = robot.neutral()
        for _ in range(20):
            after, v = control.step(q, T), control.velocity(q, T)
            assert gap(robot, after) < 1e-9
            np.testing.assert_allclose(robot.integrate(q, dt * v), after, atol=1e-9)
            assert (np.abs(v) <= robot.mechanism.velocity_limit).all()
            q = after
    control, q = robot.controller(frame, dt=0.01), robot.neutral()
    own = [int(robot.mechanism.q_start[robot.mechanism.joint(name)]) for name in robot.actuated]
    goal = robot.fk(robot.assemble(q[own] + 0.05, q0=q).q, frame)
    for _ in range(200):
        q = control.step(q, goal)
    assert np.abs(robot.fk(q, frame) - goal).max() < 1e-9
    rows = control.step(np.stack([robot.neutral(), q]), T)
    assert rows.shape == (2, robot.n_q)
    np.testing.assert_allclose(rows[0], control.step(robot.neutral(), T), atol=1e-12)


def test_a_start_that_is_open_is_closed_or_refused():
    robot = lw.load("five_bar")
    frame = end_of(robot)
    control = robot.controller(frame, dt=0.01)
    T = robot.fk(robot.neutral(), frame)
    ajar = robot.neutral() + np.array([1e-4, 0.0, 0.0, 0.0])
    assert gap(robot, ajar) > 1e-6
    assert gap(robot, control.step(ajar, T)) < 1e-9
    with pytest.raises(InputError, match=r"row 1: the loops of q are open by .*assemble q first"):
        control.step(np.stack([ajar, ajar + np.array([1.0, 0.0, 0.0, 0.0])]), T)


def test_the_moves_fit_before_anything_is_clamped(robot):
    m = robot.mechanism
    limits = [VelocityLimit(0.01), AccelerationLimit(0.01, 5.0)]
    problem = make_problem(m, Pose("tool0"), limits=limits, objectives=[NearPosture()])
    settings = np.concatenate([settings_of(problem, Options()), [0.01, 1.0, 1.0]])
    r = rng("fit")
    for q in np.clip(robot.random(20, seed=7), m.lower + 0.2, m.upper - 0.2):
        target = robot.fk(robot.random(seed=int(r.integers(99))), "tool0")
        v = r.uniform(-0.2, 0.2, m.n_v)  # which forces the joints to go on for a while
        given = {"tool0": target, "acceleration": v}
        parameters, _, _ = rows_of(problem, given, q)
        x = q[list(problem.moved)]
        after, moves = controlled(JointUpdate(NUMPY, problem, parameters[0], settings), x)
        np.testing.assert_allclose(after, x + np.array([float(d) for d in moves]), atol=1e-9)


def test_the_key_tells_what_code_differs(robot):
    m = robot.mechanism

    def key(output, *limits):
        problem = make_problem(m, Pose("tool0"), limits=limits)
        return step_recipe(problem, output).key

    assert key("q", VelocityLimit(0.1)) == key("q", VelocityLimit(0.2, 9.0))
    assert len({key("q"), key("v"), key("q", VelocityLimit(0.1))}) == 3


optimize = pytest.importorskip("scipy.optimize", reason="SciPy (pip install scipy) is missing")


def level_of(J, e):
    return Level(e, [J[:, k] for k in range(J.shape[1])], J.shape[0])


def box_of(low, high):
    return Box(list(low), list(high))


def best_share(J, e, low, high):
    """The largest s up to 1 for which some u in the box has J u = s e: a linear program.

    J u may differ by as much from s e as the step may: 1 per cent of e.
    """
    n, apart = J.shape[1], 0.01 * np.linalg.norm(e) * np.ones(len(e))
    rows = np.column_stack([J, -e])
    answer = optimize.linprog(
        [*[0.0] * n, -1.0],
        A_ub=np.vstack([rows, -rows]),
        b_ub=np.concatenate([apart, apart]),
        bounds=[*zip(low, high, strict=True), (0.0, 1.0)],
    )
    return -answer.fun


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("rows", "n"), [(6, 7), (3, 7), (6, 10), (2, 4), (6, 6)])
def test_the_task_is_shortened_and_not_bent(rows, n):
    r = rng(f"straight {rows} {n}")
    shares, plain, best = [], [], []
    for _ in range(60):
        J, e = r.normal(size=(rows, n)), r.normal(size=rows)
        low, high = -r.uniform(0.05, 0.3, n), r.uniform(0.05, 0.3, n)
        dx = np.array(done_within(NUMPY, [], level_of(J, e), box_of(low, high), 0.0, 4))
        assert ((dx >= low - 1e-9) & (dx <= high + 1e-9)).all()
        done = J @ dx
        share = float(done @ e) / float(e @ e)
        least = np.linalg.pinv(J) @ e
        one = min(1.0, float(np.min(np.where(least > 0, high, -low) / np.abs(least))))
        most = best_share(J, e, low, high)
        if share >= 0.05:
            assert np.linalg.norm(done - share * e) < 0.02 * share * np.linalg.norm(e)
            assert one - 1e-6 <= share <= most + 0.02
        shares.append(share)
        plain.append(one)
        best.append(most)
    assert np.mean(shares) >= np.mean(plain)
    if n > rows:  # joints to spare are used
        gained = (np.mean(shares) - np.mean(plain)) / (np.mean(best) - np.mean(plain))
        assert gained > 0.25


def test_without_bounds_it_is_the_least_squares_step():
    r = rng("free")
    J, e = r.normal(size=(6, 7)), r.normal(size=6)
    free = Box([None] * 7, [None] * 7)
    dx = np.array(done_within(NUMPY, [], level_of(J, e), free, 0.0, 4))
    np.testing.assert_allclose(dx, np.linalg.pinv(J) @ e, atol=1e-6)


@pytest.mark.parametrize(("rows", "n"), [(6, 6), (6, 7), (6, 4)])
def test_where_a_joint_blocks_the_way_the_error_still_gets_smaller(rows, n):
    r = rng(f"blocked {rows} {n}")
    for _ in range(60):
        J, e = r.normal(size=(rows, n)), r.normal(size=rows)
        low, high = np.full(n, -0.1), np.full(n, 0.1)
        blocked = r.random(n) < 0.4
        up = r.random(n) < 0.5
        high[blocked & up], low[blocked & ~up] = 0.0, 0.0
        dx = np.array(done_within(NUMPY, [], level_of(J, e), box_of(low, high), 1.0, 4))
        assert ((dx >= low - 1e-9) & (dx <= high + 1e-9)).all()
        best = optimize.lsq_linear(J, e, (low - 1e-12, high + 1e-12))
        can = e @ e - 2.0 * best.cost
        does = e @ e - float(np.sum((e - J @ dx) ** 2))
        if can > 1e-3 * (e @ e):
            assert does > 0.02 * can


def test_lower_levels_leave_those_above_alone():
    r = rng("levels")
    for _ in range(40):
        first, second = r.normal(size=(3, 7)), r.normal(size=(3, 7))
        above = level_of(first, np.zeros(3))
        low, high = -r.uniform(0.05, 0.3, 7), r.uniform(0.05, 0.3, 7)
        e = r.normal(size=3)
        for room in (box_of(low, high), Box([None] * 7, [None] * 7)):
            dx = np.array(done_within(NUMPY, [above], level_of(second, e), room, 0.0, 3))
            np.testing.assert_allclose(first @ dx, 0.0, atol=1e-6)
            assert (second @ dx) @ e > 0.0
        np.testing.assert_allclose(second @ dx, e, atol=1e-3)
        way = r.normal(size=7)
        dx = np.array(gone_within(NUMPY, [above], way, box_of(low, high), 3))
        assert ((dx >= low - 1e-9) & (dx <= high + 1e-9)).all()
        np.testing.assert_allclose(first @ dx, 0.0, atol=1e-6)
        assert way @ dx > 0.0
