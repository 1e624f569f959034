"""Scenes: named obstacles around a robot, as plain data.

A `Scene` is a list of shapes at poses, and says which contacts are allowed. It is shown beside
robots; it computes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import atomic, settings
from linkwork.checks import finite_number, finite_rows, real_array, rigid_pose
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.formats import moveit_scene, yaml
from linkwork.formats.loops import Fields, as_real
from linkwork.formats.urdf.records import Box, Capsule, Cylinder, Rgba, Sphere, Vector3
from linkwork.formats.urdf.source import bytes_of_file
from linkwork.geometry.simplify import SimpleMesh
from linkwork.locating import Folders, locate
from linkwork.mechanism.shapes import (
    Ellipsoid,
    HalfSpace,
    HeightField,
    MeshFile,
    Points,
    Triangles,
    mesh_of,
)
from linkwork.poses import pose as pose_of
from linkwork.poses import xyz_wxyz

if TYPE_CHECKING:
    from linkwork.collision.model import CollisionModel

__all__ = ["Points", "Scene", "SceneObject", "ShownObject"]

Floats = NDArray[np.float64]

SHOWN_HALF_SPACE = 4.0
"""The side (m) of the square that a half-space is shown as."""

SHOWN_POINTS = 20_000
"""Points of a cloud that are shown at most: every second, third, ... of more."""

SHOWN_CORNERS = 250
"""Corners along a side of a height field that are shown at most: every second, third, ... of more,
and the last."""

FARTHEST = 1e150
"""Metres that obstacles may be large or far away, at most: the squares of more are no numbers."""

HIGHEST = 1e9
"""Metres that a ground is high or deep, at most: what stands for no data in a map is more."""

_HUES = ((0.0, 0.45, 0.7), (0.9, 0.6, 0.0), (0.0, 0.62, 0.45), (0.8, 0.47, 0.65), (0.84, 0.37, 0.0))
_OPAQUE = {"balls": 0.45, "pieces": 1.0}

_POINT_RADIUS = 0.004  # m, of points that have none, where they are shown


Solid: TypeAlias = (
    "Box | Sphere | Cylinder | Capsule | Ellipsoid | HalfSpace | Triangles | HeightField | Points"
)


@dataclass(frozen=True, eq=False, slots=True)
class SceneObject:
    """An obstacle: its shape at ``T_world_object`` (4, 4), read-only, and its colour, 0 to 1.

    ``file`` says where a mesh came from, and its scale; its vertices are in ``shape``.
    """

    name: str
    shape: Solid
    T_world_object: Floats
    rgba: Rgba | None = None
    file: MeshFile | None = None


class ShownObject(NamedTuple):
    """An obstacle as it is drawn: ``geometry`` in its own frame, at ``T_world_part`` (4, 4)."""

    name: str
    geometry: SimpleMesh
    T_world_part: Floats
    rgba: Rgba | None


class Scene:
    """Named obstacles in the world: boxes, spheres, cylinders, capsules, meshes, points, ...

    A pose is a matrix (4, 4), as `lw.pose` makes it, or a position (3,) in m; none is the world's
    origin. A name stands for one obstacle. ``rgba`` are four numbers from 0 to 1.

    ``edits`` (1,) counts the edits: what was made of a scene is up to date as long as it has the
    same number.
    """

    def __init__(self) -> None:
        self.edits = np.zeros(1, np.int64)  # an array: compiled code looks at it, too
        self._objects: dict[str, SceneObject] = {}
        self._drawn: dict[str, tuple[Any, SimpleMesh]] = {}  # and the shape that it is of
        self._allowed: dict[str, frozenset[str]] = {}  # what may touch an obstacle

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the obstacles, in the order in which they were added."""
        return tuple(self._objects)

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[SceneObject]:
        return iter(tuple(self._objects.values()))

    def __contains__(self, name: object) -> bool:
        return name in self._objects

    def __repr__(self) -> str:
        n = len(self._objects)
        told = ", ".join(list(self._objects)[:6]) + (", ..." if n > 6 else "")
        return f"Scene({n} object{'' if n == 1 else 's'}{': ' if n else ''}{told})"

    def get(self, name: str) -> SceneObject:
        """The obstacle of this name.

        Raises: UnknownNameError with the nearest names.
        """
        if name not in self._objects:
            raise UnknownNameError("object of the scene", name, self.names)
        return self._objects[name]

    def copy(self) -> Scene:
        """A scene with the same obstacles, which changes by itself."""
        made = Scene()
        made._objects = dict(self._objects)
        made._allowed = dict(self._allowed)
        return made

    __copy__ = copy

    # what is added

    def add_box(
        self, name: str, size: ArrayLike, pose: ArrayLike | None = None, *, rgba: Any = None
    ) -> SceneObject:
        """Add a box of ``size`` (3,), the full lengths of its sides (m), centred at its pose.

        Raises: InputError, ShapeError; a name that is taken is refused.
        """
        return self._add(name, Box(_lengths(size, "size")), pose, rgba)

    def add_sphere(
        self, name: str, radius: float, pose: ArrayLike | None = None, *, rgba: Any = None
    ) -> SceneObject:
        """Add a sphere of this radius (m), centred at its pose.

        Raises: as `add_box`.
        """
        return self._add(name, Sphere(_length(radius, "radius")), pose, rgba)

    def add_cylinder(
        self,
        name: str,
        radius: float,
        length: float,
        pose: ArrayLike | None = None,
        *,
        rgba: Any = None,
    ) -> SceneObject:
        """Add a cylinder about z of its pose, which is its centre (m).

        Raises: as `add_box`.
        """
        shape = Cylinder(_length(radius, "radius"), _length(length, "length"))
        return self._add(name, shape, pose, rgba)

    def add_capsule(
        self,
        name: str,
        radius: float,
        length: float,
        pose: ArrayLike | None = None,
        *,
        rgba: Any = None,
    ) -> SceneObject:
        """Add a capsule about z of its pose, which is its centre; ``length`` is without its ends.

        Raises: as `add_box`.
        """
        shape = Capsule(_length(radius, "radius"), _length(length, "length", least=0.0))
        return self._add(name, shape, pose, rgba)

    def add_ellipsoid(
        self, name: str, radii: ArrayLike, pose: ArrayLike | None = None, *, rgba: Any = None
    ) -> SceneObject:
        """Add an ellipsoid with half axes ``radii`` (3,), in m, centred at its pose.

        Raises: as `add_box`.
        """
        return self._add(name, Ellipsoid(_lengths(radii, "radii")), pose, rgba)

    def add_half_space(
        self, name: str, pose: ArrayLike | None = None, *, rgba: Any = None
    ) -> SceneObject:
        """Add all that lies below z = 0 of its pose: a floor, or turned a wall or a ceiling.

        Raises: as `add_box`.
        """
        return self._add(name, HalfSpace(), pose, rgba)

    def add_mesh(
        self,
        name: str,
        mesh: Any,
        pose: ArrayLike | None = None,
        *,
        scale: ArrayLike = (1.0, 1.0, 1.0),
        rgba: Any = None,
    ) -> SceneObject:
        """Add a mesh: a file, a mesh of trimesh, or vertices (n, 3) in m and faces (k, 3).

        A file is read now. Its colour is that of its material, where there is one alone.

        Raises: as `add_box`; InputError for a file that is not there or is refused.
        """
        factors = real_array(scale, "scale")
        if factors.shape not in ((), (3,)):
            raise ShapeError(f"scale is one number or three, not of shape {factors.shape}")
        factors = finite_rows(np.broadcast_to(factors, 3), "scale", 3)
        if not np.all(factors):
            raise InputError(f"scale must not be 0, which would make '{name}' flat")
        file = None
        if isinstance(mesh, (str, os.PathLike)):
            path = Path(os.fspath(mesh))
            file = MeshFile((os.path.abspath(path),), _three(factors))
            mesh, color = _loaded(path)
            rgba = color if rgba is None else rgba
        shape = _triangles(mesh, name, factors)
        return self._add(name, shape, pose, rgba, file)

    def add_points(
        self,
        name: str,
        points: ArrayLike,
        pose: ArrayLike | None = None,
        *,
        radius: float = 0.0,
        rgba: Any = None,
    ) -> SceneObject:
        """Add points (n, 3), m, as a camera or a scanner sees them; each is a ball of ``radius``.

        Raises: as `add_box`.
        """
        rows = _near(finite_rows(points, "points", 3).reshape(-1, 3), "points")
        if not len(rows):
            raise InputError(f"'{name}' has no points; give at least one, of shape (n, 3)")
        size = _length(radius, "radius", least=0.0)
        return self._add(name, Points(_frozen(rows), size), pose, rgba)

    def add_height_field(
        self,
        name: str,
        heights: ArrayLike,
        size: ArrayLike,
        pose: ArrayLike | None = None,
        *,
        depth: float = 1.0,
        rgba: Any = None,
    ) -> SceneObject:
        """Add a ground of ``heights`` (m, n) over a rectangle of ``size`` (x, y), all in m.

        Its pose is the middle of the rectangle; x runs along the first axis of the heights. Between
        them are two triangles a cell, and it is solid down to ``depth`` below the lowest of them.

        Raises: as `add_box`.
        """
        rows, sides = real_array(heights, "heights"), finite_rows(size, "size", 2)
        if rows.ndim != 2 or min(rows.shape) < 2:
            raise ShapeError(f"heights have shape (m, n), both from 2 on, not {rows.shape}")
        rows = _heights(finite_rows(rows, "heights", rows.shape[1]))
        sides = _near(sides, "size")
        if sides.shape != (2,) or not np.all(sides > 0):
            raise InputError(f"size must be two lengths above 0 m, not {sides.tolist()!r:.80}")
        x, y = sides.tolist()
        return self._add(
            name, HeightField(_frozen(rows), (x, y), _length(depth, "depth")), pose, rgba
        )

    def add_shape(
        self, name: str, shape: Solid, pose: ArrayLike | None = None, *, rgba: Any = None
    ) -> SceneObject:
        """Add a shape as `get` gives it: one of another scene, or one that a robot has held.

        Raises: as `add_box`.
        """
        if not isinstance(shape, _SOLIDS):
            kinds = ", ".join(kind.__name__ for kind in _SOLIDS)
            raise InputError(f"shape must be one of {kinds}, not {type(shape).__name__}")
        return self._add(name, shape, pose, rgba)

    def _add(
        self, name: str, shape: Any, pose: Any, rgba: Any, file: MeshFile | None = None
    ) -> SceneObject:
        if not isinstance(name, str) or not name:
            raise InputError(f"the name of an obstacle must be a text, not {name!r:.60}")
        if name in self._objects:
            raise InputError(
                f"the scene has an object named '{name}': give another name, or remove('{name}') "
                f"first; move('{name}', pose) puts it elsewhere"
            )
        return self._put(SceneObject(name, shape, _pose(pose), _color(rgba), file))

    def _put(self, made: SceneObject) -> SceneObject:
        self._objects[made.name] = made
        self.edits += 1
        return made

    # what is changed

    def move(self, name: str, pose: ArrayLike) -> SceneObject:
        """Put an obstacle at another pose: (4, 4), or a position (3,), which keeps its rotation.

        Raises: UnknownNameError; InputError, ShapeError.
        """
        before = self.get(name)
        moved = np.array(_pose(pose))
        if np.shape(pose) == (3,):
            moved[:3, :3] = before.T_world_object[:3, :3]
        return self._put(replace(before, T_world_object=_frozen(moved)))

    def recolor(self, name: str, rgba: Any) -> SceneObject:
        """Give an obstacle another colour; None is that of whoever shows it.

        Raises: UnknownNameError; InputError.
        """
        return self._put(replace(self.get(name), rgba=_color(rgba)))

    def remove(self, name: str) -> None:
        """Take an obstacle away.

        Raises: UnknownNameError.
        """
        self.get(name)
        del self._objects[name]
        self._drawn.pop(name, None)
        self._allowed.pop(name, None)
        for other, allowed in self._allowed.items():
            self._allowed[other] = allowed - {name}
        self.edits += 1

    def clear(self) -> None:
        """Take all obstacles away."""
        self._objects.clear()
        self._drawn.clear()
        self._allowed.clear()
        self.edits += 1

    # what may touch

    @property
    def allowed(self) -> frozenset[tuple[str, str]]:
        """The contacts that are no collisions: pairs of an obstacle and what may touch it."""
        return frozenset((name, other) for name, all_ in self._allowed.items() for other in all_)

    def allow(self, name: str, *others: str) -> None:
        """Let links, or objects that a robot holds, touch an obstacle: these contacts do not count.

        Links are named as in the robot's description; what a robot has is known there alone, so
        that a name which no robot has changes nothing. An obstacle that is removed takes its
        allowed contacts along.

        Raises: UnknownNameError for the obstacle; InputError for what is no name.
        """
        self._allowed[name] = self._allowed.get(name, frozenset()) | self._others(name, others)
        self.edits += 1

    def forbid(self, name: str, *others: str) -> None:
        """Let contacts of an obstacle count again; without names, all of them.

        Raises: as `allow`.
        """
        kept = self._allowed.get(name, frozenset())
        self._allowed[name] = kept - (self._others(name, others) or kept)
        self.edits += 1

    def _others(self, name: str, others: tuple[str, ...]) -> frozenset[str]:
        self.get(name)
        for other in others:
            if not isinstance(other, str) or not other or other == name:
                raise InputError(f"what may touch '{name}' is another name, not {other!r:.60}")
        return frozenset(others)

    # what is seen

    def geometry(self, name: str) -> SimpleMesh:
        """The vertices (n, 3), m, and faces (k, 3) that an obstacle is drawn with, in its frame.

        Round shapes are as `linkwork.geometry.volumes` makes them. A half-space is a square of 4 m,
        points are small octahedra. Of more than 20,000 points, and of height fields with more than
        250 corners a side, some are left out.

        Raises: UnknownNameError.
        """
        shape = self.get(name).shape
        known = self._drawn.get(name)
        if known is None or known[0] is not shape:
            known = self._drawn[name] = shape, _drawn(shape)
        return known[1]

    def shown(self) -> Iterator[ShownObject]:
        """All obstacles as they are drawn."""
        for each in self:
            yield ShownObject(each.name, self.geometry(each.name), each.T_world_object, each.rgba)

    # as text

    def to_yaml(self, path: str | os.PathLike[str] | None = None) -> str:
        """The scene as YAML, which is written to a file too where a path is given.

        A mesh of a file is told by its name: relative where it lies in the folder of ``path`` or
        below, whole elsewhere. Others stand in the text.

        Raises: InputError for a file that cannot be written, or a text of more than 500,000
        characters, which nobody would read again.
        """
        lines = ["objects:"] if len(self) else ["objects: []"]
        folder = None if path is None else Path(os.path.abspath(path)).parent
        for each in self:
            marks = ["  - ", *["    "] * 5]
            entry = _entry(each, folder)
            if self._allowed.get(each.name):
                entry.append(f"allow: {_names(sorted(self._allowed[each.name]))}")
            lines += [mark + line for mark, line in zip(marks, entry, strict=False)]
        text = "\n".join(lines) + "\n"
        if len(text) > yaml.LONGEST_FILE:
            largest = max(self, key=lambda each: len(_shape_text(each, folder))).name
            raise InputError(
                f"the scene is a text of {len(text):,} characters, and at most "
                f"{yaml.LONGEST_FILE:,} are read; '{largest}' is the longest: save its meshes as "
                "files and add these; clouds and height fields are better kept as arrays"
            )
        if path is not None:
            atomic.write_bytes(path, text.encode())
        return text

    @classmethod
    def of_model(
        cls, model: CollisionModel, q: ArrayLike, *, what: str = "balls", rgba: Any = None
    ) -> Scene:
        """The shapes of a collision model at q (nq,), to be looked at: an object for each link.

        ``what``: "balls", which lie around the pieces and are looked at first, or "pieces", the
        convex ones that decide. Links have different colours, or all have ``rgba``.

        Raises: InputError, ShapeError.
        """
        from linkwork.collision.shown import shown_bodies  # noqa: PLC0415  not all need it

        scene = cls()
        for k, body in enumerate(shown_bodies(model, q, what, settings.compiler())):
            color = (*_HUES[k % len(_HUES)], _OPAQUE[what]) if rgba is None else rgba
            mesh = body.mesh.vertices, body.mesh.faces
            scene.add_mesh(body.name, mesh, body.T_world_body, rgba=color)
        return scene

    @classmethod
    def from_yaml(cls, source: str | os.PathLike[str], *, allow: Folders = ()) -> Scene:
        """The scene of a YAML file, or of a text (it has several lines), as `to_yaml` writes it.

        Each of ``objects`` has a ``name``, one shape, and where it is not at the origin ``xyz`` and
        ``rpy`` (rad) or ``wxyz``; ``rgba`` is its colour. Shapes: ``box: [x, y, z]``,
        ``sphere: radius``, ``cylinder`` and ``capsule: {radius: r, length: l}``,
        ``ellipsoid: [x, y, z]``, ``half_space: true``, ``mesh: {file: name, scale: [x, y, z]}`` or
        ``{vertices: ..., faces: ...}``, ``points: {xyz: ..., radius: r}``,
        ``height_field: {size: [x, y], depth: d, heights: ...}``. ``allow`` names what may touch it.
        Mesh files lie beside the file, in its package, or in ``allow``.

        Raises: InputError with the line of what is wrong; MissingFileError.
        """
        text, file = _text_of(source, yaml.LONGEST_FILE)
        reader = _Reader(file, allow)
        whole = yaml.parse(text, file)
        if isinstance(whole.value, list):
            reader.fail(whole, "the list of a scene's obstacles stands below 'objects:'")
        root = reader.mapping(whole, "a scene")
        scene = cls()
        for key, node in root.items():
            if key != "objects":
                reader.fail(node, f"a scene has 'objects'; '{key:.60}' is none of its keys")
        for node in reader.listed(root.get("objects"), "'objects'"):
            reader.add(scene, node)
        return scene

    @classmethod
    def from_moveit(
        cls, source: str | os.PathLike[str], *, world: str = "world", allow: Folders = ()
    ) -> Scene:
        """The scene of a file that MoveIt wrote, or of such a text (it has several lines).

        Read are ``.scene`` files (geometry as text, both forms) and the message PlanningScene as
        YAML: its world, colours and transforms, and what its allowed collision matrix says of
        obstacles. The robot's state and pairs of links in that matrix are not of the scene.
        ``world`` is the frame that the robot's poses are in. Of an object of several shapes come
        obstacles "name.1", "name.2", ... A plane becomes the half-space below it, and a cone a hull
        around it that is larger by 0.13 % of its radius at most.

        Raises: InputError with the line of what is wrong; UnsupportedFeatureError with that of what
        a scene cannot hold, such as an octomap; MissingFileError.
        """
        text, file = _text_of(source, moveit_scene.LONGEST_FILE)
        found = moveit_scene.read(text, file, world)
        scene = cls()
        reader = _Reader(file, allow)
        for part in found.parts:
            try:
                reader.add_part(scene, part)
            except InputError as error:
                reader.fail(yaml.Node(None, part.line), str(error))
            scene.allow(part.name, *found.allowed.get(part.object, ()))
        return scene


