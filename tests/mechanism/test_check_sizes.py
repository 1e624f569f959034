"""Masses, centres and inertias against the size of the link: solids pass, wrong units do not."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import Finding
from linkwork.formats.urdf.records import (
    ZERO,
    Box,
    Capsule,
    Collision,
    Cylinder,
    Inertial,
    Link,
    Mesh,
    Robot,
    Shape,
    Sphere,
    Visual,
)
from linkwork.mechanism.check_sizes import check_sizes
from linkwork.mechanism.from_urdf import rotation_from_rpy
from seeds import rng

METALS = (500.0, 8000.0)  # kg/m³, from wood to steel


def link(shape: Shape, mass: float, com: object, inertia: object, **placed: object) -> Link:
    xyz, rpy = placed.get("xyz", ZERO), placed.get("rpy", ZERO)
    com_, rows = tuple(map(float, com)), tuple(tuple(map(float, row)) for row in inertia)
    return Link("a", Inertial(com_, ZERO, mass, rows), (Visual(None, xyz, rpy, shape),))


def found(*links: Link, meshes: dict[str, object] | None = None) -> list[Finding]:
    return list(check_sizes(Robot("r", links), meshes))


def codes(*links: Link) -> list[str]:
    return [problem.code for problem in found(*links)]


def solid(label: str) -> tuple[Shape, float, np.ndarray, np.ndarray, dict[str, object]]:
    """A random shape filled evenly: mass, centre and inertia by its formulas, placed anyhow."""
    random = rng(label)
    a, b, c = (float(x) for x in random.uniform(0.02, 1.0, 3))
    kind = int(random.integers(3))
    density = float(random.uniform(*METALS))
    if kind == 0:
        shape: Shape = Box((a, b, c))
        mass = density * a * b * c
        moments = mass / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    elif kind == 1:
        shape = Sphere(a)
        mass = density * 4 / 3 * np.pi * a**3
        moments = np.full(3, 0.4 * mass * a * a)
    else:
        shape = Cylinder(a, b)
        mass = density * np.pi * a * a * b
        side = mass * (3 * a * a + b * b) / 12
        moments = np.array([side, side, mass * a * a / 2])
    rpy = tuple(float(x) for x in random.uniform(-3, 3, 3))
    xyz = tuple(float(x) for x in random.uniform(-1, 1, 3))
    R = rotation_from_rpy(rpy)
    return shape, float(mass), np.array(xyz), R @ np.diag(moments) @ R.T, {"xyz": xyz, "rpy": rpy}


@pytest.mark.parametrize("seed", range(60))
def test_solids_pass_and_other_units_do_not(seed: int):
    shape, mass, com, inertia, placed = solid(f"sizes {seed}")
    assert codes(link(shape, mass, com, inertia, **placed)) == []
    assert codes(link(shape, mass, com, inertia * 1e6, **placed)) == ["large-inertia"]  # kg mm²
    assert codes(link(shape, mass, com, inertia * 1e-6, **placed)) == ["small-inertia"]
    assert codes(link(shape, mass * 1000, com, inertia * 1000, **placed)) == ["dense"]  # gram
    far = com * 1000 / np.linalg.norm(com)
    assert codes(link(shape, mass, far, inertia, **placed)) == ["com-outside"]
    place_holder = np.eye(3) * mass * 100
    assert codes(link(shape, mass, com, place_holder, **placed)) == ["large-inertia"]


@pytest.mark.parametrize("seed", range(20))
def test_points_within_a_box_always_pass(seed: int):
    random = rng(f"points {seed}")
    points = random.uniform(-0.5, 0.5, (int(random.integers(2, 9)), 3))
    masses = random.uniform(0.5, 2, len(points))
    total = masses.sum()
    com = masses @ points / total
    d = points - com
    inertia = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, d, strict=True))
    assert codes(link(Box((1.0, 1.0, 1.0)), float(total), com, inertia)) == []


def test_the_level_and_the_place():
    body = Link("a", Inertial(ZERO, ZERO, 1.0, ((9.0, 0, 0), (0, 9.0, 0), (0, 0, 9.0)), line=7))
    heavy = Link("a", body.inertial, (), (Collision(None, ZERO, ZERO, Sphere(0.1)),))
    (problem,) = found(heavy)
    assert (problem.level, problem.line, problem.element) == ("warning", 7, "inertial")
    assert problem.name == "a"


def test_links_whose_size_is_not_known_are_passed_over():
    I = np.eye(3) * 100  # noqa: E741 -- an inertia is called so
    ball = Visual(None, ZERO, ZERO, Sphere(0.1))
    unknown = Visual(None, ZERO, ZERO, Mesh("a.stl"))
    empty = Visual(None, ZERO, ZERO, None)
    full = link(Sphere(0.1), 1.0, ZERO, I)
    assert codes(full) == ["large-inertia"]
    for visuals in ((), (unknown,), (ball, unknown), (ball, empty)):
        assert codes(Link("a", full.inertial, visuals)) == []
    assert codes(Link("a", None, (ball,))) == []
    for mass in (0.0, -1.0):
        assert codes(link(Sphere(0.1), mass, ZERO, I)) == []


def test_meshes_count_with_their_scale_and_place():
    I = np.eye(3) * 0.1  # noqa: E741 -- an inertia is called so
    box = np.array([[0.0, 0, 0], [1, 1, 1]])
    for scale, expected in (((1.0,) * 3, []), ((0.01,) * 3, ["large-inertia"]), ((-1.0,) * 3, [])):
        body = link(Mesh("a.stl", scale), 1.0, (0.5 * scale[0],) * 3, I)
        assert [p.code for p in found(body, meshes={"a.stl": box})] == expected
    moved = link(Mesh("a.stl"), 1.0, (0.5, 0.5, 0.5), I, xyz=(9.0, 0.0, 0.0))
    assert [p.code for p in found(moved, meshes={"a.stl": box})] == ["com-outside"]


def test_each_kind_of_shape_has_its_size():
    # a point mass this far out along z, and the ring of inertia that only the longer shapes allow
    for shape, reach in (
        (Sphere(0.1), 0.1),
        (Cylinder(0.1, 2.0), 1.0),
        (Capsule(0.1, 2.0), 1.1),
        (Box((0.2, 0.2, 3.0)), 1.5),
    ):
        size = 2 * reach
        inside = link(shape, 1.0, (0, 0, 0.99 * reach), np.eye(3) * 0.02)
        assert codes(inside) == []
        outside = link(shape, 1.0, (0, 0, reach + 1.2 * np.hypot(size, 0.3)), np.eye(3) * 0.02)
        assert codes(outside) == ["com-outside"]


def test_shapes_are_turned_and_moved_before_they_are_compared():
    rod, small = Box((2.0, 0.02, 0.02)), np.eye(3) * 0.3
    turned = (0.0, 0.0, np.pi / 2)
    for rpy, along in ((ZERO, (3.5, 0, 0)), (turned, (0, 3.5, 0))):
        # twice the half length from a rod's end: outside across it, not along it
        across = (0, along[0], 0) if rpy == ZERO else (along[1], 0, 0)
        moved = tuple(0.5 * x for x in along)
        assert codes(link(rod, 1.0, (0, 0, 0), small, rpy=rpy)) == []
        assert codes(link(rod, 1.0, tuple(0.8 * x for x in along), small, rpy=rpy)) == []
        assert codes(link(rod, 1.0, tuple(0.8 * x for x in across), small, rpy=rpy)) == [
            "com-outside"
        ]
        assert codes(link(rod, 1.0, along, small, rpy=rpy, xyz=moved)) == []
    mesh = np.array([[0.0, -0.01, -0.01], [2.0, 0.01, 0.01]])  # from its origin on, along x
    body = link(Mesh("a.stl"), 1.0, (0, 3.9, 0), small, rpy=turned)
    assert found(body, meshes={"a.stl": mesh}) == []
    body = link(Mesh("a.stl"), 1.0, (0, -2.2, 0), small, rpy=turned)
    assert [p.code for p in found(body, meshes={"a.stl": mesh})] == ["com-outside"]


def test_a_capsule_is_longer_than_its_cylinder():
    for shape, expected in ((Capsule(1.0, 0.1), []), (Cylinder(1.0, 0.1), ["com-outside"])):
        assert codes(link(shape, 1.0, (0, 0, 3.3), np.eye(3))) == expected


def test_how_far_out_the_mass_may_lie():
    reach = np.sqrt(3) / 2  # of a cube of side 1
    for times, expected in ((2.9, []), (3.1, ["large-inertia"])):
        distance = times * reach
        inertia = 7.0 * distance**2 * np.eye(3) * 2 / 3  # half its trace is m d²
        assert codes(link(Box((1.0, 1.0, 1.0)), 7.0, ZERO, inertia)) == expected


def test_light_place_holders_and_sheets_pass():
    tiny = np.eye(3) * 1e-12
    assert codes(link(Box((0.001,) * 3), 0.005, ZERO, np.eye(3) * 1e-9)) == []
    assert codes(link(Box((1.0, 1.0, 1.0)), 0.005, ZERO, tiny)) == []
    sheet = np.diag([1.0, 1.0, 2.0]) / 12
    assert codes(link(Box((1.0, 1.0, 0.0)), 1.0, ZERO, sheet)) == []


def test_numbers_near_the_largest_raise_nothing():
    for mass in (5e-324, 1e308):
        for size in (1e-300, 1e100):
            found(link(Box((size,) * 3), mass, (1e100, 0, 0), np.eye(3) * 1e300))


@pytest.mark.filterwarnings("error")
def test_shapes_of_no_finite_size_are_passed_over():
    huge = link(Box((1.7e308, 1.0, 1.0)), 1.0, (0, 0, 0), np.eye(3), xyz=(1.7e308, 0.0, 0.0))
    assert found(huge) == []
