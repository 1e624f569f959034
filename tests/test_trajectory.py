"""Trajectories: profiles, splines, states, lines and arcs of a frame."""

import csv
import itertools
import math

import numpy as np
import pytest

import linkwork as lw
from linkwork import trajectory as tj
from seeds import rng

SMOOTH = ("double_s", "quintic")
PROFILES = ("constant_acceleration", "trapezoid", "double_s", "cubic", "quintic")


def limits_for(profile, n, random):
    """Random limits that a profile can keep."""
    found = {"velocity": random.uniform(0.5, 3.0, n), "acceleration": random.uniform(0.5, 5.0, n)}
    return found | ({"jerk": random.uniform(2.0, 50.0, n)} if profile in SMOOTH else {})


def worst(made, bounds):
    """The largest share of any limit, by joint."""
    return np.max(list(made.uses(**bounds).values()), axis=0)


def steps_of(made, order):
    """How far a derivative steps at the knots inside, at most."""
    functions = (made, made.velocity, made.acceleration, made.jerk)
    inside = made.times[1:-1]
    shortest = np.diff(made.times).min()
    return max(
        (np.abs(functions[order](t + e) - functions[order](t - e)).max() / e
         for t, e in itertools.product(inside, [1e-6 * shortest])),
        default=0.0,
    )  # fmt: skip


# ---- point to point


@pytest.mark.parametrize("synchronise", ["path", "time", "none"])
@pytest.mark.parametrize("profile", PROFILES)
def test_a_motion_keeps_its_limits_and_uses_one_of_them_up(profile, synchronise):
    random = rng(f"{profile} {synchronise}")
    for _ in range(20):
        start, goal = random.normal(size=(2, 4)) * random.choice([0.01, 1.0, 10.0])
        goal[2] = start[2]
        bounds = limits_for(profile, 4, random)
        made = tj.point_to_point(start, goal, profile=profile, synchronise=synchronise, **bounds)
        np.testing.assert_array_equal(made.start, start)
        np.testing.assert_allclose(made.end, goal, rtol=0, atol=1e-12 * np.abs(goal - start).max())
        np.testing.assert_allclose(made.velocity([0.0, made.duration]), 0.0, atol=1e-9)
        shares = worst(made, bounds)
        assert shares.max() == pytest.approx(1.0, rel=1e-9)
        if synchronise == "none":
            np.testing.assert_allclose(np.delete(shares, 2), 1.0, rtol=1e-9)
        if synchronise == "path":  # a straight line
            way = (made(np.linspace(0.0, made.duration, 30)) - start) @ (goal - start)
            share = way / ((goal - start) @ (goal - start))
            np.testing.assert_allclose(
                made(np.linspace(0.0, made.duration, 30)),
                start + share[:, None] * (goal - start),
                atol=1e-11 * np.abs(goal - start).max(),
            )


@pytest.mark.parametrize(
    ("profile", "bounds", "duration"),
    [
        # h = 2; by hand from the definitions
        ("constant_acceleration", {"acceleration": 2.0}, 2.0 * math.sqrt(2.0 / 2.0)),
        ("constant_acceleration", {"acceleration": 2.0, "velocity": 0.5}, 8.0),
        ("trapezoid", {"acceleration": 2.0, "velocity": 1.0}, 2.0 / 1.0 + 1.0 / 2.0),
        ("trapezoid", {"acceleration": 2.0, "velocity": 9.0}, 2.0),
        ("cubic", {"velocity": 1.5}, 2.0),
        ("cubic", {"acceleration": 3.0}, 2.0),
        ("quintic", {"velocity": 1.875}, 2.0),
        ("quintic", {"jerk": 15.0}, 2.0),
        # v = 1, a = 2, j = 8: Tj = 1/4, Ta = 3/4, Tv = 2 - 3/4
        ("double_s", {"velocity": 1.0, "acceleration": 2.0, "jerk": 8.0}, 2.0 + 0.75),
        # neither velocity nor acceleration reached: 4 (h / 2j)^(1/3)
        ("double_s", {"velocity": 99.0, "acceleration": 99.0, "jerk": 8.0}, 4.0 * 0.5),
        ("double_s", {"jerk": 8.0}, 2.0),
        # velocity reached without the greatest acceleration: Ta = 2 sqrt(v / j)
        ("double_s", {"velocity": 0.5, "acceleration": 9.0, "jerk": 8.0}, 4.0 + 0.5),
    ],
)
def test_durations_follow_from_the_definitions(profile, bounds, duration):
    made = tj.point_to_point([1.0], [3.0], profile=profile, **bounds)
    assert made.duration == pytest.approx(duration, rel=1e-12)


