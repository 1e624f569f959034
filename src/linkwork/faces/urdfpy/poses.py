"""Rows S2-190 to S2-198 and S2-203: forward kinematics, by link, geometry and mesh."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError, UnknownNameError
from linkwork.faces.urdfpy.link import Link, placed
from linkwork.faces.urdfpy.values import ForeignError, WrongTypeError

if TYPE_CHECKING:
    from linkwork.faces.urdfpy.kinematics import Core

Floats = NDArray[np.float64]


class ForwardKinematics:
    """The methods of `URDF` that give poses in the base link.

    ``cfg`` is a mapping from joints or their names to positions, or a list or an array with one
    position for each of `URDF.actuated_joints`; what is not named is at zero. A joint that follows
    another one may be named too: its leader decides, with a warning where they do not agree.
    ``links`` are links or names; without it all are meant. The methods of batches take ``cfgs``: a
    mapping to arrays (n,), a list of mappings, or rows (n, number of actuated joints); poses are
    (n, 4, 4).

    Raises: KeyError for a name that does not exist, TypeError for what is neither name nor object,
    ValueError for a position that cannot be.
    """

    def _core(self) -> Core:
        raise NotImplementedError

    def link_fk(
        self, cfg: Any = None, link: Any = None, links: Any = None, use_names: bool = False
    ) -> Any:
        """The poses (4, 4) of links, by link; base first. One ``link`` gives its pose alone.

        With ``use_names`` the keys are names.
        """
        core = self._core()
        return self._by_link(
            core, core.poses(core.slots.configuration(cfg)), links, link, use_names
        )

    def link_fk_batch(
        self, cfgs: Any = None, link: Any = None, links: Any = None, use_names: bool = False
    ) -> Any:
        """`link_fk` of n configurations in one call: poses (n, 4, 4)."""
        core = self._core()
        poses = np.swapaxes(core.poses(core.slots.batch(cfgs)), 0, 1)
        return self._by_link(core, poses, links, link, use_names)

    def _by_link(self, core: Core, poses: Floats, links: Any, link: Any, use_names: bool) -> Any:
        if links is None and link is None:
            return dict(zip(core.link_index_of_name if use_names else core.links, poses))  # noqa: B905 -- joints follow
        wanted, single = _wanted(links, link)
        numbers = [link_number(core, one) for one in wanted]
        if single:
            return poses[numbers[0]]
        keys: Sequence[Any] = core.links
        if use_names:
            keys = list(core.link_index_of_name)
        return {keys[k]: poses[k] for k in numbers}

    def visual_geometry_fk(self, cfg: Any = None, links: Any = None) -> dict[Any, Floats]:
        """The poses (4, 4) of visual geometries, by geometry."""
        return self._shapes(cfg, links, False, _visual_geometries)

    def visual_geometry_fk_batch(self, cfgs: Any = None, links: Any = None) -> dict[Any, Floats]:
        """`visual_geometry_fk` of n configurations: poses (n, 4, 4)."""
        return self._shapes(cfgs, links, True, _visual_geometries)

    def collision_geometry_fk(self, cfg: Any = None, links: Any = None) -> dict[Any, Floats]:
        """The poses (4, 4) of collision geometries, by geometry."""
        return self._shapes(cfg, links, False, _collision_geometries)

    def collision_geometry_fk_batch(self, cfgs: Any = None, links: Any = None) -> dict[Any, Floats]:
        """`collision_geometry_fk` of n configurations: poses (n, 4, 4)."""
        return self._shapes(cfgs, links, True, _collision_geometries)

    def visual_trimesh_fk(self, cfg: Any = None, links: Any = None) -> dict[Any, Floats]:
        """The poses (4, 4) of visual meshes, by ``trimesh.Trimesh``.

        A mesh's scale is part of its pose, which is not rigid then.
        """
        return self._shapes(cfg, links, False, _visual_meshes)

    def visual_trimesh_fk_batch(self, cfgs: Any = None, links: Any = None) -> dict[Any, Floats]:
        """`visual_trimesh_fk` of n configurations: poses (n, 4, 4)."""
        return self._shapes(cfgs, links, True, _visual_meshes)

    def collision_trimesh_fk(self, cfg: Any = None, links: Any = None) -> dict[Any, Floats]:
        """The poses (4, 4) of links by the one mesh of all their collisions, scales applied."""
        return self._shapes(cfg, links, False, _collision_meshes)

    def collision_trimesh_fk_batch(self, cfgs: Any = None, links: Any = None) -> dict[Any, Floats]:
        """`collision_trimesh_fk` of n configurations: poses (n, 4, 4)."""
        return self._shapes(cfgs, links, True, _collision_meshes)

    def _shapes(self, cfg: Any, links: Any, batch: bool, shapes: Any) -> dict[Any, Floats]:
        """What ``shapes`` finds on each link, with its place there, in the base link."""
        core = self._core()
        q = core.slots.batch(cfg) if batch else core.slots.configuration(cfg)
        wanted = core.links if links is None else _wanted(links, None)[0]
        keys: list[Any] = []
        numbers: list[int] = []
        places: list[Floats] = []
        for k in [link_number(core, one) for one in wanted]:
            for key, T_link_shape in shapes(core.links[k]):
                keys.append(key)
                numbers.append(k)
                places.append(T_link_shape)
        if not keys:
            return {}
        placed_there = core.poses(q)[..., numbers, :, :] @ np.stack(places)
        return dict(zip(keys, np.moveaxis(placed_there, -3, 0), strict=True))


def _visual_geometries(link: Link) -> Iterable[tuple[Any, Floats]]:
    return ((shape.geometry, shape.origin) for shape in link.visuals)


def _collision_geometries(link: Link) -> Iterable[tuple[Any, Floats]]:
    return ((shape.geometry, shape.origin) for shape in link.collisions)


def _visual_meshes(link: Link) -> Iterable[tuple[Any, Floats]]:
    return ((mesh, placed(shape)) for shape in link.visuals for mesh in shape.geometry.meshes)


def _collision_meshes(link: Link) -> Iterable[tuple[Any, Floats]]:
    mesh = link.collision_mesh
    return () if mesh is None else ((mesh, np.eye(4)),)


def _wanted(links: Any, link: Any) -> tuple[list[Any], bool]:
    """The links that are asked for, and whether it is one alone.

    The original had ``links`` second and later ``link``: either may stand in either place.
    """
    if links is not None and link is not None:
        raise InputError("give either links or one link, not both")
    given = link if links is None else links
    if isinstance(given, (str, Link)):
        return [given], True
    if not isinstance(given, Iterable):
        kind = type(given).__name__
        raise WrongTypeError(f"links are given as a list of Link or of names, not {kind}")
    return list(given), False


def link_number(core: Core, link: Any) -> int:
    """The place of a link, or of the link of a name.

    Raises: UnknownNameError; WrongTypeError for what is neither.
    """
    try:
        index: Any = core.link_index_of_name if isinstance(link, str) else core.link_index
        return index[link]
    except (KeyError, TypeError):
        names = list(core.link_index_of_name)
        if isinstance(link, str):
            raise UnknownNameError("link", link, names) from None
        if isinstance(link, Link):
            raise ForeignError("link", link.name, names) from None
        kind = type(link).__name__
        raise WrongTypeError(f"a link is meant by a Link or its name, not by {kind}") from None
