"""Robots and descriptions written: URDF with its meshes and loops, MJCF, pictures of the tree.

Everything is made before anything is written (`prepare`). Then each file is written whole or not at
all: copies of meshes first, the description and the file with its loops last.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

from linkwork import settings
from linkwork.atomic import refusing, write_bytes, write_in_turn
from linkwork.conventions import GRAVITY
from linkwork.errors import DescriptionError, Finding, InputError, UnsupportedFeatureError
from linkwork.formats import dh, tree_text
from linkwork.formats import loops as loops_format
from linkwork.formats.loops import LoopsRecord
from linkwork.formats.urdf import records
from linkwork.formats.urdf.convert import listed, show
from linkwork.formats.urdf.edit.records import renamed_meshes
from linkwork.formats.urdf.validate import checked
from linkwork.formats.urdf.write import to_bytes
from linkwork.formats.urdf.write import to_text as urdf_text
from linkwork.geometry.material_files import material_files
from linkwork.geometry.meshes import places_of
from linkwork.locating import IMAGE_SUFFIXES, MESH_SUFFIXES, Folders, locate
from linkwork.mechanism.check_meshes import files_used
from linkwork.mechanism.edit import loops_record
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.serialize import to_json
from linkwork.robot import Robot

Source: TypeAlias = "Robot | records.Document | records.Robot"
Meshes = Literal["readable", "reference", "copy", "keep"]
Format = Literal["urdf", "mjcf", "loops", "json", "svg", "mermaid", "dot", "dh"]

FORMATS: Mapping[Format, tuple[str, ...]] = {
    "urdf": (".urdf",),
    "mjcf": (".xml", ".mjcf"),
    "loops": (".yaml", ".yml"),
    "json": (".json",),
    "svg": (".svg",),
    "mermaid": (".mmd", ".md"),
    "dot": (".dot", ".gv"),
    "dh": (".csv",),
}
"""Every format that is written, with the ends of file names that mean it."""

_PICTURES: Mapping[str, Callable[[records.Robot], str]] = {
    "svg": tree_text.svg,
    "mermaid": tree_text.mermaid,
    "dot": tree_text.dot,
}
# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Saving robots (`lw.save`)
not-saved | warning, note | Something of the robot that the format does not have. | Save it as
    .json, or add it after loading.
"""
_MESHES = ("readable", "reference", "copy", "keep")
_PACKAGE = "package://"
_FOLDER = "meshes"


@dataclass(frozen=True, slots=True)
class Saved:
    """The file that was written, the meshes copied beside it, and the names without a file.

    ``outside`` are names that lead to files outside the new description's package: whoever opens
    them has to allow their folders. ``loops`` is the file with the loops, where there is one.
    ``findings`` say what the format cannot hold.
    """

    path: Path
    copied: tuple[Path, ...] = ()
    missing: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    loops: Path | None = None
    findings: tuple[Finding, ...] = ()


def save(
    source: Source,
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,
    meshes: Meshes | None = None,
    allow: Folders = (),
    overwrite: bool = True,
    strict: bool = False,
) -> Saved:
    """Write a robot or a description to a file, in the format that the end of its name means.

    ``format`` says it where the name does not: "urdf" (.urdf), "mjcf" (.xml, .mjcf; extra
    ``mjcf``), "loops" (.yaml: loops, couplings and actuated joints), "dh" (.csv, or .yaml
    where ``format`` says so: a table of Denavit and Hartenberg's parameters), "json" (.json: the
    mechanism, exactly), or a picture of the tree: "svg" (.svg), "mermaid" (.mmd, .md), "dot" (.dot,
    .gv).

    ``meshes``, of a URDF. "readable" (the default): whatever could be read can be read from the new
    place. Names stay as they are where they lead to the same file (with the same ``allow``), and
    relative ones are rewritten where that makes them. Of the others the files are copied, with what
    they need beside them: to where a ``package://`` name is looked up beside the new description,
    to ``meshes/`` else. "reference" copies nothing: each name that would not lead to the same file
    is rewritten, relative to the new place. "copy" copies all files to ``meshes/``; "keep" leaves
    names as they are. A name that leads nowhere stays. Of an MJCF: "reference" (the default) writes
    only meshes that MuJoCo does not read to ``meshes/``, "copy" all. ``allow`` are further folders
    that meshes may lie in.

    With a URDF the loops of a robot go to ``NAME.loops.yaml`` beside it; where it has none, such a
    file that is there says so afterwards. Documents and records say nothing of loops, and leave it
    alone. What the format cannot hold is told in `Saved.findings`; ``strict=True`` raises what is a
    warning there, and writes nothing.

    A process that is killed leaves the old description with its loops, or the new one with its own.
    Copies are made first; a mesh that is there already with other content is not overwritten but
    stood beside.

    Raises: InputError for a name that says no format, a file that cannot be written, or where with
    ``overwrite=False`` the file or one with loops for it exists; DescriptionError for records that
    are no valid description, and for what MuJoCo does not compile; UnsupportedFeatureError for a
    robot that was changed after it was loaded or was not loaded from URDF, where the format needs
    its description ("loops" and "json" do not); MissingExtraError.
    """
    prepared = prepare(source, path, format=format, meshes=meshes, allow=allow, overwrite=overwrite)
    warnings = [problem for problem in prepared.findings if problem.level == "warning"]
    if strict and warnings:
        raise DescriptionError(warnings)
    return prepared.write()