def test_durations_are_those_of_ruckig_and_states_are_reached():
    pytest.importorskip("ruckig", reason="ruckig (pip install ruckig) is not installed")
    random = rng("ruckig")
    for _ in range(100):
        start, goal = random.normal(size=(2, 3))
        bounds = limits_for("double_s", 3, random)
        made = tj.state_to_state(start, goal, **bounds)
        ours = tj.point_to_point(start, goal, synchronise="time", **bounds)
        assert made.duration == pytest.approx(ours.duration, rel=1e-9)
        v0, v1 = 0.9 * random.uniform(-1, 1, (2, 3)) * bounds["velocity"]
        made = tj.state_to_state(
            start, goal, start_velocity=v0, goal_velocity=0.5 * v1, start_acceleration=0.1, **bounds
        )
        ends = made([0.0, made.duration]), made.velocity([0.0, made.duration])
        np.testing.assert_allclose(ends, [[start, goal], [v0, 0.5 * v1]], rtol=0, atol=1e-8)
        for order, name in enumerate(bounds, 1):
            lowest, highest = made.extremes(order)
            assert (np.maximum(-lowest, highest) <= bounds[name] * (1 + 1e-7)).all(), name
    slow = tj.state_to_state([0.0], [1.0], duration=9.0, velocity=1.0, acceleration=1.0, jerk=1.0)
    assert slow.duration == pytest.approx(9.0)
    with pytest.raises(lw.InputError, match="no such motion"):
        tj.state_to_state([0.0], [1.0], goal_velocity=5.0, velocity=1.0, acceleration=1.0, jerk=1.0)


def test_motions_from_rest_to_rest_are_those_of_ruckig_at_all_scales():
    ruckig = pytest.importorskip("ruckig", reason="ruckig (pip install ruckig) is not installed")
    random, told = rng("rest to rest"), 0
    for k in range(400):
        n = int(random.integers(1, 9))
        start, goal = random.normal(size=(2, n)) * 10 ** random.uniform(-3, 2, n)
        goal[0] = start[0] if k % 7 == 0 else goal[0]
        bounds = dict(zip(("velocity", "acceleration", "jerk"), 10 ** random.uniform(-1, 2, (3, n)),
                          strict=True))  # fmt: skip
        least = None if k % 3 else float(10 ** random.uniform(-2, 2))
        made = tj.state_to_state(start, goal, duration=least, **bounds)
        asked = ruckig.InputParameter(n)
        asked.current_position, asked.target_position = start, goal
        asked.max_velocity, asked.max_acceleration, asked.max_jerk = bounds.values()
        asked.minimum_duration = least
        found = ruckig.Trajectory(n)
        try:
            ruckig.Ruckig(n).calculate(asked, found)
        except ValueError:  # of a few problems it finds no motion
            continue
        told += 1
        assert made.duration == pytest.approx(found.duration, rel=1e-9)
        ends = np.array([made.start, made.end])
        np.testing.assert_allclose(ends, [start, goal], rtol=0, atol=1e-9 * np.ptp(ends) + 1e-12)
        assert np.abs(made.velocity(made.duration)).max() < 1e-6 * bounds["velocity"].max()
        for name, order in (("velocity", 1), ("acceleration", 2), ("jerk", 3)):
            lowest, highest = made.extremes(order)
            assert (np.maximum(-lowest, highest) <= bounds[name] * (1 + 1e-7)).all(), name
        again = tj.state_to_state(start.tolist(), goal.tolist(), duration=least, **bounds)
        np.testing.assert_array_equal(again.coefficients, made.coefficients)
    assert told > 350


def test_motions_from_rest_to_rest_take_numbers_and_refuse_what_is_none():
    start, goal = np.zeros(3), np.array([1.0, -2.0, 0.5])
    one = tj.state_to_state(start, goal, velocity=1.0, acceleration=2.0, jerk=np.full(3, 9.0))
    same = tj.state_to_state(start, goal, velocity=[1.0] * 3, acceleration=np.full(3, 2), jerk=9)
    np.testing.assert_array_equal(one.coefficients, same.coefficients)
    with pytest.raises(lw.InputError, match="finite"):
        tj.state_to_state(start, goal * np.nan, velocity=1.0, acceleration=2.0, jerk=9.0)
    with pytest.raises(lw.InputError, match="velocity must be above zero"):
        tj.state_to_state(start, goal, velocity=0.0, acceleration=2.0, jerk=9.0)
    with pytest.raises(lw.ShapeError):
        tj.state_to_state(start, goal[:2], velocity=1.0, acceleration=2.0, jerk=9.0)
    still = tj.state_to_state(start, start, velocity=1.0, acceleration=2.0, jerk=9.0)
    assert still.duration == 0.0
    np.testing.assert_array_equal(still(1.0), start)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_duration_alone_gives_the_plain_shape(profile):
    made = tj.point_to_point([0.0, 1.0], [1.0, -1.0], profile=profile, duration=3.0)
    assert made.duration == 3.0
    np.testing.assert_allclose(made.end, [1.0, -1.0], rtol=0, atol=1e-14)
    bounds = {"velocity": 2.0, "acceleration": 2.0} | ({"jerk": 9.0} if profile in SMOOTH else {})
    long = tj.point_to_point([0.0], [1.0], profile=profile, duration=50.0, **bounds)
    assert long.duration == 50.0
    assert worst(long, bounds).max() < 1.0
    with pytest.raises(lw.InputError, match="too short"):
        tj.point_to_point([0.0], [1.0], profile=profile, duration=0.01, **bounds)


