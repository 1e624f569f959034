"""From a name in a description to the file that it means, with what this machine's settings say."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from linkwork import settings
from linkwork.geometry.meshes import IMAGE_SUFFIXES, MESH_SUFFIXES, Packages, Places, places_of
from linkwork.geometry.meshes import package_finder as finder_of

__all__ = ["IMAGE_SUFFIXES", "MESH_SUFFIXES", "locate", "package_finder", "places"]

Folders = Sequence["str | os.PathLike[str]"]


def locate(
    name: str,
    file: str | os.PathLike[str] | None,
    allow: Folders = (),
    *,
    suffixes: frozenset[str] = MESH_SUFFIXES,
) -> Path:
    """The mesh or image file that ``name`` means in the description ``file``.

    Searched: the description's package, folders above it that are named as the package, the ROS
    paths of the environment, ``allow``, and the folders that the environment allows (see
    `geometry.meshes.resolve`).

    Raises: InputError where there is none, or it lies elsewhere.
    """
    return places(file, allow).file(name, suffixes)


def places(file: str | os.PathLike[str] | None, allow: Folders = ()) -> Places:
    """The places that the meshes and images of a description may be in, as by `locate`."""
    return places_of(file, _allowed(allow), settings.ros_paths(), settings.home())


def package_finder(file: str | os.PathLike[str], allow: Folders = ()) -> Packages:
    """The finder of the packages that a description may name.

    Searched: as by `locate`.
    """
    return finder_of(file, _allowed(allow), ros_paths=settings.ros_paths(), home=settings.home())


def _allowed(allow: Folders) -> Folders:
    return (*allow, *settings.allowed_folders())
