"""Drawings of robots: shapes or skeleton, ghosts of other configurations, the path of the tip.

A drawing needs neither a display nor an extra. It is a list of marks (`primitives.py`), from which
SVG and PNG are made alike.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.forward_kinematics import body_poses
from linkwork.atomic import write_bytes
from linkwork.checks import finite_number, finite_rows
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.legible import legible
from linkwork.locating import Folders
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.neutral import neutral
from linkwork.ops.numpy import NUMPY
from linkwork.robot import Robot
from linkwork.simulation.result import Simulation
from linkwork.solve.inputs import configuration
from linkwork.trajectory.piecewise import Samples, Trajectory
from linkwork.view.camera import Camera, camera
from linkwork.view.labels import Label, placed_labels
from linkwork.view.model import Kind, ViewModel, view_model
from linkwork.view.motion import Motion, along_plan, states_of
from linkwork.view.primitives import Circle, Layer, Mark, Path, Text, png, svg, text_width
from linkwork.view.shading import Solid, shaded, shadow, silhouettes
from linkwork.view.strokes import (
    AXES,
    INK,
    Posture,
    arrow,
    mass_mark,
    skeleton,
    triad,
)
from linkwork.view.strokes import ground as ground_marks

if TYPE_CHECKING:
    from linkwork.mechanism.named_positions import Configuration

Floats = NDArray[np.float64]
Shapes = bool | Literal["visual", "collision"] | None
View = Literal["auto", "front", "side", "top", "iso"] | tuple[float, float]

MOST_GHOSTS = 12
"""Ghosts in one drawing; of more configurations so many are drawn, evenly apart."""
_GHOSTS_OF_A_PATH = 5
_MOST_TIPS = 6  # ends of the tree with triads and curves of their own
_MOST_POINTS = 240  # of the curve of a tip
_NAMED = 8  # joints up to which a skeleton has their names
_PLAIN = (0.70, 0.74, 0.79)  # the colour of shapes that have none
_GHOST = ("#86a9c6", "#41698d")  # of areas and their outlines
_CURVE, _SHADOW = "#d55e00", "#767c85"
_SYMBOL = 8.0  # pixels
_TRIAD = 26.0  # pixels
_BAR = 130.0  # pixels, at most, of the scale bar


@dataclass(frozen=True, eq=False)
class Drawing:
    """A drawing of a robot: marks in layers, with their products; a notebook shows it.

    ``size`` is in pixels. ``messages`` say what could not be drawn. The background is transparent,
    and the colours are legible on a light and on a dark one.
    """

    name: str
    layers: tuple[Layer, ...]
    size: tuple[float, float]
    camera: Camera
    messages: tuple[str, ...] = ()

    @property
    def svg(self) -> str:
        """The drawing as the text of an SVG file."""
        return svg(self.layers, self.size, self.name, "\n".join(self.messages))

    def pixels(self, points: ArrayLike) -> Floats:
        """Places (..., 2) of points of the world (..., 3), m, in the drawing, y downward.

        Raises: ShapeError, InputError.
        """
        return self.camera.pixels(finite_rows(points, "points", 3))

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        scale: float = 2.0,
        background: str | None = None,
    ) -> None:
        """Write to a .svg or a .png file, whole or not at all.

        For a PNG, which needs the extra `plot`: ``scale`` pixels for one of the drawing, and a
        ``background`` by the name or the number of a colour, by default transparent.

        Raises: InputError for another ending, or where the file cannot be written;
        MissingExtraError.
        """
        kind = FilePath(path).suffix.lower()
        if kind == ".svg":
            data = self.svg.encode()
        elif kind == ".png":
            fine = finite_number(scale, "scale", above=0.0, most=20.0)
            data = png(self.layers, self.size, scale=fine, background=background)
        else:
            raise InputError(
                f"{os.fspath(path)}: a drawing is written as .svg or .png; `Robot.render` makes "
                "shaded pictures and films"
            )
        write_bytes(path, data)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div style="max-width:100%">{self.svg}</div>'

    def __repr__(self) -> str:
        """A line on what it shows."""
        w, h = self.size
        count = sum(len(layer.marks) for layer in self.layers)
        said = f", {len(self.messages)} messages" if self.messages else ""
        return f"Drawing('{legible(self.name)}', {w:g} x {h:g}, {count} marks{said})"


def drawing(  # noqa: PLR0913  all but two are named options
    robot: Robot | Mechanism,
    q: Configuration | None = None,
    *,
    shapes: Shapes = None,
    view: View = "auto",
    size: tuple[float, float] = (640, 480),
    frames: bool | str | Sequence[str] = False,
    labels: bool | Sequence[str] | None = None,
    com: bool = False,
    loops: bool = True,
    ground: bool | None = None,
    title: str | None = None,
    path: Any = None,
    allow: Folders = (),
) -> Drawing:
    """A drawing of a robot at q (nq,), by default neutral; earlier ones of several (n, nq) fade.

    ``shapes``: True or "visual", "collision", or False for the skeleton; by default the visual
    shapes where there are any, else the skeleton. ``view``: "front" (from x), "side" (x to the
    right), "top", "iso", or degrees (azimuth from x towards y, elevation) of where the viewer
    stands; "auto" looks across the plane in which the robot moves, where there is one. ``size``
    (w, h) in pixels. ``frames``: triads of these frames, or of all links. ``labels``: names of
    these joints or frames, of all joints, or none; by default of the joints of a small skeleton.
    ``com``: the centre of mass. ``loops``: rods, and rings where loops close. ``ground``: what the
    robot stands on, by default where it is fixed. ``path``: positions (n, nq), a
    `trajectory.Trajectory`, a `Simulation` or a `Plan`, as ghosts and the curve of the tip; q is
    then by default its end. ``allow``: folders that meshes may lie in.

    Raises: UnknownNameError, ShapeError, InputError.
    """
    scene = _Scene.of(robot, q, path)
    m, main = scene.m, scene.postures[-1]
    wanted, shown = _size(size), _frame_names(m, frames)
    model, messages = _model(robot, shapes, allow)
    look = camera(view, None if scene.moves_anyhow else main.axes, Posture(m, neutral(m)).points)
    solids = [] if model is None else [_solids(model, at, loops=loops) for at in scene.postures]
    points = _extent(
        scene, solids, shown, com=com, shadow=look.shows_ground and ground is not False
    )
    named = _named(m, labels, [] if isinstance(frames, bool) else shown, skeleton=model is None)
    room = _TRIAD if shown else 2.0 * _SYMBOL if model is None else 0.0
    look = _fitted(look, points, wanted, title, labelled=bool(named), room=room)
    symbol = _symbol(main, look)
    if solids:
        robots = _shaded_layers(solids, look, wanted)
    else:
        robots = _skeleton_layers(scene, look, symbol, loops=loops)
    over = [mark for name in shown for mark in triad(look, main.frame_pose(m.frame(name)), _TRIAD)]
    if com and main.com is not None:
        over += mass_mark(look.pixels(main.com), 0.95 * _SYMBOL)
    layers = [
        _below(main, look, solids, symbol, ground),
        *robots,
        Layer("path", tuple(_curves(scene, look))),
        Layer("marks", tuple(over)),
        Layer("frame", tuple(_furniture(look, wanted, title, _caption(messages)))),
    ]
    texts, left_out = placed_labels(_labels(main, look, named), layers, wanted, symbol)
    if left_out:
        messages.append(f"no room for the names {', '.join(left_out)}: draw it larger")
    layers.append(Layer("labels", tuple(texts)))
    drawn = tuple(layer for layer in layers if layer.marks)
    return Drawing(title or m.name, drawn, wanted, look, tuple(messages))


def _shaded_layers(
    solids: Sequence[Sequence[Solid]], look: Camera, size: tuple[float, float]
) -> list[Layer]:
    """Shapes in the light, and ghosts of them."""
    count = len(solids) - 1
    ghosts = [
        Layer("ghost", tuple(silhouettes(each, look, *_GHOST)), 0.1 + 0.26 * (k + 1) / count)
        for k, each in enumerate(solids[:-1])
    ]
    return [*ghosts, Layer("robot", tuple(shaded(solids[-1], look, size)))]


def _skeleton_layers(scene: _Scene, look: Camera, symbol: float, *, loops: bool) -> list[Layer]:
    """The skeleton with triads at its tips, and ghosts of it."""
    count = len(scene.postures) - 1
    layers: list[Layer] = []
    for k, at in enumerate(scene.postures[:-1]):
        marks = [replace(mark, of="") for mark in skeleton(at, look, symbol, loops=loops)]
        layers.append(Layer("ghost", tuple(marks), 0.12 + 0.3 * (k + 1) / count))
    main = scene.postures[-1]
    body = skeleton(main, look, symbol, loops=loops)
    for tip in main.tips if len(main.tips) <= _MOST_TIPS else ():
        body += triad(look, main.frame_pose(tip), 2.4 * symbol, 1.6)
    return [*layers, Layer("robot", tuple(body))]


# --- what is drawn --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Scene:
    """A mechanism at some configurations, the last one in full, and curves of tips (n, 3)."""

    m: Mechanism
    postures: tuple[Posture, ...]
    curves: tuple[Floats, ...]

    @classmethod
    def of(cls, robot: Robot | Mechanism, q: Any, path: Any) -> _Scene:
        m = robot if isinstance(robot, Mechanism) else robot.mechanism
        way = _rows(robot, path, "path")
        rows = _rows(robot, q, "q")
        if not len(rows):
            rows = way[-1:] if len(way) else neutral(m)[None]
        if len(rows) > MOST_GHOSTS + 1:
            rows = rows[_evenly(len(rows), MOST_GHOSTS + 1)]
        ghosts = way[_evenly(len(way), _GHOSTS_OF_A_PATH + 1)[:-1]] if len(way) else rows[:0]
        postures = tuple(Posture(m, each) for each in np.concatenate([ghosts, rows]))
        curves: tuple[Floats, ...] = ()
        if len(way) > 1:
            some = way[_evenly(len(way), _MOST_POINTS)]
            curves = tuple(_curve(m, some, tip) for tip in _tips(robot, postures[-1]))
        return cls(m, postures, curves)

    @property
    def moves_anyhow(self) -> bool:
        """Whether a joint turns about any axis, so that no plane holds the motion."""
        return any(kind.has_quaternion for kind in self.m.body_joint_types)


def _rows(robot: Robot | Mechanism, given: Any, name: str) -> Floats:
    """Configurations (n, nq), none where nothing is given."""
    m = robot if isinstance(robot, Mechanism) else robot.mechanism
    if given is None:
        return np.zeros((0, m.n_q))
    by_name = name == "path" and isinstance(given, Mapping)  # q by name is one configuration
    if by_name or isinstance(given, Trajectory | Simulation | Samples | Motion):
        whole = Robot(m) if isinstance(robot, Mechanism) else robot
        return states_of(whole, given, samples=_MOST_POINTS).q
    rows = configuration(along_plan(given), m, name)
    if rows.ndim > 2 or (rows.ndim == 2 and not len(rows)):
        raise ShapeError(
            f"{name} must be one configuration (nq,) or some (n, nq), not {rows.shape}"
        )
    rows = np.atleast_2d(rows)
    if not np.isfinite(rows).all():
        raise InputError(f"{name} must be finite numbers")
    return rows


def _evenly(n: int, most: int) -> NDArray[np.int64]:
    """At most so many of n indices, the first and the last among them."""
    return np.unique(np.rint(np.linspace(0, n - 1, min(n, most))).astype(np.int64))


def _tips(robot: Robot | Mechanism, at: Posture) -> list[int]:
    """The frames whose way is drawn: the robot's tip, or the ends of the tree."""
    if isinstance(robot, Robot):
        try:
            return [at.m.frame(robot.tip)]
        except InputError:
            pass
    return at.tips[:_MOST_TIPS]