def test_standing_still_is_a_trajectory():
    still = tj.point_to_point([1.0, 2.0], [1.0, 2.0], velocity=1.0, acceleration=1.0, jerk=1.0)
    assert still.duration == 0.0
    np.testing.assert_array_equal(still([0.0, 5.0]), [[1.0, 2.0]] * 2)
    waits = tj.point_to_point([1.0], [1.0], duration=2.0)
    assert waits.duration == 2.0
    np.testing.assert_array_equal(waits.velocity([0.0, 1.0]), 0.0)


# ---- splines


@pytest.mark.parametrize("kind", ["cubic", "quintic"])
def test_a_spline_passes_its_points_and_is_as_smooth_as_it_says(kind):
    random = rng(kind)
    for m in (2, 3, 4, 9):
        q = random.normal(size=(m, 3))
        t = np.concatenate([[0.0], np.cumsum(random.uniform(0.2, 2.0, m - 1))])
        v0, v1 = random.normal(size=(2, 3))
        made = tj.through(q, times=t, kind=kind, start_velocity=v0, end_velocity=v1)
        np.testing.assert_allclose(made(t), q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(made.velocity([0.0, t[-1]]), [v0, v1], rtol=0, atol=1e-10)
        for order in range(3 if kind == "cubic" else 4):
            # a continuous derivative differs by no more than its own derivative allows
            bound = 2.1 * np.abs(made.extremes(order + 1)).max()
            assert steps_of(made, order) <= bound + 1e-2, (m, order)
        if kind == "quintic":
            np.testing.assert_allclose(made.acceleration([0.0, t[-1]]), 0.0, rtol=0, atol=1e-9)


def test_the_cubic_spline_is_scipys():
    interpolate = pytest.importorskip("scipy.interpolate", reason="SciPy is not installed")
    random = rng("scipy")
    q = random.normal(size=(12, 2))
    t = np.concatenate([[0.0], np.cumsum(random.uniform(0.2, 2.0, 11))])
    made = tj.through(q, times=t)
    theirs = interpolate.CubicSpline(t, q, bc_type="clamped")
    at = np.linspace(0.0, t[-1], 333)
    np.testing.assert_allclose(made(at), theirs(at), rtol=0, atol=1e-12)
    np.testing.assert_allclose(made.acceleration(at), theirs(at, 2), rtol=0, atol=1e-9)
    quintic = tj.through(q, times=t, kind="quintic")
    ends = [(1, np.zeros(2)), (2, np.zeros(2))]
    theirs = interpolate.make_interp_spline(t, q, k=5, bc_type=(ends, ends))
    np.testing.assert_allclose(quintic(at), theirs(at), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["cubic", "quintic", "stops"])
def test_limits_are_kept_through_points_that_repeat(kind):
    random = rng(f"through {kind}")
    q = np.repeat(random.normal(size=(6, 3)), [1, 2, 1, 1, 3, 1], axis=0)
    bounds = limits_for("double_s" if kind != "cubic" else "cubic", 3, random)
    made = tj.through(q, kind=kind, **bounds)
    assert worst(made, bounds).max() == pytest.approx(1.0, rel=1e-9)
    near = np.abs(made(np.linspace(0.0, made.duration, 20_001))[:, None] - q[None]).max(axis=2)
    assert (near.min(axis=0) < 1e-3).all()
    np.testing.assert_allclose(made.end, q[-1], rtol=0, atol=1e-12)
    assert tj.through(q, kind=kind, duration=7.0).duration == 7.0
    assert tj.through(q[:1].repeat(3, axis=0), kind=kind, duration=1.0).duration == 1.0


# ---- what a trajectory can do


def random_trajectory(random, n=3):
    """A spline through random points."""
    return tj.through(random.normal(size=(5, n)), duration=3.0, joint_names=list("abc")[:n])


def test_derivatives_are_those_of_positions():
    made = random_trajectory(rng("derivatives"))
    t = np.linspace(0.05, 2.95, 61)
    t = t[np.abs(t[:, None] - made.times).min(axis=1) > 1e-3]
    e = 1e-6
    for f, df in ((made, made.velocity), (made.velocity, made.acceleration),
                  (made.acceleration, made.jerk)):  # fmt: skip
        np.testing.assert_allclose((f(t + e) - f(t - e)) / (2 * e), df(t), rtol=1e-5, atol=1e-5)


def test_extremes_are_those_of_dense_samples_and_not_below():
    random = rng("extremes")
    for profile in ("spline", "cubic", *SMOOTH):
        if profile == "spline":
            made = tj.through(random.normal(size=(6, 3)), kind="quintic", duration=2.0)
        else:
            made = tj.point_to_point([0.0, 1.0], [1.0, -3.0], profile=profile, duration=2.0)
        t = np.linspace(0.0, 2.0, 40_001)
        functions = (made, made.velocity, made.acceleration, made.jerk)
        for order, function in enumerate(functions):
            values = function(t)
            lowest, highest = made.extremes(order)
            scale = 1e-6 * (1.0 + np.abs(values).max())
            assert (lowest <= values.min(axis=0) + scale * 1e-6).all()
            assert (highest >= values.max(axis=0) - scale * 1e-6).all()
            np.testing.assert_allclose(lowest, values.min(axis=0), atol=1e3 * scale)


def test_steps_of_accelerations_are_infinite_jerks():
    made = tj.point_to_point([0.0], [1.0], profile="trapezoid", velocity=1.0, acceleration=1.0)
    assert made.uses(jerk=1e9)["jerk"] == np.inf
    with pytest.raises(lw.InputError, match="jerk finite"):
        made.within(jerk=1.0)
    for profile in ("constant_acceleration", "trapezoid", "cubic"):
        with pytest.raises(lw.InputError, match="double_s or quintic"):
            tj.point_to_point([0.0], [1.0], profile=profile, acceleration=1.0, jerk=1.0)


def test_stretched_reversed_and_joined():
    random = rng("operations")
    made = random_trajectory(random)
    t = np.linspace(0.0, 3.0, 41)
    half = made.stretched(0.5)
    np.testing.assert_allclose(half(t / 2), made(t), rtol=0, atol=1e-13)
    np.testing.assert_allclose(half.velocity(t / 2)[1:-1], 2 * made.velocity(t)[1:-1], atol=1e-12)
    assert made.lasting(0.7).duration == 0.7
    back = made.reversed()
    np.testing.assert_allclose(back(3.0 - t), made(t), rtol=0, atol=1e-13)
    np.testing.assert_allclose(back.velocity(3.0 - t)[1:-1], -made.velocity(t)[1:-1], atol=1e-11)
    both = made.then(back, made)
    assert both.duration == pytest.approx(9.0)
    np.testing.assert_allclose(both(6.0 + t), made(t), rtol=0, atol=1e-12)
    assert both.joint_names == ("a", "b", "c")
    other = tj.point_to_point(made.end + 1e-3, np.zeros(3), duration=1.0)
    with pytest.raises(lw.InputError, match=r"[abc] ends at"):
        made.then(other)
    with pytest.raises(lw.ShapeError):
        made.then(tj.point_to_point([0.0], [1.0], duration=1.0))


@pytest.mark.parametrize("kind", ["cubic", "quintic"])
def test_an_instant_gives_the_bits_that_it_gives_among_others(kind):
    g = rng(f"instants {kind}")
    made = tj.through(g.normal(size=(5, 3)), times=[0.0, 0.5, 0.8, 2.0, 2.1], kind=kind)
    instants = np.concatenate([g.uniform(-0.1, made.duration + 0.1, 50), made.times])
    for each in (made, made.velocity, made.acceleration, made.jerk):
        at_once = each(instants)
        for t, row in zip(instants.tolist(), at_once, strict=True):
            np.testing.assert_array_equal(each(t), row)
    made(0.0)[:] = np.nan  # what is given back is the caller's
    assert np.isfinite(made(0.0)).all()


def test_before_and_after_all_stands_still():
    made = random_trajectory(rng("still"))
    np.testing.assert_array_equal(made([-1.0, 9.0]), [made.start, made.end])
    for function in (made.velocity, made.acceleration, made.jerk):
        np.testing.assert_array_equal(function([-1.0, 9.0]), 0.0)
    assert made(np.zeros((4, 2))).shape == (4, 2, 3)


def test_samples_include_both_ends():
    made = random_trajectory(rng("samples"))
    for samples in (made.sample(dt=0.7), made.sample(n=5), made.sample(dt=100.0)):
        np.testing.assert_array_equal(samples.q[[0, -1]], [made.start, made.end])
        np.testing.assert_array_equal(samples.v, made.velocity(samples.t))
    np.testing.assert_allclose(made.sample(dt=0.7).t, [0.0, 0.7, 1.4, 2.1, 2.8, 3.0])
    assert len(made.sample(dt=0.1).t) == 31
    for bad in ({}, {"dt": 0.1, "n": 3}, {"dt": 0.0}, {"n": 1}, {"dt": 1e-300}):
        with pytest.raises(lw.InputError):
            made.sample(**bad)


def test_files_hold_all_of_it(tmp_path):
    made = random_trajectory(rng("files"))
    made.save(tmp_path / "move.npz")
    again = tj.load(tmp_path / "move.npz")
    np.testing.assert_array_equal(again.times, made.times)
    np.testing.assert_array_equal(again.coefficients, made.coefficients)
    assert again.joint_names == made.joint_names
    made.save(tmp_path / "move.csv", dt=0.5)
    lines = (tmp_path / "move.csv").read_text().splitlines()
    assert lines[0] == "t,q_a,q_b,q_c,v_a,v_b,v_c,a_a,a_b,a_c"
    rows = np.array([[float(x) for x in line.split(",")] for line in lines[1:]])
    np.testing.assert_array_equal(rows, np.column_stack(made.sample(dt=0.5)))
    (tmp_path / "other.npz").write_bytes(b"no")
    for wrong in ("other.npz", "none.npz"):
        with pytest.raises(lw.InputError, match="no trajectory"):
            tj.load(tmp_path / wrong)
    with pytest.raises(lw.InputError, match=r"\.csv or \.npz"):
        made.save(tmp_path / "move.txt")


def test_a_plot_shows_every_derivative():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    made = random_trajectory(rng("plot"))
    figure = made.plot(["a", "c"])
    assert [len(axes.lines) for axes in figure.axes] == [2, 2, 2, 2]
    with pytest.raises(lw.InputError, match="no joint 'd'"):
        made.plot("d")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: tj.point_to_point([0.0], [1.0, 2.0], duration=1.0),
        lambda: tj.point_to_point([0.0], [math.nan], duration=1.0),
        lambda: tj.point_to_point([0.0], [1.0]),
        lambda: tj.point_to_point([0.0], [1.0], profile="triangle", duration=1.0),
        lambda: tj.point_to_point([0.0], [1.0], velocity=0.0, acceleration=1.0, jerk=1.0),
        lambda: tj.point_to_point([0.0], [1.0], velocity=-1.0, acceleration=1.0, jerk=1.0),
        lambda: tj.point_to_point([0.0], [1.0], velocity=[1.0, 2.0], acceleration=1.0, jerk=1.0),
        lambda: tj.point_to_point([0.0], [1.0], duration=0.0),
        lambda: tj.point_to_point([0.0], [1.0], duration=1.0, synchronise="all"),
        lambda: tj.through([[0.0]], duration=1.0),
        lambda: tj.through([[0.0], [1.0]]),
        lambda: tj.through([[0.0], [1.0]], kind="linear", duration=1.0),
        lambda: tj.through([[0.0], [1.0]], times=[0.0, 0.0]),
        lambda: tj.through([[0.0], [1.0]], times=[1.0, 2.0]),
        lambda: tj.through([[0.0], [1.0]], times=[0.0, 1.0, 2.0]),
        lambda: tj.through([[0.0], [1.0]], times=[0.0, 1.0], duration=2.0),
        lambda: tj.through([[0.0], [1.0]], duration=1.0, start_velocity=1.0),
        lambda: tj.through([[0.0], [math.inf]], duration=1.0),
        lambda: tj.through([[0.0], [1.0]], velocity=1.0, duration=1e-6),
        lambda: tj.through([[0.0], [1.0]], kind="stops", times=[0.0, 1.0]),
        lambda: tj.through([[0.0], [1.0]], velocity=math.inf),
        lambda: tj.through([[0.0], [1.0]], times=[0.0, 1.0], velocity=1.0),
        lambda: tj.through([[0.0], [1.0]], times=[0.0, 1.0], jerk=1.0),
        lambda: tj.through([[0.0], [1.0]], kind="stops", duration=1.0, joint_names=["a", "b"]),
        lambda: tj.through([[0.0], [1.0]], kind="stops", duration=1.0, start_velocity=1.0),
        lambda: tj.point_to_point([0.0], [1.0], profile=["cubic"], duration=1.0),
        lambda: tj.point_to_point([0.0], [1.0], duration=1.0, joint_names=[1]),
        lambda: tj.point_to_point([0.0], [1.0], duration=1.0, joint_names=5),
        lambda: tj.point_to_point([0, 0], [1, 1], duration=1.0, joint_names=["a", "a"]),
        lambda: tj.point_to_point([0, 0], [1, 1], duration=1.0, joint_names="ab"),
        lambda: tj.from_polynomials([0.0, 1.0], np.zeros((2, 3, 1))),
        lambda: tj.from_polynomials([0.0, -1.0], np.zeros((1, 3, 1))),
        lambda: tj.from_polynomials([0.0, 1.0], np.full((1, 3, 1), math.nan)),
        lambda: tj.from_polynomials([0.0, 1.0], np.zeros((1, 3, 1)), ["a", "b"]),
        lambda: tj.point_to_point([0.0], [1.0], duration=1.0)(math.nan),
        lambda: tj.point_to_point([0.0], [1.0], duration=1.0).stretched(-1.0),
        lambda: tj.point_to_point([0.0], [1.0], duration=1.0).within(),
        lambda: tj.point_to_point([0.0], [1.0], duration=1.0).then([]),
        lambda: tj.point_to_point([0.0], [1.0], duration=1.0).uses(robot="ur5e"),
        lambda: tj.point_to_point([0.0], [1.0], duration=1.0).plot(0),
        lambda: tj.point_to_point([0.0], [1.0], duration=1.0).save(None),
        lambda: tj.load(None),
        lambda: tj.line("ur5e", [0.0], np.eye(4), duration=1.0),
        lambda: tj.along([[0.0], [1.0]]),
    ],
)
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(lw.InputError) as caught:
        wrong()
    assert len(str(caught.value)) > 20


