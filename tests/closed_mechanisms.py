"""Mechanisms with loops: every kind at assembled states, and some whose motion is known."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import linkwork as lw
from dynamics_cases import rows, solid
from ik_measures import turned
from linkwork.mechanism import edit
from linkwork.mechanism.loops import KINDS
from linkwork.mechanism.model import JointType, Mechanism
from robots import mechanism_from, random_tree
from seeds import rng


def shifted(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


FREE: dict[str, np.ndarray] = {
    "pose": np.eye(4),
    "revolute": turned(2, 0.7),
    "prismatic": shifted(z=0.1),
    "cylindrical": shifted(z=-0.1) @ turned(2, -1.1),
    "planar": shifted(0.1, -0.2) @ turned(2, 2.0),
    "position": turned(0, 0.5) @ turned(1, 1.0) @ turned(2, -0.5),
    "universal": turned(2, 0.9) @ turned(0, -0.6),
    "distance": shifted(0.1, 0.2, 0.2) @ turned(0, 1.0),
    "xy/z": shifted(z=0.3) @ turned(0, 0.8),
    "x/xz": shifted(y=0.1, z=0.2) @ turned(1, -0.4),
    "/y": shifted(0.1, 0.2, 0.3) @ turned(2, 0.5),
    "yz/": shifted(x=0.3) @ turned(1, 0.8),
}
"""A pose of frame b in frame a at which a loop of each kind is closed."""
assert set(KINDS) <= set(FREE)


class Assembled(lw.Robot):
    """A robot whose random configurations are the one at which it is assembled."""

    at: np.ndarray

    def random(self, n: int | None = None, *, seed: Any = None) -> np.ndarray:
        """The same one, n times."""
        return self.at.copy() if n is None else np.tile(self.at, (n, 1))


def closing(robot: Any, q: np.ndarray, ends: tuple[str, str], kind: str) -> Any:
    """The robot with a loop of a kind that is closed at q."""
    g = rng(f"closing {kind} {ends}")
    x, z = g.uniform(-2, 2, 2)
    T_a = shifted(*g.uniform(-0.1, 0.1, 3)) @ turned(0, x) @ turned(2, z)
    a, b = f"{kind} a".replace("/", "-"), f"{kind} b".replace("/", "-")
    robot = robot.with_frame(a, ends[0], T_a)
    T_b = np.linalg.inv(robot.fk(q, ends[1])) @ robot.fk(q, a) @ FREE[kind]
    robot = robot.with_frame(b, ends[1], T_b)
    distance = float(np.linalg.norm(FREE[kind][:3, 3])) if kind == "distance" else 0.0
    return robot.with_loop(a, b, kind, name=kind, distance=distance)


@cache
def with_every_kind(base: str = "fixed", kinds: tuple[str, ...] = tuple(FREE)) -> Assembled:
    """Two arms with a loop of every kind, or of these, and two couplings."""
    robot: Any = lw.load("two_arm_torso", base=base)
    q = robot.random(seed=rng("every kind of loop"))
    for place, kind in enumerate(kinds):
        ends = ("left_tool0", "right_tool0") if place % 2 else ("right_tool0", "base_link")
        robot = closing(robot, q, ends, kind)
    m = robot.mechanism
    names = [n for n, kind in zip(m.joint_names, m.joint_types, strict=True) if kind.n_q == 1]
    x, y, z = (float(q[m.q_start[m.joint(name)]]) for name in names[:3])
    robot = robot.with_coupling(names[0], names[1], rate=0.5, offset=x - 0.5 * y)
    rest = y - np.sin(z) * x
    robot = robot.with_coupling(names[1], (names[2], names[0]), lambda a, b: np.sin(a) * b + rest)
    made = Assembled(robot.mechanism, robot.document)
    made.at = q
    return made


# ------------------------------------------------------------- states, and what NumPy makes of them

BUNDLED = ("four_bar", "slider_crank", "five_bar", "delta", "stewart", "excavator")
OF_KINDS = (
    *(f"{kind}, fixed" for kind in FREE),
    *(f"{kind}, floating" for kind in ("revolute", "universal", "distance")),
)
"""A loop of each kind; what it holds is of two links alone, so that the base matters to few."""
MADE_UP = ("skew", "skew, floating", "everything", "two loops", "couplings", "coupled followers")
CASES = (*BUNDLED, *OF_KINDS, *MADE_UP, "several kinds")
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
    result = robot.assemble(given, q0=np.tile(neutral, (8 * n, 1)))
    q = result.q[result.success][:n]
    assert len(q) == n
    return robot, q


def _made(name: str, random: np.random.Generator) -> tuple[Any, np.ndarray]:
    if name == "several kinds":
        robot = with_every_kind("floating", ("universal", "distance", "/y", "position"))
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


# ------------------------------------------------------------------------ motions that are known

ROD, COUPLER = (0.7, 0.4), (1.1, 0.8)  # mass, length
_NONE = 'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"'


def _bar(name: str, mass: float, at: str) -> str:
    """A bar whose mass is in one point."""
    return (
        f'<link name="{name}"><inertial><origin xyz="{at}"/><mass value="{mass}"/>'
        f"<inertia {_NONE}/></inertial></link>"
    )


def _hinge_y(name: str, parent: str, child: str, at: str) -> str:
    return (
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at}"/><axis xyz="0 1 0"/></joint>'
    )


def parallelogram(kind: str = "pose") -> Mechanism:
    """A coupler on two equal rods, swinging about y: a, then b, then c beside. At zero it hangs.

    ``pose``: the loop is closed by all six rows, of which four follow from the others.
    """
    (mass, r), (heavy, d) = ROD, COUPLER
    text = (
        '<robot name="parallelogram"><link name="base"/>'
        + _bar("left", mass, f"0 0 {-0.5 * r}")
        + _bar("coupler", heavy, f"{0.5 * d} 0 0")
        + _bar("right", mass, f"0 0 {-0.5 * r}")
        + '<link name="end"/><link name="tip"/>'
        + _hinge_y("a", "base", "left", "0 0 0")
        + _hinge_y("b", "left", "coupler", f"0 0 {-r}")
        + _hinge_y("c", "base", "right", f"{d} 0 0")
        + '<joint name="end" type="fixed"><parent link="coupler"/><child link="end"/>'
        + f'<origin xyz="{d} 0 0"/></joint>'
        + '<joint name="tip" type="fixed"><parent link="right"/><child link="tip"/>'
        + f'<origin xyz="0 0 {-r}"/></joint></robot>'
    )
    axes = ("xz", "") if kind == "point" else "position"
    closed = edit.close(mechanism_from(text), "end", "tip", axes, name="hinge")
    return edit.actuate(closed, ["a"])


def equal_pendulum() -> tuple[float, float]:
    """Inertia about the pivots (kg m²) and m g l over g (kg m) of the parallelogram's swing."""
    (mass, r), (heavy, _) = ROD, COUPLER
    return 2.0 * mass * (0.5 * r) ** 2 + heavy * r * r, 2.0 * mass * 0.5 * r + heavy * r


