"""Poses, Jacobians and centres of mass against Pinocchio, on real robots and on random trees.

Pinocchio gets every joint of the description as one of its own, also coupled ones: their
positions are set by hand, and a constant matrix adds their columns to their leaders'. Tolerances
are 1e-10, times the largest coordinate where the robot is larger than a metre.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import casadi as cs
import numpy as np
import pytest

from linkwork.algorithms.configuration import random
from linkwork.algorithms.jacobian import REFERENCES
from linkwork.algorithms.registry import find
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import JointType, Mechanism
from robots import about, example_robot_urdfs, origin, random_configuration, random_tree
from seeds import rng
from symbols import as_column, evaluate

pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")

FRAMES = dict(
    zip(
        REFERENCES,
        (pin.LOCAL_WORLD_ALIGNED, pin.LOCAL, pin.WORLD),
        strict=True,
    )
)
TOLERANCE = 1e-10


@dataclass
class Pair:
    """A mechanism of ours and Pinocchio's, with the same joints by name."""

    m: Mechanism
    model: pin.Model
    data: pin.Data

    def __post_init__(self) -> None:
        # where each body's joint stands in Pinocchio's q and v, and in ours
        m, model = self.m, self.model
        self.joints = [
            SimpleNamespace(
                type=type,
                ours=slice(*m.q_start[c : c + 2].tolist()),
                ours_v=slice(*m.v_start[c : c + 2].tolist()),
                multiplier=float(m.multiplier[body]),
                offset=float(m.offset[body]),
                pin=slice(model.idx_qs[j], model.idx_qs[j] + model.nqs[j]),
                pin_v=slice(model.idx_vs[j], model.idx_vs[j] + model.nvs[j]),
            )
            for body, (type, c) in enumerate(zip(m.body_joint_types, m.coordinate, strict=True))
            if type is not JointType.FIXED
            for j in [model.getJointId(m.body_joint_names[body])]
        ]

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's q: angles without limits as cosine and sine, quaternions xyzw."""
        result = pin.neutral(self.model)
        for joint in self.joints:
            own = joint.multiplier * q[joint.ours] + joint.offset
            if joint.type.has_quaternion:
                own = np.concatenate([own[:-4], own[-3:], own[-4:-3]])
            elif joint.pin.stop - joint.pin.start == len(own) + 1:
                own = np.concatenate([own[:-1], [np.cos(own[-1]), np.sin(own[-1])]])
            result[joint.pin] = own
        return result

    def tangent(self, q: np.ndarray) -> np.ndarray:
        """The matrix that makes Pinocchio's v of ours."""
        G = np.zeros((self.model.nv, self.m.n_v))
        for joint in self.joints:
            block = joint.multiplier * np.eye(joint.type.n_v)
            if joint.type is JointType.PLANAR:  # Pinocchio's v is in axes of the body
                c, s = np.cos(q[joint.ours][2]), np.sin(q[joint.ours][2])
                block[:2, :2] = [[c, s], [-s, c]]
            G[joint.pin_v, joint.ours_v] = block
        return G


def traced(m: Mechanism, calls: list[tuple[str, dict[str, str]]]):
    """These algorithms of q as one CasADi graph; it maps rows of q to a list of arrays of rows."""
    q = cs.SX.sym("q", m.n_q)
    outputs = []
    for name, static in calls:
        outputs.append(as_column(evaluate(name, m, q, **static)))
    function = cs.Function("f", [q], outputs)
    shapes = [find(name).output(m) for name, _ in calls]

    def run(rows: np.ndarray) -> list[np.ndarray]:
        values = function.call([cs.DM(rows.T)])
        return [
            np.array(value).T.reshape(len(rows), *shape)
            for value, shape in zip(values, shapes, strict=True)
        ]

    return run


def assert_near(got: np.ndarray, expected: np.ndarray, what: str) -> None:
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    error = float(np.abs(got - expected).max(initial=0))
    assert error <= TOLERANCE * scale, f"{what}: {error:.3g} at a scale of {scale:.3g}"


def compare(pair: Pair, links: list[str], rows: np.ndarray) -> None:
    """Poses and Jacobians of all links, the Jacobians in all references."""
    m, model, data = pair.m, pair.model, pair.data
    calls: list[tuple[str, dict[str, str]]] = [("fk_all", {})]
    calls += [("jacobian", {"frame": f, "reference": r}) for f in links for r in REFERENCES]
    poses, *jacobians = traced(m, calls)(rows)
    poses = poses[:, [m.frame(name) for name in links]]
    ids = {name: model.getFrameId(name, pin.FrameType.BODY) for name in links}
    assert max(ids.values()) < len(model.frames), "Pinocchio lacks a link"
    expected_poses = np.zeros(poses.shape)
    expected = [np.zeros(J.shape) for J in jacobians]
    for k, q in enumerate(rows):
        G = pair.tangent(q)
        pin.computeJointJacobians(model, data, pair.configuration(q))
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


# ------------------------------------------------------------------------------- real robots