def test_times_that_keep_the_limits_are_taken():
    points = rng("times").uniform(-1.0, 1.0, (4, 2))
    free = tj.through(points, times=[0.0, 2.0, 3.0, 5.0], joint_names=["a", "b"])
    most = {"velocity": np.abs(free.extremes(1)).max(axis=0), "acceleration": 100.0}
    held = tj.through(points, times=[0.0, 2.0, 3.0, 5.0], joint_names=["a", "b"], **most)
    np.testing.assert_array_equal(held.coefficients, free.coefficients)
    most["velocity"] = most["velocity"] * [1.0, 0.5]
    with pytest.raises(lw.InputError, match=r"'b' needs 2 times its limit of velocity"):
        tj.through(points, times=[0.0, 2.0, 3.0, 5.0], joint_names=["a", "b"], **most)


def test_names_are_texts_from_anywhere_and_one_text_is_one_name():
    made = tj.point_to_point([0, 0], [1, 1], duration=1.0, joint_names=(c for c in "ab"))
    assert made.joint_names == ("a", "b")
    one = tj.through([[0.0], [1.0]], kind="stops", duration=1.0, joint_names="elbow")
    assert one.joint_names == ("elbow",)


def test_arrays_of_the_caller_stay_the_callers():
    times, coefficients = np.array([0.0, 1.0]), np.zeros((1, 2, 1))
    made = tj.from_polynomials(times, coefficients)
    times[1], coefficients[0, 0, 0] = 5.0, 7.0
    assert made.duration == 1.0
    assert made(0.5) == 0.0


