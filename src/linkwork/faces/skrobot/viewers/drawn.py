"""The content of a viewer: a robot of the face as one of Linkwork, loose links as obstacles.

Robots are drawn by their visual meshes as they are when they are added. Joints that turn or slide
stay joints, so that the page can move them; all others, and the root, are free in space.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.faces.skrobot.coordinates.base import inverse_matrix
from linkwork.faces.skrobot.model import FixedJoint, LinearJoint, Link, RotationalJoint
from linkwork.faces.skrobot.model.collision import triangles_of
from linkwork.faces.skrobot.model.core import Names, inertial_numbers, limits_of
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.model import JointType
from linkwork.mechanism.named_positions import Configuration
from linkwork.mechanism.shapes import LinkShape, Shapes
from linkwork.poses import xyz_wxyz
from linkwork.robot import Robot
from linkwork.scene import Scene

Floats = NDArray[np.float64]
Rgba = tuple[float, float, float, float]

_KINDS = (RotationalJoint, LinearJoint, FixedJoint)
"""Joints that stay joints."""
_FAR = 10.0
"""The way (m) of a slide without limits that the page has."""
_PLAIN = (0.6, 0.6, 0.62, 1.0)
_MOST_COLORS = 12
"""Colours of one mesh; of more, near ones are taken together."""
_MOST_POINTS = 4_000
"""Points of a cloud that are drawn: every second, third, ... of more."""
_THIN = 0.002  # m, of lines and points


class DrawnRobot:
    """A robot as it is drawn: Linkwork's, and where it stands."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._links: list[Any] = list(model.link_list)
        self._joints: list[tuple[str, Any]] = []  # the joint's name here, and the link it moves
        self.robot: Robot = self._made()
        for link in self._links:
            link.visual_mesh_changed = False
        self._slices = [
            self.robot.mechanism.q_slice(self.robot.mechanism.joint(name))
            for name, _ in self._joints
        ]

    def _made(self) -> Robot:
        """Linkwork's robot: each joint as it is now is where its child link begins."""
        names, joint_names = Names(), Names()
        world = names.unique("the world")
        known = {id(link): names.unique(link.name or "link") for link in self._links}
        links, joints = [LinkPart(world)], list[JointPart]()
        shapes: dict[str, tuple[LinkShape, ...]] = {}
        for link in self._links:
            name, joint = known[id(link)], link.joint
            links.append(LinkPart(name, *inertial_numbers(link)))
            shapes[name] = tuple(
                LinkShape(triangles_of(mesh), "visual", np.eye(4), rgba=rgba)
                for mesh, rgba in parts_of(link)
            )
            above = None if link.parent_link is None else known.get(id(link.parent_link))
            stays = above is not None and isinstance(joint, _KINDS)
            called = joint_names.unique((stays and joint.name) or f"pose of {name}")
            if above is None or not stays:
                how: Any = {"type": JointType.FLOATING, "parent": world}
            else:
                how = {"parent": above, **_as_now(link)}
            joints.append(JointPart(name=called, child=name, **how))
            if joints[-1].type is not JointType.FIXED:
                self._joints.append((called, link))
        parts = Parts(str(self.model.name or "robot"), links, joints, inertias_accepted=True)
        return Robot(assemble(parts), shapes=Shapes(None, shapes))

    def q(self) -> Floats:
        """The configuration (nq,) that shows the robot as it is now."""
        found = self.robot.neutral()
        for (_, link), place in zip(self._joints, self._slices, strict=True):
            width = place.stop - place.start
            if width == 7:
                found[place] = np.concatenate(xyz_wxyz(link.worldcoords().T()))
            else:
                found[place] = float(link.joint.joint_angle())
        return found

    def looks_different(self) -> bool:
        """Whether a link has got another mesh or colour since this was made."""
        return any(link.visual_mesh_changed for link in self._links)

    def take(self, q: Configuration | Floats) -> None:
        """Move the robot's joints to where the user of a page has moved them."""
        rows = np.asarray(q, np.float64)
        for (_, link), place in zip(self._joints, self._slices, strict=True):
            if place.stop - place.start == 1:
                link.joint.joint_angle(float(rows[place][0]))


