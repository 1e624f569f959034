"""Other engines behind one door: mass matrix and bias forces of a mechanism, in its own v.

Each engine gets every joint as its own, coupled ones too. With its velocities v' = G(q) v, the
virtual power gives M = Gᵀ M' G and the forces Gᵀ (M' (G dv + dG/dt v) + bias').
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from linkwork.algorithms.configuration import random
from linkwork.conventions import GRAVITY
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import JointType, Mechanism
from robots import about, example_robot_urdf, origin, random_configuration, random_tree


@dataclass
class Own:
    """One joint of a body: its own positions and velocities, and which v they come from."""

    body: int
    type: JointType
    q: np.ndarray
    v: np.ndarray
    multiplier: float
    columns: slice


def own_joints(m: Mechanism, q: np.ndarray, v: np.ndarray) -> Iterator[Own]:
    """Every joint that moves a body, at this state."""
    for b, kind in enumerate(m.body_joint_types):
        c, factor = int(m.coordinate[b]), float(m.multiplier[b])
        if kind is not JointType.FIXED:
            at, columns = slice(*m.q_start[c : c + 2]), slice(*m.v_start[c : c + 2])
            yield Own(b, kind, factor * q[at] + m.offset[b], factor * v[columns], factor, columns)


def rotation(wxyz: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) of a unit quaternion."""
    w, x = wxyz[0], wxyz[1:]
    K = np.cross(np.eye(3), x)  # the matrix of the cross product
    return np.eye(3) + 2 * w * K + 2 * K @ K


