"""Older libraries' names over Linkwork: programs written for them run unchanged.

from linkwork import faces

faces.install("urdfpy")     # from here on, in this process,
from urdfpy import URDF     # this is linkwork.faces.urdfpy.URDF
"""

from __future__ import annotations

from linkwork.errors import UnknownNameError
from linkwork.faces.import_hook import IMPORT_HOOK
from linkwork.faces.table import FACES, FaceEntry

__all__ = ["available", "install", "installed", "uninstall"]


def available() -> tuple[str, ...]:
    """The older libraries that have a face, by the names that ``install`` takes."""
    return tuple(entry.name for entry in FACES)


def installed() -> tuple[str, ...]:
    """The faces that are installed in this process."""
    return tuple(entry.name for entry in IMPORT_HOOK.entries)


def install(*names: str) -> None:
    """From now on, in this process, imports of these libraries give their faces; none means all.

    A name is that of ``available()``, or the module that programs import. Installing twice does
    nothing. The original may be installed in this environment; it is hidden, not changed.

    Raises: UnknownNameError for a library without a face; InputError where the original has been
    imported already, and then none of the names is installed.
    """
    IMPORT_HOOK.install([_entry(name) for name in names] if names else list(FACES))


def uninstall(*names: str) -> None:
    """Take faces away again; none means all. What has been imported from them keeps working.

    Raises: UnknownNameError for a library without a face.
    """
    IMPORT_HOOK.uninstall([_entry(name) for name in names] if names else list(IMPORT_HOOK.entries))


def _entry(name: str) -> FaceEntry:
    for entry in FACES:
        if name in (entry.name, entry.module):
            return entry
    raise UnknownNameError("face", name, available())
