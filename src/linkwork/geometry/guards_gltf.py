"""glTF 2.0 files: what one says of itself, and whether reading it stays within bounds.

The JSON is read, counts are held against the bytes that are there, and what trimesh would take for
zeros or leave out is refused by name. Source: the glTF 2.0 specification, Khronos group.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkwork.errors import InputError
from linkwork.geometry.guards import check_image, check_pieces, refuse, show

_MAGIC, _JSON, _BINARY = b"glTF", b"JSON", b"BIN\0"
_MOST_TOKENS = 500_000  # brackets and commas of the JSON: each may take 60 bytes of memory
_SIZES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_COUNTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_HARMLESS = ("KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_webp", "KHR_xmp")
_FREE = 2_000_000  # numbers that pieces and their instances may come to in any file
_TIMES = 8  # and as a multiple of those that the file has


@dataclass(frozen=True, slots=True)
class Gltf:
    """The contents of a glTF file: the bytes to read, and the files beside it that it names."""

    data: bytes
    buffers: tuple[str, ...]
    images: tuple[str, ...]


def examine(data: bytes, path: Path) -> Gltf:
    """The bytes to read and the files beside it, of a file that was seen to be within bounds.

    Raises: InputError for what is no glTF 2.0, claims more than it has, has a node below two
    others, instances that would fill the memory, or geometry that is compressed or sparse.
    """
    if not data:
        raise refuse(path, "the file is empty")
    binary = b""
    text = data
    if path.suffix.lower() == ".glb":
        text, binary = _chunks(data, path)
    tree = _tree(text, path)
    try:
        version = str(tree["asset"]["version"] if "asset" in tree else "2.0")
        if version.split(".", maxsplit=1)[0] != "2":
            raise refuse(path, f"glTF of version {show(version)[:20]}; version 2 is read")
        for name in tree.get("extensionsRequired", []):  # without, geometry would not be true
            if name != "KHR_mesh_quantization" and not str(name).startswith(_HARMLESS):
                raise refuse(path, f"needs the extension '{show(name)[:80]}', which is not read")
        _check_views(tree, len(binary), path)
        numbers = _check_accessors(tree, path)
        whole = _shown_whole(tree)
        _check_instances(tree, numbers, path)
        images = _check_images(tree, binary, path)
    except (TypeError, KeyError, IndexError, AttributeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise refuse(path, f"no glTF that can be read: {error!r:.200}") from None
    if not whole:
        text = json.dumps(tree).encode()
        if path.suffix.lower() == ".glb":
            text += b" " * (-len(text) % 4)
            rest = data[20 + int.from_bytes(data[12:16], "little") :]
            sizes = (2, 20 + len(text) + len(rest), len(text))
            head = _MAGIC + b"".join(size.to_bytes(4, "little") for size in sizes) + _JSON
            text = head + text + rest
        data = text
    return Gltf(data, tuple(uri for uri in _uris(tree, "buffers") if uri), images)


def _chunks(data: bytes, path: Path) -> tuple[bytes, bytes]:
    """The JSON and the binary chunk of a GLB file."""
    if len(data) < 20 or data[:4] != _MAGIC:
        raise refuse(path, "does not begin as a GLB file does")
    version, length, first = (int.from_bytes(data[k : k + 4], "little") for k in (4, 8, 12))
    if version != 2:
        raise refuse(path, f"glTF of version {version}; version 2 is read")
    if length > len(data) or 20 + first > len(data):
        claimed = max(length, 20 + first)
        raise refuse(path, f"claims {claimed:,} bytes, but has {len(data):,}; is it cut off?")
    if data[16:20] != _JSON:
        raise refuse(path, "its first chunk is not JSON")
    at = 20 + first
    binary = b""
    while at + 8 <= length:
        size = int.from_bytes(data[at : at + 4], "little")
        if at + 8 + size > len(data):
            raise refuse(path, f"claims a chunk of {size:,} bytes, but has {len(data) - at - 8:,}")
        if data[at + 4 : at + 8] == _BINARY and not binary:
            binary = data[at + 8 : at + 8 + size]
        at += 8 + size
    return data[20 : 20 + first], binary


def _tree(text: bytes, path: Path) -> dict[str, Any]:
    tokens = text.count(b",") + text.count(b"[") + text.count(b"{")
    if tokens > _MOST_TOKENS:
        raise refuse(path, f"its JSON has {tokens:,} parts; at most {_MOST_TOKENS:,} are read")
    try:
        tree: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "too deeply nested" if isinstance(error, RecursionError) else str(error)
        raise refuse(path, f"its JSON cannot be read: {reason}") from None
    if not isinstance(tree, dict):
        raise refuse(path, "its JSON is no object")
    return tree


def _check_views(tree: dict[str, Any], binary: int, path: Path) -> None:
    """Each view lies in its buffer; those in other files are taken at their word, up to a limit."""
    sizes: list[int] = []
    for buffer in tree.get("buffers", []):
        claimed, uri = int(buffer["byteLength"]), buffer.get("uri")
        has = binary if uri is None else len(uri) * 3 // 4 if _embedded(uri) else 2**29
        if not 0 <= claimed <= has:
            raise refuse(path, f"a buffer claims {claimed:,} bytes, and has at most {has:,}")
        sizes.append(claimed)
    total = 0
    for view in tree.get("bufferViews", []):
        start, length = int(view.get("byteOffset", 0)), int(view["byteLength"])
        buffer = int(view["buffer"])
        if buffer < 0 or min(start, length) < 0 or start + length > sizes[buffer]:
            raise refuse(path, "a view of a buffer lies outside it")
        total += length
    if total > 4 * sum(sizes) + 65536:
        raise refuse(path, "its views of buffers come to more than 4 times the buffers")


def _check_accessors(tree: dict[str, Any], path: Path) -> list[int]:
    """The count of numbers of each accessor; they must lie within its view."""
    views, numbers, total = tree.get("bufferViews", []), list[int](), 0
    for accessor in tree.get("accessors", []):
        if "sparse" in accessor or "bufferView" not in accessor:
            raise refuse(path, "has a sparse or compressed accessor, which is not read")
        count, each = int(accessor["count"]), _COUNTS[accessor["type"]]
        view, index = tree["bufferViews"][accessor["bufferView"]], accessor["bufferView"]
        row = each * _SIZES[accessor["componentType"]]
        stride = int(view.get("byteStride", row))
        start = int(accessor.get("byteOffset", 0))
        inside = start + max(count - 1, 0) * stride + row <= views[index]["byteLength"]
        if count < 0 or start < 0 or stride < row or index < 0 or (count and not inside):
            raise refuse(path, f"an accessor of {count:,} lies outside its view of a buffer")
        numbers.append(count * each)
        total += count * row
    stored = sum(int(view["byteLength"]) for view in views)
    if total > 4 * stored + 65536:
        raise refuse(path, "its accessors come to more than 4 times their buffers")
    return numbers


def _check_instances(tree: dict[str, Any], numbers: list[int], path: Path) -> None:
    """Each node has one place, and all that is shown stays in proportion to what is stored."""
    nodes, meshes = tree.get("nodes", []), tree.get("meshes", [])
    below = [child for node in nodes for child in node.get("children", [])]
    roots = tree["scenes"][tree.get("scene", 0)].get("nodes", [])
    if len(set(below)) != len(below) or not set(below).isdisjoint(roots):
        raise refuse(path, "a node of its scene lies below two others, or below itself")
    if any(not 0 <= child < len(nodes) for child in below):
        raise refuse(path, "a node of its scene does not exist")
    shown_by = Counter(node["mesh"] for node in nodes if "mesh" in node)
    times = [1 + shown_by[k] for k in range(len(meshes))]  # each is read once, and copied
    check_pieces(sum(n * len(m["primitives"]) for n, m in zip(times, meshes, strict=True)), path)
    weights: list[int] = []
    for mesh in meshes:
        weight = 0
        for piece in mesh["primitives"]:
            mode = piece.get("mode", 4)
            if mode == 6:
                raise refuse(path, "has a fan of triangles (mode 6), which is not read")
            position = piece["attributes"].get("POSITION")
            accessor = tree["accessors"][position] if position is not None else {}
            if accessor.get("normalized"):
                raise refuse(path, "has positions as normalized integers, which are not read")
            used = [position, piece.get("indices")]
            weight += sum(numbers[index] for index in used if index is not None)
        weights.append(weight)
    shown = sum(n * weight for n, weight in zip(times, weights, strict=True))
    if shown > max(_FREE, _TIMES * sum(numbers)):
        raise refuse(path, "its instances come to more than 8 times what it stores")


def _check_images(tree: dict[str, Any], binary: bytes, path: Path) -> tuple[str, ...]:
    """Images inside the file are looked at; those beside it are named."""
    for image in tree.get("images", []):
        uri = image.get("uri")
        if uri is not None and _embedded(uri):
            start = uri[uri.index("base64,") + 7 :]
            check_image(b64decode(start), path)
        elif uri is None and "bufferView" in image:
            view = tree["bufferViews"][image["bufferView"]]
            if "uri" not in tree["buffers"][view["buffer"]]:
                start = int(view.get("byteOffset", 0))
                check_image(binary[start : start + int(view["byteLength"])], path)
    return tuple(uri for uri in _uris(tree, "images") if uri)


def _uris(tree: dict[str, Any], kind: str) -> list[str]:
    """The names of files beside this one."""
    uris = (one.get("uri") for one in tree.get(kind, []))
    return [str(uri) for uri in uris if uri is not None and not _embedded(uri)]


def _embedded(uri: str) -> bool:
    return uri.startswith("data:") and "base64," in uri[:200]


def _shown_whole(tree: dict[str, Any]) -> bool:
    """Whether the tree stays as it is; else it is changed so that trimesh leaves nothing out.

    trimesh shows nothing of a file without scenes, and nothing below a node with a camera or with a
    mesh that has no triangles.
    """
    nodes, meshes = tree.setdefault("nodes", []), tree.get("meshes", [])
    solid = [any(piece.get("mode", 4) >= 4 for piece in mesh["primitives"]) for mesh in meshes]
    whole = True
    for node in nodes:
        for key in ("camera", "mesh"):
            if key in node and (key == "camera" or not solid[node["mesh"]]):
                del node[key]
                whole = False
    if not tree.get("scenes"):
        nodes += [] if nodes else [{"mesh": k} for k in range(len(meshes))]
        below = {child for node in nodes for child in node.get("children", [])}
        tree.update(scene=0, scenes=[{"nodes": [k for k in range(len(nodes)) if k not in below]}])
        whole = False
    return whole
