"""Reading a URDF: one pass over the XML, every problem collected, nothing repaired or guessed.

The XML is read by expat, event by event: no tree of the file is built, every element knows its
exact line (libxml2 counts wrongly from line 65536 on), and a document type is refused at the
moment it begins, so that entities are never defined, expanded or fetched.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace

from linkwork.formats.urdf.check import check
from linkwork.formats.urdf.problems import Findings
from linkwork.formats.urdf.reader import Reader
from linkwork.formats.urdf.records import Document, Robot, Source
from linkwork.formats.urdf.source import as_utf8, collector_paused, given

_BIG = 1 << 20  # bytes


def read(
    source: str | os.PathLike[str] | bytes,
    *,
    file: str | None = None,
    keep_source: bool = False,
    accepted: Collection[str] = (),
) -> Document:
    """The description that a path, an XML text (it begins with '<') or bytes hold.

    ``file`` is the name that messages use and meshes are found by, where it is not the path.
    Mesh names are kept as written; no mesh is looked for. With ``keep_source`` the robot keeps the
    text, and is written as it stood where nothing was changed. Errors with codes in ``accepted``
    are warnings: for readers that have no use for what they are about.

    Raises: DescriptionError with every error of the file, each with its line.
    """
    kept, name = given(source, file)
    data = as_utf8(kept, name)
    problems = Findings(name, accepted)
    with collector_paused(len(data) > _BIG):
        robot = _checked(data, name, problems)
    if robot is None or problems.failed:
        raise problems.error()
    if keep_source:
        robot = replace(robot, source=Source(kept, robot))
    return Document(robot, problems.sorted())


def _checked(data: bytes, name: str | None, problems: Findings) -> Robot | None:
    robot = Reader(data, problems).read()
    if robot is None:
        return None
    check(robot, problems)
    return replace(robot, file=name)
