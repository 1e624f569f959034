"""Mesh and image files that anybody may have written: read within bounds, seen to be what they say.

What is checked, here and in the modules of the formats, is small, and before anything of the size
that a file claims is allocated: headers, counts against the length of the file, references. Reading
geometry is left to trimesh.
"""

from __future__ import annotations

import os
import stat
from io import BytesIO
from pathlib import Path
from typing import Any

from linkwork import extras
from linkwork.errors import InputError
from linkwork.legible import legible

LARGEST = 512 * 2**20
"""Bytes of a mesh or image file; larger ones are refused."""

LARGEST_SIDE = 16384
"""Pixels of the longer side of an image; larger ones are refused."""

MOST_PIECES = 2000
"""Pieces of a mesh file, each of a material or node of its own; files with more are refused."""

IMAGE_FORMATS = ("PNG", "JPEG", "BMP", "TIFF", "WEBP", "GIF")
"""The formats that images are opened as; nothing that starts another program, as EPS would."""


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


def read(path: Path, limit: int = LARGEST) -> bytes:
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
            return file.read(status.st_size)
    except OSError as error:
        raise refuse(path, f"cannot be read: {_reason(error)}") from None
    finally:
        os.close(handle)


def check(path: str | os.PathLike[str]) -> None:
    """See whether a mesh or image file is what it says, by its name's suffix.

    Raises: InputError naming the file and why it is refused; MissingExtraError without Pillow, for
    an image.
    """
    from linkwork.geometry import guards_dae, guards_gltf, guards_plain  # noqa: PLC0415  they use this

    place = Path(path)
    data, suffix = read(place), place.suffix.lower()
    if suffix == ".obj":
        guards_plain.prepared_obj(data, place)
    elif suffix == ".dae":
        guards_dae.examine(data, place)
    elif suffix in (".glb", ".gltf"):
        guards_gltf.examine(data, place)
    elif suffix in (".stl", ".ply", ".off"):
        guards_plain.check_plain(data, place)
    else:
        check_image(data, place)


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
    with extras.needed("textures need", "pillow", "meshes"):
        from PIL import Image  # noqa: PLC0415  an optional package, for who has textures
    try:
        image = Image.open(BytesIO(data), formats=IMAGE_FORMATS)
    except Exception as error:
        raise refuse(path, f"no image that is read ({', '.join(IMAGE_FORMATS)})") from error
    if max(image.size) > LARGEST_SIDE:
        wide, high = image.size
        image.close()
        raise refuse(path, f"an image of {wide} x {high} pixels; a side has at most {LARGEST_SIDE}")
    return image


def image_bytes(image: Any) -> bytes:
    """The bytes of the file that an image (PIL) was opened from, or of a PNG of it."""
    file = getattr(image, "fp", None)
    if isinstance(file, BytesIO):
        return file.getvalue()
    made = BytesIO()
    image.save(made, "PNG")
    return made.getvalue()


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "there is no such path"


def _regular(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise refuse(path, "is no regular file; pipes, devices and folders are not read")
