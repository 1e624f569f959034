"""The least time along a path: analytic cases, toppra's durations, limits between grid points."""

import math
import re
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork import trajectory as tj
from seeds import rng

VELOCITY = np.array([2.175] * 4 + [2.61] * 3)
ACCELERATION = np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])
NEAR = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])
SLACK = 1.0 + 1e-6


@pytest.fixture(scope="module")
def panda():
    return lw.load("panda")


def around(random, m, size=0.6):
    """Way points of a Panda."""
    return NEAR + random.uniform(-size, size, (m, 7))


def worst(made, **limits):
    """The largest share of any limit."""
    return max(float(each.max()) for each in made.uses(**limits).values())


def finely(made, times=10):
    """Instants ten times finer than the polynomials, on both sides of each knot."""
    x = np.linspace(0.0, 1.0 - 1e-9, times)
    return (made.times[:-1, None] + np.diff(made.times)[:, None] * x).ravel()


def distance_from_lines(q, points):
    """How far positions (k, n) are from the nearest of the lines between points."""
    a, b = points[:-1], points[1:]
    way = b - a
    share = np.einsum("kin,in->ki", q[:, None] - a, way) / (way**2).sum(axis=1)
    foot = a + np.clip(share, 0.0, 1.0)[..., None] * way
    return np.linalg.norm(q[:, None] - foot, axis=-1).min(axis=1)


# ---- analytic cases


@pytest.mark.parametrize("way", [0.01, 1.0, 30.0])
def test_a_straight_way_is_gone_by_bang_bang(way):
    made = tj.time_optimal([[0.0, 1.0], [way, 1.0]], acceleration=2.0)
    assert made.duration == pytest.approx(2.0 * math.sqrt(way / 2.0), rel=1e-12)
    np.testing.assert_allclose(made.end, [way, 1.0], rtol=0, atol=1e-12 * max(way, 1.0))
    assert worst(made, acceleration=2.0) == pytest.approx(1.0, abs=1e-6)


def test_points_next_to_each_other_leave_no_lines_of_no_length():
    """Their directions are known so badly that a line through three of them has corners."""
    gap = 3e-9
    points = rng("next to each other").uniform(-0.5, 0.5, (4, 3))
    points = np.concatenate([[each, each + gap, each + 2 * gap] for each in points])
    made = tj.time_optimal(points, acceleration=15.0, velocity=2.0, deviation=0.02)
    assert np.diff(made.times).min() > 0.0
    assert worst(made, acceleration=15.0, velocity=2.0) <= SLACK
    assert distance_from_lines(made(finely(made)), points).max() < 0.02 + 1e-9


@pytest.mark.parametrize("velocity", [None, 1000.0])
def test_tiny_ways_are_gone_like_large_ones(velocity):
    """Far below any limit of velocity: times are as the square roots of the ways."""
    size = 1e-9
    for k in range(5):
        points = rng(f"tiny ways {k}").uniform(-1, 1, (6, 3))
        for deviation in (None, 0.1):
            large = tj.time_optimal(points, acceleration=1.0, deviation=deviation)
            rounded = None if deviation is None else size * deviation
            bounds = {"acceleration": 1.0, "velocity": velocity}
            tiny = tj.time_optimal(size * points, deviation=rounded, **bounds)
            assert tiny.duration == pytest.approx(math.sqrt(size) * large.duration, rel=1e-6)
            assert worst(tiny, acceleration=1.0) <= SLACK


def test_a_limited_velocity_gives_the_trapezoid():
    bounds = {"velocity": [1.5, 9.0], "acceleration": [2.0, 9.0]}
    reference = tj.point_to_point([0.0, 0.0], [3.0, 1.0], profile="trapezoid", **bounds)
    for intervals, gap in ((100, 1e-4), (1000, 1e-6)):
        made = tj.time_optimal([[0.0, 0.0], [3.0, 1.0]], intervals=intervals, **bounds)
        assert 1.0 - 1e-9 < made.duration / reference.duration < 1.0 + gap
        t = np.linspace(0.0, made.duration, 50)
        np.testing.assert_allclose(made(t), reference(t), atol=2e-3)


