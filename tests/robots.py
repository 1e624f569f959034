"""Robots for tests: written ones, random ones, real ones, and two plain ways to walk them.

`description_poses` goes over the records of a URDF in products of 4x4 matrices; `model_poses` goes
over the arrays of a mechanism. They use no algorithm of the library, nor of each other.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document, Joint
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import JointType, Mechanism

URDF_TYPES = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating")
ALL_TYPES = (*URDF_TYPES, "spherical")
SINGLE_TYPES = ("revolute", "continuous", "prismatic")
# files of example-robot-data that are faulty: a leader that does not exist, a robot without a name
FAULTY_EXAMPLES = ("alex_psyonic_hands.urdf", "ur3.urdf")


def mechanism_from(text: str, base: Any = "fixed") -> Mechanism:
    """The mechanism of a URDF text or file."""
    return from_urdf(read(text), base=base)


_SPHERICAL = """<link name="eye"/>
  <joint name="socket" type="spherical"><parent link="ball"/><child link="eye"/>
    <origin xyz="0.1 0 0.1" rpy="0.4 0 1"/><limit upper="1.2" velocity="2" effort="8"/>
    <dynamics damping="0.1" friction="0.2"/></joint>
</robot>"""


def every_joint_urdf(*, spherical: bool = True) -> str:
    """One robot with all joint types, skew axes, branches, a mimic chain and lumped links.

    Links and joints stand in an order that is not the tree's; a link and a joint share a name.
    """
    return _EVERY_JOINT.replace("</robot>", _SPHERICAL) if spherical else _EVERY_JOINT


_EVERY_JOINT = """<robot name="every_joint">
  <link name="base"><inertial><origin xyz="0 0 0.1" rpy="0.1 0.2 0.3"/><mass value="4"/>
    <inertia ixx="0.05" ixy="0.002" ixz="-0.001" iyy="0.06" iyz="0.003" izz="0.04"/></inertial>
  </link>
  <link name="hand"><inertial><origin xyz="0.02 0 0.05" rpy="0 0 0.7"/><mass value="0.6"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.0012" iyz="0" izz="0.0008"/></inertial></link>
  <link name="upper"><inertial><origin xyz="0 0.02 0.2" rpy="0 0 0"/><mass value="2"/>
    <inertia ixx="0.03" ixy="0" ixz="0.001" iyy="0.03" iyz="0" izz="0.01"/></inertial></link>
  <link name="lower"><inertial><mass value="1.5"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.005"/></inertial></link>
  <link name="camera"><inertial><origin xyz="0 0.01 0" rpy="0.4 0 0"/><mass value="0.2"/>
    <inertia ixx="0.0002" ixy="0" ixz="0" iyy="0.0001" iyz="0" izz="0.0002"/></inertial></link>
  <link name="lens"/>
  <link name="finger_a"/> <link name="finger_b"/> <link name="finger_c"/>
  <link name="wheel"/> <link name="table"/> <link name="ball"/> <link name="lift"/>
  <link name="elbow"/>
  <joint name="wrist" type="fixed"><parent link="lift"/><child link="hand"/>
    <origin xyz="0 0 0.05" rpy="0 1.5707963267948966 0"/></joint>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0.1 0 0.3" rpy="0.2 -0.4 1.1"/><axis xyz="1 2 -0.5"/>
    <limit lower="-2" upper="2.5" velocity="3" effort="40"/>
    <dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 0.4"/><axis xyz="0 0 -1"/>
    <limit lower="-1.5" upper="1.5" velocity="2" effort="20"/></joint>
  <joint name="slide" type="prismatic"><parent link="elbow"/><child link="lift"/>
    <origin xyz="0 0 0.1" rpy="0 0 0.5"/><axis xyz="0 1 0"/>
    <limit lower="0.05" upper="0.4" velocity="0.5" effort="100"/></joint>
  <joint name="flange" type="fixed"><parent link="lower"/><child link="elbow"/>
    <origin xyz="0.05 0 0.3" rpy="-0.3 0 0"/></joint>
  <joint name="mount" type="fixed"><parent link="hand"/><child link="camera"/>
    <origin xyz="0.1 0 0" rpy="0 0.2 0"/></joint>
  <joint name="glass" type="fixed"><parent link="camera"/><child link="lens"/>
    <origin xyz="0.02 0 0" rpy="1.5707963267948966 0 0"/></joint>
  <joint name="grip_c" type="prismatic"><parent link="hand"/><child link="finger_c"/>
    <axis xyz="-1 0 0"/><limit lower="-0.01" upper="0.05" velocity="1" effort="5"/>
    <mimic joint="grip_b" multiplier="-0.5" offset="0.01"/></joint>
  <joint name="grip_b" type="revolute"><parent link="hand"/><child link="finger_b"/>
    <axis xyz="0 1 0"/><limit lower="-0.8" upper="0.1" velocity="1" effort="5"/>
    <mimic joint="grip_a" multiplier="-2" offset="0.1"/></joint>
  <joint name="grip_a" type="revolute"><parent link="hand"/><child link="finger_a"/>
    <axis xyz="0 -1 0"/><limit lower="-1" upper="1" velocity="1" effort="5"/></joint>
  <joint name="spin" type="continuous"><parent link="base"/><child link="wheel"/>
    <origin xyz="-0.2 0 0" rpy="1.5707963267948966 0 0"/><axis xyz="1 0 0"/></joint>
  <joint name="plane" type="planar"><parent link="base"/><child link="table"/>
    <origin xyz="0 0.5 0" rpy="0.1 0.1 0"/><axis xyz="0.3 0.4 1"/></joint>
  <joint name="free" type="floating"><parent link="table"/><child link="ball"/>
    <origin xyz="0 0 0.2" rpy="0 0 1"/></joint>
