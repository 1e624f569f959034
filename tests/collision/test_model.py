"""The collision model as people use it: what its questions say must be one story."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import (
    DescriptionError,
    InputError,
    ShapeError,
    UnknownNameError,
    UnsupportedFeatureError,
)
from linkwork.formats import srdf
from linkwork.formats.srdf import Srdf
from robots import every_joint_urdf, random_configuration, random_tree
from seeds import rng

Floats = Any
SHAPES = (
    '<box size="{a} {b} {c}"/>',
    '<sphere radius="{a}"/>',
    '<cylinder radius="{a}" length="{b}"/>',
    '<capsule radius="{a}" length="{b}"/>',
)


def dressed(text: str, g: np.random.Generator, size: float = 0.12) -> str:
    """A URDF whose links have one or two solids each, but the first."""

    def solids() -> str:
        found = ""
        for _ in range(int(g.integers(1, 3))):
            a, b, c = (f"{x:.3f}" for x in g.uniform(0.2, 1.0, 3) * size)
            x, y, z = (f"{x:.3f}" for x in g.normal(size=3) * size / 2)
            shape = SHAPES[int(g.integers(len(SHAPES)))].format(a=a, b=b, c=c)
            found += (
                f'<collision><origin xyz="{x} {y} {z}" rpy="{x} {y} 1"/>'
                f"<geometry>{shape}</geometry></collision>"
            )
        return found

    text = re.sub(r'<link name="(\w+)"/>', r'<link name="\1"></link>', text)
    return re.sub(r"</link>", lambda _: solids() + "</link>", text)


def scene_around(g: np.random.Generator, n: int = 3, at: Any = 0.0, size: float = 0.2) -> Any:
    """A scene with n objects of every kind of solid that has no file."""
    scene = lw.Scene()
    for k in range(n):
        a, b, c = g.uniform(0.2, 1.0, 3) * size

        def pose() -> Any:
            return lw.pose(xyz=at + g.normal(size=3), rpy=g.uniform(-3, 3, 3))

        scene.add_box(f"box {k}", (a, b, c), pose())
        scene.add_sphere(f"sphere {k}", a, pose())
        scene.add_cylinder(f"cylinder {k}", a, b, pose())
        scene.add_capsule(f"capsule {k}", a, b, pose())
        scene.add_ellipsoid(f"ellipsoid {k}", (a, b, c), pose())
        corners = g.normal(size=(8, 3)) * size / 2
        faces = list(combinations(range(8), 3))
        scene.add_mesh(f"mesh {k}", (corners, faces), pose())
    return scene


def configurations(robot: Any, g: np.random.Generator, n: int) -> Floats:
    return np.array([random_configuration(g, robot.mechanism) for _ in range(n)])


def agree(model: Any, q: Floats, scene: Any = None) -> np.ndarray:
    """The verdicts, where all questions tell the same."""
    hit = model.collides(q, scene)
    clear, each = model.clearance(q, scene), model.distances(q, scene)
    least = each.distance.min(axis=-1, initial=np.inf)
    np.testing.assert_array_equal(hit, clear.distance <= 0)
    np.testing.assert_allclose(clear.distance, least, rtol=1e-14)
    some = model.nearest(q, 3, scene, gradients=False)
    np.testing.assert_allclose(some.distance[..., 0], clear.distance, rtol=1e-14)
    return hit


@pytest.mark.parametrize("base", ["fixed", pytest.param("floating", marks=pytest.mark.slow)])
def test_gradients_elsewhere_are_of_the_points_that_were_found(base: str) -> None:
    g = rng(f"gradients elsewhere {base}")
    robot = lw.load(dressed(every_joint_urdf(), g), base=base)
    model, scene = robot.collision(), scene_around(g)
    q, at = configurations(robot, g, 4), configurations(robot, g, 4)
    here = model.nearest(q, 6, scene)
    there = model.nearest(q, 6, scene, gradients_at=at)
    np.testing.assert_array_equal(there.distance, here.distance)
    np.testing.assert_array_equal(there.points, here.points)
    same = model.nearest(q, 6, scene, gradients_at=q)
    np.testing.assert_allclose(same.gradient, here.gradient, rtol=1e-12, atol=1e-12)

    def apart(row: int, k: int, q_now: Floats) -> float:
        """How far apart the points are along the normal, all carried along with their links."""
        moved = []
        for body in there.bodies[row, k]:
            name = there.names[body]
            of_robot = name in model.links
            T = np.linalg.inv(robot.fk(q[row], name)) if of_robot else np.eye(4)
            moved.append(robot.fk(q_now, name) @ T if of_robot else T)
        a, b = (T[:3, :3] @ p + T[:3, 3] for T, p in zip(moved, there.points[row, k], strict=True))
        return float((moved[1][:3, :3] @ there.normal[row, k]) @ (b - a))

    h = 1e-6
    for row, k in np.argwhere(np.isfinite(there.distance)).tolist():
        for i in range(robot.n_v):
            v = np.zeros(robot.n_v)
            v[i] = h
            ahead, behind = (apart(row, k, robot.integrate(at[row], way * v)) for way in (1, -1))
            slope = (ahead - behind) / (2.0 * h)
            np.testing.assert_allclose(there.gradient[row, k, i], slope, atol=1e-6)
    with pytest.raises(ShapeError, match="gradients_at has leading shape"):
        model.nearest(q, 6, scene, gradients_at=at[:2])


ROBOTS = {
    "every joint": lambda g: every_joint_urdf(),
    "tree": lambda g: random_tree(g, 7),
    "chain": lambda g: random_tree(g, 6, ("revolute", "prismatic"), shape="chain", mimic=0.0),
}


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("every joint", "floating"),
        pytest.param("every joint", "fixed", marks=pytest.mark.slow),
        pytest.param("tree", "fixed", marks=pytest.mark.slow),
        pytest.param("tree", "floating", marks=pytest.mark.slow),
        pytest.param("chain", "fixed", marks=pytest.mark.slow),
    ],
)
def test_all_questions_tell_one_story(name: str, base: str) -> None:
    g = rng(f"one story {name} {base}")
    robot = lw.load(dressed(ROBOTS[name](g), g), base=base)
    model = robot.collision(overhang=0.1, srdf=None)
    q = configurations(robot, g, 60)
    at = robot.fk_all(q[0])[-1, :3, 3]
    scene = scene_around(g, at=at)
    scene.add_box("sure", (0.4, 0.4, 0.4), at)
    alone, among = agree(model, q), agree(model, q, scene)
    assert among[0] and (among >= alone).all(), (alone.sum(), among.sum())


def arm_urdf() -> str:
    g = rng("arm of the model's tests")
    return dressed(random_tree(g, 5, ("revolute",), shape="chain", mimic=0.0), g)


@pytest.fixture(scope="module")
def arm() -> Any:
    return lw.load(arm_urdf())


@pytest.fixture(scope="module")
def cluttered() -> Any:
    return scene_around(rng("cluttered"), 4)


def test_shapes_of_batches_and_numbers(arm: Any, cluttered: Any) -> None:
    model, q = arm.collision(overhang=0.1), configurations(arm, rng("batches"), 42)
    hit = model.collides(q, cluttered)
    assert hit.any() and not hit.all()
    many = q.reshape(2, 3, 7, -1)
    np.testing.assert_array_equal(model.collides(many, cluttered), hit.reshape(2, 3, 7))
    assert model.clearance(many, cluttered).distance.shape == (2, 3, 7)
    one = model.collides(q[5], cluttered)
    assert np.shape(one) == () and bool(one) == hit[5]
    strided = np.repeat(q, 2, axis=0)[::2]
    np.testing.assert_array_equal(model.collides(strided, cluttered), hit)
    np.testing.assert_array_equal(model.collides(np.asfortranarray(q), cluttered), hit)
    single = q.astype(np.float32)
    np.testing.assert_array_equal(
        model.collides(single, cluttered), model.collides(single.astype(float), cluttered)
    )
    np.testing.assert_array_equal(model.collides(q.tolist(), cluttered), hit)
    for empty in (q[:0], q[:0].reshape(0, 3, q.shape[1]), q[:0].reshape(3, 0, q.shape[1])):
        shape = empty.shape[:-1]
        assert model.collides(empty, cluttered).shape == shape
        assert model.clearance(empty, cluttered).distance.shape == shape
        assert model.distances(empty, cluttered).distance.shape[:-1] == shape
    with pytest.raises(ShapeError):
        model.collides(q[:, 1:])


def test_threads_change_nothing(arm: Any, cluttered: Any) -> None:
    model, q = arm.collision(overhang=0.1), configurations(arm, rng("threads"), 3001)
    one, two = (model.collides(q, cluttered, threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    one, two = (model.clearance(q[:500], cluttered, threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.distance, two.distance)
    assert one.names == two.names
    np.testing.assert_array_equal(one.distance <= 0, model.collides(q[:500], cluttered))


@pytest.mark.parametrize("name", ["quadruped", pytest.param("ur5e", marks=pytest.mark.slow)])
def test_what_is_beside_a_configuration_changes_nothing(name: str) -> None:
    """What is remembered of pieces of one configuration says nothing of others in the next."""
    robot = lw.load(name)
    model, g = robot.collision(), rng(f"beside {name}")
    q = robot.random(20_000, seed=g)
    hit = model.collides(q)
    order = g.permutation(len(q))
    np.testing.assert_array_equal(model.collides(q[order]), hit[order])
    touching, free = np.flatnonzero(hit), np.flatnonzero(~hit)
    for _ in range(3000):
        two = [g.choice(touching), g.choice(free)]
        np.testing.assert_array_equal(model.collides(q[two]), [True, False])


def test_a_motion_is_the_same_alone_and_beside_others() -> None:
    """How far other motions slide says nothing of it, where a joint slides without limits."""
    g = rng("motions beside others")
    robot = lw.load(dressed(every_joint_urdf(), g))
    model, scene = robot.collision(overhang=0.1), scene_around(g, 2)
    q0, q1 = configurations(robot, g, 60), configurations(robot, g, 60)
    sliding = [*range(*robot.mechanism.q_slice(robot.mechanism.joint("free")).indices(99))][:3]
    q1[::3, sliding] *= 40.0
    together = model.motion_collides(q0, q1, scene)
    alone = [model.motion_collides(a, b, scene) for a, b in zip(q0, q1, strict=True)]
    assert [float(each.t) for each in alone] == together.t.tolist()
    assert [each.names for each in alone] == together.names


@pytest.mark.parametrize("turns", [1, 1e3, 1e9, 1e18])
def test_rows_beyond_all_limits(arm: Any, cluttered: Any, turns: float) -> None:
    model, q = arm.collision(overhang=0.1), configurations(arm, rng("far turns"), 40)
    q[::2] += 2 * np.pi * turns
    agree(model, q, cluttered)


@pytest.mark.parametrize("length", [1e-300, 1e-30, 1e-10, 0.5, 900.0, 1e7, 1e200, 1.7e308])
def test_quaternions_of_any_length(length: float) -> None:
    text = '<robot name="one"><link name="a"><collision><geometry><box size="0.1 0.2 0.3"/>'
    robot = lw.load(text + "</geometry></collision></link></robot>", base="floating")
    model, scene, g = robot.collision(overhang=0.1), lw.Scene(), rng("lengths")
    scene.add_box("box", (0.5, 0.5, 0.5))
    q = configurations(robot, g, 50)
    q[:, :3] *= 0.15
    hit = agree(model, q, scene)
    assert hit.any() and not hit.all()
    beside = q.copy()
    beside[::2, 3:] *= length  # what is long says nothing of what is beside it
    np.testing.assert_array_equal(agree(model, beside, scene), hit)
    q[:, 3:] *= length
    np.testing.assert_array_equal(agree(model, q, scene), hit)
    q[7, 3:] = 0
    for ask in (model.collides, model.clearance):
        with pytest.raises(InputError, match=r"q\[7\]: joint .* quaternion of length zero"):
            ask(q, scene)


@pytest.mark.parametrize("far", [50.0, 1e6, 1e12])
def test_bases_far_away(far: float) -> None:
    g = rng(f"far away {far}")
    robot = lw.load(dressed(random_tree(g, 3, ("revolute",), mimic=0.0), g), base="floating")
    model, q = robot.collision(overhang=0.1), configurations(robot, g, 24)
    q[::3, :3] += far
    scene = lw.Scene()
    scene.add_box("there", (0.5, 0.5, 0.5), (far, far, far))
    scene.add_box("here", (0.5, 0.5, 0.5))
    hit = agree(model, q, scene)
    assert hit.any()


def test_what_is_not_finite_is_named(arm: Any) -> None:
    model = arm.collision(overhang=0.1)
    for bad in (np.nan, np.inf):
        q = configurations(arm, rng("not finite"), 40)
        q[33, 2] = bad
        named = re.escape(f"q[33]: joint '{arm.joint_names[2]}'")
        for ask in (model.collides, model.clearance, model.distances):
            with pytest.raises(InputError, match=named):
                ask(q)
    with pytest.raises(InputError, match=f"q: joint '{arm.joint_names[2]}'"):
        model.collides(q[33])


def test_robots_without_shapes() -> None:
    g = rng("no shapes")
    with pytest.raises(UnsupportedFeatureError, match="no shapes"):
        lw.load(random_tree(g, 3)).collision()
    text = dressed(random_tree(g, 3, ("revolute",)), g)
    seen = lw.load(text.replace("collision>", "visual>"))
    assert any("visual" in note for note in seen.collision(overhang=0.1).parts.notes)
    with pytest.raises(UnsupportedFeatureError, match="no collision shapes"):
        seen.collision(shapes="collision")
    q = configurations(seen, g, 30)
    np.testing.assert_array_equal(
        seen.collision(overhang=0.1).collides(q),
        lw.load(text).collision(overhang=0.1).collides(q),
    )


def test_robots_without_joints() -> None:
    """What cannot move is not looked at, however many configurations of no numbers are asked."""
    solid = "<collision><geometry><box size='1 1 1'/></geometry></collision>"
    robot = lw.load(f"<robot name='rock'><link name='rock'>{solid}</link></robot>")
    model, scene = robot.collision(), lw.Scene()
    scene.add_box("box", (1.0, 1.0, 1.0), (0.5, 0.0, 0.0))
    for shape in ((0,), (3, 0), (2, 3, 0)):
        q = np.zeros(shape)
        assert model.collides(q, scene).shape == shape[:-1]
        assert not model.collides(q, scene).any()
        assert np.isinf(model.clearance(q, scene).distance).all()
        assert model.distances(q, scene).distance.shape[:-1] == shape[:-1]
        assert not model.motion_collides(q, q, scene).touches.any()


def test_no_pairs_and_nothing_around() -> None:
    text = '<robot name="one"><link name="a"><collision><geometry><sphere radius="1"/></geometry>'
    robot = lw.load(text + "</collision></link></robot>", base="floating")
    model, q = robot.collision(overhang=0.1), robot.neutral()
    assert not model.collides(q) and not model.collides(q, lw.Scene())
    clear = model.clearance(q)
    assert clear.distance == np.inf and clear.names is None
    assert model.distances(q).distance.shape == (0,)
    assert model.nearest(q, 2).bodies.tolist() == [[-1, -1]] * 2
    assert not model.motion_collides(q, q)


def test_a_missing_mesh_names_link_and_file(tmp_path: Any) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(
        '<robot name="r"><link name="palm"><collision><geometry><mesh filename="gone.stl"/>'
        "</geometry></collision></link></robot>"
    )
    with pytest.raises(InputError, match=r"palm.*gone\.stl"):
        lw.load(path).collision()


MJCF = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 0.1"/>
  <body name="trunk" pos="0 0 1"><freejoint/><geom type="capsule" size="0.1 0.2"/>
    <body name="arm" pos="0.3 0 0"><joint name="j" axis="0 1 0"/>
      <geom type="ellipsoid" size="0.2 0.1 0.05"/>
      <body name="tip" pos="0.3 0 0"><joint name="k" axis="0 1 0"/><geom size="0.05"/></body>
    </body></body>
</worldbody></mujoco>"""