def test_a_pendulum_with_a_torque_limit_moves_as_its_equation_says():
    """One joint along gravity's axis: m l² d²q/dt² = tau, by hand."""
    arm = lw.load(
        """<robot name="one"><link name="a"/><link name="b"><inertial><mass value="2"/>
        <origin xyz="0.5 0 0"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
        </inertial></link><joint name="j" type="revolute"><parent link="a"/><child link="b"/>
        <axis xyz="0 0 1"/><limit lower="-9" upper="9" velocity="100" effort="3"/>
        <dynamics damping="0" friction="0.5"/></joint></robot>"""
    )
    inertia = 2.0 * 0.5**2 + 0.1
    made = tj.time_optimal([[0.0], [2.0]], robot=arm)
    assert made.duration == pytest.approx(2.0 * math.sqrt(2.0 * inertia / 3.0), rel=1e-6)
    lossy = tj.time_optimal([[0.0], [2.0]], robot=arm, losses=True)
    # speeding up with 3 - 0.5, slowing down with 3 + 0.5: v is the same where they meet
    up, down = 2.5 / inertia, 3.5 / inertia
    v = math.sqrt(2.0 * 2.0 / (1.0 / up + 1.0 / down))
    assert lossy.duration == pytest.approx(v / up + v / down, rel=1e-4)
    assert lossy.duration >= (v / up + v / down) * (1.0 - 1e-9)


def test_speeds_at_the_ends_are_those_given():
    made = tj.time_optimal(
        [[0.0], [1.0]], velocity=1.0, acceleration=1.0, start_speed=0.5, end_speed=0.7
    )
    assert made.velocity(0.0)[0] == pytest.approx(0.5, rel=1e-6)
    assert made.velocity(made.duration - 1e-12)[0] == pytest.approx(0.7, rel=1e-6)
    # up to 1 and down: (1² - 0.5²)/2 and (1² - 0.7²)/2 of the way, the rest at 1
    by_hand = 0.5 + 0.3 + (1.0 - 0.375 - 0.255)
    assert made.duration == pytest.approx(by_hand, rel=1e-3)


# ---- other programs


# Points (way points, seed of their rng, intervals): toppra 0.6.10 on our grid (Seidel, natural
# spline, interpolated constraints), and the most of a limit that its motion takes.
TOPPRA = [
    (5, 1, 150, 2.7184721435705437, 1.0017),
    (10, 2, 265, 5.964475138916074, 1.0028),
    (10, 2, 1000, 5.957067695171124, 1.0003),
    (50, 3, 300, 33.93298872845918, 1.0420),
    (50, 3, 1638, 33.36734325480945, 1.0036),
    (20, 4, 500, 13.306034892777259, 1.0049),
]


@pytest.mark.parametrize(("m", "seed", "intervals", "duration", "taken"), TOPPRA)
def test_durations_are_those_of_toppra_within_the_limits_that_it_exceeds(
    m, seed, intervals, duration, taken
):
    points = np.random.default_rng(seed).uniform(-1.0, 1.0, (m, 7))
    made = tj.time_optimal(
        points, velocity=VELOCITY, acceleration=ACCELERATION, intervals=intervals
    )
    assert made.duration <= duration * taken
    if taken < 1.004:
        assert made.duration <= duration * 1.001
    assert made.duration >= duration * 0.99
    t = finely(made)
    assert (np.abs(made.velocity(t)) <= VELOCITY * SLACK).all()
    assert (np.abs(made.acceleration(t)) <= ACCELERATION * SLACK).all()


@pytest.mark.parametrize("deviation", [None, 0.03])
def test_torques_stay_inside_by_pinocchio(panda, deviation, tmp_path):
    pinocchio = pytest.importorskip("pinocchio", reason="pinocchio (pip install pin)")
    loaded = panda.with_payload("tool0", 2.0, [0.0, 0.0, 0.05])
    lw.urdf.write(panda, tmp_path / "panda.urdf")
    model = pinocchio.buildModelFromUrdf(str(tmp_path / "panda.urdf"))
    frame = model.getFrameId("tool0")
    more = pinocchio.Inertia(2.0, np.array([0.0, 0.0, 0.05]), np.zeros((3, 3)))
    model.appendBodyToJoint(model.frames[frame].parentJoint, more, model.frames[frame].placement)
    model.gravity.linear = np.array([0.0, 0.0, -9.80665])
    data = model.createData()
    points = around(rng(f"pinocchio {deviation}"), 6)
    limit = 0.55 * panda.limits.effort
    bounds = {"velocity": 10.0, "acceleration": 60.0}
    made = tj.time_optimal(points, robot=loaded, torque=limit, deviation=deviation, **bounds)
    t = finely(made)
    states = made(t), made.velocity(t), made.acceleration(t)
    tau = np.array([pinocchio.rnea(model, data, *row) for row in zip(*states, strict=True)])
    share = np.abs(tau) / limit
    assert share.max() <= SLACK
    assert (share.max(axis=1) > 0.99).mean() > 0.3  # torques are what limits this motion
    told = made.uses(robot=loaded, torque=limit, **bounds)
    np.testing.assert_allclose(told["torque"], share.max(axis=0), rtol=1e-3)
    assert max(each.max() for each in told.values()) <= SLACK


