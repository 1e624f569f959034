"""One source of random numbers for all tests: seeded, and printed where a test fails."""

from __future__ import annotations

import os
import zlib

import numpy as np


def rng(label: str) -> np.random.Generator:
    """A generator for this label; LINKWORK_TEST_SEED changes all of them at once."""
    seed = int(os.environ.get("LINKWORK_TEST_SEED", "0"))
    print(f"random seed: LINKWORK_TEST_SEED={seed} label={label!r}")
    return np.random.default_rng([seed, zlib.crc32(label.encode())])
