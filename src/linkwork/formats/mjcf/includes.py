"""Where an included file may be: beside the MJCF, in the folder above, or where the caller allows.

A description may come from anybody, so a name in it must not reach any file it likes. Names are
judged before the disk is asked, and again after links are resolved.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from linkwork.formats.urdf.convert import show

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# MJCF
include | error | A file name that is refused. | Name an .xml file by a path.
outside | error | A file outside the description's folders. | `--allow FOLDER`.
"""


SUFFIXES = frozenset((".xml", ".mjcf"))
"""Files that are taken for MJCF, by the end of their name in lower case."""


class NotFoundError(Exception):
    """An included file that is not there, or not allowed; ``hint`` says what to do."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code, self.hint = code, hint


def find(name: str, folders: Sequence[str], roots: Sequence[str]) -> str:
    """The path of an included file, with every link resolved; the file is not opened.

    A name is relative to the first of the folders that has it. It must lie in one of the roots.

    Raises: NotFoundError.
    """
    odd = _odd(name)
    if odd:
        raise NotFoundError("include", f"the file name '{show(name)}' {odd}", "name an .xml file")
    if not folders:
        hint = "say where the text would lie with file=..., or load the file by its path"
        message = f"'{show(name)}' is relative, but the text has no file"
        raise NotFoundError("include", message, hint)
    outside = False
    for folder in dict.fromkeys((*folders, *map(os.path.realpath, folders))):
        place = os.path.normpath(os.path.join(folder, name.replace("\\", "/")))
        if not _inside(place, roots):
            outside = True
        elif os.path.lexists(place):
            real = os.path.realpath(place)
            if _inside(real, roots) and not _odd(real):
                return real
            outside = True
            break
    if outside:
        message = f"'{show(name)}' lies outside the folder of the description and the one above"
        hint = "pass allow=[folder] with the folder that holds it"
        raise NotFoundError("outside", message, hint)
    looked = f"looked in '{show(folders[0])}'"
    raise NotFoundError("no-file", f"there is no file '{show(name)}'", looked)


def folder_of(file: str | None) -> str | None:
    """The folder of a file, as a whole path."""
    return os.path.dirname(os.path.abspath(file)) if file else None


def roots_of(file: str | None, allow: Sequence[str | os.PathLike[str]]) -> list[str]:
    """The folders that included files may lie in; the root of a disk is one only if allowed."""
    # a file that is reached by a link is looked at from there and from where it really lies
    folders = [folder_of(file), folder_of(os.path.realpath(file))] if file else []
    near = [near for folder in folders if folder for near in (folder, os.path.dirname(folder))]
    own = [path for path in near if os.path.dirname(path) != path]
    given = [os.path.abspath(os.fspath(path)) for path in allow if os.fspath(path)]
    both = [*own, *given]
    return list(dict.fromkeys([*both, *(os.path.realpath(root) for root in both)]))


def _odd(name: str) -> str:
    """Why a text is no name of an MJCF file."""
    if not name.strip():
        return "is empty"
    if len(name) > 4096 or any(ord(character) < 32 for character in name):
        return "is no file name"
    if Path(name).suffix.lower() not in SUFFIXES:
        return f"does not end with one of {', '.join(sorted(SUFFIXES))}"
    return ""


def _inside(path: str, roots: Sequence[str]) -> bool:
    return any(Path(root) in (Path(path), *Path(path).parents) for root in roots)