def test_what_goes_on_moves_the_same_joints():
    there = tj.point_to_point([0.0, 0.0], [1.0, 1.0], duration=1.0, joint_names=["a", "b"])
    nameless = tj.point_to_point([1.0, 1.0], [0.0, 0.0], duration=1.0)
    back = tj.point_to_point([1.0, 1.0], [0.0, 0.0], duration=1.0, joint_names=["b", "a"])
    with pytest.raises(lw.InputError, match="b, a does not go on one of a, b"):
        there.then(back)
    assert there.then(nameless).joint_names == nameless.then(there).joint_names
    assert there.then(nameless).joint_names == ("a", "b")


def test_forces_are_of_joints_in_the_robots_order():
    robot = lw.load("planar_2r")
    made = tj.point_to_point([0.0, 0.0], [1.0, 0.5], duration=1.0, joint_names=["joint1", "joint2"])
    turned = tj.from_polynomials(made.times, made.coefficients, ["joint2", "joint1"])
    own = tj.from_polynomials(made.times, made.coefficients, ["shoulder", "elbow"])
    np.testing.assert_array_equal(own.uses(robot=robot)["torque"], made.uses(robot=robot)["torque"])
    with pytest.raises(lw.InputError, match="position 0 is 'joint2' here and 'joint1'"):
        turned.uses(robot=robot)


