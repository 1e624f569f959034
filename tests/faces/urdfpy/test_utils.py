"""Functions beside the classes, and rotations."""

from __future__ import annotations

import importlib
import io
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from linkwork.errors import InputError, ShapeError
from linkwork.faces import urdfpy
from linkwork.faces.urdfpy import (
    URDF,
    Box,
    Geometry,
    Joint,
    Link,
    Mesh,
    Visual,
    matrix_to_rpy,
    matrix_to_xyz_rpy,
    rpy_to_matrix,
    utils,
    xyz_rpy_to_matrix,
)
from linkwork.faces.urdfpy.utils import (
    configure_origin,
    get_filename,
    load_meshes,
    parse_origin,
    unparse_origin,
)
from robots import about, origin
from seeds import rng

# utils


@pytest.mark.row("S2-207", "S2-208")
def test_origins_are_read_and_written():
    values = rng("origins").uniform(-1, 1, (20, 6))
    for xyz, rpy in zip(values[:, :3], values[:, 3:], strict=True):
        T = origin(xyz, rpy)
        node = ET.Element("visual")
        node.append(unparse_origin(T))
        assert np.abs(parse_origin(node) - T).max() < 1e-15
    assert np.array_equal(parse_origin(ET.fromstring("<link/>")), np.eye(4))
    half = parse_origin(ET.fromstring('<link><origin rpy="0 0 0.5"/></link>'))
    assert np.abs(half - origin([0, 0, 0], [0, 0, 0.5])).max() < 1e-15
    assert dict(unparse_origin(np.eye(4)).attrib) == {"xyz": "0.0 0.0 0.0", "rpy": "0.0 0.0 0.0"}
    for wrong in ("1 2", "1 2 x", "1 2 3 4", "nan 0 0"):
        with pytest.raises(ValueError, match="xyz"):
            parse_origin(ET.fromstring(f'<link><origin xyz="{wrong}"/></link>'))


@pytest.mark.row("S2-209")
def test_what_an_origin_may_be_given_as():
    T = origin([1, 2, 3], [0.1, 0.2, 0.3])
    assert np.array_equal(configure_origin(None), np.eye(4))
    assert np.array_equal(configure_origin(T), T)
    assert np.array_equal(configure_origin(T.tolist()), T)
    for six in ([1, 2, 3, 0.1, 0.2, 0.3], (1, 2, 3, 0.1, 0.2, 0.3)):
        assert np.abs(configure_origin(six) - T).max() < 1e-15
    with pytest.raises(ValueError, match="shape"):
        configure_origin([1, 2, 3])
    with pytest.raises(TypeError):
        configure_origin("origin")


def test_an_origin_that_scales_is_taken_and_said(tmp_path: Path):
    T = origin([1, 2, 3], [0.1, 0.2, 0.3])
    scaled = T @ np.diag([2.0, 2.0, 2.0, 1.0])
    assert np.array_equal(configure_origin(scaled), scaled)
    with pytest.warns(UserWarning, match="scales by 2 2 2"):
        node = unparse_origin(scaled)
    parent = ET.Element("link")
    parent.append(node)
    assert np.abs(parse_origin(parent) - T).max() < 1e-14
    link = Link("b", None, [Visual(Geometry(box=Box([1, 1, 1])), origin=scaled)], None)
    joint = Joint("j", "fixed", "a", "b", origin=scaled)
    robot = URDF("r", [Link("a", None, None, None), link], [joint])
    assert np.abs(robot.link_fk(link="b") - scaled).max() < 1e-14
    ((pose),) = robot.visual_geometry_fk().values()
    assert np.abs(pose - scaled @ scaled).max() < 1e-14
    with pytest.warns(UserWarning, match=r"joint 'j': an origin scales by 2 2 2"):
        robot.save(str(tmp_path / "r.urdf"))
    again = URDF.load(str(tmp_path / "r.urdf"))
    assert np.abs(again.joints[0].origin - T).max() < 1e-14
    robot.joints[0].origin = T @ np.diag([1.0, 1.0, -1.0, 1.0])
    with pytest.raises(ValueError, match="mirrored"):
        robot.save(io.StringIO())


@pytest.mark.row("S2-210")
def test_names_of_files(tmp_path: Path):
    base = str(tmp_path)
    assert get_filename(base, "x/y.stl") == f"{base}/x/y.stl"
    assert get_filename(base, "/x/y.stl") == "/x/y.stl"
    assert not (tmp_path / "x").exists()
    assert get_filename(base, "x/y.stl", makedirs=True) == f"{base}/x/y.stl"
    assert (tmp_path / "x").is_dir()
    assert not (tmp_path / "x" / "y.stl").exists()


OBJ = """o one
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 2 3
f 1 3 4
"""


