"""Compiled poses and twists of links, against walks over the model and against Jacobians."""

from __future__ import annotations

import copy
import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.registry import evaluate
from linkwork.collision.frames import FUNCTIONS, WIDTH_32, Frames
from linkwork.compile.cache import Cache
from linkwork.compile.compiler import Compiler
from linkwork.compile.target import LEVELS, host, named
from linkwork.errors import InputError, UnknownNameError
from linkwork.mechanism.model import Mechanism
from linkwork.models import MODELS
from robots import (
    ALL_TYPES,
    chain_urdf,
    every_joint_urdf,
    mechanism_from,
    model_poses,
    random_configuration,
    random_tree,
    various_robot_urdfs,
)
from seeds import rng


def of_links(m: Mechanism, compiler: Compiler | None = None) -> Frames:
    """The frames of all links."""
    return Frames(m, m.frame_names[: m.n_link_frames], compiler or Compiler())


def configurations(m: Mechanism, n: int) -> np.ndarray:
    """So many rows of positions."""
    random = rng(f"{m.name} {m.n_q}")
    return np.array([random_configuration(random, m) for _ in range(n)]).reshape(n, m.n_q)


def walked(frames: Frames, q: np.ndarray) -> np.ndarray:
    """The same poses (n, n_bodies, 3, 4) by a walk over the arrays of the model."""
    found = [model_poses(frames.mechanism, row) for row in q]
    return np.array([[poses[name][:3] for name in frames.names] for poses in found])


def reach_of(m: Mechanism, poses: np.ndarray) -> float:
    """A length that no two links, nor a link and the world's origin, are farther apart than."""
    sizes = np.linalg.norm(poses[..., 3], axis=-1)
    return float(2.0 * sizes.max(initial=0.0) + np.abs(m.p_parent_joint).max())


def columns(frames: Frames, twists: np.ndarray, body: int) -> np.ndarray:
    """The Jacobian (6, n_v) of a body that the table of columns makes of the twists of one row."""
    found = np.zeros((6, frames.n_v))
    for k, twist in enumerate(frames.column_of[body]):
        if twist >= 0:
            found[:, k] = twists[twist]
    return found


def check(m: Mechanism, n: int = WIDTH_32 + 3, *, every: int = 1) -> None:
    """All functions against walks over the model, and against Jacobians of some bodies."""
    frames, q, some = of_links(m), configurations(m, n), [0, 1, n - 1]
    exact = walked(frames, q[some])
    reach = max(1.0, reach_of(m, exact))
    for function, kind in FUNCTIONS.items():
        bound = frames.float32_bound(reach) if kind.single else 1e-13 * reach * (1 + m.n_bodies)
        assert np.abs(frames.poses(q, function)[some] - exact).max() <= bound, function
    assert np.array_equal(frames.poses(q, "frames64"), frames.poses(q))
    assert np.array_equal(frames.poses(q, "twists64"), frames.poses(q, "twists1"))
    twists = frames.twists(q)
    assert np.array_equal(frames.twists(q, "twists64"), twists)
    assert frames.column_of.shape == (frames.n_bodies, m.n_v)
    for body in range(0, frames.n_bodies, every):
        name = frames.names[body]
        for k in some[1:]:
            J = evaluate("jacobian", m, q[k], frame=name, reference="world")
            mine = columns(frames, twists[k], body)
            assert np.abs(mine - J).max(initial=0.0) <= 1e-13 * reach * (1 + m.n_bodies), name


def test_every_type_of_joint():
    check(mechanism_from(every_joint_urdf()))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("kind", [*ALL_TYPES, "all"])
def test_random_trees(kind, base):
    types = ALL_TYPES if kind == "all" else (kind,)
    m = mechanism_from(random_tree(rng(f"frames {kind} {base}"), 6, types), base)
    check(m, every=3)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MODELS))
def test_bundled_models(name):
    check(lw.load(name).mechanism, every=4)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["allegro_left_hand", "pr2", "talos_full_v2", "quadrotor_base"])
def test_real_robots(name):
    (path,) = [path for path in various_robot_urdfs() if path.stem == name]
    check(lw.load(path, base="floating").mechanism, every=7)


@cache
def panda() -> tuple[Any, Frames]:
    """The robot, and the frames of its links."""
    robot = lw.load("panda")
    return robot, of_links(robot.mechanism)


def test_poses_and_twists_are_the_robots_own():
    robot, frames = panda()
    q = configurations(robot.mechanism, 30)
    poses, twists = frames.poses(q), frames.twists(q)
    for body, name in list(enumerate(frames.names))[3::5]:
        assert np.abs(poses[:, body] - robot.fk(q, name)[:, :3]).max() < 1e-12
        J = robot.jacobian(q, name, reference="world")
        for k in range(len(q)):
            assert np.abs(columns(frames, twists[k], body) - J[k]).max() < 1e-12


def test_a_twist_moves_points_as_they_move():
    m = mechanism_from(random_tree(rng("points"), 9), "floating")
    frames, (q,) = of_links(m), configurations(m, 1)
    body, point, step = frames.n_bodies - 1, np.array([0.3, -0.2, 0.5, 1.0]), 1e-6
    place, twists = frames.poses(q)[0, body] @ point, frames.twists(q)[0]
    for k in range(m.n_v):
        v = np.zeros(m.n_v)
        v[k] = step
        ends = [evaluate("integrate", m, q, sign * v) for sign in (-1.0, 1.0)]
        before, after = (frames.poses(each)[0, body] @ point for each in ends)
        column = columns(frames, twists, body)[:, k]
        speed = column[:3] + np.cross(column[3:], place)
        assert np.abs((after - before) / (2 * step) - speed).max() < 1e-7


