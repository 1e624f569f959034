"""Plots: what is drawn is what the robot's own functions say; what cannot be drawn is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import linkwork as lw
from fresh_python import python
from linkwork.errors import (
    InputError,
    LinkworkError,
    MissingExtraError,
    ShapeError,
    UnknownNameError,
    UnsupportedFeatureError,
)
from linkwork.models import MODELS
from robots import every_joint_urdf
from seeds import rng

matplotlib = pytest.importorskip(
    "matplotlib", reason="matplotlib (pip install matplotlib) is missing"
)
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def spline(robot, label, n=4):
    points = robot.random(n, seed=rng(label))
    return lw.trajectory.through(points, kind="quintic", velocity=1.0, acceleration=4.0)


def curve(axis, k=0):
    return axis.lines[k].get_xdata(), axis.lines[k].get_ydata()


# --- motions ---


def test_positions_are_those_of_the_trajectory():
    robot = lw.load("scara")
    path = spline(robot, "positions")
    axes = lw.plots.positions(robot, path)
    assert axes.shape == (4,)
    assert [axis.get_title(loc="left") for axis in axes] == list(robot.joint_names)
    units = ["m" if kind.name == "PRISMATIC" else "deg" for kind in robot.mechanism.joint_types]
    assert [axis.get_ylabel() for axis in axes] == units
    for k, axis in enumerate(axes):
        t, values = curve(axis)
        factor = 1.0 if units[k] == "m" else 180.0 / np.pi
        np.testing.assert_allclose(values, factor * path(t)[:, k], atol=1e-12)
    radians = lw.plots.positions(robot, path, units="rad")
    assert radians[0].get_ylabel() == "rad"
    t, values = curve(radians[0])
    np.testing.assert_array_equal(values, path(t)[:, 0])


def test_a_trajectory_of_some_joints_leaves_the_others_neutral():
    robot = lw.load("panda")
    move = lw.trajectory.point_to_point(
        [-1.0, 0.2], [-2.0, 0.5], velocity=1.0, profile="cubic", joint_names=("joint4", "joint2")
    )
    axes = lw.plots.positions(robot, move, units="rad")
    ends = [curve(axis)[1][-1] for axis in axes]
    np.testing.assert_allclose(ends, robot.configuration({"joint4": -2.0, "joint2": 0.5}))
    whole = move(np.linspace(0.0, move.duration, 5))[:, [1, 0]]
    t = np.linspace(0.0, move.duration, 5)
    q, v, dv = np.zeros((3, 5, 7))
    for a, b in ((q, whole), (v, move.velocity(t)[:, ::-1]), (dv, move.acceleration(t)[:, ::-1])):
        a[:, [1, 3]] = b
    tau = lw.plots.torques(robot, move)
    at = [np.searchsorted(curve(tau[0])[0], s - 1e-12) for s in t[[0, -1]]]
    expected = robot.inverse_dynamics(q, v, dv)[[0, -1]]
    np.testing.assert_allclose(np.array([curve(axis)[1][at] for axis in tau]).T, expected)


def test_torques_of_joints_that_follow_through_loops_need_their_rates():
    robot = lw.load("four_bar")
    crank = robot.assemble().q[0]
    move = lw.trajectory.point_to_point(
        [crank], [crank + 0.3], velocity=1.0, profile="cubic", joint_names=("crank",)
    )
    axes = lw.plots.positions(robot, move, units="rad")
    assert robot.is_assembled([curve(axis)[1][-1] for axis in axes], tolerance=1e-9)
    with pytest.raises(UnsupportedFeatureError, match="loops"):
        lw.plots.torques(robot, move)


def test_limits_are_drawn_where_they_are_near_and_told_where_they_are_far():
    robot = lw.load("planar_2r")  # +- 180 and +- 160.43 degrees
    near = np.stack([np.linspace(-3.0, 3.0, 20), np.linspace(0.0, 0.1, 20)], axis=1)
    first, second = lw.plots.positions(robot, (np.arange(20.0), near))
    dashed = sorted(line.get_ydata()[0] for line in first.lines if line.get_linestyle() == "--")
    np.testing.assert_allclose(dashed, [-180.0, 180.0])
    assert first.get_ylim()[0] < -180.0 and first.get_ylim()[1] > 180.0
    assert second.get_title(loc="right") == "limits -160.4, 160.4 deg"
    assert all(line.get_linestyle() != "--" for line in second.lines)


def test_what_is_beyond_a_limit_is_marked():
    robot = lw.load("planar_2r")
    path = np.stack([np.linspace(-4.0, 2.0, 50), np.zeros(50)], axis=1)
    axis = lw.plots.positions(robot, path, joints=robot.joint_names[0], units="rad")[0]
    marked = axis.lines[-1].get_ydata()
    lower = robot.limits.lower[0]
    np.testing.assert_array_equal(marked[path[:, 0] < lower], path[path[:, 0] < lower, 0])
    assert np.isnan(marked[path[:, 0] >= lower]).all()
    assert axis.get_xlabel() == "configuration"


def test_simulations_and_given_axes():
    robot = lw.load("planar_2r")
    result = lw.simulate(robot, [0.3, 0.2], duration=0.1)
    figure = plt.figure()
    given = figure.subplots(2, 1)
    axes = lw.plots.positions(robot, result, axes=given, units="rad")
    assert list(axes) == list(given)
    for k, axis in enumerate(axes):
        np.testing.assert_array_equal(curve(axis)[1], result.q[:, k])
    forces = lw.plots.torques(robot, result)
    np.testing.assert_array_equal(curve(forces[1])[1], result.torques[:, 1])
    with pytest.raises(InputError, match="no accelerations"):
        lw.plots.torques(robot, result, parts=True)
    batch = lw.simulate(robot, [[0.3, 0.2], [0.1, 0.1]], duration=0.05)
    with pytest.raises(ShapeError, match="batch"):
        lw.plots.positions(robot, batch)
    lw.plots.positions(robot, (batch.times, batch.q[1]))


@pytest.mark.slow
def test_torques_are_those_of_inverse_dynamics_and_their_parts_add_up():
    robot = lw.load("ur5e")
    path = spline(robot, "torques")
    axes = lw.plots.torques(robot, path, parts=True, losses=True)
    labels = [line.get_label() for line in axes[0].lines][:5]
    assert labels == ["needed", "gravity", "inertia", "Coriolis", "losses"]
    for k, axis in enumerate(axes):
        t, whole = curve(axis)
        q, v, dv = path(t), path.velocity(t), path.acceleration(t)
        np.testing.assert_array_equal(whole, robot.inverse_dynamics(q, v, dv, losses=True)[:, k])
        np.testing.assert_array_equal(curve(axis, 1)[1], robot.gravity_forces(q)[:, k])
        inertia = np.einsum("nij,nj->ni", robot.mass_matrix(q), dv)[:, k]
        np.testing.assert_allclose(curve(axis, 2)[1], inertia, atol=1e-9)
        parts = sum(curve(axis, i)[1] for i in range(1, 5))
        np.testing.assert_allclose(parts, whole, atol=1e-9)
    light = lw.plots.torques(robot, path, gravity=[0.0, 0.0, 0.0], joints="elbow_joint")
    t, values = curve(light[0])
    at = (path(t), path.velocity(t), path.acceleration(t))
    expected = robot.inverse_dynamics(*at, gravity=[0.0, 0.0, 0.0])[:, 2]
    np.testing.assert_array_equal(values, expected)


def test_parts_that_cancel_are_inside_of_the_axis():
    robot = lw.load("ur5e")
    q = robot.random(5, seed=3)
    rest = np.zeros((5, 6))
    falling = robot.forward_dynamics(q, rest, rest)  # needs no forces: inertia is against gravity
    for axis in lw.plots.torques(robot, (np.arange(5.0), q, rest, falling), parts=True):
        low, high = axis.get_ylim()
        for line in axis.get_lines():
            y = np.asarray(line.get_ydata(), float)
            assert low <= y.min() and y.max() <= high, line.get_label()


# --- Jacobians ---


@pytest.mark.parametrize("kind", ["velocity", "force"])
def test_ellipses_have_the_axes_of_the_jacobian(kind):
    robot = lw.load("planar_3r")
    q = np.array([[0.3, 0.8, -0.5], [1.0, -1.2, 0.4]])
    axes = lw.plots.ellipsoids(robot, q, kind=kind, scale=1.0)
    outlines = [line for line in axes.lines if len(line.get_xdata()) == 121]
    assert len(outlines) == 2
    for row, outline in zip(q, outlines, strict=True):
        J = robot.jacobian(row)[:2]
        centre = robot.fk(row)[:2, 3]
        points = np.stack(outline.get_data(), axis=1) - centre
        # the outline is where the quadratic form of the ellipsoid is 1
        form = np.linalg.inv(J @ J.T) if kind == "velocity" else J @ J.T
        np.testing.assert_allclose(np.einsum("ni,ij,nj->n", points, form, points), 1.0, rtol=1e-9)
        lengths = np.linalg.norm(points, axis=1)
        values = np.linalg.svd(J, compute_uv=False)
        wanted = values if kind == "velocity" else 1.0 / values[::-1]
        np.testing.assert_allclose([lengths.max(), lengths.min()], wanted, rtol=1e-3)


def test_ellipsoids_in_space_by_limits_and_in_a_named_plane():
    robot = lw.load("panda")
    q = robot.random(seed=rng("ellipsoids"))
    assert lw.plots.ellipsoids(robot, q).name == "3d"
    axes = lw.plots.ellipsoids(robot, q, plane="xz", by_limits=True, scale=1.0)
    J = robot.jacobian(q)[[0, 2]] * robot.limits.velocity
    outline = next(line for line in axes.lines if len(line.get_xdata()) == 121)
    points = np.stack(outline.get_data(), axis=1) - robot.fk(q)[[0, 2], 3]
    form = np.linalg.inv(J @ J.T)
    # drawn no larger than the robot
    inside = np.einsum("ni,ij,nj->n", points, form, points)
    assert inside.max() <= 1.0 + 1e-9
    turning = lw.plots.ellipsoids(robot, q, rows="angular")
    assert "rad/s" in turning.get_title(loc="left")
    with pytest.raises(InputError, match="3d"):
        lw.plots.ellipsoids(robot, q, axes=plt.figure().add_subplot())
    with pytest.raises(InputError, match="without projection"):
        lw.plots.ellipsoids(robot, q, plane="xy", axes=plt.figure().add_subplot(projection="3d"))


def test_condition_of_a_planar_arm_against_its_formula():
    robot = lw.load("planar_2r")
    elbow = np.linspace(0.0, 2.5, 60)
    q = np.stack([np.full(60, 0.3), elbow], axis=1)
    number, smallest = lw.plots.condition(robot, q, threshold=10.0)
    values = np.linalg.svd(robot.jacobian(q)[:, :2], compute_uv=False)
    finite = elbow > 1e-3
    np.testing.assert_allclose(
        curve(number)[1][finite], (values[:, 0] / values[:, 1])[finite], rtol=1e-9
    )
    np.testing.assert_allclose(curve(smallest)[1], values[:, 1], atol=1e-12)
    assert number.get_yscale() == "log"
    # l1 l2 |sin| is the determinant; stretched arms are marked up to where the condition is 10
    marked = number.patches[0].get_x() + number.patches[0].get_width()
    first = np.flatnonzero(values[:, 0] / np.maximum(values[:, 1], 1e-300) <= 10.0)[0]
    assert first - 1 <= marked <= first
    labels = [line.get_label() for line in number.lines]
    assert labels[:2] == ["translation", "rotation"]
    together = lw.plots.condition(robot, q, length=0.5)[0]
    assert "all rows" in [line.get_label() for line in together.lines]


# --- reach ---


def test_cells_of_a_workspace_are_those_of_random_configurations():
    robot = lw.load("planar_2r")
    axes = lw.plots.workspace(robot, n=4000, seed=3, colour="density")
    mesh = axes.collections[0]
    points = robot.fk(robot.random(4000, seed=3))[:, :2, 3]
    y, x = (np.unique(mesh.get_coordinates()[..., k]) for k in (1, 0))
    expected, _, _ = np.histogram2d(
        points[:, 0], points[:, 1], bins=[np.unique(np.round(x, 9)), np.unique(np.round(y, 9))]
    )
    shown = np.ma.filled(mesh.get_array(), 0.0)
    assert shown.sum() == 4000
    assert np.abs(shown - expected.T).sum() <= 8  # but for points on a border
    best = lw.plots.workspace(robot, n=4000, seed=3).collections[0].get_array()
    l1, l2 = 1.0, robot.fk([0.0, 0.0])[0, 3] - 1.0
    assert best.max() == pytest.approx(l1 * l2, rel=1e-3)  # at a right angle of the elbow


def test_a_slice_lies_on_its_plane():
    robot = lw.load("ur5e")
    axes = lw.plots.workspace(robot, plane="xz", at=0.2, n=2000)
    assert "y = 0.2 m" in axes.get_title(loc="left")
    assert np.ma.count(axes.collections[0].get_array()) > 100


def test_every_point_of_a_planar_arm_is_judged_as_its_annulus_says():
    robot = lw.load("planar_2r")
    made = lw.plots.reach_map(robot, step=0.05)
    l1, l2 = 1.0, robot.fk([0.0, 0.0])[0, 3] - 1.0
    most = robot.limits.upper[1]
    inner = np.sqrt(l1 * l1 + l2 * l2 + 2.0 * l1 * l2 * np.cos(most))
    radius = np.linalg.norm(made.points[..., :2], axis=-1)
    sure = (np.abs(radius - inner) > 1e-3) & (np.abs(radius - l1 - l2) > 1e-3)
    expected = (radius > inner) & (radius < l1 + l2)
    np.testing.assert_array_equal(made.reached[..., 0][sure], expected[sure])
    at = robot.fk(made.q[made.reached])[:, :3, 3]
    wanted = np.broadcast_to(made.points[..., None, :], (*made.reached.shape, 3))[made.reached]
    assert np.linalg.norm(at - wanted, axis=1).max() < 1e-4


@pytest.mark.parametrize(("name", "how"), [
    ("panda", {"plane": "xz", "orientations": 6, "step": 0.15}),
    ("scara", {"orientations": 4, "step": 0.25}),
    ("planar_3r", {"orientations": 8, "step": 0.3}),
])  # fmt: skip
def test_every_reached_pose_is_proven(name, how):
    robot = lw.load(name)
    made = lw.plots.reach_map(robot, **how)
    assert 0.05 < made.reached.mean() < 0.98
    T = robot.fk(made.q[made.reached])
    where = np.broadcast_to(made.points[..., None, :], (*made.reached.shape, 3))[made.reached]
    turned = np.broadcast_to(made.rotations, (*made.reached.shape, 3, 3))[made.reached]
    assert np.linalg.norm(T[:, :3, 3] - where, axis=1).max() < 1e-3
    assert np.abs(T[:, :3, :3] - turned).max() < 1e-2
    limits = robot.limits
    q = made.q[made.reached]
    assert (q >= limits.lower - 1e-9).all() and (q <= limits.upper + 1e-9).all()
    again = lw.plots.reach_map(robot, **how)
    np.testing.assert_array_equal(made.reached, again.reached)
    np.testing.assert_allclose(made.share, made.reached.mean(axis=-1))


def test_orientations_are_spread():
    robot = lw.load("panda")
    made = lw.plots.reach_map(robot, plane="xy", at=0.4, orientations=100, step=0.6, searches=1)
    R = made.rotations
    np.testing.assert_allclose(
        R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), atol=1e-12
    )
    np.testing.assert_allclose(np.linalg.det(R), 1.0)
    assert np.abs(R.mean(axis=0)).max() < 0.05  # no direction is preferred
    one = lw.plots.reach_map(
        robot, plane="xy", at=0.4, orientations=np.eye(3), step=0.6, searches=1
    )
    assert one.reached.shape[-1] == 1


def test_a_map_is_drawn_as_it_is_and_progress_is_told():
    robot = lw.load("planar_3r")
    told = []
    how = {"orientations": 6, "step": 0.4, "searches": 6}
    made = lw.plots.reach_map(robot, progress=lambda *now: told.append(now), **how)
    assert told[-1] == (6, 6)
    axes = lw.plots.reachability(robot, **how)
    shown = axes.collections[0].get_array()
    np.testing.assert_array_equal(np.ma.getmaskarray(shown), ~made.reached.any(axis=-1))
    np.testing.assert_allclose(shown.compressed(), made.share[made.reached.any(axis=-1)])
    space = lw.plots.reachability(lw.load("scara"), orientations=2, step=0.4, searches=3)
    assert space.name == "3d"


# --- all robots ---


def tip_of(robot):
    return MODELS[robot.name].tip


OF_ALL_KINDS = ("scara", "mobile_arm", "delta")  # with slides, wheels, loops in space


@pytest.mark.parametrize(
    "name", ["four_bar", *[pytest.param(n, marks=pytest.mark.slow) for n in OF_ALL_KINDS]]
)
def test_bundled_robots_of_all_kinds_are_plotted_or_refused_by_name(name):
    robot = lw.load(name)
    q = robot.random(3, seed=1)
    if robot.mechanism.is_closed:
        q = robot.assemble(q0=q).q
    states = (np.arange(3.0), q, np.zeros((3, robot.n_v)), np.zeros((3, robot.n_v)))
    calls = {
        "positions": lambda: lw.plots.positions(robot, q),
        "torques": lambda: lw.plots.torques(robot, states, parts=True),
        "ellipsoids": lambda: lw.plots.ellipsoids(robot, q, tip_of(robot)),
        "condition": lambda: lw.plots.condition(robot, q, tip_of(robot)),
        "workspace": lambda: lw.plots.workspace(robot, tip_of(robot), n=200),
        "slice": lambda: lw.plots.workspace(robot, tip_of(robot), n=200, plane="xz"),
        "reach": lambda: lw.plots.reachability(robot, tip_of(robot), searches=2),
    }
    for what, call in calls.items():
        try:
            axes = np.asarray(call(), dtype=object).reshape(-1)
        except LinkworkError as refused:
            text = str(refused)
            assert robot.name in text or MODELS[name].tip in text or "assembled" in text, what
            continue
        axes[0].figure.canvas.draw()
        plt.close("all")


def test_floating_and_spherical_joints():
    robot = lw.load(every_joint_urdf())
    q = robot.random(4, seed=2)
    axes = lw.plots.positions(robot, q)
    assert len(axes) == robot.n_q
    assert (
        len(lw.plots.torques(robot, (np.arange(4.0), q, *np.zeros((2, 4, robot.n_v))))) == robot.n_v
    )
    lw.plots.workspace(robot, "hand", n=200)
    with pytest.raises(UnsupportedFeatureError, match="quaternions"):
        lw.plots.workspace(robot, "hand", n=200, plane="xz")


# --- what is refused ---


def test_wrong_requests_teach():
    robot = lw.load("planar_2r")
    q = np.zeros((3, 2))
    cases = [
        (lambda: lw.plots.positions(robot, q, joints="joint9"), UnknownNameError, "joint1"),
        (lambda: lw.plots.positions(robot, q, units="grad"), InputError, "'deg' or 'rad'"),
        (lambda: lw.plots.positions(robot, np.zeros((3, 5))), ShapeError, "2"),
        (lambda: lw.plots.positions(robot, ([0.0, 1.0, 0.5], q)), InputError, "times"),
        (lambda: lw.plots.positions(robot, ([0.0, 1.0], q)), ShapeError, "2 times"),
        (
            lambda: lw.plots.positions(robot, q, axes=plt.figure().add_subplot()),
            InputError,
            "2 panels",
        ),
        (lambda: lw.plots.torques(robot, ([0.0, 1.0, 2.0], q)), InputError, "times, q, v, dv"),
        (lambda: lw.plots.ellipsoids(robot, q[0], "tool9"), UnknownNameError, "tool0"),
        (
            lambda: lw.plots.ellipsoids(robot, q[0], kind="speed"),
            InputError,
            "'velocity' or 'force'",
        ),
        (lambda: lw.plots.ellipsoids(robot, [0.0, np.nan]), InputError, "finite"),
        (lambda: lw.plots.condition(robot, q, threshold=1.0), InputError, "above 1"),
        (lambda: lw.plots.condition(robot, q, "base_link"), InputError, "moves 'base_link'"),
        (lambda: lw.plots.workspace(robot, plane="xx"), InputError, "'xz'"),
        (lambda: lw.plots.workspace(robot, n=0), InputError, "from 1"),
        (lambda: lw.plots.workspace(robot, colour="red"), InputError, "density"),
        (lambda: lw.plots.reachability(robot, step=-1.0), InputError, "above 0"),
        (lambda: lw.plots.reachability(robot, step=1e-6), InputError, "points"),
        (lambda: lw.plots.reachability(robot, box=[[0, 0, 0], [1, 1, 1]]), ShapeError, r"\(2, 2\)"),
        (lambda: lw.plots.reachability(robot, orientations="all"), InputError, "'any'"),
        (
            lambda: lw.plots.reachability(robot, orientations=np.ones((3, 3))),
            InputError,
            "rotation",
        ),
    ]
    for call, error, text in cases:
        with pytest.raises(error, match=text):
            call()
    closed = lw.load("delta")
    with pytest.raises(UnsupportedFeatureError, match="delta"):
        lw.plots.workspace(closed, "tool0", plane="xz", n=50)


def test_matplotlib_is_loaded_by_the_first_plot_alone():
    python("import sys, linkwork.plots; sys.exit('matplotlib' in sys.modules)")


def test_without_matplotlib(monkeypatch):
    robot = lw.load("planar_2r")
    monkeypatch.delitem(sys.modules, "linkwork.simulation.pictures", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for call in (
        lambda: lw.plots.positions(robot, np.zeros((3, 2))),
        lambda: lw.plots.ellipsoids(robot),
        lambda: lw.plots.workspace(robot),
        lambda: lw.plots.reachability(robot),
        lambda: lw.plots.condition(robot, np.zeros((3, 2))),
    ):
        with pytest.raises(MissingExtraError, match=r"pip install 'linkwork\[plot\]'"):
            call()
