"""Is a mesh or image file what it says: seen before anything of the size it claims is allocated.

A mesh comes with a description that anybody may have written. What is checked here is small:
headers, counts against the length of the file, references. Reading geometry is left to trimesh.
"""

from __future__ import annotations

import os
import re
import stat
import struct
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from linkwork.errors import InputError, MissingExtraError
from linkwork.legible import legible

LARGEST = 512 * 2**20
"""Bytes of a mesh or image file; larger ones are refused."""

LARGEST_SIDE = 16384
"""Pixels of the longer side of an image; larger ones are refused."""

MOST_PIECES = 2000
"""Pieces of a mesh file, each of a material or node of its own; files with more are refused."""

IMAGE_FORMATS = ("PNG", "JPEG", "BMP", "TIFF", "WEBP", "GIF")
"""The formats that images are opened as; nothing that starts another program, as EPS would."""

_PLY_KINDS = {  # as module struct names them
    **dict(char="b", uchar="B", short="h", ushort="H", int="i", uint="I", float="f", double="d"),
    **dict(int8="b", uint8="B", int16="h", uint16="H", int32="i", uint32="I", int64="q"),
    **dict(uint64="Q", float16="e", float32="f", float64="d"),
}
_OFF_HEADER = re.compile(rb"\s*(?:#[^\n]*\n\s*)*(ST)?C?N?OFF\b[^\S\n]*(BINARY)?")
_CORNER = re.compile(rb"\bvertex\s+\S+\s+\S+\s+\S+\s+(?=vertex|endloop)")
_NUMBER = re.compile(rb"[+-]?\d{1,18}")


@dataclass(frozen=True, slots=True)
class Content:
    """A file that was read: its bytes, and what tells this state of it from another."""

    data: bytes
    key: tuple[str, int, int]


def show(path: str | os.PathLike[str]) -> str:
    """A file's name for a message: on one line, printable, not endless."""
    text = str(path)
    return legible(text if len(text) <= 300 else "..." + text[-297:])


def refuse(path: str | os.PathLike[str], reason: str) -> InputError:
    """The error that names a file and says what is wrong with it."""
    return InputError(f"'{show(path)}': {reason}")


def key_of(path: Path) -> tuple[str, int, int]:
    """The state of a file: its resolved name, size and time of change in ns.

    Raises: InputError when there is no such regular file.
    """
    try:
        found = path.resolve(strict=True)
        status = found.stat()
    except (OSError, RuntimeError, ValueError) as error:
        raise refuse(path, f"cannot be read: {_reason(error)}") from None
    _regular(path, status)
    return (str(found), status.st_size, status.st_mtime_ns)


def read(path: Path, limit: int = LARGEST) -> Content:
    """The bytes of a regular file of at most ``limit`` bytes.

    Pipes and devices are neither waited for nor read.

    Raises: InputError.
    """
    nonblock = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        # A pipe that nobody writes to would let a plain open() wait forever.
        handle = os.open(path, os.O_RDONLY | nonblock | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError) as error:
        raise refuse(path, f"cannot be read: {_reason(error)}") from None
    try:
        status = os.fstat(handle)
        _regular(path, status)
        if status.st_size > limit:
            large = f"{status.st_size:,} bytes; the most that is read is {limit:,}"
            raise refuse(path, large)
        with os.fdopen(handle, "rb", buffering=0, closefd=False) as file:
            data = file.read(status.st_size)
    except OSError as error:
        raise refuse(path, f"cannot be read: {_reason(error)}") from None
    finally:
        os.close(handle)
    return Content(data, (os.path.realpath(path), status.st_size, status.st_mtime_ns))


def check(path: str | os.PathLike[str]) -> None:
    """See whether a mesh or image file is what it says, by its name's suffix.

    Raises: InputError naming the file and why it is refused; MissingExtraError without Pillow, for
    an image.
    """
    from linkwork.geometry import guards_dae, guards_gltf, obj_text  # noqa: PLC0415  they use this

    place = Path(path)
    data, suffix = read(place).data, place.suffix.lower()
    if suffix == ".obj":
        obj_text.prepared(data, place)
    elif suffix == ".dae":
        guards_dae.examine(data, place)
    elif suffix in (".glb", ".gltf"):
        guards_gltf.examine(data, place)
    elif suffix in _PLAIN:
        check_plain(data, place)
    else:
        check_image(data, place)


def check_plain(data: bytes, path: Path) -> bytes:
    """An STL, PLY or OFF file: the bytes to read, without what trails behind a binary STL.

    Raises: InputError.
    """
    if not data:
        raise refuse(path, "the file is empty")
    return _PLAIN[path.suffix.lower()](data, path)


