"""What `linkwork check` says of loops: entries that do not fit, and whether they can be closed."""

from __future__ import annotations

from pathlib import Path

from linkwork.cli import closed
from linkwork.cli.progress import busy
from linkwork.errors import DescriptionError, Finding, LinkworkError
from linkwork.formats.mjcf.records import MjcfModel
from linkwork.formats.urdf.records import Document
from linkwork.loading import load
from linkwork.mechanism.from_mjcf import from_mjcf
from linkwork.robot import Robot

Told = tuple[tuple[Finding, ...], str]
"""Problems, and what the loops leave free."""


def of_urdf(document: Document, file: Path) -> Told:
    """What is wrong with the file beside a description, and what it closes."""
    try:
        robot = load(document, loops=file)
    except DescriptionError as error:
        return error.problems, ""
    except LinkworkError:
        return (), ""  # the description has no mechanism, which is told already
    notes = tuple(p for p in robot.findings if p.code == "other-joint")
    problems, text = _closed(robot, str(file))
    return (*notes, *problems), text


def of_mjcf(model: MjcfModel) -> Told:
    """The findings of an MJCF with equalities, and what they close."""
    try:
        robot = Robot(from_mjcf(model))
    except LinkworkError:
        return model.problems, ""
    problems, text = _closed(robot, model.file or "")
    return (*robot.findings, *problems), text


def _closed(robot: Robot, file: str) -> Told:
    if not closed.is_closed(robot):
        return (), closed.summary(robot)
    with busy("closing loops"):
        found, why = closed.mobility_of(robot)
    if found is not None:
        return (), closed.summary(robot)
    hint = "see that the two frames of each loop can meet"
    return (Finding("warning", "loops-open", why, file, hint=hint),), ""