def _curve(m: Mechanism, rows: Floats, frame: int) -> Floats:
    """The way of a frame's origin (n, 3)."""
    body = int(m.frame_body[frame])
    found: list[Floats] = []
    for q in rows:
        pose = body_poses(NUMPY, m, q, [body])[body]
        R, p = np.asarray(pose.R, np.float64), np.asarray(pose.p, np.float64)
        found.append(R @ m.p_body_frame[frame] + p)
    return np.array(found)


def _model(
    robot: Robot | Mechanism, shapes: Any, allow: Folders
) -> tuple[ViewModel | None, list[str]]:
    """The shapes to draw, None for the skeleton; and messages on what cannot be drawn.

    Raises: InputError for what is no kind of shapes.
    """
    if not (shapes is None or isinstance(shapes, bool) or shapes in ("visual", "collision")):
        raise InputError(f"shapes is True, False, 'visual' or 'collision', not {shapes!r:.40}")
    if shapes is False:
        return None, []
    messages: list[str] = []
    if isinstance(robot, Robot):
        kinds: tuple[Kind, ...] = ("visual", "collision")
        for kind in kinds if shapes is None or shapes is True else (shapes,):
            model = view_model(robot, (kind,), allow=allow)
            messages += model.messages
            if model.has_shapes:
                return model, messages
    return None, list(dict.fromkeys(messages)) or [f"'{robot.name}': its skeleton"]