def test_names_with_commas_are_one_column(tmp_path):
    made = tj.point_to_point([0, 0], [1, 1], duration=1.0, joint_names=["a,b", 'c"d'])
    made.save(tmp_path / "move.csv", dt=0.5)
    with open(tmp_path / "move.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["t", "q_a,b", 'q_c"d', "v_a,b", 'v_c"d', "a_a,b", 'a_c"d']
    assert [float(x) for x in rows[-1][:3]] == [1.0, 1.0, 1.0]


def test_files_that_hold_no_trajectory(tmp_path):
    made = tj.point_to_point([0.0], [1.0], duration=1.0)
    made.save(tmp_path / "move.npz")
    made.save(tmp_path / "move.csv")
    whole = (tmp_path / "move.npz").read_bytes()
    files = {
        "short.npz": whole[:200],
        "bits.npz": whole[:120] + bytes([whole[120] ^ 255]) + whole[121:],
        "empty.npz": b"",
        "move.csv": (tmp_path / "move.csv").read_bytes(),
    }
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "others.npz", q=np.zeros(3))
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    for name in (*files, "array.npy", "others.npz", "none.npz", ""):
        with pytest.raises(lw.InputError, match="holds no trajectory") as caught:
            tj.load(tmp_path / name)
        assert "pickle" not in str(caught.value)


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ({"start_velocity": 5.0}, "start_velocity of position 0 is 5 and its limit 1"),
        ({"goal_velocity": [0.0, -5.0]}, "goal_velocity of position 1 is -5"),
        ({"start_acceleration": 5.0}, "start_acceleration of position 0 is 5 and its limit 2"),
        ({"start_velocity": 0.9, "start_acceleration": 2.0}, "which comes to 1.1 by"),
        ({"goal_velocity": -0.9, "goal_acceleration": 2.0}, "which comes from -1.1 by"),
    ],
)
def test_ends_that_break_a_limit_are_refused(ends, text):
    with pytest.raises(lw.InputError, match=text):
        tj.state_to_state([0, 0], [1, 2], velocity=1.0, acceleration=2.0, jerk=10.0, **ends)


