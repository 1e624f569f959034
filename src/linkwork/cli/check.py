"""``linkwork check``: every problem of a description at once, as compilers list them."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from click.exceptions import Exit

import linkwork as lw
from linkwork import models, settings
from linkwork.cli import inputs, output
from linkwork.cli.arguments import CheckArguments
from linkwork.cli.check_codes import codes as known_codes
from linkwork.collision.pairs import contact_findings
from linkwork.errors import (
    DescriptionError,
    Finding,
    InputError,
    LinkworkError,
    MissingExtraError,
    UnknownNameError,
    UnsupportedFeatureError,
)
from linkwork.formats import dh
from linkwork.formats.loops import beside
from linkwork.formats.urdf.read import Examined, examine
from linkwork.formats.urdf.records import Document, Robot
from linkwork.formats.urdf.source import gather
from linkwork.geometry import guards
from linkwork.locating import locate
from linkwork.mechanism.check_meshes import check_meshes, check_shapes, check_sizes
from linkwork.terminal import Screen, progress_line
from linkwork.terminal_text import Text

FAILED = 1
"""The exit code where something at or above the failing level was found."""

LEVELS = ("error", "warning", "note")
STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}

_UNREAD = {".sdf": "SDF", ".usd": "USD", ".usda": "USD", ".usdc": "USD"}
_OF_FILES = ("mesh-missing", "mesh-outside", "texture-missing", "texture-outside")
_NAMED = re.compile(r"'(?P<where>package://[^/']*|(?!package:)(?:[^']*/)?)")
"""The package or folder that stands before the name of a file."""
_PLACES = 6
"""The number of lines that are named beside the first one of a cause."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Checked:
    """One file: its robot's name where it was read that far, and what was found."""

    file: str
    robot: str | None
    problems: tuple[Finding, ...]
    loops: str = ""
    """The loops of the mechanism and its freedoms in words; empty where it has no loops."""


def run(given: CheckArguments) -> None:
    """Check every file, print, and exit with 1 where one of them fails."""
    ignored = [code.strip() for entry in given.ignore or () for code in entry.split(",")]
    known = known_codes() if ignored else {}
    for code in ignored:
        if code not in known:
            raise UnknownNameError("code", code, tuple(known))
    if given.level not in LEVELS:
        raise InputError(f"--level is error, warning or note, not {given.level!r}")
    for folder in given.allow or ():
        if not os.path.exists(folder):
            raise InputError(f"--allow {folder}: there is no such folder")
    arguments = inputs.texts_by_name(given.arg, "--arg", ":=")
    levels = LEVELS[: LEVELS.index(given.level) + 1]
    shown: list[Checked] = []
    counts, left_out = Counter[str](), 0
    for source in given.files:
        done = _checked(source, given, arguments)
        kept = [problem for problem in done.problems if problem.code not in ignored]
        left_out += len(done.problems) - len(kept)
        counts.update(problem.level for problem in kept)
        told = tuple(problem for problem in kept if problem.level in levels)
        shown.append(dataclasses.replace(done, problems=told))
    failing = counts["error"] + (counts["warning"] if given.strict else 0)
    if given.json:
        output.print_json(
            {
                "files": [dataclasses.asdict(file) for file in shown],
                "errors": counts["error"],
                "warnings": counts["warning"],
                "notes": counts["note"],
                "failed": failing > 0,
            }
        )
    else:
        _print_findings(Screen(), shown, counts, left_out)
    if failing:
        raise Exit(FAILED)


# one file


def _checked(source: str, given: CheckArguments, arguments: dict[str, str]) -> Checked:
    """The problems of one file, an end of the reading among them."""
    try:
        return _by_format(source, given, arguments)
    except DescriptionError as error:
        return Checked(file=source, robot=None, problems=error.problems)
    except (UnsupportedFeatureError, MissingExtraError) as error:
        code = "missing-extra" if isinstance(error, MissingExtraError) else "unsupported"
        problem = Finding("error", code, str(error), source)
        return Checked(file=source, robot=None, problems=(problem,))