</robot>"""


def chain_urdf(n: int, kind: str = "revolute", *, backwards: bool = False) -> str:
    """A chain of n joints, link0 to link<n>, about z, each 0.1 m further along x."""
    limit = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
    joints = [
        f'<joint name="joint{k}" type="{kind}"><parent link="link{k - 1}"/>'
        f'<child link="link{k}"/><origin xyz="0.1 0 0"/><axis xyz="0 0 1"/>{limit}</joint>'
        for k in range(1, n + 1)
    ]
    links = [f'<link name="link{k}"/>' for k in range(n + 1)]
    return (
        f'<robot name="chain">{"".join(links)}{"".join(joints[:: -1 if backwards else 1])}</robot>'
    )


def random_tree(
    rng: np.random.Generator,
    n: int,
    types: Sequence[str] = ALL_TYPES,
    *,
    mimic: float = 0.25,
    shuffle: bool = True,
    shape: str = "tree",
) -> str:
    """The URDF of a random tree of n joints; its shape may be a "chain" or a "star" as well.

    Parents, placements and axes are random (every fourth axis lies along x, y or z, either way);
    a share `mimic` of the joints with one position follow others, in chains too. Inertias are
    physical.
    """
    links = [_random_link(rng, f"link{k}") for k in range(n + 1)]
    kinds = [types[int(rng.integers(len(types)))] for _ in range(n)]
    single = [k for k in range(n) if kinds[k] in SINGLE_TYPES]
    rank = dict(zip(single, rng.permutation(len(single)).tolist(), strict=True))
    joints = []
    for k in range(n):
        parent = int(rng.integers(k + 1)) if rng.random() < 0.5 else k
        parent = {"tree": parent, "chain": k, "star": 0}[shape]
        leaders = [other for other in single if rank.get(k, -1) > rank[other]]
        leader = None
        if k in rank and leaders and rng.random() < mimic:
            leader = f"joint{leaders[int(rng.integers(len(leaders)))]}"
        joints.append(_random_joint(rng, k, kinds[k], f"link{parent}", leader))
    if shuffle:
        joints = [joints[k] for k in rng.permutation(n)]
        links = [links[k] for k in rng.permutation(n + 1)]
    return f'<robot name="random">{"".join(links)}{"".join(joints)}</robot>'


def _text(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)


def _random_link(rng: np.random.Generator, name: str) -> str:
    if rng.random() < 0.2:
        return f'<link name="{name}"/>'
    points = rng.normal(size=(6, 3)) * rng.uniform(
        0.02, 0.2, 3
    )  # of point masses, so it is physical
    mass = float(rng.uniform(0.1, 5.0))
    points -= points.mean(axis=0)
    inertia = sum(mass / 6 * ((x @ x) * np.eye(3) - np.outer(x, x)) for x in points)
    entries = " ".join(
        f'i{"xyz"[a]}{"xyz"[b]}="{float(inertia[a, b])!r}"' for a in range(3) for b in range(a, 3)
    )
    return (
        f'<link name="{name}"><inertial><origin xyz="{_text(rng.normal(size=3) * 0.2)}" '
        f'rpy="{_text(rng.uniform(-3, 3, 3))}"/><mass value="{mass!r}"/><inertia {entries}/>'
        "</inertial></link>"
    )


def _random_joint(
    rng: np.random.Generator, k: int, kind: str, parent: str, leader: str | None
) -> str:
    axis = rng.normal(size=3)
    if rng.random() < 0.25:
        axis = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
    limit = (
        f'<limit lower="{float(rng.uniform(-3, -0.1))!r}" upper="{float(rng.uniform(0.1, 3))!r}" '
    )
    limit += f'velocity="{float(rng.uniform(0.5, 3))!r}" effort="{float(rng.uniform(1, 90))!r}"/>'
    coupling = ""
    if leader is not None:
        limit = '<limit lower="-1e3" upper="1e3" velocity="1" effort="1"/>'
        factor, shift = rng.uniform(-2, 2), rng.uniform(-0.5, 0.5)
        coupling = f'<mimic joint="{leader}" multiplier="{factor!r}" offset="{shift!r}"/>'
    turn = rng.uniform(-np.pi, np.pi, 3) if rng.random() < 0.7 else np.zeros(3)
    return (
        f'<joint name="joint{k}" type="{kind}"><parent link="{parent}"/><child link="link{k + 1}"/>'
        f'<origin xyz="{_text(rng.normal(size=3) * 0.3)}" rpy="{_text(turn)}"/>'
        f'<axis xyz="{_text(axis / np.linalg.norm(axis))}"/>'
        f"{limit if kind in ('revolute', 'prismatic') else ''}{coupling}</joint>"
    )


def example_robot_urdfs() -> list[Path]:
    """The URDF files of example-robot-data that are sound; skips where the package is missing."""
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data (pip install example-robot-data) is not installed")
    paths = sorted(Path(str(file.locate())) for file in files if file.suffix == ".urdf")
    return [path for path in paths if path.name not in FAULTY_EXAMPLES]


def example_robot_urdf(name: str) -> Path:
    """The one of `example_robot_urdfs` whose file has this name; skips where there is none."""
    for path in example_robot_urdfs():
        if path.stem == name:
            return path
    return pytest.skip(f"{name} is not in this version of example-robot-data")


KINDS_OF_EXAMPLES = (
    *("quadrotor_base", "panda", "kinova", "pr2", "allegro_left_hand", "talos_full_v2"),
    *("romeo", "tiago_dual"),
)
"""Nothing that moves, slides, wheels, a wheeled tree with coupled joints, a star of fingers,
humanoids with many coupled joints, a hundred joints."""


def various_robot_urdfs() -> list[Path]:
    """Those of `example_robot_urdfs` that differ in kind."""
    return [path for path in example_robot_urdfs() if path.stem in KINDS_OF_EXAMPLES]


def random_configuration(rng: np.random.Generator, m: Mechanism) -> np.ndarray:
    """Positions anywhere (limits do not matter to poses), quaternions of length 1."""
    q = rng.uniform(-3, 3, m.n_q)
    for kind, start in zip(m.joint_types, m.q_start, strict=False):
        if kind.has_quaternion:
            wxyz = q[start + kind.n_lengths : start + kind.n_q]
            wxyz /= np.linalg.norm(wxyz)
    return q


def by_name(m: Mechanism, q: np.ndarray) -> dict[str, np.ndarray]:
    """A configuration as the positions of each coordinate."""
    return {
        name: np.asarray(q[m.q_start[c] : m.q_start[c + 1]]) for c, name in enumerate(m.joint_names)
    }


def from_names(m: Mechanism, positions: Mapping[str, np.ndarray]) -> np.ndarray:
    """The configuration of m that has these positions."""
    return np.concatenate([np.zeros(0), *(positions[name] for name in m.joint_names)])


def description_poses(
    document: Document, positions: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The pose of every link in the root link, by products of 4x4 matrices over the records."""
    joints = {joint.name: joint for joint in document.robot.joints}
    holder = {joint.child: joint for joint in document.robot.joints}
    poses: dict[str, np.ndarray] = {}
    for link in document.robot.links:
        path = [link.name]
        while path[-1] not in poses and path[-1] in holder:
            path.append(holder[path[-1]].parent)
        poses.setdefault(path[-1], np.eye(4))
        for name in path[-2::-1]:
            joint = holder[name]
            motion = _motion(joint, _position(joint, joints, positions))
            poses[name] = poses[joint.parent] @ origin(joint.xyz, joint.rpy) @ motion
    return poses


