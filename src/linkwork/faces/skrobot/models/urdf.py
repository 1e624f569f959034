"""Robots that know where their description is: ``skrobot.models.urdf``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import InputError
from linkwork.faces.skrobot.coordinates import CascadedCoords, Coordinates
from linkwork.faces.skrobot.model import RobotModel


class RobotModelFromURDF(RobotModel):
    """A robot from URDF text, from a file, or from the file that its class names.

    A robot of a kind says its ends and limbs as tables.

    Raises: InputError where both are given, or the file is none; NotImplementedError where neither
    is and the class names no file.
    """

    _ends: ClassVar[Mapping[str, tuple[Any, ...]]] = MappingProxyType({})
    """Frames by attribute: the link, and where (3,) and how (3, 3) they stand in it."""
    _limbs: ClassVar[Mapping[str, Sequence[str]]] = MappingProxyType({})
    """The links that move by attribute; "rarm" and "rarm_with_torso" end at ``rarm_end_coords``."""

    _file: ClassVar[Any] = None
    """The function of `skrobot.data` that gives the path of the description."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, links in cls.__dict__.get("_limbs", {}).items():
            made = cached_property(_limb(name, links))  # made once, when it is first asked for
            made.__set_name__(cls, name)
            setattr(cls, name, made)

    def __init__(self, urdf: str | None = None, urdf_file: Any = None) -> None:
        super().__init__()
        if urdf is not None and urdf_file is not None:
            raise InputError("'urdf' and 'urdf_file' cannot be given at the same time")
        if urdf is not None:
            self.load_urdf(urdf)
        else:
            path = self.default_urdf_path if urdf_file is None else urdf_file
            if isinstance(path, (str, os.PathLike)):
                file = Path(path)
                if not file.is_file():
                    raise InputError(f"{os.fspath(file)} is not a file")
                path = str(file)
            self.load_urdf_file(path)
        for name, (link, *where) in self._ends.items():
            setattr(self, name, end_coords(self, link, name.lstrip("_"), *where))

    @property
    def default_urdf_path(self) -> str:
        """The file that is loaded where none is given: named by the classes of robots."""
        if self._file is None:
            raise NotImplementedError(
                f"{type(self).__name__} names no file: give urdf or urdf_file"
            )
        return self._file()


def _limb(name: str, links: Sequence[str]) -> Any:
    def make(robot: Any) -> RobotModel:
        return limb(robot, links, getattr(robot, f"{name.partition('_')[0]}_end_coords", None))

    make.__doc__ = f"The limb {name}, of {len(links)} links."
    return make


def end_coords(
    robot: RobotModel,
    link: str,
    name: str,
    pos: ArrayLike = (0, 0, 0),
    rot: ArrayLike | None = None,
) -> CascadedCoords:
    """A frame that hangs on a link of a robot, at ``pos`` with the axes ``rot`` (3, 3) in it."""
    made = CascadedCoords(name=name)
    parent = link_of(robot, link)
    parent.assoc(made, relative_coords="local")
    made.newcoords(Coordinates(pos=pos, rot=np.eye(3) if rot is None else rot))
    return made


def limb(robot: RobotModel, links: Sequence[str], tip: CascadedCoords | None = None) -> RobotModel:
    """Links of a robot and the joints that move them as a model of their own, with an end."""
    found = [link_of(robot, name) for name in links]
    joints = [link.joint for link in found if link.joint is not None and link.joint.joint_dof > 0]
    made: Any = RobotModel(link_list=found, joint_list=joints)
    if tip is not None:
        made.end_coords = tip
    return made


def link_of(robot: RobotModel, name: str) -> Any:
    """The link of this name.

    Raises: InputError that names the robot and the link.
    """
    for link in robot.link_list:
        if link.name == name:
            return link
    raise InputError(
        f"'{robot.name}' has no link '{name}', which {type(robot).__name__} has in scikit-robot"
    )


def pose(robot: RobotModel, positions: Mapping[str, float]) -> Any:
    """Move joints of a robot by name, and give the angle vector; the others stay."""
    joints = {joint.name: joint for joint in robot.joint_list}
    for name, value in positions.items():
        if name in joints:
            joints[name].joint_angle(value)
    return robot.angle_vector()
