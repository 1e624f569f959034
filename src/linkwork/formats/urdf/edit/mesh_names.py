"""The names of mesh and texture files in a description: found, changed, moved to another folder.

Nothing here looks at a disk: names are texts, and folders are parts of paths.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from linkwork.formats.urdf.edit.walk import rebuilt
from linkwork.formats.urdf.records import Material, Mesh, Robot

_WHOLE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:|[/\\~$]")  # a scheme, a drive, an absolute path


def renamed_meshes(robot: Robot, rename: Callable[[str], str]) -> Robot:
    """The robot with ``rename`` applied to every name of a mesh and of a texture.

    Empty names are left as they are.
    """

    def change(record: Any) -> Any:
        if isinstance(record, Mesh) and record.filename:
            name = rename(record.filename)
            return record if name == record.filename else replace(record, filename=name)
        if isinstance(record, Material) and record.texture:
            name = rename(record.texture)
            return record if name == record.texture else replace(record, texture=name)
        return record

    renamed: Robot = rebuilt(robot, change)
    return renamed


def is_relative(name: str) -> bool:
    """Whether a name is relative to its description: no scheme, no drive, no absolute path."""
    return bool(name) and _WHOLE.match(name) is None


def name_from(name: str, old: str, new: str | None) -> str:
    """A relative name in the description ``old``, as one that means the same file in ``new``.

    Both are files of descriptions; with None for ``new``, and where the two have no folder in
    common, the name becomes absolute. Names that are not relative stay, and so do all names
    where both files lie in one folder.
    """
    if not is_relative(name):
        return name
    old_folder = os.path.dirname(os.path.abspath(old))
    place = os.path.join(old_folder, name.replace("\\", "/"))
    if new is None:
        return _slashes(os.path.normpath(place))
    new_folder = os.path.dirname(os.path.abspath(new))
    if old_folder == new_folder:
        return name
    try:
        return _slashes(os.path.relpath(place, new_folder))
    except ValueError:  # on another drive
        return _slashes(os.path.normpath(place))


def _slashes(path: str) -> str:
    return path.replace(os.sep, "/")
