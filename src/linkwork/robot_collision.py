"""The method of `Robot` for collision: its model, made of the shapes of its description."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from linkwork import settings
from linkwork.appearance import first_found, shown_parts
from linkwork.checks import finite_number
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.geometry.meshes import Places
from linkwork.locating import Folders, package_finder, places
from linkwork.mechanism.shapes import LinkShape, MeshFile, Shapes, Triangles, Unread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from linkwork.collision.model import CollisionModel
    from linkwork.formats.srdf import Srdf
    from linkwork.robot import Robot

    Floats = NDArray[np.float64]

Source = Literal["collision", "visual"]


class RobotCollision:
    """The collision methods of a robot."""

    if TYPE_CHECKING:
        _models: dict[Any, CollisionModel]

    def collision(
        self,
        *,
        overhang: float = 0.02,
        margin: float = 0.02,
        srdf: Any = "beside",
        decompose: str = "components",
        shapes: Source | None = None,
        allow: Folders = (),
    ) -> CollisionModel:
        """The collision model: convex pieces of the links' shapes, and the pairs that can touch.

        It is made of the <collision> shapes, or where a robot has none at all of the visual ones,
        which ``model.parts.notes`` say; ``shapes`` asks for one kind. The balls around the pieces
        reach at most ``overhang`` (m) out of them: smaller is finer, and slower; those of links
        that are too large for so fine a cover reach farther, as ``model.overhang`` says. Pairs of
        links that never come nearer than ``margin`` (m) are left out, and so are those that
        ``srdf`` says: a file, XML text, an `Srdf`, or None; by default the file that lies beside
        the description, SRDF or xacro. ``decompose`` is what is done with meshes that are not
        convex, see `linkwork.collision.mesh_pieces.convex_pieces`. A model is kept: the same call
        gives the same one.

        Raises: UnsupportedFeatureError for a robot without a description or without shapes;
        InputError for meshes as `link_parts`; DescriptionError for an SRDF that cannot be read.
        """
        robot = cast("Robot", self)
        overhang = finite_number(overhang, "overhang", above=0.0)
        margin = finite_number(margin, "margin", least=0.0)
        if not (isinstance(srdf, str) and srdf == "beside"):
            srdf = _read_srdf(srdf, allow)  # of a file, what it says now
        key = (overhang, margin, _key_of(srdf), decompose, shapes, str(allow))
        known, bare = robot.__dict__.setdefault("_holding_models", {}), self._models
        if key not in known:
            if key not in bare:
                bare[key] = _model(robot, (overhang, margin), srdf, decompose, shapes, allow)
            model = bare[key]
            for each in robot.attached:
                at, allowed = each.T_frame_object, each.allowed
                model = model.with_attached(each.name, each.shape, each.frame, at, allowed=allowed)
            known[key] = model
        return known[key]


def _model(
    robot: Robot,
    lengths: tuple[float, float],
    srdf: Srdf | str | None,
    decompose: str,
    wanted: Source | None,
    allow: Folders,
) -> CollisionModel:
    from linkwork.collision.build import LinkSolid, build_model  # noqa: PLC0415  not all need it

    described = robot.shapes
    if described is None:
        raise UnsupportedFeatureError(
            f"{robot.name} has no shapes to collide with, since it was not loaded from a "
            "description; load it from a URDF or an MJCF"
        )
    kind, notes = _kind(robot, described, wanted)
    solids: list[LinkSolid] = []
    names, found = set(robot.mechanism.frame_names), places(described.file, allow)
    for link, shape in _shapes(described, kind):
        if link in names:
            where = f"link '{link}'"
            solids.append(LinkSolid(link, shape, _content(shape, found, where)))

    def opened(shape: LinkShape) -> LinkShape:
        return _with_mesh(shape, described.file, allow)

    return build_model(
        robot.mechanism,
        solids,
        opened,
        overhang=lengths[0],
        margin=lengths[1],
        decompose=decompose,
        srdf=_beside(robot, described.file, allow) if isinstance(srdf, str) else srdf,
        compiler=settings.compiler(),
        threads=settings.most_threads(),
        assembled=lambda n: _assembled(robot, n),
        notes=notes,
    )


def _assembled(robot: Robot, n: int) -> Floats:
    """Configurations (k, nq) in which loops are closed: near neutral, and of n random ones."""
    import numpy as np  # noqa: PLC0415

    from linkwork.solve.tasks import Closed  # noqa: PLC0415

    starts = np.concatenate([robot.neutral()[None], robot.random(n, seed=0)])
    found = robot.solver(tasks=Closed()).solve(None, starts, threads=settings.most_threads())
    return found.q[found.success]


def _shapes(described: Shapes, kind: Source) -> Iterator[tuple[str, LinkShape]]:
    for link, shapes in described.of_link.items():
        for shape in shapes:
            if shape.kind == kind:
                yield link, shape


def _kind(robot: Robot, described: Shapes, wanted: Source | None) -> tuple[Source, list[str]]:
    """The kind of the shapes that collide, and notes on it."""
    has = {shape.kind for shapes in described.of_link.values() for shape in shapes}
    if wanted not in (None, "collision", "visual"):
        raise InputError(f"shapes is 'collision' or 'visual', not {wanted!r:.60}")
    if not has or (wanted is not None and wanted not in has):
        what = f"{wanted} shapes" if wanted else "shapes"
        raise UnsupportedFeatureError(
            f"{robot.name} has no {what}, so nothing is known of what it touches: give its links "
            "<collision> shapes"
        )
    if wanted is None and "collision" not in has:
        return "visual", ["the robot has no collision shapes: the visual ones are taken"]
    kind: Source = wanted or "collision"
    bare = [
        link
        for link, shapes in described.of_link.items()
        if any(s.kind == "visual" for s in shapes) and not any(s.kind == kind for s in shapes)
    ]
    listed = ", ".join(f"'{link}'" for link in bare)
    return kind, [f"seen, but without collision shapes: {listed}"] if bare else []


def _content(shape: LinkShape, found: Places, where: str) -> bytes:
    """The content of a shape as bytes for the cache's key; of a mesh file, the hash of the file."""
    solid = shape.shape
    if isinstance(solid, Unread):
        kind = InputError if solid.fault else UnsupportedFeatureError
        raise kind(f"{where}: {solid.why}")
    parts = [repr(type(solid).__name__).encode(), shape.T_link_shape.tobytes()]
    if isinstance(solid, Triangles):
        parts += [solid.vertices.tobytes(), solid.faces.tobytes()]
    else:
        parts.append(repr(solid).encode())
    if isinstance(solid, MeshFile):
        try:
            path = first_found(solid.names, found)
            parts.append(hashlib.sha256(Path(path).read_bytes()).digest())
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
    return b"|".join(parts)


