"""Where the folder of a ROS package is, for ``$(find package)``, without ROS.

The rules are those of meshes (`linkwork.geometry.meshes`), and the packages that lie beside the
description's: its siblings, and those with a ``package.xml`` beside a folder further above. Nothing
is looked for in the root of the disk or the home folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from linkwork.errors import InputError
from linkwork.geometry.guards import show
from linkwork.geometry.meshes import Places, package_name, places_of

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,199}")


@dataclass(frozen=True)
class Packages:
    """The packages that a description may name; ``roots`` are the folders that are its own."""

    places: Places

    @property
    def roots(self) -> tuple[Path, ...]:
        """The description's package, and what was allowed: files may be read there."""
        return self.places.roots("")

    def __call__(self, name: str) -> Path | tuple[Path, str]:
        """The folder of a package, with a warning where it is only likely.

        Raises: InputError when there is none, or the name is no package's.
        """
        if not _NAME.fullmatch(name):
            raise InputError(f"'{show(name[:80])}' is no name of a package")
        tried: list[str] = []
        for folder in dict.fromkeys(self._candidates(name)):
            if folder.is_dir():
                return folder
            tried.append(f"'{folder}'")
        own = self.places
        if own.package and not own.names:
            # as for meshes: the package's name is not known, and its own may be meant
            reason = "there is no package.xml that says otherwise"
            note = f"the package '{name}' is taken to be '{own.package[-1]}': {reason}"
            return own.package[-1], note
        looked = ", ".join(tried[:4]) or "nowhere"
        hint = "allow the folder that holds it"
        raise InputError(f"the package '{name}' is not found; looked at {looked}; {hint}")

    def _candidates(self, name: str) -> Iterator[Path]:
        """Where the package may be, best first."""
        own = self.places
        yield from (folder for package, folder in own.names if package == name)
        yield from own.named(name)
        for folder in own.shared:
            if folder.name == name or package_name(folder / "package.xml") == name:
                yield folder
            yield folder / name
            yield folder / "share" / name
        for folder in own.package:
            if folder.parent in own.above:
                yield folder.parent / name
        for folder in own.above:
            if (folder / name / "package.xml").is_file():
                yield folder / name
        # A package in a folder of another name, beside the description's own.
        for folder in own.package:
            if folder.parent in own.above:
                yield from _declared(folder.parent, name)


def _declared(folder: Path, name: str) -> Iterator[Path]:
    """The folders in ``folder`` whose package.xml gives this name."""
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entry.path for entry in entries if entry.is_dir())
    except OSError:
        return
    for path in inside[:1000]:
        if package_name(Path(path) / "package.xml") == name:
            yield Path(path)


def package_finder(
    file: str | os.PathLike[str],
    allow: Sequence[str | os.PathLike[str]] = (),
    *,
    ros_paths: Sequence[str | os.PathLike[str]] = (),
    home: str | os.PathLike[str] | None = None,
) -> Packages:
    """What finds packages for a description: ``finder("name")`` is a folder.

    Searched, in this order: the description's package, a folder above it of that name, ``allow``
    and ``ros_paths`` (packages, or folders of packages), the siblings of the description's package,
    and folders with a ``package.xml`` beside a folder above the description.
    """
    return Packages(places_of(file, allow, ros_paths, home))
