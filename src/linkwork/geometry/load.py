"""Mesh files read: the pieces of one, in metres and in the axes of the link that it belongs to.

Reading is trimesh's work. Before it, `guards` sees whether a file is what it says; after it, what
trimesh leaves as it stands in the file is put right: COLLADA's unit, numbers that are not finite,
faces whose vertices do not exist, the order of pieces, opacity of materials.

Coordinates are taken as they stand in the file, z up, whatever the file says of its axes: that is
what descriptions of robots mean (the argument stands in docs/meshes.md). ``axes="declared"`` turns
y up into z up where a file declares it: COLLADA by ``up_axis``, glTF always.
"""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from linkwork import extras
from linkwork.errors import InputError, LinkworkError
from linkwork.geometry import guards, guards_dae, guards_gltf, guards_plain
from linkwork.geometry.guards import refuse, show
from linkwork.geometry.material_files import Resolver
from linkwork.geometry.meshes import MESH_SUFFIXES

if TYPE_CHECKING:
    import trimesh

Axes = Literal["written", "declared"]
Rgba = tuple[float, float, float, float]
Key = tuple[str, int, int]

MOST_KEPT = 256 * 2**20
"""Bytes of meshes and textures that are kept for the next call."""

_TURNS: dict[str, NDArray[np.float64]] = {
    "X_UP": np.array([[0.0, -1, 0, 0], [0, 0, -1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]),
    "Y_UP": np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]),
}


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """One piece of a mesh file, placed where the file puts it, in metres.

    ``rgba`` (0 to 1) is the colour of its material, or of all its faces where they have one alone.
    ``texture`` is the image file of its colour; images inside a file are in ``mesh.visual`` only.
    """

    mesh: trimesh.Trimesh
    name: str | None = None
    rgba: Rgba | None = None
    texture: Path | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Loaded:
    """The contents of a mesh file: its parts in the order of the file.

    ``left_out`` says which materials and textures that the file names were not read, and why.
    """

    parts: tuple[Part, ...]
    path: Path
    left_out: tuple[str, ...] = ()

    def mesh(self) -> trimesh.Trimesh:
        """All pieces as one mesh, with the colours of pieces as colours of faces; no textures."""
        return joined([(part.mesh, part.rgba) for part in self.parts])


def load(
    path: str | os.PathLike[str],
    *,
    roots: Sequence[str | os.PathLike[str]] = (),
    axes: Axes = "written",
) -> Loaded:
    """The pieces of a mesh file (STL, OBJ, COLLADA, glTF, PLY or OFF). Each call gives its own.

    Materials, textures and buffers beside the file are read from its folder and from ``roots``;
    what lies elsewhere is left out, but a buffer of glTF that does is refused. A file is read once
    and kept while it does not change.

    Raises: InputError naming the file and why it is refused; MissingExtraError where a package of
    the extra ``meshes`` is needed.
    """
    place = Path(path)
    if axes not in _AXES:
        raise InputError(f"axes is 'written' or 'declared', not {axes!r}")
    if place.suffix.lower() not in MESH_SUFFIXES:
        known = ", ".join(sorted(MESH_SUFFIXES))
        raise refuse(place, f"no mesh by its name; read are: {known}")
    within = tuple(Path(os.path.abspath(root)) for root in roots)
    with _LOCK:
        key = (guards.key_of(place), within, axes)
        kept = _KEPT.get(key)
        if kept is None or not kept.valid():
            kept = _read(place, within, axes)
            _KEPT.pop(key, None)
            if kept.size <= MOST_KEPT // 2:
                _KEPT[key] = kept
            while sum(one.size for one in _KEPT.values()) > MOST_KEPT:
                _KEPT.popitem(last=False)
        else:
            _KEPT.move_to_end(key)
        return kept.handed_out(place)


def forget() -> None:
    """Let go of every mesh that is kept for the next call."""
    with _LOCK:
        _KEPT.clear()


@dataclass(eq=False, slots=True)
class _Kept:
    """A file that was read. Nothing of it is handed out but copies."""

    parts: list[MeshPart]
    left_out: tuple[str, ...]
    beside: dict[Path, Key | None] = field(default_factory=dict[Path, "Key | None"])
    size: int = 0

    def valid(self) -> bool:
        """Whether the files beside it are as they were."""
        return all(_state(path) == state for path, state in self.beside.items())

    def handed_out(self, path: Path) -> Loaded:
        parts = (Part(p.copy(), p.name, p.material.rgba, p.material.texture) for p in self.parts)
        return Loaded(tuple(parts), path, self.left_out)


_AXES = ("written", "declared")
_LOCK = threading.RLock()
_KEPT: OrderedDict[tuple[Key, tuple[Path, ...], str], _Kept] = OrderedDict()


