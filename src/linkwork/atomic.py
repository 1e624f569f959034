"""Writing a file whole or not at all: made beside the old one, it takes its place at the end.

A process that is killed at any moment leaves the old file or the new one. What may stay behind is
a part named ``.linkwork-*.part``, which nothing reads.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from linkwork.errors import InputError


@contextmanager
def refusing(name: str | os.PathLike[str]) -> Generator[None, None, None]:
    """The system's refusal to write a file, as an InputError with its name."""
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{os.fspath(name)} cannot be written: {reason}") from None


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[BinaryIO, None, None]:
    """A new binary file, which takes the place of ``path`` when all of it is on the disk.

    A link is followed: the file that it leads to is replaced. The mode of the old file is kept. An
    error in between leaves ``path`` as it was. Devices, pipes and folders are never replaced.

    Raises: InputError where the file cannot be written, with the system's reason.
    """
    with refusing(path):
        target = _target(path)
        with _part(target) as part:
            with open(part, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            _take_place(part, target)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write ``data`` to a file, whole or not at all.

    Raises: as `replacing`.
    """
    with replacing(path) as file:
        file.write(data)


def write_in_turn(files: Sequence[tuple[Path, bytes]]) -> None:
    """Write several files, each whole or not at all; none is replaced before all are on the disk.

    They take their places in the given order. A name may come twice.

    Raises: as `replacing`; nothing has changed then, unless a place cannot be taken.
    """
    with ExitStack() as parts:
        moves: list[tuple[Path, Path, Path]] = []
        for path, data in files:
            with refusing(path):
                target = _target(path)
                part = parts.enter_context(_part(target))
                with open(part, "xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
            moves.append((path, part, target))
        for path, part, target in moves:
            with refusing(path):
                _take_place(part, target)


def _target(path: str | os.PathLike[str]) -> Path:
    """The file to replace, at the end of links."""
    given = Path(path)
    target = Path(os.path.realpath(given)) if given.is_symlink() else given
    if target.is_symlink():
        raise InputError(f"{given} cannot be written: it is a link that leads to itself")
    _refuse_other(target)
    return target


def _refuse_other(target: Path) -> None:
    """Refuse to replace a device, a pipe, a folder: whoever may write to one, may remove it too."""
    if target.exists() and not target.is_file():
        raise InputError(f"{target} cannot be written: it is no regular file")


@contextmanager
def _part(target: Path) -> Generator[Path, None, None]:
    """A free name beside the file, where nothing is left at the end."""
    part = target.with_name(f".linkwork-{secrets.token_hex(8)}.part")
    try:
        yield part
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def _take_place(part: Path, target: Path) -> None:
    _refuse_other(target)  # again: something else may have come there while the part was written
    if target.exists():
        shutil.copymode(target, part)
    os.replace(part, target)
