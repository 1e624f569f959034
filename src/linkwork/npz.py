"""Arrays in .npz files."""

from __future__ import annotations

import os
import zipfile
import zlib
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import atomic
from linkwork.errors import InputError


def write(path: str | os.PathLike[str], arrays: dict[str, ArrayLike]) -> None:
    """Write arrays by name, whole or not at all.

    Raises: InputError where the file cannot be written.
    """
    out = BytesIO()
    np.savez_compressed(out, **arrays)  # pyright: ignore[reportArgumentType]
    atomic.write_bytes(path, out.getvalue())


def read(path: str | os.PathLike[str], lack: str) -> dict[str, NDArray[Any]]:
    """The arrays of a file by name; ``lack``: "holds no motion", as is said where it does not.

    Raises: InputError where it cannot be read, is no .npz file, or is damaged.
    """
    try:
        name = os.fspath(path)
    except TypeError:
        raise InputError(f"a file is named by its path; {path!r:.40} {lack}") from None
    try:
        with open(name, "rb") as file:
            if file.read(2) != b"PK":
                raise InputError(f"{name} {lack}: it is no .npz file")
            file.seek(0)
            with np.load(file, allow_pickle=False) as found:
                return {key: found[key] for key in found.files}
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{name} {lack}: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, KeyError) as error:
        raise InputError(f"{name} {lack}: it is damaged ({error})") from None
