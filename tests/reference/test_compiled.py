"""Compiled code against CasADi's own machine: every algorithm, joint type and real robot.

Pinocchio is compared with the traced graphs (test_pinocchio.py); here the code that people call is
compared with the same graphs, many rows at once and one by one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynamics_cases import solid, static_of
from graph_values import of_traced
from linkwork.algorithms.independent_rows import check_movable
from linkwork.algorithms.registry import ALGORITHMS
from linkwork.compile.kernel import build
from linkwork.compile.tracing import trace
from linkwork.formats.urdf.read import read
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import Mechanism
from robots import every_joint_urdf, mechanism_from, random_tree, various_robot_urdfs
from robots import random_configuration as configuration
from seeds import rng

LARGE = [name for name, entry in ALGORITHMS.items() if entry.needs or name == "regressor"]
LARGE = [name for name in LARGE if not ALGORITHMS[name].needs_loops]
REFERENCES = ("world-aligned", "local", "world")


def check(m: Mechanism, name: str, static: dict[str, str], rows: int, label: str) -> None:
    """One algorithm of one mechanism, as a batch, one by one, and by CasADi's machine."""
    traced = trace(name, m, **static)
    kernel = build(traced)
    g = rng(label)
    kinds = [kind for _, kind in ALGORITHMS[name].inputs]
    given = [
        np.array(
            [configuration(g, m) if kind == "q" else g.normal(size=m.n_v) for _ in range(rows)]
        )
        for kind in kinds
    ]
    batch = kernel(*given)
    bound = kernel.bound()
    assert np.array_equal(batch, np.array([bound(*row) for row in zip(*given, strict=True)]))
    expected = of_traced(traced, *given).reshape(batch.shape)
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    within = 1e-9 if check_movable in ALGORITHMS[name].needs else 2e-13  # divided by masses
    np.testing.assert_allclose(batch, expected, rtol=0, atol=within * scale, err_msg=name)


def small_calls(
    m: Mechanism, frame: str, references: tuple[str, ...] = REFERENCES
) -> list[tuple[str, dict[str, str]]]:
    """Every algorithm that compiles soon, and those that have one with these references."""
    listed: list[tuple[str, dict[str, str]]] = []
    for name, entry in ALGORITHMS.items():
        if "reference" in entry.static:
            listed += [(name, {"frame": frame, "reference": r}) for r in references]
        elif name not in LARGE and not entry.needs_loops:
            listed.append((name, static_of(name, m, frame)))
    return listed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "references"), [("fixed", REFERENCES), ("floating", REFERENCES[1:2])]
)
def test_every_joint_type(base, references):
    m = mechanism_from(every_joint_urdf(), base=base)
    for name, static in small_calls(m, m.frame_names[m.n_link_frames - 1], references):
        check(m, name, static, 21, f"{name} {static}")


@pytest.mark.slow
def test_what_takes_long_to_compile():
    types = ("revolute", "prismatic", "planar", "continuous", "revolute")
    m = mechanism_from(solid(random_tree(rng("compiled dynamics"), 5, types)))
    for name in LARGE:
        check(m, name, {}, 21, name)


@pytest.mark.slow
def test_random_trees():
    g = rng("compiled tree")
    m = mechanism_from(random_tree(g, 9), base="floating")
    for name, static in small_calls(m, m.frame_names[m.n_link_frames - 1]):
        check(m, name, static, 19, f"{name} {static}")


@pytest.mark.sweep(3)
@pytest.mark.parametrize("path", various_robot_urdfs(), ids=lambda path: path.stem)
def test_real_robots(path: Path):
    m = from_urdf(read(path))
    depth = [len(m.ancestry(body)) for body in m.frame_body.tolist()]
    frame = m.frame_names[int(np.argmax(depth))]
    check(m, "jacobian", {"frame": frame}, 37, path.stem)


def test_a_batch_of_several_chunks():
    m = mechanism_from(random_tree(rng("chunks"), 6))
    check(m, "com", {}, 20_003, "chunks")