def check_pieces(count: int, path: Path) -> None:
    """See whether a mesh comes to at most `MOST_PIECES` pieces: each takes time, however small.

    Raises: InputError.
    """
    if count > MOST_PIECES:
        raise refuse(path, f"comes to {count:,} pieces; the most that are read is {MOST_PIECES:,}")


def as_utf8(text: bytes) -> bytes:
    """Text in UTF-8; what is none is taken for Latin-1, which has the same numbers and line ends.

    trimesh would ask for a package that guesses.
    """
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1").encode("utf-8")
    return text


def check_image(data: bytes, path: str | os.PathLike[str]) -> None:
    """An image of a known format with at most `LARGEST_SIDE` pixels a side; it is not decoded.

    Raises: InputError; MissingExtraError without Pillow.
    """
    image = open_image(data, path)
    image.close()


def open_image(data: bytes, path: str | os.PathLike[str]) -> Any:
    """The image (PIL) in these bytes, decoded when it is first asked for pixels.

    Raises: as `check_image`.
    """
    try:
        from PIL import Image  # noqa: PLC0415  an optional package, for who has textures
    except ImportError as error:
        raise missing_extra("textures", "pillow") from error
    try:
        image = Image.open(BytesIO(data), formats=IMAGE_FORMATS)
    except Exception as error:
        raise refuse(path, f"no image that is read ({', '.join(IMAGE_FORMATS)})") from error
    if max(image.size) > LARGEST_SIDE:
        wide, high = image.size
        image.close()
        raise refuse(path, f"an image of {wide} x {high} pixels; a side has at most {LARGEST_SIDE}")
    return image


def ply_textures(data: bytes) -> list[str]:
    """The images that the header of a PLY file names."""
    header = data[: max(data.find(b"end_header", 0, 65536), 0)].decode("utf-8", "replace")
    lines = (line.split(None, 2) for line in header.splitlines())
    return [w[2].strip() for w in lines if len(w) == 3 and w[:2] == ["comment", "TextureFile"]]


def ply_as_text(data: bytes) -> bytes:
    """A binary PLY file that was checked, in text: there lists may be of different lengths.

    Raises: struct.error where it is cut off.
    """
    end = data.find(b"end_header")
    at = data.find(b"\n", end) + 1
    header = [line.split() for line in data[:end].decode("utf-8", "replace").splitlines()]
    order = ">" if any("big" in words[1] for words in header if words[:1] == ["format"]) else "<"
    elements: list[tuple[int, list[list[str]]]] = []
    for words in header:
        if words[:1] == ["element"]:
            elements.append((int(words[2]), []))
        elif words[:1] == ["property"]:
            elements[-1][1].append([order + _PLY_KINDS[kind] for kind in words[-2:0:-1][:2]])
    lines: list[str] = []
    for count, properties in elements:
        for _ in range(count if properties else 0):
            row: list[Any] = []
            for kind, *counted in properties:
                length = 1
                for size in counted:
                    (length,) = struct.unpack_from(size, data, at)
                    at += struct.calcsize(size)
                    row.append(length)
                numbers = f"{kind[0]}{length}{kind[1]}"
                row += struct.unpack_from(numbers, data, at)
                at += struct.calcsize(numbers)
            lines.append(" ".join(map(repr, row)))
    if at != len(data):
        raise struct.error(f"{len(data) - at:,} bytes follow the last element")
    named = re.sub(rb"\bbinary_\w+", b"ascii", data[:end], count=1)
    return named + b"end_header\n" + "\n".join([*lines, ""]).encode()


def missing_extra(what: str, package: str) -> MissingExtraError:
    """The error for a package of the extra ``meshes`` that is not installed."""
    return MissingExtraError(
        f"{what} need {package}, which is not installed: pip install 'linkwork[meshes]'"
    )


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "there is no such path"