# ---- paths


def test_a_spline_passes_its_points():
    points = rng("spline").normal(size=(7, 3))
    made = tj.time_optimal(points, velocity=1.0, acceleration=2.0, intervals=400)
    q = made(np.linspace(0.0, made.duration, 40_001))
    for point in points:
        assert np.linalg.norm(q - point, axis=1).min() < 1e-3
    np.testing.assert_array_equal(made.start, points[0])
    np.testing.assert_allclose(made.end, points[-1], atol=1e-12)


@pytest.mark.parametrize("deviation", [0.2, 0.01, 1e-4, 0.0])
def test_rounded_corners_are_as_near_as_they_say(deviation):
    points = rng("corners").normal(size=(8, 4))
    made = tj.time_optimal(points, velocity=1.0, acceleration=3.0, deviation=deviation)
    q = made(finely(made))
    assert distance_from_lines(q, points).max() <= deviation + 1e-9
    if deviation in (0.01, 1e-4):  # elsewhere lines are too short for corners so wide
        for corner in points[1:-1]:
            nearest = np.linalg.norm(q - corner, axis=1).min()
            assert nearest == pytest.approx(deviation, rel=0.02)
    assert worst(made, velocity=1.0, acceleration=3.0) <= SLACK
    stands = np.abs(made.velocity(made.times[1:-1])).max(axis=1) < 1e-12
    assert stands.sum() == (6 if deviation == 0.0 else 0)