# ---- along lines and arcs


@pytest.fixture(scope="module")
def arm():
    """An arm, a configuration of it, and the pose of its tool there."""
    robot = lw.load("ur5e")
    q0 = np.array([0.3, -1.2, 1.5, -1.0, -1.5, 0.2])
    return robot, q0, robot.fk(q0, "tool0")


def test_a_line_is_straight_and_keeps_its_limits(arm):
    robot, q0, T_0 = arm
    T_1 = T_0 @ lw.pose([0.05, 0.12, -0.1], rpy=[0.2, -0.1, 0.4])
    bounds = {"velocity": 0.2, "acceleration": 0.8, "jerk": 6.0, "angular_velocity": 0.5}
    made = tj.line(robot, q0, T_1, "tool0", **bounds)
    t = np.linspace(0.0, made.duration, 2001)
    T = robot.fk(made(t), "tool0")
    way = T_1[:3, 3] - T_0[:3, 3]
    unit = way / np.linalg.norm(way)
    gone = (T[:, :3, 3] - T_0[:3, 3]) @ unit
    off = np.linalg.norm(T[:, :3, 3] - T_0[:3, 3] - gone[:, None] * unit, axis=1)
    assert off.max() < 1e-5
    np.testing.assert_allclose(T[-1], T_1, rtol=0, atol=1e-9)
    speed = np.gradient(gone, t)
    assert speed.max() <= 0.2 * 1.01
    # the rotation is at the same share of its way
    expected = lw.poses.interpolate(T_0, T_1, gone / np.linalg.norm(way), path="separate")
    np.testing.assert_allclose(T[:, :3, :3], expected[:, :3, :3], rtol=0, atol=1e-4)
    slow = tj.line(robot, q0, T_1, "tool0", joint_velocity=0.1, **bounds)
    assert worst(slow, {"velocity": 0.1}).max() == pytest.approx(1.0, rel=1e-9)
    assert made.joint_names == robot.joint_names


def test_an_arc_lies_on_the_circle_of_its_three_points(arm):
    robot, q0, T_0 = arm
    via = T_0[:3, 3] + [0.05, 0.05, 0.02]
    T_1 = T_0.copy()
    T_1[:3, 3] += [0.12, 0.0, 0.0]
    made = tj.arc(robot, q0, via, T_1, "tool0", duration=2.0)
    p = robot.fk(made(np.linspace(0.0, 2.0, 2001)), "tool0")[:, :3, 3]
    assert np.linalg.norm(p - via, axis=1).min() < 1e-3
    a, b, c = T_0[:3, 3], via, T_1[:3, 3]
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal)
    rows = np.stack([b - a, c - a, normal])
    center = np.linalg.solve(rows, [(b @ b - a @ a) / 2, (c @ c - a @ a) / 2, normal @ a])
    radii = np.linalg.norm(p - center, axis=1)
    np.testing.assert_allclose(radii, np.linalg.norm(a - center), rtol=0, atol=1e-5)
    np.testing.assert_allclose((p - a) @ normal, 0.0, rtol=0, atol=1e-5)
    with pytest.raises(lw.InputError, match="lie on a line"):
        tj.arc(robot, q0, 0.5 * (a + c), T_1, "tool0", duration=2.0)


