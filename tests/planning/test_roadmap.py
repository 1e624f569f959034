"""Roadmaps: their paths hold, files give them back, and a changed scene is met."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError
from linkwork.planning.roadmap import Roadmap
from seeds import rng


def posts(robot: lw.Robot, n: int) -> lw.Scene:
    random, scene = rng("posts"), lw.Scene()
    for k in range(n):
        angle, radius = random.uniform(0, 2 * np.pi), random.uniform(0.5, 0.8)
        place = (radius * np.cos(angle), radius * np.sin(angle), 0.4)
        scene.add_cylinder(f"post {k}", radius=0.03, length=0.8, pose=place)
    return scene


@pytest.fixture(scope="module")
def panda() -> lw.Robot:
    return lw.load("panda")


def test_paths_of_a_roadmap_hold(panda: lw.Robot) -> None:
    scene, model = posts(panda, 8), panda.collision()
    roadmap = Roadmap(panda.planner(), scene, nodes=1500)
    assert not model.collides(roadmap.q, scene).any()
    drawn = panda.random(600, seed=rng("ends of roadmaps"))
    ends = drawn[~model.collides(drawn, scene)][:40]
    found = 0
    for start, goal in zip(ends[::2], ends[1::2], strict=True):
        plan = roadmap.plan(start, goal)
        if not plan:
            assert "roadmap" in plan.reason
            continue
        found += 1
        assert plan.proven
        assert np.array_equal(plan.q[0], start)
        assert np.allclose(plan.q[-1], goal, atol=1e-12)
        assert not model.motion_collides(plan.q[:-1], plan.q[1:], scene).touches.any()
    assert found > 15


def test_a_file_gives_a_roadmap_back(panda: lw.Robot, tmp_path: Path) -> None:
    scene = posts(panda, 4)
    roadmap = Roadmap(panda.planner(), scene, nodes=300)
    start, goal = roadmap.q[0], roadmap.q[-1]
    first = roadmap.plan(start, goal)
    roadmap.save(tmp_path / "net.npz")
    read = Roadmap.load(tmp_path / "net.npz", panda.planner(), scene)
    assert repr(read) == repr(roadmap)
    assert np.array_equal(read.edges, roadmap.edges)
    assert np.array_equal(read.plan(start, goal).q, first.q)
    with pytest.raises(InputError, match="joint1, joint2"):
        Roadmap.load(tmp_path / "net.npz", panda.planner(["joint1"]), scene)
    (tmp_path / "other.npz").write_bytes(b"no roadmap")
    with pytest.raises(InputError, match="is no roadmap"):
        Roadmap.load(tmp_path / "other.npz", panda.planner(), scene)


def test_a_scene_that_changes_is_never_passed_through(panda: lw.Robot) -> None:
    scene, model = lw.Scene(), panda.collision()
    roadmap = Roadmap(panda.planner(), scene, nodes=800)
    start = np.array([-1.0, 0.3, 0.0, -1.8, 0.0, 2.1, 0.8])
    goal = start * [-1, 1, 1, 1, 1, 1, 1]
    assert len(roadmap.plan(start, goal).q) == 2
    scene.add_box("wall", (0.6, 0.02, 0.6), (0.6, 0.0, 0.3))
    for _ in range(2):
        plan = roadmap.plan(start, goal)
        if plan:
            assert not model.motion_collides(plan.q[:-1], plan.q[1:], scene).touches.any()
            assert len(plan.q) > 2
        roadmap.renew()
    assert roadmap.plan(start, goal)
    scene.remove("wall")
    assert len(roadmap.plan(start, goal).q) == 2


def test_what_a_roadmap_refuses(panda: lw.Robot) -> None:
    roadmap = Roadmap(panda.planner(["joint1", "joint2"]), nodes=50)
    other = np.zeros(7)
    other[5] = 1.0
    with pytest.raises(InputError, match="elsewhere"):
        roadmap.plan(other, other)
    endless = lw.load(
        """<robot name="spinner"><link name="base"/>
        <link name="arm"><collision><geometry><box size="0.5 0.05 0.05"/></geometry>
          </collision></link>
        <joint name="spin" type="continuous"><parent link="base"/><child link="arm"/>
          <axis xyz="0 0 1"/></joint></robot>"""
    )
    with pytest.raises(InputError, match="limits"):
        Roadmap(endless.planner())


def test_a_roadmap_says_what_is_wrong(panda: lw.Robot) -> None:
    planner = panda.planner()
    roadmap = Roadmap(planner, nodes=50)
    start = roadmap.q[0]
    with pytest.raises(ShapeError, match=r"goal must have shape \(7,\)"):
        roadmap.plan(start, roadmap.q[:2])  # it has one goal
    with pytest.raises(InputError, match="goal must be real numbers"):
        roadmap.plan(start, "home")
    with pytest.raises(ShapeError, match="base must have shape"):
        Roadmap(planner, nodes=50, base=[1.0, 2.0])
    with pytest.raises(InputError, match=r"base\[0\] \(joint1\) is nan"):
        Roadmap(planner, nodes=50, base=np.full(7, np.nan))
    with pytest.raises(InputError, match="seed must be"):
        Roadmap(planner, nodes=50, seed=-1)
    with pytest.raises(InputError, match=r"as planner\(\) gives"):
        Roadmap(panda, nodes=50)  # type: ignore[arg-type]
    group = Roadmap(panda.planner(["joint1", "joint2"]), nodes=50)
    np.testing.assert_array_equal(group.base, panda.neutral())
    with pytest.raises(InputError, match=r"'joint6' does not move.*base=start"):
        group.plan(panda.neutral() + np.eye(7)[5], panda.neutral() + np.eye(7)[5])


def test_a_roadmap_that_has_no_time_says_so(panda: lw.Robot) -> None:
    scene = posts(panda, 4)
    roadmap = Roadmap(panda.planner(), scene, nodes=300)
    plan = roadmap.plan(roadmap.q[0], roadmap.q[-1], seconds=1e-9)
    assert plan.reason == "no path was found in 1e-09 seconds"


@pytest.fixture(scope="module")
def net(panda: lw.Robot, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("roadmap") / "net.npz"
    Roadmap(panda.planner(), nodes=30).save(file)
    return file


def test_files_that_are_no_roadmap_of_this_robot(panda: lw.Robot, tmp_path: Path) -> None:
    planner = panda.planner()
    Roadmap(planner, nodes=100).save(tmp_path / "net.npz")
    whole = (tmp_path / "net.npz").read_bytes()
    middle = len(whole) // 2
    (tmp_path / "short.npz").write_bytes(whole[:300])
    bits = whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :]
    (tmp_path / "bits.npz").write_bytes(bits)
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "others.npz", q=np.zeros(3))
    np.savez(tmp_path / "older.npz", kind="linkwork roadmap 0")
    np.savez(tmp_path / "bare.npz", kind="linkwork roadmap 1")
    for name in ("short.npz", "bits.npz", "array.npy", "others.npz", "older.npz", "bare.npz"):
        with pytest.raises(InputError, match="is no roadmap"):
            Roadmap.load(tmp_path / name, planner)
    narrow = lw.load(lw.to_text(panda).replace('upper="1.7628"', 'upper="0.9"'))
    with pytest.raises(InputError, match="another robot than panda, or other limits"):
        Roadmap.load(tmp_path / "net.npz", narrow.planner())


@pytest.mark.parametrize(
    ("array", "other", "message"),
    [
        ("edges", lambda a: a + 1000, r"edges must be whole numbers from 0 to \d+"),
        ("edges", lambda a: -a - 1, "edges must be whole numbers"),
        ("edges", lambda a: a * 1.0, "edges must be whole numbers"),
        ("edges", lambda a: a[0], "shapes"),
        ("known", lambda a: a[:-1], "shapes"),
        ("known", lambda a: a + 7, "known must be whole numbers from 0 to 2"),
        ("points", lambda a: a[:5], "edges must be whole numbers from 0 to 4"),
        ("points", lambda a: a[:, :5], "points must have shape"),
        ("points", lambda a: a * np.nan, r"points\[0, 0\] is nan"),
        ("drawn", lambda a: a[0], "shapes"),
        ("drawn", lambda a: a * np.nan, r"drawn\[0, 0\] is nan"),
        ("base", lambda a: a * np.nan, r"base\[0\] is nan"),
        ("base", lambda a: a.astype(str), "base must be real numbers"),
        ("base", lambda a: a[0], "base must have shape"),
        ("neighbours", lambda a: -a, "neighbours must be a whole number from 1"),
        ("neighbours", lambda a: np.array([a, a]), "neighbours must be a whole number from 1"),
        ("joints", lambda a: np.arange(len(a)), "a roadmap of 0, 1, 2"),
    ],
)
def test_arrays_that_make_no_net_are_told(
    net: Path, panda: lw.Robot, array: str, other, message: str, tmp_path: Path
) -> None:
    arrays = dict(np.load(net))
    np.savez(tmp_path / "other.npz", **arrays | {array: other(arrays[array])})
    with pytest.raises(InputError, match=f"other.npz is .*{message}"):
        Roadmap.load(tmp_path / "other.npz", panda.planner())
