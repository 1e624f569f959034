"""Mesh files made for tests: one odd body in every format, without the library under test."""

from __future__ import annotations

import json
import struct
import zlib
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np

# A body without symmetry: each corner tells the axes, the unit and a mirror image apart.
CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def stl(corners: Any = CORNERS, faces: Any = FACES, header: bytes = b"") -> bytes:
    rows = b"".join(
        struct.pack("<12fH", 0, 0, 0, *np.asarray(corners, float)[face].ravel(), 0)
        for face in faces
    )
    return header.ljust(80, b" ")[:80] + struct.pack("<I", len(faces)) + rows


def ascii_stl(corners: Any = CORNERS, faces: Any = FACES, name: str = "body") -> bytes:
    lines = [f"solid {name}"]
    for face in faces:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += ["vertex " + " ".join(repr(float(x)) for x in corners[k]) for k in face]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, f"endsolid {name}", ""]).encode()


def obj(corners: Any = CORNERS, faces: Any = FACES, before: str = "") -> bytes:
    lines = [before, *("v " + " ".join(repr(float(x)) for x in c) for c in corners)]
    lines += ["f " + " ".join(str(k + 1) for k in face) for face in faces]
    return "\n".join([*lines, ""]).encode()


def off(corners: Any = CORNERS, faces: Any = FACES) -> bytes:
    lines = ["OFF", f"{len(corners)} {len(faces)} 0"]
    lines += [" ".join(repr(float(x)) for x in c) for c in corners]
    lines += [f"{len(face)} " + " ".join(str(k) for k in face) for face in faces]
    return "\n".join([*lines, ""]).encode()


def ply(corners: Any = CORNERS, faces: Any = FACES, kind: str = "ascii", extra: str = "") -> bytes:
    header = f"ply\nformat {kind} 1.0\n{extra}element vertex {len(corners)}\n"
    header += "property float x\nproperty float y\nproperty float z\n"
    header += f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    if kind == "ascii":
        lines = [" ".join(repr(float(x)) for x in c) for c in corners]
        lines += [f"{len(face)} " + " ".join(str(k) for k in face) for face in faces]
        return (header + "\n".join([*lines, ""])).encode()
    end = "<" if "little" in kind else ">"
    body = b"".join(struct.pack(end + "3f", *c) for c in corners)
    body += b"".join(struct.pack(f"{end}B{len(f)}i", len(f), *map(int, f)) for f in faces)
    return header.encode() + body


def geometry(
    name: str = "body", corners: Any = CORNERS, faces: Any = FACES, material: str = ""
) -> str:
    """A COLLADA <geometry>."""
    numbers = " ".join(repr(float(x)) for x in np.asarray(corners).ravel())
    worn = f'material="{material}"' if material else ""
    return f"""<geometry id="{name}"><mesh>
      <source id="{name}-p"><float_array id="{name}-a"
      count="{3 * len(corners)}">{numbers}</float_array>
      <technique_common><accessor source="#{name}-a" count="{len(corners)}" stride="3">
      <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
      </accessor></technique_common></source>
      <vertices id="{name}-v"><input semantic="POSITION" source="#{name}-p"/></vertices>
      <triangles count="{len(faces)}" {worn}>
      <input semantic="VERTEX" source="#{name}-v" offset="0"/>
      <p>{" ".join(str(k) for face in faces for k in face)}</p></triangles></mesh></geometry>"""


def instance(name: str = "body", material: str = "") -> str:
    bind = (
        f'<bind_material><technique_common><instance_material symbol="{material}" '
        f'target="#{material}"/></technique_common></bind_material>'
    )
    return f'<instance_geometry url="#{name}">{bind if material else ""}</instance_geometry>'


def material(name: str, diffuse: str) -> str:
    """COLLADA libraries with one material."""
    return f"""<library_effects><effect id="{name}-e"><profile_COMMON><technique sid="c"><phong>
      <diffuse>{diffuse}</diffuse></phong></technique></profile_COMMON></effect></library_effects>
      <library_materials><material id="{name}"><instance_effect url="#{name}-e"/></material>
      </library_materials>"""


def dae(
    scene: str = f"<node>{instance()}</node>",
    shapes: str = "",
    *,
    unit: str = '<unit meter="1"/>',
    up: str = "<up_axis>Z_UP</up_axis>",
    libraries: str = "",
) -> bytes:
    return f"""<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2020-01-01T00:00:00</created><modified>2020-01-01T00:00:00</modified>{unit}{up}</asset>
{libraries}<library_geometries>{shapes or geometry()}</library_geometries>
<library_visual_scenes><visual_scene id="s">{scene}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>""".encode()


def gltf_tree(
    corners: Any = CORNERS, faces: Any = FACES, **more: Any
) -> tuple[dict[str, Any], bytes]:
    """The JSON of a glTF file with one mesh, and its buffer."""
    points = np.asarray(corners, "<f4").tobytes()
    data = points + np.asarray(faces, "<u4").tobytes()
    tree: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"name": "body", "primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": len(data)}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": len(points)},
            {"buffer": 0, "byteOffset": len(points), "byteLength": len(data) - len(points)},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(corners), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": 3 * len(faces), "type": "SCALAR"},
        ],
    }
    tree.update(more)
    return tree, data


def glb(tree: dict[str, Any] | None = None, data: bytes | None = None) -> bytes:
    if tree is None or data is None:
        tree, data = gltf_tree()
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def gltf(tree: dict[str, Any], data: bytes, uri: str = "") -> bytes:
    """A glTF file with its buffer in itself, or beside it under the name ``uri``."""
    embedded = "data:application/octet-stream;base64," + b64encode(data).decode()
    tree = {**tree, "buffers": [{"byteLength": len(data), "uri": uri or embedded}]}
    return json.dumps(tree).encode()


def png(width: int = 2, height: int = 2, pixels: bytes | None = None) -> bytes:
    """A grey picture; with ``pixels`` its compressed data, whatever the header says."""
    rows = b"".join(b"\0" + b"\x80" * width for _ in range(height)) if pixels is None else b""
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows) if pixels is None else pixels),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks
    )


def written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


EVERY = {
    "binary.stl": stl(),
    "ascii.stl": ascii_stl(),
    "body.obj": obj(),
    "body.dae": dae(),
    "body.glb": glb(),
    "body.gltf": gltf(*gltf_tree()),
    "ascii.ply": ply(),
    "little.ply": ply(kind="binary_little_endian"),
    "big.ply": ply(kind="binary_big_endian"),
    "body.off": off(),
}
"""A file of the body in each format, whole in itself."""