def _state(path: Path) -> Key | None:
    try:
        return guards.key_of(path)
    except InputError:
        return None


def _read(path: Path, roots: tuple[Path, ...], axes: Axes) -> _Kept:
    """A mesh file, from its bytes to pieces in place."""
    data, T_link_file, libraries = _checked(guards.read(path), path, axes)
    resolver = Resolver(path, roots, libraries)
    try:
        found = parts_of(data, path, resolver)
        if resolver.lacking is not None:
            raise resolver.lacking
        for piece in found:
            piece.settle(T_link_file, path)
    except LinkworkError:
        raise
    except ImportError as error:
        named = {"collada": "pycollada", "PIL": "pillow"}.get(error.name or "", error.name)
        meshes = f"meshes as '{show(path.name)}' need"
        raise extras.missing(meshes, named or "a package", "meshes", error) from error
    except (Exception, RecursionError, MemoryError) as error:
        said = str(error).split("\n")[0][:200] or type(error).__name__
        raise refuse(path, f"cannot be read as {path.suffix.lower()[1:]}: {said}") from error
    if not found:
        raise refuse(path, "holds no faces")
    states = {one: _state(one) for one in (*resolver.opened, *resolver.images)}
    size = sum(piece.size() for piece in found)
    return _Kept(found, tuple(dict.fromkeys(resolver.left_out)), states, size)


def _checked(
    data: bytes, path: Path, axes: Axes
) -> tuple[bytes, NDArray[np.float64], tuple[str, ...]]:
    """The bytes that trimesh reads right, T_link_file (4, 4), and the material files of an OBJ."""
    suffix, turn = path.suffix.lower(), "Z_UP"
    scale, libraries = 1.0, tuple[str, ...]()
    if suffix == ".dae":
        collada = guards_dae.examine(data, path)
        data = guards_dae.plain_accessors(data) if collada.strided else data
        turn, scale = collada.up, collada.unit
    elif suffix in (".glb", ".gltf"):
        data, turn = guards_gltf.examine(data, path).data, "Y_UP"
    elif suffix == ".obj":
        text = guards_plain.prepared_obj(data, path)
        data, libraries = text.data, text.libraries
    else:
        data = guards_plain.check_plain(data, path)
    T = _TURNS.get(turn, np.eye(4)) if axes == "declared" else np.eye(4)
    return data, T @ np.diag([scale, scale, scale, 1.0]), libraries


_UNSEEN = frozenset(
    {"library_animations", "library_cameras", "library_lights", "instance_camera", "instance_light"}
)
_MATERIALS = frozenset({"bind_material", "library_materials", "library_effects"})

_SLOTS = (
    "image",
    "baseColorTexture",
    "emissiveTexture",
    "metallicRoughnessTexture",
    "normalTexture",
    "occlusionTexture",
)
_GREY = (102, 102, 102, 255)


# ---- materials


@dataclass(slots=True)
class Material:
    """The colour and texture of a part, and its images as bytes of files."""

    rgba: Rgba | None = None
    texture: Path | None = None
    images: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def put_on(self, mesh: Any) -> None:
        """Put the images, undecoded, into the material of a mesh that is a copy."""
        for slot, data in self.images.items():
            setattr(mesh.visual.material, slot, guards.open_image(data, slot))


def material_of(mesh: Any, resolver: Resolver) -> Material:
    """The material of a mesh. Images are taken out of it, as they are in their files."""
    found = Material()
    visual = mesh.visual
    material = getattr(visual, "material", None)
    if material is None:
        found.rgba = _one_color(visual)
        return found
    for slot in _SLOTS:
        image = getattr(material, slot, None)
        if image is None:
            continue
        setattr(material, slot, None)
        file = resolver.marked(image)
        if file is None and getattr(image, "format", None) is None:
            continue  # trimesh's own, in the place of one that is not there
        try:
            data = guards.read(file) if file else guards.image_bytes(image)
            guards.check_image(data, file or resolver.mesh)
        except InputError as error:
            resolver.left_out.append(str(error))
            continue
        found.images[slot] = data
        if slot in ("image", "baseColorTexture"):
            found.texture = file
    found.rgba = _material_color(material, bool(found.images))
    return found


def joined(parts: Sequence[tuple[Any, Rgba | None]]) -> Any:
    """One mesh of several, with the colours of the pieces as colours of their faces."""
    import trimesh  # noqa: PLC0415  only who opens meshes needs it

    vertices, faces, colors = list[Any](), list[Any](), list[Any]()
    colored, count = False, 0
    for mesh, rgba in parts:
        vertices.append(np.asarray(mesh.vertices))
        faces.append(np.asarray(mesh.faces) + count)
        count += len(mesh.vertices)
        color = np.broadcast_to(np.array(_GREY, np.uint8), (len(mesh.faces), 4))
        if rgba is not None:
            eight = np.round(255 * np.array(rgba)).astype(np.uint8)
            color, colored = np.broadcast_to(eight, color.shape), True
        elif mesh.visual.kind in ("vertex", "face"):
            color, colored = np.asarray(mesh.visual.face_colors), True
        colors.append(color)
    if not parts:
        return trimesh.Trimesh()
    face_colors = np.vstack(colors) if colored else None
    return trimesh.Trimesh(
        np.vstack(vertices), np.vstack(faces), face_colors=face_colors, process=False
    )


