"""The other sides of `benchmarks.closed`: the closure equations solved as users of each library do.

Every side solves the same square equations: the rows of the closure that are independent, and that
a quaternion has length one. `Equations` is a black box of residual and Jacobian with our compiled
kernels behind it, so that a general solver (SciPy) is not timed by slow equations; CasADi has them
as its own graph, Pinocchio computes them from its own kinematics.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from linkwork import models
from linkwork.algorithms.closure import closure
from linkwork.compile.symbolic import on_symbols
from linkwork.conventions import GRAVITY

Floats = NDArray[np.float64]
Solve = Callable[[Floats], Floats]  # positions of the actuated joints -> q

TOLERANCE = 1e-10
STEPS = 50


class Equations:
    """What has to be zero for given actuated positions, as a function of the other numbers of q."""

    def __init__(self, robot: Any, name: str) -> None:
        self.robot, self.name, m = robot, name, robot.mechanism
        self.given = [int(m.q_start[m.joint(joint)]) for joint in robot.actuated]
        self.passive = [k for k in range(m.n_q) if k not in self.given]
        self.units = [
            int(m.q_start[c]) + 3
            for c, kind in enumerate(m.joint_types)
            if kind.label == "floating"
        ]
        self.neutral = robot.neutral()
        self.rows = self._independent()

    def whole(self, given: Floats, x: Floats) -> Floats:
        """All of q."""
        q = np.empty(self.neutral.shape)
        q[self.given], q[self.passive] = given, x
        return q

    def residual(self, given: Floats, x: Floats) -> Floats:
        """(n,) for n unknowns."""
        q = self.whole(given, x)
        units = [0.5 * (q[k : k + 4] @ q[k : k + 4] - 1.0) for k in self.units]
        for k in self.units:
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return np.concatenate([self.robot.closure(q)[self.rows], units])

    def graph(self) -> tuple[Any, Any, Any]:
        """CasADi: unknowns, positions, equations."""
        import casadi as ca  # noqa: PLC0415  not every run needs it

        m = self.robot.mechanism
        x, p = ca.SX.sym("x", len(self.passive)), ca.SX.sym("p", len(self.given))
        q = ca.SX(m.n_q, 1)
        for i, k in enumerate(self.passive):
            q[k] = x[i]
        for i, k in enumerate(self.given):
            q[k] = p[i]
        rows = on_symbols(lambda o, q: closure(o, m, q), q)[self.rows]
        units = [0.5 * (ca.sumsqr(q[k : k + 4]) - 1) for k in self.units]
        return x, p, ca.vertcat(rows, *units)

    def square(self) -> None:
        """Refuse what root finders do not take: passive freedoms leave fewer equations.

        Raises: ValueError.
        """
        n, unknowns = len(self.rows) + len(self.units), len(self.passive)
        if n != unknowns:
            raise ValueError(f"{n} equations for {unknowns} unknowns; it takes as many")

    def _independent(self) -> list[int]:
        """Rows of the closure that say everything, chosen one by one at an assembled q."""
        from scipy.linalg import qr  # noqa: PLC0415

        robot, m = self.robot, self.robot.mechanism
        middle = robot.assemble(np.full(len(self.given), 0.05), q0=self.neutral)
        J = robot.closure_jacobian(middle.q)
        held = [int(m.v_start[m.joint(joint)]) for joint in robot.actuated]
        moving = [k for k in range(J.shape[1]) if k not in held]
        columns = J[:, moving]
        decomposed: Any = qr(columns.T, pivoting=True, mode="economic")
        order: list[int] = decomposed[2].tolist()
        rank = int(np.linalg.matrix_rank(columns, tol=1e-6))
        return sorted(int(k) for k in order[:rank])


def scipy_root(equations: Equations, near: Floats) -> Solve:
    """`scipy.optimize.root`, Powell's hybrid method, as it comes."""
    from scipy.optimize import root  # noqa: PLC0415

    equations.square()
    start = near[equations.passive]

    def solve(given: Floats) -> Floats:
        found = root(lambda x: equations.residual(given, x), start, tol=1e-12)
        return equations.whole(given, found.x)

    return solve


def scipy_least_squares(equations: Equations, near: Floats) -> Solve:
    """`scipy.optimize.least_squares`, trust region, with its own differences."""
    from scipy.optimize import least_squares  # noqa: PLC0415

    start = near[equations.passive]

    def solve(given: Floats) -> Floats:
        found = least_squares(
            lambda x: equations.residual(given, x), start, xtol=1e-14, ftol=1e-14, gtol=1e-14
        )
        return equations.whole(given, found.x)

    return solve


