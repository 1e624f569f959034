"""Descriptions from descriptions: another root, a part."""

from __future__ import annotations

import io
import math
import os
from dataclasses import replace
from pathlib import Path

from linkwork.errors import InputError, UnknownNameError
from linkwork.faces.skrobot.utils.urdf import URDF
from linkwork.formats.urdf import records
from linkwork.formats.urdf.edit import merge, remove, reroot, subtree
from linkwork.formats.urdf.edit.records import link_names, path_to, root_of
from linkwork.formats.urdf.records import Document
from linkwork.formats.urdf.write import to_text
from linkwork.loading import read
from linkwork.saving import save

PathLike = str | os.PathLike[str]


def find_root_link(input_path: PathLike) -> str:
    """The name of the link that all others of a file hang on.

    Raises: DescriptionError with every problem of the file.
    """
    return root_of(read(Path(input_path)).robot)


def change_urdf_root_link(
    urdf_path: PathLike, new_root_link: str, output_path: PathLike, robot_name: str | None = None
) -> None:
    """Write a file with another link as the root; positions of joints mean what they did.

    Links stay where they were. ``robot_name`` is by default the robot's and ``_root_`` and the
    link's. Masses and shapes stay in the frames of their links, of which a few may be new.

    Raises: DescriptionError; InputError (a ValueError) for a link that is not there.
    """
    document = _with_link(urdf_path, new_root_link)
    made = reroot(document, new_root_link)
    name = robot_name or f"{document.robot.name}_root_{new_root_link}"
    save(Document(replace(made.robot, name=name), made.problems), output_path)


class URDFXMLRootLinkChanger:
    """A file of which other links can be made the root.

    Raises: FileNotFoundError for a file that is not there; DescriptionError with every problem.
    """

    def __init__(self, urdf_path: PathLike, warn_non_zero_offsets: bool = True) -> None:
        self.urdf_path = os.fspath(urdf_path)
        self._document = read(Path(urdf_path))

    def list_links(self) -> list[str]:
        """The names of the links, in the order of the file."""
        return [link.name for link in self._document.robot.links]

    def get_current_root_link(self) -> str:
        """The name of the link that all others hang on."""
        return root_of(self._document.robot)

    def get_robot_name(self) -> str:
        """The robot's name."""
        return self._document.robot.name

    def change_root_link(
        self, new_root_link: str, output_path: PathLike, robot_name: str | None = None
    ) -> None:
        """Write the description with another root, see `change_urdf_root_link`; it stays itself."""
        change_urdf_root_link(self.urdf_path, new_root_link, output_path, robot_name)


def transform_urdf_with_world_link(  # noqa: PLR0913, PLR0917  as the original
    input_file: PathLike,
    output_file: PathLike,
    x: float = 0.0,
    y: float = 0.0,
    z: float = 0.0,
    roll: float = 0.0,
    pitch: float = 0.0,
    yaw: float = 0.0,
    world_link_name: str = "world",
) -> None:
    """Write a file with a new root that carries the robot, fixed at x, y, z (m) and angles (deg).

    Raises: DescriptionError; InputError (a ValueError) for a name that a link has already.
    """
    document = read(Path(input_file))
    robot, root = document.robot, root_of(document.robot)
    if world_link_name in [link.name for link in robot.links]:
        raise InputError(
            f"Link '{world_link_name}' already exists in the URDF. Choose a different world link "
            "name."
        )
    joint = records.Joint(
        name=f"{world_link_name}_to_{root}",
        type="fixed",
        parent=world_link_name,
        child=root,
        xyz=(float(x), float(y), float(z)),
        rpy=(math.radians(roll), math.radians(pitch), math.radians(yaw)),
    )
    world = records.Robot(name=robot.name, links=(records.Link(name=world_link_name),))
    save(merge(Document(replace(world, file=robot.file), ()), document, joint), output_file)


def extract_sub_urdf(
    input_urdf_path: PathLike,
    root_link_name: str,
    to_link_name: str | None = None,
    output_urdf_path: PathLike | None = None,
    keep_fixed_joints: bool = True,
) -> URDF:
    """The part of a description from a link downwards, or down to another link, as a document.

    It is written where ``output_urdf_path`` is given. Followers whose leader is not in it move by
    themselves. Without ``keep_fixed_joints`` a link that hangs on a fixed joint is left out, with
    all below it.

    Raises: DescriptionError; InputError (a ValueError) for a link that is not there, or not below.
    """
    document = _with_link(input_urdf_path, root_link_name)
    name = f"{document.robot.name}_sub"
    made = subtree(document, root_link_name, name, mimic="free")
    kept = {link.name for link in made.robot.links}
    if to_link_name is not None:
        if to_link_name not in kept:
            raise InputError(f"link '{to_link_name}' is not below '{root_link_name}'")
        kept = {root_link_name, *(joint.child for joint in path_to(made.robot, to_link_name))}
    for joint in made.robot.joints:
        out = joint.child not in kept or (joint.type == "fixed" and not keep_fixed_joints)
        if out and joint.child in link_names(made.robot):  # not gone with one above it
            made = remove(made, joint.child, mimic="free")
    robot = replace(made.robot, transmissions=())
    if output_urdf_path is not None:
        save(Document(robot, ()), output_urdf_path)
        return URDF.load(output_urdf_path)
    text = io.BytesIO(to_text(robot).encode())
    text.name = os.fspath(input_urdf_path)  # meshes lie near it
    return URDF.load(text)


def _with_link(path: PathLike, link: str) -> Document:
    """The description of a file that has this link."""
    document = read(Path(path))
    names = [each.name for each in document.robot.links]
    if link not in names:
        raise InputError(str(UnknownNameError("link", link, names)))
    return document