def _material_color(material: Any, textured: bool) -> Rgba | None:
    """The colour of a material; None where the file gives none."""
    if hasattr(material, "baseColorFactor"):
        color = material.baseColorFactor
        return (1.0, 1.0, 1.0, 1.0) if color is None else _rgba(color)
    if "kd" not in material.kwargs:  # the diffuse colour is trimesh's own
        return (1.0, 1.0, 1.0, 1.0) if textured else None
    color = list(_rgba(material.diffuse))
    for key, clear in (("d", False), ("tr", True)):
        value = material.kwargs.get(key)
        text = str(value[-1] if isinstance(value, list) and value else value)
        if value is not None and re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", text, re.IGNORECASE):
            opaque = 1 - float(text) if clear else float(text)
            # programs disagree on what Tr 1 means; nobody means a part that cannot be seen
            color[3] = min(opaque, 1.0) if opaque > 0 else 1.0
            break
    return (color[0], color[1], color[2], color[3])


def _one_color(visual: Any) -> Rgba | None:
    """The colour of all faces, where they have the same one."""
    if visual.kind not in ("face", "vertex"):
        return None
    colors = np.asarray(visual.face_colors if visual.kind == "face" else visual.vertex_colors)
    return _rgba(colors[0]) if len(colors) and (colors == colors[0]).all() else None


def _rgba(color: Any) -> Rgba:
    """Four numbers from 0 to 1, of three or four from 0 to 255."""
    red, green, blue, alpha = [*(float(c) / 255 for c in color), 1.0][:4]
    return (red, green, blue, alpha)


# ---- parts: what trimesh and pycollada would drop in silence is an error, but for materials


@dataclass(eq=False, slots=True)
class MeshPart:
    """A mesh of a file, with the pose that the file gives it and what it looks like."""

    mesh: Any
    name: str | None
    T_file_part: NDArray[np.float64]
    material: Material

    def settle(self, T_link_file: NDArray[np.float64], path: Path) -> None:
        """Move the mesh to its place, once and for all.

        Raises: InputError where numbers become too large.
        """
        with np.errstate(all="ignore"):
            T = T_link_file @ self.T_file_part
            if not np.array_equal(T, np.eye(4)):
                self.mesh.apply_transform(T)
        if not np.isfinite(self.mesh.vertices).all():
            raise refuse(path, "its vertices are not finite where the file puts them")

    def copy(self) -> Any:
        """A mesh of one's own."""
        made = self.mesh.copy()
        self.material.put_on(made)
        return made

    def size(self) -> int:
        """Bytes, nearly."""
        images = sum(len(data) for data in self.material.images.values())
        return self.mesh.vertices.nbytes * 2 + self.mesh.faces.nbytes + images


def parts_of(data: bytes, path: Path, resolver: Resolver) -> list[MeshPart]:
    """The pieces of a file that was checked, in its order.

    Raises: whatever trimesh does; InputError for vertices that are not finite and faces without
    their vertices; MissingExtraError.
    """
    with extras.needed("meshes need", "trimesh", "meshes"):
        from trimesh.exchange.load import mesh_loaders  # noqa: PLC0415  only who opens meshes
    kind = path.suffix.lower()[1:]

    def raw(data: bytes, **options: bool) -> dict[str, Any]:
        return mesh_loaders[kind](
            file_obj=BytesIO(data), file_type=kind, resolver=resolver, **options
        )

    with np.errstate(all="ignore"):
        if kind == "dae":
            return _collada(raw, data, path, resolver)
        return _pieces(_ply(raw, data) if kind == "ply" else raw(data), path, resolver)


def _collada(raw: Any, data: bytes, path: Path, resolver: Resolver) -> list[MeshPart]:
    """The pieces of a COLLADA file: all of them, if need be without their colours.

    pycollada may ignore what it cannot read: then it drops poses and shapes too, and those matter.
    """
    with extras.needed("COLLADA files (.dae) need", "pycollada", "meshes"):
        import_module("collada")  # trimesh imports it later, and says less

    def strict(data: bytes) -> list[MeshPart]:
        return _pieces(raw(data, ignore_broken=False), path, resolver)

    for read in (strict, lambda data: strict(guards_dae.without(data, _UNSEEN))):
        try:
            return read(data)
        except LinkworkError:
            raise
        except Exception as error:  # of any library below
            fault = show(str(error) or type(error).__name__)
    shapes = strict(guards_dae.without(data, _UNSEEN | _MATERIALS))
    resolver.left_out.append(f"'{show(path)}': a material is faulty: {fault}")
    try:
        colored = _pieces(raw(data, ignore_broken=True), path, resolver)
    except LinkworkError:
        raise
    except Exception:
        return shapes
    return colored if len(colored) == len(shapes) else shapes


