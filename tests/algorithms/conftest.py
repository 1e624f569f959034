"""What the tests of the algorithms share: a mechanism with everything, and the three back ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import casadi as cs
import numpy as np
import pytest

from graph_values import of_traced
from linkwork.algorithms.registry import find
from linkwork.compile.tracing import trace
from linkwork.mechanism.assemble import FramePart, JointPart, LinkPart, Mimic, Parts, assemble
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.spatial.rotations import from_rpy
from symbols import as_column, evaluate

Run = Callable[..., np.ndarray]


def _joint(name: str, type: JointType, parent: str, child: str, **more) -> JointPart:
    rpy, xyz = more.pop("rpy", (0, 0, 0)), more.pop("xyz", (0, 0, 0))
    R = from_rpy(NUMPY, np.array(rpy, float))
    more["axis"] = np.array(more.get("axis", (0, 0, 1)), float)
    return JointPart(
        name=name, type=type, parent=parent, child=child, R=R, p=np.array(xyz, float), **more
    )


@pytest.fixture(scope="session")
def every_joint() -> Mechanism:
    """Every joint type, in a tree with couplings, exact and inexact placements, bare links."""
    T = JointType
    rng = np.random.default_rng(7)
    links = [
        LinkPart(name, mass, rng.normal(size=3))
        for name, mass in zip(
            "abcdefghijklm", (3, 2, 1, 0, 2, 1, 0.5, 0, 1, 0, 0.3, 0, 0.4), strict=True
        )
    ]
    joints = [
        _joint("float", T.FLOATING, "a", "b", rpy=(0.3, -0.2, 0.5), xyz=(0.1, 0.2, 0.3)),
        _joint("turn", T.REVOLUTE, "b", "c", axis=(1, 2, -2), xyz=(0.3, 0, 0.1), lower=-2, upper=1),
        _joint("glue", T.FIXED, "c", "d", rpy=(0.1, 0.2, 0.3), xyz=(0, 0.2, 0)),
        _joint("slide", T.PRISMATIC, "d", "e", axis=(0, -1, 0), xyz=(0, 0.1, 0), upper=0.4),
        _joint("wheel", T.CONTINUOUS, "e", "f", axis=(0, 0, -1), rpy=(np.pi / 2, 0, 0)),
        _joint("plane", T.PLANAR, "c", "g", axis=(1, 0, 0), xyz=(-0.2, 0, 0.1)),
        _joint(
            "copy", T.REVOLUTE, "g", "h", axis=(0, 1, 0), xyz=(0, 0, 0.2),
            mimic=Mimic("turn", -0.5, 0.3),
        ),
        _joint("copy2", T.PRISMATIC, "h", "i", axis=(1, 1, 0), mimic=Mimic("turn", 0.25)),
        _joint("ball", T.SPHERICAL, "i", "m", rpy=(0.2, 0.1, 0), xyz=(0.1, 0, 0.2), upper=1.5),
        _joint("last", T.REVOLUTE, "m", "j", axis=(0, 1, 0), xyz=(0, 0.3, 0)),
        _joint("side", T.REVOLUTE, "a", "k", rpy=(0, 0, 1), xyz=(1, 0, 0)),
        _joint("parallel", T.REVOLUTE, "k", "l", xyz=(0.2, 0, 0.1), mimic=Mimic("side", 1.0)),
    ]  # fmt: skip
    tool = FramePart("tool", "j", from_rpy(NUMPY, np.array([0.4, 0.5, -0.6])), rng.normal(size=3))
    return assemble(Parts(name="every joint", links=links, joints=joints, frames=[tool]))


@pytest.fixture(scope="session")
def aligned_tree() -> Callable[[np.random.Generator, int], Mechanism]:
    """A random tree in which most axes and placements lie along x, y or z, and many offsets are 0.

    It is what real robots look like, and where exact zeros and ones are made use of.
    """
    return random_aligned_tree


def random_aligned_tree(rng: np.random.Generator, n: int) -> Mechanism:
    types = [type for type in JointType if type is not JointType.FIXED]
    types += [JointType.REVOLUTE] * 4
    links, joints, leaders = [LinkPart("l0", 1.0, rng.normal(size=3))], [], []
    for k in range(n):
        type, mimic = types[rng.integers(len(types))], None
        if type.n_q == 1 and leaders and rng.random() < 0.2:
            mimic = Mimic(leaders[rng.integers(len(leaders))], rng.choice([1.0, -0.5]))
        elif type.n_q == 1:
            leaders.append(f"j{k}")
        steps = rng.integers(4, size=3) if rng.random() < 0.8 else rng.uniform(0, 4, 3)
        links.append(LinkPart(f"l{k + 1}", rng.choice([0.0, 0.7]), rng.normal(size=3)))
        joints.append(
            _joint(
                f"j{k}",
                type,
                f"l{max(0, k - rng.integers(2))}",
                f"l{k + 1}",
                rpy=steps * np.pi / 2,
                xyz=rng.choice([0, 0, 0.3, -0.2], 3),
                axis=np.eye(3)[rng.integers(3)] * rng.choice([-1, 1]),
                mimic=mimic,
            )
        )
    base = "floating" if rng.random() < 0.3 else "fixed"
    return assemble(Parts(name="aligned", links=links, joints=joints, base=base))


@pytest.fixture(scope="session")
def on_numpy() -> Run:
    """Run an algorithm with NumPy on rows of inputs."""

    def run(name: str, m: Mechanism, *rows: np.ndarray, **static) -> np.ndarray:
        return np.array([evaluate(name, m, *row, **static) for row in zip(*rows, strict=True)])

    return run


@pytest.fixture(scope="session")
def on_graph() -> Run:
    """Trace an algorithm and compute its graph on rows of inputs."""

    def run(name: str, m: Mechanism, *rows: np.ndarray, **static) -> np.ndarray:
        return of_traced(trace(name, m, **static), *rows)

    return run


@pytest.fixture
def on_jax() -> Iterator[Run]:
    """Run an algorithm in JAX, under ``jit`` and ``vmap``, in float64."""
    jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)

    def run(name: str, m: Mechanism, *rows: np.ndarray, **static) -> np.ndarray:
        batched = jax.vmap(lambda *row: evaluate(name, m, *row, **static))
        return np.asarray(jax.jit(batched)(*[jax.numpy.asarray(row) for row in rows]))

    yield run
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(params=["on_graph", pytest.param("on_jax", marks=pytest.mark.slow)])
def agree(request: pytest.FixtureRequest, on_numpy: Run) -> Run:
    """Run on NumPy and another back end, see that they agree to 1e-13, and return NumPy's result.

    JAX takes seconds to compile an algorithm.
    """
    other: Run = request.getfixturevalue(request.param)

    def run(name: str, m: Mechanism, *rows: np.ndarray, **static) -> np.ndarray:
        expected = on_numpy(name, m, *rows, **static)
        assert expected.shape == (len(rows[0]), *find(name).output(m))
        scale = max(1.0, np.abs(expected).max(initial=0))
        got = other(name, m, *rows, **static)
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * scale)
        return expected

    return run


@pytest.fixture(scope="session")
def along() -> Callable[..., Callable[[np.ndarray], np.ndarray]]:
    """Central differences of an algorithm of q along `integrate`, in a last axis of length nv.

    Fourth order: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h.
    """
    return differences


def differences(
    name: str, m: Mechanism, *, h: float = 1e-3, **static
) -> Callable[[np.ndarray], np.ndarray]:
    q, v = cs.SX.sym("q", m.n_q), cs.SX.sym("v", m.n_v)
    moved = evaluate(name, m, evaluate("integrate", m, q, v), **static)
    function = cs.Function("f", [q, v], [as_column(moved)])
    steps = np.hstack([h * k * np.eye(m.n_v) for k in (1, -1, 2, -2)])

    def at(q: np.ndarray) -> np.ndarray:
        values = np.array(function(np.tile(q[:, None], 4 * m.n_v), steps))
        near, back, far, far_back = np.split(values, 4, axis=1)
        result = (8 * (near - back) - (far - far_back)) / (12 * h)
        return result.reshape(*find(name).output(m), m.n_v)

    return at


@pytest.fixture(scope="session")
def twist() -> Callable[..., np.ndarray]:
    """The Jacobian (6, nv) in each reference, from T (4, 4) and its derivatives (4, 4, nv)."""

    def of(T: np.ndarray, dT: np.ndarray, reference: str) -> np.ndarray:
        R, p = T[:3, :3], T[:3, 3]
        W = np.einsum("ijk,lj->ilk", dT[:3, :3], R)
        angular = 0.5 * np.stack([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])
        linear = dT[:3, 3]
        if reference == "local":
            linear, angular = R.T @ linear, R.T @ angular
        if reference == "world":
            linear = linear + np.cross(p, angular, axis=0)
        return np.vstack([linear, angular])

    return of
