"""From a name, a file or text to a description, and to a robot."""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

from numpy.typing import ArrayLike

from linkwork import models, settings
from linkwork.errors import DescriptionError, InputError, UnsupportedFeatureError
from linkwork.formats import dh
from linkwork.formats import loops as loops_format
from linkwork.formats.loops import LoopsRecord, with_joints
from linkwork.formats.urdf import read as urdf
from linkwork.formats.urdf.records import Document
from linkwork.formats.urdf.source import LARGEST_FILE, bytes_of_file
from linkwork.locating import Folders, package_finder
from linkwork.mechanism.edit import with_loops
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.serialize import from_json
from linkwork.mechanism.shapes import Shapes, shapes_from_mjcf
from linkwork.robot import Robot

Source: TypeAlias = "str | os.PathLike[str] | bytes"

_FOREIGN = (".sdf", ".usd")
_MJCF = (".xml", ".mjcf")


def load(
    source: Source | Document,
    *,
    base: Literal["fixed", "floating"] = "fixed",
    strict: bool = False,
    arguments: Mapping[str, str] | None = None,
    allow: Folders = (),
    loops: str | os.PathLike[str] | Literal[False] | None = None,
) -> Robot:
    """A robot from a bundled model's name, a URDF, xacro, MJCF or other file, text, or a document.

    Text starts with ``<``. A plain word without a dot or a slash is a bundled model
    (`linkwork.models.MODELS`). A .csv or .yaml is a table of Denavit and Hartenberg's parameters
    (docs/dh.md). JSON is what `linkwork.save` writes. ``base="floating"`` lets the
    root link move freely. ``strict=True`` raises on warnings, which are otherwise kept in
    `Robot.findings`. ``arguments`` are those of a xacro file, and ``allow`` are folders that it, or
    an MJCF with includes and meshes, may read beside those of its package.

    ``loops`` is a file with loops, couplings and actuated joints, as `formats.loops` says. Without
    it ``NAME.loops.yaml`` beside the description is taken, or a ``robot.yaml`` with a
    ``closed_loop``, or a ``loop_closures.yaml``, but not for an MJCF with equalities of its own;
    False takes none.

    Raises: DescriptionError with every problem in the file, MissingFileError (a FileNotFoundError
    too) where there is none; UnknownNameError for a model that does not exist;
    UnsupportedFeatureError for another format; MissingExtraError where a format needs a package
    that is not installed.
    """
    given = source if isinstance(source, Document) else _resolve(source)
    document = shapes = None
    if isinstance(given, Path) and given.suffix.lower() == ".json":
        if base != "fixed":
            raise InputError("a JSON file holds a whole mechanism, with its base; base is 'fixed'")
        mechanism, record = _from_json(given), _record_of(given, loops or False)
    elif not isinstance(given, Document) and _is_mjcf(given):
        if base != "fixed":
            raise InputError("in MJCF a <freejoint> says that a body floats; base is 'fixed'")
        mechanism, shapes = _from_mjcf(given, allow)
        is_closed = bool(mechanism.loops or mechanism.couplings)
        record = _record_of(given, False if is_closed and loops is None else loops)
        if record.joints or record.hinges:
            key = "joint_name" if record.joints else "closures"
            raise UnsupportedFeatureError(f"{record.file}: {key} is for joints of a URDF")
    else:
        document = given if isinstance(given, Document) else _read(given, None, arguments, allow)
        document, record = with_joints(document, _record_of(given, loops))
        mechanism = from_urdf(document, base=base)
    mechanism = with_loops(mechanism, record)
    warnings = [problem for problem in mechanism.findings if problem.level == "warning"]
    if strict and warnings:
        raise DescriptionError(warnings)
    return Robot(mechanism, document, shapes=shapes)


def from_dh(
    rows: dh.DHTable | Iterable[dh.DHRow | Mapping[str, Any] | ArrayLike],
    *,
    convention: dh.Convention = "standard",
    types: Sequence[str] | str | None = None,
    base: ArrayLike | None = None,
    tool: ArrayLike | None = None,
    name: str = "robot",
) -> Robot:
    """A robot from a table of Denavit and Hartenberg's parameters; metres, radians, kilograms.

    ``rows``: a `DHTable`, or a row for each joint: four numbers in the order of the convention, a
    mapping of names (``{"theta": 0, "d": 0.3, "type": "prismatic", "lower": 0, "mass": 2}``; the
    fields of `DHRow`, and ``offset``), or a `DHRow`. Conventions, and the order of the four::

        standard  theta d a alpha   Rz(theta) Tz(d) Tx(a) Rx(alpha)
        craig     alpha a d theta   Rx(alpha) Tx(a) Rz(theta) Tz(d)     "modified"
        khalil    alpha d theta r   Rx(alpha) Tx(d) Rz(theta) Tz(r)     after Rz(gamma) Tz(b)

    The joint's position adds to theta, or to d where it slides. ``types`` gives all types of joints
    at once ("RRPR" or names), ``base`` (4, 4) the table's first frame in the world, ``tool`` (4, 4)
    the frame "tool" on the last link. Links and joints are link1, joint1, ... where rows name none.

    Raises: InputError, ShapeError; DescriptionError naming the row.
    """
    if isinstance(rows, dh.DHTable):
        table = rows
    else:
        table = dh.table_of(
            rows, convention=convention, types=types, base=base, tool=tool, name=name
        )
    return load(dh.to_document(table))


