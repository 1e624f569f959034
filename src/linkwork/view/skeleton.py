"""Lines that a mechanism is drawn by where it has no shapes, or beside them.

A body (links that are fixed to each other) is drawn by the points where something happens to it:
its own joint, the joints that hang on it, the frames where loops close, and where it ends. Two
are a line; three or more that lie around are a frame, as of a plate or a rocker; others hang on the
body's own joint. What is fixed to a body and neither moves nor ends it, as a sensor, has no line.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np

from linkwork.mechanism.model import Floats, JointType, Mechanism

Vector3 = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Segment:
    """A line of the skeleton, from a point of one link to one of another or of the same (m).

    ``kind``: "link" within a body; "rail" along which a joint or loop slides; "rod" between two
    frames that a loop holds apart.
    """

    link_a: int
    p_a: Vector3
    link_b: int
    p_b: Vector3
    kind: Literal["link", "rail", "rod"] = "link"


def skeleton(m: Mechanism, ends: Collection[int] = ()) -> tuple[Segment, ...]:
    """The lines of a mechanism; ``ends`` are links that have shapes, and so may end a body."""
    found: list[Segment] = []
    for body, points in enumerate(body_points(m, ends)):
        hub = points[0] if _has_seat(m, body) else np.zeros(3)
        found += [_segment(m, body, a, body, b) for a, b in _lines(points, hub)]
        found += [
            _segment(m, body, m.p_parent_joint[child], child, np.zeros(3), "rail")
            for child in range(m.n_bodies)
            if m.parent[child] == body and m.body_joint_types[child] is JointType.PRISMATIC
        ]
    for loop in m.loops:
        a, b = m.frame(loop.frame_a), m.frame(loop.frame_b)
        if loop.held.length or len(loop.held.position) == 2:  # a rod, or it slides along one axis
            kind = "rod" if loop.held.length else "rail"
            ends_of = [(int(m.frame_body[f]), m.p_body_frame[f]) for f in (a, b)]
            found.append(_segment(m, *ends_of[0], *ends_of[1], kind))
    return tuple(found)


def body_points(m: Mechanism, ends: Collection[int] = ()) -> list[list[Floats]]:
    """The points (3,) of each body, in its frame, where something happens to it.

    Its own joint first, where it has one that holds it; ``ends`` as `skeleton` takes them.
    """
    near = 1e-4 * _size(m)
    loop_frames = [m.frame(name) for loop in m.loops for name in (loop.frame_a, loop.frame_b)]
    held: list[list[int]] = [[] for _ in range(m.n_bodies)]
    for child in range(1, m.n_bodies):
        if m.body_joint_types[child] not in _FREE:
            held[int(m.parent[child])].append(child)
    found: list[list[Floats]] = []
    for body in range(m.n_bodies):
        points = [np.zeros(3)] if _has_seat(m, body) else []
        points += [m.p_parent_joint[child] for child in held[body]]
        closing = [m.p_body_frame[f] for f in loop_frames if m.frame_body[f] == body]
        points = _distinct([*points, *closing], near)
        if not held[body] and points:
            points += _free_end(m, body, loop_frames) if closing else _tip(m, body, ends, near)
            points = _distinct(points, near)
        if len(points) < 2 and held[body] and not body:  # from the ground to the first joint
            points = _distinct([np.zeros(3), *points], near)
        found.append(points)
    return found


def _has_seat(m: Mechanism, body: int) -> bool:
    """Whether a joint holds a body at a point."""
    return bool(body) and m.body_joint_types[body] not in _FREE


_FREE = (JointType.FLOATING, JointType.PLANAR)
"""Joints that hold nothing in place, so that no line leads over them."""


def _segment(
    m: Mechanism,
    body_a: int,
    p_a: Floats,
    body_b: int,
    p_b: Floats,
    kind: Literal["link", "rail", "rod"] = "link",
) -> Segment:
    """A line between points in the frames of two bodies, told in those of their links."""
    link_a, link_b = (m.frame(m.body_names[body]) for body in (body_a, body_b))
    return Segment(link_a, _on_link(m, link_a, p_a), link_b, _on_link(m, link_b, p_b), kind)


def _on_link(m: Mechanism, link: int, p: Floats) -> Vector3:
    x, y, z = (m.R_body_frame[link].T @ (p - m.p_body_frame[link]) + 0.0).tolist()
    return (x, y, z)


def _size(m: Mechanism) -> float:
    """About how large a mechanism is (m): what is small compared with it is a point."""
    lengths = np.linalg.norm(m.p_parent_joint, axis=1).sum()
    return float(max(lengths, np.linalg.norm(m.p_body_frame, axis=1).max(initial=0.0), 1e-9))


def _distinct(points: list[Floats], near: float) -> list[Floats]:
    """Points without those that lie at an earlier one."""
    kept: list[Floats] = []
    for point in points:
        if all(np.linalg.norm(point - other) > near for other in kept):
            kept.append(point)
    return kept


def _tip(m: Mechanism, body: int, ends: Collection[int], near: float) -> list[Floats]:
    """The end of a body that nothing hangs on: the farthest of its links, or its centre of mass.

    Links with shape or mass are taken before others.
    """
    links = [link for link in range(m.n_link_frames) if m.frame_body[link] == body]
    solid = [link for link in links if link in ends or m.link_mass[link] > 0]
    for group in (solid, links):
        far = max(group, key=lambda link: float(np.linalg.norm(m.p_body_frame[link])), default=None)
        if far is not None and np.linalg.norm(m.p_body_frame[far]) > near:
            return [m.p_body_frame[far]]
    com = m.p_body_com[body]
    return [com] if m.mass[body] > 0 and np.linalg.norm(com) > near else []


def _free_end(m: Mechanism, body: int, loop_frames: Collection[int]) -> list[Floats]:
    """The farthest of the links that end a body which loops close on, as a tool does."""
    above = set(m.link_parent.tolist())
    links = [link for link in range(m.n_link_frames) if m.frame_body[link] == body]
    free = [link for link in links if link not in above and link not in loop_frames]
    far = max(free, key=lambda link: float(np.linalg.norm(m.p_body_frame[link])), default=None)
    return [] if far is None else [m.p_body_frame[far]]


def _lines(points: list[Floats], hub: Floats) -> list[tuple[Floats, Floats]]:
    """The lines of one body: around its points where they lie around, else from the hub."""
    if len(points) > 2:
        ring = _ring(np.array(points))
        if ring is not None:
            around = [points[k] for k in ring]
            return list(zip(around, [*around[1:], around[0]], strict=True))
        return [(hub, point) for point in points if point is not hub]
    return [(points[0], point) for point in points[1:]]


def _ring(points: Floats) -> list[int] | None:
    """The order of points around their middle, where they are corners of a flat convex figure."""
    centred = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    if len(points) > 3 and sizes[2] > _FLAT * sizes[1]:
        return None
    flat = centred @ axes[:2].T
    order = np.argsort(np.arctan2(flat[:, 1], flat[:, 0]), kind="stable")
    corners = flat[order]
    before, after = corners - np.roll(corners, 1, axis=0), np.roll(corners, -1, axis=0) - corners
    turns = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    least = _BENT * np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    return order.tolist() if (turns > least).all() else None


_FLAT = 0.35
"""Points are taken for flat that are not thicker than this, as a part of their second extent."""

_BENT = 0.05
"""The sine of the angle that a corner turns at least."""