def _caption(messages: Sequence[str]) -> str:
    """A few words on what is not drawn; materials that are not as they should be are no such."""
    if messages and messages[-1].endswith(("skeleton", "skeleton is shown")):
        return "no shapes: its skeleton"
    missing = sum(message.startswith("link '") for message in messages)
    return (
        ""
        if not missing
        else "a shape is missing"
        if missing == 1
        else f"{missing} shapes are missing"
    )


def _solids(model: ViewModel, at: Posture, *, loops: bool) -> list[Solid]:
    """The shapes in the world, and the rods that no link stands for."""
    found: list[Solid] = []
    poses: dict[int, Floats] = {}
    for part in model.parts:
        if part.rgba is not None and part.rgba[3] < 0.05:
            continue
        if part.link not in poses:
            poses[part.link] = at.frame_pose(at.m.frame(model.links[part.link]))
        T = poses[part.link] @ part.T_link_part
        mesh = model.geometries[part.geometry]
        vertices = mesh.vertices @ T[:3, :3].T + T[:3, 3]
        rgb = np.array(_PLAIN if part.rgba is None else part.rgba[:3])
        if part.texture is not None:  # its mean colour
            mean = np.array(model.textures[part.texture].mean[:3])
            rgb = mean if part.rgba is None else mean * rgb
        found.append(Solid(vertices, mesh.faces, (rgb[0], rgb[1], rgb[2])))
    rods = [loop for loop in at.m.loops if loop.held.length] if loops else []
    for loop in rods:
        a, b = (at.point(at.m.frame(name)) for name in (loop.frame_a, loop.frame_b))
        found.append(_rod(a, b, 0.018 * loop.distance))
    return found