def _record_of(
    given: str | Path | bytes | Document, loops: str | os.PathLike[str] | Literal[False] | None
) -> LoopsRecord:
    """The record of the file with loops that belongs to a source; empty where there is none."""
    if loops is False:
        return LoopsRecord()
    if loops is not None:
        return loops_format.read(Path(loops))
    if isinstance(given, Document):
        given = Path(given.robot.file) if given.robot.file else b""
    found = loops_format.beside(given) if isinstance(given, Path) else None
    return LoopsRecord() if found is None else loops_format.read(found)


def read(
    source: Source | IO[Any],
    *,
    file: str | None = None,
    arguments: Mapping[str, str] | None = None,
    allow: Folders = (),
    accepted: Collection[str] = (),
) -> Document:
    """The URDF document of a bundled model, a .urdf or .xacro file, a text, bytes or an open file.

    ``file`` is the name that messages use and meshes are found by, where it is not the path.
    The text is kept for writing, so that an edit changes only what it is about. Errors of a URDF
    with codes in ``accepted`` are warnings: for readers that have no use for what they are about.

    Raises: as `load`.
    """
    if isinstance(source, io.IOBase) or hasattr(source, "read"):
        stream: Any = source
        data: str | bytes = stream.read()
        name = getattr(stream, "name", None)
        if isinstance(data, str) and not data.lstrip("\ufeff \t\r\n").startswith("<"):
            data = data.encode()  # never the name of another file, which a str would be taken for
        name = file or (name if isinstance(name, str) else None)
        return urdf.read(data, file=name, keep_source=True)
    given = _resolve(source)  # pyright: ignore[reportArgumentType] -- no file, so one of these
    return _read(given, file, arguments, allow, keep_source=True, accepted=accepted)


def _read(
    given: str | Path | bytes,
    file: str | None,
    arguments: Mapping[str, str] | None,
    allow: Folders,
    *,
    keep_source: bool = False,
    accepted: Collection[str] = (),
) -> Document:
    if isinstance(given, Path) and given.suffix.lower() in dh.SUFFIXES and not arguments:
        return dh.to_document(dh.read(given))
    if isinstance(given, Path) and given.suffix.lower() == ".xacro":
        from linkwork.formats import xacro  # noqa: PLC0415  few need it

        find = package_finder(given, allow)
        return xacro.read(given, arguments, find=find, roots=allow)[0]
    if arguments:
        raise InputError("arguments are for xacro files; this is none")
    if isinstance(given, Path) and given.suffix.lower() == ".json":
        message = "JSON is read as a mechanism (lw.load) and has no description of it"
        raise UnsupportedFeatureError(f"{given}: {message}")
    return urdf.read(given, file=file, keep_source=keep_source, accepted=accepted)


def _is_mjcf(given: str | Path | bytes) -> bool:
    """Whether the root element says MJCF; only asked where it may be."""
    if isinstance(given, Path):
        if given.suffix.lower() not in _MJCF or not given.is_file():
            return False
        data: bytes = given.read_bytes()
    else:
        data = given if isinstance(given, bytes) else given.encode(errors="replace")
        if b"<mujoco" not in data[:65536]:
            return False
    from linkwork.formats.mjcf.read import is_mjcf  # noqa: PLC0415  few need it

    return is_mjcf(data)


def _from_mjcf(given: str | Path | bytes, allow: Folders) -> tuple[Mechanism, Shapes]:
    from linkwork.formats.mjcf.read import read as read_mjcf  # noqa: PLC0415  few need it
    from linkwork.mechanism.from_mjcf import from_mjcf, mesh_opener  # noqa: PLC0415  few need it

    opener = mesh_opener(allow=allow, ros_paths=settings.ros_paths(), home=settings.home())
    model = read_mjcf(given, allow=allow, open_mesh=opener)
    return from_mjcf(model), shapes_from_mjcf(model)


def _from_json(path: Path) -> Mechanism:
    try:
        return from_json(bytes_of_file(str(path), LARGEST_FILE))
    except DescriptionError as error:
        problems = [p if p.file else replace(p, file=str(path)) for p in error.problems]
        raise type(error)(problems) from None


def _resolve(source: Source) -> str | Path | bytes:
    if isinstance(source, bytes):
        return source
    if not isinstance(source, str | os.PathLike):
        raise TypeError(
            "a description is the name of a model, a path, an XML text, bytes or a Document, not "
            f"{type(source).__name__}; lw.load(lw.urdf.read(file)) takes an open file"
        )
    text = os.fspath(source)
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return text
    path = Path(text)
    suffix = path.suffix.lower()
    if suffix in _FOREIGN:
        raise UnsupportedFeatureError(f"'{text}' is a {suffix} file: URDF, xacro and MJCF are read")
    plain = not suffix and text not in (".", "..") and os.sep not in text and "/" not in text
    return models.path(text) if isinstance(source, str) and plain else path
