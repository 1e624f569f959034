"""What a file says of itself, held against what it has; files of every kind and none."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import mesh_files as made
from linkwork.errors import InputError
from linkwork.geometry import guards, guards_dae, guards_gltf
from linkwork.geometry.guards_dae import DEEPEST
from linkwork.geometry.guards_plain import prepared_obj
from linkwork.geometry.load import forget, load
from mesh_files import CORNERS, FACES, written


@pytest.mark.parametrize("name", sorted(made.EVERY))
def test_sound_files_pass(tmp_path: Path, name: str):
    guards.check(written(tmp_path / name, made.EVERY[name]))


@pytest.mark.parametrize("name", ["binary.stl", "little.ply", "big.ply", "body.glb"])
def test_every_cut_of_a_binary_file_is_seen(tmp_path: Path, name: str):
    pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")
    whole = made.EVERY[name]
    every = range(len(whole) - 12, len(whole))
    for length in {*range(0, len(whole), 5), *every}:
        with pytest.raises(InputError):
            load(written(tmp_path / name, whole[:length]))


def test_pictures(tmp_path: Path):
    pytest.importorskip("PIL", reason="Pillow (pip install pillow) is not installed")
    side = guards.LARGEST_SIDE
    guards.check(written(tmp_path / "a.png", made.png(side, 1)))
    for size in ((side + 1, 1), (1, side + 1)):
        with pytest.raises(InputError, match=f"{size[0]} x {size[1]}"):
            guards.check(written(tmp_path / "a.png", made.png(*size)))
    for data in (b"", b"x", made.png()[:20]):
        with pytest.raises(InputError, match="no image"):
            guards.check(written(tmp_path / "a.png", data))


def test_largest_file(tmp_path: Path):
    path = written(tmp_path / "a.stl", made.stl())
    assert guards.read(path, len(made.stl())) == made.stl()
    with pytest.raises(InputError, match="the most that is read"):
        guards.read(path, len(made.stl()) - 1)


def test_the_key_of_a_file_changes_with_it(tmp_path: Path):
    path = written(tmp_path / "a.stl", b"abc")
    first = guards.key_of(path)
    assert first == guards.key_of(path)
    written(path, b"abcd")
    assert guards.key_of(path) != first
    with pytest.raises(InputError, match="cannot be read"):
        guards.key_of(tmp_path / "none.stl")


# ---- STL, PLY, OFF and OBJ: headers and counts held against the file; OBJ with whole indices


PATH = Path("a.obj")


def test_counts_are_held_against_the_file_to_the_byte(tmp_path: Path):
    data = made.ply(kind="binary_little_endian")
    least = data.index(b"end_header\n") + 11 + 4 * 12 + 4  # a face has its count at least
    guards.check(written(tmp_path / "a.ply", data[:least]))
    with pytest.raises(InputError, match="52 bytes or more, but 51 follow"):
        guards.check(written(tmp_path / "a.ply", data[: least - 1]))
    with pytest.raises(InputError, match="claims 5 triangles"):
        guards.check(written(tmp_path / "a.stl", made.stl()[:80] + b"\5\0\0\0" + made.stl()[84:]))


def test_headers_of_ply(tmp_path: Path):
    sound = made.ply()
    for old, new, part in (
        (b"ply\n", b"plx\n", "no PLY"),
        (b"end_header", b"end_headex", "no header"),
        (b"vertex 4", b"vertex many", "no count"),
        (b"vertex 4", b"vertex -4", "no count"),
        (b"float x", b"quaternion x", "no known type"),
        (b"property float x", b"property", "no known type"),
        (b"list uchar int", b"list int", "no known type"),
        (b"list uchar int", b"list text int", "no known type"),
    ):
        assert old in sound
        with pytest.raises(InputError, match=part):
            guards.check(written(tmp_path / "a.ply", sound.replace(old, new)))


def test_headers_of_off(tmp_path: Path):
    sound = made.off()
    for old, new, part in (
        (b"OFF", b"OFX", "begin with OFF"),
        (b"OFF", b"OFF BINARY", "binary OFF"),
        (b"4 4 0", b"four 4 0", "no counts"),
        (b"4 4 0", b"4 400 0", "400 faces"),
        (b"3 0 2 1", b"4 0 2 1", "'4' corners"),
        (b"3 0 2 1", b"2 0 2 1", "'2' corners"),
    ):
        with pytest.raises(InputError, match=part):
            guards.check(written(tmp_path / "a.off", sound.replace(old, new)))


# OBJ


def test_a_sound_obj_is_not_touched():
    text = b"mtllib a.mtl\no x\n" + made.obj() + b"usemtl -0 m\nf 1/1/1 2/2/2 3//3\ns off\n"
    assert prepared_obj(text, PATH).data is text


@pytest.mark.parametrize(
    ("text", "faces"),
    [
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 9 9 9\n", "f 1 2 3"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 9 9 9\nf 1 -3 3\n", "f 1 2 3"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf -3/-1 2/1 3/1\n", "f 1/1 2/1 3/1"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1//-1 2//-1 3//-1\n", "f 1//1 2//1 3//1"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 # a face\n", "f 1 2 3"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 \\\n3\n", "f 1 2 3"),
        ("v\t0 0 0\n  v 1 0 0\nv 0 1 0\n\tf\t1 2\t3\n", "f 1 2 3"),
        ("v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf -3 -2 -1\r\n", "f 1 2 3"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf +1 +2 +3\n", "f 1 2 3"),
    ],
)
def test_indices_are_made_whole(tmp_path: Path, text: str, faces: str):
    assert faces in prepared_obj(text.encode(), PATH).data.decode().split("\n")
    forget()
    mesh = load(written(tmp_path / "a.obj", text.encode())).mesh()
    assert len(mesh.faces) == 1 and mesh.area == pytest.approx(0.5)


def test_relative_indices_give_the_same_body(tmp_path: Path):
    """Each face right behind its own corners, as some programs write them."""
    lines = []
    for face in FACES:
        lines += ["v " + " ".join(map(repr, map(float, CORNERS[k]))) for k in face]
        lines.append("f -3 -2 -1")
    mesh = load(written(tmp_path / "a.obj", "\n".join(lines).encode())).mesh()
    assert mesh.is_watertight and mesh.volume == pytest.approx(1)
    np.testing.assert_array_equal(mesh.bounds[1], CORNERS.max(axis=0))


@pytest.mark.parametrize(
    ("face", "part"),
    [
        ("f 0 1 2", "line 4: index 0"),
        ("f 1 2 0", "line 4: index 0"),
        ("f 1/0 2/0 3/0", "line 4: index 0"),
        ("f -4 -2 -1", "line 4: index -4"),
        ("f -2147483648 1 2", "line 4: index -2147483648"),
        ("f 1 2 x", "line 4: 'x'"),
        ("f 1 2 3.0", "line 4: '3.0'"),
        ("f 1 2 " + "9" * 5000, ""),
        ("f 1 2 -" + "9" * 5000, "line 4"),
        ("f 1 2 nan", "line 4"),
        ("f 1 2", ""),
        ("f", ""),
        ("f 1 2 9223372036854775807", ""),
        ("f 1 2 4", ""),
    ],
)
def test_indices_that_lead_nowhere(tmp_path: Path, face: str, part: str):
    path = written(tmp_path / "a.obj", f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{face}\n".encode())
    with pytest.raises(InputError) as caught:
        load(path)
    assert part in str(caught.value) and "a.obj" in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("mtllib a.mtl", ("a.mtl",)),
        ("mtllib  a.mtl b.mtl ", ("a.mtl", "b.mtl")),
        ("mtllib my own.mtl", ("my own.mtl",)),
        ("mtllib a.mtl\nmtllib a.mtl\nmtllib b.mtl", ("a.mtl", "b.mtl")),
        ("# mtllib a.mtl", ()),
        ("mtllib", ()),
    ],
)
def test_names_of_material_files(line: str, names: tuple[str, ...]):
    assert prepared_obj(made.obj(before=line), PATH).libraries == names


def test_what_is_no_obj():
    for data, part in ((b"", "empty"), (b"  \n", "empty"), (b"v 0 0\0 0", "zero bytes")):
        with pytest.raises(InputError, match=part):
            prepared_obj(data, PATH)


# ---- What a COLLADA file says of itself: unit, axis, pictures, pieces; and its bounds


DAE = Path("a.dae")


def test_what_it_says():
    image = (
        '<library_images><image id="i"><init_from> a b.png </init_from></image></library_images>'
    )
    unit, up = '<unit meter="0.25"/>', "<up_axis> X_UP </up_axis>"
    found = guards_dae.examine(made.dae(unit=unit, up=up, libraries=image), DAE)
    assert (found.unit, found.up, found.images) == (0.25, "X_UP", ("a b.png",))
    found = guards_dae.examine(made.dae(unit="", up=""), DAE)
    assert (found.unit, found.up, found.images) == (1.0, "Y_UP", ())


def test_only_the_file_s_own_asset_counts():
    asset = '<asset><unit meter="7"/><up_axis>X_UP</up_axis></asset>'
    found = guards_dae.examine(made.dae(f"<node>{asset}{made.instance()}</node>"), DAE)
    assert (found.unit, found.up) == (1.0, "Z_UP")


def test_other_encodings_and_no_namespace():
    text = made.dae(unit='<unit meter="0.5"/>').decode()
    for encoding in ("utf-16", "latin-1"):
        data = text.replace('encoding="utf-8"', f'encoding="{encoding}"').encode(encoding)
        assert guards_dae.examine(data, DAE).unit == 0.5
    bare = text.replace(' xmlns="http://www.collada.org/2005/11/COLLADASchema"', "")
    assert guards_dae.examine(bare.encode(), DAE).unit == 0.5


def test_depth_is_bounded_to_the_element():
    inside = 3  # COLLADA, library_visual_scenes, visual_scene
    for more, sound in ((DEEPEST - inside, True), (DEEPEST - inside + 1, False)):
        data = made.dae("<node>" * more + "</node>" * more)
        if sound:
            guards_dae.examine(data, DAE)
        else:
            with pytest.raises(InputError, match="inside each other"):
                guards_dae.examine(data, DAE)


@pytest.mark.parametrize(
    "scene",
    [
        '<node id="a"><instance_node url="#a"/></node>',
        '<node id="a"><node><instance_node url="#a"/></node></node>',
        '<node id="a"><node id="b"><node><instance_node url="#b"/></node></node></node>',
    ],
)
def test_nodes_that_show_themselves(scene: str):
    with pytest.raises(InputError, match="shows itself"):
        guards_dae.examine(made.dae(scene), DAE)


@pytest.mark.parametrize("place", ["_v", "normals"])
def test_nan_matters_in_positions_alone(place: str):
    data = made.dae().replace(b"0.0", b"NaN", 1).decode()
    if place == "normals":
        data = data.replace(
            'semantic="POSITION" source="#body-p"', 'semantic="POSITION" source="#x"'
        )
        guards_dae.examine(data.encode(), DAE)
    else:
        with pytest.raises(InputError, match="1 numbers of its vertices are not finite"):
            guards_dae.examine(data.encode(), DAE)


# ---- What a glTF file says of itself: what lies beside it, and what does not fit into it


GLB, GLTF = Path("a.glb"), Path("a.gltf")


def test_files_beside_it():
    tree, data = made.gltf_tree(images=[{"uri": "a b.png"}, {"uri": "c.jpg"}])
    found = guards_gltf.examine(made.gltf(tree, data, "x/a.bin"), GLTF)
    assert found.buffers == ("x/a.bin",) and found.images == ("a b.png", "c.jpg")
    found = guards_gltf.examine(made.gltf(*made.gltf_tree()), GLTF)
    assert found.buffers == found.images == ()


def test_extensions_that_change_no_shape_are_read():
    for name in ("KHR_materials_unlit", "KHR_texture_transform", "KHR_mesh_quantization"):
        guards_gltf.examine(made.glb(*made.gltf_tree(extensionsRequired=[name])), GLB)
    for name in ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "MY_own"):
        with pytest.raises(InputError, match=name):
            guards_gltf.examine(made.glb(*made.gltf_tree(extensionsRequired=[name])), GLB)


@pytest.mark.parametrize(
    ("kind", "index", "change", "part"),
    [
        ("accessors", 0, {"count": 5}, "outside its view"),
        ("accessors", 0, {"byteOffset": 1}, "outside its view"),
        ("accessors", 0, {"type": "VEC4"}, "outside its view"),
        ("accessors", 0, {"type": "VEC9"}, "no glTF"),
        ("accessors", 0, {"componentType": 1}, "no glTF"),
        ("accessors", 0, {"bufferView": 9}, "no glTF"),
        ("accessors", 0, {"bufferView": -1}, "outside its view"),
        ("accessors", 0, {"normalized": True}, "normalized"),
        ("bufferViews", 0, {"byteLength": 97}, "outside it"),
        ("bufferViews", 0, {"byteOffset": 49}, "outside it"),
        ("bufferViews", 0, {"byteOffset": -1}, "outside it"),
        ("bufferViews", 0, {"byteStride": 1}, "outside its view"),
        ("buffers", 0, {"byteLength": 1000}, "claims 1,000 bytes"),
        ("nodes", 0, {"mesh": 1}, "no glTF"),
        ("nodes", 0, {"children": [0]}, "below itself"),
        ("nodes", 0, {"children": [7]}, "does not exist"),
        ("nodes", 0, {"children": "x"}, "no glTF"),
        ("meshes", 0, {"primitives": 3}, "no glTF"),
    ],
)
def test_what_does_not_fit(kind: str, index: int, change: dict[str, object], part: str):
    tree, data = made.gltf_tree()
    guards_gltf.examine(made.glb(tree, data), GLB)
    tree[kind][index].update(change)
    with pytest.raises(InputError, match=part):
        guards_gltf.examine(made.glb(tree, data), GLB)


def test_what_is_no_gltf():
    for data, part in (
        (b"", "empty"),
        (b"x" * 30, "does not begin"),
        (made.glb()[:8], "does not begin"),
        (made.glb().replace(b"JSON", b"JSOM"), "not JSON"),
        (made.glb()[:4] + b"\1" + made.glb()[5:], "version 1"),
    ):
        with pytest.raises(InputError, match=part):
            guards_gltf.examine(data, GLB)
    for text in (b"[]", b"{", b"null", b'{"asset": 3}', b'{"buffers": [3]}', b"\xff{}"):
        with pytest.raises(InputError):
            guards_gltf.examine(text, GLTF)


# ---- what few files have


def test_a_file_that_fails_while_it_is_read_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fails(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    path = written(tmp_path / "a.stl", b"solid")
    monkeypatch.setattr(os, "fdopen", fails)
    with pytest.raises(InputError, match=r"a\.stl.*cannot be read: Input/output error"):
        guards.read(path)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.stl", b"\0" * 83, "no STL: 83 bytes are less than a header"),
        ("a.stl", b"\0" * 80 + b"\2\0\0\0" + b"\0" * 50, "claims 2 triangles.*cut off"),
        ("a.off", b"OFF\n", "no counts of vertices and faces"),
        ("a.off", b"OFF\nx 1 0\n", "no counts of vertices and faces"),
        ("a.off", b"OFF\n-1 1 0\n", "claims -1 vertices"),
        ("a.off", b"OFF\n9999999 1 0\n0 0 0\n", "claims 9,999,999 vertices and 1 faces in"),
        ("a.off", b"OFF\n3 1 0\n0 0 0 1.000 0.000 1.000 0.00\n", "1 lines follow"),
    ],
)
def test_counts_beyond_what_a_file_has(name: str, data: bytes, said: str, tmp_path: Path):
    with pytest.raises(InputError, match=said):
        guards.check(written(tmp_path / name, data))
