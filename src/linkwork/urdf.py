"""URDF documents: read, check, edit, compare, write. ``import linkwork as lw; lw.urdf.read(...)``.

A `Document` holds the records of a file (``document.robot``) and what is odd about it
(``document.problems``). Records never change; an edit returns a new document, checked as a file
would be. `document` makes one of records that were built in code.
"""

from __future__ import annotations

import os

from linkwork.formats.urdf import records
from linkwork.formats.urdf.diff import Change, Difference, diff
from linkwork.formats.urdf.edit import cut, merge, prefix, remove, rename, reroot, subtree
from linkwork.formats.urdf.read import Examined, examine
from linkwork.formats.urdf.records import Document
from linkwork.formats.urdf.validate import checked as document
from linkwork.formats.urdf.write import to_text
from linkwork.loading import read
from linkwork.locating import Folders
from linkwork.saving import Meshes, Saved, Source, save

__all__ = [
    "Change",
    "Difference",
    "Document",
    "Examined",
    "Saved",
    "cut",
    "diff",
    "document",
    "examine",
    "merge",
    "prefix",
    "read",
    "records",
    "remove",
    "rename",
    "reroot",
    "subtree",
    "to_text",
    "write",
]


def write(
    source: Source,
    path: str | os.PathLike[str],
    *,
    meshes: Meshes = "readable",
    allow: Folders = (),
    overwrite: bool = True,
) -> Saved:
    """Write a description as URDF, whatever its file is called; all else as `linkwork.save`.

    Raises: as `linkwork.save`.
    """
    return save(source, path, format="urdf", meshes=meshes, allow=allow, overwrite=overwrite)
