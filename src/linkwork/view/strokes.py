"""A robot as lines: links as strokes and plates, joints by their kind, rods, marks of loops.

Symbols of joints are small solids in true projection, of one size in pixels whatever the scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.forward_kinematics import body_poses
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.spatial.poses import pose_matrix
from linkwork.view.camera import Camera
from linkwork.view.primitives import Circle, Mark, Path, hull
from linkwork.view.skeleton import body_points

Floats = NDArray[np.float64]

LINK, GROUND, LOOP, INK = "#4d7ea8", "#8a9099", "#009e73", "#767c85"
AXES = ("#d55e00", "#009e73", "#0072b2")
"""Colours of x, y, z and of loops, told apart by colour-blind people too.

Source: M. Okabe, K. Ito, Color Universal Design, 2008."""


class Tone(NamedTuple):
    """The colours of a joint's symbol: of its side, of what faces the viewer, of its outline."""

    side: str
    face: str
    line: str


ACTIVE = Tone("#e69f00", "#f7cf7a", "#8a5a00")
PASSIVE = Tone("#a9b2bd", "#e3e7ec", "#5c6672")
COUPLED = Tone("#cc79a7", "#ecc4da", "#7d3f63")


@dataclass(frozen=True, eq=False)
class Posture:
    """A mechanism at one configuration q (nq,): where its bodies and frames are."""

    m: Mechanism
    q: Floats

    @cached_property
    def bodies(self) -> tuple[Floats, Floats]:
        """Rotations (nb, 3, 3) and origins (nb, 3) of the bodies in the world."""
        found = body_poses(NUMPY, self.m, self.q, range(self.m.n_bodies))
        each = [found[b] for b in range(self.m.n_bodies)]
        R = np.array([np.asarray(pose.R, np.float64) for pose in each])
        p = np.array([np.asarray(pose.p, np.float64) for pose in each])
        return R, p

    def frame_pose(self, frame: int) -> Floats:
        """The pose of a frame in the world (4, 4)."""
        R, p = self.bodies
        b = int(self.m.frame_body[frame])
        own = self.m.R_body_frame[frame], self.m.p_body_frame[frame]
        return pose_matrix(R[b] @ own[0], R[b] @ own[1] + p[b])

    def point(self, frame: int) -> Floats:
        """The origin of a frame in the world (3,)."""
        return self.frame_pose(frame)[:3, 3]

    @cached_property
    def com(self) -> Floats | None:
        """The centre of mass in the world (3,); None where nothing has a mass."""
        R, p = self.bodies
        mass = self.m.mass
        if not mass.sum() > 0.0:
            return None
        return mass @ (np.einsum("bij,bj->bi", R, self.m.p_body_com) + p) / mass.sum()

    def seat(self, body: int) -> Floats:
        """The place of a body's joint in the world (3,), on the body that carries it."""
        R, p = self.bodies
        parent = int(self.m.parent[body])
        if parent < 0:
            return self.m.p_parent_joint[body]
        return R[parent] @ self.m.p_parent_joint[body] + p[parent]

    @cached_property
    def joined(self) -> list[list[Floats]]:
        """The points of each body where something happens to it, in the world (3,)."""
        R, p = self.bodies
        every = enumerate(body_points(self.m))
        return [[R[body] @ point + p[body] for point in points] for body, points in every]

    @cached_property
    def tips(self) -> list[int]:
        """The links at the ends of the tree, on bodies that carry no joint; not those of loops."""
        m = self.m
        closing = {m.frame(name) for loop in m.loops for name in (loop.frame_a, loop.frame_b)}
        carriers, above = set(m.parent.tolist()), set(m.link_parent.tolist())
        ends = [k for k in range(m.n_link_frames) if k not in above and k not in closing]
        return [k for k in ends if int(m.frame_body[k]) not in carriers]

    @cached_property
    def is_fixed(self) -> bool:
        """Whether the base stands still in the world."""
        return int(self.m.coordinate[0]) < 0

    @cached_property
    def axes(self) -> list[tuple[bool, Floats]]:
        """For each joint that turns or slides: whether it turns, and its axis in the world (3,)."""
        R, _ = self.bodies
        kinds = enumerate(self.m.body_joint_types)
        return [(k.turns, R[b][:, 2]) for b, k in kinds if k.n_q == 1]

    @cached_property
    def points(self) -> Floats:
        """Points that a drawing of the skeleton must have room for (n, 3)."""
        _, p = self.bodies
        moved = [p[b] for b, kind in enumerate(self.m.body_joint_types) if kind.n_q]
        base = [self.point(0)] if self.is_fixed else []
        joined = [point for each in self.joined for point in each]
        ends = [self.point(k) for k in self.tips]
        return np.array([*moved, *base, *joined, *ends, *([] if moved or base else [np.zeros(3)])])


