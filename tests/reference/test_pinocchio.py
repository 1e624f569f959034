"""Poses, Jacobians and centres of mass against Pinocchio, on real robots and on random trees.

Pinocchio gets every joint of the description as one of its own, also coupled ones: their
positions are set by hand, and a constant matrix adds their columns to their leaders'. Tolerances
are 1e-10, times the largest coordinate where the robot is larger than a metre.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynamics_engines import Pinocchio
from graph_values import of_graph
from linkwork.algorithms.configuration import random
from linkwork.algorithms.jacobian import REFERENCES
from linkwork.algorithms.registry import find
from linkwork.compile.tracing import trace_function
from linkwork.formats.urdf.read import read
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import Mechanism
from robots import example_robot_urdfs, random_configuration, random_tree
from seeds import rng

pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")

FRAMES = dict(zip(REFERENCES, (pin.LOCAL_WORLD_ALIGNED, pin.LOCAL, pin.WORLD), strict=True))
TOLERANCE = 1e-10


def traced(
    m: Mechanism, calls: list[tuple[str, dict[str, str]]], rows: np.ndarray
) -> list[np.ndarray]:
    """These algorithms of rows of q, as one graph."""

    def outputs(o: Any, q: Any) -> dict[str, Any]:
        return {
            str(k): find(name).run(o, m, (q,), {}, **static)
            for k, (name, static) in enumerate(calls)
        }

    t = trace_function("poses", {"q": m.n_q}, outputs)
    values = of_graph(t.graph, t.outputs, [rows])
    found = []
    for numbers, (name, _) in zip(t.outputs, calls, strict=True):
        flat = np.zeros((len(rows), len(numbers)))
        for element, k in enumerate(numbers):
            flat[:, element] = values[k]
        found.append(flat.reshape(len(rows), *find(name).output(m)))
    return found


def assert_near(got: np.ndarray, expected: np.ndarray, what: str) -> None:
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    error = float(np.abs(got - expected).max(initial=0))
    assert error <= TOLERANCE * scale, f"{what}: {error:.3g} at a scale of {scale:.3g}"


def compare(engine: Pinocchio, rows: np.ndarray) -> None:
    """Poses and Jacobians of all links, the Jacobians in all references."""
    m, model, data = engine.m, engine.model, engine.data
    links = m.frame_names[: m.n_link_frames]
    calls: list[tuple[str, dict[str, str]]] = [("fk_all", {})]
    calls += [("jacobian", {"frame": f, "reference": r}) for f in links for r in REFERENCES]
    poses, *jacobians = traced(m, calls, rows)
    poses = poses[:, [m.frame(name) for name in links]]
    ids = {name: model.getFrameId(name, pin.FrameType.BODY) for name in links}
    assert max(ids.values()) < len(model.frames), "Pinocchio lacks a link"
    expected_poses = np.zeros(poses.shape)
    expected = [np.zeros(J.shape) for J in jacobians]
    for k, q in enumerate(rows):
        G = engine.tangent(q)
        pin.computeJointJacobians(model, data, engine.configuration(q))
        pin.updateFramePlacements(model, data)
        for n, name in enumerate(links):
            expected_poses[k, n] = data.oMf[ids[name]].homogeneous
        for J, (_, static) in zip(expected, calls[1:], strict=True):
            if model.nv == 0:  # Pinocchio's getFrameJacobian ends the process on a rigid robot
                continue
            frame, reference = ids[static["frame"]], FRAMES[static["reference"]]
            theirs = pin.getFrameJacobian(model, data, frame, reference)
            J[k] = theirs.reshape(6, model.nv) @ G
    assert_near(poses, expected_poses, "poses")
    for got, J, (_, static) in zip(jacobians, expected, calls[1:], strict=True):
        assert_near(got, J, f"Jacobian {static}")


@pytest.mark.sweep(4)
@pytest.mark.parametrize("path", example_robot_urdfs(), ids=lambda path: path.stem)
def test_real_robots(path: Path) -> None:
    m = from_urdf(read(path))
    rows = random(m, rng(f"pinocchio {path.name}"), 100)
    compare(Pinocchio(m, pin.buildModelFromUrdf(str(path))), rows)


def test_there_are_67_real_robots() -> None:
    assert len(example_robot_urdfs()) >= 67


def compare_centres(engine: Pinocchio, rows: np.ndarray) -> None:
    """The centre of mass and its Jacobian. Pinocchio leaves out what a fixed base carries."""
    m, model, data = engine.m, engine.model, engine.data
    coms, jacobians = traced(m, [("com", {}), ("com_jacobian", {})], rows)
    moving = pin.computeTotalMass(model)
    fixed = model.inertias[0]
    fraction = moving / m.mass.sum()
    assert fraction == pytest.approx(1 - fixed.mass / m.mass.sum(), abs=1e-12)
    for q, com, J in zip(rows, coms, jacobians, strict=True):
        theirs = engine.configuration(q)
        expected_J = np.zeros((3, m.n_v))
        expected = fixed.mass / m.mass.sum() * fixed.lever
        if moving > 0:
            pin.jacobianCenterOfMass(model, data, theirs)
            expected = expected + fraction * data.com[0]
            expected_J = fraction * data.Jcom.reshape(3, model.nv) @ engine.tangent(q)
        assert_near(com, expected, "centre of mass")
        assert_near(J, expected_J, "Jacobian of the centre of mass")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("part", range(4))
def test_random_trees(part: int) -> None:
    generator = rng(f"pinocchio trees {part}")
    for k in range(25):
        document = read(random_tree(generator, int(generator.integers(1, 12))))
        engine = Pinocchio.of_document(document, "floating" if k % 3 == 0 else "fixed")
        rows = np.array([random_configuration(generator, engine.m) for _ in range(3)])
        compare(engine, rows)
        if engine.m.mass.sum() > 0:
            compare_centres(engine, rows)
