"""Inverse kinematics and control that stay clear, by a plain model of spheres."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError
from linkwork.formats.urdf.records import Box
from linkwork.solve.clearance import Clear, slowed
from seeds import rng
from sphere_model import Ball, SphereModel

PANDA = [
    Ball("link0", (0, 0, 0.05), 0.12),
    Ball("link1", (0, 0, -0.1), 0.09),
    Ball("link2", (0, -0.1, 0), 0.09),
    Ball("link3", (0, 0, -0.1), 0.09),
    Ball("link4", (-0.04, 0.02, 0), 0.09),
    Ball("link5", (0, 0.05, -0.2), 0.08),
    Ball("link6", (0.05, 0, 0), 0.09),
    Ball("link7", (0, 0, 0.08), 0.06),
    Ball("tool0", (0, 0, 0), 0.04),
]
MARGIN = 0.01
DT, A_MAX = 0.002, 10.0
SIDES = ("left", "right")


@pytest.fixture(scope="module")
def robot():
    return lw.load("panda")


@pytest.fixture(scope="module")
def model(robot):
    return SphereModel(robot, PANDA, [(a, b) for a in range(9) for b in range(a + 3, 9)])


@pytest.fixture(scope="module")
def scene():
    r = rng("spheres around")
    centres = r.uniform([-0.6, -0.6, 0.1], [0.6, 0.6, 1.0], (20, 3))
    return [(f"ball{k}", tuple(centre), 0.1) for k, centre in enumerate(centres)]


def clearance_of(model, scene):
    return lw.ik.Clearance(margin=MARGIN, scene=scene, model=model)


def least(model, q, scene=None):
    return model.distances(np.atleast_2d(q), scene).min(axis=1)


def test_the_model_of_these_tests_has_true_gradients(robot, model, scene):
    q, h = robot.random(4, seed=1), 1e-6
    near = model.nearest(q, 6, scene)
    pair = np.argsort(model.distances(q, scene), axis=1, kind="stable")[:, :6]
    for k, way in enumerate(h * np.eye(robot.n_v)):
        ahead, behind = (model.distances(q + s * way, scene) for s in (1.0, -1.0))
        slope = np.take_along_axis(ahead - behind, pair, axis=1) / (2.0 * h)
        np.testing.assert_allclose(near.gradient[:, :, k], slope, atol=1e-7)


def test_every_success_is_clear_and_reaches_its_target(robot, model, scene):
    q = robot.random(4000, seed=3)
    q = q[least(model, q, scene) > MARGIN][:500]
    assert len(q) == 500
    targets = robot.fk(q, "tool0")
    plain = robot.ik(targets, "tool0")
    assert (least(model, plain.q, scene) < MARGIN).mean() > 0.3  # there is something to do
    found = robot.ik(targets, "tool0", limits=clearance_of(model, scene))
    assert found.success.all(), found.reason
    assert (least(model, found.q, scene) >= MARGIN).all()
    np.testing.assert_array_equal(found.clearance, least(model, found.q, scene))
    np.testing.assert_allclose(robot.fk(found.q, "tool0"), targets, atol=2e-4)
    for k in (0, 7):  # alone as in the batch
        alone = robot.ik(targets[k], "tool0", limits=clearance_of(model, scene))
        np.testing.assert_array_equal(alone.q, found.q[k])
        assert alone.clearance == found.clearance[k]


def exhaustive(robot, model, scene, target, starts):
    """Whether any of what many starts lead to is clear."""
    q0 = robot.random(starts, seed=11)
    ends = robot.ik(np.repeat(target[None], starts, axis=0), "tool0", q0=q0, tries=1)
    return bool((least(model, ends.q[ends.success], scene) >= MARGIN).any())


@pytest.mark.slow
def test_what_has_a_clear_solution_is_solved(robot, model, scene):
    n = 30
    targets = robot.fk(robot.random(n, seed=9), "tool0")  # many of them touch whatever is done
    found = robot.ik(targets, "tool0", limits=clearance_of(model, scene))
    can = [exhaustive(robot, model, scene, target, 800) for target in targets]
    assert 0 < sum(can) < n
    missed = np.flatnonzero(np.array(can) & ~found.success)
    assert not missed.size, f"rows {missed} have clear solutions"


def test_reasons_name_what_touches_and_how_deep(robot, model):
    q = robot.configuration({"joint2": -0.5, "joint4": -2.0, "joint6": 1.6})
    T = robot.fk(q, "tool0")
    hand = T @ [0, 0, 0, 1]
    inside = [("post", tuple(hand[:3]), 0.05)]
    found = robot.ik(T, "tool0", limits=clearance_of(model, inside), tries=30)
    assert not found
    assert found.reason == "touches: tool0 and post, 90.0 mm deep"
    assert found.clearance == pytest.approx(-0.09, abs=1e-4)
    near = [("post", (hand[0], hand[1], hand[2] - 0.098), 0.05)]
    found = robot.ik(T, "tool0", limits=clearance_of(model, near), tries=30)
    assert found.reason == "too near: tool0 and post, 8.0 mm apart, 10.0 mm are asked for"

    many = robot.ik(np.stack([T, T]), "tool0", limits=clearance_of(model, inside), tries=30)
    assert many.reason.startswith("2 of 2 not solved; the first, [0]: touches: tool0 and post")
    again = pickle.loads(pickle.dumps(many))
    assert again.row(1).reason == many.reason_for(1) == "touches: tool0 and post, 90.0 mm deep"
    assert many.to_dict()["clearance"][0] == pytest.approx(-0.09, abs=1e-4)
    unreachable = T.copy()
    unreachable[:3, 3] *= 9.0
    far = robot.ik(unreachable, "tool0", limits=clearance_of(model, inside), tries=3)
    assert "reach" in far.reason and far.clearance is not None
    assert robot.ik(T, "tool0").clearance is None


def test_the_best_of_many_and_all_are_clear(robot, model, scene):
    q = robot.random(400, seed=5)
    q = q[least(model, q, scene) > MARGIN][:10]
    targets, limit = robot.fk(q, "tool0"), clearance_of(model, scene)
    best = robot.ik(targets, "tool0", q0=q, limits=limit, best_of=16)
    assert best.success.all() and (best.clearance >= MARGIN).all()
    np.testing.assert_allclose(best.cost, np.linalg.norm(best.q - q, axis=1), atol=1e-9)
    every = robot.ik_all(targets[0], "tool0", limits=limit, starts=60)
    assert len(every) and (least(model, every.q, scene) >= MARGIN).all()
    assert (every.clearance >= MARGIN).all()
    hand = targets[0][:3, 3]
    none = robot.ik_all(
        targets[0], "tool0", limits=clearance_of(model, [("post", tuple(hand), 0.05)]), starts=60
    )
    assert not none and none.reason.startswith("touches: tool0 and post")


@pytest.mark.slow
def test_two_arms_are_pushed_apart():
    robot = lw.load("two_arm_torso")
    parts = ("wrist_yaw_link", "wrist_roll_link", "palm", "tool0")
    balls = [Ball(f"{side}_{part}", (0, 0, 0), 0.06) for side in SIDES for part in parts]
    model = SphereModel(robot, balls, [(a, 4 + b) for a in range(4) for b in range(4)])
    # tools 30 cm apart, turned as they like: hands and forearms of most answers touch
    tasks = [
        lw.ik.Position("left_tool0", [0.35, 0.09, 1.0]),
        lw.ik.Position("right_tool0", [0.35, -0.09, 1.0]),
    ]
    limit = lw.ik.Clearance(margin=0.02, model=model)
    q0 = robot.random(40, seed=2)
    plain = robot.ik(tasks=tasks, q0=q0)
    assert plain.success.all() and (least(model, plain.q) < 0.02).any()
    found = robot.ik(tasks=tasks, q0=q0, limits=limit)
    assert found.success.all(), found.reason
    assert (least(model, found.q) >= 0.02).all()


@pytest.fixture(scope="module")
def scanned(robot):
    """A post as a scanner sees it, in two clouds."""
    r = rng("scan")
    angle, z = r.uniform(0, 2 * np.pi, 4000), r.uniform(0, 0.9, 4000)
    points = np.stack([0.45 + 0.05 * np.cos(angle), 0.05 * np.sin(angle), z], axis=-1)
    scene = lw.Scene()
    scene.add_points("above", points[z > 0.4], radius=0.005)
    scene.add_points("below", points[z <= 0.4], radius=0.005)
    return scene


@pytest.mark.slow
def test_answers_stay_clear_of_a_scan(robot, scanned):
    model, q = robot.collision(), robot.random(300, seed=2)
    q = q[model.clearance(q, scanned).distance > MARGIN][:100]
    targets = robot.fk(q, "tool0")
    plain = model.clearance(robot.ik(targets, "tool0").q, scanned).distance
    assert (plain < MARGIN).any()
    found = robot.ik(targets, "tool0", limits=lw.ik.Clearance(MARGIN, scanned))
    assert found.success.all(), found.reason
    assert model.clearance(found.q, scanned).distance.min() >= MARGIN


def test_the_scene_may_have_a_margin_of_its_own(robot, scanned):
    """Link5 and link7 are 15 mm apart whatever joints do, so 50 mm are for the scene alone."""
    model, q = robot.collision(), robot.random(300, seed=4)
    around = model.with_pairs(ignore=model.links)
    wide, own = 0.05, around.clearance(q, scanned).distance
    q = q[(own > wide) & (model.clearance(q).distance > MARGIN)][:60]
    targets = robot.fk(q, "tool0")
    limit = lw.ik.Clearance(MARGIN, scanned, scene_margin=wide)
    found = robot.ik(targets, "tool0", limits=limit)
    assert found.success.all(), found.reason
    assert around.clearance(found.q, scanned).distance.min() >= wide
    assert model.clearance(found.q).distance.min() >= MARGIN
    np.testing.assert_array_equal(found.clearance, model.clearance(found.q, scanned).distance)
    assert not robot.ik(targets[0], "tool0", limits=lw.ik.Clearance(wide, scanned), tries=9)

    near = lw.ik.Clearance(MARGIN, scanned, scene_margin=0.9)
    reason = robot.ik(targets[0], "tool0", limits=near, tries=9).reason
    assert reason.startswith("too near: link") and "900.0 mm are asked for" in reason
    within = lw.ik.Clearance(MARGIN, scanned, scene_margin=-0.01)  # 10 mm of depth are allowed
    deep = lw.Scene()
    deep.add_sphere("ball", 0.004, model.clearance(q[0], scanned).points[0])
    found = robot.ik(targets[0], "tool0", q0=q[0], limits=replace(within, scene=deep))
    assert found.success and model.clearance(found.q).distance >= MARGIN


def test_a_margin_that_the_model_does_not_know_is_refused(robot):
    limit = lw.ik.Clearance(0.03, model=robot.collision())
    with pytest.raises(
        InputError, match=r"as near as 0.02 m: make it by robot.collision\(margin=0.03"
    ):
        robot.ik(np.eye(4), "tool0", limits=limit)
    known = lw.ik.Clearance(0.03, model=robot.collision(margin=0.04))
    assert robot.solver("tool0", limits=known) is not None
    with pytest.raises(InputError, match=r"margin"):
        robot.ik(np.eye(4), "tool0", limits=lw.ik.Clearance("3 cm"))


def test_what_is_asked_wrongly_is_refused(robot, model):
    with pytest.raises(InputError, match="one Clearance"):
        robot.solver("tool0", limits=[clearance_of(model, None)] * 2)
    with pytest.raises(InputError, match=r"Clearance\.margin"):
        robot.solver("tool0", limits=lw.ik.Clearance(margin=float("nan"), model=model))
    with pytest.raises(InputError, match=r"Clearance\.nearest"):
        robot.solver("tool0", limits=lw.ik.Clearance(nearest=0, model=model))
    with pytest.raises(InputError, match="collision model"):
        lw.ik.InverseKinematics(robot.mechanism, "tool0", limits=lw.ik.Clearance())
    for wrong in (robot, 3):
        with pytest.raises(InputError, match=r"Clearance\.model must be a collision model"):
            robot.ik(np.eye(4), "tool0", limits=lw.ik.Clearance(model=wrong))
    with pytest.raises(InputError, match=r"robot\.ik"):
        lw.ik.Clearance(model=model).bind(robot.mechanism)


def test_the_approach_is_slowed_smoothly():
    room = np.linspace(-0.1, 2.0, 2001)
    speed = slowed(room, 10.0, np.full(room.shape, 3.0))
    assert (np.diff(speed) > 0.0).all() and np.diff(speed).max() < 0.011  # it has no jump
    np.testing.assert_allclose(speed[room < 0.03], 10.0 * room[room < 0.03])
    braking = speed[:-1] * np.diff(speed) / np.diff(room)
    assert braking[room[:-1] > 0.0].max() < 3.01
    assert slowed(np.array([5.0]), 10.0, np.array([np.inf])) == 50.0


class Run:
    """A controller that has been followed for some time."""

    def __init__(self, robot, model, q, tasks, targets, *, scene=None, steps=1000, gain=0.02):
        limits = [lw.ik.AccelerationLimit(DT, A_MAX), clearance_of(model, scene)]
        control = robot.controller(tasks=tasks, dt=DT, limits=limits, gain=gain)
        states, v = [q], np.zeros(robot.n_v)
        for k in range(steps):
            after = control.step(q, targets(k * DT), v=v)
            q, v = after, (after - q) / DT
            states.append(q)
        self.q = np.array(states)
        self.v = np.diff(self.q, axis=0) / DT
        self.a = np.diff(self.v, axis=0, prepend=0.0 * self.v[:1]) / DT
        self.clearance = least(model, self.q, scene)

    @property
    def turns(self):
        """How often the acceleration of the joint that shakes most changes its sign."""
        large = [np.sign(a[np.abs(a) > 0.02 * A_MAX]) for a in self.a.T]
        return max(int((np.diff(signs) != 0).sum()) for signs in large)


def stays_clear(run, *, turns):
    assert run.clearance.min() >= MARGIN - 1e-4
    assert np.abs(run.a).max() <= A_MAX * (1.0 + 1e-6)
    assert run.turns <= turns


@pytest.mark.slow
@pytest.mark.parametrize("gain", [0.02, 1.0])
def test_an_approach_ends_at_the_margin_without_shaking(robot, model, gain):
    q = robot.configuration({"joint2": -0.5, "joint4": -2.0, "joint6": 1.6})
    T = robot.fk(q, "tool0")
    target = T.copy()
    target[0, 3] += 0.3
    scene = [("post", tuple(target[:3, 3]), 0.12)]  # the target is inside of it
    run = Run(
        robot, model, q, lw.ik.Pose("tool0"), lambda _: target, scene=scene, gain=gain, steps=1500
    )
    stays_clear(run, turns=12)
    assert run.clearance[-1] < MARGIN + 1e-4
    assert np.abs(run.a[-200:]).max() < 0.5


@pytest.mark.slow
def test_an_approach_to_a_scan_ends_at_the_margin(robot, scanned):
    model = robot.collision()
    q = robot.configuration({"joint1": 0.9, "joint2": 0.3, "joint4": -1.9, "joint6": 2.2})
    target = robot.fk(q, "tool0")
    target[:3, 3] = 0.45, 0.0, 0.5
    limits = [lw.ik.AccelerationLimit(DT, A_MAX), lw.ik.Clearance(MARGIN, scanned)]
    control = robot.controller(tasks=lw.ik.Position("tool0"), dt=DT, limits=limits, gain=0.02)
    states, v = [q], np.zeros(robot.n_v)
    for _ in range(600):
        after = control.step(states[-1], target[:3, 3], v=v)
        v = (after - states[-1]) / DT
        states.append(after)
    clear = model.clearance(np.array(states), scanned)
    assert MARGIN - 1e-4 <= clear.distance.min() < MARGIN + 1e-4
    assert any(pair[1] in ("above", "below") for pair in clear.names)
    a = np.diff(states, n=2, axis=0) / DT**2
    assert np.abs(a).max() <= A_MAX * (1.0 + 1e-6)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("braked", [False, True])
def test_a_flange_that_is_pressed_flat_on_a_table_keeps_the_margin(robot, braked):
    """Which point of its rim is nearest changes with the least turn, from one side to the other."""
    model, dt = robot.collision(), 0.01
    q = robot.configuration({"joint2": 0.4, "joint4": -1.9, "joint6": 2.2})
    at = robot.fk(q, "tool0")[:3, 3]
    table = lw.Scene()
    table.add_box("table", (0.5, 0.8, 0.1), (0.6, 0.0, at[2] - 0.18))
    limits = [lw.ik.Clearance(MARGIN, table)]
    limits += [lw.ik.AccelerationLimit(dt, A_MAX)] if braked else []
    control = robot.controller("tool0", dt=dt, limits=limits)
    below, states = lw.pose(at - [0.0, 0.0, 0.3], rpy=[np.pi, 0.0, 0.0]), [q, q]
    for _ in range(300):
        v = (states[-1] - states[-2]) / dt
        states.append(control.step(states[-1], below, v=v if braked else None))
    near = model.clearance(np.array(states), table)
    assert near.names[-1] == ("link7", "table")
    assert near.distance.min() >= MARGIN - 1e-4
    a = np.diff(states, n=2, axis=0)[-50:] / dt**2
    assert np.abs(a).max() < 0.5


def post(at):
    scene = lw.Scene()
    scene.add_box("post", (0.03, 0.03, 0.4), at - [0.0, 0.0, 0.4])
    return scene


def edge(at):
    scene = lw.Scene()
    scene.add_box("table", (0.5, 0.8, 0.1), at - [-0.25, 0.0, 0.3])
    return scene


def corner(at):
    scene = lw.Scene()
    scene.add_box("table", (0.5, 0.8, 0.1), at - [0.0, 0.0, 0.3])
    scene.add_box("wall", (0.05, 0.8, 0.5), at - [-0.15, 0.0, 0.0])
    return scene


@pytest.mark.sweep(2)
@pytest.mark.parametrize("dt", [0.01, pytest.param(0.002, marks=pytest.mark.slow)])
@pytest.mark.parametrize("scene_at", [post, edge, corner])
def test_a_box_that_is_pressed_on_something_comes_to_rest(robot, scene_at, dt):
    """No acceleration is limited; its elbow is free to swing, and nothing is to make it."""
    holding = robot.with_attached("held", Box((0.1, 0.2, 0.05)), "tool0", [0.0, 0.0, 0.03])
    q = robot.configuration({"joint2": 0.4, "joint4": -1.9, "joint6": 2.2})
    at = robot.fk(q, "tool0")[:3, 3]
    scene, into = scene_at(at), [0.3 * (scene_at is corner), 0.0, -0.3]
    control = holding.controller("tool0", dt=dt, limits=[lw.ik.Clearance(MARGIN, scene)])
    target, states = lw.pose(at + into, rpy=[np.pi, 0.0, 0.0]), [q]
    for _ in range(round(3.0 / dt)):
        states.append(control.step(states[-1], target))
    near = holding.collision().clearance(np.array(states), scene).distance
    assert MARGIN - 1e-4 <= near.min() and near[-1] < MARGIN + 1e-4
    assert np.ptp(states[-60:], axis=0).max() < 1e-3


@pytest.mark.slow
def test_hands_meet_at_the_margin():
    robot = lw.load("two_arm_torso")
    parts = ("elbow_link", "wrist_roll_link", "palm", "tool0")
    balls = [Ball(f"{side}_{part}", (0, 0, 0), 0.06) for side in SIDES for part in parts]
    model = SphereModel(robot, balls, [(a, 4 + b) for a in range(4) for b in range(4)])
    q = robot.random(seed=3)
    sides = [f"{side}_tool0" for side in SIDES]
    middle = sum(robot.fk(q, side)[:3, 3] for side in sides) / 2.0
    assert least(model, q)[0] > 0.2
    tasks = [lw.ik.Position(side, middle) for side in sides]
    run = Run(robot, model, q, tasks, lambda _: None)
    stays_clear(run, turns=14)
    assert run.clearance[-1] < MARGIN + 1e-3


@pytest.mark.slow
def test_what_is_held_back_behind_a_thing_does_not_swing(robot, model):
    q = robot.configuration({"joint2": -0.5, "joint4": -2.0, "joint6": 1.6})
    target = robot.fk(q, "tool0")
    scene = [("post", tuple(target[:3, 3] + np.array([0.3, 0.0, 0.0])), 0.12)]
    target[:3, 3] += [0.35, 0.02, 0.02]  # behind its centre
    run = Run(robot, model, q, lw.ik.Pose("tool0"), lambda _: target, scene=scene)
    stays_clear(run, turns=16)


@pytest.mark.slow
def test_a_target_that_moves_through_things_is_followed_clear(robot, model):
    q = robot.configuration({"joint2": -0.5, "joint4": -2.0, "joint6": 1.6})
    T = robot.fk(q, "tool0")
    scene = [("post", tuple(T[:3, 3] + [0.3, 0.0, 0.0]), 0.12)]

    def target(t):
        moved = T.copy()
        moved[:3, 3] += [0.25 * np.sin(1.5 * t), 0.2 * np.sin(2.3 * t), 0.0]
        return moved

    for gain in (0.02, 1.0):
        run = Run(robot, model, q, lw.ik.Pose("tool0"), target, scene=scene, steps=4000, gain=gain)
        assert run.clearance.min() < MARGIN + 0.02  # it was in the way
        stays_clear(run, turns=80)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("speed", [0.2, 0.4])
@pytest.mark.parametrize("rate", [10.0, 40.0])
@pytest.mark.parametrize("frame", ["link6", "tool0"])
def test_what_moves_comes_nearer_than_the_margin_by_its_speed_over_the_rate(
    robot, frame, rate, speed
):
    dt, margin, scene = 0.005, 0.04, lw.Scene()
    q = robot.configuration({"joint2": -0.5, "joint4": -2.0, "joint6": 1.6})
    at = robot.fk(q, frame)[:3, 3]
    scene.add_sphere("ball", 0.05, at - [0.0, 0.0, -0.4])
    apart = lw.ik.Clearance(0.0, scene, rate=rate, scene_margin=margin)
    control = robot.controller(tasks=lw.ik.Posture(), dt=dt, limits=[apart])
    alone = robot.collision().with_pairs(ignore=robot.collision().links)
    states, clear = [q], []
    for k in range(int(0.4 / speed / dt)):
        scene.move("ball", at - [0.0, 0.0, speed * k * dt - 0.4])
        states.append(control.step(states[-1], q))
        clear.append(alone.clearance(states[-1], scene).distance)
    assert min(clear) < margin and np.ptp(states, axis=0).max() > 0.1  # it was pushed away
    assert min(clear) > margin - speed / rate - speed * dt


def test_what_cannot_be_parted_is_left_and_does_not_shake(robot):
    q, dt = robot.configuration({"joint2": -0.5, "joint4": -2.0, "joint6": 1.6}), 0.005
    near = robot.collision(margin=0.04).clearance(q)
    assert near.names == ("link5", "link7") and near.distance < 0.02  # wherever the joints are
    control = robot.controller(tasks=lw.ik.Posture(), dt=dt, limits=[lw.ik.Clearance(0.04)])
    states = [q]
    for _ in range(200):
        states.append(control.step(states[-1], q))
    assert np.ptp(states, axis=0).max() < 1e-3


def test_a_start_that_touches_is_led_out(robot, model):
    q = robot.configuration({"joint2": -0.5, "joint4": -2.0, "joint6": 1.6})
    hand = robot.fk(q, "tool0")[:3, 3]
    scene = [("post", (hand[0] + 0.12, hand[1], hand[2]), 0.1)]
    assert -0.05 < least(model, q, scene)[0] < -0.02
    run = Run(robot, model, q, lw.ik.Position("tool0", hand), lambda _: None, scene=scene)
    deep = run.clearance[:-1] < MARGIN - 1e-4
    assert (np.diff(run.clearance)[deep] > 0.0).all() and run.clearance[-1] > MARGIN - 1e-4


def test_loops_stay_closed_all_the_while():
    robot = lw.load("excavator")
    frame, r = "tool0", rng("loops that are clear")
    model = SphereModel(robot, [Ball(frame, (0, 0, 0), 0.005)])
    own = [int(robot.mechanism.q_start[robot.mechanism.joint(name)]) for name in robot.actuated]
    q = robot.neutral()
    there = robot.assemble(q[own] + 0.02 + 0.03 * r.random((20, len(own))), q0=q)
    targets = robot.fk(there.q, frame)[:, :3, 3]
    task, post = lw.ik.Position(frame), [("post", tuple(targets[0]), 0.02)]
    limit = lw.ik.Clearance(margin=MARGIN, scene=post, model=model)
    found = robot.ik(targets, tasks=task, q0=q, limits=limit, tries=20)
    assert "touches: tool0 and post" in found.reason_for(0)
    way = np.linalg.norm(targets - targets[0], axis=1)
    np.testing.assert_array_equal(found.success, way > 0.035)
    assert found.success.any() and gap(robot, found.q) < 1e-6

    control = robot.controller(tasks=task, dt=0.01, gain=0.1, limits=limit)
    assert least(model, q, post)[0] > MARGIN
    for _ in range(100):
        q = control.step(q, targets[0])
        assert gap(robot, q) < 1e-9
        assert least(model, q, post)[0] > MARGIN - 1e-4
    assert least(model, q, post)[0] < MARGIN + 1e-3


def gap(robot, q):
    """How far the farthest loop is open (m, rad)."""
    return float(np.abs(robot.closure(q)).max())


def test_a_clearance_far_away_changes_no_answer(robot, model):
    targets = robot.fk(robot.random(50, seed=7), "tool0")
    far = [("far", (9.0, 9.0, 9.0), 0.1)]
    limit = lw.ik.Clearance(margin=-1.0, scene=far, model=model)
    found, plain = robot.ik(targets, "tool0", limits=limit), robot.ik(targets, "tool0")
    np.testing.assert_array_equal(found.q, plain.q)
    np.testing.assert_array_equal(found.restarts, plain.restarts)


def test_a_time_ends_the_search(robot, model):
    T = robot.fk(robot.random(20, seed=7), "tool0")
    posts = [(f"post{k}", tuple(p), 0.05) for k, p in enumerate(T[:, :3, 3])]
    found = robot.ik(T, "tool0", limits=clearance_of(model, posts), seconds=1e-4)
    assert not found.success.any() and found.seconds < 2.0


def test_the_model_is_asked_in_batches(robot, model, scene):
    targets = robot.fk(robot.random(300, seed=8), "tool0")
    solver = robot.solver("tool0", limits=clearance_of(model, scene))
    solver.solve(targets[:10], tries=8)
    before = model.calls
    solver.solve(targets, tries=8)
    assert model.calls - before < 60
    (contact,) = Clear(model, scene, 0.0, 4, 10.0).touches(robot.random(1, seed=1))
    assert contact.distance == least(model, robot.random(1, seed=1), scene)[0]


# --- contacts that a target decides ---------------------------------------------------------------

EVERY = ", in every solution"


@pytest.fixture(scope="module")
def at_flange(robot):
    """A target, and a scene with a ball at the flange there."""
    T = robot.fk(robot.configuration({"joint2": 0.4, "joint4": -1.9, "joint6": 2.2}), "tool0")
    return T, around(T[:3, 3], 0.02)


def around(point, radius):
    """A scene with a ball about a point."""
    scene = lw.Scene()
    scene.add_sphere("ball", radius, point)
    return scene


def test_a_contact_that_the_target_decides_ends_the_search(robot, at_flange):
    T, scene = at_flange
    found = robot.ik(T, "tool0", limits=lw.ik.Clearance(scene=scene))
    assert not found.success and robot.collision().collides(found.q, scene)
    assert found.reason.startswith("touches: link7 and ball") and found.reason.endswith(EVERY)
    beside = lw.ik.Clearance(margin=0.02, scene_margin=0.01, scene=scene)
    assert robot.ik(T, "tool0", limits=beside).reason.endswith(EVERY)


def test_a_contact_that_a_joint_left_out_would_have_to_part_ends_it_too(robot):
    q = robot.configuration({"joint2": 0.4, "joint4": -1.9, "joint6": 2.2})
    clear = lw.ik.Clearance(scene=around(robot.fk(q, "link3")[:3, 3], 0.05))
    moved = ["joint5", "joint6", "joint7"]
    found = robot.ik(robot.fk(q, "tool0"), "tool0", joints=moved, q0=q, limits=clear)
    assert found.reason.startswith("touches: link")
    assert f"{EVERY} while 'joint1', 'joint2', 'joint3' stay:" in found.reason


@pytest.mark.slow
def test_joints_that_no_task_needs_stay_unless_they_are_named(robot):
    q = robot.configuration({"joint2": 0.4, "joint4": -1.9, "joint6": 2.2})
    scene = around(robot.fk(q, "tool0")[:3, 3], 0.05)
    clear, target = lw.ik.Clearance(scene=scene), robot.fk(q, "link5")
    found = robot.ik(target, "link5", q0=q, limits=clear)
    assert not found.success
    assert found.reason.endswith(f"{EVERY} while 'joint6', 'joint7' stay: joints= names what moves")
    every = robot.ik(target, "link5", q0=q, limits=clear, joints=robot.joint_names[:7])
    assert every.success and not robot.collision().collides(every.q, scene)
    assert abs(every.q[5] - q[5]) > 0.05
    solver = robot.solver("link5", limits=clear, joints=robot.joint_names[:7])
    np.testing.assert_array_equal(solver.solve(target, q0=q).q, every.q)
    pickle.loads(pickle.dumps(solver.problem))
    control = robot.controller("link5", dt=0.01, limits=clear, joints=robot.joint_names[:7])
    step = control.step(q, target)
    assert (
        robot.collision().clearance(step, scene).distance
        > robot.collision().clearance(q, scene).distance
    )
    with pytest.raises(lw.InputError, match="joint7 moves nothing that is asked for"):
        robot.ik(target, "link5", q0=q, joints=robot.joint_names[:7])


@pytest.mark.parametrize("name", ["link0", "link4", "link6", "link7"])
def test_an_obstacle_that_has_the_name_of_a_link_is_the_obstacle(robot, name):
    """Reasons are those of an obstacle of another name."""
    q = robot.configuration({"joint2": 0.4, "joint4": -1.9, "joint6": 2.2})
    target, elbow, flange = (robot.fk(q, on) for on in ("tool0", "link5", "tool0"))

    def reasons(scene):
        clear = lw.ik.Clearance(scene=scene)
        apart = lw.ik.Clearance(scene=scene, margin=0.001, scene_margin=0.3)
        moved = {"joints": ["joint5", "joint6", "joint7"], "q0": q}
        return [
            robot.ik(target, "tool0", limits=clear).reason,
            robot.ik(target, "tool0", limits=apart).reason,
            robot.ik(target, "tool0", limits=clear, **moved).reason,
            robot.ik(elbow, "link5", limits=clear, q0=q).reason,
        ]

    for centre, radius in ((flange[:3, 3], 0.02), (robot.fk(q, "link3")[:3, 3], 0.05)):
        other, own = around(centre, radius), lw.Scene()
        own.add_shape(name, other.get("ball").shape, centre)
        expected = [text.replace("ball", name) for text in reasons(other)]
        assert any(text.endswith(EVERY) for text in expected) or "stay:" in "".join(expected)
        assert reasons(own) == expected


@pytest.mark.parametrize(
    ("task", "options"),
    [
        (lw.ik.Pose("tool0", rotation=""), {}),
        (lw.ik.Pose("tool0", mirror="x"), {}),
        (lw.ik.Pose("tool0", slack=[0.03] * 3 + [0.0] * 3), {}),
        (lw.ik.Pose("tool0"), {"position_tolerance": 0.03}),
        (lw.ik.Pose("tool0", tolerance=[0.03, 1e-4]), {}),
        (lw.ik.Pose("tool0"), {"rotation_tolerance": 0.3}),
    ],
)
def test_a_contact_that_other_solutions_may_be_without_does_not(robot, at_flange, task, options):
    T, scene = at_flange
    clear = lw.ik.Clearance(scene=scene)
    found = robot.ik(T, tasks=task, limits=clear, tries=300, **options)
    assert not found.reason.endswith(EVERY)


@pytest.mark.slow
def test_what_is_said_of_every_solution_is_true_of_all(robot):
    model, r = robot.collision(), rng("boxes around a flange")
    q, scene = robot.random(100, seed=6), lw.Scene()
    for k, at in enumerate(r.uniform([-0.7, -0.7, 0.1], [0.7, 0.7, 1.0], (40, 3))):
        scene.add_box(f"box{k}", r.uniform(0.05, 0.2, 3), at)
    targets = robot.fk(q, "tool0")
    found = robot.ik(targets, "tool0", limits=lw.ik.Clearance(scene=scene), tries=60)
    ended = [k for k in np.flatnonzero(~found.success) if found.reason_for(k).endswith(EVERY)]
    assert len(ended) >= 5
    starts = robot.random(300, seed=7)
    for k in ended:
        ends = robot.ik(np.repeat(targets[k][None], 300, axis=0), "tool0", q0=starts, tries=1)
        assert ends.success.sum() > 50 and model.collides(ends.q[ends.success], scene).all()