def test_mjcf_with_a_floor() -> None:
    g, robot = rng("mjcf"), lw.load(MJCF)
    model = robot.collision(overhang=0.1)
    q = configurations(robot, g, 60)
    q[:, :2], q[:, 2] = 3 * q[:, :2], np.linspace(-0.5, 2, 60)
    hit = agree(model, q)
    assert hit.any() and not hit.all(), hit


def test_scenes_change_without_a_word(arm: Any) -> None:
    """Objects that move, go or come back give new answers, and a colour none."""
    model, q = arm.collision(overhang=0.1), arm.neutral()
    at = arm.fk(q)[:3, 3]
    scene, other = lw.Scene(), lw.Scene()
    free = model.with_pairs(ignore=[(p.link_a, p.link_b) for p in model.pairs])
    assert not free.collides(q, scene)
    scene.add_box("box", (0.3, 0.3, 0.3), at)
    assert agree(free, q, scene) and not free.collides(q, other)
    scene.move("box", at + 9)
    assert not agree(free, q, scene)
    scene.move("box", at)
    scene.recolor("box", (1, 0, 0, 1))
    assert agree(free, q, scene)
    for link in model.links:
        scene.allow("box", link)
    assert not free.collides(q, scene) and free.clearance(q, scene).distance == np.inf
    for link in model.links:
        scene.forbid("box", link)
    assert agree(free, q, scene)
    scene.remove("box")
    assert not free.collides(q, scene)
    scene.add_half_space("all", lw.pose(xyz=(0, 0, at[2] + 9)))
    assert agree(free, q, scene) and not free.collides(q, other)
    with pytest.raises(UnknownNameError):
        scene.allow("box", "x")


