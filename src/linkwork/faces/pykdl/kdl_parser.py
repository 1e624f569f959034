"""Row S3-134: trees of URDF files, by the names of kdl_parser_py.

    from linkwork.faces.pykdl.kdl_parser import treeFromFile
    ok, tree = treeFromFile("robot.urdf")

A link becomes a segment of its name, its joint the segment's joint; the root link is the root of
the tree, and its inertia is not in it. As in the original, joints that mimic others are free,
whatever their leaders, and elements of xacro that are left in a file count as unknown ones; these
give a LeftOverWarning.
"""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkwork.errors import (
    DescriptionError,
    Finding,
    LinkworkError,
    MissingExtraError,
    UnsupportedFeatureError,
)
from linkwork.faces.pykdl.chain import Joint, Segment, Tree
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.inertias import RigidBodyInertia, RotationalInertia
from linkwork.faces.pykdl.rotation import Rotation
from linkwork.faces.pykdl.values import wrong
from linkwork.faces.pykdl.vectors import Vector
from linkwork.formats.structure import root_first

if TYPE_CHECKING:
    from linkwork.formats.urdf import records

_LEFT_OVER = "xacro"
_UNUSED = (
    "mimic-type",
    "mimic-self",
    "mimic-unknown",
    "mimic-leader",
    "mimic-cycle",
    _LEFT_OVER,
)
"""Codes of errors about what a tree does not hold."""

_KINDS = {
    "revolute": Joint.RotAxis,
    "continuous": Joint.RotAxis,
    "prismatic": Joint.TransAxis,
    "fixed": Joint.Fixed,
}


class LeftOverWarning(LinkworkError, UserWarning):
    """An element of xacro that was not expanded: what it stands for is not in the tree."""


def treeFromFile(filename: str | os.PathLike[str]) -> tuple[bool, Tree]:
    """True, and the tree of a URDF or xacro file, or of a bundled model's name.

    Raises: DescriptionError with every fault of the file, OSError where it cannot be read;
    UnsupportedFeatureError for planar, floating and spherical joints.
    """
    return _tree_of(_document(filename))


def treeFromString(xml: str | bytes) -> tuple[bool, Tree]:
    """True, and the tree of the text of a URDF file.

    Raises: as `treeFromFile`.
    """
    if not isinstance(xml, (str, bytes)):
        raise wrong("treeFromString", "the text of a URDF", xml)
    data = xml.encode() if isinstance(xml, str) else xml  # never the name of a file
    return _tree_of(_document(data))


def treeFromParam(param: str) -> tuple[bool, Tree]:
    """True, and the tree of the URDF text that a parameter of ROS 1 holds ("robot_description").

    The parameter is asked for through rospy, which belongs to ROS and is imported here.

    Raises: as `treeFromFile`; MissingExtraError (an ImportError) where rospy is not installed; what
    rospy raises, a KeyError where there is no such parameter.
    """
    try:
        rospy: Any = import_module("rospy")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"treeFromParam('{param}') asks the parameter server of ROS 1 through rospy, which is "
            "not installed here: run it in a sourced workspace of ROS 1, or give the text to "
            "treeFromString or the file to treeFromFile"
        ) from error
    return treeFromString(rospy.get_param(param))


def treeFromUrdfModel(robot_model: Any, quiet: bool = False) -> tuple[bool, Tree]:
    """True, and the tree of a model: what `linkwork.load` or `linkwork.urdf` gives of a URDF.

    An object with ``to_xml_string`` (urdf_parser_py) or ``to_xml`` will do too. ``quiet`` is kept:
    there is nothing that is only printed.

    Raises: as `treeFromFile`; WrongTypeError for what is no model.
    """
    document = getattr(robot_model, "document", robot_model)
    if hasattr(document, "robot") and hasattr(document, "problems"):
        return _tree_of(document)
    for name in ("to_xml_string", "to_xml"):
        if hasattr(robot_model, name):
            return treeFromString(getattr(robot_model, name)())
    raise wrong("treeFromUrdfModel", "a model that was read of a URDF", robot_model)


def _document(source: Any) -> Any:
    from linkwork.loading import read  # noqa: PLC0415  loads what reads XML

    document = read(source, accepted=_UNUSED)
    left = [problem for problem in document.problems if problem.code == _LEFT_OVER]
    if left:
        more = f" (and {len(left) - 1} more)" if len(left) > 1 else ""
        warnings.warn(f"{left[0]}{more}: it is not in the tree", LeftOverWarning, stacklevel=3)
    return document


def _tree_of(document: Any) -> tuple[bool, Tree]:
    """The tree of a document, one branch after the other."""
    robot: records.Robot = document.robot
    links = {link.name: link for link in robot.links}
    ends = [(joint.parent, joint.child) for joint in robot.joints]
    root, order = root_first(links, ends) or ("", [])  # a document is a tree
    tree = Tree(root)
    for joint in [robot.joints[k] for k in order]:
        tree.addSegment(_segment(joint, links[joint.child]), joint.parent)
    return True, tree


def _segment(joint: records.Joint, link: records.Link) -> Segment:
    if joint.type not in _KINDS:
        raise UnsupportedFeatureError(
            f"joint '{joint.name}' is {joint.type}, which a KDL tree cannot hold: its joints are "
            "revolute, continuous, prismatic or fixed"
        )
    place, kind = _frame(joint.xyz, joint.rpy), _KINDS[joint.type]
    if kind is Joint.Fixed:
        moving = Joint(joint.name)
    else:
        moving = Joint(joint.name, place.p, place.M * Vector(*joint.axis), kind)
    return Segment(link.name, moving, place, _inertia(link))


def _frame(xyz: Any, rpy: Any) -> Frame:
    return Frame(Rotation.RPY(*rpy), Vector(*xyz))


def _inertia(link: records.Link) -> RigidBodyInertia:
    inertial = link.inertial
    if inertial is None:
        return RigidBodyInertia()
    if inertial.mass is None or inertial.inertia is None:
        missing = "mass" if inertial.mass is None else "inertia"
        raise DescriptionError(
            [
                Finding(
                    "error",
                    "missing-inertia",
                    f"there is no <{missing}>, which a segment of KDL needs",
                    line=inertial.line,
                    element="inertial",
                    name=link.name,
                    hint="say it, or leave out the <inertial>",
                )
            ]
        )
    moments = RotationalInertia.FromArray(inertial.inertia)
    body = RigidBodyInertia(inertial.mass, Vector(), moments)
    return _frame(inertial.xyz, inertial.rpy) * body
