"""Tables of how far links are apart: verdicts with them are those that exact distances give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from collision.test_model import dressed
from linkwork.formats.urdf.records import Box
from robots import random_tree
from seeds import rng

Floats = Any


def turning_numbers(m: Any) -> list[int]:
    return [int(m.q_start[c]) for c, kind in enumerate(m.joint_types) if kind.turns]


def odd_states(robot: lw.Robot, n: int, label: str) -> Floats:
    """States within the limits, at them, next to neutral, and turns away from all of these."""
    random = rng(label)
    q, m = robot.random(n, seed=random), robot.mechanism
    ends = (m.lower, -np.pi), (m.upper, np.pi)
    lower, upper = (np.where(np.isfinite(end), end, other) for end, other in ends)
    where = random.random(q.shape)
    q = np.where(where < 0.1, lower, np.where(where > 0.9, upper, q))
    q[: n // 8] = robot.neutral() + random.normal(size=(n // 8, robot.n_q)) * 1e-7
    turning = np.isin(np.arange(robot.n_q), turning_numbers(m))
    turns = random.integers(-1, 2, q.shape) * turning * (random.random((n, 1)) < 0.2)
    return q + 2.0 * np.pi * turns


@pytest.mark.parametrize(
    "name",
    ["panda"] + [pytest.param(name, marks=pytest.mark.slow) for name in ("puma560", "humanoid")],
)
def test_verdicts_are_those_of_distances(name: str) -> None:
    robot = lw.load(name)
    model = robot.collision()
    assert model.apart, "nothing is near enough to be told by a table"
    q = odd_states(robot, 6000, f"apart {name}")
    hit = model.collides(q)
    np.testing.assert_array_equal(hit, model.distances(q).distance.min(axis=1) <= 0.0)
    assert 0.0 < hit.mean() < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_verdicts_of_random_robots(seed: int) -> None:
    random = rng(f"apart {seed}")
    kinds, tables = ("revolute", "continuous", "prismatic"), 0
    for _ in range(2 if seed == 0 else 4):
        text = dressed(random_tree(random, 6, kinds, shape="chain", mimic=0.3), random, size=0.25)
        robot = lw.load(text)
        model = robot.collision()
        tables += len(model.apart)
        q = odd_states(robot, 2000, f"apart {seed} q")
        least = model.distances(q).distance.min(axis=1, initial=np.inf)
        np.testing.assert_array_equal(model.collides(q), least <= 0.0)
    assert tables > (0 if seed == 0 else 2)


def test_a_link_that_is_round_about_its_joint() -> None:
    """A turn about the axis of a round base changes no distance; of a leaning one it does."""
    for lean in (0.0, 0.3):
        robot = lw.load(f"""
        <robot name="round"><link name="base"><collision><origin xyz="0 0 0.1" rpy="{lean} 0 0"/>
          <geometry><cylinder radius="0.1" length="0.2"/></geometry></collision></link>
        <link name="hub"/><link name="arm"><collision><origin xyz="0.3 0 0"/>
          <geometry><box size="0.6 0.05 0.05"/></geometry></collision></link>
        <joint name="turn" type="continuous"><parent link="base"/><child link="hub"/>
          <origin xyz="0 0 0.26"/><axis xyz="0 0 1"/></joint>
        <joint name="tilt" type="revolute"><parent link="hub"/><child link="arm"/>
          <origin xyz="0 0 0.01"/><axis xyz="0 1 0"/>
          <limit lower="-0.6" upper="0.6" effort="1" velocity="1"/></joint>
        </robot>""")
        model = robot.collision()
        (table,) = model.apart
        assert len(table.places) == (1 if lean == 0.0 else 2)
        q = odd_states(robot, 4000, f"round {lean}")
        hit = model.collides(q)
        np.testing.assert_array_equal(hit, model.distances(q).distance[:, 0] <= 0.0)
        assert 0.0 < hit.mean() < 1.0


@pytest.mark.slow
def test_models_with_other_pairs_and_held_objects_keep_tables() -> None:
    robot = lw.load("ur5e")
    model = robot.collision()
    q = odd_states(robot, 3000, "apart held")
    held = model.with_attached("box", Box((0.1, 0.1, 0.3)), "tool0", (0.0, 0.0, 0.2))
    fewer = model.with_pairs(ignore="base_link")
    for other in (held, held.with_tables(), held.without_attached("box"), fewer):
        assert [each.names for each in other.apart] == [each.names for each in model.apart]
        least = other.distances(q).distance.min(axis=1)
        np.testing.assert_array_equal(other.collides(q), least <= 0.0)
