"""Everything that is wrong or odd with a description, errors and findings in one list.

`read` raises what makes a description unusable and leaves the rest out. Here nothing is raised, so
that one run shows all there is to mend.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from linkwork.errors import DescriptionError, Finding
from linkwork.formats.urdf.check import check
from linkwork.formats.urdf.check_closely import check_closely
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.read import Reader
from linkwork.formats.urdf.records import Robot
from linkwork.formats.urdf.source import gather


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found, by line, and the robot as far as it could be read.

    ``robot`` is None where reading stopped before its end. Where ``whole`` is False some values
    could not be read and have fillers in their place, so nothing should be concluded from them.
    """

    robot: Robot | None
    problems: tuple[Finding, ...]
    whole: bool

    @property
    def failed(self) -> bool:
        """Whether there is an error among the problems."""
        return any(problem.level == "error" for problem in self.problems)


def examine(source: str | os.PathLike[str] | bytes, *, file: str | None = None) -> Examined:
    """All problems of a description: those that `read` finds, and those of `check_closely`.

    The arguments are those of `read`. What only looks odd is looked for where every value could be
    read: a value that has none would give rise to suspicions of its own.
    """
    try:
        data, name = gather(source, file)
    except DescriptionError as error:
        return Examined(None, error.problems, False)
    problems = Findings(name)
    robot = Reader(data, problems).read()
    if robot is None:
        return Examined(None, problems.sorted(), False)
    whole = not problems.failed
    check(robot, problems)
    if whole:
        check_closely(robot, problems)
    return Examined(replace(robot, file=name), problems.sorted(), whole)
