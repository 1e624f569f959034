"""Xacro files expanded to URDF text, by the ``xacro`` package in a process of its own.

A xacro file is a program: it computes, includes files and asks for packages. So it is expanded in a
process that can be stopped (`xacro_child`), with its expressions restricted, and with files read
from few folders only. ``$(find package)`` is answered by the caller's ``find``, so
that no ROS is needed.

Source: https://github.com/ros/xacro/wiki
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from linkwork.errors import (
    DescriptionError,
    Finding,
    InputError,
    MissingExtraError,
    UnknownNameError,
)
from linkwork.formats.urdf.read import read as read_urdf
from linkwork.formats.urdf.records import Document
from linkwork.formats.urdf.source import LARGEST_FILE, bytes_of_file, refuse

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Xacro
xacro-argument | error, warning | An argument without a value; as a warning, one that the file does
    not ask for. | `--arg NAME:=VALUE`.
xacro-environment | error | A variable was not given. | `--env NAME=VALUE`.
xacro-package | error | A package of `$(find)` is not there. | `--allow FOLDER`.
xacro-file | error | An included file is not there, too large, or outside the folders that may be
    read. | `--allow FOLDER`, or mind the name.
xacro-expression | error | An expression uses what leads out of expressions, or grows too large. |
    Write it with plain values and their methods.
xacro-forbidden | error | It writes, starts programs, or connects. | Do not use it.
xacro-recursion | error | Macros or includes go too deep. | Does one use itself?
xacro-time | error | It takes more than 60 s. | Does a macro ever end?
xacro-memory | error | It takes more memory than 1 GB. | Shorten lists and texts.
xacro-size | error | The URDF has more than 64 MB. | Shorten it.
xacro-process | error | The process that expands it died. | See its last words.
"""


Find: TypeAlias = "Callable[[str], Path | tuple[Path, str]]"
"""From a package's name to its folder; or to the folder and what to warn of. Raises InputError."""

_PACKAGE = Path(__file__).resolve().parents[1]
# The other process loads one module of this package, and neither the package nor NumPy.
_START = """
import sys, types
for name, folder in (("linkwork", {package!r}), ("linkwork.formats", {formats!r})):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from linkwork.formats.xacro_child import main
main()
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one expansion: seconds, bytes of memory, bytes of a file and of the result."""

    seconds: int = 60
    memory: int = 1 << 30
    largest: int = 64 << 20


@dataclass(frozen=True, slots=True)
class Expanded:
    """The URDF text of a xacro file, and where it comes from.

    ``files`` are all files that were read, the first one first. ``places`` gives for each line of
    the text the file and line of the element that begins in it. ``problems`` are the package's
    warnings, and arguments that the file does not know.
    """

    file: str
    text: str
    files: tuple[Path, ...] = ()
    places: tuple[tuple[str, int] | None, ...] = ()
    problems: tuple[Finding, ...] = ()

    def located(self, problem: Finding) -> Finding:
        """A problem of the text, with the file and line of the xacro element it comes from."""
        if problem.file != self.file:
            return problem
        for line in range(min(problem.line, len(self.places)), 0, -1):
            place = self.places[line - 1]
            if place is not None:
                return replace(problem, file=place[0], line=place[1])
        return replace(problem, line=0)


