"""Scenes as MoveIt writes them: its ``.scene`` text, and its message PlanningScene as YAML.

The text is a name, then of each object ``* name``, its pose, the number of its shapes, each with
its kind, sizes, pose and colour, and its subframes; ``.`` ends it. In the older form an object has
neither pose nor subframes. The YAML is the message with its own names, as tools of ROS print it;
vectors may be lists and kinds words, as MotionBenchMaker's files have them.

Subframes, the robot's state and what the allowed collision matrix says of two links are not of the
scene, and left alone. What a scene would need and cannot hold is refused.

Source: github.com/moveit/moveit, moveit_core/planning_scene/src/planning_scene.cpp
(loadGeometryFromStream), and moveit_msgs/PlanningScene, CollisionObject, shape_msgs/SolidPrimitive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.formats.loops import Fields
from linkwork.formats.urdf.records import Rgba
from linkwork.formats.yaml import Node, parse
from linkwork.ops.numpy import NUMPY
from linkwork.spatial.poses import pose_matrix
from linkwork.spatial.rotations import align_z, from_quaternion

Floats = NDArray[np.float64]

LONGEST_FILE = 100_000_000
"""The most characters of a ``.scene`` file; a YAML is as short as any (`formats.yaml`)."""

CONE_SIDES = 64
"""Sides of the hull around a cone: its base reaches 0.13 % of the radius too far at corners."""


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """One shape of an object: box (x, y, z), sphere (r), cylinder (r, length), half-space, mesh.

    A mesh is vertices (n, 3) and faces (k, 3), or a ``file`` with ``sizes`` as its scale. ``name``
    is the object's, with the number of the shape behind it where it has several.
    """

    object: str
    name: str
    kind: Literal["box", "sphere", "cylinder", "half_space", "mesh"]
    sizes: tuple[float, ...]
    T_world_part: Floats
    line: int
    rgba: Rgba | None = None
    mesh: tuple[Floats, NDArray[np.int64]] | None = None
    file: str = ""


@dataclass(frozen=True, slots=True)
class MoveItScene:
    """The shapes of a file, and for each object what its matrix allows to touch it."""

    parts: tuple[Part, ...]
    allowed: dict[str, tuple[str, ...]] = field(default_factory=dict)


def read(text: str, file: str = "", world: str = "world") -> MoveItScene:
    """The scene of a text in either form; ``world`` is the frame that poses are asked in.

    Raises: InputError with the line of what is wrong; UnsupportedFeatureError.
    """
    lines = text.removesuffix("\n").split("\n")  # names may have other characters that end lines
    if any(line.startswith("*") or line.strip() == "." for line in lines):
        return _Text(lines, file).scene()
    return _Message(file, world).scene(parse(text, file))


@dataclass
class _Shape:
    """A shape before its object has all of them; ``T`` is its pose in the object."""

    kind: Any
    sizes: tuple[float, ...]
    line: int
    T: Floats = field(default_factory=lambda: np.eye(4))
    rgba: Rgba | None = None
    mesh: Any = None
    file: str = ""


def _parts(name: str, T_world_object: Floats, shapes: Sequence[_Shape]) -> list[Part]:
    """The parts of an object."""
    found: list[Part] = []
    for k, each in enumerate(shapes, 1):
        label = name if len(shapes) == 1 else f"{name}.{k}"
        T = T_world_object @ each.T
        found.append(
            Part(name, label, each.kind, each.sizes, T, each.line, each.rgba, each.mesh, each.file)
        )
    return found


def _cone(radius: float, length: float, line: int) -> _Shape:
    """The hull of a regular pyramid around a cone whose tip is at z = length / 2."""
    angles = 2 * np.pi * np.arange(CONE_SIDES) / CONE_SIDES
    reach = radius / math.cos(math.pi / CONE_SIDES)
    rim = np.stack([reach * np.cos(angles), reach * np.sin(angles), 0 * angles - length / 2], -1)
    corners = np.vstack([rim, [[0.0, 0.0, -length / 2], [0.0, 0.0, length / 2]]])
    k = np.arange(CONE_SIDES)
    after, base, tip = (k + 1) % CONE_SIDES, 0 * k + CONE_SIDES, 0 * k + CONE_SIDES + 1
    faces = np.vstack([np.stack([k, after, tip], -1), np.stack([after, k, base], -1)])
    return _Shape("mesh", (), line, mesh=(corners, faces))


def _plane(a: float, b: float, c: float, d: float, line: int) -> _Shape | None:
    """The half-space below the plane a x + b y + c z + d = 0; None where there is no normal."""
    size = math.hypot(a, b, c)
    if size == 0:
        return None
    normal = np.array([a, b, c]) / size
    return _Shape("half_space", (), line, pose_matrix(align_z(normal), -d / size * normal))


def _pose(p: Sequence[float], xyzw: Sequence[float]) -> Floats | None:
    """The pose (4, 4) of a position and a quaternion of any length; None where that is zero."""
    size = math.hypot(*xyzw)
    if size == 0:
        return None
    x, y, z, w = (each / size for each in xyzw)
    return pose_matrix(from_quaternion(NUMPY, (w, x, y, z)), p)


# --- the text -------------------------------------------------------------------------------------


class _Text:
    """Takes a ``.scene`` text apart, word by word."""

    def __init__(self, lines: list[str], file: str) -> None:
        self.lines, self.file = lines, file
        self.row, self.words = 0, []

    def fail(self, why: str) -> NoReturn:
        """Refuse what was read last.

        Raises: InputError.
        """
        raise InputError(f"{self.file or 'scene'}:{min(self.row, len(self.lines))}: {why}")

    def word(self, what: str) -> str:
        """The next word."""
        while not self.words:
            if self.row == len(self.lines):
                self.fail(f"the text ends where {what} is needed; a scene ends with '.'")
            self.words = self.lines[self.row].split()[::-1]
            self.row += 1
        return self.words.pop()

    def rest(self) -> str:
        """The rest of the line that is being read, with its blanks."""
        if not self.words:
            return ""
        line = self.lines[self.row - 1]
        taken = len(line.split()) - len(self.words)
        self.words = []
        return line.split(maxsplit=taken)[-1].strip()

    def numbers(self, count: int, what: str) -> list[float]:
        """The next numbers."""
        found: list[float] = []
        for _ in range(count):
            word = self.word(what)
            try:
                found.append(float(word.replace("_", "?")))  # 1_0 is ten to Python alone
            except ValueError:
                self.fail(f"{what} must be {count} numbers, and one of them is '{word:.40}'")
            if not math.isfinite(found[-1]):
                self.fail(f"{what} must be finite, not {word:.40}")
        return found

    def count(self, what: str) -> int:
        """The next whole number, which is not negative."""
        word = self.word(what)
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            self.fail(f"{what} must be a whole number, not '{word:.40}'")
        return int(word)

    def pose(self, what: str) -> Floats:
        """The next pose."""
        p = self.numbers(3, f"the position of {what}")
        T = _pose(p, self.numbers(4, f"the rotation x y z w of {what}"))
        if T is None:
            self.fail(f"the rotation of {what} is 0 0 0 0, which is none")
        return T

    def scene(self) -> MoveItScene:
        """The scene."""
        self.row = 1  # the first line is its name
        starts = [k for k, line in enumerate(self.lines) if k and line.startswith("*")]
        second = self.lines[starts[0] + 1] if starts and starts[0] + 1 < len(self.lines) else ""
        posed = len(second.split()) > 1
        found: list[Part] = []
        names: set[str] = set()
        while (mark := self.word("'* name' of an object")) != ".":
            if mark != "*":
                self.fail(f"an object begins with '* name', not with '{mark:.40}'")
            name = self.rest()
            if not name or name in names:
                self.fail(
                    f"there are two objects '{name:.60}'" if name else "an object has no name"
                )
            names.add(name)
            found += self.object(name, posed)
        return MoveItScene(tuple(found))

    def object(self, name: str, posed: bool) -> list[Part]:
        """The parts of an object whose name has been read."""
        T = self.pose(f"'{name:.60}'") if posed else np.eye(4)
        shapes: list[_Shape] = []
        for _ in range(self.count(f"the number of shapes of '{name:.60}'")):
            shape = self.shape(name)
            shape.T = self.pose(f"a shape of '{name:.60}'") @ shape.T
            color = self.numbers(4, f"the colour of '{name:.60}'")
            shape.rgba = (color[0], color[1], color[2], color[3]) if any(color) else None
            shapes.append(shape)
        if posed:
            for _ in range(self.count(f"the number of subframes of '{name:.60}'")):
                self.pose(f"subframe '{self.word('the name of a subframe'):.60}'")
        return _parts(name, T, shapes)

    def shape(self, name: str) -> _Shape:
        """The next shape."""
        kind = self.word(f"a shape of '{name:.60}'")
        line, what = self.row, f"the {kind:.20} of '{name:.60}'"
        if kind in ("box", "sphere", "cylinder"):
            count = {"box": 3, "sphere": 1, "cylinder": 2}[kind]
            return _Shape(kind, tuple(self.numbers(count, what)), line)
        if kind == "cone":
            radius, length = self.numbers(2, what)
            if min(radius, length) <= 0:
                self.fail(f"{what} must have lengths above 0 m, not {radius:g} and {length:g}")
            return _cone(radius, length, line)
        if kind == "plane":
            a, b, c, d = self.numbers(4, what)
            found = _plane(a, b, c, d, line)
            return found or self.fail(f"the normal of {what} is 0 0 0, which is none")
        if kind == "mesh":
            return self.mesh(what, line)
        why = f"a shape is box, sphere, cylinder, cone, plane or mesh, not '{kind:.40}'"
        if kind == "octree":
            raise UnsupportedFeatureError(f"{self.file or 'scene'}:{line}: octrees are not read")
        self.fail(why)

    def mesh(self, what: str, line: int) -> _Shape:
        """The next mesh, whose kind has been read."""
        n, k = self.count(f"the vertices of {what}"), self.count(f"the triangles of {what}")
        if n + k > sum(map(len, self.lines)):
            self.fail(f"{what} has {n} vertices and {k} triangles, more than the text")
        vertices = np.array([self.numbers(3, f"a vertex of {what}") for _ in range(n)])
        faces = [[self.count(f"a triangle of {what}") for _ in range(3)] for _ in range(k)]
        return _Shape("mesh", (), line, mesh=(vertices, np.array(faces, np.int64)))


# --- the message ----------------------------------------------------------------------------------

_KINDS: dict[Any, str] = {
    **{1: "box", 2: "sphere", 3: "cylinder", 4: "cone"},
    **{name: name for name in ("box", "sphere", "cylinder", "cone")},
}
_LENGTHS = {"box": 3, "sphere": 1, "cylinder": 2, "cone": 2}


class _Message(Fields):
    """Takes a message PlanningScene apart."""

    def __init__(self, file: str, world: str) -> None:
        super().__init__(file)
        self.frames = {name: np.eye(4) for name in ("", world)}
        self.world = world

    def fail(self, node: Node | None, why: str) -> NoReturn:
        """Refuse what stands at a node.

        Raises: InputError.
        """
        raise InputError(f"{self._place(node)}: {why}") from None

    def refuse(self, node: Node, why: str) -> NoReturn:
        """Refuse what is right and not read.

        Raises: UnsupportedFeatureError.
        """
        raise UnsupportedFeatureError(f"{self._place(node)}: {why}")

    def _place(self, node: Node | None) -> str:
        line = f":{node.line}" if node is not None and node.line else ""
        return f"{self.file or 'scene'}{line}"

    def entries(self, node: Node | None, what: str) -> dict[str, Node]:
        """The entries of a mapping; none where there is nothing."""
        return {} if node is None or node.value is None else self.mapping(node, what)

    def vector(self, node: Node | None, what: str, names: str, default: str) -> list[float]:
        """Numbers as a list or by their names; those that are not there have their defaults."""
        if node is None or node.value is None:
            return [float(each) for each in default.split()]
        if isinstance(node.value, dict):
            given = self.mapping(node, what)
            self.known(node, tuple(names), what)
            pairs = zip(names, default.split(), strict=True)
            return [
                self.number(given.get(key), what) if key in given else float(other)
                for key, other in pairs
            ]
        items = self.listed(node, what)
        if len(items) != len(names):
            self.fail(node, f"{what} must be {len(names)} numbers, not {len(items)}")
        return [self.number(item, what) for item in items]

    def pose(
        self, node: Node | None, what: str, p: str = "position", q: str = "orientation"
    ) -> Floats:
        """A pose, none being the identity; its parts are called ``p`` and ``q``."""
        given = self.entries(node, what)
        xyzw = self.vector(given.get(q), f"{q} of {what}", "xyzw", "0 0 0 1")
        T = _pose(self.vector(given.get(p), f"{p} of {what}", "xyz", "0 0 0"), xyzw)
        if T is None:
            self.fail(given.get(q), f"the {q} of {what} is 0 0 0 0, which is no rotation")
        return T

    def scene(self, root: Node) -> MoveItScene:
        """The scene."""
        given = self.mapping(root, "a planning scene")
        if "world" not in given:
            self.fail(
                root, "a planning scene has 'world' with 'collision_objects'; it is not there"
            )
        self.check_left_out(given)
        self.read_frames(given)
        colors = {
            self.text(each.value.get("id"), "the id of a colour", at=each): self.color(each)
            for each in self.listed(given.get("object_colors"), "object_colors")
            if self.mapping(each, "object_colors")
        }
        world = self.entries(given["world"], "world")
        octomap = self.entries(
            self.entries(world.get("octomap"), "octomap").get("octomap"), "octomap"
        )
        if octomap.get("data") is not None and octomap["data"].value:
            self.refuse(octomap["data"], "octomaps are not read; give their points by add_points")
        found: list[Part] = []
        names: set[str] = set()
        for node in self.listed(world.get("collision_objects"), "collision_objects"):
            parts = self.object(node, colors)
            if parts and parts[0].object in names:
                self.fail(node, f"there are two objects '{parts[0].object:.60}'")
            names.update(part.object for part in parts)
            found += parts
        return MoveItScene(tuple(found), self.allowed(given, names))

    def check_left_out(self, given: dict[str, Node]) -> None:
        """Refuse what changes who touches whom, and is not read."""
        state = self.entries(given.get("robot_state"), "robot_state")
        held = state.get("attached_collision_objects")
        if self.listed(held, "attached_collision_objects") and held is not None:
            self.refuse(held, "objects that the robot holds are not read; attach them to the robot")
        for key, plain in (("link_padding", 0.0), ("link_scale", 1.0)):
            for each in self.listed(given.get(key), key):
                value = self.mapping(each, key).get(key.removeprefix("link_"))
                if value is not None and self.number(value, key) != plain:
                    self.refuse(each, f"{key} other than {plain:g} is not read")

    def read_frames(self, given: dict[str, Node]) -> None:
        """Keep the frames that the scene itself places in the world."""
        for each in self.listed(given.get("fixed_frame_transforms"), "fixed_frame_transforms"):
            entry = self.mapping(each, "fixed_frame_transforms")
            child = entry.get("child_frame_id")
            T = self.pose(entry.get("transform"), "transform", "translation", "rotation")
            frame = self.frame(entry, self.world)
            base = self.frames.get(frame)
            if base is None and np.array_equal(T, np.eye(4)):
                base = self.frames.setdefault(frame, np.eye(4))  # the robot's own root
            if child is not None and child.value and base is not None:
                self.frames.setdefault(self.text(child, "child_frame_id"), base @ T)

    def frame(self, entry: dict[str, Node], default: str) -> str:
        """The frame in the header of an entry."""
        named = self.entries(entry.get("header"), "header").get("frame_id")
        return default if named is None or not named.value else self.text(named, "frame_id")

    def color(self, node: Node) -> Rgba:
        """The colour of an entry of object_colors."""
        given = self.mapping(node, "object_colors").get("color")
        r, g, b, a = self.vector(given, "color", "rgba", "0 0 0 1")
        return (r, g, b, a)

    def object(self, node: Node, colors: dict[str, Rgba]) -> list[Part]:
        """The parts of an object."""
        given = self.mapping(node, "collision_objects")
        name = self.text(given.get("id"), "the id of an object", at=node)
        operation = given.get("operation")  # a byte, which tools of ROS 2 print as a text
        if operation is not None and operation.value not in (0, "\0", "add"):
            self.refuse(
                operation, f"'{name:.60}' is not added but operation {operation.value!r:.20}"
            )
        frame = self.frame(given, "")
        if frame not in self.frames:
            known = ", ".join(f"'{each}'" for each in self.frames if each)
            why = f"'{name:.60}' stands in frame '{frame:.60}', and only {known} are placed"
            self.fail(
                node, f"{why}; if the robot's poses are in that frame, give world='{frame:.60}'"
            )
        T = self.frames[frame] @ self.pose(given.get("pose"), f"'{name:.60}'")
        shapes: list[_Shape] = []
        for key, poses in (
            ("primitives", "primitive_poses"),
            ("meshes", "mesh_poses"),
            ("planes", "plane_poses"),
        ):
            items = self.listed(given.get(key), f"{key} of '{name:.60}'")
            places = self.listed(given.get(poses), f"{poses} of '{name:.60}'")
            if places and len(places) != len(items):
                why = f"'{name:.60}' has {len(items)} {key} and {len(places)} {poses}"
                self.fail(given[poses], why)
            for k, item in enumerate(items):
                shape = getattr(self, f"shape_of_{key}")(item, name)
                if places:
                    shape.T = self.pose(places[k], f"a shape of '{name:.60}'") @ shape.T
                shape.rgba = colors.get(name)
                shapes.append(shape)
        return _parts(name, T, shapes)

    def shape_of_primitives(self, node: Node, name: str) -> _Shape:
        """The shape of a SolidPrimitive."""
        given = self.mapping(node, f"primitives of '{name:.60}'")
        written = given.get("type")
        value = None if written is None else written.value
        kind = _KINDS.get(value) if isinstance(value, (int, str)) and value is not True else None
        if kind is None:
            why = f"a primitive of '{name:.60}' is box (1), sphere (2), cylinder (3) or cone (4)"
            self.fail(written or node, f"{why}, not {value!r:.40}")
        items = self.listed(given.get("dimensions"), f"dimensions of '{name:.60}'")
        sizes = tuple(self.number(item, f"dimensions of '{name:.60}'") for item in items)
        if len(sizes) != _LENGTHS[kind]:
            why = f"a {kind} has {_LENGTHS[kind]} dimensions; this of '{name:.60}' has {len(sizes)}"
            self.fail(given.get("dimensions") or node, why)
        if kind in ("cylinder", "cone"):
            sizes = (sizes[1], sizes[0])  # the message has the height first
        if kind != "cone":
            return _Shape(kind, sizes, node.line)
        if min(sizes) <= 0:
            self.fail(node, f"the cone of '{name:.60}' must have lengths above 0 m")
        return _cone(*sizes, line=node.line)

    def shape_of_planes(self, node: Node, name: str) -> _Shape:
        """The shape of a Plane."""
        given = self.mapping(node, f"planes of '{name:.60}'")
        items = self.listed(given.get("coef"), f"coef of a plane of '{name:.60}'")
        if len(items) != 4:
            self.fail(node, f"a plane of '{name:.60}' has four numbers 'coef', not {len(items)}")
        a, b, c, d = (self.number(item, "coef") for item in items)
        found = _plane(a, b, c, d, node.line)
        return found or self.fail(
            node, f"the normal of a plane of '{name:.60}' is 0, which is none"
        )

    def shape_of_meshes(self, node: Node, name: str) -> _Shape:
        """The shape of a Mesh, or of a file named as its ``resource``."""
        given = self.mapping(node, f"meshes of '{name:.60}'")
        if "resource" in given:
            scale = self.vector(given.get("dimensions"), "dimensions of a mesh", "xyz", "1 1 1")
            path = self.text(given["resource"], "resource of a mesh")
            return _Shape("mesh", tuple(scale), node.line, file=path)
        vertices = [
            self.vector(each, f"a vertex of '{name:.60}'", "xyz", "0 0 0")
            for each in self.listed(given.get("vertices"), "vertices")
        ]
        faces: list[list[int]] = []
        for each in self.listed(given.get("triangles"), "triangles"):
            inner = each.value.get("vertex_indices") if isinstance(each.value, dict) else each
            items = self.listed(inner, f"a triangle of '{name:.60}'")
            if len(items) != 3 or not all(type(item.value) is int for item in items):
                self.fail(each, f"a triangle of '{name:.60}' has three numbers of vertices")
            faces.append([item.value for item in items])
        mesh = np.array(vertices).reshape(-1, 3), np.array(faces, np.int64).reshape(-1, 3)
        return _Shape("mesh", (), node.line, mesh=mesh)

    def allowed(self, given: dict[str, Node], objects: set[str]) -> dict[str, tuple[str, ...]]:
        """The names that the allowed collision matrix lets touch each object."""
        node = given.get("allowed_collision_matrix")
        matrix = self.entries(node, "allowed_collision_matrix")
        names = self.texts(matrix.get("entry_names"), "entry_names")
        rows = self.listed(matrix.get("entry_values"), "entry_values")
        if len(rows) != len(names):
            self.fail(node, f"{len(names)} entry_names and {len(rows)} entry_values do not fit")
        found: dict[str, tuple[str, ...]] = {}
        for name, row in zip(names, rows, strict=True):
            inner = row.value.get("enabled") if isinstance(row.value, dict) else row
            values = self.listed(inner, f"the values of '{name:.60}'")
            if len(values) != len(names):
                self.fail(
                    row, f"'{name:.60}' has {len(values)} values for {len(names)} entry_names"
                )
            for other, value in zip(names, values, strict=True):
                if value.value not in (True, False, 0, 1):
                    self.fail(
                        value, f"a value of the matrix is true or false, not {value.value!r:.40}"
                    )
                if value.value and name in objects and other != name:
                    found[name] = (*found.get(name, ()), other)
        defaults = self.texts(matrix.get("default_entry_names"), "default_entry_names")
        values = self.listed(matrix.get("default_entry_values"), "default_entry_values")
        for name, value in zip(defaults, values, strict=False):
            if value.value and name in objects:
                self.refuse(value, f"'{name:.60}' may touch everything by default: name what may")
        return found