def _as_now(link: Any) -> dict[str, Any]:
    """The type, the place and the limits of the joint that a link has, as a part of the core."""
    joint, above = link.joint, link.parent_link._world()
    T = inverse_matrix(above) @ link._world() @ inverse_matrix(joint._motion())
    place = {"R": T[:3, :3], "p": T[:3, 3]}
    if isinstance(joint, FixedJoint):
        return {"type": JointType.FIXED, **place}
    low, high = float(joint.min_angle), float(joint.max_angle)
    slides = isinstance(joint, LinearJoint)
    if not (np.isfinite([low, high]).all() and low < high):
        low, high = (-_FAR, _FAR) if slides else (-np.inf, np.inf)
    kind = JointType.PRISMATIC if slides else JointType.REVOLUTE
    return {"axis": joint.axis, **place, **limits_of(kind, low, high)}


def scene_of(links: list[Link]) -> Scene:
    """Loose links as a scene, where they are now."""
    scene = Scene()
    for link in links:
        T_world_link = np.asarray(link.worldcoords().T())
        for k, (mesh, rgba) in enumerate(parts_of(link)):
            name, count = link.name or "link", 1
            name = name if k == 0 else f"{name} {k}"
            while name in scene:
                count += 1
                name = f"{link.name or 'link'} {k} {count}"
            scene.add_mesh(name, mesh, T_world_link, rgba=rgba)
    return scene


def parts_of(link: Any) -> Iterator[tuple[Any, Rgba]]:
    """The meshes that a link is drawn by, in its frame, each of one colour."""
    given = link.visual_mesh
    for each in list(given) if isinstance(given, (list, tuple)) else [given]:
        if each is None:
            continue
        kind = type(each).__name__
        if kind == "Path3D":
            yield from _lines(each)
        elif kind == "PointCloud":
            yield from _cloud(each)
        elif len(each.faces) and link._own_colors is not None:
            yield each, _unit(link._own_colors)
        elif len(each.faces):
            yield from _by_color(each)


def _by_color(mesh: Any) -> Iterator[tuple[Any, Rgba]]:
    import trimesh  # noqa: PLC0415  loaded on use

    visual = mesh.visual
    if not visual.defined:
        yield mesh, _PLAIN
        return
    if visual.kind == "texture":
        visual = visual.to_color()
        if np.shape(getattr(visual, "face_colors", ()))[:1] != (len(mesh.faces),):
            yield mesh, _unit(visual.main_color)
            return
    colors = np.asarray(visual.face_colors)
    bits = 0
    found, which = np.unique(colors, axis=0, return_inverse=True)
    while len(found) > _MOST_COLORS:
        bits += 1
        found, which = np.unique(colors >> bits << bits, axis=0, return_inverse=True)
    which = which.ravel()
    for k, color in enumerate(found):
        faces = np.asarray(mesh.faces)[which == k]
        whole = len(found) == 1
        part = mesh if whole else trimesh.Trimesh(mesh.vertices, faces, process=False)
        yield part, _unit(color)


def _unit(color: Any) -> Rgba:
    r, g, b, a = (float(c) / 255.0 for c in color)
    return r, g, b, a


def _lines(path: Any) -> Iterator[tuple[Any, Rgba]]:
    import trimesh  # noqa: PLC0415  loaded on use

    colors = path.colors if path.colors is not None else [None] * len(path.entities)
    for entity, color in zip(path.entities, colors, strict=True):
        line = entity.discrete(path.vertices)
        rods = [
            trimesh.creation.cylinder(_THIN, segment=ends, sections=6)
            for ends in pairwise(line)
            if np.linalg.norm(ends[1] - ends[0]) > 0.0
        ]
        if rods:
            yield trimesh.util.concatenate(rods), _PLAIN if color is None else _unit(color)


def _cloud(cloud: Any) -> Iterator[tuple[Any, Rgba]]:
    import trimesh  # noqa: PLC0415  loaded on use

    points = np.asarray(cloud.vertices, np.float64)
    step = -(-len(points) // _MOST_POINTS) if len(points) else 1
    points, colors = points[::step], np.asarray(cloud.colors)
    colored = colors.ndim == 2 and len(colors) == len(cloud.vertices)
    colors = colors[::step] if colored else np.tile([90, 90, 90, 255], (len(points), 1))
    found, which = np.unique(colors & 0xC0 | 0x20, axis=0, return_inverse=True)
    for k, color in enumerate(found):
        grain = trimesh.creation.box(extents=[2 * _THIN] * 3)
        at = points[which.ravel() == k]
        corners = (at[:, None] + np.asarray(grain.vertices)).reshape(-1, 3)
        starts = len(grain.vertices) * np.arange(len(at))
        faces = (starts[:, None, None] + np.asarray(grain.faces)).reshape(-1, 3)
        yield trimesh.Trimesh(corners, faces, process=False), _unit(color)