def test_a_path_of_ones_own(arm):
    robot, q0, T_0 = arm

    def wave(s):
        T = np.broadcast_to(T_0, (len(s), 4, 4)).copy()
        T[:, 2, 3] += 0.02 * np.sin(4.0 * np.pi * s)
        T[:, 1, 3] += 0.1 * s
        return T

    made = tj.follow(robot, q0, wave, "tool0", length=0.2, duration=3.0)
    p = robot.fk(made(np.linspace(0.0, 3.0, 501)), "tool0")[:, :3, 3]
    s = (p[:, 1] - T_0[1, 3]) / 0.1
    np.testing.assert_allclose(p[:, 2] - T_0[2, 3], 0.02 * np.sin(4.0 * np.pi * s), atol=3e-5)


def test_ways_that_no_arm_goes_are_refused_with_the_place(arm):
    robot, q0, T_0 = arm
    with pytest.raises(lw.InputError, match=r"\d% of the path.*reach"):
        tj.line(robot, q0, lw.pose([3.0, 0.0, 0.0]), "tool0", duration=2.0)
    with pytest.raises(lw.InputError, match="does not begin"):
        tj.follow(robot, q0, lambda s: np.broadcast_to(np.eye(4), (len(s), 4, 4)), "tool0",
                  length=1.0, duration=1.0)  # fmt: skip
    with pytest.raises(lw.InputError, match="give limits"):
        tj.line(robot, q0, T_0 @ lw.pose([0.1, 0.0, 0.0]), "tool0")
    with pytest.raises(lw.InputError, match="too short"):
        tj.line(robot, q0, T_0 @ lw.pose([0.1, 0, 0]), "tool0", velocity=0.1, acceleration=1.0,
                jerk=9.0, duration=0.1)  # fmt: skip
    floating = lw.load("ur5e", base="floating")
    with pytest.raises(lw.UnsupportedFeatureError, match="floating"):
        tj.line(floating, floating.neutral(), np.eye(4), "tool0", duration=1.0)
    still = tj.line(robot, q0, T_0, "tool0", duration=1.5)
    np.testing.assert_allclose(still.end, q0)


def test_what_a_path_of_ones_own_must_give(arm):
    robot, q0, T_0 = arm

    def rising(s):
        T = np.broadcast_to(T_0, (len(s), 4, 4)).copy()
        T[:, 2, 3] += 0.05 * s
        return T

    def go(path, **more):
        return tj.follow(robot, q0, path, "tool0", **{"length": 0.05, "duration": 1.0, **more})

    listed = go(lambda s: rising(s).tolist())
    np.testing.assert_array_equal(listed.end, go(rising).end)
    turned = T_0 @ lw.pose([0.0, 0.0, 0.0], rpy=[0.0, 0.0, 0.3])
    for text, call in {
        r"path must give poses \(1, 4, 4\)": lambda: go(lambda s: rising(s)[0]),
        "the poses of path": lambda: go(lambda s: None),
        "path must be a function": lambda: go([T_0, T_0]),
        "does not begin": lambda: go(lambda s: np.broadcast_to(turned, (len(s), 4, 4))),
        "leads 0.05 m and 0 rad away": lambda: go(rising, length=0.0),
        "max_deviation must be": lambda: go(rising, max_deviation=-1.0),
        "joint_velocity must be above zero": lambda: go(rising, joint_velocity=0.0),
        r"q0 must have shape \(6,\)": lambda: tj.line(robot, [q0, q0], T_0, duration=1.0),
        "p_world_via must be finite": lambda: tj.arc(robot, q0, [0, math.nan, 0], T_0),
        "only turns: give limits .angular_velocity": lambda: tj.line(robot, q0, turned, "tool0",
                                                                     velocity=1.0),
    }.items():  # fmt: skip
        with pytest.raises(lw.InputError, match=text):
            call()


def test_a_simulation_follows_a_trajectory(arm):
    robot, q0, _ = arm
    move = tj.point_to_point(q0, q0 + 0.3, velocity=1.0, acceleration=2.0, jerk=20.0)
    law = lw.PD(kp=4000.0, kd=200.0, q_target=move)
    result = lw.simulate(robot, q0, duration=move.duration, torque=law, armature=0.5)
    assert np.abs(result.q - move(result.times)).max() < 0.03
    named = lw.PD(kp=4000.0, kd=200.0, q_target=move, v_target=move.velocity)
    same = lw.simulate(robot, q0, duration=move.duration, torque=named, armature=0.5)
    np.testing.assert_array_equal(result.q, same.q)