def _regular(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise refuse(path, "is no regular file; pipes, devices and folders are not read")


def _check_stl(data: bytes, path: Path) -> bytes:
    claimed = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if claimed >= 0 and len(data) == 84 + 50 * claimed:
        return data
    start = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith(b"solid") and (b"facet" in start or b"endsolid" in data[-4096:].lower()):
        _check_facets(data.lower(), path)
        return as_utf8(data)
    if claimed < 0:
        raise refuse(path, f"no STL: {len(data)} bytes are less than a header")
    if len(data) < 84 + 50 * claimed:
        has = f"it has {len(data):,} bytes, of {84 + 50 * claimed:,} for that many"
        raise refuse(path, f"claims {claimed:,} triangles, but {has}; is it cut off?")
    return data[: 84 + 50 * claimed]  # some programs write a few bytes of their own behind


def _check_facets(text: bytes, path: Path) -> None:
    """See whether each facet of a text STL has three corners: trimesh takes all corners by threes.

    Raises: InputError.
    """
    *facets, rest = text.split(b"endfacet")
    for number, facet in enumerate(facets, start=1):
        corners = len(_CORNER.findall(facet.partition(b"facet")[2]))
        if corners != 3:
            message = f"facet {number:,} has {corners} corners of three numbers; a facet has 3"
            raise refuse(path, message)
    if b"facet" in rest.partition(b"endsolid")[0] or (facets and b"endsolid" not in rest):
        raise refuse(path, "its last facet or solid has no end; is it cut off?")
    check_pieces(text.count(b"endsolid"), path)


def _check_off(data: bytes, path: Path) -> bytes:
    header = _OFF_HEADER.match(data[:65536])
    if header is None:
        raise refuse(path, "does not begin with OFF")
    if header[2]:
        raise refuse(path, "a binary OFF file, which is not read; write it as text")
    # the counts stand behind the word OFF, on its line or a later one, comments in between
    rest = re.sub(rb"#[^\n]*", b"", data[header.end() : header.end() + 65536]).split(None, 2)
    counts = [int(word) for word in rest[:2] if _NUMBER.fullmatch(word)]
    if len(counts) < 2:
        raise refuse(path, "no counts of vertices and faces follow the word OFF")
    vertices, faces = counts
    if vertices < 0 or faces < 0 or 6 * vertices + 8 * faces > len(data):
        has = f"in {len(data):,} bytes"
        raise refuse(path, f"claims {vertices:,} vertices and {faces:,} faces {has}")
    lines = as_utf8(data[header.end() :]).splitlines()
    # the first line has the counts
    rows = [words for words in (line.split(b"#", 1)[0].split() for line in lines) if words]
    if len(rows) < 1 + vertices + faces:
        has = f"{len(rows) - 1:,} lines follow"
        raise refuse(path, f"claims {vertices:,} vertices and {faces:,} faces, but {has}")
    triangles: list[bytes] = []
    for words in rows[1 + vertices : 1 + vertices + faces]:
        corners = int(words[0]) if _NUMBER.fullmatch(words[0]) else 0
        if not 3 <= corners < len(words):
            written = show(words[0][:20].decode("latin-1"))
            raise refuse(path, f"a face says it has '{written}' corners")
        # trimesh fails at faces of more than 4 corners; all are cut into fans, as it cuts them
        first, *others = words[1 : 1 + corners]
        triangles += (b"3 %b %b %b" % (first, *two) for two in pairwise(others))
    points = [b" ".join(words[:3]) for words in rows[1 : 1 + vertices]]
    return b"\n".join([b"OFF", b"%d %d 0" % (vertices, len(triangles)), *points, *triangles, b""])


def _check_ply(data: bytes, path: Path) -> bytes:
    end = data.find(b"end_header", 0, 65536)
    if not data.startswith(b"ply") or end < 0:
        raise refuse(path, "no PLY file: it has no header from 'ply' to 'end_header'")
    body = len(data) - data.find(b"\n", end) - 1
    lines = data[:end].decode("latin-1").splitlines()
    binary = any(line.split()[:1] == ["format"] and "binary" in line for line in lines)
    needed, count, row = 0, 0, 0
    for line in [*lines, "element end 0"]:
        words = line.split()
        if words[:1] == ["element"]:
            needed += count * row
            if words[1:2] == ["tristrips"]:
                raise refuse(path, "has strips of triangles, which are not read; write faces")
            if len(words) != 3 or not re.fullmatch(r"\d{1,18}", words[2]):
                raise refuse(path, f"the header's line '{show(line)}' has no count")
            count, row = int(words[2]), 0
        elif words[:1] == ["property"]:
            row += _ply_property(words, binary, path, line)
    if needed > body:
        message = f"its header claims {needed:,} bytes or more, but {body:,} follow; is it cut off?"
        raise refuse(path, message)
    return data if binary else as_utf8(data)


def _ply_property(words: list[str], binary: bool, path: Path, line: str) -> int:
    """The fewest bytes that a property takes in each row."""
    listed = words[1:2] == ["list"]
    kinds = words[2:4] if listed else words[1:2]
    if len(words) != (5 if listed else 3) or any(kind not in _PLY_KINDS for kind in kinds):
        raise refuse(path, f"the header's line '{show(line)}' is of no known type")
    return (
        struct.calcsize("=" + _PLY_KINDS[kinds[0]]) if binary else 2
    )  # in text: a digit, and what parts it from others


_PLAIN = {".stl": _check_stl, ".ply": _check_ply, ".off": _check_off}
