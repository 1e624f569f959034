"""The files beside a mesh that it names: materials, textures, buffers.

A name is relative to the mesh's folder and must lead to a regular file inside it, or inside one of
the roots that the caller gives, after links are resolved. Nothing is ever fetched from a network.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote

from linkwork import extras
from linkwork.errors import InputError, MissingExtraError
from linkwork.geometry import guards_dae, guards_gltf, guards_plain
from linkwork.geometry.guards import (
    as_utf8,
    read,
    refuse,
    show,
)
from linkwork.geometry.meshes import IMAGE_SUFFIXES, inside

MATERIAL_SUFFIXES = frozenset({".mtl"})
BUFFER_SUFFIXES = frozenset({".bin", ".glbin", ".buf"})

LARGEST_MATERIAL = 16 * 2**20
"""Bytes of a material file (.mtl)."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_OPTION = re.compile(r"-[a-z]+$", re.IGNORECASE)
_ARGUMENT = re.compile(r"on|off|[-+]?[\d.]+(e[-+]?\d+)?")
_TEXTURE = re.compile(r"^[ \t]*map_kd[ \t]+(\S[^\r\n]*)", re.IGNORECASE | re.MULTILINE)


def place(
    name: str, mesh: Path, roots: Sequence[Path] = (), suffixes: frozenset[str] = IMAGE_SUFFIXES
) -> Path:
    """The file that a mesh means by ``name``, with links resolved.

    Raises: InputError when it is of another kind, lies outside the mesh's folder and the roots, or
    is not there; whether a file outside exists is not told.
    """
    text = unquote(name) if "%" in name else name
    text = text.strip().replace("\\", "/")
    if text.startswith("file:"):
        text = re.sub(r"^file:(//(localhost)?(?=/))?", "", text)
    label = f"'{show(name)}'"
    if not text or "\0" in text or len(text) > 4096 or (len(text) > 1 and text[1] == ":"):
        raise refuse(mesh, f"names {label}, which is no path beside it")
    if _SCHEME.match(text):
        raise refuse(mesh, f"names {label}; only files beside it are read, nothing is fetched")
    if Path(text).suffix.lower() not in suffixes:
        known = ", ".join(sorted(suffixes))
        raise refuse(mesh, f"names {label}, which is no such file by its name; read are: {known}")
    own = [os.path.abspath(root) for root in (mesh.parent, *roots)]
    within = [Path(folder) for root in own for folder in (root, os.path.realpath(root))]
    candidate = Path(os.path.normpath(os.path.join(os.path.abspath(mesh.parent), text)))
    outside = f"names {label}, which lies outside its folder; pass roots=[folder] to allow it"
    # Before the disk is asked: whether a file outside exists is nobody's business.
    if not inside(candidate, within):
        raise refuse(mesh, outside)
    try:
        found = candidate.resolve(strict=True)
        status = found.stat()
    except (OSError, RuntimeError, ValueError):
        raise refuse(mesh, f"names {label}, which is not there") from None
    if not inside(found, within):
        raise refuse(mesh, outside)
    if not stat.S_ISREG(status.st_mode):
        raise refuse(mesh, f"names {label}, which is no regular file")
    return found


def library(name: str, mesh: Path, roots: Sequence[Path] = ()) -> tuple[Path, str, list[str]]:
    """A material file (.mtl) of an OBJ: where it is, its text, and its colour textures.

    In the text, ``map_Kd`` has nothing but a name, and that counts from the OBJ's folder: a texture
    is looked for beside the material file first.

    Raises: InputError when it may not be read.
    """
    found = place(name, mesh, roots, MATERIAL_SUFFIXES)
    data = read(found, LARGEST_MATERIAL)
    text = as_utf8(data).decode("utf-8")
    textures: list[str] = []

    def plain(line: re.Match[str]) -> str:
        words, k = line[1].split(), 0  # behind options: ``-clamp on -s 1 1 1 a picture.png``
        if words and _OPTION.match(words[0]):
            while k < len(words) - 1 and (_OPTION.match(words[k]) or _ARGUMENT.fullmatch(words[k])):
                k += 1
        texture = " ".join(words[k:]) if k else line[1].strip()
        near = os.path.join(os.path.dirname(name.replace("\\", "/")), texture.replace("\\", "/"))
        if near != texture:
            try:
                place(near, mesh, roots)
                texture = near
            except InputError:
                pass
        textures.append(texture)
        return f"map_Kd {texture}"

    return found, _TEXTURE.sub(plain, text), textures