def _position(joint: Joint, joints: dict[str, Joint], positions: Any) -> Any:
    factors = []
    while joint.mimic is not None:
        factors.append((joint.mimic.multiplier, joint.mimic.offset))
        joint = joints[joint.mimic.joint]
    value = positions.get(joint.name)
    for multiplier, offset in reversed(factors):
        value = multiplier * value + offset
    return value


def origin(xyz: Any, rpy: Any) -> np.ndarray:
    """The pose (4, 4) of an `origin` element."""
    T = np.eye(4)
    x, y, z = (about(axis, angle) for axis, angle in zip(np.eye(3), rpy, strict=True))
    T[:3, :3], T[:3, 3] = z @ y @ x, xyz
    return T


def about(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


def _motion(joint: Joint, q: Any) -> np.ndarray:
    T = np.eye(4)
    if joint.type == "fixed":
        return T
    if joint.type in ("floating", "spherical"):
        w, x, y, z = q[-4:]
        T[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        T[:3, 3] = q[:-4] if len(q) > 4 else 0.0
        return T
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    if joint.type == "prismatic":
        T[:3, 3] = axis * q[0]
    elif joint.type == "planar":
        tilt = np.diag([1.0, -1.0, -1.0])
        if axis[2] > -1:
            across = np.array([-axis[1], axis[0], 0.0])
            sine = np.linalg.norm(across)
            tilt = about(across / sine, np.arctan2(sine, axis[2])) if sine else np.eye(3)
        T[:3, :3] = tilt @ about(np.array([0, 0, 1.0]), q[2]) @ tilt.T
        T[:3, 3] = tilt @ [q[0], q[1], 0.0]
    else:
        T[:3, :3] = about(axis, q[0])
    return T


def model_poses(m: Mechanism, q: np.ndarray) -> dict[str, np.ndarray]:
    """The pose (4, 4) of every frame in the world, by a walk over the arrays of the model."""
    bodies = body_poses(m, q)
    poses = {}
    for k, name in enumerate(m.frame_names):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = m.R_body_frame[k], m.p_body_frame[k]
        poses[name] = bodies[m.frame_body[k]] @ T
    return poses


def body_poses(m: Mechanism, q: np.ndarray) -> list[np.ndarray]:
    """The pose (4, 4) of every body frame in the world."""
    poses: list[np.ndarray] = []
    for b, kind in enumerate(m.body_joint_types):
        c = m.coordinate[b]
        own = q[m.q_start[c] : m.q_start[c + 1]] if c >= 0 else np.zeros(0)
        own = m.multiplier[b] * own + m.offset[b]
        T, J = np.eye(4), np.eye(4)
        T[:3, :3], T[:3, 3] = m.R_parent_joint[b], m.p_parent_joint[b]
        if kind.turns or kind is JointType.PLANAR:
            s, c = np.sin(own[-1]), np.cos(own[-1])
            J[:2, :2] = [[c, -s], [s, c]]
        if kind is JointType.PLANAR:
            J[:2, 3] = own[:2]
        elif kind is JointType.PRISMATIC:
            J[2, 3] = own[0]
        elif kind.has_quaternion:
            J[: kind.n_lengths, 3] = own[: kind.n_lengths]
            w, v = own[-4], own[-3:]
            for column in range(3):  # x + 2 w (v × x) + 2 v × (v × x)
                x = np.eye(3)[column]
                J[:3, column] = x + 2 * w * np.cross(v, x) + 2 * np.cross(v, np.cross(v, x))
        above = poses[m.parent[b]] if m.parent[b] >= 0 else np.eye(4)
        poses.append(above @ T @ J)
    return poses


def total_inertia(m: Mechanism, q: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass (3,) and inertia about it (3, 3) of all bodies, in the world."""
    mass, first, about_origin = 0.0, np.zeros(3), np.zeros((3, 3))
    for b, T in enumerate(body_poses(m, q)):
        c = T[:3, :3] @ m.p_body_com[b] + T[:3, 3]
        own = T[:3, :3] @ m.I_com[b] @ T[:3, :3].T
        mass += m.mass[b]
        first += m.mass[b] * c
        about_origin += own + m.mass[b] * ((c @ c) * np.eye(3) - np.outer(c, c))
    c = first / mass
    return mass, c, about_origin - mass * ((c @ c) * np.eye(3) - np.outer(c, c))