def expand(
    path: str | os.PathLike[str],
    arguments: Mapping[str, str] | None = None,
    *,
    find: Find,
    roots: Sequence[str | os.PathLike[str]] = (),
    environment: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> Expanded:
    """The URDF text that a xacro file stands for.

    ``arguments`` are the values of its ``$(arg name)``. ``find`` gives the folder of a package, for
    ``$(find name)``. Files are read in the folder of ``path``, in the ``roots`` and those that
    ``find`` has under this name, and in the folders that it gave. ``$(env NAME)`` sees
    ``environment`` and nothing of this process.

    Raises: DescriptionError for a file that cannot be expanded, with file and line; what asks for
    other files, or for more than ``limits``, is one. MissingExtraError without the package;
    InputError for arguments that are no texts.
    """
    # not resolved: a file that is linked to is included from where it seems to be
    file = os.path.abspath(path)
    bounds = limits or Limits()
    folders = [os.path.dirname(file), *roots, *getattr(find, "roots", ())]
    bytes_of_file(os.fspath(path), LARGEST_FILE)  # says what is wrong with it
    job = {
        "path": file,
        "arguments": _texts(arguments or {}, "arguments"),
        "environment": _texts(environment or {}, "environment"),
        "roots": [os.path.abspath(folder) for folder in folders],
        "modules": [entry for entry in sys.path if os.path.isabs(entry)],
        "largest": bounds.largest,
        "memory": bounds.memory,
        "seconds": bounds.seconds,
    }
    answer = _answer_of_child(job, find, bounds, os.fspath(path))
    return _expanded(answer, os.fspath(path), file)


def read(
    path: str | os.PathLike[str],
    arguments: Mapping[str, str] | None = None,
    *,
    find: Find,
    roots: Sequence[str | os.PathLike[str]] = (),
    environment: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> tuple[Document, Expanded]:
    """The description that a xacro file stands for, and the expansion it was read from.

    Its file is ``path``, so that meshes are found by it; the ``line`` of a record is that of the
    expanded text, and problems have the file and line of the xacro element (`Expanded.located`).

    Raises: as `expand`, and DescriptionError for what is no valid URDF.
    """
    given = expand(path, arguments, find=find, roots=roots, environment=environment, limits=limits)
    if "<link" not in given.text:
        hint = "it may define macros only: take the file that includes it, and calls them"
        raise refuse(given.file, "no-link", "no link comes out of it", hint)
    try:
        document = read_urdf(given.text, file=given.file)
    except DescriptionError as error:
        raise DescriptionError([given.located(problem) for problem in error.problems]) from None
    located = tuple(given.located(problem) for problem in document.problems)
    return replace(document, problems=(*given.problems, *located)), given


def _texts(given: Mapping[str, str], what: str) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise InputError(f"{what} of a xacro file are given by name, as {{'prefix': 'left_'}}")
    for name, value in given.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise InputError(f"{what} of a xacro file are texts: {name!r} is {value!r}")
    return dict(given)


# the other process


def _answer_of_child(
    job: Mapping[str, Any], find: Find, limits: Limits, shown: str
) -> dict[str, Any]:
    """The process's answer. It is stopped when the time is over, and in any case at the end."""
    start = _START.format(package=str(_PACKAGE), formats=str(_PACKAGE / "formats"))
    if not sys.executable:
        raise InputError(
            f"{shown}: expanding xacro starts a Python process; there is none to start"
        )
    late = threading.Event()
    with (
        tempfile.TemporaryFile() as complaints,
        subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
        ) as process,
    ):

        def stop() -> None:
            late.set()
            process.kill()

        watch = threading.Timer(limits.seconds, stop)
        watch.daemon = True
        watch.start()
        answer = None
        try:
            answer = _talked(process, job, find, 8 * limits.largest)
        except (BrokenPipeError, ConnectionError):
            pass
        finally:
            watch.cancel()
            process.kill()
        if answer is not None:
            return answer
        process.wait()
        complaints.seek(0)
        last = complaints.read()[-500:].decode("utf-8", "replace").strip().splitlines()
    if late.is_set():
        message = f"the expansion took more than {limits.seconds} s, and was stopped"
        hint = "a macro or an expression may never end; or allow more time"
        raise refuse(shown, "xacro-time", message, hint)
    hint = f"it may take {limits.seconds} s and {limits.memory >> 20} MB"
    hint = f"{hint}; {last[-1]}" if last and last[-1] else hint
    message = "the process that expands it ended before it was done"
    raise refuse(shown, "xacro-process", message, hint)


def _talked(
    process: subprocess.Popen[bytes],
    job: Mapping[str, Any],
    find: Find,
    longest: int,
) -> dict[str, Any] | None:
    """The final answer, or None from a process that ended without one.

    Notes on packages that were not found by their names are the hint of a problem without one.
    """
    pipe, said = process.stdin, job
    notes: list[str] = []
    while pipe is not None and process.stdout is not None:
        pipe.write(json.dumps(said).encode() + b"\n")
        pipe.flush()
        line = process.stdout.readline(longest)
        if not line.endswith(b"\n"):
            return None
        answer = json.loads(line)
        if "find" not in answer:
            if "problem" in answer and not answer["problem"]["hint"]:
                answer["problem"]["hint"] = "; ".join(notes)
            return answer
        try:
            found = find(answer["find"])
        except InputError as error:
            said = {"error": str(error)}
        else:
            folder, note = found if isinstance(found, tuple) else (found, "")
            said = {"folder": os.path.abspath(folder), "note": note}
            notes += [note] if note else []
    return None


# its answer


def _expanded(answer: Mapping[str, Any], shown: str, file: str) -> Expanded:
    def name(given: str) -> str:
        return shown if given == file else given

    if "missing" in answer:
        raise MissingExtraError(
            f"xacro files need the xacro package ({answer['missing']}): pip install linkwork[xacro]"
        )
    if "problem" in answer:
        fault = answer["problem"]
        where, line = fault["place"]
        code, message, hint = fault["code"], fault["message"], fault["hint"]
        raise DescriptionError([Finding("error", code, message, name(where), line, hint=hint)])
    problems = [
        Finding("warning", "xacro", text, name(place[0]), place[1])
        for text, place in ((text, place or (file, 0)) for text, place in answer["warnings"])
    ]
    for argument in answer["unused"]:
        known = [other for other in answer["declared"] if other != argument]
        message = f"the file does not ask for it; {UnknownNameError('argument', argument, known)}"
        problems.append(Finding("warning", "xacro-argument", message, shown, name=argument))
    return Expanded(
        shown,
        answer["text"],
        tuple(Path(opened) for opened in answer["files"]),
        tuple(place and (name(place[0]), place[1]) for place in answer["places"]),
        tuple(problems),
    )
