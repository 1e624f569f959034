"""From trimesh's reading to pieces: looked at before they are used, placed once, copied whole."""

from __future__ import annotations

import warnings
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import mesh_files as made
from linkwork.errors import InputError
from linkwork.geometry import looks, pieces
from linkwork.geometry.beside import Beside
from linkwork.geometry.guards_dae import without
from linkwork.geometry.pieces import Piece
from mesh_files import CORNERS, FACES, written
from seeds import rng

trimesh = pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")
pytest.importorskip("collada", reason="pycollada (pip install pycollada) is not installed")


def read(data: bytes, name: str, folder: Path = Path("nowhere")) -> list[Piece]:
    path = folder / name
    return pieces.read(BytesIO(data), path, Beside(path, ()))


def raw(monkeypatch: pytest.MonkeyPatch, **arrays: Any) -> list[Piece]:
    """The pieces where trimesh's reader gives these arrays."""
    monkeypatch.setitem(
        trimesh.exchange.load.mesh_loaders, "stl", lambda **_: {"geometry": {"body": arrays}}
    )
    return read(b"", "a.stl")


@pytest.mark.parametrize("name", made.EVERY)
def test_every_format_gives_one_piece_with_its_corners_merged(name: str):
    (piece,) = read(made.EVERY[name], name)
    assert isinstance(piece.mesh, trimesh.Trimesh)
    assert piece.mesh.vertices.shape == (4, 3) and piece.mesh.faces.shape == (4, 3)
    np.testing.assert_array_equal(piece.T_file_piece, np.eye(4))


def test_names_are_those_of_the_file_or_its_own():
    assert read(made.stl(), "arm.stl")[0].name == "arm"
    assert read(made.glb(), "a.glb")[0].name == "body"
    assert read(made.dae(), "a.dae")[0].name == "body"


def test_a_piece_has_the_pose_of_each_of_its_nodes():
    places = [{"mesh": 0, "translation": [float(k), 0, 0]} for k in range(3)]
    tree, data = made.gltf_tree(nodes=places, scenes=[{"nodes": [0, 1, 2]}])
    found = read(made.glb(tree, data), "a.glb")
    assert [piece.T_file_piece[0, 3] for piece in found] == [0, 1, 2]
    for piece in found:  # still in its own frame
        np.testing.assert_allclose(piece.mesh.bounds, [[0, 0, 0], [1, 2, 3]], atol=1e-6)
    assert len({id(piece.mesh) for piece in found}) == 3  # settling one must not move the others


def test_settling_applies_both_poses_in_their_order():
    g = rng("pieces")
    T_file_piece, T_link_file = np.eye(4), np.eye(4)
    T_file_piece[:3, :] = g.normal(size=(3, 4))
    T_link_file[:3, :] = g.normal(size=(3, 4))
    piece = Piece(trimesh.Trimesh(CORNERS, FACES, process=False), "a", T_file_piece, looks.Look())
    piece.settle(T_link_file, Path("a.stl"))
    whole = np.column_stack([CORNERS, np.ones(4)]) @ (T_link_file @ T_file_piece).T
    np.testing.assert_allclose(piece.mesh.vertices, whole[:, :3], rtol=1e-12)


def test_nothing_is_rounded_where_nothing_moves():
    corners = CORNERS * 0.1 + 1e-17
    piece = Piece(trimesh.Trimesh(corners, FACES, process=False), "a", np.eye(4), looks.Look())
    piece.settle(np.eye(4), Path("a.stl"))
    np.testing.assert_array_equal(piece.mesh.vertices, corners)


def test_a_pose_that_throws_a_piece_to_infinity_is_refused():
    far = np.diag([1e300, 1, 1, 1])
    piece = Piece(trimesh.Trimesh(CORNERS, FACES, process=False), "a", far, looks.Look())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy's, of numbers that become too large
        with pytest.raises(InputError, match=r"a\.dae.*not finite where the file puts them"):
            piece.settle(far, Path("a.dae"))


def test_a_copy_shares_nothing_and_wears_the_same(tmp_path: Path):
    written(tmp_path / "skin.png", made.png(5, 3))
    written(tmp_path / "a.mtl", b"newmtl m\nKd 1 0.2 0\nmap_Kd skin.png\n")
    text = made.obj(before="mtllib a.mtl\nvt 0 0\nusemtl m").replace(b"f 1 3 2", b"f 1/1 3/1 2/1")
    path = tmp_path / "a.obj"
    (piece,) = pieces.read(BytesIO(text), path, Beside(path, (), ["a.mtl"]))
    assert piece.look.rgba == (1, 0.2, 0, 1) and piece.look.texture == tmp_path / "skin.png"
    one, two = piece.copy(), piece.copy()
    assert one.visual.material.image.size == (5, 3)
    one.apply_translation([9, 9, 9])
    one.visual.material.diffuse[0] = 7
    one.visual.material.image.putpixel((0, 0), 1)
    assert two.visual.material.diffuse[0] == 255 and two.visual.material.image.getpixel((0, 0)) > 1
    np.testing.assert_allclose(two.bounds, piece.mesh.bounds)
    assert piece.size() >= 2 * piece.mesh.vertices.nbytes + len(made.png(5, 3))


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"vertices": CORNERS, "faces": FACES + 1}, "vertex 4, and there are 4"),
        ({"vertices": CORNERS, "faces": FACES - 1}, "vertex -1, and there are 4"),
        ({"vertices": CORNERS[:, :2], "faces": FACES}, r"shape \(4, 2\)"),
        ({"vertices": CORNERS, "faces": FACES.ravel()}, r"shape \(12,\)"),
        ({"vertices": np.where(CORNERS == 3, np.nan, CORNERS), "faces": FACES}, "1 of 4 vertices"),
        ({"vertices": np.full((1200, 3), np.inf), "faces": FACES}, "1,200 of 1,200 vertices"),
    ],
)
def test_arrays_are_looked_at_before_trimesh_mends_them(
    monkeypatch: pytest.MonkeyPatch, arrays: dict[str, Any], said: str
):
    with pytest.raises(InputError, match=rf"a\.stl.*{said}"):
        raw(monkeypatch, **arrays)


def test_what_has_no_faces_is_no_piece(monkeypatch: pytest.MonkeyPatch):
    assert raw(monkeypatch, vertices=CORNERS) == []
    assert raw(monkeypatch, vertices=CORNERS, faces=np.zeros((0, 3), int)) == []
    assert len(raw(monkeypatch, vertices=CORNERS, faces=FACES)) == 1


def test_a_file_without_some_elements_keeps_its_shapes():
    data = made.dae(
        f"<node><translate>1 2 3</translate>{made.instance(material='red')}</node>",
        made.geometry(material="red"),
        unit='<unit meter="0.5"/>',
        libraries=made.material("red", "<color>1 0 0 1</color>"),
    )
    assert read(data, "a.dae")[0].look.rgba == (1, 0, 0, 1)
    plain = without(data, frozenset({"bind_material", "library_effects"}))
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(plain).iter()}
    assert tags.isdisjoint({"bind_material", "instance_material", "library_effects", "effect"})
    assert {"unit", "translate", "geometry", "library_materials"} <= tags
    (piece,) = read(plain, "a.dae")
    assert piece.look.rgba is None
    np.testing.assert_allclose(piece.T_file_piece[:3, 3], [1, 2, 3])
    np.testing.assert_allclose(np.ptp(piece.mesh.vertices, axis=0), [1, 2, 3])