def _rod(a: Floats, b: Floats, radius: float, sides: int = 12) -> Solid:
    """A rod from one point to another."""
    along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-12)
    across = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    across /= np.linalg.norm(across)
    turns = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    ring = radius * (
        np.outer(np.cos(turns), across) + np.outer(np.sin(turns), np.cross(along, across))
    )
    vertices = np.concatenate([ring + a, ring + b, [a, b]])
    k = np.arange(sides)
    n = np.roll(k, -1)
    low, high = np.full(sides, 2 * sides), np.full(sides, 2 * sides + 1)
    faces = np.concatenate(
        [
            np.stack([k, n, n + sides], axis=1),
            np.stack([k, n + sides, k + sides], axis=1),
            np.stack([low, n, k], axis=1),
            np.stack([high, k + sides, n + sides], axis=1),
        ]
    )
    return Solid(vertices, faces.astype(np.uint32), (0.55, 0.58, 0.62))


# --- where it is drawn ----------------------------------------------------------------------------


def _size(given: Any) -> tuple[float, float]:
    """Width and height in pixels.

    Raises: InputError.
    """
    if not isinstance(given, Sequence) or len(given) != 2 or isinstance(given, str):
        raise InputError(f"size is (width, height) in pixels, not {given!r:.40}")
    w, h = (finite_number(x, "size of a drawing (pixels)", least=80.0, most=8000.0) for x in given)
    return w, h


