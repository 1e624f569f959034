"""Every spatial function gives the same numbers on every back end."""

from __future__ import annotations

import numpy as np
import pytest

from backends import BACKENDS, eps, run
from linkwork.ops.numpy import PLAIN
from linkwork.spatial import poses, rotations, se3, so3
from linkwork.spatial.poses import Pose
from seeds import random_rotation, rng

EPS = eps("numpy")
SCALAR = (rotations.__name__, so3.__name__)
"""Modules that are written in scalars, and so also for Python's floats."""

OTHERS = [b for b in BACKENDS if b != "numpy"]


def on_pose(function):
    """A function of a pose, as one of R and p."""
    return lambda o, R, p, *rest: function(o, Pose(R, p), *rest)


FUNCTIONS = {
    "rotation_x": (rotations.rotation_x, ["angle"]),
    "rotation_y": (rotations.rotation_y, ["angle"]),
    "rotation_z": (rotations.rotation_z, ["angle"]),
    "from_axis_angle": (rotations.from_axis_angle, ["axis", "angle"]),
    "from_rpy": (rotations.from_rpy, ["vector"]),
    "to_rpy": (rotations.to_rpy, ["R"]),
    "from_quaternion": (rotations.from_quaternion, ["quaternion"]),
    "to_quaternion": (rotations.to_quaternion, ["R"]),
    "multiply_quaternions": (rotations.multiply_quaternions, ["quaternion", "quaternion"]),
    "conjugate": (rotations.conjugate, ["quaternion"]),
    "skew": (rotations.skew, ["vector"]),
    "vee": (rotations.vee, ["R"]),
    "so3.exp": (so3.exp, ["vector"]),
    "so3.log": (so3.log, ["R"]),
    "so3.quaternion_exp": (so3.quaternion_exp, ["vector"]),
    "so3.quaternion_log": (so3.quaternion_log, ["unit"]),
    "so3.left_jacobian": (so3.left_jacobian, ["vector"]),
    "so3.left_jacobian_inverse": (so3.left_jacobian_inverse, ["vector"]),
    "so3.right_jacobian": (so3.right_jacobian, ["vector"]),
    "so3.right_jacobian_inverse": (so3.right_jacobian_inverse, ["vector"]),
    "identity": (poses.identity, []),
    "compose": (lambda o, R, p, Q, q: poses.compose(o, Pose(R, p), Pose(Q, q)), ["R", "p"] * 2),
    "inverse": (on_pose(poses.inverse), ["R", "p"]),
    "act": (on_pose(poses.act), ["R", "p", "vector"]),
    "to_matrix": (on_pose(poses.to_matrix), ["R", "p"]),
    "from_matrix": (poses.from_matrix, ["T"]),
    "se3.exp": (se3.exp, ["twist"]),
    "se3.log": (on_pose(se3.log), ["R", "p"]),
    "se3.left_jacobian": (se3.left_jacobian, ["twist"]),
    "se3.left_jacobian_inverse": (se3.left_jacobian_inverse, ["twist"]),
    "se3.right_jacobian": (se3.right_jacobian, ["twist"]),
    "se3.right_jacobian_inverse": (se3.right_jacobian_inverse, ["twist"]),
    "se3.adjoint": (on_pose(se3.adjoint), ["R", "p"]),
    "transform_twist": (on_pose(poses.transform_twist), ["R", "p", "twist"]),
    "transform_wrench": (on_pose(poses.transform_wrench), ["R", "p", "twist"]),
    "cross_motion": (poses.cross_motion, ["twist", "twist"]),
    "cross_force": (poses.cross_force, ["twist", "twist"]),
}


def draw(generator: np.random.Generator, kind: str, size: float) -> np.ndarray:
    """A random argument; angles and rotation vectors of about this size."""
    unit = lambda n: (x := generator.normal(size=n)) / np.linalg.norm(x)
    if kind == "R":
        return run("numpy", so3.exp, size * unit(3))
    if kind == "T":
        return np.block([[random_rotation(generator), generator.normal(size=(3, 1))], [0, 0, 0, 1]])
    if kind == "twist":
        return np.concatenate([generator.normal(size=3), size * unit(3)])
    sizes = {"axis": 3, "unit": 4, "quaternion": 4, "p": 3, "vector": 3}
    if kind == "angle":
        return np.array(size * generator.choice([-1, 1]))
    return unit(sizes[kind]) * (size if kind == "vector" else 1.0)


@pytest.mark.sweep(6, by="name")
@pytest.mark.parametrize("backend", OTHERS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_agreement(name: str, backend: str):
    function, kinds = FUNCTIONS[name]
    generator = rng(f"{name} {backend}")
    for size in (0.0, 1e-9, 0.2, 1.0, 2.5):
        values = [draw(generator, kind, size) for kind in kinds]
        if backend == "jax-float32":
            values = [v.astype(np.float32) for v in values]
        expected, found = run("numpy", function, *values), run(backend, function, *values)
        pairs = (
            zip(expected, found, strict=True)
            if isinstance(expected, tuple)
            else [(expected, found)]
        )
        for one, other in pairs:
            assert other.shape == one.shape
            # float64: 1e-14, that is 45 eps
            np.testing.assert_allclose(other, one, rtol=0, atol=45 * eps(backend))


@pytest.mark.parametrize("name", [n for n, (f, _) in FUNCTIONS.items() if f.__module__ in SCALAR])
def test_floats_of_python_give_the_same(name: str):
    function, kinds = FUNCTIONS[name]
    generator = rng(f"{name} plain")
    for size in (0.0, 1e-9, 0.2, 1.0, 2.5):
        values = [draw(generator, kind, size) for kind in kinds]
        found = function(PLAIN, *(v if v.ndim > 1 else PLAIN.const(v) for v in values))
        assert isinstance(found, list) and not isinstance(found[0], np.ndarray)
        np.testing.assert_allclose(found, run("numpy", function, *values), rtol=0, atol=45 * EPS)
