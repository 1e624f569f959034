"""``linkwork convert``: a description in another format, or as a picture of its tree."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from linkwork.atomic import write_bytes
from linkwork.cli import output
from linkwork.cli.document_arguments import ConvertArguments
from linkwork.errors import Finding, InputError, UnsupportedFeatureError
from linkwork.formats import tree_text
from linkwork.formats.loops import beside
from linkwork.formats.mjcf.detect import is_mjcf
from linkwork.formats.urdf.records import Document, Robot
from linkwork.formats.urdf.source import gather
from linkwork.formats.urdf.write import to_bytes
from linkwork.loading import load, read
from linkwork.locating import package_finder

FORMATS: Mapping[str, tuple[str, ...]] = {
    "urdf": (".urdf",),
    "mjcf": (".xml", ".mjcf"),
    "svg": (".svg",),
    "mermaid": (".mmd", ".md"),
    "dot": (".dot", ".gv"),
}
"""What can be written, and the ends of names that mean it."""

MESHES = ("readable", "reference", "copy", "keep")
STDOUT = "-"

_SHOWN = 3

_PICTURES: Mapping[str, Callable[[Robot], str]] = {
    "svg": tree_text.svg,
    "mermaid": tree_text.mermaid,
    "dot": tree_text.dot,
}


def run(given: ConvertArguments) -> None:
    """Read the one, write the other, and say on standard error what was found on the way."""
    kind = _format(given)
    meshes = _meshes(given, kind)
    _check_target(given, kind)
    document = _read(given)
    warnings = [problem for problem in document.problems if problem.level == "warning"]
    _tell(warnings, given.source)
    if given.strict and warnings:
        count = f"{len(warnings)} warning{'s' if len(warnings) > 1 else ''}"
        raise InputError(f"{given.source} has {count}, and --strict was given: nothing is written")
    if kind in _PICTURES:
        _write(given, _fenced(given, _PICTURES[kind](document.robot)))
    elif kind == "mjcf":
        _to_mjcf(given, document, meshes)
    else:
        _to_urdf(given, document, meshes)
    if given.target != STDOUT:
        output.note(f"written: {given.target}")


def _tell(warnings: Sequence[Finding], source: str) -> None:
    """The first warning of each code; `linkwork check` lists all of them."""
    counts = Counter(problem.code for problem in warnings)
    first: dict[str, Finding] = {}
    for problem in warnings:
        first.setdefault(problem.code, problem)
    for code, problem in first.items():
        more = counts[code] - 1
        output.note(f"{problem}; {more} more of this kind" if more else str(problem))
    if len(warnings) > len(counts):
        output.note(f"all {len(warnings)} warnings: linkwork check {source}")


# what is asked for


def _format(given: ConvertArguments) -> str:
    known = ", ".join(FORMATS)
    if given.to is not None:
        if given.to not in FORMATS:
            raise InputError(f"--to is one of {known}, not {given.to!r}")
        return given.to
    if given.target == STDOUT:
        raise InputError(f"for standard output, say what to write with --to: {known}")
    suffix = Path(given.target).suffix.lower()
    for kind, suffixes in FORMATS.items():
        if suffix in suffixes:
            return kind
    ends = ", ".join(end for suffixes in FORMATS.values() for end in suffixes)
    raise InputError(
        f"{given.target}: what to write is not clear; end the name in one of {ends}, or give --to"
    )


def _meshes(given: ConvertArguments, kind: str) -> str:
    """How mesh names are treated; the default depends on what is written."""
    if given.meshes is None:
        if kind != "urdf":
            return "reference"
        return "keep" if given.target == STDOUT else "readable"
    if given.meshes not in MESHES:
        raise InputError(f"--meshes is one of {', '.join(MESHES)}, not {given.meshes!r}")
    if kind in _PICTURES:
        raise InputError(f"--meshes says nothing for {kind}: a picture of the tree has no meshes")
    if given.target == STDOUT and given.meshes != "keep" and kind == "urdf":
        raise InputError("on standard output mesh names are kept: leave out --meshes")
    if given.target == STDOUT and given.meshes == "copy":
        raise InputError("for --meshes copy the target is a file, with the meshes beside it")
    if kind == "mjcf" and given.meshes in ("readable", "keep"):
        raise InputError("MuJoCo does not know names of packages: --meshes is reference or copy")
    return given.meshes


def _check_target(given: ConvertArguments, kind: str) -> None:
    """What can be refused before any work is done."""
    if given.target == STDOUT:
        return
    target = Path(given.target)
    if not target.absolute().parent.is_dir():
        raise InputError(f"{target} cannot be written: there is no folder {target.parent}")
    if target.exists() and not target.is_file():
        raise InputError(f"{target} cannot be written: something that is not a file is there")
    if target.exists() and not given.force:
        raise InputError(f"{target} exists; to replace it, pass --force")
    loops = beside(target) if kind == "urdf" and not given.force else None
    if loops is not None:
        raise InputError(
            f"{loops} exists, and has loops for {target.name}; to replace them, pass --force"
        )


def pairs(entries: Sequence[str] | None, option: str, sign: str) -> dict[str, str]:
    """The values in name:=value (or another sign), by name.

    Raises: InputError for anything else, and for a name given twice.
    """
    found: dict[str, str] = {}
    for entry in entries or ():
        name, between, value = entry.partition(sign)
        if not between or not name.strip():
            raise InputError(f"{option} takes name{sign}value, not {entry!r}")
        if name.strip() in found:
            raise InputError(f"{option} names '{name.strip()}' twice")
        found[name.strip()] = value
    return found


# reading


def _read(given: ConvertArguments) -> Document:
    arguments = pairs(given.arg, "--arg", ":=")
    environment = pairs(given.env, "--env", "=")
    path, allow = Path(given.source), given.allow or ()
    suffix = path.suffix.lower()
    if suffix != ".xacro":
        if arguments or environment:
            raise InputError(f"--arg and --env are for xacro files; {given.source} is none")
        if suffix in FORMATS["mjcf"] and is_mjcf(gather(path, None)[0]):
            message = "MJCF is read as a mechanism only, and not converted; URDF and xacro are"
            raise UnsupportedFeatureError(f"{given.source}: {message}")
        return read(given.source)
    from linkwork.formats import xacro  # noqa: PLC0415  few need it

    finder = package_finder(path, allow)
    return xacro.read(path, arguments, find=finder, roots=finder.roots, environment=environment)[0]


# writing


def _fenced(given: ConvertArguments, text: str) -> str:
    """Mermaid in a Markdown file stands in a block of its own."""
    if Path(given.target).suffix.lower() == ".md" and given.to in (None, "mermaid"):
        return f"```mermaid\n{text}```\n"
    return text


def _write(given: ConvertArguments, text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    if given.target != STDOUT:
        write_bytes(given.target, data)
        return
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(data.decode(errors="replace"))
    else:  # UTF-8, whatever the terminal's encoding is
        sys.stdout.flush()
        binary.write(data)


def _to_urdf(given: ConvertArguments, document: Document, meshes: str) -> None:
    if given.target == STDOUT:
        if document.robot.file and beside(Path(document.robot.file)) is not None:
            output.note(f"{given.source}: warning: what closes its loops is not in the URDF")
        _write(given, to_bytes(document.robot))
        return
    from linkwork.saving import save  # noqa: PLC0415  loads the meshes' packages

    file = beside(Path(document.robot.file)) if document.robot.file else None
    robot = load(document, loops=file or False)
    allow = tuple(given.allow or ())
    saved = save(robot, given.target, meshes=cast(Any, meshes), allow=allow, overwrite=given.force)
    if saved.loops is not None:
        output.note(f"loops are in {saved.loops}")
    if saved.missing:
        files = _some(saved.missing)
        how = "--allow FOLDER says where they, or the folder of their package, lie"
        kept = f"warning: files that are not found keep their name: {files}; {how}"
        output.note(f"{given.source}: {kept}")
    if saved.outside:
        how = "who opens them has to pass --allow FOLDER; --meshes copy puts them beside it"
        files = _some(saved.outside)
        output.note(f"{given.target}: note: files outside its folder are named: {files}; {how}")
    if saved.copied:
        folders = {
            saved.path.parent / p.relative_to(saved.path.parent).parts[0] for p in saved.copied
        }
        places = ", ".join(sorted(map(str, folders)))
        output.note(f"{len(saved.copied)} files of meshes are copied to {places}")


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def _to_mjcf(given: ConvertArguments, document: Document, meshes: str) -> None:
    from linkwork.cli.mjcf_target import to_mjcf  # noqa: PLC0415  loads MuJoCo

    folder = None if given.target == STDOUT else Path(os.path.abspath(given.target)).parent
    file = beside(Path(document.robot.file)) if document.robot.file else None
    robot = None if file is None else load(document, loops=file)
    if robot is not None and robot.document is not None:
        document = robot.document  # with the joints that the file with the loops says
    loops = None if robot is None else robot.mechanism
    allow = tuple(given.allow or ())
    made = to_mjcf(document, folder, copy=meshes == "copy", allow=allow, loops=loops)
    for problem in made.problems:
        message = output.in_options(problem.message)
        output.note(f"{given.source}: {problem.level}: {message}")
    lost = [problem for problem in made.problems if problem.level == "warning"]
    if given.strict and lost:
        raise InputError("--strict was given: nothing is written")
    _write_meshes(folder, made.files)
    _write(given, made.text)


def _write_meshes(folder: Path | None, files: Mapping[str, bytes]) -> None:
    """The meshes first, so that the description never names one that is not there."""
    if folder is None:
        if files:
            raise InputError(
                f"{len(files)} meshes are in formats that MuJoCo does not read; name a file as the "
                "target, so that they can be written beside it"
            )
        return
    for name, data in files.items():
        path = folder / name
        if path.is_file() and path.read_bytes() == data:
            continue
        if path.exists():
            raise InputError(f"{path} exists with other content; write to another folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, data)