def _by_format(source: str, given: CheckArguments, arguments: dict[str, str]) -> Checked:
    suffix = Path(source).suffix.lower()
    if suffix in _UNREAD:
        raise UnsupportedFeatureError(f"{_UNREAD[suffix]} is not read; convert it to URDF")
    if suffix == ".xacro":
        return _of_xacro(source, given, arguments)
    if suffix in (".mjcf", ".xml"):
        return _of_xml(source, given)
    if suffix == ".json":
        return _of_json(source)
    if suffix in dh.SUFFIXES:
        table = dh.to_document(dh.read(Path(source)))
        return _finished(source, Examined(table.robot, table.problems, whole=True), given)
    bundled = source in models.MODELS and not os.path.exists(source)
    found = examine(models.path(source) if bundled else Path(source))
    return _finished(source, found, given)


def _of_xacro(source: str, given: CheckArguments, arguments: dict[str, str]) -> Checked:
    """The text that a xacro file stands for, each problem at the xacro element it comes from."""
    from linkwork.formats.xacro import expand  # noqa: PLC0415 -- only where there is xacro
    from linkwork.geometry.meshes import package_finder  # noqa: PLC0415 -- as above

    allow, ros_paths = tuple(given.allow or ()), settings.ros_paths()
    find = package_finder(source, allow, ros_paths=ros_paths, home=settings.home())
    with progress_line(f"expanding {source}"):
        expanded = expand(source, arguments, find=find, roots=allow)
    done = _finished(source, examine(expanded.text, file=expanded.file), given)
    located = [expanded.located(problem) for problem in done.problems]
    return dataclasses.replace(done, problems=(*expanded.problems, *located))


def _of_xml(source: str, given: CheckArguments) -> Checked:
    """MJCF or URDF: the root element says which."""
    from linkwork.formats.mjcf.read import is_mjcf  # noqa: PLC0415 -- only for such a name

    data, name = gather(Path(source), None)
    if not is_mjcf(data):
        return _finished(source, examine(data, file=name), given)
    from linkwork.formats.mjcf.read import read  # noqa: PLC0415 -- as above

    allow = tuple(given.allow or ())

    def open_mesh(name: str, file: str | None) -> bytes:
        return guards.read(locate(name, file, allow))

    model = read(data, file=name, allow=allow, open_mesh=open_mesh)
    problems, loops = model.problems, ""
    if model.closures or model.couplings:
        from linkwork.mechanism.from_mjcf import from_mjcf  # noqa: PLC0415 -- as above

        with contextlib.suppress(LinkworkError):
            robot = lw.Robot(from_mjcf(model))
            more, loops = _closed(robot, model.file or "")
            problems = (*robot.findings, *more)
    return Checked(file=source, robot=model.name, problems=problems, loops=loops)


def _of_json(source: str) -> Checked:
    """A mechanism, which is read whole."""
    robot = lw.load(Path(source))
    more, loops = _closed(robot, source) if robot.mechanism.is_closed else ([], "")
    problems = (*robot.findings, *more)
    return Checked(file=source, robot=robot.name, problems=problems, loops=loops)


def _finished(source: str, found: Examined, given: CheckArguments) -> Checked:
    """The findings of `examine`, and those of meshes, sizes and loops where all could be read."""
    robot, problems, loops = found.robot, found.problems, ""
    if robot is None or not found.whole:
        return Checked(file=source, robot=robot.name if robot else None, problems=problems)
    if given.meshes:
        allow = tuple(given.allow or ())

        def find(name: str, suffixes: frozenset[str]) -> Path:
            return locate(name, robot.file, allow, suffixes=suffixes)

        with progress_line(f"meshes of {robot.name}") as told:
            more = check_meshes(Document(robot), find, progress=told)
    else:
        more = (*check_sizes(robot), *check_shapes(robot))
    # hints name the option of this command instead of the argument of a function
    more = [dataclasses.replace(each, hint=output.in_options(each.hint)) for each in more]
    problems = tuple(sorted((*problems, *more), key=lambda problem: problem.line))
    if given.contacts:
        problems = (*problems, *_contacts(robot, given))
    file = beside(Path(robot.file)) if robot.file else None
    if file is not None:
        told, loops = _loops_beside(Document(robot), file)
        problems = (*problems, *told)
    return Checked(file=source, robot=robot.name, problems=problems, loops=loops)


