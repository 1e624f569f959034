"""Mechanisms with loops at states that are assembled, and what NumPy makes of their trees."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import linkwork as lw
from closed_robots import FREE, closing, with_every_kind
from dynamics_cases import rows, solid
from linkwork.mechanism.model import Mechanism
from robots import mechanism_from, random_tree
from seeds import rng

BUNDLED = ("four_bar", "slider_crank", "five_bar", "delta", "stewart", "excavator")
KINDS = tuple(f"{kind}, {base}" for kind in FREE for base in ("fixed", "floating"))
MADE_UP = ("skew", "skew, floating", "everything", "two loops", "couplings", "coupled followers")
CASES = (*BUNDLED, *KINDS, *MADE_UP, "every kind")
FEW = (*BUNDLED[:5:2], "revolute, floating", "/y, fixed", "universal, floating", "planar, fixed",
       "everything", "couplings", "two loops", "coupled followers")  # fmt: skip
"""Of each sort some, for what takes long."""
N = 3


class Closed(NamedTuple):
    """A robot with assembled states: q (n, nq), v (n, nv), and forces of its actuated joints."""

    robot: Any
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray  # of the actuated joints
    every: np.ndarray  # of all joints

    @property
    def m(self) -> Mechanism:
        return self.robot.mechanism

    @property
    def tree(self) -> Mechanism:
        """The same without anything beside it."""
        return tree_of(self.m)

    @property
    def columns(self) -> list[int]:
        """The numbers of v of the actuated joints."""
        joints = [self.m.joint(name) for name in self.m.actuated]
        return [k for c in joints for k in range(self.m.v_start[c], self.m.v_start[c + 1])]

    @property
    def J(self) -> np.ndarray:
        return rows("closure_jacobian", self.m, self.q)

    def free(self, k: int) -> np.ndarray:
        """A basis (nv, dof) of the velocities that keep state k assembled."""
        return null_space(self.J[k])


@cache
def tree_of(m: Mechanism) -> Mechanism:
    return replace(m, loops=(), couplings=(), actuated=())


def null_space(J: np.ndarray) -> np.ndarray:
    _, values, V = np.linalg.svd(J)
    return V[int(np.count_nonzero(values > 1e-8 * max(1.0, values.max(initial=0.0)))) :].T


@cache
def closed_case(name: str) -> Closed:
    """A case by its name."""
    random = rng(f"closed dynamics {name}")
    robot, q = bundled(name, random) if name in BUNDLED else _made(name, random)
    found = Closed(robot, q, *(np.zeros((len(q), robot.n_v)) for _ in range(3)))
    v = np.array(
        [found.free(k) @ random.normal(size=found.free(k).shape[1]) for k in range(len(q))]
    )
    tau = np.zeros_like(v)
    tau[:, found.columns] = random.normal(size=(len(q), len(found.columns)))
    return found._replace(v=v, tau=tau, every=random.normal(size=v.shape))


def bundled(name: str, random: np.random.Generator, n: int = N) -> tuple[Any, np.ndarray]:
    """A bundled robot and assembled configurations near its neutral one."""
    robot = lw.load(name)
    m, neutral = robot.mechanism, robot.neutral()
    at = [int(m.q_start[m.joint(joint)]) for joint in robot.actuated]
    given = neutral[at] + 0.1 * random.normal(size=(8 * n, len(at)))
    result = robot.assemble(given, near=np.tile(neutral, (8 * n, 1)))
    q = result.q[result.success][:n]
    assert len(q) == n
    return robot, q


def _made(name: str, random: np.random.Generator) -> tuple[Any, np.ndarray]:
    if name == "every kind":
        robot = with_every_kind("floating")
        return _driven(robot), robot.at[None]
    if name in MADE_UP:
        robot, q = _tree(name, random)
    else:
        kind, base = name.split(", ")
        robot = lw.load("two_arm_torso", base=base)
        q = robot.random(seed=random)
        robot = closing(robot, q, ("left_tool0", "right_tool0"), kind)
    return _driven(robot), q[None]


def _driven(robot: Any) -> Any:
    """The first half of its joints with one position is driven: passive freedoms, or too many."""
    m = robot.mechanism
    names = [n for n, kind in zip(m.joint_names, m.joint_types, strict=True) if kind.n_q == 1]
    return robot.with_actuated(names[: (len(names) + 1) // 2])


def _tree(name: str, random: np.random.Generator) -> tuple[Any, np.ndarray]:
    types, base, mimic = ("revolute", "prismatic"), "fixed", 0.0
    if name == "everything":
        types, base = ("revolute", "prismatic", "planar", "continuous", "revolute"), "floating"
    if name == "skew, floating":
        base = "floating"
    if name == "coupled followers":
        mimic = 0.4
    m = mechanism_from(solid(random_tree(random, 8, types, mimic=mimic)), base=base)
    robot: Any = lw.Robot(m)
    q = robot.random(seed=random)
    links = [link for link in m.body_names if int(m.parent[m.body_names.index(link)]) >= 0]
    last = links[-1]
    others = [link for link in m.body_names[:-1] if link not in (last,)]
    robot = closing(robot, q, (others[len(others) // 2], last), "position")
    if name in ("two loops", "everything"):
        robot = closing(robot, q, (others[0], links[-2]), "xy/z")
    if name == "couplings":
        names = [n for n, k in zip(m.joint_names, m.joint_types, strict=True) if k.n_q == 1]
        x, y, z = (float(q[m.q_start[m.joint(n)]]) for n in names[:3])
        rest = z - np.sin(x) * y - x * x
        robot = robot.with_coupling(names[2], names[:2], lambda a, b: np.sin(a) * b + a * a + rest)
    return robot, q


# ------------------------------------------------------------------------ what NumPy makes of it


def solved(case: Closed, tau: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations and Jᵀ f, from the tree's mass matrix and bias forces, by a null space.

    Source: F. E. Udwadia and R. E. Kalaba, "A new perspective on constrained motion", Proceedings
    of the Royal Society A 439 (1992).
    """
    M = rows("mass_matrix", case.tree, case.q)
    h = rows("bias_forces", case.tree, case.q, case.v)
    J = case.J
    found = []
    for k in range(len(case.q)):
        N = case.free(k)
        closing_ = -np.linalg.pinv(J[k], rcond=1e-9) @ bias[k]
        free = N.T @ (tau[k] - h[k] - M[k] @ closing_)
        found.append(closing_ + N @ np.linalg.solve(N.T @ M[k] @ N, free))
    dv = np.array(found)
    return dv, np.einsum("nij,nj->ni", M, dv) + h - tau


def least_driven(case: Closed, forces: np.ndarray) -> np.ndarray:
    """Forces of the actuated joints, least norm, that work as these of all joints do."""
    found = np.zeros_like(forces)
    for k in range(len(case.q)):
        N = case.free(k)
        found[k, case.columns] = np.linalg.pinv(N[case.columns].T, rcond=1e-9) @ (N.T @ forces[k])
    return found


def answerable(case: Closed, forces: np.ndarray) -> np.ndarray:
    """The nearest of these forces that actuated joints and loops can answer together."""
    found = np.zeros_like(forces)
    for k in range(len(case.q)):
        S = np.eye(case.m.n_v)[:, case.columns]
        U, values, _ = np.linalg.svd(np.hstack([S, case.J[k].T]))
        U = U[:, : int(np.count_nonzero(values > 1e-9 * values[0]))]
        found[k] = U @ (U.T @ forces[k])
    return found
