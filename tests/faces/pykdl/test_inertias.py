"""A body is compared with the point masses that it is made of."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import ShapeError
from linkwork.faces.pykdl import (
    Frame,
    RigidBodyInertia,
    Rotation,
    RotationalInertia,
    Twist,
    Vector,
    Wrench,
)
from seeds import rng

POINTS = rng("points").normal(size=(6, 3))
MASSES = rng("masses").uniform(1, 2, 6)
F = Frame(Rotation.RPY(0.1, 0.2, 0.3), Vector(1, 2, 3))


def moments(points: np.ndarray) -> np.ndarray:
    """About the origin."""
    return sum(
        m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(MASSES, points, strict=True)
    )


def body(points: np.ndarray) -> RigidBodyInertia:
    """Of the point masses, about the origin."""
    centre = MASSES @ points / MASSES.sum()
    I = moments(points - centre)  # noqa: E741 -- its name everywhere
    about_centre = RotationalInertia(*np.diag(I), I[0, 1], I[0, 2], I[1, 2])
    return RigidBodyInertia(MASSES.sum(), Vector(*centre), about_centre)


def near(a: object, b: object) -> bool:
    return bool(np.allclose(a, b, rtol=0, atol=1e-12))  # pyright: ignore


@pytest.mark.row("S3-108")
def test_rotational_inertia():
    one = RotationalInertia(1, 2, 3, 0.1, 0.2, 0.3)
    assert one.ToArray().tolist() == [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 3]]
    assert [one[k] for k in range(9)] == [1, 0.1, 0.2, 0.1, 2, 0.3, 0.2, 0.3, 3]
    assert near(list(one * Vector(1, 2, 3)), one.ToArray() @ [1, 2, 3])
    assert near((one + one).ToArray(), (2 * one).ToArray())
    assert RotationalInertia(Izz=2)[8] == 2.0
    assert RotationalInertia.Zero() == RotationalInertia()
    assert RotationalInertia.FromArray(one.ToArray()) == one
    one[1] = 7
    assert one[1] == 7.0
    one.Zero()
    assert one == RotationalInertia()
    for code in ("one * 3", "one + 3", "'a' * one", "one[9.0]", "RotationalInertia('a')"):
        with pytest.raises(TypeError):
            eval(code, {**globals(), "one": one})
    with pytest.raises(IndexError):
        one[9]
    with pytest.raises(ShapeError):
        RotationalInertia.FromArray(np.eye(4))


@pytest.mark.row("S3-109")
def test_parts_of_a_body():
    made = body(POINTS)
    assert made.getMass() == pytest.approx(MASSES.sum())
    assert near(list(made.getCOG()), MASSES @ POINTS / MASSES.sum())
    assert near(made.getRotationalInertia().ToArray(), moments(POINTS))
    none = RigidBodyInertia()
    assert none.getMass() == 0.0
    assert none.getCOG() == Vector()
    assert RigidBodyInertia.Zero() == none
    made.Zero()
    assert made == none


@pytest.mark.row("S3-109")
def test_about_another_point_and_in_another_frame():
    made, p = body(POINTS), np.array([0.3, -1, 2])
    assert near(made.RefPoint(Vector(*p)).ToArray(), body(POINTS - p).ToArray())
    turned = POINTS @ F.M.ToArray().T
    assert near((F.M * made).ToArray(), body(turned).ToArray())
    assert near((F * made).ToArray(), body(turned + list(F.p)).ToArray())
    assert near((made + made).ToArray(), (2 * made).ToArray())


@pytest.mark.row("S3-109")
def test_momentum_is_that_of_the_points():
    v, w = np.array([1, 2, 3.0]), np.array([-1, 0.5, 2])
    speeds = [v + np.cross(w, p) for p in POINTS]
    momentum = body(POINTS) * Twist(Vector(*v), Vector(*w))
    assert isinstance(momentum, Wrench)
    assert near(list(momentum.force), sum(m * s for m, s in zip(MASSES, speeds, strict=True)))
    angular = sum(m * np.cross(p, s) for m, p, s in zip(MASSES, POINTS, speeds, strict=True))
    assert near(list(momentum.torque), angular)


def test_other_types_are_refused():
    made = body(POINTS)
    for wrong in (
        lambda: made * 3, lambda: made + 3, lambda: "a" * made, lambda: made.RefPoint(3),
        lambda: RigidBodyInertia("a"), lambda: RigidBodyInertia(1, 2),
        lambda: RigidBodyInertia(1, Vector(), Vector()),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            wrong()


def test_batches():
    made = RigidBodyInertia.Stack([body(POINTS), body(POINTS + 1)])
    assert (F * made).At(1) == F * body(POINTS + 1)
    assert made.getCOG().At(0) == body(POINTS).getCOG()
