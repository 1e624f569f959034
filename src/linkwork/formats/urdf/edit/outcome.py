"""What every edit ends with: the new robot checked as a file would be."""

from __future__ import annotations

from dataclasses import replace

from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import Document, Robot
from linkwork.formats.urdf.validate import checked


def outcome(robot: Robot, findings: Findings | None = None) -> Document:
    """The document of an edited robot, with the findings of the edit among its own.

    Raises: DescriptionError when no unique finite tree follows from it.
    """
    document = checked(robot, file=robot.file)
    own = findings.sorted() if findings is not None else ()
    if not own:
        return document
    problems = sorted((*document.problems, *own), key=lambda problem: problem.line)
    return replace(document, problems=tuple(problems))
