"""Robots of urchin: loaded with their meshes or without, by tables that programs may change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwork.faces import urchin, urdfpy
from linkwork.faces.urchin import (
    URDF,
    Collision,
    Geometry,
    Joint,
    JointLimit,
    Link,
    Mesh,
    Visual,
    xyz_rpy_to_matrix,
)


@pytest.mark.row("U-006")
def test_a_description_is_loaded_with_its_meshes_or_without(file: Path):
    robot = URDF.load(str(file))
    link = robot.links[0]
    assert type(robot) is URDF
    assert [type(link), type(link.visuals[0])] == [Link, Visual]
    seen, hit = link.visuals[0].geometry, link.collisions[0].geometry
    assert [type(seen), type(seen.mesh), type(link.collisions[0])] == [Geometry, Mesh, Collision]
    assert [seen.mesh.combine, hit.mesh.combine] == [False, True]
    assert seen.mesh.lazy_filename == str(file.parent / "part.obj")
    assert np.allclose(robot.link_fk([0.5], link="b"), xyz_rpy_to_matrix([0, 0, 0, 0, 0, 0.5]))
    assert len(robot.visual_trimesh_fk()) == 1
    copy = robot.copy(prefix="p_", scale=2.0)
    assert type(copy.links[0].visuals[0].geometry.mesh) is Mesh
    assert len(copy.collision_trimesh_fk()) == 1
    (file.parent / "part.obj").unlink()
    assert URDF.load(str(file), lazy_load_meshes=True).links[0].name == "a"
    with pytest.raises(ValueError, match=r"part\.obj"):
        URDF.load(str(file), lazy_load_meshes=False)


@pytest.mark.row("U-001")
def test_tables_that_a_program_changes_count_for_both(monkeypatch: pytest.MonkeyPatch, file: Path):
    file.write_text(file.read_text().replace('effort="1" velocity="1" ', ""))
    with pytest.raises(ValueError, match="effort"):
        URDF.load(str(file))
    optional = {name: (float, False) for name in JointLimit._ATTRIBS}
    monkeypatch.setattr(urchin.JointLimit, "_ATTRIBS", optional)
    assert URDF.load(str(file)).joints[0].limit.effort is None

    class Marked(Joint):
        pass

    monkeypatch.setitem(URDF._ELEMENTS, "joints", (Marked, False, True))
    assert type(URDF.load(str(file)).joints[0]) is Marked
    assert type(urdfpy.URDF.load(str(file)).joints[0]) is Joint
