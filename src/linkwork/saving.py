"""A description saved with its meshes: every file whole or not at all, the description last."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from linkwork import settings
from linkwork.atomic import refusing, write_bytes, write_in_turn
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.formats import loops as loops_format
from linkwork.formats.urdf import records
from linkwork.formats.urdf.edit.mesh_names import renamed_meshes
from linkwork.formats.urdf.validate import checked
from linkwork.formats.urdf.write import to_bytes
from linkwork.geometry.companions import companions
from linkwork.geometry.meshes import places_of
from linkwork.locating import IMAGE_SUFFIXES, MESH_SUFFIXES, Folders, locate
from linkwork.mechanism.from_loops import loops_record
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.robot import Robot

Meshes = Literal["readable", "reference", "copy", "keep"]
_PACKAGE = "package://"
_FOLDER = "meshes"


@dataclass(frozen=True, slots=True)
class Saved:
    """What `save` did: the file, the meshes copied beside it, and the names it found no file for.

    ``outside`` are names that lead to files outside the new description's package: whoever opens
    them has to allow their folders.
    """

    path: Path
    copied: tuple[Path, ...] = ()
    missing: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    loops: Path | None = None


def save(
    source: records.Document | records.Robot | Robot,
    path: str | os.PathLike[str],
    *,
    meshes: Meshes = "readable",
    allow: Folders = (),
    overwrite: bool = True,
) -> Saved:
    """Write a description as URDF, with the meshes and textures that it names.

    ``meshes="readable"``: whatever could be read can be read from the new place. Names stay as they
    are where they lead to the same file (with the same ``allow``), and relative ones are rewritten
    where that makes them. Of the others the files are copied, with what they need beside them: to
    where a ``package://`` name is looked up beside the new description, to ``meshes/`` else.
    ``"reference"`` copies nothing: each name that would not lead to the same file is rewritten,
    relative to the new place. ``"copy"`` copies all files to ``meshes/``; ``"keep"`` leaves names
    as they are. A name that leads nowhere stays. ``allow`` are further folders that meshes may lie
    in.

    The loops of a robot go to ``NAME.loops.yaml`` beside it; where it has none, such a file that is
    there says so afterwards. Documents and records say nothing of loops, and leave it alone.

    A process that is killed leaves the old description with its loops, or the new one with its own.
    Copies are made first; a mesh that is there already with other content is not overwritten but
    stood beside.

    Raises: DescriptionError for records that are no valid description; InputError for a file that
    cannot be written, or where with ``overwrite=False`` the description or a file with loops for it
    exists; UnsupportedFeatureError for a robot that
    was changed after it was loaded, or was not loaded from URDF.
    """
    if meshes not in ("readable", "reference", "copy", "keep"):
        raise InputError(f"meshes is 'readable', 'reference', 'copy' or 'keep', not {meshes!r}")
    target = Path(os.path.abspath(path))
    if not overwrite:
        _check_free(target)
    document = document_of(source)
    robot = document.robot
    plan = _Plan(robot.file, target, tuple(allow))
    if meshes != "keep":
        ways = {"copy": plan.copied_names, "reference": plan.referenced_names}
        names = ways.get(meshes, plan.readable_names)(robot)
        robot = renamed_meshes(robot, lambda name: names.get(name, name))
    text = to_bytes(robot)
    for new, data in plan.copies.items():
        if not (new.is_file() and new.read_bytes() == data):
            with refusing(new.parent):
                new.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(new, data)
    loops = _write_pair(source, target, text)
    return Saved(target, tuple(plan.copies), tuple(plan.missing), tuple(plan.outside), loops)


def _check_free(target: Path) -> None:
    """Refuse to replace a description, or the loops that a new one in this place would get."""
    loops = loops_format.beside(target)
    for path, whose in ((target, ""), (loops, f" and has the loops of {target.name}")):
        if path is not None and os.path.lexists(path):
            raise InputError(f"{path} exists{whose}; pass overwrite=True to replace it")


def _write_pair(
    source: records.Document | records.Robot | Robot, target: Path, text: bytes
) -> Path | None:
    """Write a description and, of a robot, the file with its loops; where that is, if it has any.

    Killed at any moment, this leaves the old pair or the new one: the new loops are first told to
    belong to the new text alone. A file with other loops then says that there are none.
    """
    loops = loops_format.beside(target)
    record = loops_record(source.mechanism) if isinstance(source, Robot) else None
    says = record is not None and bool(record.loops or record.couplings or record.actuated)
    if record is None or not (says or loops is not None):
        write_bytes(target, text)
        return None
    file = loops_format.sidecar(target)
    coming = file.with_name(file.name + loops_format.COMING)
    marked = loops_format.to_text(
        record,
        saved_with=hashlib.sha256(text).hexdigest(),
        saved_over=loops_format.digest_of(target) or "",
    )
    plain = loops_format.to_text(record)
    write_in_turn([(coming, marked.encode()), (target, text), (file, plain.encode())])
    coming.unlink(missing_ok=True)
    return file if says else None


def document_of(source: records.Document | records.Robot | Robot) -> records.Document:
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
    if source.document is None:
        raise UnsupportedFeatureError(f"'{source.name}' was not loaded from URDF: no description")
    tree = replace(source.mechanism, loops=(), couplings=(), actuated=())
    if not any(
        from_urdf(source.document, base=base).digest == tree.digest
        for base in ("fixed", "floating")
    ):
        raise UnsupportedFeatureError(
            f"'{source.name}' was changed after it was loaded, and its description was not; edit "
            "the description with the functions of linkwork.urdf and load the result"
        )
    return source.document


@dataclass
class _Plan:
    """Which name becomes which, and which files are copied where."""

    file: str | None
    target: Path
    allow: tuple[str | os.PathLike[str], ...]
    copies: dict[Path, bytes] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def _found(self, robot: records.Robot) -> dict[str, Path]:
        """Each name of a mesh or texture, and its file."""
        found: dict[str, Path] = {}
        for name, is_mesh in _names(robot):
            if name in found or name in self.missing:
                continue
            suffixes = MESH_SUFFIXES if is_mesh else IMAGE_SUFFIXES
            try:
                found[name] = locate(name, self.file, self.allow, suffixes=suffixes)
            except InputError:
                self.missing.append(name)
        return found

    def readable_names(self, robot: records.Robot) -> Mapping[str, str]:
        """New names for those that would lead nowhere; `copies` gets their files."""
        names: dict[str, str] = {}
        for name, path in self._found(robot).items():
            if self._leads(name, path):
                continue
            if self._leads(name, path, self.allow):
                self.outside.append(name)
                continue
            relative = self._relative(path)
            group = self._group(path)
            place = self._package_place(name, group)
            if place is None and self._leads(relative, path):
                names[name] = relative
                continue
            if place is None:
                place = self._free(_place(name), group)
                names[name] = place.relative_to(self.target.parent).as_posix()
            self._copy(place, group)
        return names

    def referenced_names(self, robot: records.Robot) -> Mapping[str, str]:
        """New names for those that would not lead to the same file from the new place."""
        names: dict[str, str] = {}
        for name, path in self._found(robot).items():
            if self._leads(name, path):
                continue
            names[name] = self._relative(path)
            if not self._leads(names[name], path):
                self.outside.append(names[name])
        return names

    def copied_names(self, robot: records.Robot) -> Mapping[str, str]:
        """New names below ``meshes/``; `copies` gets the files, companions included."""
        names: dict[str, str] = {}
        for name, path in self._found(robot).items():
            group = self._group(path)
            place = self._free(_place(name), group)
            self._copy(place, group)
            names[name] = place.relative_to(self.target.parent).as_posix()
        return names

    def _relative(self, path: Path) -> str:
        """The name of a file, relative to the new description."""
        try:
            return Path(os.path.relpath(path, self.target.parent)).as_posix()
        except ValueError:  # another drive
            return path.as_posix()

    def _leads(self, name: str, path: Path, allow: Folders = ()) -> bool:
        """Whether a name in the new description leads to a file, or to a copy of it."""
        found = self._from_there(name, allow)
        return found is not None and (found == path or self._group(found) == self._group(path))

    def _from_there(self, name: str, allow: Folders = ()) -> Path | None:
        """The file that a name leads to from the new place, if there is one."""
        try:
            suffixes = MESH_SUFFIXES | IMAGE_SUFFIXES
            return locate(name, self.target, allow, suffixes=suffixes)
        except InputError:
            return None

    def _package_place(self, name: str, group: dict[str, bytes]) -> Path | None:
        """Where a file is found by its name in a package that lies beside the new description."""
        if not name.startswith(_PACKAGE) or self._from_there(name) is not None:
            return None
        folder = self.target.parent
        if folder not in places_of(self.target, (), (), settings.home()).package:
            return None  # it belongs to a package, which is looked up by its name
        place = folder / name[len(_PACKAGE) :].lstrip("/")
        free = all(self._holds(place.parent / each, data) for each, data in group.items())
        return place if free else None

    def _copy(self, place: Path, group: dict[str, bytes]) -> None:
        for relative, data in group.items():
            self.copies[place.parent / relative] = data

    def _group(self, path: Path) -> dict[str, bytes]:
        """A mesh and what it needs beside it, by names relative to the mesh's folder."""
        needed = (path, *companions(path)) if path.suffix.lower() in MESH_SUFFIXES else (path,)
        return {f.relative_to(path.parent).as_posix(): f.read_bytes() for f in needed}

    def _free(self, place: PurePosixPath, group: dict[str, bytes]) -> Path:
        """A place for the first file of a group where none of it meets other content."""
        first = self.target.parent / _FOLDER / place
        for number in range(1, 10_000):
            folder = first.parent if number == 1 else first.parent / f"{first.stem}_{number}"
            if all(self._holds(folder / name, data) for name, data in group.items()):
                return folder / first.name
        raise InputError(f"there is no free name left for {first}")

    def _holds(self, new: Path, data: bytes) -> bool:
        """Whether ``new`` is free, or holds or will hold this very content."""
        if new in self.copies:
            return self.copies[new] == data
        return not new.exists() or (new.is_file() and new.read_bytes() == data)


def _names(robot: records.Robot) -> Iterator[tuple[str, bool]]:
    """Every name of a mesh (True) or of a texture (False), in the order of the description."""
    materials = list(robot.materials)
    for link in robot.links:
        for shown in (*link.visuals, *link.collisions):
            if isinstance(shown.geometry, records.Mesh) and shown.geometry.filename:
                yield shown.geometry.filename, True
            if shown.material is not None:
                materials.append(shown.material)
    for material in materials:
        if material.texture:
            yield material.texture, False


def _place(name: str) -> PurePosixPath:
    """Where below ``meshes/`` a file of this name goes: its path inside its package, if any."""
    plain = name.replace("\\", "/")
    if plain.startswith(_PACKAGE):
        plain = plain[len(_PACKAGE) :].lstrip("/")
    elif "://" in plain or plain.startswith(("/", "file:")) or ":" in plain:
        plain = PurePosixPath(plain).name
    parts = [part for part in plain.split("/") if part not in ("", ".", "..")]
    if parts and parts[0] == _FOLDER:
        parts = parts[1:]
    return PurePosixPath(*parts) if parts else PurePosixPath("mesh")
