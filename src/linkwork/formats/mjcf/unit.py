"""One text for MuJoCo, made of a main file and of what that includes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.sax.saxutils import quoteattr

from linkwork.errors import DescriptionError
from linkwork.formats.mjcf import includes
from linkwork.formats.mjcf.flat import (
    MOST_BODIES,
    MOST_ELEMENTS,
    MOST_FILES,
    MOST_NESTED,
    Flat,
    MeshFile,
    Stop,
)
from linkwork.formats.mjcf.records import Place
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.source import gather

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# MJCF
included-twice | error | A file that is included already. | Include it once.
"""


ReadFile = Callable[["Unit", "str | None", bytes], None]
"""What goes through the bytes of one file and gives its elements to the text."""


@dataclass(slots=True)
class Element:
    """An element that was begun and handed on; the root of an included file has no tag."""

    tag: str
    times: int
    name: str


class Unit:
    """One text: a main file, or a ``<model>`` file, with what it includes."""

    def __init__(
        self,
        flat: Flat,
        main: str | None,
        roots: Sequence[str],
        read_file: ReadFile,
        *,
        above: tuple[str, ...] = (),
    ) -> None:
        self.flat, self.main, self.roots = flat, main, roots
        self.read_file = read_file
        self.above = above  # the files of the models that this one is a model of
        self.out: list[str] = []
        self.lines = 0
        self.name = ""
        self.included = {os.path.realpath(main)} if main else set[str]()
        self.open: list[Element] = []
        self.nested: list[str | None] = []
        self.mesh_folder: list[str] = ["", ""]  # of assetdir, of meshdir
        self.strip = False
        self.meshes: dict[str, str | None] = {}  # with the folder of the included file
        self.bodies = self.elements = 0
        self.models: dict[str, tuple[int, int]] = {}
        self.attached: list[tuple[str, int]] = []

    def read(self, data: bytes, file: str | None) -> None:
        """Add one file: the first is the root, the others take the place of ``<include>``."""
        self.nested.append(file)
        self.read_file(self, file, data)
        self.nested.pop()
        if self.nested:
            return
        for model, times in self.attached:
            bodies, elements = self.models.get(model, (0, 0))
            self.count(bodies * times, elements * times, Place(show(self.main or "")))
        self._place_meshes()

    def text(self) -> str:
        """What was written."""
        return "".join(self.out)

    def begin(self, tag: str, attributes: dict[str, str], place: Place) -> None:
        """Write the start of an element on a line of its own."""
        flat = self.flat
        flat.origin.append(place)
        flat.tags.append(tag)
        line = len(flat.origin)
        self.out.append("\n" * (line - 1 - self.lines))
        self.lines = line - 1
        written = "".join(f" {name}={_quoted(value)}" for name, value in attributes.items())
        self.out.append(f"<{tag}{written}>")

    def end(self, tag: str) -> None:
        """Write the end of an element."""
        self.out.append(f"</{tag}>")

    def count(self, bodies: int, elements: int, place: Place) -> None:
        """Count what MuJoCo will make.

        Raises: Stop where it is too much.
        """
        self.bodies += bodies
        self.elements += elements
        for number, most, what in (
            (self.bodies, MOST_BODIES, "bodies"),
            (self.elements, MOST_ELEMENTS, "elements"),
        ):
            if number > most:
                message = f"there are more than {most:,} {what}, repetitions counted"
                self.flat.refuse("too-many", message, place)
                raise Stop

    def open_file(
        self, name: str, folders: Sequence[str | None], place: Place, *, element: str
    ) -> tuple[bytes, str] | None:
        """The bytes and the path of an included file or model; None where it is refused."""
        flat = self.flat
        if len(flat.files) >= MOST_FILES or len(self.nested) + len(self.above) >= MOST_NESTED:
            message = f"more than {MOST_FILES} files, or {MOST_NESTED} within each other"
            flat.refuse("too-many", message, place, element=element)
            raise Stop
        try:
            path = includes.find(name, [folder for folder in folders if folder], self.roots)
            data, _ = gather(Path(path), None)
        except includes.NotFoundError as error:
            flat.refuse(error.code, str(error), place, element=element, hint=error.hint)
            return None
        except DescriptionError as error:
            flat.errors += error.problems
            return None
        flat.files.append(path)
        return data, path

    def include(self, name: str, place: Place) -> None:
        """Read an included file in the place of the element that names it."""
        folders = [includes.folder_of(file) for file in (self.main, self.nested[-1])]
        opened = self.open_file(name, folders, place, element="include")
        if opened is None:
            return
        data, path = opened
        if path in self.included:
            message = f"'{show(name)}' is included already, and can be only once"
            self.flat.refuse("included-twice", message, place, element="include")
            return
        self.included.add(path)
        self.read(data, path)

    def model(self, attributes: dict[str, str], place: Place) -> None:
        """Read the file of a ``<model>`` as a text of its own, and name that in its place."""
        if not attributes.get("file"):  # MuJoCo ends on it without a word
            self.flat.refuse("no-file", "it names no file", place, element="model")
            return
        folder = includes.folder_of(self.nested[-1])
        opened = self.open_file(attributes["file"], [folder], place, element="model")
        if opened is None:
            return
        data, path = opened
        if path in self.above or path in self.included:
            message = f"'{show(attributes['file'])}' would be a part of itself"
            self.flat.refuse("cycle", message, place, element="model")
            raise Stop
        unit = Unit(
            self.flat,
            path,
            self.roots,
            self.read_file,
            above=(*self.above, *self.included),
        )
        unit.read(data, path)
        name = f"model{len(self.flat.texts)}.xml"
        self.flat.texts[name] = unit.text().encode()
        self.models[attributes.get("name") or unit.name] = unit.bodies, unit.elements
        attributes["file"] = name

    def mesh(self, attributes: dict[str, str], place: Place) -> None:
        """Give a mesh a file name of ours, so that MuJoCo finds what it is given, and only that."""
        file = attributes["file"]
        suffix = PurePosixPath(file.replace("\\", "/")).suffix
        attributes.setdefault("name", stem(file))
        suffix = suffix if suffix[1:].isalnum() and suffix.isascii() else ""
        name = f"mesh{len(self.flat.meshes)}{suffix}"
        self.flat.meshes[name] = MeshFile(file, (), place)
        included = self.nested[-1] if len(self.nested) > 1 else None
        self.meshes[name] = includes.folder_of(included)
        attributes["file"] = name

    def _place_meshes(self) -> None:
        """Say where the mesh files of this text are, now that all of it has been read.

        As in MuJoCo: beside the included file that names it, or in the mesh folder of the main one.
        """
        inside = self.mesh_folder[1] or self.mesh_folder[0]
        main = includes.folder_of(self.main) or ""
        for name, beside in self.meshes.items():
            mesh = self.flat.meshes[name]
            file = mesh.name.replace("\\", "/")
            if self.strip:
                file = PurePosixPath(file).name
            places = [os.path.join(beside, file)] if beside else []
            places.append(os.path.join(main, inside.replace("\\", "/"), file))
            self.flat.meshes[name] = MeshFile(mesh.name, tuple(places), mesh.place)


def stem(file: str) -> str:
    """The name of what a file holds and no name is given for."""
    return PurePosixPath(file.replace("\\", "/")).stem


def _quoted(text: str) -> str:
    """A text as an attribute, in quotes."""
    return quoteattr(text, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
