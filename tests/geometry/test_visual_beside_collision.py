"""Meshes of real robots: what a link shows and what it bumps into are at one place.

TIAGo's collision meshes and the visual mesh of Baxter's torso say that y is up; their counterparts
say nothing, or that z is. Both stand together only if the coordinates are taken as they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.formats.urdf import records
from linkwork.geometry import load
from linkwork.loading import load as loaded
from linkwork.loading import read
from linkwork.locating import locate
from linkwork.mechanism.from_urdf import rotation_from_rpy
from robots import example_robot_urdfs

pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")
pytest.importorskip("collada", reason="pycollada (pip install pycollada) is not installed")


def box(shapes: Any, file: Path, axes: load.Axes) -> np.ndarray:
    """The box (2, 3) around the meshes of a link, in its frame."""
    points: list[np.ndarray] = []
    for shape in shapes:
        path = locate(shape.geometry.filename, file)
        corners = np.asarray(load.load(path, axes=axes).mesh().vertices) * shape.geometry.scale
        points.append(corners @ rotation_from_rpy(shape.rpy).T + np.asarray(shape.xyz))
    return np.stack([np.vstack(points).min(axis=0), np.vstack(points).max(axis=0)])


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    """What two boxes have in common, as a part of what they cover together."""
    edges = np.minimum(a[1], b[1]) - np.maximum(a[0], b[0])
    common = float(np.prod(np.clip(edges, 0, None)))
    return common / float(np.prod(a[1] - a[0]) + np.prod(b[1] - b[0]) - common)


@pytest.mark.parametrize(
    ("name", "links"),
    [
        ("baxter.urdf", ["torso"]),
        ("tiago.urdf", ["torso_lift_link", "head_1_link", "arm_1_link", "arm_3_link"]),
        ("tiago_dual.urdf", ["arm_left_5_link", "arm_left_6_link"]),
    ],
)
def test_what_is_shown_is_where_it_bumps(name: str, links: list[str]):
    file = next((path for path in example_robot_urdfs() if path.name == name), None)
    if file is None:
        pytest.skip(f"{name} is not in this version of example-robot-data")
    document = read(file)
    robot = loaded(document)
    for link in document.robot.links:
        if link.name not in links:
            continue
        shapes = [*link.visuals, *link.collisions]
        assert shapes and all(isinstance(shape.geometry, records.Mesh) for shape in shapes)
        shown, bumped = (
            robot.link_mesh(link.name, kind).bounds for kind in ("visual", "collision")
        )
        assert overlap(shown, bumped) > 0.95, link.name
        # and the comparison can tell: turned, they are apart
        turned = (box(s, file, "declared") for s in (link.visuals, link.collisions))
        assert overlap(*turned) < 0.6, link.name
        links = [other for other in links if other != link.name]
    assert not links, f"no link of this name: {links}"
