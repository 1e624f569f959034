"""Scenes of what a collision model is made of, as meshes for people to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from linkwork.checks import finite_rows
from linkwork.collision import pieces as kinds
from linkwork.collision.frames import Frames
from linkwork.collision.model import CollisionModel, CollisionParts
from linkwork.collision.pieces import Piece
from linkwork.compile.compiler import Compiler
from linkwork.errors import InputError, ShapeError
from linkwork.formats.urdf.records import Box, Capsule, Cylinder, Sphere
from linkwork.geometry.simplify import SimpleMesh
from linkwork.mechanism.shapes import Ellipsoid, Triangles, mesh_of

WHAT = ("balls", "pieces")

_DIVISIONS = 2  # of the icosahedron of a ball: 320 triangles


class ShownBody(NamedTuple):
    """A body's mesh in its own frame, and its pose (4, 4)."""

    name: str
    mesh: SimpleMesh
    T_world_body: Any


def shown_bodies(
    model: CollisionModel, q: ArrayLike, what: str, compiler: Compiler
) -> Iterator[ShownBody]:
    """The balls or the pieces of the links at q (nq,); half-spaces are left out.

    Raises: InputError, ShapeError.
    """
    if not isinstance(model, CollisionModel):
        raise InputError(
            "what is shown is a collision model, as robot.collision() gives it, not "
            f"{type(model).__name__}"
        )
    if what not in WHAT:
        raise InputError(f"what is one of {', '.join(WHAT)}, not {what!r:.40}")
    row = finite_rows(q, "q", model.mechanism.n_q)
    if row.ndim != 1:
        raise ShapeError(f"q is one configuration (nq,), not {row.shape}")
    parts = model.parts
    T = np.tile(np.eye(4), (len(parts.bodies), 1, 1))
    T[:, :3] = Frames(model.mechanism, parts.frames, compiler).poses(row)[0]
    for k, name in enumerate(parts.bodies):
        meshes = _balls(parts, k) if what == "balls" else _pieces(parts.pieces[k])
        whole = _joined(meshes)
        if len(whole.faces):
            yield ShownBody(name, whole, T[k])


def _balls(parts: CollisionParts, k: int) -> Iterator[SimpleMesh]:
    import trimesh  # noqa: PLC0415  not all need it

    round_ = trimesh.creation.icosphere(subdivisions=_DIVISIONS)
    corners, faces = np.asarray(round_.vertices), np.asarray(round_.faces, np.int64)
    for x, y, z, r in parts.covers[k].spheres:
        if np.isfinite(r):
            yield SimpleMesh(r * corners + (x, y, z), faces)


def _pieces(own: Iterable[Piece]) -> Iterator[SimpleMesh]:
    for piece in own:
        shape = _shape(piece)
        if shape is not None:
            mesh, T = mesh_of(shape), piece.T_body_piece
            corners = np.asarray(mesh.vertices) @ T[:3, :3].T + T[:3, 3]
            yield SimpleMesh(corners, np.asarray(mesh.faces, np.int64))


def _shape(piece: Piece) -> Any:
    """The solid that a piece is; None for what has no end or no faces."""
    a, b, c = map(float, piece.sizes)
    solids = {
        kinds.POINT: Sphere(piece.radius) if piece.radius > 0.0 else None,
        kinds.SEGMENT: Capsule(piece.radius, 2.0 * b),
        kinds.BOX: Box((2.0 * a, 2.0 * b, 2.0 * c)),
        kinds.CYLINDER: Cylinder(a, 2.0 * b),
        kinds.ELLIPSOID: Ellipsoid((a, b, c)),
    }
    if piece.vertices is not None and piece.faces is not None and len(piece.faces):
        return Triangles(piece.vertices, piece.faces)
    return solids.get(piece.kind)


def _joined(meshes: Iterable[SimpleMesh]) -> SimpleMesh:
    vertices, faces, n = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    for mesh in meshes:
        vertices.append(mesh.vertices)
        faces.append(mesh.faces + n)
        n += len(mesh.vertices)
    return SimpleMesh(np.concatenate(vertices), np.concatenate(faces))