def projected(
    m: Mechanism, M: np.ndarray, bias: np.ndarray, G: np.ndarray, dG_v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mass matrix and bias in our velocities; ``dG_v`` is dG/dt times v."""
    return G.T @ M @ G, G.T @ (bias + M @ dG_v)


# ---------------------------------------------------------------------------------------- MuJoCo


class MuJoCo:
    """A mechanism as a model of MuJoCo, without contacts and limits."""

    def __init__(self, mujoco: Any, m: Mechanism) -> None:
        self.m, self.mujoco = m, mujoco
        spec = mujoco.MjSpec()
        spec.option.gravity = GRAVITY
        spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        spec.compiler.balanceinertia = False
        bodies: list[Any] = []
        for b in range(m.n_bodies):
            above = bodies[m.parent[b]] if b else spec.worldbody
            body = above.add_body(name=f"b{b}", pos=m.p_parent_joint[b], quat=_quat(mujoco, m, b))
            body.mass, body.ipos, body.explicitinertial = m.mass[b], m.p_body_com[b], True
            inertia = m.I_com[b]
            body.fullinertia = [*np.diagonal(inertia), *inertia[np.triu_indices(3, 1)]]
            for kind, axis in _mujoco_joints(m.body_joint_types[b]):
                body.add_joint(type=getattr(mujoco.mjtJoint, f"mjJNT_{kind}"), axis=axis)
            bodies.append(body)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def mass_and_bias(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M (nv, nv) and bias (nv,) in our velocities."""
        m, model, data = self.m, self.model, self.data
        G, dG_v, qpos = self.placed(q, v)
        data.qpos, data.qvel = qpos, G @ v
        self.mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        self.mujoco.mj_fullM(model, data, M)
        return projected(m, M, data.qfrc_bias.copy(), G, dG_v)

    def forward(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Accelerations (nv,), where no joint is coupled."""
        data = self.data
        G, dG_v, data.qpos = self.placed(q, v)
        data.qvel, data.qfrc_applied = G @ v, np.linalg.solve(G.T, tau)
        self.mujoco.mj_forward(self.model, data)
        data.qfrc_applied = 0
        return np.linalg.solve(G, data.qacc - dG_v)

    def placed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        model = self.model  # its bodies stand in another order: depth first
        G, dG_v, qpos = np.zeros((model.nv, self.m.n_v)), np.zeros(model.nv), model.qpos0.copy()
        for joint in own_joints(self.m, q, v):
            n = joint.type.n_v
            body = model.body(f"b{joint.body}")
            at = int(body.dofadr[0])
            start = int(model.jnt_qposadr[body.jntadr[0]])
            block = joint.multiplier * np.eye(n)
            if joint.type is JointType.FLOATING:  # MuJoCo's slides lie along the axes before it
                R, w = rotation(joint.q[3:]), joint.v[3:]
                block[:3, :3] = R
                dG_v[at : at + 3] = R @ np.cross(w, joint.v[:3])
            G[at : at + n, joint.columns] = block
            qpos[start : start + len(joint.q)] = joint.q
        return G, dG_v, qpos


def _quat(mujoco: Any, m: Mechanism, b: int) -> np.ndarray:
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, m.R_parent_joint[b].ravel())
    return quat


def _mujoco_joints(kind: JointType) -> list[tuple[str, tuple[float, float, float]]]:
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    if kind.turns:
        return [("HINGE", z)]
    return {
        JointType.FIXED: [],
        JointType.PRISMATIC: [("SLIDE", z)],
        JointType.PLANAR: [("SLIDE", x), ("SLIDE", y), ("HINGE", z)],
        JointType.SPHERICAL: [("BALL", z)],
        JointType.FLOATING: [("SLIDE", x), ("SLIDE", y), ("SLIDE", z), ("BALL", z)],
    }[kind]


# ---------------------------------------------------------------------------------------- exudyn


class Exudyn:
    """A mechanism without floating joints as a kinematic tree of exudyn."""

    def __init__(self, exudyn: Any, m: Mechanism) -> None:
        from exudyn import itemInterface as items  # noqa: PLC0415  only where it is installed

        self.m = m
        kinds, parents, R, p, mass, com, inertia = [], [], [], [], [], [], []
        last = {-1: -1}  # the link that each body is
        for b, kind in enumerate(m.body_joint_types):
            if kind is JointType.FIXED:
                last[b] = -1
                continue
            joints = _exudyn_joints(exudyn, kind)
            for k, joint in enumerate(joints):
                own = k == len(joints) - 1
                kinds.append(joint)
                parents.append(last[int(m.parent[b])] if k == 0 else len(kinds) - 2)
                R.append(m.R_parent_joint[b] if k == 0 else np.eye(3))
                p.append(m.p_parent_joint[b] if k == 0 else np.zeros(3))
                mass.append(m.mass[b] if own else 0.0)
                com.append(m.p_body_com[b] if own else np.zeros(3))
                inertia.append(m.I_com[b] if own else np.zeros((3, 3)))
            last[b] = len(kinds) - 1
        self.n = len(kinds)
        self.mbs = exudyn.SystemContainer().AddSystem()
        zeros = [0.0] * self.n
        node = self.mbs.AddNode(
            items.NodeGenericODE2(
                numberOfODE2Coordinates=self.n,
                referenceCoordinates=zeros,
                initialCoordinates=zeros,
                initialCoordinates_t=zeros,
            )
        )
        self.mbs.AddObject(
            items.ObjectKinematicTree(
                nodeNumber=node,
                gravity=list(GRAVITY),
                jointTypes=kinds,
                linkParents=parents,
                jointTransformations=exudyn.Matrix3DList(R),
                jointOffsets=exudyn.Vector3DList(p),
                linkInertiasCOM=exudyn.Matrix3DList(inertia),
                linkCOMs=exudyn.Vector3DList(com),
                linkMasses=mass,
            )
        )
        self.mbs.Assemble()
        self.solver = exudyn.MainSolverImplicitSecondOrder()
        settings = exudyn.SimulationSettings()
        settings.solution.file.write = False
        self.solver.InitializeSolver(self.mbs, settings)

    def mass_and_bias(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M (nv, nv) and bias (nv,) in our velocities."""
        G = np.zeros((self.n, self.m.n_v))
        positions, at = [], 0
        for joint in own_joints(self.m, q, v):
            n = joint.type.n_v
            G[at : at + n, joint.columns] = joint.multiplier * np.eye(n)
            positions.append(joint.q)
            at += n
        self.mbs.systemData.SetODE2Coordinates(np.concatenate(positions))
        self.mbs.systemData.SetODE2Coordinates_t(G @ v)
        self.solver.ComputeMassMatrix(self.mbs)
        M = np.array(self.solver.GetSystemMassMatrix())
        self.solver.ComputeODE2RHS(self.mbs)
        force = np.array(self.solver.GetSystemResidual())[: self.n]
        return projected(self.m, M, -force, G, np.zeros(self.n))


def _exudyn_joints(exudyn: Any, kind: JointType) -> list[Any]:
    types = exudyn.JointType
    if kind.turns:
        return [types.RevoluteZ]
    if kind is JointType.PRISMATIC:
        return [types.PrismaticZ]
    return [types.PrismaticX, types.PrismaticY, types.RevoluteZ]  # planar


# ------------------------------------------------------------------------------------- Pinocchio


def pinocchio() -> Any:
    """The module; skips where it is missing."""
    return pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")


class Pinocchio:
    """A mechanism of ours beside Pinocchio's model of the same description, joints alike by name.

    Pinocchio's velocities are a constant matrix times ours where no joint is planar, so all that is
    linear in them goes over by that matrix.
    """

    def __init__(self, m: Mechanism, model: Any) -> None:
        self.pin, self.m, self.model, self.data = pinocchio(), m, model, model.createData()
        model.gravity.linear = np.array(GRAVITY)
        # where each body's joint stands in Pinocchio's q and v, and in ours
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

    @classmethod
    def of_document(cls, document: Document, base: str = "fixed") -> Pinocchio:
        """The mechanism of a description, and Pinocchio's model made joint by joint."""
        m = from_urdf(document, base=base)
        return cls(m, pinocchio_model(document, base, m.body_joint_names[0]))

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's q: angles without limits as cosine and sine, quaternions xyzw."""
        result = self.pin.neutral(self.model)
        for joint in self.joints:
            own = joint.multiplier * q[joint.ours] + joint.offset
            if joint.type.has_quaternion:
                own = np.concatenate([own[:-4], own[-3:], own[-4:-3]])
            elif joint.pin.stop - joint.pin.start == len(own) + 1:
                own = np.concatenate([own[:-1], [np.cos(own[-1]), np.sin(own[-1])]])
            result[joint.pin] = own
        return result

    def tangent(self, q: np.ndarray) -> np.ndarray:
        """The matrix G that makes Pinocchio's v of ours."""
        G = np.zeros((self.model.nv, self.m.n_v))
        for joint in self.joints:
            block = joint.multiplier * np.eye(joint.type.n_v)
            if joint.type is JointType.PLANAR:  # Pinocchio's v is in axes of the body
                c, s = np.cos(q[joint.ours][2]), np.sin(q[joint.ours][2])
                block[:2, :2] = [[c, s], [-s, c]]
            G[joint.pin_v, joint.ours_v] = block
        return G

    def state(self, q: np.ndarray, v: np.ndarray) -> tuple[Any, ...]:
        """Its q and v, G, and dG/dt times v."""
        G, dG_v = self.tangent(q), np.zeros(self.model.nv)
        for joint in self.joints:
            if joint.type is JointType.PLANAR:  # Pinocchio's slides turn along
                w = v[joint.ours_v][2]
                slides = (G[joint.pin_v] @ v)[:2]
                dG_v[joint.pin_v] = [w * slides[1], -w * slides[0], 0.0]
        return self.configuration(q), G @ v, G, dG_v

    def mass_and_bias(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M (nv, nv) and bias (nv,) in our velocities."""
        theirs, rates, G, dG_v = self.state(q, v)
        M = self.pin.crba(self.model, self.data, theirs)
        M = np.triu(M) + np.triu(M, 1).T
        bias = self.pin.nonLinearEffects(self.model, self.data, theirs, rates).copy()
        return projected(self.m, M, bias, G, dG_v)

    def inverse(self, q: np.ndarray, v: np.ndarray, dv: np.ndarray, wrenches: Any) -> np.ndarray:
        """Forces (nv,), with wrenches on links in the world by name."""
        theirs, rates, G, dG_v = self.state(q, v)
        forces = self._external(q, theirs, wrenches)
        tau = self.pin.rnea(self.model, self.data, theirs, rates, G @ dv + dG_v, forces)
        return G.T @ tau

    def forward(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, wrenches: Any) -> np.ndarray:
        """Accelerations (nv,), where no joint is coupled."""
        theirs, rates, G, dG_v = self.state(q, v)
        forces = self._external(q, theirs, wrenches)
        force = np.linalg.solve(G.T, tau)
        a = self.pin.aba(self.model, self.data, theirs, rates, force, forces)
        return np.linalg.solve(G, a - dG_v)

    def _external(self, q: np.ndarray, theirs: np.ndarray, wrenches: Any) -> Any:
        pin, model, data = self.pin, self.model, self.data
        pin.framesForwardKinematics(model, data, theirs)
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero() for _ in range(model.njoints)])
        for name, w in wrenches.items():
            frame = model.getFrameId(name)
            at = data.oMf[frame].translation
            world = pin.Force(w[:3], w[3:] + np.cross(at, w[:3]))
            joint = model.frames[frame].parentJoint
            forces[joint] = forces[joint] + data.oMi[joint].actInv(world)
        return forces


def _tilt(axis: np.ndarray) -> np.ndarray:
    """The smallest rotation that takes z to an axis, as a pose (4, 4)."""
    T, across = np.eye(4), np.array([-axis[1], axis[0], 0.0])
    sine = float(np.linalg.norm(across))
    if sine > 0:
        T[:3, :3] = about(across / sine, np.arctan2(sine, axis[2]))
    elif axis[2] < 0:
        T[:3, :3] = np.diag([1.0, -1.0, -1.0])
    return T


def _pinocchio_joint(type: str, axis: np.ndarray) -> Any:
    pin = pinocchio()
    if type in ("revolute", "continuous"):
        return pin.JointModelRevoluteUnaligned(axis)
    if type == "prismatic":
        return pin.JointModelPrismaticUnaligned(axis)
    if type == "spherical":
        return pin.JointModelSpherical()
    return pin.JointModelPlanar() if type == "planar" else pin.JointModelFreeFlyer()


def pinocchio_model(document: Document, base: str, base_joint: str) -> Any:
    """Pinocchio's model of the records of a URDF, joint by joint, without its own reader.

    A joint is added when it is reached, depth first: some of its algorithms count on that.
    """
    pin = pinocchio()
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
            turned = _tilt(axis) if joint.type == "planar" else np.eye(4)
            parent = model.addJoint(
                parent, _pinocchio_joint(joint.type, axis), pin.SE3(T @ turned), joint.name
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


NOT_PLANAR = ("fixed", "revolute", "continuous", "prismatic", "floating", "spherical")
REAL = (
    ("panda", "fixed"),
    ("talos_full_v2", "fixed"),
    ("talos_reduced", "floating"),
)


class Beside(NamedTuple):
    """One state of a mechanism, and of Pinocchio's model of it."""

    m: Mechanism
    q: np.ndarray
    v: np.ndarray
    dv: np.ndarray
    model: Any
    data: Any
    positions: np.ndarray  # Pinocchio's q
    G: np.ndarray  # Pinocchio's v is G times ours

    @property
    def state(self) -> tuple[Any, ...]:
        """Model, data, q, v, dv for Pinocchio's functions."""
        return self.model, self.data, self.positions, self.G @ self.v, self.G @ self.dv


def trees(random: np.random.Generator, n: int, *, mimic: float = 0.25) -> Iterator[Beside]:
    """Random trees of up to ten joints with every type but planar; every third one floats."""
    for k in range(n):
        text = random_tree(random, int(random.integers(2, 10)), NOT_PLANAR, mimic=mimic)
        found = beside(random, read(text), "floating" if k % 3 == 0 else "fixed")
        if found.m.n_v:
            yield found


def real(random: np.random.Generator) -> Iterator[Beside]:
    """Panda, and Talos on a fixed and on a floating base."""
    for name, base in REAL:
        yield beside(random, read(example_robot_urdf(name)), base)


def beside(generator: np.random.Generator, document: Document, base: str) -> Beside:
    """A mechanism at a random state, beside Pinocchio's model."""
    engine = Pinocchio.of_document(document, base)
    m = engine.m
    real = all(np.isfinite(m.lower)) and base == "fixed"
    q = random(m, generator, 1)[0] if real else random_configuration(generator, m)
    v, dv = generator.normal(size=m.n_v), generator.normal(size=m.n_v)
    model, data = engine.model, engine.data
    return Beside(m, q, v, dv, model, data, engine.configuration(q), engine.tangent(q))