def swung(angle: float) -> np.ndarray:
    """The parallelogram with its rods turned by an angle."""
    return np.array([angle, -angle, angle])


LENGTH, TWISTS = 0.4, (0.6, 1.1)  # of a Bennett linkage: of one link, and of both


def bennett(size: float = 1.0) -> lw.Robot:
    """Bennett's linkage: four hinges in space whose rows are redundant by lengths and twists alone.

    Links of length a and twist alpha, b and beta in turn, with a / sin(alpha) = b / sin(beta);
    masses of 1 kg. ``size`` multiplies lengths.
    """
    alpha, beta = TWISTS
    a = LENGTH * size
    b = a * math.sin(beta) / math.sin(alpha)
    text = (
        '<robot name="bennett"><link name="base"/>'
        + "".join(_link(name, length) for name, length in (("l1", a), ("l2", b), ("l3", a)))
        + '<link name="end"/><link name="foot"/>'
        + _hinge("j1", "base", "l1", 0.0, 0.0)
        + _hinge("j2", "l1", "l2", a, alpha)
        + _hinge("j3", "l2", "l3", b, beta)
        + _hinge("j4", "l3", "end", a, alpha, "fixed")
        + _hinge("foot", "base", "foot", -b, -beta, "fixed")
        + "</robot>"
    )
    return lw.load(text).with_loop("foot", "end", "revolute", name="hinge").with_actuated("j1")


def bennett_angle(angle: float) -> float:
    """The second angle of Bennett's linkage, by its first.

    Source: G. T. Bennett, "A new mechanism", Engineering 76 (1903).
    """
    alpha, beta = TWISTS
    share = math.sin(0.5 * (beta + alpha)) / math.sin(0.5 * (beta - alpha))
    return 2.0 * math.atan(share / math.tan(0.5 * angle))


def _link(name: str, length: float) -> str:
    inertia = length * length / 12.0
    return (
        f'<link name="{name}"><inertial><origin xyz="{0.5 * length!r} 0 {0.1 * length!r}"/>'
        f'<mass value="1"/><inertia ixx="{inertia!r}" iyy="{1.2 * inertia!r}" '
        f'izz="{0.9 * inertia!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def _hinge(
    name: str, parent: str, child: str, along: float, twist: float, kind: str = "continuous"
) -> str:
    """A hinge about z, where a link of this length and twist ends."""
    axis = "" if kind == "fixed" else '<axis xyz="0 0 1"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{along!r} 0 0" rpy="{twist!r} 0 0"/>{axis}</joint>'
    )