def test_turning_back_is_a_halt_on_lines_and_none_on_a_spline():
    points = [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    lines = tj.time_optimal(points, acceleration=1.0, deviation=0.1)
    assert lines.duration == pytest.approx(4.0, rel=1e-9)
    spline = tj.time_optimal(points, acceleration=1.0)
    assert spline.duration == pytest.approx(4.0, rel=3e-3)
    for made in (lines, spline):
        assert made(finely(made)).max() == pytest.approx(1.0, abs=1e-3)
        assert worst(made, acceleration=1.0) <= SLACK


def test_repeated_points_and_points_in_line_change_nothing():
    corner = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    again = [[0, 0], [0, 0], [0.5, 0], [1, 0], [1, 0], [1, 0], [1, 0.2], [1, 1], [1, 1]]
    bounds = {"velocity": 1.0, "acceleration": 2.0, "deviation": 0.05}
    first = tj.time_optimal(corner, intervals=500, **bounds)
    second = tj.time_optimal(again, intervals=500, **bounds)
    assert second.duration == pytest.approx(first.duration, rel=1e-4)
    spline = tj.time_optimal(again, velocity=1.0, acceleration=2.0)
    assert worst(spline, velocity=1.0, acceleration=2.0) <= SLACK


@pytest.mark.parametrize("points", [[[1.0, 2.0]], [[1.0, 2.0]] * 3])
def test_a_path_of_no_length_is_a_trajectory_that_stands(points):
    still = tj.time_optimal(points, velocity=1.0, acceleration=1.0)
    assert still.duration == 0.0
    np.testing.assert_array_equal(still([0.0, 1.0]), [[1.0, 2.0]] * 2)


# ---- loops


@pytest.mark.parametrize(("name", "deviation"), [("four_bar", None), ("five_bar", 0.02)])
def test_loops_stay_closed_and_their_motors_inside(name, deviation):
    robot = lw.load(name)
    own = [robot.joint_names.index(joint) for joint in robot.actuated]
    points = [robot.assemble(q0=robot.neutral()).q]
    for step in (0.1, 0.2, 0.15):
        towards = points[-1][own] + step * np.where(np.arange(len(own)) % 2, -0.5, 1.0)
        points.append(robot.assemble(towards, q0=points[-1]).q)
    zero = np.zeros(robot.n_v)
    limit = 1.5 * np.abs(robot.inverse_dynamics(points[0], zero, zero)) + 0.1
    bounds = {"torque": limit, "acceleration": 40.0}
    made = tj.time_optimal(points, robot=robot, deviation=deviation, **bounds)
    t = finely(made)
    q, v, a = made(t), made.velocity(t), made.acceleration(t)
    assert np.asarray(robot.is_assembled(q)).all()
    tau = robot.inverse_dynamics(q, v, a)[:, own]
    assert (np.abs(tau) <= limit[own] * SLACK).all()
    assert worst(made, acceleration=40.0) <= SLACK
    assert worst(made, robot=robot, **bounds) > 0.99
    np.testing.assert_allclose(made.end, points[-1], atol=1e-8)
    smooth = tj.time_optimal(points, robot=robot, deviation=deviation, jerk=2000.0, **bounds)
    assert worst(smooth, robot=robot, jerk=2000.0, **bounds) <= SLACK
    with pytest.raises(lw.InputError, match=r"points\[1\] does not close the loops"):
        tj.time_optimal([points[0], points[1] + 0.1], robot=robot, **bounds)
    with pytest.raises(lw.UnsupportedFeatureError, match="does not stop in corners"):
        tj.time_optimal([points[0], points[1], points[0]], robot=robot, deviation=0.1, **bounds)


# ---- many


def test_many_paths_are_the_same_as_one_by_one(panda):
    random = rng("many")
    listed = [around(random, m) for m in (2, 9, 5, 12, 3, 7)]
    how = {"robot": panda, "acceleration": 10.0, "deviation": 0.05}
    for threads in (1, 3):
        together = tj.time_optimal_all(listed, threads=threads, **how)
        for points, made in zip(listed, together, strict=True):
            alone = tj.time_optimal(points, **how)
            np.testing.assert_array_equal(made.times, alone.times)
            np.testing.assert_array_equal(made.coefficients, alone.coefficients)
    assert tj.time_optimal_all([], **how) == []
    listed[3] = listed[3][:, :6]
    with pytest.raises(lw.ShapeError, match=r"points\[3\] has 6 positions"):
        tj.time_optimal_all(listed, **how)
    listed[3] = np.full((2, 7), np.nan)
    with pytest.raises(lw.InputError, match=r"points\[3\]\[0, 0\] is nan"):
        tj.time_optimal_all(listed, **how)


def test_each_of_many_paths_has_its_own_length_and_its_own_error(panda):
    random = rng("many of all kinds")
    listed = [around(random, m) for m in (60, 2, 5, 3, 20)]
    listed[2][:] = listed[2][0]  # of no length
    wrench = [0.0, 0.0, 0.5, 0.0, 0.0, -2.0]
    how = {
        "robot": panda,
        "acceleration": 10.0,
        "external": dict.fromkeys([f"link{k}" for k in range(3, 8)] + ["tool0"], wrench),
        "gravity": [0.0, 0.0, -3.0],
        "armature": np.full(7, 0.1),
    }
    together = tj.time_optimal_all(listed, threads=2, **how)
    assert together[2].duration == 0.0
    for points, made in zip(listed, together, strict=True):
        alone = tj.time_optimal(points, **how)
        np.testing.assert_array_equal(made.times, alone.times)
        np.testing.assert_array_equal(made.coefficients, alone.coefficients)
        with pytest.raises(ValueError, match="read-only"):
            made.coefficients[0] = 0.0
    far = np.tile([0.0, 1.5, 0.0, -0.1, 0.0, 1.5, 0.0], (2, 1))  # stretched out: takes the most
    far[1, 0] = 0.1
    weak = np.where(np.arange(7) == 1, 40.0, 200.0)
    for k in (1, 4):
        bent = [np.array([NEAR, NEAR + 0.01])] * k + [far]
        with pytest.raises(lw.InputError, match=rf"points\[{k}\]: .*stand still"):
            tj.time_optimal_all(bent, robot=panda, torque=weak, acceleration=10.0, threads=2)


@pytest.mark.parametrize("n", [1, 3, 7, 9])
def test_joints_that_move_alike_change_nothing_but_the_length_of_the_way(n):
    random = rng(f"joints alike {n}")
    points = random.uniform(-1.0, 1.0, (9, n))
    velocity, acceleration = random.uniform(1.0, 2.0, n), random.uniform(3.0, 9.0, n)
    one = tj.time_optimal(points, velocity=velocity, acceleration=acceleration)
    of_all = {"velocity": np.tile(velocity, 4), "acceleration": np.tile(acceleration, 4)}
    four = tj.time_optimal(np.tile(points, 4), **of_all)  # twice as long a way, without rounding
    assert four.duration == pytest.approx(one.duration, rel=1e-9)
    t = np.linspace(0.0, one.duration, 100)
    np.testing.assert_allclose(four(t), np.tile(one(t), 4), atol=1e-8)
    assert worst(four, **of_all) <= SLACK


@pytest.mark.parametrize(
    ("name", "n"),
    [("scara", 4), ("quadruped", 12), pytest.param("humanoid", 30, marks=pytest.mark.slow)],
)
def test_torques_of_few_and_of_many_joints_stay_inside(name, n):
    robot = lw.load(name, base="fixed")
    assert robot.n_q == n
    points = robot.random(5, seed=1)
    held = np.abs(robot.gravity_forces(robot.random(500, seed=2))).max(axis=0)
    limits = {"velocity": 3.0, "torque": 2.0 * held + 10.0}
    made = tj.time_optimal(points, robot=robot, deviation=0.1, **limits)
    t = finely(made)
    assert (np.abs(made.velocity(t)) <= 3.0 * SLACK).all()
    tau = robot.inverse_dynamics(made(t), made.velocity(t), made.acceleration(t))
    assert (np.abs(tau) <= limits["torque"] * SLACK).all()
    assert (np.abs(tau) / limits["torque"]).max() > 0.99


@pytest.mark.slow
@pytest.mark.parametrize("deviation", [None, 0.05, 0.0])
def test_limits_of_random_paths_hold_ten_times_finer_than_the_grid(panda, deviation):
    random = rng(f"limits {deviation}")
    for k in range(6):  # with losses and without, some of which cannot stand still
        points = around(random, int(random.integers(2, 12)))
        share = random.uniform(0.35, 1.0)
        bounds = {"velocity": VELOCITY * random.uniform(0.2, 2.0), "acceleration": 30.0}
        losses = bool(k % 2)
        robot = panda.with_payload("tool0", float(random.uniform(0.0, 2.0)), [0.0, 0.0, 0.1])
        limit = share * panda.limits.effort
        try:
            made = tj.time_optimal(
                points, robot=robot, torque=limit, deviation=deviation, losses=losses, **bounds
            )
        except lw.InputError as error:
            assert "to stand still" in str(error)
            continue
        t = finely(made)
        v, a = made.velocity(t), made.acceleration(t)
        assert (np.abs(v) <= bounds["velocity"] * SLACK).all()
        assert (np.abs(a) <= 30.0 * SLACK).all()
        tau = robot.inverse_dynamics(made(t), v, a, losses=losses)
        assert (np.abs(tau) <= limit * SLACK).all()


def most_of_limits(made, robot, losses, velocity, acceleration, torque):
    """The largest share of any limit that a motion takes, at 25 instants between each two knots."""
    t = finely(made, 25) + 1e-9 * made.duration / len(made.times)
    v, a = made.velocity(t), made.acceleration(t)
    tau = robot.inverse_dynamics(made(t), v, a, losses=losses)
    return max((np.abs(v) / velocity).max(), (np.abs(a) / acceleration).max(),
               (np.abs(tau) / torque).max())  # fmt: skip


def lossy_arm(damping, friction):
    """The Panda with losses."""
    path = Path(lw.__file__).parent / "models" / "panda.urdf"
    losses = f'<dynamics damping="{damping}" friction="{friction}"/><axis'
    return lw.load(re.sub("<axis", losses, re.sub("<dynamics[^>]*/>", "", path.read_text())))


@pytest.mark.slow
def test_limits_of_mixed_problems_hold_between_knots():
    """Damping is no polynomial of the way where a motion begins at rest; few intervals are long."""
    random = rng("mixed problems")
    robots = [lossy_arm(2.0, 0.5), lossy_arm(5.0, 0.0)]
    found = 0
    for k in range(50):
        robot = robots[k % 2]
        points = around(random, int(random.integers(2, 8)))
        held = np.abs(robot.inverse_dynamics(points, 0.0 * points, 0.0 * points)).max(axis=0)
        bounds = {
            "velocity": VELOCITY * random.uniform(0.2, 2.0),
            "acceleration": ACCELERATION * random.uniform(0.2, 2.0),
            "torque": 1.2 * held + random.uniform(3.0, 15.0, 7),
        }
        losses = k % 3 != 0
        try:
            made = tj.time_optimal(
                points,
                robot=robot,
                deviation=[None, 0.0, 0.05][int(random.integers(3))],
                losses=losses,
                start_speed=float(random.choice([0.0, 0.1])),
                intervals=int(random.choice([10, 30, 100])),
                **bounds,
            )
        except lw.InputError:
            continue
        found += 1
        assert most_of_limits(made, robot, losses, **bounds) < SLACK, k
    assert found > 30


PENDULUM = """<robot name="one"><link name="a"/><link name="b"><inertial><mass value="2"/>
    <origin xyz="0.5 0 0"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
    </inertial></link><joint name="j" type="revolute"><parent link="a"/><child link="b"/>
    <axis xyz="0 1 0"/><limit lower="-9" upper="9" velocity="100" effort="9"/>
    <dynamics damping="0.1" friction="0"/></joint></robot>"""


@pytest.mark.parametrize(("losses", "speed"), [(False, 0.0), (False, 9.0), (True, 9.0)])
def test_a_pendulum_swings_through_where_its_motor_does_not_hold_it(losses, speed):
    """It needs 9.8 N m to stand still when it is level, and has less."""
    arm = lw.load(PENDULUM)
    hanging = np.pi / 2
    for torque in (9.0, 8.0):
        made = tj.time_optimal(
            [[hanging - 0.1], [hanging - 2.0 * np.pi]] if speed else [[hanging], [-hanging]],
            robot=arm,
            torque=torque,
            losses=losses,
            start_speed=speed,
        )
        assert 0.1 < made.duration < 10.0
        free = np.full(1, 1e9)
        most = most_of_limits(made, arm, losses, free, free, np.full(1, torque))
        assert 0.99 < most < SLACK


# ---- jerk


def test_a_straight_way_with_bounded_jerk_is_the_double_s():
    bounds = {"velocity": 1.5, "acceleration": 2.0, "jerk": 8.0}
    made = tj.time_optimal([[0.0], [3.0]], **bounds)
    reference = tj.point_to_point([0.0], [3.0], **bounds)
    assert reference.duration * (1.0 - 1e-9) <= made.duration <= reference.duration * 1.001
    assert worst(made, **bounds) <= SLACK
    short = tj.time_optimal([[0.0], [0.1]], **bounds)
    least = tj.point_to_point([0.0], [0.1], **bounds).duration
    assert least <= short.duration <= 1.25 * least


@pytest.mark.parametrize("deviation", [None, 0.1, 0.0])
def test_jerks_are_bounded(panda, deviation):
    points = around(rng("jerk"), 5)
    bounds = {"velocity": VELOCITY, "acceleration": 10.0, "jerk": 100.0}
    made = tj.time_optimal(points, robot=panda, deviation=deviation, **bounds)
    assert worst(made, robot=panda, **bounds) <= SLACK
    jerk = np.abs(made.jerk(finely(made)))
    assert (jerk <= 100.0 * SLACK).all()
    np.testing.assert_allclose(made.end, points[-1], atol=1e-9)
    slower = tj.time_optimal(points, robot=panda, deviation=deviation, acceleration=10.0)
    assert slower.duration < made.duration < 2.0 * slower.duration
    if deviation is not None:
        assert distance_from_lines(made(finely(made)), points).max() <= deviation + 1e-9


@pytest.mark.parametrize("deviation", [None, 0.02])
@pytest.mark.parametrize("apart", [1e-2, 1e-4, 1e-8])
def test_way_points_beside_each_other_cost_a_stop_at_most(panda, deviation, apart):
    random = rng("beside each other")
    points = around(random, 4)
    bounds = {"velocity": VELOCITY, "acceleration": 10.0, "jerk": 100.0}
    way = {"robot": panda, "deviation": deviation, **bounds}
    alone = tj.time_optimal(points, **way)
    for k in (1, 2):
        aside = random.normal(size=7)
        beside = points[k] + apart * aside / np.linalg.norm(aside)
        made = tj.time_optimal(np.insert(points, k + 1, beside, axis=0), **way)
        assert made.duration < 2.0 * alone.duration
        assert worst(made, robot=panda, **bounds) <= SLACK


def test_way_points_beside_each_other_in_a_mechanism_with_loops():
    robot = lw.load("five_bar")
    near = robot.assemble([0.0, 0.0]).q
    points = [near]
    for left, right in ((0.3, -0.2), (0.3001, -0.2), (0.1, 0.3)):
        points.append(robot.assemble([left, right], q0=points[-1]).q)
    bounds = {"acceleration": 5.0, "jerk": 50.0}
    made = tj.time_optimal(points, robot=robot, **bounds)
    alone = tj.time_optimal(np.delete(points, 2, axis=0), robot=robot, **bounds)
    assert made.duration < 2.0 * alone.duration
    assert worst(made, **bounds) <= SLACK
    assert np.asarray(robot.is_assembled(made(finely(made)), tolerance=1e-6)).all()


# ---- what cannot be


def test_what_acts_on_the_robot_has_the_shapes_of_dynamics(panda):
    points = around(rng("what acts"), 4)
    with pytest.raises(lw.ShapeError, match=r"wrench:tool0 must have shape \(6,\), not \(3,\)"):
        tj.time_optimal(points, robot=panda, external={"tool0": [0.0, 0.0, -10.0]})
    with pytest.raises(lw.InputError, match=r"gravity.* is nan"):
        tj.time_optimal(points, robot=panda, gravity=[0.0, 0.0, np.nan])


def test_gravity_above_the_torque_limit_is_told_by_joint(panda):
    q = np.array([0.0, 1.5, 0.0, -0.5, 0.0, 1.5, 0.0])
    limit = panda.limits.effort.copy()
    limit[1] = 20.0
    with pytest.raises(lw.InputError, match=r"'joint2' needs \d\d\.\d+ to stand still at 0\.0%"):
        tj.time_optimal([q, q + 0.1], robot=panda, torque=limit)
    limit[0] = np.inf  # a joint without a limit is not the one
    with pytest.raises(lw.InputError, match=r"'joint2' needs .*, and its torque limit is 20"):
        tj.time_optimal([q, q + 0.1], robot=panda, torque=limit, acceleration=5.0)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"velocity": 1.0}, "position 0 has no limit of acceleration or torque"),
        ({"acceleration": [1.0, 0.0]}, "must be above zero"),
        ({"acceleration": 1.0, "velocity": 0.0}, "must be above zero"),
        ({"acceleration": float("nan")}, "must be above zero"),
        ({"acceleration": 1.0, "torque": 1.0}, "give robot="),
        ({"acceleration": 1.0, "deviation": -1.0}, "deviation"),
        ({"acceleration": 1.0, "intervals": 0}, "intervals"),
        ({"acceleration": 1.0, "start_speed": -1.0}, "start_speed"),
        ({"acceleration": 1.0, "velocity": 2.0, "start_speed": 1.9}, "start_speed = 1.9 cannot"),
        ({"acceleration": 1.0, "velocity": 2.0, "end_speed": 2.1}, "end_speed = 2.1 is above"),
        ({"acceleration": 1.0, "joint_names": ["a"]}, "1 names for 2 positions: .* base/theta"),
    ],
)
def test_what_cannot_be_is_told(keywords, message):
    with pytest.raises(lw.InputError, match=message):
        tj.time_optimal([[0.0, 0.0], [0.0, 1.0]], **keywords)