# --- values ---------------------------------------------------------------------------------------


def _length(value: Any, what: str, *, least: float | None = None) -> float:
    above = 0.0 if least is None else None
    return float(_near(np.array(finite_number(value, what, least=least, above=above)), what))


def _lengths(values: ArrayLike, what: str) -> Vector3:
    rows = finite_rows(values, what, 3)
    if rows.shape != (3,):
        raise ShapeError(f"{what} must have shape (3,), not {rows.shape}")
    if not np.all(rows > 0):
        raise InputError(f"{what} must be three lengths above 0 m, not {rows.tolist()!r:.80}")
    return _three(_near(rows, what))


def _near(lengths: Floats, what: str) -> Floats:
    """Lengths (m) that can be reckoned with."""
    most = float(np.abs(lengths).max(initial=0.0))
    if most > FARTHEST:
        raise InputError(f"{what} is {most:g} m, and at most {FARTHEST:g} m can be reckoned with")
    return lengths


def _heights(rows: Floats) -> Floats:
    """Heights (m, n) of a ground, m."""
    if not -HIGHEST <= rows.min() <= rows.max() <= HIGHEST:
        i, j = np.unravel_index(np.abs(rows).argmax(), rows.shape)
        raise InputError(
            f"heights[{i}, {j}] is {rows[i, j]:g} m, and at most {HIGHEST:g} m, up or down, can be "
            "reckoned with; if it stands for no data, put a height there, or the lowest of all"
        )
    return rows