def test_twists_that_bodies_share_are_there_once():
    _, frames = panda()
    assert frames.n_twists == frames.n_v == 7
    m = mechanism_from(chain_urdf(5))
    table = of_links(m).column_of
    assert of_links(m).n_twists == 5
    for body, name in enumerate(m.frame_names[: m.n_link_frames]):
        assert (table[body] >= 0).sum() == int(name.removeprefix("link"))


def test_a_coupled_joint_adds_to_the_column_of_its_leader():
    coupling = '<mimic joint="joint1" multiplier="-0.5" offset="0.2"/></joint>'
    text = chain_urdf(2)
    at = text.rindex("</joint>")
    frames = of_links(mechanism_from(text[:at] + coupling + text[at + len("</joint>") :]))
    first, second = (columns(frames, frames.twists([0.3])[0], body)[:, 0] for body in (1, 2))
    x, y = 0.1 + 0.1 * np.cos(0.3), 0.1 * np.sin(0.3)  # of the second joint
    assert np.allclose(first, [0.0, -0.1, 0.0, 0.0, 0.0, 1.0])
    assert np.allclose(second - first, -0.5 * np.array([y, -x, 0.0, 0.0, 0.0, 1.0]))


def test_the_columns_of_fingers_on_one_leader():
    m = mechanism_from(every_joint_urdf())
    frames = of_links(m)
    k = m.v_slice(m.joint("grip_a")).start
    of = {name: frames.column_of[body, k] for body, name in enumerate(frames.names)}
    assert len({of["finger_a"], of["finger_b"], of["finger_c"], -1}) == 4
    assert of["hand"] == of["base"] == -1


def test_what_is_fixed_in_the_world_stands_still():
    m = mechanism_from('<robot name="post"><link name="post"/></robot>')
    frames = of_links(m)
    assert (frames.n_q, frames.n_twists, frames.column_of.shape) == (0, 0, (1, 0))
    for function in FUNCTIONS:
        assert np.array_equal(frames.poses(np.zeros((3, 0)), function)[2, 0], np.eye(4)[:3])


def test_names_may_be_of_few_links_in_any_order():
    robot, every = panda()
    some = Frames(robot.mechanism, every.names[5:2:-2], Compiler())
    q = configurations(robot.mechanism, 3)
    assert np.array_equal(some.poses(q), every.poses(q)[:, 5:2:-2])
    with pytest.raises(UnknownNameError, match="hnad"):
        Frames(robot.mechanism, ["hnad"], Compiler())


def test_positions_are_taken_of_the_right_length():
    _, frames = panda()
    with pytest.raises(InputError, match="q"):
        frames.poses(np.zeros(6))


@pytest.mark.slow
def test_the_cache_gives_the_same(tmp_path):
    m = mechanism_from(every_joint_urdf())
    q = configurations(m, 5)
    first, second = (of_links(m, Compiler(cache=Cache(tmp_path / "kept"))) for _ in range(2))
    for function, kind in FUNCTIONS.items():
        assert not first.made(function).from_cache
        assert np.array_equal(first.poses(q, function), second.poses(q, function))
        assert second.made(function).from_cache
        if kind.twists:
            assert np.array_equal(first.twists(q, function), second.twists(q, function))
    assert np.array_equal(first.column_of, second.column_of)
    other = Frames(m, first.names[1:], Compiler(cache=Cache(tmp_path / "kept")))
    assert not other.made("frames32").from_cache


def levels() -> list[str]:
    """The levels of x86-64 that this processor can run."""
    fine = []
    for level in LEVELS:
        try:
            named(level)
        except InputError:
            continue
        fine.append(level)
    return fine


@pytest.mark.slow
def test_machines_with_fused_multiply_adds_agree_to_the_bit():
    m = panda()[0].mechanism
    q, found = configurations(m, 20), {True: [], False: []}
    for target in [named(level) for level in levels()] + [host()]:
        frames = of_links(m, Compiler(target))
        for function in ("frames32", "frames64"):
            found[target.fused].append((function, frames.poses(q, function)))
    for same in found.values():
        for function, poses in same:
            assert np.array_equal(poses, dict(same)[function])


def test_single_precision_keeps_its_bound_far_out():
    robot, frames = panda()
    m, random = robot.mechanism, rng("far out")
    for largest in (1.0, 100.0, 2e4):
        q = random.uniform(-largest, largest, (200, m.n_q))
        exact = frames.poses(q)
        wrong = np.abs(frames.poses(q, "frames32") - exact)[..., 3].max()
        assert wrong <= frames.float32_bound(1.3, largest=largest)
        assert wrong >= frames.float32_bound(1.3, largest=largest) / 500


@pytest.mark.slow
def test_a_long_mechanism():
    check(mechanism_from(random_tree(rng("long tree"), 130)), 3, every=40)


def test_they_are_of_this_process():
    _, frames = panda()
    assert copy.deepcopy(frames) is frames
    with pytest.raises(TypeError, match="Frames cannot be pickled"):
        pickle.dumps(frames)