def test_points_that_are_none_are_told(panda):
    with pytest.raises(lw.InputError, match=r"points\[1, 1\] is nan"):
        tj.time_optimal([[0.0, 0.0], [0.0, np.nan]], acceleration=1.0)
    with pytest.raises(lw.InputError, match="below 1e"):
        tj.time_optimal([[0.0], [1e200]], acceleration=1.0)
    for points in ([0.0, 1.0], np.zeros((0, 2)), np.zeros((2, 0))):
        with pytest.raises(lw.ShapeError, match="points must have shape"):
            tj.time_optimal(points, acceleration=1.0)
    with pytest.raises(lw.ShapeError, match="7"):
        tj.time_optimal(np.zeros((2, 6)), robot=panda)
    with pytest.raises(lw.UnsupportedFeatureError, match="from rest to rest"):
        tj.time_optimal([[0.0], [1.0]], acceleration=1.0, jerk=1.0, start_speed=0.1)
    dog = lw.load("quadruped", base="floating")
    with pytest.raises(lw.UnsupportedFeatureError, match="quaternion"):
        tj.time_optimal(np.zeros((2, dog.n_q)), robot=dog)
    high = panda.limits.upper - 0.01
    swings = np.array([high - 0.8, high, high - 0.01, high - 0.8])
    with pytest.raises(lw.InputError, match="splines swing over"):
        tj.time_optimal(swings, robot=panda, acceleration=1.0)


