"""Rows S2-010, S2-199 and S2-200: loading and saving a robot, its meshes and its textures."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from linkwork.atomic import write_bytes
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.faces.urdfpy.link import Mesh, Texture
from linkwork.faces.urdfpy.utils import WrongTypeError, caller_level, joined_mesh
from linkwork.faces.urdfpy.values import Source, Writer
from linkwork.formats.urdf.convert import listed
from linkwork.formats.urdf.edit.records import is_relative, renamed_meshes
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.validate import checked
from linkwork.formats.urdf.write import to_text
from linkwork.locating import IMAGE_SUFFIXES, Folders
from linkwork.saving import FileCopies

_WRITTEN = frozenset({".stl", ".obj", ".ply", ".off"})
"""The formats that changed meshes are written in: those without a unit or an upward axis."""

_FAULTS = frozenset({"duplicate-transmission", "transmission-joint"})
"""Findings of the reader that are errors here, as the original documents them."""

_STRICT = frozenset({"inertia", "triangle", "mass", "material-differs", "transmission-parts"})
"""Findings that are errors too when a description is loaded with ``strict=True``."""

_ODD_MASSES = frozenset({"inertia", "triangle", "mass"})


def load(cls: Any, file_obj: Any, allow: Folders, *, strict: bool) -> Any:
    """The robot of a file; see `URDF.load`."""
    data, name = file_obj, None
    if not isinstance(file_obj, (str, os.PathLike)):
        if not hasattr(file_obj, "read"):
            kind = type(file_obj).__name__
            raise WrongTypeError(f"a URDF is loaded from a path or an open file, not from {kind}")
        data, name = file_obj.read(), _name_of(file_obj)
        data = data.encode() if isinstance(data, str) else data
    document = read(data, file=name)
    refused = _FAULTS | _STRICT if strict else _FAULTS
    faults = [replace(p, level="error") for p in document.problems if p.code in refused]
    robot = cls._of_judged(document.robot, Source(document.robot.file, allow, problems=faults))
    # two looks of one material have been found by the constructor, too
    robot.findings_from(p for p in document.problems if p.code != "material-differs")
    odd = [p.name for p in document.problems if p.code in _ODD_MASSES]
    if odd:
        text = f"no body has the mass and inertia of {listed(odd, 3)}; see URDF.findings"
        warnings.warn(text, stacklevel=caller_level())
    return robot


def _name_of(file_obj: Any) -> str | None:
    name = getattr(file_obj, "name", None)
    return name if isinstance(name, str) and name and not name.startswith("<") else None


def save(robot: Any, file_obj: Any, *, allow_outside: bool) -> None:
    """Write a robot with its meshes; see `URDF.save`."""
    record = robot._to_record(Writer())
    stream = hasattr(file_obj, "write")
    name = _name_of(file_obj) if stream else os.fspath(file_obj)
    target = None if name is None else Path(os.path.abspath(name))
    plan = _Plan(target or Path(), allow_outside=allow_outside)
    if target is not None:
        parts = list(robot.parts())
        named = [(p.filename, p) for p in parts if isinstance(p, (Mesh, Texture))]
        # what keeps its place comes first, so that what is given one finds a free one
        for one in sorted(named, key=lambda one: not plan.keeps_place(one[0])):
            plan.take(*one)
    record = renamed_meshes(record, lambda old: plan.names.get(old, old))
    text = to_text(checked(record, file=None if name is None else str(name)).robot)
    for path, data in plan.copies.items():
        if not (path.is_file() and path.read_bytes() == data):
            _make_folder(path)
            write_bytes(path, data)
    if stream:
        file_obj.write(text if isinstance(file_obj, io.TextIOBase) else text.encode())
    elif target is not None:
        _make_folder(target)
        write_bytes(target, text.encode())
    if plan.missing:
        said = f"saved without files that were not found: {listed(sorted(plan.missing))}"
        warnings.warn(said, stacklevel=caller_level())


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder of {path} cannot be made: {error.strerror}") from None


@dataclass
class _Plan(FileCopies):
    """The files that are written, their places, and the names that change."""

    allow_outside: bool = False
    names: dict[str, str] = field(default_factory=dict[str, str])
    missing: set[str] = field(default_factory=set[str])
    seen: dict[str, Any] = field(default_factory=dict[str, Any])

    def take(self, name: str, owner: Mesh | Texture) -> None:
        """Plan for one mesh or image; several may have one name if they are the same.

        Raises: InputError where they are not.
        """
        try:
            source = owner.file()
        except InputError:
            self.missing.add(name)
            return
        content = source if source is not None else exported(owner)
        before = self.seen.setdefault(name, content)
        if before is not content and before != content:
            raise InputError(f"'{name}' is the name of different contents; rename one of them")
        if before is not content or (source is not None and self.leads(name, source)):
            return
        plain = PurePosixPath(name.replace("\\", "/")).name or "mesh"
        group = {plain: content} if isinstance(content, bytes) else self.group_of(content)
        if isinstance(content, Path):
            group = {plain: group.pop(content.name), **group}
        place = self._own(name)
        if not self.keeps_place(name):
            place = self.free_place(PurePosixPath(plain), group)
            self.names[name] = place.relative_to(self.target.parent).as_posix()
        self.copies |= {place.parent / below: data for below, data in group.items()}

    def keeps_place(self, name: str) -> bool:
        """Whether a file goes to its own name: one inside, or any where that is allowed."""
        if is_relative(name) and self._inside(self._own(name)):
            return True
        return self.allow_outside and "://" not in name

    def _own(self, name: str) -> Path:
        return Path(os.path.normpath(self.target.parent / name.replace("\\", "/")))

    def is_free_for(self, group: Mapping[str, bytes], folder: Path) -> bool:
        """Whether each place is free, or holds or will hold this content; none is outside."""
        inside = all(self._inside(folder / below) for below in group)
        return inside and super().is_free_for(group, folder)

    def _inside(self, path: Path) -> bool:
        """Whether a path lies in the new file's folder, with links resolved."""
        folder = Path(os.path.realpath(self.target.parent))
        return folder in Path(os.path.realpath(path)).parents


def exported(owner: Mesh | Texture) -> bytes:
    """The bytes of meshes or an image that a program made, in the format of its file's name.

    Raises: UnsupportedFeatureError for a format that is not written.
    """
    suffix = Path(owner.filename).suffix.lower()
    if isinstance(owner, Mesh):
        if suffix not in _WRITTEN:
            raise UnsupportedFeatureError(
                f"mesh '{owner.filename}' was made or changed by the program, and is written as "
                f"{', '.join(sorted(_WRITTEN))} only: give it such a filename"
            )
        meshes = owner.meshes
        one = meshes[0] if len(meshes) == 1 else joined_mesh(meshes)
        data = one.export(file_type=suffix[1:])
        return data.encode() if isinstance(data, str) else bytes(data)
    if suffix not in IMAGE_SUFFIXES:
        raise UnsupportedFeatureError(f"'{owner.filename}' is no name of an image to be written")
    buffer = io.BytesIO()
    kind = {".jpg": "JPEG", ".tif": "TIFF"}.get(suffix, suffix[1:].upper())
    try:
        owner.image.save(buffer, format=kind)
    except (KeyError, OSError, ValueError) as error:
        raise InputError(f"image '{owner.filename}' cannot be written: {error}") from None
    return buffer.getvalue()
