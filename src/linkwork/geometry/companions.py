"""The files that a mesh file needs beside it: what must go along when the mesh is copied."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from linkwork.errors import InputError
from linkwork.geometry import guards, guards_dae, guards_gltf, obj_text
from linkwork.geometry.beside import BUFFER_SUFFIXES, MATERIAL_SUFFIXES, library, place
from linkwork.geometry.meshes import IMAGE_SUFFIXES


@dataclass(frozen=True, slots=True)
class Companions:
    """The files ``found``, and a sentence for each name that leads to none that may be read."""

    found: tuple[Path, ...]
    refused: tuple[str, ...]


def companions(
    path: str | os.PathLike[str], roots: Sequence[str | os.PathLike[str]] = ()
) -> tuple[Path, ...]:
    """The files that a mesh names and that are there, with links resolved, each once.

    The material files of an OBJ and their textures, the images of a COLLADA file, the buffers and
    images of a glTF file. Names that lead outside the mesh's folder (and ``roots``), to no file or
    to another kind of file are passed over; `search` tells them.

    Raises: InputError when the mesh file itself is refused.
    """
    return search(path, roots).found


def search(
    path: str | os.PathLike[str], roots: Sequence[str | os.PathLike[str]] = ()
) -> Companions:
    """The files that a mesh names, and the names that are passed over with the reason.

    Raises: as `companions`.
    """
    mesh = Path(path)
    within = tuple(Path(root) for root in roots)
    found: dict[Path, None] = {}
    refused: dict[str, None] = {}
    for name, suffixes in _named(mesh, within):
        try:
            found[place(name, mesh, within, suffixes)] = None
        except InputError as error:
            refused[str(error)] = None
    found.pop(mesh.resolve(), None)
    return Companions(tuple(found), tuple(refused))


def _named(mesh: Path, roots: tuple[Path, ...]) -> Iterator[tuple[str, frozenset[str]]]:
    """The names in a mesh file, each with the suffixes it may have."""
    suffix = mesh.suffix.lower()
    if suffix not in (".obj", ".dae", ".gltf", ".glb", ".ply"):
        return
    data = guards.read(mesh).data
    if suffix == ".obj":
        for name in obj_text.prepared(data, mesh).libraries:
            yield name, MATERIAL_SUFFIXES
            yield from ((texture, IMAGE_SUFFIXES) for texture in _textures(name, mesh, roots))
    elif suffix == ".dae":
        for name in guards_dae.examine(data, mesh).images:
            yield name, IMAGE_SUFFIXES
    elif suffix == ".ply":
        for name in guards.ply_textures(data):
            yield name, IMAGE_SUFFIXES
    else:
        names = guards_gltf.examine(data, mesh)
        for name in names.buffers:
            yield name, BUFFER_SUFFIXES
        for name in names.images:
            yield name, IMAGE_SUFFIXES


def _textures(name: str, mesh: Path, roots: tuple[Path, ...]) -> list[str]:
    """The textures that a material file names."""
    try:
        return library(name, mesh, roots)[2]
    except InputError:
        return []  # told of by whoever looks for the material file itself