def _contacts(robot: Robot, given: CheckArguments) -> tuple[Finding, ...]:
    """Links that touch at neutral, or always, by the collision model, and findings on its SRDF."""
    file = robot.file or ""
    try:
        with progress_line(f"contacts of {robot.name}"):
            made: Any = lw.load(Document(robot))
            pairs = made.collision(allow=tuple(given.allow or ())).pairs
    except LinkworkError as error:
        return (Finding("warning", "contacts-unchecked", str(error), file),)
    lines = {link.name: link.line for link in robot.links}
    found = contact_findings(pairs, file)
    placed = [dataclasses.replace(each, line=lines.get(each.name, 0)) for each in found]
    return (*placed, *pairs.findings)


def _loops_beside(document: Document, file: Path) -> tuple[tuple[Finding, ...], str]:
    """The findings of the file beside a description, and the loops that it closes."""
    try:
        robot = lw.load(document, loops=file)
    except DescriptionError as error:
        return error.problems, ""
    except LinkworkError:
        return (), ""  # the description has no mechanism, which is told already
    notes = [problem for problem in robot.findings if problem.code == "other-joint"]
    problems, text = _closed(robot, str(file))
    return (*notes, *problems), text


def _closed(robot: lw.Robot, file: str) -> tuple[list[Finding], str]:
    """Whether loops can be closed, and what that leaves free."""
    from linkwork.cli import closed  # noqa: PLC0415 -- loads the solvers

    with progress_line("closing loops"):
        why = closed.mobility_of(robot)[1] if robot.mechanism.is_closed else ""
    if not why:
        return [], closed.summary(robot)
    hint = "see that the two frames of each loop can meet"
    return [Finding("warning", "loops-open", why, file, hint=hint)], ""


# what is printed


def _print_findings(
    screen: Screen, files: list[Checked], counts: Counter[str], left_out: int
) -> None:
    for file in files:
        for problem, *others in by_cause(file.problems):
            screen.print(line_of(problem, file.file))
            if problem.hint:
                screen.print(Text((f"    {problem.hint}", "dim")))
            if others:  # for example: the same for 18 more files: lines 5, 9, 14 and others
                lines = list(dict.fromkeys(other.line for other in others))
                listed = ", ".join(map(str, lines[:_PLACES])) + " and others" * (
                    len(lines) > _PLACES
                )
                files_, lines_ = "file" + "s" * (len(others) > 1), "line" + "s" * (len(lines) > 1)
                same = f"    the same for {len(others)} more {files_}: {lines_} {listed}"
                screen.print(Text((same, "dim")))
        if file.loops:
            screen.print(Text((f"{file.file}: ", "bold"), file.loops))
    parts = [f"{counts[level]} {level}{'s' * (counts[level] != 1)}" for level in LEVELS]
    found = [part for part, level in zip(parts, LEVELS, strict=True) if counts[level]]
    n = len(files)
    text = f"{', '.join(found) or 'no problems'} in {n} file{'s' * (n != 1)}"
    hidden = sum(counts.values()) - sum(len(file.problems) for file in files)
    more = [f"{hidden} not shown"] if hidden else []
    more += [f"{left_out} ignored"] if left_out else []
    more_text = f" ({', '.join(more)})" if more else ""
    screen.print(output.heading(text + more_text))


def by_cause(problems: Sequence[Finding]) -> list[list[Finding]]:
    """Problems with those of the same cause: files of one package or folder that are not found."""
    groups: dict[Any, list[Finding]] = {}
    for k, problem in enumerate(problems):
        named = _NAMED.match(problem.message) if problem.code in _OF_FILES else None
        cause = k if named is None else (problem.level, problem.code, named["where"], problem.file)
        groups.setdefault(cause, []).append(problem)
    return list(groups.values())


def line_of(problem: Finding, source: str) -> Text:
    """For example: arm.urdf:12: warning: joint 'elbow': the axis has length 2 (axis-length)."""
    line = f":{problem.line}" if problem.line else ""
    element = f"{problem.element} " if problem.element else ""
    name = f"'{problem.name}'" if problem.name else ""
    subject = f"{element}{name}".strip()
    message = f"{subject}: {problem.message}" if subject else problem.message
    return Text(
        (f"{problem.file or source}{line}: ", "bold"),
        (f"{problem.level}: ", STYLES[problem.level]),
        message,
        (f" ({problem.code})", "dim"),
    )
