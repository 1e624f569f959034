"""Parts of mesh files: looked at before they are used, placed once, with their materials."""

from __future__ import annotations

import warnings
from base64 import b64encode
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import mesh_files as made
from linkwork.errors import InputError
from linkwork.geometry.guards_dae import without
from linkwork.geometry.load import Material, MeshPart, forget, load, parts_of
from linkwork.geometry.material_files import Resolver
from mesh_files import CORNERS, FACES, written
from seeds import rng

trimesh = pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")
pytest.importorskip("collada", reason="pycollada (pip install pycollada) is not installed")
pytest.importorskip("PIL", reason="Pillow (pip install pillow) is not installed")


@pytest.fixture(autouse=True)
def _nothing_kept():
    forget()


def read(data: bytes, name: str, folder: Path = Path("nowhere")) -> list[MeshPart]:
    path = folder / name
    return parts_of(data, path, Resolver(path, ()))


def raw(monkeypatch: pytest.MonkeyPatch, **arrays: Any) -> list[MeshPart]:
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
    np.testing.assert_array_equal(piece.T_file_part, np.eye(4))


def test_names_are_those_of_the_file_or_its_own():
    assert read(made.stl(), "arm.stl")[0].name == "arm"
    assert read(made.glb(), "a.glb")[0].name == "body"
    assert read(made.dae(), "a.dae")[0].name == "body"


def test_a_piece_has_the_pose_of_each_of_its_nodes():
    places = [{"mesh": 0, "translation": [float(k), 0, 0]} for k in range(3)]
    tree, data = made.gltf_tree(nodes=places, scenes=[{"nodes": [0, 1, 2]}])
    found = read(made.glb(tree, data), "a.glb")
    assert [piece.T_file_part[0, 3] for piece in found] == [0, 1, 2]
    for piece in found:  # still in its own frame
        np.testing.assert_allclose(piece.mesh.bounds, [[0, 0, 0], [1, 2, 3]], atol=1e-6)
    assert len({id(piece.mesh) for piece in found}) == 3  # settling one must not move the others


def test_settling_applies_both_poses_in_their_order():
    g = rng("pieces")
    T_file_part, T_link_file = np.eye(4), np.eye(4)
    T_file_part[:3, :] = g.normal(size=(3, 4))
    T_link_file[:3, :] = g.normal(size=(3, 4))
    piece = MeshPart(trimesh.Trimesh(CORNERS, FACES, process=False), "a", T_file_part, Material())
    piece.settle(T_link_file, Path("a.stl"))
    whole = np.column_stack([CORNERS, np.ones(4)]) @ (T_link_file @ T_file_part).T
    np.testing.assert_allclose(piece.mesh.vertices, whole[:, :3], rtol=1e-12)


def test_nothing_is_rounded_where_nothing_moves():
    corners = CORNERS * 0.1 + 1e-17
    piece = MeshPart(trimesh.Trimesh(corners, FACES, process=False), "a", np.eye(4), Material())
    piece.settle(np.eye(4), Path("a.stl"))
    np.testing.assert_array_equal(piece.mesh.vertices, corners)


def test_a_pose_that_throws_a_piece_to_infinity_is_refused():
    far = np.diag([1e300, 1, 1, 1])
    piece = MeshPart(trimesh.Trimesh(CORNERS, FACES, process=False), "a", far, Material())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy's, of numbers that become too large
        with pytest.raises(InputError, match=r"a\.dae.*not finite where the file puts them"):
            piece.settle(far, Path("a.dae"))


def test_a_copy_shares_nothing_and_wears_the_same(tmp_path: Path):
    written(tmp_path / "skin.png", made.png(5, 3))
    written(tmp_path / "a.mtl", b"newmtl m\nKd 1 0.2 0\nmap_Kd skin.png\n")
    text = made.obj(before="mtllib a.mtl\nvt 0 0\nusemtl m").replace(b"f 1 3 2", b"f 1/1 3/1 2/1")
    path = tmp_path / "a.obj"
    (piece,) = parts_of(text, path, Resolver(path, (), ["a.mtl"]))
    assert piece.material.rgba == (1, 0.2, 0, 1) and piece.material.texture == tmp_path / "skin.png"
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
    assert read(data, "a.dae")[0].material.rgba == (1, 0, 0, 1)
    plain = without(data, frozenset({"bind_material", "library_effects"}))
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(plain).iter()}
    assert tags.isdisjoint({"bind_material", "instance_material", "library_effects", "effect"})
    assert {"unit", "translate", "geometry", "library_materials"} <= tags
    (piece,) = read(plain, "a.dae")
    assert piece.material.rgba is None
    np.testing.assert_allclose(piece.T_file_part[:3, 3], [1, 2, 3])
    np.testing.assert_allclose(np.ptp(piece.mesh.vertices, axis=0), [1, 2, 3])


