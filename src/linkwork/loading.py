"""From a name, a file or text to a robot."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from linkwork import models
from linkwork.errors import DescriptionError, UnsupportedFeatureError
from linkwork.formats.urdf.read import read
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.robot import Robot

_FOREIGN = {
    ".xacro": "expand it to URDF first, for example with the xacro program",
    ".mjcf": "only URDF is read so far",
    ".sdf": "only URDF is read so far",
    ".usd": "only URDF is read so far",
}


def load(
    source: str | os.PathLike[str] | bytes,
    *,
    base: Literal["fixed", "floating"] = "fixed",
    strict: bool = False,
) -> Robot:
    """A robot from a bundled model's name, a URDF file's path, or URDF text.

    Text starts with ``<``. A plain word without a dot or a slash is a bundled model
    (`linkwork.models.MODELS`). ``base="floating"`` lets the root link move freely. ``strict=True``
    raises on warnings, which are otherwise kept in `Robot.findings`.

    Raises: DescriptionError with every problem in the file; UnknownNameError for a model that does
    not exist; UnsupportedFeatureError for another format.
    """
    document = read(_resolve(source))
    mechanism = from_urdf(document, base=base)
    warnings = [problem for problem in mechanism.findings if problem.level == "warning"]
    if strict and warnings:
        raise DescriptionError(warnings)
    return Robot(mechanism, document)


def _resolve(source: str | os.PathLike[str] | bytes) -> str | Path | bytes:
    if isinstance(source, bytes):
        return source
    text = os.fspath(source)
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return text
    suffix = Path(text).suffix.lower()
    if suffix in _FOREIGN:
        raise UnsupportedFeatureError(f"'{text}' is a {suffix} file: {_FOREIGN[suffix]}")
    if (
        isinstance(source, str)
        and not suffix
        and text not in (".", "..")
        and os.sep not in text
        and "/" not in text
    ):
        return models.path(text)
    return Path(text)
