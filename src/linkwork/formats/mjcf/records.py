"""The kinematics and inertia of an MJCF, as plain records.

Poses are positions (3) in metres and quaternions ``wxyz`` in the frame of the parent body; names
are never empty. Indices are MuJoCo's: body 0 is the world.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from linkwork.errors import Finding

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a description: file and line."""

    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A rigid body. The inertia is diagonal in axes turned by `inertia_quat`, about `com`."""

    name: str
    parent: int
    pos: Vector
    quat: Quaternion
    mass: float
    com: Vector
    inertia: Vector
    inertia_quat: Quaternion
    mocap: bool = False
    place: Place = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """A joint of a body, about `axis` through `pos` in the body's frame.

    Its position stands in MuJoCo's ``qpos`` from `start` on; the body is at its described pose when
    that is `ref`. A free joint has seven numbers, position then quaternion, a ball joint a
    quaternion: `initial` has them. The upper limit of a ball joint is how far it turns.
    """

    name: str
    type: Literal["hinge", "slide", "ball", "free"]
    body: int
    pos: Vector
    axis: Vector
    start: int
    ref: float = 0.0
    initial: tuple[float, ...] = ()
    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    spring_position: float = 0.0
    place: Place = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A named place on a body."""

    name: str
    body: int
    pos: Vector
    quat: Quaternion
    place: Place = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mesh:
    """A mesh, and the places where its file may be, or its vertices where they stand in the MJCF.

    A vertex p of the file is ``scale * R.T (p - ref_pos)`` of the mesh, R being the rotation of
    `ref_quat`; `vertices` are those of the mesh, `faces` may be none, which means their hull. A
    mesh that MuJoCo makes itself has neither files nor vertices.
    """

    name: str
    files: tuple[str, ...]
    scale: Vector
    ref_pos: Vector = (0.0, 0.0, 0.0)
    ref_quat: Quaternion = (1.0, 0.0, 0.0, 0.0)
    vertices: tuple[Vector, ...] = ()
    faces: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Geom:
    """A shape on a body, with MuJoCo's sizes (half lengths). A mesh's pose is that of its file."""

    name: str
    body: int
    type: str
    size: Vector
    pos: Vector
    quat: Quaternion
    rgba: Quaternion
    group: int
    collides: bool
    mesh: Mesh | None = None
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Anchor:
    """A frame on a body that an equality holds; a site's number where it is one."""

    body: int
    pos: Vector
    quat: Quaternion
    site: int | None = None


@dataclass(frozen=True, slots=True)
class Closure:
    """Two anchors: their origins coincide (connect), all of them (weld), or stay apart (rod)."""

    name: str
    kind: Literal["connect", "weld", "rod"]
    a: Anchor
    b: Anchor
    place: Place = Place()
    distance: float = 0.0


Terms = tuple[tuple[int, float], ...]
"""Joints by their numbers, with factors."""


@dataclass(frozen=True, slots=True)
class Coupling:
    """The sum of some joints' positions is a polynomial of that of others, counted from `ref`."""

    name: str
    terms: Terms
    other: Terms
    polynomial: tuple[float, ...]
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Drive:
    """The joints that one actuator drives: several where it pulls a tendon."""

    joints: tuple[int, ...]
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Keyframe:
    """A configuration with a name, in MuJoCo's order."""

    name: str
    qpos: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MjcfModel:
    """One MJCF with everything that it includes; `problems` are findings, `file` its own name."""

    name: str
    file: str | None
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    sites: tuple[Site, ...]
    geoms: tuple[Geom, ...]
    closures: tuple[Closure, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    drives: tuple[Drive, ...] = ()
    keyframes: tuple[Keyframe, ...] = ()
    gravity: Vector = (0.0, 0.0, -9.81)
    problems: tuple[Finding, ...] = ()
