"""Whether a model touches itself (row S0-051), and the core's collision model of it."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.faces.skrobot.coordinates.base import inverse_matrix
from linkwork.geometry.intersection import meshes_intersect
from linkwork.mechanism.shapes import LinkShape, Shapes, Triangles
from linkwork.robot import Robot

if TYPE_CHECKING:
    from linkwork.collision.model import CollisionModel

Floats = NDArray[np.float64]

_ROUNDING = 1.0e-9


class SelfCollision:
    """The part of `CascadedLink` that looks for contacts of a model with itself."""

    @property
    def collision_model(self: Any) -> CollisionModel:
        """The core's collision model of the links' collision meshes, see docs/collision.md.

        Its configurations are those of the core: the angles of the joints in the order of
        `angle_vector`, without joints that follow others. Its pairs are those that the core checks.

        Raises: UnsupportedFeatureError where no link has a collision mesh.
        """
        core = self._core(None)
        meshes = {
            core.link_name(link): link.collision_mesh
            for link in self.link_list
            if link.collision_mesh is not None
        }
        key = tuple((name, hash(mesh)) for name, mesh in meshes.items())
        known = core.__dict__.get("_collision")
        if known is None or known[0] != key:
            shapes = {name: (shape_of(mesh),) for name, mesh in meshes.items()}
            robot = Robot(core.robot.mechanism, shapes=Shapes(None, shapes))
            known = key, robot.collision(srdf=None)
            core.__dict__["_collision"] = known
        return known[1]

    def self_collision_check(
        self: Any, ignore_adjacent: bool = False, ignore_pairs: Iterable[Any] = ()
    ) -> tuple[bool, set[tuple[str, str]]]:
        """Whether collision meshes of links meet where they are now, and which: pairs of names.

        The names of a pair are in alphabetical order. All pairs of links count, those that a joint
        joins as well, unless ``ignore_adjacent``; pairs of ``ignore_pairs`` (links or names) do
        not. Meshes meet where their surfaces cut each other.

        Raises: InputError for what is no pair.
        """
        links = [link for link in self.link_list if link.collision_mesh is not None]
        ignored = {_pair_of(pair) for pair in ignore_pairs}
        if ignore_adjacent:
            ignored |= {_pair_of((link, link.parent_link)) for link in links if link.parent_link}
        found: set[tuple[str, str]] = set()
        for one, other in _near_pairs(links):
            pair = _pair_of((one, other))
            if pair in ignored or pair in found:
                continue
            T_one_other = inverse_matrix(one._world()) @ other._world()
            if meshes_intersect(one.collision_mesh, other.collision_mesh, T_one_other):
                found.add(pair)
        return bool(found), found


def _near_pairs(links: list[Any]) -> list[tuple[Any, Any]]:
    """Pairs of links of which balls around the meshes meet."""
    if not links:
        return []
    balls: list[Floats] = []
    for link in links:
        low, high = link.collision_mesh.bounds
        centre = link._world()[:3, :3] @ (0.5 * (low + high)) + link._world()[:3, 3]
        balls.append(np.append(centre, 0.5 * np.linalg.norm(high - low)))
    rows = np.array(balls)
    away = np.linalg.norm(rows[:, None, :3] - rows[None, :, :3], axis=2)
    near = np.triu(away <= (rows[:, None, 3] + rows[None, :, 3]) * (1.0 + _ROUNDING), 1)
    return [(links[k], links[m]) for k, m in np.argwhere(near).tolist()]


def triangles_of(mesh: Any) -> Triangles:
    """A mesh of trimesh as the core has it."""
    return Triangles(np.array(mesh.vertices, np.float64), np.array(mesh.faces, np.int64))


def shape_of(mesh: Any) -> LinkShape:
    """A mesh as the core's shape."""
    return LinkShape(triangles_of(mesh), "collision", np.eye(4))


def _pair_of(pair: Any) -> tuple[str, str]:
    """Two names in alphabetical order.

    Raises: InputError.
    """
    names = [str(getattr(each, "name", each)) for each in pair] if not isinstance(pair, str) else []
    if len(names) != 2:
        raise InputError(f"a pair is two links or two names, not {pair!r:.60}")
    return (names[0], names[1]) if names[0] <= names[1] else (names[1], names[0])
