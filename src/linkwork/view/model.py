"""What of a robot is seen: shapes in their places, a skeleton, joints, loops and masses.

Every way to look at a robot (drawings, the page in the browser, pictures of it, glTF files) shows
a `ViewModel`. It says what hangs on which link; where the links are, the robot's own kinematics
say. A mesh that cannot be had is left out and named in ``messages``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError
from linkwork.locating import Folders
from linkwork.mechanism.model import Mechanism

if TYPE_CHECKING:
    from linkwork.robot import Robot

Floats = NDArray[np.float64]
Kind = Literal["visual", "collision"]
KINDS: tuple[Kind, ...] = ("visual", "collision")


@dataclass(frozen=True, eq=False, slots=True)
class Geometry:
    """A mesh in its own frame: ``vertices`` (n, 3) in m, ``faces`` (k, 3) of their numbers."""

    vertices: NDArray[np.float32]
    faces: NDArray[np.uint32]


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """A geometry on a link: ``T_link_part`` (4, 4), and its colour, 0 to 1, where it has one.

    ``link`` and ``geometry`` are indices: of `ViewModel.links` and `ViewModel.geometries`.
    """

    link: int
    kind: Kind
    geometry: int
    T_link_part: Floats
    rgba: tuple[float, float, float, float] | None = None
    name: str | None = None
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """A line of the skeleton, from a point of one link to one of another or of the same (m)."""

    link_a: int
    p_a: tuple[float, float, float]
    link_b: int
    p_b: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class JointMark:
    """A joint as it is drawn: at the origin of ``link``, which it moves.

    ``axis`` is a unit vector in the link's frame, None where there is no single one. ``index`` is
    that in `Robot.joint_names`, None for a coupled joint.
    """

    name: str
    type: str
    link: int
    axis: tuple[float, float, float] | None
    index: int | None


@dataclass(frozen=True, eq=False, slots=True)
class ViewModel:
    """What of a robot is seen. Links are those of the robot, in the order of its frames."""

    name: str
    mechanism: Mechanism
    links: tuple[str, ...]
    geometries: tuple[Geometry, ...]
    parts: tuple[Part, ...]
    segments: tuple[Segment, ...]
    joints: tuple[JointMark, ...]
    messages: tuple[str, ...] = field(default=())

    @property
    def has_shapes(self) -> bool:
        """Whether there is anything to see beside the skeleton."""
        return bool(self.parts)


def view_model(robot: Robot, kinds: Sequence[Kind] = KINDS, *, allow: Folders = ()) -> ViewModel:
    """What of a robot is seen: its shapes of these kinds, and its skeleton."""
    m = robot.mechanism
    links = robot.link_names
    geometries: list[Geometry] = []
    parts: list[Part] = []
    messages: list[str] = []
    described = (
        {} if robot.document is None else {link.name: link for link in robot.document.robot.links}
    )
    for index, name in enumerate(links):
        if name not in described:
            continue
        for kind in kinds:
            try:
                shown = robot.link_parts(name, kind, allow=allow)
            except LinkworkError as error:
                messages.append(str(error))
                shown = robot.link_parts(name, kind, allow=allow, missing="skip")
            for part in shown:
                vertices = np.asarray(part.mesh.vertices, np.float32)
                faces = np.asarray(part.mesh.faces, np.uint32)
                parts.append(
                    Part(
                        index, kind, len(geometries), part.T_link_part, part.rgba, part.name,
                        part.file,
                    )
                )  # fmt: skip
                geometries.append(Geometry(vertices, faces))
    return ViewModel(
        m.name, m, links, tuple(geometries), tuple(parts), _skeleton(m), _joints(m), tuple(messages)
    )


def _joints(m: Mechanism) -> tuple[JointMark, ...]:
    """The joints that move, at the links that they carry."""
    found: list[JointMark] = []
    for body, kind in enumerate(m.body_joint_types):
        if not kind.n_q:
            continue
        link = m.frame(m.body_names[body])
        x, y, z = (m.R_body_frame[link, 2] + 0.0).tolist()
        name = m.body_joint_names[body]
        index = m.joint(name) if name in m.joint_names else None
        axis = None if kind.has_quaternion else (x, y, z)
        found.append(JointMark(name, kind.label, link, axis, index))
    return tuple(found)


def _skeleton(m: Mechanism) -> tuple[Segment, ...]:
    """Lines from each link's origin to those of the links that hang on it, where they differ."""
    found: list[Segment] = []
    nowhere = (0.0, 0.0, 0.0)
    for link in range(m.n_link_frames):
        above = int(m.link_parent[link])
        if above >= 0:
            found.append(Segment(above, nowhere, link, nowhere))
    return tuple(found)
