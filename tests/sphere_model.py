"""A collision model that is plain to see through: spheres on frames, and in the world.

It answers as `linkwork.solve.clearance.Model` asks, in NumPy, and is no part of the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import linkwork as lw


class Ball(NamedTuple):
    """A sphere on a frame of the robot: its centre there, and its radius."""

    frame: str
    centre: tuple[float, float, float]
    radius: float


class Near(NamedTuple):
    """What `SphereModel.nearest` gives."""

    distance: np.ndarray
    gradient: np.ndarray | None
    bodies: np.ndarray
    names: Sequence[str]


def length(way: np.ndarray) -> np.ndarray:
    """The lengths (...,) of vectors (..., 3)."""
    return np.sqrt(np.einsum("...k,...k->...", way, way))


class SphereModel:
    """Spheres of a robot against each other (``pairs`` of their places) and against a scene.

    A scene is a list of spheres of the world: (name, centre, radius).
    """

    def __init__(
        self, robot: lw.Robot, balls: Sequence[Ball], pairs: Sequence[tuple[int, int]] = ()
    ) -> None:
        self.robot, self.balls = robot, list(balls)
        self.frames = list(dict.fromkeys(ball.frame for ball in balls))
        self.of = np.array([self.frames.index(ball.frame) for ball in balls])
        self.centres = np.array([ball.centre for ball in balls], dtype=float)
        self.radii = np.array([ball.radius for ball in balls])
        self.pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        self.calls = 0

    def points(self, q: np.ndarray) -> np.ndarray:
        """The centres (N, balls, 3) in the world."""
        T = np.stack([self.robot.fk(q, frame) for frame in self.frames], axis=1)[:, self.of]
        return (T[..., :3, :3] @ self.centres[:, :, None])[..., 0] + T[..., :3, 3]

    def distances(self, q: np.ndarray, scene: Any = None) -> np.ndarray:
        """The distances (N, pairs): of self pairs, then of each ball to each thing of the scene."""
        self.calls += 1
        p = self.points(q)
        a, b = self.pairs.T
        own = length(p[:, a] - p[:, b]) - self.radii[a] - self.radii[b]
        if not scene:
            return own
        centres = np.array([thing[1] for thing in scene])
        radii = np.array([thing[2] for thing in scene])
        way = length(p[:, :, None] - centres) - self.radii[:, None] - radii
        return np.concatenate([own, way.reshape(len(q), -1)], axis=1)

    def clearance(self, q: np.ndarray, scene: Any = None) -> np.ndarray:
        """The least distance (N,)."""
        return self.distances(q, scene).min(axis=1) if len(q) else np.zeros(0)

    def nearest(
        self,
        q: np.ndarray,
        n: int,
        scene: Any = None,
        *,
        within: float = np.inf,
        gradients: bool = True,
        gradients_at: np.ndarray | None = None,
    ) -> Near:
        """The n nearest pairs of those within so many metres, with their gradients."""
        every = self.distances(q, scene)
        pair = np.argsort(every, axis=1, kind="stable")[:, :n]
        distance = np.take_along_axis(every, pair, axis=1)
        distance[distance > within] = np.inf
        things = np.arange(len(self.balls) * len(scene or ()))
        others = np.stack(np.divmod(things, max(1, len(scene or ()))), axis=1)
        others[:, 1] += len(self.balls)
        bodies = np.concatenate([self.pairs, others])[pair]
        names = [ball.frame for ball in self.balls] + [thing[0] for thing in scene or ()]
        gradient = self.gradients(q, pair, scene, gradients_at) if gradients else None
        return Near(distance, gradient, bodies, names)

    def collides(self, q: np.ndarray, scene: Any = None) -> np.ndarray:
        """Whether anything touches."""
        return (self.distances(q, scene) <= 0.0).any(axis=1)

    def gradients(
        self, q: np.ndarray, pair: np.ndarray, scene: Any = None, at: np.ndarray | None = None
    ) -> np.ndarray:
        """The gradients (N, n, nv) of some pairs (N, n), ``at`` others along the way at q."""
        p, J = self.points(q), self.jacobians(q if at is None else at)
        rows, n_own, things = np.arange(len(q))[:, None], len(self.pairs), max(1, len(scene or ()))
        self_pair = pair < n_own
        own = self.pairs[np.where(self_pair, pair, 0)] if n_own else np.zeros((*pair.shape, 2), int)
        ball, thing = np.divmod(np.where(self_pair, 0, pair - n_own), things)
        ball = np.where(self_pair, own[..., 0], ball)
        centres = np.array([thing[1] for thing in scene or [("", (0.0, 0.0, 0.0), 0.0)]])
        other = np.where(self_pair[..., None], p[rows, own[..., 1]], centres[thing])
        way = p[rows, ball] - other
        rate = J[rows, ball] - np.where(self_pair[..., None, None], J[rows, own[..., 1]], 0.0)
        way /= np.maximum(length(way), 1e-300)[..., None]
        return (way[..., None, :] @ rate)[..., 0, :]

    def jacobians(self, q: np.ndarray) -> np.ndarray:
        """The Jacobians (N, balls, 3, nv) of the centres in the world."""
        J = np.stack(
            [self.robot.jacobian(q, f, reference="world-aligned") for f in self.frames], axis=1
        )
        T = np.stack([self.robot.fk(q, f) for f in self.frames], axis=1)
        arm = (T[:, self.of, :3, :3] @ self.centres[:, :, None])[..., 0]
        J = J[:, self.of]
        turn = np.moveaxis(J[..., 3:, :], -1, -2)  # (N, balls, nv, 3)
        return J[..., :3, :] + np.moveaxis(np.cross(turn, arm[:, :, None]), -1, -2)
