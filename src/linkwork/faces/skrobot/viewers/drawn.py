"""The content of a viewer: a robot of the face as one of Linkwork, loose links as obstacles.

Robots are drawn by their visual meshes as they are when they are added. Joints that turn or slide
stay joints, so that the page can move them; all others, and the root, are free in space.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from linkwork.faces.skrobot.model import Link
from linkwork.faces.skrobot.model.core import _inertial_numbers
from linkwork.loading import load
from linkwork.mechanism.named_positions import Configuration
from linkwork.poses import xyz_rpy, xyz_wxyz
from linkwork.robot import Robot
from linkwork.scene import Scene

Floats = NDArray[np.float64]
Rgba = tuple[float, float, float, float]

_WORLD = "the world"
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
        self._folder = TemporaryDirectory(prefix="linkwork-")
        self._links: list[Any] = list(model.link_list)
        self._joints: list[tuple[str, Any]] = []  # the joint's name here, and the link it moves
        path = Path(self._folder.name) / "robot.urdf"
        path.write_text(self._text(), encoding="utf-8")
        for link in self._links:
            link.visual_mesh_changed = False
        self.robot: Robot = load(path)
        self._slices = [
            self.robot.mechanism.q_slice(self.robot.mechanism.joint(name))
            for name, _ in self._joints
        ]

    def _text(self) -> str:
        """The description: each joint as it is now is where its child link begins."""
        taken = {_WORLD}
        known = {id(link): _free(link.name or "link", taken) for link in self._links}
        taken = set[str]()
        body = [f"<link name={quoteattr(_WORLD)}/>"]
        for k, link in enumerate(self._links):
            name = known[id(link)]
            inside = _inertial(link) + self._visuals(link, k)
            body.append(f"<link name={quoteattr(name)}>{inside}</link>")
            parent, joint = link.parent_link, link.joint
            turns = _turns(link)
            above = known.get(id(parent)) if parent is not None else None
            called = joint.name if turns and above and joint.name else f"pose of {name}"
            called = _free(called, taken)
            ends = f"<child link={quoteattr(name)}/>"
            if above is None or turns is None:
                ends += f"<parent link={quoteattr(_WORLD)}/>"
                body.append(f'<joint name={quoteattr(called)} type="floating">{ends}</joint>')
            else:
                ends += f"<parent link={quoteattr(above)}/>"
                body.append(_joint_text(link, called, turns, ends))
            if turns != "fixed" or above is None:
                self._joints.append((called, link))
        title = self.model.name or "robot"
        return f"<robot name={quoteattr(title)}>{''.join(body)}</robot>"

    def _visuals(self, link: Any, number: int) -> str:
        found: list[str] = []
        for k, (mesh, rgba) in enumerate(parts_of(link)):
            file = f"{number}_{k}.ply"
            mesh.export(Path(self._folder.name) / file)
            color = " ".join(f"{c:.4g}" for c in rgba)
            found.append(
                f'<visual><geometry><mesh filename="{file}"/></geometry>'
                f'<material name="{number}_{k}"><color rgba="{color}"/></material></visual>'
            )
        return "".join(found)

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


def _free(name: str, taken: set[str]) -> str:
    """A name, with a number where it is taken; it is taken from now on."""
    count, free = 1, name
    while free in taken:
        count += 1
        free = f"{name} {count}"
    taken.add(free)
    return free


def _inertial(link: Any) -> str:
    """The element of a link's mass, empty where it has none."""
    mass, centre, inertia = _inertial_numbers(link)
    if mass <= 0.0:
        return ""
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    six = [float(inertia[i][j]) for i in range(3) for j in range(i, 3)]
    entries = " ".join(f'{name}="{value!r}"' for name, value in zip(names, six, strict=True))
    xyz = " ".join(repr(float(c)) for c in centre)
    return (
        f'<inertial><origin xyz="{xyz}"/><mass value="{float(mass)!r}"/>'
        f"<inertia {entries}/></inertial>"
    )


def _turns(link: Any) -> str | None:
    """The kind of URDF's joint that moves a link: None where none of them is its joint."""
    joint = link.joint
    kinds = {"RotationalJoint": "continuous", "LinearJoint": "prismatic", "FixedJoint": "fixed"}
    for kind in type(joint).__mro__:
        if kind.__name__ in kinds:
            return kinds[kind.__name__]
    return None


def _joint_text(link: Any, name: str, kind: str, ends: str) -> str:
    joint = link.joint
    T_parent_child = np.linalg.inv(link.parent_link.worldcoords().T()) @ link.worldcoords().T()
    limit = ""
    if kind != "fixed":
        T_parent_child = T_parent_child @ np.linalg.inv(joint._motion())
        low, high = float(joint.min_angle), float(joint.max_angle)
        if np.isfinite(low) and np.isfinite(high) and low < high:
            kind = "revolute" if kind == "continuous" else kind
            limit = f'<limit lower="{low!r}" upper="{high!r}" effort="1" velocity="1"/>'
        elif kind == "prismatic":
            limit = '<limit lower="-10" upper="10" effort="1" velocity="1"/>'
        axis = " ".join(repr(float(c)) for c in joint.axis)
        limit += f'<axis xyz="{axis}"/>'
    xyz, rpy = (" ".join(map(repr, part.tolist())) for part in xyz_rpy(T_parent_child))
    origin = f'<origin xyz="{xyz}" rpy="{rpy}"/>'
    return f'<joint name={quoteattr(name)} type="{kind}">{ends}{origin}{limit}</joint>'


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
