"""``linkwork convert``: a description in another format, or as a picture of its tree."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from linkwork.cli import inputs, output
from linkwork.cli.arguments import ConvertArguments
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.formats.loops import beside
from linkwork.formats.mjcf.read import is_mjcf
from linkwork.formats.urdf.records import Document
from linkwork.formats.urdf.source import gather
from linkwork.loading import load, read
from linkwork.locating import package_finder
from linkwork.saving import FORMATS, Format, Saved, check_target, format_of, prepare

STDOUT = "-"
PICTURES = ("svg", "mermaid", "dot")

_SHOWN = 3


@output.options_named()
def run(given: ConvertArguments) -> None:
    """Read the one, write the other, and say on standard error what was found on the way."""
    if given.to is None and given.target == STDOUT:
        raise InputError(f"for standard output, say what to write with --to: {', '.join(FORMATS)}")
    kind = format_of(given.target, given.to)
    if given.target != STDOUT:
        check_target(given.target, kind, overwrite=given.force)
    document = _read(given)
    warnings = [problem for problem in document.problems if problem.level == "warning"]
    counts = Counter(problem.code for problem in warnings)
    first = {problem.code: problem for problem in reversed(warnings)}
    for code, count in counts.items():  # `linkwork check` lists all of them
        more = f"; {count - 1} more of this kind" if count > 1 else ""
        output.note(f"{first[code]}{more}")
    if len(warnings) > len(counts):
        output.note(f"all {len(warnings)} warnings: linkwork check {given.source}")
    if given.strict and warnings:
        count = f"{len(warnings)} warning{'s' if len(warnings) > 1 else ''}"
        raise InputError(f"{given.source} has {count}, and --strict was given: nothing is written")
    _write(given, kind, document)


def _read(given: ConvertArguments) -> Document:
    arguments = inputs.texts_by_name(given.arg, "--arg", ":=")
    environment = inputs.texts_by_name(given.env, "--env", "=")
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


def _write(given: ConvertArguments, kind: Format, document: Document) -> None:
    file = beside(Path(document.robot.file)) if document.robot.file else None
    to_stdout = given.target == STDOUT
    if to_stdout and kind == "urdf" and file is not None:
        output.note(f"{given.source}: warning: what closes its loops is not in the URDF")
    is_tree = kind in PICTURES or (to_stdout and kind == "urdf")  # says nothing of loops
    prepared = prepare(
        document if is_tree else load(document, loops=file or False),
        None if to_stdout else given.target,
        format=kind,
        meshes=cast("Any", given.meshes),
        allow=given.allow or (),
        overwrite=given.force,
    )
    for problem in prepared.findings:
        message = output.in_options(problem.message)
        output.note(f"{given.source}: {problem.level}: {message}")
    if given.strict and any(problem.level == "warning" for problem in prepared.findings):
        raise InputError("--strict was given: nothing is written")
    if not to_stdout:
        _tell_saved(given, kind, prepared.write())
        return
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(prepared.data.decode(errors="replace"))
    else:  # UTF-8, whatever the terminal's encoding is
        sys.stdout.flush()
        binary.write(prepared.data)


def _tell_saved(given: ConvertArguments, kind: Format, saved: Saved) -> None:
    """The files that were written, and the meshes that were not found or not taken along."""
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
    if saved.copied and kind == "urdf":
        below = {path.relative_to(saved.path.parent).parts[0] for path in saved.copied}
        places = ", ".join(sorted(str(saved.path.parent / name) for name in below))
        output.note(f"{len(saved.copied)} files of meshes are copied to {places}")
    output.note(f"written: {given.target}")


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