def _three(values: Floats) -> Vector3:
    x, y, z = values.tolist()
    return (x, y, z)


def _pose(given: Any) -> Floats:
    """A pose (4, 4), read-only, of what stands for one."""
    array = np.eye(4) if given is None else real_array(given, "pose")
    if array.shape not in ((3,), (4, 4)):
        raise ShapeError(
            "a pose has shape (4, 4), as lw.pose makes it, or (3,) for a position; not "
            f"{array.shape}"
        )
    found = np.eye(4)
    if array.shape == (3,):
        found[:3, 3] = finite_rows(array, "pose", 3)
    else:
        found = rigid_pose(array, "pose")
    _near(found[:3, 3], "the position of a pose")
    found.setflags(write=False)
    return found


def _color(given: Any) -> Rgba | None:
    """Four numbers from 0 to 1, of three or four."""
    if given is None:
        return None
    color = real_array(given, "rgba")
    if color.shape not in ((3,), (4,)) or not np.all((color >= 0) & (color <= 1)):
        raise InputError(f"rgba must be three or four numbers from 0 to 1, not {given!r:.80}")
    red, green, blue, alpha = [*color.tolist(), 1.0][:4]
    return (red, green, blue, alpha)


def _loaded(path: Path) -> tuple[Any, Rgba | None]:
    """The mesh in a file, and its colour where all of it has one."""
    from linkwork.geometry.load import load  # noqa: PLC0415  few scenes have meshes

    loaded = load(path)
    colors = {part.rgba for part in loaded.parts}
    return loaded.mesh(), colors.pop() if len(colors) == 1 else None


