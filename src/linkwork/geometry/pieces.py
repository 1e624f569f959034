"""From trimesh's raw reading of a file to pieces that are whole, finite and in place."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from linkwork.geometry import looks
from linkwork.geometry.beside import Beside
from linkwork.geometry.guards import missing_extra, refuse

Floats = NDArray[np.float64]


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
        import trimesh  # noqa: PLC0415  only who opens meshes needs it
        from trimesh.exchange.load import mesh_loaders  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra("meshes", "trimesh") from error
    kind = path.suffix.lower()[1:]
    if kind == "dae":
        _need_collada()
    with np.errstate(all="ignore"):
        raw = mesh_loaders[kind](file_obj=file, file_type=kind, resolver=beside)
        shapes = raw["geometry"] if "geometry" in raw else {path.stem: raw}
        # trimesh works through the faces of an OBJ from its end
        names = list(reversed(shapes)) if kind == "obj" else list(shapes)
        meshes: dict[str, Any] = {}
        for name in names:
            if "faces" in shapes[name] and len(shapes[name]["faces"]):
                meshes[name] = _mesh(trimesh.Trimesh, shapes[name], path)
        return [
            Piece(mesh, name, T, look)
            for name, T, mesh, look in _placed(trimesh, raw, meshes, beside)
        ]


def without_materials(data: bytes) -> bytes:
    """A COLLADA file in which no shape has a material."""
    root = ElementTree.fromstring(data)
    for element in list(root.iter()):
        for child in list(element):
            if child.tag.rpartition("}")[2] in ("bind_material", "library_effects"):
                element.remove(child)
    if root.tag.startswith("{"):
        ElementTree.register_namespace("", root.tag[1:].partition("}")[0])
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def _need_collada() -> None:
    try:
        import_module("collada")  # trimesh imports it later, and says less
    except ImportError as error:
        raise missing_extra("COLLADA files (.dae)", "pycollada") from error


def _mesh(make: Any, shape: dict[str, Any], path: Path) -> Any:
    """A mesh of arrays that were looked at first: trimesh drops what is not finite in silence."""
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
    kept = {
        key: shape.get(key)
        for key in ("vertex_normals", "vertex_colors", "face_colors", "visual")
        if shape.get(key) is not None
    }
    if "visual" in kept and "vertex_colors" in kept:
        del kept["vertex_colors"]  # a material stands above them
    mesh = make(vertices=vertices, faces=faces.astype(np.int64), process=False, **kept)
    mesh.merge_vertices()
    return mesh


def _placed(trimesh: Any, raw: dict[str, Any], meshes: dict[str, Any], beside: Beside) -> Any:
    """Each mesh with each of its poses in the file: name, T_file_piece (4, 4), mesh, look."""
    seen = {name: looks.taken(mesh, beside) for name, mesh in meshes.items()}
    if not raw.get("graph"):
        for name, mesh in meshes.items():
            yield name, np.eye(4), mesh, seen[name]
        return
    scene = trimesh.Scene()
    scene.geometry.update(meshes)
    for edge in raw["graph"]:
        scene.graph.update(**edge)
    if "base_frame" in raw:
        scene.graph.base_frame = raw["base_frame"]
    poses: dict[str, list[Floats]] = {name: [] for name in meshes}
    for node in scene.graph.nodes_geometry:
        pose, name = scene.graph[node]
        if name in poses:
            poses[name].append(np.array(pose, np.float64))
    for name, mesh in meshes.items():
        if "base_frame" in raw:  # glTF, whose nodes trimesh goes through from the last one
            poses[name].reverse()
        for number, pose in enumerate(poses[name]):
            yield name, pose, mesh if number == 0 else mesh.copy(), seen[name]
