"""Yoshikawa's measure and its slope, against singular values and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.configuration import integrate, random
from linkwork.algorithms.jacobian import jacobian
from linkwork.models import MODELS
from linkwork.ops.numpy import NUMPY
from linkwork.solve.objectives import manipulability
from robots import every_joint_urdf, mechanism_from, random_tree
from seeds import rng


def log_of(m, frame, q, columns, rows):
    J = jacobian(NUMPY, m, q, frame=m.frame_names[frame])
    singular = np.linalg.svd(J[np.ix_(rows, columns)], compute_uv=False)
    return np.log(np.maximum(singular, 1e-300)).sum()


def numbers(m, coordinates):
    return [k for c in coordinates for k in range(int(m.v_start[c]), int(m.v_start[c + 1]))]


def check(m, frame, coordinates, rows, q):
    found = manipulability(NUMPY, m, q, frame, coordinates=coordinates, rows=rows)
    columns = numbers(m, coordinates)
    value = log_of(m, frame, q, columns, rows)
    if value < -5.0:
        return  # next to singular, where differences say nothing
    assert 0.5 * np.log(found.squared) == pytest.approx(value, abs=1e-6)
    for k in range(m.n_v):
        step = 1e-5 * np.eye(m.n_v)[k]
        ends = [log_of(m, frame, integrate(NUMPY, m, q, s * step), columns, rows) for s in (1, -1)]
        expected = (ends[0] - ends[1]) / 2e-5 if k in columns else 0.0
        assert found.slope[k] == pytest.approx(expected, abs=1e-5 + 1e-5 * abs(expected))


@pytest.mark.sweep(11)
@pytest.mark.parametrize("name", list(MODELS))
def test_bundled_robots(name):
    m = lw.load(name).mechanism
    frame = m.frame(MODELS[name].tip)
    for q in random(m, rng(name), 4):
        check(m, frame, m.coordinates_moving(frame), range(6), q)


@pytest.mark.parametrize("frame", ["ball", "lens", "finger_c", "finger_b"])
def test_every_type_of_joint_and_coupled_ones(frame):
    m = mechanism_from(every_joint_urdf())
    index = m.frame(frame)
    for q in random(m, rng(frame), 6):
        check(m, index, m.coordinates_moving(index), range(6), q)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", range(6))
def test_random_trees_some_joints_and_some_rows(seed):
    r = rng(f"tree {seed}")
    m = mechanism_from(random_tree(r, 9))
    frame = max(range(m.n_link_frames), key=lambda k: len(m.coordinates_moving(k)))
    moving = m.coordinates_moving(frame)
    some = sorted(r.choice(moving, size=max(1, len(moving) - 1), replace=False).tolist())
    for q in random(m, r, 3):
        check(m, frame, moving, range(6), q)
        check(m, frame, some, (0, 1, 2), q)
        check(m, frame, some, (1, 3, 5), q)


def test_the_slope_is_finite_where_the_measure_is_zero():
    m = lw.load("planar_2r").mechanism
    frame = m.frame(MODELS["planar_2r"].tip)
    found = manipulability(NUMPY, m, np.zeros(2), frame, coordinates=[0, 1])
    assert np.isfinite(found.slope).all()
    none = manipulability(NUMPY, m, np.zeros(2), m.frame(m.frame_names[0]), coordinates=[])
    assert none.slope == [0.0, 0.0]
