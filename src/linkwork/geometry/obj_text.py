"""OBJ files as trimesh reads them right: relative indices made whole, material files named.

trimesh takes index -1 for the last vertex of the file, where the format means the last one above
the face, and 0 for the first one, where the format has none. Source: Wavefront OBJ, appendix B1 of
the Advanced Visualizer manual.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from linkwork.geometry.guards import as_utf8, check_pieces, refuse, show

_FACE = re.compile(rb"^[ \t]*f[ \t]", re.MULTILINE)
_ODD = re.compile(rb"^[ \t]*f[ \t][\d/ \t\r]*[^\d/ \t\r\n]", re.MULTILINE)
_ZERO = re.compile(rb"^[ \t]*f[ \t](?:[^\n]*[ \t/])?0+(?![\d])", re.MULTILINE)
_SHORT = re.compile(rb"^[ \t]*f(?:[ \t]+[^\s]+){0,2}[ \t\r]*$", re.MULTILINE)
_SECOND = re.compile(rb"^[ \t]+[fv]|^f\t|^vt?n?\t", re.MULTILINE)
_LIBRARY = re.compile(rb"^[ \t]*mtllib[ \t]+([^\r\n]+)", re.MULTILINE)
_MATERIAL = re.compile(rb"^[ \t]*usemtl\b[^\n]*", re.MULTILINE)
_KINDS = {b"v": 0, b"vt": 1, b"vn": 2}


@dataclass(frozen=True, slots=True)
class Prepared:
    """The text to read, and the material files that it names."""

    data: bytes
    libraries: tuple[str, ...]


def prepared(data: bytes, path: Path) -> Prepared:
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
    lines = [found[1].decode("utf-8", "replace") for found in _LIBRARY.finditer(data)]
    libraries = tuple(dict.fromkeys(name for line in lines for name in _names(line)))
    if libraries:
        check_pieces(len(set(_MATERIAL.findall(data))), path)
    else:  # names that say nothing, and each would be a piece
        data = _MATERIAL.sub(b"", data)
    if any(odd.search(data) for odd in (_ODD, _ZERO, _SHORT, _SECOND)):
        data = _rewritten(data, path)
    return Prepared(data, libraries)


def _names(line: str) -> list[str]:
    """The files behind ``mtllib``: one, which may have blanks in its name, or several."""
    words = line.split()
    ends = sum(word.lower().endswith(".mtl") for word in words)
    return words if ends == len(words) else [line.strip()]


def _rewritten(data: bytes, path: Path) -> bytes:
    """The text line by line, with faces counted from the start, and blanks where trimesh looks."""
    counts = [0, 0, 0]
    lines: list[bytes] = []
    for number, line in enumerate(_joined(data), start=1):
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


def _joined(data: bytes) -> list[bytes]:
    """The lines; one that ends in a backslash goes on in the next."""
    return re.sub(rb"\\\r?\n", b" ", data).splitlines()


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
