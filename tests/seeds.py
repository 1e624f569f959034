"""One source of random numbers for all tests: seeded, and printed where a test fails."""

from __future__ import annotations

import os
import zlib
from typing import Any

import numpy as np


def rng(label: str) -> np.random.Generator:
    """A generator for this label; LINKWORK_TEST_SEED changes all of them at once."""
    seed = int(os.environ.get("LINKWORK_TEST_SEED", "0"))
    print(f"random seed: LINKWORK_TEST_SEED={seed} label={label!r}")
    return np.random.default_rng([seed, zlib.crc32(label.encode())])


def random_rotation(generator: np.random.Generator) -> np.ndarray:
    """A rotation, uniform over all of them."""
    w, x, y, z = (q := generator.normal(size=4)) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def random_pose(generator: np.random.Generator, at: Any = None) -> np.ndarray:
    """A pose (4, 4), turned in any way, at a place (3,) or near the origin."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = random_rotation(generator), generator.normal(size=3) if at is None else at
    return T
