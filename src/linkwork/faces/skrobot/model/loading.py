"""From descriptions to links and joints of this face.

Everything that the core reads as URDF is read: files, xacro, text, tables of Denavit and Hartenberg
and bundled models. Loops that stand beside a file are kept for the core.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import logging
import math
import os
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, cast

import numpy as np

from linkwork.errors import DescriptionError, InputError, LinkworkError, UnsupportedFeatureError
from linkwork.faces.skrobot.model.joint import (
    FixedJoint,
    FloatingJoint,
    Joint,
    LinearJoint,
    PlanarJoint,
    RotationalJoint,
)
from linkwork.faces.skrobot.model.link import DEFAULTS_IN_FILES, Link
from linkwork.formats.loops import LoopsRecord
from linkwork.formats.urdf import records
from linkwork.loading import load, read
from linkwork.locating import Folders
from linkwork.mechanism.edit import loops_record
from linkwork.mechanism.from_urdf import rotation_from_rpy
from linkwork.mechanism.rigid import align_z
from linkwork.mechanism.shapes import Shapes, shapes_from_urdf
from linkwork.models import MODELS
from linkwork.spatial.poses import pose_matrix

if TYPE_CHECKING:
    from linkwork.appearance import ShownPart
    from linkwork.mechanism.shapes import Kind

OnError = Literal["raise", "warn"]

logger = logging.getLogger(__name__)

_FLAWED = ("unknown-link", "several-roots")
"""Codes of the faults that are warnings where they are asked to be."""


NO_MESHES: ContextVar[bool] = ContextVar("NO_MESHES", default=False)
"""Whether robots are loaded without their meshes."""


@dataclass(frozen=True)
class Loaded:
    """A description as it was read: its records, its loops, and where its meshes may lie."""

    robot: records.Robot
    loops: LoopsRecord | None
    file: str | None
    allow: Folders = ()

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.robot.name


def load_text_or_file(
    source: str | os.PathLike[str] | bytes | IO[Any],
    *,
    on_error: OnError = "raise",
    allow: Folders = (),
) -> Loaded:
    """A description from text that begins with '<', a path, a bundled model's name or an open file.

    Raises: DescriptionError with every problem; InputError, UnsupportedFeatureError.
    """
    if on_error not in ("raise", "warn"):
        raise InputError(f"on_error is 'raise' or 'warn', not {on_error!r:.40}")
    given: Any = source
    file: str | None = None
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        if not text.lstrip("\ufeff \t\r\n").startswith("<"):
            file = text
            given = text if text in MODELS and not os.path.isfile(text) else Path(text)
    elif hasattr(source, "read"):
        given = read(cast("IO[Any]", source))
        file = given.robot.file
    elif not isinstance(source, bytes):
        raise InputError(f"a description is text, a path or an open file, not {source!r:.60}")
    if on_error == "warn":
        try:
            return _of_core(given, file, allow)
        except DescriptionError as error:
            if not any(problem.code in _FLAWED for problem in error.problems):
                raise
            return _without_flaws(given, file, allow)
    return _of_core(given, file, allow)


def _of_core(given: Any, file: str | None, allow: Folders) -> Loaded:
    """A description that the core makes a robot of."""
    robot = load(given, allow=allow)
    if robot.document is None:
        what = f"'{file}'" if file else "the text"
        raise UnsupportedFeatureError(f"{what} is no URDF: this face takes URDF and xacro")
    record = loops_record(robot.mechanism)
    has_loops = bool(robot.loops or robot.couplings or robot.actuated)
    found = robot.document.robot
    if isinstance(given, str) and given in MODELS:
        file = found.file
    return Loaded(found, record if has_loops else None, file, allow)


def _without_flaws(given: Any, file: str | None, allow: Folders) -> Loaded:
    """A description without the joints whose ends do not exist; each is logged."""
    document = read(given, allow=allow, accepted=_FLAWED)
    links = {link.name for link in document.robot.links}
    kept: list[records.Joint] = []
    for joint in document.robot.joints:
        if joint.parent in links and joint.child in links:
            kept.append(joint)
        else:
            logger.warning(
                "joint '%s' joins '%s' to '%s', which are not both there: it is left out",
                joint.name, joint.parent, joint.child,
            )  # fmt: skip
    return Loaded(replace(document.robot, joints=tuple(kept)), None, file, allow)


# ---- links and joints


def made_of(loaded: Loaded) -> tuple[list[Link], list[Joint], list[Link]]:
    """The links and all joints of a description, in its order, and the links that hang on none."""
    robot = loaded.robot
    shapes = _Shapes(shapes_from_urdf(document_of(robot)), loaded.allow)
    links = {each.name: _link(each, shapes) for each in robot.links}
    joints: dict[str, Joint] = {}
    for each in reversed(robot.joints):  # what hangs on a link first: it is then quick to attach
        joints[each.name] = _joint(each, links[each.parent], links[each.child])
    joints = {each.name: joints[each.name] for each in robot.joints}
    for each in robot.joints:
        joint = joints[each.name]
        if each.mimic is not None and joint.joint_dof == 1:
            leader = joints[each.mimic.joint]
            leader.register_mimic_joint(joint, each.mimic.multiplier, each.mimic.offset)
    for link in links.values():
        link._descendants = link.descendants[::-1]
        link._child_links.reverse()
    roots = [link for link in links.values() if link.parent is None]
    return list(links.values()), list(joints.values()), roots


def document_of(robot: records.Robot) -> Any:
    """The records as a document, for what reads documents."""
    return records.Document(robot, ())


def _link(record: records.Link, shapes: _Shapes) -> Link:
    link = Link(name=record.name)
    link._defaults = DEFAULTS_IN_FILES
    inertial = record.inertial
    if inertial is not None:
        if inertial.mass is not None:
            link._mass = inertial.mass
        link._centroid = np.array(inertial.xyz)
        if inertial.inertia is not None:
            R = rotation_from_rpy(inertial.rpy)
            link._inertia = R @ np.array(inertial.inertia) @ R.T
    if (record.visuals or record.collisions) and not NO_MESHES.get():
        link._load = partial(shapes.meshes, record.name)
    else:
        link._visual, link._collision = [], False
    return link


def _joint(record: records.Joint, parent: Link, child: Link) -> Joint:
    """The joint of a record, with its child link hung on its parent link."""
    child._hang_on(parent)
    child._set_local(pose_matrix(rotation_from_rpy(record.rpy), record.xyz))
    limit = record.limit
    ends: dict[str, Any] = {"name": record.name, "parent_link": parent, "child_link": child}
    rates = {
        "max_joint_velocity": limit.velocity if limit else None,
        "max_joint_torque": (limit.effort if limit else None) or 0.0,
    }
    joint: Joint
    if record.type == "fixed":
        joint = FixedJoint(**ends)
    elif record.type == "planar":
        joint = PlanarJoint(**ends)
        joint._set_plane(align_z(np.array([record.axis]))[0])
    elif record.type == "floating":
        joint = FloatingJoint(**ends)
    elif record.type == "spherical":
        raise UnsupportedFeatureError(
            f"joint '{record.name}' is spherical, and this face has no such joints: make it three "
            "joints that turn, or use linkwork.load"
        )
    else:
        bounds = _bounds(record)
        kind = LinearJoint if record.type == "prismatic" else RotationalJoint
        joint = kind(axis=record.axis, **ends, **bounds, **rates)
    child.add_joint(joint)
    child.add_parent_link(parent)
    parent._child_links.append(child)
    return joint


def _bounds(record: records.Joint) -> dict[str, float]:
    """The limits of a joint with one position; infinite where the description says none."""
    limit = None if record.type == "continuous" else record.limit
    lower = None if limit is None else limit.lower
    upper = None if limit is None else limit.upper
    return {
        "min_angle": -math.inf if lower is None else lower,
        "max_angle": math.inf if upper is None else upper,
    }


# ---- meshes


class _Shapes:
    """The shapes of a description's links, opened when they are asked for. Copies share it."""

    def __init__(self, shapes: Shapes, allow: Folders) -> None:
        self.shapes, self.allow = shapes, allow

    def __deepcopy__(self, memo: dict[int, Any]) -> _Shapes:
        return self

    def meshes(self, link: str, kind: Kind) -> Any:
        """A link's meshes in its frame: a list of visuals; one of collisions, or False.

        A mesh that cannot be had is left out, and logged.
        """
        from linkwork.appearance import shown_parts  # noqa: PLC0415  imports trimesh

        found: list[Any] = []
        for shape in self.shapes.of_link.get(link, ()):
            if shape.kind == kind:
                shown = shown_parts(shape, self.shapes.file, self.allow)
                for error in shown.errors:
                    _tell(link, error)
                found += [_mesh(part) for part in shown.parts]
        if kind == "visual":
            return found
        if len(found) > 1:
            import trimesh  # noqa: PLC0415  only where there is a mesh

            return trimesh.util.concatenate(found)
        return found[0] if found else False


def _mesh(part: ShownPart) -> Any:
    """A part as one mesh in the link's frame, with its colour and the name of its file."""
    mesh: Any = part.mesh
    mesh.apply_transform(part.T_link_part)
    if part.rgba is not None:
        mesh.visual.face_colors = [round(255 * max(0.0, min(1.0, each))) for each in part.rgba]
    if part.file is not None:
        mesh.metadata["file_path"] = str(part.file)
    return mesh


def _tell(link: str, error: LinkworkError) -> None:
    logger.warning("link '%s': %s", link, error)