@pytest.mark.row("S2-211")
def test_meshes_say_which_file_they_are_from(tmp_path: Path):
    path = tmp_path / "shape.obj"
    path.write_text(OBJ)
    (mesh,) = load_meshes(str(path))
    assert len(mesh.faces) == 2
    text = (
        '<robot name="r"><link name="l"><visual>{0}</visual><collision>{0}</collision></link>'
        "</robot>"
    ).format('<geometry><mesh filename="shape.obj"/></geometry>')
    (tmp_path / "r.urdf").write_text(text)
    link = URDF.load(str(tmp_path / "r.urdf")).links[0]
    shapes = [link.visuals[0], link.collisions[0]]
    found = [mesh, *Mesh(str(path)).meshes, *(one for s in shapes for one in s.geometry.meshes)]
    for one in found:
        assert one.metadata["file_name"] == "shape.obj"
        assert one.metadata["file_path"] == str(path)
    with pytest.raises(ValueError, match="nowhere"):
        load_meshes(str(tmp_path / "nowhere.stl"))


def test_pieces_of_a_file_keep_their_names(tmp_path: Path):
    trimesh = pytest.importorskip("trimesh")
    scene = trimesh.Scene()
    for name in ("left", "right"):
        scene.add_geometry(trimesh.creation.box((1, 1, 1)), geom_name=name, node_name=name)
    path = tmp_path / "two.glb"
    scene.export(str(path))
    assert {mesh.metadata["name"] for mesh in load_meshes(str(path))} == {"left", "right"}


@pytest.mark.parametrize("name", ["urdf", "utils", "version"])
def test_submodules_are_there_without_installing(name: str):
    module = importlib.import_module(f"linkwork.faces.urdfpy.{name}")
    assert isinstance(getattr(urdfpy, name), ModuleType)
    assert getattr(urdfpy, name) is module
    assert importlib.import_module("linkwork.faces.urdfpy.urdf").JointLimit is urdfpy.JointLimit
    assert utils.rpy_to_matrix is urdfpy.rpy_to_matrix
    assert urdfpy.version.__version__ == urdfpy.__version__


# rotations


@pytest.mark.row("S2-020")
def test_a_matrix_is_turns_about_the_fixed_axes_x_y_z():
    for r, p, y in rng("rpy").uniform(-4, 4, (50, 3)):
        expected = about([0, 0, 1], y) @ about([0, 1, 0], p) @ about([1, 0, 0], r)
        made = rpy_to_matrix([r, p, y])
        assert made.dtype == np.float64
        assert np.abs(made - expected).max() < 2e-15


@pytest.mark.row("S2-021")
@pytest.mark.parametrize("solution", [1, 2])
def test_both_sets_of_angles_give_the_matrix_back(solution: int):
    for coords in rng("back").uniform(-np.pi, np.pi, (200, 3)):
        R = rpy_to_matrix(coords)
        angles = matrix_to_rpy(R, solution=solution)
        assert np.abs(rpy_to_matrix(angles) - R).max() < 3e-15
        near = abs(angles[1]) <= np.pi / 2
        assert near == (solution == 1)


@pytest.mark.row("S2-021")
@pytest.mark.parametrize("sign", [1, -1])
def test_at_a_quarter_turn_the_yaw_is_zero(sign: int):
    for roll, yaw in rng("lock").uniform(-1.5, 1.5, (20, 2)):
        R = rpy_to_matrix([roll, sign * np.pi / 2, yaw])
        angles = matrix_to_rpy(R)
        assert angles[1] == sign * np.pi / 2
        assert angles[2] == 0.0
        assert np.isclose(angles[0], roll - sign * yaw, atol=1e-14)
        assert np.abs(rpy_to_matrix(angles) - R).max() < 1e-15


@pytest.mark.row("S2-021")
@pytest.mark.parametrize("solution", [1, 2])
def test_near_a_quarter_turn_no_digits_are_lost(solution: int):
    for off in 10.0 ** np.arange(-16, 0):
        for sign in (1, -1):
            R = rpy_to_matrix([0.4, sign * (np.pi / 2 - off), -1.1])
            back = rpy_to_matrix(matrix_to_rpy(R, solution))
            # asin would be 1e-8 off, a threshold of 1e-12 on the sine 1e-6
            assert np.abs(back - R).max() < 3e-12 if off < 1e-11 else 3e-15


@pytest.mark.row("S2-022", "S2-023")
def test_a_pose_of_six_numbers_and_back():
    for row in rng("pose").uniform(-1.4, 1.4, (20, 6)):
        made = xyz_rpy_to_matrix(row)
        assert np.abs(made - origin(row[:3], row[3:])).max() < 2e-15
        assert np.allclose(matrix_to_xyz_rpy(made), row, atol=1e-14)


@pytest.mark.row("S2-020", "S2-021", "S2-022", "S2-023")
@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        (rpy_to_matrix, [1, 2]),
        (matrix_to_rpy, np.eye(4)),
        (xyz_rpy_to_matrix, np.zeros(7)),
        (matrix_to_xyz_rpy, np.eye(3)),
    ],
)
def test_other_shapes_and_other_things_are_refused(call, wrong):
    with pytest.raises(ShapeError):
        call(wrong)
    with pytest.raises(InputError):
        call("abc")
    shape = {rpy_to_matrix: 3, matrix_to_rpy: (3, 3), xyz_rpy_to_matrix: 6}.get(call, (4, 4))
    for bad in (np.nan, np.inf, -np.inf):
        numbers = np.eye(*shape) if isinstance(shape, tuple) else np.zeros(shape)
        numbers.flat[-1] = bad
        with pytest.raises(InputError, match="must be finite"):
            call(numbers)