def _slender_bar(name: str, end: str) -> str:
    """A slender bar of 1 kg from the origin to ``end``, with some thickness."""
    x = np.array([float(t) for t in end.split()])
    own = (x @ x * np.eye(3) - np.outer(x, x)) / 12.0 + 1e-3 * np.eye(3)
    inertia = " ".join(
        f'i{"xyz"[i]}{"xyz"[j]}="{own[i, j]:.17g}"' for i in range(3) for j in range(i, 3)
    )
    middle = " ".join(f"{t:.17g}" for t in 0.5 * x)
    return (
        f'<link name="{name}"><inertial><origin xyz="{middle}"/><mass value="1"/>'
        f"<inertia {inertia}/></inertial></link>"
    )


def _joint_z(name: str, parent: str, child: str, at: str, kind: str = "continuous") -> str:
    axis = '<axis xyz="0 0 1"/>' if kind != "fixed" else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at}"/>{axis}</joint>'
    )


def parallelograms(*off: float) -> Any:
    """Parallelograms in the plane of x and y, rods of 0.4 m and bars of 1 m, one rod longer each.

    ``off`` tells by how much; loops are hinge0, hinge1, ... and joints a0, b0, c0, a1, ... At zero
    each is a line, where its two branches meet: (a, -a, a) is the parallelogram's.
    """
    text = '<robot name="parallelogram"><link name="ground"/>'
    for k, more in enumerate(off):
        rod = f"{0.4 + more:.17g} 0 0"
        for name, end in (("left", "0.4 0 0"), ("coupler", "1 0 0"), ("right", rod)):
            text += _slender_bar(f"{name}{k}", end)
        text += f'<link name="end{k}"/><link name="tip{k}"/>'
        text += _joint_z(f"a{k}", "ground", f"left{k}", "0 0 0")
        text += _joint_z(f"b{k}", f"left{k}", f"coupler{k}", "0.4 0 0")
        text += _joint_z(f"c{k}", "ground", f"right{k}", "1 0 0")
        text += _joint_z(f"end{k}", f"coupler{k}", f"end{k}", "1 0 0", kind="fixed")
        text += _joint_z(f"tip{k}", f"right{k}", f"tip{k}", rod, kind="fixed")
    robot = lw.load(text + "</robot>")
    for k in range(len(off)):
        robot = robot.with_loop(f"end{k}", f"tip{k}", "revolute", name=f"hinge{k}")
    return robot.with_actuated([f"a{k}" for k in range(len(off))])


# ------------------------------------------------------------------------------ of another size


def resized(robot: Any, length: float, mass: float) -> Any:
    """The robot with all lengths and all masses multiplied; times stay."""
    m: Mechanism = robot.mechanism
    slides = length ** slide_powers(m)
    inertia = mass * length**2
    offsets = np.array([float(kind is JointType.PRISMATIC) for kind in m.body_joint_types])
    changed = replace(
        m,
        p_parent_joint=m.p_parent_joint * length,
        p_body_frame=m.p_body_frame * length,
        p_body_com=m.p_body_com * length,
        offset=m.offset * length**offsets,
        lower=m.lower * q_units(m, length),
        upper=m.upper * q_units(m, length),
        velocity_limit=m.velocity_limit * slides,
        effort_limit=m.effort_limit * mass * length**2 / slides,
        damping=m.damping * inertia / slides**2,
        friction=m.friction * inertia / slides,
        mass=m.mass * mass,
        I_com=m.I_com * inertia,
        link_mass=m.link_mass * mass,
        link_com=m.link_com * length,
        link_I_com=m.link_I_com * inertia,
        loops=tuple(replace(loop, distance=loop.distance * length) for loop in m.loops),
        inertias_accepted=True,
    )
    return lw.Robot(changed)


def closed_motion(robot: lw.Robot, label: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A closed configuration, a velocity that keeps it so, and forces."""
    draw = rng(label)
    q = np.asarray(robot.assemble().q)
    rates = np.asarray(robot.passive_rates(q))
    return q, rates @ draw.normal(size=rates.shape[-1]), draw.normal(size=robot.n_v)


_SLIDES = {
    JointType.PRISMATIC: ([1], [1]),
    JointType.PLANAR: ([1, 1, 0], [1, 1, 0]),
    JointType.FLOATING: ([1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0]),
    JointType.SPHERICAL: ([0] * 4, [0] * 3),
}
"""Which numbers of q and of v are lengths, of the joints that slide."""


def slide_powers(m: Mechanism) -> np.ndarray:
    """1 for each number of v that is metres a second, 0 for radians a second (nv,)."""
    return np.array([x for kind in m.joint_types for x in _SLIDES.get(kind, ([0], [0]))[1]], float)


def q_units(m: Mechanism, length: float) -> np.ndarray:
    """What each number of q is multiplied by (nq,)."""
    powers = [x for kind in m.joint_types for x in _SLIDES.get(kind, ([0], [0]))[0]]
    return length ** np.array(powers, float)