def _triangles(mesh: Any, name: str, scale: Floats) -> Triangles:
    """The record of a mesh of trimesh, or of a pair of vertices and faces."""
    if hasattr(mesh, "vertices") and hasattr(mesh, "faces"):
        mesh = mesh.vertices, mesh.faces
    if not isinstance(mesh, (tuple, list)) or len(mesh) != 2:
        raise InputError(
            f"the mesh of '{name}' must be a file, a mesh of trimesh or a pair of vertices (n, 3) "
            f"and faces (k, 3), not {type(mesh).__name__}"
        )
    vertices = finite_rows(np.asarray(mesh[0]), "vertices", 3)
    faces = np.asarray(mesh[1])
    if vertices.ndim != 2 or faces.ndim != 2 or faces.shape[1] != 3 or not len(faces):
        raise ShapeError(
            f"vertices have shape (n, 3) and faces (k, 3), not {vertices.shape} and {faces.shape}"
        )
    if faces.dtype.kind not in "iu" or faces.min() < 0 or faces.max() >= len(vertices):
        raise InputError(
            f"faces must be numbers of vertices, whole ones from 0 to {len(vertices) - 1}, not of "
            f"{faces.dtype} from {faces.min()} to {faces.max()}"
        )
    faces = faces.astype(np.int64)
    if np.prod(scale) < 0:  # mirrored: what was outside stays outside
        faces = faces[:, ::-1]
    return Triangles(_frozen(vertices * scale), _frozen(faces))