# materials: to each part its own, with the picture's file

CORNERS_AND_UV = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
FACE = "f 1/1 2/2 3/3\n"


def obj(folder: Path, mtl: str, library: str = "m.mtl", name: str = "a.obj") -> Path:
    written(folder / library.replace("\\", "/"), mtl.encode())
    text = f"mtllib {library}\n{CORNERS_AND_UV}usemtl m\n{FACE}"
    return written(folder / name, text.encode())


@pytest.mark.parametrize(
    ("lines", "rgba"),
    [
        ("Kd 1 0 0.2", (1, 0, 0.2, 1)),
        ("Kd 1 0 0.2\nd 0.4", (1, 0, 0.2, 0.4)),
        ("d 0.4\nKd 1 0 0.2", (1, 0, 0.2, 0.4)),
        ("Kd 1 0 0.2\nTr 0.6", (1, 0, 0.2, 0.4)),
        ("Kd 1 0 0.2\nd 1\nTr 1", (1, 0, 0.2, 1)),
        ("Kd 1 0 0.2\nTr 1", (1, 0, 0.2, 1)),  # some write it for opaque
        ("Kd 1 0 0.2\nd 0", (1, 0, 0.2, 1)),
        ("Kd 1 0 0.2\nd 7", (1, 0, 0.2, 1)),
        ("Kd 1 0 0.2\nd x", (1, 0, 0.2, 1)),
    ],
)
def test_colors_of_obj(tmp_path: Path, lines: str, rgba: tuple[float, ...]):
    loaded = load(obj(tmp_path, f"newmtl other\nKd 0 0 0\nnewmtl m\n{lines}\n"))
    np.testing.assert_allclose(loaded.parts[0].rgba, rgba, atol=1e-12)
    assert not loaded.left_out


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("skin.png", "skin.png"),
        ("textures/skin.png", "textures/skin.png"),
        ("textures\\skin.png", "textures/skin.png"),
        ("./skin.png", "skin.png"),
        ("my skin.png", "my skin.png"),
        ("-s 1 1 1 skin.png", "skin.png"),
        ("-clamp on -bm 0.5 my skin.png", "my skin.png"),
        ("skin%20of%20mine.png", "skin of mine.png"),
    ],
)
def test_textures_of_obj(tmp_path: Path, line: str, file: str):
    picture = written(tmp_path / file, made.png(3, 5))
    for key in ("map_Kd", "map_kd", " map_Kd"):
        forget()
        part = load(obj(tmp_path, f"newmtl m\n{key} {line}\n")).parts[0]
        assert part.texture == picture
        assert part.mesh.visual.material.image.size == (3, 5)
        assert part.mesh.visual.uv.shape == (3, 2)


def test_a_texture_beside_the_material_file(tmp_path: Path):
    picture = written(tmp_path / "mat/skin.png", made.png())
    for library in ("mat/m.mtl", "mat\\m.mtl"):
        forget()
        assert (
            load(obj(tmp_path, "newmtl m\nmap_Kd skin.png\n", library)).parts[0].texture == picture
        )


def test_several_material_files(tmp_path: Path):
    written(tmp_path / "a.mtl", b"newmtl a\nKd 1 0 0\n")
    written(tmp_path / "b b.mtl", b"newmtl b\nKd 0 1 0\n")
    written(tmp_path / "c.mtl", b"newmtl c\nKd 0 0 1\n")
    text = f"# mtllib x.mtl\nmtllib a.mtl c.mtl\nmtllib b b.mtl\n{CORNERS_AND_UV}"
    text += "".join(f"usemtl {name}\n{FACE}" for name in "abc")
    loaded = load(written(tmp_path / "a.obj", text.encode()))
    assert [p.rgba for p in loaded.parts] == [(1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)]
    assert not loaded.left_out