def test_clouds_as_tiny_balls(arm: Any) -> None:
    g, model = rng("clouds"), arm.collision(overhang=0.1)
    points = g.normal(size=(40, 3))
    cloud, balls = lw.Scene(), lw.Scene()
    T = lw.pose(xyz=(0.1, 0.2, 0.3), rpy=(1, 2, 3))
    cloud.add_points("cloud", points, T, radius=0.02)
    for k, p in enumerate(points @ T[:3, :3].T + T[:3, 3]):
        balls.add_sphere(f"ball {k}", 0.02, p)
    q = configurations(arm, g, 200)
    hit = model.collides(q, cloud)
    np.testing.assert_array_equal(hit, model.clearance(q, balls).distance <= 0)
    alone = model.collides(q)
    assert (hit & ~alone).any() and not hit.all()
    cloud.move("cloud", (99, 0, 0))
    np.testing.assert_array_equal(model.collides(q, cloud), alone)


def clouds_around(g: np.random.Generator, *counts: int) -> tuple[Any, Any]:
    """A scene with clouds and a box, and one that has a ball for each point."""
    clouds, balls = lw.Scene(), lw.Scene()
    for each in (clouds, balls):
        each.add_box("box", (0.2, 0.3, 0.1), (0.5, 0.1, 0.4))
    for c, n in enumerate(counts):
        points, radius = g.normal(size=(n, 3)), (0.02, 0.0, 0.05)[c % 3]
        T = lw.pose(xyz=g.normal(size=3) / 3, rpy=g.uniform(-3, 3, 3))
        clouds.add_points(f"cloud {c}", points, T, radius=radius)
        for k, p in enumerate(points @ T[:3, :3].T + T[:3, 3]):
            balls.add_sphere(f"{c}.{k}", radius or 1e-12, p)
    return clouds, balls