# ---- what a trajectory can do


def test_messages_for_ros_have_the_states(panda):
    made = tj.time_optimal(around(rng("ros"), 4), robot=panda, acceleration=5.0)
    message = made.to_ros(0.1)
    assert message["joint_names"] == list(panda.joint_names)
    states = made.sample(0.1)
    assert len(message["points"]) == len(states.t)
    when = [p["time_from_start"]["sec"] + 1e-9 * p["time_from_start"]["nanosec"]
            for p in message["points"]]  # fmt: skip
    np.testing.assert_allclose(when, states.t, rtol=0, atol=1e-9)
    np.testing.assert_array_equal([p["positions"] for p in message["points"]], states.q)
    np.testing.assert_array_equal([p["velocities"] for p in message["points"]], states.v)
    with pytest.raises(lw.InputError, match="names its joints"):
        tj.time_optimal([[0.0], [1.0]], acceleration=1.0).to_ros(0.1)


@pytest.mark.parametrize(
    "told", [{"gravity": [0, 0, 0]}, {"losses": True}, {"armature": 0.1}, {"external": {}}]
)
def test_what_is_of_dynamics_needs_a_robot(told):
    points, text = [[0.0], [1.0]], f"{next(iter(told))}.*give robot="
    with pytest.raises(lw.InputError, match=text):
        tj.time_optimal(points, acceleration=1.0, **told)
    with pytest.raises(lw.InputError, match=text):
        tj.time_optimal_all([points], acceleration=1.0, **told)