def _extent(
    scene: _Scene,
    solids: Sequence[Sequence[Solid]],
    frames: Sequence[str],
    *,
    com: bool,
    shadow: bool,
) -> Floats:
    """Points that are to be inside of the drawing (n, 3)."""
    main = scene.postures[-1]
    found = [main.point(scene.m.frame(name))[None] for name in frames]
    for at in scene.postures:
        if not any(solids):  # none, or all that there are cannot be seen
            found.append(at.points)
        if com and at.com is not None:
            found.append(at.com[None])
    found += [np.asarray(solid.vertices, np.float64) for each in solids for solid in each]
    if solids and shadow:
        onto, lowest = np.diag([1.0, 1.0, 0.0]), [0.0, 0.0, _lowest(solids[-1])]
        found += [solid.vertices @ onto + lowest for solid in solids[-1]]
    return np.concatenate([*found, *scene.curves])


def _fitted(
    look: Camera,
    points: Floats,
    size: tuple[float, float],
    title: str | None,
    *,
    labelled: bool,
    room: float,
) -> Camera:
    """The camera that shows the points between margins; symbols reach ``room`` beyond them."""
    w, h = size
    side, above, below = (0.09 * w if labelled else 0.035 * w + 6.0), 0.035 * h + 6.0, 50.0
    side, above, below = side + room, above + 0.6 * room, below + room
    above += 24.0 if title else 0.0
    # however small the drawing is, there is room for the robot
    side, above, below = min(side, 0.3 * w), min(above, 0.3 * h), min(below, 0.4 * h)
    box = (side, above, w - side, h - below)
    spread = float(np.ptp(points, axis=0).max())
    return look.fitted(points, box, least=max(1e-3 * spread, 1e-9) if spread > 1e-9 else 0.5)


def _symbol(at: Posture, look: Camera) -> float:
    """The size of symbols in pixels: smaller where joints are near each other."""
    m = at.m
    _, p = at.bodies
    moving = [b for b in range(m.n_bodies) if m.body_joint_types[b].n_q]
    flat = look.pixels(p[moving]) if moving else np.zeros((0, 2))
    if len(flat) < 2:
        return _SYMBOL
    gaps = np.linalg.norm(flat[:, None] - flat[None], axis=2)
    gaps[gaps < 1.0] = np.inf
    nearest = gaps.min(axis=1)
    nearest = nearest[np.isfinite(nearest)]
    typical = float(np.quantile(nearest, 0.6)) if len(nearest) else np.inf
    return float(np.clip(0.28 * typical, 3.0, _SYMBOL))


def _below(
    main: Posture,
    look: Camera,
    solids: Sequence[Sequence[Solid]],
    symbol: float,
    ground: bool | None,
) -> Layer:
    """The ground: a foot or supports of a skeleton, the shadow of shapes."""
    if ground is False:
        return Layer("ground", ())
    if not solids:
        if ground is None and not main.is_fixed:
            return Layer("ground", ())
        return Layer("ground", tuple(ground_marks(main, look, symbol)))
    if not look.shows_ground:
        return Layer("ground", ())
    marks = shadow(solids[-1], look, _lowest(solids[-1]), _SHADOW)
    return Layer("ground", tuple(marks), 0.22)


def _lowest(solids: Sequence[Solid]) -> float:
    return min((float(np.min(solid.vertices[:, 2])) for solid in solids), default=0.0)


# --- what is written and measured -----------------------------------------------------------------


def _curves(scene: _Scene, look: Camera) -> list[Mark]:
    """The ways of the tips, fainter where they begin."""
    marks: list[Mark] = []
    for curve in scene.curves:
        flat = look.pixels(curve)
        for piece in np.array_split(np.arange(len(flat) - 1), min(8, len(flat) - 1)):
            part = flat[piece[0] : piece[-1] + 2]
            strength = 0.25 + 0.75 * float(piece[-1] + 1) / (len(flat) - 1)
            marks.append(Path((part,), _CURVE, 1.8, opacity=strength))
        marks.append(Circle(flat[-1], 3.0, fill=_CURVE))
    return marks


