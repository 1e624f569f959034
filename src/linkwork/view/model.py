"""The view model: a robot's shapes in their places, its skeleton, joints, loops and masses.

Every way to look at a robot (drawings, the page in the browser, pictures of it, glTF files) shows
a `ViewModel`. It says what hangs on which link; where the links are, the robot's own kinematics
say. A mesh that cannot be had is left out and named in ``messages``; the rest is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.appearance import Pieces, ShownPart, shown_parts
from linkwork.checks import rigid_poses
from linkwork.errors import InputError, LinkworkError, ShapeError
from linkwork.geometry import guards
from linkwork.geometry.guards import image_bytes, show
from linkwork.geometry.simplify import BUDGET, SimpleMesh, simplified
from linkwork.locating import Folders
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.shapes import KINDS, Kind, LinkShape, Shape
from linkwork.spatial.poses import pose_matrix
from linkwork.view.skeleton import Segment, skeleton

if TYPE_CHECKING:
    from linkwork.robot import Robot

__all__ = [
    "KINDS", "Geometry", "JointMark", "Kind", "LinkMass", "LoopMark", "Part", "Segment", "Texture",
    "ViewModel", "view_model",
]  # fmt: skip

Floats = NDArray[np.float64]
Rgba = tuple[float, float, float, float]
Vector3 = tuple[float, float, float]

MOST_COLORS = 32
"""Colours that the faces of one mesh may have before near ones are taken for one."""


@dataclass(frozen=True, eq=False, slots=True)
class Geometry:
    """A mesh in its own frame: ``vertices`` (n, 3) in m, ``faces`` (k, 3) of their numbers.

    ``uv`` (n, 2) places a texture: 0 0 is the picture's lower left corner.
    """

    vertices: NDArray[np.float32]
    faces: NDArray[np.uint32]
    uv: NDArray[np.float32] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Texture:
    """A picture on a mesh: the bytes of its file, its kind, and its mean colour (0 to 1)."""

    data: bytes
    media_type: str
    mean: Rgba


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """A geometry on a link: ``T_link_part`` (4, 4), and its colour, 0 to 1, where it has one.

    ``link``, ``geometry`` and ``texture`` are indices: of `ViewModel.links`, of
    `ViewModel.geometries` and of `ViewModel.textures`. A texture is multiplied by the colour.
    ``held`` is the name of the object that it is of, where the link does not have but hold it.
    """

    link: int
    kind: Kind
    geometry: int
    T_link_part: Floats
    rgba: Rgba | None = None
    name: str | None = None
    file: Path | None = None
    texture: int | None = None
    held: str | None = None


@dataclass(frozen=True, slots=True)
class JointMark:
    """A joint as it is drawn: at ``at`` (m) in the frame of ``link``, which it moves.

    ``axis`` is a unit vector in the link's frame, None where there is no single one; a planar joint
    moves across it. ``index`` is that in `Robot.joint_names`, None for a coupled joint.
    """

    name: str
    type: str
    link: int
    axis: Vector3 | None
    index: int | None
    at: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class LoopMark:
    """A loop between two frames (indices of `Robot.frame_names`); a rod has a ``distance`` (m)."""

    name: str
    kind: str
    frame_a: int
    frame_b: int
    distance: float


@dataclass(frozen=True, eq=False, slots=True)
class LinkMass:
    """A link's ``mass`` (kg), ``com`` (3,) (m) and ``inertia`` (3, 3) (kg m²) about it, link axes.

    `linkwork.geometry.properties.inertia_ellipsoid` is the body of one density that moves alike.
    """

    link: int
    mass: float
    com: Floats
    inertia: Floats


@dataclass(frozen=True, eq=False, slots=True)
class ViewModel:
    """A robot as it is seen. Links are those of the robot, in the order of its frames.

    Indices of frames are those of ``mechanism.frame_names``, whose first are the links.
    """

    name: str
    mechanism: Mechanism
    links: tuple[str, ...]
    geometries: tuple[Geometry, ...]
    parts: tuple[Part, ...]
    segments: tuple[Segment, ...]
    joints: tuple[JointMark, ...]
    messages: tuple[str, ...] = field(default=())
    textures: tuple[Texture, ...] = field(default=())
    loops: tuple[LoopMark, ...] = field(default=())
    masses: tuple[LinkMass, ...] = field(default=())

    @property
    def has_shapes(self) -> bool:
        """Whether there is anything to see beside the skeleton."""
        return bool(self.parts)

    @property
    def n_faces(self) -> int:
        """The number of triangles of all geometries, each counted once."""
        return sum(len(geometry.faces) for geometry in self.geometries)

    def simplified(self, n_faces: int = BUDGET) -> ViewModel:
        """The same with about ``n_faces`` triangles at most, which its messages say.

        It is itself where it has no more; see `linkwork.geometry.simplify`.

        Raises: InputError for a budget below one triangle.
        """
        if self.n_faces <= n_faces:
            return self
        meshes = [
            SimpleMesh(
                g.vertices.astype(np.float64),
                g.faces.astype(np.int64),
                None if g.uv is None else g.uv.astype(np.float64),
            )
            for g in self.geometries
        ]
        made = [
            Geometry(
                mesh.vertices.astype(np.float32),
                mesh.faces.astype(np.uint32),
                None if mesh.uv is None else mesh.uv.astype(np.float32),
            )
            for mesh in simplified(meshes, n_faces)
        ]
        left = sum(len(geometry.faces) for geometry in made)
        told = f"'{self.name}' is shown with {left:,} of its {self.n_faces:,} triangles"
        return replace(self, geometries=tuple(made), messages=(*self.messages, told))

    def bounds(self, T_world_link: ArrayLike) -> Floats:
        """The box around all that is seen (m), for framing it: (2, 3), the lowest corner first.

        ``T_world_link`` (n, 4, 4): poses of the links, or of all frames, as `Robot.fk_all` gives
        them. Shapes and skeleton count, one that is a point has a box of 0.1 m.

        Raises: ShapeError for fewer poses than links; InputError.
        """
        poses = rigid_poses(T_world_link, "T_world_link")
        if poses.ndim != 3 or len(poses) < len(self.links):
            raise ShapeError(
                f"T_world_link must be one pose for each of {len(self.links)} links, (n, 4, 4), "
                f"not {poses.shape}"
            )
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for part in self.parts:
            T = poses[part.link] @ part.T_link_part
            points = self.geometries[part.geometry].vertices @ T[:3, :3].T + T[:3, 3]
            low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
        ends = [(s.link_a, s.p_a) for s in self.segments] + [
            (s.link_b, s.p_b) for s in self.segments
        ]
        for link, p in ends or [(0, (0.0, 0.0, 0.0))]:
            point = poses[link, :3, :3] @ p + poses[link, :3, 3]
            low, high = np.minimum(low, point), np.maximum(high, point)
        if np.max(high - low) < 1e-6:
            low, high = low - 0.05, high + 0.05
        return np.array([low, high])


def view_model(robot: Robot, kinds: Sequence[Kind] = KINDS, *, allow: Folders = ()) -> ViewModel:
    """The view model of a robot: its shapes of these kinds, its skeleton, joints, loops and masses.

    What the robot holds (`Robot.with_attached`) is shown beside its own shapes, in every kind.
    ``allow`` are folders that meshes may lie in, beside the description's package. Meshes that
    several links have are one geometry.

    Raises: InputError for a kind that does not exist.
    """
    wrong = [kind for kind in kinds if kind not in KINDS]
    if wrong:
        raise InputError(f"kinds are 'visual' and 'collision', not {wrong[0]!r}")
    m = robot.mechanism
    shown = _Shown(robot.link_names)
    if robot.shapes is not None:
        known: dict[Shape, Pieces] = {}
        for index, name in enumerate(robot.link_names):
            for shape in robot.shapes.of_link.get(name, ()):
                if shape.kind not in kinds:
                    continue
                found = shown_parts(shape, robot.shapes.file, allow, known)
                shown.say(f"link '{name}'", found.errors, found.left_out)
                for part, piece in zip(found.parts, found.pieces, strict=True):
                    shown.add(index, shape, part, piece)
    for kind in kinds:
        if any(part.kind == kind for part in shown.parts):  # a skeleton is no picture of its size
            _add_held(shown, robot, kind)
    shown.drop_unused()
    segments = skeleton(m, ends={part.link for part in shown.parts})
    if not shown.parts:
        shown.messages.setdefault(f"'{m.name}' has no shapes: its skeleton is shown")
    return ViewModel(
        m.name,
        m,
        robot.link_names,
        tuple(shown.geometries),
        tuple(shown.parts),
        segments,
        _joints(m),
        tuple(shown.messages),
        tuple(shown.textures),
        tuple(
            LoopMark(
                loop.name, loop.kind, m.frame(loop.frame_a), m.frame(loop.frame_b), loop.distance
            )
            for loop in m.loops
        ),
        tuple(
            LinkMass(k, float(m.link_mass[k]), m.link_com[k], m.link_I_com[k])
            for k in range(m.n_link_frames)
            if m.link_mass[k] > 0
        ),
    )


def _add_held(shown: _Shown, robot: Robot, kind: Kind) -> None:
    """Add what the robot holds, on the links that its frames are fixed to."""
    m = robot.mechanism
    for held in robot.attached:
        frame = m.frame(held.frame)
        link = int(m.frame_link[frame])
        T_body_link = pose_matrix(m.R_body_frame[link], m.p_body_frame[link])
        T_body_frame = pose_matrix(m.R_body_frame[frame], m.p_body_frame[frame])
        T_link_frame = np.linalg.inv(T_body_link) @ T_body_frame
        T_link_object = np.asarray(T_link_frame @ held.T_frame_object, np.float64)
        shape = LinkShape(held.shape, kind, T_link_object, held.name, held.rgba)
        found = shown_parts(shape, None)
        for part, piece in zip(found.parts, found.pieces, strict=True):
            shown.add(link, shape, part, piece, held=held.name)


class _Shown:
    """Geometries, parts and textures as they are found, each mesh and picture once."""

    def __init__(self, links: Sequence[str]) -> None:
        self.links = links
        self.geometries: list[Geometry] = []
        self.parts: list[Part] = []
        self.textures: list[Texture] = []
        self.messages: dict[str, None] = {}  # in order, each once
        # by their ids; what has them is kept alive, so that nothing else gets one
        self._known: dict[int, tuple[Any, list[_Look]]] = {}
        self._pictures: dict[Any, int | None] = {}
        self._alive: list[Any] = []

    def say(self, where: str, errors: Sequence[LinkworkError], left_out: Sequence[str]) -> None:
        """Keep what was not there, and of materials what was not read."""
        for error in errors:
            self.messages.setdefault(f"{where}: {error}")
        for text in left_out:
            self.messages.setdefault(text)

    def add(
        self,
        link: int,
        shape: LinkShape,
        part: ShownPart,
        piece: ShownPart,
        *,
        held: str | None = None,
    ) -> None:
        """Add a part of a link: one for each colour that its faces have.

        The look that the description gives stands above that of the mesh's file.
        """
        if id(part.mesh) not in self._known:
            self._known[id(part.mesh)] = part.mesh, self._split(piece)
        for geometry, own, picture in self._known[id(part.mesh)][1]:
            rgba, texture = own, picture
            if shape.rgba is not None or (shape.texture and part.texture is not None):
                rgba = shape.rgba
                texture = self._picture_of(part.texture) if shape.texture else None
            if texture is not None and self.geometries[geometry].uv is None:
                mean = self.textures[texture].mean
                rgba, texture = mean if rgba is None else _tinted(mean, rgba), None
                self.messages.setdefault(
                    f"'{show(part.file or self.links[link])}' has no coordinates for its texture, "
                    "of which the mean colour is shown"
                )
            self.parts.append(
                Part(
                    link, shape.kind, geometry, part.T_link_part, rgba, part.name, part.file,
                    texture, held,
                )
            )  # fmt: skip

    def drop_unused(self) -> None:
        """Let go of textures that no part wears, and of the coordinates that were for them."""
        worn = sorted({part.texture for part in self.parts if part.texture is not None})
        number = {texture: k for k, texture in enumerate(worn)}
        self.textures = [self.textures[texture] for texture in worn]
        self.parts = [
            part if part.texture is None else replace(part, texture=number[part.texture])
            for part in self.parts
        ]
        dressed = {part.geometry for part in self.parts if part.texture is not None}
        self.geometries = [
            geometry if k in dressed else replace(geometry, uv=None)
            for k, geometry in enumerate(self.geometries)
        ]

    def _split(self, part: ShownPart) -> list[_Look]:
        """The geometries of a mesh, one for each colour of its faces, and their looks."""
        visual: Any = part.mesh.visual
        vertices = np.asarray(part.mesh.vertices, np.float32)
        faces = np.asarray(part.mesh.faces, np.uint32)
        material = getattr(visual, "material", None)
        if material is not None or visual.kind not in ("face", "vertex"):
            uv = getattr(visual, "uv", None)
            image = next(
                (i for slot in _BASE if (i := getattr(material, slot, None)) is not None), None
            )
            uv = None if uv is None or image is None else np.asarray(uv, np.float32)
            texture = None if image is None else self._picture(id(image), image_bytes(image), part)
            self._alive.append(image)
            self.geometries.append(Geometry(vertices, faces, uv))
            return [(len(self.geometries) - 1, part.rgba, texture)]
        colors, group = _few_colors(np.asarray(visual.face_colors, np.uint8))
        found: list[_Look] = []
        for k, color in enumerate(colors):
            kept, numbers = np.unique(faces[group == k], return_inverse=True)
            self.geometries.append(
                Geometry(vertices[kept], numbers.reshape(-1, 3).astype(np.uint32))
            )
            red, green, blue, alpha = (color / 255).tolist()
            found.append((len(self.geometries) - 1, (red, green, blue, alpha), None))
        return found

    def _picture_of(self, path: Path | None) -> int | None:
        """The texture of an image file."""
        if path is None:
            return None
        try:
            return self._picture(path, guards.read(path), None)
        except LinkworkError as error:
            self.messages.setdefault(str(error))
            return None

    def _picture(self, key: Any, data: bytes, part: ShownPart | None) -> int | None:
        """The index of a texture, None where its image cannot be read, which is told."""
        if key not in self._pictures:
            name = key if part is None else part.file or "a texture"
            try:
                self.textures.append(_texture(data, name))
                self._pictures[key] = len(self.textures) - 1
            except LinkworkError as error:
                self.messages.setdefault(str(error))
                self._pictures[key] = None
        return self._pictures[key]


_Look = tuple[int, "Rgba | None", "int | None"]
"""A geometry, its colour and its texture."""

_BASE = ("image", "baseColorTexture")


def _texture(data: bytes, name: str | Path) -> Texture:
    """A picture as PNG or JPEG, which everything shows, and its mean colour.

    Raises: InputError for what cannot be decoded; MissingExtraError without Pillow.
    """
    image = guards.open_image(data, name)
    try:
        kind = str(image.format)
        if kind not in ("PNG", "JPEG"):
            made = BytesIO()
            image.convert("RGBA").save(made, "PNG")
            data, kind = made.getvalue(), "PNG"
        image.draft("RGB", (64, 64))  # a JPEG is decoded as small as that
        small = np.asarray(image.convert("RGBA").resize((16, 16)), np.float64) / 255
    except (OSError, ValueError, SyntaxError) as error:
        raise guards.refuse(name, f"an image that cannot be decoded: {error}") from None
    red, green, blue, _ = small.reshape(-1, 4).mean(axis=0).tolist()
    return Texture(data, f"image/{kind.lower()}", (red, green, blue, 1.0))


def _tinted(a: Rgba, b: Rgba) -> Rgba:
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3])


def _few_colors(colors: NDArray[np.uint8]) -> tuple[Floats, NDArray[np.int64]]:
    """The colours (k, 4) of faces (n, 4), at most `MOST_COLORS`, and which each face has (n,).

    Where there are more, those are one that agree in their first bits.
    """
    bits = 8
    while True:
        found, group = np.unique(colors >> (8 - bits), axis=0, return_inverse=True)
        if len(found) <= MOST_COLORS or bits == 1:
            break
        bits -= 1
    group = group.reshape(-1)
    sums = np.zeros((len(found), 4))
    np.add.at(sums, group, colors.astype(np.float64))
    return sums / np.bincount(group)[:, None], group


def _joints(m: Mechanism) -> tuple[JointMark, ...]:
    """The joints that move, at the links that they carry."""
    found: list[JointMark] = []
    for body, kind in enumerate(m.body_joint_types):
        if not kind.n_q:
            continue
        link = m.frame(m.body_names[body])
        R, p = m.R_body_frame[link], m.p_body_frame[link]
        x, y, z = (R[2] + 0.0).tolist()
        at_x, at_y, at_z = (-R.T @ p + 0.0).tolist()
        name = m.body_joint_names[body]
        index = m.joint(name) if name in m.joint_names else None
        axis = None if kind.has_quaternion else (x, y, z)
        found.append(JointMark(name, kind.label, link, axis, index, (at_x, at_y, at_z)))
    return tuple(found)
