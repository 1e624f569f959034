"""Writing a file whole or not at all: made beside the old one, it takes its place at the end.

A process that is killed at any moment leaves the old file or the new one. What may stay behind is
a part named ``.linkwork-*.part``, which nothing reads.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from linkwork.errors import InputError


@contextmanager
def refusing(name: str | Path) -> Generator[None, None, None]:
    """What the system says against writing a file, as an InputError with its name."""
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{name} cannot be written: {reason}") from None


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[BinaryIO, None, None]:
    """A new binary file, which takes the place of ``path`` when all of it is on the disk.

    A link is followed: the file that it leads to is replaced. The mode of the old file is kept. An
    error in between leaves ``path`` as it was.

    Raises: InputError where the file cannot be written, with the system's reason.
    """
    given = Path(path)
    with refusing(given):
        target = given.resolve() if given.is_symlink() else given
        if target.exists() and not target.is_file():
            raise InputError(f"{given} cannot be written: it is no regular file")
        new = target.with_name(f".linkwork-{secrets.token_hex(8)}.part")
        try:
            with open(new, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, new)
            os.replace(new, target)
        finally:
            with suppress(FileNotFoundError):
                new.unlink()


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write ``data`` to a file, whole or not at all.

    Raises: as `replacing`.
    """
    with replacing(path) as file:
        file.write(data)