def _frame_names(m: Mechanism, frames: Any) -> list[str]:
    """The frames whose triads are drawn.

    Raises: UnknownNameError.
    """
    if isinstance(frames, bool):
        return list(m.frame_names[: m.n_link_frames]) if frames else []
    names = [frames] if isinstance(frames, str) else list(frames)
    return [m.frame_names[m.frame(name)] for name in names]


def _named(m: Mechanism, labels: Any, frames: Sequence[str], *, skeleton: bool) -> list[str]:
    """The joints and frames whose names are written.

    Raises: UnknownNameError.
    """
    kinds = zip(m.body_joint_names, m.body_joint_types, strict=True)
    joints = [name for name, kind in kinds if kind.n_q]
    if labels is None:
        return [*(joints if skeleton and len(joints) <= _NAMED else []), *frames]
    if isinstance(labels, bool):
        return joints if labels else []
    names = [labels] if isinstance(labels, str) else list(labels)
    for name in names:
        if name not in joints and name not in m.frame_names:
            raise UnknownNameError("joint or frame", name, (*joints, *m.frame_names))
    return names


def _labels(at: Posture, look: Camera, names: Iterable[str]) -> list[Label]:
    """Names and the points that they belong to."""
    m = at.m
    _, p = at.bodies
    found: list[Label] = []
    for name in dict.fromkeys(names):
        if name in m.body_joint_names:
            point = p[m.body_joint_names.index(name)]
        else:
            point = at.point(m.frame(name))
        found.append(Label(name, look.pixels(point)))
    return found


def _furniture(
    look: Camera, size: tuple[float, float], title: str | None, caption: str
) -> list[Mark]:
    """The scale bar, the axes of the world, title and caption."""
    w, h = size
    length = _round_length(min(_BAR, 0.4 * w) / look.scale)
    x, y, end = 16.0, h - 16.0, 16.0 + length * look.scale
    marks: list[Mark] = [
        Path((np.array([[x, y - 4.0], [x, y], [end, y], [end, y - 4.0]]),), INK, 1.4),
        Text(np.array([0.5 * (x + end), y - 7.0]), _length_text(length), 11.0, "middle", INK),
    ]
    marks += _world_axes(look, np.array([w - 8.0, h - 10.0]))
    if title:
        letters = min(14.0, (w - 16.0) / (1.1 * text_width(title, 1.0)))  # bold ones are wider
        marks.append(Text(np.array([0.5 * w, 23.0]), title, letters, "middle", INK, bold=True))
    if caption:
        letters = min(10.5, (w - end - 100.0) / text_width(caption, 1.0))
        if letters > 6.0:
            middle = 0.5 * (end + w - 60.0)
            marks.append(Text(np.array([middle, h - 14.0]), caption, letters, "middle", INK))
    return marks


def _world_axes(look: Camera, corner: Floats) -> list[Mark]:
    """The axes of the world, to the left of and above a corner."""
    ways = 17.0 * np.stack([look.right, -look.up], axis=1)
    lengths = np.linalg.norm(ways, axis=1)
    names = ways * (1.0 + 7.0 / np.maximum(lengths, 3.0))[:, None]
    room = np.array([4.0, 6.0])  # of a letter
    reach = np.concatenate([names - room, names + room, np.zeros((1, 2))])
    start = corner - reach.max(axis=0)
    marks: list[Mark] = []
    for axis in np.argsort(look.toward).tolist():
        if lengths[axis] < 3.0:  # along the view
            continue
        marks += arrow(start, start + ways[axis], AXES[axis], 1.6)
        at = start + names[axis] + [0.0, 3.6]
        marks.append(Text(at, "xyz"[axis], 10.5, "middle", AXES[axis]))
    return marks


def _round_length(most: float) -> float:
    """The longest of 1, 2 and 5 times a power of ten that is not longer."""
    power = 10.0 ** math.floor(math.log10(most))
    return next(factor * power for factor in (5.0, 2.0, 1.0) if factor * power <= most * 1.000001)


def _length_text(length: float) -> str:
    if length >= 1e4:
        return f"{1e-3 * length:g} km"
    if length >= 1.0:
        return f"{length:g} m"
    if length >= 1e-3:
        return f"{1e3 * length:g} mm"
    return f"{1e6 * length:g} µm"
