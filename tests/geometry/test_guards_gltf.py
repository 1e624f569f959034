"""What a glTF file says of itself: what lies beside it, and what does not fit into it."""

from __future__ import annotations

from pathlib import Path

import pytest

import mesh_files as made
from linkwork.errors import InputError
from linkwork.geometry.guards_gltf import examine

GLB, GLTF = Path("a.glb"), Path("a.gltf")


def test_files_beside_it():
    tree, data = made.gltf_tree(images=[{"uri": "a b.png"}, {"uri": "c.jpg"}])
    found = examine(made.gltf(tree, data, "x/a.bin"), GLTF)
    assert found.buffers == ("x/a.bin",) and found.images == ("a b.png", "c.jpg")
    found = examine(made.gltf(*made.gltf_tree()), GLTF)
    assert found.buffers == found.images == ()


def test_extensions_that_change_no_shape_are_read():
    for name in ("KHR_materials_unlit", "KHR_texture_transform", "KHR_mesh_quantization"):
        examine(made.glb(*made.gltf_tree(extensionsRequired=[name])), GLB)
    for name in ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "MY_own"):
        with pytest.raises(InputError, match=name):
            examine(made.glb(*made.gltf_tree(extensionsRequired=[name])), GLB)


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
    examine(made.glb(tree, data), GLB)
    tree[kind][index].update(change)
    with pytest.raises(InputError, match=part):
        examine(made.glb(tree, data), GLB)


def test_what_is_no_gltf():
    for data, part in (
        (b"", "empty"),
        (b"x" * 30, "does not begin"),
        (made.glb()[:8], "does not begin"),
        (made.glb().replace(b"JSON", b"JSOM"), "not JSON"),
        (made.glb()[:4] + b"\1" + made.glb()[5:], "version 1"),
    ):
        with pytest.raises(InputError, match=part):
            examine(data, GLB)
    for text in (b"[]", b"{", b"null", b'{"asset": 3}', b'{"buffers": [3]}', b"\xff{}"):
        with pytest.raises(InputError):
            examine(text, GLTF)