def test_distances_to_clouds_are_the_least_of_all_points(arm: Any) -> None:
    """Clouds of one, of few and of many points, in overlap too, against balls one by one."""
    g, model = rng("distances to clouds"), arm.collision(overhang=0.1)
    q = configurations(arm, g, 60)
    clouds, balls = clouds_around(g, 1, 30, 300)
    agree(model, q, clouds)
    found, every = model.distances(q, clouds), model.distances(q, balls)
    whose = [(a, b if b in model.links or b == "box" else f"cloud {b[0]}") for a, b in every.pairs]
    least = {pair: np.full(len(q), np.inf) for pair in found.pairs}
    for pair, distance in zip(whose, every.distance.T, strict=True):
        np.minimum(least[pair], distance, out=least[pair])
    expected = np.stack([least[pair] for pair in found.pairs], axis=1)
    np.testing.assert_allclose(found.distance, expected, atol=1e-9)
    assert 0.01 < (expected < 0).mean() < 0.5
    apart = np.einsum("...k,...k", found.points[..., 1, :] - found.points[..., 0, :], found.normal)
    np.testing.assert_allclose(apart, found.distance, atol=1e-6)
    near, least_ = model.nearest(q, 4, clouds), np.sort(expected, axis=1)
    np.testing.assert_allclose(near.distance[:, 0], least_[:, 0], atol=1e-9)
    assert {"cloud 2"} <= {near.names[k] for k in near.bodies[:, :, 1].ravel()}
    within = model.distances(q, clouds, within=0.1)
    close = expected <= 0.1
    np.testing.assert_allclose(within.distance[close], expected[close], atol=1e-9)
    assert (within.distance[~close] == np.inf).all()
    clouds.allow("cloud 2", *model.links)
    assert not any("cloud 2" in pair for pair in model.distances(q[0], clouds).pairs)
    agree(model, q, clouds)


