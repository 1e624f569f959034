"""From trimesh's raw reading of a file to pieces that are whole, finite and in place.

What trimesh and pycollada would drop in silence is an error here, but for materials: of those
``left_out`` tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError
from linkwork.geometry import looks
from linkwork.geometry.beside import Beside
from linkwork.geometry.guards import missing_extra, ply_as_text, refuse, show
from linkwork.geometry.guards_dae import without

Floats = NDArray[np.float64]

_UNSEEN = frozenset(
    {"library_animations", "library_cameras", "library_lights", "instance_camera", "instance_light"}
)
_MATERIALS = frozenset({"bind_material", "library_materials", "library_effects"})


@dataclass(eq=False, slots=True)
class Piece:
    """A mesh of a file, with the pose that the file gives it and what it looks like."""

    mesh: Any
    name: str | None
    T_file_piece: Floats
    look: looks.Look

    def settle(self, T_link_file: Floats, path: Path) -> None:
        """Move the mesh to its place, once and for all.

        Raises: InputError where numbers become too large.
        """
        with np.errstate(all="ignore"):
            T = T_link_file @ self.T_file_piece
            if not np.array_equal(T, np.eye(4)):
                self.mesh.apply_transform(T)
        if not np.isfinite(self.mesh.vertices).all():
            raise refuse(path, "its vertices are not finite where the file puts them")

    def copy(self) -> Any:
        """A mesh of one's own."""
        made = self.mesh.copy()
        looks.given(made, self.look)
        return made

    def size(self) -> int:
        """Bytes, nearly."""
        images = sum(len(data) for data in self.look.images.values())
        return self.mesh.vertices.nbytes * 2 + self.mesh.faces.nbytes + images


def read(file: BytesIO, path: Path, beside: Beside) -> list[Piece]:
    """The pieces of a file that was checked, in its order.

    Raises: whatever trimesh does; InputError for vertices that are not finite and faces without
    their vertices; MissingExtraError.
    """
    try:
        from trimesh.exchange.load import mesh_loaders  # noqa: PLC0415  only who opens meshes
    except ImportError as error:
        raise missing_extra("meshes", "trimesh") from error
    kind = path.suffix.lower()[1:]

    def raw(data: bytes, **options: bool) -> dict[str, Any]:
        return mesh_loaders[kind](
            file_obj=BytesIO(data), file_type=kind, resolver=beside, **options
        )

    data = file.read()
    with np.errstate(all="ignore"):
        if kind == "dae":
            return _collada(raw, data, path, beside)
        return _pieces(_ply(raw, data) if kind == "ply" else raw(data), path, beside)


def _collada(raw: Any, data: bytes, path: Path, beside: Beside) -> list[Piece]:
    """The pieces of a COLLADA file: all of them, if need be without their colours.

    pycollada may ignore what it cannot read: then it drops poses and shapes too, and those matter.
    """
    _need_collada()

    def strict(data: bytes) -> list[Piece]:
        return _pieces(raw(data, ignore_broken=False), path, beside)

    for read in (strict, lambda data: strict(without(data, _UNSEEN))):
        try:
            return read(data)
        except LinkworkError:
            raise
        except Exception as error:  # of any library below
            fault = show(str(error) or type(error).__name__)
    shapes = strict(without(data, _UNSEEN | _MATERIALS))
    beside.left_out.append(f"'{show(path)}': a material is faulty: {fault}")
    try:
        colored = _pieces(raw(data, ignore_broken=True), path, beside)
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
        return raw(ply_as_text(data))
    return found


def _pieces(raw: dict[str, Any], path: Path, beside: Beside) -> list[Piece]:
    """What a loader of trimesh gave, as pieces in the order of the file."""
    shapes = raw["geometry"] if "geometry" in raw else {path.stem: raw}
    # trimesh works through the faces of an OBJ from its end
    names = reversed(shapes) if path.suffix.lower() == ".obj" else shapes
    meshes: dict[str, Any] = {}
    for name in names:
        if "faces" in shapes[name] and len(shapes[name]["faces"]):
            meshes[name] = _mesh(shapes[name], path, beside)
    looked = {name: looks.taken(mesh, beside) for name, mesh in meshes.items()}
    poses = _poses(raw, list(meshes))
    return [
        Piece(mesh if number == 0 else mesh.copy(), name, T, looked[name])
        for name, mesh in meshes.items()
        for number, T in enumerate(poses[name])
    ]


def _need_collada() -> None:
    try:
        import_module("collada")  # trimesh imports it later, and says less
    except ImportError as error:
        raise missing_extra("COLLADA files (.dae)", "pycollada") from error


def _mesh(shape: dict[str, Any], path: Path, beside: Beside) -> Any:
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
        beside.left_out.append(f"'{show(path)}': colours of faces with more than 3 corners")
    mesh = trimesh.Trimesh(vertices=vertices, faces=faces.astype(np.int64), process=False, **kept)
    mesh.merge_vertices()
    return mesh


def _poses(raw: dict[str, Any], names: list[str]) -> dict[str, list[Floats]]:
    """The poses T_file_piece (4, 4) of each shape in its file, in the order of its nodes."""
    if "graph" not in raw:
        return {name: [np.eye(4)] for name in names}
    poses: dict[str, list[Floats]] = {name: [] for name in names}
    base = raw.get("base_frame", "world")
    T_file_frame: dict[str, Floats] = {base: np.eye(4)}
    for edge in raw["graph"]:  # each after the one above it
        above = T_file_frame[edge.get("frame_from", base)]
        T = T_file_frame[edge["frame_to"]] = above @ edge.get("matrix", np.eye(4))
        if edge.get("geometry") in poses:
            poses[edge["geometry"]].append(T)
    if "base_frame" in raw:  # glTF, whose nodes trimesh goes through from the last one
        for placed in poses.values():
            placed.reverse()
    return poses