def _frozen(array: Any) -> Any:
    array = np.array(array)
    array.setflags(write=False)
    return array


def _drawn(shape: Any) -> SimpleMesh:
    """The mesh that a shape is drawn as."""
    if isinstance(shape, Triangles):
        return SimpleMesh(shape.vertices, shape.faces)
    if isinstance(shape, Points):
        return _octahedra(shape)
    if isinstance(shape, HeightField):
        return _ground(shape)
    if isinstance(shape, HalfSpace):
        mesh = mesh_of(Box((SHOWN_HALF_SPACE, SHOWN_HALF_SPACE, 0.01)))
        mesh.apply_translation([0.0, 0.0, -0.005])
    else:
        mesh = mesh_of(shape)
    return SimpleMesh(np.asarray(mesh.vertices, np.float64), np.asarray(mesh.faces, np.int64))


_SOLIDS = (*(Box, Sphere, Cylinder, Capsule, Ellipsoid, HalfSpace, Triangles, HeightField, Points),)


def _ground(field: HeightField) -> SimpleMesh:
    """The closed mesh of a height field, or of some of the corners of one that has very many."""
    shown = [
        np.unique(np.append(np.arange(0, k, -(-k // SHOWN_CORNERS)), k - 1))
        for k in field.heights.shape
    ]
    top = field.corners()[np.ix_(*shown)]
    m, n = top.shape[:2]
    number = np.arange(m * n).reshape(m, n)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    above = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)]).reshape(-1, 3)
    rim = np.concatenate([number[:-1, 0], number[-1, :-1], number[:0:-1, -1], number[0, :0:-1]])
    after = np.roll(rim, -1)
    walls = [
        np.stack([after, rim, rim + m * n], -1),
        np.stack([after, rim + m * n, after + m * n], -1),
    ]
    below = top.copy()
    below[..., 2] = field.bottom
    return SimpleMesh(
        np.concatenate([top.reshape(-1, 3), below.reshape(-1, 3)]),
        np.concatenate([above, above[:, ::-1] + m * n, *walls]),
    )


_CORNERS = np.vstack([np.eye(3), -np.eye(3)])
_SIDES = np.array(
    [[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]]
)


def _octahedra(cloud: Points) -> SimpleMesh:
    """An octahedron at each point, or at some of very many."""
    points = cloud.points[:: -(-len(cloud.points) // SHOWN_POINTS)]
    corners = points[:, None] + (cloud.radius or _POINT_RADIUS) * _CORNERS
    faces = _SIDES + 6 * np.arange(len(points))[:, None, None]
    return SimpleMesh(corners.reshape(-1, 3), faces.reshape(-1, 3))


# --- YAML -----------------------------------------------------------------------------------------


def _text_of(source: Any, longest: int) -> tuple[str, str]:
    """A scene as text, and its file: '' for a text that is given."""
    if isinstance(source, str) and "\n" in source:
        return source, ""
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(
            "a scene is read from a file's path or a text of several lines, not from "
            f"{type(source).__name__}"
        )
    file = os.fspath(source)
    return bytes_of_file(file, longest).decode(errors="replace"), file


def _entry(each: SceneObject, folder: Path | None) -> list[str]:
    """The lines of an obstacle; files in the folder are named from there."""
    lines = [f"name: {yaml.quoted(each.name)}", _shape_text(each, folder)]
    p, wxyz = xyz_wxyz(each.T_world_object)
    if np.any(p):
        lines.append(f"xyz: {_row(p)}")
    if np.any(wxyz != (1.0, 0.0, 0.0, 0.0)):
        lines.append(f"wxyz: {_row(wxyz)}")
    if each.rgba is not None:
        lines.append(f"rgba: {_row(each.rgba)}")
    return lines


def _names(names: list[str]) -> str:
    return "[" + ", ".join(yaml.quoted(name) for name in names) + "]"


def _row(numbers: Any) -> str:
    return "[" + ", ".join(as_real(number) for number in numbers) + "]"


def _rows(rows: Any) -> str:
    return "[" + ", ".join(_row(row) for row in rows) + "]"


def _shape_text(each: SceneObject, folder: Path | None) -> str:
    """The line that says what shape an obstacle has."""
    shape = each.shape
    if isinstance(shape, Box):
        text = f"box: {_row(shape.size)}"
    elif isinstance(shape, Sphere):
        text = f"sphere: {as_real(shape.radius)}"
    elif isinstance(shape, Ellipsoid):
        text = f"ellipsoid: {_row(shape.radii)}"
    elif isinstance(shape, HalfSpace):
        text = "half_space: true"
    elif isinstance(shape, Points):
        text = f"points: {{radius: {as_real(shape.radius)}, xyz: {_rows(shape.points)}}}"
    elif isinstance(shape, HeightField):
        sides = f"size: {_row(shape.size)}, depth: {as_real(shape.depth)}"
        text = f"height_field: {{{sides}, heights: {_rows(shape.heights)}}}"
    elif isinstance(shape, Triangles):
        if each.file is not None:
            path = Path(each.file.names[0])
            if folder is not None and folder in path.parents:
                path = path.relative_to(folder)
            name = yaml.quoted(path.as_posix())
            text = f"mesh: {{file: {name}, scale: {_row(each.file.scale)}}}"
        else:
            faces = shape.faces.tolist()
            text = f"mesh: {{vertices: {_rows(shape.vertices)}, faces: {faces}}}"
    else:
        kind = "capsule" if isinstance(shape, Capsule) else "cylinder"
        sizes = f"radius: {as_real(shape.radius)}, length: {as_real(shape.length)}"
        text = f"{kind}: {{{sizes}}}"
    return text


_SHAPES = (
    *("box", "sphere", "cylinder", "capsule", "ellipsoid", "half_space", "mesh", "points"),
    "height_field",
)


class _Reader(Fields):
    """Obstacles of a YAML file, one by one; what is wrong is said with its line."""

    def __init__(self, file: str, allow: Folders) -> None:
        super().__init__(file)
        self.allow = allow

    def fail(self, node: yaml.Node | None, why: str) -> NoReturn:
        """Refuse what stands at a node.

        Raises: InputError.
        """
        line = f":{node.line}" if node is not None and node.line else ""
        raise InputError(f"{self.file or 'scene'}{line}: {why}") from None

    def add(self, scene: Scene, node: yaml.Node) -> None:
        """Add the obstacle of one entry."""
        given = self.mapping(node, "objects")
        self.known(node, ("name", *_SHAPES, "xyz", "rpy", "wxyz", "rgba", "allow"), "an object")
        name = self.text(given.get("name"), "the name of an object", at=node)
        kinds = [kind for kind in _SHAPES if kind in given]
        if len(kinds) != 1:
            had = f"has {' and '.join(kinds)}" if kinds else "has none"
            self.fail(node, f"'{name}' needs one shape of {', '.join(_SHAPES)}; it {had}")
        values = {key: value.plain() for key, value in given.items()}
        turns = {key: values[key] for key in ("rpy", "wxyz") if key in values}
        try:
            T = pose_of(values.get("xyz", (0.0, 0.0, 0.0)), **turns)
            self._shape(scene, name, kinds[0], given[kinds[0]], {"pose": T})
            scene.recolor(name, values.get("rgba", scene.get(name).rgba))
            scene.allow(name, *self.texts(given.get("allow"), "allow"))
        except InputError as error:
            if str(error).startswith(f"{self.file or 'scene'}:"):
                raise  # which says where already
            self.fail(node, str(error))

    def _shape(
        self, scene: Scene, name: str, kind: str, node: yaml.Node, at: dict[str, Any]
    ) -> None:
        value = node.plain()
        if kind in ("box", "sphere", "ellipsoid"):
            getattr(scene, f"add_{kind}")(name, value, **at)
        elif kind == "half_space":
            if value is not True:
                self.fail(node, f"half_space is true, not {value!r:.60}")
            scene.add_half_space(name, **at)
        elif kind in ("cylinder", "capsule"):
            fields = self._fields(node, kind, ("radius", "length"))
            sizes = (fields.get("radius"), fields.get("length"))
            getattr(scene, f"add_{kind}")(name, *sizes, **at)
        elif kind == "points":
            fields = self._fields(node, kind, ("xyz", "radius"))
            scene.add_points(name, fields.get("xyz", []), radius=fields.get("radius", 0.0), **at)
        elif kind == "height_field":
            fields = self._fields(node, kind, ("heights", "size", "depth"))
            depth = fields.get("depth", 1.0)
            given = fields.get("heights", []), fields.get("size", [])
            scene.add_height_field(name, *given, depth=depth, **at)
        else:
            self._mesh(scene, name, node, at)

    def add_part(self, scene: Scene, part: moveit_scene.Part) -> None:
        """Add a shape of MoveIt's scene.

        Raises: InputError.
        """
        at: dict[str, Any] = {"pose": part.T_world_part, "rgba": part.rgba}
        if part.kind == "box":
            scene.add_box(part.name, part.sizes, **at)
        elif part.kind == "sphere":
            scene.add_sphere(part.name, *part.sizes, **at)
        elif part.kind == "cylinder":
            scene.add_cylinder(part.name, *part.sizes, **at)
        elif part.kind == "half_space":
            scene.add_half_space(part.name, **at)
        elif part.mesh is not None:
            scene.add_mesh(part.name, part.mesh, **at)
        else:
            path = locate(part.file, self.file or None, self.allow)
            scene.add_mesh(part.name, path, scale=part.sizes, **at)

    def _mesh(self, scene: Scene, name: str, node: yaml.Node, at: dict[str, Any]) -> None:
        fields = self._fields(node, "mesh", ("file", "scale", "vertices", "faces"))
        scale = fields.get("scale", (1.0, 1.0, 1.0))
        if "file" not in fields:
            mesh = fields.get("vertices"), fields.get("faces")
            scene.add_mesh(name, mesh, scale=scale, **at)
            return
        written = self.text(node.value["file"], "the file of a mesh")
        path = locate(written, self.file or None, self.allow)
        scene.add_mesh(name, path, scale=scale, **at)

    def _fields(self, node: yaml.Node, kind: str, names: tuple[str, ...]) -> dict[str, Any]:
        self.mapping(node, kind)
        self.known(node, names, kind)
        return node.plain()
