"""External wrenches on composite bodies: their sum, and their change where the body turns."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.external_wrenches import External, external_wrenches
from linkwork.algorithms.parametric import Parametric
from linkwork.algorithms.registry import evaluate
from linkwork.algorithms.sweep import Spatial, Sweep, power
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import so3
from robots import every_joint_urdf, mechanism_from, random_configuration
from seeds import rng


def one(F: np.ndarray, M: np.ndarray, r: np.ndarray) -> External:
    return External(list(F), list(M), np.outer(F, r).tolist())


def test_one_wrench():
    random = rng("one wrench")
    F, M, r, w, s, z = random.normal(size=(6, 3))
    given = one(F, M, r)
    np.testing.assert_allclose(
        np.concatenate(given.wrench), [*F, *(M + np.cross(r, F))], atol=1e-14
    )
    # turned about the point of attack at the rate w
    h, ends = 1e-5, []
    for t in (h, -h):
        R = np.array(so3.exp(NUMPY, t * w))
        ends.append(np.concatenate(one(R @ F, R @ M, r).wrench))
    expected = (ends[0] - ends[1]) / (2 * h)
    np.testing.assert_allclose(np.concatenate(given.turned(list(w))), expected, atol=1e-8)
    motion = Spatial(list(s), list(z))
    work = power(motion, given.turned(list(w)))
    np.testing.assert_allclose(np.dot(given.against(motion), w), work, atol=1e-13)


def test_wrenches_on_all_that_a_joint_moves(every_joint: Mechanism):
    random = rng("externals")
    for m in (every_joint, mechanism_from(every_joint_urdf(), base="floating")):
        q = random_configuration(random, m)
        moving = [k for k, b in enumerate(m.frame_body) if b > 0]
        names = [f"wrench:{m.frame_names[k]}" for k in random.choice(moving, 3, replace=False)]
        values = {name: random.normal(size=6) for name in names}
        given = Parametric(NUMPY, m, values)
        sweep = Sweep(NUMPY, given, q)
        found = external_wrenches(sweep)
        forces = np.zeros(m.n_v)
        for step, outside in zip(sweep.transforms, found, strict=True):
            if outside is not None:
                on = [*outside.wrench.linear, *outside.wrench.angular]
                for k, (axis, turns) in enumerate(step.free):
                    forces[step.start + k] += step.factor * on[axis + 3 * turns]
        expected = sum(
            evaluate("jacobian", m, q, frame=name.partition(":")[2]).T @ value
            for name, value in values.items()
        )
        np.testing.assert_allclose(forces, expected, rtol=0, atol=1e-12)
        assert given.unused() == []


def test_without_any_there_is_nothing(every_joint: Mechanism):
    sweep = Sweep(NUMPY, every_joint, random_configuration(rng("none"), every_joint))
    assert external_wrenches(sweep) == [None] * len(sweep.transforms)


def test_a_fixed_base_is_not_asked():
    m = mechanism_from(every_joint_urdf())
    given = Parametric(NUMPY, m, {"wrench:base": np.ones(6)})
    external_wrenches(Sweep(NUMPY, given, random_configuration(rng("base"), m)))
    assert given.unused() == ["wrench:base"]