def test_motions_past_clouds_are_those_past_balls(arm: Any) -> None:
    """Without gaps: dense samples are free before t, and what touches does so at t."""
    g, model = rng("motions past clouds"), arm.collision(overhang=0.1)
    clouds, balls = clouds_around(g, 1, 30, 300)
    clouds.allow("cloud 2", model.links[-1])
    for k in range(300):
        balls.allow(f"2.{k}", model.links[-1])
    q0 = configurations(arm, g, 800)
    q0 = q0[~model.collides(q0, clouds)][:150]
    q1 = q0 + g.normal(size=q0.shape) * 0.4
    found, every = model.motion_collides(q0, q1, clouds), model.motion_collides(q0, q1, balls)
    np.testing.assert_array_equal(found.touches, every.touches)
    hit = found.touches
    assert 0.1 < hit.mean() < 0.9 and len(q0) > 100
    at = q0 + found.t[:, None] * (q1 - q0)
    assert (0 <= model.clearance(at[hit], clouds).distance).all()
    assert (model.clearance(at[hit], clouds).distance <= 1e-5 + 1e-12).all()
    assert any("cloud" in pair[1] for pair in found.names if pair is not None)
    t = np.linspace(0, 1, 201)
    rows = q0[:, None] + t[:, None] * (q1 - q0)[:, None]
    touching = model.collides(rows, clouds)
    assert not touching[t[None] < found.t[:, None]].any()
    assert not touching[~hit].any()


@pytest.mark.slow
def test_ten_thousand_motions_jump_no_sheet_of_points(arm: Any) -> None:
    """Sheets of points of 0.2 mm, as close together as a hair is wide to a link's pieces."""
    g, model = rng("sheets of points"), arm.collision(overhang=0.1)
    scene = lw.Scene()
    across = np.arange(-0.15, 0.15, 0.004)
    sheet = np.stack(np.meshgrid(across, across, [0.0]), axis=-1).reshape(-1, 3)
    for k in range(4):
        T = lw.pose(xyz=g.normal(size=3) * 0.4, rpy=g.uniform(-3, 3, 3))
        scene.add_points(f"sheet {k}", sheet, T, radius=1e-4)
    q0 = configurations(arm, g, 30_000)
    q0 = q0[~model.collides(q0, scene)][:10_000]
    q1 = q0 + g.normal(size=q0.shape) * 0.3
    found = model.motion_collides(q0, q1, scene)
    t = np.linspace(0, 1, 100)
    rows = q0[:, None] + t[:, None] * (q1 - q0)[:, None]
    touching = model.collides(rows, scene)
    assert not touching[t[None] < found.t[:, None]].any()
    seen = touching[:, ::25].any(axis=1) & ~model.collides(q1)  # by five samples of a motion
    assert (found.touches & ~seen).mean() > 0.02, "no sheet is thin enough to be jumped"
    at = q0 + found.t[:, None] * (q1 - q0)
    left = model.clearance(at[found.touches], scene).distance
    assert (left >= 0).all() and (left <= 1e-5 + 1e-12).all()


def test_gradients_of_distances_to_clouds_are_differences(arm: Any) -> None:
    g, model, h = rng("gradients of clouds"), arm.collision(overhang=0.1), 1e-6
    q = configurations(arm, g, 30)
    clouds, _ = clouds_around(g, 200, 20)
    exact = model.distances(q, clouds, gradients=True)
    near = model.nearest(q, 1, clouds)
    of_near = [exact.pairs.index((near.names[a], near.names[b])) for a, b in near.bodies[:, 0]]
    np.testing.assert_allclose(
        near.gradient[:, 0], exact.gradient[np.arange(30), of_near], atol=1e-9
    )
    agreed = []
    for k, way in enumerate(h * np.eye(arm.n_v)):
        up, down = (model.distances(q + s * way, clouds).distance for s in (1, -1))
        ahead, behind = (up - exact.distance) / h, (exact.distance - down) / h
        smooth = np.abs(ahead - behind) < 1e-3  # no other point becomes the nearest
        agreed.append(smooth.mean())
        slopes = exact.gradient[..., k][smooth]
        np.testing.assert_allclose(slopes, ((ahead + behind) / 2)[smooth], atol=2e-4)
    assert np.mean(agreed) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 8, 9, 65, 4000])