def _with_mesh(shape: LinkShape, file: str | None, allow: Folders) -> LinkShape:
    """The shape with what its mesh file holds."""
    from dataclasses import replace  # noqa: PLC0415

    import numpy as np  # noqa: PLC0415

    if not isinstance(shape.shape, MeshFile):
        return shape
    shown = shown_parts(shape, file, allow)
    if shown.errors:
        raise shown.errors[0]
    vertices, faces, n = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], 0
    for part in shown.pieces:
        vertices.append(np.asarray(part.mesh.vertices, np.float64))
        faces.append(np.asarray(part.mesh.faces, np.int64) + n)
        n += len(vertices[-1])
    return replace(shape, shape=Triangles(np.concatenate(vertices), np.concatenate(faces)))


def srdf_of(robot: Robot, given: Any, allow: Folders) -> Srdf | None:
    """The SRDF that is given, or that belongs to the description where ``given`` is "beside"."""
    if isinstance(given, str) and given == "beside":
        return _beside(robot, robot.shapes.file if robot.shapes else None, allow)
    return _read_srdf(given, allow)


def _key_of(given: Srdf | str | None) -> Any:
    """A key that tells one SRDF from another."""
    from linkwork.formats.srdf import Srdf, to_text  # noqa: PLC0415  not all need it

    return (to_text(given), given.file) if isinstance(given, Srdf) else given


def _read_srdf(given: Any, allow: Folders) -> Srdf | None:
    """The SRDF that is given."""
    from linkwork.formats import srdf  # noqa: PLC0415  not all need it

    if given is None or isinstance(given, srdf.Srdf):
        return given
    if not isinstance(given, (str, bytes, os.PathLike)):
        raise InputError(
            "srdf is a file, XML text, an Srdf (linkwork.formats.srdf.read) or None, not "
            f"{type(given).__name__}"
        )
    if not isinstance(given, bytes) and os.fspath(given).lower().endswith(".xacro"):
        return srdf.read_xacro(given, find=package_finder(Path(given), allow), roots=allow)
    return srdf.read(given)


def _beside(robot: Robot, file: str | None, allow: Folders) -> Srdf | None:
    """The SRDF that lies beside the description."""
    from linkwork.formats import srdf  # noqa: PLC0415  not all need it

    return _read_srdf(srdf.beside(Path(file), robot.name), allow) if file else None
