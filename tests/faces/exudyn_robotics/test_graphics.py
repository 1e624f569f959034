"""What is drawn: closed surfaces of the right size, which exudyn takes."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest

from linkwork.faces import exudyn_robotics as face
from linkwork.faces.exudyn_robotics import graphics

SHAPES = {
    "brick": (graphics.Brick([1, 2, 3], [0.1, 0.2, 0.3]), 0.006),
    "cylinder": (
        graphics.Cylinder([1, 0, 0], [0, 0.3, 0.4], 0.2, nTiles=200),
        0.5 * math.pi * 0.04,
    ),
    "sphere": (graphics.Sphere([1, 2, 3], 0.5, nTiles=100), math.pi / 6.0),
}


def corners(data: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    points = np.reshape(data["points"], (-1, 3))
    return points, points[np.reshape(data["triangles"], (-1, 3))]


def box(data: dict[str, Any]) -> list[float]:
    points = np.reshape(data["points"], (-1, 3))
    return [*points.min(axis=0), *points.max(axis=0)]


@pytest.mark.parametrize("name", SHAPES)
def test_surfaces_are_closed_and_look_outward(name: str):
    data, volume = SHAPES[name]
    points, faces = corners(data)
    assert np.linalg.det(faces).sum() / 6.0 == pytest.approx(volume, rel=1e-3)
    ways = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    assert ways.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    normals = np.reshape(data["normals"], (-1, 3))[np.reshape(data["triangles"], (-1, 3))]
    assert (np.einsum("ij,ikj->ik", ways, normals) > -1e-9).all()
    assert len(data["colors"]) == 4 * len(points)


def test_what_is_moved_is_a_copy():
    data = graphics.Brick()
    turn = face.transformations.HTrotateZ(math.pi / 2)[:3, :3]
    moved = graphics.Move(data, [1, 2, 3], turn)
    assert box(moved) == pytest.approx([0.95, 1.95, 2.95, 1.05, 2.05, 3.05])
    assert box(data) == pytest.approx([-0.05] * 3 + [0.05] * 3)
    line = graphics.Move(graphics.Lines([[0, 0, 0], [1, 0, 0]]), [0, 0, 1], turn)
    assert line["data"] == pytest.approx([0, 0, 1, 0, 1, 1])
    with pytest.raises(ValueError, match="3 tiles"):
        graphics.Cylinder(nTiles=2)


def test_exudyn_takes_all_and_has_the_same_sizes():
    pytest.importorskip("exudyn", reason="exudyn is not installed")
    exudyn: Any = importlib.import_module("exudyn")
    items: Any = importlib.import_module("exudyn.itemInterface")
    theirs: Any = importlib.import_module("exudyn.graphics")
    drawn = [
        ("Brick", dict(centerPoint=[1, 2, 3], size=[0.1, 0.2, 0.3], color=graphics.color.red)),
        ("Cylinder", dict(pAxis=[1, 0, 0], vAxis=[0, 0, 2], radius=0.1, nTiles=8)),
        ("CheckerBoard", dict(point=[1, 1, 1], size=4, nTiles=4)),
        ("Sphere", dict(point=[1, 1, 1], radius=0.5)),
        ("Basis", dict(length=0.5)),
        ("Lines", dict(pList=[[0, 0, 0], [1, 0, 0]])),
    ]
    data = [getattr(graphics, name)(**options) for name, options in drawn]
    look = items.VObjectGround(graphicsData=data)
    exudyn.SystemContainer().AddSystem().AddObject(items.ObjectGround(visualization=look))
    for (name, options), ours in zip(drawn[:3], data, strict=False):
        assert box(getattr(theirs, name)(**options)) == pytest.approx(box(ours), abs=1e-6)
    assert vars(graphics.color).items() <= vars(theirs.color).items()
    assert graphics.colorList == theirs.colorList


def arm(module: Any) -> Any:
    robot = module.Robot()
    for _ in range(2):
        robot.AddLink(module.RobotLink(1.0, [0.1, 0.2, 0.3], np.eye(3)))
    return robot


ENDS = ([0, 0, 0], [0.5, 0, 0], [0, 0, 1], [0, 1, 0])


@pytest.mark.row("S4-049", "S4-010")
def test_parts_of_a_link():
    look = face.VRobotLink(linkColor=[1, 0, 0, 0.5])
    cube, first, second, link = arm(face).GetLinkGraphicsData(1, *ENDS, look)
    assert box(cube) == pytest.approx([0.094, 0.194, 0.294, 0.106, 0.206, 0.306])
    assert cube["colors"][:4] == pytest.approx([0.8, 0, 0, 0.5])
    assert box(first) == pytest.approx([-0.06, -0.06, -0.06, 0.06, 0.06, 0.0])
    assert box(second)[1::3] == pytest.approx([0.0, 0.06])
    assert box(link)[::3] == pytest.approx([0.0, 0.5])
    assert len(arm(face).GetLinkGraphicsData(0, *ENDS, look)) == 3
    look.showCOM = False
    assert len(arm(face).GetLinkGraphicsData(0, ENDS[0], ENDS[0], *ENDS[2:], look)) == 1


@pytest.mark.row("S4-049")
@pytest.mark.parametrize("i", [0, 1])
def test_parts_of_a_link_as_the_original_draws_them(i: int):
    original = pytest.importorskip("exudyn.robotics", reason="exudyn is not installed")
    theirs = arm(original).GetLinkGraphicsData(i, *ENDS, original.VRobotLink())
    ours = arm(face).GetLinkGraphicsData(i, *ENDS, face.VRobotLink())
    for a, b in zip(ours, theirs, strict=True):
        assert box(a) == pytest.approx(box(b), abs=1e-6)
        assert np.ravel(a["colors"])[:4] == pytest.approx(np.ravel(b["colors"])[:4])
