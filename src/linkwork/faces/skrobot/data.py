"""Descriptions of robots by name, as paths: ``skrobot.data``.

Fetch and Kuka come with Linkwork, drawn with simple solids. PR2, Panda and G1 come with the extra
``robots`` (example-robot-data). Nothing is downloaded: what else the original fetches from the
network is an `UnsupportedFeatureError`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

from linkwork import settings
from linkwork.errors import MissingExtraError, UnsupportedFeatureError

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


def aero_urdfpath(use_hand: bool = True) -> NoReturn:
    """The description of an Aero, which does not come with Linkwork."""
    _refuse("aero_urdfpath", "Aero")


def griphis_urdfpath() -> NoReturn:
    """The description of a Griphis, which does not come with Linkwork."""
    _refuse("griphis_urdfpath", "Griphis")


def hydrus_urdfpath() -> NoReturn:
    """The description of a Hydrus, which does not come with Linkwork."""
    _refuse("hydrus_urdfpath", "Hydrus")


def jaxon_urdfpath() -> NoReturn:
    """The description of a Jaxon, which does not come with Linkwork."""
    _refuse("jaxon_urdfpath", "JaxonJVRC")


def jedy_urdfpath() -> NoReturn:
    """The description of a Jedy, which does not come with Linkwork."""
    _refuse("jedy_urdfpath", "Jedy")


def nextage_urdfpath() -> NoReturn:
    """The description of a Nextage, which does not come with Linkwork."""
    _refuse("nextage_urdfpath", "Nextage")


def r8_6_urdfpath() -> NoReturn:
    """The description of an R8_6, which does not come with Linkwork."""
    _refuse("r8_6_urdfpath", "R8_6")


def rover_armed_tycoon_urdfpath() -> NoReturn:
    """The description of a RoverArmedTycoon, which does not come with Linkwork."""
    _refuse("rover_armed_tycoon_urdfpath", "RoverArmedTycoon")


def differential_wrist_sample_urdfpath() -> NoReturn:
    """The description of a DifferentialWristSample, which does not come with Linkwork."""
    _refuse("differential_wrist_sample_urdfpath", "DifferentialWristSample")


def differential_wrist_sample_joint_limit_table_path() -> NoReturn:
    """The limit table of a DifferentialWristSample, which does not come with Linkwork."""
    _refuse("differential_wrist_sample_joint_limit_table_path", "DifferentialWristSample")


def _refuse(function: str, robot: str) -> NoReturn:
    raise UnsupportedFeatureError(
        f"skrobot.data.{function}: the description of {robot} does not come with Linkwork, and "
        f"nothing is downloaded; give a file of your own: {robot}(urdf_file='...'). There are "
        "fetch, kuka and, with the extra 'robots', panda, pr2 and g1"
    )


def _from_extra(name: str) -> str:
    """The file of example-robot-data, where pip or conda has put it."""
    prefixes = [Path(folder) / "cmeel.prefix" for folder in sys.path if folder]
    for prefix in (*prefixes, Path(sys.prefix)):
        file = prefix.joinpath(*_ROBOTS, _EXTRA[name])
        if file.is_file():
            return str(file)
    raise MissingExtraError(
        f"the description of '{name}' is one of example-robot-data, which is not installed: "
        "pip install 'linkwork[robots]'"
    )