def _ply(raw: Any, data: bytes) -> dict[str, Any]:
    """A PLY file; of a binary one trimesh takes all lists to be as long as the first."""
    if b"binary" not in data[: data.find(b"end_header")]:
        return raw(data)
    try:
        found = raw(data)
        for element in found["metadata"]["_ply_raw"].values():
            rows = element["data"]
            lists = [rows[name]["f0"] for name in rows.dtype.names if rows[name].dtype.names]
            if any((lengths != lengths[0]).any() for lengths in lists if len(lengths)):
                raise ValueError("lists of different lengths")
    except ValueError:
        return raw(guards_plain.ply_as_text(data))
    return found


def _pieces(raw: dict[str, Any], path: Path, resolver: Resolver) -> list[MeshPart]:
    """The parts, in the order of the file, of what a loader of trimesh gave."""
    shapes = raw["geometry"] if "geometry" in raw else {path.stem: raw}
    # trimesh works through the faces of an OBJ from its end
    names = reversed(shapes) if path.suffix.lower() == ".obj" else shapes
    meshes: dict[str, Any] = {}
    for name in names:
        if "faces" in shapes[name] and len(shapes[name]["faces"]):
            meshes[name] = _mesh(shapes[name], path, resolver)
    looked = {name: material_of(mesh, resolver) for name, mesh in meshes.items()}
    poses = _poses(raw, list(meshes))
    return [
        MeshPart(mesh if number == 0 else mesh.copy(), name, T, looked[name])
        for name, mesh in meshes.items()
        for number, T in enumerate(poses[name])
    ]


_MERGED = 1e10
"""Coordinates from here on (m) are not merged: trimesh counts places in steps of 1e-8 m, in whole
numbers of 64 bits, and those farther away would all be one."""


def _mesh(shape: dict[str, Any], path: Path, resolver: Resolver) -> Any:
    """A mesh of arrays that were looked at first: trimesh drops what is not finite in silence."""
    import trimesh  # noqa: PLC0415  only who opens meshes needs it

    vertices = np.asarray(shape["vertices"], np.float64)
    faces = np.asarray(shape["faces"])
    if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2:
        raise refuse(path, f"vertices of shape {vertices.shape}, faces of shape {faces.shape}")
    bad = int((~np.isfinite(vertices)).any(axis=1).sum())
    if bad:
        raise refuse(path, f"{bad:,} of {len(vertices):,} vertices are not finite (nan or inf)")
    if faces.min() < 0 or faces.max() >= len(vertices):
        worst = faces.min() if faces.min() < 0 else faces.max()
        raise refuse(path, f"a face has vertex {worst:,}, and there are {len(vertices):,}")
    kept: dict[str, Any] = {
        key: shape.get(key)
        for key in ("vertex_normals", "vertex_colors", "face_colors", "visual")
        if shape.get(key) is not None
    }
    if "visual" in kept and "vertex_colors" in kept:
        del kept["vertex_colors"]  # a material stands above them
    if "face_colors" in kept and (len(kept["face_colors"]), 3) != faces.shape:
        del kept["face_colors"]
        resolver.left_out.append(f"'{show(path)}': colours of faces with more than 3 corners")
    mesh = trimesh.Trimesh(vertices=vertices, faces=faces.astype(np.int64), process=False, **kept)
    if np.abs(vertices).max(initial=0.0) < _MERGED:
        mesh.merge_vertices()
    return mesh


def _poses(raw: dict[str, Any], names: list[str]) -> dict[str, list[NDArray[np.float64]]]:
    """The poses T_file_part (4, 4) of each shape in its file, in the order of its nodes."""
    if "graph" not in raw:
        return {name: [np.eye(4)] for name in names}
    poses: dict[str, list[NDArray[np.float64]]] = {name: [] for name in names}
    base = raw.get("base_frame", "world")
    T_file_frame: dict[str, NDArray[np.float64]] = {base: np.eye(4)}
    for edge in raw["graph"]:  # each after the one above it
        above = T_file_frame[edge.get("frame_from", base)]
        T = T_file_frame[edge["frame_to"]] = above @ edge.get("matrix", np.eye(4))
        if edge.get("geometry") in poses:
            poses[edge["geometry"]].append(T)
    if "base_frame" in raw:  # glTF, whose nodes trimesh goes through from the last one
        for placed in poses.values():
            placed.reverse()
    return poses