def to_text(source: Source, format: Format = "urdf", *, allow: Folders = ()) -> str:
    """The text of a robot or a description in any format that `save` writes.

    Names of meshes stay as they are in a URDF, and are whole paths in an MJCF. A URDF does not hold
    loops: those are a text of their own, ``format="loops"``.

    Raises: as `save`; InputError for an MJCF with meshes in formats that MuJoCo does not read.
    """
    if format == "urdf":
        return urdf_text(document_of(source).robot)
    return prepare(source, None, format=format, allow=allow).data.decode()


def format_of(path: str | os.PathLike[str], format: str | None = None) -> Format:
    """The format that a file is written in: the one that is said, or what its name ends in.

    Raises: InputError with the names and ends that there are.
    """
    if format is not None:
        for known in FORMATS:
            if known == format:
                return known
        raise InputError(f"format is one of {', '.join(FORMATS)}, not {format!r}")
    suffix = Path(path).suffix.lower()
    for known, suffixes in FORMATS.items():
        if suffix in suffixes:
            return known
    ends = ", ".join(end for suffixes in FORMATS.values() for end in suffixes)
    raise InputError(
        f"{os.fspath(path)}: what to write is not clear; end the name in one of {ends}, or give "
        "format="
    )


def check_target(path: str | os.PathLike[str], format: Format, *, overwrite: bool) -> Path:
    """The file to write, whole; refused is what can be refused before any work is done.

    Raises: InputError.
    """
    target = Path(os.path.abspath(path))
    if not target.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {Path(path).parent}")
    try:
        other = os.path.lexists(target) and target.exists() and not target.is_file()
    except OSError as error:  # a name that is too long
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    if other:
        raise InputError(f"{path} cannot be written: something that is not a file is there")
    if not overwrite:
        loops = loops_format.beside(target) if format == "urdf" else None
        for there, whose in ((target, ""), (loops, f" and has the loops of {target.name}")):
            if there is not None and os.path.lexists(there):
                raise InputError(f"{there} exists{whose}; to replace it, pass overwrite=True")
    return target


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that is to be written, before anything is.

    ``record`` are the loops that belong to the description; None leaves a file with loops alone.
    """

    target: Path | None
    data: bytes
    files: Mapping[Path, bytes] = field(default_factory=dict[Path, bytes])
    missing: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    record: LoopsRecord | None = None
    findings: tuple[Finding, ...] = ()

    def write(self) -> Saved:
        """Write the files beside it, then the description and its loops.

        Raises: InputError for a file that cannot be written.
        """
        if self.target is None:
            raise InputError("there is no file to write to")
        for new, data in self.files.items():
            if not (new.is_file() and new.read_bytes() == data):
                with refusing(new.parent):
                    new.parent.mkdir(parents=True, exist_ok=True)
                write_bytes(new, data)
        loops = self._write_pair(self.target)
        copied = tuple(self.files)
        return Saved(self.target, copied, self.missing, self.outside, loops, self.findings)

    def _write_pair(self, target: Path) -> Path | None:
        """Write the description and the file with its loops; returns that, if there are any.

        Killed at any moment, this leaves the old pair or the new one: the new loops are first told
        to belong to the new text alone. A file with other loops then says that there are none.
        """
        record = self.record
        says = record is not None and bool(record.loops or record.couplings or record.actuated)
        if record is None or not (says or loops_format.beside(target) is not None):
            write_bytes(target, self.data)
            return None
        file = loops_format.sidecar(target)
        coming = file.with_name(file.name + loops_format.COMING)
        marked = loops_format.to_text(
            record,
            saved_with=hashlib.sha256(self.data).hexdigest(),
            saved_over=loops_format.digest_of(target) or "",
        )
        plain = loops_format.to_text(record)
        write_in_turn([(coming, marked.encode()), (target, self.data), (file, plain.encode())])
        coming.unlink(missing_ok=True)
        return file if says else None


def prepare(
    source: Source,
    path: str | os.PathLike[str] | None,
    *,
    format: Format | None = None,
    meshes: Meshes | None = None,
    allow: Folders = (),
    overwrite: bool = True,
) -> Prepared:
    """The content of a file in any format, and of the files beside it; ``path=None`` is a text.

    Raises: as `save`.
    """
    kind = format_of("" if path is None else path, format)
    how = _meshes_of(kind, meshes, is_text=path is None)
    target = None if path is None else check_target(path, kind, overwrite=overwrite)
    made = _prepared(source, kind, target, how, allow)
    if not isinstance(source, Robot):
        return made
    return replace(made, findings=(*made.findings, *_not_saved(source, kind)))


def _prepared(
    source: Source, kind: Format, target: Path | None, how: str, allow: Folders
) -> Prepared:
    if kind == "urdf":
        return _prepare_urdf(source, target, how, allow)
    if kind == "mjcf":
        return _prepare_mjcf(source, target, how, allow)
    if kind == "loops":
        text = loops_format.to_text(loops_record(_mechanism_of(source)))
    elif kind == "dh":
        robot = source if isinstance(source, Robot) else Robot(_mechanism_of(source))
        is_yaml = target is not None and target.suffix.lower() in (".yaml", ".yml")
        text = (dh.to_yaml if is_yaml else dh.to_csv)(robot.to_dh())
    elif kind == "json":
        text = to_json(_mechanism_of(source)) + "\n"
    else:
        text = _PICTURES[kind](document_of(source).robot)
        if target is not None and target.suffix.lower() == ".md" and kind == "mermaid":
            text = f"```mermaid\n{text}```\n"  # Markdown draws it in a block of its own
    return Prepared(target, text.encode())


def _not_saved(robot: Robot, kind: Format) -> Iterator[Finding]:
    """Findings on what a robot has beside what its description says, and the format has not."""
    if kind not in ("urdf", "mjcf", "json", "dh"):  # loops alone, or a picture of the tree
        return
    m = robot.mechanism
    if robot.attached:
        held = listed([each.name for each in robot.attached])
        yield Finding("warning", "not-saved", f"objects that it holds are left out: {held}")
    if kind in ("json", "dh") and robot.shapes and any(robot.shapes.of_link.values()):
        what = "the mechanism alone" if kind == "json" else "a table"
        message = f"shapes of links are left out: what is saved is {what}"
        hint = "a URDF or an MJCF has them; collisions and pictures need them"
        yield Finding("note", "not-saved", message, hint=hint)
    tip = _tip_of(robot)
    if kind == "json" and tip is not None and tip != _tip_of(Robot(m)):
        message = f"which frame is the tip of the chain is left out: name '{show(tip)}' in calls"
        yield Finding("warning", "not-saved", message)
    if kind in ("urdf", "mjcf") and m.inertias_accepted:
        message = "that inertias count as they stand is left out"
        yield Finding("note", "not-saved", message, hint="accept_inertias() of what is loaded")
    if kind == "urdf" and m.body_joint_types[0] is JointType.FLOATING:
        message = "a URDF does not say that the base floats: load it with base='floating'"
        yield Finding("note", "not-saved", message)
    if kind == "dh":
        yield from _not_in_a_table(m)


def _not_in_a_table(m: Mechanism) -> Iterator[Finding]:
    if m.armature.any():
        yield Finding("warning", "not-saved", "a table has no armature: it is left out")
    if m.stiffness.any():
        yield Finding("warning", "not-saved", "a table has no springs: they are left out")
    if m.gravity() != list(GRAVITY):
        message = f"a table has no gravity: that of the robot, {m.gravity()}, is left out"
        hint = "give it to the calls, as gravity=..."
        yield Finding("note", "not-saved", message, hint=hint)
    if m.mass[0] > 0.0:
        mass = f"{m.mass[0]:.6g} kg of what does not move"
        yield Finding("note", "not-saved", f"a table has no mass of its base: {mass} are left out")


def _tip_of(robot: Robot) -> str | None:
    try:
        return robot.tip
    except InputError:  # several links are at an end
        return None


def _meshes_of(kind: Format, given: str | None, *, is_text: bool) -> str:
    """The treatment of names of meshes; the default depends on the format."""
    if given is None:
        default = "keep" if is_text else "readable"
        return default if kind == "urdf" else "reference"
    if given not in _MESHES:
        raise InputError(f"meshes is one of {', '.join(_MESHES)}, not {given!r}")
    if kind not in ("urdf", "mjcf"):
        raise InputError(f"meshes says nothing for {kind}, which has no meshes")
    if kind == "urdf" and is_text and given != "keep":
        raise InputError("meshes is for files: in a text mesh names are kept")
    if kind == "mjcf" and is_text and given == "copy":
        raise InputError("meshes is 'copy' where the target is a file, with the meshes beside it")
    if kind == "mjcf" and given in ("readable", "keep"):
        raise InputError("meshes is reference or copy: MuJoCo does not know names of packages")
    return given


def document_of(source: Source) -> records.Document:
    """The valid description of a document, of records, or of a robot as it was loaded.

    Raises: as `save`.
    """
    if isinstance(source, records.Document):
        return source
    if isinstance(source, records.Robot):
        return checked(source, file=source.file)
    if not isinstance(source, Robot):
        kind = type(source).__name__
        raise TypeError(f"a description is a Document, its robot, or a loaded Robot, not {kind}")
    instead = "its mechanism can be saved as .json"
    if source.document is None:
        raise UnsupportedFeatureError(
            f"'{source.name}' was not loaded from URDF: no description; {instead}"
        )
    tree = replace(source.mechanism, loops=(), couplings=(), actuated=(), inertias_accepted=False)
    bases: tuple[Literal["fixed", "floating"], ...] = ("fixed", "floating")
    if not any(from_urdf(source.document, base=base).digest == tree.digest for base in bases):
        raise UnsupportedFeatureError(
            f"'{source.name}' was changed after it was loaded, and its description was not; edit "
            f"the description with the functions of linkwork.urdf and load the result, or {instead}"
        )
    return source.document


def _mechanism_of(source: Source) -> Mechanism:
    return source.mechanism if isinstance(source, Robot) else from_urdf(document_of(source))


def _prepare_urdf(source: Source, target: Path | None, how: str, allow: Folders) -> Prepared:
    robot = document_of(source).robot
    if target is None:
        return Prepared(None, to_bytes(robot))
    meshes = _MeshFiles(target, file=robot.file, allow=tuple(allow))
    if how != "keep":
        names = meshes.new_names(robot, how)
        robot = renamed_meshes(robot, lambda name: names.get(name, name))
    record = loops_record(source.mechanism) if isinstance(source, Robot) else None
    return Prepared(
        target,
        to_bytes(robot),
        meshes.copies,
        tuple(meshes.missing),
        tuple(meshes.outside),
        record,
    )


def _prepare_mjcf(source: Source, target: Path | None, how: str, allow: Folders) -> Prepared:
    from linkwork.mechanism.to_mjcf import to_mjcf  # noqa: PLC0415  loads MuJoCo

    document = document_of(source)
    made = to_mjcf(
        document,
        None if target is None else target.parent,
        find=lambda name: locate(name, document.robot.file, allow),
        copy=how == "copy",
        mechanism=source.mechanism if isinstance(source, Robot) else None,
    )
    files: dict[Path, bytes] = {}
    for name, data in made.files.items():
        if target is None:
            raise InputError(
                f"{len(made.files)} meshes are in formats that MuJoCo does not read; name a file "
                "as the target, so that they can be written beside it"
            )
        new = target.parent / name
        if new.exists() and not (new.is_file() and new.read_bytes() == data):
            raise InputError(f"{new} exists with other content; write to another folder")
        files[new] = data
    return Prepared(target, made.text.encode(), files, findings=made.findings)


@dataclass
class FileCopies:
    """Files that are copied beside a new description, each with what it needs beside it."""

    target: Path
    copies: dict[Path, bytes] = field(default_factory=dict[Path, bytes])

    def leads(self, name: str, path: Path, allow: Folders = ()) -> bool:
        """Whether a name in the new description leads to a file, or to a copy of it."""
        found = self.from_there(name, allow)
        return found is not None and (found == path or self.group_of(found) == self.group_of(path))

    def from_there(self, name: str, allow: Folders = ()) -> Path | None:
        """The file that a name leads to from the new place, if there is one."""
        try:
            return locate(name, self.target, allow, suffixes=MESH_SUFFIXES | IMAGE_SUFFIXES)
        except InputError:
            return None

    def group_of(self, path: Path) -> dict[str, bytes]:
        """A mesh and what it needs beside it, by names relative to the mesh's folder."""
        needed = (path, *material_files(path)) if path.suffix.lower() in MESH_SUFFIXES else (path,)
        return {f.relative_to(path.parent).as_posix(): f.read_bytes() for f in needed}

    def free_place(self, place: PurePosixPath, group: Mapping[str, bytes]) -> Path:
        """A place for the first file of a group where none of it meets other content."""
        first = self.target.parent / _FOLDER / place
        for number in range(1, 10_000):
            folder = first.parent if number == 1 else first.parent / f"{first.stem}_{number}"
            if self.is_free_for(group, folder):
                return folder / first.name
        raise InputError(f"there is no free name left for {first}")

    def is_free_for(self, group: Mapping[str, bytes], folder: Path) -> bool:
        """Whether each place is free, or holds or will hold this very content."""
        for below, data in group.items():
            new = folder / below
            if new in self.copies:
                if self.copies[new] != data:
                    return False
            elif os.path.lexists(new) and not (new.is_file() and new.read_bytes() == data):
                return False
        return True