def test_distances_to_clouds_of_any_size(arm: Any, n: int) -> None:
    """Clouds whose tree has every number of levels, with points that stand in one place."""
    g, model = rng(f"clouds of {n}"), arm.collision(overhang=0.1)
    q = configurations(arm, g, 20)
    points = np.repeat(g.normal(size=(-(-n // 2), 3)), 2, axis=0)[:n]
    cloud, balls = lw.Scene(), lw.Scene()
    cloud.add_points("cloud", points, radius=0.01)
    for k, p in enumerate(points[::2]):
        balls.add_sphere(f"{k}", 0.01, p)
    found = model.clearance(q, cloud).distance
    np.testing.assert_allclose(found, model.clearance(q, balls).distance, atol=1e-9)


def test_boxes_that_float32_cannot_hold(arm: Any) -> None:
    """Sizes and places up to 1e300 are decided as others are."""
    model, q = arm.collision(overhang=0.1), configurations(arm, rng("vast"), 20)
    alone = agree(model, q)
    for size in (1e6, 1e20, 1e38, 1e120):
        scene = lw.Scene()
        scene.add_box("far", (1, 1, 1), (9 * size, 0, 0))
        scene.add_sphere("far ball", 1, (0, 9 * size, 0))
        scene.add_cylinder("far roller", size, size, (0, 0, 9 * size))
        np.testing.assert_array_equal(agree(model, q, scene), alone)
        scene.add_box("all", (size, size, size))
        assert agree(model, q, scene).all()


def test_meshes_that_are_too_large_for_hulls(arm: Any) -> None:
    """They hold what is in them as far as can be reckoned, and are refused beyond."""
    model, q = arm.collision(overhang=0.1), configurations(arm, rng("vast meshes"), 5)
    corners, faces = np.array(list(np.ndindex(2, 2, 2))) - 0.5, list(combinations(range(8), 3))
    for size in (1e20, 1e69):
        scene = lw.Scene()
        scene.add_mesh("all", (size * corners, faces))
        assert agree(model, q, scene).all()
    scene.remove("all")
    scene.add_mesh("all", (1e80 * corners, faces))
    with pytest.raises(InputError, match=r"5e\+79 m away, and at most 1e\+70 m"):
        model.collides(q, scene)


def test_large_boxes_and_small_balls() -> None:
    """Rounding that is larger than a ball makes it no hit."""
    text = (
        '<robot name="one"><link name="a"><collision><geometry><sphere radius="0.002"/></geometry>'
    )
    robot = lw.load(text + "</collision></link></robot>", base="floating")
    model, q = robot.collision(overhang=0.1), np.tile(robot.neutral(), (64, 1))
    q[:, 2] = 0.002 + np.linspace(-0.02, 0.02, 64)
    for size in (1.0, 1e3, 1e5):
        scene = lw.Scene()
        scene.add_box("floor", (size, size, size), (0, 0, -size / 2))
        np.testing.assert_array_equal(agree(model, q, scene), q[:, 2] < 0.002)


def test_held_objects(arm: Any) -> None:
    g, model = rng("held"), arm.collision(overhang=0.1)
    q = configurations(arm, g, 60)
    frame = arm.frame_names[-1]
    scene = lw.Scene()
    scene.add_sphere("thing", 0.3)
    held = model.with_attached("thing", scene.get("thing"), frame, (0, 0, 0.4))
    assert "thing" in held.links and "thing" not in model.links
    hit = agree(held, q)
    assert (hit >= model.collides(q)).all() and hit.sum() > model.collides(q).sum()
    at = (arm.fk_all(q[:1])[0][arm.frame_names.index(frame)] @ [0, 0, 0.4, 1])[:3]
    around = lw.Scene()
    around.add_sphere("near", 0.01, at)
    assert held.collides(q[0], around)
    back = held.without_attached("thing")
    np.testing.assert_array_equal(back.collides(q), model.collides(q))
    with pytest.raises(UnknownNameError):
        back.without_attached("thing")


def test_pairs_that_are_asked_for(arm: Any) -> None:
    model, q = arm.collision(overhang=0.1), configurations(arm, rng("asked"), 60)
    a, b = model.links[0], model.links[-1]
    none = model.with_pairs(ignore=[(p.link_a, p.link_b) for p in model.pairs])
    assert not none.collides(q).any()
    one = none.with_pairs(check=[(a, b)])
    assert one.distances(q).pairs == ((a, b),)
    agree(one, q)
    with pytest.raises(UnknownNameError):
        model.with_pairs(check=[(a, "nobody")])


def test_pairs_of_an_srdf(tmp_path: Any) -> None:
    path, rules = tmp_path / "r.urdf", tmp_path / "r.srdf"
    path.write_text(arm_urdf())
    robot = lw.load(path)
    plain = robot.collision(overhang=0.1, srdf=None)
    pair = next(p for p in plain.pairs if p.checked)
    rules.write_text(
        f'<robot name="random"><disable_collisions link1="{pair.link_a}" link2="{pair.link_b}" '
        'reason="Never"/></robot>'
    )
    for model in (robot.collision(overhang=0.1, srdf=rules), lw.load(path).collision(overhang=0.1)):
        found = {frozenset((p.link_a, p.link_b)): p.checked for p in model.pairs}
        assert not found[frozenset((pair.link_a, pair.link_b))]
    assert isinstance(robot.collision(overhang=0.1, srdf=rules).pairs.srdf, Srdf)
    text = rules.read_text()
    for given in (text, text.encode(), srdf.read(text), str(rules)):
        model = robot.collision(overhang=0.1, srdf=given)
        assert model.pairs.reason(pair.link_a, pair.link_b) == "SRDF: Never"
        assert robot.collision(overhang=0.1, srdf=given) is model
    rules.write_text(text.replace("Never", "User"))  # a file that is written anew is read anew
    model = robot.collision(overhang=0.1, srdf=rules)
    assert model.pairs.reason(pair.link_a, pair.link_b) == "SRDF: User"
    with pytest.raises(InputError, match="srdf is a file, XML text, an Srdf"):
        robot.collision(srdf=7)


def test_tables_of_other_models_are_refused(arm: Any) -> None:
    model = arm.collision(overhang=0.1)
    held = model.with_attached("ball", lw.Scene().add_sphere("ball", 0.1), arm.frame_names[-1])
    for other in (lw.load("panda").collision().pairs, held.pairs, 3):
        with pytest.raises(InputError, match="a table of this model's links"):
            model.with_pairs(other)
    assert model.with_pairs(model.pairs).pairs == model.pairs


def test_a_way_to_decompose_that_is_none(arm: Any) -> None:
    """It is refused by robots without meshes, too."""
    with pytest.raises(InputError, match="decompose is one of 'components', 'coacd', 'hull', not"):
        arm.collision(decompose="none")


def test_pairs_of_an_srdf_that_is_a_xacro_file(tmp_path: Any) -> None:
    pytest.importorskip("xacro", reason="xacro (pip install xacro) is not installed")
    path, rules = tmp_path / "r.urdf", tmp_path / "r.srdf.xacro"
    path.write_text(arm_urdf())
    robot = lw.load(path)
    a, b = (robot.collision(overhang=0.1).links[k] for k in (0, -1))
    (tmp_path / "apart.xacro").write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="apart" params="a b">'
        '<disable_collisions link1="${a}" link2="${b}" reason="Never"/></xacro:macro></robot>'
    )
    rules.write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="random"><xacro:arg name="of" '
        f'default="{b}"/><xacro:include filename="apart.xacro"/>\n'
        f'<xacro:apart a="{a}" b="$(arg of)"/>\n</robot>'
    )
    for model in (robot.collision(overhang=0.1, srdf=rules), lw.load(path).collision(overhang=0.1)):
        assert model.pairs.reason(a, b) == "SRDF: Never"
    model.pairs.to_srdf(tmp_path / "plain.srdf")
    assert "xacro:macro" not in (tmp_path / "plain.srdf").read_text()
    with pytest.raises(InputError, match="is a xacro file, a program"):
        model.pairs.to_srdf(rules)
    rules.write_text(rules.read_text().replace("<xacro:apart", "<disable_collisions/><xacro:apart"))
    with pytest.raises(DescriptionError, match=r"r\.srdf\.xacro:2.*'link1' is missing"):
        lw.load(path).collision(srdf=rules)


def test_pairs_are_left_out_down_to_a_margin() -> None:
    """A pair that never comes within 20 mm is checked where more is asked for."""
    text = """<robot name="two"><link name="base">{ball}</link><link name="arm"/><link name="hand">
    {ball}</link><link name="far">{ball}</link>
    <joint name="a" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <origin xyz="0 0 0.1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
    <joint name="b" type="revolute"><parent link="arm"/><child link="hand"/><axis xyz="0 0 1"/>
    <origin xyz="0 0 0.13"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
    <joint name="c" type="revolute"><parent link="hand"/><child link="far"/><axis xyz="0 0 1"/>
    <origin xyz="0 0 0.3"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    robot = lw.load(text.format(ball=ball))
    usual, wide, wider = (robot.collision(margin=m) for m in (0.02, 0.05, 0.4))
    assert (usual.margin, wide.margin) == (0.02, 0.05)
    names = ("base", "hand")  # 30 mm apart, whatever joints do; base and far 330 mm
    assert usual.pairs.reason(*names) == "cannot touch (proven)"
    assert wide.pairs.reason(*names) == "come as near as 30 mm"
    assert wide.pairs.reason("base", "far").startswith("never touch (no nearer than 330 mm")
    assert {p.reason for p in wider.pairs.checked} > {wide.pairs.reason(*names)}
    q = robot.neutral()
    assert usual.clearance(q).names is None
    assert wide.clearance(q).distance == pytest.approx(0.03)
    assert robot.collision() is usual and robot.collision(margin=0.05) is wide
    held = wide.with_attached("thing", lw.Scene().add_sphere("thing", 0.01), "far")
    assert held.margin == held.without_attached("thing").margin == 0.05
    for wrong in (-1.0, np.nan, "much"):
        with pytest.raises(InputError, match="margin"):
            robot.collision(margin=wrong)


def test_motions(arm: Any, cluttered: Any) -> None:
    """Whole motions, and configurations on them, tell the same up to the tolerance."""
    g, model = rng("motions"), arm.collision(overhang=0.1)
    q = configurations(arm, g, 400)
    q = q[~model.collides(q, cluttered)][:60]
    q0, q1 = q[::2][:20], q[1::2][:20]
    q1 = q0 + 0.3 * (q1 - q0)
    whole = model.motion_collides(q0, q1, cluttered)
    t = np.linspace(0, 1, 400)
    way = q0[:, None] + t[:, None] * (q1 - q0)[:, None]
    least = model.clearance(way, cluttered).distance.min(axis=1)
    assert (whole.touches | (least > 0)).all()  # free is free everywhere
    assert (~whole.touches | (least < 1e-3)).all()
    assert whole.touches.any() and not whole.touches.all()
    sampled = model.motion_collides(q0, q1, cluttered, resolution=0.01)
    assert (whole.touches | ~sampled.touches).all()
    both = whole.touches & sampled.touches
    assert (sampled.t[both] >= whole.t[both] - 0.02).all()
    for k in np.flatnonzero(whole.touches):
        assert whole.names[k] is not None
        stop = q0[k] + whole.t[k] * (q1[k] - q0[k])
        assert 0 <= model.clearance(stop, cluttered).distance <= 2e-5
    single = model.motion_collides(q0[0], q1[0], cluttered)
    assert bool(single) == whole.touches[0] and single.t == whole.t[0]


def test_motions_that_are_asked_for_wrongly(arm: Any) -> None:
    model, q = arm.collision(overhang=0.1), configurations(arm, rng("asked wrongly"), 6)
    with pytest.raises(ShapeError, match=r"do not go together: q0 \(2, .*q1 \(3, "):
        model.motion_collides(q[:2], q[3:])
    with pytest.raises(InputError, match=r"truth of 6 motions is not one: .*touches.any"):
        bool(model.motion_collides(q, q))
    with pytest.raises(InputError, match="configurations of one motion, and at most 10,000,000"):
        model.motion_collides(q[0], q[1], resolution=1e-12)
    # more configurations than are held at once, and each motion by itself
    fine = float(np.abs(q[::-1] - q).max(axis=1).sum()) / 1.5e6
    whole = model.motion_collides(q, q[::-1], resolution=fine)
    parts = [model.motion_collides(a, b, resolution=fine) for a, b in zip(q, q[::-1], strict=True)]
    np.testing.assert_array_equal([part.t for part in parts], whole.t)
    assert [part.names for part in parts] == whole.names and whole.touches.any()
    none = model.motion_collides(q[:0], q[:0], resolution=0.05)
    assert none.touches.shape == none.t.shape == (0,) and none.names == []


def test_numbers_of_threads(arm: Any) -> None:
    model, q = arm.collision(overhang=0.1), configurations(arm, rng("threads"), 3)
    for wrong in (0, "all", 1.5):
        for ask in (model.collides, model.clearance, model.distances):
            for asked in (q, q[0]):
                with pytest.raises(InputError, match="threads must be a whole number"):
                    ask(asked, threads=wrong)


def test_distances_within_what_is_no_length(arm: Any) -> None:
    model, q = arm.collision(overhang=0.1), configurations(arm, rng("within"), 2)
    for wrong in ("far", float("nan"), [0.1, 0.2]):
        for ask in (model.distances, lambda q, within: model.nearest(q, 1, within=within)):
            with pytest.raises(InputError, match="within must be a finite number"):
                ask(q, within=wrong)


def test_pairs_of_closed_mechanisms() -> None:
    """They are derived from configurations in which the loops are closed, adjacent over loops."""
    robot = lw.load("five_bar")
    model = robot.collision(overhang=0.1)
    assert any("random states" in note for note in model.pairs.notes), model.pairs.notes
    assert all(pair.reason or pair.checked for pair in model.pairs)
    q = robot.assemble().q
    assert not agree(model, q)


SECOND = """
import sys, time
import numpy as np
import linkwork as lw
robot = lw.load(sys.argv[1])
began = time.process_time()
model = robot.collision(overhang=0.1)
hit = model.collides(np.load(sys.argv[2]))
print(time.process_time() - began)
np.save(sys.argv[3], hit)
"""


def test_a_second_process_takes_what_the_first_has_made(tmp_path: Any) -> None:
    """From the cache, pieces, balls, pairs and code take a third of a second of a core."""
    path, q_file, out = (str(tmp_path / name) for name in ("r.urdf", "q.npy", "hit.npy"))
    Path(path).write_text(arm_urdf())
    robot = lw.load(path)
    q = configurations(robot, rng("second process"), 300)
    np.save(q_file, q)
    hit = robot.collision(overhang=0.1).collides(q)
    took = []
    for _ in range(2):
        told = subprocess.run(
            [sys.executable, "-c", SECOND, path, q_file, out],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        np.testing.assert_array_equal(np.load(out), hit)
        took.append(float(told))
    print(f"took {took} s")
    assert min(took) < 1.0, took


@pytest.mark.slow
def test_very_many_objects(arm: Any) -> None:
    g, model, scene = rng("very many"), arm.collision(overhang=0.1), lw.Scene()
    for k in range(100_000):
        scene.add_sphere(f"{k}", 0.002, g.normal(size=3))
    q = configurations(arm, g, 40)
    hit = model.collides(q, scene)
    np.testing.assert_array_equal(hit, model.clearance(q, scene).distance <= 0)
    scene.move("5", (50, 0, 0))
    model.collides(q, scene)


@pytest.mark.slow
def test_one_configuration_after_the_other(arm: Any) -> None:
    """What native code says of one configuration is what a batch says, whatever is edited."""
    g, model = rng("one by one"), arm.collision(overhang=0.1)
    q = configurations(arm, g, 40)
    scenes = [None, *(scene_around(g, 4, at=arm.fk(q[k])[:3, 3]) for k in range(10))]
    for scene in scenes:  # more than are remembered
        expected = model.collides(q, scene)
        assert [bool(model.collides(row, scene)) for row in q] == expected.tolist()
    scene = scenes[-1]
    for _ in range(6):
        scene.move(scene.names[0], g.normal(size=3))
        assert [bool(model.collides(row, scene)) for row in q] == model.collides(q, scene).tolist()
    last = q[-1]
    found = [
        model.collides(last, scene),
        model.collides(last, scene=scene),
        model.collides(list(last), scene),
        model.collides(last[None], scene)[0],
        model.collides(last, scene, threads=2),
        model.collides(last[::-1].copy()[::-1], scene),
    ]
    assert len({bool(x) for x in found}) == 1 and all(isinstance(x, np.bool_) for x in found)
    last[2] = np.nan
    for _ in range(2):
        with pytest.raises(InputError, match="not finite"):
            model.collides(last, scene)
    with pytest.raises(ShapeError):
        model.collides(last[1:], scene)
    with pytest.raises(TypeError):
        model.collides(last, scene, 3)


def test_one_configuration_with_a_quaternion() -> None:
    g, robot = rng("one with a quaternion"), lw.load(MJCF)
    model, q = robot.collision(overhang=0.1), configurations(robot, g, 30)
    q[:, :2], q[:, 2] = 0.2 * q[:, :2], np.linspace(0.2, 0.9, 30)
    q[::3, 3:7] *= 7.0
    q[1::3, 3:7] *= 1e-8
    expected = model.collides(q)
    for _ in range(2):
        assert [bool(model.collides(row)) for row in q] == expected.tolist()
    q[0, 3:7] = 0.0
    with pytest.raises(InputError, match="length zero"):
        model.collides(q[0])