def casadi_rootfinder(equations: Equations, near: Floats) -> Solve:
    """`casadi.rootfinder`, Newton."""
    import casadi as ca  # noqa: PLC0415

    equations.square()
    x, p, rows = equations.graph()
    finder = ca.rootfinder("f", "newton", {"x": x, "p": p, "g": rows}, {"error_on_fail": False})
    start = near[equations.passive]

    def solve(given: Floats) -> Floats:
        return equations.whole(given, np.asarray(finder(start, given)).ravel())

    return solve


def casadi_ipopt(equations: Equations, near: Floats) -> Solve:
    """Least squares by `casadi.nlpsol` with Ipopt, compiled once, as TriP's mappings do."""
    import casadi as ca  # noqa: PLC0415

    x, p, rows = equations.graph()
    quiet = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-14}
    nlp = {"x": x, "p": p, "f": ca.sumsqr(rows)}
    solver = ca.nlpsol("s", "ipopt", nlp, quiet)
    start = near[equations.passive]

    def solve(given: Floats) -> Floats:
        return equations.whole(given, np.asarray(solver(x0=start, p=given)["x"]).ravel())

    return solve


class Pinocchio:
    """A model and its loops: residual and Jacobian from frames, dynamics by constraint models."""

    def __init__(self, robot: Any, name: str) -> None:
        if robot.couplings:
            raise ValueError("its constraint models hold frames, not joints by functions of others")
        pin: Any = importlib.import_module("pinocchio")
        self.pin, self.robot = pin, robot
        self.model = pin.buildModelFromUrdf(str(models.path(name)))
        self.data = self.model.createData()
        self.loops = [
            (self.model.getFrameId(a), self.model.getFrameId(b), kind, length)
            for a, b, kind, length in (
                (loop.frame_a, loop.frame_b, loop.held, loop.distance) for loop in robot.loops
            )
        ]
        self.driven = [self.model.joints[self.model.getJointId(j)] for j in robot.actuated]
        self.actuated = [own.idx_v for own in self.driven]
        self.passive = [k for k in range(self.model.nv) if k not in self.actuated]
        self.world = pin.LOCAL_WORLD_ALIGNED

    def to(self, q: Floats) -> Floats:
        """Our q as Pinocchio has it: its order, free joints xyzw, endless ones cosine and sine."""
        m, out = self.robot.mechanism, np.zeros(self.model.nq)
        for c, joint in enumerate(m.joint_names):
            own = self.model.joints[self.model.getJointId(joint)]
            x = q[int(m.q_start[c]) : int(m.q_start[c + 1])]
            if own.nq == 7:
                x = np.concatenate([x[:3], x[4:], x[3:4]])
            elif own.nq == 2:
                x = np.array([np.cos(x[0]), np.sin(x[0])])
            out[own.idx_q : own.idx_q + own.nq] = x
        return out

    def back(self, q: Floats) -> Floats:
        """The other way."""
        m = self.robot.mechanism
        out = np.zeros(m.n_q)
        for c, joint in enumerate(m.joint_names):
            own = self.model.joints[self.model.getJointId(joint)]
            x = q[own.idx_q : own.idx_q + own.nq]
            if own.nq == 7:
                x = np.concatenate([x[:3], x[6:], x[3:6]])
            elif own.nq == 2:
                x = np.array([np.arctan2(x[1], x[0])])
            out[int(m.q_start[c]) : int(m.q_start[c + 1])] = x
        return out

    def velocities(self, v: Floats, *, back: bool = False) -> Floats:
        """Ours (..., nv) in Pinocchio's order, which has the same numbers; or the other way."""
        m, out = self.robot.mechanism, np.zeros_like(v)
        for c, joint in enumerate(m.joint_names):
            own = self.model.joints[self.model.getJointId(joint)]
            ours = slice(int(m.v_start[c]), int(m.v_start[c + 1]))
            theirs = slice(own.idx_v, own.idx_v + own.nv)
            if back:
                out[..., ours] = v[..., theirs]
            else:
                out[..., theirs] = v[..., ours]
        return out

    def rows(self, q: Floats) -> tuple[Floats, Floats]:
        """Errors of the loops' positions and lengths, and their Jacobian: enough for ours."""
        pin, model, data = self.pin, self.model, self.data
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        errors: list[Floats] = []
        jacobians: list[Floats] = []
        for a, b, held, length in self.loops:
            way = data.oMf[b].translation - data.oMf[a].translation
            J = (
                pin.getFrameJacobian(model, data, b, self.world)[:3]
                - pin.getFrameJacobian(model, data, a, self.world)[:3]
            )
            if held.length:
                errors.append(np.array([way @ way - length * length]))
                jacobians.append(2.0 * way[None] @ J)
            else:
                errors.append(way)
                jacobians.append(J)
        return np.concatenate(errors), np.vstack(jacobians)

    def assemble(self, near: Floats) -> Solve:
        """Gauss-Newton on the passive joints, as scripts around Pinocchio do it."""
        begin, pin, model = self.to(near), self.pin, self.model

        def solve(given: Floats) -> Floats:
            q, dv = begin.copy(), np.zeros(model.nv)
            for own, value in zip(self.driven, given, strict=True):
                turn = (np.cos(value), np.sin(value)) if own.nq == 2 else (value,)
                q[own.idx_q : own.idx_q + own.nq] = turn
            for _ in range(STEPS):
                error, J = self.rows(q)
                if error @ error < TOLERANCE**2:
                    break
                A = J[:, self.passive]
                damped = A.T @ A + 1e-12 * np.eye(A.shape[1])
                dv[self.passive] = -np.linalg.solve(damped, A.T @ error)
                q = pin.integrate(model, q, dv)
            return self.back(q)

        return solve

    def inverse(self, near: Floats, tip: str, *, turned: bool) -> Solve:
        """Gauss-Newton on loops and a frame together: a pose (4, 4), or its position."""
        begin, pin, model, frame = self.to(near), self.pin, self.model, self.model.getFrameId(tip)

        def solve(T: Floats) -> Floats:
            q = begin.copy()
            for _ in range(STEPS):
                error, J = self.rows(q)
                at = self.data.oMf[frame]
                J_tip = pin.getFrameJacobian(model, self.data, frame, self.world)
                away = at.translation - T[:3, 3]
                if turned:
                    turn = at.rotation @ pin.log3(T[:3, :3].T @ at.rotation)
                    away = np.concatenate([away, turn])
                error = np.concatenate([error, away])
                if error @ error < TOLERANCE**2:
                    break
                both = np.vstack([J, J_tip[: len(away)]])
                damped = both.T @ both + 1e-12 * np.eye(model.nv)
                q = pin.integrate(model, q, -np.linalg.solve(damped, both.T @ error))
            return self.back(q)

        return solve

    def actuation_jacobian(self, tip: str) -> Callable[[Floats], Floats]:
        """The implicit function theorem by NumPy, from a q that is Pinocchio's already."""
        frame = self.model.getFrameId(tip)

        def compute(q: Floats) -> Floats:
            _, J = self.rows(q)
            rates = np.zeros((self.model.nv, len(self.actuated)))
            rates[self.actuated] = np.eye(len(self.actuated))
            A = J[:, self.passive]
            damped = A.T @ A + 1e-14 * np.eye(A.shape[1])
            rates[self.passive] = -np.linalg.solve(damped, A.T @ J[:, self.actuated])
            return self.pin.getFrameJacobian(self.model, self.data, frame, self.world) @ rates

        return compute

    def dynamics(self) -> Callable[[tuple[Floats, Floats, Floats]], Floats]:
        """`constraintDynamics` with a ball joint for each loop; rods have no constraint model."""
        pin, model, data = self.pin, self.model, self.data
        model.gravity.linear = np.array(GRAVITY)
        kind = pin.ContactType.CONTACT_3D
        constraints = pin.StdVec_RigidConstraintModel()
        for a, b, held, _ in self.loops:
            if held.length:
                raise ValueError("Pinocchio has no constraint of a rod")
            ends = [model.frames[k] for k in (a, b)]
            constraints.append(
                pin.RigidConstraintModel(
                    kind, model, ends[0].parentJoint, ends[0].placement,
                    ends[1].parentJoint, ends[1].placement, pin.LOCAL,
                )
            )  # fmt: skip
        datas = pin.StdVec_RigidConstraintData()
        for each in constraints:
            datas.append(each.createData())
        pin.initConstraintDynamics(model, data, constraints, datas)
        settings = pin.ProximalSettings(1e-12, 1e-8, 20)

        def compute(state: tuple[Floats, Floats, Floats]) -> Floats:
            return pin.constraintDynamics(model, data, *state, constraints, datas, settings)

        return compute


def load(name: str) -> tuple[Any, Equations]:
    """A bundled mechanism and its equations."""
    robot = lw.load(name)
    return robot, Equations(robot, name)