def material_files(
    path: str | os.PathLike[str], roots: Sequence[str | os.PathLike[str]] = ()
) -> tuple[Path, ...]:
    """The files that a mesh names and that are there, with links resolved, each once.

    They must go along when the mesh is copied: the material files of an OBJ and their textures, the
    images of a COLLADA file, the buffers and images of a glTF file. Names that lead outside the
    mesh's folder (and ``roots``), to no file or to another kind of file are passed over.

    Raises: InputError when the mesh file itself is refused.
    """
    mesh = Path(path)
    within = tuple(Path(root) for root in roots)
    found: dict[Path, None] = {}
    for name, suffixes in _named(mesh, within):
        with suppress(InputError):
            found[place(name, mesh, within, suffixes)] = None
    found.pop(mesh.resolve(), None)
    return tuple(found)


def _named(mesh: Path, roots: tuple[Path, ...]) -> Iterator[tuple[str, frozenset[str]]]:
    """The names in a mesh file, each with the suffixes it may have."""
    suffix = mesh.suffix.lower()
    if suffix not in (".obj", ".dae", ".gltf", ".glb", ".ply"):
        return
    data = read(mesh)
    if suffix == ".obj":
        for name in guards_plain.prepared_obj(data, mesh).libraries:
            yield name, MATERIAL_SUFFIXES
            with suppress(InputError):  # told of by whoever looks for the material file itself
                yield from ((each, IMAGE_SUFFIXES) for each in library(name, mesh, roots)[2])
    elif suffix == ".dae":
        for name in guards_dae.examine(data, mesh).images:
            yield name, IMAGE_SUFFIXES
    elif suffix == ".ply":
        for name in guards_plain.ply_textures(data):
            yield name, IMAGE_SUFFIXES
    else:
        names = guards_gltf.examine(data, mesh)
        for name in names.buffers:
            yield name, BUFFER_SUFFIXES
        for name in names.images:
            yield name, IMAGE_SUFFIXES


class Resolver:
    """The resolver that trimesh asks for files; images are answered by a mark, and opened later.

    So nothing is decoded while a mesh is read, and which file an image came from stays known.
    ``opened`` are the files that were used, ``left_out`` says what was not and why; ``lacking`` is
    the error for a package that is missing.
    """

    def __init__(self, mesh: Path, roots: Sequence[Path], libraries: Sequence[str] = ()) -> None:
        self.mesh, self.roots = mesh, tuple(roots)
        self.file_name = mesh.name
        self.libraries = list(libraries)
        self.images: list[Path] = []
        self.opened: list[Path] = []
        self.left_out: list[str] = []
        self.lacking: MissingExtraError | None = None

    def get(self, name: str) -> bytes:
        """The bytes of a file beside the mesh.

        Raises: InputError for a buffer; FileNotFoundError, which trimesh goes on from, otherwise.
        """
        if self.libraries:
            names, self.libraries = self.libraries, []
            return b"\n".join(self._library(name) for name in names)
        suffix = Path(name.strip()).suffix.lower()
        if suffix in BUFFER_SUFFIXES:
            found = place(name, self.mesh, self.roots, BUFFER_SUFFIXES)
            self.opened.append(found)
            return read(found)
        try:
            found = place(name, self.mesh, self.roots, IMAGE_SUFFIXES)
        except InputError as error:
            self.left_out.append(str(error))
            raise FileNotFoundError(name) from None
        try:
            import_module("PIL")
        except ImportError:  # trimesh would go on without the texture, and say nothing
            self.lacking = extras.missing("textures need", "pillow", "meshes")
        self.images.append(found)
        return _mark(len(self.images) - 1)

    def __getitem__(self, name: str) -> bytes:
        return self.get(name)

    def marked(self, image: object) -> Path | None:
        """The file that an image stands for, if it is one of the marks."""
        number = getattr(image, "info", {}).get("linkwork")
        return self.images[int(number)] if number is not None else None

    def _library(self, name: str) -> bytes:
        """The text of a material file, empty where it may not be read."""
        try:
            found, text, _ = library(name, self.mesh, self.roots)
        except InputError as error:
            self.left_out.append(str(error))
            return b""
        self.opened.append(found)
        return text.encode()


def _mark(number: int) -> bytes:
    """A picture (PNG) of one pixel that carries a number."""
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
        (b"tEXt", b"linkwork\0%d" % number),
        (b"IDAT", zlib.compress(b"\0\0")),
        (b"IEND", b""),
    )
    body = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)
