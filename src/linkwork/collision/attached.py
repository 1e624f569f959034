"""Objects that a robot holds: shapes on its frames, with what they may touch."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import finite_rows, rigid_pose
from linkwork.collision.cover import Cover, cover, moved
from linkwork.collision.mesh_pieces import pieces_of_shape
from linkwork.collision.pieces import Piece, bounding_spheres, prepared
from linkwork.errors import InputError, UnknownNameError, UnsupportedFeatureError
from linkwork.formats.urdf.records import Box, Capsule, Cylinder, Rgba, Sphere
from linkwork.mechanism.shapes import Ellipsoid, HalfSpace, HeightField, Points, Triangles

Floats = NDArray[np.float64]

_SOLIDS = (Box, Sphere, Cylinder, Capsule, Ellipsoid, Triangles)
_KEPT = 64
"""Shapes whose pieces are kept, at most; where there are more, the oldest go."""
_known: dict[tuple[float, bytes], tuple[list[Piece], Cover]] = {}
_NOT_HELD = {HalfSpace: "half-space", HeightField: "height field", Points: "cloud of points"}


@dataclass(frozen=True, eq=False, slots=True)
class Attached:
    """An object on a frame of a robot, at ``T_frame_object`` (4, 4), read-only.

    It may touch the links in ``allowed``; it is held by one of them, mostly. ``rgba`` is the colour
    that it is shown in, 0 to 1, where it has one.
    """

    name: str
    shape: Any
    frame: str
    T_frame_object: Floats
    allowed: tuple[str, ...] = ()
    rgba: Rgba | None = None

    def released(self, T_world_frame: ArrayLike) -> Floats:
        """T_world_object (4, 4) where its frame is at ``T_world_frame``, to put it into a scene.

        Raises: ShapeError, InputError for what is no pose.
        """
        return rigid_pose(T_world_frame, "T_world_frame") @ self.T_frame_object


def attach(
    name: str,
    shape: Any,
    frame: str,
    T_frame_object: ArrayLike | None = None,
    *,
    allowed: Collection[str] = (),
) -> Attached:
    """The record of an object that is held: a shape, or an object of a scene.

    Of an object of a scene it takes the shape and the colour.

    The pose is a matrix (4, 4), or a position (3,); none is the frame's own.

    Raises: InputError, ShapeError; UnsupportedFeatureError for what cannot be held: half-spaces,
    height fields and points.
    """
    for label, text in (("the name of a held object", name), ("frame", frame)):
        if not isinstance(text, str) or not text:
            raise InputError(f"{label} must be a text, not {text!r:.60}")
    listed = isinstance(allowed, Collection) and not isinstance(allowed, (str, bytes))
    if not listed or not all(isinstance(link, str) for link in allowed):
        raise InputError(f"allowed must be names of links, as ['hand'], not {allowed!r:.60}")
    solid = getattr(shape, "shape", shape)
    if type(solid) in _NOT_HELD:
        what = _NOT_HELD[type(solid)]
        raise UnsupportedFeatureError(f"'{name:.60}' is a {what}, which a robot cannot hold")
    if not isinstance(solid, _SOLIDS):
        kinds = ", ".join(kind.__name__ for kind in _SOLIDS)
        raise InputError(
            f"a held object has the shape {kinds}, not {type(solid).__name__}; "
            "Scene().add_box(name, size) and its like make one, add_mesh of a file"
        )
    rgba: Rgba | None = getattr(shape, "rgba", None)
    return Attached(name, solid, frame, _pose(T_frame_object), tuple(dict.fromkeys(allowed)), rgba)


def parts_of(shape: Any, overhang: float, T_body_object: Floats) -> tuple[tuple[Piece, ...], Cover]:
    """The pieces of a shape that is held, and their cover, at a pose (4, 4) in a body.

    Both are made once for a shape, in its own frame: a thing that is taken up again somewhere else
    is moved only.
    """
    key = overhang, pickle.dumps(shape)
    known = _known.get(key)
    if known is None:
        made = prepared(pieces_of_shape(shape, np.eye(4))[0])
        while len(_known) >= _KEPT:
            _known.pop(next(iter(_known)), None)
        known = _known[key] = made, cover([made], overhang=overhang)
    own, covering = known
    at = [T_body_object @ piece.T_body_piece for piece in own]
    bare = [replace(p, T_body_piece=T, sphere=None) for p, T in zip(own, at, strict=True)]
    spheres = bounding_spheres(bare)
    pieces = (replace(p, sphere=ball) for p, ball in zip(bare, spheres, strict=True))
    return tuple(pieces), moved(covering, T_body_object)


def of_frames(held: Sequence[Attached], frames: Sequence[str]) -> tuple[Attached, ...]:
    """Those objects that these frames hold, without the allowed contacts with what is not there."""
    kept = [each for each in held if each.frame in frames]
    there = {*frames, *(each.name for each in kept)}
    return tuple(
        replace(each, allowed=tuple(name for name in each.allowed if name in there))
        for each in kept
    )


def check_attached(held: Sequence[Attached], frames: Sequence[str], links: Sequence[str]) -> None:
    """Refuse held objects whose names or frames a robot does not have room for.

    Raises: UnknownNameError for a frame or an allowed link that is not there; InputError for a name
    that is taken by a link or another object.
    """
    known_frames, taken = set(frames), set(links)
    for each in held:
        if each.name in taken:
            raise InputError(
                f"'{each.name:.60}' is the name of a link or another held object: give another"
            )
        taken.add(each.name)
    for each in held:
        if each.frame not in known_frames:
            raise UnknownNameError("frame", each.frame, tuple(frames))
        for other in each.allowed:
            if other not in taken:
                raise UnknownNameError(
                    "link or held object", other, (*links, *(h.name for h in held))
                )


def _pose(given: ArrayLike | None) -> Floats:
    """A pose (4, 4), read-only, of what stands for one."""
    found = np.eye(4)
    if given is not None and np.shape(given) == (3,):
        found[:3, 3] = finite_rows(given, "pose", 3)
    elif given is not None:
        found = rigid_pose(given, "pose")
    found.setflags(write=False)
    return found
