"""Descriptions of robots by name, as paths: ``skrobot.data``.

Fetch and Kuka come with Linkwork, drawn with simple solids. PR2, Panda and G1 come with the extra
``robots`` (example-robot-data). Nothing is downloaded: what else the original fetches from the
network is an `UnsupportedFeatureError`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from linkwork import extras, settings
from linkwork.errors import UnsupportedFeatureError
from linkwork.faces.refusals import refusing

_OWN = Path(__file__).resolve().parent / "descriptions"
_ROBOTS = ("share", "example-robot-data", "robots")
_EXTRA = {
    "panda": "panda_description/urdf/panda.urdf",
    "pr2": "pr2_description/urdf/pr2.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
}


def get_cache_dir() -> str:
    """The folder for what programs keep between runs: SKROBOT_CACHE_DIR, or ``~/.skrobot``."""
    return str(settings.skrobot_folder())


def fetch_urdfpath() -> str:
    """The description of a Fetch-like robot, which comes with Linkwork."""
    return str(_OWN / "fetch.urdf")


def kuka_urdfpath() -> str:
    """The description of an iiwa 14 with a gripper, which comes with Linkwork."""
    return str(_OWN / "kuka.urdf")


def panda_urdfpath() -> str:
    """The description of a Panda with its hand, of the extra ``robots``.

    Raises: MissingExtraError.
    """
    return _from_extra("panda")


def pr2_urdfpath() -> str:
    """The description of a PR2, of the extra ``robots``.

    Raises: MissingExtraError.
    """
    return _from_extra("pr2")


def g1_urdfpath(dof: int = 23) -> str:
    """The description of a Unitree G1 with 29 joints, of the extra ``robots``.

    Raises: UnsupportedFeatureError for 23, of which there is no file; MissingExtraError.
    """
    if dof != 29:
        raise UnsupportedFeatureError(
            f"skrobot.data.g1_urdfpath(dof={dof}): of the G1 the file with 29 joints is there, "
            "dof=29; skrobot.models.G1(dof=23) holds six of them"
        )
    return _from_extra("g1")


def bunny_objpath() -> NoReturn:
    """The Stanford bunny, which does not come with Linkwork.

    Raises: UnsupportedFeatureError.
    """
    raise UnsupportedFeatureError(
        "skrobot.data.bunny_objpath: the Stanford bunny does not come with Linkwork, and nothing "
        "is downloaded; give the path of a mesh of your own in its place"
    )


def refuse(what: str, robot: str) -> NoReturn:
    """Refuse a file of a robot that does not come with Linkwork.

    Raises: UnsupportedFeatureError.
    """
    raise UnsupportedFeatureError(
        f"{what}: the description of {robot} does not come with Linkwork, and "
        f"nothing is downloaded; give a file of your own: {robot}(urdf_file='...'). There are "
        "fetch, kuka and, with the extra 'robots', panda, pr2 and g1"
    )


def _refused(name: str, robot: str) -> Callable[..., NoReturn]:
    """A function of the original for a file that does not come with Linkwork."""

    def path(*_args: Any, **_kwargs: Any) -> NoReturn:
        refuse(f"skrobot.data.{name}", robot)

    path.__name__ = path.__qualname__ = name
    path.__doc__ = f"Refused: the description of {robot} does not come with Linkwork."
    return path


aero_urdfpath = _refused("aero_urdfpath", "Aero")
griphis_urdfpath = _refused("griphis_urdfpath", "Griphis")
hydrus_urdfpath = _refused("hydrus_urdfpath", "Hydrus")
jaxon_urdfpath = _refused("jaxon_urdfpath", "JaxonJVRC")
jedy_urdfpath = _refused("jedy_urdfpath", "Jedy")
nextage_urdfpath = _refused("nextage_urdfpath", "Nextage")
r8_6_urdfpath = _refused("r8_6_urdfpath", "R8_6")
rover_armed_tycoon_urdfpath = _refused("rover_armed_tycoon_urdfpath", "RoverArmedTycoon")
differential_wrist_sample_urdfpath, differential_wrist_sample_joint_limit_table_path = (
    _refused(f"differential_wrist_sample_{what}", "DifferentialWristSample")
    for what in ("urdfpath", "joint_limit_table_path")
)


def _from_extra(name: str) -> str:
    """The file of example-robot-data, where pip or conda has put it."""
    prefixes = [Path(folder) / "cmeel.prefix" for folder in sys.path if folder]
    for prefix in (*prefixes, Path(sys.prefix)):
        file = prefix.joinpath(*_ROBOTS, _EXTRA[name])
        if file.is_file():
            return str(file)
    raise extras.missing(f"the description of '{name}' is in", "example-robot-data", "robots")


__getattr__ = refusing(__name__)
