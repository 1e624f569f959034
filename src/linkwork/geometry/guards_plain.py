"""STL, PLY, OFF and OBJ: whether a file is what it says, and its bytes as trimesh reads them right.

trimesh takes all corners of a text STL by threes and all lists of a binary PLY to be as long as the
first, fails at faces of an OFF with more than 4 corners, and takes index -1 of an OBJ for the last
vertex of the file, where the format means the last one above the face, and 0 for the first one,
where the format has none. Source for OBJ: Wavefront, Advanced Visualizer manual, appendix B1.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from linkwork.geometry.guards import as_utf8, check_pieces, refuse, show

_PLY_KINDS = {  # as module struct names them
    **dict(char="b", uchar="B", short="h", ushort="H", int="i", uint="I", float="f", double="d"),
    **dict(int8="b", uint8="B", int16="h", uint16="H", int32="i", uint32="I", int64="q"),
    **dict(uint64="Q", float16="e", float32="f", float64="d"),
}
_OFF_HEADER = re.compile(rb"\s*(?:#[^\n]*\n\s*)*(ST)?C?N?OFF\b[^\S\n]*(BINARY)?")
_CORNER = re.compile(rb"\bvertex\s+\S+\s+\S+\s+\S+\s+(?=vertex|endloop)")
_NUMBER = re.compile(rb"[+-]?\d{1,18}")
_FACE = re.compile(rb"^[ \t]*f[ \t]", re.MULTILINE)
_ODD = re.compile(rb"^[ \t]*f[ \t][\d/ \t\r]*[^\d/ \t\r\n]", re.MULTILINE)
_ZERO = re.compile(rb"^[ \t]*f[ \t](?:[^\n]*[ \t/])?0+(?![\d])", re.MULTILINE)
_SHORT = re.compile(rb"^[ \t]*f(?:[ \t]+[^\s]+){0,2}[ \t\r]*$", re.MULTILINE)
_SECOND = re.compile(rb"^[ \t]+[fv]|^f\t|^vt?n?\t", re.MULTILINE)
_LIBRARY = re.compile(rb"^[ \t]*mtllib[ \t]+([^\r\n]+)", re.MULTILINE)
_MATERIAL = re.compile(rb"^[ \t]*usemtl\b[^\n]*", re.MULTILINE)
_KINDS = {b"v": 0, b"vt": 1, b"vn": 2}


def check_plain(data: bytes, path: Path) -> bytes:
    """An STL, PLY or OFF file: the bytes to read, without what trails behind a binary STL.

    Raises: InputError.
    """
    if not data:
        raise refuse(path, "the file is empty")
    checks = {".stl": _check_stl, ".ply": _check_ply, ".off": _check_off}
    return checks[path.suffix.lower()](data, path)


# STL


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


# OFF


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


# PLY


def ply_textures(data: bytes) -> list[str]:
    """The images that the header of a PLY file names."""
    words = [line.split(None, 2) for line in _ply_header(data)[0]]
    return [w[2].strip() for w in words if len(w) == 3 and w[:2] == ["comment", "TextureFile"]]


def ply_as_text(data: bytes) -> bytes:
    """A binary PLY file that was checked, in text: there lists may be of different lengths.

    Raises: struct.error where it is cut off.
    """
    lines, at = _ply_header(data)
    header = [line.split() for line in lines]
    order = ">" if any("big" in words[1] for words in header if words[:1] == ["format"]) else "<"
    elements: list[tuple[int, list[list[str]]]] = []
    for words in header:
        if words[:1] == ["element"]:
            elements.append((int(words[2]), []))
        elif words[:1] == ["property"]:
            elements[-1][1].append([order + _PLY_KINDS[kind] for kind in words[-2:0:-1][:2]])
    rows: list[str] = []
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
            rows.append(" ".join(map(repr, row)))
    if at != len(data):
        raise struct.error(f"{len(data) - at:,} bytes follow the last element")
    text = "\n".join([*lines, "end_header", *rows, ""])
    return re.sub(r"\bbinary_\w+", "ascii", text, count=1).encode()


def _ply_header(data: bytes) -> tuple[list[str], int]:
    """The lines before ``end_header``, and where the numbers begin; no lines without a header."""
    end = data.find(b"end_header", 0, 65536)
    lines = data[: max(end, 0)].decode("utf-8", "replace").splitlines()
    return lines, data.find(b"\n", end) + 1


def _check_ply(data: bytes, path: Path) -> bytes:
    lines, start = _ply_header(data)
    if not data.startswith(b"ply") or not lines:
        raise refuse(path, "no PLY file: it has no header from 'ply' to 'end_header'")
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
            listed = words[1:2] == ["list"]
            kinds = words[2:4] if listed else words[1:2]
            if len(words) != (5 if listed else 3) or any(kind not in _PLY_KINDS for kind in kinds):
                raise refuse(path, f"the header's line '{show(line)}' is of no known type")
            # at least; in text a digit, and what parts it from others
            row += struct.calcsize("=" + _PLY_KINDS[kinds[0]]) if binary else 2
    body = len(data) - start
    if needed > body:
        message = f"its header claims {needed:,} bytes or more, but {body:,} follow; is it cut off?"
        raise refuse(path, message)
    return data if binary else as_utf8(data)


# OBJ


@dataclass(frozen=True, slots=True)
class ObjText:
    """The text to read, and the material files that it names."""

    data: bytes
    libraries: tuple[str, ...]


def prepared_obj(data: bytes, path: Path) -> ObjText:
    """The OBJ text with every index counted from the start of the file.

    Raises: InputError naming the line, for an index that is 0, is no number, or counts back to
    before the first vertex; InputError for more materials than pieces are read.
    """
    if not data.strip():
        raise refuse(path, "the file is empty")
    if b"\0" in data[:65536]:
        raise refuse(path, "no OBJ file: it holds zero bytes")
    data = as_utf8(data)
    if not _FACE.search(data):
        raise refuse(path, "holds no faces")
    names: list[str] = []
    for found in _LIBRARY.finditer(data):  # one file, with blanks in its name or not, or several
        line = found[1].decode("utf-8", "replace")
        several = all(word.lower().endswith(".mtl") for word in line.split())
        names += line.split() if several else [line.strip()]
    libraries = tuple(dict.fromkeys(names))
    if libraries:
        check_pieces(len(set(_MATERIAL.findall(data))), path)
    else:  # names that say nothing, and each would be a piece
        data = _MATERIAL.sub(b"", data)
    if any(odd.search(data) for odd in (_ODD, _ZERO, _SHORT, _SECOND)):
        data = _rewritten(data, path)
    return ObjText(data, libraries)


def _rewritten(data: bytes, path: Path) -> bytes:
    """The text line by line, with faces counted from the start, and blanks where trimesh looks."""
    counts = [0, 0, 0]
    lines: list[bytes] = []
    whole_lines = re.sub(rb"\\\r?\n", b" ", data).splitlines()  # a backslash goes on in the next
    for number, line in enumerate(whole_lines, start=1):
        words = line.split(b"#", 1)[0].split()
        if not words:
            continue
        if words[0] in _KINDS:
            counts[_KINDS[words[0]]] += 1
        elif words[0] == b"f":
            if len(words) < 4:
                continue  # a point or a line: no area, and trimesh would take its lines for faces
            words[1:] = (_corner(word, counts, path, number) for word in words[1:])
        else:
            lines.append(line)  # names keep their blanks
            continue
        lines.append(b" ".join(words))
    return b"\n".join(lines)


def _corner(word: bytes, counts: list[int], path: Path, line: int) -> bytes:
    """One corner of a face, ``vertex/texture/normal``, counted from the start."""
    found: list[bytes] = []
    for kind, text in enumerate(word.split(b"/", 3)[:3]):
        if not text:
            found.append(text)
            continue
        if not re.fullmatch(rb"[+-]?\d{1,18}", text):
            shown = show(text[:40].decode("latin-1"))
            raise refuse(path, f"line {line}: '{shown}' in a face is no index")
        index = int(text)
        if index < 0:
            index += counts[kind] + 1
        if index <= 0:
            message = (
                f"line {line}: index {int(text)} in a face, after {counts[kind]} to count from"
            )
            raise refuse(path, message)
        found.append(b"%d" % index)
    return b"/".join(found)