def skeleton(at: Posture, camera: Camera, size: float, *, loops: bool) -> list[Mark]:
    """The marks of a mechanism, the farthest first; ``size`` is that of symbols, pixels."""
    placed: list[tuple[float, list[Mark]]] = []
    _, p = at.bodies
    for body in range(at.m.n_bodies):
        if body or not at.is_fixed:
            placed += _link(at, camera, body, size)
        kind = at.m.body_joint_types[body]
        if kind.n_q:
            near = float(camera.nearness(p[body])) + size
            placed.append((near, _joint(at, camera, body, size)))
    if loops:
        placed += _loops(at, camera, size)
    placed.sort(key=lambda each: each[0])
    return [mark for _, marks in placed for mark in marks]


# --- links ----------------------------------------------------------------------------------------


def _link(
    at: Posture, camera: Camera, body: int, size: float
) -> Iterator[tuple[float, list[Mark]]]:
    """A body: strokes to what it carries, or a plate where that is much; a rod where it slides."""
    _, p = at.bodies
    width = 0.62 * size
    origin = p[body]
    if at.m.body_joint_types[body] is JointType.PRISMATIC:
        seat = at.seat(body)
        if np.linalg.norm(camera.pixels(seat) - camera.pixels(origin)) > 1.0:
            yield from _stroke(camera, seat, origin, 0.6 * width)
    points = _apart(at.joined[body], 0.2 / camera.scale)
    if len(points) == 2:
        yield from _stroke(camera, points[0], points[1], width)
    elif len(points) > 2:
        yield from _plate(camera, points, LINK, width)


def _stroke(
    camera: Camera, a: Floats, b: Floats, width: float, colour: str = LINK
) -> Iterator[tuple[float, list[Mark]]]:
    """A line in two halves, so that each end lies behind the joint that is there."""
    ends = camera.pixels(np.array([a, b]))
    middle = 0.5 * (ends[0] + ends[1])
    for point, end in zip((a, b), ends, strict=True):
        line = Path((np.array([end, middle]),), colour, width)
        yield float(camera.nearness(point)), [line]


def _plate(
    camera: Camera, points: Sequence[Floats], colour: str, width: float
) -> Iterator[tuple[float, list[Mark]]]:
    """The area that points surround; those on one line in the drawing are one stroke."""
    outline = hull(camera.pixels(np.array(points)))
    near = float(np.min(camera.nearness(np.array(points))))
    marks: list[Mark] = []
    if len(outline) > 2:
        marks.append(Path((outline,), fill=colour, closed=True, opacity=0.28))
    marks.append(Path((outline,), colour, width, closed=len(outline) > 2))
    yield near, marks


def _apart(points: Sequence[Floats], least: float) -> list[Floats]:
    """Points without those that lie where an earlier one is."""
    found: list[Floats] = []
    for point in points:
        if all(float(np.linalg.norm(point - other)) > least for other in found):
            found.append(point)
    return found


# --- joints ---------------------------------------------------------------------------------------


def tone_of(m: Mechanism, body: int) -> Tone:
    """The colours of a joint: driven, passive, or where others put it."""
    name = m.body_joint_names[body]
    coupled = {each.joint for each in m.couplings}
    if body in set(m.followers()) or name in coupled:
        return COUPLED
    return PASSIVE if m.actuated and name not in m.actuated else ACTIVE


