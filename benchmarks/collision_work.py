"""The work of `benchmarks.collision`: a scene around an arm, and states of the arm.

Everything follows from a seed. Obstacles stand in the shell that the arm reaches; states along
motions are rows of straight motions of length 1 rad.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

OBSTACLES = 20
SHOULDER = np.array([0.0, 0.0, 0.333])
"""Where Panda's first two axes meet (m)."""
SHELL = (0.45, 0.95)
"""Distances of obstacles from the shoulder (m); the base stands free."""
BESIDE_BASE = 0.35
"""Nothing stands nearer to the axis of the base (m)."""
EDGE = 32
"""States along one motion, 1/32 rad of joint norm apart."""


@dataclass(frozen=True)
class Obstacle:
    """A box of these sides, or a cylinder about z of a radius and a length, at a pose (m)."""

    name: str
    sides: Floats | None
    radius: float
    length: float
    T_world_obstacle: Floats


def scene(seed: int, count: int = OBSTACLES) -> list[Obstacle]:
    """Boxes and cylinders by turns, turned anyhow."""
    rng = np.random.default_rng([seed, *b"scene"])
    made: list[Obstacle] = []
    while len(made) < count:
        way = rng.normal(size=3)
        at = SHOULDER + rng.uniform(*SHELL) * way / np.linalg.norm(way)
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = turned(rng), at
        sides, radius, length = rng.uniform(0.05, 0.22, 3), *rng.uniform((0.02, 0.1), (0.07, 0.35))
        if at[2] < 0.05 or np.hypot(*at[:2]) < BESIDE_BASE:
            continue
        k = len(made)
        box = k % 2 == 0
        made.append(
            Obstacle(
                f"{'box' if box else 'cylinder'}{k}", sides if box else None, radius, length, T
            )
        )
    return made


def turned(rng: np.random.Generator) -> Floats:
    """A rotation, all of them as likely."""
    w, x, y, z = (q := rng.normal(size=4)) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def unrelated(limits: Any, count: int, seed: int) -> Floats:
    """Random states (count, n) within limits."""
    rng = np.random.default_rng([seed, *b"unrelated"])
    return rng.uniform(limits[0], limits[1], (count, len(limits[0])))


def motions(limits: Any, count: int, seed: int) -> Floats:
    """States (count, n) along motions: `EDGE` of each, 1/32 rad apart, ending within limits."""
    lower, upper = (np.asarray(x, dtype=np.float64) for x in limits)
    rng = np.random.default_rng([seed, *b"motions"])
    edges = -(-count // EDGE)
    start, way = (
        rng.uniform(lower, upper, (edges, len(lower))),
        rng.normal(size=(edges, len(lower))),
    )
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    end = np.clip(start + way, lower, upper)
    share = np.linspace(0.0, 1.0, EDGE)[None, :, None]
    return (start[:, None] + share * (end - start)[:, None]).reshape(-1, len(lower))[:count]
