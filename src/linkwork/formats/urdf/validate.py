"""Records that were made or changed in code, judged by the rules that files are read by."""

from __future__ import annotations

from dataclasses import replace

from linkwork.errors import InputError
from linkwork.formats.urdf.check import check
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import Document, Robot
from linkwork.formats.urdf.source import collector_paused
from linkwork.formats.urdf.write import Walk, is_large


def checked(robot: Robot, file: str | None = None) -> Document:
    """The document that reading the written robot would give: all values, names and the tree.

    Values become what a file would hold: floats for integers and NumPy's numbers, tuples for lists
    and arrays. Records that need no change stay the same objects. ``file`` is the name that
    messages use and meshes are found by; by default the robot's own.

    Raises: DescriptionError with every error, each with the line of its record (0 where it was made
    in code); InputError for what is no `records.Robot`.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"a records.Robot is checked, not {type(robot).__name__}")
    name = robot.file if file is None else file
    findings = Findings(name)
    with collector_paused(is_large(robot)):
        _, made = Walk(findings).document(robot)
        check(made, findings)
    if findings.failed:
        raise findings.error()
    return Document(made if made.file == name else replace(made, file=name), findings.sorted())
