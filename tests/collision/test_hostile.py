"""Shapes that no robot should have: each gives a right answer, or an error that names it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

import linkwork as lw
from linkwork.errors import InputError, LinkworkError

BOX = trimesh.creation.box((0.1, 0.1, 0.1))
TRIANGLE = ([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]], [[0, 1, 2]])
LINE = ([[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]], [[0, 1, 2]])


def robot_with(geometry: str) -> lw.Robot:
    """A box that turns about z, and 0.5 m in front of it a shape that slides across."""
    return lw.load(
        f"""<robot name="r"><link name="base"/><link name="m"/>
<link name="a"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
<link name="b"><collision><geometry>{geometry}</geometry></collision></link>
<joint name="j0" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="j1" type="prismatic"><parent link="a"/><child link="m"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="j2" type="prismatic"><parent link="m"/><child link="b"/><origin xyz="0.5 0 0"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    )


def mesh(folder: Path, vertices: Any, faces: Any, more: str = "") -> str:
    path = folder / "mesh.stl"
    trimesh.Trimesh(vertices, faces, process=False).export(path)
    return f'<mesh filename="{path}" {more}/>'


def gap_of(geometry: str, folder: Path) -> float:
    """The clearance where the shape is in front, after it was seen to touch where it is not."""
    model = robot_with(geometry).collision(allow=[folder])
    assert not model.collides([0.0, 0.0, 0.0])
    assert model.collides([0.0, -0.5, 0.0])
    return float(model.clearance([0.0, 0.0, 0.0]).distance)


@pytest.mark.parametrize(
    ("vertices", "faces", "more", "gap"),
    [
        (BOX.vertices, BOX.faces[:, ::-1], "", 0.4),
        (BOX.vertices, BOX.faces, 'scale="-1 1 1"', 0.4),
        (BOX.vertices, BOX.faces, 'scale="0 1 1"', 0.45),
        (BOX.vertices * 1e-9, BOX.faces, "", 0.45),
        (*TRIANGLE, "", 0.45),
        (*LINE, "", 0.45),
    ],
    ids=["inverted", "mirrored", "scaled to a plane", "tiny", "a triangle", "a line"],
)
def test_odd_meshes_are_where_they_are(
    tmp_path: Path, vertices: Any, faces: Any, more: str, gap: float
) -> None:
    assert gap_of(mesh(tmp_path, vertices, faces, more), tmp_path) == pytest.approx(gap, abs=2e-9)


@pytest.mark.parametrize(
    ("geometry", "gap"),
    [
        ('<sphere radius="0"/>', 0.45),
        ('<box size="0 0 0"/>', 0.45),
        ('<cylinder radius="0" length="0.1"/>', 0.45),
        ('<cylinder radius="0.1" length="0"/>', 0.35),
    ],
)
def test_solids_of_size_zero_are_points_lines_and_discs(
    tmp_path: Path, geometry: str, gap: float
) -> None:
    assert gap_of(geometry, tmp_path) == pytest.approx(gap, abs=2e-9)


@pytest.mark.parametrize(
    "size", [*(pytest.param(s, marks=pytest.mark.slow) for s in (1e7, 1e13)), 1e30]
)
def test_enormous_ones_always_touch_and_the_table_says_so(tmp_path: Path, size: float) -> None:
    for geometry in (mesh(tmp_path, BOX.vertices * size, BOX.faces), f'<sphere radius="{size}"/>'):
        model = robot_with(geometry).collision(allow=[tmp_path])
        assert model.pairs.reason("a", "b").startswith("always touch")
        forced = model.with_pairs(check=[("a", "b")])
        assert forced.collides(np.zeros((20, 3))).all()


def test_what_is_no_number_is_named(tmp_path: Path) -> None:
    for number in (np.nan, np.inf):
        vertices = BOX.vertices.copy()
        vertices[0, 0] = number
        geometry = mesh(tmp_path, vertices, BOX.faces)
        with pytest.raises(InputError, match=r"'b'.*not finite"):
            robot_with(geometry).collision(allow=[tmp_path])
    for geometry in ('<sphere radius="-1"/>', '<sphere radius="nan"/>'):
        with pytest.raises(LinkworkError, match="radius"):
            robot_with(geometry).collision()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"solid x\nendsolid x\n", "no faces"),
        (b"\x93" * 80 + b"\xff\xff\xff\x0f" + b"\x01" * 416, "claims"),
        (None, "is not found"),
    ],
    ids=["no bytes", "no faces", "cut off", "missing"],
)
def test_files_that_hold_no_mesh_are_named(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    path = tmp_path / "odd.stl"
    if content is not None:
        path.write_bytes(content)
    robot = robot_with(f'<mesh filename="{os.fspath(path)}"/>')
    with pytest.raises(InputError, match=rf"(?s)'b'.*odd\.stl.*{words}"):
        robot.collision(allow=[tmp_path])