@pytest.mark.sweep(16)
@pytest.mark.parametrize("path", example_robot_urdfs(), ids=lambda path: path.stem)
def test_real_robots(path: Path) -> None:
    document = read(path)
    m = from_urdf(document)
    model = pin.buildModelFromUrdf(str(path))
    pair = Pair(m, model, model.createData())
    links = list(m.frame_names[: m.n_link_frames])
    rows = random(m, rng(f"pinocchio {path.name}"), 100)
    compare(pair, links, rows)


def test_there_are_67_real_robots() -> None:
    assert len(example_robot_urdfs()) >= 67


# ------------------------------------------------------------------------------ random trees


def tilt(axis: np.ndarray) -> np.ndarray:
    """The smallest rotation that takes z to an axis, as a pose (4, 4)."""
    T, across = np.eye(4), np.array([-axis[1], axis[0], 0.0])
    sine = float(np.linalg.norm(across))
    if sine > 0:
        T[:3, :3] = about(across / sine, np.arctan2(sine, axis[2]))
    elif axis[2] < 0:
        T[:3, :3] = np.diag([1.0, -1.0, -1.0])
    return T


def joint_model(type: str, axis: np.ndarray):
    if type in ("revolute", "continuous"):
        return pin.JointModelRevoluteUnaligned(axis)
    if type == "prismatic":
        return pin.JointModelPrismaticUnaligned(axis)
    if type == "spherical":
        return pin.JointModelSpherical()
    return pin.JointModelPlanar() if type == "planar" else pin.JointModelFreeFlyer()


def pinocchio_model(document: Document, base: str, base_joint: str) -> pin.Model:
    """Pinocchio's model of the records of a URDF, joint by joint, without its own reader.

    A joint is added when it is reached, depth first: some of its algorithms count on that.
    """
    model, robot = pin.Model(), document.robot
    children: dict[str, list] = {}
    for joint in robot.joints:
        children.setdefault(joint.parent, []).append(joint)
    links = {link.name: link for link in robot.links}
    (root,) = set(links) - {joint.child for joint in robot.joints}
    start = 0
    if base == "floating":
        start = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), base_joint)
    waiting = [(root, start, np.eye(4), None)]
    while waiting:
        name, parent, T, joint = waiting.pop()
        if joint is not None:
            axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
            turned = tilt(axis) if joint.type == "planar" else np.eye(4)
            parent = model.addJoint(
                parent, joint_model(joint.type, axis), pin.SE3(T @ turned), joint.name
            )
            T = np.linalg.inv(turned)
        model.addFrame(pin.Frame(name, parent, 0, pin.SE3(T), pin.FrameType.BODY))
        inertial = links[name].inertial
        if inertial is not None:
            placement = pin.SE3(T @ origin(inertial.xyz, inertial.rpy))
            inertia = pin.Inertia(inertial.mass, np.zeros(3), np.array(inertial.inertia))
            model.appendBodyToJoint(parent, inertia, placement)
        for joint in children.get(name, []):
            placement = T @ origin(joint.xyz, joint.rpy)
            moves = None if joint.type == "fixed" else joint
            waiting.append((joint.child, parent, placement, moves))
    return model


def compare_centres(pair: Pair, rows: np.ndarray) -> None:
    """The centre of mass and its Jacobian. Pinocchio leaves out what a fixed base carries."""
    m, model, data = pair.m, pair.model, pair.data
    coms, jacobians = traced(m, [("com", {}), ("com_jacobian", {})])(rows)
    moving = pin.computeTotalMass(model)
    fixed = model.inertias[0]
    fraction = moving / m.mass.sum()
    assert fraction == pytest.approx(1 - fixed.mass / m.mass.sum(), abs=1e-12)
    for q, com, J in zip(rows, coms, jacobians, strict=True):
        theirs = pair.configuration(q)
        expected_J = np.zeros((3, m.n_v))
        expected = fixed.mass / m.mass.sum() * fixed.lever
        if moving > 0:
            pin.jacobianCenterOfMass(model, data, theirs)
            expected = expected + fraction * data.com[0]
            expected_J = fraction * data.Jcom.reshape(3, model.nv) @ pair.tangent(q)
        assert_near(com, expected, "centre of mass")
        assert_near(J, expected_J, "Jacobian of the centre of mass")


@pytest.mark.sweep(2)
@pytest.mark.parametrize("part", range(10))
def test_500_random_trees(part: int) -> None:
    generator = rng(f"pinocchio trees {part}")
    for k in range(50):
        document = read(random_tree(generator, int(generator.integers(1, 12))))
        base = "floating" if k % 3 == 0 else "fixed"
        m = from_urdf(document, base=base)
        model = pinocchio_model(document, base, m.body_joint_names[0])
        pair = Pair(m, model, model.createData())
        links = list(m.frame_names[: m.n_link_frames])
        rows = np.array([random_configuration(generator, m) for _ in range(3)])
        compare(pair, links, rows)
        if m.mass.sum() > 0:
            compare_centres(pair, rows)
