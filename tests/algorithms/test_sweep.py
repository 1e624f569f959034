"""Joint transforms against matrices, passes against walks by hand, motions against differences."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_cases import solid
from linkwork.algorithms.joint_transforms import (
    Spatial,
    both,
)
from linkwork.algorithms.registry import ALGORITHMS, evaluate
from linkwork.algorithms.sweep import Output, Sweep, bodies_of, motions, poses, summed
from linkwork.conventions import GRAVITY
from linkwork.mechanism.model import Mechanism
from linkwork.ops.graph import GraphOps
from linkwork.ops.numpy import NUMPY
from robots import body_poses, every_joint_urdf, mechanism_from, random_configuration, random_tree
from seeds import rng


@pytest.fixture(scope="module")
def mechanisms(aligned_tree) -> list[Mechanism]:
    random = rng("sweep trees")
    found = [aligned_tree(random, 8) for _ in range(10)]
    found += [mechanism_from(random_tree(random, 8), base="floating") for _ in range(5)]
    return [*found, mechanism_from(every_joint_urdf())]


def sweep_of(label: str, m: Mechanism) -> Sweep:
    return Sweep(NUMPY, m, random_configuration(rng(label), m))


def near(got, expected, within: float = 1e-13) -> None:
    np.testing.assert_allclose(np.concatenate(got), np.concatenate(expected), rtol=0, atol=within)


def spatial(random: np.random.Generator) -> Spatial:
    return Spatial(list(random.normal(size=3)), list(random.normal(size=3)))


def carriers(sweep: Sweep, k: int) -> list[int]:
    """The transforms that carry one, nearest first."""
    found = []
    while (k := sweep.transforms[k].parent) >= 0:
        found.append(k)
    return found


def test_poses_of_the_bodies(mechanisms):
    for m in mechanisms:
        q = random_configuration(rng("sweep poses"), m)
        sweep, expected = Sweep(NUMPY, m, q), body_poses(m, q)
        owners = [
            (step, pose)
            for step, pose in zip(sweep.transforms, poses(sweep), strict=True)
            if step.owner
        ]
        assert [step.body for step, _ in owners] == list(range(m.n_bodies))
        for (_, (R, p)), T in zip(owners, expected, strict=True):
            np.testing.assert_allclose(np.array(R, float), T[:3, :3], atol=1e-13)
            np.testing.assert_allclose(np.array(p, float), T[:3, 3], atol=1e-13)


def test_some_bodies_alone(every_joint: Mechanism):
    m = every_joint
    q, bodies = random_configuration(rng("alone"), m), m.ancestry(m.n_bodies - 1)
    sweep = Sweep(NUMPY, m, q, bodies)
    assert [step.body for step in sweep.transforms if step.owner] == bodies
    last = poses(sweep)[-1]
    np.testing.assert_allclose(np.array(last.p, float), body_poses(m, q)[bodies[-1]][:3, 3])
    # seen from the one that carries the first of them
    every = poses(Sweep(NUMPY, m, q, bodies[1:]))
    base, end = (body_poses(m, q)[bodies[k]] for k in (0, -1))
    T = np.linalg.inv(base) @ end
    np.testing.assert_allclose(np.array(every[-1].R, float), T[:3, :3], atol=1e-14)
    np.testing.assert_allclose(np.array(every[-1].p, float), T[:3, 3], atol=1e-14)


def test_bodies_of_a_frame_and_of_one_seen_from_another(every_joint: Mechanism):
    m = every_joint
    assert bodies_of(m, {}) is None
    ways = [set(m.ancestry(int(m.frame_body[m.frame(name)]))) for name in ("tool", "glue")]
    assert bodies_of(m, {"frame": "tool"}) == sorted(ways[0])
    assert bodies_of(m, {"base": "glue", "frame": "tool"}) == sorted(ways[0] ^ ways[1])


def test_the_sum_in_the_world(every_joint: Mechanism):
    sweep = sweep_of("to world", every_joint)
    own = [[1.0, float(k), 0.0] for k in range(len(sweep.transforms))]
    R = [np.array(pose.R, float) for pose in poses(sweep)]
    found = []
    sweep.to_world(own, lambda step, v: step.out(v), found.append)
    near(found, [sum(a @ v for a, v in zip(R, own, strict=True))])


def test_one_after_the_other_and_back(every_joint: Mechanism):
    sweep, seen = sweep_of("backwards", every_joint), []
    number = list(range(len(sweep.transforms)))
    found = sweep.each(lambda step, k: seen.append(k) or k, number, backwards=True)
    assert found == number and seen == number[::-1]


def test_passes_visit_parents_before_children_and_back(every_joint: Mechanism):
    sweep = sweep_of("order", every_joint)
    n = len(sweep.transforms)
    depth = sweep.outwards(lambda: 0, lambda step, before: before + 1)
    assert depth == [len(carriers(sweep, k)) + 1 for k in range(n)]
    # a base that stands still is handed nothing
    behind = sweep.inwards([1.0] * n, lambda step, total: (total, total))
    for k in range(n):
        own = [j for j in range(n) if k == j or k in carriers(sweep, j)]
        assert behind[k] == (len(own) if sweep.transforms[k].free else 1.0)


def test_the_way_up(every_joint: Mechanism):
    sweep = sweep_of("up", every_joint)
    number = list(range(len(sweep.transforms)))
    seen: dict[int, list[int]] = {k: [] for k in number}
    wrench = Spatial([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])

    def meet(step, k, above, j, carried):
        seen[k].append(j)
        expected = wrench
        for at in [k, *carriers(sweep, k)[: len(seen[k]) - 1]]:
            expected = sweep.transforms[at].wrench_out(expected)
        near(carried, expected)
        assert sweep.transforms[j] is above and sweep.transforms[k] is step

    sweep.up(lambda step, k: wrench, lambda step, now: step.wrench_out(now), meet, number)
    assert seen == {k: [j for j in carriers(sweep, k) if sweep.transforms[j].free] for k in number}


def test_sums_of_states():
    a, b = Spatial([1.0, 0.0, 2.0], [0.0] * 3), Spatial([0.5] * 3, [1.0] * 3)
    assert summed(a, b) == Spatial([1.5, 0.5, 2.5], [1.0] * 3)
    assert summed(None, b) is b and summed(a, None) is a and summed(None, None) is None


def test_entries_of_coupled_joints_add_up(every_joint: Mechanism):
    m = every_joint
    transforms = sweep_of("matrix", m).transforms
    (turn,) = [s for s in transforms if m.body_joint_names[s.body] == "turn"]
    (copy,) = [s for s in transforms if m.body_joint_names[s.body] == "copy"]
    assert turn.start == copy.start and copy.factor == -0.5
    matrix, k = Output((m.n_v, m.n_v)), turn.start
    matrix.meet((turn, 0), (turn, 0), 1.0)
    matrix.meet((turn, 0), (copy, 0), 4.0)
    matrix.meet((copy, 0), (copy, 0), 32.0)
    matrix.add((k, 0), 3.0)
    assert matrix.get(k, k) == 1.0 - 2.0 + 8.0
    assert matrix.get(0, k) == 0.0
    assert matrix.lower() == {(k, k): 7.0, (k, 0): 3.0}
    assert matrix.column(0) == {k: 3.0}
    block = matrix.block(NUMPY)
    assert block.shape == (m.n_v, m.n_v)
    assert block[k, k] == 7.0 and block[k, 0] == 3.0 and np.count_nonzero(block) == 2


def test_shapes_of_outputs():
    three = Output((3, 3))
    three.put((0, 2), 5.0)
    # what is never set stays structural: 0 is the number of zero
    assert np.count_nonzero(three.block(GraphOps()).numbers) == 1
    assert Output((0, 0)).block(NUMPY).shape == (0, 0)
    assert Output((2,)).block(NUMPY).tolist() == [0.0, 0.0]
    assert Output(()).block(NUMPY).shape == ()
    assert np.shape(Output((2, 3, 4)).block(NUMPY)) == (2, 3, 4)


def test_velocities_are_rates_of_poses(every_joint: Mechanism):
    random, h = rng("sweep velocities"), 1e-3
    for m in (every_joint, *[mechanism_from(random_tree(random, 7)) for _ in range(5)]):
        q, v = random_configuration(random, m), random.normal(size=m.n_v)
        sweep = Sweep(NUMPY, m, q)
        at = [body_poses(m, evaluate("integrate", m, q, k * h * v)) for k in (1, -1, 2, -2)]
        for step, motion in zip(sweep.transforms, motions(sweep, v), strict=True):
            if not step.owner:
                continue
            a, b, c, d = (found[step.body] for found in at)
            dT, T = (8 * (a - b) - (c - d)) / (12 * h), body_poses(m, q)[step.body]
            W = T[:3, :3].T @ dT[:3, :3]
            near(motion.velocity, (T[:3, :3].T @ dT[:3, 3], [W[2, 1], W[0, 2], W[1, 0]]), 1e-8)


def test_accelerations_are_rates_of_velocities(every_joint: Mechanism):
    # in the body's own axes the spatial acceleration is the rate of the velocity's numbers
    random, h = rng("sweep accelerations"), 1e-3
    for m in (every_joint, *[mechanism_from(random_tree(random, 7)) for _ in range(5)]):
        q, v, dv = random_configuration(random, m), *random.normal(size=(2, m.n_v))
        ends = []
        for t in (h, -h, 2 * h, -2 * h):
            there = Sweep(NUMPY, m, evaluate("integrate", m, q, t * v + t * t / 2 * dv))
            ends.append([each.velocity for each in motions(there, v + t * dv)])
        for k, motion in enumerate(motions(Sweep(NUMPY, m, q), v, dv)):
            a, b, c, d = (np.concatenate(end[k]) for end in ends)
            rate = (8 * (a - b) - (c - d)) / (12 * h)
            near(motion.acceleration, (rate[:3], rate[3:]), 1e-7)


def test_gravity_is_an_acceleration_of_the_world(every_joint: Mechanism):
    m = every_joint
    q, still = random_configuration(rng("falling"), m), np.zeros(m.n_v)
    sweep, at = Sweep(NUMPY, m, q), body_poses(m, q)
    for step, motion in zip(sweep.transforms, motions(sweep, still, gravity=True), strict=True):
        if step.owner:
            near(motion.acceleration, (-at[step.body][:3, :3].T @ GRAVITY, np.zeros(3)))
    for motion in motions(sweep, None):
        near(motion.acceleration, (np.zeros(3), np.zeros(3)), 0)


def test_before_a_joint_and_after_it(every_joint: Mechanism):
    random = rng("before")
    sweep, v = sweep_of("before", every_joint), random.normal(size=every_joint.n_v)
    for step, motion in zip(sweep.transforms, motions(sweep, v), strict=True):
        near(both(motion.velocity_before, step.own_motion(v)), motion.velocity)


ARTICULATED = ("forward_dynamics_derivatives", "inverse_mass_matrix")


@pytest.mark.parametrize("name", [*ARTICULATED, "regressor", "inverse_dynamics_derivatives"])
def test_what_is_written_in_passes_is_what_is_written_out(name: str, aligned_tree):
    # the one for long mechanisms, the other for those of a robot's size, by different expressions
    random, entry = rng(f"in passes {name}"), ALGORITHMS[name]
    solid_ones = solid(random_tree(random, 6, mimic=0.0))
    found = [mechanism_from(solid_ones, base="floating"), mechanism_from(solid_ones)]
    if name not in ARTICULATED:
        coupled = random_tree(random, 7)
        found = [aligned_tree(random, 7), mechanism_from(coupled, base="floating")]
    for m in found:
        q = random_configuration(random, m)
        inputs = [random.normal(size=m.n_v) for _ in entry.inputs[1:]]
        in_passes = entry.in_passes
        assert in_passes is not None
        got = in_passes(Sweep(NUMPY, m, q), *inputs).block(NUMPY)
        expected = evaluate(name, m, q, *inputs)
        scale = max(1.0, np.abs(expected).max(initial=0))
        if name in ARTICULATED:  # an inverse is as exact as the matrix allows
            scale *= max(1.0, 1e-3 * np.linalg.cond(evaluate("mass_matrix", m, q)))
        got = np.reshape(got, expected.shape)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * scale)