def test_what_is_no_robot_and_no_list_of_paths_is_refused(panda):
    with pytest.raises(lw.InputError, match="robot must be a Robot"):
        tj.time_optimal(around(rng("no robot"), 3), robot="panda")
    with pytest.raises(lw.InputError, match="several paths"):
        tj.time_optimal_all(None, acceleration=1.0)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads here")
def test_an_interrupt_is_heard_between_paths(panda):
    random, sent, main = rng("interrupt"), [], threading.get_ident()
    paths = [around(random, 3) for _ in range(100)]
    tj.time_optimal_all(paths[:1], robot=panda, jerk=100.0, acceleration=10.0)  # compiled

    def interrupt():
        sent.append(time.process_time())
        signal.pthread_kill(main, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            tj.time_optimal_all(paths, robot=panda, jerk=100.0, acceleration=10.0, threads=2)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    # Processor time, which other programs do not count in: a motion takes 0.1 s, all take 10.
    assert time.process_time() - sent[0] < 2.0


def test_each_number_of_a_planar_base_has_a_name():
    robot = lw.load("mobile_arm")
    start, goal = robot.neutral(), robot.configuration({"base": [1.0, 0.5, 0.3]})
    made = tj.time_optimal([start, goal], robot=robot, acceleration=1.0)
    assert made.joint_names[:4] == ("base/x", "base/y", "base/theta", robot.joint_names[1])
    assert made.to_ros(0.5)["joint_names"] == list(made.joint_names)
    limits = np.full(robot.n_q, 1.0)
    limits[2] = 0.0
    with pytest.raises(lw.InputError, match="'base/theta' must be above zero"):
        tj.time_optimal([start, goal], robot=robot, acceleration=limits)


def test_a_path_that_is_gone_slower_needs_less(panda):
    points = around(rng("slower"), 4)
    made = tj.time_optimal(points, robot=panda, acceleration=20.0)
    bounds = {"velocity": panda.limits.velocity, "acceleration": 20.0, "robot": panda}
    before, after = made.uses(**bounds), made.stretched(2.0).uses(**bounds)
    np.testing.assert_allclose(after["velocity"], before["velocity"] / 2.0)
    assert (after["torque"] <= before["torque"] * (1.0 + 1e-9)).sum() >= 4
    with pytest.raises(lw.InputError, match="give robot="):
        made.uses(torque=1.0)
