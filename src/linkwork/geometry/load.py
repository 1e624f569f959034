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
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError, LinkworkError
from linkwork.geometry import guards, guards_dae, guards_gltf, mesh_parts, obj_text
from linkwork.geometry.guards import refuse
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
        return mesh_parts.joined([(part.mesh, part.rgba) for part in self.parts])


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
            _keep(key, kept)
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

    parts: list[mesh_parts.MeshPart]
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


def _keep(key: tuple[Key, tuple[Path, ...], str], kept: _Kept) -> None:
    _KEPT.pop(key, None)
    if kept.size > MOST_KEPT // 2:
        return
    _KEPT[key] = kept
    while sum(one.size for one in _KEPT.values()) > MOST_KEPT:
        _KEPT.popitem(last=False)


def _state(path: Path) -> Key | None:
    try:
        return guards.key_of(path)
    except InputError:
        return None


def _read(path: Path, roots: tuple[Path, ...], axes: Axes) -> _Kept:
    """A mesh file, from its bytes to pieces in place."""
    data, T_link_file, libraries = _checked(guards.read(path).data, path, axes)
    resolver = Resolver(path, roots, libraries)
    try:
        found = mesh_parts.read(BytesIO(data), path, resolver)
        if resolver.lacking is not None:
            raise resolver.lacking
        for piece in found:
            piece.settle(T_link_file, path)
    except LinkworkError:
        raise
    except ImportError as error:
        raise guards.missing_extra(f"meshes as '{guards.show(path.name)}'", _name(error)) from error
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
        text = obj_text.prepared(data, path)
        data, libraries = text.data, text.libraries
    else:
        data = guards.check_plain(data, path)
    T = _TURNS.get(turn, np.eye(4)) if axes == "declared" else np.eye(4)
    return data, T @ np.diag([scale, scale, scale, 1.0]), libraries


def _name(error: ImportError) -> str:
    return {"collada": "pycollada", "PIL": "pillow"}.get(error.name or "", error.name or str(error))
