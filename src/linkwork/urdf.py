"""URDF documents: read, check, edit, compare, write. ``import linkwork as lw; lw.urdf.read(...)``.

A `Document` holds the records of a file (``document.robot``) and what is odd about it
(``document.problems``). Records never change; an edit returns a new document, checked as a file
would be. `document` makes one of records that were built in code.
"""

from __future__ import annotations

from linkwork.formats.urdf import records
from linkwork.formats.urdf.diff import Change, Difference, diff
from linkwork.formats.urdf.edit import cut, merge, prefix, remove, rename, reroot, subtree
from linkwork.formats.urdf.examine import Examined, examine
from linkwork.formats.urdf.records import Document
from linkwork.formats.urdf.validate import checked as document
from linkwork.formats.urdf.write import to_text
from linkwork.loading import read
from linkwork.saving import Saved
from linkwork.saving import save as write

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
