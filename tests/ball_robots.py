"""Robots whose links are balls, for collisions: distances that are seen through at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.collision.pairs import PairTable, derive_pairs, described_pairs
from linkwork.formats.srdf import Srdf


class Balls:
    """A robot whose links are balls: links, where their centres lie, and radii (m)."""

    def __init__(self, robot: lw.Robot, balls: dict[str, tuple[Sequence[float], float]]) -> None:
        self.robot, self.balls = robot, balls
        self.m = robot.mechanism
        self.links = tuple(balls)
        self.places = [robot.frame_names.index(link) for link in balls]
        self.asked: list[int] = []

    def table(self, srdf: Srdf | None = None) -> PairTable:
        return described_pairs(self.m, self.links, srdf)

    def distances(self, q: np.ndarray, places: Sequence[int]) -> np.ndarray:
        self.asked.append(len(q))
        T = np.asarray(self.robot.fk_all(q))[:, self.places]
        c = np.array([ball[0] for ball in self.balls.values()])
        centres = np.einsum("nkij,kj->nki", T[..., :3, :3], c) + T[..., :3, 3]
        every = list(combinations(range(len(self.links)), 2))
        pairs = np.array([every[k] for k in places], int).reshape(-1, 2)
        r = np.array([ball[1] for ball in self.balls.values()])
        gaps = np.linalg.norm(centres[:, pairs[:, 0]] - centres[:, pairs[:, 1]], axis=-1)
        return gaps - r[pairs[:, 0]] - r[pairs[:, 1]]

    @property
    def reach(self) -> dict[str, float]:
        return {k: float(np.linalg.norm(c)) + r for k, (c, r) in self.balls.items()}

    def derived(self, *, srdf: Srdf | None = None, **how: Any) -> PairTable:
        """All pairs, with what the description, an SRDF and distances say of them."""
        table = self.table(srdf)
        return derive_pairs(table, self.m, self.distances, reach=self.reach, **how)


@cache
def arm(limit: float = 3.0, n: int = 4) -> lw.Robot:
    """A planar chain base, l1, ..., each 0.5 m long, with a tower and a tool that are fixed."""
    links = "".join(f'<link name="l{k}"/>' for k in range(1, n + 1))
    joints = "".join(
        f'<joint name="j{k}" type="revolute"><parent link="{f"l{k - 1}" if k > 1 else "base"}"/>'
        f'<child link="l{k}"/><origin xyz="{0.5 if k > 1 else 0} 0 0"/><axis xyz="0 0 1"/>'
        f'<limit lower="{-limit}" upper="{limit}" velocity="1" effort="1"/></joint>'
        for k in range(1, n + 1)
    )
    fixed = "".join(
        f'<link name="{child}"/><joint name="to_{child}" type="fixed"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{xyz}"/></joint>'
        for child, parent, xyz in (("tower", "base", "0 0.4 0"), ("tool", f"l{n}", "0.5 0 0"))
    )
    return lw.load(f'<robot name="arm"><link name="base"/>{links}{joints}{fixed}</robot>')
