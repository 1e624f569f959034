"""Robots with loops of every kind that are assembled at a configuration that is known."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import linkwork as lw
from ik_measures import turned
from linkwork.mechanism.loops import KINDS
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
def with_every_kind(base: str = "fixed") -> Assembled:
    """Two arms with a loop of every kind, and two couplings."""
    robot: Any = lw.load("two_arm_torso", base=base)
    q = robot.random(seed=rng("every kind of loop"))
    for place, kind in enumerate(FREE):
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