def _joint(at: Posture, camera: Camera, body: int, size: float) -> list[Mark]:
    """The symbol of a joint at the origin of the body that it moves."""
    m, (R, p) = at.m, at.bodies
    kind, tone = m.body_joint_types[body], tone_of(m, body)
    of = f"{m.body_joint_names[body]} ({kind.label})"
    center = camera.pixels(p[body])
    if kind.turns:
        return _cylinder(camera, center, R[body], tone, size, of)
    if kind is JointType.PRISMATIC:
        return _box(camera, center, R[body], tone, size * np.array([0.85, 0.85, 1.5]), of)
    if kind is JointType.PLANAR:
        return _box(camera, center, R[body], tone, size * np.array([1.6, 1.6, 0.25]), of)
    if kind is JointType.SPHERICAL:
        return [
            Circle(center, 1.1 * size, tone.line, 1.2, tone.side, of=of),
            Circle(center - 0.3 * size, 0.4 * size, fill=tone.face, of=of),
        ]
    return [Circle(center, 1.5 * size, tone.line, 1.6, dash=(3.0, 4.0), of=of)]


def _cylinder(
    camera: Camera, center: Floats, R: Floats, tone: Tone, size: float, of: str
) -> list[Mark]:
    """A cylinder about z; seen along z a disc with a point."""
    turns = np.linspace(0.0, 2.0 * np.pi, 22, endpoint=False)
    ring = 0.92 * size * (np.outer(np.cos(turns), R[:, 0]) + np.outer(np.sin(turns), R[:, 1]))
    facing = float(R[:, 2] @ camera.toward)
    height = 1.15 * size * R[:, 2] * (1.0 if facing >= 0.0 else -1.0)
    near, far = (center + _flat(camera, ring + side * height) for side in (1.0, -1.0))
    marks: list[Mark] = []
    if abs(facing) < 0.995:
        outline = hull(np.concatenate([near, far]))
        marks.append(Path((outline,), tone.line, 1.2, tone.side, closed=True, of=of))
    else:
        near = near - near.mean(axis=0) + center
    if abs(facing) > 0.02:
        marks.append(Path((near,), tone.line, 1.2, tone.face, closed=True, of=of))
    if abs(facing) > 0.9:
        marks.append(Circle(near.mean(axis=0), 0.2 * size, fill=tone.line, of=of))
    return marks


