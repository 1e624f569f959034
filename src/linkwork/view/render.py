"""Shaded pictures and films of a robot, made without a display and without a GPU.

Triangles become samples in native code (`raster`); light, shadow and colour are computed for the
samples that are seen, with NumPy. Pictures are written with Pillow, films (.mp4) with PyAV: extra
``render``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import settings
from linkwork.atomic import write_bytes
from linkwork.checks import finite_number, finite_rows, whole_number
from linkwork.compile.threads import in_parallel
from linkwork.errors import InputError, MissingExtraError, ShapeError
from linkwork.locating import Folders
from linkwork.mechanism.named_positions import labels
from linkwork.mechanism.neutral import neutral
from linkwork.view.camera import View
from linkwork.view.camera import camera as direction_of
from linkwork.view.model import Kind, ViewModel, view_model
from linkwork.view.motion import motion
from linkwork.view.raster import Samples, rasterised
from linkwork.view.strokes import Posture

if TYPE_CHECKING:
    from linkwork.robot import Robot

Floats = NDArray[np.float64]
Singles = NDArray[Any]
"""float32: pictures need no more, and it is half of the work."""

ENDINGS = (".png", ".gif", ".mp4")
_FINE = {True: 3, False: 2}
"""Samples a pixel, each way: of a picture, of a film."""
_OPENING = np.tan(np.radians(14.0))
"""Half the height of the picture, at a distance of 1."""
_CREASE = np.cos(np.radians(35.0))
_MARGIN = 0.07
_GREY = (0.74, 0.76, 0.79)
_BAR, _JOINT, _ROD = (0.36, 0.40, 0.46), (0.0, 0.447, 0.698), (0.835, 0.369, 0.0)
_AXES = ((0.80, 0.16, 0.16), (0.13, 0.58, 0.22), (0.13, 0.34, 0.80))
_OBSTACLE = (0.62, 0.66, 0.60)
_LONGEST = 3_000  # frames of a film
_MAP = 1024  # samples of a shadow, each way


@dataclass(frozen=True, eq=False)
class Rendered:
    """What was written: the file, how many frames and seconds, and what could not be shown.

    `pixels` says where points of space are in it.
    """

    path: Path
    size: tuple[int, int]
    n_frames: int
    duration: float
    messages: tuple[str, ...]
    camera: Perspective

    def pixels(self, points: ArrayLike) -> Floats:
        """Points of the world (..., 3), m, in the picture (..., 2): x to the right, y downward."""
        return self.camera.seen(np.asarray(points, np.float64))[..., :2]

    def _repr_mimebundle_(self, **_which: Any) -> dict[str, Any]:
        from base64 import b64encode  # noqa: PLC0415  notebooks alone need it

        if not self.path.exists():
            return {"text/plain": repr(self)}
        data = b64encode(self.path.read_bytes()).decode()
        if self.path.suffix.lower() == ".mp4":
            source = f"data:video/mp4;base64,{data}"
            return {"text/html": f'<video controls loop autoplay muted src="{source}"></video>'}
        kind = self.path.suffix.lower()[1:]
        return {f"image/{kind}": data} if kind == "png" else {
            "text/html": f'<img src="data:image/gif;base64,{data}">'
        }  # fmt: skip

    def __repr__(self) -> str:
        film = f", {self.n_frames} frames, {self.duration:.6g} s" if self.n_frames > 1 else ""
        told = "".join(f"\n  {message}" for message in self.messages)
        return f"Rendered('{self.path}', {self.size[0]} x {self.size[1]}{film}){told}"


class Perspective(NamedTuple):
    """A camera: where it stands, unit vectors (3,) to the right, up, back to it; its picture."""

    eye: Floats
    right: Floats
    up: Floats
    toward: Floats
    size: tuple[int, int]

    @property
    def scale(self) -> float:
        """Pixels for what is as large as its distance."""
        return self.size[1] / (2.0 * _OPENING)

    def seen(self, points: Floats) -> Floats:
        """x, y in pixels and the inverse of the distance along the view (1/m) of points (..., 3).

        What is not in front of the camera has an inverse distance of 0.
        """
        way = points - self.eye
        far = -(way @ self.toward)
        inverse = np.where(far > 1e-6, 1.0 / np.maximum(far, 1e-6), 0.0)
        x = 0.5 * self.size[0] + self.scale * (way @ self.right) * inverse
        y = 0.5 * self.size[1] - self.scale * (way @ self.up) * inverse
        return np.stack([x, y, inverse], axis=-1)

    def on_ground(self, floor: float) -> tuple[Singles, NDArray[np.bool_]]:
        """Where pixels see the ground at a height: x and y (h, w, 2), whether they do (h, w)."""
        x = (np.arange(self.size[0]) + 0.5 - 0.5 * self.size[0]) / self.scale
        y = (0.5 * self.size[1] - np.arange(self.size[1]) - 0.5) / self.scale
        flat = x[None, :, None] * self.right + y[:, None, None] * self.up
        rays = flat - self.toward  # of length 1 along the view
        down = floor - float(self.eye[2])
        steep = (rays[..., 2] < -1e-4) & (down < 0.0)
        away = down / np.where(steep, rays[..., 2], 1.0)
        at = self.eye[:2] + away[..., None] * rays[..., :2]
        return at.astype(np.float32), steep


class Mesh(NamedTuple):
    """Triangles of one colour: corners and normals of theirs (n, 3, 3), a colour (3,), 0 to 1."""

    corners: Singles
    normals: Singles
    rgb: tuple[float, float, float]

    def placed(self, T: Floats) -> Mesh:
        """The same at another place."""
        R = T[:3, :3].astype(np.float32)
        moved = self.corners @ R.T + T[:3, 3].astype(np.float32)
        return Mesh(moved, self.normals @ R.T, self.rgb)


def render(  # noqa: PLR0913  all but three are named options
    robot: Robot,
    path: str | os.PathLike[str],
    q: ArrayLike | None = None,
    *,
    trajectory: Any = None,
    times: ArrayLike | None = None,
    scene: Any = None,
    size: tuple[int, int] = (960, 720),
    view: View = "auto",
    fps: float = 30.0,
    kinds: Sequence[Kind] = ("visual",),
    frames: str | Sequence[str] = (),
    background: str | tuple[float, float, float] | None = "#f4f6f8",
    allow: Folders = (),
) -> Rendered:
    """A shaded picture (.png) of a robot at q (nq,), by default neutral, or a film (.gif, .mp4).

    A film shows a ``trajectory``: whatever `Robot.animate` takes, with its ``times`` (s), or
    without one every joint from limit to limit. ``view``: "front", "side", "top", "iso", degrees
    (azimuth, elevation) of where the viewer stands, or "auto", as of `Robot.plot`. ``size`` (w, h)
    in pixels, ``fps`` pictures a second. ``kinds``: "visual", "collision"; without any shape the
    skeleton is shown. ``frames`` are shown as axes, x red, y green, z blue. ``scene``: obstacles.
    ``background``: a colour, "#rrggbb" or three shares, or None for a picture that is transparent
    but for the robot and its shadow. ``allow``: folders that meshes may lie in. What could not be
    shown is named in ``messages`` of the result. The file is written whole or not at all.

    Raises: MissingExtraError without Pillow, or for .mp4 without PyAV; InputError, ShapeError,
    UnknownNameError.
    """
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{target.name}: a picture is written to .png, a film to .gif or .mp4")
    _needed(ending)
    wanted = _size(size, even=ending == ".mp4")
    ground = _colour(background)
    if ground is None and ending != ".png":
        raise InputError("background=None is for a .png: films are not transparent")
    rate = finite_number(fps, "fps", above=0.0, most=50.0 if ending == ".gif" else 240.0)
    q, instants = _states(robot, q, trajectory, times, ending, rate)
    made = _Stage(robot, kinds, frames, scene, allow)
    look = made.framed(q, view, wanted)
    images = made.pictures(q, look, ground)
    data, seconds = _WRITERS[ending](images, len(q), rate, instants)
    write_bytes(target, data)
    return Rendered(target, wanted, len(q), seconds, made.messages, look)


# --- what is asked for ---


def _needed(ending: str) -> None:
    try:
        import_module("PIL.Image")
        if ending == ".mp4":
            import_module("av")
    except ImportError as error:
        missing = "PyAV (av)" if (error.name or "").startswith("av") else "Pillow"
        raise MissingExtraError(
            f"render needs {missing} for {ending} files: pip install 'linkwork[render]'"
        ) from None


def _size(given: Any, *, even: bool) -> tuple[int, int]:
    if not (isinstance(given, Sequence) and len(given) == 2):
        raise InputError(f"size must be (width, height) in pixels, not {given!r:.40}")
    width, height = (
        whole_number(n, f"{what} of size", least=16, most=8192)
        for n, what in zip(given, ("width", "height"), strict=True)
    )
    if even and (width % 2 or height % 2):
        raise InputError(f"the size of an .mp4 must be even both ways, not {width} x {height}")
    return width, height


def _colour(given: Any) -> Floats | None:
    """A colour (3,), 0 to 1; None for none."""
    if given is None:
        return None
    if isinstance(given, str):
        digits = given.removeprefix("#")
        if len(digits) == 6 and all(c in "0123456789abcdefABCDEF" for c in digits):
            return np.array([int(digits[k : k + 2], 16) / 255.0 for k in (0, 2, 4)])
        if given == "white":
            return np.ones(3)
        raise InputError(f"background must be a colour like '#f4f6f8', not '{given:.40}'")
    rgb = finite_rows(given, "background", 3)
    if rgb.shape != (3,) or (rgb < 0.0).any() or (rgb > 1.0).any():
        raise InputError("background must be '#rrggbb', three shares from 0 to 1, or None")
    return rgb


def _states(
    robot: Robot, q: Any, trajectory: Any, times: Any, ending: str, fps: float
) -> tuple[Floats, Floats]:
    """The configurations (n, nq) to show, and their instants (n,), s."""
    if ending == ".png":
        if trajectory is not None or times is not None:
            raise InputError("a trajectory is shown by a film: write it to .gif or .mp4")
        names = labels(robot.mechanism, velocities=False)
        given = finite_rows(robot.neutral() if q is None else q, "q", robot.n_q, names)
        if given.ndim != 1:
            raise ShapeError(f"q must have shape ({robot.n_q},), not {given.shape}: one picture")
        return given[None], np.zeros(1)
    if q is not None:
        if trajectory is not None:
            raise InputError("a film shows a trajectory: leave out q")
        trajectory = q
    moving = motion(robot, trajectory, times=times)
    count = max(1, round(moving.duration * fps)) + 1
    if count > _LONGEST:
        raise InputError(
            f"{moving.duration:.6g} s at {fps:g} pictures a second are {count} pictures; at most "
            f"{_LONGEST} are made: lower fps"
        )
    instants = np.arange(count) / fps
    return moving.at(robot, np.minimum(instants, moving.duration)), instants


# --- what is shown ---


class _Stage:
    """A robot's shapes and what is around it, ready to be placed and seen."""

    def __init__(
        self, robot: Robot, kinds: Sequence[Kind], frames: Any, scene: Any, allow: Folders
    ) -> None:
        self._robot = robot
        self._model: ViewModel = view_model(robot, kinds, allow=allow)
        self.messages = self._model.messages
        self._shapes = [_mesh_of(self._model, k) for k in range(len(self._model.parts))]
        self._fixed = _obstacles(scene)
        self._frames = [robot.mechanism.frame(n) for n in _listed(frames)]
        self._extent = 0.0

    def framed(self, q: Floats, view: View, size: tuple[int, int]) -> Perspective:
        """The camera that has the robot in sight in all of these configurations."""
        some = q[np.unique(np.linspace(0, len(q) - 1, min(len(q), 24)).astype(int))]
        poses = self._robot.fk_all(some)
        self._extent = float(np.ptp(self._bones(poses[0]).reshape(-1, 3), axis=0).max())
        points = [self._points(each) for each in poses]
        everything = np.concatenate(points)
        self._extent = max(float(np.ptp(points[0], axis=0).max()), 1e-3)
        floor = float(np.min([each[:, 2].min() for each in points]))
        m = self._robot.mechanism
        anyhow = any(kind.has_quaternion for kind in m.body_joint_types)
        axes = None if anyhow else Posture(m, some[-1]).axes
        look = direction_of(view, axes, Posture(m, neutral(m)).points)
        made = _fitted(look.right, look.up, look.toward, everything, size)
        self._ground = _Ground(floor, *made.on_ground(floor))
        return made

    def pictures(
        self, q: Floats, look: Perspective, ground: Floats | None
    ) -> Iterator[NDArray[np.uint8]]:
        """Pictures (h, w, 3) of configurations (n, nq), or (h, w, 4) without a ground.

        As many at a time as there are threads.
        """
        film, threads = len(q) > 1, settings.most_threads()
        each = 1 if film else threads

        def picture(poses: Floats) -> NDArray[np.uint8]:
            meshes = [*self._meshes(poses), *self._fixed]
            return _Lit(meshes, look, self._ground, each).picture(ground, _FINE[not film])

        for k in range(0, len(q), threads):
            yield from in_parallel(picture, self._robot.fk_all(q[k : k + threads]), threads)

    def _meshes(self, poses: Floats) -> Iterator[Mesh]:
        """What is seen of the robot, where its frames have these poses (nf, 4, 4)."""
        model = self._model
        for part, mesh in zip(model.parts, self._shapes, strict=True):
            yield mesh.placed(poses[part.link] @ part.T_link_part)
        thick = 0.014 * self._extent
        if not self._shapes:
            for a, b in self._bones(poses):
                yield _bar(a, b, thick, _BAR)
            for mark in model.joints:
                T = poses[mark.link]
                at = T[:3, :3] @ np.array(mark.at) + T[:3, 3]
                if mark.axis is None:
                    yield _ball(at, 2.1 * thick, _JOINT)
                else:
                    way = 1.9 * thick * (T[:3, :3] @ np.array(mark.axis))
                    yield _bar(at - way, at + way, 1.8 * thick, _JOINT)
        for loop in model.loops:
            if loop.distance > 0.0 and self._shapes:
                ends = poses[[loop.frame_a, loop.frame_b], :3, 3]
                yield _bar(ends[0], ends[1], 0.7 * thick, _ROD)
        for frame in self._frames:
            at, R = poses[frame, :3, 3], poses[frame, :3, :3]
            for k, rgb in enumerate(_AXES):
                yield _bar(at, at + 0.14 * self._extent * R[:, k], 0.5 * thick, rgb)

    def _bones(self, poses: Floats) -> Floats:
        """The ends of the skeleton's lines (n, 2, 3)."""
        ends: list[Any] = [poses[:1, :3, 3].repeat(2, axis=0)]
        for s in self._model.segments:
            pair = ((s.link_a, s.p_a), (s.link_b, s.p_b))
            ends.append([poses[k, :3, :3] @ np.array(p) + poses[k, :3, 3] for k, p in pair])
        return np.array(ends)

    def _points(self, poses: Floats) -> Floats:
        """Points (n, 3) that are to be in sight."""
        meshes = [*self._meshes(poses), *self._fixed]
        boxes = [mesh.corners.reshape(-1, 3) for mesh in meshes if len(mesh.corners)]
        few = [points[:: max(1, len(points) // 400)] for points in boxes]
        corners = [p[i] for p in boxes for i in (p.argmin(axis=0), p.argmax(axis=0))]
        found = [*few, *corners] or [self._bones(poses).reshape(-1, 3)]
        return np.concatenate(found).astype(np.float64)


def _listed(names: Any) -> Sequence[str]:
    return (names,) if isinstance(names, str) else tuple(names)


def _obstacles(scene: Any) -> list[Mesh]:
    """The triangles of a `linkwork.Scene`, where they are."""
    if scene is None:
        return []
    if not hasattr(scene, "shown"):
        raise InputError(f"scene must be a linkwork.Scene, not {type(scene).__name__}")
    found: list[Mesh] = []
    for each in scene.shown():
        vertices = np.asarray(each.geometry.vertices, np.float32)
        faces = np.asarray(each.geometry.faces)
        red, green, blue = _OBSTACLE if each.rgba is None else each.rgba[:3]
        mesh = Mesh(
            vertices[faces.astype(np.int64)], corner_normals(vertices, faces), (red, green, blue)
        )
        found.append(mesh.placed(np.asarray(each.T_world_part)))
    return found


def _mesh_of(model: ViewModel, k: int) -> Mesh:
    """A part's triangles in its own frame."""
    part = model.parts[k]
    geometry = model.geometries[part.geometry]
    corners = geometry.vertices[geometry.faces.astype(np.int64)]
    rgb = _GREY if part.rgba is None else part.rgba[:3]
    if part.texture is not None:
        mean = model.textures[part.texture].mean
        rgb = tuple(float(a * b) for a, b in zip(rgb, mean[:3], strict=True))
    return Mesh(corners, corner_normals(geometry.vertices, geometry.faces), rgb)  # type: ignore[arg-type]


def corner_normals(vertices: Singles, faces: NDArray[Any]) -> Singles:
    """Normals (k, 3, 3) at the corners of triangles: smooth, but for edges sharper than 35 degrees.

    At each corner, the mean by area of the normals of the triangles that meet there and lie within
    35 degrees of the corner's own. Vertices at one place are one.
    """
    corners = vertices[faces.astype(np.int64)]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(areas, axis=1, keepdims=True)
    unit = areas / np.maximum(size, 1e-30)
    extent = max(float(np.ptp(vertices, axis=0).max(initial=0.0)), 1e-9) if len(vertices) else 1.0
    grid = np.round((vertices - vertices.min(axis=0, initial=np.inf)) / (1e-5 * extent))
    x, y, z = grid.astype(np.int64).T
    _, place = np.unique((x << 40) | (y << 20) | z, return_inverse=True)
    at = place.reshape(-1)[faces.astype(np.int64)].reshape(-1)
    order = np.argsort(at, kind="stable")
    at, face = at[order], order // 3
    total = areas[face].copy()
    left = np.arange(len(at))
    for apart in range(1, _MOST_MEETING):
        left = left[left + apart < len(at)]
        left = left[at[left] == at[left + apart]]
        if not len(left):
            break
        a, b = face[left], face[left + apart]
        smooth = (unit[a] * unit[b]).sum(axis=1) > _CREASE
        total[left[smooth]] += areas[b[smooth]]
        total[left[smooth] + apart] += areas[a[smooth]]
    normals = np.zeros_like(total)
    normals[order] = total
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    return normals.reshape(-1, 3, 3).astype(np.float32)


_MOST_MEETING = 24  # triangles at a vertex that are looked at: fans around a middle are flat


def _bar(a: Floats, b: Floats, radius: float, rgb: tuple[float, float, float]) -> Mesh:
    """A round bar between two points, with its ends closed."""
    way = b - a
    length = float(np.linalg.norm(way))
    if length < 1e-9:
        return _ball(a, radius, rgb)
    z = way / length
    x = np.cross(z, np.eye(3)[int(np.abs(z).argmin())])
    x /= np.linalg.norm(x)
    turn = np.linspace(0.0, 2.0 * np.pi, 25)
    around: Any = np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * np.cross(z, x)
    low, high = a + radius * around, b + radius * around
    sides = [[low[:-1], low[1:], high[1:]], [low[:-1], high[1:], high[:-1]]]
    normals = [[around[:-1], around[1:], around[1:]], [around[:-1], around[1:], around[:-1]]]
    for ring, middle, up in ((low, a, -z), (high, b, z)):
        sides.append([ring[:-1], ring[1:], np.broadcast_to(middle, ring[1:].shape)])
        normals.append([np.broadcast_to(up, ring[1:].shape)] * 3)
    return Mesh(_stacked(sides), _stacked(normals), rgb)


def _stacked(triangles: list[list[Floats]]) -> Singles:
    return np.concatenate([np.stack(each, axis=1) for each in triangles]).astype(np.float32)


def _ball(at: Floats, radius: float, rgb: tuple[float, float, float]) -> Mesh:
    turn, up = np.linspace(0.0, 2.0 * np.pi, 25), np.linspace(0.0, np.pi, 13)[:, None]
    grid = np.stack(
        [np.cos(turn) * np.sin(up), np.sin(turn) * np.sin(up), np.cos(up) + 0 * turn], -1
    )
    a, b, c, d = (
        part.reshape(-1, 3) for part in (grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:])
    )
    normals = _stacked([[a, b, c], [a, c, d]])
    return Mesh(normals * np.float32(radius) + at.astype(np.float32), normals, rgb)


def _fitted(
    right: Floats, up: Floats, toward: Floats, points: Floats, size: tuple[int, int]
) -> Perspective:
    """The camera that looks along a direction and has these points (n, 3) in its picture."""
    axes = np.stack([right, up, toward])
    own = points @ axes.T
    slope = _OPENING * (1.0 - 2.0 * _MARGIN) * np.array([size[0] / size[1], 1.0])
    middle = 0.5 * (own.min(axis=0) + own.max(axis=0))
    away = 0.0
    for _ in range(8):  # the nearer points lean outward: the middle moves with the distance
        way = own - middle
        away = float((np.abs(way[:, :2]) / slope + way[:, 2:]).max())
        away = max(away, 1.05 * float(way[:, 2].max()) + 1e-3)
        leaning = way[:, :2] / (away - way[:, 2:])
        shift = 0.5 * (leaning.min(axis=0) + leaning.max(axis=0)) * away
        middle = middle + np.append(shift, 0.0)
    eye = (middle + np.array([0.0, 0.0, away])) @ axes
    return Perspective(eye, right, up, toward, size)


# --- light ---


class _Ground(NamedTuple):
    """The ground: its height, and where pixels see it (h, w, 2), and whether they do (h, w)."""

    height: float
    at: Singles
    hits: NDArray[np.bool_]


class _Lit:
    """Meshes under a high light from the viewer's left, over a ground."""

    def __init__(
        self, meshes: Sequence[Mesh], look: Perspective, ground: _Ground, threads: int
    ) -> None:
        self._look, self._ground, self._threads = look, ground, threads
        seen = [mesh for mesh in meshes if len(mesh.corners)] or [_ball(np.zeros(3), 1e-6, _GREY)]
        self._corners = np.concatenate([mesh.corners for mesh in seen])
        self._normals = np.concatenate([mesh.normals for mesh in seen])
        counts = [len(mesh.corners) for mesh in seen]
        linear = np.array([mesh.rgb for mesh in seen], np.float32) ** 2.2
        self._colours = np.repeat(np.clip(linear, 0.02, 0.9), counts, axis=0)
        left = look.toward * 0.55 - look.right * 0.75
        level = left * [1.0, 1.0, 0.0]
        level /= max(float(np.linalg.norm(level)), 1e-9)
        light = level + np.array([0.0, 0.0, 1.45])
        self._light = light / np.linalg.norm(light)

    def picture(self, ground: Floats | None, fine: int) -> NDArray[np.uint8]:
        """The picture, with so many samples a pixel each way."""
        look, (width, height) = self._look, self._look.size
        points = look.seen(self._corners.reshape(-1, 3).astype(np.float64)).reshape(-1, 3, 3)
        points[..., :2] *= fine
        ahead = (points[..., 2] > 0.0).all(axis=1)
        where = np.flatnonzero(ahead)
        size = (width * fine, height * fine)
        seen = rasterised(points[ahead], size, self._threads)
        covered = seen.triangle >= 0
        rows, columns = np.nonzero(covered)
        pixel = (rows // fine) * width + columns // fine
        shaded = self._shaded(seen, covered, where)
        share, *colour = (
            np.bincount(pixel, weights, width * height).reshape(height, width)
            for weights in (None, *shaded.T)
        )
        share = (share / fine**2).astype(np.float32)[..., None]
        colour = (np.stack(colour, axis=-1) / fine**2).astype(np.float32)
        dark = self._ground_shadow()[..., None]
        if ground is None:
            return _transparent(colour, share, dark)
        behind = ground.astype(np.float32) ** 2.2 * (1.0 - dark)
        return _bytes(colour + (1.0 - share) * behind)

    def _shaded(self, seen: Samples, covered: NDArray[np.bool_], where: NDArray[Any]) -> Singles:
        """Colours (n, 3), linear, of the samples that show a triangle."""
        which = where[seen.triangle[covered]]
        w = seen.weights[covered]
        weights = np.stack([1.0 - w[:, 0] - w[:, 1], w[:, 0], w[:, 1]], axis=1)
        normals = np.einsum("nk,nkd->nd", weights, self._normals[which])
        points = np.einsum("nk,nkd->nd", weights, self._corners[which])
        back = self._look.eye.astype(np.float32) - points
        back /= _lengths(back)
        normals /= _lengths(normals)
        facing = _dot(normals, back)
        normals *= np.where(facing < 0.0, -1.0, 1.0).astype(np.float32)[:, None]
        facing = np.abs(facing)
        light = self._light.astype(np.float32)
        straight = normals @ light
        lit = np.maximum(straight, 0.0) * self._lit_shares(points, normals)
        fill = np.maximum(
            normals @ (self._look.right + 0.6 * self._look.toward).astype(np.float32), 0
        )
        sky = 0.5 + 0.5 * normals[:, 2]
        diffuse = 0.10 + 0.22 * sky + 0.80 * lit + 0.10 * fill
        half = back + light
        half /= _lengths(half)
        shine = 0.16 * _powers(np.maximum(_dot(normals, half), 0.0), 5) * (lit > 0.0)
        rim = 0.05 * _powers(1.0 - facing, 2)
        return self._colours[which] * diffuse[:, None] + (shine + rim)[:, None]

    def _lit_shares(self, points: Singles, normals: Singles) -> Singles:
        """How much of the light (n,) comes to points: what is in its way is seen from the light."""
        to_map = np.stack(self._from_light).astype(np.float32)
        own = to_map @ self._corners.reshape(-1, 3).T
        low, high = own.min(axis=1), own.max(axis=1)
        scale = np.float32((_MAP - 8) / max(float((high - low)[:2].max()), 1e-9))
        placed = (own - low[:, None]) * scale + np.float32(4.0)
        corners = placed.T.reshape(-1, 3, 3)
        depths = rasterised(corners, (_MAP, _MAP), self._threads).depth.reshape(-1)
        # a little off the surface, so that it does not shade itself
        off = points + normals * (np.float32(1.6) / scale)
        x, y, height = (to_map @ off.T - low[:, None]) * scale + np.float32(3.5)
        height += np.float32(2.0)
        i, j = x.astype(np.int32), y.astype(np.int32)
        u, v = x - i, y - j
        place = np.clip(j, 1, _MAP - 3) * _MAP + np.clip(i, 1, _MAP - 3)
        shares = np.zeros(len(points), np.float32)
        # the four samples around, and those around them: weights are a tent two samples wide
        for dy, down in ((-1, 1.0 - v), (0, 2.0 - v), (1, 1.0 + v), (2, v)):
            for dx, across in ((-1, 1.0 - u), (0, 2.0 - u), (1, 1.0 + u), (2, u)):
                lit = depths[place + (dy * _MAP + dx)] <= height
                shares += np.where(lit, down * across, np.float32(0.0))
        return shares / np.float32(16.0)

    @property
    def _from_light(self) -> tuple[Floats, Floats, Floats]:
        """Two directions across the light, and that towards it."""
        x = np.cross([0.0, 0.0, 1.0], self._light)
        x /= np.linalg.norm(x)
        return x, np.cross(self._light, x), self._light

    def _ground_shadow(self) -> Singles:
        """How dark the ground is (h, w) under the robot: sharp and wide shadows together."""
        from PIL import Image, ImageFilter  # noqa: PLC0415  an extra

        x, y, z = self._corners.reshape(-1, 3).T
        lean = (self._light[:2] / self._light[2]).astype(np.float32)
        up = z - np.float32(self._ground.height)
        cast = np.stack([x - up * lean[0], y - up * lean[1]])
        low, high = cast.min(axis=1), cast.max(axis=1)
        extent = max(float((high - low).max()), 1e-9)
        room = 0.25 * extent
        n = _MAP // 2
        scale = n / (extent + 2 * room)
        middle = (0.5 * (low + high)).astype(np.float32)
        placed = np.ones((cast.shape[1], 3))
        placed[:, :2] = (cast - middle[:, None]).T * scale + 0.5 * n
        covered = rasterised(placed.reshape(-1, 3, 3), (n, n), self._threads).triangle >= 0
        mask = Image.fromarray(np.uint8(255) * covered.astype(np.uint8))
        soft = [
            np.asarray(mask.filter(ImageFilter.GaussianBlur(radius)), np.float32) / 255.0
            for radius in (0.006 * n, 0.04 * n)
        ]
        dark = 0.30 * soft[0] + 0.22 * soft[1]
        place = (self._ground.at - middle) * np.float32(scale) + np.float32(0.5 * n - 0.5)
        within = (place > 0.0) & (place < n - 1.001)
        inside = self._ground.hits & within[..., 0] & within[..., 1]
        found = np.zeros(inside.shape, np.float32)
        i, j = (whole := place[inside].astype(np.int32)).T
        u, v = (place[inside] - whole).astype(np.float32).T
        upper = dark[j, i] * (1 - u) + dark[j, i + 1] * u
        lower = dark[j + 1, i] * (1 - u) + dark[j + 1, i + 1] * u
        found[inside] = upper * (1 - v) + lower * v
        return found


def _dot(a: Singles, b: Singles) -> Singles:
    return np.einsum("nd,nd->n", a, b)


def _lengths(a: Singles) -> Singles:
    """Lengths (n, 1) of vectors (n, 3), none of them zero."""
    return np.sqrt(np.maximum(_dot(a, a), np.float32(1e-24)))[:, None]


def _powers(a: Singles, times: int) -> Singles:
    """The number squared so many times: to the power of 2 ** times."""
    for _ in range(times):
        a = a * a
    return a


def _bytes(linear: Singles) -> NDArray[np.uint8]:
    """Linear light (h, w, 3) as numbers of a picture."""
    shown = np.float32(255.0) * np.clip(linear, 0.0, 1.0) ** np.float32(1.0 / 2.2)
    return (shown + np.float32(0.5)).astype(np.uint8)


def _transparent(colour: Singles, share: Singles, dark: Singles) -> NDArray[np.uint8]:
    """The robot (h, w, 4) over nothing but its shadow, which is black that shines through."""
    alpha = share + (1.0 - share) * dark
    straight = colour / np.maximum(alpha, 1e-6)
    return np.concatenate([_bytes(straight), (255.0 * alpha + 0.5).astype(np.uint8)], axis=-1)


# --- files ---

Images = Iterator[NDArray[np.uint8]]


def _png(images: Images, _n: int, _fps: float, _instants: Floats) -> tuple[bytes, float]:
    from PIL import Image  # noqa: PLC0415  an extra

    out = BytesIO()
    Image.fromarray(next(images)).save(out, "PNG")
    return out.getvalue(), 0.0


def _gif(images: Images, n: int, fps: float, instants: Floats) -> tuple[bytes, float]:
    """Delays are whole hundredths of a second, and no rounding adds up.

    Colours are those of the first picture, without dithering: areas stay even, files small.
    """
    from PIL import Image  # noqa: PLC0415  an extra

    ends = np.round(100.0 * np.append(instants[1:], n / fps)).astype(int)
    delays = np.maximum(np.diff(ends, prepend=0), 2)
    first, palette, frames = None, None, list[Any]()
    for image in images:
        whole = Image.fromarray(image)
        if palette is None:
            palette = whole.quantize(255, dither=Image.Dither.NONE)
        frames.append(whole.quantize(palette=palette, dither=Image.Dither.NONE))
    first, *others = frames
    out = BytesIO()
    milliseconds = (10 * delays).tolist()
    first.save(
        out, "GIF", save_all=True, append_images=others, duration=milliseconds, loop=0, disposal=1
    )
    return out.getvalue(), float(delays.sum()) / 100.0


def _mp4(images: Images, n: int, fps: float, _instants: Floats) -> tuple[bytes, float]:
    """H.264 in the form that every browser and player shows."""
    from fractions import Fraction  # noqa: PLC0415  films alone need it

    import av  # noqa: PLC0415  an extra

    out = BytesIO()
    rate = Fraction(fps).limit_denominator(1001)
    with av.open(out, "w", format="mp4") as film:
        stream: Any = film.add_stream("libx264", rate=rate, options={"crf": "18"})
        stream.pix_fmt = "yuv420p"
        for k, image in enumerate(images):
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            if not k:
                stream.width, stream.height = frame.width, frame.height
            film.mux(stream.encode(frame))
        film.mux(stream.encode())
    return out.getvalue(), n / float(rate)


_WRITERS: dict[str, Callable[[Images, int, float, Floats], tuple[bytes, float]]] = {
    ".png": _png,
    ".gif": _gif,
    ".mp4": _mp4,
}
