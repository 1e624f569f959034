"""Other engines behind one door: mass matrix and bias forces of a mechanism, in its own v.

Each engine gets every joint as its own, coupled ones too. With its velocities v' = G(q) v, the
virtual power gives M = Gᵀ M' G and the forces Gᵀ (M' (G dv + dG/dt v) + bias').
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.conventions import GRAVITY
from linkwork.mechanism.model import JointType, Mechanism


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
        G, dG_v, qpos = self._set(q, v)
        data.qpos, data.qvel = qpos, G @ v
        self.mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        self.mujoco.mj_fullM(model, data, M)
        return projected(m, M, data.qfrc_bias.copy(), G, dG_v)

    def forward(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Accelerations (nv,), where no joint is coupled."""
        data = self.data
        G, dG_v, data.qpos = self._set(q, v)
        data.qvel, data.qfrc_applied = G @ v, np.linalg.solve(G.T, tau)
        self.mujoco.mj_forward(self.model, data)
        data.qfrc_applied = 0
        return np.linalg.solve(G, data.qacc - dG_v)

    def _set(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


class Pinocchio:
    """A mechanism of ours beside Pinocchio's model of the same description."""

    def __init__(self, pin: Any, pair: Any) -> None:
        self.pin, self.pair = pin, pair
        self.m, self.model, self.data = pair.m, pair.model, pair.data
        self.model.gravity.linear = np.array(GRAVITY)

    def state(self, q: np.ndarray, v: np.ndarray) -> tuple[Any, ...]:
        """Its q and v, G, and dG/dt times v."""
        G, dG_v = self.pair.tangent(q), np.zeros(self.model.nv)
        for joint in self.pair.joints:
            if joint.type is JointType.PLANAR:  # Pinocchio's slides turn along
                w = v[joint.ours_v][2]
                slides = (G[joint.pin_v] @ v)[:2]
                dG_v[joint.pin_v] = [w * slides[1], -w * slides[0], 0.0]
        return self.pair.configuration(q), G @ v, G, dG_v

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