def _box(
    camera: Camera, center: Floats, R: Floats, tone: Tone, half: Floats, of: str
) -> list[Mark]:
    """A box along the axes of a joint."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    corners = _flat(camera, (signs * half) @ R.T)
    marks: list[Mark] = [
        Path((center + hull(corners),), tone.line, 1.2, tone.side, closed=True, of=of)
    ]
    for axis in (0, 1, 2):
        facing = float(R[:, axis] @ camera.toward)
        if abs(facing) < 0.02:
            continue
        side = [k for k in range(8) if signs[k, axis] * facing > 0.0]
        fill = tone.face if axis == 2 else tone.side
        outline = center + hull(corners[side])
        marks.append(Path((outline,), tone.line, 1.2, fill, closed=True, of=of))
    return marks


def _flat(camera: Camera, offsets: Floats) -> Floats:
    """Offsets (n, 3), in pixels along the axes of the world, in the drawing (n, 2)."""
    return np.stack([offsets @ camera.right, -(offsets @ camera.up)], axis=-1)


# --- loops ----------------------------------------------------------------------------------------


def _loops(at: Posture, camera: Camera, size: float) -> Iterator[tuple[float, list[Mark]]]:
    """A ring where a loop closes, a line with two balls for a rod."""
    for loop in at.m.loops:
        a, b = (at.point(at.m.frame(name)) for name in (loop.frame_a, loop.frame_b))
        of = f"{loop.name} ({loop.kind})"
        ends = camera.pixels(np.array([a, b]))
        near = float(np.max(camera.nearness(np.array([a, b]))))
        if loop.held.length:
            marks: list[Mark] = [Path((ends,), LOOP, 0.3 * size, of=of)]
            marks += [Circle(end, 0.42 * size, fill=LOOP, of=of) for end in ends]
            yield near, marks
            continue
        marks = [Circle(ends[0], 0.75 * size, LOOP, 0.28 * size, "#ffffff", of=of)]
        if float(np.linalg.norm(ends[1] - ends[0])) > 1.0:  # it is open
            marks.insert(0, Path((ends,), LOOP, 1.5, dash=(2.0, 4.0), of=of))
            marks.append(Circle(ends[1], 0.75 * size, LOOP, 0.28 * size, "#ffffff", of=of))
        yield near + 0.5 * size, marks


# --- the ground -----------------------------------------------------------------------------------


def ground(at: Posture, camera: Camera, size: float) -> list[Mark]:
    """Marks of the ground: supports of hinges seen along their axes, else a hatched foot."""
    R, p = at.bodies
    children = [b for b in range(1, at.m.n_bodies) if int(at.m.parent[b]) == 0]
    points = _apart(at.joined[0], 0.2 / camera.scale)
    hinges = [b for b in children if at.m.body_joint_types[b].turns]
    flat = bool(hinges) and all(abs(float(R[b][:, 2] @ camera.toward)) > 0.99 for b in hinges)
    marks: list[Mark] = []
    base = at.point(0)
    if flat and len(hinges) <= 6 and abs(camera.toward[2]) > 0.99:
        if len(points) > 1:
            marks += [m for _, each in _plate(camera, points, GROUND, 2.0) for m in each]
        for place in _apart([p[b] for b in hinges], 0.2 / camera.scale):
            marks += _support(camera.pixels(place), size)
        for b in children:
            if at.m.body_joint_types[b] is JointType.PRISMATIC:
                marks += _rail(camera, at.seat(b), p[b], R[b][:, 2], size)
        return marks
    reach = [point for point in points if _distance(camera, point, base) > 1.0]
    if len(reach) == 1:
        ends = camera.pixels(np.array([base, reach[0]]))
        marks.append(Path((ends,), GROUND, 0.62 * size))
    elif reach:
        marks += [m for _, each in _plate(camera, reach, GROUND, 0.4 * size) for m in each]
        inside = _inside(hull(camera.pixels(np.array(reach))), camera.pixels(base))
        if not inside:
            nearest = min(reach, key=lambda point: _distance(camera, point, base))
            ends = camera.pixels(np.array([base, nearest]))
            marks.append(Path((ends,), GROUND, 0.4 * size))
    return [*_foot(camera, at.frame_pose(0), 3.6 * size), *marks]


def _distance(camera: Camera, a: Floats, b: Floats) -> float:
    return float(np.linalg.norm(camera.pixels(a) - camera.pixels(b)))


def _foot(camera: Camera, T: Floats, radius: float) -> list[Mark]:
    """A disc across z of the base, hatched below."""
    turns = np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)
    ring = radius * (np.outer(np.cos(turns), T[:3, 0]) + np.outer(np.sin(turns), T[:3, 1]))
    outline = camera.pixels(T[:3, 3]) + _flat(camera, ring)
    low, high = outline.min(axis=0), outline.max(axis=0)
    marks: list[Mark] = []
    x = np.linspace(low[0], high[0], 9)[1:-1]
    for each in x:  # from the lower rim
        near = np.argsort(np.abs(outline[:, 0] - each))[:4]
        y = float(outline[near, 1].max())
        step = 0.16 * radius
        marks.append(Path((np.array([[each, y], [each - step, y + step]]),), GROUND, 1.2))
    if high[1] - low[1] > 0.5:
        marks.append(Path((outline,), fill=GROUND, closed=True, opacity=0.22))
    marks.append(Path((outline,), GROUND, 1.6, closed=True))
    return marks


def _support(at: Floats, size: float) -> list[Mark]:
    """A triangle under a hinge, on hatched ground."""
    wide, deep = 1.5 * size, 2.3 * size
    foot = at + np.array([[-wide, deep], [wide, deep]])
    triangle = np.array([at, *foot])
    marks: list[Mark] = [
        Path((triangle,), fill=GROUND, closed=True, opacity=0.22),
        Path((triangle,), GROUND, 1.6, closed=True),
    ]
    return marks + _hatch(foot + np.array([[-0.5 * size, 0.0], [0.5 * size, 0.0]]), size)


def _rail(camera: Camera, seat: Floats, origin: Floats, axis: Floats, size: float) -> list[Mark]:
    """The hatched line along which something slides on the ground."""
    ends = camera.pixels(np.array([seat, origin]))
    along = _flat(camera, axis[None])[0]
    along = along / max(float(np.linalg.norm(along)), 1e-9)
    down = np.array([-along[1], along[0]]) * (1.0 if along[0] >= 0.0 else -1.0)
    reach = ends @ along
    middle = ends[0] - along * reach[0]
    line = np.array(
        [middle + along * (reach.min() - 3 * size), middle + along * (reach.max() + 3 * size)]
    )
    if along[0] < 0.0:
        line = line[::-1]
    return _hatch(line + 1.05 * size * down, size)


def _hatch(line: Floats, size: float) -> list[Mark]:
    """A line with short strokes below."""
    a, b = line
    length = float(np.linalg.norm(b - a))
    along = (b - a) / max(length, 1e-9)
    down = np.array([-along[1], along[0]])
    marks: list[Mark] = [Path((line,), GROUND, 1.6)]
    step = 0.6 * size
    count = max(int(length / step), 1)
    for k in range(count):
        start = a + along * (k + 0.8) * length / count
        end = start + 0.6 * size * (down - along)
        marks.append(Path((np.array([start, end]),), GROUND, 1.2))
    return marks


# --- frames and the centre of mass ----------------------------------------------------------------


def triad(camera: Camera, T: Floats, length: float, width: float = 2.0) -> list[Mark]:
    """The axes of a pose (4, 4): x, y, z, the farthest first."""
    start = camera.pixels(T[:3, 3])
    marks: list[Mark] = []
    for axis in np.argsort(camera.toward @ T[:3, :3]):
        end = start + length * _flat(camera, T[:3, axis][None])[0]
        marks += arrow(start, end, AXES[int(axis)], width)
    return marks


def arrow(start: Floats, end: Floats, colour: str, width: float) -> list[Mark]:
    """A line with a head; a point where it is short."""
    way = end - start
    length = float(np.linalg.norm(way))
    if length < 2.5 * width:
        return [Circle(end, width, fill=colour)]
    along = way / length
    across = np.array([-along[1], along[0]])
    head = min(3.2 * width, 0.6 * length)
    neck = end - head * along
    tip = np.array([end, neck + 0.42 * head * across, neck - 0.42 * head * across])
    return [
        Path((np.array([start, neck]),), colour, width),
        Path((tip,), fill=colour, closed=True),
    ]


def mass_mark(center: Floats, radius: float) -> list[Mark]:
    """The quartered disc of a centre of mass."""
    marks: list[Mark] = [Circle(center, radius, fill="#ffffff", of="centre of mass")]
    for begin in (0.0, np.pi):
        turns = begin + np.linspace(0.0, 0.5 * np.pi, 9)
        arc = center + radius * np.stack([np.cos(turns), -np.sin(turns)], axis=1)
        quarter = np.concatenate([center[None], arc])
        marks.append(Path((quarter,), fill="#30353c", closed=True, of="centre of mass"))
    return [*marks, Circle(center, radius, INK, 1.4, of="centre of mass")]


def _inside(outline: Floats, point: Floats) -> bool:
    """Whether a point lies in a convex area."""
    if len(outline) < 3:
        return False
    ahead, way = np.roll(outline, -1, axis=0) - outline, point - outline
    turn = ahead[:, 0] * way[:, 1] - ahead[:, 1] * way[:, 0]
    return bool((turn >= 0.0).all() or (turn <= 0.0).all())
