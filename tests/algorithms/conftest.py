"""Fixtures of the tests of the algorithms: a mechanism with everything, random ones, and JAX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from linkwork.mechanism.assemble import FramePart, JointPart, LinkPart, Mimic, Parts, assemble
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.spatial.rotations import from_rpy


def _joint(name: str, type: JointType, parent: str, child: str, **more) -> JointPart:
    rpy, xyz = more.pop("rpy", (0, 0, 0)), more.pop("xyz", (0, 0, 0))
    R = from_rpy(NUMPY, np.array(rpy, float))
    more["axis"] = np.array(more.get("axis", (0, 0, 1)), float)
    return JointPart(
        name=name, type=type, parent=parent, child=child, R=R, p=np.array(xyz, float), **more
    )


@pytest.fixture(scope="session")
def every_joint() -> Mechanism:
    """Every joint type, in a tree with couplings, exact and inexact placements, bare links."""
    T = JointType
    rng = np.random.default_rng(7)
    links = [
        LinkPart(name, mass, rng.normal(size=3))
        for name, mass in zip(
            "abcdefghijklm", (3, 2, 1, 0, 2, 1, 0.5, 0, 1, 0, 0.3, 0, 0.4), strict=True
        )
    ]
    joints = [
        _joint("float", T.FLOATING, "a", "b", rpy=(0.3, -0.2, 0.5), xyz=(0.1, 0.2, 0.3)),
        _joint("turn", T.REVOLUTE, "b", "c", axis=(1, 2, -2), xyz=(0.3, 0, 0.1), lower=-2, upper=1),
        _joint("glue", T.FIXED, "c", "d", rpy=(0.1, 0.2, 0.3), xyz=(0, 0.2, 0)),
        _joint("slide", T.PRISMATIC, "d", "e", axis=(0, -1, 0), xyz=(0, 0.1, 0), upper=0.4),
        _joint("wheel", T.CONTINUOUS, "e", "f", axis=(0, 0, -1), rpy=(np.pi / 2, 0, 0)),
        _joint("plane", T.PLANAR, "c", "g", axis=(1, 0, 0), xyz=(-0.2, 0, 0.1)),
        _joint(
            "copy", T.REVOLUTE, "g", "h", axis=(0, 1, 0), xyz=(0, 0, 0.2),
            mimic=Mimic("turn", -0.5, 0.3),
        ),
        _joint("copy2", T.PRISMATIC, "h", "i", axis=(1, 1, 0), mimic=Mimic("turn", 0.25)),
        _joint("ball", T.SPHERICAL, "i", "m", rpy=(0.2, 0.1, 0), xyz=(0.1, 0, 0.2), upper=1.5),
        _joint("last", T.REVOLUTE, "m", "j", axis=(0, 1, 0), xyz=(0, 0.3, 0)),
        _joint("side", T.REVOLUTE, "a", "k", rpy=(0, 0, 1), xyz=(1, 0, 0)),
        _joint("parallel", T.REVOLUTE, "k", "l", xyz=(0.2, 0, 0.1), mimic=Mimic("side", 1.0)),
    ]  # fmt: skip
    tool = FramePart("tool", "j", from_rpy(NUMPY, np.array([0.4, 0.5, -0.6])), rng.normal(size=3))
    return assemble(Parts(name="every joint", links=links, joints=joints, frames=[tool]))


@pytest.fixture(scope="session")
def aligned_tree() -> Callable[[np.random.Generator, int], Mechanism]:
    """A random tree in which most axes and placements lie along x, y or z, and many offsets are 0.

    It is what real robots look like, and where exact zeros and ones are made use of.
    """
    return random_aligned_tree


def random_aligned_tree(rng: np.random.Generator, n: int) -> Mechanism:
    types = [type for type in JointType if type is not JointType.FIXED]
    types += [JointType.REVOLUTE] * 4
    links, joints, leaders = [LinkPart("l0", 1.0, rng.normal(size=3))], [], []
    for k in range(n):
        type, mimic = types[rng.integers(len(types))], None
        if type.n_q == 1 and leaders and rng.random() < 0.2:
            mimic = Mimic(leaders[rng.integers(len(leaders))], rng.choice([1.0, -0.5]))
        elif type.n_q == 1:
            leaders.append(f"j{k}")
        steps = rng.integers(4, size=3) if rng.random() < 0.8 else rng.uniform(0, 4, 3)
        links.append(LinkPart(f"l{k + 1}", rng.choice([0.0, 0.7]), rng.normal(size=3)))
        joints.append(
            _joint(
                f"j{k}",
                type,
                f"l{max(0, k - rng.integers(2))}",
                f"l{k + 1}",
                rpy=steps * np.pi / 2,
                xyz=rng.choice([0, 0, 0.3, -0.2], 3),
                axis=np.eye(3)[rng.integers(3)] * rng.choice([-1, 1]),
                mimic=mimic,
            )
        )
    base = "floating" if rng.random() < 0.3 else "fixed"
    return assemble(Parts(name="aligned", links=links, joints=joints, base=base))


@pytest.fixture
def jax() -> Iterator[Any]:
    """JAX in float64, with all of XLA's optimisations; skips where it is missing.

    Joint by joint an algorithm is one long program, of which XLA makes less before LLVM has it.
    """
    module = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
    x64, quick = "jax_enable_x64", "jax_disable_most_optimizations"
    before = {x64: module.config.jax_enable_x64, quick: module.config.read(quick)}
    module.config.update(x64, True)
    module.config.update(quick, False)
    yield module
    for name, value in before.items():
        module.config.update(name, value)
