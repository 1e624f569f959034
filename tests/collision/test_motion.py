"""Motions without gaps: bounds of speed against gradients, thin plates against closed forms."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dressed_robots import (
    BOX,
    POINT,
    Solids,
    World,
    call,
    distances_of,
    dressed,
    made_up_world,
    nearest_of,
    random_pose,
    rounded_boxes,
)
from linkwork.algorithms.registry import evaluate
from linkwork.collision.distances import tables
from linkwork.collision.motion import (
    between,
    motion_room,
    rates_of,
    short_ways,
    turns_of,
    velocities_of,
    velocity_at,
)
from linkwork.collision.reaches import Reaches, motion_bounds
from linkwork.mechanism.model import Mechanism
from robots import (
    chain_urdf,
    every_joint_urdf,
    mechanism_from,
    model_poses,
    random_configuration,
    random_tree,
)
from seeds import rng
from typed_calls import compiled

STRAIGHT = ("revolute", "continuous", "prismatic", "planar")
UNIT = np.eye(4)
TOLERANCE = 1e-6
PLATE = np.array([0.9, 0.7, 0.0005])  # halves of a plate of 1 mm


def with_balls(m: Mechanism, label: str, *, radius: float, n_plates: int = 1) -> World:
    """A robot with a ball on each link, beside thin plates; its last link is in them at `home`."""
    random = rng(label)
    names = list(m.frame_names[: m.n_link_frames])
    worn = Solids([])
    for body in range(len(names)):
        T = np.eye(4)
        T[:3, 3] = random.normal(size=3) * 0.1
        worn.add(POINT, (0, 0, 0), T, radius=radius, body=body)
    scene = Solids(worn.vertices)
    tip = model_poses(m, home(m, label))[names[-1]][:3, 3]
    for _ in range(n_plates):
        scene.add(BOX, PLATE.tolist(), random_pose(random, tip + random.normal(size=3) * 0.05))
    world = dressed(m, names, worn, scene)
    held = world.bodies.balls.copy()
    held[:, 3] *= 1.5  # so that bounds and distances differ
    world.bodies.balls[:] = held
    boxes = rounded_boxes(scene.table, np.zeros(1))
    return world._replace(tables=tables(world.bodies, scene.table, [0.0], boxes))


def quaternions(m: Mechanism) -> Any:
    """Which numbers of q (n_q,) belong to quaternions."""
    found = np.zeros(m.n_q, bool)
    for kind, first in zip(m.joint_types, m.q_start, strict=False):
        found[first + kind.n_lengths : first + kind.n_q] = kind.has_quaternion
    return found


def home(m: Mechanism, label: str) -> Any:
    """A configuration."""
    q = random_configuration(rng(label + " home"), m)
    return np.where(quaternions(m), q, q * 0.5)


def reaches_of(world: World, q0: Any, q1: Any) -> Reaches:
    """The bounds for motions between these rows."""
    both = np.concatenate([q0, q1])
    return motion_bounds(
        world.mechanism,
        world.frames.names,
        world.bodies.balls,
        pairs=world.bodies.pairs,
        span=(both.min(axis=0), both.max(axis=0)),
    )


def mover_bounds(world: World, q0: Any, q1: Any) -> Any:
    """Bounds (n_movers, n_q) of movers and what stands still."""
    reaches = reaches_of(world, q0, q1)
    found = np.zeros((len(reaches.places), world.mechanism.n_q))
    for row, (first, n) in zip(found, reaches.places, strict=True):
        for arm, _, number, _ in reaches.chains[first : first + n]:
            row[int(number)] += arm
    return found[world.bodies.movers]


def moved(world: World, q0: Any, q1: Any, tolerance: float = TOLERANCE) -> Any:
    """Times (n,), records (n, 10), things (n, 2) and counts of motions."""
    reaches, n = reaches_of(world, q0, q1), len(q0)
    times, records = np.full(n, np.nan), np.full((n, 10), np.nan)
    which, counts = np.full((n, 2), -9), np.zeros(2, np.int64)
    tables, twists = world.tables, np.full(6 * world.frames.n_twists + 1, np.nan)
    room = np.full(motion_room(tables), np.nan)
    listed = [world.frames.address("twists1"), *tables.addresses, *reaches.addresses]
    listed += [0, room.ctypes.data, twists.ctypes.data]
    call(
        "motion_rows",
        *(np.ascontiguousarray(q0), np.ascontiguousarray(q1)),
        *(velocities_of(world.mechanism, q0, q1), n, tolerance, np.array(listed)),
        *(times, records, which, counts),
    )
    return times, records, which, counts


def closed_form(world: World, q: Any) -> Any:
    """The least signed distance (n,) of balls to each other and to plates, with plain formulas."""
    T, pieces = world.frames.poses(q, "frames64"), world.bodies.pieces
    places = np.einsum("nbij,bj->nbi", T[..., :3], pieces[:, 20:23]) + T[..., 3]
    radii = pieces[:, 1]
    least = np.full(len(q), np.inf)
    for a, b in world.bodies.pairs:
        gap = np.linalg.norm(places[:, a] - places[:, b], axis=1) - radii[a] - radii[b]
        least = np.minimum(least, gap)
    for row in world.tables.rows:
        pose = row[8:20].reshape(3, 4)
        local = np.abs((places[:, world.bodies.movers] - pose[:, 3]) @ pose[:, :3]) - row[2:5]
        outside = np.linalg.norm(np.maximum(local, 0), axis=-1)
        gap = np.where(local.max(axis=-1) > 0, outside, local.max(axis=-1))
        least = np.minimum(least, (gap - radii[world.bodies.movers]).min(axis=1))
    return least


def arm(label: str, n: int) -> Mechanism:
    """A chain of joints of all types that have no quaternion, with coupled ones."""
    return mechanism_from(random_tree(rng(label), n, STRAIGHT, shape="chain", shuffle=False))


# --- bounds of speed ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(6))
def test_distances_change_no_faster_than_bounds(number: int) -> None:
    label = f"bounds {number}"
    m = mechanism_from(random_tree(rng(label), 6, (*STRAIGHT, "floating", "spherical")))
    world = with_balls(m, label, radius=0.05)
    random = rng(label + " rows")
    q = np.array([random_configuration(random, m) for _ in range(200)])
    reaches, alone = reaches_of(world, q, q), mover_bounds(world, q, q)
    n_pairs = len(world.bodies.pairs)
    wanted = [(a, b, 0, 0) for a, b in world.bodies.pairs]
    wanted += [(a, -1, 0, 1) for a in world.bodies.movers]
    _, slopes = distances_of(world, q, np.array(wanted))
    steepest = np.abs(slopes).max(axis=0)
    ratios = []
    for c, kind in enumerate(m.joint_types):
        if kind.has_quaternion:
            continue
        at, rate = m.q_slice(c), m.v_slice(c)
        bound = np.concatenate([reaches.pairs[:, at], alone[:, at]])
        assert (steepest[:, rate] <= bound + 1e-9).all()
        assert ((steepest[:, rate] > 0) == (bound > 0)).mean() > 0.95
        ratios.append((steepest[:, rate] / np.maximum(bound, 1e-9)).max())
    assert n_pairs > 0
    assert not ratios or max(ratios) > 0.3, "bounds that are far too large cost steps"


def test_bounds_of_a_plain_chain_are_those_by_hand() -> None:
    m = mechanism_from(chain_urdf(2))
    world = with_balls(m, "plain", radius=0.01)
    balls = np.array([[0, 0, 5.0, 0.01], [0.1, 0, 0, 0.02], [0.3, 0.4, 7.0, 0.03]])
    world.bodies.balls[:] = balls
    q0 = np.zeros((1, 2))
    reaches = reaches_of(world, q0, q0 + 1)
    by_hand = np.array([[0, 0], [0.12, 0], [0.1 + 0.5 + 0.03, 0.53]])
    np.testing.assert_allclose(mover_bounds(world, q0, q0 + 1), by_hand, atol=1e-12)
    assert world.bodies.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    np.testing.assert_allclose(reaches.pairs, [by_hand[1], by_hand[2], [0, 0.53]], atol=1e-12)


def test_slides_count_as_far_as_the_motion_goes() -> None:
    text = chain_urdf(2).replace('"joint2" type="revolute"', '"joint2" type="prismatic"')
    m = mechanism_from(text.replace('<axis xyz="0 0 1"/><limit', '<axis xyz="1 0 0"/><limit', 2))
    world = with_balls(m, "slide", radius=0.01)
    world.bodies.balls[:] = [0, 0, 0, 0.0]
    near = mover_bounds(world, np.zeros((1, 2)), np.zeros((1, 2)))
    far = mover_bounds(world, np.zeros((1, 2)), np.array([[0.0, 3.0]]))
    assert near[2, 1] == far[2, 1] == 1.0
    assert far[2, 0] <= near[2, 0] + 3.0


# --- plates ---------------------------------------------------------------------------------------


def check_plates(world: World, n: int, samples: int, label: str) -> None:
    """No motion jumps a plate, none that touches nothing is said to touch."""
    random, m = rng(label), world.mechanism
    q0 = home(m, label) + random.normal(size=(4 * n, m.n_q)) * 0.3
    free = closed_form(world, q0) > 0.001
    assert free.sum() > 20, free.mean()
    q0 = q0[free][:n]
    q1 = home(m, label) + random.normal(size=q0.shape) * 0.3
    q0, q1 = short_ways(turns_of(m), q0, q1)
    times, records, which, counts = moved(world, q0, q1)
    t = np.linspace(0, 1, samples)
    rows = q0[:, None] + t[:, None] * (q1 - q0)[:, None]
    sampled = closed_form(world, rows.reshape(-1, m.n_q)).reshape(len(q0), samples)
    hit = np.isfinite(times)
    print(
        f"{len(q0)} motions: {hit.mean():.1%} touch; configurations each {counts[0] / len(q0):.1f},"
        f" pairs each {counts[1] / len(q0):.1f}"
    )
    assert (sampled[~hit] > 0).all()
    assert (which[~hit] == -1).all()
    before = t[None] < times[hit, None]
    assert (sampled[hit][before] > 0).all()
    at = q0[hit] + times[hit, None] * (q1 - q0)[hit]
    found = closed_form(world, at)
    assert (found <= TOLERANCE + 1e-12).all()
    assert (found > -1e-9).all()
    np.testing.assert_allclose(records[hit, 0], found, atol=1e-6)
    assert (which[hit, 0] >= 0).all()
    assert 0.2 < hit.mean() < 0.98
    coarse = sampled[:, :: samples // 20]
    assert (coarse[hit] > 0).all(axis=1).mean() > 0.2, "no plate is thin enough to be jumped"


def test_no_motion_jumps_a_plate() -> None:
    world = with_balls(arm("plates", 4), "plates", radius=0.0005)
    check_plates(world, 400, 401, "plates")


def test_no_motion_of_a_floating_base_jumps_a_plate() -> None:
    text = random_tree(rng("floating"), 3, STRAIGHT, shape="chain", shuffle=False)
    world = with_balls(mechanism_from(text, base="floating"), "floating", radius=0.0005)
    check_plates(world, 100, 401, "floating")


def test_no_motion_of_joints_that_turn_about_any_axis_jumps_a_plate() -> None:
    kinds = ("spherical", "revolute", "floating", "spherical")
    text = random_tree(rng("any axis"), 4, kinds, shape="chain", shuffle=False)
    world = with_balls(mechanism_from(text), "any axis", radius=0.0005)
    assert len(world.bodies.turns) > 1
    check_plates(world, 200, 401, "any axis")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10) if os.environ.get("LINKWORK_TRUTH_ROBOTS") else (0, 3))
def test_a_thousand_motions_jump_no_plate(number: int) -> None:
    label = f"plates {number}"
    world = with_balls(arm(label, 3 + number % 4), label, radius=0.0003 * (number % 4), n_plates=3)
    check_plates(world, 500, 801, label)


# --- cases ----------------------------------------------------------------------------------------


def sliding(radius: float, gap: float) -> World:
    """A ball on a slide along x that passes a plate in x-y at a gap."""
    text = chain_urdf(1, "prismatic").replace('<axis xyz="0 0 1"/>', '<axis xyz="1 0 0"/>')
    m = mechanism_from(text)
    worn = Solids([])
    for body in range(2):
        T = np.eye(4)
        T[2, 3] = 9.0 * (1 - body)
        worn.add(POINT, (0, 0, 0), T, radius=radius, body=body)
    scene = Solids(worn.vertices)
    T = np.eye(4)
    T[2, 3] = -(radius + gap + PLATE[2])
    scene.add(BOX, PLATE.tolist(), T)
    return dressed(m, m.frame_names[:2], worn, scene)


def test_first_touch_is_where_the_formula_says() -> None:
    world = sliding(0.1, -0.05)  # in z the ball's centre is 0.05 above the plate
    times, records, which, _ = moved(world, np.array([[-2.0]]), np.array([[2.0]]))
    touch = -PLATE[0] - np.sqrt(0.1**2 - 0.05**2)  # the place of the ball's centre
    expected = (touch - (-2.0 + 0.1)) / 4
    assert times[0] == pytest.approx(expected, abs=2e-6)
    assert 0 <= records[0, 0] <= TOLERANCE
    assert which.tolist() == [[1, 2]]


@pytest.mark.parametrize(("gap", "touches"), [(1e-5, False), (0.9e-6, True), (0.0, True)])
def test_passing_within_the_tolerance_is_a_touch(gap: float, touches: bool) -> None:
    times, _, _, counts = moved(sliding(0.1, gap), np.array([[-2.0]]), np.array([[2.0]]))
    assert np.isfinite(times[0]) == touches
    assert counts[0] < 200


def test_what_touches_at_the_start_touches_at_0() -> None:
    times, records, which, _ = moved(sliding(0.1, -0.02), np.zeros((2, 1)), np.array([[1.0], [0]]))
    assert times.tolist() == [0.0, 0.0]
    np.testing.assert_allclose(records[:, 0], -0.02, atol=1e-9)
    assert which.tolist() == [[1, 2]] * 2


def test_no_motion_of_what_is_free_is_free() -> None:
    world = sliding(0.1, 0.02)
    times, _, which, counts = moved(world, np.zeros((1, 1)), np.zeros((1, 1)))
    assert times.tolist() == [np.inf]
    assert which.tolist() == [[-1, -1]]
    assert counts[0] <= 1


@pytest.mark.parametrize(
    "joints", [STRAIGHT, ("revolute", "spherical"), ("revolute", "floating", "spherical")]
)
def test_solids_of_all_kinds_are_followed(joints: tuple[str, ...]) -> None:
    """Against dense samples of the clearance that `nearest_rows` finds."""
    m = mechanism_from(random_tree(rng("kinds"), 4, joints, shape="chain", shuffle=False))
    world = made_up_world(m, "kinds", n_rows=30, size=0.2)
    random = rng("kinds rows")
    q0 = np.array([random_configuration(random, m) for _ in range(600)])
    bodies = replace(world.bodies, movers=np.arange(1, 5))
    rows, vertices = world.tables.rows, world.tables.vertices
    made = tables(bodies, rows, vertices, rounded_boxes(rows, vertices))
    world = world._replace(bodies=bodies, tables=made)
    q0 = q0[nearest_of(world, q0, 1, gradients=False)[0][:, 0, 0] > 0]
    q0, q1 = short_ways(turns_of(m), q0, q0 + random.normal(size=q0.shape) * 0.5)
    times, records, which, _ = moved(world, q0, q1)
    t = np.linspace(0, 1, 41)
    rows = (q0[:, None] + t[:, None] * (q1 - q0)[:, None]).reshape(-1, m.n_q)
    clearance = nearest_of(world, rows, 1, gradients=False)[0][:, 0, 0].reshape(len(q0), -1)
    hit = np.isfinite(times)
    assert (clearance[~hit] > 0).all()
    assert (clearance[hit][t[None] < times[hit, None]] > 0).all()
    at = q0 + np.where(hit, times, 0)[:, None] * (q1 - q0)
    own, things, _ = nearest_of(world, at[hit], 1, gradients=False)
    assert (own[:, 0, 0] <= TOLERANCE + 1e-9).all()
    late = times[hit] > 0
    np.testing.assert_allclose(own[late, 0, 0], records[hit][late, 0], atol=2 * TOLERANCE)
    assert (things[late, 0] == which[hit][late]).mean() > 0.95
    assert 0.1 < hit.mean() < 0.9
    assert late.all()
    assert len(q0) > 50


# --- samples and refusals -------------------------------------------------------------------------


def test_samples_are_close_and_hold_both_ends() -> None:
    random = rng("samples")
    q0, q1 = random.normal(size=(2, 50, 3))
    q1[7] = q0[7]
    rows, first = between(q0, q1, 0.05, turns_of(mechanism_from(chain_urdf(3))))
    assert first[0] == 0
    assert first[-1] == len(rows)
    for k, (a, b) in enumerate(pairwise(first)):
        own = rows[a:b]
        assert (own[0] == q0[k]).all()
        assert (own[-1] == q1[k]).all()
        steps = np.abs(np.diff(own, axis=0))
        assert steps.max(initial=0.0) <= 0.05 + 1e-12
        assert len(own) == 1 or steps.max() > 0.02
        np.testing.assert_allclose(np.diff(own, n=2, axis=0), 0, atol=1e-12)


@pytest.mark.slow
def test_samples_turn_by_no_more_than_the_resolution() -> None:
    m = mechanism_from(every_joint_urdf())
    random = rng("turning samples")
    q0, q1 = np.array([random_configuration(random, m) for _ in range(80)]).reshape(2, 40, -1)
    q0, q1 = short_ways(turns_of(m), q0, q1)
    rows, first = between(q0, q1, 0.05, turns_of(m))
    for a, b in pairwise(first):
        own = rows[a:b]
        for start, stop in pairwise(own):
            by = evaluate("difference", m, start, stop)
            for _, at, _ in turns_of(m).tolist():
                assert np.linalg.norm(by[at : at + 3]) <= 0.05 + 1e-9
            assert np.abs(stop - start)[~quaternions(m)].max() <= 0.05 + 1e-9


def test_velocities_are_those_that_take_one_end_to_the_other() -> None:
    m = mechanism_from(every_joint_urdf())
    random = rng("velocities")
    q0 = np.array([random_configuration(random, m) for _ in range(5)])
    q1 = q0 + random.normal(size=q0.shape)
    q1 = np.where(quaternions(m), q0, q1)
    expected = [evaluate("difference", m, *ends) for ends in zip(q0, q1, strict=True)]
    straight = np.ones(m.n_v, bool)
    for c, kind in enumerate(m.joint_types):
        straight[m.v_slice(c)] = not kind.has_quaternion
    found = velocities_of(m, q0, q1)
    np.testing.assert_allclose(found[:, straight], np.array(expected)[:, straight], atol=1e-12)
    assert not found[:, ~straight].any()


def test_velocities_and_accelerations_of_turns_are_differences_and_below_their_bounds() -> None:
    """By the rotation between two instants; turns of up to half a circle."""
    m = mechanism_from(every_joint_urdf())
    world = with_balls(m, "turning", radius=0.01)
    random, turns, h = rng("turning"), turns_of(m), 1e-5
    run = compiled([rates_of, velocity_at])
    steepest = 0.0
    for _ in range(40):
        ends = [np.array([random_configuration(random, m)]) for _ in range(2)]
        (q0,), (q1,) = short_ways(turns, *ends)
        change = q1 - q0
        rates, velocity = np.full(m.n_q, np.nan), np.zeros((3, m.n_v))
        run["rates_of"](world.tables.index, change, rates)
        for t in (0.0, 0.3, 0.5, 1.0):
            q = q0 + t * change
            for k, at in enumerate((q - h * change, q, q + h * change)):
                run["velocity_at"](world.tables.index, at, change, velocity[k])
            expected = evaluate("difference", m, q - h * change, q + h * change) / (2 * h)
            for a, b, lengths in turns.tolist():
                own = slice(b - lengths, b + 3)
                np.testing.assert_allclose(velocity[1, own], expected[own], atol=1e-6)
                turn = velocity[:, b : b + 3]
                assert np.linalg.norm(turn[1]) <= rates[a]
                steepest = max(steepest, np.linalg.norm(turn[1]) / rates[a])
                assert np.linalg.norm(turn[2] - turn[0]) / (2 * h) <= rates[a + 1] + 1e-4
    assert steepest > 0.99