@dataclass
class _MeshFiles(FileCopies):
    """The files that a description names: which name becomes which, and what is copied where."""

    file: str | None = None
    allow: tuple[str | os.PathLike[str], ...] = ()
    missing: list[str] = field(default_factory=list[str])
    outside: list[str] = field(default_factory=list[str])

    def new_names(self, robot: records.Robot, how: str) -> dict[str, str]:
        """New names for those that are to change, by the old ones; `copies` gets the files."""
        names: dict[str, str] = {}
        for name, path in self._found(robot).items():
            if how != "copy" and self.leads(name, path):
                continue
            relative = self._relative(path)
            if how == "reference":
                names[name] = relative
                if not self.leads(relative, path):
                    self.outside.append(relative)
                continue
            if how == "readable" and self.leads(name, path, self.allow):
                self.outside.append(name)
                continue
            group = self.group_of(path)
            place = self._package_place(name, group) if how == "readable" else None
            if place is None and how == "readable" and self.leads(relative, path):
                names[name] = relative
                continue
            if place is None:
                place = self.free_place(_place(name), group)
                names[name] = place.relative_to(self.target.parent).as_posix()
            self.copies |= {place.parent / below: data for below, data in group.items()}
        return names

    def _found(self, robot: records.Robot) -> dict[str, Path]:
        """Each name of a mesh or texture, and its file."""
        found: dict[str, Path] = {}
        for use in files_used(robot):
            if use.name in found or use.name in self.missing:
                continue
            suffixes = MESH_SUFFIXES if use.element == "mesh" else IMAGE_SUFFIXES
            try:
                found[use.name] = locate(use.name, self.file, self.allow, suffixes=suffixes)
            except InputError:
                self.missing.append(use.name)
        return found

    def _relative(self, path: Path) -> str:
        """The name of a file, relative to the new description."""
        try:
            return Path(os.path.relpath(path, self.target.parent)).as_posix()
        except ValueError:  # another drive
            return path.as_posix()

    def _package_place(self, name: str, group: dict[str, bytes]) -> Path | None:
        """The place of a file in a package beside the new description, where that is free."""
        if not name.startswith(_PACKAGE) or self.from_there(name) is not None:
            return None
        folder = self.target.parent
        if folder not in places_of(self.target, (), (), settings.home()).package:
            return None  # it belongs to a package, which is looked up by its name
        place = folder / name[len(_PACKAGE) :].lstrip("/")
        return place if self.is_free_for(group, place.parent) else None


def _place(name: str) -> PurePosixPath:
    """The place below ``meshes/`` for a file of this name: its path inside its package, if any."""
    plain = name.replace("\\", "/")
    if plain.startswith(_PACKAGE):
        plain = plain[len(_PACKAGE) :].lstrip("/")
    elif "://" in plain or plain.startswith(("/", "file:")) or ":" in plain:
        plain = PurePosixPath(plain).name
    parts = [part for part in plain.split("/") if part not in ("", ".", "..")]
    if parts and parts[0] == _FOLDER:
        parts = parts[1:]
    return PurePosixPath(*parts) if parts else PurePosixPath("mesh")