def test_what_is_missing_or_outside_is_left_out(tmp_path: Path):
    folder = tmp_path / "robot/meshes"
    written(tmp_path / "robot/skin.png", made.png())
    written(tmp_path / "robot/out.mtl", b"newmtl m\nKd 1 0 0\n")
    for mtl, part in (
        ("newmtl m\nmap_Kd none.png", "not there"),
        ("newmtl m\nmap_Kd ../skin.png", "outside"),
        ("newmtl m\nmap_Kd http://127.0.0.1/skin.png", "nothing is fetched"),
        ("newmtl m\nmap_Kd C:\\skin.png", "no path beside"),
        ("newmtl m\nmap_Kd skin.exe", "no such file by its name"),
    ):
        loaded = load(obj(folder, mtl))
        assert len(loaded.left_out) == 1 and part in loaded.left_out[0]
        assert loaded.parts[0].texture is None
    path = written(
        folder / "b.obj", f"mtllib ../out.mtl\n{CORNERS_AND_UV}usemtl m\n{FACE}".encode()
    )
    assert load(path).parts[0].rgba is None and "outside" in load(path).left_out[0]
    assert load(path, roots=[tmp_path / "robot"]).parts[0].rgba == (1, 0, 0, 1)
    path = obj(folder, "newmtl m\nmap_Kd ../skin.png")
    assert load(path, roots=[tmp_path / "robot"]).parts[0].texture == tmp_path / "robot/skin.png"
    assert load(path).parts[0].texture is None  # kept apart


def test_a_picture_that_is_none_is_left_out(tmp_path: Path):
    written(tmp_path / "skin.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    loaded = load(obj(tmp_path, "newmtl m\nKd 1 0 0\nmap_Kd skin.png\n"))
    assert "no image" in loaded.left_out[0] and loaded.parts[0].rgba == (1, 0, 0, 1)


def test_colors_and_textures_of_collada(tmp_path: Path):
    shapes = made.geometry(material="m")
    scene = f"<node>{made.instance(material='m')}</node>"
    for color, rgba in (("1 0 0.2 1", (1, 0, 0.2, 1)), ("0.2 0.4 0.6 1", (0.2, 0.4, 0.6, 1))):
        libraries = made.material("m", f"<color>{color}</color>")
        part = load(
            written(tmp_path / "a.dae", made.dae(scene, shapes, libraries=libraries))
        ).parts[0]
        np.testing.assert_allclose(part.rgba, rgba, atol=1e-9)
        forget()
    picture = written(tmp_path / "tex/skin.png", made.png(4, 2))
    effect = """<library_images><image id="i"><init_from>tex/skin.png</init_from></image>
      </library_images><library_effects><effect id="m-e"><profile_COMMON>
      <newparam sid="f"><surface type="2D"><init_from>i</init_from></surface></newparam>
      <newparam sid="p"><sampler2D><source>f</source></sampler2D></newparam>
      <technique sid="c"><phong><diffuse><texture texture="p" texcoord="U"/></diffuse></phong>
      </technique></profile_COMMON></effect></library_effects><library_materials>
      <material id="m"><instance_effect url="#m-e"/></material></library_materials>"""
    path = written(tmp_path / "b.dae", made.dae(scene, shapes, libraries=effect))
    part = load(path).parts[0]
    assert part.texture == picture
    assert part.mesh.visual.material.baseColorTexture.size == (4, 2)
    picture.unlink()
    assert load(path).parts[0].texture is None and "not there" in load(path).left_out[0]


def textured_gltf(image: dict[str, object], **more: object) -> tuple[dict[str, object], bytes]:
    tree, data = made.gltf_tree(
        images=[image],
        textures=[{"source": 0}],
        materials=[
            {
                "pbrMetallicRoughness": {
                    "baseColorFactor": [1, 0.2, 0, 0.4],
                    "baseColorTexture": {"index": 0},
                }
            }
        ],
        **more,
    )
    tree["meshes"][0]["primitives"][0]["material"] = 0
    return tree, data


def test_colors_and_textures_of_gltf(tmp_path: Path):
    tree, data = textured_gltf({"uri": "skin.png"})
    picture = written(tmp_path / "skin.png", made.png(4, 2))
    written(tmp_path / "a.bin", data)
    part = load(written(tmp_path / "a.gltf", made.gltf(tree, data, "a.bin"))).parts[0]
    np.testing.assert_allclose(part.rgba, (1, 0.2, 0, 0.4), atol=1e-9)
    assert part.texture == picture
    assert part.mesh.visual.material.baseColorTexture.size == (4, 2)
    inside = made.png(7, 3)
    tree, data = textured_gltf({"uri": "data:image/png;base64," + b64encode(inside).decode()})
    part = load(written(tmp_path / "b.glb", made.glb(tree, data))).parts[0]
    assert part.texture is None and part.mesh.visual.material.baseColorTexture.size == (7, 3)
    tree, data = textured_gltf({"bufferView": 2, "mimeType": "image/png"})
    tree["bufferViews"].append({"buffer": 0, "byteOffset": len(data), "byteLength": len(inside)})
    tree["buffers"][0]["byteLength"] += len(inside)
    part = load(written(tmp_path / "c.glb", made.glb(tree, data + inside))).parts[0]
    assert part.texture is None and part.mesh.visual.material.baseColorTexture.size == (7, 3)


def test_a_material_of_gltf_without_a_colour_is_white(tmp_path: Path):
    tree, data = made.gltf_tree(materials=[{}])
    tree["meshes"][0]["primitives"][0]["material"] = 0
    assert load(written(tmp_path / "a.glb", made.glb(tree, data))).parts[0].rgba == (1, 1, 1, 1)
    assert load(written(tmp_path / "b.glb", made.glb())).parts[0].rgba is None


def test_colors_of_vertices(tmp_path: Path):
    header = "property uchar red\nproperty uchar green\nproperty uchar blue\nelement face"
    lines = made.ply().decode().replace("element face", header).split("\n")
    at = lines.index("end_header") + 1
    for colors, rgba in ((["255 0 51"] * 4, (1, 0, 0.2, 1)), (["1 2 3", "4 5 6"] * 2, None)):
        body = [f"{c} {color}" for c, color in zip(lines[at : at + 4], colors, strict=True)]
        text = "\n".join([*lines[:at], *body, *lines[at + 4 :]])
        part = load(written(tmp_path / "a.ply", text.encode())).parts[0]
        assert part.rgba == pytest.approx(rgba) if rgba else part.rgba is None
        assert part.mesh.visual.kind == "vertex"
        forget()


def test_the_texture_of_a_ply_file(tmp_path: Path):
    picture = written(tmp_path / "skin.png", made.png())
    texture = "property float s\nproperty float t\nelement face"
    lines = made.ply(extra="comment TextureFile skin.png\n").decode()
    lines = lines.replace("element face", texture).split("\n")
    at = lines.index("end_header") + 1
    lines[at : at + 4] = [f"{line} 0.5 0.5" for line in lines[at : at + 4]]
    assert load(written(tmp_path / "a.ply", "\n".join(lines).encode())).parts[0].texture == picture


def test_joined_colors_are_those_of_the_pieces(tmp_path: Path):
    text = f"mtllib m.mtl\n{CORNERS_AND_UV}usemtl a\n{FACE}usemtl b\n{FACE}usemtl none\n{FACE}"
    written(tmp_path / "m.mtl", b"newmtl a\nKd 1 0 0\nnewmtl b\nKd 0 1 0\nd 0.4\n")
    mesh = load(written(tmp_path / "a.obj", text.encode())).mesh()
    assert mesh.visual.face_colors.tolist()[:2] == [[255, 0, 0, 255], [0, 255, 0, 102]]
    plain = load(written(tmp_path / "b.stl", made.stl())).mesh()
    assert plain.visual.kind is None


def test_pictures_are_not_shared(tmp_path: Path):
    written(tmp_path / "skin.png", made.png())
    path = obj(tmp_path, "newmtl m\nmap_Kd skin.png\n")
    first, second = (load(path).parts[0].mesh.visual.material for _ in range(2))
    first.image.putpixel((0, 0), 7)
    assert second.image.getpixel((0, 0)) == 128 and first.image.getpixel((0, 0)) == 7
    first.diffuse[0] = 9
    assert load(path).parts[0].mesh.visual.material.diffuse[0] != 9
